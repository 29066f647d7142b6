"""What exact answers need of a network of tables, whether it has arrows or not."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jensen.data import Variable
    from jensen.graphs.base import Graph
    from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]


class RelevantTables(NamedTuple):
    """The part of a network that a question depends on."""

    variables: list[int]
    tables: list[int]  # families of the wiring


class TableNetwork(Protocol):
    """A product of tables over labels: conditional ones of a directed graph, or potentials."""

    @property
    def graph(self) -> Graph:
        """The graph, whose nodes are the variables."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the nodes."""

    @property
    def wiring(self) -> Wiring:
        """The tables as flat arrays."""

    @property
    def kernel_tables(self) -> tuple[Array, Array]:
        """The tables and their logs, flat, as writable arrays."""

    @property
    def log_tables(self) -> Array:
        """The logs of the tables as they are, flat."""

    @property
    def log_z(self) -> float:
        """The log of the sum of the product of all tables over all states."""

    @property
    def sums_to_one(self) -> bool:
        """Whether that sum is 1 whatever the tables are, as of conditional ones."""

    @property
    def log_normalizer(self) -> float:
        """The log of the sum of the product of `kernel_tables` over all states."""

    @property
    def concentration(self) -> Array | None:
        """Of a posterior of the tables, if there is one."""

    @property
    def samples(self) -> Array | None:
        """(S, P): tables drawn from a posterior, if there are any."""

    @property
    def questions(self) -> dict[Any, Any]:
        """Cache of compiled questions by their form."""

    def index(self, name: str) -> int:
        """Position of a variable among the nodes."""

    def relevant(self, wanted: Collection[int], set_ones: Collection[int] = ()) -> RelevantTables:
        """What an answer about these variables depends on, where some are set from outside."""
