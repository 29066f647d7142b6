from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import DAG, UndirectedGraph


def subsets(names):
    return chain.from_iterable(combinations(names, k) for k in range(len(names) + 1))


def disjoint_sets(names):
    """All ordered triples of disjoint sets, the first two not empty."""
    for a in subsets(names):
        for b in subsets(sorted(set(names) - set(a))):
            for given in subsets(sorted(set(names) - set(a) - set(b))):
                if a and b:
                    yield a, b, given


@pytest.mark.parametrize("n", [2, 3, 4])
def test_single_nodes_equal_the_definition_over_paths(n):
    names = tuple("ABCD"[:n])
    for edges in naive_graphs.all_dags(names):
        dag = DAG(edges, names)
        for a, b in combinations(names, 2):
            for given in subsets(sorted(set(names) - {a, b})):
                assert dag.d_separated(a, b, given) == naive_graphs.d_separated(edges, a, b, given)


def test_sets_equal_the_definition_over_paths():
    nodes = tuple("ABCD")
    triples = list(disjoint_sets(nodes))
    for edges in list(naive_graphs.all_dags(nodes))[::5]:
        dag = DAG(edges, nodes)
        for a, b, given in triples:
            assert dag.d_separated(a, b, given) == naive_graphs.d_separated(edges, a, b, given)


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_equal_networkx_and_the_definition(seed):
    rng = np.random.default_rng(seed)
    edges, names = naive_graphs.random_dag(rng, 9, 0.25)
    dag = DAG(edges, names)
    graph = dag.to_networkx()
    for _ in range(60):
        group = rng.choice(4, size=9, p=[0.2, 0.2, 0.2, 0.4])
        a, b, given = ({names[i] for i in np.flatnonzero(group == k)} for k in range(3))
        expected = naive_graphs.d_separated(set(edges), a, b, given)
        assert dag.d_separated(a, b, given) == expected
        if a and b:
            assert nx.is_d_separator(graph, a, b, given) == expected


def test_it_is_symmetric_and_takes_a_name_or_several():
    dag = DAG("A -> B -> C; B -> D")
    assert dag.d_separated("A", "C", "B")
    assert dag.d_separated(["C"], iter(["A"]), ("B",))
    assert not dag.d_separated("C", ["A", "D"])
    assert dag.d_separated("C", ["A", "D"], given=["B"])


@pytest.mark.parametrize(
    "sets", [("A", "A"), ("A", ["B", "A"]), ("A", "B", "A"), ("A", "B", ["C", "A"])]
)
@pytest.mark.parametrize("graph", [DAG("A -> B; C"), UndirectedGraph("A - B; C")])
def test_sets_that_overlap_are_refused(graph, sets):
    separated = graph.d_separated if isinstance(graph, DAG) else graph.separated
    with pytest.raises(GraphError, match="'A' stands in two of the sets a, b and given; they must"):
        separated(*map(list, sets))
