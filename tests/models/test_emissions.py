"""What states make of rows: densities, completions, predictions, simulations, names."""

from itertools import product

import numpy as np
import pytest
from models.mixture_cases import KINDS, emission_of, layouts, make_case, named_point, random_point
from naive import mixtures as naive
from scipy.stats import kstest, multivariate_normal, multivariate_t, nbinom, poisson, t

from jensen.exceptions import JensenError
from jensen.families import normal_gamma, normal_wishart, spherical, tied
from jensen.families.gamma import Gamma
from jensen.families.tied import by_state, select_states
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.poisson import Poisson
from jensen.models.emissions.product import ProductEmission
from jensen.q_hidden.structures import MAX, SUM, draw
from jensen.support.fields import leaves

every_kind = pytest.mark.parametrize("kind", KINDS)


def random_covariances(rng, K, D):
    root = rng.normal(size=(K, D, D))
    return root @ root.transpose(0, 2, 1) + 0.3 * np.eye(D)


# Missing values of Gaussians.


@pytest.mark.parametrize("D", range(1, 7))
def test_missing_numbers_are_filled_in_as_conditional_gaussians(D):
    """All 2^D patterns, each by the algebra of Schur complements of the covariance."""
    rng = np.random.default_rng(D)
    K, shift = 2, rng.normal(0.0, 5.0, D)
    means, covariances = rng.normal(size=(K, D)) + shift, random_covariances(rng, K, D)
    emission = Gaussian(K, shift, None)
    at = emission.family.mode_stats(emission.read({"means": means, "covariances": covariances}))
    for pattern in product([False, True], repeat=D):
        m, o = np.flatnonzero(pattern), np.flatnonzero(~np.array(pattern))
        x = rng.normal(size=(3, D)) + shift
        x[:, m] = np.nan
        nodes = rng.uniform(0.2, 2.0, (K, 3))
        observed = emission.observe(at, emission.encode(x))
        log_like, stats = observed.log_like(0, 3), observed.stats(0, 3, nodes)
        for k in range(K):
            C, full = covariances[k], x.copy()
            gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)]) if len(o) else np.zeros((D, 0))
            full[:, m] = means[k, m] + (x[:, o] - means[k, o]) @ gain.T
            spread = np.zeros((D, D))
            spread[np.ix_(m, m)] = C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)]
            full = full - shift
            first = nodes[k] @ full
            second = (full.T * nodes[k]) @ full + nodes[k].sum() * spread
            np.testing.assert_allclose(stats.first[k], first, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(stats.second[k], second, rtol=1e-9, atol=1e-8)
            expected = np.zeros(3)
            if len(o):
                expected = multivariate_normal.logpdf(x[:, o], means[k, o], C[np.ix_(o, o)])
            np.testing.assert_allclose(log_like[k], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("pattern", [(1, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)])
def test_drawn_numbers_have_the_conditional_mean_and_covariance(is_tied, pattern):
    """4,000 copies of a row; errors of the mean and of second moments below 4.5 deviations."""
    rng = np.random.default_rng(0)
    n, D = 4000, 3
    means, covariances = rng.normal(size=(2, D)), random_covariances(rng, 2, D)
    given = covariances[0] if is_tied else covariances
    emission = Gaussian(2, np.zeros(D), None, is_tied=is_tied)
    at = emission.family.mode_stats(emission.read({"means": means, "covariances": given}))
    m = np.flatnonzero(pattern)
    x = rng.normal(size=D)
    x[m] = np.nan
    rows = emission.encode(np.tile(x, (n, 1)))
    nodes = np.zeros((2, n))
    nodes[1] = 1.0  # all rows in the second state
    stats = emission.observe(at, rows).stats(0, n, nodes, draw(rng))
    C = covariances[0] if is_tied else covariances[1]
    seen = naive.look("full", (0.0, means[1], np.linalg.inv(C)), x)
    mean, square = seen.stats
    spread = square - np.outer(mean, mean)
    second = stats.second / n if is_tied else stats.second[1] / n
    first = stats.first[1] / n
    assert np.all(np.abs(first - mean) <= 4.5 * np.sqrt(np.diag(spread) / n) + 1e-9)
    found = second - np.outer(first, first)
    error = np.sqrt((np.outer(np.diag(spread), np.diag(spread)) + spread**2) / n)
    assert np.all(np.abs(found - spread) <= 4.5 * error + 1e-9)
    assert np.all(stats.first[0] == 0.0)


@pytest.mark.parametrize("kind", ["diagonal", "spherical", "counts", "labels", "binary"])
def test_drawn_cells_follow_their_state(kind):
    """Means of drawn cells, of 6,000 copies of a row with nothing seen: z below 4.5."""
    rng = np.random.default_rng(1)
    layout = layouts(kind, 2)[0]
    theta, shift = random_point(layout, 2, rng), np.zeros(2)
    emission = emission_of(layout, 2, None, shift)
    at = emission.family.mode_stats(emission.read(named_point(layout, theta, shift)))
    n = 6000
    nodes = np.repeat(np.array([[0.0], [1.0]]), n, axis=1)
    rows = emission.encode(np.full((n, 2), np.nan))
    stats = emission.observe(at, rows).stats(0, n, nodes, draw(rng))
    if kind in ("labels", "binary"):
        p = theta[1]
        z = (stats[1] - n * p) / np.sqrt(n * p * (1.0 - p))
        assert stats[0].sum() == 0.0
        assert stats[1].sum() == 2 * n
    elif kind == "counts":
        z = (stats.total[1] - n * theta[1]) / np.sqrt(n * theta[1])
    else:
        means, precision = theta
        z = (stats.first[1] / n - means[1]) * np.sqrt(n * precision[1])
        total = np.sum(stats.second[1]) / n
        expected = (means[1] ** 2 + 1.0 / precision[1]).sum()
        assert total == pytest.approx(expected, rel=0.1)
    assert np.abs(z).max() < 4.5


# Predictions.


def rows_with_gaps(D):
    rng = np.random.default_rng(D)
    x = rng.normal(0.0, 2.0, (2**D, D))
    for i in range(2**D):
        x[i, [d for d in range(D) if (i >> d) & 1]] = np.nan
    return x


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_predictions_of_full_gaussians_are_students_of_what_is_seen(kind):
    rng = np.random.default_rng(0)
    K, D = 2, 3
    m, beta = rng.normal(size=(K, D)), rng.uniform(0.5, 3.0, K)
    shift = rng.normal(0.0, 9.0, D)
    is_tied = kind == "tied"
    W = random_covariances(rng, 1 if is_tied else K, D)
    nu = np.asarray(6.5) if is_tied else np.array([2.5, 9.0])
    eta = (tied if is_tied else normal_wishart).from_standard(m, beta, nu, W[0] if is_tied else W)
    x = rows_with_gaps(D)
    emission = Gaussian(K, shift, None, is_tied=is_tied)
    found = emission.predict(eta, emission.encode(x + shift)).log_like(0, len(x))
    for k in range(K):
        freedom = float(nu if is_tied else nu[k]) + 1.0 - D
        spread = np.linalg.inv(W[0 if is_tied else k]) * (1.0 + beta[k]) / (beta[k] * freedom)
        for i, row in enumerate(x):
            o = np.flatnonzero(~np.isnan(row))
            expected = 0.0
            if len(o):
                expected = multivariate_t.logpdf(row[o], m[k, o], spread[np.ix_(o, o)], freedom)
            assert found[k, i] == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_predictions_of_diagonal_gaussians_are_students_column_by_column():
    rng = np.random.default_rng(0)
    m, (beta, nu, W) = rng.normal(size=(2, 3)), rng.uniform(0.5, 3.0, (3, 2, 3))
    x, shift = rows_with_gaps(3), rng.normal(0.0, 9.0, 3)
    emission = Diagonal(2, shift, None)
    eta = normal_gamma.from_standard(m, beta, nu, W)
    found = emission.predict(eta, emission.encode(x + shift)).log_like(0, len(x))
    for k in range(2):
        scale = np.sqrt((1.0 + beta[k]) / (beta[k] * nu[k] * W[k]))
        expected = np.nansum(t.logpdf(x, nu[k], m[k], scale), axis=1)
        np.testing.assert_allclose(found[k], expected, rtol=1e-10, atol=1e-12)


def test_predictions_of_spherical_gaussians_are_students_of_what_is_seen():
    rng = np.random.default_rng(0)
    m, (beta, nu, W) = rng.normal(size=(2, 3)), rng.uniform(0.5, 3.0, (3, 2))
    x, shift = rows_with_gaps(3), rng.normal(0.0, 9.0, 3)
    emission = Diagonal(2, shift, None, is_spherical=True)
    eta = spherical.from_standard(m, beta, nu, W)
    found = emission.predict(eta, emission.encode(x + shift)).log_like(0, len(x))
    for k in range(2):
        spread = (1.0 + beta[k]) / (beta[k] * nu[k] * W[k])
        for i, row in enumerate(x):
            o = np.flatnonzero(~np.isnan(row))
            expected = 0.0
            if len(o):
                matrix = spread * np.eye(len(o))
                expected = multivariate_t.logpdf(row[o], m[k, o], matrix, nu[k])
            assert found[k, i] == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_predictions_of_counts_are_negative_binomial():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.3, 4.0, (2, 2, 3))
    x = rng.poisson(3.0, (8, 3)).astype(float)
    x[rng.random(x.shape) < 0.3] = np.nan
    emission = Poisson(2, 3, None)
    found = emission.predict(Gamma(a - 1.0, b), emission.encode(x)).log_like(0, 8)
    for k in range(2):
        seen = ~np.isnan(x)
        each = nbinom.logpmf(np.where(seen, x, 0.0), a[k], b[k] / (b[k] + 1.0))
        expected = np.where(seen, each, 0.0).sum(1)
        np.testing.assert_allclose(found[k], expected, rtol=1e-10, atol=1e-12)


def test_predictions_of_labels_are_expected_probabilities():
    alpha = np.random.default_rng(0).uniform(0.3, 4.0, (2, 2, 3))
    x = np.array([[0.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])
    emission = Discrete(2, 2, 3, None)
    found = emission.predict(alpha - 1.0, emission.encode(x)).log_like(0, 3)
    p = alpha / alpha.sum(-1, keepdims=True)
    np.testing.assert_allclose(found[:, 0], np.log(p[:, 0, 0] * p[:, 1, 2]), rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], np.log(p[:, 1, 1]), rtol=1e-12)
    np.testing.assert_allclose(found[:, 2], 0.0, atol=1e-14)


def test_predictions_of_several_kinds_are_their_sum():
    case = make_case("product", 2)
    _, eta = case.posterior(np.random.default_rng(0))
    emission, x = case.model.emission, case.values + case.shift
    found = emission.predict(eta.components, emission.encode(x)).log_like(0, len(x))
    parts = sum(
        part.predict(e, part.encode(x[:, columns])).log_like(0, len(x))
        for part, e, columns in zip(emission.parts, eta.components, emission.columns, strict=True)
    )
    np.testing.assert_allclose(found, parts, rtol=1e-12)


# Names, and simulated rows.


@every_kind
def test_parameters_that_are_read_are_shown(kind):
    case = make_case(kind, 3)
    (_, parts), eta = case.point(np.random.default_rng(0))
    emission = case.model.emission
    shown = emission.show(emission.family.mode_stats(eta.components))
    for number, (layout, part) in enumerate(zip(case.layouts, parts, strict=True)):
        found = shown["abc"[number]] if kind == "product" else shown
        expected = named_point(layout, part.theta, case.shift)
        assert set(found) == set(expected)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-10)


