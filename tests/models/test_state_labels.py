"""Samples whose states are given the same labels: against all permutations, and for every kind."""

from itertools import permutations

import numpy as np
import pytest
from models.mixture_cases import KINDS, make_case

from jensen.data.number_rows import NumberRows
from jensen.families import normal_wishart
from jensen.free_energy import GIBBS, state_at, step
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixed, Mixture
from jensen.models.state_labels import live_states, matched_orders
from jensen.support.arguments import Streams
from jensen.support.fields import leaves, rebuild

every_kind = pytest.mark.parametrize("kind", KINDS)


def inner(a, b):
    return sum(float(np.sum(x * y)) for x, y in zip(leaves(a), leaves(b), strict=True))


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(leaves(a), leaves(b), strict=True))


def drawn(model, units, eta, n, seed=0):
    """The statistics of some sweeps of Gibbs."""
    streams = Streams(seed, ())
    state = state_at(model, units, GIBBS, eta, streams)
    found = [state.stats]
    for _ in range(n - 1):
        state = step(model, units, GIBBS, state, streams)
        found.append(state.stats)
    return found


def chain(end):
    """Three states; the first and the last make the same symbols."""
    rng = np.random.default_rng(0)
    K = 3
    prior = np.full((K, K + end), -0.5)
    model = HiddenMarkov(Discrete(K, 1, 2, np.zeros((K, 1, 2))), prior[0, :K], prior, K, bool(end))
    values = (np.repeat([0, 1, 0, 1, 0], [9, 8, 30, 9, 8]) + (rng.random(64) < 0.1)) % 2
    units = model.encode(
        NumberRows.of(values[:, None].astype(float)), np.array([26, 38]), np.ones(2)
    )
    eta = type(model.blank)(
        rng.uniform(0.5, 2.0, K),
        20.0 * np.eye(K, K + end) + rng.uniform(0.5, 3.0, (K, K + end)),
        np.array([[[9.0, 1.0]], [[1.0, 9.0]], [[9.0, 1.0]]]),
    )
    return model, units, eta


@every_kind
@pytest.mark.parametrize("K", [2, 4])
def test_shuffled_copies_of_a_sample_become_equal(kind, K):
    case = make_case(kind, K, n=60)
    _, eta = case.posterior(np.random.default_rng(1))
    stats = drawn(case.model, case.units, eta, 1)[0]
    shuffled = [case.model.select(stats, np.array(order)) for order in permutations(range(K))]
    orders = matched_orders(case.model, shuffled, 0)
    turned = [case.model.select(one, o) for one, o in zip(shuffled, orders, strict=True)]
    assert all(same(one, turned[0]) for one in turned)
    counts = case.model.state_counts(turned[0])
    assert np.all(np.diff(counts) <= 0.0)


@pytest.mark.parametrize("end", [0, 1])
def test_shuffled_copies_of_a_chain_become_equal_though_two_states_make_the_same(end):
    model, units, eta = chain(end)
    stats = drawn(model, units, eta, 5)[-1]
    shuffled = [model.select(stats, np.array(order)) for order in permutations(range(3))]
    orders = matched_orders(model, shuffled, 0)
    turned = [model.select(one, order) for one, order in zip(shuffled, orders, strict=True)]
    assert all(same(one, turned[0]) for one in turned)


def typical(model, stats):
    """The t of a reference, by the definition: an average row more for each state."""
    K, n = model.n_states, model.state_counts(stats).sum()
    turns = [model.select(stats, np.roll(np.arange(K), k)) for k in range(K)]
    every = zip(leaves(model.prior), leaves(stats), *map(leaves, turns), strict=True)
    eta = rebuild(model.blank, (prior + own + sum(x) / n for prior, own, *x in every))
    counts = model.state_counts(stats) + 1.0
    return model.point(eta)._replace(weights=np.log(counts / counts.sum()))


@every_kind
def test_labels_have_the_highest_likelihood_of_all_permutations(kind, monkeypatch):
    monkeypatch.setattr("jensen.models.state_labels.ROUNDS", 1)
    case = make_case(kind, 3, n=60)
    _, eta = case.posterior(np.random.default_rng(1))
    samples = drawn(case.model, case.units, eta, 6)
    orders = matched_orders(case.model, samples, 0)
    t = typical(case.model, samples[0])
    every = [np.array(p) for p in permutations(range(3))]
    back = np.argsort(orders[0])  # undoes the order by falling counts, which all samples share
    for stats, order in zip(samples, orders, strict=True):
        values = [inner(case.model.select(stats, p), t) for p in every]
        np.testing.assert_array_equal(order[back], every[int(np.argmax(values))])


def test_states_without_rows_decide_nothing():
    """Two clusters that stay; two empty states whose drawn parameters are anywhere."""
    rng = np.random.default_rng(0)
    K, D = 4, 2
    words = np.zeros((K, D)), np.ones(K), np.full(K, 2.0), np.tile(np.eye(D), (K, 1, 1))
    model = Mixture(Gaussian(K, np.zeros(D), normal_wishart.from_standard(*words)), np.zeros(K), K)
    samples, truth = [], []
    for _ in range(30):
        order = rng.permutation(K)
        rows = [rng.normal(-4.0, 1.0, (60, D)), rng.normal(4.0, 1.0, (40, D)), *np.empty((2, 0, D))]
        n = np.array(list(map(len, rows)), float)
        first = np.array([x.sum(0) for x in rows])
        second = np.array([x.T @ x for x in rows])
        stats = Mixed(n, model.emission.gather(n, first, second))
        samples.append(model.select(stats, order))
        truth.append(np.argsort(order))
    orders = matched_orders(model, samples, 3)
    np.testing.assert_array_equal(orders[:, :2], np.array(truth)[:, :2])
    assert np.all(np.sort(orders, axis=1) == np.arange(K))


def test_the_largest_state_lives_always():
    assert live_states(np.array([0.2, 0.3, 0.1])).tolist() == [False, True, False]
    assert live_states(np.array([3.0, 0.51, 0.5])).tolist() == [True, True, False]
