"""A fitted mixture or hidden Markov model on one page of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.estimators.arrays import names_of
from jensen.estimators.summary import Summary, algorithm_of, learning
from jensen.models.emissions.making import words_of_emission
from jensen.models.emissions.priors import GAUSSIAN_WORDS, POISSON_WORDS
from jensen.text import grid, plural

if TYPE_CHECKING:
    from jensen.estimators.states_estimator import StatesEstimator

Array = NDArray[np.float64]
Row = tuple[str, list[str]]

MOST_STATES = 8
MOST_ROWS = 40
"""What fits on a page; the attributes hold all of it."""


def summarise_states(model: StatesEstimator) -> Summary:
    """What was learned and how, and the parameters, one column for each state."""
    head = [title(model), *learning_of(model), *prior_of(model), lives(model)]
    return Summary("\n".join(head) + f"\n\n{parameter_table(model)}")


def title(model: Any) -> str:
    """What it is, in a line."""
    K = model.require_fitted().model.n_states
    parts = [plural(K, model.noun), plural(len(column_names(model)), "column")]
    kind = getattr(model, "kind_", None)
    if kind is not None:
        parts.append(kind)
    if hasattr(model, "covariance") and kind in (None, "gaussian"):
        parts.append(f"{model.covariance} covariance")
    if getattr(model, "end", False):
        parts.append("with an end")
    if hasattr(type(model), "n_parameters"):
        parts.append(plural(model.n_parameters, "free parameter"))
    return f"{type(model).__name__}({', '.join(parts)})"


def learning_of(model: Any) -> list[str]:
    """How it was learned, in a line."""
    if not hasattr(model, "free_energy_"):
        return ["parameters given, not learned"]
    return [f"{algorithm_of(model).name}: {text}" for text in learning(model)]


def prior_of(model: Any) -> list[str]:
    """Which prior a bound or a mode belongs to, in a line; none without one."""
    if not hasattr(model, "free_energy_"):
        return []
    from jensen.estimators.states_estimator import words_of_prior

    words = words_of_prior(model.prior, algorithm_of(model))
    if words is None:
        return []
    parts = _parts_of_prior(model)
    given = [f"{name}={words[name]:g}" for name in parts if np.ndim(words.get(name, [0])) == 0]
    given += [f"{name}=(array)" for name in parts if np.ndim(words.get(name, 0)) > 0]
    rest, numbers = [name for name in parts if name not in words], _numbers_of_prior(model)
    usual = ", ".join(f"{name}={numbers[name]:g}" if name in numbers else name for name in rest)
    text = "; ".join([", ".join(given)] * bool(given) + [f"{usual} by default"] * bool(rest))
    fitted = [name for name in ("mean", "scale", "rate") if name in rest]
    if fitted:
        text += f" ({' and '.join(fitted)} from these rows: bounds of other rows do not compare)"
    return [f"prior: {text}"]


def _numbers_of_prior(model: Any) -> dict[str, float]:
    """Parts of the prior that the bound belongs to, as far as each is one number."""
    fitted = model.require_fitted()
    if fitted.prior is None:  # a mode, or a file of an earlier version
        return {}
    shares = {n: x for n, x in fitted.prior._asdict().items() if isinstance(x, np.ndarray)}
    found = {"concentration" if n == "weights" else n: eta + 1.0 for n, eta in shares.items()}
    eta = fitted.prior[-1]
    if eta is not None and not fitted.model.held:
        told = fitted.model.emission.family.describe(eta)
        found |= {x: told[x] for x in ("mean_strength", "degrees_of_freedom") if x in told}
    return {name: x.flat[0] for name, x in found.items() if x.size and (x == x.flat[0]).all()}


def _parts_of_prior(model: Any) -> tuple[str, ...]:
    """Names of the parts that the prior of this model has."""
    if model.noun == "state":
        return ("initial", "transition", *words_of_emission(model.kind_))
    if not hasattr(model, "n_classes"):
        return ("concentration", *GAUSSIAN_WORDS)
    words = {"categorical": ("emission",), "count": POISSON_WORDS, "continuous": GAUSSIAN_WORDS}
    kinds = sorted({variable.kind for variable in model.variables_})
    return ("concentration", *(name for kind in kinds for name in words[kind]))


def lives(model: Any) -> str:
    """How many states have something to do."""
    K, n = model.require_fitted().model.n_states, n_live(model)
    what = "step" if model.noun == "state" else "row"
    if n == K:
        return f"all {plural(K, model.noun)} live" if K > 1 else f"1 {model.noun}"
    return (
        f"{n} of {plural(K, model.noun)} {'lives' if n == 1 else 'live'} (more than half a {what})"
    )


def n_live(model: Any) -> int:
    """How many states live."""
    return int(getattr(model, "n_states_" if model.noun == "state" else "n_components_"))


def column_names(model: Any) -> list[str]:
    """Names of the columns; x0, x1, ... where they have none."""
    variables = getattr(model, "variables_", None)
    if variables is not None:
        return [variable.name for variable in variables]
    return names_of(model, model.n_features_in_)


def parameter_table(model: Any) -> str:
    """The parameters: a line for each, a column for each state."""
    K = model.require_fitted().model.n_states
    shown = min(K, MOST_STATES)
    rows: list[Row] = [(model.noun, [str(k) for k in range(K)]), *_parameters(model)]
    lines = [[name, *cells[:shown]] for name, cells in rows]
    notes = []
    if shown < K:
        notes.append(f"... and {plural(K - shown, model.noun)} more")
    if len(lines) > MOST_ROWS:
        notes.append(f"... and {plural(len(lines) - MOST_ROWS, 'line')} more")
        lines = lines[:MOST_ROWS]
    return "\n".join([grid(lines, left=1, rule=True), *notes])


def _parameters(model: Any) -> Iterator[Row]:
    fitted, names = model.require_fitted(), column_names(model)
    if model.noun != "state":
        yield "weight", _shares(model.weights_)
        yield "rows", _counts(fitted.counts)
    else:
        yield "steps", _counts(fitted.counts)
        yield "first", _shares(model.initial_)
        for k, column in enumerate(model.transition_.T):
            yield f"to {k}", _shares(column)
        if model.end:
            yield "ends", _shares(model.end_)
    yield from _emitted(model, names)


def _emitted(model: Any, names: list[str]) -> Iterator[Row]:
    """What states make of every column."""
    if hasattr(model, "parameters_"):
        for variable in model.variables_:
            yield from _column(variable, model.parameters_[variable.name])
    elif hasattr(model, "means_"):
        spread = _deviations(model)
        for i, name in enumerate(names):
            yield name, _with_spread(model.means_[:, i], spread[:, i])
    elif model.variables_ is not None:
        tables = model.emission_
        parts = list(tables.values()) if isinstance(tables, dict) else [tables]
        for variable, part in zip(model.variables_, parts, strict=True):
            yield from _column(variable, {"emission": part})
    else:
        what = "P({} = 1)" if model.kind_ == "bernoulli" else "rate of {}"
        form = _shares if model.kind_ == "bernoulli" else _numbers
        for i, name in enumerate(names):
            yield what.format(name), form(model.emission_[:, i])


def _column(variable: Any, found: dict[str, Array]) -> Iterator[Row]:
    """One column of a table."""
    if variable.kind == "categorical":
        for label, column in zip(variable.states, found["emission"].T, strict=True):
            yield f"{variable.name} = {label}", _shares(column)
    elif variable.kind == "count":
        yield f"rate of {variable.name}", _numbers(found["emission"][:, 0])
    else:
        spread = np.sqrt(found["covariances"][:, 0])
        yield variable.name, _with_spread(found["means"][:, 0], spread)


def _deviations(model: Any) -> Array:
    """Standard deviations (K, D), whatever the kind of covariance."""
    found, shape = model.covariances_, model.means_.shape
    if model.covariance in ("full", "tied"):
        found = np.diagonal(found, axis1=-2, axis2=-1)
    elif model.covariance == "spherical":
        found = found[:, None]
    return np.asarray(np.sqrt(np.broadcast_to(found, shape)))


def _with_spread(mean: Array, spread: Array) -> list[str]:
    return [f"{m:.4g} ± {s:.2g}" for m, s in zip(mean, spread, strict=True)]


def _shares(values: Array) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _counts(values: Array) -> list[str]:
    return [f"{value:,.1f}" for value in values]


def _numbers(values: Array) -> list[str]:
    return [f"{value:.4g}" for value in values]
