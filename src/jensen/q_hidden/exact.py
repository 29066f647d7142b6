"""q(h) = p(h | x, θ): the bound is tight in h."""

from functools import singledispatch

from jensen.q_hidden import gaussian_cells
from jensen.q_hidden.gaussian_cells import GaussianCells
from jensen.q_hidden.mixed import cells
from jensen.q_hidden.mixed.cells import MixedCells
from jensen.q_hidden.states import chain, independent
from jensen.q_hidden.structures import (
    Chain,
    FamilyTables,
    Hidden,
    Independent,
    NothingHidden,
    Stream,
    solve_nothing_hidden,
)
from jensen.q_hidden.trees import run


@singledispatch
def solve(potentials: object, memory: object = None, rng: Stream = None) -> Hidden:
    """The posterior of what is hidden."""
    raise TypeError(f"there is no exact q(h) for {type(potentials).__name__}")


solve.register(NothingHidden)(solve_nothing_hidden)


@solve.register
def _(potentials: FamilyTables, memory: object = None, rng: Stream = None) -> Hidden:
    log_z, counts = run.expected_counts(*potentials.on_trees)
    return Hidden(potentials.weight * log_z, counts)


@solve.register
def _(potentials: Independent, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = independent.expected(potentials)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: Chain, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = chain.expected(potentials)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: GaussianCells, memory: object = None, rng: Stream = None) -> Hidden:
    value, moments = gaussian_cells.expected(potentials)
    return Hidden(value, moments)


@solve.register
def _(potentials: MixedCells, memory: object = None, rng: Stream = None) -> Hidden:
    return Hidden(*cells.solve(potentials, rng, "sum"))
