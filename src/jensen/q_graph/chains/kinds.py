"""Kinds of chains, by what they move over: orders, partitions or graphs. A kind is a class."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.support.chain_records import (
    Array,
    ChainGraph,
    ChainSamples,
    Integers,
    MoveCounts,
    ParentWeights,
    empty_graph,
    make_workspace,
    n_words,
)
from jensen.support.fields import record


@record
class ChainState(NamedTuple):
    """The position of one chain: all that its next step needs."""

    rng: NDArray[np.uint64]  # (4,)
    nodes: Integers  # (n,): the order, or the part of each variable
    sums: Array  # (n,): log sums of parent sets, by variable
    graph: ChainGraph  # of a chain over graphs; other chains use it as workspace
    moves: MoveCounts


class ChainKind(Protocol):
    """One kind of chain."""

    @property
    def moves(self) -> tuple[str, ...]:
        """The names of its moves."""

    @property
    def keeps_orders(self) -> bool:
        """Whether a sample holds the order from which its graph was drawn."""

    @property
    def cycle_length(self) -> int:
        """The number of proposals in a cycle; samples are taken after whole cycles only."""

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> ChainState:
        """A state that fits the order."""

    def advance(
        self, state: ChainState, t: ParentWeights, n_rounds: int, thin: int, kept: ChainSamples
    ) -> None:
        """Make `thin` cycles in each round, in place, and fill `kept` with a sample of each."""

    def weigh(self, state: ChainState, t: ParentWeights) -> float:
        """The log weight of the state; its sums are computed anew, for the weights may differ."""


class GraphKind(ChainKind, Protocol):
    """A kind of chain that a graph has one state of."""

    @property
    def cycle(self) -> Integers:
        """(2,): the chain's own moves and the reversals of a cycle."""

    def put(self, state: ChainState, parents: NDArray[np.uint64], t: ParentWeights) -> None:
        """Put the chain at the state of a graph, by its parents (n, W)."""


class Orders:
    """A chain over orders."""

    keeps_orders = True
    cycle_length = 1

    @property
    def moves(self) -> tuple[str, ...]:
        """See `ChainKind`."""
        from jensen.kernels.moves import ORDER_MOVES

        return tuple(move.name for move in ORDER_MOVES)

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> ChainState:
        """At the order itself."""
        n = len(order)
        state = ChainState(rng, order.copy(), np.zeros(n), empty_graph(0), _no_moves(self.moves))
        self.weigh(state, t)
        return state

    def advance(
        self, state: ChainState, t: ParentWeights, n_rounds: int, thin: int, kept: ChainSamples
    ) -> None:
        """See `ChainKind`."""
        from jensen.kernels.order_chain import advance_orders

        workspace = make_workspace(len(state.nodes))
        advance_orders(
            state.rng, t, state.nodes, state.sums, workspace, state.moves, n_rounds, thin, kept
        )

    def weigh(self, state: ChainState, t: ParentWeights) -> float:
        """See `ChainKind`."""
        from jensen.kernels.order_chain import weigh_order

        return float(weigh_order(state.nodes, t, make_workspace(len(state.nodes)), state.sums))


class _Cycles:
    """A cycle is a number of the chain's own moves, then a number of edge reversals."""

    def __init__(self, n_moves: int, n_reversals: int) -> None:
        self.cycle = np.array([n_moves, n_reversals])

    @property
    def cycle_length(self) -> int:
        """Moves and reversals together."""
        return int(self.cycle.sum())


