"""Gaussian chains of known parameters, in covariance form: noise may be 0, a start diffuse.

Outputs are taken one at a time, turned so that their noise is independent (Koopman and
Durbin 2000).
A diffuse start is flat noise plus N(0, scale), which is the same: its directions are carried along
as columns of the means, and integrated out at the end (de Jong 1991). The evidence of a sequence is
then its density times (2π κ)^(q/2) as the variance κ of q directions grows: Durbin and Koopman's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.q_hidden.gaussian_chain import LOG_2PI, NO_DENSITY, SeriesRows, StateMoments
from jensen.support.fields import record
from jensen.support.series_records import SeriesFilter, SeriesModel, make_series_filter

Array = NDArray[np.float64]


@record
class StateSpace(NamedTuple):
    """Known parameters: x_t = A x_{t-1} + B u_t + N(0, Q), y_t = C x_t + D u_t + d + N(0, R)."""

    transition: Any  # A (K, K)
    input_transition: Any  # B (K, U)
    process_covariance: Any  # Q (K, K)
    loadings: Any  # C (D, K)
    input_loadings: Any  # D (D, U)
    offset: Any  # d (D,)
    noise_covariance: Any  # R (D, D)
    initial_mean: Any  # (K,)
    initial_covariance: Any  # (K, K)
    diffuse: Any  # (K,): 1 for states of which nothing is known at the start, else 0

    @property
    def outputs(self) -> Array:
        """(D, 1 + U + K): what outputs are made of."""
        return np.column_stack([self.offset, self.input_loadings, self.loadings])

    @property
    def moves(self) -> Array:
        """(K, U + K): what states are made of."""
        return np.column_stack([self.input_transition, self.transition])


class KnownChain(NamedTuple):
    """The states of sequences at known parameters."""

    point: StateSpace
    rows: SeriesRows
    filling: Any = None


class Filtered(NamedTuple):
    """What is known of the state of each step, given the steps up to it."""

    value: Array  # (S,)
    mean: Array  # (T, K)
    spread: Array  # (T, K, K)


def _prepare(chain: KnownChain) -> tuple[SeriesModel, Array]:
    """The model with outputs turned, and the outputs without what inputs make of them."""
    point, rows, _ = chain
    P, D = rows.seen.shape
    K, u = len(point.transition), rows.inputs.shape[1]
    loadings, noise, n_seen = np.zeros((P, D, K)), np.zeros((P, D)), np.zeros(P, np.int64)
    left = rows.values - rows.inputs @ point.outputs[:, :u].T
    values = np.zeros((len(left), D))
    R, is_diagonal = point.noise_covariance, _is_diagonal(point.noise_covariance)
    for p, seen in enumerate(rows.seen > 0.0):
        here, n = rows.owner == p, int(seen.sum())
        n_seen[p] = n
        if not n:
            continue
        if is_diagonal:
            noise[p, :n], turn = np.diagonal(R)[seen], np.eye(n)
        else:
            noise[p, :n], turn = np.linalg.eigh(R[np.ix_(seen, seen)])
            noise[p, noise[p] < 1e-14 * noise[p].max()] = 0.0
        loadings[p, :n] = turn.T @ point.loadings[seen]
        values[here, :n] = left[here][:, seen] @ turn
    push = rows.inputs[:, 1:] @ point.input_transition.T
    unknown = np.flatnonzero(point.diffuse)
    start = np.zeros((K, 1 + len(unknown)))
    start[:, 0] = point.initial_mean
    start[unknown, 1 + np.arange(len(unknown))] = 1.0
    spread = np.array(point.initial_covariance)
    spread[unknown, :] = spread[:, unknown] = 0.0
    scale = _spread_of(values, noise, loadings)
    spread[unknown, unknown] = scale
    A, Q = np.ascontiguousarray(point.transition), np.ascontiguousarray(point.process_covariance)
    push = np.ascontiguousarray(push)
    return SeriesModel(A, Q, push, loadings, noise, n_seen, start, spread), values


def _is_diagonal(matrix: Array) -> bool:
    return not np.any(matrix - np.diag(np.diagonal(matrix)))


def _spread_of(values: Array, noise: Array, loadings: Array) -> float:
    """A variance of states like those of the outputs: of a flat start any will do."""
    size = max(float(np.square(loadings).max(initial=0.0)), 1e-300)
    found = max(float(noise.max(initial=0.0)), float(np.square(values).mean()) * 1e-2) / size
    return found if np.isfinite(found) and found > 0.0 else 1.0


def _run(chain: KnownChain) -> tuple[SeriesModel, SeriesFilter]:
    from jensen.kernels.gaussian_chains import filter_in_turn

    model, values = _prepare(chain)
    K, width = model.start.shape
    n, D = values.shape
    found = make_series_filter(n, D, K, width, len(chain.rows.weight))
    filter_in_turn(model, chain.rows.owner, values, chain.rows.ptr, found)
    return model, found


def _directions(found: SeriesFilter) -> tuple[Array, Array, Array]:
    """Log evidence (S,); of unknown directions where they are (S, q), and their covariance."""
    q = found.squares.shape[1] - 1
    value = found.log_z - 0.5 * found.squares[:, 0, 0]
    if not q:
        return value, np.zeros((len(value), 0)), np.zeros((len(value), 0, 0))
    strength, pull = found.squares[:, 1:, 1:], -found.squares[:, 1:, 0]
    size = np.sqrt(np.maximum(np.diagonal(strength, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0.0, size, 1.0)
    scaled = strength / (size[:, :, None] * size[:, None, :])
    if (np.linalg.eigvalsh(scaled)[:, 0] < 1e-13).any():
        raise JensenError(NO_DENSITY)
    covariance = np.linalg.inv(scaled) / (size[:, :, None] * size[:, None, :])
    where = (covariance @ pull[..., None])[..., 0]
    value += 0.5 * (pull * where).sum(1) - 0.5 * np.linalg.slogdet(strength)[1]
    return value, where, covariance


def log_evidence(chain: KnownChain) -> Array:
    """Log evidence of every sequence; -inf where an exact output contradicts the others."""
    return _directions(_run(chain)[1])[0]


def smooth(chain: KnownChain) -> StateMoments:
    """Means and covariances given all steps."""
    from jensen.kernels.gaussian_chains import smooth_in_turn

    model, found = _run(chain)
    value, where, covariance = _directions(found)
    mean, spread, lag = np.empty_like(found.mean), np.empty_like(found.spread), found.spread.copy()
    smooth_in_turn(model, chain.rows.owner, chain.rows.ptr, found, mean, spread, lag)
    if where.shape[1]:
        sequence = np.repeat(np.arange(len(value)), np.diff(chain.rows.ptr))
        turn, inner = mean[:, :, 1:], covariance[sequence]
        spread += turn @ inner @ np.swapaxes(turn, 1, 2)
        later = ~chain.rows.is_first
        before = np.roll(turn, 1, axis=0)
        lag[later] += (turn @ inner @ np.swapaxes(before, 1, 2))[later]
        mean = mean[:, :, :1] + turn @ where[sequence][..., None]
    return StateMoments(value, np.ascontiguousarray(mean[:, :, 0]), spread, lag)


def filtered(chain: KnownChain) -> Filtered:
    """What is known of each state given the steps up to it; NaN where a flat start hides it."""
    model, found = _run(chain)
    value = _directions(found)[0]
    mean, spread = found.seen_mean[:, :, 0], found.seen_spread
    q = model.start.shape[1] - 1
    if q:
        mean, spread = mean.copy(), spread.copy()
        for s, (a, b) in enumerate(zip(chain.rows.ptr, chain.rows.ptr[1:], strict=False)):
            _integrate(found, s, int(a), int(b), mean, spread)
    return Filtered(value, np.ascontiguousarray(mean), spread)


def _integrate(found: SeriesFilter, s: int, a: int, b: int, mean: Array, spread: Array) -> None:
    """Integrate unknown directions out of what the steps up to each say."""
    left, scale = found.left[a:b], found.scale[a:b]
    share = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 0.0)
    squares = np.cumsum(np.einsum("tdc,tde,td->tce", left, left, share), axis=0)
    for t in range(a, b):
        strength, pull = squares[t - a, 1:, 1:], -squares[t - a, 1:, 0]
        values, axes = np.linalg.eigh(strength)
        known = values > 1e-12 * max(values[-1], 1e-300)
        turn = found.seen_mean[t, :, 1:]
        blind = turn @ axes[:, ~known]
        inner = (axes[:, known] / values[known]) @ axes[:, known].T
        mean[t] += turn @ (inner @ pull)
        spread[t] += turn @ inner @ turn.T
        lost = np.square(blind).sum(1) > 1e-18
        mean[t, lost] = np.nan
        spread[t, lost, :] = spread[t, :, lost] = np.inf


def drawn(chain: KnownChain, rng: np.random.Generator) -> StateMoments:
    """States drawn given all steps, by drawn sequences and what they lack (Durbin and Koopman).

    The value is the log evidence: states that follow from each other have no density.
    """
    point, rows, _ = chain
    states, outputs = simulate(point, rows, rng)
    here = smooth(chain)
    there = smooth(chain._replace(rows=rows._replace(values=outputs * rows.seen[rows.owner])))
    return StateMoments(here.value, here.mean + states - there.mean, None, None)


def simulate(point: StateSpace, rows: SeriesRows, rng: np.random.Generator) -> tuple[Array, Array]:
    """States (T, K) and outputs (T, D) of sequences of these lengths and inputs."""
    T, K, D = len(rows.inputs), len(point.transition), len(point.offset)
    process = rng.standard_normal((T, K)) @ root_of(point.process_covariance).T
    first = rng.standard_normal((len(rows.weight), K)) @ root_of(point.initial_covariance).T
    first *= point.diffuse == 0.0
    noise = rng.standard_normal((T, D)) @ root_of(point.noise_covariance).T
    states = process + rows.inputs[:, 1:] @ point.input_transition.T
    states[rows.ptr[:-1]] = point.initial_mean + first
    is_first = rows.is_first
    for t in range(T):
        if not is_first[t]:
            states[t] += point.transition @ states[t - 1]
    outputs = np.column_stack([rows.inputs, states]) @ point.outputs.T + noise
    return states, outputs


def root_of(covariance: Array) -> Array:
    """F with F Fᵀ = covariance, which may be singular."""
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))


def normal_log_size(log_det: float, n: int) -> float:
    """The log of the height of a normal density, from log |precision|."""
    return 0.5 * (log_det - n * LOG_2PI)
