"""Whether the numbers of a file are parameters: probabilities, precisions, rates, posteriors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.models.emissions.discrete import concentration_fault, shares_fault
from jensen.models.emissions.kinds import Fault
from jensen.models.emissions.product import ProductEmission
from jensen.models.emissions.registry import record_of
from jensen.support.fields import leaves

Array = NDArray[np.float64]

SAME = 1e-4
"""Of a posterior's mean, relative to the largest number: a matrix may be hard to invert."""


@np.errstate(all="ignore")  # a number may be anything, and then makes no sense
def theta_fault(model: Any, t: Any) -> Fault | None:
    """What is wrong with the parameters t(θ) of a model, if anything is."""
    masks = getattr(model, "masks", {})
    for name, part in zip(t._fields[:-1], t[:-1], strict=True):
        fault = shares_fault(part, masks.get(name))
        if fault is not None:
            return f".{name}{fault[0]}", fault[1]
    for place, emission, part in _parts(model.emission, t[-1]):
        fault = record_of(emission).kind.theta_fault(emission, part)
        if fault is not None:
            return f".{t._fields[-1]}{place}{fault[0]}", fault[1]
    return None


@np.errstate(all="ignore")
def belief_fault(model: Any, eta: Any, t: Any = None) -> Fault | None:
    """What is wrong with a posterior η, whose mean t is, or with a prior, if anything is."""
    masks, emission_name = getattr(model, "masks", {}), eta._fields[-1]
    for name, part in zip(eta._fields[:-1], eta[:-1], strict=True):
        fault = None if name in model.held else concentration_fault(part, masks.get(name))
        if fault is not None:
            return f".{name}{fault[0]}", fault[1]
    if emission_name not in model.held:
        for place, emission, part in _parts(model.emission, eta[-1]):
            fault = record_of(emission).kind.belief_fault(emission, part)
            if fault is not None:
                return f".{emission_name}{place}{fault[0]}", fault[1]
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
    if isinstance(emission, ProductEmission):
        for k, (part, own) in enumerate(zip(emission.parts, record, strict=True)):
            yield f"[{k}]", part, own
    else:
        yield "", emission, record


def _agree(found: Array, expected: Array) -> bool:
    """Whether two arrays are the same but for rounding."""
    finite = np.isfinite(expected)
    if (finite != np.isfinite(found)).any():
        return False
    size = np.abs(np.where(finite, expected, 0.0)).max(initial=0.0)
    away = np.abs(np.where(finite, found, 0.0) - np.where(finite, expected, 0.0))
    return bool((away <= SAME * size + 1e-12).all())
