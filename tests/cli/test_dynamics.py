"""Linear dynamical systems on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import jensen as jn


@pytest.fixture
def learned(run):
    rng = np.random.default_rng(0)
    x, u = np.zeros(40), rng.normal(size=40)
    for t in range(1, 40):
        x[t] = 0.8 * x[t - 1] + u[t] + 0.3 * rng.normal()
    p, q = x + 0.2 * rng.normal(size=40), -x + 0.2 * rng.normal(size=40)
    frame = pd.DataFrame({"walk": ["a"] * 20 + ["b"] * 20, "p": p, "q": q, "u": u})
    frame.loc[[3, 25], "p"] = np.nan
    frame.to_csv("walks.csv", index=False)
    pd.DataFrame({"u": [1.0, 0.0]}).to_csv("future.csv", index=False)
    pd.DataFrame({"v": [1.0, 0.0]}).to_csv("empty.csv", index=False)
    words = ["--states", "1", "--inputs", "u", "--sequences", "walk", "--tol", "1e-4"]
    done = run("learn", "walks.csv", "--model", "lds", *words, "-o", "m.json")
    assert done.code == 0, done
    assert "learned from 40 rows of 2 sequences" in done.out
    return jn.load("m.json"), frame


def test_a_system_is_learned_shown_and_asked(run, learned):
    model, frame = learned
    rows, lengths = frame[["p", "q", "u"]], [20, 20]
    assert run("show", "m.json").out == f"{model.summary()}\n"
    told = json.loads(run("show", "m.json", "--json").out)
    assert told["model"] == "lds"
    assert told["inputs"] == ["u"]
    scored = json.loads(run("score", "m.json", "walks.csv", "--sequences", "walk", "--json").out)
    total = model.log_likelihood(rows, lengths).sum()
    assert scored["log_likelihood"] == pytest.approx(total)
    ahead = ["forecast", "m.json", "walks.csv", "--sequences", "walk", "--steps", "2"]
    done = run(*ahead, "--future", "future.csv", "--interval", "0.9", "--json")
    found = json.loads(done.out)["forecast"]
    known = model.forecast(rows, 2, lengths=lengths, inputs=[[1.0], [0.0]], interval=0.9)
    assert [row["p"] for row in found] == pytest.approx(known.expected[:, :, 0].ravel().tolist())
    assert [row["q to"] for row in found] == pytest.approx(known.high[:, :, 1].ravel().tolist())
    assert found[0]["sequence"] == "a"
    run("predict", "m.json", "walks.csv", "--sequences", "walk", "-o", "states.csv")
    states = pd.read_csv("states.csv")["state_0"]
    np.testing.assert_allclose(states, model.transform(rows, lengths)[:, 0])
    run("impute", "m.json", "walks.csv", "--sequences", "walk", "-o", "full.csv")
    filled = pd.read_csv("full.csv")
    assert not filled.isna().to_numpy().any()
    assert filled["p"][3] == pytest.approx(model.impute(rows, lengths)[3, 0])


def test_a_system_without_inputs_is_sampled(run, learned):
    run("learn", "walks.csv", "--model", "lds", "--states", "1", "--column", "p", "-o", "n.json",
        "--sequences", "walk", "--tol", "1e-3")  # fmt: skip
    run("sample", "n.json", "-n", "4", "--n-sequences", "3", "--seed", "0", "-o", "rows.csv")
    rows = pd.read_csv("rows.csv")
    assert rows.columns.tolist() == ["sequence", "p"]
    assert len(rows) == 12
    again = run("learn", "walks.csv", "--model", "lds", "--states", "1", "--column", "p",
                "--sequences", "walk", "--start", "n.json", "--tol", "1e-2")  # fmt: skip
    assert again.code == 0


def test_what_cannot_be_is_refused(refuse, learned):
    lds = ["learn", "walks.csv", "--model", "lds"]
    hmm = ["learn", "walks.csv", "--model", "hmm", "--states", "2", "--start", "m.json"]
    assert "is needed here" in refuse(*hmm)
    assert "say once how many hidden states" in refuse(*lds)
    assert "would tear holes" in refuse(*lds, "--states", "1", "--complete-rows")
    assert "names the column of the sequences" in refuse(
        *lds, "--states", "1", "--sequences", "walk", "--column", "walk"
    )
    assert "needs numbers" in refuse(*lds, "--states", "1")
    ask = ["forecast", "m.json", "walks.csv", "--sequences", "walk"]
    assert "give --future, a table of these steps" in refuse(*ask)
    assert "has no column 'u'" in refuse(*ask, "--future", "empty.csv")
    for name in ("impute", "predict"):
        words = ["m.json", "walks.csv", "--scan", "-o", "x.csv"]
        told = "whole sequences" if name == "impute" else "--scan belongs to"
        assert told in refuse(name, *words)
