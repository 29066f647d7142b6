"""Records of arrays about sequences with Gaussian hidden states, shared with kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class SeriesModel(NamedTuple):
    """Known parameters, and outputs turned so that their noise is independent, for each pattern."""

    transition: Array  # (K, K)
    process: Array  # (K, K): the covariance of what moves the states
    push: Array  # (T, K): what inputs add to the state of a step that is not the first
    loadings: Array  # (P, D, K): of the first n_seen outputs of each pattern
    noise: Array  # (P, D): their variances, which may be 0
    n_seen: Ints  # (P,)
    start: Array  # (K, 1 + q): the mean of first states, and directions in which it is not known
    spread: Array  # (K, K): their covariance


class SeriesFilter(NamedTuple):
    """What a filter finds; columns after the first are by how much unknown directions change it."""

    mean: Array  # (T, K, 1 + q): of the state of a step given the steps before it
    spread: Array  # (T, K, K): its covariance
    seen_mean: Array  # (T, K, 1 + q): given the step too
    seen_spread: Array  # (T, K, K)
    left: Array  # (T, D, 1 + q): what is left of each output once those before it are known
    scale: Array  # (T, D): its variance; 0 where the output was known already
    gain: Array  # (T, D, K): what it tells of the state
    squares: Array  # (S, 1 + q, 1 + q): Σ left leftᵀ / scale
    log_z: Array  # (S,): Σ of the logs of the normal densities' heights


def make_series_filter(n: int, n_columns: int, n_states: int, width: int, s: int) -> SeriesFilter:
    """Arrays for n steps of s sequences."""
    K, D = n_states, n_columns
    return SeriesFilter(
        np.zeros((n, K, width)),
        np.zeros((n, K, K)),
        np.zeros((n, K, width)),
        np.zeros((n, K, K)),
        np.zeros((n, D, width)),
        np.zeros((n, D)),
        np.zeros((n, D, K)),
        np.zeros((s, width, width)),
        np.zeros(s),
    )
