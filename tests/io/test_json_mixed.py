"""Networks of labels and numbers in files."""

import json

import numpy as np
import pytest
from naive.files import editable

import jensen as jn

RNG = np.random.default_rng(0)
LABEL = RNG.integers(0, 2, 80)
DATA = {
    "a": np.where(LABEL, "u", "v"),
    "b": np.array(list("pqr"))[RNG.integers(0, 3, 80)],
    "x": RNG.normal(size=80) + 2.0 * LABEL + 1e4,
}
DATA["y"] = DATA["x"] + LABEL * RNG.normal(size=80)
DATA["y"][LABEL == 0] += RNG.normal(size=int((LABEL == 0).sum()))
GAPS = {**DATA, "y": np.where(np.arange(80) % 5 == 0, np.nan, DATA["y"])}
GRAPH = "a -> x; a -> y; x -> y; b -> y; a -> b"
pytestmark = pytest.mark.filterwarnings("ignore:the chains disagree")  # they are short
CHAINS = {"method": "gibbs", "n_samples": 8, "burn_in": 3, "n_chains": 1, "random_state": 0}


@pytest.mark.parametrize(
    "choices", [{}, {"prior": "bdeu-bge"}, {"prior": {"strength": 0.5}}, CHAINS]
)
def test_there_and_back(tmp_path, choices):
    net = jn.BayesianNetwork(GRAPH, **choices).fit(GAPS)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert net.equals(again)
    assert again.network_.strength == net.network_.strength
    assert (net.network_.strength is None) == (not choices)
    assert again.query("x", {"y": 1e4}).mean == net.query("x", {"y": 1e4}).mean
    again.save(tmp_path / "again.json")
    assert (tmp_path / "net.json").read_text() == (tmp_path / "again.json").read_text()
    assert repr(again.summary()) == repr(net.summary())


@pytest.mark.parametrize("choices", [{}, {"prior": "bdeu-bge"}, CHAINS])
def test_counts_there_and_back(tmp_path, choices):
    counts = [None, *RNG.poisson(3.0 + 4.0 * LABEL)[1:].tolist()]
    net = jn.BayesianNetwork("b -> n; a -> n; a -> x", **choices)
    net.fit(jn.Table({**GAPS, "n": counts}, counts=["n"]))
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert net.equals(again)
    assert again.query("n").mean == net.query("n").mean
    again.save(tmp_path / "again.json")
    assert (tmp_path / "net.json").read_text() == (tmp_path / "again.json").read_text()
    document = editable((tmp_path / "net.json").read_text())
    own = next(v for v in document["variables"] if v["name"] == "n")
    assert own["parents"] == ["a", "b"]
    document["variables"].append({**own, "name": "m", "parents": ["a", "b", "n"]})
    with pytest.raises(jn.FileError, match="names the count 'n', but 'm' is a count"):
        read(tmp_path, document)
    document["variables"][-1] = {**own, "name": "m", "rate": [[-1.0] * 3] * 2}
    with pytest.raises(jn.FileError, match="must not be below 0"):
        read(tmp_path, document)


def test_hidden_labels_and_constants(tmp_path):
    data = jn.Table({**GAPS, "c": np.full(80, 3.0)}, continuous=["c"])
    with pytest.warns(jn.DataWarning, match="constant"):
        net = jn.BayesianNetwork(
            "H -> x; H -> y; c; a", hidden={"H": 2}, prior="bdeu-bge", random_state=0
        ).fit(data)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert net.equals(again)
    assert again.network_.constants == {"c": 3.0}


def read(tmp_path, document):
    (tmp_path / "bad.json").write_text(json.dumps(document))
    return jn.load(tmp_path / "bad.json")


def document(tmp_path, **choices):
    jn.BayesianNetwork(GRAPH, **choices).fit(DATA).save(tmp_path / "net.json")
    return editable((tmp_path / "net.json").read_text())


def swapped(document):
    """The same network with the parents of y in another order."""
    own = next(v for v in document["variables"] if v["name"] == "y")
    assert own["parents"] == ["a", "b", "x"]
    own["parents"] = ["b", "x", "a"]
    for name in ("intercept", "coefficients", "variance"):
        own[name] = np.swapaxes(np.array(own[name]), 0, 1).tolist()
    for name in own.get("posterior", {}):
        if name != "centre":
            own["posterior"][name] = np.swapaxes(np.array(own["posterior"][name]), 0, 1).tolist()
    if "samples" in own:
        own["samples"] = np.swapaxes(np.array(own["samples"]), 1, 2).tolist()


@pytest.mark.parametrize("choices", [{}, {"prior": "bdeu-bge"}, CHAINS])
def test_parents_may_stand_in_any_order(tmp_path, choices):
    found = document(tmp_path, **choices)
    swapped(found)
    (tmp_path / "other.json").write_text(json.dumps(found))
    assert jn.load(tmp_path / "other.json").equals(jn.load(tmp_path / "net.json"))


DAMAGE = [
    (lambda v: v["x"].pop("variance"), r"variables\[2\] lacks 'variance'"),
    (lambda v: v["x"].update(variance=[1.0, -1.0]), r"variables\[2\].variance must be above 0"),
    (lambda v: v["x"].update(intercept=[1.0]), r"intercept has 1 parts, but must have 2"),
    (lambda v: v["x"].update(table=[0.5, 0.5]), r"variables\[2\] holds 'table'"),
    (lambda v: v["a"].update(intercept=1.0), r"variables\[0\] holds 'intercept'"),
    (lambda v: v["a"].update(parents=["x"]), r"names the number 'x', but 'a' is a label"),
    (lambda v: v["a"].update(table=[0.5, 0.6]), "sums to 1.1"),
    (lambda v: v["x"].pop("posterior"), "must have a posterior each, or none"),
    (lambda v: v["x"]["posterior"].update(scale=[1.0, 0.0]), "and a scale above 0"),
    (lambda v: v["x"]["posterior"].update(centre=0.0), "must have the regressions as its mean"),
    (
        lambda v: v["x"]["posterior"].update(strength=[[[-1.0]], [[1.0]]]),
        "strength must be symmetric and positive definite",
    ),
]


@pytest.mark.parametrize(("damage", "text"), DAMAGE)
def test_faults_are_named_with_their_place(tmp_path, damage, text):
    found = document(tmp_path, prior="bdeu-bge")
    damage({v["name"]: v for v in found["variables"]})
    with pytest.raises(jn.FileError, match=text):
        read(tmp_path, found)


SAMPLE_DAMAGE = [
    (lambda v: v["x"].pop("samples"), "must have samples each, or none"),
    (lambda v: v["x"]["samples"].pop(), "as many as those of other variables"),
    (lambda v: v["x"]["samples"][0][0].__setitem__(1, -1.0), "a variance that is not above 0"),
    (lambda v: v["x"]["samples"][0][0].__setitem__(0, 7.0), "as its mean"),
    (lambda v: v["a"]["samples"].__setitem__(0, [0.9, 0.9]), "a row that does not sum to 1"),
]


@pytest.mark.parametrize(("damage", "text"), SAMPLE_DAMAGE)
def test_faults_of_samples(tmp_path, damage, text):
    found = document(tmp_path, **CHAINS)
    damage({v["name"]: v for v in found["variables"]})
    with pytest.raises(jn.FileError, match=text):
        read(tmp_path, found)


def test_other_formats_hold_tables_only(tmp_path):
    net = jn.BayesianNetwork(GRAPH).fit(DATA)
    with pytest.raises(jn.FileError, match="a network of labels and numbers is kept in JSON"):
        net.save(tmp_path / "net.bif")
