"""What can be asked of a hidden Markov model, whatever its states make."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.checks import check_whole
from jensen.estimators.states_estimator import StatesEstimator, mean_of
from jensen.exceptions import JensenError
from jensen.families.dirichlet import dirichlet
from jensen.inference import chains
from jensen.inference.chains import Steps, parameters_of
from jensen.randomness import as_generator

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Forecast(NamedTuple):
    """What comes after sequences."""

    states: Array  # (S, h, K): probabilities of hidden states
    expected: Array  # (S, h, D): expected rows; of labels the probability of each, (S, h, V)


class ChainQuestions(StatesEstimator):
    """Questions to a fitted model; what a step misses is summed out.

    After "vbem" with predictive emissions and mean transitions; after "gibbs" mixed over samples.
    Everywhere X and `lengths` are as in `fit`.
    """

    n_states: int
    end: bool
    noun = "state"

    def filter(self, X: Any, lengths: Any = None) -> Array:
        """p(state of a step | the sequence up to it), (T, K)."""
        return chains.filtered(self.require_fitted(), self._read_steps(X, lengths))

    def smooth(
        self, X: Any, lengths: Any = None, *, pairs: bool = False
    ) -> Array | tuple[Array, Array]:
        """p(state of a step | its sequence), (T, K).

        With `pairs` also p(states of two neighbouring steps | their sequence), (T - S, K, K).
        """
        fitted, steps = self.require_fitted(), self._read_steps(X, lengths)
        nodes = chains.smoothed(fitted, steps)
        return (nodes, chains.pair_posteriors(fitted, steps)) if pairs else nodes

    def predict_proba(self, X: Any, lengths: Any = None) -> Array:
        """The same as `smooth`."""
        return chains.smoothed(self.require_fitted(), self._read_steps(X, lengths))

    def predict(self, X: Any, lengths: Any = None) -> NDArray[np.intp]:
        """The most probable state of each step by itself; `decode` gives the best path."""
        return np.asarray(self.predict_proba(X, lengths).argmax(1))

    def decode(self, X: Any, lengths: Any = None) -> Ints:
        """The most probable path of states, (T,), by Viterbi's algorithm."""
        return self.decode_with_value(X, lengths)[1]

    def decode_with_value(self, X: Any, lengths: Any = None) -> tuple[Array, Ints]:
        """Log p(sequence, best path) of every sequence, and the paths."""
        return chains.best_paths(self.require_fitted(), self._read_steps(X, lengths))

    def sample_states(
        self, X: Any, n: int = 1, *, lengths: Any = None, random_state: Any = None
    ) -> Ints:
        """Paths drawn from p(states | sequences), (n, T)."""
        check_whole("n", n, at_least=1)
        fitted, steps = self.require_fitted(), self._read_steps(X, lengths)
        return chains.drawn_paths(fitted, steps, int(n), self._generator(random_state))

    def forecast(self, X: Any, h: int = 1, *, lengths: Any = None) -> Forecast:
        """The states and expected rows of the h steps after each sequence, if it goes on."""
        check_whole("h", h, at_least=1)
        fitted, steps = self.require_fitted(), self._read_steps(X, lengths)
        return Forecast(*chains.forecast(fitted, steps, int(h)))

    def log_likelihood(self, X: Any, lengths: Any = None) -> Array:
        """Log p(sequence), one for each sequence."""
        return chains.log_likelihood(self.require_fitted(), self._read_steps(X, lengths))

    def score(self, X: Any, y: None = None, *, lengths: Any = None) -> float:
        """The mean log-likelihood of a step."""
        fitted, steps = self.require_fitted(), self._read_steps(X, lengths)
        return float(chains.log_likelihood(fitted, steps).sum() / len(steps.values))

    def bic(self, X: Any, lengths: Any = None) -> float:
        """Bayesian information criterion, -2 log L + p log T; lower is better, as elsewhere."""
        n = len(self._read_steps(X, lengths).values)
        log_like = self.log_likelihood(X, lengths).sum()
        return float(-2.0 * log_like + self.n_parameters * np.log(n))

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike information criterion, -2 log L + 2 p; lower is better."""
        return float(-2.0 * self.log_likelihood(X, lengths).sum() + 2.0 * self.n_parameters)

    @property
    def n_parameters(self) -> int:
        """How many free parameters the model has; what a mask leaves out or is held is none."""
        model = self.require_fitted().model
        sizes = {
            "initial": _free(model.masks.get("initial"), (model.n_states,)),
            "transition": _free(model.masks.get("transition"), model.blank.transition.shape),
            "emission": model.emission.n_parameters,
        }
        return int(sum(size for name, size in sizes.items() if name not in model.held))

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
        many = [chains.draw_sequence(fitted, n_steps, rng) for _ in range(n_sequences or 1)]
        rows = [self._labelled(values) for values, _ in many]
        states = [path for _, path in many]
        return (rows[0], states[0]) if n_sequences is None else (rows, states)

    @property
    def n_states_(self) -> int:
        """How many states live: those expected to have made more than half a step."""
        return self.n_live_

    def _generator(self, random_state: Any) -> np.random.Generator:
        return as_generator(self.random_state if random_state is None else random_state)

    def _read_steps(self, X: Any, lengths: Any, *, reset: bool = False) -> Steps:
        raise NotImplementedError

    def _labelled(self, values: Array) -> Any:
        """Codes as the labels that they stand for."""
        variables = getattr(self, "variables_", None)
        if variables is None:
            return values
        columns = [
            np.array(v.states, dtype=object)[values[:, i].astype(int)]
            for i, v in enumerate(variables)
        ]
        return np.stack(columns, axis=1)

    def _shown(self) -> dict[str, Any]:
        """Parameters by name; means over samples after Gibbs."""
        fitted = self.require_fitted()
        K, emission = fitted.model.n_states, fitted.model.emission
        found = []
        for t in parameters_of(fitted):
            moves = dirichlet.share(np.exp(t.transition))
            named = {"initial": dirichlet.share(np.exp(t.initial)), "transition": moves[:, :K]}
            if fitted.model.has_end:
                named["end"] = moves[:, K]
            found.append({**named, **_together(emission.show(t.emission))})
        return {name: mean_of([one[name] for one in found]) for name in found[0]}


def _free(mask: NDArray[np.bool_] | None, shape: tuple[int, ...]) -> int:
    """Free probabilities of distributions along the last axis."""
    possible = np.ones(shape, bool) if mask is None else mask
    return int((possible.sum(-1) - 1).sum())


def _together(shown: dict[str, Any]) -> dict[str, Any]:
    """The parts of an emission of several columns under one name."""
    if any(isinstance(value, dict) for value in shown.values()):
        return {"emission": {name: value["emission"] for name, value in shown.items()}}
    return shown
