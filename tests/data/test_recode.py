"""A table read with a model's own variables: nothing is inferred again."""

import numpy as np
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError

CUT = jn.Variable("x", "categorical", ("<= 1.5", "(1.5, 3]", "> 3"), (1.5, 3.0))


def states(*labels):
    return jn.Variable("x", "categorical", labels)


def read_as(values, variable, **choices):
    table, unknown = jn.Table({"x": values}, **choices).read_as([variable])
    assert table.variable("x") == variable
    return naive.plain(table)["x"][1], unknown.tolist()


@pytest.mark.parametrize(
    ("values", "variable", "expected"),
    [
        (["b", "a", None], states("b", "a"), ["b", "a", None]),
        ([1, 0, None], states("0", "1"), ["1", "0", None]),
        ([1.0, 0.5, None], states("0.50", "1"), ["1", "0.50", None]),
        ([*range(21), None], states(*map(str, range(30))), [*map(str, range(21)), None]),
        ([0, 1, None], jn.Variable("x", "continuous"), [0.0, 1.0, None]),
        (["01", "1e2", None], jn.Variable("x", "continuous"), [1.0, 100.0, None]),
        ([0, 1, None], jn.Variable("x", "count"), [0.0, 1.0, None]),
        ([None, None], jn.Variable("x", "continuous"), [None, None]),
        ([None, None], states("a"), [None, None]),
        ([], states("a"), []),
    ],
)
def test_values_become_those_of_the_model(values, variable, expected):
    assert read_as(values, variable) == (expected, [False] * len(values))


@pytest.mark.parametrize(
    ("values", "expected", "unknown"),
    [
        (["a", "z", None], ["a", None, None], [False, True, False]),
        ([0.5, 1.5], [None, None], [True, True]),
    ],
)
def test_labels_that_the_model_does_not_know_are_told(values, expected, unknown):
    assert read_as(values, states("a", "b")) == (expected, unknown)


def test_identifiers_that_differ_beyond_floats_do_not_match():
    assert read_as([2**60 + 1], states(str(2**60)))[1] == [True]


def test_declared_states_that_never_occur_are_not_unknown():
    assert read_as(["a"], states("a"), states={"x": ["a", "z"]}) == (["a"], [False])
    assert read_as(["1"], jn.Variable("x", "continuous"), states={"x": ["1", "z"]})[0] == [1.0]


@pytest.mark.filterwarnings("ignore:.*numbers written as texts:jensen.DataWarning")
@pytest.mark.parametrize(
    "values",
    [
        [1.5, 1.6, 3.0, 3.1, -np.inf, np.inf, None],
        ["<= 1.5", "(1.5, 3]", "(1.5, 3]", "> 3", "<= 1.5", "> 3", None],
        ["1.5", "1.6", "3", "3.1", "-1", "9", None],
        ["<= 1.5", "2", "(1.5, 3]", "> 3", "0", "> 3", None],
    ],
)
def test_numbers_fall_between_cuts_and_labels_match(values):
    expected = ["<= 1.5", "(1.5, 3]", "(1.5, 3]", "> 3", "<= 1.5", "> 3", None]
    assert read_as(values, CUT) == (expected, [False] * 7)


def test_whole_numbers_fall_between_cuts_though_they_look_categorical():
    assert read_as([1, 2, 3, 4, None], CUT)[0] == ["<= 1.5", "(1.5, 3]", "(1.5, 3]", "> 3", None]


def test_only_the_wanted_columns_are_read_and_the_weights_stay():
    table = jn.Table({"x": [1, 2], "y": ["a", "b"]}, weights=[1, 2])
    read, _ = table.read_as([jn.Variable("x", "continuous")])
    assert read.names == ("x",)
    assert read.weights.tolist() == [1.0, 2.0]


def test_a_table_that_agrees_already_is_read_as_it_is():
    table = jn.Table({"x": [1, 2], "y": ["a", "b"]})
    assert table.read_as(table.variables)[0] is table


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (
            ["1", "a"],
            "continuous",
            "column 'x' cannot be continuous: row 2 holds 'a', .* no number",
        ),
        (["1", "a"], "count", "column 'x' cannot be counts: row 2 holds 'a'"),
        ([1, 0.5], "count", "column 'x' cannot be counts: row 2 holds 0.5"),
        ([1, -1], "count", "column 'x' cannot be counts: row 2 holds -1"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_row(values, kind, message):
    with pytest.raises(DataError, match=message):
        read_as(values, jn.Variable("x", kind))
