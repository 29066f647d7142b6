"""Sums over parent sets, and draws: against all sets written down."""

import numpy as np
import pytest
from naive import parent_sums
from numba import njit
from scipy.stats import chi2

import jensen as jn
from jensen.kernels.parent_draws import draw_parents
from jensen.kernels.parent_sums import set_weight, sum_asked, sum_within
from jensen.kernels.random_numbers import uniform
from jensen.q_graph.chains.raw_weights import RawWeights, raw_weights
from jensen.q_graph.chains.weights import read_weights
from jensen.q_graph.constraints import read_constraints
from jensen.scores.graph_priors import read_prior
from jensen.scores.make_scorer import make_scorer
from jensen.support.chain_records import make_workspace

CLOSE = {"rtol": 1e-12, "atol": 2e-9}
"""Of log sums. Sets that are together e⁻²⁵ = 1.4e-11 of the rest are left out, once for each row of
strong parents; and a difference that is 1e-4 of two sums, known to 1e-16 of logs up to 1e3 nats,
keeps nine digits."""

FORGOTTEN = 700.0
"""Sets this far below the one with no more parents than required may count as nothing, in log."""

P_VALUE = 1e-6
"""Of one of several hundred tests of chance; seeds are fixed."""


@njit
def sum_all(nodes, levels, must_meet, t, room, out):
    for k in range(len(nodes)):
        room.level[:] = levels[k]
        v = nodes[k]
        out[k] = sum_asked(v, t, room) if must_meet else sum_within(v, t, room)


@njit
def weigh_sets(v, bits, firsts, seconds, t, out):
    for k in range(len(bits)):
        out[k] = set_weight(v, bits[k], firsts[k], seconds[k], t)


@njit
def draw_sets(rng, v, must_meet, log_total, t, room, bits, outsiders):
    for k in range(len(bits)):
        bits[k] = draw_parents(v, must_meet, log_total, uniform(rng), t, room)
        outsiders[k] = room.outsiders


def random_levels(rng, n, n_levels, nodes):
    """Of every kind: few or many may be parents, few or many are asked for."""
    shares = rng.random((len(nodes), 2, 1))
    levels = (rng.random((len(nodes), n)) < shares[:, 0]).astype(np.int8)
    if n_levels == 2:
        levels *= 2
    else:
        levels[rng.random((len(nodes), n)) < shares[:, 1]] *= 2
    levels[np.arange(len(nodes)), nodes] = 0
    return levels


def random_raw(n, n_candidates, outside, spread, seed):
    """Log weights as scores have them: a parent gains about as much alone as with others."""
    rng = np.random.default_rng(seed)
    gains = spread * rng.normal(size=(n, n)) * rng.choice([0.01, 1.0], (n, n))

    def weights(v, members):
        alone = members @ gains[v]
        return alone - spread * 0.1 * members.sum(1) ** 2 + rng.normal(size=len(members))

    candidates, inside = [], []
    singles, pairs = np.full((n, n), -np.inf), np.full((n, n, n), -np.inf)
    for v in range(n):
        others = [u for u in range(n) if u != v]
        mine = sorted(rng.choice(others, n_candidates, replace=False).tolist())
        candidates.append(mine)
        members = np.zeros((1 << n_candidates, n), bool)
        members[:, mine] = np.arange(1 << n_candidates)[:, None] >> np.arange(n_candidates) & 1
        inside.append(weights(v, members))
        a, b = np.array(others)[np.array(np.triu_indices(n - 1))]
        members = np.zeros((len(a), n), bool)
        members[np.arange(len(a)), a] = members[np.arange(len(b)), b] = True
        found = weights(v, members)
        within = np.isin(a, mine) & np.isin(b, mine)
        found[within] = -np.inf
        pairs[v, a, b] = pairs[v, b, a] = found
        singles[v] = np.diagonal(pairs[v])
        np.fill_diagonal(pairs[v], -np.inf)
    if outside < 2:
        pairs = np.empty((n, 0, 0))
    if outside < 1:
        singles[:] = -np.inf
    return RawWeights(candidates, inside, singles, pairs)


