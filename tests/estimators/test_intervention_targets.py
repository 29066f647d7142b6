"""Rows in which a variable was set from outside, against definitions by enumeration."""

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import jensen as jn
from jensen.exceptions import DataError

GRAPH = "a -> b; a -> c; b -> c; c -> d"
NAMES = ["a", "b", "c", "d"]
PARENTS = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c"]}


def binary_rows(n=400, seed=0):
    """Rows of the graph, and which variable was set by a coin in each, if any."""
    rng = np.random.default_rng(seed)
    was_set = rng.choice(["", "b", "c"], n, p=[0.5, 0.3, 0.2])
    x = {}
    for name in NAMES:
        odds = 0.2 + 0.5 * np.mean([x[p] for p in PARENTS[name]] or [np.full(n, 0.3)], axis=0)
        x[name] = np.where(was_set == name, rng.random(n) < 0.5, rng.random(n) < odds).astype(int)
    return x, was_set


def with_gaps(x, was_set, share=0.25, seed=1):
    """The same with values missing; never one that was set."""
    rng = np.random.default_rng(seed)
    return {
        name: [
            None if lost and name != target else value
            for value, lost, target in zip(
                x[name].tolist(), rng.random(len(was_set)) < share, was_set, strict=True
            )
        ]
        for name in NAMES
    }


def table_of(x, was_set):
    labels = {name: [0, 1] for name in NAMES}
    return jn.Table({**x, "INT": [label or None for label in was_set]}, states=labels)


def log_likelihood(net, x, was_set):
    """Σ log p(row | what was set), summed over what is missing."""
    tables = {name: net.cpt(name).values for name in NAMES}
    total = 0.0
    for i, target in enumerate(was_set):
        seen = [[x[name][i]] if x[name][i] is not None else [0, 1] for name in NAMES]
        chance = 0.0
        for states in itertools.product(*seen):
            at = dict(zip(NAMES, map(int, states), strict=True))
            chance += np.prod(
                [
                    tables[name][(*(at[p] for p in PARENTS[name]), at[name])]
                    for name in NAMES
                    if name != target
                ]
            )
        total += np.log(chance)
    return total


def test_a_row_is_left_out_of_the_family_that_was_set():
    x, was_set = binary_rows()
    net = jn.BayesianNetwork(GRAPH).fit(table_of(x, was_set), interventions="INT")
    for name in NAMES:
        rows = was_set != name
        for config in itertools.product([0, 1], repeat=len(PARENTS[name])):
            match = rows & np.all(
                [x[p] == s for p, s in zip(PARENTS[name], config, strict=True)] or [rows], axis=0
            )
            expected = np.mean(x[name][match] == 1)
            assert net.cpt(name).values[(*config, 1)] == pytest.approx(expected, rel=1e-12)
    assert net.free_energy_ == pytest.approx(log_likelihood(net, x, was_set), rel=1e-12)


@pytest.mark.parametrize("method", ["em", "vbem"])
def test_with_missing_values(method):
    """F of EM is the log-likelihood by enumeration; no sweep lowers F (the loop checks that)."""
    x, was_set = binary_rows(150)
    x = with_gaps(x, was_set)
    net = jn.BayesianNetwork(GRAPH, method=method, random_state=0)
    net.fit(table_of(x, was_set), interventions="INT")
    assert net.converged_
    if method == "em":
        assert net.free_energy_ == pytest.approx(log_likelihood(net, x, was_set), rel=1e-10)
    other = jn.BayesianNetwork(GRAPH, method=method, random_state=0).fit(table_of(x, was_set))
    assert not net.equals(other, 1e-3)


def test_one_name_per_row_is_the_same_as_a_column_and_none_as_nothing():
    x, was_set = binary_rows(100)
    table = table_of(x, was_set)
    net = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(table, interventions="INT")
    assert net.equals(jn.BayesianNetwork(GRAPH, prior="bdeu").fit(x, interventions=was_set), 1e-12)
    plain = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(x)
    nobody = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(x, interventions=[None] * 100)
    assert plain.equals(nobody)
    assert not plain.equals(net, 1e-3)


