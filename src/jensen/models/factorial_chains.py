"""Factorial hidden Markov models: several independent chains whose states add up in the outputs.

y_d = λ_dᵀ w + noise of precision ψ_d,  w = (1, the states of all chains, without their first).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberBlock, NumberRows
from jensen.exceptions import DataError
from jensen.families import log_partition
from jensen.families.dirichlet import dirichlet
from jensen.models.factor_parameters import FactorPrior, LinearColumns
from jensen.models.hidden_markov import groups
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import Hidden
from jensen.q_hidden.factorial_chains import FactorialChains, FactorialSums
from jensen.q_hidden.gaussian_chain import Outputs, SeriesRows
from jensen.support.fields import add, record

if TYPE_CHECKING:
    from jensen.free_energy import State
    from jensen.inference.factorial_chains import FittedFactorial

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@record
class Factorial(NamedTuple):
    """Fields of θ, in the order in which they are updated."""

    initial: Any  # (M, K)
    transition: Any  # (M, K, K)
    loadings: Any  # `Vectors` (D, 1 + M (K - 1))
    noise: Any  # `Gamma` (D,)
    alpha: Any  # `Gamma` (M (K - 1),); zeros without a prior


@record
class FactorialPoint(NamedTuple):
    """Parameters as people know them."""

    initial: Array  # (M, K)
    transition: Array  # (M, K, K)
    offset: Array  # (D,): the outputs when all chains are in their first states
    effects: Array  # (M, K, D): what each state adds, 0 for the first of each chain
    noise: Array  # (D,): variances


@dataclass(frozen=True, eq=False)
class FactorialModel(Conjugate[Factorial]):
    """M chains of K states behind D outputs, relative to `shift` and in units of `scale`."""

    shift: Array  # (D,)
    scale: Array  # (D,)
    n_chains: int
    n_states: int
    words: FactorPrior | None = None  # None: flat
    concentration: float = 1.0  # of the Dirichlet priors of chains

    has_own_priors = False

    @cached_property
    def columns(self) -> LinearColumns:
        """How outputs depend on w."""
        width = self.n_chains * (self.n_states - 1)
        return LinearColumns(len(self.shift), 1, width, False, self.words)

    @cached_property
    def families(self) -> Factorial:
        """Dirichlets, and those of the columns."""
        return Factorial(dirichlet, dirichlet, *self.columns.families())

    @cached_property
    def chain_priors(self) -> tuple[Any, Any]:
        """Of first states and transitions."""
        if self.words is None:
            return None, None
        M, K, eta = self.n_chains, self.n_states, self.concentration - 1.0
        return np.full((M, K), eta), np.full((M, K, K), eta)

    @cached_property
    def prior(self) -> Factorial:
        """That of the loadings is the one at the strengths that are expected beforehand."""
        return Factorial(*self.chain_priors, *self.columns.priors())

    def posterior(self, name: str, stats: Any, t: Factorial) -> Any:
        """Each field given the others."""
        if name in ("initial", "transition"):
            return add(getattr(self.prior, name), getattr(stats, name))
        if name == "loadings":
            return self.columns.loadings_given(stats.outputs, t)
        if name == "noise":
            return self.columns.noise_given(stats.outputs, t)
        return self.columns.alpha_given(t)

    def prior_given(self, t: Factorial) -> tuple[Factorial, Factorial]:
        """The prior of the loadings depends on alpha."""
        prior, normalizer = self.columns.priors_given(t)
        first, moves = self.chain_priors
        logs = log_partition(dirichlet, first), log_partition(dirichlet, moves)
        return Factorial(first, moves, *prior), Factorial(*logs, *normalizer)

    def potentials(self, t: Factorial) -> Callable[[SeriesRows], FactorialChains]:
        """What is expected of the parameters, beside the rows."""
        psi = self.columns.precision(t)
        log_noise = self.columns.log_noise(t) - np.log(self.scale)
        first = psi[:, None] * t.loadings.first
        strength = -2.0 * psi[:, None, None] * t.loadings.strength
        flat = strength.reshape(len(psi), -1)

        def at(unit: SeriesRows) -> FactorialChains:
            inner = (unit.seen @ flat).reshape(-1, *strength.shape[1:])
            told = Outputs(unit.seen @ log_noise, unit.seen * psi, first[None], inner)
            return FactorialChains(t.initial, t.transition, told, unit)

        return at

    def expected_stats(self, unit: SeriesRows, hidden: Hidden) -> FactorialSums:
        """Sums over steps."""
        stats: FactorialSums = hidden.moments
        return stats

    def unit(self, values: Array, ptr: Ints, weight: Array) -> SeriesRows:
        """Whole sequences."""
        return SeriesRows.of((values - self.shift) / self.scale, None, ptr, weight)

    def encode(self, rows: NumberRows, lengths: Ints, weight: Array) -> Units:
        """Sequences as units: some short ones together, a long one alone."""
        ends = np.cumsum(lengths)

        def unit(block: NumberBlock) -> SeriesRows:
            a, b = np.searchsorted(ends, [block.start, block.start + len(block.weight)], "right")
            ptr = np.append(0, ends[a:b] - block.start).astype(np.int64)
            return self.unit(block.values, ptr, weight[a:b])

        last = np.array([b - 1 for _, b in groups(lengths)], np.int64)
        return rows.units(
            unit,
            lambda: rows.cut(ends[last]),
            total_weight=float(lengths @ weight),
            is_complete=False,
        )

    def start(self, data: Data[Any], k: int, rng: np.random.Generator) -> Factorial:
        """Random loadings, of the spread of the outputs, and chains that mostly stay."""
        M, K, D = self.n_chains, self.n_states, len(self.shift)
        weight = data.units.total_weight
        effects = rng.standard_normal((D, M * (K - 1))) * np.sqrt(2.0 / M)
        first = -0.5 * effects.sum(1, keepdims=True)
        columns = self.columns.around(np.column_stack([first, effects]), np.full(D, 0.5), weight)
        stay = rng.uniform(0.5, 0.9, (M, 1, 1)) * np.eye(K)
        moves = stay + (1.0 - stay.max((1, 2), keepdims=True)) * rng.dirichlet(np.ones(K), (M, K))
        initial = rng.dirichlet(np.full(K, 5.0), M)
        share = weight / K
        return Factorial(
            add(self.prior.initial, initial * share), add(self.prior.transition, moves * share),
            *columns,
        )  # fmt: skip

    def around(self, point: FactorialPoint, weight: float) -> Factorial:
        """η whose mode has these parameters."""
        effects = point.effects[:, 1:].reshape(-1, len(self.shift)).T / self.scale[:, None]
        first = (point.offset - self.shift) / self.scale
        columns = self.columns.around(
            np.column_stack([first, effects]), point.noise / self.scale**2, weight
        )
        return Factorial(point.initial * weight, point.transition * weight, *columns)

    def explain(self, data: Data[Any], t: Factorial) -> Exception:
        """A row may be too far away to be computed, or a start have zeros."""
        return DataError("a sequence has probability 0 at start=: give its chains no zeros")

    def point(self, t: Factorial) -> FactorialPoint:
        """The parameters in the units of the outputs."""
        M, K, D = self.n_chains, self.n_states, len(self.shift)
        first = t.loadings.first * self.scale[:, None]
        effects = np.zeros((M, K, D))
        effects[:, 1:] = first[:, 1:].T.reshape(M, K - 1, D)
        noise = np.square(self.scale) / self.columns.precision(t)
        initial = dirichlet.share(np.exp(t.initial))
        transition = dirichlet.share(np.exp(t.transition))
        return FactorialPoint(initial, transition, self.shift + first[:, 0], effects, noise)

    def simulate(self, t: Factorial, n: int, rng: np.random.Generator) -> Array:
        """The outputs (n, D) of a sequence."""
        return draw_sequence(self.point(t), n, rng)[0]

    def finish(self, state: State[Any, Any], *, is_posterior: bool) -> FittedFactorial:
        """What an ascent found."""
        from jensen.inference.factorial_chains import FittedFactorial

        return FittedFactorial(self.point(state.t), is_posterior, self.words is None)


def draw_sequence(
    point: FactorialPoint, n: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.intp]]:
    """Outputs (n, D) and states (n, M)."""
    M, K = point.initial.shape
    states = np.empty((n, M), np.intp)
    for m in range(M):
        share = point.initial[m]
        for t in range(n):
            states[t, m] = min(int(np.searchsorted(np.cumsum(share), rng.random())), K - 1)
            share = point.transition[m, states[t, m]]
    mean = point.offset + point.effects[np.arange(M), states].sum(1)
    noise = rng.standard_normal((n, len(point.noise))) * np.sqrt(point.noise)
    return mean + noise, states
