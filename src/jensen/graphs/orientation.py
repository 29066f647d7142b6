"""Directing undirected edges: Meek's rules, and extension to a directed acyclic graph."""

from collections.abc import Collection, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import combinations

from jensen.exceptions import GraphError
from jensen.graphs.indexed_graph import (
    IndexedGraph,
    Pair,
    find_cycle,
    show_edge,
    show_name,
    show_path,
)


class Marks:
    """Edges of a graph as sets by node, which the algorithms below change."""

    def __init__(self, indexed: IndexedGraph) -> None:
        n = len(indexed.nodes)
        self.parents: list[set[int]] = [set() for _ in range(n)]
        self.children: list[set[int]] = [set() for _ in range(n)]
        self.neighbours: list[set[int]] = [set() for _ in range(n)]  # by undirected edges
        self.adjacent: list[set[int]] = [set() for _ in range(n)]  # by any edge
        for a, b in indexed.directed:
            self.point(a, b)
        for a, b in indexed.undirected:
            self.neighbours[a].add(b)
            self.neighbours[b].add(a)
        for a, b in indexed.pairs:
            self.adjacent[a].add(b)
            self.adjacent[b].add(a)

    def point(self, a: int, b: int) -> None:
        """Add an arrow from a to b."""
        self.parents[b].add(a)
        self.children[a].add(b)

    def unjoin(self, a: int, b: int) -> None:
        """Remove the undirected edge a -- b; its ends stay adjacent."""
        self.neighbours[a].discard(b)
        self.neighbours[b].discard(a)

    def remove(self, x: int) -> None:
        """Remove a node with all its edges."""
        for y in self.adjacent[x]:
            for links in (self.parents, self.children, self.neighbours, self.adjacent):
                links[y].discard(x)


def meek(indexed: IndexedGraph) -> IndexedGraph:
    """Orient what Meek's four rules force, in rounds, so that no order of nodes matters.

    An edge that is forced both ways in the same round becomes a conflicting one.

    References
    ----------
    Meek (1995), *Causal inference and causal explanation with background knowledge*, figure 1.
    """
    marks = Marks(indexed)
    conflicting = set(indexed.conflicting)
    todo = set(indexed.undirected)
    while todo:
        both = {arrow for i, j in todo for arrow in ((i, j), (j, i))}
        forced = {(a, b) for a, b in both if _is_forced(marks, a, b)}
        for a, b in forced:
            marks.unjoin(a, b)
            if (b, a) in forced:
                conflicting.add((min(a, b), max(a, b)))
            else:
                marks.point(a, b)
        todo = _undirected_near(marks, forced)
    directed = sorted((a, b) for a, children in enumerate(marks.children) for b in children)
    undirected = sorted((a, b) for a, ns in enumerate(marks.neighbours) for b in ns if a < b)
    return IndexedGraph(
        indexed.nodes, tuple(directed), tuple(undirected), tuple(sorted(conflicting))
    )


def _is_forced(marks: Marks, a: int, b: int) -> bool:
    """Tell whether one of Meek's rules turns a -- b into a -> b."""
    near_b = marks.adjacent[b]
    if not marks.parents[a] <= near_b:  # c -> a -- b, else c and b make a new v-structure
        return True
    into_b = marks.parents[b]
    if not marks.children[a].isdisjoint(into_b):  # a -> c -> b, else a cycle
        return True
    sides = marks.neighbours[a] & into_b  # a -- c -> b and a -- d -> b
    if any(d not in marks.adjacent[c] for c, d in combinations(sides, 2)):
        return True
    far = marks.neighbours[a] - near_b  # a -- d -> c -> b, and a joined to c
    return any(not marks.parents[c].isdisjoint(far) for c in into_b & marks.adjacent[a])


def _undirected_near(marks: Marks, arrows: Iterable[Pair]) -> set[Pair]:
    """Collect the undirected edges to which a new arrow can make a rule apply."""
    ends = {x for a, b in arrows for x in (a, b, *marks.children[b])}
    return {(min(x, y), max(x, y)) for x in ends for y in marks.neighbours[x]}


