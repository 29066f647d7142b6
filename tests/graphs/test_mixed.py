import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import CPDAG, DAG, PDAG, UndirectedGraph

NODES = tuple("ABCD")


def test_a_pdag_holds_three_kinds_of_edges():
    graph = PDAG("C -> B -- A; D <-> C; E")
    assert graph.nodes == ("A", "B", "C", "D", "E")
    assert graph.directed == (("C", "B"),)
    assert graph.undirected == (("A", "B"),)
    assert graph.conflicting == (("C", "D"),)
    assert graph.skeleton() == UndirectedGraph("A - B - C - D; E")
    assert graph == PDAG([("C", "B")], ["E"], undirected=[("B", "A")], conflicting=[("D", "C")])
    assert graph == PDAG("C -> B; E", undirected=[("A", "B")], conflicting=[("C", "D")])


def test_a_pdag_may_have_cycles_and_reads_other_graphs():
    assert PDAG("A -> B -> C -> A").directed == (("A", "B"), ("B", "C"), ("C", "A"))
    assert PDAG(DAG("A -> B")).directed == (("A", "B"),)
    assert PDAG(UndirectedGraph("A - B")).undirected == (("A", "B"),)


def test_isolated_nodes_stay():
    graph = PDAG("A -- B; C; D")
    assert graph.extension() == DAG("A -> B; C; D")
    assert graph.cpdag() == CPDAG("A -- B; C; D")
    assert graph.meek() == graph


@pytest.mark.slow
def test_every_mixture_of_four_nodes_has_an_extension_if_the_definition_finds_one():
    n_complete = 0
    for directed, undirected in naive_graphs.all_mixed(NODES):
        graph = PDAG(directed, NODES, undirected=undirected)
        expected = set(naive_graphs.extensions(NODES, directed, undirected))
        if expected:
            assert frozenset(graph.extension().edges) in expected
        else:
            with pytest.raises(GraphError, match="no directed acyclic graph extends this one: "):
                graph.extension()
        n_complete += is_cpdag(directed, undirected)
    assert n_complete == 185


def is_cpdag(directed, undirected):
    try:
        graph = CPDAG(directed, NODES, undirected=undirected)
    except GraphError:
        return False
    return graph.cpdag() == graph and graph.conflicting == ()


@pytest.mark.parametrize(
    ("edges", "text"),
    [
        ("A <-> B", "'A <-> B' points both ways; decide on one direction"),
        ("A -> B -> C -> A; C -- D", "it has the cycle A -> B -> C -> A"),
        (
            "A -- B -- C -- D -- A; D -- E",
            "however the undirected edges among A, B, C, D are directed, they make a cycle or a "
            "new v-structure",
        ),
    ],
)
def test_a_missing_extension_is_explained(edges, text):
    with pytest.raises(GraphError) as error:
        PDAG(edges).extension()
    assert str(error.value) == f"no directed acyclic graph extends this one: {text}"
    with pytest.raises(GraphError, match="this is not a completed PDAG: no directed acyclic graph"):
        CPDAG(edges)


@pytest.mark.parametrize("n_labels", [1, 2])
def test_labels_first_finds_a_member_if_the_definition_does(n_labels):
    """Of every class of graphs over four nodes: a member without an arrow from number to label."""
    labels, numbers = set(NODES[:n_labels]), set(NODES[n_labels:])
    for members in naive_graphs.equivalence_classes(NODES):
        graph = DAG(next(iter(members)), NODES).cpdag()
        inside = [e for e in members if not any(x in numbers and y in labels for x, y in e)]
        if inside:
            assert frozenset(graph.labels_first(labels).edges) in inside
        elif any(x in numbers and y in labels for x, y in graph.directed):
            assert frozenset(graph.labels_first(labels).edges) in members  # it cannot be helped
        else:
            with pytest.raises(GraphError, match="no network of labels and numbers is equivalent"):
                graph.labels_first(labels)


def test_a_long_cycle_is_spelled_out_at_its_ends():
    names = [f"v{k:02d}" for k in range(50)]
    edges = list(zip(names, [*names[1:], names[0]], strict=True))
    with pytest.raises(GraphError) as error:
        PDAG(edges).extension()
    path = " -> ".join(names[:8])
    assert str(error.value).endswith(f"the cycle {path} -> ... 41 more ... -> v49 -> v00")


def test_a_cpdag_that_is_not_complete_is_refused_with_the_edge():
    with pytest.raises(GraphError, match="'B -> A' should be undirected; a PDAG holds any mixture"):
        CPDAG("B -> A")
    with pytest.raises(GraphError, match="'C -- D' should be directed; a PDAG holds any mixture"):
        CPDAG("A -> C <- B; C -- D")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"edges": "A -- B; B - A"}, "the edge 'B -- A' stands twice"),
        ({"edges": "A <-> B; B <-> A"}, "the edge 'B <-> A' stands twice"),
        ({"edges": "A -> B; B -> A"}, "'A -> B' and 'B -> A' join the same two nodes"),
        ({"edges": "A -> B", "undirected": [("B", "A")]}, "'A -> B' and 'B -- A' join the same"),
        ({"conflicting": ["AB"]}, "an edge must be a pair of names .* number 1 is 'AB'"),
    ],
)
def test_what_is_no_pdag_is_refused(arguments, text):
    with pytest.raises(GraphError, match=text):
        PDAG(**arguments)


def test_the_extension_prefers_alphabetic_directions():
    assert CPDAG("C -- B -- A").extension() == DAG("A -> B -> C")


def test_graphs_cannot_be_changed():
    with pytest.raises(AttributeError, match="a CPDAG cannot be changed"):
        CPDAG("A -- B").directed = ()
