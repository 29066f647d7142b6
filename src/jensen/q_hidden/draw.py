"""q(h) = one draw from p(h | x, θ)."""

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.mixed import cells
from jensen.q_hidden.mixed.cells import MixedCells
from jensen.q_hidden.states import chain, independent
from jensen.q_hidden.structures import (
    Chain,
    FamilyTables,
    Hidden,
    Independent,
    NothingHidden,
    solve_nothing_hidden,
)


@singledispatch
def solve(potentials: object, memory: object, rng: np.random.Generator) -> Hidden:
    """A draw of what is hidden; its value is the log potential alone."""
    raise TypeError(f"there is no sampler of q(h) for {type(potentials).__name__}")


solve.register(NothingHidden)(solve_nothing_hidden)


@solve.register
def _(
    potentials: FamilyTables, memory: NDArray[np.int32] | None, rng: np.random.Generator
) -> Hidden:
    log_tables, rows, part = potentials
    value, counts, memory = rows.drawing.solve(log_tables, part, memory, rng)
    return Hidden(potentials.weight * value, counts, memory)


@solve.register
def _(potentials: Independent, memory: object, rng: np.random.Generator) -> Hidden:
    value, counts = independent.drawn(potentials, rng)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: Chain, memory: object, rng: np.random.Generator) -> Hidden:
    value, counts = chain.drawn(potentials, rng)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: MixedCells, memory: object, rng: np.random.Generator) -> Hidden:
    return Hidden(*cells.solve(potentials, rng, "draw"))
