"""Rows cut into segments that fit a processor's cache."""

from collections.abc import Iterator

ENTRIES = 1 << 18
"""Rows times states of one segment; fixed, so that sums never depend on the machine."""


def segments(n_rows: int, n_states: int) -> Iterator[tuple[int, int]]:
    """Where each segment of the rows begins and ends."""
    size = segment_rows(n_states)
    for start in range(0, n_rows, size):
        yield start, min(start + size, n_rows)


def segment_rows(n_states: int) -> int:
    """How many rows a segment has."""
    return max(64, ENTRIES // n_states)
