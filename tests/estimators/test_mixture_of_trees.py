"""Mixtures of trees: sweeps, bounds and answers against enumeration; what they refuse."""

from itertools import product

import numpy as np
import pytest
from naive.tree_mixtures import completions, spanning_trees, tree_probability

import jensen as jn
from jensen.data.number_rows import NumberRows
from jensen.estimators.tree_choices import read_edges
from jensen.exceptions import EstimateWarning
from jensen.families import log_evidence
from jensen.families.trees import AllTrees, PairTables
from jensen.models.emissions.trees import TreeLabels, tree_tables

SIZES = (2, 3, 2, 2)
NAMES = ("a", "b", "c", "d")


def draw(n, seed=0, gaps=0.0):
    """Rows of two trees: a - b and c - d in one, a - c and b - d in the other."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, size, n) for size in SIZES], axis=1).astype(float)
    half, noise = n // 2, rng.random((n, 2)) < 0.15
    rows[:half, 1] = np.where(noise[:half, 0], rows[:half, 1], 2 * rows[:half, 0])
    rows[:half, 3] = np.where(noise[:half, 1], rows[:half, 3], rows[:half, 2])
    rows[half:, 2] = np.where(noise[half:, 0], rows[half:, 2], 1 - rows[half:, 0])
    rows[half:, 3] = np.where(noise[half:, 1], rows[half:, 3], rows[half:, 1] > 0)
    rows[rng.random(rows.shape) < gaps] = np.nan
    return rows


def table(rows, weights=None):
    """The same as a table of labels."""
    columns = {
        name: [None if np.isnan(x) else f"s{int(x)}" for x in rows[:, v]]
        for v, name in enumerate(NAMES)
    }
    states = {name: [f"s{x}" for x in range(size)] for name, size in zip(NAMES, SIZES, strict=True)}
    return jn.Table(columns, categorical=states).with_weights(weights)


def row_probability(trees, row):
    """p(seen of a row), by all components and completions."""
    fitted = trees.require_fitted()
    total = 0.0
    for k, weight in enumerate(trees.weights_):
        found = tree_tables(fitted.model.emission, fitted.t.components, k)
        root = next(v for v, (u, _) in enumerate(found) if u < 0)
        edges = [(u, v) for v, (u, _) in enumerate(found) if u >= 0]
        tables = {(u, v): part for v, (u, part) in enumerate(found)} | {root: found[root][1][0]}
        each = [tree_probability(x, edges, tables, root) for x in completions(row, SIZES)]
        total += weight * sum(each)
    return total


@pytest.fixture(scope="module")
def holed():
    rows = draw(160, gaps=0.2)
    trees = jn.MixtureOfTrees(2, random_state=1, n_init=3).fit(table(rows))
    return rows, trees


def test_likelihood_of_rows_with_holes(holed):
    rows, trees = holed
    expected = np.log([row_probability(trees, row) for row in rows])
    np.testing.assert_allclose(trees.log_likelihood(table(rows)), expected, rtol=1e-10)
    assert trees.free_energy_ == pytest.approx(expected.sum(), abs=1e-8)
    assert (np.diff(trees.trace_) > -1e-9).all()
    proba = trees.predict_proba(table(rows))
    np.testing.assert_allclose(proba.sum(1), 1.0)


def test_expected_counts_of_rows_with_holes(holed):
    rows, trees = holed
    fitted = trees.require_fitted()
    emission, t = fitted.model.emission, fitted.t.components
    nodes = np.random.default_rng(0).random((2, len(rows)))
    found = emission.observe(t, emission.encode(rows)).stats(0, len(rows), nodes)
    singles, pairs = np.zeros_like(found.singles), np.zeros_like(found.pairs)
    tables = emission.tables
    for k in range(2):
        links = tree_tables(emission, t, k)
        root = next(v for v, (u, _) in enumerate(links) if u < 0)
        edges = [(u, v) for v, (u, _) in enumerate(links) if u >= 0]
        parts = {(u, v): part for v, (u, part) in enumerate(links)} | {root: links[root][1][0]}
        for i, row in enumerate(rows):
            whole = completions(row, SIZES)
            p = np.array([tree_probability(x, edges, parts, root) for x in whole])
            for x, q in zip(whole, nodes[k, i] * p / p.sum(), strict=True):
                singles[k, tables.at[:-1] + x] += q
                for u, v in zip(*tables.columns, strict=True):
                    pairs[k, tables.pair_at[u, v] + x[u] * SIZES[v] + x[v]] += q
    np.testing.assert_allclose(found.singles, singles, atol=1e-9)
    np.testing.assert_allclose(found.pairs, pairs, atol=1e-9)


def test_one_tree_is_that_of_chow_and_liu():
    rows = table(draw(200))
    trees = jn.MixtureOfTrees(1).fit(rows)
    tree = jn.chow_liu(rows)
    assert trees.graph(0).skeleton() == tree.skeleton()
    assert trees.n_sweeps_ == 0
    assert trees.free_energy_ == pytest.approx(jn.score(tree, rows, "loglik"), abs=1e-8)
    assert f"{trees.n_parameters} free parameters" in repr(jn.BayesianNetwork(tree).fit(rows))


def test_one_tree_under_a_prior_is_the_mean_of_its_network():
    rows = table(draw(80))
    trees = jn.MixtureOfTrees(1, method="em", prior={"equivalent_sample_size": 3.0}).fit(rows)
    net = jn.BayesianNetwork(trees.graph(0), prior="bdeu", equivalent_sample_size=3.0).fit(rows)
    np.testing.assert_allclose(trees.log_likelihood(rows), net.log_likelihood(rows), rtol=1e-10)


def exact_evidence(rows, K, ess, concentration):
    """Log p(rows): a sum over all labels of components and, within each, over all trees."""
    from scipy.special import gammaln

    variables = [
        jn.Variable(n, "categorical", tuple("xyz"[:s])) for n, s in zip(NAMES, SIZES, strict=True)
    ]
    from jensen.estimators.tree_choices import make_trees

    emission = make_trees(
        1, variables, {"equivalent_sample_size": ess}, is_shared=False, is_whole=True
    )
    encoded = emission.encode(rows)
    total, n = [], len(rows)
    alpha = np.full(K, concentration)
    for labels in product(range(K), repeat=n):
        own = np.eye(K)[list(labels)]
        counts = own.sum(0)
        value = gammaln(alpha.sum()) - gammaln(alpha.sum() + n)
        value += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        for k in range(K):
            nothing = emission.blank
            seen = emission.observe(nothing, encoded).stats(0, n, own[:, k][None])
            value += log_evidence(emission.family, emission.prior, seen)
        total.append(value)
    return np.logaddexp.reduce(total)


def test_bound_lies_below_the_evidence_and_is_tight_for_one_component():
    rows = draw(8, seed=4)
    one = jn.MixtureOfTrees(1, prior={"equivalent_sample_size": 2.0}).fit(table(rows))
    assert one.is_bound_
    assert one.free_energy_ == pytest.approx(exact_evidence(rows, 1, 2.0, 1.0), abs=1e-9)
    prior = {"equivalent_sample_size": 2.0, "concentration": 0.5}
    two = jn.MixtureOfTrees(2, prior=prior, n_init=5, random_state=0).fit(table(rows))
    exact = exact_evidence(rows, 2, 2.0, 0.5)
    assert exact - 4.0 < two.free_energy_ < exact
    assert (np.diff(two.trace_) > -1e-9).all()


def test_q_of_trees_is_whole_on_complete_rows_and_a_point_with_holes():
    rows = np.floor(np.random.default_rng(2).random((30, 4)) * SIZES)
    whole = jn.MixtureOfTrees(1, prior={}).fit(table(rows))
    family = whole.require_fitted().model.families.components
    assert isinstance(family, AllTrees)
    each = whole.edge_probability(0)
    assert sum(each.values()) == pytest.approx(3.0)
    assert any(0.01 < p < 0.99 for p in each.values())
    rows[3, 1] = np.nan
    point = jn.MixtureOfTrees(1, prior={}).fit(table(rows))
    assert sorted(point.edge_probability(0).values()) == [1.0, 1.0, 1.0]
    assert point.free_energy_ < whole.free_energy_ + 5.0
    assert (np.diff(point.trace_) > -1e-9).all()


def test_bound_with_holes_lies_below_the_sum_over_completions():
    rows = draw(7, seed=5)
    rows[[0, 2, 4], [1, 0, 3]] = np.nan
    found = jn.MixtureOfTrees(1, prior={"equivalent_sample_size": 2.0}).fit(table(rows))
    every = product(*(completions(row, SIZES) for row in rows))
    exact = np.logaddexp.reduce([exact_evidence(np.array(x), 1, 2.0, 1.0) for x in every])
    assert exact - 3.0 < found.free_energy_ < exact


def test_components_find_the_trees_that_made_the_rows():
    rows = table(draw(2000, seed=7))
    trees = jn.MixtureOfTrees(2, prior={}, n_init=5, random_state=0).fit(rows)
    found = {frozenset(map(frozenset, trees.graph(k).edges)) for k in range(2)}
    wanted = [{frozenset("ab"), frozenset("cd")}, {frozenset("ac"), frozenset("bd")}]
    assert all(any(pair <= tree for tree in found) for pair in wanted)
    assert trees.n_components_ == 2


def test_starts_never_begin_with_equal_trees():
    rows = table(draw(100))
    for seed in range(4):
        trees = jn.MixtureOfTrees(3, random_state=seed, max_iter=0)
        with pytest.warns(EstimateWarning):
            trees.fit(rows)
        t = trees.require_fitted().t.components
        for j, k in ((0, 1), (0, 2), (1, 2)):
            assert not np.allclose(np.exp(t.pairs[j]), np.exp(t.pairs[k]))


def test_shared_structure():
    rows = table(draw(300))
    trees = jn.MixtureOfTrees(3, shared_structure=True, random_state=0).fit(rows)
    assert len({trees.graph(k) for k in range(3)}) == 1
    own = jn.MixtureOfTrees(3, start=trees).fit(rows)
    assert own.free_energy_ >= trees.free_energy_ - 1e-6
    whole = jn.MixtureOfTrees(2, shared_structure=True, prior={}, random_state=0).fit(rows)
    assert whole.edge_probability(0) == whole.edge_probability(1)


def test_edges_of_the_prior():
    rows = table(draw(200))
    free = jn.MixtureOfTrees(1, prior={}).fit(rows)
    assert free.edge_probability(0)["a", "b"] > 0.9
    barred = jn.MixtureOfTrees(1, prior={"edges": {("a", "b"): 0}}).fit(rows)
    assert ("a", "b") not in barred.edge_probability(0)
    beta = np.exp(np.random.default_rng(0).normal(size=(4, 4)))
    beta = beta + beta.T
    pairs = {(NAMES[u], NAMES[v]): beta[u, v] for u in range(4) for v in range(u)}
    np.testing.assert_allclose(read_edges(pairs, NAMES), read_edges(beta, NAMES))
    for method in ("em", "vbem"):
        one, other = (
            jn.MixtureOfTrees(1, method=method, prior={"edges": x}).fit(rows).free_energy_
            for x in (beta, 2.0 * beta)
        )
        assert one == pytest.approx(other, abs=1e-9)  # only ratios of β matter


def test_prior_of_trees_is_that_of_beta():
    tables = PairTables((2, 2, 2))
    log_beta = np.log([3.0, 1.0, 0.5])
    prior = tables.even(1, 1.0)
    from jensen.families.trees import edge_base

    family = AllTrees(tables, edge_base(tables, prior, log_beta, False))
    place, trees = {(0, 1): 0, (0, 2): 1, (1, 2): 2}, list(spanning_trees(3))
    each = np.exp([sum(log_beta[place[edge]] for edge in edges) for edges in trees])
    found = family.edges(prior)[0]
    with_ab = sum(p for p, edges in zip(each, trees, strict=True) if (0, 1) in edges)
    assert found[0, 1] == pytest.approx(with_ab / each.sum())


def test_weights_are_repetitions():
    rows = draw(50, gaps=0.1)
    times = np.random.default_rng(0).integers(0, 4, 50)
    weighted = jn.MixtureOfTrees(2, random_state=0).fit(table(rows, times.astype(float)))
    repeated = jn.MixtureOfTrees(2, random_state=0).fit(table(np.repeat(rows, times, axis=0)))
    assert weighted.free_energy_ == pytest.approx(repeated.free_energy_, rel=1e-9)


def test_order_of_rows_and_columns_changes_nothing():
    rows = draw(120, gaps=0.1)
    first = jn.MixtureOfTrees(2, random_state=0).fit(table(rows))
    turned = table(rows[::-1])
    other = jn.MixtureOfTrees(2, random_state=0).fit(turned.select(list("dbca")))
    assert other.free_energy_ == pytest.approx(first.free_energy_, rel=1e-12)
    assert other.graph(0) == first.graph(0)


def test_held_parts():
    rows = table(draw(150))
    start = jn.MixtureOfTrees(2, prior={}, method="em", random_state=0).fit(rows)
    held = jn.MixtureOfTrees(2, start=start, fixed=["components"]).fit(rows)
    for k in range(2):
        assert sorted(map(sorted, held.graph(k).edges)) == sorted(map(sorted, start.graph(k).edges))
    even = jn.MixtureOfTrees(2, start=start, fixed=["weights"]).fit(rows)
    np.testing.assert_allclose(even.weights_, start.weights_)
    again = jn.MixtureOfTrees(2, start=start, max_iter=0)
    with pytest.warns(EstimateWarning):
        again.fit(rows)
    np.testing.assert_allclose(again.log_likelihood(rows), start.log_likelihood(rows), rtol=1e-8)


def test_samples_are_as_probable_as_their_rows():
    trees = jn.MixtureOfTrees(2, random_state=0).fit(table(draw(300)))
    rows, states = trees.sample(20_000, random_state=1)
    share = rows.value_counts(normalize=True)
    shown = share.index.to_frame(index=False)
    expected = np.exp(trees.log_likelihood(shown))
    np.testing.assert_allclose(share.to_numpy(), expected, atol=0.012)
    np.testing.assert_allclose(np.bincount(states) / 20_000, trees.weights_, atol=0.012)


def test_surplus_trees_die_and_are_pruned():
    rows = table(draw(4))
    trees = jn.MixtureOfTrees(6, prior={"concentration": 0.01}, random_state=0).fit(rows)
    assert trees.n_components_ < 6
    pruned = trees.prune()
    assert pruned.require_fitted().model.n_states == trees.n_components_ == pruned.n_components
    np.testing.assert_allclose(pruned.log_likelihood(rows), trees.log_likelihood(rows), atol=0.5)
    drawn, _ = trees.sample(500, random_state=0)
    assert np.isfinite(trees.log_likelihood(drawn)).all()


def test_components_answer_queries():
    rows = table(draw(300))
    trees = jn.MixtureOfTrees(2, random_state=0, prior={}, method="em").fit(rows)
    each = np.stack([trees.component(k).log_likelihood(rows) for k in range(2)])
    total = np.logaddexp.reduce(each + np.log(trees.weights_)[:, None], axis=0)
    np.testing.assert_allclose(trees.log_likelihood(rows), total, rtol=1e-10)


def test_labels_are_predicted_from_the_other_columns():
    rows = draw(200, gaps=0.1)
    trees = jn.MixtureOfTrees(2, random_state=0, prior={}, method="em").fit(table(rows))
    proba = trees.predict_proba(table(rows), target="b")
    for i in (0, 50, 150):
        each = []
        for label in range(3):
            row = rows[i].copy()
            row[1] = label
            each.append(row_probability(trees, row))
        np.testing.assert_allclose(proba[i], np.array(each) / sum(each), rtol=1e-9)
    labels = trees.predict(table(rows), target="b")
    assert labels[0] == f"s{proba[0].argmax()}"
    without = table(rows).select(["a", "c", "d"])
    np.testing.assert_allclose(trees.predict_proba(without, target="b"), proba)
    found = trees.query("b", given={"a": "s1"})
    row = np.array([1.0, np.nan, np.nan, np.nan])
    each = []
    for label in range(3):
        row[1] = label
        each.append(row_probability(trees, row))
    np.testing.assert_allclose([found[f"s{x}"] for x in range(3)], np.array(each) / sum(each))


def test_validation_rows_decide_where_to_end():
    rows, other = table(draw(60, seed=1)), table(draw(200, seed=8))
    free = jn.MixtureOfTrees(8, prior={}, method="em", random_state=0).fit(rows)
    assert free.validation_score_ is None
    early = jn.MixtureOfTrees(8, prior={}, method="em", random_state=0).fit(rows, validation=other)
    assert early.validation_score_ == early.score(other) > free.score(other)
    assert early.n_sweeps_ < free.n_sweeps_
    assert len(early.trace_) == early.n_sweeps_ + 1


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"n_components": 0}, "n_components must be a whole number, 1 or more"),
        ({"method": "gibbs"}, "the method 'gibbs' is not for this model"),
        ({"prior": {"equivalent_sample_size": 0}}, "must be a number above 0, not 0"),
        ({"prior": {"edge": 1.0}}, "edge"),
        ({"prior": {"edges": {("a", "q"): 1.0}}}, "prior\\['edges'\\] names 'q'"),
        ({"prior": {"edges": {"ab": 1.0}}}, "dict from pairs of two names"),
        ({"prior": {"edges": {("a", "b"): "x"}}}, "must be a number, not 'x'"),
        ({"prior": {"edges": np.ones((2, 2))}}, "symmetric matrix of the shape"),
        ({"prior": {"edges": -np.ones((4, 4))}}, "finite numbers, 0 or more"),
        ({"prior": {"edges": np.zeros((4, 4))}}, "forbids so many edges that no tree is left"),
        ({"start": {"weights": [0.5, 0.5]}}, "start must be a fitted MixtureOfTrees"),
    ],
)
def test_choices_that_are_refused(choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.MixtureOfTrees(**{"n_components": 2, **choices}).fit(table(draw(20)))


def test_rows_that_are_refused():
    with pytest.raises(jn.DataError, match=r"'x' holds numbers: use jn\.discretize"):
        jn.MixtureOfTrees(2).fit({"a": ["p", "q"] * 5, "x": np.arange(10.0) + 0.5})
    with pytest.raises(jn.DataError, match="there is nothing to learn from"):
        jn.MixtureOfTrees(2).fit({"a": []})
    trees = jn.MixtureOfTrees(2, random_state=0).fit(table(draw(30)))
    with pytest.raises(jn.DataError, match="the column 'b' is missing"):
        trees.log_likelihood({"a": ["s0"], "c": ["s0"], "d": ["s0"]})
    with pytest.raises(jn.JensenError, match="there is no tree 2: they are numbered 0 to 1"):
        trees.graph(2)
    with pytest.raises(jn.JensenError, match="start= has 2 trees, and n_components=3"):
        jn.MixtureOfTrees(3, start=trees).fit(table(draw(30)))
    with pytest.raises(jn.JensenError, match="start= was fitted to other columns"):
        jn.MixtureOfTrees(2, start=trees).fit({"a": ["p", "q"] * 5})
    with pytest.raises(jn.JensenError, match="'z'"):
        trees.predict(table(draw(5)), target="z")


def test_encoding_keeps_rows_with_and_without_holes_apart():
    emission = TreeLabels(2, PairTables(SIZES), None)
    rows = emission.encode(draw(10, gaps=0.3))
    assert sorted([*rows.seen, *rows.holed]) == list(range(10))
    assert NumberRows.of(draw(3)).n_rows == 3
