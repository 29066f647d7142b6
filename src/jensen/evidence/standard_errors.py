"""Standard errors of the parameters of networks, values missing: Louis' identity, and its inverse.

The observed information in free coordinates is inverted where it tells anything, and carried to
probabilities, coefficients and standard deviations by their derivatives (the delta method). Of
complete rows the errors are the textbook's: √(p (1 - p) / n), s √((XᵀX)⁻¹) and s / √(2 n).

What has no standard error says why: a configuration of the parents that no row shows, a
probability at the boundary, a table that was held, a direction in which the likelihood is flat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.data.variable import Variable
from jensen.evidence.coordinates import FreeCoordinates, coordinates
from jensen.evidence.laplace import not_known
from jensen.exceptions import EstimateWarning, JensenError, TooLargeError, warn
from jensen.families.dirichlet import HeldTables
from jensen.free_energy import expect
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.mixed_parameters import NumberParameters
from jensen.inference.network import Network
from jensen.inference.parameter_errors import (
    BOUNDARY,
    HELD,
    TOLD,
    UNKNOWN,
    UNSEEN,
    ParameterErrors,
    StandardErrors,
)
from jensen.models.protocol import AnyModel
from jensen.models.state_model import flatten
from jensen.q_theta import read_mode
from jensen.support.fields import add
from jensen.support.machine import check_memory
from jensen.support.text import bare, one_of, option

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 2000
"""Free parameters of rows with holes: each costs two E-steps and a row of a matrix."""
FEW = 1e-3
"""Rows: a state that fewer show is at the boundary, and so few tell nothing of a configuration."""
FLAT = 1e-7
"""A direction that keeps a smaller share of the information of complete rows is not told."""
LEANS = 1e-3
"""The share of a parameter's own standard deviation that such a direction may have."""
RISE = 0.1
"""Nats by which the log-likelihood may still rise to its maximum."""
FOREIGN = 10.0
"""Nats beyond which the rows are other ones than those of the fit."""


def check_maximum(network: FittedNetwork, method: str | None, prior: Any) -> None:
    """Refuse what was learned by another method than EM."""
    name = method or ("em" if prior is None else "vbem")
    if network.has_posterior or network.n_samples or name != "em":
        told = f"use {option('method', 'em')}"
        if network.has_posterior:
            told = "posterior(name) has intervals"
        elif network.n_samples:
            told = "its samples tell how sure parameters are"
        raise JensenError(
            f"standard errors are those of the maximum that 'em' ends at, and this network was "
            f"learned by {name!r}: {told}"
        )


def standard_errors(network: FittedNetwork, model: AnyModel, units: Units) -> StandardErrors:
    """Those of a network at the maximum of what `model` makes of the encoded rows."""
    _check_same(network, model)
    t = read_mode(model.families, model.average(_flat(network)[None]))  # type: ignore[attr-defined]
    sums, _ = expect(model, units, q_hidden.exact, t)
    if sums.value == -np.inf:
        raise JensenError("a row is impossible under this network: give the rows of its fit")
    eta = add(model.prior, sums.stats)
    cells = _Cells.of(model, t, eta)
    at = coordinates(model.families, cells.inside(t))
    _check_size(len(at.at), units)
    weights = flatten(eta)
    complete, gradient = at.curvature(weights), at.jacobian().T @ weights
    counts = [np.append(np.repeat(x.count, x.first.shape[1]), x.count) for x in _numbers(eta)]
    tells = np.concatenate([cells.why[cells.free] == TOLD, *(x >= FEW for x in counts)])
    unit = np.where(tells, 1.0 / np.sqrt(np.where(tells, np.diagonal(complete), 1.0)), 0.0)
    found = _Inverse.of(complete, not_known(model, units, at, unit), gradient, unit)
    found.check()
    return StandardErrors(_by_name(_Report(network, model, at, cells, found)), found.least)


def _check_same(network: FittedNetwork, model: Any) -> None:
    """Refuse rows of which another network would be learned."""
    theirs = getattr(model, "variables", None) or network.variables
    same = [v.states for v in theirs] == [v.states for v in network.variables]
    if model.graph != network.graph or not same:
        raise JensenError(
            "these rows have not the columns, or not the states, of this network: give the rows "
            "of its fit"
        )


def _check_size(d: int, units: Units) -> None:
    if d > MOST and not units.is_complete:
        raise TooLargeError(
            f"standard errors of rows with holes need a matrix of {d:,} by {d:,} numbers and "
            f"{2 * d:,} E-steps, too many: use {one_of('method', ['vbem'])}, whose posterior has "
            f"intervals"
        )
    check_memory(64.0 * d * d, f"the information of {d:,} parameters", "ask for a smaller network")


