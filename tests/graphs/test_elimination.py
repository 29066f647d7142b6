"""Orders of elimination against sets of neighbours, and against all orders there are."""

import time

import numpy as np
import pytest
from naive import elimination as naive

from jensen.graphs import elimination
from jensen.graphs.elimination import RULES, best_order, largest_clique, order_all
from jensen.graphs.indexed_graph import wire_families

RTOL = 1e-12


def random_graph(rng, n, density):
    upper = np.triu(rng.random((n, n)) < density, 1)
    return upper | upper.T


def random_tree(rng, n):
    adjacent = np.zeros((n, n), bool)
    for v in range(1, n):
        u = rng.integers(v)
        adjacent[u, v] = adjacent[v, u] = True
    mixed = rng.permutation(n)
    return np.ascontiguousarray(adjacent[np.ix_(mixed, mixed)])


def grid(height, width):
    place = np.arange(height * width).reshape(height, width)
    adjacent = np.zeros((height * width, height * width), bool)
    for a, b in [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]:
        adjacent[a.ravel(), b.ravel()] = adjacent[b.ravel(), a.ravel()] = True
    return adjacent


def check(adjacent, cards, found):
    """The order is one, and what is said of it is true."""
    before = adjacent.copy()
    assert sorted(found.order) == list(range(len(cards)))
    sizes = naive.sizes(adjacent, cards, found.order)
    np.testing.assert_allclose(found.log_total, np.log(sum(sizes)), rtol=RTOL)
    np.testing.assert_allclose(found.log_largest, np.log(max(sizes)), rtol=RTOL, atol=1e-14)
    clique = largest_clique(adjacent, cards, found.order)
    assert set(clique) in naive.cliques(adjacent, found.order)
    assert clique.tolist() == sorted(clique)
    assert np.prod(cards[clique]) == max(sizes)
    assert np.array_equal(adjacent, before)


@pytest.mark.parametrize("density", [0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 30])
def test_an_order_costs_what_it_says(n, density):
    rng = np.random.default_rng(n)
    adjacent, cards = random_graph(rng, n, density), rng.integers(1, 6, n)
    check(adjacent, cards, best_order(adjacent, cards))


@pytest.mark.parametrize("seed", range(24))
def test_small_graphs_come_close_to_the_best_order(seed):
    """Never below the best of all orders, and on such graphs at most twice that."""
    rng = np.random.default_rng(seed)
    n = seed % 6 + 1
    adjacent, cards = random_graph(rng, n, rng.choice([0.3, 0.6])), rng.integers(1, 6, n)
    found = best_order(adjacent, cards)
    check(adjacent, cards, found)
    least = naive.least_total(adjacent, cards)
    assert least * (1 - RTOL) <= np.exp(found.log_total) <= least * 2


@pytest.mark.parametrize("seed", range(6))
def test_seven_variables(seed):
    rng = np.random.default_rng(seed)
    adjacent, cards = random_graph(rng, 7, 0.4), rng.integers(2, 5, 7)
    found = best_order(adjacent, cards)
    check(adjacent, cards, found)
    least = naive.least_total(adjacent, cards)
    assert least * (1 - RTOL) <= np.exp(found.log_total) <= least * 2


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("make", [random_tree, lambda rng, n: grid(1, n)], ids=["tree", "chain"])
def test_trees_and_chains_are_eliminated_at_their_best(n, make):
    rng = np.random.default_rng(n)
    adjacent, cards = make(rng, n), np.full(n, 3)
    found = best_order(adjacent, cards)
    least = naive.least_total(adjacent, cards)
    np.testing.assert_allclose(np.exp(found.log_total), least, rtol=RTOL)


def test_a_tree_of_many_variables_needs_pairs_only():
    rng = np.random.default_rng(0)
    adjacent, cards = random_tree(rng, 200), rng.integers(2, 5, 200)
    found = best_order(adjacent, cards)
    assert all(len(clique) <= 2 for clique in naive.cliques(adjacent, found.order))


