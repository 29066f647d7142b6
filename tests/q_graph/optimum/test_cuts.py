"""Inequalities, bounds and rounding of the integer program: against every graph there is."""

from itertools import combinations

import numpy as np
import pytest
from naive.structures import all_networks
from scipy.optimize import linprog

from jensen.q_graph.optimum.branch_and_bound import (
    CutSearch,
    climb,
    climb_at_random,
    climb_further,
    rounded_order,
)
from jensen.q_graph.optimum.cuts import (
    cluster_cut,
    edge_weights,
    find_cluster_in,
    find_clusters,
    local_cut,
)
from jensen.q_graph.optimum.families import gather
from jensen.q_graph.optimum.relaxation import Node, Relaxation, branch

N = 4
NETWORKS = all_networks(N)


def all_families(seed=0, n=N):
    """Every set of parents, with a score that has nothing to do with its subsets."""
    rng = np.random.default_rng(seed)
    by_child = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        sets = [above for k in range(n) for above in combinations(others, k)]
        by_child.append([(float(rng.normal() * 3 + 2 * len(above)), above) for above in sets])
    return gather(by_child)


def weights_of(families, network):
    at = {(int(v), families.parents(j)): j for j, v in enumerate(families.child)}
    x = np.zeros(len(families.child))
    x[[at[v, above] for v, above in enumerate(network)]] = 1.0
    return x


def random_point(families, rng, n_terms=3):
    """A mixture of choices, most of them with cycles."""
    x = np.zeros(len(families.child))
    for share in rng.dirichlet(np.ones(n_terms)):
        for v in range(families.n):
            x[rng.integers(families.first[v], families.first[v + 1])] += share
    return x


FAMILIES = all_families()
GRAPHS = np.array([weights_of(FAMILIES, network) for network in NETWORKS])
SCORES = GRAPHS @ FAMILIES.score


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_graph_obeys_the_cuts_of_every_cluster(k):
    for size in range(max(k, 2), N + 1):
        for members in combinations(range(N), size):
            cut = cluster_cut(FAMILIES, FAMILIES.holds, np.isin(np.arange(N), members), k)
            assert max(cut.violation(x) for x in GRAPHS) <= 0.0
            assert min(abs(cut.violation(x)) for x in GRAPHS) == 0.0  # and none is too weak


@pytest.mark.parametrize("seed", range(12))
def test_clusters_that_are_found_are_violated(seed):
    x = random_point(FAMILIES, np.random.default_rng(seed))
    for k in (1, 2, 3):
        for cluster in find_clusters(FAMILIES, x, k):
            assert cluster_cut(FAMILIES, FAMILIES.holds, cluster, k).violation(x) > 1e-3 - 1e-9


def test_a_cycle_is_a_cluster():
    chosen = np.flatnonzero(weights_of(FAMILIES, ((1,), (2,), (0,), (0, 1))))
    cluster = find_cluster_in(FAMILIES, chosen)
    assert cluster.tolist() == [True, True, True, False]
    assert (
        cluster_cut(FAMILIES, FAMILIES.holds, cluster).violation(
            np.isin(np.arange(len(FAMILIES.child)), chosen).astype(float)
        )
        == 1.0
    )
    assert find_cluster_in(FAMILIES, np.flatnonzero(GRAPHS[100])) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_local_cut_is_found_where_and_only_where_no_mixture_of_graphs_is(seed):
    rng = np.random.default_rng(seed)
    x = random_point(FAMILIES, rng)
    if seed % 2:  # nearer to the graphs, so that some of these points are mixtures
        x = 0.2 * x + 0.8 * rng.dirichlet(np.ones(len(GRAPHS))) @ GRAPHS
    mixture = linprog(
        np.zeros(len(GRAPHS)),
        A_eq=np.vstack([GRAPHS.T, np.ones(len(GRAPHS))]),
        b_eq=np.append(x, 1.0),
    )
    cut = local_cut(FAMILIES, x, range(N))
    if mixture.status == 0:
        assert cut is None
        return
    assert mixture.status == 2
    assert cut.violation(x) > 1e-3
    assert max(cut.violation(graph) for graph in GRAPHS) <= 1e-12


@pytest.mark.parametrize("members", [(0, 1, 2), (1, 3), (0, 2, 3)])
def test_a_local_cut_over_some_variables_holds_for_all_graphs(members):
    for seed in range(10):
        x = random_point(FAMILIES, np.random.default_rng(seed))
        cut = local_cut(FAMILIES, x, members)
        if cut is not None:
            assert max(cut.violation(graph) for graph in GRAPHS) <= 1e-12


def test_cheapest_graphs_are_those_of_all_graphs():
    from jensen.kernels.cuts import cheapest_graphs, lower_costs

    rng = np.random.default_rng(0)
    cost = rng.random((N, 1 << N))
    least, totals = np.empty_like(cost), np.empty(1 << N)
    chosen, paid = np.empty((N, N), np.int64), np.empty(N)
    cheapest_graphs(cost, least, totals, chosen, paid)
    numbers = [[sum(1 << u for u in above) for above in network] for network in NETWORKS]
    costs = [sum(cost[v, T] for v, T in enumerate(sets)) for sets in numbers]
    for v in range(N):  # that in which v is the parent of none
        ends = [c for c, network in zip(costs, NETWORKS, strict=True) if v not in sum(network, ())]
        assert paid[v] == pytest.approx(min(ends), rel=1e-12)
        assert sum(cost[u, T] for u, T in enumerate(chosen[v])) == pytest.approx(paid[v], rel=1e-12)
    cost /= min(costs)
    before = cost.copy()
    lower_costs(cost)
    assert (cost <= before).all()
    lowered = [sum(cost[v, T] for v, T in enumerate(sets)) for sets in numbers]
    assert min(lowered) == pytest.approx(1.0, abs=1e-12)


