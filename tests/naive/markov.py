"""Markov networks by enumeration: the definition, state by state."""

from itertools import product

import numpy as np
from scipy.special import logsumexp


def joint_states(network):
    """All joint states, as lists of numbers."""
    return list(product(*(range(v.n_states) for v in network.variables)))


def log_weights(network):
    """Σ of the log potentials of every joint state."""
    place = {name: k for k, name in enumerate(network.graph.nodes)}
    factors = list(network.factors)
    return np.array(
        [
            sum(table[tuple(state[place[x]] for x in names)] for names, table in factors)
            for state in joint_states(network)
        ]
    )


def log_joint(network):
    """Log p of every joint state, with an axis for each variable."""
    weights = log_weights(network)
    return (weights - logsumexp(weights)).reshape([v.n_states for v in network.variables])


def log_row(network, row):
    """Log p of what a row (name → state or None) shows."""
    joint = log_joint(network)
    cell = tuple(
        slice(None) if row.get(v.name) is None else v.states.index(row[v.name])
        for v in network.variables
    )
    return logsumexp(joint[cell])


def margin(network, names):
    """P(names), an axis each."""
    order = [network.graph.index[x] for x in names]
    p = np.exp(log_joint(network))
    others = tuple(v for v in range(p.ndim) if v not in order)
    return p.sum(others).transpose(np.argsort(np.argsort(order)))


def proportional_fitting(margins, shape, sweeps):
    """Iterative proportional fitting of margins {axes: counts}; the joint after each sweep."""
    p = np.full(shape, 1.0 / np.prod(shape))
    found = []
    for _ in range(sweeps):
        for axes, counts in margins.items():
            others = tuple(v for v in range(len(shape)) if v not in axes)
            now = p.sum(others, keepdims=True)
            wanted = (counts / counts.sum()).reshape(now.shape)
            p = p * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
        found.append(p)
    return found
