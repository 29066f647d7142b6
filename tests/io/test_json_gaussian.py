"""Gaussian networks in files."""

import json

import numpy as np
import pytest
from naive.files import editable

import jensen as jn

RNG = np.random.default_rng(0)
DATA = {"x": RNG.normal(size=30) + 3.0, "z": RNG.normal(size=30)}
DATA["y"] = 2.0 * DATA["x"] - DATA["z"] + RNG.normal(size=30)
GAPS = {**DATA, "z": np.where(np.arange(30) % 5 == 0, np.nan, DATA["z"])}
GRAPH = "x -> y <- z"


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"prior": "bge"},
        {"prior": {"prior_mean": {"x": 1.0, "y": 0.0, "z": 2.0}, "scale": np.eye(3).tolist()}},
        {"prior": {"mean_strength": 2.0}, "method": "em", "n_init": 2, "random_state": 3},
    ],
)
@pytest.mark.parametrize("data", [DATA, GAPS])
def test_there_and_back(tmp_path, choices, data):
    net = jn.BayesianNetwork(GRAPH, **choices).fit(data)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert net.equals(again)
    assert again.free_energy_ == net.free_energy_
    np.testing.assert_array_equal(again.trace_, net.trace_)
    assert again.query("x", {"y": 1.0}).mean == net.query("x", {"y": 1.0}).mean
    again.save(tmp_path / "again.json")
    assert (tmp_path / "net.json").read_text() == (tmp_path / "again.json").read_text()
    assert repr(again.summary()) == repr(net.summary())


def test_a_network_made_by_hand(tmp_path):
    net = jn.BayesianNetwork.from_regressions("x -> y", {"x": {}, "y": {"coefficients": {"x": 1}}})
    net.save(tmp_path / "net.json.gz")
    again = jn.load(tmp_path / "net.json.gz")
    assert net.equals(again)
    assert not hasattr(again, "free_energy_")


@pytest.mark.parametrize("suffix", ["bif", "net", "xmlbif", "uai", "dsc", "xdsl"])
def test_other_formats_hold_tables_only(tmp_path, suffix):
    net = jn.BayesianNetwork(GRAPH).fit(DATA)
    with pytest.raises(
        jn.FileError, match=r"a Gaussian network is kept in JSON, so name a file that ends in .json"
    ):
        net.save(tmp_path / f"net.{suffix}")


def document(tmp_path, **choices):
    jn.BayesianNetwork(GRAPH, **choices).fit(DATA).save(tmp_path / "net.json")
    return editable((tmp_path / "net.json").read_text())


DAMAGE = [
    (lambda d: d.update(version=2), r"version is 2, but this Jensen reads version 1"),
    (lambda d: d.update(title="x"), r"the document holds 'title', which this format does not know"),
    (lambda d: d["variables"][0].pop("variance"), r"variables\[0\] lacks 'variance'"),
    (lambda d: d["variables"][0].update(variance=-1.0), "'x' needs finite numbers, and a variance"),
    (lambda d: d["variables"][0].update(name="y"), "repeats the variable 'y'"),
    (lambda d: d["variables"][1].update(parents=["x", "w"]), "names 'w', which is no variable"),
    (lambda d: d["variables"][1].update(coefficients=[1.0]), "has 1 numbers for 2 parents"),
    (lambda d: d["variables"][0].update(parents=["y"], coefficients=[1.0]), "cycle"),
    (lambda d: d["variables"][0].pop("posterior"), "must have a posterior each, or none"),
    (lambda d: d["variables"][0].update(intercept=9.0), "must have the regression as its mean"),
    (lambda d: d["variables"][1]["posterior"].update(scale=0.0), "a scale above 0"),
    (lambda d: d["variables"][1]["posterior"].update(coefficients=[0.0]), "must have 3 coeffic"),
    (
        lambda d: d["variables"][0]["posterior"].update(strength=[[-1.0]]),
        "must have a strength that is symmetric and positive definite",
    ),
    (lambda d: d["choices"].update(prior="bdeu"), "the prior of a Gaussian network is None"),
    (lambda d: d["choices"].update(hidden={"h": 2}), "choices holds 'hidden', which this"),
    (lambda d: d.update(constants={"y": 1.0}), "constants names 'y', which is a variable"),
    (lambda d: d.update(constants={"c": "low"}), "constants.c must be a number, not text"),
    (lambda d: d["learned"].update(is_bound=False), "must be true if there is a posterior"),
]


