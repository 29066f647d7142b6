"""What states of a hidden Markov model make of a step, where the caller did not say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from jensen.data import Table, Variable
from jensen.data.encode import encode
from jensen.data.sources import raw_columns
from jensen.estimators.arrays import is_file, refuse_dates
from jensen.exceptions import JensenError
from jensen.models.emissions.registry import EMISSIONS, USUAL, owner_of

ADVICE = "give columns of one kind, or say which it is with emission="


def emission_of(variables: Iterable[Variable], advice: str = ADVICE) -> str:
    """What states make of columns of these kinds; columns of different kinds are refused.

    Beside numbers counts are numbers too.
    """
    known = tuple(variables)
    kinds = {variable.kind for variable in known}
    if len(kinds) == 1:
        return USUAL[kinds.pop()].word
    if "categorical" in kinds:
        shown = ", ".join(f"{v.name} is {v.kind}" for v in known)
        raise JensenError(
            f"the columns are of different kinds ({shown:.200}), and states of a hidden Markov "
            f"model make one kind: {advice}"
        )
    return USUAL["continuous"].word


def find_emission(estimator: Any, rows: Any) -> str:
    """The emission that was chosen; else that of `symbols`, of `start`, or of the columns."""
    if estimator.emission is not None:
        return str(estimator.emission)
    if estimator.symbols is not None:
        return owner_of("symbols").word
    start = estimator.start
    known = getattr(start, "kind_", None)
    if known is not None:
        return str(known)
    told = _told_by(start) if isinstance(start, Mapping) else []
    return told[0] if len(told) == 1 else emission_of(_variables(rows))


def _told_by(start: Mapping[str, Any]) -> list[str]:
    """The emissions that have parameters of the names in a start."""
    return [word for word, x in EMISSIONS.items() if not start.keys().isdisjoint(x.parameters)]


def _variables(rows: Any) -> tuple[Variable, ...]:
    """The columns as a `Table` takes them: kinds by the same rules as those of a file."""
    if isinstance(rows, Table):
        return rows.variables
    refuse_dates(rows, f"say emission={owner_of('symbols').word!r} if they are labels")
    if is_file(rows) or (hasattr(rows, "columns") and not isinstance(rows, np.ndarray)):
        return Table(rows).variables
    unknown = (Variable("x0", "continuous"),)  # what is no table is refused when it is read
    if issparse(rows):
        return unknown
    array = np.asarray(rows, dtype=object if isinstance(rows, list | tuple) else None)
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2 or columns.dtype.kind not in "biufOUST" or columns.size == 0:
        return unknown
    if columns.dtype.kind == "f" and not np.isfinite(columns[~np.isnan(columns)]).all():
        return unknown
    is_object = columns.dtype == object
    named = {f"x{i}": list(x) if is_object else x for i, x in enumerate(columns.T)}
    return tuple(encode(raw, None, None, ()).variable for raw in raw_columns(named))