@every_kind
def test_the_point_of_a_posterior_is_its_mean(kind):
    """Means of probabilities, rates and precisions; at a point potentials are densities."""
    case = make_case(kind, 2)
    (alpha, parts), eta = case.posterior(np.random.default_rng(0))
    at = case.model.point(eta)
    np.testing.assert_allclose(np.exp(at.weights), alpha / alpha.sum(), rtol=1e-12)
    for number, (layout, part) in enumerate(zip(case.layouts, parts, strict=True)):
        kind_here, theta = layout.kind, part.theta
        if kind_here == "labels":
            mean = theta / theta.sum(-1, keepdims=True)
        elif kind_here == "counts":
            mean = theta[0] / theta[1]
        else:
            degrees = theta[2][..., None, None] if kind_here in ("full", "tied") else theta[2]
            mean = (theta[0], degrees * theta[3])
        emission = case.model.emission
        if kind == "product":
            emission, here = emission.parts[number], at.components[number]
        else:
            here = at.components
        found = emission.show(here)
        for name, value in named_point(layout, mean, case.shift).items():
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-10)


@every_kind
def test_simulated_rows_follow_their_state(kind):
    """Each column of the second state against its distribution (p above 1e-4)."""
    case = make_case(kind, 2)
    (_, parts), eta = case.point(np.random.default_rng(3))
    emission = case.model.emission
    at = emission.family.mode_stats(eta.components)
    n = 3000
    states = np.arange(2 * n) % 2
    rows = emission.simulate(at, states, np.random.default_rng(4))[states == 1]
    assert rows.shape == (n, case.values.shape[1])
    for layout, part in zip(case.layouts, parts, strict=True):
        for d, column in enumerate(layout.columns):
            x = rows[:, column]
            if layout.kind == "labels":
                p = part.theta[1, d]
                z = (np.bincount(x.astype(int), minlength=len(p)) - n * p) / np.sqrt(n * p)
                assert np.abs(z).max() < 4.5
            elif layout.kind == "counts":
                rate = part.theta[1, d]
                assert abs(x.mean() - rate) < 4.5 * np.sqrt(rate / n)
                p = poisson.pmf(np.arange(30), rate)
                z = np.bincount(x.astype(int), minlength=30)[:30] - n * p
                assert np.abs(z / np.sqrt(n * p + 1.0)).max() < 4.5
            else:
                means, precision = part.theta
                full = naive.full_precision(layout.kind, precision, *means.shape)
                deviation = np.sqrt(np.linalg.inv(full[1])[d, d])
                away = (x - case.shift[column] - means[1, d]) / deviation
                assert kstest(away, "norm").pvalue > 1e-4
    _correlations(case, parts, rows)


