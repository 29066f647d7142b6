"""Statistics from one kernel, against those that are collected step by step."""

import numpy as np
import pytest

import jensen as jn
from jensen.data.number_rows import NumberRows
from jensen.free_energy import EM, state_at
from jensen.kernels import gaussians
from jensen.models import hidden_markov, mixture
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.q_hidden.states import chain as chains
from jensen.q_hidden.states import chain_sweeps, independent
from jensen.q_hidden.structures import Chain, Independent
from jensen.support import row_records
from jensen.support.fields import leaves


class StepByStep:
    """Rows without the kernels that do everything at once."""

    def __init__(self, observed):
        self.log_like, self.stats = observed.log_like, observed.stats


def gaussian_rows(rng, n, K, D=3, missing=0.0, **choices):
    emission = Gaussian(K, rng.normal(size=D), None, **choices)
    values = 2.0 * rng.normal(size=(n, D)) + emission.shift
    values[rng.random(values.shape) < missing] = np.nan
    at = emission.family.mode_stats(random_parameters(rng, emission))
    return emission.observe(at, emission.encode(values))


def random_parameters(rng, emission):
    """η whose mode has some means and covariances."""
    K, D = emission.n_states, len(emission.shift)
    root = rng.normal(size=(K, D, D))
    covariances = root @ root.transpose(0, 2, 1) + 0.3 * np.eye(D)
    given = covariances[0] if emission.is_tied else covariances
    means = rng.normal(size=(K, D)) + emission.shift
    return emission.read({"means": means, "covariances": given})


def codes(rng, n, K, D=1, V=4, missing=0.1):
    emission = Discrete(K, D, V, None)
    values = rng.integers(0, V, (n, D)).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return emission.observe(np.log(rng.dirichlet(np.ones(V), (K, D))), emission.encode(values))


def make_chain(rng, observed, lengths, K, zeros=0.0):
    """Random tables that do not sum to one, some steps impossible."""
    trans = np.where(rng.random((K, K)) < zeros, -np.inf, rng.normal(size=(K, K)) - 1.0)
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    weight = rng.integers(0, 3, len(lengths)) * rng.random(len(lengths))
    return Chain(rng.normal(size=K), trans, rng.normal(size=K), observed, ptr, weight)


def assert_same(found, wanted):
    assert type(found) is type(wanted)
    for x, y in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)


ROWS = [(1, 1), (63, 2), (gaussians.ENTRIES // 12 + 5, 12), (700, 40)]


@pytest.mark.parametrize(("n", "K"), ROWS)
@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rows_at_once_are_rows_step_by_step(n, K, is_tied, missing):
    rng = np.random.default_rng(n)
    observed = gaussian_rows(rng, n, K, missing=missing, is_tied=is_tied)
    weight = rng.integers(0, 3, n) * rng.random(n)
    potentials = Independent(np.log(rng.dirichlet(np.ones(K))), observed, weight)
    slow = potentials._replace(observed=StepByStep(observed))
    assert_same(independent.expected(potentials), independent.expected(slow))


LENGTHS = {
    "none": [],
    "one step": [1],
    "short": [1, 1, 2, 1, 5] * 300,
    "mixed": [1, 3 * row_records.BATCH_ENTRIES // 3, 2, 1, 900, 900, 7],
}


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("K", [1, 3, 9])
@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("make", [gaussian_rows, codes])
def test_chains_at_once_are_chains_step_by_step(lengths, K, zeros, make):
    rng, lengths = np.random.default_rng(K), LENGTHS[lengths]
    observed = make(rng, sum(lengths), K)
    chain = make_chain(rng, observed, lengths, K, zeros)
    slow = chain._replace(observed=StepByStep(observed))
    assert_same(chains.expected(chain), chains.expected(slow))


@pytest.mark.parametrize("make", [gaussian_rows, codes])
@pytest.mark.parametrize("size", [1, 40, 5000])
def test_a_long_sequence_between_short_ones_is_done_in_blocks(make, size, monkeypatch):
    rng, lengths = np.random.default_rng(0), [3, 30, 1000, 5, 1]
    chain = make_chain(rng, make(rng, sum(lengths), 3), lengths, 3)
    whole = chains.expected(chain)
    monkeypatch.setattr(chain_sweeps, "segment_rows", lambda n_states: size)
    assert_same(chains.expected(chain), whole)


def test_what_underflows_at_once_is_done_in_log_space(monkeypatch):
    """Two states without a way between them: the one that fits at first is wrong in the end."""
    rng = np.random.default_rng(0)
    values = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], [50, 300, 400, 20, 20])[:, None]
    emission = Discrete(2, 1, 2, None)
    log_shares = np.log([[[0.999, 0.001]], [[0.001, 0.999]]])
    observed = emission.observe(log_shares, emission.encode(values))
    chain = make_chain(rng, observed, [50, 700, 40], 2)
    chain = chain._replace(log_trans=np.log(np.eye(2) + 1e-300), weight=np.ones(3))
    by_kernel, _ = chain_sweeps.smooth_at_once(
        chain_sweeps.Scaled.of(chain),
        chain,
        next(chain_sweeps.groups(chain.ptr, 1000)),
        np.arange(3),
    )
    assert np.isfinite(by_kernel).tolist() == [True, False, True]
    found = chains.expected(chain)
    monkeypatch.setattr(chain_sweeps, "FORCE_LOGS", True)
    assert_same(found, chains.expected(chain))


# --- Threads ---


def states_on_threads(model, units, eta):
    """What a sweep finds on one, two and three threads."""
    for n_threads in (1, 2, 3):
        jn.set_threads(n_threads)
        yield leaves(state_at(model, units, EM, eta))


def test_sweeps_have_the_same_bits_on_any_number_of_threads(monkeypatch):
    rng, K = np.random.default_rng(0), 3
    values, emission = rng.normal(size=(2000, 2)), Gaussian(K, np.zeros(2), None)
    eta = random_parameters(rng, emission)
    monkeypatch.setattr(mixture, "UNIT_ROWS", 300)
    monkeypatch.setattr(hidden_markov, "UNIT_ROWS", 300)
    rows = mixture.Mixture(emission, None, K)
    steps = hidden_markov.HiddenMarkov(emission, None, None, K)
    problems = [
        (rows, rows.encode(NumberRows.of(values)), mixture.Mixed(np.ones(K), eta)),
        (
            steps,
            steps.encode(NumberRows.of(values), np.full(100, 20), np.ones(100)),
            hidden_markov.Chained(np.ones(K), np.ones((K, K)), eta),
        ),
    ]
    for model, units, start in problems:
        assert len(units) == 7
        first, *others = states_on_threads(model, units, start)
        for other in others:
            for x, y in zip(first, other, strict=True):
                np.testing.assert_array_equal(x, y)
