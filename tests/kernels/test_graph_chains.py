"""What chains over graphs are made of: random numbers, sets as bits, graphs of many variables."""

from functools import lru_cache

import numpy as np
import pytest
from kernels.test_parent_sums import random_raw
from naive import parent_sums
from numba import njit

from jensen.kernels.bit_sets import has, member, put, size, take
from jensen.kernels.graph_changes import descends, fill_layers, mark_descendants
from jensen.kernels.random_numbers import below, next_uniform
from jensen.kernels.structure_chain import read_graph
from jensen.q_graph.chains.graph_chains import (
    ChainPlan,
    GraphChainTask,
    random_order,
    sample_graphs,
)
from jensen.q_graph.chains.kinds import KINDS, layers
from jensen.q_graph.chains.weights import read_weights
from jensen.support.chain_records import empty_graph, make_workspace, n_words

some_raw = lru_cache(random_raw)

WORD = (1 << 64) - 1
SIZES = [5, 64, 65, 130]


def xoshiro(state):
    """The next 64 bits, by the definition."""
    total, carried = (state[0] + state[3]) & WORD, (state[1] << 17) & WORD
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= carried
    state[3] = ((state[3] << 45) | (state[3] >> 19)) & WORD
    return total


def test_random_numbers_are_those_of_the_definition():
    slow = [1, 2, 3, 4]
    assert [xoshiro(slow) for _ in range(3)] == [5, 211106232532999, 211106635186183]
    slow, fast = [7, 1 << 63, 5, 12345], np.array([7, 1 << 63, 5, 12345], np.uint64)
    for _ in range(1000):
        assert next_uniform(fast) == (xoshiro(slow) >> 11) * 2.0**-53
    assert fast.tolist() == slow


@njit
def draw_below(rng, n, counts):
    for _ in range(60_000):
        counts[below(rng, n)] += 1


@pytest.mark.parametrize("n", [1, 2, 7])
def test_numbers_below(n):
    counts = np.zeros(n, np.int64)
    draw_below(np.random.default_rng(n).integers(0, 1 << 64, 4, np.uint64), n, counts)
    expected = 60_000 / n
    # five standard errors
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected * (1 - 1 / n))).all()


@njit
def change_bits(words, nodes, puts):
    for k in range(len(nodes)):
        if puts[k]:
            put(words, nodes[k])
        else:
            take(words, nodes[k])


@njit
def read_bits(words, flags, members):
    for v in range(len(flags)):
        flags[v] = has(words, v)
    for k in range(size(words)):
        members[k] = member(words, k)
    return size(words)


@pytest.mark.parametrize("n", SIZES)
def test_sets_as_bits(n):
    rng = np.random.default_rng(n)
    nodes, puts = rng.integers(0, n, 300), rng.random(300) < 0.6
    words, members, flags = (
        np.zeros(n_words(n), np.uint64),
        np.zeros(n, np.int64),
        np.zeros(n, bool),
    )
    change_bits(words, nodes, puts)
    found = set()
    for v, is_put in zip(nodes.tolist(), puts, strict=True):
        found = found | {v} if is_put else found - {v}
    assert read_bits(words, flags, members) == len(found)
    assert np.flatnonzero(flags).tolist() == sorted(found) == members[: len(found)].tolist()


@njit
def list_relations(graph, room, below_each, above_each, layer):
    n = len(layer)
    for v in range(n):
        mark_descendants(graph, v, room)
        for u in range(n):
            below_each[v, u] = has(room.seen, u)
        for u in range(n):
            above_each[v, u] = descends(graph, v, u, room)
    return fill_layers(graph, layer)


def random_graph(n, rng, share):
    order = rng.permutation(n)
    joined = np.triu(rng.random((n, n)) < share, 1)
    found = np.zeros((n, n), bool)
    found[np.ix_(order, order)] = joined
    return found  # [parent, child]


