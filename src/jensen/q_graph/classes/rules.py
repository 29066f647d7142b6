"""What a search over equivalence classes can be asked for, and where it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jensen.data import Table
from jensen.data.counting import require_complete
from jensen.exceptions import GraphError, JensenError
from jensen.graphs import PDAG
from jensen.q_graph.classes.graph import Flags
from jensen.q_graph.constraints import Constraints
from jensen.scores.registry import names_where
from jensen.scores.scorer import HasGraphPrior, HasOwnRows, Scorer, offered
from jensen.support.text import either, offer

OTHERWISE = "use method='hill-climb' or 'tabu'"


def use_pc(keep_complete_rows: str) -> str:
    """What works with missing values where classes, or neighbours, are searched for."""
    return f"use method='pc', whose tests do not, or {keep_complete_rows}"


def check_scorer(scorer: Scorer) -> None:
    """Refuse scores that tell the graphs of a class apart."""
    if scorer.is_set_function:
        return
    believed, rows = offered(scorer, HasGraphPrior), offered(scorer, HasOwnRows)
    if believed is not None:
        check_scorer(believed.data)
        odds = believed.prior.log_odds
        u, v = (scorer.names[i] for i in np.argwhere(odds != odds.T)[0])
        raise JensenError(
            f"method='ges' needs a prior that is the same for all graphs of an equivalence class, "
            f"and prior= has other odds for {u} -> {v} than for {v} -> {u}: give both the same "
            f"probability, or {OTHERWISE}"
        )
    if rows is not None and rows.has_own_rows():
        raise JensenError(
            f"with interventions= the graphs of an equivalence class score differently, so there "
            f"is no class to search for: {OTHERWISE}"
        )
    alike = names_where(lambda spec: spec.is_set_function)
    different = names_where(lambda spec: not spec.is_set_function)
    raise JensenError(
        f"method='ges' needs a score that is the same for all graphs of an equivalence class: "
        f"{either(alike)}; with {', '.join(different)}, missing='available-case' or listed local "
        f"scores {OTHERWISE}"
    )


def check_table(table: Table) -> None:
    """Refuse missing values: no score that counts each family's own rows is one of classes."""
    require_complete(table, table.names, "method='ges'", use_pc)


def read_class(start: Any, names: Sequence[str], constraints: Constraints) -> Flags:
    """The class that a search begins with, [a, b] and [b, a] for an undirected edge.

    Parameters
    ----------
    start
        A graph whose class is meant: a DAG, a CPDAG, or any that can be extended to a DAG; None
        has no edges.
    """
    joined = np.zeros((len(names), len(names)), bool)
    if start is None:
        return joined
    graph = PDAG(start).cpdag()
    at = {name: i for i, name in enumerate(names)}
    unknown = sorted(set(graph.nodes) - set(names))
    if unknown:
        raise GraphError(
            f"start= has a node {unknown[0]!r} that is no column; "
            f"{offer(unknown[0], names, 'column')}"
        )
    places = [at[name] for name in graph.nodes]
    joined[np.ix_(places, places)] = graph.adjacency
    either = joined | joined.T
    found = np.argwhere(either & constraints.forbidden & constraints.forbidden.T)
    if len(found):
        raise GraphError(f"{_show(names, found[0])} of start= is forbidden")
    found = np.argwhere(constraints.required & ~either)
    if len(found):
        raise GraphError(f"{_show(names, found[0])} is required, and start= lacks it: add it")
    dag = graph.extension()
    for name in dag.nodes:
        if len(dag.parents(name)) > constraints.most_parents:
            raise GraphError(
                f"start= gives {name!r} more parents than max_parents={constraints.most_parents}"
            )
    return joined


def _show(names: Sequence[str], pair: Any) -> str:
    return f"the edge {names[pair[0]]} -> {names[pair[1]]}"
