import numpy as np
import pytest
from naive.posteriors import dags_of, parents_of, random_dags, sampled

import jensen as jn
from jensen.q_graph.posterior import graph_samples
from jensen.q_graph.posterior.graph_samples import GraphSamples, WeightedGraphs, bits_of, members_of

NAMES = ("A", "B", "C", "D")


@pytest.mark.parametrize("n", [1, 5, 64, 65, 150])
def test_bits_and_members_are_the_same_sets(n):
    members = np.random.default_rng(n).random((7, n)) < 0.3
    bits = bits_of(members)
    assert bits.shape == (7, (n + 63) // 64)
    for row, words in zip(members, bits, strict=True):
        for u, there in enumerate(row):
            assert bool(int(words[u // 64]) >> (u % 64) & 1) == there
    np.testing.assert_array_equal(members_of(bits, n), members)


@pytest.mark.parametrize("n", [3, 70, 130])
def test_every_sample_is_the_graph_that_came_in(n):
    rng = np.random.default_rng(n)
    dags = random_dags(n, 6, rng)
    which = rng.integers(0, 6, (2, 20))
    samples = GraphSamples(dags[0].nodes, parents_of(dags)[which], np.zeros((2, 20)))
    assert samples.n_distinct == len({dags[d] for d in which.ravel()})
    for place, d in np.ndenumerate(which):
        assert samples.dag(int(samples.which[place])) == dags[d]
    mean = np.mean([dags[d].adjacency for d in which.ravel()], axis=0)
    np.testing.assert_allclose(samples.edge_matrix(), mean, atol=1e-15)


def test_hashes_that_collide_do_no_harm(monkeypatch):
    dags = dags_of(NAMES)
    right = sampled(dags, np.full(543, 1 / 543), (2, 300), 0)
    monkeypatch.setattr(graph_samples, "_hashed", lambda rows: np.zeros(len(rows), np.uint64))
    found = sampled(dags, np.full(543, 1 / 543), (2, 300), 0)
    np.testing.assert_array_equal(found.which, right.which)
    np.testing.assert_array_equal(found.graphs, right.graphs)


def test_graphs_come_with_their_shares_the_most_probable_first():
    dags = dags_of(NAMES)
    p = np.zeros(543)
    p[[5, 100, 400]] = 0.5, 0.2, 0.3
    samples = sampled(dags, p, (4, 500), 1)
    graphs = WeightedGraphs(samples)
    assert len(graphs) == 3
    assert [dag for dag, _ in graphs] == [dags[5], dags[400], dags[100]]
    weights = [weight for _, weight in graphs]
    assert sum(weights) == pytest.approx(1.0, abs=1e-15)
    assert graphs[0] == (dags[5], weights[0])
    assert graphs[-1][0] == dags[100]
    assert [dag for dag, _ in graphs[1:]] == [dags[400], dags[100]]
    assert repr(graphs) == "<3 weighted graphs of 4 variables>"


def test_weights_count():
    dags = dags_of(NAMES)
    parents = parents_of(dags)[[[3, 9, 3, 50]]]
    weights = np.array([[1.0, 2.0, 3.0, 4.0]])
    samples = GraphSamples(NAMES, parents, np.zeros((1, 4)), None, np.log(weights) - 700)
    assert {dag: round(w, 12) for dag, w in samples.distinct()} == {
        dags[3]: 0.4, dags[9]: 0.2, dags[50]: 0.4
    }  # fmt: skip
    assert samples.weights_size == pytest.approx(100 / 30, rel=1e-12)


def test_thinning_is_even_and_keeps_chains():
    dags = dags_of(NAMES)
    samples = sampled(dags, np.full(543, 1 / 543), (4, 100), 2)
    few = samples.thinned(40)
    assert few.which.shape == (4, 10)
    for c in range(4):
        kept = [few.dag(int(d)) for d in few.which[c]]
        assert kept == [samples.dag(int(d)) for d in samples.which[c, 5::10]]
    np.testing.assert_array_equal(few.scores, samples.scores[:, 5::10])
    assert samples.thinned(400) is samples


def test_no_samples_are_refused():
    with pytest.raises(jn.GraphError, match="there are no samples: a posterior needs one graph"):
        GraphSamples(NAMES, np.zeros((2, 0, 4, 1), np.uint64), np.zeros((2, 0)))
