"""What models of hidden factors share: choices, priors, questions, files, a page of text."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (  # type: ignore[import-untyped]
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import (
    ArrayEstimator,
    answer_rows,
    names_of,
    read_matrix,
    read_rows,
    read_weights,
    weights_of,
)
from jensen.estimators.learning import Problem
from jensen.estimators.reports import Summary, algorithm_of, learning
from jensen.exceptions import DataError, JensenError
from jensen.free_energy import Algorithm
from jensen.models.emissions.priors import check_names
from jensen.models.factor_parameters import FactorPrior
from jensen.support.arguments import as_generator, check_whole, is_real
from jensen.support.json_values import Checked
from jensen.support.machine import check_many
from jensen.support.text import grid, option, plural

Array = NDArray[np.float64]

MOST_FACTORS = 8
MOST_ROWS = 40
"""What fits on a page; the attributes hold all of it."""


class FactorEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ArrayEstimator):  # type: ignore[misc]
    """A learner of hidden factors: what `fit` leaves behind, whatever the factors are."""

    n_factors: int
    noun = "factor"

    def _plain(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data."""
        from jensen.estimators.factor_saving import plain_factors

        return plain_factors(self)

    @staticmethod
    def _read_plain(value: Checked) -> FactorEstimator:
        """What `_plain` gave."""
        from jensen.estimators.factor_saving import read_factors

        return read_factors(value)

    def _summarise(self) -> Summary:
        """The loadings, one column for each factor."""
        return _summarise(self)

    def problem(self, X: Any, *, sample_weight: Any = None) -> Problem:
        """What `fit` learns: the model with its prior, the encoded rows, the choices."""
        rows = read_rows(self, X, sample_weight)
        seeks_mode = self._choices_of_loop().algorithm.seeks_mode
        return self._problem(rows if seeks_mode else rows.showing())

    def _problem(self, rows: NumberRows) -> Problem:
        """What is learned from these rows."""
        raise NotImplementedError

    # --- scikit-learn ---

    @property
    def _n_features_out(self) -> int:
        return int(self.require_fitted().n_factors)

    @property
    def n_iter_(self) -> int:
        """How many sweeps there were, as scikit-learn calls them: one at least."""
        self.require_fitted()
        return max(1, self.n_sweeps_)

    # --- questions ---

    def transform(self, X: Any, *, out: str | PathLike[str] | None = None) -> Any:
        """E[factors | row], (n, K); values may be missing anywhere.

        With `out` they are columns of a CSV, TSV or Parquet file, named as `get_feature_names_out`
        does and asked block by block, so that a scan of more rows than memory will do; its path is
        returned.
        """
        if out is not None:
            names = self.get_feature_names_out()
            return answer_rows(
                self, X, out, lambda rows: dict(zip(names, self.transform(rows).T, strict=True))
            )
        fitted = self.require_fitted()
        found: Array = fitted.transform(read_matrix(self, X, reset=False))
        return found

    def log_likelihood(self, X: Any, *, out: str | PathLike[str] | None = None) -> Any:
        """Log p(row), one for each row, what is missing integrated out; `out` as in `transform`."""
        if out is not None:
            return answer_rows(self, X, out, lambda x: {"log_likelihood": self.log_likelihood(x)})
        fitted = self.require_fitted()
        found: Array = fitted.log_likelihood(read_matrix(self, X, reset=False))
        return found

    def score_samples(self, X: Any) -> Array:
        """Log p(row), one for each row; scikit-learn's name of `log_likelihood`."""
        found: Array = self.log_likelihood(X)
        return found

    def score(self, X: Any, y: None = None, *, sample_weight: Any = None) -> float:
        """The mean log-likelihood of a row; the weights of a `Table` count."""
        log_like = self.log_likelihood(X)
        weight = read_weights(weights_of(X, sample_weight), len(log_like))
        return float(np.average(log_like[weight > 0.0], weights=weight[weight > 0.0]))

    def impute(self, X: Any, *, out: str | PathLike[str] | None = None) -> Any:
        """Rows (n, D) in which what is missing is what is expected given the rest.

        `out` as in `transform`: a column for each of X.
        """
        if out is not None:
            names = names_of(self, self.require_fitted().point.loadings.shape[-2])
            return answer_rows(
                self, X, out, lambda rows: dict(zip(names, self.impute(rows).T, strict=True))
            )
        fitted = self.require_fitted()
        found: Array = fitted.impute(read_matrix(self, X, reset=False))
        return found

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows (n, D), and the factors (n, K) that made them."""
        check_whole("n_samples", n_samples, at_least=1)
        fitted = self.require_fitted()
        D, K = fitted.point.loadings.shape
        check_many(n_samples, 16.0 * (D + K), "rows", "draw fewer")
        rng = as_generator(self.random_state if random_state is None else random_state)
        rows, factors = fitted.point.sample(int(n_samples), rng)
        return rows, factors

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are."""
        return int(self.require_fitted().n_parameters)

    @property
    def n_factors_(self) -> int:
        """How many factors there are; after "vbem" without those that died."""
        fitted = self.require_fitted()
        return int(fitted.n_factors if fitted.n_live is None else fitted.n_live)


