"""Edges and parent sets given an order in closed form: against all graphs that fit it."""

import numpy as np
import pytest
from naive import graph_sums, parent_sums
from q_graph.chains import cases
from q_graph.chains.cases import CASES, make_case

from jensen.kernels.order_chain import add_edge_shares, add_set_shares
from jensen.q_graph.chains.kinds import make_samples
from jensen.q_graph.chains.sampled import SampledOrders
from jensen.q_graph.chains.weights import read_weights
from jensen.support.chain_records import make_workspace

MORE = {
    "six variables": make_case(6, 2, 2, spread=3.0),
    "six far apart": make_case(6, 2, 2, spread=250.0),
    "six, singles": make_case(6, 3, 1, spread=30.0, required=[(0, 5)]),
}


def by_definition(case, order):
    """Edges [parent, child] and all parent sets, from the families that an order allows."""
    n = case.n
    edges, shares = np.zeros((n, n)), []
    for v in range(n):
        before = np.isin(np.arange(n), order[: list(order).index(v)])
        sets = parent_sums.list_sets(case.raw, v)
        fits = parent_sums.possible(sets, 2 * before, must_meet=False)
        p = np.where(
            fits, np.exp(sets.log_weights - parent_sums.log_sum(sets.log_weights[fits])), 0
        )
        edges[:, v] = p @ sets.members
        shares.append({tuple(np.flatnonzero(m)): x for m, x in zip(sets.members, p, strict=True)})
    return edges, shares


@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_edges_and_sets_given_an_order(name):
    case = (CASES | MORE)[name]
    t, _ = read_weights(case.raw)
    orders = list(cases.states(case, "order")) if case.n < 5 else list_orders(name, case.n)
    for order in orders[::3]:
        expected, shares = by_definition(case, order)
        row, room = np.array([order], np.int16), make_workspace(case.n)
        found = np.zeros((case.n, case.n))
        add_edge_shares(row, t, room, found)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        for v in range(case.n):
            inside, outside = np.zeros(t.log_weights.shape[1]), np.zeros((case.n, case.n))
            add_set_shares(v, row, t, room, inside, outside)
            for k, up in enumerate(shares[v]):
                here = inside[k] if k < len(case.raw.inside[v]) else outside[up[0], up[-1]]
                assert here == pytest.approx(shares[v][up], rel=1e-9, abs=1e-11)
            assert inside.sum() + np.triu(outside).sum() == pytest.approx(1.0, abs=1e-9)


def list_orders(name, n):
    """A few orders, 0 before 5, which one of the cases requires."""
    rng = np.random.default_rng(len(name))
    orders = [tuple(rng.permutation(n).tolist()) for _ in range(24)]
    return [order for order in orders if order.index(0) < order.index(n - 1)]


def test_averages_over_stretches_of_a_chain():
    case = MORE["six variables"]
    t, _ = read_weights(case.raw)
    orders = np.array([np.random.default_rng(k).permutation(6) for k in range(260)], np.int16)
    kept = [make_samples(260, 6, keeps_orders=True)._replace(orders=orders)] * 2
    sampled = SampledOrders(t, kept)
    batches = sampled.edge_batches()
    assert batches.shape == (2, 100, 6, 6)
    each = [by_definition(case, order.tolist())[0] for order in orders]
    np.testing.assert_allclose(batches[0, 0], np.mean(each[:2], axis=0), atol=1e-10)
    np.testing.assert_allclose(batches[1, 99], np.mean(each[257:], axis=0), atol=1e-10)
    sets, shares = sampled.set_batches(2, 0.01)
    assert shares.shape == (2, 100, len(sets))
    expected = [by_definition(case, order.tolist())[1][2] for order in orders[:2]]
    for k, up in enumerate(sets):
        assert shares[0, 0, k] == pytest.approx(np.mean([one[up] for one in expected]), abs=1e-10)


def test_orders_add_up_to_the_exact_sums():
    """All orders of four variables, each as often as it weighs."""
    case = CASES["pairs outside"]
    found = cases.states(case, "order")
    t, _ = read_weights(case.raw)
    logs = np.array(list(found.values()))
    weights = np.exp(logs - graph_sums.log_sum(logs.tolist()))
    edges = np.zeros((4, 4))
    for order, weight in zip(found, weights, strict=True):
        one = np.zeros((4, 4))
        add_edge_shares(np.array([order], np.int16), t, make_workspace(4), one)
        edges += weight * one
    _, expected, _, _ = graph_sums.by_enumeration(case.table, counts_orders=True)
    np.testing.assert_allclose(edges, expected, atol=1e-10)
