"""Sub-problems solved one after the other: sums, maxima and draws on compiled trees.

`redraw_sites` draws one variable at a time instead, each given all others: no
cluster tree is needed.
"""

import numpy as np

from jensen.kernels import kernel, part
from jensen.kernels.messages import (
    choose_entry,
    collect,
    count,
    read_message,
    read_table,
    settle,
    take_down,
    write_states,
)
from jensen.kernels.records import FAMILIES, PROBLEMS, PROGRAM, WIRING, WORK, signature
from jensen.support.tree_records import CLUSTERS, MESSAGE, N_CLUSTERS, N_MEMBERS, N_SENT


@part
def send_back(code, head, weight, back):
    """Return the last cluster of the tree at head, to which alone the weight has come back."""
    for a in range(code[head + N_SENT]):
        back[a] = 0.0
    last = code[head + N_CLUSTERS] - 1
    back[code[head + code[head + CLUSTERS + last] + MESSAGE]] = weight
    return last


@kernel(
    signature(
        PROGRAM,
        PROBLEMS,
        "float64[::1], float64[::1]",
        WORK,
        "float64[::1], float64[::1], int64[::1], float64[::1]",
    )
)
def expect(program, problems, tables, log_tables, work, log_z, counts, out_ptr, out):
    """Fill log Z of every problem, and add its expectations by weight.

    They are counts of the configurations of its families, and of the states of its members at
    out[out_ptr[k]:]; of counts and out, what is empty is left alone.
    """
    code, start = program
    set_of, base_ptr, bases, weight = problems
    psi, message, back, _ = work
    is_max = set_of.shape[0] < 0  # False, but no literal: collect would be compiled for it anew
    for k in range(set_of.shape[0]):
        head, b0 = start[set_of[k]], base_ptr[k]
        log_z[k] = collect(code, head, bases, b0, tables, log_tables, is_max, psi, message)
        if log_z[k] == -np.inf:
            continue
        for c in range(send_back(code, head, weight[k], back), -1, -1):
            q = head + code[head + CLUSTERS + c]
            if out.shape[0] > 0:
                read_message(code, q, back, out, out_ptr[k])
            take_down(code, q, psi, message, back)
            if counts.shape[0] > 0:
                count(code, q, bases, b0, psi, counts)
            if out.shape[0] > 0:
                read_table(code, q, psi, out, out_ptr[k])


@kernel(
    signature(
        PROGRAM,
        PROBLEMS,
        "float64[::1], float64[::1], int64[::1], float64[::1]",
        WORK,
        "float64[::1], float64[::1], int64[::1], int32[::1]",
    )
)
def choose(
    program, problems, tables, log_tables, times, uniforms, work, value, counts, state_ptr, states
):
    """Choose times[k] configurations of every problem: draws, or without uniforms the best one.

    Each counts weight / times. Fill value with the mean log potential of the choices and, if
    state_ptr is not empty, states[state_ptr[k]:] with the states of the members, choice by choice.
    """
    code, start = program
    set_of, base_ptr, bases, weight = problems
    psi, message, _, chosen = work
    is_max, u = uniforms.shape[0] == 0, 0
    for k in range(set_of.shape[0]):
        head, b0 = start[set_of[k]], base_ptr[k]
        value[k] = collect(code, head, bases, b0, tables, log_tables, is_max, psi, message)
        if value[k] == -np.inf:
            continue
        total, last = 0.0, code[head + N_CLUSTERS] - 1
        for d in range(times[k]):
            for c in range(last, -1, -1):
                q = head + code[head + CLUSTERS + c]
                a = 0 if c == last else chosen[code[q + MESSAGE]]
                i = choose_entry(code, q, a, -1.0 if is_max else uniforms[u], psi)
                u = u if is_max else u + 1
                amount = weight[k] / times[k]
                total += settle(code, q, i, bases, b0, log_tables, amount, chosen, counts)
                if state_ptr.shape[0] > 0:
                    write_states(code, q, i, states, state_ptr[k] + d * code[head + N_MEMBERS])
        value[k] = total / times[k]


