"""Scores of every variable given every set of the others, against family by family."""

import numpy as np
import pytest
from naive import scores as naive

import jensen as jn
from jensen.exceptions import JensenError
from jensen.scores import SCORES as ALL
from jensen.scores import set_functions
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.scores.parent_sets import candidate_scores, fill_family_scores, sets_up_to
from jensen.scores.registry import SPECS
from jensen.scores.set_functions import sizes_of_sets
from jensen.support.machine import set_threads

SCORES = list(ALL)
CLOSE = {"rtol": 1e-11, "atol": 1e-9}


def families(n, most):
    """(child, column of the table, parents) of all families."""
    for child in range(n):
        others = [v for v in range(n) if v != child]
        for number, places in sets_up_to(n - 1, most):
            yield child, number, [others[k] for k in places]


def filled(scorer, most=None):
    n = len(scorer.names)
    out = np.full((n, 1 << (n - 1)), np.nan)
    fill_family_scores(scorer, out, n - 1 if most is None else most)
    return out


def check_by_family(scorer, most=None):
    n = len(scorer.names)
    out = filled(scorer, most)
    for child, number, parents in families(n, n - 1 if most is None else most):
        np.testing.assert_allclose(out[child, number], scorer.family(child, parents), **CLOSE)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n_rows", [1, 25])
def test_every_family_has_its_score_by_definition(score, n_rows, make_example):
    example = make_example(n_rows, (2, 3, 1, 4))
    out, names = filled(make_scorer(example.table, score)), "abcd"
    for child, number, parents in families(4, 3):
        x, above = names[child], [names[v] for v in parents]
        expected = naive.SCORES[score].states(example.rows, example.states, x, above)
        np.testing.assert_allclose(out[child, number], expected, **CLOSE)


@pytest.mark.parametrize("score", ["loglik", "aic", "bic"])
def test_available_cases_by_definition(score, make_example):
    example = make_example(30, (2, 3, 2, 2), missing=0.4)
    out = filled(make_scorer(example.table, score, missing="available-case"))
    for child, number, parents in families(4, 3):
        x, above = "abcd"[child], ["abcd"[v] for v in parents]
        expected = naive.SCORES[score].states(example.rows, example.states, x, above)
        np.testing.assert_allclose(out[child, number], expected, **CLOSE)


def test_what_was_never_seen_together_is_impossible():
    table = jn.Table({"a": ["x", "y", None, None], "b": [None, None, "u", "v"]})
    out = filled(make_scorer(table, "bic", missing="available-case"))
    assert np.all(out[:, 1] == -np.inf)
    assert np.all(np.isfinite(out[:, 0]))


@pytest.mark.parametrize("score", SCORES)
def test_weighted_rows(score, make_example):
    table, rng = make_example(60, (2, 3, 2, 4)).table, np.random.default_rng(1)
    check_by_family(make_scorer(table.with_weights(rng.integers(0, 200, 60)), score))
    if not SPECS[score].needs_integer_weights:
        check_by_family(make_scorer(table.with_weights(rng.exponential(3.0, 60)), score))


@pytest.mark.parametrize("score", SCORES)
def test_rows_in_which_a_variable_was_set(score, make_example):
    table, rng = make_example(80, (2, 3, 2, 2)).table, np.random.default_rng(2)
    was_set = rng.choice(["", "a", "c"], 80)
    scorer = make_scorer(table, score, interventions=[x or None for x in was_set])
    check_by_family(scorer)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("most", [0, 1, 3])
def test_families_up_to_a_size(score, most, make_example):
    check_by_family(make_scorer(make_example(50, (2, 3, 2, 4, 2)).table, score), most)


@pytest.mark.parametrize("score", SCORES)
def test_counts_beyond_those_known_beforehand(score, make_example, monkeypatch):
    monkeypatch.setattr(set_functions, "MOST_KNOWN", 4)
    check_by_family(make_scorer(make_example(200, (2, 3, 2)).table, score))


@pytest.mark.parametrize("score", ["bdeu", "bds"])
def test_very_many_parameters(score, make_example, monkeypatch):
    monkeypatch.setattr(set_functions, "MANY", 1)
    check_by_family(make_scorer(make_example(300, (2, 3, 4)).table, score))


@pytest.mark.parametrize("size", [1e-6, 1e3, 1e9])
def test_equivalent_samples_of_any_size(size, make_example, monkeypatch):
    monkeypatch.setattr(set_functions, "MOST_KNOWN", 200)
    example = make_example(100, (2, 3, 2))
    out = filled(make_scorer(example.table, "bdeu", equivalent_sample_size=size))
    for child, number, parents in families(3, 2):
        x, above = "abc"[child], ["abc"[v] for v in parents]
        expected = naive.bdeu(example.rows, example.states, x, above, size)
        np.testing.assert_allclose(out[child, number], expected, **CLOSE)


