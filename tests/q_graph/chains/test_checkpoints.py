"""Runs that are killed, stopped and resumed: the samples are those of a run that never was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import FileError, StoppedError
from jensen.q_graph.chains import graph_chains
from jensen.q_graph.chains.graph_chains import GraphChainTask
from jensen.runs import checkpoint, runner

SETTINGS = {
    "partition": {"thin": 40},
    "order": {"thin": 40},
    "structure": {"thin": 101},
    "hot": {"method": "partition", "thin": 40, "temperatures": 3},
    "weighted": {"method": "order", "thin": 40, "prior": "uniform"},
}
"""Small runs of every kind."""


def sample(name, table=None, **changes):
    given = {"method": name, "n_samples": 120, "n_chains": 2, "burn_in": 2000, "random_state": 3}
    given |= {"candidates": 2} | SETTINGS[name] | changes
    return jn.structure_posterior(make_table() if table is None else table, **given)


def make_table():
    rng = np.random.default_rng(0)
    a, b, noise = rng.integers(0, 2, (3, 60))
    return {"a": a, "b": b, "c": a ^ b, "d": a | noise, "e": noise}


def same(one, other):
    """Whether two posteriors have the same samples, to the last bit."""
    fields = ("sets", "graphs", "which", "scores", "states")
    return all(
        np.array_equal(getattr(one.samples, field), getattr(other.samples, field))
        for field in fields
    ) and np.array_equal(one.edge_matrix, other.edge_matrix)


@pytest.fixture
def often(monkeypatch):
    """A checkpoint after every round."""
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", -1.0)
    monkeypatch.setattr(runner, "BLOCK_SECONDS", -1.0)


class Stopped(Exception):
    pass


def on_every_round(do, monkeypatch):
    """Call a function before and after every round of the first chain."""
    advance = GraphChainTask.advance

    def watched(task, number, state, *given):
        if number == 0:
            do("before")
        found = advance(task, number, state, *given)
        if number == 0:
            do("after")
        return found

    monkeypatch.setattr(GraphChainTask, "advance", watched)


def stop_after(left, monkeypatch):
    """Fail when so many rounds were made."""

    def count(when):
        left[0] -= when == "after"
        if left[0] == 0:
            raise Stopped

    on_every_round(count, monkeypatch)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("name", SETTINGS)
def test_stopped_again_and_again(name, often, monkeypatch, tmp_path):
    expected = sample(name)
    path, left = tmp_path / "run", [0]
    stop_after(left, monkeypatch)
    rng, n_stops = np.random.default_rng(1), 0
    while True:
        left[0] = int(rng.integers(2, 60))  # the last round is lost each time
        try:
            found = sample(name, checkpoint=path)
            break
        except Stopped:
            n_stops += 1
    assert n_stops > 1
    assert same(found, expected)
    for move, counts in expected.moves.items():
        np.testing.assert_array_equal(found.moves[move], counts)


KILLED = """
import sys, threading, time
from jensen.runs import checkpoint
from jensen.runs import runner
from jensen.q_graph.chains.graph_chains import GraphChainTask
checkpoint.EVERY_SECONDS = runner.BLOCK_SECONDS = -1.0
advance = GraphChainTask.advance
def slowly(task, *given):
    time.sleep(0.005)
    return advance(task, *given)
GraphChainTask.advance = slowly
sys.path.insert(0, sys.argv[1])
from q_graph.chains.test_checkpoints import SETTINGS, sample
def begin(name):
    sample(name, checkpoint=sys.argv[2] + name)
