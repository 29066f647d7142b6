"""Tables out, and back again."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import JensenError

TABLES = {
    "labels": jn.Table({"x": ["b", None, "a"]}),
    "whole numbers": jn.Table({"x": [2, None, 10]}),
    "numbers": jn.Table({"x": [0.5, None, -np.inf]}),
    "counts": jn.Table({"x": [*range(30), None]}),
    "truth": jn.Table({"x": [True, None, False]}),
    "declared order": jn.Table({"x": ["b", None, "a"]}, states={"x": ["b", "a"]}),
    "unused states": jn.Table({"x": ["b", None, "a"]}, states={"x": ["a", "b", "c"]}),
    "unused states between": jn.Table({"x": [3, None, 1]}, states={"x": [1, 2, 3]}),
    "all missing, declared": jn.Table({"x": [None, None]}, states={"x": ["a", "b"]}),
    "all missing": jn.Table({"x": [None, None]}),
    "labels like numbers": jn.Table({"x": ["1", "1.0", "01", "1e0"]}),
    "odd labels": jn.Table({"x": ["", " a", "a\nb", 'q"', "a,b", "None", "é", "\t"]}),
    "identifiers": jn.Table({"x": [2**60, 2**60 + 1]}),
    "300 states": jn.Table({"x": [f"s{k}" for k in range(300)] + [None]}),
    "odd names": jn.Table({"a,b": [1], 'q"': [1], "new\nline": [1], "": [1]}),
    "no rows": jn.Table({"x": []}, states={"x": ["b", "a"]}),
    "no columns": jn.Table({}),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow", "to_native"])
def test_a_table_survives_a_dataframe(table, way):
    assert naive.plain(jn.Table(getattr(table, way)())) == naive.plain(table)


@pytest.mark.parametrize("name", [name for name in TABLES if not name.startswith("no ")])
def test_a_table_survives_parquet(name, tmp_path):
    TABLES[name].write(tmp_path / "t.parquet")
    assert naive.plain(jn.read_table(tmp_path / "t.parquet")) == naive.plain(TABLES[name])


@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow"])
def test_declared_kinds_need_to_be_declared_again(way):
    table = jn.Table({"x": [1, 2, None]}, continuous=["x"])
    again = jn.Table(getattr(table, way)(), continuous=["x"])
    assert naive.plain(again) == naive.plain(table)


def test_pandas_gets_categories_in_order_and_numbers():
    frame = jn.Table({"x": ["b", None], "r": [0.5, None]}, states={"x": ["c", "b"]}).to_pandas()
    assert list(frame["x"].cat.categories) == ["c", "b"]
    assert frame["x"].tolist()[0] == "b"
    assert frame.isna().to_numpy().tolist() == [[False, False], [True, True]]
    assert frame["r"].dtype == float


def test_polars_gets_enums_and_nulls():
    frame = jn.Table({"x": ["b", None], "n": [0.5, None]}, states={"x": ["c", "b"]}).to_polars()
    assert frame.schema == {"x": pl.Enum(["c", "b"]), "n": pl.Float64}
    assert frame.rows() == [("b", 0.5), (None, None)]


def test_arrow_gets_dictionaries_and_whole_counts():
    table = jn.Table({"x": ["b", None], "n": [3, None]}, counts=["n"]).to_arrow()
    assert pa.types.is_dictionary(table.schema.field("x").type)
    assert table.to_pydict() == {"x": ["b", None], "n": [3, None]}
    assert table.schema.field("n").type == pa.int64()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (pd.DataFrame({"x": [1]}), pd.DataFrame),
        (pl.DataFrame({"x": [1]}), pl.DataFrame),
        (pl.LazyFrame({"x": [1]}), pl.DataFrame),
        (pa.table({"x": [1]}), pa.Table),
        ({"x": [1]}, pd.DataFrame),
    ],
)
def test_answers_come_as_the_dataframe_that_came_in(data, kind):
    assert isinstance(jn.Table(data).to_native(), kind)
    assert isinstance(jn.Table(jn.Table(data)).select(["x"]).take([0]).to_native(), kind)


def test_without_pandas_answers_come_as_arrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(jn.Table({"x": [1]}).to_native(), pa.Table)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_there_is_named(package, monkeypatch):
    table = jn.Table({"x": [1]})
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(JensenError, match=f"this needs {package}: pip install {package}"):
        getattr(table, f"to_{package}")()


def test_csv_goes_to_a_stream_that_stays_open():
    stream = io.BytesIO()
    jn.Table({"x": ["a", None], "n": [0.5, 1.5]}).write_csv(stream)
    assert stream.getvalue() == b"x,n\na,0.5\n,1.5\n"


def test_a_table_of_a_table_is_the_same():
    table = jn.discretize(
        jn.Table({"r": [0.5, 1.5, 9.5], "n": [1, 2, 3]}, counts=["n"]), columns=["r"]
    )
    again = jn.Table(table)
    assert again.variables == table.variables
    assert naive.plain(again) == naive.plain(table)


def test_a_table_of_a_table_under_other_choices():
    table = jn.Table(
        {"t": ["a", "?"], "n": [1, 2], "r": [0.5, 1.5]}, counts=["n"], weights=[1, 2], missing=[]
    )
    cut = jn.discretize(table, columns=["r"])
    again = jn.Table(cut, missing=["?"], states={"n": [2, 1]})
    assert naive.plain(again)["t"] == (jn.Variable("t", "categorical", ("a",)), ["a", None])
    assert again.variable("n").states == ("2", "1")
    assert again.variable("r") == cut.variable("r")
    assert again.weights.tolist() == [1.0, 2.0]
