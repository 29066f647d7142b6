"""The mode of log p(x | θ) + log p(θ) with probabilities in softmax coordinates.

There the density of a Dirichlet is Π π^α / B(α): its mode, (α + n) / Σ (α + n), is inside for every
α > 0, and is the mean in the probabilities themselves. Other parameters (means and precisions,
rates) are read at their modes as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jensen import q_hidden
from jensen.families import inner, neg_log_density
from jensen.families.dirichlet import Dirichlet, MaskedDirichlet
from jensen.families.product import Product
from jensen.free_energy import Algorithm
from jensen.q_theta import ThetaRule, mode


def _read(family: Any, eta: Any, memory: Any, rng: Any) -> tuple[Any, Any]:
    if isinstance(family, Dirichlet):
        with np.errstate(divide="ignore"):
            return np.log(family.share(shifted(family, eta))), None
    if type(family) is Product:
        pairs = zip(family.parts, eta, strict=True)
        return tuple(_read(part, own, None, rng)[0] for part, own in pairs), None
    return mode.read(family, eta, memory, rng)


def _cost(family: Any, prior: Any, eta: Any, t: Any, normalizer: float | None = None) -> float:
    """-log p(θ | prior) in these coordinates."""
    before = neg_log_density(family, prior, eta, t, normalizer)
    return before - jacobian(family, t)


def jacobian(family: Any, t: Any) -> float:
    """Log |dθ / d coordinates|: of probabilities in softmax coordinates Σ log π, else 0."""
    if isinstance(family, Dirichlet):
        return inner(shifted(family, np.zeros_like(t)) * (t > -np.inf), t)
    if type(family) is Product:
        return sum(jacobian(part, own) for part, own in zip(family.parts, t, strict=True))
    return 0.0


def shifted(family: Any, eta: Any) -> Any:
    """The exponents of the density in softmax coordinates: α + n, and 0 of what is left out."""
    if isinstance(family, MaskedDirichlet):
        return np.where(family.mask, eta + 1.0, 0.0)
    return eta + 1.0


softmax_mode = ThetaRule(_read, _cost, is_random=False, is_distribution=False)
SOFTMAX_EM = Algorithm("em", q_hidden.exact, softmax_mode)
"""Climbs log p(x, θ), the density of θ being in softmax coordinates."""


def exponents(families: Any, eta: Any) -> Any:
    """The natural parameters of the density in these coordinates, field by field."""
    pairs = zip(families, eta, strict=True)
    return type(eta)(*(_exponents(family, own) for family, own in pairs))


def _exponents(family: Any, eta: Any) -> Any:
    if isinstance(family, Dirichlet):
        return shifted(family, eta)
    if type(family) is Product:
        return tuple(_exponents(part, own) for part, own in zip(family.parts, eta, strict=True))
    return eta
