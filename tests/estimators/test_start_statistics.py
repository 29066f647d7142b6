"""Starts from statistics: what a network of another graph expects is where the next one begins."""

import numpy as np
import pytest
from inference import cases
from inference.cases import holes

import jensen as jn
from jensen.inference import Network
from jensen.inference.expected import expected
from jensen.scores.row_statistics import RowStatistics

OLD, NEW = "H -> a; H -> b; b -> c", "H -> a; a -> b; H -> c; b -> c"
QUICK = {"tol": 1e-12, "max_iter": 4}
pytestmark = pytest.mark.filterwarnings("ignore:F was still rising")


def truth():
    rng = np.random.default_rng(0)
    graph = jn.DAG(OLD)
    cards = {"H": 2, "a": 3, "b": 2, "c": 3}
    tables = {
        x: rng.dirichlet(np.ones(cards[x]), [cards[p] for p in graph.parents(x)])
        for x in graph.nodes
    }
    states = {x: [f"{x}{k}" for k in range(n)] for x, n in cards.items()}
    return jn.BayesianNetwork.from_tables(graph, tables, states)


def rows(net, n=80):
    columns = holes(net, n, 1, share=0.25, columns=["a", "b", "c"])
    return jn.Table(columns, states={x: net.states[x] for x in columns})


def learn(graph, table, net, **choices):
    hidden = {"H": list(net.states["H"])}
    return jn.BayesianNetwork(graph, hidden=hidden, **QUICK, **choices).fit(table)


def normalised(counts):
    return counts / counts.sum(-1, keepdims=True)


def test_the_same_graph_goes_one_sweep_ahead():
    """EM: the tables that the statistics say are those of the first sweep."""
    net = truth()
    table = rows(net)
    from_tables = learn(OLD, table, net, start=net)
    ahead = learn(OLD, table, net, start=expected(net.network_, table))
    np.testing.assert_allclose(ahead.trace_[:-1], from_tables.trace_[1:], rtol=1e-11)


def test_another_graph_begins_with_the_expected_tables():
    net = truth()
    table = rows(net)
    statistics = expected(net.network_, table)
    graph = jn.DAG(NEW)
    families = [[*graph.parents(x), x] for x in graph.nodes]
    found = dict(zip(graph.nodes, map(normalised, statistics.tables(families)), strict=True))
    by_hand = learn(NEW, table, net, start=found)
    began = learn(NEW, table, net, start=statistics)
    np.testing.assert_allclose(began.trace_, by_hand.trace_, rtol=1e-11)


def test_a_posterior_begins_with_prior_plus_statistics():
    net = truth()
    table = rows(net)
    statistics = expected(net.network_, table)
    graph = jn.DAG(NEW)
    tables = statistics.tables([[*graph.parents(x), x] for x in graph.nodes])
    alpha = np.concatenate([x.ravel() + 0.7 for x in tables])
    given = Network(graph, net.network_.variables, alpha.copy(), alpha)
    by_hand = learn(NEW, table, net, start=given, method="vbem", prior=0.7)
    began = learn(NEW, table, net, start=statistics, method="vbem", prior=0.7)
    np.testing.assert_allclose(began.trace_, by_hand.trace_, rtol=1e-11)


def test_what_is_counted_can_be_a_start():
    net = cases.random_net(3, "positive", n=4, configurations=200)
    table = jn.Table(holes(net, 60, 1, share=0.1), states=net.states)
    began = jn.BayesianNetwork(
        net.graph, prior=2.0, method="em", start=RowStatistics(table), **QUICK
    )
    assert np.all(np.diff(began.fit(table).trace_) >= -1e-9)


def test_statistics_of_other_variables_are_refused():
    net = truth()
    table = rows(net)
    other = jn.examples.load("asia")
    statistics = expected(other.network_, other.sample(5, random_state=0))
    text = r"^start= must have the variables and the states of the network to learn, and has other"
    with pytest.raises(jn.JensenError, match=text):
        learn(NEW, table, net, start=statistics)


# --- numbers ---


def numbers():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 3)) @ np.array([[1.0, 0.8, 0.3], [0.0, 0.7, -0.5], [0.0, 0.0, 0.4]])
    x += [10.0, -3.0, 100.0]
    table = jn.Table(dict(zip("abc", x.T, strict=True)))
    x[rng.random(x.shape) < 0.2] = np.nan
    return table, jn.Table(dict(zip("abc", x.T, strict=True)))


def test_regressions_of_the_same_graph_go_one_sweep_ahead():
    complete, table = numbers()
    old = jn.BayesianNetwork("a -> b -> c").fit(complete)
    choices = {"method": "em", **QUICK}
    from_network = jn.BayesianNetwork(old.graph, start=old, **choices).fit(table)
    # statistics of the network itself, so that the start is that network
    statistics = expected(old.gaussian, table)
    ahead = jn.BayesianNetwork(old.graph, start=statistics, **choices).fit(table)
    np.testing.assert_allclose(ahead.trace_[:-1], from_network.trace_[1:], rtol=1e-10)


@pytest.mark.parametrize("method", ["em", "vbem"])
def test_regressions_of_another_graph(method):
    """The start is the best network of the new graph for the expected moments."""
    complete, table = numbers()
    old = jn.BayesianNetwork("a -> b -> c").fit(complete)
    statistics = expected(old.gaussian, table)
    began = jn.BayesianNetwork("c -> a; b -> a", method=method, start=statistics, **QUICK)
    began.fit(table)
    assert np.all(np.diff(began.trace_) >= -1e-9 * np.abs(began.trace_[1:]))
    if method == "em":
        here, (weight, mean, scatter) = statistics.coordinates, statistics.moments()
        mean, covariance = here.origin + here.unit * mean, scatter / weight
        covariance = covariance * here.unit * here.unit[:, None]
        slopes = np.linalg.solve(covariance[1:, 1:], covariance[1:, 0])
        by_hand = {
            "a": {
                "intercept": mean[0] - slopes @ mean[1:],
                "coefficients": dict(zip("bc", slopes, strict=True)),
                "variance": covariance[0, 0] - slopes @ covariance[1:, 0],
            },
            "b": {"intercept": mean[1], "variance": covariance[1, 1]},
            "c": {"intercept": mean[2], "variance": covariance[2, 2]},
        }
        net = jn.BayesianNetwork.from_regressions("c -> a; b -> a", by_hand)
        same = jn.BayesianNetwork(net.graph, method=method, start=net, **QUICK).fit(table)
        np.testing.assert_allclose(began.trace_, same.trace_, rtol=1e-10)


def test_statistics_of_other_numbers_are_refused():
    complete, table = numbers()
    small = jn.BayesianNetwork("a -> b").fit(complete.select(["a", "b"]))
    statistics = expected(small.gaussian, table.select(["a", "b"]))
    text = r"^start= must have the variables of the network to learn, and lacks 'c'$"
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork("a -> b -> c", start=statistics).fit(table)
