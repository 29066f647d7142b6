"""Mutual information of pairs of columns: all that trees are learned from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.counting import counts_as_numbers, is_complete
from jensen.exceptions import DataError, JensenError
from jensen.scores.categorical_information import CategoricalInformation, ConditionalInformation
from jensen.scores.gaussian_information import GaussianInformation, MixedInformation
from jensen.scores.table_checks import require_rows, require_values
from jensen.support.arguments import is_real
from jensen.support.machine import check_memory
from jensen.support.text import of_frame, offer, some

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


Unconditional: TypeAlias = CategoricalInformation | GaussianInformation | MixedInformation


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
    data = complete(as_table(table), "the matrix of mutual informations")
    names = [name for name in sorted(data.names) if name != given]
    check_memory(24.0 * len(names) ** 2, "the matrix of mutual informations", "take fewer columns")
    found: PairInformation
    if given is None:
        found = pair_information(data, names, smoothing)
    else:
        found = conditional_information(data, names, given, smoothing)
    return MutualInformations(found.names, found.matrix())


def complete(table: Table, task: str) -> Table:
    """The rows with a weight; refused if a value is missing, or if there are no columns."""
    if not table.names:
        raise DataError(f"{task} needs a column, and this table has none")
    if table.weights is not None and not table.weights.all():
        table = table.take(table.weights > 0.0)
    require_rows(table)
    if not is_complete(table):
        require_values(table, table.names, task, str)
    return table


def imagined_rows(smoothing: Any) -> float:
    """How many imagined rows `smoothing` stands for: four cells of two binary columns."""
    if not (is_real(smoothing) and 0.0 <= smoothing < math.inf):
        raise JensenError(f"smoothing must be a number, 0 or more, not {smoothing!r}")
    return 4.0 * float(smoothing)


def pair_information(table: Table, names: Sequence[str], smoothing: float = 0.0) -> Unconditional:
    """Mutual informations of columns of any kind, from a table without missing values."""
    table = counts_as_numbers(table, keep_declared=False)
    kinds = {variable.name: variable.kind for variable in table.variables}
    chosen = [kinds[name] for name in names]
    sample_size = imagined_rows(smoothing)
    if "continuous" not in chosen:
        return CategoricalInformation(table, names, sample_size)
    if sample_size > 0.0:
        first = names[chosen.index("continuous")]
        raise DataError(
            f"smoothing adds to counts, and column {first!r} is continuous: leave smoothing out, "
            f"or use jn.discretize"
        )
    if "categorical" in chosen:
        return MixedInformation(table, names)
    return GaussianInformation(table, names)


def conditional_information(
    table: Table, names: Sequence[str], given: str, smoothing: float = 0.0
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
