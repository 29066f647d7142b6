"""What mixtures and hidden Markov models share: the model with K states, and its fitted parameters.

Questions are answered by `jensen.inference.mixtures.FittedMixture` and
`jensen.inference.chains.FittedChain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.data.number_rows import NumberRows
from jensen.exceptions import ImpossibleError, ImpossibleSequenceError, JensenError
from jensen.models.protocol import Conjugate, Data
from jensen.models.state_labels import (
    by_falling_count,
    find_twins,
    is_symmetric,
    live_states,
    matched_orders,
)
from jensen.q_theta import read_mode
from jensen.support.fields import add, leaves, rebuild
from jensen.support.text import many

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedStates:
    """A model and its parameters."""

    model: Any  # a Mixture or a HiddenMarkov
    t: Any  # the θ that is shown
    counts: Array  # (K,): expected counts of states
    eta: Any = None  # the posterior, if there is one
    samples: Array | None = None  # (S, width): draws of t, flat
    prior: Any = None  # η₀, to which a posterior and its bound belong
    is_symmetric: bool = False  # whether nothing tells the states apart but what they have made

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are; what is held, or a mask leaves out, is none."""
        raise NotImplementedError

    @property
    def has_posterior(self) -> bool:
        """After VB."""
        return self.eta is not None

    @property
    def n_samples(self) -> int | None:
        """After Gibbs."""
        return None if self.samples is None else len(self.samples)

    def to_dict(self) -> dict[str, Any]:
        """All that is known as plain data, as it stands in a file."""
        from jensen.inference.states_file import plain_fitted

        return plain_fitted(self)

    def draws(self) -> Iterator[Any]:
        """Every sample of t as a record."""
        assert self.samples is not None
        for flat in self.samples:
            yield unflatten(self.model.blank, flat)


def flatten(t: Any) -> Array:
    """All numbers of a record, one after the other."""
    return np.concatenate([np.ravel(leaf) for leaf in leaves(t)])


def unflatten(like: Any, flat: Array) -> Any:
    """The record that `flatten` made flat."""
    parts = leaves(like)
    ends = np.cumsum([part.size for part in parts])
    pieces = np.split(flat, ends[:-1])
    return rebuild(like, (x.reshape(part.shape) for x, part in zip(pieces, parts, strict=True)))


SMALL = 0.5
"""Of an even share of the rows: states that have less are tried without, if all states live."""
TRIED = 5
"""The smallest states that are tried in a round."""


class StateRows(NamedTuple):
    """What states begin from: rows, or the rows of sequences."""

    rows: NumberRows  # of sequences each as heavy as its sequence
    lengths: NDArray[np.int64] | None = None  # (S,)
    weight: Array | None = None  # (S,)
    sequences: NDArray[np.intp] | None = None  # which of the caller's each sequence is


