"""Contingency tables against a dictionary, by every way there is to count them."""

import numpy as np
import pytest
from naive import counting as naive

import jensen as jn
from jensen.data import counting
from jensen.data.encode import Column, smallest_code_type
from jensen.kernels import counting as kernels

CARDS = {"a": 2, "b": 3, "one": 1, "c": 5, "w63": 63, "w64": 64, "w300": 300, "w70k": 70_000}
VARIABLES = [jn.Variable(x, "categorical", tuple(map(str, range(n)))) for x, n in CARDS.items()]
FAMILIES = [
    ("a",),
    ("b", "a"),
    ("a", "b", "c"),
    ("c", "one", "a", "b"),
    ("one",),
    ("w63",),
    ("w64", "a"),
    ("a", "w63", "b"),
    ("w300",),
    ("w300", "a"),
    ("b", "w300"),
    ("a", "a"),
]
WIDE = [("w70k",), ("a", "w70k"), ("w70k", "one")]
WAYS = {"cheapest": (0.33, 0.9), "bits": (0.0, 1.0), "index": (1.0, 0.0)}


def make_table(n_rows, missing=0.1, weights=None, seed=0):
    """Random codes, uneven and with states that never occur; the last code is missing."""
    rng = np.random.default_rng(seed)
    columns = []
    for variable in VARIABLES:
        card = variable.n_states
        codes = (card * rng.random(n_rows) ** 2).astype(smallest_code_type(card))
        codes[rng.random(n_rows) < missing] = card
        columns.append(Column(variable, codes))
    return jn.Table.from_columns(columns, weights)


def labels(table, name):
    """A column as a list of labels, None where missing: what the naive count reads."""
    variable, codes = table.column(name)
    states = (*variable.states, None)
    return [states[k] for k in codes.tolist()]


