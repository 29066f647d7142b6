"""What a model says of rows that it has not seen: learned without each part of them in turn."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import as_table
from jensen.exceptions import JensenError
from jensen.support.arguments import as_generator, check_whole
from jensen.support.text import some

Array = NDArray[np.float64]


class HeldOut(NamedTuple):
    """Log p of a row that was left out, on average."""

    log_predictive: float
    standard_error: float  # from how the parts differ

    @property
    def bits(self) -> float:
        """The surprise of a row, -log2 p."""
        return -self.log_predictive / math.log(2.0)

    def __str__(self) -> str:
        return f"{self.log_predictive:.4f} ± {self.standard_error:.2g}"


def predict_held_out(
    learner: Any, table: Any, folds: int, fit: dict[str, Any], random_state: Any = 0
) -> HeldOut:
    """Rows are cut at random, the same for all models; of chains sequences are."""
    check_whole("held_out", folds, at_least=2)
    if fit:
        raise JensenError(
            f"rows are cut here without knowing what {some(fit)} says of each: give a table of the "
            "rows alone (sequences as a list of them), or held_out=0"
        )
    rows = _Rows(table, getattr(learner, "noun", "") == "state")
    if rows.n < folds:
        raise JensenError(f"{rows.n} rows (or sequences) cannot be cut into {folds} parts")
    parts = np.array_split(as_generator(random_state).permutation(rows.n), folds)
    values, weights = [], []
    for part in parts:
        others = np.setdiff1d(np.arange(rows.n), part)
        twin = type(learner)(**learner.get_params(deep=False)).fit(rows.take(others))
        unseen = rows.take(np.sort(part))
        values.append(twin.score(unseen))
        weights.append(rows.weight(unseen))
    each, weight = np.array(values), np.array(weights, np.float64)
    mean = float(weight @ each / weight.sum())
    return HeldOut(mean, float(each.std(ddof=1) / math.sqrt(folds)))


class _Rows:
    """Rows of a table or array, or sequences of a list."""

    def __init__(self, table: Any, are_sequences: bool) -> None:
        self.are_sequences = are_sequences
        self.is_array = isinstance(table, np.ndarray)
        if are_sequences and not isinstance(table, list | tuple):
            raise JensenError("sequences are cut as wholes: give a list of them, or held_out=0")
        plain = are_sequences or self.is_array or isinstance(table, list | tuple)
        self.found = table if plain else as_table(table)
        self.n = len(table) if plain else self.found.n_rows

    def take(self, rows: NDArray[np.intp]) -> Any:
        """Some of them."""
        if self.is_array:
            return self.found[rows]
        if isinstance(self.found, list | tuple):
            return [self.found[i] for i in rows]
        return self.found.take(rows)

    def weight(self, taken: Any) -> float:
        """How many rows, or steps, these are."""
        if self.are_sequences:
            return float(sum(len(sequence) for sequence in taken))
        return float(taken.total_weight if hasattr(taken, "total_weight") else len(taken))