USUAL = FactorPrior()


def read_factor_prior(
    prior: Any,
    algorithm: Algorithm,
    more: tuple[str, ...],
    usual: FactorPrior = USUAL,
) -> tuple[FactorPrior | None, Mapping[str, Any]]:
    """The prior of loadings and noise, and what `more` says; None if it is flat."""
    if prior is None and algorithm.seeks_mode:
        return None, {}
    parts = {} if prior is None else prior
    if not isinstance(parts, Mapping):
        raise JensenError(
            f"prior must be None or a dict of its parts ({{}} for the usual one), not {prior!r:.80}"
        )
    check_names(parts, (*FactorPrior._fields, *more))
    numbers = {name: value for name, value in parts.items() if name in FactorPrior._fields}
    for name, value in numbers.items():
        if not is_real(value) or not 0.0 < value < np.inf:
            raise JensenError(f"{name} of the prior must be a number above 0, not {value!r:.40}")
    found = usual._replace(**{name: float(value) for name, value in numbers.items()})
    return found, {name: parts[name] for name in more if parts.get(name) is not None}


def check_factors(n_factors: Any, most: int | None = None, what: str = "") -> int:
    """The number of factors."""
    check_whole("n_factors", n_factors, at_least=1)
    if most is not None and n_factors > most:
        raise JensenError(
            f"{option('n_factors', int(n_factors))} is more than {what}: choose {most} or fewer"
        )
    return int(n_factors)


def read_part(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """A part of a start."""
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != shape or not np.isfinite(found).all():
        raise JensenError(f"{name} of start= must be numbers of the shape {shape}")
    return found


def read_features(X: Any, n: int) -> Array:
    """What `transform` gives: as many columns as that."""
    values = np.asarray(X, np.float64)
    if values.ndim != 2 or values.shape[1] != n:
        raise DataError(
            f"X must be {plural(n, 'column')} of factors, as transform gives them, and has the "
            f"shape {values.shape}"
        )
    return values


# --- a page of text ---


def _summarise(model: FactorEstimator) -> Summary:
    """What was learned and how, and the loadings, one column for each factor."""
    fitted = model.require_fitted()
    D, K = fitted.point.loadings.shape
    parts = [plural(K, "factor"), plural(D, "column")]
    if hasattr(model, "noise"):
        parts.append(f"{model.noise} noise")
    parts.append(plural(model.n_parameters, "free parameter"))
    head = [f"{type(model).__name__}({', '.join(parts)})"]
    head += [f"{algorithm_of(model).name}: {text}" for text in learning(model)]
    if fitted.n_live is not None:
        verb = "lives" if model.n_factors_ == 1 else "live"
        head.append(f"{model.n_factors_} of {plural(K, 'factor')} {verb}")
    return Summary("\n".join(head) + f"\n\n{_table(model)}")


def _table(model: Any) -> str:
    """The loadings, and what else there is of columns or factors."""
    point = model.require_fitted().point
    D, K = point.loadings.shape
    shown, names = min(K, MOST_FACTORS), names_of(model, D)
    own = {"mean": point.mean, "noise": point.noise} if hasattr(point, "mean") else {}
    lines = [["factor", *map(str, range(shown)), *own]]
    if not own:
        lines.append(["on", *(f"{x:.4g}" for x in point.on[:shown])])
    for d, name in enumerate(names[:MOST_ROWS]):
        numbers = [*point.loadings[d, :shown], *(part[d] for part in own.values())]
        lines.append([name, *(f"{x:.4g}" for x in numbers)])
    notes = [] if own else [f"variance of the noise: {float(point.noise):.4g}"]
    if shown < K:
        notes.append(f"... and {plural(K - shown, 'factor')} more")
    if len(names) > MOST_ROWS:
        notes.append(f"... and {plural(len(names) - MOST_ROWS, 'column')} more")
    return "\n".join([grid(lines, left=1, rule=True), *notes])
