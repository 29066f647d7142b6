"""What chains move over: orders, partitions, graphs. One kind is one class with three functions."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.chains.records import (
    Array,
    Graph,
    Integers,
    Kept,
    Moves,
    ParentWeights,
    empty_graph,
    make_room,
    n_words,
)
from jensen.q_graph.chains.starts import layers


class State(NamedTuple):
    """Where a chain is: all that its next step needs."""

    rng: NDArray[np.uint64]  # (4,)
    nodes: Integers  # (n,): the order, or the part of each variable
    sums: Array  # (n,): log sums of parent sets, by variable
    graph: Graph  # of a chain over graphs; others work in it
    moves: Moves


class Kind(Protocol):
    """One kind of chain."""

    @property
    def moves(self) -> tuple[str, ...]:
        """What they are called."""

    @property
    def keeps_orders(self) -> bool:
        """Whether samples tell the order that they were drawn from."""

    @property
    def cycle_length(self) -> int:
        """Proposals that belong together: a sample is taken after whole cycles only."""

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> State:
        """A state that fits the order."""

    def advance(self, state: State, t: ParentWeights, n_rounds: int, thin: int, kept: Kept) -> None:
        """Go through `thin` cycles a round, in place; samples are kept while there is room."""

    def weigh(self, state: State, t: ParentWeights) -> float:
        """The log weight of the state, whose sums are made anew: the weights may be others."""


class Orders:
    """A chain over orders."""

    keeps_orders = True
    cycle_length = 1

    @property
    def moves(self) -> tuple[str, ...]:
        """As the protocol says."""
        from jensen.q_graph.chains.moves.rows import ORDER_MOVES

        return tuple(move.name for move in ORDER_MOVES)

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> State:
        """At the order itself."""
        n = len(order)
        state = State(rng, order.copy(), np.zeros(n), empty_graph(0), _no_moves(self.moves))
        self.weigh(state, t)
        return state

    def advance(self, state: State, t: ParentWeights, n_rounds: int, thin: int, kept: Kept) -> None:
        """As the protocol says."""
        from jensen.kernels.order_chain import advance_orders

        room = make_room(len(state.nodes))
        advance_orders(
            state.rng, t, state.nodes, state.sums, room, state.moves, n_rounds, thin, kept
        )

    def weigh(self, state: State, t: ParentWeights) -> float:
        """As the protocol says."""
        from jensen.kernels.order_chain import weigh_order

        return float(weigh_order(state.nodes, t, make_room(len(state.nodes)), state.sums))


class _Cycles:
    """So many moves of the chain's own, then so many reversals of edges."""

    def __init__(self, n_moves: int, n_reversals: int) -> None:
        self.cycle = np.array([n_moves, n_reversals])

    @property
    def cycle_length(self) -> int:
        """Of both together."""
        return int(self.cycle.sum())


class Partitions(_Cycles):
    """A chain over ordered partitions; edges are reversed in graphs drawn from them."""

    keeps_orders = False

    def __init__(self, n_moves: int = 10, n_reversals: int = 30) -> None:
        super().__init__(n_moves, n_reversals)

    @property
    def moves(self) -> tuple[str, ...]:
        """As the protocol says."""
        from jensen.q_graph.chains.moves.rows import PARTITION_MOVES

        return tuple(move.name for move in PARTITION_MOVES)

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> State:
        """At the layers of a graph drawn from the order."""
        n = len(order)
        parts = layers(draw_graph(rng, order, t))
        state = State(rng, parts, np.zeros(n), empty_graph(n), _no_moves(self.moves))
        self.weigh(state, t)
        return state

    def advance(self, state: State, t: ParentWeights, n_rounds: int, thin: int, kept: Kept) -> None:
        """As the protocol says."""
        from jensen.kernels.partition_chain import advance_partitions

        room = make_room(len(state.nodes))
        advance_partitions(
            state.rng, t, state.nodes, state.sums, room, state.moves, state.graph, self.cycle,
            n_rounds, thin, kept,
        )  # fmt: skip

    def weigh(self, state: State, t: ParentWeights) -> float:
        """As the protocol says."""
        from jensen.kernels.partition_chain import weigh_partition

        return float(weigh_partition(state.nodes, t, make_room(len(state.nodes)), state.sums))


class Structures(_Cycles):
    """A chain over graphs."""

    keeps_orders = False

    def __init__(self, n_moves: int = 100, n_reversals: int = 1) -> None:
        super().__init__(n_moves, n_reversals)

    @property
    def moves(self) -> tuple[str, ...]:
        """As the protocol says."""
        from jensen.q_graph.chains.moves.rows import STRUCTURE_MOVES

        return tuple(move.name for move in STRUCTURE_MOVES)

    def begin(self, rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> State:
        """At a graph drawn from the order."""
        from jensen.kernels.structure_chain import read_graph

        n = len(order)
        graph = empty_graph(n)
        read_graph(draw_graph(rng, order, t), t, make_room(n), graph)
        return State(rng, np.zeros(n, np.int64), np.zeros(n), graph, _no_moves(self.moves))

    def advance(self, state: State, t: ParentWeights, n_rounds: int, thin: int, kept: Kept) -> None:
        """As the protocol says."""
        from jensen.kernels.structure_chain import advance_graphs

        room = make_room(len(state.nodes))
        advance_graphs(
            state.rng, t, room, state.moves, state.graph, self.cycle, n_rounds, thin, kept
        )

    def weigh(self, state: State, t: ParentWeights) -> float:
        """As the protocol says."""
        from jensen.kernels.structure_chain import weigh_graph

        return float(weigh_graph(state.graph, t))


KINDS: dict[str, Kind] = {
    "partition": Partitions(),
    "order": Orders(),
    "structure": Structures(),
}


def draw_graph(rng: NDArray[np.uint64], order: Integers, t: ParentWeights) -> NDArray[np.uint64]:
    """(n, W): the parents of all variables in a graph drawn from an order."""
    kept = room_for_samples(1, len(order), keeps_orders=True)
    orders = Orders()
    orders.advance(orders.begin(rng, order, t), t, 1, 0, kept)
    return np.asarray(kept.parents[0])


def room_for_samples(n_samples: int, n: int, *, keeps_orders: bool) -> Kept:
    """Room for so many samples of graphs of n variables."""
    orders = np.zeros((n_samples, n) if keeps_orders else (0, 0), np.int16)
    parents = np.zeros((n_samples, n, n_words(n)), np.uint64)
    return Kept(parents, np.zeros(n_samples), np.zeros(n_samples), orders)


def _no_moves(names: tuple[str, ...]) -> Moves:
    return Moves(np.zeros(len(names), np.int64), np.zeros(len(names), np.int64))
