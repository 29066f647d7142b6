"""Which kind a column has, which states, and what is missing, when nobody says."""

import io
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import data as naive

import jensen as jn
from jensen.data.variable import sort_naturally
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jensen.exceptions.DataWarning")  # any text may be drawn
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


@pytest.mark.parametrize("word", ["NA", "?", "NaN", " ", "-", "None", "none", "unknown"])
def test_numbers_beside_a_word_for_missing_give_a_warning(write, word):
    with pytest.warns(jn.DataWarning, match=r"are read as states, in 'x' \(.*\): if they mean"):
        variable, _ = csv_column(write, ["1.5", word, "2.5"])
    assert set(variable.states) == {"1.5", word, "2.5"}


@pytest.mark.parametrize("word", ["NA", "N/A", "NaN", "null", "Null", "n.a.", "?", " NA", "#NV"])
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


FRAMES = {
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
    "dict": lambda columns, _: columns,
    "parquet": lambda columns, path: pa.parquet.write_table(pa.table(columns), path) or path,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_words_for_missing_are_told_of_dataframes_too(tmp_path, kind):
    data = FRAMES[kind]({"x": ["a", "NA", "na"], "y": ["k", "l", "m"]}, tmp_path / "t.parquet")
    with pytest.warns(jn.DataWarning) as met:
        assert jn.Table(data).variable("x").states == ("NA", "a", "na")
    say = "missing={}" if kind == "parquet" else "jn.Table(..., missing={})"
    where = data if kind == "parquet" else f"this {type(data).__name__}"
    assert [str(w.message) for w in met] == [
        f"{where}: labels that may mean missing are read as states, in 'x' (NA, na): if they mean "
        f"missing, say {say.format(['NA', 'na'])}; if they are labels, say {say.format([])}"
    ]
    assert jn.Table(data, missing=["NA", "na"]).n_missing() == {"x": 2}
    jn.Table(jn.Table(data, missing=[]))  # and nothing is told again
    jn.Table(data, states={"x": ["a", "NA", "na"]})


def test_categories_that_a_dataframe_declares_are_labels():
    jn.Table(pd.DataFrame({"x": pd.Categorical(["a", "NA"])}))
    jn.Table(pl.DataFrame({"x": ["a", "NA"]}, schema={"x": pl.Enum(["a", "NA"])}))


# --- a few values that are no numbers ---

NUMBERS = [f"{k}.5" for k in range(499)]


@pytest.mark.parametrize(
    ("value", "separator", "blank"),
    [("12,5", ";", 0), ("1O", ",", 0), ("no idea", ",", 2), ("1 2", "\t", 1), ("3..5", "|", 0)],
)
def test_one_slip_in_a_column_of_numbers_is_told_with_its_line(write, value, separator, blank):
    lines = [f"{x}{separator}k" for x in [*NUMBERS[:15], value, *NUMBERS[15:]]]
    path = write("\n".join([f"x{separator}y", *[""] * blank, *lines]))
    with pytest.warns(jn.DataWarning) as met:
        assert jn.read_table(path).variable("x").kind == "categorical"
    assert [str(w.message) for w in met] == [
        f"{path}: a few values that are no numbers make labels of all numbers in 'x' (499 numbers "
        f"and 1 other value, the first {value!r} in line {17 + blank}): correct them, or say "
        f"missing=[{value!r}] if they mean missing, or categorical=['x'] if all are labels"
    ]
    assert jn.read_table(path, missing=[value]).variable("x").kind == "continuous"
    jn.read_table(path, categorical=["x"])


def test_slips_of_several_columns_are_told_together(write):
    rows = [f'{x},"a\nb",{k}' for k, x in enumerate(NUMBERS)]
    rows[9] = 'oops,"a\nb",-'
    rows[11] = 'oh,"a\nb",none of them'
    rows[13] = 'oops,"a\nb",NA'
    path = write("\n".join(["x,y,n", *rows]))
    with pytest.warns(jn.DataWarning) as met:
        jn.read_table(path)
    words, slips = (str(w.message) for w in met)
    assert "in 'n' (NA): if they mean missing, say missing=['NA']" in words
    assert (
        "in 'x' (496 numbers and 3 other values, the first 'oops' in line 21), 'n' (496 numbers "
        "and 2 other values, the first '-' in line 21): correct them, or say missing=['oh', "
        "'oops', '-', 'none of them'] if they mean missing"
    ) in slips


@pytest.mark.parametrize("kind", FRAMES)
def test_slips_in_a_dataframe_are_told_with_their_row(tmp_path, kind):
    data = FRAMES[kind]({"x": [*NUMBERS, "oops"]}, tmp_path / "t.parquet")
    with pytest.warns(jn.DataWarning, match=r"the first 'oops' in row 500") as met:
        jn.Table(data)
    assert "missing=['oops'], continuous=['x']" in str(met[0].message)
    assert jn.Table(data, missing=["oops"], continuous=["x"]).n_missing() == {"x": 1}


def test_slips_on_standard_input_are_told_with_their_row(monkeypatch):
    text = "\n".join(["x", *NUMBERS, "oops"]).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    with pytest.warns(jn.DataWarning, match=r"standard input: .*the first 'oops' in row 500"):
        jn.read_table("-")


def test_of_many_slips_a_few_are_listed():
    with pytest.warns(jn.DataWarning, match=r"'s7'\], continuous=\['x'\]\) and 1 more if they"):
        jn.Table({"x": [*NUMBERS, *(f"s{k}" for k in range(9))]})


@pytest.mark.parametrize(
    "lines",
    [
        [*map(str, range(15)), "15+"],  # these would be labels anyway
        [f"{k:05d}" for k in range(2000)] + ["D-80331"],
        [*NUMBERS[:9], "oops"],
        [*NUMBERS[:30], "a", "b", "c", "d"],
        [f"s{k}" for k in range(50)],
        NUMBERS,
    ],
)
def test_labels_that_are_no_slips(write, lines):
    csv_column(write, lines)


@pytest.mark.parametrize(
    "form", ["$%d.50", "%d,5 €", "%d.5%%", "%d %%", "1\u202f%03d,5", "1 %03d", "1'%03d.5", "%d EUR"]
)
def test_numbers_beside_other_signs_are_told(write, form):
    lines = [form % k for k in range(30)]
    path = write("\n".join(["x;y", *(f"{line};k" for line in lines), "?;k"]))
    with pytest.warns(jn.DataWarning) as met:
        jn.read_table(path)
    text = f"{path}: numbers beside other signs stand in 'x' ({sort_naturally(lines)[0]}), which "
    text += "are read as labels: take out the signs, or say categorical=['x'] if these are labels"
    assert text in [str(w.message) for w in met]
    jn.read_table(path, categorical=["x"])


@pytest.mark.parametrize("form", ["%d,25", "1,%03d", "1.%03d,5"])
def test_numbers_with_commas_are_told_in_dataframes_too(form):
    """Files have decimal= for them."""
    texts = [*(form % k for k in range(30)), "7"]
    with pytest.warns(
        jn.DataWarning, match=r"^this DataFrame: numbers beside other signs stand in"
    ):
        jn.Table(pd.DataFrame({"x": texts}))
    with pytest.warns(jn.DataWarning, match="numbers written as texts stand in 'x'"):
        jn.Table(pd.DataFrame({"x": [f"{k}.5" for k in range(30)]}))


@pytest.mark.parametrize("form", ["%02d 4711", "A%d", "%d-%d", "%d kg %d", "030 1234%d"])
def test_labels_with_digits_are_no_numbers_with_signs(write, form):
    csv_column(write, [form.replace("%d", str(k)).replace("%02d", f"{k:02d}") for k in range(30)])


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


def test_labels_that_differ_by_spaces_or_capitals_are_told(write):
    words = (
        r"labels that differ only by spaces around them or by capital letters are different "
        r"states, in 'a' \('(x|Yes)', '(x |yes)'\): write them alike if they mean the same"
    )
    with pytest.warns(jn.DataWarning, match=words):
        jn.read_table(write("a,b\nYes,p\nyes,p\nno,q\n"))
    jn.read_table(write("a,b\nAa,p\naA,p\naa,q\nAA,q\n"))  # genotypes
    with pytest.warns(jn.DataWarning, match=words):
        table = jn.read_table(write("a,b\nx,p\nx ,p\ny,q\n"))
    assert table.variable("a").states == ("x", "x ", "y")
