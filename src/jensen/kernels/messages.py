"""One cluster at a time: its table, its messages, its choice. `Program` says what is read.

Everywhere `code` holds the program and `q` is where the cluster begins in it. Tables are kept in
linear space and rescaled when they become small. Only where that is not enough is a problem solved
in log space: what is then left in `psi` are conditional probabilities.
"""

import numpy as np

from jensen.kernels import helper, part
from jensen.support.tree_records import (
    CARD,
    CHILDREN,
    CLUSTERS,
    CONTIGUOUS,
    ELSEWHERE,
    ENDS,
    FAMILIES,
    GATHER,
    INDEX,
    INNER,
    KIND,
    MEMBER,
    MESSAGE,
    N_CLUSTERS,
    OUTER,
    PLACE,
    PSI,
    RUN,
    SEEN,
    SIZE,
    SLOT,
    SLOTS,
    SOURCE,
    STRIDE,
    TILE,
    WIDTH,
)

UInt = np.uint64
"""Of positions in long loops: Numba asks of a signed one whether it counts from the end, and what
asks cannot be vectorised."""

ONE = UInt(1)

RESCALE_BELOW = 1e-20
UNDERFLOW_BELOW = 1e-100
"""A cluster whose message is all smaller may have lost entries that matter: log space it is."""

LOST_BELOW = 1e-180
"""Smaller entries may have lost digits, and matter if all larger ones come down to them later."""


@helper
def multiply(code, q, r, source, at, psi):
    """Multiply psi of the cluster at q by what the slot at r reads from source[at:]."""
    tile, kind, run = UInt(code[q + TILE]), code[r + KIND], UInt(code[r + RUN])
    inner, outer = UInt(q + code[r + INNER]), UInt(q + code[r + OUTER])
    begin = UInt(code[q + PSI])
    for i in range(begin, begin + UInt(code[q + SIZE]), tile):
        here = UInt(at + code[outer])
        outer += ONE
        if kind == GATHER:
            for e in range(tile):
                psi[i + e] *= source[here + UInt(code[inner + e])]
        else:
            for j in range(i, i + tile, run):
                there = here + UInt(code[inner + j - i])
                if kind == CONTIGUOUS:
                    for e in range(run):
                        psi[j + e] *= source[there + e]
                else:
                    factor = source[there]
                    for e in range(run):
                        psi[j + e] *= factor


@helper
def add_to(code, q, r, target, at, psi):
    """Add psi of the cluster at q to where the slot at r points in target[at:]."""
    tile, kind, run = UInt(code[q + TILE]), code[r + KIND], UInt(code[r + RUN])
    inner, outer = UInt(q + code[r + INNER]), UInt(q + code[r + OUTER])
    begin = UInt(code[q + PSI])
    for i in range(begin, begin + UInt(code[q + SIZE]), tile):
        here = UInt(at + code[outer])
        outer += ONE
        if kind == GATHER:
            for e in range(tile):
                target[here + UInt(code[inner + e])] += psi[i + e]
        else:
            for j in range(i, i + tile, run):
                there = here + UInt(code[inner + j - i])
                if kind == CONTIGUOUS:
                    for e in range(run):
                        target[there + e] += psi[j + e]
                else:
                    total = 0.0
                    for e in range(run):
                        total += psi[j + e]
                    target[there] += total


@part
def fill(code, q, bases, b0, tables, psi, message):
    """Fill psi: the product of the cluster's families and its children's messages."""
    begin = UInt(code[q + PSI])
    for i in range(begin, begin + UInt(code[q + SIZE])):
        psi[i] = 1.0
    r = q + SLOTS
    for _ in range(code[q + FAMILIES]):
        multiply(code, q, r, tables, bases[b0 + code[r + SOURCE]], psi)
        r += SLOT
    for _ in range(code[q + CHILDREN]):
        multiply(code, q, r, message, code[r + SOURCE], psi)
        r += SLOT


@part
def largest(message, begin, end):
    """Return the largest of message[begin:end]."""
    best = 0.0
    for a in range(begin, end):
        best = max(best, message[a])
    return best


