"""Mixtures: one hidden state per row."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberBlock, NumberRows
from jensen.families.dirichlet import dirichlet
from jensen.families.tied import select_states
from jensen.models.emissions import Emission
from jensen.models.emissions.derived import hold_parts
from jensen.models.protocol import Data
from jensen.models.state_model import (
    StateModel,
    StateRows,
    distinct_rows,
    emission_point,
    hold,
    log_mean,
    modes,
    start_stats,
    without,
)
from jensen.q_hidden import Hidden
from jensen.q_hidden.structures import Independent
from jensen.support.fields import add, record, without_cached

if TYPE_CHECKING:
    from jensen.inference.mixtures import FittedMixture

Array = NDArray[np.float64]

UNIT_ROWS = 20_000
"""Rows of one unit; fixed, so that sums depend neither on threads nor on the number of rows.

No power of two: columns of a unit that lie such distances apart push each other out of the cache.
"""


@record
class Mixed(NamedTuple):
    """Parameters of a mixture; as η, as t and as statistics."""

    weights: Any  # (K,)
    components: Any


class MixtureUnit(NamedTuple):
    """A unit: encoded rows."""

    rows: Any
    weight: Array  # (n,)


@dataclass(frozen=True, eq=False)
class Mixture(StateModel[Mixed, MixtureUnit]):
    """Weights of states, and what each makes of a row."""

    emission: Emission
    weights_prior: Array | None  # (K,), η₀
    n_states: int
    held: dict[str, Any] = field(default_factory=dict)  # field → t at which it stays
    may_relabel: bool = False  # whether the labels of states have no meaning
    noun: str = "component"
    always_near: bool = False  # whether all starts are near centres, not every other one

    __getstate__ = without_cached

    def fitted(
        self, t: Mixed, counts: Array, eta: Mixed | None = None, **more: Any
    ) -> "FittedMixture":
        """What was learned: this model at these parameters."""
        from jensen.inference.mixtures import FittedMixture  # which asks models what they are

        return FittedMixture(self, t, counts, eta, **more)

    @property
    def prior(self) -> Mixed:
        """η₀."""
        return without(self.held, Mixed(self.weights_prior, self.emission.prior))

    @cached_property
    def families(self) -> Mixed:
        """A Dirichlet, and the family of the emission."""
        return hold(self.held, Mixed(dirichlet, self.emission.family))

    @property
    def blank(self) -> Mixed:
        """Zeros."""
        return Mixed(np.zeros(self.n_states), self.emission.blank)

    def potentials(self, t: Mixed) -> Callable[[MixtureUnit], Independent]:
        """Log weights, and the rows at this θ."""
        observe = self.emission.observe
        return lambda unit: Independent(t.weights, observe(t.components, unit.rows), unit.weight)

    def expected_stats(self, unit: MixtureUnit, hidden: Hidden) -> Mixed:
        """Counts of states, and the statistics of their rows."""
        return Mixed(hidden.moments.states, hidden.moments.observed)

    def select(self, record: Mixed, states: NDArray[np.intp]) -> Mixed:
        """An η or t of these states only, in this order; shares of a t are not made to sum to 1."""
        weights = record.weights[states]
        return Mixed(weights, select_states(record.components, states))

    def point(self, eta: Mixed) -> Mixed:
        """The one θ that is shown for a posterior."""
        components = emission_point(self, eta.components)
        return Mixed(log_mean(self.families.weights, eta.weights), components)

    def state_counts(self, stats: Mixed) -> Array:
        """How many rows each state has."""
        return np.asarray(stats.weights)

    def simulate(
        self, t: Mixed, n: int, rng: np.random.Generator
    ) -> tuple[Array, NDArray[np.intp]]:
        """Rows (n, D), and the states that made them."""
        states = self.draw_states(t, n, rng)
        return self.emission.simulate(t.components, states, rng), states

    def draw_states(self, t: Mixed, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """(n,): states by their weights."""
        share = np.exp(t.weights)
        return np.asarray(rng.choice(self.n_states, n, p=share / share.sum()))

    def holding(self, start: Mixed, names: tuple[str, ...]) -> "Mixture":
        """The same, with some fields, or parts of the components, held at the mode of a start."""
        emission, names = hold_parts(self.emission, start.components, names, "components")
        return replace(self, emission=emission, held=modes(self.families, start, names))

    def start(self, data: Data[StateRows], k: int, rng: np.random.Generator) -> Mixed:
        """Prior plus statistics of rows that are shared out near centres, or at random."""
        near = self.always_near or k % 2 == 0
        stats = start_stats(self.emission, self.n_states, data.rows.rows, near, rng)
        return Mixed(*add(self.prior, Mixed(*stats)))

    def encode(self, rows: NumberRows, *, all_rows: bool = True) -> Units:
        """Rows as units; within a unit rows that miss the same columns stand together.

        Parameters
        ----------
        all_rows
            Whether rows that show nothing are kept in h. They integrate to one before any bound is
            taken; a mode pays nothing for them, and its sweeps are the textbook's with them.
        """
        return rows.units(
            partial(self._unit, all_rows=all_rows),
            lambda: rows.read(UNIT_ROWS),
            total_weight=rows.total_weight,
            is_complete=self.n_states == 1 and not rows.has_gaps,
        )

    def _unit(self, block: NumberBlock, *, all_rows: bool = True) -> MixtureUnit:
        values, weight = block.values, block.weight
        if getattr(self.emission, "merges_rows", False):
            values, weight = distinct_rows(values, weight)
        missing = np.isnan(values)
        if missing.any():
            order = np.lexsort(missing.T)
            values, weight = values[order], weight[order]
            if not all_rows:
                weight = np.where(missing[order].all(1), 0.0, weight)
        return MixtureUnit(self.emission.encode(values), weight)
