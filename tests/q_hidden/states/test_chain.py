"""Chains of hidden states against every path there is."""

from typing import NamedTuple

import numpy as np
import pytest
from naive import chains as naive
from scipy import stats

import jensen as jn
from jensen import kernels, q_hidden
from jensen.kernels.log_tables import scale_rows
from jensen.q_hidden.states import chain as chains
from jensen.q_hidden.states import chain_sweeps
from jensen.q_hidden.structures import MAX, SUM, Chain
from jensen.support.fields import leaves


class Extra(NamedTuple):
    total: np.ndarray  # (K,)


class Seen(NamedTuple):
    nodes: np.ndarray  # (T, K)
    extra: Extra


class Rows:
    """Log-likelihoods that are given; the statistics are the nodes, row by row."""

    def __init__(self, log_like):
        self.all = log_like  # (T, K)
        self.asked = []

    def log_like(self, start, stop, how=SUM):
        self.asked.append((start, stop, how == MAX))
        return np.ascontiguousarray(self.all[start:stop].T)

    def stats(self, start, stop, nodes, how=SUM):
        assert nodes.shape == (self.all.shape[1], stop - start)
        self.asked.append((how.rng, how == MAX))
        out = np.zeros(self.all.shape)
        out[start:stop] = nodes.T
        return Seen(out, Extra(nodes.sum(1)))


def make_chain(seed, lengths, n_states, zeros=0.0, spread=2.0, weights=True):
    """Random tables that do not sum to one, some entries impossible."""
    rng = np.random.default_rng(seed)
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def logs(*shape, scale=1.0):
        x = scale * rng.normal(size=shape) - 1.0
        return np.where(rng.random(shape) < zeros, -np.inf, x)

    weight = rng.integers(0, 3, len(lengths)) * rng.random(len(lengths))
    return Chain(
        logs(n_states),
        logs(n_states, n_states),
        logs(n_states),
        Rows(logs(int(ptr[-1]), n_states, scale=spread)),
        ptr,
        weight if weights else np.ones(len(lengths)),
    )


def sequences(chain):
    """The log-likelihoods (steps, K) of every sequence."""
    return np.split(chain.observed.all, chain.ptr[1:-1]) if len(chain.weight) else []


def posteriors(chain):
    """(log Z, path → probability) of every sequence."""
    tables = chain[:3]
    return [naive.posterior(*tables, log_like) for log_like in sequences(chain)]


CASES = {
    "one state": ([1, 3, 2], 1, 0.0),
    "one step": ([1], 3, 0.0),
    "steps alone": ([1] * 7, 2, 0.2),
    "two states": ([5, 1, 4], 2, 0.0),
    "zeros": ([4, 3, 6], 2, 0.2),
    "three states": ([3, 5], 3, 0.0),
    "three states with zeros": ([5, 2, 2, 4], 3, 0.2),
    "mostly zeros": ([3, 4, 1, 5], 3, 0.5),
    "four states": ([4], 4, 0.1),
    "no sequences": ([], 2, 0.0),
}
SIZES = [1000, 1, 2, 5]


@pytest.fixture(params=[False, True], ids=["two spaces", "log space"])
def space(request, monkeypatch):
    monkeypatch.setattr(chain_sweeps, "FORCE_LOGS", request.param)


@pytest.fixture(params=SIZES)
def size(request, monkeypatch):
    """Rows of a block."""
    monkeypatch.setattr(chain_sweeps, "segment_rows", lambda n_states: request.param)
    return request.param


@pytest.fixture(params=CASES)
def case(request):
    """Some chains of a kind."""
    lengths, n_states, zeros = CASES[request.param]
    return [make_chain(seed, lengths, n_states, zeros) for seed in range(3)]


