"""G², X² and mutual information, against cells that are looked up one by one."""

from itertools import combinations

import numpy as np
import pytest
from naive import independence as naive
from scipy import stats

import jensen as jn
from jensen.independence.categorical import CategoricalTests
from jensen.independence.testing import search_in_turn

CARDS = (2, 3, 4, 2, 3)


def make_columns(seed, n_rows, cards, missing=0.0):
    """Columns that depend on each other, some of whose cells are empty."""
    rng = np.random.default_rng(seed)
    columns = []
    for k, card in enumerate(cards):
        fresh = (rng.random(n_rows) ** 2 * card).astype(int)
        if k:
            copied = np.array(columns[k - 1]) % card
            fresh = np.where(rng.random(n_rows) < 0.4, copied, fresh)
        columns.append(fresh.tolist())
    holes = rng.random((len(cards), n_rows)) < missing
    return [
        [None if hole else x for x, hole in zip(column, row, strict=True)]
        for column, row in zip(columns, holes, strict=True)
    ]


def make_table(columns, cards, weights=None):
    names = [f"x{k}" for k in range(len(columns))]
    states = {name: range(card) for name, card in zip(names, cards, strict=True)}
    return jn.Table(dict(zip(names, columns, strict=True)), states=states, weights=weights)


def questions(n):
    for a, b in combinations(range(n), 2):
        rest = [v for v in range(n) if v not in (a, b)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                yield a, b, given


@pytest.mark.parametrize("kind", ["g2", "x2"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_rows", [1, 40, 700])
def test_statistic_and_degrees_of_freedom_are_those_of_the_definition(
    kind, weighted, missing, n_rows
):
    columns = make_columns(n_rows, n_rows, CARDS, missing)
    weights = np.random.default_rng(1).integers(0, 4, n_rows) * 0.5 if weighted else None
    tests = CategoricalTests(make_table(columns, CARDS, weights), kind)
    for a, b, given in questions(len(CARDS)):
        members = [columns[v] for v in given]
        statistic, df, n = naive.chi_squared(columns[a], columns[b], members, weights, kind)
        found = tests.measure(a, b, given)
        assert found.degrees_of_freedom == df
        assert found.n_rows == n
        np.testing.assert_allclose(found.statistic, statistic, rtol=1e-9, atol=1e-10)
        expected = stats.chi2.logsf(statistic, df) if df else 0.0
        np.testing.assert_allclose(found.log_p, expected, rtol=1e-8, atol=1e-9)
        assert tests.measure(b, a, given)[:3] == found[:3]


@pytest.mark.parametrize("kind", ["g2", "x2"])
def test_columns_of_very_many_states_are_counted_by_sorting(kind):
    cards = (300, 70, 2, 300)
    columns = make_columns(3, 150, cards, 0.05)
    tests = CategoricalTests(make_table(columns, cards), kind)
    for a, b, given in [(0, 1, ()), (0, 3, ()), (0, 1, (2,)), (0, 3, (1, 2)), (1, 2, (0, 3))]:
        members = [columns[v] for v in given]
        statistic, df, n = naive.chi_squared(columns[a], columns[b], members, None, kind)
        found = tests.measure(a, b, given)
        assert (found.degrees_of_freedom, found.n_rows) == (df, n)
        np.testing.assert_allclose(found.statistic, statistic, rtol=1e-9, atol=1e-9)
        assert tests.log_p_values([(a, b, given)])[0] == found.log_p


def test_weights_are_frequencies():
    columns = make_columns(4, 60, CARDS)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    repeated = [np.repeat(column, weights).tolist() for column in columns]
    few = CategoricalTests(make_table(columns, CARDS, weights))
    many = CategoricalTests(make_table(repeated, CARDS))
    for a, b, given in questions(4):
        one, other = few.measure(a, b, given), many.measure(a, b, given)
        assert one.degrees_of_freedom == other.degrees_of_freedom
        assert one.n_rows == other.n_rows
        np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-10, atol=1e-11)


def test_mutual_information_is_half_of_g_squared_per_row():
    columns = make_columns(5, 200, CARDS)
    table = make_table(columns, CARDS)
    g2, information = CategoricalTests(table), CategoricalTests(table, "mutual-information")
    for a, b, given in questions(4):
        one, other = g2.measure(a, b, given), information.measure(a, b, given)
        np.testing.assert_allclose(other.statistic, one.statistic / 400, rtol=1e-14)
        assert other.log_p == one.log_p
    whole = jn.mutual_information_matrix(table)
    np.testing.assert_allclose(information.measure(0, 1, ()).statistic, whole["x0", "x1"])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_search_finds_what_testing_in_turn_finds(threads, missing):
    cards = (2, 3, 2, 3, 2, 2, 3)
    n = len(cards)
    tests = CategoricalTests(make_table(make_columns(6, 300, cards, missing), cards))
    rng = np.random.default_rng(0)
    pairs = list(combinations(range(n), 2))
    jn.set_threads(threads)
    try:
        for size in range(5):
            around = [tuple(v for v in range(n) if v != u and rng.random() < 0.7) for u in range(n)]
            for alpha in (0.001, 0.05, 0.6):
                found = tests.search(pairs, around, size, np.log(alpha))
                assert found == search_in_turn(
                    tests.log_p_values, pairs, around, size, np.log(alpha)
                )
    finally:
        jn.set_threads(None)


def test_search_goes_on_where_a_table_is_too_large(monkeypatch):
    monkeypatch.setattr("jensen.independence.categorical.MOST_CELLS", 12)
    tests = CategoricalTests(make_table(make_columns(7, 300, CARDS), CARDS))
    monkeypatch.setattr("jensen.independence.categorical.MOST_CELLS", 1 << 18)
    whole = CategoricalTests(make_table(make_columns(7, 300, CARDS), CARDS))
    pairs, around = list(combinations(range(5), 2)), [tuple(range(5))] * 5
    for size in range(3):
        one = tests.search(pairs, around, size, np.log(0.05))
        other = whole.search(pairs, around, size, np.log(0.05))
        assert [v.given for v in one] == [v.given for v in other]
        np.testing.assert_allclose([v.log_p for v in one], [v.log_p for v in other], rtol=1e-9)


# --- permutations ---


def test_permutations_come_near_to_fishers_exact_test():
    """The p-value by enumeration of all tables with these margins, ordered by X²."""
    columns = [[0] * 9 + [1] * 7, [0] * 7 + [1] * 2 + [0] * 2 + [1] * 5]
    tests = CategoricalTests(make_table(columns, (2, 2)), "x2", permutations=20_000, seed=1)
    exact = stats.fisher_exact(np.array([[7, 2], [2, 5]])).pvalue
    p = np.exp(tests.measure(0, 1, ()).log_p)
    assert abs(p - exact) < 4.0 * np.sqrt(exact / 20_000)


def test_permutations_depend_on_the_seed_and_on_nothing_else():
    table = make_table(make_columns(8, 100, CARDS), CARDS)
    turned = table.select(reversed(table.names))
    one, same, other = (
        CategoricalTests(rows, "g2", permutations=99, seed=seed)
        for rows, seed in ((table, 1), (turned, 1), (table, 2))
    )
    asked = [(0, 1, ()), (1, 3, (2,)), (0, 4, (1, 2))]
    assert one.log_p_values(asked).tolist() == same.log_p_values(asked[::-1])[::-1].tolist()
    assert one.measure(3, 1, (2,)).log_p == one.measure(1, 3, (2,)).log_p
    assert one.log_p_values(asked).tolist() != other.log_p_values(asked).tolist()


@pytest.mark.parametrize("permutations", [0, 99])
@pytest.mark.parametrize("kind", ["g2", "x2", "mutual-information"])
def test_p_values_of_independent_columns_are_uniform(kind, permutations):
    """Kolmogorov and Smirnov's test of 150 p-values may find less than 0.001 in one of 1,000."""
    rng, p_values = np.random.default_rng(9), []
    for seed in range(150):
        given = rng.integers(0, 2, 300)
        x, y = ((rng.random(300) < 0.3 + 0.4 * given).astype(int) for _ in range(2))
        y += rng.integers(0, 2, 300)
        table = make_table([x, y, given], (2, 3, 2))
        tests = CategoricalTests(table, kind, permutations, seed)
        p_values.append(np.exp(tests.measure(0, 1, (2,)).log_p))
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
    # without what makes both, they are dependent
    assert tests.measure(0, 1, ()).log_p < np.log(0.05)
