"""Where two arrows meet: a -> c <- b of two that are not joined, by majority.

Of all sets that separate a and b, taken from the possible parents of either, c is in fewer than
half: then it is a collider. It is in more than half: then it is none. At half, or where nothing
separates the two, nobody knows.

It is the majority rule of Colombo and Maathuis (2014), *Order-independent constraint-based causal
structure learning*.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jensen.independence.skeleton import Flags, Skeleton, Watch, possible_parents
from jensen.independence.testing import Around, Ends, Given, Question, Tests, portions, subsets
from jensen.q_graph.constraints import Constraints

Triple = tuple[int, int, int]


class Colliders(NamedTuple):
    """Triples (a, c, b), a < b, that are joined a - c - b and not a - b."""

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
    """Decide every triple by the sets that separate its ends; none if it is stopped before."""
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
    """Pairs that are not joined, and those that both are joined to."""
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

    A set smaller than that of the skeleton does not: all of them were tried, at the same level.
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
    """Triples with a collider, and those of which nobody knows.

    The set that parted a pair may hold what is no neighbour any more; it is one of several then,
    the first by name, and has no vote.
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
