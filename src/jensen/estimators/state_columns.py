"""Columns of models with hidden states as plain data, and what `fit` makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.estimators.sequences import WHOLE
from jensen.inference.states_file import CHAIN, MIXTURE, plain_part
from jensen.models.emissions.product import parts_of
from jensen.models.emissions.registry import EMISSIONS, USUAL, EmissionRecord, chosen_of, record_of
from jensen.support.json_values import Checked

Array = NDArray[np.float64]

COLUMN_PARTS = {"name", "states", "cuts", "shift", "whole"}
"""What a column may say besides its kind."""


# --- columns ---


def plain_columns(estimator: Any) -> list[dict[str, Any]]:
    """Every column: its name, its kind, its labels, and what is taken off its values."""
    emission = estimator.require_fitted().model.emission
    if _has_variables(estimator):
        columns = [plain_variable(variable) for variable in estimator.variables_]
    else:
        columns = [{"kind": _record(estimator).column} for _ in range(estimator.n_features_in_)]
    for column, is_whole in zip(columns, getattr(estimator, "whole_labels_", ()), strict=False):
        if is_whole:
            column["whole"] = True
    names = _names(estimator)
    for column, name in zip(columns, names or (), strict=False):
        column["name"] = str(name)
    for part in parts_of(emission):
        if record_of(part.emission).is_shifted:
            for place, shift in zip(part.columns, part.emission.shift, strict=True):
                columns[int(place)]["shift"] = float(shift)
    return columns


def tell_emission(estimator: Any, columns: Checked) -> None:
    """Tell a hidden Markov model what its states make: what was chosen, else by its columns."""
    if not hasattr(estimator, "emission"):
        return
    first = next(iter(columns.items()), None)
    kind = ""
    if first is not None and not estimator.emission:
        kind = first.fields({"kind"}, COLUMN_PARTS)["kind"].text()
    estimator.kind_ = estimator.emission or USUAL.get(kind, USUAL["categorical"]).word


def read_columns(estimator: Any, value: Checked) -> Array:
    """Tell the estimator its columns; the shift of each (D,), 0 where there is none."""
    items = [item.fields({"kind"}, COLUMN_PARTS) for item in value.items()]
    if not items:
        value.fail("must name one column at least")
    names = [members["name"].text() for members in items if "name" in members]
    is_table = hasattr(estimator, "n_classes")
    if len(names) < len(items) and (names or is_table):
        value.fail("must have a name each" if is_table else "must have a name each, or none")
    if len(set(names)) < len(names):
        value.fail("repeats a name")
    if is_table and names != sorted(names):
        value.fail("must stand in the order of their names")
    if not is_table:
        estimator.n_features_in_ = len(items)
        if names:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    usual = names or [f"x{i}" for i in range(len(items))]
    if _has_variables(estimator):
        pairs = zip(usual, items, strict=True)
        estimator.variables_ = tuple(read_variable(name, x, is_table) for name, x in pairs)
        if not is_table:
            estimator.whole_labels_ = tuple(map(_are_whole, items))
    else:
        _check_numbers(items, _record(estimator).column)
        if hasattr(estimator, "emission"):
            estimator.variables_, estimator.whole_labels_ = None, ()
    records = [_record(estimator)] * len(items)
    if is_table:
        records = [USUAL[variable.kind] for variable in estimator.variables_]
    return np.array([_shift(r, members) for r, members in zip(records, items, strict=True)])


def _names(estimator: Any) -> list[str] | None:
    """Names of the columns, if they have any."""
    if hasattr(estimator, "n_classes"):
        return [variable.name for variable in estimator.variables_]
    found = getattr(estimator, "feature_names_in_", None)
    return None if found is None else list(map(str, found))


def _record(estimator: Any) -> EmissionRecord:
    """What the columns are, where the model says it; else the columns say it."""
    return EMISSIONS[getattr(estimator, "kind_", USUAL["continuous"].word)]


def _has_variables(estimator: Any) -> bool:
    """Whether columns are of kinds of their own, or have labels."""
    return _record(estimator).has_labels or hasattr(estimator, "n_classes")


def plain_variable(variable: Variable) -> dict[str, Any]:
    """What a file says of a column but its name."""
    members: dict[str, Any] = {"kind": variable.kind}
    if variable.kind == "categorical":
        members["states"] = list(variable.states)
    if variable.cuts is not None:
        members["cuts"] = list(variable.cuts)
    return members


def read_variable(name: str, members: dict[str, Checked], is_table: bool) -> Variable:
    """The inverse of `plain_variable`; but for tables all columns have labels."""
    kind = members["kind"].text()
    if kind != "categorical" and not is_table:
        members["kind"].fail("must be 'categorical' in this model")
    if (kind == "categorical") != ("states" in members):
        members["kind"].fail("must be 'categorical' if there are states, and only then")
    states = tuple(members["states"].texts()) if "states" in members else ()
    if "states" in members and not states:
        members["states"].fail("must name one state at least")
    cuts = tuple(map(float, members["cuts"].numbers())) if "cuts" in members else None
    return Variable(name, kind, states, cuts)  # type: ignore[arg-type]


def _are_whole(members: dict[str, Checked]) -> bool:
    """Whether the labels of a column were given as whole numbers."""
    if "whole" not in members or not members["whole"].flag():
        return False
    if not all(WHOLE.fullmatch(text) for text in members["states"].texts()):
        members["whole"].fail("must be false: a state is no whole number of 18 digits at most")
    return True


def _check_numbers(items: list[dict[str, Checked]], kind: str) -> None:
    """Columns of numbers, all of one kind."""
    for members in items:
        if members["kind"].text() != kind:
            members["kind"].fail(f"must be {kind!r} in this model")
        for name in ("states", "cuts", "whole"):
            if name in members:
                members[name].fail("belongs to columns with labels")


def _shift(record: EmissionRecord, members: dict[str, Checked]) -> float:
    """What is taken off the values of a column, if its emission takes anything."""
    if record.is_shifted != ("shift" in members):
        kind = next(x.column for x in EMISSIONS.values() if x.is_shifted)
        members["kind"].fail(f"must be {kind!r} if there is a shift, and only then")
    return members["shift"].number() if record.is_shifted else 0.0


# --- models ---


def described(estimator: Any, shift: Array) -> dict[str, Any]:
    """The model that `fit` makes, as `FittedStates.to_dict` describes it."""
    is_chain = hasattr(estimator, "emission")
    end = {"end": bool(estimator.end)} if is_chain else {}
    return {
        "model": CHAIN if is_chain else MIXTURE,
        "n_states": int(getattr(estimator, estimator.size)),
        "emission": _described_parts(estimator, shift),
        **end,
    }


def _described_parts(estimator: Any, shift: Array) -> list[dict[str, Any]]:
    """One part for all columns; of labels, and in tables, one for each, by name if there are more.

    A table has columns of different kinds, so that names are needed even of one.
    """
    if not _has_variables(estimator):
        kind = estimator.covariance
        return [plain_part(_record(estimator), range(len(shift)), covariance=kind, shift=shift)]
    is_table, variables = hasattr(estimator, "n_classes"), estimator.variables_
    return [
        plain_part(
            USUAL[variable.kind] if is_table else _record(estimator),
            [i],
            name=variable.name if is_table or len(variables) > 1 else "",
            labels=len(variable.states),
            covariance=chosen_of(variable).covariance,
            shift=shift[[i]],
        )
        for i, variable in enumerate(variables)
    ]
