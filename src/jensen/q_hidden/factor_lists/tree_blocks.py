"""Gibbs sampling by blocks without loops: each block is drawn exactly, given all other variables.

Chains keep the conditional marginals of the blocks rather than the states that were drawn, whose
means are the same and vary less. Where factors are 0 some states may be out of reach of a chain.

References
----------
Hamze and de Freitas (2004), *From fields to trees*, section 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.q_hidden.trees.plans import Plans, find_families
from jensen.q_hidden.trees.problems import hidden_sets
from jensen.q_hidden.trees.run import drawn_states, marginals
from jensen.support.fields import add_at
from jensen.support.tree_records import Problems, Program

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Entries = NDArray[np.int32]

FEWEST_BLOCKS = 2


class TreeBlock(NamedTuple):
    """Variables that are drawn at once, in connected parts, compiled to trees."""

    members: Ints  # of all parts, end to end
    program: Program
    n_families: Ints  # (parts,)
    base: Ints  # of each family: where its table begins
    term_of: Ints  # families that the states of outer variables shift, term by term
    term_variable: Ints
    term_stride: Ints

    def problems(self, states: Entries) -> Problems:
        """The parts of every chain, given the states of all variables (chains, n)."""
        n_chains, n_parts = len(states), len(self.n_families)
        bases = np.tile(self.base, (n_chains, 1))
        shifts = self.term_stride * states[:, self.term_variable]
        for chain in range(n_chains):
            add_at(bases[chain], self.term_of, shifts[chain])
        first = np.cumsum(self.n_families) - self.n_families
        base_ptr = (np.arange(n_chains)[:, None] * len(self.base) + first).ravel()
        set_of = np.tile(np.arange(n_parts), n_chains)
        return Problems(set_of, base_ptr, bases.ravel(), np.ones(len(set_of)))


def make_blocks(factors: FactorList, rng: np.random.Generator) -> list[TreeBlock]:
    """Random blocks without loops; every variable is in one at least."""
    n, left = factors.n_variables, np.ones(factors.n_variables, bool)
    found: list[TreeBlock] = []
    while left.any() or len(found) < FEWEST_BLOCKS:
        order = rng.permutation(n)
        order = order[np.argsort(~left[order], kind="stable")]
        members = _without_loops(factors, order.tolist())
        left[members] = False
        found.append(_compiled(factors, members))
    return found


def _without_loops(factors: FactorList, order: list[int]) -> list[int]:
    """As many variables as a greedy choice finds among which no two are joined in two ways."""
    w, parent = factors.wiring, list(range(factors.n_variables))
    inside = [False] * factors.n_variables

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for v in order:
        met: set[int] = set()
        for f in w.touch[w.touch_ptr[v] : w.touch_ptr[v + 1]].tolist():
            roots = {root(u) for u in w.members(f).tolist() if u != v and inside[u]}
            if roots & met:
                break
            met |= roots
        else:
            inside[v] = True
            for r in met:
                parent[r] = v
    return [v for v in order if inside[v]]


def _compiled(factors: FactorList, members: list[int]) -> TreeBlock:
    w = factors.wiring
    entries, begin, end = hidden_sets(w, members)
    parts = [entries[a:b] for a, b in zip(begin, end, strict=True)]
    flat = np.concatenate(parts)
    ptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    families = find_families(ptr, flat, w)
    program = Plans(w, [str(v) for v in range(factors.n_variables)]).compile_sets(
        ptr, flat, families
    )
    part_of = np.full(factors.n_variables, -1)
    part_of[flat] = np.repeat(np.arange(len(parts)), np.diff(ptr))
    of, n_families = families.of, np.diff(families.end, prepend=0)
    own = np.repeat(np.arange(len(parts)), n_families)
    size = np.diff(w.fam_ptr)[of]
    term_of = np.repeat(np.arange(len(of)), size)
    slot = np.arange(len(term_of)) - np.repeat(np.cumsum(size) - size, size)
    slot += w.fam_ptr[of][term_of]
    variable, stride = w.fam_vars[slot], w.fam_stride[slot]
    outer = part_of[variable] != own[term_of]
    return TreeBlock(
        flat.astype(np.int64),
        program,
        n_families,
        families.base.copy(),
        term_of[outer],
        variable[outer],
        stride[outer],
    )


def sweep(
    factors: FactorList,
    blocks: list[TreeBlock],
    states: Entries,
    rng: np.random.Generator,
) -> tuple[Entries, Array]:
    """Draw every block once in all chains; states, and conditional marginals (chains, S)."""
    at = np.concatenate([[0], np.cumsum(factors.wiring.cards)])
    states, total = states.copy(), np.zeros((len(states), int(at[-1])))
    times = np.zeros(factors.n_variables)
    for block in blocks:
        problems = block.problems(states)
        once = np.ones(len(problems.set_of), np.int64)
        sizes = factors.wiring.cards[block.members]
        places = np.repeat(at[block.members] - (np.cumsum(sizes) - sizes), sizes)
        places += np.arange(int(sizes.sum()))
        _, _, shares = marginals(factors.log_tables, block.program, problems)
        total[:, places] += shares.reshape(len(states), -1)
        times[block.members] += 1
        _, _, drawn = drawn_states(factors.log_tables, block.program, problems, once, rng)
        states[:, block.members] = drawn.reshape(len(states), -1)
    return states, total / np.repeat(times, factors.wiring.cards)
