"""MMPC: the parents and children of every variable, by max-min tests.

A variable joins the candidates of a target while even the set of candidates that makes the two look
most independent leaves them dependent; of all such the most dependent one joins first. At the end
candidates go that some set of the others separates from the target. Two variables are neighbours if
each is a candidate of the other.

Tsamardinos, Brown and Aliferis (2006), *The max-min hill-climbing Bayesian network structure
learning algorithm*.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.independence.testing import Given, Question, Tests, portions

Flags = NDArray[np.bool_]


class Neighbours(NamedTuple):
    """Who may be joined."""

    joined: Flags  # (n, n), symmetric
    n_tests: int
    interrupted: bool


def find_neighbours(
    tests: Tests,
    possible: Flags,
    log_alpha: float,
    max_given: int,
    watch: Callable[[int, int, int], bool],
) -> Neighbours:
    """The neighbours of all variables, of those that are possible (n, n), symmetric."""
    n = len(tests.names)
    found = np.zeros((n, n), bool)
    n_tests = 0
    for target in range(n):
        others = np.flatnonzero(possible[target]).tolist()
        search = _Search(tests, target, log_alpha, max_given, partial(watch, 0, target, n))
        try:
            found[target, search.run(others)] = True
        except _StoppedError:
            found[target:] = possible[target:]  # nothing is known of these, so nothing is ruled out
            return Neighbours(found & found.T, n_tests + search.n_tests, interrupted=True)
        n_tests += search.n_tests
    return Neighbours(found & found.T, n_tests, interrupted=False)


class _StoppedError(Exception):
    """The user does not want to wait for more tests."""


class _Search:
    """Looks for the candidates of one target."""

    def __init__(
        self,
        tests: Tests,
        target: int,
        log_alpha: float,
        max_given: int,
        watch: Callable[[], bool],
    ) -> None:
        self.tests, self.target, self.watch = tests, target, watch
        self.log_alpha, self.max_given = log_alpha, max_given
        self.n_tests = 0

    def run(self, others: Sequence[int]) -> list[int]:
        """Grow, then shrink."""
        if self.watch():
            raise _StoppedError
        candidates: list[int] = []
        nearest = self._largest_p(others, [()])  # of each other, the largest p so far
        left = [v for v in others if nearest[v] <= self.log_alpha]
        while left:
            chosen = min(left, key=lambda v: (nearest[v], v))
            left.remove(chosen)
            new = [(*some, chosen) for some in self._sets(candidates, self.max_given - 1)]
            candidates.append(chosen)
            if self.max_given > 0:
                for v, log_p in self._largest_p(left, new).items():
                    nearest[v] = max(nearest[v], log_p)
            left = [v for v in left if nearest[v] <= self.log_alpha]
        return self._shrink(candidates)

    def _shrink(self, candidates: list[int]) -> list[int]:
        """Part those that joined before what separates them; the last are safe."""
        for v in candidates[:-1]:
            rest = [u for u in candidates if u != v]
            if self._largest_p([v], list(self._sets(rest, self.max_given)))[v] > self.log_alpha:
                candidates = rest
        return sorted(candidates)

    @staticmethod
    def _sets(members: Sequence[int], most: int) -> Iterator[Given]:
        for size in range(min(most, len(members)) + 1):
            yield from combinations(members, size)

    def _largest_p(self, others: Sequence[int], sets: Sequence[Given]) -> dict[int, float]:
        """Of each other variable, the largest logarithm of p given one of the sets."""
        asked: list[Question] = [
            (min(v, self.target), max(v, self.target), tuple(sorted(given)))
            for v in others
            for given in sets
        ]
        if not asked:
            return dict.fromkeys(others, -np.inf)
        log_p = []
        for some in portions(iter(asked)):
            log_p.append(self.tests.log_p_values(some))
            self.n_tests += len(some)
            if self.watch():
                raise _StoppedError
        found = np.concatenate(log_p).reshape(len(others), len(sets)).max(1)
        return dict(zip(others, found.tolist(), strict=True))
