"""Mutual informations equal their definitions, however they are counted."""

import math
from itertools import combinations

import numpy as np
import pytest
from naive import trees as naive

import jensen as jn
from jensen.scores import categorical_information as categorical
from jensen.scores.categorical_information import CategoricalInformation, ConditionalInformation
from jensen.scores.mutual_information import pair_information

ATOL = 1e-12


def labelled(n_rows, cards, seed=0):
    """Columns of labels that depend on the one before, and their states; some may not occur."""
    rng = np.random.default_rng(seed)
    columns, states, before = {}, {}, np.zeros(n_rows, int)
    for k, card in enumerate(cards):
        noise = rng.integers(0, card, n_rows)
        before = np.where(rng.random(n_rows) < 0.6, before % card, noise)
        name = f"x{k}"
        states[name] = [f"s{s}" for s in range(card)]
        columns[name] = [states[name][s] for s in before]
    return columns, states


def defined(columns, states, weights=None, sample_size=0.0, given=None):
    names = [x for x in sorted(columns) if x != given]
    weights = [1.0] * len(columns[names[0]]) if weights is None else weights
    out = np.zeros((len(names), len(names)))
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        found = naive.mutual_information(columns, a, b, weights, states, sample_size, given)
        out[i, j] = out[j, i] = found
    return out


def without_diagonal(matrix):
    return matrix - np.diag(matrix.diagonal())


def from_rows(source):
    """The matrix, asked for row by row."""
    every = np.ones(len(source.names), bool)
    return np.array([source.row(k, every) for k in range(len(source.names))])


@pytest.mark.parametrize("cards", [(2, 2, 2), (2, 3, 4, 1, 2), (20, 3, 2, 17), (2,)])
@pytest.mark.parametrize("smoothing", [0, 0.25, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_equals_the_definition(cards, smoothing, weighted):
    columns, states = labelled(130, cards)
    weights = np.random.default_rng(1).exponential(1.0, 130) if weighted else None
    table = jn.Table(columns, states=states, weights=weights)
    found = jn.mutual_information_matrix(table, smoothing=smoothing)
    expected = defined(columns, states, weights, 4 * smoothing)
    np.testing.assert_allclose(without_diagonal(found.values), expected, atol=ATOL)
    rows = from_rows(pair_information(table, sorted(columns), smoothing))
    np.testing.assert_allclose(rows, found.values, atol=ATOL)


@pytest.mark.parametrize("cards", [(300, 2, 5), (70, 80, 2), (257, 300, 3)])
@pytest.mark.parametrize("smoothing", [0, 1])
@pytest.mark.parametrize("dense", [True, False])
def test_very_many_states_are_counted_right(cards, smoothing, dense, monkeypatch):
    if not dense:  # tables with more cells than rows are counted by sorting
        monkeypatch.setattr(categorical, "DENSE_CELLS", 0)
    columns, states = labelled(60, cards)
    found = jn.mutual_information_matrix(jn.Table(columns, states=states), smoothing=smoothing)
    for (i, a), (j, b) in combinations(enumerate(sorted(columns)), 2):
        cells = len(states[a]) * len(states[b])
        joint = np.full((len(states[a]), len(states[b])), 4 * smoothing / cells)
        for x, y in zip(columns[a], columns[b], strict=True):
            joint[states[a].index(x), states[b].index(y)] += 1
        p = joint / joint.sum()
        q = np.outer(p.sum(1), p.sum(0))
        expected = np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))
        assert found.values[i, j] == pytest.approx(expected, abs=ATOL)


def test_rows_are_made_one_by_one_where_the_meetings_would_be_too_many(monkeypatch):
    columns, states = labelled(200, (2, 3, 4, 2))
    whole = jn.mutual_information_matrix(jn.Table(columns, states=states)).values
    monkeypatch.setattr(categorical, "MOST_MEETINGS", 3)
    one_by_one = jn.mutual_information_matrix(jn.Table(columns, states=states)).values
    np.testing.assert_allclose(one_by_one, whole, atol=ATOL)


