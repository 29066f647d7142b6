"""Sets of hidden variables compiled to trees of clusters; `Program` says what is written.

Everywhere `cards` (k,) holds the numbers of states of the members; row i of `shape` (k, 5), `scope`
(k, k) and `digits` (k, k) is the cluster of step i of the elimination: its parent and sizes, which
members it holds, and these members in the order of elimination, so that the ones that end in it
come first.
"""

import numpy as np

from jensen.cluster_trees.records import (
    CARD,
    CHILDREN,
    CLUSTERS,
    CONSTANT,
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
    N_ENTRIES,
    N_MEMBERS,
    N_SENT,
    N_STATES,
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
from jensen.kernels import helper, kernel, part
from jensen.kernels.elimination import connect_members
from jensen.kernels.records import WIRING, signature

PARENT, N_DIGITS, N_ENDS, ENTRIES, SEPARATOR = range(5)
"""Columns of `shape`."""

ROOT, MERGED = -1, -2
"""What stands for the parent of a cluster without one, and of one that is no more."""

SMALL_TILE, LARGEST_TILE = 16, 2048

SHORTEST_RUN = 4
"""Runs of fewer entries, unless they are the whole tile, cost more than they save."""


@helper
def make_cliques(adjacent, order, shape, scope):
    """Fill the clique of every step of the elimination, and its parent."""
    k = order.shape[0]
    rank = np.empty(k, np.int64)
    for i in range(k):
        rank[order[i]] = i
    for i in range(k):
        v, first = order[i], k
        scope[i, v] = True
        shape[i, N_DIGITS] = shape[i, N_ENDS] = 1
        for u in range(k):
            if adjacent[v, u] and rank[u] > i:
                scope[i, u] = True
                shape[i, N_DIGITS] += 1
                first = min(first, rank[u])
        for u in range(k):
            if scope[i, u] and u != v:
                for w in range(u):
                    if scope[i, w] and w != v:
                        adjacent[u, w] = adjacent[w, u] = True
        shape[i, PARENT] = first if first < k else ROOT


@helper
def merge_cliques(shape, scope):
    """Merge every clique that lies within a child with that child, in the place of the parent."""
    k = shape.shape[0]
    for i in range(k):
        p = shape[i, PARENT]
        if p < 0 or shape[i, N_DIGITS] - shape[i, N_ENDS] != shape[p, N_DIGITS]:
            continue
        for u in range(k):
            scope[p, u] = scope[i, u]
        shape[p, N_ENDS] += shape[i, N_ENDS]
        shape[p, N_DIGITS] = shape[i, N_DIGITS]
        shape[i, PARENT] = MERGED
        for c in range(i):
            if shape[c, PARENT] == i:
                shape[c, PARENT] = p


@part
def join_all(shape, scope):
    """One cluster of everything."""
    k = shape.shape[0]
    for i in range(k):
        shape[i, PARENT] = MERGED
        scope[k - 1, i] = True
    shape[k - 1, PARENT] = ROOT
    shape[k - 1, N_DIGITS] = shape[k - 1, N_ENDS] = k


@helper
def lay_digits(order, cards, shape, scope, digits):
    """Fill the digits and sizes of all clusters."""
    for i in range(order.shape[0]):
        if shape[i, PARENT] == MERGED:
            continue
        n = 0
        shape[i, ENTRIES] = shape[i, SEPARATOR] = 1
        for r in range(order.shape[0]):
            u = order[r]
            if scope[i, u]:
                digits[i, n] = u
                shape[i, ENTRIES] *= cards[u]
                if n >= shape[i, N_ENDS]:
                    shape[i, SEPARATOR] *= cards[u]
                n += 1


@helper
def first_of_tile(cards, digits, n_digits, size):
    """Return the first digit of the tile, the fast end of a cluster."""
    most = max(SMALL_TILE, min(LARGEST_TILE, 2 * int(np.sqrt(size))))
    first, tile = n_digits, 1
    while first > 0 and (tile == 1 or tile * cards[digits[first - 1]] <= most):
        first -= 1
        tile *= cards[digits[first]]
    return first


@helper
def most_words(cards, shape, digits, n_fams):
    """Return how many words the program of a set takes at most."""
    k, longest = cards.shape[0], 0
    for i in range(k):
        if shape[i, PARENT] == MERGED:
            continue
        first = first_of_tile(cards, digits[i], shape[i, N_DIGITS], shape[i, ENTRIES])
        tile = 1
        for j in range(first, shape[i, N_DIGITS]):
            tile *= cards[digits[i, j]]
        longest = max(longest, tile + shape[i, ENTRIES] // tile)
    return CLUSTERS + k * (1 + SLOTS + 2 * MEMBER) + (n_fams + k) * (SLOT + longest)


@helper
def find_home(shape, scope, wiring, f, local):
    """Return the smallest cluster that holds all hidden members of family f."""
    best = -1
    for i in range(shape.shape[0]):
        if shape[i, PARENT] == MERGED or (best >= 0 and shape[i, ENTRIES] >= shape[best, ENTRIES]):
            continue
        fits = True
        for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
            u = local[wiring.fam_vars[e]]
            if u >= 0 and not scope[i, u]:
                fits = False
                break
        if fits:
            best = i
    return best


@part
def family_strides(digits, n_digits, wiring, f, local, strides):
    """Fill the steps of the digits of a cluster in the table of family f."""
    for j in range(n_digits):
        strides[j] = 0
        for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
            if local[wiring.fam_vars[e]] == digits[j]:
                strides[j] = wiring.fam_stride[e]


@part
def message_strides(cards, shape, digits, i, child, strides):
    """Fill the steps of the digits of cluster i in the message of a child."""
    for j in range(shape[i, N_DIGITS]):
        strides[j] = 0
    step = 1
    for d in range(shape[child, N_DIGITS] - 1, shape[child, N_ENDS] - 1, -1):
        u = digits[child, d]
        for j in range(shape[i, N_DIGITS]):
            if digits[i, j] == u:
                strides[j] = step
        step *= cards[u]


@part
def write_run(cards, digits, strides, first, end, tile, code, r):
    """Write what the fast end of a tile, the digits from first to end, does in a slot at r."""
    run, step = 1, 0
    for j in range(end - 1, first - 1, -1):
        card = cards[digits[j]]
        if run == 1:
            step = strides[j]
        if card > 1 and strides[j] != step * run:
            break
        run *= card
    is_long = run >= SHORTEST_RUN or run == tile
    code[r + RUN] = run
    code[r + KIND] = GATHER if not is_long or step > 1 else CONTIGUOUS if step == 1 else CONSTANT


@helper
def write_slot(cards, digits, strides, n_digits, size, code, q, r, source, at):
    """Write a slot of the cluster at q to code[r:], its offsets to code[at:]; return their end."""
    code[r + SOURCE] = source
    first = first_of_tile(cards, digits, n_digits, size)
    end = n_digits
    for side in range(2):  # the tile, then what is outside of it
        begin = at
        code[begin] = 0
        n = 1
        for j in range(end - 1, first - 1, -1):
            for state in range(1, cards[digits[j]]):
                for e in range(n):
                    code[begin + state * n + e] = code[begin + e] + state * strides[j]
            n *= cards[digits[j]]
        at = begin + n
        if side == 0:
            code[r + INNER], code[r + OUTER] = begin - q, at - q
            write_run(cards, digits, strides, first, end, n, code, r)
            code[q + TILE] = n
        end, first = first, 0
    return at


@part
def find_views(shape, digits, view):
    """Fill for every member the cluster that sends the smallest message that holds it."""
    for u in range(view.shape[0]):
        view[u] = ELSEWHERE
    for i in range(shape.shape[0]):
        if shape[i, PARENT] == MERGED:
            continue
        for j in range(shape[i, N_ENDS], shape[i, N_DIGITS]):
            best = view[digits[i, j]]
            if best < 0 or shape[i, SEPARATOR] < shape[best, SEPARATOR]:
                view[digits[i, j]] = i


@part
def write_members(cards, shape, digits, i, view, code, r):
    """Write the members that end in cluster i, or are seen in its message, to code[r:]."""
    stride = shape[i, ENTRIES]
    for j in range(shape[i, N_DIGITS]):
        u = digits[i, j]
        stride //= cards[u]
        if j >= shape[i, N_ENDS] and view[u] != i:
            continue
        code[r + INDEX], code[r + STRIDE], code[r + CARD] = u, stride, cards[u]
        code[r + PLACE] = 0
        for a in range(u):
            code[r + PLACE] += cards[a]
        if j < shape[i, N_ENDS] and view[u] >= 0:
            code[r + PLACE] = ELSEWHERE
        r += MEMBER


@part
def write_head(shape, cards, code, head):
    """Write the head of a program; return where its first cluster begins."""
    k, n, entries, sent, states = shape.shape[0], 0, 0, 0, 0
    for i in range(k):
        states += cards[i]
        if shape[i, PARENT] != MERGED:
            n += 1
            entries += shape[i, ENTRIES]
            sent += shape[i, SEPARATOR]
    code[head + N_CLUSTERS], code[head + N_MEMBERS], code[head + N_STATES] = n, k, states
    code[head + N_ENTRIES], code[head + N_SENT] = entries, sent
    return head + CLUSTERS + n


@helper
def write_slots(cards, shape, digits, i, home, sent_at, view, wiring, fams, local, code, q):
    """Write slots and offsets of the cluster at q; return their end."""
    strides = np.empty(cards.shape[0], np.int64)
    n_digits, size, r = shape[i, N_DIGITS], shape[i, ENTRIES], q + SLOTS
    at = r + SLOT * (code[q + FAMILIES] + code[q + CHILDREN])
    at += MEMBER * (code[q + ENDS] + code[q + SEEN])
    for j in range(fams.shape[0] + i):
        source = 0
        if j < fams.shape[0]:
            if home[j] != i:
                continue
            source = j
            family_strides(digits[i], n_digits, wiring, fams[j], local, strides)
        else:
            child = j - fams.shape[0]
            if shape[child, PARENT] != i:
                continue
            source = sent_at[child]
            message_strides(cards, shape, digits, i, child, strides)
        at = write_slot(cards, digits[i], strides, n_digits, size, code, q, r, source, at)
        r += SLOT
    write_members(cards, shape, digits, i, view, code, r)
    return at


@part
def write_tree(cards, shape, scope, digits, wiring, fams, local, code, head):
    """Write the program of a set at code[head:]; return its end."""
    home = np.empty(fams.shape[0], np.int64)
    sent_at, view = np.empty(cards.shape[0], np.int64), np.empty(cards.shape[0], np.int64)
    find_views(shape, digits, view)
    for j in range(fams.shape[0]):
        home[j] = find_home(shape, scope, wiring, fams[j], local)
    q = write_head(shape, cards, code, head)
    c, entries, sent = head + CLUSTERS, 0, 0
    for i in range(cards.shape[0]):
        if shape[i, PARENT] == MERGED:
            continue
        code[c] = q - head
        c += 1
        code[q + SIZE], code[q + WIDTH] = shape[i, ENTRIES], shape[i, SEPARATOR]
        code[q + PSI], code[q + MESSAGE], code[q + ENDS] = entries, sent, shape[i, N_ENDS]
        sent_at[i] = sent
        entries += shape[i, ENTRIES]
        sent += shape[i, SEPARATOR]
        code[q + FAMILIES] = code[q + CHILDREN] = code[q + SEEN] = 0
        for u in range(cards.shape[0]):
            code[q + SEEN] += view[u] == i
        for j in range(fams.shape[0]):
            code[q + FAMILIES] += home[j] == i
        for child in range(i):
            code[q + CHILDREN] += shape[child, PARENT] == i
        q = write_slots(cards, shape, digits, i, home, sent_at, view, wiring, fams, local, code, q)
    return q


@kernel(
    signature(
        "int64[::1], int32[::1], int64[::1], boolean[::1]",
        WIRING,
        "int64[::1], int64[::1], int64, int64[::1], int64[::1]",
    )
)
def write_programs(set_ptr, set_vars, orders, whole, wiring, fam_end, fams, first_set, start, code):
    """Write the programs of sets first_set, ... while there is room; return the first not written.

    Set p stands at code[start[p]:start[p + 1]]; start[first_set] is given. whole says which sets
    are one cluster.
    """
    local = np.empty(wiring.cards.shape[0], np.int64)
    for v in range(local.shape[0]):
        local[v] = -1
    for p in range(first_set, set_ptr.shape[0] - 1):
        begin, end = set_ptr[p], set_ptr[p + 1]
        k = end - begin
        cards, shape = np.empty(k, np.int64), np.empty((k, 5), np.int64)
        scope, digits = np.zeros((k, k), np.bool_), np.empty((k, k), np.int32)
        for a in range(begin, end):
            cards[a - begin] = wiring.cards[set_vars[a]]
        order = orders[begin:end]
        if whole[p]:
            join_all(shape, scope)
        else:
            adjacent = np.zeros((k, k), np.bool_)
            connect_members(set_ptr, set_vars, p, wiring, fam_end, fams, local, adjacent)
            make_cliques(adjacent, order, shape, scope)
            merge_cliques(shape, scope)
        lay_digits(order, cards, shape, scope, digits)
        these = fams[fam_end[p - 1] if p > 0 else 0 : fam_end[p]]
        if start[p] + most_words(cards, shape, digits, these.shape[0]) > code.shape[0]:
            return p
        for a in range(begin, end):
            local[set_vars[a]] = a - begin
        start[p + 1] = write_tree(cards, shape, scope, digits, wiring, these, local, code, start[p])
        for a in range(begin, end):
            local[set_vars[a]] = -1
    return set_ptr.shape[0] - 1
