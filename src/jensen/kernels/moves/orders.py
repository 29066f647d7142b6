"""Moves of an order: two neighbours change places, any two variables do, or one goes elsewhere.

All of them are as likely back as forth. A variable that goes elsewhere may also stay: of two
variables, each other move leads from one order to the other and back, and if both weigh the same, a
chain of an even number of moves would always end where it began.
"""

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose_neighbours(rng, order, proposal):
    """Change proposal, a copy of order; return the first and the last position that differ."""
    i = below(rng, order.shape[0] - 1)
    proposal[i], proposal[i + 1] = order[i + 1], order[i]
    return i, i + 1


@bare_part
def propose_swap(rng, order, proposal):
    """Change proposal; see `propose_neighbours`."""
    n = order.shape[0]
    i = below(rng, n)
    j = below(rng, n - 1)
    j += j >= i
    proposal[i], proposal[j] = order[j], order[i]
    return min(i, j), max(i, j)


@bare_part
def propose_shift(rng, order, proposal):
    """Change proposal; see `propose_neighbours`."""
    n = order.shape[0]
    i = below(rng, n)
    j = below(rng, n)
    for k in range(i, j):
        proposal[k] = order[k + 1]
    for k in range(i, j, -1):
        proposal[k] = order[k - 1]
    proposal[j] = order[i]
    return min(i, j), max(i, j)
