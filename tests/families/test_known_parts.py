"""Gaussians with known means or known precisions, against Bayes' rule applied block by block."""

from typing import NamedTuple

import numpy as np
import pytest
from naive import families as naive
from scipy import integrate
from scipy import stats as distributions
from scipy.stats import multivariate_normal, multivariate_t, wishart

from jensen.exceptions import CollapseError
from jensen.families import inner, kl, log_evidence, neg_log_density
from jensen.families.partly_known import KINDS, KnownMeans, KnownPrecisions
from jensen.families.wishart import StandardParameters
from jensen.models.emissions.gaussian_states import FAMILIES
from jensen.support.fields import zip_fields

N_DRAWS = 8_000
P_VALUE = 1e-6


def random_words(kind, K, D, seed, counted=0.0):
    rng = np.random.default_rng(seed)
    each = {"tied": (), "diagonal": (K, D)}.get(kind, (K,))
    size = D if kind in ("full", "tied") else 1
    root = rng.standard_normal((*each, size, size)) + 2.0 * np.eye(size)
    scale = root @ np.swapaxes(root, -1, -2) / size
    return StandardParameters(
        rng.standard_normal((K, D)),
        rng.uniform(0.3, 3.0, (K, D) if kind == "diagonal" else K),
        np.asarray(size - 1.0 + counted + rng.uniform(0.2, 5.0, each)),
        scale if kind in ("full", "tied") else scale[..., 0, 0],
    )


class MeansCase(NamedTuple):
    """Precisions are unknown; the means are those of seed 100."""

    kind: str
    K: int
    D: int

    @property
    def mean(self):
        return random_words(self.kind, self.K, self.D, 100).mean

    @property
    def family(self):
        return KnownMeans(self.mean, self.kind)

    def conditional(self, words):
        """Degrees of freedom and scatter of each precision: a mean counts as one row worth β."""
        degrees, scatter = {}, {}
        for place in naive.precisions(self.kind, self.K, self.D):
            degrees[place] = float(words.degrees_of_freedom[place])
            scatter[place] = np.linalg.inv(naive.matrix(words.scale[place]))
        for k, columns, strength, place in naive.blocks(self.kind, self.K, self.D):
            away = (self.mean - words.mean)[k][columns]
            degrees[place] += 1
            scatter[place] = scatter[place] + words.mean_strength[strength] * np.outer(away, away)
        return degrees, scatter

    def log_density(self, words, t):
        degrees, scatter = self.conditional(words)
        return sum(
            wishart.logpdf(naive.matrix(-2.0 * t.second[x]), degrees[x], np.linalg.inv(scatter[x]))
            for x in degrees
        )

    def near(self, t, rng, step):
        """The statistics at another precision."""
        precision = -2.0 * np.asarray(t.second)
        if self.kind in ("diagonal", "spherical"):
            precision = precision * np.exp(step * rng.standard_normal(precision.shape))
        else:
            twist = np.eye(self.D) + step * rng.standard_normal(precision.shape)
            precision = twist @ precision @ np.swapaxes(twist, -1, -2)
        return t._replace(second=-0.5 * precision)

    def log_predictions(self, words, rows, labels):
        """Rows one after the other, each a Student t about its mean."""
        degrees, scatter = self.conditional(words)
        total = 0.0
        for x, label in zip(rows, labels, strict=True):
            for k, columns, _, place in naive.blocks(self.kind, self.K, self.D):
                if k == label:
                    df, away = degrees[place] + 1 - len(columns), (x - self.mean[k])[columns]
                    total += multivariate_t.logpdf(away, 0.0 * away, scatter[place] / df, df)
                    scatter[place] = scatter[place] + np.outer(away, away)
                    degrees[place] += 1
        return total


