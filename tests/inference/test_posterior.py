"""Dirichlet posteriors of tables, against closed forms and scipy's beta distribution."""

import numpy as np
import pytest
from scipy import stats

import jensen as jn

TABLE = {
    "rain": ["no"] * 5 + ["yes"] * 3,
    "wet": ["no", "no", "no", "yes", "yes", "yes", "yes", "yes"],
}


@pytest.fixture
def net():
    return jn.BayesianNetwork("rain -> wet", prior=1.0).fit(TABLE)


def test_concentrations_are_prior_plus_counts(net):
    assert net.posterior("rain").concentration.tolist() == [6.0, 4.0]
    assert net.posterior("wet").concentration.tolist() == [[4.0, 3.0], [1.0, 4.0]]


def test_means_are_laplaces_rule(net):
    np.testing.assert_allclose(net.posterior("rain").mean, [6 / 10, 4 / 10], rtol=1e-15)
    expected = [[4 / 7, 3 / 7], [1 / 5, 4 / 5]]
    np.testing.assert_allclose(net.posterior("wet").mean, expected, rtol=1e-15)


def test_the_predictive_table_is_the_mean_with_labels(net):
    predictive = net.posterior("wet").predictive
    assert predictive["yes"] == pytest.approx({"no": 0.2, "yes": 0.8}, rel=1e-15)
    np.testing.assert_array_equal(predictive.values, net.cpt("wet").values)


def test_variances_are_those_of_beta_distributions(net):
    a = net.posterior("wet").concentration
    expected = stats.beta(a, a.sum(-1, keepdims=True) - a).var()
    np.testing.assert_allclose(net.posterior("wet").variance, expected, rtol=1e-14)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("prior", [0.1, 1.0, 25.0])
def test_intervals_are_equal_tailed_and_of_beta_marginals(level, prior):
    table = {"x": ["a", "b", "b", "c", "c", "c"], "y": [0, 0, 0, 0, 1, 1]}
    net = jn.BayesianNetwork("y -> x", prior=prior).fit(table)
    low, high = net.posterior("x").interval(level)
    a = net.posterior("x").concentration
    beta = stats.beta(a, a.sum(-1, keepdims=True) - a)
    if prior >= 1:  # below, quantiles round to 0 or 1
        np.testing.assert_allclose(beta.cdf(low), (1 - level) / 2, rtol=1e-9)
        np.testing.assert_allclose(beta.cdf(high), (1 + level) / 2, rtol=1e-9)
    np.testing.assert_allclose(low, beta.ppf((1 - level) / 2), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(high, beta.ppf((1 + level) / 2), rtol=1e-9)


def test_the_default_level_is_90_percent(net):
    for one, other in zip(
        net.posterior("wet").interval(), net.posterior("wet").interval(0.9), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("level", [0, 1, -0.5, 90, np.nan])
def test_a_level_that_is_none_is_refused(net, level):
    with pytest.raises(jn.JensenError, match="the level of an interval lies between 0 and 1, not"):
        net.posterior("wet").interval(level)


def test_a_variable_with_one_state_is_certain():
    net = jn.BayesianNetwork("a", prior=1.0).fit({"a": ["x", "x"]})
    low, high = net.posterior("a").interval()
    assert (low.tolist(), high.tolist()) == ([1.0], [1.0])
    assert net.posterior("a").variance.tolist() == [0.0]


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_a_row_that_bds_leaves_out_says_nothing():
    table = jn.Table({"a": [0, 0, 1], "b": [0, 1, 1]}, states={"a": [0, 1, 2]})
    posterior = jn.BayesianNetwork("a -> b", prior="bds").fit(table).posterior("b")
    assert posterior.concentration[2].tolist() == [0.0, 0.0]
    assert posterior.mean[2].tolist() == [0.5, 0.5]
    low, high = posterior.interval()
    assert (low[2].tolist(), high[2].tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_point_estimates_have_no_posterior():
    net = jn.BayesianNetwork("rain -> wet").fit(TABLE)
    with pytest.raises(jn.JensenError, match="point estimates only: a posterior comes from method"):
        net.posterior("wet")


def test_a_posterior_shows_itself(net):
    low, high = net.posterior("wet").interval()
    lines = repr(net.posterior("wet")).splitlines()
    assert lines[0] == "posterior of P(wet | rain), 90 % intervals"
    assert lines[1].split() == ["rain", "state", "mean", "interval", "concentration"]
    assert lines[3].split() == ["no", "no", "0.5714", f"{low[0, 0]:.4g}..{high[0, 0]:.4g}", "4"]
    assert len(lines) == 7


def test_a_long_posterior_shows_its_beginning():
    table = jn.Table({"a": range(50), "b": [0, 1] * 25}, categorical=["a"])
    shown = repr(jn.BayesianNetwork("a -> b", prior=1.0).fit(table).posterior("b"))
    assert len(shown.splitlines()) == 3 + 40 + 1
    assert shown.endswith("... and 60 rows more")
