"""The prior of all columns, block by block and column by column, against the families."""

import numpy as np
import pytest

from jensen.families import linear_regression, log_evidence, normal_wishart
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import Regression
from jensen.families.normal_wishart import NormalWishart
from jensen.families.schur import given

N = 4


def random_prior(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((N, N)) + 2.0 * np.eye(N)
    return NormalWishartPrior(rng.standard_normal(N), 1.7, N + 1.5, root @ root.T)


def eta_of(prior):
    """As a family has it."""
    scale = np.linalg.inv(prior.scale)[None]
    strength, degrees = np.array([prior.mean_strength]), np.array([prior.degrees_of_freedom])
    return normal_wishart.from_standard(prior.mean[None], strength, degrees, scale)


def moments(rows):
    mean = rows.mean(0)
    return float(len(rows)), mean, (rows - mean).T @ (rows - mean)


def statistics(rows):
    n = np.array([float(len(rows))])
    return NormalWishart(n, (rows.T @ rows)[None], rows.sum(0)[None], n)


@pytest.mark.parametrize("columns", [[0], [1, 3], [0, 1, 2], [0, 1, 2, 3]])
def test_evidences_of_blocks(columns):
    prior, rows = random_prior(0), np.random.default_rng(1).standard_normal((6, N)) + 0.5
    after = prior.after(*moments(rows))
    old, new = (np.linalg.slogdet(x.of_columns(columns).scale)[1] for x in (prior, after))
    size = len(columns)
    found = prior.log_evidence_of_sets(6.0, size, np.array([old]), np.array([new]))
    family = log_evidence(
        normal_wishart, eta_of(prior.of_columns(columns)), statistics(rows[:, columns])
    )
    np.testing.assert_allclose(found, family - 6 * size / 2 * np.log(2 * np.pi), rtol=1e-12)


def test_the_empty_block_has_none():
    nothing = np.zeros(1)
    assert random_prior(0).log_evidence_of_sets(5.0, 0, nothing, nothing) == 0.0


@pytest.mark.parametrize("parents", [[], [2], [0, 3], [0, 2, 3]])
def test_evidences_of_regressions(parents):
    prior, rows = random_prior(1), np.random.default_rng(2).standard_normal((6, N)) + 0.5
    after = prior.after(*moments(rows))
    old, new = (given(x.scale, parents, [1]).left for x in (prior, after))
    found = prior.log_evidence_of_children(6.0, len(parents), old, new)
    z = np.column_stack([np.ones(6), rows[:, parents]])
    y = rows[:, 1]
    stats = Regression(np.array([6.0]), (y @ y)[None], (y @ z)[None], (z.T @ z)[None])
    eta = prior.regression(1, parents, np.zeros(N))
    family = log_evidence(linear_regression, eta, stats)
    np.testing.assert_allclose(found, family - 3 * np.log(2 * np.pi), rtol=1e-11)


def test_the_posterior_is_prior_plus_statistics():
    prior, rows = random_prior(2), np.random.default_rng(3).standard_normal((9, N)) + 1.0
    found = eta_of(prior.after(*moments(rows)))
    stats = statistics(rows)
    for own, before, more in zip(found, eta_of(prior), stats, strict=True):
        np.testing.assert_allclose(own, before + more, rtol=1e-10)


@pytest.mark.parametrize("parents", [[], [0, 2]])
def test_a_regression_has_the_evidence_of_one_column_given_others(parents):
    """In any coordinates, and from any shift: p(child | parents) = p(both) / p(parents)."""
    rng = np.random.default_rng(4)
    prior, rows, shift = random_prior(5), rng.standard_normal((7, N)), rng.standard_normal(N)

    def evidence(columns):
        if not columns:
            return 0.0
        own = statistics(rows[:, columns])
        return log_evidence(normal_wishart, eta_of(prior.of_columns(columns)), own)

    z = np.column_stack([np.ones(7), (rows - shift)[:, parents]])
    y = (rows - shift)[:, 1]
    stats = Regression(np.array([7.0]), (y @ y)[None], (y @ z)[None], (z.T @ z)[None])
    found = log_evidence(linear_regression, prior.regression(1, parents, shift), stats)
    assert found == pytest.approx(evidence([*parents, 1]) - evidence(parents), rel=1e-10)


def test_the_prior_in_other_coordinates():
    """The density of columns that are moved and stretched changes by their units alone."""
    prior, rows = random_prior(6), np.random.default_rng(7).standard_normal((5, N))
    origin, unit = np.array([1.0, -2.0, 0.5, 3.0]), np.array([2.0, 0.5, 4.0, 0.25])

    def evidence(own, x):
        return log_evidence(normal_wishart, eta_of(own), statistics(x))

    inside = evidence(prior.within(origin, unit), (rows - origin) / unit)
    assert inside - 5 * np.log(unit).sum() == pytest.approx(evidence(prior, rows), rel=1e-10)
