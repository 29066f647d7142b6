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
    assert "no missing value bears on the parameters, so this is exact" in done.out
    assert jn.load("again.json").is_bound_
    rows = Path("rows.csv").read_text().replace("40,1.5,", "40,,1.5")  # y tells something of x
    Path("rows.csv").write_text(rows)
    done = run("learn", "rows.csv", "--graph", "x -> y", "--prior", "bge", "-o", "again.json")
    assert "lower bound of the log evidence" in done.out


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


# --- the scale of the prior ---


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = 0.02 * rng.normal(size=40)
    columns = {"x": x, "y": 0.02 * rng.normal(size=40) + 0.5 * x}
    rows = np.column_stack(list(columns.values())).tolist()
    lines = ["x,y", *(f"{a!r},{b!r}" for a, b in rows)]
    Path("small.csv").write_text("\n".join(lines) + "\n")
    Path("scale.csv").write_text("y,x\n3.0,0.5\n0.5,2.0\n")
    return jn.read_table("small.csv")


@pytest.mark.parametrize(
    ("text", "scale"),
    [(None, None), ("unit", "unit"), ("0.25", 0.25), ("scale.csv", [[2.0, 0.5], [0.5, 3.0]])],
)
def test_scales(run, table, text, scale):
    given = [] if text is None else ["--scale", text]
    shown = json.loads(run("score", "x -> y", "small.csv", "--json", *given).out)
    expected = jn.score("x -> y", table, "bge", scale=scale)
    assert shown["bge"] == pytest.approx(expected, rel=1e-12)
    done = run("learn", "small.csv", "--prior", "bge", "-o", "net.json", *given)
    assert done.code == 0
    dag = jn.learn_structure(table, scale=scale)
    assert f"bge {dag.info.score:.6f}" in done.out
    prior = "bge" if scale is None else {"scale": scale}
    fitted = jn.BayesianNetwork(dag, prior=prior).fit(table)
    assert jn.load("net.json").free_energy_ == pytest.approx(fitted.free_energy_, rel=1e-12)
    graph = ["learn", "small.csv", "--graph", str(dag), "--method", "vbem", "-o", "again.json"]
    assert run(*graph, *given).code == 0
    assert jn.load("again.json").free_energy_ == pytest.approx(fitted.free_energy_, rel=1e-12)
    found = run("posterior", "small.csv", "--method", "exact", "--json", *given)
    post = jn.structure_posterior(table, "exact", scale=scale)
    assert json.loads(found.out)["log_evidence"] == pytest.approx(post.log_evidence, rel=1e-12)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["score", "x -> y", "small.csv", "--scale", "units"],
         "--scale units: write unit, a number, or the name of a .csv file"),
        (["score", "x -> y", "small.csv", "--score", "bic", "--scale", "unit"],
         "--scale belongs to --score bge or bdeu-bge, not to bic"),
        (["posterior", "small.csv", "--score", "bic", "--scale", "unit"],
         "--scale belongs to --score bge or bdeu-bge, not to bic"),
        (["learn", "small.csv", "--score", "bic", "--scale", "unit"],
         "--scale belongs to the prior of columns of numbers: use it with --score bge, --prior"),
        (["learn", "small.csv", "--graph", "x -> y", "--scale", "unit"],
         "--scale belongs to the prior of columns of numbers: use it with --score bge, --prior"),
        (["learn", "small.csv", "--scale", "-1"], "--scale must be positive"),
        (["learn", "small.csv", "--without", "y", "--scale", "scale.csv"],
         "--scale scale.csv: its first line must name each column once: x"),
        (["score", "x -> y", "small.csv", "--scale", "small.csv"],
         "--scale small.csv: the matrix must have 2 lines of 2 numbers"),
        (["score", "x -> y", "small.csv", "--scale", "words.csv"],
         "--scale words.csv: the file must hold the names of the columns in its first line, and a"),
    ],
)  # fmt: skip
def test_scales_that_are_none(refuse, table, words, text):
    Path("words.csv").write_text("x,y\na,b\nc,d\n")
    assert refuse(*words).startswith(text)


def test_no_complete_row(run, refuse, table):
    Path("holes.csv").write_text("x,y\n0.5,\n,1.5\n")
    for words in (
        ["learn", "--missing", "refuse"],
        ["learn", "--complete-rows"],
        ["posterior", "--complete-rows"],
    ):
        line = refuse(words[0], "holes.csv", *words[1:])
        assert "no row and no column is known throughout" in line
    line = refuse("score", "x -> y", "holes.csv")
    assert line.endswith(
        "leave out the columns with the most gaps (none of the 2 rows is complete)"
    )
    line = refuse("score", "x -> y", "holes.csv", "--complete-rows")
    assert line == "there is nothing to learn from: the table has no rows, or no weight"