class PrecisionsCase(NamedTuple):
    """Means are unknown; the precisions are the scales of seed 100."""

    kind: str
    K: int
    D: int

    @property
    def precision(self):
        return random_words(self.kind, self.K, self.D, 100).scale

    @property
    def family(self):
        return KnownPrecisions(self.precision, self.kind)

    def means(self, t):
        """Of which these are the statistics."""
        if self.kind in ("full", "tied"):
            wide = np.broadcast_to(self.precision, (self.K, self.D, self.D))
            return np.linalg.solve(wide, t.first[..., None])[..., 0]
        return t.first / (self.precision if self.kind == "diagonal" else self.precision[:, None])

    def log_density(self, words, t):
        mean = self.means(t)
        return sum(
            multivariate_normal.logpdf(
                mean[k][columns],
                words.mean[k][columns],
                np.linalg.inv(words.mean_strength[strength] * naive.matrix(self.precision[place])),
            )
            for k, columns, strength, place in naive.blocks(self.kind, self.K, self.D)
        )

    def near(self, t, rng, step):
        return t._replace(first=t.first + step * rng.standard_normal(t.first.shape))

    def log_predictions(self, words, rows, labels):
        """All rows of a block at once: they share a mean that is Gaussian itself."""
        total = 0.0
        for k, columns, strength, place in naive.blocks(self.kind, self.K, self.D):
            own = rows[labels == k][:, columns]
            n, spread = len(own), np.linalg.inv(naive.matrix(self.precision[place]))
            if n:
                joint = np.kron(np.eye(n) + 1.0 / words.mean_strength[strength], spread)
                mean = np.tile(words.mean[k][columns], n)
                total += multivariate_normal.logpdf(own.ravel(), mean, joint)
        return total


SIZES = [(1, 1), (3, 1), (2, 3)]
CASES = [
    pytest.param(case(kind, K, D), id=f"{case.__name__} {kind} {K} x {D}")
    for case in (MeansCase, PrecisionsCase)
    for kind in KINDS
    for K, D in SIZES
]
every_case = pytest.mark.parametrize("case", CASES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def words_and_eta(case, seed, counted=0.0):
    words = random_words(case.kind, case.K, case.D, seed, counted)
    return words, FAMILIES[case.kind].from_standard(*words)


def rows_of(case, seed, n=12):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, case.D)) * 2.0 + 1.0, rng.integers(0, case.K, n)


@every_case
def test_mean_stats_is_the_gradient_of_log_partition(case):
    _, eta = words_and_eta(case, 0)
    numerical = naive.record_gradient(case.family.log_partition, eta)
    found = case.family.mean_stats(eta)
    assert found._fields == numerical._fields
    for name, x, y in zip(found._fields, found, numerical, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-6, atol=2e-6, err_msg=name)


@every_case
def test_log_density_is_the_joint_one_given_what_is_known(case):
    words, eta = words_and_eta(case, 1)
    for seed in range(3):
        t = case.family.sample_stats(eta, np.random.default_rng(seed))
        expected = case.log_density(words, t)
        assert -neg_log_density(case.family, eta, None, t) == pytest.approx(expected, rel=1e-9)


@every_case
def test_statistics_are_those_of_a_point_with_what_is_known(case):
    """At the mode and at draws; all shapes are those of η."""
    _, eta = words_and_eta(case, 2, counted=1.0)
    kind = KINDS[case.kind]
    points = (case.family.mode_stats(eta), case.family.sample_stats(eta, np.random.default_rng(0)))
    for t in (*points, case.family.mean_stats(eta)):
        assert type(t) is type(eta)
        assert [np.shape(x) for x in t] == [np.shape(x) for x in eta]
    for t in points:
        precision = -2.0 * np.asarray(t.second)
        if isinstance(case, MeansCase):
            mean = case.mean
        else:
            mean = case.means(t)
            np.testing.assert_allclose(precision, case.precision, rtol=1e-12)
        is_matrix = case.kind in ("full", "tied")
        log_det = np.linalg.slogdet(precision)[1] if is_matrix else np.log(precision)
        at = kind.outside(kind.core.stats_at(kind.means(mean), precision, log_det))
        for x, y in zip(t, at, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)


