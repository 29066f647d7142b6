"""A variable goes to another part of a partition, or becomes a part of its own.

Once it is taken out, all parts and all gaps between them are as likely: so is the way back.
"""

import numpy as np

from jensen.kernels import bare_part
from jensen.kernels.random_numbers import below


@bare_part
def propose(rng, parts, n_parts, proposal, sizes):
    """Change proposal; see `partition_join.propose`."""
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
