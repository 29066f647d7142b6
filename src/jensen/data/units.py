"""Encoded rows in units; sums over rows are sums over units, added as a dyadic tree."""

from collections.abc import Callable, Iterable, Iterator, Sized
from functools import reduce
from itertools import repeat
from typing import Any, NamedTuple

from jensen.data.threads import one_blas_thread, ordered_map
from jensen.support.fields import add

FEW = 2
"""With so few units no threads are used; one of them may be just counts."""


class TreeSum:
    """A sum as a dyadic tree over the numbers of its terms, in whatever order they arrive.

    Neighbours 2i and 2i + 1 are added first, then the sums of such pairs, and so on. So the bits of
    the total depend on the numbers of the terms alone, not on how the work is split, and rounding
    grows with the logarithm of their number. Only about so many partial sums are held at a time.

    Parameters
    ----------
    join
        Adds two neighbouring terms; by default leaf by leaf through records and tuples.

    Examples
    --------
    >>> tree = TreeSum()
    >>> for number, term in enumerate([1e16, 1.0, 1.0, 1.0]):
    ...     tree.put(number, term)
    >>> tree.total()
    1.0000000000000002e+16
    """

    def __init__(self, join: Callable[[Any, Any], Any] = add) -> None:
        self._join = join
        self._nodes: dict[tuple[int, int], Any] = {}  # (level, number) → a sum of 2^level terms

    def put(self, number: int, term: Any, level: int = 0) -> None:
        """Add a term, or with a `level` the sum of 2^level terms; each once, in any order."""
        while (level, number ^ 1) in self._nodes:
            other = self._nodes.pop((level, number ^ 1))
            term = self._join(other, term) if number & 1 else self._join(term, other)
            level, number = level + 1, number >> 1
        self._nodes[level, number] = term

    def merge(self, other: "TreeSum") -> None:
        """Add the terms of another tree; the two must have no term in common."""
        for (level, number), term in other._in_order():
            self.put(number, term, level)

    def total(self) -> Any:
        """The sum; None if there are no terms."""
        terms = [term for _, term in self._in_order()]
        return reduce(self._join, terms) if terms else None

    def _in_order(self) -> list[tuple[tuple[int, int], Any]]:
        return sorted(self._nodes.items(), key=lambda node: node[0][1] << node[0][0])


class Units(NamedTuple):
    """Encoded rows in units, which are cut by size, never by the number of threads."""

    items: Iterable[Any]  # units; or blocks of rows, which are read again in every pass
    total_weight: float  # of the rows
    is_complete: bool  # whether nothing is hidden, so that the first statistics are the last
    encode: Callable[[Any], Any] | None = None  # makes a unit of a block, in the thread that sums

    def __len__(self) -> int:
        return len(tuple(self.items))

    @one_blas_thread()
    def sum(
        self, f: Callable[[int, Any, Any], tuple[Any, Any]], kept: Iterable[Any] = ()
    ) -> tuple[Any, tuple[Any, ...]]:
        """Σ over units of f(number, unit, kept) → (what to add, what to keep).

        `kept` holds what the last pass kept of every unit; without it each unit gets None.
        """
        before = tuple(kept)
        pairs = zip(self.items, before, strict=True) if before else zip(self.items, repeat(None))
        jobs: Iterable[tuple[int, tuple[Any, Any]]] = enumerate(pairs)
        run: Callable[..., Iterator[tuple[Any, Any]]] = ordered_map
        if isinstance(self.items, Sized):
            jobs = list(jobs)
            run = ordered_map if len(jobs) > FEW else map

        def visit(job: tuple[int, tuple[Any, Any]]) -> tuple[Any, Any]:
            number, (item, memory) = job
            return f(number, self._unit(item), memory)

        tree, after = TreeSum(), []
        for number, (term, keep) in enumerate(run(visit, jobs)):
            tree.put(number, term)  # added while others are still at work
            after.append(keep)
        return tree.total(), tuple(after)

    def each(self) -> Iterator[Any]:
        """The units, in order."""
        return map(self._unit, self.items)

    def _unit(self, item: Any) -> Any:
        return item if self.encode is None else self.encode(item)
