"""Means or covariances of Gaussian states that are held at known values.

Values are those that people see: means (relative to the shift of the emission), and covariances as
wide as their kind asks. What is not held is learned under the joint prior given what is.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import normal_gamma, normal_wishart, spherical, tied, wishart
from jensen.families.known_means import KnownMeans
from jensen.families.known_precisions import KnownPrecisions

Array = NDArray[np.float64]

FAMILIES = {
    "full": normal_wishart,
    "tied": tied,
    "diagonal": normal_gamma,
    "spherical": spherical,
}


def family_given(held: Mapping[str, Array], covariance: str) -> Any:
    """The family of what is not held."""
    if "means" in held:
        return KnownMeans(held["means"], covariance)
    if "covariances" in held:
        return KnownPrecisions(_inverse(held["covariances"], covariance), covariance)
    return FAMILIES[covariance]


def mean_strength(eta: Any) -> Array:
    """β as a column (K, 1), or (K, D) where every column has its own."""
    return np.reshape(eta.strength, (len(eta.first), -1))


def _inverse(covariances: Array, kind: str) -> Array:
    if kind in ("full", "tied"):
        return wishart.inverse(wishart.cholesky(covariances))
    return 1.0 / covariances
