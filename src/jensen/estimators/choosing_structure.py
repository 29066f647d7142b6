"""Which graph, by the evidence: listed graphs compared, or a climb over single edges.

What is hidden or missing is integrated out by any way to the evidence, which `learn_structure` does
not ask: its scores are sums over families of complete rows, or of expected ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.data import as_table
from jensen.estimators.bayesian_network import BayesianNetwork
from jensen.evidence.methods import METHODS, log_evidence
from jensen.evidence.record import WORKS, shown
from jensen.exceptions import GraphError, JensenError
from jensen.graphs import DAG, as_dag
from jensen.support.arguments import check_whole
from jensen.support.machine import interruptible
from jensen.support.text import grid, offer, plural

if TYPE_CHECKING:
    import pandas

LISTED = 10


class RankedStructure(NamedTuple):
    """A graph and its evidence."""

    graph: DAG
    value: float
    kind: str
    standard_error: float | None = None  # of an estimate
    pareto_k: float | None = None  # of a bound: above 0.7 how far below the evidence is not known


@dataclass(frozen=True)
class StructureChoice:
    """All graphs that were asked of, the best first; prints as a table of the first ten.

    Attributes
    ----------
    ranked : tuple of RankedStructure
        By falling evidence.
    by : str
        The way to the evidence.
    refusals : dict
        Graph → why it has none.
    model
        The network of the best graph, not fitted.
    """

    ranked: tuple[RankedStructure, ...]
    by: str
    refusals: dict[DAG, str]
    model: BayesianNetwork

    @property
    def graph(self) -> DAG:
        """The best graph."""
        return self.ranked[0].graph

    def rank(self, graph: Any) -> int:
        """The place of a graph, from 1; graphs of equal evidence share the first of theirs."""
        wanted = as_dag(graph)
        for one in self.ranked:
            if one.graph == wanted:
                return 1 + sum(other.value > one.value for other in self.ranked)
        raise JensenError(f"{wanted!r} was not asked of: {plural(len(self.ranked), 'graph')} were")

    def probabilities(self) -> dict[DAG, float]:
        """P(graph | table) among these, all being as probable beforehand."""
        top = self.ranked[0].value
        weights = {one.graph: math.exp(one.value - top) for one in self.ranked}
        total = sum(weights.values())
        return {graph: weight / total for graph, weight in weights.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each graph."""
        import pandas as pd

        rows = [(str(one.graph), *one[1:]) for one in self.ranked]
        return pd.DataFrame(rows, columns=["graph", *RankedStructure._fields[1:]])

    def __repr__(self) -> str:
        ks = any(one.pareto_k is not None for one in self.ranked)
        share = self.probabilities()
        rows = [["graph", self.by, "P", *["k"] * ks]]
        for one in self.ranked[:LISTED]:
            error = "" if one.standard_error is None else f" ± {one.standard_error:.2g}"
            k = ["" if one.pareto_k is None else f"{one.pareto_k:.2f}"] if ks else []
            rows.append([str(one.graph), shown(one.value) + error, f"{share[one.graph]:.4f}", *k])
        notes = [f"{self.by}: {self.ranked[0].kind}"]
        if len(self.ranked) > LISTED:
            notes.append(f"the first {LISTED} of {plural(len(self.ranked), 'graph')}")
        if any((one.pareto_k or 0.0) > WORKS for one in self.ranked):
            notes.append(f"k above {WORKS}: how far a bound is below the evidence is not known")
        if self.refusals:
            graph, why = next(iter(self.refusals.items()))
            notes.append(f"{plural(len(self.refusals), 'graph')} refused, such as {graph}: {why}")
        return "\n".join([grid(rows, left=1, rule=True), *notes])


