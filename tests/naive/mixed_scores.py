"""Scores of labels and numbers together by their definitions, one family at a time.

Data are dictionaries name → list of labels or of numbers; `states` has the labels of the former.
"""

import math
from itertools import product

import numpy as np
from naive import gaussian_networks, graphs, scores
from scipy.stats import multivariate_t


def groups(data, states, labels):
    """The rows (positions) with each configuration of these labels, in whatever order."""
    n_rows = len(next(iter(data.values())))
    found = {config: [] for config in product(*(states[x] for x in labels))}
    for i in range(n_rows):
        found[tuple(data[x][i] for x in labels)].append(i)
    return found


def split(states, parents):
    return [p for p in parents if p in states], [p for p in parents if p not in states]


def log_predictions(rows, mean, strength, scale):
    """Log p of rows (N, l), one after the other: Student's densities, α_w = l + 2 at first."""
    size, total = len(mean), 0.0
    degrees, mean, scale = size + 2.0, np.array(mean, float), np.array(scale, float)
    for row in rows:
        free = degrees - size + 1.0
        shape = scale * (strength + 1.0) / (strength * free)
        total += multivariate_t.logpdf(row, mean, shape, df=free)
        away = row - mean
        scale = scale + strength / (strength + 1.0) * np.outer(away, away)
        mean = mean + away / (strength + 1.0)
        strength, degrees = strength + 1.0, degrees + 1.0
    return total


def evidence(data, states, x, parents, strength=1.0):
    """Σ_d L_d(C + x) - L_d(C): ν and v are those of all rows."""
    labels, numbers = split(states, parents)
    total = 0.0
    for members, sign in (([*numbers, x], 1.0), (numbers, -1.0)):
        if members:
            rows = gaussian_networks.matrix(data, members)
            scale = strength / (strength + 1.0) * np.diag(rows.var(0))
            for chosen in groups(data, states, labels).values():
                total += sign * log_predictions(rows[chosen], rows.mean(0), strength, scale)
    return total


def loglik(data, states, x, parents):
    labels, numbers = split(states, parents)
    total = 0.0
    for chosen in groups(data, states, labels).values():
        if chosen:
            part = {name: [data[name][i] for i in chosen] for name in [*numbers, x]}
            total += gaussian_networks.loglik(part, x, numbers)
    return total


def n_parameters(states, x, parents):
    labels, numbers = split(states, parents)
    return math.prod(len(states[p]) for p in labels) * (len(numbers) + 2)


def local(data, states, x, parents, name):
    """The score of a family: a label's as of labels alone."""
    if x in states:
        n_rows = len(data[x])
        rows = [{p: data[p][i] for p in (*parents, x)} for i in range(n_rows)]
        twin = scores.SCORES["bdeu" if name == "bdeu-bge" else name]
        return twin.states(rows, states, x, parents)
    if name == "bdeu-bge":
        return evidence(data, states, x, parents)
    price = scores.SCORES[name].penalty(len(data[x]))
    return loglik(data, states, x, parents) - price * n_parameters(states, x, parents)


def is_in_class(edges, labels):
    """Whether labels have no numbers among their parents."""
    return all(a in labels for a, b in edges if b in labels)


def all_graphs(names, labels):
    """Every DAG in which labels have no numbers among their parents, as its edges."""
    return [edges for edges in graphs.all_dags(names) if is_in_class(edges, labels)]


def equivalence_classes(names, labels):
    """These DAGs, those of a class together."""
    every = graphs.equivalence_classes(names)
    found = ([edges for edges in some if is_in_class(edges, labels)] for some in every)
    return [some for some in found if some]
