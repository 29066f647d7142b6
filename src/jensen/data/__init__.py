"""Tables and variables; the one place that meets dataframes and data files."""

from jensen.data.discretizing import discretize
from jensen.data.table import Block, Table, as_table, read_table
from jensen.data.threads import get_threads, set_threads
from jensen.data.variable import Kind, Variable

__all__ = [
    "Block",
    "Kind",
    "Table",
    "Variable",
    "as_table",
    "discretize",
    "get_threads",
    "read_table",
    "set_threads",
]
