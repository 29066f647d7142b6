"""Standard errors of tables and regressions, with their labels; they print as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from jensen.data.variable import Variable, state_of
from jensen.exceptions import JensenError
from jensen.inference.cpt import MAX_SHOWN_ROWS
from jensen.inference.regression import check_level
from jensen.support.text import PAGE, grid, offer, plural, some

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TOLD, UNSEEN, BOUNDARY, HELD, UNKNOWN = range(5)
REASONS = {
    UNSEEN: ("not seen", "no row shows these values of the parents"),
    BOUNDARY: ("boundary", "a probability of 0 or 1, where standard errors do not apply"),
    HELD: ("held", "the table was held"),
    UNKNOWN: ("flat", "the rows do not determine it: the likelihood is flat in some direction"),
}
"""Why a parameter has no standard error: a word in tables, and the whole reason."""


@dataclass(frozen=True, eq=False)
class ParameterErrors:
    """Standard errors of one table, or of one regression for each configuration of its labels.

    Attributes
    ----------
    name : str
        The variable.
    labels : tuple of Variable
        Its parents that are labels, whose configurations are the rows, the last moving fastest.
    terms : tuple of str
        Columns: the states; of a number "intercept", its parents and "standard deviation".
    estimates, errors : array (configurations, terms)
        An error is NaN where there is none.
    why : array (configurations, terms)
        Why there is none: a key of `REASONS`, 0 where there is one.
    """

    name: str
    labels: tuple[Variable, ...]
    terms: tuple[str, ...]
    estimates: Array
    errors: Array
    why: Ints
    is_table: bool

    def __getitem__(self, labels: object) -> dict[str, float]:
        """Term → standard error, given one label per parent; `[()]` where there is none."""
        given = labels if isinstance(labels, tuple) else (labels,)
        if len(given) != len(self.labels):
            names = some(x.name for x in self.labels) or "none"
            raise JensenError(
                f"give one label for each parent of {self.name!r} that has labels ({names}), as a "
                f"tuple, not {labels!r}"
            )
        config = 0
        for variable, label in zip(self.labels, given, strict=True):
            config = config * variable.n_states + state_of(variable, label)
        return dict(zip(self.terms, map(float, self.errors[config]), strict=True))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Approximate confidence intervals, (configurations, terms) each.

        They are normal in log odds of probabilities and in logs of standard deviations, so that
        they stay where these can be.
        """
        check_level(level)
        reach, at = float(ndtri(0.5 + 0.5 * level)) * self.errors, self.estimates
        low, high = at - reach, at + reach
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.is_table:
                odds, spread = np.log(at) - np.log1p(-at), reach / (at * (1.0 - at))
                low, high = expit(odds - spread), expit(odds + spread)
            else:
                spread = reach[:, -1] / at[:, -1]
                low[:, -1], high[:, -1] = at[:, -1] * np.exp([-spread, spread])
        return low, high

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each parameter: labels of the parents, term, estimate, error, interval, why."""
        import pandas

        low, high = self.interval()
        words = np.array(["", *(word for word, _ in REASONS.values())], object)
        n, k = self.estimates.shape
        configs = list(product(*(x.states for x in self.labels)))
        found: dict[str, Any] = {
            x.name: np.repeat(np.array([config[i] for config in configs], object), k)
            for i, x in enumerate(self.labels)
        }
        found["state" if self.is_table else "term"] = np.tile(np.array(self.terms, object), n)
        parts = {"estimate": self.estimates, "standard error": self.errors, "2.5%": low}
        found |= {name: part.ravel() for name, part in {**parts, "97.5%": high}.items()}
        return pandas.DataFrame({**found, "no error": words[self.why.ravel()]})

    def __repr__(self) -> str:
        head = self._head()
        rows = [[*(x.name for x in self.labels), *self.terms]]
        configs = product(*(x.states for x in self.labels))
        each = zip(configs, self.estimates, self.errors, self.why, strict=True)
        for labels, at, errors, why in list(each)[:MAX_SHOWN_ROWS]:
            rows.append([*labels, *map(_cell, at, errors, why)])
        more = len(self.estimates) + 1 - len(rows)
        tail = f"\n... and {plural(more, 'row')} more" if more > 0 else ""
        reasons = "".join(f"\n{text}" for text in reasons_of(self.why))
        return f"{head}\n{grid(rows, left=len(self.labels), rule=True, page=PAGE)}{tail}{reasons}"

    def _head(self) -> str:
        given = ", ".join(x.name for x in self.labels)
        if self.is_table:
            return f"P({self.name}{' | ' if given else ''}{given}) ± standard error"
        return f"regression of {self.name}{' given ' if given else ''}{given} ± standard error"


def _cell(estimate: float, error: float, why: int) -> str:
    """An estimate with its error: 0.25 ± 0.03."""
    if why:
        return f"{estimate:.4g} ({REASONS[int(why)][0]})"
    return f"{estimate:.4g} ± {error:.2g}"


def reasons_of(why: Ints) -> list[str]:
    """The reasons that occur, in words."""
    return [f"{word}: {text}" for key, (word, text) in REASONS.items() if np.any(why == key)]


@dataclass(frozen=True, eq=False)
class StandardErrors(Mapping[str, ParameterErrors]):
    """Standard errors of all parameters of a network, by variable; prints as tables.

    Attributes
    ----------
    least_information : float
        The share of the information of complete rows that is left in the direction that lost most
        of it; 1 where nothing is missing, near 0 where the rows hardly tell something.
    """

    by_name: dict[str, ParameterErrors]
    least_information: float

    def __getitem__(self, name: str) -> ParameterErrors:
        if name not in self.by_name:
            raise JensenError(f"the network has no variable {name!r}; {offer(name, self.by_name)}")
        return self.by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each parameter of each variable."""
        import pandas

        frames = []
        for name, own in self.by_name.items():
            frame = own.to_pandas()
            labels = frame[[x.name for x in own.labels]]
            given = [", ".join(f"{k}={v}" for k, v in row.items()) for _, row in labels.iterrows()]
            frame = frame.drop(columns=labels.columns).rename(columns={"state": "term"})
            frame.insert(0, "given", given)
            frame.insert(0, "variable", name)
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.by_name.values()))