def choose_structure(
    table: Any,
    structures: Iterable[Any] | None = None,
    *,
    model: BayesianNetwork | None = None,
    by: str = "vb",
    max_parents: int | None = None,
    **choices: Any,
) -> StructureChoice:
    """Rank graphs by the evidence of a network, hidden variables and missing values included.

    Parameters
    ----------
    table
        The rows.
    structures
        The graphs, or their texts. None: a climb from the graph of `model` (without one: from
        hidden variables above all others) to the best neighbour by one edge more, less or turned
        round, until none is better. Each step asks for the evidence of about n² graphs.
    model
        A `BayesianNetwork` whose choices all graphs share: `hidden`, `prior`, `random_state`, ...
        By default ``BayesianNetwork(prior="bdeu", random_state=0)``.
    by
        Any method of `jensen.log_evidence`: "exact", "bic", "laplace", "cheeseman-stutz", "vb",
        "ais", "smc", "bridge".
    max_parents
        Of a climb: graphs with more are not asked of.
    **choices
        Passed on to `jensen.log_evidence`, such as `n_init` or `n_chains`.

    Returns
    -------
    StructureChoice
        With `graph`, `model`, `ranked`, `rank(graph)`, `probabilities()`. After Ctrl-C with those
        that were asked of by then.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"a": list("00011101"), "b": list("00011111"), "c": list("01100110")}
    >>> found = jn.choose_structure(rows, by="exact")
    >>> found.graph.edges
    (('a', 'b'),)
    """
    if by not in METHODS:
        raise JensenError(f"there is no method {by!r}: {offer(by, METHODS, 'method')}")
    if max_parents is not None:
        check_whole("max_parents", max_parents, at_least=1)
        if structures is not None:
            raise JensenError("max_parents belongs to a climb: leave it out, or structures=")
    template = BayesianNetwork(prior="bdeu", random_state=0) if model is None else model
    if not isinstance(template, BayesianNetwork):
        raise JensenError(f"model must be a BayesianNetwork, not {template!r:.80}")
    search = _Ranking(template, as_table(table), by, choices)
    with interruptible() as stop:
        if structures is None:
            _climb(search, _first(search), max_parents, stop.is_set)
        else:
            for graph in structures:
                search.ask(as_dag(graph))
                if stop.is_set():
                    break
    return search.result()


class _Ranking:
    """Graphs and what they came to."""

    def __init__(self, template: BayesianNetwork, table: Any, by: str, choices: Any) -> None:
        self.template, self.table, self.by, self.choices = template, table, by, choices
        self.found: dict[DAG, RankedStructure] = {}
        self.refusals: dict[DAG, str] = {}

    def model(self, graph: DAG) -> BayesianNetwork:
        """The network of a graph."""
        return BayesianNetwork(**{**self.template.get_params(deep=False), "graph": graph})

    def ask(self, graph: DAG) -> float:
        """The evidence of a graph; -inf where it has none."""
        if graph not in self.found and graph not in self.refusals:
            try:
                one = log_evidence(self.model(graph), self.table, self.by, **self.choices)
            except JensenError as error:
                self.refusals[graph] = str(error)
            else:
                told = one.standard_error, one.pareto_k
                self.found[graph] = RankedStructure(graph, one.value, one.kind, *told)
        return self.found[graph].value if graph in self.found else -math.inf

    def result(self) -> StructureChoice:
        """The ranking; refused where no graph has an evidence."""
        if not self.found:
            why = next(iter(self.refusals.values()), "structures= is empty")
            raise JensenError(f"no graph has an evidence by {self.by!r}: {why}")
        ranked = sorted(self.found.values(), key=lambda one: -one.value)
        best = self.model(ranked[0].graph)
        return StructureChoice(tuple(ranked), self.by, self.refusals, best)


def _first(search: _Ranking) -> DAG:
    """The model's own graph, or hidden variables above all others."""
    own = search.template.get_params(deep=False)["graph"]
    if own is not None:
        return as_dag(own)
    hidden = list(search.template.get_params(deep=False)["hidden"] or {})
    names = [name for name in search.table.names if name not in hidden]
    return DAG([(h, x) for h in hidden for x in names], nodes=[*names, *hidden])


def _climb(search: _Ranking, graph: DAG, max_parents: int | None, stops: Any) -> None:
    """To the best neighbour, until none is better."""
    value = search.ask(graph)
    if value == -math.inf:
        raise JensenError(f"the first graph has no evidence: {search.refusals[graph]}")
    while not stops():
        best = graph
        for other in _neighbours(graph, max_parents):
            if search.ask(other) > value + 1e-9:
                best, value = other, search.ask(other)
            if stops():
                break
        if best == graph:
            return
        graph = best


def _neighbours(graph: DAG, max_parents: int | None) -> Iterator[DAG]:
    """Graphs that differ by one edge; an edge that closes a circle makes none."""
    edges = set(graph.edges)
    changes = [edges - {edge} for edge in sorted(edges)]
    changes += [edges - {(u, v)} | {(v, u)} for u, v in sorted(edges)]
    for u, v in permutations(graph.nodes, 2):
        if (u, v) not in edges and (v, u) not in edges:
            changes.append(edges | {(u, v)})
    for changed in changes:
        try:
            other = DAG(sorted(changed), nodes=graph.nodes)
        except GraphError:
            continue
        if max_parents is None or max(len(other.parents(x)) for x in other.nodes) <= max_parents:
            yield other
