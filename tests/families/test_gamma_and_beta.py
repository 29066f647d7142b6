"""Rates and probabilities: what is special about them."""

import numpy as np
import pytest
from scipy import stats as distributions

from jensen.exceptions import CollapseError
from jensen.families import gamma, neg_log_density
from jensen.families.dirichlet import beta, dirichlet
from jensen.families.gamma import Gamma


def test_a_rate_of_zero_is_legal():
    stats = Gamma(np.array([[0.0, 6.0]]), np.array([[3.0, 3.0]]))
    t = gamma.mode_stats(stats)
    np.testing.assert_array_equal(t.total, [[-np.inf, np.log(2.0)]])
    np.testing.assert_array_equal(t.exposure, [[-0.0, -2.0]])
    prior = Gamma(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))  # shapes 1 and 2
    expected = distributions.gamma.logpdf([0.0, 2.0], [1.0, 2.0], scale=2.0).sum()
    assert neg_log_density(gamma, prior, None, t) == pytest.approx(-expected, rel=1e-14)


@pytest.mark.parametrize("name", ["mean_stats", "mode_stats", "log_partition", "describe"])
def test_components_without_rows_are_named(name):
    stats = Gamma(np.zeros((3, 2)), np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]))
    with pytest.raises(CollapseError, match=r"components 1, 2 have no rows left, so .*; give"):
        getattr(gamma, name)(stats)
    one = Gamma(stats.total[:2], stats.exposure[:2])
    with pytest.raises(CollapseError, match="component 1 has no rows left"):
        getattr(gamma, name)(one)


@pytest.mark.parametrize(
    ("shape", "rate", "expected"),
    [(1.0, 0.1, True), (2.0, 3.0, True), (0.9, 1.0, False), (2.0, 0.0, False), (1.0, 0.0, False)],
)
def test_a_prior_has_a_mode_if_its_shape_is_at_least_one_and_its_rate_positive(
    shape, rate, expected
):
    assert gamma.has_mode(Gamma(np.array([[shape - 1.0]]), np.array([[rate]]))) is expected


def test_draws_at_a_tiny_shape_do_not_underflow():
    eta = Gamma(np.full((20_000, 1), 0.005 - 1.0), np.full((20_000, 1), 2.0))
    t = gamma.sample_stats(eta, np.random.default_rng(0))
    assert np.all(np.isfinite(t.total))
    assert t.total.min() < np.log(np.finfo(float).tiny)
    rates = -t.exposure[t.exposure < -1e-100]
    found = distributions.kstest(rates, lambda x: _above(x, 0.005, 0.5))
    assert found.pvalue > 1e-4


def _above(x, shape, scale):
    """The distribution function given that the draw is above 1e-100."""
    law = distributions.gamma(shape, scale=scale)
    return (law.cdf(x) - law.cdf(1e-100)) / law.sf(1e-100)


def test_a_description_of_rates():
    found = gamma.describe(Gamma(np.array([[2.0]]), np.array([[4.0]])))
    assert found == {"shape": 3.0, "rate": 4.0, "mean": 0.75}


def test_a_beta_is_a_dirichlet_that_speaks_of_successes():
    eta = np.array([[[3.0, 1.0], [0.0, 2.0]]])  # failures and successes, less one
    assert beta.log_partition(eta) == dirichlet.log_partition(eta)
    found = beta.describe(eta)
    np.testing.assert_array_equal(found["successes"], [[2.0, 3.0]])
    np.testing.assert_array_equal(found["failures"], [[4.0, 1.0]])
    np.testing.assert_allclose(found["mean"], [[2.0 / 6.0, 3.0 / 4.0]], rtol=1e-15)


def test_the_density_of_a_beta():
    eta = np.array([[[3.5, 1.2]]])
    t = beta.sample_stats(eta, np.random.default_rng(0))
    expected = distributions.beta.logpdf(np.exp(t[0, 0, 1]), 2.2, 4.5)
    assert -neg_log_density(beta, eta, None, t) == pytest.approx(expected, rel=1e-12)