def test_counts_beyond_those_that_are_looked_up(monkeypatch):
    columns, states = labelled(400, (2, 3, 4))
    source = CategoricalInformation(jn.Table(columns, states=states), sorted(columns), 2.0)
    whole = from_rows(source)
    monkeypatch.setattr(categorical, "MOST_KNOWN", 10)
    source = CategoricalInformation(jn.Table(columns, states=states), sorted(columns), 2.0)
    np.testing.assert_allclose(from_rows(source), whole, atol=ATOL)


def test_weighted_rows_in_several_blocks(monkeypatch):
    columns, states = labelled(200, (2, 3, 4))
    weights = np.random.default_rng(0).random(200)
    table = jn.Table(columns, states=states)
    whole = CategoricalInformation(table, sorted(columns), weights=weights).matrix()
    monkeypatch.setattr(categorical, "BLOCK", 64)
    source = CategoricalInformation(table, sorted(columns), weights=weights)
    np.testing.assert_allclose(source.matrix(), whole, atol=ATOL)
    again = jn.mutual_information_matrix(table.with_weights(weights)).values
    np.testing.assert_allclose(again, whole, atol=ATOL)


def test_the_diagonal_holds_entropies():
    columns, states = labelled(100, (2, 3))
    found = jn.mutual_information_matrix(jn.Table(columns, states=states))
    for name in columns:
        p = naive.shares(columns, (name,), [1.0] * 100).values()
        assert found[name, name] == pytest.approx(-sum(x * math.log(x) for x in p), abs=ATOL)


def test_weights_are_repetitions():
    columns, states = labelled(40, (2, 3, 2))
    times = np.random.default_rng(3).integers(0, 4, 40)
    repeated = {x: np.repeat(v, times).tolist() for x, v in columns.items()}
    ours = jn.mutual_information_matrix(jn.Table(columns, states=states, weights=times), 1)
    theirs = jn.mutual_information_matrix(jn.Table(repeated, states=states), 1)
    np.testing.assert_allclose(ours.values, theirs.values, atol=ATOL)


