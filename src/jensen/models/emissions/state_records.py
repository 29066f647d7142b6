"""Records of states: η, t and statistics whose first axis is the state, but for what they share."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.families.tied import Tied
from jensen.support.fields import is_record, leaves, rebuild

Array = NDArray[np.float64]
Record = TypeVar("Record")


def by_state(record: Any) -> Array:
    """(K, F): what an η, t or statistics hold of each state alone.

    Statistics of one state times the t of another are the log-likelihood of the rows of the one
    under the other, but for what is the same for all states.
    """
    own = (record.first, record.strength) if isinstance(record, Tied) else record
    if isinstance(own, tuple):
        return np.concatenate([by_state(part) for part in own], axis=1)
    return np.asarray(own.reshape(len(own), -1))


def select_states(record: Any, states: NDArray[np.intp]) -> Any:
    """An η or t of these states only, in this order; what states share stays."""
    if isinstance(record, Tied):
        return record._replace(first=record.first[states], strength=record.strength[states])
    if isinstance(record, tuple):
        parts = tuple(select_states(part, states) for part in record)
        return type(record)(*parts) if is_record(record) else parts
    return record[states]


def mean_record(records: Sequence[Record]) -> Record:
    """Field by field, the mean over records."""
    if len(records) == 1:
        return records[0]
    columns = zip(*map(leaves, records), strict=True)
    mean: Record = rebuild(records[0], (np.mean(column, axis=0) for column in columns))
    return mean
