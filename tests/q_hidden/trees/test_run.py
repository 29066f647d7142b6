"""Sums, maxima, draws and marginals on cluster trees, against every configuration."""

import numpy as np
import pytest
from naive import hidden as naive
from q_hidden.trees import cases
from scipy import stats

from jensen.q_hidden.trees import run
from jensen.support.tree_records import CONSTANT, CONTIGUOUS, GATHER, make_solver_workspace

LOG_TOL = {"rtol": 1e-12, "atol": 1e-11}
SHARE_ATOL = 1e-10
P_VALUE = 1e-3
"""Draws may differ from their distribution by what happens once in a thousand seeds."""


class Enumerated:
    """One sub-problem, every configuration of it written out."""

    def __init__(self, case, row, members):
        self.case, self.row, self.members = case, row, members
        self.configs = naive.configurations(case.cards, members)
        self.values = naive.log_values(case.families, case.tables, row, members, self.configs)
        self.shares = naive.probabilities(self.values)

    @property
    def log_z(self):
        return naive.log_sum(self.values)

    def counts(self, shares):
        tables = naive.counts(
            self.case.families, self.case.tables, self.row, self.members, self.configs, shares
        )
        return np.concatenate([table.ravel() for table in tables])

    def marginals(self):
        parts = [
            naive.marginal(self.configs, self.shares, k, self.case.cards[v])
            for k, v in enumerate(self.members)
        ]
        return np.concatenate(parts)

    def position(self, states):
        """Where a configuration, or many, stands in the list."""
        return np.ravel_multi_index(
            np.asarray(states).T, [self.case.cards[v] for v in self.members]
        )


def solve(case, rows, weights=None, plans=None):
    """Sub-problems by the engine, and for each one its first row enumerated."""
    plans = plans or cases.make_plans(case)
    found = cases.split(plans, rows, weights)
    slow = [None] * len(found.problems.set_of)
    for i, row in enumerate(rows):
        for k in cases.problems_of(found, i):
            members = cases.set_members(plans, found.problems.set_of[k])
            slow[k] = slow[k] or Enumerated(case, row, members)
    return plans, found.problems, slow


def check_sums(case, plans, problems, slow):
    """Sums: log Z, expected counts and marginals."""
    expected = [s.log_z for s in slow]
    log_z, counts = run.expected_counts(case.flat, plans.now().program, problems)
    np.testing.assert_allclose(log_z, expected, **LOG_TOL)
    total = sum((w * s.counts(s.shares) for w, s in zip(problems.weight, slow, strict=True)), 0.0)
    scale = max(1.0, problems.weight.sum())
    np.testing.assert_allclose(counts, total + np.zeros_like(counts), atol=SHARE_ATOL * scale)
    again, at, shares = run.marginals(case.flat, plans.now().program, problems)
    assert np.array_equal(again, log_z)
    ends = np.append(at, len(shares))[1:]
    for a, b, s in zip(at, ends, slow, strict=True):
        np.testing.assert_allclose(shares[a:b], s.marginals(), atol=SHARE_ATOL)


def check_best(case, plans, problems, slow):
    """The best configuration has the largest value; what is counted is that configuration."""
    value, at, states = run.best_states(case.flat, plans.now().program, problems)
    again, counts = run.best_counts(case.flat, plans.now().program, problems)
    assert np.array_equal(again, value)
    np.testing.assert_allclose(value, [s.values.max() for s in slow], **LOG_TOL)
    total = np.zeros_like(counts)
    for k, s in enumerate(slow):
        if value[k] > -np.inf:
            position = s.position(states[at[k] : at[k + 1]])
            np.testing.assert_allclose(s.values[position], value[k], **LOG_TOL)
            total += problems.weight[k] * s.counts(np.arange(len(s.values)) == position)
    np.testing.assert_allclose(counts, total, rtol=1e-12)


def check_draws_are_possible(case, plans, problems, slow):
    """Every draw is possible; its value and its counts are its own; as many as asked for."""
    times = np.arange(len(slow)) % 3 + 1
    rng, copy = np.random.default_rng(8), np.random.default_rng(8)
    value, at, states = run.drawn_states(case.flat, plans.now().program, problems, times, rng)
    for k, s in enumerate(slow):
        if s.log_z == -np.inf:
            assert value[k] == -np.inf
            continue
        drawn = s.position(states[at[k] : at[k + 1]].reshape(times[k], -1))
        assert np.all(s.shares[drawn] > 0.0)
        np.testing.assert_allclose(value[k], s.values[drawn].mean(), **LOG_TOL)
    whole = problems._replace(weight=times.astype(float))
    again, counts = run.drawn_counts(case.flat, plans.now().program, whole, copy)
    assert np.array_equal(again, value)
    total = np.zeros_like(counts)
    for k, s in enumerate(slow):
        if value[k] > -np.inf:
            drawn = s.position(states[at[k] : at[k + 1]].reshape(times[k], -1))
            total += s.counts(np.bincount(drawn, minlength=len(s.values)))
    np.testing.assert_allclose(counts, total, rtol=1e-12)


