"""What holds for every family whose η is a record, one row per family and shape."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from naive import families as naive
from scipy import stats as distributions

from jensen.families import (
    gamma,
    kl,
    linear_regression,
    log_evidence,
    neg_log_density,
    normal_gamma,
    normal_wishart,
    spherical,
    tied,
)
from jensen.families.gamma import Gamma
from jensen.families.linear_regression import Regression, RegressionParameters
from jensen.families.wishart import StandardParameters
from jensen.support.fields import add, zip_fields

N_DRAWS = 20_000
P_VALUE = 1e-6


class GaussianCase(NamedTuple):
    """Means and precisions of K components in D dimensions."""

    family: Any
    kind: str
    K: int
    D: int

    def random(self, seed, counted=0.0):
        """Words, with degrees of freedom that give at least this count."""
        rng = np.random.default_rng(seed)
        each = {"tied": (), "diagonal": (self.K, self.D)}.get(self.kind, (self.K,))
        size = self.D if self.kind in ("full", "tied") else 1
        root = rng.standard_normal((*each, size, size)) + 2.0 * np.eye(size)
        scale = root @ np.swapaxes(root, -1, -2) / size
        words = StandardParameters(
            rng.standard_normal((self.K, self.D)),
            rng.uniform(0.3, 3.0, (self.K, self.D) if self.kind == "diagonal" else self.K),
            np.asarray(size - 1.0 + counted + rng.uniform(0.2, 5.0, each)),
            scale if self.kind in ("full", "tied") else scale[..., 0, 0],
        )
        return words, self.family.from_standard(*words)

    def point(self, t):
        """The means (K, D) and precisions of which these are the statistics."""
        precision = -2.0 * t.second
        if self.kind == "full":
            return np.linalg.solve(precision, t.first[..., None])[..., 0], precision
        if self.kind == "tied":
            return np.linalg.solve(precision, t.first.T).T, precision
        return t.first / (precision if self.kind == "diagonal" else precision[:, None]), precision

    def log_density(self, words, point):
        return naive.gaussian_log_density(self.kind, words, *point)

    def near(self, point, rng, step):
        """Another θ, this far away."""
        means, precision = point
        means = means + step * rng.standard_normal(means.shape)
        if self.kind in ("diagonal", "spherical"):
            return means, precision * np.exp(step * rng.standard_normal(precision.shape))
        twist = np.eye(self.D) + step * rng.standard_normal(precision.shape)
        return means, twist @ precision @ np.swapaxes(twist, -1, -2)

    def log_predictions(self, words, eta, seed):
        """The statistics of rows, and their log-probability one after the other."""
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, self.K, 12)
        rows = rng.standard_normal((12, self.D)) * 2.0 + 1.0
        expected = naive.gaussian_log_predictions(self.kind, words, rows, labels)
        base_measure = -0.5 * rows.size * np.log(2.0 * np.pi)
        return naive.gaussian_stats(self.kind, rows, labels, eta), expected - base_measure


class GammaCase(NamedTuple):
    """Rates of K components in D dimensions."""

    family: Any
    K: int
    D: int

    def random(self, seed, counted=-1.0):
        rng = np.random.default_rng(seed)
        size = (self.K, self.D)
        words = counted + 1.0 + rng.uniform(0.2, 5.0, size), rng.uniform(0.3, 3.0, size)
        return words, Gamma(words[0] - 1.0, words[1])

    def point(self, t):
        return np.exp(t.total)

    def log_density(self, words, point):
        return naive.gamma_log_density(point, *words)

    def near(self, point, rng, step):
        return point * np.exp(step * rng.standard_normal(point.shape))

    def log_predictions(self, words, eta, seed):
        rng = np.random.default_rng(seed)
        labels, rows = rng.integers(0, self.K, 12), rng.poisson(3.0, (12, self.D))
        expected = naive.gamma_log_predictions(*words, rows, labels)
        base_measure = -sum(np.log(np.arange(1.0, x + 1.0)).sum() for x in rows.ravel())
        total, exposure = np.zeros((2, self.K, self.D))
        np.add.at(total, labels, rows)
        np.add.at(exposure, labels, 1.0)
        return Gamma(total, exposure), expected - base_measure


class RegressionCase(NamedTuple):
    """K regressions on D numbers."""

    family: Any
    K: int
    D: int

    def random(self, seed, counted=0.0):
        rng = np.random.default_rng(seed)
        root = rng.standard_normal((self.K, self.D, self.D)) + 2.0 * np.eye(self.D)
        words = RegressionParameters(
            rng.standard_normal((self.K, self.D)),
            root @ np.swapaxes(root, -1, -2) / self.D,
            counted + rng.uniform(0.2, 5.0, self.K),
            rng.uniform(0.3, 3.0, self.K),
        )
        return words, self.family.from_standard(*words)

    def point(self, t):
        """Coefficients (K, D) and precisions (K,)."""
        precision = -2.0 * t.second
        return t.first / precision[:, None], precision

    def log_density(self, words, point):
        return naive.regression_log_density(words, *point)

    def near(self, point, rng, step):
        coefficients, precision = point
        turned = coefficients + step * rng.standard_normal(coefficients.shape)
        return turned, precision * np.exp(step * rng.standard_normal(precision.shape))

    def log_predictions(self, words, eta, seed):
        rng = np.random.default_rng(seed)
        labels, y = rng.integers(0, self.K, 12), rng.standard_normal(12)
        x = rng.standard_normal((12, self.D)) + 1.0
        expected = naive.regression_log_predictions(words, x, y, labels)
        parts = [(x[labels == k], y[labels == k]) for k in range(self.K)]
        stats = Regression(
            np.array([float(len(v)) for _, v in parts]),
            np.array([v @ v for _, v in parts]),
            np.array([u.T @ v for u, v in parts]),
            np.array([u.T @ u for u, _ in parts]),
        )
        return stats, expected + 0.5 * len(y) * np.log(2.0 * np.pi)


GAUSSIANS = [
    pytest.param(GaussianCase(family, kind, K, D), id=f"{kind} {K} x {D}")
    for family, kind in [
        (normal_wishart, "full"),
        (normal_gamma, "diagonal"),
        (spherical, "spherical"),
        (tied, "tied"),
    ]
    for K, D in [(1, 1), (1, 3), (3, 1), (2, 3), (3, 4)]
]
GAMMAS = [pytest.param(GammaCase(gamma, K, D), id=f"gamma {K} x {D}") for K, D in [(1, 1), (2, 3)]]
REGRESSIONS = [
    pytest.param(RegressionCase(linear_regression, K, D), id=f"regression {K} x {D}")
    for K, D in [(1, 1), (1, 3), (3, 2)]
]
every_family = pytest.mark.parametrize("case", GAUSSIANS + GAMMAS + REGRESSIONS)
every_gaussian = pytest.mark.parametrize("case", GAUSSIANS)


def assert_same(found, expected, **tolerance):
    """Two records, field by field."""
    assert found._fields == expected._fields
    for name, x, y in zip(found._fields, found, expected, strict=True):
        assert np.shape(x) == np.shape(y), name
        np.testing.assert_allclose(x, y, err_msg=name, **tolerance)


@every_family
def test_mean_stats_is_the_gradient_of_log_partition(case):
    _, eta = case.random(0)
    numerical = naive.record_gradient(case.family.log_partition, eta)
    assert_same(case.family.mean_stats(eta), numerical, rtol=2e-6, atol=2e-6)


@every_family
def test_log_density_is_the_density(case):
    words, eta = case.random(1)
    for seed in range(3):
        t = case.family.sample_stats(eta, np.random.default_rng(seed))
        expected = case.log_density(words, case.point(t))
        assert -neg_log_density(case.family, eta, None, t) == pytest.approx(expected, rel=1e-10)


@every_family
def test_statistics_share_the_record_and_its_shapes(case):
    _, eta = case.random(2, counted=1.0)
    for t in (
        case.family.mean_stats(eta),
        case.family.mode_stats(eta),
        case.family.sample_stats(eta, np.random.default_rng(0)),
    ):
        assert type(t) is type(eta)
        for x, e in zip(t, eta, strict=True):
            assert np.asarray(x).dtype == np.float64
            assert np.shape(x) == np.shape(e)


@every_family
def test_mode_is_the_maximiser_of_the_density(case):
    rng = np.random.default_rng(3)
    words, eta = case.random(3, counted=1.0)
    mode = case.point(case.family.mode_stats(eta))
    best = case.log_density(words, mode)
    for step in [1e-3, 1e-2, 0.1, 0.5]:
        for _ in range(10):
            assert case.log_density(words, case.near(mode, rng, step)) < best


@every_family
def test_draws_have_the_right_moments(case):
    """Two-sided z-tests of E[t(θ)] in every entry, together at P_VALUE."""
    _, eta = case.random(4, counted=1.0)
    many = zip_fields(lambda x: np.broadcast_to(x, (N_DRAWS, *np.shape(x))), eta)
    t = case.family.sample_stats(many, np.random.default_rng(4))
    limit = distributions.norm.isf(P_VALUE / (2 * sum(np.size(x) for x in eta)))
    for draws, mean in zip(t, case.family.mean_stats(eta), strict=True):
        z = (draws.mean(0) - mean) / draws.std(0) * np.sqrt(N_DRAWS)
        assert np.abs(z).max() < limit


@every_family
def test_kl_is_zero_at_equality_and_positive_elsewhere(case):
    _, prior = case.random(5)
    _, eta = case.random(6)
    assert kl(case.family, prior, prior, case.family.mean_stats(prior)) == 0.0
    assert kl(case.family, prior, eta, case.family.mean_stats(eta)) > 0.0


@pytest.mark.parametrize("case", GAUSSIANS[3::5] + GAMMAS[1:] + REGRESSIONS[1:2])
def test_kl_is_the_mean_log_ratio_of_the_densities(case):
    """A two-sided z-test over draws, at P_VALUE."""
    prior_words, prior = case.random(5, counted=2.0)
    words, eta = case.random(6, counted=2.0)
    rng, ratios = np.random.default_rng(7), []
    for _ in range(100):
        point = case.point(case.family.sample_stats(eta, rng))
        ratios.append(case.log_density(words, point) - case.log_density(prior_words, point))
    z = np.mean(ratios) - kl(case.family, prior, eta, case.family.mean_stats(eta))
    assert abs(z) / np.std(ratios) * np.sqrt(len(ratios)) < distributions.norm.isf(P_VALUE / 2)


@every_family
@pytest.mark.parametrize("seed", range(2))
def test_log_evidence_is_the_sequential_prediction(case, seed):
    words, eta = case.random(seed)
    stats, expected = case.log_predictions(words, eta, seed)
    assert log_evidence(case.family, eta, stats) == pytest.approx(expected, rel=1e-10)


@every_family
def test_the_flat_prior_costs_nothing(case):
    _, stats = case.random(8, counted=2.0)
    t = case.family.mode_stats(add(None, stats))
    assert neg_log_density(case.family, None, stats, t) == 0.0


@every_gaussian
def test_words_go_and_come_back(case):
    words, eta = case.random(9)
    assert_same(case.family.to_standard(eta), words, rtol=1e-11, atol=1e-12)
    assert case.family.describe(eta).keys() == set(StandardParameters._fields)


@pytest.mark.parametrize("case", REGRESSIONS)
def test_words_of_regressions_go_and_come_back(case):
    words, eta = case.random(9)
    assert_same(case.family.to_standard(eta), words, rtol=1e-10, atol=1e-12)
    assert case.family.describe(eta).keys() == set(RegressionParameters._fields)


@pytest.mark.parametrize("case", GAUSSIANS + REGRESSIONS)
def test_a_prior_has_a_mode_if_it_is_a_distribution_and_its_count_is_not_negative(case):
    _, eta = case.random(10, counted=1.0)
    assert case.family.has_mode(eta)
    assert not case.family.has_mode(eta._replace(count=eta.count - eta.count.max() - 1e-9))
    assert not case.family.has_mode(eta._replace(strength=0.0 * eta.strength))
    assert not case.family.has_mode(eta._replace(second=-eta.second))


@every_gaussian
def test_draws_of_the_mean_given_the_precision(case):
    """β (μ - m)ᵀ Λ (μ - m) is chi-square for every mean."""
    words, eta = case.random(11)
    many = zip_fields(lambda x: np.broadcast_to(x, (N_DRAWS, *np.shape(x))), eta)
    t = case.family.sample_stats(many, np.random.default_rng(11))
    precision, mean = -2.0 * t.second, words.mean
    if case.kind in ("diagonal", "spherical"):
        shape = (case.K, case.D) if case.kind == "diagonal" else (case.K, 1)
        at_mean, cross = precision.reshape(-1, *shape) * mean**2, mean * t.first
    else:
        at_mean = mean * (precision.reshape(N_DRAWS, -1, case.D, case.D) @ mean[..., None])[..., 0]
        cross = mean * t.first
    if case.kind != "diagonal":
        at_mean, cross = at_mean.sum(-1), cross.sum(-1)
    df = 1 if case.kind == "diagonal" else case.D
    distance = words.mean_strength * (-2.0 * t.strength - 2.0 * cross + at_mean)
    for column in distance.reshape(N_DRAWS, -1).T:
        assert distributions.kstest(column, distributions.chi2(df).cdf).pvalue > P_VALUE


@every_gaussian
def test_draws_of_the_precision(case):
    """Λ_dd / W_dd is chi-square with ν degrees of freedom."""
    words, eta = case.random(12)
    many = zip_fields(lambda x: np.broadcast_to(x, (N_DRAWS, *np.shape(x))), eta)
    t = case.family.sample_stats(many, np.random.default_rng(12))
    precision, scale, degrees = -2.0 * t.second, words.scale, words.degrees_of_freedom
    if case.kind in ("full", "tied"):
        precision, scale = (np.diagonal(x, axis1=-2, axis2=-1) for x in (precision, scale))
        degrees = np.broadcast_to(degrees[..., None], scale.shape)
    ratio = (precision / scale).reshape(N_DRAWS, -1)
    for column, df in zip(ratio.T, np.ravel(degrees), strict=True):
        assert distributions.kstest(column, distributions.chi2(df).cdf).pvalue > P_VALUE
