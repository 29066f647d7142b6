"""Columns cut into states: choices, weights, missing values, and reading raw numbers later."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError

METHODS = ["quantile", "interval", "mdl"]


def column(values, method="quantile", **choices):
    """One column of numbers, cut: its variable and plain rows."""
    table = jn.Table({"x": values}, continuous=["x"])
    return naive.plain(jn.discretize(table, method, **choices))["x"]


@pytest.mark.parametrize(
    ("method", "bins", "states"),
    [
        ("quantile", None, ("<= 2", "(2, 4]", "> 4")),
        ("quantile", 2, ("<= 3", "> 3")),
        ("interval", None, ("<= 34", "(34, 67]", "> 67")),
        ("interval", 2, ("<= 50.5", "> 50.5")),
    ],
)
def test_methods_and_bins(method, bins, states):
    variable, _ = column([1, 2, 3, 4, 5, 100], method, bins=bins)
    assert variable.states == states


def test_states_hold_what_their_labels_say():
    variable, rows = column([1, 2, 3, 4, None, 5, 6], bins=3)
    assert variable == jn.Variable("x", "categorical", ("<= 2", "(2, 4]", "> 4"), (2.0, 4.0))
    assert rows == ["<= 2", "<= 2", "(2, 4]", "(2, 4]", None, "> 4", "> 4"]


@pytest.mark.parametrize(
    ("values", "states"),
    [
        ([0, 0, 0, 0, 1, 2], ("<= 0", "> 0")),
        ([0, 1, 1, 1, 1, 1], ("<= 0", "> 0")),
        ([0, 0, 0, 1, 1, 1], ("<= 0", "> 0")),
        ([7, 7, 7], ("all",)),
        ([7], ("all",)),
        ([None, None], ("all",)),
        ([], ("all",)),
    ],
)
def test_ties_give_fewer_states(values, states):
    variable, rows = column(values, bins=4)
    assert variable.states == states
    assert set(rows) - {None} <= set(states)


@pytest.mark.parametrize("method", ["quantile", "interval"])
@pytest.mark.parametrize("values", [[7, 7, None], [None, None]])
def test_a_column_without_cuts_reads_any_number(method, values):
    variable, rows = column(values, method)
    assert (variable.cuts, variable.states) == ((), ("all",))
    assert rows == [None if v is None else "all" for v in values]
    read, unknown = jn.Table({"x": [-5.5, 99.5, None]}).read_as([variable])
    assert naive.plain(read)["x"][1] == ["all", "all", None]
    assert not unknown.any()


def test_counts_and_numbers_are_cut_and_labels_are_not():
    table = jn.Table({"t": ["a", "b"] * 15, "n": range(30), "r": np.linspace(0, 1, 30)})
    cut = jn.discretize(table)
    assert cut.names == ("t", "n", "r")
    assert cut.variable("t") == table.variable("t")
    assert cut.variable("n").states == ("<= 9", "(9, 19]", "> 19")
    assert cut.variable("r").n_states == 3


def test_columns_choose_what_is_cut():
    table = jn.Table({"a": [0.5, 1.5], "b": [0.5, 1.5]})
    cut = jn.discretize(table, columns=["b"])
    assert [v.kind for v in cut.variables] == ["continuous", "categorical"]


def test_bins_by_column():
    table = jn.Table({"a": np.arange(0, 8, 0.5), "b": np.arange(0, 8, 0.5)})
    cut = jn.discretize(table, bins={"b": 5})
    assert [v.n_states for v in cut.variables] == [3, 5]


@pytest.mark.parametrize("method", METHODS)
def test_weights_source_and_order_are_kept(method):
    frame = pl.DataFrame({"r": [0.5, 1.5, 2.5], "y": ["a", "b", "b"], "s": [1.5, 0.5, 2.5]})
    table = jn.Table(frame, weights=[1, 2, 3])
    cut = jn.discretize(table, method, target="y" if method == "mdl" else None)
    assert cut.names == ("r", "y", "s")
    assert cut.source == "polars"
    assert cut.weights.tolist() == [1.0, 2.0, 3.0]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(-5, 5), st.sampled_from("ab"), st.integers(0, 3)), min_size=1
    ).filter(lambda rows: any(n for _, _, n in rows))
)
@pytest.mark.parametrize("method", METHODS)
def test_a_weighted_row_counts_like_so_many_rows(method, rows):
    choices = {"target": "y"} if method == "mdl" else {"bins": 3}
    x, y, weights = zip(*rows, strict=True)
    written_out = [(a, b) for a, b, n in rows for _ in range(n)]
    weighted = jn.Table({"x": x, "y": y}, continuous=["x"], weights=weights)
    repeated = jn.Table(
        {"x": [a for a, _ in written_out], "y": [b for _, b in written_out]}, continuous=["x"]
    )
    expected = jn.discretize(repeated, method, **choices).variable("x")
    assert jn.discretize(weighted, method, **choices).variable("x") == expected


@settings(max_examples=20)
@given(st.permutations(range(30)))
@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_rows_does_not_matter(method, order):
    x = np.random.default_rng(1).normal(size=30)
    table = jn.Table({"x": x, "y": np.where(x > 0.2, "a", "b")})
    choices = {"target": "y"} if method == "mdl" else {}
    assert (
        jn.discretize(table.take(list(order)), method, **choices).variables
        == jn.discretize(table, method, **choices).variables
    )


# --- by a class ---


def test_mdl_finds_where_the_class_changes():
    x = np.arange(100) / 10
    table = jn.Table({"x": x, "y": np.where((x > 3) & (x <= 7), "in", "out")})
    assert jn.discretize(table, "mdl", target="y").variable("x").cuts == (3.0, 7.0)


def test_mdl_makes_no_cut_where_there_is_nothing_to_tell():
    rng = np.random.default_rng(0)
    table = jn.Table({"x": rng.normal(size=200), "y": rng.choice(["a", "b"], 200)})
    assert jn.discretize(table, "mdl", target="y").variable("x").states == ("all",)


def test_mdl_leaves_out_rows_that_miss_the_value_or_the_class():
    x = [*np.arange(40) / 4, 0.5, 0.5, 9.5, None, None]
    y = [*["a"] * 20, *["b"] * 20, None, None, None, "a", "b"]
    whole = jn.discretize(jn.Table({"x": x[:40], "y": y[:40]}), "mdl", target="y")
    cut = jn.discretize(jn.Table({"x": x, "y": y}), "mdl", target="y")
    assert cut.variable("x") == whole.variable("x")
    assert naive.plain(cut)["x"][1][-5:] == ["<= 4.9", "<= 4.9", "> 4.9", None, None]


def test_mdl_does_not_cut_its_target():
    table = jn.Table({"x": [0.5, 1.5], "y": ["a", "b"]})
    assert jn.discretize(table, "mdl", target="y").variable("y") == table.variable("y")


# --- later ---


@pytest.mark.parametrize("method", METHODS)
def test_raw_numbers_are_read_as_the_cut_variable(method):
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    table = jn.Table({"x": x, "y": np.digitize(x, [-0.5, 0.5])})
    cut = jn.discretize(table, method, target="y" if method == "mdl" else None)
    assert cut.variable("x").n_states == 3
    read, unknown = table.select(["x"]).read_as([cut.variable("x")])
    assert naive.plain(read)["x"] == naive.plain(cut)["x"]
    assert not unknown.any()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_cut_table_survives_a_file(tmp_path, name):
    cut = jn.discretize(jn.Table({"x": [0.5, 1.5, 2.5, None]}))
    cut.write(tmp_path / name)
    read, unknown = jn.read_table(tmp_path / name).read_as(cut.variables)
    assert naive.plain(read) == naive.plain(cut)
    assert not unknown.any()


def test_anything_that_makes_a_table_can_be_cut(write):
    path = write("x,y\n0.5,a\n1.5,b\n2.5,a\n")
    assert jn.discretize(path).variable("x").n_states == 3


# --- what cannot be cut ---


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"method": "kmeans"}, r"method='kmeans' is none of \['quantile', 'interval', 'mdl'\]"),
        ({"bins": 1}, "bins of 'x' must be a whole number, 2 or more, not 1"),
        ({"bins": 2.5}, "bins of 'x' must be a whole number, 2 or more, not 2.5"),
        ({"bins": True}, "bins of 'x' must be a whole number"),
        ({"bins": "3"}, "bins of 'x' must be a whole number, 2 or more, not '3'"),
        ({"bins": {"y": 3}}, r"bins names 'y', which is none of the columns to cut: \['x'\]"),
        ({"columns": "x"}, r"columns must be a list of columns, \['x'\], not 'x' itself"),
        ({"columns": ["q"]}, "there is no column 'q'; the columns are: x, y"),
        ({"columns": ["y"]}, "column 'y' is categorical, so there is nothing to cut"),
        ({"target": "y"}, "target does not go with method='quantile': use method='mdl'"),
        ({"method": "interval", "target": "y"}, "target does not go with method='interval'"),
        ({"method": "mdl"}, "method='mdl' needs target=, the categorical column to tell about"),
        ({"method": "mdl", "target": "q"}, "there is no column 'q'"),
        ({"method": "mdl", "target": "x"}, "target 'x' is continuous, but must be categorical"),
        ({"method": "mdl", "target": "y", "bins": 3}, "bins does not go with method='mdl'"),
    ],
)
def test_choices_that_cannot_be(choices, message):
    table = jn.Table({"x": [0.5, 1.5, None], "y": ["a", "b", "a"]})
    with pytest.raises(DataError, match=message):
        jn.discretize(table, **choices)


@pytest.mark.parametrize("method", METHODS)
def test_infinite_values_are_refused(method):
    table = jn.Table({"x": [0.5, 1.5, np.inf], "y": ["a", "b", "a"]})
    with pytest.raises(
        DataError, match="column 'x' cannot be cut: row 3 holds inf; make it missing"
    ):
        jn.discretize(table, method, target="y" if method == "mdl" else None)
