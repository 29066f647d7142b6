"""The covariance of the coefficients of a Markov network: the inverse of the observed information.

Of complete rows the information is N · Cov[f] + the penalty. Where values are missing it is the
slope of the score, E[f | seen] - E[f], taken by central differences: what is missing costs what it
costs (Louis' identity in numbers).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.exceptions import EstimateWarning, warn
from jensen.families.log_linear import LogLinear
from jensen.free_energy import expect
from jensen.models.log_linear_network import LogLinearNetwork, Weights
from jensen.models.log_linear_sums import ListedSums
from jensen.support.machine import check_many
from jensen.support.text import plural

Array = NDArray[np.float64]

STEP = 1e-4
"""Of central differences, in log potentials."""
FLAT = 1e-9
"""A direction with less information than this share of the most told one is not told."""


def coefficient_covariance(model: LogLinearNetwork, units: Units, theta: Array) -> Array:
    """(F, F); nan for what is not told: flat directions, and coefficients at infinity."""
    information = _information(model, units, theta)
    values, vectors = np.linalg.eigh(information)
    told = values > FLAT * max(values.max(initial=0.0), 1e-300)
    inverse = (vectors[:, told] / values[told]) @ vectors[:, told].T
    leaning = (np.abs(vectors[:, ~told]) > 1e-6).any(1)
    if leaning.any():
        warn(
            f"{plural(int(leaning.sum()), 'coefficient')} of {len(theta)} have no standard error: "
            f"the rows do not tell them apart, or they are infinite",
            EstimateWarning,
        )
    inverse[leaning] = np.nan
    inverse[:, leaning] = np.nan
    return np.asarray(inverse)


def _information(model: LogLinearNetwork, units: Units, theta: Array) -> Array:
    prior = model.prior.weights
    ridge = np.zeros(len(theta)) if prior is None else prior.ridge
    if units.is_complete and isinstance(model.sums, ListedSums):
        return units.total_weight * model.sums.covariance(theta) + np.diag(ridge)
    check_many(len(theta), 16.0 * len(theta), "coefficients with standard errors", "learn fewer")
    found = np.empty((len(theta), len(theta)))
    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = STEP
        rise = score(model, units, theta + step) - score(model, units, theta - step)
        found[k] = -rise / (2.0 * STEP)
    return 0.5 * (found + found.T) + np.diag(ridge)


def score(model: LogLinearNetwork, units: Units, theta: Array) -> Array:
    """The gradient of the log-likelihood of what was observed: Σ E[f | seen] - N E[f]."""
    log_z, mean = model.sums(theta)
    nothing = np.zeros(len(model.effects.terms))
    t = Weights(LogLinear(theta, np.float64(-log_z), -0.5 * theta**2, nothing))
    sums, _ = expect(model, units, q_hidden.exact, t)
    stats = sums.stats.weights
    return np.asarray(stats.first - stats.count * mean)
