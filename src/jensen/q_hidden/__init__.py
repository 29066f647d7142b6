"""Choices of q(h): the posterior, the most probable value, a draw, mean field or loopy beliefs.

A rule is a function (potentials, memory, rng) → `Hidden`, which dispatches on the type of the
potentials, and what is known of it.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden import (
    binary_factors,
    factorial_chains,
    gaussian_cells,
    gaussian_chain,
    gaussian_factors,
    known_chain,
    restricted,
)
from jensen.q_hidden.binary_factors import BitMemory, FactorBits
from jensen.q_hidden.factor_lists import of_rows
from jensen.q_hidden.factorial_chains import FactorialChains
from jensen.q_hidden.gaussian_cells import GaussianCells
from jensen.q_hidden.gaussian_chain import GaussianChain, StateMoments
from jensen.q_hidden.gaussian_factors import FactorMixture, GaussianFactors
from jensen.q_hidden.known_chain import KnownChain
from jensen.q_hidden.mixed.cells import MixedCells
from jensen.q_hidden.mixed.cells import solve as solve_cells
from jensen.q_hidden.restricted import RestrictedUnits
from jensen.q_hidden.states import chain, independent
from jensen.q_hidden.structures import Chain, Hidden, Independent, NothingHidden, Stream
from jensen.q_hidden.trees import blocks, run
from jensen.q_hidden.trees.blocks import BlockMemory
from jensen.q_hidden.trees.problems import FamilyTables

__all__ = [
    "FamilyTables",
    "GaussianCells",
    "Hidden",
    "HiddenRule",
    "NothingHidden",
    "draw",
    "exact",
    "loopy",
    "meanfield",
    "mode",
]


class HiddenRule(NamedTuple):
    """A choice of q(h), which dispatches on the type of the potentials."""

    solve: Callable[..., Hidden]  # (potentials, memory, rng) -> Hidden
    is_random: bool  # whether it draws, so that sweeps make a chain and no ascent
    is_bound: bool  # whether its values keep F a lower bound

    def __call__(self, potentials: object, memory: object = None, rng: Stream = None) -> Hidden:
        """Solve what a unit hides; `rng` is used by rules that draw."""
        return self.solve(potentials, memory, rng)


@singledispatch
def posterior_of(potentials: object, memory: object = None, rng: Stream = None) -> Hidden:
    """q(h) = p(h | x, θ): the bound is tight in h."""
    raise TypeError(f"there is no exact q(h) for {type(potentials).__name__}")


@singledispatch
def best_of(potentials: object, memory: object = None, rng: Stream = None) -> Hidden:
    """q(h) = one point, the most probable h: it has no entropy."""
    raise TypeError(f"there is no mode of q(h) for {type(potentials).__name__}")


@singledispatch
def draw_of(potentials: object, memory: object, rng: np.random.Generator) -> Hidden:
    """q(h) = one draw from p(h | x, θ); its value is the log potential alone."""
    raise TypeError(f"there is no sampler of q(h) for {type(potentials).__name__}")


@singledispatch
def product_of(potentials: object, memory: object = None, rng: Stream = None) -> Hidden:
    """q(h) = a product, one distribution for each hidden variable: a bound that is not tight.

    Variables are updated in turn, which never lowers the bound. A fixed point is one of several:
    the best is kept, and the next sweep begins there too, so that F never falls.
    """
    raise TypeError(f"there is no mean field for {type(potentials).__name__}")


@singledispatch
def belief_of(potentials: object, memory: object = None, rng: Stream = None) -> Hidden:
    """q(h) by loopy belief propagation: beliefs that agree on every variable, and no bound.

    They are marginals of no joint distribution where the potentials have loops.
    """
    raise TypeError(f"there is no loopy propagation for {type(potentials).__name__}")


exact = HiddenRule(posterior_of, is_random=False, is_bound=True)
mode = HiddenRule(best_of, is_random=False, is_bound=True)
meanfield = HiddenRule(product_of, is_random=False, is_bound=True)
loopy = HiddenRule(belief_of, is_random=False, is_bound=False)
draw = HiddenRule(draw_of, is_random=True, is_bound=False)


# --- nothing is hidden: all rules agree ---


@posterior_of.register
@best_of.register
@draw_of.register
@product_of.register
@belief_of.register
def _(potentials: NothingHidden, memory: object = None, rng: Stream = None) -> Hidden:
    seen = potentials.counts != 0.0
    value = (potentials.counts[seen] * potentials.log_tables[seen]).sum()  # 0 · log 0 = 0
    return Hidden(np.array([value]), potentials.counts)


# --- missing labels, on cluster trees ---


@posterior_of.register
def _(potentials: FamilyTables, memory: object = None, rng: Stream = None) -> Hidden:
    log_z, counts = run.expected_counts(*potentials.on_trees)
    return Hidden(potentials.weight * log_z, counts)


@best_of.register
def _(potentials: FamilyTables, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = run.best_counts(*potentials.on_trees)
    return Hidden(potentials.weight * value, counts)


@draw_of.register
def _(
    potentials: FamilyTables, memory: NDArray[np.int32] | None, rng: np.random.Generator
) -> Hidden:
    log_tables, rows, part, _ = potentials
    value, counts, memory = rows.drawing.solve(log_tables, part, memory, rng)
    return Hidden(potentials.weight * value, counts, memory)


@product_of.register
def _(potentials: FamilyTables, memory: BlockMemory | None = None, rng: Stream = None) -> Hidden:
    log_tables, rows, part, joined = potentials
    sites, plans = rows.blocks(joined)
    value, counts, after = blocks.mean_field(sites, plans, part, log_tables, memory)
    return Hidden(potentials.weight * value, counts, after)


@belief_of.register
def _(potentials: FamilyTables, memory: object = None, rng: Stream = None) -> Hidden:
    log_tables, rows, part, _ = potentials
    value, counts = of_rows.loopy_counts(*rows.blocks(()), part, log_tables)
    return Hidden(potentials.weight * value, counts)


# --- one state per row ---


@posterior_of.register
def _(potentials: Independent, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = independent.expected(potentials)
    return Hidden(potentials.weight * value, counts)


@best_of.register
def _(potentials: Independent, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = independent.best(potentials)
    return Hidden(potentials.weight * value, counts)


@draw_of.register
def _(potentials: Independent, memory: object, rng: np.random.Generator) -> Hidden:
    value, counts = independent.drawn(potentials, rng)
    return Hidden(potentials.weight * value, counts)


# --- a state per step of a sequence ---


@posterior_of.register
def _(potentials: Chain, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = chain.expected(potentials)
    return Hidden(potentials.weight * value, counts)


@best_of.register
def _(potentials: Chain, memory: object = None, rng: Stream = None) -> Hidden:
    value, counts = chain.best(potentials)
    return Hidden(potentials.weight * value, counts)


@draw_of.register
def _(potentials: Chain, memory: object, rng: np.random.Generator) -> Hidden:
    value, counts = chain.drawn(potentials, rng)
    return Hidden(potentials.weight * value, counts)


# --- missing numbers, and missing labels beside them ---


@posterior_of.register
@best_of.register  # a density has no unit to be compared in, so numbers are integrated out
def _(potentials: GaussianCells, memory: object = None, rng: Stream = None) -> Hidden:
    return Hidden(*gaussian_cells.expected(potentials))


@draw_of.register
def _(potentials: GaussianCells, memory: object, rng: np.random.Generator) -> Hidden:
    return Hidden(*gaussian_cells.drawn(potentials, rng))


@posterior_of.register
def _(potentials: MixedCells, memory: object = None, rng: Stream = None) -> Hidden:
    return Hidden(*solve_cells(potentials, rng, "sum"))


@best_of.register
def _(potentials: MixedCells, memory: object = None, rng: Stream = None) -> Hidden:
    return Hidden(*solve_cells(potentials, rng, "max"))


@draw_of.register
def _(potentials: MixedCells, memory: object, rng: np.random.Generator) -> Hidden:
    return Hidden(*solve_cells(potentials, rng, "draw"))


# --- hidden bits over visible ones ---


@posterior_of.register
def _(potentials: RestrictedUnits, memory: object = None, rng: Stream = None) -> Hidden:
    value, moments = restricted.expected(potentials)
    return Hidden(potentials.weight * value, moments)


# --- hidden factors of columns: numbers, or bits ---


@posterior_of.register
def _(potentials: GaussianFactors, memory: object = None, rng: Stream = None) -> Hidden:
    return Hidden(*gaussian_factors.expected(potentials))


@posterior_of.register
def _(potentials: FactorMixture, memory: object = None, rng: Stream = None) -> Hidden:
    value, moments = gaussian_factors.mixed(potentials)
    return Hidden(potentials.weight * value, moments)


@posterior_of.register
def _(potentials: FactorBits, memory: object = None, rng: Stream = None) -> Hidden:
    value, moments = binary_factors.expected(potentials)
    return Hidden(potentials.weight * value, moments)


@product_of.register
def _(potentials: FactorBits, memory: BitMemory | None = None, rng: Stream = None) -> Hidden:
    value, moments, after = binary_factors.mean_field(potentials, memory)
    return Hidden(potentials.weight * value, moments, after)


# --- a Gaussian state per step of a sequence ---


@posterior_of.register
def _(potentials: GaussianChain, memory: object = None, rng: Stream = None) -> Hidden:
    return _series(potentials, gaussian_chain.smooth(potentials))


@posterior_of.register
def _(potentials: KnownChain, memory: object = None, rng: Stream = None) -> Hidden:
    return _series(potentials, known_chain.smooth(potentials))


@best_of.register
def _(potentials: GaussianChain, memory: object = None, rng: Stream = None) -> Hidden:
    return _series(potentials, gaussian_chain.at_mode(potentials))


@best_of.register  # states that follow from each other have no density: its value is the evidence
def _(potentials: KnownChain, memory: object = None, rng: Stream = None) -> Hidden:
    found = known_chain.smooth(potentials)._replace(spread=None, lag=None)
    return _series(potentials, found)


@draw_of.register
def _(potentials: GaussianChain, memory: object, rng: np.random.Generator) -> Hidden:
    return _series(potentials, gaussian_chain.drawn(potentials, rng))


@draw_of.register
def _(potentials: KnownChain, memory: object, rng: np.random.Generator) -> Hidden:
    return _series(potentials, known_chain.drawn(potentials, rng))


def _series(potentials: GaussianChain | KnownChain, found: StateMoments) -> Hidden:
    rows = potentials.rows
    moments = gaussian_chain.sums(rows, found, potentials.filling)
    return Hidden(rows.weight * found.value, moments)


# --- several chains of states behind the same outputs ---


@posterior_of.register
def _(potentials: FactorialChains, memory: object = None, rng: Stream = None) -> Hidden:
    found = factorial_chains.exact(potentials)
    return Hidden(potentials.rows.weight * found.value, found.sums)


@product_of.register
def _(potentials: FactorialChains, memory: Any = None, rng: Stream = None) -> Hidden:
    found = factorial_chains.structured(potentials, memory)
    return Hidden(potentials.rows.weight * found.value, found.sums, found.nodes)
