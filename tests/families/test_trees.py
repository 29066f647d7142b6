"""Trees and their tables against sums over all trees."""

import numpy as np
import pytest
from naive.tree_mixtures import (
    log_evidence_of_tree,
    log_prior_of_trees,
    pair_counts,
    spanning_trees,
)

from jensen.exceptions import TooLargeError
from jensen.families import inner, kl, log_evidence, neg_log_density
from jensen.families.spanning_trees import log_tree_sums, tree_sums
from jensen.families.trees import AllTrees, PairTables, TreeCounts, Trees, edge_base
from jensen.support.machine import set_memory_limit

SIZES = (2, 3, 2, 4, 2)
ESS = 1.5


def counts_of(rows, weight, sizes, K=1):
    """The statistics of K states that have the same rows."""
    tables = PairTables(sizes)
    found = pair_counts(rows, weight, sizes)
    singles = np.concatenate([found[v, v] for v in range(len(sizes))])
    pairs = [found[u, v].ravel() for u, v in zip(*tables.columns, strict=True)]
    flat = np.concatenate(pairs) if pairs else np.empty(0)
    blank = tables.blank(K)
    return blank._replace(singles=blank.singles + singles, pairs=blank.pairs + flat), found


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, size, 60) for size in SIZES], axis=1)
    rows[:40, 1] = rows[:40, 0]
    rows[10:50, 4] = rows[10:50, 2]
    stats, counts = counts_of(rows, rng.random(60) + 0.5, SIZES)
    log_beta = rng.normal(size=(5, 5))
    log_beta = log_beta + log_beta.T
    return stats, counts, log_beta


def family_of(kind, log_beta, sizes=SIZES, K=1, *, is_shared=False):
    tables = PairTables(sizes)
    prior = tables.even(K, ESS)
    base = edge_base(tables, prior, log_beta[tables.columns], is_shared)
    return kind(tables, base, is_shared), prior


@pytest.mark.parametrize("D", [2, 3, 5, 6])
def test_sums_over_all_trees(D):
    rng = np.random.default_rng(D)
    weights = 4.0 * rng.normal(size=(2, D, D))
    weights = weights + weights.transpose(0, 2, 1)
    weights[1, 0, 1] = weights[1, 1, 0] = -np.inf if D > 2 else 0.0
    found = tree_sums(weights)
    for k in range(2):
        trees = list(spanning_trees(D))
        assert len(trees) == D ** (D - 2)
        each = np.array([sum(weights[k][edge] for edge in edges) for edges in trees])
        total = np.logaddexp.reduce(each)
        edges = np.zeros((D, D))
        for tree, p in zip(trees, np.exp(each - total), strict=True):
            for u, v in tree:
                edges[u, v] += p
                edges[v, u] += p
        assert found.log_total[k] == pytest.approx(total, abs=1e-10)
        np.testing.assert_allclose(found.edges[k], edges, atol=1e-12)


def test_weights_thousands_of_orders_of_magnitude_apart():
    chain = np.full((1, 4, 4), -3000.0)
    for v in range(3):
        chain[0, v, v + 1] = chain[0, v + 1, v] = 2500.0 * v
    found = tree_sums(chain)
    assert found.log_total[0] == pytest.approx(7500.0, abs=1e-9)
    np.testing.assert_allclose(found.edges[0, range(3), range(1, 4)], 1.0)
    assert found.edges[0, 0, 2] == 0.0


def test_no_tree_without_edges():
    nothing = np.full((1, 3, 3), -np.inf)
    assert log_tree_sums(nothing)[0] == -np.inf


def test_sums_over_trees_of_many_columns_are_refused():
    set_memory_limit(1e6)
    try:
        with pytest.raises(TooLargeError, match="the sum over all trees of 100 columns"):
            tree_sums(np.zeros((1, 100, 100)))
    finally:
        set_memory_limit(None)


def test_evidence_is_the_sum_over_all_trees(case):
    stats, counts, log_beta = case
    family, prior = family_of(AllTrees, log_beta)
    trees = list(spanning_trees(5))
    each = log_prior_of_trees(trees, log_beta) + [
        log_evidence_of_tree(edges, counts, SIZES, ESS) for edges in trees
    ]
    assert log_evidence(family, prior, stats) == pytest.approx(np.logaddexp.reduce(each), abs=1e-9)
    eta = TreeCounts(*(a + b for a, b in zip(prior, stats, strict=True)))
    t = family.mean_stats(eta)
    bound = inner(stats, t) - kl(family, prior, eta, t)
    assert bound == pytest.approx(np.logaddexp.reduce(each), abs=1e-9)  # conjugate: F is tight
    edges = np.zeros((5, 5))
    for tree, p in zip(trees, np.exp(each - np.logaddexp.reduce(each)), strict=True):
        for u, v in tree:
            edges[u, v] += p
    np.testing.assert_allclose(np.triu(family.edges(eta)[0]), edges, atol=1e-10)


