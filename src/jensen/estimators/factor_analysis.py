"""Factor analysis and probabilistic principal components, with values missing anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows, summarise
from jensen.estimators.arrays import (
    check_columns,
    names_of,
    read_rows,
    warn_where_spread_is_guessed,
)
from jensen.estimators.factor_estimator import (
    FactorEstimator,
    check_factors,
    read_factor_prior,
    read_features,
    read_part,
)
from jensen.estimators.learning import LoopChoices, Problem, Start
from jensen.estimators.state_estimator import check_one_of
from jensen.exceptions import DataError, EstimateWarning, JensenError, warn
from jensen.inference.factors import FactorPoint
from jensen.models.emissions.priors import check_names
from jensen.models.factor_analysis import FactorModel, Factors, encode
from jensen.models.protocol import Data
from jensen.support.machine import check_memory
from jensen.support.text import USUAL_PRIOR, plural, some

Array = NDArray[np.float64]

NOISES = ("diagonal", "isotropic")
NO_NOISE = 1e-3
"""A smaller share of the variance of a column is next to no noise."""


class FactorChoices(LoopChoices):
    """What is hidden is Gaussian: its posterior is exact, and has no samples."""

    methods = ("em", "vbem")


class FactorAnalysis(FactorEstimator):
    """Columns that depend on a few hidden numbers, x = mean + loadings · h + noise, h ~ N(0, I).

    Any value may be missing.

    Parameters
    ----------
    n_factors
        How many hidden numbers K. Under "vbem" surplus ones die: see `n_factors_`.
    noise
        "diagonal" (factor analysis: a variance for each column) or "isotropic" (one for all:
        probabilistic principal components).
    method
        "em" (maximum likelihood, or the mode under a prior) or "vbem" (a posterior of the
        parameters, and a bound of the log evidence). None: "em" without a prior, else "vbem".
        Without a prior, complete rows are solved at once: "isotropic" in closed form, "diagonal" by
        Newton's method on the logs of the noise.
    prior
        None: flat; the default of all parts for "vbem", which needs one. Else a dict of parts:

        - "mean_strength" β: means are N(m, 1 / β) around those of the columns; by default 0.01.
        - "noise_shape", "noise_rate" of the gamma distribution of precisions; by default 1 and
          0.001.
        - "strength_shape", "strength_rate" of the gamma distribution of αₖ, where the loadings of
          factor k are N(0, 1 / αₖ), whatever the noise is; by default 1 and 0.001. Factors that
          explain nothing get large αₖ (automatic relevance determination).
        - "scale": the units in which all this is meant, a number for each column or one for all.
          By default the standard deviations of the columns, so that units do not matter
          ("isotropic": the root of their mean variance). 1 takes the columns as they are.

        By default "scale", and always m, come from the data: bounds compare for the same rows only.
        ``prior={}`` takes the default of every part.
    start
        A fitted factor analysis, or a dict of "loadings" (D, K) and, if wanted, "noise" (D,)
        variances and "mean" (D,). Without it the first start is the most likely one of complete
        rows, or principal axes; later ones are random.
    rotate
        Whether each sweep also takes the coordinates of the factors (rotated, stretched, moved)
        in which F is highest: without them sweeps are many. False: plain coordinate ascent.
    n_init, max_iter, tol, accelerate, random_state, progress
        As in `GaussianMixture`.

    Attributes
    ----------
    loadings_, mean_, noise_variance_ : arrays
        (D, K), (D,), (D,) ("isotropic": (1,)). After "vbem" posterior means; of the noise one over
        the mean precision. Factors by what they explain, the longest loading of each positive; of
        "em" loadingsᵀ noise⁻¹ loadings is diagonal.
    n_factors_ : int
        How many factors there are: after "vbem" those without which the bound is lower.
    free_energy_, is_bound_, trace_, starts_, n_sweeps_, converged_
        As in `GaussianMixture`.

    Notes
    -----
    Without a prior the likelihood may be highest where a column has no noise at all (a Heywood
    case). Its noise is then held at a millionth of its variance, and a warning names it.

    After "vbem" questions (`transform`, `score_samples`, `impute`, `sample`) are answered at the
    parameters that are shown; they are not mixed over the posterior.

    References
    ----------
    Lawley and Maxwell (1971), *Factor Analysis as a Statistical Method*, chapter 4; Tipping and
    Bishop (1999), *Probabilistic principal component analysis*, equation 7; Ghahramani and Beal
    (2000), *Variational inference for Bayesian mixtures of factor analysers*.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> h, noise = rng.normal(size=(200, 1)), rng.normal(size=(200, 3))
    >>> x = h * [1.0, 2.0, -1.0] + 0.5 * noise
    >>> jn.FactorAnalysis(1).fit(x).loadings_.round(1).ravel().tolist()
    [0.9, 2.0, -0.9]
    >>> jn.FactorAnalysis(3, prior={}).fit(x).n_factors_
    1
    """

    loadings_: Array
    mean_: Array
    noise_variance_: Array
    choices_kind = FactorChoices

    def __init__(
        self,
        n_factors: int = 1,
        *,
        noise: str = "diagonal",
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
        self.n_factors = n_factors
        self.noise = noise
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
        rows = read_rows(self, X, sample_weight)
        problem = self._problem(rows)
        self._learn(problem, checkpoint)
        model = problem.model
        assert isinstance(model, FactorModel)
        if model.words is None and not model.is_isotropic:
            warn_of_no_noise(self, np.square(model.scale))
        return self

    def _problem(self, rows: NumberRows) -> Problem:
        """What is learned from these rows."""
        choices, D = self._choices_of_loop(), rows.n_columns
        choices.check()
        check_one_of("noise", self.noise, NOISES)
        names, is_isotropic = names_of(self, D), self.noise == "isotropic"
        most, what = (D - 1, "columns less one") if is_isotropic else (D, "columns")
        K = check_factors(self.n_factors, max(most, 1), what)
        constant = check_columns(rows, names)
        words, more = read_factor_prior(self.prior, choices.algorithm, ("scale",))
        if words is None:
            check_factor_rows(rows, K, constant)
        warn_where_spread_is_guessed(constant, None if words is None else more, ())
        width, n_units = 1.0 + K, min(rows.n_rows, 256)
        check_memory(
            8.0 * (6.0 * D * width**2 + 3.0 * n_units * width**2 + 2.0 * rows.n_rows * D),
            f"learning {plural(K, 'factor')} of {plural(D, 'column')}",
            "choose fewer factors",
        )
        found = summarise(rows)
        scale = read_factor_scale(more.get("scale"), found.variance, is_isotropic)
        model = FactorModel(found.mean, scale, K, is_isotropic, words, bool(self.rotate))
        content = (self.noise, K, bool(self.rotate), scale, rows)
        data = Data(encode(rows, found.mean, scale), rows, content)
        start = None if self.start is None else Start(self._read_start(model, rows.total_weight))
        return Problem(model, data, choices, start)

    def get_covariance(self) -> Array:
        """The covariance (D, D) of rows: loadings · loadingsᵀ + noise."""
        found: Array = self.require_fitted().point.covariance
        return found

    def inverse_transform(self, X: Any) -> Array:
        """Rows (n, D) that are expected of these factors (n, K)."""
        point = self.require_fitted().point
        values = read_features(X, point.loadings.shape[1])
        return np.asarray(point.mean + values @ point.loadings.T)

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, FactorAnalysis):
            point = start.require_fitted().point
            return {"loadings": point.loadings, "noise": point.noise, "mean": point.mean}
        if not isinstance(start, Mapping) or "loadings" not in start:
            raise JensenError(
                f"start must be a fitted FactorAnalysis or a dict of loadings, noise and mean, not "
                f"{start!r:.80}"
            )
        return start

    def _read_start(self, model: FactorModel, weight: float) -> Factors:
        """η whose mode has the parameters of `start`."""
        start, D, K = self._named_start(), len(model.shift), model.n_factors
        check_names(start, ("loadings", "noise", "mean"), "start")
        loadings = read_part(start["loadings"], "loadings", (D, K)) / model.scale[:, None]
        mean = read_part(start.get("mean", model.shift), "mean", (D,))
        least = np.maximum(1.0 - np.square(loadings).sum(1), 0.1) * np.square(model.scale)
        noise = read_part(start.get("noise", least), "noise", (D,)) / np.square(model.scale)
        if not (noise > 0.0).all():
            raise JensenError("start= gives a noise of 0 or less: variances must be above 0")
        if model.is_isotropic:
            noise = noise.mean(keepdims=True)
        both = np.column_stack([(mean - model.shift) / model.scale, loadings])
        return Factors(*model.columns.around(both, noise, weight))

    def _show(self) -> None:
        point: FactorPoint = self.fitted_.point
        self.loadings_, self.mean_ = point.loadings, point.mean
        self.noise_variance_ = point.noise[:1] if self.fitted_.is_isotropic else point.noise


def check_factor_rows(rows: NumberRows, K: int, constant: list[str]) -> None:
    """Refuse rows whose likelihood has no bound, whatever the parameters."""
    if rows.n_rows < K + 2:
        raise DataError(
            f"{plural(rows.n_rows, 'row')} (n_samples={rows.n_rows}) cannot tell "
            f"{plural(K, 'factor')} from noise: take fewer, or give a prior ({USUAL_PRIOR})"
        )
    if constant:
        raise DataError(
            f"{some(constant)} {'is' if len(constant) == 1 else 'are'} constant, so the likelihood "
            f"has no bound: leave {'it' if len(constant) == 1 else 'them'} out, or give a prior "
            f"({USUAL_PRIOR})"
        )


def read_factor_scale(given: Any, variance: Array, is_isotropic: bool) -> Array:
    """The units of the columns."""
    if given is None:
        found = np.full_like(variance, variance.mean()) if is_isotropic else variance
        return np.sqrt(found)
    try:
        scale = np.array(np.broadcast_to(np.asarray(given, np.float64), variance.shape))
    except (TypeError, ValueError):
        scale = np.zeros(1)
    if not (np.isfinite(scale) & (scale > 0.0)).all():
        raise JensenError(
            f"scale of the prior must be a number above 0, or one for each of the "
            f"{plural(len(variance), 'column')}, not {given!r:.60}"
        )
    if is_isotropic and (scale != scale[0]).any():
        raise JensenError("isotropic noise is the same for all columns, and so must their scale be")
    return scale


def warn_of_no_noise(model: Any, variance: Array) -> None:
    """Tell of columns that the factors explain to the last digit."""
    share = np.atleast_2d(model.fitted_.point.noise / variance).min(0)
    names = names_of(model, len(variance))
    bare = [name for name, x in zip(names, share, strict=True) if x < NO_NOISE]
    if bare:
        warn(
            f"next to no noise is left of {some(bare)} (a share of {share.min():.1g} of the "
            f"variance): the likelihood is highest at its border (a Heywood case), so do not trust "
            f"these loadings; take fewer factors, or give a prior ({USUAL_PRIOR})",
            EstimateWarning,
        )