def _correlations(case, parts, rows):
    for layout, part in zip(case.layouts, parts, strict=True):
        if layout.kind in ("full", "tied"):
            means, precision = part.theta
            C = np.linalg.inv(naive.full_precision(layout.kind, precision, *means.shape)[1])
            found = np.cov(rows[:, layout.columns].T)
            error = np.sqrt((np.outer(np.diag(C), np.diag(C)) + C**2) / len(rows))
            assert np.all(np.abs(found - C) < 4.5 * error)


@every_kind
def test_states_can_be_selected_and_turned(kind):
    case = make_case(kind, 3)
    _, eta = case.point(np.random.default_rng(0))
    emission = case.model.emission
    at = emission.family.mode_stats(eta.components)
    rows = emission.encode(case.values + case.shift)
    whole = emission.observe(at, rows).log_like(0, len(case.values))
    some = select_states(at, np.array([2, 0]))
    found = emission.observe(some, rows).log_like(0, len(case.values))
    np.testing.assert_allclose(found, whole[[2, 0]], rtol=1e-12)
    assert len(by_state(at)) == 3


@every_kind
def test_blank_is_an_eta_of_zeros(kind):
    case = make_case(kind, 2)
    _, eta = case.posterior(np.random.default_rng(0))
    for zeros, found in zip(leaves(case.model.blank), leaves(eta), strict=True):
        assert np.shape(zeros) == np.shape(found)
        assert not np.any(zeros)


