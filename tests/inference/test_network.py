"""Frozen networks: what they are equal to, how large they are."""

import numpy as np
import pytest

import jensen as jn
from jensen.inference import Network

build = jn.BayesianNetwork.from_tables


def test_equality_is_of_graph_states_and_tables():
    net = build("a -> b", {"a": [0.5, 0.5], "b": [[0.1, 0.9], [0.2, 0.8]]})
    tables = {"a": [0.5, 0.5], "b": [[0.1, 0.9], [0.2, 0.8]]}
    assert net.equals(build("a -> b", tables))
    assert not net.equals(build("b -> a", {"b": [0.5, 0.5], "a": tables["b"]}))
    assert not net.equals(build("a -> b", tables, {"a": ["x", "y"]}))
    assert not net.equals(build("a -> b", {**tables, "a": [0.5, 0.5 + 2**-52]}))


def test_equality_within_a_tolerance():
    net = build("a", {"a": [0.5, 0.5]})
    near = build("a", {"a": [0.5 + 1e-6, 0.5 - 1e-6]})
    assert not net.equals(near)
    assert not net.equals(near, tolerance=0.9e-6)
    assert net.equals(near, tolerance=1.1e-6)
    assert near.equals(net, tolerance=1.1e-6)


def test_equality_is_of_posteriors_too():
    table = {"a": [0, 1, 1]}
    bayes = jn.BayesianNetwork("a", prior=1.0).fit(table)
    point = build("a", {"a": bayes.cpt("a").values})
    more = jn.BayesianNetwork("a", prior=2.0).fit({"a": [0, 0, 1, 1, 1, 1]})
    np.testing.assert_array_equal(bayes.cpt("a").values, more.cpt("a").values)
    assert not bayes.equals(point)
    assert not bayes.equals(more)
    assert bayes.equals(more, tolerance=3.1)


def test_free_parameters_are_counted():
    assert jn.examples.load("asia").parameters_count == 18
    assert jn.examples.load("cancer").parameters_count == 10
    assert build("a -> b", {"a": [1.0], "b": [[0.2, 0.3, 0.5]]}).parameters_count == 2
    assert build([], {}).parameters_count == 0


def test_tables_are_normalised_in_use_and_kept_as_written():
    net = build("a", {"a": [0.50004, 0.5]})
    assert net.network_.tables.tolist() == [0.50004, 0.5]
    np.testing.assert_allclose(net.network_.probabilities.sum(), 1.0, rtol=1e-15)


def test_a_network_is_frozen():
    network = jn.examples.load("asia").network_
    assert isinstance(network, Network)
    with pytest.raises(AttributeError):
        network.tables = None


def test_parents_are_variables_in_the_order_of_the_axes():
    network = jn.examples.load("asia").network_
    assert [v.name for v in network.parents("dysp")] == ["bronc", "either"]
    with pytest.raises(jn.JensenError, match="the network has no variable 'cough'"):
        network.parents("cough")
