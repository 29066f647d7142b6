"""Parameters of a mixed network: tables of labels, regressions of numbers; and as forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.families.linear_regression import Regression, RegressionParameters
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.q_hidden.mixed.layout import MixedLayout

Array = NDArray[np.float64]


class NumberParameters(NamedTuple):
    """The regressions of a number, one for each configuration of its label parents."""

    intercepts: Array  # (K,)
    slopes: Array  # (K, p): in the order of the number parents
    variances: Array  # (K,): of the noise

    def flat(self) -> Array:
        """All of them end to end, configuration by configuration."""
        return np.column_stack([self.intercepts, self.slopes, self.variances]).ravel()

    @classmethod
    def from_flat(cls, flat: Array, n_configs: int) -> NumberParameters:
        """The inverse of `flat`."""
        table = flat.reshape(n_configs, -1)
        return cls(table[:, 0].copy(), table[:, 1:-1].copy(), table[:, -1].copy())


class MixedPosterior(NamedTuple):
    """The posterior of all tables and regressions; `centre` was subtracted from the numbers."""

    concentration: Array  # (P,): of the tables
    centre: Array  # of every number
    regressions: tuple[RegressionParameters, ...]  # of every number, a component per configuration

    def point(self, layout: MixedLayout) -> tuple[NumberParameters, ...]:
        """Posterior means; variances are the inverses of expected precisions."""
        found = []
        pairs = zip(self.regressions, layout.number_parents, strict=True)
        for v, (one, above) in enumerate(pairs):
            slopes = one.coefficients[:, 1:]
            intercepts = one.coefficients[:, 0] + self.centre[v] - slopes @ self.centre[list(above)]
            variances = 1.0 / (one.degrees_of_freedom * one.scale)
            found.append(NumberParameters(intercepts, slopes, variances))
        return tuple(found)


def config_text(layout: MixedLayout, variables: Sequence[Variable], v: int, config: int) -> str:
    """A configuration of the label parents of number v, as "sex=female, class=2"."""
    parts = []
    for label, stride in layout.strides[v].items():
        variable = variables[layout.labels[label]]
        parts.append(f"{variable.name}={variable.states[config // stride % variable.n_states]}")
    return ", ".join(reversed(parts))


# --- as questions read them ---


class Parameters(NamedTuple):
    """One set of parameters, of numbers from which the centre was subtracted."""

    log_tables: Array  # (P,)
    numbers: tuple[NumberParameters, ...]
    forms: Array  # the same, as `MixedLayout` lays them out


def centre_of(layout: MixedLayout, numbers: tuple[NumberParameters, ...]) -> Array:
    """A point amid the means of every number, parents first."""
    centre = np.zeros(len(numbers))
    for node in reversed(layout.children_first):
        if not layout.cards[node]:
            v = layout.place[node]
            own, above = numbers[v], list(layout.number_parents[v])
            centre[v] = np.median(own.intercepts + own.slopes @ centre[above])
    return centre


def parameters_at(
    layout: MixedLayout, tables: Array, numbers: tuple[NumberParameters, ...], centre: Array
) -> Parameters:
    """Log tables and forms from tables and regressions."""
    moved = []
    for v, (own, above) in enumerate(zip(numbers, layout.number_parents, strict=True)):
        shift = own.slopes @ centre[list(above)] - centre[v]
        moved.append(own._replace(intercepts=own.intercepts + shift))
    with np.errstate(divide="ignore"):
        return Parameters(np.log(tables), tuple(moved), _forms(moved))


def _forms(numbers: Iterable[NumberParameters]) -> Array:
    parts = [np.empty(0)]
    for own in numbers:
        noise = np.column_stack([own.intercepts, own.slopes, np.full(len(own.intercepts), -1.0)])
        square = -0.5 * noise[:, :, None] * noise[:, None, :] / own.variances[:, None, None]
        constant = -0.5 * (LOG_2PI + np.log(own.variances))
        parts.append(np.column_stack([constant, square.reshape(len(square), -1)]).ravel())
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class SampledParameters(Sequence[Parameters]):
    """The parameters of every sample, each made when it is asked for."""

    layout: MixedLayout
    samples: Array  # (S, width)
    centre: Array

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, s: Any) -> Any:
        flat, at, numbers = self.samples[s], int(self.layout.wiring.fam_at[-1]), []
        tables = flat[:at]
        for k, n in zip(self.layout.n_configs, self.layout.n_members, strict=True):
            numbers.append(NumberParameters.from_flat(flat[at : at + k * n], k))
            at += k * n
        return parameters_at(self.layout, tables, tuple(numbers), self.centre)


Point = tuple[Array, tuple[NumberParameters, ...]]
"""Tables and regressions."""


def state_distances(layout: MixedLayout, u: int, shift: Array, a: Point, b: Point) -> Array:
    """(K, K): how much a state of label u means another thing at a than a state at b.

    It is the squared Hellinger distance of the rows of tables, and the squared distance of means
    in standard deviations, on the average over all other parents.
    """
    wiring = layout.wiring
    total = np.zeros((int(wiring.cards[u]),) * 2)
    for f in range(wiring.n_families):
        members = wiring.members(f).tolist()
        if u in members:
            own = slice(int(wiring.fam_at[f]), int(wiring.fam_at[f + 1]))
            shape, axis = wiring.cards[members], members.index(u)
            roots = [_first(np.sqrt(point[0][own]).reshape(shape), axis) for point in (a, b)]
            total += np.square(roots[0][:, None] - roots[1]).sum(-1) * len(total) / roots[0].size
    for v, above in enumerate(layout.label_parents):
        if u in above:
            shape, axis = wiring.cards[list(above)], above.index(u)
            (m, s), (n, t) = (
                [_first(part.reshape(shape), axis) for part in _spot(layout, v, shift, point[1][v])]
                for point in (a, b)
            )
            total += (np.square(m[:, None] - n) / (s[:, None] + t)).mean(-1)
    return total


def _spot(layout: MixedLayout, v: int, shift: Array, one: NumberParameters) -> tuple[Array, Array]:
    """Means, with the parents at the shift, and variances."""
    return one.intercepts + one.slopes @ shift[list(layout.number_parents[v])], one.variances


def _first(table: Array, axis: int) -> Array:
    """(K, rest): a table with one axis in front."""
    return np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)


def numbers_at(t: Regression, shift: Array, v: int, above: Sequence[int]) -> NumberParameters:
    """Intercepts, slopes and variances in the units of the columns."""
    precision = -2.0 * t.second
    coefficients = t.first / precision[:, None]
    slopes = coefficients[:, 1:]
    intercepts = coefficients[:, 0] + shift[v] - slopes @ shift[list(above)]
    return NumberParameters(intercepts, slopes, 1.0 / precision)


def eta_at(one: NumberParameters, shift: Array, v: int, above: Sequence[int]) -> Regression:
    """A component of weight 1 for every configuration, with its mode there."""
    intercepts = one.intercepts - shift[v] + one.slopes @ shift[list(above)]
    first = np.column_stack([intercepts, one.slopes])
    n = first.shape[1]
    strength = np.broadcast_to(np.eye(n), (len(first), n, n)).copy()
    return Regression(np.ones(len(first)), one.variances + (first * first).sum(1), first, strength)
