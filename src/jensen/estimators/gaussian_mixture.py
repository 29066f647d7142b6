"""Mixtures of Gaussians, learned with values missing anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import names_of, read_rows
from jensen.estimators.learning import Problem
from jensen.estimators.mixture_estimator import (
    MixtureKind,
    MixtureQuestions,
    mixture_problem,
    read_mixture_start,
)
from jensen.estimators.state_estimator import check_one_of
from jensen.exceptions import JensenError
from jensen.models.emissions.kinds import Chosen
from jensen.models.emissions.priors import COVARIANCES
from jensen.models.emissions.registry import USUAL, make_emission, named_parameters, summary_for
from jensen.models.mixture import Mixed, Mixture
from jensen.support.arguments import answers_to

Array = NDArray[np.float64]

NUMBERS = USUAL["continuous"]
"""What components make."""
PRIOR_PARTS = (*NUMBERS.prior, "mean_variance")


class GaussianMixture(MixtureQuestions):
    """A mixture of Gaussians; any value may be missing.

    Parameters
    ----------
    n_components
        How many components. Under "vbem" surplus ones empty: see `n_components_` and `prune`.
        The best start is also tried without each of its smallest components, and goes on without
        one if the bound is then higher.
    covariance
        "full", "diagonal", "spherical", or "tied" (one full covariance for all components).
    method
        "em" (maximum likelihood, or the mode under a prior), "vbem" (posteriors, a bound of the
        log evidence), "viterbi" and "me" (the same with rows given to one component), "gibbs" and
        "stochastic-em" (with drawn ones). None: "em" without a prior, else "vbem".
    prior
        None: flat; the default of all parts for "vbem", "me" and "gibbs", which need one. Else a
        dict of parts, in the notation of Bishop (2006), equation 10.40:

        - "concentration" α₀ of the weights, a number or one per component. By default 1 / K,
          which lets surplus components die; 1 (flat) for methods that look for a mode.
        - "mean" m₀: by default the mean of every column.
        - "mean_strength" β₀: by default 0.01, the weight of a hundredth of a row.
        - "mean_variance", in its place: means are independent of precisions, N(m₀, this variance),
          m₀ being the same for all components. For "gibbs" and `jensen.log_evidence`, and where
          each precision is a number ("diagonal", "spherical", or a single column).
        - "degrees_of_freedom" ν₀: by default the number D of columns plus 1; 2 where columns are
          apart ("diagonal", "spherical"). Fewer would leave an empty component without a mode.
        - "scale" W₀: a matrix, a vector ("diagonal") or a number; by default W₀⁻¹ is the
          covariance Σ of the columns (of each pair over the rows that have both; shrunk to its
          diagonal as far as it is singular), for "diagonal" their variances, and for "spherical"
          the mean of these. The variance of a column that does not vary is taken for 1. It weighs
          as much as one row, and does not depend on K, so that bounds compare.

        By default "mean" and "scale" come from the data: the prior is empirical. Under any affine
        map of the columns ("full", "tied"), or in other units ("diagonal"), the same components
        are as good as before. Bounds are those of log p(rows | this prior), and compare for the
        same rows only.

        ``prior={}`` takes the default of every part.
    start
        Parameters to start from: a dict of "means", "weights" (else equal) and "covariances" (else
        the columns' variances), or a fitted mixture, which `clone` leaves fitted, and a file keeps
        as a dict. Two components that are alike would never part, and are refused by methods that
        climb. Without it every start is by k-means, from centres chosen by the greedy k-means++.
    fixed
        What is held at `start`: any of "weights", "means", "covariances"; "components" is the last
        two. What is not held has the joint prior given what is: a held mean μ adds a row to ν₀ and
        β₀ (μ - m₀)(μ - m₀)ᵀ to W₀⁻¹; beside held covariances ν₀ and W₀ say nothing.
    n_init
        How many starts; the one with the highest F is kept.
    max_iter, tol
        Sweeps end when F rises by less than ``tol * (|F| + total weight)``, or at `max_iter`.
    accelerate
        Whether sweeps of an ascent may begin at a better place, which past sweeps tell. F never
        falls; a proposal that would lower it costs a sweep. Slow ascents take a tenth of the
        sweeps, and may end at another maximum.
    n_samples, burn_in, thin, n_chains
        Of "gibbs" and "stochastic-em": every `thin`-th of the sweeps after `burn_in` is kept.
    random_state
        An int, `SeedSequence`, `Generator`, `RandomState` (which gives a seed, and moves on) or
        None; the result never depends on threads.
    progress
        Whether to show a progress bar.

    Attributes
    ----------
    weights_, means_, covariances_ : arrays
        (K,), (K, D), and (K, D, D), (K, D), (K,) or (D, D) by kind. MixtureKind in the order of
        falling weight, unless start or prior gave them a meaning. After "vbem" posterior means;
        covariances are inverses of the expected precisions. After "gibbs" averages over samples
        in which components are matched by their rows: covariances are inverses of the mean
        precisions, and means E[Λ]⁻¹ E[Λ μ]. (E[Λ⁻¹] and E[μ] may not exist: a component without
        rows is drawn from the prior, whose tails are heavy.)
    n_components_ : int
        How many components live: those with more than half a row, and always the largest.
    free_energy_ : float
        "em", "viterbi": the log-likelihood (of the completed rows) plus the log prior density;
        "vbem", "me": a bound of the log evidence with all its constants, so that mixtures with
        different K compare. NaN after "gibbs".
    label_correction_ : float
        log K! / (K - L)! of L live components: there are as many equal modes, of which the bound
        counts one. Offered apart. Live components whose posteriors are much the same take away
        log m! for each m of them. 0 where something tells components apart: a start, or a prior
        that differs. The bound plus this is an estimate of the log evidence, not a bound: where
        the modes overlap it may lie above. (Of one binary row and two classes the bound is -1.26
        and the log evidence -0.693, but the sum is -0.567.)
    starts_ : array
        F at the end of every start; NaN where a component was lost on the way.
    r_hat_, effective_sample_size_ : float
        How well chains have mixed: the worst of the log joint and of the sizes of components, the
        largest first, which do not depend on labels.
    is_bound_, trace_, n_sweeps_, converged_
        As in `BayesianNetwork`.

    Notes
    -----
    What is missing belongs to the hidden variables. At a point ("em") it is integrated out, and
    costs nothing. Under "vbem" the potentials of a component are E[log p], which lie below a
    density: of missing values they leave a Gaussian of precision E[Λ]_mm, and a cost that vanishes
    as the posterior narrows. So even a row that misses everything lowers the bound a little (the
    number of rows is data, and E[log weights] are no probabilities either); `score` and the other
    answers are predictive, and there what is missing costs nothing. So is `sample`: after "vbem"
    every row has parameters of its own, drawn from the posterior.

    scikit-learn's `check_estimator` passes. What does not apply: without a prior a component may
    collapse on a handful of rows, which is an error here; and draws of "gibbs" are the same for
    rows of weight 2 and for rows that are there twice in their distribution only.

    References
    ----------
    Bishop (2006), *Pattern Recognition and Machine Learning*, sections 9.2 and 10.2.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> x = np.array([0.0, 0.2, 0.1, 0.3, 0.1, 0.2, 5.0, 5.2, 5.1, 5.0, np.nan]).reshape(-1, 1)
    >>> mixture = jn.GaussianMixture(2, prior={}, random_state=0).fit(x)
    >>> mixture.predict([[0.0], [5.0]]).tolist()
    [0, 1]
    """

    weights_: Array
    means_: Array
    covariances_: Array
    n_features_in_: int

    _peer_words: ClassVar[Mapping[str, str]] = {
        "lower_bound_": "free_energy_",
        "n_iter_": "n_sweeps_",
        "precisions_": "the inverses of covariances_",
    }

    @answers_to(
        covariance_type="covariance",
        n_states="n_components",
        verbose="progress",
        means_init="start=",
        weight_concentration_prior="prior={'concentration': ...}",
        reg_covar="not needed: a prior keeps covariances proper, prior={}",
    )
    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance: str = "full",
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        fixed: Iterable[str] = (),
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        accelerate: bool = False,
        n_samples: int = 1000,
        burn_in: int = 1000,
        thin: int = 1,
        n_chains: int = 4,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.covariance = covariance
        self.method = method
        self.prior = prior
        self.start = start
        self.fixed = fixed
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
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
        self._learn(self.problem(X, sample_weight=sample_weight), checkpoint)
        return self

    def problem(self, X: Any, *, sample_weight: Any = None) -> Problem:
        """What `fit` learns: the model with its prior, the encoded rows, the choices."""
        rows = read_rows(self, X, sample_weight)
        check_one_of("covariance", self.covariance, COVARIANCES)
        return mixture_problem(self, rows, self._components(rows))

    def _components(self, rows: NumberRows) -> MixtureKind:
        names = names_of(self, rows.n_columns)
        return MixtureKind(
            names,
            1.0 + NUMBERS.kind.size(rows.n_columns, Chosen(self.covariance)),
            self._make,
            prior=PRIOR_PARTS,
            content=self.covariance,
            held=NUMBERS.held,
            numbers=names,
            has_spread=True,
            are_near=True,
            tell_apart=_tells_apart,
        )

    def _make(self, K: int, rows: NumberRows, prior_parts: Mapping[str, Any] | None) -> Any:
        columns = summary_for([NUMBERS], rows, prior_parts, self.covariance)
        return make_emission(NUMBERS, K, columns, prior_parts, covariance=self.covariance)

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, GaussianMixture):
            start.require_fitted()
            return {"weights": start.weights_, **named_parameters(start)}
        if not isinstance(start, Mapping):
            raise JensenError(
                f"start must be a fitted mixture or a dict of weights, means and covariances, "
                f"not {start!r:.80}"
            )
        return start

    def _read_start(self, model: Mixture, rows: NumberRows) -> Mixed:
        """η whose mode has the parameters of `start`."""
        return read_mixture_start(self._named_start(), model, NUMBERS.parameters, rows)

    def _show(self) -> None:
        shown = self._shown()
        self.weights_ = shown.pop("weights")
        self.means_, self.covariances_ = shown["means"], shown["covariances"]


def _tells_apart(prior_parts: Mapping[str, Any] | None, K: int) -> bool:
    """Whether a prior says different things of different components."""
    return prior_parts is not None and any(
        np.ndim(value) > 0 and len(value) == K and name != "scale" and _differs(value)
        for name, value in prior_parts.items()
        if name in ("concentration", "mean_strength", "degrees_of_freedom")
        or (name == "mean" and np.ndim(value) == 2)
    )


def _differs(values: Any) -> bool:
    array = np.asarray(values)
    return bool((array != array[0]).any())


def _plain(prior_parts: Mapping[str, Any] | None) -> Any:
    """A prior as plain data."""
    if prior_parts is None:
        return None
    return {name: np.asarray(value, np.float64) for name, value in prior_parts.items()}