def require(raw, v, u):
    """Only sets of v that hold u, one of its candidates."""
    bit = 1 << raw.candidates[v].index(u)
    raw.inside[v][np.arange(len(raw.inside[v])) & bit == 0] = -np.inf
    raw.singles[v] = -np.inf
    if raw.pairs.size:
        others = np.arange(len(raw.singles)) != u
        raw.pairs[v][np.ix_(others, others)] = -np.inf


def forbid(raw, v, u):
    """No set of v that holds u, which is no candidate."""
    raw.singles[v, u] = -np.inf
    if raw.pairs.size:
        raw.pairs[v, u] = raw.pairs[v, :, u] = -np.inf


def smallest(sets):
    """The log weight of the set that holds only what is required."""
    return sets.log_weights[np.isfinite(sets.log_weights)][0]


def check_sums(raw, rng, n_queries, beta=1.0):
    n = len(raw.candidates)
    t, tops = read_weights(raw, beta)
    some = range(n) if n < 40 else sorted(rng.choice(n, 8, replace=False).tolist())
    sets = {v: parent_sums.list_sets(raw, v) for v in some}
    nodes = rng.choice(some, n_queries)
    for must_meet in (False, True):
        levels = random_levels(rng, n, 2 + must_meet, nodes)
        found = np.empty(n_queries)
        sum_all(nodes, levels, must_meet, t, make_workspace(n), found)
        expected = [
            parent_sums.log_sum(
                beta * sets[v].log_weights[parent_sums.possible(sets[v], level, must_meet)]
            )
            for v, level in zip(nodes, levels, strict=True)
        ]
        found += tops[nodes]
        least = beta * np.array([smallest(sets[v]) for v in nodes]) - FORGOTTEN
        expected = np.where(expected > least, expected, -np.inf)
        np.testing.assert_allclose(np.where(found > least, found, -np.inf), expected, **CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0, 3000.0])
@pytest.mark.parametrize("outside", [0, 1, 2])
@pytest.mark.parametrize("n", [5, 8])
def test_sums_over_random_weights(n, outside, spread):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        raw = random_raw(n, [0, 1, 3, n - 1][seed], outside, spread, seed)
        if seed > 1:
            require(raw, 0, raw.candidates[0][0])
            require(raw, 1, raw.candidates[1][1])
            for u in (1, 2):
                if u not in raw.candidates[3]:
                    forbid(raw, 3, u)
        check_sums(raw, rng, 200, beta=0.3 if seed == 2 else 1.0)


@pytest.fixture(scope="module")
def alarm():
    """37 variables, 2,000 rows, 12 candidates, and all pairs outside."""
    scorer = make_scorer(jn.examples.load("alarm").sample(2000, random_state=0), "bdeu")
    prior = read_prior("uniform", scorer.names).prior
    return raw_weights(scorer, prior, read_constraints(scorer.names), 12, 2)


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 0.2])
def test_sums_over_a_real_table(alarm, beta):
    check_sums(alarm, np.random.default_rng(0), 3000 if beta == 1.0 else 100, beta)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "outside"), [(70, 2), (130, 1), (130, 2)])
def test_sums_over_many_variables(n, outside):
    check_sums(random_raw(n, 6, outside, 300.0, n), np.random.default_rng(n), 100)


