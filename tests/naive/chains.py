"""Chains of hidden states by their definition: every path, one sum of logs each."""

import math
from itertools import pairwise, product

import numpy as np


def paths(n_steps, n_states):
    """All paths, as tuples."""
    return list(product(range(n_states), repeat=n_steps))


def log_potential(log_init, log_trans, log_end, log_like, path):
    """Of one path through one sequence; log_like (steps, states)."""
    total = log_init[path[0]] + log_end[path[-1]]
    total += sum(log_trans[j][k] for j, k in pairwise(path))
    return total + sum(row[k] for row, k in zip(log_like, path, strict=True))


def posterior(log_init, log_trans, log_end, log_like):
    """Log Z, and path → probability; nothing if the sequence is impossible."""
    every = paths(len(log_like), len(log_init))
    logs = [log_potential(log_init, log_trans, log_end, log_like, path) for path in every]
    top = max(logs)
    if top == -math.inf:
        return -math.inf, {}
    total = math.fsum(math.exp(x - top) for x in logs)
    p = {h: math.exp(x - top) / total for h, x in zip(every, logs, strict=True)}
    return top + math.log(total), p


def nodes(p, n_steps, n_states):
    """(steps, states): p(h_t)."""
    out = np.zeros((n_steps, n_states))
    for path, q in p.items():
        out[np.arange(n_steps), path] += q
    return out


def pairs(p, n_steps, n_states):
    """(steps - 1, states, states): p(h_t, h_t+1)."""
    out = np.zeros((n_steps - 1, n_states, n_states))
    for path, q in p.items():
        out[np.arange(n_steps - 1), path[:-1], path[1:]] += q
    return out


def filtered(log_init, log_trans, log_like):
    """(steps, states): p(h_t) when only steps up to t are there."""
    n_steps, n_states = np.shape(log_like)
    free = np.zeros(n_states)
    return np.array(
        [
            nodes(posterior(log_init, log_trans, free, log_like[:t])[1], t, n_states)[-1]
            for t in range(1, n_steps + 1)
        ]
    )
