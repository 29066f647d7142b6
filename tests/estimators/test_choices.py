"""Every choice that is refused, and the words that say why."""

import math
import re
from types import MappingProxyType

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import ImpossibleError
from jensen.free_energy import ALGORITHMS
from jensen.support.text import called_here, some

TABLE = {"a": ["x", "y", None, "x"], "b": [0, 1, 0, None], "e": [None, None, None, None]}


def refuse(message, table=TABLE, graph="a -> b", error=jn.JensenError, **choices):
    net = jn.BayesianNetwork(graph, **choices)
    with pytest.raises(error) as caught:
        net.fit(table)
    assert str(caught.value) == message
    assert not hasattr(net, "network_")


# --- hidden variables ---


def test_a_node_without_a_column():
    refuse(
        "the node 'h' has no column: rename one of a, b, e, or declare it hidden with its number "
        "of states, hidden={'h': 2}",
        graph="h -> a",
        error=jn.DataError,
    )


@pytest.mark.parametrize("hidden", [{}, {"a": 2}])
def test_a_table_without_columns(hidden):
    refuse(
        "there is nothing to learn from: the table has no columns",
        table={},
        hidden=hidden,
        error=jn.DataError,
    )


def test_a_column_without_values_and_without_declared_states():
    refuse(
        "column 'e' has no value and no declared states: leave it out of the graph, declare "
        "states={'e': [...]}, or learn it as hidden={'e': 2}",
        graph="e -> a",
        error=jn.DataError,
    )
    net = jn.BayesianNetwork("e -> a", hidden={"e": 2}, random_state=0).fit(TABLE)
    assert net.states["e"] == ("0", "1")


def test_a_hidden_variable_that_is_no_node():
    refuse("hidden={'h': ...}: the graph has no node 'h'; the nodes are: a, b", hidden={"h": 2})


def test_a_hidden_variable_with_values():
    refuse(
        "'a' is declared hidden, but its column has values: leave it out of hidden, or leave the "
        "column out",
        hidden={"a": 2},
        error=jn.DataError,
    )


@pytest.mark.parametrize(
    ("states", "n"), [(1, 1), (["only"], 1), (0, 0), (-3, -3), ([], 0), (np.int64(-1), -1)]
)
def test_a_hidden_variable_with_less_than_two_states(states, n):
    refuse(
        f"the hidden variable 'h' needs two states at least, not {n}: with one state it says "
        f"nothing, so leave it out of the graph",
        graph="h -> a",
        hidden={"h": states},
    )


@pytest.mark.parametrize("states", ["two", 2.0, None, {"u", "v"}, True, False])
def test_states_that_are_neither_a_number_nor_labels(states):
    refuse(
        f"hidden={{'h': {states!r}}}: give its number of states, or their labels",
        graph="h -> a",
        hidden={"h": states},
    )


def test_labels_of_a_hidden_variable_stand_once():
    refuse(
        "the states of 'h' repeat 'u': every label stands once",
        graph="h -> a",
        hidden={"h": ["u", "u"]},
    )


@pytest.mark.parametrize("hidden", [["h"], "h", 3])
def test_hidden_is_a_dict(hidden):
    refuse(
        f"hidden must be a dict from node to its number of states, not {hidden!r}",
        graph="h -> a",
        hidden=hidden,
    )


@pytest.mark.parametrize("states", [3, np.int64(3), ["u", "v", "w"], ("u", "v", "w")])
def test_states_in_every_form(states):
    net = jn.BayesianNetwork("h -> a", hidden={"h": states}, random_state=0, tol=1e-3).fit(TABLE)
    assert len(net.states["h"]) == 3
    assert net.states["h"] in (("0", "1", "2"), ("u", "v", "w"))


def test_nothing_but_hidden_variables():
    refuse(
        "there is nothing to learn from: no node of the graph has values",
        graph="h -> g",
        hidden={"h": 2, "g": 2},
        error=jn.DataError,
    )