def _flat(network: FittedNetwork) -> Array:
    """All parameters, as chains keep them."""
    if isinstance(network, Network):
        return network.probabilities
    if not isinstance(network, GaussianNetwork | MixedNetwork):
        raise JensenError(f"standard errors are not known of a {network.holds}")
    tables = network.tables if isinstance(network, MixedNetwork) else np.empty(0)
    return np.concatenate([tables, *(one.flat() for one in _regressions(network))])


def _regressions(network: FittedNetwork) -> tuple[NumberParameters, ...]:
    """The regressions of all numbers."""
    if isinstance(network, MixedNetwork):
        found = [one for one in network.numbers if isinstance(one, NumberParameters)]
        if len(found) == len(network.numbers):
            return tuple(found)
        count = network.graph.nodes[min(network.layout.counts)]
        raise JensenError(
            f"standard errors are not known of rates, and {count!r} is a count: use "
            f"{option('method', 'vbem')}, whose posterior has intervals"
        )
    found = []
    for one in network.regressions if isinstance(network, GaussianNetwork) else ():
        slopes = np.array([list(one.coefficients.values())], float).reshape(1, -1)
        found.append(NumberParameters(np.array([one.intercept]), slopes, np.array([one.variance])))
    return tuple(found)


def _numbers(eta: Any) -> tuple[Any, ...]:
    """The part of η that belongs to regressions."""
    return tuple(getattr(eta, "regressions", ()))


class _Cells(NamedTuple):
    """The cells of all tables, end to end, and why some have no error."""

    why: Ints  # (P,)
    out: NDArray[np.bool_]  # (P,): at probability 0, and held there
    free: Ints  # the cell of each coordinate

    @classmethod
    def of(cls, model: AnyModel, t: Any, eta: Any) -> _Cells:
        """From how many rows each cell has."""
        family = getattr(model.families, "tables", None)
        if family is None:
            return cls(np.empty(0, np.int64), np.empty(0, bool), np.empty(0, np.int64))
        group = np.repeat(np.arange(len(family.lengths)), family.lengths)
        total = np.bincount(group, eta.tables)[group]
        held = family.is_held if isinstance(family, HeldTables) else np.zeros(len(group), bool)
        told = (total >= FEW) & ~held
        out = (told & (eta.tables < FEW)) | (t.tables == -np.inf)
        left = np.bincount(group, ~out)[group]
        why = np.select([held, total < FEW, out | (left == 1)], [HELD, UNSEEN, BOUNDARY], TOLD)
        inside = np.flatnonzero(~out)
        is_last = np.append(group[inside][1:] != group[inside][:-1], True)
        return cls(why, out, inside[~is_last])

    def inside(self, t: Any) -> Any:
        """θ with nothing at the boundary."""
        return t._replace(tables=np.where(self.out, -np.inf, t.tables)) if len(self.why) else t


class _Part(NamedTuple):
    """Coordinates that know of each other; the information of complete rows is L Lᵀ."""

    own: Ints
    root: Array  # L
    shares: Array  # of that information which is left, along each direction
    directions: Array

    def along(self, gradients: Array) -> Array:
        """Gradients (n, d) along the directions, in units of complete rows."""
        return np.asarray(solve_triangular(self.root, gradients[:, self.own].T, lower=True).T
                          @ self.directions)  # fmt: skip


class _Inverse(NamedTuple):
    """The information, by parts that do not know of each other, and what is left to climb."""

    parts: list[_Part]
    rise: float  # nats to the maximum
    active: NDArray[np.bool_]  # (d,)

    @classmethod
    def of(cls, complete: Array, lost: Array, gradient: Array, unit: Array) -> _Inverse:
        """Of complete rows, what of it is not known, and a gradient that should be 0."""
        active = np.flatnonzero(unit)
        links = (complete != 0.0) | (lost != 0.0)
        _, part = connected_components(csr_array(links[np.ix_(active, active)]), directed=False)
        parts, rise = [], 0.0
        for own in (active[part == k] for k in range(part.max(initial=-1) + 1)):
            at = np.ix_(own, own)
            scale = unit[own]
            root = np.linalg.cholesky(complete[at] * scale * scale[:, None]) / scale[:, None]
            half = solve_triangular(root, lost[at], lower=True)
            missing = solve_triangular(root, half.T, lower=True)
            values, vectors = np.linalg.eigh(np.eye(len(own)) - 0.5 * (missing + missing.T))
            parts.append(_Part(own, root, values, vectors))
            slope, tells = parts[-1].along(gradient[None])[0], values > FLAT
            rise += float(0.5 * np.sum(slope[tells] ** 2 / values[tells]))
        return cls(parts, rise, unit > 0.0)

    @property
    def least(self) -> float:
        """The smallest share of information that is left."""
        return float(min((part.shares.min() for part in self.parts), default=1.0))

    def check(self) -> None:
        """Refuse what is no maximum."""
        if self.least < -LEANS:
            raise JensenError(
                "where this fit ended the likelihood rises in some direction, so it is no maximum "
                f"and has no standard errors: fit with a smaller {bare('tol')} or a larger "
                f"{bare('n_init')}"
            )
        if self.rise > FOREIGN:
            raise JensenError(
                f"the log-likelihood of these rows could rise by about {self.rise:.3g}, so this "
                f"network is not their maximum: give the rows of its fit, or fit it to them"
            )
        if self.rise > RISE:
            warn(
                f"the log-likelihood would still rise by about {self.rise:.2g} to its maximum, so "
                f"the standard errors are rough: fit with a smaller {bare('tol')}",
                EstimateWarning,
            )

    def errors(self, gradients: Array) -> Array:
        """Of some functions of the coordinates, (n, d); NaN where the rows do not tell."""
        variance, size, leaning = np.zeros((3, len(gradients)))
        for part in self.parts:
            squares, tells = part.along(gradients) ** 2, part.shares > FLAT
            variance += (squares[:, tells] / part.shares[tells]).sum(1)
            leaning += squares[:, ~tells].sum(1)
            size += squares.sum(1)
        return np.where(leaning > LEANS**2 * size, np.nan, np.sqrt(variance))


