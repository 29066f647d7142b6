"""Rows in which a node was set from outside: they say nothing of what its parents do to it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.exceptions import DataError
from jensen.graphs import DAG
from jensen.scores.interventions import NONE, split_interventions

WasSet = NDArray[np.int64] | None
"""For each row the node that was set; -1: none. None: nothing was ever set."""


def counted_rows(table: RowSource, was_set: WasSet) -> WasSet:
    """What was set in the rows that have a weight."""
    if was_set is None or not table.is_weighted:
        return was_set
    has_weight = np.concatenate([block.weights > 0.0 for block in table.blocks()])
    return np.asarray(was_set[has_weight])


def split_set_rows(graph: DAG, table: RowSource, interventions: Any) -> tuple[RowSource, WasSet]:
    """The table without the column that tells what was set, and which node that was.

    A column that is no node of the graph may have been set: this changes nothing.
    """
    data, was_set = split_interventions(table, interventions)
    if was_set is None:
        return data, None
    position = {name: v for v, name in enumerate(graph.nodes)}
    by_column = [position.get(name, NONE) for name in sorted(data.names)]
    nodes = np.array([*by_column, NONE], np.int64)[was_set]
    for v in np.unique(nodes[nodes != NONE]).tolist():
        missing = np.concatenate([block.missing(graph.nodes[v]) for block in data.blocks()])
        unknown = np.flatnonzero((nodes == v) & missing)
        if len(unknown):
            raise DataError(
                f"row {unknown[0] + 1:,} says that {graph.nodes[v]!r} was set, but not to what: "
                f"its value is missing there"
            )
    return data, nodes
