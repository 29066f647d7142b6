"""What mixtures and hidden Markov models share: the model with K states, and its fitted parameters.

Questions are answered by `jensen.inference.mixtures.FittedMixture` and
`jensen.inference.chains.FittedChain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.data.blocks import segments
from jensen.data.number_rows import NumberRows
from jensen.exceptions import ImpossibleError, ImpossibleSequenceError, JensenError
from jensen.families.point_mass import PointMass
from jensen.models.emissions import Emission
from jensen.models.protocol import Conjugate, Data, Record, Unit
from jensen.models.state_labels import (
    find_twins,
    live_states,
    matched_orders,
)
from jensen.q_theta import read_mode
from jensen.support.fields import add, leaves, rebuild
from jensen.support.text import many

if TYPE_CHECKING:
    from jensen.free_energy import State
    from jensen.inference.mixtures import FittedStates

Array = NDArray[np.float64]


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


class StateModel(Conjugate[Record], Generic[Record, Unit]):
    """A model with K hidden states, each of which makes a row as the emission says."""

    n_states: int
    emission: Any
    may_relabel: bool  # whether the caller gave the labels no meaning
    noun: str  # what people call a state
    held: dict[str, Any]  # field → t at which it stays

    def potentials(self, t: Record) -> Callable[[Unit], Any]:
        """The states of a unit at this θ."""
        raise NotImplementedError

    def expected_stats(self, unit: Unit, hidden: q_hidden.Hidden) -> Record:
        """Counts of states, and the statistics of their rows."""
        raise NotImplementedError

    def select(self, record: Record, states: NDArray[np.intp]) -> Record:
        """An η or t of these states only, in this order."""
        raise NotImplementedError

    def state_counts(self, stats: Record) -> Array:
        """How often each state occurs."""
        raise NotImplementedError

    @property
    def blank(self) -> Record:
        """An η of zeros: its shape."""
        raise NotImplementedError

    def point(self, eta: Record) -> Record:
        """The one θ that is shown for a posterior."""
        raise NotImplementedError

    def fitted(
        self, t: Record, counts: Array, eta: Record | None = None, **more: Any
    ) -> FittedStates:
        """What was learned: this model at these parameters."""
        raise NotImplementedError

    @property
    def is_symmetric(self) -> bool:
        """Whether nothing tells states apart, a prior neither: labels mean nothing then."""
        return self.may_relabel and self.has_symmetric_prior

    @property
    def has_symmetric_prior(self) -> bool:
        """Whether the prior says the same of all states."""
        states = np.arange(self.n_states)
        turns = np.roll(states, 1), np.append(states[1::-1], states[2:])
        return all(map(self.has_same_prior, turns))

    def has_same_prior(self, order: NDArray[np.intp]) -> bool:
        """Whether the prior says of the states in this order what it says of them as they are."""
        prior = add(self.prior, self.blank)
        pairs = zip(leaves(prior), leaves(self.select(prior, order)), strict=True)
        return all(np.array_equal(a, b) for a, b in pairs)

    def trials(self, state: State[Record, Record]) -> Iterator[Record]:
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

    def _forget(self, stats: Record, k: int) -> Record:
        """Statistics without those of state k; what states share stays."""
        alone = leaves(self.select(stats, np.array([0])))
        parts = []
        for whole, one in zip(leaves(stats), alone, strict=True):
            part = np.array(whole)
            for axis, (several, single) in enumerate(zip(part.shape, one.shape, strict=True)):
                if several != single:  # an axis of states: the other sizes are not selected from
                    np.moveaxis(part, axis, 0)[k] = 0.0
            parts.append(part)
        found: Record = rebuild(stats, iter(parts))
        return found

    def refuse_start(self, start: Record, stats: Record, method: str) -> None:
        """Refuse a start with two equal states, which would be equal at the end too."""
        found = find_twins(self, start, self.state_counts(stats))
        if found is not None:
            raise JensenError(
                f"start= gives {many(self.noun)} {found[0]} and {found[1]} the same parameters, "
                f"and {method!r} would never part them: make them differ a little, take one of "
                f"them away, or leave out start="
            )

    def explain(self, data: Data[StateRows], t: Record) -> Exception:
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

    def finish(self, state: State[Record, Record], *, is_posterior: bool) -> FittedStates:
        """What an ascent found, states in a stable order."""
        eta, counts, symmetric = state.eta, self.state_counts(state.stats), self.is_symmetric
        if symmetric:
            order = np.argsort(-counts, kind="stable")
            eta, counts = self.select(eta, order), counts[order]
        if is_posterior:
            prior, t = add(self.prior, self.blank), self.point(eta)
            return self.fitted(t, counts, eta, prior=prior, is_symmetric=symmetric)
        return self.fitted(read_mode(self.families, eta), counts, is_symmetric=symmetric)

    # --- chains: θ, then what the states have made, by which they are labelled alike ---

    def keep(self, state: State[Record, Record], *, is_mode: bool) -> Array:
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

    def average(self, draws: Array) -> Record:
        """Mean η."""
        mean: Record = unflatten(self.blank, np.split(draws.mean(0), 2)[0])
        return mean

    def finish_draws(self, draws: Array, best: int) -> FittedStates:
        """All samples; the likeliest is shown."""
        samples = np.ascontiguousarray(np.split(draws, 2, axis=1)[0])
        t, counts = unflatten(self.blank, samples[best]), self._sizes(draws).mean(0)
        return self.fitted(t, counts, samples=samples, is_symmetric=self.is_symmetric)

    def _sizes(self, draws: Array) -> Array:
        """(S, K): how often each state occurs in each draw."""
        made = np.split(draws, 2, axis=1)[1]
        return np.array([self.state_counts(unflatten(self.blank, row)) for row in made])


# --- what is held ---


def emission_point(model: StateModel[Record, Unit], eta: Any) -> Any:
    """The one θ of an emission that is shown, or that at which it is held."""
    held = model.families[-1]
    return held.t if isinstance(held, PointMass) else model.emission.point(eta)


def log_mean(family: Any, eta: Any) -> Array:
    """Log of the expected probabilities of Dirichlets, or of those that are held."""
    if isinstance(family, PointMass):
        return np.asarray(family.t)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(family.mean(eta)))


def modes(families: Any, eta: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The value of t at the mode of some fields."""
    return {name: getattr(families, name).mode_stats(getattr(eta, name)) for name in names}


