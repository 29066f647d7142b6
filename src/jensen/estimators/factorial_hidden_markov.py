"""Factorial hidden Markov models, learned with values missing anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows, summarise
from jensen.estimators.arrays import ArrayEstimator, check_columns, names_of
from jensen.estimators.factor_estimator import read_factor_prior, read_part
from jensen.estimators.factorial_saving import plain_factorial, read_factorial, summarise_chains
from jensen.estimators.learning import LoopChoices, Problem, Start
from jensen.estimators.reports import Summary
from jensen.estimators.sequences import (
    join_sequences,
    read_lengths,
    read_numbers,
    read_sequence_weights,
    refuse_lengths_as_y,
)
from jensen.exceptions import DataError, JensenError
from jensen.inference.factorial_chains import FittedFactorial
from jensen.models.emissions.priors import check_names
from jensen.models.factorial_chains import (
    Factorial,
    FactorialModel,
    FactorialPoint,
    draw_sequence,
)
from jensen.models.protocol import Data
from jensen.q_hidden.factorial_chains import Found
from jensen.q_hidden.gaussian_chain import SeriesRows
from jensen.support.arguments import as_generator, check_whole
from jensen.support.json_values import Checked
from jensen.support.machine import check_many

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

OTHERWISE = "leave the column out, or use jn.HiddenMarkovModel, which takes labels"


class FactorialChoices(LoopChoices):
    """Exact, or by a structured mean field."""

    methods = ("em", "vbem", "variational-em", "mean-field")


class FactorialHiddenMarkovModel(ArrayEstimator):
    """Several independent chains of hidden states, whose effects add up in the outputs.

    With the states s¹, ..., sᴹ of a step its outputs are
    offset + effects[0, s¹] + ... + effects[M-1, sᴹ] + noise, the noise of each output independent.

    Parameters
    ----------
    n_factors, n_states
        How many chains M, and how many states K each of them has.
    method
        "em" and "vbem" sum over the states of all chains exactly, by transitions of one chain at a
        time: T M K^(M+1) steps. "variational-em" and "mean-field" believe that the chains are
        independent given the outputs (a structured mean field): T M K² steps, and F is lower. None:
        "em" without a prior, else "vbem".
    prior
        None: flat; the default of all parts for "vbem" and "mean-field". Else a dict of
        "concentration" (Dirichlet, of first states and transitions; by default 1, or 2 for methods
        that look for a mode) and the parts that `FactorAnalysis` has.
    start
        A fitted model, or a dict of "initial" (M, K), "transition" (M, K, K), "effects" (M, K, D),
        "offset" (D,) and "noise" (D,). Without it starts are random: give several (`n_init`).
    n_init, max_iter, tol, random_state, progress
        As in `HiddenMarkovModel`.

    Attributes
    ----------
    initial_, transition_ : arrays
        (M, K), (M, K, K).
    offset_, effects_, noise_variance_ : arrays
        (D,), (M, K, D), (D,). The first state of a chain adds nothing.
    free_energy_, is_bound_, trace_, starts_, n_sweeps_, converged_
        As in `HiddenMarkovModel`.

    References
    ----------
    Ghahramani and Jordan (1997), *Factorial hidden Markov models*, doi:10.1023/A:1007425814087.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> states = np.repeat(rng.integers(0, 2, (20, 2)), 10, axis=0)
    >>> y = states @ [[3.0, 0.0], [0.0, 2.0]] + 0.3 * rng.normal(size=(200, 2))
    >>> model = jn.FactorialHiddenMarkovModel(2, n_init=5, tol=1e-6, random_state=0).fit(y)
    >>> model.predict(y).shape
    (200, 2)
    """

    initial_: Array
    transition_: Array
    fitted_: FittedFactorial
    choices_kind = FactorialChoices
    noun = "chain"

    def __init__(
        self,
        n_factors: int = 2,
        n_states: int = 2,
        *,
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_factors = n_factors
        self.n_states = n_states
        self.method = method
        self.prior = prior
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        lengths: Any = None,
        sequence_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from sequences, as `HiddenMarkovModel` takes them; values are numbers."""
        refuse_lengths_as_y(X, y)
        self._learn(self.problem(X, lengths=lengths, sequence_weight=sequence_weight), checkpoint)
        return self

    def problem(self, X: Any, *, lengths: Any = None, sequence_weight: Any = None) -> Problem:
        """What `fit` learns: the model with its prior, the encoded steps, the choices."""
        choices = self._choices_of_loop()
        choices.check()
        for name in ("n_factors", "n_states"):
            check_whole(name, getattr(self, name), at_least=1 if name == "n_factors" else 2)
        values, lengths = self._read(X, lengths, reset=True)
        rows = NumberRows.of(values)
        weight = read_sequence_weights(sequence_weight, lengths)
        if not 0.0 < weight.sum() < np.inf:
            raise DataError(
                "there is nothing to learn from: the weights sum to zero or to infinity"
            )
        words, more = read_factor_prior(self.prior, choices.algorithm, ("concentration",))
        constant = check_columns(rows, names_of(self, values.shape[1]))
        if constant and words is None:
            raise DataError(
                f"{constant[0]} is constant, so the likelihood has no bound: leave it out, or give "
                "a prior"
            )
        usual = 2.0 if choices.algorithm.seeks_mode else 1.0
        concentration = float(more.get("concentration", usual))
        if not 0.0 < concentration < np.inf:
            raise JensenError(f"concentration must be a number above 0, not {concentration!r}")
        found = summarise(rows)
        M, K = int(self.n_factors), int(self.n_states)
        model = FactorialModel(found.mean, np.sqrt(found.variance), M, K, words, concentration)
        data = Data(model.encode(rows, lengths, weight), rows, (M, K, lengths, weight, rows))
        start = None
        if self.start is not None:
            start = Start(self._read_start(model, data.units.total_weight))
        return Problem(model, data, choices, start)

    # --- questions ---

    def predict_proba(self, X: Any, lengths: Any = None) -> Array:
        """p(state of each chain at a step | its sequence), (T, M, K)."""
        return self._solve(X, lengths).nodes

    def predict(self, X: Any, lengths: Any = None) -> NDArray[np.intp]:
        """The most probable state of each chain at each step by itself, (T, M)."""
        return np.asarray(self.predict_proba(X, lengths).argmax(-1))

    def log_likelihood(self, X: Any, lengths: Any = None) -> Array:
        """Log p(sequence), one for each; under a mean field a lower bound of it."""
        return self._solve(X, lengths).value

    def score(self, X: Any, y: None = None, *, lengths: Any = None) -> float:
        """The mean log-likelihood of a step; under a mean field a lower bound of it."""
        refuse_lengths_as_y(X, y)
        found = self._solve(X, lengths)
        return float(found.value.sum() / len(found.nodes))

    def sample(self, n_steps: int = 1, random_state: Any = None) -> tuple[Array, NDArray[np.intp]]:
        """Draw the outputs (n_steps, D) of a sequence, and the states (n_steps, M)."""
        check_whole("n_steps", n_steps, at_least=1)
        fitted = self.require_fitted()
        check_many(
            n_steps, 16.0 * (len(fitted.point.offset) + self.n_factors), "steps", "draw fewer"
        )
        rng = as_generator(self.random_state if random_state is None else random_state)
        return draw_sequence(fitted.point, int(n_steps), rng)

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are."""
        return int(self.require_fitted().n_parameters)

    def _solve(self, X: Any, lengths: Any) -> Found:
        fitted = self.require_fitted()
        values, lengths = self._read(X, lengths, reset=False)
        ptr = np.append(0, np.cumsum(lengths)).astype(np.int64)
        rows = SeriesRows.of(values, None, ptr, np.ones(len(lengths)))
        name = self._choices_of_loop().algorithm.name
        found: Found = fitted.solve(rows, exact=name in ("em", "vbem"))
        return found

    def _read(self, X: Any, lengths: Any, *, reset: bool) -> tuple[Array, Ints]:
        X, lengths = join_sequences(X, lengths)
        values = read_numbers(self, X, reset=reset, otherwise=OTHERWISE)
        return values, read_lengths(lengths, len(values))

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, FactorialHiddenMarkovModel):
            named: Mapping[str, Any] = start.require_fitted().point._asdict()
            return named
        if not isinstance(start, Mapping):
            raise JensenError(
                "start must be a fitted FactorialHiddenMarkovModel or a dict of "
                f"{', '.join(FactorialPoint._fields)}, not {start!r:.80}"
            )
        return start

    def _read_start(self, model: FactorialModel, weight: float) -> Factorial:
        """η whose mode has the parameters of `start`."""
        start = self._named_start()
        check_names(start, FactorialPoint._fields, "start")
        M, K, D = model.n_chains, model.n_states, len(model.shift)
        usual = {
            "initial": np.full((M, K), 1.0 / K),
            "transition": np.full((M, K, K), 0.1 / K) + 0.9 * np.eye(K),
            "offset": model.shift,
            "noise": 0.5 * model.scale**2,
        }
        shapes = {**{n: np.shape(x) for n, x in usual.items()}, "effects": (M, K, D)}
        for name in ("effects",):
            if name not in start:
                raise JensenError("start= must give the effects of the states, (M, K, D)")
        given = {n: read_part(x, n, shapes[n]) for n, x in start.items()}
        point = FactorialPoint(**{**usual, **given})
        if not (point.noise > 0.0).all() or not all(
            (x >= 0.0).all() and np.allclose(x.sum(-1), 1.0)
            for x in (point.initial, point.transition)
        ):
            raise JensenError(
                "start= must give probabilities that sum to 1, and noise of variances above 0"
            )
        base = point.effects[:, :1]
        moved = point._replace(offset=point.offset + base.sum((0, 1)), effects=point.effects - base)
        return model.around(moved, weight)

    def _show(self) -> None:
        point = self.require_fitted().point
        self.initial_, self.transition_ = point.initial, point.transition
        self.offset_, self.effects_ = point.offset, point.effects
        self.noise_variance_ = point.noise

    # --- files and text ---

    def _plain(self) -> dict[str, Any]:
        return plain_factorial(self)

    @staticmethod
    def _read_plain(value: Checked) -> Any:
        return read_factorial(value)

    def _summarise(self) -> Summary:
        return summarise_chains(self)