def test_weights_count_rows():
    x, was_set = binary_rows(60)
    weights = np.random.default_rng(2).integers(0, 4, 60)
    heavy = jn.BayesianNetwork(GRAPH, prior=1.0).fit(
        table_of(x, was_set).with_weights(weights.astype(float)), interventions="INT"
    )
    often = np.repeat(np.arange(60), weights)
    repeated = table_of({name: x[name][often] for name in NAMES}, was_set[often])
    assert heavy.equals(
        jn.BayesianNetwork(GRAPH, prior=1.0).fit(repeated, interventions="INT"), 1e-9
    )


def test_the_evidence_is_the_score_of_the_graph():
    x, was_set = binary_rows()
    table = table_of(x, was_set)
    net = jn.BayesianNetwork(GRAPH, prior="bdeu", equivalent_sample_size=3.0)
    net.fit(table, interventions="INT")
    score = jn.score(jn.DAG(GRAPH), table, "bdeu", equivalent_sample_size=3.0, interventions="INT")
    assert net.free_energy_ == pytest.approx(score, rel=1e-12)


def test_a_value_that_was_set_but_is_missing_is_refused():
    table = {"a": [0, 1, 1], "b": [0, None, 1], "INT": [None, "b", None]}
    with pytest.raises(DataError, match="row 2 says that 'b' was set, but not to what"):
        jn.BayesianNetwork("a -> b").fit(table, interventions="INT")


def test_a_column_outside_the_graph_may_have_been_set():
    table = {"a": [0, 1, 1, 0], "z": [0, 1, 1, 1], "INT": ["z", "z", None, "z"]}
    net = jn.BayesianNetwork("a").fit(table, interventions="INT")
    assert net.equals(jn.BayesianNetwork("a").fit(table))


# --- continuous columns ---


def gaussian_rows(n=300, seed=3):
    rng = np.random.default_rng(seed)
    was_set = rng.choice(["", "b"], n, p=[0.6, 0.4])
    a = rng.normal(1.0, 1.0, n)
    b = np.where(was_set == "b", rng.normal(0.0, 3.0, n), 2.0 * a + rng.normal(0.0, 0.5, n))
    c = a - b + rng.normal(0.0, 1.0, n)
    return {"a": a, "b": b, "c": c}, was_set


def gaussian_likelihood(net, x, was_set):
    """Σ log density of what is seen: of a row in which b was set, given b and cut from a."""
    total = 0.0
    parts = {name: net.regression(name) for name in "abc"}
    for i, target in enumerate(was_set):
        slopes, mean, noise = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
        for v, name in enumerate("abc"):
            part = parts[name]
            if name == target:
                noise[v] = 1.0
                continue
            noise[v], mean[v] = part.variance, part.intercept
            for parent, slope in part.coefficients.items():
                slopes[v, "abc".index(parent)] = slope
        root = np.linalg.inv(np.eye(3) - slopes)
        covariance = root @ np.diag(noise) @ root.T
        row = np.array([x[name][i] for name in "abc"])
        seen = np.flatnonzero(~np.isnan(row))
        if len(seen):
            density = multivariate_normal((root @ mean)[seen], covariance[np.ix_(seen, seen)])
            total += density.logpdf(row[seen])
        if target == "b":
            total -= multivariate_normal(0.0, 1.0).logpdf(row[1])
    return total


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_gaussian_rows(share):
    x, was_set = gaussian_rows()
    lost = np.random.default_rng(4).random((3, 300)) < share
    lost[1] &= was_set != "b"
    x = {name: np.where(lost[v], np.nan, x[name]) for v, name in enumerate("abc")}
    net = jn.BayesianNetwork("a -> b; a -> c; b -> c", random_state=0, tol=1e-12)
    net.fit(x, interventions=was_set)
    assert net.free_energy_ == pytest.approx(gaussian_likelihood(net, x, was_set), rel=1e-9)
    assert net.regression("b").coefficients["a"] == pytest.approx(2.0, abs=0.2)
    if share == 0.0:
        here = was_set != "b"
        design = np.column_stack([np.ones(here.sum()), x["a"][here]])
        found = np.linalg.lstsq(design, x["b"][here], rcond=None)[0]
        assert net.regression("b").coefficients["a"] == pytest.approx(found[1], rel=1e-9)


def test_gaussian_evidence_is_bge():
    x, was_set = gaussian_rows()
    net = jn.BayesianNetwork("a -> b; a -> c; b -> c", prior="bge").fit(x, interventions=was_set)
    score = jn.score(jn.DAG("a -> b; a -> c; b -> c"), x, "bge", interventions=was_set)
    assert net.free_energy_ == pytest.approx(score, rel=1e-10)
