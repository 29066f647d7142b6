"""Numbers of 106 bits: against fractions, within a kernel."""

from fractions import Fraction

import numpy as np
import pytest
from numba import njit

from jensen.kernels.long_numbers import add_long, multiply_long

LOST = Fraction(1, 2**103)


@njit
def add_all(a, b, out):
    for k in range(len(a)):
        out[k, 0], out[k, 1] = add_long(a[k, 0], a[k, 1], b[k, 0], b[k, 1])


@njit
def multiply_all(a, b, out):
    for k in range(len(a)):
        out[k, 0], out[k, 1] = multiply_long(a[k, 0], a[k, 1], b[k, 0], b[k, 1])


def make_numbers(seed, n=2_000):
    rng = np.random.default_rng(seed)
    high = rng.normal(size=n) * 2.0 ** rng.integers(-60, 60, n)
    low = high * rng.uniform(-1, 1, n) * 2.0**-54
    return np.stack([high, low], 1)


def exactly(rows):
    return [Fraction(high) + Fraction(low) for high, low in rows.tolist()]


@pytest.mark.parametrize("near", [False, True])
def test_sums(near):
    a, b = make_numbers(0), make_numbers(1)
    if near:  # they nearly cancel
        b = -a * (1.0 + np.random.default_rng(2).normal(size=(len(a), 1)) * 1e-12)
    out = np.empty_like(a)
    add_all(a, b, out)
    for x, y, z in zip(exactly(a), exactly(b), exactly(out), strict=True):
        assert abs(z - (x + y)) <= LOST * max(abs(x), abs(y))


def test_products():
    a, b = make_numbers(0), make_numbers(1)
    out = np.empty_like(a)
    multiply_all(a, b, out)
    for x, y, z in zip(exactly(a), exactly(b), exactly(out), strict=True):
        assert abs(z - x * y) <= LOST * abs(x * y)
