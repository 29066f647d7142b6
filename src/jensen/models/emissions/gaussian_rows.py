"""Rows under full Gaussians: at one θ, or under the predictive distribution of each state.

Rows that miss the same columns form a `Pattern` and are handled together. The potentials leave a
Gaussian with precision E[Λ]_mm for the missing values x_m of a row, whatever q(θ) is; at a point θ
it is the exact conditional distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.gamma_ratio import log_rising
from jensen.families.normal_wishart import NormalWishart
from jensen.families.tied import Tied
from jensen.q_hidden.structures import SUM, FastObserved, ReadMode, StateCounts
from jensen.support.machine import pooled_array
from jensen.support.row_records import ChainSums, ChainTables, room_size

if TYPE_CHECKING:
    from jensen.models.emissions.gaussian import Gaussian

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))


class GaussianComponents(NamedTuple):
    """The log density of state k: constant_k - (x - mean_k)ᵀ precision_k (x - mean_k) / 2."""

    constant: Array  # (K,)
    mean: Array  # (K, D)
    precision: Array  # (K, D, D)
    roots: dict[bytes, Array]  # factors of the precisions by what is missing, for all units


ROOTS = 1 << 22
"""Numbers in all factors that are kept for other units; beyond, each unit makes its own."""


class _GaussianRows:
    """Rows by pattern, and the distance of each from every state."""

    def __init__(
        self,
        emission: Gaussian,
        mean: Array,
        precision: Array,
        rows: tuple[Pattern, ...],
        shared: dict[bytes, Array] | None = None,
    ) -> None:
        self.emission = emission
        self.mean = mean
        self.precision = np.array(precision, order="C")  # a kernel wants to own it
        self.rows = rows
        self.roots: dict[int, Array] = {}  # of each pattern, when it is first looked at
        self.shared = {} if shared is None else shared

    def root(self, p: int) -> Array:
        """Cholesky factors of the precisions, the missing columns first: (K, D, D)."""
        from jensen.kernels.gaussians import factor

        if p not in self.roots:
            key = self.rows[p].order.tobytes()
            found = self.shared.get(key)
            if found is None:
                found = np.empty_like(self.precision)
                factor(self.precision, self.rows[p].order, found)
                if len(self.shared) * found.size < ROOTS:
                    self.shared[key] = found
            self.roots[p] = found
        return self.roots[p]

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, int, NDArray[np.int64]]]:
        """For every pattern: where its rows of this segment begin and end, and their places."""
        for p, pattern in enumerate(self.rows):
            a, b = np.searchsorted(pattern.rows, [start, stop])
            if a < b:
                yield p, int(a), int(b), pattern.rows[a:b] - start

    def distances(self, p: int, a: int, b: int) -> Array:
        """(K, rows): squared distances, by what is seen of the rows a..b of a pattern."""
        from jensen.kernels.gaussians import squared_distances

        pattern = self.rows[p]
        m = pattern.n_missing
        root = np.ascontiguousarray(self.root(p)[:, m:, m:])
        mean = np.ascontiguousarray(self.mean[:, pattern.seen])
        out = pooled_array(len(mean), b - a)
        squared_distances(pattern.x, a, b, mean, root, out)
        return out

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows), whatever the reading, for what is missing here is real numbers."""
        out = pooled_array(len(self.mean), stop - start)
        for p, a, b, places in self.parts(start, stop):
            found = self.log_density(p, self.distances(p, a, b))
            if len(places) == stop - start:
                return found
            out[:, places] = found
        return out

    def log_density(self, p: int, distance: Array) -> Array:
        """Of rows of a pattern at these squared distances."""
        raise NotImplementedError


