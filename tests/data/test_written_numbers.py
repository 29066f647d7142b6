"""Numbers whose points or texts may mean something else are told."""

import warnings

import pandas as pd
import pyarrow as pa
import pytest

import jensen as jn


def told(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = make()
    return table, [str(one.message) for one in caught]


@pytest.mark.parametrize("number", ["1.{}", "1.234.{}"])
def test_points_beside_decimal_commas_may_separate_thousands(number, tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{number.format(i)};{i},25" for i in range(234, 264)]
    path.write_text("\n".join(["a;b", *rows]))
    _, texts = told(lambda: jn.read_table(path))
    assert (
        f"{path}: beside decimal commas, the points in 'a' ({number.format(234)}) may separate "
        f"thousands, and are read as they stand: take the points out if they do, or write commas "
        f"in their place"
    ) in texts


def test_points_and_commas_in_one_column_are_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a;b", *(f"1.{i},5;{i},25" for i in range(234, 264))]))
    table, texts = told(lambda: jn.read_table(path))
    assert table.column("a").data[0] == 1234.5
    assert not any("may separate" in text for text in texts)


def test_numbers_written_as_texts_in_a_dataframe():
    frame = pd.DataFrame({"a": [f"{i}.5" for i in range(30)], "b": ["1", "2"] * 15})
    _, texts = told(lambda: jn.Table(frame))
    assert texts == [
        "this DataFrame: numbers written as texts stand in 'a' ('0.5'), which are read as labels: "
        "say jn.Table(..., continuous=['a']) if they are numbers, jn.Table(..., categorical=['a']) "
        "if they are labels"
    ]
    table, texts = told(lambda: jn.Table(frame, continuous=["a"]))
    assert (table.variable("a").kind, texts) == ("continuous", [])
    table, texts = told(lambda: jn.Table(frame, categorical=["a"]))
    assert (table.variable("a").kind, texts) == ("categorical", [])


@pytest.mark.parametrize("values", [[0.5, 1.5] * 20, list(range(40))])
def test_dictionaries_of_numbers_are_no_texts(values):
    table = jn.Table(pa.table({"a": pa.array(values).dictionary_encode()}))
    assert table.variable("a").kind == "categorical"
    with pytest.warns(jn.DataWarning, match="numbers written as texts stand in 'a'"):
        jn.Table(pa.table({"a": pa.array([f"{k}.5" for k in range(40)]).dictionary_encode()}))


def test_blank_cells_of_a_file_may_mean_missing(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "x,u\ny,v\n  ,v\n" * 5)
    words = r"read as states, in 'a' \('  '\): if they mean missing, say missing=\['  '\]; if they"
    with pytest.warns(jn.DataWarning, match=words):
        jn.read_table(path)
    assert jn.read_table(path, missing=["  "]).variable("a").states == ("x", "y")
