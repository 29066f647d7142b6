"""The caller's word: kinds, states, missing labels; it overrides all, and is checked."""

import numpy as np
import pandas as pd
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError

DATA = {"n": [3, 1, 2], "t": ["a", "b", None], "r": [1.5, 2.5, None]}


@pytest.mark.parametrize(
    ("choices", "name", "kind", "expected"),
    [
        ({"continuous": ["n"]}, "n", "continuous", [3.0, 1.0, 2.0]),
        ({"counts": ["n"]}, "n", "count", [3.0, 1.0, 2.0]),
        ({"categorical": ["r"]}, "r", "categorical", ["1.5", "2.5", None]),
        ({"states": {"r": [2.5, 1.5]}}, "r", "categorical", ["1.5", "2.5", None]),
        ({"categorical": (name for name in ["r"])}, "r", "categorical", ["1.5", "2.5", None]),
    ],
)
def test_the_caller_overrides_the_kind(choices, name, kind, expected):
    table = jn.Table(DATA, **choices)
    assert naive.plain(table)[name] == (table.variable(name), expected)
    assert table.variable(name).kind == kind


@pytest.mark.parametrize("text", ["01", "+1", " 1", "1.0"])
def test_texts_are_numbers_where_the_caller_says_so(text):
    assert naive.plain(jn.Table({"x": [text]}, continuous=["x"]))["x"][1] == [1.0]


@pytest.mark.slow
def test_many_distinct_numbers_can_be_states():
    numbers = np.arange(70_000)
    table = jn.Table({"x": numbers}, categorical=["x"])
    assert table.variable("x").states == tuple(map(str, numbers))
    np.testing.assert_array_equal(table.column("x").data, numbers)


def test_declared_states_keep_their_order_and_the_unused():
    table = jn.Table(DATA, states={"t": ["c", "b", "a"]})
    assert table.variable("t").states == ("c", "b", "a")
    assert table.column("t").data.tolist() == [2, 1, 3]


@pytest.mark.parametrize("states", [[3, 2, 1], [3.0, 2.0, 1.0], ["3", "2", "1"], ["3", "2", "1.0"]])
def test_declared_states_match_labels_by_text(states):
    assert jn.Table(DATA, states={"n": states}).column("n").data.tolist() == [0, 2, 1]


def test_declared_states_keep_apart_what_a_text_file_writes_apart(write):
    path = write("version,k\n1.1,a\n1.10,b\n")
    assert jn.Table(path, states={"version": ["1.1", "1.10"]}).column("version").data.tolist() == [
        0,
        1,
    ]


@pytest.mark.parametrize("missing", [["?"], ("?", None), {"?"}, [float("nan"), "?"]])
def test_labels_that_mean_missing(missing):
    table = jn.Table({"x": ["a", "?", "b"]}, missing=missing)
    assert naive.plain(table)["x"] == (table.variable("x"), ["a", None, "b"])
    assert table.variable("x").states == ("a", "b")


@pytest.mark.parametrize("missing", [[-9], [-9.0], ["-9"], ["-9.0"], [np.int64(-9)]])
@pytest.mark.parametrize("values", [[1, -9, 2], [1.5, -9.0, 2.5], np.r_[np.arange(5000) + 0.5, -9]])
def test_numbers_that_mean_missing(values, missing):
    table = jn.Table({"x": values}, missing=missing)
    assert table.n_missing() == {"x": 1}
    assert "-9" not in table.variable("x").states


def test_numbers_that_mean_missing_in_a_text_file(write):
    table = jn.read_table(write("x,y\n1,?\n-9,a\n-9.0,b\n"), missing=[-9, "?"])
    assert naive.plain(table)["x"][1] == ["1", None, None]
    assert naive.plain(table)["y"][1] == [None, "a", "b"]


def test_what_means_missing_is_no_declared_state_of_the_source():
    frame = pd.DataFrame({"x": pd.Categorical(["a", "?"], categories=["?", "b", "a"])})
    table = jn.Table(frame, missing=["?"])
    assert table.variable("x").states == ("b", "a")
    assert table.column("x").data.tolist() == [1, 2]


def test_columns_named_by_numbers_are_chosen_by_number_or_text():
    for name in (0, "0"):
        assert jn.Table({0: [0.5, 1.0]}, categorical=[name]).variable("0").kind == "categorical"
        assert jn.Table({0: [1, 2]}, states={name: [2, 1]}).variable("0").states == ("2", "1")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"categorical": ["q"]}, "there is no column 'q'; the columns are: n, t, r"),
        ({"states": {"q": ["a"]}}, "there is no column 'q'; the columns are: n, t, r"),
        ({"categorical": "n"}, r"categorical must be a list of columns, \['n'\], not 'n' itself"),
        ({"counts": "n"}, r"counts must be a list of columns, \['n'\], not 'n' itself"),
        ({"continuous": 3}, "continuous must be a list of columns"),
        ({"categorical": [1.5]}, "a column is named by text, not by 1.5"),
        (
            {"categorical": ["n"], "counts": ["n"]},
            "column 'n' is declared categorical and count: choose one",
        ),
        (
            {"states": {"t": ["a"]}},
            "column 't' holds 'b', not among its declared states 'a'",
        ),
        ({"states": {"t": ["a", "b", "a"]}}, "the states of 't' repeat 'a'"),
        ({"states": {"t": "ab"}}, "the states of 't' must be a list in order, not 'ab'"),
        ({"states": {"t": {"a", "b"}}}, "the states of 't' must be a list in order"),
        ({"states": {"t": None}}, "the states of 't' must be a list in order, not None"),
        ({"states": {"t": ["a", "b", None]}}, "None and NaN are missing, no state"),
        ({"states": ["t"]}, r"states must map columns to lists of labels, not be \['t'\]"),
        (
            {"states": {"t": ["a", "b"]}, "counts": ["t"]},
            "column 't' is declared count, which has no states",
        ),
        ({"missing": "?"}, r"missing must be a list of labels, \['\?'\], not '\?' itself"),
        (
            {"continuous": ["t"]},
            r"column 't' cannot be continuous: row 1 holds 'a', .* say missing=\['a'\]",
        ),
        ({"counts": ["t"]}, "column 't' cannot be counts: row 1 holds 'a', which is no number"),
        ({"counts": ["r"]}, "column 'r' cannot be counts: row 1 holds 1.5, and a count is a whole"),
        ({"names": ["a", "b", "c"]}, r"names=\[...\] goes with a 2-D array"),
    ],
)
def test_choices_that_cannot_be(choices, message):
    with pytest.raises(DataError, match=message):
        jn.Table(DATA, **choices)


@pytest.mark.parametrize("value", [-1, 2.0**54, np.inf])
def test_counts_are_whole_numbers_in_range(value):
    with pytest.raises(DataError, match="column 'x' cannot be counts: row 2 holds"):
        jn.Table({"x": [1, value]}, counts=["x"])


@pytest.mark.parametrize("text", ["nan", "1_000", "٣", ""])
def test_texts_that_are_no_numbers_are_told_with_their_row(text):
    with pytest.raises(DataError, match="column 'x' cannot be continuous: row 2 holds"):
        jn.Table({"x": ["1.5", text]}, continuous=["x"])


def test_a_long_list_of_unknown_labels_is_shortened():
    with pytest.raises(DataError, match=r"'l7', \.\.\. \(50 in all\), not among"):
        jn.Table({"x": [f"l{k}" for k in range(50)]}, states={"x": ["a"]})
