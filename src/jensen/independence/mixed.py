"""Likelihood-ratio tests of mixed columns, by conditional-Gaussian regressions.

One of the two columns is the response: a continuous one if there is any, else the one with fewer
states. For every configuration of the categorical conditions the response has its own regression on
the continuous conditions: linear with its own variance, or multinomial logistic. The test compares
the regressions with and without the other column. For two continuous columns it does not matter
which is the response.

A configuration is left out, with and without the other column, if it has fewer rows than the
regression has coefficients plus two. Which configurations these are depends only on the conditions
of the response, so the test stays valid.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.independence.categorical import log_tail
from jensen.independence.counted import state_tests
from jensen.independence.testing import (
    Around,
    Array,
    Ends,
    Given,
    Measured,
    Question,
    Verdict,
    near_one,
    search_in_turn,
)
from jensen.support.machine import one_blas_thread

Codes = NDArray[np.int64]

EXACT = 1e-20
"""A residual sum of squares below this share is rounding: the fit is exact."""

NOTHING_LEFT = "nothing to compare: no configuration has enough rows, or the response is constant"
"""The note of a test without degrees of freedom; its p-value is 1."""

MOST_STEPS = 60
"""Where states can be told apart without error the likelihood rises for ever, by less and less."""

RIDGE = 1e-9
"""Keeps Newton's step finite there; it changes the way up and not where it leads."""

TOLERANCE = 1e-10
"""Gains that are a smaller share of the likelihood end the climb."""


class Stratum(NamedTuple):
    """The rows of a test in one configuration of the categorical conditions."""

    response: Array  # (n,): numbers, or codes of states
    other: Array  # (n,): numbers, or codes of states
    numbers: Array  # (n, k): the continuous conditions
    weights: Array  # (n,)

    def take(self, chosen: NDArray[np.bool_]) -> "Stratum":
        """The rows that are flagged."""
        return Stratum(*(part[chosen] for part in self))


class Gain(NamedTuple):
    """What the other column adds: twice the log-likelihood, parameters, and the rows used."""

    statistic: float
    degrees_of_freedom: int
    weight: float


class MixedTests:
    """Tests of the columns of one table, categorical and continuous.

    Of rows that are not in memory, a test with a number holds the columns that it is about.
    """

    def __init__(self, table: RowSource) -> None:
        counted = table.counted()
        self.names = tuple(sorted(counted.names))
        self.table = counted
        self.is_number = [counted.variable(name).kind != "categorical" for name in self.names]
        states = [
            name for name, number in zip(self.names, self.is_number, strict=True) if not number
        ]
        self._states = state_tests(counted.select(states))

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """The full result of one test."""
        if not any(self.is_number[v] for v in (a, b, *given)):
            places = [self._states.names.index(self.names[v]) for v in (a, b, *given)]
            return self._states.measure(places[0], places[1], tuple(places[2:]))
        response, other = self._response(a, b)
        is_number = self.is_number[response], self.is_number[other]
        gains = [_gain(rows, *is_number) for rows in self._strata(response, other, given)]
        statistic = max(sum(gain.statistic for gain in gains), 0.0)
        df = sum(gain.degrees_of_freedom for gain in gains)
        n = float(sum(gain.weight for gain in gains))
        if df == 0:
            return Measured(0.0, 0, 0.0, n, NOTHING_LEFT)
        return Measured(statistic, df, log_tail(statistic, df), n)

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """One by one."""
        return np.array([self.measure(*question).log_p for question in questions])

    def search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float
    ) -> list[Verdict]:
        """One by one."""
        return search_in_turn(self.log_p_values, pairs, around, size, log_alpha, together=1)

    def _response(self, a: int, b: int) -> tuple[int, int]:
        """(response, other): continuous before categorical, then fewer states, then by name."""
        sizes = {v: self.table.variable(self.names[v]).n_states for v in (a, b)}
        response = min((a, b), key=lambda v: (not self.is_number[v], sizes[v], v))
        return response, b if response == a else a

    def _strata(self, response: int, other: int, given: Given) -> Iterator[Stratum]:
        """The complete rows, split by the configurations of the categorical conditions."""
        members = (response, other, *sorted(given))
        table = self.table.gather([self.names[v] for v in members])
        columns = [table.column(self.names[v]) for v in members]
        complete = ~np.any([column.missing() for column in columns], axis=0)
        data = [column.data[complete].astype(np.float64) for column in columns]
        weights = table.weights
        counts = np.ones(complete.sum()) if weights is None else weights[complete]
        stratum = np.zeros(len(counts), np.int64)
        numbers = []
        for v, values in zip(members[2:], data[2:], strict=True):
            if self.is_number[v]:
                numbers.append(_standard(values))
            else:
                codes = stratum * (int(values.max(initial=0)) + 1) + values.astype(np.int64)
                stratum = np.unique(codes, return_inverse=True)[1]
        ends = [
            _standard(values) if self.is_number[v] else values
            for v, values in zip(members[:2], data[:2], strict=True)
        ]
        wide = np.stack(numbers, axis=1) if numbers else np.empty((len(counts), 0))
        rows = Stratum(ends[0], ends[1], wide, counts)
        for k in range(int(stratum.max(initial=-1)) + 1):
            yield rows.take(stratum == k)


