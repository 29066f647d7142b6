"""Draws of what rows miss: jointly where the tree fits in memory, else one variable at a time.

Drawing each missing cell of a row given all other cells is Gibbs sampling too: it leaves
p(h | x, θ) as it is, needs the states of the last sweep, and mixes more slowly than a joint draw.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import InternedLists, find_families
from jensen.support.tree_records import Problems, Program, SetFamilies, Wiring

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Entries = NDArray[np.int32]

FIRST_SWEEPS = 20
"""Times that every cell is drawn in turn before the first states of a row are used."""


class Sites(NamedTuple):
    """Sub-problems whose cells are drawn one at a time."""

    wiring: Wiring
    families: SetFamilies  # that each set touches
    members: Entries  # of all sets, end to end
    ptr: Ints  # (sets + 1,): where those of each set begin
    problems: Problems


class Drawing(NamedTuple):
    """Sub-problems as draws need them."""

    fits: NDArray[np.bool_]  # (K,): whether the tree of each fits in memory
    problems: Problems  # those that fit
    program: Program
    sites: Sites | None = None  # the others

    def solve(
        self, log_tables: Array, part: slice, memory: Entries | None, rng: np.random.Generator
    ) -> tuple[Array, Array, Entries | None]:
        """Mean log potential of each sub-problem, counts of draws, and states to go on from."""
        before = np.concatenate([[0], np.cumsum(self.fits)])
        joint = slice(int(before[part.start]), int(before[part.stop]))
        found, counts = run.drawn_counts(log_tables, self.program, pick(self.problems, joint), rng)
        if self.sites is None:
            return found, counts, None
        single = slice(part.start - joint.start, part.stop - joint.stop)
        fits, value = self.fits[part], np.empty(part.stop - part.start)
        value[fits] = found
        value[~fits], more, memory = _redrawn(self.sites, single, log_tables, memory, rng)
        return value, counts + more, memory


def make_sites(
    wiring: Wiring,
    entries: Entries,
    begin: Ints,
    end: Ints,
    weight: Array,
    which: NDArray[np.bool_],
) -> Sites:
    """Those sub-problems ``entries[begin:end]`` of which `which` is true."""
    sets = InternedLists()
    set_of = sets.number(entries, begin[which], end[which])
    ptr, members = np.append(sets.begin, len(sets.entries)), sets.entries.copy()
    families = find_families(ptr, members, wiring)
    problems = with_bases(families, set_of, entries, end[which], weight[which])
    return Sites(wiring, families, members, ptr, problems)


def _redrawn(
    sites: Sites, part: slice, log_tables: Array, states: Entries | None, rng: np.random.Generator
) -> tuple[Array, Array, Entries]:
    """Value and counts after each cell was drawn once more, and the states then."""
    from jensen.kernels.single_sites import redraw_sites

    problems = pick(sites.problems, part)
    times, sizes = run.draws_of(problems), np.diff(sites.ptr)[problems.set_of]
    n_sweeps = 1
    if states is None:
        states, n_sweeps = _any_states(sites, problems, times, rng), FIRST_SWEEPS
    states = states.copy()
    uniforms = rng.random(int(sizes @ times) * n_sweeps)
    value, counts = np.empty(len(times)), np.zeros(len(log_tables))
    redraw_sites(
        *(sites.wiring, sites.families, sites.members, sites.ptr, problems),
        *(log_tables, times, n_sweeps, uniforms, states, value, counts),
    )
    return value, counts, states


def _any_states(sites: Sites, problems: Problems, times: Ints, rng: np.random.Generator) -> Entries:
    """Each state of each cell as likely as any other."""
    cards = sites.wiring.cards[sites.members]
    each = [
        np.tile(cards[sites.ptr[p] : sites.ptr[p + 1]], n)
        for p, n in zip(problems.set_of, times, strict=True)
    ]
    return rng.integers(0, np.concatenate([np.empty(0, np.int64), *each])).astype(np.int32)


def with_bases(
    families: SetFamilies, set_of: Ints, entries: Entries, state_at: Ints, weight: Array
) -> Problems:
    """Sub-problems with the table positions that the states at ``entries[state_at]`` select."""
    from jensen.kernels.hidden_sets import find_bases

    n = np.diff(families.end, prepend=0)[set_of]
    base_ptr = np.cumsum(n) - n
    bases = np.empty(int(n.sum()), np.int64)
    find_bases(set_of, entries, state_at, families, base_ptr, bases)
    return Problems(set_of, base_ptr, bases, weight)


def pick(problems: Problems, which: slice | Ints) -> Problems:
    """Some of the problems; they share their bases."""
    return problems._replace(
        set_of=problems.set_of[which],
        base_ptr=problems.base_ptr[which],
        weight=problems.weight[which],
    )