threads = [threading.Thread(target=begin, args=(name,)) for name in SETTINGS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_killed_in_the_middle(tmp_path):
    tests = Path(__file__).parents[2]
    command = [sys.executable, "-c", KILLED, str(tests), f"{tmp_path}{os.sep}"]
    files = [tmp_path / f"{name}.samples" for name in SETTINGS]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while not all(file.exists() and file.stat().st_size > 2000 for file in files):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    for name in SETTINGS:
        size = (tmp_path / f"{name}.samples").stat().st_size
        assert same(sample(name, checkpoint=tmp_path / name), sample(name))
        assert (tmp_path / f"{name}.samples").stat().st_size > size  # it was not at the end


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_finished_run_returns_at_once(name, monkeypatch, tmp_path):
    first = sample(name, checkpoint=tmp_path / "run")
    monkeypatch.setattr(GraphChainTask, "advance", None)
    assert same(sample(name, checkpoint=tmp_path / "run"), first)


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_without_a_seed_a_run_goes_on_from_its_file(tmp_path):
    first = sample("partition", random_state=None, checkpoint=tmp_path / "run")
    again = sample("partition", random_state=None, checkpoint=tmp_path / "run")
    assert same(first, again)
    assert not same(first, sample("partition", random_state=None))


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize(
    "changes",
    [
        {"n_samples": 121}, {"n_chains": 3}, {"burn_in": 2041}, {"thin": 41}, {"temperatures": 2},
        {"random_state": 4}, {"random_state": None}, {"candidates": 3}, {"outside": 1},
        {"prior": "fair"}, {"prior": {("a", "b"): 0.3}}, {"max_parents": 1}, {"method": "order"},
        {"method": "structure"}, {"equivalent_sample_size": 2.0}, {"score": "bic"},
        {"required": [("a", "b")]}, {"forbidden": [("a", "b")]}, {"tiers": [["a"], ["b"]]},
        {"table": {**make_table(), "e": make_table()["a"]}},
        {"table": {("f" if key == "e" else key): v for key, v in make_table().items()}},
    ],
)  # fmt: skip
def test_another_run_is_refused(changes, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "one run"
    if not path.exists():
        sample("partition", checkpoint=path)
    with pytest.raises(FileError, match="belongs to another run, with other data or other setting"):
        sample("partition", checkpoint=path, **changes)


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_a_chain_that_counts_other_moves_is_refused(tmp_path, monkeypatch):
    """A kernel would write its last count beyond the array."""
    sample("order", checkpoint=tmp_path / "run")

    class WithFewerMoves(checkpoint.Checkpoint):
        def __init__(self, *given):
            super().__init__(*given)
            for name, array in self.content.arrays.items():
                self.content.arrays[name] = array[:2] if array.shape == (3,) else array

    monkeypatch.setattr(graph_chains, "Checkpoint", WithFewerMoves)
    with pytest.raises(FileError, match="another version of Jensen wrote it, whose states have "):
        sample("order", checkpoint=tmp_path / "run")


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_damaged_files_are_refused(tmp_path):
    path, samples = tmp_path / "run", tmp_path / "run.samples"
    sample("partition", checkpoint=path)
    whole, rows = path.read_bytes(), samples.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(FileError, match="cut short or damaged"):
        sample("partition", checkpoint=path)
    path.write_bytes(b"a letter\n")
    with pytest.raises(FileError, match="no checkpoint of Jensen"):
        sample("partition", checkpoint=path)
    path.write_bytes(whole)
    middle = bytearray(rows)
    middle[len(rows) // 2] ^= 4
    samples.write_bytes(middle)
    with pytest.raises(FileError, match=r"sample \d+ of 240 is damaged, and all that follows"):
        sample("partition", checkpoint=path)
    samples.unlink()
    with pytest.raises(FileError, match="cannot resume without"):
        sample("partition", checkpoint=path)


def interrupt_after(n_rounds, monkeypatch):
    """Ctrl-C while a round is made."""
    left = [n_rounds]

    def count(when):
        left[0] -= when == "before"
        if left[0] == 0 and when == "before":
            signal.raise_signal(signal.SIGINT)

    on_every_round(count, monkeypatch)
    jn.set_threads(1)


@pytest.fixture(autouse=True)
def _usual_threads_and_handler():
    """A job in the background inherits that the signal is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    jn.set_threads(None)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("name", SETTINGS)
def test_ctrl_c_returns_what_there_is(name, often, monkeypatch, tmp_path):
    expected = sample(name)
    n_burns = {"order": 50, "weighted": 50, "structure": 20}.get(name, 50)
    with monkeypatch.context() as patch:
        interrupt_after(n_burns + 30, patch)
        found = sample(name, checkpoint=tmp_path / "run")
    assert found.samples.which.shape == (2, 30)
    assert found.interrupted
    assert found.convergence.interrupted
    words = f"2 chains of 30 samples (interrupted before {expected.samples.which.shape[1]})"
    assert words in repr(found)
    assert words in repr(found.convergence)
    assert not expected.interrupted
    assert "interrupted" not in repr(expected)
    np.testing.assert_array_equal(found.samples.scores, expected.samples.scores[:, :30])
    resumed = sample(name, checkpoint=tmp_path / "run")
    assert same(resumed, expected)
    assert not resumed.interrupted


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_ctrl_c_before_the_first_sample(often, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        interrupt_after(5, patch)
        with pytest.raises(StoppedError, match="stopped before the first sample: burn-in was not"):
            sample("partition", checkpoint=tmp_path / "run")
    assert same(sample("partition", checkpoint=tmp_path / "run"), sample("partition"))


INTERRUPTED = """
import sys
import signal
from jensen.q_graph.chains.graph_chains import GraphChainTask
sys.path.insert(0, sys.argv[1])
from q_graph.chains.test_checkpoints import sample
signal.signal(signal.SIGINT, signal.default_int_handler)
advance = GraphChainTask.advance
def tell(task, number, ladder, *given):
    found = advance(task, number, ladder, *given)
    if ladder.n_rounds == 0 and number == 0:
        print("begun", flush=True)
    return found
GraphChainTask.advance = tell
post = sample("partition", n_samples=10**7, burn_in=0)
print(post.samples.which.shape[1])
"""


@pytest.mark.slow
def test_ctrl_c_in_a_process():
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED, str(Path(__file__).parents[2])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        n_samples = process.stdout.read()
    assert process.returncode == 0
    assert 0 < int(n_samples) < 10**7


def warnings_of(caplog):
    """What was logged as a warning; news of a run that is taken up again are none."""
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def end_badly(path, how, rng):
    """Cut or change the end of a file of samples."""
    content = bytearray(path.read_bytes())
    if how == "cut":
        content = content[: -int(rng.integers(1, len(content) // 2))]
    elif how == "zeros":  # as a file system leaves a file that was not written to the disk
        n = int(rng.integers(1, len(content) // 2))
        content[-n:] = bytes(n)
    else:
        content[-int(rng.integers(1, 50))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("how", ["cut", "zeros", "bit"])
def test_samples_that_a_finished_run_has_lost_are_drawn_again(how, tmp_path, caplog):
    expected, rng = sample("order", checkpoint=tmp_path / "run"), np.random.default_rng(0)
    whole = (tmp_path / "run.samples").read_bytes()
    for _ in range(3):
        end_badly(tmp_path / "run.samples", how, rng)
        caplog.clear()
        assert same(sample("order", checkpoint=tmp_path / "run"), expected)
        (told,) = warnings_of(caplog)
        assert f"in {tmp_path / 'run.samples'} only " in told
        assert told.endswith("begins anew from its seed, and draws the same samples again")
        caplog.clear()
        assert same(sample("order", checkpoint=tmp_path / "run"), expected)
        assert warnings_of(caplog) == []
    assert (tmp_path / "run.samples").stat().st_size == len(whole)


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_lost_samples_of_a_run_without_a_seed_are_drawn_again(tmp_path, caplog):
    """The checkpoint keeps the seed, also of a run that was given none."""
    path = tmp_path / "run"
    expected = sample("order", checkpoint=path, random_state=None)
    os.truncate(f"{path}.samples", os.path.getsize(f"{path}.samples") - 1)
    assert same(sample("order", checkpoint=path, random_state=None), expected)
    assert "begins anew from its seed, and draws the same samples again" in caplog.messages[-1]


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_a_run_that_begins_anew_may_be_killed_too(often, monkeypatch, tmp_path):
    """The old state is never taken for that of the new samples."""
    path, left = tmp_path / "run", [10**9]
    expected = sample("order", checkpoint=path)
    os.truncate(f"{path}.samples", os.path.getsize(f"{path}.samples") - 1)

    stop_after(left, monkeypatch)
    for n in (1, 60, 100):
        left[0] = n
        with pytest.raises(Stopped):
            sample("order", checkpoint=path)
    left[0] = 10**9
    assert same(sample("order", checkpoint=path), expected)
