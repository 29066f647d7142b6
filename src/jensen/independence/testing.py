"""What a learner by tests asks of data: p-values, one by one or for all pairs of a level."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Given = tuple[int, ...]
Question = tuple[int, int, Given]
"""Are the first two independent given the others? By position among the sorted names."""

TOGETHER = 64
"""Sets that are tried in one go; those after the first that separates are thrown away."""


class Measured(NamedTuple):
    """The outcome of one test."""

    statistic: float
    degrees_of_freedom: int
    log_p: float
    n_rows: float  # the weight of the rows that are complete in the columns of the test
    note: str = ""


class Pair(NamedTuple):
    """Two variables, and where sets that might separate them are taken from."""

    a: int
    b: int
    around_a: Given  # ascending, without b
    around_b: Given  # ascending, without a


class Verdict(NamedTuple):
    """What all sets of one size say about a pair: the first that separates, else the nearest."""

    given: Given
    log_p: float
    n_tests: int


class Tests(Protocol):
    """Tests of one table; a variable is its position among the sorted names."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """One test with all that is known of it."""

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """The logarithms of the p-values of some tests."""

    def search(self, pairs: Sequence[Pair], size: int, log_alpha: float) -> list[Verdict]:
        """Look for sets of this size that separate pairs, that is, have p > alpha."""


class Oracle:
    """Tests that somebody answers with a p-value: d-separation in a known graph, for example."""

    def __init__(
        self, names: Sequence[str], p_value: Callable[[int, int, Given], float]
    ) -> None:
        self.names = tuple(names)
        self.p_value = p_value

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """Nothing but the p-value is known."""
        p = self.p_value(a, b, given)
        return Measured(np.nan, 0, float(np.log(p)) if p > 0.0 else -np.inf, np.nan)

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """One by one."""
        return np.array([self.measure(*question).log_p for question in questions])

    def search(self, pairs: Sequence[Pair], size: int, log_alpha: float) -> list[Verdict]:
        """One by one."""
        return search_in_turn(self.log_p_values, pairs, size, log_alpha, together=1)


def search_in_turn(
    log_p_values: Callable[[Sequence[Question]], Array],
    pairs: Sequence[Pair],
    size: int,
    log_alpha: float,
    together: int = TOGETHER,
) -> list[Verdict]:
    """Look for separating sets, a few at a time."""
    return [_verdict(log_p_values, pair, size, log_alpha, together) for pair in pairs]


def subsets(pair: Pair, size: int) -> Iterator[Given]:
    """Sets of one size from around one end, then those from around the other that are new."""
    yield from combinations(pair.around_a, size)
    known = set(pair.around_a)
    for given in combinations(pair.around_b, size):
        if not known.issuperset(given):
            yield given


def _verdict(
    log_p_values: Callable[[Sequence[Question]], Array],
    pair: Pair,
    size: int,
    log_alpha: float,
    together: int,
) -> Verdict:
    best, n_tests = Verdict((), -np.inf, 0), 0
    for some in _chunks(subsets(pair, size), together):
        found = log_p_values([(pair.a, pair.b, given) for given in some])
        for given, log_p in zip(some, found.tolist(), strict=True):
            n_tests += 1
            if log_p > best.log_p or n_tests == 1:
                best = Verdict(given, log_p, n_tests)
            if log_p > log_alpha:
                return best
    return best._replace(n_tests=n_tests)


def _chunks(items: Iterator[Given], size: int) -> Iterator[list[Given]]:
    """Lists of at most so many."""
    some: list[Given] = []
    for item in items:
        some.append(item)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some
