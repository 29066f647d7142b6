"""Rows of a mixture or of chains under many θ at once; their missing cells are left out.

A cell that is missing says nothing of θ where columns are independent given the state: it
integrates to one, so it is in no likelihood and in no statistics here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.stacked import flat_rows
from jensen.exceptions import DataError, JensenError
from jensen.families.normal_gamma import NormalGamma
from jensen.families.normal_wishart import NormalWishart
from jensen.families.tied import Tied
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.product import ProductEmission, joined_records, parts_of, records_of
from jensen.models.hidden_markov import Sequences
from jensen.models.state_model import flatten
from jensen.support.fields import leaves, rebuild
from jensen.support.row_records import ColumnRows
from jensen.support.text import one_of, option

Array = NDArray[np.float64]


class SeenRows:
    """The rows of all units, and what states make of them."""

    def __init__(self, model: Any, units: Units) -> None:
        self.model = model
        self.units = list(units.each())
        self._parts = [part.emission for part in parts_of(model.emission)]
        self._seen = [self._check(unit) for unit in self.units]

    @classmethod
    def of_mixture(cls, model: Any, asked: EvidenceQuestion) -> SeenRows:
        """The rows of a mixture, equal ones once; weights must be whole."""
        rows = asked.problem.data.rows.rows
        values, weight = rows.values(), rows.weights()
        if (weight % 1.0).any():
            raise DataError(
                "states are drawn row by row here, so weights must be whole numbers: use "
                f"{one_of('method', ['vb', 'laplace'])}"
            )
        _, first, group = np.unique(
            values, axis=0, return_index=True, return_inverse=True, equal_nan=True
        )
        times = np.bincount(group.ravel(), weight, len(first))
        return cls(model, model.encode(NumberRows.of(values[first], times.astype(np.float64))))

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return len(self.units)

    def n_rows(self, unit: int) -> int:
        """Of one unit."""
        rows = self.units[unit]
        return int(rows.ptr[-1]) if isinstance(rows, Sequences) else len(rows.weight)

    def encoded(self, unit: Any) -> tuple[Any, ...]:
        """The encoded rows of a unit, part by part."""
        is_product = isinstance(self.model.emission, ProductEmission)
        return tuple(unit.rows.parts) if is_product else (unit.rows,)

    def _check(self, unit: Any) -> list[NDArray[np.bool_] | None]:
        """For each part which rows, or cells (columns, rows), show it; None if all do."""
        found: list[NDArray[np.bool_] | None] = []
        for part, rows in zip(self._parts, self.encoded(unit), strict=True):
            missing = _missing(part, rows)
            if not missing.any():
                found.append(None)
            elif len(missing) == 1:
                found.append(~missing[0])
            elif isinstance(part, Diagonal) and not part.is_spherical:
                found.append(~missing)
            else:
                raise JensenError(
                    "here rows may miss nothing where columns share a precision (Gaussian columns "
                    f"of a mixture): use {one_of('method', ['vb', 'laplace'])}, leave out the rows "
                    f"with gaps, or choose {option('covariance', 'diagonal')}"
                )
        return found

    def log_like(self, t: Any, unit: int) -> Array:
        """(C, K, n): log p(row | state) at a stack of t of the emission; it may be written to."""
        pairs = zip(self._parts, records_of(self.model.emission, t), strict=True)
        rows, n = self.encoded(self.units[unit]), self.n_rows(unit)
        total = None
        for (part, own), encoded in zip(pairs, rows, strict=True):
            part, flat = _untied(part, own)
            found = part.observe(flat, encoded).log_like(0, n)
            total = found if total is None else total + found
        assert total is not None
        return np.ascontiguousarray(total).reshape(-1, self.model.n_states, n)

    def stats(self, t: Any, unit: int, nodes: Array) -> Any:
        """Statistics of the emission, a stack; nodes (C, K, n) say which state has each row."""
        n_theta, K, n = nodes.shape
        found: list[Any] = []
        pairs = zip(self._parts, records_of(self.model.emission, t), strict=True)
        rows, seen = self.encoded(self.units[unit]), self._seen[unit]
        for (part, own), encoded, shows in zip(pairs, rows, seen, strict=True):
            mine = nodes if shows is None or shows.ndim == 2 else np.where(shows, nodes, 0.0)
            free, flat = _untied(part, own)
            flat_nodes = np.ascontiguousarray(mine.reshape(n_theta * K, n))
            if shows is not None and shows.ndim == 2:
                stats: Any = _stats_of_cells(encoded.numbers, shows, flat_nodes)
            else:
                stats = free.observe(flat, encoded).stats(0, n, flat_nodes)
            found.append(_tied_stats(part, stats, n_theta, K))
        return joined_records(self.model.emission, found)

    def each(self, unit: int) -> Array:
        """(n, K, P): the statistics of the whole model if a row is of a state, but for moves.

        Of a mixture its state is counted; of chains first states and transitions are not.
        """
        K, n = self.model.n_states, self.n_rows(unit)
        nodes = np.zeros((n, K, K, n))
        i, k = np.meshgrid(np.arange(n), np.arange(K), indexing="ij")
        nodes[i, k, k, i] = 1.0
        like = _repeat(self._point(), n * K)
        stats = self.stats(like, unit, nodes.reshape(n * K, K, n))
        own = flat_rows(stats)
        others = len(flatten(self.model.blank)) - own.shape[1]
        before = np.zeros((n, K, others))
        if others == K:
            before[:, np.arange(K), np.arange(K)] = 1.0
        return np.concatenate([before, own.reshape(n, K, -1)], axis=2)

    def base(self, unit: int) -> float:
        """Log p(rows | states, θ) less ⟨statistics, t⟩: what is the same for all θ."""
        t = self._point()
        n = self.n_rows(unit)
        weight = np.ones(n) if isinstance(self.units[unit], Sequences) else self.units[unit].weight
        log_like = self.log_like(_repeat(t, 1), unit)[0]
        nodes = np.zeros((1, self.model.n_states, n))
        nodes[0, 0] = weight
        stats = flat_rows(self.stats(_repeat(t, 1), unit, nodes))[0]
        at = flatten(t)
        return float(log_like[0] @ weight - stats @ np.where(stats == 0.0, 0.0, at))

    def _point(self) -> Any:
        """Some t of the emission, with all labels possible: that of the prior."""
        emission = self.model.emission
        return emission.point(emission.prior)


def _missing(part: Any, rows: Any) -> NDArray[np.bool_]:
    """(columns, n): what is missing of the rows of one part."""
    if isinstance(rows, ColumnRows):
        gaps = [np.isnan(rows.numbers), np.isnan(rows.counts)]
        if len(rows.codes):
            gaps.append(rows.codes == part.n_labels)
        return np.concatenate(gaps)
    n = sum(len(pattern.rows) for pattern in rows)
    return np.full((part.n_columns, n), any(pattern.n_missing for pattern in rows))


def _stats_of_cells(numbers: Array, shows: NDArray[np.bool_], nodes: Array) -> NormalGamma:
    """Counts and moments of columns that are apart, each of the rows that show it."""
    x = np.where(shows, numbers, 0.0)
    count = nodes @ shows.T.astype(np.float64)
    return NormalGamma(count, nodes @ (x * x).T, nodes @ x.T, count)


def _untied(part: Any, t: Any) -> tuple[Any, Any]:
    """An emission and its t (C, K, ...) as if all C · K states were of one model."""
    if isinstance(t, Tied):
        K, D = t.first.shape[1:]
        count = np.repeat(t.count, K)
        second = np.repeat(t.second, K, axis=0)
        flat = NormalWishart(count, second, t.first.reshape(-1, D), t.strength.ravel())
        assert isinstance(part, Gaussian)
        return replace(part, is_tied=False), flat
    flat_leaves = (np.ascontiguousarray(x.reshape(-1, *x.shape[2:])) for x in leaves(t))
    return part, rebuild(t, flat_leaves)


def _tied_stats(part: Any, stats: Any, n_theta: int, K: int) -> Any:
    """Statistics of C · K states as a stack."""
    found = rebuild(stats, (x.reshape(n_theta, K, *x.shape[1:]) for x in leaves(stats)))
    if getattr(part, "is_tied", False):
        return Tied(found.count.sum(1), found.second.sum(1), found.first, found.strength)
    return found


def _repeat(record: Any, n: int) -> Any:
    return rebuild(record, (np.repeat(leaf[None], n, axis=0) for leaf in leaves(record)))