@part
def place_families(wiring, families, first, last, bases, b0, local, states, s0, place):
    """Fill where each family of the set reads its table at these states of the members."""
    for j in range(first, last):
        f = families.of[j]
        at = bases[b0 + j - first]
        for m in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
            if local[wiring.fam_vars[m]] >= 0:
                at += wiring.fam_stride[m] * states[s0 + local[wiring.fam_vars[m]]]
        place[j - first] = at


@part
def step_in(wiring, f, v):
    """Return the step of variable v in the table of family f."""
    for m in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
        if wiring.fam_vars[m] == v:
            return wiring.fam_stride[m]
    return 0


@part
def draw_state(log_weight, n, u):
    """Return a state drawn by its weight, from one number in [0, 1); any, if all are impossible."""
    highest = -np.inf
    for s in range(n):
        highest = max(highest, log_weight[s])
    if highest == -np.inf:
        return min(int(u * n), n - 1)
    total = 0.0
    for s in range(n):
        log_weight[s] = np.exp(log_weight[s] - highest)
        total += log_weight[s]
    left, last = u * total, 0
    for s in range(n):
        if log_weight[s] > 0.0:
            last = s
            if left < log_weight[s]:
                return s
            left -= log_weight[s]
    return last


@part
def redraw(v, at, states, wiring, slot, place, log_tables, log_weight, u):
    """Draw the state of variable v, which is at states[at], given those of all others."""
    n = wiring.cards[v]
    for s in range(n):
        log_weight[s] = 0.0
    for e in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
        f = wiring.touch[e]
        step = step_in(wiring, f, v)
        base = place[slot[f]] - step * states[at]
        for s in range(n):
            log_weight[s] += log_tables[base + step * s]
    new = draw_state(log_weight, n, u)
    for e in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
        f = wiring.touch[e]
        place[slot[f]] += step_in(wiring, f, v) * (new - states[at])
    states[at] = new


@kernel(
    signature(
        WIRING,
        FAMILIES,
        "int32[::1], int64[::1]",
        PROBLEMS,
        "float64[::1], int64[::1], int64, float64[::1], int32[::1], float64[::1], float64[::1]",
    )
)
def redraw_sites(
    wiring,
    families,
    members,
    set_ptr,
    problems,
    log_tables,
    times,
    n_sweeps,
    uniforms,
    states,
    value,
    counts,
):
    """Draw every member of every problem n_sweeps times in turn, given all others.

    The members of set p are members[set_ptr[p]:set_ptr[p + 1]]. Problem k has times[k] rows, each
    with states of its own, which stand one after the other in states and are replaced; each counts
    weight / times. Fill value with the mean log potential of the rows of each problem.
    """
    set_of, base_ptr, bases, weight = problems
    local = np.full(wiring.cards.shape[0], -1, np.int64)
    slot = np.empty(wiring.fam_ptr.shape[0], np.int64)
    place = np.empty(wiring.fam_ptr.shape[0], np.int64)
    log_weight = np.empty(wiring.cards.max())
    s0, u = 0, 0
    for k in range(set_of.shape[0]):
        p = set_of[k]
        first = families.end[p - 1] if p > 0 else 0
        n_members, n_families = set_ptr[p + 1] - set_ptr[p], families.end[p] - first
        for i in range(n_members):
            local[members[set_ptr[p] + i]] = i
        for j in range(n_families):
            slot[families.of[first + j]] = j
        total = 0.0
        for _ in range(times[k]):
            place_families(
                wiring,
                families,
                first,
                families.end[p],
                bases,
                base_ptr[k],
                local,
                states,
                s0,
                place,
            )
            for _ in range(n_sweeps):
                for i in range(n_members):
                    v = members[set_ptr[p] + i]
                    redraw(
                        v, s0 + i, states, wiring, slot, place, log_tables, log_weight, uniforms[u]
                    )
                    u += 1
            for j in range(n_families):
                total += log_tables[place[j]]
                counts[place[j]] += weight[k] / times[k]
            s0 += n_members
        value[k] = total / times[k]
        for i in range(n_members):
            local[members[set_ptr[p] + i]] = -1
