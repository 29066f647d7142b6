"""What structural EM reads: rows of labels, of numbers or of both, and its choices."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, Variable, as_table
from jensen.data.counting import counts_as_numbers, require_states
from jensen.data.encode import Column
from jensen.data.variable import hidden_variable
from jensen.exceptions import DataError, JensenError
from jensen.q_graph.method_choices import Completion
from jensen.q_graph.structural.mixed import IncompleteMixed
from jensen.q_graph.structural.numbers import IncompleteNumbers
from jensen.q_graph.structural.objective import StructuralRows
from jensen.q_graph.structural.tables import IncompleteTables
from jensen.scores.interventions import split_interventions
from jensen.scores.registry import PARTS
from jensen.scores.table_checks import are_drawn, require_rows
from jensen.support.text import for_reader, keyword

Ints = NDArray[np.int64]

NO_MEANING = "{} has no meaning where {} are missing or hidden: leave it out"


class StructuralChoices(NamedTuple):
    """The arguments of `learn_structure` that structural EM reads."""

    method: str
    score: str | None = None
    equivalent_sample_size: float | None = None
    prior: Any = None
    max_parents: int | None = None
    required: Any = ()
    forbidden: Any = ()
    tiers: Any = ()
    start: Any = None
    restarts: int = 0
    tabu_length: int | None = None
    random_state: Any = None
    interventions: Any = None
    hidden: Mapping[str, Any] | None = None
    completion: Completion = "exact"
    missing_indicators: bool = False
    time_limit: float | None = None
    progress: bool = False
    checkpoint: str | Path | None = None
    prior_mean: Any = None
    mean_strength: float | None = None
    degrees_of_freedom: float | None = None
    scale: Any = None

    @property
    def prior_parts(self) -> tuple[Any, ...]:
        """What the caller chose of the prior of numbers."""
        return tuple(getattr(self, part) for part in PARTS)


def counted_rows(table: RowSource, interventions: Any) -> tuple[Table, Ints | None]:
    """The variables of the rows that have a weight, in memory, and what was set in each row."""
    data, targets = split_interventions(table, interventions)
    require_rows(data)
    if data.total_weight == np.inf:
        raise DataError("the weights are too large: their sum is infinite")
    rows = counts_as_numbers(as_table(data))
    if targets is not None and rows.weights is not None:
        targets = targets[rows.weights > 0.0]
    return rows.counted(), targets


def are_numbers(table: RowSource) -> bool:
    """Whether all columns hold numbers."""
    return all(variable.kind != "categorical" for variable in table.variables)


def are_mixed(table: RowSource, hidden: Mapping[str, Any] | None) -> bool:
    """Whether there are numbers, and labels or hidden variables beside them."""
    are_labels = {variable.kind == "categorical" for variable in table.variables}
    return False in are_labels and (True in are_labels or bool(hidden))


def read_mixed(
    rows: Table, targets: Ints | None, choices: StructuralChoices
) -> tuple[StructuralRows, tuple[str, ...]]:
    """Rows of labels and numbers, and the names of the indicators of missing values."""
    rows, variables, targets, indicators = _with_all(rows, targets, choices)
    return IncompleteMixed.of(rows, variables, targets, choices.prior_parts), indicators


def read_labels(
    rows: Table, targets: Ints | None, choices: StructuralChoices
) -> tuple[StructuralRows, tuple[str, ...]]:
    """Rows of labels, and the names of the indicators of missing values."""
    for name, part in zip(PARTS, choices.prior_parts, strict=True):
        if part is not None:
            raise DataError(NO_MEANING.format(keyword(name), "labels"))
    rows, variables, targets, indicators = _with_all(rows, targets, choices)
    return IncompleteTables.of(rows, variables, targets), indicators


def _with_all(
    rows: Table, targets: Ints | None, choices: StructuralChoices
) -> tuple[Table, tuple[Variable, ...], Ints | None, tuple[str, ...]]:
    """Rows with indicators, all variables, what was set among these, and the indicators' names."""
    columns, indicators = sorted(rows.names), tuple[str, ...]()
    if choices.missing_indicators:
        rows, indicators = with_indicators(rows)
    variables = all_variables(rows, choices.hidden or {})
    names = tuple(variable.name for variable in variables)
    if targets is not None:
        targets = np.array([*map(names.index, columns), -1], np.int64)[targets]
        _refuse_unknown_settings(rows, names, targets)
    rows, targets = without_blank(rows, targets)
    return rows, variables, targets, indicators


