"""Whatever a graph is written as, it is read back as the same graph."""

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from jensen.graphs import CPDAG, DAG, PDAG, UndirectedGraph

FIXED = settings(derandomize=True, deadline=None)
NAMES = st.one_of(
    st.text("ab-> <;,\"\\[]|:\n\t'", min_size=1, max_size=4),
    st.text(min_size=1, max_size=5),
)
PLAIN_NAMES = st.text("abc _.-> ", min_size=1, max_size=4)  # what bnlearn's notation can hold


@st.composite
def marked_pairs(draw, kinds, names=NAMES):
    """Names in any order, and for each pair of them one of the kinds or none."""
    nodes = draw(st.lists(names, unique=True, max_size=6))
    pairs = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
    marks = draw(st.lists(st.sampled_from(["", *kinds]), min_size=len(pairs), max_size=len(pairs)))
    return nodes, list(zip(pairs, marks, strict=True))


@st.composite
def dags(draw, names=NAMES):
    nodes, marked = draw(marked_pairs(["->"], names))
    return DAG([pair for pair, mark in marked if mark], nodes)


@st.composite
def pdags(draw):
    nodes, marked = draw(marked_pairs(["->", "<-", "--", "<->"]))
    by_mark = {kind: [p for p, mark in marked if mark == kind] for kind in ("->", "--", "<->")}
    backwards = [(b, a) for (a, b), mark in marked if mark == "<-"]
    return PDAG(
        by_mark["->"] + backwards, nodes, undirected=by_mark["--"], conflicting=by_mark["<->"]
    )


@st.composite
def undirected_graphs(draw):
    nodes, marked = draw(marked_pairs(["--"]))
    return UndirectedGraph([pair for pair, mark in marked if mark], nodes)


@FIXED
@given(st.one_of(dags(), pdags(), undirected_graphs(), dags().map(DAG.cpdag)))
def test_text_networkx_and_pickle(graph):
    kind = type(graph)
    assert kind(str(graph)) == graph
    assert kind(graph) == graph
    assert kind.from_networkx(graph.to_networkx()) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph


@FIXED
@given(dags(), st.randoms(use_true_random=False))
def test_adjacency_and_parents_in_any_order(dag, random):
    order = list(range(len(dag)))
    random.shuffle(order)
    names = [dag.nodes[i] for i in order]
    assert DAG.from_adjacency(dag.adjacency[order][:, order], names) == dag
    assert DAG.from_parents({name: dag.parents(name) for name in names}) == dag


@FIXED
@given(undirected_graphs(), dags())
def test_adjacency_of_other_graphs(graph, dag):
    assert UndirectedGraph.from_adjacency(graph.adjacency, graph.nodes) == graph
    assert CPDAG.from_adjacency(dag.cpdag().adjacency, dag.nodes) == dag.cpdag()


@FIXED
@given(dags(PLAIN_NAMES))
def test_bnlearn(dag):
    assert DAG(dag.to_bnlearn()) == dag


@FIXED
@given(pdags(), st.lists(NAMES, unique=True, min_size=6, max_size=6))
def test_renaming_and_back(graph, names):
    new = dict(zip(graph.nodes, names, strict=False))
    assert graph.rename(new).rename({b: a for a, b in new.items()}) == graph
