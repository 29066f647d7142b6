"""Many rows, put to a network of tables: read with its own variables, or refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.own_columns import MissingColumns, check_own_columns
from jensen.data.unknown_labels import UnknownLabels, read_known, refuse_unknown
from jensen.exceptions import ImpossibleError, JensenError
from jensen.inference import Network
from jensen.inference.impossible import explain_row
from jensen.text import plural, some


class RowReader(NamedTuple):
    """Reads tables for one network."""

    network: Network
    hidden: Collection[str] = ()

    def recode(
        self, table: Table, missing_columns: MissingColumns, skip: Sequence[str] = ()
    ) -> tuple[Table, UnknownLabels | None]:
        """The columns that the network knows, as its own variables, and labels it does not."""
        check_own_columns(
            self.network.graph.nodes,
            table.names,
            hidden=self.hidden,
            skip=skip,
            missing_columns=missing_columns,
        )
        wanted = [v for v in self.network.variables if v.name in table and v.name not in skip]
        if wanted:  # a table without columns would have no rows
            table = table.select([v.name for v in wanted])
        return read_known(table, wanted)

    def read(
        self,
        table: Any,
        unknown: Literal["raise", "missing"],
        missing_columns: MissingColumns,
        skip: Sequence[str] = (),
    ) -> Table:
        """The same; unknown labels are refused, or missing."""
        rows, strange = self.recode(as_table(table), missing_columns, skip)
        refuse_unknown(strange, unknown)
        return rows

    def check_possible(
        self, rows: Table, possible: NDArray[np.bool_], impossible: Literal["raise", "nan"]
    ) -> None:
        """Refuse rows of probability 0, unless they may go without an answer."""
        if impossible not in ("raise", "nan"):
            raise JensenError(f"impossible must be 'raise' or 'nan', not {impossible!r}")
        if possible.all() or impossible == "nan":
            return
        first = np.flatnonzero(~possible)
        error = explain_row(self.network, rows, "in this network")
        raise ImpossibleError(
            f"{plural(len(first), 'row')} cannot occur ({some(int(i) + 1 for i in first)}); "
            f"{error}, or pass impossible='nan' (--impossible nan)"
        )
