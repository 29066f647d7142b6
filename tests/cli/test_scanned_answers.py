"""`jensen predict --scan` and `impute --scan`: the answers of the rows in memory, in a file."""

import json

import numpy as np
import pandas as pd
import pytest

import jensen as jn


@pytest.fixture
def rows(run):
    """Three files of asia with gaps, and the file of the network."""
    net, rng = jn.examples.load("asia"), np.random.default_rng(0)
    net.save("asia.json")
    for k in range(3):
        frame = net.sample(40, random_state=k).to_pandas().astype(object)
        frame.mask(rng.random(frame.shape) < 0.1).to_csv(f"rows-{k}.csv", index=False)
    pd.concat([pd.read_csv(f"rows-{k}.csv") for k in range(3)]).to_csv("whole.csv", index=False)
    return "rows-*.csv"


def test_a_variable_is_predicted(run, rows):
    words = ["--target", "lung", "--probabilities"]
    assert run("predict", "asia.json", "whole.csv", *words, "-o", "a.csv").code == 0
    done = run("predict", "asia.json", rows, "--scan", *words, "-o", "b.csv")
    assert "120 rows written to b.csv" in done.err
    one, other = pd.read_csv("a.csv"), pd.read_csv("b.csv")
    pd.testing.assert_frame_equal(one, other[one.columns])


def test_gaps_are_filled(run, rows):
    assert run("impute", "asia.json", "whole.csv", "-o", "a.csv").code == 0
    plain = json.loads(run("impute", "asia.json", rows, "--scan", "-o", "b.csv", "--json").out)
    assert plain == {"rows": 120, "output": "b.csv"}
    pd.testing.assert_frame_equal(pd.read_csv("a.csv"), pd.read_csv("b.csv"))


@pytest.mark.parametrize(
    "words",
    [
        ["factors", "--factors", "1"],
        ["factor-mixture", "--factors", "1", "--states", "1", "--prior", "default"],
        ["mixture", "--states", "2"],
    ],
)
def test_models_of_numbers_answer(run, words):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(90, 1)) * [1.0, 2.0, -1.0] + 0.5 * rng.normal(size=(90, 3))
    values[::7, 1] = np.nan
    pd.DataFrame(values, columns=list("abc")).to_csv("whole.csv", index=False)
    assert run("learn", "whole.csv", "--model", *words, "--seed", "0", "-o", "m.json").code == 0
    for command in ("predict", "impute"):
        if command == "impute" and words[0] == "mixture":
            continue
        assert run(command, "m.json", "whole.csv", "-o", "a.csv").code == 0
        assert run(command, "m.json", "whole.csv", "--scan", "-o", "b.csv").code == 0
        one, other = pd.read_csv("a.csv"), pd.read_csv("b.csv")
        pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=1e-12)


def test_what_cannot_be_is_refused(run, refuse, rows):
    words = ["--target", "lung", "--scan"]
    text = refuse("predict", "asia.json", rows, *words)
    assert "--scan writes answers block by block: name a file for them, -o FILE" in text
    draws = ["--method", "draw", "--draws", "2", "--scan", "-o", "x.csv"]
    assert "--scan and --draws do not go together" in refuse("impute", "asia.json", rows, *draws)
    pd.DataFrame({"lung": ["no"], "predicted_lung": ["no"]}).to_csv("taken.csv", index=False)
    text = refuse("predict", "asia.json", "taken.csv", *words, "-o", "x.csv")
    assert "the table has a column 'predicted_lung' already" in text
    pd.DataFrame({"a": [1.5, 2.0], "d": [1.0, 3.5]}).to_csv("other.csv", index=False)
    pd.DataFrame({"a": [1.5, 2.0, 0.3], "b": [1.0, 3.5, 2.0]}).to_csv("two.csv", index=False)
    assert run("learn", "two.csv", "--model", "mixture", "--states", "1", "-o", "m.json").code == 0
    text = refuse("predict", "m.json", "other.csv", "--scan", "-o", "x.csv")
    assert "the table has no column 'b'" in text
