"""Mean field on a list of factors: one variable after the other, given the others."""

import numpy as np

from jensen.kernels import bare, kernel
from jensen.kernels.records import WIRING, signature


@bare
def weigh(wiring, q, state_at, f, left_out, table):
    """Fill the table of factor f with the product of its members' q, but for one of them."""
    size = wiring.fam_at[f + 1] - wiring.fam_at[f]
    for i in range(size):
        table[i] = 1.0
    for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
        v, stride = wiring.fam_vars[e], wiring.fam_stride[e]
        if v == left_out:
            continue
        card, home = wiring.cards[v], state_at[v]
        for block in range(0, size, stride * card):
            for x in range(card):
                share = q[home + x]
                for i in range(block + x * stride, block + (x + 1) * stride):
                    table[i] *= share
    return size


@bare
def expect_levels(wiring, log_tables, q, state_at, v, level, table):
    """Fill level[x] with E[log of all factors of v], its state being x."""
    card = wiring.cards[v]
    for x in range(card):
        level[x] = 0.0
    for t in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
        f = wiring.touch[t]
        size, at = weigh(wiring, q, state_at, f, v, table), wiring.fam_at[f]
        stride = 1
        for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
            if wiring.fam_vars[e] == v:
                stride = wiring.fam_stride[e]
        for block in range(0, size, stride * card):
            for x in range(card):
                for i in range(block + x * stride, block + (x + 1) * stride):
                    if table[i] > 0.0:  # 0 times -inf is 0
                        level[x] += table[i] * log_tables[at + i]


@kernel(
    signature(
        WIRING,
        "float64[::1], int64[::1], int64, float64, float64[::1], float64[::1], float64[::1]",
    )
)
def settle_product(wiring, log_tables, state_at, most_sweeps, tol, q, level, table):
    """Update q in turn until it moves by less than `tol`; return the bound Σ E[log g] + H[q].

    The bound never falls. It is -inf where q is on states that are impossible together.
    """
    n = wiring.cards.shape[0]
    for _ in range(most_sweeps):
        moved = 0.0
        for v in range(n):
            expect_levels(wiring, log_tables, q, state_at, v, level, table)
            top, total = -np.inf, 0.0
            for x in range(wiring.cards[v]):
                top = max(top, level[x])
            if top == -np.inf:
                continue
            for x in range(wiring.cards[v]):
                level[x] = np.exp(level[x] - top)
                total += level[x]
            for x in range(wiring.cards[v]):
                share = level[x] / total
                moved = max(moved, abs(share - q[state_at[v] + x]))
                q[state_at[v] + x] = share
        if moved < tol:
            break
    value = 0.0
    for f in range(wiring.fam_ptr.shape[0] - 1):
        size = weigh(wiring, q, state_at, f, -1, table)
        for i in range(size):
            if table[i] > 0.0:
                value += table[i] * log_tables[wiring.fam_at[f] + i]
    for k in range(q.shape[0]):
        if q[k] > 0.0:
            value -= q[k] * np.log(q[k])
    return value
