"""Directions of a skeleton: constraints, then colliders by majority, then Meek's rules.

A triple a - c - b whose ends are not adjacent is a collider a -> c <- b if c is in fewer than half
of all sets that separate a and b, taken from the possible parents of either. If c is in more than
half, it is no collider. At exactly half, or where no set separates the two, the triple stays
undecided.

References
----------
Colombo and Maathuis (2014), *Order-independent constraint-based causal structure learning*, JMLR
15: the majority rule.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jensen.exceptions import GraphError
from jensen.graphs import PDAG, orientation
from jensen.graphs.indexed_graph import IndexedGraph
from jensen.independence.skeleton import Flags, Skeleton, Watch, possible_parents
from jensen.independence.testing import Around, Ends, Given, Question, Tests, portions, subsets
from jensen.q_graph.constraints import Constraints

Triple = tuple[int, int, int]


class Colliders(NamedTuple):
    """Decisions about the triples (a, c, b), a < b, with edges a - c - b but no edge a - b."""

    found: list[Triple]
    unknown: list[Triple]
    n_tests: int
    interrupted: bool = False


def find_colliders(
    tests: Tests,
    skeleton: Skeleton,
    constraints: Constraints,
    log_alpha: float,
    max_given: int,
    watch: Watch,
) -> Colliders:
    """Decide every triple by the sets that separate its ends; none if the caller stops."""
    around = possible_parents(skeleton.adjacent, constraints)
    todo = _unshielded(skeleton.adjacent)
    separating: dict[Ends, list[Given]] = {ends: [] for ends in todo}
    place = {ends: k for k, ends in enumerate(todo)}
    n_tests = 0
    for some in portions(_questions(todo, skeleton, around, log_alpha, max_given)):
        a, b, given = some[0]
        if watch(len(given), place[a, b], len(todo)):
            return Colliders([], [], n_tests, interrupted=True)
        n_tests += len(some)
        for (a, b, given), log_p in zip(some, tests.log_p_values(some).tolist(), strict=True):
            if log_p > log_alpha:
                separating[a, b].append(given)
    return Colliders(*_decide(todo, separating), n_tests)


def _unshielded(adjacent: Flags) -> dict[Ends, list[int]]:
    """The pairs that are not adjacent but have common neighbours, and these neighbours."""
    apart = ~adjacent & (adjacent.astype(np.int64) @ adjacent.astype(np.int64) > 0)
    return {
        (a, b): np.flatnonzero(adjacent[a] & adjacent[b]).tolist()
        for a, b in np.argwhere(np.triu(apart, 1)).tolist()
    }


def _questions(
    todo: dict[Ends, list[int]],
    skeleton: Skeleton,
    around: Around,
    log_alpha: float,
    max_given: int,
) -> Iterator[Question]:
    """All sets that might separate each pair.

    Smaller sets than the separating set of the skeleton are skipped: all of them were tested
    before, at the same level.
    """
    is_same = log_alpha == skeleton.log_alpha
    for ends in todo:
        known = skeleton.separator(ends)
        most = min(max_given, max(len(around[v]) for v in ends))
        for size in range(len(known) if known and is_same else 0, most + 1):
            for given in subsets(ends, around, size):
                yield (*ends, given)


def _decide(
    todo: dict[Ends, list[int]], separating: dict[Ends, list[Given]]
) -> tuple[list[Triple], list[Triple]]:
    """The colliders, and the undecided triples.

    The separating set of the skeleton has no vote of its own: it may contain variables that are no
    longer neighbours.
    """
    found: list[Triple] = []
    unknown: list[Triple] = []
    for ends, middles in todo.items():
        for c in middles:
            balance = sum(1 if c in given else -1 for given in separating[ends])
            if balance < 0:
                found.append((ends[0], c, ends[1]))
            elif balance == 0:
                unknown.append((ends[0], c, ends[1]))
    return sorted(found), sorted(unknown)


class Oriented(NamedTuple):
    """A directed skeleton, and the arrows that constraints overruled."""

    graph: PDAG
    overruled: tuple[Ends, ...]  # arrows of colliders that constraints forbid
    consistent: bool


def orient(
    names: Sequence[str], adjacent: Flags, colliders: Sequence[Triple], constraints: Constraints
) -> Oriented:
    """Direct edges by constraints, then by colliders, then by Meek's rules.

    Constraints win over colliders. An edge that colliders or Meek's rules direct both ways is
    marked as conflicting.
    """
    n = len(names)
    known = adjacent & (constraints.required | constraints.forbidden.T)
    wanted = np.zeros((n, n), bool)
    for a, c, b in colliders:
        wanted[a, c] = wanted[b, c] = True
    overruled = wanted & known.T
    arrows = known | (wanted & ~known.T)
    both = arrows & arrows.T
    content = IndexedGraph(
        tuple(names),
        _pairs(arrows & ~both),
        _pairs(np.triu(adjacent & ~arrows & ~arrows.T)),
        _pairs(np.triu(both)),
    )
    graph = PDAG._of(orientation.meek(content))
    try:
        complete = graph.cpdag()
    except GraphError:
        return Oriented(graph, _pairs(overruled), consistent=False)
    is_class = complete._indexed == graph._indexed
    return Oriented(complete if is_class else graph, _pairs(overruled), consistent=True)


def _pairs(flags: Flags) -> tuple[Ends, ...]:
    return tuple((a, b) for a, b in np.argwhere(flags).tolist())