def to_words(joined):
    """(n, W): bits of the parents of every node."""
    n = len(joined)
    words = np.zeros((n, n_words(n)), np.uint64)
    for u, v in np.argwhere(joined):
        words[v, u // 64] |= np.uint64(1 << u % 64)
    return words


def from_standard(words):
    n = len(words)
    bits = np.arange(n)
    return (words[:, bits // 64] >> (bits % 64).astype(np.uint64) & np.uint64(1) == 1).T


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
def test_descendants_and_layers(n):
    rng = np.random.default_rng(n)
    joined = random_graph(n, rng, 1.5 / n)
    keep = joined.cumsum(0) <= 2  # two parents at most: they need be no candidates
    joined &= keep
    t, _ = read_weights(some_raw(n, 3, 2, 2.0, 1))
    graph, room, layer = empty_graph(n), make_workspace(n), np.zeros(n, np.int64)
    read_graph(to_words(joined), t, room, graph)
    np.testing.assert_array_equal(from_standard(graph.parents), joined)
    np.testing.assert_array_equal(from_standard(graph.children), joined.T)
    reach = np.eye(n, dtype=bool)
    for _ in range(n):
        reach |= reach @ joined
    below_each, above_each = np.zeros((2, n, n), bool)
    n_layers = list_relations(graph, room, below_each, above_each, layer)
    np.testing.assert_array_equal(below_each, reach)
    np.testing.assert_array_equal(above_each, reach.T)
    assert n_layers == layer.max() + 1
    np.testing.assert_array_equal(layer, layers(graph.parents))
    expected = [max((layer[u] + 1 for u in np.flatnonzero(up)), default=0) for up in joined.T]
    np.testing.assert_array_equal(layer, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_long_chains_keep_their_books(n, kind):
    """Graphs are acyclic and weigh what their families weigh; sums are those made anew."""
    raw = some_raw(n, 3, 2, 2.0, 1)
    rng = np.random.default_rng(0)
    plan = ChainPlan(1, 5, 5, 100 if kind == "order" else 4)
    task = GraphChainTask(KINDS[kind], raw, plan, np.zeros((n, n), bool))
    chains = sample_graphs(task, rng)
    state, kept = chains.ends[0].states[0], chains.samples[0]
    before = state.sums.copy()
    weight = task.kind.weigh(state, task.cold)
    np.testing.assert_allclose(state.sums, before, rtol=1e-9, atol=1e-9)
    assert weight == pytest.approx(kept.states[-1], rel=1e-9, abs=1e-9)
    joined = from_standard(kept.parents[-1])
    total = sum(weigh(raw, v, np.flatnonzero(joined[:, v]).tolist()) for v in range(n))
    assert kept.scores[-1] + task.tops.sum() == pytest.approx(total, rel=1e-9, abs=1e-8)
    assert joined.any()
    left = joined.copy()
    for _ in range(n):  # without sinks, again and again, nothing is left
        left[:, ~left.any(1)] = False
    assert not left.any()


def weigh(raw, v, parents):
    """The log weight of one set."""
    mine = raw.candidates[v]
    if set(parents) <= set(mine):
        return raw.inside[v][sum(1 << mine.index(u) for u in parents)]
    return raw.singles[v, parents[0]] if len(parents) == 1 else raw.pairs[v][tuple(parents)]


def test_chains_begin_with_what_is_required():
    required = np.zeros((6, 6), bool)
    required[5, 0] = required[0, 3] = required[4, 3] = True
    orders = [random_order(required, np.random.default_rng(k)).tolist() for k in range(200)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert all(o.index(5) < o.index(0) < o.index(3) > o.index(4) for o in orders)
    assert len({tuple(order) for order in orders}) > 30


def test_slow_and_fast_lists_have_the_same_sets():
    """The slow twin counts 2^K subsets, and all singles and pairs that are not within these."""
    sets = parent_sums.list_sets(random_raw(7, 3, 2, 1.0, 0), 2)
    assert len(sets.log_weights) == 8 + 3 + (15 - 3)
