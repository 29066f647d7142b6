"""The flat layout of a network's tables, and their counts."""

import numpy as np
import pytest
from naive import counting as naive_counting
from naive import graphs as naive_graphs
from naive import networks as naive

import jensen as jn
from jensen.graphs import wire
from jensen.models.discrete_network import DiscreteNetwork, Tables, complete_counts


@pytest.mark.parametrize("seed", range(5))
def test_tables_stand_variable_by_variable_with_their_own_states_fastest(seed):
    rng = np.random.default_rng(seed)
    dag = jn.DAG(*naive_graphs.random_dag(rng, 5, 0.5))
    cards = rng.integers(1, 4, 5).tolist()
    columns = {x: rng.integers(0, n, 30) for x, n in zip(dag.nodes, cards, strict=True)}
    states = {x: range(n) for x, n in zip(dag.nodes, cards, strict=True)}
    wiring = wire(dag.parent_indices, cards)
    counts = complete_counts(jn.Table(columns, states=states), dag.nodes, wiring)
    lengths = []
    for x, table in enumerate(naive.as_dictionaries(counts, dag.parent_indices, cards)):
        members = [columns[dag.nodes[p]].tolist() for p in (*dag.parent_indices[x], x)]
        counted = naive_counting.count(members)
        for (config, state), n in table.items():
            assert n == counted.get((*config, state), 0)
        lengths += [cards[x]] * (len(table) // cards[x])
    assert wiring.row_lengths().tolist() == lengths
    model = DiscreteNetwork(wiring, Tables(None))
    assert model.families.tables.lengths.tolist() == lengths


def test_a_network_without_variables():
    wiring = wire([], [])
    counts = complete_counts(jn.Table({"x": [1]}), [], wiring)
    assert counts.shape == (0,)
    assert wiring.row_lengths().shape == (0,)
