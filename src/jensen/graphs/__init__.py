"""Graphs over named variables: names outside, indices inside, never changed once made."""

from jensen.graphs.convert import as_dag
from jensen.graphs.cpdag import CPDAG
from jensen.graphs.dag import DAG
from jensen.graphs.pdag import PDAG
from jensen.graphs.undirected import UndirectedGraph
from jensen.graphs.wiring import Wiring, wire

__all__ = ["CPDAG", "DAG", "PDAG", "UndirectedGraph", "Wiring", "as_dag", "wire"]
