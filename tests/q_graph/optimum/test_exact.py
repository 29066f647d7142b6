"""The best network of all: against every network there is."""

import math

import numpy as np
import pytest
from naive import structures

import jensen as jn
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.optimum import dynamic_programming
from jensen.q_graph.optimum.dynamic_programming import best_network
from jensen.scores import SCORES, set_functions
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.support.machine import set_threads

FOUR = structures.all_networks(4)
CONSTRAINTS = [
    {},
    {"max_parents": 1},
    {"max_parents": 0},
    {"required": [(3, 0), (2, 1)]},
    {"forbidden": [(0, 1), (1, 0), (2, 3)]},
    {"required": [(3, 2)], "forbidden": [(0, 1), (1, 2)], "max_parents": 2},
]


def make_table(seed=0, n_rows=60, cards=(2, 3, 2, 2)):
    """Variables that depend on those before them."""
    rng = np.random.default_rng(seed)
    columns, before = {}, np.zeros(n_rows, int)
    for k, card in enumerate(cards):
        noise = rng.integers(0, card, n_rows)
        before = np.where(rng.random(n_rows) < 0.6, (before + k) % card, noise)
        columns[f"x{k}"] = before.astype(str)
    return jn.Table(columns)


def matrix(edges, n):
    flags = np.zeros((n, n), bool)
    for u, v in edges:
        flags[u, v] = True
    return flags


def solve(scorer, max_parents=None, required=(), forbidden=(), **more):
    n = len(scorer.names)
    return best_network(
        scorer,
        max_parents=max_parents,
        required=matrix(required, n),
        forbidden=matrix(forbidden, n),
        **more,
    )


def check_best(scorer, networks, **constraints):
    possible = [g for g in networks if structures.allowed(g, **constraints)]
    totals = structures.scored(possible, scorer.family)
    parents, score = solve(scorer, **constraints)
    assert score == pytest.approx(max(totals.values()), rel=1e-11, abs=1e-9)
    assert totals[tuple(parents)] == pytest.approx(score, rel=1e-13)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_no_network_is_better(score, constraints):
    for seed in range(3):
        check_best(make_scorer(make_table(seed), score), FOUR, **constraints)


@pytest.mark.parametrize("constraints", CONSTRAINTS)
@pytest.mark.parametrize("score", ["bge", "bic"])
def test_no_gaussian_network_is_better(score, constraints):
    x = np.random.default_rng(0).normal(size=(40, 4)) @ np.triu(np.ones((4, 4)))
    scorer = make_scorer(jn.Table(x, continuous=["x0", "x1", "x2", "x3"]), score)
    check_best(scorer, FOUR, **constraints)


def test_weights_interventions_and_missing_values():
    table, rng = make_table(), np.random.default_rng(0)
    check_best(make_scorer(table.with_weights(rng.exponential(2.0, 60)), "bdeu"), FOUR)
    was_set = [None, "x1", "x3"] * 20
    for score in SCORES:
        check_best(make_scorer(table, score, interventions=was_set), FOUR, max_parents=2)
    holes = jn.Table({"a": ["x", None, "y", "x"] * 5, "b": ["u", "v", None, "u"] * 5})
    scorer = make_scorer(holes, "bic", missing="available-case")
    check_best(scorer, structures.all_networks(2))


def test_listed_scores():
    """Sets of parents that are not listed are not possible."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = LocalScores.of(
            {
                name: {(): -10.0, **{(x,): float(rng.normal(-9.0, 2.0)) for x in others}}
                for name, others in (("a", "bc"), ("b", "acd"), ("c", "d"), ("d", "ab"))
            }
        )
        check_best(scores, FOUR)


@pytest.mark.parametrize("score", ["bdeu", "k2", "bds"])
def test_a_larger_problem_agrees_with_its_scores_listed(score):
    """Seven variables, by all sets at once and by each family for itself."""
    scorer = make_scorer(make_table(1, 200, (2, 3, 2, 2, 4, 2, 3)), score)
    names = scorer.names
    listed = LocalScores.of(
        {
            x: {
                tuple(names[u] for u in above): scorer.family(v, above)
                for above in _subsets([u for u in range(7) if u != v])
            }
            for v, x in enumerate(names)
        }
    )
    parents, total = best_network(scorer)
    assert best_network(listed)[0] == parents
    assert best_network(listed)[1] == pytest.approx(total, rel=1e-12)


def _subsets(items):
    return [[x for k, x in enumerate(items) if m >> k & 1] for m in range(1 << len(items))]


def test_the_score_is_that_of_the_graph():
    table = make_table(3, 500, (2, 3, 2, 2, 4, 2))
    parents, score = best_network(make_scorer(table, "bdeu"))
    names = sorted(table.names)
    graph = jn.DAG.from_parents({names[v]: [names[u] for u in up] for v, up in enumerate(parents)})
    assert score == pytest.approx(jn.score(graph, table, "bdeu"), rel=1e-12)


def test_columns_in_any_order_and_threads_change_nothing():
    table = make_table(4, 300, (2, 3, 2, 2, 4))
    expected = best_network(make_scorer(table, "bic"))
    other = table.select(["x3", "x0", "x4", "x2", "x1"])
    try:
        for threads in (1, 2):
            set_threads(threads)
            assert best_network(make_scorer(other, "bic")) == expected
    finally:
        set_threads(None)


def test_equals_are_chosen_by_name():
    """Smaller names are parents of larger ones; of equal columns the first is the parent."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 100)
    d = np.where(rng.random(100) < 0.9, a, 1 - a)
    table = jn.Table({x: v.astype(str) for x, v in (("d", d), ("b", a), ("a", a), ("c", a))})
    parents, _ = best_network(make_scorer(table, "bic"))
    assert parents == [(), (0,), (0,), (0,)]


def test_one_column():
    parents, score = best_network(make_scorer(jn.Table({"a": ["x", "y"]}), "k2"))
    assert parents == [()]
    assert score == pytest.approx(-math.log(6.0))
    assert best_network(LocalScores.of({})) == ([], 0.0)


def test_many_variables_in_pieces(monkeypatch):
    table = make_table(5, 100, (2,) * 9)
    scorer = make_scorer(table, "bdeu")
    expected = best_network(scorer)
    monkeypatch.setattr(set_functions, "PIECE", 3)
    monkeypatch.setattr(dynamic_programming, "PIECE", 50)
    assert best_network(scorer) == expected


def test_what_contradicts_itself_is_refused():
    scorer = make_scorer(make_table(), "bic")
    with pytest.raises(GraphError, match="no network is possible: every one without a cycle lacks"):
        solve(scorer, required=[(0, 1), (1, 0)])
    with pytest.raises(GraphError, match="too many parents"):
        solve(scorer, required=[(0, 2), (1, 2)], max_parents=1)


def test_memory_is_known_beforehand():
    scores = LocalScores.of({f"x{k:02}": {(): -1.0} for k in range(40)})
    wanted = r"the exact optimum of 40 variables would take 192 TiB.*leave out variables, or search"
    with pytest.raises(JensenError, match=wanted):
        best_network(scores)


def test_progress_goes_from_nothing_to_all():
    seen = []
    solve(make_scorer(make_table(), "bdeu"), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_it_can_be_stopped_between_pieces():
    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(make_scorer(make_table(), "bdeu"), progress=stop)
