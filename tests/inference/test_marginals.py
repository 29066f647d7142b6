"""Marginals of all variables: a mapping whose views are those of a dict, computed at every call."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jensen as jn

GIVENS = [None, {"xray": "yes"}, {"xray": "yes", "smoke": [0.2, 0.8]}]


def same(a, b):
    np.testing.assert_array_equal(a.values, b.values)
    return (a.variables, a.condition) == (b.variables, b.condition)


@pytest.mark.parametrize("given", GIVENS)
def test_all_ways_of_reading_give_the_same(given):
    net = jn.examples.load("asia")
    found = net.marginals(given)
    hidden = [name for name in net.graph.nodes if name != "xray" or given is None]
    assert list(found) == list(found.keys()) == hidden
    assert len(found) == len(found.values()) == len(found.items()) == len(hidden)
    for name, value, (key, item) in zip(found, found.values(), found.items(), strict=True):
        assert name == key
        assert value.names == (name,)
        assert same(value, found[name])
        assert same(item, found[name])
        assert np.shares_memory(value.values, item.values)


def test_views_can_be_read_again():
    values = jn.examples.load("asia").marginals().values()
    assert [d.names for d in values] == [d.names for d in values]


def test_a_name_that_is_unknown_or_known_is_no_key():
    found = jn.examples.load("asia").marginals({"xray": "yes"})
    assert "xray" not in found
    assert found.get("nothing") is None
    with pytest.raises(KeyError):
        found["nothing"]


def test_nothing_is_left_of_an_answer_in_the_next_one():
    net = jn.examples.load("asia")
    first, kept = net.marginals(), net.marginals()["lung"].values.copy()
    for d in first.values():
        d.values[:] = -1.0
    np.testing.assert_array_equal(net.marginals()["lung"].values, kept)


def test_other_tables_give_other_answers():
    net = jn.examples.load("asia")
    before = net.marginals()["smoke"]["yes"], net.query("smoke")["yes"]
    other = net.with_cpt("smoke", {"yes": 0.125, "no": 0.875})
    for found in (other.marginals()["smoke"], other.query("smoke")):
        assert found["yes"] == pytest.approx(0.125, rel=1e-14)
    assert (net.marginals()["smoke"]["yes"], net.query("smoke")["yes"]) == before


def test_many_threads_ask_for_the_same_and_know_different_states():
    net = jn.examples.load("alarm")
    asked = [
        {"HRBP": state, "CVP": cvp} for state in net.states["HRBP"] for cvp in net.states["CVP"]
    ]
    expected = [np.exp(net.log_probability(given)) for given in asked]
    assert sum(expected) == pytest.approx(1.0, rel=1e-12)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(net.log_probability, asked * 40))
    np.testing.assert_array_equal(np.exp(found), expected * 40)
