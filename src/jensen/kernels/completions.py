"""Completions of incomplete rows, listed with their probabilities.

The missing cells of a row fall into sub-problems that are independent given what is known
(`jensen.kernels.hidden_sets`), so a row's completions are products of the completions of its
sub-problems. Only these are listed, once for all rows that have the sub-problem.
"""

import numpy as np

from jensen.kernels import helper, kernel, part
from jensen.kernels.messages import collect, write_states
from jensen.kernels.records import (
    COMPLETION_LISTS,
    PROBLEMS,
    PROGRAM,
    WORK,
    signature,
)
from jensen.support.tree_records import (
    CHILDREN,
    CLUSTERS,
    FAMILIES,
    INNER,
    MESSAGE,
    N_CLUSTERS,
    N_MEMBERS,
    OUTER,
    PSI,
    SIZE,
    SLOT,
    SLOTS,
    SOURCE,
    TILE,
    WIDTH,
)


@part
def tell_children(code, q, i, chosen):
    """Fill which configuration of its separator entry i of a cluster leaves to each child."""
    tile, r = code[q + TILE], q + SLOTS + SLOT * code[q + FAMILIES]
    for _ in range(code[q + CHILDREN]):
        step = code[q + code[r + OUTER] + i // tile] + code[q + code[r + INNER] + i % tile]
        chosen[code[r + SOURCE]] = step
        r += SLOT


@helper
def walk_completions(code, head, least, most, psi, message, share, chosen, entry, mass, states):
    """List the completions of a problem whose messages were collected; return how many there are.

    The walk goes through the clusters from the last, and back where all that is left has a
    probability of at most `least`. More than `most`, or than there is room for, are -1.
    """
    n_members, last = code[head + N_MEMBERS], code[head + N_CLUSTERS] - 1
    room = min(most, mass.shape[0], states.shape[0] // n_members)
    n, c = 0, last
    q = head + code[head + CLUSTERS + c]
    share[c], entry[c] = 1.0, -code[q + WIDTH]
    while c <= last:
        q = head + code[head + CLUSTERS + c]
        i = entry[c] + code[q + WIDTH]
        if i >= code[q + SIZE]:
            c += 1
            continue
        entry[c] = i
        below = message[code[q + MESSAGE] + i % code[q + WIDTH]]
        here = share[c] * psi[code[q + PSI] + i] / below if below > 0.0 else 0.0
        if here <= least:
            continue
        if n == room:
            return -1
        write_states(code, q, i, states, n * n_members)
        if c > 0:
            tell_children(code, q, i, chosen)
            c -= 1
            q = head + code[head + CLUSTERS + c]
            share[c], entry[c] = here, chosen[code[q + MESSAGE]] - code[q + WIDTH]
            continue
        mass[n] = here
        n += 1
        if n < room:  # the next completion differs in what the walk changes
            for k in range(n_members):
                states[n * n_members + k] = states[(n - 1) * n_members + k]
    return n


@kernel(
    signature(
        PROGRAM,
        PROBLEMS,
        "float64[::1], float64[::1], float64, int64",
        WORK,
        "int64, int64[::1], float64[::1], int32[::1], float64[::1], int64[::1], int64[::1]",
    )
)
def list_completions(
    program, problems, tables, log_tables, least, most, work, first, entry, mass, states, lost,
    n_listed, n_states,
):  # fmt: skip
    """List the completions of problems first, first + 1, ...; return the first without room.

    Fills n_listed with how many each has, 0 where they are more than `most`; lost with the
    probability of those that are left out. Masses are made to sum to one.
    """
    code, start = program
    psi, message, share, chosen = work
    is_max = problems.set_of.shape[0] < 0  # False, but no literal: it would be compiled anew
    at = at_states = 0
    for k in range(first, problems.set_of.shape[0]):
        head, b0 = start[problems.set_of[k]], problems.base_ptr[k]
        log_z = collect(code, head, problems.bases, b0, tables, log_tables, is_max, psi, message)
        n = 0
        if log_z > -np.inf:
            n = walk_completions(
                code, head, least, most, psi, message, share, chosen, entry, mass[at:],
                states[at_states:],
            )  # fmt: skip
        n_members = code[head + N_MEMBERS]
        if n < 0:
            if mass.shape[0] - at < most or states.shape[0] - at_states < most * n_members:
                return k
            n = 0
        total = 0.0
        for i in range(at, at + n):
            total += mass[i]
        for i in range(at, at + n):
            mass[i] /= total
        lost[k], n_listed[k], n_states[k] = 1.0 - total if n > 0 else 0.0, n, n * n_members
        at += n
        at_states += n * n_members
    return problems.set_of.shape[0]


@kernel(signature(COMPLETION_LISTS))
def add_pairs(lists):
    """Add the masses of completions to the probabilities of all pairs of states."""
    for k in range(lists.begin.shape[0]):
        begin, n_members = lists.begin[k], lists.end[k] - lists.begin[k]
        width, at = lists.width[k], lists.state_at[k]
        for i in range(lists.list_at[k], lists.list_at[k + 1]):
            mass = lists.mass[i]
            for m in range(n_members):
                to = lists.pair_at[k] + (lists.offset[begin + m] + lists.states[at + m]) * width
                for u in range(n_members):
                    lists.pair[to + lists.offset[begin + u] + lists.states[at + u]] += mass
            at += n_members
