import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from plots import drawings

from jensen.exceptions import GraphError, JensenError
from jensen.graphs import CPDAG, DAG, PDAG, UndirectedGraph
from jensen.inference.number_mixture import MixtureDistribution
from jensen.plots import graph_svg
from jensen.plots.cards import percent
from jensen.plots.coordinates import HEAD
from jensen.plots.svg import DARK, LIGHT

SVG = "{http://www.w3.org/2000/svg}"
STRANGE = [
    "a<b",
    "x & y",
    'say "hi"',
    "it's",
    "]]>",
    "<script>alert(1)</script>",
    "Größe",
    "温度",
    "😀",
]
NUMBER = r"-?\d+(?:\.\d+)?"


def parse(svg):
    return ElementTree.fromstring(svg)


def titles(svg):
    return [title.text for title in parse(svg).iter(f"{SVG}title")]


def groups(svg):
    """The nodes and the edges by their titles."""
    return {g.find(f"{SVG}title").text: g for g in parse(svg).iter(f"{SVG}g")}


def numbers(path):
    return [float(x) for x in re.findall(NUMBER, path)]


def test_names_are_text_whatever_they_contain():
    graph = DAG([(STRANGE[0], name) for name in STRANGE[1:]])
    svg = graph_svg(graph, beliefs={STRANGE[1]: {"<&>": 0.5}}, labels={STRANGE[2]: "<i>&"})
    shown = ["".join(text.itertext()) for text in parse(svg).iter(f"{SVG}text")]
    assert {STRANGE[0], "<i>&", "<&>", "温度"} <= set(shown)
    assert "<script>" not in svg
    assert f"a<b → {STRANGE[5]}" in titles(svg)


def test_what_xml_cannot_hold_is_replaced():
    svg = graph_svg(DAG(nodes=["nul\x00", "bell\x07", "half\ud800"]))
    assert {"nul\ufffd", "bell\ufffd", "half\ufffd"} <= set(titles(svg))
    svg.encode()


def test_every_node_and_edge_has_a_tooltip():
    svg = graph_svg(PDAG("A -> B -- C <-> D"), beliefs={"A": {"yes": 0.25}})
    assert titles(svg) == [
        "PDAG: 4 nodes, 3 edges",
        "A → B",
        "B — C",
        "C ↔ D",
        "A\nyes: 25%",
        "B",
        "C",
        "D",
    ]


def test_arrowheads_by_kind_of_edge():
    drawn = groups(graph_svg(PDAG("A -> B -- C <-> D")))
    n_heads = {
        name: sum(part.get("class") == "head" for part in g)
        for name, g in drawn.items()
        if len(name) > 1
    }
    assert n_heads == {"A → B": 1, "B — C": 0, "C ↔ D": 2}
    assert 'class="head"' not in graph_svg(UndirectedGraph("A - B - C - A"))


@pytest.mark.parametrize("graph", [DAG(drawings.ALARM), PDAG("A -> B -> C -> A; A <-> D")])
def test_arrowheads_end_at_the_border_of_the_box(graph):
    drawn = groups(graph_svg(graph))
    for title, g in drawn.items():
        if "→" not in title:
            continue
        box = drawn[title.split(" → ")[1]].find(f"{SVG}rect")
        left, top, width, height = (float(box.get(k)) for k in ("x", "y", "width", "height"))
        line, head = (part.get("d") for part in g.findall(f"{SVG}path"))
        x, y, _, base, _ = numbers(head)
        assert left < x < left + width
        assert min(abs(y - top), abs(y - top - height)) < 0.11
        assert numbers(line)[-1] == pytest.approx(base)
        assert abs(base - y) == pytest.approx(HEAD, abs=0.11)


def test_boxes_are_wide_enough_for_their_arrowheads():
    star = DAG([(f"p{k:02d}", "y") for k in range(10)])
    heads = [g for title, g in groups(graph_svg(star)).items() if "→" in title]
    tips = sorted(numbers(g.findall(f"{SVG}path")[1].get("d"))[0] for g in heads)
    assert min(b - a for a, b in pairwise(tips)) > 7.0


