"""Priors in words: what they mean, what they are by default, what is refused."""

import numpy as np
import pytest
from scipy.stats import gamma, kstest, wishart

from jensen.estimators.states_estimator import with_freedom
from jensen.exceptions import JensenError
from jensen.families import normal_gamma, normal_wishart, spherical, tied
from jensen.free_energy import EM, VBEM
from jensen.models.emissions.columns import column_moments
from jensen.models.emissions.priors import (
    check_words,
    gaussian_prior,
    label_prior,
    poisson_prior,
)

FAMILIES = {
    "full": normal_wishart,
    "tied": tied,
    "diagonal": normal_gamma,
    "spherical": spherical,
}
every_covariance = pytest.mark.parametrize("covariance", list(FAMILIES))


def rows(D=3):
    x = np.random.default_rng(0).normal(5.0, np.arange(1.0, D + 1.0), (50, D))
    x[::4, 0] = np.nan
    return x


def prior_of(covariance, words, K=2, D=3):
    mean, variance = column_moments(rows(D))
    eta = gaussian_prior(words, K, mean, variance, covariance)
    return FAMILIES[covariance].words(eta), mean, variance


@every_covariance
@pytest.mark.parametrize("D", [1, 3])
def test_defaults_are_scaled_to_the_columns(covariance, D):
    found, _, variance = prior_of(covariance, {}, D=D)
    assert found.mean.shape == (2, D)
    np.testing.assert_allclose(found.mean, 0.0, atol=1e-12)  # relative to the shift, their mean
    np.testing.assert_allclose(found.mean_strength, 1.0)
    freedom = D if covariance in ("full", "tied") else 1.0
    np.testing.assert_allclose(found.degrees_of_freedom, freedom)
    expected = {
        "full": np.stack([np.diag(1.0 / variance)] * 2),
        "tied": np.diag(1.0 / variance),
        "diagonal": np.tile(1.0 / variance, (2, 1)),
        "spherical": np.full(2, 1.0 / variance.mean()),
    }[covariance]
    np.testing.assert_allclose(freedom * found.scale, expected, rtol=1e-10, atol=1e-14)


@every_covariance
@pytest.mark.parametrize("D", [1, 3])
def test_a_state_without_rows_has_a_mode_by_default_where_one_is_looked_for(covariance, D):
    mean, variance = column_moments(rows(D))
    family = FAMILIES[covariance]
    eta = gaussian_prior(with_freedom({}, EM, covariance, D), 2, mean, variance, covariance)
    assert family.has_mode(eta)
    assert np.isfinite(family.mode_stats(eta).count).all()
    assert with_freedom({"degrees_of_freedom": 9.0}, EM, covariance, D)["degrees_of_freedom"] == 9
    assert with_freedom({}, VBEM, covariance, D) == {}
    assert with_freedom(None, EM, covariance, D) is None


@every_covariance
def test_words_are_what_the_prior_says(covariance):
    D, K = 3, 2
    shapes = {
        "full": ((K,), (K,), (K, D, D)),
        "tied": ((K,), (), (D, D)),
        "diagonal": ((K, D), (K, D), (K, D)),
        "spherical": ((K,), (K,), (K,)),
    }
    of_strength, of_freedom, of_scale = shapes[covariance]
    m0 = [1.0, 2.0, 3.0]
    matrix = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]])
    scale = matrix if covariance in ("full", "tied") else 0.3
    words = {"mean": m0, "mean_strength": 0.5, "degrees_of_freedom": 4.5, "scale": scale}
    found, mean, _ = prior_of(covariance, words)
    np.testing.assert_allclose(found.mean, np.tile(m0 - mean, (K, 1)), rtol=1e-10)
    np.testing.assert_allclose(found.mean_strength, np.full(of_strength, 0.5))
    np.testing.assert_allclose(found.degrees_of_freedom, np.full(of_freedom, 4.5))
    np.testing.assert_allclose(found.scale, np.broadcast_to(scale, of_scale), rtol=1e-9, atol=1e-14)


def test_a_number_is_the_scale_of_the_identity():
    found, _, _ = prior_of("full", {"scale": 0.5})
    np.testing.assert_allclose(found.scale, np.stack([0.5 * np.eye(3)] * 2), rtol=1e-10)


