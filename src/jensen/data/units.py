"""What is learned from, cut into units: sums over rows are sums over units."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from jensen.data.threads import ordered_map
from jensen.fields import add

FEW = 2
"""So few units are not worth a pool of threads; one of them may be just counts."""


class TreeSum:
    """A sum as a dyadic tree over the numbers of its terms, whoever adds which of them.

    Neighbours 2i and 2i + 1 are added first, then the sums of such pairs, and so on. So the bits of
    the total depend on the numbers of the terms alone, not on how the work is split, and rounding
    grows with the logarithm of how many there are. About as many partial sums are alive.

    Examples
    --------
    >>> tree = TreeSum()
    >>> for number, term in enumerate([1e16, 1.0, 1.0, 1.0]):
    ...     tree.put(number, term)
    >>> tree.total()
    1.0000000000000002e+16
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, int], Any] = {}  # (level, number) → a sum of 2^level terms

    def put(self, number: int, term: Any, level: int = 0) -> None:
        """Add a term, or with a `level` the sum of 2^level terms; each once, in any order."""
        while (level, number ^ 1) in self._nodes:
            other = self._nodes.pop((level, number ^ 1))
            term = add(other, term) if number & 1 else add(term, other)
            level, number = level + 1, number >> 1
        self._nodes[level, number] = term

    def merge(self, other: "TreeSum") -> None:
        """Add what another has added, of other terms."""
        for (level, number), term in other._in_order():
            self.put(number, term, level)

    def total(self) -> Any:
        """The sum; None of no terms."""
        total = None
        for _, term in self._in_order():
            total = add(total, term)
        return total

    def _in_order(self) -> list[tuple[tuple[int, int], Any]]:
        return sorted(self._nodes.items(), key=lambda node: node[0][1] << node[0][0])


class Units(NamedTuple):
    """Encoded rows. Units are cut by size, never by the number of threads."""

    items: tuple[Any, ...]
    total_weight: float  # of the rows
    is_complete: bool  # whether nothing is hidden, so that the first statistics are the last

    def __len__(self) -> int:
        return len(self.items)

    def sum(
        self, f: Callable[[int, Any, Any], tuple[Any, Any]], kept: Iterable[Any] = ()
    ) -> tuple[Any, tuple[Any, ...]]:
        """Σ over units of f(number, unit, kept) → (what to add, what to keep).

        `kept` is what the last pass kept of every unit; without any each unit gets None.
        """
        before = tuple(kept) or (None,) * len(self.items)
        jobs = zip(range(len(self.items)), self.items, before, strict=True)
        run = ordered_map if len(self.items) > FEW else map
        tree, after = TreeSum(), []
        for number, (term, keep) in enumerate(run(lambda job: f(*job), jobs)):
            tree.put(number, term)  # added while others are still at work
            after.append(keep)
        return tree.total(), tuple(after)
