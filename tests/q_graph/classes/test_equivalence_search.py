"""Greedy equivalence search: what it finds, what it promises, and what it refuses."""

from itertools import combinations

import numpy as np
import pytest
from naive import equivalence as naive
from naive.search import parents_of, random_columns, random_graph

import jensen as jn
from jensen.q_graph.classes import class_moves
from jensen.q_graph.classes import equivalence_search as module
from jensen.q_graph.classes.class_moves import BitFamilies
from jensen.q_graph.classes.equivalence_search import ClassClimber, equivalence_search
from jensen.q_graph.classes.graph import class_of, members, set_of
from jensen.q_graph.classes.rules import BackgroundKnowledge, read_class
from jensen.q_graph.constraints import read_constraints
from jensen.scores import SCORES
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.scores.registry import SPECS

STATES = ["bdeu", "bic", "aic", "loglik"]
NUMBERS = ["bge", "bic", "aic", "loglik"]
FIVE = naive.all_classes(5)


def make_table(seed=0, n_rows=300, cards=(2, 3, 2, 2, 3)):
    states = {f"x{k}": range(card) for k, card in enumerate(cards)}
    return jn.Table(random_columns(seed, n_rows, cards), states=states)


def make_numbers(seed=0, n_rows=100, n=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n))
    for k in range(1, n):
        x[:, k] += x[:, :k] @ (rng.normal(size=k) * (rng.random(k) < 0.6))
    return jn.Table(x, continuous=[f"x{k}" for k in range(n)])


def patient(score, n_moves):
    return False


def search(scorer, start=None, watch=patient, **rules):
    return equivalence_search(scorer, read_constraints(scorer.names, **rules), start, watch)


def class_graph(found, names):
    return jn.CPDAG.from_adjacency(found.joined, names)


def nothing(scorer):
    n = len(scorer.names)
    return np.zeros((n, n), bool)


# --- in the limit of many rows ---


def true_class(joined):
    n = len(joined)
    return jn.DAG.from_adjacency(joined, [f"x{v}" for v in range(n)]).cpdag()


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_the_generating_class_of_gaussian_networks(n):
    """50 graphs each; the start is given, so hill climbing has no part in it."""
    for seed in range(50):
        rng = np.random.default_rng([n, seed])
        joined = random_graph(rng, n, rng.uniform(0.15, 0.6))
        scorer = naive.gaussian_scorer(naive.random_covariance(rng, joined), 1e9)
        found = search(scorer, nothing(scorer))
        assert class_graph(found, scorer.names) == true_class(joined), (n, seed)


def test_the_generating_class_of_binary_networks():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        joined = random_graph(rng, 5, rng.uniform(0.15, 0.6))
        scorer = naive.binary_scorer(naive.random_joint(rng, joined), 1e9)
        found = search(scorer, nothing(scorer))
        assert class_graph(found, scorer.names) == true_class(joined), seed


def test_these_distributions_have_the_independences_of_their_graphs_alone():
    """Without this the two tests above would ask for what no score can tell."""
    n_separated = n_joined = 0
    for seed in range(10):
        rng = np.random.default_rng([6, seed])
        joined = random_graph(rng, 6, rng.uniform(0.15, 0.6))
        covariance = naive.random_covariance(rng, joined)
        dag = jn.DAG.from_adjacency(joined, [f"x{v}" for v in range(6)])
        for a, b in combinations(range(6), 2):
            rest = [v for v in range(6) if v not in (a, b)]
            for k in range(5):
                for given in combinations(rest, k):
                    size = abs(naive.partial_correlation(covariance, a, b, given))
                    apart = dag.d_separated(f"x{a}", f"x{b}", [f"x{v}" for v in given])
                    assert size < 1e-12 if apart else size > 2e-4
                    n_separated, n_joined = n_separated + apart, n_joined + (not apart)
    assert min(n_separated, n_joined) > 300


# --- with real rows ---


