"""CSV and its relatives as people write them, and what is told when they are broken."""

import io
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import data as naive

import jensen as jn
from jensen.data import delimited
from jensen.exceptions import DataError, FileError


def read(path, **choices):
    return {name: rows for name, (_, rows) in naive.plain(jn.read_table(path, **choices)).items()}


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nx,y\nz,w\n",
        "a,b\nx,y\nz,w",
        "a,b\r\nx,y\r\nz,w\r\n",
        "a,b\rx,y\rz,w\r",
        "\ufeffa,b\nx,y\nz,w\n",
        '\ufeff"a","b"\nx,y\nz,w\n',
        '"a","b"\n"x","y"\n"z","w"\n',
        "a, b\nx,y\nz,w\n",
        "a,b\n\nx,y\n\nz,w\n\n",
    ],
)
def test_the_same_table_written_in_many_ways(write, text):
    assert read(write(text)) == {"a": ["x", "z"], "b": ["y", "w"]}


def test_only_the_first_byte_order_mark_is_none_of_the_text(write):
    assert read(write("\ufeffa,b\n\ufeffx,y\n")) == {"a": ["\ufeffx"], "b": ["y"]}


def test_quotes_hold_commas_line_breaks_and_quotes(write):
    path = write('a,b\n"x, y","1\n2"\n"say ""so""",\n')
    assert read(path) == {"a": ["x, y", 'say "so"'], "b": ["1\n2", None]}


def test_a_quote_inside_a_plain_field_is_a_label(write):
    assert read(write('a,b\n5" disk,x\ny,3" disk\n')) == {
        "a": ['5" disk', "y"],
        "b": ["x", '3" disk'],
    }


def test_a_name_may_hold_commas_and_line_breaks(write):
    assert read(write('"a, b","c\nd"\nx,y\n')) == {"a, b": ["x"], "c\nd": ["y"]}


def test_columns_without_a_name_are_numbered(write):
    assert read(write("a,,\nx,y,z\n")) == {"a": ["x"], "column 2": ["y"], "column 3": ["z"]}


@pytest.mark.parametrize("field", ["", '""'])
def test_an_empty_field_is_missing(write, field):
    assert read(write(f"a,b\n{field},x\n")) == {"a": [None], "b": ["x"]}


def test_in_one_column_an_empty_line_is_a_missing_value(write):
    assert read(write("a\nx\n\ny\n")) == {"a": ["x", None, "y"]}


@pytest.mark.parametrize(
    "text", ["a\tb\nx\ty,z\n", "a;b\nx;y,z\n", 'a,b\nx,"y,z"\n', 'a b\nx "y,z"\n']
)
@pytest.mark.parametrize("suffix", [".txt", ".dat"])
def test_the_delimiter_is_guessed_from_the_header(write, text, suffix):
    assert read(write(text, f"t{suffix}")) == {"a": ["x"], "b": ["y,z"]}


@pytest.mark.parametrize("suffix", [".tsv", ".tab"])
def test_tabs_part_fields_that_hold_commas(write, suffix):
    assert read(write("a\tb\nx, y\tz\n", f"t{suffix}")) == {"a": ["x, y"], "b": ["z"]}


def test_standard_input_is_a_dash(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"a,b\nx,y\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-") == {"a": ["x"], "b": ["y"]}


def test_a_row_longer_than_a_block(write, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 100)
    assert read(write(f"a,b\n{'x' * 5000},y\n")) == {"a": ["x" * 5000], "b": ["y"]}


def test_many_blocks_make_one_column(write, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 100)
    numbers = [k / 8 for k in range(1000)]
    path = write("a,b\n" + "".join(f"{x},{'xyz'[k % 3]}\n" for k, x in enumerate(numbers)))
    assert read(path) == {"a": numbers, "b": ["xyz"[k % 3] for k in range(1000)]}


labels = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)


