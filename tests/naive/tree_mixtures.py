"""Trees by enumeration: every spanning tree, every completion of a row."""

from itertools import product

import numpy as np
from scipy.special import gammaln


def spanning_trees(D):
    """Every tree on D vertices as a list of edges, from its Prüfer code."""
    if D == 1:
        yield []
        return
    for code in product(range(D), repeat=D - 2):
        degree = [1 + code.count(v) for v in range(D)]
        edges = []
        for u in code:
            v = degree.index(1)
            edges.append((min(u, v), max(u, v)))
            degree[u] -= 1
            degree[v] -= 1
        u, v = (x for x in range(D) if degree[x] == 1)
        yield [*edges, (u, v)]


def pair_counts(rows, weight, sizes):
    """{(u, v): table} of all pairs u < v, and of (v, v) the counts of single labels."""
    found = {}
    for v, size in enumerate(sizes):
        found[v, v] = np.bincount(rows[:, v], weight, size)
        for u in range(v):
            table = np.zeros((sizes[u], size))
            np.add.at(table, (rows[:, u], rows[:, v]), weight)
            found[u, v] = table
    return found


def log_dirichlet(counts, prior):
    """Log ∫ Π θ^counts Dir(θ | prior) dθ along the last axis, summed over the others."""
    both = counts + prior
    inside = gammaln(both).sum(-1) - gammaln(both.sum(-1))
    return float((inside - gammaln(prior).sum(-1) + gammaln(prior.sum(-1))).sum())


def log_evidence_of_tree(edges, counts, sizes, sample_size, root=0):
    """Log p(rows | T), the tables integrated out, by its conditional tables from a root."""
    total = log_dirichlet(counts[root, root], np.full(sizes[root], sample_size / sizes[root]))
    seen, todo = {root}, [root]
    while todo:
        u = todo.pop()
        for edge in edges:
            v = sum(edge) - u
            if u in edge and v not in seen:
                table = counts[min(u, v), max(u, v)]
                table = table if u < v else table.T
                prior = np.full(table.shape, sample_size / table.size)
                total += log_dirichlet(table, prior)
                seen.add(v)
                todo.append(v)
    return total


def log_prior_of_trees(trees, log_beta):
    """Log p(T) ∝ Π β for each tree."""
    found = np.array([sum(log_beta[edge] for edge in edges) for edges in trees])
    return found - np.logaddexp.reduce(found)


def tree_probability(row, edges, tables, root):
    """p(row | T, θ): tables[root] is of the root, tables[u, v] of v given u."""
    p, seen, todo = tables[root][row[root]], {root}, [root]
    while todo:
        u = todo.pop()
        for edge in edges:
            v = sum(edge) - u
            if u in edge and v not in seen:
                p *= tables[u, v][row[u], row[v]]
                seen.add(v)
                todo.append(v)
    return p


def completions(row, sizes):
    """Every complete row that agrees with what is seen; NaN is missing."""
    choices = [range(s) if np.isnan(x) else [int(x)] for x, s in zip(row, sizes, strict=True)]
    return [np.array(one) for one in product(*choices)]
