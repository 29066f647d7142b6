"""Bounds and estimates of log Z against enumeration, and the published numbers of small grids."""

import numpy as np
import pytest
from naive import factor_lists as naive
from scipy.optimize import check_grad
from scipy.special import logsumexp

from jensen.exceptions import JensenError, TooLargeError
from jensen.q_hidden.factor_lists import mini_buckets, tree_mixtures
from jensen.q_hidden.factor_lists.best_states import best_states
from jensen.q_hidden.factor_lists.factor_list import make_factor_list
from jensen.q_hidden.factor_lists.feasible import feasible_states
from jensen.q_hidden.factor_lists.loopy import STARTS, Propagation, loopy, propagate
from jensen.q_hidden.factor_lists.mean_field import product_bound
from jensen.q_hidden.factor_lists.mini_buckets import bucket_bound, split
from jensen.q_hidden.factor_lists.tree_blocks import make_blocks, sweep
from jensen.q_hidden.factor_lists.tree_reweighted import tree_bound
from jensen.support.machine import get_memory_limit, set_memory_limit

SEEDS = range(36)
ROUNDING = 1e-8


def mixed(side):
    return naive.grid(
        side, lambda k: 0.5 * np.cos(1.7 * k + 0.3), lambda i: 0.3 * np.sin(2.1 * i + 0.5)
    )


# model, Bethe, tree-reweighted with effective resistances, mean field: spins ±1
FERRO = (lambda k: 0.2, lambda i: 0.1)
GRIDS = [
    (naive.grid(3, *FERRO), 6.557938429429895, 6.671289739286308, 6.336672074203024),
    (mixed(3), 7.195596197816799, 7.5214176282395915, 6.527248628876478),
    (naive.grid(4, *FERRO), 11.72839695222038, 11.998172800606918, 11.296718056481943),
    (mixed(4), 12.931322389872598, 13.633162903271053, 11.972328943554277),
]


def lists():
    """Random models of which something is left to sum, with what they were made of."""
    for seed in SEEDS:
        model = naive.random_model(seed)
        factors = make_factor_list(*model)
        if factors.constant > -np.inf and factors.n_variables:
            yield model, factors


def rest_of(factors):
    return factors.wiring.cards.tolist(), factors.wiring.scopes(), factors.tables()


@pytest.mark.parametrize("seed", range(0, 36, 3))
def test_taking_out_impossible_states_changes_no_sum(seed):
    model = naive.random_model(seed)
    factors = make_factor_list(*model)
    expected = naive.log_z(*model)
    if factors.constant == -np.inf:
        assert expected == -np.inf
        return
    found = factors.constant + (naive.log_z(*rest_of(factors)) if factors.n_variables else 0.0)
    assert found == pytest.approx(expected, rel=1e-12)
    assert all(len(states) > 1 for states in factors.states)
    every = naive.marginals(*model)
    for v, state in factors.known.items():
        assert every[v][state] == pytest.approx(1.0)
    for k, v in enumerate(factors.variables):
        left_out = np.setdiff1d(np.arange(model[0][v]), factors.states[k])
        assert (every[v][left_out] == 0.0).all()


@pytest.mark.parametrize(("model", "bethe", "trw", "mean_field"), GRIDS)
def test_small_grids_have_their_published_values(model, bethe, trw, mean_field):
    factors = make_factor_list(*model)
    for how in STARTS:
        assert propagate(factors, how).log_z == pytest.approx(bethe, abs=1e-9)
    assert tree_bound(factors, 0).value == pytest.approx(trw, abs=1e-9)
    assert tree_bound(factors).value < trw - 1e-3  # better trees
    found = product_bound(factors, propagate(factors), np.random.default_rng(0))
    assert found.value == pytest.approx(mean_field, abs=1e-7)


def test_bounds_hold_on_random_models_frustrated_ones_and_those_with_zeros():
    widths = {1: [], 2: [], 3: []}
    n_models = 0
    for model, factors in lists():
        exact = naive.log_z(*model)
        slack = ROUNDING * max(1.0, abs(exact))
        n_models += 1
        lower = product_bound(factors, propagate(factors), np.random.default_rng(0)).value
        upper = tree_bound(factors, 1).value
        assert -np.inf < lower <= exact + slack
        assert exact - slack <= upper < np.inf
        for i_bound, found in widths.items():
            buckets = split(factors, i_bound)
            low, high = (
                bucket_bound(factors, buckets, side, 20).value for side in ("lower", "upper")
            )
            assert low <= exact + slack
            assert exact - slack <= high
            found.append(high - max(low, lower))
        whole = split(factors, factors.n_variables)
        assert whole.is_exact
        assert bucket_bound(factors, whole, "upper").value == pytest.approx(exact, rel=1e-10)
    assert n_models > 30
    medians = [np.median(found) for found in widths.values()]
    assert medians[0] > medians[1] > medians[2]  # a larger i-bound brackets log Z more closely


