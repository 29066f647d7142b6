"""One test for people: published numbers, what is printed, and refusals."""

import numpy as np
import pytest

import jensen as jn
from jensen.independence.independent import TestResult

LIZARDS = {
    "Species": ["Sagrei"] * 4 + ["Distichus"] * 4,
    "Diameter": ["narrow", "narrow", "wide", "wide"] * 2,
    "Height": ["high", "low"] * 4,
    "n": [86, 32, 35, 11, 73, 61, 70, 41],
}
"""Perches of 409 lizards: Schoener (1968), *The Anolis lizards of Bimini*; the table is in Edwards
(2000), *Introduction to Graphical Modelling*, and in the documentation of R's bnlearn."""


def lizards():
    return jn.Table(LIZARDS, weights="n")


@pytest.mark.parametrize(("test", "statistic"), [("g2", 2.02564665), ("x2", 2.017363668)])
def test_lizards(test, statistic):
    """Published values; with two degrees of freedom p is exp(-statistic / 2)."""
    found = jn.independent(lizards(), "Height", "Diameter", given="Species", test=test)
    np.testing.assert_allclose(found.statistic, statistic, rtol=1e-9)
    np.testing.assert_allclose(found.p_value, np.exp(-statistic / 2.0), rtol=1e-9)
    assert (found.degrees_of_freedom, found.n_rows, found.independent) == (2, 409, True)


def test_what_is_printed():
    assert repr(jn.independent(lizards(), "Height", "Species")).splitlines() == [
        "Height and Species: dependent, p = 0.001257 ≤ 0.05",
        "  G² = 10.4049, 1 degree of freedom, 409 rows",
    ]
    table = {"a": [1.5, 2.5, 0.0, 7.0, 1.0], "b": [2.0, 2.0, 2.0, 2.0, 2.0]}
    found = jn.independent(jn.Table(table, continuous=["a", "b"]), "a", "b")
    assert repr(found).splitlines()[1:] == [
        "  z = 0, 2 degrees of freedom, 5 rows",
        "  no spread: one of the two is constant, or a linear function of what is given",
    ]


def test_the_test_goes_with_the_columns():
    rng = np.random.default_rng(0)
    table = {"s": rng.integers(0, 2, 50), "t": rng.integers(0, 2, 50)}
    table |= {"x": rng.normal(size=50), "y": rng.normal(size=50)}
    assert jn.independent(table, "s", "t").name == "g2"
    assert jn.independent(table, "x", "y").name == "fisher-z"
    for a, b, given in (("s", "x", ()), ("x", "y", "s"), ("s", "t", ["x", "y"])):
        found = jn.independent(table, a, b, given)
        assert found.name == "conditional-gaussian"
        turned = jn.independent(table, b, a, given)
        np.testing.assert_allclose(found.p_value, turned.p_value, rtol=1e-9)


def test_rows_that_miss_a_value_are_left_out_and_counted():
    table = {"a": ["n", "y", None, "y", "n"], "b": ["n", "y", "n", None, "n"], "c": list("nyyyn")}
    assert jn.independent(table, "a", "b").n_rows == 3
    assert jn.independent(table, "a", "c").n_rows == 4
    assert jn.independent(table, "a", "c", given="b").n_rows == 3


def test_a_constant_column_is_independent_and_says_why():
    found = jn.independent({"a": ["n", "n", "n"], "b": ["n", "y", "y"]}, "a", "b")
    assert (found.p_value, found.degrees_of_freedom, found.independent) == (1.0, 0, True)
    assert found.note.startswith("no degrees of freedom: one of the two is constant")


def test_permutations():
    found = jn.independent(
        lizards(), "Height", "Diameter", "Species", permutations=999, random_state=0
    )
    assert abs(found.p_value - 0.363) < 0.06
    assert found.note == "p by 999 permutations"
    again = jn.independent(
        lizards(), "Diameter", "Height", "Species", permutations=999, random_state=0
    )
    assert again.p_value == found.p_value


def test_a_result_is_neither_true_nor_false():
    found = jn.independent(lizards(), "Height", "Diameter")
    assert isinstance(found, TestResult)
    with pytest.raises(jn.JensenError, match=r"neither true nor false: ask \.independent"):
        bool(found)
    assert found.dependent is not found.independent


NUMBERS = {"x": [0.5, 1.5, 0.25, 3.5], "y": [1.5, 0.5, 2.25, 0.0], "z": [0.5, 0.1, 0.2, 0.7]}
STATES = {"a": list("nyny"), "b": list("nnyy"), "c": [None] * 4}


@pytest.mark.parametrize(
    ("table", "arguments", "choices", "message"),
    [
        (STATES, ("a", "q"), {}, "there is no column 'q'; the columns are: a, b, c"),
        (STATES, ("a", "b"), {"given": ["q"]}, "there is no column 'q'"),
        (STATES, ("a", "a"), {}, "'a' is to be independent of itself: name two columns"),
        (STATES, ("a", "b"), {"given": "a"}, "'a' is tested and given at once"),
        (LIZARDS, ("Height", "Diameter"), {"given": ["Species"] * 2}, "'Species' stands twice"),
        (STATES, ("a", "c"), {}, "no row has values in all of a, c: there is nothing to test"),
        (STATES, ("a", "b"), {"alpha": 0}, "a number between 0 and 1, not 0"),
        (STATES, ("a", "b"), {"alpha": 1.0}, "a number between 0 and 1, not 1.0"),
        (STATES, ("a", "b"), {"alpha": "x"}, "a number between 0 and 1, not 'x'"),
        (STATES, ("a", "b"), {"test": "g"}, "there is no test 'g': choose one of g2, x2, mutual-"),
        (STATES, ("a", "b"), {"test": "fisher-z"}, "'fisher-z' is for continuous columns, and 'a'"),
        (NUMBERS, ("x", "y"), {"test": "g2"}, "'g2' is for categorical columns, and 'x' is cont"),
        (STATES, ("a", "b"), {"permutations": -1}, "permutations must be a whole number, 0 or"),
        (NUMBERS, ("x", "y"), {"permutations": 9}, "permutations= belongs to tests of categorical"),
        (NUMBERS, ("x", "y"), {"given": "z"}, "4 complete rows, given 1 columns: too few rows"),
    ],
)
def test_refusals(table, arguments, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.independent(table, *arguments, **choices)


def test_permutations_need_whole_rows():
    table = jn.Table({"a": list("nyny"), "b": list("nnyy")}, weights=[1.0, 0.5, 1.0, 1.0])
    with pytest.raises(jn.DataError, match="these weights are no whole numbers of rows"):
        jn.independent(table, "a", "b", permutations=9)
