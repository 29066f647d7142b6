"""Tests of continuous columns: Fisher's z of partial correlations."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from jensen.data import RowSource
from jensen.data.statistics import Coordinates, moments_of
from jensen.independence.testing import (
    Around,
    Array,
    Ends,
    Given,
    Measured,
    Question,
    Verdict,
    search_in_turn,
    unit_near_one,
)

NO_SPREAD = "no spread: one of the two is constant, or a linear function of what is given"
"""The note of a test with a constant column; its p-value is 1."""

TOO_FEW = "too few rows: Fisher's z needs four more than there are columns given"
"""The note of a test that has too few rows; its p-value is 1."""

TINY = 1e-10
"""A residual variance below this share is rounding: other columns determine the column."""

KEPT = 64
"""Correlation matrices in the cache, one for every set of columns with missing values."""


class GaussianTests:
    """Tests of the continuous columns of one table.

    The partial correlation r of two columns given k others gives z = √(n - k - 3) artanh r, which
    is about standard normal if they are independent (Fisher 1924). Rows count as often as their
    weights say.
    """

    def __init__(self, table: RowSource) -> None:
        self.table = table.counted()
        self.names = tuple(sorted(table.names))
        ranges = [self.table.range_of(name) for name in self.names]
        self._unit = np.array([unit_near_one(least, most) for _, least, most in ranges])
        self._incomplete = {self.names.index(name) for name in self.table.n_missing()}
        self._correlations = lru_cache(KEPT)(self._correlate)

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """The full result of one test."""
        used = self._incomplete_of((a, b, given))
        n = self._correlations(used)[0]
        r, has_spread = self._partial_correlations(used, [(a, b, given)])
        z, freedom = fisher_z(r, n - len(given) - 3), n - len(given) - 3
        note = TOO_FEW if freedom < 1 else "" if has_spread[0] else NO_SPREAD
        found = float(r[0]) if has_spread[0] else None
        return Measured(float(z[0]), int(freedom), float(_log_p(z)[0]), n, note, found)

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """(T,): the logarithms of the p-values of some tests, all of one shape at once."""
        groups: dict[tuple[Given, int], list[int]] = {}
        for i, question in enumerate(questions):
            key = self._incomplete_of(question), len(question[2])
            groups.setdefault(key, []).append(i)
        out = np.empty(len(questions))
        for (used, _), chosen in groups.items():
            out[chosen] = _log_p(self._z(used, [questions[i] for i in chosen]))
        return out

    def search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float
    ) -> list[Verdict]:
        """Look for sets of this size that separate pairs."""
        return search_in_turn(self.log_p_values, pairs, around, size, log_alpha)

    def _incomplete_of(self, question: Question) -> Given:
        """The columns of a test that have missing values."""
        a, b, given = question
        return tuple(sorted(self._incomplete.intersection((a, b, *given))))

    def _correlate(self, used: Given) -> tuple[float, Array]:
        """The weight of the rows that are complete in some columns, and the correlations there.

        Other columns with missing values are left out; they and constant columns have the
        correlation 0 with all columns.
        """
        rest = self._incomplete.difference(used)
        columns = [v for v in range(len(self.names)) if v not in rest]
        table = self.table.complete_rows([self.names[v] for v in used])
        names = [self.names[v] for v in columns]
        origin = np.array([table.range_of(name).first for name in names])
        moments = moments_of(table, names, Coordinates(origin, self._unit[columns]))
        spread = np.sqrt(np.diag(moments.scatter))
        flat = spread == 0.0
        scatter = moments.scatter / np.outer(*2 * [np.where(flat, 1.0, spread)])
        full = np.zeros((len(self.names), len(self.names)))
        full[np.ix_(columns, columns)] = scatter
        return moments.weight, full

    def _z(self, used: Given, questions: Sequence[Question]) -> Array:
        """Fisher's z of tests with equally many conditions."""
        n = self._correlations(used)[0]
        return fisher_z(
            self._partial_correlations(used, questions)[0], n - len(questions[0][2]) - 3
        )

    def _partial_correlations(
        self, used: Given, questions: Sequence[Question]
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Partial correlations, 0 where a column does not vary, and whether both do."""
        matrix = self._correlations(used)[1]
        ends = np.array([question[:2] for question in questions], np.int64)
        given = np.array([question[2] for question in questions], np.int64)
        covariance = _partial(matrix, ends, given.reshape(len(questions), -1))
        one, other = covariance[:, 0, 0], covariance[:, 1, 1]
        has_spread = np.minimum(one, other) > TINY
        scale = np.sqrt(np.where(has_spread, one * other, 1.0))
        r = np.where(has_spread, np.clip(covariance[:, 0, 1] / scale, -1.0, 1.0), 0.0)
        return r, has_spread


def fisher_z(r: Array, freedom: float) -> Array:
    """√freedom · artanh r; 0 where there are too few rows."""
    if freedom < 1:
        return np.zeros(len(r))
    with np.errstate(divide="ignore"):  # columns that determine each other: z is infinite
        return np.asarray(np.sqrt(freedom) * np.arctanh(r))


def _partial(matrix: Array, ends: NDArray[np.int64], given: NDArray[np.int64]) -> Array:
    """(m, 2, 2): covariances of pairs given others, by generalised inverses."""
    pair = matrix[ends[:, :, None], ends[:, None, :]]
    if not given.shape[1]:
        return np.asarray(pair)
    cross = matrix[ends[:, :, None], given[:, None, :]]
    inner = matrix[given[:, :, None], given[:, None, :]]
    inverse = np.linalg.pinv(inner, rcond=TINY, hermitian=True)
    return np.asarray(pair - cross @ inverse @ cross.transpose(0, 2, 1))


def _log_p(z: Array) -> Array:
    """The logarithm of the two-sided p-value."""
    return np.asarray(np.minimum(np.log(2.0) + log_ndtr(-np.abs(z)), 0.0))
