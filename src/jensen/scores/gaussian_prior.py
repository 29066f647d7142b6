"""The prior of BGe, as people write it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.statistics import Coordinates, Moments
from jensen.exceptions import JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.scores.registry import WITH_JOINT_PRIOR
from jensen.support.checks import is_real
from jensen.support.text import either

Array = NDArray[np.float64]

PARTS = ("prior_mean", "mean_strength", "degrees_of_freedom", "scale")

UNIT = "unit"
"""The `scale` of the published parametrisation."""


def make_bge(
    names: Sequence[str],
    means: Array,
    variances: Array,
    prior_mean: Any,
    mean_strength: float | None,
    degrees_of_freedom: float | None,
    scale: Any,
) -> NormalWishartPrior:
    """The prior of columns with these means and variances; what is None has its default.

    The default is an empirical prior, made of the data once and held from then on: ν are the means
    and T = t·diag(variances), with t = α_μ (α_w - n - 1)/(α_μ + 1), so that the prior predictive
    covariance is diag(variances). It is the published prior (`scale="unit"`, T = t·I) of
    standardised columns.
    """
    n = len(names)
    strength = 1.0 if mean_strength is None else _positive("mean_strength", mean_strength)
    degrees = n + 2.0
    if degrees_of_freedom is not None:
        degrees = _positive("degrees_of_freedom", degrees_of_freedom)
    is_made = scale is None or (isinstance(scale, str) and scale == UNIT)
    least = n + 1 if is_made else n - 1
    if not degrees > least:
        raise JensenError(
            f"degrees_of_freedom={degrees:g} are too few for {n} columns: give more than {least}"
            + (f", or a scale= in numbers, for which more than {n - 1} will do" if is_made else "")
        )
    share = strength * (degrees - n - 1.0) / (strength + 1.0)
    if is_made:
        matrix = share * (np.diag(variances) if scale is None else np.eye(n))
    else:
        matrix = _scale(scale, n)
    mean = means if prior_mean is None else _mean(prior_mean, names)
    return NormalWishartPrior(mean, strength, degrees, matrix)


def prior_of(
    names: Sequence[str],
    everything: Moments,
    coordinates: Coordinates,
    constant: Collection[int],
    *choices: Any,
) -> NormalWishartPrior:
    """The prior of columns with these moments, in the units of the columns."""
    origin, unit = coordinates
    variances = np.ones(len(names))
    if everything.weight > 0.0:
        variances = np.square(unit) * np.diagonal(everything.scatter) / everything.weight
    variances[list(constant)] = 1.0  # never asked for
    return make_bge(names, origin + unit * everything.mean, variances, *choices)


def refuse_prior(score: str, *parts: Any) -> None:
    """Refuse parts of a prior that a score without one would ignore."""
    have = f"{either(WITH_JOINT_PRIOR, 'and')} {'has' if len(WITH_JOINT_PRIOR) == 1 else 'have'}"
    for name, part in zip(PARTS, parts, strict=True):
        if part is not None:
            raise JensenError(f"{score} has no {name}: only {have} one")


def _positive(name: str, value: Any) -> float:
    if not (is_real(value) and 0 < value < np.inf):
        raise JensenError(f"{name} must be positive and finite, not {value!r}")
    return float(value)


def _mean(prior_mean: Any, names: Sequence[str]) -> Array:
    if isinstance(prior_mean, Mapping):
        if set(prior_mean) != set(names):
            raise JensenError(f"prior_mean must name each column once: {', '.join(names)}")
        prior_mean = [prior_mean[name] for name in names]
    mean = _numbers("prior_mean", prior_mean)
    if mean.shape not in ((), (len(names),)) or not np.isfinite(mean).all():
        raise JensenError(
            f"prior_mean must be a number, or one for each of the {len(names)} columns (sorted by "
            f"name, or in a dict), all finite"
        )
    return np.array(np.broadcast_to(mean, len(names)))


def _scale(scale: Any, n: int) -> Array:
    if isinstance(scale, str):
        raise JensenError(
            f"scale={scale!r}: give {UNIT!r}, a number, or a matrix ({n}, {n}) of the columns "
            f"sorted by name; None is the variances of the columns"
        )
    values = _numbers("scale", scale)
    if values.shape == ():
        values = values * np.eye(n)
    if values.shape != (n, n) or not np.isfinite(values).all():
        raise JensenError(
            f"scale must be a number, or a matrix ({n}, {n}) of the columns sorted by name"
        )
    if not np.allclose(values, values.T, rtol=1e-10, atol=0.0) or (
        n and np.linalg.eigvalsh(values).min() <= 0.0
    ):
        raise JensenError("scale must be positive; a matrix symmetric and positive definite")
    return np.asarray(0.5 * (values + values.T))


def _numbers(name: str, value: Any) -> Array:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"{name} must hold numbers, not {value!r:.80}") from None
