"""Messages between factors and variables: sums, maxima and dual decomposition, in log space.

Slot e is one member of one factor, at position e of ``wiring.fam_vars``; its message to the
variable begins at ``slot_at[e]``. The belief of variable v, from ``state_at[v]`` on, is the sum of
all messages to it, each times the weight of its factor. A factor hears from a member its belief
less the message that the factor itself sent.
"""

import numpy as np

from jensen.kernels import bare, bare_part, kernel
from jensen.kernels.records import MESSAGES, WIRING, signature

SUM, MAX, SHARE = range(3)
"""What a factor sends: sums of products, their maxima, or equal shares of its maximum (which lowers
the dual of the decomposition into factors)."""

TINY = 1e-250
"""Sums below this may have lost terms and are taken anew, each by its own largest term."""


@bare
def spread(values, at, stride, card, begin, size, sign, table):
    """Add sign · values[at:] of one axis to a table of `size` entries."""
    for block in range(begin, begin + size, stride * card):
        for x in range(card):
            value = sign * values[at + x]
            for i in range(block + x * stride, block + (x + 1) * stride):
                table[i] += value


@bare
def hear(wiring, log_tables, weight, net, f, table):
    """Fill table[:size] with what factor f believes of its entries, logs; return the largest."""
    at = wiring.fam_at[f]
    size = wiring.fam_at[f + 1] - at
    for i in range(size):
        table[i] = log_tables[at + i] / weight
    for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
        v, stride = wiring.fam_vars[e], wiring.fam_stride[e]
        card = wiring.cards[v]
        spread(net.belief, net.state_at[v], stride, card, 0, size, 1.0, table)
        spread(net.message, net.slot_at[e], stride, card, 0, size, -1.0, table)
    top = -np.inf
    for i in range(size):
        top = max(top, table[i])
    return top


@bare
def sum_over(table, size, stride, card, x):
    """Return log Σ exp table over entries of state x, by their own largest term."""
    top = -np.inf
    for block in range(0, size, stride * card):
        for i in range(block + x * stride, block + (x + 1) * stride):
            top = max(top, table[i])
    if top == -np.inf:
        return top
    total = 0.0
    for block in range(0, size, stride * card):
        for i in range(block + x * stride, block + (x + 1) * stride):
            total += np.exp(table[i] - top)
    return top + np.log(total)


@bare
def collect(table, size, stride, card, top, mode, out):
    """Fill out[:card] with the log sum or the maximum of a table, state by state of one member."""
    for x in range(card):
        out[x] = 0.0 if mode == SUM else -np.inf
    for block in range(0, size, stride * card):
        for x in range(card):
            for i in range(block + x * stride, block + (x + 1) * stride):
                if mode == SUM:
                    out[x] += table[size + i]  # exponentials stand behind the logs
                else:
                    out[x] = max(out[x], table[i])
    if mode == SUM:
        for x in range(card):
            if out[x] > TINY:
                out[x] = top + np.log(out[x])
            else:
                out[x] = sum_over(table, size, stride, card, x)


@bare_part
def tell(wiring, net, e, weight, damping, is_level):
    """Send net.told to the member of slot e, as a level or by its shape alone."""
    at, home = net.slot_at[e], net.state_at[wiring.fam_vars[e]]
    card = wiring.cards[wiring.fam_vars[e]]
    best, moved = 0.0, 0.0
    if not is_level:
        best = -np.inf
        for x in range(card):
            best = max(best, net.told[x])
    for x in range(card):
        change = (1.0 - damping) * (net.told[x] - best - net.message[at + x])
        moved = max(moved, abs(change))
        net.message[at + x] += change
        net.belief[home + x] += weight * change
    net.moved[e] = weight * moved
    return moved