def test_any_messages_give_an_upper_bound():
    from jensen.q_hidden.factor_lists import tree_reweighted as trees

    rng = np.random.default_rng(0)
    for model, factors in list(lists())[:20]:
        exact = naive.log_z(*model)
        pairs = trees.as_pairs(factors)
        wiring = pairs.factors.wiring
        ends = wiring.fam_vars[wiring.fam_ptr[pairs.edges][:, None] + np.arange(2)]
        mixture = tree_mixtures.all_trees(len(wiring.cards), ends)
        graph = trees._pair_graph(pairs, ends, mixture)
        for spread in (0.0, 1.0, 10.0):
            heard = rng.normal(0.0, spread, int(graph.slot_at[-1]))
            value = factors.constant + trees._bound(graph, heard)
            assert value >= exact - ROUNDING


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_the_slope_of_a_bucket_bound_is_its_derivative(side):
    factors = make_factor_list(*naive.random_model(2))
    ask = mini_buckets._Objective(factors, split(factors, 1), side)
    x = np.random.default_rng(0).normal(0.0, 0.3, len(ask.start()))
    assert check_grad(lambda y: ask(y)[0], lambda y: ask(y)[1], x) < 1e-5


def test_the_slope_of_a_tree_bound_is_its_derivative():
    from jensen.q_hidden.factor_lists import tree_reweighted as trees

    pairs = trees.as_pairs(make_factor_list(*naive.random_model(4)))
    wiring = pairs.factors.wiring
    ends = wiring.fam_vars[wiring.fam_ptr[pairs.edges][:, None] + np.arange(2)]
    mixture = tree_mixtures.all_trees(len(wiring.cards), ends)
    graph = trees._pair_graph(pairs, ends, mixture)
    heard = np.random.default_rng(0).normal(0.0, 0.1, int(graph.slot_at[-1]))
    slope = np.empty(len(heard))
    trees._bound(graph, heard, slope)
    for k in range(0, len(heard), 7):
        step = np.zeros(len(heard))
        step[k] = 1e-6
        difference = trees._bound(graph, heard + step) - trees._bound(graph, heard - step)
        assert difference / 2e-6 == pytest.approx(slope[k], abs=1e-5)


@pytest.mark.parametrize(
    "ends", [[(0, 1), (1, 2), (2, 0), (2, 3)], [(0, 1), (2, 3), (3, 4), (4, 2)], [(0, 1)]]
)
def test_a_mixture_of_trees_has_one_parent_or_is_a_root(ends):
    ends = np.array(ends)
    n = int(ends.max()) + 1
    for mixture in (
        tree_mixtures.all_trees(n, ends),
        tree_mixtures.best_tree(n, ends, np.arange(len(ends), dtype=float)),
        tree_mixtures._some_trees(n, ends),
    ):
        total = mixture.root.copy()
        np.add.at(total, ends[:, 0], mixture.child[:, 0])
        np.add.at(total, ends[:, 1], mixture.child[:, 1])
        assert total == pytest.approx(np.ones(n))
        assert (mixture.child > -1e-12).all()
    triangle = tree_mixtures.all_trees(3, np.array([(0, 1), (1, 2), (2, 0)]))
    assert triangle.weights == pytest.approx(np.full(3, 2 / 3))  # each is in 2 of 3 trees


@pytest.mark.parametrize("how", [*STARTS, Propagation("residual", 0.3)])
def test_messages_on_a_tree_are_exact(how):
    rng = np.random.default_rng(3)
    cards = [2, 3, 2, 4, 2]
    scopes = [(0, 1), (1, 2, 3), (3, 4), (0,)]
    tables = [rng.normal(0.0, 2.0, [cards[v] for v in scope]) for scope in scopes]
    point = propagate(make_factor_list(cards, scopes, tables), how)
    assert point.converged
    assert point.log_z == pytest.approx(naive.log_z(cards, scopes, tables), abs=1e-7)
    expected = np.concatenate(naive.marginals(cards, scopes, tables))
    np.testing.assert_allclose(point.marginals, expected, atol=1e-7)


