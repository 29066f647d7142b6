"""Small answers of a posterior over graphs: they print as tables and read like mappings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.inference.cpt import MAX_SHOWN_ROWS, show_probability
from jensen.inference.distribution import Distribution, combinations, heading
from jensen.inference.gaussian_distribution import GaussianDistribution
from jensen.q_graph.posterior.estimate import Estimate
from jensen.text import grid, plural

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
Key = str | tuple[str, ...]


class Probabilities(Mapping[Key, Estimate]):
    """Probabilities with their standard errors, the largest first.

    It reads like a mapping from names, or from tuples of names, to probabilities.

    Examples
    --------
    >>> Probabilities("parents of C", {("A",): Estimate(0.75, 0.01), (): Estimate(0.25, 0.01)})
    parents of C  probability  standard error
    -----------------------------------------
    A                    0.75            0.01
    (none)               0.25            0.01
    """

    def __init__(self, title: str, found: Mapping[Any, Estimate]) -> None:
        self.title = title
        self._found: dict[Any, Estimate] = dict(
            sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        )

    def __getitem__(self, key: Any) -> Estimate:
        if isinstance(key, (list, set, frozenset)):
            key = tuple(sorted(key))
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each."""
        import pandas as pd

        errors = [p.standard_error for p in self.values()]
        columns = {
            self.title: list(self),
            "probability": [float(p) for p in self.values()],
            "standard_error": errors,
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        rows = [[self.title, "probability", "standard error"]]
        for key, p in islice(self.items(), MAX_SHOWN_ROWS):
            name = key if isinstance(key, str) else ", ".join(key) or "(none)"
            rows.append([name, show_probability(float(p)), f"{p.standard_error:.2g}"])
        more = len(self) - len(rows) + 1
        tail = f"\n... and {plural(more, 'row')} more" if more else ""
        return grid(rows, left=1, rule=True) + tail


@dataclass(eq=False, slots=True)
class AveragedDistribution(Distribution):
    """A distribution averaged over graphs, with the Monte-Carlo error of each probability."""

    standard_error: Array | None = None  # shaped as the values
    n_graphs: int = 0  # how many different graphs were asked

    def __getitem__(self, key: object) -> Estimate:
        assert self.standard_error is not None
        cell = self._cell(key)
        return Estimate(self.values[cell], self.standard_error[cell])

    def __repr__(self) -> str:
        assert self.standard_error is not None
        rows = [[*self.names, "probability", "standard error"]]
        numbers = zip(self.values.flat, self.standard_error.flat, strict=True)
        cells = zip(combinations(self.variables), numbers, strict=True)
        for labels, (p, error) in islice(cells, MAX_SHOWN_ROWS):
            rows.append([*labels, show_probability(p), f"{error:.2g}"])
        more = len(self) - len(rows) + 1
        tail = f"\n... and {plural(more, 'row')} more" if more else ""
        table = grid(rows, left=len(self.variables), rule=True)
        return f"{heading(self.variables, self.condition)}\n{table}{tail}"


@dataclass(frozen=True, eq=False, repr=False)
class AveragedGaussian(GaussianDistribution):
    """The mean and the covariance of a mixture of Gaussians, one for each graph.

    Attributes
    ----------
    standard_error : (k,) array
        The Monte-Carlo error of the means.
    between : (k, k) array
        How much of the covariance is that of the means of different graphs.
    n_graphs
        How many different graphs were asked.
    """

    standard_error: Array = field(default_factory=lambda: np.empty(0))
    between: Array = field(default_factory=lambda: np.empty((0, 0)))
    n_graphs: int = 0

    @property
    def mean(self) -> Estimate | Array:
        """The mean of the one variable, with its error; of several, (k,)."""
        if len(self.names) == 1:
            return Estimate(self.means[0], self.standard_error[0])
        return self.means
