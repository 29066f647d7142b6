"""Files of an older version load, answer as they did, and are written again to the same bytes."""

import json
from pathlib import Path

import numpy as np
import pytest
from naive.files import without_checksum

import jensen as jn
from jensen import io

GOLDEN = Path(__file__).parent / "golden"
ROWS = {"a": ["x", "y", None], "b": [None, "1", "0"]}
NUMBERS = {"x": [0.5, None, -1.0], "y": [2.0, 1.0, None]}
PAIRS = np.array([[0.5, 1.0], [np.nan, 2.0], [-1.0, np.nan]])
CLASSES = {"kind": ["x", None, "y"], "n": [4, 30, None], "size": [0.1, None, 2.0]}
WEATHER = ["sun", None, "rain", "sun", "rain"]


def _network(net):
    return {
        "h": net.query("h", given={"a": "x"}).values,
        "log_likelihood": net.log_likelihood({"a": ROWS["a"]}, missing_columns="ignore"),
        "free_energy": net.free_energy_,
        "starts": net.starts_,
        "concentration": net.posterior("a").concentration,
        "cuts": net.network_.variables_by_name["b"].cuts,
    }


def _markov(net):
    return {
        "a": net.query("a", given={"b": "1"}).values,
        "log_likelihood": net.log_likelihood(ROWS, missing_columns="ignore"),
        "log_z": net.log_z(),
        "free_energy": net.free_energy_,
        "effect": net.effects()["a", "b"].values,
    }


def _gaussian_markov(net):
    return {
        "mean": net.query("y", given={"x": 1.0}).mean,
        "log_likelihood": net.log_likelihood(NUMBERS, missing_columns="ignore"),
        "precision": net.precision_,
        "free_energy": net.free_energy_,
    }


BITS = np.array([[1.0, np.nan, 0.0], [np.nan, 0.0, 1.0]])


def _machine(model):
    rows = BITS
    if hasattr(model, "feature_names_in_"):
        rows = dict(zip(model.feature_names_in_, BITS.T, strict=True))
    return {
        "log_likelihood": model.log_likelihood(rows),
        "transform": model.transform(rows),
        "impute": model.impute(rows),
        "free_energy": model.free_energy_,
        "log_z": getattr(model.log_z_, "value", model.log_z_),
    }


def _samples(net):
    return {
        "h": net.query("h", given={"a": "y"}).values,
        "log_likelihood": net.log_likelihood({"a": ROWS["a"]}),
        "samples": net.table_samples("a"),
        "trace": net.trace_,
    }


def _gaussian(net):
    found = net.query("y", given={"x": 1.0})
    return {
        "mean": found.mean,
        "variance": found.variance,
        "log_likelihood": net.log_likelihood(NUMBERS),
        "free_energy": net.free_energy_,
        "scale": net.network_.prior.scale,
        "constants": list(net.network_.constants.values()),
        "interval": net.posterior("y").interval(0.5),
    }


def _trees(trees):
    rows = {"a": ["x", None, "y"], "b": ["u", "v", None], "c": [None, "0", "1"]}
    return {
        "log_likelihood": trees.log_likelihood(rows),
        "proba": trees.predict_proba(rows),
        "c": trees.query("c", given={"a": "x"}).values,
        "edges": list(trees.edge_probability(0).values()),
        "free_energy": trees.free_energy_,
        "weights": trees.weights_,
    }


SERIES = np.array(
    [[0.5, 1.0, 0.1], [np.nan, 2.0, -0.2], [-1.0, np.nan, 0.3], [0.2, 0.4, 0.0], [1.5, -0.3, 1.0]]
)


def _chains(model):
    return {
        "log_likelihood": model.log_likelihood(PAIRS),
        "states": model.predict_proba(PAIRS),
        "effects": model.effects_,
        "free_energy": model.free_energy_,
    }


def _dynamics(model):
    ahead = model.forecast(SERIES, 2, inputs=[[1.0], [0.0]], interval=0.5)
    return {
        "log_likelihood": model.log_likelihood(SERIES),
        "smoothed": model.smooth(SERIES).mean,
        "covariance": model.filter(SERIES).covariance,
        "high": ahead.high,
        "free_energy": model.free_energy_,
        "live": model.n_states_,
    }


MIXED = {
    "a": ["u", None, "v"],
    "b": ["p", "q", None],
    "x": [51.0, None, 49.5],
    "y": [50.0, 48.0, None],
}


def _mixed(net):
    found = net.query("x", given={"y": 50.0})
    return {
        "mean": found.mean,
        "variance": found.variance,
        "a": net.query("a", given={"x": 51.0, "y": 50.0}).values,
        "log_likelihood": net.log_likelihood(MIXED),
        "free_energy": net.free_energy_,
        "constants": list(net.network_.constants.values()),
        "interval": net.posterior("x")["u"].interval(0.5),
    }


