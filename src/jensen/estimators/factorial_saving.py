"""Factorial hidden Markov models as plain data, and back; a page of text.

docs/json-format.md describes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jensen.estimators.arrays import names_of
from jensen.estimators.dynamics_saving import read_column_names
from jensen.estimators.factor_estimator import read_factor_prior
from jensen.estimators.factor_saving import COMMON
from jensen.estimators.reports import (
    Stored,
    Summary,
    algorithm_of,
    learning,
    plain_choices,
    plain_learned,
    read_choices,
    read_learned,
    usual_choices,
)
from jensen.exceptions import JensenError
from jensen.inference.factorial_chains import FittedFactorial
from jensen.support.json_values import Checked, refusing
from jensen.support.text import grid, plural

FORMAT = "jensen-factorial"
MOST_ROWS = 40

STORED = {
    **{name: stored for name, stored in COMMON.items() if name != "accelerate"},
    "n_states": Stored(int, Checked.whole, is_needed=True),
}


def plain_factorial(estimator: Any) -> dict[str, Any]:
    """Choices, what was learned, and the parameters, in the order of files."""
    fitted: FittedFactorial = estimator.require_fitted()
    if not _agrees(estimator, fitted):
        raise JensenError(
            f"{type(estimator).__name__} was fitted with other choices than it has now, and a "
            f"file would hold both: fit it again, or set the choices back"
        )
    chosen = {name: getattr(estimator, name) for name in STORED}
    if estimator.start is not None:
        chosen["start"] = estimator._named_start()
    n = estimator.n_features_in_
    has_names = hasattr(estimator, "feature_names_in_")
    return {
        "format": FORMAT,
        "choices": plain_choices(STORED, chosen, usual_choices(estimator)),
        "learned": plain_learned(estimator),
        "columns": names_of(estimator, n) if has_names else n,
        **fitted.to_dict(),
    }


def _agrees(estimator: Any, fitted: FittedFactorial) -> bool:
    algorithm = estimator._choices_of_loop().algorithm
    sizes = fitted.point.initial.shape == (estimator.n_factors, estimator.n_states)
    return bool(sizes and fitted.has_posterior == algorithm.keeps_posterior)


def read_factorial(value: Checked) -> Any:
    """What `plain_factorial` gave."""
    from jensen.estimators.factorial_hidden_markov import FactorialHiddenMarkovModel

    members, rest = value.parted({"format", "choices", "learned", "columns"})
    estimator = FactorialHiddenMarkovModel(**read_choices(STORED, members["choices"]))
    names = read_column_names(estimator, members["columns"])
    with refusing(f"{value.file}: choices"):
        choices = estimator._choices_of_loop()
        choices.check()
        read_factor_prior(estimator.prior, choices.algorithm, ("concentration",))
    fitted = estimator.fitted_ = FittedFactorial.from_dict(rest)
    if len(fitted.point.offset) != len(names) or not _agrees(estimator, fitted):
        rest.fail("must have the chains, states and columns, and the posterior, that were chosen")
    read_learned(estimator, members["learned"], fitted)
    estimator._show()
    return estimator


def summarise_chains(model: Any) -> Summary:
    """What was learned and how, and what each state adds."""
    fitted = model.require_fitted()
    point, names = fitted.point, names_of(model, model.n_features_in_)
    M, K = point.initial.shape
    parts = [plural(M, "chain"), plural(K, "state"), plural(len(names), "output")]
    parts.append(plural(model.n_parameters, "free parameter"))
    head = [f"{type(model).__name__}({', '.join(parts)})"]
    head += [f"{algorithm_of(model).name}: {text}" for text in learning(model)]
    lines = [["chain", "state", "stays", *names]]
    lines.append(["offset", "", "", *(f"{x:.4g}" for x in point.offset)])
    for m, k in np.ndindex(M, K):
        stays = f"{point.transition[m, k, k]:.3f}"
        lines.append([str(m), str(k), stays, *(f"{x:.4g}" for x in point.effects[m, k])])
    lines.append(["noise", "", "", *(f"{x:.4g}" for x in point.noise)])
    shown = lines[:MOST_ROWS]
    notes = [f"... and {plural(len(lines) - len(shown), 'line')} more"] * (len(lines) > len(shown))
    return Summary("\n".join([*head, "", grid(shown, left=1, rule=True), *notes]))
