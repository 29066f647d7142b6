"""Posterior predictive distributions of families: tables for states, Student for numbers.

Parameters are integrated out under the conjugate prior of the score. `TablePredictions` and
`RegressionPredictions` offer the same methods, which averages over graphs call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import count_families
from jensen.data.model_columns import read_known, warn_of_unknown
from jensen.data.number_rows import numbers_of
from jensen.data.statistics import FamilyCounts, merged
from jensen.data.variable import Variable
from jensen.exceptions import DataError, ImpossibleError, JensenError
from jensen.families.dirichlet import dirichlet
from jensen.families.gamma_ratio import log_rising
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.schur import given
from jensen.graphs import DAG
from jensen.inference import Network, gaussian_queries, mixed_queries
from jensen.inference.count_distribution import CountDistribution
from jensen.inference.distribution import Distribution
from jensen.inference.findings import read_findings
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.network_queries import ask, read_answer
from jensen.inference.number_mixture import MixtureDistribution
from jensen.inference.questions import find_question, form_of
from jensen.inference.regression import LinearRegression
from jensen.inference.rows import log_likelihood
from jensen.scores.categorical import bdeu
from jensen.scores.registry import HasPrior, Score
from jensen.scores.scorer import HasCounts, HasMoments
from jensen.support.text import plural, some

Array = NDArray[np.float64]
Family = tuple[int, tuple[int, ...]]  # child, parents: positions among the sorted names

FEW = 256  # families that are counted in one pass

KEPT_BYTES = 1 << 28  # of tables that are kept for the next question

NO_GAPS = "rows must be complete here, so fill them in (net.impute), or leave them out"


class GraphAnswer(NamedTuple):
    """The answer under one graph."""

    log_evidence: float  # log p(given | do)
    values: Array  # p(targets | given, do); of numbers (k, k + 1): means beside covariances
    condition: str
    components: tuple[Array, Array, Array] | None = None  # weights, means, variances, if several


class TablePredictions:
    """Posterior mean tables of families, under the Dirichlet prior of the score.

    For a score without a prior the prior of BDeu with an equivalent sample size of 1 is used.
    """

    def __init__(self, scorer: HasCounts) -> None:
        self._scorer = scorer
        self.variables: tuple[Variable, ...] = scorer.counted_for(0).statistics.variables
        self.names = tuple(variable.name for variable in self.variables)
        self._tables: dict[Family, Array] = {}
        self._n_bytes = 0

    # --- tables ---

    def prepare(self, families: Iterable[Family]) -> None:
        """Count many families at once, which is faster than one by one."""
        new = sorted(set(families) - self._tables.keys())
        by_rows: dict[int, list[Family]] = {}
        for family in new:
            by_rows.setdefault(id(self._scorer.counted_for(family[0])), []).append(family)
        for group in by_rows.values():
            for start in range(0, len(group), FEW):
                self._count(group[start : start + FEW])

    def _count(self, families: Sequence[Family]) -> None:
        plain = self._scorer.counted_for(families[0][0])
        members = [[self.names[v] for v in (*parents, child)] for child, parents in families]
        for family, scope, counts in zip(
            families, members, count_families(plain.table, members), strict=True
        ):
            means = dirichlet.share(counts + _concentration(plain.score, scope, counts))
            self._n_bytes += means.nbytes
            if self._n_bytes > KEPT_BYTES:
                self._tables, self._n_bytes = {}, means.nbytes
            self._tables[family] = means

    def table(self, child: int, parents: Sequence[int]) -> Array:
        """P(child | parents): one axis per parent, then the axis of the child."""
        family = child, tuple(parents)
        if family not in self._tables:
            self._count([family])
        return self._tables[family]

    def network(self, nodes: Sequence[int], parents: Mapping[int, Sequence[int]]) -> Network:
        """The network of some variables, ascending; parents are among them."""
        graph = DAG.from_parents(
            {self.names[v]: [self.names[p] for p in parents[v]] for v in nodes}
        )
        tables = np.concatenate([self.table(v, parents[v]).ravel() for v in nodes])
        variables = tuple(self.variables[v] for v in nodes)
        # As a sample its evidence is known in full: it says how much the graph counts.
        return Network(graph, variables, tables, samples=tables[None])

    # --- rows ---

    def read(self, table: Table) -> tuple[Table, NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows coded by these variables, and flags of complete and of impossible rows."""
        absent = [v.name for v in self.variables if v.name not in table]
        if absent:
            raise DataError(
                f"the table has no column {absent[0]!r}: a variable that was not observed is a "
                f"column of missing values"
            )
        wanted = self.variables
        rows, unknown = read_known(table.select([v.name for v in wanted]), wanted)
        strange = np.zeros(rows.n_rows, bool)
        if unknown is not None:
            warn_of_unknown(unknown)
            strange = unknown.rows
        complete = np.full(rows.n_rows, True)
        for name in rows.names:
            complete &= ~rows.column(name).missing()
        return rows, complete, strange

    def log_rows(self, rows: Table, child: int, parents: Sequence[int]) -> Array:
        """(N,): log p(child | parents) in complete rows."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.table(child, parents))
        codes = tuple(rows.column(self.names[v]).data for v in (*parents, child))
        return np.asarray(logs[codes])

    @property
    def n_cells(self) -> float:
        """The number of cells of the joint distribution."""
        return math.prod(float(v.n_states) for v in self.variables)

    def all_cells(self) -> Table:
        """A table with one row per cell of the joint distribution; the last variable is fastest."""
        codes = np.indices([v.n_states for v in self.variables]).reshape(len(self.variables), -1)
        labels = {
            v.name: np.array(v.states)[column]
            for v, column in zip(self.variables, codes, strict=True)
        }
        return self.read(Table(labels, states={v.name: v.states for v in self.variables}))[0]

    def log_margins(self, rows: Table, joint: Array) -> Array:
        """(N,): log of the sum of `joint` over all cells that agree with an incomplete row."""
        table = joint.reshape([v.n_states for v in self.variables])
        codes = np.array([rows.column(v.name).data for v in self.variables])
        gaps = np.array([rows.column(v.name).missing() for v in self.variables])
        found = np.empty(rows.n_rows)
        patterns, which = np.unique(gaps, axis=1, return_inverse=True)
        for k, missing in enumerate(patterns.T):
            here = np.flatnonzero(which.reshape(-1) == k)
            margin = table.sum(axis=tuple(np.flatnonzero(missing).tolist()))
            found[here] = margin[tuple(codes[~missing][:, here])]
        with np.errstate(divide="ignore"):
            return np.log(found)

    def log_incomplete(self, rows: Table, network: Network) -> Array:
        """(N,): log p(row) in one network, with missing values summed out."""
        return log_likelihood(network, rows)

    # --- questions ---

    def ask(self, network: Network, targets: Any, given: Any, do: Any) -> GraphAnswer:
        """P(targets | given, do) in one network; impossible evidence has the log evidence -inf."""
        return ask_tables(network, targets, given, do)


def ask_tables(network: Network, targets: Any, given: Any, do: Any) -> GraphAnswer:
    """P(targets | given, do) in one network; impossible evidence has the log evidence -inf."""
    names = [targets] if isinstance(targets, str) else list(targets)
    wanted = tuple(map(network.index, names))
    findings = read_findings(network, given, do, wanted)
    question = find_question(network, form_of(findings, wanted))
    condition = findings.text(network)
    try:
        found = ask(network, question, findings, count=len(wanted) > 1)
    except ImpossibleError:
        shape = [network.variables[v].n_states for v in wanted]
        return GraphAnswer(-np.inf, np.zeros(shape), condition)
    return GraphAnswer(
        found.log_evidence, read_answer(question, wanted, found.answers[0]), condition
    )


def _concentration(score: Score, family: Sequence[str], counts: Array) -> Any:
    """The Dirichlet concentration that the prior adds to the counts."""
    prior = score if isinstance(score, HasPrior) else bdeu(1.0)
    rows = counts.reshape(-1, counts.shape[-1])
    occurs = np.flatnonzero(rows.any(axis=1))
    total, n_configs = float(rows.sum()), float(len(rows))
    found = FamilyCounts(rows[occurs], n_configs, total, tuple(family), occurs)
    return prior.concentration(found)


class RegressionPredictions:
    """Student distributions of families, under the normal-Wishart prior of the score.

    For a score without a prior the default prior of BGe is used. Columns that are constant in the
    data have no density and are left out.
    """

    def __init__(self, scorer: HasMoments) -> None:
        self._scorer = scorer
        self.names = scorer.names
        self.variables = tuple(Variable(name, "continuous") for name in self.names)
        self._known: dict[int, NormalWishartPrior] = {}

    def _after(self, child: int) -> NormalWishartPrior:
        """The posterior from the rows in which a variable was not set, in scaled coordinates."""
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
        """Do nothing: means and scatter matrices determine every family."""

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
        """The rows as numbers (N, n), and flags of complete and of impossible rows."""
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

        A row of all n columns has a Student distribution with α_w - n + 1 degrees of freedom; a
        child given its p parents has p degrees of freedom more.
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
        """Not supported: `read` refuses incomplete rows."""
        raise JensenError(NO_GAPS)

    # --- questions ---

    def ask(self, network: GaussianNetwork, targets: Any, given: Any, do: Any) -> GraphAnswer:
        """The mean and the covariance of the targets in one network, (k, k + 1)."""
        return ask_regressions(network, targets, given, do)


def ask_regressions(network: GaussianNetwork, targets: Any, given: Any, do: Any) -> GraphAnswer:
    """The mean and the covariance of the targets in one network, (k, k + 1)."""
    found = gaussian_queries.query(network, targets, given, do)
    log_evidence = gaussian_queries.log_probability(network, given, do) if given else 0.0
    values = np.column_stack([found.means, found.covariance])
    return GraphAnswer(log_evidence, values, found.evidence)


def ask_mixed(network: MixedNetwork, targets: Any, given: Any, do: Any) -> GraphAnswer:
    """P(targets | do, given) in a network of labels and numbers: a table, or moments of numbers."""
    found = mixed_queries.query(network, targets, given, do)
    log_evidence = network.log_probability(given, do) if given else 0.0
    if isinstance(found, Distribution):
        return GraphAnswer(log_evidence, found.values, found.condition)
    if isinstance(found, CountDistribution):
        raise JensenError(
            "the distribution of a count is not averaged over graphs: ask for a label or a number, "
            "or count in completed tables, post.impute()"
        )
    values = np.column_stack([np.atleast_1d(found.mean), found.covariance])
    parts = None
    if isinstance(found, MixtureDistribution):
        variances = np.diagonal(found.covariances, axis1=1, axis2=2)
        parts = found.weights, found.means, variances
    return GraphAnswer(log_evidence, values, found.evidence, parts)
