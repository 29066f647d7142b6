"""Short lists of small integers and their numbers: equal lists, equal numbers.

Lists stand end to end in `pool`, list k up to ``pool_end[k]``. A table of open addresses finds
them; hits are compared word by word, so a collision costs time and never a wrong answer.
"""

import numpy as np

from jensen.kernels import kernel, part


@part
def hash_words(words, begin, end):
    """Return a 64-bit hash of words[begin:end]."""
    h = np.uint64(14695981039346656037)
    for k in range(begin, end):
        h = (h ^ np.uint64(np.uint32(words[k]))) * np.uint64(11400714819323198485)
        h ^= h >> np.uint64(29)
    return h


@part
def same_words(a, a_begin, a_end, b, b_begin, b_end):
    """Return whether two lists are equal."""
    if a_end - a_begin != b_end - b_begin:
        return False
    for k in range(a_end - a_begin):
        if a[a_begin + k] != b[b_begin + k]:
            return False
    return True


@part
def find_place(words, begin, end, pool, pool_end, places):
    """Return the place in the table of a list: where it is, or where it would be."""
    mask = np.uint64(places.shape[0] - 1)
    place = hash_words(words, begin, end) & mask
    while True:
        known = places[place]
        if known < 0:
            return np.int64(place)
        start = pool_end[known - 1] if known > 0 else 0
        if same_words(words, begin, end, pool, start, pool_end[known]):
            return np.int64(place)
        place = (place + np.uint64(1)) & mask


@kernel(
    "int64(int32[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64, "
    "int64[::1])"
)
def intern(words, begin, end, pool, pool_end, places, n_known, number):
    """Fill number with the number of every list words[begin:end], new lists after the known ones.

    Return how many lists are known then; pool, pool_end and places have room for all.
    """
    for i in range(begin.shape[0]):
        place = find_place(words, begin[i], end[i], pool, pool_end, places)
        known = places[place]
        if known < 0:
            at = pool_end[n_known - 1] if n_known > 0 else 0
            for k in range(begin[i], end[i]):
                pool[at + k - begin[i]] = words[k]
            pool_end[n_known] = at + end[i] - begin[i]
            places[place] = known = n_known
            n_known += 1
        number[i] = known
    return n_known
