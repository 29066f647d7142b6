"""Factorial chains: exact against enumeration, mean fields below it, learning."""

import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import norm

import jensen as jn
from jensen.exceptions import DataError, EstimateWarning, JensenError, TooLargeError
from jensen.q_hidden import exact, meanfield
from jensen.q_hidden import factorial_chains as own
from jensen.q_hidden.chain_forms import outputs_at
from jensen.q_hidden.factorial_chains import FactorialChains
from jensen.q_hidden.gaussian_chain import SeriesRows


def drawn(rng, M, K, D, lengths, share=0.0):
    """Chains at random parameters and rows drawn from them."""
    initial = rng.dirichlet(np.ones(K), M)
    transition = 0.6 * np.eye(K) + 0.4 * rng.dirichlet(np.ones(K), (M, K))
    W, noise = rng.normal(size=(D, 1 + M * (K - 1))) * 1.5, rng.uniform(0.3, 1.0, D)
    T = sum(lengths)
    w = own.design(M, K)[rng.integers(0, K**M, T)]
    values = w @ W.T + np.sqrt(noise) * rng.normal(size=(T, D))
    values[rng.random(values.shape) < share] = np.nan
    ptr = np.append(0, np.cumsum(lengths)).astype(np.int64)
    rows = SeriesRows.of(values, None, ptr, rng.uniform(0.5, 2.0, len(lengths)))
    outputs = outputs_at(np.diag(noise), W, rows.seen)
    return FactorialChains(np.log(initial), np.log(transition), outputs, rows), W, noise, values


@pytest.mark.parametrize(("M", "K", "share"), [(2, 2, 0.0), (3, 2, 0.3), (2, 3, 0.2), (1, 3, 0.0)])
def test_exact_sums_are_those_of_enumeration(M, K, share):
    rng = np.random.default_rng(M + K)
    T, D = 3, 2
    chains, W, noise, values = drawn(rng, M, K, D, [T], share)
    found = own.exact(chains)
    w = own.design(M, K)
    log_like = np.nansum(norm.logpdf(values[:, None, :], w @ W.T, np.sqrt(noise)), axis=2)
    states = list(product(range(K), repeat=M))
    log_init, log_trans = chains.log_init, chains.log_trans
    weights, paths = [], list(product(range(len(states)), repeat=T))
    for path in paths:
        total = sum(log_like[t, s] for t, s in enumerate(path))
        total += sum(log_init[m, states[path[0]][m]] for m in range(M))
        for a, b in pairwise(path):
            total += sum(log_trans[m, states[a][m], states[b][m]] for m in range(M))
        weights.append(total)
    weights = np.array(weights)
    top = weights.max()
    assert found.value[0] == pytest.approx(top + np.log(np.exp(weights - top).sum()), abs=1e-9)
    p = np.exp(weights - top)
    p /= p.sum()
    nodes, pairs = np.zeros((T, M, K)), np.zeros((M, K, K))
    strength = np.zeros((D, w.shape[1], w.shape[1]))
    for share_of, path in zip(p, paths, strict=True):
        for t, s in enumerate(path):
            for m in range(M):
                nodes[t, m, states[s][m]] += share_of
                if t:
                    pairs[m, states[path[t - 1]][m], states[s][m]] += share_of
            for d in np.flatnonzero(~np.isnan(values[t])):
                strength[d] += share_of * np.outer(w[s], w[s])
    weight = chains.rows.weight[0]
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-10)
    np.testing.assert_allclose(found.sums.transition, weight * pairs, atol=1e-10)
    np.testing.assert_allclose(found.sums.outputs.strength, weight * strength, atol=1e-10)
    np.testing.assert_allclose(found.sums.initial, weight * nodes[0], atol=1e-10)
    assert np.array_equal(exact(chains).moments.transition, found.sums.transition)


@pytest.mark.parametrize("seed", range(20))
def test_factorised_is_below_structured_and_both_below_exact(seed):
    rng = np.random.default_rng(seed)
    M, K = (3, 2) if seed % 2 else (2, 3)
    chains, *_ = drawn(rng, M, K, 2, [12, 7], 0.2 * (seed % 3 == 0))
    best = own.exact(chains).value
    apart, nodes = own.factorised(chains)
    joined = own.structured(chains, nodes)
    assert (apart <= joined.value + 1e-8).all()
    assert (joined.value <= best + 1e-8).all()
    assert (own.structured(chains).value <= best + 1e-8).all()
    assert joined.sums.transition.sum() == pytest.approx(
        M * (chains.rows.weight @ (np.diff(chains.rows.ptr) - 1))
    )


