"""Whatever people give where a DAG is needed."""

from typing import Any

from jensen.graphs.cpdag import CPDAG
from jensen.graphs.dag import DAG
from jensen.graphs.pdag import PDAG


def as_dag(graph: Any) -> DAG:
    """A DAG as it is, a (C)PDAG extended consistently, anything else through `DAG`.

    Examples
    --------
    >>> as_dag("A -> B")
    DAG('A -> B')
    """
    if isinstance(graph, DAG):
        return graph
    if isinstance(graph, CPDAG | PDAG):
        return graph.extension()
    return DAG(graph)
