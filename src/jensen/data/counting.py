"""Contingency tables of many families in one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Block, RowSource
from jensen.data.column_warnings import what_names_rows
from jensen.data.encode import MAX_INTEGER_STATES
from jensen.data.packed import Level
from jensen.data.variable import Variable, kind_in_graphs
from jensen.exceptions import DataError
from jensen.support.machine import check_memory
from jensen.support.text import for_reader, leave_out, of_frame, plural, some

if TYPE_CHECKING:
    from jensen.data.table import Table

NS_PER_WORD = 0.33
"""Measured cost of one cell per 64 rows, counted by bitsets."""

NS_PER_ROW = 0.9
"""Measured cost of one row, counted by index, whatever the number of cells."""

MAX_LANED_CELLS = 1 << 16
"""Above this, copies of a table fall out of the cache and cost more than they save."""

MAX_CELLS = 1 << 32
"""Kernels find a cell by a 32-bit number."""

WayOut = Callable[[str], str]
"""Makes the advice of an error about missing values from the advice to keep complete rows."""

Family = Sequence[str]
Counts = NDArray[np.int64]
"""An alias, because annotations of inner functions are evaluated at every call."""


class CountingPlan(NamedTuple):
    """Families and their tables as flat arrays for the counting kernels."""

    ptr: NDArray[np.int64]  # family f has the members ptr[f]:ptr[f + 1]
    member: NDArray[np.int64]  # the byte plane, or the first bitset, of each member
    step: NDArray[np.int64]  # its stride in the table, or its number of bitsets
    at: NDArray[np.int64]  # where each table begins; the last entry is the total


def count_families(table: RowSource, families: Sequence[Family]) -> list[NDArray[np.float64]]:
    """One table of counts per family, an axis per member; rows that miss a member are left out.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"a": ["n", "y", "y"], "b": ["n", "n", None]})
    >>> count_families(table, [("a", "b"), ("a",)])
    [array([[1.],
           [1.]]), array([1., 2.])]
    """
    levels = [[_level(table, name) for name in family] for family in families]
    cells = [_n_cells(family) for family in levels]
    check_memory(8.0 * sum(cells), "the tables of counts", "leave out parents, or merge states")
    if max(cells, default=0) >= MAX_CELLS:
        raise DataError(f"a table of {max(cells):,} counts is too large: leave out parents")
    by_bits = [_bits_pay(table, f, n) for f, n in zip(levels, cells, strict=True)]
    result: list[NDArray[np.float64]] = [np.empty(0)] * len(families)
    for chosen, count in ((True, _count_bits), (False, _count_index)):
        picked = [k for k, bits in enumerate(by_bits) if bits is chosen]
        if not picked:
            continue
        names = {name for k in picked for name in families[k]}
        flat, at = count(table, names, [levels[k] for k in picked])
        for k, (start, stop) in zip(picked, pairwise(at), strict=True):
            result[k] = _known_states(table, families[k], levels[k], flat[start:stop])
    return result


def count_pairs(table: RowSource, names: Sequence[str]) -> NDArray[np.float64]:
    """Counts of every pair of states of every pair of variables.

    Returns
    -------
    (S, S) array, where S is the number of states of all variables together; block (a, b) is the
    table of counts of a and b, and the diagonal blocks hold the counts of single variables.
    """
    if not names:
        return np.zeros((0, 0))
    levels = [_level(table, name) for name in names]
    n_states = sum(table.variable(name).n_states for name in names)
    check_memory(4 * 8.0 * n_states**2, "the counts of all pairs of states", "merge states")
    if table.is_weighted or not all(level.bits for level in levels):
        return _count_pairs_singly(table, names)
    upper = count_meetings(table, names)
    counts = np.triu(upper) + np.triu(upper, 1).T
    gram = np.block(
        [
            [np.array([[table.n_rows]]), counts.diagonal()[None]],
            [counts.diagonal()[:, None], counts],
        ]
    )
    by_difference = [
        level.size == table.variable(n).n_states for n, level in zip(names, levels, strict=True)
    ]
    starts = np.cumsum([1, *(level.size - 1 for level in levels)])
    half = _add_last_states(gram, starts, by_difference)
    return _add_last_states(half.T, starts, by_difference).astype(np.float64)


def count_meetings(table: RowSource, names: Sequence[str]) -> NDArray[np.int64]:
    """Joint counts of every two codes, by ANDs of bitsets; only i <= j is filled.

    The last code of each variable is left out: its counts follow by difference.
    """
    from jensen.kernels import counting

    table.packed.bits(names)  # packed here, before threads start
    _, first, size = table.packed.places(names)
    n = sum(size.tolist()) - len(size)

    def count(block: Block) -> Counts:
        bits, out = block.table.packed.bits(names), np.zeros((n, n), np.int64)
        counting.count_pairs(bits, first, size, block.start // 64, -(-block.stop // 64), out)
        return out

    return np.asarray(table.sum(count))


def _add_last_states(
    gram: NDArray[np.int64], starts: NDArray[np.int64], by_difference: Sequence[bool]
) -> NDArray[np.int64]:
    """Add the row of each last state: the row of ones less the rows of the other states."""
    parts = []
    for (start, stop), missing_none in zip(pairwise(starts), by_difference, strict=True):
        parts.append(gram[start:stop])
        if missing_none:
            parts.append(gram[:1] - gram[start:stop].sum(0, keepdims=True))
    return np.concatenate(parts)


def _count_pairs_singly(table: RowSource, names: Sequence[str]) -> NDArray[np.float64]:
    """Count pairs by one table each: for weighted rows, and for very many states."""
    sizes = [table.variable(name).n_states for name in names]
    at = np.cumsum([0, *sizes])
    out = np.zeros((at[-1], at[-1]))
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    tables = count_families(table, [(names[i], names[j]) for i, j in pairs])
    for (i, j), counts in zip(pairs, tables, strict=True):
        out[at[i] : at[i + 1], at[j] : at[j + 1]] = counts
        out[at[j] : at[j + 1], at[i] : at[i + 1]] = counts.T
    for i, counts in enumerate(count_families(table, [(name,) for name in names])):
        out[at[i] : at[i + 1], at[i] : at[i + 1]] = np.diag(counts)
    return out


def plane_plan(table: RowSource, families: Sequence[Family]) -> CountingPlan:
    """The plan of families for kernels that count row by row, over `table.packed.planes`."""
    return _plan([[_level(table, name) for name in family] for family in families], bits=False)


def is_complete(table: RowSource) -> bool:
    """Whether all columns are categorical and complete; fast, because packing visits all codes.

    False if a column has no states.
    """
    return table.packed.is_complete


def require_complete(table: RowSource, names: Iterable[str], task: str, way_out: WayOut) -> None:
    """Refuse missing values; the error says how many, where, and what to do."""
    counted = table.counted()
    absent = counted.n_missing(names)
    if absent:
        shown = ", ".join(f"{name} ({count:,})" for name, count in list(absent.items())[:8])
        more = f" and {len(absent) - 8} more columns" if len(absent) > 8 else ""
        total = sum(absent.values())
        raise DataError(
            f"{task} needs complete data, but {total:,} value{'s are' if total > 1 else ' is'} "
            f"missing: {shown}{more}; {way_out(_keep_complete(counted, list(absent)))}"
        )


def _keep_complete(table: RowSource, names: Sequence[str]) -> str:
    """The advice to keep the complete rows, or to leave out columns if there are none."""
    n = table.complete_rows(names).n_rows
    if not n:
        return (
            f"leave out the columns with the most gaps (none of the {plural(table.n_rows, 'row')} "
            f"is complete)"
        )
    return (
        f"keep only the {plural(n, 'complete row')} of {table.n_rows:,} with "
        f"{for_reader('table.complete_rows()', '--complete-rows')}"
    )


def counts_as_numbers(table: Table, *, keep_declared: bool = True) -> Table:
    """The same table with count columns as continuous ones, as which graphs take them.

    Columns that the caller declares to be counts stay counts where a network has them.
    """
    kinds = [
        "continuous" if v.kind == "count" and not keep_declared else kind_in_graphs(v)
        for v in table.variables
    ]
    if kinds == [v.kind for v in table.variables]:
        return table
    pairs = zip(table.variables, kinds, strict=True)
    return table.read_as([replace(v, kind=kind) for v, kind in pairs])[0]


def refuse_counts(table: RowSource, names: Iterable[str], *, mixes: bool = False) -> None:
    """Refuse count columns, which the caller must declare as labels or as measurements.

    `mixes`: whether the method takes columns of labels and of numbers together.
    """
    kinds = {name: table.variable(name).kind for name in names}
    found, labels, numbers = (
        [name for name in kinds if kinds[name] == kind]
        for kind in ("count", "categorical", "continuous")
    )
    if not found:
        return
    said = {name: what_names_rows(table.sight().column(name)) for name in found}
    named = {name: what for name, what in said.items() if what is not None}
    rest = [f"{name!r} {what}: leave it out, {leave_out([name])}" for name, what in named.items()]
    counts = [name for name in found if name not in named]
    texts = [_about_counts(counts, labels, bool(numbers), mixes)] if counts else []
    raise DataError("; ".join([*texts, *rest]))


def _about_counts(counts: list[str], labels: list[str], has_numbers: bool, mixes: bool) -> str:
    """The error text for count columns, by the kinds of the other columns."""
    holds = "column {} holds" if len(counts) == 1 else "columns {} hold"
    problem = (
        f"{holds.format(some(map(repr, counts), most=20))} counts (whole numbers with more than "
        f"{MAX_INTEGER_STATES} different values are taken for these), and a graph is learned of"
    )
    measured, few = of_frame(continuous=counts), "make few labels of them with jn.discretize"
    named = f"; or say {of_frame(categorical=counts)} if they are labels"
    if labels and not mixes:
        return (
            f"{problem} labels ({some(map(repr, labels), most=3)}) or of measurements, not of "
            f"both: {few}; or say {measured} and leave the labels out"
            f"{'' if has_numbers else f'{named} as they stand'}"
        )
    return (
        f"{problem} labels or of measurements: say {measured} if they measure something"
        f"{'' if has_numbers and not mixes else named}; or {few}"
    )


def require_states(table: RowSource, name: str) -> Variable:
    """The variable, refused if it is not categorical, or has no states at all."""
    variable = require_categorical(table, name)
    if not variable.states:
        raise DataError(
            f"column {name!r} has no value and no declared states: leave it out of the graph, "
            f"declare {for_reader(f'states={{{name!r}: [...]}}', f'--states {name}=A,B')}, or "
            f"learn it as {for_reader(f'hidden={{{name!r}: 2}}', f'--hidden {name}=2')}"
        )
    return variable


def require_categorical(table: RowSource, name: str) -> Variable:
    """The variable, refused if it has no states to count."""
    variable = table.variable(name)
    if variable.kind != "categorical":
        raise DataError(
            f"column {name!r} is {variable.kind}, and only states can be counted: "
            f"use jn.discretize, or say {of_frame(categorical=[name])}"
        )
    return variable


def _level(table: RowSource, name: str) -> Level:
    return table.packed.levels[require_categorical(table, name).name]


def _n_cells(family: Sequence[Level]) -> int:
    n = 1
    for level in family:
        n *= level.size
    return n


def _bits_pay(table: RowSource, family: Sequence[Level], cells: int) -> bool:
    if table.is_weighted or not family or not all(level.bits for level in family):
        return False
    return cells * table.n_rows / 64 * NS_PER_WORD < table.n_rows * NS_PER_ROW


def _plan(families: Sequence[Sequence[Level]], *, bits: bool) -> CountingPlan:
    member: list[int] = []
    step: list[int] = []
    ptr, at = [0], [0]
    for family in families:
        stride = cells = _n_cells(family)
        for level in family:
            stride //= level.size
            if bits:
                member.append(level.bits.start)
                step.append(level.size)
            else:
                member.extend(level.planes)
                step.extend(stride * 256**k for k in range(len(level.planes)))
        ptr.append(len(member))
        at.append(at[-1] + cells)
    return CountingPlan(*(np.array(x, np.int64) for x in (ptr, member, step, at)))


def _count_bits(
    table: RowSource, names: Iterable[str], families: Sequence[Sequence[Level]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from jensen.kernels import counting

    table.packed.bits(names)  # packed here, before threads start
    plan = _plan(families, bits=True)

    def count(block: Block) -> Counts:
        bits, out = block.table.packed.bits(names), np.zeros(plan.at[-1], np.int64)
        counting.count_bits(bits, *plan, block.start // 64, -(-block.stop // 64), out)
        return out

    return table.sum(count).astype(np.float64), plan.at


def _count_index(
    table: RowSource, names: Iterable[str], families: Sequence[Sequence[Level]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from jensen.kernels import counting

    table.packed.planes(names)  # packed here, before threads start
    plan = _plan(families, bits=False)
    lanes = 4 if plan.at[-1] <= MAX_LANED_CELLS else 1

    def count(block: Block) -> NDArray[np.float64]:
        planes, weights = block.table.packed.planes(names), block.table.weights
        if weights is None:
            out = np.zeros((lanes, plan.at[-1]), np.int32)
            counting.count_index(planes, *plan, block.start, block.stop, out)
            return np.asarray(out.sum(0, dtype=np.float64))
        total = np.zeros(plan.at[-1])
        counting.count_weighted(planes, *plan, block.start, block.stop, weights, total)
        return total

    return table.sum(count), plan.at


def _known_states(
    table: RowSource, family: Family, levels: Sequence[Level], flat: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Drop the cells in which something is missing."""
    states = tuple(slice(table.variable(name).n_states) for name in family)
    return flat.reshape([level.size for level in levels])[states]
