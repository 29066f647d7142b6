"""Sets of variables as bits of words: variable v is bit v % 64 of word v // 64."""

import numpy as np
from numba import config, types
from numba.extending import intrinsic

from jensen.kernels import bare_part
from jensen.kernels.counting import popcount


@intrinsic
def lowest_bit(typing_context, word):
    """The position of the lowest bit that is set in a 64-bit word that is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


if config.DISABLE_JIT:  # an intrinsic has no body that Python could run

    def lowest_bit(word):
        """The position of the lowest bit that is set in a 64-bit word that is not 0."""
        return np.uint64((int(word) & -int(word)).bit_length() - 1)


@bare_part
def has(words, v):
    """Return whether v is a member."""
    return (words[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@bare_part
def put(words, v):
    """Make v a member."""
    words[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@bare_part
def take(words, v):
    """Make v no member."""
    words[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@bare_part
def size(words):
    """Return how many members there are."""
    total = np.uint64(0)
    for w in range(words.shape[0]):
        total += popcount(words[w])
    return np.int64(total)


@bare_part
def member(words, k):
    """Return the k-th member, which there is."""
    for w in range(words.shape[0]):
        word = words[w]
        here = np.int64(popcount(word))
        if k < here:
            for _ in range(k):
                word &= word - np.uint64(1)
            return (w << 6) + np.int64(lowest_bit(word))
        k -= here
    return np.int64(-1)
