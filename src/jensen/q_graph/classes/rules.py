"""What equivalence search accepts: scores, tables, start graphs and background knowledge.

Constraints on a class mean that at least one of its DAGs obeys them all; other classes are never
entered. `BackgroundKnowledge.member` finds such a DAG by removing sinks, one after the other (Dor
and Tarsi 1992): a node can be the last one if its remaining undirected neighbours are all adjacent
to each other (else a new v-structure would appear) and none of its required arrows leads to one of
them. If any DAG of the class obeys the constraints, so does one in which that node is last, so it
does not matter which of several candidates is removed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jensen.data import Table
from jensen.data.counting import require_complete
from jensen.exceptions import GraphError, JensenError
from jensen.graphs import CPDAG, PDAG
from jensen.q_graph.classes.graph import ClassGraph, Flags, Sets, members, set_of
from jensen.q_graph.constraints import Constraints
from jensen.scores.registry import IN_AVAILABLE_CASES, names_where
from jensen.scores.scorer import HasGraphPrior, HasOwnRows, Scorer, offered
from jensen.support.text import either, keyword, offer, one_of, option

OTHERWISE = f"use {one_of('method', ['hill-climb', 'tabu'], 'structure')}"
GES = option("method", "ges", "structure")
START = keyword("start", "start_graph")


def use_pc(keep_complete_rows: str) -> str:
    """Advice for an error about missing values."""
    return f"use {option('method', 'pc', 'structure')}, whose tests do not, or {keep_complete_rows}"


def check_scorer(scorer: Scorer) -> None:
    """Refuse scores that differ between the DAGs of a class."""
    if scorer.is_set_function:
        return
    believed, rows = offered(scorer, HasGraphPrior), offered(scorer, HasOwnRows)
    if believed is not None:
        check_scorer(believed.data)
        odds = believed.prior.log_odds
        u, v = (scorer.names[i] for i in np.argwhere(odds != odds.T)[0])
        raise JensenError(
            f"{GES} needs a prior that is the same for all graphs "
            f"of an equivalence class, and {keyword('prior', 'graph_prior')} has other odds for "
            f"{u} -> {v} than for {v} -> {u}: give both the same probability, or {OTHERWISE}"
        )
    if rows is not None and rows.has_own_rows():
        raise JensenError(
            f"with {keyword('interventions')} the graphs of an equivalence class "
            f"score differently, so there is no class to search for: {OTHERWISE}"
        )
    alike = names_where(lambda spec: spec.is_set_function)
    different = names_where(lambda spec: not spec.is_set_function)
    raise JensenError(
        f"{GES} needs a score that is the same for all graphs of an equivalence class: "
        f"{either(alike)}; with {', '.join(different)}, {IN_AVAILABLE_CASES} or listed local "
        f"scores {OTHERWISE}"
    )


def check_table(table: Table, missing: str | None = None) -> None:
    """Refuse missing values: scores on each family's own complete rows differ within a class."""
    if missing in ("available-case", "node-average") and table.n_missing():
        way = option("missing", missing)
        raise JensenError(
            f"with {way} the graphs of an equivalence class score differently, so there is no "
            f"class to search for: leave it out, and {GES} completes the rows, or {OTHERWISE}"
        )
    require_complete(table, table.names, GES, use_pc)


def read_class(start: Any, names: Sequence[str], constraints: Constraints) -> Flags:
    """(n, n): the class that a search begins with; undirected edges are in both directions.

    Parameters
    ----------
    start
        A DAG, a CPDAG, or any PDAG that can be extended to a DAG, in place of its class; None is
        the graph without edges.
    """
    joined = np.zeros((len(names), len(names)), bool)
    if start is None:
        return joined
    graph = PDAG(start).cpdag()
    at = {name: i for i, name in enumerate(names)}
    unknown = sorted(set(graph.nodes) - set(names))
    if unknown:
        raise GraphError(
            f"{START} has a node {unknown[0]!r} that is no column; "
            f"{offer(unknown[0], names, 'column')}"
        )
    places = [at[name] for name in graph.nodes]
    joined[np.ix_(places, places)] = graph.adjacency
    either = joined | joined.T
    found = np.argwhere(either & constraints.forbidden & constraints.forbidden.T)
    if len(found):
        raise GraphError(f"{_show(names, found[0])} of {START} is forbidden")
    found = np.argwhere(constraints.required & ~either)
    if len(found):
        raise GraphError(f"{_show(names, found[0])} is required, and {START} lacks it: add it")
    dag = graph.extension()
    for name in dag.nodes:
        if len(dag.parents(name)) > constraints.most_parents:
            raise GraphError(
                f"{START} gives {name!r} more parents than "
                f"{option('max_parents', constraints.most_parents)}"
            )
    return joined


def _show(names: Sequence[str], pair: Any) -> str:
    return f"the edge {names[pair[0]]} -> {names[pair[1]]}"


class BackgroundKnowledge:
    """Constraints on edges, as one set of bits for each node."""

    def __init__(self, constraints: Constraints) -> None:
        required, forbidden = constraints.required, constraints.forbidden
        self.joined = _rows(required | required.T)  # must be adjacent
        self.apart = _rows(forbidden & forbidden.T)  # must not be adjacent
        self.leads = _rows(required | forbidden.T & ~forbidden)  # an edge must lead to these
        self.is_directed = any(self.leads)

    def member(self, graph: ClassGraph) -> Sets | None:
        """The parents in a DAG of the class that obeys the constraints; None if none does."""
        near = zip(self.joined, self.apart, graph.adjacent, strict=True)
        if any(must & ~has or never & has for must, never, has in near):
            return None
        if not self.is_directed:
            return graph.dag
        if any(above & leads for above, leads in zip(graph.parents, self.leads, strict=True)):
            return None
        dag, left = list(graph.parents), (1 << len(graph.dag)) - 1
        while left:
            last = next((x for x in members(left) if self._may_be_last(graph, x, left)), None)
            if last is None:
                return None
            left ^= 1 << last
            dag[last] |= graph.neighbours[last] & left
        return dag

    def _may_be_last(self, graph: ClassGraph, x: int, left: int) -> bool:
        near = graph.neighbours[x] & left
        if near & self.leads[x]:
            return False
        return all(not near & ~(graph.neighbours[y] | 1 << y) for y in members(near))


def with_known_directions(joined: Flags, names: Sequence[str], constraints: Constraints) -> PDAG:
    """A class with the further directions that constraints imply.

    Parameters
    ----------
    joined : (n, n) flags
        A completed PDAG, undirected edges in both directions.

    Returns
    -------
    PDAG
        A CPDAG if the constraints direct no further edge.
    """
    known = constraints.required | constraints.forbidden.T
    graph = PDAG.from_adjacency(joined & ~known.T, names).meek()
    complete = CPDAG.from_adjacency(joined, names)
    return complete if graph == PDAG(complete) else graph


def _rows(flags: Flags) -> Sets:
    return [set_of(np.flatnonzero(row).tolist()) for row in flags]