@every_case
def test_mode_is_the_maximiser_of_the_density(case):
    rng = np.random.default_rng(3)
    words, eta = words_and_eta(case, 3, counted=1.0)
    mode = case.family.mode_stats(eta)
    best = case.log_density(words, mode)
    for step in [1e-3, 1e-2, 0.1, 0.5]:
        for _ in range(5):
            assert case.log_density(words, case.near(mode, rng, step)) < best


@every_case
def test_draws_have_the_right_moments(case):
    """Two-sided z-tests of E[t(θ)] in every entry that varies, together at P_VALUE."""
    _, eta = words_and_eta(case, 4, counted=1.0)
    many = zip_fields(lambda x: np.broadcast_to(x, (N_DRAWS, *np.shape(x))), eta)
    t = case.family.sample_stats(many, np.random.default_rng(4))
    limit = distributions.norm.isf(P_VALUE / (2 * sum(np.size(x) for x in eta)))
    for draws, mean in zip(t, case.family.mean_stats(eta), strict=True):
        error = draws.std(0) / np.sqrt(N_DRAWS)
        assert np.all(np.abs(draws.mean(0) - mean) <= limit * error + 1e-12 * np.abs(mean))


@every_case
def test_kl_is_zero_at_equality_and_positive_elsewhere(case):
    _, prior = words_and_eta(case, 5)
    _, eta = words_and_eta(case, 6)
    assert kl(case.family, prior, prior, case.family.mean_stats(prior)) == 0.0
    assert kl(case.family, prior, eta, case.family.mean_stats(eta)) > 0.0


@every_case
def test_log_evidence_is_that_of_the_rows(case):
    words, eta = words_and_eta(case, 7)
    rows, labels = rows_of(case, 7)
    stats = naive.gaussian_stats(case.kind, rows, labels, eta)
    expected = case.log_predictions(words, rows, labels)
    found = log_evidence(case.family, eta, stats) - 0.5 * rows.size * np.log(2.0 * np.pi)
    assert found == pytest.approx(expected, rel=1e-10)


@every_kind
@pytest.mark.parametrize("case_type", [MeansCase, PrecisionsCase])
def test_log_partition_is_the_integral(kind, case_type):
    """In one dimension by quadrature."""
    case = case_type(kind, 1, 1)
    _, eta = words_and_eta(case, 8)

    def height(x):
        free = isinstance(case, MeansCase)
        precision = x if free else case.precision.item()
        mean = case.mean.item() if free else x
        t = (np.log(precision), -precision, 2.0 * precision * mean, -precision * mean**2)
        flat = type(eta)(*(np.full(np.shape(e), 0.5 * v) for e, v in zip(eta, t, strict=True)))
        return np.exp(inner(eta, flat))

    low = 0.0 if case_type is MeansCase else -np.inf
    total = integrate.quad(height, low, np.inf, epsabs=0.0, epsrel=1e-10)[0]
    assert np.log(total) == pytest.approx(case.family.log_partition(eta), rel=1e-8, abs=1e-8)


@every_case
def test_the_flat_prior_costs_nothing(case):
    _, stats = words_and_eta(case, 9, counted=2.0)
    assert neg_log_density(case.family, None, stats, case.family.mode_stats(stats)) == 0.0


@every_case
def test_what_people_read(case):
    words, eta = words_and_eta(case, 10)
    told = case.family.describe(eta)
    if isinstance(case, PrecisionsCase):
        assert told.keys() == {"mean", "mean_strength"}
        np.testing.assert_allclose(told["mean"], words.mean, rtol=1e-12)
        np.testing.assert_allclose(told["mean_strength"], words.mean_strength)
        return
    assert told.keys() == {"degrees_of_freedom", "scale"}
    degrees, scatter = case.conditional(words)
    for place in degrees:
        assert told["degrees_of_freedom"][place] == pytest.approx(degrees[place], rel=1e-12)
        found = naive.matrix(told["scale"][place])
        np.testing.assert_allclose(found, np.linalg.inv(scatter[place]), rtol=1e-9)
    full = case.family.to_standard(eta)
    assert [np.shape(x) for x in full] == [np.shape(x) for x in words]
    assert np.all(full.mean_strength == np.inf)


