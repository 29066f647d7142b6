"""Priors over graphs: what callers write, and what every family adds."""

import math

import numpy as np
import pytest
from naive import graph_sums

from jensen.exceptions import GraphError
from jensen.scores.graph_priors import read_prior

NAMES = ("a", "b", "c", "d")


def test_uniform():
    prior, required, forbidden = read_prior("uniform", NAMES)
    assert not prior.counts_orders
    assert not required.any()
    assert not forbidden.any()
    np.testing.assert_array_equal(prior.of_sets(1, [0, 2, 3]), np.zeros(8))
    assert prior.of_family(0, [1, 2]) == 0.0


def test_fair_gives_every_number_of_parents_the_same():
    prior = read_prior("fair", NAMES).prior
    weights = np.exp(prior.of_sets(2, [0, 1, 3]))
    sizes = np.array([bits.bit_count() for bits in range(8)])
    np.testing.assert_allclose(np.bincount(sizes, weights), 1.0, rtol=1e-15)
    assert prior.of_family(2, [0, 3]) == -math.log(3)


def test_edges_have_their_odds():
    given = {("a", "b"): 0.9, ("c", "b"): 0.2, ("a", "c"): 0, ("d", "a"): 1}
    prior, required, forbidden = read_prior(given, NAMES)
    assert [(NAMES[u], NAMES[v]) for u, v in np.argwhere(required)] == [("d", "a")]
    assert [(NAMES[u], NAMES[v]) for u, v in np.argwhere(forbidden)] == [("a", "c")]
    assert prior.of_family(1, [0, 2]) == pytest.approx(math.log(9.0 * 0.25), abs=1e-14)
    candidates = [0, 2, 3]
    by_definition = [
        prior.of_family(1, [candidates[k] for k in range(3) if bits >> k & 1]) for bits in range(8)
    ]
    np.testing.assert_allclose(prior.of_sets(1, candidates), by_definition, atol=1e-14)


def test_edge_probabilities_are_those_of_each_family():
    """Before acyclicity: of all sets of parents, those with the edge have the probability p."""
    prior = read_prior({("a", "b"): 0.9, ("c", "b"): 0.2}, NAMES).prior
    weights = np.exp(prior.of_sets(1, [0, 2, 3]))
    shares = [weights[[bits >> k & 1 == 1 for bits in range(8)]].sum() for k in range(3)]
    np.testing.assert_allclose(np.array(shares) / weights.sum(), [0.9, 0.2, 0.5], rtol=1e-14)


@pytest.mark.parametrize("inner", ["uniform", "fair", {("a", "b"): 0.3}])
def test_orders(inner):
    prior, plain = read_prior(("order", inner), NAMES).prior, read_prior(inner, NAMES).prior
    assert prior.counts_orders
    for field in ("by_size", "log_odds"):
        np.testing.assert_array_equal(getattr(prior, field), getattr(plain, field))
    assert read_prior(["order", "fair"], NAMES).prior.counts_orders
    assert read_prior("order", NAMES).prior.counts_orders


def test_one_variable():
    for prior in ("uniform", "fair"):
        assert read_prior(prior, ("a",)).prior.of_sets(0, []) == [0.0]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ("flat", "'uniform', 'fair', a dictionary of edge probabilities, 'order', or"),
        (7, "not 7"),
        (("order", "flat"), r"\('order', one of these\), not \('order', 'flat'\)"),
        (("order", "order"), r"not \('order', 'order'\)"),
        ({"ab": 0.5}, "has an edge 'ab': write it as a pair"),
        ({("a", "b", "c"): 0.5}, "write it as a pair"),
        ({("a", "z"): 0.5}, "names 'z', which is no column"),
        ({("a", "a"): 0.5}, "has an edge from 'a' to itself"),
        ({("a", "b"): 1.5}, "gives the edge a -> b the probability 1.5: it must be between 0 and"),
        ({("a", "b"): "high"}, "the probability 'high'"),
        ({("a", "b"): math.nan}, "the probability nan"),
        ({("a", "b"): True}, "the probability True"),
    ],
)
def test_refusals(prior, words):
    with pytest.raises(GraphError, match=words):
        read_prior(prior, NAMES)


def test_graphs_before_the_data_have_the_product_of_their_families():
    """All 543 graphs under "fair", added up by the slow twin."""
    prior = read_prior("fair", NAMES).prior
    table = np.array([prior.of_sets(v, [u for u in range(4) if u != v]) for v in range(4)])
    total, edges, _, _ = graph_sums.by_enumeration(table)
    graphs = graph_sums.networks(4)
    logs = [sum(prior.of_family(v, up) for v, up in enumerate(g)) for g in graphs]
    assert total == pytest.approx(graph_sums.log_sum(logs), abs=1e-12)
    assert np.ptp(edges[~np.eye(4, dtype=bool)]) < 1e-12