class Partitions(_Cycles):
    """A chain over ordered partitions; edges are reversed in graphs drawn from them."""

    keeps_orders = False

    def __init__(self, n_moves: int = 10, n_reversals: int = 30) -> None:
        super().__init__(n_moves, n_reversals)

    @property
    def moves(self) -> tuple[str, ...]:
        """See `ChainKind`."""
        from jensen.kernels.moves import PARTITION_MOVES

        return tuple(move.name for move in PARTITION_MOVES)

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> ChainState:
        """At the layers of a graph drawn from the order."""
        n = len(order)
        parts = layers(draw_graph(rng, order, t))
        state = ChainState(rng, parts, np.zeros(n), empty_graph(n), _no_moves(self.moves))
        self.weigh(state, t)
        return state

    def advance(
        self, state: ChainState, t: ParentWeights, n_rounds: int, thin: int, kept: ChainSamples
    ) -> None:
        """See `ChainKind`."""
        from jensen.kernels.partition_chain import advance_partitions

        workspace = make_workspace(len(state.nodes))
        advance_partitions(
            state.rng, t, state.nodes, state.sums, workspace, state.moves, state.graph, self.cycle,
            n_rounds, thin, kept,
        )  # fmt: skip

    def weigh(self, state: ChainState, t: ParentWeights) -> float:
        """See `ChainKind`."""
        from jensen.kernels.partition_chain import weigh_partition

        return float(weigh_partition(state.nodes, t, make_workspace(len(state.nodes)), state.sums))

    def put(self, state: ChainState, parents: NDArray[np.uint64], t: ParentWeights) -> None:
        """See `GraphKind`."""
        state.nodes[:] = layers(parents)
        self.weigh(state, t)


class Structures(_Cycles):
    """A chain over graphs."""

    keeps_orders = False

    def __init__(self, n_moves: int = 100, n_reversals: int = 1) -> None:
        super().__init__(n_moves, n_reversals)

    @property
    def moves(self) -> tuple[str, ...]:
        """See `ChainKind`."""
        from jensen.kernels.moves import STRUCTURE_MOVES

        return tuple(move.name for move in STRUCTURE_MOVES)

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> ChainState:
        """At a graph drawn from the order."""
        n = len(order)
        state = ChainState(
            rng, np.zeros(n, np.int64), np.zeros(n), empty_graph(n), _no_moves(self.moves)
        )
        self.put(state, draw_graph(rng, order, t), t)
        return state

    def advance(
        self, state: ChainState, t: ParentWeights, n_rounds: int, thin: int, kept: ChainSamples
    ) -> None:
        """See `ChainKind`."""
        from jensen.kernels.structure_chain import advance_graphs

        workspace = make_workspace(len(state.nodes))
        advance_graphs(
            state.rng, t, workspace, state.moves, state.graph, self.cycle, n_rounds, thin, kept
        )

    def weigh(self, state: ChainState, t: ParentWeights) -> float:
        """See `ChainKind`."""
        from jensen.kernels.structure_chain import weigh_graph

        return float(weigh_graph(state.graph, t))

    def put(self, state: ChainState, parents: NDArray[np.uint64], t: ParentWeights) -> None:
        """See `GraphKind`."""
        from jensen.kernels.structure_chain import read_graph

        read_graph(parents, t, make_workspace(len(parents)), state.graph)


GRAPH_KINDS: dict[str, GraphKind] = {"partition": Partitions(), "structure": Structures()}

KINDS: dict[str, ChainKind] = {**GRAPH_KINDS, "order": Orders()}


def draw_graph(rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> NDArray[np.uint64]:
    """(n, W): the parents of all variables in a graph drawn from an order."""
    kept = make_samples(1, len(order), keeps_orders=True)
    orders = Orders()
    orders.advance(orders.begin(rng, order, t), t, 1, 0, kept)
    return np.asarray(kept.parents[0])


def layers(parents: NDArray[np.uint64]) -> Integers:
    """(n,): roots 0, others one more than their highest parent; parents (n, W) are bits."""
    n = len(parents)
    bits = np.arange(n, dtype=np.uint64)
    joined = (parents[:, bits // 64] >> bits % 64) & 1 == 1  # [child, parent]
    found = np.zeros(n, np.int64)
    for _ in range(n):
        found = np.where(joined.any(1), np.where(joined, found, -1).max(1) + 1, 0)
    return found


def make_samples(n_samples: int, n: int, *, keeps_orders: bool) -> ChainSamples:
    """Empty arrays for so many samples of graphs of n variables."""
    orders = np.zeros((n_samples, n) if keeps_orders else (0, 0), np.int16)
    parents = np.zeros((n_samples, n, n_words(n)), np.uint64)
    return ChainSamples(parents, np.zeros(n_samples), np.zeros(n_samples), orders)


def _no_moves(names: tuple[str, ...]) -> MoveCounts:
    return MoveCounts(np.zeros(len(names), np.int64), np.zeros(len(names), np.int64))
