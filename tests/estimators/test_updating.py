"""Rows that come in tables, one after the other: exact where nothing is missing, else told."""

import itertools

import numpy as np
import pytest
from test_lazy_rows import Source, with_holes

import jensen as jn
from jensen.exceptions import DataError, JensenError

GRAPH = "cloudy -> rain -> wet_grass; cloudy -> sprinkler -> wet_grass"


def rows(n=240, share=0.0, seed=0):
    return with_holes(jn.examples.load("sprinkler").sample(n, random_state=seed), share, seed)


def cut(table, *ends):
    ends = [0, *ends, table.n_rows]
    return [table.rows(a, b) for a, b in itertools.pairwise(ends)]


@pytest.mark.filterwarnings("ignore:.*never occurred:jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("ends", [(), (1,), (100,), (50, 51, 239)])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"prior": "bdeu"},
        {"prior": 2.0, "method": "em"},
        {"prior": "bdeu", "method": "em", "mode": "softmax"},
        {"prior": "k2", "method": "mean-field"},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_cut_of_complete_rows_gives_the_same_as_all_at_once(choices, ends, weighted):
    table = rows().with_weights(
        np.random.default_rng(0).uniform(0.5, 2.0, 240) if weighted else None
    )
    net = jn.BayesianNetwork(GRAPH, **choices)
    states = {v.name: v.states for v in table.variables}
    for part in cut(table, *ends):
        with_all_states = jn.Table(part.to_arrow(), states=states, weights=part.weights)
        net.update(with_all_states)
    whole = jn.BayesianNetwork(GRAPH, **choices).fit(table)
    assert net.equals(whole, 1e-12)
    assert net.free_energy_ == pytest.approx(whole.free_energy_, abs=1e-9)
    assert net.is_bound_ == whole.is_bound_
    assert net.n_updates_ == len(ends) + 1
    assert net.update_.startswith("exact")
    again = jn.BayesianNetwork.from_dict(net.to_dict())
    assert again.free_energy_ == net.free_energy_


def test_a_fit_is_the_first_update_and_scans_are_read():
    table = rows()
    one, other = cut(table, 150)
    net = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(one).update(Source(other).scan())
    assert net.equals(jn.BayesianNetwork(GRAPH, prior="bdeu").fit(table), 1e-12)
    again = net.fit(one)
    assert again.n_updates_ == 1
    assert again.equals(jn.BayesianNetwork(GRAPH, prior="bdeu").fit(one))


def test_labels_are_read_with_the_states_that_are_known():
    frame = rows(40).to_pandas().astype(str)
    net = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(frame)
    few = frame[frame["cloudy"] == "yes"].head(5)  # a column with one state
    for part in (few, Source(jn.Table(few)).scan()):
        again = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(frame).update(part)
        assert again.states == net.states
    strange = few.assign(cloudy="partly")
    with pytest.raises(DataError, match=r"labels that this model does not know .* 'partly'"):
        net.update(strange)
    with pytest.raises(JensenError, match="rain"):
        net.update(few.drop(columns="rain"))


@pytest.mark.parametrize("hidden", [None, {"cloudy": 2}])
def test_streaming_vb_is_a_fit_with_the_posterior_as_prior(hidden):
    """From where the first ended; states of what is hidden keep their numbers."""
    table = rows(200, 0.0 if hidden else 0.15)
    if hidden:
        table = table.select(["rain", "sprinkler", "wet_grass"])
    one, other = cut(table, 120)
    choices = {"hidden": hidden, "random_state": 0, "tol": 1e-12}
    net = jn.BayesianNetwork(GRAPH, prior=1.0, method="vbem", **choices).fit(one)
    first = net.network_
    posterior = {name: net.posterior(name).concentration for name in net.graph.nodes}
    start = jn.BayesianNetwork.from_network(first)
    twin = jn.BayesianNetwork(GRAPH, prior=posterior, method="vbem", start=start, **choices)
    twin.fit(other)
    net.update(other)
    assert net.equals(twin, 1e-9)
    assert net.update_.startswith("streaming variational Bayes")
    assert np.isnan(net.free_energy_)
    assert "2 updates; streaming variational Bayes: what earlier" in str(net.summary())
    assert not net.is_bound_
    assert jn.BayesianNetwork.from_dict(net.to_dict()).equals(net)
    whole = jn.BayesianNetwork(GRAPH, prior=1.0, method="vbem", **choices).fit(table)
    if not hidden:
        assert net.equals(whole, 8.0)  # concentrations: a few rows of 200 stand elsewhere
        assert np.abs(net.network_.probabilities - whole.network_.probabilities).max() < 0.05


def test_streaming_em_keeps_expected_counts():
    table = rows(200, 0.15)
    one, other = cut(table, 120)
    net = jn.BayesianNetwork(GRAPH, tol=1e-12).fit(one)
    before = net.expected_counts(one, [["cloudy"]])[0]
    net.update(other)
    after = before + net.expected_counts(other, [["cloudy"]])[0]
    np.testing.assert_allclose(net.cpt("cloudy").values, after / after.sum(), atol=1e-6)
    assert net.update_.startswith("streaming EM")
    assert np.isnan(net.free_energy_)


def test_a_stochastic_step_is_what_its_formula_says():
    table = rows(100)
    net = jn.BayesianNetwork("cloudy -> rain", prior=1.0, method="vbem").fit(table.rows(0, 40))
    old = net.posterior("cloudy").concentration
    counts = net.expected_counts(table.rows(40, 100), [["cloudy"]])[0]
    net.update(table.rows(40, 100), n_total=6000, step=0.25)
    expected = 0.75 * old + 0.25 * (1.0 + 100.0 * counts)
    np.testing.assert_allclose(net.posterior("cloudy").concentration, expected)
    assert net.update_.startswith("stochastic variational Bayes: a step of 0.25 towards")
    assert not net.is_bound_
    net.update(table, n_total=6000)
    assert f"{3.0**-0.7:.3g}" in net.update_


def test_stochastic_vb_comes_to_what_all_rows_give():
    table = rows(3000, 0.1)
    choices = {"prior": 1.0, "method": "vbem", "random_state": 0}
    net, rng = jn.BayesianNetwork(GRAPH, **choices), np.random.default_rng(0)
    for _ in range(60):
        net.update(table.take(rng.choice(3000, 200, replace=False)), n_total=3000)
    whole = jn.BayesianNetwork(GRAPH, **choices).fit(table)
    for name in ("cloudy", "rain", "sprinkler"):
        apart = net.posterior(name).concentration / whole.posterior(name).concentration
        np.testing.assert_allclose(apart, 1.0, atol=0.15)


def test_a_loaded_posterior_goes_on_and_counts_without_one_do_not(tmp_path):
    table = rows()
    one, other = cut(table, 150)
    for prior in ("bdeu", None):
        jn.BayesianNetwork(GRAPH, prior=prior).fit(one).save(tmp_path / f"{prior}.json")
    net = jn.load(tmp_path / "bdeu.json").update(other)
    assert net.equals(jn.BayesianNetwork(GRAPH, prior="bdeu").fit(table), 1e-12)
    assert np.isnan(net.free_energy_)  # whether rows before missed anything is not in the file
    with pytest.raises(JensenError, match="not of how many rows they are: files hold counts only"):
        jn.load(tmp_path / "None.json").update(other)


@pytest.mark.parametrize(
    ("choices", "said", "text"),
    [
        ({"prior": 1.0, "method": "gibbs"}, {}, "'gibbs' keeps no sums .* method='em' or 'vbem'"),
        ({"prior": 1.0}, {"step": 0.1}, "step belongs to stochastic updates: say n_total"),
        ({"prior": 1.0}, {"n_total": -1}, "n_total must be a number above 0"),
        ({"prior": 1.0}, {"n_total": 10, "step": 1.5}, "step must be a number .* at most 1"),
        ({}, {"n_total": 10}, "move a posterior, and method='em' has none"),
        ({"prior": 1.0}, {"n_total": 3}, "n_total=3 is less than the rows of this table, 240"),
        (
            {"start": jn.examples.load("sprinkler"), "fixed": ["rain"]},
            {},
            "does not know tables that are held",
        ),
    ],
)
def test_what_cannot_be_updated_is_refused(choices, said, text):
    with pytest.raises(JensenError, match=text):
        jn.BayesianNetwork(GRAPH, **choices).update(rows(), **said)


def test_networks_with_numbers_are_refused():
    rng = np.random.default_rng(0)
    net = jn.BayesianNetwork("x -> y").fit({"x": rng.normal(size=50), "y": rng.normal(size=50)})
    with pytest.raises(JensenError, match="update knows networks of labels"):
        net.update({"x": rng.normal(size=50), "y": rng.normal(size=50)})
