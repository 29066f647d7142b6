"""The same data through every way in, and what each of them can bring along."""

import datetime
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError

COLUMNS = {
    "label": ["b", "a10", None, "a9"],
    "truth": [True, False, None, True],
    "whole": [0, 1, None, 1],
    "real": [0.5, None, 2.0, -1.25],
}
"""Every kind of column, with something missing in each."""


def as_pandas(data=COLUMNS):
    return pd.DataFrame(data)


def delimited(path, delimiter):
    as_pandas().to_csv(path, sep=delimiter, index=False)
    return path


def parquet(path):
    pa.parquet.write_table(pa.table(COLUMNS), path)
    return path


def packed(path):
    zipped = path.with_name(path.name + ".gz")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    return zipped


WAYS_IN = {
    "csv": lambda d: delimited(d / "t.csv", ","),
    "csv as text": lambda d: str(delimited(d / "t.csv", ",")),
    "csv.gz": lambda d: packed(delimited(d / "t.csv", ",")),
    "tsv": lambda d: delimited(d / "t.tsv", "\t"),
    "txt": lambda d: delimited(d / "t.txt", ";"),
    "parquet": lambda d: parquet(d / "t.parquet"),
    "parquet.gz": lambda d: packed(parquet(d / "t.parquet")),
    "pandas": lambda d: as_pandas(),
    "pandas nullable": lambda d: as_pandas().convert_dtypes(),
    "pandas arrow": lambda d: as_pandas().convert_dtypes(dtype_backend="pyarrow"),
    "pandas object": lambda d: pd.DataFrame(
        {k: pd.Series(v, dtype=object) for k, v in COLUMNS.items()}
    ),
    "polars": lambda d: pl.DataFrame(COLUMNS),
    "polars lazy": lambda d: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda d: pa.table(COLUMNS),
    "pyarrow batch": lambda d: pa.record_batch(COLUMNS),
    "pyarrow chunks": lambda d: pa.concat_tables([pa.table(COLUMNS)[:1], pa.table(COLUMNS)[1:]]),
    "dict of lists": lambda d: COLUMNS,
    "dict of tuples": lambda d: {k: tuple(v) for k, v in COLUMNS.items()},
    "dict of generators": lambda d: {k: (x for x in v) for k, v in COLUMNS.items()},
    "dict of pandas": lambda d: dict(as_pandas().items()),
    "dict of polars": lambda d: {c.name: c for c in pl.DataFrame(COLUMNS)},
    "dict of pyarrow": lambda d: {k: pa.array(v) for k, v in COLUMNS.items()},
    "dict of objects": lambda d: {k: np.array(v, object) for k, v in COLUMNS.items()},
    "table": lambda d: jn.Table(COLUMNS),
}


@pytest.mark.parametrize("way", WAYS_IN)
def test_the_same_data_give_the_same_table(way, tmp_path):
    table = jn.Table(WAYS_IN[way](tmp_path))
    variables = {
        "label": jn.Variable("label", "categorical", ("a9", "a10", "b")),
        "truth": jn.Variable("truth", "categorical", ("False", "True")),
        "whole": jn.Variable("whole", "categorical", ("0", "1")),
        "real": jn.Variable("real", "continuous"),
    }
    assert naive.plain(table) == {
        "label": (variables["label"], ["b", "a10", None, "a9"]),
        "truth": (variables["truth"], ["True", "False", None, "True"]),
        "whole": (variables["whole"], ["0", "1", None, "1"]),
        "real": (variables["real"], [0.5, None, 2.0, -1.25]),
    }


def test_an_array_gives_the_same_table_as_a_dict():
    array = np.array([[0.0, 0.5], [1.0, np.nan], [np.nan, 2.0]])
    columns = {"a": [0, 1, None], "b": [0.5, None, 2.0]}
    for layout in ("C", "F"):
        table = jn.Table(np.array(array, order=layout), names=["a", "b"])
        assert naive.plain(table) == naive.plain(jn.Table(columns))


# --- arrays ---


def test_columns_of_an_array_have_names_by_default():
    assert jn.Table(np.zeros((2, 3))).names == ("x0", "x1", "x2")


@pytest.mark.parametrize("names", [["a", "b"], (n for n in "ab"), pd.Index(["a", "b"])])
def test_names_of_an_array(names):
    assert jn.Table(np.zeros((2, 2)), names=names).names == ("a", "b")


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (np.array([["b"], ["a"]]), ["b", "a"]),
        (np.array([["b"], [None], [1]], object), ["b", None, "1"]),
        (np.array([[True], [False]]), ["True", "False"]),
        (np.array([[1], [2]], ">i4"), ["1", "2"]),
        (np.array([[1.5], [2]], ">f8"), [1.5, 2.0]),
        (np.array([[1.5], [2]], np.longdouble), [1.5, 2.0]),
        (np.array([[1.5], [2]], np.float16), [1.5, 2.0]),
        (np.ma.array([[1], [2]], mask=[[False], [True]]), ["1", None]),
        (np.empty((0, 1)), []),
    ],
)
def test_arrays_of_every_type(array, values):
    assert naive.plain(jn.Table(array))["x0"][1] == values


