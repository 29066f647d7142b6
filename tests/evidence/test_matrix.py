"""Every model by every method: a number of the kind that docs/evidence.md says, or a refusal."""

import re
from pathlib import Path

import numpy as np
import pytest
from evidence.cases import LATENT, NORMAL_GAMMA, POINTS, SEQUENCES, chain, latent_class

import jensen as jn
from jensen.cli.evidence import METHODS as IN_SHELL
from jensen.evidence.methods import METHODS

NUMBERS = {"x": [0.1, 0.9, 1.4, 2.2, 3.1, 3.3], "y": [0.2, 1.1, 1.2, 2.5, 2.7, 3.6]}
GAPS = {"x": [0.1, 0.9, None, 2.2, 3.1, 3.3], "y": [0.2, 1.1, 1.2, 2.5, None, 3.6]}
MIXED = {"k": ["u", "v", "u", "v", "v", "u"], **NUMBERS}
X = np.array(POINTS)[:, None]
HOLES = {**LATENT, "a": [None, *LATENT["a"][1:5], None, *LATENT["a"][6:]]}
PRIOR = {**NORMAL_GAMMA, "mean": [1.0, 1.0], "scale": [0.5, 0.5]}
WIDE = np.array([[0.1, 0.3], [1.0, np.nan], [2.0, 2.2], [3.0, 2.7]])

PLANE = np.random.default_rng(0).normal(size=(12, 1)) * [1.0, 2.0, -1.0]
PLANE = PLANE + 0.3 * np.random.default_rng(1).normal(size=(12, 3))
PLANE[2, 1] = np.nan

MODELS = {
    "network of labels, complete": (jn.BayesianNetwork("a -> b", prior="bdeu"), LATENT),
    "network of labels, holes": (
        jn.BayesianNetwork("a -> b; b -> c", prior=1.0, random_state=0), HOLES
    ),
    "network of labels, hidden variable": (
        jn.BayesianNetwork("H -> a; H -> b", hidden={"H": 2}, prior=1.0, random_state=0), LATENT
    ),
    "network of numbers, complete": (jn.BayesianNetwork("x -> y", prior="bge"), NUMBERS),
    "network of numbers, holes": (
        jn.BayesianNetwork("x -> y", prior="bge", random_state=0), GAPS
    ),
    "labels and numbers, hidden label": (
        jn.BayesianNetwork("k -> x", hidden={"k": 2}, prior="bdeu-bge", random_state=0),
        {"x": NUMBERS["x"]},
    ),
    "labels and numbers, holes in numbers": (
        jn.BayesianNetwork("k -> x; x -> y", prior="bdeu-bge", random_state=0),
        {"k": MIXED["k"], **GAPS},
    ),
    "labels and counts, hidden label": (
        jn.BayesianNetwork("k -> n", hidden={"k": 2}, prior="bdeu-bge", random_state=0),
        jn.Table({"n": [0, 1, 0, 6, 7, 2, 9, 1]}, counts=["n"]),
    ),
    "GaussianMixture": (
        jn.GaussianMixture(2, covariance="diagonal", prior=NORMAL_GAMMA, random_state=0), X
    ),
    "GaussianMixture (diagonal), holes": (
        jn.GaussianMixture(2, covariance="diagonal", prior=PRIOR, random_state=0), WIDE
    ),
    "GaussianMixture (full), holes": (
        jn.GaussianMixture(2, prior={}, random_state=0), WIDE
    ),
    "LatentClass, holes": (latent_class(2), HOLES),
    "MixtureOfTrees, holes": (jn.MixtureOfTrees(2, prior={}, random_state=0), HOLES),
    "FactorAnalysis, holes": (jn.FactorAnalysis(1, prior={}), PLANE),
    "MixtureOfFactorAnalyzers, holes": (
        jn.MixtureOfFactorAnalyzers(1, 1, prior={}, tol=1e-4, random_state=0), PLANE
    ),
    "BinaryFactors, holes": (jn.BinaryFactors(1, prior={}, random_state=0), PLANE),
    "HiddenMarkovModel": (chain(2), SEQUENCES),
}  # fmt: skip
SHORT = {
    "ais": {"n_chains": 8, "n_temperatures": 4},
    "smc": {"n_chains": 8, "n_temperatures": 4},
    "bridge": {"n_chains": 2, "n_samples": 10},
}
REFUSALS = {
    "exact": "closed form|numbers are missing too|rows may miss nothing|hidden factors|trees",
    "bic": "no bound|came to nothing|collapsed|spread",
    "laplace": "no mode inside|does not exist here|must have a mode|hidden factors|trees",
}


def table_of_docs():
    """Model → method → kind, as the documentation has it."""
    text = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not re.match(r"^\|[ -:|]+$", line)
    ]
    head, *body = [row for row in rows if len(row) == 1 + len(METHODS)]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body}


def test_every_method_has_its_word_everywhere():
    assert tuple(METHODS) == IN_SHELL
    table = table_of_docs()
    assert list(table) == list(MODELS)
    assert all(list(row) == list(METHODS) for row in table.values())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::jensen.exceptions.JensenWarning")
def test_a_number_or_a_refusal(name, method):
    model, rows = MODELS[name]
    expected = table_of_docs()[name][method]
    if expected == "refused":
        with pytest.raises(
            jn.JensenError,
            match=REFUSALS.get(
                method, "missing|rows may miss|hidden factors|trees|declared counts"
            ),
        ):
            jn.log_evidence(model, rows, method, **SHORT.get(method, {}))
        return
    found = jn.log_evidence(model, rows, method, **SHORT.get(method, {}))
    assert found.kind == expected
    assert np.isfinite(found.value)
    assert (found.standard_error is not None) == (expected == "estimate")
    assert method in repr(found)
    assert found.to_dict()["log_evidence"] == float(found) == found.value
