"""Labels that were predicted for rows whose label is known: how often right, and how sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.support.checks import check_whole
from jensen.support.text import grid

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]


class CalibrationBin(NamedTuple):
    """Predictions of about the same probability, and how often they came true."""

    predicted: float  # their mean probability
    share: float  # how many of them came true
    weight: float  # how many there are


@dataclass(frozen=True, eq=False)
class PredictedLabels:
    """P(label | the rest of the row) of rows that were left out, beside the true labels.

    Attributes
    ----------
    target
        The variable that was predicted.
    states
        Its labels.
    rows : (N,) array
        Which rows of the table; those that do not show the target are left out.
    truth : (N,) array
        Their labels, by position among `states`.
    probabilities : (N, K) array
        Of every label.
    weights : (N,) array
        How often each row counts.
    """

    target: str
    states: tuple[str, ...]
    rows: NDArray[np.int64]
    truth: NDArray[np.int64]
    probabilities: Array
    weights: Array

    @property
    def predicted(self) -> NDArray[np.int64]:
        """(N,): the most probable label of every row, by position."""
        return np.asarray(self.probabilities.argmax(1), np.int64)

    @property
    def accuracy(self) -> float:
        """The share of rows whose most probable label is the true one."""
        return float(self.weights @ (self.predicted == self.truth) / self.weights.sum())

    @property
    def log_loss(self) -> float:
        """Minus the mean logarithm of the probability of the true label; inf if one was 0."""
        p = self.probabilities[np.arange(len(self.truth)), self.truth]
        with np.errstate(divide="ignore"):
            return float(-(self.weights @ np.log(p)) / self.weights.sum())

    @property
    def confusion(self) -> Array:
        """(K, K): [true, predicted], how many rows."""
        found = np.zeros((len(self.states),) * 2)
        np.add.at(found, (self.truth, self.predicted), self.weights)
        return found

    def calibration(self, bins: int = 10) -> list[CalibrationBin]:
        """Probabilities in equal bins, of all labels of all rows, and how many came true.

        Where a model is honest, `predicted` and `share` agree but for chance.
        """
        check_whole("bins", bins, at_least=1)
        came_true = np.arange(len(self.states)) == self.truth[:, None]
        weights = np.broadcast_to(self.weights[:, None], came_true.shape)
        at = np.minimum((self.probabilities * bins).astype(np.int64), bins - 1)
        found = []
        for k in range(bins):
            here = at == k
            total = float(weights[here].sum())
            if total:
                mean = float(weights[here] @ self.probabilities[here]) / total
                found.append(CalibrationBin(mean, float(weights[here] @ came_true[here]) / total,
                                            total))  # fmt: skip
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """A line per row: its number, the true and the predicted label, all probabilities."""
        import pandas as pd

        labels = np.array(self.states, object)
        columns = {"row": self.rows, "true": labels[self.truth]}
        columns |= {"predicted": labels[self.predicted]}
        columns |= {f"P({x})": self.probabilities[:, k] for k, x in enumerate(self.states)}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        head = ["true", *(f"predicted {x}" for x in self.states)]
        rows = [
            [x, *(f"{n:g}" for n in counts)]
            for x, counts in zip(self.states, self.confusion, strict=True)
        ]
        title = (
            f"{self.target} of {self.weights.sum():g} rows: accuracy {self.accuracy:.3f}, log loss "
            f"{self.log_loss:.4f}"
        )
        return f"{title}\n{grid([head, *rows], left=1, rule=True)}"
