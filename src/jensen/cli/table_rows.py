"""Rows for a fitted model, beside the same rows as they are written in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.exceptions import JensenError
from jensen.support.text import some

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork


class FileRows(NamedTuple):
    """All columns as they stand in the file, and the table of those that a model reads."""

    columns: dict[str, pa.ChunkedArray]
    table: Table

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    def add(self, name: str, values: pa.Array) -> None:
        """Add a column; refuse a name that is taken."""
        import pyarrow as pa

        if name in self.columns:
            raise JensenError(
                f"the table has a column {name!r} already, and the answer would need that name: "
                f"rename it"
            )
        self.columns[name] = pa.chunked_array([values])


def read_network_rows(given: Given, net: BayesianNetwork, skip: str | None = None) -> FileRows:
    """Read the DATA argument for a network; the column `skip` is not needed."""
    from jensen.data import Table
    from jensen.data.encode import encode
    from jensen.data.model_columns import check_own_columns

    raws = inputs.read_columns(given)
    check_own_columns(
        net.graph.nodes,
        [raw.name for raw in raws],
        hidden=net.hidden or {},
        skip=() if skip is None else (skip,),
        missing_columns=given.missing_columns,
    )
    known = [encode(raw, None, None, given.missing) for raw in raws if raw.name in net.graph]
    return FileRows(_as_written(raws), Table.from_columns(known))


def _as_written(raws: Iterable[Any]) -> dict[str, pa.ChunkedArray]:
    """All columns as they stand in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return {
        raw.name: pc.cast(raw.values, raw.values.type.value_type)
        if pa.types.is_dictionary(raw.values.type)
        else raw.values
        for raw in raws
    }


class RowSequences(NamedTuple):
    """Which rows are sequences, one after the other."""

    lengths: NDArray[np.int64]
    column: str | None
    names: tuple[str, ...] = ()  # what the column says; nothing without one

    def weights(self, by_row: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """How often each sequence counts; all its rows must agree."""
        from jensen.estimators.sequences import read_sequence_weights

        return read_sequence_weights(None, self.lengths, by_row)


class SequenceRows(NamedTuple):
    """A table as a model reads it, and as it was written."""

    written: FileRows
    sequences: RowSequences
    inputs: Any  # what the model is asked with


def find_sequences(table: Table, column: str | None) -> RowSequences:
    """Sequences by a column: rows that stand together and have the same value in it."""
    import numpy as np

    if column is None or table.n_rows == 0:
        n = table.n_rows
        return RowSequences(np.array([n] if n else [], np.int64), column)
    found = table.column(column)
    missing = found.missing()
    if missing.any():
        raise JensenError(
            f"row {int(missing.argmax()) + 1} has no value in {column!r}, which tells the sequences"
        )
    begins = np.flatnonzero(np.append(True, found.data[1:] != found.data[:-1]))
    seen: dict[Any, str] = {}
    for row in begins:
        value = found.data[row].item()
        states = found.variable.states
        label = states[int(value)] if states else f"{value:g}"
        if value in seen:
            raise JensenError(
                f"the sequence {label!r} of {column!r} begins again in row {row + 1}: the rows of "
                f"a sequence stand together, in their order, so sort the table by {column!r}"
            )
        seen[value] = label
    return RowSequences(np.diff(np.append(begins, table.n_rows)), column, tuple(seen.values()))


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


def read_state_rows(given: Given, model: Any, weights: str | None = None) -> SequenceRows:
    """Read the DATA argument for a model with hidden states."""
    from jensen.data import Table
    from jensen.data.encode import encode

    column = given.sequences if "sequences" in given.table else None
    raws = {raw.name: raw for raw in inputs.read_columns(given)}
    names = _names(model, [name for name in raws if name not in (column, weights)])
    check_columns(model, raws, (*names, column, weights))
    table = Table.from_columns(encode(raws[name], None, None, given.missing) for name in names)
    table = _as_known(model, table)
    if weights is not None:
        table = table.with_weights(encode(raws[weights], "continuous", None, ()).data)
    told_apart = table
    if column is not None:
        told_apart = Table.from_columns([encode(raws[column], None, None, given.missing)])
    sequences = find_sequences(told_apart, column)
    written = FileRows(_as_written(raws.values()), table)
    return SequenceRows(written, sequences, rows_for(model, table))


def check_columns(model: Any, columns: Iterable[str], wanted: Iterable[str | None]) -> None:
    """Refuse a table that lacks a column."""
    from jensen.estimators.states_summary import column_names

    known = list(columns)
    for name in wanted:
        if name is not None and name not in known:
            raise JensenError(
                f"the table has no column {name!r}: its columns are {some(known)}, and "
                f"{_what(model)} knows {some(column_names(model))}"
            )


def pick_columns(model: Any, table: Table) -> Table:
    """The columns of a table that a model of rows reads, as it reads them."""
    names = _names(model, list(table.names))
    check_columns(model, table.names, names)
    return _as_known(model, table.select(names))


def _what(model: Any) -> str:
    return f"this {type(model).__name__}"


def _names(model: Any, others: list[str]) -> list[str]:
    """The columns of the model in its order; a model without names takes all that there are."""
    from jensen.estimators.states_summary import column_names

    known = column_names(model)
    has_names = hasattr(model, "feature_names_in_") or getattr(model, "reads_tables", False)
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


def rows_for(model: Any, table: Table) -> Any:
    """The table as the model takes it: without names, if it has none."""
    if hasattr(model, "feature_names_in_") or getattr(model, "reads_tables", False):
        return table
    return table.to_pandas().to_numpy()
