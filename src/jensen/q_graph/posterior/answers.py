"""Answers of a posterior over graphs: they print as tables and read like mappings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from jensen.exceptions import MissingNameError
from jensen.inference.cpt import MAX_SHOWN_ROWS, show_probability
from jensen.inference.distribution import Distribution, combinations, heading
from jensen.inference.gaussian_distribution import GaussianDistribution
from jensen.inference.regression import check_level
from jensen.q_graph.posterior.estimate import Estimate
from jensen.support.text import grid, offer, plural

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
Key = str | tuple[str, ...]

HALVINGS = 60
"""Bisection steps for a quantile: enough for full double precision."""


class Probabilities(Mapping[Key, Estimate]):
    """Probabilities with their standard errors, the largest first.

    A mapping from names, or from tuples of names, to probabilities.

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
        if isinstance(key, str) and key not in self._found:
            names = [name for name in self._found if isinstance(name, str)]
            raise MissingNameError(f"{self.title}: there is no {key!r}; {offer(key, names)}")
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each entry, with its probability and standard error."""
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

    standard_error: Array | None = None  # the shape of the values
    n_graphs: int = 0  # the number of distinct graphs in the average

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
    """A mixture of Gaussians, one for each graph: its moments, and intervals of the mixture.

    Attributes
    ----------
    standard_error : (k,) array
        The Monte-Carlo error of the means.
    between : (k, k) array
        The part of the covariance that comes from different means of different graphs.
    n_graphs
        The number of distinct graphs in the average.
    parts
        Shares (P,), means (P, k) and variances (P, k) of the components.
    """

    standard_error: Array = field(default_factory=lambda: np.empty(0))
    between: Array = field(default_factory=lambda: np.empty((0, 0)))
    n_graphs: int = 0
    parts: tuple[Array, Array, Array] = field(default_factory=lambda: (np.empty(0),) * 3)

    @property
    def mean(self) -> Estimate | Array:
        """The mean with its standard error for one variable; an array (k,) for several."""
        if len(self.names) == 1:
            return Estimate(self.means[0], self.standard_error[0])
        return self.means

    def _interval(self, level: float) -> tuple[Array, Array]:
        """Quantiles of the mixture, by bisection."""
        check_level(level)
        shares, means, variances = self.parts
        deviations = np.sqrt(variances)
        found = []
        for share in (0.5 - 0.5 * level, 0.5 + 0.5 * level):
            each = means + ndtri(share) * deviations
            low, high = each.min(0), each.max(0)
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                is_below = shares @ ndtr(_scaled(middle - means, deviations)) < share
                low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
            found.append(0.5 * (low + high))
        return found[0], found[1]

    def __repr__(self) -> str:
        low, high = self._interval(0.9)
        deviations = np.sqrt(np.diagonal(self.covariance))
        rows = [["variable", "mean", "standard error", "standard deviation", "90 % interval"]]
        numbers = zip(self.means, self.standard_error, deviations, low, high, strict=True)
        for name, (mean, error, deviation, least, most) in zip(self.names, numbers, strict=True):
            rows.append(
                [
                    name,
                    f"{mean:.4g}",
                    f"{error:.2g}",
                    f"{deviation:.4g}",
                    f"{least:.4g}..{most:.4g}",
                ]
            )
        given = f" | {self.evidence}" if self.evidence else ""
        return f"p({', '.join(self.names)}{given})\n{grid(rows, left=1, rule=True)}"


def _scaled(distances: Array, deviations: Array) -> Array:
    """Distances in standard deviations; ±inf where the deviation is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = distances / deviations
    return np.where(deviations > 0.0, scaled, np.where(distances >= 0.0, np.inf, -np.inf))
