"""`jensen update`: rows that come one file after the other."""

import json

import jensen as jn


def test_files_one_after_the_other_are_all_of_them_at_once(run, refuse):
    rows = jn.examples.load("asia").sample(300, random_state=0)
    rows.rows(0, 200).write("one.csv")
    rows.rows(200, 300).write("two.csv")
    rows.write("whole.csv")
    graph = ["--graph", "smoke -> lung; smoke -> bronc; lung -> xray", "--prior", "bdeu"]
    assert run("learn", "one.csv", *graph, "-o", "net.json").code == 0
    assert run("learn", "whole.csv", *graph, "-o", "whole.json").code == 0
    done = run("update", "net.json", "two.csv", "-o", "net.json")
    assert "100 rows learned from" in done.err
    assert jn.load("net.json").equals(jn.load("whole.json"), 1e-12)
    words = ["--n-total", "5000", "--scan", "-o", "new.json", "--json"]
    found = json.loads(run("update", "net.json", "tw*.csv", *words).out)
    assert found["rows"] == 100
    assert found["update"].startswith("stochastic variational Bayes: a step of")
    text = refuse("update", "net.json", "two.csv")
    assert "say where the updated network is written: -o FILE" in text
    text = refuse("update", "net.json", "two.csv", "-o", "x.json", "--step", "0.1")
    assert "--step belongs to --n-total" in text
    text = refuse("update", "net.json", "two.csv", "-o", "x.json", "--n-total", "3")
    assert "is less than the rows of this table, 100" in text
    assert run("learn", "one.csv", *graph[:2], "-o", "flat.json").code == 0
    text = refuse("update", "flat.json", "two.csv", "-o", "x.json")
    assert "files hold counts only as a posterior" in text
