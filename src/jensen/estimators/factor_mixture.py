"""Mixtures of factor analysers: clusters, each with a few hidden numbers of its own."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.answers import of_states
from jensen.data.number_rows import NumberRows, summarise
from jensen.estimators.arrays import (
    answer_rows,
    check_columns,
    names_of,
    read_matrix,
    read_rows,
    warn_where_spread_is_guessed,
)
from jensen.estimators.factor_analysis import (
    FactorChoices,
    check_factor_rows,
    read_factor_scale,
    warn_of_no_noise,
)
from jensen.estimators.factor_estimator import (
    MOST_ROWS,
    FactorEstimator,
    check_factors,
    read_factor_prior,
    read_features,
    read_part,
)
from jensen.estimators.learning import Problem, Start
from jensen.estimators.mixture_estimator import ComponentQuestions
from jensen.estimators.reports import Summary, algorithm_of, learning
from jensen.estimators.state_estimator import check_states, concentration
from jensen.exceptions import JensenError
from jensen.inference.factor_mixtures import FittedFactorMixture
from jensen.models.emissions.priors import check_names
from jensen.models.factor_mixture import Analyzers, FactorMixtureModel, encode
from jensen.models.factor_parameters import FactorPrior
from jensen.models.protocol import Data
from jensen.models.state_labels import live_states
from jensen.support.machine import check_memory
from jensen.support.text import grid, plural

Array = NDArray[np.float64]

USUAL_IN_MIXTURES = FactorPrior(mean_strength=1.0)


class MixtureOfFactorAnalyzers(ComponentQuestions, FactorEstimator):  # type: ignore[misc]
    """Clusters of rows, each of few dimensions: x = mean_s + loadings_s · h + noise, h ~ N(0, I).

    A hidden component s of every row says which mean and loadings made it. Any value may be
    missing.

    Parameters
    ----------
    n_components
        How many components S. Under "vbem" surplus ones die: see `n_components_`.
    n_factors
        How many hidden numbers K each component has. Under "vbem" surplus ones die, component by
        component: see `dimensions_`.
    shared_noise
        Whether all components have the same variances of noise, one for each column; else each has
        its own.
    method
        "em" (maximum likelihood, or the mode under a prior) or "vbem" (a posterior of the
        parameters, and a bound of the log evidence). None: "em" without a prior, else "vbem".
    prior
        None: flat; the default of all parts for "vbem", which needs one. Else a dict of parts:

        - "concentration" of the weights of components; by default 1 / S ("em": 1).
        - "mean_strength" β: means of components are N(m, 1 / β) around those of the columns; by
          default 1, in units of "scale".
        - "noise_shape", "noise_rate", "strength_shape", "strength_rate" and "scale" as in
          `FactorAnalysis`; each column of loadings of each component has a strength of its own.

        ``prior={}`` takes the default of every part.
    start
        A fitted mixture of factor analysers, or a dict of "means" (S, D), "loadings" (S, D, K)
        and, if wanted, "weights" (S,) and "noise" (D,) or, unless shared, (S, D) variances.
        Without it every start takes the principal axes of rows around centres found by k-means.
    rotate
        Whether each sweep also takes the best coordinates of the factors of each component.
    n_init, max_iter, tol, accelerate, random_state, progress
        As in `GaussianMixture`.

    Attributes
    ----------
    weights_, means_, loadings_, noise_variance_ : arrays
        (S,), (S, D), (S, D, K), (D,) or, unless shared, (S, D). Components by falling counts. After
        "vbem" posterior means, factors of each component by their length; of the noise one over
        the mean precision.
    n_components_ : int
        How many components live: those with more than half a row.
    dimensions_ : array
        How many factors each of them has: after "vbem" those without which the bound is lower.
    free_energy_, is_bound_, trace_, starts_, n_sweeps_, converged_
        As in `GaussianMixture`.

    Notes
    -----
    Coordinate ascent alone ends with components that cover two clusters, or halves of one. After
    "vbem" has converged, components are taken away, merged, split and born anew, and columns of
    loadings taken away, one after the other; what ends with a higher bound is kept. A start that
    the caller gave keeps its components.

    `transform` gives, for each component, its probability and that times its expected factors, so
    that `inverse_transform` of it is what is expected of the rows.

    References
    ----------
    Ghahramani and Beal (2000), *Variational inference for Bayesian mixtures of factor analysers*;
    Ueda, Nakano, Ghahramani and Hinton (2000), *SMEM algorithm for mixture models*.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> line = rng.normal(size=(40, 1)) * [1.0, 2.0, -1.0] + [8.0, 0.0, 0.0]
    >>> point = np.zeros((40, 3))
    >>> x = np.concatenate([line, point]) + 0.1 * rng.normal(size=(80, 3))
    >>> found = jn.MixtureOfFactorAnalyzers(3, 2, prior={}, random_state=0).fit(x)
    >>> found.n_components_, sorted(found.dimensions_.tolist())
    (2, [0, 1])
    """

    weights_: Array
    means_: Array
    loadings_: Array
    noise_variance_: Array
    fitted_: FittedFactorMixture
    choices_kind = FactorChoices
    noun = "analyzer"

    def __init__(
        self,
        n_components: int = 1,
        n_factors: int = 1,
        *,
        shared_noise: bool = True,
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        rotate: bool = True,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        accelerate: bool = False,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_factors = n_factors
        self.shared_noise = shared_noise
        self.method = method
        self.prior = prior
        self.start = start
        self.rotate = rotate
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows (n, D): an array, a dataframe, a `Table` or a path; NaN is missing.

        Parameters
        ----------
        X
            Rows.
        y
            Nothing: scikit-learn's pipelines pass it.
        sample_weight
            How often each row counts; a `Table` may bring its own.
        checkpoint
            A file that holds the state of the run: if it is killed, the same call goes on from
            there to the identical result.
        """
        problem = self._problem(read_rows(self, X, sample_weight))
        self._learn(problem, checkpoint)
        assert isinstance(problem.model, FactorMixtureModel)
        if problem.model.words is None:
            warn_of_no_noise(self, np.square(problem.model.scale))
        return self

    def _problem(self, rows: NumberRows) -> Problem:
        """What is learned from these rows."""
        choices, D = self._choices_of_loop(), rows.n_columns
        choices.check()
        n = check_states("n_components", self.n_components)
        K = check_factors(self.n_factors, D, "columns")
        shared, rotate = bool(self.shared_noise), bool(self.rotate)
        constant = check_columns(rows, names_of(self, D))
        more = ("concentration", "scale")
        words, own = read_factor_prior(self.prior, choices.algorithm, more, USUAL_IN_MIXTURES)
        if words is None:
            check_factor_rows(rows, K, constant)
        warn_where_spread_is_guessed(constant, None if words is None else own, ())
        per_row = min(rows.n_rows, 1000) * n * (1.0 + K) ** 2
        check_memory(
            8.0 * (12.0 * n * D * (1.0 + K) ** 2 + 4.0 * per_row + 2.0 * rows.n_rows * D),
            f"learning {plural(n, 'component')} with {plural(K, 'factor')} of "
            f"{plural(D, 'column')}",
            "choose fewer components or factors",
        )
        found = summarise(rows)
        scale = read_factor_scale(own.get("scale"), found.variance, is_isotropic=False)
        shares = concentration(
            None if words is None else own, "concentration", (n,), choices.algorithm
        )
        model = FactorMixtureModel(
            found.mean, scale, n, K, shared, words, shares, self.start is None, rotate
        )
        data = Data(encode(rows, found.mean, scale), rows, (n, K, shared, rotate, scale, rows))
        start = None if self.start is None else Start(self._read_start(model, rows.total_weight))
        return Problem(model, data, choices, start)

    def predict_proba(self, X: Any, *, out: str | PathLike[str] | None = None) -> Any:
        """p(component | row), (n, S); values may be missing anywhere; `out` as in `predict`."""
        if out is not None:
            own = range(self.require_fitted().n_components)
            return answer_rows(
                self, X, out, lambda rows: of_states(self.noun, self.predict_proba(rows), own)
            )
        fitted = self.require_fitted()
        found: Array = fitted.predict_proba(read_matrix(self, X, reset=False))
        return found

    def get_covariance(self) -> Array:
        """The covariances (S, D, D) of rows of each component: loadings · loadingsᵀ + noise."""
        found: Array = self.require_fitted().point.covariances
        return found

    def inverse_transform(self, X: Any) -> Array:
        """Rows (n, D) that are expected of what `transform` gives."""
        fitted = self.require_fitted()
        found: Array = fitted.expected_rows(read_features(X, self._n_features_out))
        return found

    @property
    def _n_features_out(self) -> int:
        fitted = self.require_fitted()
        return int(fitted.n_components * (1 + fitted.n_factors))

    @property
    def n_components_(self) -> int:
        """How many components live: those with more than half a row, and always the largest."""
        return int(live_states(self.require_fitted().counts).sum())

    @property
    def dimensions_(self) -> NDArray[np.intp]:
        """How many factors each living component has; after "vbem" without those that died."""
        fitted = self.require_fitted()
        return np.asarray(fitted.dimensions[live_states(fitted.counts)])

    @property
    def n_factors_(self) -> int:
        """The most factors that a living component has."""
        return int(self.dimensions_.max())

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, MixtureOfFactorAnalyzers):
            point = start.require_fitted().point
            names = {"weights": point.weights, "means": point.mean, "loadings": point.loadings}
            return {**names, "noise": point.noise[0] if start.shared_noise else point.noise}
        if not isinstance(start, Mapping) or not {"loadings", "means"} <= start.keys():
            raise JensenError(
                f"start must be a fitted MixtureOfFactorAnalyzers or a dict of means, loadings, "
                f"weights and noise, not {start!r:.80}"
            )
        return start

    def _read_start(self, model: FactorMixtureModel, weight: float) -> Analyzers:
        """η whose mode has the parameters of `start`."""
        start, n, D = self._named_start(), model.n_components, len(model.shift)
        check_names(start, ("weights", "means", "loadings", "noise"), "start")
        scale = model.scale
        loadings = read_part(start["loadings"], "loadings", (n, D, model.n_factors))
        means = read_part(start["means"], "means", (n, D))
        weights = read_part(start.get("weights", np.full(n, 1.0 / n)), "weights", (n,))
        shape = (D,) if model.shared_noise else (n, D)
        usual = np.broadcast_to(0.1 * np.square(scale), shape)
        noise = read_part(start.get("noise", usual), "noise", shape) / np.square(scale)
        if not (noise > 0.0).all():
            raise JensenError("start= gives a noise of 0 or less: variances must be above 0")
        if not (weights > 0.0).all():
            raise JensenError("start= gives weights of 0 or less: leave such components out")
        both = np.concatenate(
            [((means - model.shift) / scale)[..., None], loadings / scale[:, None]], axis=2
        )
        return model.around(weight * weights / weights.sum(), both, noise)

    def _show(self) -> None:
        point = self.fitted_.point
        self.weights_, self.means_, self.loadings_ = point.weights, point.mean, point.loadings
        self.noise_variance_ = point.noise[0] if self.fitted_.shared_noise else point.noise

    def _summarise(self) -> Summary:
        """A column for each living component."""
        fitted = self.require_fitted()
        point, D = fitted.point, self.n_features_in_
        live = np.flatnonzero(live_states(fitted.counts))
        noise = "shared noise" if fitted.shared_noise else "noise of its own in each"
        sizes = [plural(fitted.n_components, "component"), plural(fitted.n_factors, "factor")]
        sizes += [plural(D, "column"), noise, plural(self.n_parameters, "free parameter")]
        head = [f"{type(self).__name__}({', '.join(sizes)})"]
        head += [f"{algorithm_of(self).name}: {text}" for text in learning(self)]
        head.append(
            f"{len(live)} of {plural(fitted.n_components, 'component')} "
            f"{'lives' if len(live) == 1 else 'live'}"
        )
        lines = [["component", *map(str, live)]]
        lines.append(["weight", *(f"{point.weights[s]:.4g}" for s in live)])
        lines.append(["factors", *(str(fitted.dimensions[s]) for s in live)])
        for d, name in enumerate(names_of(self, D)[:MOST_ROWS]):
            lines.append([f"mean {name}", *(f"{point.mean[s, d]:.4g}" for s in live)])
        more = [f"... and {plural(D - MOST_ROWS, 'column')} more"] if D > MOST_ROWS else []
        return Summary("\n".join([*head, "", grid(lines, left=1, rule=True), *more]))
