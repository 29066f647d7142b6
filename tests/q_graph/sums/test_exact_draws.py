"""Graphs drawn from exact posteriors, all of them independent."""

import numpy as np
import pytest
from naive import graph_sums
from q_graph.sums.test_exact_posterior import Given, posterior, random_scores
from scipy.stats import chi2

from jensen.exceptions import JensenError
from jensen.support.machine import set_memory_limit

P_VALUE = 1e-4
"""Of each test of draws; the seeds are fixed."""


def columns_of(parents):
    """(S, n): sets of parents as places in a table of weights."""
    numbers = parents[:, :, 0].astype(np.int64)
    child = np.arange(numbers.shape[1])
    return numbers >> (child + 1) << child | numbers & ((1 << child) - 1)


def matrices_of(parents):
    """(S, n, n): the edges [parent, child]."""
    bits = np.arange(parents.shape[1], dtype=np.uint64)[:, None]
    return parents[:, None, :, 0] >> bits & np.uint64(1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["uniform", "order"])
@pytest.mark.parametrize(("n", "spread"), [(2, 1.0), (3, 0.0), (3, 1.5), (4, 0.0), (4, 1.0)])
def test_each_graph_is_drawn_as_often_as_it_should(n, spread, prior):
    scores = random_scores(n, n, spread)
    n_draws = 20_000
    parents, found, log_weights = posterior(Given(scores), prior).draw(
        n_draws, np.random.default_rng(0)
    )
    assert log_weights is None
    assert parents.shape == (n_draws, n, 1)
    assert parents.dtype == np.uint64
    drawn = columns_of(parents)
    np.testing.assert_allclose(found, scores[np.arange(n), drawn].sum(1), atol=1e-11)
    logs = scores[np.arange(n), graph_sums.columns(n)].sum(1)
    if prior == "order":
        logs = logs + np.log(graph_sums.orders_of_networks(n))
    expected = np.exp(logs - graph_sums.log_sum(logs.tolist())) * n_draws
    place = {tuple(row): k for k, row in enumerate(graph_sums.columns(n).tolist())}
    counts = np.bincount([place[tuple(row)] for row in drawn.tolist()], minlength=len(expected))
    often = expected > 5
    statistic = ((counts - expected)[often] ** 2 / expected[often]).sum()
    if not often.all():
        rest = expected[~often].sum()
        statistic += (counts[~often].sum() - rest) ** 2 / rest
    assert chi2.sf(statistic, often.sum() - often.all()) > P_VALUE


@pytest.mark.parametrize("spread", [0.5, 4.0, 200.0])
@pytest.mark.parametrize("prior", ["uniform", "order"])
@pytest.mark.parametrize("n", [7, 10])
def test_edges_and_paths_of_draws(n, prior, spread):
    """Largest of some hundred z scores: 6 standard errors, and an edge never seen by chance."""
    n_draws = 4_000
    post = posterior(Given(random_scores(n, 1, spread)), prior)
    edges = matrices_of(post.draw(n_draws, np.random.default_rng(1))[0])
    paths = edges
    for _ in range(4):
        paths = paths | (paths.astype(np.int8) @ paths.astype(np.int8) > 0)
    assert not paths[:, np.arange(n), np.arange(n)].any()
    for flags, expected in ((edges, post.edge_matrix), (paths, post.path_matrix())):
        error = np.sqrt(np.clip(expected * (1 - expected), 0, 1) / n_draws)
        assert np.all(np.abs(flags.mean(0) - expected) <= 6 * error + 6 / n_draws)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_rules_hold_in_draws(prior):
    rules = {"required": [("v03", "v00")], "forbidden": [("v01", "v02")], "max_parents": 2}
    post = posterior(Given(random_scores(6, 0, 2.0)), prior, **rules)
    edges = matrices_of(post.draw(500, np.random.default_rng(0))[0])
    assert edges[:, 3, 0].all()
    assert not edges[:, 1, 2].any()
    assert edges.sum(1).max() == 2


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_few_draws_of_few_variables(prior):
    rng = np.random.default_rng(0)
    parents, scores, _ = posterior(Given(np.zeros((0, 1))), prior).draw(3, rng)
    assert parents.shape == (3, 0, 0)
    assert scores.tolist() == [0.0, 0.0, 0.0]
    parents, scores, _ = posterior(Given([[-2.5]]), prior).draw(2, rng)
    assert parents.tolist() == [[[0]], [[0]]]
    assert scores.tolist() == [-2.5, -2.5]
    parents, scores, _ = posterior(Given(np.zeros((3, 4))), prior).draw(0, rng)
    assert parents.shape == (0, 3, 1)
    assert scores.shape == (0,)


def test_the_same_seed_gives_the_same_draws():
    post = posterior(Given(random_scores(8, 0, 2.0)))
    first, second = (post.draw(20, np.random.default_rng(5))[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_refusals():
    post = posterior(Given(random_scores(4, 0, 2.0)))
    with pytest.raises(JensenError, match="n_draws must be a whole number, 0 or more, not -1"):
        post.draw(-1, np.random.default_rng(0))
    try:
        set_memory_limit(1e6)
        with pytest.raises(
            JensenError, match=r"1,000,000 draws of graphs would take .*: draw fewer"
        ):
            post.draw(1_000_000, np.random.default_rng(0))
    finally:
        set_memory_limit(None)
