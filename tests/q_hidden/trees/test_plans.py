"""Compiled sets: once each, kept, and refused where they are too large."""

import re

import numpy as np
import pytest
from q_hidden.trees import cases
from q_hidden.trees.test_run import check_sums, solve

import jensen as jn
from jensen.graphs.elimination import best_order
from jensen.graphs.indexed_graph import wire, wire_families
from jensen.q_hidden.trees import plans as plans_module
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import Plans, plans_of


@pytest.fixture(autouse=True)
def default_limit():
    yield
    jn.set_memory_limit(None)


def number(plans, *sets):
    """The numbers of sets of variables."""
    words = np.array([v for members in sets for v in members], np.int32)
    end = np.cumsum([len(members) for members in sets], dtype=np.int64)
    return plans.number(words, np.append(0, end[:-1]), end)[0].tolist()


def test_an_equal_wiring_has_the_same_plans():
    one, two = wire([(), (0,)], [2, 3]), wire_families([(0,), (0, 1)], [2, 3])
    assert plans_of(one, ["a", "b"]) is plans_of(two, ("a", "b"))
    for other, names in [
        (wire([(), (0,)], [2, 4]), "ab"),
        (wire([(), ()], [2, 3]), "ab"),
        (one, "ac"),
    ]:
        assert plans_of(one, ["a", "b"]) is not plans_of(other, list(names))


def test_only_some_networks_keep_their_plans():
    first = plans_of(wire([()], [2]), ["kept?"])
    for k in range(plans_module.KEPT):
        plans_of(wire([()], [k + 3]), ["kept?"])
    assert plans_of(wire([()], [2]), ["kept?"]) is not first


def test_sets_are_compiled_once(monkeypatch):
    case = cases.Case(cases.chain(6), [2] * 6, [])
    plans = cases.make_plans(case)
    assert number(plans, [0, 1], [3], [0, 1]) == [0, 1, 0]
    code, start = (part.copy() for part in plans.now().program)
    used = plans._start[-1]
    monkeypatch.setattr(plans, "_compile", None)  # would be called for a new set
    assert number(plans, [3], [0, 1]) == [1, 0]
    assert np.array_equal(plans.now().program.start, start)
    assert np.array_equal(plans.now().program.code[:used], code[:used])
    with pytest.raises(TypeError):
        number(plans, [5])


def test_what_a_set_is():
    plans = cases.make_plans(cases.Case([(0, 1), (1, 2), (2, 3), (1,)], [2, 3, 2, 2], []))
    number(plans, [1, 2], [3])
    assert plans.now().n_members.tolist() == [2, 1]
    assert plans.now().n_families.tolist() == [4, 1]
    assert sorted(plans.now().families_of(0)) == [0, 1, 2, 3]
    assert plans.now().families_of(1).tolist() == [2]
    assert plans.now().cost.tolist() == [6 + 1 + 8, 2 + 1 + 8]


def test_programs_one_at_a_time_are_those_of_all_at_once():
    """Also over several doublings of the room for them."""
    rng = np.random.default_rng(0)
    case = cases.make_case(rng, cases.directed(rng, 14, 0.25), [3] * 14)
    rows = np.where(rng.random((150, 14)) < 0.5, -1, rng.integers(0, 3, (150, 14)))
    slowly, at_once = cases.make_plans(case), cases.make_plans(case)
    for i in range(len(rows)):
        cases.split(slowly, rows[i : i + 1])
    one, two = cases.split(slowly, rows), cases.split(at_once, rows)
    assert slowly._start[-1] > 1 << 15
    assert np.array_equal(
        run.expected_counts(case.flat, slowly.now().program, one.problems)[0][one.of_row],
        run.expected_counts(case.flat, at_once.now().program, two.problems)[0][two.of_row],
    )