@pytest.mark.parametrize("score", STATES)
def test_the_score_is_that_of_every_graph_in_the_class(score):
    table = make_table(1, 100, (2, 3, 2, 2))
    scorer = make_scorer(table, score)
    found = search(scorer)
    graph = class_graph(found, scorer.names)
    members = naive.all_classes(4)[naive.class_key(parents_of(graph.extension().adjacency))]
    for member in members:
        above = {f"x{v}": [f"x{u}" for u in parents] for v, parents in enumerate(member)}
        expected = jn.score(jn.DAG.from_parents(above), table, score)
        assert found.score == pytest.approx(expected, rel=1e-11)
    assert found.trace[-1] == found.score == found.trace.max()
    assert not found.proven
    assert not found.interrupted
    assert found.n_scored >= 4


@pytest.mark.parametrize("score", NUMBERS)
def test_the_score_of_numbers(score):
    table = make_numbers(2)
    scorer = make_scorer(table, score)
    found = search(scorer)
    dag = class_graph(found, scorer.names).extension()
    assert found.score == pytest.approx(jn.score(dag, table, score), rel=1e-11)


def test_the_score_with_a_prior_network():
    table = make_table(3, 100)
    network = jn.BayesianNetwork(jn.DAG("x0 -> x1 -> x2; x3 -> x4"), prior="bdeu").fit(table)
    scorer = make_scorer(table, "bde", prior_network=network, equivalent_sample_size=5.0)
    found = search(scorer)
    dag = class_graph(found, scorer.names).extension()
    expected = jn.score(dag, table, "bde", prior_network=network, equivalent_sample_size=5.0)
    assert found.score == pytest.approx(expected, rel=1e-11)


def assert_nothing_gains(scorer, joined, score):
    dag = jn.CPDAG.from_adjacency(joined, scorer.names).extension()
    graphs = FIVE[naive.class_key(parents_of(dag.adjacency))]
    for kind in ("insert", "delete", "turn"):
        for changes in naive.moves(kind, graphs).values():
            after = changes[0][1]
            assert sum(scorer.family(v, above) for v, above in enumerate(after)) < score + 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_no_move_from_there_gains_anything(seed):
    """Of all graphs that differ by one edge from a graph of the class."""
    scorer = make_scorer(make_table(seed), "bic") if seed % 2 else naive.random_scorer(seed, 5)
    for start in (None, nothing(scorer)):
        found = search(scorer, start)
        assert_nothing_gains(scorer, found.joined, found.score)


@pytest.mark.parametrize("seed", [1, 3, 17])
def test_a_single_climb_ends_where_nothing_gains(seed):
    """With the last an edge must be turned."""
    scorer = make_scorer(make_table(seed), "bic")
    families, free = BitFamilies(scorer, 5), BackgroundKnowledge(read_constraints(scorer.names))
    climber = ClassClimber(class_of([0] * 5), families, free)
    kinds = []
    while move := climber.next_move():
        kinds.append(move.kind)
        climber.make(move)
    assert_nothing_gains(scorer, climber.graph.matrix, climber.total)
    assert seed < 17 or class_moves.TURN in kinds


@pytest.mark.parametrize("seed", range(15))
def test_never_below_hill_climbing_nor_above_the_optimum(seed):
    table = make_table(seed, 400, (2, 3, 2, 2, 3, 2, 4))
    for score in ("bdeu", "bic", "aic"):  # with aic and the seed 3, it takes hill climbing
        total = search(make_scorer(table, score)).score
        assert total > jn.learn_structure(table, score=score).info.score - 1e-6
        assert total < jn.learn_structure(table, "exact", score).info.score + 1e-6


@pytest.mark.parametrize(("seed", "score"), [(8, "aic"), (13, "bdeu")])
def test_taking_edges_of_a_variable_away_leads_further(seed, score):
    """Neither climb ends at the optimum here."""
    table = make_table(seed, 400, (2, 3, 2, 2, 3, 2, 4))
    best = jn.learn_structure(table, "exact", score).info.score
    assert search(make_scorer(table, score)).score == pytest.approx(best, rel=1e-12)


def test_it_finds_the_optimum_at_least_as_often_as_hill_climbing():
    hits = np.zeros(2, int)
    for seed in range(30):
        table = make_table(seed, 300, (2, 3, 2, 2, 3, 2, 2, 3))
        best = jn.learn_structure(table, "exact", "bic").info.score
        climbed = jn.learn_structure(table, score="bic").info.score
        found = search(make_scorer(table, "bic"))
        hits += np.array([climbed, found.score]) > best - 1e-6
    assert hits[1] >= 28
    assert hits[1] >= hits[0] >= 27


