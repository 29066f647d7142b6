"""Markov network of labels: one log-linear family over all effects of its tables.

The rows enter as the expected counts of the tables, whatever they miss: a row with holes has
log Z(clamped to what it shows) - log Z(free), and both are passes over cluster trees, over rows and
over nothing. The log Z of all rows is charged by the unit of complete counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, Variable
from jensen.exceptions import JensenError
from jensen.families.effects import Effects
from jensen.families.log_linear import FreeSums, LogLinear, LogLinearFamily
from jensen.inference.impossible import explain_row
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.models.discrete_network import Complete, Incomplete
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import FamilyTables, Hidden, NothingHidden
from jensen.q_hidden.trees.partition import shift_tables
from jensen.support.fields import record

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]

NOISE = 0.5
"""Standard deviation of random interactions at a start."""

COMPLETE_STEPS = 100
"""Steps of one sweep where the statistics do not change and a step is cheap."""


@record
class Weights(NamedTuple):
    """The coefficients of all effects."""

    weights: Any  # a LogLinear


class UndirectedRows(NamedTuple):
    """What a Markov network begins from, and names an impossible row by."""

    table: RowSource


@dataclass(frozen=True)
class LogLinearNetwork(Conjugate[Weights]):
    """Effects of an undirected graph, sums over all states, and penalties of interactions.

    Parameters
    ----------
    effects
        The tables, and their effects.
    sums
        Sums over all states.
    prior
        Penalties.
    graph, variables
        As in the fitted network.
    support
        (P,): 0, or -inf for entries that no row can have; None: none are.
    begin
        (F,): the coefficients of the first start.
    loose
        (F,): those that a random start moves: interactions around what is hidden or missing.
    hidden
        Variables without values.
    repeats
        Steps of a sweep.
    n_free
        Degrees of freedom.
    has_gaps
        Whether something is hidden or missing.
    """

    effects: Effects
    sums: FreeSums
    prior: Weights
    graph: Any
    variables: tuple[Variable, ...]
    support: Array | None
    begin: Array
    loose: NDArray[np.bool_]
    hidden: tuple[int, ...] = ()
    repeats: int = 1
    n_free: int | None = None
    has_gaps: bool = True

    @cached_property
    def families(self) -> Weights:
        """One family of all coefficients."""
        return Weights(LogLinearFamily(self.sums, self.effects.term_ptr, self.repeats))

    def log_tables(self, theta: Array) -> Array:
        """Flat log potentials at these coefficients."""
        tables = self.effects.tables(theta)
        return tables if self.support is None else tables + self.support

    def potentials(
        self, t: Weights
    ) -> Callable[[Complete | Incomplete], NothingHidden | FamilyTables]:
        """The log potentials; complete counts end in the number of rows, which pay log Z.

        Where rows have gaps tables are shifted so that none overflows; every row has one entry of
        each, and gets the shift back with its log Z.
        """
        log_tables, shift = self.log_tables(t.weights.first), 0.0
        if self.has_gaps:
            log_tables, shift = shift_tables(log_tables, self.effects.wiring)
        charged = np.append(log_tables, t.weights.count + shift)
        widest = int(np.diff(self.effects.wiring.fam_at).max(initial=0))
        padded = np.append(log_tables, np.zeros(widest))

        def of_unit(unit: Complete | Incomplete) -> NothingHidden | FamilyTables:
            if isinstance(unit, Complete):
                return NothingHidden(charged, unit.counts)
            return FamilyTables(padded, unit.rows, unit.part)

        return of_unit

    def expected_stats(self, unit: Complete | Incomplete, hidden: Hidden) -> Weights:
        """Σ of features, and how many rows."""
        size = int(self.effects.wiring.fam_at[-1])
        rows = float(hidden.moments[size]) if isinstance(unit, Complete) else 0.0
        first = self.effects.features(hidden.moments[:size])
        nothing = np.zeros(len(self.effects.terms))
        return Weights(LogLinear(first, np.float64(rows), np.zeros(len(first)), nothing))

    def point(self, eta: Weights) -> Weights:
        """Refused: there is no mean of θ."""
        raise JensenError("a Markov network has no posterior of its parameters in closed form")

    # --- from rows to a network ---

    def start(self, data: Data[UndirectedRows], k: int, rng: np.random.Generator) -> Weights:
        """A Gaussian around the coefficients of the k-th start, whose mode it is.

        Where variables are hidden, interactions around them are random, because equal states would
        stay equal for ever; where cells are missing, from the second start on.
        """
        theta = self.begin.copy()
        if self.hidden or k:
            theta[self.loose] += NOISE * rng.standard_normal(int(self.loose.sum()))
        return around(theta, len(self.effects.terms))

    def explain(self, data: Data[UndirectedRows], t: Weights) -> Exception:
        """Which row is impossible, and what contradicts in it."""
        return explain_row(self._network(t), data.rows.table, "under the potentials of start=")

    def simulate(self, t: Weights, n: int, rng: np.random.Generator) -> Table:
        """Rows of the variables that are not hidden."""
        seen = [x for v, x in enumerate(self.graph.nodes) if v not in self.hidden]
        return self._network(t).sample(n, None, None, rng).select(seen)

    def _network(self, t: Weights) -> UndirectedNetwork:
        return self.network_at(t.weights.first)

    def network_at(self, theta: Array) -> UndirectedNetwork:
        """The network at these coefficients."""
        tables, scopes = self.log_tables(theta), self.effects.scopes
        return UndirectedNetwork(self.graph, self.variables, scopes, tables, self.n_free)

    def finish(self, state: State[Weights, Weights], *, is_posterior: bool) -> UndirectedNetwork:
        """The network at the end of an ascent."""
        return self._network(state.t)


def around(theta: Array, n_terms: int) -> Weights:
    """η whose mode is θ."""
    n = len(theta)
    return Weights(LogLinear(theta, np.float64(0.0), np.ones(n), np.zeros(n_terms)))
