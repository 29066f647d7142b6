from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import DAG, PDAG, UndirectedGraph


def test_edges_neighbours_and_components():
    graph = UndirectedGraph([("D", "B"), ("B", "A")], nodes=["C", "E"])
    assert graph.edges == (("A", "B"), ("B", "D"))
    assert graph.neighbours("B") == ("A", "D")
    assert graph.neighbours("E") == ()
    assert graph.components() == (("A", "B", "D"), ("C",), ("E",))
    assert graph == UndirectedGraph("A -- B - D; C, E")


def test_the_empty_graph():
    graph = UndirectedGraph()
    assert graph.edges == graph.components() == ()
    assert graph.is_chordal()


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 6))
def test_chordality_equals_the_definition_on_all_graphs(n):
    nodes = tuple("ABCDE"[:n])
    for edges in naive_graphs.all_undirected(nodes):
        assert UndirectedGraph(edges, nodes).is_chordal() == naive_graphs.is_chordal(nodes, edges)


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_equal_networkx(seed):
    rng = np.random.default_rng(seed)
    edges, names = naive_graphs.random_dag(rng, 12, rng.uniform(0.1, 0.5))
    graph = UndirectedGraph(edges, names)
    other = graph.to_networkx()
    assert graph.is_chordal() == nx.is_chordal(other)
    assert {frozenset(c) for c in graph.components()} == {
        frozenset(c) for c in nx.connected_components(other)
    }
    for a, b in combinations(graph.nodes, 2):
        given = [x for x in names if x not in (a, b) and rng.random() < 0.3]
        rest = other.subgraph(set(names) - set(given))
        assert graph.separated(a, b, given) == (not nx.has_path(rest, a, b))


def test_moral_graphs_of_chordal_patterns_are_chordal():
    assert DAG("A -> B -> C; A -> C").moral().is_chordal()
    assert not DAG("A -> B -> C; A -> D -> E; C -> F <- E").skeleton().is_chordal()


@pytest.mark.parametrize("source", ["A -> B", "[A][B|A]", DAG("A -> B"), PDAG("A -> B")])
def test_directed_edges_are_refused(source):
    with pytest.raises(GraphError, match=r"an UndirectedGraph cannot hold 'A -> B'; .* skeleton"):
        UndirectedGraph(source)


def test_unknown_names_are_refused():
    with pytest.raises(GraphError, match="there is no node 'X'"):
        UndirectedGraph("A - B").neighbours("X")
    with pytest.raises(GraphError, match="there is no node 'X'"):
        UndirectedGraph("A - B").separated("A", "B", ["X"])
