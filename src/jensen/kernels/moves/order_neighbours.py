"""Two neighbours in an order change places. As likely back as forth."""

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose(rng, order, proposal):
    """Change proposal, a copy of order; return the first and the last position that differ."""
    i = below(rng, order.shape[0] - 1)
    proposal[i], proposal[i + 1] = order[i + 1], order[i]
    return i, i + 1
