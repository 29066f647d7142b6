"""q(h) = one point, the most probable h: it has no entropy."""

from functools import singledispatch

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
    """The most probable value of what is hidden."""
    raise TypeError(f"there is no mode of q(h) for {type(potentials).__name__}")


solve.register(NothingHidden)(solve_nothing_hidden)


@solve.register
def _(potentials: FamilyTables, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = run.best_counts(*potentials.on_trees)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: Independent, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = independent.best(potentials)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: Chain, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = chain.best(potentials)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: MixedCells, memory: object = None, rng: Stream = None) -> Hidden:
    return Hidden(*cells.solve(potentials, rng, "max"))
