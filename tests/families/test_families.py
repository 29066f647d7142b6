"""What holds for every family whose η is an array, one row per family and shape."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from naive import families as naive
from scipy import stats as distributions
from scipy.integrate import trapezoid
from scipy.special import gammaln, logsumexp, polygamma

from jensen.families import inner, kl, log_evidence, neg_log_density
from jensen.families.dirichlet import SegmentedDirichlet, SoftmaxDirichlet, beta, dirichlet


class Case(NamedTuple):
    family: Any
    shape: tuple[int, ...]
    lengths: tuple[int, ...]  # of the single distributions, in the order of the flat array


CASES = [
    pytest.param(Case(dirichlet, (2,), (2,)), id="two states"),
    pytest.param(Case(dirichlet, (1,), (1,)), id="one state"),
    pytest.param(Case(dirichlet, (3, 4), (4, 4, 4)), id="matrix"),
    pytest.param(Case(dirichlet, (2, 2, 3), (3, 3, 3, 3)), id="three axes"),
    pytest.param(
        Case(SegmentedDirichlet(np.array([2, 3, 1, 5])), (11,), (2, 3, 1, 5)), id="ragged"
    ),
    pytest.param(Case(SegmentedDirichlet(np.array([4])), (4,), (4,)), id="one segment"),
    pytest.param(Case(beta, (2, 3, 2), (2,) * 6), id="probabilities"),
]
N_DRAWS = 40_000
every_family = pytest.mark.parametrize("case", CASES)


def rows(case, values):
    """The single distributions of an array."""
    return np.split(np.ravel(values), np.cumsum(case.lengths)[:-1])


def random_eta(case, seed=0, low=-0.9, high=5.0):
    return np.random.default_rng(seed).uniform(low, high, case.shape)


@every_family
def test_mean_stats_is_the_gradient_of_log_partition(case):
    eta = random_eta(case)
    numerical = naive.gradient(case.family.log_partition, eta)
    np.testing.assert_allclose(case.family.mean_stats(eta), numerical, rtol=1e-6, atol=1e-8)


@every_family
def test_log_density_is_the_density(case):
    rng = np.random.default_rng(1)
    eta = random_eta(case)
    t = case.family.sample_stats(eta, rng)
    expected = sum(
        naive.log_density(np.exp(log_pi), alpha)
        for log_pi, alpha in zip(rows(case, t), rows(case, eta + 1.0), strict=True)
    )
    assert neg_log_density(case.family, eta, None, t) == pytest.approx(-expected, rel=1e-12)


@every_family
def test_mode_is_the_maximiser_of_the_density(case):
    rng = np.random.default_rng(2)
    eta = random_eta(case, low=0.1)
    for mode, alpha in zip(
        rows(case, np.exp(case.family.mode_stats(eta))), rows(case, eta + 1.0), strict=True
    ):
        assert mode.sum() == pytest.approx(1.0, rel=1e-14)
        if len(mode) == 1:
            continue
        best = naive.log_density(mode, alpha)
        for step in [1e-3, 1e-2, 0.1, 0.5, 1.0]:
            for other in rng.dirichlet(np.ones(len(mode)), 20):
                assert naive.log_density((1 - step) * mode + step * other, alpha) < best


@every_family
def test_the_functions_of_probabilities_and_of_statistics_agree(case):
    eta = random_eta(case, low=0.1)
    np.testing.assert_allclose(np.log(case.family.mode(eta)), case.family.mode_stats(eta))
    described = dirichlet.describe(eta) if case.family is beta else case.family.describe(eta)
    assert described.keys() == {"concentration", "mean"}
    np.testing.assert_allclose(described["concentration"], eta + 1.0)
    for mean, alpha in zip(rows(case, described["mean"]), rows(case, eta + 1.0), strict=True):
        np.testing.assert_allclose(mean, alpha / sum(alpha), rtol=1e-14)


@every_family
def test_a_mode_exists_if_no_concentration_is_below_one(case):
    eta = random_eta(case, low=0.0)
    assert case.family.has_mode(eta)
    assert case.family.has_mode(np.zeros(case.shape))
    eta.flat[-1] = -1e-9
    assert not case.family.has_mode(eta)


def draws(case, eta, n, seed):
    """Many draws at once, one a row: n copies of the same distributions."""
    family, copies = case.family, np.broadcast_to(eta, (n, *eta.shape))
    if isinstance(family, SegmentedDirichlet):
        family, copies = SegmentedDirichlet(np.tile(family.lengths, n)), copies.ravel()
    return family.sample_stats(copies, np.random.default_rng(seed)).reshape(n, -1)


def assert_moments(case, eta, t):
    """Two-sided z-tests of E[log π] and E[π] in every cell, together at p = 1e-6."""
    alpha = rows(case, eta + 1.0)
    total = np.concatenate([np.full(len(a), a.sum()) for a in alpha])
    alpha = np.concatenate(alpha)
    free = alpha < total  # a distribution over one state does not vary
    limit = distributions.norm.isf(1e-6 / (4 * len(alpha)))
    sd = np.sqrt(polygamma(1, alpha) - polygamma(1, total))
    z = (t.mean(0) - case.family.mean_stats(eta).ravel())[free] / sd[free] * np.sqrt(len(t))
    assert np.abs(z).max(initial=0.0) < limit
    mean = alpha / total
    sd = np.sqrt(mean * (1.0 - mean) / (total + 1.0))
    z = (np.exp(t).mean(0) - mean)[free] / sd[free] * np.sqrt(len(t))
    assert np.abs(z).max(initial=0.0) < limit
    np.testing.assert_allclose(t[:, ~free], 0.0, atol=1e-12)


@every_family
def test_draws_have_the_right_moments(case):
    eta = random_eta(case)
    t = draws(case, eta, N_DRAWS, seed=3)
    assert_moments(case, eta, t)
    for part in np.split(t, np.cumsum(case.lengths)[:-1], axis=1):
        np.testing.assert_allclose(logsumexp(part, axis=1), 0.0, atol=1e-12)


@every_family
def test_draws_at_tiny_concentrations_do_not_underflow(case):
    eta = np.full(case.shape, 0.005 - 1.0)
    t = draws(case, eta, N_DRAWS, seed=4)
    assert np.all(np.isfinite(t))
    if max(case.lengths) > 1:
        assert t.min() < np.log(np.finfo(float).tiny)  # a plain gamma would have been 0 here
    assert_moments(case, eta, t)


def test_a_draw_of_two_states_follows_the_beta_distribution():
    t = draws(CASES[0].values[0], np.array([-0.7, 1.5]), 10 * N_DRAWS, seed=5)
    assert distributions.kstest(np.exp(t[:, 0]), distributions.beta(0.3, 2.5).cdf).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [[0.0, 2.0, 3.0], [1.5, 0.0, 0.0], [0.0, 0.0, 1.0]])
def test_a_concentration_of_zero_leaves_its_cell_out(alpha):
    alpha = np.array(alpha)
    inside = alpha > 0
    whole = Case(dirichlet, (3,), (3,))
    rest = Case(dirichlet, (int(inside.sum()),), (int(inside.sum()),))
    eta, rest_eta = alpha - 1.0, alpha[inside] - 1.0
    assert dirichlet.log_partition(eta) == pytest.approx(dirichlet.log_partition(rest_eta))
    np.testing.assert_allclose(dirichlet.mean_stats(eta)[inside], dirichlet.mean_stats(rest_eta))
    np.testing.assert_allclose(dirichlet.mean(eta)[inside], dirichlet.mean(rest_eta))
    assert np.all(dirichlet.mean_stats(eta)[~inside] == -np.inf)
    assert np.all(dirichlet.mean(eta)[~inside] == 0.0)
    t = draws(whole, eta, N_DRAWS, seed=6)
    assert np.all(t[:, ~inside] == -np.inf)
    assert_moments(rest, rest_eta, t[:, inside])
    stats = np.where(inside, [4.0, 1.0, 2.0], 0.0)
    q, q_rest = eta + stats, rest_eta + stats[inside]
    assert kl(dirichlet, eta, q, dirichlet.mean_stats(q)) == pytest.approx(
        kl(dirichlet, rest_eta, q_rest, dirichlet.mean_stats(q_rest)), abs=1e-14
    )


def test_a_distribution_that_is_left_out_reads_as_uniform():
    family = SegmentedDirichlet(np.array([2, 3]))
    eta = np.array([0.0, 2.0, -1.0, -1.0, -1.0])
    third = np.log([1 / 3] * 3)
    np.testing.assert_allclose(family.mean(eta)[2:], 1 / 3)
    np.testing.assert_allclose(family.mean_stats(eta)[2:], third)
    np.testing.assert_allclose(family.sample_stats(eta, np.random.default_rng(0))[2:], third)
    assert family.log_partition(eta) == pytest.approx(family.log_partition(np.array([0, 2, 0])))
    assert kl(family, eta, eta, family.mean_stats(eta)) == pytest.approx(0.0, abs=1e-15)


@every_family
def test_the_mode_without_counts_is_uniform_and_otherwise_the_frequencies(case):
    flat = np.zeros(case.shape)
    for row in rows(case, case.family.mode(flat)):
        np.testing.assert_allclose(row, 1.0 / len(row), rtol=1e-15)
    counts = np.zeros(case.shape)
    counts.flat[0] = 3.0
    first = rows(case, case.family.mode_stats(counts))[0]
    assert first[0] == 0.0
    assert np.all(first[1:] == -np.inf)


def test_all_of_n_is_exactly_one():
    n = np.arange(1.0, 2000.0)
    counts = np.stack([n, np.zeros_like(n)], 1)
    assert np.array_equal(dirichlet.mode(counts)[:, 0], np.ones_like(n))


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1e300])
def test_shares_of_extreme_weights(size):
    weights = np.array([size, size, 0.0, 0.0])
    np.testing.assert_allclose(dirichlet.share(weights), [0.5, 0.5, 0, 0])
    np.testing.assert_allclose(SegmentedDirichlet(np.array([4])).share(weights), [0.5, 0.5, 0, 0])


@every_family
def test_kl_is_zero_at_equality_and_positive_elsewhere(case):
    prior, eta = random_eta(case, 7), random_eta(case, 8)
    assert kl(case.family, prior, prior, case.family.mean_stats(prior)) == 0.0
    divergence = kl(case.family, prior, eta, case.family.mean_stats(eta))
    assert divergence == pytest.approx(0.0, abs=1e-12) if case.shape == (1,) else divergence > 0.0


@pytest.mark.parametrize("q", [[2.0, 3.0], [1.0, 1.0], [9.5, 1.25]])
@pytest.mark.parametrize("p", [[1.0, 1.0], [4.0, 1.5], [2.0, 7.0]])
def test_kl_is_the_integral(q, p):
    prior, eta = np.array(p) - 1.0, np.array(q) - 1.0
    divergence = kl(dirichlet, prior, eta, dirichlet.mean_stats(eta))
    assert divergence == pytest.approx(naive.kl_of_two_states(q, p), rel=1e-8, abs=1e-12)


def test_kl_keeps_its_digits_where_nothing_was_counted():
    """A hundred thousand empty cells, each with E[log π] = -1e6, beside one counted row."""
    prior = np.full((100_001, 2), 1e-6 - 1.0)
    stats = np.zeros_like(prior)
    stats[0] = [3.0, 5.0]
    eta = prior + stats
    one = kl(dirichlet, prior[0], eta[0], dirichlet.mean_stats(eta[0]))
    # the sums A(η) of 3e6 keep nine digits behind the point; 1e11 of E[log π] would leave five
    assert kl(dirichlet, prior, eta, dirichlet.mean_stats(eta)) == pytest.approx(one, abs=1e-8)


@every_family
@pytest.mark.parametrize("seed", range(3))
def test_log_evidence_is_the_sequential_prediction(case, seed):
    rng = np.random.default_rng(seed)
    prior = random_eta(case, seed)
    counts = rng.integers(0, 6, case.shape)
    expected = 0.0
    for alpha, n in zip(rows(case, prior + 1.0), rows(case, counts), strict=True):
        sequence = rng.permutation(np.repeat(np.arange(len(n)), n))
        expected += naive.log_polya_urn(alpha, sequence)
    found = log_evidence(case.family, prior, counts.astype(float))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_ragged_and_rectangular_arrays_agree():
    eta = np.random.default_rng(9).uniform(-0.9, 4.0, (5, 3))
    flat, ragged = eta.ravel(), SegmentedDirichlet(np.full(5, 3))
    assert ragged.log_partition(flat) == pytest.approx(dirichlet.log_partition(eta), rel=1e-14)
    for name in ("mean_stats", "mean"):
        expected = getattr(dirichlet, name)(eta).ravel()
        np.testing.assert_allclose(getattr(ragged, name)(flat), expected, rtol=1e-13)
    drawn = [
        family.sample_stats(x, np.random.default_rng(0)).ravel()
        for family, x in [(dirichlet, eta), (ragged, flat)]
    ]
    np.testing.assert_allclose(*drawn, rtol=1e-13)


def test_no_distributions_at_all():
    family, nothing = SegmentedDirichlet(np.empty(0, np.int64)), np.empty(0)
    assert family.log_partition(nothing) == 0.0
    assert family.has_mode(nothing)
    for name in ("mean_stats", "mode_stats", "mean", "mode"):
        assert getattr(family, name)(nothing).shape == (0,)
    assert family.sample_stats(nothing, np.random.default_rng(0)).shape == (0,)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_inner_products():
    minus_infinity = np.array([-np.inf, -1.0])
    assert inner(np.array([0.0, 2.0]), minus_infinity) == -2.0
    assert inner(np.array([1.0, 2.0]), minus_infinity) == -np.inf
    assert inner(np.array([-1.0, 0.0]), minus_infinity) == np.inf
    assert inner(None, minus_infinity) == 0.0
    assert inner(np.empty(0), np.empty(0)) == 0.0
    x, y = np.array([1.0, 2.0]), np.array([[3.0]])
    assert inner(Pair(x, y), Pair(x, y)) == 14.0
    assert inner(Pair(x, (Pair(x, y), Pair(y, None))), Pair(x, (Pair(x, y), Pair(y, y)))) == 28.0


@every_family
def test_the_flat_prior_costs_nothing(case):
    counts = random_eta(case, low=0.1)
    assert neg_log_density(case.family, None, counts, case.family.mode_stats(counts)) == 0.0


def log_density_of_softmax(phi, alpha):
    """Σ α log π - log B(α) at π = softmax(φ, 0), as a density of the free coordinates φ."""
    full = np.append(phi, 0.0)
    log_pi = full - logsumexp(full)
    return alpha @ log_pi - (gammaln(alpha).sum() - gammaln(alpha.sum()))


@pytest.mark.parametrize("alpha", [[0.2, 0.5], [0.01, 3.0], [5.0, 2.0]])
def test_in_softmax_coordinates_the_density_is_proper_and_costs_what_its_logarithm_says(alpha):
    alpha, family = np.array(alpha), SoftmaxDirichlet(np.array([2]))
    points = np.linspace(-1500.0, 1500.0, 600_001)  # tails fall as exp(-α |φ|)
    log_density = np.array([log_density_of_softmax([x], alpha) for x in points[::1000]])
    log_pi = -np.logaddexp(0.0, -points)
    values = alpha[0] * log_pi + alpha[1] * -np.logaddexp(0.0, points)
    area = trapezoid(np.exp(values - family.log_partition(alpha)), points)
    assert area == pytest.approx(1.0, abs=1e-4)
    some = points[::1000][300:304]
    for x, expected in zip(some, log_density[300:304], strict=True):
        t = np.array([-np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)])
        assert neg_log_density(family, alpha, None, t) == pytest.approx(-expected, rel=1e-12)


def test_in_softmax_coordinates_the_mode_is_the_mean_and_has_no_slope():
    family = SoftmaxDirichlet(np.array([3, 2]))
    alpha = np.array([0.2, 0.7, 0.1, 2.5, 0.01])
    t = family.mode_stats(alpha)
    np.testing.assert_allclose(np.exp(t), family.mean(alpha), rtol=1e-14)
    np.testing.assert_allclose(np.exp(t[:3]), alpha[:3] / alpha[:3].sum(), rtol=1e-14)
    slope = naive.gradient(lambda phi: log_density_of_softmax(phi, alpha[:3]), t[:2] - t[2])
    np.testing.assert_allclose(slope, 0.0, atol=1e-8)
    assert family.has_mode(alpha)
    assert not SegmentedDirichlet(np.array([3, 2])).has_mode(alpha - 1.0)


def test_softmax_coordinates_change_no_distribution():
    plain, softmax = SegmentedDirichlet(np.array([3, 2])), SoftmaxDirichlet(np.array([3, 2]))
    prior, alpha = np.full(5, 0.3), np.array([0.2, 0.7, 3.1, 2.5, 0.01])
    t = plain.mean_stats(alpha - 1.0)
    np.testing.assert_allclose(softmax.mean_stats(alpha), t, rtol=1e-12)
    np.testing.assert_allclose(softmax.from_moments(t), alpha, rtol=1e-8)
    assert kl(softmax, prior, alpha, t) == pytest.approx(
        kl(plain, prior - 1.0, alpha - 1.0, t), rel=1e-12
    )
    assert softmax.describe(alpha)["concentration"].tolist() == alpha.tolist()
    draws = [
        f.sample_stats(a, np.random.default_rng(1))
        for f, a in [(softmax, alpha), (plain, alpha - 1.0)]
    ]
    np.testing.assert_allclose(*draws, rtol=1e-10)
