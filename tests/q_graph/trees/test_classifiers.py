"""Trees beside a class: what is learned, and that it classifies."""

from itertools import product

import numpy as np
import pytest

import jensen as jn


def noisy_parity(n_rows, seed):
    """The class is the parity of x and y, mostly; z copies x, mostly."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 2, (2, n_rows))
    c = (x + y + (rng.random(n_rows) < 0.1)) % 2
    z = (x + (rng.random(n_rows) < 0.2)) % 2
    return jn.Table({"c": c, "x": x, "y": y, "z": z})


def accuracy(graph, seed=1):
    net = jn.BayesianNetwork(graph, prior="bdeu").fit(noisy_parity(2_000, 0))
    rows = noisy_parity(2_000, seed)
    return np.mean(net.predict(rows, "c").astype(int) == rows.column("c").data)


def test_the_tree_sees_what_naive_bayes_cannot():
    table = noisy_parity(2_000, 0)
    tree, naive = jn.tan(table, "c"), jn.naive_bayes(table, "c")
    assert naive == jn.DAG("c -> x; c -> y; c -> z")
    assert tree == jn.DAG("c -> x; c -> y; c -> z; x -> y; x -> z")
    assert accuracy(tree) > 0.85
    assert accuracy(naive) < 0.6


def test_the_score_of_the_tree_is_told():
    table = noisy_parity(60, 3).with_weights(np.random.default_rng(0).integers(0, 3, 60))
    info = jn.tan(table, "c").info
    assert (info.method, info.score_name, info.proven, info.gap) == ("tan", "loglik", True, 0.0)
    np.testing.assert_allclose(info.score, jn.score(jn.tan(table, "c"), table, "loglik"))
    alone = jn.tan({"c": ["u", "v", "v"]}, "c").info.score
    np.testing.assert_allclose(alone, np.log(1 / 3) + 2 * np.log(2 / 3), rtol=1e-12)


def test_imagined_rows_count_in_the_score_of_the_tree():
    """Smoothing by 4 is a row more in each of the 2⁴ configurations."""
    table = noisy_parity(60, 3)
    rows = np.array([table.column(name).data for name in "cxyz"]).T.tolist()
    seen = np.array([*rows, *product([0, 1], repeat=4)]).T
    both = jn.Table(dict(zip("cxyz", seen, strict=True)))
    found = jn.tan(table, "c", smoothing=4)
    assert found == jn.tan(both, "c")
    np.testing.assert_allclose(found.info.score, jn.score(found, both, "loglik"), rtol=1e-12)


@pytest.mark.parametrize("root", [None, "x", "y", "z"])
@pytest.mark.parametrize("smoothing", [0, 1])
def test_no_tree_beside_the_class_is_better(root, smoothing):
    """Of all trees over the features by enumeration, and for any root."""
    table = noisy_parity(60, 3)
    found = jn.tan(table, "c", root=root, smoothing=smoothing)
    assert found.parents(root or "x") == ("c",)
    if smoothing:
        return
    best = jn.score(found, table, "loglik")
    np.testing.assert_allclose(found.info.score, best, rtol=1e-12)
    for a, b, c in product("xyz", repeat=3):
        arrows = {("c", f) for f in "xyz"} | {(a, "x"), (b, "y"), (c, "z")}
        try:
            other = jn.DAG([pair for pair in arrows if pair[0] != pair[1]])
        except jn.GraphError:
            continue
        assert jn.score(other, table, "loglik") <= best + 1e-9


@pytest.mark.parametrize("learn", [jn.tan, jn.naive_bayes])
def test_probabilities_are_those_of_bayes(learn):
    table = noisy_parity(500, 0)
    graph = learn(table, "c")
    net = jn.BayesianNetwork(graph).fit(table)
    rows = {"x": [0, 1, 1], "y": [0, 0, 1], "z": [1, 0, 1]}
    found = net.predict_proba(rows, "c")
    joint = np.array(
        [np.exp(net.log_likelihood({**rows, "c": [label] * 3})) for label in net.states["c"]]
    )
    np.testing.assert_allclose(found, (joint / joint.sum(0)).T, rtol=1e-10)


def test_weighted_rows_and_columns_in_any_order():
    table = noisy_parity(200, 0)
    weights = np.random.default_rng(0).integers(0, 3, 200)
    repeated = table.take(np.repeat(np.arange(200), weights))
    assert jn.tan(table.with_weights(weights), "c") == jn.tan(repeated, "c")
    assert jn.tan(table.select(["z", "y", "x", "c"]), "c") == jn.tan(table, "c")


def test_few_features():
    assert jn.tan({"c": [0, 1, 1]}, "c") == jn.naive_bayes({"c": [0, 1]}, "c") == jn.DAG("c")
    assert jn.tan({"c": [0, 1, 1], "x": [0, 0, 1]}, "c") == jn.DAG("c -> x")


def test_a_class_that_misses_states():
    table = jn.Table(
        {"c": ["p", "q", "q"], "x": [0, 0, 1], "y": [0, 1, 1]}, states={"c": ["o", "p", "q"]}
    )
    expected = jn.DAG("c -> x; c -> y; x -> y")
    assert jn.tan(table, "c") == jn.tan(table, "c", smoothing=1) == expected


def test_naive_bayes_reads_only_the_columns():
    table = {"c": ["p", None], "x": [0.5, None], "n": [3, 4]}
    assert jn.naive_bayes(table, "c") == jn.DAG("c -> n; c -> x")
