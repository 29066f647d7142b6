"""Numbers and columns for people."""

from collections.abc import Sequence


def duration(seconds: float) -> str:
    """Three digits and a unit.

    >>> duration(0.05312), duration(2.5), duration(0.00012)
    ('53.1 ms', '2.5 s', '0.12 ms')
    """
    return f"{seconds:.3g} s" if seconds >= 0.9995 else f"{1000 * seconds:.3g} ms"


def times(ratio: float | None) -> str:
    """A ratio in three digits, never as a power of ten; nothing if there is none.

    >>> times(0.4567), times(12.34), times(15345.6), times(None)
    ('0.457', '12.3', '15,346', '')
    """
    if ratio is None:
        return ""
    return f"{ratio:.3g}" if ratio < 999.5 else f"{ratio:,.0f}"


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows as aligned lines; the columns numbered in `right` are flushed right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
