"""Sub-problems solved: sums, maxima, draws and marginals.

What rows miss is drawn jointly where the tree fits in memory, else one variable at a time. Drawing
each missing cell of a row given all other cells is Gibbs sampling too: it leaves p(h | x, θ) as it
is, needs the states of the last sweep, and mixes more slowly than a joint draw.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.trees.plans import InternedLists, find_families
from jensen.support.tree_records import (
    N_CLUSTERS,
    N_MEMBERS,
    N_STATES,
    Problems,
    Program,
    SetFamilies,
    SolverWorkspace,
    Wiring,
    make_solver_workspace,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_NO_INTS = np.empty(0, np.int64)
_NO_FLOATS = np.empty(0)
_NO_STATES = np.empty(0, np.int32)


def expected_counts(
    log_tables: Array, program: Program, problems: Problems, work: SolverWorkspace | None = None
) -> tuple[Array, Array]:
    """Log Z of every problem, and the expected counts of all families together, by weight."""
    from jensen.kernels.posteriors import expect

    log_z, counts = np.empty(len(problems.set_of)), np.zeros(len(log_tables))
    work = work or make_solver_workspace(program, problems.set_of)
    tables = np.exp(log_tables)
    expect(program, problems, tables, log_tables, work, log_z, counts, _NO_INTS, _NO_FLOATS)
    return log_z, counts


def log_partition(log_tables: Array, program: Program, problems: Problems) -> Array:
    """Log Z of every problem."""
    return marginals(log_tables, program, problems)[0]


def marginals(
    log_tables: Array, program: Program, problems: Problems, work: SolverWorkspace | None = None
) -> tuple[Array, Ints, Array]:
    """Log Z of every problem; where its members begin in the last; p(state | evidence), flat.

    The states of the members of a problem stand one after the other, in the order of its set.
    """
    return _marginals(log_tables, program, problems, work, _NO_FLOATS)


def counts_and_marginals(
    log_tables: Array, program: Program, problems: Problems
) -> tuple[Array, Array, Ints, Array]:
    """Log Z; counts as `expected_counts` with all weights 1; marginals as `marginals`."""
    counts = np.zeros(len(log_tables))
    log_z, at, out = _marginals(log_tables, program, problems, None, counts)
    return log_z, counts, at, out


def _marginals(
    log_tables: Array,
    program: Program,
    problems: Problems,
    work: SolverWorkspace | None,
    counts: Array,
) -> tuple[Array, Ints, Array]:
    from jensen.kernels.posteriors import expect

    n = program.code[program.start[problems.set_of] + N_STATES]
    at = np.cumsum(n) - n
    log_z, out = np.empty(len(n)), np.zeros(int(n.sum()))
    work = work or make_solver_workspace(program, problems.set_of)
    once = problems._replace(weight=np.ones(len(n)))
    tables = np.exp(log_tables)
    expect(program, once, tables, log_tables, work, log_z, counts, at, out)
    return log_z, at, out


def best_counts(log_tables: Array, program: Program, problems: Problems) -> tuple[Array, Array]:
    """Log potential and counts of the most probable configuration of every problem."""
    once = np.ones(len(problems.set_of), np.int64)
    value, counts, _ = _choose(log_tables, program, problems, once, _NO_FLOATS, _NO_INTS)
    return value, counts


def drawn_counts(
    log_tables: Array, program: Program, problems: Problems, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Mean log potential and counts of draws, one for every row that has the problem.

    A part of a row has a draw of its own; together they count the weight.
    """
    times = draws_of(problems)
    uniforms = _uniforms(program, problems, times, rng)
    value, counts, _ = _choose(log_tables, program, problems, times, uniforms, _NO_INTS)
    return value, counts


def draws_of(problems: Problems) -> Ints:
    """How many draws each problem has: one for every row, or part of a row, that has it."""
    return np.maximum(np.ceil(problems.weight), 1.0).astype(np.int64)


