"""Networks of labels and numbers from their definition: enumeration times Gaussian algebra."""

from itertools import product

import numpy as np
from scipy.special import logsumexp


def dropped(layout, missing, was_set=()):
    """Nodes that are missing, and below which nothing is known: they integrate to one."""

    def matters(v):
        below = [u for u in layout.children[v] if u not in was_set]
        return any(not missing[u] or matters(u) for u in below)

    return {v for v in range(len(layout.cards)) if missing[v] and not matters(v)}


def quadratic(layout, forms, states, nodes):
    """The constant and the matrix of the log potential of all regressions, z = (1, numbers)."""
    n = len(layout.numbers)
    constant, matrix = 0.0, np.zeros((n + 1, n + 1))
    for v, node in enumerate(layout.numbers):
        if node not in nodes:
            continue
        config = sum(step * states[u] for u, step in layout.strides[v].items())
        k = layout.n_members[v]
        form = forms[layout.form_at[v] :][config * (1 + k * k) :][: 1 + k * k]
        places = [0, *(u + 1 for u in layout.number_parents[v]), v + 1]
        constant += form[0]
        matrix[np.ix_(places, places)] += form[1:].reshape(k, k)
    return constant, matrix


def row_problem(layout, log_tables, forms, codes, values, was_set=(), drop=True):
    """For every completion of the labels of a row: states, log integral, E[z zᵀ] of the numbers.

    `values` are NaN where numbers are missing; what is dropped has E[z zᵀ] of NaN.
    """
    missing = np.zeros(len(layout.cards), bool)
    missing[list(layout.labels)] = codes < 0
    missing[list(layout.numbers)] = np.isnan(values)
    gone = dropped(layout, missing, was_set) if drop else set()
    nodes = set(range(len(layout.cards))) - gone - set(was_set)
    choices = [
        range(layout.cards[v]) if codes[u] < 0 and v not in gone else [max(codes[u], 0)]
        for u, v in enumerate(layout.labels)
    ]
    hidden = [v + 1 for v, x in enumerate(values) if np.isnan(x)]
    kept = [p for p in hidden if layout.numbers[p - 1] not in gone]
    found = []
    for states in product(*choices):
        log_p = 0.0
        for u, v in enumerate(layout.labels):
            if v in nodes:
                at = layout.wiring.fam_at[u]
                members = layout.wiring.members(u)
                steps = layout.wiring.fam_stride[layout.wiring.fam_ptr[u] :][: len(members)]
                log_p += log_tables[
                    at + sum(s * states[m] for m, s in zip(members, steps, strict=True))
                ]
        constant, matrix = quadratic(layout, forms, states, nodes)
        z = np.append(1.0, np.where(np.isnan(values), 0.0, values))
        precision = -2.0 * matrix[np.ix_(kept, kept)]
        pull = 2.0 * (matrix @ z)[kept]
        mean = np.linalg.solve(precision, pull) if kept else np.empty(0)
        value = constant + z @ matrix @ z + 0.5 * pull @ mean
        value += 0.5 * len(kept) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(precision)[1]
        z[kept] = mean
        second = np.outer(z, z)
        second[np.ix_(kept, kept)] += np.linalg.inv(precision)
        lost = [p for p in hidden if p not in kept]
        second[lost], second[:, lost] = np.nan, np.nan
        found.append((states, log_p + value, second))
    return found, nodes


def expected(layout, log_tables, forms, rows, was_set=()):
    """Σ weight · log Z, expected counts of the tables, expected moments in the layout of forms."""
    total, counts, moments = 0.0, np.zeros(len(log_tables)), np.zeros(len(forms))
    for codes, values, weight in zip(*rows, strict=True):
        found, nodes = row_problem(layout, log_tables, forms, codes, values, was_set)
        log_z = logsumexp([value for _, value, _ in found])
        total += weight * log_z
        for states, value, second in found:
            share = weight * np.exp(value - log_z)
            for u, v in enumerate(layout.labels):
                if v in nodes:
                    members = layout.wiring.members(u)
                    steps = layout.wiring.fam_stride[layout.wiring.fam_ptr[u] :][: len(members)]
                    at = sum(s * states[m] for m, s in zip(members, steps, strict=True))
                    counts[layout.wiring.fam_at[u] + at] += share
            for v, node in enumerate(layout.numbers):
                if node in nodes:
                    config = sum(step * states[u] for u, step in layout.strides[v].items())
                    k = layout.n_members[v]
                    places = [0, *(u + 1 for u in layout.number_parents[v]), v + 1]
                    at = layout.form_at[v] + config * (1 + k * k)
                    moments[at] += share
                    block = second[np.ix_(places, places)]
                    moments[at + 1 : at + 1 + k * k] += share * block.ravel()
    return total, counts, moments