def test_any_prices_of_cuts_give_a_bound():
    relaxation, rng = Relaxation(FAMILIES), np.random.default_rng(0)
    clusters = [np.isin(np.arange(N), some) for some in combinations(range(N), 2)]
    relaxation.add([cluster_cut(FAMILIES, FAMILIES.holds, c) for c in clusters])
    for _ in range(20):
        prices = rng.gamma(0.5, 3.0, len(clusters))
        point = relaxation._bounded(np.zeros(len(FAMILIES.child)), prices)
        assert point.bound >= SCORES.max() - 1e-9
        for graph, score in zip(GRAPHS, SCORES, strict=True):
            assert score <= point.bound - point.loss[graph > 0].max() + 1e-9


def test_pairs_that_need_not_be_joined_do_not_lower_the_bound():
    """Every edge costs 1, so that the best graph with 2 - 3 has no other."""
    sets = [[FAMILIES.parents(j) for j in np.flatnonzero(FAMILIES.child == v)] for v in range(N)]
    families = gather([[(-float(len(above)), above) for above in some] for some in sets])
    relaxation, rng = Relaxation(families), np.random.default_rng(0)
    relaxation.join([(0, 1), (2, 3)])
    relaxation.join([(2, 3)])
    for _ in range(20):
        point = relaxation._bounded(np.zeros(len(families.child)), rng.gamma(0.5, 1.0, 2))
        assert point.bound >= -1.0 - 1e-9


def between_two(families, rng):
    """Half of a graph and half of it with an edge turned: all pairs are settled, one way is not."""
    joined = [n for n in NETWORKS if any(n)]
    while True:
        one = joined[rng.integers(len(joined))]
        v = int(rng.choice([v for v in range(N) if one[v]]))
        u = int(rng.choice(one[v]))
        other = list(one)
        other[v] = tuple(w for w in one[v] if w != u)
        other[u] = tuple(sorted((*one[u], v)))
        if tuple(other) in NETWORKS:
            return 0.5 * (weights_of(families, one) + weights_of(families, tuple(other)))


@pytest.mark.parametrize("make_point", [random_point, between_two])
@pytest.mark.parametrize("seed", range(10))
def test_the_parts_of_a_problem_hold_all_its_graphs(seed, make_point):
    families = all_families(seed)
    relaxation, closed = Relaxation(families), np.zeros(len(families.child), bool)
    x = make_point(families, np.random.default_rng(seed))
    parts = branch(relaxation, Node(1e9, 0, (), closed), x, lambda bound: True)
    for network, graph in zip(NETWORKS, GRAPHS, strict=True):
        graph = weights_of(families, network)
        joined = {(u, v) for v, above in enumerate(network) for u in above}
        inside = [
            not graph[part.closed].any()
            and all((u, v) in joined or (v, u) in joined for u, v in part.joined)
            for part in parts
        ]
        assert sum(inside) == 1
        score = float(graph @ families.score)
        assert all(
            not is_in or score <= part.bound + 1e-9
            for part, is_in in zip(parts, inside, strict=True)
        )


@pytest.mark.parametrize("seed", range(20))
def test_the_search_finds_the_best_of_all_graphs(seed):
    families = all_families(seed)
    scores = [weights_of(families, network) @ families.score for network in NETWORKS]
    bounds = []
    search = CutSearch(families, lambda score, bound: bounds.append(bound))
    search.run()
    assert search.best.score == pytest.approx(max(scores), abs=1e-9)
    assert not search.is_open(search.bound)
    assert min(bounds, default=np.inf) >= max(scores) - 1e-9
    assert search.trace == sorted(search.trace)


def test_climbing_orders_never_breaks_the_rules():
    families = all_families(3, n=6)
    rng = np.random.default_rng(0)
    best = climb_at_random(families, 1e-9)
    for _ in range(10):
        x = random_point(families, rng)
        order = rounded_order(families, x)
        assert sorted(order) == list(range(6))
        found = climb(families, order, 1e-9)
        assert found.score <= best.score + 5.0
    listed = {
        (int(v), families.parents(j)): families.score[j] for j, v in enumerate(families.child)
    }
    total = sum(listed[v, above] for v, above in enumerate(best.parents))
    assert best.score == pytest.approx(total, rel=1e-12)


def test_edge_weights_are_sums_of_families():
    x = random_point(FAMILIES, np.random.default_rng(1))
    weights = edge_weights(FAMILIES, x)
    for v in range(N):
        for u in range(N):
            held = FAMILIES.holds[:, u] & (FAMILIES.child == v)
            assert weights[u, v] == pytest.approx(x[held].sum(), abs=1e-12)


def test_a_cyclic_list_of_families_has_no_network():
    from jensen.exceptions import GraphError
    from jensen.q_graph.optimum.integer_program import solve_by_cuts

    with pytest.raises(GraphError, match="no network is possible"):
        solve_by_cuts(gather([[(0.0, (1,))], [(0.0, (0,))]]))
    with pytest.raises(GraphError, match="no network is possible"):
        solve_by_cuts(gather([[(0.0, ())], []]))


def test_climbing_further_is_never_worse_and_stops_when_told():
    families = all_families(5, n=7)
    first = climb(families, np.arange(7), 1e-9)
    best = climb_further(families, first, 1e-9, lambda: False)
    assert best.score >= max(first.score, climb_at_random(families, 1e-9).score)
    assert climb_further(families, first, 1e-9, lambda: True) is first
