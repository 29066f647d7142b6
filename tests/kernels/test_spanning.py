"""Spanning trees against networkx, and ties by the smallest pair."""

import networkx as nx
import numpy as np
import pytest

import jensen as jn
from jensen.kernels import graphs


def grown(weights, stage, by_rows):
    n = len(weights)
    outside, best, near = np.ones(n, bool), np.zeros(n), np.full(n, -1)
    if not by_rows:
        graphs.grow(weights, stage, best, near)
        return near, best
    vertex = int(np.argmin(stage))
    while vertex >= 0:
        vertex = graphs.take_in(weights[vertex], vertex, stage, outside, best, near)
    return near, best


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("by_rows", [False, True])
def test_the_weight_is_that_of_networkx(n, by_rows):
    rng = np.random.default_rng(n)
    for round_to in (15, 1):  # many ties the second time
        upper = np.triu(rng.normal(size=(n, n)).round(round_to), 1)
        weights = upper + upper.T
        near, best = grown(weights, np.zeros(n, np.int64), by_rows)
        tree = nx.maximum_spanning_tree(nx.from_numpy_array(weights + 10.0))
        total = sum(w - 10.0 for _, _, w in tree.edges.data("weight"))
        assert np.count_nonzero(near < 0) == 1
        np.testing.assert_allclose(best.sum(), total, atol=1e-10)
        children = np.flatnonzero(near >= 0)
        np.testing.assert_array_equal(best[children], weights[near[children], children])


@pytest.mark.parametrize("by_rows", [False, True])
def test_lower_stages_come_first(by_rows):
    weights = np.ones((4, 4))
    weights[1, 3] = weights[3, 1] = 0.1
    near, _ = grown(weights, np.array([1, 0, 1, 0]), by_rows)
    assert near.tolist() == [1, -1, 0, 1]


def test_noise_below_the_tie_does_not_decide():
    rng = np.random.default_rng(0)
    for _ in range(20):
        noise = np.triu(rng.uniform(0.0, 1e-13, (6, 6)), 1)
        near, _ = grown(1.0 + noise + noise.T, np.zeros(6, np.int64), by_rows=False)
        assert near.tolist() == [-1, 0, 0, 0, 0, 0]


@pytest.mark.compiled
def test_kernels_of_trees_see_one_type(check_signatures):
    rng = np.random.default_rng(0)
    columns = {"a": [0, 1, 1, 0] * 10, "b": [0, 1] * 20, "c": list(range(40))}
    for weights in (None, rng.integers(0, 3, 40), np.float32(rng.random(40))):
        for kinds in ({"categorical": ["c"]}, {"continuous": ["c"]}):
            table = jn.Table(columns, weights=weights, **kinds)
            for penalty in (None, "bic"):
                jn.chow_liu(table, score=penalty)
        jn.tan(jn.Table(columns, weights=weights, categorical=["c"]), "a", smoothing=1)
    check_signatures()
