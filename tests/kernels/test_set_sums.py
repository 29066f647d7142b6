"""Sums over subsets in pairs of doubles with a power of two: against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from jensen.kernels.set_sums import normalise, sum_subsets


def summed(logs):
    high, low, exponents = np.empty(len(logs)), np.empty(len(logs)), np.empty(len(logs), np.int64)
    sum_subsets(np.asarray(logs, float), high, low, exponents)
    return high, low, exponents


def fractions(high, low, exponents):
    """The numbers that are meant."""
    return [
        (Fraction(a) + Fraction(b)) * Fraction(2) ** int(k) if a else Fraction(0)
        for a, b, k in zip(high.tolist(), low.tolist(), exponents.tolist(), strict=True)
    ]


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(("n", "spread"), [(0, 1), (1, 1), (3, 3000), (7, 0), (7, 100), (11, 1)])
def test_sums_of_all_subsets(n, spread, normalised):
    rng = np.random.default_rng(n)
    logs = rng.normal(0.0, spread, 1 << n)
    logs[rng.random(1 << n) < 0.2] = -np.inf
    sums = summed(logs)
    if normalised:
        normalise(*sums)
        assert np.all((sums[0] == 0.0) | ((sums[0] >= 1.0) & (sums[0] < 2.0)))
    exact = [fractions(*summed([log]))[0] for log in logs]  # the sum of one set alone
    for k in range(n):
        for s in range(1 << n):
            if s >> k & 1:
                exact[s] += exact[s ^ (1 << k)]
    for found, true in zip(fractions(*sums), exact, strict=True):
        assert abs(found - true) <= true * n / 2**103


def test_a_weight_is_its_logarithm():
    for log in (-1234.5, 0.0, 700.25):
        high, low, exponents = summed([log])
        assert np.log(high[0]) + exponents[0] * np.log(2.0) == pytest.approx(log, rel=1e-15)
        assert low[0] == 0.0
    assert summed([-np.inf])[0] == 0.0