@pytest.mark.parametrize("spread", [3.0, 300.0, 3000.0])
@pytest.mark.parametrize("outside", [0, 1, 2])
def test_every_set_has_its_weight(outside, spread):
    n = 8
    raw = random_raw(n, 3, outside, spread, seed=1)
    require(raw, 0, raw.candidates[0][0])
    t, tops = read_weights(raw)
    for v in range(n):
        sets = parent_sums.list_sets(raw, v)
        mine = raw.candidates[v]
        bits = sets.members[:, mine] @ (1 << np.arange(3))
        others = [[u for u in np.flatnonzero(row) if u not in mine] for row in sets.members]
        firsts, seconds = np.array([[*row, -1, -1][:2] for row in others]).T
        found = np.empty(len(bits))
        weigh_sets(v, bits, firsts.copy(), seconds.copy(), t, found)
        counts = (firsts < 0) | (sets.log_weights > smallest(sets) - FORGOTTEN)
        expected = np.where(counts, sets.log_weights, -np.inf)
        found = np.where(counts | (found > smallest(sets) - tops[v] - FORGOTTEN), found, -np.inf)
        np.testing.assert_allclose(found + tops[v], expected, rtol=1e-12, atol=1e-10)
        # no candidates beside two others, nor two beside one
        bits, a = np.array([1, 1, 3, 7]), np.array([u for u in range(n) if u not in (v, *mine)][:2])
        found = np.empty(4)
        weigh_sets(v, bits, a[[0, 1, 0, 1]], np.array([a[1], a[0], -1, -1]), t, found)
        assert (found == -np.inf).all()


def check_draws(raw, read, v, level, must_meet, seed, n_draws=2000):
    """Chi-squared of all sets that are expected often enough, the others as one."""
    n, (t, tops) = len(raw.candidates), read
    sets, room = parent_sums.list_sets(raw, v), make_workspace(n)
    fits = parent_sums.possible(sets, level, must_meet)
    logs = np.where(fits, sets.log_weights, -np.inf)
    total = parent_sums.log_sum(logs)
    if total == -np.inf:
        return
    p = np.exp(logs - total)
    room.level[:] = level
    bits, outsiders = np.zeros(n_draws, np.int64), np.zeros((n_draws, 2), np.int64)
    words = np.random.default_rng(seed).integers(0, 1 << 64, 4, np.uint64)
    draw_sets(words, v, must_meet, total - tops[v], t, room, bits, outsiders)
    members = np.zeros((n_draws, n + 1), bool)
    members[:, raw.candidates[v]] = bits[:, None] >> np.arange(len(raw.candidates[v])) & 1
    np.put_along_axis(members, np.where(outsiders < 0, n, outsiders), True, axis=1)
    names = {row.tobytes(): k for k, row in enumerate(sets.members)}
    which = np.array([names[row.tobytes()] for row in members[:, :n]])
    assert fits[which].all()
    counts = np.bincount(which, minlength=len(p))
    often = p * n_draws > 10
    observed = np.append(counts[often], counts[~often].sum())
    expected = np.append(p[often], p[~often].sum()) * n_draws
    seen = expected > 1e-6
    assert not observed[~seen].any()
    statistic = ((observed - expected)[seen] ** 2 / expected[seen]).sum()
    assert seen.sum() == 1 or chi2.sf(statistic, seen.sum() - 1) > P_VALUE


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 3.0, 3000.0])
@pytest.mark.parametrize("outside", [0, 1, 2])
@pytest.mark.parametrize("n_candidates", [0, 2, 6])
def test_draws_of_sets(n_candidates, outside, spread):
    n = 7
    raw = random_raw(n, n_candidates, outside, spread, seed=n_candidates)
    rng = np.random.default_rng(outside)
    if n_candidates:
        require(raw, 0, raw.candidates[0][0])
    read = read_weights(raw)
    for must_meet in (False, True):
        nodes = np.arange(n)
        for v, level in enumerate(random_levels(rng, n, 2 + must_meet, nodes)):
            check_draws(raw, read, v, level, must_meet, seed=v)


@pytest.mark.compiled
def test_draws_from_a_real_table(alarm):
    rng = np.random.default_rng(1)
    nodes, read = rng.integers(0, 37, 12), read_weights(alarm)
    for must_meet in (False, True):
        for v, level in zip(nodes, random_levels(rng, 37, 2 + must_meet, nodes), strict=True):
            check_draws(alarm, read, int(v), level, must_meet, seed=v)


def test_draws_among_many_variables():
    rng = np.random.default_rng(1)
    raw = random_raw(130, 9, 2, 5.0, 0)
    nodes, read = rng.integers(0, 130, 4), read_weights(raw)
    for v, level in zip(nodes, random_levels(rng, 130, 3, nodes), strict=True):
        check_draws(raw, read, int(v), level, True, seed=v)
