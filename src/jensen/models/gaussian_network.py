"""Gaussian Bayesian network: every variable is a linear regression on its parents.

Columns are kept relative to `shift`, near their means: statistics are sums of squares, which lose
their digits far from 0. With z = (1, x) all statistics are entries of Σ z zᵀ. Rows that miss the
same columns are encoded as one pattern, so that a sweep takes no longer for more rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberBlock, NumberRows, summarise
from jensen.data.statistics import Moments
from jensen.data.variable import Variable
from jensen.exceptions import CollapseError, DataError, UnboundedError
from jensen.families import NO_ROWS, linear_regression
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import Regression
from jensen.families.product import Product
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import topological_order
from jensen.inference.gaussian_joint import joint
from jensen.inference.gaussian_network import (
    GaussianNetwork,
    RegressionPosteriors,
    point_network,
)
from jensen.inference.gaussian_queries import sample
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.mixed_parameters import NumberParameters, eta_at, regressions_at
from jensen.inference.regression import LinearRegression
from jensen.models.emissions.gaussian_rows import patterns_of
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import GaussianCells, Hidden
from jensen.q_hidden.gaussian_cells import LOG_2PI, CellPattern, compressed
from jensen.support.fields import add, record
from jensen.support.text import option

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@record
class Regressions(NamedTuple):
    """One regression per variable, each of one component."""

    regressions: Any  # a tuple of `Regression`; None: the flat prior


class PatternUnit(NamedTuple):
    """A unit: rows by what they miss, in all of which the same regressions have no say.

    They are that of a variable that was set, and those of missing numbers below which nothing is
    seen: they integrate to one.
    """

    patterns: tuple[CellPattern, ...]
    silent: tuple[int, ...] = ()

    @property
    def target(self) -> int:
        """The variable that was set, -1 if none was, where nothing else is silent."""
        return self.silent[0] if self.silent else -1

    @property
    def weight(self) -> Array:
        """Values are totals already."""
        return np.ones(len(self.patterns))


@dataclass(frozen=True)
class NodeRegressions(Product):
    """Regressions side by side; one without an estimate is named."""

    names: tuple[str, ...] = ()

    def mean_stats(self, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """E[t(θ)], node by node."""
        return self._each(linear_regression.mean_stats, eta)

    def mode_stats(self, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """Read t at the modes."""
        return self._each(linear_regression.mode_stats, eta)

    def _each(self, f: Callable[[Any], Any], eta: tuple[Any, ...]) -> tuple[Any, ...]:
        found = []
        for name, one in zip(self.names, eta, strict=True):
            try:
                found.append(f(one))
            except CollapseError as error:
                raise _why(name, error.why) from None
        return tuple(found)


def _why(name: str, why: str) -> DataError:
    if NO_ROWS in why:
        return DataError(
            f"no row has a weight, so nothing says how {name!r} depends on its parents"
        )
    return UnboundedError(
        f"the likelihood of {name!r} has no bound: it is constant in the rows that count for it, "
        f"or a linear function of its parents, or they are of each other, or the rows are too few "
        f"for so many parents",
        f"leave out a column, or give a prior, {option('prior', 'bge')}",
    )


@dataclass(frozen=True)
class RegressionNetwork(Conjugate[Regressions]):
    """A directed graph of continuous variables, and the prior of its regressions."""

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    prior: Regressions
    graph: DAG = field(default_factory=DAG)
    shift: Array = field(default_factory=lambda: np.empty(0))  # (n,)
    held: NormalWishartPrior | None = None  # the prior in the units of the columns
    constants: Mapping[str, float] = field(default_factory=dict)  # columns that are left out

    @cached_property
    def families(self) -> Regressions:
        """One regression for every variable."""
        parts = (linear_regression,) * len(self.names)
        return Regressions(NodeRegressions(parts, self.names))

    @cached_property
    def places(self) -> tuple[list[int], ...]:
        """For each variable the places in z of what it is regressed on: the constant, parents."""
        return tuple([0, *(p + 1 for p in parents)] for parents in self.parents)

    @property
    def blank(self) -> Regressions:
        """Zeros."""
        n = len(self.names)
        return self.stats_of(np.zeros((n + 1, n + 1)))

    def potentials(self, t: Regressions) -> Callable[[PatternUnit], GaussianCells]:
        """The quadratic form of z that all regressions with a say add up to."""
        form = cache(partial(self._form, t))
        return lambda unit: GaussianCells(*form(unit.silent), unit.patterns)

    def _form(self, t: Regressions, silent: tuple[int, ...]) -> tuple[float, Array]:
        """The constant and the quadratic; silent variables do not contribute."""
        quadratic = np.zeros((len(self.names) + 1,) * 2)
        constant = 0.0
        for v, (part, places) in enumerate(zip(t.regressions, self.places, strict=True)):
            if v in silent:
                continue
            constant -= 0.5 * LOG_2PI
            constant += float(part.count[0])
            quadratic[v + 1, v + 1] += -2.0 * part.second[0]
            quadratic[v + 1, places] -= part.first[0]
            quadratic[places, v + 1] -= part.first[0]
            quadratic[np.ix_(places, places)] += -2.0 * part.strength[0]
        return constant, quadratic

    def expected_stats(self, unit: PatternUnit, hidden: Hidden) -> Regressions:
        """The entries of Σ E[z zᵀ] that each regression reads."""
        return self.stats_of(hidden.moments, unit.silent)

    def counted(self, unit: PatternUnit) -> Regressions:
        """The statistics of rows that miss nothing."""
        moments = np.zeros((len(self.names) + 1,) * 2)
        for pattern in unit.patterns:
            moments[np.ix_(pattern.seen, pattern.seen)] += pattern.root.T @ pattern.root
        return self.stats_of(moments, unit.silent)

    def stats_of(self, moments: Array, silent: Sequence[int] = ()) -> Regressions:
        """The statistics of every regression from Σ z zᵀ; none of silent variables."""
        found, nothing = [], np.zeros_like(moments)
        for v, places in enumerate(self.places):
            moments_here = nothing if v in silent else moments
            block = moments_here[np.ix_(places, places)]
            first, second = moments_here[v + 1, places], moments_here[v + 1, v + 1]
            count = moments_here[None, 0, 0]
            found.append(Regression(count, second[None], first[None], block[None]))
        return Regressions(tuple(found))

    def point(self, eta: Regressions) -> Regressions:
        """Read t at the means of coefficients and precisions."""
        return Regressions(tuple(map(linear_regression.stats_at_mean, eta.regressions)))

    # --- from rows to a network ---

    def start(self, data: Data[NumberRows], k: int, rng: np.random.Generator) -> Regressions:
        """Complete data are their own answer; else no dependence first, then random ones."""
        if data.units.is_complete:
            stats = self.blank
            for unit in data.units.each():
                stats = add(stats, self.counted(unit))
        else:
            moments = independent_moments(data.rows, self.shift)
            stats = self.stats_of(moments if k == 0 else _with_dependence(moments, rng))
        return Regressions(*add(self.prior, stats))

    def explain(self, data: Data[NumberRows], t: Regressions) -> Exception:
        """Densities are never 0, but a row may be too far away to be computed."""
        return DataError("a row is too far from start= to have a density that can be computed")

    def finish(
        self, state: State[Regressions, Regressions], *, is_posterior: bool
    ) -> GaussianNetwork:
        """The network at the end of an ascent, of columns as they came."""
        if not is_posterior:
            return self.network(state.t)
        standard = tuple(linear_regression.to_standard(eta) for eta in state.eta.regressions)
        network = point_network(self.graph, RegressionPosteriors(self.shift, standard))
        return replace(network, prior=self.held, constants=self.constants)

    def simulate(self, t: Regressions, n: int, rng: np.random.Generator) -> Array:
        """Rows (n, variables), in the units of the columns."""
        return sample(self.network(t), n, None, None, rng)

    def network(self, t: Regressions) -> GaussianNetwork:
        """The network of one θ, of columns as they came."""
        graph, regressions = self.graph, []
        for name, one in zip(graph.nodes, self._numbers(t), strict=True):
            by_parent = dict(zip(graph.parents(name), map(float, one.slopes[0]), strict=True))
            numbers = float(one.intercepts[0]), by_parent, float(one.variances[0])
            regressions.append(LinearRegression(name, *numbers))
        return GaussianNetwork(graph, tuple(regressions), prior=self.held, constants=self.constants)

    def _numbers(self, t: Regressions) -> tuple[NumberParameters, ...]:
        """The regressions of all variables, of columns as they came."""
        pairs = enumerate(zip(t.regressions, self.parents, strict=True))
        return tuple(regressions_at(part, self.shift, v, above) for v, (part, above) in pairs)

    # --- chains: intercept, slopes and variance of every regression ---

    def keep(self, state: State[Regressions, Regressions], *, is_mode: bool) -> Array:
        """In the units of the columns."""
        return np.concatenate([np.empty(0), *(one.flat() for one in self._numbers(state.t))])

    @property
    def kept_width(self) -> int:
        """Entries of all regressions."""
        return sum(len(above) + 2 for above in self.parents)

    def average(self, draws: Array) -> Regressions:
        """An η whose mode is the mean of the regressions."""
        pairs = enumerate(zip(self._unpack(draws.mean(0)), self.parents, strict=True))
        return Regressions(tuple(eta_at(one, self.shift, v, above) for v, (one, above) in pairs))

    def _unpack(self, flat: Array) -> tuple[NumberParameters, ...]:
        ends = np.cumsum([len(above) + 2 for above in self.parents])
        return tuple(NumberParameters.from_flat(x, 1) for x in np.split(flat, ends[:-1]))

    def finish_draws(self, draws: Array, best: int) -> MixedNetwork:
        """All samples, as a network without labels, whose answers are mixtures over them."""
        variables = tuple(Variable(name, "continuous") for name in self.graph.nodes)
        numbers = self._unpack(draws.mean(0))
        return MixedNetwork(
            self.graph, variables, np.empty(0), numbers, samples=draws, constants=self.constants
        )

    def start_from(self, rows: Moments) -> Regressions:
        """Prior plus what the moments of all variables, in the order of their names, say."""
        z = np.append(1.0, rows.mean - self.shift)
        moments = rows.weight * np.outer(z, z)
        moments[1:, 1:] += rows.scatter
        return Regressions(*add(self.prior, self.stats_of(moments)))

    def start_near(self, network: GaussianNetwork, total_weight: float) -> Regressions:
        """Prior plus what as many rows would say that were drawn from a network."""
        model = joint(network)
        return self.start_from(
            Moments(total_weight, model.mean, np.asarray(total_weight * model.covariance))
        )


def _with_dependence(moments: Array, rng: np.random.Generator) -> Array:
    """The same means and variances, with random correlations."""
    n = len(moments) - 1
    total = moments[0, 0]
    mean = moments[0, 1:] / total
    deviations = np.sqrt(np.diagonal(moments)[1:] / total - mean**2)
    normal = rng.standard_normal((n, n + 2))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    found = moments.copy()
    found[1:, 1:] = np.outer(mean, mean) + np.outer(deviations, deviations) * (normal @ normal.T)
    found[1:, 1:] *= total
    return found


def independent_moments(rows: NumberRows, shift: Array) -> Array:
    """Σ z zᵀ of rows as heavy as the data, with their means and variances and no dependence."""
    found = summarise(rows)
    z = np.append(1.0, found.mean - shift)
    spread = np.diag(np.append(0.0, found.variance))
    return np.asarray(rows.total_weight * (np.outer(z, z) + spread))


def make_prior(
    prior: NormalWishartPrior, parents: Sequence[Sequence[int]], shift: Array
) -> Regressions:
    """What the prior of all columns says of each regression; the evidence is then BGe."""
    return Regressions(tuple(prior.regression(v, own, shift) for v, own in enumerate(parents)))


UNIT_PATTERNS = 256
"""Patterns of one unit of work; fixed, so that sums never depend on threads."""

Key = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""The variables whose regressions have no say, the places that are missing, and those seen."""


