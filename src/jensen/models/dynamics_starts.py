"""Where the learning of linear dynamical systems begins: axes of windows of the outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.known_chain import StateSpace

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STEPS = 20_000
"""The first steps that a start looks at."""
LONGEST = 8
"""Steps of a window."""


def begin(fixed: StateSpace, rows: Any, k: int, rng: np.random.Generator) -> StateSpace:
    """Parameters to begin at: what is held, and what the first steps suggest of the rest.

    States are the leading axes of windows of steps after each step (Van Overschee and De Moor
    1996, without their weights), the outputs in units of their deviations; what is missing is
    taken to be at its mean. Later starts begin at random states of the same spread.
    """
    values, lengths = np.ascontiguousarray(rows[0]), rows[1]
    K, D, U = len(fixed.transition), len(fixed.offset), fixed.input_transition.shape[1]
    outputs, inputs = values[:, :D], values[:, D:]
    mean, deviation = column_scale(outputs)
    y = np.where(np.isnan(outputs), 0.0, (outputs - mean) / deviation)
    first = np.zeros(len(y), bool)
    ends = np.cumsum(lengths)
    first[np.append(0, ends[:-1][ends[:-1] < len(y)])] = True
    states = _axes(y, first, K) if k == 0 else np.zeros((len(y), K))
    weak = states.std(0) < 1e-8
    noise = rng.standard_normal((len(y), K))
    states = np.where(weak, _smoothed(noise, first), states)
    if k == 0 and weak.any():
        states += 1e-3 * noise
    later = np.flatnonzero(~first)
    before = np.column_stack([inputs[later], states[later - 1]])
    moves, process = _regress(states[later], before, 0.98)
    W, left = _regress(y, np.column_stack([np.ones(len(y)), inputs, states]), None)
    W, left = W * deviation[:, None], left * np.outer(deviation, deviation)
    W[:, 0] += mean
    noise_covariance = np.diag(np.maximum(np.diagonal(left), 0.05 * deviation**2))
    point = StateSpace(
        moves[:, U:], moves[:, :U], process,
        W[:, 1 + U :], W[:, 1 : 1 + U], W[:, 0], noise_covariance,
        np.zeros(K), np.eye(K), fixed.diffuse,
    )  # fmt: skip
    if not np.isnan(fixed.loadings).any():  # states have units of their own: noise by halves
        size = _size_of_states(fixed.loadings, deviation)
        jitter = 1.0 if k == 0 else float(np.exp(rng.normal()))
        point = point._replace(
            process_covariance=jitter * 0.1 * np.diag(size**2),
            noise_covariance=np.diag(0.5 * deviation**2),
            initial_covariance=np.diag(size**2),
            offset=mean,
        )
    return held(fixed, point)


def held(fixed: StateSpace, point: StateSpace) -> StateSpace:
    """The point with the numbers that are held."""
    pairs = zip(fixed, point, strict=True)
    return StateSpace(*(np.where(np.isnan(f), p, f) for f, p in pairs))


def column_scale(values: Array) -> tuple[Array, Array]:
    """Means and deviations of columns, 0 and 1 where there is none."""
    seen = ~np.isnan(values)
    n = np.maximum(seen.sum(0), 1)
    mean = np.where(seen, values, 0.0).sum(0) / n
    square = np.square(np.where(seen, values - mean, 0.0)).sum(0) / n
    return mean, np.sqrt(np.where(square > 0.0, square, 1.0))


def _axes(y: Array, first: NDArray[np.bool_], K: int) -> Array:
    """(T, K): leading axes of each step and of those after it, as long as the sequence goes on."""
    T, D = y.shape
    length = min(LONGEST, max(2, 2 * -(-K // D)))
    sequence = np.cumsum(first)
    parts = []
    for lag in range(min(length, T)):
        part = np.zeros_like(y)
        inside = np.flatnonzero(sequence[lag:] == sequence[: T - lag])
        part[inside] = y[inside + lag]
        parts.append(part)
    window = np.column_stack(parts)
    values, axes = np.linalg.eigh(window.T @ window)
    found = np.zeros((T, K))
    n = min(K, len(values))
    scores = window @ axes[:, ::-1][:, :n]
    size = scores.std(0)
    good = size > 1e-6 * max(float(size.max(initial=0.0)), 1e-300)
    found[:, :n][:, good] = scores[:, good] / size[good]
    return found


def _smoothed(noise: Array, first: NDArray[np.bool_]) -> Array:
    """Random walks that return to 0, of variance 1."""
    from scipy.signal import lfilter

    return np.asarray(np.sqrt(1.0 - 0.8**2) * lfilter([1.0], [1.0, -0.8], noise, axis=0))


def _regress(y: Array, z: Array, most: float | None) -> tuple[Array, Array]:
    """Coefficients (D, W) with a little shrinkage, and the covariance of what is left."""
    if not len(y):
        return np.zeros((y.shape[1], z.shape[1])), np.eye(y.shape[1])
    square = z.T @ z
    square[np.diag_indices_from(square)] += 1e-3 * np.diagonal(square).mean() + 1e-12
    W: Any = np.linalg.solve(square, z.T @ y).T
    if most is not None:  # transitions that do not explode
        K = y.shape[1]
        size = np.abs(np.linalg.eigvals(W[:, -K:])).max(initial=0.0)
        W[:, -K:] *= min(1.0, most / max(size, 1e-300))
    left = y - z @ W.T
    covariance = left.T @ left / len(y)
    return W, covariance + 1e-3 * np.eye(len(covariance)) * max(np.trace(covariance), 1e-3)


def _size_of_states(loadings: Array, deviation: Array) -> Array:
    """(K,): deviations of states that make outputs of such deviations."""
    seen = np.abs(loadings) / deviation[:, None]
    size = seen.max(0)
    usual = 1.0 / max(float(size.max(initial=0.0)), 1e-300)
    return np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), usual)
