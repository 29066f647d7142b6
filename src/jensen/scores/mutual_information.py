"""Mutual information of pairs of columns: all that trees are learned from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, TableScan, as_rows
from jensen.data.counting import counts_as_numbers, is_complete
from jensen.exceptions import DataError, JensenError
from jensen.scores.categorical_information import (
    Array,
    CategoricalInformation,
    ConditionalInformation,
    Mask,
)
from jensen.scores.summed_information import SummedInformation, information_of_share
from jensen.scores.table_checks import require_rows, require_values
from jensen.support.arguments import is_real
from jensen.support.machine import check_memory, one_blas_thread
from jensen.support.text import of_frame, offer, some

Rows = TypeVar("Rows", bound=RowSource)


class GaussianInformation:
    """I(x; y) = -½ log(1 - ρ²) of every pair of continuous columns; nothing may be missing.

    A constant column tells nothing of the others. Two columns of which each is a linear function
    of the other have infinite mutual information, and so has a column with itself.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.total = table.total_weight
        self.degrees = np.ones(len(self.names))
        self.n_parameters = np.full(len(self.names), 2.0)  # of each column by itself
        self.standardised, self._lengths = _standardise(table, self.names)

    def entropies(self) -> Array:
        """(n,): ½ log 2πeσ² of each column, -inf of a constant one."""
        with np.errstate(divide="ignore"):
            log_variances = 2.0 * np.log(self._lengths) - np.log(self.total)
        return np.asarray(0.5 * (np.log(2.0 * np.pi) + 1.0 + log_variances))

    @one_blas_thread()
    def matrix(self) -> Array:
        """(n, n): I(x; y) of all pairs."""
        share = self.standardised @ self.standardised.T
        return information_of_share(np.square(share, out=share))

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v) of all columns v."""
        return np.asarray(self.rows([k])[0])

    @one_blas_thread()
    def rows(self, chosen: Sequence[int]) -> Array:
        """(k, n): I(u; v) of the chosen columns u with all; many at once take little more time."""
        share: Array = self.standardised[list(chosen)] @ self.standardised.T
        return information_of_share(np.square(share, out=share))


def _standardise(table: Table, names: Sequence[str]) -> tuple[Array, Array]:
    """(n, N): rows of mean 0 and length 1, or of zeros where a column is constant; their lengths.

    Row weights are inside, by their square roots.
    """
    check_memory(8.0 * len(names) * table.n_rows, "the standardised columns", "take fewer columns")
    out, lengths = np.empty((len(names), table.n_rows)), np.empty(len(names))
    for k, name in enumerate(names):
        data = np.asarray(table.column(name).data, np.float64)
        out[k], lengths[k] = _standardised(name, data, table.weights)
    return out, lengths


def _standardised(name: str, data: Array, weights: Array | None) -> tuple[Array, float]:
    if not np.isfinite(data).all():
        row = int(np.argmin(np.isfinite(data))) + 1
        raise DataError(
            f"column {name!r} holds {data[row - 1]} in row {row}, which has no variance: declare "
            f"it missing, or leave the row out"
        )
    largest = np.abs(data).max(initial=0.0)
    if largest == 0.0 or data.min() == data.max():
        return np.zeros(len(data)), 0.0
    scaled = data / largest  # squares neither overflow nor vanish
    for _ in range(2):  # the second pass removes the rounding of a mean far from 0
        scaled = scaled - np.average(scaled, weights=weights)
    if weights is not None:
        scaled *= np.sqrt(weights)
    length = np.sqrt(np.square(scaled).sum())
    return np.asarray(scaled / length), float(length * largest)


class MixedInformation:
    """I(x; y) of every pair of columns, categorical or continuous.

    A continuous column given a categorical one is Gaussian with a mean for every state and one
    variance for all (the homogeneous model): a state that occurs once has no variance of its own.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.total = table.total_weight
        by_kind: dict[str, list[str]] = {"categorical": [], "continuous": []}
        place = []  # of every column among those of its kind
        for x in self.names:
            same = by_kind[table.variable(x).kind]
            place.append(len(same))
            same.append(x)
        self._place = place
        self._is_categorical = np.isin(self.names, by_kind["categorical"])
        self._categorical = CategoricalInformation(table, by_kind["categorical"])
        self._continuous = GaussianInformation(table, by_kind["continuous"])
        self.degrees = np.ones(len(self.names))
        self.degrees[self._is_categorical] = self._categorical.degrees
        self.n_parameters = self._both(
            self._categorical.n_parameters, self._continuous.n_parameters
        )
        self._table = table
        self._roots = np.sqrt(np.ones(table.n_rows) if table.weights is None else table.weights)

    def entropies(self) -> Array:
        """(n,): the entropy of each column; ½ log 2πeσ² of a continuous one."""
        return self._both(self._categorical.entropies(), self._continuous.entropies())

    def _both(self, categorical: Array, continuous: Array) -> Array:
        out = np.empty(len(self.names))
        out[self._is_categorical], out[~self._is_categorical] = categorical, continuous
        return out

    def matrix(self) -> Array:
        """(n, n): I(x; y) of all pairs."""
        n, d, c = len(self.names), self._is_categorical, ~self._is_categorical
        out = np.empty((n, n))
        out[np.ix_(d, d)] = self._categorical.matrix()
        out[np.ix_(c, c)] = self._continuous.matrix()
        for k in np.flatnonzero(d):
            out[k, c] = out[c, k] = self._across(int(k), np.ones(c.sum(), np.bool_))
        return out

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v) for the wanted columns v; the other entries are undefined."""
        out, d, c = np.zeros(len(self.names)), self._is_categorical, ~self._is_categorical
        if d[k]:
            out[d] = self._categorical.row(self._place[k], wanted[d])
            out[c] = self._across(k, wanted[c])
            return out
        out[c] = self._continuous.row(self._place[k], wanted[c])
        for v in np.flatnonzero(wanted & d):
            only = np.zeros(int(c.sum()), np.bool_)
            only[self._place[k]] = True
            out[v] = self._across(int(v), only)[self._place[k]]
        return out

    def _across(self, k: int, wanted: Mask) -> Array:
        """I(k; v) of a categorical column k with the wanted continuous columns v."""
        from jensen.kernels import pair_information

        column, shares = self._table.column(self.names[k]), np.zeros(len(wanted))
        codes = column.data.astype(np.uint32)
        counts = np.bincount(codes, self._table.weights, minlength=column.variable.n_states)
        pair_information.explained_shares(
            self._continuous.standardised,
            codes,
            self._roots,
            counts.astype(np.float64),
            wanted,
            shares,
        )
        return information_of_share(shares)


if TYPE_CHECKING:
    import pandas


class PairInformation(Protocol):
    """The mutual information of every pair of some columns, in nats per row."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    def matrix(self) -> NDArray[np.float64]:
        """(n, n): all of them."""

    def row(self, k: int, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(n,): that of column k with the wanted columns; the other entries are undefined."""


Unconditional: TypeAlias = (
    CategoricalInformation | GaussianInformation | MixedInformation | SummedInformation
)


@dataclass(frozen=True)
class MutualInformations:
    """A symmetric matrix of mutual informations, in nats.

    Examples
    --------
    >>> import jensen as jn
    >>> found = jn.mutual_information_matrix({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "y"]})
    >>> round(found["a", "b"], 6)
    0.693147
    >>> found.names, found.values.shape
    (('a', 'b'), (2, 2))
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]  # (n, n)

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """The mutual information of two columns, by name."""
        for name in pair:
            if name not in self.names:
                raise DataError(
                    f"there is no column {name!r} in this matrix; "
                    f"{offer(name, self.names, 'column')}"
                )
        a, b = pair
        return float(self.values[self.names.index(a), self.names.index(b)])

    def to_pandas(self) -> pandas.DataFrame:
        """As a dataframe with the names on both sides."""
        import pandas

        return pandas.DataFrame(self.values, index=self.names, columns=self.names)


