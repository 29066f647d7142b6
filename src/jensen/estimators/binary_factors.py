"""Binary latent factors: rows are sums of parts that are there or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows, summarise
from jensen.estimators.arrays import check_columns, names_of, read_matrix, read_rows
from jensen.estimators.factor_estimator import (
    FactorEstimator,
    check_factors,
    read_factor_prior,
    read_features,
    read_part,
)
from jensen.estimators.learning import LoopChoices, Problem, Start
from jensen.exceptions import DataError, JensenError, TooLargeError
from jensen.inference.binary_factors import MOST_EXACT
from jensen.models.binary_factors import BinaryFactorModel, Bits, encode
from jensen.models.emissions.priors import check_names, label_prior
from jensen.models.protocol import Data
from jensen.support.arguments import is_real
from jensen.support.machine import check_memory
from jensen.support.text import USUAL_PRIOR, one_of, option, plural

Array = NDArray[np.float64]


class BinaryChoices(LoopChoices):
    """All states of the bits, or mean field."""

    methods = ("em", "vbem", "variational-em", "mean-field")


class BinaryFactors(FactorEstimator):
    """Rows that are sums of parts, each there or not: y = Σₖ sₖ μₖ + noise, sₖ 0 or 1.

    Any value may be missing.

    Parameters
    ----------
    n_factors
        How many factors K. Under "vbem" and "mean-field" surplus ones die: see `n_factors_`.
    method
        "em" (maximum likelihood, or the mode under a prior) and "vbem" (a posterior of the
        parameters, and a bound of the log evidence) go through all 2ᴷ states of every row, and are
        refused beyond 16 factors. "variational-em" and "mean-field" are the same with a q(s) in
        which the bits of a row are independent: a lower bound, for any K. None: "em" without a
        prior, else "vbem".
    prior
        None: flat; the default of all parts for methods that need one. Else a dict of parts:

        - "concentration" of how often factors are on: πₖ ~ Beta(c, c). By default 1, or 2 for
          methods that look for a mode.
        - "noise_shape", "noise_rate", "strength_shape", "strength_rate" as in `FactorAnalysis`:
          μₖ is N(0, 1 / αₖ) in every column.
        - "scale": the unit of all columns in which this is meant. By default the root of their mean
          variance.

        ``prior={}`` takes the default of every part.
    start
        A fitted `BinaryFactors`, or a dict of "loadings" (D, K) and, if wanted, "on" (K,)
        probabilities and "noise", a variance. Without it every start takes factors from rows, one
        after the other, each less what those before it explain.
    n_init, max_iter, tol, accelerate, random_state, progress
        As in `GaussianMixture`. Starts differ much: take several.

    Attributes
    ----------
    loadings_, on_, noise_variance_ : arrays and a number
        (D, K): the μₖ as columns; (K,): how often factors are on; the variance of the noise.
        Factors by how often they are on. After "vbem" and "mean-field" posterior means.
    n_factors_ : int
        How many factors are on in more than half a row; of a posterior also longer than unsure.
    free_energy_, is_bound_, trace_, starts_, n_sweeps_, converged_
        As in `GaussianMixture`. Of "variational-em" F is a lower bound of the log-likelihood.

    Notes
    -----
    `transform` gives the probability that each factor is on. `bound_gap` says how much mean field
    loses on each row. A constant part that all rows have is a factor that is always on.

    References
    ----------
    Ghahramani (1995), *Factorial learning and the EM algorithm*; Lu, Hauskrecht and Day (2004),
    *Modeling cellular processes with variational Bayesian cooperative vector quantizer*.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> parts = np.array([[3.0, 3.0, 0.0, 0.0], [0.0, 0.0, 2.0, 2.0]])
    >>> bits = rng.integers(0, 2, (100, 2))
    >>> rows = bits @ parts + 0.1 * rng.normal(size=(100, 4))
    >>> found = jn.BinaryFactors(2, n_init=3, random_state=0).fit(rows)
    >>> sorted(np.abs(found.loadings_.T).round().tolist())
    [[0.0, 0.0, 2.0, 2.0], [3.0, 3.0, 0.0, 0.0]]
    """

    loadings_: Array
    on_: Array
    noise_variance_: float
    choices_kind = BinaryChoices
    noun = "binary factor"

    def __init__(
        self,
        n_factors: int = 1,
        *,
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        accelerate: bool = False,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_factors = n_factors
        self.method = method
        self.prior = prior
        self.start = start
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
        self._learn(self._problem(read_rows(self, X, sample_weight)), checkpoint)
        return self

    def _problem(self, rows: NumberRows) -> Problem:
        """What is learned from these rows."""
        choices, D = self._choices_of_loop(), rows.n_columns
        choices.check()
        algorithm = choices.algorithm
        K = check_factors(self.n_factors)
        if algorithm.name in ("em", "vbem") and K > MOST_EXACT:
            raise TooLargeError(
                f"{option('method', algorithm.name)} goes through all states of the factors of a "
                f"row, and {K:,} factors have 2 to that power: take {MOST_EXACT} at most, or "
                f"{one_of('method', ['variational-em', 'mean-field'])}"
            )
        known = ("concentration", "scale")
        words, more = read_factor_prior(self.prior, algorithm, known)
        if "mean_strength" in (self.prior or {}):
            raise JensenError("prior= has no part 'mean_strength': binary factors have no mean")
        check_columns(rows, names_of(self, D))
        if words is None and rows.n_rows < K + 2:
            raise DataError(
                f"{plural(rows.n_rows, 'row')} (n_samples={rows.n_rows}) cannot tell "
                f"{plural(K, 'factor')} from noise: take fewer, or give a prior ({USUAL_PRIOR})"
            )
        check_memory(
            8.0
            * (
                6.0 * D * float(K) ** 2
                + rows.n_rows * (D + K)
                + min(rows.n_rows, 4096) * float(K) ** 2
            ),
            f"learning {K:,} factors of {plural(D, 'column')}",
            "choose fewer factors",
        )
        scale = _read_scale(more.get("scale"), rows)
        usual = 2.0 if algorithm.seeks_mode else 1.0
        on = None
        if words is not None:
            given = {"concentration": more.get("concentration", usual)}
            on = label_prior(given, "concentration", (K, 2))
        model = BinaryFactorModel(D, K, scale, words, on)
        data = Data(encode(rows, scale), rows, (K, scale, rows))
        start = None if self.start is None else Start(self._read_start(model, rows.total_weight))
        return Problem(model, data, choices, start)

    def lower_bound(self, X: Any) -> Array:
        """What mean field finds of each row: a lower bound of log p(row)."""
        found: Array = self.require_fitted().lower_bound(read_matrix(self, X, reset=False))
        return found

    def bound_gap(self, X: Any) -> Array:
        """How far the bound of mean field lies below log p(row), for each row."""
        self.require_fitted().require_exact()
        found: Array = self.log_likelihood(X) - self.lower_bound(X)
        return found

    def inverse_transform(self, X: Any) -> Array:
        """Rows (n, D) that are expected of these bits, or probabilities of them (n, K)."""
        point = self.require_fitted().point
        values = read_features(X, point.loadings.shape[1])
        return np.asarray(values @ point.loadings.T)

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, BinaryFactors):
            point = start.require_fitted().point
            return {"loadings": point.loadings, "on": point.on, "noise": float(point.noise)}
        if not isinstance(start, Mapping) or "loadings" not in start:
            raise JensenError(
                f"start must be a fitted BinaryFactors or a dict of loadings, on and noise, not "
                f"{start!r:.80}"
            )
        return start

    def _read_start(self, model: BinaryFactorModel, weight: float) -> Bits:
        """η whose mode has the parameters of `start`."""
        start, K = self._named_start(), model.n_factors
        check_names(start, ("loadings", "on", "noise"), "start")
        loadings = read_part(start["loadings"], "loadings", (model.n_columns, K)) / model.scale
        share = read_part(start.get("on", np.full(K, 0.5)), "on", (K,))
        noise = read_part(start.get("noise", model.scale**2), "noise", ()) / model.scale**2
        if not noise > 0.0:
            raise JensenError("start= gives a noise of 0 or less: variances must be above 0")
        if not ((share >= 0.0) & (share <= 1.0)).all():
            raise JensenError("start= gives 'on' that are no probabilities: they lie from 0 to 1")
        return model.around(loadings, share, float(noise), weight)

    def _show(self) -> None:
        point = self.fitted_.point
        self.loadings_, self.on_ = point.loadings, point.on
        self.noise_variance_ = float(point.noise)


def _read_scale(given: Any, rows: NumberRows) -> float:
    """The unit of the columns."""
    if given is None:
        return float(np.sqrt(summarise(rows).variance.mean()))
    if not is_real(given) or not 0.0 < given < np.inf:
        raise JensenError(f"scale of the prior must be a number above 0, not {given!r:.60}")
    return float(given)