def best_states(
    log_tables: Array, program: Program, problems: Problems
) -> tuple[Array, Ints, NDArray[np.int32]]:
    """Log potential of the best configuration, where its states begin, and the states, flat."""
    once = np.ones(len(problems.set_of), np.int64)
    at = state_places(program, problems, once)
    value, _, states = _choose(log_tables, program, problems, once, _NO_FLOATS, at)
    return value, at, states


def drawn_states(
    log_tables: Array, program: Program, problems: Problems, times: Ints, rng: np.random.Generator
) -> tuple[Array, Ints, NDArray[np.int32]]:
    """Mean log potential of draws, where their states begin, and the states, draw after draw."""
    at = state_places(program, problems, times)
    uniforms = _uniforms(program, problems, times, rng)
    value, _, states = _choose(log_tables, program, problems, times, uniforms, at)
    return value, at, states


def state_places(program: Program, problems: Problems, times: Ints) -> Ints:
    """Where the states of each problem begin if it is solved `times` times; then the end."""
    n = program.code[program.start[problems.set_of] + N_MEMBERS] * times
    return np.concatenate([[0], np.cumsum(n)])


def _uniforms(program: Program, problems: Problems, times: Ints, rng: np.random.Generator) -> Array:
    """One number in [0, 1) per cluster and draw; never none at all, which would mean the best."""
    n = program.code[program.start[problems.set_of] + N_CLUSTERS] @ times
    return rng.random(int(n) + 1)


def _choose(
    log_tables: Array,
    program: Program,
    problems: Problems,
    times: Ints,
    uniforms: Array,
    at: Ints,
) -> tuple[Array, Array, NDArray[np.int32]]:
    from jensen.kernels.posteriors import choose

    value, counts = np.empty(len(problems.set_of)), np.zeros(len(log_tables))
    states = np.empty(int(at[-1]), np.int32) if len(at) else _NO_STATES
    work, tables = make_solver_workspace(program, problems.set_of), np.exp(log_tables)
    choose(program, problems, tables, log_tables, times, uniforms, work, value, counts, at, states)
    return value, counts, states


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
        found, counts = drawn_counts(log_tables, self.program, pick(self.problems, joint), rng)
        if self.sites is None:
            return found, counts, None
        single = slice(part.start - joint.start, part.stop - joint.stop)
        fits, value = self.fits[part], np.empty(part.stop - part.start)
        value[fits] = found
        value[~fits], more, memory = redrawn(self.sites, single, log_tables, memory, rng)
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
    problems = with_bases(wiring, families, set_of, entries, end[which], weight[which])
    return Sites(wiring, families, members, ptr, problems)


def redrawn(
    sites: Sites,
    part: slice,
    log_tables: Array,
    states: Entries | None,
    rng: np.random.Generator,
    n_sweeps: int = 1,
) -> tuple[Array, Array, Entries]:
    """Value and counts after each cell was drawn so often once more, and the states then."""
    from jensen.kernels.posteriors import redraw_sites

    problems = pick(sites.problems, part)
    times, sizes = draws_of(problems), np.diff(sites.ptr)[problems.set_of]
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
    wiring: Wiring,
    families: SetFamilies,
    set_of: Ints,
    entries: Entries,
    state_at: Ints,
    weight: Array,
) -> Problems:
    """Sub-problems with the table positions that the states at ``entries[state_at]`` select."""
    from jensen.kernels.hidden_sets import find_bases

    n = np.diff(families.end, prepend=0)[set_of]
    base_ptr = np.cumsum(n) - n
    bases = np.empty(int(n.sum()), np.int64)
    find_bases(set_of, entries, state_at, families, wiring.fam_at[-1], base_ptr, bases)
    return Problems(set_of, base_ptr, bases, weight)


def pick(problems: Problems, which: slice | Ints) -> Problems:
    """Some of the problems; they share their bases."""
    return problems._replace(
        set_of=problems.set_of[which],
        base_ptr=problems.base_ptr[which],
        weight=problems.weight[which],
    )
