"""Mixtures by their definition: one row, one state, one cell at a time.

A mixture is its shares, and parts: columns of one kind with the parameters of every state. θ is
known as a point (probabilities, rates, means and precisions) or by its posterior (concentrations;
shape and rate; m, β, ν and W). Both leave potentials: exp(E[log p(x | θ)]) of every state.
"""

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from naive.families import (
    blocks,
    gamma_log_density,
    gaussian_log_density,
    log_density,
    matrix,
    precisions,
)
from naive.free_energy import bound
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import gamma, multivariate_normal, multivariate_t, nbinom, wishart

GAUSSIAN = ("full", "tied", "diagonal", "spherical")
MOST = 80  # counts above this have no probability worth adding


class Part(NamedTuple):
    """Columns of one kind: "labels", "counts", or one of the four kinds of Gaussians."""

    kind: str
    columns: list
    theta: Any  # parameters of all states; None for a flat prior


class Seen(NamedTuple):
    """What a state makes of a row: its log potential, and the statistics it would add."""

    log: float
    stats: tuple


class Found(NamedTuple):
    """q(h), and what is read from it."""

    value: float  # Σ weight · (E[log potential] + H[q(h)])
    nodes: np.ndarray  # (N, K)
    counts: np.ndarray  # (K,)
    stats: list  # of each part, of each state


# What θ, known as a point or by its posterior, makes of a row.


def full_precision(kind, precision, K, D):
    """(K, D, D), whatever is shared."""
    out = np.zeros((K, D, D))
    for k, columns, _, place in blocks(kind, K, D):
        out[np.ix_([k], columns, columns)] = precision[place]
    return out


def mean_log_det(nu, W):
    """E[log |Λ|], Λ ~ Wishart(W, ν)."""
    D = len(W)
    digammas = sum(digamma(0.5 * (nu - i)) for i in range(D))
    return digammas + D * math.log(2.0) + np.linalg.slogdet(W)[1]


def at_point(kind, theta):
    """Potentials of every state at one θ."""
    if kind == "labels":
        with np.errstate(divide="ignore"):
            return list(np.log(theta))
    if kind == "counts":
        with np.errstate(divide="ignore"):
            return list(zip(np.log(theta), theta, strict=True))
    means, precision = theta
    K, D = means.shape
    full = full_precision(kind, precision, K, D)
    log_dets = np.linalg.slogdet(full)[1]
    constant = 0.5 * log_dets - 0.5 * D * math.log(2.0 * math.pi)
    return list(zip(constant, means, full, strict=True))


def at_posterior(kind, theta):
    """exp(E[log p(x | θ)]) of every state (Bishop 2006, equations 10.64 to 10.66)."""
    if kind == "labels":
        return list(digamma(theta) - digamma(theta.sum(-1, keepdims=True)))
    if kind == "counts":
        shape, rate = theta
        return list(zip(digamma(shape) - np.log(rate), shape / rate, strict=True))
    m, beta, nu, W = theta
    K, D = m.shape
    constant = np.full(K, -0.5 * D * math.log(2.0 * math.pi))
    for k, columns, strength, place in blocks(kind, K, D):
        constant[k] += 0.5 * mean_log_det(nu[place], matrix(W[place]))
        constant[k] -= 0.5 * len(columns) / beta[strength]
    expected = {place: nu[place] * np.asarray(W[place]) for place in precisions(kind, K, D)}
    return list(zip(constant, m, full_precision(kind, expected, K, D), strict=True))


def look(kind, potential, x, peak=False):
    """What one state makes of the columns of one row."""
    if kind == "labels":
        return _look_at_labels(potential, x, peak)
    if kind == "counts":
        return _look_at_counts(*potential, x, peak)
    return _look_at_reals(*potential, x)


def _look_at_labels(log_p, x, peak):
    log, counts = 0.0, np.zeros_like(log_p)
    for d, label in enumerate(x):
        if not np.isnan(label):
            p = np.arange(log_p.shape[1]) == label
            log += log_p[d, int(label)]
        elif peak:
            p = np.arange(log_p.shape[1]) == log_p[d].argmax()
            log += log_p[d].max()
        else:
            p = np.exp(log_p[d] - logsumexp(log_p[d]))
            log += logsumexp(log_p[d])
        counts[d] += p
    return Seen(log, (counts,))


def _look_at_counts(log_rate, rate, x, peak):
    log, counts = 0.0, np.zeros_like(rate)
    every = np.arange(MOST)
    for d, count in enumerate(x):
        slope = np.where(every > 0, every, 0.0) * (log_rate[d] if rate[d] else -1e300)
        logs = slope - rate[d] - gammaln(every + 1.0)
        if not np.isnan(count):
            n, log = count, log + logs[int(count)]
        elif peak:
            n, log = logs.argmax(), log + logs.max()
        else:
            n, log = np.exp(logs - logsumexp(logs)) @ every, log + logsumexp(logs)
        counts[d] += n
    return Seen(log, (counts,))


