"""A part of a partition is split in two, or two neighbouring parts are joined.

A part to split is drawn from those with two members or more, then how many go first, then who.

References
----------
Kuipers and Moffa (2017), *Partition MCMC for inference on acyclic digraphs*, JASA 112.
"""

import math

import numpy as np

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below, uniform


@bare_part
def propose(rng, parts, n_parts, proposal, sizes):
    """Change proposal, a copy of parts, part by variable; sizes is room for their sizes.

    Returns the new number of parts, the first and the last part that differ (-1 if none does), and
    log q(back) - log q(forth).
    """
    n_large = count_sizes(parts, n_parts, sizes)
    if uniform(rng) < 0.5:
        if n_large == 0:
            return n_parts, -1, -1, 0.0
        return split(rng, parts, n_parts, proposal, sizes, n_large)
    if n_parts == 1:
        return n_parts, -1, -1, 0.0
    i = below(rng, n_parts - 1)
    for v in range(parts.shape[0]):
        proposal[v] = parts[v] - (parts[v] > i)
    first, both = sizes[i], sizes[i] + sizes[i + 1]
    n_large += 1 - (first > 1) - (sizes[i + 1] > 1)
    return n_parts - 1, i, i, math.log(n_parts - 1) - log_ways(n_large, both, first)


@bare_part
def split(rng, parts, n_parts, proposal, sizes, n_large):
    """Split a part; see `propose`."""
    k, i = below(rng, n_large), np.int64(0)
    while True:
        k -= sizes[i] > 1
        if k < 0:
            break
        i += 1
    size = sizes[i]
    n_first = 1 + below(rng, size - 1)
    n_left, n_wanted = size, n_first
    for v in range(parts.shape[0]):
        if parts[v] == i:
            goes_first = uniform(rng) * n_left < n_wanted
            n_wanted -= goes_first
            n_left -= 1
            proposal[v] = i + (not goes_first)
        else:
            proposal[v] = parts[v] + (parts[v] > i)
    return n_parts + 1, i, i + 1, log_ways(n_large, size, n_first) - math.log(n_parts)


@bare_part
def count_sizes(parts, n_parts, sizes):
    """Fill sizes; return how many parts have two members or more."""
    for i in range(n_parts):
        sizes[i] = 0
    for v in range(parts.shape[0]):
        sizes[parts[v]] += 1
    n_large = np.int64(0)
    for i in range(n_parts):
        n_large += sizes[i] > 1
    return n_large


@bare_part
def log_ways(n_large, size, n_first):
    """Return -log of the probability of a split."""
    choose = (
        math.lgamma(size + 1.0) - math.lgamma(n_first + 1.0) - math.lgamma(size - n_first + 1.0)
    )
    return math.log(n_large) + math.log(size - 1.0) + choose
