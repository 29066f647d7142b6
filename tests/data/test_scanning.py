"""Rows that are scanned are the rows of a table in memory, however they are cut into files."""

import errno
import gzip
import os
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jensen as jn
from jensen.data import blocks, number_rows, pieces, scanning
from jensen.exceptions import DataError, FileError
from jensen.models import mixture

TEXTS = {
    "labels and numbers": "a,b,c\nx,1,1.5\ny,2,-2\n,3,\nx,,0.25\n",
    "labels after numbers": "a,b\n1,1.0\n2,1\n3,2.0\nlast,3\n",
    "one number in two spellings": "a,b\n1,x\n1.0,y\n2,x\n01.5,y\n",
    "zeros in front": "a,b\n1,x\n2,y\n01,y\n",
    "identifiers": "a,b\n1,x\n9007199254740993,y\n",
    "large whole numbers beside fractions": "a,b\n1.5,x\n9007199254740993,y\n",
    "nothing at first": "a,b\n,1\n,2\n,3\nx,4\n",
    "nothing, then numbers": "a,b\n,x\n,y\n0.5,y\n",
    "nothing at all": "a,b\n,x\n,y\n",
    "dates": "a,b\n2020-01-02,1\n2020-01-03,2\n",
    "quotes": 'a,b\n"x, and\ny",1\n"z ""q""",2\n"",3\n',
    "line breaks of two letters": "a,b\r\nx,1\r\ny,2\r\n",
    "truth values": "a,b\nTRUE,1\nFALSE,2\n,3\n",
    "one column": "a\nx\n\ny\n",
    "semicolons": "a;b\nx;1\ny;2\n",
}


def same(scan, table):
    """The same variables, and the same values."""
    assert scan.variables == table.variables
    assert scan.n_rows == table.n_rows
    assert scan.names == table.names
    whole = scan.gather(scan.names)
    for name in table.names:
        mine, other = whole.column(name).data, table.column(name).data
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    weights = [block.weights for block in scan.blocks()]
    expected = np.ones(table.n_rows) if table.weights is None else table.weights
    np.testing.assert_array_equal(np.concatenate(weights), expected)


@pytest.mark.filterwarnings("ignore::jensen.DataWarning")
@pytest.mark.parametrize("n_bytes", [1, 7, 1 << 24])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_in_pieces_reads_as_the_whole(tmp_path, monkeypatch, text, n_bytes):
    monkeypatch.setattr(pieces, "TEXT_BYTES", n_bytes)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    same(jn.scan_table(path), jn.read_table(path))


