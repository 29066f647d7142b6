"""Rows of counts: every column a Poisson rate of its own for each state."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, pdtr, xlogy

from jensen.data.number_rows import ColumnSummary, column_moments, standardised
from jensen.exceptions import DataError, JensenError
from jensen.families import gamma
from jensen.families.gamma import LARGEST_COUNT, Gamma, draw_counts
from jensen.families.gamma_ratio import log_rising
from jensen.models.emissions import Survey
from jensen.models.emissions.independent_columns import FastColumns
from jensen.models.emissions.kinds import (
    TOLERANCE,
    Chosen,
    ColumnLaw,
    EmissionKind,
    Fault,
    Line,
    PriorParts,
    as_numbers,
    read_array,
    refuse_values,
)
from jensen.models.emissions.priors import poisson_prior
from jensen.models.emissions.registry import USUAL
from jensen.q_hidden.structures import MAX, SUM, ReadMode
from jensen.support.fields import mean_record
from jensen.support.machine import pooled_array
from jensen.support.row_records import ColumnRows, ColumnSums, ColumnTables
from jensen.support.text import of_frame, option

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Poisson:
    """Poisson counts in D columns."""

    n_states: int
    n_columns: int
    prior: Gamma | None

    @property
    def family(self) -> Any:
        """A gamma distribution for each state and column."""
        return gamma

    @property
    def blank(self) -> Gamma:
        """Zeros."""
        return Gamma(*np.zeros((2, self.n_states, self.n_columns)))

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""
        return self.n_states * self.n_columns

    def encode(self, values: Array) -> ColumnRows:
        """Counts, and what does not depend on the rates: -Σ log x!."""
        base = -np.nansum(gammaln(values + 1.0), axis=1)
        return ColumnRows.of(len(values), counts=np.array(values.T, order="C"), base=base)

    def observe(self, t: Gamma, rows: ColumnRows) -> "ObservedCounts":
        """Rows at this θ."""
        return ObservedCounts(t, rows)

    def predict(self, eta: Gamma, rows: ColumnRows) -> "PredictedCounts":
        """Rows under negative binomial distributions."""
        return PredictedCounts(eta.total + 1.0, eta.exposure, rows)

    def simulate(self, t: Gamma, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Counts of the rows of these states."""
        return draw_counts(-t.exposure[states], rng)

    def survey(self, values: Array) -> Survey:
        """Columns in units of their deviations; all states with their rates, none of them 0."""
        mean, _ = column_moments(values)
        rate = np.broadcast_to(np.maximum(mean, 1e-3), (self.n_states, self.n_columns))
        return Survey(standardised(values), True, Gamma(rate, np.ones_like(rate)))

    def point(self, eta: Gamma) -> Gamma:
        """The expected rates."""
        rate = (eta.total + 1.0) / eta.exposure
        return Gamma(np.log(rate), -rate)

    def read(self, named: Mapping[str, Any]) -> Gamma:
        """From "emission", the rates (K, D)."""
        rate = read_array(named, "emission", (self.n_states, self.n_columns))
        if (rate < 0.0).any():
            raise JensenError("start['emission'] must be rates, 0 or more")
        return Gamma(rate, np.ones_like(rate))

    def show(self, *draws: Gamma) -> dict[str, Array]:
        """(Expected) rates."""
        return {"emission": -mean_record(draws).exposure}