def read_numbers(
    rows: Table, targets: Ints | None, choices: StructuralChoices
) -> tuple[StructuralRows, tuple[str, ...]]:
    """Rows of numbers, and the names of the indicators of missing values."""
    indicators = tuple[str, ...]()
    if choices.missing_indicators:
        rows, _, targets, indicators = _with_all(rows, targets, choices)
    else:
        if targets is not None:
            _refuse_unknown_settings(rows, sorted(rows.names), targets)
        rows, targets = without_blank(rows, targets)
    return IncompleteNumbers.of(rows, targets, choices.prior_parts), indicators


def without_blank(table: Table, targets: Ints | None) -> tuple[Table, Ints | None]:
    """The rows that show a value at least.

    Under every graph the others have probability 1. Completed they would lower the bound of VB,
    which holds what they might have been while the graph moves.
    """
    shows = np.zeros(table.n_rows, bool)
    for name in table.names:
        shows |= ~table.column(name).missing()
    if shows.all() or not shows.any():
        return table, targets
    return table.take(shows), None if targets is None else targets[shows]


def all_variables(table: Table, hidden: Mapping[str, Any]) -> tuple[Variable, ...]:
    """All variables, sorted by name: of the columns, and those that are declared hidden."""
    if not isinstance(hidden, Mapping):
        raise JensenError(
            f"hidden must be a dict from name to its number of states, not {hidden!r:.80}"
        )
    taken = [name for name in hidden if name in table]
    if taken:
        raise DataError(f"{taken[0]!r} is declared hidden, but is a column: leave out one of them")
    empty = [name for name in table.names if not table.n_seen(name)]
    if empty and len(empty) == len(table.names):
        raise DataError("there is nothing to learn from: all values are missing")
    if empty and not are_drawn():
        declared = for_reader(f"hidden={{{empty[0]!r}: 2}}", f"--hidden {empty[0]}=2")
        raise DataError(
            f"column {empty[0]!r} has no value at all: leave it out; if there is such a variable, "
            f"leave the column out and declare it hidden with its number of states, {declared}"
        )
    found = [
        require_states(table, x) if table.variable(x).kind == "categorical" else table.variable(x)
        for x in table.names
    ]
    found += [hidden_variable(name, states) for name, states in hidden.items()]
    return tuple(sorted(found, key=lambda variable: variable.name))


def with_indicators(table: Table) -> tuple[Table, tuple[str, ...]]:
    """A table with a further column for every one with holes, which tells where they are.

    Beside numbers alone they are the numbers 0 and 1, since labels have no numbers among their
    parents: a regression of one is a linear model of the probability that a value is missing.
    """
    columns = [table.column(name) for name in table.names]
    variable, as_numbers, added = Variable("", "categorical", ("no", "yes")), are_numbers(table), []
    if as_numbers:
        variable = Variable("", "continuous")
    for column in columns:
        is_missing = column.missing()
        if is_missing.any():
            name = f"{column.variable.name} missing"
            if name in table:
                raise DataError(f"there is a column {name!r} already: rename it")
            codes = is_missing.astype(np.float64) if as_numbers else is_missing.astype(np.uint8)
            added.append(Column(replace(variable, name=name), codes))
    if not added:
        told = for_reader("missing_indicators=True", "--missing-indicators")
        raise DataError(f"{told}: no value is missing, so leave it out")
    found = Table.from_columns([*columns, *added], table.weights)
    return found, tuple(column.variable.name for column in added)


def _refuse_unknown_settings(table: Table, names: Sequence[str], targets: Ints) -> None:
    """Refuse a row that says that a variable was set, but not to what."""
    for v in np.unique(targets[targets >= 0]).tolist():
        unknown = np.flatnonzero((targets == v) & table.column(names[v]).missing())
        if len(unknown):
            raise DataError(
                f"row {unknown[0] + 1:,} says that {names[v]!r} was set, but not to what: its "
                f"value is missing there; fill it in, or leave the row out"
            )
