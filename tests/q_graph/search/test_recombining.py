"""Families put together anew, against all orders; and what climbing is worth with them."""

import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from naive import search as naive
from naive import structures

sys.path.insert(0, str(Path(__file__).parents[3]))

import jensen as jn
from benchmarks.plain_greedy import Greedy
from jensen.graphs.indexed_graph import topological_order
from jensen.kernels.family_orders import improve_order, order_graph
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.search import climbing, recombining
from jensen.q_graph.search.family_scores import SetValues
from jensen.scores.make_scorer import make_scorer

ANY = np.random.default_rng(0).random((60, 3, 2))


def patient(score, n_moves):
    return False


def begun(scorer, **rules):
    constraints = read_constraints(scorer.names, **rules)
    return climbing.Climber(scorer, constraints).begin(constraints.required)


def random_pool(seed, n, n_families):
    """Families of each child, the empty one among them, by falling score."""
    rng = np.random.default_rng(seed)
    sets, scores, first = [], [], [0]
    for v in range(n):
        found = {0: 0.0}
        for _ in range(n_families):
            parents = [u for u in range(n) if u != v and rng.random() < 2.0 / n]
            found[sum(1 << u for u in parents)] = float(rng.normal(2.0 * len(parents)))
        ranked = sorted(found.items(), key=lambda item: -item[1])
        sets += [number for number, _ in ranked]
        scores += [score for _, score in ranked]
        first.append(len(sets))
    bits = np.array([[number & (1 << 64) - 1, number >> 64] for number in sets], np.uint64)
    return bits, np.array(scores), np.array(first)


def in_order(pool, order):
    """By the definition: what each variable scores with its best family in this order."""
    sets, scores, first = pool
    total, before = 0.0, 0
    for v in order:
        fit = [
            i for i in range(first[v], first[v + 1])
            if (int(sets[i, 0]) | int(sets[i, 1]) << 64) & ~before == 0
        ]  # fmt: skip
        total += max(scores[i] for i in fit)
        before |= 1 << int(v)
    return total


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_best_order_of_all(n):
    """Of 20 lists each; with a few random moves it is found in nearly all."""
    n_best = 0
    for seed in range(20):
        pool = random_pool(seed, n, 6)
        order, chosen = np.arange(n)[::-1].copy(), np.empty(n, np.int64)
        total = improve_order(*pool, 1e-9, ANY, 20, order, chosen)
        assert sorted(order.tolist()) == list(range(n))
        assert total == pytest.approx(in_order(pool, order), abs=1e-9)
        assert total == pytest.approx(pool[1][chosen].sum(), abs=1e-9)
        best = max(in_order(pool, other) for other in permutations(range(n)))
        assert total <= best + 1e-9
        n_best += total > best - 1e-9
    assert n_best >= 19


@pytest.mark.parametrize("n", [1, 2, 6, 70])
def test_a_graph_is_ordered_as_lists_of_parents_are(n):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        joined, order = naive.random_graph(rng, n, min(1.0, 3.0 / n)), np.empty(n, np.int64)
        order_graph(joined, order)
        assert order.tolist() == topological_order(recombining.parents_of(joined))


