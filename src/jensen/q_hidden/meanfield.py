"""q(h) = a product of distributions, one for each hidden variable: a bound that is not tight.

Variables are updated in turn, which never lowers the bound. A fixed point is one of several; the
best is kept, and the next sweep begins at the one that was kept, so that F never falls.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from jensen.q_hidden import binary_factors
from jensen.q_hidden.binary_factors import FactorBits
from jensen.q_hidden.structures import Hidden, NothingHidden, solve_nothing_hidden


@singledispatch
def solve(potentials: Any, memory: Any = None, rng: np.random.Generator | None = None) -> Hidden:
    """The best product of distributions of what is hidden."""
    raise TypeError(f"there is no mean field for {type(potentials).__name__}")


solve.register(NothingHidden)(solve_nothing_hidden)


@solve.register
def _(potentials: FactorBits, memory: Any = None, rng: Any = None) -> Hidden:
    value, moments, memory = binary_factors.mean_field(potentials, memory)
    return Hidden(potentials.weight * value, moments, memory)
