"""Tails of the chi-squared distribution, against SciPy and against their limits."""

import numpy as np
from scipy import special, stats

from jensen.kernels.independence import log_tails


def tails(x, df):
    x, df = np.broadcast_arrays(np.asarray(x, float), df)
    out = np.empty(x.size)
    log_tails(np.ascontiguousarray(x.ravel()), np.ascontiguousarray(df.ravel(), np.int64), out)
    return out.reshape(x.shape)


def test_tails_are_those_of_scipy():
    df = np.arange(1, 400)[:, None]
    x = df * np.geomspace(0.01, 3.0, 60)
    np.testing.assert_allclose(np.exp(tails(x, df)), special.chdtrc(df, x), rtol=1e-10, atol=1e-14)


def test_tails_of_many_degrees_of_freedom():
    df = np.array([1_000, 9_999, 100_000, 1_000_000])[:, None]
    x = df + np.sqrt(2.0 * df) * np.linspace(-6.0, 6.0, 25)
    np.testing.assert_allclose(np.exp(tails(x, df)), special.chdtrc(df, x), rtol=1e-7, atol=1e-12)


def test_far_tails_do_not_underflow():
    """Two more degrees of freedom add one term: Q(a + 1, y) = Q(a, y) + y^a e^-y / Γ(a + 1)."""
    for df in range(1, 30):
        for x in (500.0, 601.0, 5e3, 1e5):
            a, y = df / 2.0, x / 2.0
            term = a * np.log(y) - y - special.gammaln(a + 1.0)
            found, more = tails(x, df), tails(x, df + 2)
            np.testing.assert_allclose(np.logaddexp(found, term), more, rtol=1e-11)
    normal = np.log(2.0) + stats.norm.logsf(np.sqrt([10.0, 590.0, 610.0, 1e6]))
    np.testing.assert_allclose(tails([10.0, 590.0, 610.0, 1e6], 1), normal, rtol=1e-12)


def test_limits():
    assert tails([0.0, -1.0, 5.0], [3, 3, 0]).tolist() == [0.0, 0.0, 0.0]
    assert tails([np.inf], [3]).tolist() == [-np.inf]