def mutual_information_matrix(
    table: Any, smoothing: float = 0.0, given: str | None = None
) -> MutualInformations:
    """How much every column tells of every other one.

    Two categorical columns: Σ p(x, y) log(p(x, y) / p(x) p(y)) of their frequencies. Two continuous
    ones: -½ log(1 - ρ²), ρ their correlation. One of each: -½ log(1 - η²), η² the share of the
    variance that the means of the states explain.

    Parameters
    ----------
    table
        Anything a `Table` can be built from, without missing values; row weights count.
    smoothing
        As in `chow_liu`; for categorical columns only.
    given
        A categorical column: I(x; y | given) of all others, which must be categorical.

    Returns
    -------
    MutualInformations
        `names` (sorted), `values` (n, n), `[a, b]`, `to_pandas()`. On the diagonal stands what a
        column tells of itself: the entropy of a categorical one, infinity for a continuous one
        (0 if it is constant).

    Examples
    --------
    >>> import jensen as jn
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]}
    >>> print(jn.mutual_information_matrix(table).values.round(3))
    [[0.693 0.693 0.   ]
     [0.693 0.693 0.   ]
     [0.    0.    0.693]]
    """
    data = complete(as_rows(table), "the matrix of mutual informations")
    names = [name for name in sorted(data.names) if name != given]
    check_memory(24.0 * len(names) ** 2, "the matrix of mutual informations", "take fewer columns")
    found: PairInformation
    if given is None:
        found = pair_information(data, names, smoothing)
    else:
        found = conditional_information(data, names, given, smoothing)
    return MutualInformations(found.names, found.matrix())


