"""Gaussians with means μ_k of their own and one precision matrix Λ.

t = (½ log |Λ|, -½ Λ, Λ μ_k, -½ μ_kᵀ Λ μ_k), and rows add (N, Σ x xᵀ, Σ_k x, N_k).
With μ_k | Λ ~ N(m_k, (β_k Λ)⁻¹) and Λ ~ Wishart(W, ν), in Bishop's letters (equation 10.40),
η = (ν - D - 1 + K, W⁻¹ + Σ β_k m_k m_kᵀ, β_k m_k, β_k).

Every field may have further axes in front, one precision matrix for each place in them: a
normal-Wishart is one mean for each matrix, and that module calls this one.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import NO_ROWS, TOO_FEW_ROWS, is_proper, refuse, wishart
from jensen.families.projection import wishart_degrees
from jensen.families.wishart import StandardParameters
from jensen.support.fields import is_record, record

Array = NDArray[np.float64]


@record
class Tied(NamedTuple):
    """K means and one precision matrix."""

    count: Array  # type: ignore[assignment]  # (); tuple's own count is not missed
    second: Array  # (D, D)
    first: Array  # (K, D)
    strength: Array  # (K,)


def from_standard(
    mean: Array, mean_strength: Array, degrees_of_freedom: Array, scale: Array
) -> Tied:
    """η from m (K, D), β (K,), ν () and W (D, D)."""
    n_means, size = mean.shape[-2:]
    first = mean_strength[..., None] * mean
    second = wishart.inverse(wishart.cholesky(scale)) + _transpose(first) @ mean
    count = np.asarray(degrees_of_freedom - size - 1.0 + n_means)
    return Tied(count, _symmetric(second), first, mean_strength)


def to_standard(eta: Tied) -> StandardParameters:
    """M, β, ν and W."""
    mean, degrees, lower = _posterior(eta)
    return StandardParameters(mean, eta.strength, degrees, wishart.inverse(lower))


def log_partition(eta: Tied) -> float:
    """A(η), summed over the precision matrices."""
    return float(log_partitions(eta).sum())


def log_partitions(eta: Tied) -> Array:
    """Of each precision matrix: Σ_k D/2 log(2π / β_k), and that of the Wishart distribution."""
    _, degrees, lower = _posterior(eta)
    of_means = 0.5 * eta.first.shape[-1] * np.log(2.0 * np.pi / eta.strength)
    return np.asarray(of_means.sum(-1) + wishart.log_normaliser(degrees, lower))


def mean_stats(eta: Tied) -> Tied:
    """With E[Λ] = ν W, and E[μᵀ Λ μ] = D/β + mᵀ E[Λ] m."""
    mean, degrees, lower = _posterior(eta)
    precision = degrees[..., None, None] * wishart.inverse(lower)
    at = stats_at(mean, precision, wishart.mean_log_det(degrees, lower))
    return at._replace(strength=at.strength - 0.5 * eta.first.shape[-1] / eta.strength)


def mode_stats(eta: Tied) -> Tied:
    """At μ = m and Λ = count · W, the highest point in means and precision."""
    mean, scatter = _mean_and_scatter(eta)
    return stats_at(mean, *wishart.mode(eta.count, scatter, eta.second, refuse_all(eta)))


def sample_stats(eta: Tied, rng: np.random.Generator) -> Tied:
    """At a draw of Λ, then of the means given it."""
    mean, degrees, lower = _posterior(eta)
    log_det, root = wishart.draw(degrees, lower, rng)
    at = stats_at(mean, root @ _transpose(root), log_det)
    return draw_means(at, mean, eta.strength, root, rng)


def from_moments(t: Tied) -> Tied:
    """The η at which the expected statistics are these."""
    size, precision = t.first.shape[-1], -2.0 * t.second
    lower = wishart.factor(precision, np.zeros(()), refuse_all(t))
    mean = t.first @ wishart.inverse(lower)
    strength = size / (-2.0 * t.strength - (mean * t.first).sum(-1))
    log_det = -wishart.log_det(lower, 1.0)  # of the precision, whose factor this is
    degrees = wishart_degrees(np.asarray(2.0 * t.count - log_det), size)
    return from_standard(mean, strength, degrees, precision / degrees[..., None, None])


def has_mode(eta: Tied) -> bool:
    """Whether count ≥ 0 and η is a distribution, so that rows with any spread give an estimate."""
    return bool(np.all(eta.count >= 0.0)) and is_proper(log_partition, eta)


def describe(eta: Tied) -> dict[str, Array]:
    """The mean, its strength, the degrees of freedom and the scale of the precision."""
    return to_standard(eta)._asdict()


# --- given one, the other: also for families in which a part is known ---


def mean_of(eta: Tied) -> Array:
    """M: where the means are, whatever the precision."""
    refuse(~(eta.strength > 0.0), NO_ROWS)
    return np.asarray(eta.first / eta.strength[..., None])


def scatter_about(eta: Tied, mean: Array) -> tuple[Array, Array]:
    """W⁻¹ of the precision given the means: Σ (x - μ)(x - μ)ᵀ; and the numbers it comes from."""
    cross = _transpose(eta.first) @ mean
    square = _transpose(mean) @ (eta.strength[..., None] * mean)
    return _symmetric(eta.second - 2.0 * cross + square), eta.second + square


def stats_at(mean: Array, precision: Array, log_det: Array) -> Tied:
    """Evaluate t at known means and a known precision."""
    first = mean @ precision
    return Tied(np.asarray(0.5 * log_det), -0.5 * precision, first, -0.5 * (mean * first).sum(-1))


def draw_means(
    at: Tied, mean: Array, strength: Array, root: Array, rng: np.random.Generator
) -> Tied:
    """Move t from means m to draws m + F⁻ᵀ z / √β, where Λ = F Fᵀ, without dividing by F."""
    z = rng.standard_normal(mean.shape) / np.sqrt(strength)[..., None]
    shift = z @ _transpose(root)
    quadratic = (2.0 * mean * shift + z * z).sum(-1)
    return at._replace(first=at.first + shift, strength=at.strength - 0.5 * quadratic)


def refuse_all(eta: Tied) -> wishart.Refuse:
    """Refuse, naming the components whose precision is bad: all that share it."""
    return partial(_refuse, eta)


def _posterior(eta: Tied) -> tuple[Array, Array, Array]:
    """M, ν, and the Cholesky factor of W⁻¹."""
    n_means, size = eta.first.shape[-2:]
    mean, scatter = _mean_and_scatter(eta)
    lower = wishart.factor(scatter, np.zeros(()), refuse_all(eta))
    degrees = np.asarray(eta.count + size + 1.0 - n_means)
    refuse_all(eta)(~(degrees > size - 1.0), TOO_FEW_ROWS)
    return mean, degrees, lower


def _mean_and_scatter(eta: Tied) -> tuple[Array, Array]:
    """M, and W⁻¹."""
    mean = mean_of(eta)
    return mean, _symmetric(eta.second - _transpose(eta.first) @ mean)


def _refuse(eta: Tied, bad: NDArray[np.bool_], why: str) -> None:
    if np.any(bad):
        refuse(np.broadcast_to(np.asarray(bad)[..., None], eta.strength.shape), why)


def _symmetric(matrices: Array) -> Array:
    return 0.5 * (matrices + _transpose(matrices))


def _transpose(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def by_state(record: Any) -> Array:
    """(K, F): what an η, t or statistics hold of each state alone.

    Statistics of one state times the t of another are the log-likelihood of the rows of the one
    under the other, but for what is the same for all states.
    """
    own = (record.first, record.strength) if isinstance(record, Tied) else record
    if isinstance(own, tuple):
        return np.concatenate([by_state(part) for part in own], axis=1)
    return np.asarray(own.reshape(len(own), -1))


def select_states(record: Any, states: NDArray[np.intp]) -> Any:
    """An η or t of these states only, in this order; what states share stays."""
    if isinstance(record, Tied):
        return record._replace(first=record.first[states], strength=record.strength[states])
    if isinstance(record, tuple):
        parts = tuple(select_states(part, states) for part in record)
        return type(record)(*parts) if is_record(record) else parts
    return record[states]
