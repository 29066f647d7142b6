"""The runner: all kinds of tasks, killed after any number of steps, resume to the same bits."""

import threading
from typing import NamedTuple

import numpy as np
import pytest
from models import cases
from q_graph.chains.cases import make_case

import jensen as jn
from jensen.data import Table
from jensen.exceptions import FileError
from jensen.free_energy import EM, GIBBS, state_at
from jensen.models.discrete_network import Tables
from jensen.q_graph.bootstrap import ReplicateTask
from jensen.q_graph.chains.graph_chains import ChainPlan, GraphChainTask
from jensen.q_graph.chains.kinds import KINDS
from jensen.runs import checkpoint as checkpoints
from jensen.runs import runner
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.restarts import AscentTask, Job, SamplingTask
from jensen.runs.runner import Task, number_streams, run
from jensen.support.fields import leaves, record


@record
class Walk(NamedTuple):
    """Where a walker of these tests is."""

    place: float
    n_steps: int


class WalkTask(Task[Walk]):
    """A random walk; every second step gives a row."""

    width = 2
    steps_at_once = None

    def __init__(self, n_steps=9):
        self.n_steps = self.last = n_steps

    def begin(self, number, streams):
        return Walk(float(number), 0)

    def advance(self, number, state, streams, n):
        rows = []
        for _ in range(n):
            state = Walk(state.place + streams(state.n_steps).normal(), state.n_steps + 1)
            if state.n_steps % 2 == 0:
                rows.append([state.n_steps, state.place])
        return state, np.array(rows) if rows else None

    def is_done(self, state):
        return state.n_steps >= self.last


def learning_job(algorithm, prior):
    case = cases.random_case(11)
    model, units = case.model(prior), case.encoded().units

    def begin(k, streams):
        counts = streams().uniform(0.1, 3.0, int(case.wiring.fam_at[-1]))
        return state_at(
            model, units, algorithm, Tables(counts), None if algorithm.ascends else streams
        )

    return Job(model, units, algorithm, begin)


def ascents():
    return AscentTask(learning_job(EM, None), max_iter=6, tol=1e-9)


def parameter_chains():
    job = learning_job(GIBBS, 1.0)
    width = int(job.model.wiring.fam_at[-1])
    return SamplingTask(job, lambda state: state.stats.tables, width, 3, 2, 2)


def graph_chains(kind, n_temperatures=1):
    case = make_case(4, 2, 2)
    plan = ChainPlan(3, 4, 6, 2, n_temperatures)
    return GraphChainTask(KINDS[kind], case.raw, plan, np.zeros((4, 4), bool))


def replicates():
    return ReplicateTask(TABLE, {"score": "bic"}, cpdag=True, rules=None)


TABLE = Table({"a": [0, 0, 1, 1, 1, 0], "b": [0, 1, 1, 1, 0, 0], "c": [0, 1, 0, 1, 1, 0]})

TASKS = {
    "walks": (WalkTask, True),
    "ascents": (ascents, False),
    "parameter chains": (parameter_chains, False),
    "orders": (lambda: graph_chains("order"), True),
    "partitions": (lambda: graph_chains("partition"), True),
    "graphs": (lambda: graph_chains("structure"), True),
    "tempered": (lambda: graph_chains("partition", 3), True),
    "replicates": (replicates, False),
}
"""Every kind of task, and whether its tasks advance side by side; a new kind joins here."""


def go(name, path=None, n=3, seed=5):
    make, in_step = TASKS[name]
    file = None if path is None else Checkpoint(path, name)
    streams = number_streams(np.random.default_rng(seed), n)
    return run(make(), streams, checkpoint=file, in_step=in_step)


def to_bytes(value):
    """All that a state holds, as bits."""
    return [np.asarray(leaf).tobytes() for leaf in leaves((value,)) if leaf is not None]


def assert_same(one, other):
    assert one.was_stopped == other.was_stopped
    for a, b in zip(one.states, other.states, strict=True):
        assert to_bytes(a) == to_bytes(b)
    for a, b in zip(one.rows, other.rows, strict=True):
        assert a.tobytes() == b.tobytes()


