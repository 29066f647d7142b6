"""A Gaussian hidden state for each step of sequences: x_t depends on x_{t-1}, outputs y_t on x_t.

Where all noise has a density the chain is known by its precision, which is block-tridiagonal
(`GaussianChain`); that is all that a posterior of the parameters needs to be averaged for. Noise of
variance 0, and states of which nothing is known beforehand, are done by known parameters
(`KnownChain`, in `known_chain`). Both give means, covariances of steps and of neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families.linear_regression import Regression
from jensen.support.fields import record

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

LOG_2PI = float(np.log(2.0 * np.pi))


class SeriesRows(NamedTuple):
    """Whole sequences, one after the other."""

    values: Array  # (T, D), 0 where they are missing
    seen: Array  # (P, D): 1 where the steps of a pattern show an output, else 0
    owner: Ints  # (T,): the pattern of each step
    inputs: Array  # (T, 1 + U): the constant 1, and what was put in
    ptr: Ints  # (S + 1,): where each sequence begins; none is empty
    weight: Array  # (S,): how often each counts

    @classmethod
    def of(cls, values: Array, inputs: Array | None, ptr: Ints, weight: Array) -> SeriesRows:
        """Outputs (T, D), NaN where they are missing, and inputs (T, U)."""
        values = np.ascontiguousarray(values)  # sums of matrices differ by it in their last bits
        gaps = np.isnan(values)
        one = np.ones((len(values), 1))
        both = one if inputs is None else np.column_stack([one, inputs])
        if not gaps.any():
            seen, owner = np.ones((1, values.shape[1])), np.zeros(len(values), np.int64)
        else:
            patterns, owner = np.unique(gaps, axis=0, return_inverse=True)
            seen = (~patterns).astype(np.float64)
        owner = np.ascontiguousarray(np.ravel(owner), np.int64)
        return cls(np.where(gaps, 0.0, values), seen, owner, both, ptr, weight)

    @property
    def step_weight(self) -> Array:
        """(T,): that of the sequence of each step."""
        return np.repeat(self.weight, np.diff(self.ptr))

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """(T,): where sequences begin."""
        found = np.zeros(len(self.values), bool)
        found[self.ptr[:-1]] = True
        return found


class Outputs(NamedTuple):
    """What is expected of y = W (1, u, x) + noise, pattern by pattern.

    The log potential of a step is size - ½ yᵀ P y + yᵀ F w - ½ wᵀ S w, with w = (1, u, x).
    """

    log_size: Array  # (P,)
    precision: Array  # (P, D, D), 0 where a pattern shows nothing; (P, D) of independent noise
    first: Array  # (P, D, 1 + U + K); (1, D, 1 + U + K) of independent noise: values are 0 then
    strength: Array  # (P, 1 + U + K, 1 + U + K)


class Moves(NamedTuple):
    """What is expected of x_t = W (u_t, x_{t-1}) + noise, and of first states."""

    log_size: float
    noise: Array  # (K, K): E[Q⁻¹]
    first: Array  # (K, U + K): E[Q⁻¹ W]
    strength: Array  # (U + K, U + K): E[Wᵀ Q⁻¹ W]
    start: Array  # (K, K): the precision of first states
    start_pull: Array  # (K,): times their mean
    start_size: float


class Filling(NamedTuple):
    """How what is missing of a step follows from the rest, where the noise of outputs depends."""

    known: Array  # (P, D, D): y = known y + guess w + noise
    guess: Array  # (P, D, 1 + U + K)
    spread: Array  # (P, D, D)


class GaussianChain(NamedTuple):
    """The states of sequences in information form."""

    moves: Moves
    outputs: Outputs
    rows: SeriesRows
    filling: Filling | None = None


@record
class StartSums(NamedTuple):
    """Of first states: their number, Σ E[x] and Σ E[x xᵀ]."""

    count: Any  # tuple's own count is not missed
    first: Any
    second: Any


@record
class SeriesSums(NamedTuple):
    """Sums over steps, by weight."""

    start: StartSums
    moves: Regression  # of x_t on (u_t, x_{t-1}); second is (K, K), strength (U + K, U + K)
    outputs: Regression  # of each output on (1, u, x); second is (D, D) where noise depends


class StateMoments(NamedTuple):
    """What is known of the states of all steps."""

    value: Array  # (S,): log evidence of the sequences, or the log joint at the states
    mean: Array  # (T, K)
    spread: Array | None  # (T, K, K); None: the states are known
    lag: Array | None  # (T, K, K): with the state before, 0 at first steps


NO_DENSITY = (
    "the states have no density at these parameters: nothing says where some of them are, neither "
    "the start nor the outputs"
)


def terms(chain: GaussianChain) -> tuple[Array, Array, Array, Array]:
    """Blocks (4, K, K), nodes (P, K, K), pulls (T, K) of the states, and the rest (S,)."""
    moves, outputs, rows, _ = chain
    u, owner = rows.inputs.shape[1], rows.owner
    y = rows.values
    if outputs.precision.ndim == 2:
        weighed, square = y @ outputs.first[0], (y * y * outputs.precision[owner]).sum(1)
    else:
        weighed = np.einsum("td,tdw->tw", y, outputs.first[owner])
        square = np.einsum("td,tde,te->t", y, outputs.precision[owner], y)
    flat = outputs.strength.reshape(len(outputs.strength), -1)
    nodes = np.ascontiguousarray(outputs.strength[:, u:, u:])
    if len(flat) == 1:
        known = rows.inputs @ outputs.strength[0, :u]
    else:
        known = np.einsum("tu,tuw->tw", rows.inputs, outputs.strength[owner, :u])
    pull = weighed[:, u:] - known[:, u:]
    size = outputs.log_size[owner] - 0.5 * square
    size += (rows.inputs * (weighed[:, :u] - 0.5 * known[:, :u])).sum(1)
    firsts, is_first = rows.ptr[:-1], rows.is_first
    size += np.where(is_first, moves.start_size, moves.log_size)
    if u > 1:  # what inputs push
        pushed = np.where(is_first[:, None], 0.0, rows.inputs[:, 1:])
        back = moves.strength[: u - 1, u - 1 :]
        pull += pushed @ moves.first[:, : u - 1].T
        pull[:-1] -= pushed[1:] @ back
        size -= 0.5 * ((pushed @ moves.strength[: u - 1, : u - 1]) * pushed).sum(1)
    pull[firsts] += moves.start_pull
    cross, onwards = moves.first[:, u - 1 :], moves.strength[u - 1 :, u - 1 :]
    blocks = np.stack([moves.start, moves.noise, cross, onwards])
    return blocks, nodes, np.ascontiguousarray(pull), np.add.reduceat(size, firsts)


class Solved(NamedTuple):
    """The factorised precision."""

    inverse: Array
    gain: Array
    way: Array
    value: Array


def solve(chain: GaussianChain) -> Solved:
    """Eliminate states from first to last."""
    from jensen.kernels.gaussian_chains import eliminate

    blocks, nodes, pull, size = terms(chain)
    n, K = pull.shape
    inverse, gain, way = np.empty((n, K, K)), np.empty((n, K, K)), np.empty((n, K))
    value = np.empty(len(size))
    eliminate(blocks, nodes, chain.rows.owner, pull, chain.rows.ptr, inverse, gain, way, value)
    if np.isnan(value).any():
        raise JensenError(NO_DENSITY)
    return Solved(inverse, gain, way, value + size)


def smooth(chain: GaussianChain) -> StateMoments:
    """Means and covariances given all steps."""
    from jensen.kernels.gaussian_chains import follow_chain, spread_back

    found = solve(chain)
    follow_chain(found.gain, chain.rows.ptr, found.way)
    spread, lag = np.empty_like(found.gain), np.empty_like(found.gain)
    spread_back(found.inverse, found.gain, chain.rows.ptr, spread, lag)
    return StateMoments(found.value, found.way, spread, lag)


def at_mode(chain: GaussianChain) -> StateMoments:
    """The most probable states, and the log joint there."""
    from jensen.kernels.gaussian_chains import follow_chain

    found = solve(chain)
    follow_chain(found.gain, chain.rows.ptr, found.way)
    return StateMoments(found.value + _heights(found.inverse, chain), found.way, None, None)


def drawn(chain: GaussianChain, rng: np.random.Generator) -> StateMoments:
    """States drawn given all steps, and the log joint there."""
    from jensen.kernels.gaussian_chains import follow_chain

    found = solve(chain)
    z = rng.standard_normal(found.way.shape)
    root = np.linalg.cholesky(found.inverse)
    way = found.way + (root @ z[..., None])[..., 0]
    follow_chain(found.gain, chain.rows.ptr, way)
    away = np.add.reduceat(0.5 * (z * z).sum(1), chain.rows.ptr[:-1])
    return StateMoments(found.value + _heights(found.inverse, chain) - away, way, None, None)


def _heights(inverse: Array, chain: GaussianChain) -> Array:
    """(S,): the log density of the states at its highest point."""
    each = -0.5 * (np.linalg.slogdet(inverse)[1] + inverse.shape[1] * LOG_2PI)
    return np.asarray(np.add.reduceat(each, chain.rows.ptr[:-1]))


# --- what the parameters are learned from ---


def sums(rows: SeriesRows, found: StateMoments, filling: Filling | None = None) -> SeriesSums:
    """Sums over steps: of first states, of moves, of outputs."""
    w, mean = rows.step_weight, found.mean
    K, T = mean.shape[1], len(mean)
    spread = np.zeros((T, K, K)) if found.spread is None else found.spread
    firsts = rows.ptr[:-1]
    outer = (w[firsts, None] * mean[firsts]).T @ mean[firsts]
    start = StartSums(
        np.asarray(w[firsts].sum()),
        w[firsts] @ mean[firsts],
        outer + np.tensordot(w[firsts], spread[firsts], 1),
    )
    later = w * ~rows.is_first
    before = np.column_stack([rows.inputs[:, 1:], np.roll(mean, 1, axis=0)])
    u = rows.inputs.shape[1] - 1
    now = later[:, None] * mean
    first = now.T @ before
    strength = (later[:, None] * before).T @ before
    second = now.T @ mean
    if found.lag is not None:
        first[:, u:] += np.tensordot(later, found.lag, 1)
        second += np.tensordot(later, spread, 1)
        strength[u:, u:] += np.tensordot(later[1:], spread[:-1], 1)
    moves = Regression(np.asarray(later.sum()), second, first, strength)
    z = np.column_stack([rows.inputs, mean])
    if filling is not None:
        return SeriesSums(start, moves, _filled_outputs(rows, z, spread, filling))
    return SeriesSums(start, moves, _outputs(rows, z, spread))


def _outputs(rows: SeriesRows, z: Array, spread: Array) -> Regression:
    """Of each output, the steps that show it."""
    w, y, K = rows.step_weight, rows.values, spread.shape[1]
    if len(rows.seen) == 1:
        square = (w[:, None] * z).T @ z
        square[-K:, -K:] += np.tensordot(w, spread, 1)
        strength = rows.seen[0][:, None, None] * square
        count = w.sum() * rows.seen[0]
    else:
        shown = w[:, None] * rows.seen[rows.owner]
        outer = z[:, :, None] * z[:, None, :]
        outer[:, -K:, -K:] += spread
        flat = shown.T @ outer.reshape(len(z), -1)
        count, strength = shown.sum(0), flat.reshape(-1, z.shape[1], z.shape[1])
    weighed = w[:, None] * y
    return Regression(count, (weighed * y).sum(0), weighed.T @ z, strength)


def _filled_outputs(rows: SeriesRows, z: Array, spread: Array, filling: Filling) -> Regression:
    """Of whole steps, what is missing completed in expectation; steps without any are left out."""
    w, K, D = rows.step_weight, spread.shape[1], rows.values.shape[1]
    width = z.shape[1]
    total = Regression(
        np.zeros(()), np.zeros((D, D)), np.zeros((D, width)), np.zeros((width, width))
    )
    for p in np.flatnonzero(rows.seen.any(1)):
        here = rows.owner == p
        weighed = w[here, None] * z[here]
        square = weighed.T @ z[here]
        square[-K:, -K:] += np.tensordot(w[here], spread[here], 1)
        y, guess = rows.values[here] @ filling.known[p].T, filling.guess[p]
        cross = y.T @ weighed
        first = cross + guess @ square
        across = cross @ guess.T
        second = (w[here, None] * y).T @ y + across + across.T + guess @ square @ guess.T
        second += w[here].sum() * filling.spread[p]
        total = Regression(
            total.count + w[here].sum(),
            total.second + second,
            total.first + first,
            total.strength + square,
        )
    return total
