"""Dirichlet distributions over some cells only: those of the arrays that masks leave."""

import numpy as np
import pytest
from naive.families import log_density
from scipy.stats import dirichlet as scipy_dirichlet
from scipy.stats import kstest

from jensen.families import kl, log_evidence, neg_log_density
from jensen.families.dirichlet import MaskedDirichlet, dirichlet

MASK = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0], [1, 1, 1, 1]], bool)
FAMILY = MaskedDirichlet(MASK)


def random_eta(seed, least=0.2):
    """Some concentrations are below 1; η is 0 outside, as statistics are."""
    return np.where(MASK, np.random.default_rng(seed).uniform(least, 4.0, MASK.shape) - 1.0, 0.0)


def inside(array):
    """Every distribution by itself, without what is left out."""
    return [row[mask] for row, mask in zip(array, MASK, strict=True)]


def test_a_is_that_of_the_cells_inside():
    eta = random_eta(0)
    expected = sum(dirichlet.log_partition(row) for row in inside(eta))
    assert FAMILY.log_partition(eta) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["mean_stats", "mode_stats"])
def test_what_is_read_is_minus_infinity_outside(name):
    eta = random_eta(1, least=1.0)
    found = getattr(FAMILY, name)(eta)
    assert np.all(found[~MASK] == -np.inf)
    for ours, row in zip(inside(found), inside(eta), strict=True):
        np.testing.assert_allclose(ours, getattr(dirichlet, name)(row), rtol=1e-13, atol=1e-15)


def test_draws_are_those_of_the_cells_inside():
    """Marginals are beta distributions; the smallest p-value of seven is above 0.001."""
    eta, rng = random_eta(2), np.random.default_rng(0)
    draws = np.exp([FAMILY.sample_stats(eta, rng) for _ in range(2000)])
    np.testing.assert_allclose(draws.sum(-1), 1.0, rtol=1e-12)
    assert np.all(draws[:, ~MASK] == 0.0)
    assert np.all(draws[:, 2, 2] == 1.0)
    for row in (0, 1, 3):
        for cell in np.flatnonzero(MASK[row])[:-1]:
            alpha = eta[row, cell] + 1.0
            total = (eta[row][MASK[row]] + 1.0).sum()
            assert kstest(draws[:, row, cell], "beta", (alpha, total - alpha)).pvalue > 0.001


def test_costs_are_those_of_the_cells_inside():
    prior, eta = random_eta(3, least=1.0), random_eta(4, least=1.0)
    t, pairs = FAMILY.mean_stats(eta), list(zip(inside(prior), inside(eta), strict=True))
    expected = sum(kl(dirichlet, p, e, dirichlet.mean_stats(e)) for p, e in pairs)
    assert kl(FAMILY, prior, eta, t) == pytest.approx(expected, rel=1e-12)
    density = sum(
        log_density(scipy_dirichlet.mean(e + 1.0), p + 1.0) for p, e in pairs if len(p) > 1
    )
    with np.errstate(divide="ignore"):
        mean = np.log(FAMILY.mean(eta))
    assert -neg_log_density(FAMILY, prior, eta, mean) == pytest.approx(density, rel=1e-12)
    stats = np.where(MASK, np.arange(16.0).reshape(4, 4), 0.0)
    parts = zip(inside(prior), inside(stats), strict=True)
    expected = sum(log_evidence(dirichlet, p, s) for p, s in parts)
    assert log_evidence(FAMILY, prior, stats) == pytest.approx(expected, rel=1e-12)


def test_without_counts_what_is_allowed_is_equally_probable():
    found = FAMILY.mode(np.zeros(MASK.shape))
    np.testing.assert_allclose(found, MASK / MASK.sum(1, keepdims=True), rtol=1e-15)
    np.testing.assert_array_equal(FAMILY.allowed, found)


def test_counts_outside_are_not_shared_out():
    np.testing.assert_array_equal(FAMILY.share(np.ones(MASK.shape)), FAMILY.allowed)


def test_a_mode_asks_only_for_what_is_inside():
    assert FAMILY.has_mode(np.where(MASK, 0.0, -3.0))
    assert not FAMILY.has_mode(np.where(MASK, -0.1, 3.0))


def test_a_mask_of_everything_leaves_the_family_as_it_was():
    eta = np.random.default_rng(5).uniform(0.1, 3.0, (3, 4))
    whole = MaskedDirichlet(np.ones(eta.shape, bool))
    for name in ("log_partition", "mean_stats", "mode_stats", "mean"):
        np.testing.assert_array_equal(getattr(whole, name)(eta), getattr(dirichlet, name)(eta))
