"""Choices of q(θ): ways to read t(θ) out of η, and what F pays for it, field by field."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from jensen.families import kl, neg_log_density


class ThetaRule(NamedTuple):
    """How the E-step sees one field of θ, and what F pays for it."""

    read: Callable[..., tuple[Any, Any]]  # (family, eta, memory, rng) -> (t(θ), memory)
    cost: Callable[..., float]  # (family, prior, eta, t, log partition of the prior) -> float
    is_random: bool  # whether it draws, so that sweeps make a chain and no ascent
    is_distribution: bool  # whether F bounds the log evidence


@runtime_checkable
class Improving(Protocol):
    """A family whose mode has no closed form."""

    def improve(self, eta: Any, memory: Any) -> tuple[Any, Any]:
        """A step from what is remembered to (t, memory) that never lowers ⟨η, t⟩."""


def _read_mode(
    family: Any, eta: Any, memory: Any, rng: np.random.Generator | None
) -> tuple[Any, Any]:
    if isinstance(family, Improving):
        return family.improve(eta, memory)
    return family.mode_stats(eta), None


def read_mode(families: Any, eta: Any) -> Any:
    """t(θ) at the mode of η, for records with one field per factor of q(θ)."""
    pairs = zip(families, eta, strict=True)
    return type(eta)(*(mode.read(family, one, None, None)[0] for family, one in pairs))


posterior = ThetaRule(
    lambda family, eta, memory, rng: (family.mean_stats(eta), None),
    kl,
    is_random=False,
    is_distribution=True,
)
mode = ThetaRule(_read_mode, neg_log_density, is_random=False, is_distribution=False)
draw = ThetaRule(
    lambda family, eta, memory, rng: (family.sample_stats(eta, rng), None),
    neg_log_density,
    is_random=True,
    is_distribution=False,
)
