import numpy as np
import pytest
from naive.posteriors import parents_of, random_dags

import jensen as jn
from jensen.q_graph.posterior import features
from jensen.q_graph.posterior.graph_samples import GraphSamples, members_of


@pytest.mark.parametrize("n", [5, 64, 70, 130])
def test_features_of_every_graph_are_those_of_its_dag(n):
    dags = random_dags(n, 5, np.random.default_rng(n))
    samples = GraphSamples(dags[0].nodes, parents_of(dags)[None], np.zeros((1, 5)))
    names = np.array(samples.names)
    compelled = members_of(features.compelled(samples).reshape(5 * n, -1), n).reshape(5, n, n)
    for d, dag in enumerate(map(samples.dag, range(5))):
        assert [(names[a], names[b]) for a, b in np.argwhere(compelled[d].T)] == list(
            dag.cpdag().directed
        )
        for v in (0, n // 2, n - 1):
            assert tuple(names[features.ancestors(samples, v)[d]]) == dag.ancestors(names[v])
            assert tuple(names[features.blanket(samples, v)[d]]) == dag.markov_blanket(names[v])
        last = names[n - 1]
        rest = jn.DAG([edge for edge in dag.edges if edge[1] != last], dag.nodes)
        found = names[features.ancestral(samples, [n - 1, 0], cut=[n - 1])[d]]
        assert set(found) == {last, names[0], *rest.ancestors(names[0])}
