"""What comes after sequences of numbers: expected outputs, intervals and draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from jensen.exceptions import JensenError
from jensen.inference.dynamics import Ahead
from jensen.inference.forecasts import MOST_LINES
from jensen.support.text import PAGE, bare, grid, plural

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

HALVINGS = 80
"""Steps of the search for a quantile of a mixture."""


@dataclass(frozen=True, eq=False)
class SeriesForecast:
    """What comes after sequences, step by step; it prints as a table.

    Attributes
    ----------
    expected, deviation : arrays
        (S, h, D): expected outputs, and their standard deviations.
    states : array
        (S, h, K): expected states.
    low, high : arrays or None
        (S, h, D): the central interval of every output, with probability `level`.
    draws : array or None
        (S, n, h, D): futures drawn jointly.
    names, sequences
        Of the outputs, of the sequences.
    """

    expected: Array
    deviation: Array
    states: Array
    names: tuple[str, ...]
    sequences: tuple[str, ...]
    level: float | None = None
    low: Array | None = None
    high: Array | None = None
    draws: Array | None = None

    def columns(self) -> dict[str, Any]:
        """A row for each step of each sequence: expected outputs, deviations, intervals."""
        n, h, _ = self.expected.shape
        found: dict[str, Any] = {
            "sequence": np.repeat(np.array(self.sequences, object), h),
            "step": np.tile(np.arange(1, h + 1), n),
        }
        for i, name in enumerate(self.names):
            found[name] = self.expected[:, :, i].ravel()
            found[f"{name} deviation"] = self.deviation[:, :, i].ravel()
            if self.low is not None and self.high is not None:
                found[f"{name} from"] = self.low[:, :, i].ravel()
                found[f"{name} to"] = self.high[:, :, i].ravel()
        return found

    def drawn_columns(self) -> dict[str, Any]:
        """A row for each step of each draw."""
        if self.draws is None:
            raise JensenError(f"this forecast has no draws: ask for them with {bare('draws')}")
        S, n, h, D = self.draws.shape
        values = self.draws.reshape(-1, D)
        found: dict[str, Any] = {
            "sequence": np.repeat(np.array(self.sequences, object), n * h),
            "draw": np.tile(np.repeat(np.arange(1, n + 1), h), S),
            "step": np.tile(np.arange(1, h + 1), S * n),
        }
        return found | {name: values[:, d] for d, name in enumerate(self.names)}

    def to_pandas(self, *, draws: bool = False) -> pandas.DataFrame:
        """The forecast, or the draws, as a dataframe with a row for each step."""
        import pandas

        return pandas.DataFrame(self.drawn_columns() if draws else self.columns())

    def __repr__(self) -> str:
        n, h, _ = self.expected.shape
        head = ["step"]
        for name in self.names:
            head.append(name)
            if self.level is not None:
                head += [f"{100 * self.level:g}% from", "to"]
        rows = [head if n == 1 else ["sequence", *head]]
        for s, step in list(np.ndindex(n, h))[:MOST_LINES]:
            rows.append([self.sequences[s]] * (n > 1) + [str(step + 1), *self._cells(s, step)])
        after = "" if n == 1 else f" after each of {plural(n, 'sequence')}"
        text = f"{plural(h, 'step')} ahead{after}\n"
        text += grid(rows, left=int(n > 1), rule=True, page=PAGE)
        left = n * h + 1 - len(rows)
        return text + (f"\n... and {plural(left, 'row')} more" if left else "")

    def _cells(self, s: int, step: int) -> list[str]:
        found = []
        for d in range(len(self.names)):
            found.append(f"{self.expected[s, step, d]:.4g}")
            if self.low is not None and self.high is not None:
                found += [f"{self.low[s, step, d]:.4g}", f"{self.high[s, step, d]:.4g}"]
        return found


def moments(ahead: Sequence[Ahead]) -> tuple[Array, Array]:
    """Means and deviations of outputs, mixed over samples of the parameters."""
    means = np.stack([one.mean for one in ahead])
    variances = np.stack([one.variance for one in ahead])
    return means.mean(0), np.sqrt(variances.mean(0) + means.var(0))


def interval(ahead: Sequence[Ahead], level: float) -> tuple[Array, Array]:
    """The central interval of every output; of a mixture to twelve digits."""
    z = float(ndtri(0.5 + 0.5 * level))
    means = np.stack([one.mean for one in ahead])
    deviations = np.sqrt(np.stack([one.variance for one in ahead]))
    low, high = (means - z * deviations).min(0), (means + z * deviations).max(0)
    if len(ahead) == 1:
        return low, high
    tails = 0.5 - 0.5 * level, 0.5 + 0.5 * level
    found = [_quantile(means, deviations, p, low, high) for p in tails]
    return found[0], found[1]


def _quantile(means: Array, deviations: Array, p: float, low: Array, high: Array) -> Array:
    """Where the mean of these normal distributions reaches p, between two bounds."""
    safe = np.where(deviations > 0.0, deviations, 1e-300)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = ndtr((middle - means) / safe).mean(0) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(0.5 * (low + high))
