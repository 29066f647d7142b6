"""Evidences of symmetric Dirichlet distributions, to full precision at any concentration."""

import math

import numpy as np
import pytest
from naive import families as naive

from jensen.families import log_evidence
from jensen.families.dirichlet import dirichlet
from jensen.families.dirichlet_posterior import symmetric_log_evidence
from jensen.families.gamma_ratio import log_rising

ALPHAS = [1e-300, 1e-20, 1e-10, 1e-3, 0.5, 1.0, 7.3, 99.9, 100.0, 1e3, 1e6, 1e10, 1e15]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_log_rising_is_the_sum_of_logarithms(alpha):
    n = [0, 1, 2, 10, 1000]
    expected = [naive.log_rising(alpha, k) for k in n]
    np.testing.assert_allclose(log_rising(alpha, np.array(n, float)), expected, rtol=2e-13)


def test_log_rising_of_nothing_is_exactly_zero():
    for alpha in ALPHAS:
        assert log_rising(alpha, np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("alpha", [99.999, 100.0])
def test_both_ways_agree_where_they_meet(alpha):
    n = np.array([0.25, 1.0, 3.7, 1e3, 1e6])
    expected = [math.lgamma(alpha + k) - math.lgamma(alpha) for k in n]
    np.testing.assert_allclose(log_rising(alpha, n), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_evidence_is_the_sequential_prediction(alpha):
    counts = np.array([[3, 0, 2], [0, 0, 0], [1, 1, 9]])
    expected = sum(
        naive.log_polya_urn([alpha] * 3, np.repeat([0, 1, 2], row)) for row in counts.tolist()
    )
    found = symmetric_log_evidence(alpha, counts.astype(float))
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_evidence_is_that_of_the_family():
    counts = np.random.default_rng(0).integers(0, 9, (6, 4)).astype(float)
    prior = np.full_like(counts, 0.3 - 1.0)
    expected = log_evidence(dirichlet, prior, counts)
    assert symmetric_log_evidence(0.3, counts) == pytest.approx(expected, rel=1e-13)


def test_the_evidence_under_a_certain_prior_is_the_uniform_likelihood():
    counts = np.array([[3.0, 1.0], [0.0, 6.0]])
    expected = -10.0 * math.log(2.0)
    assert symmetric_log_evidence(1e300, counts) == pytest.approx(expected, rel=1e-12)
