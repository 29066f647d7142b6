"""Gaussian rows whose columns are independent given the state: a variance each, or one for all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families.normal_gamma import NormalGamma
from jensen.families.spherical import Spherical
from jensen.models.emissions.gaussian_rows import LOG_2PI, log_student
from jensen.models.emissions.gaussian_states import GaussianStates, mean_strength
from jensen.models.emissions.independent_columns import FastColumns
from jensen.models.emissions.kinds import read_array
from jensen.q_hidden.structures import SUM, ReadMode
from jensen.support.fields import mean_record
from jensen.support.machine import pooled_array
from jensen.support.row_records import ColumnRows, ColumnSums, ColumnTables

Array = NDArray[np.float64]


class DiagonalComponents(NamedTuple):
    """Log densities: constant_k - Σ_d precision_kd (x_d - mean_kd)² / 2."""

    constant: Array  # (K,)
    mean: Array  # (K, D)
    precision: Array  # (K, D)


@dataclass(frozen=True, eq=False)
class Diagonal(GaussianStates):
    """Gaussian states over D columns, each with a variance, or all with one."""

    is_spherical: bool = False

    @property
    def covariance(self) -> str:
        """The kind, by its name."""
        return "spherical" if self.is_spherical else "diagonal"

    @property
    def blank(self) -> NormalGamma | Spherical:
        """Zeros."""
        K, D = self.n_states, len(self.shift)
        if self.is_spherical:
            return Spherical(np.zeros(K), np.zeros(K), np.zeros((K, D)), np.zeros(K))
        return NormalGamma(*np.zeros((4, K, D)))

    def encode(self, values: Array) -> ColumnRows:
        """Real numbers."""
        return ColumnRows.of(len(values), numbers=np.ascontiguousarray((values - self.shift).T))

    def observe(self, t: NormalGamma | Spherical, rows: ColumnRows) -> "ObservedDiagonal":
        """Rows at this θ."""
        return ObservedDiagonal(self, self.components(t), rows)

    def predict(
        self, eta: NormalGamma | Spherical, rows: ColumnRows
    ) -> "PredictedDiagonal | ObservedDiagonal":
        """Rows under Student distributions; under Gaussian ones, if the covariances are held."""
        if "covariances" in self.held:
            return ObservedDiagonal(self, self._wider(eta), rows)
        return PredictedDiagonal(self, self.family.to_standard(eta), rows)

    def margins(self, t: Any, eta: Any = None) -> tuple[Array, Array, Array | None]:
        """As the rows are predicted."""
        freedom = None
        if eta is None or "covariances" in self.held:
            _, mean, precision = self.components(t) if eta is None else self._wider(eta)
        else:
            predicted = PredictedDiagonal(self, self.family.to_standard(eta), ColumnRows.of(0))
            mean, precision, freedom = predicted.mean, predicted.precision, predicted.freedom
        return mean + self.shift, 1.0 / np.sqrt(precision), freedom

    def _wider(self, eta: NormalGamma | Spherical) -> DiagonalComponents:
        """With variances σ² + σ² / β: what a row has, and what its mean has."""
        _, mean, precision = self.components(self.point(eta))
        precision = precision / (1.0 + 1.0 / mean_strength(eta))
        return DiagonalComponents(0.5 * (np.log(precision) - LOG_2PI).sum(1), mean, precision)

    def components(self, t: NormalGamma | Spherical) -> DiagonalComponents:
        """The log density of every state, by completing the square."""
        D = t.first.shape[1]
        if self.is_spherical:
            precision = np.repeat(-2.0 * t.second[:, None], D, axis=1)
            constant = D * t.count + t.strength
        else:
            precision = -2.0 * t.second
            constant = (t.count + t.strength).sum(1)
        mean = t.first / precision
        constant = constant + 0.5 * (t.first * mean).sum(1) - 0.5 * D * LOG_2PI
        return DiagonalComponents(
            constant, np.array(mean, order="C"), np.array(precision, order="C")
        )

    def simulate(
        self, t: NormalGamma | Spherical, states: NDArray[np.intp], rng: np.random.Generator
    ) -> Array:
        """Draws of the rows of these states."""
        _, mean, precision = self.components(t)
        noise = rng.standard_normal((len(states), len(self.shift)))
        return np.asarray(mean[states] + noise / np.sqrt(precision[states]) + self.shift)

    def at(self, mean: Array, precision: Array) -> NormalGamma | Spherical:
        """The statistics t at known parameters; precision (K, D), or (K,) if spherical."""
        if self.is_spherical:
            scale = precision[:, None]
            quadratic = -0.5 * precision * (mean**2).sum(1)
            return Spherical(0.5 * np.log(precision), -0.5 * precision, scale * mean, quadratic)
        return NormalGamma(
            0.5 * np.log(precision), -0.5 * precision, precision * mean, -0.5 * precision * mean**2
        )

    def read(self, named: Mapping[str, Any]) -> NormalGamma | Spherical:
        """From "means" and "covariances", which are variances (K, D), or (K,) if spherical."""
        K, D = self.n_states, len(self.shift)
        mean = read_array(named, "means", (K, D)) - self.shift
        variance = read_array(named, "covariances", (K,) if self.is_spherical else (K, D))
        if variance.min() <= 0.0:
            raise JensenError("start['covariances'] must be variances above 0")
        variance = variance[:, None] if self.is_spherical else variance
        return self.from_moments(mean, np.broadcast_to(variance, (K, D)))

    def from_moments(self, mean: Array, variance: Array) -> NormalGamma | Spherical:
        """η of one pretended row for each state, with these means and variances."""
        return self.gather(np.ones(len(mean)), mean, variance + mean**2)

    def show(self, *draws: NormalGamma | Spherical) -> dict[str, Array]:
        """Means, and the inverses of the (expected) precisions."""
        _, mean, precision = self.components(mean_record(draws))
        variance = 1.0 / (precision[:, 0] if self.is_spherical else precision)
        return {"means": mean + self.shift, "covariances": variance}

    def gather(self, count: Array, first: Array, second: Array) -> NormalGamma | Spherical:
        """Statistics of rows as the family has them."""
        D = first.shape[1]
        if self.is_spherical:
            return Spherical(D * count, second.sum(1), first, count)
        each = np.repeat(count[:, None], D, axis=1)
        return NormalGamma(each, second, first, each)


class ObservedDiagonal(FastColumns):
    """Rows at one θ."""

    def __init__(
        self, emission: Diagonal, components: DiagonalComponents, rows: ColumnRows
    ) -> None:
        self.emission = emission
        self.components = components
        self.rows = rows

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows), whatever the reading, for what is missing here is real numbers."""
        from jensen.kernels.columns import add_diagonal

        constant, mean, precision = self.components
        out = pooled_array(len(constant), stop - start)
        out[:] = constant[:, None]
        add_diagonal(self.rows.numbers, start, stop, mean, precision, self._unseen, out)
        return out

    def stats(
        self, start: int, stop: int, nodes: Array, how: ReadMode = SUM
    ) -> NormalGamma | Spherical:
        """Counts and moments."""
        from jensen.kernels.columns import add_diagonal_moments

        mean = self.components.mean
        x, at = self.rows.numbers, start
        if how.rng is not None:
            x, at = self._completed(start, stop, nodes, how.rng), 0
        first, second = np.zeros_like(mean), np.zeros_like(mean)
        add_diagonal_moments(x, at, at + stop - start, nodes, mean, self._square, first, second)
        return self.emission.gather(nodes.sum(1), first, second)

    @property
    def _unseen(self) -> Array:
        """The log potential of a missing number, integrated out."""
        return np.asarray(0.5 * (LOG_2PI - np.log(self.components.precision)))

    @property
    def _square(self) -> Array:
        """The expected square of a missing number."""
        return np.asarray(self.components.mean**2 + 1.0 / self.components.precision)

    def column_rows(self) -> ColumnRows:
        """The rows."""
        return self.rows

    def column_tables(self) -> ColumnTables:
        """Of real numbers."""
        constant, mean, precision = self.components
        numbers = mean, precision, self._unseen, self._square
        return ColumnTables.of(len(mean), constant, numbers=numbers)

    def gather(self, states: Array, sums: ColumnSums) -> NormalGamma | Spherical:
        """Counts and moments."""
        return self.emission.gather(states, sums.first, sums.second)

    def _completed(self, start: int, stop: int, nodes: Array, rng: np.random.Generator) -> Array:
        """The rows with what is missing drawn, given the state of each."""
        _, mean, precision = self.components
        x = self.rows.numbers[:, start:stop]
        missing = np.isnan(x)
        states = nodes.argmax(0)
        noise = rng.standard_normal(x.shape)
        drawn = mean[states].T + noise / np.sqrt(precision[states].T)
        return np.ascontiguousarray(np.where(missing, drawn, x))