class ObservedGaussian(_GaussianRows, FastObserved):
    """Rows at one θ."""

    def __init__(
        self, emission: Gaussian, components: GaussianComponents, rows: tuple[Pattern, ...]
    ) -> None:
        super().__init__(emission, components.mean, components.precision, rows, components.roots)
        self.constant = components.constant

    def log_density(self, p: int, distance: Array) -> Array:
        """The quadratic, what is missing integrated out."""
        m = self.rows[p].n_missing
        constant = self.constant + 0.5 * m * LOG_2PI - _half_log_det(self.root(p)[:, :m, :m])
        distance *= -0.5
        distance += constant[:, None]
        return distance

    def stats(
        self, start: int, stop: int, nodes: Array, how: ReadMode = SUM
    ) -> NormalWishart | Tied:
        """Counts and moments."""
        K, D = self.mean.shape
        first, second = np.zeros((K, D)), np.zeros((K, D, D))
        for p, a, b, places in self.parts(start, stop):
            whole = len(places) == stop - start
            here = nodes if whole else np.ascontiguousarray(nodes[:, places])
            order = self.rows[p].order
            if how.rng is not None and self.rows[p].n_missing:
                x = self._completed(p, a, b, here, how.rng)
                a_first, a_second = _moments(x, 0, b - a, here)
            else:
                a_first, a_second = _moments(self.rows[p].x, a, b, here)
                a_first, a_second = self._expected(p, here.sum(1), a_first, a_second)
            first[:, order] += a_first
            second[:, order[:, None], order] += a_second
        return self.emission.gather(nodes.sum(1), first, second)

    @property
    def is_complete(self) -> bool:
        """Whether no value is missing, so that one kernel does everything."""
        return len(self.rows) == 1 and self.rows[0].n_missing == 0

    def expected_rows(self, log_weights: Array, weight: Array) -> tuple[Array, StateCounts] | None:
        """Log Z of every row and the statistics under p(state | row), if nothing is missing."""
        from jensen.kernels.gaussians import learn_rows

        if not self.is_complete:
            return None
        K, D = self.mean.shape
        value, states = pooled_array(len(weight)), np.zeros(K)
        first, second = np.zeros((K, D)), np.zeros((K, D, D))
        learn_rows(
            self.rows[0].x, weight, log_weights, self.mean, self.root(0), self.constant,
            value, states, first, second,
        )  # fmt: skip
        return value, StateCounts(states, self.emission.gather(states, first, _mirrored(second)))

    def expected_chains(
        self,
        tables: ChainTables,
        start: int,
        spans: NDArray[np.int64],
        weight: Array,
        sums: ChainSums,
    ) -> tuple[Array, NormalWishart | Tied] | None:
        """Log Z of sequences and the statistics of their rows, if nothing is missing."""
        from jensen.kernels.chains import learn_gaussian_chains

        if not self.is_complete:
            return None
        K, D = self.mean.shape
        log_z, room = np.zeros(len(spans)), pooled_array(room_size(spans, K))
        first, second = np.zeros((K, D)), np.zeros((K, D, D))
        learn_gaussian_chains(
            tables, spans, weight, self.rows[0].x, start, self.mean, self.root(0), self.constant,
            room, log_z, sums, first, second,
        )  # fmt: skip
        return log_z, self.emission.gather(sums.states, first, _mirrored(second))

    def _missing_given_seen(self, p: int) -> tuple[Array, Array, Array]:
        """x_m | x_o, k has mean a_k - G_k x_o and covariance C_k."""
        pattern, m = self.rows[p], self.rows[p].n_missing
        root = self.root(p)
        inverse = np.linalg.inv(root[:, :m, :m])
        turned = np.swapaxes(inverse, 1, 2)
        gain = turned @ np.swapaxes(root[:, m:, :m], 1, 2)
        mean_seen = self.mean[:, pattern.seen, None]
        base = self.mean[:, pattern.order[:m]] + (gain @ mean_seen)[:, :, 0]
        return base, gain, turned @ inverse

    def _expected(self, p: int, count: Array, first: Array, second: Array) -> tuple[Array, Array]:
        """Moments of all columns, the missing first, from those of what is seen."""
        if self.rows[p].n_missing == 0:
            return first, second
        base, gain, spread = self._missing_given_seen(p)
        shifted = (gain @ first[:, :, None])[:, :, 0]
        missing = count[:, None] * base - shifted
        cross = base[:, :, None] * first[:, None, :] - gain @ second
        square = missing[:, :, None] * base[:, None, :] + count[:, None, None] * spread
        square -= cross @ np.swapaxes(gain, 1, 2)
        full = np.block([[square, cross], [np.swapaxes(cross, 1, 2), second]])
        return np.concatenate([missing, first], axis=1), full

    def _completed(self, p: int, a: int, b: int, nodes: Array, rng: np.random.Generator) -> Array:
        """The rows a..b of a pattern with what is missing drawn, given the state of each."""
        pattern, m = self.rows[p], self.rows[p].n_missing
        x = np.empty((len(pattern.order), b - a))
        x[m:] = pattern.x[:, a:b]
        base, gain, spread = self._missing_given_seen(p)
        normal = rng.standard_normal((m, b - a))
        states = nodes.argmax(0)
        for k in np.unique(states):
            rows = states == k
            noise = np.linalg.cholesky(spread[k]) @ normal[:, rows]
            x[:m, rows] = base[k][:, None] - gain[k] @ x[m:, rows] + noise
        return x


