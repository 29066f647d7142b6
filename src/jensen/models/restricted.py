"""Restricted Boltzmann machine, its Z exact: one log-linear family over biases and weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import ImpossibleError, JensenError
from jensen.families.log_linear import LogLinear, LogLinearFamily
from jensen.inference.restricted import FittedRestricted
from jensen.models.log_linear_network import Weights, around
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import Hidden
from jensen.q_hidden.restricted import RestrictedParameters, RestrictedUnits, all_states

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]

NOISE = 0.1
"""Standard deviation of random weights at a start."""
LEAST = 0.02
"""The least variance of a bit that curvatures are guessed from."""


class RestrictedRows(NamedTuple):
    """A unit: rows of visible bits."""

    values: Array  # (n, V)
    weight: Array  # (n,)


class RestrictedSums:
    """Sums over all states, with the curvatures of independent centred units.

    Parameters
    ----------
    on
        (V,): how often each visible bit is on in the rows.
    n_hidden
        How many hidden units there are.
    """

    def __init__(self, on: Array, n_hidden: int) -> None:
        self.on, self.half = on, np.full(n_hidden, 0.5)

    def split(self, theta: Array) -> RestrictedParameters:
        """Biases and weights, of a flat array."""
        n, m = len(self.on), len(self.half)
        return RestrictedParameters(theta[:n], theta[n : n + m], theta[n + m :].reshape(n, m))

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Log Z, and E[f]."""
        log_z, found = all_states(self.split(theta))
        return log_z, flat(found.visible, found.hidden, found.pairs)

    def solve(self, theta: Array, count: float, ridge: Array, slope: Array) -> Array:
        """The slope times the inverse curvature in centred units (Montavon and Müller, 2012)."""
        mu, lam = self.on, self.half
        b, c, ties = self.split(slope)
        spread = np.maximum(mu * (1.0 - mu), LEAST)
        centred = ties - np.outer(b, lam) - np.outer(mu, c)
        weight = self.split(ridge).weights
        steps = centred / (count * np.outer(spread, lam * (1.0 - lam)) + weight)
        fields = b / (count * spread) - steps @ lam
        hidden = c / (count * lam * (1.0 - lam)) - mu @ steps
        return flat(fields, hidden, steps)


def flat(visible: Array, hidden: Array, pairs: Array) -> Array:
    """One array of all."""
    return np.concatenate([visible, hidden, pairs.ravel()])


@dataclass(frozen=True)
class RestrictedModel(Conjugate[Weights]):
    """A restricted Boltzmann machine and the penalty of its weights.

    Parameters
    ----------
    sums
        Sums over all states.
    prior
        A ridge of the weights.
    """

    sums: RestrictedSums
    prior: Weights

    @cached_property
    def families(self) -> Weights:
        """One family of all parameters, each a term of its own."""
        n = len(self.sums.on) + len(self.sums.half) * (1 + len(self.sums.on))
        return Weights(LogLinearFamily(self.sums, np.arange(n + 1)))

    def potentials(self, t: Weights) -> Callable[[RestrictedRows], RestrictedUnits]:
        """The same parameters for every unit."""
        parameters = self.sums.split(t.weights.first)
        log_z = -float(t.weights.count)

        def of_unit(unit: RestrictedRows) -> RestrictedUnits:
            return RestrictedUnits(parameters, unit.values, unit.weight, log_z)

        return of_unit

    def expected_stats(self, unit: RestrictedRows, hidden: Hidden) -> Weights:
        """Σ of features, and how many rows."""
        first = flat(*hidden.moments)
        nothing = np.zeros(len(first))
        return Weights(LogLinear(first, np.float64(unit.weight.sum()), nothing, nothing))

    def point(self, eta: Weights) -> Weights:
        """Refused: there is no mean of θ."""
        raise JensenError("a Boltzmann machine has no posterior of its parameters in closed form")

    def start(self, data: Data[Any], k: int, rng: np.random.Generator) -> Weights:
        """Visible biases of independent bits, and small random weights."""
        n, m = len(self.sums.on), len(self.sums.half)
        on = np.clip(self.sums.on, LEAST, 1.0 - LEAST)
        weights = NOISE * rng.standard_normal((n, m))
        theta = flat(np.log(on / (1.0 - on)), np.zeros(m), weights)
        return around(theta, len(theta))

    def explain(self, data: Data[Any], t: Weights) -> Exception:
        """No row is impossible under finite weights."""
        return ImpossibleError("the parameters of start= are too large: F is not finite there")

    def simulate(self, t: Weights, n: int, rng: np.random.Generator) -> Array:
        """Rows of visible bits."""
        return self._fitted(t).sample(n, rng)

    def finish(self, state: State[Weights, Weights], *, is_posterior: bool) -> FittedRestricted:
        """The machine at the end of an ascent."""
        return self._fitted(state.t)

    def _fitted(self, t: Weights) -> FittedRestricted:
        return FittedRestricted(*(np.array(x) for x in self.sums.split(t.weights.first)))