def complete(table: Rows, task: str) -> Rows:
    """The rows with a weight; refused if a value is missing, or if there are no columns."""
    if not table.names:
        raise DataError(f"{task} needs a column, and this table has none")
    table = table.counted()
    require_rows(table)
    if not (isinstance(table, Table) and is_complete(table)):
        require_values(table, table.names, task, str)
    return table


def imagined_rows(smoothing: Any) -> float:
    """How many imagined rows `smoothing` stands for: four cells of two binary columns."""
    if not (is_real(smoothing) and 0.0 <= smoothing < math.inf):
        raise JensenError(f"smoothing must be a number, 0 or more, not {smoothing!r}")
    return 4.0 * float(smoothing)


def pair_information(
    table: RowSource, names: Sequence[str], smoothing: float = 0.0
) -> Unconditional:
    """Mutual informations of columns of any kind, of rows without missing values."""
    if isinstance(table, Table):
        table = counts_as_numbers(table, keep_declared=False)
    kinds = {variable.name: variable.kind for variable in table.variables}
    chosen = ["categorical" if kinds[name] == "categorical" else "continuous" for name in names]
    sample_size = imagined_rows(smoothing)
    if sample_size > 0.0 and "continuous" in chosen:
        first = names[chosen.index("continuous")]
        raise DataError(
            f"smoothing adds to counts, and column {first!r} is continuous: leave smoothing out, "
            f"or use jn.discretize"
        )
    if not isinstance(table, Table):
        return SummedInformation.of(table, names, sample_size)
    if "continuous" not in chosen:
        return CategoricalInformation(table, names, sample_size)
    if "categorical" in chosen:
        return MixedInformation(table, names)
    return GaussianInformation(table, names)


def conditional_information(
    table: Table | TableScan, names: Sequence[str], given: str, smoothing: float = 0.0
) -> ConditionalInformation:
    """Mutual informations of categorical columns given another one."""
    numbers = [x for x in (given, *names) if table.variable(x).kind != "categorical"]
    if numbers:
        raise DataError(
            f"{some(map(repr, numbers), most=20)} {'holds' if len(numbers) == 1 else 'hold'} "
            f"numbers, and mutual information given a column is there for categorical columns "
            f"only: use jn.discretize, or say {of_frame(categorical=numbers)} if these are labels"
        )
    return ConditionalInformation(table, names, given, imagined_rows(smoothing))
