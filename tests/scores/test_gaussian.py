"""Scores of continuous columns against their definitions."""

from itertools import combinations

import numpy as np
import pytest
from naive import gaussian_networks as naive
from naive import scores

import jensen as jn
from jensen.data.statistics import merged, moments_of
from jensen.families import schur
from jensen.scores.gaussian_scorer import GaussianScorer

NAMES = ("a", "b", "c", "d")
SCALE = np.diag([1.0, 2.0, 0.5, 3.0]) + 0.2
PRIORS = [
    {},
    {"prior_mean": 0.0},
    {"prior_mean": [1.0, -2.0, 0.5, 3.0], "mean_strength": 0.3},
    {"scale": "unit"},
    {"degrees_of_freedom": 3.5, "scale": 2.5},
    {"degrees_of_freedom": 9.0, "scale": SCALE, "mean_strength": 4.0},
]


def make_data(n_rows, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    b = 2.0 * a + rng.normal(size=n_rows)
    c = rng.normal(size=n_rows) * 0.3
    d = b - 3.0 * c + 0.5 * rng.normal(size=n_rows)
    return {"a": a + offset, "b": b - offset, "c": c, "d": d + 2.0 * offset}


def parent_sets(x):
    others = [name for name in NAMES if name != x]
    return [list(p) for k in range(len(others) + 1) for p in combinations(others, k)]


@pytest.mark.parametrize("name", [x for x, twin in scores.SCORES.items() if twin.penalty])
def test_likelihoods_are_those_of_least_squares(name):
    data = make_data(30)
    for x in NAMES:
        for parents in parent_sets(x):
            found = jn.local_scores(jn.DAG.from_parents({x: parents}), data, name)[x]
            assert found == pytest.approx(scores.SCORES[name].numbers(data, x, parents), rel=1e-11)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_rows", [1, 2, 25])
def test_bge_is_a_ratio_of_evidences(prior, n_rows):
    data = make_data(n_rows)
    if n_rows == 1 and "scale" not in prior:
        prior = {**prior, "scale": "unit"}  # a row has no variance
    scorer = GaussianScorer.of(jn.Table(data, continuous=NAMES), "bge", **prior)
    for v, x in enumerate(NAMES):
        for parents in parent_sets(x):
            found = scorer.family(v, [NAMES.index(p) for p in parents])
            assert found == pytest.approx(naive.bge(data, x, parents, **prior), rel=1e-9, abs=1e-9)


def test_a_score_of_a_graph_is_that_of_its_nodes_only():
    data = make_data(20)
    prior = {"prior_mean": {"a": 0.0, "b": 1.0}, "scale": 0.7}
    found = jn.score("a -> b", {**data, "a label": ["x"] * 20}, "bge", **prior)
    two = {name: data[name] for name in "ab"}
    chosen = {"prior_mean": [0.0, 1.0], "scale": 0.7}
    expected = naive.bge(two, "a", [], **chosen) + naive.bge(two, "b", ["a"], **chosen)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["bge", "loglik", "aic", "bic"])
def test_equivalent_graphs_score_the_same(name):
    data = make_data(50)
    chain, reverse, fork = (
        jn.score(g, data, name) for g in ("a -> b -> c", "a <- b <- c", "a <- b -> c")
    )
    assert chain == pytest.approx(reverse, rel=1e-12)
    assert chain == pytest.approx(fork, rel=1e-12)
    assert jn.score("a -> b <- c", data, name) != pytest.approx(chain, rel=1e-6)


@pytest.mark.parametrize("name", ["bge", "loglik", "bic"])
def test_weights_are_repeated_rows(name):
    data = make_data(20)
    weights = np.random.default_rng(1).integers(0, 4, 20)
    data["c"][weights == 0] = np.nan  # nobody looks there
    table = jn.Table(data, weights=weights)
    twice = naive.repeated(data, weights)
    dag = jn.DAG.from_parents({"d": ["b", "c"], "b": ["a"]})
    found, expected = jn.local_scores(dag, table, name), jn.local_scores(dag, twice, name)
    assert found == pytest.approx(expected, rel=1e-11)


def test_far_from_zero_nothing_is_lost():
    near, far = make_data(200), make_data(200, offset=1e8)
    graph = "a -> b -> d <- c"
    for name in ("bge", "bic"):
        # the columns themselves are rounded to 1e-8
        assert jn.score(graph, far, name) == pytest.approx(jn.score(graph, near, name), abs=1e-4)


