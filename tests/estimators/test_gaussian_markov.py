"""Gaussian Markov networks: covariance selection, gaps, files, refusals."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import jensen as jn

RING = "a - b - c - d - a"
NAMES = list("abcd")


def rows(share=0.0):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 4)) @ rng.normal(size=(4, 4)).T + [5.0, -3.0, 0.0, 100.0]
    X[rng.random(X.shape) < share] = np.nan
    return X


def table_of(X):
    return jn.Table(dict(zip(NAMES, X.T, strict=True)))


def seen_log_likelihood(mean, covariance, X):
    total = 0.0
    for x in X:
        here = ~np.isnan(x)
        if here.any():
            block = covariance[np.ix_(here, here)]
            total += multivariate_normal(mean[here], block).logpdf(x[here])
    return total


@pytest.fixture(scope="module")
def net():
    return jn.GaussianMarkovNetwork(RING).fit(table_of(rows()))


def test_cliques_have_the_covariance_of_the_rows(net):
    S = np.cov(rows().T, bias=True)
    for a, b in [*net.graph_.edges, *((x, x) for x in NAMES)]:
        i, j = NAMES.index(a), NAMES.index(b)
        assert net.covariance_[i, j] == pytest.approx(S[i, j], rel=1e-9)
    assert net.precision_[0, 2] == net.precision_[1, 3] == 0.0
    np.testing.assert_allclose(np.linalg.inv(net.covariance_), net.precision_, atol=1e-9)
    np.testing.assert_allclose(net.mean_, rows().mean(0), rtol=1e-12)
    assert net.partial_correlations_[0, 2] == 0.0


def test_f_is_the_log_likelihood_and_the_maximum(net):
    X = rows()
    wanted = seen_log_likelihood(net.mean_, net.covariance_, X)
    assert net.free_energy_ == pytest.approx(wanted, rel=1e-12)
    S, free = (
        np.cov(X.T, bias=True),
        [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (2, 3), (0, 3)],
    )

    def loss(entries):
        K = np.zeros((4, 4))
        for (i, j), value in zip(free, entries, strict=True):
            K[i, j] = K[j, i] = value
        sign, log_det = np.linalg.slogdet(K)
        return np.inf if sign <= 0 else -log_det + np.trace(K @ S)

    best = minimize(loss, [net.precision_[cell] for cell in free], method="Nelder-Mead").fun
    assert loss([net.precision_[cell] for cell in free]) <= best + 1e-9


def test_decomposable_graphs_are_done_after_one_sweep():
    net = jn.GaussianMarkovNetwork().fit(table_of(rows()))
    np.testing.assert_allclose(net.covariance_, np.cov(rows().T, bias=True), rtol=1e-9)


def test_missing_values_by_em():
    X = rows(0.2)
    net = jn.GaussianMarkovNetwork(RING, tol=1e-13).fit(table_of(X))
    assert (np.diff(net.trace_) >= -1e-9).all()
    value = seen_log_likelihood(net.mean_, net.covariance_, X)
    assert net.free_energy_ == pytest.approx(value, rel=1e-11)
    rng = np.random.default_rng(0)
    joined = net.graph_.adjacency | np.eye(4, dtype=bool)
    for size in (1e-2, 1e-3):  # nowhere around is it higher
        for _ in range(20):
            way = rng.normal(size=(4, 4)) * joined
            K = net.precision_ * (1.0 + size * (way + way.T) / 2)
            mean = net.mean_ + size * rng.normal(size=4)
            assert seen_log_likelihood(mean, np.linalg.inv(K), X) <= value + 1e-7


def test_questions(net):
    found = net.query("a", given={"b": -2.0, "d": 101.0})
    S, m = net.covariance_, net.mean_
    gain = S[0, [1, 3]] @ np.linalg.inv(S[np.ix_([1, 3], [1, 3])])
    assert found.mean == pytest.approx(m[0] + gain @ (np.array([-2.0, 101.0]) - m[[1, 3]]))
    more = net.query("a", given={"b": -2.0, "d": 101.0, "c": 7.0})
    assert more.mean == pytest.approx(found.mean)  # c is separated from a
    assert net.sample(10, random_state=0).n_rows == 10
    X = rows(0.3)
    np.testing.assert_array_equal(
        np.isnan(np.column_stack([net.impute(table_of(X))[x] for x in NAMES])), False
    )
    for ask in (
        lambda: net.query("a", do={"b": 1.0}),
        lambda: net.marginals(do={"b": 1.0}),
        lambda: net.log_probability({"a": 1.0}, do={"b": 1.0}),
        lambda: net.most_probable(do={"b": 1.0}),
        lambda: net.sample(3, do={"b": 1.0}),
    ):
        with pytest.raises(jn.JensenError, match="no arrows"):
            ask()


def test_units_and_files(net, tmp_path):
    scaled = jn.GaussianMarkovNetwork(RING).fit(table_of(rows() * [1e6, 1e-6, 1.0, 1.0]))
    np.testing.assert_allclose(
        scaled.partial_correlations_, net.partial_correlations_, rtol=1e-6, atol=1e-9
    )
    again = jn.GaussianMarkovNetwork.from_dict(json.loads(json.dumps(net.to_dict())))
    np.testing.assert_array_equal(again.covariance_, net.covariance_)
    assert again.free_energy_ == net.free_energy_
    assert again.summary().text == net.summary().text
    net.save(tmp_path / "x.json")
    assert jn.load(tmp_path / "x.json").query("a").mean == pytest.approx(net.query("a").mean)
    for change, message in (
        ({"names": ["b", "a", "c", "d"]}, "in their order"),
        ({"edges": [["a", "z"]]}, "two of the names"),
        ({"covariance": (-np.eye(4)).tolist()}, "positive in every direction"),
    ):
        with pytest.raises(jn.FileError, match=message):
            jn.GaussianMarkovNetwork.from_dict({**net.to_dict(), **change})


def test_refusals():
    X = rows()
    X[:, 1] = X[:, 0] * 2.0
    with pytest.raises(jn.DataError, match="no spread in some direction of a, b"):
        jn.GaussianMarkovNetwork(RING).fit(table_of(X))
    with pytest.raises(jn.DataError, match="no spread"):
        jn.GaussianMarkovNetwork().fit(table_of(rows()[:3]))
    with pytest.raises(jn.DataError, match="no columns"):
        jn.GaussianMarkovNetwork().fit(jn.Table({}))
    with pytest.raises(jn.DataError, match="'z' has no column"):
        jn.GaussianMarkovNetwork("a - z").fit(table_of(rows()))
    with pytest.raises(jn.JensenError, match=r"label|continuous|number"):
        jn.GaussianMarkovNetwork().fit({"a": ["x", "y"], "b": ["u", "v"]})
    with pytest.raises(jn.NotFittedError, match="no parameters yet"):
        jn.GaussianMarkovNetwork().query("a")
    with pytest.raises(jn.JensenError, match="tol must be a number"):
        jn.GaussianMarkovNetwork(tol=-1.0).fit(table_of(rows()))
