"""Priors in words: what they mean, what they are by default, what is refused."""

import numpy as np
import pytest
from scipy.stats import gamma, kstest, wishart

from jensen.data.number_rows import NumberRows, column_moments, summarise
from jensen.exceptions import JensenError
from jensen.families import normal_gamma, normal_wishart, spherical, tied
from jensen.models.emissions.priors import (
    check_names,
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


def column_covariance(x, weight=None):
    found = summarise(NumberRows.of(x, weight), covariance=True)
    return found.mean, found.covariance


def rows(D=3):
    x = np.random.default_rng(0).normal(5.0, np.arange(1.0, D + 1.0), (50, D))
    x[::4, 0] = np.nan
    return x


def moments_of(covariance, x):
    """What the prior of this kind is scaled by."""
    return (column_covariance if covariance in ("full", "tied") else column_moments)(x)


def prior_of(covariance, words, K=2, D=3):
    mean, spread = moments_of(covariance, rows(D))
    eta = gaussian_prior(words, K, mean, spread, covariance)
    return FAMILIES[covariance].to_standard(eta), mean, spread


@every_covariance
@pytest.mark.parametrize("D", [1, 3])
def test_the_default_scale_is_the_covariance_of_the_columns(covariance, D):
    found, _, spread = prior_of(covariance, {}, K=5, D=D)
    assert found.mean.shape == (5, D)
    np.testing.assert_allclose(found.mean, 0.0, atol=1e-12)  # relative to the shift, their mean
    np.testing.assert_allclose(found.mean_strength, 0.01)
    is_matrix = covariance in ("full", "tied")
    np.testing.assert_allclose(found.degrees_of_freedom, D + 1.0 if is_matrix else 2.0)
    usual = spread.mean() if covariance == "spherical" else spread
    scatter = np.linalg.inv(found.scale) if is_matrix else 1.0 / found.scale
    expected = np.broadcast_to(usual, scatter.shape)
    np.testing.assert_allclose(scatter, expected, rtol=1e-9, atol=1e-12)


@every_covariance
@pytest.mark.parametrize("D", [1, 3])
def test_a_state_without_rows_has_a_mode_by_default(covariance, D):
    mean, spread = moments_of(covariance, rows(D))
    family = FAMILIES[covariance]
    eta = gaussian_prior({}, 2, mean, spread, covariance)
    assert family.has_mode(eta)
    assert np.isfinite(family.mode_stats(eta).count).all()


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_matrix_that_rounding_made_asymmetric_is_taken(covariance):
    matrix = np.diag([1e-6, 1.0, 1e6])
    matrix[0, 1] = 1e-20  # and 0 below the diagonal
    found, _, _ = prior_of(covariance, {"scale": matrix})
    np.testing.assert_allclose(np.diagonal(found.scale.reshape(-1, 3, 3)[0]), np.diag(matrix))


def test_covariances_are_those_of_the_rows_that_have_both_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 1.0, (40, 3)) @ (np.eye(3) + 0.2)
    weight = rng.integers(0, 4, 40).astype(float)
    mean, found = column_covariance(x, weight)
    repeated = np.repeat(x, weight.astype(int), axis=0)
    np.testing.assert_allclose(mean, repeated.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found, np.cov(repeated.T, bias=True), rtol=1e-10)
    x[:10, 0] = np.nan
    x[35:, 2] = np.nan
    mean, found = column_covariance(x)
    away = x - np.nanmean(x, axis=0)
    both = away[10:, 0] * away[10:, 1]
    np.testing.assert_allclose(found[0, 1], np.mean(both), rtol=1e-12)
    np.testing.assert_allclose(np.diag(found), np.nanvar(x, axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(5, 9)),  # fewer rows than columns
        lambda rng: np.tile(rng.normal(size=(30, 1)), 3),  # the same column thrice
        lambda rng: np.column_stack([rng.normal(size=30), np.full(30, 7.0)]),  # a constant
        lambda rng: np.full((1, 2), 3.0),  # one row
        lambda rng: np.where(  # pairs that contradict: no joint distribution has them
            np.arange(90)[:, None] // 30 == np.arange(3), np.nan, indefinite(rng)
        ),
        lambda rng: rng.normal(size=(30, 2)) * [1e-60, 1e60],
    ],
)
def test_a_singular_covariance_is_shrunk_to_its_diagonal(make):
    x = make(np.random.default_rng(0))
    _, variance = column_moments(x)
    _, found = column_covariance(x)
    np.testing.assert_allclose(np.diag(found), variance, rtol=1e-12)
    deviation = np.sqrt(variance)
    assert np.linalg.eigvalsh(found / deviation / deviation[:, None])[0] > 0.9e-3
    eta = gaussian_prior({}, 2, np.zeros(len(found)), found, "full")
    assert normal_wishart.has_mode(eta)


def indefinite(rng):
    """Each pair of columns strongly correlated in the rows that have it, with signs that clash."""
    a = rng.normal(size=30)
    parts = [np.column_stack([a * 0, a, a]), np.column_stack([a, a * 0, a])]
    return np.concatenate([*parts, np.column_stack([a, -a, a * 0])])


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
    eta = gaussian_prior(words, 2, mean, np.diag(variance), "full")
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
        check_names({"mena": 1.0}, ("mean", "scale"))


def test_moments_of_columns_with_gaps():
    x = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, 2.0]])
    mean, variance = column_moments(x)
    np.testing.assert_allclose(mean, [2.0, 5.0, 2.0])
    np.testing.assert_allclose(variance, [1.0, 1.0, 1.0])  # 1 also where nothing varies
    mean, variance = column_moments(np.full((10, 1), 0.1) + 1e6)
    assert variance[0] == 1.0  # and where only rounding does
