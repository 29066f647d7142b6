from itertools import combinations

import numpy as np
import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import CPDAG, DAG, PDAG

NODES = [tuple("ABCD"[:n]) for n in range(1, 5)]
CLASSES = {nodes: naive_graphs.equivalence_classes(nodes) for nodes in NODES}
EVERY_NODES = pytest.mark.parametrize("nodes", NODES)


def members(nodes):
    """Every DAG with the class that it belongs to."""
    return [(edges, group) for group in CLASSES[nodes] for edges in group]


@pytest.mark.parametrize(
    ("n", "dags", "classes"), [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)]
)
def test_the_enumeration_has_the_known_numbers(n, dags, classes):
    nodes = NODES[n - 1]
    assert len(members(nodes)) == dags
    assert len(CLASSES[nodes]) == classes
    assert len({DAG(edges, nodes).cpdag() for edges, _ in members(nodes)}) == classes


@EVERY_NODES
def test_v_structures_equal_the_definition(nodes):
    for edges, _ in members(nodes):
        assert DAG(edges, nodes).v_structures() == tuple(
            sorted(naive_graphs.v_structures(nodes, edges))
        )


@EVERY_NODES
def test_the_cpdag_is_what_all_members_agree_on(nodes):
    for edges, group in members(nodes):
        directed, undirected = naive_graphs.agreement(group)
        cpdag = DAG(edges, nodes).cpdag()
        assert cpdag == CPDAG(directed, nodes, undirected=undirected)
        assert cpdag.directed == tuple(sorted(directed))
        assert cpdag.undirected == tuple(sorted(undirected))


@EVERY_NODES
def test_the_extension_of_a_cpdag_is_a_member_of_its_class(nodes):
    for group in CLASSES[nodes]:
        assert frozenset(DAG(group[0], nodes).cpdag().extension().edges) in group


def test_equivalence_is_membership_in_the_same_class():
    nodes = NODES[2]
    for one, group in members(nodes):
        for two, _ in members(nodes):
            assert DAG(one, nodes).is_equivalent(DAG(two, nodes)) == (two in group)


def test_graphs_with_other_nodes_are_not_equivalent():
    assert not DAG("A -> B").is_equivalent(DAG("A -> B; C"))


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_have_the_cpdag_of_their_v_structures_and_meeks_rules(seed):
    rng = np.random.default_rng(seed)
    edges, names = naive_graphs.random_dag(rng, int(rng.integers(8, 13)), 0.35)
    dag = DAG(edges, names)
    arrows = {edge for a, c, b in dag.v_structures() for edge in ((a, c), (b, c))}
    pattern = PDAG(arrows, names, undirected=set(edges) - arrows)
    assert pattern.meek() == PDAG(dag.cpdag())
    assert pattern.cpdag() == dag.cpdag()
    assert dag.cpdag().extension().is_equivalent(dag)


def test_meeks_rules_find_all_that_follows_from_background_knowledge():
    """Meek (1995), theorem 4: with any one or two directions of a member known."""
    nodes = NODES[3]
    for group in CLASSES[nodes]:
        directed, undirected = naive_graphs.agreement(group)
        for member in group:
            free = sorted(member - directed)
            for known in [*combinations(free, 1), *combinations(free, 2)]:
                known_to_hold = [edges for edges in group if edges.issuperset(known)]
                expected = naive_graphs.agreement(known_to_hold)
                rest = {pair for pair in undirected if not {pair, pair[::-1]} & set(known)}
                found = PDAG(directed | set(known), nodes, undirected=rest).meek()
                assert found == PDAG(expected[0], nodes, undirected=expected[1])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("C -> A -- B", "C -> A -> B"),
        ("A -- B; A -> C -> B", "A -> B; A -> C -> B"),
        ("A -- B; A -- C -> B; A -- D -> B", "A -> B; A -- C -> B; A -- D -> B"),
        ("A -- B; A -- C; A -- D; D -> C -> B", "A -> B; A -- C; A -- D; D -> C -> B"),
        (
            "E -> D -- C -> B; A -- B; A -- C; A -- D; A <-> E",
            "E -> D -> C -> B; A -> B; A -- C; A -- D; A <-> E",
        ),
        ("A -- B; A -- D; D -> C -> B", "B -> A -> D -> C -> B"),
    ],
)
def test_each_of_meeks_rules_then_two_in_a_row_then_a_cycle(before, after):
    assert PDAG(before).meek() == PDAG(after)


def test_an_edge_that_is_forced_both_ways_becomes_conflicting_under_any_names():
    graph = PDAG("C -> A -- B <- D; A -- E")
    expected = PDAG("C -> A <-> B <- D; A -> E")
    swap = {"A": "B", "B": "A", "C": "D", "D": "C"}
    assert graph.meek() == expected
    assert graph.rename(swap).meek() == expected.rename(swap)


def test_conflicting_edges_give_no_direction_but_join():
    assert PDAG("A <-> B -- C").meek() == PDAG("A <-> B -- C")
    assert PDAG("A -> B -- C; A <-> C").meek() == PDAG("A -> B -- C; A <-> C")


def test_shd_counts_pairs_that_the_cpdags_join_differently():
    chain, collider = DAG("A -> B -> C"), DAG("A -> B <- C")
    assert chain.shd(DAG("C -> B -> A")) == 0
    assert chain.shd(collider) == 2
    assert chain.shd(collider.cpdag()) == chain.cpdag().shd(collider) == 2
    assert chain.shd(DAG("A -> B; C")) == 1
    assert DAG("A; B; C").shd(DAG("A -> B -> C; A -> C")) == 3
    assert PDAG("A -> B").shd(PDAG("B -> A")) == 1
    assert PDAG("A <-> B").shd(PDAG("A -- B")) == 1
    assert PDAG("A <-> B").shd(DAG("A -> B")) == 1


def test_shd_equals_the_count_over_adjacency_matrices():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, two = (DAG(*naive_graphs.random_dag(rng, 7, 0.3)) for _ in range(2))
        differs = one.cpdag().adjacency != two.cpdag().adjacency
        assert one.shd(two) == two.shd(one) == np.triu(differs | differs.T).sum()


def test_shd_needs_the_same_nodes():
    with pytest.raises(GraphError, match="only one of the two graphs has the node 'C'; a distance"):
        DAG("A -> B").shd(DAG("A -> B; C"))
