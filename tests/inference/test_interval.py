"""Bounds of probabilities, against tables drawn by a twin."""

import numpy as np
import pytest
from inference.test_samples import sampled
from scipy import stats

import jensen as jn
from jensen.exceptions import JensenError
from jensen.inference.network import assemble
from jensen.inference.network_queries import DRAWS

STANDARD_ERRORS = 4
"""A quantile of n draws cuts off a share that is right within sqrt(p (1 - p) / n), this often."""


def learned(n=30):
    """A network x → y, x → z with a Dirichlet posterior, from complete data."""
    truth = jn.BayesianNetwork.from_tables(
        "x -> y; x -> z",
        {"x": [0.3, 0.7], "y": [[0.9, 0.1], [0.4, 0.6]], "z": [[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]},
    )
    return jn.BayesianNetwork(truth.graph, prior=1.0).fit(truth.sample(n, random_state=0))


def drawn(net, n, seed):
    """Tables from the posterior: arrays (n, ...) by name."""
    rng = np.random.default_rng(seed)
    found = {}
    for v in net.variables:
        alpha = net.posterior(v.name).concentration
        rows = alpha.reshape(-1, alpha.shape[-1])
        parts = [rng.dirichlet(row, n) for row in rows]
        found[v.name] = np.stack(parts, 1).reshape(n, *alpha.shape)
    return found


def assert_cut_off(values, bound, share, effective):
    """About this share of the values lies below the bound."""
    error = np.sqrt(share * (1 - share) * (1 / effective + 1 / len(values)))
    assert abs(np.mean(values < bound) - share) < STANDARD_ERRORS * error


def test_without_evidence_the_bounds_of_a_root_are_those_of_a_beta():
    net = learned()
    a, b = net.posterior("x").concentration
    found = net.query("x", interval=0.9)
    low, high = found.interval_of("0")
    for bound, share in ((low, 0.05), (high, 0.95)):
        error = np.sqrt(share * (1 - share) / DRAWS)
        assert abs(stats.beta(a, b).cdf(bound) - share) < STANDARD_ERRORS * error
    np.testing.assert_allclose(found.values, net.query("x").values, rtol=1e-15)
    assert (found.interval.lower <= found.values).all()
    assert (found.values <= found.interval.upper).all()


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_with_evidence_against_tables_kept_as_often_as_they_explain_it(level):
    """Rejection: a drawn table is kept with probability p(evidence | table)."""
    net = learned()
    tables = drawn(net, 40_000, 1)
    x, y, z = tables["x"], tables["y"][..., 1], tables["z"][..., 2]
    joint = x * y * z  # P(x, y = 1, z = 2)
    kept = np.random.default_rng(2).random(len(x)) < joint.sum(1)
    values = (joint / joint.sum(1, keepdims=True))[kept]
    found = net.query("x", {"y": 1, "z": 2}, interval=level)
    effective = DRAWS * np.mean(joint.sum(1)) ** 2 / np.mean(joint.sum(1) ** 2)
    tail = (1 - level) / 2
    for k in range(2):
        assert_cut_off(values[:, k], found.interval.lower[k], tail, effective)
        assert_cut_off(values[:, k], found.interval.upper[k], 1 - tail, effective)


def test_evidence_says_which_tables_are_likely():
    """P(x = 1) has a flat prior, and y, which is 1, is nearly a copy of x."""
    variables = {name: jn.Variable(name, "categorical", ("0", "1")) for name in "xy"}
    alpha = {"x": np.ones(2), "y": np.array([[9500.0, 500.0], [500.0, 9500.0]])}
    means = {name: a / a.sum(-1, keepdims=True) for name, a in alpha.items()}
    network = assemble(jn.DAG("x -> y"), variables, means, alpha)
    found = jn.BayesianNetwork.from_network(network).query("x", {"y": 1}, interval=0.9)
    share = np.linspace(0.0, 1.0, 100_001)  # P(x = 1); y's table is as good as known
    weight = 0.05 + 0.9 * share
    mass = np.cumsum(weight) / weight.sum()
    for bound, tail in ((found.interval.lower[1], 0.05), (found.interval.upper[1], 0.95)):
        below = mass[np.searchsorted(0.95 * share / weight, bound)]
        assert abs(below - tail) < STANDARD_ERRORS * np.sqrt(0.05 * 0.95 / (0.75 * DRAWS))


def test_jointly_and_under_do():
    net = learned()
    tables = drawn(net, 20_000, 3)
    pair = tables["y"][:, 1, :, None] * tables["z"][:, 1, None, :]
    found = net.query(["y", "z"], do={"x": 1}, interval=0.8)
    assert found.interval.lower.shape == found.values.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            assert_cut_off(pair[:, i, j], found.interval.lower[i, j], 0.1, DRAWS)
            assert_cut_off(pair[:, i, j], found.interval.upper[i, j], 0.9, DRAWS)


def test_more_data_and_less_trust_make_them_narrower():
    few, many = (learned(n).query("x", interval=0.9).interval for n in (30, 3000))
    assert (many.upper - many.lower < (few.upper - few.lower) / 4).all()
    half = learned().query("x", interval=0.5).interval
    assert (half.upper - half.lower < few.upper - few.lower).all()


def test_the_seed_decides():
    net = learned()
    one, again, other = (
        net.query("x", {"y": 1}, interval=0.9, random_state=seed).interval.lower
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(one, net.query("x", {"y": 1}, interval=0.9).interval.lower)
    assert not np.array_equal(one, other)


def test_after_gibbs_they_are_quantiles_of_the_samples_by_weight():
    net, _ = sampled(n_samples=7)
    given, level = {"d": "1"}, 0.6
    weights, values = [], []
    for tables in net.network_.samples:
        alone = jn.BayesianNetwork.from_network(
            jn.inference.Network(net.graph, net.variables, tables.copy())
        )
        weights.append(alone.probability(given))
        values.append(alone.query("b", given).values)
    weights, values = np.array(weights) / sum(weights), np.array(values)
    found = net.query("b", given, interval=level).interval
    for k in range(3):
        for bound, share in ((found.lower[k], 0.2), (found.upper[k], 0.8)):
            reached = [v for v in values[:, k] if weights[values[:, k] <= v].sum() >= share]
            assert bound == pytest.approx(min(reached), rel=1e-12)


def test_what_has_no_interval():
    net = jn.examples.load("sprinkler")
    with pytest.raises(JensenError, match="point estimates only: intervals need a posterior, from"):
        net.query("rain", interval=0.9)
    for level in (0, 1, 1.5, -0.1, "0.9", True, float("nan")):
        with pytest.raises(JensenError, match="interval must be between 0 and 1, as in interval="):
            learned().query("x", interval=level)
