"""States of hidden variables in another order: the same joint distribution under other names."""

import numpy as np
import pytest
from models import cases
from naive import learning as naive

import jensen as jn
from jensen.models.discrete_network import by_falling_count, permute


@pytest.mark.parametrize("seed", range(10))
def test_a_permutation_renames_states_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    case = cases.random_case(seed)
    flat = cases.random_probabilities(rng, case)
    orders = {
        v: rng.permutation(case.cards[v]) for v in rng.permutation(len(case.cards))[:2].tolist()
    }
    before, after = case.split(np.log(flat)), case.split(np.log(permute(case.wiring, orders, flat)))
    for full in naive.completions([-1] * len(case.cards), case.cards):
        old = [int(orders[v][s]) if v in orders else s for v, s in enumerate(full)]
        expected = naive.log_product(case.families, before, old)
        assert naive.log_product(case.families, after, full) == pytest.approx(expected, rel=1e-14)


def test_no_orders_change_nothing_and_the_input_is_kept():
    case = cases.random_case(0)
    flat = cases.random_probabilities(np.random.default_rng(0), case)
    kept = flat.copy()
    assert permute(case.wiring, {}, flat).tobytes() == flat.tobytes()
    permute(case.wiring, {0: np.arange(case.cards[0])[::-1]}, flat)
    assert flat.tobytes() == kept.tobytes()


def test_the_most_frequent_state_comes_first_whatever_its_parents():
    wiring = cases.Case(jn.DAG("a -> h"), [2, 3], np.empty((0, 2))).wiring
    stats = np.array([9.0, 9.0, 1.0, 0.0, 5.0, 2.0, 6.0, 4.0])  # h: 3, 6, 9
    assert by_falling_count(wiring, [1], stats)[1].tolist() == [2, 1, 0]
    assert by_falling_count(wiring, [], stats) == {}


def test_equal_counts_keep_their_order():
    wiring = cases.Case(jn.DAG("h"), [4], np.empty((0, 1))).wiring
    stats = np.array([1.0, 2.0, 1.0, 2.0])
    assert by_falling_count(wiring, [0], stats)[0].tolist() == [1, 3, 0, 2]
