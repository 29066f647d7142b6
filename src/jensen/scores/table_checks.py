"""Which tables a score can read: rows, complete values, states, finite numbers that vary.

The data say nothing of edges at columns that do not vary. Constant labels: only the prior decides
about edges, and learners warn of it. Constant numbers: the residual is 0 whatever the parents are,
so a likelihood has no bound, and BGe is left with its prior alone, by which it even joins two
constants. Such columns are left out of the score and have no edges in any graph. A fitted network
leaves them out as well, because nothing says how much they vary: with a variance of 0 the density
of a row would be infinite, or 0.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.data.column_warnings import columns_to_check
from jensen.data.counting import WayOut, require_complete
from jensen.data.statistics import spread
from jensen.data.variable import Variable
from jensen.exceptions import DataError, warn
from jensen.support.arguments import LARGEST
from jensen.support.text import for_reader, in_python, leave_out, of_frame, plural, some

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""A column whose range is a smaller share of its largest value is constant up to rounding."""

FIRST_ROWS = 32
"""So many rows are looked at first: most columns of labels vary there already."""


class _Notes(NamedTuple):
    """Names of constant columns that were found while `noting` collects them."""

    names: set[str]
    is_drawn: bool  # whether the rows are a part of the caller's, in which the columns may vary


_notes: ContextVar[_Notes | None] = ContextVar("notes", default=None)


def constant_columns(table: RowSource, names: Sequence[str]) -> tuple[int, ...]:
    """Positions of the complete columns that are constant up to rounding."""
    if not table.n_rows:
        return ()
    ranges = [table.range_of(name) for name in names]
    return tuple(v for v, (_, least, most) in enumerate(ranges) if is_constant(least, most))


def is_constant(least: float, most: float) -> bool:
    """Whether values in this range are equal up to rounding."""
    return most - least <= ROUNDING * max(abs(least), abs(most))


def warn_of_constants(names: Sequence[str], left_out_of: str = "score") -> None:
    """Warn of columns that are left out of a "score", of a "network", or of "both".

    Under `noting` their names are collected instead.
    """
    notes = _notes.get()
    if notes is not None:
        notes.names.update(names)
    elif names:
        it_is, varies, alone, column = "they are", "they vary", "each stands alone", "columns"
        if len(names) == 1:
            it_is, varies, alone, column = "it is", "it varies", "stands alone", "column"
        consequences = {
            "score": f"the data say nothing of edges there: {it_is} left out of the score, and "
            f"{alone} in the graph. Leave the {column} out {OF_TABLE} to silence this",
            "network": f"nothing says how much {varies}: {it_is} left out of the network. Leave "
            f"the {column} out of the graph to silence this, or {OWN_SCALE}",
            "both": f"the data say nothing of edges there, nor of how much {varies}: {it_is} left "
            f"out of the score and of the network, and {alone} in the graph. Leave the {column} "
            f"out {OF_TABLE} to silence this",
        }
        warn(f"{_are(names)} constant, so {consequences[left_out_of]}")


def warn_of_guessed_spread(names: Sequence[str]) -> None:
    """Warn of constant columns whose variance the prior of Gaussian states guesses.

    Under `noting` their names are collected instead.
    """
    notes = _notes.get()
    if notes is not None:
        notes.names.update(names)
    elif names:
        varies, column = ("it varies", "column") if len(names) == 1 else ("they vary", "columns")
        warn(
            f"{_are(names)} constant, so nothing says how much {varies}: the prior takes the "
            f"variance for 1, and all that is learned of it is this guess. Leave the {column} "
            f"out{for_reader('', ' with --without')}, or give the prior a scale, {GIVEN_SCALE}"
        )


GIVEN_SCALE = for_reader("prior={'scale': ...}", "--prior scale=...")
OF_TABLE = for_reader("of the table", "with --without")
OWN_SCALE = for_reader(
    "give the prior a scale of its own, prior={'scale': 'unit'}",
    "give the prior a scale of its own, --prior bge --scale unit",
)


def warn_of_constant_numbers(data: RowSource) -> None:
    """Warn of columns of numbers that never vary, which tests take for independent.

    Under `noting` their names are collected instead.
    """
    numbers = [v.name for v in data.variables if v.kind != "categorical"]
    ranges = {name: data.range_of(name) for name in numbers if data.n_seen(name)}
    found = [name for name, each in ranges.items() if each.least == each.most]
    notes = _notes.get()
    if notes is not None:
        notes.names.update(found)
    elif found:
        warn(
            f"{plural(len(found), 'column')} of numbers without variation, "
            f"{some(map(repr, found))}: the data say nothing of edges there, and every test calls "
            f"them independent: leave them out"
        )


