"""Parameters of hidden states: read from named arrays, selected by state, averaged over draws.

η, t and statistics are records whose first axis is the state, except for what the states share.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
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


def read_array(named: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Finite numbers of this shape."""
    if name not in named:
        raise JensenError(f"start= lacks {name!r}, an array of the shape {shape}")
    try:
        array = np.asarray(named[name], np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"start[{name!r}] must be an array of numbers") from None
    if array.shape != shape:
        raise JensenError(f"start[{name!r}] must have the shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise JensenError(f"start[{name!r}] must hold finite numbers only")
    return array


def read_shares(named: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Probabilities that sum to one along the last axis."""
    array = read_array(named, name, shape)
    if (array < 0.0).any() or not np.allclose(array.sum(-1), 1.0, rtol=0.0, atol=1e-8):
        raise JensenError(f"start[{name!r}] must be probabilities that sum to 1 in every row")
    return array


Made = TypeVar("Made")


class LastResult(Generic[Made]):
    """A function of θ that keeps its last result, so that all units of a sweep share it."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make
        self.known: tuple[Any, Made] | None = None

    def __call__(self, t: Any) -> Made:
        """The result for this record; threads that ask at the same time may each compute it."""
        known = self.known
        if known is None or known[0] is not t:
            self.known = known = t, self.make(t)
        return known[1]
