"""The order of an autoregression: evidence by its definition, refusals."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

import jensen as jn
from jensen.exceptions import DataError, JensenError


def series(n=60, seed=0):
    rng, y = np.random.default_rng(seed), np.zeros(n)
    for t in range(2, n):
        y[t] = 0.6 * y[t - 1] - 0.5 * y[t - 2] + rng.normal()
    return 5.0 + 3.0 * y


def test_evidence_is_the_density_of_the_values_with_the_parameters_integrated_out():
    """A multivariate t distribution: noise of precision Gamma(1, rate 1/2)."""
    y = series(12)
    found = jn.choose_order(y, 3, strength=2.0)
    values = y[3:]
    mean, deviation = values.mean(), values.std()
    z = (y - mean) / deviation
    for order in range(4):
        x = np.column_stack([np.ones(9), *(z[3 - k : 12 - k] for k in range(1, order + 1))])
        spread = np.eye(9) + x @ np.diag([100.0, *[0.5] * order]) @ x.T
        law = multivariate_t(np.zeros(9), 0.5 * spread, df=2.0)
        expected = law.logpdf(z[3:]) - 9 * np.log(deviation)
        assert found.log_evidence[order] == pytest.approx(expected, abs=1e-9)
    assert found.probability.sum() == pytest.approx(1.0)


def test_the_order_is_found_also_with_gaps_and_of_many_sequences():
    y = series(400)
    y[[50, 51, 200]] = np.nan
    found = jn.choose_order(y, 6)
    assert found.best == 2
    np.testing.assert_allclose(found.coefficients[2], [0.6, -0.5], atol=0.1)
    shown = [t for t in range(6, 400) if not np.isnan(y[t - 6 : t + 1]).any()]
    assert found.n_values == len(shown)
    parts = jn.choose_order([series(80, s) for s in range(4)], 4)
    assert parts.best == 2
    assert parts.n_values == 4 * 76
    assert "order 2 has the largest evidence" in repr(parts)


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="with 8 known values before it"):
        jn.choose_order([1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="do not vary"):
        jn.choose_order(np.ones(30), 2)
    with pytest.raises(DataError, match="one column of finite numbers"):
        jn.choose_order(np.ones((30, 2)), 2)
    with pytest.raises(DataError, match="a sequence of numbers"):
        jn.choose_order(["a", "b"], 1)
    with pytest.raises(JensenError, match="strength must be"):
        jn.choose_order(series(), strength=0)
