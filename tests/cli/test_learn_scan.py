"""`jensen learn --scan`: files that are read piece by piece teach what a table in memory does."""

from pathlib import Path

import pytest

import jensen as jn
from jensen.data import pieces


@pytest.fixture(autouse=True)
def files(monkeypatch):
    """A file, and the same rows in three files of a folder."""
    monkeypatch.setattr(pieces, "TEXT_BYTES", 4096)
    table = jn.examples.load("cancer").sample(600, random_state=0)
    table.write("rows.csv")
    Path("parts").mkdir()
    for k in range(3):
        table.rows(200 * k, 200 * (k + 1)).write(f"parts/{k}.csv")


def test_a_graph_and_its_tables(run):
    assert run("learn", "rows.csv", "--score", "bic", "-o", "whole.json").code == 0
    scanned = run("learn", "parts/*.csv", "--scan", "--score", "bic", "-o", "scanned.json")
    assert scanned.code == 0
    assert Path("scanned.json").read_text() == Path("whole.json").read_text()


def test_hidden_variables(run):
    words = ("--graph", "H -> Xray; H -> Dyspnoea", "--hidden", "H=2", "--seed", "0", "-o")
    assert run("learn", "rows.csv", *words, "whole.json").code == 0
    assert run("learn", "parts", "--scan", *words, "scanned.json").code == 0
    assert Path("scanned.json").read_text() == Path("whole.json").read_text()


def test_what_is_refused(refuse):
    assert refuse("learn", "parts").endswith(
        "is a folder: give a file; --scan reads the files in it"
    )
    assert refuse("learn", "no*.csv", "--scan") == "no file fits the pattern 'no*.csv'"
    line = refuse("learn", "rows.csv", "--scan", "--discretize", "Xray=3")
    assert line == "--scan and --discretize do not go together: discretize the files before"
