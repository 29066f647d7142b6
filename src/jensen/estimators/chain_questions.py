"""What can be asked of a hidden Markov model, whatever its states make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable
from jensen.data.model_columns import UnknownLabels, refuse_unknown, warn_of_unknown
from jensen.estimators.sequences import chosen_steps, read_sequence_weights, refuse_lengths_as_y
from jensen.estimators.state_estimator import (
    StatesEstimator,
    best_states,
    check_impossible,
    refuse_impossible,
)
from jensen.estimators.states_summary import column_names
from jensen.exceptions import DataError, ImpossibleSequenceError, JensenError
from jensen.families.dirichlet import dirichlet
from jensen.inference import chains, forecasts
from jensen.inference.chains import FittedChain, Steps
from jensen.inference.forecasts import Forecast
from jensen.inference.regression import check_level
from jensen.models.emissions.registry import EMISSIONS
from jensen.support.arguments import as_generator, check_whole

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class ChainQuestions(StatesEstimator):
    """Questions to a fitted model; what a step misses is summed out.

    After "vbem" with predictive emissions and mean transitions; after "gibbs" mixed over samples.
    Everywhere X and `lengths` are as in `fit`.
    """

    fitted_: FittedChain
    n_states: int
    end: bool
    initial_: Array
    transition_: Array
    emission_: Any
    kind_: str
    variables_: tuple[Variable, ...] | None
    whole_labels_: tuple[bool, ...]
    noun = "state"
    size = "n_states"

    def require_fitted(self) -> FittedChain:
        """What was learned, or an error if nothing was yet."""
        super().require_fitted()
        return self.fitted_

    def filter(self, X: Any, lengths: Any = None) -> Array:
        """p(state of a step | the sequence up to it), (T, K)."""
        return chains.filtered(self.require_fitted(), self.read_steps(X, lengths))

    def smooth(
        self, X: Any, lengths: Any = None, *, pairs: bool = False
    ) -> Array | tuple[Array, Array]:
        """p(state of a step | its sequence), (T, K).

        With `pairs` also p(states of two neighbouring steps | their sequence), (T - S, K, K).
        """
        fitted, steps = self.require_fitted(), self.read_steps(X, lengths)
        nodes = fitted.predict_proba(steps)
        return (nodes, chains.pair_posteriors(fitted, steps)) if pairs else nodes

    def predict_proba(
        self,
        X: Any,
        lengths: Any = None,
        *,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
    ) -> Array:
        """The same as `smooth`, of many sequences.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        impossible
            What to do with sequences of probability 0: "raise", or "nan" in all their steps.
        unknown
            What to do with labels that were not there in `fit`: "raise", or take as "missing".
        """
        steps = self.read_steps(X, lengths, unknown=unknown)
        return np.asarray(self._answers(steps, impossible, FittedChain.predict_proba, np.nan))

    def predict(self, X: Any, lengths: Any = None, **choices: Any) -> NDArray[np.intp]:
        """The most probable state of each step by itself; `decode` gives the best path.

        Choices as in `predict_proba`; with ``impossible="nan"`` the steps of an impossible sequence
        have the state -1.
        """
        return best_states(self.predict_proba(X, lengths, **choices))

    def decode(
        self,
        X: Any,
        lengths: Any = None,
        *,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
    ) -> Ints:
        """The most probable path of states, (T,), by Viterbi's algorithm.

        Choices as in `predict`.
        """
        steps = self.read_steps(X, lengths, unknown=unknown)
        paths = self._answers(steps, impossible, lambda *x: chains.best_paths(*x)[1], -1)
        return np.asarray(paths)

    def decode_with_value(self, X: Any, lengths: Any = None) -> tuple[Array, Ints]:
        """Log p(sequence, best path) of every sequence, and the paths."""
        return chains.best_paths(self.require_fitted(), self.read_steps(X, lengths))

    def sample_states(
        self, X: Any, n: int = 1, *, lengths: Any = None, random_state: Any = None
    ) -> Ints:
        """Paths drawn from p(states | sequences), (n, T)."""
        check_whole("n", n, at_least=1)
        fitted, steps = self.require_fitted(), self.read_steps(X, lengths)
        return chains.drawn_paths(fitted, steps, int(n), self._generator(random_state))

    def forecast(
        self,
        X: Any,
        h: int = 1,
        *,
        lengths: Any = None,
        interval: float | None = None,
        draws: int | None = None,
        random_state: Any = None,
    ) -> Forecast:
        """The states and expected rows of the h steps after each sequence, if it goes on.

        After "vbem" with predictive emissions and mean transitions; after "gibbs" mixed over
        samples.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        h
            How many steps.
        interval
            The probability of a central interval around each number, as 0.9; None: no interval.
            Labels have none.
        draws, random_state
            How many futures of each sequence are drawn, rows and states jointly. After "vbem" and
            "gibbs" every future has parameters of its own, drawn from their posterior.

        Examples
        --------
        >>> import jensen as jn
        >>> model = jn.HiddenMarkovModel.from_parameters(
        ...     initial=[0.5, 0.5],
        ...     transition=[[0.9, 0.1], [0.3, 0.7]],
        ...     means=[[0.0], [10.0]],
        ...     covariances=[[1.0], [4.0]],
        ...     kind="gaussian",
        ...     covariance="diagonal",
        ... )
        >>> model.forecast([0.3, -1.2, 9.1], h=3, interval=0.9)
        3 steps ahead
        step  state  probability    x0  90% from     to
        -----------------------------------------------
           1      1          0.7     7   -0.9674  12.93
           2      1         0.52   5.2    -1.258  12.61
           3      0        0.588  4.12    -1.372  12.34
        >>> model.forecast([0.3, -1.2, 9.1], h=3, draws=100, random_state=0).draws.shape
        (1, 100, 3, 1)
        """
        check_whole("h", h, at_least=1)
        if draws is not None:
            check_whole("draws", draws, at_least=1)
        fitted, steps = self.require_fitted(), self.read_steps(X, lengths)
        if interval is not None:
            check_level(interval)
        ahead = forecasts.look_ahead(fitted, steps, int(h))
        states, expected = forecasts.expect_rows(fitted, ahead)
        found = Forecast(
            states, expected, tuple(column_names(self)), self._labels_of_columns(),
            tuple(str(s + 1) for s in range(len(states))),
        )  # fmt: skip
        if interval is not None:
            low, high = forecasts.intervals(fitted, ahead, interval)
            found = replace(found, level=float(interval), low=low, high=high)
        if draws is not None:
            rng = self._generator(random_state)
            rows, drawn = forecasts.draw_ahead(fitted, steps, int(h), int(draws), rng)
            found = replace(found, draws=self._labelled_draws(rows, drawn), drawn_states=drawn)
        return found

    def _labels_of_columns(self) -> tuple[tuple[str, ...], ...]:
        """The labels of every column; of 0 and 1 the one that `expected` tells."""
        if self.variables_ is not None:
            return tuple(v.states for v in self.variables_)
        is_binary = EMISSIONS[self.kind_].column == "binary"
        n_columns: int = self.require_fitted().model.emission.n_columns
        return (("1",) if is_binary else (),) * n_columns

    def _labelled_draws(self, rows: Array, states: Ints) -> NDArray[Any]:
        """Drawn rows as the labels that they stand for; None after the end of a sequence."""
        if self.variables_ is None:
            return rows
        there = states >= 0
        labels = np.asarray(self._labelled(rows[there]))
        if there.all():
            return labels.reshape(rows.shape)
        found = np.full(rows.shape, None, object)
        found[there] = labels
        return found

    def log_likelihood(self, X: Any, lengths: Any = None) -> Array:
        """Log p(sequence), one for each; -inf if it is impossible, or has an unknown label."""
        return self._log_like(X, lengths)[0]

    def score(
        self,
        X: Any,
        y: None = None,
        *,
        lengths: Any = None,
        sequence_weight: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The mean log-likelihood of a step.

        Weights are those of sequences; `sample_weight`, by which scikit-learn's tools pass them,
        has one for each row, the same for all rows of a sequence.
        """
        refuse_lengths_as_y(X, y)
        total, n = self._total(X, lengths, sequence_weight, sample_weight)
        return total / n

    def bic(self, X: Any, lengths: Any = None, *, sequence_weight: Any = None) -> float:
        """Bayesian information criterion, -2 log L + p log T; lower is better, as elsewhere."""
        total, n = self._total(X, lengths, sequence_weight)
        return float(-2.0 * total + self.n_parameters * np.log(n))

    def aic(self, X: Any, lengths: Any = None, *, sequence_weight: Any = None) -> float:
        """Akaike information criterion, -2 log L + 2 p; lower is better."""
        total, _ = self._total(X, lengths, sequence_weight)
        return -2.0 * total + 2.0 * self.n_parameters

    def _log_like(self, X: Any, lengths: Any) -> tuple[Array, Ints]:
        """Log p(sequence) and the length of each."""
        fitted = self.require_fitted()
        steps, strange = self._read_known(X, lengths)
        log_like = fitted.log_likelihood(steps)
        if strange is not None:
            warn_of_unknown(strange)
            begins = np.cumsum(steps.lengths) - steps.lengths
            log_like[np.logical_or.reduceat(strange.rows, begins)] = -np.inf
        return log_like, steps.lengths

    def _total(
        self, X: Any, lengths: Any, sequence_weight: Any, sample_weight: Any = None
    ) -> tuple[float, float]:
        """The log-likelihood of all sequences and the number of their steps, by weight."""
        log_like, sizes = self._log_like(X, lengths)
        weight = read_sequence_weights(sequence_weight, sizes, sample_weight)
        counts = weight > 0.0
        if not counts.any():
            raise DataError("the mean over no steps is undefined: no sequence has a weight")
        return float(weight[counts] @ log_like[counts]), float(weight @ sizes)

    @property
    def n_parameters(self) -> int:
        """How many free parameters the model has; what a mask leaves out or is held is none."""
        return self.require_fitted().n_parameters

    def sample(
        self, n_steps: int | None = None, n_sequences: int | None = None, random_state: Any = None
    ) -> tuple[Any, Any]:
        """Draw a sequence and its states; with `n_sequences` lists of them.

        A model with `end` stops by itself, at `n_steps` at the latest.
        """
        if n_steps is None and not self.end:
            raise JensenError("say how many steps: this model does not end by itself (end=True)")
        for name, value in (("n_steps", n_steps), ("n_sequences", n_sequences)):
            if value is not None:
                check_whole(name, value, at_least=1)
        fitted, rng = self.require_fitted(), self._generator(random_state)
        chains.check_draws(fitted, n_steps or 1, n_sequences or 1)
        many = [fitted.sample(n_steps, rng) for _ in range(n_sequences or 1)]
        rows = [self._labelled(values) for values, _ in many]
        states = [path for _, path in many]
        return (rows[0], states[0]) if n_sequences is None else (rows, states)

    @property
    def n_states_(self) -> int:
        """How many states live: those with more than half a step, and always the largest."""
        return self.n_live_

    def _generator(self, random_state: Any) -> np.random.Generator:
        return as_generator(self.random_state if random_state is None else random_state)

    def _answers(
        self,
        steps: Steps,
        impossible: str,
        ask: Callable[[FittedChain, Steps], Any],
        no_answer: float,
    ) -> Any:
        """What is asked of every step; of impossible sequences there is no answer."""
        check_impossible(impossible)
        fitted = self.require_fitted()
        try:
            return ask(fitted, steps)
        except ImpossibleSequenceError:
            lost = fitted.log_likelihood(steps) == -np.inf
        refuse_impossible(lost, impossible, "sequence")
        some = ask(fitted, chosen_steps(steps, np.flatnonzero(~lost)))
        answers = np.full((len(steps.values), *some.shape[1:]), no_answer, some.dtype)
        answers[np.repeat(~lost, steps.lengths)] = some
        return answers

    def read_steps(self, X: Any, lengths: Any, *, unknown: str = "raise") -> Steps:
        """Sequences whose labels are all known, or taken as missing."""
        self.require_fitted()
        steps, strange = self._read_known(X, lengths)
        refuse_unknown(strange, unknown)
        return steps

    def _read_known(
        self, X: Any, lengths: Any, *, reset: bool = False
    ) -> tuple[Steps, UnknownLabels | None]:
        """Sequences as the model knows them, and labels that it does not know."""
        raise NotImplementedError

    def _labelled(self, values: Array) -> Any:
        """Codes as the labels that they stand for; those that were whole numbers are so again."""
        variables, whole = getattr(self, "variables_", None), getattr(self, "whole_labels_", ())
        if variables is None:
            return values
        columns = [
            np.array(v.states, dtype=object)[values[:, i].astype(int)]
            for i, v in enumerate(variables)
        ]
        labels = np.stack(columns, axis=1)
        for i in np.flatnonzero(whole):
            labels[:, i] = [int(text) for text in labels[:, i]]
        return labels.astype(np.int64) if whole and all(whole) else labels

    def _show(self) -> None:
        """Set the attributes that show the parameters."""
        shown = self._shown()
        self.initial_, self.transition_ = shown["initial"], shown["transition"]
        if self.end:
            self.end_ = shown["end"]
        names = EMISSIONS[self.kind_].parameters
        for name in names:
            setattr(self, f"{name}_", shown[name])
        self.emission_ = shown[names[0]]

    def _shown(self) -> dict[str, Any]:
        """Parameters by name; after Gibbs averages over samples."""
        fitted = self.require_fitted()
        K, emission = fitted.model.n_states, fitted.model.emission
        draws = [fitted.t] if fitted.samples is None else list(fitted.draws())
        shown = emission.show(*(t.emission for t in draws))
        moves = np.mean([dirichlet.share(np.exp(t.transition)) for t in draws], axis=0)
        initial = np.mean([dirichlet.share(np.exp(t.initial)) for t in draws], axis=0)
        named = {"initial": initial, "transition": moves[:, :K]}
        if fitted.model.has_end:
            named["end"] = moves[:, K]
        return {**named, **_together(shown)}


def _together(shown: dict[str, Any]) -> dict[str, Any]:
    """The parts of an emission of several columns under one name."""
    if any(isinstance(value, dict) for value in shown.values()):
        return {"emission": {name: value["emission"] for name, value in shown.items()}}
    return shown
