"""Gaussian emissions with full covariances, one per state or one for all.

`diagonal` has the emissions whose columns are independent given the state; `GaussianKind` makes
both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from jensen.data.number_rows import ColumnSummary
from jensen.exceptions import JensenError
from jensen.families import tied
from jensen.families.normal_wishart import NormalWishart
from jensen.families.tied import Tied, select_states
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.gaussian_rows import (
    LOG_2PI,
    GaussianComponents,
    ObservedGaussian,
    Pattern,
    PredictedGaussian,
    patterns_of,
)
from jensen.models.emissions.gaussian_states import GaussianStates, mean_strength
from jensen.models.emissions.kinds import (
    TOLERANCE,
    Chosen,
    ColumnLaw,
    EmissionKind,
    Fault,
    Line,
    PriorParts,
    near,
    read_array,
)
from jensen.models.emissions.priors import gaussian_prior, semi_conjugate_prior
from jensen.support.fields import LastResult, mean_record, without_cached

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

    def observe(self, t: NormalWishart | Tied, rows: tuple[Pattern, ...]) -> ObservedGaussian:
        """Rows at this θ."""
        return ObservedGaussian(self, self._components(t), rows)

    @cached_property
    def _components(self) -> LastResult[GaussianComponents]:
        return LastResult(components)

    def predict(
        self, eta: NormalWishart | Tied, rows: tuple[Pattern, ...]
    ) -> PredictedGaussian | ObservedGaussian:
        """Rows under Student distributions; under Gaussian ones, if the covariances are held."""
        if "covariances" in self.held:
            return ObservedGaussian(self, self._wider(eta), rows)
        return PredictedGaussian(self, *student(self.family.to_standard(eta)), rows)

    def _wider(self, eta: NormalWishart | Tied) -> GaussianComponents:
        """With covariances Σ + Σ / β: what a row has, and what its mean has."""
        mean, precision = components(self.point(eta))[1:3]
        precision = precision / (1.0 + 1.0 / mean_strength(eta)[..., None])
        log_det = np.asarray(np.linalg.slogdet(precision)[1])
        return GaussianComponents(0.5 * (log_det - len(self.shift) * LOG_2PI), mean, precision, {})

    def margins(self, t: Any, eta: Any = None) -> tuple[Array, Array, Array | None]:
        """Of a multivariate Student distribution every column is one with the same freedom."""
        freedom = None
        if eta is None or "covariances" in self.held:
            found = components(t) if eta is None else self._wider(eta)
            mean, precision = found.mean, found.precision
        else:
            each, mean, precision = student(self.family.to_standard(eta))
            freedom = np.repeat(each[:, None], mean.shape[1], axis=1)
        scale = np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
        return mean + self.shift, scale, freedom

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

    def untied(self, eta: Any) -> tuple[GaussianStates, Any]:
        """States with precisions of their own, each distributed as the one that they share.

        The means of all other states are integrated out: of one state a tied η is the η of a full
        one.
        """
        if not self.is_tied:
            return self, eta
        K, D = eta.first.shape
        alone: list[Any] = [self.keep(eta, np.array([k])) for k in range(K)]
        full = NormalWishart(
            np.array([one.count for one in alone]),
            np.array([one.second for one in alone]),
            np.concatenate([one.first for one in alone]),
            np.concatenate([one.strength for one in alone]),
        )
        held = self.held
        if "covariances" in held:
            held = {"covariances": np.broadcast_to(held["covariances"], (K, D, D))}
        return replace(self, prior=None, is_tied=False, held=held), full

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


def components(t: NormalWishart | Tied) -> GaussianComponents:
    """The log density of every state, by completing the square."""
    K, D = t.first.shape
    shared = np.broadcast_to(-2.0 * t.second, (K, D, D))
    precision = np.array(shared)
    mean = np.asarray(np.linalg.solve(precision, t.first[:, :, None])[:, :, 0], np.float64)
    constant = t.count + t.strength + 0.5 * (t.first * mean).sum(1) - 0.5 * D * LOG_2PI
    return GaussianComponents(constant, mean, precision, {})


def student(standard: Any) -> tuple[Array, Array, Array]:
    """Degrees of freedom (K,), mean and precision that predict a row (Bishop 10.81)."""
    K, D = standard.mean.shape
    freedom = np.broadcast_to(standard.degrees_of_freedom + 1.0 - D, (K,))
    scale = freedom / (1.0 + 1.0 / standard.mean_strength)  # a known mean has strength ∞
    precision = np.broadcast_to(standard.scale, (K, D, D)) * scale[:, None, None]
    return freedom, standard.mean, np.ascontiguousarray(precision)


NOISE = 1e3 * np.finfo(float).eps


class GaussianKind(EmissionKind):
    """Real numbers."""

    def make(
        self, n_states: int, columns: ColumnSummary, prior_parts: PriorParts, chosen: Chosen
    ) -> GaussianStates:
        """Rows relative to the mean of the data; a prior reads the covariance, or the variances."""
        shift, covariance, prior, semi = columns.mean, chosen.covariance, None, None
        is_matrix = covariance in ("full", "tied")
        if prior_parts is not None:
            spread = columns.variance  # enough, where the prior has a scale of its own
            if is_matrix and columns.covariance is not None:
                spread = columns.covariance
            prior = gaussian_prior(prior_parts, n_states, shift, spread, covariance)
            if "mean_variance" in prior_parts:
                prior, semi = semi_conjugate_prior(prior_parts, prior, shift, covariance)
        if is_matrix:
            return Gaussian(n_states, shift, prior, semi=semi, is_tied=covariance == "tied")
        is_spherical = covariance == "spherical"
        return Diagonal(n_states, shift, prior, semi=semi, is_spherical=is_spherical)

    def owns(self, emission: Any) -> bool:
        """Whether this made it."""
        return isinstance(emission, GaussianStates)

    def fewer(self, emission: GaussianStates, states: NDArray[np.intp]) -> GaussianStates:
        """These states only, with what is held of them."""
        return emission.fewer(states)

    def keep(self, emission: GaussianStates, eta: Any, states: NDArray[np.intp]) -> Any:
        """What the others say of a tied precision stays in it."""
        return emission.keep(eta, states)

    def hold(self, emission: GaussianStates, eta: Any, part: str) -> GaussianStates:
        """Means or covariances."""
        return emission.hold(eta, part)

    def draw(
        self,
        emission: GaussianStates,
        eta: Any,
        states: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> Array:
        """A precision that states share is drawn anew for every row."""
        return super().draw(*emission.untied(eta), states, rng)

    def size(self, n_columns: int, chosen: Chosen) -> float:
        """By the kind of covariance; a tied one is not counted for each state."""
        D = float(n_columns)
        sizes = {"full": D * (D + 1.0) + 2.0, "tied": D + 1.0, "spherical": D + 3.0}
        return sizes.get(chosen.covariance, 4.0 * D)

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """Means with standard deviations."""
        means, found = shown["means"], shown["covariances"]
        if chosen.covariance in ("full", "tied"):
            found = np.diagonal(found, axis1=-2, axis2=-1)
        elif chosen.covariance == "spherical":
            found = found[:, None]
        spread = np.sqrt(np.broadcast_to(found, means.shape))
        for name, mean, deviation in zip(names, means.T, spread.T, strict=True):
            pairs = zip(mean, deviation, strict=True)
            yield name, [f"{m:.4g} ± {s:.2g}" for m, s in pairs]

    def law(self, emission: GaussianStates, t: Any, eta: Any = None) -> ColumnLaw:
        """Gaussian, or Student distributions."""
        mean, scale, freedom = emission.margins(t, eta)

        def cdf(x: Array) -> Array:
            away = (x[..., None, :] - mean) / scale
            return np.asarray(ndtr(away) if freedom is None else stdtr(freedom, away))

        return ColumnLaw(cdf, mean, scale, is_whole=False)

    def prior_numbers(self, emission: GaussianStates, prior: Any) -> dict[str, Array]:
        """How much the prior of a mean and of a precision weighs."""
        if "covariances" in emission.held:
            return {}
        told = emission.family.describe(prior)
        names = ("mean_strength", "degrees_of_freedom")
        return {name: told[name] for name in names if name in told}

    def theta_fault(self, emission: GaussianStates, t: Any) -> Fault | None:
        """Half log determinants, precisions, and what means make of them."""
        for name, x in t._asdict().items():
            if not np.isfinite(x).all():
                return f".{name}", "must hold finite numbers"
        if isinstance(emission, Gaussian):
            return _matrices_fault(t)
        return _variances_fault(t, is_spherical=emission.covariance == "spherical")

    def belief_fault(self, emission: GaussianStates, eta: Any) -> Fault | None:
        """Whoever asks for the point of it is told."""
        return None


def _matrices_fault(t: Any) -> Fault | None:
    precision = -2.0 * t.second
    size = np.abs(precision).max((-2, -1))
    skew = np.abs(precision - np.swapaxes(precision, -1, -2)).max((-2, -1))
    if (skew > 1e-8 * size).any():
        return ".second", "is not symmetric"
    values = np.linalg.eigvalsh(precision)
    if not (values[..., 0] > 0.0).all():
        return ".second", "is not minus half a precision: that must be positive definite"
    slack = TOLERANCE + NOISE * values[..., -1] / values[..., 0]
    if not near(t.count, 0.5 * np.log(values).sum(-1), slack * t.first.shape[-1]):
        return ".count", "is not half the log determinant of the precision"
    wide = np.broadcast_to(precision, (*t.first.shape, t.first.shape[-1]))
    mean = np.linalg.solve(wide, t.first[..., None])[..., 0]
    if not near(t.strength, -0.5 * (t.first * mean).sum(-1), slack):
        return ".strength", "does not fit first and second: -½ μᵀ Λ μ"
    return None


def _variances_fault(t: Any, *, is_spherical: bool) -> Fault | None:
    precision = -2.0 * t.second
    if not (precision > 0.0).all():
        return ".second", "is not minus half a precision: that must be positive"
    if not near(t.count, 0.5 * np.log(precision), TOLERANCE):
        return ".count", "is not half the log of the precision"
    square = (t.first**2).sum(-1) if is_spherical else t.first**2
    if not near(t.strength, -0.5 * square / precision, TOLERANCE):
        return ".strength", "does not fit first and second: -½ λ μ²"
    return None
