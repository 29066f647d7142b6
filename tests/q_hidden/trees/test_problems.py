"""Rows split into sub-problems, against connected sets found by their definition."""

from collections import defaultdict

import numpy as np
import pytest
from naive import hidden as naive
from q_hidden.trees import cases

import jensen as jn
from jensen.data import Block
from jensen.data.encode import Column, smallest_code_type
from jensen.q_hidden.trees import problems as problems_module
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.problems import code_rows, cut, split_table
from jensen.q_hidden.trees.run import pick


@pytest.fixture(autouse=True)
def default_threads():
    yield
    jn.set_threads(None)


def naive_bases(plans, case, row, members):
    """Family → where its table is read: at the states that are seen, 0 for what is not."""
    at = plans.wiring.fam_at
    found = {}
    for f in naive.touched(case.families, members):
        family = case.families[f]
        cell = [0 if v in members else row[v] for v in family]
        shape = [case.cards[v] for v in family]
        found[f] = int(at[f] + np.ravel_multi_index(cell, shape))
    return found


def check(case, rows, weights=None):
    """Every row finds its own sub-problems; equal ones are one; weights add up."""
    plans, weights = cases.make_plans(case), np.ones(len(rows)) if weights is None else weights
    found = cases.split(plans, rows, weights)
    problems, families = found.problems, plans.now().families
    owner, total = {}, defaultdict(float)
    assert len(found.row_end) == len(rows)
    for i, row in enumerate(rows):
        expected = naive.sub_problems(case.families, row)
        seen = set()
        for k in cases.problems_of(found, i):
            p = problems.set_of[k]
            members = cases.set_members(plans, p)
            key = (
                tuple(sorted(members)),
                tuple(naive.evidence_around(case.families, row, members).items()),
            )
            seen.add(key)
            assert owner.setdefault(key, k) == k
            total[k] += weights[i]
            of = families.of[families.end[p - 1] if p else 0 : families.end[p]]
            bases = problems.bases[problems.base_ptr[k] :][: len(of)]
            assert dict(zip(of.tolist(), bases.tolist(), strict=True)) == naive_bases(
                plans, case, row, members
            )
        assert seen == expected
        assert len(cases.problems_of(found, i)) == len(expected)
    n = len(problems.set_of)
    assert sorted(owner.values()) == list(range(n))
    assert np.all(np.diff(problems.set_of) >= 0)  # the same programs side by side
    np.testing.assert_allclose(problems.weight, [total[k] for k in range(n)], rtol=1e-14)
    assert {a.dtype for a in problems} <= {np.dtype(np.int64), np.dtype(np.float64)}
    assert problems.weight.dtype == np.float64
    return plans, found


def random_rows(rng, case, n, missing):
    rows = rng.integers(0, case.cards, (n, len(case.cards)))
    rows[rng.random(rows.shape) < missing] = -1
    return rows


@pytest.mark.parametrize("seed", range(21))
def test_every_pattern_of_missing_cells(seed):
    case, rng = cases.random_case(seed, "normal"), np.random.default_rng(seed)
    rows = cases.every_pattern(rng, case, n_each=2)
    check(case, rows, rng.exponential(1.0, len(rows)))


@pytest.mark.parametrize("missing", [0.02, 0.3, 0.9])
def test_larger_networks(missing):
    rng = np.random.default_rng(1)
    families = cases.directed(rng, 40, 0.05)
    case = cases.Case(families, rng.integers(1, 5, 40).tolist(), [])
    check(case, random_rows(rng, case, 200, missing))


def test_very_many_states():
    """Codes of more than eight bits, and positions that need them."""
    rng = np.random.default_rng(2)
    case = cases.Case([(0,), (0, 1), (1, 2), (3, 2, 0)], [300, 2, 300, 1], [])
    check(case, random_rows(rng, case, 300, 0.4))


def test_variables_of_one_state():
    case = cases.Case([(0,), (0, 1), (0, 1, 2)], [1, 1, 1], [])
    _, found = check(case, [[-1, 0, 0], [0, -1, -1], [-1, -1, -1], [0, 0, 0], [0, -1, -1]])
    assert len(found.problems.set_of) == 3


def test_a_variable_in_no_family_is_a_problem_of_its_own():
    case = cases.Case([(0, 2)], [2, 3, 2], [])
    _, found = check(case, [[-1, -1, -1], [0, -1, 1]])
    assert len(found.problems.set_of) == 2
    assert found.problems.weight.tolist() in ([1.0, 2.0], [2.0, 1.0])


def test_nothing_missing():
    case = cases.random_case(4, "normal")
    _, found = check(case, np.zeros((5, 5), int))
    assert [len(part) for part in found.problems] == [0, 0, 0, 0]
    assert found.row_end.tolist() == [0] * 5


def test_no_rows():
    _, found = check(cases.random_case(4, "normal"), np.zeros((0, 5), int))
    assert [len(part) for part in (*found.problems, found.row_end, found.of_row)] == [0] * 6


def test_everything_missing_is_one_problem_per_connected_part():
    case = cases.Case([(0, 1), (1,), (2,), (3, 4), (4, 3)], [2] * 5, [])
    _, found = check(case, np.full((7, 5), -1))
    assert found.problems.weight.tolist() == [7.0] * 3