def _mixed_samples(net):
    found = net.query("x", given={"y": 50.0})
    return {
        "mean": found.mean,
        "variance": found.variance,
        "a": net.query("a", given={"x": 51.0, "y": 50.0}).values,
        "log_likelihood": net.log_likelihood(MIXED),
        "samples": net.table_samples("a"),
        "trace": net.trace_,
    }


def _mixture(model):
    return {
        "log_likelihood": model.log_likelihood(PAIRS),
        "predict_proba": model.predict_proba(PAIRS),
        "means": model.means_,
        "free_energy": model.free_energy_,
        "counts": model.fitted_.counts,
    }


def _classes(model):
    table = jn.Table(CLASSES, counts=["n"], continuous=["size"])
    return {
        "log_likelihood": model.log_likelihood(table),
        "predict_proba": model.predict_proba(table),
        "weights": model.weights_,
        "trace": model.trace_,
    }


def _weather(model):
    return {
        "log_likelihood": model.log_likelihood(WEATHER, [3, 2]),
        "predict_proba": model.predict_proba(WEATHER, [3, 2]),
        "transition": model.transition_,
        "end": model.end_,
        "free_energy": model.free_energy_,
    }


def _walk(model):
    return {
        "log_likelihood": model.log_likelihood(PAIRS[:, :1]),
        "path": model.decode(PAIRS[:, :1]),
        "means": model.means_,
        "covariances": model.covariances_,
    }


def _factors(model):
    rows = np.array([[0.5, 1.0, np.nan], [np.nan, 2.0, 1.0]])
    if hasattr(model, "feature_names_in_"):
        rows = dict(zip(model.feature_names_in_, rows.T, strict=True))
    return {
        "log_likelihood": model.log_likelihood(rows),
        "transform": model.transform(rows),
        "impute": model.impute(rows),
        "loadings": model.loadings_,
        "free_energy": model.free_energy_,
    }


def _analyzers(model):
    rows = np.array([[0.5, 1.0, np.nan], [9.0, np.nan, 1.0], [0.1, 0.2, 0.3]])
    return {
        "log_likelihood": model.log_likelihood(rows),
        "predict_proba": model.predict_proba(rows),
        "transform": model.transform(rows),
        "impute": model.impute(rows),
        "dimensions": model.dimensions_,
        "free_energy": model.free_energy_,
    }


def _posterior(post):
    return {
        "edge": post.edge_matrix,
        "error": post.edge_errors,
        "scores": post.samples.scores,
        "evidence": post.log_evidence,
    }


ASKED = {
    "network": _network,
    "network-samples": _samples,
    "gaussian-network": _gaussian,
    "mixed-network": _mixed,
    "mixed-samples": _mixed_samples,
    "markov-network": _markov,
    "gaussian-markov-network": _gaussian_markov,
    "rbm": _machine,
    "boltzmann-machine": _machine,
    "gaussian-mixture": _mixture,
    "latent-class": _classes,
    "hidden-markov-labels": _weather,
    "hidden-markov-gaussian": _walk,
    "mixture-of-trees": _trees,
    "factor-analysis": _factors,
    "binary-factors": _factors,
    "linear-dynamics": _dynamics,
    "factorial-chains": _chains,
    "factor-mixture": _analyzers,
    "posterior-exact": _posterior,
    "posterior-chains": _posterior,
    "posterior-listed": _posterior,
}


def ask(name):
    return ASKED[name](jn.load(GOLDEN / f"{name}.json"))


def test_every_format_has_a_file():
    files = {file.stem: json.loads(file.read_text()) for file in GOLDEN.glob("*.json")}
    assert files.keys() == {*ASKED, "answers"}
    assert {files[name]["format"] for name in ASKED} == {
        "jensen-dynamics",
        "jensen-factorial",
        "jensen-network",
        "jensen-gaussian-network",
        "jensen-mixed-network",
        "jensen-markov-network",
        "jensen-rbm",
        "jensen-gaussian-markov-network",
        "jensen-boltzmann-machine",
        "jensen-states",
        "jensen-trees",
        "jensen-factors",
        "jensen-structure-posterior",
    }


@pytest.mark.parametrize("name", ASKED)
def test_old_files_answer_as_they_did(name):
    expected = json.loads((GOLDEN / "answers.json").read_text())[name]
    found = ask(name)
    assert found.keys() == expected.keys()
    for what, value in expected.items():
        if value is None:
            assert found[what] is None
        else:
            wanted = np.array(value, float)
            np.testing.assert_allclose(found[what], wanted, rtol=1e-12, atol=1e-14, err_msg=what)


@pytest.mark.parametrize("name", ASKED)
def test_old_files_are_written_again_to_the_same_bytes(name):
    file = GOLDEN / f"{name}.json"
    assert without_checksum(io.to_bytes(jn.load(file))) == file.read_bytes()