def check_all(case, rows, weights=None):
    plans, problems, slow = solve(case, rows, weights)
    for check in (check_sums, check_best, check_draws_are_possible):
        check(case, plans, problems, slow)
    return plans, problems, slow


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize("seed", range(14))
def test_every_pattern_of_missing_cells(seed, kind):
    case = cases.random_case(seed, kind)
    rng = np.random.default_rng(seed)
    rows = cases.every_pattern(rng, case)
    check_all(case, rows, rng.integers(0, 4, len(rows)) + rng.choice([0.0, 0.5], len(rows)))


TREES = {
    "chain": (cases.chain(9), [2, 3, 2, 2, 3, 2, 2, 2, 2]),
    "chain of pairs": ([(v, v + 1) for v in range(8)][::-1], [3, 2, 2, 3, 2, 2, 2, 2, 2]),
    "second order": ([(0,), (0, 1), *((v - 2, v - 1, v) for v in range(2, 9))], [2] * 9),
    "star": ([*((8, v) for v in range(8)), (8,)], [2, 3, 2, 1, 2, 3, 2, 2, 3]),
    "grid": (cases.grid(3, 4), [2] * 12),
    "wide states": (cases.chain(3), [30, 20, 25]),
    "two branches": ([(0,), (0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6)], [3, 2, 3, 2, 3, 3, 2]),
}
every_tree = pytest.mark.parametrize(("families", "cards"), TREES.values(), ids=TREES)


@every_tree
@pytest.mark.parametrize("kind", cases.KINDS)
def test_trees_of_several_clusters(families, cards, kind):
    rng = np.random.default_rng(3)
    case = cases.make_case(rng, families, cards, kind)
    rows = np.full((4, len(cards)), -1)  # all missing, then all but one
    for i, v in enumerate(rng.permutation(len(cards))[:3], start=1):
        rows[i, v] = rng.integers(cards[v])
    plans, _, _ = check_all(case, rows, np.array([1.0, 2.0, 0.25, 0.0]))
    found = cases.clusters(plans.now().program, 0)
    assert len(found) > 1
    assert sum(size for size, _, _ in found) < np.prod(cards)


LARGE = {
    "one table": ([(0, 1, 2), (2, 3), (1, 3), (0, 3)], [3, 4, 5, 2], 1, 120),
    "one large table": ([(v, 12) for v in range(12)] + [tuple(range(12))], [2] * 13, 1, 8192),
    "digits of many states": ([(0, 1), (1, 2), (0, 2)], [31, 17, 23], 1, 31 * 17 * 23),
    "large clusters": ([(0, 1, 2), (2, 3, 4), (0,), (4,)], [16, 15, 10, 15, 16], 2, 2400),
    "large messages": ([(0, 1, 2), (1, 2, 3), (0,), (1,)], [7, 20, 20, 9], 2, 3600),
}


