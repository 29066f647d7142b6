"""Hidden Markov models: a chain of hidden states behind each sequence of rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.threads import ordered_map
from jensen.data.units import Units
from jensen.families.dirichlet import dirichlet
from jensen.families.masked import MaskedDirichlet
from jensen.fields import add, record, without_cached
from jensen.hidden_states.records import Chain
from jensen.models.emissions import Emission
from jensen.models.emissions.held_parts import hold_parts
from jensen.models.mixture import (
    UNIT_ROWS,
    emission_point,
    hold,
    log_mean,
    modes,
    unit_size,
    without,
)
from jensen.models.protocol import Data
from jensen.models.state_model import StateModel
from jensen.models.state_starts import start_stats
from jensen.q_hidden import Hidden

if TYPE_CHECKING:
    from jensen.inference.chains import FittedChain

Array = NDArray[np.float64]


@record
class Chained(NamedTuple):
    """Parameters of a chain; as η, as t and as statistics."""

    initial: Any  # (K,)
    transition: Any  # (K, K), or (K, K + 1) where the last column is the end
    emission: Any


class Sequences(NamedTuple):
    """A unit: the encoded rows of some whole sequences, one sequence after the other."""

    rows: Any
    ptr: NDArray[np.int64]  # (S + 1,)
    weight: Array  # (S,)


@dataclass(frozen=True, eq=False)
class HiddenMarkov(StateModel):
    """First states, transitions, and what each state makes of a row."""

    emission: Emission
    initial_prior: Array | None  # (K,), η₀
    transition_prior: Array | None  # (K, K), or (K, K + 1)
    n_states: int
    has_end: bool = False
    held: dict[str, Any] = field(default_factory=dict)  # field → t at which it stays
    masks: dict[str, NDArray[np.bool_]] = field(default_factory=dict)  # field → what may be
    may_relabel: bool = False  # whether the labels of states have no meaning
    noun: str = "state"

    __getstate__ = without_cached

    def fitted(self, t: Any, counts: Array, eta: Any = None, **more: Any) -> "FittedChain":
        """What was learned: this model at these parameters."""
        from jensen.inference.chains import FittedChain  # which asks models what they are

        return FittedChain(self, t, counts, eta, **more)

    @property
    def prior(self) -> Chained:
        """η₀."""
        prior = Chained(self.initial_prior, self.transition_prior, self.emission.prior)
        return without(self.held, prior)

    @cached_property
    def families(self) -> Chained:
        """Dirichlets, and the family of the emission."""
        masked = {name: MaskedDirichlet(mask) for name, mask in self.masks.items()}
        initial, transition = (masked.get(name, dirichlet) for name in ("initial", "transition"))
        return hold(self.held, Chained(initial, transition, self.emission.family))

    @property
    def blank(self) -> Chained:
        """Zeros."""
        K = self.n_states
        return Chained(np.zeros(K), np.zeros((K, K + self.has_end)), self.emission.blank)

    def potentials(self, t: Chained) -> Callable[[Sequences], Chain]:
        """Log tables of the chain, and the rows at this θ."""
        observe = self.emission.observe
        return lambda unit: self.chain(t, observe(t.emission, unit.rows), unit)

    def chain(self, t: Chained, observed: Any, unit: Sequences) -> Chain:
        """The same for rows that are looked at already."""
        K = self.n_states
        log_trans = np.ascontiguousarray(t.transition[:, :K])
        log_end = np.ascontiguousarray(t.transition[:, K]) if self.has_end else np.zeros(K)
        return Chain(t.initial, log_trans, log_end, observed, unit.ptr, unit.weight)

    def expected_stats(self, unit: Sequences, hidden: Hidden) -> Chained:
        """Counts of first states and transitions, and the statistics of the rows."""
        first, pairs, last, observed = hidden.moments
        both = np.concatenate([pairs, last[:, None]], axis=1) if self.has_end else pairs
        return Chained(first, both, observed)

    def select(self, record: Chained, states: NDArray[np.intp]) -> Chained:
        """An η or t of these states only, in this order; shares of a t are not made to sum to 1."""
        columns = np.append(states, self.n_states) if self.has_end else states
        transition = record.transition[np.ix_(states, columns)]
        emission = self.emission.select(record.emission, states)
        return Chained(record.initial[states], transition, emission)

    def point(self, eta: Chained) -> Chained:
        """The one θ that is shown for a posterior."""
        initial, transition, _ = self.families
        emission = emission_point(self, eta.emission)
        return Chained(
            log_mean(initial, eta.initial), log_mean(transition, eta.transition), emission
        )

    def state_counts(self, stats: Chained) -> Array:
        """How often each state was visited."""
        return np.asarray(stats.initial + stats.transition[:, : self.n_states].sum(0))

    def holding(self, start: Chained, names: tuple[str, ...]) -> "HiddenMarkov":
        """The same, with some fields, or parts of the emission, held at the mode of a start."""
        emission, names = hold_parts(self.emission, start.emission, names, "emission")
        return replace(self, emission=emission, held=modes(self.families, start, names))

    def start(self, data: Data, k: int, rng: np.random.Generator) -> Chained:
        """Prior plus statistics, as if every sequence had been seen once."""
        values, weight, lengths, _ = data.rows
        K, families = self.n_states, self.families
        by_row, near = np.repeat(weight, lengths), k % 2 == 0
        counts, rows = start_stats(self.emission, K, values, by_row, near, rng)
        initial = _shares(families.initial, (K,), rng) * weight.sum()
        transition = _shares(families.transition, (K, K + self.has_end), rng) * counts[:, None]
        stats = Chained(initial, transition, _inside(self.emission, rows))
        return Chained(*add(self.prior, stats))

    def encode(self, values: Array, lengths: NDArray[np.int64], weight: Array) -> Units:
        """Sequences as units: short ones together, a long one alone."""
        ptr = np.concatenate([[0], np.cumsum(lengths)])

        def unit(sequences: tuple[int, int]) -> Sequences:
            a, b = sequences
            return self.encode_some(values, ptr[a : b + 1], weight[a:b])

        units = tuple(ordered_map(unit, groups(lengths)))
        nothing_hidden = self.n_states == 1 and not np.isnan(values).any()
        return Units(units, float(lengths @ weight), is_complete=nothing_hidden)

    def encode_some(self, values: Array, ptr: NDArray[np.int64], weight: Array) -> Sequences:
        """One unit, of the sequences that begin and end at these rows."""
        return Sequences(self.emission.encode(values[ptr[0] : ptr[-1]]), ptr - ptr[0], weight)


def _shares(family: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Rows halfway between uniform and random, 0 where they must be."""
    share = 0.5 / shape[-1] + 0.5 * rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    return family.share(share) if isinstance(family, MaskedDirichlet) else np.asarray(share)


def _inside(emission: Any, stats: Any) -> Any:
    """Counts of labels that a state may not have are taken away."""
    mask = getattr(emission, "mask", None)
    return stats if mask is None else np.where(mask, stats, 0.0)


def groups(lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Neighbouring sequences that make up a unit: where they begin and end."""
    if not len(lengths):
        return []
    ends = np.cumsum(lengths)
    unit_of = (ends - 0.5 * lengths) // unit_size(int(ends[-1]), UNIT_ROWS)  # by their middles
    cuts = np.flatnonzero(np.diff(unit_of)) + 1
    return list(pairwise([0, *cuts.tolist(), len(lengths)]))
