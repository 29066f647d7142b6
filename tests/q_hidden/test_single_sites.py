"""Draws of one missing cell at a time, where a junction tree does not fit in memory."""

from itertools import combinations

import numpy as np
import pytest
from models import cases

import jensen as jn
from jensen import free_energy, q_hidden
from jensen.models.discrete_network import Tables
from jensen.q_hidden.trees.plans import Plans
from jensen.runs.checkpoint import Checkpoint

ONE_AT_A_TIME = "draws up to .* missing values of a row one at a time, each given all others"


@pytest.fixture
def few_fit(monkeypatch):
    """Only the trees of single cells fit."""
    monkeypatch.setattr(Plans, "fits", lambda self, words, begin, end: end - begin == 1)


@pytest.mark.parametrize("weights", [None, "whole", "parts"])
@pytest.mark.parametrize("seed", [0, 3, 4, 5])
def test_averages_of_sweeps_are_exact(weights, seed, few_fit):
    """Within five standard errors, which come from the means of fifty parts of the chain."""
    case = cases.random_case(seed, weights=weights)
    logs = np.log(cases.random_probabilities(np.random.default_rng(seed), case))
    model, units = case.model(None), case.encoded().units
    expected, _ = free_energy.expect(model, units, q_hidden.exact, Tables(logs))
    rng, memory, found = np.random.default_rng(1), (), []
    for _ in range(5000):
        sums, memory = free_energy.expect(
            model, units, q_hidden.draw, Tables(logs), lambda number: rng, memory
        )
        found.append(sums.stats.tables)
    assert any(states is not None for states in memory)
    parts = np.array(found).reshape(50, 100, -1).mean(1)
    error = parts.std(0, ddof=1) / np.sqrt(50)
    assert np.all(np.abs(parts.mean(0) - expected.stats.tables) <= 5 * error + 1e-9)
    np.testing.assert_allclose(np.sum(found[-1]), np.sum(expected.stats.tables), rtol=1e-12)


def test_the_value_is_the_log_potential_of_what_was_drawn(few_fit):
    case = cases.random_case(3, weights="whole")
    logs = np.log(cases.random_probabilities(np.random.default_rng(3), case))
    model, units = case.model(None), case.encoded().units
    sums, _ = free_energy.expect(model, units, q_hidden.draw, Tables(logs), np.random.default_rng)
    np.testing.assert_allclose(sums.value, sums.stats.tables @ logs, rtol=1e-12)


def test_impossible_states_are_left(few_fit):
    """States at which all is impossible are drawn evenly, until something is possible."""
    graph = jn.DAG("a -> b; b -> c; c -> d")
    rows = np.array([[0, -1, -1, 1]])
    case = cases.Case(graph, [2, 2, 2, 2], rows)
    with np.errstate(divide="ignore"):
        turn = np.log([[0.0, 1.0], [1.0, 0.0]]).ravel()  # always the other state
        logs = np.concatenate([np.log([0.5, 0.5]), turn, turn, turn])
    sums, _ = free_energy.expect(
        case.model(None), case.encoded().units, q_hidden.draw, Tables(logs), np.random.default_rng
    )
    assert sums.value == np.log(0.5)


# --- through the estimator ---

N_HIDDEN = 16
PAIRS = list(combinations(range(N_HIDDEN), 2))
GRAPH = "; ".join(f"h{i} -> x{i}_{j}; h{j} -> x{i}_{j}" for i, j in PAIRS)
HIDDEN = {f"h{i}": 2 for i in range(N_HIDDEN)}
CHAINS = {"n_chains": 2, "n_samples": 6, "burn_in": 4, "random_state": 0}


def make_table(n=30):
    rng = np.random.default_rng(0)
    return {f"x{i}_{j}": rng.integers(0, 2, n).tolist() for i, j in PAIRS}


def estimator(method, **choices):
    prior = 1.5 if method == "stochastic-em" else 1.0
    return jn.BayesianNetwork(
        GRAPH, hidden=HIDDEN, method=method, prior=prior, **{**CHAINS, **choices}
    )


@pytest.fixture
def little_memory():
    jn.set_memory_limit(1e6)
    yield
    jn.set_memory_limit(None)


pytestmark = pytest.mark.filterwarnings("ignore:the chains disagree")


def learn(method, path=None, **choices):
    with pytest.warns(jn.EstimateWarning, match=ONE_AT_A_TIME):
        return estimator(method, **choices).fit(make_table(), checkpoint=path)


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
def test_rules_that_need_a_tree_are_refused(method, little_memory):
    prior = 1.5 if method in ("em", "viterbi") else 1.0
    net = jn.BayesianNetwork(GRAPH, hidden=HIDDEN, method=method, prior=prior)
    with pytest.raises(jn.JensenError, match="the junction tree of 16 unobserved variables"):
        net.fit(make_table())


def test_gibbs_is_told_and_not_refused(little_memory):
    net = learn("gibbs")
    assert net.network_.samples.shape[0] == 12
    assert np.isfinite(net.trace_).all()
    assert np.isnan(net.free_energy_)


def test_stochastic_em_does_not_know_its_likelihood(little_memory):
    net = learn("stochastic-em")
    assert np.isfinite(net.trace_).all()
    assert np.isnan(net.free_energy_)
    np.testing.assert_allclose(net.cpt("h0").values.sum(), 1.0)


def test_a_start_needs_no_tree_either(little_memory):
    start = learn("gibbs", random_state=1)
    assert np.isfinite(learn("gibbs", start=start.network_).trace_).all()


@pytest.mark.parametrize("method", ["gibbs", "stochastic-em"])
def test_threads_and_interrupts_change_no_bit(method, little_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(Checkpoint, "save_sometimes", lambda self, make: self.save(*make()))
    expected = learn(method)
    jn.set_threads(2)
    assert learn(method).trace_.tobytes() == expected.trace_.tobytes()
    jn.set_threads(1)
    real = free_energy.step
    for n in (3, 9):
        sweeps = iter([real] * n)
        monkeypatch.setattr(free_energy, "step", lambda *args, left=sweeps: next(left)(*args))
        with pytest.raises(RuntimeError, match="StopIteration"):
            learn(method, tmp_path / "run")
    monkeypatch.setattr(free_energy, "step", real)
    resumed = learn(method, tmp_path / "run")
    jn.set_threads(None)
    assert resumed.trace_.tobytes() == expected.trace_.tobytes()
    assert resumed.network_.tables.tobytes() == expected.network_.tables.tobytes()
