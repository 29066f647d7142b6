"""Choices of q(θ): ways to read t(θ) out of the same η = prior + stats."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jensen.families import kl, neg_log_density


class ThetaRule(NamedTuple):
    """How the E-step sees θ, and what F pays for it."""

    read: Callable[..., tuple[Any, Any]]  # (family, eta, memory, rng) -> (t(θ), memory)
    cost: Callable[..., float]  # (family, prior, eta, t) -> float
    is_distribution: bool  # whether F bounds the log evidence


posterior = ThetaRule(
    lambda family, eta, memory, rng: (family.mean_stats(eta), memory), kl, is_distribution=True
)
mode = ThetaRule(
    lambda family, eta, memory, rng: (family.mode_stats(eta), memory),
    neg_log_density,
    is_distribution=False,
)
draw = ThetaRule(
    lambda family, eta, memory, rng: (family.sample_stats(eta, rng), memory),
    neg_log_density,
    is_distribution=False,
)
