"""Hidden Markov models by their definition: every path of every sequence, one product each.

θ is (initial (K,), transition (K, K), end (K,) or None, parts): a point, or concentrations with the
posterior of each part, as in `mixtures`. A concentration 0 is a cell that is left out.
"""

import math
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from naive import chains
from naive import mixtures as rows
from naive.families import log_density
from naive.free_energy import bound
from scipy.special import digamma


class Theta(NamedTuple):
    initial: Any
    transition: Any
    end: Any  # None if sequences are cut
    parts: list

    @property
    def moves(self):
        """(K, K), or (K, K + 1) with the end."""
        if self.end is None:
            return self.transition
        return np.concatenate([self.transition, self.end[:, None]], axis=1)

    @property
    def tables(self):
        """Every distribution of the chain."""
        return [self.initial, *self.moves]


class Seen(NamedTuple):
    """What F knows of h."""

    value: float
    first: np.ndarray
    moves: np.ndarray
    nodes: list  # of every sequence, (steps, K)


def logs(x):
    with np.errstate(divide="ignore"):
        return np.log(x)


def mean_logs(alpha):
    """E[log π] of one Dirichlet distribution; -inf where it is left out."""
    alpha = np.asarray(alpha, float)
    inside = alpha > 0.0
    out = np.full(alpha.shape, -np.inf)
    out[inside] = digamma(alpha[inside]) - digamma(alpha.sum())
    return out


def at_point(theta):
    """Log potentials (initial, moves) and the view of the rows."""
    return logs(theta.initial), logs(theta.moves), rows.at_point


def at_posterior(q):
    return mean_logs(q.initial), np.array([mean_logs(row) for row in q.moves]), rows.at_posterior


def log_likes(parts, view, x, n_states, peak=False):
    """(steps, K): log potentials of the rows of a sequence; a step without a value hides none."""
    potentials = [view(part.kind, part.theta) for part in parts]
    found = np.array(
        [
            [
                sum(
                    rows.look(part.kind, of[k], row[part.columns], peak=peak).log
                    for part, of in zip(parts, potentials, strict=True)
                )
                for k in range(n_states)
            ]
            for row in x
        ]
    )
    return np.where(np.isnan(x).all(1)[:, None], 0.0, found)


def look(theta, view, sequences, weights, *, hard=False):
    """Σ weight · (E_q[log potentials] + H[q]) with the exact q(h) or (hard) the best path."""
    log_init, log_moves, view_of_rows = view(theta)
    K = len(log_init)
    log_end = np.zeros(K) if theta.end is None else log_moves[:, K]
    value, first, moves, all_nodes = 0.0, np.zeros(K), np.zeros(log_moves.shape), []
    for x, weight in zip(sequences, weights, strict=True):
        like = log_likes(theta.parts, view_of_rows, x, K, peak=hard)
        log_z, p = chains.posterior(log_init, log_moves[:, :K], log_end, like)
        if hard:
            best = max(p, key=p.get)
            log_z = chains.log_potential(log_init, log_moves[:, :K], log_end, like, best)
            p = {best: 1.0}
        nodes = chains.nodes(p, len(x), K)
        value += weight * log_z
        first += weight * nodes[0]
        moves[:, :K] += weight * chains.pairs(p, len(x), K).sum(0)
        if theta.end is not None:
            moves[:, K] += weight * nodes[-1]
        all_nodes.append(weight * nodes)
    return Seen(value, first, moves, all_nodes)


def inside(*distributions):
    """Cells that are not left out, of several arrays at once; the last says which."""
    kept = np.asarray(distributions[-1]) > 0.0
    return [np.asarray(d)[kept] for d in distributions]


def log_joint(prior, theta, sequences, weights, *, hard=False):
    """Log p(x, θ), or (hard) log p(x, h, θ) at the best h; a prior None is flat."""
    seen = look(theta, at_point, sequences, weights, hard=hard)
    total = seen.value
    if prior is not None:
        for pi, alpha in zip(theta.tables, prior.tables, strict=True):
            total += log_density(*inside(pi, alpha))
        for a, b in zip(prior.parts, theta.parts, strict=True):
            total += part_cost(a, b, rows.log_prior)
    return total, seen


def lower_bound(prior, q, sequences, weights, *, hard=False):
    """E_q[log p(x, h, θ)] + H[q(h)] + H[q(θ)] with the exact q(h) or (hard) the best h."""
    seen = look(q, at_posterior, sequences, weights, hard=hard)
    total = seen.value
    for a, alpha in zip(q.tables, prior.tables, strict=True):
        a, alpha = inside(a, alpha)
        total += bound([0.0] * len(a), alpha, a)
    for a, b in zip(prior.parts, q.parts, strict=True):
        total += part_cost(a, b, rows.minus_kl)
    return total, seen


