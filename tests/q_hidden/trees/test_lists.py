"""Numbers of lists against a dictionary."""

import numpy as np
import pytest

from jensen.kernels.hidden_sets import intern
from jensen.q_hidden.trees.plans import InternedLists


def end_to_end(lists, gap=0):
    """Lists as words with their begins and ends, `gap` words between them."""
    words, begin, end = [], [], []
    for one in lists:
        words += [99] * gap
        begin.append(len(words))
        words += one
        end.append(len(words))
    return np.array(words, np.int32), np.array(begin, np.int64), np.array(end, np.int64)


def check(lists, found, known):
    """Numbers are those of first appearance; the lists themselves can be read back."""
    numbers = [known.setdefault(tuple(one), len(known)) for one in lists]
    assert found.number(*end_to_end(lists)).tolist() == numbers
    assert len(found) == len(known)
    words, begin, end = found.entries, found.begin, found.end
    assert [tuple(words[a:b]) for a, b in zip(begin, end, strict=True)] == list(known)


def random_lists(rng, n, longest, largest):
    return [rng.integers(-1, largest, rng.integers(0, longest + 1)).tolist() for _ in range(n)]


def test_nothing_seen():
    found = InternedLists()
    assert len(found) == 0
    assert [part.tolist() for part in (found.entries, found.begin, found.end)] == [[], [], []]
    check([], found, {})


def test_empty_lists_are_lists():
    check([[], [1], [], [0], [0, 0], []], InternedLists(), {})


def test_a_list_is_more_than_its_words():
    """Boundaries count, and so do order, length and sign."""
    check([[1, 2], [1], [2], [2, 1], [1, 2, 0], [0, 1, 2], [-1], [1, 2]], InternedLists(), {})


def test_words_between_the_lists_do_not_count():
    lists = [[1, 2], [], [3], [1, 2]]
    assert InternedLists().number(*end_to_end(lists, gap=3)).tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("longest", [1, 3, 40])
@pytest.mark.parametrize("largest", [1, 5, 2**31 - 1])
def test_thousands_of_lists_in_several_calls(longest, largest):
    """Tables and pools grow several times on the way."""
    rng = np.random.default_rng(longest)
    found, known = InternedLists(), {}
    for n in (1, 10, 300, 0, 3000, 5, 2000):
        check(random_lists(rng, n, longest, largest), found, known)


def test_only_the_first_are_kept():
    rng = np.random.default_rng(0)
    found, known = InternedLists(), {}
    check(random_lists(rng, 2000, 4, 6), found, known)
    for n in (500, 499, 1, 0):
        found.keep(n)
        known = dict(list(known.items())[:n])
        check([], found, known)
        check(random_lists(rng, 50, 4, 6), found, known)


@pytest.mark.parametrize("n_places", [8, 16, 64])
def test_lists_that_fall_on_the_same_place(n_places):
    """A table that is full but for one place: nearly every list collides."""
    lists = [[k, k // 3] for k in range(n_places - 1)]
    words, begin, end = end_to_end(lists)
    pool, pool_end = np.empty(len(words), np.int32), np.empty(len(lists), np.int64)
    places, numbers = np.full(n_places, -1, np.int64), np.empty(len(lists), np.int64)
    assert intern(words, begin, end, pool, pool_end, places, 0, numbers) == len(lists)
    assert numbers.tolist() == list(range(len(lists)))
    assert sorted(places) == list(range(-1, len(lists)))
    assert intern(words, begin, end, pool, pool_end, places, len(lists), numbers) == len(lists)
    assert numbers.tolist() == list(range(len(lists)))


def first_place(one, mask):
    """Where a list is looked for first, by the same hash in Python's integers."""
    h = 14695981039346656037
    for word in one:
        h = ((h ^ (word % 2**32)) * 11400714819323198485) % 2**64
        h ^= h >> 29
    return h & mask


def test_lists_with_the_same_first_place():
    """Among thousands of lists take those that begin their search at one place of the table."""
    lists = [[k, -k] for k in range(40_000) if first_place([k, -k], 511) == 5]
    assert len(lists) > 50
    check(lists + lists[::-1], InternedLists(), {})