def test_an_equivalent_sample_that_is_nothing_per_cell(make_example):
    scorer = make_scorer(make_example(9, (40, 40)).table, "bdeu", equivalent_sample_size=5e-324)
    with pytest.raises(JensenError, match=r"too small to be spread over 1.6e\+03 cells: raise it"):
        filled(scorer)


@pytest.mark.parametrize("score", SCORES)
def test_many_states(score):
    rng = np.random.default_rng(0)
    columns = {"a": rng.integers(0, 700, 900), "b": rng.integers(0, 60, 900)}
    columns["c"] = columns["a"] % 3
    table = jn.Table({k: v.astype(str) for k, v in columns.items()}, categorical=["a", "b"])
    check_by_family(make_scorer(table, score))


@pytest.mark.parametrize("score", ["bdeu", "bds", "k2"])
def test_pieces_and_threads_change_nothing(score, make_example, monkeypatch):
    scorer = make_scorer(make_example(300, (2, 3, 2, 2, 4, 2, 3)).table, score)
    whole = filled(scorer)
    monkeypatch.setattr(set_functions, "PIECE", 2)
    try:
        for threads in (1, 2):
            set_threads(threads)
            np.testing.assert_array_equal(filled(scorer), whole)
    finally:
        set_threads(None)


def test_the_order_of_rows_and_columns_changes_nothing(make_example):
    table = make_example(100, (2, 3, 2, 2)).table
    other = table.select(["c", "a", "d", "b"]).take(np.random.default_rng(0).permutation(100))
    np.testing.assert_array_equal(
        filled(make_scorer(table, "bdeu")), filled(make_scorer(other, "bdeu"))
    )


def test_a_set_function_family_by_family(make_example):
    """As of a scorer that knows no other way: here bde, with a prior network."""
    example = make_example(40, (2, 3, 2))
    prior = jn.BayesianNetwork("a -> b; c", prior="k2").fit(example.table)
    for most in (1, 2):
        check_by_family(make_scorer(example.table, "bde", prior_network=prior), most)


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("score", ["bge", "bic"])
def test_continuous_columns(score, most):
    x = np.random.default_rng(0).normal(size=(60, 5)) @ np.triu(np.ones((5, 5)))
    check_by_family(make_scorer(jn.Table(x, continuous=[f"x{k}" for k in range(5)]), score), most)


class Slow:
    """A scorer with nothing but its families."""

    def __init__(self, n, is_set_function):
        self.names = tuple(f"x{k:02}" for k in range(n))
        self.is_set_function = is_set_function

    def family(self, child, parents):
        return float(child + 10 * sum(parents))


def test_neither_set_function_nor_counts():
    check_by_family(Slow(4, is_set_function=False))


@pytest.mark.parametrize(
    ("is_set_function", "n", "count"), [(True, 23, "8,388,607"), (False, 19, "4,980,736")]
)
def test_too_many_families_one_by_one(is_set_function, n, count):
    out = np.empty((n, 1))
    with pytest.raises(JensenError, match=f"would score {count} families.*choose max_parents"):
        fill_family_scores(Slow(n, is_set_function), out, n - 1)


def test_progress_reaches_one_and_never_falls(make_example, monkeypatch):
    monkeypatch.setattr(set_functions, "PIECE", 2)
    table = make_example(50, (2, 3, 2, 2, 2)).table
    was_set = [None, "a", "b", "b", None] * 10
    for choices in ({}, {"interventions": was_set}):
        for score in SCORES:
            seen = []
            scorer = make_scorer(table, score, **choices)
            fill_family_scores(scorer, np.empty((5, 16)), 4, seen.append)
            assert seen == sorted(seen)
            assert seen[-1] == pytest.approx(1.0)


def test_sets_and_their_numbers():
    assert list(sets_up_to(3, 1)) == [(0, ()), (1, (0,)), (2, (1,)), (4, (2,))]
    assert sizes_of_sets(3).tolist() == [0, 1, 1, 2, 1, 2, 2, 3]
    assert sum(1 for _ in sets_up_to(6, 6)) == 64


def test_subsets_of_listed_scores():
    listed = LocalScores.of({"a": {(): -1.0, ("b",): -2.0}, "b": {(): -3.0}})
    np.testing.assert_array_equal(candidate_scores(listed, 0, [1], 1), [-1.0, -2.0])
    np.testing.assert_array_equal(candidate_scores(listed, 1, [0], 1), [-3.0, -np.inf])