@pytest.mark.parametrize("n", [12, 70])
def test_no_variable_has_a_better_place(n):
    """Without random moves the order is one that moving a single variable does not improve."""
    for seed in range(3):
        pool = random_pool(seed, n, 8)
        order, chosen = np.random.default_rng(seed).permutation(n), np.empty(n, np.int64)
        start = in_order(pool, order)
        total = improve_order(*pool, 1e-9, ANY[:0], 0, order, chosen)
        assert total == pytest.approx(in_order(pool, order), abs=1e-9)
        assert total > start
        for x in order[:: n // 6]:
            rest = [v for v in order if v != x]
            for k in range(0, n, max(1, n // 12)):
                assert in_order(pool, [*rest[:k], x, *rest[k:]]) <= total + 1e-6


def make_table(seed, n=8, n_rows=300):
    columns = naive.random_columns(seed, n_rows, [2 + k % 2 for k in range(n)], 3)
    return jn.Table(columns, states={f"x{k}": range(2 + k % 2) for k in range(n)})


RULES = [
    {},
    {"max_parents": 1},
    {"required": "x3 -> x0; x2 -> x1", "forbidden": "x0 -> x1; x4 -> x5"},
    {"tiers": [["x3", "x5"], ["x1", "x2"], ["x0", "x4"]]},
]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("score", ["bdeu", "k2"])
def test_what_is_put_together_obeys_and_scores_what_was_said(rules, score):
    for seed in range(5):
        scorer = make_scorer(make_table(seed, 6), score)
        climber = begun(scorer, **rules)
        found = climbing.hill_climb(climber, patient)
        joined = recombining.Recombiner(climber).recombined(found.joined)
        best = recombining.thorough_climb(begun(scorer, **rules), patient)
        assert best.score >= found.score - 1e-9
        given = read_constraints(scorer.names, **rules)
        pairs = (set(map(tuple, np.argwhere(x).tolist())) for x in given[:2])
        for graph in (joined, best.joined):
            if graph is not None:
                parents = naive.parents_of(graph)
                assert structures.is_acyclic(parents)
                required, forbidden = pairs = tuple(pairs)
                assert structures.allowed(parents, given.most_parents, required, forbidden)
        total = sum(scorer.family(v, up) for v, up in enumerate(naive.parents_of(best.joined)))
        assert best.score == pytest.approx(total, rel=1e-12)


def test_a_turned_graph_is_equivalent_and_another_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        joined = naive.random_graph(rng, 7, 0.3)
        names = [f"x{k}" for k in range(7)]
        dag = jn.DAG.from_adjacency(joined, names)
        other = jn.DAG.from_adjacency(recombining.turned(joined), names)
        assert other.cpdag() == dag.cpdag()
        free = dag.cpdag().adjacency
        assert (other == dag) == (not (free & free.T).any())


def test_families_that_were_forgotten_are_not_put_together(monkeypatch):
    """Where there is no room for the families of one graph it climbs, and that is all."""
    scorer = make_scorer(make_table(1), "bic")
    plain = climbing.hill_climb(begun(scorer), patient)
    monkeypatch.setattr("jensen.q_graph.search.family_scores.KEPT_BYTES", 8 * 8 * 4)
    climber = begun(scorer)
    found = climbing.hill_climb(climber, patient)
    assert recombining.Recombiner(climber).recombined(found.joined) is None
    assert recombining.thorough_climb(begun(scorer), patient).score >= plain.score - 1e-9


def test_a_wish_to_stop_is_heard_in_every_climb():
    scorer, n_seen = make_scorer(make_table(2), "bic"), []
    whole = recombining.thorough_climb(begun(scorer), lambda *_: bool(n_seen.append(1)))
    assert not whole.stopped
    for n in range(0, len(n_seen), 3):
        wish = iter([False] * n)
        found = recombining.thorough_climb(begun(scorer), lambda *_, w=wish: next(w, True))
        assert found.stopped
        assert found.score <= whole.score + 1e-9
        total = sum(scorer.family(v, up) for v, up in enumerate(naive.parents_of(found.joined)))
        assert found.score == pytest.approx(total, rel=1e-12)


def test_families_that_follow_score_what_was_said():
    """Each is new or not worse than what is known, has no member twice, and obeys the most."""
    n_found = 0
    for seed, score in enumerate(["bdeu", "bic", "aic", "loglik"]):
        scorer = make_scorer(make_table(seed, 7), score)
        climber = begun(scorer, max_parents=3)
        climbing.hill_climb(climber, patient)
        known = list(climber.families.known())
        alone = np.array([scorer.family(v, []) for v in range(7)])
        values, half = SetValues(alone, 3), len(known) // 2
        for part in (known[:half], known[half:], []):
            found = values.derive(part, climber.tie)
            n_found += len(found.children)
            for v, above, local in zip(*found, strict=True):
                parents = np.flatnonzero(above).tolist()
                assert v not in parents
                assert 1 <= len(parents) <= 3
                assert local == pytest.approx(scorer.family(v, parents), rel=1e-10)
                fewer = scorer.without_each(v, parents)
                assert local > fewer.min() + climber.tie
    assert n_found > 50


def test_nothing_follows_where_a_score_is_no_function_of_sets():
    climber = begun(make_scorer(make_table(0), "k2"))
    found = climbing.hill_climb(climber, patient)
    recombiner = recombining.Recombiner(climber)
    recombiner.recombined(found.joined)
    assert recombiner.values is None


def test_the_same_families_are_put_together_once():
    climber = begun(make_scorer(make_table(3), "bic"))
    found = climbing.hill_climb(climber, patient)
    recombiner = recombining.Recombiner(climber)
    first = recombiner.recombined(found.joined, 0)
    assert recombiner.recombined(found.joined, 0) is None
    assert first is None or recombiner.recombined(first, 0) is None


def test_never_below_plain_greedy_search_in_the_order_of_names():
    """Nor tabu below plain tabu search: these are among the climbs."""
    for seed in range(10):
        for score in ("bdeu", "bic", "aic", "k2"):
            scorer, known = make_scorer(make_table(seed, 9, 400), score), {}
            plain, tabu = (Greedy(scorer, range(9), 9, known) for _ in range(2))
            least, least_tabu = plain.climb(), tabu.tabu()
            assert recombining.thorough_climb(begun(scorer), patient).score >= least - 1e-6
            walked = recombining.climb_and_walk(begun(scorer), patient).score
            assert walked >= least_tabu - 1e-6
            for climb, expected in (
                (climbing.plain_climb, least),
                (climbing.plain_tabu, least_tabu),
            ):
                climber = begun(scorer)
                climber.ties = climbing.FIRST
                assert climb(climber, patient).score == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_never_below_plain_greedy_search_in_the_order_of_columns(kind):
    """Where the search in the order of names is below it, that of the columns is taken."""
    n_below = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        if kind == "labels":
            table = make_table(seed, 9, 400)
        else:
            x = rng.normal(size=(60, 9))
            x = x @ (np.eye(9) + np.triu(rng.normal(size=(9, 9)), 1) * (rng.random((9, 9)) < 0.4))
            table = jn.Table(x, names=list("abcdefghi"), continuous=list("abcdefghi"))
        for score in ("bdeu", "aic") if kind == "labels" else ("bge", "aic"):
            scorer, known = make_scorer(table, score), {}
            names = rng.permutation(table.names).tolist()
            order = [scorer.names.index(name) for name in names]
            plain, tabu = (Greedy(scorer, order, 9, known) for _ in range(2))
            least, least_tabu = plain.climb(), tabu.tabu()
            for climb, expected in (
                (climbing.plain_climb, least),
                (climbing.plain_tabu, least_tabu),
            ):
                climber = begun(scorer)
                climber.ties = climbing.FIRST
                climber.put_in_order(order)
                assert climb(climber, patient).score == pytest.approx(expected, rel=1e-9)
            n_below += climbing.hill_climb(begun(scorer), patient).score < least - 1e-6
            found = jn.learn_structure(table.select(names), score=score).info.score
            walked = jn.learn_structure(table.select(names), "tabu", score).info.score
            told = jn.score(jn.learn_structure(table.select(names), score=score), table, score)
            assert found == pytest.approx(told, rel=1e-9)
            constant = found - recombining.thorough_climb(begun(scorer), patient, order=order).score
            assert constant == pytest.approx(0.0, abs=1e-6 * abs(found))
            assert found >= least - 1e-6
            assert walked >= least_tabu - 1e-6
    assert n_below


def test_a_climb_in_the_order_of_columns_obeys_rules():
    scorer = make_scorer(make_table(1, 7, 300), "bic")
    rules = {"required": "x3 -> x1", "forbidden": "x2 -> x4", "max_parents": 2}
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(7).tolist()
        climber = begun(scorer, **rules)
        best = recombining.thorough_climb(climber, patient, order=order)
        assert climber.variables[1].tolist() == list(range(7))  # as it was
        assert best.joined[3, 1]
        assert not best.joined[2, 4]
        assert best.joined.sum(0).max() <= 2


def test_plain_tabu_leaves_no_edge_for_nothing():
    """A column that is constant, one that is there twice, and one that follows from two others."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 200))
    columns = {"a": a, "b": b, "c": a | b, "d": a, "e": np.zeros(200, int), "f": (a | b) ^ (b & a)}
    scorer = make_scorer(jn.Table(columns, states={"e": [0, 1]}), "k2")
    climber = begun(scorer)
    found = climbing.plain_tabu(climber, patient)
    assert found.joined.any()
    for v, up in enumerate(naive.parents_of(found.joined)):
        assert all(scorer.without_each(v, sorted(up)) < scorer.family(v, sorted(up)) - 1e-9)
    assert found.score == climber.total


def test_hardly_ever_below_plain_greedy_search():
    """Of 160 orders of columns, on which that depends, in none; climbing once in 16."""
    below, once = 0, 0
    for seed in range(10):
        for score in ("bdeu", "bic", "aic", "k2"):
            scorer = make_scorer(make_table(seed, 9, 400), score)
            ours = recombining.thorough_climb(begun(scorer), patient).score
            climbed = climbing.hill_climb(begun(scorer), patient).score
            known = {}
            for k in range(4):
                order = np.random.default_rng(k).permutation(9).tolist()
                plain = Greedy(scorer, order, 9, known).climb()
                below, once = below + (ours < plain - 1e-6), once + (climbed < plain - 1e-6)
    assert below <= 1
    assert once >= 12
