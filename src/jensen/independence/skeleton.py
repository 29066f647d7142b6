"""Which variables are joined: pairs that no set of neighbours separates, the stable way.

All tests of one size of set look at the neighbours as they were before the first of them, so that
the order of the pairs changes nothing (Colombo and Maathuis 2014, algorithm 4.1).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.independence.testing import Given, Pair, Tests, Verdict
from jensen.q_graph.constraints import Constraints

Flags = NDArray[np.bool_]
Ends = tuple[int, int]

AT_ONCE = 1024
"""Pairs that are looked at before the caller is asked whether to go on."""

Watch = Callable[[int, int, int], bool]
"""Sees the size of sets, pairs done and pairs in all; True stops the search."""


class Skeleton(NamedTuple):
    """Who is joined, and what was found on the way; a pair has its smaller end first."""

    adjacent: Flags  # (n, n), symmetric
    separators: dict[Ends, Given]
    log_p: dict[Ends, float]  # the largest of all tests of a pair
    n_tests: list[int]  # by the size of the sets
    interrupted: bool


def find_skeleton(
    tests: Tests,
    constraints: Constraints,
    log_alpha: float,
    max_given: int,
    watch: Watch,
) -> Skeleton:
    """Join all, then take sets of 0, 1, 2, ... neighbours and part what they separate.

    Edges that are required in either direction stay; pairs that are forbidden in both are never
    joined.
    """
    must = constraints.required | constraints.required.T
    adjacent = ~(constraints.forbidden & constraints.forbidden.T)
    np.fill_diagonal(adjacent, False)
    nearest: dict[Ends, Verdict] = {}
    found = Skeleton(adjacent, {}, {}, [], False)
    for size in range(max_given + 1):
        around = possible_parents(adjacent, constraints)
        left = np.argwhere(np.triu(adjacent & ~must)).tolist()
        pairs = [_pair(a, b, around) for a, b in left]
        pairs = [pair for pair in pairs if max(map(len, pair[2:])) >= size]
        if not pairs:
            break
        verdicts, interrupted = _look(tests, pairs, size, log_alpha, watch)
        found.n_tests.append(sum(verdict.n_tests for verdict in verdicts))
        for pair, verdict in zip(pairs, verdicts, strict=False):
            ends = pair.a, pair.b
            if verdict.n_tests and (ends not in nearest or verdict.log_p > nearest[ends].log_p):
                nearest[ends] = verdict
            if verdict.log_p > log_alpha:
                part(found, ends, verdict.given)
        if interrupted:
            found = found._replace(interrupted=True)
            break
    found.log_p.update({ends: verdict.log_p for ends, verdict in nearest.items()})
    found.separators.update({e: v.given for e, v in nearest.items() if e not in found.separators})
    return found


def part(skeleton: Skeleton, ends: Ends, given: Given) -> None:
    """Take an edge away."""
    a, b = ends
    skeleton.adjacent[a, b] = skeleton.adjacent[b, a] = False
    skeleton.separators[ends] = given


def possible_parents(adjacent: Flags, constraints: Constraints) -> list[Given]:
    """Of every variable those joined to it that may be its parents: others separate nothing."""
    may = adjacent & ~constraints.forbidden & ~constraints.required.T
    return [tuple(np.flatnonzero(column).tolist()) for column in may.T]


def _pair(a: int, b: int, around: Sequence[Given]) -> Pair:
    return Pair(
        a, b, tuple(v for v in around[a] if v != b), tuple(v for v in around[b] if v != a)
    )


def _look(
    tests: Tests, pairs: list[Pair], size: int, log_alpha: float, watch: Watch
) -> tuple[list[Verdict], bool]:
    """Verdicts of the pairs, of the first ones if the caller stops it."""
    verdicts: list[Verdict] = []
    for some in _chunks(pairs):
        if watch(size, len(verdicts), len(pairs)):
            return verdicts, True
        verdicts += tests.search(some, size, log_alpha)
    return verdicts, False


def _chunks(pairs: list[Pair]) -> Iterator[list[Pair]]:
    for begin in range(0, len(pairs), AT_ONCE):
        yield pairs[begin : begin + AT_ONCE]