def test_all_fixed_points_are_told_once():
    cards, scopes, tables = naive.grid(3, lambda k: 1.0, lambda i: 0.0)  # two phases
    starts = [Propagation("sweeps", 0.2, seed) for seed in range(6, 10)]
    points = loopy(make_factor_list(cards, scopes, tables), starts)
    first_up = {round(float(point.marginals[1]), 3) for point in points if point.converged}
    assert len(first_up) == len([p for p in points if p.converged]) >= 2
    assert min(first_up) < 0.1
    assert max(first_up) > 0.9


@pytest.mark.parametrize("seed", [2, 8, 14])
def test_draws_by_blocks_have_the_marginals_of_enumeration(seed):
    model = naive.random_model(seed)
    factors = make_factor_list(*model)
    rng = np.random.default_rng(1)
    blocks = make_blocks(factors, rng)
    assert set(np.concatenate([block.members for block in blocks])) == set(
        range(factors.n_variables)
    )
    scores = propagate(factors).marginals
    states = np.array([feasible_states(factors, scores, rng) for _ in range(8)], np.int32)
    total = np.zeros((40, len(scores)))
    for k in range(1200):
        states, shares = sweep(factors, blocks, states, rng)
        total[k // 30] += shares.mean(0) / 30
    expected = np.concatenate(naive.marginals(*rest_of(factors)))
    errors = np.maximum(total.std(0, ddof=1) / np.sqrt(len(total)), 1e-4)
    assert np.abs((total.mean(0) - expected) / errors).max() < 4.5


def test_the_best_states_are_certain_only_where_they_are_the_best():
    n_best = n_certain = 0
    for model, factors in lists():
        best = naive.log_products(*model).max()
        found = best_states(factors, np.random.default_rng(0))
        assert found.value <= best + ROUNDING
        assert found.bound >= best - ROUNDING
        assert factors.log_value(found.states) == pytest.approx(found.value)
        n_best += found.value == pytest.approx(best, abs=1e-9)
        if found.is_certain:
            assert found.value == pytest.approx(best, abs=1e-6)
            n_certain += 1
    assert n_best > 32
    assert n_certain > 18


def test_states_are_found_where_zeros_leave_one_in_thousands():
    cards, n = [3] * 12, 12  # a ring of colours: neighbours differ, and so do those two apart
    scopes = [(v, (v + k) % n) for v in range(n) for k in (1, 2)]
    table = np.where(np.eye(3, dtype=bool), -np.inf, 0.0)
    factors = make_factor_list(cards, scopes, [table] * len(scopes))
    uniform = np.full(36, 1 / 3)
    states = feasible_states(factors, uniform, np.random.default_rng(0))
    assert factors.log_value(states) == 0.0
    odd = make_factor_list([2] * 3, [(0, 1), (1, 2), (2, 0)], [table[:2, :2]] * 3)
    assert feasible_states(odd, np.full(6, 0.5), None) is None  # two colours do not do


def test_strong_tables_lose_no_digits():
    rng = np.random.default_rng(0)
    cards, scopes = [2] * 6, [(v, (v + 1) % 6) for v in range(6)]
    tables = [rng.normal(0.0, 1.0, (2, 2)) + shift for shift in (1e3, -1e3, 5e3, 0, -5e3, 7)]
    exact = naive.log_z(cards, scopes, tables)
    factors = make_factor_list(cards, scopes, tables)
    lower = product_bound(factors, propagate(factors), rng).value
    upper = bucket_bound(factors, split(factors, 6), "upper").value
    assert lower <= exact <= tree_bound(factors).value + 1e-9
    assert upper == pytest.approx(exact, abs=1e-9)
    assert logsumexp(naive.log_products(cards, scopes, tables)) == pytest.approx(exact)


def test_an_i_bound_that_is_too_large_is_refused_with_its_size():
    factors = make_factor_list(*mixed(8))
    before = get_memory_limit()
    try:
        set_memory_limit(10_000)
        with pytest.raises(TooLargeError, match="mini-buckets at i-bound 8 would take"):
            split(factors, 8)
    finally:
        set_memory_limit(before)
    with pytest.raises(JensenError, match="i_bound must be a whole number, 1 or more, not 0"):
        split(factors, 0)
