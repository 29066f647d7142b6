from typing import Any, NamedTuple

import numpy as np
import pytest

from jensen.support.fields import add, add_at, is_record, leaves, rebuild, subtract, zip_fields


class Pair(NamedTuple):
    a: Any
    b: Any


def test_a_record_is_a_named_tuple():
    assert is_record(Pair(1, 2))
    assert not is_record((1, 2))
    assert not is_record(np.ones(2))
    assert not is_record(None)


def test_fields_are_zipped_into_the_same_type():
    assert zip_fields(lambda x, y: x * y, Pair(2, 3), Pair(5, 7)) == Pair(10, 21)
    with pytest.raises(ValueError, match="zip"):
        zip_fields(max, Pair(1, 2), (1, 2, 3))


def test_addition_and_subtraction_reach_every_leaf():
    a = Pair(np.array([1.0, 2.0]), (Pair(3.0, np.eye(2)), Pair(np.ones(1), 4.0)))
    b = Pair(np.array([10.0, 20.0]), (Pair(30.0, np.eye(2)), Pair(np.ones(1), 40.0)))
    total = add(a, b)
    assert isinstance(total.b[1], Pair)
    assert total.a.tolist() == [11.0, 22.0]
    assert total.b[0].b.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert (total.b[0].a, total.b[1].b) == (33.0, 44.0)
    back = subtract(total, a)
    assert back.a.tolist() == b.a.tolist()
    assert back.b[1].b == 40.0


def test_the_flat_prior_adds_nothing():
    assert add(None, 3.0) == 3.0
    assert add(Pair(None, 1.0), Pair(2.0, 3.0)) == Pair(2.0, 4.0)
    assert subtract(Pair(2.0, 3.0), Pair(None, 1.0)) == Pair(2.0, 2.0)


def test_tuples_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        add((1.0, 2.0), (1.0,))


def test_leaves_come_from_first_to_last_through_records_and_tuples():
    record = Pair(1.0, (Pair(2.0, None), Pair((3.0, 4.0), 5.0)))
    assert leaves(record) == [1.0, 2.0, None, 3.0, 4.0, 5.0]
    assert leaves(7.0) == [7.0]
    assert leaves(()) == []


def test_a_record_is_rebuilt_from_its_leaves():
    record = Pair(np.ones(2), (Pair(2.0, None), Pair((3.0, 4.0), 5.0)))
    again = rebuild(record, iter(leaves(record)))
    assert again.a is record.a
    assert isinstance(again.b[0], Pair)
    assert again.b == record.b
    values = iter("abcdef")
    assert rebuild(record, values) == Pair("a", (Pair("b", "c"), Pair(("d", "e"), "f")))


@pytest.mark.parametrize(
    ("index", "values"),
    [
        (np.array([[0, 1], [2, 3], [0, 1]]), np.array([1.0, 10.0])),
        (np.array([[0, 1], [2, 3], [0, 1]]), 1.0),
        (np.array([3, 3, 0]), np.array([1.0, 2.0, 4.0])),
        ((np.array([[0], [1]]), np.array([[0, 1], [1, 2]])), np.array([1.0, 10.0])),
        (np.array([[0, 1], [1, 1]]), np.array([1.0, 2.0, 4.0])),
    ],
)
def test_add_at_adds_values_spread_to_the_shape_of_the_index(index, values):
    at = index if isinstance(index, tuple) else (index,)
    target = np.zeros((4,) * len(at) if np.size(values) < 3 or np.ndim(index) < 2 else (4, 3))
    expected, at = target.copy(), np.broadcast_arrays(*at)
    spread = np.broadcast_to(values, at[0].shape + target.shape[len(at) :])
    for place in np.ndindex(at[0].shape):
        expected[tuple(int(own[place]) for own in at)] += spread[place]
    add_at(target, index, values)
    np.testing.assert_array_equal(target, expected)
