"""Latent classes: a mixture over tables whose columns may be of different kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import as_rows
from jensen.data.number_rows import NumberRows
from jensen.data.variable import Kind, Variable
from jensen.estimators.learning import Problem
from jensen.estimators.mixture_estimator import MixtureKind, mixture_problem, read_mixture_start
from jensen.estimators.state_estimator import with_labels
from jensen.estimators.table_mixture import TableMixture
from jensen.exceptions import DataError, JensenError
from jensen.models.emissions.product import ProductEmission
from jensen.models.emissions.registry import (
    USUAL,
    make_columns,
    prior_names_of_columns,
    summary_for,
)
from jensen.models.mixture import Mixed, Mixture
from jensen.support.arguments import answers_to

Array = NDArray[np.float64]


class LatentClass(TableMixture):
    """A mixture over a table; given the class all columns are independent (AutoClass).

    A categorical column has probabilities for each class, a count a Poisson rate, a continuous one
    a mean and a variance. Values may be missing anywhere.

    Parameters
    ----------
    n_classes
        How many classes. Under "vbem" surplus ones empty: see `n_components_` and `prune`.
    method
        "em", "vbem", "viterbi", "me", "gibbs", "stochastic-em": as in `GaussianMixture`. None:
        "em" without a prior, else "vbem".
    prior
        None: flat; the default of all parts for "vbem", "me" and "gibbs", which need one. Else a
        dict of parts, each a number for all columns; ``prior={}`` takes the default of each:

        - "concentration" of the weights: by default 1 / K; 1 for methods that look for a mode.
        - "emission": the concentration of every label; by default 1 (2 for methods that look for
          a mode).
        - "shape" and "rate" of counts: by default 1 and 1 / mean of the column, or 1 for a
          column of zeros.
        - "mean", "mean_strength", "degrees_of_freedom", "scale" of continuous columns: as in
          `GaussianMixture` with ``covariance="diagonal"``.
    start
        A fitted `LatentClass`, or a dict of "weights" and of every column's parameters, as in
        `parameters_`; "covariances" may be left out, as may "weights". A file keeps either as a
        dict. Two classes that are alike are refused as in `GaussianMixture`.
    fixed
        What is held at `start`: any of "weights", "components" (all columns).
    n_init, max_iter, tol, accelerate, n_samples, burn_in, thin, n_chains, random_state, progress
        As in `GaussianMixture`.

    Attributes
    ----------
    weights_ : array
        (K,), in falling order unless the start gave classes a meaning.
    parameters_ : dict
        Column → its parameters: "emission" (K, labels) or rates (K, 1), "means" and "covariances"
        (K, 1). After "gibbs" averages over samples as in `GaussianMixture`.
    variables_ : tuple of Variable
        The columns, by name.
    n_components_, free_energy_, label_correction_, is_bound_, trace_, n_sweeps_, converged_, ...
        As in `GaussianMixture`.

    Notes
    -----
    What is missing is summed out. Under "vbem" with the potentials exp E[log p]: a missing label
    costs -log Σ exp E[log p(label)], which vanishes as the posterior narrows; so it is with counts,
    and with numbers as in `GaussianMixture`.

    References
    ----------
    Cheeseman and Stutz (1996), *Bayesian classification (AutoClass): theory and results*.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"fur": ["yes", "yes", "no", None] * 4, "weight": [4.0, 4.1, 1.9, 2.0] * 4}
    >>> table = jn.Table(rows, continuous=["weight"])
    >>> classes = jn.LatentClass(2, prior={}, random_state=0).fit(table)
    >>> classes.predict(table)[:4].tolist()
    [0, 0, 1, 1]
    """

    weights_: Array
    parameters_: dict[str, dict[str, Array]]
    variables_: tuple[Variable, ...]

    @answers_to(n_components="n_classes", n_states="n_classes", nclass="n_classes")
    def __init__(
        self,
        n_classes: int = 2,
        *,
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
        self.n_classes = n_classes
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

    noun = "class"
    size = "n_classes"

    def problem(self, table: Any) -> Problem:
        """What `fit` learns: the model with its prior, the encoded rows, the choices."""
        rows = as_rows(table)
        if "weights" in rows:
            raise DataError(
                "a column cannot be named 'weights', which means those of classes in start=: "
                "rename it, or read it as the weights of rows, jn.Table(..., weights='weights')"
            )
        return mixture_problem(self, self._columns_of(rows, counts=True), self._components())

    def _components(self) -> MixtureKind:
        return MixtureKind(
            [variable.name for variable in self.variables_],
            1.0 + sum(max(variable.n_states, 4) for variable in self.variables_),
            self._make,
            prior=prior_names_of_columns(get_args(Kind)),
            content=[(v.name, v.kind, v.states) for v in self.variables_],
            numbers=[v.name for v in self.variables_ if v.kind == "continuous"],
        )

    def _make(
        self, K: int, rows: NumberRows, prior_parts: Mapping[str, Any] | None
    ) -> ProductEmission:
        records = [USUAL[variable.kind] for variable in self.variables_]
        prior_parts = with_labels(prior_parts, self._choices_of_loop().algorithm)
        columns = summary_for(records, rows, prior_parts, "diagonal")
        return make_columns(records, self.variables_, K, columns, prior_parts)

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, LatentClass):
            start.require_fitted()
            return {"weights": start.weights_, **start.parameters_}
        if not isinstance(start, Mapping):
            raise JensenError(
                f"start must be a fitted LatentClass or a dict of weights and of the parameters "
                f"of every column, not {start!r:.80}"
            )
        return start

    def _read_start(self, model: Mixture, rows: NumberRows) -> Mixed:
        """η whose mode has the parameters of `start`."""
        assert isinstance(model.emission, ProductEmission)
        return read_mixture_start(self._named_start(), model, model.emission.names, rows)

    def _show(self) -> None:
        shown = self._shown()
        self.weights_ = shown.pop("weights")
        self.parameters_ = shown
