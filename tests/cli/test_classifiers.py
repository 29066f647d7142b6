"""`jensen learn --structure naive` and `tan`, and predictions with what was learned."""

import json

import pytest

import jensen as jn


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_a_class_is_learned_and_predicted(run, tmp_path, structure):
    rows = jn.examples.load("cancer").sample(200, random_state=0)
    rows.write(tmp_path / "rows.csv")
    net = tmp_path / "net.json"
    words = ("learn", tmp_path / "rows.csv", "--structure", structure, "--prior", "bdeu")
    done = run(*words, "--target", "Cancer", "-o", net)
    assert done.code == 0, done.err
    assert f"{structure}: the class points to every column" in done.out
    graph = jn.load(net).graph
    assert set(graph.children("Cancer")) == set(rows.names) - {"Cancer"}
    made = jn.naive_bayes(rows, "Cancer") if structure == "naive" else jn.tan(rows, "Cancer")
    assert graph == made
    found = run("predict", net, tmp_path / "rows.csv", "--target", "Cancer", "--json")
    assert len(json.loads(found.out)) == 200
    refused = run(*words)
    assert f"--structure {structure} points from a class: name it with --target" in refused.err
