"""What all mixtures share: the `Problem` that is learned, and the questions that they answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.answers import of_states
from jensen.data.model_columns import UnknownLabels, refuse_unknown, warn_of_unknown
from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import (
    answer_rows,
    check_columns,
    read_matrix,
    read_weights,
    warn_where_spread_is_guessed,
    weights_of,
)
from jensen.estimators.learning import Problem, Start
from jensen.estimators.state_estimator import (
    StatesEstimator,
    best_states,
    check_held,
    check_rows,
    check_state_memory,
    check_states,
    concentration,
    read_prior_parts,
    refuse_impossible,
    repeat_rows,
)
from jensen.exceptions import JensenError
from jensen.families.dirichlet import dirichlet
from jensen.inference.mixtures import FittedMixture
from jensen.models.emissions.derived import completed, fewer_states, kept_states
from jensen.models.emissions.kinds import PriorParts, read_shares
from jensen.models.emissions.priors import check_names, select_parts
from jensen.models.mixture import Mixed, Mixture
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows
from jensen.support.arguments import as_generator, check_whole

Array = NDArray[np.float64]


class ComponentQuestions:
    """Questions that every mixture answers in the same words."""

    random_state: Any
    n_parameters: Any
    fit: Any
    require_fitted: Any
    predict_proba: Any
    log_likelihood: Any

    noun: str

    def predict(self, X: Any, *, out: str | PathLike[str] | None = None, **choices: Any) -> Any:
        """The most probable component of every row; choices as in `predict_proba`.

        With ``impossible="nan"`` an impossible row has the component -1. With `out` they are a
        column of a CSV, TSV or Parquet file, asked block by block, so that a scan of more rows than
        memory will do; its path is returned.
        """
        if out is not None:
            name = f"predicted_{self.noun}"
            return answer_rows(self, X, out, lambda rows: {name: self.predict(rows, **choices)})
        return best_states(self.predict_proba(X, **choices))

    def fit_predict(self, X: Any, y: None = None, **choices: Any) -> NDArray[np.intp]:
        """`fit`, then `predict` of the same rows."""
        return self.fit(X, y, **choices).predict(X)  # type: ignore[no-any-return]

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
        log_like = self.log_likelihood(X)
        weight = read_weights(weights_of(X, sample_weight), len(log_like))
        return log_like[weight > 0.0], weight[weight > 0.0]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[np.intp]]:
        """Draw rows, and the components that made them."""
        check_whole("n_samples", n_samples, at_least=1)
        fitted = self.require_fitted()
        rng = as_generator(self.random_state if random_state is None else random_state)
        found: tuple[Any, NDArray[np.intp]] = fitted.sample(int(n_samples), rng)
        return found


class MixtureQuestions(ComponentQuestions, StatesEstimator):
    """Questions to a fitted mixture; what a row misses is summed out.

    After "vbem" the answers are predictive, with parameters integrated out component by component;
    after "gibbs" they are mixed over samples.
    """

    fitted_: FittedMixture

    def require_fitted(self) -> FittedMixture:
        """What was learned, or an error if nothing was yet."""
        super().require_fitted()
        return self.fitted_

    def predict_proba(
        self,
        X: Any,
        *,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
        out: str | PathLike[str] | None = None,
    ) -> Any:
        """p(component | row), (n, K).

        Parameters
        ----------
        X
            Rows as in `fit`; values may be missing anywhere.
        impossible
            What to do with rows of probability 0: "raise", or "nan".
        unknown
            What to do with labels that were not there in `fit`: "raise", or take as "missing".
        out
            A file for them, as in `predict`: a column P(component=k) for each.
        """
        if out is not None:
            return answer_rows(
                self,
                X,
                out,
                lambda rows: of_states(
                    self.noun,
                    self.predict_proba(rows, impossible=impossible, unknown=unknown),
                    range(self.require_fitted().model.n_states),
                ),
            )
        fitted = self.require_fitted()
        values, strange = self._read(X)
        refuse_unknown(strange, unknown)
        nodes = fitted.predict_proba(values)
        refuse_impossible(np.isnan(nodes[:, 0]), impossible)
        return nodes

    def score_samples(self, X: Any) -> Array:
        """Log p(row), one for each row; scikit-learn's name of `log_likelihood`."""
        found: Array = self.log_likelihood(X)
        return found

    def log_likelihood(self, X: Any, *, out: str | PathLike[str] | None = None) -> Any:
        """Log p(row), one for each row; -inf if it is impossible, or has an unknown label.

        With `out` they are the column log_likelihood of a file, as in `predict`.
        """
        if out is not None:
            return answer_rows(self, X, out, lambda x: {"log_likelihood": self.log_likelihood(x)})
        fitted = self.require_fitted()
        values, strange = self._read(X)
        log_like = fitted.log_likelihood(values)
        if strange is not None:
            warn_of_unknown(strange)
            log_like[strange.rows] = -np.inf
        return log_like

    @property
    def n_parameters(self) -> int:
        """How many free parameters the mixture has; what is held is none."""
        return self.require_fitted().n_parameters

    @property
    def n_components_(self) -> int:
        """How many components live: those with more than half a row, and always the largest."""
        return self.n_live_

    def _read(self, X: Any) -> tuple[Array, UnknownLabels | None]:
        """Rows as the mixture knows them, and labels that it does not know."""
        return read_matrix(self, X, reset=False), None

    def _shown(self) -> dict[str, Any]:
        """Parameters by name; after Gibbs averages over samples."""
        fitted = self.require_fitted()
        emission = fitted.model.emission
        draws = [fitted.t] if fitted.samples is None else list(fitted.draws())
        weights = np.mean([np.exp(t.weights) for t in draws], axis=0)
        return {"weights": weights, **emission.show(*(t.components for t in draws))}

    def prune(self) -> Self:
        """A copy without the components that do not live, their weight given to the others.

        What `prior` says of each component is cut to those that live, and a `start` becomes the
        parameters of the copy. `free_energy_`, `trace_` and `starts_` remain those of the mixture
        that was fitted: fit the copy again for a bound of its own.
        """
        states, K = np.flatnonzero(self._lives()), self.require_fitted().model.n_states
        result = copy(self)
        result.fitted_ = self._of_states(states)
        setattr(result, self.size, len(states))
        if isinstance(self.prior, Mapping):
            result.prior = select_parts(self.prior, K, states, getattr(self, "covariance", None))
        if self.start is not None:
            result.start = result._shown()
        result._show()
        return result

    def _of_states(self, states: NDArray[np.intp]) -> FittedMixture:
        """The mixture of these components."""
        fitted = self.require_fitted()
        if fitted.samples is not None:
            raise JensenError("prune needs one set of parameters, and 'gibbs' leaves many samples")
        model = fitted.model
        t = model.select(fitted.t, states)
        weights = np.log(dirichlet.share(np.exp(t.weights)))
        eta = None if fitted.eta is None else model.select(fitted.eta, states)
        if eta is not None and "components" not in model.held:
            kept = kept_states(model.emission, fitted.eta.components, states)
            eta = eta._replace(components=kept)
        prior = None if fitted.prior is None else model.select(fitted.prior, states)
        smaller = replace(
            model, emission=fewer_states(model.emission, states), n_states=len(states)
        )
        t = t._replace(weights=weights)
        counts = fitted.counts[states]
        return replace(fitted, model=smaller, t=t, counts=counts, eta=eta, prior=prior)