def encode(
    rows: NumberRows,
    shift: Array,
    targets: NDArray[np.int64] | None = None,
    *,
    parents: Sequence[Sequence[int]] | None = None,
) -> Units:
    """Rows of weight > 0 as units for the loop; rows with other silent regressions apart.

    Parameters
    ----------
    targets
        (rows,): the variable that was set, -1 where none was; None: nowhere.
    parents
        Those of every variable: missing numbers below which nothing is seen are left out of h, for
        they integrate to one. None: all of them are kept, as where graphs are compared.
    """

    def of_block(block: NumberBlock) -> dict[Key, CellPattern]:
        here = np.full(len(block.weight), -1) if targets is None else targets[block.start :]
        found: dict[Key, CellPattern] = {}
        for v in np.unique(here[: len(block.weight)]).tolist():
            chosen = here[: len(block.weight)] == v
            for pattern in _cells(block.values[chosen] - shift, block.weight[chosen]):
                unseen = () if parents is None else _unseen(parents, pattern.missing - 1, v)
                missing = np.setdiff1d(pattern.missing, np.array(unseen, np.intp) + 1)
                silent = tuple(sorted({*unseen, *((v,) if v >= 0 else ())}))
                key = silent, tuple(missing.tolist()), tuple(pattern.seen.tolist())
                found |= _join(found, {key: pattern._replace(missing=missing)})
        return found

    found: dict[Key, CellPattern] = rows.sum(of_block, _join) or {}
    units = []
    for silent, keys in groupby(sorted(found), key=lambda key: key[0]):
        patterns = tuple(found[key] for key in keys)
        starts = range(0, len(patterns), UNIT_PATTERNS)
        units += [PatternUnit(patterns[k : k + UNIT_PATTERNS], silent) for k in starts]
    is_complete = not any(missing for _, missing, _ in found)
    return Units(tuple(units), rows.total_weight, is_complete)


