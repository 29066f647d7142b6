"""Markov networks in JSON: round trips, and files that are refused."""

import json

import numpy as np
import pytest

import jensen as jn
from jensen import io


@pytest.fixture(scope="module")
def net():
    rows = {"a": list("nnyyny"), "b": list("nynyyy"), "c": list("uvwuvw")}
    return jn.MarkovNetwork("a - b; c", prior={"ridge": 0.5}, random_state=3).fit(rows)


def test_a_round_trip_keeps_all(net):
    again = jn.MarkovNetwork.from_dict(json.loads(json.dumps(net.to_dict())))
    assert again.equals(net)
    assert again.free_energy_ == net.free_energy_
    assert again.prior == {"ridge": 0.5}
    assert again.random_state == 3
    assert again.summary().text == net.summary().text
    assert io.to_bytes(again) == io.to_bytes(net)


def test_impossible_entries_and_hidden_variables_are_kept():
    rows = jn.Table({"a": ["x", "x", "y", None], "b": ["u", "v", "u", "u"]})
    made = jn.MarkovNetwork.from_tables({("a", "b"): [[1.0, 0.0], [2.0, 3.0]]})
    again = jn.MarkovNetwork.from_dict(made.to_dict())
    np.testing.assert_array_equal(again.factors[0].log_table, made.factors[0].log_table)
    net = jn.MarkovNetwork("a - h - b", hidden={"h": 2}, random_state=0, max_iter=3, tol=1.0)
    assert jn.MarkovNetwork.from_dict(net.fit(rows).to_dict()).hidden == {"h": 2}


CHANGES = {
    "strange": (lambda d: d.update(strange=1), "'strange'"),
    "no potentials": (lambda d: d.pop("potentials"), "lacks 'potentials'"),
    "a variable twice": (
        lambda d: d["potentials"].append(d["potentials"][0]),
        "stand in another potential already",
    ),
    "unknown": (lambda d: d["potentials"][0].update(variables=["z"]), "must be names of variables"),
    "order": (
        lambda d: d["potentials"][-1].update(variables=["b", "a"]),
        "in the order of the variables",
    ),
    "no edge": (lambda d: d.update(edges=[]), "which no edge joins"),
    "edge": (lambda d: d.update(edges=[["a", "z"]]), "must be two names"),
    "shape": (lambda d: d["potentials"][0].update(log_table=[0.0]), "must have 2"),
    "text": (lambda d: d["potentials"][0].update(log_table=[0.0, "x"]), "must be a number"),
    "left out": (lambda d: d["potentials"].pop(2), "every variable in one potential"),
    "freedom": (lambda d: d.update(degrees_of_freedom=-1), "cannot be of these states"),
    "names": (lambda d: d["variables"].reverse(), "in their order"),
    "prior": (lambda d: d["choices"].update(prior="bdeu"), "a penalty of its interactions"),
    "method": (lambda d: d["choices"].update(method="vbem"), "no method 'vbem'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_files_that_are_refused(net, change):
    alter, message = CHANGES[change]
    content = net.to_dict()
    alter(content)
    with pytest.raises(jn.JensenError, match=message):
        jn.MarkovNetwork.from_dict(content)