class MixtureKind(NamedTuple):
    """What is special to the components of one kind of mixture."""

    names: Sequence[str]  # of the columns
    size: float  # parameters of one component
    make: Callable[[int, NumberRows, PriorParts], Any]  # how many, of which rows, under which prior
    prior: tuple[str, ...]  # the parts of a prior
    content: Any  # choices that shape the result, as plain data
    held: tuple[str, ...] = ()  # parts of components that can be held by themselves
    numbers: Sequence[str] = ()  # columns of which components have a variance
    has_spread: bool = False  # whether a component without a prior needs two rows
    are_near: bool = False  # whether all starts are near centres
    tell_apart: Callable[[PriorParts, int], bool] = lambda prior_parts, K: (
        False
    )  # whether a prior does


def mixture_problem(estimator: Any, rows: NumberRows, components: MixtureKind) -> Problem:
    """What is learned from these rows."""
    choices = estimator._choices_of_loop()
    choices.check()
    K = check_states(estimator.size, getattr(estimator, estimator.size))
    constant = check_columns(rows, components.names)
    check_state_memory(K, K * components.size, rows, estimator.noun)
    prior_parts = read_prior_parts(estimator.prior, choices.algorithm)
    known = ("weights", "components", *components.held)
    fixed = check_held(estimator.fixed, known, estimator.start)
    if prior_parts is None and components.has_spread and not {*known[1:]} & {*fixed}:
        check_rows(rows.n_rows, K, estimator.noun)
    rows = repeat_rows(rows, choices.algorithm)
    if not choices.algorithm.seeks_mode:
        rows = rows.showing()
    if prior_parts is not None:
        check_names(prior_parts, ("concentration", *components.prior))
    warn_where_spread_is_guessed(
        [name for name in constant if name in components.numbers], prior_parts, fixed
    )
    emission = components.make(K, rows, prior_parts)
    shares = concentration(prior_parts, "concentration", (K,), choices.algorithm)
    may_relabel = estimator.start is None and not components.tell_apart(prior_parts, K)
    model = Mixture(
        emission,
        shares,
        K,
        may_relabel=may_relabel,
        noun=estimator.noun,
        always_near=components.are_near,
    )
    start = None if estimator.start is None else estimator._read_start(model, rows)
    if fixed:
        assert start is not None
        model = model.holding(start, fixed)
    content = (components.content, K, list(fixed), rows)
    units = model.encode(rows, all_rows=choices.algorithm.seeks_mode)
    data = Data(units, StateRows(rows), content)
    return Problem(model, data, choices, None if start is None else Start(start))


def read_mixture_start(
    start: Mapping[str, Any], model: Mixture, known: Sequence[str], rows: NumberRows
) -> Mixed:
    """η whose mode has the parameters of a start; what it does not say is as the rows are."""
    K, emission = model.n_states, model.emission
    check_names(start, ("weights", *known), "start")
    named = {"weights": np.full(K, 1.0 / K), **completed(start, emission, rows)}
    return Mixed(read_shares(named, "weights", (K,)), emission.read(named))
