"""Linear dynamical systems as plain data, with all that was chosen, and back; a page of text.

docs/json-format.md describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.estimators.arrays import names_of
from jensen.estimators.dynamics_choices import read_dynamics_prior, read_fixed, read_inputs
from jensen.estimators.reports import (
    LOOP,
    METHOD,
    Stored,
    Summary,
    algorithm_of,
    learning,
    plain_choices,
    plain_learned,
    plain_numbers,
    read_choices,
    read_concentrations,
    read_learned,
    text_or_none,
    usual_choices,
)
from jensen.exceptions import JensenError
from jensen.inference.dynamics import FittedDynamics
from jensen.support.json_values import Checked, refusing
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    from jensen.estimators.dynamics_questions import DynamicsQuestions

FORMAT = "jensen-dynamics"
MOST_ROWS = 40
MOST_STATES = 8
"""What fits on a page; the attributes hold all of it."""


def _plain_parts(value: Any) -> Any:
    """Numbers by name; NaN, which is learned, is null."""
    if value is None or isinstance(value, str):
        return value
    return {name: _plain_holes(np.asarray(part, float).tolist()) for name, part in value.items()}


def _plain_holes(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain_holes(part) for part in value]
    return None if np.isnan(value) else float(value)


def _read_parts(value: Checked) -> Any:
    """None, a word, or an object of arrays in which null is learned."""
    if value.is_null() or isinstance(value.value, str):
        return text_or_none(value)
    return {name: _read_holes(part) for name, part in value.members().items()}


def _read_holes(value: Checked) -> Any:
    try:
        return np.array(_as_nan(value.value), np.float64)
    except (TypeError, ValueError, OverflowError):
        value.fail("must be a number or null, or nested lists of them")


def _as_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_nan(part) for part in value]
    return np.nan if value is None else float(value)


def _read_prior(value: Checked) -> Any:
    if value.is_null():
        return None
    return {name: read_concentrations(part) for name, part in value.members().items()}


def _read_columns_of(value: Checked) -> list[Any]:
    """Names or positions of inputs."""
    return [item.text() if isinstance(item.value, str) else item.whole() for item in value.items()]


def _plain_columns_of(inputs: Any) -> list[Any]:
    given = [inputs] if isinstance(inputs, str) else list(inputs)
    return [one if isinstance(one, str) else int(one) for one in given]


STORED = {
    "method": METHOD,
    "prior": Stored(plain_numbers, _read_prior, is_needed=True),
    "n_states": Stored(int, Checked.whole, is_needed=True),
    "inputs": Stored(_plain_columns_of, _read_columns_of),
    "noise": Stored(str, Checked.text),
    "process": Stored(lambda word: word, text_or_none),
    "initial": Stored(_plain_parts, _read_parts),
    "fixed": Stored(_plain_parts, _read_parts),
    "start": Stored(plain_numbers, _read_parts),
    "rotate": Stored(bool, Checked.flag),
    **{name: stored for name, stored in LOOP.items() if name != "accelerate"},
}


def plain_dynamics(estimator: DynamicsQuestions) -> dict[str, Any]:
    """Choices, what was learned, and the parameters, in the order of files."""
    fitted: FittedDynamics = estimator.require_fitted()
    chosen = {name: getattr(estimator, name) for name in STORED}
    if estimator.start is not None:
        chosen["start"] = estimator._named_start()
    if not _agrees(estimator, fitted):
        raise JensenError(
            f"{type(estimator).__name__} was fitted with other choices than it has now, and a "
            f"file would hold both: fit it again, or set the choices back"
        )
    has_names = hasattr(estimator, "feature_names_in_")
    n = estimator.n_features_in_
    return {
        "format": FORMAT,
        "choices": plain_choices(STORED, chosen, usual_choices(estimator)),
        "learned": plain_learned(estimator),
        "columns": names_of(estimator, n) if has_names else n,
        **fitted.to_dict(),
    }


def _agrees(estimator: Any, fitted: FittedDynamics) -> bool:
    """Whether what was learned is what the choices ask for."""
    algorithm = estimator._choices_of_loop().algorithm
    sizes = estimator.n_states == len(fitted.point.transition)
    kept = fitted.has_posterior == algorithm.keeps_posterior
    return bool(sizes and kept and (fitted.samples is not None) == algorithm.q_theta.is_random)


def read_dynamics(value: Checked) -> DynamicsQuestions:
    """What `plain_dynamics` gave."""
    from jensen.estimators.linear_dynamics import LinearDynamicalSystem

    members, rest = value.parted({"format", "choices", "learned", "columns"})
    estimator = LinearDynamicalSystem(**read_choices(STORED, members["choices"]))
    names = read_column_names(estimator, members["columns"])
    fitted = FittedDynamics.from_dict(rest)
    with refusing(f"{value.file}: choices"):
        choices = estimator._choices_of_loop()
        choices.check()
        read_dynamics_prior(estimator, choices.algorithm)
        found = read_inputs(estimator.inputs, names)
        estimator.output_columns_, estimator.input_columns_ = found
        sizes = len(found[0]), len(found[1]), estimator.n_states
        read_fixed(estimator, sizes, choices.algorithm)
    point = fitted.point
    if (len(point.offset), point.input_transition.shape[1], len(point.transition)) != sizes:
        rest.fail(
            f"must have parameters of {plural(sizes[0], 'output')}, {plural(sizes[1], 'input')} "
            f"and {plural(sizes[2], 'state')}"
        )
    if not _agrees(estimator, fitted):
        rest.fail("must have a posterior, or samples, if the method keeps them, and none else")
    estimator.fitted_ = fitted
    read_learned(estimator, members["learned"], fitted)
    estimator._show()
    return estimator


def read_column_names(estimator: Any, value: Checked) -> list[str]:
    """The names of the columns; x0, x1, ... where there are none."""
    if isinstance(value.value, list):
        names = value.texts()
        if not names or len(set(names)) < len(names):
            value.fail("must name each column once")
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)
        return names
    estimator.n_features_in_ = value.whole()
    if estimator.n_features_in_ < 1:
        value.fail("must be 1 or more")
    return names_of(estimator, estimator.n_features_in_)


# --- a page of text ---


def summarise(model: DynamicsQuestions) -> Summary:
    """What was learned and how, and the parameters."""
    fitted = model.require_fitted()
    point, names = fitted.point, model.outputs_
    K, D, U = len(point.transition), len(names), len(model.input_columns_)
    parts = [plural(K, "state"), plural(D, "output")]
    if U:
        parts.append(plural(U, "input"))
    parts.append(plural(model.n_parameters, "free parameter"))
    head = [f"{type(model).__name__}({', '.join(parts)})"]
    head += [f"{algorithm_of(model).name}: {text}" for text in learning(model)]
    if fitted.n_live is not None:
        verb = "lives" if fitted.n_live == 1 else "live"
        head.append(f"{fitted.n_live} of {plural(K, 'state')} {verb}: the order of the system")
    roots = np.linalg.eigvals(point.transition)
    sizes = np.sort(np.abs(roots))[::-1][:MOST_STATES]
    head.append(f"moduli of the eigenvalues of the transition: {_numbers(sizes)}")
    head.append(
        f"variances of the states' noise: {_numbers(np.diagonal(point.process_covariance))}"
    )
    shown = min(K, MOST_STATES)
    lines = [["output", *(f"state {k}" for k in range(shown)), "offset", "noise"]]
    noise = np.diagonal(point.noise_covariance)
    for d, name in enumerate(names[:MOST_ROWS]):
        numbers = [*point.loadings[d, :shown], point.offset[d], noise[d]]
        lines.append([name, *(f"{x:.4g}" for x in numbers)])
    notes = []
    if shown < K:
        notes.append(f"... and {plural(K - shown, 'state')} more")
    if D > MOST_ROWS:
        notes.append(f"... and {plural(D - MOST_ROWS, 'output')} more")
    return Summary("\n".join([*head, "", grid(lines, left=1, rule=True), *notes]))


def _numbers(values: Any) -> str:
    text = ", ".join(f"{x:.4g}" for x in values[:MOST_STATES])
    return text + (", ..." if len(values) > MOST_STATES else "")
