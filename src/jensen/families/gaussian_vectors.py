"""Gaussian vectors w ~ N(m, V⁻¹): coefficients whose noise is no part of their scale.

η = (V m, V),  t(w) = (w, -½ w wᵀ),  A(η) = ½ (K log 2π - log |V| + mᵀ V m).
Only the symmetric part of V counts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import NO_ROWS, is_proper, refuse
from jensen.families.wishart import cholesky, gram, inverse_root, log_det
from jensen.support.fields import record

Array = NDArray[np.float64]


@record
class Vectors(NamedTuple):
    """One vector of K numbers per component."""

    first: Array  # (D, K)
    strength: Array  # (D, K, K)


def log_partition(eta: Vectors) -> float:
    """A(η), summed over the vectors."""
    return float(log_partitions(eta).sum())


def log_partitions(eta: Vectors) -> Array:
    """A(η) of each vector."""
    mean, _, log_spread = _solved(eta)
    size = mean.shape[-1] * np.log(2.0 * np.pi)
    return np.asarray(0.5 * (size + log_spread + (eta.first * mean).sum(-1)))


def mean_stats(eta: Vectors) -> Vectors:
    """With E[w] = m and E[w wᵀ] = V⁻¹ + m mᵀ."""
    mean, root, _ = _solved(eta)
    return Vectors(mean, -0.5 * (gram(root) + _outer(mean)))


def mode_stats(eta: Vectors) -> Vectors:
    """At w = m."""
    return stats_at(_solved(eta)[0])


def sample_stats(eta: Vectors, rng: np.random.Generator) -> Vectors:
    """At a draw of w."""
    mean, root, _ = _solved(eta)
    noise = np.swapaxes(root, -1, -2) @ rng.standard_normal((*mean.shape, 1))
    return stats_at(mean + noise[..., 0])


def stats_at(w: Array) -> Vectors:
    """Read t at known vectors."""
    return Vectors(w, -0.5 * _outer(w))


def from_standard(mean: Array, strength: Array) -> Vectors:
    """η from m (D, K) and V (D, K, K)."""
    return Vectors((strength @ mean[..., None])[..., 0], strength)


def from_moments(t: Vectors) -> Vectors:
    """The η at which E[w] and E[-½ w wᵀ] are these."""
    spread = -2.0 * t.strength - _outer(t.first)
    return from_standard(t.first, gram(_root(spread)))


def has_mode(eta: Vectors) -> bool:
    """Whether V is positive definite."""
    return is_proper(log_partition, eta)


def describe(eta: Vectors) -> dict[str, Array]:
    """The mean, and the covariance."""
    mean, root, _ = _solved(eta)
    return {"mean": mean, "covariance": gram(root)}


def _solved(eta: Vectors) -> tuple[Array, Array, Array]:
    """M, a root with V⁻¹ = rootᵀ root, and log |V⁻¹|."""
    lower = _factor(eta.strength)
    root = inverse_root(lower)
    turned = (root @ eta.first[..., None])[..., 0]
    mean = (np.swapaxes(root, -1, -2) @ turned[..., None])[..., 0]
    return np.asarray(mean), root, log_det(lower, 1.0)


def _root(matrices: Array) -> Array:
    return inverse_root(_factor(matrices))


def _factor(matrices: Array) -> Array:
    lower = cholesky(0.5 * (matrices + np.swapaxes(matrices, -1, -2)))
    refuse(~(np.diagonal(lower, axis1=-2, axis2=-1).min(-1, initial=1.0) > 0.0), NO_ROWS)
    return lower


def _outer(a: Array) -> Array:
    return np.asarray(a[..., :, None] * a[..., None, :])