def check_sums(chain, rtol=1e-12):
    """Log Z and expected counts are those of all paths."""
    value, counts = chains.expected(chain)
    n_states = len(chain.log_init)
    nodes, pairs = np.zeros((chain.ptr[-1], n_states)), np.zeros((n_states, n_states))
    first, last = np.zeros(n_states), np.zeros(n_states)
    for s, (log_z, p) in enumerate(posteriors(chain)):
        a, b, weight = chain.ptr[s], chain.ptr[s + 1], chain.weight[s]
        np.testing.assert_allclose(value[s], log_z, rtol=rtol)
        nodes[a:b] = weight * naive.nodes(p, b - a, n_states)
        pairs += weight * naive.pairs(p, b - a, n_states).sum(0)
        first, last = first + nodes[a], last + nodes[b - 1]
    for found, by_paths in [
        (counts.first, first),
        (counts.pairs, pairs),
        (counts.last, last),
        (counts.observed.nodes, nodes),
        (counts.observed.extra.total, nodes.sum(0)),
    ]:
        np.testing.assert_allclose(found, by_paths, rtol=0, atol=1e-13)


def test_sums_are_those_of_all_paths(case, size, space):
    for chain in case:
        check_sums(chain)
        assert all(asked[-1] is False for asked in chain.observed.asked)


def test_log_evidence_is_log_z(case, size, space):
    for chain in case:
        by_paths = [log_z for log_z, _ in posteriors(chain)]
        np.testing.assert_allclose(chains.log_evidence(chain), by_paths, rtol=1e-12)


def possible(chain):
    """The chain, with a floor under what was impossible in a sequence that has no path."""
    if all(log_z > -np.inf for log_z, _ in posteriors(chain)):
        return chain
    tables = [np.maximum(table, -30.0) for table in chain[:3]]
    return Chain(*tables, Rows(np.maximum(chain.observed.all, -30.0)), *chain[4:])


def test_posteriors_are_those_of_all_paths(case, size, space):
    for chain in map(possible, case):
        n_states = len(chain.log_init)
        known = [(len(x), p) for x, (_, p) in zip(sequences(chain), posteriors(chain), strict=True)]
        none = np.zeros((0, n_states))
        nodes = np.concatenate([none, *(naive.nodes(p, n, n_states) for n, p in known)])
        pairs = [naive.pairs(p, n, n_states) for n, p in known]
        pairs = np.concatenate([np.zeros((0, n_states, n_states)), *pairs])
        filtered = [naive.filtered(*chain[:2], x) for x in sequences(chain)]
        filtered = np.concatenate([none, *filtered])
        np.testing.assert_allclose(chains.smoothed(chain), nodes, rtol=0, atol=1e-13)
        np.testing.assert_allclose(chains.pair_posteriors(chain), pairs, rtol=0, atol=1e-13)
        np.testing.assert_allclose(chains.filtered(chain), filtered, rtol=0, atol=1e-13)


def path_counts(chain, path):
    """Counts of one path through all sequences, those with a value."""
    n_states = len(chain.log_init)
    first, last, pairs = np.zeros(n_states), np.zeros(n_states), np.zeros((n_states, n_states))
    nodes, value = np.zeros((len(path), n_states)), []
    for s, log_like in enumerate(sequences(chain)):
        a, b, weight = chain.ptr[s], chain.ptr[s + 1], chain.weight[s]
        h = path[a:b]
        value.append(naive.log_potential(*chain[:3], log_like, h))
        if value[-1] > -np.inf:
            first[h[0]] += weight
            last[h[-1]] += weight
            np.add.at(pairs, (h[:-1], h[1:]), weight)
            nodes[np.arange(a, b), h] = weight
    return np.array(value), (first, pairs, last, nodes, nodes.sum(0))


def test_the_best_path_is_the_best_of_all(case, size):
    for chain in case:
        value, path = chains.best_path(chain)
        assert path.dtype == np.int64
        followed, by_path = path_counts(chain, path)
        np.testing.assert_allclose(value, followed, rtol=1e-13)
        for s, log_like in enumerate(sequences(chain)):
            every = naive.paths(len(log_like), len(chain.log_init))
            top = max(naive.log_potential(*chain[:3], log_like, h) for h in every)
            np.testing.assert_allclose(value[s], top, rtol=1e-13)
        assert not any(asked[-1] for asked in chain.observed.asked if len(asked) == 3)
        chain.observed.asked.clear()
        again, counts = chains.best(chain)
        assert np.array_equal(again, value)
        for found, known in zip(leaves(counts), by_path, strict=True):
            np.testing.assert_allclose(found, known, rtol=0, atol=1e-13)
        assert all(asked[-1] for asked in chain.observed.asked), "missing values at their peak"


