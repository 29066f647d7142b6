"""Linear dynamical systems: what their learners share, and the most likely parameters.

A unit holds whole sequences. Inputs stand among the columns, after the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberBlock, NumberRows
from jensen.exceptions import DataError
from jensen.families.linear_block import LinearBlock, StartBlock
from jensen.inference.dynamics import FittedDynamics
from jensen.models.dynamics_starts import begin
from jensen.models.hidden_markov import groups
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import Hidden
from jensen.q_hidden.chain_forms import filling_of, is_regular, moves_of, outputs_of
from jensen.q_hidden.gaussian_chain import GaussianChain, SeriesRows, SeriesSums, StartSums
from jensen.q_hidden.known_chain import KnownChain, StateSpace, simulate

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


CREEPING = 1e6
"""Times its bound: a variance below may be on the way to it."""


@dataclass(frozen=True, eq=False)
class SeriesShape:
    """Outputs, inputs and states, and what is held: parameters in which NaN is learned."""

    fixed: StateSpace
    is_isotropic: bool = False
    shift: Array | float = 0.0  # (D,): outputs are taken relative to it, in units of `scale`
    scale: Array | float = 1.0

    @property
    def n_states(self) -> int:
        """K."""
        return len(self.fixed.transition)

    @property
    def n_outputs(self) -> int:
        """D."""
        return len(self.fixed.offset)

    @property
    def n_inputs(self) -> int:
        """U."""
        return int(self.fixed.input_transition.shape[1])

    def unit(self, block: NumberBlock, ptr: Ints, weight: Array) -> SeriesRows:
        """Whole sequences of rows that hold outputs and then inputs."""
        D = self.n_outputs
        inputs = block.values[:, D:] if self.n_inputs else None
        outputs = (block.values[:, :D] - self.shift) / self.scale
        return SeriesRows.of(outputs, inputs, ptr, weight)

    def encode(self, rows: NumberRows, lengths: Ints, weight: Array) -> Units:
        """Sequences as units: some short ones together, a long one alone."""
        ends = np.cumsum(lengths)

        def unit(block: NumberBlock) -> SeriesRows:
            a, b = np.searchsorted(ends, [block.start, block.start + len(block.weight)], "right")
            ptr = np.append(0, ends[a:b] - block.start).astype(np.int64)
            return self.unit(block, ptr, weight[a:b])

        last = np.array([b - 1 for _, b in groups(lengths)], np.int64)
        return rows.units(
            unit,
            lambda: rows.cut(ends[last]),
            total_weight=float(lengths @ weight),
            is_complete=False,
        )


class SeriesModel(Conjugate[Any]):
    """What learners of sequences with Gaussian states share."""

    shape: SeriesShape

    def expected_stats(self, unit: SeriesRows, hidden: Hidden) -> SeriesSums:
        """Sums over steps."""
        stats: SeriesSums = hidden.moments
        return stats

    def state_space(self, t: Any) -> StateSpace:
        """The parameters at this θ, in the units of the columns."""
        raise NotImplementedError

    def explain(self, data: Data[Any], t: Any) -> Exception:
        """Which outputs are impossible at this θ."""
        return DataError(
            "the sequences contradict start= or fixed=: some output has no noise there, and is not "
            "what the states make of it. Give it noise (noise_covariance), or correct the value"
        )

    def simulate(self, t: Any, n: int, rng: np.random.Generator) -> Array:
        """The outputs (n, D) of a sequence whose inputs are 0."""
        ptr = np.array([0, n], np.int64)
        inputs = np.zeros((n, self.shape.n_inputs))
        rows = SeriesRows.of(np.zeros((n, self.shape.n_outputs)), inputs, ptr, np.ones(1))
        return simulate(self.state_space(t), rows, rng)[1]


@dataclass(frozen=True, eq=False)
class PointDynamics(SeriesModel):
    """The most likely parameters; a field is a `LinearBlock`, t its coefficients and covariance."""

    shape: SeriesShape
    least: Array  # (D,): variances of the noise of outputs go no lower

    @cached_property
    def families(self) -> SeriesSums:
        """First states, moves, outputs."""
        fixed = self.shape.fixed
        moves = LinearBlock(fixed.moves, fixed.process_covariance)
        outputs = LinearBlock(
            fixed.outputs, fixed.noise_covariance, self.shape.is_isotropic, self.least
        )
        start = StartBlock(fixed.initial_mean, fixed.initial_covariance)
        return SeriesSums(start, moves, outputs)  # type: ignore[arg-type]

    @property
    def prior(self) -> SeriesSums:
        """Flat."""
        nothing: Any = None
        return SeriesSums(nothing, nothing, nothing)

    @cached_property
    def fills(self) -> bool:
        """Whether noise of outputs depends, so that what a step misses follows from the rest."""
        outputs: Any = self.families.outputs
        return len(outputs.blocks) < self.shape.n_outputs

    def potentials(self, t: SeriesSums) -> Callable[[SeriesRows], GaussianChain | KnownChain]:
        """In information form where all noise has a density."""
        point, fills = self.state_space(t), self.fills
        if not is_regular(point):
            return lambda unit: KnownChain(
                point, unit, filling_of(point, unit.seen) if fills else None
            )
        moves = moves_of(point)

        def at(unit: SeriesRows) -> GaussianChain:
            filling = filling_of(point, unit.seen) if fills else None
            return GaussianChain(moves, outputs_of(point, unit.seen), unit, filling)

        return at

    def state_space(self, t: SeriesSums) -> StateSpace:
        """The parameters at this θ."""
        u = self.shape.n_inputs
        A, C = t.moves.first, t.outputs.first
        return StateSpace(
            A[:, u:], A[:, :u], t.moves.second,
            C[:, 1 + u :], C[:, 1 : 1 + u], C[:, 0], t.outputs.second,
            t.start.first, t.start.second, self.shape.fixed.diffuse,
        )  # fmt: skip

    def around(self, point: StateSpace, weight: float) -> SeriesSums:
        """η whose mode has these parameters where they are learned."""
        families: Any = self.families
        mean, covariance = point.initial_mean, point.initial_covariance
        second = covariance + np.outer(mean, mean)
        start = StartSums(np.asarray(weight), weight * mean, weight * second)
        return SeriesSums(
            start,
            families.moves.around(point.moves, point.process_covariance, weight),
            families.outputs.around(point.outputs, point.noise_covariance, weight),
        )

    def start(self, data: Data[Any], k: int, rng: np.random.Generator) -> SeriesSums:
        """From the axes of the outputs and of what follows them; later ones turned at random."""
        point = begin(self.shape.fixed, data.rows, k, rng)
        return self.around(point, data.units.total_weight)

    def moves(self, state: State[Any, Any]) -> Iterator[SeriesSums]:
        """With the smallest variance of an output at its bound, to which sweeps would creep."""
        variance = np.diagonal(state.t.outputs.second)
        free = np.isnan(np.diagonal(self.shape.fixed.noise_covariance))
        share = np.where(free & (self.least > 0.0), variance / self.least, np.inf)
        d = int(share.argmin())
        if self.fills or self.shape.is_isotropic or not 2.0 < share[d] < CREEPING:
            return
        noise = np.diag(np.where(np.arange(len(variance)) == d, self.least, variance))
        point = self.state_space(state.t)._replace(noise_covariance=noise)
        yield self.around(point, float(state.stats.moves.count) + 1.0)

    def finish(self, state: State[Any, Any], *, is_posterior: bool) -> FittedDynamics:
        """What an ascent found."""
        point = self.state_space(state.t)
        return FittedDynamics(point, self.n_free)

    @cached_property
    def n_free(self) -> int:
        """How many numbers are learned; coordinates of the states are none."""
        fixed, K = self.shape.fixed, self.shape.n_states
        whole = sum(int(np.isnan(x).sum()) for x in (fixed.moves, fixed.outputs))
        whole += int(np.isnan(fixed.initial_mean).sum())
        for covariance in (fixed.process_covariance, fixed.initial_covariance):
            whole += int(np.isnan(np.tril(covariance)).sum())
        noise = int(np.isnan(np.tril(fixed.noise_covariance)).sum())
        whole += min(noise, 1) if self.shape.is_isotropic else noise
        free = np.isnan(fixed.transition).all() and np.isnan(fixed.loadings).all()
        return whole - K * K if free and np.isnan(fixed.process_covariance).all() else whole
