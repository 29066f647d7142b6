"""`jensen learn --model markov`, and the commands that answer from its files."""

import json

import pytest

import jensen as jn

ROWS = "a,b,n\nx,u,10\nx,v,4\ny,u,3\ny,v,8\n"


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    return file


@pytest.fixture
def net(run, rows, tmp_path):
    file = tmp_path / "net.json"
    done = run("learn", rows, "--weights", "n", "--model", "markov", "-o", file)
    assert done.code == 0
    assert "MarkovNetwork(2 nodes, 1 edge, 3 free parameters)" in done.out
    assert "a - b" in done.out
    return file


def test_what_is_learned_is_what_the_library_learns(run, rows, net):
    table = jn.read_table(rows, weights="n")
    assert jn.load(net).equals(jn.MarkovNetwork().fit(table))
    found = json.loads(
        run("learn", rows, "--weights", "n", "--model", "markov", "--prior", "l1=3", "--json").out
    )
    wanted = jn.MarkovNetwork(prior={"l1": 3.0}).fit(table)
    assert found["free_energy"] == wanted.free_energy_
    assert found["meaning"] == "log-likelihood + log prior"
    assert found["effects"][2]["log_potential"] == wanted.effects()["a", "b"].values.tolist()


def test_commands_answer(run, net, rows, tmp_path):
    assert "P(a | b=u)" in run("query", net, "a", "--given", "b=u").out
    assert run("sample", net, "-n", "3", "--seed", "1").out.count("\n") == 4
    assert "log likelihood" in run("score", net, rows, "--weights", "n").out
    assert "effect" in run("show", net).out
    assert json.loads(run("show", net, "--node", "a", "--json").out)[0]["variables"] == ["a"]
    errors = run("show", net, "--standard-errors", rows, "--weights", "n").out
    assert "error" in errors
    run("show", net, "--svg", "net.svg", "--beliefs")
    assert "<svg" in (tmp_path / "net.svg").read_text(encoding="utf-8")


def test_graphs_hidden_units_and_files_as_graphs(run, rows, net):
    done = run(
        *("learn", rows, "--weights", "n", "--model", "markov", "--graph", "a - h - b"),
        *("--hidden", "h=2", "--seed", "1", "--n-init", "2", "--json"),
    )
    assert json.loads(done.out)["nodes"] == ["a", "b", "h"]
    again = run("learn", rows, "--weights", "n", "--model", "markov", "--graph", net, "--json")
    assert json.loads(again.out)["edges"] == [["a", "b"]]


def test_refusals(refuse, rows, net):
    learn = ("learn", rows, "--weights", "n", "--model", "markov")
    assert "a penalty, as in ridge=1" in refuse(*learn, "--prior", "bdeu")
    assert "belongs to chains" in refuse(*learn, "--n-samples", "3")
    assert "belongs to --model markov" in refuse("learn", rows, "--interactions", "cliques")
    assert "no method 'vbem' for a Markov network" in refuse(*learn, "--method", "vbem")
    assert "no arrows" in refuse("query", net, "a", "--do", "b=u")
    assert "holds a Markov network" in refuse("learn", rows, "--graph", net)
    assert "holds a Markov network" in refuse("evidence", net, rows)
    assert "--intervals belong to posteriors" in refuse("show", net, "--intervals")


BITS = "a,b,c\n" + "1,1,0\n" * 6 + "0,0,1\n" * 5 + ",1,0\n0,1,\n"


def test_boltzmann_machines(run, refuse, tmp_path):
    rows, file = tmp_path / "bits.csv", tmp_path / "rbm.json"
    rows.write_text(BITS)
    learn = ("learn", rows, "--model", "rbm", "--hidden-units", "1", "--prior", "ridge=1")
    done = run(*learn, "--seed", "0", "-o", file)
    assert "log Z" in done.out
    machine = jn.load(file)
    assert machine.ridge == 1.0
    assert "per row" in run("score", file, rows).out
    assert run("predict", file, rows).out.splitlines()[0] == "a,b,c,factor_0"
    assert ",," not in run("impute", file, rows).out
    assert run("sample", file, "-n", "3", "--seed", "0").out.count("\n") == 4
    assert "exact" in run("show", file).out
    assert json.loads(run("show", file, "--json").out)["format"] == "jensen-rbm"
    chains = run(*learn, "--method", "pcd", "--n-steps", "2", "--seed", "0", "--json")
    found = json.loads(chains.out)
    assert found["free_energy"] is None
    assert found["log_z"]["kind"] == "exact"
    assert "a penalty, as in ridge=1" in refuse(*learn[:-1], "l1=1")
    assert "is no option of --model rbm" in refuse(*learn, "--n-chains", "3")
    assert "--hidden-units belongs to --model rbm" in refuse(
        "learn", rows, "--model", "mixture", "--states", "2", "--hidden-units", "1"
    )


def test_estimates_are_labelled(run, rows):
    learn = ("learn", rows, "--weights", "n", "--model", "markov", "--seed", "0")
    assert "no bound of the likelihood" in run(*learn, "--method", "pseudo").out
    done = run(*learn, "--method", "pcd", "--n-chains", "50", "--max-iter", "20")
    assert "no F and no bound" in done.out
