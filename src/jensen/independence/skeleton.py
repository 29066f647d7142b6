"""The skeleton of PC-stable: the pairs of variables that no set of neighbours separates.

All tests with sets of one size use the neighbours from before the first of these tests, so that the
order of the pairs changes nothing (Colombo and Maathuis 2014).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.independence.testing import Around, Ends, Given, Tests, Verdict, portions
from jensen.q_graph.constraints import Constraints

Flags = NDArray[np.bool_]

Watch = Callable[[int, int, int], bool]
"""Called with the size of sets, pairs done and pairs in all; returning True stops the search."""


class Skeleton(NamedTuple):
    """The adjacent pairs, and the tests that decided them."""

    adjacent: Flags  # (n, n), symmetric
    nearest: dict[Ends, Verdict]  # for every pair the test with the largest p
    n_tests: list[int]  # by the size of the sets
    log_alpha: float  # a set with a larger p separates a pair
    interrupted: bool

    def part(self, ends: Ends) -> None:
        """Remove an edge; the set with the largest p counts as its separating set."""
        a, b = ends
        self.adjacent[a, b] = self.adjacent[b, a] = False

    def separator(self, ends: Ends) -> Given | None:
        """The set that separates a pair that is not adjacent; None if it was never tested."""
        return self.nearest[ends].given if ends in self.nearest else None


def find_skeleton(
    tests: Tests,
    constraints: Constraints,
    log_alpha: float,
    max_given: int,
    watch: Watch,
) -> Skeleton:
    """Start with all pairs adjacent; remove those that sets of 0, 1, 2, ... neighbours separate.

    Edges that are required in either direction stay; pairs that are forbidden in both directions
    are never adjacent.
    """
    must = constraints.required | constraints.required.T
    adjacent = ~(constraints.forbidden & constraints.forbidden.T)
    np.fill_diagonal(adjacent, False)
    found = Skeleton(adjacent, {}, [], log_alpha, interrupted=False)
    for size in range(max_given + 1):
        around = possible_parents(adjacent, constraints)
        pairs = _pairs(np.triu(adjacent & ~must), around, size)
        if not pairs:
            break
        verdicts, interrupted = _look(tests, pairs, around, size, log_alpha, watch)
        found.n_tests.append(sum(verdict.n_tests for verdict in verdicts))
        for ends, verdict in zip(pairs, verdicts, strict=False):
            if ends not in found.nearest or verdict.log_p > found.nearest[ends].log_p:
                found.nearest[ends] = verdict
            if verdict.log_p > log_alpha:
                found.part(ends)
        if interrupted:
            return found._replace(interrupted=True)
    return found


def possible_parents(adjacent: Flags, constraints: Constraints) -> list[Given]:
    """For every variable the adjacent ones that may be its parents: only these can separate."""
    may = adjacent & ~constraints.forbidden & ~constraints.required.T
    return [tuple(np.flatnonzero(column).tolist()) for column in may.T]


def _pairs(joined: Flags, around: Around, size: int) -> list[Ends]:
    """The pairs of which one end has at least `size` other possible parents."""
    return [
        (a, b)
        for a, b in np.argwhere(joined).tolist()
        if len(around[a]) - (b in around[a]) >= size or len(around[b]) - (a in around[b]) >= size
    ]


def _look(
    tests: Tests, pairs: list[Ends], around: Around, size: int, log_alpha: float, watch: Watch
) -> tuple[list[Verdict], bool]:
    """The verdicts of the pairs (of the first ones if the caller stops), and whether stopped."""
    verdicts: list[Verdict] = []
    for some in portions(iter(pairs)):
        if watch(size, len(verdicts), len(pairs)):
            return verdicts, True
        verdicts += tests.search(some, around, size, log_alpha)
    return verdicts, False