@pytest.mark.parametrize("smoothing", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_given_another_column(smoothing, weighted):
    columns, states = labelled(150, (2, 3, 2, 3))
    weights = np.random.default_rng(1).exponential(1.0, 150) if weighted else None
    table = jn.Table(columns, states=states, weights=weights)
    found = jn.mutual_information_matrix(table, smoothing=smoothing, given="x1")
    assert found.names == ("x0", "x2", "x3")
    expected = defined(columns, states, weights, 4 * smoothing, given="x1")
    np.testing.assert_allclose(without_diagonal(found.values), expected, atol=ATOL)
    rows = from_rows(ConditionalInformation(table, found.names, "x1", 4.0 * smoothing))
    np.testing.assert_allclose(rows, found.values, atol=ATOL)


def numbers(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    b = 1e6 + 3.0 * a + rng.normal(size=n_rows)
    c = 1e-8 * (rng.normal(size=n_rows) - 0.5 * b)
    return {"a": a, "b": b, "c": c}


@pytest.mark.parametrize("weighted", [False, True])
def test_continuous_columns(weighted):
    columns = numbers()
    weights = np.random.default_rng(1).exponential(1.0, 80) if weighted else None
    table = jn.Table(columns, weights=weights)
    found = jn.mutual_information_matrix(table)
    rho = np.cov(np.array(list(columns.values())), aweights=weights, ddof=0)
    rho /= np.sqrt(np.outer(rho.diagonal(), rho.diagonal()))
    for i, j in combinations(range(3), 2):
        expected = -0.5 * math.log(1 - rho[i, j] ** 2)
        assert found.values[i, j] == pytest.approx(expected, rel=1e-9)
    assert np.all(np.isinf(found.values.diagonal()))
    np.testing.assert_allclose(from_rows(pair_information(table, found.names)), found.values)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_continuous_and_a_categorical_column(weighted):
    """N · I is what the log-likelihood gains."""
    rng = np.random.default_rng(0)
    d = [str(k) for k in rng.integers(0, 3, 50)]
    columns = {"d": d, "x": (rng.normal(size=50) + np.array(d, float)).tolist()}
    weights = rng.exponential(1.0, 50) if weighted else np.ones(50)
    table = jn.Table(columns, categorical=["d"], weights=weights)
    alone = naive.log_likelihood(columns, "x", None, weights)
    gain = naive.log_likelihood(columns, "x", "d", weights) - alone
    found = jn.mutual_information_matrix(table)
    assert found["d", "x"] * weights.sum() == pytest.approx(gain, rel=1e-9)
    assert found["x", "d"] == found["d", "x"]
    np.testing.assert_allclose(from_rows(pair_information(table, found.names)), found.values)


def test_extreme_numbers_and_constants():
    columns = {"a": [1e300, -1e300, 5e299, 0.0], "b": [1e-300, -2e-300, 0.0, 3e-300]}
    scaled = {"a": [2.0, -2.0, 1.0, 0.0], "b": [1.0, -2.0, 0.0, 3.0]}
    kinds = {"continuous": ["a", "b"]}
    ours = jn.mutual_information_matrix(jn.Table(columns, **kinds))
    assert ours["a", "b"] == pytest.approx(
        jn.mutual_information_matrix(jn.Table(scaled, **kinds))["a", "b"], rel=1e-12
    )
    table = jn.Table({"a": [0.5, 1.5, 2.5], "b": [0.1, 0.1, 0.1], "c": ["u", "u", "u"]})
    assert np.all(jn.mutual_information_matrix(table).values[1:] == 0.0)


@pytest.mark.parametrize("kind", ["categorical", "continuous"])
def test_no_rows_and_one_row(kind):
    columns = {"a": [1], "b": [2]}
    states = {"a": [1, 2], "b": [1, 2]} if kind == "categorical" else None
    kinds = {} if states else {"continuous": ["a", "b"]}
    table = jn.Table(columns, states=states, **kinds)
    assert np.all(jn.mutual_information_matrix(table).values == 0.0)
    with pytest.raises(jn.DataError, match=r"^there is nothing to learn from: the table has"):
        jn.mutual_information_matrix(table.take([False]))


def test_by_name_and_as_a_dataframe():
    columns, states = labelled(30, (2, 3))
    found = jn.mutual_information_matrix(jn.Table(columns, states=states))
    frame = found.to_pandas()
    assert list(frame.index) == list(frame.columns) == ["x0", "x1"]
    assert frame.loc["x1", "x0"] == found["x0", "x1"] == found["x1", "x0"]
    with pytest.raises(
        jn.DataError, match=r"^there is no column 'y' in this matrix; the columns are: x0, x1$"
    ):
        found["x0", "y"]


def test_refusals():
    table = {"a": [0, 1, 1], "b": [0.5, 1.5, 3.5]}
    with pytest.raises(
        jn.DataError,
        match=r"^'b' holds numbers, and mutual information given a column is there for "
        r"categorical columns only: use jn.discretize, or say jn.Table\(..., categorical=\['b'\]\) "
        r"if these are labels$",
    ):
        jn.mutual_information_matrix(table, given="a")
    with pytest.raises(
        jn.DataError,
        match=r"^smoothing adds to counts, and column 'b' is continuous: leave smoothing out, or "
        r"use jn.discretize$",
    ):
        jn.mutual_information_matrix(table, smoothing=1)
    with pytest.raises(jn.DataError, match="there is no column 'z'"):
        jn.mutual_information_matrix(table, given="z")


@pytest.mark.parametrize("smoothing", [-1, math.inf, math.nan, "1", True, None])
def test_impossible_smoothing(smoothing):
    with pytest.raises(jn.JensenError, match=r"^smoothing must be a number, 0 or more, not "):
        jn.mutual_information_matrix({"a": [0, 1]}, smoothing=smoothing)


def test_memory_is_asked_for_first():
    table = jn.Table({"a": [0.5, 1.5], "b": [1.5, 0.5]})
    jn.set_memory_limit(50)
    try:
        with pytest.raises(jn.JensenError, match="the matrix of mutual informations would take"):
            jn.mutual_information_matrix(table)
        jn.set_memory_limit(20)
        with pytest.raises(jn.JensenError, match="the standardised columns would take 32 B"):
            jn.chow_liu(table)
    finally:
        jn.set_memory_limit(None)