def part_cost(prior, found, cost):
    """Of one part; labels that are left out are outside their distribution."""
    if prior.kind != "labels":
        return cost(prior.kind, prior.theta, found.theta)
    pairs = zip(
        prior.theta.reshape(-1, prior.theta.shape[-1]),
        found.theta.reshape(-1, found.theta.shape[-1]),
        strict=True,
    )
    total = 0.0
    for alpha, x in pairs:
        x, alpha = inside(x, alpha)
        total += cost("labels", alpha[None, None], x[None, None])
    return total


def log_evidence(prior, sequences):
    """Log p(x): the sum over all paths of all sequences together, each in closed form."""
    K = len(prior.initial)
    values = np.concatenate(sequences)
    ends = np.cumsum([len(x) for x in sequences])
    found = []
    for every in product(range(K), repeat=len(values)):
        paths = np.split(np.array(every), ends[:-1])
        log_path = log_path_evidence(prior, paths)
        if log_path > -math.inf:
            found.append(log_path + sum(part_evidence(p, values, every) for p in prior.parts))
    return float(np.logaddexp.reduce(found))


def posterior_moments(prior, sequences):
    """E[π] and E[π²] of all tables of a chain with labels, given x; flat, in the order of `Theta`.

    Every path and every completion of the labels has a posterior of its own, in closed form.
    """
    K, alpha = len(prior.initial), prior.parts[0].theta
    values = np.concatenate(sequences)
    ends = np.cumsum([len(x) for x in sequences])
    missing = np.argwhere(np.isnan(values))
    weights, first, second = [], [], []
    for every in product(range(K), repeat=len(values)):
        paths = np.split(np.array(every), ends[:-1])
        log_path = log_path_evidence(prior, paths)
        if log_path == -math.inf:
            continue
        for labels in product(range(alpha.shape[-1]), repeat=len(missing)):
            full = values.copy()
            full[tuple(missing.T)] = labels
            log_p = log_path + labels_evidence(prior.parts[0], full, every)
            if log_p == -math.inf:
                continue
            tables = counted(prior, paths, full, every)
            shares = [table / table.sum(-1, keepdims=True) for table in tables]
            more = [(t + 1.0) / (t.sum(-1, keepdims=True) + 1.0) for t in tables]
            weights.append(log_p)
            first.append(np.concatenate([np.ravel(x) for x in shares]))
            squares = [x * y for x, y in zip(shares, more, strict=True)]
            second.append(np.concatenate([np.ravel(x) for x in squares]))
    p = np.exp(np.array(weights) - np.logaddexp.reduce(weights))
    return p @ np.array(first), p @ np.array(second)


def counted(prior, paths, values, states):
    """Concentrations after complete sequences: of initial states, moves and labels."""
    initial, moves = np.array(prior.initial, float), np.array(prior.moves, float)
    labels = np.array(prior.parts[0].theta, float)
    for path in paths:
        initial[path[0]] += 1.0
        for j, k in pairwise(path):
            moves[j, k] += 1.0
        if prior.end is not None:
            moves[path[-1], len(initial)] += 1.0
    for x, k in zip(values, states, strict=True):
        for d, label in enumerate(x):
            labels[k, d, int(label)] += 1.0
    return initial, moves, labels


def log_path_evidence(prior, paths):
    """Of the states alone: each predicted by the counts of those before, with Pólya's urns."""
    initial, moves = np.array(prior.initial, float), np.array(prior.moves, float)
    K, total = len(initial), 0.0
    for path in paths:
        total += draw_from_urn(initial, path[0])
        for j, k in pairwise(path):
            total += draw_from_urn(moves[j], k)
        if prior.end is not None:
            total += draw_from_urn(moves[path[-1]], K)
    return total


def draw_from_urn(urn, k):
    if urn[k] == 0.0:
        return -math.inf
    log_p = math.log(urn[k] / urn.sum())
    urn[k] += 1.0
    return log_p


def part_evidence(part, values, states):
    if part.kind == "labels" and (part.theta == 0.0).any():
        return labels_evidence(part, values, states)
    return rows._part_evidence(part, values, states)


def labels_evidence(part, values, states):
    """Of labels some of which are left out."""
    urns, total = np.array(part.theta, float), 0.0
    for x, k in zip(values[:, part.columns], states, strict=True):
        for d in np.flatnonzero(~np.isnan(x)):
            total += draw_from_urn(urns[k, d], int(x[d]))
    return total


def stats_of_rows(parts, view, sequences, seen, *, hard=False):
    """Statistics of every part, gathered as its family has them; view is `rows.at_...`."""
    nodes, values = np.concatenate(seen.nodes), np.concatenate(sequences)
    nodes = nodes * ~np.isnan(values).all(1)[:, None]
    K, out = nodes.shape[1], []
    for part in parts:
        potentials, sums = view(part.kind, part.theta), []
        for k in range(K):
            each = [
                [n[k] * a for a in rows.look(part.kind, potentials[k], x[part.columns], hard).stats]
                for x, n in zip(values, nodes, strict=True)
            ]
            sums.append([np.sum(column, axis=0) for column in zip(*each, strict=True)])
        out.append(rows.gathered(part.kind, nodes.sum(0), sums))
    return out
