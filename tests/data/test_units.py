"""Sums over units: in order, once each, and never on threads within threads."""

import math
import threading
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import jensen as jn
from jensen.data.blocks import FEW, TreeSum, Units
from jensen.data.number_rows import NumberRows
from jensen.support.machine import ordered_map


class Sums(NamedTuple):
    value: float
    stats: np.ndarray


def make(n):
    return Units(tuple(range(n)), float(n), is_complete=False)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_totals_are_added_and_the_rest_is_kept_in_order(n_threads):
    jn.set_threads(n_threads)
    total, kept = make(4).sum(
        lambda number, unit, memory: (Sums(unit + 0.5, np.eye(4)[unit]), (memory, number)),
        iter("abcd"),
    )
    assert total.value == 8.0
    assert total.stats.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert kept == (("a", 0), ("b", 1), ("c", 2), ("d", 3))
    assert len(make(4)) == 4


def test_a_sum_has_the_same_bits_on_any_number_of_threads():
    numbers = np.random.default_rng(0).lognormal(0.0, 9.0, 200)
    totals = set()
    for n_threads in (1, 2, 7):
        jn.set_threads(n_threads)
        totals.add(make(200).sum(lambda number, k, kept: (float(numbers[k]), None))[0])
    parts = numbers[:128], numbers[128:192], numbers[192:]
    assert totals == {by_pairs(parts[0]) + by_pairs(parts[1]) + by_pairs(parts[2])}


def by_pairs(numbers):
    """The sum of 2^n numbers, halves first."""
    half = len(numbers) // 2
    return by_pairs(numbers[:half]) + by_pairs(numbers[half:]) if half else float(numbers[0])


@pytest.mark.parametrize("n", [1, 2, 7, 64, 200])
def test_a_tree_has_the_same_bits_however_its_terms_are_split(n):
    rng = np.random.default_rng(n)
    terms = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-8, 8, (n, 1))
    whole = TreeSum()
    for number, term in enumerate(terms):
        whole.put(number, term)
    for n_parts in (1, 2, 3, 7):
        edges = [0, *np.sort(rng.integers(0, n + 1, n_parts - 1)), n]
        parts = []
        for start, stop in pairwise(edges):
            parts.append(TreeSum())
            for number in range(start, stop):
                parts[-1].put(number, terms[number])
        joined = TreeSum()
        for k in rng.permutation(n_parts):
            joined.merge(parts[k])
        assert joined.total().tobytes() == whole.total().tobytes()
    exact = [math.fsum(column) for column in terms.T]
    np.testing.assert_allclose(whole.total(), exact, rtol=0.0, atol=1e-15 * np.abs(terms).sum())


def test_nothing_has_no_sum():
    assert TreeSum().total() is None


def test_something_per_unit_means_one_for_each():
    with pytest.raises(ValueError, match="zip"):
        make(3).sum(lambda number, unit, memory: (1.0, memory), [None, None])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_unit_reaches_the_caller(n_threads):
    jn.set_threads(n_threads)
    with pytest.raises(ZeroDivisionError):
        make(3).sum(lambda number, unit, kept: (1 / unit, None))


def meet():
    """A function of a unit that two threads have to run at the same time; who ran it is kept."""
    both = threading.Barrier(2, timeout=10)

    def visit(number, unit, kept):
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
    assert set(make(FEW).sum(lambda number, unit, kept: (0.0, threading.get_ident()))[1]) == {
        threading.get_ident()
    }


def test_threads_are_never_nested():
    """Starts on threads sum their units one after the other, each on its own thread."""
    jn.set_threads(2)

    def start(k):
        inside = make(3).sum(lambda number, unit, kept: (k, threading.get_ident()))
        return threading.get_ident(), inside

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


@pytest.mark.parametrize("is_lazy", [False, True])
def test_sketches_of_some_columns_and_of_sequences_are_their_own(is_lazy):
    """Not those of the rows that they were made of, which were looked at before."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(9, 3))
    values[2, 1] = np.nan
    table = jn.Table(dict(zip("abc", values.T, strict=True)))
    scan = jn.data.TableScan(table.variables, lambda: iter([table]), False)
    rows = NumberRows.scanned(scan if is_lazy else table, "abc")
    assert rows.sketch.n_seen.tolist() == [9, 8, 9]
    some = rows.columns([2, 1])
    lengths, weight = np.array([4, 1, 4]), np.array([2.0, 0.5, 3.0])
    weighted = rows.by_sequence(lengths, weight)
    pairs = [
        (some, NumberRows.of(values[:, [2, 1]])),
        (weighted, NumberRows.of(values, np.repeat(weight, lengths))),
        (weighted.columns([0]), NumberRows.of(values[:, [0]], np.repeat(weight, lengths))),
    ]
    for ours, theirs in pairs:
        assert ours.n_columns == theirs.n_columns
        for a, b in zip(ours.sketch, theirs.sketch, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-15)


@pytest.mark.parametrize("weight", [0.5, 2.0, 0.0])
def test_rows_of_other_weights_do_not_count_once(weight):
    values = np.zeros((3, 1))
    assert NumberRows.of(values).counts_once
    rows = NumberRows.of(values, np.array([1.0, weight, 1.0]))
    assert not rows.counts_once
    assert rows.counted().n_rows == (3 if weight else 2)


@pytest.mark.parametrize("n", [13, 1, 2, 5, 8])
def test_a_tree_joins_its_terms_in_their_order(n):
    """Whatever the order in which they come: what is joined need not commute."""
    tree = TreeSum(lambda a, b: a + b)
    for number in np.random.default_rng(n).permutation(n).tolist():
        tree.put(number, (number,))
    assert tree.total() == tuple(range(n))
