"""Networks as pgmpy's and pyAgrum's objects: the same probabilities there and back."""

import numpy as np
import pytest
from naive import joint
from naive.networks import by_name

import jensen as jn
from jensen.io import peers

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:pgmpy", "ignore::DeprecationWarning")


def assert_same(found, wanted):
    """Equal as used: published tables that miss one by 1e-7 travel normalised."""
    assert found.graph == wanted.graph
    assert found.states == wanted.states
    np.testing.assert_allclose(
        found.network_.probabilities, wanted.network_.probabilities, rtol=1e-14, atol=0.0
    )


@pytest.mark.parametrize("name", jn.examples.list())
def test_there_and_back_through_pgmpy(name):
    net = jn.examples.load(name)
    model = net.to_pgmpy()
    assert model.check_model()
    assert_same(jn.BayesianNetwork.from_pgmpy(model), net)


@pytest.mark.parametrize("name", jn.examples.list())
def test_there_and_back_through_pyagrum(name):
    net = jn.examples.load(name)
    assert_same(jn.BayesianNetwork.from_pyagrum(net.to_pyagrum()), net)


def test_axes_keep_their_meaning():
    """Three parents with different numbers of states: a swapped axis cannot go unnoticed."""
    rng = np.random.default_rng(0)
    graph = jn.DAG("c -> x; a -> x; b -> x")
    tables = {"a": [0.3, 0.7], "b": rng.dirichlet(np.ones(3)), "c": rng.dirichlet(np.ones(4))}
    tables["x"] = rng.dirichlet(np.ones(5), size=(2, 3, 4))
    net = jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph))
    import pgmpy.inference
    import pyagrum as gum

    ours = joint.query(joint.of(net), "x", {"a": "1", "c": "3"})
    inference = gum.LazyPropagation(net.to_pyagrum())
    inference.setEvidence({"a": "1", "c": "3"})
    np.testing.assert_allclose(inference.posterior("x")[:], list(ours.values()), rtol=1e-12)
    theirs = pgmpy.inference.VariableElimination(net.to_pgmpy()).query(
        ["x"], evidence={"a": "1", "c": "3"}, show_progress=False
    )
    np.testing.assert_allclose(theirs.values, list(ours.values()), rtol=1e-12)


def test_a_pgmpy_model_without_tables_is_refused():
    from pgmpy.models import DiscreteBayesianNetwork

    with pytest.raises(jn.JensenError, match="the pgmpy model has no table of 'a': fit it, or add"):
        jn.BayesianNetwork.from_pgmpy(DiscreteBayesianNetwork([("a", "b")]))


def test_a_peer_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyagrum", None)
    with pytest.raises(jn.JensenError, match="this needs pyagrum: pip install pyagrum"):
        peers.to_pyagrum(jn.examples.load("asia").network_)


def test_states_of_parents_may_stand_in_any_order_in_pgmpy():
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    def model(states):
        built = DiscreteBayesianNetwork([("a", "b")])
        names = {"b": ["s", "t"], "a": states}
        built.add_cpds(
            TabularCPD("a", 2, [[0.2], [0.8]], state_names={"a": ["u", "v"]}),
            TabularCPD("b", 2, [[0.2, 0.3], [0.8, 0.7]], ["a"], [2], state_names=names),
        )
        return built

    net = jn.BayesianNetwork.from_pgmpy(model(["v", "u"]))
    assert net.cpt("b")["v"] == {"s": 0.2, "t": 0.8}
    assert net.cpt("b")["u"] == {"s": 0.3, "t": 0.7}
    with pytest.raises(jn.JensenError, match=r"the table of 'b' gives 'a' the states \['Q', 'R'\]"):
        jn.BayesianNetwork.from_pgmpy(model(["Q", "R"]))


def test_what_is_no_network_of_a_peer_is_refused():
    with pytest.raises(jn.JensenError, match="a int is no network of pgmpy"):
        jn.BayesianNetwork.from_pgmpy(3)
    with pytest.raises(jn.JensenError, match="a str is no network of pyAgrum"):
        jn.BayesianNetwork.from_pyagrum("x")


@pytest.mark.parametrize("name", jn.examples.list())
def test_pyagrum_reads_our_bif_of_every_example(name, tmp_path):
    import pyagrum as gum

    net = jn.examples.load(name)
    net.save(tmp_path / "net.bif")
    found = jn.BayesianNetwork.from_pyagrum(gum.loadBN(str(tmp_path / "net.bif")))
    np.testing.assert_allclose(found.network_.probabilities, net.network_.probabilities, atol=1e-6)
