"""The answers of a query: a distribution, or one for each row of evidence."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from jensen.data.variable import Variable, find_state
from jensen.exceptions import JensenError
from jensen.inference.cpt import MAX_SHOWN_ROWS, show_probability
from jensen.support.text import grid, offer, plural, some

if TYPE_CHECKING:
    import pandas

FEW_ROWS = 5  # of many distributions
FEW_COLUMNS = 8

Key = str | tuple[str, ...]
"""A state of one variable, or a state of each of several."""


class Interval(NamedTuple):
    """Bounds between which each probability lies, with probability `level`."""

    level: float
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def percent(self) -> str:
        """The level as text: 90%."""
        return f"{100 * self.level:.4g}%"


@dataclass(eq=False, slots=True)  # frozen ones take three times as long to make
class Distribution:
    """P(variables | ...): a probability for every state, or for every combination of states.

    It reads like a mapping from states (of several variables: from tuples of states, one of each)
    to probabilities, except that `values` is the array of all of them.

    Examples
    --------
    >>> import jensen as jn
    >>> cancer = jn.Variable("Cancer", "categorical", ("no", "yes"))
    >>> d = Distribution((cancer,), np.array([0.75, 0.25]), "XRay=abnormal, do(Smoker=yes)")
    >>> d
    P(Cancer | XRay=abnormal, do(Smoker=yes))
    Cancer  probability
    -------------------
    no             0.75
    yes            0.25
    >>> d["yes"], dict(d), d.most_probable()
    (0.25, {'no': 0.75, 'yes': 0.25}, 'no')

    >>> stage = jn.Variable("Stage", "categorical", ("1", "2"))
    >>> joint = Distribution((cancer, stage), np.array([[0.5, 0.125], [0.125, 0.25]]))
    >>> joint["yes", 2], dict(joint.marginal("Stage"))
    (0.25, {'1': 0.625, '2': 0.375})
    """

    variables: tuple[Variable, ...]  # in the order asked
    values: NDArray[np.float64]  # an axis per variable
    condition: str = ""  # as text, for headings
    interval: Interval | None = None  # bounds shaped as the values
    label: Any = None  # what the probabilities are, if they were asked for approximately

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the axes."""
        return tuple(v.name for v in self.variables)

    @property
    def states(self) -> tuple[str, ...] | tuple[tuple[str, ...], ...]:
        """The states of the one variable; of several, a tuple of states for each."""
        each = tuple(v.states for v in self.variables)
        return each[0] if len(each) == 1 else each

    def __getitem__(self, key: object) -> float:
        return float(self.values[self._cell(key)])

    def __contains__(self, key: object) -> bool:
        labels = _labels(key)
        if len(labels) != len(self.variables):
            return False
        return min(map(find_state, self.variables, labels)) >= 0

    def __len__(self) -> int:
        return int(self.values.size)

    def __iter__(self) -> Iterator[Key]:
        if len(self.variables) == 1:
            return iter(self.variables[0].states)
        return combinations(self.variables)

    def keys(self) -> list[Key]:
        """The states, or the combinations of states as tuples; the last variable moves fastest."""
        return list(self)

    def items(self) -> list[tuple[Key, float]]:
        """Pairs of key and probability."""
        return list(zip(self, self.values.ravel().tolist(), strict=True))

    def get(self, key: object, default: Any = None) -> Any:
        """The probability of a key, or `default` where there is no such key."""
        if key not in self:
            return default
        return self[key]

    def plain(self) -> dict[str, Any]:
        """As plain data, in the same form for one variable and for several."""
        rows = []
        for k, labels in enumerate(combinations(self.variables)):
            row: dict[str, Any] = {"state": dict(zip(self.names, labels, strict=True))}
            row["probability"] = float(self.values.flat[k])
            if self.interval is not None:
                row["lower"] = float(self.interval.lower.flat[k])
                row["upper"] = float(self.interval.upper.flat[k])
            rows.append(row)
        level: dict[str, Any] = {} if self.interval is None else {"interval": self.interval.level}
        if self.label is not None:
            level["inference"] = self.label.plain()
        return {**level, "probabilities": rows}

    def most_probable(self) -> Key:
        """The key of the largest probability; of equal ones the first."""
        if np.isnan(self.values).any():
            raise JensenError(
                f"{heading(self.variables, self.condition)} is undefined (NaN), so no state is the "
                "most probable: the evidence is impossible"
            )
        cell = np.unravel_index(np.argmax(self.values), self.values.shape)
        labels = tuple(v.states[k] for v, k in zip(self.variables, cell, strict=True))
        return labels[0] if len(labels) == 1 else labels

    def marginal(self, names: str | Iterable[str]) -> Distribution:
        """The distribution of some of the variables, in the order asked; it has no interval."""
        kept = [names] if isinstance(names, str) else list(names)
        for k, name in enumerate(kept):
            if name not in self.names:
                raise JensenError(
                    f"{heading(self.variables, self.condition)} has no variable {name!r}; "
                    f"{offer(name, self.names)}"
                )
            if name in kept[:k]:
                raise JensenError(
                    f"a marginal names every variable once, but {name!r} stands twice"
                )
        if not kept:
            raise JensenError("a marginal is of one variable or more, but no name came")
        axes = [self.names.index(name) for name in kept]
        summed = [k for k in range(len(self.variables)) if k not in axes]
        last = tuple(range(len(axes), len(self.variables)))
        values = self.values.transpose(axes + summed).sum(axis=last)
        return Distribution(tuple(self.variables[k] for k in axes), values, self.condition)

    def entropy(self) -> float:
        """-Σ p log p in nats, where 0 log 0 = 0.

        >>> import jensen as jn
        >>> coin = jn.Variable("Coin", "categorical", ("head", "tail"))
        >>> round(Distribution((coin,), np.array([0.5, 0.5])).entropy(), 4)
        0.6931
        """
        return float(np.sum(entr(self.values), initial=0.0))

    def interval_of(self, key: object) -> tuple[float, float]:
        """Lower and upper bound of one probability."""
        if self.interval is None:
            raise JensenError(
                f"{heading(self.variables, self.condition)} has no interval: ask for one in the "
                "query"
            )
        cell = self._cell(key)
        return float(self.interval.lower[cell]), float(self.interval.upper[cell])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def to_pandas(self) -> pandas.Series | pandas.DataFrame:
        """A series indexed by states; with an interval, a dataframe with the bounds beside."""
        import pandas

        index = _pandas_index(self.variables)
        if self.interval is None:
            return pandas.Series(self.values.flatten(), index, name="probability")
        columns = {
            "probability": self.values.flatten(),
            "lower": self.interval.lower.flatten(),
            "upper": self.interval.upper.flatten(),
        }
        return pandas.DataFrame(columns, index)

    def _repr_html_(self) -> str:
        from jensen.plots.html import distribution_html

        return distribution_html(self)

    def __repr__(self) -> str:
        columns, heads = [self.values.ravel()], ["probability"]
        if self.interval is not None:
            columns += [self.interval.lower.ravel(), self.interval.upper.ravel()]
            heads += [f"{self.interval.percent} from", "to"]
        lines = [[*self.names, *heads]]
        for labels, *numbers in islice(
            zip(combinations(self.variables), *columns, strict=True), MAX_SHOWN_ROWS
        ):
            lines.append([*labels, *map(show_probability, numbers)])
        table = grid(lines, left=len(self.variables), rule=True)
        below = _more(len(self), len(lines)) + ("" if self.label is None else f"\n{self.label}")
        return f"{heading(self.variables, self.condition)}\n{table}{below}"

    def _cell(self, key: object) -> tuple[int, ...]:
        """The indices of a key in `values`; an unknown key is refused."""
        labels = _labels(key)
        if len(labels) != len(self.variables):
            known = "; ".join(f"{v.name}: {some(v.states)}" for v in self.variables)
            raise JensenError(
                f"{heading(self.variables)} is of {plural(len(self.variables), 'variable')} "
                f"({known}), but {plural(len(labels), 'label')} came: give one label per variable"
            )
        cell = tuple(map(find_state, self.variables, labels))
        for variable, label, k in zip(self.variables, labels, cell, strict=True):
            if k < 0:
                raise JensenError(
                    f"{variable.name!r} has no state {label!r}; "
                    f"its states are {some(variable.states)}"
                )
        return cell


