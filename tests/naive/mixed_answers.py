"""Networks of labels and numbers by definition: every label state, dense Gaussian algebra."""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats

import jensen as jn
from jensen.inference.mixed_network import MixedNetwork


class Piece(NamedTuple):
    """One configuration of all labels: its probability with the evidence, and the numbers."""

    states: dict
    log_weight: float  # log p(labels, known numbers)
    mean: np.ndarray  # of all numbers, given the known ones
    covariance: np.ndarray
    rates: dict  # of every count


def random_network(rng, n_labels=3, n_numbers=3, density=0.6, offset=0.0, n_counts=0):
    """A random network; labels come before numbers in the order of the arrows, counts last."""
    labels = [f"l{k}" for k in range(n_labels)]
    numbers = [f"x{k}" for k in range(n_numbers)]
    parents = {x: [] for x in [*labels, *numbers]}
    for chain in (labels, numbers):
        for k, x in enumerate(chain):
            parents[x] += [u for u in chain[:k] if rng.random() < density]
    for x in numbers:
        parents[x] += [u for u in labels if rng.random() < density]
    cards = {x: int(rng.integers(2, 4)) for x in labels}
    tables, regressions = {}, {}
    for x in labels:
        shape = [cards[u] for u in sorted(parents[x])]
        tables[x] = (
            rng.dirichlet(np.ones(cards[x]), shape) if shape else rng.dirichlet(np.ones(cards[x]))
        )
    for x in numbers:
        above = sorted(u for u in parents[x] if u in cards)
        inner = sorted(u for u in parents[x] if u not in cards)
        each = {}
        for key in product(*([str(k) for k in range(cards[u])] for u in above)):
            slopes = {u: float(rng.normal()) for u in inner}
            each[key] = {
                "intercept": float(rng.normal()) + offset * (1.0 - sum(slopes.values())),
                "coefficients": slopes,
                "variance": float(rng.uniform(0.2, 2.0)),
            }
        regressions[x] = each if above else each[()]
    for x in [f"c{k}" for k in range(n_counts)]:
        parents[x] = [u for u in labels if rng.random() < density]
        keys = product(*([str(k) for k in range(cards[u])] for u in parents[x]))
        regressions[x] = {key: {"rate": float(rng.gamma(1.0, 4.0))} for key in keys}
        numbers.append(x)
    edges = [(u, x) for x, own in parents.items() for u in own]
    graph = jn.DAG(edges, nodes=[*labels, *numbers])
    orders = {x: sorted(parents[x]) for x in labels}
    return jn.BayesianNetwork.from_parameters(graph, tables, regressions, parents=orders)


def pieces(network: MixedNetwork, known: dict, done: dict | None = None, soft: dict | None = None):
    """All configurations of the labels that agree with what is known: name → code or number."""
    done, soft = done or {}, soft or {}
    layout, names = network.layout, network.graph.nodes
    known = {**known, **done}
    labels = [names[v] for v in layout.labels]
    numbers, counts = numbers_of(network), [names[v] for v in sorted(layout.counts)]
    found = []
    ranges = [
        [known[x]] if x in known else range(network.variables[network.index(x)].n_states)
        for x in labels
    ]
    for states in product(*ranges):
        at = dict(zip(labels, (int(s) for s in states), strict=True))
        log_weight = 0.0
        for x in labels:
            if x not in done:
                cpt = network.cpt(x)
                p = float(cpt.values[tuple(at[p.name] for p in (*cpt.parents, cpt.variable))])
                log_weight += np.log(p) if p > 0 else -np.inf
        for x, likelihood in soft.items():
            p = likelihood[at[x]]
            log_weight += np.log(p) if p > 0 else -np.inf
        rates = {x: rate_of(network, x, at) for x in counts}
        for x in counts:
            if x in known and x not in done:
                log_weight += stats.poisson.logpmf(known[x], rates[x])
        n = len(numbers)
        a, b, s = np.zeros(n), np.zeros((n, n)), np.ones(n)
        for v, x in enumerate(numbers):
            if x in done:
                a[v], s[v] = done[x], 0.0
                continue
            one = network.regression(x)
            if hasattr(one, "each"):
                one = one[{u.name: u.states[at[u.name]] for u in one.labels}]
            a[v], s[v] = one.intercept, one.variance
            for u, slope in one.coefficients.items():
                b[v, numbers.index(u)] = slope
        spread = np.linalg.inv(np.eye(n) - b)
        mean, covariance = spread @ a, spread @ np.diag(s) @ spread.T
        seen = [v for v, x in enumerate(numbers) if x in known and x not in done]
        y = np.array([known[numbers[v]] for v in seen])
        if seen:
            inside = covariance[np.ix_(seen, seen)]
            apart = y - mean[seen]
            gain = covariance[:, seen] @ np.linalg.inv(inside)
            log_weight += -0.5 * (
                apart @ np.linalg.solve(inside, apart)
                + np.linalg.slogdet(inside)[1]
                + len(seen) * np.log(2 * np.pi)
            )
            mean = mean + gain @ apart
            covariance = covariance - gain @ covariance[seen]
        found.append(Piece(at, log_weight, mean, covariance, rates))
    return found


def numbers_of(network):
    """Names of the numbers that are no counts."""
    return [v.name for v in network.variables if v.kind == "continuous"]


def rate_of(network, name, at):
    """The rate of a count at some labels."""
    found = network.regression(name)
    return found[{u.name: u.states[at[u.name]] for u in found.labels}]


def count_moments(found, name):
    """Mean and variance of a count."""
    p, rates = posterior(found), np.array([piece.rates[name] for piece in found])
    mean = p @ rates
    return mean, mean + p @ rates**2 - mean**2


def count_probability(found, name, x):
    """P(count = x)."""
    return posterior(found) @ stats.poisson.pmf(x, [piece.rates[name] for piece in found])


def log_evidence(found) -> float:
    """Log p of what is known."""
    return float(np.logaddexp.reduce([piece.log_weight for piece in found]))


def posterior(found) -> np.ndarray:
    """The probability of every configuration."""
    return np.exp(np.array([piece.log_weight for piece in found]) - log_evidence(found))


def joint_labels(network, found, names) -> np.ndarray:
    """The joint distribution of labels."""
    values = np.zeros([network.variables[network.index(x)].n_states for x in names])
    for p, piece in zip(posterior(found), found, strict=True):
        values[tuple(piece.states[x] for x in names)] += p
    return values


def moments(network, found, names) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of numbers."""
    numbers = numbers_of(network)
    at = [numbers.index(x) for x in names]
    p = posterior(found)
    means = np.array([piece.mean[at] for piece in found])
    mean = p @ means
    within = sum(w * piece.covariance[np.ix_(at, at)] for w, piece in zip(p, found, strict=True))
    return mean, within + ((means - mean).T * p) @ (means - mean)


def density(network, found, name, x) -> float:
    """The density of a number at x."""
    numbers = numbers_of(network)
    k, total = numbers.index(name), 0.0
    for p, piece in zip(posterior(found), found, strict=True):
        variance = piece.covariance[k, k]
        total += (
            p * np.exp(-0.5 * (x - piece.mean[k]) ** 2 / variance) / np.sqrt(2 * np.pi * variance)
        )
    return float(total)
