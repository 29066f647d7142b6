"""A fitted mixture or hidden Markov model on one page of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.estimators.arrays import names_of
from jensen.estimators.reports import Summary, algorithm_of, learning
from jensen.models.emissions.kinds import Chosen, Line, as_shares
from jensen.models.emissions.product import ProductEmission
from jensen.models.emissions.registry import (
    EMISSIONS,
    USUAL,
    EmissionRecord,
    chosen_of,
    named_parameters,
    prior_names_of_columns,
    record_of,
)
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    from jensen.estimators.state_estimator import StatesEstimator

Array = NDArray[np.float64]

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
    record = _record(model)
    if hasattr(model, "kind_"):
        parts.append(record.word)
    if hasattr(model, "covariance") and "covariance" in record.options:
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
    if model.noun == "tree":
        from jensen.estimators.tree_summary import prior_of_trees

        return prior_of_trees(model)
    from jensen.estimators.state_estimator import read_prior_parts

    prior_parts = read_prior_parts(model.prior, algorithm_of(model))
    if prior_parts is None:
        return []
    parts = _parts_of_prior(model)
    given = [
        f"{name}={prior_parts[name]:g}"
        for name in parts
        if np.ndim(prior_parts.get(name, [0])) == 0
    ]
    given += [f"{name}=(array)" for name in parts if np.ndim(prior_parts.get(name, 0)) > 0]
    rest, numbers = [name for name in parts if name not in prior_parts], _numbers_of_prior(model)
    usual = ", ".join(f"{name}={numbers[name]:g}" if name in numbers else name for name in rest)
    text = "; ".join([", ".join(given)] * bool(given) + [f"{usual} by default"] * bool(rest))
    usual_parts = {name for record in EMISSIONS.values() for name in record.from_rows}
    fitted = [name for name in rest if name in usual_parts]
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
    emission, eta = fitted.model.emission, fitted.prior[-1]
    if not isinstance(emission, ProductEmission) and not fitted.model.held:
        found |= record_of(emission).kind.prior_numbers(emission, eta)
    return {name: x.flat[0] for name, x in found.items() if x.size and (x == x.flat[0]).all()}


def _parts_of_prior(model: Any) -> tuple[str, ...]:
    """Names of the parts that the prior of this model has."""
    if model.noun == "state":
        return ("initial", "transition", *_record(model).prior)
    if not hasattr(model, "n_classes"):
        parts = ("concentration", *_record(model).prior)
        if "mean_variance" in (model.prior or {}):  # it takes the place of mean_strength
            return tuple(part.replace("mean_strength", "mean_variance") for part in parts)
        return parts
    return ("concentration", *prior_names_of_columns(sorted({v.kind for v in model.variables_})))


def _record(model: Any) -> EmissionRecord:
    """What all columns of a model are, unless each has a kind of its own."""
    return EMISSIONS[getattr(model, "kind_", USUAL["continuous"].word)]


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
    rows: list[Line] = [(model.noun, [str(k) for k in range(K)]), *_parameters(model)]
    lines = [[name, *cells[:shown]] for name, cells in rows]
    notes = []
    if shown < K:
        notes.append(f"... and {plural(K - shown, model.noun)} more")
    if len(lines) > MOST_ROWS:
        notes.append(f"... and {plural(len(lines) - MOST_ROWS, 'line')} more")
        lines = lines[:MOST_ROWS]
    return "\n".join([grid(lines, left=1, rule=True), *notes])


def _parameters(model: Any) -> Iterator[Line]:
    fitted, names = model.require_fitted(), column_names(model)
    if model.noun != "state":
        yield "weight", as_shares(model.weights_)
        yield "rows", _counts(fitted.counts)
    else:
        yield "steps", _counts(fitted.counts)
        yield "first", as_shares(model.initial_)
        for k, column in enumerate(model.transition_.T):
            yield f"to {k}", as_shares(column)
        if model.end:
            yield "ends", as_shares(model.end_)
    yield from _emitted(model, names)


def _emitted(model: Any, names: list[str]) -> Iterator[Line]:
    """What states make of every column."""
    if hasattr(model, "parameters_"):
        for variable in model.variables_:
            shown = model.parameters_[variable.name]
            yield from _lines(USUAL[variable.kind], variable, shown)
    elif getattr(model, "variables_", None) is not None:
        tables = model.emission_
        parts = list(tables.values()) if isinstance(tables, dict) else [tables]
        for variable, part in zip(model.variables_, parts, strict=True):
            yield from _lines(_record(model), variable, {"emission": part})
    else:
        chosen = Chosen(model.covariance)
        yield from _record(model).kind.lines(names, named_parameters(model), chosen)


def _lines(record: EmissionRecord, variable: Any, shown: dict[str, Array]) -> Iterator[Line]:
    """One column of a table."""
    return record.kind.lines([variable.name], shown, chosen_of(variable))


def _counts(values: Array) -> list[str]:
    return [f"{value:,.1f}" for value in values]
