"""Node-average likelihoods of numbers, and of labels beside them: a family by the rows it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from jensen.data import Variable
from jensen.data.variable import Kind
from jensen.families import schur

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeAverages:
    """The average log-likelihood of a family times all rows, less a penalty; implements `Scorer`.

    A configuration of labels in which a number has fewer than p + 2 rows, or no spread, says
    nothing, and so does a family of which all configurations are such.
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]  # the numbers of states; 0 of numbers
    columns: tuple[Array, ...]  # codes or numbers, 0 where missing; empty if there is no column
    known: tuple[NDArray[np.bool_], ...]
    free: tuple[NDArray[np.bool_], ...]  # known, and not set from outside
    weights: Array
    penalty: float  # of one parameter
    log_unit: float  # the sum of log units in which numbers are read here

    is_set_function = False
    is_average = True

    @classmethod
    def of(
        cls,
        variables: Sequence[Variable],
        columns: Mapping[str, Array],
        weights: Array,
        targets: Ints | None,
        penalty: float,
        log_unit: float = 0.0,
    ) -> NodeAverages:
        """From columns of codes or numbers by name, NaN where they are missing.

        A variable without a column says nothing: it is hidden, or constant. `targets` are the
        variables that were set in each row, -1 for none; `log_unit` is the sum of the log units
        that the numbers had.
        """
        none = np.ones(len(weights), bool)
        found = [columns.get(variable.name, np.empty(0)) for variable in variables]
        known = [~np.isnan(column) if len(column) else none for column in found]
        free = known
        if targets is not None:
            free = [here & (targets != v) for v, here in enumerate(known)]
        return cls(
            tuple(variable.name for variable in variables),
            tuple(v.n_states if v.kind == "categorical" else 0 for v in variables),
            tuple(np.nan_to_num(column) for column in found),
            tuple(known),
            tuple(free),
            weights,
            penalty,
            log_unit,
        )

    @property
    def isolated(self) -> frozenset[int]:
        """Numbers without a column, which are constant."""
        pairs = zip(self.columns, self.cards, strict=True)
        return frozenset(v for v, (column, card) in enumerate(pairs) if not (len(column) or card))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What each variable is, if there are labels and numbers."""
        found: list[Kind] = ["categorical" if card else "continuous" for card in self.cards]
        return tuple(found) if 0 in self.cards and any(self.cards) else ()

    def unitless(self) -> NodeAverages:
        """These scores, which are of numbers in units of their own."""
        return self

    def log_jacobian_of_units(self) -> float:
        """What the score of every graph has more in the units of the columns."""
        return -self.total_weight * self.log_unit

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        if not len(self.columns[child]):
            return 0.0
        members = [p for p in parents if len(self.columns[p])]
        rows = self.free[child].copy()
        for p in members:
            rows &= self.known[p]
        labels = [p for p in members if self.cards[p]]
        numbers = [p for p in members if not self.cards[p]]
        if not rows.any() or (numbers and self.cards[child]):
            return self._unexplained(child, members)
        config, n_configs = np.zeros(int(rows.sum()), np.int64), 1
        for p in labels:
            config = config * self.cards[p] + self.columns[p][rows].astype(np.int64)
            n_configs *= self.cards[p]
        config = np.unique(config, return_inverse=True)[1].ravel()
        weight = self.weights[rows]
        if self.cards[child]:
            found = self._label(child, rows, config, weight)
            n_parameters = n_configs * (self.cards[child] - 1)
        else:
            found = self._number(child, numbers, rows, config, weight)
            n_parameters = n_configs * (len(numbers) + 2)
        if np.isnan(found):
            return self._unexplained(child, members)
        return self.total_weight * found - self.penalty * n_parameters

    def _label(self, child: int, rows: NDArray[np.bool_], config: Ints, weight: Array) -> float:
        """The average log-likelihood of a label."""
        card = self.cards[child]
        cell = config * card + self.columns[child][rows].astype(np.int64)
        counts = np.bincount(cell, weight, (int(config.max()) + 1) * card).reshape(-1, card)
        total = counts.sum(1)
        return float((xlogy(counts, counts).sum() - xlogy(total, total).sum()) / weight.sum())

    def _number(
        self,
        child: int,
        parents: Sequence[int],
        rows: NDArray[np.bool_],
        config: Ints,
        weight: Array,
    ) -> float:
        """The average log-likelihood of a number; NaN if no configuration has a likelihood."""
        table = np.column_stack([self.columns[v][rows] for v in (child, *parents)])
        total, seen = 0.0, 0.0
        for k in range(int(config.max()) + 1):
            own = config == k
            if own.sum() < len(parents) + 2:
                continue
            here, w = table[own], weight[own]
            n = float(w.sum())
            here = here - w @ here / n
            left = schur.family((here * w[:, None]).T @ here, 0, range(1, len(parents) + 1))
            if left.is_nothing or not left.residual > 0.0:
                continue
            total -= 0.5 * n * (np.log(2.0 * np.pi * float(left.residual) / n) + 1.0)
            seen += n
        return total / seen if seen else np.nan

    def _unexplained(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable whose parents say nothing, and cost more than their penalty."""
        if not parents:
            return 0.0
        return self.family(child, []) - (self.penalty + 1.0) * len(parents)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return np.array([self.family(child, [p for p in parents if p != x]) for x in parents])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        scores = np.full(len(self.names), -np.inf)
        for u in range(len(scores)):
            if u != child and u not in parents:
                scores[u] = self.family(child, [*parents, u])
        return scores
