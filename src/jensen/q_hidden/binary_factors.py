"""Hidden bits of rows: x_d = Σ_k s_k μ_dk + noise of precision ψ_d, each s_k being 0 or 1.

What a row misses is left out. Exactly, all 2^K states of the bits are gone through, each from the
one without its highest bit; by mean field the bits of a row are independent, each with the mean
that is best given those of the others:

    logit λ_k = log π_k / (1 - π_k) + Σ_d E[ψ x_d μ_dk] - ½ Q_kk - Σ_(j ≠ k) Q_kj λ_j,

Q being Σ_d E[ψ μ_d μ_dᵀ]. They are updated in turn, which never lowers the bound; all at once may.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, expit

from jensen.families.linear_regression import Regression
from jensen.support.fields import record

Array = NDArray[np.float64]

CELLS = 1 << 20
"""States of rows that are gone through at once."""
MOST_SWEEPS = 500
STILL = 1e-9
"""Means that change less have settled."""
N_STARTS = 20
"""Corners from which mean field begins in the first sweep; later it tries one of them a sweep."""


class BinaryRows(NamedTuple):
    """Rows, and which columns they show."""

    values: Array  # (n, D): 0 where missing
    weight: Array  # (n,)
    seen: Array  # (P, D): 1 where the rows of a pattern show a column, else 0
    owner: NDArray[np.intp]  # (n,): the pattern of each row


class FactorBits(NamedTuple):
    """What is expected of the parameters, and rows."""

    log_off: Array  # (K,): E[log (1 - π)]
    log_on: Array  # (K,): E[log π]
    log_noise: Array  # (D,): ½ (E[log ψ] - log 2π), and whatever else is the same for all rows
    noise: Array  # (D,): E[ψ]
    first: Array  # (D, K): E[ψ μ]
    strength: Array  # (D, K, K): E[ψ μ μᵀ]
    rows: BinaryRows

    @property
    def weight(self) -> Array:
        """How often each row counts."""
        return self.rows.weight


@record
class BinaryMoments(NamedTuple):
    """Sums over rows, by weight."""

    bits: Array  # (K, 2): off, on
    columns: Regression  # for each column of 1, x², x E[s] and E[s sᵀ] over rows that show it


@record
class BitMemory(NamedTuple):
    """Where mean field was in the last sweep."""

    mean: Array  # (n, K)
    age: int


class _Prepared(NamedTuple):
    """Log potentials of rows: base + linear · s - ½ sᵀ Q s, and what the prior says of s."""

    base: Array  # (n,)
    linear: Array  # (n, K)
    quadratic: Array  # (P, K, K)


def _prepare(potentials: FactorBits) -> _Prepared:
    rows, K = potentials.rows, len(potentials.log_on)
    base = (rows.seen @ potentials.log_noise)[rows.owner]
    base = base - 0.5 * np.square(rows.values) @ potentials.noise
    quadratic = rows.seen @ potentials.strength.reshape(-1, K * K)
    return _Prepared(base, rows.values @ potentials.first, quadratic.reshape(-1, K, K))


# --- exactly ---


def states(n_bits: int) -> Array:
    """(2^K, K): all states of the bits, the first of which changes fastest."""
    return ((np.arange(1 << n_bits)[:, None] >> np.arange(n_bits)) & 1).astype(float)


def posteriors(potentials: FactorBits) -> tuple[Array, Array, Array]:
    """Log p of every row (n,), E[s] (n, K), and Σ weight · E[s sᵀ] of every pattern (P, K, K)."""
    rows, at = potentials.rows, _prepare(potentials)
    n, K = at.linear.shape
    every = states(K)
    value, mean = np.empty(n), np.empty((n, K))
    square = np.zeros_like(at.quadratic)
    step = max(1, CELLS >> K)
    for p, quadratic in enumerate(at.quadratic):
        own = np.flatnonzero(rows.owner == p)
        prior = _of_states(potentials, quadratic)
        shares = np.zeros(len(prior))
        for start in range(0, len(own), step):
            some = own[start : start + step]
            q = prior + _sums(at.linear[some])
            top = q.max(1, keepdims=True)
            np.exp(q - np.where(top == -np.inf, 0.0, top), out=q)
            total = q.sum(1, keepdims=True)
            q /= np.where(total > 0.0, total, 1.0)
            with np.errstate(divide="ignore"):
                value[some] = at.base[some] + (top + np.log(total))[:, 0]
            mean[some] = q @ every
            shares += rows.weight[some] @ q
        square[p] = (every * shares[:, None]).T @ every
    return value, mean, square


def _of_states(potentials: FactorBits, quadratic: Array) -> Array:
    """(2^K,): what the prior and Q say of each state, which is one with a bit more than another."""
    found = np.zeros(1)
    lower = np.zeros((1, 0))
    for k, (off, on) in enumerate(zip(potentials.log_off, potentials.log_on, strict=True)):
        more = on - 0.5 * quadratic[k, k] - lower @ quadratic[k, :k]
        found = np.concatenate([found + off, found + more])
        bit = np.repeat([0.0, 1.0], len(lower))
        lower = np.column_stack([np.concatenate([lower, lower]), bit])
    return found


def _sums(linear: Array) -> Array:
    """(n, 2^K): linear · s of each state."""
    found = np.zeros((len(linear), 1 << linear.shape[1]))
    for k, column in enumerate(linear.T):
        found[:, 1 << k : 2 << k] = found[:, : 1 << k] + column[:, None]
    return found


def expected(potentials: FactorBits) -> tuple[Array, BinaryMoments]:
    """Log p of every row, and the statistics under p(s | row)."""
    value, mean, square = posteriors(potentials)
    return value, _moments(potentials.rows, mean, square)


# --- by mean field ---


def mean_field(
    potentials: FactorBits, memory: BitMemory | None
) -> tuple[Array, BinaryMoments, BitMemory]:
    """The best bound of log p of every row, its statistics, and where it was found.

    Each row keeps the best of several fixed points, of which one is reached from where it was.
    """
    value, mean, at = bounds(potentials, memory)
    rows = potentials.rows
    square = np.zeros_like(at.quadratic)
    for p in range(len(square)):
        own = mean[rows.owner == p]
        weight = rows.weight[rows.owner == p][:, None]
        square[p] = (weight * own).T @ own
        square[p][np.diag_indices_from(square[p])] = (weight * own).sum(0)
    age = 0 if memory is None else memory.age + 1
    return value, _moments(rows, mean, square), BitMemory(mean, age)


def bounds(
    potentials: FactorBits, memory: BitMemory | None = None
) -> tuple[Array, Array, _Prepared]:
    """The best bound of every row (n,), and its means (n, K)."""
    at, K = _prepare(potentials), len(potentials.log_on)
    with np.errstate(invalid="ignore"):
        usual = expit(potentials.log_on - potentials.log_off)
    corners = np.random.default_rng(0).integers(0, 2, (N_STARTS, K)).astype(float)
    if memory is None:
        begun = [usual, np.full(K, 0.5), np.zeros(K), np.ones(K), *corners]
    else:
        begun = [memory.mean, usual, corners[memory.age % N_STARTS]]
    best, kept = np.full(len(at.base), -np.inf), np.zeros_like(at.linear)
    for start in begun:
        mean = _possible(potentials, np.array(np.broadcast_to(start, at.linear.shape)))
        mean = _settle(potentials, at, mean)
        value = _bound(potentials, at, mean)
        better = value > best
        best = np.where(better, value, best)
        kept[better] = mean[better]
    return best, kept, at


def _possible(potentials: FactorBits, mean: Array) -> Array:
    """Means that are 0 or 1 where the prior says so."""
    mean = np.where(potentials.log_on == -np.inf, 0.0, mean)
    return np.where(potentials.log_off == -np.inf, 1.0, mean)


def _settle(potentials: FactorBits, at: _Prepared, mean: Array) -> Array:
    """Means that no update changes any more; rows that have settled are left alone."""
    odds = potentials.log_on - potentials.log_off
    owner = potentials.rows.owner
    left = np.arange(len(mean))
    for _ in range(MOST_SWEEPS):
        own, linear = mean[left], at.linear[left]
        before = own.copy()
        quadratic = at.quadratic[owner[left]] if len(at.quadratic) > 1 else at.quadratic
        for k in range(own.shape[1]):
            line = quadratic[:, k, :]
            pull = (line * own).sum(1) - line[:, k] * own[:, k]
            own[:, k] = expit(odds[k] + linear[:, k] - 0.5 * line[:, k] - pull)
        mean[left] = own
        left = left[np.abs(own - before).max(1, initial=0.0) > STILL]
        if not len(left):
            break
    return mean


def _bound(potentials: FactorBits, at: _Prepared, mean: Array) -> Array:
    """E_q[log potentials] + H[q] of every row."""
    off = np.where(mean == 1.0, 0.0, potentials.log_off) * (1.0 - mean)
    on = np.where(mean == 0.0, 0.0, potentials.log_on) * mean
    entropy = entr(mean) + entr(1.0 - mean)
    quadratic = at.quadratic[potentials.rows.owner]
    spread = np.diagonal(quadratic, axis1=1, axis2=2) * (mean - mean * mean)
    squares = np.einsum("ni,nij,nj->n", mean, quadratic, mean) + spread.sum(1)
    inside = (off + on + entropy + at.linear * mean).sum(1)
    return np.asarray(at.base + inside - 0.5 * squares)


def _moments(rows: BinaryRows, mean: Array, square: Array) -> BinaryMoments:
    """Sums over rows."""
    weight, K = rows.weight, mean.shape[1]
    on = weight @ mean
    by_pattern = np.bincount(rows.owner, weight, len(rows.seen))
    weighed = weight[:, None] * rows.values
    columns = Regression(
        rows.seen.T @ by_pattern,
        (weighed * rows.values).sum(0),
        weighed.T @ mean,
        (rows.seen.T @ square.reshape(len(square), -1)).reshape(-1, K, K),
    )
    return BinaryMoments(np.column_stack([weight.sum() - on, on]), columns)
