"""Missing labels by mean field: q(h) is a product over blocks of variables, no tree is needed.

Blocks are updated in turn, q_b ∝ exp E[log potentials given the other blocks], which never lowers
the bound. A block is one variable, unless the caller joined several. Sub-problems that miss the
same variables are worked on at once. States that the evidence and the zeros of tables rule out have
probability 0 from the start, so that the bound is finite wherever a row is possible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from jensen.exceptions import JensenError
from jensen.q_hidden.trees.run import Sites
from jensen.support.fields import add_at, record
from jensen.support.text import USUAL_PRIOR

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Tables = list[Array]
"""Of each block the probabilities (P, *states of its members) in P sub-problems."""

N_STARTS = 4
"""Random starts; the first sweep takes all of them, each later one the next."""
MOST_SWEEPS = 100
STILL = 1e-6
"""Probabilities that change by less have settled."""
SOFT = -60.0
"""In the place of log 0, where a first configuration is sought."""
MOST_TRIED = 100_000
"""Configurations of a row that are tried before its zeros are called too many."""


@record
class BlockMemory(NamedTuple):
    """Where the sub-problems of a unit ended."""

    tables: Array  # all q, one after the other
    age: int  # sweeps


class Share(NamedTuple):
    """What a block has of a potential."""

    block: int
    others: tuple[int, ...]  # axes of the table of the block that are summed out
    labels: tuple[int, ...]  # of the axes that are left, as einsum takes them


class Potential(NamedTuple):
    """A table that a set of variables touches."""

    number: int  # among the families of the set
    members: tuple[int, ...]  # which variables of the set stand in it
    offsets: Ints  # (*states of these): from the position that the evidence selects
    shares: tuple[Share, ...]  # of the blocks that hold its members

    @property
    def labels(self) -> tuple[int, ...]:
        """Of its axes, behind that of sub-problems."""
        return tuple(range(1, 1 + len(self.members)))


class SetPlan(NamedTuple):
    """A set of missing variables, cut into blocks."""

    cards: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]  # of members
    potentials: tuple[Potential, ...]

    def shapes(self, n: int) -> list[tuple[int, ...]]:
        """Of the tables of n sub-problems."""
        return [(n, *(self.cards[m] for m in block)) for block in self.blocks]


def plan_of(sites: Sites, p: int, blocks: tuple[tuple[int, ...], ...]) -> SetPlan:
    """The p-th set; `blocks` are of variables, and all others stand alone."""
    wiring, families = sites.wiring, sites.families
    variables = sites.members[sites.ptr[p] : sites.ptr[p + 1]].tolist()
    place = {v: k for k, v in enumerate(variables)}
    joined = [tuple(place[v] for v in block if v in place) for block in blocks]
    inside = {m for block in joined for m in block}
    alone = [(k,) for k in range(len(variables)) if k not in inside]
    own_blocks = tuple(b for b in (*joined, *alone) if b)
    cards = tuple(int(wiring.cards[v]) for v in variables)
    own = families.of[families.end[p - 1] if p else 0 : families.end[p]]
    found = []
    for number, f in enumerate(own.tolist()):
        at = slice(wiring.fam_ptr[f], wiring.fam_ptr[f + 1])
        pairs = zip(wiring.fam_vars[at].tolist(), wiring.fam_stride[at].tolist(), strict=True)
        strides = [(place[v], stride) for v, stride in pairs if v in place]
        offsets = np.zeros((), np.int64)
        for m, stride in strides:
            offsets = offsets[..., None] + stride * np.arange(cards[m])
        members = tuple(m for m, _ in strides)
        found.append(Potential(number, members, offsets, _shares(members, own_blocks)))
    return SetPlan(cards, own_blocks, tuple(found))


def _shares(members: tuple[int, ...], blocks: tuple[tuple[int, ...], ...]) -> tuple[Share, ...]:
    found = []
    for b, block in enumerate(blocks):
        labels = tuple(1 + members.index(m) for m in block if m in members)
        if labels:
            others = tuple(1 + k for k, m in enumerate(block) if m not in members)
            found.append(Share(b, others, labels))
    return tuple(found)


class Part:
    """Some sub-problems of one set at one θ."""

    def __init__(self, plan: SetPlan, bases: Ints, log_tables: Array) -> None:
        self.plan, self.n = plan, len(bases)
        self.at: list[Ints] = []
        self.logs: list[Array] = []
        self.zeros: list[Any] = []  # where tables are 0; None where they are nowhere
        for potential in plan.potentials:
            base = bases[:, potential.number].reshape(-1, *[1] * len(potential.members))
            at = base + potential.offsets
            values = log_tables[at]
            never = values == -np.inf
            self.at.append(at)
            self.zeros.append(never.astype(float) if never.any() else None)
            self.logs.append(np.where(never, 0.0, values))

    def settle(self, q: Tables, *, soft: bool = False) -> Tables:
        """The tables where updates no longer change them."""
        q = [table.copy() for table in q]
        for _ in range(MOST_SWEEPS):
            change = 0.0
            for b in range(len(q)):
                new = self._updated(q, b, soft)
                change = max(change, float(np.abs(new - q[b]).max(initial=0.0)))
                q[b] = new
            if change < STILL:
                break
        return q

    def _updated(self, q: Tables, b: int, soft: bool) -> Array:
        """One block given the others."""
        block = self.plan.blocks[b]
        total = np.zeros(q[b].shape)
        for j, potential in enumerate(self.plan.potentials):
            if not set(block) & set(potential.members):
                continue
            mean, zeros = self._expected(q, j, b, self.logs[j]), self.zeros[j]
            if zeros is not None:
                lost = self._expected(q, j, b, zeros)
                mean = mean + SOFT * lost if soft else np.where(lost > 0.0, -np.inf, mean)
            shape = (self.plan.cards[m] if m in potential.members else 1 for m in block)
            total += mean.reshape(self.n, *shape)
        flat = total.reshape(self.n, -1)
        top = flat.max(1, keepdims=True)
        weights = np.exp(flat - np.where(top == -np.inf, 0.0, top))
        size = weights.sum(1, keepdims=True)
        kept = q[b].reshape(self.n, -1)  # of an impossible row
        return np.where(size > 0.0, weights / np.where(size > 0.0, size, 1.0), kept).reshape(
            q[b].shape
        )

    def _expected(self, q: Tables, j: int, b: int | None, values: Array) -> Array:
        """Of a potential under all blocks but b, over the states of the members of b, in order."""
        potential, left = self.plan.potentials[j], tuple[int, ...]()
        parts: list[Any] = [values, [0, *potential.labels]]
        for share in potential.shares:
            if share.block == b:
                left = share.labels
            else:
                parts += [q[share.block].sum(share.others), [0, *share.labels]]
        found: Array = np.einsum(*parts, [0, *left])
        return found

    def value(self, q: Tables) -> Array:
        """E_q[log potentials] + H[q] of every sub-problem; -inf where q is on what cannot be."""
        total = np.zeros(self.n)
        for table in q:
            flat = table.reshape(self.n, -1)
            total += entr(flat).sum(1)
        for j, logs in enumerate(self.logs):
            total += self._expected(q, j, None, logs)
            zeros = self.zeros[j]
            if zeros is not None:
                total[self._expected(q, j, None, zeros) > 0.0] = -np.inf
        return total

    def add_counts(self, q: Tables, weight: Array, counts: Array) -> None:
        """Add the expected counts of all tables, by weight."""
        for j, potential in enumerate(self.plan.potentials):
            parts: list[Any] = [weight, [0]]
            for share in potential.shares:
                parts += [q[share.block].sum(share.others), [0, *share.labels]]
            add_at(counts, self.at[j], np.einsum(*parts, [0, *potential.labels]))

    def even(self) -> Tables:
        """All states alike."""
        return [np.full(s, 1.0 / np.prod(s[1:])) for s in self.plan.shapes(self.n)]

    def drawn(self, rng: np.random.Generator) -> Tables:
        """Random tables, the same for all sub-problems."""
        shapes = self.plan.shapes(1)
        each = [rng.dirichlet(np.full(int(np.prod(s)), 0.5)).reshape(s) for s in shapes]
        return [np.repeat(table, self.n, axis=0) for table in each]

    def possible(self, q: Tables, value: Array) -> Tables:
        """The tables, at one configuration that can be where they were on some that cannot."""
        lost = np.flatnonzero(value == -np.inf)
        if not len(lost):
            return q
        soft = self.settle(q, soft=True)
        q = [table.copy() for table in q]
        for i in lost:
            states = self._configuration([table[i] for table in soft], int(i))
            if states is not None:
                for block, table in zip(self.plan.blocks, q, strict=True):
                    table[i] = 0.0
                    table[i][tuple(states[m] for m in block)] = 1.0
        return q

    def _configuration(self, q: Tables, i: int) -> list[int] | None:
        """States of all members that no zero rules out, likely ones first; None if there are none.

        Members are set one after the other; a member is set anew where no state of the next is
        left.
        """
        order = [m for block in self.plan.blocks for m in block]
        share = {}
        for block, table in zip(self.plan.blocks, q, strict=True):
            for k, m in enumerate(block):
                others = tuple(a for a in range(len(block)) if a != k)
                share[m] = np.argsort(-table.sum(others), kind="stable").tolist()
        ready: dict[int, list[int]] = {m: [] for m in order}
        for j, potential in enumerate(self.plan.potentials):
            if self.zeros[j] is not None and potential.members:
                ready[max(potential.members, key=order.index)].append(j)
            elif self.zeros[j] is not None and self.zeros[j][i] > 0.0:
                return None
        states = [0] * len(self.plan.cards)

        def fits(m: int) -> bool:
            return not any(
                self.zeros[j][(i, *(states[k] for k in self.plan.potentials[j].members))]
                for j in ready[m]
            )

        tried, at, left = 0, 0, [iter(share[order[0]])]
        while left:
            state = next(left[-1], None)
            if state is None:
                left.pop()
                at -= 1
                continue
            tried += 1
            if tried > MOST_TRIED:
                raise JensenError(
                    "the zeros of the tables leave a row so few completions that mean field found "
                    f"none to begin with: give a prior ({USUAL_PRIOR}), or name the variables that "
                    "go together as a block"
                )
            states[order[at]] = state
            if not fits(order[at]):
                continue
            if at + 1 == len(order):
                return states
            at += 1
            left.append(iter(share[order[at]]))
        return None


def mean_field(
    sites: Sites,
    plans: tuple[SetPlan, ...],
    part: slice,
    log_tables: Array,
    memory: BlockMemory | None,
) -> tuple[Array, Array, BlockMemory]:
    """The best bound of every sub-problem, expected counts, and where each was found.

    Each keeps the best of several fixed points, of which one is reached from where it was.
    """
    set_of = sites.problems.set_of[part]
    weight, base_ptr = sites.problems.weight[part], sites.problems.base_ptr[part]
    value, counts = np.full(len(set_of), -np.inf), np.zeros(len(log_tables))
    kept, at = [], 0
    for p in np.unique(set_of).tolist():
        plan, own = plans[p], np.flatnonzero(set_of == p)
        width = len(plan.potentials)
        bases = sites.problems.bases[base_ptr[own][:, None] + np.arange(width)]
        some = Part(plan, bases, log_tables)
        before = None
        if memory is not None:
            before = []
            for shape in plan.shapes(len(own)):
                n = int(np.prod(shape))
                before.append(memory.tables[at : at + n].reshape(shape))
                at += n
        best, q = _best(some, before, 0 if memory is None else memory.age)
        value[own] = best
        some.add_counts(q, np.where(best > -np.inf, weight[own], 0.0), counts)
        kept += [table.ravel() for table in q]
    age = 0 if memory is None else memory.age + 1
    return value, counts, BlockMemory(np.concatenate([np.empty(0), *kept]), age)


def _best(some: Part, before: Tables | None, age: int) -> tuple[Array, Tables]:
    """The best of all starts, sub-problem by sub-problem."""
    streams = [np.random.default_rng(k) for k in range(N_STARTS)]
    if before is None:
        begun = [some.even(), *(some.drawn(rng) for rng in streams)]
    else:
        begun = [before, some.drawn(streams[age % N_STARTS])]
    value, q = np.full(some.n, -np.inf), some.even()
    for start in begun:
        found = some.settle(some.possible(start, some.value(start)))
        own = some.value(found)
        better = own > value
        value = np.where(better, own, value)
        for table, new in zip(q, found, strict=True):
            table[better] = new[better]
    return value, q
