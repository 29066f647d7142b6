"""`BayesianNetwork(graph=None)`: graph and tables in one call."""

import numpy as np
import pytest
from sklearn.base import clone

import jensen as jn
from jensen.q_graph.info import StructuralInfo


def chain(n=200, rate=0.2, seed=0):
    """A - b - c, each the one before with 10 % flipped; some values are missing."""
    rng = np.random.default_rng(seed)
    columns, last = {}, rng.random(n) < 0.5
    for name in "abc":
        columns[name] = np.where(rng.random(n) < rate, None, np.where(last, "y", "n"))
        last = last ^ (rng.random(n) < 0.1)
    return columns


def numbers(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {"x": x, "y": x + 0.5 * rng.normal(size=n), "z": rng.normal(size=n)}


@pytest.mark.parametrize(
    ("choices", "score"),
    [
        ({}, {"score": "bic"}),
        ({"prior": "bdeu"}, {"score": "bdeu"}),
        (
            {"prior": "bdeu", "equivalent_sample_size": 4.0},
            {"score": "bdeu", "equivalent_sample_size": 4.0},
        ),
        ({"method": "vbem"}, {"score": "bdeu"}),
        ({"prior": "k2"}, {"score": "k2"}),
        ({"prior": 1.0}, {"score": "k2"}),
        ({"prior": 0.5}, {"score": "bic"}),
        ({"prior": {"a": 1.0, "b": 1.0, "c": 1.0}}, {"score": "bic"}),
    ],
)
@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_the_score_fits_the_prior(choices, score, rate):
    table = chain(rate=rate)
    net = jn.BayesianNetwork(random_state=0, **choices).fit(table)
    expected = jn.learn_structure(table, random_state=0, **score)
    assert net.graph == expected
    assert net.graph is net.graph_
    assert net.graph.info.score == expected.info.score
    assert net.graph.info.score_name == score["score"]
    assert isinstance(net.graph.info, StructuralInfo) == (rate > 0.0)


@pytest.mark.parametrize(
    ("choices", "score"),
    [
        ({}, {"score": "bic"}),
        ({"method": "vbem"}, {"score": "bge"}),
        ({"prior": "bge"}, {"score": "bge"}),
        ({"prior": {"mean_strength": 3.0}}, {"score": "bge", "mean_strength": 3.0}),
    ],
)
def test_the_graph_of_numbers(choices, score):
    net = jn.BayesianNetwork(**choices).fit(numbers())
    expected = jn.learn_structure(numbers(), **score)
    assert net.graph == expected
    assert net.graph.info.score == expected.info.score
    assert net.regression("x").name == "x"


def test_parameters_are_as_good_as_those_that_the_search_ended_with():
    table = chain()
    flat = jn.BayesianNetwork(random_state=0).fit(table)
    penalty = 0.5 * np.log(200) * flat.parameters_count
    assert flat.free_energy_ - penalty == pytest.approx(flat.graph.info.score, abs=1e-4)
    bound = jn.BayesianNetwork(prior="bdeu", random_state=0).fit(table)
    # the search needs all missing cells in h, a fit only those with a descendant that was seen
    assert 0.0 < bound.free_energy_ - bound.graph.info.score < 1.0


def test_hidden_variables_are_in_the_graph():
    rng = np.random.default_rng(1)
    kind = rng.random(300) < 0.4
    rows = {x: np.where(rng.random(300) < np.where(kind, 0.95, 0.1), "y", "n") for x in "abcd"}
    net = jn.BayesianNetwork(hidden={"kind": 2}, prior="bdeu", random_state=0).fit(rows)
    assert net.graph.nodes == ("a", "b", "c", "d", "kind")
    assert any("kind" in edge for edge in net.graph.edges)
    assert net.free_energy_ == pytest.approx(net.graph.info.score, abs=1e-3)
    more = jn.BayesianNetwork(hidden={"kind": 2}, prior="bdeu", random_state=0, n_init=3).fit(rows)
    assert len(more.starts_) == 3


def test_the_contract_of_scikit_learn():
    net = jn.BayesianNetwork(prior="bdeu", random_state=0)
    assert net.get_params()["graph"] is None
    assert clone(net).get_params() == net.get_params()
    net.fit(chain())
    assert net.get_params()["graph"] is None  # a copy learns its own graph
    again = clone(net).fit(chain(seed=5, n=40, rate=0.5))
    assert again.graph.info.score != net.graph.info.score
    net.set_params(graph="a -> b; c")
    assert net.fit(chain()).graph == jn.DAG("a -> b; c")
    assert net.graph_ == jn.DAG("a -> b; c")
    net.set_params(graph=None)
    assert len(net.fit(chain()).graph.edges) == 2


def test_an_estimator_without_a_graph_says_so():
    net = jn.BayesianNetwork()
    assert repr(net) == "BayesianNetwork(graph to be learned; not fitted)"
    assert net._repr_html_() is None
    with pytest.raises(jn.NotFittedError, match=r"^this network has no graph yet: fit"):
        print(net.graph)
    with pytest.raises(jn.NotFittedError, match=r"^this network has no graph yet"):
        net.to_svg()
    with pytest.raises(jn.NotFittedError, match="call fit"):
        net.summary()


def test_saved_loaded_and_told(tmp_path):
    net = jn.BayesianNetwork(random_state=0).fit(chain())
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.equals(net)
    assert again.graph == net.graph
    assert repr(again) == repr(net) == "BayesianNetwork(3 nodes, 2 edges, 5 free parameters)"
    assert str(net.summary()).splitlines()[0] == repr(net)
    assert net._repr_html_()
    assert net.query("a", given={"c": "y"})["y"] > 0.7


def test_interventions_and_weights():
    table = chain(rate=0.1)
    table["set"] = np.where(np.arange(200) % 4 == 0, "b", None)
    table["b"] = np.where((table["set"] == "b") & (table["b"] == None), "y", table["b"])  # noqa: E711
    net = jn.BayesianNetwork(random_state=0).fit(table, interventions="set")
    expected = jn.learn_structure(table, score="bic", interventions="set", random_state=0)
    assert net.graph == expected
    assert "set" not in net.graph
    rows = jn.Table(chain(), weights=np.arange(200) % 3)
    assert jn.BayesianNetwork(random_state=0).fit(rows).graph.nodes == ("a", "b", "c")


def test_a_start_needs_a_graph():
    start = jn.BayesianNetwork("a -> b; b -> c", random_state=0).fit(chain())
    with pytest.raises(jn.JensenError, match=r"^start= are the parameters of a known graph, and"):
        jn.BayesianNetwork(start=start).fit(chain())


def test_choices_are_checked_before_the_graph_is_learned():
    with pytest.raises(jn.JensenError, match=r"^there is no prior 'bdeux'"):
        jn.BayesianNetwork(prior="bdeux").fit(chain())
    with pytest.raises(jn.JensenError, match=r"^there is no method 'emm'"):
        jn.BayesianNetwork(method="emm").fit(chain())


def test_bds_needs_complete_rows():
    assert jn.BayesianNetwork(prior="bds").fit(chain(rate=0.0)).graph.info.score_name == "bds"
    with pytest.raises(jn.JensenError, match=r"^prior='bds' depends on which configurations occ"):
        jn.BayesianNetwork(prior="bds").fit(chain())


def test_constant_columns_are_told_once():
    table = numbers() | {"one": np.full(60, 1.5)}
    with pytest.warns(jn.DataWarning, match="left out of the score and of the network") as told:
        net = jn.BayesianNetwork().fit(table)
    assert len(told) == 1
    assert net.graph.nodes == ("one", "x", "y", "z")
    with pytest.warns(jn.DataWarning, match=r"column 'same' .* holds one label only") as told:
        jn.BayesianNetwork(prior="bdeu", random_state=0).fit(chain() | {"same": ["u"] * 200})
    assert len(told) == 1
