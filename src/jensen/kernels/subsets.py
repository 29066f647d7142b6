"""Functions of sets of variables, Σ over the occurring cells of f(count), for very many sets.

Depth first, variable by variable: a variable is taken into the set, and its cells are split, or it
is left out, and rows that differ in nothing any more are merged. Sets are numbers: bit v says that
variable v is a member.

Rows are held as entries (cell, rest, weight): the rest is the number of what a row holds from the
next variable on. Rests are numbered by their last variable first, so that the entries of a cell,
which stand together in rising order, stay so when a variable is left out or taken in.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel

RISING, ENTROPY, WEIGHT, ONE = 0, 1, 2, 3
"""What f is: log Γ(a + n) - log Γ(a), n log n, n, or 1."""

MOST_SETTLED = 64
"""A cell with one entry is split no more; below this weight it is only counted from then on."""

SPARE = 8
"""Places behind these counts where what is not settled adds: a branch would cost more, and so would
a single place, where each addition waits for the one before it."""


@helper
def cell_value(kind, n, alpha):
    """Return f(n)."""
    if kind == ENTROPY:
        return n * math.log(n)
    if kind == WEIGHT:
        return n
    if kind == ONE:
        return 1.0
    if alpha < 100.0:
        return math.lgamma(alpha + n) - math.lgamma(alpha)
    y = 1.0 / (alpha + n)  # Stirling's series, where the two nearly cancel
    z = 1.0 / alpha
    series = (y - z) / 12.0 - (y**3 - z**3) / 360.0 + (y**5 - z**5) / 1260.0
    rise = (alpha - 0.5) * math.log1p(n / alpha) + n * (math.log(alpha + n) - 1.0)
    return rise + series


@helper
def leave_out(next_rest, cells, rests, weights, n_entries, settled):
    """Merge entries that differ in this variable only, in place; return how many are left."""
    kept = 0
    last_cell, last_rest, weight = -1, -1, 0.0
    for i in range(n_entries):
        cell, rest = cells[i], next_rest[np.uint32(rests[i])]
        is_new = (cell != last_cell) | (rest != last_rest)
        kept += is_new
        weight = weights[i] + (0.0 if is_new else weight)
        cells[kept - 1], rests[kept - 1], weights[kept - 1] = cell, rest, weight
        last_cell, last_rest = cell, rest
    n_settled = settled.shape[0] - SPARE
    if n_settled == 0:
        return kept
    cells[kept] = -1
    left, last_cell = 0, -1
    limit = np.float64(n_settled)
    for i in range(kept):
        cell, weight = cells[i], weights[i]
        whole = np.int64(min(weight, limit))
        goes = (cell != last_cell) & (cell != cells[i + 1]) & (weight < limit) & (weight == whole)
        settled[whole if goes else n_settled + i % SPARE] += 1.0
        cells[left], rests[left], weights[left] = cell, rests[i], weight
        left += 1 - goes
        last_cell = cell
    return left


@helper
def take_in(codes, cells, entries, slots, part_of, counts, sizes):
    """Split every cell by a variable: fill part_of each entry; return how many parts there are.

    entries are their rests and weights; those that miss the variable are of no part, -1. counts
    and sizes are the weight and the number of entries of each part.
    """
    for k in range(slots.shape[0]):
        slots[k] = -1
    rests, weights = entries
    n_entries, n_parts, first = rests.shape[0], 0, 0
    cells[n_entries] = -1
    for i in range(n_entries):
        counts[n_parts], sizes[n_parts] = 0.0, 0  # of a part that may begin here
        code = codes[np.uint32(rests[i])]
        if code < 0:
            part_of[i] = -1
        else:
            k = slots[np.uint32(code)]
            is_new = k < first  # parts of earlier cells have smaller numbers
            k += (n_parts - k) * is_new
            slots[np.uint32(code)] = k
            counts[np.uint32(k)] += weights[i]
            sizes[np.uint32(k)] += 1
            part_of[i] = k
            n_parts += is_new
        first += (n_parts - first) * (cells[i + 1] != cells[i])
    return n_parts


@helper
def settle(counts, sizes, n_parts, settled):
    """Count parts with one entry among the settled, if their weight is small; their size is 0."""
    n_settled = settled.shape[0] - SPARE
    limit = np.float64(n_settled)
    for k in range(n_parts if n_settled > 0 else 0):
        weight = counts[k]
        whole = np.int64(min(weight, limit))
        goes = (sizes[k] == 1) & (weight < limit) & (weight == whole)
        settled[whole if goes else n_settled + k % SPARE] += 1.0
        sizes[k] = 0 if goes else sizes[k]


@helper
def sum_parts(kind, alpha, known, counts, sizes, n_parts, settled):
    """Return Σ f over all cells, the settled ones included; known is f of small whole numbers."""
    total = 0.0
    for k in range(n_parts):
        if sizes[k] > 0:
            whole = np.int64(min(counts[k], 1e9))
            if whole < known.shape[0] and counts[k] == whole:
                total += known[whole]
            else:
                total += cell_value(kind, counts[k], alpha)
    for n in range(settled.shape[0] - SPARE):
        total += settled[n] * known[n]
    return total


@helper
def carry_on(entries, part_of, next_rest, sizes, n_parts, starts, cells, rests, weights):
    """Fill the next level with the entries of the parts that are not settled, part by part.

    entries are the rests and the weights of this level; returns how many the next one has.
    """
    kept, nowhere = 0, cells.shape[0] - 1
    for k in range(n_parts):
        starts[k] = kept if sizes[k] > 0 else nowhere
        kept += sizes[k]
    old_rests, old_weights = entries
    for i in range(part_of.shape[0]):
        k = part_of[i]
        if k >= 0:
            at = np.uint32(starts[np.uint32(k)])
            starts[np.uint32(k)] += 1
            cells[at] = k
            rests[at] = next_rest[np.uint32(old_rests[i])]
            weights[at] = old_weights[i]
    return kept


@helper
def summarize_codes(codes):
    """Return the largest number of states, and whether no value is missing."""
    n_codes, is_complete = 1, True
    for v in range(codes.shape[0]):
        for x in range(codes.shape[1]):
            n_codes = max(n_codes, np.int64(codes[v, x]) + 1)
            is_complete &= codes[v, x] >= 0
    return n_codes, is_complete


@kernel(
    "void(int32[:, ::1], int32[:, ::1], float64[::1], int64[::1], int64, int64, int64, int64, "
    "float64[::1], float64[:, ::1], int32[::1], float64[::1])"
)
def fill_set_values(
    codes, next_rests, row_weights, bits, head, n_head, largest, kind, alphas, table, index, out
):
    """Fill out[S] for every S up to a size whose first n_head variables are those of head.

    Parameters
    ----------
    codes, next_rests
        (n, U): for every variable and every rest from it on, its state (-1 is missing: a set
        counts the rows that miss none of its variables), and the rest from the next one on.
    row_weights
        (U,): of the rests from variable 0 on, which are the distinct rows.
    bits
        (n,): what a variable adds to the number S of a set; head has bit v for variable v.
    alphas, table, index
        Row index[S] of alphas (Q,) and table (Q, C), f of 0 .. C - 1, belongs to S.
    """
    n, n_rows = codes.shape
    n_codes, is_complete = summarize_codes(codes)
    # An entry that a larger set may not count is never settled.
    n_settled = min(MOST_SETTLED, table.shape[1]) if is_complete else 0
    settled = np.zeros((n + 1, n_settled + SPARE))
    cells, rests = np.empty((n + 1, n_rows + 1), np.int32), np.empty((n + 1, n_rows + 1), np.int32)
    weights, n_entries = np.empty((n + 1, n_rows + 1)), np.empty(n + 1, np.int64)
    part_of, slots = np.empty(n_rows, np.int32), np.empty(n_codes, np.int32)
    sizes, starts = np.empty(n_rows + 1, np.int32), np.empty(n_rows, np.int32)
    counts = np.empty(n_rows + 1)
    for x in range(n_rows):
        cells[0, x], rests[0, x], weights[0, x] = 0, x, row_weights[x]
    n_entries[0] = n_rows
    upcoming = np.zeros(n + 1, np.int64)  # per size of the set, the next variable to decide upon
    level, lowest, here = 0, 0, 0
    while True:
        v = upcoming[level]
        is_done = v == n or (level == largest and v >= n_head)
        if is_done and level == lowest:
            break
        if is_done:  # back to where the last member was taken in; now it is left out
            level -= 1
            v = upcoming[level]
            here ^= bits[v]
        m = n_entries[level]
        if is_done or (v < n_head and head >> v & 1 == 0):
            upcoming[level] = v + 1
            if v + 1 < n:
                n_entries[level] = leave_out(
                    next_rests[v], cells[level], rests[level], weights[level], m, settled[level]
                )
            continue
        here |= bits[v]
        old = rests[level, :m], weights[level, :m]
        n_parts = take_in(codes[v], cells[level], old, slots, part_of, counts, sizes)
        level += 1
        upcoming[level] = v + 1
        for k in range(n_settled):
            settled[level, k] = settled[level - 1, k]
        if v < n_head:
            lowest = level
        if v + 1 < n:
            settle(counts, sizes, n_parts, settled[level])
        if v >= n_head or head >> (v + 1) == 0:
            q = index[here]
            out[here] = sum_parts(kind, alphas[q], table[q], counts, sizes, n_parts, settled[level])
        if v + 1 < n:
            n_entries[level] = carry_on(
                old,
                part_of[:m],
                next_rests[v],
                sizes,
                n_parts,
                starts,
                cells[level],
                rests[level],
                weights[level],
            )
