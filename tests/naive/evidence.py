"""The evidence by its definition: the sum over everything that is hidden, θ integrated out."""

import math
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp


def counted(counts, alpha):
    """Log ∫ Π π_k^n_k Dirichlet(π | α) dπ."""
    counts, alpha = np.asarray(counts, float), np.asarray(alpha, float)
    total = gammaln(alpha.sum()) - gammaln(alpha.sum() + counts.sum())
    return float(total + (gammaln(alpha + counts) - gammaln(alpha)).sum())


def normal_gamma(x, m, beta, shape, rate):
    """Log ∫ Π N(x | μ, 1/λ) N(μ | m, 1/(β λ)) Gamma(λ | shape, rate), point by point."""
    total = 0.0
    for value in x:  # each given those before: a Student distribution
        scale = rate * (beta + 1.0) / (beta * shape)
        nu = 2.0 * shape
        total += (
            gammaln(0.5 * (nu + 1.0))
            - gammaln(0.5 * nu)
            - 0.5 * math.log(nu * math.pi * scale)
            - 0.5 * (nu + 1.0) * math.log1p((value - m) ** 2 / (nu * scale))
        )
        rate += 0.5 * beta / (beta + 1.0) * (value - m) ** 2
        m, beta, shape = (beta * m + value) / (beta + 1.0), beta + 1.0, shape + 0.5
    return total


def network(rows, cards, families, alpha, was_set=()):
    """Rows (N, n) with -1 where missing; α of every cell of the table of each family.

    families: (parents..., variable) of each variable; was_set: the variable set in each row, or -1.
    """
    cells = [(i, v) for i, row in enumerate(rows) for v, state in enumerate(row) if state < 0]
    terms = []
    for states in product(*(range(cards[v]) for _, v in cells)):
        full = np.array(rows)
        for (i, v), state in zip(cells, states, strict=True):
            full[i, v] = state
        total = 0.0
        for v, (family, cell) in enumerate(zip(families, alpha, strict=True)):
            used = [row for i, row in enumerate(full) if not len(was_set) or was_set[i] != v]
            for config in product(*(range(cards[u]) for u in family[:-1])):
                own = [row[v] for row in used if tuple(row[list(family[:-1])]) == config]
                counts = np.bincount(np.array(own, int), minlength=cards[v])
                total += counted(counts, np.full(cards[v], cell))
        terms.append(total)
    return float(logsumexp(terms))


def mixture(rows, n_states, alpha, of_rows):
    """Over the states of all rows; `of_rows(rows)` is the evidence of the rows of one state."""
    terms = []
    for states in product(range(n_states), repeat=len(rows)):
        own = [[r for r, k in zip(rows, states, strict=True) if k == j] for j in range(n_states)]
        counts = [len(some) for some in own]
        terms.append(counted(counts, np.full(n_states, alpha)) + sum(map(of_rows, own)))
    return float(logsumexp(terms))


def labels(n_labels, alpha):
    """The evidence of rows of labels (None is missing), each column by itself."""

    def of_rows(rows):
        total = 0.0
        for column in zip(*rows, strict=True):
            seen = np.array([x for x in column if x is not None], int)
            total += counted(np.bincount(seen, minlength=n_labels), np.full(n_labels, alpha))
        return total

    return of_rows


def chains(sequences, n_states, n_labels, alpha=1.0):
    """Hidden Markov models of labels, over the paths of all sequences."""
    steps = [x for sequence in sequences for x in sequence]
    starts = set(np.cumsum([0, *map(len, sequences)])[:-1].tolist())
    terms = []
    for path in product(range(n_states), repeat=len(steps)):
        first, moves = np.zeros(n_states), np.zeros((n_states, n_states))
        out = np.zeros((n_states, n_labels))
        for i, (k, x) in enumerate(zip(path, steps, strict=True)):
            if i in starts:
                first[k] += 1
            else:
                moves[path[i - 1], k] += 1
            if x is not None:
                out[k, x] += 1
        tables = [first, *moves, *out]
        terms.append(sum(counted(row, np.full(len(row), alpha)) for row in tables))
    return float(logsumexp(terms))
