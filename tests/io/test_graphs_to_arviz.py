import numpy as np
import pytest
from naive.posteriors import dags_of, run_of, sampled

from jensen.exceptions import JensenError
from jensen.q_graph.posterior import SampledPosterior
from jensen.q_graph.posterior.graph_samples import GraphSamples

pytest.importorskip("arviz")

DAGS = dags_of(("A", "B", "C"))


def test_edges_are_arrays_of_chains_and_draws():
    p = np.array([("A", "B") not in g.edges for g in DAGS], float)
    samples = sampled(DAGS, p / p.sum(), (2, 30), 0)
    data = SampledPosterior(run_of(samples)).to_arviz()
    edge = data.posterior["edge"]
    assert edge.dims == ("chain", "draw", "pair")
    pairs = edge.coords["pair"].values.tolist()
    assert "A -> B" not in pairs
    assert len(pairs) == 5
    for c in range(2):
        for s in range(30):
            dag = samples.dag(int(samples.which[c, s]))
            there = {pair for pair, x in zip(pairs, edge.values[c, s], strict=True) if x}
            assert there == {f"{a} -> {b}" for a, b in dag.edges}
            assert data.posterior["n_edges"].values[c, s] == len(dag.edges)
    np.testing.assert_array_equal(data.sample_stats["lp"].values, samples.states)
    assert "log_weight" not in data.sample_stats


def test_weights_go_with_the_samples():
    samples = sampled(DAGS, np.full(25, 0.04), (2, 30), 0, log_weights=np.zeros((2, 30)))
    data = SampledPosterior(run_of(samples)).to_arviz()
    np.testing.assert_array_equal(data.sample_stats["log_weight"].values, np.zeros((2, 30)))


def test_all_graphs_are_no_samples():
    some = sampled(DAGS, np.full(25, 0.04), (1, 30), 0)
    everything = GraphSamples.from_distinct(
        some.names, some.sets, some.graphs, some.which, some.scores, kind="all"
    )
    with pytest.raises(JensenError, match="every graph is known here with its probability"):
        SampledPosterior(run_of(everything)).to_arviz()
