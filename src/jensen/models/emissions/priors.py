"""Priors of emissions in words, with defaults that are scaled to the data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families import normal_gamma, normal_wishart, spherical, tied
from jensen.families.gamma import Gamma, weak_prior
from jensen.families.semi_conjugate import SemiConjugate
from jensen.support.machine import one_blas_thread
from jensen.support.text import one_of

Array = NDArray[np.float64]

LARGEST = 1e200
"""Of the numbers of a prior; its inverse is the smallest. Others would overflow."""
FAR = 1e11
"""Squares that are so much larger leave less than 5 digits of what is added to them."""
COVARIANCES = ("full", "diagonal", "spherical", "tied")


MEAN_STRENGTH = 0.01
"""β₀: the prior mean of a state counts as a hundredth of a row."""


@one_blas_thread()
def gaussian_prior(
    prior_parts: Mapping[str, Any],
    n_states: int,
    shift: Array,
    spread: Array,
    covariance: str,
) -> Any:
    """η₀ in Bishop's notation (10.40): what is not said is scaled to the data.

    `shift` are the means of the columns, `spread` is their covariance Σ (D, D) for "full" and
    "tied", and their variances (D,) for "diagonal" and "spherical".

    By default the mean m₀ is that of the columns, with the strength β₀ = 0.01; the degrees of
    freedom ν₀ = D + 1 (2 where columns are apart) are the fewest whole ones with which the prior
    has a mode, and the scale is W₀⁻¹ = Σ, so that this mode is the mean and the covariance of the
    data as a whole. Nothing changes under affine maps of the columns, if covariances are full, nor
    under other units of single columns, if they are diagonal. The number of states has no part in
    it, so that bounds of different numbers compare.

    References
    ----------
    Fraley and Raftery (2007), *Bayesian regularization for normal mixture estimation and
    model-based clustering*, doi:10.1007/s00357-007-0004-5, section 3.2. Theirs is ν₀ = D + 2 and
    Σ K^(-2/D) for K states, under which a larger K is a better prior.
    """
    K, D = n_states, len(shift)
    is_matrix = covariance in ("full", "tied")
    freedom_shape = () if covariance == "tied" else (K,)
    mean = _read(prior_parts, "mean", (K, D), shift) - shift
    strength = _read(prior_parts, "mean_strength", (K,), MEAN_STRENGTH)
    usual = (D if is_matrix else 1) + 1.0
    freedom = _read(prior_parts, "degrees_of_freedom", freedom_shape, usual)
    _require_above(strength, 0.0, "mean_strength", "it counts rows")
    _require_above(
        freedom,
        D - 1.0 if is_matrix else 0.0,
        "degrees_of_freedom",
        "else the distribution has no integral",
    )
    scale = _scale(prior_parts, covariance, K, spread)
    if prior_parts.get("mean") is not None:
        _refuse_far(mean, strength, _spread(scale, covariance))
    if covariance == "diagonal":
        wide = np.ones((K, D))
        return normal_gamma.from_standard(
            mean, strength[:, None] * wide, freedom[:, None] * wide, scale
        )
    family = {"full": normal_wishart, "tied": tied, "spherical": spherical}[covariance]
    return family.from_standard(mean, strength, freedom, scale)


@one_blas_thread()
def semi_conjugate_prior(
    prior_parts: Mapping[str, Any], joint: Any, shift: Array, covariance: str
) -> tuple[Any, SemiConjugate]:
    """η₀ and the family of means that are independent of precisions, from the joint prior.

    The precisions keep their prior; means have the variance that is given.
    """
    if prior_parts.get("mean_strength") is not None:
        raise JensenError(
            "prior['mean_variance'] makes means independent of precisions, and 'mean_strength' is "
            "in units of these: give one of the two"
        )
    size = len(shift)
    if covariance in ("full", "tied") and size > 1:
        raise JensenError(
            "prior['mean_variance'] is known where each precision is a number: choose "
            f"{one_of('covariance', ['diagonal', 'spherical'])}, or give 'mean_strength' in its "
            "place"
        )
    mean = _read(prior_parts, "mean", (size,), shift) - shift
    variance = _read(prior_parts, "mean_variance", (size,), None)
    _require_above(variance, 0.0, "mean_variance", "it is that of the means")
    shared = {"spherical": size, "tied": len(joint.strength)}.get(covariance, 1)
    prior = joint._replace(
        count=joint.count - shared,
        second=joint.second - _square_of_means(joint, covariance),
        first=np.zeros_like(joint.first),
        strength=np.zeros_like(joint.strength),
    )
    return prior, SemiConjugate(mean, 1.0 / variance, covariance)


def _square_of_means(joint: Any, covariance: str) -> Array:
    """What the means add to the second moments of a joint prior."""
    first, strength = joint.first, joint.strength
    if covariance == "diagonal":
        return np.asarray(first**2 / strength)
    square = (first**2).sum(-1) / strength
    if covariance == "spherical":
        return np.asarray(square)
    return np.asarray(square.sum() if covariance == "tied" else square[:, None, None])


def _scale(prior_parts: Mapping[str, Any], covariance: str, K: int, spread: Array) -> Array:
    """W₀ of every state, as wide as the kind of covariance asks; by default spread⁻¹."""
    D = len(spread)
    is_matrix = covariance in ("full", "tied")
    shape = {"full": (K, D, D), "tied": (D, D), "diagonal": (K, D), "spherical": (K,)}[covariance]
    given = prior_parts.get("scale")
    if given is None and is_matrix:
        return np.array(np.broadcast_to(_inverse(spread), shape))
    if given is not None and np.ndim(given) == 0 and is_matrix:
        prior_parts = {"scale": float(given) * np.eye(D)}
    if not is_matrix:
        usual = 1.0 / (spread.mean() if covariance == "spherical" else spread)
        scale = _read(prior_parts, "scale", shape, usual)
        _require_above(scale, 0.0, "scale", "it is the scale of a precision")
        return scale
    scale = _read(prior_parts, "scale", shape, None)
    if not _is_symmetric(scale) or np.linalg.eigvalsh(scale).min() < 1.0 / LARGEST:
        raise JensenError(
            f"prior['scale'] must be a symmetric positive definite matrix, whose eigenvalues "
            f"are {1.0 / LARGEST:g} or more"
        )
    return np.asarray(0.5 * (scale + np.swapaxes(scale, -1, -2)))


def _is_symmetric(scale: Array) -> bool:
    """Whether matrices are symmetric but for rounding, whatever the units of their columns."""
    deviation = np.sqrt(np.abs(np.diagonal(scale, axis1=-2, axis2=-1)))
    largest = 1e-8 * deviation[..., :, None] * deviation[..., None, :]
    return bool((np.abs(scale - np.swapaxes(scale, -1, -2)) <= largest).all())


def _inverse(matrix: Array) -> Array:
    """The inverse of a covariance, whatever the units of its columns."""
    deviation = np.sqrt(np.diagonal(matrix))
    inverse = np.linalg.inv(matrix / deviation / deviation[:, None])
    return np.asarray(0.5 * (inverse + inverse.T) / deviation / deviation[:, None])


def _spread(scale: Array, covariance: str) -> Array:
    """The diagonal of W₀⁻¹, to be broadcast to (K, D)."""
    if covariance in ("full", "tied"):
        each = scale if scale.ndim == 3 else scale[None]
        return np.array([np.diagonal(_inverse(matrix)) for matrix in each])
    return 1.0 / (scale[:, None] if covariance == "spherical" else scale)


def _refuse_far(mean: Array, strength: Array, spread: Array) -> None:
    """Refuse means (K, D) so far from the data that their squares leave no digits for the spread.

    `spread` is the diagonal of the inverse of W₀.
    """
    far = strength[:, None] * mean**2 > FAR * spread
    if far.any():
        raise JensenError(
            f"prior['mean'] is {np.abs(mean[far]).max():g} away from the mean of its column, so "
            f"far that the digits of the spread are lost: move it nearer, or say a wider 'scale'"
        )


def poisson_prior(prior_parts: Mapping[str, Any], n_states: int, mean: Array) -> Gamma:
    """η₀ of rates; by default `weak_prior`."""
    shape = (n_states, len(mean))
    a = _read(prior_parts, "shape", shape, 1.0)
    b = _read(prior_parts, "rate", shape, a * weak_prior(mean).exposure)
    _require_above(a, 0.0, "shape", "else the distribution has no integral")
    _require_above(b, 0.0, "rate", "else the distribution has no integral")
    return Gamma(a - 1.0, b)


def label_prior(prior_parts: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """η₀ of labels; by default every concentration is 1."""
    alpha = _read(prior_parts, name, shape, 1.0)
    _require_above(alpha, 0.0, name, "it is a Dirichlet concentration")
    return alpha - 1.0


def select_parts(
    prior_parts: Mapping[str, Any], n_states: int, states: NDArray[np.intp], covariance: str | None
) -> dict[str, Any]:
    """Words of which those that say something of each state say it of these states only."""
    axes = {"concentration": 1, "mean": 2, "mean_strength": 1, "degrees_of_freedom": 1}
    axes["scale"] = {"full": 3, "diagonal": 2, "spherical": 1}.get(covariance or "", -1)

    def is_per_state(name: str, value: Any) -> bool:
        return np.ndim(value) == axes.get(name) and len(value) == n_states

    return {
        name: np.asarray(value)[states] if is_per_state(name, value) else value
        for name, value in prior_parts.items()
    }


def check_names(
    prior_parts: Mapping[str, Any], known: tuple[str, ...], choice: str = "prior"
) -> None:
    """Refuse words that would be ignored."""
    for name in prior_parts:
        if name not in known:
            raise JensenError(f"{choice}= has no part {name!r}: give {', '.join(known)}")


def _read(prior_parts: Mapping[str, Any], name: str, shape: tuple[int, ...], usual: Any) -> Array:
    """Finite numbers of this shape, or fewer that are spread over it."""
    given = prior_parts.get(name)
    try:
        array = np.asarray(usual if given is None else given, np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"prior[{name!r}] must be a number or an array of numbers") from None
    most = np.sqrt(LARGEST) if name == "mean" else LARGEST  # means are squared
    if not (np.abs(array) <= most).all():
        raise JensenError(f"prior[{name!r}] must be finite, and not above {most:g}")
    try:
        return np.array(np.broadcast_to(array, shape))
    except ValueError:
        raise JensenError(
            f"prior[{name!r}] has the shape {array.shape}, which does not fit {shape}"
        ) from None


def _require_above(values: Array, least: float, name: str, why: str) -> None:
    if not (values > least).all():
        raise JensenError(
            f"prior[{name!r}] must be above {least:g} everywhere, not {values.min():g}: {why}"
        )
    if least == 0.0 and not (values >= 1.0 / LARGEST).all():
        raise JensenError(f"prior[{name!r}] must be {1.0 / LARGEST:g} or more: {values.min():g}")
