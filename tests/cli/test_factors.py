"""Factor analysis and binary factors on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import jensen as jn


@pytest.fixture
def tests_csv():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 1)) @ [[1.0, 2.0, -1.0]] + 0.4 * rng.normal(size=(40, 3))
    frame = pd.DataFrame(rows.round(3), columns=["a", "b", "c"])
    frame.loc[3, "b"] = frame.loc[7, "c"] = np.nan
    frame.to_csv("tests.csv", index=False)
    return "tests.csv"


@pytest.fixture(params=["factors", "binary-factors"])
def model(request, run, tests_csv):
    words = ["--model", request.param, "--factors", "1", "--seed", "0", "-o", "model.json"]
    done = run("learn", tests_csv, *words)
    assert done.code == 0, done
    assert "log-likelihood" in done.out
    assert "BIC" in done.out
    assert "written to model.json" in done.out
    return request.param


def test_show_says_what_the_library_says(run, model):
    known = jn.load("model.json")
    assert run("show", "model.json").out == f"{known.summary()}\n"
    plain = json.loads(run("show", "model.json", "--json").out)
    assert plain["model"] == model
    assert plain["factors"] == 1
    assert np.array_equal(plain["parameters"]["loadings"], known.loadings_)


def test_score_is_that_of_the_library(run, model, tests_csv):
    found = json.loads(run("score", "model.json", tests_csv, "--json").out)
    known = jn.load("model.json")
    assert found["log_likelihood"] == pytest.approx(known.free_energy_, abs=1e-3)
    assert found["bic"] == pytest.approx(
        np.log(40.0) * known.n_parameters - 2.0 * found["log_likelihood"]
    )


def test_rows_are_drawn_filled_and_described(run, model, tests_csv):
    known, frame = jn.load("model.json"), pd.read_csv(tests_csv)
    assert run("sample", "model.json", "-n", "4", "--seed", "1").out.count("\n") == 5
    assert run("impute", "model.json", tests_csv, "-o", "filled.csv").code == 0
    filled = pd.read_csv("filled.csv")
    np.testing.assert_allclose(filled, known.impute(frame), rtol=1e-12)
    assert run("predict", "model.json", tests_csv, "-o", "found.csv").code == 0
    found = pd.read_csv("found.csv")
    assert list(found) == ["a", "b", "c", "factor_0"]
    np.testing.assert_allclose(found["factor_0"], known.transform(frame)[:, 0], rtol=1e-12)


def test_a_file_is_a_start(run, model, tests_csv):
    words = ["--model", model, "--factors", "1", "--start", "model.json", "--json"]
    found = json.loads(run("learn", tests_csv, *words).out)
    assert found["free_energy"] == pytest.approx(jn.load("model.json").free_energy_, abs=1e-3)


def test_a_mixture_of_factor_analysers(run, tests_csv):
    words = ["--model", "factor-mixture", "--factors", "1", "--states", "2", "--prior", "default"]
    done = run("learn", tests_csv, *words, "--seed", "0", "--tol", "1e-5", "-o", "model.json")
    assert done.code == 0, done
    assert "lower bound of the log evidence" in done.out
    known, frame = jn.load("model.json"), pd.read_csv(tests_csv)
    assert run("show", "model.json").out == f"{known.summary()}\n"
    plain = json.loads(run("show", "model.json", "--json").out)
    assert (plain["model"], plain["factors"]) == ("factor-mixture", 1)
    assert plain["parameters"]["loadings"] == known.loadings_.tolist()
    assert run("predict", "model.json", tests_csv, "--probabilities", "-o", "found.csv").code == 0
    found = pd.read_csv("found.csv")
    assert found["predicted_analyzer"].tolist() == known.predict(frame).tolist()
    np.testing.assert_allclose(found["P(analyzer=0)"], known.predict_proba(frame)[:, 0])
    assert run("impute", "model.json", tests_csv, "-o", "filled.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("filled.csv"), known.impute(frame), rtol=1e-12)
    assert run("sample", "model.json", "-n", "4", "--seed", "1").out.count("\n") == 5
    scored = json.loads(run("score", "model.json", tests_csv, "--json").out)
    assert scored["log_likelihood"] == pytest.approx(known.log_likelihood(frame).sum())
    assert "lower bound" in run("evidence", "model.json", tests_csv).out


def test_networks_of_labels_by_mean_field_in_blocks(run, refuse):
    jn.examples.load("cancer").sample(200, random_state=0).write("rows.csv")
    words = ["--graph", "h -> Smoker; h -> Xray; Smoker -> Xray", "--hidden", "h=2"]
    words += ["--method", "mean-field", "--seed", "0", "--tol", "1e-3"]
    done = run("learn", "rows.csv", *words, "--block", "h,Smoker", "-o", "net.json")
    assert done.code == 0, done
    assert jn.load("net.json").blocks == [["h", "Smoker"]]
    text = refuse("learn", "rows.csv", *words, "--block", "h,Smokr")
    assert "--block Smokr: there is no such variable" in text


@pytest.mark.parametrize("method", ["variational-em", "mean-field"])
def test_mean_field_is_chosen_by_its_name(run, tests_csv, method):
    words = ["--model", "binary-factors", "--factors", "2", "--method", method, "--seed", "0"]
    found = json.loads(run("learn", tests_csv, *words, "--tol", "1e-4", "--json").out)
    assert found["method"] == method


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["factors"], "say how many factors there are: --factors 2"),
        (["factors", "--factors", "1", "--states", "2"], "--states 2: factors have none"),
        (["factors", "--factors", "1", "--thin", "2"], "--thin belongs to chains, which factors"),
        (["factors", "--factors", "1", "--method", "gibbs"], "choose --method em or vbem"),
        (["binary-factors", "--factors", "20"], "--method variational-em or mean-field"),
        (["binary-factors", "--factors", "1", "--noise", "diagonal"], "--noise belongs to --model"),
        (["mixture", "--factors", "1", "--states", "2"], "--factors belongs to --model factors, b"),
        (["mixture", "--states", "2", "--method", "mean-field"], "is not for this model: choose -"),
    ],
)
def test_what_would_be_ignored_is_refused(refuse, tests_csv, words, text):
    assert text in refuse("learn", tests_csv, "--model", *words)


def test_words_are_refused(refuse):
    pd.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2.0, 3.5]}).to_csv("words.csv", index=False)
    text = refuse("learn", "words.csv", "--model", "factors", "--factors", "1")
    assert "the column 'a' holds 'x', and a model of factors needs numbers" in text


def test_files_of_other_models_are_refused(run, refuse, tests_csv, model):
    assert run("learn", tests_csv, "--graph", "a -> b; c", "-o", "net.json").code == 0
    words = ["--factors", "1", "--start", "net.json"]
    text = refuse("learn", tests_csv, "--model", model, *words)
    assert "holds a BayesianNetwork, but factors are needed here" in text
    words = ["--model", "mixture", "--states", "1", "--start", "model.json"]
    assert "mixture or hidden Markov model is needed" in refuse("learn", tests_csv, *words)
    text = refuse("impute", "model.json", tests_csv, "--method", "draw")
    assert "--method belongs to a network" in text
    text = refuse("predict", "model.json", tests_csv, "--probabilities")
    assert "--probabilities belongs to a network" in text
