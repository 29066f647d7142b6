"""All networks within a Bayes factor of the best: against every network there is."""

import math

import numpy as np
import pytest
from naive import structures

import jensen as jn
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.optimum import k_best as module
from jensen.q_graph.optimum.k_best import networks_within
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer

NETWORKS = {4: structures.all_networks(4), 5: structures.all_networks(5)}


def make_table(n, n_rows=30, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, n_rows)
    columns = {"v0": first}
    for k in range(1, n):
        columns[f"v{k}"] = np.where(rng.random(n_rows) < 0.5, first, rng.integers(0, 2, n_rows))
    return jn.Table({name: x.astype(str) for name, x in columns.items()})


def parents_of(graph):
    return graph.parent_indices


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
@pytest.mark.parametrize("factor", [1.0, 20.0, 1e4])
def test_each_network_is_listed_once(n, score, factor):
    table = make_table(n)
    totals = structures.scored(NETWORKS[n], make_scorer(table, score).family)
    best = max(totals.values())
    expected = {g: x for g, x in totals.items() if x >= best - math.log(factor) - 1e-9}
    found = jn.k_best(table, factor, score)
    assert len(found) == len(expected)
    numbers = {tuple(sum(1 << u for u in up) for up in g): x for g, x in expected.items()}
    assert {tuple(row) for row in found.parents.tolist()} == set(numbers)
    listed = [numbers[tuple(row)] for row in found.parents.tolist()]
    np.testing.assert_allclose(found.scores, listed, rtol=1e-11)
    for graph, value, lost in found[:100]:
        assert value == pytest.approx(expected[parents_of(graph)], rel=1e-11)
        assert lost == pytest.approx(best - value, abs=1e-9)
    assert np.all(np.diff(found.scores) <= 1e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_networks_there_are(n):
    """1, 3, 25, 543, 29281 (Robinson 1973)."""
    found = jn.k_best(make_table(n, n_rows=2), 1e300)
    assert len(found) == [1, 3, 25, 543, 29_281][n - 1]
    assert len(np.unique(found.parents, axis=0)) == len(found)


def test_constraints_hold():
    table = make_table(4)
    scorer = make_scorer(table, "bdeu")
    rules = {"max_parents": 2, "required": [(3, 0)], "forbidden": [(1, 2)]}
    possible = [g for g in NETWORKS[4] if structures.allowed(g, **rules)]
    totals = structures.scored(possible, scorer.family)
    best = max(totals.values())
    found = jn.k_best(table, 50.0, max_parents=2, required="v3 -> v0", forbidden=[("v1", "v2")])
    assert {parents_of(x.graph) for x in found} == {
        g for g, x in totals.items() if x >= best - math.log(50.0)
    }


def test_equals_are_sorted_by_their_parents():
    found = jn.k_best(make_table(3, seed=2), 1.0)
    reordered = jn.k_best(make_table(3, seed=2).select(["v2", "v0", "v1"]), 1.0)
    assert [x.graph for x in found] == [x.graph for x in reordered]
    assert found.parents.tolist() == sorted(found.parents.tolist())


def test_it_reads_like_a_list():
    found = jn.k_best(make_table(4), 20.0)
    first = found[0]
    assert first.log_bayes_factor == 0.0
    assert first.score == found.scores[0]
    assert found[-1].graph == list(found)[-1].graph
    assert found[2:4][1] == found[3]
    assert first in found
    text = repr(found)
    assert text.startswith(f"the {len(found)} best graphs\n")
    assert str(first.graph) in text
    assert text.endswith(f"... and {len(found) - 8} more")
    with pytest.raises(IndexError):
        found[len(found)]


def test_a_search_in_small_steps_finds_the_same(monkeypatch):
    expected = jn.k_best(make_table(4), 100.0)
    monkeypatch.setattr(module, "STEPS", 7)
    found = jn.k_best(make_table(4), 100.0)
    assert found.parents.tolist() == expected.parents.tolist()


def test_too_many_are_refused_with_their_number():
    table = make_table(5, n_rows=2)
    with pytest.raises(JensenError, match=r"29,281 graphs are within.*limit=20,000: lower"):
        jn.k_best(table, 1e300, limit=20_000)


def test_far_too_many_are_not_counted(monkeypatch):
    monkeypatch.setattr(module, "STEPS", 100)
    table = make_table(5, n_rows=2)
    with pytest.raises(JensenError, match=r"more than 100 graphs are within.*limit=10"):
        jn.k_best(table, 1e300, limit=10)


@pytest.mark.parametrize("factor", [0.5, math.inf, math.nan, "x", True])
def test_a_bayes_factor_is_at_least_one(factor):
    with pytest.raises(JensenError, match="bayes_factor must be 1 or more, and finite"):
        jn.k_best(make_table(2), factor)


def test_a_limit_is_a_whole_number():
    with pytest.raises(JensenError, match="limit must be a whole number, 1 or more, not 0"):
        jn.k_best(make_table(2), limit=0)


def test_many_variables_are_refused():
    with pytest.raises(JensenError, match="graphs of 16 variables at most, not of 17: choose"):
        jn.k_best(make_table(17))


def test_what_is_impossible_is_refused():
    with pytest.raises(GraphError, match="no network is possible"):
        networks_within(LocalScores.of({"a": {("b",): 0.0}, "b": {("a",): 0.0}}), 1.0)
