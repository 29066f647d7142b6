"""What is learned from, cut into units: sums over rows are sums over units."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from jensen.data.threads import ordered_map
from jensen.fields import add

FEW = 2
"""So few units are not worth a pool of threads; one of them may be just counts."""


class Units(NamedTuple):
    """Encoded rows. Units are cut by size, never by the number of threads."""

    items: tuple[Any, ...]
    total_weight: float  # of the rows
    is_complete: bool  # whether nothing is hidden, so that one sweep is the answer

    def __len__(self) -> int:
        return len(self.items)

    def sum(
        self, f: Callable[..., tuple[Any, Any]], *per_unit: Iterable[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        """Σ over units of f(unit, ...) → (what to add, what to keep); added in order."""
        jobs = zip(self.items, *per_unit, strict=True)
        run = ordered_map if len(self.items) > FEW else map
        parts = run(lambda job: f(*job), jobs)
        sums, memories = None, []
        for total, kept in parts:  # added while others are still at work
            sums = add(sums, total)
            memories.append(kept)
        return sums, tuple(memories)