def test_an_array_of_records_names_its_columns():
    records = np.array([(1, "a"), (2, "b")], dtype=[("n", int), ("t", "U3")])
    assert naive.plain(jn.Table(records)) == naive.plain(jn.Table({"n": [1, 2], "t": ["a", "b"]}))


@pytest.mark.parametrize(
    ("array", "names", "message"),
    [
        (
            np.zeros(3),
            None,
            r"must have 2 dimensions \(rows, columns\), not 1: one column is array",
        ),
        (np.zeros((1, 2, 3)), None, "must have 2 dimensions"),
        (np.zeros((2, 2)), ["a"], "1 names were given for 2 columns"),
        (np.zeros((2, 2)), "ab", "names must be a list of column names, not the text 'ab'"),
        (np.zeros((2, 2)), ["a", "a"], "two columns are named 'a': rename one"),
        (np.zeros((2, 2)), ["a", None], "a column is named by text, not by None"),
        (np.zeros(2, [("a", int)]), ["b"], "an array of records names its own columns"),
        (np.zeros((2, 2), complex), None, "column 'x0' holds"),
        (np.array([[b"a"]]), None, "column 'x0' holds binary"),
    ],
)
def test_arrays_that_are_no_tables(array, names, message):
    with pytest.raises(DataError, match=message):
        jn.Table(array, names=names)


# --- dataframes ---


@pytest.mark.parametrize(
    ("series", "states", "values"),
    [
        (pd.Categorical(["b", None], ["c", "b"]), ("c", "b"), ["b", None]),
        (pd.Categorical(["b", "a"], ["b", "a"], ordered=True), ("b", "a"), ["b", "a"]),
        (pd.Categorical([10, 2, None], [10, 2, 3]), ("10", "2", "3"), ["10", "2", None]),
        (pd.Categorical([1.0, 0.5]), ("0.5", "1"), ["1", "0.5"]),
        (pd.Categorical([True, None]), ("True",), ["True", None]),
        (pd.Categorical([1, "a"], [1, "a"]), ("1", "a"), ["1", "a"]),
        (pd.Categorical([], ["b", "a"]), ("b", "a"), []),
        (
            pd.cut([0.0, 1.0, 9.0], [-1, 2, 10]),
            ("(-1, 2]", "(2, 10]"),
            ["(-1, 2]"] * 2 + ["(2, 10]"],
        ),
        (
            pd.Categorical(pd.to_datetime(["2020-01-02", "2020-01-01"])),
            ("2020-01-01", "2020-01-02"),
            ["2020-01-02", "2020-01-01"],
        ),
    ],
)
def test_categories_of_pandas_are_declared_states(series, states, values):
    table = jn.Table(pd.DataFrame({"x": series}))
    assert naive.plain(table)["x"] == (jn.Variable("x", "categorical", states), values)


def test_an_enum_of_polars_is_a_declared_order():
    frame = pl.DataFrame({"x": pl.Series(["a", None], dtype=pl.Enum(["c", "b", "a"]))})
    assert jn.Table(frame).variable("x").states == ("c", "b", "a")
    assert jn.Table(frame.clear()).variable("x").states == ("c", "b", "a")