@pytest.mark.parametrize("seed", range(4))
def test_moves_that_are_kept_are_those_that_would_be_found_anew(seed):
    """After every move, also where all edges of a node were taken away."""
    scorer = make_scorer(make_table(seed, 400, (2, 3, 2, 2, 3, 2, 4, 2, 2, 3)), "aic")
    families, free = BitFamilies(scorer, 10), BackgroundKnowledge(read_constraints(scorer.names))
    climber = ClassClimber(class_of([0] * 10), families, free)
    for y in range(10):
        while move := climber.next_move():
            climber.make(move)
            fresh = ClassClimber(class_of(climber.graph.dag), families, free)
            assert climber.total == fresh.total
            for kind in module.KINDS:
                assert climber.best_move(kind) == fresh.best_move(kind)
        climber = climber.without(y)
        assert not climber.graph.adjacent[y]


def test_a_gain_that_is_none_ends_the_search():
    """As rounding might have it: every further parent seems to gain, and none does."""

    class Rounded(naive.SetScorer):
        def with_each(self, child, parents):
            return super().with_each(child, parents) + 1e-3

    found = search(Rounded("abc", lambda members: 0.0), np.zeros((3, 3), bool))
    assert found.trace.tolist() == [0.0]


def test_the_order_of_columns_changes_nothing():
    table = make_table(5, 500, (2, 3, 2, 2, 3, 2, 2))
    scorer = make_scorer(table, "bdeu")
    found = search(scorer)
    for seed in range(5):
        names = np.random.default_rng(seed).permutation(table.names).tolist()
        other = search(make_scorer(table.select(names), "bdeu"))
        assert np.array_equal(other.joined, found.joined)
        assert np.array_equal(other.trace, found.trace)


def test_equals_are_decided_by_name():
    """Three columns of which two are the same: the edges go to the first name of the two."""
    x = np.random.default_rng(0).integers(0, 2, 100)
    noisy = np.where(np.random.default_rng(1).random(100) < 0.1, 1 - x, x)
    table = jn.Table({"c": x, "b": x, "a": noisy}, states=dict.fromkeys("abc", range(2)))
    scorer = make_scorer(table, "bic")
    found = search(scorer, nothing(scorer))
    assert class_graph(found, scorer.names) == jn.CPDAG("a -- b; b -- c")


@pytest.mark.parametrize("n", [1, 2])
def test_few_columns(n):
    scorer = make_scorer(make_table(0, 50, (2, 2)[:n]), "bic")
    assert search(scorer).joined.shape == (n, n)


# --- rules ---


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_graph_of_the_class_has_more_parents(most):
    for seed in range(8):
        scorer = make_scorer(make_table(seed, 2000), "aic")
        found = search(scorer, max_parents=most)
        dag = class_graph(found, scorer.names).extension()
        members = FIVE[naive.class_key(parents_of(dag.adjacency))]
        assert max(len(parents) for graph in members for parents in graph) <= most


def test_pairs_that_are_forbidden_in_both_directions_are_not_joined():
    scorer = make_scorer(make_table(7, 2000), "aic")
    free = class_graph(search(scorer), scorer.names)
    a, b = (free.directed + free.undirected)[0]
    graph = class_graph(search(scorer, forbidden=[(a, b), (b, a)]), scorer.names)
    assert not graph.adjacency[graph.index[a], graph.index[b]]
    assert not graph.adjacency[graph.index[b], graph.index[a]]
    assert graph != free


def random_rules(rng, n, names):
    """Edges along an order that are required, and edges against it that are forbidden."""
    order = [names[v] for v in rng.permutation(n)]
    pairs = list(combinations(order, 2))
    return {
        "required": [pair for pair in pairs if rng.random() < 0.15],
        "forbidden": [(b, a) for a, b in pairs if rng.random() < 0.4],
    }


def edges_of(graph):
    return {(f"x{u}", f"x{v}") for v, parents in enumerate(graph) for u in parents}


def obeys(edges, rules):
    return set(rules["required"]) <= set(edges) and not set(edges) & set(rules["forbidden"])