@pytest.mark.filterwarnings("ignore::jensen.exceptions.DataWarning")  # any text may be drawn
@settings(max_examples=40)
@given(st.lists(st.tuples(st.one_of(st.none(), labels), st.one_of(st.none(), labels)), min_size=1))
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz"])
def test_labels_survive_a_text_file(tmp_path_factory, suffix, rows):
    path = tmp_path_factory.getbasetemp() / f"labels{suffix}"
    columns = {"a": [*(a for a, _ in rows), "label"], "b": [*(b for _, b in rows), "label"]}
    table = jn.Table(columns)
    table.write(path)
    assert naive.plain(jn.read_table(path, missing=[])) == naive.plain(table)


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1))
def test_numbers_survive_a_text_file(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    table = jn.Table({"a": [*numbers, 0.5]})
    table.write(path)
    assert naive.plain(jn.read_table(path)) == naive.plain(table)


# --- broken files ---


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "table.csv: the first line is empty, and must name the columns"),
        ("\n", "the first line is empty"),
        ("\na,b\n1,2\n", "the first line is empty"),
        ("   \n1\n", "the first line is empty"),
        (b"\xef\xbb\xbf", "the first line is empty"),
        ("a,b", "table.csv has no rows: its first line names columns, and nothing follows"),
        ("a,b\n", "has no rows"),
        ("a,b\r\n\r\n\r\n", "has no rows"),
        (
            "a,b\n1,2\n3\n",
            "table.csv, line 3: 1 field, but the columns that the header names are 2",
        ),
        ("a,b\n1,2\n1,2,3\n4,5\n", "line 3: 3 fields, but the columns that the header names are 2"),
        ("a,b\n\n1,2\n\n1,2,3\n", "line 5: 3 fields, .* are 2$"),
        ('"a","b"\n"1",2,3\n', r"line 2: 3 fields, .* are 2: if the first field names the row, as"),
        ('a,b\n"1\n2",3\n4\n', "line 4: 1 field"),
        ('"a\nb",c\n1,2\n4\n', "line 4: 1 field"),
        ('"a,b\n1,2\n', "line 1: a quote is never closed"),
        ('a,b\n1,2\n3,"x\n4,y\n', "line 3: a quote is never closed, or text follows the closing"),
        ('a,b\n1,"x\n2,"y\n', "line 2: a quote is never closed, or text follows the closing"),
        ('a,b\n"x"y,1\n', "line 2: a quote is never closed, or text follows the closing"),
        (b"a,caf\xe9\n1,2\n", "line 1: not UTF-8 text; save the file as UTF-8"),
        (b"a,b\n1,x\n2,caf\xe9\n", "line 3: not UTF-8 text; save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), r"table.csv is UTF-16 text: save it as UTF-8 \("),
        ("a,b\n1,2\n".encode("utf-16-le"), "line 1: a zero byte, which no text holds: the file"),
        ("a,b\n1,2\n".encode("utf-16-be"), "line 1: a zero byte"),
        ("a,b\r\n1,2\r\n3\0,4\r\n", "line 3: a zero byte"),
        ("sep=;\n", "table.csv: the second line is empty, and must name the columns"),
        ("sep=;\na;b\n1;2\n3\n", "line 4: 1 field"),
        ('sep=;\n"a;b\n', "line 2: a quote is never closed"),
        (b"sep=;\nb;caf\xe9\n1;2\n", "line 2: not UTF-8 text"),
        ("sep=;\na,b\n1,2\n", "line 2: the header 'a,b' looks separated by ','"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(write, content, message):
    with pytest.raises(FileError, match=message):
        jn.read_table(write(content))


def test_a_broken_line_far_down_is_found(write):
    rows = "1,2\n" * 100_000
    with pytest.raises(
        FileError, match="line 100002: 3 fields, but the columns that the header names are 2"
    ):
        jn.read_table(write(f"a,b\n{rows}1,2,3\n{rows}"))


def test_faults_beside_a_long_field_are_found(write):
    long = "x" * 200_000
    with pytest.raises(
        FileError, match="line 3: 1 field, but the columns that the header names are 2"
    ):
        jn.read_table(write(f"a,b\n{long},1\n2\n"))
    with pytest.raises(FileError, match="line 3: a quote is never closed"):
        jn.read_table(write(f'a,b\n{long},5" disk\n2,"\n'))


def test_faults_behind_a_row_longer_than_a_block_are_told(write, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 1000)
    rows = "1,2\n" * 400
    with pytest.raises(FileError, match="line 403: 3 fields, but the columns"):
        jn.read_table(write(f"a,b\n{rows}{'x' * 5000},1\n1,2,3\n{rows}"))
    with pytest.raises(FileError, match="line 403: not UTF-8 text"):
        jn.read_table(write(f"a,b\n{rows}{'x' * 5000},1\n".encode() + b"\xff,2\n"))


def test_two_columns_of_one_name_are_refused(write):
    with pytest.raises(DataError, match=r"table.csv names the column 'a' twice: rename one"):
        jn.read_table(write("a,b,a\n1,2,3\n"))


def test_columns_aligned_by_spaces_are_refused(write):
    with pytest.raises(
        FileError, match="line 1: several spaces in a row; use one, a tab or a comma"
    ):
        jn.read_table(write("a   b\n1   2\n", "t.txt"))
