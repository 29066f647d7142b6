"""--graph-prior of `jensen learn` and `jensen score`."""

import json

import pytest

import jensen as jn

EDGE = {("Smoker", "Xray"): 1, ("Cancer", "Smoker"): 0.9}
WORDS = ["--graph-prior", "Smoker -> Xray=1", "--graph-prior", "Cancer -> Smoker=0.9"]


@pytest.fixture
def patients(tmp_path):
    """A file of 300 patients."""
    file = tmp_path / "patients.csv"
    jn.examples.load("cancer").sample(300, random_state=0).write(file)
    return file


@pytest.mark.parametrize("structure", ["exact", "hill-climb"])
def test_a_graph_is_learned_with_a_prior(run, patients, structure):
    done = run("learn", patients, "--structure", structure, "--json", *WORDS)
    found = json.loads(done.out)
    dag = jn.learn_structure(jn.read_table(patients), structure, prior=EDGE)
    assert [tuple(edge) for edge in found["edges"]] == list(dag.edges)
    assert ("Smoker", "Xray") in dag.edges
    assert found["structure"]["score_name"] == "bdeu + log prior"
    assert found["structure"]["score"] == pytest.approx(dag.info.score, rel=1e-12)


def test_a_bootstrap_is_made_with_a_prior(run, patients):
    done = run("learn", patients, "--bootstrap", "4", "--seed", "0", *WORDS)
    (line,) = [line for line in done.out.splitlines() if line.strip().startswith("Smoker -> Xray")]
    assert line.split()[3:] == ["100", "%", "100", "%"]


def test_a_graph_is_scored_with_a_prior(run, patients):
    done = run("score", "Smoker -> Xray", patients, *WORDS[:2], "--graph-prior", "Xray -> Smoker=0")
    table = jn.read_table(patients)
    prior = {("Smoker", "Xray"): 1, ("Xray", "Smoker"): 0}
    value = jn.score("Smoker -> Xray", table, prior=prior)
    assert f"bdeu + log prior  {value:.6f}" in done.out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--graph-prior", "order"], "which is no sum over families, so no graph is scored"),
        (["--graph-prior", "flat"], "there is no --graph-prior flat: choose uniform, fair"),
        (["--graph-prior", "A -> B"], "write one edge and its probability: --graph-prior 'A -> B="),
        (["--graph-prior", "Smoker -> B=0.5"], "--graph-prior names 'B', which is no column"),
        (
            ["--structure", "pc", "--graph-prior", "fair"],
            "--graph-prior belongs to --structure hill-climb",
        ),
        (
            ["--structure", "tree", "--graph-prior", "fair"],
            "--graph-prior belongs to --structure hill-climb",
        ),
        (
            ["--structure", "ges", "--graph-prior", "Smoker -> Xray=0.9"],
            "--graph-prior has other odds for Smoker -> Xray than for Xray -> Smoker",
        ),
    ],
)
def test_refusals(refuse, patients, words, text):
    assert text in refuse("learn", patients, *words)
