"""Compiled counting gives the scores of plain counting, whatever way it counts."""

import numpy as np
import pytest

import jensen as jn
from jensen.scores import SCORES as ALL
from jensen.scores import set_counter
from jensen.scores.make_scorer import CountScorer, make_scorer
from jensen.scores.registry import SPECS
from jensen.scores.set_counter import SetCounter, count_bits

SCORES = [name for name, spec in SPECS.items() if spec.kernel]
WAYS = ["bits", "bytes", "columns"]
SIZES = [1, 2, 16, 17, 64, 65, 256, 257, 1000]
every_score = pytest.mark.parametrize("score", SCORES)
every_way = pytest.mark.parametrize("way", WAYS)


def make_table(sizes, n_rows, seed=0):
    """Variables that depend on the one before; all states are declared, many may never occur."""
    rng = np.random.default_rng(seed)
    columns, states, before = {}, {}, np.zeros(n_rows, int)
    for k, size in enumerate(sizes):
        noise = rng.integers(0, size, n_rows)
        before = np.where(rng.random(n_rows) < 0.7, before % size, noise)
        columns[f"x{k}"], states[f"x{k}"] = before, range(size)
    return jn.Table(columns, states=states)


def force(monkeypatch, way):
    """Count this way where it can be done."""
    costs = SetCounter._costs

    def chosen(self, cells, margins):
        found = costs(self, cells, margins)
        asked = [(cost, name) for cost, name in found if name == way and cost < np.inf]
        return asked or found

    monkeypatch.setattr(SetCounter, "_costs", chosen)


def check(scorer, families):
    """Everything that a search asks, to 1e-11."""
    assert isinstance(scorer, CountScorer)
    n = len(scorer.names)
    for child, parents in families:
        others = [u for u in range(n) if u != child and u not in parents]
        for question in ("with_each", "family", "without_each"):
            found = getattr(scorer, question)(child, parents)
            expected = getattr(scorer.plain, question)(child, parents)
            if question == "with_each":
                found, expected = found[others], expected[others]
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11, err_msg=question)


@every_score
@every_way
@pytest.mark.parametrize("n_rows", [1, 3, 64, 300])
def test_small_tables(monkeypatch, score, way, n_rows):
    force(monkeypatch, way)
    families = [(0, []), (2, [0]), (1, [4]), (3, [1, 2]), (4, [0, 1, 3]), (0, [1, 2, 3, 4])]
    check(make_scorer(make_table([2, 3, 1, 4, 2], n_rows), score), families)


@every_score
@every_way
@pytest.mark.compiled
def test_variables_of_all_sizes(monkeypatch, score, way):
    """Those that a way cannot count are counted otherwise."""
    force(monkeypatch, way)
    scorer = make_scorer(make_table(SIZES, 500), score)
    check(scorer, [(v, []) for v in range(len(SIZES))])
    check(scorer, [(1, [2]), (2, [1, 3]), (0, [4]), (8, [1]), (1, [7]), (7, [8]), (5, [0, 1, 2])])


@every_score
@pytest.mark.parametrize("way", ["bits", "bytes"])
def test_which_variable_was_the_child_before_changes_no_bit(monkeypatch, score, way):
    """What the counts of a set add to a score is summed once, and serves all of its children."""
    force(monkeypatch, way)
    scorer, family = make_scorer(make_table([2, 3, 1, 4, 2, 3], 300), score), (0, 1, 3)
    for child in (*family, *family):
        parents = [u for u in family if u != child]
        check(scorer, [(child, parents), (child, parents[::-1])])
        found = scorer.with_each(child, parents)
        known = scorer.counter.find((child, *parents)).joint
        assert not np.isnan(known[[2, 4, 5]]).any()
        known[:] = np.nan  # as if nothing had been scored before
        np.testing.assert_array_equal(scorer.with_each(child, parents), found)


