"""States of hidden variables in a stable order: their numbers mean nothing to the data."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.wiring import Wiring

Array = NDArray[np.float64]


def by_falling_count(
    wiring: Wiring, hidden: Iterable[int], stats: Array
) -> dict[int, NDArray[np.intp]]:
    """For each hidden variable its states, the most frequent first."""
    orders = {}
    for v in hidden:
        counts = stats[wiring.fam_at[v] : wiring.fam_at[v + 1]].reshape(-1, wiring.cards[v]).sum(0)
        orders[v] = np.argsort(-counts, kind="stable")
    return orders


def permute(wiring: Wiring, orders: dict[int, NDArray[np.intp]], flat: Array) -> Array:
    """Tables, flat, with the states of some variables in another order."""
    result = flat.copy()
    for f in range(wiring.n_families):
        members = wiring.members(f)
        here = slice(wiring.fam_at[f], wiring.fam_at[f + 1])
        for axis, v in enumerate(members):
            if int(v) in orders:
                table = result[here].reshape(wiring.cards[members])
                result[here] = np.take(table, orders[int(v)], axis=axis).ravel()
    return result
