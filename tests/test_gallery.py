"""The scripts in examples/ run, and end in a table."""

import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs_and_prints_a_table(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # some write a picture
    runpy.run_path(str(script), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 3