def test_a_program_taken_before_others_came_stays_valid():
    rng = np.random.default_rng(1)
    case = cases.make_case(rng, cases.chain(14), [4] * 14)
    plans, problems, _ = solve(case, np.array([[-1] * 5 + [0] * 9]))
    before, expected = (
        plans.now().program,
        run.expected_counts(case.flat, plans.now().program, problems),
    )
    for i in range(13):
        cases.split(plans, np.array([[0] * i + [-1] * (14 - i)]))
    again = run.expected_counts(case.flat, before, problems)
    assert all(map(np.array_equal, again, expected))


CLIQUE = cases.Case([(u, v) for v in range(30) for u in range(v)], [2] * 30, [])


def refusal(plans, *sets):
    with pytest.raises(jn.JensenError) as error:
        number(plans, *sets)
    return str(error.value)


def test_too_large_a_tree_is_refused_in_words(monkeypatch):
    """A clique of 30 binary variables has 2**30 entries, its elimination almost twice as many."""
    monkeypatch.setattr(plans_module.Plans, "_write", None)  # it does not come to that
    jn.set_memory_limit(1e9)
    assert refusal(cases.make_plans(CLIQUE), range(30)) == (
        "the junction tree of 30 unobserved variables, whose largest clique has 30 variables and "
        "1.07e+09 entries (x0, x1, x2, x3, x4, x5, ... (30 in all)), would take 64.0 GiB, more "
        "than the limit of 953.7 MiB: declare fewer variables hidden, leave out parents, merge "
        "states, or give more evidence, or raise it with jn.set_memory_limit"
    )


def test_what_was_refused_leaves_nothing_behind():
    rng = np.random.default_rng(2)
    case = cases.make_case(rng, CLIQUE.families, CLIQUE.cards)
    plans = cases.make_plans(case)
    assert number(plans, [0, 1]) == [0]
    jn.set_memory_limit(1e9)
    for _ in range(2):
        refusal(plans, [4, 5], range(30), [7])
        assert (
            len(plans.sets) == len(plans.now().program.start) == len(plans.now().families.end) == 1
        )
    row = np.zeros((2, 30), int)
    row[0, [4, 5]] = row[1, [0, 1]] = -1
    check_sums(case, *solve(case, row, plans=plans))
    assert number(plans, [4, 5], [0, 1]) == [1, 0]


@pytest.mark.parametrize("limit", [1e5, 1e6])
def test_small_limits_count_too(limit):
    """A grid of 10 x 10 takes cliques of about 2**10 entries; limits below its size hold."""
    plans = cases.make_plans(cases.Case(cases.grid(10, 10), [2] * 100, []))
    jn.set_memory_limit(limit)
    text = refusal(plans, range(100))
    assert re.match(
        r"the junction tree of 100 unobserved variables, whose largest clique has 1\d variables "
        r"and \S+ entries \(x\d+, .* would take \S+ [KM]iB, more than the limit of",
        text,
    )
    jn.set_memory_limit(1e9)
    assert number(plans, range(100)) == [0]
    jn.set_memory_limit(limit)
    assert number(plans, range(100)) == [0]  # it is there already


def test_sizes_beyond_all_numbers_are_refused():
    families = [(u, v) for v in range(70) for u in range(v)]
    plans = Plans(wire_families(families, [10_000] * 70), [f"x{v}" for v in range(70)])
    text = refusal(plans, range(70))
    assert "largest clique has 70 variables and 1e+280 entries" in text


def test_where_greedy_orders_are_large_the_plan_is_the_best_of_many():
    plans = cases.make_plans(cases.Case(cases.grid(8, 8), [3] * 64, []))
    number(plans, range(64))
    adjacent = np.zeros((64, 64), bool)
    for family in cases.grid(8, 8):
        adjacent[np.ix_(family, family)] = True
    np.fill_diagonal(adjacent, False)
    found = best_order(adjacent, plans.wiring.cards)
    sizes = [size for size, _, _ in cases.clusters(plans.now().program, 0)]
    np.testing.assert_allclose(np.log(max(sizes)), found.log_largest, rtol=1e-12)
    assert np.log(sum(sizes)) <= found.log_total