def _look_at_reals(constant, mean, precision, x):
    """What is missing is integrated out, as in a Gaussian with this precision."""
    covariance = np.linalg.inv(precision)
    o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
    # the constant of a Gaussian is known to scipy; what ours has more or less stays as it is
    log = constant - multivariate_normal.logpdf(mean, mean, covariance)
    filled, spread = x.copy(), np.zeros_like(precision)
    if len(o):
        log += multivariate_normal.logpdf(x[o], mean[o], covariance[np.ix_(o, o)])
        gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
    else:
        gain = np.zeros((len(m), 0))
    filled[m] = mean[m] + gain @ (x[o] - mean[o])
    spread[np.ix_(m, m)] = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
    return Seen(float(log), (filled, np.outer(filled, filled) + spread))


# What is known of h.


def find(log_weights, parts, values, weight, view, *, hard=False):
    """q(h) of all rows: exact, or (hard) the most probable h."""
    K = len(log_weights)
    potentials = [view(part.kind, part.theta) for part in parts]
    nodes, value, counts = np.zeros((len(values), K)), 0.0, np.zeros(K)
    stats = [[None] * K for _ in parts]
    for n, x in enumerate(values):
        seen = [
            [look(part.kind, of[k], x[part.columns], peak=hard) for k in range(K)]
            for part, of in zip(parts, potentials, strict=True)
        ]
        log_joint = np.array([log_weights[k] + sum(s[k].log for s in seen) for k in range(K)])
        if hard:
            nodes[n, log_joint.argmax()] = 1.0
            value += weight[n] * log_joint.max()
        else:
            nodes[n] = np.exp(log_joint - logsumexp(log_joint))
            value += weight[n] * logsumexp(log_joint)
        share = weight[n] * nodes[n]
        counts += share
        for of_part, s in zip(stats, seen, strict=True):
            for k in range(K):
                more = [share[k] * a for a in s[k].stats]
                of_part[k] = more if of_part[k] is None else _sum(of_part[k], more)
    return Found(value, nodes, counts, stats)


