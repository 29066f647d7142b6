"""Files from other countries: semicolons, tabs, bars and decimal commas."""

import io
import re
import sys

import numpy as np
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError, FileError


def read(path, **choices):
    return {name: rows for name, (_, rows) in naive.plain(jn.read_table(path, **choices)).items()}


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".txt"])
def test_the_separator_is_found(write, mark, suffix):
    import gzip

    text = f"a{mark}b{mark}c\nx{mark}y{mark}z\n".encode()
    path = write(gzip.compress(text) if suffix.endswith("gz") else text, f"t{suffix}")
    assert read(path) == {"a": ["x"], "b": ["y"], "c": ["z"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size, cm;kind\n1;x\n2;y\n", {"size, cm": ["1", "2"], "kind": ["x", "y"]}),
        ("a;b,kind\n1,x\n2,y\n", {"a;b": ["1", "2"], "kind": ["x", "y"]}),
        ("a;b, c;d\n1;x, y;3\n", {"a": ["1"], "b, c": ["x, y"], "d": ["3"]}),
        ("x, m;y, m\na,b;c,d\n", {"x, m": ["a,b"], "y, m": ["c,d"]}),
        ('"a;b",c\n1,x;y\n', {"a;b": ["1"], "c": ["x;y"]}),
        ('"a,b";c\n1;"x;y"\n', {"a,b": ["1"], "c": ["x;y"]}),
        ('"a\nb";c\n1;x\n', {"a\nb": ["1"], "c": ["x"]}),
        ('"a;b"\nx\n', {"a;b": ["x"]}),
        ('"a|b,c"\nx\n', {"a|b,c": ["x"]}),
    ],
)
def test_the_first_rows_and_quotes_tell_which_one(write, text, expected):
    assert read(write(text)) == expected


