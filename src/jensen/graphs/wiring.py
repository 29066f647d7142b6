"""The tables of a discrete network as flat index arrays, which the kernels read."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.graphs.indexed_graph import topological_order
from jensen.support.tree_records import Wiring

LARGEST = 2**62  # entries in all tables together, so that positions and sums fit int64


def wire(parent_indices: Sequence[Sequence[int]], cards: Sequence[int]) -> Wiring:
    """Lay out the tables of a directed graph.

    Parameters
    ----------
    parent_indices
        The parents of each variable, as `DAG.parent_indices` gives them.
    cards
        The number of states of each variable.

    Examples
    --------
    >>> from jensen.graphs import DAG, wire
    >>> wiring = wire(DAG("A -> C <- B").parent_indices, [2, 3, 4])
    >>> wiring.fam_vars, wiring.fam_stride
    (array([0, 1, 0, 1, 2]), array([ 1,  1, 12,  4,  1]))
    >>> wiring.fam_at
    array([ 0,  2,  5, 29])
    """
    _check(parent_indices, cards)
    return wire_families([(*sorted(up), x) for x, up in enumerate(parent_indices)], cards)


def wire_families(families: Sequence[Sequence[int]], cards: Sequence[int]) -> Wiring:
    """Lay out one table per family, whatever the families are."""
    states = [int(card) for card in cards]
    sizes = [prod(states[x] for x in family) for family in families]
    _check_sizes(sizes)
    touch: list[list[int]] = [[] for _ in states]
    for f, family in enumerate(families):
        for x in family:
            touch[x].append(f)
    return Wiring(
        cards=_flat(states),
        fam_ptr=_flat(accumulate(map(len, families), initial=0)),
        fam_vars=_flat(x for family in families for x in family),
        fam_stride=_flat(step for family in families for step in _strides(family, states)),
        fam_at=_flat(accumulate(sizes, initial=0)),
        touch_ptr=_flat(accumulate(map(len, touch), initial=0)),
        touch=_flat(f for fs in touch for f in fs),
    )


def _check(parent_indices: Sequence[Sequence[int]], cards: Sequence[int]) -> None:
    """Refuse sizes that do not fit the graph, and cycles."""
    n, states = len(parent_indices), list(cards)
    if len(states) != n:
        raise GraphError(f"there are {n} variables, but {len(states)} numbers of states")
    if n and min(states) < 1:
        x = states.index(min(states))
        raise GraphError(f"variable {x} has {states[x]} states; it needs one at least")
    if len(topological_order(parent_indices)) < n:
        raise GraphError("the graph has a directed cycle; tables need an acyclic graph")


def _check_sizes(sizes: list[int]) -> None:
    """Refuse tables whose entries cannot be numbered."""
    if sum(sizes) > LARGEST:
        x = sizes.index(max(sizes))
        raise GraphError(
            f"the tables have {sum(sizes):.3g} entries together, more than 2**62; the largest is "
            f"that of variable {x} with {sizes[x]:.3g}; give it fewer parents or states"
        )


def _strides(family: Sequence[int], states: list[int]) -> list[int]:
    """List the steps of a table in which the last member runs fastest."""
    steps = list(accumulate((states[x] for x in family[:0:-1]), mul, initial=1))
    return steps[: len(family)][::-1]


def _flat(numbers: Iterable[int]) -> NDArray[np.int64]:
    """Collect numbers in an array."""
    return np.fromiter(numbers, np.int64)
