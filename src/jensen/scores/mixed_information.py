"""Mutual informations of columns of both kinds, categorical and continuous."""

from collections.abc import Sequence

import numpy as np

from jensen.data import Table
from jensen.scores.categorical_information import Array, CategoricalInformation, Mask
from jensen.scores.gaussian_information import GaussianInformation, information_of_share


class MixedInformation:
    """I(x; y) of every pair of columns, categorical or continuous.

    A continuous column given a categorical one is Gaussian with a mean for every state and one
    variance for all (the homogeneous model): a state that occurs once has no variance of its own.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.total = table.total_weight
        by_kind: dict[str, list[str]] = {"categorical": [], "continuous": []}
        place = []  # of every column among those of its kind
        for x in self.names:
            same = by_kind[table.variable(x).kind]
            place.append(len(same))
            same.append(x)
        self._place = place
        self._is_categorical = np.isin(self.names, by_kind["categorical"])
        self._categorical = CategoricalInformation(table, by_kind["categorical"])
        self._continuous = GaussianInformation(table, by_kind["continuous"])
        self.degrees = np.ones(len(self.names))
        self.degrees[self._is_categorical] = self._categorical.degrees
        self.n_parameters = self._both(
            self._categorical.n_parameters, self._continuous.n_parameters
        )
        self._table = table
        self._roots = np.sqrt(np.ones(table.n_rows) if table.weights is None else table.weights)

    def entropies(self) -> Array:
        """(n,): what each column tells of itself; ½ log 2πeσ² of a continuous one."""
        return self._both(self._categorical.entropies(), self._continuous.entropies())

    def _both(self, categorical: Array, continuous: Array) -> Array:
        out = np.empty(len(self.names))
        out[self._is_categorical], out[~self._is_categorical] = categorical, continuous
        return out

    def matrix(self) -> Array:
        """(n, n)."""
        n, d, c = len(self.names), self._is_categorical, ~self._is_categorical
        out = np.empty((n, n))
        out[np.ix_(d, d)] = self._categorical.matrix()
        out[np.ix_(c, c)] = self._continuous.matrix()
        for k in np.flatnonzero(d):
            out[k, c] = out[c, k] = self._across(int(k), np.ones(c.sum(), np.bool_))
        return out

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v) for the columns v that are wanted; the others hold nothing of use."""
        out, d, c = np.zeros(len(self.names)), self._is_categorical, ~self._is_categorical
        if d[k]:
            out[d] = self._categorical.row(self._place[k], wanted[d])
            out[c] = self._across(k, wanted[c])
            return out
        out[c] = self._continuous.row(self._place[k], wanted[c])
        for v in np.flatnonzero(wanted & d):
            only = np.zeros(int(c.sum()), np.bool_)
            only[self._place[k]] = True
            out[v] = self._across(int(v), only)[self._place[k]]
        return out

    def _across(self, k: int, wanted: Mask) -> Array:
        """Of a categorical column with the continuous ones that are wanted."""
        from jensen.kernels import pair_information

        column, shares = self._table.column(self.names[k]), np.zeros(len(wanted))
        codes = column.data.astype(np.uint32)
        counts = np.bincount(codes, self._table.weights, minlength=column.variable.n_states)
        pair_information.explained_shares(
            self._continuous.standardised,
            codes,
            self._roots,
            counts.astype(np.float64),
            wanted,
            shares,
        )
        return information_of_share(shares)