def test_the_order_of_columns_changes_nothing():
    data = make_data(40)
    turned = {name: data[name] for name in reversed(NAMES)}
    for name in ("bge", "bic"):
        one, other = (GaussianScorer.of(jn.Table(x), name) for x in (data, turned))
        assert one.names == other.names == NAMES
        assert one.family(3, [0, 1]) == other.family(3, [0, 1])


SCORES = [("bge", {}), ("bge", PRIORS[-1]), ("loglik", {}), ("bic", {})]


@pytest.mark.parametrize(("name", "prior"), SCORES)
def test_many_scores_at_once_are_the_single_ones(name, prior):
    scorer = GaussianScorer.of(jn.Table(make_data(15)), name, **prior)
    for child in range(4):
        for parents in ([], [(child + 1) % 4], [(child + 3) % 4, (child + 1) % 4]):
            more = scorer.with_each(child, parents)
            for u in set(range(4)) - {child, *parents}:
                assert more[u] == pytest.approx(scorer.family(child, [*parents, u]), rel=1e-11)
            fewer = scorer.without_each(child, parents)
            assert fewer.shape == (len(parents),)
            for j, p in enumerate(parents):
                rest = [q for q in parents if q != p]
                assert fewer[j] == pytest.approx(scorer.family(child, rest), rel=1e-11)


@pytest.mark.parametrize(("name", "prior"), SCORES)
def test_scores_are_differences_of_a_function_of_sets(name, prior):
    scorer = GaussianScorer.of(jn.Table(make_data(15)), name, **prior)
    assert scorer.is_set_function
    every = scorer.all_set_values()
    assert every.shape == (16,)
    for mask in range(16):
        members = [v for v in range(4) if mask >> v & 1]
        assert every[mask] == pytest.approx(scorer.set_value(members), rel=1e-11, abs=1e-11)
        for child in members:
            rest = [v for v in members if v != child]
            found = scorer.set_value(members) - scorer.set_value(rest)
            assert found == pytest.approx(scorer.family(child, rest), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", ["bge", "bic"])
def test_rows_in_which_a_variable_was_set_are_left_out_of_its_family(name):
    data = make_data(60)
    was_set = np.random.default_rng(3).integers(-1, 2, 60)  # nothing, a or b
    data["b"][was_set == 1] = 1e6  # far away
    scorer = GaussianScorer.of(
        jn.Table(data),
        name,
        interventions=was_set,
        **({"prior_mean": 0.0, "scale": 2.0} if name == "bge" else {}),
    )
    assert not scorer.is_set_function
    for child in range(4):
        kept = {x: column[was_set != child] for x, column in data.items()}
        choices = {"prior_mean": 0.0, "scale": 2.0} if name == "bge" else {}
        alone = GaussianScorer.of(jn.Table(kept), name, **choices)
        parents = [v for v in (0, 2) if v != child]
        assert scorer.family(child, parents) == pytest.approx(alone.family(child, parents))
        u = next(v for v in (3, 1) if v != child)
        assert scorer.with_each(child, parents)[u] == pytest.approx(
            alone.family(child, [*parents, u])
        )
        assert scorer.without_each(child, parents) == pytest.approx(
            alone.without_each(child, parents)
        )
    with pytest.raises(jn.JensenError, match="no differences of one function of sets"):
        scorer.set_value([0])


def test_without_interventions_all_rows_count():
    table = jn.Table(make_data(20))
    scorer = GaussianScorer.of(table, "bic", interventions=np.full(20, -1))
    assert scorer.is_set_function
    assert scorer.family(1, [0]) == GaussianScorer.of(table, "bic").family(1, [0])


def test_moments_of_parts_merge_to_those_of_the_whole():
    data = make_data(300, offset=1e5)
    table = jn.Table(data)
    part = np.random.default_rng(0).integers(0, 3, 300)
    whole = moments_of(table, NAMES)
    found = merged([moments_of(table.take(part == k), NAMES) for k in range(4)], 4)
    assert found.weight == whole.weight
    np.testing.assert_allclose(found.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(found.scatter, whole.scatter, rtol=1e-9)
    rows = naive.matrix(data, NAMES)
    np.testing.assert_allclose(whole.scatter, np.cov(rows.T, bias=True) * 300, rtol=1e-9)
    np.testing.assert_allclose(whole.mean, rows.mean(0), rtol=1e-13)


def test_log_determinants_of_all_subsets():
    matrix = np.cov(naive.matrix(make_data(30), NAMES).T)
    found = schur.log_dets(matrix)
    for mask in range(16):
        at = [v for v in range(4) if mask >> v & 1]
        expected = np.linalg.slogdet(matrix[np.ix_(at, at)])[1]
        assert found[mask] == pytest.approx(expected, rel=1e-11, abs=1e-12)