def test_a_member_that_obeys_is_found_where_there_is_one():
    """Of all classes of four nodes, under many rules: all their graphs say the same."""
    names, found = ("x0", "x1", "x2", "x3"), {True: 0, False: 0}
    for seed in range(12):
        rules = random_rules(np.random.default_rng(seed), 4, names)
        knowledge = BackgroundKnowledge(read_constraints(names, **rules))
        for graphs in naive.all_classes(4).values():
            possible = {some for some in graphs if obeys(edges_of(some), rules)}
            member = knowledge.member(class_of([set_of(parents) for parents in graphs[0]]))
            assert (member is not None) == bool(possible)
            assert member is None or tuple(tuple(members(up)) for up in member) in possible
            found[bool(possible)] += 1
    assert min(found.values()) > 100


@pytest.mark.parametrize("seed", range(10))
def test_constraints_hold_in_every_graph_that_is_meant(seed):
    """And no graph of those that obey, one move away, scores more."""
    table, rng = make_table(seed, 400), np.random.default_rng(seed)
    rules = random_rules(rng, 5, table.names)
    graph = jn.learn_structure(table, "ges", "bic", **rules)
    members_of = FIVE[naive.class_key(parents_of(graph.extension().adjacency))]
    meant = [edges_of(some) for some in members_of if obeys(edges_of(some), rules)]
    assert set(graph.directed) == set.intersection(*meant)
    assert obeys(graph.extension().edges, rules)
    assert graph.info.score == pytest.approx(jn.score(graph.extension(), table, "bic"), rel=1e-11)
    climbed = jn.learn_structure(table, "hill-climb", "bic", **rules).info.score
    best = jn.learn_structure(table, "exact", "bic", **rules).info.score
    assert climbed - 1e-6 < graph.info.score < best + 1e-6
    scorer = make_scorer(table, "bic")
    for kind in ("insert", "delete", "turn"):
        for changes in naive.moves(kind, members_of).values():
            after = changes[0][1]
            there = FIVE[naive.class_key(after)]
            if any(obeys(edges_of(some), rules) for some in there):
                total = sum(scorer.family(v, parents) for v, parents in enumerate(after))
                assert total < graph.info.score + 1e-9


def test_tiers_direct_what_the_class_leaves_open():
    table = jn.examples.load("asia").sample(2000, random_state=0)
    free = jn.learn_structure(table, "ges")
    assert ("lung", "smoke") in free.undirected
    tiers = [["asia", "smoke"], ["bronc", "lung", "tub"], ["either"], ["dysp", "xray"]]
    graph = jn.learn_structure(table, "ges", tiers=tiers)
    assert type(graph) is jn.PDAG
    assert {("smoke", "lung"), ("smoke", "bronc")} <= set(graph.directed)
    assert graph.info.score == pytest.approx(free.info.score, rel=1e-12)
    assert isinstance(jn.learn_structure(table, "ges", forbidden="xray -> asia"), jn.CPDAG)


def test_starts_that_contradict_constraints_are_refused():
    scorer = make_scorer(make_table(), "bic")
    rules = {"required": [("x0", "x1")]}
    with pytest.raises(jn.GraphError, match="the edge x0 -> x1 is required, and start= lacks it"):
        read_class("x1 -> x2", scorer.names, read_constraints(scorer.names, **rules))
    collider = read_class("x1 -> x0 <- x2", scorer.names, read_constraints(scorer.names, **rules))
    with pytest.raises(jn.GraphError, match="no graph of this class has all required edges and"):
        search(scorer, collider, **rules)


@pytest.mark.parametrize("score", [x for x in SCORES if not SPECS[x].is_set_function])
def test_scores_that_tell_graphs_of_a_class_apart_are_refused(score):
    with pytest.raises(jn.JensenError, match="the same for all graphs of an equivalence class"):
        search(make_scorer(make_table(), score))


def test_listed_scores_and_available_cases_are_refused():
    listed = LocalScores.of({"a": {(): 0.0}, "b": {(): 0.0}})
    with pytest.raises(jn.JensenError, match="listed local scores use method='hill-climb'"):
        search(listed)
    table = jn.Table({"a": [0, 1, None, 1], "b": [1, 0, 1, 1]}, states={"a": [0, 1], "b": [0, 1]})
    with pytest.raises(jn.JensenError, match="missing='available-case'"):
        search(make_scorer(table, "bic", missing="available-case"))


