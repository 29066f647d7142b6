"""Many rows, put to a network of tables: read with its own variables, or refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.fill_missing import Filled
from jensen.data.model_columns import (
    MissingColumns,
    UnknownLabels,
    check_own_columns,
    read_known,
    refuse_unknown,
    warn_of_unknown,
)
from jensen.exceptions import ImpossibleError, JensenError
from jensen.inference.completions import complete
from jensen.inference.fitted import Method, RowChoices
from jensen.inference.impossible import explain_row
from jensen.inference.rows import all_posteriors
from jensen.inference.rows import log_likelihood as each_log_likelihood
from jensen.support.text import plural, some

if TYPE_CHECKING:
    from jensen.inference.network import Network

Array = NDArray[np.float64]


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


def posteriors(network: Network, table: Table, target: str | None, choices: RowChoices) -> Any:
    """P(target | the rest of the row), (N, K); without a target of every variable, by name."""
    reader = RowReader(network, choices.hidden)
    skip = () if target is None else (target,)
    rows = reader.read(table, choices.unknown, choices.missing_columns, skip)
    if target is not None:
        v = network.index(target)
        found, possible = all_posteriors(network, rows, [v], [v])
    else:
        absent = [v for v, name in enumerate(network.graph.nodes) if name not in rows]
        found, possible = all_posteriors(network, rows, absent, range(len(network.variables)))
    reader.check_possible(rows, possible, choices.impossible)
    if target is not None:
        return found[v]
    return {network.variables[v].name: values for v, values in found.items()}


def fill(
    network: Network, data: Table, method: Method, rng: np.random.Generator, choices: RowChoices
) -> dict[str, Filled]:
    """Columns as the network's own variables, before and after gaps were filled, by name."""
    reader = RowReader(network, choices.hidden)
    rows = reader.read(data, choices.unknown, choices.missing_columns)
    filled, lost = complete(network, rows, method, rng)
    reader.check_possible(rows, ~lost, choices.impossible)
    known = [name for name in data.names if name in filled]
    return {name: Filled(rows.column(name), filled.column(name)) for name in known}


def log_likelihood(network: Network, table: Table, choices: RowChoices) -> Array:
    """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
    rows, strange = RowReader(network, choices.hidden).recode(table, choices.missing_columns)
    found = each_log_likelihood(network, rows)
    if strange is not None:
        warn_of_unknown(strange)
        found[strange.rows] = -np.inf
    return found
