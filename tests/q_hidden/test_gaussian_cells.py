"""Missing numbers of Gaussian columns against the joint distribution, row by row."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, multivariate_normal

from jensen.data.number_rows import NumberRows
from jensen.exceptions import DataError
from jensen.models.gaussian_network import (
    RegressionNetwork,
    Regressions,
    encode,
    independent_moments,
)
from jensen.q_hidden import draw, exact, mode
from jensen.q_hidden.gaussian_cells import GaussianCells, compressed

MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.5, 0.2], [-0.3, 0.2, 0.8]])


def quadratic():
    """Q of z = (1, x), and the constant, of a Gaussian."""
    precision = np.linalg.inv(COVARIANCE)
    first = precision @ MEAN
    found = np.zeros((4, 4))
    found[1:, 1:], found[0, 1:], found[1:, 0] = precision, -first, -first
    found[0, 0] = MEAN @ first
    return -0.5 * np.linalg.slogdet(2.0 * np.pi * COVARIANCE)[1], found


def rows(n=30, missing=0.4):
    rng = np.random.default_rng(0)
    values = rng.multivariate_normal(MEAN, COVARIANCE, n)
    values[rng.random(values.shape) < missing] = np.nan
    values[0] = np.nan
    return values, rng.uniform(0.5, 2.0, n)


def test_values_and_moments_are_those_of_the_joint_distribution():
    values, weights = rows()
    units = encode(NumberRows.of(values, weights), np.zeros(3))
    constant, matrix = quadratic()
    total, moments = 0.0, np.zeros((4, 4))
    for row, weight in zip(values, weights, strict=True):
        seen, gone = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        inside = COVARIANCE[np.ix_(seen, seen)]
        if len(seen):
            total += weight * multivariate_normal.logpdf(row[seen], MEAN[seen], inside)
        gain = COVARIANCE[np.ix_(gone, seen)] @ np.linalg.inv(inside)
        z = np.append(1.0, row)
        z[gone + 1] = MEAN[gone] + gain @ (row[seen] - MEAN[seen])
        second = np.outer(z, z)
        spread = COVARIANCE[np.ix_(gone, gone)] - gain @ COVARIANCE[np.ix_(seen, gone)]
        second[np.ix_(gone + 1, gone + 1)] += spread
        moments += weight * second
    (unit,) = units.items
    found = exact(GaussianCells(constant, matrix, unit.patterns))
    assert found.value.sum() == pytest.approx(total, rel=1e-11)
    np.testing.assert_allclose(found.moments, moments, rtol=1e-10, atol=1e-10)
    assert units.total_weight == pytest.approx(weights.sum())
    assert not units.is_complete
    assert encode(NumberRows.of(np.nan_to_num(values)), np.zeros(3)).is_complete


def test_many_rows_are_as_good_as_few():
    many = np.random.default_rng(1).normal(size=(200, 4))
    few = compressed(many)
    assert few.shape == (4, 4)
    np.testing.assert_allclose(few.T @ few, many.T @ many, rtol=1e-11)
    assert compressed(many[:3]).shape == (3, 4)


def test_moments_without_dependence():
    values, weights = rows()
    found = independent_moments(NumberRows.of(values, weights), np.zeros(3)) / weights.sum()
    assert found[0, 0] == pytest.approx(1.0)
    covariance = found[1:, 1:] - np.outer(found[0, 1:], found[0, 1:])
    np.testing.assert_allclose(covariance, np.diag(np.diagonal(covariance)), atol=1e-12)
    seen = ~np.isnan(values[:, 0])
    mean = np.average(values[seen, 0], weights=weights[seen])
    assert found[0, 1] == pytest.approx(mean, rel=1e-12)


def test_the_potentials_of_a_network_are_its_log_densities():
    model = RegressionNetwork(("x", "y"), ((), (0,)), Regressions(None))
    values = np.random.default_rng(2).normal(size=(20, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    (unit,) = encode(NumberRows.of(values), np.zeros(2)).items
    z = np.column_stack([np.ones(20), values])
    stats = model.stats_of(z.T @ z)
    t = Regressions(model.families.regressions.mode_stats(stats.regressions))
    found = exact(model.potentials(t)(unit))
    covariance = np.cov(values.T, bias=True)
    expected = multivariate_normal.logpdf(values, values.mean(0), covariance).sum()
    assert found.value.sum() == pytest.approx(expected, rel=1e-11)
    again = model.expected_stats(unit, found)
    for one, other in zip(again.regressions, stats.regressions, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_a_regression_without_an_estimate_is_named():
    model = RegressionNetwork(("x", "y"), ((), (0,)), Regressions(None))
    with pytest.raises(DataError, match="no row has a weight, so nothing says how 'x' depends"):
        model.families.regressions.mode_stats(model.blank.regressions)


def drawn_row_by_row(values, weights, rng):
    """Σ z zᵀ of rows that are filled one at a time, as often as their weight says."""
    moments = np.zeros((4, 4))
    for row in np.repeat(values, weights, axis=0):
        seen, gone = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        gain = COVARIANCE[np.ix_(gone, seen)] @ np.linalg.inv(COVARIANCE[np.ix_(seen, seen)])
        spread = COVARIANCE[np.ix_(gone, gone)] - gain @ COVARIANCE[np.ix_(seen, gone)]
        z = np.append(1.0, row)
        mean = MEAN[gone] + gain @ (row[seen] - MEAN[seen])
        z[gone + 1] = rng.multivariate_normal(mean, spread) if len(gone) else []
        moments += np.outer(z, z)
    return moments


@pytest.mark.parametrize("n", [3, 40], ids=["few rows of a pattern", "many"])
def test_draws_are_those_of_every_row(n):
    """Kolmogorov and Smirnov's test of every moment, p = 1e-3 over all together (Bonferroni)."""
    rng = np.random.default_rng(2)
    values = np.tile(rng.multivariate_normal(MEAN, COVARIANCE, 1), (n, 1))
    values += rng.normal(size=values.shape)
    values[::2, :2], values[1::4, 2], values[0] = np.nan, np.nan, np.nan
    weights = rng.integers(1, 3, n)
    (unit,) = encode(NumberRows.of(values, weights.astype(float)), np.zeros(3)).items
    constant, matrix = quadratic()
    cells = GaussianCells(constant, matrix, unit.patterns)
    ours = [draw(cells, None, rng) for _ in range(400)]
    theirs = [drawn_row_by_row(values, weights, rng) for _ in range(400)]
    upper = np.triu_indices(4)
    pairs = [
        (np.array([one.moments[i, j] for one in ours]), np.array([m[i, j] for m in theirs]))
        for i, j in zip(*upper, strict=True)
    ]
    free = [(a, b) for a, b in pairs if np.ptp(b) > 1e-9]
    assert len(free) >= 9
    assert min(ks_2samp(a, b).pvalue for a, b in free) * len(free) > 1e-3
    crossed = [np.corrcoef(one, rowvar=False) for one in (np.transpose([x for x, _ in free]),
               np.transpose([x for _, x in free]))]  # fmt: skip
    np.testing.assert_allclose(*crossed, atol=0.25)
    for one in ours[:5]:
        total = weights.sum() * constant - 0.5 * np.sum(one.moments * matrix)
        assert one.value.sum() == pytest.approx(total, rel=1e-10)


def test_the_most_probable_numbers_are_integrated_out():
    values, weights = rows()
    (unit,) = encode(NumberRows.of(values, weights), np.zeros(3)).items
    cells = GaussianCells(*quadratic(), unit.patterns)
    np.testing.assert_array_equal(mode(cells).moments, exact(cells).moments)
