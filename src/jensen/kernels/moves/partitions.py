"""Moves of a partition: parts are split or joined, a variable goes elsewhere, two change places.

A part to split is drawn from those with two members or more, then how many go first, then who. A
variable goes to another part, or becomes a part of its own: once it is taken out, all parts and all
gaps between them are as likely, so the way back is too. Two variables that change places come from
different parts, and are as likely back as forth.

References
----------
Kuipers and Moffa (2017), *Partition MCMC for inference on acyclic digraphs*, JASA 112.
"""

import math

import numpy as np

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below, uniform


@bare_part
def propose_join(rng, parts, n_parts, proposal, sizes):
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
    """Split a part; see `propose_join`."""
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


@bare_part
def propose_shift(rng, parts, n_parts, proposal, sizes):
    """Change proposal; see `propose_join`."""
    n = parts.shape[0]
    x = below(rng, n)
    a = parts[x]
    was_alone = np.int64(1)
    for v in range(n):
        if v != x and parts[v] == a:
            was_alone = np.int64(0)
            break
    n_others = n_parts - was_alone
    to = below(rng, 2 * n_others + 1)
    is_new = np.int64(to >= n_others)
    to -= is_new * n_others
    if to == a and is_new == was_alone:
        return n_parts, -1, -1, 0.0
    for v in range(n):
        here = parts[v] - was_alone * (parts[v] > a)
        proposal[v] = here + is_new * (here >= to)
    proposal[x] = to
    a_now = a + is_new * (1 - was_alone) * (a >= to)  # where its old part stands
    if was_alone and to < a:
        a_now = a - 1 + is_new
    return n_others + is_new, min(a_now, to), max(a_now, to), 0.0


@bare_part
def propose_swap(rng, parts, n_parts, proposal, sizes):
    """Change proposal; see `propose_join`."""
    n = parts.shape[0]
    v = below(rng, n)
    u = below(rng, n - 1)
    u += u >= v
    if parts[u] == parts[v]:
        return n_parts, -1, -1, 0.0
    proposal[u], proposal[v] = parts[v], parts[u]
    return n_parts, min(parts[u], parts[v]), max(parts[u], parts[v]), 0.0