class PredictedDiagonal:
    """Rows under Student distributions: one for each column, or one over all columns."""

    def __init__(self, emission: Diagonal, standard: Any, rows: ColumnRows) -> None:
        self.emission = emission
        self.rows = rows
        shape = standard.mean.shape
        across = [1] if emission.is_spherical else [*shape[1:]]
        strength, freedom, scale = (
            np.reshape(x, (shape[0], *across))
            for x in (standard.mean_strength, standard.degrees_of_freedom, standard.scale)
        )
        self.mean = standard.mean
        self.freedom = np.broadcast_to(freedom, shape)
        self.precision = np.broadcast_to(freedom * scale / (1.0 + 1.0 / strength), shape)

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows)."""
        x = self.rows.numbers[:, start:stop]
        seen = ~np.isnan(x)
        out = np.zeros((len(self.mean), stop - start))
        for k in range(len(out)):
            away = np.where(seen, x - self.mean[k][:, None], 0.0)
            distance = self.precision[k][:, None] * away**2
            out[k] = self._log_density(k, distance, seen)
        return out

    def _log_density(self, k: int, distance: Array, seen: NDArray[np.bool_]) -> Array:
        half_log_det = 0.5 * np.log(self.precision[k])
        if not self.emission.is_spherical:
            each = log_student(distance, self.freedom[k], half_log_det, 1)
            return np.asarray(np.where(seen, each, 0.0).sum(0))
        n_seen, total, result = seen.sum(0), distance.sum(0), np.zeros(distance.shape[1])
        freedom = self.freedom[k, :1]
        for n in np.unique(n_seen[n_seen > 0]):
            rows = n_seen == n
            result[rows] = log_student(total[None, rows], freedom, n * half_log_det[:1], int(n))[0]
        return result
