"""Random numbers for chains that draw several at every step: xoshiro256+.

The state is four words, which a checkpoint can hold, and a number takes a nanosecond.

References
----------
Blackman and Vigna (2021), *Scrambled linear pseudorandom number generators*, ACM TOMS 47.
"""

import numpy as np

from jensen.kernels import bare_part, kernel


@bare_part
def uniform(state):
    """Return a number from [0, 1)."""
    total = state[0] + state[3]
    carried = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= carried
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return np.float64(np.int64(total >> np.uint64(11))) * 1.1102230246251565e-16


@bare_part
def below(state, n):
    """Return one of 0 .. n - 1."""
    return np.int64(uniform(state) * n)


@kernel("float64(uint64[::1])")
def next_uniform(state):
    """Return a number from [0, 1): for who draws one in a while."""
    return uniform(state)
