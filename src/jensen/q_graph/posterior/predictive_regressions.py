"""What the next row will be, family by family: continuous variables, parameters integrated out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.number_rows import numbers_of
from jensen.data.statistics import merged
from jensen.data.variable import Variable
from jensen.exceptions import DataError, JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.rising import log_rising
from jensen.families.schur import given
from jensen.graphs import DAG
from jensen.inference import gaussian_queries
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.regression import LinearRegression
from jensen.q_graph.posterior.predictive_tables import Answer, Family
from jensen.scores.scorer import HasMoments
from jensen.support.text import plural, some

Array = NDArray[np.float64]


class RegressionPredictions:
    """Student distributions of families, under the normal-Wishart prior that the score has.

    A score without a prior is taken with the default prior of BGe. The columns that are constant in
    the data have no density: they are left out.
    """

    def __init__(self, scorer: HasMoments) -> None:
        self._scorer = scorer
        self.names = scorer.names
        self.variables = tuple(Variable(name, "continuous") for name in self.names)
        self._known: dict[int, NormalWishartPrior] = {}

    def _after(self, child: int) -> NormalWishartPrior:
        """The posterior by the rows in which a variable was not set, in their coordinates."""
        key = child if child in self._scorer.groups else -1
        if key not in self._known:
            groups = self._scorer.groups
            prior = self._scorer.joint_prior.within(*self._scorer.coordinates)
            rows = merged(
                (part for v, part in groups.items() if v < 0 or v != key), len(self.names)
            )
            self._known[key] = prior.after(*rows)
        return self._known[key]

    # --- regressions ---

    def prepare(self, families: Iterable[Family]) -> None:
        """Nothing: means and scatters tell of every family."""

    def regression(self, child: int, parents: Sequence[int]) -> LinearRegression:
        """Posterior means of coefficients; the variance is the inverse of the mean precision."""
        if child in self._scorer.isolated:
            raise DataError(
                f"column {self.names[child]!r} is constant in the data, so nothing is known of how "
                f"it varies: leave it out of the question"
            )
        known, members = self._after(child), list(parents)
        left = given(known.scale, members, [child])
        origin, unit = self._scorer.coordinates
        slopes = left.coefficients[:, 0]
        away = float(known.mean[child] - slopes @ known.mean[members])
        slopes = slopes * unit[child] / unit[members]
        intercept = float(origin[child] + unit[child] * away - slopes @ origin[members])
        degrees = known.degrees_of(len(members) + 1)
        by_parent = {self.names[p]: float(b) for p, b in zip(members, slopes, strict=True)}
        variance = float(unit[child] ** 2 * left.left.residual[0]) / degrees
        return LinearRegression(self.names[child], intercept, by_parent, variance)

    def network(
        self, nodes: Sequence[int], parents: Mapping[int, Sequence[int]]
    ) -> GaussianNetwork:
        """The network of some variables, ascending; parents are among them."""
        graph = DAG.from_parents(
            {self.names[v]: [self.names[p] for p in parents[v]] for v in nodes}
        )
        return GaussianNetwork(graph, tuple(self.regression(v, parents[v]) for v in nodes))

    # --- rows ---

    def read(self, table: Table) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows as numbers, which of them are complete, and which cannot be."""
        for name in self.names:
            if name not in table:
                raise DataError(f"the table has no column {name!r}: {NO_GAPS}")
        rows, strange = table.select(self.names).read_as(self.variables)
        values = numbers_of(rows, self.names)
        gaps = np.flatnonzero(~np.isfinite(values).all(1) | strange)
        if gaps.size:
            raise DataError(
                f"{plural(len(gaps), 'row')} ({some(int(i) + 1 for i in gaps)}) lack a finite "
                f"number: {NO_GAPS}"
            )
        return values, np.ones(len(values), bool), np.zeros(len(values), bool)

    def log_rows(self, rows: Array, child: int, parents: Sequence[int]) -> Array:
        """(N,): the log density of the child given its parents.

        A row of all columns is Student with α_w - n + 1 degrees of freedom, and so is a child
        given its p parents, with p more.
        """
        if child in self._scorer.isolated:
            return np.zeros(len(rows))
        known, members = self._after(child), list(parents)
        left = given(known.scale, members, [child])
        away = self._scorer.coordinates.values(rows) - known.mean
        above = away[:, members]
        mean = above @ left.coefficients[:, 0]
        distance = np.square(np.einsum("ij,nj->ni", left.root, above)).sum(1)
        widen = (known.mean_strength + 1.0) / known.mean_strength
        degrees = known.degrees_of(len(members) + 1)
        # ν S = widen T; the scale of the child grows with the distance of its parents
        size = float(left.left.residual[0]) * (widen + distance)
        square = np.square(away[:, child] - mean) / size
        constant = log_rising(0.5 * degrees, 0.5) - 0.5 * np.log(np.pi)
        constant = constant - np.log(self._scorer.coordinates.unit[child])
        return np.asarray(constant - 0.5 * np.log(size) - 0.5 * (degrees + 1.0) * np.log1p(square))

    def log_incomplete(self, rows: Array, network: GaussianNetwork) -> Array:
        """Never asked: `read` refuses such rows."""
        raise JensenError(NO_GAPS)

    # --- questions ---

    def ask(self, network: GaussianNetwork, targets: Any, given: Any, do: Any) -> Answer:
        """The mean and the covariance of the targets in one network, (k, k + 1)."""
        found = gaussian_queries.query(network, targets, given, do)
        log_evidence = gaussian_queries.log_probability(network, given, do) if given else 0.0
        values = np.column_stack([found.means, found.covariance])
        return Answer(log_evidence, values, found.evidence)


NO_GAPS = "rows must be complete here, so fill them in (net.impute), or leave them out"
