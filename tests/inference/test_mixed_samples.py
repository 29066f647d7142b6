"""Answers of a mixed network averaged over samples of its parameters, and from a posterior."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from naive import mixed_answers as naive

import jensen as jn
from jensen.exceptions import JensenError
from jensen.inference.mixed_network import MixedNetwork

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def flat(network):
    return np.concatenate([network.tables, *(one.flat() for one in network.numbers)])


def sampled(seed, n=4):
    """A network with samples, and a network for each of them."""
    rng = np.random.default_rng(seed)
    first = naive.random_network(rng).network_
    each = [first]
    for _ in range(n - 1):
        rows = replace(
            first.label_network, tables=first.tables * rng.uniform(0.5, 2.0, len(first.tables))
        )
        numbers = tuple(
            one._replace(
                intercepts=one.intercepts + rng.normal(size=one.intercepts.shape),
                slopes=one.slopes + 0.5 * rng.normal(size=one.slopes.shape),
                variances=one.variances * rng.uniform(0.5, 2.0, one.variances.shape),
            )
            for one in first.numbers
        )
        each.append(replace(first, tables=rows.probabilities.copy(), numbers=numbers))
    draws = np.array([flat(one) for one in each])
    point = np.mean([one.tables for one in each], axis=0)
    network = replace(first, tables=point, samples=draws)
    return jn.BayesianNetwork.from_network(network), each


def averaged(each, known, names, read):
    """Σ_s p_s(y, e) / Σ_s p_s(e), and the log of the mean of p_s(e)."""
    found = [naive.pieces(one, known) for one in each]
    log_p = np.array([naive.log_evidence(one) for one in found])
    weights = np.exp(log_p - np.logaddexp.reduce(log_p))
    values = [read(network, one, names) for network, one in zip(each, found, strict=True)]
    return weights, values, np.logaddexp.reduce(log_p) - np.log(len(each))


def labels_of(each, known, names):
    weights, values, log_p = averaged(each, known, names, naive.joint_labels)
    return np.tensordot(weights, np.array(values), 1), log_p


def moments_of(each, known, names):
    weights, values, _ = averaged(each, known, names, naive.moments)
    means, covariances = (np.array([pair[k] for pair in values]) for k in (0, 1))
    mean = weights @ means
    apart = means - mean
    return mean, np.tensordot(weights, covariances, 1) + (weights * apart.T) @ apart


@pytest.mark.parametrize("seed", range(8))
def test_answers_average_over_samples(seed):
    net, each = sampled(seed)
    known = {"l1": 1, "x1": 0.3}
    given = {"l1": "1", "x1": 0.3}
    wanted, log_p = labels_of(each, known, ["l2", "l0"])
    np.testing.assert_allclose(net.query(["l2", "l0"], given).values, wanted, **CLOSE)
    assert net.log_probability(given) == pytest.approx(log_p, abs=1e-10)
    mean, covariance = moments_of(each, known, ["x2", "x0"])
    joint = net.query(["x2", "x0"], given)
    np.testing.assert_allclose(joint.mean, mean, **CLOSE)
    np.testing.assert_allclose(joint.covariance, covariance, **CLOSE)
    marginals = net.marginals(given)
    np.testing.assert_allclose(marginals["l0"].values, wanted.sum(0), **CLOSE)
    assert marginals["x0"].mean == pytest.approx(mean[1], abs=1e-10)
    assert marginals["x0"].variance == pytest.approx(covariance[1, 1], abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_rows_average_over_samples(seed):
    net, each = sampled(10 + seed)
    rows = {"l1": ["1", None, "0"], "x1": [0.3, -1.0, None], "l0": [None, "0", "1"]}
    known = [{"l1": 1, "x1": 0.3}, {"x1": -1.0, "l0": 0}, {"l1": 0, "l0": 1}]
    table = jn.Table(rows)
    log_p = [labels_of(each, row, ["l2"])[1] for row in known]
    np.testing.assert_allclose(net.log_likelihood(table, missing_columns="ignore"), log_p, **CLOSE)
    p = [labels_of(each, row, ["l2"])[0] for row in known]
    found = net.predict_proba(table, "l2", missing_columns="ignore")
    np.testing.assert_allclose(found, p, **CLOSE)
    pairs = [moments_of(each, row, ["x0", "x2"]) for row in known]
    answer = net.query(["x0", "x2"], given=table)
    np.testing.assert_allclose(answer.mean, [m for m, _ in pairs], **CLOSE)
    np.testing.assert_allclose(answer.covariances, [c for _, c in pairs], **CLOSE)
    np.testing.assert_allclose(answer[1].covariance, pairs[1][1], **CLOSE)
    means = net.predict(table, "x0", missing_columns="ignore")
    np.testing.assert_allclose(means, [m[0] for m, _ in pairs], **CLOSE)
    counts = net.expected_counts(table, [["l0", "l2"]], missing_columns="ignore")[0]
    wanted = sum(labels_of(each, row, ["l0", "l2"])[0] for row in known)
    np.testing.assert_allclose(counts, wanted, **CLOSE)


@pytest.mark.compiled
def test_draws_come_from_samples_by_their_weight():
    net, each = sampled(3)
    known, given = {"l1": 1, "x1": 0.3}, {"l1": "1", "x1": 0.3}
    mean, covariance = moments_of(each, known, ["x0", "x2"])
    rows = jn.Table({"l1": ["1"], "x1": [0.3], "x0": [None], "x2": [None]}, continuous=["x0", "x2"])
    many = rows.take(np.zeros(20_000, np.int64))
    filled = net.impute(many, "draw", random_state=0, missing_columns="ignore")
    for drawn in (net.sample(20_000, given=given, random_state=0), filled):
        values = np.column_stack([drawn.column(x).data for x in ("x0", "x2")])
        z = (values.mean(0) - mean) / np.sqrt(np.diag(covariance) / len(values))
        assert np.abs(z).max() < 4.5  # p = 1e-5


def test_what_samples_cannot_answer():
    net, _ = sampled(0)
    with pytest.raises(JensenError, match="most probable assignment under a mixture of sampled"):
        net.most_probable()
    with pytest.raises(JensenError, match="most probable completion under a mixture of sampled"):
        net.impute({"l0": [None, "0"], "x0": [1.0, 2.0]}, missing_columns="ignore")
    with pytest.raises(JensenError, match="entropy of all variables under a mixture of sampled"):
        net.entropy(given={"x0": 1.0, "x1": 0.0, "x2": 0.0})
    with pytest.raises(JensenError, match="known by samples"):
        net.posterior("x0")
    assert net.table_samples("l0").shape[0] == net.network_.n_samples == 4


def test_intervals_from_samples():
    net, each = sampled(1)
    found = net.query("l0", {"x0": 0.5}, interval=0.8)
    weights, values, _ = averaged(each, {"x0": 0.5}, ["l0"], naive.joint_labels)
    order = np.argsort([p[0] for p in values])
    first = order[np.searchsorted(np.cumsum(weights[order]), 0.1)]
    assert found.interval_of("0")[0] == pytest.approx(values[first][0], abs=1e-10)


def test_intervals_from_a_posterior():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    data = {"a": labels.astype(str), "x": rng.normal(size=400) + labels}
    net = jn.BayesianNetwork("a -> x", prior="bdeu-bge").fit(data)
    found = net.query("a", {"x": 0.5}, interval=0.9, random_state=0)
    low, high = found.interval_of("1")
    assert low < found["1"] < high
    assert 0.05 < high - low < 0.2
    assert net.posterior("x")["0"].interval(0.9)[0][0] < net.regression("x")["0"].intercept


def test_a_network_is_pickled_without_what_was_compiled():
    net, _ = sampled(2)
    net.query("l0")
    again = pickle.loads(pickle.dumps(net.network_))
    assert isinstance(again, MixedNetwork)
    assert again.equals(net.network_)
    assert "_shapes" not in vars(again)
