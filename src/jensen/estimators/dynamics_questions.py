"""What can be asked of a linear dynamical system."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (  # type: ignore[import-untyped]
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from jensen.estimators.arrays import ArrayEstimator, names_of
from jensen.estimators.dynamics_choices import read_inputs
from jensen.estimators.reports import Summary
from jensen.estimators.sequences import (
    join_sequences,
    read_lengths,
    read_numbers,
    read_sequence_weights,
    refuse_lengths_as_y,
)
from jensen.exceptions import DataError
from jensen.inference.dynamics import FittedDynamics, StateEstimates, draw_ahead
from jensen.inference.regression import check_level
from jensen.inference.series_forecasts import SeriesForecast, interval, moments
from jensen.q_hidden.gaussian_chain import SeriesRows
from jensen.support.arguments import as_generator, check_whole
from jensen.support.json_values import Checked
from jensen.support.machine import check_many
from jensen.support.text import for_reader, plural

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

OTHERWISE = "leave the column out, or use jn.HiddenMarkovModel, which takes labels"


class Series(NamedTuple):
    """Sequences as they were passed: outputs, then inputs."""

    values: Array  # (T, D + U)
    lengths: Ints


class DynamicsQuestions(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ArrayEstimator):  # type: ignore[misc]
    """Questions to a fitted system; X and `lengths` are as in `fit` everywhere.

    After "vbem" they are answered at posterior means. After "gibbs" outputs and likelihoods are
    averaged over samples, and states are told at the likeliest sample, for states of different
    samples have different coordinates.
    """

    fitted_: FittedDynamics
    inputs: Any
    output_columns_: list[int]
    input_columns_: list[int]
    noun = "dimension"

    def require_fitted(self) -> FittedDynamics:
        """What was learned, or an error if nothing was yet."""
        super().require_fitted()
        return self.fitted_

    def filter(self, X: Any, lengths: Any = None) -> StateEstimates:
        """What is known of the state of each step given the steps up to it.

        Of a diffuse start states are NaN, and their covariance infinite, until something is known.
        """
        return self.require_fitted().filter(self._rows(X, lengths))

    def smooth(self, X: Any, lengths: Any = None) -> StateEstimates:
        """What is known of the state of each step given its whole sequence."""
        return self.require_fitted().smooth(self._rows(X, lengths))

    def transform(self, X: Any, lengths: Any = None) -> Array:
        """Means of the states given their sequences, (T, K)."""
        return self.smooth(X, lengths).mean

    def sample_states(
        self, X: Any, n: int = 1, *, lengths: Any = None, random_state: Any = None
    ) -> Array:
        """States drawn given their sequences, (n, T, K)."""
        check_whole("n", n, at_least=1)
        rows = self._rows(X, lengths)
        return self.require_fitted().sample_states(rows, int(n), self._generator(random_state))

    def impute(self, X: Any, lengths: Any = None) -> Array:
        """Rows in which what is missing is what is expected given their sequence."""
        fitted, series = self.require_fitted(), self._series(X, lengths)
        found, at = self._given(X), self.output_columns_
        expected = fitted.expected_outputs(self._encoded(series))
        found[:, at] = np.where(np.isnan(found[:, at]), expected, found[:, at])
        return found

    def forecast(
        self,
        X: Any,
        h: int = 1,
        *,
        lengths: Any = None,
        inputs: Any = None,
        interval: float | None = None,
        draws: int | None = None,
        random_state: Any = None,
    ) -> SeriesForecast:
        """The outputs of the h steps after each sequence.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        h
            How many steps.
        inputs
            The inputs of these steps, (h, U), or (S, h, U) of S sequences; needed if there are any.
        interval
            The probability of a central interval around each output, as 0.9; None: no interval.
        draws, random_state
            How many futures of each sequence are drawn jointly.

        Examples
        --------
        >>> import jensen as jn
        >>> level = jn.local_level(initial={"mean": 10.0, "covariance": 4.0}, tol=1e-4)
        >>> model = level.fit([10.0, 10.5, 9.8, 11.0, 11.2, 10.9, 11.5])
        >>> model.forecast([10.0, 10.5, 9.8, 11.0], h=2).expected.shape
        (1, 2, 1)
        """
        check_whole("h", h, at_least=1)
        if draws is not None:
            check_whole("draws", draws, at_least=1)
        if interval is not None:
            check_level(interval)
        fitted, series = self.require_fitted(), self._series(X, lengths)
        S, D = len(series.lengths), len(self.output_columns_)
        check_many(h, 8.0 * S * (3.0 * D + 4.0 * self.n_states**2), "steps", "look less far ahead")
        future = self._future_inputs(inputs, S, int(h))
        ahead = fitted.look_ahead(self._encoded(series), future, int(h))
        expected, deviation = moments(ahead)
        states = ahead[0].states
        numbers = tuple(str(s + 1) for s in range(S))
        found = SeriesForecast(expected, deviation, states, tuple(self.outputs_), numbers)
        if interval is not None:
            low, high = _interval(ahead, float(interval))
            found = replace(found, level=float(interval), low=low, high=high)
        if draws is not None:
            rng = self._generator(random_state)
            points = list(fitted.points())
            each = np.bincount(np.arange(int(draws)) % len(points), minlength=len(points))
            parts = [
                draw_ahead(point, one, future, int(n), rng)
                for point, one, n in zip(points, ahead, each, strict=True)
                if n
            ]
            found = replace(found, draws=np.concatenate(parts, axis=1))
        return found

    def log_likelihood(self, X: Any, lengths: Any = None) -> Array:
        """Log p(sequence), one for each, what is missing integrated out."""
        return self.require_fitted().log_likelihood(self._rows(X, lengths))

    def score(
        self,
        X: Any,
        y: None = None,
        *,
        lengths: Any = None,
        sequence_weight: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The mean log-likelihood of a step."""
        refuse_lengths_as_y(X, y)
        total, n = self._total(X, lengths, sequence_weight, sample_weight)
        return total / n

    def bic(self, X: Any, lengths: Any = None, *, sequence_weight: Any = None) -> float:
        """Bayesian information criterion, -2 log L + p log T; lower is better."""
        total, n = self._total(X, lengths, sequence_weight, None)
        return float(-2.0 * total + self.n_parameters * np.log(n))

    def aic(self, X: Any, lengths: Any = None, *, sequence_weight: Any = None) -> float:
        """Akaike information criterion, -2 log L + 2 p; lower is better."""
        total, _ = self._total(X, lengths, sequence_weight, None)
        return -2.0 * total + 2.0 * self.n_parameters

    def sample(
        self,
        n_steps: int = 1,
        n_sequences: int | None = None,
        *,
        inputs: Any = None,
        random_state: Any = None,
    ) -> tuple[Any, Any]:
        """Draw the outputs (n_steps, D) of a sequence, and its states; or lists of them.

        States of a diffuse start begin at their `initial_mean_`.
        """
        check_whole("n_steps", n_steps, at_least=1)
        fitted, rng = self.require_fitted(), self._generator(random_state)
        n = 1
        if n_sequences is not None:
            check_whole("n_sequences", n_sequences, at_least=1)
            n = int(n_sequences)
        D, K = len(self.output_columns_), self.n_states
        check_many(n_steps, 16.0 * n * (D + K), "steps", "draw fewer")
        ptr = np.arange(n + 1, dtype=np.int64) * int(n_steps)
        given = self._future_inputs(inputs, n, int(n_steps)).reshape(int(ptr[-1]), -1)
        rows = SeriesRows.of(np.zeros((len(given), D)), given, ptr, np.ones(n))
        outputs, states = fitted.sample(rows, rng)
        if n_sequences is None:
            return outputs, states
        return np.split(outputs, ptr[1:-1]), np.split(states, ptr[1:-1])

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are; coordinates of the states are none."""
        return self.require_fitted().n_parameters

    @property
    def n_states_(self) -> int:
        """How many states there are; after "vbem" those without which the bound is lower."""
        fitted = self.require_fitted()
        return int(self.n_states if fitted.n_live is None else fitted.n_live)

    @property
    def outputs_(self) -> list[str]:
        """The names of the outputs; x0, x1, ... where columns have none."""
        names = names_of(self, self.n_features_in_)
        return [names[i] for i in self.output_columns_]

    @property
    def _n_features_out(self) -> int:
        return int(self.n_states)

    @property
    def n_iter_(self) -> int:
        """How many sweeps there were, as scikit-learn calls them: one at least."""
        self.require_fitted()
        return max(1, self.n_sweeps_)

    # --- rows ---

    def _read_series(self, X: Any, lengths: Any, *, reset: bool) -> Series:
        """Outputs, then inputs, of sequences."""
        X, lengths = join_sequences(X, lengths)
        values = read_numbers(self, X, reset=reset, otherwise=OTHERWISE)
        if reset:
            self._find_columns(names_of(self, values.shape[1]))
        values = values[:, [*self.output_columns_, *self.input_columns_]]
        gaps = np.isnan(values[:, len(self.output_columns_) :])
        if gaps.any():
            row, column = np.argwhere(gaps)[0]
            name = names_of(self, self.n_features_in_)[self.input_columns_[column]]
            refuse_input(int(row), name)
        return Series(values, read_lengths(lengths, len(values)))

    def _find_columns(self, names: list[str]) -> None:
        self.output_columns_, self.input_columns_ = read_inputs(self.inputs, names)

    def _series(self, X: Any, lengths: Any) -> Series:
        self.require_fitted()
        return self._read_series(X, lengths, reset=False)

    def _given(self, X: Any) -> Array:
        X, _ = join_sequences(X, None)
        return np.array(read_numbers(self, X, reset=False, otherwise=OTHERWISE))

    def _encoded(self, series: Series) -> SeriesRows:
        D = len(self.output_columns_)
        ptr = np.append(0, np.cumsum(series.lengths)).astype(np.int64)
        weight = np.ones(len(series.lengths))
        return SeriesRows.of(series.values[:, :D], series.values[:, D:], ptr, weight)

    def _rows(self, X: Any, lengths: Any) -> SeriesRows:
        return self._encoded(self._series(X, lengths))

    def _future_inputs(self, inputs: Any, n: int, h: int) -> Array:
        """Inputs (n, h, U)."""
        U = len(self.input_columns_)
        if inputs is None:
            if U:
                how = for_reader("inputs= of these steps", "--future, a table of these steps")
                raise DataError(
                    f"this model has {plural(U, 'input')}: give {how}, of the shape ({h}, {U})"
                )
            return np.zeros((n, h, 0))
        found = np.asarray(inputs, np.float64)
        if found.shape not in ((h, U), (n, h, U)) or not np.isfinite(found).all():
            raise DataError(
                f"inputs must be numbers of the shape ({h}, {U}), or ({n}, {h}, {U}), one for each "
                f"step, and have the shape {found.shape}"
            )
        return np.broadcast_to(found, (n, h, U))

    def _total(
        self, X: Any, lengths: Any, sequence_weight: Any, sample_weight: Any
    ) -> tuple[float, float]:
        series = self._series(X, lengths)
        log_like = self.require_fitted().log_likelihood(self._encoded(series))
        weight = read_sequence_weights(sequence_weight, series.lengths, sample_weight)
        counts = weight > 0.0
        if not counts.any():
            raise DataError("the mean over no steps is undefined: no sequence has a weight")
        return float(weight[counts] @ log_like[counts]), float(weight @ series.lengths)

    def _generator(self, random_state: Any) -> np.random.Generator:
        return as_generator(self.random_state if random_state is None else random_state)

    # --- files and text ---

    n_states: int

    def _plain(self) -> dict[str, Any]:
        from jensen.estimators.dynamics_saving import plain_dynamics

        return plain_dynamics(self)

    @staticmethod
    def _read_plain(value: Checked) -> DynamicsQuestions:
        from jensen.estimators.dynamics_saving import read_dynamics

        return read_dynamics(value)

    def _summarise(self) -> Summary:
        from jensen.estimators.dynamics_saving import summarise

        return summarise(self)


_interval = interval


def refuse_input(row: int, name: str) -> None:
    """Refuse an input that is missing."""
    raise DataError(
        f"row {row + 1} of the input {name!r} is missing: inputs are given, not explained. Fill "
        f"it, or take the column out of inputs="
    )
