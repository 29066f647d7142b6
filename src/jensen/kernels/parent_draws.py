"""Draws of parent sets in proportion to their weights, as `parent_sums` adds them up.

A draw returns the candidates among the parents as bits, and leaves others in room.outsiders.
"""

import math

import numpy as np

from jensen.kernels import bare, bare_part
from jensen.kernels.bit_sets import put
from jensen.kernels.counting import popcount
from jensen.kernels.parent_sums import SMALL, dot, fill_flags, local_bits, sum_ordinary, sum_strong

FEW = 8
"""Candidates whose subsets are gone through one by one; of more, from the heaviest set down."""


@bare_part
def leave(v, a, b, t, room):
    """Leave {a, b} as the set that was drawn (b may be -1) and return its candidates as bits."""
    bits, n_outside = np.int64(0), 0
    room.outsiders[0], room.outsiders[1] = -1, -1
    for u in (a, b):
        if u >= 0:
            if t.place[v, u] >= 0:
                bits |= np.int64(1) << t.place[v, u]
            else:
                room.outsiders[n_outside] = u
                n_outside += 1
    return bits


@bare_part
def draw_ordinary(v, left, t, room):
    """Draw the set outside at which the sum over log_base passes `left`; return its bits."""
    level, allowed = room.level, room.allowed
    fill_flags(room)
    pairs = t.pairs[v]
    a, b = np.int64(-1), np.int64(-1)
    for u in range(level.shape[0]):
        if level[u] == 2:
            if t.singles[v, u] > 0.0:
                a, b = np.int64(u), np.int64(-1)
                left -= t.singles[v, u]
                if left < 0.0:
                    break
            if pairs.shape[0] > 0:
                row = dot(pairs[u], allowed)
                if row > 0.0:
                    a, b = np.int64(u), last_until(pairs[u], allowed, min(left, row))
                    left -= row
                    if left < 0.0:
                        break
            allowed[u] = 1.0
    return leave(v, a, b, t, room)


@bare_part
def last_until(row, flags, left):
    """Return where the sum of row · flags passes `left`; the last that counts if it does not."""
    found = np.int64(-1)
    for u in range(row.shape[0]):
        if row[u] * flags[u] > 0.0:
            found = np.int64(u)
            left -= row[u]
            if left < 0.0:
                break
    return found


@bare_part
def draw_outside(v, log_total, share, t, room):
    """Draw a set outside if the share of the whole falls to one.

    Returns what is left of the share, below 0 if a set was drawn, and the bits of that set.
    """
    fill_flags(room)
    x = sum_ordinary(v, t, room)
    if x > 0.0:
        here = math.exp(t.log_base[v] + math.log(x) - log_total)
        if share < here:
            return -1.0, draw_ordinary(v, x * (share / here), t, room)
        share -= here
    for k in range(t.strong.shape[1]):
        u = t.strong[v, k]
        if u < 0:
            break
        x = sum_strong(v, k, t, room) if room.level[u] != 0 else 0.0
        if x > 0.0:
            here = math.exp(t.log_row[v, k] + math.log(x) - log_total)
            if share < here:
                return -1.0, draw_strong(v, k, x * (share / here), t, room)
            share -= here
    return share, np.int64(0)


@bare_part
def draw_strong(v, k, left, t, room):
    """Draw the set of a row of its own at which its sum passes `left`; return its bits."""
    u = t.strong[v, k]
    flags = room.allowed if room.level[u] == 2 else room.asked
    other = last_until(t.strong_rows[v, k], flags, left)
    return leave(v, u, np.int64(-1) if other == u else other, t, room)


@bare_part
def draw_few(v, allowed, asked, log_total, share, t):
    """Draw a subset of `allowed` that meets `asked`, one by one; any subset if that is -1."""
    log_weights, found = t.log_weights[v], np.int64(-1)
    here = allowed
    while True:
        if asked == -1 or here & asked != 0:
            weight = math.exp(log_weights[here] - log_total)
            if weight > 0.0:
                found = here
                share -= weight
                if share < 0.0:
                    break
        if here == 0:
            break
        here = (here - 1) & allowed
    return found


@bare_part
def draw_many(v, allowed, asked, log_total, share, t):
    """The same, from the heaviest set down."""
    log_weights, ranked, found = t.log_weights[v], t.ranked[v], np.int64(-1)
    for i in range(ranked.shape[0]):
        here = np.int64(ranked[i])
        if here & ~allowed == 0 and (asked == -1 or here & asked != 0):
            weight = math.exp(log_weights[here] - log_total)
            if weight == 0.0:
                break
            found = here
            share -= weight
            if share < 0.0:
                break
    return found


@bare
def draw_parents(v, has_to_meet, log_total, share, t, room):
    """Draw parents of v; share is uniform on [0, 1), log_total what `parent_sums` found.

    With has_to_meet one of level 2 is among them; without, every level is 0 or 2.
    """
    room.outsiders[0], room.outsiders[1] = -1, -1
    allowed = local_bits(t.candidates[v], room.level, np.int8(1))
    asked = np.int64(-1)
    if has_to_meet:
        asked = local_bits(t.candidates[v], room.level, np.int8(2))
    if t.log_outside[v] > log_total - SMALL:
        share, bits = draw_outside(v, log_total, share, t, room)
        if share < 0.0:
            return bits
    bits = np.int64(-1)
    if asked != 0:
        if popcount(np.uint64(allowed)) <= FEW:
            bits = draw_few(v, allowed, asked, log_total, share, t)
        else:
            bits = draw_many(v, allowed, asked, log_total, share, t)
    if bits < 0:  # rounding left a crumb of the share behind the last set outside
        fill_flags(room)
        x = sum_ordinary(v, t, room)
        if x > 0.0:
            return draw_ordinary(v, x, t, room)
        return draw_last_strong(v, t, room)
    return bits


@bare_part
def draw_last_strong(v, t, room):
    """Return the last set in a row of its own; room.allowed is complete."""
    bits = np.int64(0)
    for k in range(t.strong.shape[1]):
        u = t.strong[v, k]
        if u >= 0 and room.level[u] != 0 and sum_strong(v, k, t, room) > 0.0:
            bits = draw_strong(v, k, np.inf, t, room)
    return bits


@bare_part
def write_parents(v, bits, t, room, words):
    """Fill words with a set that was drawn."""
    for w in range(words.shape[0]):
        words[w] = np.uint64(0)
    candidates = t.candidates[v]
    for i in range(candidates.shape[0]):
        if bits >> i & 1:
            put(words, candidates[i])
    for k in range(2):
        if room.outsiders[k] >= 0:
            put(words, room.outsiders[k])
