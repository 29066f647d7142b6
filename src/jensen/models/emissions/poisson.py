"""Rows of counts: every column a Poisson rate of its own for each state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from jensen.exceptions import JensenError
from jensen.families import gamma
from jensen.families.gamma import Gamma
from jensen.hidden_states.readings import MAX, SUM, Reading
from jensen.models.emissions.averages import mean_record, side_by_side
from jensen.models.emissions.column_records import ColumnRows, ColumnSums, ColumnTables
from jensen.models.emissions.columns import column_moments, standardised
from jensen.models.emissions.named import read_array
from jensen.models.emissions.quick_columns import QuickColumns
from jensen.recycled import recycled

Array = NDArray[np.float64]


LARGEST_COUNT = 1e9
"""Log-likelihoods x log λ - λ - log x! of larger counts lose their digits: terms as large as
x log x cancel, and leave errors of 2e-6 in each row here, of 7e-3 at 1e12, of 7 at 1e15."""
LARGEST_RATE = 9e18
"""Counts beyond are no whole numbers of 64 bits."""


class Counts(NamedTuple):
    """Encoded rows."""

    x: Array  # (D, n)
    base: Array  # (n,): -Σ log x!


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
    def has_distances(self) -> bool:
        """Numbers are near or far."""
        return True

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""
        return self.n_states * self.n_columns

    def encode(self, values: Array) -> Counts:
        """Columns as rows, and what does not depend on the rates."""
        return Counts(np.array(values.T, order="C"), -np.nansum(gammaln(values + 1.0), axis=1))

    def by_kind(self, rows: Counts) -> ColumnRows:
        """Counts."""
        return ColumnRows.of(len(rows.base), counts=rows.x, base=rows.base)

    def of_kind(self, columns: ColumnRows) -> Counts:
        """The rows, from their columns."""
        return Counts(columns.counts, columns.base)

    def observe(self, t: Gamma, rows: Counts) -> "Seen":
        """Rows at this θ."""
        return Seen(t, rows)

    def predict(self, eta: Gamma, rows: Counts) -> "Predicted":
        """Rows under negative binomial distributions."""
        return Predicted(eta.total + 1.0, eta.exposure, rows)

    def simulate(self, t: Gamma, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Counts of the rows of these states."""
        return draw_counts(-t.exposure[states], rng)

    def wide(self, values: Array) -> Gamma:
        """All states with the rates of all rows, none of them 0."""
        mean, _ = column_moments(values)
        rate = np.broadcast_to(np.maximum(mean, 1e-3), (self.n_states, self.n_columns))
        return Gamma(rate, np.ones_like(rate))

    def place(self, values: Array) -> Array:
        """Columns in units of their standard deviations; what is missing at the mean."""
        return standardised(values)

    def point(self, eta: Gamma) -> Gamma:
        """The expected rates."""
        rate = (eta.total + 1.0) / eta.exposure
        return Gamma(np.log(rate), -rate)

    def by_state(self, record: Gamma) -> Array:
        """Both fields."""
        return side_by_side(record)

    def select(self, record: Gamma, states: NDArray[np.intp]) -> Gamma:
        """These states only, in this order."""
        return Gamma(*(field[states] for field in record))

    def read(self, named: Mapping[str, Any]) -> Gamma:
        """From "emission", the rates (K, D)."""
        rate = read_array(named, "emission", (self.n_states, self.n_columns))
        if (rate < 0.0).any():
            raise JensenError("start['emission'] must be rates, 0 or more")
        return Gamma(rate, np.ones_like(rate))

    def expected(self, t: Gamma) -> Array:
        """Rates."""
        return np.asarray(-t.exposure)

    def show(self, t: Gamma) -> dict[str, Array]:
        """(Expected) rates."""
        return {"emission": -t.exposure}

    def show_average(self, draws: Sequence[Gamma]) -> dict[str, Array]:
        """Mean rates."""
        return self.show(mean_record(draws))


class Seen(QuickColumns):
    """Rows at one θ."""

    def __init__(self, t: Gamma, rows: Counts) -> None:
        self.log_rate = np.array(t.total, order="C")  # kernels want to own them
        self.rate = np.array(-t.exposure, order="C")
        self.rows = rows

    def log_like(self, start: int, stop: int, how: Reading = SUM) -> Array:
        """(K, rows)."""
        from jensen.kernels.columns import add_poisson

        out = recycled(len(self.rate), stop - start)
        out[:] = self.rows.base[start:stop]
        absent = self._uncounted
        if how == MAX:
            likely = np.floor(np.exp(self.log_rate))
            absent = xlogy(likely, np.exp(self.log_rate)) - gammaln(likely + 1.0) - self.rate
        add_poisson(self.rows.x, start, stop, self.log_rate, self.rate, absent, out)
        return out

    def stats(self, start: int, stop: int, nodes: Array, how: Reading = SUM) -> Gamma:
        """Totals, and how many rows."""
        from jensen.kernels.columns import add_diagonal_moments

        expected = np.exp(self.log_rate)
        x, at = self.rows.x, start
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
        """Counts."""
        return ColumnRows.of(len(self.rows.base), counts=self.rows.x, base=self.rows.base)

    def column_tables(self) -> ColumnTables:
        """Of counts."""
        counts = self.log_rate, self.rate, self._uncounted, np.exp(self.log_rate)
        return ColumnTables.of(len(self.rate), counts=counts)

    def gather(self, states: Array, sums: ColumnSums) -> Gamma:
        """Totals, and how many rows."""
        return _gamma(states, sums.totals)

    def _completed(self, start: int, stop: int, nodes: Array, rng: np.random.Generator) -> Array:
        """The rows with what is missing drawn, given the state of each."""
        x = self.rows.x[:, start:stop]
        missing = np.isnan(x)
        rate = np.exp(self.log_rate)[nodes.argmax(0)].T
        drawn = draw_counts(np.where(missing, rate, 0.0), rng)
        return np.ascontiguousarray(np.where(missing, drawn, x))


def draw_counts(rate: Array, rng: np.random.Generator) -> Array:
    """A count at every rate."""
    if (rate > LARGEST_RATE).any():
        raise JensenError(
            f"counts cannot be drawn at the rate {rate.max():.3g}, which is beyond "
            f"{LARGEST_RATE:g}: divide the column, or learn it as numbers"
        )
    return rng.poisson(rate).astype(np.float64)


def _gamma(states: Array, total: Array) -> Gamma:
    return Gamma(total, np.repeat(states[:, None], total.shape[1], axis=1))


class Predicted:
    """Rows under negative binomial distributions, the mixtures of Poissons over a gamma."""

    def __init__(self, shape: Array, rate: Array, rows: Counts) -> None:
        self.shape, self.rate = shape, rate
        self.rows = rows

    def log_like(self, start: int, stop: int, how: Reading = SUM) -> Array:
        """(K, rows)."""
        out = np.repeat(self.rows.base[None, start:stop], len(self.rate), axis=0)
        for x, a, b in zip(self.rows.x[:, start:stop], self.shape.T, self.rate.T, strict=True):
            a, b = a[:, None], b[:, None]
            log = gammaln(a + x) - gammaln(a) + a * np.log(b / (b + 1.0)) - x * np.log1p(b)
            out += np.where(np.isnan(x), 0.0, log)
        return out
