"""Random numbers for chains that draw several at every step: xoshiro256+.

The state is four words, which a checkpoint can hold, and a number takes a nanosecond.

References
----------
Blackman and Vigna (2021), *Scrambled linear pseudorandom number generators*, ACM TOMS 47. Marsaglia
and Tsang (2000), *The ziggurat method for generating random variables*, J. Stat. Software 5, and *A
simple method for generating gamma variables*, ACM TOMS 26.
"""

import math

import numpy as np

from jensen.kernels import bare, bare_part, kernel

LAYERS, WITHIN = 256, 45


def _ziggurat():
    """Layers of equal area that cover exp(-x²/2), x > 0: how wide they are, and how high up.

    The lowest one holds the tail, too; the edge of its box is the first width.
    """
    edge = 3.6541528853610088
    area = edge * math.exp(-0.5 * edge * edge)
    area += math.sqrt(0.5 * math.pi) * math.erfc(edge / math.sqrt(2.0))
    widths, heights = np.zeros(LAYERS + 1), np.ones(LAYERS + 1)
    widths[0], heights[0] = area / math.exp(-0.5 * edge * edge), 0.0
    widths[1], heights[1] = edge, math.exp(-0.5 * edge * edge)
    for i in range(2, LAYERS):
        heights[i] = heights[i - 1] + area / widths[i - 1]
        widths[i] = math.sqrt(-2.0 * math.log(heights[i]))
    return widths, heights


WIDTHS, HEIGHTS = _ziggurat()


@bare_part
def uniform(state):
    """Return a number from [0, 1)."""
    return np.float64(np.int64(next_bits(state) >> np.uint64(11))) * 1.1102230246251565e-16


@bare_part
def next_bits(state):
    """Return 64 random bits, of which the lowest three are weak."""
    total = state[0] + state[3]
    carried = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= carried
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return total


@bare_part
def below(state, n):
    """Return one of 0 .. n - 1."""
    return np.int64(uniform(state) * n)


@kernel("float64(uint64[::1])")
def next_uniform(state):
    """Return a number from [0, 1): for who draws one in a while."""
    return uniform(state)


@bare
def normal(state):
    """Return a standard normal number, by the ziggurat of Marsaglia and Tsang (2000)."""
    while True:
        bits = np.int64(next_bits(state) >> np.uint64(11))  # 53 of them: 8 for the layer
        layer = bits >> WITHIN
        x = ((bits & (2**WITHIN - 1)) * 2.0 ** (1 - WITHIN) - 1.0) * WIDTHS[layer]
        if abs(x) < WIDTHS[layer + 1]:
            return x
        if layer == 0:
            beyond = _tail(state)
            return beyond if x > 0.0 else -beyond
        height = HEIGHTS[layer] + uniform(state) * (HEIGHTS[layer + 1] - HEIGHTS[layer])
        if height < np.exp(-0.5 * x * x):
            return x


@bare
def _tail(state):
    """Return a normal number beyond the lowest layer (Marsaglia 1964)."""
    while True:
        x = -np.log(1.0 - uniform(state)) / WIDTHS[1]
        if -2.0 * np.log(1.0 - uniform(state)) > x * x:
            return WIDTHS[1] + x


@bare
def gamma(state, shape):
    """Return a gamma number of rate 1; the shape is at least 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u, square = 1.0 - uniform(state), x * x
        if u < 1.0 - 0.0331 * square * square:
            return d * v
        if np.log(u) < 0.5 * square + d * (1.0 - v + np.log(v)):
            return d * v


@kernel("void(uint64[::1], float64, float64[::1])")
def fill_gamma(state, shape, out):
    """Fill out with gamma numbers."""
    for i in range(out.shape[0]):
        out[i] = gamma(state, shape)
