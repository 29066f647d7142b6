"""Mixtures of factor analysers: x = m + Λ h + noise, where a hidden component says which m and Λ.

Under a prior surplus components and surplus columns of loadings die (Ghahramani and Beal 2000).
Where coordinate ascent ends, components are removed, merged, split and born anew, which is kept if
F ends higher (Ueda, Nakano, Ghahramani and Hinton 2000).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberBlock, NumberRows
from jensen.exceptions import DataError, JensenError
from jensen.families import gaussian_vectors, log_partition
from jensen.families.dirichlet import dirichlet
from jensen.inference.factor_mixtures import FittedFactorMixture, MixturePoint
from jensen.models.component_moves import component_moves, local_axes
from jensen.models.factor_parameters import LEAST_NOISE, FactorPrior, LinearColumns
from jensen.models.protocol import Conjugate, Data
from jensen.models.state_labels import live_states
from jensen.models.state_model import LOOKED_AT, distinct_rows, near_centres
from jensen.q_hidden import Hidden
from jensen.q_hidden.gaussian_factors import FactorMixture, FactorRows, GaussianFactors
from jensen.support.fields import record

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]

UNIT_ROWS = 1000
"""Rows of one unit; fixed, so that sums never depend on threads."""


@record
class Analyzers(NamedTuple):
    """Fields of θ, in the order in which they are updated; w = (1, h)."""

    weights: Any  # (S,)
    loadings: Any  # `Vectors` of (S, D, 1 + K)
    noise: Any  # `Gamma` of (D,), or of (S, D) if each component has its own
    alpha: Any  # `Gamma` of (S, K); zeros without a prior


@record
class AnalyzerSums(NamedTuple):
    """Statistics of rows by component."""

    weights: Array  # (S,)
    columns: Any  # `Regression` of (S, D) on w
    hidden: Array  # (S, 1 + K, 1 + K): Σ E[w wᵀ]


class MixtureRows(NamedTuple):
    """A unit: rows, those that show the same columns together, and how often each counts."""

    rows: FactorRows
    weight: Array  # (n,)


@dataclass(frozen=True)
class FactorMixtureModel(Conjugate[Analyzers]):
    """S components of D columns, each with K factors."""

    shift: Array  # (D,)
    scale: Array  # (D,)
    n_components: int
    n_factors: int
    shared_noise: bool = True
    words: FactorPrior | None = None  # None: flat
    weights_prior: Array | None = None  # (S,): η₀; None: flat
    may_relabel: bool = True  # whether the labels of components have no meaning
    rotates: bool = True

    has_own_priors = False  # that of loadings is given alpha

    @cached_property
    def columns(self) -> LinearColumns:
        """How columns depend on w, in each component."""
        axes = (self.n_components,)
        noise_axes = () if self.shared_noise else axes
        D, K = len(self.shift), self.n_factors
        return LinearColumns(D, 1, K, False, self.words, axes, noise_axes)

    @cached_property
    def families(self) -> Analyzers:
        """The family of each field."""
        return Analyzers(dirichlet, *self.columns.families())

    @cached_property
    def prior(self) -> Analyzers:
        """That of the loadings is the one at the strengths that are expected beforehand."""
        return Analyzers(self.weights_prior, *self.columns.priors())

    # --- what the loop asks for ---

    def potentials(self, t: Analyzers) -> Callable[[MixtureRows], FactorMixture]:
        """What is expected of the parameters, beside the rows."""
        psi = self.columns.precision(t)
        log_noise = self.columns.log_noise(t) - np.log(self.scale)
        first = psi[..., None] * t.loadings.first
        strength = -2.0 * psi[..., None, None] * t.loadings.strength
        return lambda unit: FactorMixture(
            t.weights, GaussianFactors(log_noise, psi, first, strength, unit.rows), unit.weight
        )

    def expected_stats(self, unit: MixtureRows, hidden: Hidden) -> AnalyzerSums:
        """Counts of components, and the moments of their rows."""
        return AnalyzerSums(hidden.moments.states, *hidden.moments.observed)

    def posterior(self, name: str, stats: Any, t: Analyzers) -> Any:
        """Each field given the others."""
        if name == "weights":
            prior = self.weights_prior
            return stats.weights if prior is None else prior + stats.weights
        if name == "loadings":
            return self.columns.loadings_given(stats.columns, t)
        if name == "noise":
            return self.columns.noise_given(stats.columns, t)
        return self.columns.alpha_given(t)

    def prior_given(self, t: Analyzers) -> tuple[Analyzers, Analyzers]:
        """The prior of the loadings depends on alpha."""
        prior, normalizer = self.columns.priors_given(t)
        own = log_partition(dirichlet, self.weights_prior)
        return Analyzers(self.weights_prior, *prior), Analyzers(own, *normalizer)

    def turned(self, eta: Analyzers, t: Analyzers, stats: Any, *, is_distribution: bool) -> Any:
        """The best coordinates of h in each component."""
        if not self.rotates:
            return None
        parts = {}
        for s in range(self.n_components):
            given = self._of(eta, s), self._of(t, s), stats.hidden[s]
            better = self.columns.of_one.turned(*given, is_distribution=is_distribution)
            if better is not None:
                parts[s] = better
        return self._with(eta, parts) if parts else None

    def moves(self, state: State[Any, Any]) -> Iterator[Analyzers]:
        """Without columns that are mostly spread."""
        if state.is_bound:
            weak = self.columns.weak(state.eta)
            if weak.any():
                yield self._without(state, weak)
            if weak.sum() > 1:
                squares = np.square(state.t.loadings.first[..., 1:]).sum(-2)
                least = np.where(weak, squares, np.inf).argmin()
                yield self._without(state, np.arange(weak.size).reshape(weak.shape) == least)

    def trials(self, state: State[Any, Any]) -> Iterator[Analyzers]:
        """Fewer, other and more components; then without each of the columns, the shortest first.

        So many components and columns are there as lower F if they are lost.
        """
        if not state.is_bound:
            return
        counts, t = state.stats.weights, state.t
        live = live_states(counts)
        if self.may_relabel:
            noise = 1.0 / self.columns.precision(t)
            for changes in component_moves(counts, live, t.loadings.first, noise):
                yield self._changed(state, changes)
        squares = np.square(t.loadings.first[..., 1:]).sum(-2)
        columns = np.argwhere(self.columns.live(state.eta.loadings) & live[:, None])
        for s, k in columns[np.argsort(squares[tuple(columns.T)], kind="stable")]:
            chosen = np.zeros(squares.shape, bool)
            chosen[s, k] = True
            yield self._without(state, chosen)

    def _without(self, state: State[Any, Any], chosen: NDArray[np.bool_]) -> Analyzers:
        """η with some columns (S, K) that know nothing but the prior."""
        one, parts = self.columns.of_one, {}
        for s in np.flatnonzero(chosen.any(1)).tolist():
            stats = type(state.stats.columns)(*(part[s] for part in state.stats.columns))
            eta, t = self._of(state.eta, s), self._of(state.t, s)
            parts[s] = one.without(eta, np.flatnonzero(chosen[s]), t, stats)
        return self._with(state.eta, parts)

    def _changed(self, state: State[Any, Any], changes: dict[int, Any]) -> Analyzers:
        """η with other components: rows, loadings with the mean, noise; None where one is lost."""
        one, counts, parts = self.columns.of_one, np.array(state.stats.weights), {}
        assert self.words is not None
        for s, change in changes.items():
            eta = self._of(state.eta, s)
            if change is None:
                counts[s], width = 0.0, one.width
                vague = self.words.strength_shape / self.words.strength_rate
                strength = np.diag([self.words.mean_strength] + [vague] * (width - 1))
                strengths = np.broadcast_to(strength, (len(self.shift), width, width))
                loadings = gaussian_vectors.from_standard(np.zeros(strengths.shape[:2]), strengths)
                t = self._of(state.t, s)._replace(loadings=gaussian_vectors.mean_stats(loadings))
                parts[s] = eta._replace(loadings=loadings, alpha=one.alpha_given(t))
            else:
                counts[s], mean, noise = change
                loadings, own, alpha = one.around(mean, noise, counts[s])
                noise_eta = eta.noise if self.shared_noise else own
                parts[s] = eta._replace(loadings=loadings, noise=noise_eta, alpha=alpha)
        assert self.weights_prior is not None
        return self._with(state.eta, parts)._replace(weights=self.weights_prior + counts)

    def _of(self, theta: Any, s: int) -> Any:
        """The part of one component."""
        kept = {} if self.shared_noise else {"noise": _pick(theta.noise, s)}
        loadings, alpha = _pick(theta.loadings, s), _pick(theta.alpha, s)
        return theta._replace(loadings=loadings, alpha=alpha, **kept)

    def _with(self, eta: Analyzers, parts: dict[int, Any]) -> Analyzers:
        """η with those parts of components in place."""
        names = ("loadings", "alpha") if self.shared_noise else ("loadings", "noise", "alpha")
        for name in names:
            whole = getattr(eta, name)
            leaves = [np.array(leaf) for leaf in whole]
            for s, part in parts.items():
                for leaf, own in zip(leaves, getattr(part, name), strict=True):
                    leaf[s] = own
            eta = eta._replace(**{name: type(whole)(*leaves)})
        return eta

    # --- from rows to what was learned ---

    def start(self, data: Data[NumberRows], k: int, rng: np.random.Generator) -> Analyzers:
        """Principal axes of the rows around each of S centres."""
        some = np.arange(data.rows.n_rows)
        if len(some) > LOOKED_AT:
            some = np.sort(rng.choice(len(some), LOOKED_AT, replace=False))
        values, weight = distinct_rows(*data.rows.take(some))
        weight = weight * (data.rows.total_weight / weight.sum())
        points = np.nan_to_num((values - self.shift) / self.scale)
        own = near_centres(np.ascontiguousarray(points.T), weight, self.n_components, rng)
        counts = own @ weight
        loadings, noise = local_axes(points, own * weight, self.n_factors, rng)
        if self.shared_noise:
            noise = (counts @ noise) / counts.sum()
        noise = np.maximum(noise, LEAST_NOISE)
        return self.around(np.maximum(counts, 1e-2), loadings, noise)

    def around(self, counts: Array, loadings: Array, noise: Array) -> Analyzers:
        """η whose mode has these parameters, in units of shift and scale, as sure as rows."""
        return Analyzers(counts, *self.columns.around(loadings, noise, counts))

    def refuse_start(self, start: Analyzers, stats: Any, method: str) -> None:
        """Refuse components that are alike, and would stay so."""
        mean = gaussian_vectors.describe(start.loadings)["mean"].reshape(self.n_components, -1)
        if len(np.unique(np.column_stack([start.weights, mean]), axis=0)) < self.n_components:
            raise JensenError(
                f"start= gives two components the same parameters, and {method!r} would never part "
                f"them: make them differ a little, take one of them away, or leave out start="
            )

    def explain(self, data: Data[NumberRows], t: Analyzers) -> Exception:
        """Densities are never 0, but a row may be too far away to be computed."""
        return DataError("a row is too far from start= to have a density that can be computed")

    def simulate(
        self, t: Analyzers, n: int, rng: np.random.Generator
    ) -> tuple[Array, NDArray[np.intp]]:
        """Rows (n, D) in the units of the columns, and the components that made them."""
        return self.point(t, np.exp(t.weights)).sample(n, rng)

    def point(self, t: Analyzers, weights: Array) -> MixturePoint:
        """The parameters in the units of the columns."""
        first = t.loadings.first * self.scale[:, None]
        variance = np.square(self.scale) / self.columns.precision(t)
        mean = self.shift + first[..., 0]
        return MixturePoint(weights / weights.sum(), mean, first[..., 1:], variance)

    def finish(self, state: State[Any, Any], *, is_posterior: bool) -> FittedFactorMixture:
        """What an ascent found: components by falling counts, factors by their length."""
        counts, eta, t = state.stats.weights, state.eta, state.t
        falling = np.argsort(-counts, kind="stable")
        order = falling if self.may_relabel else np.arange(len(counts))
        counts = counts[order]
        if not is_posterior:
            point = self.point(t, np.exp(t.weights)).of(order)
            return FittedFactorMixture(
                point.canonical(), counts, self.shared_noise, is_flat=self.words is None
            )
        places = np.argsort(-np.square(t.loadings.first[..., 1:]).sum(-2), axis=-1, kind="stable")
        longest = np.take_along_axis(
            t.loadings.first[..., 1:],
            np.abs(t.loadings.first[..., 1:]).argmax(-2)[:, None],
            axis=-2,
        )[:, 0]
        parts = {}
        for s, at in enumerate(order.tolist()):
            one, ks = self._of(eta, at), places[at]
            sign = np.append(1.0, np.where(longest[at, ks] < 0.0, -1.0, 1.0))
            w = np.append(0, 1 + ks)
            first = one.loadings.first[:, w] * sign
            strength = one.loadings.strength[:, w[:, None], w] * np.outer(sign, sign)
            alpha = type(one.alpha)(*(part[ks] for part in one.alpha))
            parts[s] = one._replace(loadings=type(one.loadings)(first, strength), alpha=alpha)
        eta = self._with(eta, parts)._replace(weights=eta.weights[order])
        t = t._replace(loadings=gaussian_vectors.mean_stats(eta.loadings))
        if not self.shared_noise:
            t = t._replace(noise=_pick(t.noise, order))
        point = self.point(t, dirichlet.mean(eta.weights))
        return FittedFactorMixture(point, counts, self.shared_noise, eta=tuple(eta))


def _pick(record: Any, s: Any) -> Any:
    """Leaf by leaf, some along the first axis."""
    return type(record)(*(leaf[s] for leaf in record))


def encode(rows: NumberRows, shift: Array, scale: Array) -> Units:
    """Rows of weight > 0 as units for the loop."""

    def unit(block: NumberBlock) -> MixtureRows:
        chosen = block.weight > 0.0
        values, weight = (block.values[chosen] - shift) / scale, block.weight[chosen]
        patterns, owner = np.unique(np.isnan(values), axis=0, return_inverse=True)
        owner = np.ravel(owner)
        order = np.argsort(owner, kind="stable")
        root = np.column_stack([np.ones(len(values)), np.nan_to_num(values)])[order]
        seen, count = (~patterns).astype(float), np.bincount(owner).astype(float)
        return MixtureRows(FactorRows(seen, count, root, owner[order]), weight[order])

    return rows.units(
        unit, lambda: rows.read(UNIT_ROWS), total_weight=rows.total_weight, is_complete=False
    )
