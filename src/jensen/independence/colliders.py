"""Where two arrows meet: a -> c <- b of two that are not joined, by majority.

Of all sets that separate a and b, taken from the possible parents of either, c is in fewer than
half: then it is a collider. It is in more than half: then it is none. At half, or where nothing
separates the two, nobody knows.

It is the majority rule of Colombo and Maathuis (2014), *Order-independent constraint-based causal
structure learning*.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from jensen.independence.skeleton import Flags, Skeleton, possible_parents
from jensen.independence.testing import Around, Ends, Given, Question, Tests, subsets
from jensen.q_graph.constraints import Constraints

Triple = tuple[int, int, int]

AT_ONCE = 1 << 14
"""Tests that are listed at a time."""


class Colliders(NamedTuple):
    """Triples (a, c, b), a < b, that are joined a - c - b and not a - b."""

    found: list[Triple]
    unknown: list[Triple]
    n_tests: int


def find_colliders(
    tests: Tests, skeleton: Skeleton, constraints: Constraints, log_alpha: float, max_given: int
) -> Colliders:
    """Decide every triple by the sets that separate its ends."""
    around = possible_parents(skeleton.adjacent, constraints)
    todo = _unshielded(skeleton.adjacent)
    separating: dict[Ends, list[Given]] = {ends: [] for ends in todo}
    asked = _questions(todo, skeleton, around, max_given)
    n_tests = 0
    while some := list(islice(asked, AT_ONCE)):
        n_tests += len(some)
        for (a, b, given), log_p in zip(some, tests.log_p_values(some).tolist(), strict=True):
            if log_p > log_alpha:
                separating[a, b].append(given)
    return Colliders(*_decide(todo, separating, skeleton), n_tests)


def _unshielded(adjacent: Flags) -> dict[Ends, list[int]]:
    """Pairs that are not joined, and those that both are joined to."""
    apart = ~adjacent & (adjacent.astype(np.int64) @ adjacent.astype(np.int64) > 0)
    return {
        (a, b): np.flatnonzero(adjacent[a] & adjacent[b]).tolist()
        for a, b in np.argwhere(np.triu(apart, 1)).tolist()
    }


def _questions(
    todo: dict[Ends, list[int]], skeleton: Skeleton, around: Around, max_given: int
) -> Iterator[Question]:
    """All sets that might separate each pair.

    A set smaller than that of the skeleton does not: all of them were tried.
    """
    for ends in todo:
        known = skeleton.separator(ends)
        most = min(max_given, max(len(around[v]) for v in ends))
        for size in range(0 if known is None else len(known), most + 1):
            for given in subsets(ends, around, size):
                yield (*ends, given)


def _decide(
    todo: dict[Ends, list[int]], separating: dict[Ends, list[Given]], skeleton: Skeleton
) -> tuple[list[Triple], list[Triple]]:
    """Triples with a collider, and those of which nobody knows."""
    found: list[Triple] = []
    unknown: list[Triple] = []
    for ends, middles in todo.items():
        known = skeleton.separator(ends)
        sets = separating[ends] or ([] if known is None else [known])
        for c in middles:
            balance = sum(1 if c in given else -1 for given in sets)
            if balance < 0:
                found.append((ends[0], c, ends[1]))
            elif balance == 0:
                unknown.append((ends[0], c, ends[1]))
    return sorted(found), sorted(unknown)
