"""Sums over units: in order, once each, and never on threads within threads."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

import jensen as jn
from jensen.data.threads import ordered_map
from jensen.data.units import FEW, Units


class Sums(NamedTuple):
    value: float
    stats: np.ndarray


def make(n):
    return Units(tuple(range(n)), float(n), is_complete=False)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_totals_are_added_and_the_rest_is_kept_in_order(n_threads):
    jn.set_threads(n_threads)
    total, kept = make(4).sum(
        lambda unit, memory, extra: (Sums(unit + 0.5, np.eye(4)[unit]), (memory, extra)),
        "abcd",
        iter([10, 20, 30, 40]),
    )
    assert total.value == 8.0
    assert total.stats.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert kept == (("a", 10), ("b", 20), ("c", 30), ("d", 40))
    assert len(make(4)) == 4


def test_a_sum_has_the_same_bits_on_any_number_of_threads():
    numbers = np.random.default_rng(0).lognormal(0.0, 9.0, 200)
    totals = set()
    for n_threads in (1, 2, 7):
        jn.set_threads(n_threads)
        totals.add(make(200).sum(lambda k: (float(numbers[k]), None))[0])
    expected = 0.0
    for number in numbers:
        expected += float(number)
    assert totals == {expected}


def test_something_per_unit_means_one_for_each():
    with pytest.raises(ValueError, match="zip"):
        make(3).sum(lambda unit, memory: (1.0, memory), [None, None])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_unit_reaches_the_caller(n_threads):
    jn.set_threads(n_threads)
    with pytest.raises(ZeroDivisionError):
        make(3).sum(lambda unit: (1 / unit, None))


def meet():
    """A function of a unit that two threads have to run at the same time; who ran it is kept."""
    both = threading.Barrier(2, timeout=10)

    def visit(unit):
        both.wait()
        return 0.0, threading.get_ident()

    return visit


def test_units_use_the_threads_there_are():
    jn.set_threads(2)
    names = make(4).sum(meet())[1]
    assert len(set(names)) == 2
    assert threading.get_ident() in names  # who asks does not sit idle


def test_few_units_are_not_worth_a_thread():
    jn.set_threads(2)
    assert set(make(FEW).sum(lambda unit: (0.0, threading.get_ident()))[1]) == {
        threading.get_ident()
    }


def test_threads_are_never_nested():
    """Starts on threads sum their units one after the other, each on its own thread."""
    jn.set_threads(2)

    def start(k):
        return threading.get_ident(), make(3).sum(lambda unit: (k, threading.get_ident()))

    for k, (own, (total, inside)) in enumerate(ordered_map(start, range(4))):
        assert set(inside) == {own}
        assert total == 3 * k


def test_one_start_leaves_the_threads_to_its_units():
    jn.set_threads(2)
    (inside,) = ordered_map(lambda k: make(4).sum(meet())[1], [0])
    assert len(set(inside)) == 2


def test_threads_are_free_again_after_a_map():
    jn.set_threads(2)
    list(ordered_map(lambda k: k, range(4)))
    assert len(set(make(4).sum(meet())[1])) == 2
