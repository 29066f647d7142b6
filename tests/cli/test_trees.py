"""Mixtures of trees on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import jensen as jn

TREES = ["--model", "trees", "--states", "2", "--seed", "0"]


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 60)
    columns = {"a": first, "b": np.where(rng.random(60) < 0.2, 1 - first, first)}
    columns["c"] = np.where(np.arange(60) < 30, columns["b"], 1 - columns["a"])
    frame = pd.DataFrame(columns).replace({0: "no", 1: "yes"})
    frame.loc[4, "c"] = None
    frame.to_csv("answers.csv", index=False)
    frame[40:].to_csv("others.csv", index=False)
    return "answers.csv"


def test_learn_show_and_ask(run, answers):
    done = run("learn", answers, *TREES, "--prior", "equivalent_sample_size=2", "-o", "t.json")
    assert (done.code, done.err) == (0, "")
    prior = {"equivalent_sample_size": 2.0}
    expected = jn.MixtureOfTrees(2, prior=prior, random_state=0).fit(answers)
    again = jn.load("t.json")
    assert again.free_energy_ == expected.free_energy_
    assert repr(expected.summary()) in done.out
    assert run("show", "t.json").out.strip() == repr(expected.summary())
    rows = run("predict", "t.json", answers, "--probabilities", "-o", "p.csv")
    assert rows.code == 0
    found = pd.read_csv("p.csv")
    np.testing.assert_allclose(found["P(tree=0)"], expected.predict_proba(answers)[:, 0])
    run("predict", "t.json", answers, "--target", "b", "--probabilities", "-o", "q.csv")
    found = pd.read_csv("q.csv")
    proba = expected.predict_proba(answers, target="b")
    np.testing.assert_allclose(found["P(b=no)"], proba[:, 0])
    assert found["predicted_b"].tolist() == expected.predict(answers, target="b").tolist()
    drawn = run("sample", "t.json", "-n", "3", "--with-states", "--seed", "1", "-o", "s.csv")
    assert drawn.code == 0
    assert pd.read_csv("s.csv").columns.tolist() == ["a", "b", "c", "tree"]


def test_other_rows_end_learning(run, answers):
    words = [*TREES, "--method", "em", "--prior", "default", "--shared-structure", "--accelerate"]
    done = run("learn", answers, *words, "--validation", "others.csv", "--json")
    found = json.loads(done.out)
    expected = jn.MixtureOfTrees(
        2, method="em", prior={}, shared_structure=True, accelerate=True, random_state=0
    ).fit(answers, validation="others.csv")
    assert found["validation_score"] == expected.validation_score_
    assert found["parameters"]["weights"] == expected.weights_.tolist()
    assert found["model"] == "trees"


def test_the_number_of_trees_by_its_bound(run, answers):
    done = run("learn", answers, "--model", "trees", "--states", "auto", "--seed", "0", "--json")
    assert [one["states"] for one in json.loads(done.out)["candidates"]] == list(range(1, 11))


def test_what_is_refused(run, refuse, answers):
    assert refuse("learn", answers, *TREES, "--thin", "2") == (
        "--thin belongs to chains, which trees lack"
    )
    assert "the method 'gibbs' is not for this model" in refuse(
        "learn", answers, *TREES, "--method", "gibbs"
    )
    assert "--shared-structure belongs to --model trees" in refuse(
        "learn", answers, "--model", "latent-class", "--states", "2", "--shared-structure"
    )
    pd.DataFrame({"x": np.arange(30) + 0.5, "y": ["p", "q"] * 15}).to_csv("mixed.csv")
    assert "hold" in refuse("learn", "mixed.csv", *TREES)