@pytest.mark.slow
@pytest.mark.parametrize(("families", "cards", "n", "largest"), LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("kind", ["normal", "with_zeros", "to_minus_1000"])
def test_tables_of_many_tiles(families, cards, n, largest, kind):
    case = cases.make_case(np.random.default_rng(5), families, cards, kind)
    plans, problems, slow = solve(case, np.full((1, len(cards)), -1))
    check_sums(case, plans, problems, slow)
    check_best(case, plans, problems, slow)
    found = cases.clusters(plans.now().program, 0)
    assert len(found) == n
    assert max(size for size, _, _ in found) == largest
    assert all(size % tile == 0 and size > tile > 1 for size, tile, _ in found if size > 16)


@pytest.mark.slow
def test_tables_of_the_largest_tiles():
    """A table of 2**21 entries in tiles of 2048, the largest there are."""
    case = cases.make_case(np.random.default_rng(6), [(0, 1), (1, 2), (2, 0)], [2, 1024, 1024])
    plans, problems, slow = solve(case, [[-1, -1, -1]])
    check_sums(case, plans, problems, slow)
    assert [(size, tile) for size, tile, _ in cases.clusters(plans.now().program, 0)] == [
        (2**21, 2048)
    ]


def test_slots_of_every_kind_are_met():
    kinds = set()
    for families, cards in TREES.values():
        plans = cases.make_plans(cases.Case(families, cards, []))
        cases.split(plans, np.full((1, len(cards)), -1))
        kinds |= {kind for _, _, slots in cases.clusters(plans.now().program, 0) for kind in slots}
    assert kinds == {GATHER, CONTIGUOUS, CONSTANT}


def binary_chain(*log_tables):
    """A chain of binary variables: a first table, then a (2, 2) table per step."""
    tables = [np.array(t, float) for t in log_tables]
    return cases.Case(cases.chain(len(tables)), [2] * len(tables), tables)


@pytest.mark.parametrize("n_between", [0, 1, 4])
@pytest.mark.parametrize("log_small", [-500.0, -740.0, -746.0, -1000.0, -1e5])
def test_what_underflows_may_be_all_that_is_left(n_between, log_small):
    """State 1 is next to impossible at first, then state 0 becomes impossible."""
    same = [[0.0, -np.inf], [-np.inf, 0.0]]
    only_1 = [[-np.inf, -np.inf], [-1.0, -2.0]]
    free = [[-0.5, -1.0], [-1.0, -0.5]]
    case = binary_chain([0.0, log_small], *[same] * n_between, only_1, *[free] * 5)
    plans, _, slow = check_all(case, np.full((1, len(case.cards)), -1))
    assert len(cases.clusters(plans.now().program, 0)) > 1
    assert slow[0].log_z < log_small + 10


@pytest.mark.parametrize("log_step", [-30.0, -60.0, -150.0, -225.0, -229.0, -231.0, -300.0])
@pytest.mark.parametrize("log_small", [-600.0, -800.0, -1000.0])
def test_what_underflows_may_win_step_by_step(log_step, log_small):
    """State 1 begins next to impossible; state 0 pays at every step and is overtaken."""
    step = [[log_step, -np.inf], [-np.inf, -1.0]]
    case = binary_chain([0.0, log_small], *[step] * 9)
    plans, _, slow = check_all(case, np.full((1, 10), -1))
    assert len(cases.clusters(plans.now().program, 0)) > 1
    assert slow[0].log_z > 9 * log_step - 1


@pytest.mark.parametrize("log_step", [-150.0, -225.0, -300.0])
def test_what_underflows_may_win_by_two_branches(log_step):
    """The same, where the steps come from the two sides of the variable."""
    prior, step = np.array([0.0, -800.0]), np.array([[log_step, -np.inf], [-np.inf, -1.0]])
    families = [(4,), *((v, v + 1) for v in range(8))]
    case = cases.Case(families, [2] * 9, [prior] + [step] * 8)
    check_all(case, np.full((1, 9), -1))


@pytest.mark.parametrize("seed", range(40))
def test_cliffs_along_chains(seed):
    """Chains in which any state may underflow at any step, and be needed later."""
    rng = np.random.default_rng(seed)
    case = cases.make_case(rng, cases.chain(9), [2] * 9, "cliffs")
    row = np.full((1, 9), -1)
    check_all(case, row)


def test_impossible_evidence_counts_nothing():
    """Variable 1 copies variable 0, variable 2 copies 1: what is seen at the ends must agree."""
    copy = np.log(np.eye(2), where=np.eye(2) > 0, out=np.full((2, 2), -np.inf))
    case = cases.Case(cases.chain(3), [2, 2, 2], [np.log([0.3, 0.7]), copy, copy])
    plans, problems, _ = check_all(case, [[0, -1, 1], [1, -1, 0]], np.array([2.0, 3.0]))
    log_z, counts = run.expected_counts(case.flat, plans.now().program, problems)
    assert log_z.tolist() == [-np.inf, -np.inf]
    assert not counts.any()
    _, _, shares = run.marginals(case.flat, plans.now().program, problems)
    assert not shares.any()
    for value, counts in (
        run.best_counts(case.flat, plans.now().program, problems),
        run.drawn_counts(case.flat, plans.now().program, problems, np.random.default_rng(0)),
    ):
        assert value.tolist() == [-np.inf, -np.inf]
        assert not counts.any()
    check_all(case, [[0, -1, 1], [1, -1, 1], [-1, -1, 0]])  # beside ones that are possible


def test_everything_impossible():
    case = cases.make_case(np.random.default_rng(0), cases.chain(8), [2] * 8)
    case.tables[4][:] = -np.inf
    check_all(case, np.full((1, 8), -1))


def test_weights_multiply_counts_and_nothing_else():
    case = cases.random_case(5, "normal")
    rows = cases.every_pattern(np.random.default_rng(0), case)
    plans, problems, _ = solve(case, rows)
    once, counts = run.expected_counts(case.flat, plans.now().program, problems)
    heavy = problems._replace(weight=problems.weight * 2.0**20)
    again, more = run.expected_counts(case.flat, plans.now().program, heavy)
    assert np.array_equal(again, once)
    np.testing.assert_allclose(more, counts * 2.0**20, rtol=1e-12)


def test_work_arrays_can_be_used_again():
    case = cases.random_case(6, "normal")
    plans, problems, _ = solve(case, cases.every_pattern(np.random.default_rng(0), case))
    work = make_solver_workspace(plans.now().program, problems.set_of)
    for array in work:
        array.fill(77)
    for solver in (run.expected_counts, run.marginals):
        fresh = solver(case.flat, plans.now().program, problems)
        used = solver(case.flat, plans.now().program, problems, work)
        assert all(map(np.array_equal, fresh, used))


def test_no_problems():
    case = cases.random_case(6, "normal")
    plans, problems, _ = solve(case, np.zeros((3, 7)))
    log_z, counts = run.expected_counts(case.flat, plans.now().program, problems)
    assert len(log_z) == 0
    assert not counts.any()
    assert [len(part) for part in run.marginals(case.flat, plans.now().program, problems)] == [
        0,
        0,
        0,
    ]
    value, at, states = run.best_states(case.flat, plans.now().program, problems)
    assert (len(value), at.tolist(), len(states)) == (0, [0], 0)
    value, counts = run.drawn_counts(
        case.flat, plans.now().program, problems, np.random.default_rng(0)
    )
    assert len(value) == 0
    assert not counts.any()


def chi_square(drawn, shares):
    """The p-value of counts under their distribution; what is expected < 5 times counts as one."""
    expected = drawn.sum() * shares
    rare = expected < 5.0
    assert not drawn[shares == 0.0].any()
    pairs = [(drawn[~rare], expected[~rare]), ([drawn[rare].sum()], [expected[rare].sum()])]
    seen, wanted = (np.concatenate(part) for part in zip(*pairs, strict=True))
    seen, wanted = seen[wanted > 0], wanted[wanted > 0]
    statistic = ((seen - wanted) ** 2 / wanted).sum()
    return stats.chi2.sf(statistic, max(len(seen) - 1, 1))


@every_tree
@pytest.mark.parametrize("kind", ["normal", "with_zeros", "potentials", "deep"])
def test_draws_follow_the_posterior(families, cards, kind):
    case = cases.make_case(np.random.default_rng(4), families, cards, kind)
    row = np.full(len(cards), -1)
    row[len(cards) // 2] = 0
    plans, problems, slow = solve(case, [row])
    times = np.full(len(slow), 20_000)
    _, at, states = run.drawn_states(
        case.flat, plans.now().program, problems, times, np.random.default_rng(1)
    )
    for k, s in enumerate(slow):
        drawn = s.position(states[at[k] : at[k + 1]].reshape(20_000, -1))
        assert chi_square(np.bincount(drawn, minlength=len(s.values)), s.shares) > P_VALUE


def test_draws_follow_the_posterior_in_log_space():
    """Two branches of the same weight, both far below what linear space can hold."""
    step = [[-700.0, -np.inf], [-np.inf, -700.0]]
    case = binary_chain(np.log([0.25, 0.75]), *[step] * 5)
    plans, problems, slow = solve(case, np.full((1, 6), -1))
    times = np.array([20_000])
    _, _, states = run.drawn_states(
        case.flat, plans.now().program, problems, times, np.random.default_rng(2)
    )
    drawn = np.bincount(slow[0].position(states.reshape(-1, 6)), minlength=64)
    assert chi_square(drawn, slow[0].shares) > P_VALUE


def test_draws_depend_on_the_seed_alone():
    case = cases.random_case(6, "normal")
    plans, problems, _ = solve(case, cases.every_pattern(np.random.default_rng(0), case))
    results = [
        run.drawn_counts(case.flat, plans.now().program, problems, np.random.default_rng(seed))[1]
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 2.5, 1000.0])
def test_draws_count_the_weight_whatever_it_is(weight):
    case = cases.random_case(6, "normal")
    plans, problems, _ = solve(case, np.full((1, 7), -1), np.array([weight]))
    value, counts = run.drawn_counts(
        case.flat, plans.now().program, problems, np.random.default_rng(0)
    )
    assert np.all(np.isfinite(value))
    for f, a in enumerate(plans.wiring.fam_at[:-1]):
        share = counts[a : plans.wiring.fam_at[f + 1]]
        np.testing.assert_allclose(share.sum(), weight, rtol=1e-12)