@pytest.mark.parametrize("sizes", [[300, 257], [1, 1, 1], [1, 300], [1], [2], [256], [65536, 2]])
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_tables_of_unusual_sizes_only(sizes, score):
    scorer = make_scorer(make_table(sizes, 40), score)
    check(scorer, [(v, []) for v in range(len(sizes))])
    check(scorer, [(v, [u]) for v in range(len(sizes)) for u in range(len(sizes)) if u != v])


@every_score
def test_families_that_are_too_large_for_tables(monkeypatch, score):
    for module in ("make_scorer", "set_counter"):
        monkeypatch.setattr(f"jensen.scores.{module}.MOST_COUNTS", 1 << 8)
    scorer = make_scorer(make_table([4, 4, 4, 4, 4, 4], 200), score)
    check(scorer, [(0, [1, 2]), (1, [0, 2, 3]), (5, [0, 1, 2, 3, 4]), (2, [])])


def test_larger_families_than_rows():
    """A million cells and more than there are rows."""
    scorer = make_scorer(make_table([10] * 8, 100), "bdeu")
    check(scorer, [(0, [1, 2, 3, 4, 5]), (0, [1, 2, 3, 4, 5, 6]), (7, [0, 1, 2, 3, 4, 5, 6])])


@every_way
def test_a_tile_of_words_and_more(monkeypatch, way):
    """256 words and 4,096 rows are looked at together: 20,001 rows are more."""
    force(monkeypatch, way)
    check(make_scorer(make_table([2, 3, 16, 17, 2], 20_001), "bic"), [(0, [1]), (3, [0, 2])])


@every_way
@pytest.mark.parametrize("n_rows", [(1 << 17) - 1, 1 << 17, (1 << 17) + 1])
def test_threads_change_no_bit(monkeypatch, way, n_rows):
    force(monkeypatch, way)
    monkeypatch.setattr(set_counter, "LONG", 0)
    table = make_table([2, 3, 5, 17], n_rows)
    found = []
    try:
        for threads in (1, 2, 3):
            jn.set_threads(threads)
            scorer = make_scorer(table, "bdeu")
            found.append([scorer.with_each(0, [1]), scorer.without_each(2, [0, 1])])
    finally:
        jn.set_threads(None)
    for other in found[1:]:
        for x, y in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(x, y)
    check(make_scorer(table, "bdeu"), [(0, [1])])


@every_way
def test_threads_do_not_wait_for_each_other(monkeypatch, way):
    """Fresh tables of two variables, three threads: what is made once is made before they run."""
    force(monkeypatch, way)
    monkeypatch.setattr(set_counter, "LONG", 0)
    table = make_table([20, 20], 1 << 16)
    try:
        jn.set_threads(3)
        for _ in range(20):
            make_scorer(table.select(table.names), "bdeu").with_each(0, [])
    finally:
        jn.set_threads(None)


@every_score
@every_way
def test_a_family_and_the_same_turned_round(monkeypatch, score, way):
    force(monkeypatch, way)
    scorer = make_scorer(make_table([2, 3, 16, 17, 300, 1], 200), score)
    check(scorer, [(0, [1]), (1, [0]), (1, [0]), (0, [1]), (2, [0]), (0, [2]), (3, [5]), (5, [3])])


@every_score
@pytest.mark.parametrize("way", WAYS[:2])
def test_variables_that_were_counted_are_not_counted_again(monkeypatch, score, way):
    """Whichever of them is the child; unless there was no room to keep them."""
    force(monkeypatch, way)
    table, families = (
        make_table([2, 3, 4, 17, 300, 1], 200),
        [(1, [0, 2]), (0, [1, 2]), (2, [1, 0])],
    )
    scorer, n_counted, number = make_scorer(table, score), [], SetCounter._number

    def numbered(self, family):
        n_counted.append(family)
        return number(self, family)

    monkeypatch.setattr(SetCounter, "_number", numbered)
    check(scorer, [*families, (5, [2]), (2, [5])])
    assert n_counted == [(1, 0, 2), (5, 2)]
    n_counted.clear()
    monkeypatch.setattr(set_counter, "KEPT_COUNTS", 1)
    check(make_scorer(table, score), [*families, (5, [2]), *families])
    assert len(n_counted) == 3


