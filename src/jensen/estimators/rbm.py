"""Restricted Boltzmann machines: visible bits over hidden ones, with a likelihood that is real."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (  # type: ignore[import-untyped]
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from jensen.estimators.arrays import (
    ArrayEstimator,
    read_weights,
    weights_of,
)
from jensen.estimators.learning import Problem, learn
from jensen.estimators.rbm_problem import (
    MOST_WORK,
    RbmSettings,
    rbm_problem,
    read_bits,
    work_of,
)
from jensen.estimators.reports import Summary
from jensen.exceptions import DataError, JensenError, TooLargeError, warn
from jensen.inference.restricted import MOST_LISTED, FittedRestricted, LogZ
from jensen.models.restricted_chains import BatchChoices, train
from jensen.support.arguments import as_generator, check_whole, is_real
from jensen.support.json_values import Checked
from jensen.support.machine import check_many, check_memory
from jensen.support.text import one_of, option, plural

Array = NDArray[np.float64]

METHODS = ("ml", "cd", "pcd")


class RBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ArrayEstimator):  # type: ignore[misc]
    """A restricted Boltzmann machine: bits, joined to hidden bits and not to each other.

    p(v, h) = exp(b·v + c·h + vᵀ W h) / Z with units 0 and 1. A missing bit (NaN) is a unit that is
    not clamped, in learning and in every question.

    Parameters
    ----------
    n_components
        How many hidden units there are.
    method
        "ml": maximum likelihood with the exact gradient, E[f | rows] - E[f], where the smaller side
        has at most 20 units; F is the log-likelihood and never falls. "pcd" (persistent chains) and
        "cd" (contrastive divergence, chains from the rows): by chains, which ascend no F and have
        no convergence. None: "ml" where it can be, else "pcd".
    ridge
        λ of a Gaussian prior of the weights, -λ/2 Σ W²; 0: none.
    learning_rate, batch_size, n_iter
        Of "cd" and "pcd": the first step, which falls to 0; rows in a batch, which are also the
        chains that run side by side; and passes over all rows.
    n_steps
        Of "cd" and "pcd": sweeps of the chains between updates, the k of CD-k.
    n_init, max_iter, tol
        Of "ml": starts, and when sweeps end, as in `MarkovNetwork`.
    random_state
        An int, `SeedSequence`, `Generator` or None.
    progress
        Whether "ml" shows a progress bar.

    Attributes
    ----------
    components_ : array
        (n_components, n_features): the weights, as scikit-learn has them.
    intercept_hidden_, intercept_visible_ : array
        The biases.
    log_z_ : LogZ
        Log Z, and whether it is exact or an estimate.
    method_ : str
        The method that was used.
    free_energy_, trace_, converged_, n_sweeps_, starts_
        Of "ml"; after chains F is nan, and nothing has converged.

    Notes
    -----
    `log_likelihood` is that of the rows, with Z: exact where the smaller side has at most 20 units,
    else with the estimate of annealed importance sampling, which `log_z_` labels. scikit-learn's
    `BernoulliRBM.score_samples` is a pseudo-likelihood of one random bit.

    Variational Bayes has no q(θ) here: the conjugate prior's normaliser has Z(θ) inside.

    References
    ----------
    Smolensky (1986), *Information processing in dynamical systems: foundations of harmony theory*;
    Hinton (2010), *A practical guide to training restricted Boltzmann machines*.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 20)
    >>> machine = jn.RBM(2, ridge=0.1, random_state=0).fit(rows)
    >>> machine.impute([[1, np.nan, np.nan, 0]]).round(1).tolist()
    [[1.0, 1.0, 0.0, 0.0]]
    >>> bool(machine.score(rows) > -0.9)
    True
    """

    components_: Array
    intercept_hidden_: Array
    intercept_visible_: Array
    method_: str
    free_energy_: float
    is_bound_: bool
    trace_: Array
    n_sweeps_: int
    converged_: bool
    starts_: Array
    noun = "hidden unit"
    start = None  # no choice: random weights

    def __init__(
        self,
        n_components: int = 16,
        *,
        method: str | None = None,
        ridge: float = 0.0,
        learning_rate: float = 1.0,
        batch_size: int = 100,
        n_iter: int = 50,
        n_steps: int = 1,
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-7,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.ridge = ridge
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.n_steps = n_steps
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.progress = progress

    # --- learning ---

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows (n, D) of 0 and 1: an array, a dataframe, a `Table` or a path.

        Parameters
        ----------
        X
            Rows; NaN is missing.
        y
            Nothing: scikit-learn's pipelines pass it.
        sample_weight
            How often each row counts; a `Table` may bring its own.
        checkpoint
            Of "ml": a file that holds the state of the run, which the same call resumes.
        """
        values = self._read(X, reset=True)
        weight = read_weights(weights_of(X, sample_weight), len(values))
        values, weight = values[weight > 0.0], weight[weight > 0.0]
        empty = np.isnan(values).all(0)
        if empty.any():
            raise DataError(f"the column {int(np.argmax(empty))} has no values: leave it out")
        self.method_ = self._choose(values)
        if self.method_ == "ml":
            problem = self._problem(values, weight)
            self.fitted_, report = learn(problem, checkpoint)
            report.set_on(self, problem.choices)
        else:
            if checkpoint is not None:
                raise JensenError(
                    f"checkpoint= belongs to {option('method', 'ml')}: chains of "
                    f"{self.method_!r} are not kept"
                )
            self._learn_by_chains(values, weight)
        self._show()
        return self

    def _choose(self, values: Array) -> str:
        """The method; choices that make no sense, or would be ignored, are refused."""
        for name, least in (("n_components", 1), ("batch_size", 1), ("n_iter", 1), ("n_steps", 1)):
            check_whole(name, getattr(self, name), at_least=least)
        for name, value in (("ridge", self.ridge), ("learning_rate", self.learning_rate)):
            if not is_real(value) or not 0.0 <= value < np.inf:
                raise JensenError(f"{name} must be a number, 0 or more, not {value!r:.40}")
        if self.method not in (None, *METHODS):
            raise JensenError(
                f"there is no method {self.method!r} for a restricted Boltzmann machine: choose "
                f"{one_of('method', METHODS)}"
            )
        n_hidden, n_columns = int(self.n_components), values.shape[1]
        check_many(n_hidden, 100.0 * n_columns, "hidden units (n_components)", "choose fewer")
        check_memory(
            40.0 * values.size, f"{len(values):,} rows of {n_columns:,} bits", "take fewer rows"
        )
        smaller = min(n_hidden, n_columns)
        can_list = smaller <= MOST_LISTED and work_of(values, n_hidden) <= MOST_WORK
        if self.method == "ml" and not can_list:
            raise TooLargeError(
                f"{option('method', 'ml')} lists all states of the smaller side, and of missing or "
                f"hidden bits of each row: {plural(smaller, 'unit')} here, {MOST_LISTED} are the "
                f"most, and rows with many gaps have too many together; use "
                f"{one_of('method', ['pcd', 'cd'])}"
            )
        return self.method or ("ml" if can_list else "pcd")

    def _problem(self, values: Array, weight: Array) -> Problem:
        """What is learned with the exact gradient."""
        names = ("n_init", "max_iter", "tol", "random_state", "progress")
        choices = RbmSettings(method="ml", **{name: getattr(self, name) for name in names})
        return rbm_problem(values, weight, int(self.n_components), float(self.ridge), choices)

    def _learn_by_chains(self, values: Array, weight: Array) -> None:
        choices = BatchChoices(
            int(self.n_components), self.method_ == "pcd", int(self.n_steps),
            float(self.learning_rate), int(self.batch_size), int(self.n_iter), float(self.ridge),
        )  # fmt: skip
        found = train(values, weight, choices, as_generator(self.random_state))
        if not all(np.isfinite(x).all() for x in found):
            raise JensenError(
                f"the weights ran away to infinity: {option('learning_rate', self.learning_rate)} "
                f"is too large, or add a ridge"
            )
        self.fitted_ = FittedRestricted(*found)
        self.free_energy_, self.is_bound_ = np.nan, False
        self.trace_, self.starts_ = np.empty(0), np.empty(0)
        self.n_sweeps_, self.converged_ = int(self.n_iter), False
        self.r_hat_ = self.effective_sample_size_ = np.nan

    def _show(self) -> None:
        fitted = self.fitted_
        self.components_ = fitted.weights.T
        self.intercept_hidden_, self.intercept_visible_ = fitted.hidden, fitted.visible

    def _read(self, X: Any, *, reset: bool = False) -> Array:
        """Rows of 0, 1 and NaN."""
        return read_bits(self, X, reset=reset)

    # --- questions ---

    @property
    def log_z_(self) -> LogZ:
        """Log Z, and what kind of number it is."""
        found: LogZ = self.require_fitted().log_z
        return found

    @property
    def n_parameters(self) -> int:
        """Biases and weights."""
        return int(self.require_fitted().n_parameters)

    @property
    def n_iter_(self) -> int:
        """Passes or sweeps, as scikit-learn calls them: one at least."""
        self.require_fitted()
        return max(1, self.n_sweeps_)

    @property
    def _n_features_out(self) -> int:
        return len(self.require_fitted().hidden)

    def transform(self, X: Any) -> Array:
        """P(h = 1 | row), (n, n_components); bits may be missing anywhere."""
        fitted = self.require_fitted()
        found: Array = fitted.transform(self._read(X))
        return found

    def log_likelihood(self, X: Any) -> Array:
        """Log p(row), what is missing summed out; `log_z_` says whether its Z is exact."""
        fitted = self.require_fitted()
        values = self._read(X)
        if fitted.log_z.kind != "exact":
            warn(f"{fitted.log_z!r}: log-likelihoods are estimates, no bounds")
        found: Array = fitted.log_likelihood(values)
        return found

    def score_samples(self, X: Any) -> Array:
        """Log p(row); scikit-learn's name of `log_likelihood`."""
        return self.log_likelihood(X)

    def score(self, X: Any, y: None = None, *, sample_weight: Any = None) -> float:
        """The mean log-likelihood of a row; the weights of a `Table` count."""
        log_like = self.log_likelihood(X)
        weight = read_weights(weights_of(X, sample_weight), len(log_like))
        return float(np.average(log_like[weight > 0.0], weights=weight[weight > 0.0]))

    def impute(
        self,
        X: Any,
        method: Literal["mean", "draw"] = "mean",
        *,
        n_sweeps: int = 500,
        random_state: Any = None,
    ) -> Array:
        """Rows (n, D) with missing bits filled in.

        Parameters
        ----------
        X
            Rows.
        method
            "mean": the probability that the bit is on given the rest of its row, exactly. "draw":
            bits, drawn jointly by sweeps over hidden and missing units.
        n_sweeps, random_state
            Of "draw".
        """
        fitted, values = self.require_fitted(), self._read(X)
        if method == "mean":
            found: Array = fitted.probable(values)
            return found
        if method != "draw":
            raise JensenError(f"method must be 'mean' or 'draw', not {method!r:.40}")
        check_whole("n_sweeps", n_sweeps, at_least=1)
        drawn: Array = fitted.redraw(values, as_generator(random_state), int(n_sweeps))
        return drawn

    def gibbs(self, v: Any, random_state: Any = None) -> Array:
        """One sweep: hidden units given these rows, then all visible ones; (n, D) of 0 and 1."""
        fitted, values = self.require_fitted(), self._read(v)
        rng = as_generator(random_state)
        p = fitted.transform(values)
        h = (rng.random(p.shape) < p).astype(np.float64)
        q = 1.0 / (1.0 + np.exp(-(h @ fitted.weights.T + fitted.visible)))
        return np.asarray((rng.random(q.shape) < q).astype(np.float64))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows (n, D): independent ones where a side has at most 20 units, else of chains."""
        check_whole("n_samples", n_samples, at_least=1)
        fitted = self.require_fitted()
        check_many(n_samples, 24.0 * sum(fitted.weights.shape), "rows", "draw fewer")
        drawn: Array = fitted.sample(int(n_samples), as_generator(random_state))
        return drawn

    # --- pages and files ---

    def _summarise(self) -> Summary:
        """How it was learned, and what it is worth."""
        fitted = self.require_fitted()
        n_visible, n_hidden = fitted.weights.shape
        sizes = f"{n_visible} visible, {plural(n_hidden, 'hidden unit')}"
        head = f"RBM({sizes}, {fitted.n_parameters} parameters)"
        told = f"{self.method_}: {plural(self.n_sweeps_, 'pass')}, an estimate: no F and no bound"
        if self.method_ == "ml":
            prior = " + log prior" if self.ridge > 0.0 else ""
            ended = "converged" if self.converged_ else "not converged"
            sweeps = plural(self.n_sweeps_, "sweep")
            told = f"ml: log-likelihood{prior} {self.free_energy_:.6f} after {sweeps}, {ended}"
        return Summary(f"{head}\n{told}\n{fitted.log_z!r}")

    def _plain(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data."""
        from jensen.estimators.rbm_saving import plain_rbm

        return plain_rbm(self)

    @staticmethod
    def _read_plain(value: Checked) -> RBM:
        """What `_plain` gave."""
        from jensen.estimators.rbm_saving import read_rbm

        return read_rbm(value)
