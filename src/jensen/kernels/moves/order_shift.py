"""A variable of an order goes to another position. As likely back as forth.

It may also stay: of two variables, each other move leads from one order to the other and back, and
if both weigh the same, a chain of an even number of moves would always end where it began.
"""

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose(rng, order, proposal):
    """Change proposal, a copy of order; return the first and the last position that differ."""
    n = order.shape[0]
    i = below(rng, n)
    j = below(rng, n)
    for k in range(i, j):
        proposal[k] = order[k + 1]
    for k in range(i, j, -1):
        proposal[k] = order[k - 1]
    proposal[j] = order[i]
    return min(i, j), max(i, j)
