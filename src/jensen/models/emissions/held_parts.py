"""Means or covariances of Gaussian states that are held at known values.

Values are those that people see: means (relative to the shift of the emission), and covariances as
wide as their kind asks. What is not held is learned under the joint prior given what is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.families import normal_gamma, normal_wishart, spherical, tied, wishart
from jensen.families.known_means import KnownMeans
from jensen.families.known_precisions import KnownPrecisions

Array = NDArray[np.float64]
AnyEmission = TypeVar("AnyEmission")

PARTS = ("means", "covariances")
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


def hold_parts(
    emission: AnyEmission, eta: Any, names: tuple[str, ...], whole: str
) -> tuple[AnyEmission, tuple[str, ...]]:
    """An emission with a part of it held at the mode of η, and the names that are no parts of it.

    Both parts together are the `whole` emission, which the model holds.
    """
    parts = [name for name in PARTS if name in names]
    others = tuple(name for name in names if name not in PARTS)
    if whole in others or not parts:
        return emission, others
    if len(parts) == len(PARTS):
        return emission, (*others, whole)
    return replace(emission, held={parts[0]: _value(emission, eta, parts[0])}), others  # type: ignore[type-var]


def select_held(
    held: Mapping[str, Array], states: NDArray[np.intp], covariance: str
) -> dict[str, Array]:
    """What is held of these states."""
    shared = "covariances" if covariance == "tied" else None
    return {name: x if name == shared else x[states] for name, x in held.items()}


def mean_strength(eta: Any) -> Array:
    """β as a column (K, 1), or (K, D) where every column has its own."""
    return np.reshape(eta.strength, (len(eta.first), -1))


def _value(emission: Any, eta: Any, part: str) -> Array:
    if part == "means":
        return np.asarray(eta.first / mean_strength(eta))
    return np.asarray(emission.show(emission.family.mode_stats(eta))[part])


def _inverse(covariances: Array, kind: str) -> Array:
    if kind in ("full", "tied"):
        return wishart.inverse(wishart.cholesky(covariances))
    return 1.0 / covariances