def test_one_chain_is_the_same_in_all_ways_that_keep_it():
    chains, *_ = drawn(np.random.default_rng(1), 1, 3, 2, [9, 4], 0.2)
    one, other = own.exact(chains), own.structured(chains)
    np.testing.assert_allclose(one.value, other.value, rtol=1e-10)
    np.testing.assert_allclose(one.nodes, other.nodes, atol=1e-10)
    for a, b in zip(one.sums.outputs, other.sums.outputs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


def test_memory_is_where_the_next_sweep_begins():
    chains, *_ = drawn(np.random.default_rng(2), 3, 2, 2, [15])
    first = meanfield(chains)
    again = meanfield(chains, first.memory)
    assert again.value.sum() >= first.value.sum() - 1e-9


# --- the estimator ---


def two_chains(n=150, seed=0):
    rng = np.random.default_rng(seed)
    states = np.zeros((n, 2), int)
    for t in range(1, n):
        states[t] = np.where(rng.random(2) < 0.12, 1 - states[t - 1], states[t - 1])
    y = 1.0 + states @ [[3.0, 0.0, 1.0], [0.0, 2.0, -2.0]] + 0.3 * rng.normal(size=(n, 3))
    return y, states


def fitted(model, rows, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=EstimateWarning)
        return model.fit(rows, **how)


@pytest.mark.parametrize("method", ["em", "vbem", "variational-em", "mean-field"])
def test_chains_are_found_and_f_never_falls(method):
    y, states = two_chains()
    y[5:8] = np.nan
    y[20, 1] = np.nan
    prior = {} if method in ("vbem", "mean-field") else None
    model = jn.FactorialHiddenMarkovModel(
        2, method=method, prior=prior, n_init=4, max_iter=100, tol=1e-6, random_state=0
    )
    fitted(model, y)
    assert np.diff(model.trace_).min() > -1e-7
    found = model.predict(y)
    same = [[(found[:, i] == states[:, j]).mean() for j in range(2)] for i in range(2)]
    right = np.maximum(same, 1.0 - np.array(same))
    assert max(right[0, 0] + right[1, 1], right[0, 1] + right[1, 0]) > 1.9
    assert model.score(y) * 150 == pytest.approx(model.log_likelihood(y)[0])
    if method == "em":
        assert model.log_likelihood(y)[0] == pytest.approx(model.free_energy_, rel=1e-9)


def test_a_start_is_gone_on_from_and_files_hold_all(tmp_path):
    y, _ = two_chains(60)
    model = fitted(jn.FactorialHiddenMarkovModel(2, max_iter=5, random_state=0), y)
    more = fitted(jn.FactorialHiddenMarkovModel(2, max_iter=3, start=model), y)
    assert more.trace_[0] == pytest.approx(model.free_energy_, rel=1e-8)
    more.save(tmp_path / "chains.json")
    again = jn.load(tmp_path / "chains.json")
    assert again.to_dict() == more.to_dict()
    assert np.array_equal(again.predict_proba(y), more.predict_proba(y))
    assert repr(again.summary()) == repr(more.summary())
    rows, states = more.sample(9, random_state=0)
    assert rows.shape == (9, 3)
    assert states.shape == (9, 2)


def test_what_cannot_be_is_refused():
    y, _ = two_chains(30)
    with pytest.raises(JensenError, match="start must be a fitted Factorial"):
        jn.FactorialHiddenMarkovModel(start=3).fit(y)
    with pytest.raises(JensenError, match="must give the effects"):
        jn.FactorialHiddenMarkovModel(start={"offset": np.zeros(3)}).fit(y)
    start = {"effects": np.zeros((2, 2, 3)), "initial": [[0.5, 0.6], [0.5, 0.5]]}
    with pytest.raises(JensenError, match="probabilities that sum to 1"):
        jn.FactorialHiddenMarkovModel(start=start).fit(y)
    with pytest.raises(JensenError, match="n_states"):
        jn.FactorialHiddenMarkovModel(2, 1).fit(y)
    with pytest.raises(JensenError, match="is not for this model"):
        jn.FactorialHiddenMarkovModel(method="gibbs", prior={}).fit(y)
    with pytest.raises(JensenError, match="concentration must be"):
        jn.FactorialHiddenMarkovModel(prior={"concentration": -1.0}).fit(y)
    with pytest.raises(DataError, match="is constant"):
        jn.FactorialHiddenMarkovModel().fit(np.ones((9, 1)))
    with pytest.raises(DataError, match="weights sum to zero"):
        jn.FactorialHiddenMarkovModel().fit(y, sequence_weight=[0.0])
    with pytest.raises(TooLargeError, match="take fewer chains, or a mean field"):
        jn.FactorialHiddenMarkovModel(40).fit(y)
