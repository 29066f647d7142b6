"""One hidden state per row, against sums over the states of one row at a time."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

from jensen.data import blocks
from jensen.q_hidden.states import independent
from jensen.q_hidden.structures import MAX, SUM, Independent


class Looked:
    """Rows with known log-likelihoods; statistics are Σ nodes · x."""

    def __init__(self, log_like, x):
        self.table, self.x = log_like, x

    def log_like(self, start, stop, how=SUM):
        return self.table[:, start:stop] + (1.0 if how == MAX else 0.0)

    def stats(self, start, stop, nodes, how=SUM):
        assert nodes.flags.c_contiguous
        return nodes @ self.x[start:stop]


def random_rows(n, K, seed=0):
    rng = np.random.default_rng(seed)
    log_like = rng.normal(0.0, 3.0, (K, n))
    log_weights = np.log(rng.dirichlet(np.ones(K)))
    weight = rng.uniform(0.0, 2.0, n)
    x = rng.normal(size=n)
    return Independent(log_weights, Looked(log_like, x), weight), log_like, x


@pytest.mark.parametrize(("n", "K"), [(1, 1), (5, 2), (200, 3)])
@pytest.mark.parametrize("entries", [10, 1 << 16])
def test_expected_states_are_posteriors(monkeypatch, n, K, entries):
    monkeypatch.setattr(blocks, "ENTRIES", entries)
    potentials, log_like, x = random_rows(n, K)
    value, counts = independent.expected(potentials)
    states, observed = np.zeros(K), np.zeros(K)
    for i in range(n):
        joint = log_like[:, i] + potentials.log_weights
        p = np.exp(joint - logsumexp(joint))
        assert value[i] == pytest.approx(logsumexp(joint), rel=1e-12)
        states += potentials.weight[i] * p
        observed += potentials.weight[i] * p * x[i]
    np.testing.assert_allclose(counts.states, states, rtol=1e-11)
    np.testing.assert_allclose(counts.observed, observed, rtol=1e-10, atol=1e-12)
    log_z, nodes = independent.row_posteriors(potentials)
    np.testing.assert_allclose(log_z, value, rtol=1e-14)
    np.testing.assert_allclose(potentials.weight @ nodes, states, rtol=1e-11)


@pytest.mark.parametrize("entries", [10, 1 << 16])
def test_best_states_have_the_largest_potential(monkeypatch, entries):
    monkeypatch.setattr(blocks, "ENTRIES", entries)
    potentials, log_like, x = random_rows(150, 3)
    value, counts = independent.best(potentials)
    joint = log_like + potentials.log_weights[:, None] + 1.0  # seen at their peak
    np.testing.assert_allclose(value, joint.max(0), rtol=1e-12)
    nodes = np.eye(3)[joint.argmax(0)] * potentials.weight[:, None]
    np.testing.assert_allclose(counts.states, nodes.sum(0), rtol=1e-11)
    np.testing.assert_allclose(counts.observed, nodes.T @ x, rtol=1e-10)


def test_of_equals_the_first_is_best():
    value, nodes = independent.most_probable(np.zeros((3, 2)))
    assert value.tolist() == [0.0, 0.0]
    assert nodes[:, 0].tolist() == [1.0, 0.0, 0.0]


def test_drawn_states_have_their_frequencies():
    """30,000 copies of one row; chi-square at p = 1e-3."""
    log_joint = np.log([0.5, 0.0001, 0.2999, 0.2])[:, None] + 700.0
    n = 30_000
    value, nodes = independent.draw(np.repeat(log_joint, n, axis=1), np.random.default_rng(0))
    assert chisquare(nodes.sum(1), n * np.exp(log_joint[:, 0] - 700.0)).pvalue > 1e-3
    np.testing.assert_allclose(value, log_joint[nodes.argmax(0), 0], rtol=1e-14)
    assert np.all(nodes.sum(0) == 1.0)


def test_a_state_without_probability_is_never_drawn():
    log_joint = np.array([-np.inf, 0.0, -np.inf])[:, None].repeat(2000, axis=1)
    value, nodes = independent.draw(log_joint, np.random.default_rng(0))
    assert nodes[1].all()
    assert not value.any()


@pytest.mark.parametrize("shift", [-1e5, 0.0, 1e5])
def test_densities_of_any_size_keep_their_shares(shift):
    value, nodes = independent.posterior(np.log([[0.25], [0.75]]) + shift)
    assert value[0] == pytest.approx(shift, abs=1e-9)
    np.testing.assert_allclose(nodes[:, 0], [0.25, 0.75], rtol=1e-10)


def test_an_impossible_row_has_no_states():
    value, nodes = independent.posterior(np.full((2, 1), -np.inf))
    assert value[0] == -np.inf
    assert not nodes.any()
