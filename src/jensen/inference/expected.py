"""Statistics of rows with holes, as a known network expects them: what scores read in their place.

Missing cells count for all that they may be, each as much as the network makes it probable given
what the row shows, so that any family can be counted, whether it is one of the network's or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, RowSource, Table
from jensen.data.statistics import Coordinates, Family, FamilyCounts, Moments
from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.inference.expected_tables import Rows, Scope, expected_tables
from jensen.inference.gaussian_joint import joint, missing_cells
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.impossible import explain_row
from jensen.inference.network import Network
from jensen.inference.rows import log_likelihood

Array = NDArray[np.float64]


@overload
def expected(network: Network, table: RowSource) -> ExpectedCounts: ...
@overload
def expected(network: GaussianNetwork, table: RowSource) -> ExpectedMoments: ...
def expected(
    network: Network | GaussianNetwork, table: RowSource
) -> ExpectedCounts | ExpectedMoments:
    """The expected statistics of a table under a known network of either kind.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.examples.load("asia")
    >>> rows = jn.Table({"lung": ["yes", None]}, states={"lung": net.states["lung"]})
    >>> (found,) = expected(net.network_, rows).counts([("smoke", ["lung"])])
    >>> found.table.round(3), found.total
    (array([[0.495, 0.45 ],
           [0.096, 0.959]]), 2.0)
    """
    if isinstance(network, GaussianNetwork):
        return ExpectedMoments(network, table)
    return ExpectedCounts(network, table)


def expected_counts(
    network: Network, table: RowSource, families: Sequence[Sequence[str]]
) -> list[Array]:
    """Σ over rows of p(family | what the row knows): an axis per member."""
    return ExpectedCounts(network, table).tables(families)


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected counts of families of categorical variables; implements `CountStatistics`.

    Parameters
    ----------
    network
        One set of tables, not samples.
    table
        Rows of its variables, with their states; one without a column is hidden in every row.
    log_tables : array (P,)
        The log potentials of q(h), where they are not the logs of the tables: E[log θ] of a
        posterior, as in VB. They need not sum to one, so nothing is left out as irrelevant.
    """

    network: Network
    table: RowSource
    log_tables: Array | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the network, hidden ones too."""
        return self.network.variables

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.table.total_weight

    @property
    def is_whole(self) -> bool:
        """Shares of rows are no whole numbers."""
        return False

    @property
    def rows(self) -> None:
        """There are no complete rows to count."""
        return

    def counts(self, families: Sequence[Family]) -> list[FamilyCounts]:
        """Expected counts of many families, in the graph or not."""
        found = self.tables([(*parents, x) for x, parents in families])
        return [
            _family_counts(table, (*parents, x))
            for table, (x, parents) in zip(found, families, strict=True)
        ]

    def tables(self, families: Sequence[Sequence[str]]) -> list[Array]:
        """The same as arrays with an axis per member."""
        return expected_tables(self._rows, [self._scope(family) for family in families])

    def _scope(self, family: Sequence[str]) -> Scope:
        scope = tuple(self.network.index(name) for name in family)
        if not scope or len(set(scope)) < len(scope):
            raise JensenError(f"a family is one variable or several different ones, not {family}")
        return scope

    @cached_property
    def _rows(self) -> Rows:
        """What is asked again and again; impossible rows are refused, once."""
        if self.network.samples is not None:
            raise JensenError(
                "expected counts are those of one set of tables, not of many samples: learn with "
                "method='em' or 'vbem'"
            )
        if self.log_tables is not None:
            return Rows(self.network, self.table, self.log_tables, is_normalised=False)
        if any(_has_impossible(self.network, part) for part in self.table.tables()):
            raise explain_row(self.network, self.table, "in this network")
        return Rows(self.network, self.table, self.network.kernel_tables[1], is_normalised=True)


def _has_impossible(network: Network, table: Table) -> bool:
    """Whether a row that counts has probability 0."""
    counts = np.ones(table.n_rows, bool) if table.weights is None else table.weights > 0.0
    return bool(np.any((log_likelihood(network, table) == -np.inf) & counts))


def _family_counts(table: Array, family: tuple[str, ...]) -> FamilyCounts:
    """A table with an axis per member as a score reads it."""
    rows = table.reshape(-1, table.shape[-1])
    configs = np.flatnonzero(rows.any(axis=1))
    return FamilyCounts(rows[configs], float(len(rows)), float(rows.sum()), family, configs)


@dataclass(frozen=True, eq=False)
class ExpectedMoments:
    """Expected moments of continuous variables; implements `MomentStatistics`.

    Parameters
    ----------
    network
        Known regressions.
    table
        Rows of its variables; one without a column is hidden in every row.
    """

    network: GaussianNetwork
    table: RowSource

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the network, hidden ones too."""
        return self.network.variables

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.table.total_weight

    @property
    def constant(self) -> frozenset[int]:
        """None: a network of regressions has no variable that does not vary."""
        return frozenset()

    @cached_property
    def coordinates(self) -> Coordinates:
        """The mean of the network, and powers of two about its standard deviations."""
        model = joint(self.network)
        exponents = np.frexp(np.sqrt(np.diagonal(model.covariance)))[1]
        return Coordinates(model.mean, np.ldexp(1.0, np.clip(exponents, -1000, 1000)))

    def moments(self, coordinates: Coordinates | None = None) -> Moments:
        """Weight, means and scatter of all variables: of the expected rows, and what is unsure."""
        weight, mean, scatter = self._moments
        if coordinates is None or weight == 0.0:
            return self._moments
        here, there = self.coordinates, coordinates
        stretch = here.unit / there.unit
        moved = (here.origin - there.origin) / there.unit + stretch * mean
        return Moments(weight, moved, np.asarray(scatter * stretch * stretch[:, None]))

    @cached_property
    def _moments(self) -> Moments:
        """In the coordinates about the mean of the network, from which no digits are lost."""
        n = len(self.variables)
        weight, first, second = self.table.sum(self._sums)
        if weight == 0.0:
            return Moments(0.0, np.zeros(n), np.zeros((n, n)))
        mean = first / weight
        return Moments(float(weight), mean, second - weight * np.outer(mean, mean))

    def _sums(self, block: Block) -> tuple[Array, Array, Array]:
        """Of a block: its weight, Σ E[y] and Σ E[y yᵀ]."""
        from jensen.kernels.gaussians import add_moments

        names, here = self.network.graph.nodes, self.coordinates
        chosen = block.weights > 0.0
        weights, values = block.weights[chosen], np.full((int(chosen.sum()), len(names)), np.nan)
        for v, name in enumerate(names):
            if name in self.table:
                values[:, v] = block.values(name)[chosen]
        unsure = np.zeros((len(names), len(names)))
        for part in missing_cells(joint(self.network), values):
            values[np.ix_(part.rows, part.places)] = part.mean
            unsure[np.ix_(part.places, part.places)] += weights[part.rows].sum() * part.covariance
        rows = np.ascontiguousarray(here.values(values).T)
        first, lower = np.zeros((1, len(names))), np.zeros((1, len(names), len(names)))
        add_moments(rows, 0, rows.shape[1], weights[None], first, lower)
        second = np.tril(lower[0]) + np.tril(lower[0], -1).T
        return weights.sum(), first[0], second + unsure / here.unit / here.unit[:, None]