def _unseen(
    parents: Sequence[Sequence[int]], missing: NDArray[np.intp], target: int
) -> tuple[int, ...]:
    """The missing variables that are no ancestor of a seen one; what was set has no parents."""
    matters = np.ones(len(parents), bool)
    matters[missing] = False
    for v in topological_order(parents)[::-1]:
        for u in parents[v] if v != target else ():
            matters[u] |= matters[v]
    return tuple(np.flatnonzero(~matters).tolist())


def _cells(values: Array, weight: Array) -> list[CellPattern]:
    """The patterns of some rows."""
    patterns = []
    for pattern in patterns_of(values):
        own = weight[pattern.rows]
        z = np.column_stack([np.ones(len(own)), pattern.x.T]) * np.sqrt(own)[:, None]
        missing = pattern.order[: pattern.n_missing].astype(np.intp) + 1
        seen = np.append(0, pattern.seen + 1).astype(np.intp)
        patterns.append(CellPattern(missing, seen, compressed(z), float(own.sum())))
    return patterns


def _join(a: dict[Key, CellPattern], b: dict[Key, CellPattern]) -> dict[Key, CellPattern]:
    """Patterns of neighbouring blocks, those that both have as one."""
    joined = {**a, **b}
    for key in a.keys() & b.keys():
        root = compressed(np.concatenate([a[key].root, b[key].root]))
        joined[key] = a[key]._replace(root=root, weight=a[key].weight + b[key].weight)
    return joined
