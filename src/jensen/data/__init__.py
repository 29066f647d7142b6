"""Tables and variables; the one place that meets dataframes and data files."""

from jensen.data.blocks import Block, RowSource
from jensen.data.discretizing import discretize
from jensen.data.table import Table, read_table
from jensen.data.table_scan import TableScan, as_rows, as_table
from jensen.data.threads import get_threads, set_threads
from jensen.data.variable import Kind, Variable

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
    "set_threads",
]
