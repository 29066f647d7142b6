"""The part of a network that can matter for the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, Table
from jensen.graphs.order import reach
from jensen.q_hidden.trees.problems import code_rows

if TYPE_CHECKING:
    from jensen.inference.network import Network


class Part(NamedTuple):
    """Variables with a descendant that has a column or is asked for."""

    variables: list[int]
    families: list[tuple[int, ...]]
    entries: NDArray[np.int64]  # of the network's flat tables
    read: Callable[[int, int], NDArray[np.int32]]  # codes of some rows; -1 is missing


def relevant_variables(
    network: Network, seen: Collection[str], asked: Collection[int]
) -> list[int]:
    """Those with a descendant that is seen or asked for; the tables of others sum to one."""
    known = {v for v, name in enumerate(network.graph.nodes) if name in seen}
    return sorted(reach(network.graph.parent_indices, known.union(asked)))


def relevant_part(
    network: Network, table: Table, asked: Collection[int], ignored: Collection[int] = ()
) -> Part:
    """What matters if some variables are asked for; columns of ignored ones are not looked at."""
    names, w = network.graph.nodes, network.wiring
    shown = [name if v not in ignored else "" for v, name in enumerate(names)]
    variables = relevant_variables(network, {name for name in shown if name in table}, asked)
    at = [np.arange(w.fam_at[v], w.fam_at[v + 1]) for v in variables]
    irrelevant = np.ones(len(names), bool)
    irrelevant[variables] = False

    def read(start: int, stop: int) -> NDArray[np.int32]:
        rows = code_rows(Block(table, start, stop), shown)
        rows[:, irrelevant] = 0  # what cannot matter is not missing
        return rows

    families = [tuple(w.members(v).tolist()) for v in variables]
    return Part(variables, families, np.concatenate([np.empty(0, np.int64), *at]), read)
