"""Whether the numbers of a file are parameters: probabilities, precisions, rates, posteriors.

A fault is a place, as it stands behind the path of the record, and what is wrong there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.fields import is_record, leaves
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.poisson import Poisson

Array = NDArray[np.float64]
Fault = tuple[str, str]

TOLERANCE = 1e-6
"""Of numbers that follow from each other; there is room for the rounding of other programs."""

SAME = 1e-4
"""Of a posterior's mean, relative to the largest number: a matrix may be hard to invert."""

NOISE = 1e3 * np.finfo(float).eps


@np.errstate(all="ignore")  # a number may be anything, and then makes no sense
def theta_fault(model: Any, t: Any) -> Fault | None:
    """What is wrong with the parameters t(θ) of a model, if anything is."""
    masks = getattr(model, "masks", {})
    for name, part in zip(t._fields[:-1], t[:-1], strict=True):
        fault = _shares_fault(part, masks.get(name))
        if fault is not None:
            return f".{name}{fault[0]}", fault[1]
    for place, emission, part in _parts(model.emission, t[-1]):
        fault = _check_of(emission)(emission, part)
        if fault is not None:
            return f".{t._fields[-1]}{place}{fault[0]}", fault[1]
    return None


@np.errstate(all="ignore")
def belief_fault(model: Any, eta: Any, t: Any = None) -> Fault | None:
    """What is wrong with a posterior η, whose mean t is, or with a prior, if anything is."""
    masks, emission_name = getattr(model, "masks", {}), eta._fields[-1]
    for name, part in zip(eta._fields[:-1], eta[:-1], strict=True):
        if name not in model.held and not _is_concentration(part, masks.get(name)):
            return f".{name}", "holds the η of a concentration (minus 1) that is not above 0"
    if emission_name not in model.held:
        for place, emission, part in _parts(model.emission, eta[-1]):
            if isinstance(emission, Discrete) and not _is_concentration(part, emission.mask):
                return (
                    f".{emission_name}{place}",
                    "holds the η of a concentration (minus 1) that is not above 0",
                )
            if isinstance(emission, Poisson) and not _is_gamma(part):
                return f".{emission_name}{place}", "is no gamma distribution"
    try:
        mean = model.point(eta)
    except (JensenError, np.linalg.LinAlgError):
        return f".{emission_name}", "is no distribution: a precision has no expected value"
    if t is None:
        return None
    for name, found, expected in zip(t._fields, t, mean, strict=True):
        if not all(map(_agree, leaves(found), leaves(expected))):
            return f".{name}", "does not have the parameters as its mean"
    return None


def _parts(emission: Any, record: Any) -> Iterator[tuple[str, Any, Any]]:
    """The parts of an emission and of its parameters, and where they stand."""
    if hasattr(emission, "parts"):
        for k, (part, x) in enumerate(zip(emission.parts, record, strict=True)):
            yield f"[{k}]", part, x
    else:
        yield "", emission, record


def _check_of(emission: Any) -> Callable[[Any, Any], Fault | None]:
    if isinstance(emission, Discrete):
        return lambda emission, t: _shares_fault(t, emission.mask)
    checks: dict[type, Any] = {
        Poisson: _rates_fault,
        Gaussian: _matrices_fault,
        Diagonal: _variances_fault,
    }
    return checks[type(emission)]  # type: ignore[no-any-return]


# --- t(θ) ---


def _shares_fault(t: Array, mask: NDArray[np.bool_] | None) -> Fault | None:
    total = np.exp(np.minimum(t, 1.0)).sum(-1)
    if (np.abs(total - 1.0) > TOLERANCE).any():
        worst = total.flat[np.argmax(np.abs(total - 1.0))]
        return "", f"holds logs of probabilities that sum to {worst:.6g}, not to 1"
    if mask is not None and (t[~mask] > -np.inf).any():
        return "", "has a probability where its mask says that there is none"
    return None


def _rates_fault(emission: Poisson, t: Any) -> Fault | None:
    if (t.exposure > 0.0).any():
        return ".exposure", "holds minus a rate that is below 0"
    if not _is_finite(t.exposure):
        return ".exposure", "must hold finite numbers"
    if not np.allclose(np.exp(t.total), -t.exposure, rtol=TOLERANCE, atol=1e-300):
        return ".total", "is not the log of the rates (minus exposure)"
    return None


def _matrices_fault(emission: Gaussian, t: Any) -> Fault | None:
    fault = _not_finite(t)
    if fault is not None:
        return fault
    precision = -2.0 * t.second
    size = np.abs(precision).max((-2, -1))
    skew = np.abs(precision - np.swapaxes(precision, -1, -2)).max((-2, -1))
    if (skew > 1e-8 * size).any():
        return ".second", "is not symmetric"
    values = np.linalg.eigvalsh(precision)
    if not (values[..., 0] > 0.0).all():
        return ".second", "is not minus half a precision: that must be positive definite"
    slack = TOLERANCE + NOISE * values[..., -1] / values[..., 0]
    if not _near(t.count, 0.5 * np.log(values).sum(-1), slack * t.first.shape[-1]):
        return ".count", "is not half the log determinant of the precision"
    wide = np.broadcast_to(precision, (*t.first.shape, t.first.shape[-1]))
    mean = np.linalg.solve(wide, t.first[..., None])[..., 0]
    if not _near(t.strength, -0.5 * (t.first * mean).sum(-1), slack):
        return ".strength", "does not fit first and second: -½ μᵀ Λ μ"
    return None


def _variances_fault(emission: Diagonal, t: Any) -> Fault | None:
    fault = _not_finite(t)
    if fault is not None:
        return fault
    precision = -2.0 * t.second
    if not (precision > 0.0).all():
        return ".second", "is not minus half a precision: that must be positive"
    if not _near(t.count, 0.5 * np.log(precision), TOLERANCE):
        return ".count", "is not half the log of the precision"
    square = (t.first**2).sum(-1) if emission.is_spherical else t.first**2
    if not _near(t.strength, -0.5 * square / precision, TOLERANCE):
        return ".strength", "does not fit first and second: -½ λ μ²"
    return None


def _not_finite(t: Any) -> Fault | None:
    assert is_record(t)
    for name, x in t._asdict().items():
        if not _is_finite(x):
            return f".{name}", "must hold finite numbers"
    return None


def _is_finite(x: Array) -> bool:
    return bool(np.isfinite(x).all())


def _near(found: Array, expected: Array, slack: Array | float) -> bool:
    return bool((np.abs(found - expected) <= slack * (1.0 + np.abs(expected))).all())


# --- η ---


def _is_concentration(eta: Array, mask: NDArray[np.bool_] | None) -> bool:
    inside = eta if mask is None else eta[mask]
    outside_is_empty = mask is None or not eta[~mask].any()
    return bool((inside > -1.0).all()) and outside_is_empty


def _is_gamma(eta: Any) -> bool:
    return bool((eta.total > -1.0).all() and (eta.exposure > 0.0).all())


def _agree(found: Array, expected: Array) -> bool:
    """Whether two arrays are the same but for rounding."""
    finite = np.isfinite(expected)
    if (finite != np.isfinite(found)).any():
        return False
    size = np.abs(np.where(finite, expected, 0.0)).max(initial=0.0)
    away = np.abs(np.where(finite, found, 0.0) - np.where(finite, expected, 0.0))
    return bool((away <= SAME * size + 1e-12).all())
