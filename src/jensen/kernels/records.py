"""Types of the records of arrays that kernels read."""

from typing import Any

from numba import types
from numba.core.sigutils import normalize_signature

from jensen.support.cell_records import CellGroups, GroupKinds, GroupWorkspace
from jensen.support.chain_records import (
    ChainGraph,
    ChainSamples,
    ChainWorkspace,
    MoveCounts,
    ParentWeights,
)
from jensen.support.factor_records import BucketPlan, Messages, PairGraph
from jensen.support.row_records import ColumnRows, ColumnSums, ColumnTables, HalfBytes
from jensen.support.tree_records import (
    CompletedRows,
    CompletionLists,
    EliminationWorkspace,
    Problems,
    Program,
    SetFamilies,
    SolverWorkspace,
    TreeWorkspace,
    Wiring,
)

_INTS = types.int64[::1]
_FLOATS = types.float64[::1]
_BOOLS = types.boolean[::1]

WIRING = types.NamedUniTuple(_INTS, len(Wiring._fields), Wiring)  # what Numba sees in records
FAMILIES = types.NamedUniTuple(_INTS, len(SetFamilies._fields), SetFamilies)  # of one type
PROGRAM = types.NamedUniTuple(_INTS, len(Program._fields), Program)
PROBLEMS = types.NamedTuple([_INTS, _INTS, _INTS, _FLOATS], Problems)
GRAPH = types.NamedTuple([_BOOLS, _INTS, _INTS, _FLOATS, _FLOATS, _INTS], EliminationWorkspace)
DESK = types.NamedTuple([_BOOLS, *[_INTS] * 4], TreeWorkspace)
HALF_BYTES = types.NamedTuple([types.uint8[:, ::1], *[_INTS] * 4], HalfBytes)
_WORDS = types.uint64[:, ::1]
_TABLE, _INDEX = types.float64[:, ::1], types.int64[:, ::1]
_CUBE = types.float64[:, :, ::1]
PARENT_WEIGHTS = types.NamedTuple(
    [
        *(_INDEX, _INDEX, _TABLE, _TABLE, types.int32[:, ::1]),
        *(_TABLE, _CUBE, _FLOATS, _FLOATS),
        *(_INDEX, _CUBE, _TABLE, _TABLE),
    ],
    ParentWeights,
)
CHAIN_WORKSPACE = types.NamedTuple(
    [types.int8[::1], _FLOATS, _FLOATS, _INTS, types.uint64[::1], _INTS, _FLOATS, _INTS],
    ChainWorkspace,
)
CHAIN_GRAPH = types.NamedTuple([_INTS, _INDEX, _WORDS, _WORDS], ChainGraph)
CHAIN_SAMPLES = types.NamedTuple(
    [types.uint64[:, :, ::1], _FLOATS, _FLOATS, types.int16[:, ::1]], ChainSamples
)
MOVE_COUNTS = types.NamedUniTuple(_INTS, len(MoveCounts._fields), MoveCounts)
WORK = types.NamedTuple([_FLOATS, _FLOATS, _FLOATS, _INTS], SolverWorkspace)
COLUMN_ROWS = types.NamedTuple([types.int32[:, ::1], _TABLE, _TABLE, _FLOATS], ColumnRows)
COLUMN_TABLES = types.NamedTuple([_FLOATS, _INTS, *[_TABLE] * 9], ColumnTables)
COLUMN_SUMS = types.NamedUniTuple(_TABLE, len(ColumnSums._fields), ColumnSums)
COMPLETED_ROWS = types.NamedTuple([types.int32[:, ::1], _FLOATS, _INTS, _INTS], CompletedRows)
_CODES = types.int32[::1]
COMPLETION_LISTS = types.NamedTuple(
    [_CODES, *[_INTS] * 3, _FLOATS, _INTS, _CODES, *[_INTS] * 3, _FLOATS], CompletionLists
)

GROUP_KINDS = types.NamedUniTuple(_INTS, len(GroupKinds._fields), GroupKinds)
CELL_GROUPS = types.NamedUniTuple(_INTS, len(CellGroups._fields), CellGroups)
GROUP_WORK = types.NamedUniTuple(_FLOATS, len(GroupWorkspace._fields), GroupWorkspace)

MESSAGES = types.NamedTuple([_INTS, _INTS, *[_FLOATS] * 6], Messages)
PAIR_GRAPH = types.NamedTuple(
    [_INTS, _INTS, _FLOATS, _INTS, _INTS, _FLOATS, _FLOATS, _FLOATS], PairGraph
)
BUCKET_PLAN = types.NamedUniTuple(_INTS, len(BucketPlan._fields), BucketPlan)


def signature(*arguments: Any) -> tuple[Any, ...]:
    """The types of a kernel's arguments; arrays in Numba's notation, records as they are."""
    found: list[Any] = []
    for argument in arguments:
        if isinstance(argument, str):
            found.extend(normalize_signature(f"({argument},)")[0])
        else:
            found.append(argument)
    return tuple(found)
