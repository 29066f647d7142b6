"""What `jensen learn` and `jensen show` tell about mixtures and hidden Markov models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jensen.cli import outputs
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.cli.learn_states import Learned


def summary(model: Any, rows: Learned, output: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    learned: dict[str, Any] = {"rows": rows.weight}
    if rows.n_sequences is not None:
        learned["sequences"] = rows.n_sequences
    return {**description(model), **learned, **criteria(model, rows), "output": output}


def tell(model: Any, rows: Learned, output: str | None) -> None:
    """The same for people."""
    noun = "row" if rows.weight == 1 else "rows"
    of = "" if rows.n_sequences is None else f" of {plural(rows.n_sequences, 'sequence')}"
    print(f"learned from {outputs.show_number(rows.weight)} {noun}{of}")
    print(model.summary())
    for name, value in criteria(model, rows).items():
        print(f"{name.upper()} {value:.6f} (lower is better)")
    print()
    if output is None:
        print("Nothing was written: -o model.json keeps the model.")
    else:
        print(f"written to {output}")


def criteria(model: Any, rows: Learned) -> dict[str, float]:
    """AIC and BIC, where F is the log-likelihood of the rows."""
    from jensen.estimators.summary import meaning

    if meaning(model) != "log-likelihood":
        return {}
    deviance, n_parameters = -2.0 * model.free_energy_, model.n_parameters
    return {
        "aic": deviance + 2.0 * n_parameters,
        "bic": deviance + math.log(rows.weight) * n_parameters,
    }


def description(model: Any) -> dict[str, Any]:
    """A model by the names that people know, for programs."""
    from jensen.estimators.states_saving import find_kind
    from jensen.estimators.states_summary import column_names, n_live
    from jensen.estimators.summary import algorithm_of, meaning

    fitted = model.require_fitted()
    answer: dict[str, Any] = {
        "model": find_kind(model).name,
        "states": fitted.model.n_states,
        "live": n_live(model),
        "columns": column_names(model),
        "method": algorithm_of(model).name,
    }
    if hasattr(type(model), "n_parameters"):
        answer["free_parameters"] = int(model.n_parameters)
    if hasattr(model, "free_energy_"):
        answer |= {
            "free_energy": model.free_energy_,
            "meaning": meaning(model),
            "is_bound": model.is_bound_,
            "n_sweeps": model.n_sweeps_,
            "converged": model.converged_,
            "starts": model.starts_.tolist(),
            "r_hat": model.r_hat_,
            "effective_sample_size": model.effective_sample_size_,
        }
    return {**answer, "counts": fitted.counts.tolist(), "parameters": _parameters(model)}


def _parameters(model: Any) -> dict[str, Any]:
    """The parameters of every state; of labels by column and label."""
    from jensen.models.emissions.registry import named_parameters

    names = ("weights", "initial", "transition", "end")
    found = {name: getattr(model, f"{name}_", None) for name in names} | named_parameters(model)
    plain = {name: _plain(value) for name, value in found.items() if value is not None}
    if hasattr(model, "parameters_"):
        plain["columns"] = _plain(model.parameters_)
    labels = [v for v in getattr(model, "variables_", None) or () if v.kind == "categorical"]
    if labels:
        plain["labels"] = {variable.name: list(variable.states) for variable in labels}
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.tolist()