def _standard(values: Array) -> Array:
    """Scale to mean 0 and variance 1 (constants to 0), which changes no likelihood ratio."""
    if not len(values):
        return values
    values = near_one(values)
    away = values - values[0]
    away -= away.mean()
    spread = float(away.std())
    return np.asarray(away / spread if spread > 0.0 else away)


def _gain(rows: Stratum, response_is_number: bool, other_is_number: bool) -> Gain:
    if other_is_number:
        return _with_number(rows)
    fewest = rows.numbers.shape[1] + 3
    codes = rows.other.astype(np.int64)
    sizes = np.bincount(codes, rows.weights)
    rows = rows.take(sizes[codes] >= fewest)
    if response_is_number:
        return _with_states(rows)
    return _states_with_states(rows)


def _with_number(rows: Stratum) -> Gain:
    """The gain of a further continuous regressor in a linear regression."""
    n = float(rows.weights.sum())
    if n < rows.numbers.shape[1] + 4:
        return Gain(0.0, 0, 0.0)
    before = _regression(rows.response, _design(rows.numbers), rows.weights)
    wider = np.column_stack([rows.numbers, rows.other])
    after = _regression(rows.response, _design(wider), rows.weights)
    if before.left == 0.0 or after.rank == before.rank:
        return Gain(0.0, 0, n)
    if after.left == 0.0:
        return Gain(np.inf, 1, n)
    return Gain(n * float(np.log(before.left / after.left)), after.rank - before.rank, n)


def _with_states(rows: Stratum) -> Gain:
    """The gain of one linear regression per state over a common one."""
    n = float(rows.weights.sum())
    if not n:
        return Gain(0.0, 0, 0.0)
    before = _regression(rows.response, _design(rows.numbers), rows.weights)
    if before.left == 0.0:
        return Gain(0.0, 0, n)
    statistic, df = n * float(np.log(before.left / n)), -(before.rank + 1)
    for part in _by_state(rows):
        here = float(part.weights.sum())
        after = _regression(part.response, _design(part.numbers), part.weights)
        df += after.rank + 1
        statistic -= here * float(np.log(after.left / here)) if after.left else -np.inf
    return Gain(statistic, df, n) if df else Gain(0.0, 0, n)


def _states_with_states(rows: Stratum) -> Gain:
    """The gain of one logistic regression per state over a common one."""
    n = float(rows.weights.sum())
    if not n:
        return Gain(0.0, 0, 0.0)
    before, rank = _classification(rows)
    n_states = len(np.unique(rows.response))
    statistic, df = -before, -rank
    for part in _by_state(rows):
        after, here = _classification(part)
        statistic += after
        df += here
    df *= n_states - 1
    return Gain(2.0 * statistic, df, n) if df > 0 else Gain(0.0, 0, n)


