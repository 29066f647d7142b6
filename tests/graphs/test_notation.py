import pytest

from jensen.exceptions import GraphError
from jensen.graphs import CPDAG, DAG, PDAG, UndirectedGraph


@pytest.mark.parametrize(
    "text",
    [
        "A -> B <- C; B -> D",
        "A->B<-C;B->D",
        "A -> B, C -> B\nB -> D",
        "\n  A -> B\r\n  C -> B -> D ;;\n",
        "D; A; B; A -> B; C -> B; B -> D; A",
        '"A" -> "B" <- C, B -> "D"',
        "[A][C][B|A:C][D|B]",
        " [D|B]\n[A] [B|C:A]\n[C] ",
    ],
)
def test_one_graph_in_many_writings(text):
    assert DAG(text) == DAG([("A", "B"), ("C", "B"), ("B", "D")])


@pytest.mark.parametrize(
    "text", ["A - B - C; D", "A -- B -- C; D", 'A--B -"C"; D', "B- A; B -C; D"]
)
def test_undirected_edges_in_many_writings(text):
    assert UndirectedGraph(text) == UndirectedGraph([("A", "B"), ("B", "C")], ["D"])


def test_all_marks_in_one_chain():
    graph = PDAG("A -> B <- C -- D - E <-> F")
    assert graph.directed == (("A", "B"), ("C", "B"))
    assert graph.undirected == (("C", "D"), ("D", "E"))
    assert graph.conflicting == (("E", "F"),)
    assert str(graph) == "A -> B; C -> B; C -- D; D -- E; E <-> F"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a b", '"a b"'),
        ("e-mail", '"e-mail"'),
        ("A -> B", '"A -> B"'),
        ('say "x"', r'"say \"x\""'),
        ("back\\slash", "back\\slash"),
        ('\\"', r'"\\\""'),
        ("two\nlines", '"two\nlines"'),
        ("[x]", '"[x]"'),
        ("x;y,z", '"x;y,z"'),
        ("p(x)=.5|é:*", "p(x)=.5|é:*"),
        ("x>3", '"x>3"'),
        (" ", '" "'),
    ],
)
def test_names_are_quoted_where_they_need_it(name, written):
    dag = DAG([("A", name)], ["Z"])
    assert str(dag) == f"A -> {written}; Z"
    assert DAG(str(dag)) == dag
    assert DAG(f'"A"->{written}\nZ') == dag
    assert eval(repr(dag)) == dag


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A -> -> B", "found '->' at character 6 of 'A -> -> B', where a name should stand"),
        ("-> B", "found '->' at character 1 of '-> B', where a name should stand"),
        ("A ->; B", "found ';' at character 5 of 'A ->; B', where the name after '->' should"),
        ("A -> B ->", "found the end at character 10 of 'A -> B ->', where the name after '->'"),
        ("A ->\nB", r"found '\n' at character 5 of 'A ->\nB', where the name after '->' should"),
        ("A B", "found 'B' at character 3 of 'A B', where an edge or a separator after 'A' should"),
        ("A --> B", "found '>' at character 5 of 'A --> B', where a name, an edge or a separator"),
        ("A => B", "found '=' at character 3 of 'A => B', where an edge or a separator after 'A'"),
        ("A→B", "found '→' at character 2 of 'A→B', where a name, an edge or a separator"),
        ("A -> [B]", "found '[' at character 6 of 'A -> [B]', where a name, an edge or a separ"),
        ('A -> "B', "the quote at character 6 of 'A -> \"B' is never closed"),
        ('A -> ""', "found '\"\"' at character 6 of 'A -> \"\"', where a name that is not empty"),
        (
            "e-mail -> A",
            "the '-' at character 2 of 'e-mail -> A' touches a name on both sides: put",
        ),
        ("A -> B C" + " " * 60, "of 'A -> B C" + " " * 49 + "...', where an edge"),
        (
            "[A][B|A",
            "found '[B|A' at character 4 of '[A][B|A', where a bracket like [A] or [C|A:B]",
        ),
        ("[A][B|]", "found '[B|]' at character 4"),
        ("[A][]", "found '[]' at character 4"),
        ("[A][B|A::C]", "found '[B|A::C]' at character 4"),
        ("[A] -> B", "found '-> B' at character 5 of '[A] -> B', where a bracket"),
        ("[A][A]", "'A' has two brackets in '[A][A]'; write it once"),
        ("[B|A]", "'A' is a parent of 'B' but has no bracket of its own in '[B|A]'; add [A]"),
        ("[A][B|A:A]", "the edge 'A -> B' stands twice"),
        ("[A|A]", "'A -> A' joins 'A' to itself"),
        ("[A|B][B|A]", "'B -> A' and 'A -> B' join the same two nodes"),
    ],
)
def test_malformed_texts_are_refused_with_the_place(text, found):
    with pytest.raises(GraphError) as error:
        DAG(text)
    assert found in str(error.value)


def test_bnlearn_text_goes_in_topological_order():
    assert DAG("Z -> A <- M; A -> B; C").to_bnlearn() == "[C][M][Z][A|M:Z][B|A]"


@pytest.mark.parametrize("name", ["a:b", "a|b", "[a", "a]"])
def test_bnlearn_text_refuses_names_it_cannot_hold(name):
    with pytest.raises(
        GraphError, match=r"cannot be written in bnlearn's notation, where .* rename"
    ):
        DAG(nodes=[name]).to_bnlearn()


def test_each_kind_of_graph_shows_its_name():
    assert repr(CPDAG("A - B")) == "CPDAG('A -- B')"
    assert repr(UndirectedGraph("A - B; C")) == "UndirectedGraph('A -- B; C')"
    assert repr(PDAG("A <-> B")) == "PDAG('A <-> B')"
