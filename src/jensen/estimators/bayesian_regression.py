"""Bayesian linear regression in closed form: Occam's razor on polynomials, or on any features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import BaseEstimator, RegressorMixin  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    check_is_fitted,
    validate_data,
)

from jensen.exceptions import DataError, JensenError
from jensen.families import linear_regression
from jensen.families.linear_regression import Regression
from jensen.support.arguments import check_whole, is_real
from jensen.support.text import grid, some

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

PARTS = ("mean", "variance", "shape", "rate")
OF_INPUTS = ("input_shape", "input_rate")
"""Parts of the prior of precisions of inputs."""
HIGHEST = 7
"""The highest degree that "auto" tries."""
MOST_DEGREE = 100


class DegreeEvidence(NamedTuple):
    """One degree, or set of features: its evidence, and how probable it is among those tried."""

    degree: int | None
    log_evidence: float
    probability: float


class BayesianRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression with a normal-gamma prior: posterior, predictions and evidence are exact.

    y = Σ β_j f_j(x) + noise of variance σ², with β | σ² ~ N(m, σ² v I) and 1/σ² ~ Gamma(shape,
    rate). The evidence p(y | x, degree), with β and σ² integrated out, falls again where a
    polynomial has more freedom than the points ask for: Occam's razor.

    Parameters
    ----------
    degree
        Of the polynomial: powers of every column up to this one, after a constant. "auto": the
        degree from 0 to 7 with the highest evidence.
    features
        Instead of powers: a function of the inputs (n, D) that gives the features (n, P), with a
        constant of its own if there is to be one.
    relevance
        Whether every input has a prior precision of its own, learned by variational Bayes (ARD):
        `relevance_` then tells which inputs matter. Inputs are linear (`degree` 1) and may be
        missing in `fit`; `unit` is by default their deviation, `origin` their mean.
    origin, unit
        Powers are those of (x - origin) / unit, numbers or one for each column. By default the
        middle and half the range of each column, so that units of x change nothing.
    prior
        A dict of parts; ``{}`` and None take the default of each:

        - "mean": of the constant (of the first feature); by default the mean of y. Of all other
          coefficients it is 0.
        - "variance": v, of every coefficient in units of σ²; by default 100.
        - "shape" and "rate" of 1/σ²: by default 1, and the variance of y.
        - "input_shape" and "input_rate", with `relevance`: of the precisions of inputs in units of
          `unit` and of 1/σ²; by default ½, so that each coefficient has a Cauchy prior.

    Attributes
    ----------
    degree_ : int or None
        The degree that was chosen; None with `features`.
    evidences_ : tuple
        Of every degree that was tried: degree, log_evidence, probability, all degrees being as
        probable beforehand.
    log_evidence_ : float
        That of `degree_`. Where the prior mean and rate are made of y, evidences of two sets of
        rows do not compare.
    relevance_ : tuple
        With `relevance`, for every input: name, gain (what the bound loses when the input is
        removed and the rest is learned anew), is_relevant (whether the gain is above 0), precision.
    trace_ : array
        With `relevance`, the bound after every sweep; `log_evidence_` is the last, a lower bound
        (jointly of inputs and outputs, if inputs are missing).
    coefficients_ : array
        (P,): posterior means, the constant first.
    noise_ : float
        The posterior mean of the precision, as a standard deviation.
    origin_, unit_ : arrays
        As they were used.

    References
    ----------
    Bishop (2006), *Pattern Recognition and Machine Learning*, section 3.5.1 and exercise 3.23.
    MacKay (1992), *Bayesian interpolation*; (1994), *Bayesian nonlinear modeling for the prediction
    competition* (relevance).

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> x = np.linspace(-1, 1, 12)
    >>> y = 1.0 - 2.0 * x**2 + 0.1 * np.sin(40 * x)
    >>> model = jn.BayesianRegression("auto").fit(x[:, None], y)
    >>> model.degree_
    2
    >>> inputs = np.random.default_rng(0).normal(size=(100, 3))
    >>> noise = np.random.default_rng(1).normal(size=100)
    >>> model = jn.BayesianRegression(relevance=True).fit(inputs, 2.0 * inputs[:, 1] + noise)
    >>> [one.is_relevant for one in model.relevance_]
    [False, True, False]
    """

    def __init__(
        self,
        degree: int | Literal["auto"] = 1,
        *,
        features: Callable[[Array], Any] | None = None,
        relevance: bool = False,
        origin: Any = None,
        unit: Any = None,
        prior: Mapping[str, Any] | None = None,
    ) -> None:
        self.degree = degree
        self.features = features
        self.relevance = relevance
        self.origin = origin
        self.unit = unit
        self.prior = prior

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from inputs (n, D) and outputs (n,); with `relevance` inputs may be missing."""
        X, y = self._read(X, y)
        degrees = self._degrees()
        if self.relevance:
            return self._fit_relevance(X, y)
        self.origin_, self.unit_ = self._coordinates(X)
        found = []
        for degree in degrees:
            design = self._design(X, degree)
            prior = self._prior(y, design.shape[1])
            eta = Regression(*(a + b for a, b in zip(prior, _stats(design, y), strict=True)))
            value = linear_regression.log_partition(eta) - linear_regression.log_partition(prior)
            found.append((degree, eta, value - 0.5 * len(y) * np.log(2.0 * np.pi)))
        values = np.array([value for _, _, value in found])
        share = np.exp(values - values.max())
        share /= share.sum()
        self.evidences_ = tuple(
            DegreeEvidence(degree, float(value), float(p))
            for (degree, _, value), p in zip(found, share, strict=True)
        )
        self.degree_, eta, value = found[int(values.argmax())]
        self.log_evidence_ = float(value)
        self._keep(eta)
        return self

    def _read(self, X: Any, y: Any) -> tuple[Array, Array]:
        try:
            gaps: Any = "allow-nan" if self.relevance else True
            X, y = validate_data(
                self, X, y, dtype=np.float64, y_numeric=True, ensure_all_finite=gaps
            )
        except ValueError as error:
            if "NaN" in str(error):
                raise DataError(
                    f"{error}\nA BayesianRegression knows missing values of linear inputs alone, "
                    "with relevance=True: leave out these rows, or learn a BayesianNetwork of "
                    "continuous columns"
                ) from None
            raise
        return X, np.asarray(y, np.float64)

    def _degrees(self) -> tuple[int | None, ...]:
        """The degrees to try; None for features of the caller's."""
        if self.relevance and (self.features is not None or self.degree != 1):
            raise JensenError("relevance is that of linear inputs: leave out features and degree")
        if self.features is not None:
            if self.degree != 1 or self.origin is not None or self.unit is not None:
                raise JensenError(
                    "features take the place of degree, origin and unit: leave one out"
                )
            return (None,)
        if isinstance(self.degree, str):
            if self.degree != "auto":
                raise JensenError(f"degree must be a whole number or 'auto', not {self.degree!r}")
            return tuple(range(HIGHEST + 1))
        check_whole("degree", self.degree, at_least=0)
        if self.degree > MOST_DEGREE:
            raise JensenError(f"degree must be at most {MOST_DEGREE}, not {self.degree}")
        return (int(self.degree),)

    def _coordinates(self, X: Array) -> tuple[Array, Array]:
        """Origin and unit of every column."""
        if self.relevance:
            middle, half = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        else:
            low, high = X.min(0), X.max(0)
            half = 0.5 * (high - low)
            middle = low + half
        usual = (middle, np.where(half > 0.0, half, 1.0))
        found = []
        for name, given, own in zip(
            ("origin", "unit"), (self.origin, self.unit), usual, strict=True
        ):
            try:
                value = (
                    own if given is None else np.broadcast_to(np.asarray(given, float), own.shape)
                )
            except (TypeError, ValueError):
                raise JensenError(f"{name} must be a number, or one for each column") from None
            if not np.isfinite(value).all() or (name == "unit" and not (value > 0.0).all()):
                raise JensenError(f"{name} must be finite{' and above 0' * (name == 'unit')}")
            found.append(np.array(value))
        return found[0], found[1]

    def _design(self, X: Array, degree: int | None) -> Array:
        """(n, P): the features of inputs."""
        if degree is None:
            assert self.features is not None
            design = np.asarray(self.features(X), np.float64)
            if design.ndim != 2 or len(design) != len(X) or not np.isfinite(design).all():
                raise JensenError(
                    f"features must give finite numbers, a row for each of {len(X)} inputs; they "
                    f"gave an array of the shape {design.shape}"
                )
            return design
        z = (X - self.origin_) / self.unit_
        return np.column_stack([np.ones(len(z)), *(z**power for power in range(1, degree + 1))])

    def _prior(self, y: Array, n_features: int) -> Regression:
        given = self._given_prior(y)
        mean = np.zeros((1, n_features))
        mean[0, 0] = given["mean"]
        strength = np.eye(n_features)[None] / given["variance"]
        return linear_regression.from_standard(
            mean, strength, np.array([2.0 * given["shape"]]), np.array([0.5 / given["rate"]])
        )

    def _given_prior(self, y: Array) -> dict[str, float]:
        """All parts of the prior; what was not given is by default."""
        given = dict(self.prior or {})
        parts = (*PARTS, *OF_INPUTS) if self.relevance else PARTS
        for name, value in given.items():
            if name not in parts:
                raise JensenError(f"the prior has {some(parts)}, not {name!r}")
            if not is_real(value) or not np.isfinite(value) or (name != "mean" and value <= 0.0):
                raise JensenError(
                    f"prior[{name!r}] must be finite{' and above 0' * (name != 'mean')}, not "
                    f"{value!r:.40}"
                )
        spread = float(y.var())
        rate = float(given.get("rate", spread))
        if not rate > 0.0:
            raise DataError(
                f"all outputs are the same (n_samples={len(y)}), so nothing says how much they "
                "vary: give the prior a rate, prior={'rate': ...}, in the unit of y squared"
            )
        usual = {"mean": float(y.mean()), "variance": 100.0, "shape": 1.0, "rate": rate}
        return {**usual, **dict.fromkeys(OF_INPUTS, 0.5), **{n: float(x) for n, x in given.items()}}

    def _fit_relevance(self, X: Array, y: Array) -> Self:
        """By variational Bayes, with a precision of its own for every input."""
        from jensen.estimators import relevance as ard

        empty = np.isnan(X).all(0)
        if empty.any():
            raise DataError(f"input {int(empty.argmax()) + 1} is missing in all rows: leave it out")
        self.origin_, self.unit_ = self._coordinates(X)
        prior = self._given_prior(y)
        problem = ard.RelevanceProblem(
            (X - self.origin_) / self.unit_,
            y - prior["mean"],
            prior["variance"],
            ard.GammaPrior(prior["shape"], prior["rate"]),
            ard.GammaPrior(prior["input_shape"], prior["input_rate"]),
        )
        found = ard.learn_relevance(problem)
        names = getattr(self, "feature_names_in_", range(1, X.shape[1] + 1))
        self.relevance_ = ard.relevances(problem, found, [str(name) for name in names])
        self.degree_, self.trace_ = 1, np.array(found.trace)
        self.log_evidence_ = float(found.trace[-1])
        self.evidences_ = (DegreeEvidence(1, self.log_evidence_, 1.0),)
        self._keep(ard.shifted(found.eta, prior["mean"]))
        return self

    def _keep(self, eta: Regression) -> None:
        """The posterior, and what is shown of it."""
        self._eta = eta
        told = linear_regression.to_standard(eta)
        self.coefficients_ = told.coefficients[0]
        self.noise_ = float(1.0 / np.sqrt(told.degrees_of_freedom[0] * told.scale[0]))

    # --- answers ---

    def predict(self, X: Any, *, return_std: bool = False) -> Any:
        """The expected output of every row, and with `return_std` its standard deviation."""
        mean, scale, freedom = self._predictive(X)
        if not return_std:
            return mean
        with np.errstate(divide="ignore"):
            wide = np.sqrt(freedom / (freedom - 2.0)) if freedom > 2.0 else np.inf
        return mean, scale * wide

    def interval(self, X: Any, level: float = 0.9, *, of: str = "output") -> Array:
        """(2, n): between which bounds the output of a row lies with this probability.

        Parameters
        ----------
        X
            Inputs (n, D).
        level
            The probability.
        of
            "output": of a new output, with its noise; "mean": of the regression itself.
        """
        if of not in ("output", "mean"):
            raise JensenError(f"of must be 'output' or 'mean', not {of!r}")
        if not is_real(level) or not 0.0 < float(level) < 1.0:
            raise JensenError(f"level must be between 0 and 1, not {level!r}")
        mean, scale, freedom = self._predictive(X, with_noise=of == "output")
        away = scale * float(student.ppf(0.5 + 0.5 * level, freedom))
        return np.stack([mean - away, mean + away])

    def log_predictive(self, X: Any, y: Any) -> Array:
        """(n,): log p(output | input, rows of `fit`), each by itself: a Student distribution."""
        mean, scale, freedom = self._predictive(X)
        y = np.asarray(y, np.float64)
        if y.shape != mean.shape:
            raise DataError(f"y must have {len(mean)} numbers, one for each row")
        return np.asarray(student.logpdf(y, freedom, mean, scale))

    def _predictive(self, X: Any, *, with_noise: bool = True) -> tuple[Array, Array, float]:
        """Mean and scale of Student distributions, and their degrees of freedom."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        design = self._design(X, self.degree_)
        told = linear_regression.to_standard(self._eta)
        freedom = float(told.degrees_of_freedom[0])
        inverse = np.linalg.inv(told.strength[0])
        spread = with_noise + np.einsum("ni,ij,nj->n", design, inverse, design)
        scale = np.sqrt(spread / (freedom * float(told.scale[0])))
        return np.asarray(design @ told.coefficients[0]), np.asarray(scale), freedom

    def coefficient_interval(self, level: float = 0.9) -> Array:
        """(2, P): between which bounds each coefficient lies with this probability."""
        check_is_fitted(self)
        told = linear_regression.to_standard(self._eta)
        freedom = float(told.degrees_of_freedom[0])
        spread = np.diagonal(np.linalg.inv(told.strength[0])) / (freedom * float(told.scale[0]))
        away = np.sqrt(spread) * float(student.ppf(0.5 + 0.5 * level, freedom))
        return np.stack([told.coefficients[0] - away, told.coefficients[0] + away])

    def summary(self) -> str:
        """The evidence of every degree that was tried, or the relevance of inputs, as a table."""
        check_is_fitted(self)
        if self.relevance:
            from jensen.estimators.relevance import relevance_table

            return relevance_table(self)
        rows = [["degree", "log evidence", "probability", ""]]
        for one in self.evidences_:
            mark = "best" if one.degree == self.degree_ else ""
            name = "features" if one.degree is None else str(one.degree)
            rows.append([name, f"{one.log_evidence:.6f}", f"{one.probability:.6f}", mark])
        return grid(rows, left=1, rule=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the probability of every degree that was tried."""
        from jensen.plots.figures import degrees

        check_is_fitted(self)
        return degrees(self, ax)


def _stats(design: Array, y: Array) -> Regression:
    return Regression(
        np.array([float(len(y))]),
        np.array([float(y @ y)]),
        (design.T @ y)[None],
        (design.T @ design)[None],
    )