def test_evidence_between_two_sets_cuts_them_apart_only_without_a_common_family():
    case = cases.Case([(0, 1), (1, 2), (3, 4, 5)], [2] * 6, [])
    _, found = check(case, [[-1, 0, -1, -1, 0, -1]])
    assert len(cases.problems_of(found, 0)) == 3


def test_equal_problems_are_found_across_rows_and_blocks(monkeypatch):
    monkeypatch.setattr(problems_module, "BLOCK_ROWS", 3)
    case = cases.Case(cases.chain(3), [2, 2, 2], [])
    rows = np.array([[-1, 1, 0], [-1, 1, 1], [-1, 0, 1]] * 5)  # variable 2 is not around
    _, found = check(case, rows)
    assert found.problems.weight.tolist() == [10.0, 5.0]


def written(plans):
    """Programs, without what is only reserved."""
    return plans.now().program.start, plans.now().program.code[: plans._start[-1]]


def test_threads_and_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    case = cases.Case(cases.directed(rng, 12, 0.2), [3] * 12, [])
    rows, weights = random_rows(rng, case, 3000, 0.2), rng.exponential(1.0, 3000)
    results = []
    for n_threads, block in [(1, 1 << 15), (1, 100), (2, 100), (5, 7), (2, 3000)]:
        jn.set_threads(n_threads)
        monkeypatch.setattr(problems_module, "BLOCK_ROWS", block)
        plans = cases.make_plans(case)
        found = cases.split(plans, rows, weights)
        results.append([*found.problems, *found[2:], *written(plans), *plans.now().families])
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_sets_that_are_known_already_change_no_problem():
    """Plans that have seen other rows number sets otherwise, and that is all."""
    rng = np.random.default_rng(4)
    case = cases.Case(cases.directed(rng, 8, 0.3), [2] * 8, [])
    rows, plans = random_rows(rng, case, 300, 0.4), cases.make_plans(case)
    cases.split(plans, rows[::-1][:100])
    here, fresh = cases.split(plans, rows), cases.make_plans(case)
    there = cases.split(fresh, rows)

    def contents(plans, found):
        return [
            [
                (
                    cases.set_members(plans, found.problems.set_of[k]),
                    found.problems.bases[found.problems.base_ptr[k]],
                    found.problems.weight[k],
                )
                for k in cases.problems_of(found, i)
            ]
            for i in range(len(rows))
        ]

    assert contents(plans, here) == contents(fresh, there)


@pytest.mark.parametrize("weights", [None, np.arange(6.0)])
def test_tables_are_read_by_name(weights):
    """Columns in any order, narrow and wide codes, and a variable without a column."""
    names, cards = ["a", "b", "c"], [2, 300, 3]
    codes = {"c": [0, 1, 2, 3, 3, 1], "b": [0, 255, 256, 299, 300, 300]}  # card is missing
    columns = [
        Column(
            jn.Variable(name, "categorical", tuple(map(str, range(cards[names.index(name)])))),
            np.array(values, smallest_code_type(cards[names.index(name)])),
        )
        for name, values in codes.items()
    ]
    table = jn.Table.from_columns(columns, weights)
    rows = [[-1, 0, 0], [-1, 255, 1], [-1, 256, 2], [-1, 299, -1], [-1, -1, -1], [-1, -1, 1]]
    assert code_rows(Block(table, 0, 6), names).tolist() == rows
    assert code_rows(Block(table, 2, 4), names).tolist() == rows[2:4]
    case = cases.Case([(0,), (0, 1), (1, 2)], cards, [])
    found = split_table(cases.make_plans(case), table, names).split
    expected = cases.split(cases.make_plans(case), rows, weights)
    for a, b in zip(
        (*found.problems, *found[2:]), (*expected.problems, *expected[2:]), strict=True
    ):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("unit_cost", [1, 20, 100, 5000, 10**12])
def test_units_are_all_problems_in_order(unit_cost):
    rng = np.random.default_rng(5)
    case = cases.Case(cases.directed(rng, 10, 0.3), [2] * 10, [])
    plans = cases.make_plans(case)
    split = cases.split(plans, random_rows(rng, case, 300, 0.3))
    problems, units = split.problems, cut(split, unit_cost)
    for field in ("set_of", "base_ptr", "weight"):
        parts = [getattr(unit, field) for unit in units]
        assert np.array_equal(np.concatenate(parts), getattr(problems, field))
    assert all(unit.bases is problems.bases for unit in units)
    assert all(len(unit.set_of) for unit in units)
    most = plans.now().cost[problems.set_of].max()
    assert all(plans.now().cost[unit.set_of].sum() <= unit_cost + most for unit in units)
    total = plans.now().cost[problems.set_of].sum()
    assert len(units) == 1 if unit_cost >= total else len(units) >= min(2, len(problems.set_of))


def test_no_problems_are_no_units():
    case = cases.random_case(4, "normal")
    plans = cases.make_plans(case)
    assert cut(cases.split(plans, np.zeros((2, 5))), 10) == []


def test_some_of_the_problems():
    case = cases.random_case(6, "normal")
    plans = cases.make_plans(case)
    rows = cases.every_pattern(np.random.default_rng(0), case)
    problems = cases.split(plans, rows).problems
    which = np.array([5, 0, 5])
    some = pick(problems, which)
    log_z, _ = run.expected_counts(case.flat, plans.now().program, problems)
    assert np.array_equal(
        run.expected_counts(case.flat, plans.now().program, some)[0], log_z[which]
    )
    assert np.array_equal(some.weight, problems.weight[which])
