"""Hidden Markov models: a chain of hidden states behind each sequence of rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberBlock, NumberRows
from jensen.families.dirichlet import MaskedDirichlet, dirichlet
from jensen.families.tied import select_states
from jensen.models.emissions import Emission
from jensen.models.emissions.derived import hold_parts
from jensen.models.mixture import UNIT_ROWS
from jensen.models.protocol import Data
from jensen.models.state_model import (
    StateModel,
    StateRows,
    emission_point,
    hold,
    log_mean,
    modes,
    start_stats,
    without,
)
from jensen.q_hidden import Hidden
from jensen.q_hidden.structures import Chain, SeenSteps
from jensen.support.fields import add, record, without_cached

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
    blank: NDArray[np.bool_] | None = None  # (rows,): steps that show nothing; None: there is none

    @classmethod
    def of(cls, emission: Emission, values: Array, ptr: NDArray[np.int64], weight: Array) -> Self:
        """Encode the rows of some sequences."""
        blank = np.asarray(np.isnan(values).all(1))
        return cls(emission.encode(values), ptr, weight, blank if blank.any() else None)


@dataclass(frozen=True, eq=False)
class HiddenMarkov(StateModel[Chained, Sequences]):
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

    def fitted(
        self, t: Chained, counts: Array, eta: Chained | None = None, **more: Any
    ) -> "FittedChain":
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
        if unit.blank is not None:
            observed = SeenSteps(observed, unit.blank)
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
        emission = select_states(record.emission, states)
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

    def simulate(
        self, t: Chained, n: int | None, rng: np.random.Generator
    ) -> tuple[Array, NDArray[np.intp]]:
        """Rows (T, D) and states of one sequence, of n steps or until it ends by itself."""
        initial, transition = np.exp(t.initial), np.exp(t.transition)
        states = [_pick(initial, rng)]
        while n is None or len(states) < n:
            state = _pick(transition[states[-1]], rng)
            if state == self.n_states:
                break
            states.append(state)
        path = np.array(states, np.intp)
        return self.emission.simulate(t.emission, path, rng), path

    def holding(self, start: Chained, names: tuple[str, ...]) -> "HiddenMarkov":
        """The same, with some fields, or parts of the emission, held at the mode of a start."""
        emission, names = hold_parts(self.emission, start.emission, names, "emission")
        return replace(self, emission=emission, held=modes(self.families, start, names))

    def start(self, data: Data[StateRows], k: int, rng: np.random.Generator) -> Chained:
        """Prior plus statistics, as if every sequence had been seen once."""
        rows_of, weight = data.rows.rows, data.rows.weight
        assert weight is not None, "sequences have weights"
        K, families = self.n_states, self.families
        counts, rows = start_stats(self.emission, K, rows_of, k % 2 == 0, rng)
        initial = _shares(families.initial, (K,), rng) * weight.sum()
        transition = _shares(families.transition, (K, K + self.has_end), rng) * counts[:, None]
        stats = Chained(initial, transition, rows)
        return Chained(*add(self.prior, stats))

    def encode(self, rows: NumberRows, lengths: NDArray[np.int64], weight: Array) -> Units:
        """Sequences as units: some short ones together, a long one alone."""
        ends = np.cumsum(lengths)

        def unit(block: NumberBlock) -> Sequences:
            a, b = np.searchsorted(ends, [block.start, block.start + len(block.weight)], "right")
            ptr = np.append(0, ends[a:b] - block.start)
            return Sequences.of(self.emission, block.values, ptr, weight[a:b])

        last = np.array([b - 1 for _, b in groups(lengths)], np.int64)
        return rows.units(
            unit,
            lambda: rows.cut(ends[last]),
            total_weight=float(lengths @ weight),
            is_complete=self.n_states == 1 and not rows.has_gaps,
        )

    def encode_some(self, values: Array, ptr: NDArray[np.int64], weight: Array) -> Sequences:
        """One unit, of the sequences that begin and end at these rows."""
        return Sequences.of(self.emission, values[ptr[0] : ptr[-1]], ptr - ptr[0], weight)


def _pick(share: Array, rng: np.random.Generator) -> int:
    """One of the states, by their shares."""
    below = np.cumsum(share)
    return int(min(np.searchsorted(below, rng.random() * below[-1], side="right"), len(share) - 1))


def _shares(family: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Rows halfway between uniform and random, 0 where they must be."""
    share = 0.5 / shape[-1] + 0.5 * rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    return family.share(share) if isinstance(family, MaskedDirichlet) else np.asarray(share)


def groups(lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Neighbouring sequences that make up a unit: where they begin and end.

    A unit ends with the first sequence that ends after so many rows, so that nothing depends on
    what comes later.
    """
    found, start, before, ends = [], 0, 0, np.cumsum(lengths)
    while start < len(lengths):
        stop = min(int(np.searchsorted(ends, before + UNIT_ROWS)) + 1, len(lengths))
        found.append((start, stop))
        start, before = stop, int(ends[stop - 1])
    return found
