"""Two variables of an order change places. As likely back as forth."""

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose(rng, order, proposal):
    """Change proposal, a copy of order; return the first and the last position that differ."""
    n = order.shape[0]
    i = below(rng, n)
    j = below(rng, n - 1)
    j += j >= i
    proposal[i], proposal[j] = order[j], order[i]
    return min(i, j), max(i, j)
