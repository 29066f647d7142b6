"""Records of states side by side, and the mean of many."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.fields import leaves, rebuild

Array = NDArray[np.float64]
Record = TypeVar("Record")


def side_by_side(fields: Iterable[Array]) -> Array:
    """(K, F): arrays whose first axis is the state."""
    return np.concatenate([x.reshape(len(x), -1) for x in fields], axis=1)


def mean_record(records: Sequence[Record]) -> Record:
    """Field by field, the mean over records."""
    columns = zip(*map(leaves, records), strict=True)
    mean: Record = rebuild(records[0], (np.mean(column, axis=0) for column in columns))
    return mean