@part
def send_up(code, q, is_max, psi, message):
    """Fill the message of a cluster: psi summed (or maximised) over what ends there."""
    width, begin, to = UInt(code[q + WIDTH]), UInt(code[q + PSI]), UInt(code[q + MESSAGE])
    end = begin + UInt(code[q + SIZE])
    for a in range(width):
        message[to + a] = psi[begin + a]
    for i in range(begin + width, end, width):
        if is_max:
            for a in range(width):
                message[to + a] = max(message[to + a], psi[i + a])
        else:
            for a in range(width):
                message[to + a] += psi[i + a]


@part
def is_possible(code, q, i, bases, b0, log_tables, message):
    """Return whether all that entry i of a cluster multiplies is positive."""
    tile, n_fams, r = code[q + TILE], code[q + FAMILIES], q + SLOTS
    for s in range(n_fams + code[q + CHILDREN]):
        step = code[q + code[r + OUTER] + i // tile] + code[q + code[r + INNER] + i % tile]
        if s < n_fams:
            if log_tables[bases[b0 + code[r + SOURCE]] + step] == -np.inf:
                return False
        elif message[code[r + SOURCE] + step] == 0.0:
            return False
        r += SLOT
    return True


@helper
def has_lost(code, head, bases, b0, log_tables, psi, message):
    """Return whether an entry of some cluster is almost 0 although it is possible."""
    for c in range(code[head + N_CLUSTERS]):
        q = head + code[head + CLUSTERS + c]
        for i in range(code[q + SIZE]):
            if psi[code[q + PSI] + i] < LOST_BELOW:
                if is_possible(code, q, i, bases, b0, log_tables, message):
                    return True
    return False


@helper
def collect(code, head, bases, b0, tables, log_tables, is_max, psi, message):
    """Upward pass over the tree at head; return log Z, or the log of the maximum."""
    log_z, q = 0.0, head
    for c in range(code[head + N_CLUSTERS]):
        q = head + code[head + CLUSTERS + c]
        fill(code, q, bases, b0, tables, psi, message)
        send_up(code, q, is_max, psi, message)
        best = largest(message, code[q + MESSAGE], code[q + MESSAGE] + code[q + WIDTH])
        if best < UNDERFLOW_BELOW:
            return collect_log(code, head, bases, b0, log_tables, is_max, psi, message)
        if best < RESCALE_BELOW:
            factor = 1.0 / best
            for i in range(code[q + PSI], code[q + PSI] + code[q + SIZE]):
                psi[i] *= factor
            for a in range(code[q + MESSAGE], code[q + MESSAGE] + code[q + WIDTH]):
                message[a] *= factor
            log_z += np.log(best)
    if log_z < np.log(UNDERFLOW_BELOW):
        if has_lost(code, head, bases, b0, log_tables, psi, message):
            return collect_log(code, head, bases, b0, log_tables, is_max, psi, message)
    return log_z + np.log(message[code[q + MESSAGE]])


@part
def fill_log(code, q, bases, b0, log_tables, psi, message):
    """Fill psi in log space."""
    tile, n_fams = code[q + TILE], code[q + FAMILIES]
    for i in range(code[q + SIZE]):
        total, r = 0.0, q + SLOTS
        for s in range(n_fams + code[q + CHILDREN]):
            step = code[q + code[r + OUTER] + i // tile] + code[q + code[r + INNER] + i % tile]
            if s < n_fams:
                total += log_tables[bases[b0 + code[r + SOURCE]] + step]
            else:
                total += message[code[r + SOURCE] + step]
            r += SLOT
        psi[code[q + PSI] + i] = total


@helper
def collect_log(code, head, bases, b0, log_tables, is_max, psi, message):
    """Upward pass in log space; messages become 1.

    What is left in psi is p(what ends here | separator), or relative to its maximum.
    """
    log_z = 0.0
    for c in range(code[head + N_CLUSTERS]):
        q = head + code[head + CLUSTERS + c]
        fill_log(code, q, bases, b0, log_tables, psi, message)
        width, begin = code[q + WIDTH], code[q + PSI]
        end = begin + code[q + SIZE]
        for a in range(width):
            best, total = -np.inf, 0.0
            for i in range(begin + a, end, width):
                best = max(best, psi[i])
            for i in range(begin + a, end, width):
                psi[i] = np.exp(psi[i] - best) if best > -np.inf else 0.0
                total += psi[i]
            if not is_max and total > 0.0:
                best += np.log(total)
                for i in range(begin + a, end, width):
                    psi[i] /= total
            message[code[q + MESSAGE] + a] = log_z = best
    for c in range(code[head + N_CLUSTERS]):
        q = head + code[head + CLUSTERS + c]
        for a in range(code[q + WIDTH]):
            message[code[q + MESSAGE] + a] = 1.0
    return log_z


@part
def take_down(code, q, psi, message, back):
    """Make psi weight · p(configuration | evidence), from what came back; tell the children."""
    width, at, begin = UInt(code[q + WIDTH]), UInt(code[q + MESSAGE]), UInt(code[q + PSI])
    for a in range(at, at + width):
        back[a] = back[a] / message[a] if message[a] > 0.0 else 0.0
    for i in range(begin, begin + UInt(code[q + SIZE]), width):
        for a in range(width):
            psi[i + a] *= back[at + a]
    r = q + SLOTS + SLOT * code[q + FAMILIES]
    for _ in range(code[q + CHILDREN]):
        add_to(code, q, r, back, code[r + SOURCE], psi)
        r += SLOT


@part
def count(code, q, bases, b0, psi, counts):
    """Add psi to the counts of the cluster's families."""
    r = q + SLOTS
    for _ in range(code[q + FAMILIES]):
        add_to(code, q, r, counts, bases[b0 + code[r + SOURCE]], psi)
        r += SLOT


@helper
def add_marginals(code, r, n, values, begin, size, out, at):
    """Add values[begin:begin + size] to the marginals of the n members at code[r:], at out[at:]."""
    first = UInt(begin)
    for _ in range(n):
        stride, card, to = UInt(code[r + STRIDE]), code[r + CARD], at + code[r + PLACE]
        if code[r + PLACE] != ELSEWHERE:
            state = 0
            for i in range(first, first + UInt(size), stride):
                total = 0.0
                for e in range(i, i + stride):
                    total += values[e]
                out[to + state] += total
                state = state + 1 if state + 1 < card else 0
        r += MEMBER


@part
def read_message(code, q, back, out, at):
    """Add what came back to a cluster to the marginals that are seen in its message."""
    r = q + SLOTS + SLOT * (code[q + FAMILIES] + code[q + CHILDREN]) + MEMBER * code[q + ENDS]
    add_marginals(code, r, code[q + SEEN], back, code[q + MESSAGE], code[q + WIDTH], out, at)


@part
def read_table(code, q, psi, out, at):
    """Add psi to the marginals of the members that are in no other cluster."""
    r = q + SLOTS + SLOT * (code[q + FAMILIES] + code[q + CHILDREN])
    add_marginals(code, r, code[q + ENDS], psi, code[q + PSI], code[q + SIZE], out, at)


@part
def choose_entry(code, q, a, uniform, psi):
    """Return an entry of a cluster given its separator a: the largest (uniform < 0) or a draw."""
    width = code[q + WIDTH]
    begin, end = code[q + PSI] + a, code[q + PSI] + code[q + SIZE]
    entry, best, total = begin, -1.0, 0.0
    for i in range(begin, end, width):
        total += psi[i]
        if psi[i] > best:
            best, entry = psi[i], i
    left = uniform * total
    if uniform >= 0.0:
        for i in range(begin, end, width):
            left -= psi[i]
            if left < 0.0:
                entry = i
                break
    return entry - code[q + PSI]


@part
def settle(code, q, i, bases, b0, log_tables, amount, chosen, counts):
    """Fix entry i of a cluster: count its families, tell the children; return its log potential."""
    value, r, tile = 0.0, q + SLOTS, code[q + TILE]
    n_fams = code[q + FAMILIES]
    for s in range(n_fams + code[q + CHILDREN]):
        step = code[q + code[r + OUTER] + i // tile] + code[q + code[r + INNER] + i % tile]
        if s < n_fams:
            to = bases[b0 + code[r + SOURCE]] + step
            counts[to] += amount
            value += log_tables[to]
        else:
            chosen[code[r + SOURCE]] = step
        r += SLOT
    return value


@part
def write_states(code, q, i, states, at):
    """Fill the states, in entry i, of the members that end in a cluster, at states[at:]."""
    r = q + SLOTS + SLOT * (code[q + FAMILIES] + code[q + CHILDREN])
    for _ in range(code[q + ENDS]):
        states[at + code[r + INDEX]] = (i // code[r + STRIDE]) % code[r + CARD]
        r += MEMBER