class _Report(NamedTuple):
    """What is needed to carry the errors to the parameters of each variable."""

    network: FittedNetwork
    model: Any
    at: FreeCoordinates
    cells: _Cells
    inverse: _Inverse

    def tables(self, network: Network) -> Iterator[ParameterErrors]:
        """Of labels."""
        p, ends = network.probabilities, network.wiring.fam_at
        errors = self.inverse.errors(p[:, None] * self.at.jacobian()[: len(p)])
        for v, variable in enumerate(network.variables):
            own, shape = slice(ends[v], ends[v + 1]), (-1, variable.n_states)
            name, why = variable.name, self.cells.why[own].reshape(shape)
            each = p[own].reshape(shape), errors[own].reshape(shape)
            yield _told(name, network.parents(name), variable.states, *each, why, is_table=True)

    def regression(self, v: int, first: int, above: Sequence[int], who: _Who) -> ParameterErrors:
        """Of the v-th number, whose coordinates begin at `first`."""
        one, d = _regressions(self.network)[v], len(self.at.at)
        K, D = len(one.intercepts), 1 + len(above)
        gradients = np.zeros((K, D + 1, d))
        for k in range(K):
            at = first + k * D + np.arange(D)
            gradients[k, np.arange(D), at] = 1.0
            gradients[k, 0, at[1:]] = -self.model.shift[list(above)]
            gradients[k, D, first + K * D + k] = -0.5 * one.variances[k] ** 1.5
        errors = self.inverse.errors(gradients.reshape(-1, d)).reshape(K, D + 1)
        estimates = np.column_stack([one.intercepts, one.slopes, np.sqrt(one.variances)])
        seen = self.inverse.active[first + K * D : first + K * (D + 1), None]
        why = np.where(seen, TOLD, UNSEEN) * np.ones_like(errors, np.int64)
        terms = ("intercept", *who.parents, "standard deviation")
        return _told(who.name, who.labels, terms, estimates, errors, why, is_table=False)


class _Who(NamedTuple):
    """A number, and its parents of either kind."""

    name: str
    labels: tuple[Variable, ...]
    parents: tuple[str, ...]


def _by_name(report: _Report) -> dict[str, ParameterErrors]:
    """In the order of the nodes."""
    network, found = report.network, {}
    if isinstance(network, Network):
        return {one.name: one for one in report.tables(network)}
    if isinstance(network, MixedNetwork):
        found = {one.name: one for one in report.tables(network.label_network)}
        layout = network.layout
        nodes, above, labels = layout.numbers, layout.number_parents, layout.label_parents
    else:
        nodes, above = tuple(range(len(network.graph))), network.graph.parent_indices
        labels = ((),) * len(nodes)
    names, first = network.graph.nodes, len(report.cells.free)
    for v, node in enumerate(nodes):
        own = tuple(network.variables[layout.labels[u]] for u in labels[v]) if labels[v] else ()
        who = _Who(names[node], own, tuple(names[nodes[u]] for u in above[v]))
        found[who.name] = report.regression(v, first, above[v], who)
        first += len(found[who.name].estimates) * (2 + len(above[v]))
    return {name: found[name] for name in names}


def _told(
    name: str,
    labels: tuple[Variable, ...],
    terms: tuple[str, ...],
    estimates: Array,
    errors: Array,
    why: Ints,
    *,
    is_table: bool,
) -> ParameterErrors:
    """The errors, NaN where there is a reason for it."""
    why = np.where((why == TOLD) & np.isnan(errors), UNKNOWN, why)
    errors = np.where(why == TOLD, errors, np.nan)
    return ParameterErrors(name, labels, terms, estimates, errors, why, is_table)
