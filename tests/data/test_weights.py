"""Row weights: frequencies, finite and not negative."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError

DATA = {"t": ["a", "b", None], "n": [1, 2, 3], "r": [0.5, 1.5, None]}


@pytest.mark.parametrize(
    "weights",
    [
        [2, 0, 0.5],
        (2, 0, 0.5),
        np.array([2, 0, 0.5], np.float32),
        pd.Series([2, 0, 0.5], index=[7, 8, 9]),
        pl.Series([2.0, 0.0, 0.5]),
        pa.array([2, 0, 0.5]),
    ],
)
def test_weights_are_one_number_per_row(weights):
    table = jn.Table(DATA, weights=weights)
    assert table.weights.tolist() == [2.0, 0.0, 0.5]
    assert table.total_weight == 2.5


def test_without_weights_every_row_counts_once():
    assert jn.Table(DATA).weights is None
    assert jn.Table(DATA).total_weight == 3.0


def test_a_column_of_weights_is_no_variable():
    table = jn.Table(DATA, weights="n")
    assert table.names == ("t", "r")
    assert table.weights.tolist() == [1.0, 2.0, 3.0]


def test_a_table_does_not_follow_changes_of_the_callers_array():
    weights = np.ones(3)
    table = jn.Table(DATA, weights=weights)
    weights[0] = 99
    assert table.weights.tolist() == [1.0, 1.0, 1.0]


def test_other_weights_on_the_same_columns():
    table = jn.Table(DATA).with_weights([1, 2, 3])
    assert table.weights.tolist() == [1.0, 2.0, 3.0]
    assert table.with_weights(None).weights is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], "the weight of row 2 is -1.0: a weight says how often a row counts"),
        ([1, np.nan, 1], "the weight of row 2 is nan"),
        ([1, None, 1], "the weight of row 2 is nan"),
        ([1, 1, np.inf], "the weight of row 3 is inf: .* must be finite and >= 0"),
        ([1, 1], r"3 rows need 3 weights, but their shape is \(2,\)"),
        ([[1, 1, 1]], r"3 rows need 3 weights, but their shape is \(1, 3\)"),
        (1, r"3 rows need 3 weights, but their shape is \(\)"),
        (["a", "b", "c"], "weights must be numbers, one per row"),
        ([1j, 1, 1], "weights must be numbers, one per row"),
        ("q", "there is no column 'q'; the columns are: t, n, r"),
        ("t", "weights='t': column 't' cannot be continuous: row 1 holds 'a'"),
        ("r", "the weight of row 3 is nan"),
    ],
)
def test_weights_that_cannot_be(weights, message):
    with pytest.raises(DataError, match=message):
        jn.Table(DATA, weights=weights)


@pytest.mark.parametrize("choices", [{"categorical": ["n"]}, {"states": {"n": [1, 2, 3]}}])
def test_a_column_of_weights_has_no_kind(choices):
    with pytest.raises(DataError, match="column 'n' holds the weights, so it is no variable"):
        jn.Table(DATA, weights="n", **choices)


# --- in files ---


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_weights_are_written_as_a_column(tmp_path, name):
    table = jn.Table(DATA, weights=[2, 0, 0.5])
    table.write(tmp_path / name, weights="w")
    back = jn.read_table(tmp_path / name, weights="w")
    assert naive.plain(back) == naive.plain(table)
    assert back.weights.tolist() == [2.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("weights", "column", "message"),
    [
        ([1, 2, 3], None, r"this table has weights, and a file holds them as a column: name it"),
        ([1, 2, 3], "n", "there is a column 'n' already: name the weights otherwise"),
        (None, "w", "this table has no weights to write as 'w'"),
    ],
)
def test_weights_never_get_lost_in_a_file(tmp_path, weights, column, message):
    with pytest.raises(DataError, match=message):
        jn.Table(DATA, weights=weights).write(tmp_path / "t.csv", weights=column)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("weights", [[1e308, 1e308], [1e303, 1.0], [1e305, 0.0]])
def test_weights_that_no_count_reaches_are_refused(weights):
    with pytest.raises(
        jn.DataError,
        match=r"^the weights of 2 rows sum to .*, and sums over more than 1e\+302 rows lose their "
        r"digits or overflow: divide all weights by one number$",
    ):
        jn.Table({"a": ["x", "y"]}, weights=weights)
    with pytest.raises(jn.DataError, match="lose their digits or overflow"):
        jn.GaussianMixture(1, prior={}).fit([[0.0], [1.0]], sample_weight=weights)
    with pytest.raises(jn.DataError, match="of 2 sequences sum to"):
        jn.HiddenMarkovModel(1).fit([["a"], ["b"]], sequence_weight=weights)
