"""How many components, classes or states: several numbers of them compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone  # type: ignore[import-untyped]

from jensen.data import as_table
from jensen.estimators.gaussian_mixture import GaussianMixture
from jensen.estimators.latent_class import LatentClass
from jensen.estimators.state_estimator import StatesEstimator
from jensen.estimators.states_summary import prior_of
from jensen.evidence.methods import METHODS, log_evidence
from jensen.evidence.record import WORKS
from jensen.exceptions import CollapseError, JensenError, warn_of_left_out
from jensen.scores.table_checks import noting, warn_of_guessed_spread
from jensen.support.arguments import check_whole
from jensen.support.machine import STREAM, check_many, interruptible
from jensen.support.text import either, grid

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


RANKED_BY = ("bound", *METHODS)


class Candidate(NamedTuple):
    """One number of components, and what came of it."""

    n: int
    value: float  # the bound, the evidence, or BIC; NaN where no start came to an end
    n_live: int
    model: StatesEstimator | None
    standard_error: float | None = None  # of an estimate
    pareto_k: float | None = None  # of a bound: above 0.7 how far below the evidence is not known


@dataclass(frozen=True)
class ComponentsChoice:
    """Candidates and the best of them; prints as a table.

    Attributes
    ----------
    candidates
        One for each number that was tried.
    by
        "bic" (lower is better), or what is higher where a number is better.
    label_correction
        Whether `label_correction_` was added to the bounds, which makes estimates of them.
    """

    candidates: tuple[Candidate, ...]
    by: str
    label_correction: bool = False

    @property
    def kind(self) -> str:
        """What the values are: "bound", "bic", "estimate" (not a bound), or how else found."""
        return "estimate" if self.label_correction else self.by

    @property
    def best(self) -> Candidate:
        """The candidate with the highest value, or the lowest BIC; the first of equals."""
        known = [c for c in self.candidates if not math.isnan(c.value)]
        sign = -1.0 if self.by == "bic" else 1.0
        return max(known, key=lambda c: sign * c.value)

    @property
    def n(self) -> int:
        """The best number."""
        return self.best.n

    @property
    def model(self) -> Any:
        """The best model, fitted."""
        return self.best.model

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each candidate."""
        import pandas as pd

        names = ["n", self.kind, "live", "best", "standard_error", "pareto_k"]
        rows = [
            (c.n, c.value, c.n_live, c.n == self.n, c.standard_error, c.pareto_k)
            for c in self.candidates
        ]
        return pd.DataFrame(rows, columns=names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the bound, evidence or BIC over the number of components."""
        from jensen.plots.figures import components

        return components(self, ax)

    def __repr__(self) -> str:
        ks = [c.pareto_k for c in self.candidates if c.pareto_k is not None]
        rows = [["n", self.kind, "live", *["k"] * bool(ks), ""]]
        for c in self.candidates:
            mark = "best" if c.n == self.n else ""
            value = "came to nothing" if math.isnan(c.value) else f"{c.value:.3f}"
            error = "" if c.standard_error is None else f" ± {c.standard_error:.2g}"
            k = ["" if c.pareto_k is None else f"{c.pareto_k:.2f}"] if ks else []
            rows.append([str(c.n), value + error, str(c.n_live), *k, mark])
        notes = [f"n = {self.n}, {line}" for line in prior_of(self.model)]
        if any(k > WORKS for k in ks):
            notes.append(
                f"k above {WORKS}: how far the bound is below the log evidence is not known, so "
                "that bounds may rank wrongly; by='bridge' or 'ais' asks for the evidence itself"
            )
        if self.label_correction:
            notes.append("bound + label correction: an estimate, not a bound, of the log evidence")
        return "\n".join([grid(rows, left=0, rule=True), *notes])


def choose_components(
    data: Any,
    numbers: int | Iterable[int] = range(1, 11),
    *,
    model: StatesEstimator | None = None,
    by: str = "bound",
    label_correction: bool = False,
    **fit: Any,
) -> ComponentsChoice:
    """Fit models with different numbers of components, and compare them.

    Parameters
    ----------
    data
        What the model's `fit` takes.
    numbers
        Numbers of components to try, one after the other; one number n: from 1 to n. Ctrl-C ends
        with those that are compared by then, and a warning.
    model
        The model, not fitted: a `GaussianMixture`, `LatentClass` or `HiddenMarkovModel`; its own
        number is not looked at. By default a `GaussianMixture` where all columns are numbers, else
        a `LatentClass`, with ``n_init=5`` and ``random_state=0``.
    by
        "bound": the free energy of "vbem", a bound of the log evidence, higher is better, with
        Pareto's k̂ of its gap beside it (see `bound_gap`); "bic": -2 log L + p log n at the maximum
        of the likelihood ("em"), lower is better; or "exact", "laplace", "cheeseman-stutz", "vb",
        "ais", "smc", "bridge": the evidence, as `jensen.log_evidence` finds it.
    label_correction
        Whether `label_correction_` is added to the bound, which counts one of many equal
        labellings: log K! / (K - L)! where L of K components live. The sum is an estimate of the
        log evidence, not a bound, and is shown as such.
    **fit
        Passed on to `fit`, such as `lengths` or `sample_weight`.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(0, 1, (60, 1)), rng.normal(9, 1, (40, 1))])
    >>> jn.choose_components(x, [1, 2, 3]).n
    2
    """
    if by not in RANKED_BY:
        raise JensenError(f"by must be {either(map(repr, RANKED_BY))}, not {by!r}")
    if label_correction and by != "bound":
        raise JensenError("label_correction belongs to by='bound'")
    wanted = _numbers(numbers)
    template = _usual(data) if model is None else model
    if not isinstance(template, StatesEstimator):
        raise JensenError(
            f"model must be a GaussianMixture, LatentClass or HiddenMarkovModel, not "
            f"{template!r:.80}"
        )
    candidates: list[Candidate] = []
    with interruptible() as wish, noting(is_drawn=False) as constant:
        for n in wanted:
            found = _candidate(template, data, n, by, label_correction, fit)
            if wish.is_set():  # what half a fit comes to would tell nothing
                break
            candidates.append(found)
    if not candidates:
        raise KeyboardInterrupt
    warn_of_guessed_spread(sorted(constant))
    if len(candidates) < len(wanted):
        warn_of_left_out(len(candidates), len(wanted))
    if all(math.isnan(c.value) for c in candidates):
        raise JensenError("every candidate came to nothing: give the model a prior, prior={}")
    return ComponentsChoice(tuple(candidates), by, bool(label_correction))


TOO_MANY = ("models to compare (numbers)", "compare fewer")
LOOKED_AT = 1 << 16
LEAST = 768.0
"""Bytes of the smallest component: `fit` asks again, and knows the columns."""


def _numbers(numbers: int | Iterable[int]) -> list[int]:
    """The numbers to try."""
    if isinstance(numbers, Integral):
        check_whole("numbers", numbers, at_least=1)
        numbers = range(1, int(numbers) + 1)
    if isinstance(numbers, range):
        length = (numbers.stop - numbers.start) // numbers.step  # len() knows no more than 2⁶³
        check_many(max(length, 0), STREAM, *TOO_MANY)
    wanted: list[int] = []
    for n in numbers if isinstance(numbers, Iterable) else [numbers]:
        check_whole("numbers", n, at_least=1)
        wanted.append(int(n))
        if len(wanted) % LOOKED_AT == 0:  # numbers may have no end
            check_many(len(wanted), STREAM, *TOO_MANY)
    if not wanted:
        raise JensenError("numbers is empty: give the numbers of components to try")
    check_many(max(wanted), LEAST, "components in one model (numbers)", "try fewer")
    return wanted


def _usual(data: Any) -> StatesEstimator:
    """The model for data of which nothing else was said."""
    is_matrix = isinstance(data, np.ndarray | list | tuple)
    if is_matrix or all(v.kind != "categorical" for v in as_table(data).variables):
        return GaussianMixture(n_init=5, random_state=0)
    return LatentClass(n_init=5, random_state=0)


GAP_DRAWS = 200
"""Of θ, which tell how tight a bound is; each costs about as much as a sweep."""


def _candidate(
    template: StatesEstimator, data: Any, n: int, by: str, label_correction: bool, fit: Any
) -> Candidate:
    model = clone(template)
    method = "em" if by == "bic" else "vbem"
    if model.method not in (None, method):
        raise JensenError(f"by={by!r} needs method={method!r}, and the model has {model.method!r}")
    model.set_params(**{model.size: n, "method": method})
    try:
        model.fit(data, **fit)
    except CollapseError:
        return Candidate(n, math.nan, 0, None)
    if by not in ("bound", "bic"):
        found = log_evidence(model, data, by, **fit)
        return Candidate(n, found.value, model.n_live_, model, found.standard_error, found.pareto_k)
    if by == "bic":
        return Candidate(n, float(model.bic(data, **_counted(fit))), model.n_live_, model)
    value = model.free_energy_ + (model.label_correction_ if label_correction else 0.0)
    return Candidate(n, float(value), model.n_live_, model, None, _gap(model, data, fit))


def _gap(model: StatesEstimator, data: Any, fit: dict[str, Any]) -> float | None:
    """Pareto's k̂ of a bound; None where no draws can tell."""
    try:
        return model.bound_gap(data, GAP_DRAWS, **fit).pareto_k
    except JensenError:
        return None


def _counted(fit: dict[str, Any]) -> dict[str, Any]:
    """What says which rows there are, and how often each counts."""
    known = ("lengths", "sample_weight", "sequence_weight")
    return {name: value for name, value in fit.items() if name in known}