class PredictedGaussian(_GaussianRows):
    """Rows under multivariate Student distributions."""

    def __init__(
        self,
        emission: Gaussian,
        freedom: Array,
        mean: Array,
        precision: Array,
        rows: tuple[Pattern, ...],
    ) -> None:
        super().__init__(emission, mean, precision, rows)
        self.freedom = freedom

    def log_density(self, p: int, distance: Array) -> Array:
        """The Student density of what is seen, which is a Student density too."""
        m = self.rows[p].n_missing
        log_det = _half_log_det(np.ascontiguousarray(self.root(p)[:, m:, m:]))
        return log_student(distance, self.freedom, log_det, self.mean.shape[1] - m)


def log_student(distance: Array, freedom: Array, half_log_det: Array, n_columns: int) -> Array:
    """Log density of Student distributions (K,) at squared distances (K, n)."""
    half = 0.5 * (freedom + n_columns)
    constant = log_rising(0.5 * freedom, 0.5 * n_columns) + half_log_det
    constant = constant - 0.5 * n_columns * np.log(freedom * np.pi)
    return np.asarray(constant[:, None] - half[:, None] * np.log1p(distance / freedom[:, None]))


def _half_log_det(root: Array) -> Array:
    """½ log|LLᵀ|, one for each state."""
    return np.asarray(np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1))


def _moments(x: Array, start: int, stop: int, nodes: Array) -> tuple[Array, Array]:
    """Σ nodes · x and Σ nodes · xxᵀ for each state."""
    from jensen.kernels.gaussians import add_moments

    K, D = len(nodes), len(x)
    first, second = np.zeros((K, D)), np.zeros((K, D, D))
    add_moments(x, start, stop, nodes, first, second)
    return first, _mirrored(second)


def _mirrored(second: Array) -> Array:
    """Symmetric matrices, of which the lower half is known."""
    rows, columns = _upper(second.shape[1])
    second[:, rows, columns] = second[:, columns, rows]
    return second


@cache
def _upper(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the upper half of a matrix is."""
    return np.triu_indices(n, 1)


class Pattern(NamedTuple):
    """Rows that miss the same columns."""

    order: NDArray[np.int64]  # (D,): the missing columns, then the others
    n_missing: int
    rows: NDArray[np.int64]  # (n,), rising
    x: NDArray[np.float64]  # (D - n_missing, n): their values, in the order of the columns above

    @property
    def seen(self) -> NDArray[np.int64]:
        """The columns that are not missing."""
        return self.order[self.n_missing :]


def patterns_of(values: NDArray[np.float64]) -> tuple[Pattern, ...]:
    """The patterns of rows (n, D)."""
    if not len(values):
        return ()
    missing = np.isnan(values)
    if not missing.any():
        n, D = values.shape
        return (Pattern(np.arange(D), 0, np.arange(n), np.ascontiguousarray(values.T)),)
    bits = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    return tuple(
        _pattern(values, missing[i], np.sort(by_group[start:stop]))
        for i, start, stop in zip(first, np.append(0, ends[:-1]), ends, strict=True)
    )


def _pattern(
    values: NDArray[np.float64], missing: NDArray[np.bool_], rows: NDArray[np.int64]
) -> Pattern:
    order = np.argsort(~missing, kind="stable").astype(np.int64)
    n_missing = int(missing.sum())
    x = np.ascontiguousarray(values[np.ix_(rows, order[n_missing:])].T)
    return Pattern(order, n_missing, rows.astype(np.int64), x)