@bare_part
def send_pair(wiring, log_tables, weight, net, f, mode, damping, table):
    """Send new messages from a factor of two members; return the largest change."""
    first, most = wiring.fam_ptr[f], 0.0
    for side in range(2):
        e, other = first + side, first + 1 - side
        card = wiring.cards[wiring.fam_vars[other]]
        step, at = wiring.fam_stride[other], net.slot_at[other]
        for x in range(wiring.cards[wiring.fam_vars[e]]):
            begin = wiring.fam_at[f] + x * wiring.fam_stride[e]
            top = -np.inf
            for y in range(card):
                table[y] = log_tables[begin + y * step] / weight + net.heard[at + y]
                top = max(top, table[y])
            if mode == SUM:
                total = 0.0
                for y in range(card):
                    total += np.exp(table[y] - top)
                net.told[x] = top + np.log(total)
            elif mode == MAX:
                net.told[x] = top
            else:
                net.told[x] = 0.5 * (top - net.heard[net.slot_at[e] + x])
        most = max(most, tell(wiring, net, e, weight, damping, mode == SHARE))
    return most


@bare
def send(wiring, log_tables, weight, net, f, mode, damping, table):
    """Send new messages from factor f to all its members; return the largest change."""
    begin, end = wiring.fam_ptr[f], wiring.fam_ptr[f + 1]
    n_members, most = end - begin, 0.0
    if n_members == 1:
        damping = 0.0  # what it says never changes
    if n_members == 2:
        return send_pair(wiring, log_tables, weight, net, f, mode, damping, table)
    top = hear(wiring, log_tables, weight, net, f, table)
    size = wiring.fam_at[f + 1] - wiring.fam_at[f]
    if mode == SUM:
        for i in range(size):
            table[size + i] = np.exp(table[i] - top)
    for e in range(begin, end):
        card = wiring.cards[wiring.fam_vars[e]]
        collect(table, size, wiring.fam_stride[e], card, top, mode, net.told)
        for x in range(card):
            if mode == SHARE:
                net.told[x] /= n_members
            net.told[x] -= net.heard[net.slot_at[e] + x]
        most = max(most, tell(wiring, net, e, weight, damping, mode == SHARE))
    return most


@bare_part
def listen(wiring, net, f):
    """Note what factor f hears from each of its members."""
    for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
        home, at = net.state_at[wiring.fam_vars[e]], net.slot_at[e]
        for x in range(wiring.cards[wiring.fam_vars[e]]):
            net.heard[at + x] = net.belief[home + x] - net.message[at + x]


@bare
def sink(heap, place, urgency, k, n):
    """Restore the order of a heap of n factors whose k-th became less urgent."""
    f = heap[k]
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and urgency[heap[child + 1]] > urgency[heap[child]]:
            child += 1
        if urgency[heap[child]] <= urgency[f]:
            break
        heap[k] = heap[child]
        place[heap[k]] = k
        k = child
    heap[k] = f
    place[f] = k


