"""What the next row will be, family by family: categorical variables, parameters integrated out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import count_families
from jensen.data.model_columns import read_known, warn_of_unknown
from jensen.data.variable import Variable
from jensen.exceptions import DataError, ImpossibleError
from jensen.families.dirichlet import dirichlet
from jensen.graphs import DAG
from jensen.inference import Network
from jensen.inference.findings import read_findings
from jensen.inference.query import ask, read_answer
from jensen.inference.questions import find_question, form_of
from jensen.inference.rows import log_likelihood
from jensen.scores.categorical import bdeu
from jensen.scores.row_statistics import FamilyCounts
from jensen.scores.score_choices import HasPrior, Score
from jensen.scores.scorer import HasCounts

Array = NDArray[np.float64]
Family = tuple[int, tuple[int, ...]]  # child, parents: positions among the sorted names

FEW = 256  # families that are counted in one pass
KEPT_BYTES = 1 << 28  # of tables that are kept for the next question


class Answer(NamedTuple):
    """The answer under one graph."""

    log_evidence: float  # log p(given | do)
    values: Array  # p(targets | given, do)
    words: str


class TablePredictions:
    """Posterior mean tables of families, under the Dirichlet prior that the score has.

    A score without a prior is taken with that of BDeu and an equivalent sample of one row.
    """

    def __init__(self, scorer: HasCounts) -> None:
        self._scorer = scorer
        self.variables: tuple[Variable, ...] = scorer.counted_for(0).statistics.variables
        self.names = tuple(variable.name for variable in self.variables)
        self._tables: dict[Family, Array] = {}
        self._n_bytes = 0

    # --- tables ---

    def prepare(self, families: Iterable[Family]) -> None:
        """Count many families at once."""
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
        """P(child | parents), an axis per parent, then its own."""
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
        """The rows as these variables, which of them are complete, and which cannot be."""
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
        """How many rows are possible."""
        return math.prod(float(v.n_states) for v in self.variables)

    def all_cells(self) -> Table:
        """Every row there can be; the last variable changes quickest."""
        codes = np.indices([v.n_states for v in self.variables]).reshape(len(self.variables), -1)
        labels = {
            v.name: np.array(v.states)[column]
            for v, column in zip(self.variables, codes, strict=True)
        }
        return self.read(Table(labels, states={v.name: v.states for v in self.variables}))[0]

    def log_margins(self, rows: Table, joint: Array) -> Array:
        """(N,): log of the sum over all cells that a row may be."""
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
        """(N,): log p(row) in one network, what is missing summed out."""
        return log_likelihood(network, rows)

    # --- questions ---

    def ask(self, network: Network, targets: Any, given: Any, do: Any) -> Answer:
        """P(targets | given, do) in one network; evidence that cannot be there has log 0."""
        names = [targets] if isinstance(targets, str) else list(targets)
        wanted = tuple(map(network.index, names))
        findings = read_findings(network, given, do, wanted)
        question = find_question(network, form_of(findings, wanted))
        words = findings.words(network)
        try:
            found = ask(network, question, findings, count=len(wanted) > 1)
        except ImpossibleError:
            shape = [network.variables[v].n_states for v in wanted]
            return Answer(-np.inf, np.zeros(shape), words)
        return Answer(found.log_evidence, read_answer(question, wanted, found.answers[0]), words)


def _concentration(score: Score, family: Sequence[str], counts: Array) -> Any:
    """What the prior adds to the counts of every cell."""
    prior = score if isinstance(score, HasPrior) else bdeu(1.0)
    rows = counts.reshape(-1, counts.shape[-1])
    occurs = np.flatnonzero(rows.any(axis=1))
    total, n_configs = float(rows.sum()), float(len(rows))
    found = FamilyCounts(rows[occurs], n_configs, total, tuple(family), occurs)
    return prior.concentration(found)
