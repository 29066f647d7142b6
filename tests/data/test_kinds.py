"""Which kind a column has, which states, and what is missing, when nobody says."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError


def one(values, **choices):
    """The only column of a table, as its variable and plain rows."""
    return naive.plain(jn.Table({"x": values}, **choices))["x"]


def csv_column(write, lines, **choices):
    table = jn.read_table(write("x,y\n" + "".join(f"{line},k\n" for line in lines)), **choices)
    return naive.plain(table)["x"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"], "categorical"),
        ([True, False, None], "categorical"),
        ([0, 1, None], "categorical"),
        ([0.0, 1.0, np.nan], "categorical"),
        ([-1, 0, 1], "categorical"),
        (list(range(20)), "categorical"),
        (list(range(21)), "count"),
        ([float(k) for k in range(21)] + [np.nan], "count"),
        (list(range(-1, 20)), "continuous"),
        ([0.5, 1.0], "continuous"),
        ([1.0, np.inf], "continuous"),
        ([1e300, 2e300], "continuous"),
        ([2**60, 2**60 + 1], "categorical"),
        ([None, None], "categorical"),
        ([], "categorical"),
    ],
)
def test_kind(values, kind):
    assert one(values)[0].kind == kind


@given(st.lists(st.one_of(st.none(), st.integers(-30, 60)), max_size=60))
def test_integers_are_categorical_up_to_20_distinct_values(values):
    variable, rows = one(values)
    distinct = {v for v in values if v is not None}
    if len(distinct) <= 20:
        assert variable.states == tuple(map(str, sorted(distinct)))
        assert rows == [None if v is None else str(v) for v in values]
    else:
        assert variable.kind == ("count" if min(distinct) >= 0 else "continuous")
        assert rows == values


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30))
def test_numbers_keep_their_value_whatever_their_kind(values):
    variable, rows = one(np.array(values, float))
    expected = [None if v != v else v for v in values]
    assert [None if r is None else float(r) for r in rows] == expected
    if any(v is not None and v != np.floor(v) for v in expected):
        assert variable.kind == "continuous"


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=20))
def test_labels_of_a_text_column_stay_as_they_are(values):
    variable, rows = one(values)
    assert rows == values
    assert variable.states == naive.sort_naturally(v for v in values if v is not None)


def test_states_never_come_in_order_of_appearance():
    assert one([10, 2, 2])[0].states == ("2", "10")
    assert one(["x10", "x2"])[0].states == ("x2", "x10")


def test_truth_values_are_labels():
    assert one([True, None, False])[0].states == ("False", "True")


def test_identifiers_keep_all_their_digits():
    assert one([2**60 + 1, 2**60])[1] == ["1152921504606846977", "1152921504606846976"]


def test_minus_zero_is_zero():
    assert one([0.0, -0.0, 1.0])[1] == ["0", "0", "1"]


def test_mixed_values_become_their_labels():
    assert one(["a", 1, 2.0, True, None, np.nan, pd.NA, pd.NaT])[1] == [
        *("a", "1", "2", "True"),
        *[None] * 4,
    ]


@pytest.mark.parametrize("n", [255, 256, 300, 65_535, 65_536, 70_000])
def test_codes_are_wide_enough_for_the_states_and_missing(n):
    labels = [f"s{k}" for k in range(n)]
    column = jn.Table({"x": [*labels, None]}).column("x")
    assert column.data.tolist() == list(range(n + 1))
    assert column.missing().tolist() == [False] * n + [True]


# --- text files ---


@pytest.mark.parametrize("label", ["TRUE", "01", "None", "NA", "nan", "null", " a", "-", "0x1F"])
def test_a_label_of_a_text_file_stays_as_written(write, label):
    found = csv_column(write, [label, "other", label], missing=[])
    assert found[1] == [label, "other", label]


@pytest.mark.parametrize(
    ("lines", "kind", "rows"),
    [
        (["0", "1", ""], "categorical", ["0", "1", None]),
        (["0.0", "1.0", ""], "categorical", ["0", "1", None]),
        (["1.50", "2", ""], "continuous", [1.5, 2.0, None]),
        ([" 1.5", "2 ", ""], "continuous", [1.5, 2.0, None]),
        (["1e3", "1000", "10"], "categorical", ["1000", "1000", "10"]),
        (["-0", "0"], "categorical", ["0", "0"]),
        (["1.5", "inf", "-Infinity"], "continuous", [1.5, np.inf, -np.inf]),
        (["1e300", "1.5"], "continuous", [1e300, 1.5]),
        (["+1", "1"], "categorical", ["+1", "1"]),
        (["00", "0"], "categorical", ["00", "0"]),
        (["1", "01"], "categorical", ["1", "01"]),
        ([str(2**60), str(2**60 + 1)], "categorical", [str(2**60), str(2**60 + 1)]),
        ([str(2**60), "0.5"], "continuous", [2.0**60, 0.5]),
        (['"1"', "2"], "categorical", ["1", "2"]),
        (["", ""], "categorical", [None, None]),
    ],
)
def test_numbers_in_a_text_file(write, lines, kind, rows):
    variable, found = csv_column(write, lines)
    assert (variable.kind, found) == (kind, rows)


def test_many_distinct_numbers_in_a_text_file(write):
    numbers = np.random.default_rng(0).normal(size=5000)
    variable, rows = csv_column(write, [*map(repr, numbers.tolist()), ""])
    assert (variable.kind, rows) == ("continuous", [*numbers.tolist(), None])


@pytest.mark.parametrize("word", ["NA", "?", "NaN", " ", "-", "None"])
def test_numbers_beside_a_word_for_missing_give_a_warning(write, word):
    with pytest.warns(jn.DataWarning, match=r"are read as states, in 'x' \(.*\): if they mean"):
        variable, _ = csv_column(write, ["1.5", word, "2.5"])
    assert set(variable.states) == {"1.5", word, "2.5"}


@pytest.mark.parametrize("word", ["NA", "N/A", "NaN", "nan", "null", "NULL", "?", " NA"])
def test_labels_beside_a_word_for_missing_give_a_warning(write, word):
    mend = re.escape(f"missing, say missing=[{word!r}]; if they are labels, say missing=[]")
    with pytest.warns(jn.DataWarning, match=mend):
        variable, rows = csv_column(write, ["a", word, "b"])
    assert (set(variable.states), rows) == ({"a", word, "b"}, ["a", word, "b"])
    assert csv_column(write, ["a", word, "b"], missing=[word])[1] == ["a", None, "b"]


def test_one_warning_names_all_columns_of_the_file(write):
    path = write("x,y,z,n\na,?,k,1.5\nNA,b,k,NA\nb,NA,k,2.5\n")
    with pytest.warns(jn.DataWarning) as met:
        jn.read_table(path)
    assert [str(w.message) for w in met] == [
        f"{path}: labels that may mean missing are read as states, in 'x' (NA), 'y' (?, NA), "
        f"'n' (NA): if they mean missing, say missing=['?', 'NA']; if they are labels, say "
        f"missing=[]"
    ]
    with pytest.warns(jn.DataWarning, match=r"in 'y' \(\?\): .* say missing=\['\?'\]"):
        jn.read_table(path, missing=["NA"])


@pytest.mark.parametrize(
    "choices",
    [
        {"missing": []},
        {"missing": [""]},
        {"missing": ["NA"]},
        {"categorical": ["x"]},
        {"states": {"x": ["NA", "b"]}},
    ],
)
def test_whoever_says_what_is_missing_or_what_is_a_label_is_not_warned(write, choices):
    jn.read_table(write("x,y\nNA,k\nb,k\n"), **choices)


@pytest.mark.parametrize("label", ["None", "-", ".", "nothing"])
def test_usual_labels_give_no_warning(write, label):
    assert csv_column(write, ["a", label])[1] == ["a", label]


# --- what cannot be a column ---


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2]], "column 'x' holds list<item: int64>: a column holds labels or numbers"),
        ([{"a": 1}], "column 'x' holds struct<a: int64>"),
        ([[1], 2], r"column 'x' holds \[1\]: a column holds labels or numbers, one per row"),
        ([b"a"], "column 'x' holds binary"),
        ([1j], "column 'x' holds 1j"),
        (np.array([1j]), "column 'x' holds .*1j"),
        (np.array([1], "m8[s]"), r"column 'x' holds duration\[s\]"),
    ],
)
def test_values_that_are_neither_labels_nor_numbers(values, message):
    with pytest.raises(DataError, match=message):
        one(values)
