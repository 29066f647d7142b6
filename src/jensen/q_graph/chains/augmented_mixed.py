"""Rows of labels and numbers with holes, as chains over graphs need them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jensen import q_theta
from jensen.inference.completed_cells import CellParameters, CompletedCells, drawn_cells
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.mixed_parameters import (
    AnyParameters,
    CountParameters,
    NumberParameters,
    numbers_at,
)
from jensen.models.mixed_network import MixedParameters, MixedRegressionNetwork
from jensen.q_graph.structural.mixed import IncompleteMixed
from jensen.q_graph.structural.objective import Flags, Objective
from jensen.q_hidden.mixed.cells import MixedRows
from jensen.scores.scorer import Scorer
from jensen.support.fields import add

Array = NDArray[np.float64]


class AugmentedMixed:
    """Rows of labels and numbers; implements `AugmentedRows`.

    What is missing is a code for every cell of a label, then a value for every cell of a number.
    A missing count is a leaf that nothing is known below, so it sums to one and is not drawn.

    Parameters
    ----------
    data
        Rows that count once each.
    objective
        The score, which has a prior of tables and of regressions.
    """

    is_quick = False
    hidden: ClassVar[tuple[int, ...]] = ()

    def __init__(self, data: IncompleteMixed, objective: Objective) -> None:
        self.data, self._objective = data, objective
        self.names, self.variables = data.names, data.variables
        n = len(self.names)
        self._rows: MixedRows = data.read(data.model(self._objective, np.zeros((n, n), bool)))
        is_count = np.array([data.kinds[v] == "count" for v in data.values], bool)
        self._labels = np.nonzero(self._rows.codes < 0)
        self._numbers = np.nonzero(np.isnan(self._rows.values) & ~is_count)
        self.width = len(self._labels[0]) + len(self._numbers[0])

    def begin(self, rng: np.random.Generator) -> Array:
        """Draw every cell from what is seen in its column."""
        parts = []
        for columns, (_, places) in zip(self._seen, (self._labels, self._numbers), strict=True):
            found = np.empty(len(places))
            for k, seen in enumerate(columns):
                here = places == k
                found[here] = rng.choice(seen, int(here.sum())) if here.any() else 0.0
            parts.append(found)
        return np.concatenate(parts)

    @cached_property
    def _seen(self) -> tuple[list[Array], list[Array]]:
        """What is known in each column of labels, every state once more; and of numbers."""
        cards = [self.data.variables[v].n_states for v in self.data.labels]
        labels = [
            np.concatenate([column[column >= 0], np.arange(card)]).astype(np.float64)
            for column, card in zip(self._rows.codes.T, cards, strict=True)
        ]
        return labels, [column[~np.isnan(column)] for column in self._rows.values.T]

    def completed(self, missing: Array) -> CompletedCells:
        """The rows with these values in the place of the missing ones."""
        codes, values = self._rows.codes.copy(), self._rows.values.copy()
        n = len(self._labels[0])
        codes[self._labels], values[self._numbers] = missing[:n], missing[n:]
        origin = np.arange(self.data.n_rows)
        return CompletedCells(codes, values, self._rows.weight, origin, (), False, 0.0)

    def scorer(self, missing: Array) -> Scorer:
        """See `AugmentedRows`."""
        return self.data.scorer(self._objective, self.completed(missing))

    def draw(self, joined: Flags, missing: Array, rng: np.random.Generator) -> Array:
        """See `AugmentedRows`."""
        model, t = self._parameters(joined, missing, rng)
        layout, names = model.layout, model.graph.nodes
        theta = CellParameters(t.tables, layout.forms_of(t.regressions))
        codes, values = self._rows.codes.copy(), self._rows.values.copy()
        for was_set, own, rows in self.data.groups(self._rows):
            here = theta.where_set(layout, was_set)
            found = drawn_cells(layout, names, here, rows, was_set, rng)
            codes[own], values[own] = found.codes, found.values
        return np.concatenate([codes[self._labels], values[self._numbers]])

    def network(self, joined: Flags, missing: Array, rng: np.random.Generator) -> MixedNetwork:
        """See `AugmentedRows`; constant columns are left out."""
        model, t = self._parameters(joined, missing, rng)
        numbers = tuple(self._as_written(model, t))
        return MixedNetwork(model.graph, model.variables, np.exp(t.tables), numbers)

    def _parameters(
        self, joined: Flags, missing: Array, rng: np.random.Generator
    ) -> tuple[MixedRegressionNetwork, MixedParameters]:
        """Tables and regressions that are drawn given the completed rows."""
        model = self.data.model(self._objective, joined)
        stats = model.stats_of(self.data.statistics(self.completed(missing), joined))
        eta = MixedParameters(*add(model.prior, stats))
        each = zip(model.families, eta, strict=True)
        return model, MixedParameters(*(q_theta.draw.read(f, e, None, rng)[0] for f, e in each))

    def _as_written(
        self, model: MixedRegressionNetwork, t: MixedParameters
    ) -> Iterator[AnyParameters]:
        """The regressions in the units of the columns; rates have none."""
        layout, places = (
            model.layout,
            [
                self.data.numbers.index(v) if v in self.data.numbers else -1
                for v in self.data.values
            ],
        )
        origin, unit = self.data.coordinates
        for k, one in enumerate(t.regressions):
            above = layout.number_parents[k]
            found = numbers_at(one, model.shift, k, above)
            if isinstance(found, CountParameters):
                yield found
                continue
            own, others = places[k], [places[u] for u in above]
            slopes = found.slopes * unit[own] / unit[others]
            moved = origin[own] + unit[own] * found.intercepts - slopes @ origin[others]
            yield NumberParameters(moved, slopes, np.square(unit[own]) * found.variances)