def warn_of_constant_labels(
    table: RowSource,
    names: Iterable[str] | None = None,
    learned: Literal["graph", "network", "states"] = "graph",
) -> None:
    """Warn, once for a table, of columns with one label only, and of a table of one row.

    Parameters
    ----------
    names
        The columns that are learned from; all unless given.
    learned
        What is learned. For a "graph" the warning names all such columns. A "network" also has
        parameters for declared states that never occur, so only columns with a single state are
        named. For hidden "states" there is no warning: such columns do no harm.
    """
    chosen = columns_to_check(table, names, "varies")
    chosen = [name for name in chosen if table.variable(name).kind == "categorical"]
    n_rows = table.counted().n_rows
    if n_rows == 1 and chosen:
        warn(
            "there is one row to learn from, which says nothing of how columns vary or depend on "
            "each other: what is learned is that row, or the prior. Give more rows"
        )
    elif learned != "states":
        if learned == "network":
            chosen = [name for name in chosen if table.variable(name).n_states == 1]
        _warn_of_labels(_only_labels(table, chosen), learned)


def _only_labels(table: RowSource, names: Iterable[str]) -> dict[str, str]:
    """The label that all known values of a column have, for the columns that have only one."""
    found = {name: set[int]() for name in names}
    n_states = {name: table.variable(name).n_states for name in found}
    for block in table.blocks() if found else ():
        for name, codes in found.items():
            own = block.values(name)
            if len({*own[:FIRST_ROWS].tolist()} - {n_states[name]}) > 1:  # most columns vary soon
                codes.update((0, 1))
            elif len(codes) < 2:
                known = own[own < n_states[name]]
                codes.update((int(known.min()), int(known.max())) if len(known) else ())
        found = {name: codes for name, codes in found.items() if len(codes) < 2}
        if not found:
            break
    return {name: table.variable(name).states[x] for name, codes in found.items() for x in codes}


def _warn_of_labels(found: Mapping[str, str], learned: str) -> None:
    if not found:
        return
    them, each = ("it", "") if len(found) == 1 else ("them", " each")
    shown = some((f"{name!r} ({label!r:.40})" for name, label in found.items()), most=20)
    columns = f"column {shown} holds" if len(found) == 1 else f"columns {shown} hold"
    if learned == "graph":
        warn(
            f"{columns} one label only{each}, so the data say nothing of edges there, and what is "
            f"said of them rests on the prior. Leave {them} out, {leave_out(list(found))}"
        )
    else:
        first = next(iter(found))
        declared = for_reader(f"states={{{first!r}: [...]}} of a jn.Table", f"--states {first}=A,B")
        warn(
            f"{columns} one label only{each}, to which the network gives the probability 1, as if "
            f"there were no other: say which there are, {declared}, or leave {them} out of "
            f"the graph"
        )


def warn_of_drawn_constants(n_tables: Mapping[str, int], n: int) -> None:
    """Warn of columns that are constant in some of n tables that were drawn from one."""
    if n_tables:
        most = max(n_tables.values())
        warn(
            f"{_are(sorted(n_tables))} constant in up to {most:,} of the {n:,} tables that were "
            f"drawn, so the graphs learned from these have no edges there"
        )


def warn_of_constant_folds(n_folds: Mapping[str, int], n: int) -> None:
    """Warn of columns that are constant in the training rows of some of n folds."""
    if n_folds:
        most, vary = max(n_folds.values()), "it varies" if len(n_folds) == 1 else "they vary"
        warn(
            f"{_are(sorted(n_folds))} constant in the training rows of up to {most:,} of the {n:,} "
            f"folds, so nothing there says how {vary}: the losses of all folds are those of the "
            f"other columns, and the graphs of these folds have no edges there"
        )


@contextmanager
def noting(*, is_drawn: bool = True) -> Iterator[set[str]]:
    """Collect the names of constant columns in this thread, in place of warnings.

    `is_drawn`: the tables are parts of the caller's table, in which the columns may vary, so edges
    at constant columns are no error of the caller and are not refused.
    """
    found: set[str] = set()
    token = _notes.set(_Notes(found, is_drawn))
    try:
        yield found
    finally:
        _notes.reset(token)


def are_drawn() -> bool:
    """Whether tables are drawn from the caller's, so that a constant column is no error."""
    notes = _notes.get()
    return notes is not None and notes.is_drawn


def refuse_edges(
    names: Sequence[str],
    parents: Sequence[Sequence[int]],
    constant: Set[int],
    done: str = "scored",
) -> None:
    """Refuse a graph with an edge at one of the constant columns."""
    for v, above in enumerate(parents):
        for u in above:
            if u in constant or v in constant:
                one = names[u if u in constant else v]
                raise DataError(no_edge(names[u], names[v], one, done))


def no_edge(a: str, b: str, constant: str, done: str = "scored") -> str:
    """The error text for an edge at a constant column."""
    return (
        f"the edge {a} -> {b} cannot be {done}: column {constant!r} is constant, so the data say "
        f"nothing of it; leave out the edge, or the column"
    )


def _are(names: Sequence[str]) -> str:
    shown = some(map(repr, names), most=20)
    return f"column {shown} is" if len(names) == 1 else f"columns {shown} are"


log = logging.getLogger("jensen")

