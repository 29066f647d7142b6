"""What a restricted Boltzmann machine learns by exact gradients, and how its bits are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.estimators.arrays import read_matrix
from jensen.estimators.learning import LoopChoices, Problem
from jensen.estimators.markov_problem import ML
from jensen.exceptions import DataError
from jensen.families.log_linear import LogLinear
from jensen.free_energy import Algorithm
from jensen.models.log_linear_network import Weights
from jensen.models.protocol import Data
from jensen.models.restricted import RestrictedModel, RestrictedRows, RestrictedSums

Array = NDArray[np.float64]

UNIT_ROWS = 256
MOST_WORK = 2.0**31
"""States of all rows with gaps times units, of one sweep of exact learning."""


@dataclass(frozen=True)
class RbmSettings(LoopChoices):
    """How a machine is learned where Z is exact."""

    methods = ("ml",)

    @property
    def algorithm(self) -> Algorithm:
        """Exact q(h), and θ improved step by step."""
        return ML


def rbm_problem(
    values: Array, weight: Array, n_hidden: int, ridge_of: float, choices: RbmSettings
) -> Problem:
    """The model with its penalty, rows in units, the choices."""
    choices.check()
    seen = ~np.isnan(values)
    on = (weight @ np.where(seen, values, 0.0) + 0.5) / (weight @ seen + 1.0)
    n_visible = values.shape[1]
    alone, n_ties = n_visible + n_hidden, n_visible * n_hidden
    n = alone + n_ties
    prior = Weights(None)
    if ridge_of > 0.0:
        ridge = np.concatenate([np.zeros(alone), np.full(n_ties, ridge_of)])
        prior = Weights(LogLinear(np.zeros(n), np.float64(0.0), ridge, np.zeros(n)))
    model = RestrictedModel(RestrictedSums(on, n_hidden), prior)
    starts = range(0, len(values), UNIT_ROWS)
    units = tuple(
        RestrictedRows(values[a : a + UNIT_ROWS], weight[a : a + UNIT_ROWS]) for a in starts
    )
    data = Data(Units(units, float(weight.sum()), is_complete=False), None, (values, weight))
    return Problem(model, data, choices)


def work_of(values: Array, n_hidden: int) -> float:
    """How many states rows with gaps have, times units."""
    gone = np.isnan(values).sum(1)
    listed = np.minimum(gone[gone > 0], n_hidden).astype(float)
    return float(np.exp2(listed).sum() * (values.shape[1] + n_hidden))


def read_bits(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Rows of 0, 1 and NaN; other numbers are refused."""
    values: Array = read_matrix(estimator, X, reset=reset)
    odd = ~(np.isnan(values) | (values == 0.0) | (values == 1.0))
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise DataError(
            f"row {row + 1} of column {column} is {values[row, column]:g}, and units are 0 or "
            f"1 (NaN is missing): cut the numbers, as in X >= 0.5"
        )
    return values