def test_missing_values_are_refused_with_what_works():
    holes = jn.Table({"a": ["n", "y", None], "b": ["n", "y", "y"]})
    message = r"method='ges' needs complete data, but 1 value is missing: a \(1\); use method='pc'"
    with pytest.raises(jn.DataError, match=message):
        jn.learn_structure(holes, "ges", missing="refuse")


def test_interventions_are_refused():
    was_set = ["x0"] * 10 + [None] * 90
    for table in (make_table(0, 100), make_numbers(0, 100)):
        with pytest.raises(jn.JensenError, match="with interventions= the graphs of an equiv"):
            search(make_scorer(table, interventions=was_set))


def test_too_many_sets_of_neighbours_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_CLIQUES", 8)
    scorer = make_scorer(make_table(1, 500), "loglik")
    with pytest.raises(jn.JensenError, match=r"more than 8 sets of neighbours of 'x\d' to try"):
        search(scorer)
    assert search(scorer, max_parents=2).score < 0.0


# --- starts ---


@pytest.mark.parametrize(
    "start", ["x0 -> x1 -> x2", "x0 -> x2 <- x1; x3 -- x4", jn.DAG("x4 -> x3; x4 -> x0")]
)
def test_it_begins_at_the_class_of_the_start(start):
    table = make_table(2)
    scorer = make_scorer(table, "bic")
    first = read_class(start, scorer.names, read_constraints(scorer.names))
    dag = jn.PDAG(start).extension()
    nodes = {x: dag.parents(x) if x in dag else () for x in table.names}
    assert jn.CPDAG.from_adjacency(first, scorer.names) == jn.DAG.from_parents(nodes).cpdag()
    found = search(scorer, first)
    expected = jn.score(jn.DAG.from_parents(nodes), table, "bic")
    assert found.trace[0] == pytest.approx(expected, rel=1e-11)


def test_starts_that_break_rules_are_refused():
    names = ("a", "b", "c")
    free = read_constraints(names)
    with pytest.raises(jn.GraphError, match="start= has a node 'd' that is no column"):
        read_class("a -> d", names, free)
    with pytest.raises(jn.GraphError, match="the edge a -> b of start= is forbidden"):
        read_class("a -> b", names, read_constraints(names, forbidden="a -> b; b -> a"))
    with pytest.raises(jn.GraphError, match="start= gives 'c' more parents than max_parents=1"):
        read_class("a -> c <- b", names, read_constraints(names, 1))
    assert not read_class(None, names, free).any()


def test_a_start_that_is_no_class_is_refused():
    scorer = make_scorer(make_table(), "bic")
    start = nothing(scorer)
    start[0, 1] = True
    with pytest.raises(jn.GraphError, match="this is not a completed PDAG"):
        search(scorer, start)


# --- watching ---


def test_it_is_watched_before_every_move_and_stops_when_told():
    table = make_table(2, 500, (2, 3, 2, 2, 3, 2))
    scorer = make_scorer(table, "bic")
    seen = []

    def watch(score, n_moves):
        seen.append((score, n_moves))
        return len(seen) == 3

    found = search(scorer, watch=watch)
    assert found.interrupted
    assert [n for _, n in seen] == [0, 1, 2]
    assert [score for score, _ in seen] == found.trace.tolist()
    dag = class_graph(found, scorer.names).extension()
    assert found.score == pytest.approx(jn.score(dag, table, "bic"), rel=1e-11)


def test_stopped_late_it_keeps_the_best():
    scorer = make_scorer(make_table(2, 500, (2, 3, 2, 2, 3, 2)), "bic")
    seen = []

    def count(score, n_moves):
        seen.append(score)
        return False

    whole = search(scorer, watch=count)
    stops = range(len(seen) + 1)
    for last in stops:
        calls = iter(range(len(seen) + 1))
        found = search(scorer, watch=lambda *_, calls=calls, last=last: next(calls) >= last)
        assert found.interrupted == (last < len(seen))
        assert found.score <= whole.score
        assert found.score == found.trace.max()
    assert found.score == whole.score
