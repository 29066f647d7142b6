"""Sub-problems drawn one variable at a time, each given all others: no cluster tree is needed."""

import numpy as np

from jensen.kernels import kernel, part
from jensen.kernels.records import FAMILIES, PROBLEMS, WIRING, signature


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
