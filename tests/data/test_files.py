"""Files by their suffix: text, Parquet, compressed; and what is told when they cannot be read."""

import bz2
import gzip
import os
import threading
from pathlib import PurePath

import pyarrow as pa
import pyarrow.parquet
import pytest
from naive import data as naive

import jensen as jn
from jensen.exceptions import DataError, FileError

TABLE = jn.Table({"a": ["x", None, "y"], "b": [0.5, 1.5, None]})
SUFFIXES = [".csv", ".tsv", ".tab", ".txt", ".dat", ".parquet", ".pq"]
COMPRESSIONS = ["", ".gz", ".bz2", ".zst", ".lz4", ".br"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read(tmp_path, suffix, compression):
    path = tmp_path / f"table{suffix}{compression}"
    TABLE.write(path)
    assert naive.plain(jn.read_table(path)) == naive.plain(TABLE)


@pytest.mark.parametrize("names", [["my name"], ["a;b", "c d"], ["a, b", "c\td"]])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".dat"])
def test_names_with_delimiters_are_read_as_written(tmp_path, suffix, names):
    jn.Table({name: ["x", "y z", "p;q"] for name in names}).write(tmp_path / f"t{suffix}")
    assert jn.read_table(tmp_path / f"t{suffix}").names == tuple(names)


@pytest.mark.parametrize("name", ["T.CSV", "T.Parquet", "T.CSV.GZ"])
def test_the_case_of_a_suffix_does_not_matter(tmp_path, name):
    TABLE.write(tmp_path / name)
    assert naive.plain(jn.read_table(tmp_path / name)) == naive.plain(TABLE)


def test_others_read_what_is_compressed(tmp_path):
    TABLE.write(tmp_path / "t.csv")
    plain = (tmp_path / "t.csv").read_bytes()
    for name, unpack in [("t.csv.gz", gzip.decompress), ("t.csv.bz2", bz2.decompress)]:
        TABLE.write(tmp_path / name)
        assert unpack((tmp_path / name).read_bytes()) == plain


def test_a_path_may_be_text_or_any_path_like(tmp_path):
    class Where(os.PathLike):
        def __fspath__(self):
            return str(tmp_path / "t.csv")

    TABLE.write(tmp_path / "t.csv")
    for path in (tmp_path / "t.csv", str(tmp_path / "t.csv"), Where(), PurePath(tmp_path, "t.csv")):
        assert jn.read_table(path).names == jn.Table(path).names == ("a", "b")


def test_choices_go_with_a_file(write):
    table = jn.read_table(
        write("x,n\n1,2\n?,3\n"), missing=["?"], states={"x": [2, 1]}, weights="n"
    )
    assert naive.plain(table) == {"x": (jn.Variable("x", "categorical", ("2", "1")), ["1", None])}
    assert table.weights.tolist() == [2.0, 3.0]


def test_a_dictionary_too_large_for_one_page_keeps_its_order(tmp_path):
    states = [f"{k % 7}-{'x' * 50}-{k}" for k in range(40_000)]
    table = jn.Table({"x": states[::-1][:30_000]}, states={"x": states})
    table.write(tmp_path / "t.parquet")
    back = jn.read_table(tmp_path / "t.parquet")
    assert back.variable("x").states == tuple(states)
    assert naive.plain(back) == naive.plain(table)


# --- what cannot be read ---


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.csv.zip", "a,b\n1,2\n"])
def test_an_unknown_suffix(name):
    with pytest.raises(FileError, match=r"cannot tell the format of .*: a table ends in \.csv, "):
        jn.read_table(name)


def test_no_such_file(tmp_path):
    with pytest.raises(FileError, match=r"there is no file .*none\.csv"):
        jn.read_table(tmp_path / "none.csv")


def test_a_pipe_with_a_name_is_read_to_its_end(tmp_path):
    """As `<(command)` of a shell gives one: it has no size before it is read."""
    path = tmp_path / "rows.csv"
    os.mkfifo(path)
    text = "x,y\n" + "a,b\n" * 50_000
    writer = threading.Thread(target=path.write_text, args=(text,))
    writer.start()
    assert jn.read_table(path).n_rows == 50_000
    writer.join()


def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "a,b\n" * 50)
    told = os.stat_result((*path.stat()[:6], 60, *path.stat()[7:]))
    monkeypatch.setattr(os, "fstat", lambda number: told)
    assert jn.read_table(path).n_rows == 50


def test_a_name_too_long_for_the_system():
    with pytest.raises(FileError, match=r"cannot read x{200}\.\.\.: File name too long"):
        jn.read_table("x" * 5000 + ".csv")


@pytest.mark.parametrize("name", ["folder", "folder.csv"])
def test_a_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match="is a folder: give a file"):
        jn.read_table(tmp_path / name)


@pytest.mark.parametrize("cut", [4, 20, -5])
@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet.gz"])
def test_a_truncated_compressed_file(tmp_path, name, cut):
    TABLE.write(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[:cut])
    with pytest.raises(FileError, match=f"cannot read .*{name}: Truncated compressed stream"):
        jn.read_table(tmp_path / name)


def test_a_file_that_is_not_compressed_as_its_name_says(write):
    with pytest.raises(FileError, match=r"cannot read .*t\.csv\.gz: "):
        jn.read_table(write("a,b\n1,2\n", "t.csv.gz"))