def test_precisions_follow_the_wishart_of_the_words():
    """Determinants of draws against scipy's Wishart and gamma (p above 1e-3)."""
    rng = np.random.default_rng(0)
    words = {"degrees_of_freedom": 5.0, "scale": 0.4}
    mean, variance = column_moments(rows())
    eta = gaussian_prior(words, 2, mean, variance, "full")
    ours = [2.0 * normal_wishart.sample_stats(eta, rng).count[0] for _ in range(400)]
    theirs = np.linalg.slogdet(wishart(5.0, 0.4 * np.eye(3)).rvs(2000, random_state=1))[1]
    assert kstest(ours, theirs).pvalue > 1e-3
    eta = gaussian_prior(words, 2, mean, variance, "diagonal")
    ours = [-2.0 * normal_gamma.sample_stats(eta, rng).second[0, 0] for _ in range(400)]
    assert kstest(ours, gamma(2.5, scale=0.8).cdf).pvalue > 1e-3


def test_rates_and_labels():
    mean = np.array([4.0, 0.0])
    eta = poisson_prior({}, 2, mean)
    np.testing.assert_allclose(eta.total, 0.0, atol=1e-15)
    np.testing.assert_allclose(eta.exposure, [[0.25, 1.0]] * 2)
    eta = poisson_prior({"shape": 3.0, "rate": [1.0, 2.0]}, 2, mean)
    np.testing.assert_allclose(eta.total, 2.0)
    np.testing.assert_allclose(eta.exposure, [[1.0, 2.0]] * 2)
    assert label_prior({}, "emission", (2, 3)).tolist() == np.zeros((2, 3)).tolist()
    assert label_prior({"emission": 2.5}, "emission", (2,)).tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    ("covariance", "words", "match"),
    [
        ("full", {"mean": "far"}, r"prior\['mean'\] must be a number or an array"),
        ("full", {"mean": np.nan}, r"prior\['mean'\] must be finite"),
        ("full", {"mean": [1.0, 2.0]}, r"shape \(2,\), which does not fit \(2, 3\)"),
        ("full", {"mean_strength": 0.0}, "must be above 0 everywhere, not 0: it counts rows"),
        ("full", {"degrees_of_freedom": 2.0}, "must be above 2 everywhere"),
        ("tied", {"degrees_of_freedom": 2.0}, "must be above 2 everywhere"),
        ("diagonal", {"degrees_of_freedom": 0.0}, "must be above 0 everywhere"),
        ("spherical", {"degrees_of_freedom": -1.0}, "must be above 0 everywhere"),
        ("full", {"scale": np.triu(np.ones((3, 3)))}, "symmetric positive definite"),
        ("tied", {"scale": -1.0}, "symmetric positive definite"),
        ("diagonal", {"scale": 0.0}, r"prior\['scale'\] must be above 0"),
        ("spherical", {"scale": -2.0}, r"prior\['scale'\] must be above 0"),
    ],
)
def test_gaussian_words_that_cannot_be_are_refused(covariance, words, match):
    with pytest.raises(JensenError, match=match):
        prior_of(covariance, words)


def test_other_words_that_cannot_be_are_refused():
    with pytest.raises(JensenError, match=r"prior\['shape'\] must be above 0"):
        poisson_prior({"shape": 0.0}, 2, np.ones(1))
    with pytest.raises(JensenError, match=r"prior\['rate'\] must be above 0"):
        poisson_prior({"rate": -1.0}, 2, np.ones(1))
    with pytest.raises(JensenError, match="it is a Dirichlet concentration"):
        label_prior({"emission": 0.0}, "emission", (2,))
    with pytest.raises(JensenError, match="prior= has no part 'mena': give mean, scale"):
        check_words({"mena": 1.0}, ("mean", "scale"))


def test_moments_of_columns_with_gaps():
    x = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, 2.0]])
    mean, variance = column_moments(x)
    np.testing.assert_allclose(mean, [2.0, 5.0, 2.0])
    np.testing.assert_allclose(variance, [1.0, 1.0, 1.0])  # 1 also where nothing varies
    mean, variance = column_moments(np.full((10, 1), 0.1) + 1e6)
    assert variance[0] == 1.0  # and where only rounding does
