"""q(h) = p(h | x, θ): the bound is tight in h."""

from functools import singledispatch
from typing import Any

import numpy as np

from jensen.q_hidden import binary_factors, gaussian_cells, gaussian_factors
from jensen.q_hidden.binary_factors import FactorBits
from jensen.q_hidden.gaussian_cells import GaussianCells
from jensen.q_hidden.gaussian_factors import GaussianFactors
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
from jensen.q_hidden.trees import run


@singledispatch
def solve(potentials: Any, memory: Any = None, rng: np.random.Generator | None = None) -> Hidden:
    """The posterior of what is hidden."""
    raise TypeError(f"there is no exact q(h) for {type(potentials).__name__}")


solve.register(NothingHidden)(solve_nothing_hidden)


@solve.register
def _(potentials: FamilyTables, memory: Any = None, rng: Any = None) -> Hidden:
    log_z, counts = run.expected_counts(*potentials.on_trees)
    return Hidden(potentials.weight * log_z, counts)


@solve.register
def _(potentials: Independent, memory: Any = None, rng: Any = None) -> Hidden:
    value, counts = independent.expected(potentials)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: Chain, memory: Any = None, rng: Any = None) -> Hidden:
    value, counts = chain.expected(potentials)
    return Hidden(potentials.weight * value, counts)


@solve.register
def _(potentials: GaussianCells, memory: Any = None, rng: Any = None) -> Hidden:
    value, moments = gaussian_cells.expected(potentials)
    return Hidden(value, moments)


@solve.register
def _(potentials: GaussianFactors, memory: Any = None, rng: Any = None) -> Hidden:
    return Hidden(*gaussian_factors.expected(potentials))


@solve.register
def _(potentials: FactorBits, memory: Any = None, rng: Any = None) -> Hidden:
    value, moments = binary_factors.expected(potentials)
    return Hidden(potentials.weight * value, moments)


@solve.register
def _(potentials: MixedCells, memory: Any = None, rng: Any = None) -> Hidden:
    return Hidden(*cells.solve(potentials, rng, "sum"))
