"""Other ways to look at a network: another table, a page of text, samples, ArviZ."""

import numpy as np
import pytest

import jensen as jn


@pytest.fixture(scope="module")
def sampled():
    table = jn.examples.load("sprinkler").sample(60, random_state=0)
    return jn.BayesianNetwork(
        jn.examples.load("sprinkler").graph,
        prior="bdeu",
        method="gibbs",
        n_samples=50,
        burn_in=20,
        n_chains=2,
        random_state=0,
    ).fit(table)


def test_with_cpt_changes_one_table_of_a_copy():
    net = jn.examples.load("sprinkler")
    other = net.with_cpt("rain", {"no": [0.5, 0.5], "yes": {"yes": 0.25, "no": 0.75}})
    assert other.cpt("rain")["yes"] == {"no": 0.75, "yes": 0.25}
    assert net.cpt("rain")["yes"] == {"no": 0.2, "yes": 0.8}
    assert other.cpt("wet_grass").values.tolist() == net.cpt("wet_grass").values.tolist()
    assert other.states == net.states


def test_with_cpt_drops_the_posterior():
    net = jn.BayesianNetwork("a -> b", prior=1.0).fit({"a": [0, 1], "b": [1, 0]})
    with pytest.raises(jn.JensenError, match="point estimates only"):
        net.with_cpt("a", [0.1, 0.9]).posterior("a")


def test_with_cpt_refuses_what_is_no_table():
    net = jn.examples.load("sprinkler")
    with pytest.raises(jn.JensenError, match=r"^the network has no variable 'snow'; the variables"):
        net.with_cpt("snow", [0.5, 0.5])
    with pytest.raises(jn.JensenError, match="must have the shape"):
        net.with_cpt("rain", [0.5, 0.5])
    with pytest.raises(jn.JensenError, match=r"sums to 1\.5, not to 1"):
        net.with_cpt("cloudy", [0.5, 1.0])


def test_the_summary_of_given_tables():
    assert repr(jn.examples.load("sprinkler").summary()) == (
        "BayesianNetwork(4 nodes, 4 edges, 9 free parameters)\n"
        "tables given, not learned\n"
        "\n"
        "variable   states   parents          free parameters\n"
        "----------------------------------------------------\n"
        "cloudy     no, yes  -                              1\n"
        "rain       no, yes  cloudy                         2\n"
        "sprinkler  off, on  cloudy                         2\n"
        "wet_grass  no, yes  rain, sprinkler                4"
    )


def test_the_summary_says_how_tables_were_learned(sampled):
    rows = {"a": [0, 1, 1, None], "b": [1, 0, 0, 1]}
    em = jn.BayesianNetwork("a -> b", random_state=0).fit(rows)
    assert "log-likelihood -" in repr(em.summary())
    vb = jn.BayesianNetwork("a -> b", prior=1.0, n_init=3, random_state=0).fit(rows)
    assert "lower bound of the log evidence -" in repr(vb.summary())
    assert ", converged; the best of 3 starts" in repr(vb.summary())
    assert "2 chains of 50 samples; log joint: R-hat " in repr(sampled.summary())


def test_samples_of_a_table(sampled):
    samples = sampled.table_samples("wet_grass")
    assert samples.shape == (100, 2, 2, 2)
    np.testing.assert_allclose(samples.sum(-1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(samples.mean(0), sampled.cpt("wet_grass").values, rtol=1e-12)
    with pytest.raises(jn.JensenError, match=r"^this network has no samples: they come from"):
        jn.examples.load("sprinkler").table_samples("rain")


def test_arviz_has_every_table_by_chain_with_labels(sampled):
    found = sampled.to_arviz()
    rain = found.posterior["P(rain)"]
    assert rain.dims == ("chain", "draw", "cloudy", "rain")
    assert rain.coords["rain"].values.tolist() == ["no", "yes"]
    expected = sampled.table_samples("rain").reshape(2, 50, 2, 2)
    np.testing.assert_array_equal(rain.values, expected)
    np.testing.assert_array_equal(found.sample_stats["lp"].values, sampled.trace_)


def test_arviz_needs_samples():
    with pytest.raises(jn.JensenError, match=r"^this network has no samples: learn it with"):
        jn.examples.load("sprinkler").to_arviz()


def test_configurations_without_rows_are_named_by_the_states_of_their_parents():
    table = {"a": ["x", "x", "y"], "b": ["u", "v", "v"], "c": ["m", "n", "m"]}
    with pytest.warns(jn.EstimateWarning, match=r"about P\(c \| a=y, b=u\)\. Uniform"):
        net = jn.BayesianNetwork("a -> c; b -> c").fit(table)
    assert net.cpt("c").values[1, 0].tolist() == [0.5, 0.5]