CELL = st.sampled_from(["", "1", "2", "1.0", "-3", "0.5", "x", "y z", "01", "1e3", "NA", "7" * 17])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.filterwarnings("ignore::jensen.DataWarning")
@given(
    rows=st.lists(st.tuples(CELL, CELL), min_size=2, max_size=30),
    cuts=st.sets(st.integers(1, 29), max_size=3),
    seed=st.integers(0, 10**6),
)
def test_any_cut_into_files_reads_as_one(tmp_path, rows, cuts, seed):
    folder = tmp_path / str(seed)
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    ends = [*sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    for k, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
        text = "".join(f"{a},{b}\n" for a, b in rows[start:stop])
        (folder / f"part {k}.csv").write_text("first,second\n" + text)
    whole = tmp_path / "whole.csv"
    whole.write_text("first,second\n" + "".join(f"{a},{b}\n" for a, b in rows))
    same(jn.scan_table(folder), jn.read_table(whole))


def mixed(n=5000):
    rng = np.random.default_rng(0)
    label = np.array(["low", "mid", None, "high"], object)[rng.integers(0, 4, n)]
    number = rng.normal(size=n)
    number[::7] = np.nan
    return {
        "label": label,
        "number": number,
        "count": rng.poisson(30.0, n),
        "few": rng.integers(0, 3, n),
    }


def test_parquet_by_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_ROWS", 701)
    table = pa.table(mixed())
    for k in range(12):  # 10 comes after 9
        pa.parquet.write_table(
            table[k * 420 : (k + 1) * 420], tmp_path / f"{k}.parquet", row_group_size=97
        )
    same(jn.scan_table(tmp_path / "*.parquet"), jn.Table(table[: 12 * 420]))
    in_order = [tmp_path / f"{k}.parquet" for k in range(12)]
    same(jn.scan_table(in_order), jn.Table(table[: 12 * 420]))


def test_what_streams_arrow(tmp_path):
    import polars

    table = pa.table(mixed())
    expected = jn.Table(table)
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    same(jn.scan_table(pa.dataset.dataset(tmp_path / "rows.parquet")), expected)
    same(jn.scan_table(polars.scan_parquet(tmp_path / "rows.parquet")), expected)
    same(jn.scan_table(table.to_reader(300)), expected)


def test_what_the_caller_says(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,n\n1,2,low,1\n2,9,?,2\n1,3,high,0.5\n")
    said = {
        "continuous": ["a"],
        "counts": ["b"],
        "states": {"c": ["low", "mid", "high"]},
        "missing": ["?"],
        "weights": "n",
    }
    same(jn.scan_table(path, **said), jn.read_table(path, **said))


def test_all_numbers_as_measurements(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d\n1,01,low,\n2,02,,\n1,03,high,\n")
    rows = jn.scan_table(path, continuous="all", counts=["a"])
    assert [v.kind for v in rows.variables] == ["count", "continuous", "categorical", "categorical"]
    same(rows, jn.read_table(path, continuous="all", counts=["a"]))


def test_compressed_text(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"x,1.5\ny,2\n" * 1000))
    same(jn.scan_table(path), jn.read_table(path))


@pytest.mark.parametrize(
    "learn",
    [
        lambda rows: jn.learn_structure(rows, score="bic"),
        lambda rows: jn.score(
            "smoke -> lung; smoke -> bronc", rows.select(["smoke", "lung", "bronc"]), "bdeu"
        ),
        lambda rows: (
            jn.BayesianNetwork("smoke -> lung; smoke -> bronc", prior="bdeu").fit(rows).free_energy_
        ),
        lambda rows: (
            jn.BayesianNetwork(
                "H -> lung; H -> bronc; H -> xray", hidden={"H": 2}, random_state=0, max_iter=5
            )
            .fit(rows)
            .free_energy_
        ),
        lambda rows: jn.structure_posterior(
            rows.select(["smoke", "lung", "xray"]), "exact"
        ).edge_probability("smoke", "lung"),
    ],
    ids=["search", "score", "counts", "hidden", "posterior"],
)
@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_learners_give_the_same_bits(tmp_path, monkeypatch, learn):
    monkeypatch.setattr(blocks, "UNIT_ROWS", 64)
    table = jn.examples.load("asia").sample(500, random_state=0)
    table.write(tmp_path / "rows.parquet")
    assert learn(jn.scan_table(tmp_path / "rows.parquet")) == learn(table)


def test_numbers_give_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "UNIT_ROWS", 64)
    monkeypatch.setattr(number_rows, "SUMMED_ROWS", 64)
    monkeypatch.setattr(mixture, "UNIT_ROWS", 64)
    rng = np.random.default_rng(1)
    table = jn.Table({"x": rng.normal(size=300), "y": rng.normal(size=300)})
    table.write(tmp_path / "rows.parquet")
    rows = jn.scan_table(tmp_path / "rows.parquet")
    mine, other = (jn.GaussianMixture(2, random_state=0).fit(x) for x in (rows, table))
    assert mine.free_energy_ == other.free_energy_


# --- the folder ---


def test_a_spill_folder_is_used_again(tmp_path, monkeypatch):
    path, spill = tmp_path / "rows.csv", tmp_path / "spill"
    path.write_text("a,b\nx,1.5\ny,2.5\n")
    first = jn.scan_table(path, spill=spill)
    assert sorted(x.name for x in spill.iterdir()) == ["0.column", "1.column", "columns.json"]
    monkeypatch.setattr(scanning, "_decode", None)  # nothing is decoded again
    same(jn.scan_table(path, spill=spill), first.gather(first.names))
    monkeypatch.undo()
    same(
        jn.scan_table(path, spill=spill, categorical=["b"]), jn.read_table(path, categorical=["b"])
    )
    path.write_text("a,b\nz,1.5\ny,2.5\nx,0.5\n")
    os.utime(path, (0, 0))
    same(jn.scan_table(path, spill=spill), jn.read_table(path))
    (spill / "0.column").write_bytes(b"\0")  # cut short: decoded again
    same(jn.scan_table(path, spill=spill), jn.read_table(path))


def test_a_scan_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(scanning.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = tmp_path / "rows.csv"
    path.write_text("a,b\nx,1.5\ny,2.5\n")
    rows = jn.scan_table(path)
    assert not list((tmp_path / "temporary").iterdir())
    assert rows.n_missing() == {}
    path.write_text("a,b\nx\n")
    with pytest.raises(FileError, match="1 field, but the columns that the header names are 2"):
        jn.scan_table(path)
    assert not list((tmp_path / "temporary").iterdir())


def test_a_scan_prints_like_a_table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\nx,1.5\n,2.5\n")
    assert repr(jn.scan_table(path)).splitlines() == [
        "TableScan: 2 rows, 2 columns, 1 value missing",
        "  a  categorical  x  1 missing",
        "  b  continuous",
    ]


# --- what is refused ---


def test_files_with_other_columns(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\nx,1\n")
    (tmp_path / "2.csv").write_text("b,a\n1,x\n")
    assert jn.scan_table(tmp_path).n_rows == 2
    (tmp_path / "3.csv").write_text("a,c\nx,1\n")
    with pytest.raises(DataError, match=r"3\.csv has no column 'b' and a column 'c' more, unlike "):
        jn.scan_table(tmp_path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("change", ["grows", "goes"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, suffix, change):
    """Or goes away: seven are there when the scan begins, and nothing is left of it."""
    monkeypatch.setattr(pieces, "TEXT_BYTES", 8)
    monkeypatch.setattr(pieces, "PIECE_ROWS", 4)
    rows = jn.Table({"a": list("xyxyxyxyxy"), "b": np.arange(10) / 3.0})
    files = [tmp_path / f"{k}.{suffix}" for k in range(7)]
    for file in files:
        rows.write(file)
    added, n_seen = scanning.ColumnDraft.add, 0

    def add(self, raw):
        nonlocal n_seen
        n_seen += 1
        if n_seen == 3:
            if change == "goes":
                files[6].unlink()
            else:
                files[0].write_bytes(files[0].read_bytes() + b"x,2.5\n")
        return added(self, raw)

    monkeypatch.setattr(scanning.ColumnDraft, "add", add)
    text = rf"0\.{suffix} changed while it was read: scan it again"
    if change == "goes":
        text = rf"cannot read .*6\.{suffix}: No such file .*; it was there when the scan began"
    with pytest.raises(FileError, match=text):
        jn.scan_table(tmp_path, spill=tmp_path / "spill")
    assert not [*(tmp_path / "spill").iterdir()]


def test_a_disk_that_is_full_is_told_and_nothing_is_left(tmp_path, monkeypatch):
    """What was decoded before with the same files stays."""
    rows = jn.Table({"a": list("xyxyxyxyxy"), "b": np.arange(10) / 3.0})
    rows.write(tmp_path / "rows.csv")
    folder = tmp_path / "spill"
    jn.scan_table(tmp_path / "rows.csv", spill=folder)
    listed = sorted(x.name for x in folder.iterdir())
    opened = pathlib.Path.open

    def full(self, *words, **more):
        if self.suffix == ".column" and "ab" in words:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(self, *words, **more)

    rows.rows(0, 5).write(tmp_path / "rows.csv")
    monkeypatch.setattr(pathlib.Path, "open", full)
    with pytest.raises(FileError, match=r"cannot write decoded columns to .*: No space left on"):
        jn.scan_table(tmp_path / "rows.csv", spill=folder)
    assert sorted(x.name for x in folder.iterdir()) == listed


def test_faults_are_told_with_their_line(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "TEXT_BYTES", 8)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "x,1\n" * 9 + "x\n" + "x,2\n" * 9)
    with pytest.raises(FileError, match=r"rows\.csv, line 11: 1 field, but"):
        jn.scan_table(path)
    path.write_bytes(b"a,b\n" + b"x,1\n" * 9 + b"\xff,1\n")
    with pytest.raises(FileError, match=r"rows\.csv, line 11: not UTF-8 text"):
        jn.scan_table(path)
    path.write_bytes(b"a,b\n" + b"x,1\n" * 9 + b"\0,1\n")
    with pytest.raises(FileError, match=r"rows\.csv, line 11: a zero byte"):
        jn.scan_table(path)
    path.write_text("a,b\n" + "x,1\n" * 9 + "x,no\n")
    with pytest.raises(DataError, match="column 'b' cannot be continuous: row 10 holds 'no'"):
        jn.scan_table(path, continuous=["b"])
    path.write_text("a,b\n" + "x,1\n" * 9 + "x,-1\n")
    with pytest.raises(DataError, match="column 'b' cannot be counts: row 10 holds -1"):
        jn.scan_table(path, counts=["b"])
    with pytest.raises(DataError, match="the weight of row 10 is -1"):
        jn.scan_table(path, weights="b")


@pytest.mark.parametrize(
    ("text", "said", "error"),
    [
        ("a;b\nx;1,5\ny;2,5\n", {}, "column 'b' holds numbers with commas, such as '1,5': say"),
        ("a,b\nx,1\n", {"continuous": ["c"]}, "there is no column 'c'"),
        ("a,b\nx,1\n", {"weights": "c"}, "there is no column 'c'"),
        ("a,b\nx,1\n", {"weights": "b", "counts": ["b"]}, "column 'b' holds the weights, so it"),
        ("a,b\n", {}, "has no rows: its first line names columns, and nothing follows"),
        ('a,b\nx,"1\n', {}, "a quote is never closed"),
    ],
)
def test_texts_that_are_refused(tmp_path, text, said, error):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(jn.JensenError, match=error):
        jn.scan_table(path, **said)


def test_decimal_commas_that_are_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a;b\nx;1,5\ny;2,5\n")
    same(jn.scan_table(path, decimal=","), jn.read_table(path, decimal=","))


def test_sources_that_are_refused(tmp_path):
    with pytest.raises(FileError, match=r"no file fits the pattern '.*rows\*\.csv'"):
        jn.scan_table(str(tmp_path / "rows*.csv"))
    with pytest.raises(FileError, match="holds no CSV, TSV or Parquet file"):
        jn.scan_table(tmp_path)
    with pytest.raises(FileError, match="there is no file"):
        jn.scan_table(tmp_path / "rows.csv")
    with pytest.raises(DataError, match="cannot scan a dict: give paths of CSV, TSV or Parquet"):
        jn.scan_table({"a": [1, 2]})
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(FileError, match="is no whole Parquet file"):
        jn.scan_table(tmp_path / "rows.parquet")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("a\nb\n")
    with pytest.raises(
        FileError, match=r"holds other things \(mine\.txt\): give an empty or a new"
    ):
        jn.scan_table(tmp_path / "other" / "mine.txt", spill=tmp_path / "other")
