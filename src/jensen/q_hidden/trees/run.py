"""Sub-problems solved: sums, maxima, draws and marginals."""

import numpy as np
from numpy.typing import NDArray

from jensen.support.tree_records import (
    N_CLUSTERS,
    N_MEMBERS,
    N_STATES,
    Problems,
    Program,
    SolverWorkspace,
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
    from jensen.kernels.posteriors import expect

    n = program.code[program.start[problems.set_of] + N_STATES]
    at = np.cumsum(n) - n
    log_z, out = np.empty(len(n)), np.zeros(int(n.sum()))
    work = work or make_solver_workspace(program, problems.set_of)
    once = problems._replace(weight=np.ones(len(n)))
    tables = np.exp(log_tables)
    expect(program, once, tables, log_tables, work, log_z, _NO_FLOATS, at, out)
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
