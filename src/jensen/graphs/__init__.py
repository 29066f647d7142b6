"""Graphs over named variables: names outside, indices inside, never changed once made.

The classes are in `dag`, `pdag` (with CPDAGs) and `undirected`; `base` holds what they share.
`indexed_graph` holds nodes and edges by index, with topological orders, cycles and reachability,
and says which names are allowed; `formats` reads and writes text, matrices, networkx and Graphviz.
Further algorithms: `markov` (d-separation, equivalence), `orientation` (Meek's rules, extension to
a DAG), `linear_extensions` (how many orders a DAG allows) and `elimination` (orders that keep
tables small). `wiring` lays out the tables of a discrete network as flat arrays for the kernels.
"""

from jensen.graphs.dag import DAG, as_dag
from jensen.graphs.indexed_graph import wire
from jensen.graphs.pdag import CPDAG, PDAG
from jensen.graphs.undirected import UndirectedGraph
from jensen.support.tree_records import Wiring

__all__ = ["CPDAG", "DAG", "PDAG", "UndirectedGraph", "Wiring", "as_dag", "wire"]