def test_ids_differ_between_drawings_and_are_the_same_for_the_same_one():
    one, same, other = graph_svg(DAG("A -> B")), graph_svg(DAG("A -> B")), graph_svg(DAG("A -> C"))
    assert one == same
    identity = parse(one).get("id")
    assert identity != parse(other).get("id")
    assert set(re.findall(r"#(jensen-\w+)", one)) == {identity}
    assert one.count(' id="') == 1


def test_dark_changes_every_colour_and_only_in_dark():
    svg = graph_svg(
        DAG("A -> B -> C"),
        beliefs={"A": {"x": 1.0}},
        highlight=["B"],
        known={"C": "given"},
        edge_weights={("A", "B"): 0.5},
    )
    style = parse(svg).find(f"{SVG}style").text
    assert style.startswith("@media (prefers-color-scheme:dark)")
    assert DARK.keys() == LIGHT.keys()
    for kind, colours in LIGHT.items():
        assert colours.keys() == DARK[kind].keys()
        assert f'class="{kind}"' in svg
        assert f".{kind}{{" in style


def test_beliefs_are_bars_of_their_length():
    g = groups(graph_svg(DAG(nodes=["A"]), beliefs={"A": [("yes", 0.25), ("no", 0.75)]}))
    (node,) = g.values()
    tracks = [float(r.get("width")) for r in node if r.get("class") == "track"]
    bars = [float(r.get("width")) for r in node if r.get("class") == "bar"]
    assert bars == pytest.approx([0.25 * tracks[0], 0.75 * tracks[1]], abs=0.1)
    assert [t.text for t in node.iter(f"{SVG}text")] == ["A", "yes", "25%", "no", "75%"]


def test_weights_shade_edges_and_stand_in_the_tooltip():
    svg = graph_svg(PDAG("A -> B -- C; A -> D"), edge_weights={("A", "B"): 1.0, ("C", "B"): 0.1})
    drawn = groups(svg)
    assert drawn["A → B: 1"].get("opacity") == "1.00"
    assert float(drawn["B — C: 0.1"].get("opacity")) < 0.5
    assert drawn["A → D"].get("opacity") is None
    thick, thin = (drawn[key].find(f"{SVG}path") for key in ("A → B: 1", "B — C: 0.1"))
    assert float(thick.get("stroke-width")) > float(thin.get("stroke-width"))


def test_evidence_is_marked_and_named():
    """Also where it is highlighted: what is known is more than what is looked at."""
    drawn = groups(graph_svg(DAG("A -> B; C"), known={"A": "given", "B": "set"}, highlight="A"))
    for name, word in [("A\ngiven", "given"), ("B\nset", "set")]:
        assert drawn[name].find(f"{SVG}rect").get("class") == "known"
        assert [t.text for t in drawn[name].iter(f"{SVG}text")] == [name[0], word]
    assert drawn["C"].find(f"{SVG}rect").get("class") == "box"
    plain = groups(graph_svg(DAG("A -> B; C")))
    assert "known" not in {drawn.find(f"{SVG}rect").get("class") for drawn in
                           (plain["A"], plain["B"], plain["C"])}  # fmt: skip
    with pytest.raises(GraphError, match="there is no node 'Z' in the graph"):
        graph_svg(DAG("A -> B"), known={"Z": "given"})


def boxes_of_texts(svg):
    """The frames of the percentages, and their texts."""
    root = parse(svg)
    frames = [
        tuple(float(r.get(x)) for x in ("x", "y", "width", "height"))
        for r in root.findall(f"{SVG}rect")
    ]
    return frames, [t.text for t in root.findall(f"{SVG}text")]


