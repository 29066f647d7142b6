"""Known parameters as a Gaussian chain: in information form where all noise has a density.

Precisions that dwarf each other lose digits in information form, so that such parameters, too, are
left to the covariance form.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.gaussian_chain import (
    Filling,
    GaussianChain,
    Moves,
    Outputs,
    SeriesRows,
)
from jensen.q_hidden.known_chain import KnownChain, StateSpace, normal_log_size

Array = NDArray[np.float64]

FAINT, SHARP = 1e-7, 1e4
"""Between these is what outputs tell of a state, in units of what the state's noise tells."""
NEAR_SINGULAR = 1e-7
"""Of the largest, the smallest eigenvalue of a correlation matrix that is inverted."""


def chain_of(
    point: StateSpace, rows: SeriesRows, *, fills: bool = False
) -> GaussianChain | KnownChain:
    """The states of these rows, in the form that suits the parameters."""
    filling = filling_of(point, rows.seen) if fills else None
    if not is_regular(point):
        return KnownChain(point, rows, filling)
    return GaussianChain(moves_of(point), outputs_of(point, rows.seen), rows, filling)


def is_regular(point: StateSpace) -> bool:
    """Whether the information form loses no digits."""
    Q, R = point.process_covariance, point.noise_covariance
    free = point.diffuse == 0.0
    starts = point.initial_covariance[np.ix_(free, free)]
    if not all(_is_far_from_singular(x) for x in (Q, R, starts)):
        return False
    if not free.all() and np.linalg.svd(point.transition, compute_uv=False)[-1] < 1e-3:
        return False
    told = point.loadings.T @ np.linalg.solve(R, point.loadings)
    size = np.sqrt(np.diagonal(Q))
    told = float(np.linalg.eigvalsh(told * np.outer(size, size))[-1])
    ratios = np.diagonal(Q) / np.maximum(np.diagonal(point.initial_covariance), 1e-300)
    return FAINT < told < SHARP and bool((ratios[free] > FAINT**1.5).all())


def _is_far_from_singular(matrix: Array) -> bool:
    diagonal = np.diagonal(matrix)
    if not (diagonal > 0.0).all():
        return False
    size = np.sqrt(diagonal)
    values = np.linalg.eigvalsh(matrix / np.outer(size, size))
    return bool(len(values) == 0 or values[0] > NEAR_SINGULAR)


def moves_of(point: StateSpace) -> Moves:
    """Known parameters as what is expected of them."""
    Q, K = np.linalg.inv(point.process_covariance), len(point.transition)
    first = Q @ point.moves
    log_size = normal_log_size(-np.linalg.slogdet(point.process_covariance)[1], K)
    start, pull, size = start_of(point.initial_mean, point.initial_covariance, point.diffuse)
    return Moves(log_size, Q, first, point.moves.T @ first, start, pull, size)


def start_of(mean: Array, covariance: Array, diffuse: Array) -> tuple[Array, Array, float]:
    """Precision of first states, times their mean, and the log size of their density.

    States of which nothing is known have precision 0, and the size (2π)^(-q/2) of q of them.
    """
    free = np.flatnonzero(diffuse == 0.0)
    precision, K = np.zeros(covariance.shape), len(mean)
    own = covariance[np.ix_(free, free)]
    precision[np.ix_(free, free)] = np.linalg.inv(own)
    pull = precision @ mean
    size = normal_log_size(-np.linalg.slogdet(own)[1] if len(free) else 0.0, K)
    return precision, pull, float(size - 0.5 * mean @ pull)


def outputs_of(point: StateSpace, seen: Array) -> Outputs:
    """The same of outputs, pattern by pattern."""
    return outputs_at(point.noise_covariance, point.outputs, seen)


def outputs_at(R: Array, W: Array, seen: Array) -> Outputs:
    """Outputs y = W w + N(0, R), pattern by pattern."""
    if not np.any(R - np.diag(np.diagonal(R))):
        psi = 1.0 / np.diagonal(R)
        first = psi[:, None] * W
        flat = (first[:, :, None] * W[:, None, :]).reshape(len(W), -1)
        log_size = seen @ np.array([normal_log_size(np.log(x), 1) for x in psi])
        strength = (seen @ flat).reshape(-1, W.shape[1], W.shape[1])
        return Outputs(log_size, seen * psi, first[None], strength)
    found = [_pattern(R, W, here) for here in seen > 0.0]
    return Outputs(*(np.array(part) for part in zip(*found, strict=True)))


def _pattern(R: Array, W: Array, here: NDArray[np.bool_]) -> tuple[float, Array, Array, Array]:
    precision = np.zeros_like(R)
    own = R[np.ix_(here, here)]
    precision[np.ix_(here, here)] = np.linalg.inv(own)
    log_det = -np.linalg.slogdet(own)[1] if here.any() else 0.0
    first = precision @ W
    return normal_log_size(log_det, int(here.sum())), precision, first, W.T @ first


def filling_of(point: StateSpace, seen: Array) -> Filling:
    """How missing outputs follow from the rest of a step and from its state."""
    R, W = point.noise_covariance, point.outputs
    P, D = seen.shape
    known, guess, spread = np.zeros((P, D, D)), np.zeros((P, *W.shape)), np.zeros((P, D, D))
    for p, here in enumerate(seen > 0.0):
        o, m = np.flatnonzero(here), np.flatnonzero(~here)
        known[p, o, o] = 1.0
        turn = R[np.ix_(m, o)] @ np.linalg.pinv(R[np.ix_(o, o)], hermitian=True)
        known[p][np.ix_(m, o)] = turn
        guess[p, m] = W[m] - turn @ W[o]
        spread[p][np.ix_(m, m)] = R[np.ix_(m, m)] - turn @ R[np.ix_(o, m)]
    return Filling(known, guess, spread)
