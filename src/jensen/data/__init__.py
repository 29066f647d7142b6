"""Tables and variables; the one place that meets dataframes, data files and threads.

What learners see: `variable` (name, kind, states), `blocks` (the protocol `RowSource`: rows in
blocks, which models encode as units, and sums over both), `table` (rows in memory), `table_scan`
(rows that are read again in every pass), `number_rows` (the same as numbers), `threads`.

Reading: `sources` (dataframes, dicts, arrays), `files` with `delimited` and `dialect` (CSV, TSV,
Parquet), `distinct_values` and `encode` (from an Arrow column to codes or numbers), `table_choices`
(what the caller declares, checked, and the columns that are read so). Of more rows than memory:
`pieces` (some rows at a time), `spill` (columns that grow on disk), `scanning` (both together).
`column_warnings` warns of values that were probably meant otherwise.

Counting: `packed` (columns as kernels read them), `counting` (contingency tables), `statistics`
(what scores read: counts of families, moments of columns).

Writing and using: `convert` (to text, dataframes and files), `discretizing`, `model_columns` (a
table beside a fitted model), `fill_missing` (imputed cells put back).
"""

from jensen.data.blocks import Block, RowSource
from jensen.data.discretizing import discretize
from jensen.data.scanning import scan_table
from jensen.data.table import Table, as_rows, as_table, read_table
from jensen.data.table_scan import TableScan
from jensen.data.variable import Kind, Variable
from jensen.support.machine import get_threads, set_threads

__all__ = [
    "Block",
    "Kind",
    "RowSource",
    "Table",
    "TableScan",
    "Variable",
    "as_rows",
    "as_table",
    "discretize",
    "get_threads",
    "read_table",
    "scan_table",
    "set_threads",
]
