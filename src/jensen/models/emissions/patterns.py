"""Rows grouped by which of their values are missing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Pattern(NamedTuple):
    """Rows that miss the same columns."""

    order: NDArray[np.int64]  # (D,): the missing columns, then the others
    n_missing: int
    rows: NDArray[np.int64]  # (n,), rising
    x: NDArray[np.float64]  # (D - n_missing, n): their values, in the order of the columns above

    @property
    def seen(self) -> NDArray[np.int64]:
        """The columns that are not missing."""
        return self.order[self.n_missing :]


def patterns_of(values: NDArray[np.float64]) -> tuple[Pattern, ...]:
    """The patterns of rows (n, D)."""
    if not len(values):
        return ()
    missing = np.isnan(values)
    if not missing.any():
        n, D = values.shape
        return (Pattern(np.arange(D), 0, np.arange(n), np.ascontiguousarray(values.T)),)
    bits = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    return tuple(
        _pattern(values, missing[i], np.sort(by_group[start:stop]))
        for i, start, stop in zip(first, np.append(0, ends[:-1]), ends, strict=True)
    )


def _pattern(
    values: NDArray[np.float64], missing: NDArray[np.bool_], rows: NDArray[np.int64]
) -> Pattern:
    order = np.argsort(~missing, kind="stable").astype(np.int64)
    n_missing = int(missing.sum())
    x = np.ascontiguousarray(values[np.ix_(rows, order[n_missing:])].T)
    return Pattern(order, n_missing, rows.astype(np.int64), x)