@every_kind
def test_any_part_of_the_rows_can_be_looked_at(kind):
    """A segment that starts in the middle, of patterns that stand in any order."""
    case = make_case(kind, 2)
    _, eta = case.posterior(np.random.default_rng(0))
    emission = case.model.emission
    at, n = emission.family.mean_stats(eta.components), len(case.values)
    observed = emission.observe(at, emission.encode(case.values + case.shift))
    nodes = np.random.default_rng(1).random((2, n))
    for how in (SUM, MAX):
        whole = observed.log_like(0, n, how)
        parts = [observed.log_like(a, min(a + 3, n), how) for a in range(0, n, 3)]
        np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, rtol=1e-12)
        total = leaves(observed.stats(0, n, nodes, how))
        pieces = [
            leaves(observed.stats(a, min(a + 3, n), nodes[:, a : a + 3].copy(), how))
            for a in range(0, n, 3)
        ]
        for i, leaf in enumerate(total):
            np.testing.assert_allclose(sum(p[i] for p in pieces), leaf, rtol=1e-9, atol=1e-9)


def test_a_state_that_cannot_make_a_row_says_so():
    counts, rows = Poisson(2, 1, None), np.array([[0.0], [3.0], [np.nan]])
    at = counts.family.mode_stats(Gamma(np.array([[0.0], [2.0]]), np.ones((2, 1))))
    observed = counts.observe(at, counts.encode(rows))
    log_like = observed.log_like(0, 3)
    assert log_like[0].tolist() == [0.0, -np.inf, 0.0]
    assert observed.log_like(0, 3, MAX)[0].tolist() == [0.0, -np.inf, 0.0]
    stats = observed.stats(0, 3, np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    assert stats.total.ravel().tolist() == [0.0, 3.0]
    assert stats.exposure.ravel().tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "change", "match"),
    [
        ("full", {"means": np.zeros((2, 2))}, r"start\['means'\] must have the shape \(2, 3\)"),
        ("full", {"means": "far"}, r"start\['means'\] must be an array of numbers"),
        ("full", {"means": np.full((2, 3), np.nan)}, "finite numbers only"),
        ("full", {"covariances": -np.stack([np.eye(3)] * 2)}, "positive definite"),
        ("full", {"covariances": np.stack([np.triu(np.ones((3, 3)))] * 2)}, "symmetric"),
        ("tied", {"covariances": np.stack([np.eye(3)] * 2)}, r"shape \(3, 3\), not \(2, 3, 3\)"),
        ("diagonal", {"covariances": np.zeros((2, 2))}, "variances above 0"),
        ("spherical", {"covariances": np.array([1.0, -1.0])}, "variances above 0"),
        ("labels", {"emission": np.full((2, 2, 3), 0.5)}, "sum to 1 in every row"),
        ("binary", {"emission": np.full((2, 2), 1.5)}, "sum to 1 in every row"),
        ("counts", {"emission": np.full((2, 2), -1.0)}, "must be rates, 0 or more"),
    ],
)
def test_parameters_that_cannot_be_are_refused(kind, change, match):
    case = make_case(kind, 2)
    (_, parts), _ = case.point(np.random.default_rng(0))
    named = named_point(case.layouts[0], parts[0].theta, case.shift)
    case.model.emission.read(named)
    with pytest.raises(JensenError, match=match):
        case.model.emission.read({**named, **change})


def test_parameters_that_lack_are_named():
    with pytest.raises(JensenError, match=r"start= lacks 'covariances', an array of the shape"):
        Gaussian(1, np.zeros(1), None).read({"means": [[0.0]]})
    both = ProductEmission((Poisson(1, 1, None),), (np.array([0]),), ("eggs",))
    with pytest.raises(JensenError, match="start= lacks the parameters of 'eggs'"):
        both.read({})
    assert both.read({"eggs": [[2.0]]})[0].total.tolist() == [[2.0]]
