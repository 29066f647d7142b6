import subprocess
import sys
from itertools import combinations, pairwise

import networkx as nx
import pytest
from plots import drawings

from jensen.graphs import DAG, PDAG, UndirectedGraph
from jensen.plots import graph_svg
from jensen.plots.coordinates import HEAD, place_items, route, stack_layers
from jensen.plots.layers import point_down
from jensen.plots.layout import _boxes, _space, edges_of, lay_out, layered
from jensen.plots.ordering import count_crossings

TINY = 1e-6
SEEDS = range(21)


@pytest.fixture(scope="module", params=SEEDS)
def drawn(request):
    graph, sizes = drawings.random_graph(request.param)
    return graph, sizes, lay_out(graph, sizes)


def test_boxes_have_their_sizes_stay_on_the_page_and_never_overlap(drawn):
    _, sizes, layout = drawn
    assert [(box.width, box.height) for box in layout.boxes] == sizes
    for box in layout.boxes:
        assert box.left >= -TINY
        assert box.top >= -TINY
        assert box.right <= layout.width + TINY
        assert box.bottom <= layout.height + TINY
    for a, b in combinations(layout.boxes, 2):
        apart = max(a.left - b.right, b.left - a.right, a.top - b.bottom, b.top - a.bottom)
        assert apart > 10.0


def test_every_edge_runs_from_the_border_of_one_node_to_that_of_the_other(drawn):
    graph, _, layout = drawn
    assert {(r.ends[0], r.mark, r.ends[1]) for r in layout.routes} == set(edges_of(graph))
    assert len(layout.routes) == len(edges_of(graph))
    for r in layout.routes:
        first, last = (layout.boxes[v] for v in r.ends)
        downwards = first.y < last.y
        upper, lower = (first, last) if downwards else (last, first)
        points = r.points if downwards else r.points[::-1]
        assert points[0][1] == pytest.approx(upper.bottom, abs=TINY)
        assert points[-1][1] == pytest.approx(lower.top, abs=TINY)
        assert upper.left < points[0][0] < upper.right
        assert lower.left < points[-1][0] < lower.right


def test_no_edge_enters_a_box(drawn):
    """An S stays in the rectangle of its ends, so that rectangle must be free of boxes."""
    _, _, layout = drawn
    for r in layout.routes:
        for (x, y), (u, v) in pairwise(r.points):
            left, right, top, bottom = min(x, u), max(x, u), min(y, v), max(y, v)
            for box in layout.boxes:
                inside = left < box.right - TINY and right > box.left + TINY
                assert not (inside and top < box.bottom - TINY and bottom > box.top + TINY)


def test_routes_go_one_way_and_are_upright_under_arrowheads(drawn):
    _, _, layout = drawn
    for r in layout.routes:
        heights = [y for _, y in r.points]
        assert heights in (sorted(heights), sorted(heights, reverse=True))
        if r.mark != "--":
            (x, y), (u, v) = r.points[-2:]
            assert x == u
            assert abs(y - v) >= HEAD - TINY


def test_all_arrows_of_a_dag_point_downwards(drawn):
    graph, _, layout = drawn
    for r in layout.routes:
        downwards = layout.boxes[r.ends[0]].bottom < layout.boxes[r.ends[1]].top
        assert downwards or not isinstance(graph, DAG)


def test_arrows_point_upwards_only_to_close_a_cycle():
    graph = PDAG("A -> B -> C -> D -> A; D -> E -- F")
    layout = lay_out(graph, [(40.0, 30.0)] * 6)
    arrows = [r.ends for r in layout.routes if r.mark == "->"]
    up = [(i, j) for i, j in arrows if layout.boxes[i].y > layout.boxes[j].y]
    assert up == [(2, 3)]  # D, with most children, is the top of the cycle


def test_a_node_below_a_cycle_stays_below_it():
    pairs = point_down(7, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (3, 5), (3, 6)], [])
    assert pairs[3:] == [(2, 3), (3, 4), (3, 5), (3, 6)]


@pytest.mark.parametrize("seed", range(20))
def test_turned_edges_have_no_cycle_and_only_cycles_are_turned(seed):
    graph, _ = drawings.random_graph(seed, kind="mixed")
    directed = [(i, j) for i, mark, j in edges_of(graph) if mark == "->"]
    free = [(i, j) for i, mark, j in edges_of(graph) if mark != "->"]
    pairs = point_down(len(graph), directed, free)
    assert {frozenset(p) for p in pairs} == {frozenset(p) for p in directed + free}
    cyclic = nx.DiGraph(directed)
    for pair in set(directed) - set(pairs):
        assert nx.has_path(cyclic, pair[1], pair[0])  # it was part of a cycle
    DAG([(graph.nodes[i], graph.nodes[j]) for i, j in pairs])  # refuses cycles


@pytest.mark.parametrize("seed", range(8))
def test_as_many_edges_cross_on_the_page_as_were_counted(seed):
    graph, sizes = drawings.layered_dag(seed)
    x = place_items(graph, _space(graph, sizes))
    bands = stack_layers(graph, x, sizes)
    routes = route(graph, x, _boxes(graph, x, bands, sizes), bands)
    seen = 0
    for (_, start), (end, _) in pairwise(bands):
        passing = [p for p in routes if p[0][1] <= start + TINY and p[-1][1] >= end - TINY]
        ends = [(drawings.x_at(p, start), drawings.x_at(p, end - HEAD)) for p in passing]
        seen += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    assert seen == count_crossings(graph, graph.layers)


def test_alarm_has_few_crossings():
    graph = DAG(drawings.ALARM)
    cut = layered(edges_of(graph), [(60.0, 30.0)] * len(graph))
    assert drawings.crossings(cut, cut.layers) <= 10  # Graphviz's dot draws it with 7


def test_trees_are_drawn_without_crossings():
    for seed in range(5):
        graph, sizes = drawings.connected_dag(seed, 40, 0)
        for tree in (graph, UndirectedGraph(graph.edges)):
            cut = layered(edges_of(tree), sizes)
            assert count_crossings(cut, cut.layers) == 0


def test_wide_layers_are_folded():
    star = DAG([("class", f"feature{i:02d}") for i in range(60)])
    layout = lay_out(star, [(100.0, 30.0)] * 61)
    assert layout.width < 2200  # 60 boxes in one row need 7,400


def test_parts_stand_apart_and_single_nodes_in_columns():
    graph = DAG("A -> B; C -> D", nodes=[f"s{i:02d}" for i in range(20)])
    layout = lay_out(graph, [(50.0, 30.0)] * 24)
    alone = layout.boxes[4:]
    assert min(box.top for box in alone) > max(box.bottom for box in layout.boxes[:4])
    assert len({box.x for box in alone}) < 20
    assert layout.width > layout.height


@pytest.mark.parametrize("graph", [DAG(), PDAG(), UndirectedGraph()])
def test_nothing_needs_no_room(graph):
    assert lay_out(graph, []) == ((), (), 0.0, 0.0)


@pytest.mark.slow
def test_the_same_graph_gives_the_same_picture_in_another_process():
    code = (
        "import jensen as jn; from jensen.plots import graph_svg; "
        f"print(graph_svg(jn.DAG({drawings.ALARM!r})))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
    )
    assert run.stdout.strip() == graph_svg(DAG(drawings.ALARM)).strip()


def test_large_graphs_are_drawn_too():
    graph, sizes = drawings.connected_dag(0, 300, 120)
    assert len(lay_out(graph, sizes).routes) == 419
