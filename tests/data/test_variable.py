"""Variables, and labels: their text, when they match, and their natural order."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import data as naive

from jensen.data.variable import (
    Variable,
    canonical,
    is_number,
    label_text,
    match_labels,
    parse_number,
    sort_naturally,
    time_text,
)
from jensen.exceptions import DataError


def test_a_variable_knows_its_number_of_states():
    assert Variable("x", "categorical", ("a", "b", "c")).n_states == 3
    assert Variable("x", "continuous").n_states == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, "count"), "a variable is named by text, not by 3"),
        (("x", "nominal"), "'x' cannot be of kind 'nominal': use one of"),
        (("x", "continuous", ("a",)), "'x' is continuous, so it has no states"),
        (("x", "categorical", ["a"]), r"the states of 'x' must be a tuple, not \['a'\]"),
        (("x", "categorical", "ab"), "the states of 'x' must be a tuple, not 'ab'"),
        (("x", "categorical", ("a", 1)), "the states of 'x' must be text, but 1 is not"),
        (("x", "categorical", ("a", "a")), "the states of 'x' repeat 'a': every label stands once"),
        (("x", "categorical", ("a", "b"), (1.0, 2.0)), "one fewer than its 2 states"),
        (("x", "categorical", ("a", "b", "c"), (2.0, 1.0)), "rising cut points"),
        (("x", "categorical", ("a", "b", "c"), (1.0, 1.0)), "rising cut points"),
        (("x", "categorical", ("a", "b"), (float("nan"),)), "finite, rising cut points"),
        (("x", "categorical", ("a", "b"), (float("inf"),)), "finite, rising cut points"),
    ],
)
def test_a_variable_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        Variable(*arguments)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("01", "01"),
        (" 1", " 1"),
        ("None", "None"),
        (np.str_("a"), "a"),
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (0.1, "0.1"),
        (np.int8(3), "3"),
        (np.float32(0.5), "0.5"),
        (Decimal("1.00"), "1"),
        (Fraction(1, 2), "0.5"),
        (True, "True"),
        (np.False_, "False"),
        (2**70, "1180591620717411303424"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (datetime.date(2020, 1, 31), "2020-01-31"),
        (datetime.datetime(2020, 1, 31), "2020-01-31"),
        (pd.Timestamp("2020-01-31 06:30"), "2020-01-31 06:30:00"),
    ],
)
def test_label_text(value, text):
    assert label_text(value) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("2020-01-31 00:00:00.000", "2020-01-31"),
        ("2020-01-31 10:20:30.000000", "2020-01-31 10:20:30"),
        ("2020-01-31 10:20:00.120", "2020-01-31 10:20:00.12"),
        ("10:00:00.000000000", "10:00:00"),
        ("2020-01-31 00:00:00+0100", "2020-01-31 00:00:00+0100"),
    ],
)
def test_times_lose_the_zeros_that_depend_on_their_source(text, short):
    assert time_text(text) == short


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "1.", ".5", "1e5", "-1E-5", "0.50"])
def test_numbers_as_usually_written(text):
    assert is_number(text)
    assert parse_number(text) == float(text)


@pytest.mark.parametrize(
    ("text", "value"), [("01", 1.0), ("+1", 1.0), (" 2 ", 2.0), ("-Inf", -np.inf)]
)
def test_numbers_only_where_the_caller_says_so(text, value):
    assert not is_number(text)
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["", " ", "nan", "1_000", "0x1", "1,5", "٣", "1e", ".", "-", "a"])
def test_what_is_no_number_at_all(text):
    assert not is_number(text)
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("text", "other"),
    [("1.0", "1"), ("1e2", "100"), ("-0", "0"), ("0.50", ".5"), ("1e300", "1E+300")],
)
def test_numbers_match_by_value(text, other):
    assert canonical(text) == canonical(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [("01", "1"), ("1e400", "1e500"), ("9007199254740993", "9007199254740992"), ("a", "A")],
)
def test_what_differs_does_not_match(text, other):
    assert canonical(text) != canonical(other)


def test_labels_match_by_text_before_value():
    assert match_labels(["1", "1.0", "1.00", "2", "x"], ["1.0", "1"]) == [1, 0, 0, -1, -1]


@pytest.mark.parametrize(
    ("labels", "in_order"),
    [
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["x10", "x9", "x1"], ["x1", "x9", "x10"]),
        (["b", "a", "B"], ["B", "a", "b"]),
        (["2", "10", "low"], ["2", "10", "low"]),
        (["0.5", "1e-3", ".25"], ["1e-3", ".25", "0.5"]),
        (["2020-10-01", "2020-9-01"], ["2020-9-01", "2020-10-01"]),
        (["-9007199254740992", "-9007199254740993"], ["-9007199254740993", "-9007199254740992"]),
        (["a", "a"], ["a"]),
        ([], []),
    ],
)
def test_natural_order(labels, in_order):
    assert sort_naturally(labels) == tuple(in_order)


@given(st.lists(st.text("0123456789.-ab x", max_size=5)))
def test_natural_order_equals_its_twin(labels):
    assert sort_naturally(labels) == naive.sort_naturally(labels)


def test_labels_of_thousands_of_digits_can_be_sorted():
    assert sort_naturally(["x" + "2" * 5000, "x" + "10" * 2500]) == (
        "x" + "10" * 2500,
        "x" + "2" * 5000,
    )
