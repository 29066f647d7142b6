"""One hidden state per row: sums, maxima, draws."""

from collections.abc import Callable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import segments
from jensen.q_hidden.structures import MAX, SUM, FastObserved, Independent, ReadMode, StateCounts
from jensen.q_hidden.structures import draw as drawing
from jensen.support.fields import add
from jensen.support.machine import pooled_array

Array = NDArray[np.float64]

Rule = Callable[[Array], tuple[Array, Array]]
"""Log joint (K, n) → E_q[log joint] + H[q] of every row, and q (K, n); it may use up its input."""


def expected(potentials: Independent) -> tuple[Array, StateCounts]:
    """Log Z of every row, and the statistics under p(state | row)."""
    log_weights, observed, weight = potentials
    if isinstance(observed, FastObserved):
        found = observed.expected_rows(log_weights, weight)
        if found is not None:
            return found
    value, parts = pooled_array(len(weight)), []
    for start, stop in segments(len(weight), len(log_weights)):
        nodes = observed.log_like(start, stop)
        value[start:stop], states = _share(nodes, log_weights, weight[start:stop])
        parts.append(StateCounts(states, observed.stats(start, stop, nodes)))
    return value, reduce(add, parts)


def best(potentials: Independent) -> tuple[Array, StateCounts]:
    """Log potential of the most probable state of every row, and its statistics."""
    return _collect(potentials, most_probable, MAX)


def drawn(potentials: Independent, rng: np.random.Generator) -> tuple[Array, StateCounts]:
    """Log potential of a drawn state of every row, and its statistics."""
    return _collect(potentials, lambda log_joint: draw(log_joint, rng), drawing(rng))


def posterior(log_joint: Array) -> tuple[Array, Array]:
    """Log Z and p(state | row); an impossible row has log Z = -inf and no states."""
    K, n = log_joint.shape
    value, _ = _share(log_joint, np.zeros(K), np.ones(n))
    return value, log_joint


def most_probable(log_joint: Array) -> tuple[Array, Array]:
    """The largest log joint, and which state has it: the first of equals."""
    return _chosen(log_joint, log_joint.argmax(0))


def draw(log_joint: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """The log joint of a drawn state, and which it is."""
    value = log_joint.copy()
    _, nodes = posterior(log_joint)
    below = np.cumsum(nodes, axis=0)
    uniform = rng.random(nodes.shape[1]) * below[-1]
    states = np.minimum((below <= uniform).sum(0), len(nodes) - 1)
    return _chosen(value, states)


def _chosen(log_joint: Array, states: NDArray[np.intp]) -> tuple[Array, Array]:
    rows = np.arange(log_joint.shape[1])
    nodes = np.zeros_like(log_joint)
    nodes[states, rows] = 1.0
    return log_joint[states, rows], nodes


def row_posteriors(potentials: Independent) -> tuple[Array, Array]:
    """Log Z (N,) and p(state | row) (N, K) of all rows."""
    n, K = len(potentials.weight), len(potentials.log_weights)
    value, nodes = np.empty(n), np.empty((n, K))
    for start, stop in segments(n, K):
        value[start:stop], found = posterior(_log_joint(potentials, start, stop))
        nodes[start:stop] = found.T
    return value, nodes


def _log_joint(potentials: Independent, start: int, stop: int, how: ReadMode = SUM) -> Array:
    log_joint: Array = potentials.observed.log_like(start, stop, how)
    log_joint += potentials.log_weights[:, None]
    return log_joint


def _share(log_like: Array, log_weights: Array, weight: Array) -> tuple[Array, Array]:
    """Log Z of rows, and how much of them each state has; log_like becomes weight · p(state)."""
    from jensen.kernels.log_tables import share_rows

    value, states = np.empty(len(weight)), np.zeros(len(log_weights))
    share_rows(log_like, log_weights, weight, value, states)
    return value, states


def _collect(potentials: Independent, rule: Rule, how: ReadMode) -> tuple[Array, StateCounts]:
    n, K = len(potentials.weight), len(potentials.log_weights)
    value, parts = np.empty(n), []
    for start, stop in segments(n, K):
        value[start:stop], nodes = rule(_log_joint(potentials, start, stop, how))
        nodes *= potentials.weight[start:stop]
        stats = potentials.observed.stats(start, stop, nodes, how)
        parts.append(StateCounts(nodes.sum(1), stats))
    return value, reduce(add, parts)
