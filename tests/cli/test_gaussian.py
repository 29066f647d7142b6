"""Gaussian networks on the command line."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import jensen as jn


@pytest.fixture
def net(tmp_path):
    """`net.json` and `rows.csv`, with a gap, in the folder of the test."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = 2.0 * x + rng.normal(size=40)
    lines = [
        f"{i},{a!r},{b!r}" for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True))
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["id,x,y", *lines, "40,1.5,"]) + "\n")
    jn.BayesianNetwork("x -> y").fit({"x": x, "y": y}).save(tmp_path / "net.json")
    return "net.json"


def test_learn_prints_regressions(run, net):
    done = run("learn", "rows.csv", "--graph", "x -> y", "--complete-rows")
    assert "regression of y" in done.out
    done = run("learn", "rows.csv", "--graph", "x -> y", "--prior", "bge", "-o", "again.json")
    assert "lower bound of the log evidence" in done.out
    assert jn.load("again.json").is_bound_


def test_query_show_and_score(run, net):
    known = jn.load(net)
    assert run("query", net, "x", "--given", "y=1").out == f"{known.query('x', {'y': 1.0})}\n"
    found = json.loads(run("query", net, "x", "--given", "y=1", "--json").out)
    assert found["means"] == known.query("x", {"y": 1.0}).means.tolist()
    assert run("show", net).out.startswith(f"{known.summary()}\n\nregression of x\n")
    assert run("show", net, "--node", "y").out == f"{known.regression('y')}\n\n"
    assert json.loads(run("show", net, "--json").out)["format"] == "jensen-gaussian-network"
    table = jn.read_table("rows.csv").complete_rows()
    shown = json.loads(
        run("score", "x -> y", "rows.csv", "--score", "bge", "--complete-rows", "--json").out
    )
    assert shown["bge"] == jn.score("x -> y", table, "bge")


def test_a_query_has_its_interval_already(refuse, net):
    assert refuse("query", net, "x", "--interval", 0.5) == (
        "--interval tells how sure probabilities are, and this is a network of numbers, whose "
        "answers show the 90 % interval of each variable by themselves: leave --interval out"
    )


def test_impute_leaves_all_else_as_it_is_written(run, net):
    rows = list(csv.DictReader(io.StringIO(run("impute", net, "rows.csv").out)))
    expected = jn.load(net).query("y", {"x": 1.5}).mean
    assert float(rows[-1]["y"]) == pytest.approx(expected)
    assert rows[-1]["id"] == "40"
    before = list(csv.DictReader(io.StringIO(Path("rows.csv").read_text())))
    assert [float(row["y"]) for row in rows[:-1]] == [float(row["y"]) for row in before[:-1]]
    done = run("impute", net, "rows.csv", "--missing", "nothing", "-o", "out.csv")
    assert done.code == 0


def test_predict_gives_means(run, refuse, net):
    rows = list(csv.DictReader(io.StringIO(run("predict", net, "rows.csv", "--target", "y").out)))
    before = list(csv.DictReader(io.StringIO(Path("rows.csv").read_text())))
    expected = jn.load(net).predict("rows.csv", "y")
    found = [float(row.pop("predicted_y")) for row in rows]
    assert found == pytest.approx(expected.tolist(), rel=1e-12)
    assert rows == before
    answers = json.loads(run("predict", net, "rows.csv", "--target", "y", "--json").out)
    assert [answer["predicted"] for answer in answers] == pytest.approx(found, rel=1e-12)
    done = run("predict", net, "rows.csv", "--target", "y", "-o", "out.csv", "--json")
    assert json.loads(done.out) == {"rows": len(rows), "target": "y", "output": "out.csv"}
    line = refuse("predict", net, "rows.csv", "--target", "y", "--probabilities")
    assert line.startswith("--probabilities belongs to states, and 'y' is continuous")
