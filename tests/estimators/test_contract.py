"""scikit-learn's contract, and what an estimator says of itself."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import jensen as jn

TABLE = {"a": [0, 0, 1, 1, 1], "b": ["n", "y", "n", "y", "y"]}
CHOICES = {"graph": "a -> b", "prior": "bdeu", "equivalent_sample_size": 5.0, "method": "vbem"}
DEFAULTS = {
    "hidden": None,
    "method": None,
    "prior": None,
    "equivalent_sample_size": 1.0,
    "mode": "probabilities",
    "start": None,
    "fixed": (),
    "blocks": (),
    "n_init": 1,
    "max_iter": 1000,
    "tol": 1e-8,
    "accelerate": False,
    "n_samples": 1000,
    "burn_in": 1000,
    "thin": 1,
    "n_chains": 4,
    "random_state": None,
    "progress": False,
}


def test_choices_are_what_was_chosen():
    net = jn.BayesianNetwork(**CHOICES)
    assert net.get_params() == {**DEFAULTS, **CHOICES, "graph": jn.DAG("a -> b")}
    assert net.get_params(deep=False) == net.get_params()
    assert jn.BayesianNetwork("a").get_params() == {"graph": jn.DAG("a"), **DEFAULTS}


def test_fit_returns_the_estimator_itself():
    net = jn.BayesianNetwork("a -> b")
    assert net.fit(TABLE) is net


def test_choices_can_be_changed():
    net = jn.BayesianNetwork("a -> b")
    assert net.set_params(prior=1.0, graph="b -> a") is net
    assert net.graph == jn.DAG("b -> a")
    assert net.fit(TABLE).cpt("b")[()] == pytest.approx({"n": 3 / 7, "y": 4 / 7}, rel=1e-15)


def test_what_was_fitted_stays_until_the_next_fit():
    net = jn.BayesianNetwork("a -> b", prior=1.0).fit(TABLE)
    before = net.log_likelihood(TABLE)
    net.set_params(graph="b -> c", prior=None)
    np.testing.assert_array_equal(net.log_likelihood(TABLE), before)
    assert repr(net) == "BayesianNetwork(2 nodes, 1 edge, 3 free parameters)"
    assert net.sample(3, random_state=0).names == ("a", "b")


def test_an_unknown_choice_is_refused_with_the_known_ones():
    message = (
        "has no choice 'ess', only graph, hidden, method, prior, equivalent_sample_size, mode, "
        "start, fixed, blocks, n_i"
    )
    with pytest.raises(jn.JensenError, match=message):
        jn.BayesianNetwork("a").set_params(ess=3)
    with pytest.raises(TypeError):
        jn.BayesianNetwork("a", ess=3)
    with pytest.raises(TypeError):
        jn.BayesianNetwork("a", "bdeu")


def test_a_failed_fit_leaves_the_old_result():
    net = jn.BayesianNetwork("a -> b").fit(TABLE)
    with pytest.raises(jn.DataError):
        net.fit({"a": [0, 1]})
    assert net.cpt("a")[()] == {"0": 0.4, "1": 0.6}


def test_clone_copies_choices_and_nothing_else():
    prior = {"a": [2.0, 3.0], "b": np.ones((2, 2))}
    net = jn.BayesianNetwork("a -> b", prior=prior).fit(TABLE)
    copied = clone(net)
    assert copied.graph == net.graph
    assert copied.prior.keys() == prior.keys()
    assert copied.prior is not prior
    assert not hasattr(copied, "network_")
    assert copied.fit(TABLE).equals(net)


def test_cross_validation_finds_the_better_graph():
    frame = jn.examples.load("cancer").sample(2000, random_state=0).to_pandas()
    net = jn.BayesianNetwork("Cancer -> Xray", prior="bdeu")
    scores = cross_val_score(net, frame, cv=4)
    assert scores.shape == (4,)
    apart = jn.BayesianNetwork("Cancer; Xray", prior="bdeu")
    assert scores.mean() > cross_val_score(apart, frame, cv=4).mean()
    search = GridSearchCV(net, {"graph": ["Cancer; Xray", "Cancer -> Xray"]}, cv=4).fit(frame)
    assert search.best_params_ == {"graph": "Cancer -> Xray"}
    assert search.best_estimator_.graph == net.graph


def test_hidden_variables_and_missing_values_in_cross_validation():
    frame = jn.examples.load("cancer").sample(300, random_state=0).to_pandas()
    frame = frame[["Dyspnoea", "Smoker", "Xray"]].astype(object)
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2)
    net = jn.BayesianNetwork(
        "h -> Xray; h -> Dyspnoea; Smoker -> h", hidden={"h": 2}, prior=1.0, random_state=0
    )
    scores = cross_val_score(net, frame, cv=3)
    assert np.isfinite(scores).all()
    again = clone(net.fit(frame))
    assert again.get_params() == net.get_params()
    assert again.hidden is not net.hidden
    assert again.fit(frame).equals(net)


@pytest.mark.parametrize("method", ["vbem", "gibbs"])
def test_learned_with_gaps_can_be_copied_and_pickled(method):
    table = {"a": [0, None, 1, 1], "b": ["n", "y", None, "y"]}
    few = {"n_samples": 60, "burn_in": 20} if method == "gibbs" else {}
    net = jn.BayesianNetwork("a -> b", method=method, prior=1.0, random_state=0, **few).fit(table)
    for again in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert again.equals(net)
        assert again.trace_.tobytes() == net.trace_.tobytes()
        one, other = (n.query("a", given={"b": "y"}) for n in (net, again))
        assert [one[x] for x in "01"] == [other[x] for x in "01"]
        tables = (
            again.table_samples("a") if method == "gibbs" else again.posterior("a").concentration
        )
        for array in (tables, again.cpt("a").values, again.network_.tables):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.5


def test_estimators_can_be_copied_and_pickled():
    net = jn.BayesianNetwork("a -> b", prior=1.0).fit(TABLE)
    for again in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert again.equals(net)
        assert again.free_energy_ == net.free_energy_


def test_an_estimator_shows_itself():
    net = jn.BayesianNetwork("a -> b; c")
    assert repr(net) == "BayesianNetwork(3 nodes, 1 edge; not fitted)"
    net = jn.BayesianNetwork("a -> b").fit(TABLE)
    assert repr(net) == "BayesianNetwork(2 nodes, 1 edge, 3 free parameters)"
    one = jn.BayesianNetwork.from_tables("a", {"a": [0.5, 0.5]})
    assert repr(one) == "BayesianNetwork(1 node, 0 edges, 1 free parameter)"


@pytest.mark.parametrize(
    "use",
    [
        lambda net: net.cpt("a"),
        lambda net: net.posterior("a"),
        lambda net: net.states,
        lambda net: net.variables,
        lambda net: net.parameters_count,
        lambda net: net.log_likelihood(TABLE),
        lambda net: net.score(TABLE),
        lambda net: net.sample(3),
        lambda net: net.equals(net),
    ],
)
def test_results_before_fit_are_refused(use):
    with pytest.raises(jn.NotFittedError, match=r"no tables yet: call fit\(table\) first"):
        use(jn.BayesianNetwork("a -> b"))


def test_attributes_before_fit_are_absent_as_in_scikit_learn():
    net = jn.BayesianNetwork("a -> b")
    for name in ("network_", "free_energy_", "is_bound_", "trace_", "n_sweeps_", "converged_"):
        assert not hasattr(net, name)
        assert hasattr(jn.BayesianNetwork("a -> b").fit(TABLE), name)


def test_a_graph_in_any_form():
    for graph in ("a -> b", [("a", "b")], jn.DAG("a -> b"), "[a][b|a]"):
        assert jn.BayesianNetwork(graph).graph == jn.DAG("a -> b")
    extended = jn.BayesianNetwork(jn.CPDAG("a -- b")).fit(TABLE)
    assert extended.graph.cpdag() == jn.CPDAG("a -- b")


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [("a -> b -> c -> a", "a -> b -> c -> a"), ("a -> b; b -> a", "a -> b -> a")],
)
def test_a_cycle_is_spelled_out(graph, cycle):
    with pytest.raises(jn.GraphError, match=cycle):
        jn.BayesianNetwork(graph)


def test_what_is_known_of_a_network():
    net = jn.examples.load("cancer")
    assert net.states["Xray"] == ("negative", "positive")
    assert list(net.states) == list(net.graph.nodes) == [v.name for v in net.variables]
    assert net.parameters_count == 10
