"""Tests of independence by their definitions: cell by cell, regression by regression."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
from scipy import optimize


def complete(columns):
    """The rows, as tuples, that hold no None and no NaN; and which they are."""
    rows = list(zip(*columns, strict=True))
    kept = [i for i, row in enumerate(rows) if all(x is not None and x == x for x in row)]
    return [rows[i] for i in kept], kept


def chi_squared(x, y, given=(), weights=None, kind="g2"):
    """Statistic, degrees of freedom and weight of the rows, stratum by stratum."""
    rows, kept = complete([x, y, *given])
    counts = Counter()
    for row, i in zip(rows, kept, strict=True):
        counts[row] += 1 if weights is None else weights[i]
    counts = {row: n for row, n in counts.items() if n > 0}
    statistic, df = 0.0, 0
    for stratum in {row[2:] for row in counts}:
        cells = {row[:2]: n for row, n in counts.items() if row[2:] == stratum}
        above, beside = sorted({a for a, _ in cells}), sorted({b for _, b in cells})
        total = sum(cells.values())
        df += (len(above) - 1) * (len(beside) - 1)
        for a in above:
            for b in beside:
                seen = cells.get((a, b), 0)
                row = sum(n for (c, _), n in cells.items() if c == a)
                column = sum(n for (_, d), n in cells.items() if d == b)
                expected = row * column / total
                if kind == "x2":
                    statistic += (seen - expected) ** 2 / expected
                elif seen:
                    statistic += 2.0 * seen * math.log(seen / expected)
    return statistic, df, sum(counts.values())


def partial_correlation(x, y, given=()):
    """The correlation of what regressions on the others leave of the two."""
    rows, _ = complete([x, y, *given])
    data = np.array(rows, float)
    design = np.column_stack([np.ones(len(data)), data[:, 2:]])
    left = data[:, :2] - design @ np.linalg.lstsq(design, data[:, :2], rcond=None)[0]
    return float(np.corrcoef(left.T)[0, 1]), len(data)


def gaussian_likelihood(y, numbers):
    """The largest log-likelihood of a linear regression, and how many parameters it has."""
    design = np.column_stack([np.ones(len(y)), *numbers])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    variance = float(np.mean(left**2))
    return -0.5 * len(y) * (math.log(2.0 * math.pi * variance) + 1.0), design.shape[1] + 1


def logistic_likelihood(codes, numbers):
    """The largest log-likelihood of a multinomial logistic regression, by a general optimiser."""
    design = np.column_stack([np.ones(len(codes)), *numbers])
    states = sorted(set(codes))
    at = np.array([states.index(c) for c in codes])

    def loss(flat):
        scores = np.column_stack(
            [design @ flat.reshape(len(states) - 1, -1).T, np.zeros(len(design))]
        )
        top = scores.max(1)
        log_total = top + np.log(np.exp(scores - top[:, None]).sum(1))
        return -float(np.sum(scores[np.arange(len(at)), at] - log_total))

    start = np.zeros((len(states) - 1) * design.shape[1])
    return -optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-8}).fun


def separated(parents, a, b, given):
    """d-separation: no path between the two in the moral graph of all their ancestors."""
    kept, todo = set(), [a, b, *given]
    while todo:
        x = todo.pop()
        if x not in kept:
            kept.add(x)
            todo.extend(parents[x])
    joined = {x: set() for x in kept}
    for x in kept:
        for u, v in [*((x, p) for p in parents[x]), *combinations(parents[x], 2)]:
            joined[u].add(v)
            joined[v].add(u)
    seen, todo = set(given), [a]
    while todo:
        x = todo.pop()
        if x not in seen:
            seen.add(x)
            todo.extend(joined[x])
    return b not in seen


def random_dag(rng, n, n_edges):
    """Parents of every node; edges run along a random order, each pair equally likely."""
    order = rng.permutation(n)
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
    chosen = rng.choice(len(pairs), min(n_edges, len(pairs)), replace=False) if pairs else []
    parents = [[] for _ in range(n)]
    for k in chosen:
        parents[int(pairs[k][1])].append(int(pairs[k][0]))
    return [sorted(some) for some in parents]
