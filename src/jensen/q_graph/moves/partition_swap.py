"""Two variables from different parts of a partition change places. As likely back as forth."""

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose(rng, parts, proposal):
    """Change proposal, a copy of parts; return the first and the last part that differ, or -1."""
    n = parts.shape[0]
    v = below(rng, n)
    u = below(rng, n - 1)
    u += u >= v
    if parts[u] == parts[v]:
        return -1, -1
    proposal[u], proposal[v] = parts[v], parts[u]
    return min(parts[u], parts[v]), max(parts[u], parts[v])