@dataclass(frozen=True, eq=False)
class Distributions:
    """One `Distribution` per row of evidence.

    Examples
    --------
    >>> import jensen as jn
    >>> cancer = jn.Variable("Cancer", "categorical", ("no", "yes"))
    >>> d = Distributions((cancer,), np.array([[0.75, 0.25], [0.5, 0.5], [1.0, 0.0]]))
    >>> d
    P(Cancer) for 3 rows of evidence
    row    no   yes
    ---------------
    0    0.75  0.25
    1     0.5   0.5
    2     1.0   0.0
    >>> d[-1]
    P(Cancer | row 2)
    Cancer  probability
    -------------------
    no              1.0
    yes             0.0
    """

    variables: tuple[Variable, ...]  # in the order asked
    values: NDArray[np.float64]  # (N, ...): an axis per variable after that of the rows

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> Distribution:
        n, i = len(self), operator.index(row)
        if not -n <= i < n:
            raise IndexError(f"there is no row {i}: there are {plural(n, 'row')} of evidence")
        return Distribution(self.variables, self.values[i], f"row {i % n}")

    def __iter__(self) -> Iterator[Distribution]:
        for i in range(len(self)):
            yield self[i]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def to_pandas(self) -> pandas.DataFrame:
        """A dataframe: a row per row of evidence, a column per state or combination of states."""
        import pandas

        flat = self.values.reshape(len(self), _n_cells(self.variables))
        return pandas.DataFrame(flat.copy(), columns=_pandas_index(self.variables))

    def _repr_html_(self) -> str:
        from jensen.plots.html import distributions_html

        return distributions_html(self)

    def __repr__(self) -> str:
        names = map(", ".join, islice(combinations(self.variables), FEW_COLUMNS))
        lines = [["row", *names]]
        for k, row in enumerate(self.values[:FEW_ROWS]):
            lines.append([str(k), *map(show_probability, row.flat[:FEW_COLUMNS])])
        head = f"{heading(self.variables)} for {plural(len(self), 'row')} of evidence"
        left_out = _n_cells(self.variables) - FEW_COLUMNS
        wide = f"\n... and {plural(left_out, 'column')} more" if left_out > 0 else ""
        return f"{head}\n{grid(lines, left=1, rule=True)}{wide}{_more(len(self), len(lines))}"


