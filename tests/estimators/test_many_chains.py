"""More chains than threads: at a stop or a kill some are done, and some have not begun."""

import numpy as np
import pytest

import jensen as jn
from jensen import free_energy
from jensen.runs import checkpoint
from jensen.runs.restarts import join_chains

GRAPH = "H -> a; H -> b"
ROWS = {"a": [0, 0, 1, 1, 1, 0], "b": [0, 1, 1, 1, 0, 0]}


class Killed(Exception):
    """What a kill looks like from inside."""


def chains(n_chains=3, n_samples=30):
    return jn.BayesianNetwork(
        GRAPH,
        hidden={"H": 2},
        method="gibbs",
        prior=1.0,
        n_chains=n_chains,
        n_samples=n_samples,
        burn_in=5,
        random_state=3,
    )


@pytest.fixture(autouse=True)
def one_thread_and_every_sweep_saved(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    jn.set_threads(1)
    yield
    jn.set_threads(None)


def kill_after(monkeypatch, n_sweeps):
    left = [n_sweeps]
    real = free_energy.step

    def step(*arguments):
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return real(*arguments)

    monkeypatch.setattr(free_energy, "step", step)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("kills", [(50,), (80, 10), (50, 30), (60, 20), (90, 10), (50, 10, 30)])
def test_kills_after_some_chains_are_done(kills, tmp_path, monkeypatch):
    expected = chains().fit(ROWS).network_.samples
    path = tmp_path / "run"
    for n_sweeps in kills:
        with monkeypatch.context() as patch:
            kill_after(patch, n_sweeps)
            with pytest.raises(Killed):
                chains().fit(ROWS, checkpoint=path)
    assert np.array_equal(chains().fit(ROWS, checkpoint=path).network_.samples, expected)


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_a_finished_run_returns_at_once_however_often(tmp_path, monkeypatch):
    path = tmp_path / "run"
    expected = chains().fit(ROWS, checkpoint=path).network_.samples
    kill_after(monkeypatch, 0)
    sizes = set()
    for _ in range(3):
        assert np.array_equal(chains().fit(ROWS, checkpoint=path).network_.samples, expected)
        sizes.add(path.stat().st_size)
    assert len(sizes) == 1


def test_chains_that_were_not_begun_do_not_cost_the_others():
    rows = [
        np.array([[i, k] for i in range(n)], float).reshape(n, 2)
        for k, n in enumerate([10, 8, 2, 0])
    ]
    found = join_chains(rows, was_stopped=True)
    assert found.samples.shape == (2, 8, 1)
    assert found.samples[:, 0, 0].tolist() == [0.0, 1.0]
    assert found.trace.tolist() == [list(range(8))] * 2


@pytest.mark.parametrize("weight", [1e9, 1e14])
def test_weights_too_large_to_draw_row_by_row(weight):
    table = jn.Table(ROWS, weights=np.full(6, weight))
    with pytest.raises(jn.JensenError, match="drawing what is missing row by row for rows of weig"):
        chains().fit(table)
