"""Sums over all subsets of weights that span any range: high + low times a power of two.

A set of variables is a number: bit k says that the k-th is a member.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.long_numbers import add_long

BLOCK = 1 << 10
"""Sets that are worked on while they are in the cache."""

NEVER = -(1 << 40)
"""The exponent of zero: sums of a few dozen of them are still numbers."""

FAR = 200
"""What is 2^200 times smaller than another term is left out."""

POWERS = 2.0 ** -np.arange(-64.0, FAR)
"""From 2^64 down; the first stands for -64."""

FIRST = 64

LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""Together the logarithm of 2; whole numbers times the first are exact."""

LN2 = math.log(2.0)


@helper
def drop_bit(number, place):
    """Return a number without its bit at a place."""
    return number >> (place + 1) << place | number & ((1 << place) - 1)


@helper
def insert_bit(number, place, bit):
    """Return a number with one more bit, at a place."""
    return (number >> place << 1 | bit) << place | number & ((1 << place) - 1)


@helper
def read_logarithms(logs, high, low, exponents):
    """Write each weight as a number from 1 to 2 and a power of two."""
    for s in range(logs.shape[0]):
        low[s] = 0.0
        if logs[s] == -np.inf:
            high[s], exponents[s] = 0.0, NEVER
        else:
            k = math.floor(logs[s] / LN2)
            high[s] = math.exp((logs[s] - k * LN2_HIGH) - k * LN2_LOW)
            exponents[s] = np.int64(k)


@helper
def add_half(high, low, exponents, start, stop, bit):
    """Add to every set with a member, between start and stop, the set without it."""
    for base in range(start, stop, 2 * bit):
        for s in range(base, base + bit):
            t = s + bit
            ahead = exponents[s] - exponents[t]
            if ahead <= -FAR or high[s] == 0.0:
                continue
            if ahead >= FAR or high[t] == 0.0:
                high[t], low[t], exponents[t] = high[s], low[s], exponents[s]
                continue
            down_s = POWERS[FIRST - min(ahead, 0)]
            down_t = POWERS[FIRST + max(ahead, 0)]
            exponents[t] = max(exponents[t], exponents[s])
            high[t], low[t] = add_long(
                high[t] * down_t, low[t] * down_t, high[s] * down_s, low[s] * down_s
            )


@kernel("void(float64[::1], float64[::1], float64[::1], int64[::1])")
def sum_subsets(logs, high, low, exponents):
    """Fill (high + low) 2^exponents with the sum of the weights of all subsets of every set.

    logs are the logarithms of the weights. Of a sum that is not zero high is at least 1.
    """
    size = logs.shape[0]
    read_logarithms(logs, high, low, exponents)
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        bit = np.int64(1)
        while bit < stop - start:
            add_half(high, low, exponents, start, stop, bit)
            bit *= 2
    bit = np.int64(BLOCK)
    while bit < size:
        add_half(high, low, exponents, np.int64(0), size, bit)
        bit *= 2


@kernel("void(float64[::1], float64[::1], int64[::1])")
def normalise(high, low, exponents):
    """Bring every number that is not zero between 1 and 2."""
    for s in range(high.shape[0]):
        if high[s] > 0.0:
            _, k = math.frexp(high[s])
            down = POWERS[FIRST + k - 1]
            high[s] *= down
            low[s] *= down
            exponents[s] += k - 1
