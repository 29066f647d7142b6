"""A lower bound of log Z by a product of distributions, on states that are possible together.

log Z ≥ E_q[Σ log g] + H[q] for every q. Coordinate ascent ends in one of many optima; the best of
several starts is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.q_hidden.factor_lists.feasible import feasible_states
from jensen.q_hidden.factor_lists.loopy import FixedPoint

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

N_STARTS = 6
MOST_SWEEPS = 500
TOLERANCE = 1e-8


class ProductBound(NamedTuple):
    """A bound and the product of distributions that has it."""

    value: float  # -inf if no states were found that are possible together
    marginals: Array  # flat


def product_bound(
    factors: FactorList, point: FixedPoint, rng: np.random.Generator, n_starts: int = N_STARTS
) -> ProductBound:
    """The best bound of several starts; one is at the beliefs of loopy propagation."""
    from jensen.kernels.mean_field import settle_product

    wiring = factors.wiring
    at = np.concatenate([[0], np.cumsum(wiring.cards)])
    largest = int(np.diff(wiring.fam_at).max(initial=1))
    level, table = np.empty(int(wiring.cards.max(initial=1))), np.empty(largest)
    best = ProductBound(-np.inf, point.marginals)
    for k in range(n_starts):
        q = _start(factors, point, at, rng, k)
        if q is None:
            continue
        value = settle_product(
            wiring, factors.log_tables, at, MOST_SWEEPS, TOLERANCE, q, level, table
        )
        if value > best.value:
            best = ProductBound(float(value), q)
    return best._replace(value=factors.constant + best.value)


def _start(
    factors: FactorList, point: FixedPoint, at: Ints, rng: np.random.Generator, k: int
) -> Array | None:
    """Where the k-th ascent begins; None if no possible states were found."""
    if factors.is_positive and k % 2 == 0:
        if k == 0:
            return point.marginals.copy()
        q = rng.gamma(0.5, size=len(point.marginals)) + 1e-300
        return np.asarray(q / np.repeat(np.add.reduceat(q, at[:-1]), np.diff(at)))
    states = feasible_states(factors, point.marginals, None if k < 2 else rng)
    if states is None:
        return None
    q = np.zeros(len(point.marginals))
    q[at[:-1] + states] = 1.0
    return q
