"""Dataframes filled in: the types and the index of pandas stay."""

import numpy as np
import pandas
import pytest

from jensen.data.encode import Column
from jensen.data.fill_missing import Filled, refill
from jensen.data.variable import Variable

ZERO_ONE = Variable("a", "categorical", ("0", "1"))
NO_YES = Variable("a", "categorical", ("False", "True"))


@pytest.mark.parametrize("dtype", ["Int64", "Int8", "UInt16", "Float64", "float64"])
@pytest.mark.parametrize("code", [0, 1])  # a state that the column had, and one that it had not
def test_numbers_keep_their_type(dtype, code):
    assert_filled(pandas.array([0, None], dtype=dtype), ZERO_ONE, code, [0, code])


@pytest.mark.parametrize("code", [0, 1])
def test_truth_values_keep_their_type(code):
    assert_filled(pandas.array([False, None], dtype="boolean"), NO_YES, code, [False, bool(code)])


@pytest.mark.parametrize("dtype", ["string", "object"])
@pytest.mark.parametrize("code", [0, 1])
def test_texts_keep_their_type(dtype, code):
    assert_filled(pandas.array(["0", None], dtype=dtype), ZERO_ONE, code, ["0", str(code)])


def filled(variable, before, after):
    return {
        "a": Filled(*(Column(variable, np.array(codes, np.uint8)) for codes in (before, after)))
    }


def assert_filled(values, variable, code, expected):
    frame = pandas.DataFrame({"a": values, "b": [1, 2]}, index=["x", "x"])  # not unique
    after = refill(frame, filled(variable, [0, 2], [0, code]))
    assert after["a"].dtype == frame["a"].dtype
    assert after["a"].tolist() == expected
    assert after["b"].tolist() == [1, 2]
    assert after.index.tolist() == ["x", "x"]


def test_what_is_still_missing_is_null():
    frame = pandas.DataFrame({"a": pandas.array([0, None], dtype="Int64")})
    after = refill(frame, filled(ZERO_ONE, [0, 2], [0, 2]))
    assert after["a"].dtype == frame["a"].dtype
    assert after["a"].isna().tolist() == [False, True]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_state_that_the_categories_lack_is_not_lost(ordered):
    frame = pandas.DataFrame({"a": pandas.Categorical(["0", None], ["0"], ordered=ordered)})
    after = refill(frame, filled(ZERO_ONE, [0, 2], [0, 1]))
    assert after["a"].tolist() == ["0", "1"]