def _sum(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def gathered(kind, counts, stats):
    """Statistics of all states as the family has them: (count, second, first, strength), ..."""
    if kind == "labels":
        return (np.array([s[0] for s in stats]),)
    if kind == "counts":
        total = np.array([s[0] for s in stats])
        return total, np.repeat(counts[:, None], total.shape[1], axis=1)
    first, second = (np.array([s[i] for s in stats]) for i in (0, 1))
    D = first.shape[1]
    diagonal = np.array([np.diag(s) for s in second])
    each = np.repeat(counts[:, None], D, axis=1)
    return {
        "full": (counts, second, first, counts),
        "tied": (counts.sum(), second.sum(0), first, counts),
        "diagonal": (each, diagonal, first, each),
        "spherical": (D * counts, diagonal.sum(1), first, counts),
    }[kind]


# What θ costs.


def log_prior(kind, prior, theta):
    """Log density of the point θ; 0 under the flat prior."""
    if prior is None:
        return 0.0
    if kind == "labels":
        pairs = zip(
            theta.reshape(-1, theta.shape[-1]), prior.reshape(-1, theta.shape[-1]), strict=True
        )
        return sum(log_density(pi, alpha) for pi, alpha in pairs)
    if kind == "counts":
        return gamma_log_density(theta, *prior)
    return gaussian_log_density(kind, prior, *theta)


def minus_kl(kind, prior, q):
    """E_q[log p(θ)] + H[q(θ)]."""
    if kind == "labels":
        pairs = zip(q.reshape(-1, q.shape[-1]), prior.reshape(-1, q.shape[-1]), strict=True)
        return sum(bound([0.0] * len(a), alpha, a) for a, alpha in pairs)
    if kind == "counts":
        (a0, b0), (a, b) = prior, q
        log_p = a0 * np.log(b0) - gammaln(a0) + (a0 - 1.0) * (digamma(a) - np.log(b)) - b0 * a / b
        return float((log_p + gamma(a, scale=1.0 / b).entropy()).sum())
    return _minus_kl_of_means(kind, prior, q) + _minus_kl_of_precisions(kind, prior, q)


def _minus_kl_of_means(kind, prior, q):
    """-KL of N(m, (βΛ)⁻¹) from N(m₀, (β₀Λ)⁻¹), its mean over q(Λ)."""
    (m0, b0, _, _), (m, b, nu, W) = prior, q
    total = 0.0
    for k, columns, strength, place in blocks(kind, *m.shape):
        away, n = (m - m0)[k][columns], len(columns)
        ratio = b0[strength] / b[strength]
        square = b0[strength] * nu[place] * away @ matrix(W[place]) @ away
        total -= 0.5 * (n * ratio - n - n * math.log(ratio) + square)
    return total


def _minus_kl_of_precisions(kind, prior, q):
    (_, _, nu0, W0), (m, _, nu, W) = prior, q
    total = 0.0
    for place in precisions(kind, *m.shape):
        w0, w = matrix(W0[place]), matrix(W[place])
        D, inverse = len(w), np.linalg.inv(w0)
        constant = wishart.logpdf(np.eye(D), nu0[place], w0) + 0.5 * np.trace(inverse)
        total += constant + 0.5 * (nu0[place] - D - 1.0) * mean_log_det(nu[place], w)
        total -= 0.5 * nu[place] * np.trace(inverse @ w)
        total += wishart(nu[place], w).entropy()
    return total


# F, and what it is a bound of.


def log_joint(prior, theta, values, weight, *, hard=False):
    """Log p(x, θ); hard: log p(x, h, θ) at the most probable h.

    Priors and θ are pairs: of the shares, and of the parts.
    """
    with np.errstate(divide="ignore"):
        found = find(np.log(theta[0]), theta[1], values, weight, at_point, hard=hard)
    cost = 0.0 if prior[0] is None else log_density(theta[0], prior[0])
    pairs = zip(prior[1], theta[1], strict=True)
    return found.value + cost + sum(log_prior(b.kind, a.theta, b.theta) for a, b in pairs), found


def lower_bound(prior, q, values, weight, *, hard=False):
    """E_q[log p(x, h, θ)] + H[q(h)] + H[q(θ)] with the best q(h) (hard: the best point)."""
    log_weights = digamma(q[0]) - digamma(q[0].sum())
    found = find(log_weights, q[1], values, weight, at_posterior, hard=hard)
    cost = bound([0.0] * len(q[0]), prior[0], q[0])
    pairs = zip(prior[1], q[1], strict=True)
    return found.value + cost + sum(minus_kl(b.kind, a.theta, b.theta) for a, b in pairs), found


def log_evidence(prior, values):
    """Log p(x): the sum over all assignments of rows to states, each in closed form."""
    alpha, parts = prior
    K, logs = len(alpha), []
    for states in product(range(K), repeat=len(values)):
        n = np.bincount(states, minlength=K)
        shares = gammaln(alpha + n).sum() - gammaln(alpha).sum()
        shares += math.lgamma(alpha.sum()) - math.lgamma(alpha.sum() + len(values))
        logs.append(shares + sum(_part_evidence(part, values, states) for part in parts))
    return float(logsumexp(logs))


def _part_evidence(part, values, states):
    """Each row predicted from those before it; what is missing is left out of the prediction."""
    rows = values[:, part.columns]
    if part.kind == "labels":
        return _labels_evidence(part.theta, rows, states)
    if part.kind == "counts":
        return _counts_evidence(*part.theta, rows, states)
    return gaussian_evidence(part.kind, part.theta, rows, states)


def _labels_evidence(alpha, rows, states):
    alpha, total = alpha.copy(), 0.0
    for x, k in zip(rows, states, strict=True):
        for d in np.flatnonzero(~np.isnan(x)):  # columns are independent: no need to complete
            total += math.log(alpha[k, d, int(x[d])] / alpha[k, d].sum())
            alpha[k, d, int(x[d])] += 1.0
    return total


def _counts_evidence(shape, rate, rows, states):
    shape, rate, total = shape.copy(), rate.copy(), 0.0
    for x, k in zip(rows, states, strict=True):
        for d in np.flatnonzero(~np.isnan(x)):
            total += nbinom.logpmf(x[d], shape[k, d], rate[k, d] / (rate[k, d] + 1.0))
            shape[k, d] += x[d]
            rate[k, d] += 1.0
    return total


def gaussian_evidence(kind, words, rows, states):
    """Σ log p(x | the rows before it), each a Student t of what is seen.

    A row that is seen in part cannot be learned from in closed form where columns share a
    precision matrix: only the last row may be such a one.
    """
    m, beta, nu, W = words
    parts = blocks(kind, *m.shape)
    mean = [m[b.component][b.columns] for b in parts]
    worth = [float(beta[b.strength]) for b in parts]
    degrees = {place: float(nu[place]) for place in precisions(kind, *m.shape)}
    scatter = {place: np.linalg.inv(matrix(W[place])) for place in degrees}
    total = 0.0
    for n, (x, label) in enumerate(zip(rows, states, strict=True)):
        for b, (k, columns, _, place) in enumerate(parts):
            if k != label or np.isnan(x[columns]).all():
                continue
            o = np.flatnonzero(~np.isnan(x[columns]))
            df = degrees[place] + 1 - len(columns)
            spread = ((worth[b] + 1) / (worth[b] * df) * scatter[place])[np.ix_(o, o)]
            total += multivariate_t.logpdf(x[columns][o], mean[b][o], spread, df)
            if len(o) < len(columns):
                assert n == len(rows) - 1
                continue
            step = x[columns] - mean[b]
            scatter[place] = scatter[place] + np.outer(step, step) * worth[b] / (worth[b] + 1)
            mean[b] = mean[b] + step / (worth[b] + 1)
            worth[b] += 1
            degrees[place] += 1
    return total