def test_of_equal_paths_the_first_states_are_taken(size):
    free = Chain(
        np.zeros(3),
        np.zeros((3, 3)),
        np.zeros(3),
        Rows(np.zeros((9, 3))),
        np.array([0, 4, 9]),
        np.ones(2),
    )
    assert chains.best_path(free)[1].tolist() == [0] * 9
    turns = free._replace(log_trans=np.where(np.eye(3), -1.0, 0.0))
    assert chains.best_path(turns)[1].tolist() == [1, 0, 1, 0, 0, 1, 0, 1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [0.0, 0.25])
def test_draws_have_the_probabilities_of_the_paths(zeros, size, space):
    chain = possible(make_chain(3, [3, 1, 4], 3, zeros, spread=1.0))
    rng, n = np.random.default_rng(0), 4000
    drawn = chains.drawn_paths(chain, n, rng)
    assert drawn.shape == (n, 8)
    for s, (_, p) in enumerate(posteriors(chain)):
        found = [tuple(h) for h in drawn[:, chain.ptr[s] : chain.ptr[s + 1]].tolist()]
        check_frequencies(p, found)


def check_frequencies(p, found, p_value=1e-4):
    """Chi-square; rare outcomes are put together."""
    assert all(p[h] > 0.0 for h in found)
    often = [h for h in p if p[h] * len(found) >= 5.0]
    counts = [found.count(h) for h in often]
    expected = [p[h] * len(found) for h in often]
    rest = len(found) - sum(expected)
    if rest > 1.0:
        counts.append(len(found) - sum(counts))
        expected.append(rest)
    if len(counts) > 1:
        expected = np.array(expected) * sum(counts) / sum(expected)
        assert stats.chisquare(counts, expected).pvalue > p_value


@pytest.mark.parametrize("zeros", [0.0, 0.25])
def test_a_draw_counts_as_its_path(zeros, size, space):
    for seed in range(5):
        chain = make_chain(seed, [3, 1, 4, 2], 3, zeros)
        rng = np.random.default_rng(seed)
        value, counts = chains.drawn(chain, rng)
        by_paths = [log_z for log_z, _ in posteriors(chain)]
        assert np.array_equal(value > -np.inf, np.array(by_paths) > -np.inf)
        nodes = counts.observed.nodes
        rows = nodes.any(1)
        path = nodes.argmax(1)
        heavy = (chain.weight > 0) & (value > -np.inf)
        assert np.array_equal(rows, np.repeat(heavy, np.diff(chain.ptr)))
        followed, by_path = path_counts(chain._replace(weight=chain.weight * heavy), path)
        np.testing.assert_allclose(value[heavy], followed[heavy], rtol=1e-13)
        for found, known in zip(leaves(counts), by_path, strict=True):
            np.testing.assert_allclose(found, known, rtol=0, atol=1e-13)
        assert all(asked[0] is rng for asked in chain.observed.asked if len(asked) == 2)


def test_draws_of_the_rule_have_the_right_probabilities(space):
    chain = possible(make_chain(1, [3], 2, weights=False))
    rng = np.random.default_rng(4)
    found = []
    for _ in range(2000):
        nodes = q_hidden.draw(chain, None, rng).moments.observed.nodes
        found.append(tuple(nodes.argmax(1).tolist()))
    check_frequencies(posteriors(chain)[0][1], found)


def test_rules_know_chains():
    chain = make_chain(0, [3, 4], 2)
    exact, mode = q_hidden.exact(chain), q_hidden.mode(chain)
    drawn = q_hidden.draw(chain, None, np.random.default_rng(0))
    assert np.all(exact.value >= mode.value)
    assert np.all(mode.value >= drawn.value)