@every_case
def test_a_prior_has_a_mode_if_it_is_a_distribution(case):
    _, eta = words_and_eta(case, 11, counted=1.0)
    assert case.family.has_mode(eta)
    if isinstance(case, MeansCase):
        assert not case.family.has_mode(eta._replace(count=eta.count - eta.count.max() - 1e-9))
        assert not case.family.has_mode(eta._replace(second=-1e3 * eta.second))
    else:
        assert not case.family.has_mode(eta._replace(strength=0.0 * eta.strength))


# --- where there is no estimate ---


def stats_without(kind, empty, mean, K=3, D=2):
    """Statistics of rows, none of them of the component that is empty."""
    rng = np.random.default_rng(0)
    labels = np.array([k for k in range(K) for _ in range(8) if k != empty])
    rows = mean[labels] + rng.standard_normal((len(labels), D))
    like = FAMILIES[kind].from_standard(*random_words(kind, K, D, 0))
    return rows, labels, naive.gaussian_stats(kind, rows, labels, like)


@every_kind
def test_an_empty_component_has_no_estimate_of_what_is_its_own(kind):
    mean = np.arange(6.0).reshape(3, 2)
    rows, labels, stats = stats_without(kind, 1, mean)
    with pytest.raises(CollapseError, match="no rows left") as caught:
        PrecisionsCase(kind, 3, 2).family.mode_stats(stats)
    assert list(caught.value.components) == [1]
    family = KnownMeans(mean, kind)
    if kind != "tied":
        with pytest.raises(CollapseError, match="no rows left") as caught:
            family.mode_stats(stats)
        assert list(caught.value.components) == [1]
        return
    away = rows - mean[labels]  # the others share their precision with it
    precision = -2.0 * family.mode_stats(stats).second
    np.testing.assert_allclose(np.linalg.inv(precision), away.T @ away / len(rows), rtol=1e-10)


@every_kind
def test_rows_at_the_known_mean_leave_no_spread(kind):
    mean = np.array([[1.0, 2.0], [3.3, 4.7]])
    rows = np.repeat(mean, 5, axis=0)
    rows[:5] += np.random.default_rng(0).standard_normal((5, 2)) * (kind != "tied")
    like = FAMILIES[kind].from_standard(*random_words(kind, 2, 2, 0))
    stats = naive.gaussian_stats(kind, rows, np.repeat([0, 1], 5), like)
    with pytest.raises(CollapseError, match="no spread") as caught:
        KnownMeans(mean, kind).mode_stats(stats)
    assert list(caught.value.components) == ([0, 1] if kind == "tied" else [1])


@every_kind
def test_too_few_rows_for_a_distribution_over_precisions(kind):
    case = MeansCase(kind, 2, 2)
    _, eta = words_and_eta(case, 0)
    with pytest.raises(CollapseError, match="too few rows"):
        case.family.mean_stats(eta._replace(count=0.0 * eta.count - 2.0))


@every_kind
def test_a_known_mean_needs_no_row_of_spread(kind):
    """One row in one dimension is an estimate: (x - μ)²."""
    like = FAMILIES[kind].from_standard(*random_words(kind, 1, 1, 0))
    stats = naive.gaussian_stats(kind, np.array([[3.0]]), np.array([0]), like)
    t = KnownMeans(np.array([[1.0]]), kind).mode_stats(stats)
    assert 1.0 / (-2.0 * t.second.item()) == pytest.approx(4.0, rel=1e-12)
