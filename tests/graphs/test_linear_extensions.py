from math import comb, factorial

import numpy as np
import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import DAG, linear_extensions


@pytest.mark.parametrize("n", range(1, 5))
def test_all_small_graphs_equal_the_enumeration_of_orders(n):
    nodes = tuple("ABCD"[:n])
    for edges in naive_graphs.all_dags(nodes):
        expected = naive_graphs.n_linear_extensions(nodes, edges)
        assert DAG(edges, nodes).n_linear_extensions() == expected


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_equal_the_enumeration_of_orders(seed):
    edges, names = naive_graphs.random_dag(np.random.default_rng(seed), 7, 0.3)
    expected = naive_graphs.n_linear_extensions(tuple(names), edges)
    assert DAG(edges, names).n_linear_extensions() == expected


@pytest.mark.parametrize(
    ("dag", "expected"),
    [
        (DAG(nodes=[f"x{i}" for i in range(100)]), factorial(100)),
        (DAG([(f"x{i:04}", f"x{i + 1:04}") for i in range(1500)]), 1),
        (DAG([("root", f"x{i}") for i in range(50)]), factorial(50)),
        (DAG([(f"x{i}", "sink") for i in range(50)]), factorial(50)),
        (DAG("A -> B -> C; D -> E; F"), factorial(6) // (6 * 2)),
    ],
)
def test_closed_forms(dag, expected):
    assert dag.n_linear_extensions() == expected


def test_a_grid_has_as_many_orders_as_standard_young_tableaux():
    """The hook length formula for 2 x 12: the twelfth Catalan number."""
    rows = [(f"{r}{c:02}", f"{r}{c + 1:02}") for r in "ab" for c in range(11)]
    columns = [(f"a{c:02}", f"b{c:02}") for c in range(12)]
    assert DAG(rows + columns).n_linear_extensions() == comb(24, 12) // 13


def test_a_count_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(linear_extensions, "MOST_STEPS", 50)
    edges, names = naive_graphs.random_dag(np.random.default_rng(0), 25, 0.1)
    with pytest.raises(
        GraphError, match=r"takes more than 50 steps: its largest connected part has \d+ nodes; "
    ):
        DAG(edges, names).n_linear_extensions()