@pytest.mark.parametrize("cut", [0, 3, 100, -1])
def test_a_truncated_parquet_file(tmp_path, cut):
    TABLE.write(tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[:cut])
    with pytest.raises(FileError, match=r"t\.parquet is no whole Parquet file: "):
        jn.read_table(tmp_path / "t.parquet")


def test_a_damaged_text_of_a_parquet_file(tmp_path):
    table = pa.table({"x": ["some text", "other text"]})
    pa.parquet.write_table(table, tmp_path / "t.parquet", compression="NONE")
    content = (tmp_path / "t.parquet").read_bytes().replace(b"some text", b"some t\xffxt")
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(FileError, match=r"t\.parquet is no whole Parquet file: .*[Uu][Tt][Ff]"):
        jn.read_table(tmp_path / "t.parquet")


def test_texts_of_a_parquet_file_keep_their_labels(tmp_path):
    columns = {"s": ["b", None, "a", "NA"], "n": [1.5, None, 2.5, 3.5], "large": list("xyxy")}
    table = pa.table(columns).cast(
        pa.schema([("s", pa.string()), ("n", pa.float64()), ("large", pa.large_string())])
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    found = jn.read_table(tmp_path / "t.parquet", missing=[])
    assert naive.plain(found) == naive.plain(jn.Table(columns, missing=[]))


# --- what would take too much memory ---


@pytest.fixture
def small_memory():
    jn.set_memory_limit(1 << 22)
    yield
    jn.set_memory_limit(None)


@pytest.mark.slow
@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_a_bomb_of_text_is_refused(tmp_path, small_memory, compression):
    path = tmp_path / f"bomb.csv{compression}"
    codec = {".gz": "gzip", ".zst": "zstd", ".br": "brotli"}.get(compression, compression[1:])
    with pa.output_stream(str(path), compression=codec) as file:
        file.write(b"a,b\n" + b"0,0\n" * (1 << 20))
    assert path.stat().st_size < 50_000
    with pytest.raises(
        FileError,
        match=r"bomb.csv.* unpacks to 2.0 MiB and more: reading it would take 8.0 MiB, more than "
        r"the limit of 4.0 MiB: give a smaller one, or raise it with jn.set_memory_limit",
    ):
        jn.read_table(path)


def test_a_bomb_of_columns_is_refused(tmp_path, small_memory):
    pa.parquet.write_table(pa.table({"x": [0.0] * (1 << 20)}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 50_000
    with pytest.raises(
        FileError, match=r"t.parquet has 1,048,576 rows: reading it would take 8.0 MiB, more than"
    ):
        jn.read_table(tmp_path / "t.parquet")


def test_many_rows_of_a_long_text_are_read_as_codes(tmp_path):
    pa.parquet.write_table(pa.table({"x": ["y" * 10_000] * 3000}), tmp_path / "t.parquet")
    assert jn.read_table(tmp_path / "t.parquet").variable("x").n_states == 1


def test_nested_columns_of_a_parquet_file(tmp_path):
    pa.parquet.write_table(pa.table({"x": [[1], [2]]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'x' holds list<"):
        jn.read_table(tmp_path / "t.parquet")


def test_read_table_reads_files_only():
    with pytest.raises(DataError, match=r"read_table reads a file, not dict: use jn\.Table"):
        jn.read_table({"x": [1]})


def test_names_do_not_go_with_a_file(write):
    with pytest.raises(DataError, match=r"names=\[...\] goes with a 2-D array"):
        jn.read_table(write("a,b\n1,2\n"), names=["c", "d"])


# --- what cannot be written ---


def test_writing_to_an_unknown_suffix(tmp_path):
    with pytest.raises(FileError, match="cannot tell the format of"):
        TABLE.write(tmp_path / "t.xlsx")


def test_writing_where_no_folder_is(tmp_path):
    with pytest.raises(FileError, match=r"cannot write .*t\.csv: there is no folder"):
        TABLE.write(tmp_path / "none" / "t.csv")


def test_writing_over_a_folder(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*t\.csv: it is a folder"):
        TABLE.write(tmp_path / "t.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz"])
def test_the_empty_label_does_not_go_into_a_text_file(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    with pytest.raises(DataError, match="column 'x' holds the empty label, which reads as missing"):
        jn.Table({"x": ["", "a"]}).write(path)
    assert not path.exists()
    with pytest.raises(DataError, match="'x' holds a label with a zero byte, which no text file"):
        jn.Table({"x": ["a\0", "a"]}).write(path)
    assert not path.exists()


def test_the_empty_label_goes_into_a_parquet_file(tmp_path):
    table = jn.Table({"x": ["", "a", None]})
    table.write(tmp_path / "t.parquet")
    assert naive.plain(jn.read_table(tmp_path / "t.parquet")) == naive.plain(table)


@pytest.mark.parametrize("suffix", [b".csv", b".csv.gz", b".parquet"])
def test_a_file_whose_name_is_no_utf_8(tmp_path, suffix):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff" + suffix)
    TABLE.write(path)
    assert jn.read_table(path).names == TABLE.names
    os.remove(path)
    with pytest.raises(FileError, match=r"there is no file '.*\\udcff"):
        jn.read_table(path)
