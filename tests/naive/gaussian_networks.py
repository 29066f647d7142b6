"""Gaussian networks by their definitions: regressions row by row, joints by inverting matrices.

Data are dictionaries name → list of numbers; a graph is a dictionary name → list of parents.
"""

import math

import numpy as np
from scipy.stats import multivariate_normal, norm

from jensen.families import log_evidence, normal_wishart
from jensen.families.normal_wishart import NormalWishart


def matrix(data, names):
    """Rows of these columns."""
    n_rows = len(next(iter(data.values())))
    return np.array([data[name] for name in names], float).reshape(len(names), n_rows).T


def repeated(data, weights):
    """Every row as often as its weight says."""
    return {name: np.repeat(column, weights) for name, column in data.items()}


# --- scores ---


def least_squares(data, x, parents):
    """Intercept, slopes and the mean squared residual."""
    y = np.asarray(data[x], float)
    design = np.column_stack([np.ones(len(y)), matrix(data, parents)])
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    return beta[0], beta[1:], float(np.mean((y - design @ beta) ** 2))


def loglik(data, x, parents):
    intercept, slopes, variance = least_squares(data, x, parents)
    means = intercept + matrix(data, parents) @ slopes
    return float(sum(norm.logpdf(data[x], means, math.sqrt(variance))))


def log_evidence_of(data, names, n_all, mean, strength, degrees, scale):
    """Log p of complete columns under the marginal of a normal-Wishart of n_all columns."""
    if not names:
        return 0.0
    rows, size = matrix(data, names), len(names)
    ones = np.ones(1)
    precision_scale = np.linalg.inv(scale)[None]
    prior = normal_wishart.from_standard(
        np.asarray(mean, float)[None], strength * ones, (degrees - n_all + size) * ones,
        precision_scale,
    )  # fmt: skip
    n = len(rows) * ones
    stats = NormalWishart(n, (rows.T @ rows)[None], rows.sum(0)[None], n)
    base = -0.5 * len(rows) * size * math.log(2.0 * math.pi)
    return base + log_evidence(normal_wishart, prior, stats)


def bge(data, x, parents, prior_mean=None, mean_strength=1.0, degrees_of_freedom=None, scale=None):
    """The ratio of two evidences; `data` holds all columns that the prior is about."""
    names = sorted(data)
    n = len(names)
    degrees = n + 2 if degrees_of_freedom is None else degrees_of_freedom
    share = mean_strength * (degrees - n - 1) / (mean_strength + 1)
    if scale is None:  # by the variances of the columns
        scale = share * np.diag(
            [np.mean((np.asarray(data[x]) - np.mean(data[x])) ** 2) for x in names]
        )
    if isinstance(scale, str):
        assert scale == "unit"
        scale = share
    scale = np.asarray(scale) * (np.eye(n) if np.ndim(scale) == 0 else 1.0)
    if prior_mean is None:
        prior_mean = matrix(data, names).mean(0)
    prior_mean = np.broadcast_to(prior_mean, n)

    def evidence(members):
        at = [names.index(name) for name in members]
        return log_evidence_of(
            data, members, n, prior_mean[at], mean_strength, degrees, scale[np.ix_(at, at)]
        )

    return evidence([*parents, x]) - evidence(list(parents))


# --- known networks: name → (intercept, {parent: slope}, variance) ---


def joint(regressions, do=None):
    """Mean and covariance of all variables that are not set, by sorted name, one after another."""
    do = do or {}
    mean, cov, left = (
        {x: float(v) for x, v in do.items()},
        {(a, b): 0.0 for a in do for b in do},
        set(regressions) - set(do),
    )
    done = list(do)
    while left:
        x = min(x for x in left if set(regressions[x][1]) <= set(done))
        intercept, slopes, variance = regressions[x]
        mean[x] = intercept + sum(b * mean[p] for p, b in slopes.items())
        for y in done:
            cov[x, y] = cov[y, x] = sum(b * cov[p, y] for p, b in slopes.items())
        cov[x, x] = variance + sum(b * cov[p, x] for p, b in slopes.items())
        done.append(x)
        left.remove(x)
    names = sorted(set(regressions) - set(do))
    return (
        names,
        np.array([mean[x] for x in names]),
        np.array([[cov[x, y] for y in names] for x in names]),
    )


def condition(names, mean, cov, given):
    """Mean and covariance of the others, by the textbook formula."""
    seen = [names.index(x) for x in given]
    rest = [k for k in range(len(names)) if k not in seen]
    gain = cov[np.ix_(rest, seen)] @ np.linalg.inv(cov[np.ix_(seen, seen)])
    away = np.array([given[names[k]] for k in seen]) - mean[seen]
    return (
        [names[k] for k in rest],
        mean[rest] + gain @ away,
        cov[np.ix_(rest, rest)] - gain @ cov[np.ix_(seen, rest)],
    )


def log_density(regressions, row):
    """Log p of what a row (a dict) shows."""
    names, mean, cov = joint(regressions)
    at = [names.index(x) for x in row]
    if not at:
        return 0.0
    return float(multivariate_normal.logpdf(list(row.values()), mean[at], cov[np.ix_(at, at)]))
