from itertools import pairwise, product

import numpy as np
import pytest
from plots import drawings
from scipy.optimize import linprog

from jensen.plots import coordinates
from jensen.plots.coordinates import SPACE, _centre, _packed, _shortest, place_items, spread
from jensen.plots.layers import assign_layers, cut, fold
from jensen.plots.layout import _space, edges_of
from jensen.plots.ordering import (
    count_crossings,
    improve,
    order_layers,
    positions,
    preference,
    sift,
    sweep,
    transpose,
)

SEEDS = range(8)


def shuffled(graph, seed):
    rng = np.random.default_rng(seed)
    return [[layer[k] for k in rng.permutation(len(layer))] for layer in graph.layers]


def length(layer, pairs):
    return sum(layer[j] - layer[i] for i, j in pairs)


@pytest.mark.parametrize("seed", SEEDS)
def test_layers_are_as_short_as_enumeration_finds(seed):
    graph, _ = drawings.connected_dag(seed, 5, seed % 5)
    pairs = [(i, j) for i, _, j in edges_of(graph)]
    found = assign_layers(5, pairs)
    assert all(found[j] > found[i] for i, j in pairs)
    assert min(found) == 0
    allowed = (x for x in product(range(5), repeat=5) if all(x[j] > x[i] for i, j in pairs))
    assert length(found, pairs) == min(length(x, pairs) for x in allowed)


@pytest.mark.parametrize("seed", SEEDS)
def test_folded_layers_are_narrow_and_edges_still_go_down(seed):
    graph, sizes = drawings.connected_dag(seed, 40, 10)
    pairs = [(i, j) for i, _, j in edges_of(graph)]
    widths = [width for width, _ in sizes]
    layer = fold(assign_layers(40, pairs), pairs, widths, limit=400.0)
    assert all(layer[j] > layer[i] for i, j in pairs)
    assert sorted(set(layer)) == list(range(max(layer) + 1))
    for k in range(max(layer) + 1):
        assert sum(w for w, row in zip(widths, layer, strict=True) if row == k) < 600.0


def test_long_edges_are_cut_at_every_layer():
    graph = cut([0, 1, 3], [(0, 1), (1, 2), (0, 2)])
    assert graph.layers == [[0], [1, 4], [3, 5], [2]]
    assert graph.chains == [[0, 1], [1, 3, 2], [0, 4, 5, 2]]
    assert graph.above[2] == [3, 5]


@pytest.mark.parametrize("seed", SEEDS)
def test_crossings_are_counted_as_the_definition_says(seed):
    graph, _ = drawings.layered_dag(seed)
    for layers in (graph.layers, shuffled(graph, seed)):
        assert count_crossings(graph, layers) == drawings.crossings(graph, layers)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_step_adds_crossings(seed):
    graph, _ = drawings.layered_dag(seed)
    start = shuffled(graph, seed)
    before = drawings.crossings(graph, start)
    exchanged = [list(layer) for layer in start]
    transpose(graph, exchanged)
    assert drawings.crossings(graph, exchanged) <= before
    assert drawings.crossings(graph, sift(graph, start)) <= before
    assert drawings.crossings(graph, improve(graph, start, 8)) <= before
    best = order_layers(graph._replace(layers=start))
    assert drawings.crossings(graph, best) <= before
    assert [sorted(layer) for layer in best] == [sorted(layer) for layer in graph.layers]


@pytest.mark.parametrize("seed", SEEDS)
def test_preference_is_the_difference_of_crossings_of_two_items(seed):
    graph, _ = drawings.layered_dag(seed)
    place = positions(graph.layers, graph.n_items)
    for k, layer in enumerate(graph.layers):
        gain = preference(graph, layer, place)
        for a, b in pairwise(range(len(layer))):
            swapped = [list(row) for row in graph.layers]
            swapped[k][a], swapped[k][b] = layer[b], layer[a]
            change = drawings.crossings(graph, graph.layers) - drawings.crossings(graph, swapped)
            assert gain[a, b] == change


def test_a_sweep_sorts_by_the_mean_place_of_neighbours():
    graph = cut([0, 0, 1, 1, 1], [(0, 3), (0, 4), (1, 2), (1, 4)])
    layers = [[0, 1], [2, 3, 4]]
    sweep(graph, layers, downwards=True, flip=False)
    assert layers == [[0, 1], [3, 4, 2]]


def reach(graph, x):
    weights = coordinates.STRAIGHTNESS
    return sum(
        weights[(v >= graph.n_nodes) + (w >= graph.n_nodes)] * abs(x[v] - x[w])
        for v in range(graph.n_items)
        for w in graph.below[v]
    )


def primal_reach(graph, space):
    """The same linear program as the definition has it, with a variable for every |x - x'|."""
    pieces = [(v, w) for v in range(graph.n_items) for w in graph.below[v]]
    sides = [pair for layer in graph.layers for pair in pairwise(layer)]
    n, m = graph.n_items, len(pieces)
    rows, limits = [], []
    for k, (v, w) in enumerate(pieces):
        for sign in (1, -1):
            row = np.zeros(n + m)
            row[v], row[w], row[n + k] = sign, -sign, -1
            rows.append(row)
            limits.append(0.0)
    for a, b in sides:
        row = np.zeros(n + m)
        row[a], row[b] = 1, -1
        rows.append(row)
        limits.append(-space(a, b))
    cost = [
        coordinates.STRAIGHTNESS[(v >= graph.n_nodes) + (w >= graph.n_nodes)] for v, w in pieces
    ]
    bounds = [(None, None)] * n + [(0, None)] * m
    return linprog([0] * n + cost, np.array(rows), limits, bounds=bounds).fun


@pytest.mark.parametrize("seed", SEEDS)
def test_places_reach_aside_as_little_as_possible(seed):
    graph, sizes = drawings.layered_dag(seed)
    space = _space(graph, sizes)
    x = _shortest(graph, space)
    assert reach(graph, x) == pytest.approx(primal_reach(graph, space), rel=1e-9)
    assert reach(graph, _centre(graph, space, x)) <= reach(graph, x) + 1e-6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("start", [_shortest, _packed])
def test_items_keep_their_order_and_their_distance(seed, start, monkeypatch):
    graph, sizes = drawings.layered_dag(seed)
    space = _space(graph, sizes)
    if start is _packed:
        monkeypatch.setattr(coordinates, "MOST_EXACT", 0)
    x = place_items(graph, space)
    for layer in graph.layers:
        for a, b in pairwise(layer):
            assert x[b] - x[a] >= space(a, b) - 1e-6


def test_a_node_stands_in_the_middle_over_its_two_children():
    graph = cut([0, 1, 1], [(0, 1), (0, 2)])
    x = place_items(graph, lambda a, b: 50.0)
    assert x[0] == pytest.approx((x[1] + x[2]) / 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_ports_keep_their_order_and_stay_on_the_side(seed):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 15)), float(rng.integers(36, 200))
    places = spread(sorted(rng.normal(0, width / 2, n)), [1.0] * n, width)
    assert all(-width / 2 < x < width / 2 for x in places)
    steps = np.diff(places)
    assert np.all(steps > 0)
    assert np.all(steps >= min(SPACE, (width - 18) / max(n - 1, 1)) - 1e-9)