def test_a_grid():
    """A grid of 6 x 8 has tree-width 6: no order does with fewer than 7 in a clique."""
    adjacent, cards = grid(6, 8), np.full(48, 3)
    found = best_order(adjacent, cards)
    check(adjacent, cards, found)
    assert 3**7 <= round(np.exp(found.log_largest)) <= 3**8


def test_the_search_beats_one_greedy_rule_where_there_is_something_to_gain():
    """It is never worse than any rule without noise, which are the first it tries."""
    gained = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        adjacent, cards = random_graph(rng, 40, 0.15), rng.integers(2, 6, 40)
        alone = [greedy(adjacent, cards, rule)[1] for rule in range(RULES)]
        found = best_order(adjacent, cards).log_total
        assert found <= min(alone) * (1 + 1e-6)
        gained += found < min(alone) - 0.01
    assert gained > 0


def greedy(adjacent, cards, rule, noise=0.0):
    n = len(cards)
    graph = wire_families(
        [*np.argwhere(np.triu(adjacent)).tolist(), *([v] for v in range(n))], cards
    )
    fams = np.arange(graph.n_families)
    members = np.arange(n, dtype=np.int32)
    order, sizes = order_all(
        np.array([0, n]),
        members,
        graph,
        np.array([len(fams)]),
        fams,
        rule=rule,
        noise=noise,
        uniforms=np.zeros(1),
    )
    return order, *sizes[0]


@pytest.mark.parametrize("rule", [naive.MIN_FILL, naive.MIN_WEIGHT, naive.WEIGHTED_FILL])
@pytest.mark.parametrize("seed", range(6))
def test_every_step_is_the_cheapest_by_its_rule(seed, rule):
    rng = np.random.default_rng(seed)
    n = 4 * seed + 5
    adjacent, cards = random_graph(rng, n, 0.25), rng.integers(1, 6, n)
    order, total, largest = greedy(adjacent, cards, rule)
    near = naive.neighbours(adjacent)
    for v in order:
        costs = {u: naive.cost(near, cards, u, rule) for u in near}
        assert costs[v] <= min(costs.values()) + 1e-9
        near = naive.without(near, v)
    check(adjacent, cards, elimination.Elimination(order, total, largest))


def test_the_same_seed_gives_the_same_order():
    rng = np.random.default_rng(1)
    adjacent, cards = random_graph(rng, 40, 0.15), rng.integers(2, 6, 40)
    orders = [best_order(adjacent, cards, seed).order.tolist() for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert len(set(map(tuple, orders))) > 1


def test_the_clock_is_never_looked_at(monkeypatch):
    def refuse(*_):
        raise AssertionError("a search that looks at the clock gives another order on another day")

    rng = np.random.default_rng(2)
    adjacent, cards = random_graph(rng, 40, 0.15), rng.integers(2, 6, 40)
    expected = best_order(adjacent, cards).order.tolist()
    for name in ("time", "perf_counter", "monotonic", "process_time"):
        monkeypatch.setattr(time, name, refuse)
    found = best_order(adjacent, cards).order.tolist()
    monkeypatch.undo()
    assert found == expected


@pytest.mark.parametrize(("work", "trials"), [(0, RULES), (1601 * 7, 7), (10**12, 120)])
def test_work_is_limited_by_the_size_of_the_graph(monkeypatch, work, trials):
    calls = []

    def counted(*arguments, rule, **choices):
        calls.append(rule)
        return order_all(*arguments, rule=rule, **choices)

    monkeypatch.setattr(elimination, "WORK", work)
    monkeypatch.setattr(elimination, "order_all", counted)
    rng = np.random.default_rng(3)
    best_order(random_graph(rng, 40, 0.3), rng.integers(2, 6, 40))
    assert calls == [trial % RULES for trial in range(trials)]


def test_cliques_too_large_to_be_counted():
    """10**350 entries: the order is there, and its size is infinite rather than wrong."""
    adjacent, cards = ~np.eye(70, dtype=bool), np.full(70, 100_000)
    found = best_order(adjacent, cards)
    assert sorted(found.order) == list(range(70))
    np.testing.assert_allclose(found.log_largest, 70 * np.log(100_000), rtol=RTOL)
    assert found.log_total == np.inf
