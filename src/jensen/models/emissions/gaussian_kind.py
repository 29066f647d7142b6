"""Gaussian states of all covariances: what is to know of `Gaussian` and `Diagonal`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.models.emissions.columns import ColumnSummary
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.gaussian_states import GaussianStates
from jensen.models.emissions.kinds import (
    TOLERANCE,
    Chosen,
    EmissionKind,
    Fault,
    Line,
    Words,
    near,
)
from jensen.models.emissions.priors import gaussian_prior

Array = NDArray[np.float64]

NOISE = 1e3 * np.finfo(float).eps


class GaussianKind(EmissionKind):
    """Real numbers."""

    def make(
        self, n_states: int, columns: ColumnSummary, words: Words, chosen: Chosen
    ) -> GaussianStates:
        """Rows relative to the mean of the data; a prior reads the covariance, or the variances."""
        shift, covariance, prior = columns.mean, chosen.covariance, None
        is_matrix = covariance in ("full", "tied")
        if words is not None:
            spread = columns.covariance if is_matrix else columns.variance
            assert spread is not None
            prior = gaussian_prior(words, n_states, shift, spread, covariance)
        if is_matrix:
            return Gaussian(n_states, shift, prior, is_tied=covariance == "tied")
        return Diagonal(n_states, shift, prior, is_spherical=covariance == "spherical")

    def owns(self, emission: Any) -> bool:
        """Whether this made it."""
        return isinstance(emission, GaussianStates)

    def size(self, n_columns: int, chosen: Chosen) -> float:
        """By the kind of covariance; a tied one is not counted for each state."""
        D = float(n_columns)
        sizes = {"full": D * (D + 1.0) + 2.0, "tied": D + 1.0, "spherical": D + 3.0}
        return sizes.get(chosen.covariance, 4.0 * D)

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """Means with standard deviations."""
        means, found = shown["means"], shown["covariances"]
        if chosen.covariance in ("full", "tied"):
            found = np.diagonal(found, axis1=-2, axis2=-1)
        elif chosen.covariance == "spherical":
            found = found[:, None]
        spread = np.sqrt(np.broadcast_to(found, means.shape))
        for name, mean, deviation in zip(names, means.T, spread.T, strict=True):
            pairs = zip(mean, deviation, strict=True)
            yield name, [f"{m:.4g} ± {s:.2g}" for m, s in pairs]

    def prior_numbers(self, emission: GaussianStates, prior: Any) -> dict[str, Array]:
        """How much the prior of a mean and of a precision weighs."""
        if "covariances" in emission.held:
            return {}
        told = emission.family.describe(prior)
        return {name: told[name] for name in ("mean_strength", "degrees_of_freedom")}

    def theta_fault(self, emission: GaussianStates, t: Any) -> Fault | None:
        """Half log determinants, precisions, and what means make of them."""
        for name, x in t._asdict().items():
            if not np.isfinite(x).all():
                return f".{name}", "must hold finite numbers"
        if isinstance(emission, Gaussian):
            return _matrices_fault(t)
        return _variances_fault(t, is_spherical=emission.covariance == "spherical")

    def belief_fault(self, emission: GaussianStates, eta: Any) -> Fault | None:
        """Whoever asks for the point of it is told."""
        return None


def _matrices_fault(t: Any) -> Fault | None:
    precision = -2.0 * t.second
    size = np.abs(precision).max((-2, -1))
    skew = np.abs(precision - np.swapaxes(precision, -1, -2)).max((-2, -1))
    if (skew > 1e-8 * size).any():
        return ".second", "is not symmetric"
    values = np.linalg.eigvalsh(precision)
    if not (values[..., 0] > 0.0).all():
        return ".second", "is not minus half a precision: that must be positive definite"
    slack = TOLERANCE + NOISE * values[..., -1] / values[..., 0]
    if not near(t.count, 0.5 * np.log(values).sum(-1), slack * t.first.shape[-1]):
        return ".count", "is not half the log determinant of the precision"
    wide = np.broadcast_to(precision, (*t.first.shape, t.first.shape[-1]))
    mean = np.linalg.solve(wide, t.first[..., None])[..., 0]
    if not near(t.strength, -0.5 * (t.first * mean).sum(-1), slack):
        return ".strength", "does not fit first and second: -½ μᵀ Λ μ"
    return None


def _variances_fault(t: Any, *, is_spherical: bool) -> Fault | None:
    precision = -2.0 * t.second
    if not (precision > 0.0).all():
        return ".second", "is not minus half a precision: that must be positive"
    if not near(t.count, 0.5 * np.log(precision), TOLERANCE):
        return ".count", "is not half the log of the precision"
    square = (t.first**2).sum(-1) if is_spherical else t.first**2
    if not near(t.strength, -0.5 * square / precision, TOLERANCE):
        return ".strength", "does not fit first and second: -½ λ μ²"
    return None