def hold(held: dict[str, Any], families: Record) -> Record:
    """Families with those of parameters that are held replaced."""
    return families._replace(**{name: PointMass(t) for name, t in held.items()})


def without(held: dict[str, Any], prior: Record) -> Record:
    """What is held needs no prior."""
    return prior._replace(**dict.fromkeys(held))


LOOKED_AT = 20_000
"""So many rows, drawn at random, are enough to start from."""
STEPS = 50
"""Of k-means; most starts have settled by then."""
CELLS = 8
SURE, MIXED = 0.99, 0.9
"""The share of a row by its centre, or by chance; the rest keeps every state from collapsing."""


def start_stats(
    emission: Emission, K: int, data: NumberRows, near: bool, rng: np.random.Generator
) -> tuple[Array, Any]:
    """Counts of states (K,) and statistics of rows to start from, near centres or at random.

    Identical states would stay identical for ever. A start near centres gives each state the rows
    around one of K centres, chosen by the greedy k-means++ (Arthur and Vassilvitskii 2007, section
    6) and moved by k-means. The other kind shares out many small cells of rows at random, and is
    the only one where distances say nothing, as between the labels of one column.
    """
    some = np.arange(data.n_rows)
    if len(some) > LOOKED_AT:
        some = np.sort(rng.choice(len(some), LOOKED_AT, replace=False))
    rows, share = distinct_rows(*data.take(some))
    found = emission.survey(rows)
    points = np.ascontiguousarray(found.points.T)
    near = near and found.has_distances
    nodes = (near_centres if near else _random_cells)(points, share, K, rng)
    sure = SURE if near else MIXED
    nodes = (sure * nodes + (1.0 - sure) / K) * (share * data.total_weight / share.sum())
    return nodes.sum(1), _stats(emission, found.wide, rows, nodes)