def underflowing(turns=4):
    """Two states that never change; what is lost of the second at first decides at the end."""
    log_like = np.zeros((2 * turns, 2))
    log_like[0, 1] = -800.0
    log_like[1:, 0] = np.where(np.arange(2 * turns - 1) % 2, 400.0, -400.0)
    log_like[-3:, 0] = -300.0
    with np.errstate(divide="ignore"):
        log_trans = np.log(np.eye(2))
    tables = np.log([0.5, 0.5]), log_trans, np.zeros(2)
    return Chain(*tables, Rows(log_like), np.array([0, 2 * turns]), np.ones(1))


def close_call(gap):
    """The first state wins by `gap` in the end, though the second was lost on the way."""
    log_like = np.array([[0.0, -800.0], [-300.0, 0.0], [-300.0, 0.0], [gap - 200.0, 0.0]])
    chain = underflowing()
    return chain._replace(observed=Rows(log_like), ptr=np.array([0, 4]))


@pytest.mark.parametrize(
    "chain",
    [underflowing(), *map(close_call, [-100.0, -1.0, 0.0, 1.0, 100.0])],
    ids=["in turns", "lost", "behind", "equal", "ahead", "won"],
)
def test_what_underflows_on_the_way_counts_in_the_end(chain, size):
    check_sums(chain)
    ((log_z, p),) = posteriors(chain)
    np.testing.assert_allclose(chains.log_evidence(chain), log_z, rtol=1e-13)
    drawn = chains.drawn_paths(chain, 2000, np.random.default_rng(0))
    check_frequencies(p, [tuple(h) for h in drawn.tolist()])
    filtered = naive.filtered(*chain[:2], chain.observed.all)
    np.testing.assert_allclose(chains.filtered(chain), filtered, rtol=1e-12)


@pytest.mark.parametrize("rare", [-50.0, -600.0, -800.0])
def test_rare_steps_that_must_be_taken(rare, size):
    """A transition whose probability is no number of linear space, again and again."""
    log_trans = np.array([[0.0, rare], [rare, 0.0]])
    log_like = np.where(np.arange(7)[:, None] % 2 == np.arange(2), 0.0, -1000.0 - rare)
    tables = np.array([0.0, rare]), log_trans, np.array([0.0, rare])
    chain = Chain(*tables, Rows(log_like), np.array([0, 3, 7]), np.ones(2))
    check_sums(chain)
    by_paths = [log_z for log_z, _ in posteriors(chain)]
    np.testing.assert_allclose(chains.log_evidence(chain), by_paths, rtol=1e-13)


def long_chain(n_states=4, zeros=0.0, spread=3.0):
    return make_chain(7, [3000, 1, 700, 20, 5000], n_states, zeros, spread)


