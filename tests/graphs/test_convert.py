import pytest

from jensen.exceptions import GraphError
from jensen.graphs import CPDAG, DAG, PDAG
from jensen.graphs.dag import as_dag


@pytest.mark.parametrize(
    "graph", [DAG("A -> B"), "A -> B", [("A", "B")], PDAG("A -> B"), "[A][B|A]"]
)
def test_whatever_names_a_dag_becomes_one(graph):
    assert as_dag(graph) == DAG("A -> B")


def test_a_class_becomes_one_of_its_members():
    cpdag = CPDAG("A -- B -- C")
    assert as_dag(cpdag).cpdag() == cpdag


@pytest.mark.parametrize("graph", [None, 3, object()])
def test_what_is_no_graph_is_refused(graph):
    with pytest.raises(GraphError, match=r"is no graph: give a text like 'A -> B', or edges"):
        as_dag(graph)
