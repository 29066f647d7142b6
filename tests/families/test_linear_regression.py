"""Where linear regressions are least squares, and where they have no estimate."""

import numpy as np
import pytest

from jensen.exceptions import CollapseError
from jensen.families import linear_regression, normal_gamma
from jensen.families.linear_regression import Regression
from jensen.families.normal_gamma import NormalGamma


def stats_of(x, y):
    """The statistics of one regression."""
    return Regression(
        np.array([float(len(y))]), np.array([y @ y]), (x.T @ y)[None], (x.T @ x)[None]
    )


def rows(n=20, D=3, seed=0):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, D - 1))])
    return x, x @ np.arange(1.0, D + 1.0) + rng.normal(size=n)


def test_the_mode_under_the_flat_prior_is_least_squares():
    x, y = rows()
    t = linear_regression.mode_stats(stats_of(x, y))
    beta, squares = np.linalg.lstsq(x, y, rcond=None)[:2]
    variance = -0.5 / t.second[0]
    assert variance == pytest.approx(squares[0] / len(y), rel=1e-11)
    np.testing.assert_allclose(t.first[0] * variance, beta, rtol=1e-10)


def test_on_a_constant_alone_it_is_the_normal_gamma():
    y = np.random.default_rng(1).normal(size=9)
    found = stats_of(np.ones((9, 1)), y)
    other = NormalGamma(*(np.reshape(part, (1, 1)) for part in found))
    expected = normal_gamma.log_partition(other)
    assert linear_regression.log_partition(found) == pytest.approx(expected, rel=1e-13)
    for name in ("mean_stats", "mode_stats"):
        for a, b in zip(
            getattr(linear_regression, name)(found),
            getattr(normal_gamma, name)(other),
            strict=True,
        ):
            np.testing.assert_allclose(np.ravel(a), np.ravel(b), rtol=1e-12)


def test_no_rows_no_spread_too_few_rows():
    x, y = rows()
    nothing = Regression(*(0.0 * part for part in stats_of(x, y)))
    with pytest.raises(CollapseError, match="component 0 has no rows left"):
        linear_regression.mode_stats(nothing)
    with pytest.raises(CollapseError, match="collapsed: the rows leave no spread"):
        linear_regression.mode_stats(stats_of(x, x @ np.array([1.0, 2.0, 3.0])))
    twice = np.column_stack([x, x[:, 1]])
    with pytest.raises(CollapseError, match="collapsed: the rows leave no spread"):
        linear_regression.mode_stats(stats_of(twice, y))
    few = stats_of(x, y)._replace(count=np.array([0.5]))
    with pytest.raises(CollapseError, match="too few rows for a distribution"):
        linear_regression.mean_stats(few)
