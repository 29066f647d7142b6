"""Scores of numbers given labels and numbers: a regression in every configuration of the labels.

For label parents D and number parents C the score of a number x is the sum, over the configurations
d of D, of L_d(C + x) - L_d(C), where L_d is the set function of a Gaussian score (BGe, or the
maximised likelihood) on the rows in d. The moments of all numbers by the configurations of D serve
all families with these label parents. A configuration without rows adds exactly 0 to the evidence,
and to a penalised likelihood its parameters.

References: Lauritzen and Wermuth (1989), *Graphical models for associations between variables, some
of which are qualitative and some quantitative*, Annals of Statistics 17; Geiger and Heckerman
(1994), *Learning Gaussian networks*, UAI.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.statistics import Coordinates
from jensen.exceptions import DataError
from jensen.families.schur import Left
from jensen.scores.gaussian import GaussianScore
from jensen.scores.set_functions import sizes_of_sets
from jensen.support.fields import add_at
from jensen.support.machine import check_memory

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = tuple[int, ...]

DENSE_BYTES = 1 << 25
"""Configurations have moments in a table of at most this size; beyond, those that occur only."""

KEPT_BYTES = 1 << 27
"""The most memory of the moments that are kept; they are forgotten when it is full."""

MOST_KEPT = 1 << 16
"""The most families whose scores are kept."""

LEAST = 1e-26
"""A smaller share of its squared range is the rounding of a column that is constant."""

NOISE = 1e-13
"""A smaller share of a number that others leave is rounding, as in `jensen.kernels`."""

AT_ONCE = 1 << 20
"""Log determinants that are computed at once."""


def configuration_numbers(
    codes: Sequence[Ints], cards: Sequence[int], labels: Labels, n_rows: int, size: int
) -> tuple[Ints, int]:
    """(rows,): the number of each row's configuration, and how many there are.

    Where a table of `size` bytes for each is too large, they are numbered as they occur.
    """
    number, n = np.zeros(n_rows, np.int64), 1
    for v in labels:
        number, n = number * cards[v] + codes[v], n * cards[v]
        if n * size > DENSE_BYTES:
            found, number = np.unique(number, return_inverse=True)
            n = len(found)
    return number, n


class Groups(NamedTuple):
    """The rows by the configuration of some labels; configurations without rows are left out."""

    n_configs: float  # all that the labels can have
    counts: Array  # (K,): the weight of each group
    matrices: Array  # (K, m, m): the matrix of the score


class Function(NamedTuple):
    """A number that other numbers fix in one configuration of labels."""

    number: int
    others: tuple[int, ...]  # none: it is constant there
    codes: list[int]  # of the labels
    weight: float  # of the rows


@dataclass(frozen=True, eq=False)
class ConditionalGaussian:
    """Scores of columns of numbers, by their place, given labels, by theirs.

    A family without a maximum of the likelihood (a configuration in which the numbers are linear
    functions of each other, or has too few rows for them) scores -inf.

    Parameters
    ----------
    rows : (N, m) array
        The numbers, in coordinates in which columns have ranges of about 1.
    weights : (N,) array
        How often each row counts, above 0.
    labels : sequence of (N,) arrays
        The codes of the labels.
    cards
        How many states each label has.
    formula
        The Gaussian score without its penalty, in the same coordinates.
    price
        What is taken off for every free parameter, by the weight of all rows; None: nothing.
    spreads
        Where numbers are expected and not known: numbers (m,), rows (R,), covariances (R, m, m).
    """

    rows: Array
    weights: Array
    labels: Sequence[Ints]
    cards: Sequence[int]
    formula: GaussianScore
    price: Callable[[float], float] | None
    spreads: Sequence[tuple[Ints, Ints, Array]] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        labels: Sequence[str],
        numbers: Sequence[str],
        coordinates: Coordinates,
        formula: GaussianScore,
        price: Callable[[float], float] | None,
    ) -> ConditionalGaussian:
        """The scores of columns of a complete table."""
        columns = np.empty((table.n_rows, len(numbers)))
        for k, name in enumerate(numbers):
            columns[:, k] = table.column(name).data
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        codes = [table.column(name).data.astype(np.int64) for name in labels]
        cards = [table.variable(name).n_states for name in labels]
        return cls(coordinates.values(columns), weights, codes, cards, formula, price)

    def without(self, rows: NDArray[np.bool_], name: str) -> ConditionalGaussian:
        """The scores by the other rows, of a variable that was set in these."""
        if rows.all():
            raise DataError(f"{name!r} was set in every row, so none is left to score it by")
        codes = [each[~rows] for each in self.labels]
        place, spreads = np.cumsum(~rows) - 1, []
        for numbers, at, covariances in self.spreads:
            kept = ~rows[at]
            spreads.append((numbers, place[at[kept]], covariances[kept]))
        return replace(
            self, rows=self.rows[~rows], weights=self.weights[~rows], labels=codes, spreads=spreads
        )

    @cached_property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @cached_property
    def penalty(self) -> float:
        """What is taken off for every free parameter."""
        return 0.0 if self.price is None else self.price(self.weight)

    @cached_property
    def _known(self) -> dict[Labels, Groups]:
        return {}

    @cached_property
    def _scored(self) -> dict[tuple[int, Labels, tuple[int, ...]], float]:
        return {}

    def configurations(self, labels: Labels) -> tuple[Ints, int]:
        """(N,): the number of each row's configuration of the labels, and how many there are.

        Where there are too many for a table they are numbered in rising order as they occur.
        """
        size = 8 * self.rows.shape[1] ** 2 + 8
        return configuration_numbers(self.labels, self.cards, labels, len(self.rows), size)

    def groups(self, labels: Labels) -> Groups:
        """The rows by the configuration of these labels, which are sorted."""
        found = self._known.get(labels)
        if found is None:
            found = self._count(labels)
            used = sum(groups.matrices.nbytes for groups in self._known.values())
            if used + found.matrices.nbytes > KEPT_BYTES:
                self._known.clear()
            self._known[labels] = found
        return found

    def _count(self, labels: Labels) -> Groups:
        from jensen.kernels.conditional_gaussians import group_moments

        number, n = self.configurations(labels)
        m = self.rows.shape[1]
        check_memory(
            24.0 * n * m * m, f"the moments of {m} columns in {n:,} configurations of labels",
            "leave out columns, or set a lower max_parents",
        )  # fmt: skip
        count, mean, scatter = np.zeros(n), np.zeros((n, m)), np.zeros((n, m, m))
        group_moments(self.rows, self.weights, number, count, mean, scatter)
        for numbers, at, covariances in self.spreads:
            block = np.zeros((n, len(numbers), len(numbers)))
            add_at(block, number[at], self.weights[at, None, None] * covariances)
            scatter[:, numbers[:, None], numbers] += block
        occurs = count > 0.0
        if not occurs.all():
            count, mean, scatter = count[occurs], mean[occurs], scatter[occurs]
        matrices = np.ascontiguousarray(self.formula.matrix(count, mean, scatter))
        return Groups(math.prod(float(self.cards[v]) for v in labels), count, matrices)

    # --- families ---

    def family(self, child: int, labels: Labels, parents: Sequence[int]) -> float:
        """The score of a number given labels and numbers, which are sorted."""
        key = child, labels, tuple(parents)
        found = self._scored.get(key)
        if found is None:
            if len(self._scored) >= MOST_KEPT:
                self._scored.clear()
            found = self._scored[key] = self._family(child, labels, parents)
        return found

    def _family(self, child: int, labels: Labels, parents: Sequence[int]) -> float:
        groups, above = self.groups(labels), np.array(parents, np.int64)
        data = self._leave(groups.matrices, groups.counts, child, above)
        prior = self.formula.prior
        before = None if prior is None else self._leave(prior[None], np.zeros(1), child, above)
        found = self.formula.local(groups.counts, len(parents), data, before)
        return self._less(float(found.sum()), groups, len(parents))

    def with_numbers(self, child: int, labels: Labels, parents: Sequence[int]) -> Array:
        """(m,): the score with each other number as a further parent; at the child without any."""
        groups, above = self.groups(labels), np.array(parents, np.int64)
        data = self._leave_with_each(groups.matrices, groups.counts, child, above)
        prior = self.formula.prior
        before = None
        if prior is not None:
            before = self._leave_with_each(prior[None], np.zeros(1), child, above)
        weights = groups.counts[:, None]
        with np.errstate(invalid="ignore"):  # entries for the parents mean nothing
            found = self.formula.local(weights, len(parents) + 1, data, before).sum(0)
        found -= self.penalty * (len(parents) + 3) * groups.n_configs
        found[np.isnan(found)] = -np.inf
        found[child] = self.family(child, labels, parents)
        return np.asarray(found)

    def lost(self, child: int, labels: Labels, parents: Sequence[int]) -> tuple[list[int], float]:
        """The first configuration (codes) in which a family has no likelihood, and its weight."""
        groups = self.groups(labels)
        data = self._leave(groups.matrices, groups.counts, child, np.array(parents, np.int64))
        place = int(np.flatnonzero(np.isnan(data.residual))[0])
        return self._codes(labels, place), float(groups.counts[place])

    def function_of_others(self, labels: Labels) -> Function | None:
        """The first number that others fix in a configuration with rows enough to tell; or none."""
        groups = self.groups(labels)
        left, open_ = groups.matrices.copy(), np.ones(len(groups.counts), bool)
        for v in range(left.shape[1]):
            own = groups.matrices[:, v, v]
            is_left = left[:, v, v] > NOISE * own + LEAST * groups.counts
            for k in np.flatnonzero(open_ & ~is_left).tolist():
                others = list(range(v))
                for u in range(v):
                    few = [x for x in others if x != u]
                    if math.isnan(self._left_of(groups, k, v, few)):
                        others = few
                if groups.counts[k] >= len(others) + 2:
                    return Function(v, tuple(others), self._codes(labels, k), groups.counts[k])
            open_ &= is_left
            column = left[:, :, v] / np.where(is_left, left[:, v, v], 1.0)[:, None]
            left -= column[:, :, None] * left[:, None, v, :]
        return None

    def _left_of(self, groups: Groups, k: int, child: int, parents: Sequence[int]) -> float:
        one, count = groups.matrices[k : k + 1], groups.counts[k : k + 1]
        return float(self._leave(one, count, child, np.array(parents, np.int64)).residual[0])

    def _codes(self, labels: Labels, k: int) -> list[int]:
        """The states of labels in a group of rows."""
        number, _ = self.configurations(labels)
        row = int(np.flatnonzero(number == np.unique(number)[k])[0])
        return [int(self.labels[v][row]) for v in labels]

    def _leave(self, matrices: Array, counts: Array, child: int, parents: Ints) -> Left:
        from jensen.kernels.conditional_gaussians import leave

        residual, log_det = np.empty((2, len(counts)))
        leave(matrices, counts, child, parents, residual, log_det)
        return Left(residual, log_det, residual)

    def _leave_with_each(self, matrices: Array, counts: Array, child: int, parents: Ints) -> Left:
        from jensen.kernels.conditional_gaussians import leave_with_each

        residual, log_det = np.empty((2, len(counts), matrices.shape[1]))
        leave_with_each(matrices, counts, child, parents, residual, log_det)
        return Left(residual, log_det, residual)

    def _less(self, value: float, groups: Groups, n_parents: int) -> float:
        """A likelihood less its penalty: slopes, an intercept and a variance are free."""
        if math.isnan(value):
            return -math.inf
        return value - self.penalty * (n_parents + 2) * groups.n_configs

    # --- sets of numbers ---

    def single_values(self, labels: Labels) -> Array:
        """(m,): the sum over configurations of L_d of each number alone; -inf if it has none."""
        groups, prior = self.groups(labels), self.formula.prior
        own = np.diagonal(groups.matrices, axis1=1, axis2=2)
        with np.errstate(divide="ignore"):
            log_own = np.where(own > LEAST * groups.counts[:, None], np.log(own), np.nan)
        before = np.zeros(1) if prior is None else np.log(np.diagonal(prior))
        found = self.formula.of_set(groups.counts[:, None], 1, log_own, before).sum(0)
        found -= self.penalty * 2.0 * groups.n_configs
        found[np.isnan(found)] = -np.inf
        return np.asarray(found)

    def set_value(self, labels: Labels, members: Sequence[int]) -> float:
        """The sum over configurations of L_d of one set of numbers; -inf if it has none."""
        total = 0.0
        for k, v in enumerate(members):
            total += self.family(v, labels, members[:k])
        return total

    def set_values(self, labels: Labels, members: Sequence[int], largest: int) -> Array:
        """(2ᵏ,): the sum over configurations of L_d of every set of k numbers, by its bits.

        Sets of more than `largest` members have -inf, as those without a likelihood.
        """
        from jensen.kernels.conditional_gaussians import set_log_dets

        groups, k, at = self.groups(labels), len(members), np.ix_(members, members)
        check_memory(8.0 * 8 * 2.0**k, f"the values of all subsets of {k} columns", "take fewer")
        sizes, found = sizes_of_sets(k), np.zeros(2**k)
        before = np.zeros((1, 2**k))
        if self.formula.prior is not None:
            prior = np.ascontiguousarray(self.formula.prior[at])[None]
            set_log_dets(prior, np.zeros(1), largest, before)
        step = max(1, AT_ONCE >> k)
        for start in range(0, len(groups.counts), step):
            counts = groups.counts[start : start + step]
            part = groups.matrices[start : start + step]
            matrices = np.ascontiguousarray(part[:, at[0], at[1]])
            log_dets = np.full((len(counts), 2**k), np.nan)
            set_log_dets(matrices, counts, largest, log_dets)
            for size in range(1, min(k, largest) + 1):
                of = sizes == size
                values = self.formula.of_set(counts[:, None], size, log_dets[:, of], before[:, of])
                found[of] += values.sum(0)
        each = sizes.astype(np.float64)
        found -= self.penalty * groups.n_configs * 0.5 * each * (each + 3.0)
        found[np.isnan(found) | (sizes > largest)] = -np.inf
        return found
