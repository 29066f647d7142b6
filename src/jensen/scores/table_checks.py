"""Which tables a score can read: rows, complete values, states, finite numbers."""

import logging
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.data.counting import WayOut, require_complete
from jensen.data.statistics import spread
from jensen.data.variable import Variable
from jensen.exceptions import DataError, JensenError
from jensen.scores.constant_columns import are_drawn
from jensen.scores.registry import DEFAULTS, SPECS, names_of
from jensen.support.arguments import LARGEST, called_here
from jensen.support.text import in_python, of_frame, some

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
    counts = [v.name for v in variables if v.kind == "count"]
    notes = []
    if counts:
        them = "it is" if len(counts) == 1 else "they are"
        notes.append(
            f"{some(map(repr, counts), most=20)} {'holds' if len(counts) == 1 else 'hold'} whole "
            f"numbers: {them} taken as numbers (say {of_frame(categorical=counts)} for labels)"
        )
    if is_class and len({v.kind == "categorical" for v in variables}) > 1:
        notes.append(CONVENTION)
    for note in notes if not are_drawn() else ():
        log.info(in_python(note), extra={"marked": note})
    return tuple(map(in_python, notes))


def check_gaussian_score(score: str) -> None:
    """Refuse the name of a score that continuous columns do not have."""
    names = sorted(names_of("continuous"), key=lambda name: name != DEFAULTS["continuous"])
    if score not in names:
        raise JensenError(
            f"there is no score {score!r} of continuous columns: choose one of "
            f"{', '.join(names)}, or make states of the columns with jn.discretize"
            f"{'' if score in SPECS else called_here(score, names)}"
        )


def check_mixed_score(score: str, label: str, number: str) -> None:
    """Refuse the name of a score that labels and numbers together do not have."""
    names = sorted(names_of("mixed"), key=lambda name: name != DEFAULTS["mixed"])
    if score not in names:
        raise DataError(
            f"there is no score {score!r} of labels and numbers together, and {label!r} is "
            f"categorical and {number!r} holds numbers: choose one of {', '.join(names)}, make "
            f"states of the numbers with jn.discretize, or leave out the columns of one kind"
            f"{'' if score in SPECS else called_here(score, names)}"
        )


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
