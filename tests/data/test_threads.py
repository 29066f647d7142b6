"""Sums over rows: the same bits on any number of threads."""

import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

import jensen as jn
from jensen.data import blocks
from jensen.exceptions import JensenError
from jensen.support.machine import ordered_map


class Moments(NamedTuple):
    n: int
    sums: np.ndarray


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "UNIT_ROWS", 64)


def sum_of(table):
    return table.sum(lambda b: b.table.column("x").data[b.start : b.stop].sum())


@pytest.mark.usefixtures("small_blocks")
def test_a_sum_has_the_same_bits_on_any_number_of_threads():
    numbers = np.random.default_rng(0).lognormal(0, 9, 10_000)
    table, totals = jn.Table({"x": numbers}), set()
    for n in (1, 2, 3, 8):
        jn.set_threads(n)
        totals.add(sum_of(table))
    assert len(totals) == 1
    np.testing.assert_allclose(totals.pop(), numbers.sum(), rtol=1e-12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 1000])
def test_blocks_cover_the_rows_once_in_order(n_rows):
    table = jn.Table({"x": np.arange(n_rows)})
    assert table.sum(lambda b: list(range(b.start, b.stop))) == list(range(n_rows))


@pytest.mark.usefixtures("small_blocks")
def test_records_and_tuples_add_up_leaf_by_leaf():
    table = jn.Table({"x": np.arange(1000.0)}, continuous=["x"])

    def moments(b):
        x = b.table.column("x").data[b.start : b.stop]
        return Moments(len(x), np.array([x.sum(), (x**2).sum()])), (x.sum(), None)

    total, (again, nothing) = table.sum(moments)
    assert total.n == 1000
    assert total.sums.tolist() == [499_500.0, 332_833_500.0]
    assert (again, nothing) == (499_500.0, None)


@pytest.mark.parametrize("n", [1, 4])
def test_results_come_in_the_order_of_the_items(n):
    jn.set_threads(n)
    turns = [threading.Event() for _ in range(4)]

    def wait_for_the_next(k):
        if n > 1 and k + 1 < len(turns):
            turns[k + 1].wait(10)
        turns[k].set()
        return k

    assert list(ordered_map(wait_for_the_next, range(4))) == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [1, 2])
def test_an_error_in_a_thread_reaches_the_caller(n):
    jn.set_threads(n)
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(lambda k: 1 / k, [1, 0, 2]))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_of_several_errors_the_first_in_order_is_raised(n):
    """Whoever fails first: here the later item does, while the earlier one waits for it."""
    jn.set_threads(n)
    has_failed = threading.Event()

    def fail(k):
        if k == 1 and n > 1:
            has_failed.wait(10)
        if k == 2:
            has_failed.set()
        if k:
            raise JensenError(f"item {k}")

    with pytest.raises(JensenError, match="item 1"):
        list(ordered_map(fail, range(5)))


@pytest.mark.parametrize("n", [1, 3])
def test_nothing_runs_on_for_a_caller_who_takes_no_more_results(n):
    jn.set_threads(n)
    begun, ended = [], []

    def work(k):
        begun.append(k)
        time.sleep(0.01)  # all of them would take seconds
        ended.append(k)

    results = ordered_map(work, range(1000))
    next(results)
    results.close()
    n_begun = len(begun)
    assert len(ended) == n_begun < 1000
    assert list(ordered_map(lambda k: k, range(4))) == [0, 1, 2, 3]
    assert len(begun) == n_begun


def test_two_callers_at_once_share_the_threads_there_are():
    jn.set_threads(2)
    together = threading.Barrier(2, timeout=10)
    sums = []

    def caller():
        together.wait()
        sums.append(sum(ordered_map(lambda k: k * k, range(200))))

    both = [threading.Thread(target=caller) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(10)
    assert sums == [sum(k * k for k in range(200))] * 2


def test_reading_does_not_depend_on_threads():
    data = {f"c{k}": np.random.default_rng(k).integers(0, 5, 100) for k in range(10)}
    tables = []
    for n in (1, 4):
        jn.set_threads(n)
        tables.append(jn.Table(data))
    assert tables[0].variables == tables[1].variables
    for name in data:
        np.testing.assert_array_equal(tables[0].column(name).data, tables[1].column(name).data)


@pytest.mark.parametrize("n", [3, np.int64(3)])
def test_the_number_of_threads_can_be_chosen(n):
    jn.set_threads(n)
    assert jn.get_threads() == 3


def test_the_environment_chooses_where_nobody_did(monkeypatch):
    monkeypatch.setenv("JENSEN_THREADS", "5")
    assert jn.get_threads() == 5
    jn.set_threads(2)
    assert jn.get_threads() == 2
    jn.set_threads(None)
    assert jn.get_threads() == 5


def test_all_cores_are_used_where_nothing_is_said(monkeypatch):
    monkeypatch.delenv("JENSEN_THREADS", raising=False)
    assert jn.get_threads() >= 1


@pytest.mark.parametrize("n", [0, -1])
def test_fewer_than_one_thread(n):
    with pytest.raises(JensenError, match=f"set_threads: the number .* at least 1, not {n}"):
        jn.set_threads(n)


@pytest.mark.parametrize("n", ["2", 2.5, [1]])
def test_what_is_no_number_of_threads(n):
    with pytest.raises(JensenError, match=r"set_threads: .* is no number of threads"):
        jn.set_threads(n)


@pytest.mark.parametrize("text", ["", "two", "-1", "2.5", " 2", "²"])
def test_a_bad_environment_variable(monkeypatch, text):
    monkeypatch.setenv("JENSEN_THREADS", text)
    with pytest.raises(JensenError, match=f"JENSEN_THREADS='{text}' is no number of threads"):
        jn.get_threads()


def test_no_threads_in_the_environment(monkeypatch):
    monkeypatch.setenv("JENSEN_THREADS", "0")
    with pytest.raises(JensenError, match="JENSEN_THREADS: the number of threads must be at least"):
        jn.get_threads()
