"""Every error text of trees and tree classifiers."""

import numpy as np
import pytest

import jensen as jn
from jensen.q_graph.trees.chow_liu import COSTS
from jensen.support.text import either

TABLE = {"a": [0, 1, 1], "b": [0, 0, 1]}


def test_missing_values():
    table = {"a": ["n", None, "y"], "b": ["n", "y", None]}
    way_out = (
        r"needs complete data, but 2 values are missing: a \(1\), b \(1\); keep only the "
        r"1 complete row of 3 with table.complete_rows\(\)$"
    )
    assert jn.chow_liu(table).nodes == ("a", "b")  # trees are learned from incomplete rows
    with pytest.raises(jn.DataError, match=f"^a tree-augmented classifier {way_out}"):
        jn.tan(table, "a")
    with pytest.raises(jn.DataError, match=f"^the matrix of mutual informations {way_out}"):
        jn.mutual_information_matrix(table)
    assert jn.chow_liu(jn.Table(table).complete_rows()) == jn.DAG("a -> b")


def test_missing_values_of_both_kinds():
    with pytest.raises(jn.DataError, match=r"^the likelihood of 'x' has no bound: where a=n"):
        jn.chow_liu({"a": ["n", "y", "y"], "x": [0.5, np.nan, 2.5]})


def test_missing_numbers():
    x, y = np.array([0.5, np.nan, 2.5, 1.5, 0.1]), np.array([0.2, 0.4, np.nan, 1.1, 1.9])
    with pytest.raises(jn.DataError, match=r"^column 'z' is constant, so the likelihood of a tree"):
        jn.chow_liu({"x": x, "y": y, "z": [2.5] * 5})
    with pytest.raises(jn.DataError, match=r"^column 'z' has no value at all: leave it out$"):
        jn.chow_liu(jn.Table({"x": x, "z": [np.nan] * 5}, continuous=["z"]))
    with pytest.raises(jn.DataError, match="has no bound"):
        jn.chow_liu({"x": x, "y": y, "z": 2.0 * x})


def test_no_columns():
    with pytest.raises(
        jn.DataError, match=r"^a Chow-Liu tree needs a column, and this table has none$"
    ):
        jn.chow_liu({})


def test_columns_without_a_name():
    with pytest.raises(jn.GraphError, match="a node's name must not be empty"):
        jn.chow_liu({"": [0, 1, 1], "b": [0, 1, 0]})


def test_no_states():
    with pytest.raises(jn.DataError, match=r"^column 'b' has no value at all: leave it out"):
        jn.chow_liu(jn.Table({"a": [0], "b": [None]}, states={"a": [0]}, categorical=["b"]))


@pytest.mark.parametrize("penalty", ["mdl", True, 1.0, ("bic",), ["bic"]])
def test_unknown_penalties(penalty):
    known = either(["'loglik'", *map(repr, COSTS)])
    with pytest.raises(jn.JensenError, match=rf"^the score of a tree is {known}, not "):
        jn.chow_liu(TABLE, score=penalty)


def test_roots_that_are_not_there():
    with pytest.raises(
        jn.GraphError, match=r"^root='z' is none of the variables of the tree: a, b$"
    ):
        jn.chow_liu(TABLE, root="z")
    with pytest.raises(jn.GraphError, match=r"^root='a' is none of the variables of the tree: b$"):
        jn.tan(TABLE, "a", root="a")


def test_counts():
    table = {"a": [0, 1] * 15, "n": range(0, 60, 2)}
    assert jn.chow_liu(table) == jn.chow_liu(jn.Table(table, continuous=["n"])) == jn.DAG("a -> n")


def test_columns_that_leave_the_likelihood_without_a_bound():
    x = np.random.default_rng(0).normal(size=50)
    with pytest.raises(
        jn.DataError,
        match=r"^columns 'x' and 'y' are linear functions of each other, so the likelihood of a "
        r"tree has no bound: leave one of them out$",
    ):
        jn.chow_liu({"y": 3.0 - 2.54 * x, "x": x, "z": x**2})
    with pytest.raises(
        jn.DataError,
        match=r"^columns 'd' and 'x' are such that the states of one fix the values of the other, "
        r"so the likelihood of a tree has no bound: leave one of them out$",
    ):
        jn.chow_liu({"d": ["u", "v", "u"], "x": [0.5, 1.5, 0.5]}, score="bic")


@pytest.mark.parametrize("penalty", [None, "bic"])
def test_constant_numbers(penalty):
    for others in ({"a": [1.5, 2.5, 3.5, 1.0]}, {"a": ["u", "v", "u", "v"]}):
        with pytest.raises(
            jn.DataError,
            match=r"^column 'b' is constant, so the likelihood of a tree has no bound: leave it "
            r"out$",
        ):
            jn.chow_liu({**others, "b": [2.5] * 4}, score=penalty)


def test_too_few_rows_for_a_variance():
    text = r"^a tree needs a variance of column 'b', which {} cannot tell: give two at least$"
    with pytest.raises(jn.DataError, match=text.format("1 row")):
        jn.chow_liu({"a": ["u"], "b": [2.5]})


def test_a_column_without_any_value():
    with pytest.raises(jn.DataError, match=r"^column 'b' has no value at all: leave it out$"):
        jn.chow_liu({"a": [1.5, 2.5], "b": [np.nan, np.nan]})


def test_infinite_numbers():
    with pytest.raises(
        jn.DataError,
        match=r"^column 'x' holds inf in row 2, which has no variance: declare it missing, or "
        r"leave the row out$",
    ):
        jn.chow_liu({"x": [0.5, np.inf, 1.5], "y": [0.5, 1.0, 2.5]})


@pytest.mark.parametrize("learn", [jn.tan, jn.naive_bayes])
def test_classes_are_categorical(learn):
    with pytest.raises(
        jn.DataError,
        match=r"^a class is categorical, and the target 'x' is continuous: use jn.discretize, or "
        r"say jn.Table\(..., categorical=\['x'\]\)$",
    ):
        learn({**TABLE, "x": [0.5, 1.5, 2.5]}, "x")
    with pytest.raises(jn.DataError, match="there is no column 'z'"):
        learn(TABLE, "z")


def test_continuous_features():
    with pytest.raises(
        jn.DataError,
        match=r"^'x' holds numbers, and mutual information given a column is there for "
        r"categorical columns only: use jn.discretize, or say jn.Table\(..., categorical=\['x'\]\) "
        r"if these are labels$",
    ):
        jn.tan({**TABLE, "x": [0.5, 1.5, 2.5]}, "a")
