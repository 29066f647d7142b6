"""The scripts in examples/ run, and end in a table."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs_and_prints_a_table(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,  # some write a picture
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 3