@pytest.mark.parametrize("seed", range(12))
def test_percentages_stand_on_edges_inside_the_picture(seed):
    graph, _ = drawings.connected_dag(seed, 12, 8)
    rng = np.random.default_rng(seed)
    weights = {edge: float(rng.uniform()) for edge in graph.edges}
    svg = graph_svg(graph, edge_weights=weights)
    frames, texts = boxes_of_texts(svg)
    assert sorted(texts) == sorted(percent(p) for p in weights.values())
    left, top, width, height = map(float, parse(svg).get("viewBox").split())
    nodes = [
        tuple(float(r.get(x)) for x in ("x", "y", "width", "height"))
        for g in parse(svg).findall(f"{SVG}g")
        for r in g.findall(f"{SVG}rect")
    ]
    assert len(nodes) == 12
    for x, y, wide, high in frames:
        assert left <= x
        assert x + wide <= left + width
        assert top <= y
        assert y + high <= top + height
        assert not any(
            x < b + c and b < x + wide and y < d + e and d < y + high for b, d, c, e in nodes
        )
    covered = sum(
        max(0.0, min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]))
        * max(0.0, min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]))
        for a, b in combinations(frames, 2)
    )
    assert covered < 0.25 * sum(a[2] * a[3] for a in frames)


def test_edges_without_a_weight_have_no_percentage():
    svg = graph_svg(PDAG("A -> B -- C; A -> D"), edge_weights={("A", "B"): 1.0, ("C", "B"): 1 / 3})
    assert sorted(boxes_of_texts(svg)[1]) == ["100%", "33.3%"]


def test_highlighted_nodes_look_different():
    drawn = groups(graph_svg(DAG("A -> B"), highlight="A"))
    assert drawn["A"].find(f"{SVG}rect").get("class") == "marked"
    assert drawn["B"].find(f"{SVG}rect").get("class") == "box"


def test_scale_changes_the_size_on_the_page_only():
    small, large = (parse(graph_svg(DAG("A -> B"), scale=s)) for s in (1.0, 2.5))
    assert small.get("viewBox") == large.get("viewBox")
    assert float(large.get("width")) == pytest.approx(2.5 * float(small.get("width")))


@pytest.mark.parametrize("graph", [DAG(), CPDAG(), DAG(nodes=["only"]), UndirectedGraph()])
def test_small_graphs_are_drawn(graph):
    svg = graph_svg(graph)
    shown = [text.text for text in parse(svg).iter(f"{SVG}text")]
    assert shown == (["only"] if len(graph) else ["no nodes"])


@pytest.mark.parametrize(
    ("choices", "error", "text"),
    [
        ({"labels": {"Z": "z"}}, GraphError, "there is no node 'Z' in the graph"),
        ({"beliefs": {"Z": {}}}, GraphError, "there is no node 'Z' in the graph"),
        ({"highlight": ["Z"]}, GraphError, "there is no node 'Z' in the graph"),
        ({"edge_weights": {("A", "Z"): 0.5}}, GraphError, "there is no node 'Z' in the graph"),
        ({"edge_weights": {("B", "A"): 0.5}}, GraphError, "names 'B', 'A', but the graph has no"),
        ({"edge_weights": {("A", "B"): 1.5}}, JensenError, "must lie between 0 and 1, not 1.5"),
        ({"edge_weights": {("A", "B"): float("nan")}}, JensenError, "between 0 and 1, not nan"),
        ({"beliefs": {"A": {"yes": -0.1}}}, JensenError, "belief in A = yes must be a probability"),
        ({"scale": 0.0}, JensenError, "scale must be a number above 0, not 0.0"),
    ],
)
def test_wrong_choices_are_refused(choices, error, text):
    with pytest.raises(error, match=re.escape(text)):
        graph_svg(DAG("A -> B"), **choices)


def test_beliefs_about_numbers_are_densities():
    means, spread = np.array([[0.0], [5.0]]), np.array([[[1.0]], [[1e-6]]])
    belief = MixtureDistribution(("x",), np.array([0.5, 0.5]), means, spread)
    svg = graph_svg(DAG("a -> x; x -> y"), beliefs={"a": {"u": 1.0}, "x": belief, "y": 2.5})
    assert {"x\n2.5 ± 2.6", "y\n2.5"} <= set(titles(svg))
    drawn = groups(svg)["x\n2.5 ± 2.6"].find(f"{SVG}path").get("d")
    points = [tuple(map(float, p.split())) for p in re.findall(rf"{NUMBER} {NUMBER}", drawn)]
    heights = -np.array([y for _, y in points[1:-1]])
    assert np.argmax(heights) > len(heights) - 3  # the narrow peak is the highest, and is seen
    assert groups(svg)["y\n2.5"].find(f"{SVG}path") is None
