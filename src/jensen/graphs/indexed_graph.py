"""Nodes and edges of a graph: as a draft by name, unchecked, and by index, checked and sorted.

Besides: which names nodes may have, and orders, cycles and reachability of directed graphs that
are given by index.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import prod
from operator import mul
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.support.text import offer
from jensen.support.tree_records import Wiring

Mark: TypeAlias = Literal["->", "--", "<->"]  # directed, undirected, directed both ways
Edge: TypeAlias = tuple[str, Mark, str]
Pair: TypeAlias = tuple[int, int]


class GraphDraft(NamedTuple):
    """A graph as the caller wrote it; nothing is checked yet."""

    nodes: Sequence[str]  # nodes that may be without edges; edges name further ones
    edges: Sequence[Edge]


class IndexedGraph(NamedTuple):
    """Nodes and edges of a graph by index: node i is nodes[i], and a pair has at most one edge."""

    nodes: tuple[str, ...]  # sorted
    directed: tuple[Pair, ...] = ()  # (from, to), sorted
    undirected: tuple[Pair, ...] = ()  # smaller index first, sorted
    conflicting: tuple[Pair, ...] = ()  # smaller index first, sorted

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All edges, whatever their kind."""
        return self.directed + self.undirected + self.conflicting

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """For each node those with an arrow to it, ascending because the edges are sorted."""
        parents: list[list[int]] = [[] for _ in self.nodes]
        for i, j in self.directed:
            parents[j].append(i)
        return tuple(map(tuple, parents))

    @property
    def skeleton(self) -> IndexedGraph:
        """The same edges without directions."""
        pairs = sorted((min(pair), max(pair)) for pair in self.pairs)
        return IndexedGraph(self.nodes, undirected=tuple(pairs))

    @property
    def edges(self) -> list[Edge]:
        """All edges by name, sorted by their ends."""
        kinds: tuple[tuple[Mark, tuple[Pair, ...]], ...] = (
            ("->", self.directed),
            ("--", self.undirected),
            ("<->", self.conflicting),
        )
        return [
            (self.nodes[i], mark, self.nodes[j])
            for i, j, mark in sorted((i, j, mark) for mark, pairs in kinds for i, j in pairs)
        ]


def show_edge(edge: Edge) -> str:
    """Write one edge in the arrow notation."""
    a, mark, b = edge
    return f"{show_name(a)} {mark} {show_name(b)}"


def build(draft: GraphDraft) -> IndexedGraph:
    """Check a draft's names and pairs, sort them, and number the nodes."""
    named = {check_name(name) for name in draft.nodes}
    edges: list[Edge] = [(check_name(a), mark, check_name(b)) for a, mark, b in draft.edges]
    nodes = tuple(sorted(named.union(*((a, b) for a, _, b in edges))))
    index = {name: i for i, name in enumerate(nodes)}
    kinds: dict[Mark, list[Pair]] = {"->": [], "--": [], "<->": []}
    seen: dict[Pair, Edge] = {}
    for edge in edges:
        a, mark, b = edge
        pair = index[a], index[b]
        low_high = min(pair), max(pair)
        _check_pair(edge, seen.get(low_high))
        seen[low_high] = edge
        kinds[mark].append(pair if mark == "->" else low_high)
    return IndexedGraph(nodes, *(tuple(sorted(pairs)) for pairs in kinds.values()))


def _check_pair(edge: Edge, earlier: Edge | None) -> None:
    """Refuse an edge from a node to itself, and a second edge between two nodes."""
    a, mark, b = edge
    if a == b:
        raise GraphError(f"'{show_edge(edge)}' joins {a!r} to itself; leave this edge out")
    if earlier is None:
        return
    if earlier == edge or (earlier == (b, mark, a) and mark != "->"):
        raise GraphError(f"the edge '{show_edge(edge)}' stands twice; give every edge once")
    reason = "a pair of nodes has one edge at most"
    if mark == earlier[1] == "->":
        reason = f"that is the cycle {show_name(b)} -> {show_name(a)} -> {show_name(b)}"
    raise GraphError(
        f"'{show_edge(earlier)}' and '{show_edge(edge)}' join the same two nodes; {reason}"
    )


