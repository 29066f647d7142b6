"""Expected statistics by their definition: every completion of every row, one after the other."""

import math
from itertools import product

import numpy as np
from naive import joint
from scipy.special import digamma, gammaln


def completions(net, row):
    """Every full row that agrees with what a row knows, with its probability given that."""
    agreeing = [
        (full, joint.probability(net, full))
        for full in joint.assignments(net)
        if all(full[x] == label for x, label in joint.known(net, row).items())
    ]
    total = sum(p for _, p in agreeing)
    return [(full, p / total) for full, p in agreeing]


def counts(net, rows, weights, x, parents):
    """(configurations of the parents, states of x): Σ over rows and completions of weight · p."""
    states = {name: list(next(iter(table.values()))) for name, (_, table) in net.items()}
    configs = {c: k for k, c in enumerate(product(*(states[p] for p in parents)))}
    found = np.zeros((len(configs), len(states[x])))
    for row, weight in zip(rows, weights, strict=True):
        for full, p in completions(net, row) if weight > 0 else ():
            found[configs[tuple(full[q] for q in parents)], states[x].index(full[x])] += weight * p
    return found


# --- scores of counts that are no whole numbers ---


def loglik(table):
    return sum(n * math.log(n / row.sum()) for row in table for n in row if n > 0.0)  # 0 log 0 = 0


def penalised(table, cost):
    """The likelihood less what every free parameter costs, by the weight of all rows."""
    return loglik(table) - cost(table.sum()) * len(table) * (table.shape[1] - 1)


def dirichlet(table, alpha):
    """Log ∫ Π π^n Dir(π | α) dπ, configuration by configuration."""
    total = 0.0
    for row in table:
        total += gammaln(alpha * len(row)) - gammaln(alpha * len(row) + row.sum())
        total += sum(gammaln(alpha + n) - gammaln(alpha) for n in row)
    return float(total)


def bdeu(table, size=1.0):
    return dirichlet(table, size / table.size)


def bds(table, size=1.0):
    occurring = sum(row.sum() > 0.0 for row in table)
    return dirichlet(table, size / (occurring * table.shape[1]))


def k2(table):
    return dirichlet(table, 1.0)


# --- numbers ---


def moments(mean, covariance, rows, weights):
    """Σ weight · E[z zᵀ | what is there], z = (1, x), row by row; NaN is missing."""
    n = len(mean)
    total = np.zeros((n + 1, n + 1))
    for row, weight in zip(rows, weights, strict=True):
        there, gone = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        gain = covariance[np.ix_(gone, there)] @ np.linalg.inv(covariance[np.ix_(there, there)])
        z = np.append(1.0, row)
        z[gone + 1] = mean[gone] + gain @ (row[there] - mean[there])
        second = np.outer(z, z)
        left = covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(there, gone)]
        second[np.ix_(gone + 1, gone + 1)] += left
        total += weight * second
    return total


def expected_log_density(regressions, row):
    """E[log p(row | θ)] of regressions: child, parents and the posterior m, V, ν, W of each."""
    total = 0.0
    for v, parents, (mean, strength, degrees, scale) in regressions:
        z = np.append(1.0, row[list(parents)])
        log_precision = digamma(0.5 * degrees) + math.log(2.0 * scale)
        square = degrees * scale * (row[v] - mean @ z) ** 2 + z @ np.linalg.inv(strength) @ z
        total += 0.5 * (log_precision - math.log(2.0 * math.pi) - square)
    return total


def gaussian_of(log_density, n):
    """Mean and covariance of the Gaussian of n numbers with this log density, up to a constant."""
    unit, at_0 = np.eye(n), log_density(np.zeros(n))
    alone = np.array([log_density(e) for e in unit]) - at_0
    both = np.array([[log_density(a + b) - at_0 for a in unit] for b in unit]).reshape(n, n)
    precision = alone + alone[:, None] - both
    covariance = np.linalg.inv(precision)
    return covariance @ (alone + 0.5 * np.diagonal(precision)), covariance


def variational_moments(regressions, rows, weights):
    """Σ weight · E[z zᵀ] and H[q(h)], where log q(h) is E[log p(x, h | θ)] of each row."""
    total, entropy = 0.0, 0.0
    for row, weight in zip(rows, weights, strict=True):
        gone = np.flatnonzero(np.isnan(row))

        def filled(h, row=row, gone=gone):
            full = row.copy()
            full[gone] = h
            return full

        mean, covariance = gaussian_of(
            lambda h, filled=filled: expected_log_density(regressions, filled(h)), len(gone)
        )
        z = np.append(1.0, filled(mean))
        second = np.outer(z, z)
        second[np.ix_(gone + 1, gone + 1)] += covariance
        total = total + weight * second
        entropy += 0.5 * weight * np.linalg.slogdet(2.0 * math.pi * math.e * covariance)[1]
    return total, float(entropy)
