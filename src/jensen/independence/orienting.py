"""Directions of a skeleton: what is known, colliders, and what follows from these."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jensen.exceptions import GraphError
from jensen.graphs import PDAG, orientation
from jensen.graphs.indexed_graph import IndexedGraph
from jensen.independence.colliders import Triple
from jensen.independence.skeleton import Flags
from jensen.independence.testing import Ends
from jensen.q_graph.constraints import Constraints


class Oriented(NamedTuple):
    """A graph, and what had to give way."""

    graph: PDAG
    overruled: tuple[Ends, ...]  # arrows of colliders that constraints forbid
    consistent: bool


def orient(
    names: Sequence[str], adjacent: Flags, colliders: Sequence[Triple], constraints: Constraints
) -> Oriented:
    """Direct edges by constraints, then by colliders, then by Meek's rules.

    Constraints win over colliders. An edge that two colliders direct both ways, or Meek's rules do,
    is a conflicting one.
    """
    n = len(names)
    known = adjacent & (constraints.required | constraints.forbidden.T)
    wanted = np.zeros((n, n), bool)
    for a, c, b in colliders:
        wanted[a, c] = wanted[b, c] = True
    overruled = wanted & known.T
    arrows = known | (wanted & ~known.T)
    both = arrows & arrows.T
    oriented = IndexedGraph(
        tuple(names),
        _pairs(arrows & ~both),
        _pairs(np.triu(adjacent & ~arrows & ~arrows.T)),
        _pairs(np.triu(both)),
    )
    graph = PDAG._of(orientation.meek(oriented))
    try:
        complete = graph.cpdag()
    except GraphError:
        return Oriented(graph, _pairs(overruled), consistent=False)
    is_class = complete._indexed == graph._indexed
    return Oriented(complete if is_class else graph, _pairs(overruled), consistent=True)


def _pairs(flags: Flags) -> tuple[Ends, ...]:
    return tuple((a, b) for a, b in np.argwhere(flags).tolist())
