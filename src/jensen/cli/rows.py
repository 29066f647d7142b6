"""Tables that pass through a command: what it does not change comes out as it was written."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.exceptions import JensenError

if TYPE_CHECKING:
    import pyarrow as pa

    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork


class Written(NamedTuple):
    """A table twice: all columns as they stand in the file, and those of a network, read."""

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


def read_written(
    data: str,
    reading: inputs.Reading,
    net: BayesianNetwork,
    skip: str | None = None,
    missing_columns: Any = "warn",
) -> Written:
    """Read a DATA argument for a network; the column `skip` is not asked for."""
    from jensen.data import Table
    from jensen.data.encode import encode

    raws = reading.columns(data)
    inputs.check_columns(net, [raw.name for raw in raws], skip, missing_columns)
    gone = reading.missing or ()
    known = [encode(raw, None, None, gone) for raw in raws if raw.name in net.graph]
    return Written(as_written(raws), Table.from_columns(known))


def as_written(raws: Iterable[Any]) -> dict[str, pa.ChunkedArray]:
    """All columns as they stand in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return {
        raw.name: pc.cast(raw.values, raw.values.type.value_type)
        if pa.types.is_dictionary(raw.values.type)
        else raw.values
        for raw in raws
    }


def write_rows(columns: dict[str, pa.ChunkedArray], output: str) -> None:
    """Write a table to a file; - prints CSV."""
    import pyarrow as pa

    from jensen.data.convert import write_file
    from jensen.data.files import write_arrow

    if output == "-":
        sys.stdout.flush()
        write_arrow(pa.table(columns), sys.stdout.buffer, ".csv")
    else:
        write_file(pa.table(columns), output)