@every_way
def test_neither_columns_nor_rows_in_another_order_change_a_bit(monkeypatch, way):
    force(monkeypatch, way)
    table, rng = make_table([2, 3, 4, 17, 2], 300), np.random.default_rng(0)
    expected = make_scorer(table, "bdeu").with_each(1, [0])
    for _ in range(5):
        other = table.select(rng.permutation(table.names)).take(rng.permutation(300))
        np.testing.assert_array_equal(make_scorer(other, "bdeu").with_each(1, [0]), expected)


def test_the_way_does_not_change_a_bit(monkeypatch):
    table, found = make_table([2, 3, 4, 16, 2], 300), []
    for way in WAYS:
        with monkeypatch.context() as patch:
            force(patch, way)
            found.append(make_scorer(table, "bic").with_each(1, [0])[2:])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_last_family_is_remembered_and_no_other():
    scorer = make_scorer(make_table([2, 3, 2], 50), "bdeu")
    check(scorer, [(0, [1]), (0, [2]), (0, [1, 2]), (1, [0]), (0, [1])])
    assert scorer.family(0, [1]) == scorer.family(0, (1,))


def test_which_tables_are_counted_so():
    table = make_table([2, 3], 20)
    assert isinstance(make_scorer(table), CountScorer)
    assert not isinstance(make_scorer(table.with_weights(np.ones(20))), CountScorer)
    for name in set(ALL).difference(SCORES):
        assert not isinstance(make_scorer(table, name), CountScorer)
    assert make_scorer(table, "bdeu").is_set_function
    assert not make_scorer(table, "k2").is_set_function


@pytest.mark.parametrize("size", [1e-6, 1e5, 1e7, 1e12])
@pytest.mark.parametrize("score", ["bdeu", "bds"])
def test_unusual_sample_sizes(size, score):
    """Equivalent graphs keep the same bdeu: here to 1e-9 of it."""
    table = make_table([2, 3, 4], 2000)
    scorer = make_scorer(table, score, equivalent_sample_size=size)
    for v, parents in [(0, [1]), (2, [0, 1])]:
        names = scorer.names
        graph = jn.DAG.from_parents({names[v]: [names[u] for u in parents]})
        expected = jn.local_scores(graph, table, score, equivalent_sample_size=size)[names[v]]
        assert scorer.family(v, parents) == pytest.approx(expected, rel=1e-9)


@every_score
@pytest.mark.parametrize("way", WAYS[1:])
def test_only_configurations_that_occur_are_numbered(monkeypatch, score, way):
    """1,296 and 7,776 cells, 300 rows."""
    force(monkeypatch, way)
    scorer = make_scorer(make_table([6] * 6, 300), score)
    check(scorer, [(0, [1, 2, 3]), (5, [0, 2, 4]), (1, [0, 2, 3, 4]), (2, [0, 1, 3])])


@every_score
def test_pairs_are_scored_at_once_or_one_by_one(monkeypatch, score):
    table, found = make_table([2, 3, 1, 16, 4], 500), []
    for most in (16, 2):
        monkeypatch.setattr(set_counter, "MOST_PAIRED_STATES", most)
        scorer = make_scorer(table, score)
        assert (scorer._pairs is None) == (most == 2)
        check(scorer, [(v, []) for v in range(5)])
        found.append(scorer.with_each(3, [])[[0, 1, 2, 4]])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-13)


@pytest.mark.parametrize("is_old", [False, True])
def test_bits_are_counted_by_every_numpy(monkeypatch, is_old):
    if is_old:
        monkeypatch.delattr(np, "bitwise_count", raising=False)
    words = np.random.default_rng(0).integers(0, 2**64, (5, 3), np.uint64)
    words[1], words[2] = 0, 2**64 - 1
    expected = [sum(int(word).bit_count() for word in row) for row in words]
    assert count_bits(words).tolist() == expected
    assert count_bits(words[:0]).tolist() == []
