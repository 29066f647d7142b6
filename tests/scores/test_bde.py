"""BDe against the definition: products of rising factorials, cell by cell."""

import math
from itertools import product

import numpy as np
import pytest
from naive import joint

import jensen as jn

GRAPHS = ["a; b; c", "a -> b -> c", "a -> c <- b", "c -> a; c -> b -> a"]


@pytest.fixture
def prior():
    return jn.BayesianNetwork.from_tables(
        "a -> b; a -> c",
        {
            "a": [0.3, 0.7],
            "b": [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]],
            "c": [[0.9, 0.1], [0.25, 0.75]],
        },
    )


def log_rising(alpha, n):
    return sum(math.log(alpha + k) for k in range(n))


def naive_bde(graph, rows, prior, size):
    """Σ over cells of log α (α + 1) ... minus the same for every parent configuration."""
    states, network = prior.states, joint.of(prior)
    total = 0.0
    for x in graph.nodes:
        parents = graph.parents(x)
        for labels in product(*(states[p] for p in parents)):
            here = [r for r in rows if all(r[p] == v for p, v in zip(parents, labels, strict=True))]
            alphas = [
                size
                * sum(
                    joint.probability(network, row)
                    for row in joint.assignments(network)
                    if row[x] == state
                    and all(row[p] == v for p, v in zip(parents, labels, strict=True))
                )
                for state in states[x]
            ]
            for state, alpha in zip(states[x], alphas, strict=True):
                total += log_rising(alpha, sum(r[x] == state for r in here))
            total -= log_rising(sum(alphas), len(here))
    return total


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("size", [1.0, 7.5])
def test_bde_is_the_polya_urn_of_the_prior_network(graph, size, prior):
    table = prior.sample(15, random_state=1)
    rows = table.to_pandas().astype(str).to_dict("records")
    found = jn.score(graph, table, "bde", prior_network=prior, equivalent_sample_size=size)
    assert found == pytest.approx(naive_bde(jn.DAG(graph), rows, prior, size), rel=1e-12)


def test_equivalent_graphs_score_the_same(prior):
    table = prior.sample(200, random_state=0)
    scores = [
        jn.score(g, table, "bde", prior_network=prior)
        for g in ("a -> b -> c", "a <- b -> c", "a <- b <- c")
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-12)


def test_a_uniform_prior_network_is_bdeu(prior):
    uniform = jn.BayesianNetwork.from_tables(
        "a; b; c", {"a": [0.5] * 2, "b": [1 / 3] * 3, "c": [0.5] * 2}
    )
    table = prior.sample(100, random_state=0)
    found = jn.score("a -> c <- b", table, "bde", prior_network=uniform, equivalent_sample_size=3)
    expected = jn.score("a -> c <- b", table, "bdeu", equivalent_sample_size=3)
    assert found == pytest.approx(expected, rel=1e-12)


def test_what_the_prior_network_excludes_cannot_have_been_seen():
    prior = jn.BayesianNetwork.from_tables("a", {"a": [1.0, 0.0]}, {"a": ["no", "yes"]})
    assert jn.score("a", {"a": ["no", "no"]}, "bde", prior_network=prior) == 0.0
    assert jn.score("a", {"a": ["no", "yes"]}, "bde", prior_network=prior) == -np.inf


def test_refusals(prior):
    table = prior.sample(5, random_state=0)
    together = r"^the score 'bde' and prior_network= go together"
    with pytest.raises(jn.JensenError, match=together):
        jn.score("a", table, "bde")
    with pytest.raises(jn.JensenError, match=together):
        jn.score("a", table, "bdeu", prior_network=prior)
    with pytest.raises(jn.JensenError, match=r"^prior_network must be a network with tables, not"):
        jn.score("a", table, "bde", prior_network="a -> b")
    with pytest.raises(jn.JensenError, match=r"^the network has no variable 'z'; the"):
        jn.score("z", {"z": ["1", "0"]}, "bde", prior_network=prior)
    with pytest.raises(jn.DataError, match=r"^row 2 holds a state that prior_network does not"):
        jn.score("a", {"a": ["1", "9"]}, "bde", prior_network=prior)