# --- names ---

LONGEST = 10
"""The most nodes of a path that a message shows."""

BARE = r'[^\s;,"<>→←↔\[\]-]'  # one character of a name that needs no quotes


def check_name(name: object) -> str:
    """Return the name as a plain string, or refuse it."""
    if not isinstance(name, str):
        raise GraphError(
            f"a node's name must be a string, but {name!r} is of type {type(name).__name__}; "
            f"rename it, for example with str()"
        )
    if not name:
        raise GraphError("a node's name must not be empty; give every node a name")
    return str(name)  # np.str_ would print differently


def check_names(names: Iterable[object]) -> list[str]:
    """Check a list of names in which each must be unique."""
    if isinstance(names, str):
        raise GraphError(f"nodes must be a list of names, not the string {names!r}")
    counts = Counter(map(check_name, names))
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise GraphError(f"the name {repeated[0]!r} stands twice in the list of nodes")
    return list(counts)


def quote_name(name: str) -> str:
    r"""Put a name in double quotes, with ``\"`` and ``\\`` inside."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquote_name(text: str) -> str:
    """Undo `quote_name`."""
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def show_name(name: str) -> str:
    """Write a name as the arrow notation reads it, in quotes where it needs them."""
    return name if re.fullmatch(f"{BARE}+", name) else quote_name(name)


def show_path(names: Sequence[str]) -> str:
    """Write a directed path as arrow notation; of a long one the first few nodes and the last.

    >>> show_path(["A", "B", "my C", "A"])
    'A -> B -> "my C" -> A'
    """
    shown = [show_name(name) for name in names]
    left_out = len(names) - LONGEST
    if left_out > 0:
        shown[LONGEST - 2 : -2] = [f"... {left_out:,} more ..."]
    return " -> ".join(shown)


def unknown_node(name: object, nodes: Sequence[str]) -> GraphError:
    """Build the error for a name that is not in the graph, with what was probably meant."""
    return GraphError(f"there is no node {name!r} in the graph; {offer(name, nodes, 'node')}")


# --- orders, cycles, reachability ---

Links = Sequence[Collection[int]]  # for each node the nodes it leads to


def inverse(links: Links) -> list[list[int]]:
    """Turn parents into children and back; the lists are sorted."""
    back: list[list[int]] = [[] for _ in links]
    for x, others in enumerate(links):
        for y in others:
            back[y].append(x)
    return back


def topological_order(parents: Links) -> list[int]:
    """Order parents before children, the smallest index first; a cycle's nodes are left out."""
    children = inverse(parents)
    waiting = [len(ps) for ps in parents]
    ready = [x for x, count in enumerate(waiting) if not count]
    heapify(ready)
    order = []
    while ready:
        x = heappop(ready)
        order.append(x)
        for y in children[x]:
            waiting[y] -= 1
            if not waiting[y]:
                heappush(ready, y)
    return order


def find_cycle(parents: Links) -> list[int]:
    """Find one directed cycle, from its smallest node to itself again; empty if there is none."""
    stuck = set(range(len(parents))).difference(topological_order(parents))
    if not stuck:
        return []
    # every node left has a parent that is left, so the way up must come to a node twice
    path, place = [min(stuck)], {min(stuck): 0}
    while True:
        x = min(stuck.intersection(parents[path[-1]]))
        if x in place:
            cycle = path[place[x] :][::-1]
            first = cycle.index(min(cycle))
            return [*cycle[first:], *cycle[: first + 1]]
        place[x] = len(path)
        path.append(x)


def reach(links: Links, starts: Iterable[int], blocked: Collection[int] = ()) -> set[int]:
    """Collect all nodes that can be reached, the starts included, without a blocked one."""
    seen = set(starts).difference(blocked)
    todo = list(seen)
    while todo:
        for y in links[todo.pop()]:
            if y not in seen and y not in blocked:
                seen.add(y)
                todo.append(y)
    return seen


# --- the tables of a discrete network as flat index arrays, which kernels read ---

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
