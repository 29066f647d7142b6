"""Moves between equivalence classes, against all graphs of all classes."""

from itertools import product

import numpy as np
import pytest
from naive import equivalence as naive
from naive.search import parents_of, random_graph

from jensen.q_graph.classes import class_moves
from jensen.q_graph.classes.class_moves import BitFamilies
from jensen.q_graph.classes.graph import class_of, class_of_matrix, member, members, set_of
from jensen.q_graph.search.family_scores import ScoredFamily

KINDS = {"insert": class_moves.INSERT, "delete": class_moves.DELETE, "turn": class_moves.TURN}
FOUR, FIVE = naive.all_classes(4), naive.all_classes(5)
SOME_OF_FIVE = [FIVE[key] for key in list(FIVE)[::40]]

every_kind = pytest.mark.parametrize("kind", KINDS)


class Welcoming:
    """Families whose every change is a gain, so that every move is listed."""

    def __init__(self, n):
        self.n = n

    def look(self, child, parents):
        above = np.array([*members(parents)], np.int64)
        return ScoredFamily(0.0, np.ones(len(above)), np.ones(self.n), above)


def sets(graph):
    return [set_of(parents) for parents in graph]


def network(dag):
    return tuple(tuple(members(parents)) for parents in dag)


def listed(kind, graph, families):
    """(x, y, clique) → its gain, of all legal moves."""
    return {
        (x, y, frozenset(members(clique))): gain
        for y in range(len(graph.dag))
        for clique in graph.cliques(y)
        for gain, x in KINDS[kind].candidates(graph, families, y, clique)
        if KINDS[kind].is_legal(graph, x, y, clique)
    }


# --- classes ---


@pytest.mark.parametrize("group", [list(FOUR.values()), SOME_OF_FIVE], ids=["four", "five"])
def test_the_class_of_every_graph(group):
    for graphs in group:
        joined = naive.completed(graphs)
        read = class_of_matrix(joined)
        assert np.array_equal(read.matrix, joined)
        assert network(read.dag) in graphs
        for graph in graphs:
            found = class_of(sets(graph))
            assert np.array_equal(found.matrix, joined)
            assert network(found.dag) == graph
            assert found.adjacent == [set_of(np.flatnonzero(row)) for row in joined | joined.T]


def test_what_is_no_class_is_not_read():
    complete = {naive.completed(graphs).tobytes() for graphs in FOUR.values()}
    places = np.flatnonzero(~np.eye(4, dtype=bool).ravel())
    n_read = 0
    for choice in product([False, True], repeat=12):
        joined = np.zeros(16, bool)
        joined[places] = choice
        joined = joined.reshape(4, 4)
        read = class_of_matrix(joined) is not None
        assert read == (joined.tobytes() in complete)
        n_read += read
    assert n_read == len(FOUR) == 185


def test_members_have_the_wanted_nodes_first():
    for graphs in FOUR.values():
        graph = class_of(sets(graphs[0]))
        for y in range(4):
            for clique in graph.cliques(y):
                dag = member(graph, [*members(clique), y])
                assert network(dag) in graphs
                assert dag[y] == graph.parents[y] | clique


def test_cliques_are_sets_of_neighbours_that_are_all_joined():
    for graphs in FOUR.values():
        joined = naive.completed(graphs)
        graph = class_of(sets(graphs[0]))
        for y in range(4):
            near = [x for x in range(4) if joined[x, y] and joined[y, x]]
            expected = {
                frozenset(s)
                for bits in range(16)
                if set(s := [x for x in range(4) if bits >> x & 1]) <= set(near)
                and all(joined[a, b] for a in s for b in s if a != b)
            }
            found = [frozenset(members(c)) for c in graph.cliques(y)]
            assert found[0] == frozenset()
            assert len(found) == len(expected)
            assert set(found) == expected


def test_all_graphs_of_a_class_have_the_same_largest_number_of_parents():
    for graphs in [*FOUR.values(), *FIVE.values()]:
        assert len({max(map(len, graph)) for graph in graphs}) == 1


# --- moves ---


@every_kind
@pytest.mark.parametrize("group", [list(FOUR.values()), SOME_OF_FIVE], ids=["four", "five"])
def test_every_move_is_found_and_no_other(kind, group):
    """And leads to the class of every graph that the same change of a member gives."""
    for graphs in group:
        expected = naive.moves(kind, graphs)
        graph = class_of(sets(graphs[0]))
        assert listed(kind, graph, Welcoming(len(graph.dag))).keys() == expected.keys()
        for (x, y, clique), changes in expected.items():
            (key,) = {naive.class_key(after) for _, after in changes}
            dag = KINDS[kind].changed(graph, x, y, set_of(clique))
            assert naive.class_key(network(dag)) == key


@every_kind
def test_every_gain_is_the_difference_of_the_scores(kind):
    n_gains = 0
    for seed, graphs in enumerate(FOUR.values()):
        scorer = naive.random_scorer(seed, 4)
        graph = class_of(sets(graphs[-1]))

        def total(found, scorer=scorer):
            return sum(scorer.family(v, parents) for v, parents in enumerate(found))

        found = listed(kind, graph, BitFamilies(scorer, 4))
        for move, changes in naive.moves(kind, graphs).items():
            gains = [total(after) - total(before) for before, after in changes]
            assert np.ptp(gains) < 1e-12
            assert (move in found) == (gains[0] > 0.0)
            if move in found:
                assert found[move] == pytest.approx(gains[0], abs=1e-12)
                n_gains += 1
    assert n_gains > 100


@every_kind
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_move_gives_more_parents_than_allowed(kind, most):
    n_moves = 0
    for seed, graphs in enumerate(FOUR.values()):
        if max(map(len, graphs[0])) > most:
            continue
        graph = class_of(sets(graphs[0]))
        found = listed(kind, graph, BitFamilies(naive.random_scorer(seed, 4), most))
        free = listed(kind, graph, BitFamilies(naive.random_scorer(seed, 4), 4))
        for (x, y, clique), gain in free.items():
            dag = KINDS[kind].changed(graph, x, y, set_of(clique))
            few = max(parents.bit_count() for parents in dag) <= most
            assert ((x, y, clique) in found) == few
            assert not few or found[x, y, clique] == gain
        n_moves += len(found)
    if (kind, most) == ("turn", 1):  # an edge of a tree turns for nothing, or into a collider
        assert n_moves == 0
    else:
        assert n_moves > 5


def test_moves_of_graphs_with_many_nodes():
    """Sets of nodes have no largest size: a deletion undoes an insertion among 100 nodes."""
    graph = class_of(sets(parents_of(random_graph(np.random.default_rng(0), 100, 0.02))))
    n_undone = 0
    for x, y in [(3, 90), (70, 20), (99, 65), (0, 99), (64, 63)]:
        for clique in graph.cliques(y):
            common = graph.neighbours[y] & graph.adjacent[x]
            if graph.adjacent[y] >> x & 1 or common & ~clique:
                continue
            if class_moves.INSERT.is_legal(graph, x, y, clique):
                after = class_of(class_moves.INSERT.changed(graph, x, y, clique))
                back = [
                    class_of(class_moves.DELETE.changed(after, x, y, other))
                    for other in after.cliques(y)
                    if (after.parents[y] | other) >> x & 1
                ]
                assert any(np.array_equal(found.matrix, graph.matrix) for found in back)
                n_undone += 1
    assert n_undone >= 5
