import pickle
from copy import deepcopy

import networkx as nx
import numpy as np
import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import CPDAG, DAG, PDAG, UndirectedGraph

ASIA = "asia -> tub -> either <- lung <- smoke -> bronc -> dysp <- either -> xray"


@pytest.fixture(scope="module", params=range(8))
def random_pair(request):
    """Draw a graph, as a DAG and in networkx."""
    rng = np.random.default_rng(request.param)
    edges, names = naive_graphs.random_dag(rng, int(rng.integers(8, 13)), 0.3)
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(names)
    return DAG(edges, names), graph


def test_nodes_and_edges_are_sorted_whatever_the_order_given():
    dag = DAG([("B", "A"), ("C", "A")], nodes=["Z", "D"])
    assert dag.nodes == ("A", "B", "C", "D", "Z")
    assert dag.edges == (("B", "A"), ("C", "A"))
    assert dict(dag.index) == {"A": 0, "B": 1, "C": 2, "D": 3, "Z": 4}
    assert dag.parent_indices == ((1, 2), (), (), (), ())
    assert len(dag) == 5
    assert "Z" in dag
    assert "Y" not in dag


def test_equality_and_hash_go_by_content():
    one, two = DAG("A -> B; C"), DAG([("A", "B")], ["C", "A"])
    assert one == two
    assert hash(one) == hash(two)
    assert one != DAG("A -> B")
    assert one != "A -> B; C"
    assert DAG("A -> C <- B") != CPDAG("A -> C <- B")
    assert CPDAG("A -> C <- B") != PDAG("A -> C <- B")


def test_the_empty_graph():
    dag = DAG()
    assert dag.nodes == dag.edges == dag.topological_order() == dag.v_structures() == ()
    assert dag == DAG("") == DAG(" \n;") == DAG.from_parents({}) == DAG.from_networkx(nx.DiGraph())
    assert repr(dag) == "DAG('')"
    assert dag.to_bnlearn() == ""
    assert dag.cpdag() == CPDAG()
    assert dag.n_linear_extensions() == 1
    assert dag.adjacency.shape == (0, 0)


@pytest.mark.parametrize("name", ["nodes", "edges", "index", "parent_indices", "_indexed", "new"])
def test_a_graph_cannot_be_changed(name):
    with pytest.raises(AttributeError, match="a DAG cannot be changed; make a new one"):
        setattr(DAG("A -> B"), name, ())


def test_what_it_returns_cannot_change_it():
    dag = DAG("A -> B")
    dag.adjacency[:] = False
    assert dag.adjacency.tolist() == [[False, True], [False, False]]
    with pytest.raises(TypeError):
        dag.index["A"] = 5


def test_copies_and_pickles_are_equal_also_after_use():
    dag = DAG(ASIA)
    assert dag.index["asia"] == 0  # cached, and not to be pickled
    assert deepcopy(dag) == dag
    assert pickle.loads(pickle.dumps(dag)) == dag
    assert pickle.loads(pickle.dumps(dag)).parents("either") == ("lung", "tub")


def test_other_graphs_are_accepted():
    dag = DAG("A -> C <- B")
    assert DAG(dag) == dag
    assert DAG(dag, nodes=["D"]) == DAG("A -> C <- B; D")
    assert DAG(dag.cpdag()) == dag
    assert DAG(dag.to_networkx()) == dag


def test_from_parents():
    assert DAG.from_parents({"C": ("A", "B"), "D": []}) == DAG("A -> C <- B; D")


def test_names_become_plain_strings():
    dag = DAG(np.array([["A", "B"]]), np.array(["C"]))
    assert repr(dag.nodes) == "('A', 'B', 'C')"


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ("A -> B -> C -> A", "A -> B -> C -> A"),
        ("Z -> C -> B -> D -> C; B -> E", "B -> D -> C -> B"),
        ('x -> "a b" -> y -> x; u -> v', '"a b" -> y -> x -> "a b"'),
    ],
)
def test_a_cycle_is_spelled_out(edges, cycle):
    with pytest.raises(GraphError) as error:
        DAG(edges)
    assert str(error.value) == f"a DAG has no cycles, but here is one: {cycle}"


def test_of_a_long_cycle_the_ends_are_spelled_out():
    edges = [(f"v{k:04}", f"v{(k + 1) % 5000:04}") for k in range(5000)]
    with pytest.raises(GraphError) as error:
        DAG(edges)
    assert str(error.value).endswith(
        "here is one: v0000 -> v0001 -> v0002 -> v0003 -> v0004 -> v0005 -> v0006 -> v0007 -> "
        "... 4,991 more ... -> v4999 -> v0000"
    )


@pytest.mark.parametrize(
    ("edges", "nodes", "text"),
    [
        ([("A", "A")], (), "'A -> A' joins 'A' to itself; leave this edge out"),
        ([("A", "B")] * 2, (), "the edge 'A -> B' stands twice; give every edge once"),
        ("A -> B <- A", (), "the edge 'A -> B' stands twice"),
        ("A -> B -> A", (), "join the same two nodes; that is the cycle A -> B -> A"),
        ("A -- B", (), r"a DAG cannot hold 'A -- B'; write '->' or '<-', or take the extension"),
        ("A <-> B", (), "a DAG cannot hold 'A <-> B'"),
        (nx.Graph([("A", "B")]), (), "a DAG cannot hold 'A -- B'"),
        ([("A", 1)], (), "name must be a string, but 1 is of type int; rename it"),
        ([("A", "")], (), "name must not be empty; give every node a name"),
        (["AB"], (), r"pair of names like \('A', 'B'\), but edge number 1 is 'AB'"),
        ([("A", "B"), ("A", "B", "C")], (), r"but edge number 2 is \('A', 'B', 'C'\)"),
        ([3], (), "but edge number 1 is 3"),
        ((), ["A", "B", "A"], "the name 'A' stands twice in the list of nodes"),
        ((), "AB", "nodes must be a list of names, not the string 'AB'"),
        ((), [None], "name must be a string, but None is of type NoneType"),
    ],
)
def test_what_is_no_dag_is_refused(edges, nodes, text):
    with pytest.raises(GraphError, match=text):
        DAG(edges, nodes)


