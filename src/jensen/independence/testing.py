"""The protocol `Tests` of learners by tests of independence, and the search for separating sets."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Given = tuple[int, ...]
Ends = tuple[int, int]
"""A pair, the smaller first."""

Around = Sequence[Given]
"""For every variable, the variables that separating sets are taken from, ascending."""

Question = tuple[int, int, Given]
"""A test (a, b, given): are a and b independent given the others? By position among the names."""

TOGETHER = 64
"""Sets that are tested at once; results after the first separating set are discarded."""

Item = TypeVar("Item")

AT_ONCE, MOST_AT_ONCE = 8, 1 << 14
"""Items of work between two checks for Ctrl-C: at first, and at most."""

QUICK, SLOW = 0.1, 1.0
"""Seconds: portions that take less than QUICK grow, those that take more than SLOW shrink."""


class Measured(NamedTuple):
    """The result of one test."""

    statistic: float
    degrees_of_freedom: int
    log_p: float
    n_rows: float  # the weight of the rows that are complete in the columns of the test
    note: str = ""
    correlation: float | None = None  # the partial one, of numbers


class Verdict(NamedTuple):
    """For a pair and a size of sets: the first set that separates, else the one with largest p."""

    given: Given
    log_p: float
    n_tests: int


class Tests(Protocol):
    """Tests of one table; a variable is its position among the sorted names."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """The full result of one test."""

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """(T,): the logarithms of the p-values of some tests."""

    def search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float
    ) -> list[Verdict]:
        """Look for sets of this size that separate pairs, that is, with p > alpha.

        Sets are taken from `around` of either end of a pair.
        """


class Oracle:
    """Tests that a function answers with a p-value, for example d-separation in a known graph."""

    def __init__(self, names: Sequence[str], p_value: Callable[[int, int, Given], float]) -> None:
        self.names = tuple(names)
        self.p_value = p_value

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """A result with nothing but the p-value."""
        p = self.p_value(a, b, given)
        return Measured(np.nan, 0, float(np.log(p)) if p > 0.0 else -np.inf, np.nan)

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """One by one."""
        return np.array([self.measure(*question).log_p for question in questions])

    def search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float
    ) -> list[Verdict]:
        """One by one."""
        return search_in_turn(self.log_p_values, pairs, around, size, log_alpha, together=1)


def search_in_turn(
    log_p_values: Callable[[Sequence[Question]], Array],
    pairs: Sequence[Ends],
    around: Around,
    size: int,
    log_alpha: float,
    together: int = TOGETHER,
) -> list[Verdict]:
    """Look for separating sets, `together` of them at a time; one verdict per pair."""

    def verdict(ends: Ends) -> Verdict:
        best, n_tests = Verdict((), -np.inf, 0), 0
        for some in _chunks(subsets(ends, around, size), together):
            found = log_p_values([(*ends, given) for given in some])
            for given, log_p in zip(some, found.tolist(), strict=True):
                n_tests += 1
                if log_p > best.log_p or n_tests == 1:
                    best = Verdict(given, log_p, n_tests)
                if log_p > log_alpha:
                    return best
        return best._replace(n_tests=n_tests)

    return [verdict(ends) for ends in pairs]


def subsets(ends: Ends, around: Around, size: int) -> Iterator[Given]:
    """Sets of one size from `around` of the first end, then further ones from the second end."""
    a, b = ends
    first = [v for v in around[a] if v != b]
    yield from combinations(first, size)
    known = set(first)
    for given in combinations([v for v in around[b] if v != a], size):
        if not known.issuperset(given):
            yield given


def portions(items: Iterator[Item]) -> Iterator[list[Item]]:
    """Cut items into lists whose length adapts to the time that the caller takes for one.

    The results must not depend on the length of the lists.
    """
    size = AT_ONCE
    while some := list(islice(items, size)):
        began = time.perf_counter()
        yield some
        seconds = time.perf_counter() - began
        if seconds < QUICK:
            size = min(2 * size, MOST_AT_ONCE)
        elif seconds > SLOW:
            size = max(size // 2, 1)


def _chunks(items: Iterator[Given], size: int) -> Iterator[list[Given]]:
    """Lists of at most `size` items."""
    some: list[Given] = []
    for item in items:
        some.append(item)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


FAR = 100
"""Values beyond 2^±FAR are rescaled, because fourth powers of them may overflow or underflow."""


def near_one(values: Array) -> Array:
    """Values divided by a power of two, if their range is very large or very small.

    Correlations and likelihood ratios do not change, not even in the last bit; without this the
    squares of values near 1e200 or 1e-200 would be infinite or 0.
    """
    if not len(values):
        return values
    unit = unit_near_one(float(np.fmin.reduce(values)), float(np.fmax.reduce(values)))
    return values if unit == 1.0 else np.asarray(values / unit)


def unit_near_one(least: float, most: float) -> float:
    """The power of two by which values in this range are divided; 1 if none is needed."""
    half = 0.5 * most - 0.5 * least  # the whole range might overflow
    power = int(np.clip(np.frexp(half)[1], -1000, 1000))
    if not np.isfinite(half) or half == 0.0 or abs(power) < FAR:
        return 1.0
    return float(np.ldexp(1.0, power))