def test_standard_input_is_looked_at_too(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;b\nx;y\n")))
    assert read("-") == {"a": ["x"], "b": ["y"]}


def test_a_long_file_is_not_judged_by_half_a_row(write):
    path = write("a;b, c\n" + "x;y, z\n" * 3 + f"{'x' * 70_000};y, z\n")
    assert read(path)["b, c"] == ["y, z"] * 4


def test_a_separator_may_be_said(write):
    assert read(write("a:b\nx:y\n"), separator=":") == {"a": ["x"], "b": ["y"]}
    assert read(write("a,b\nx,y\n", "t.tsv"), separator=",") == {"a": ["x"], "b": ["y"]}
    table = jn.Table(write("a;b,c\n1;x,y\n2;z,w\n"), separator=";")
    assert table.names == ("a", "b,c")


@pytest.mark.parametrize(
    ("name", "text", "choices", "mark"),
    [
        ("t.tsv", "a,b\nx,y\n", {}, ","),
        ("t.tsv", "a;b\nx;y\n", {}, ";"),
        ("t.csv", "a;b\nx;y\n", {"separator": ","}, ";"),
        ("t.csv", "a|b\nx|y\n", {"separator": ";"}, "|"),
        ("t.csv", "a b\nx y\nz w\n", {}, " "),
        ("t.tsv", "a:b\nx:y\nz:w\n", {}, ":"),
        ("t.csv", "a^b\nx^y\nz^w\n", {}, "^"),
        ("t.csv", "a~b\nx~y\nz~w\n", {}, "~"),
        ("t.csv", "a b\n1 x y\n2 z w\n", {}, " "),  # R's write.table, with names of rows
    ],
)
def test_a_header_that_still_looks_separated_is_refused(write, name, text, choices, mark):
    with pytest.raises(FileError, match=r"line 1: the header 'a.b' looks separated by") as error:
        jn.read_table(write(text, name), **choices)
    assert f"say separator={mark!r}, or put the name in quotes if it is one name" in str(error)


@pytest.mark.parametrize("above", ["My patients", "My patients\n", "My patients\nof 2024\n\n"])
@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_title_above_the_names_of_columns_is_refused(write, above, mark):
    path = write("\n".join([above, *(mark.join(row) for row in ("ab", "xy", "zw"))]))
    with pytest.raises(
        FileError, match=r"line 1: the header 'My patients' names one column"
    ) as error:
        jn.read_table(path)
    assert f"the lines below look separated by {mark!r}: if it is a title, delete" in str(
        error.value
    )
    assert jn.read_table(path, separator=",").names == ("My patients",)


@pytest.mark.parametrize(
    "text",
    ['"a";"b"\n"x";"1"\n"y";"2"\n', 'a (p,q);"b;c"\nx;1\ny;2\n', '"a, b";b\n"x, y";1\nz;2\n'],
)
def test_the_separator_that_fits_the_rows_is_offered(write, text):
    path = write(text, "t.tsv")
    with pytest.raises(FileError, match=r"line 1: the header .* looks separated by ';', but was"):
        jn.read_table(path)
    assert len(read(path, separator=";")) == 2


def test_quoted_names_with_spaces_between_them_are_several(write):
    path = write('"a" "b"\n"x" 1\n"y" 2\n')
    with pytest.raises(FileError, match=r"header .* looks separated by ' ', but was"):
        jn.read_table(path)
    assert read(path, separator=" ") == {"a": ["x", "y"], "b": ["1", "2"]}


@pytest.mark.parametrize("name", ["a;b", "a,b", "a|b", "a\tb", "a b", 'a";b', "sep=;", "sep=:"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".dat"])
def test_a_single_column_with_any_name_survives_a_file(tmp_path, name, suffix):
    for labels in (["x", "y"], ["x y", "z w"], ["x:y", "z:w"], ["x;y", "z;w"], ["x|y", "z|w"]):
        jn.Table({name: labels}).write(tmp_path / f"t{suffix}")
        assert read(tmp_path / f"t{suffix}") == {name: labels}


@pytest.mark.parametrize(
    "text", ["a name\nAda Lovelace\nMary Ann Evans\n", "at: 7\n1:2\n", "x y\n1 2\n", "a\nb;c\nd\n"]
)
def test_one_column_of_texts_is_not_separated(write, text):
    assert len(jn.read_table(write(text)).names) == 1


def test_a_first_line_of_numbers_is_told(write):
    words = r"line 1: the names of the columns are read from this line, and all are numbers \(5.1,"
    with pytest.warns(jn.DataWarning, match=words):
        table = jn.read_table(write("5.1,3.5\n4.9,3\n4.7,3.2\n"))
    assert table.names == ("5.1", "3.5")
    for header in ("0,1", "1,2", "a,1"):
        jn.read_table(write(f"{header}\n4.9,3\n4.7,3.2\n"))


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", ":", " "])
@pytest.mark.parametrize("start", ["sep=", "\ufeffsep=", "SEP="])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_first_line_may_name_the_separator_as_spreadsheets_write_it(write, mark, start, end):
    lines = [f"{start}{mark}", f"a, x;y{mark}b", f"1{mark}2", ""]
    if mark in ",; ":
        lines[1] = f'"a, x;y"{mark}b'
    path = write(end.join(lines), "t.tsv" if mark == ";" else "t.csv")
    assert read(path) == read(path, separator=mark) == {"a, x;y": ["1"], "b": ["2"]}


def test_a_first_line_with_separators_behind_it(write):
    assert read(write("sep=;;\na;b;c\nx;y;z\n")) == {"a": ["x"], "b": ["y"], "c": ["z"]}


def test_a_separator_that_the_first_line_contradicts_is_refused(write):
    path = write("sep=;\na;b\nx;y\n")
    with pytest.raises(DataError) as error:
        jn.read_table(path, separator=",")
    assert str(error.value) == (
        f"{path}, line 1: sep=; names the separator ';', but separator=',' was said: leave that "
        f"out, or correct the line"
    )


@pytest.mark.parametrize("text", ["sep=x\na\n", "sep\na\n", '"sep=;"\na\n', "sep=;,b\na,x\n"])
def test_names_that_begin_alike_name_columns(write, text):
    assert "sep" in jn.read_table(write(text)).names[0]


@pytest.mark.parametrize("separator", ["", ";;", '"', "\n", "é", 1])
def test_separators_that_cannot_be(write, separator):
    with pytest.raises(DataError, match="separator must be one character"):
        jn.read_table(write("a;b\n1;2\n"), separator=separator)


def test_choices_of_text_files_are_for_text_files(tmp_path, write):
    jn.Table({"x": [1, 2]}).write(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"separator is for text files \(CSV, TSV\), and .*parquet"):
        jn.read_table(tmp_path / "t.parquet", separator=";")
    with pytest.raises(DataError, match=r"decimal is for text files .*, and this dict is none"):
        jn.Table({"x": [1]}, decimal=",")
    with pytest.raises(DataError, match=r"decimal must be '.' or ',', not ';'"):
        jn.read_table(write("a;b\n1;2\n"), decimal=";")


# --- decimal commas ---

EXCEL = "Größe;Kind;n\n3,14;a;1\n-0,5;b;2\n2;a;3\n"


def test_numbers_with_a_decimal_comma_are_read_as_numbers_and_this_is_told(write):
    expected = {"Größe": [3.14, -0.5, 2.0], "Kind": ["a", "b", "a"], "n": ["1", "2", "3"]}
    path = write(EXCEL)
    with pytest.warns(jn.DataWarning) as met:
        assert read(path) == expected
    assert [str(w.message) for w in met] == [
        f"{path}: numbers with a decimal comma stand in 'Größe' (3,14), which are read as "
        f"numbers: say decimal=',' if that is right, decimal='.' to keep them as labels"
    ]
    assert read(path, decimal=",") == expected
    assert read(path, decimal=".")["Größe"] == ["3,14", "-0,5", "2"]


def test_many_numbers_with_a_decimal_comma(write):
    numbers = np.random.default_rng(0).normal(size=6000)
    lines = "".join(f"{x!r};k\n".replace(".", ",") for x in numbers.tolist())
    assert read(write(f"x;y\n{lines}"), decimal=",")["x"] == numbers.tolist()


@pytest.mark.parametrize("word", ["", "NA", "?"])
def test_a_word_for_missing_does_not_hide_decimal_commas(write, word):
    path = write(f"x;y\n3,14;a\n{word};b\n1e3;a\n")
    assert read(path, missing=[word], decimal=",")["x"] == [3.14, None, 1000.0]
    assert read(write("x;y\n3,14;a\nn,a;b\n"), missing=["n,a"], decimal=",")["x"] == [3.14, None]


def test_points_after_thousands_beside_a_decimal_comma_are_taken_out(write):
    path = write("x;y;z\n1.234,56;-1.234.567;0,5\n12;1.234;1,25\n341,9;999;12,5\n")
    expected = {"x": [1234.56, 12.0, 341.9], "y": [-1234567.0, 1234.0, 999.0]}
    expected = {**expected, "z": [0.5, 1.25, 12.5]}
    table = jn.Table(path, decimal=",", continuous=["x", "y", "z"])
    assert {name: table.column(name).data.tolist() for name in table.names} == expected
    with (
        pytest.warns(jn.DataWarning, match=r"decimal comma stand in 'x' \(1.234,56\), 'z'"),
        pytest.warns(jn.DataWarning, match=r"points in 'y' \(-1.234.567\) may separate thousands"),
    ):
        table = jn.Table(path)
    assert table.column("x").data.tolist() == expected["x"]


@pytest.mark.parametrize(
    "rows", ["1.234;0,5\n1.500;1,5", "0.500,5;1\n1.000,5;1", "1,234.5;1\n1.234,5;1"]
)
def test_points_that_may_be_decimal_are_refused(write, rows):
    """1.234 may be a little over 1; 0.500,5 is no number."""
    path = write(f"x;y\n{rows}\n")
    with pytest.raises(jn.DataError, match="was said, but column 'x' holds"):
        jn.Table(path, decimal=",")


@pytest.mark.parametrize("number", ["1,234", "1,234,567", "1,234.5"])
def test_commas_that_may_separate_thousands_are_told(write, number):
    path = write(f"x;y\n{number};a\n12;b\n")
    with pytest.warns(jn.DataWarning, match="whose commas may separate thousands stand in 'x'"):
        assert read(path)["x"] == [number, "12"]
    assert read(path, decimal=".")["x"] == [number, "12"]


def test_commas_and_points_in_one_column_are_told(write):
    rows = "".join(f"{k},5;a\n{k}.5;b\n" for k in range(9))
    with pytest.warns(jn.DataWarning) as met:
        jn.read_table(write(f"x;y\n{rows}"))
    assert [str(w.message).split(": ", 1)[1] for w in met] == [
        "numbers with a decimal comma and numbers with a point stand in 'x' (0,5 and 0.5), which "
        "are read as labels: write all of them alike, or say decimal='.' if these are labels"
    ]


def test_quoted_numbers_in_a_file_with_commas(write):
    with pytest.warns(jn.DataWarning, match=r"with a decimal comma stand in 'x' \(3,14\)"):
        assert read(write('x,y\n"3,14",a\n"2,5",b\n'))["x"] == [3.14, 2.5]
    with pytest.warns(jn.DataWarning, match=r"may separate thousands stand in 'x' \(1,234\)"):
        jn.read_table(write('x,y\n"1,234",a\n"2,500",b\n'))


def test_a_decimal_comma_where_commas_separate_fields_is_refused_unless_it_is_in_quotes(write):
    path = write("x,y\n1,5\n2,5\n")
    with pytest.raises(DataError) as error:
        jn.read_table(path, decimal=",")
    assert str(error.value) == (
        f"{path}: decimal=',' was said, but commas separate the fields, and no number with one is "
        f"in quotes: leave decimal out if decimals follow a point, or write the file with another "
        f"separator, such as ';'"
    )
    found = read(write('x,y\n"1,5",a\n2,"b"\n'), decimal=",")
    assert found == {"x": [1.5, 2.0], "y": ["a", "b"]}


def test_a_point_beside_a_decimal_comma_is_refused(write):
    message = re.escape("decimal=',' was said, but column 'y' holds '1.234'")
    with pytest.raises(DataError, match=message):
        jn.read_table(write("x;y\n3,14;1.234\n2,5;2\n"), decimal=",")


@pytest.mark.parametrize("texts", [["a,b", "c"], ["3,14", "x"], ["1,2,3", "2,3,4"]])
def test_labels_with_commas_stay_labels(write, texts):
    assert read(write("x;y\n" + "".join(f"{t};k\n" for t in texts)))["x"] == texts


@pytest.mark.parametrize(
    ("number", "kind"), [("{}.235", "continuous"), ("{}.234.567", "categorical")]
)
def test_points_that_may_separate_thousands_between_semicolons_are_told(write, number, kind):
    text = "a;b\n" + "".join(f"{number.format(k)};{k % 2}\n" for k in range(1, 30))
    words = (
        r"the points in 'a' \(1.23[45.67]*\) may separate thousands, and are read as they stand: "
    )
    with pytest.warns(jn.DataWarning, match=f"{words}take .* if they do, or say decimal='.'$"):
        assert jn.read_table(write(text)).variable("a").kind == kind
    assert jn.read_table(write(text), decimal=".").variable("a").kind == kind
    assert jn.read_table(write(text.replace(";", ","))).variable("a").kind == kind
