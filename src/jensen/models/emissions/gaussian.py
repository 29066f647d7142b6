"""Gaussian rows with full covariances: one per state, or one for all."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families import tied
from jensen.families.normal_wishart import NormalWishart
from jensen.families.tied import Tied
from jensen.models.emissions.gaussian_rows import LOG_2PI, Components, Predicted, Seen
from jensen.models.emissions.gaussian_states import GaussianStates
from jensen.models.emissions.held_parts import mean_strength
from jensen.models.emissions.latest import Latest
from jensen.models.emissions.named import read_array
from jensen.models.emissions.patterns import Pattern, patterns_of
from jensen.models.emissions.state_records import mean_record, select_states
from jensen.support.fields import without_cached

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gaussian(GaussianStates):
    """Gaussian states over D columns."""

    is_tied: bool = False

    __getstate__ = without_cached

    @property
    def covariance(self) -> str:
        """The kind, by its name."""
        return "tied" if self.is_tied else "full"

    @property
    def blank(self) -> NormalWishart | Tied:
        """Zeros."""
        K, D = self.n_states, len(self.shift)
        first, strength = np.zeros((K, D)), np.zeros(K)
        if self.is_tied:
            return Tied(np.zeros(()), np.zeros((D, D)), first, strength)
        return NormalWishart(np.zeros(K), np.zeros((K, D, D)), first, strength)

    def encode(self, values: Array) -> tuple[Pattern, ...]:
        """Rows by what they miss."""
        x: Array = np.subtract(values.T, self.shift[:, None], order="C")  # as patterns keep them
        return patterns_of(x.T)

    def observe(self, t: NormalWishart | Tied, rows: tuple[Pattern, ...]) -> Seen:
        """Rows at this θ."""
        return Seen(self, self._components(t), rows)

    @cached_property
    def _components(self) -> Latest[Components]:
        return Latest(components)

    def predict(self, eta: NormalWishart | Tied, rows: tuple[Pattern, ...]) -> Predicted | Seen:
        """Rows under Student distributions; under Gaussian ones, if the covariances are held."""
        if "covariances" in self.held:
            return Seen(self, self._wider(eta), rows)
        return Predicted(self, *student(self.family.words(eta)), rows)

    def _wider(self, eta: NormalWishart | Tied) -> Components:
        """With covariances Σ + Σ / β: what a row has, and what its mean has."""
        mean, precision = components(self.point(eta))[1:3]
        precision = precision / (1.0 + 1.0 / mean_strength(eta)[..., None])
        log_det = np.asarray(np.linalg.slogdet(precision)[1])
        return Components(0.5 * (log_det - len(self.shift) * LOG_2PI), mean, precision, {})

    def simulate(
        self, t: NormalWishart | Tied, states: NDArray[np.intp], rng: np.random.Generator
    ) -> Array:
        """Draws of the rows of these states."""
        mean, precision = components(t)[1:3]
        x = mean[states]
        normal = rng.standard_normal(x.shape)
        if len(states) <= self.n_states:  # as many factors as rows: all at once
            roots = np.swapaxes(np.linalg.cholesky(precision[states]), 1, 2)
            return x + np.linalg.solve(roots, normal[:, :, None])[:, :, 0] + self.shift
        for k in np.unique(states):
            root = np.linalg.cholesky(precision[k])
            x[states == k] += np.linalg.solve(root.T, normal[states == k].T).T
        return x + self.shift

    def at(self, mean: Array, precision: Array) -> NormalWishart | Tied:
        """The statistics t at known parameters; precision (K, D, D), or (D, D) if tied."""
        first = (mean[:, None, :] @ precision)[:, 0]
        log_det = np.asarray(np.linalg.slogdet(precision)[1])
        parts = (0.5 * log_det, -0.5 * precision, first, -0.5 * (mean * first).sum(1))
        return Tied(*parts) if self.is_tied else NormalWishart(*parts)

    def keep(self, eta: NormalWishart | Tied, states: NDArray[np.intp]) -> NormalWishart | Tied:
        """η of these states for good: what the others say of a tied precision stays in it."""
        kept: NormalWishart | Tied = select_states(eta, states)
        if not isinstance(kept, Tied) or "covariances" in self.held:
            return kept
        others = np.setdiff1d(np.arange(self.n_states), states)
        gone: Any = select_states(eta, others)
        if "means" in self.held:
            second, _ = tied.scatter_about(gone, self.held["means"][others])
            return kept._replace(second=second)
        second, _ = tied.scatter_about(gone, tied.mean_of(gone))  # their means integrated out
        return kept._replace(count=np.asarray(eta.count - len(others)), second=second)

    def read(self, named: Mapping[str, Any]) -> NormalWishart | Tied:
        """From "means" and "covariances"."""
        K, D = self.n_states, len(self.shift)
        mean = read_array(named, "means", (K, D)) - self.shift
        shape = (D, D) if self.is_tied else (K, D, D)
        covariance = np.broadcast_to(read_array(named, "covariances", shape), (K, D, D))
        if not np.allclose(covariance, np.swapaxes(covariance, 1, 2), rtol=1e-8, atol=0.0):
            raise JensenError("start['covariances'] must be symmetric")
        if np.linalg.eigvalsh(covariance).min() <= 0.0:
            raise JensenError("start['covariances'] must be positive definite")
        return self._from_covariances(mean, covariance)

    def from_moments(self, mean: Array, variance: Array) -> NormalWishart | Tied:
        """Without correlations."""
        D = len(variance)
        covariance = np.broadcast_to(np.diag(variance), (self.n_states, D, D))
        return self._from_covariances(mean, covariance)

    def _from_covariances(self, mean: Array, covariance: Array) -> NormalWishart | Tied:
        """η of one pretended row for each state, with these means and covariances."""
        K = self.n_states
        second = covariance + mean[:, :, None] * mean[:, None, :]
        if self.is_tied:
            return Tied(np.array(float(K)), second.sum(0), mean, np.ones(K))
        return NormalWishart(np.ones(K), second, mean, np.ones(K))

    def show(self, *draws: NormalWishart | Tied) -> dict[str, Array]:
        """Means, and the inverses of the (expected) precisions."""
        mean, precision = components(mean_record(draws))[1:3]
        covariance = np.asarray(np.linalg.inv(precision), np.float64)
        return {
            "means": mean + self.shift,
            "covariances": covariance[0] if self.is_tied else covariance,
        }

    def gather(self, count: Array, first: Array, second: Array) -> NormalWishart | Tied:
        """Statistics of rows as the family has them."""
        if self.is_tied:
            return Tied(count.sum(), second.sum(0), first, count)
        return NormalWishart(count, second, first, count)


def components(t: NormalWishart | Tied) -> Components:
    """The log density of every state, by completing the square."""
    K, D = t.first.shape
    shared = np.broadcast_to(-2.0 * t.second, (K, D, D))
    precision = np.array(shared)
    mean = np.asarray(np.linalg.solve(precision, t.first[:, :, None])[:, :, 0], np.float64)
    constant = t.count + t.strength + 0.5 * (t.first * mean).sum(1) - 0.5 * D * LOG_2PI
    return Components(constant, mean, precision, {})


def student(words: Any) -> tuple[Array, Array, Array]:
    """Degrees of freedom (K,), mean and precision that predict a row (Bishop 10.81)."""
    K, D = words.mean.shape
    freedom = np.broadcast_to(words.degrees_of_freedom + 1.0 - D, (K,))
    scale = freedom / (1.0 + 1.0 / words.mean_strength)  # a known mean has strength ∞
    precision = np.broadcast_to(words.scale, (K, D, D)) * scale[:, None, None]
    return freedom, words.mean, np.ascontiguousarray(precision)
