"""The same through a real process: streams, pipes, exit codes."""

import json
import subprocess
import sys

import pytest

import jensen as jn

JENSEN = [sys.executable, "-m", "jensen"]


def run(*words, stdin=b"", **more):
    words = [str(word) for word in words]
    return subprocess.run([*JENSEN, *words], input=stdin, capture_output=True, check=False, **more)


def news(done):
    """Standard error without the announcement that kernels are compiled."""
    lines = done.stderr.decode().splitlines()
    return [line for line in lines if not line.startswith("jensen: compiling")]


@pytest.mark.slow
def test_a_pipe_of_commands(rain):
    with open(rain, "rb") as file:
        learned = run("learn", "-", "--graph", "rain -> wet", "-o", "-", stdin=file.read())
    assert (learned.returncode, news(learned)) == (0, [])
    asked = run("query", "-", "rain", "--given", "wet=no", "--json", stdin=learned.stdout)
    assert (asked.returncode, news(asked)) == (0, [])
    assert json.loads(asked.stdout)["probabilities"][0]["probability"] == 1.0
    drawn = run("sample", "-", "-n", 100, "--seed", 0, stdin=learned.stdout)
    assert (drawn.returncode, news(drawn)) == (0, [])
    assert drawn.stdout.startswith(b"rain,wet\n")
    scored = run("score", "rain -> wet", "-", "--json", stdin=drawn.stdout)
    assert json.loads(scored.stdout)["rows"] == 100.0


def test_exit_codes_and_one_line_of_complaint():
    done = run("show", "gone.json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert news(done) == ["jensen: cannot read gone.json: No such file or directory"]
    assert run("--version").stdout.decode().strip() == f"jensen {jn.__version__}"
    assert run().returncode == 0


def test_the_installed_command_is_the_module():
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from jensen.cli import main; sys.exit(main())", "x"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"jensen: No such command 'x'.")


@pytest.mark.parametrize("words", [["show", "asia.json"], ["sample", "asia.json", "-n", "200000"]])
def test_a_reader_that_has_seen_enough_is_no_error(asia, words):
    with subprocess.Popen(
        [*JENSEN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.read(1)
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 0
    assert b"Error" not in complaint


def test_a_full_disk_is_told_in_one_line(asia):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*JENSEN, "sample", asia, "-n", "10"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert news(done) == ["jensen: the system refused: No space left on device"]


@pytest.mark.slow
def test_nobody_is_told_to_wait_twice(asia):
    """Kernels are compiled once: the second run has them from the cache and says nothing."""
    run("sample", asia, "-n", 1)
    assert run("sample", asia, "-n", 1).stderr == b""
