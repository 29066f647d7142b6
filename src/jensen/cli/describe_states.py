"""Descriptions of hidden states and factors that were learned, for people and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli.describe_model import run_summary, run_was_interrupted, save_model
from jensen.support.text import plural, show_number

if TYPE_CHECKING:
    from jensen.cli.learn_states import LearnedRows
    from jensen.estimators.choosing import ComponentsChoice


class DescribedStates(NamedTuple):
    """A mixture, latent classes or a hidden Markov model, and the rows it was learned from."""

    model: Any
    rows: LearnedRows
    choice: ComponentsChoice | None = None  # which numbers of states were tried

    def save(self, output: str | None) -> None:
        """Write it; - prints it."""
        save_model(self.model, output)

    def summary(self, output: str | None) -> dict[str, Any]:
        """All of it, for programs."""
        n_sequences = self.rows.n_sequences
        return {
            **states_summary(self.model),
            "rows": self.rows.weight,
            **({} if n_sequences is None else {"sequences": n_sequences}),
            **_criteria(self.model, self.rows),
            **({} if self.choice is None else {"candidates": _candidates(self.choice)}),
            "output": output,
        }

    def print(self, output: str | None) -> None:
        """The same for people."""
        weight, n_sequences = self.rows.weight, self.rows.n_sequences
        noun = "row" if weight == 1 else "rows"
        of = "" if n_sequences is None else f" of {plural(n_sequences, 'sequence')}"
        print(f"learned from {show_number(weight)} {noun}{of}")
        if self.choice is not None:
            print(f"{self.choice!r}\n")
        print(self.model.summary())
        for name, value in _criteria(self.model, self.rows).items():
            print(f"{name.upper()} {value:.6f} (lower is better)")
        print()
        if output is None:
            print("Nothing was written: -o model.json keeps the model.")
        else:
            print(f"written to {output}")

    @property
    def was_interrupted(self) -> bool:
        """Whether an interrupt ended the run."""
        return run_was_interrupted(self.model)


def _candidates(choice: ComponentsChoice) -> list[dict[str, Any]]:
    """Every number of states that was tried."""
    return [
        {
            "states": c.n,
            "bound": None if math.isnan(c.value) else c.value,
            "live": c.n_live,
            "pareto_k": c.pareto_k,
        }
        for c in choice.candidates
    ]


def _criteria(model: Any, rows: LearnedRows) -> dict[str, float]:
    """AIC and BIC, where F is the log-likelihood of the rows."""
    from jensen.estimators.reports import meaning

    if meaning(model) != "log-likelihood":
        return {}
    deviance, n_parameters = -2.0 * model.free_energy_, model.n_parameters
    return {
        "aic": deviance + 2.0 * n_parameters,
        "bic": deviance + math.log(rows.weight) * n_parameters,
    }


def states_summary(model: Any) -> dict[str, Any]:
    """A model by the names that people know, for programs."""
    if hasattr(model, "n_factors") and model.noun != "chain":
        return _factors_summary(model)
    if model.noun == "tree":
        return _trees_summary(model)
    if model.noun in ("hidden unit", "unit"):
        found: dict[str, Any] = model.to_dict()
        return found
    if model.noun == "dimension":
        return _series_summary(model)
    if model.noun == "chain":
        return _chains_summary(model)
    from jensen.estimators.reports import algorithm_of
    from jensen.estimators.states_saving import find_kind
    from jensen.estimators.states_summary import column_names, n_live

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
        answer |= run_summary(model)
    return {**answer, "counts": fitted.counts.tolist(), "parameters": _parameters(model)}


def _factors_summary(model: Any) -> dict[str, Any]:
    """A factor analysis, or binary factors."""
    from jensen.cli.inputs import kind_of
    from jensen.estimators.arrays import names_of
    from jensen.estimators.reports import algorithm_of

    fitted = model.require_fitted()
    answer = {
        "model": kind_of(model),
        "factors": fitted.n_factors,
        "live": model.n_factors_,
        "columns": names_of(model, model.n_features_in_),
        "method": algorithm_of(model).name,
        "free_parameters": model.n_parameters,
        **run_summary(model),
    }
    return {**answer, "parameters": _plain(fitted.point._asdict())}


def _trees_summary(model: Any) -> dict[str, Any]:
    """A mixture of trees."""
    from jensen.estimators.reports import algorithm_of

    fitted = model.require_fitted()
    K = fitted.model.n_states
    answer = {
        "model": "trees",
        "states": K,
        "live": model.n_components_,
        "columns": [variable.name for variable in model.variables_],
        "method": algorithm_of(model).name,
        "free_parameters": model.n_parameters,
    }
    if hasattr(model, "free_energy_"):
        answer |= run_summary(model)
    edges = [[[*pair, p] for pair, p in model.edge_probability(k).items()] for k in range(K)]
    return {
        **answer,
        "validation_score": model.validation_score_,
        "counts": fitted.counts.tolist(),
        "parameters": {"weights": model.weights_.tolist(), "edges": edges},
    }


def _chains_summary(model: Any) -> dict[str, Any]:
    """A factorial hidden Markov model."""
    from jensen.cli.inputs import kind_of
    from jensen.estimators.arrays import names_of
    from jensen.estimators.reports import algorithm_of

    return {
        "model": kind_of(model),
        "factors": model.n_factors,
        "states": model.n_states,
        "columns": names_of(model, model.n_features_in_),
        "method": algorithm_of(model).name,
        "free_parameters": model.n_parameters,
        **run_summary(model),
        "parameters": _plain(model.require_fitted().point._asdict()),
    }


def _series_summary(model: Any) -> dict[str, Any]:
    """A linear dynamical system."""
    from jensen.cli.inputs import kind_of
    from jensen.estimators.arrays import names_of
    from jensen.estimators.reports import algorithm_of

    names = names_of(model, model.n_features_in_)
    point = model.require_fitted().point._asdict()
    return {
        "model": kind_of(model),
        "states": model.n_states,
        "live": model.n_states_,
        "outputs": model.outputs_,
        "inputs": [names[i] for i in model.input_columns_],
        "method": algorithm_of(model).name,
        "free_parameters": model.n_parameters,
        **run_summary(model),
        "parameters": {name: _plain(value) for name, value in point.items() if value.size},
    }


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
