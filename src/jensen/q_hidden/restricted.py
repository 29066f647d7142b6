"""Hidden bits over visible bits, joined across and not within: restricted Boltzmann machines.

p(v, h) ∝ exp(b·v + c·h + vᵀ W h) with units 0 and 1. Given all visible bits the hidden ones are
independent; where some are missing, all states of the missing bits or of the hidden ones are
listed, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHUNK = 1 << 12
"""States that are worked on at a time."""


class RestrictedParameters(NamedTuple):
    """The parameters, as the potentials have them."""

    visible: Array  # (V,): b
    hidden: Array  # (H,): c
    weights: Array  # (V, H): W

    @property
    def turned(self) -> RestrictedParameters:
        """The same with the two sides exchanged."""
        return RestrictedParameters(self.hidden, self.visible, self.weights.T)


class RestrictedUnits(NamedTuple):
    """Rows of visible bits at some parameters."""

    parameters: RestrictedParameters
    values: Array  # (n, V): 0, 1, and NaN where a bit is missing
    weight: Array  # (n,)
    log_z: float = 0.0  # what every row is charged


class RestrictedMoments(NamedTuple):
    """Expected statistics, by weight."""

    visible: Array  # (V,)
    hidden: Array  # (H,)
    pairs: Array  # (V, H)


def softplus(x: Array) -> Array:
    """log(1 + exp x)."""
    return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def logistic(x: Array) -> Array:
    """1 / (1 + exp -x)."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0.0, 1.0, small) / (1.0 + small))


def bit_rows(n_bits: int) -> Iterator[Array]:
    """All states of some bits, (states, n_bits), chunk by chunk."""
    for start in range(0, 1 << n_bits, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, 1 << n_bits))
        yield ((numbers[:, None] >> np.arange(n_bits)) & 1).astype(np.float64)


def log_weights(parameters: RestrictedParameters, values: Array) -> Array:
    """Log Σ_h exp(b·v + c·h + vᵀ W h) of rows without gaps."""
    b, c, ties = parameters
    return np.asarray(values @ b + softplus(values @ ties + c).sum(1))


def expected(units: RestrictedUnits) -> tuple[Array, RestrictedMoments]:
    """Log Σ over all that a row hides, (n,), and expected statistics."""
    (_, c, ties), values, weight, log_z = units
    is_whole = ~np.isnan(values).any(1)
    value = np.empty(len(values))
    whole, w = values[is_whole], weight[is_whole]
    value[is_whole] = log_weights(units.parameters, whole)
    on = logistic(whole @ ties + c) * w[:, None]
    moments = RestrictedMoments(w @ whole, on.sum(0), whole.T @ on)
    for rows in _by_gaps(values, np.flatnonzero(~is_whole), len(c)):
        value[rows], found = _expected_group(units.parameters, values[rows], weight[rows])
        moments = RestrictedMoments(*(x + y for x, y in zip(moments, found, strict=True)))
    return value - log_z, moments


def _by_gaps(values: Array, rows: NDArray[np.intp], n_hidden: int) -> list[NDArray[np.intp]]:
    """Rows with the same gaps together where hidden bits have few states, else one by one."""
    if not len(rows):
        return []
    patterns, owner = np.unique(np.isnan(values[rows]), axis=0, return_inverse=True)
    groups = [rows[owner.ravel() == k] for k in range(len(patterns))]
    if 1 << min(n_hidden, 30) <= CHUNK:
        return groups
    return [rows[k : k + 1] for k in range(len(rows))]


def _expected_group(
    parameters: RestrictedParameters, values: Array, weight: Array
) -> tuple[Array, RestrictedMoments]:
    """Log Σ of rows with the same gaps, and their expected statistics, by weight."""
    b, c, ties = parameters
    gone = np.isnan(values[0])
    if len(values) == 1 and (int(gone.sum()) <= len(c) or 1 << min(len(c), 30) > CHUNK):
        value, found = expected_row(parameters, values[0])
        return np.array([value]), RestrictedMoments(*(weight[0] * x for x in found))
    (states,) = bit_rows(len(c))
    pre = states @ ties.T + b
    seen = values[:, ~gone]
    logs = states @ c + softplus(pre[:, gone]).sum(1) + seen @ pre[:, ~gone].T  # (n, S)
    most = logs.max(1)
    p = np.exp(logs - most[:, None])
    total = p.sum(1)
    p *= (weight / total)[:, None]
    of_state = p.sum(0)
    visible, pairs = np.empty(len(b)), np.empty(ties.shape)
    on = logistic(pre[:, gone])
    visible[gone], visible[~gone] = of_state @ on, weight @ seen
    pairs[gone] = (on * of_state[:, None]).T @ states
    pairs[~gone] = seen.T @ (p @ states)
    return np.log(total) + most, RestrictedMoments(visible, of_state @ states, pairs)


def expected_row(parameters: RestrictedParameters, row: Array) -> tuple[float, RestrictedMoments]:
    """The same of one row with gaps, for its bits and the hidden ones."""
    b, c, ties = parameters
    gone = np.isnan(row)
    n_gone = int(gone.sum())
    sums = _RunningSums(len(b), len(c))
    if n_gone <= len(c):
        for states in bit_rows(n_gone):
            full = np.tile(row, (len(states), 1))
            full[:, gone] = states
            pre = full @ ties + c
            sums.add(full @ b + softplus(pre).sum(1), full, logistic(pre))
        return sums.result()
    for states in bit_rows(len(c)):
        pre = states @ ties.T + b
        logs = states @ c + softplus(pre[:, gone]).sum(1) + pre[:, ~gone] @ row[~gone]
        full = np.tile(np.where(gone, 0.0, row), (len(states), 1))
        full[:, gone] = logistic(pre[:, gone])
        sums.add(logs, full, states)
    return sums.result()


def all_states(parameters: RestrictedParameters) -> tuple[float, RestrictedMoments]:
    """Log Z, and the expected statistics of the machine: all states of its smaller side."""
    b, c, _ = parameters
    if len(b) < len(c):
        log_z, found = all_states(parameters.turned)
        return log_z, RestrictedMoments(found.hidden, found.visible, found.pairs.T)
    sums = _RunningSums(len(b), len(c))
    for states in bit_rows(len(c)):
        pre = states @ parameters.weights.T + b
        sums.add(states @ c + softplus(pre).sum(1), logistic(pre), states)
    return sums.result()


class _RunningSums:
    """Sums over states in log space, chunk by chunk."""

    def __init__(self, n_visible: int, n_hidden: int) -> None:
        self.most, self.total = -np.inf, 0.0
        self.visible, self.hidden = np.zeros(n_visible), np.zeros(n_hidden)
        self.pairs = np.zeros((n_visible, n_hidden))

    def add(self, logs: Array, visible: Array, hidden: Array) -> None:
        """Add states with these logs of weights; given a state, the sides are independent."""
        most = max(self.most, float(logs.max()))
        before, p = np.exp(self.most - most), np.exp(logs - most)
        self.most, self.total = most, self.total * before + p.sum()
        self.visible = self.visible * before + p @ visible
        self.hidden = self.hidden * before + p @ hidden
        self.pairs = self.pairs * before + visible.T @ (hidden * p[:, None])

    def result(self) -> tuple[float, RestrictedMoments]:
        """The log of the sum, and means."""
        means = (x / self.total for x in (self.visible, self.hidden, self.pairs))
        return float(np.log(self.total) + self.most), RestrictedMoments(*means)