def test_parents_must_be_lists():
    with pytest.raises(GraphError, match=r"the parents of 'B' must be a list; write \['AC'\]"):
        DAG.from_parents({"B": "AC"})


def test_unknown_names_are_refused_with_a_guess():
    dag = DAG(ASIA)
    with pytest.raises(GraphError, match=r"there is no node 'smoker' .*; did you mean 'smoke'\?"):
        dag.parents("smoker")
    with pytest.raises(GraphError, match=r"no node 'Q' .* nodes are: asia, .*either, lung, "):
        dag.d_separated("asia", ["Q"])
    with pytest.raises(GraphError, match=r"no node \['asia'\] in the graph; did you mean 'asia'"):
        dag.children(["asia"])
    with pytest.raises(GraphError, match="no node 'A' in the graph; there are no nodes"):
        DAG().descendants("A")


def test_relatives_equal_networkx(random_pair):
    dag, graph = random_pair
    for x in dag.nodes:
        assert dag.parents(x) == tuple(sorted(graph.predecessors(x)))
        assert dag.children(x) == tuple(sorted(graph.successors(x)))
        assert dag.ancestors(x) == tuple(sorted(nx.ancestors(graph, x)))
        assert dag.descendants(x) == tuple(sorted(nx.descendants(graph, x)))


def test_topological_order_equals_networkx(random_pair):
    dag, graph = random_pair
    assert dag.topological_order() == tuple(nx.lexicographical_topological_sort(graph))


def test_moral_graph_equals_networkx(random_pair):
    dag, graph = random_pair
    moral = dag.moral()
    assert isinstance(moral, UndirectedGraph)
    assert moral == UndirectedGraph(nx.moral_graph(graph))


def test_the_markov_blanket_is_the_moral_neighbourhood(random_pair):
    dag, _ = random_pair
    for x in dag.nodes:
        assert dag.markov_blanket(x) == dag.moral().neighbours(x)


def test_the_skeleton_keeps_every_node():
    assert DAG("C -> A <- B; D").skeleton() == UndirectedGraph("A - B; A - C; D")


def test_edits_give_new_graphs():
    dag = DAG("A -> B -> C; D")
    assert dag.with_edge("D", "A") == DAG("A -> B -> C; D -> A")
    assert dag.without_edge("A", "B") == DAG("A; B -> C; D")
    assert dag.with_reversed("A", "B") == DAG("B -> A; B -> C; D")
    assert dag.subgraph(["A", "C", "D"]) == DAG("A; C; D")
    assert dag.subgraph(["B", "C"]) == DAG("B -> C")
    assert dag.subgraph([]) == DAG()
    assert dag == DAG("A -> B -> C; D")


def test_rename_sorts_again_and_may_swap():
    dag = DAG("A -> B -> C")
    assert dag.rename({"A": "Z", "C": "A"}) == DAG("Z -> B -> A")
    assert dag.rename({"A": "B", "B": "A"}) == DAG("B -> A -> C")
    assert dag.rename({}) == dag


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda dag: dag.with_edge("A", "B"), "the edge 'A -> B' stands twice"),
        (lambda dag: dag.with_edge("B", "A"), "'A -> B' and 'B -> A' join the same two nodes"),
        (lambda dag: dag.with_edge("C", "A"), "here is one: A -> B -> C -> A"),
        (lambda dag: dag.with_edge("A", "X"), "there is no node 'X'"),
        (lambda dag: dag.without_edge("B", "A"), "there is no edge 'B -> A' in the graph"),
        (lambda dag: dag.without_edge("A", "X"), "there is no node 'X'"),
        (lambda dag: dag.with_reversed("A", "C"), "there is no edge 'A -> C' in the graph"),
        (lambda dag: dag.with_edge("A", "C").with_reversed("A", "C"), "A -> B -> C -> A"),
        (lambda dag: dag.subgraph(["A", "X"]), "there is no node 'X'"),
        (lambda dag: dag.rename({"X": "Y"}), "there is no node 'X'"),
        (lambda dag: dag.rename({"A": "C"}), "the name 'C' stands twice in the list of nodes"),
        (lambda dag: dag.rename({"A": ""}), "name must not be empty"),
    ],
)
def test_impossible_edits_are_refused(edit, text):
    with pytest.raises(GraphError, match=text):
        edit(DAG("A -> B -> C"))


def test_repr_is_short_for_big_graphs():
    dag = DAG([(f"n{i:03}", f"n{i + 1:03}") for i in range(100)])
    assert repr(dag) == (
        "<DAG with 101 nodes, 100 edges: "
        "n000 -> n001; n001 -> n002; n002 -> n003; n003 -> n004; ...>"
    )
    assert repr(DAG("B -> A; C")) == "DAG('B -> A; C')"


@pytest.mark.slow
def test_two_thousand_nodes_are_no_burden():
    rng = np.random.default_rng(0)
    ends = np.sort(rng.integers(0, 2000, (4000, 2)))
    edges = {(f"x{i}", f"x{j}") for i, j in ends if i < j}
    dag = DAG(edges)
    assert DAG(str(dag)) == DAG(dag.to_bnlearn()) == dag
    assert CPDAG(dag.cpdag()).extension().is_equivalent(dag)
    assert dag.cpdag() == PDAG(dag.cpdag()).meek().cpdag()
