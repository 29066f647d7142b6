"""`jensen sample` for mixtures and hidden Markov models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.exceptions import JensenError

if TYPE_CHECKING:
    import pyarrow as pa


def sample_states(
    model: Any, n: int, n_sequences: int | None, with_states: bool, seed: int | None
) -> dict[str, pa.ChunkedArray]:
    """Columns of drawn rows."""
    import numpy as np

    if n < 1:
        raise JensenError(f"-n {n}: draw one row at least")
    columns: dict[str, Any] = {}
    if model.noun != "state":
        if n_sequences is not None:
            raise JensenError(f"--n-sequences belongs to an hmm, not to a {type(model).__name__}")
        rows, states = model.sample(n, random_state=seed)
    else:
        drawn, paths = model.sample(n, n_sequences or 1, random_state=seed)
        rows, states = np.concatenate(drawn), np.concatenate(paths)
        if n_sequences is not None:
            columns["sequence"] = np.repeat(np.arange(len(paths)), list(map(len, paths)))
    for name, values in {
        **_by_column(model, rows),
        **({model.noun: states} if with_states else {}),
    }.items():
        if name in columns:
            raise JensenError(f"the model has a column {name!r} already: rename it there")
        columns[name] = values
    return {name: _chunked(values) for name, values in columns.items()}


def _by_column(model: Any, rows: Any) -> dict[str, Any]:
    """Drawn rows column by column; counts as whole numbers."""
    from jensen.estimators.states_summary import column_names
    from jensen.models.emissions.registry import EMISSIONS

    if hasattr(rows, "columns"):  # a dataframe
        kinds = {variable.name: variable.kind for variable in model.variables_}
        return {
            name: rows[name].astype("int64" if kinds[name] == "count" else rows[name].dtype)
            for name in rows.columns
        }
    record = EMISSIONS.get(getattr(model, "emission", None) or "")
    is_count = record is not None and record.column in ("count", "binary")
    columns = rows.astype("int64") if is_count else rows
    return {name: columns[:, i] for i, name in enumerate(column_names(model))}


def _chunked(values: Any) -> pa.ChunkedArray:
    import pyarrow as pa

    array = pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return pa.chunked_array([array])
