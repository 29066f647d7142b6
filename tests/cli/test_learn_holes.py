"""`jensen learn` finds the graph of rows with holes."""

import json

import numpy as np
import pytest

import jensen as jn


@pytest.fixture
def holes(tmp_path):
    """`holes.csv`: a chain a - b - c, each the one before with 15 % flipped, 20 % missing."""
    rng = np.random.default_rng(0)
    columns, last = {}, rng.random(120) < 0.5
    for name in "abc":
        columns[name] = np.where(rng.random(120) < 0.2, "", np.where(last, "y", "n"))
        last = last ^ (rng.random(120) < 0.15)
    lines = [",".join(row) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "holes.csv").write_text("\n".join(["a,b,c", *lines, ""]))
    return "holes.csv"


def told(done):
    assert done.code == 0, done
    return json.loads(done.out)


def edges(answer):
    return {tuple(edge) for edge in answer["edges"]}


@pytest.mark.parametrize(
    ("words", "choices", "meaning"),
    [
        ([], {}, "a lower bound of log p(observed | graph) under bdeu"),
        (["--score", "bic"], {"score": "bic"},
         "the log-likelihood of what was observed less the penalty of bic"),
        (["--graph-prior", "fair", "--structure", "tabu"], {"prior": "fair", "method": "tabu"},
         "a lower bound of log p(observed, graph) under bdeu"),
        (["--completion", "draw"], {"completion": "draw"}, "a lower bound of log p("),
        (["--completion", "mode"], {"completion": "mode"}, "a lower bound of log p("),
        (["--hidden", "h=2"], {"hidden": {"h": 2}}, "a lower bound of log p("),
        (["--structure", "ges"], {"method": "ges"}, "a lower bound of log p("),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:1 parent configuration never occurred")  # h says nothing
def test_the_report_says_what_was_done(run, holes, words, choices, meaning):
    words = ["learn", holes, *words, "--seed", 0]
    answer = told(run(*words, "--json"))
    found = jn.learn_structure(holes, random_state=0, **choices)
    info = found.info
    assert answer["structure"]["score"] == info.score
    about = answer["structure"]["structural_em"]
    assert about["meaning"].startswith(meaning)
    assert about["starts"] == dict(info.starts)
    assert (about["completion"], about["statistics"]) == (info.completion, info.statistics)
    assert (about["ascends"], about["is_bound"]) == (info.ascends, info.is_bound)
    assert answer["nodes"] == list(found.nodes)
    first, second, third, fourth = run(*words).out.splitlines()[:4]
    name = choices.get("method", "hill-climb")
    n = len(info.starts)
    assert first.startswith(f"{name}: structural EM from {n} starts, not proven to be the best; J ")
    assert f"; J {info.score:.6f}; " in first
    assert second.startswith(f"J is {meaning}")
    how = {"draw": "by ten draws each (no ascent)", "mode": "in the most probable way each (no"}
    ways = how.get(info.completion, "in all ways, each with its probability")
    assert third.startswith(f"rows are completed {ways}")
    assert third.endswith(f"; expected counts: {info.statistics}")
    assert fourth.startswith(f"J by start: tree {info.starts['tree']:.3f}, empty ")


def test_graph_and_tables_are_those_of_the_library(run, holes):
    run("learn", holes, "--score", "bic", "--seed", 0, "-o", "net.json")
    net = jn.load("net.json")
    expected = jn.BayesianNetwork(random_state=0).fit(holes)
    assert net.graph == expected.graph
    assert net.free_energy_ == pytest.approx(expected.free_energy_, abs=1e-4)


@pytest.mark.filterwarnings("ignore:1 parent configuration never occurred")  # h says nothing
def test_a_hidden_variable_is_in_the_network(run, holes):
    run("learn", holes, "--hidden", "h=low,high", "--seed", 0, "-o", "net.json")
    assert jn.load("net.json").states["h"] in (("low", "high"), ("high", "low"))
    assert jn.load("net.json").hidden == {"h": ["low", "high"]}


def test_indicators_are_in_the_network(run, holes):
    run("learn", holes, "--missing-indicators", "--seed", 0, "-o", "net.json")
    net = jn.load("net.json")
    assert net.graph.nodes == ("a", "a missing", "b", "b missing", "c", "c missing")
    assert net.states["a missing"] == ("no", "yes")


def test_trees(run, holes):
    answer = told(run("learn", holes, "--structure", "tree", "--json"))
    tree = jn.chow_liu(holes)
    assert edges(answer) == set(tree.edges)
    assert answer["structure"]["score"] == tree.info.score
    done = run("learn", holes, "--structure", "tree", "--score", "bic")
    assert done.out.startswith("tree: structural EM from 5 starts, not proven to be the best; J ")
    assert "J is the log-likelihood of what was observed less the penalty of bic\n" in done.out


def test_other_ways(run, holes):
    answer = told(run("learn", holes, "--missing", "node-average", "--json"))
    assert edges(answer) == set(jn.learn_structure(holes, missing="node-average").edges)
    assert answer["structure"]["score_name"] == "node-average"
    assert answer["structure"]["structural_em"] is None
    one, other = (
        told(run("learn", holes, "--score", "bic", *words, "--json"))
        for words in (["--available-case"], ["--missing", "available-case"])
    )
    assert one["edges"] == other["edges"]
    assert one["structure"]["score"] == other["structure"]["score"]


def test_a_bootstrap(run, holes):
    answer = told(run("learn", holes, "--bootstrap", 2, "--seed", 0, "--json"))
    assert answer["structure"]["score"] is None
    assert answer["structure"]["bootstrap"]["n_graphs"] == 2


def test_a_label_that_is_spelled_like_a_way_is_a_label(run):
    with open("survey.csv", "w") as file:
        file.write("a,b\n" + "yes,no\nno,yes\nrefuse,no\nyes,refuse\n" * 10)
    answer = told(run("learn", "survey.csv", "--missing", "refuse", "--seed", 0, "--json"))
    assert answer["structure"]["structural_em"] is not None
    answer = told(run("learn", "survey.csv", "--json"))
    assert answer["structure"]["structural_em"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--missing", "structural_em"], "there is no --missing structural_em: choose structural"),
        (["--missing", "Available Case"], "there is no --missing Available Case: choose "),
        (["--completion", "drawn"], "Invalid value for '--completion'"),
        (["--missing", "refuse", "--completion", "draw"],
         "--completion has no meaning with --missing refuse: only with --missing structural-em"),
        (["--missing", "node-average", "--hidden", "h=2"], "--hidden has no meaning with --mis"),
        (["--missing", "node-average", "--score", "aic"],
         "--missing node-average is a likelihood with a penalty of its own, like 'bic': leave out "
         "--score aic"),
        (["--missing", "node-average", "--missing", "refuse"],
         "--missing node-average and --missing refuse do not go together: choose one"),
        (["--missing", "available-case"], "--missing available-case belongs to --score "),
        (["--missing", "node-average", "--structure", "pc"],
         "--missing node-average belongs to --structure hill-climb, tabu, exact or ges, not to"),
        (["--missing", "node-average", "--graph", "a -> b"],
         "--missing node-average belongs to a graph that is learned"),
        (["--missing", "structural-em", "--model", "latent-class", "--states", "2"],
         "--missing structural-em belongs to a graph that is learned"),
        (["--hidden", "a=2"], "'a' is declared hidden, but is a column: leave out one of them"),
        (["--hidden", "h"], "--hidden h: write the node, =, and its number of states"),
        (["--hidden", "h=1"], "the hidden variable 'h' needs two states at least"),
        (["--required", "h -> a"], "--required names 'h', which is no column"),
        (["--score", "fnml"], "the score 'fnml' needs complete rows: where values are missing or"),
        (["--score", "best"], "there is no score 'best': choose one of"),
        (["--completion", "draw", "--structure", "pc"], "--completion belongs to --structure"),
        (["--completion", "draw", "--graph", "a -> b"],
         "--completion belongs to a graph that is learned"),
    ],
)  # fmt: skip
def test_what_is_refused(refuse, holes, words, message):
    assert refuse("learn", holes, *words).startswith(message)


def test_indicators_need_holes(refuse, rain):
    line = refuse("learn", rain, "--missing-indicators")
    assert line == "--missing-indicators: no value is missing, so leave it out"


def test_a_run_with_a_checkpoint_resumes(run, holes, tmp_path):
    """The graph has a file of its own beside that of the parameters."""
    first = run("learn", holes, "--seed", 0, "--checkpoint", "run.ckpt", "--json")
    assert (tmp_path / "run.ckpt.graph").exists()
    again = run("learn", holes, "--seed", 0, "--checkpoint", "run.ckpt", "--json")
    assert "resuming from the checkpoint" in again.err
    assert edges(told(first)) == edges(told(again))
    run("learn", holes, "--seed", 0, "--checkpoint", "other.ckpt", "--complete-rows")
    assert not (tmp_path / "other.ckpt.graph").exists()