class StateModel(Conjugate):
    """A model with K hidden states, each of which makes a row as the emission says."""

    n_states: int
    emission: Any
    may_relabel: bool  # whether the caller gave the labels no meaning
    noun: str  # what people call a state

    def potentials(self, t: Any) -> Callable[[Any], Any]:
        """The states of a unit at this θ."""
        raise NotImplementedError

    def expected_stats(self, unit: Any, hidden: q_hidden.Hidden) -> Any:
        """Counts of states, and the statistics of their rows."""
        raise NotImplementedError

    def select(self, record: Any, states: NDArray[np.intp]) -> Any:
        """An η or t of these states only, in this order."""
        raise NotImplementedError

    def state_counts(self, stats: Any) -> Array:
        """How often each state occurs."""
        raise NotImplementedError

    @property
    def blank(self) -> Any:
        """An η of zeros: its shape."""
        raise NotImplementedError

    def point(self, eta: Any) -> Any:
        """The one θ that is shown for a posterior."""
        raise NotImplementedError

    def fitted(self, t: Any, counts: Array, eta: Any = None, **more: Any) -> FittedStates:
        """What was learned: this model at these parameters."""
        raise NotImplementedError

    @property
    def is_symmetric(self) -> bool:
        """Whether nothing tells states apart, a prior neither."""
        return self.may_relabel and is_symmetric(self)

    def trials(self, state: State) -> Iterator[Any]:
        """Without each of the small states: coordinate ascent never empties one that has rows.

        Only where F is a bound, and nothing tells states apart: then rows find other states. While
        all states live, only those far below an even share are tried; once one has died there are
        more states than it takes, and any other may be surplus too.
        """
        counts = self.state_counts(state.stats)
        live = np.flatnonzero(live_states(counts))
        small = live
        if len(live) == len(counts):
            small = live[counts[live] < SMALL * counts.sum() / len(counts)]
        if state.is_bound and len(live) > 1 and len(small) and self.is_symmetric:
            for k in small[np.argsort(counts[small], kind="stable")][:TRIED]:
                yield add(self.prior, self._forget(state.stats, int(k)))

    def _forget(self, stats: Any, k: int) -> Any:
        """Statistics without those of state k; what states share stays."""
        alone = leaves(self.select(stats, np.array([0])))
        parts = []
        for whole, one in zip(leaves(stats), alone, strict=True):
            part = np.array(whole)
            for axis, (several, single) in enumerate(zip(part.shape, one.shape, strict=True)):
                if several != single:  # an axis of states: the other sizes are not selected from
                    np.moveaxis(part, axis, 0)[k] = 0.0
            parts.append(part)
        return rebuild(stats, iter(parts))

    def refuse_start(self, start: Any, stats: Any, method: str) -> None:
        """Refuse a start with two equal states, which would be equal at the end too."""
        found = find_twins(self, start, self.state_counts(stats))
        if found is not None:
            raise JensenError(
                f"start= gives {many(self.noun)} {found[0]} and {found[1]} the same parameters, "
                f"and {method!r} would never part them: make them differ a little, take one of "
                f"them away, or leave out start="
            )

    def explain(self, data: Data, t: Any) -> Exception:
        """Which sequence is impossible."""
        if data.rows.sequences is not None:
            at = self.potentials(t)
            each = [q_hidden.exact(at(unit)).value for unit in data.units.each()]
            impossible = np.flatnonzero(np.concatenate(each) == -np.inf)
            if len(impossible):
                return ImpossibleSequenceError(
                    data.rows.sequences[impossible[0]],
                    "Correct it, or the zeros of start= and masks=",
                )
        return ImpossibleError("a row has probability 0 under the parameters of start=")

    def finish(self, state: State, *, is_posterior: bool) -> FittedStates:
        """What an ascent found, states in a stable order."""
        eta, counts, symmetric = state.eta, self.state_counts(state.stats), self.is_symmetric
        if symmetric:
            order = by_falling_count(counts)
            eta, counts = self.select(eta, order), counts[order]
        if is_posterior:
            prior, t = add(self.prior, self.blank), self.point(eta)
            return self.fitted(t, counts, eta, prior=prior, is_symmetric=symmetric)
        return self.fitted(read_mode(self.families, eta), counts, is_symmetric=symmetric)

    # --- chains: θ, then what the states have made, by which they are labelled alike ---

    def keep(self, state: State, *, is_mode: bool) -> Array:
        """η for averages or else t, and the statistics."""
        return np.concatenate([flatten(state.eta if is_mode else state.t), flatten(state.stats)])

    def settle(self, draws: Array, best: int) -> Array:
        """Draws with the same labels throughout, by falling counts."""
        if not self.is_symmetric:
            return draws
        like = self.blank
        pairs = [tuple(unflatten(like, half) for half in np.split(row, 2)) for row in draws]
        orders = matched_orders(self, [stats for _, stats in pairs], best)
        turned = [
            [flatten(self.select(part, order)) for part in pair]
            for pair, order in zip(pairs, orders, strict=True)
        ]
        return np.array(turned).reshape(draws.shape)

    @property
    def kept_width(self) -> int:
        """θ and the statistics have the same shape."""
        return 2 * len(flatten(self.blank))

    @property
    def watches(self) -> str:
        """How many rows each state has."""
        return f"sizes of {many(self.noun)}"

    def watched(self, draws: Array) -> Array:
        """Sizes of states in falling order, so that labels do not matter.

        The log joint alone may be the same in chains that found different states.
        """
        return -np.sort(-self._sizes(draws), axis=1)

    def average(self, draws: Array) -> Any:
        """Mean η."""
        return unflatten(self.blank, np.split(draws.mean(0), 2)[0])

    def finish_draws(self, draws: Array, best: int) -> FittedStates:
        """All samples; the likeliest is shown."""
        samples = np.ascontiguousarray(np.split(draws, 2, axis=1)[0])
        t, counts = unflatten(self.blank, samples[best]), self._sizes(draws).mean(0)
        return self.fitted(t, counts, samples=samples, is_symmetric=self.is_symmetric)

    def _sizes(self, draws: Array) -> Array:
        """(S, K): how often each state occurs in each draw."""
        made = np.split(draws, 2, axis=1)[1]
        return np.array([self.state_counts(unflatten(self.blank, row)) for row in made])