@pytest.mark.parametrize("zeros", [0.0, 0.2])
@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
def test_both_spaces_agree_on_long_sequences(zeros, spread, monkeypatch):
    chain = long_chain(zeros=zeros, spread=spread)
    chain.observed.all[~np.isfinite(chain.observed.all)] = 0.0
    chain = chain._replace(log_end=np.zeros(4))
    found = {}
    for logs in (False, True):
        for rows in (64, 10**6):
            monkeypatch.setattr(chain_sweeps, "FORCE_LOGS", logs)
            monkeypatch.setattr(chain_sweeps, "segment_rows", lambda n_states, rows=rows: rows)
            found[logs, rows] = [*chains.expected(chain), chains.log_evidence(chain)]
    value, counts, _ = found[True, 10**6]
    assert np.all(np.isfinite(value))
    for other, more, evidence in found.values():
        np.testing.assert_allclose(other, value, rtol=1e-12)
        np.testing.assert_allclose(evidence, value, rtol=1e-12)
        for x, y in zip(leaves(more), leaves(counts), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_only_what_is_long_is_read_twice(monkeypatch):
    chain = make_chain(0, [10, 20, 30, 100, 5], 3)
    monkeypatch.setattr(chain_sweeps, "segment_rows", lambda n_states: 40)
    chains.expected(chain)
    read = [asked[:2] for asked in chain.observed.asked if len(asked) == 3]
    forth = [(60, 100), (100, 140), (140, 160)]
    assert read == [(0, 30), (30, 60), *forth, *forth[-2::-1], (160, 165)]


@pytest.mark.parametrize("question", ["filtered", "smoothed", "pair_posteriors", "drawn"])
def test_a_question_about_an_impossible_sequence_is_refused(question, size, space):
    chain = make_chain(0, [3, 4, 2], 2)
    chain.observed.all[4] = -np.inf
    ask = {
        "filtered": chains.filtered,
        "smoothed": chains.smoothed,
        "pair_posteriors": chains.pair_posteriors,
        "drawn": lambda chain: chains.drawn_paths(chain, 2, np.random.default_rng(0)),
    }[question]
    with pytest.raises(jn.ImpossibleError, match="sequence 2 has probability 0: no path"):
        ask(chain)
    assert chains.log_evidence(chain)[1] == -np.inf
    assert chains.best_path(chain)[0][1] == -np.inf


def test_the_end_can_make_a_sequence_impossible(size, space):
    chain = make_chain(0, [3, 4], 2)._replace(log_end=np.full(2, -np.inf))
    for value, counts in (chains.expected(chain), chains.best(chain)):
        assert np.all(value == -np.inf)
        assert not any(leaf.any() for leaf in leaves(counts))
    assert chains.filtered(chain).sum() == pytest.approx(7.0)


def test_very_many_sequences_of_one_step():
    rng = np.random.default_rng(0)
    n = 100_000
    chain = make_chain(0, [1], 3)._replace(
        observed=Plain(rng.normal(size=(3, n))), ptr=np.arange(n + 1), weight=np.ones(n)
    )
    value, counts = chains.expected(chain)
    joint = np.exp((chain.log_init + chain.log_end)[:, None] + chain.observed.all)
    np.testing.assert_allclose(value, np.log(joint.sum(0)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(counts.observed, (joint / joint.sum(0)).sum(1), rtol=1e-12)
    assert not counts.pairs.any()


class Plain:
    """Log-likelihoods (K, T) that are given; the statistics are sums of nodes."""

    def __init__(self, log_like):
        self.all = log_like

    def log_like(self, start, stop, how=SUM):
        return self.all[:, start:stop]

    def stats(self, start, stop, nodes, how=SUM):
        return nodes.sum(1)


@pytest.mark.compiled
def test_kernels_have_one_signature(monkeypatch):
    chain = long_chain()._replace(observed=Plain(np.zeros((4, 8721))))
    rng = np.random.default_rng(0)
    for force in (False, True):
        monkeypatch.setattr(chain_sweeps, "FORCE_LOGS", force)
        for weight in (chain.weight, np.broadcast_to(1.0, 5)):
            some = chain._replace(weight=weight)
            chains.expected(some)
            chains.best(some)
            chains.drawn(some, rng)
    for item in kernels.load_all():
        if item.function.__module__.startswith("jensen.kernels.chains"):
            assert len(item.function.signatures) <= 1, item.function.__name__


@pytest.mark.parametrize("n", [0, 1, 511, 512, 1300])
def test_scaled_likelihoods_are_exponentials(n):
    rng = np.random.default_rng(n)
    log_like = -rng.exponential(200.0, (3, n)) + rng.normal(scale=1e4, size=n)
    log_like[rng.random((3, n)) < 0.1] = -np.inf
    like, shift = np.empty((n, 3)), np.empty(n)
    scale_rows(log_like, like, shift)
    top = log_like.max(0)
    assert np.array_equal(shift, np.where(top == -np.inf, 0.0, top))
    np.testing.assert_allclose(like.T, np.exp(log_like - shift), rtol=5e-16, atol=1e-307)


def test_what_is_no_number_stays_so():
    like, shift = np.empty((1, 2)), np.empty(1)
    scale_rows(np.array([[0.0], [np.nan]]), like, shift)
    assert np.isnan(like[0, 1])