@pytest.mark.parametrize(("damage", "text"), DAMAGE)
def test_damaged_files(tmp_path, damage, text):
    found = document(tmp_path, prior="bge")
    damage(found)
    (tmp_path / "net.json").write_text(json.dumps(found))
    with pytest.raises(jn.FileError, match=text):
        jn.load(tmp_path / "net.json")


def test_parents_in_any_order(tmp_path):
    found = document(tmp_path, prior="bge")
    own = next(v for v in found["variables"] if v["name"] == "y")
    assert own["parents"] == ["x", "z"]
    own["parents"].reverse()
    own["coefficients"].reverse()
    order = [0, 2, 1]
    known = own["posterior"]
    known["coefficients"] = [known["coefficients"][k] for k in order]
    known["strength"] = [[known["strength"][i][j] for j in order] for i in order]
    (tmp_path / "turned.json").write_text(json.dumps(found))
    assert jn.load(tmp_path / "turned.json").equals(jn.load(tmp_path / "net.json"))


def test_the_prior_is_held_and_older_files_lack_it(tmp_path):
    data = {"a": [0.5, 1.5, 4.0, 2.0], "b": [1.0, 2.5, 3.0, None]}
    net = jn.BayesianNetwork("a -> b", prior="bge").fit(data)
    net.save(tmp_path / "net.json")
    held = jn.load(tmp_path / "net.json").network_.prior
    for found, kept in zip(held, net.network_.prior, strict=True):
        np.testing.assert_array_equal(found, kept)
    np.testing.assert_allclose(held.mean, [2.0, 6.5 / 3])
    np.testing.assert_allclose(held.scale, 0.5 * np.diag(net.network_.prior.scale.diagonal() * 2))
    text = editable((tmp_path / "net.json").read_text())
    del text["prior"]
    (tmp_path / "old.json").write_text(json.dumps(text))
    old = jn.load(tmp_path / "old.json")
    assert old.network_.prior is None
    assert old.network_.equals(net.network_)
    for wrong, why in (
        ({"mean_strength": 0.0}, "must have a mean_strength above 0"),
        ({"scale": [1.0, -1.0]}, "must be positive; a matrix symmetric and positive definite"),
        ({"scale": [1.0]}, "has 1 parts, but must have 2"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, "must be positive; a matrix symmetric and positive"),
    ):
        text["prior"] = {"mean": [0.0, 0.0], "mean_strength": 1.0, "degrees_of_freedom": 4.0,
                         "scale": [1.0, 1.0], **wrong}  # fmt: skip
        (tmp_path / "wrong.json").write_text(json.dumps(text))
        with pytest.raises(jn.FileError, match=why):
            jn.load(tmp_path / "wrong.json")


@pytest.mark.parametrize("scale", ["unit", 2.0, [[2.0, 0.5], [0.5, 1.0]]])
def test_scales_of_the_prior(tmp_path, scale):
    data = {"a": [0.5, 1.5, 4.0, 2.0], "b": [1.0, 2.5, 3.0, 0.0]}
    net = jn.BayesianNetwork("a -> b", prior={"scale": scale}).fit(data)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    np.testing.assert_array_equal(again.network_.prior.scale, net.network_.prior.scale)
    assert np.array_equal(np.asarray(again.prior["scale"]), np.asarray(scale))
    assert again.fit(data).free_energy_ == net.free_energy_
