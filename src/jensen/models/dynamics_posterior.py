"""Linear dynamical systems under a prior, with ARD for the order of the system.

    c_dk ~ N(0, 1/γ_k),  a_jk ~ N(0, 1/α_k),  all precisions and strengths gamma.

q(θ) = q(C) q(ψ) q(γ) q(A) q(λ) q(α), where C and A hold the coefficients of inputs and of the
constant besides. A state that says nothing of the outputs or of other states has large γ_k and α_k.
The noise of the states is held at 1, which any system without held coefficients can be brought to,
or is learned, each state by itself (Beal 2003, chapter 5; Ghahramani and Hinton 1996).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import gaussian_vectors
from jensen.families.gaussian_vectors import Vectors
from jensen.families.linear_regression import Regression
from jensen.inference.dynamics import FittedDynamics
from jensen.models.dynamics_record import (
    PLACES,
    Dynamics,
    blank_of,
    moves_of,
    numbers_of,
    outputs_of,
    t_at,
)
from jensen.models.dynamics_starts import begin
from jensen.models.factor_parameters import LOG_2PI, FactorPrior, LinearColumns
from jensen.models.held_columns import HeldColumns, turned
from jensen.models.linear_dynamics import SeriesModel, SeriesShape
from jensen.models.protocol import Data
from jensen.models.state_model import flatten, unflatten
from jensen.q_hidden.chain_forms import start_of
from jensen.q_hidden.gaussian_chain import GaussianChain, Moves, Outputs, SeriesRows, SeriesSums
from jensen.q_hidden.known_chain import StateSpace

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorDynamics(SeriesModel):
    """K states under a prior; outputs are in units of `scale`, around `shift`."""

    shape: SeriesShape
    words: FactorPrior
    rotates: bool = True

    has_own_priors = False

    @property
    def shift(self) -> Array:
        """(D,): around which outputs are."""
        return np.broadcast_to(self.shape.shift, self.shape.fixed.offset.shape)

    @property
    def scale(self) -> Array:
        """(D,): their units."""
        return np.broadcast_to(self.shape.scale, self.shape.fixed.offset.shape)

    # --- the two sets of regressions ---

    @cached_property
    def outputs(self) -> HeldColumns:
        """Of the outputs."""
        shape, fixed = self.shape, self.shape.fixed
        D, u, K = shape.n_outputs, shape.n_inputs, shape.n_states
        columns = LinearColumns(D, 1 + u, K, shape.is_isotropic, self.words)
        held = np.array(fixed.outputs)
        held[:, 0] -= self.shift
        held /= self.scale[:, None]
        variance = np.diagonal(fixed.noise_covariance) / self.scale**2
        precision = 1.0 / variance
        return HeldColumns(columns, held, precision[:1] if shape.is_isotropic else precision)

    @cached_property
    def moves_columns(self) -> HeldColumns:
        """Of the states."""
        fixed, K = self.shape.fixed, self.shape.n_states
        columns = LinearColumns(K, self.shape.n_inputs, K, False, self.words)
        precision = 1.0 / np.diagonal(fixed.process_covariance)
        return HeldColumns(columns, fixed.moves, precision)

    @cached_property
    def families(self) -> Dynamics:
        """The family of each field."""
        return Dynamics(*self.outputs.families, *self.moves_columns.families)

    @cached_property
    def prior(self) -> Dynamics:
        """Those of coefficients at the strengths that are expected beforehand."""
        return Dynamics(*self.outputs.priors, *self.moves_columns.priors)

    # --- what the loop asks for ---

    def potentials(self, t: Dynamics) -> Callable[[SeriesRows], GaussianChain]:
        """What is expected of the parameters, beside the rows."""
        moves, D = self._expected_moves(t), self.shape.n_outputs
        out = self.outputs.columns
        psi = out.precision(outputs_of(t))
        log_noise = out.log_noise(outputs_of(t)) - np.log(self.scale)
        first = psi[:, None] * t.loadings.first
        strength = -2.0 * psi[:, None, None] * t.loadings.strength

        def at(unit: SeriesRows) -> GaussianChain:
            flat = unit.seen @ strength.reshape(D, -1)
            whole = flat.reshape(-1, *strength.shape[1:])
            known = Outputs(unit.seen @ log_noise, unit.seen * psi, first[None], whole)
            return GaussianChain(moves, known, unit)

        return at

    def _expected_moves(self, t: Dynamics) -> Moves:
        noise = -t.process.exposure
        first = noise[:, None] * t.transition.first
        strength = -2.0 * np.tensordot(noise, t.transition.strength, 1)
        log_size = float(0.5 * (t.process.total - LOG_2PI).sum())
        fixed = self.shape.fixed
        start = start_of(fixed.initial_mean, fixed.initial_covariance, fixed.diffuse)
        return Moves(log_size, np.diag(noise), first, strength, *start)

    def stats_of(self, stats: SeriesSums, *, of_outputs: bool) -> Regression:
        """Sums as each regression sees them."""
        if of_outputs:
            return stats.outputs
        K, moves = self.shape.n_states, stats.moves
        strength = np.broadcast_to(moves.strength, (K, *moves.strength.shape))
        return Regression(
            np.full(K, float(moves.count)), np.diagonal(moves.second), moves.first, strength
        )

    def posterior(self, name: str, stats: SeriesSums, t: Dynamics) -> Any:
        """Each field given the others."""
        part, of_outputs = PLACES[name]
        columns = self.outputs if of_outputs else self.moves_columns
        seen = outputs_of(t) if of_outputs else moves_of(t)
        return columns.given(part, self.stats_of(stats, of_outputs=of_outputs), seen)

    def prior_given(self, t: Dynamics) -> tuple[Dynamics, Dynamics]:
        """The priors of coefficients depend on strengths."""
        of_outputs = self.outputs.priors_given(outputs_of(t))
        of_moves = self.moves_columns.priors_given(moves_of(t))
        return Dynamics(*of_outputs[0], *of_moves[0]), Dynamics(*of_outputs[1], *of_moves[1])

    # --- other coordinates, fewer states ---

    @property
    def is_open(self) -> bool:
        """Whether states have no meaning: nothing of them is held but their noise, at 1."""
        fixed = self.shape.fixed
        loose = (fixed.transition, fixed.loadings, fixed.input_transition)
        is_one = np.array_equal(fixed.process_covariance, np.eye(self.shape.n_states))
        return is_one and all(np.isnan(x).all() for x in loose)

    def live(self, eta: Dynamics) -> NDArray[np.bool_]:
        """(K,): states that say anything of outputs or of states."""
        u = self.shape.n_inputs
        shown = (eta.loadings.first[:, 1 + u :] != 0.0).any(0)
        return np.asarray(shown | (eta.transition.first[:, u:] != 0.0).any(0))

    def moves(self, state: State[Any, Any]) -> Iterator[Dynamics]:
        """Without a state that is hardly seen; turned, and with innovations of variance 1."""
        if not (self.rotates and self.is_open):
            return
        live, t, u = np.flatnonzero(self.live(state.eta)), state.t, self.shape.n_inputs
        if not len(live):
            return
        if state.is_bound:
            weak = np.flatnonzero(self.outputs.columns.weak(outputs_of(state.eta)))
            if len(weak):
                squares = np.square(t.loadings.first[:, 1 + u :]).sum(0)
                yield self.without(int(weak[squares[weak].argmin()]), state)
        at = 1 + u + live
        squares = -2.0 * t.loadings.strength.sum(0)[np.ix_(at, at)]
        yield self._in_coordinates(state.eta, t, live, np.linalg.eigh(squares)[1][:, ::-1])
        moves = state.stats.moves
        A = t.transition.first
        cross = A @ moves.first.T
        left = moves.second - cross - cross.T
        left += A @ moves.strength @ A.T
        spread = (left / moves.count)[np.ix_(live, live)]
        values, axes = np.linalg.eigh(spread)
        if values[0] > 1e-8 and np.abs(values - 1.0).max() > 1e-9:
            root = axes * np.sqrt(values)
            inner = np.linalg.eigh(root.T @ squares @ root)[1][:, ::-1]
            yield self._in_coordinates(state.eta, t, live, root @ inner)

    def _in_coordinates(
        self, eta: Dynamics, t: Dynamics, live: NDArray[np.intp], turn: Array
    ) -> Dynamics:
        """η where the live states are x', with x = turn x'."""
        K, u = self.shape.n_states, self.shape.n_inputs
        way = np.eye(K)
        way[np.ix_(live, live)] = turn
        wide = np.eye(1 + u + K)
        wide[1 + u :, 1 + u :] = way
        loadings = turned(eta.loadings, wide)
        back = np.asarray(np.linalg.inv(way), np.float64)
        transition = turned(eta.transition, wide[1:, 1:], back)
        return self._with(eta, t, loadings, transition)

    def _with(self, eta: Dynamics, t: Dynamics, loadings: Vectors, moves: Vectors) -> Dynamics:
        """η with these coefficients, and the strengths that follow."""
        t = t._replace(
            loadings=gaussian_vectors.mean_stats(loadings),
            transition=gaussian_vectors.mean_stats(moves),
        )
        return eta._replace(
            loadings=loadings,
            transition=moves,
            relevance=self.outputs.alpha_given(outputs_of(t)),
            influence=self.moves_columns.alpha_given(moves_of(t)),
        )

    def without(self, k: int, state: State[Any, Any]) -> Dynamics:
        """η with a state that says nothing and follows from nothing."""
        eta, t = state.eta, state.t
        shown = self.outputs.columns.without(outputs_of(eta), k, outputs_of(t), state.stats.outputs)
        sums = self.stats_of(state.stats, of_outputs=False)
        moved = self.moves_columns.columns.without(moves_of(eta), k, moves_of(t), sums)
        found = gaussian_vectors.describe(moved[0])["mean"].copy()
        found[k] = 0.0
        transition = gaussian_vectors.from_standard(found, moved[0].strength)
        return self._with(eta, t, shown[0], transition)

    def trials(self, state: State[Any, Any]) -> Iterator[Dynamics]:
        """Without each of the states: so many are there as lower F if lost."""
        if state.is_bound and self.is_open:
            u = self.shape.n_inputs
            size = np.square(state.t.loadings.first[:, 1 + u :]).sum(0)
            size = size + np.square(state.t.transition.first[:, u:]).sum(0)
            live = np.flatnonzero(self.live(state.eta))
            for k in live[np.argsort(size[live], kind="stable")]:
                yield self.without(int(k), state)

    # --- from rows to what was learned ---

    def around(self, point: StateSpace, weight: float) -> Dynamics:
        """η whose mode has these parameters where they are learned."""
        W = point.outputs.copy()
        W[:, 0] -= self.shift
        variance = np.diagonal(point.noise_covariance) / self.scale**2
        if self.shape.is_isotropic:
            variance = variance.mean(keepdims=True)
        outputs = self.outputs.around(W / self.scale[:, None], variance, weight)
        process = np.diagonal(point.process_covariance)
        return Dynamics(*outputs, *self.moves_columns.around(point.moves, process, weight))

    def start(self, data: Data[Any], k: int, rng: np.random.Generator) -> Dynamics:
        """From the axes of the outputs, in coordinates in which innovations have variance 1."""
        fixed = self.shape.fixed
        if not self.is_open:
            return self.around(begin(fixed, data.rows, k, rng), data.units.total_weight)
        K = self.shape.n_states
        loose = fixed._replace(process_covariance=np.full((K, K), np.nan))
        point = begin(loose, data.rows, k, rng)
        values, axes = np.linalg.eigh(point.process_covariance)
        root = axes * np.sqrt(np.maximum(values, 1e-6))
        back = np.linalg.inv(root)
        point = point._replace(
            transition=back @ point.transition @ root,
            input_transition=back @ point.input_transition,
            loadings=point.loadings @ root,
            process_covariance=np.eye(K),
        )
        return self.around(point, data.units.total_weight)

    def state_space(self, t: Dynamics) -> StateSpace:
        """The parameters at this θ, in the units of the columns."""
        u, fixed = self.shape.n_inputs, self.shape.fixed
        C = t.loadings.first * self.scale[:, None]
        A = t.transition.first
        noise = np.square(self.scale) / self.outputs.columns.precision(outputs_of(t))
        return StateSpace(
            A[:, u:], A[:, :u], np.diag(-1.0 / t.process.exposure),
            C[:, 1 + u :], C[:, 1 : 1 + u], self.shift + C[:, 0], np.diag(noise),
            fixed.initial_mean, fixed.initial_covariance, fixed.diffuse,
        )  # fmt: skip

    def finish(self, state: State[Any, Any], *, is_posterior: bool) -> FittedDynamics:
        """What an ascent found; states that say nothing come last."""
        state = self._sorted(state)
        n_live = int(self.live(state.eta).sum()) if is_posterior and self.is_open else None
        eta = state.eta if is_posterior else None
        return FittedDynamics(self.state_space(state.t), self.n_free, n_live, eta)

    def _sorted(self, state: State[Any, Any]) -> State[Any, Any]:
        """Live states first, by what outputs have of them; the longest loading positive."""
        if not self.is_open:
            return state
        K, u, t = self.shape.n_states, self.shape.n_inputs, state.t
        shown = t.loadings.first[:, 1 + u :]
        size = np.square(shown).sum(0) + 1e-300 * self.live(state.eta)
        order = np.lexsort((-size, ~self.live(state.eta)))
        longest = shown[np.abs(shown).argmax(0), np.arange(K)]
        way = np.eye(K)[:, order] * np.where(longest[order] < 0.0, -1.0, 1.0)
        wide = np.eye(1 + u + K)
        wide[1 + u :, 1 + u :] = way
        loadings = turned(state.eta.loadings, wide)
        transition = turned(state.eta.transition, wide[1:, 1:], way.T)
        eta = self._with(state.eta, t, loadings, transition)
        t = Dynamics(*(family.mean_stats(e) for family, e in zip(self.families, eta, strict=True)))
        return state._replace(theta=state.theta._replace(eta=eta, t=t))

    @cached_property
    def n_free(self) -> int:
        """How many numbers are learned; a rotation of the states is none."""
        parts = (self.outputs.coefficients, self.moves_columns.coefficients)
        found = sum(int(np.isnan(x).sum()) for x in parts)
        found += sum(
            int(np.isnan(x).sum()) for x in (self.outputs.precision, self.moves_columns.precision)
        )
        K = self.shape.n_states
        return found - K * (K - 1) // 2 if self.is_open else found

    # --- chains ---

    @cached_property
    def blank(self) -> Dynamics:
        """The shape of t."""
        shape = self.shape
        sizes = shape.n_outputs, shape.n_inputs, shape.n_states
        return blank_of(*sizes, n_noises=1 if shape.is_isotropic else shape.n_outputs)

    @property
    def kept_width(self) -> int:
        """How many numbers a sample has."""
        return len(flatten(numbers_of(self.blank)))

    def keep(self, state: State[Any, Any], *, is_mode: bool) -> Array:
        """All numbers of θ."""
        return flatten(numbers_of(state.t))

    def t_of(self, draw: Array) -> Dynamics:
        """θ of a sample."""
        return t_at(*unflatten(numbers_of(self.blank), draw))

    @property
    def watches(self) -> str:
        """What no rotation of the states changes."""
        return "log joint, noise, and size of the loadings"

    def watched(self, draws: Array) -> Array:
        """Log noise of the outputs, and the log of Σ c² of each."""
        found = []
        for draw in draws:
            t, u = self.t_of(draw), self.shape.n_inputs
            size = np.square(t.loadings.first[:, 1 + u :]).sum(1)
            found.append(np.concatenate([t.noise.total, np.log(size + 1e-300)]))
        return np.array(found)

    def finish_draws(self, draws: Array, best: int) -> FittedDynamics:
        """Samples, of which the likeliest is shown."""
        points = [self.state_space(self.t_of(draw)) for draw in draws]
        samples = StateSpace(*(np.stack(part) for part in zip(*points, strict=True)))
        return FittedDynamics(points[best], self.n_free, samples=samples)

    def average(self, draws: Array) -> Dynamics:
        """Not asked for: states of different samples have different coordinates."""
        raise NotImplementedError