def check(table, families=FAMILIES, rtol=0.0):
    counted = counting.count_families(table, families)
    for family, found in zip(families, counted, strict=True):
        expected = naive.count([labels(table, x) for x in family], table.weights)
        expected = {cell: n for cell, n in expected.items() if n}
        assert found.shape == tuple(table.variable(x).n_states for x in family)
        assert found.dtype == np.float64
        got = naive.as_dictionary(found, [table.variable(x).states for x in family])
        assert got.keys() == expected.keys()
        np.testing.assert_allclose([got[k] for k in expected], list(expected.values()), rtol=rtol)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Make the counter believe that one way costs nothing."""
    per_word, per_row = WAYS[request.param]
    monkeypatch.setattr(counting, "NS_PER_WORD", per_word)
    monkeypatch.setattr(counting, "NS_PER_ROW", per_row)
    return request.param


@pytest.mark.parametrize("missing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 1000])
def test_counts_are_those_of_a_dictionary(way, n_rows, missing):
    check(make_table(n_rows, missing))


def test_counts_over_several_units(way):
    check(make_table(200_000, 0.02), [("a",), ("b", "a"), ("a", "b", "c"), ("a", "w300")])


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [0, 1, 300, 70_001])
def test_variables_with_very_many_states(n_rows):
    check(make_table(n_rows), WIDE)
    check(make_table(n_rows, weights=np.arange(n_rows) % 3), WIDE)


def test_a_family_without_members_counts_the_rows():
    assert counting.count_families(make_table(70), [()])[0] == 70.0
    assert counting.count_families(make_table(70, weights=np.full(70, 2.0)), [()])[0] == 140.0
    assert counting.count_families(make_table(70), []) == []


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_weighted_counts(way, n_rows, missing):
    rng = np.random.default_rng(n_rows)
    check(make_table(n_rows, missing, rng.integers(0, 4, n_rows)))
    check(make_table(n_rows, missing, rng.exponential(1.0, n_rows)), rtol=1e-12)


@pytest.mark.slow
def test_weighted_counts_over_several_units():
    weights = np.random.default_rng(0).integers(0, 1000, 200_000) / 8.0  # sums are exact
    check(make_table(200_000, 0.02, weights), [("b", "a"), ("a", "w300"), ("w70k",)])


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_weights(size):
    check(make_table(64, 0.1, np.arange(64) % 2 * size), rtol=1e-14)


def test_tables_of_one_lane(monkeypatch):
    monkeypatch.setattr(counting, "MAX_LANED_CELLS", 0)
    monkeypatch.setattr(counting, "NS_PER_ROW", 0.0)
    check(make_table(1003))


def test_kernels_add_to_what_is_there():
    """Also where a state comes by difference."""
    table = make_table(100)
    names, families = ["a", "b"], [("a", "b"), ("b",)]
    levels = [[table.packed.levels[x] for x in family] for family in families]
    planes, bits = table.packed.planes(names), table.packed.bits(names)
    by_bits, by_index = counting._plan(levels, bits=True), counting._plan(levels, bits=False)
    size = by_index.at[-1]

    def once_and_twice(kernel, out, *arguments):
        kernel(*arguments, out)
        once = out.copy()
        kernel(*arguments, out)
        assert once.any()
        assert np.array_equal(out, 2 * once)

    zeros, (_, first, n_codes) = np.zeros(size, np.int64), table.packed.places(names)
    pairs = np.zeros((n_codes.sum() - 2, n_codes.sum() - 2), np.int64)
    once_and_twice(kernels.count_bits, zeros, bits, *by_bits, 0, 2)
    once_and_twice(kernels.count_pairs, pairs, bits, first, n_codes, 0, 2)
    lanes, weights = np.zeros((4, size), np.int32), np.ones(100)
    once_and_twice(kernels.count_index, lanes, planes, *by_index, 0, 100)
    once_and_twice(kernels.count_weighted, np.zeros(size), planes, *by_index, 0, 100, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(way, weighted):
    weights = np.random.default_rng(1).exponential(1.0, 300_000) if weighted else None
    families = [("b", "a"), ("a", "b", "c"), ("a", "w300")]
    results = []
    for threads in [1, 2, 5]:
        jn.set_threads(threads)
        try:
            table = make_table(300_000, 0.02, weights)
            results.append(counting.count_families(table, families))
        finally:
            jn.set_threads(None)
    for other in results[1:]:
        assert all(map(np.array_equal, results[0], other))


def naive_pairs(table, names):
    """Block (x, y) is the table of x and y; block (x, x) has the counts of x on its diagonal."""
    size = [table.variable(x).n_states for x in names]
    at = np.cumsum([0, *size])
    out = np.zeros((at[-1], at[-1]))
    for i, x in enumerate(names):
        for j, y in enumerate(names):
            counted = naive.count([labels(table, x), labels(table, y)], table.weights)
            for (k, m), n in counted.items():  # the label of state k is the text of k
                out[at[i] + int(k), at[j] + int(m)] = n
    return out


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("missing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize(
    "names", [("a", "b", "one", "c"), ("w63", "a"), ("c",), ("w64", "b"), ("w300", "a"), ()]
)
def test_counts_of_pairs(n_rows, missing, names):
    table = make_table(n_rows, missing)
    assert np.array_equal(counting.count_pairs(table, names), naive_pairs(table, names))


def test_weighted_counts_of_pairs():
    table = make_table(500, 0.1, np.random.default_rng(0).integers(0, 4, 500))
    names = ("a", "one", "c")
    assert np.array_equal(counting.count_pairs(table, names), naive_pairs(table, names))


def test_counts_of_pairs_over_several_units():
    table = make_table(200_000, 0.02)
    names = ("a", "c")
    assert np.array_equal(counting.count_pairs(table, names), naive_pairs(table, names))


def test_a_column_without_states_is_counted_as_missing():
    table = jn.Table({"x": [None, None], "a": [0, 1]}, categorical=["x"])
    assert counting.count_families(table, [("x",), ("a", "x")])[1].shape == (2, 0)
    assert np.array_equal(counting.count_pairs(table, ["x", "a"]), np.eye(2))


def test_numbers_cannot_be_counted():
    table = jn.Table({"x": [0.5, 1.5], "a": [0, 1]})
    for count in (counting.count_families, counting.count_pairs):
        with pytest.raises(jn.DataError, match="column 'x' is continuous, and only states can be"):
            count(table, [("a", "x")] if count is counting.count_families else ["a", "x"])


def test_tables_that_do_not_fit_are_refused():
    table = make_table(10)
    jn.set_memory_limit(1e6)
    try:
        with pytest.raises(jn.JensenError, match=r"the tables of counts would take 801\.1 MiB"):
            counting.count_families(table, [("w70k", "w300", "c")])
        with pytest.raises(jn.JensenError, match="counts of all pairs of states would take 1"):
            counting.count_pairs(table, ["a", "w70k"])
        jn.set_memory_limit(float("inf"))
        with pytest.raises(jn.DataError, match=r"a table of [\d,]+ counts is too large"):
            counting.count_families(table, [("w70k", "w300", "w300")])
    finally:
        jn.set_memory_limit(None)
