from typing import NamedTuple

import pytest

import jensen as jn
from jensen.cli import main

RAIN = "rain,wet\nno,no\nno,yes\nyes,yes\nyes,yes\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    """Run a command line in this process; that kernels are being compiled is no news."""

    def run_here(*arguments):
        code = main([str(word) for word in arguments])
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if not line.startswith("jensen: compiling")]
        return Done(code, out, "\n".join(lines))

    return run_here


@pytest.fixture
def refuse(run):
    """Run a command line that must fail, and answer with its one line of complaint."""

    def refuse_here(*arguments):
        done = run(*arguments)
        assert done.code == 2, done
        assert done.out == ""
        (line,) = done.err.splitlines()
        assert line.startswith("jensen: ")
        assert "Traceback" not in line
        return line.removeprefix("jensen: ")

    return refuse_here


@pytest.fixture
def rain(tmp_path):
    """A small table, `rain.csv` in the folder of the test."""
    (tmp_path / "rain.csv").write_text(RAIN)
    return "rain.csv"


@pytest.fixture
def asia(tmp_path):
    """The chest clinic, `asia.json` in the folder of the test."""
    jn.examples.load("asia").save(tmp_path / "asia.json")
    return "asia.json"


@pytest.fixture
def stdin(monkeypatch):
    """Give bytes to standard input."""
    import io
    import sys

    def give(content):
        content = content if isinstance(content, bytes) else content.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))

    return give
