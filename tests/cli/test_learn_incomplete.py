"""`jensen learn` from rows with values missing anywhere."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import jensen as jn

GRAPH = ["--graph", "rain -> wet"]
CHAINS = {"n_samples": 20, "burn_in": 5, "n_chains": 2, "random_state": 3}
CHAIN_WORDS = ["--n-samples", 20, "--burn-in", 5, "--n-chains", 2, "--seed", 3]
HOLES = "rain,wet\nno,no\nno,yes\nyes,yes\n,yes\nyes,\nno,no\n"

pytestmark = pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")


@pytest.fixture
def holes(tmp_path):
    (tmp_path / "holes.csv").write_text(HOLES)
    return "holes.csv"


@pytest.fixture
def answers():
    """Answers to three questions, which depend on a kind that nobody asked for."""
    rng = np.random.default_rng(0)
    kind = rng.random(60) < 0.4
    columns = {x: np.where(rng.random(60) < np.where(kind, 0.9, 0.2), "y", "n") for x in "abc"}
    jn.Table(columns).write("answers.csv")
    return "answers.csv"


LATENT = ["--graph", "kind -> a; kind -> b; kind -> c"]


@pytest.mark.parametrize(
    ("words", "choices", "meaning"),
    [
        ([], {}, "log-likelihood"),
        (["--prior", 2, "--method", "em"], {"prior": 2.0, "method": "em"}, "+ log prior"),
        (["--prior", "bdeu"], {"prior": "bdeu"}, "lower bound of the log evidence"),
        (
            ["--prior", 1, "--method", "me"],
            {"prior": 1.0, "method": "me"},
            "lower bound of the log evidence",
        ),
        (["--method", "viterbi"], {"method": "viterbi"}, "log-likelihood of the completed rows"),
        (
            ["--method", "viterbi", "--prior", 2],
            {"method": "viterbi", "prior": 2.0},
            "log-likelihood of the completed rows + log prior",
        ),
    ],
)
def test_ascents_say_what_their_value_means(run, holes, words, choices, meaning):
    done = run("learn", holes, *GRAPH, *words, "--seed", 0, "-o", "net.json")
    expected = jn.BayesianNetwork("rain -> wet", **choices, random_state=0).fit(holes)
    assert jn.load("net.json").equals(expected)
    first, second, third = done.out.splitlines()
    assert first.endswith(f"{meaning} {expected.free_energy_:.6f}")
    name = choices.get("method") or ("vbem" if "prior" in choices else "em")
    assert second.startswith(f"{name}: converged after {expected.n_sweeps_} sweep")
    assert third == "written to net.json"


def test_the_tables_are_told_to_be_exact_where_nothing_that_counts_is_missing(run):
    with open("rows.csv", "w") as file:
        file.write("a,b,extra,n\n0,0,,1\n1,1,x,2\n1,,x,0\n")
    done = run("learn", "rows.csv", "--graph", "a -> b", "--prior", 1, "--weights", "n")
    assert "; log evidence -" in done.out
    assert "\nvbem: no missing value bears on the parameters, so this is exact\n" in done.out


def test_a_hidden_variable_with_many_starts(run, answers):
    words = ["--prior", 1, "--n-init", 4, "--seed", 1, "--max-iter", 500, "--tol", 1e-6]
    done = run("learn", answers, *LATENT, "--hidden", "kind=2", *words, "-o", "net.json")
    expected = jn.BayesianNetwork(
        "kind -> a; kind -> b; kind -> c",
        hidden={"kind": 2}, prior=1.0, n_init=4, random_state=1, max_iter=500, tol=1e-6,
    ).fit(answers)  # fmt: skip
    again = jn.load("net.json")
    assert again.equals(expected)
    assert again.hidden == {"kind": 2}
    assert (again.n_init, again.max_iter, again.tol, again.random_state) == (4, 500, 1e-6, 1)
    assert "; the best of 4 starts\n" in done.out
    told = json.loads(run("learn", answers, *LATENT, "--hidden", "kind=2", *words, "--json").out)
    assert told["starts"] == expected.starts_.tolist()
    assert told["free_energy"] == max(told["starts"])
    assert told["n_sweeps"] == expected.n_sweeps_
    assert told["meaning"] == "lower bound of the log evidence"


def test_hidden_states_may_be_named(run, answers):
    run("learn", answers, *LATENT, "--hidden", "kind=casual,keen", "--seed", 0, "-o", "net.json")
    assert jn.load("net.json").states["kind"] == ("casual", "keen")
    assert jn.load("net.json").hidden == {"kind": ["casual", "keen"]}


def test_gibbs_tells_how_well_it_mixed_and_keeps_its_samples(run, holes):
    words = ["--prior", 1, "--method", "gibbs", *CHAIN_WORDS]
    done = run("learn", holes, *GRAPH, *words, "-o", "net.json")
    expected = jn.BayesianNetwork("rain -> wet", prior=1.0, method="gibbs", **CHAINS).fit(holes)
    again = jn.load("net.json")
    assert again.network_.samples.tobytes() == expected.network_.samples.tobytes()
    first, second, _ = done.out.splitlines()
    assert first.endswith("learned from 6 rows")
    assert second == (
        f"gibbs: 2 chains of 20 samples after 5 sweeps of burn-in; R-hat {expected.r_hat_:.3f}, "
        f"effective sample size {expected.effective_sample_size_:,.0f}"
    )
    told = json.loads(run("learn", holes, *GRAPH, *words, "--json").out)
    assert told["free_energy"] is told["meaning"] is None
    assert told["r_hat"] == expected.r_hat_
    assert told["effective_sample_size"] == expected.effective_sample_size_
    assert (told["starts"], told["converged"]) == ([], False)


def test_chains_too_short_to_judge_say_so(run, holes):
    words = ["--prior", 1, "--method", "gibbs", "--n-samples", 2, "--burn-in", 1, "--n-chains", 1]
    done = run("learn", holes, *GRAPH, *words)
    assert "1 chain of 2 samples after 1 sweep of burn-in; R-hat unknown, effective" in done.out


def test_stochastic_em_is_an_average(run, holes):
    words = ["--method", "stochastic-em", *CHAIN_WORDS, "--thin", 2, "--json"]
    told = json.loads(run("learn", holes, *GRAPH, *words, "-o", "net.json").out)
    expected = jn.BayesianNetwork("rain -> wet", method="stochastic-em", thin=2, **CHAINS)
    assert jn.load("net.json").equals(expected.fit(holes))
    assert told["meaning"] == "log-likelihood"
    assert math.isclose(told["free_energy"], expected.free_energy_, rel_tol=1e-12)


def test_a_network_is_a_start(run, holes):
    run("learn", holes, *GRAPH, "--seed", 0, "-o", "first.json")
    done = run("learn", holes, *GRAPH, "--start", "first.json", "-o", "second.json", "--json")
    first, second = jn.load("first.json"), jn.load("second.json")
    assert json.loads(done.out)["free_energy"] >= first.free_energy_
    assert second.trace_[0] == pytest.approx(first.free_energy_, rel=1e-12)


def test_a_hidden_node_of_a_known_network(run, answers):
    run("learn", answers, *LATENT, "--hidden", "kind=2", "--seed", 0, "-o", "net.json")
    words = ["--graph", "net.json", "--start", "net.json", "--hidden", "kind=2"]
    done = run("learn", answers, *words, "-o", "again.json")
    assert done.code == 0, done
    assert jn.load("again.json").free_energy_ >= jn.load("net.json").free_energy_
    done = run("learn", answers, *words, "--complete-rows")
    assert "learned from 60 rows" in done.out


def test_a_checkpoint_is_resumed(run, answers):
    words = [*LATENT, "--hidden", "kind=2", "--prior", 1, "--seed", 2, "--checkpoint", "run"]
    done = run("learn", answers, *words, "-o", "net.json")
    assert done.code == 0
    assert os.path.exists("run")
    again = run("learn", answers, *words, "-o", "again.json")
    assert "resuming from the checkpoint" in again.err
    with open("net.json") as one, open("again.json") as other:
        assert one.read() == other.read()
    assert run("learn", answers, *words, "--tol", 1e-3).code == 2  # another run


@pytest.mark.slow
def test_a_run_that_is_interrupted_keeps_what_it_has_and_says_so(holes):
    words = ["learn", holes, *GRAPH, "--prior", "1", "--method", "gibbs", "--n-chains", "1"]
    words += ["--n-samples", "100000", "--burn-in", "0", "--thin", "1000", "--seed", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "jensen", *words, "-o", "net.json", "--checkpoint", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(1200):  # until it samples
        if os.path.exists("run") or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"gibbs: 1 chain of " in out
    assert b"jensen: warning: interrupted: this is the best so far" in err
    assert err.endswith(b"jensen: interrupted\n")
    assert 0 < len(jn.load("net.json").network_.samples) < 100_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hidden", "rain"], "--hidden rain: write the node, =, and its number of states"),
        (["--hidden", "rain=2"], "'rain' is declared hidden, but its column has values"),
        (["--hidden", "snow=2"], "--hidden snow: the graph has no node 'snow'"),
        (["--n-init", 0], "--n-init must be a whole number, 1 or more, not 0"),
        (["--n-init", "x"], "Invalid value for '--n-init'"),
        (["--n-samples", 5], "n_samples belongs to methods such as 'gibbs'"),
        (["--method", "gibbs", "--prior", 1, "--n-init", 3], "n_init belongs to methods such as"),
        (["--tol", -1], "tol must be a number, 0 or more"),
        (["--max-iter", -1], "--max-iter must be a whole number, 0 or more, not -1"),
        (["--seed", -1], "Invalid value for '--seed'"),
        (["--start", "gone.json"], "cannot read gone.json: No such file or directory"),
        (["--start", "other.json"], "start= must have the graph and the states of the network"),
        (["--checkpoint", "gone/run"], "cannot write gone/run: there is no folder"),
        (["--checkpoint", "n.json", "-o", "n.json"], "-o and --checkpoint both name n.json"),
        (["--checkpoint", "holes.csv"], "holes.csv"),
    ],
)
def test_wrong_choices(refuse, holes, words, message):
    jn.examples.load("cancer").save("other.json")
    assert message in refuse("learn", holes, *GRAPH, *words)
    assert sorted(os.listdir()) == ["holes.csv", "other.json"]


@pytest.mark.parametrize("n_states", ["1", "a", "0", ""])
def test_a_hidden_variable_needs_two_states(refuse, answers, n_states):
    line = refuse("learn", answers, *LATENT, "--hidden", f"kind={n_states}")
    assert line.startswith("the hidden variable 'kind' needs two states at least")


def test_a_node_without_a_column_is_told_what_to_do(refuse, answers):
    line = refuse("learn", answers, *LATENT)
    assert line.endswith("of states, --hidden kind=2")


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_one_row_and_a_constant_column(run):
    with open("one.csv", "w") as file:
        file.write("a,b\nx,\n")
    done = run("learn", "one.csv", "--graph", "b -> a", "--states", "b=n,y", "--prior", 1)
    assert done.code == 0, done
    assert "learned from 1 row;" in done.out
    assert done.err.startswith("jensen: warning: there is one row to learn from")
    with open("same.csv", "w") as file:
        file.write("a,b\nx,u\nx,v\n,u\n")
    done = run("learn", "same.csv", "--graph", "a -> b", "--prior", 1)
    assert done.code == 0
    assert done.err.startswith("jensen: warning: column 'a' ('x') holds one label only, to which")
    done = run("learn", "same.csv", "--graph", "a -> b", "--prior", 1, "--states", "a=x,y")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("method", ["vbem", "me"])
def test_a_method_that_needs_a_prior_has_one_of_its_own(method, run, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("a,b\nx,u\ny,\nx,v\n,u\n")
    given, default = (
        run("learn", data, "--graph", "a -> b", "--method", method, "--seed", 0, "--json", *prior)
        for prior in (["--prior", "bdeu"], [])
    )
    assert given == default