def distinct_rows(rows: Array, weight: Array) -> tuple[Array, Array]:
    """Rows that differ, in an order of their own, with their weights.

    So a start depends neither on the order of rows nor on whether one of them counts twice or is
    there twice.
    """
    order = np.lexsort(rows.T)
    rows, weight = rows[order], weight[order]
    above, below = rows[:-1], rows[1:]
    same = (above == below) | (np.isnan(above) & np.isnan(below))
    first = np.flatnonzero(np.concatenate([[True], ~same.all(1)]))
    return rows[first], np.add.reduceat(weight, first)


def _stats(emission: Emission, eta: Any, rows: Array, nodes: Array) -> Any:
    """Statistics of rows that are shared out; what is missing is completed at the mode of η."""
    t = emission.family.mode_stats(eta)
    observed = emission.observe(t, emission.encode(rows))
    parts = [
        observed.stats(start, stop, np.ascontiguousarray(nodes[:, start:stop]))
        for start, stop in segments(len(rows), len(nodes))
    ]
    pairs = zip(leaves(reduce(add, parts)), leaves(t), strict=True)
    possible = (np.where(at == -np.inf, 0.0, own) for own, at in pairs)  # masked: never counted
    return rebuild(t, possible)


def near_centres(points: Array, weight: Array, K: int, rng: np.random.Generator) -> Array:
    """(K, n): 1 for the state whose centre is nearest."""
    centres = _spread_centres(points, weight, K, 2 + int(np.log(K)), rng)
    for _ in range(STEPS):
        moved = _means(points, weight, _nearest(points, centres), centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return np.eye(K)[_nearest(points, centres)].T


def _random_cells(points: Array, weight: Array, K: int, rng: np.random.Generator) -> Array:
    """(K, n): random shares, the same for all rows of a cell."""
    n_cells = min(CELLS * K, points.shape[1])
    own = _nearest(points, _spread_centres(points, weight, n_cells, 1, rng))
    return rng.dirichlet(np.ones(K), n_cells)[own].T


def _spread_centres(
    points: Array, weight: Array, n: int, tries: int, rng: np.random.Generator
) -> Array:
    """(n, D): rows drawn one after the other, by their squared distance from those drawn before.

    Of so many that are tried for each, the one is kept which leaves all rows nearest to centres.
    """
    centres = np.empty((n, len(points)))
    nearness = np.full(points.shape[1], -np.inf)
    for k in range(n):
        farness = weight if k == 0 else -nearness * weight
        tried = [_draw(farness, rng) for _ in range(tries if k else 1)]
        rows = np.ascontiguousarray(points[:, tried].T)
        found = np.maximum(nearness, _nearness(points, rows, slice(None)))
        best = int(np.argmax(found @ weight))
        centres[k], nearness = rows[best], found[best]
    return centres


def _draw(weight: Array, rng: np.random.Generator) -> int:
    below = np.cumsum(weight)
    if not below[-1] > 0.0:  # fewer different rows than centres
        return int(rng.integers(len(weight)))
    return int(np.searchsorted(below / below[-1], rng.random(), side="right"))


def _means(points: Array, weight: Array, own: NDArray[np.intp], centres: Array) -> Array:
    """Of the points that belong to each centre; one without any stays."""
    K = len(centres)
    total = np.bincount(own, weight, K)
    sums = np.stack([np.bincount(own, weight * values, K) for values in points], axis=1)
    means = np.divide(sums, total[:, None], out=centres.copy(), where=total[:, None] > 0.0)
    return np.asarray(means)


def _nearest(points: Array, centres: Array) -> NDArray[np.intp]:
    """(n,): which centre is nearest, the first of equals."""
    own = np.empty(points.shape[1], np.intp)
    for start, stop in segments(points.shape[1], len(centres)):
        own[start:stop] = _nearness(points, centres, slice(start, stop)).argmax(0)
    return own


def _nearness(points: Array, centres: Array, some: slice) -> Array:
    """(centres, points): minus half the squared distances of some points."""
    from jensen.kernels.columns import add_diagonal

    start, stop, _ = some.indices(points.shape[1])
    out, ones = np.zeros((len(centres), stop - start)), np.ones_like(centres)
    add_diagonal(points, start, stop, centres, ones, np.zeros_like(centres), out)
    return out
