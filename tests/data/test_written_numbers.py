"""Numbers whose points or texts may mean something else are told."""

import warnings

import pandas as pd
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
