"""Networks of labels and numbers on the command line."""

import json

import pytest

import jensen as jn


@pytest.fixture
def net(tmp_path):
    """`net.json` and `rows.csv`, with gaps, in the folder of the test."""
    made = jn.BayesianNetwork.from_parameters(
        "sex -> height; height -> weight",
        tables={"sex": {"f": 0.5, "m": 0.5}},
        regressions={
            "height": {
                "f": {"intercept": 165.0, "variance": 36.0},
                "m": {"intercept": 178.0, "variance": 49.0},
            },
            "weight": {"intercept": -90.0, "coefficients": {"height": 0.95}, "variance": 80.0},
        },
    )
    made.save(tmp_path / "net.json")
    (tmp_path / "rows.csv").write_text("sex,height,weight\nf,,60\n,170,\nm,180,90\n")
    return "net.json"


def test_queries(run, net):
    known = jn.load(net)
    given = ("--given", "weight=60")
    assert run("query", net, "sex", *given).out == f"{known.query('sex', {'weight': 60.0})}\n"
    wanted = known.query("height", {"weight": 60.0})
    assert run("query", net, "height", *given).out == f"{wanted}\n"
    found = json.loads(run("query", net, "height", *given, "--json").out)
    assert found["weights"] == wanted.weights.tolist()
    assert "regression of height given sex" in run("show", net).out


def test_rows(run, net):
    filled = run("impute", net, "rows.csv").out.splitlines()
    assert filled[3] == "m,180,90"
    assert filled[2].startswith("f,170,71.")
    predicted = run("predict", net, "rows.csv", "--target", "sex").out.splitlines()
    assert [line.split(",")[-1] for line in predicted[1:]] == ["f", "f", "m"]
    assert "-14.652746" in run("score", net, "rows.csv").out
    drawn = run("sample", net, "-n", "2", "--given", "sex=f", "--seed", "1").out.splitlines()
    assert [line.split(",")[1] for line in drawn] == ["sex", "f", "f"]


def test_a_picture(run, net, tmp_path):
    run("show", net, "--svg", "net.svg", "--beliefs", "--given", "height=170")
    assert "±" in (tmp_path / "net.svg").read_text(encoding="utf-8")


def test_the_strength_of_the_prior(run, refuse, tmp_path):
    table = "g,x,y\n" + "".join(f"{'uv'[k % 2]},{k / 7},{k * 0.3 + k % 3 / 9}\n" for k in range(40))
    (tmp_path / "tight.csv").write_text(table)
    command = ("learn", "tight.csv", "--graph", "g -> y; x -> y", "-o", "net.json", "--prior")
    told = run(*command, "bdeu-bge").out
    strength = jn.load(tmp_path / "net.json").network_.strength
    assert f"(numbers: prior of strength {strength:g}, that of the highest evidence)" in told
    assert f"strength {strength:g}, that" in run("show", "net.json").out
    assert "prior of strength 0.5)" in run(*command, "strength=0.5").out
    assert jn.load(tmp_path / "net.json").prior == {"strength": 0.5}
    assert "has strength" in refuse(*command, "scale=0.5")


def test_parameters_without_a_bound_are_told_with_the_graph(run, tmp_path):
    """A rare label whose rows all hold the same number."""
    rows = [f"{'uv'[k % 2]},{10 * (k % 2) + k * k % 7 / 9}" for k in range(60)] + ["w,50"] * 3
    (tmp_path / "rare.csv").write_text("\n".join(["g,x", *rows]))
    said = run("learn", "rare.csv").err.splitlines()[-1]
    assert said.startswith(
        "jensen: the graph is g -> x, but its parameters: the likelihood of 'x' has no"
    )
    assert "where g=w, it is constant in the rows" in said
    assert "--prior bdeu-bge" in said
    assert run("learn", "rare.csv", "--prior", "bdeu-bge").code == 0


def test_a_posterior_over_graphs_of_rows_with_holes_has_labels_and_numbers(run, net):
    numbers = ["--continuous", "height", "--continuous", "weight"]
    few = ["--samples", "20", "--chains", "2", "--seed", "0"]
    assert "bdeu-bge" in run("posterior", "rows.csv", *numbers, *few).out