def _by_state(rows: Stratum) -> Iterator[Stratum]:
    for state in np.unique(rows.other):
        yield rows.take(rows.other == state)


class _Regression(NamedTuple):
    left: float  # the sum of squares, 0 if only rounding is left
    rank: int


@one_blas_thread()
def _regression(response: Array, design: Array, weights: Array) -> _Regression:
    roots = np.sqrt(weights)
    scaled = response * roots
    fit, _, rank, _ = np.linalg.lstsq(design * roots[:, None], scaled, rcond=None)
    left = float(np.sum((scaled - (design * roots[:, None]) @ fit) ** 2))
    # the response has variance 1 over all rows of the test
    return _Regression(left if left > EXACT * max(1.0, float(weights.sum())) else 0.0, int(rank))


def _design(numbers: Array) -> Array:
    return np.column_stack([np.ones(len(numbers)), numbers])


@one_blas_thread()
def _classification(rows: Stratum) -> tuple[float, int]:
    """The log-likelihood of a logistic regression, and the number of coefficients per state."""
    left, sizes, _ = np.linalg.svd(_design(rows.numbers), full_matrices=False)
    rank = int(np.sum(sizes > 1e-10 * sizes[0]))
    codes = np.unique(rows.response, return_inverse=True)[1].astype(np.int64)
    features = left[:, :rank] * np.sqrt(len(left))
    return largest_likelihood(features, codes, rows.weights), rank


def largest_likelihood(features: Array, codes: NDArray[np.int64], weights: Array) -> float:
    """The maximum of Σ w log p(code | features) in a multinomial logistic regression.

    The columns of `features` must be linearly independent.

    Parameters
    ----------
    features : (n, p)
    codes : (n,), 0 .. r - 1, all of which occur
    weights : (n,), positive
    """
    r, p = int(codes.max()) + 1, features.shape[1]
    target = np.zeros((len(codes), r))
    target[np.arange(len(codes)), codes] = 1.0
    beta = np.zeros((r - 1, p))
    here, shares = _look(features, target, weights, beta)
    for _ in range(MOST_STEPS):
        gradient = ((target - shares)[:, :-1] * weights[:, None]).T @ features
        step = np.linalg.solve(_curvature(features, shares, weights), gradient.ravel())
        length, before = 1.0, here
        while length > 1e-6:
            tried = beta + length * step.reshape(beta.shape)
            here, shares = _look(features, target, weights, tried)
            if here >= before:
                break
            length /= 2.0
        else:
            return before
        beta = tried
        if here - before < TOLERANCE * (1.0 + abs(here)):
            break
    return here


def _look(features: Array, target: Array, weights: Array, beta: Array) -> tuple[float, Array]:
    """The likelihood, and the probabilities of all states in every row."""
    scores = np.hstack([features @ beta.T, np.zeros((len(features), 1))])
    scores -= scores.max(1, keepdims=True)
    log_total = np.log(np.exp(scores).sum(1, keepdims=True))
    log_shares = scores - log_total
    return float(weights @ (target * log_shares).sum(1)), np.exp(log_shares)


def _curvature(features: Array, shares: Array, weights: Array) -> Array:
    """Minus the second derivatives, states slowest."""
    free = shares[:, :-1]
    r, p = free.shape[1], features.shape[1]
    out = np.empty((r, p, r, p))
    for i in range(r):
        for j in range(r):
            by_row = weights * free[:, i] * ((i == j) - free[:, j])
            out[i, :, j] = features.T @ (by_row[:, None] * features)
    flat = out.reshape(r * p, r * p)
    return np.asarray(flat + RIDGE * (1.0 + np.trace(flat)) * np.eye(r * p))
