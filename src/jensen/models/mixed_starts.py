"""Where the fit of a network of labels and numbers begins if something is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import ColumnSummary
from jensen.models.discrete_network import fill_counts
from jensen.q_hidden.mixed.cells import MixedMoments
from jensen.q_hidden.mixed.layout import MixedLayout

Array = NDArray[np.float64]

SEEN_ROWS = 20_000
"""So many rows are looked at for the centres of hidden states."""


@dataclass(frozen=True, eq=False)
class MixedStarts:
    """Random statistics for what is never, or not always, seen.

    Regressions without a missing member stay as counted: they are the answer already. Others get a
    light share of rows in which nothing depends on anything, so that they have an estimate. Below
    hidden labels every state begins around a row, chosen far from those of the other states
    (k-means++), because equal states would stay equal for ever.
    """

    layout: MixedLayout
    hidden: tuple[int, ...]  # labels without values
    touched: NDArray[np.int64]  # labels whose tables miss a member somewhere
    incomplete: NDArray[np.bool_]  # of every number: whether its regression does
    mean: Array  # of every number, relative to the shift
    variance: Array
    total_weight: float
    rows: Array  # (n, numbers): some rows, relative to the shift; NaN is missing

    @classmethod
    def of(
        cls,
        layout: MixedLayout,
        hidden: tuple[int, ...],
        gaps: set[int],
        summary: ColumnSummary,
        shift: Array,
        total_weight: float,
        rows: Array,
    ) -> MixedStarts:
        """For rows in which these nodes are missing somewhere."""
        touched = [u for u, v in enumerate(layout.labels) if {v, *layout.parents[v]} & gaps]
        incomplete = [bool({v, *layout.parents[v]} & gaps) for v in layout.numbers]
        return cls(
            layout, hidden, np.array(touched, np.int64), np.array(incomplete, bool),
            summary.mean - shift, summary.variance, total_weight, rows[:SEEN_ROWS] - shift,
        )  # fmt: skip

    def light(self, layout: MixedLayout) -> Array:
        """Moments of one row in every configuration in which nothing depends on anything."""
        own = replace(self, layout=layout)
        return np.concatenate(
            [np.empty(0), *(own._around(v, {}) for v in range(len(layout.numbers)))]
        )

    def statistics(self, counted: MixedMoments, rng: np.random.Generator) -> MixedMoments:
        """What was counted, and random statistics where something is missing."""
        counts = fill_counts(
            self.layout.wiring, counted.counts, self.touched, self.total_weight, self.hidden, rng
        )
        centres = {u: self._centres(int(self.layout.wiring.cards[u]), rng) for u in self.hidden}
        moments = counted.moments.copy()
        for v in np.flatnonzero(self.incomplete).tolist():
            at = slice(self.layout.form_at[v], self.layout.form_at[v + 1])
            moments[at] += self._around(v, centres)
        return MixedMoments(counts, moments)

    def _around(self, v: int, centres: dict[int, Array]) -> Array:
        """Moments of rows around the centres of hidden parents, or around the mean."""
        layout = self.layout
        n_configs, members = layout.n_configs[v], [*layout.number_parents[v], v]
        mean = np.tile(self.mean[members], (n_configs, 1))
        above = [u for u in layout.label_parents[v] if u in centres]
        if above:
            configs = np.arange(n_configs)
            states = {u: configs // layout.strides[v][u] % len(centres[u]) for u in above}
            around = np.mean([centres[u][states[u]][:, members] for u in above], axis=0)
            mean = 0.5 * (mean + around) if layout.is_count[v] else around  # a rate of 0 stays 0
        weight = max(self.total_weight / n_configs, 1.0) if above else 1.0
        z = np.column_stack([np.ones(n_configs), mean])
        square = z[:, :, None] * z[:, None, :] + np.diag(np.append(0.0, self.variance[members]))
        found = np.column_stack([np.ones(n_configs), square.reshape(n_configs, -1)])
        return np.asarray(weight * found.ravel())

    def _centres(self, n_states: int, rng: np.random.Generator) -> Array:
        """(states, numbers): rows far from each other; what they miss is at the mean."""
        deviation = np.sqrt(np.where(self.variance > 0.0, self.variance, 1.0))  # equal counts
        scaled = np.nan_to_num((self.rows - self.mean) / deviation)
        chosen = [scaled[rng.integers(len(scaled))]]
        for _ in range(n_states - 1):
            away = np.min([np.square(scaled - one).sum(1) for one in chosen], axis=0)
            share = away / away.sum() if away.sum() > 0.0 else None
            chosen.append(scaled[rng.choice(len(scaled), p=share)])
        return np.asarray(self.mean + np.array(chosen) * deviation)
