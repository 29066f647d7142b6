"""Mutual information of pairs of columns from sums over rows, which need not be in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from jensen.data import Block, RowSource
from jensen.data.counting import count_meetings, count_pairs, require_states
from jensen.data.statistics import Moments, coordinates_of, moments_of
from jensen.scores.table_checks import refuse_infinite

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST = 1e-13
"""A smaller unexplained share of the variance is due to rounding, and taken as 0."""

MOST_MEETINGS = 2048
"""The most states whose joint counts are found by comparing bits."""


def information_of_share(share: Array) -> Array:
    """-½ log(1 - share), where `share` of the variance is explained; infinite if all of it is."""
    rest = np.subtract(1.0, share)
    np.minimum(rest, 1.0, out=rest)
    rest[rest < LEAST] = 0.0
    with np.errstate(divide="ignore"):
        np.log(rest, out=rest)
    rest *= -0.5
    rest += 0.0  # no -0
    return rest


@dataclass(frozen=True)
class SummedInformation:
    """I(x; y) of every pair of columns, made from sums over complete rows that count."""

    names: tuple[str, ...]
    total: float
    degrees: Array  # (n,): an edge has the product of two of them as free parameters
    n_parameters: Array  # (n,): of each column by itself
    own: Array  # (n,): entropies
    values: Array  # (n, n)

    @classmethod
    def of(
        cls, table: RowSource, names: Sequence[str], sample_size: float = 0.0
    ) -> SummedInformation:
        """Of columns of labels, numbers or both; imagined rows are there for labels alone."""
        is_label = np.array([table.variable(x).kind == "categorical" for x in names], np.bool_)
        labels = [x for x, label in zip(names, is_label, strict=True) if label]
        numbers = [x for x, label in zip(names, is_label, strict=True) if not label]
        sizes = np.array([require_states(table, x).n_states for x in labels], np.int64)
        total, own = table.total_weight + sample_size, np.empty(len(names))
        degrees, n_parameters = np.ones(len(names)), np.full(len(names), 2.0)
        degrees[is_label] = n_parameters[is_label] = sizes - 1.0
        values = np.empty((len(names), len(names)))
        values[np.ix_(is_label, is_label)] = among = _of_labels(table, labels, sizes, sample_size)
        own[is_label] = among.diagonal()
        if numbers:
            refuse_infinite(table, numbers)
            unit = coordinates_of(table, numbers)
            moments = moments_of(table, numbers, unit)
            variance = moments.scatter.diagonal() / total
            with np.errstate(divide="ignore", invalid="ignore"):
                own[~is_label] = 0.5 * (np.log(2.0 * np.pi) + 1.0 + np.log(variance))
                own[~is_label] += np.log(unit.unit)
                shares = np.square(moments.scatter) / np.outer(variance, variance) / total**2
            values[np.ix_(~is_label, ~is_label)] = information_of_share(np.nan_to_num(shares))
            across = _across(table, labels, sizes, numbers, moments)
            values[np.ix_(is_label, ~is_label)] = across
            values[np.ix_(~is_label, is_label)] = across.T
        return cls(tuple(names), float(total), degrees, n_parameters, own, values)

    def entropies(self) -> Array:
        """(n,): the entropy of each column; ½ log 2πeσ² of numbers, -inf of constant ones."""
        return self.own

    def matrix(self) -> Array:
        """(n, n): I(x; y) of all pairs."""
        return self.values

    def row(self, k: int, wanted: NDArray[np.bool_]) -> Array:
        """(n,): I(k; v) of all columns v."""
        return np.asarray(self.values[k])


def _of_labels(table: RowSource, names: Sequence[str], sizes: Ints, sample_size: float) -> Array:
    """(n, n): entropies on the diagonal."""
    from jensen.kernels.pair_information import matrix_from_meetings

    out, weight = np.zeros((len(names), len(names))), table.total_weight
    total = weight + sample_size
    if not names or total <= 0.0:
        return out
    if not table.is_weighted and (sizes - 1).sum() <= MOST_MEETINGS and sizes.max() <= 16:
        meetings = count_meetings(table, names).astype(np.float64)
        matrix_from_meetings(meetings, sizes, weight, sample_size, not sample_size, out)
        return out
    counts, at = count_pairs(table, names), [0, *np.cumsum(sizes).tolist()]
    cells = counts.diagonal() + np.repeat(sample_size / sizes, sizes)
    own = np.add.reduceat(xlogy(cells, cells), at[:-1])
    for i, (a, b) in enumerate(pairwise(at)):
        for j, (c, d) in enumerate(pairwise(at[: i + 1])):
            joint = counts[a:b, c:d] + sample_size / float(sizes[i] * sizes[j])
            found = (xlogy(joint, joint).sum() - own[i] - own[j]) / total + np.log(total)
            out[i, j] = out[j, i] = max(found, 0.0)
        out[i, i] = np.log(total) - own[i] / total
    return out


def _across(
    table: RowSource, labels: Sequence[str], sizes: Ints, numbers: Sequence[str], moments: Moments
) -> Array:
    """(labels, numbers): what the means of the states explain of the variance of each number."""
    unit = coordinates_of(table, numbers)
    begin = [0, *np.cumsum(sizes).tolist()]

    def by_state(block: Block) -> Array:
        """(1 + numbers, states): the weight of each state, and its sums about the means."""
        out, weights = np.zeros((1 + len(numbers), begin[-1])), block.weights
        columns = [
            weights * ((block.values(x) - origin) / one - mean)
            for x, origin, one, mean in zip(numbers, *unit, moments.mean, strict=True)
        ]
        for name, (a, b) in zip(labels, pairwise(begin), strict=True):
            codes = block.values(name).astype(np.intp)
            for k, column in enumerate([weights, *columns]):
                out[k, a:b] = np.bincount(codes, column, minlength=b - a)
        return out

    if not labels:
        return np.zeros((0, len(numbers)))
    weight, *sums = table.sum(by_state)
    occurs = np.where(weight > 0.0, weight, 1.0)
    explained = np.add.reduceat(np.square(sums) / occurs, begin[:-1], axis=1)
    scatter = moments.scatter.diagonal()
    shares = explained / np.where(scatter > 0.0, scatter, 1.0)[:, None]
    return information_of_share(np.ascontiguousarray(shares.T))
