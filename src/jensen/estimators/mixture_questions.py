"""What can be asked of a mixture, whatever its components are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.checks import check_whole
from jensen.estimators.arrays import read_matrix, read_weights, weights_of
from jensen.estimators.states_estimator import LIVE, StatesEstimator, mean_of
from jensen.exceptions import JensenError
from jensen.families.dirichlet import dirichlet
from jensen.inference.mixtures import draw_rows, row_posteriors
from jensen.models.emissions.held_parts import select_held
from jensen.models.fitted_states import FittedStates
from jensen.randomness import as_generator

Array = NDArray[np.float64]


class MixtureQuestions(StatesEstimator):
    """Questions to a fitted mixture; what a row misses is summed out.

    After "vbem" the answers are predictive, with parameters integrated out component by component;
    after "gibbs" they are mixed over samples.
    """

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable component of every row."""
        return np.asarray(self.predict_proba(X).argmax(1))

    def predict_proba(self, X: Any) -> Array:
        """p(component | row), (n, K)."""
        return self._posteriors(X)[1]

    def fit_predict(self, X: Any, y: None = None, **choices: Any) -> NDArray[np.intp]:
        """`fit`, then `predict` of the same rows."""
        return self.fit(X, y, **choices).predict(X)  # type: ignore[no-any-return]

    def score_samples(self, X: Any) -> Array:
        """Log p(row), one for each row; scikit-learn's name of `log_likelihood`."""
        return self._posteriors(X)[0]

    def log_likelihood(self, X: Any) -> Array:
        """Log p(row), one for each row."""
        return self.score_samples(X)

    def score(self, X: Any, y: None = None, *, sample_weight: Any = None) -> float:
        """The mean log-likelihood of a row; the weights of a `Table` count."""
        log_like, weight = self._weighted(X, sample_weight)
        return float(np.average(log_like, weights=weight))

    def bic(self, X: Any, *, sample_weight: Any = None) -> float:
        """Bayesian information criterion, -2 log L + p log n; lower is better.

        So in scikit-learn; `jensen.score(graph, table, "bic")` is higher for better graphs.
        """
        log_like, weight = self._weighted(X, sample_weight)
        return float(-2.0 * (weight * log_like).sum() + self.n_parameters * math.log(weight.sum()))

    def aic(self, X: Any, *, sample_weight: Any = None) -> float:
        """Akaike information criterion, -2 log L + 2 p; lower is better."""
        log_like, weight = self._weighted(X, sample_weight)
        return float(-2.0 * (weight * log_like).sum() + 2.0 * self.n_parameters)

    def _weighted(self, X: Any, sample_weight: Any) -> tuple[Array, Array]:
        """Log p(row) of the rows that count, and how often each does."""
        log_like = self.score_samples(X)
        weight = read_weights(weights_of(X, sample_weight), len(log_like))
        return log_like[weight > 0.0], weight[weight > 0.0]

    @property
    def n_parameters(self) -> int:
        """How many free parameters the mixture has; what is held is none."""
        model = self.require_fitted().model
        sizes = {"weights": model.n_states - 1, "components": model.emission.n_parameters}
        return int(sum(size for name, size in sizes.items() if name not in model.held))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[np.intp]]:
        """Draw rows, and the components that made them."""
        check_whole("n_samples", n_samples, at_least=1)
        fitted = self.require_fitted()
        rng = as_generator(self.random_state if random_state is None else random_state)
        return draw_rows(fitted, int(n_samples), rng)

    @property
    def n_components_(self) -> int:
        """How many components live: those with more than half a row."""
        return self.n_live_

    @property
    def label_correction_(self) -> float:
        """Log K!: so many labellings have the same bound, which counts one of them."""
        return math.lgamma(self.require_fitted().model.n_states + 1.0)

    def _lives(self) -> NDArray[np.bool_]:
        return self.require_fitted().counts > LIVE

    def _read(self, X: Any) -> Array:
        """Rows as the mixture knows them."""
        return read_matrix(self, X, reset=False)

    def _posteriors(self, X: Any) -> tuple[Array, Array]:
        fitted = self.require_fitted()
        return row_posteriors(fitted, self._read(X))

    def _shown(self) -> dict[str, Any]:
        """Parameters by name; means over samples after Gibbs."""
        fitted = self.require_fitted()
        emission = fitted.model.emission
        draws = [fitted.t] if fitted.samples is None else list(fitted.draws())
        shown = [{"weights": np.exp(t.weights), **emission.show(t.components)} for t in draws]
        return {name: mean_of([one[name] for one in shown]) for name in shown[0]}

    def _live_only(self) -> FittedStates:
        """The mixture of the components that live."""
        fitted, states = self.require_fitted(), np.flatnonzero(self._lives())
        if len(states) == 0:
            raise JensenError("no component lives: there is nothing to keep")
        if fitted.samples is not None:
            raise JensenError("prune needs one set of parameters, and 'gibbs' leaves many samples")
        model = fitted.model
        t = model.select(fitted.t, states)
        weights = np.log(dirichlet.share(np.exp(t.weights)))
        eta = None if fitted.eta is None else model.select(fitted.eta, states)
        if eta is not None and hasattr(model.emission, "keep") and "components" not in model.held:
            eta = eta._replace(components=model.emission.keep(fitted.eta.components, states))
        smaller = replace(model, emission=_fewer(model.emission, states), n_states=len(states))
        return FittedStates(smaller, t._replace(weights=weights), fitted.counts[states], eta)


def _fewer(emission: Any, states: NDArray[np.intp]) -> Any:
    """An emission of these states only."""
    if hasattr(emission, "parts"):
        return replace(emission, parts=tuple(_fewer(part, states) for part in emission.parts))
    if getattr(emission, "held", None):
        held = select_held(emission.held, states, emission.covariance)
        emission = replace(emission, held=held)
    return replace(emission, n_states=len(states))
