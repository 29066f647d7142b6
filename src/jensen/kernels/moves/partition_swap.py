"""Two variables from different parts of a partition change places. As likely back as forth."""

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose(rng, parts, n_parts, proposal, sizes):
    """Change proposal; see `partition_join.propose`."""
    n = parts.shape[0]
    v = below(rng, n)
    u = below(rng, n - 1)
    u += u >= v
    if parts[u] == parts[v]:
        return n_parts, -1, -1, 0.0
    proposal[u], proposal[v] = parts[v], parts[u]
    return n_parts, min(parts[u], parts[v]), max(parts[u], parts[v]), 0.0