def extension(indexed: IndexedGraph) -> IndexedGraph:
    """Orient all undirected edges without a cycle or a new v-structure, or say why not.

    Sinks are taken off one by one, the last name first, so A -- B becomes A -> B.

    References
    ----------
    Dor and Tarsi (1992), *A simple algorithm to construct a consistent extension of a partially
    oriented graph*.
    """
    marks = Marks(indexed)
    directed = list(indexed.directed)
    left = set(range(len(indexed.nodes)))
    candidates = [-x for x in left]
    heapify(candidates)
    while candidates:
        x = -heappop(candidates)
        if x not in left or not _is_sink(marks, x):
            continue
        directed.extend((y, x) for y in marks.neighbours[x])
        left.remove(x)
        marks.remove(x)
        for y in marks.adjacent[x]:  # only these can have become sinks
            heappush(candidates, -y)
    if left or indexed.conflicting:
        raise _no_extension(indexed, left)
    return IndexedGraph(indexed.nodes, tuple(sorted(directed)))


def _is_sink(marks: Marks, x: int) -> bool:
    """Tell whether all undirected edges at x can point to it without a new v-structure."""
    around = marks.adjacent[x]
    return not marks.children[x] and all(
        len(around - marks.adjacent[y]) == 1  # y itself
        for y in marks.neighbours[x]
    )


def _no_extension(indexed: IndexedGraph, left: set[int]) -> GraphError:
    """The error that says why a graph has no consistent extension."""
    names = indexed.nodes
    why = "no directed acyclic graph extends this one"
    if indexed.conflicting:
        a, b = indexed.conflicting[0]
        edge = show_edge((names[a], "<->", names[b]))
        return GraphError(f"{why}: '{edge}' points both ways; decide on one direction")
    cycle = find_cycle(indexed.parents)
    if cycle:
        return GraphError(f"{why}: it has the cycle {show_path([names[x] for x in cycle])}")
    stuck = ", ".join(show_name(names[x]) for x in sorted(left))
    return GraphError(
        f"{why}: however the undirected edges among {stuck} are directed, "
        f"they make a cycle or a new v-structure"
    )


# --- labels and numbers ---


def labels_first(indexed: IndexedGraph, labels: Collection[int]) -> IndexedGraph:
    """The extension in which undirected edges between labels and numbers lead to the numbers.

    It is the member of the class that a network of labels and numbers can have, or there is none:
    then the error names the numbers that stand between labels.
    """
    turned = {
        (a, b) if a in labels else (b, a)
        for a, b in indexed.undirected
        if (a in labels) != (b in labels)
    }
    left = tuple((a, b) for a, b in indexed.undirected if not {(a, b), (b, a)} & turned)
    directed = tuple(sorted({*indexed.directed, *turned}))
    before, after = set(indexed.directed), indexed._replace(directed=directed, undirected=left)
    try:
        found = extension(after)
    except GraphError:
        extension(indexed)  # whose error says more, where there is no extension at all
        raise _no_member(indexed, turned) from None
    if any(not {(a, c), (b, c)} <= before for a, c, b in v_structures(found)):
        raise _no_member(indexed, turned)
    return found


def v_structures(indexed: IndexedGraph) -> Iterator[tuple[int, int, int]]:
    """Yield a, c, b for every a -> c <- b where a and b are not joined."""
    joined = {*indexed.directed, *((b, a) for a, b in indexed.directed)}
    for c, above in enumerate(indexed.parents):
        for a, b in combinations(above, 2):
            if (a, b) not in joined:
                yield a, c, b


def _no_member(indexed: IndexedGraph, turned: set[Pair]) -> GraphError:
    """The error that names numbers between labels; `turned` are edges from labels to numbers."""
    numbers = {b for _, b in turned}
    parts: list[set[int]] = [{b} for b in sorted(numbers)]
    for a, b in indexed.undirected:
        if not {(a, b), (b, a)} & turned:
            touched = [part for part in parts if part & {a, b}]
            parts = [part for part in parts if part not in touched]
            parts += [set.union({a, b}, *touched)] if touched else []
    around = [(part, {a for a, b in turned if b in part}) for part in parts]
    part, near = max(around, key=lambda pair: len(pair[1]))
    between, ends = (
        ", ".join(show_name(indexed.nodes[x]) for x in sorted(xs)) for xs in (part, near)
    )
    return GraphError(
        f"this graph has undirected edges between labels ({ends}) and numbers ({between}), and no "
        f"network of labels and numbers is equivalent to it: there edges lead from labels to "
        f"numbers, which would make a new v-structure at {between}. Join the labels, direct the "
        f"edges yourself (as {show_name(indexed.nodes[min(near)])} -> "
        f"{show_name(indexed.nodes[min(part)])}), make states of the numbers with jn.discretize, "
        f"or learn the graph by a score, which keeps to such networks"
    )
