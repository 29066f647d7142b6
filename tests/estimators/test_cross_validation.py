"""Losses of rows that were left out."""

import math
import signal

import numpy as np
import pytest

import jensen as jn
from jensen.estimators import cross_validation


@pytest.fixture(scope="module")
def table():
    return jn.examples.load("cancer").sample(300, random_state=0)


def folds_of(n_rows, folds, seed):
    return np.random.default_rng(seed).permutation(n_rows) % folds


def test_every_fold_is_predicted_by_what_the_others_teach(table):
    found = jn.cross_validate(table, folds=4, random_state=1, score="bic")
    fold_of = folds_of(300, 4, 1)
    for k in range(4):
        train, test = table.take(fold_of != k), table.take(fold_of == k)
        dag = jn.learn_structure(train, score="bic")
        net = jn.BayesianNetwork(dag, prior="bdeu").fit(train)
        assert found.losses[k] == pytest.approx(-net.score(test), rel=1e-12)
        assert found.graphs[k] == dag
    assert found.weights.tolist() == [75.0] * 4
    assert found.mean == pytest.approx(found.losses.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(found.losses.std(ddof=1) / 2, rel=1e-12)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_leaves_no_half_graphs(table, monkeypatch, n_threads):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    jn.set_threads(n_threads)

    def learn(*args, **choices):
        signal.raise_signal(signal.SIGINT)
        return jn.learn_structure(*args, **choices)

    monkeypatch.setattr(cross_validation, "learn_structure", learn)
    try:
        with pytest.raises(KeyboardInterrupt):
            jn.cross_validate(table, folds=5, random_state=0)
    finally:
        signal.signal(signal.SIGINT, before)
        jn.set_threads(None)


@pytest.mark.parametrize(
    "rule",
    [
        lambda: {"required": (pair for pair in [("Xray", "Smoker")])},
        lambda: {"tiers": iter([iter(["Xray"]), iter(["Cancer"])]), "required": "Xray -> Smoker"},
        lambda: {"forbidden": iter([("Cancer", "Xray")]), "required": iter([["Xray", "Smoker"]])},
    ],
)
def test_constraints_may_be_iterators(table, rule):
    found = jn.cross_validate(table, folds=4, random_state=0, **rule())
    assert all(("Xray", "Smoker") in graph.edges for graph in found.graphs)
    if len(rule()) > 1:
        assert all(("Cancer", "Xray") not in graph.edges for graph in found.graphs)


def test_a_target_is_predicted_from_the_others(table):
    graph = jn.examples.load("cancer").graph
    found = jn.cross_validate(table, graph, folds=3, random_state=0, target="Cancer")
    fold_of = folds_of(300, 3, 0)
    train, test = table.take(fold_of != 0), table.take(fold_of == 0)
    net = jn.BayesianNetwork(graph, prior="bdeu").fit(train)
    p = net.predict_proba(test, "Cancer")
    codes = test.column("Cancer").data
    assert found.losses[0] == pytest.approx(-np.log(p[np.arange(len(p)), codes]).mean(), rel=1e-9)


def test_continuous_columns():
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    table = {"a": a, "b": 2 * a + rng.normal(size=200)}
    joined = jn.cross_validate(table, folds=4, random_state=0)
    apart = jn.cross_validate(table, jn.DAG("a; b"), folds=4, random_state=0)
    assert joined.mean < apart.mean - 0.3
    given = jn.cross_validate(table, "a -> b", folds=4, random_state=0, target="b")
    assert given.mean == pytest.approx(0.5 * math.log(2 * math.pi * math.e), abs=0.15)


def test_weights_count_as_often_as_they_say(table):
    weights = np.ones(300)
    weights[:10] = 0.0
    found = jn.cross_validate(
        table.with_weights(weights), "Cancer; Smoker", folds=3, random_state=0
    )
    assert found.weights.sum() == 290.0


def test_it_prints_as_a_table(table):
    text = repr(jn.cross_validate(table, "Cancer; Smoker", folds=2, random_state=0))
    assert text.splitlines()[0].split() == ["fold", "rows", "log-loss"]
    assert text.splitlines()[-1].startswith("all")


def test_the_sample_size_counts_for_the_parameters(table):
    strong, weak = (
        jn.cross_validate(
            table, "Cancer -> Xray", folds=2, random_state=0, equivalent_sample_size=s
        )
        for s in (1000.0, 1.0)
    )
    assert strong.mean > weak.mean


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"folds": 1}, "folds must be a whole number, 2 or more"),
        ({"folds": 301}, "301 folds need as many rows, and there are 300"),
        ({"graph": "Cancer; Smoker", "max_parents": 2}, "there is none to learn"),
        ({"interventions": "Smoker"}, "it has no interventions="),
        ({"graph": "Cancer; Smoker", "target": "x"}, "^target='x' is no node of the graph, so"),
        (
            {"graph": "Cancer; Smoker", "target": "Xray"},
            "^target='Xray' is no node of the graph, so nothing predicts it: choose one of Cancer, "
            "Smoker$",
        ),
        ({"target": "x"}, "^target='x' is no column, so nothing predicts it: choose one of "),
    ],
)
def test_refusals(table, choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.cross_validate(table, **choices)