CONVENTION = (
    "in a graph of labels and numbers, arrows from labels to numbers are a convention, not learned"
)
"""What every graph of both kinds of columns is told with."""

NARROWEST = 1e-140
"""The least range of a column: the square of a smaller number is as good as 0."""


def note_columns(variables: Sequence[Variable], *, is_class: bool = True) -> tuple[str, ...]:
    """What the kinds of the columns mean for a graph, in words; each note is logged too.

    `is_class`: whether edges between a label and a number all lead to the number. In tables that
    are drawn from the caller's nothing is logged.
    """
    counts = [v.name for v in variables if v.kind == "count" and not v.is_declared]
    notes = []
    if counts:
        them = "it is" if len(counts) == 1 else "they are"
        notes.append(
            f"{some(map(repr, counts), most=20)} {'holds' if len(counts) == 1 else 'hold'} whole "
            f"numbers: {them} taken as numbers (say {of_frame(categorical=counts)} for labels, or "
            f"{of_frame(counts=counts)} for Poisson counts given labels)"
        )
    if is_class and len({v.kind == "categorical" for v in variables}) > 1:
        notes.append(CONVENTION)
    for note in notes if not are_drawn() else ():
        log.info(in_python(note), extra={"marked": note})
    return tuple(map(in_python, notes))


def require_continuous(table: RowSource, names: Sequence[str], what: str) -> None:
    """Refuse columns of another kind, and values that are no numbers."""
    kinds = {name: table.variable(name).kind for name in names}
    states = [name for name, kind in kinds.items() if kind == "categorical"]
    if states and len(states) == len(names):
        raise DataError(
            f"{what} needs continuous columns, and {some(map(repr, states))} "
            f"{'is' if len(states) == 1 else 'are'} categorical: say "
            f"{of_frame(continuous=states)} if they are numbers"
        )
    if states:
        raise DataError(
            f"{what} cannot mix states with numbers, and {some(map(repr, states))} "
            f"{'is' if len(states) == 1 else 'are'} categorical: leave them out, make states of "
            f"the others with jn.discretize, or say {of_frame(continuous=states)} "
            f"if they are numbers"
        )
    require_finite(table, names)


def require_finite(table: RowSource, names: Sequence[str]) -> None:
    """Refuse numbers that are infinite, or so large that their squares are."""
    for name in names:
        _, low, high = table.range_of(name)
        most = np.fmax(-low, high)
        if np.isinf(most):
            refuse_infinite(table, [name])
        if most > LARGEST:
            raise DataError(
                f"column {name!r} holds numbers as large as {most:.3g}, which overflow when they "
                f"are squared: divide the column"
            )


def refuse_infinite(table: RowSource, names: Sequence[str]) -> None:
    """Refuse infinite numbers, naming the first."""
    for name in names:
        if not np.isinf(table.range_of(name)).any():
            continue
        is_infinite = np.concatenate([np.isinf(block.values(name)) for block in table.blocks()])
        raise DataError(
            f"column {name!r} holds an infinite value in row {int(is_infinite.argmax()) + 1}, "
            f"which no Gaussian has: correct it, or make it missing, "
            f"{of_frame(missing=['inf', '-inf'])}"
        )


def refuse_narrow(table: RowSource, names: Sequence[str]) -> None:
    """Refuse columns whose values differ by so little that a variance cannot be written down."""
    for name in names if table.n_rows else ():
        width = spread(table, name)
        if 0.0 < width < NARROWEST:
            raise DataError(
                f"the values of column {name!r} differ by {width:.3g} at most, whose square is as "
                f"good as 0: multiply the column"
            )


def complete_rows(
    table: RowSource, names: Sequence[str], score: str
) -> tuple[RowSource, NDArray[np.bool_]]:
    """The rows that have a weight, and which they are; refused if a value is missing in one."""
    require_values(
        table, names, f"the score {score!r}", lambda keep: f"fill them in (net.impute), or {keep}"
    )
    if not table.is_weighted:
        return table, np.ones(table.n_rows, bool)
    return table.counted(), np.concatenate([block.weights > 0.0 for block in table.blocks()])


def require_rows(table: RowSource) -> None:
    """Refuse a table without rows: all graphs would score the same."""
    if table.total_weight == 0.0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")


def require_values(table: RowSource, names: Sequence[str], task: str, way_out: WayOut) -> None:
    """Refuse missing values; the only advice for a column without any value is to leave it out."""
    counted = table.counted()
    absent = counted.n_missing(names)
    for name, n_missing in absent.items():
        if n_missing == counted.n_rows:
            raise DataError(f"column {name!r} has no value at all: leave it out")
    if absent:
        require_complete(counted, list(absent), task, way_out)


def refuse_stateless(table: RowSource, names: Sequence[str]) -> None:
    """Refuse columns without values and without declared states."""
    for name in names:
        variable = table.variable(name)
        if variable.kind != "categorical" or variable.states:
            continue
        raise DataError(f"column {name!r} has no value at all: leave it out")
