"""`jensen evidence`: the numbers of the library, and what belongs to which model and method."""

import json

import pytest
from evidence.cases import LATENT, chain, latent_class

import jensen as jn


@pytest.fixture
def rows(tmp_path):
    """Yes and no, so that text files have labels."""
    table = {x: ["yes" if s == "1" else "no" for s in column] for x, column in LATENT.items()}
    jn.Table(table).to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    return table


def test_the_evidence_of_a_file(run, rows):
    latent_class(2).fit(rows).save("classes.json")
    shown = json.loads(
        run("evidence", "classes.json", "rows.csv", "--method", "exact", "--json").out
    )
    assert shown["log_evidence"] == pytest.approx(-26.0241013598, abs=1e-9)
    assert shown["kind"] == "exact"
    done = run("evidence", "classes.json", "rows.csv", "--seed", 0)
    assert "lower bound" in done.out
    assert "Pareto k" in done.out
    found = run(
        "evidence", "classes.json", "rows.csv", "--method", "ais", "--n-chains", 100,
        "--n-temperatures", 20, "--seed", 0,
    )  # fmt: skip
    assert "temperatures" in found.out
    assert "estimate" in found.out


def test_the_evidence_of_a_graph(run, rows):
    out = run("evidence", "a -> b; c", "rows.csv", "--method", "exact", "--json").out
    expected = jn.score("a -> b; c", rows, "bdeu")
    assert json.loads(out)["log_evidence"] == pytest.approx(expected)
    one = run("evidence", "a -> b; c", "rows.csv", "--prior", 1, "--method", "exact", "--json").out
    expected = jn.score("a -> b; c", rows, "k2")
    assert json.loads(one)["log_evidence"] == pytest.approx(expected)


def test_the_evidence_of_chains_and_mixtures(run, tmp_path):
    model = chain(2)
    sequences = [[0, 1, 1, 0], [1, 1]]
    model.set_params(symbols=["no", "yes"])
    words = [["yes" if x else "no" for x in one] for one in sequences]
    model.fit(words).save("hmm.json")
    lines = [f"{s},{x}" for s, one in enumerate(words) for x in one]
    (tmp_path / "walks.csv").write_text("walk,step\n" + "\n".join(lines) + "\n")
    out = run(
        "evidence", "hmm.json", "walks.csv", "--sequences", "walk", "--method", "exact", "--json"
    ).out
    expected = jn.log_evidence(model, words, "exact").value
    assert json.loads(out)["log_evidence"] == pytest.approx(expected)
    points = jn.Table({"x": [0.1, 0.4, 2.1, 2.6, 2.9]})
    points.to_pandas().to_csv("points.csv", index=False)
    mixture = jn.GaussianMixture(2, prior={}, random_state=0, n_init=3).fit(points.to_pandas())
    mixture.save("mixture.json")
    out = run("evidence", "mixture.json", "points.csv", "--method", "exact", "--json").out
    expected = jn.log_evidence(mixture, points.to_pandas(), "exact").value
    assert json.loads(out)["log_evidence"] == pytest.approx(expected)


def test_what_does_not_belong_together_is_refused(refuse, rows):
    latent_class(2).fit(rows).save("classes.json")
    told = refuse("evidence", "classes.json", "rows.csv", "--prior", "bdeu")
    assert told == "--prior belongs to a graph, not to a file: a file holds its own"
    told = refuse("evidence", "classes.json", "rows.csv", "--n-temperatures", 4)
    assert told == "--n-temperatures belongs to ais or smc, not to vb"
    jn.LatentClass(2, random_state=0).fit(rows).save("flat.json")
    assert "is no distribution" in refuse("evidence", "flat.json", "rows.csv")
