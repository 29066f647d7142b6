"""Where learning begins: random tables that break symmetry, or tables that the caller knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.families.dirichlet import SegmentedDirichlet
from jensen.graphs.wiring import Wiring

if TYPE_CHECKING:
    from jensen.models.encoding import Encoded

Array = NDArray[np.float64]


def random_counts(
    wiring: Wiring, data: Encoded, hidden: Iterable[int], rng: np.random.Generator
) -> Array:
    """Statistics to begin with: what was counted, and random ones where something is missing.

    Tables in which nothing is ever missing stay as counted: they are the answer already. In the
    others every cell is possible. Those of hidden variables and of their children get random rows
    as heavy as the data, because equal rows would stay equal for ever.
    """
    family = SegmentedDirichlet(wiring.row_lengths())
    lengths = np.diff(wiring.fam_at)
    noise = family.share(rng.standard_gamma(1.0, int(wiring.fam_at[-1])) * _own(wiring, data))
    is_hidden = np.zeros(len(wiring.cards), bool)
    is_hidden[list(hidden)] = True
    weight = np.zeros(wiring.n_families)
    for f in data.touched:
        n_rows = lengths[f] // wiring.cards[f]
        heavy = is_hidden[wiring.members(f)].any()
        weight[f] = max(data.units.total_weight / n_rows, 1.0) if heavy else 1.0
    return data.counts + noise * np.repeat(weight, lengths)


def _own(wiring: Wiring, data: Encoded) -> Array:
    """How often each state of the variable of a table was counted, plus one, in every row."""
    parts = []
    for f, card in enumerate(wiring.cards):
        counts = data.counts[wiring.fam_at[f] : wiring.fam_at[f + 1]].reshape(-1, card)
        parts.append(np.broadcast_to(counts.sum(0) + 1.0, counts.shape).ravel())
    return np.concatenate([np.empty(0), *parts])
