"""Formulas of scores of continuous columns: BGe with its prior, and penalised likelihoods.

A local score sees a child and its p parents by two numbers of a matrix M: the residual m = M_vv -
M_vP M_PP⁻¹ M_Pv and log |M_PP|. Both kinds of scores are differences of a function L of sets,
score(v | P) = L(P + v) - L(P).

The prior of BGe is a normal-Wishart distribution of all columns; `make_bge` reads it from what the
caller writes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.data.statistics import Coordinates, Moments
from jensen.exceptions import JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.schur import Left
from jensen.scores.registry import PARTS, WITH_JOINT_PRIOR
from jensen.support.arguments import is_real
from jensen.support.text import bare, either, keyword, option

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))

Weight = float | Array
"""Of all rows; or (K, ...) of each of K groups of rows, which are scored apart."""


class GaussianScore(Protocol):
    """A formula, in some coordinates of the columns."""

    @property
    def prior(self) -> Array | None:
        """The scale matrix of the prior; None if the score has no prior."""

    def by_prior(self, joint: NormalWishartPrior) -> "GaussianScore":
        """The same formula under another prior; unchanged if it has none."""

    def matrix(self, weight: Weight, mean: Array, scatter: Array) -> Array:
        """The matrix of these moments whose residuals are scored."""

    def local(self, weight: Weight, n_parents: int, data: Left, prior: Left | None) -> Array:
        """The score of a child given its parents."""

    def of_set(self, weight: Weight, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """L of sets of one size."""


@dataclass(frozen=True)
class PenalisedGaussian:
    """-N/2 (log 2π + 1 + log σ²) - penalty(N) · (p + 2), with σ² the residual over N."""

    penalty: Callable[[Any], float]
    prior: None = None

    def by_prior(self, joint: NormalWishartPrior) -> "PenalisedGaussian":
        """The same formula: it has no prior."""
        return self

    def matrix(self, weight: Weight, mean: Array, scatter: Array) -> Array:
        """The scatter."""
        return scatter

    def local(self, weight: Weight, n_parents: int, data: Left, prior: Left | None) -> Array:
        """A slope for every parent, an intercept and a variance are free."""
        log_variance = np.log(data.residual / weight)
        log_like = -0.5 * weight * (LOG_2PI + 1.0 + log_variance)
        return np.asarray(log_like - self.penalty(weight) * (n_parents + 2))

    def of_set(self, weight: Weight, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """The likelihood of the joint Gaussian, which has size (size + 3)/2 parameters."""
        log_like = -0.5 * weight * (size * (LOG_2PI + 1.0 - np.log(weight)) + log_det)
        return np.asarray(log_like - self.penalty(weight) * 0.5 * size * (size + 3))


@dataclass(frozen=True, eq=False)
class BGe:
    """The evidence under a normal-Wishart prior of all n columns together.

    L(Y) of l columns, with a = α_w - n + l and R = T + S + N α_μ / (N + α_μ) (ν - x̄)(ν - x̄)ᵀ:

        l/2 log(α_μ / (N + α_μ)) - l N/2 log π + log Γ_l((N + a)/2) - log Γ_l(a/2)
        + a/2 log |T_YY| - (N + a)/2 log |R_YY|

    ν and T are fixed numbers here; `make_bge` makes them. One T serves all families, so equivalent
    graphs score the same.

    References
    ----------
    Geiger and Heckerman (1994), *Learning Gaussian networks*, UAI; with the formula as corrected
    by Kuipers, Moffa and Heckerman (2014), Annals of Statistics 42, equation 2.
    """

    joint: NormalWishartPrior

    @property
    def prior(self) -> Array:
        """The scale matrix of the prior."""
        return self.joint.scale

    def by_prior(self, joint: NormalWishartPrior) -> "BGe":
        """The evidence under another prior."""
        return BGe(joint)

    def matrix(self, weight: Weight, mean: Array, scatter: Array) -> Array:
        """R: the scatter, the scale of the prior, and a term for the distance of the means."""
        return self.joint.scale_after(weight, mean, scatter)

    def local(self, weight: Weight, n_parents: int, data: Left, prior: Left | None) -> Array:
        """L(P + v) - L(P): the log evidence of one regression."""
        assert prior is not None
        return self.joint.log_evidence_of_children(weight, n_parents, prior, data)

    def of_set(self, weight: Weight, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """L of sets of one size."""
        return self.joint.log_evidence_of_sets(weight, size, prior_log_det, log_det)


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
            + (
                f", or a {keyword('scale')} in numbers, for which more than {n - 1} will do"
                if is_made
                else ""
            )
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
    variances[list(constant)] = 1.0  # any number: constant columns are never scored
    return make_bge(names, origin + unit * everything.mean, variances, *choices)


def refuse_prior(score: str, *parts: Any) -> None:
    """Refuse parts of a prior that a score without one would ignore."""
    have = f"{either(WITH_JOINT_PRIOR, 'and')} {'has' if len(WITH_JOINT_PRIOR) == 1 else 'have'}"
    for name, part in zip(PARTS, parts, strict=True):
        if part is not None:
            raise JensenError(f"{score} has no {name}: only {have} one")


def read_strength(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of the prior, where `strength` is the `mean_strength` of a prior that is made."""
    found = dict(choices)
    strength = found.pop("strength", None)
    if strength is None:
        return found
    scale = found.get("scale")
    is_made = scale is None or (isinstance(scale, str) and scale == UNIT)
    if found.get("mean_strength") is not None or not is_made:
        raise JensenError(
            f"{keyword('strength')} weakens the prior mean and a scale that is made of it: leave "
            f"out {keyword('mean_strength') if is_made else keyword('scale')}, or "
            f"{keyword('strength')}"
        )
    return found | {"mean_strength": _positive("strength", strength)}


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
            f"{option('scale', scale)}: give {UNIT!r}, a number, or a matrix ({n}, {n}) of the "
            f"columns sorted by name; None is the variances of the columns"
        )
    values = _numbers("scale", scale)
    if values.shape == ():
        values = values * np.eye(n)
    if values.shape != (n, n) or not np.isfinite(values).all():
        raise JensenError(
            f"{bare('scale')} must be a number, or a matrix ({n}, {n}) of the columns sorted by "
            f"name"
        )
    if not np.allclose(values, values.T, rtol=1e-10, atol=0.0) or (
        n and np.linalg.eigvalsh(values).min() <= 0.0
    ):
        raise JensenError(
            f"{bare('scale')} must be positive; a matrix symmetric and positive definite"
        )
    return np.asarray(0.5 * (values + values.T))


def _numbers(name: str, value: Any) -> Array:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"{name} must hold numbers, not {value!r:.80}") from None
