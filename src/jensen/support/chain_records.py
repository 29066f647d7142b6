"""Records of arrays that chains over graphs and their kernels share.

Variables are positions among the sorted names. A parent set is written as bits, one for each of the
child's candidates, and up to two parents that are no candidates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.support.fields import record

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

NOBODY = -1
"""An index that stands for no variable."""


class ParentWeights(NamedTuple):
    """How much every parent set weighs, and sums of these weights; n variables, K candidates each.

    All logs are relative to the heaviest set of the child. Weights of sets that are not within the
    candidates ("outside") are plain numbers, so that sums over them are products of vectors. One
    scale for all of them would overflow where a single parent gains hundreds of nats, so sets that
    hold such a parent stand in a row of its own, with a scale of its own.
    """

    candidates: Integers  # (n, K), sorted; filled up with the child itself
    place: Integers  # (n, n): [child, other] position among the candidates, or -1
    log_weights: Array  # (n, 2^K)
    log_sums: Array  # (n, 2^K): of all subsets of a set
    ranked: NDArray[np.int32]  # (n, 2^K): sets by falling weight
    singles: Array  # (n, n): weight of {u} outside, over that of log_base
    pairs: Array  # (n, n, n), symmetric: of {u, w} outside; (n, 0, 0) if there are none
    log_base: Array  # (n,)
    log_outside: Array  # (n,): of all sets outside together
    strong: Integers  # (n, S): parents with rows of their own, or -1
    strong_rows: Array  # (n, S, n): of {u, w}, and of {u} at u itself, over that of log_row
    log_row: Array  # (n, S)
    log_row_total: Array  # (n, S)


class ChainWorkspace(NamedTuple):
    """Arrays in which the kernels of one chain work; their contents do not outlast a call."""

    level: NDArray[
        np.int8
    ]  # (n,): 0 may not be a parent; 1 may; 2 may, and is one of those asked for
    allowed: Array  # (n,): 1 or 0
    asked: Array  # (n,): 1 or 0
    outsiders: Integers  # (2,): parents outside that were drawn
    seen: Words  # (W,)
    stack: Integers  # (n,)
    numbers: Array  # (n,)
    nodes: Integers  # (n,)


@record
class ChainGraph(NamedTuple):
    """A DAG, by the parents and the children of every variable."""

    inside: Integers  # (n,): the candidates among the parents, as bits
    outside: Integers  # (n, 2): parents that are no candidates, or -1
    parents: Words  # (n, W): all parents, as bits
    children: Words  # (n, W)


class ChainSamples(NamedTuple):
    """S samples of one chain."""

    parents: Words  # (S, n, W)
    scores: Array  # (S,): log weight of the graph
    states: Array  # (S,): log weight of the chain's own state
    orders: NDArray[np.int16]  # (S, n) of a chain over orders, else (0, 0)


@record
class MoveCounts(NamedTuple):
    """How often each move of a chain was tried, and how often it was accepted."""

    tried: Integers
    accepted: Integers


def n_words(n: int) -> int:
    """How many words of 64 bits hold a set of n variables."""
    return (n + 63) // 64


def make_workspace(n: int) -> ChainWorkspace:
    """ChainWorkspace for a chain over graphs of n variables."""
    return ChainWorkspace(
        np.zeros(n, np.int8),
        np.zeros(n),
        np.zeros(n),
        np.full(2, NOBODY, np.int64),
        np.zeros(n_words(n), np.uint64),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n, np.int64),
    )


def empty_graph(n: int) -> ChainGraph:
    """A graph of n variables without edges."""
    words = np.zeros((2, n, n_words(n)), np.uint64)
    return ChainGraph(np.zeros(n, np.int64), np.full((n, 2), NOBODY, np.int64), words[0], words[1])
