"""Conditional linear Gaussian network: labels given labels, numbers given labels and numbers.

A label has a table; a number has, for every configuration of its label parents, a regression on its
number parents; a count has a Poisson rate there. Families that miss no member are counted before
the first sweep; the other parts of rows are solved again in every sweep (`jensen.q_hidden.mixed`).
Numbers are kept relative to `shift`, near their means, because sums of squares lose their digits
far from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable
from jensen.exceptions import (
    CollapseError,
    DataError,
    ImpossibleError,
    UnboundedError,
    configurations,
    warn_of_configurations,
)
from jensen.families import NO_ROWS, gamma, linear_regression
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.families.gamma import Gamma, weak_prior
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import Regression
from jensen.families.product import Product
from jensen.graphs import DAG
from jensen.inference.mixed_network import MixedNetwork, MixedPosterior, config_text
from jensen.inference.mixed_parameters import (
    AnyParameters,
    eta_at,
    gamma_at,
    numbers_at,
    split,
    state_distances,
    to_standard,
)
from jensen.models.discrete_network import LEARNED, TableKind, by_falling_count, permute
from jensen.models.mixed_rows import CompleteFamilies, EncodedRows, Unit
from jensen.models.protocol import Conjugate, Data
from jensen.models.state_labels import best_pairs
from jensen.q_hidden import Hidden
from jensen.q_hidden.mixed.cells import MixedCells, MixedMoments
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.structures import NothingHidden
from jensen.support.fields import add, record
from jensen.support.text import option

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@record
class MixedParameters(NamedTuple):
    """Tables of all labels end to end, and the regressions of every number."""

    tables: Any  # (P,); None: the flat prior
    regressions: Any  # a tuple of `Regression`, of counts `Gamma`, by configuration; None: flat


@dataclass(frozen=True)
class ConditionalRegressions(Product):
    """The regressions of all numbers; one without an estimate is named, with its configuration.

    A configuration without any row, under the flat prior, has the regression of all rows together.
    """

    names: tuple[str, ...] = ()
    configs: Callable[[int, int], str] = lambda v, config: ""
    may_restart: bool = False  # whether another start may end where no component is lost

    def mode_stats(self, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """Read t at the modes."""
        return tuple(self._mode(v, one) for v, one in enumerate(eta))

    def _mode(self, v: int, eta: Regression | Gamma) -> Regression | Gamma:
        is_empty = ~(weights_of(eta) > 0.0)
        if is_empty.any() and not is_empty.all():
            eta = type(eta)(
                *(
                    np.where(is_empty.reshape(-1, *(1,) * (part.ndim - 1)), part.sum(0), part)
                    for part in eta
                )
            )
        try:
            if isinstance(eta, Gamma):
                return gamma_at(-gamma.mode_stats(eta).exposure[:, 0])
            return linear_regression.mode_stats(eta)
        except CollapseError as error:
            if self.may_restart:
                raise CollapseError((), self._why(v, error).marked) from None
            raise self._why(v, error) from None

    def _why(self, v: int, error: CollapseError) -> DataError:
        name = self.names[v]
        if NO_ROWS in error.why:
            return DataError(
                f"no row has a weight, so nothing says how {name!r} depends on its parents"
            )
        text = self.configs(v, error.components[0])
        where = f"where {text}, " if text else ""
        return UnboundedError(
            f"the likelihood of {name!r} has no bound: {where}it is constant in the rows that "
            f"count for it, or a linear function of its parents, or the rows are too few for so "
            f"many parents",
            f"leave out a parent or a column, or give a prior, {option('prior', 'bdeu-bge')}",
            child=name if where else "",
        )


@dataclass(frozen=True)
class MixedRegressionNetwork(Conjugate[MixedParameters]):
    """A directed graph of labels and numbers, and the prior of its tables and regressions."""

    layout: MixedLayout
    prior: MixedParameters
    graph: DAG = field(default_factory=DAG)
    variables: tuple[Variable, ...] = ()
    shift: Array = field(default_factory=lambda: np.empty(0))  # of every number
    hidden: tuple[int, ...] = ()  # labels without values
    may_relabel: bool = False  # whether the states of these have no meaning of their own
    constants: Mapping[str, float] = field(default_factory=dict)  # columns that are left out
    strength: float | None = None  # of the prior of the numbers
    kind: TableKind = LEARNED

    @cached_property
    def families(self) -> MixedParameters:
        """A Dirichlet per row of every table, a regression per configuration of every number."""
        parts = tuple(gamma if c else linear_regression for c in self.layout.is_count)
        names = tuple(self.graph.nodes[v] for v in self.layout.numbers)
        regressions = ConditionalRegressions(
            parts, names, self._config_text, may_restart=bool(self.hidden)
        )
        return MixedParameters(self.kind.family(self.layout.wiring), regressions)

    def _config_text(self, v: int, config: int) -> str:
        return config_text(self.layout, self.variables, v, config)

    def potentials(self, t: MixedParameters) -> Callable[[Unit], NothingHidden | MixedCells]:
        """Log tables and forms, and what a unit hides."""
        forms = self.layout.forms_of(t.regressions)

        def of_unit(unit: Unit) -> NothingHidden | MixedCells:
            if isinstance(unit, CompleteFamilies):
                flat = np.concatenate([t.tables, forms, [1.0]])
                return NothingHidden(flat, np.concatenate([*unit.stats, [unit.base]]))
            return MixedCells(t.tables, forms, unit.shapes.kinds, unit)

        return of_unit

    def expected_stats(self, unit: Unit, hidden: Hidden) -> MixedParameters:
        """Counts of every table, moments of every regression."""
        if isinstance(unit, CompleteFamilies):
            return self.stats_of(unit.stats)
        return self.stats_of(hidden.moments)

    def stats_of(self, found: MixedMoments) -> MixedParameters:
        """Statistics from counts and moments."""
        return MixedParameters(found.counts, self.layout.stats_of(found.moments))

    def point(self, eta: MixedParameters) -> MixedParameters:
        """Read t at the means of tables, coefficients, precisions and rates."""
        regressions = tuple(
            gamma_at(-gamma.mean_stats(one).exposure[:, 0])
            if isinstance(one, Gamma)
            else linear_regression.stats_at_mean(one)
            for one in eta.regressions
        )
        return MixedParameters(np.log(self.families.tables.mean(eta.tables)), regressions)

    # --- from rows to a network ---

    def start(self, data: Data[EncodedRows], k: int, rng: np.random.Generator) -> MixedParameters:
        """Prior plus what was counted, and random statistics where something is missing."""
        counted: MixedMoments = data.rows.counted.stats
        if not data.units.is_complete:
            counted = data.rows.starts.statistics(counted, rng)
        return MixedParameters(*add(self.prior, self.stats_of(counted)))

    def explain(self, data: Data[EncodedRows], t: MixedParameters) -> Exception:
        """Which rows are impossible at this θ."""
        return ImpossibleError(
            "a row has probability 0, or a density that cannot be computed, under the parameters "
            "of start=: a label occurs there that they give no probability to"
        )

    def finish(
        self, state: State[MixedParameters, MixedParameters], *, is_posterior: bool
    ) -> MixedNetwork:
        """The network at the end of an ascent, hidden states in a stable order."""
        eta, stats = self._in_order(state.stats.tables, state.eta), state.stats
        family = self.families.tables
        if is_posterior:
            told = family.describe(eta.tables)
            posterior = MixedPosterior(
                told["concentration"],
                self.shift,
                tuple(map(to_standard, eta.regressions)),
            )
            numbers = posterior.point(self.layout)
            return self._network(told["mean"], numbers, posterior)
        numbers = self._numbers(self._in_order(stats.tables, state.t))
        network = self._network(family.mode(eta.tables), numbers)
        self._warn_of_empty(network, eta)
        return network

    def _numbers(self, t: MixedParameters) -> tuple[AnyParameters, ...]:
        """The regressions of all numbers, in the units of the columns."""
        pairs = enumerate(zip(t.regressions, self.layout.number_parents, strict=True))
        return tuple(numbers_at(one, self.shift, v, above) for v, (one, above) in pairs)

    def simulate(self, t: MixedParameters, n: int, rng: np.random.Generator) -> Table:
        """Draw n rows at this θ, without the hidden labels."""
        network = self._network(np.exp(t.tables), self._numbers(t))
        gone = {self.graph.nodes[self.layout.labels[u]] for u in self.hidden}
        rows = network.sample(n, None, None, rng)
        return rows.select([name for name in self.graph.nodes if name not in gone])

    def _warn_of_empty(self, network: MixedNetwork, eta: MixedParameters) -> None:
        """Warn of configurations of parents without rows and without a prior."""
        weight, known = eta.tables, self.kind.known
        weight = weight if known is None else np.where(np.isnan(known), weight, 1.0)
        empty = self.families.tables.totals(weight) <= 0.0
        found = list(configurations(network.label_network, empty))
        names = self.families.regressions.names
        for v, one in enumerate(eta.regressions):
            none = np.flatnonzero(weights_of(one) <= 0.0).tolist()
            found += [f"p({names[v]} | {self._config_text(v, config)})" for config in none]
        if found:
            filled_in = "Uniform probabilities, or the regression of all rows together, were"
            warn_of_configurations(found[:5], len(found), filled_in, "bdeu-bge")

    def _network(
        self,
        tables: Array,
        numbers: tuple[AnyParameters, ...],
        posterior: MixedPosterior | None = None,
        samples: Array | None = None,
    ) -> MixedNetwork:
        return MixedNetwork(
            self.graph, self.variables, tables, numbers, posterior, samples, self.constants,
            self.strength,
        )  # fmt: skip

    def _in_order(self, counts: Array, parameters: MixedParameters) -> MixedParameters:
        """Tables and regressions with the states of hidden labels by falling count."""
        if not (self.hidden and self.may_relabel):
            return parameters
        orders = by_falling_count(self.layout.wiring, self.hidden, counts)
        regressions = tuple(
            type(one)(*(part[configs] for part in one))
            for one, configs in zip(
                parameters.regressions, self.layout.permuted_configs(orders), strict=True
            )
        )
        return MixedParameters(permute(self.layout.wiring, orders, parameters.tables), regressions)

    # --- chains ---

    def keep(self, state: State[MixedParameters, MixedParameters], *, is_mode: bool) -> Array:
        """Tables, then intercepts, slopes and variances; hidden states in a stable order."""
        t = self._in_order(state.stats.tables, state.t)
        return np.concatenate([np.exp(t.tables), *(one.flat() for one in self._numbers(t))])

    def settle(self, draws: Array, best: int) -> Array:
        """Draws with the states of hidden labels named as in the likeliest one.

        Counts alone do not tell states apart that are about as frequent.
        """
        if not (self.hidden and self.may_relabel):
            return draws
        layout, found = self.layout, []
        at = self.unpack(draws[best])
        for tables, numbers in map(self.unpack, draws):
            costs = {
                u: state_distances(layout, u, self.shift, (tables, numbers), at)
                for u in self.hidden
            }
            orders = {u: np.argsort(best_pairs(-cost)) for u, cost in costs.items()}
            moved = [
                type(one)(*(part[configs] for part in one)).flat()
                for one, configs in zip(numbers, layout.permuted_configs(orders), strict=True)
            ]
            found.append(np.concatenate([permute(layout.wiring, orders, tables), *moved]))
        return np.array(found)

    @property
    def kept_width(self) -> int:
        """Entries of all tables, and of all regressions."""
        return int(self.layout.wiring.fam_at[-1]) + sum(self.layout.n_kept)

    def average(self, draws: Array) -> MixedParameters:
        """An η whose mode is the mean of tables and regressions."""
        tables, numbers = self.unpack(draws.mean(0))
        return self.near(tables, numbers)

    def unpack(self, flat: Array) -> tuple[Array, tuple[AnyParameters, ...]]:
        """Tables and regressions from what was kept."""
        return unpack(self.layout, flat, self.families.tables)

    def near(self, tables: Array, numbers: Sequence[AnyParameters]) -> MixedParameters:
        """An η whose mode is at these tables and regressions."""
        pairs = enumerate(zip(numbers, self.layout.number_parents, strict=True))
        return MixedParameters(
            tables, tuple(eta_at(one, self.shift, v, above) for v, (one, above) in pairs)
        )

    def finish_draws(self, draws: Array, best: int) -> MixedNetwork:
        """A network with all samples."""
        return self._network(*self.unpack(draws.mean(0)), samples=draws)


def weights_of(stats: Regression | Gamma) -> Array:
    """(K,): of how many rows these statistics are, configuration by configuration."""
    return stats.exposure[:, 0] if isinstance(stats, Gamma) else stats.count


def prior_of_regressions(
    layout: MixedLayout, joint: NormalWishartPrior, shift: Array, means: Array
) -> tuple[Regression | Gamma, ...]:
    """What a prior of all numbers says of each regression, in every configuration of labels.

    `joint` is the prior of the numbers that are no counts. Of a count every rate has the gamma
    prior that mixtures have, by the mean of its column.
    """
    found: list[Regression | Gamma] = []
    is_count = np.array(layout.is_count, bool)
    place = (np.cumsum(~is_count) - 1).tolist()
    for v, (above, k) in enumerate(zip(layout.number_parents, layout.n_configs, strict=True)):
        if is_count[v]:
            found.append(weak_prior(np.full((k, 1), means[v])))
            continue
        one = joint.regression(place[v], [place[u] for u in above], shift[~is_count])
        found.append(Regression(*(np.repeat(part, k, axis=0) for part in one)))
    return tuple(found)


def moments_of(layout: MixedLayout, stats: Sequence[Regression | Gamma]) -> Array:
    """Statistics of regressions as moments in the layout of forms."""
    parts = []
    for one, n in zip(stats, layout.n_members, strict=True):
        found = np.zeros((len(weights_of(one)), 1 + n * n))
        found[:, 0] = weights_of(one)
        if isinstance(one, Gamma):
            found[:, 1] = found[:, 0]
            found[:, 2] = found[:, 3] = one.total[:, 0]
            parts.append(found.ravel())
            continue
        square = found[:, 1:].reshape(-1, n, n)
        square[:, :-1, :-1] = one.strength
        square[:, -1, :-1] = square[:, :-1, -1] = one.first
        square[:, -1, -1] = one.second
        parts.append(found.ravel())
    return np.concatenate([np.empty(0), *parts])


def unpack(
    layout: MixedLayout, flat: Array, family: SegmentedDirichlet
) -> tuple[Array, tuple[AnyParameters, ...]]:
    """Tables, whose rows sum to one, and regressions from one flat array."""
    tables, numbers = split(layout, flat)
    return family.share(tables), numbers