# --- priors that do not suit the method ---


@pytest.mark.filterwarnings("ignore:the chains disagree:jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("method", ["vbem", "me", "gibbs"])
def test_posteriors_have_bdeu_where_no_prior_was_chosen(method):
    few = {"n_samples": 20, "burn_in": 2} if method == "gibbs" else {}
    nets = [
        jn.BayesianNetwork("a -> b", method=method, prior=prior, random_state=0, **few, **size)
        for prior, size in (
            (None, {}),
            ("bdeu", {}),
            (None, {"equivalent_sample_size": 9.0}),
            ("bdeu", {"equivalent_sample_size": 9.0}),
        )
    ]
    found = [net.fit(TABLE).network_.tables for net in nets]
    assert found[0].tobytes() == found[1].tobytes() != found[2].tobytes() == found[3].tobytes()


@pytest.mark.parametrize("method", ["em", "viterbi", "stochastic-em"])
def test_modes_need_a_prior_with_a_mode(method):
    refuse(
        f"{method} needs a prior with a mode, but the prior of the tables has none: its "
        f"concentrations begin at 0.5, and must be at least 1. Raise the prior, or use "
        f"method='vbem', which needs no mode, or mode='softmax', where every prior has one",
        method=method,
        prior={"a": 0.5, "b": 2.0},
    )
    refuse(
        f"{method} would not feel a prior of the tables with all concentrations 1: it is flat. Use "
        f"prior=None for the frequencies, or method='vbem', which does feel it",
        method=method,
        prior="k2",
    )


def test_bds_with_missing_values():
    refuse(
        "prior='bds' depends on which parent configurations occur, and with missing values nobody "
        "knows: use prior='bdeu'",
        prior="bds",
    )


# --- weights ---


@pytest.mark.parametrize("method", ["gibbs", "stochastic-em"])
def test_draws_need_whole_weights(method):
    refuse(
        f"'{method}' draws what is missing row by row, so weights must be whole numbers: use "
        f"method='em' or 'vbem'",
        table=jn.Table(TABLE, weights=[1.0, 1.0, 0.5, 2.0]),
        method=method,
        prior=2.0,
        error=jn.DataError,
    )


# --- options that are no numbers, or would be ignored ---


@pytest.mark.parametrize("method", ["em", "gibbs"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "many", None, True, math.nan])
@pytest.mark.parametrize("name", ["n_init", "n_samples", "thin", "n_chains"])
def test_numbers_of_one_or_more(name, value, method):
    message = f"{name} must be a whole number, 1 or more, not {value!r}"
    refuse(message, method=method, prior=2.0, **{name: value})


@pytest.mark.parametrize("value", [-1, 2.5, "many", None, False])
@pytest.mark.parametrize("name", ["max_iter", "burn_in"])
def test_numbers_of_zero_or_more(name, value):
    refuse(f"{name} must be a whole number, 0 or more, not {value!r}", **{name: value})


@pytest.mark.parametrize("tol", [-1e-9, math.nan, "small", None, True])
def test_tolerances(tol):
    refuse(f"tol must be a number, 0 or more, not {tol!r}", tol=tol)


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
@pytest.mark.parametrize("name", ["n_samples", "burn_in", "thin", "n_chains"])
def test_an_ascent_takes_no_samples(name, method):
    refuse(
        f"{name} belongs to methods such as 'gibbs', and would be ignored by '{method}'",
        method=method,
        prior=2.0,
        **{name: 7},
    )


@pytest.mark.parametrize("method", ["gibbs", "stochastic-em"])
@pytest.mark.parametrize("choice", [{"n_init": 2}, {"max_iter": 9}, {"tol": 0.1}])
def test_a_chain_does_not_converge(choice, method):
    (name,) = choice
    refuse(
        f"{name} belongs to methods such as 'em', and would be ignored by '{method}'",
        method=method,
        prior=2.0,
        **choice,
    )


@pytest.mark.parametrize("method", ["EM", "", "em ", "variational", b"em", 0])
def test_methods_that_are_none(method):
    known = list(ALGORITHMS)
    refuse(
        f"there is no method {method!r}: choose one of {some(known)}{called_here(method, known)}",
        method=method,
    )


# --- starts ---

START = {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.5, 0.5]]}


