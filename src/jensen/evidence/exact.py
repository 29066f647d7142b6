"""The evidence itself: in closed form, or summed over the completions of what is hidden.

Given completions, log p(x, h | m) = base + A(prior + statistics) - A(prior). Statistics are sums
over rows, so completions are summed row by row, and those with equal statistics are kept once, with
how many they are: of labels there are few different counts among very many completions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.labels import shape_of
from jensen.evidence.network_rows import network_completions
from jensen.evidence.stacked import log_partitions
from jensen.evidence.state_rows import SeenRows
from jensen.exceptions import JensenError, TooLargeError
from jensen.families.dirichlet import MaskedDirichlet
from jensen.families.point_mass import PointMass
from jensen.families.product import Product
from jensen.free_energy import VBEM, state_at, step
from jensen.models.discrete_network import DiscreteNetwork
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixed_network import MixedRegressionNetwork, weights_of
from jensen.models.state_model import StateModel, flatten, unflatten
from jensen.support.fields import add
from jensen.support.text import one_of

Array = NDArray[np.float64]

MOST = 1 << 20
"""So many different statistics are kept at once."""


class Options(NamedTuple):
    """What one row, or one step, may add to the statistics."""

    stats: Array  # (options, P): for each completion
    times: int = 1  # how many such rows there are


class RowCompletions(NamedTuple):
    """All rows and what they may add."""

    rows: list[Options]
    known: Array  # (P,): what is added whatever is hidden
    base: float  # of log p(x, h | θ), beside ⟨statistics, t⟩

    @property
    def log10_number(self) -> float:
        """Of all completions."""
        return float(sum(one.times * log10(len(one.stats)) for one in self.rows))


def exact(asked: EvidenceQuestion) -> float:
    """The log evidence; refused with the number if too many completions have to be summed."""
    model = asked.model
    if asked.units.is_complete:
        return counted(asked)
    if isinstance(model, HiddenMarkov):
        return _sum_chains(asked, model)
    if isinstance(model, StateModel):
        return _sum_rows(model, _mixture_completions(asked, model))
    if isinstance(model, DiscreteNetwork | MixedRegressionNetwork):
        found = [Options(stats, times) for stats, times in network_completions(asked)]
        sums = _network_sums(model, found)
        if isinstance(model, MixedRegressionNetwork):  # and what counts have at all parameters
            sums = sums._replace(base=sums.base + asked.problem.data.rows.counted.base)
        return _sum_rows(model, sums)
    raise JensenError(
        "the exact evidence of regressions with missing numbers has no closed form: use "
        f"{one_of('method', ['vb', 'laplace'])}, or leave out the rows with gaps"
    )


def counted(asked: EvidenceQuestion) -> float:
    """The evidence where nothing is hidden: F of the posterior, which is exact then."""
    model, units = asked.model, asked.units
    start = model.start(asked.problem.data, 0, asked.streams(1)())
    state = step(model, units, VBEM, state_at(model, units, VBEM, start))
    return state.free_energy


def _mixture_completions(asked: EvidenceQuestion, model: Any) -> RowCompletions:
    seen = SeenRows.of_mixture(model, asked)
    rows: list[Options] = []
    base = 0.0
    for unit in range(seen.n_units):
        base += seen.base(unit)
        pairs = zip(seen.each(unit), seen.units[unit].weight, strict=True)
        rows += [Options(own, int(times)) for own, times in pairs]
    return RowCompletions(rows, np.zeros(rows[0].stats.shape[1]), base)


def _network_sums(model: Any, found: list[Options]) -> RowCompletions:
    """Rows with one completion are counted, the others summed."""
    known = np.zeros(len(flatten(shape_of(model))))
    for one in found:
        if len(one.stats) == 1:
            known += one.times * one.stats[0]
    rows = [one for one in found if len(one.stats) > 1]
    base = 0.0
    if isinstance(model, MixedRegressionNetwork):
        base = (
            -0.5
            * np.log(2.0 * np.pi)
            * sum(one.times * _n_numbers(model, one.stats[0]) for one in found)
        )
    return RowCompletions(rows, known, float(base))


def _n_numbers(model: MixedRegressionNetwork, stats: Array) -> float:
    """How many numbers a row shows."""
    record = unflatten(shape_of(model), stats)
    parts = zip(record.regressions, model.layout.is_count, strict=True)
    return float(sum(weights_of(one).sum() for one, is_count in parts if not is_count))


def _sum_rows(model: Any, found: RowCompletions) -> float:
    """The sum over the completions of rows, each by itself."""
    pool = _Pool(found.known, found.log10_number, [one.stats for one in found.rows])
    for row in found.rows:
        for _ in range(row.times):
            pool.extend(row.stats)
    return found.base + pool.total(lambda stats: _log_joint(model, stats))


def _sum_chains(asked: EvidenceQuestion, model: HiddenMarkov) -> float:
    """The sum over the paths of all sequences."""
    seen, K = SeenRows(model, asked.drawn_units), model.n_states
    like = model.blank
    width = len(flatten(like))
    n_initial, n_moves = like.initial.size, like.transition.size
    transition = n_initial + np.arange(n_moves).reshape(like.transition.shape)
    n_steps = sum(len(seen.each(unit)) for unit in range(seen.n_units))
    emissions = [seen.each(unit) for unit in range(seen.n_units)]
    pool = _Pool(np.zeros(width), n_steps * log10(K), emissions)
    base = 0.0
    for unit, stats in enumerate(emissions):
        base += seen.base(unit)
        ptr = seen.units[unit].ptr
        for start, stop in pairwise(ptr.tolist()):
            for i in range(start, stop):
                pool.move(stats[i], transition if i > start else None)
            pool.end(transition[:, K] if model.has_end else None)
    return base + pool.total(lambda stats: _log_joint(model, stats))


def _log_joint(model: Any, stats: Array) -> Array:
    """(M,): A(prior + statistics) - A(prior), and ⟨statistics, t⟩ of what is held.

    It is -inf where a cell was counted that a mask, or what is held, leaves no probability.
    """
    prior = flatten(add(model.prior, shape_of(model)))
    found: Array = log_partitions(model, stats + prior) - log_partitions(model, prior[None])[0]
    at, is_held = _known_theta(model)
    possible = np.where(np.isfinite(at), at, 0.0)
    found += stats[:, is_held] @ possible[is_held]
    found[(stats[:, at == -np.inf] != 0.0).any(1)] = -np.inf
    return found


def _known_theta(model: Any) -> tuple[Array, NDArray[np.bool_]]:
    """(P,): t of what is held, and -inf of what cannot be, else 0; and what is held."""
    parts, held = [], []
    for family, own in zip(model.families, shape_of(model), strict=True):
        size = len(flatten(own))
        is_point = isinstance(family, PointMass)
        parts.append(flatten(family.t) if is_point else _allowed(family, own))
        held.append(np.full(size, is_point))
    return np.concatenate(parts), np.concatenate(held)


def _allowed(family: Any, own: Any) -> Array:
    """0, and -inf outside of masks."""
    if isinstance(family, Product):
        pairs = zip(family.parts, own, strict=True)
        return np.concatenate([_allowed(part, one) for part, one in pairs])
    if isinstance(family, MaskedDirichlet):
        return np.where(family.mask, 0.0, -np.inf).ravel()
    return np.zeros(len(flatten(own)))


class _Pool:
    """Different statistics of completions so far, and the log of how many have them."""

    def __init__(self, known: Array, log10_number: float, options: list[Array]) -> None:
        self.stats = known[None].copy()
        self.log_n = np.zeros(1)
        self.last = np.zeros(1, np.intp)  # of chains: the state of the last step
        self._log10 = log10_number
        self._can_merge = all(np.array_equal(x, np.rint(x)) for x in options)
        if not self._can_merge and log10_number > log10(MOST):
            self._refuse()

    def extend(self, options: Array) -> None:
        """Add one of these (m, P) to all."""
        m = len(options)
        self._check(m)
        self.stats = (self.stats[:, None] + options).reshape(-1, self.stats.shape[1])
        self.log_n = np.repeat(self.log_n, m)
        self.last = np.tile(np.arange(m), len(self.last))
        self._merge(by_last=False)

    def move(self, options: Array, transition: NDArray[np.intp] | None) -> None:
        """One step of a chain: its state, the way to it, and what the state makes of the row."""
        m, before = len(options), self.last
        self._check(m)
        self.stats = (self.stats[:, None] + options).reshape(-1, self.stats.shape[1])
        self.log_n = np.repeat(self.log_n, m)
        self.last = np.tile(np.arange(m), len(before))
        rows = np.arange(len(self.stats))
        places = self.last if transition is None else transition[np.repeat(before, m), self.last]
        self.stats[rows, places] += 1.0
        self._merge(by_last=True)

    def end(self, places: NDArray[np.intp] | None) -> None:
        """The end of a sequence, with the places of stopping."""
        if places is not None:
            self.stats[np.arange(len(self.stats)), places[self.last]] += 1.0
        self._merge(by_last=False)

    def total(self, log_joint: Callable[[Array], Array]) -> float:
        """Log Σ number · exp(log joint)."""
        parts = [self.log_n[a:b] + log_joint(self.stats[a:b]) for a, b in _slices(len(self.stats))]
        return float(logsumexp(np.concatenate(parts)))

    def _check(self, m: int) -> None:
        if len(self.stats) * m > MOST:
            self._refuse()

    def _refuse(self) -> None:
        n = f"10^{self._log10:.0f}" if self._log10 >= 9 else f"{round(10**self._log10):,}"
        raise TooLargeError(
            f"the exact evidence would sum over {n} completions of what is hidden, too many: use "
            f"{one_of('method', ['ais', 'smc'])} for an estimate, or 'vb' for a bound"
        )

    def _merge(self, *, by_last: bool) -> None:
        if not self._can_merge or len(self.stats) == 1:
            return
        keys = self.stats.astype(np.int32)
        if by_last:
            keys = np.column_stack([keys, self.last]).astype(np.int32)
        keys = np.ascontiguousarray(keys[:, keys.min(0) != keys.max(0)])
        if not keys.shape[1]:
            keys = np.zeros((len(self.stats), 1), np.int32)
        whole = keys.view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
        _, first, group = np.unique(whole, return_index=True, return_inverse=True)
        top = self.log_n.max()
        number = np.bincount(group, np.exp(self.log_n - top))
        self.stats, self.last = self.stats[first], self.last[first]
        self.log_n = np.log(number) + top


def _slices(n: int, size: int = 1 << 14) -> Iterator[tuple[int, int]]:
    for start in range(0, n, size):
        yield start, min(start + size, n)
