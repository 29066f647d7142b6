"""Rows for a model of hidden states: its columns, in sequences if it is a chain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli.inputs import Reading
from jensen.cli.rows import Written, as_written
from jensen.exceptions import JensenError
from jensen.support.text import some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jensen.data import Table


class Groups(NamedTuple):
    """Which rows are sequences, one after the other."""

    lengths: NDArray[np.int64]
    column: str | None

    def weights(self, by_row: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """How often each sequence counts; all its rows must agree."""
        from jensen.estimators.sequences import read_sequence_weights

        return read_sequence_weights(None, self.lengths, by_row)


class StateRows(NamedTuple):
    """A table as a model reads it, and as it was written."""

    written: Written
    groups: Groups
    inputs: Any  # what the model is asked with


def group_rows(table: Table, column: str | None) -> Groups:
    """Sequences by a column: rows that stand together and have the same value in it."""
    import numpy as np

    if column is None or table.n_rows == 0:
        n = table.n_rows
        return Groups(np.array([n] if n else [], np.int64), column)
    found = table.column(column)
    missing = found.missing()
    if missing.any():
        raise JensenError(
            f"row {int(missing.argmax()) + 1} has no value in {column!r}, which tells the sequences"
        )
    begins = np.flatnonzero(np.append(True, found.data[1:] != found.data[:-1]))
    seen: set[Any] = set()
    for row in begins:
        value = found.data[row].item()
        if value in seen:
            states = found.variable.states
            label = states[int(value)] if states else f"{value:g}"
            raise JensenError(
                f"the sequence {label!r} of {column!r} begins again in row {row + 1}: the rows of "
                f"a sequence stand together, in their order, so sort the table by {column!r}"
            )
        seen.add(value)
    return Groups(np.diff(np.append(begins, table.n_rows)), column)


def require_numbers(table: Table, what: str, otherwise: str = "") -> None:
    """Refuse columns with words."""
    from jensen.data.variable import is_number

    for variable in table.variables:
        for label in variable.states:
            if not is_number(label):
                raise JensenError(
                    f"the column {variable.name!r} holds {label!r}, and {what} needs numbers: add "
                    f"--missing {label!r} if that means missing{otherwise}"
                )


def read_state_rows(
    model: Any,
    data: str,
    reading: Reading,
    sequences: str | None,
    weights: str | None = None,
) -> StateRows:
    """Read a DATA argument for a model."""
    from jensen.data import Table
    from jensen.data.encode import encode
    from jensen.estimators.states_summary import column_names

    raws = {raw.name: raw for raw in reading.columns(data)}
    missing = reading.missing or ()
    if sequences is not None and model.noun != "state":
        raise JensenError(f"--sequences belongs to hidden Markov models, not to {_what(model)}")
    names = _names(model, [name for name in raws if name not in (sequences, weights)])
    for name in (*names, sequences, weights):
        if name is not None and name not in raws:
            raise JensenError(
                f"the table has no column {name!r}: its columns are {some(raws)}, and "
                f"{_what(model)} knows {some(column_names(model))}"
            )
    table = Table.from_columns(encode(raws[name], None, None, missing) for name in names)
    table = _as_known(model, table)
    if weights is not None:
        table = table.with_weights(encode(raws[weights], "continuous", None, ()).data)
    groups = group_rows(table, None)
    if sequences is not None:
        column = Table.from_columns([encode(raws[sequences], None, None, missing)])
        groups = group_rows(column, sequences)
    written = Written(as_written(raws.values()), table)
    return StateRows(written, groups, _inputs(model, table))


def _what(model: Any) -> str:
    return f"this {type(model).__name__}"


def _names(model: Any, others: list[str]) -> list[str]:
    """The columns of the model in its order; a model without names takes all that there are."""
    from jensen.estimators.states_summary import column_names

    known = column_names(model)
    has_names = hasattr(model, "feature_names_in_") or hasattr(model, "n_classes")
    return known if has_names or len(others) != len(known) else others


def _as_known(model: Any, table: Table) -> Table:
    """Numbers as numbers; labels as they are, under the names that the model has for them."""
    from jensen.data import Table, Variable
    from jensen.data.encode import Column

    known = getattr(model, "variables_", None)
    if known is None:
        require_numbers(table, _what(model))
        return table.read_as([Variable(name, "continuous") for name in table.names])[0]
    pairs = zip(known, table.names, strict=True)
    columns = [(variable.name, table.column(name)) for variable, name in pairs]
    return Table.from_columns(
        Column(replace(column.variable, name=name), column.data) for name, column in columns
    )


def _inputs(model: Any, table: Table) -> Any:
    """The table as the model takes it: without names, if it has none."""
    if hasattr(model, "feature_names_in_") or hasattr(model, "n_classes"):
        return table
    return table.to_pandas().to_numpy()