class ObservedCounts(FastColumns):
    """Rows at one θ."""

    def __init__(self, t: Gamma, rows: ColumnRows) -> None:
        self.log_rate = np.array(t.total, order="C")  # kernels want to own them
        self.rate = np.array(-t.exposure, order="C")
        self.rows = rows

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows)."""
        from jensen.kernels.columns import add_poisson

        out = pooled_array(len(self.rate), stop - start)
        out[:] = self.rows.base[start:stop]
        absent = self._uncounted
        if how == MAX:
            likely = np.floor(np.exp(self.log_rate))
            absent = xlogy(likely, np.exp(self.log_rate)) - gammaln(likely + 1.0) - self.rate
        add_poisson(self.rows.counts, start, stop, self.log_rate, self.rate, absent, out)
        return out

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> Gamma:
        """Totals, and how many rows."""
        from jensen.kernels.columns import add_diagonal_moments

        expected = np.exp(self.log_rate)
        x, at = self.rows.counts, start
        if how.rng is not None:
            x, at = self._completed(start, stop, nodes, how.rng), 0
        if how == MAX:
            expected = np.floor(expected)
        total, unused = np.zeros_like(expected), np.zeros_like(expected)
        add_diagonal_moments(x, at, at + stop - start, nodes, expected, expected, total, unused)
        return _gamma(nodes.sum(1), total)

    @property
    def _uncounted(self) -> Array:
        """Log Σ_x of the potential of a missing count."""
        return np.asarray(np.exp(self.log_rate) - self.rate)

    def column_rows(self) -> ColumnRows:
        """The rows."""
        return self.rows

    def column_tables(self) -> ColumnTables:
        """Of counts."""
        counts = self.log_rate, self.rate, self._uncounted, np.exp(self.log_rate)
        return ColumnTables.of(len(self.rate), counts=counts)

    def gather(self, states: Array, sums: ColumnSums) -> Gamma:
        """Totals, and how many rows."""
        return _gamma(states, sums.totals)

    def _completed(self, start: int, stop: int, nodes: Array, rng: np.random.Generator) -> Array:
        """The rows with what is missing drawn, given the state of each."""
        x = self.rows.counts[:, start:stop]
        missing = np.isnan(x)
        rate = np.exp(self.log_rate)[nodes.argmax(0)].T
        drawn = draw_counts(np.where(missing, rate, 0.0), rng)
        return np.ascontiguousarray(np.where(missing, drawn, x))


def _gamma(states: Array, total: Array) -> Gamma:
    return Gamma(total, np.repeat(states[:, None], total.shape[1], axis=1))


class PredictedCounts:
    """Rows under negative binomial distributions, the mixtures of Poissons over a gamma."""

    def __init__(self, shape: Array, rate: Array, rows: ColumnRows) -> None:
        self.shape, self.rate = shape, rate
        self.rows = rows

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows)."""
        out = np.repeat(self.rows.base[None, start:stop], len(self.rate), axis=0)
        for x, a, b in zip(self.rows.counts[:, start:stop], self.shape.T, self.rate.T, strict=True):
            a, b = a[:, None], b[:, None]
            log = log_rising(a, x) + a * np.log(b / (b + 1.0)) - x * np.log1p(b)
            out += np.where(np.isnan(x), 0.0, log)
        return out


def _below(x: Array, cdf: Callable[[Array], Any]) -> Array:
    """P(count ≤ x) of each state, from that of whole numbers."""
    whole = np.floor(x)[..., None, :]
    return np.where(whole < 0.0, 0.0, cdf(np.maximum(whole, 0.0)))


class PoissonKind(EmissionKind):
    """Counts."""

    def make(
        self, n_states: int, columns: ColumnSummary, prior_parts: PriorParts, chosen: Chosen
    ) -> Poisson:
        """A prior reads the means of the columns."""
        prior = None if prior_parts is None else poisson_prior(prior_parts, n_states, columns.mean)
        return Poisson(n_states, len(columns.mean), prior)

    def owns(self, emission: Any) -> bool:
        """Whether this made it."""
        return isinstance(emission, Poisson)

    def check(self, values: Array, names: Sequence[str]) -> None:
        """Refuse what are no counts, and counts whose likelihood has no digits left."""
        refuse_values(values, values % 1.0 != 0.0, "counts are whole, 0 or more")
        large = values > LARGEST_COUNT
        if large.any():
            row, column = np.argwhere(large)[0]
            raise DataError(
                f"row {row + 1} of the column {names[column]!r} is {values[row, column]:g}, and "
                f"the likelihood of counts beyond {LARGEST_COUNT:g} loses its digits: divide the "
                f"column, or learn it as numbers ({option('emission', USUAL['continuous'].word)}, "
                f"or {of_frame(continuous=[names[column]])})"
            )

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """Rates."""
        for name, column in zip(names, shown["emission"].T, strict=True):
            yield f"rate of {name}", as_numbers(column)

    def law(self, emission: Poisson, t: Gamma, eta: Gamma | None = None) -> ColumnLaw:
        """Poisson, or negative binomial distributions."""
        if eta is None:
            rate = -t.exposure
            return ColumnLaw(
                lambda x: _below(x, lambda k: pdtr(k, rate)), rate, np.sqrt(rate), True
            )
        shape, inverse = eta.total + 1.0, eta.exposure
        p, mean = inverse / (inverse + 1.0), shape / inverse
        spread = np.sqrt(mean / p)
        return ColumnLaw(
            lambda x: _below(x, lambda k: betainc(shape, k + 1.0, p)), mean, spread, True
        )

    def theta_fault(self, emission: Poisson, t: Gamma) -> Fault | None:
        """Rates and their logs."""
        if (t.exposure > 0.0).any():
            return ".exposure", "holds minus a rate that is below 0"
        if not np.isfinite(t.exposure).all():
            return ".exposure", "must hold finite numbers"
        if not np.allclose(np.exp(t.total), -t.exposure, rtol=TOLERANCE, atol=1e-300):
            return ".total", "is not the log of the rates (minus exposure)"
        return None

    def belief_fault(self, emission: Poisson, eta: Gamma) -> Fault | None:
        """Shapes and rates."""
        is_gamma = (eta.total > -1.0).all() and (eta.exposure > 0.0).all()
        return None if is_gamma else ("", "is no gamma distribution")