def test_many_starts_at_one_place():
    refuse("n_init=3 starts would all begin at start=: leave out one", n_init=3, start=START)


@pytest.mark.parametrize("start", [3, "tables", [0.5, 0.5]])
def test_starts_that_are_none(start):
    refuse(
        f"start must be a network, a fitted estimator or a dict of tables, not {start!r}",
        start=start,
    )


def test_a_start_of_another_network():
    message = "start= must have the graph and the states of the network to learn"
    refuse(message, start=jn.BayesianNetwork.from_tables("b -> a", {"b": [1, 0], "a": np.eye(2)}))
    refuse(message, start=jn.BayesianNetwork.from_tables("a -> b", START))  # states 0, 1: not x, y
    refuse("there is no table of 'b': every node needs one", start={"a": [0.5, 0.5]})
    unfitted = jn.BayesianNetwork("a -> b")
    refuse("this network has no tables yet: call fit(table) first", start=unfitted)


METHODS = [("em", None), ("viterbi", None), ("vbem", 1.0), ("me", 1.0), ("stochastic-em", None),
           ("gibbs", 1.0)]  # fmt: skip


@pytest.mark.parametrize(("method", "prior"), METHODS)
def test_a_row_that_is_impossible_under_the_start(method, prior):
    """The row is named, and only what contradicts in it."""
    table = {"a": ["x", "x", None, "y"], "b": [0, 0, 1, 0], "c": [0, 1, 0, 1]}
    start = {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.5, 0.5]], "c": np.full((2, 2), 0.5)}
    jn.BayesianNetwork("a -> b -> c", start=start).fit(table)
    table = {"a": ["x", "x", None, "x"], "b": [0, 0, 1, 1], "c": [0, None, 0, 1]}
    refuse(
        "row 4 is impossible under the tables of start=: a=x, b=1 cannot occur together. Correct "
        "the row, or make every state possible there",
        table=jn.Table(table, states={"a": ["x", "y"]}),
        graph="a -> b -> c",
        method=method,
        prior=prior,
        start=start,
        error=ImpossibleError,
    )


def test_several_impossible_rows_are_counted():
    table = {"a": ["x", None, "y"], "b": [1, 1, 0]}
    start = {"a": [0.5, 0.5], "b": np.array([[1.0, 0.0], [1.0, 0.0]])}
    net = jn.BayesianNetwork("a -> b", start=start)
    with pytest.raises(ImpossibleError, match=re.escape("row 1 is impossible under the tables of")):
        net.fit(table)
    with pytest.raises(ImpossibleError, match=r"\(and 1 other row"):
        net.fit(table)


# --- what is not refused ---


def test_a_prior_may_be_any_mapping():
    prior = {"a": [2.0, 3.0], "b": 1.0}
    one = jn.BayesianNetwork("a -> b", prior=prior, random_state=0).fit(TABLE)
    other = jn.BayesianNetwork("a -> b", prior=MappingProxyType(prior), random_state=0).fit(TABLE)
    assert one.equals(other)


def test_a_mapping_gives_hidden_states_a_meaning():
    prior = MappingProxyType({"h": [1.0, 9.0], "b": 1.0})
    net = jn.BayesianNetwork("h -> b", hidden={"h": 2}, prior=prior, random_state=0).fit(TABLE)
    assert net.cpt("h").values[1] > 0.6


def test_numbers_of_numpy_are_numbers():
    net = jn.BayesianNetwork(
        "a -> b", max_iter=np.int64(500), tol=np.float64(1e-6), n_init=np.int8(2)
    )
    assert net.fit(TABLE).starts_.shape == (2,)
