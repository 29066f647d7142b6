"""Parameters of a mixed network: tables of labels, regressions and rates; and as forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.families import gamma, linear_regression
from jensen.families.gamma import NEVER, Gamma, draw_counts
from jensen.families.linear_regression import Regression, RegressionParameters
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.q_hidden.mixed.layout import MixedLayout, count_forms

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


class CountParameters(NamedTuple):
    """The Poisson rates of a count, one for each configuration of its parents."""

    rates: Array  # (K,)

    def flat(self) -> Array:
        """All of them."""
        return self.rates

    @classmethod
    def from_flat(cls, flat: Array, n_configs: int) -> CountParameters:
        """The inverse of `flat`."""
        return cls(flat.copy())


class RatePosterior(NamedTuple):
    """Gamma distributions of the rates of a count, one for each configuration of its parents."""

    shape: Array  # (K,)
    rate: Array  # (K,)


AnyParameters = NumberParameters | CountParameters
"""Of one number."""


class MixedPosterior(NamedTuple):
    """The posterior of all tables, regressions and rates; `centre` was subtracted from numbers."""

    concentration: Array  # (P,): of the tables
    centre: Array  # of every number; 0 of a count
    regressions: tuple[RegressionParameters | RatePosterior, ...]  # of every number

    def point(self, layout: MixedLayout) -> tuple[AnyParameters, ...]:
        """Posterior means; variances are the inverses of expected precisions."""
        found: list[AnyParameters] = []
        pairs = zip(self.regressions, layout.number_parents, strict=True)
        for v, (one, above) in enumerate(pairs):
            if isinstance(one, RatePosterior):
                found.append(CountParameters(one.shape / one.rate))
                continue
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
    numbers: tuple[AnyParameters, ...]
    forms: Array  # the same, as `MixedLayout` lays them out


def centre_of(layout: MixedLayout, numbers: tuple[AnyParameters, ...]) -> Array:
    """A point amid the means of every number, parents first; 0 of a count."""
    centre = np.zeros(len(numbers))
    for node in reversed(layout.children_first):
        if not layout.cards[node]:
            v = layout.place[node]
            own, above = numbers[v], list(layout.number_parents[v])
            if isinstance(own, NumberParameters):
                centre[v] = np.median(own.intercepts + own.slopes @ centre[above])
    return centre


def parameters_at(
    layout: MixedLayout, tables: Array, numbers: tuple[AnyParameters, ...], centre: Array
) -> Parameters:
    """Log tables and forms from tables, regressions and rates."""
    moved: list[AnyParameters] = []
    for v, (own, above) in enumerate(zip(numbers, layout.number_parents, strict=True)):
        if isinstance(own, NumberParameters):
            shift = own.slopes @ centre[list(above)] - centre[v]
            own = own._replace(intercepts=own.intercepts + shift)
        moved.append(own)
    with np.errstate(divide="ignore"):
        return Parameters(np.log(tables), tuple(moved), _forms(moved))


def _forms(numbers: Iterable[AnyParameters]) -> Array:
    parts = [np.empty(0)]
    for own in numbers:
        if isinstance(own, CountParameters):
            parts.append(count_forms(gamma_at(own.rates)).ravel())
            continue
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
        tables, numbers = split(self.layout, self.samples[s])
        return parameters_at(self.layout, tables, numbers, self.centre)


Point = tuple[Array, tuple[AnyParameters, ...]]
"""Tables and regressions."""


def split(layout: MixedLayout, flat: Array) -> Point:
    """Tables, and what belongs to every number, from one flat array."""
    ends = layout.wiring.fam_at[-1] + np.cumsum([0, *layout.n_kept])
    numbers = tuple(
        (CountParameters if is_count else NumberParameters).from_flat(flat[start:end], k)
        for is_count, k, start, end in zip(
            layout.is_count, layout.n_configs, ends[:-1], ends[1:], strict=True
        )
    )
    return flat[: ends[0]], numbers


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


def _spot(layout: MixedLayout, v: int, shift: Array, one: AnyParameters) -> tuple[Array, Array]:
    """Means, with the parents at the shift, and variances."""
    if isinstance(one, CountParameters):
        return one.rates, one.rates
    return one.intercepts + one.slopes @ shift[list(layout.number_parents[v])], one.variances


def _first(table: Array, axis: int) -> Array:
    """(K, rest): a table with one axis in front."""
    return np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)


def fill_counts(
    layout: MixedLayout,
    numbers: Sequence[AnyParameters],
    codes: NDArray[np.int32],
    values: Array,
    rng: np.random.Generator | None,
) -> None:
    """Write missing counts whose parents are all known: the most probable one, or a draw."""
    for v, own in enumerate(numbers):
        if not isinstance(own, CountParameters):
            continue
        gaps = np.isnan(values[:, v]) & (codes[:, list(layout.label_parents[v])] >= 0).all(1)
        rates = own.rates[layout.configs_of(v, codes[gaps])]
        values[gaps, v] = np.floor(rates) if rng is None else draw_counts(rates, rng)


# --- between parameters and natural ones ---


def gamma_at(rates: Array) -> Gamma:
    """Statistics of θ at some rates."""
    log_rates = np.log(rates, out=np.full(rates.shape, NEVER), where=rates > 0.0)
    return Gamma(log_rates[:, None], -rates[:, None])


def numbers_at(t: Regression | Gamma, shift: Array, v: int, above: Sequence[int]) -> AnyParameters:
    """Intercepts, slopes and variances in the units of the columns; of a count its rates."""
    if isinstance(t, Gamma):
        return CountParameters(-t.exposure[:, 0])
    return regressions_at(t, shift, v, above)


def regressions_at(t: Regression, shift: Array, v: int, above: Sequence[int]) -> NumberParameters:
    """Intercepts, slopes and variances in the units of the columns."""
    precision = -2.0 * t.second
    coefficients = t.first / precision[:, None]
    slopes = coefficients[:, 1:]
    intercepts = coefficients[:, 0] + shift[v] - slopes @ shift[list(above)]
    return NumberParameters(intercepts, slopes, 1.0 / precision)


def eta_at(one: AnyParameters, shift: Array, v: int, above: Sequence[int]) -> Regression | Gamma:
    """A component of weight 1 for every configuration, with its mode there."""
    if isinstance(one, CountParameters):
        return Gamma(one.rates[:, None], np.ones((len(one.rates), 1)))
    intercepts = one.intercepts - shift[v] + one.slopes @ shift[list(above)]
    first = np.column_stack([intercepts, one.slopes])
    n = first.shape[1]
    strength = np.broadcast_to(np.eye(n), (len(first), n, n)).copy()
    return Regression(np.ones(len(first)), one.variances + (first * first).sum(1), first, strength)


def to_standard(eta: Regression | Gamma) -> RegressionParameters | RatePosterior:
    """A posterior in the parameters by which it is known."""
    if isinstance(eta, Gamma):
        return RatePosterior(eta.total[:, 0] + 1.0, eta.exposure[:, 0])
    return linear_regression.to_standard(eta)


def drawn(
    posterior: RegressionParameters | RatePosterior,
    shift: Array,
    v: int,
    above: Sequence[int],
    rng: np.random.Generator,
) -> AnyParameters:
    """A draw of the regressions, or of the rates, of a number in the units of its column."""
    t: Regression | Gamma
    if isinstance(posterior, RatePosterior):
        eta = Gamma(posterior.shape[:, None] - 1.0, posterior.rate[:, None])
        t = gamma.sample_stats(eta, rng)
    else:
        t = linear_regression.sample_stats(linear_regression.from_standard(*posterior), rng)
    return numbers_at(t, shift, v, above)