@bare
def rise(heap, place, urgency, k):
    """Restore the order of a heap whose k-th factor became more urgent."""
    f = heap[k]
    while k > 0 and urgency[heap[(k - 1) // 2]] < urgency[f]:
        heap[k] = heap[(k - 1) // 2]
        place[heap[k]] = k
        k = (k - 1) // 2
    heap[k] = f
    place[f] = k


@bare
def normalise(table, size):
    """Turn table[:size] of logs into shares; return the log of their sum."""
    top, total = -np.inf, 0.0
    for i in range(size):
        top = max(top, table[i])
    if top == -np.inf:
        return top
    for i in range(size):
        table[i] = np.exp(table[i] - top)
        total += table[i]
    for i in range(size):
        table[i] /= total
    return top + np.log(total)


@kernel(signature(WIRING, "float64[::1], float64[::1]", MESSAGES, "float64[::1], float64[::1]"))
def read_factors(wiring, log_tables, weights, net, shares, log_z):
    """Fill what every factor believes of its entries, and the log sum of its beliefs."""
    for f in range(log_z.shape[0]):
        listen(wiring, net, f)
        hear(wiring, log_tables, weights[f], net, f, net.table)
        begin = wiring.fam_at[f]
        size = wiring.fam_at[f + 1] - begin
        log_z[f] = normalise(net.table, size)
        for i in range(size):
            shares[begin + i] = net.table[i]


@kernel(
    signature(
        WIRING,
        "float64[::1], float64[::1]",
        MESSAGES,
        "int64[::1], int64, int64",
        "float64, float64",
    )
)
def propagate(wiring, log_tables, weights, net, order, mode, most_sweeps, damping, tol):
    """Send the factors' messages in this order until they change by less than `tol`.

    Return the number of sweeps, negative if they did not settle.
    """
    for sweep in range(1, most_sweeps + 1):
        change = 0.0
        for f in order:
            if sweep == 1 or wiring.fam_ptr[f + 1] - wiring.fam_ptr[f] > 1:
                listen(wiring, net, f)
                change = max(
                    change,
                    send(wiring, log_tables, weights[f], net, f, mode, damping, net.table),
                )
        if change < tol:
            return sweep
    return -most_sweeps


@kernel(
    signature(
        WIRING,
        "float64[::1], float64[::1]",
        MESSAGES,
        "int64[::1], int64[::1], float64[::1]",
        "int64, int64, float64, float64",
    )
)
def propagate_urgent(
    wiring, log_tables, weights, net, heap, place, urgency, mode, most_updates, damping, tol
):
    """Send first what would change most: residual belief propagation with bounds of residuals.

    How much a factor has to tell is bounded by how far the beliefs of its members moved since it
    spoke last. Return the number of updates, negative if messages did not settle.
    """
    n = heap.shape[0]
    if n == 0:
        return 0
    for done in range(most_updates):
        f = heap[0]
        if urgency[f] < tol:
            return done
        listen(wiring, net, f)
        send(wiring, log_tables, weights[f], net, f, mode, damping, net.table)
        urgency[f] = 0.0
        if damping > 0.0:  # what damping held back is still to be told
            for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
                urgency[f] += net.moved[e] * damping / (1.0 - damping)
        sink(heap, place, urgency, 0, n)
        for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
            v = wiring.fam_vars[e]
            for t in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
                g = wiring.touch[t]
                if g != f and place[g] >= 0:
                    urgency[g] += net.moved[e]
                    rise(heap, place, urgency, place[g])
    return -most_updates


@kernel(signature(WIRING, "float64[::1]", MESSAGES))
def dual_value(wiring, log_tables, net):
    """Return Σ_v max belief + Σ_f max (log table - messages), which no product exceeds."""
    value = 0.0
    for f in range(wiring.fam_ptr.shape[0] - 1):
        at = wiring.fam_at[f]
        size, top = wiring.fam_at[f + 1] - at, -np.inf
        for i in range(size):
            net.table[i] = log_tables[at + i]
        for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
            stride, card = wiring.fam_stride[e], wiring.cards[wiring.fam_vars[e]]
            spread(net.message, net.slot_at[e], stride, card, 0, size, -1.0, net.table)
        for i in range(size):
            top = max(top, net.table[i])
        value += top
    for v in range(wiring.cards.shape[0]):
        top = -np.inf
        for k in range(net.state_at[v], net.state_at[v + 1]):
            top = max(top, net.belief[k])
        value += top
    return value


@kernel(signature(WIRING, "float64[::1], int64[::1], int64"))
def improve_states(wiring, log_tables, states, most_sweeps):
    """Change single states while that makes the product larger; return whether any did."""
    changed_any = False
    for _ in range(most_sweeps):
        changed = False
        for v in range(states.shape[0]):
            best, before = -np.inf, states[v]
            for x in range(wiring.cards[v]):
                total = 0.0
                for t in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
                    f = wiring.touch[t]
                    at = wiring.fam_at[f]
                    for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
                        u = wiring.fam_vars[e]
                        at += wiring.fam_stride[e] * (x if u == v else states[u])
                    total += log_tables[at]
                if total > best or (total == best and x == before):
                    best, chosen = total, x
            if best > -np.inf and chosen != before:
                states[v] = chosen
                changed = changed_any = True
        if not changed:
            break
    return changed_any
