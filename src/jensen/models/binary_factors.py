"""Binary latent factors: rows are sums of those of K vectors that are on, and noise."""

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
from jensen.families.dirichlet import beta
from jensen.inference.binary_factors import BinaryPoint, FittedBinaryFactors
from jensen.models.factor_parameters import FactorPrior, LinearColumns
from jensen.models.protocol import Conjugate, Data
from jensen.models.state_model import distinct_rows
from jensen.q_hidden import Hidden
from jensen.q_hidden.binary_factors import BinaryMoments, BinaryRows, FactorBits
from jensen.support.fields import record

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]

UNIT_ROWS = 4096
"""Rows of one unit; fixed, so that sums never depend on threads."""
STARTED = 5000
"""So many rows, drawn at random, are enough to start from."""
LEAST_LEFT = 0.05
"""Of the mean square of the values: the noise at a start."""


@record
class Bits(NamedTuple):
    """Fields of θ, in the order in which they are updated."""

    on: Any  # (K, 2): how often each factor is off, and on
    loadings: Any  # `Vectors` of (D, K)
    noise: Any  # `Gamma` of (1,)
    alpha: Any  # `Gamma` of (K,); zeros without a prior


@dataclass(frozen=True)
class BinaryFactorModel(Conjugate[Bits]):
    """D columns in units of `scale`, and K bits."""

    n_columns: int
    n_factors: int
    scale: float
    words: FactorPrior | None = None  # None: flat
    on_prior: Array | None = None  # (K, 2): η₀; None: flat

    has_own_priors = False  # that of loadings is given alpha

    @cached_property
    def columns(self) -> LinearColumns:
        """How columns depend on the bits."""
        return LinearColumns(self.n_columns, 0, self.n_factors, True, self.words)

    @cached_property
    def families(self) -> Bits:
        """The family of each field."""
        return Bits(beta, *self.columns.families())

    @cached_property
    def prior(self) -> Bits:
        """That of the loadings is the one at the strengths that are expected beforehand."""
        return Bits(self.on_prior, *self.columns.priors())

    # --- what the loop asks for ---

    def potentials(self, t: Bits) -> Callable[[BinaryRows], FactorBits]:
        """What is expected of the parameters, beside the rows."""
        psi = self.columns.precision(t)
        log_noise = self.columns.log_noise(t) - np.log(self.scale)
        first = psi[:, None] * t.loadings.first
        strength = -2.0 * psi[:, None, None] * t.loadings.strength
        off, on = t.on.T
        return lambda unit: FactorBits(off, on, log_noise, psi, first, strength, unit)

    def expected_stats(self, unit: BinaryRows, hidden: Hidden) -> BinaryMoments:
        """How often each bit is on, and for each column the moments of the rows that show it."""
        stats: BinaryMoments = hidden.moments
        return stats

    def posterior(self, name: str, stats: Any, t: Bits) -> Any:
        """Each field given the others."""
        if name == "on":
            return stats.bits if self.on_prior is None else self.on_prior + stats.bits
        if name == "loadings":
            return self.columns.loadings_given(_regular(stats.columns, self.words), t)
        if name == "noise":
            return self.columns.noise_given(stats.columns, t)
        return self.columns.alpha_given(t)

    def prior_given(self, t: Bits) -> tuple[Bits, Bits]:
        """The prior of the loadings depends on alpha."""
        prior, normalizer = self.columns.priors_given(t)
        own = log_partition(beta, self.on_prior)
        return Bits(self.on_prior, *prior), Bits(own, *normalizer)

    def trials(self, state: State[Any, Any]) -> Iterator[Bits]:
        """Without each of the factors, the rarest first."""
        if state.is_bound:
            assert self.on_prior is not None
            on = state.stats.bits[:, 1]
            for k in np.argsort(on, kind="stable"):
                if on[k] > 0.5 and (on > 0.5).sum() > 1:
                    at = (state.eta, int(k), state.t, state.stats.columns)
                    eta = self.columns.without(*at)
                    bits = np.array(eta.on)
                    bits[k] = self.on_prior[k] + [state.stats.bits[k].sum(), 0.0]
                    yield eta._replace(on=bits)

    # --- from rows to what was learned ---

    def start(self, data: Data[Any], k: int, rng: np.random.Generator) -> Bits:
        """Factors are rows, one after the other, less what those before them explain of them."""
        some = np.arange(data.rows.n_rows)
        if len(some) > STARTED:
            some = np.sort(rng.choice(len(some), STARTED, replace=False))
        values, weight = distinct_rows(*data.rows.take(some))
        left = np.nan_to_num(values) / self.scale
        loadings = np.zeros((self.n_columns, self.n_factors))
        share = np.zeros(self.n_factors)
        for j in range(self.n_factors):
            chance = weight * np.square(left).sum(1)
            if not chance.sum() > 0.0:
                chance = weight
            row = left[rng.choice(len(left), p=chance / chance.sum())]
            loadings[:, j] = row
            is_on = 2.0 * left @ row > row @ row
            share[j] = weight[is_on].sum() / weight.sum()
            left = left - np.outer(is_on, row)
        size = float(weight @ np.square(np.nan_to_num(values)).sum(1)) / self.scale**2
        loadings += (
            0.01
            * np.sqrt(size / weight.sum() / self.n_columns)
            * rng.standard_normal(loadings.shape)
        )
        noise = max(float(weight @ np.square(left).sum(1)), LEAST_LEFT * size)
        noise /= weight.sum() * self.n_columns
        return self.around(loadings, np.clip(share, 0.1, 0.9), noise, data.units.total_weight)

    def around(self, loadings: Array, share: Array, noise: float, weight: float) -> Bits:
        """η whose mode has these parameters, in units of the scale, as sure as rows."""
        on = weight * np.column_stack([1.0 - share, share])
        return Bits(on, *self.columns.around(loadings, np.array([noise]), weight))

    def refuse_start(self, start: Bits, stats: Any, method: str) -> None:
        """Refuse factors that are alike, and would stay so."""
        mean = gaussian_vectors.describe(start.loadings)["mean"]
        rows = np.column_stack([mean.T, np.asarray(start.on)])
        if len(np.unique(rows, axis=0)) < len(rows):
            raise JensenError(
                f"start= gives two factors the same parameters, and {method!r} would never part "
                f"them: make them differ a little, take one of them away, or leave out start="
            )

    def explain(self, data: Data[Any], t: Bits) -> Exception:
        """Densities are never 0, but a row may be too far away to be computed."""
        return DataError("a row is too far from start= to have a density that can be computed")

    def simulate(self, t: Bits, n: int, rng: np.random.Generator) -> Array:
        """Rows (n, D), in the units of the columns."""
        return self.point(t, np.exp(t.on[:, 1])).sample(n, rng)[0]

    def point(self, t: Bits, on: Array) -> BinaryPoint:
        """The parameters in the units of the columns."""
        variance = self.scale**2 / self.columns.precision(t)[0]
        return BinaryPoint(on, self.scale * t.loadings.first, np.array(variance))

    def finish(self, state: State[Any, Any], *, is_posterior: bool) -> FittedBinaryFactors:
        """What an ascent found; factors by how often they are on."""
        order = np.argsort(-state.stats.bits[:, 1], kind="stable")
        counts = state.stats.bits[order, 1]
        on = beta.mean(state.eta.on)[:, 1] if is_posterior else np.exp(state.t.on[:, 1])
        point = self.point(state.t, on)
        point = point._replace(on=point.on[order], loadings=point.loadings[:, order])
        if not is_posterior:
            return FittedBinaryFactors(point, counts)
        eta = state.eta
        strength = eta.loadings.strength[:, order[:, None], order]
        loadings = type(eta.loadings)(eta.loadings.first[:, order], strength)
        alpha = type(eta.alpha)(*(part[order] for part in eta.alpha))
        return FittedBinaryFactors(point, counts, (eta.on[order], loadings, eta.noise, alpha))


def _regular(stats: Any, words: FactorPrior | None) -> Any:
    """Without a prior a factor that no row has on is 0: nothing else says what it is."""
    if words is not None:
        return stats
    strength = np.array(stats.strength)
    diagonal = np.diagonal(strength, axis1=1, axis2=2)
    least = 1e-10 * np.maximum(stats.count, 1e-300)
    strength[:, range(strength.shape[1]), range(strength.shape[1])] = np.maximum(
        diagonal, least[:, None]
    )
    return stats._replace(strength=strength)


def encode(rows: NumberRows, scale: float) -> Units:
    """Rows of weight > 0 as units for the loop."""

    def unit(block: NumberBlock) -> BinaryRows:
        chosen = block.weight > 0.0
        values, weight = block.values[chosen] / scale, block.weight[chosen]
        patterns, owner = np.unique(np.isnan(values), axis=0, return_inverse=True)
        seen = (~patterns).astype(float)
        return BinaryRows(np.nan_to_num(values), weight, seen, np.ravel(owner))

    return rows.units(
        unit, lambda: rows.read(UNIT_ROWS), total_weight=rows.total_weight, is_complete=False
    )