def test_score_does_not_depend_on_roots(case):
    _, counts, _ = case
    edges = next(spanning_trees(5))
    each = [log_evidence_of_tree(edges, counts, SIZES, ESS, root) for root in range(5)]
    np.testing.assert_allclose(each, each[0], rtol=1e-12)


def test_a_point_is_the_best_tree(case):
    stats, counts, log_beta = case
    family, prior = family_of(Trees, log_beta)
    trees = list(spanning_trees(5))
    each = log_prior_of_trees(trees, log_beta) + [
        log_evidence_of_tree(edges, counts, SIZES, ESS) for edges in trees
    ]
    eta = TreeCounts(*(a + b for a, b in zip(prior, stats, strict=True)))
    t = family.mean_stats(eta)
    assert inner(stats, t) - kl(family, prior, eta, t) == pytest.approx(each.max(), abs=1e-9)
    found = {(min(u, v), max(u, v)) for v, u in enumerate(t.parents[0].astype(int)) if u >= 0}
    assert found == set(trees[int(each.argmax())])
    assert family.edges(eta)[0].sum() == 8.0


@pytest.mark.parametrize("has_prior", [False, True])
def test_mode_is_the_best_of_all_trees_and_tables(case, has_prior):
    stats, counts, log_beta = case
    family, prior = family_of(Trees, log_beta) if has_prior else (Trees(PairTables(SIZES)), None)
    eta = stats
    if has_prior:
        eta = TreeCounts(*(a + b for a, b in zip(prior, stats, strict=True)))
    t = family.mode_stats(eta)
    value = inner(stats, t) - neg_log_density(family, prior, eta, t)
    trees = list(spanning_trees(5))
    log_prior = log_prior_of_trees(trees, log_beta) if has_prior else np.zeros(len(trees))
    best = max(
        _highest(edges, counts, ESS if has_prior else 0.0) + p
        for edges, p in zip(trees, log_prior, strict=True)
    )
    assert value == pytest.approx(best, abs=1e-9)


def _highest(edges, counts, ess):
    """Log p(rows, θ | T) at its mode in softmax coordinates, table by table from a root."""

    def table_value(table, prior):
        both = table + prior
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(both > 0.0, np.log(both / both.sum(-1, keepdims=True)), 0.0)
        value = float((both * logs).sum())
        if ess:
            from scipy.special import gammaln

            value += float((gammaln(prior.sum(-1)) - gammaln(prior).sum(-1)).sum())
        return value

    total = table_value(counts[0, 0], np.full(SIZES[0], ess / SIZES[0]))
    seen, todo = {0}, [0]
    while todo:
        u = todo.pop()
        for edge in edges:
            v = sum(edge) - u
            if u in edge and v not in seen:
                table = counts[min(u, v), max(u, v)]
                table = table if u < v else table.T
                total += table_value(table, np.full(table.shape, ess / table.size))
                seen.add(v)
                todo.append(v)
    return total


def test_one_tree_for_all_states(case):
    stats, counts, log_beta = case
    rng = np.random.default_rng(5)
    rows = np.stack([rng.integers(0, size, 30) for size in SIZES], axis=1)
    more, other = counts_of(rows, np.ones(30), SIZES)
    both = TreeCounts(*(np.concatenate(pair) for pair in zip(stats, more, strict=True)))
    trees = list(spanning_trees(5))
    each = log_prior_of_trees(trees, log_beta) + [
        log_evidence_of_tree(edges, counts, SIZES, ESS)
        + log_evidence_of_tree(edges, other, SIZES, ESS)
        for edges in trees
    ]
    for kind, best in ((AllTrees, np.logaddexp.reduce(each)), (Trees, each.max())):
        family, prior = family_of(kind, log_beta, K=2, is_shared=True)
        eta = TreeCounts(*(a + b for a, b in zip(prior, both, strict=True)))
        t = family.mean_stats(eta)
        assert inner(both, t) - kl(family, prior, eta, t) == pytest.approx(best, abs=1e-9)
    mode = Trees(PairTables(SIZES), None, True).mode_stats(both)
    np.testing.assert_array_equal(mode.parents[0], mode.parents[1])


def test_nothing_counted_reads_as_uniform():
    t = Trees(PairTables((2, 3))).mode_stats(PairTables((2, 3)).blank(1))
    np.testing.assert_allclose(np.exp(t.singles[0, :2]), 0.5)
    np.testing.assert_allclose(np.exp(t.pairs[0]), 1.0 / 3.0)


def test_one_column_has_no_edges():
    family = Trees(PairTables((3,)))
    stats, _ = counts_of(np.array([[0], [2], [2]]), np.ones(3), (3,))
    np.testing.assert_allclose(np.exp(family.mode_stats(stats).singles[0]), [1 / 3, 0.0, 2 / 3])
    assert family.describe(stats)["edges"].shape == (1, 1, 1)