class Killed(BaseException):
    """Like a signal: nobody catches it."""


@pytest.fixture
def kill_after(monkeypatch):
    """Run something that dies when some calls of `advance` were made, on whatever thread."""
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", -1.0)
    monkeypatch.setattr(runner, "BLOCK_SECONDS", -1.0)

    def attempt(kind, n, work):
        """Whether it was killed."""
        calls, advance, lock = [0], kind.advance, threading.Lock()

        def counted(*given):
            with lock:
                if calls[0] == n:
                    raise Killed
                calls[0] += 1
            return advance(*given)

        with monkeypatch.context() as patch:
            patch.setattr(kind, "advance", counted)
            try:
                work()
            except Killed:
                return True
        return False

    return attempt


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", TASKS)
def test_killed_after_any_number_of_steps_and_resumed(name, threads, tmp_path, kill_after):
    jn.set_threads(threads)
    expected, kind = go(name), type(TASKS[name][0]())
    assert not expected.was_stopped
    n, was_killed = 0, True
    while was_killed:
        path = tmp_path / f"run {n}"
        was_killed = kill_after(kind, n, lambda: go(name, path))  # noqa: B023
        assert_same(go(name, path), expected)
        n += 1
    assert n > 3


@pytest.mark.parametrize("name", TASKS)
def test_killed_again_and_again(name, tmp_path, kill_after):
    jn.set_threads(1)
    expected, kind = go(name), type(TASKS[name][0]())
    n_kills, n_calls = 0, 5 if TASKS[name][1] else 2  # three make a round of all tasks
    while kill_after(kind, n_calls, lambda: go(name, tmp_path / "run")):
        n_kills += 1
        assert n_kills < 100
    assert n_kills >= 1
    assert_same(go(name, tmp_path / "run"), expected)


@pytest.mark.parametrize("name", TASKS)
def test_a_finished_run_makes_no_step(name, tmp_path, kill_after):
    expected, kind = go(name, tmp_path / "run"), type(TASKS[name][0]())
    assert not kill_after(kind, 0, lambda: assert_same(go(name, tmp_path / "run"), expected))


@pytest.mark.parametrize("name", TASKS)
def test_neither_threads_nor_the_number_of_tasks_nor_the_pace_change_a_task(name, monkeypatch):
    expected = go(name)
    monkeypatch.setattr(runner, "BLOCK_SECONDS", -1.0)  # one step at a time
    for threads, n in ((1, 3), (2, 2), (2, 1)):
        jn.set_threads(threads)
        found = go(name, n=n)
        assert_same(found, runner.Outcome(expected.states[:n], expected.rows[:n], False))


def test_the_seed_of_the_file_is_used(tmp_path, caplog):
    first = go("walks", tmp_path / "run")
    with caplog.at_level("INFO", logger="jensen"):
        assert_same(go("walks", tmp_path / "run", seed=77), first)
    assert caplog.messages == ["resuming from the checkpoint"]


def test_a_state_is_saved_as_it_was(tmp_path):
    """The run goes on while another thread saves the state before."""
    ledger = runner._Ledger(WalkTask(), number_streams(np.random.default_rng(0), 2), None)
    ledger.bar = runner.tqdm(disable=True)
    ledger.note(0, Walk(0.5, 1), 1)
    notes, _ = ledger.content()
    ledger.note(0, Walk(0.7, 2), 1, np.array([[2.0, 0.7]]))
    assert notes["tasks"]["0"]["state"] == {"record": "Walk", "fields": [0.5, 1]}
    assert notes["tasks"]["0"]["steps"] == 1


def test_states_of_another_version_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "run"
    go("walks", path)

    def refuse(task, packed):
        raise ValueError

    monkeypatch.setattr(WalkTask, "unpack", refuse)
    with pytest.raises(FileError) as error:
        go("walks", path)
    assert str(error.value) == (
        f"cannot resume from {path}: another version of Jensen wrote it, whose states have other "
        f"fields or other sizes; delete the file or name another"
    )
