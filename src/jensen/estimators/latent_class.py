"""Latent classes: a mixture over tables whose columns may be of different kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable, as_table
from jensen.data.encode import Column, smallest_code_type
from jensen.data.own_columns import nearest
from jensen.data.row_names import warn_of_row_names
from jensen.data.unknown_labels import UnknownLabels, read_known
from jensen.estimators.arrays import (
    check_columns,
    check_counts,
    check_size,
    read_weights,
    rows_that_count,
    warn_where_spread_is_guessed,
)
from jensen.estimators.learning import Problem, Start
from jensen.estimators.mixture_questions import MixtureQuestions
from jensen.estimators.state_memory import check_state_memory
from jensen.estimators.states_estimator import (
    check_held,
    check_states,
    concentration,
    repeat_by_weight,
    with_labels,
    words_of_prior,
)
from jensen.exceptions import DataError, JensenError
from jensen.models.emissions import ColumnEmission
from jensen.models.emissions.making import make_diagonal, make_labels, make_poisson
from jensen.models.emissions.named import read_shares, with_spread
from jensen.models.emissions.priors import GAUSSIAN_WORDS, POISSON_WORDS, check_words
from jensen.models.emissions.product import Product
from jensen.models.mixture import Mixed, Mixture
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows
from jensen.scores.constant_columns import warn_of_constant_labels
from jensen.text import some

Array = NDArray[np.float64]


class LatentClass(MixtureQuestions):
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
    n_init, max_iter, tol, n_samples, burn_in, thin, n_chains, random_state, progress
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
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.random_state = random_state
        self.progress = progress

    noun = "class"
    size = "n_classes"

    def fit(self, table: Any, y: None = None, *, checkpoint: str | Path | None = None) -> Self:
        """Learn from anything a `Table` can be built from; the weights of rows are the table's.

        Parameters
        ----------
        table
            Values may be missing anywhere.
        y
            Nothing: scikit-learn's pipelines pass it.
        checkpoint
            A file that holds the state of the run: if it is killed, the same call goes on from
            there to the identical result.
        """
        rows = as_table(table)
        if not rows.names or rows.total_weight == 0:
            raise DataError("there is nothing to learn from: no columns, no rows, or no weight")
        if "weights" in rows:
            raise DataError(
                "a column cannot be named 'weights', which means those of classes in start=: "
                "rename it, or read it as the weights of rows, jn.Table(..., weights='weights')"
            )
        warn_of_row_names(rows, counts=True)
        warn_of_constant_labels(rows, learned="states")
        self.variables_ = tuple(rows.variable(name) for name in sorted(rows.names))
        weight = read_weights(rows.weights, len(rows))
        self._learn(self._problem(_values(rows, self.variables_), weight), checkpoint)
        return self

    def _problem(self, values: Array, weight: Array) -> Problem:
        choices = self._choices_of_loop()
        choices.check()
        K, algorithm = check_states("n_classes", self.n_classes), choices.algorithm
        constant = check_columns(values, [v.name for v in self.variables_])
        values, weight = rows_that_count(values, weight)
        size = 1.0 + sum(max(variable.n_states, 4) for variable in self.variables_)
        check_state_memory(K, K * size, len(values), values.shape[1], self.noun)
        repeated = repeat_by_weight(weight, algorithm)
        if repeated is not None:
            values, weight = values[repeated], np.ones(len(repeated))
        words = words_of_prior(self.prior, algorithm)
        if words is not None:
            known = ("concentration", "emission", *POISSON_WORDS, *GAUSSIAN_WORDS)
            check_words(words, known)
        emission = self._emission(K, values, weight, with_labels(words, algorithm))
        fixed = check_held(self.fixed, ("weights", "components"), self.start)
        numbers = {v.name for v in self.variables_ if v.kind == "continuous"}
        warn_where_spread_is_guessed([x for x in constant if x in numbers], words, fixed)
        shares = concentration(words, "concentration", (K,), algorithm)
        model = Mixture(emission, shares, K, may_relabel=self.start is None, noun=self.noun)
        start = None if self.start is None else self._read_start(model, values)
        if fixed:
            assert start is not None
            model = model.holding(start, fixed)
        columns = [(v.name, v.kind, v.states) for v in self.variables_]
        content = (columns, K, list(fixed), values, weight)
        data = Data(model.encode(values, weight), StateRows(values, weight), content)
        return Problem(model, data, choices, None if start is None else Start(start))

    def _emission(
        self, K: int, values: Array, weight: Array, words: Mapping[str, Any] | None
    ) -> Product:
        parts: list[ColumnEmission] = []
        for i, variable in enumerate(self.variables_):
            column = values[:, i : i + 1]
            if variable.kind == "categorical":
                parts.append(make_labels(K, variable.n_states, words))
            elif variable.kind == "count":
                parts.append(make_poisson(K, column, words, weight))
            else:
                parts.append(make_diagonal(K, column, words, "diagonal", weight))
        columns = tuple(np.array([i]) for i in range(len(parts)))
        return Product(tuple(parts), columns, tuple(v.name for v in self.variables_))

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

    def _read_start(self, model: Mixture, values: Array) -> Mixed:
        """η whose mode has the parameters of `start`."""
        start, K, emission = self._named_start(), model.n_states, model.emission
        assert isinstance(emission, Product)
        check_words(start, ("weights", *emission.names), "start")
        named = {"weights": np.full(K, 1.0 / K), **start}
        for i, (name, part) in enumerate(zip(emission.names, emission.parts, strict=True)):
            if isinstance(named.get(name), Mapping):
                named[name] = with_spread(named[name], part, values[:, i : i + 1])
        return Mixed(read_shares(named, "weights", (K,)), emission.read(named))

    def _show(self) -> None:
        shown = self._shown()
        self.weights_ = shown.pop("weights")
        self.parameters_ = shown

    def _read(self, X: Any) -> tuple[Array, UnknownLabels | None]:
        table = as_table(X)
        for variable in self.variables_:
            if variable.name not in table:
                other = nearest(variable.name, table.names)
                meant = f" (is it {other!r}?)" if other is not None else ""
                raise DataError(
                    f"the column {variable.name!r} is missing{meant}: this model knows "
                    f"{some(v.name for v in self.variables_)}"
                )
        rows, unknown = read_known(table, self.variables_)
        return _values(rows, self.variables_), unknown

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[np.intp]]:
        """Draw rows, as a pandas dataframe, and the classes that made them."""
        values, states = super().sample(n_samples, random_state)
        columns = [_column(variable, values[:, i]) for i, variable in enumerate(self.variables_)]
        return Table.from_columns(columns).to_pandas(), states


def _values(rows: Table, variables: tuple[Variable, ...]) -> Array:
    """Numbers (n, D): codes, counts, reals; missing NaN."""
    columns = []
    for variable in variables:
        column = rows.column(variable.name)
        data = column.data.astype(np.float64)
        columns.append(np.where(column.missing(), np.nan, data))
    values = np.stack(columns, axis=1)
    check_size(values, [variable.name for variable in variables])
    counted = [i for i, variable in enumerate(variables) if variable.kind == "count"]
    check_counts(values[:, counted], [variables[i].name for i in counted])
    return values


def _column(variable: Variable, values: Array) -> Column:
    if variable.kind != "categorical":
        return Column(variable, values)
    return Column(variable, values.astype(smallest_code_type(variable.n_states)))