def test_an_ordered_dictionary_of_arrow_is_a_declared_order():
    codes, labels = pa.array([0, 2, None]), pa.array(["b", None, "a"])
    ordered = pa.DictionaryArray.from_arrays(codes, labels, ordered=True)
    assert jn.Table({"x": ordered}).variable("x").states == ("b", "a")
    assert jn.Table({"x": ordered}).column("x").data.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["b", "a", None], dtype=pl.Categorical),
        pa.array(["b", "a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 2, 1]), pa.array(["b", None, "a"])),
        pa.chunked_array(
            [pa.array(["b"]).dictionary_encode(), pa.array(["a", None]).dictionary_encode()]
        ),
        pd.Series(["b", "a", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    ],
)
def test_other_dictionaries_only_list_what_came_first(values):
    variable, rows = naive.plain(jn.Table({"x": values}))["x"]
    assert (variable.states, rows) == (("a", "b"), ["b", "a", None])


def test_nan_inside_a_dictionary_is_missing():
    values = pa.array([2.5, float("nan"), 10.0, None]).dictionary_encode()
    table = jn.Table({"x": values}, categorical=["x"])
    assert naive.plain(table)["x"][1] == ["2.5", None, "10", None]


NEWER_TYPES = []
if hasattr(pl, "Int128"):
    NEWER_TYPES.append((pl.Series([1, None], dtype=pl.Int128), ["1", None]))
if hasattr(pa, "uuid"):
    uuid = "30303030-3030-3030-3030-303030303030"
    NEWER_TYPES.append((pa.array([b"0" * 16], pa.uuid()), [uuid]))


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([datetime.date(2020, 1, 31), None], ["2020-01-31", None]),
        (pd.to_datetime(["2020-01-31", None]), ["2020-01-31", None]),
        (
            pd.Series(pd.to_datetime(["2020-01-31 06:30:00.5", None])),
            ["2020-01-31 06:30:00.5", None],
        ),
        (pl.Series([datetime.datetime(2020, 1, 31), None]), ["2020-01-31", None]),
        (pl.Series([datetime.time(1, 2), None]), ["01:02:00", None]),
        (np.array(["2020-01-31", "NaT"], "M8[D]"), ["2020-01-31", None]),
        (pd.period_range("2020", "2021", freq="Y"), ["2020", "2021"]),
        (pd.interval_range(0, 2), ["(0, 1]", "(1, 2]"]),
        ([Decimal("1.00"), Decimal("2")], ["1", "2"]),
        ([2**70, None], [str(2**70), None]),
        (pa.nulls(2), [None, None]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pl.Series([1, "a"], dtype=pl.Object), ["1", "a"]),
        (pd.arrays.SparseArray([0, 1]), ["0", "1"]),
        *NEWER_TYPES,
    ],
)
def test_columns_of_every_type(values, labels):
    assert naive.plain(jn.Table({"x": values}))["x"][1] == labels


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([Decimal("1.10"), 1, None], [1.1, 1.0, None]),
        (pd.array([0.5, None], "Float64"), [0.5, None]),
        (pl.Series([0.5, float("nan"), None]), [0.5, None, None]),
        (pa.array(np.array([1.5, 2], np.float16)), [1.5, 2.0]),
        (pd.Series([0.5, np.inf]), [0.5, np.inf]),
    ],
)
def test_numbers_of_every_type(values, numbers):
    variable, rows = naive.plain(jn.Table({"x": values}))["x"]
    assert (variable.kind, rows) == ("continuous", numbers)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame([[1, 2]]), {0: [1], 1: [2]}, {np.int64(0): [1], 1: [2]}]
)
def test_numbered_columns_are_named_by_their_number(frame):
    assert jn.Table(frame).names == ("0", "1")


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (pd.DataFrame({"x": [1]}), "pandas"),
        (pl.DataFrame({"x": [1]}), "polars"),
        (pl.LazyFrame({"x": [1]}), "polars"),
        (pa.table({"x": [1]}), "pyarrow"),
        ({"x": [1]}, "pandas"),
        (np.zeros((1, 1)), "pandas"),
        (jn.Table(pl.DataFrame({"x": [1]})), "polars"),
    ],
)
def test_a_table_knows_which_library_it_came_from(data, source):
    assert jn.Table(data).source == source


# --- what is no table ---


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "cannot read a table from NoneType: give a path, a pandas, polars or pyarrow"),
        ([[1, 2]], "cannot read a table from list"),
        (b"t.csv", "cannot read a table from bytes"),
        ({"x": [1], "y": [1, 2]}, r"the columns differ in length: {'x': 1, 'y': 2}"),
        ({"x": "abc"}, "column 'x' must hold one value per row, not 'abc'"),
        ({"x": 3}, "column 'x' must hold one value per row, not 3"),
        ({"x": {1, 2}}, "column 'x' must hold one value per row"),
        ({"x": {"a": 1}}, "column 'x' must hold one value per row"),
        ({"x": pd.DataFrame({"y": [1]})}, "column 'x' must hold one value per row"),
        ({"x": np.zeros((2, 2))}, "column 'x' must have one dimension, not 2"),
        ({None: [1]}, "a column is named by text, not by None"),
        ({1: [1], "1": [2]}, "two columns are named '1': rename one"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named 'a': rename one"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns are named 'a': rename one"),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
            r"a column is named by text, not by \('a', 'b'\)",
        ),
        (pd.DataFrame({"x": pd.Categorical([1, "1"])}), "the states of 'x' repeat '1'"),
        (pl.DataFrame({"x": [[1]]}), "column 'x' holds large_list<.*int64>"),
        (pl.DataFrame({"x": [{"a": 1}]}), "column 'x' holds struct<a: int64>"),
        (pa.table({"x": pa.array([b"a"], pa.binary(1))}), "column 'x' holds fixed_size_binary"),
        (pd.DataFrame({"x": pd.to_timedelta([1], unit="s")}), "column 'x' holds duration"),
    ],
)
def test_what_cannot_be_a_table(data, message):
    with pytest.raises(DataError, match=message):
        jn.Table(data)