def heading(variables: Sequence[Variable], condition: str = "") -> str:
    """The heading of a distribution, as in P(A | B=yes).

    >>> heading([Variable("A", "categorical"), Variable("B", "categorical")], "do(C=yes)")
    'P(A, B | do(C=yes))'
    """
    names = ", ".join(v.name for v in variables)
    return f"P({names}{' | ' if condition else ''}{condition})"


def combinations(variables: Sequence[Variable]) -> Iterator[tuple[str, ...]]:
    """The states of every cell, in the order of a flat array."""
    return product(*(v.states for v in variables))


def _n_cells(variables: Sequence[Variable]) -> int:
    return math.prod(v.n_states for v in variables)


def _more(n_rows: int, n_lines: int) -> str:
    """The line under a shortened table that has `n_lines` with its head; else ""."""
    more = n_rows - (n_lines - 1)
    return f"\n... and {plural(more, 'row')} more" if more else ""


def _labels(key: object) -> tuple[object, ...]:
    return key if isinstance(key, tuple) else (key,)


def _pandas_index(variables: Sequence[Variable]) -> pandas.Index:
    import pandas

    if len(variables) == 1:
        return pandas.Index(variables[0].states, name=variables[0].name)
    names = [v.name for v in variables]
    return pandas.MultiIndex.from_product([v.states for v in variables], names=names)
