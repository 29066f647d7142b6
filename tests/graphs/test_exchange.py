import sys

import networkx as nx
import numpy as np
import pytest

from jensen.exceptions import GraphError
from jensen.graphs import CPDAG, DAG, PDAG, UndirectedGraph


def test_adjacency_goes_by_name_not_by_place():
    dag = DAG.from_adjacency([[0, 2.5, 0], [0, 0, 0], [0, -1, 0]], ["C", "A", "B"])
    assert dag == DAG("C -> A <- B")
    assert dag.adjacency.tolist() == [[False] * 3, [True, False, False], [True, False, False]]
    assert dag.adjacency.dtype == np.bool_


def test_two_way_entries_are_undirected_edges():
    matrix = [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    assert PDAG.from_adjacency(matrix, ["A", "B", "C"]) == PDAG("A -- B <- C")
    assert UndirectedGraph.from_adjacency([[0, 1], [1, 0]], ["A", "B"]) == UndirectedGraph("A - B")
    assert PDAG("A -- B <- C; D <-> A").adjacency.tolist() == [
        [False, True, False, True],
        [True, False, False, False],
        [False, True, False, False],
        [True, False, False, False],
    ]


@pytest.mark.parametrize(
    ("kind", "matrix", "names", "text"),
    [
        (DAG, [[0, 1]], ["A"], r"of 1 names must have shape \(1, 1\), not \(1, 2\)"),
        (DAG, np.zeros((2, 2)), ["A"], r"of 1 names must have shape \(1, 1\), not \(2, 2\)"),
        (DAG, np.zeros((2, 2)), ["A", "A"], "the name 'A' stands twice in the list of nodes"),
        (DAG, np.zeros((2, 2)), "AB", "nodes must be a list of names, not the string 'AB'"),
        (DAG, np.zeros((1, 1)), [0], "name must be a string, but 0 is of type int"),
        (DAG, [[0, np.nan], [0, 0]], ["A", "B"], "contains NaN; write 0 where there is no edge"),
        (DAG, [[0, 1], [1, 0]], ["A", "B"], "'A -> B' and 'B -> A' join the same two nodes"),
        (DAG, np.eye(1), ["A"], "'A -> A' joins 'A' to itself"),
        (UndirectedGraph, [[0, 1], [0, 0]], ["A", "B"], "UndirectedGraph cannot hold 'A -> B'"),
        (UndirectedGraph, np.eye(1), ["A"], "'A -- A' joins 'A' to itself"),
    ],
)
def test_wrong_matrices_are_refused(kind, matrix, names, text):
    with pytest.raises(GraphError, match=text):
        kind.from_adjacency(matrix, names)


def test_networkx_graphs_mark_what_is_not_directed():
    graph = PDAG("A -> B -- C <-> D; E").to_networkx()
    assert list(graph.nodes) == ["A", "B", "C", "D", "E"]
    assert sorted(graph.edges(data="kind")) == [
        ("A", "B", None),
        ("B", "C", "undirected"),
        ("C", "B", "undirected"),
        ("C", "D", "conflicting"),
        ("D", "C", "conflicting"),
    ]
    assert PDAG.from_networkx(graph) == PDAG("A -> B -- C <-> D; E")


def test_networkx_graphs_of_other_people_are_read():
    both_ways = nx.DiGraph([("B", "A"), ("A", "B"), ("C", "B")])
    assert PDAG(both_ways) == PDAG("A -- B <- C")
    assert CPDAG(nx.Graph([("B", "A")])) == CPDAG("A -- B")
    assert UndirectedGraph(nx.path_graph(["C", "A"])) == UndirectedGraph("A - C")


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (nx.DiGraph([(1, "B")]), "name must be a string, but 1 is of type int; rename it"),
        (nx.MultiDiGraph([("A", "B")]), r"multigraph can join .* convert it with networkx.DiGraph"),
        (nx.DiGraph([("A", "B"), ("B", "A")]), "'A -> B' and 'B -> A' join the same two nodes"),
        (nx.DiGraph([("A", "A")]), "'A -> A' joins 'A' to itself"),
    ],
)
def test_wrong_networkx_graphs_are_refused(graph, text):
    with pytest.raises(GraphError, match=text):
        DAG.from_networkx(graph)


def test_a_missing_networkx_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"to_networkx\(\) needs networkx: pip install networkx"):
        DAG("A -> B").to_networkx()


def test_dot_of_a_mixed_graph():
    assert PDAG('A -> "b \\"c\\"" -- D; A <-> D').to_dot() == (
        "digraph {\n"
        '  "A";\n  "D";\n  "b \\"c\\"";\n'
        '  "A" -> "D" [dir=both];\n'
        '  "A" -> "b \\"c\\"";\n'
        '  "D" -> "b \\"c\\"" [dir=none];\n'
        "}\n"
    )


def test_dot_of_an_undirected_graph():
    assert UndirectedGraph("A - B; C").to_dot() == (
        'graph {\n  "A";\n  "B";\n  "C";\n  "A" -- "B";\n}\n'
    )
