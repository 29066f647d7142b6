"""`jensen learn` without --graph: the graph, its parameters, and commands that work instead."""

import json
import shlex
import signal
import threading
import warnings
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import jensen as jn
from jensen.graphs import as_dag
from jensen.scores.registry import AVAILABLE, SAMPLE_SIZED
from jensen.support.text import either, in_shell

pytestmark = pytest.mark.filterwarnings("ignore:.* never occurred")  # either, of lung and tub


def write(name, columns):
    """A CSV file; None is an empty field."""
    rows = zip(*columns.values(), strict=True)
    shown = [",".join("" if x is None else str(x) for x in row) for row in rows]
    Path(name).write_text("\n".join([",".join(columns), *shown, ""]))
    return name


def labels(table):
    return {name: table.to_pandas()[name].tolist() for name in table.names}


@pytest.fixture
def clinic():
    """`clinic.csv`: 1,000 patients of the chest clinic."""
    return write("clinic.csv", labels(jn.examples.load("asia").sample(1000, random_state=0)))


@pytest.fixture
def holes(clinic):
    """`my holes.csv`: every seventh value of two columns is missing."""
    columns = labels(jn.read_table(clinic))
    for name in ("lung", "smoke"):
        columns[name] = [None if i % 7 == 0 else x for i, x in enumerate(columns[name])]
    return write("my holes.csv", columns)


@pytest.fixture
def numbers():
    """`numbers.csv`: x -> y, x -> z, and w apart."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 200))
    y, z = 2.0 * x + rng.normal(size=200), x - rng.normal(size=200)
    columns = {"w": w, "x": x, "y": y, "z": z}
    return write("numbers.csv", {name: values.tolist() for name, values in columns.items()})


@pytest.fixture
def advise(run):
    """Run a command line that must fail, and answer with its complaint and what works instead."""

    def advise_here(*arguments):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        complaint, *commands = done.err.splitlines()
        assert complaint.startswith("jensen: ")
        assert complaint.endswith(":")
        assert commands
        assert all(command.startswith("  jensen learn ") for command in commands)
        return complaint.removeprefix("jensen: "), [command.strip() for command in commands]

    return advise_here


@pytest.fixture
def paste(run):
    """Run a command as a shell reads it."""

    def paste_here(command):
        program, *words = shlex.split(command)
        assert program == "jensen"
        done = run(*words)
        assert done.code == 0, (command, done)
        return done

    return paste_here


def edges_of(done):
    assert done.code == 0, done
    return {tuple(edge) for edge in json.loads(done.out)["edges"]}


# --- the graph ---


def test_the_graph_is_learned_then_its_tables(run, clinic):
    done = run("learn", clinic, "-o", "net.json")
    dag = jn.learn_structure(clinic)
    assert jn.load("net.json").equals(jn.BayesianNetwork(dag).fit(clinic))
    first, graph = done.out.partition("\n\n")[0].split("\n", 1)
    moves, score = dag.info.n_moves, dag.info.score
    assert first.startswith(
        f"hill-climb: {moves} moves, not proven to be the best graph; bdeu {score:.6f}; "
    )
    assert first.endswith(" s")
    assert jn.DAG(graph) == dag
    assert "\n\nBayesianNetwork(8 nodes, " in done.out
    assert done.out.endswith("written to net.json\n")


def test_without_a_file_the_tables_are_printed(run, rain):
    done = run("learn", rain)
    assert "P(rain)\n" in done.out
    assert done.out.endswith("Nothing was written: -o net.json keeps the network.\n")


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        ([], {}),
        (["--structure", "hill-climb", "--score", "bic"], {"score": "bic"}),
        (["--structure", "tabu", "--score", "k2"], {"method": "tabu", "score": "k2"}),
        (["--structure", "tabu", "--tabu-length", "0"], {"method": "tabu", "tabu_length": 0}),
        (["--structure", "exact", "--max-parents", "2"], {"method": "exact", "max_parents": 2}),
        (["--equivalent-sample-size", "20"], {"equivalent_sample_size": 20.0}),
        (["--score", "bds", "--equivalent-sample-size", "3"],
         {"score": "bds", "equivalent_sample_size": 3.0}),
        (["--required", "asia -> xray", "--required", "smoke -> tub; asia -> dysp"],
         {"required": "asia -> xray; smoke -> tub; asia -> dysp"}),
        (["--forbidden", "lung -> either", "--forbidden", "either -> lung"],
         {"forbidden": "lung -> either; either -> lung"}),
        (["--tier", "asia, smoke", "--tier", "lung,tub,bronc", "--tier", "either"],
         {"tiers": [["asia", "smoke"], ["lung", "tub", "bronc"], ["either"]]}),
        (["--start-graph", "xray -> asia"], {"start": "xray -> asia"}),
        (["--restarts", "3", "--seed", "5"], {"restarts": 3, "random_state": 5}),
        (["--score", "fnml", "--max-parents", "1"], {"score": "fnml", "max_parents": 1}),
    ],
)  # fmt: skip
def test_options_are_those_of_the_library(run, clinic, words, choices):
    done = run("learn", clinic, *words, "--json")
    dag = jn.learn_structure(clinic, **choices)
    assert edges_of(done) == set(dag.edges)
    told = json.loads(done.out)["structure"]
    assert told.pop("seconds") > 0.0
    assert told == {
        "method": dag.info.method,
        "score_name": dag.info.score_name,
        "score": dag.info.score,
        "proven": dag.info.proven,
        "gap": dag.info.gap,
        "interrupted": False,
        "n_moves": dag.info.n_moves,
        "n_scored": dag.info.n_scored,
        "trace": dag.info.trace.tolist(),
        "bootstrap": None,
        "structural_em": None,
    }


def test_constraints_hold(run, clinic):
    words = ["--required", "xray -> asia", "--forbidden", "lung -> either", "--max-parents", 2]
    tiers = ["--tier", "dysp,xray", "--tier", "smoke"]
    for structure in ("hill-climb", "tabu", "exact", "ges"):
        found = edges_of(run("learn", clinic, *words, *tiers, "--structure", structure, "--json"))
        assert ("xray", "asia") in found
        assert ("lung", "either") not in found
        assert not {("smoke", "dysp"), ("smoke", "xray")} & found
        assert max([child for _, child in found].count(x) for _, x in found) <= 2


def test_names_with_commas_and_spaces(run):
    write("odd.csv", {'"a,b"': "0011", "my c": "0011", "d": "0101"})
    words = ["--tier", '"a,b", d', "--tier", "my c", "--required", '"a,b" -> "my c"']
    assert edges_of(run("learn", "odd.csv", *words, "--json")) == {("a,b", "my c")}


@pytest.mark.parametrize(
    ("score", "kind"), [(None, "trees"), ("bic", "forests"), ("aic", "forests")]
)
def test_trees_and_forests(run, clinic, score, kind):
    words = [] if score is None else ["--score", score]
    done = run("learn", clinic, "--structure", "tree", *words, "-o", "net.json")
    dag = jn.chow_liu(clinic, score=score)
    value = jn.score(dag, clinic, score or "loglik")
    assert done.out.startswith(f"tree: the best of all {kind}; {score or 'loglik'} {value:.6f}; ")
    assert jn.load("net.json").graph == dag
    told = json.loads(run("learn", clinic, "--structure", "tree", *words, "--json").out)
    assert (told["structure"]["proven"], told["structure"]["gap"]) == (True, 0.0)


def test_exact_says_that_it_is_proven(run, clinic):
    done = run("learn", clinic, "--structure", "exact", "-o", "net.json")
    assert done.out.startswith("exact: proven to be the best graph by bdeu; bdeu -")


def test_bde_spreads_its_sample_as_a_network_says(run, clinic, asia):
    done = run("learn", clinic, "--score", "bde", "--prior-network", asia, "--json")
    dag = jn.learn_structure(clinic, score="bde", prior_network=jn.load(asia))
    assert edges_of(done) == set(dag.edges)


def test_the_prior_is_that_of_the_tables(run, clinic):
    words = ["--prior", "bdeu", "--equivalent-sample-size", "7", "--score", "bic"]
    run("learn", clinic, *words, "-o", "net.json")
    dag = jn.learn_structure(clinic, score="bic")
    net = jn.BayesianNetwork(dag, prior="bdeu", equivalent_sample_size=7.0).fit(clinic)
    assert jn.load("net.json").equals(net)


def test_columns_are_chosen_or_left_out(run, clinic):
    done = run("learn", clinic, "--column", "smoke", "--column", "lung", "--json")
    assert json.loads(done.out)["nodes"] == ["lung", "smoke"]
    done = run("learn", clinic, "--without", "smoke", "--without", "lung", "--json")
    assert json.loads(done.out)["nodes"] == ["asia", "bronc", "dysp", "either", "tub", "xray"]


def test_weights_count_rows(run):
    write("weighted.csv", {"a": "0110", "b": "0101", "n": [40, 3, 40, 0]})
    done = run("learn", "weighted.csv", "--weights", "n", "--json")
    assert edges_of(done) == {("a", "b")}
    assert json.loads(done.out)["rows"] == 83.0


def test_a_table_from_standard_input(run, clinic, stdin):
    stdin(Path(clinic).read_text())
    assert edges_of(run("learn", "-", "--json")) == set(jn.learn_structure(clinic).edges)


# --- bootstrap ---


def test_bootstrap_averages_and_tells_its_threshold(run, clinic):
    words = ["learn", clinic, "--bootstrap", 20, "--seed", 3]
    done = run(*words, "-o", "net.json")
    strengths = jn.bootstrap_edges(clinic, 20, random_state=3)
    dag = strengths.averaged()
    assert jn.load("net.json").graph == dag
    assert done.out.startswith(
        f"bootstrap: 20 graphs by hill-climb, edges in more than "
        f"{100 * strengths.threshold:.1f} % of them; bdeu {jn.score(dag, clinic):.6f}; "
    )
    for a, b in dag.edges:
        assert f"  {a} -> {b}  " in done.out
    told = json.loads(run(*words, "--json").out)["structure"]["bootstrap"]
    assert told["n_graphs"] == 20
    assert told["threshold"] == strengths.threshold
    assert [tuple(edge.values()) for edge in told["edges"]] == strengths.edges()


def test_bootstrap_keeps_the_constraints(run, clinic):
    words = ["--required", "xray -> asia", "--forbidden", "smoke -> lung", "--max-parents", 1]
    found = edges_of(run("learn", clinic, "--bootstrap", 10, "--seed", 0, *words, "--json"))
    assert ("xray", "asia") in found
    assert ("smoke", "lung") not in found
    assert len({child for _, child in found}) == len(found)


def test_bootstrap_of_nothing_finds_no_edge(run):
    write("apart.csv", {"a": "0011" * 20, "b": "0101" * 20})
    assert "\n  no edge\n" in run("learn", "apart.csv", "--bootstrap", 5, "--seed", 0).out


def test_bootstrap_goes_on_from_its_checkpoint(run, clinic):
    words = ["learn", clinic, "--bootstrap", 6, "--seed", 0, "--json", "--checkpoint", "run.ckpt"]
    first = edges_of(run(*words))
    assert Path("run.ckpt").exists()
    assert edges_of(run(*words)) == first


# --- interventions ---


@pytest.fixture
def experiment():
    """`set.csv`: b follows a; in 100 of 300 rows b was set by a coin, in 100 others a was."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 300)
    b = np.where(rng.random(300) < 0.9, a, 1 - a)
    b[100:200] = rng.integers(0, 2, 100)
    was_set = [None] * 100 + ["b"] * 100 + ["a"] * 100
    return write("set.csv", {"b": b.tolist(), "a": a.tolist(), "target": was_set})


def test_interventions_give_edges_their_direction(run, experiment):
    done = run("learn", experiment, "--interventions", "target", "--json")
    dag = jn.learn_structure(experiment, interventions="target")
    assert edges_of(done) == set(dag.edges) == {("a", "b")}
    assert json.loads(done.out)["rows"] == 300.0
    run("learn", experiment, "--interventions", "target", "--prior", "bdeu", "-o", "net.json")
    net = jn.BayesianNetwork(dag, prior="bdeu").fit(experiment, interventions="target")
    assert jn.load("net.json").equals(net, 1e-9)
    again = run("learn", experiment, "--interventions", "target", "--bootstrap", 5, "--json")
    assert edges_of(again) == {("a", "b")}


def test_interventions_that_cannot_be(refuse, experiment):
    assert refuse("learn", experiment, "--interventions", "c").startswith("there is no column 'c'")
    write("who.csv", {"a": "01", "b": "01", "target": ["b", "nobody"]})
    line = refuse("learn", "who.csv", "--interventions", "target")
    assert line.startswith("--interventions: 'nobody' is no column; each row names the column")
    gaps = {"a": "0101", "b": ["0", "1", None, "1"]}
    line = refuse("learn", write("gaps.csv", gaps), "--interventions", "a")  # not the gap
    assert line.startswith("--interventions: '0' is no column; each row names the column")
    write("gaps.csv", {**gaps, "c": "0101"})
    line = refuse("posterior", "gaps.csv", "--interventions", "a")
    assert line.startswith("--interventions: '0' is no column; each row names the column")
    write("gap.csv", {"a": "0101", "b": ["0", "1", None, "1"], "target": ["b", "b", "b", "b"]})
    line = refuse(
        "learn", "gap.csv", "--interventions", "target", "--available-case", "--score", "bic"
    )
    assert "but its parameters: row 3 says that 'b' was set, but not to what" in line


# --- columns of numbers ---


def test_columns_of_numbers(run, numbers):
    done = run("learn", numbers, "-o", "net.json")
    dag = jn.learn_structure(numbers)
    assert f"bge {dag.info.score:.6f}" in done.out
    assert jn.load("net.json").graph == dag
    assert "regression of x" in run("learn", numbers, "--score", "bic").out
    tree = run("learn", numbers, "--structure", "tree", "--score", "bic", "--json")
    assert edges_of(tree) == set(jn.chow_liu(numbers, score="bic").edges)


def test_networks_of_numbers_are_kept_in_json(refuse, numbers):
    message = "cannot write net.bif: a Gaussian network is kept in JSON"
    assert refuse("learn", numbers, "-o", "net.bif").startswith(message)
    assert refuse("learn", numbers, "--graph", "x -> y", "-o", "net.bif").startswith(message)


def test_whole_numbers_are_numbers(run):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 60)
    write("marks.csv", {"x": x.tolist(), "y": (x + rng.integers(0, 9, 60)).tolist()})
    done = run("learn", "marks.csv", "--structure", "exact", "--json")
    assert (
        "jensen: 'x', 'y' hold whole numbers: they are taken as numbers (say --categorical x "
        "--categorical y for labels, or --counts x --counts y for Poisson counts given labels)"
    ) in done.err
    table = jn.Table("marks.csv", continuous=["x", "y"])
    found = json.loads(done.out)["structure"]
    assert found["score"] == jn.learn_structure(table, "exact").info.score
    assert found["score_name"] == "bge"
    done = run("score", "x -> y", "marks.csv", "--json")
    assert json.loads(done.out)["bge"] == jn.score("x -> y", table, "bge")
    assert run("learn", "marks.csv", "--categorical", "x", "--categorical", "y").code == 0


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_numbers_of_rows_are_left_out(run, clinic):
    write("ids.csv", {"id": range(5000, 6000), **labels(jn.read_table(clinic))})
    done = run("learn", "ids.csv", "--json")
    assert done.err.count("warning") == 1
    assert (
        "'id' counts the rows (5000, 5001, 5002, ...): what names rows tells nothing of other "
        "rows. It is left out of the graph: keep it by --continuous id, or make of it"
    ) in done.err
    assert edges_of(done) == set(jn.learn_structure(clinic).edges)
    assert "id" in json.loads(run("learn", "ids.csv", "--json", "--continuous", "id").out)["nodes"]


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_names_of_rows_are_told(run):
    names = [f"patient {i}" for i in range(30)]
    done = run("learn", write("named.csv", {"who": names, "a": "01" * 15}))
    assert done.err.count("warning") == 1
    assert (
        "'who' holds labels that hardly ever come back (30 labels in 30 rows, such as 'patient 0'):"
        " what names rows tells nothing of other rows. It is left out of the graph: keep it by "
        "--categorical who, or make of it"
    ) in done.err


@pytest.mark.filterwarnings("always::jensen.DataWarning")
@pytest.mark.parametrize(
    "named",
    [
        ("--required", "a -> who"),
        ("--forbidden", "who -> a"),
        ("--tier", "a,b", "--tier", "who"),
        ("--graph-prior", "a -> who=0.9"),
    ],
    ids=lambda words: words[0],
)
def test_names_of_rows_stay_where_an_option_names_them(run, named):
    names = [f"patient {i}" for i in range(30)]
    path = write("named.csv", {"who": names, "a": "01" * 15, "b": "011" * 10})
    done = run("learn", path, *named, "--json")
    assert "Leave it out, --without who" in done.err
    assert "who" in json.loads(done.out)["nodes"]


@pytest.mark.filterwarnings("ignore:.* never occurred", "always::jensen.DataWarning")
def test_many_whole_numbers_are_perhaps_no_labels(run):
    """Regression: 20 rows of measured whole numbers made tables of thousands of numbers."""
    told = (
        "jensen: warning: the whole numbers of 'n', 'the size' are taken for labels, and there are "
        "many for so few rows: say --continuous n --continuous 'the size' if they measure "
        "something, or --categorical n --categorical 'the size' if they are labels"
    )
    whole = {"n": [*range(10)] * 2, "the size": [*range(-7, 3)] * 2, "few": [1, 2] * 10}
    assert told in run("learn", write("whole.csv", whole)).err.splitlines()
    many = {name: column * 10 for name, column in whole.items()}
    assert "taken for labels" not in run("learn", write("many.csv", many)).err


SEARCHES = [
    [], ["--structure", "exact", "--score", "bic"], ["--structure", "ges"], ["--structure", "mmhc"],
    ["--structure", "pc"], ["--bootstrap", "5", "--seed", "0"], ["--structure", "tabu"],
]  # fmt: skip


@pytest.mark.parametrize("words", SEARCHES, ids=lambda words: " ".join(words) or "default")
def test_a_graph_of_labels_and_numbers(run, mixed, words):
    done = run("learn", mixed, *words, "--json")
    assert {tuple(edge) for edge in json.loads(done.out)["edges"]} == {("group", "x"), ("x", "y")}
    if "pc" not in words:
        assert done.err.count("arrows from labels to numbers are a convention, not learned") == 1


def test_edges_from_numbers_to_labels_are_refused(refuse, mixed):
    assert refuse("learn", mixed, "--required", "x -> group") == (
        "the edge x -> group leads from a number to a label, and in a network of both a label "
        "depends on labels only: reverse the edge, or make states of 'x' (--discretize x=3)"
    )


def test_numbers_that_are_cut_may_lead_to_labels(run, refuse, mixed):
    words = ["--discretize", "x=3", "--discretize", "y=2", "--required", "x -> group", "--json"]
    done = run("learn", mixed, *words)
    assert ["x", "group"] in json.loads(done.out)["edges"]
    cut = jn.discretize(jn.read_table(mixed), bins={"x": 3, "y": 2})
    found = jn.learn_structure(cut, required=[("x", "group")])
    assert json.loads(done.out)["structure"]["score"] == pytest.approx(found.info.score, rel=1e-12)
    for text in ("x", "x=many"):
        assert refuse("learn", mixed, "--discretize", text) == (
            f"--discretize {text}: write the column, =, and how many intervals it is cut into: "
            f"--discretize x=4"
        )


def test_the_prior_of_labels_and_numbers(run, mixed):
    words = ["--equivalent-sample-size", "10", "--scale", "unit", "--json"]
    found = json.loads(run("learn", mixed, *words).out)["structure"]
    again = jn.learn_structure(jn.read_table(mixed), equivalent_sample_size=10.0, scale="unit")
    assert found["score"] == pytest.approx(again.info.score, rel=1e-12)


# --- missing values ---

REFUSE = ["--missing", "refuse"]


def test_missing_values_are_refused_with_commands_that_work(advise, paste, holes):
    line, commands = advise("learn", holes, *REFUSE)
    assert line == (
        "a graph is learned from complete data, and 286 values are missing: lung (143), smoke "
        "(143); this works, by structural EM, which completes the rows in all ways, or with the "
        "857 complete rows of 1,000, or each family by the rows in which it is known (families are "
        "then compared by different rows, so edges appear between independent variables, the more "
        "the more is missing):"
    )
    assert commands == [
        "jensen learn 'my holes.csv'",
        "jensen learn 'my holes.csv' --complete-rows",
        "jensen learn 'my holes.csv' --score bic --available-case",
    ]
    first = edges_of(paste(f"{commands[0]} --seed 0 --json"))
    assert first == set(jn.learn_structure(holes, random_state=0).edges)
    second = edges_of(paste(f"{commands[1]} --json"))
    assert second == set(jn.learn_structure(jn.read_table(holes).complete_rows()).edges)
    third = edges_of(paste(f"{commands[2]} --json"))
    assert third == set(jn.learn_structure(holes, score="bic", missing="available-case").edges)


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_first_commands_join_no_independent_coins(advise, paste, share):
    """The last does. They fall heads one time in five; fair coins hide most of the fault."""
    rng = np.random.default_rng(1)
    known = rng.random((2000, 8)) >= share
    coins = np.where(known, np.where(rng.random(known.shape) < 0.2, "heads", "tails"), "")
    table = write("coins.csv", {f"c{k}": x for k, x in enumerate(coins.T)})
    _, commands = advise("learn", table, *REFUSE, "--seed", 0)
    first, second, third = (edges_of(paste(f"{command} --json")) for command in commands)
    assert max(len(first), len(second)) <= 1
    assert len(third) >= 4


def test_the_complete_rows_come_first_where_they_are_enough(advise):
    for n, is_first in ((50, True), (49, False)):
        a = ["x", "y"] * 100
        columns = {"a": a, "b": [x if k < n else "" for k, x in enumerate(a)], "c": a}
        _, commands = advise("learn", write("gaps.csv", columns), *REFUSE)
        assert [command.endswith("--complete-rows") for command in commands] == [
            False, is_first, not is_first
        ]  # fmt: skip


def test_available_case_then_em(run, holes):
    done = run("learn", holes, "--score", "bic", "--available-case", "-o", "net.json")
    assert "em: converged after" in done.out
    dag = jn.learn_structure(holes, score="bic", missing="available-case")
    assert jn.load("net.json").graph == dag
    assert jn.load("net.json").n_sweeps_ > 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--score", "aic"], ["--score aic --complete-rows", "--score aic --available-case"]),
        (["--score=k2", "--max-parents", "2"],
         ["--score=k2 --max-parents 2 --complete-rows",
          "--max-parents 2 --score bic --available-case"]),
        (["--equivalent-sample-size", "5"],
         ["--equivalent-sample-size 5 --complete-rows", "--score bic --available-case"]),
        (["--equivalent-sample-size", "5", "--prior", "bdeu"],
         ["--equivalent-sample-size 5 --prior bdeu --complete-rows",
          "--equivalent-sample-size 5 --prior bdeu --score bic --available-case"]),
        (["--prior", "bds"], ["--prior bds --complete-rows"]),
        (["--structure", "tree"], ["--structure tree --complete-rows"]),
        (["--structure", "exact", "--required", "smoke -> lung"],
         ["--structure exact --required 'smoke -> lung' --complete-rows",
          "--structure exact --required 'smoke -> lung' --score bic --available-case"]),
        (["--bootstrap", "3", "--seed", "0"],
         ["--bootstrap 3 --seed 0 --complete-rows",
          "--bootstrap 3 --seed 0 --score bic --available-case"]),
    ],
)  # fmt: skip
def test_the_commands_keep_what_was_chosen(advise, paste, holes, words, expected):
    _, commands = advise("learn", holes, *words, *REFUSE)
    own = [] if "bds" in words else [shlex.join(words)]
    assert commands == [f"jensen learn 'my holes.csv' {more}" for more in own + expected]
    for command in commands:
        paste(command)


def test_options_behind_a_double_dash_stay_arguments(advise, paste, holes):
    _, commands = advise("learn", "--json", *REFUSE, "--", holes)
    assert commands[2] == "jensen learn --json --score bic --available-case -- 'my holes.csv'"
    paste(commands[2])


def test_two_spaces_in_a_name_survive(advise, paste, holes):
    Path(holes).rename("two  spaces.csv")
    _, commands = advise("learn", "two  spaces.csv", "--missing=refuse")
    paste(commands[0])


def test_labels_that_mean_missing(advise, paste):
    write("marked.csv", {"a": "01?101" * 5, "b": "0110?1" * 5})
    _, commands = advise("learn", "marked.csv", "--missing", "?", *REFUSE)
    assert commands[0] == "jensen learn marked.csv --missing '?'"
    assert commands[1] == "jensen learn marked.csv --missing '?' --score bic --available-case"
    for command in commands:
        paste(command)


def test_missing_numbers(advise, paste, numbers):
    columns = labels(jn.read_table(numbers))
    columns["x"][:50] = [None] * 50
    _, commands = advise("learn", write("gaps.csv", columns), *REFUSE)
    assert commands == ["jensen learn gaps.csv --complete-rows"]
    paste(commands[0])
    columns["y"][52:] = [None] * 148  # two complete rows, too few for variances
    line, commands = advise("learn", write("gaps.csv", columns), "--score", "bic", *REFUSE)
    assert "with the 2 complete rows of 200:" in line
    assert commands == ["jensen learn gaps.csv --complete-rows --prior bge"]
    paste(commands[0])
    columns["y"] = [None] * 50 + columns["y"][50:52] + [None] * 148
    columns["z"][50:52] = [None] * 2
    line, commands = advise("learn", write("gaps.csv", columns), "--complete-rows")
    assert commands == ["jensen learn gaps.csv --complete-rows --without x --without y --without z"]
    paste(commands[0])


def test_no_row_is_complete(advise, paste, refuse):
    write("never.csv", {"a": ["0", None, "1", None], "b": [None, "0", None, "1"]})
    _, commands = advise("learn", "never.csv", "--complete-rows")
    assert commands == [
        "jensen learn never.csv",
        "jensen learn never.csv --score bic --available-case",
    ]
    for command in commands:
        paste(command)
    assert refuse("learn", "never.csv", "--structure", "mmhc").endswith(
        "no row has values of both 'a' and 'b', so nothing can be said about the two: leave one of "
        "them out"
    )


def test_columns_without_values(advise, paste, refuse):
    write("empty.csv", {"a": "0011", "b": "0101", "c": [None] * 4})
    line, commands = advise("learn", "empty.csv")
    assert line == "no value is known of c; this leaves it out:"
    assert commands == ["jensen learn empty.csv --without c"]
    paste(commands[0])
    _, commands = advise("learn", "empty.csv", "--column", "a", "--column", "c")
    assert commands == ["jensen learn empty.csv --column a"]
    paste(commands[0])
    write("nothing.csv", {"a": [None] * 4, "b": [None] * 4})
    assert refuse("learn", "nothing.csv") == (
        "no value is known of a, b: there is nothing to learn from"
    )


def test_rows_without_weight_miss_nothing(run):
    write("weighted.csv", {"a": ["0", "1", None], "b": "011", "n": [3, 3, 0]})
    assert run("learn", "weighted.csv", "--weights", "n").code == 0


# --- small tables ---


ALONE = (
    "jensen: warning: column 'a' is constant, so the data say nothing of edges there, nor of how "
    "much it varies: it is left out of the score and of the network, and stands alone in the "
    "graph. Leave the column out with --without to silence this"
)


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_one_row_and_constant_columns(run, refuse, numbers):
    done = run("learn", write("one.csv", {"a": "x", "b": "y"}), "--json")
    assert edges_of(done) == set()
    assert done.err.startswith("jensen: warning: there is one row to learn from")
    write("constant.csv", {"a": "0101", "b": "0011", "c": "xxxx"})
    done = run("learn", "constant.csv", "--json")
    assert not any("c" in edge for edge in edges_of(done))
    assert done.err == (
        "jensen: warning: column 'c' ('x') holds one label only, so the data say nothing of edges "
        "there, and what is said of them rests on the prior. Leave it out, --without c"
    )
    write("row.csv", {"a": [1.5], "b": [2.5]})
    said = warned(run, "learn", "row.csv")
    assert "but its parameters: every column is constant ('a', 'b'), so nothing says" in said[0]
    assert "give the prior a scale of its own, --prior bge --scale unit" in said[0]
    assert run("learn", "row.csv", "--prior", "bge", "--scale", "unit").code == 0
    write("flat.csv", {"a": [1.5] * 4, "b": [2.5, 1.5, 0.5, 0.25]})
    for score in ("bic", "bge"):
        said = warned(run, "learn", "flat.csv", "--score", score)
        assert said == [ALONE]
    said = warned(run, "learn", "flat.csv", "--structure", "pc")
    assert said == [ALONE]
    with warnings.catch_warnings(action="always"):
        done = run("learn", "flat.csv", "-o", "net.json")
        answer = json.loads(run("learn", "flat.csv", "--json").out)
    assert "constant in the data, so not in the network: a = 1.5" in done.out
    assert run("query", "net.json", "b").code == 0
    assert "column 'a' was constant, 1.5, in the data" in refuse("query", "net.json", "a")
    line = refuse("predict", "net.json", "flat.csv", "--target", "a")
    assert "column 'a' was constant, 1.5, in the data" in line
    assert answer["constants"] == {"a": 1.5}
    assert answer["nodes"] == ["a", "b"]
    said = warned(run, "posterior", "flat.csv", "--method", "exact")
    assert len(said) == 1
    assert "column 'a' is constant" in said[0]


def warned(run, *words):
    """The lines on standard error, warnings first."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        return run(*words).err.splitlines()


def test_one_column_and_no_rows(run, refuse):
    assert edges_of(run("learn", write("alone.csv", {"a": "0011"}), "--json")) == set()
    Path("bare.csv").write_text("a,b\n")
    assert refuse("learn", "bare.csv").startswith("bare.csv has no rows")
    write("few.csv", {"a": "01", "b": "01"})
    words = ["learn", "few.csv", "--without", "a", "--without", "b"]
    assert refuse(*words) == "there is no column to learn a graph of"


# --- pictures ---


def test_a_picture_of_what_was_learned(run, clinic):
    done = run("learn", clinic, "--svg", "net.svg", "-o", "net.json")
    assert done.out.endswith("written to net.json\ndrawn in net.svg\n")
    assert Path("net.svg").read_text() == jn.load("net.json").to_svg()
    assert run("learn", clinic, "--svg", "-").out == Path("net.svg").read_text()
    assert json.loads(run("learn", clinic, "--svg", "x.svg", "--json").out)["svg"] == "x.svg"
    assert run("learn", clinic, "--graph", "asia -> tub", "--svg", "given.svg").code == 0
    assert "tub" in Path("given.svg").read_text()


def test_a_picture_is_written_whole_or_not_at_all(refuse, clinic, holes, monkeypatch):
    Path("net.svg").write_text("old")
    refuse("learn", clinic, "--svg", "net.svg", "--required", "asia -> nobody")
    assert Path("net.svg").read_text() == "old"
    assert refuse("learn", clinic, "--svg", "gone/net.svg").startswith("cannot write gone/net.svg")

    def fails(*_, **__):
        raise jn.JensenError("no picture today")

    monkeypatch.setattr(jn.BayesianNetwork, "to_svg", fails)
    assert refuse("learn", clinic, "--svg", "net.svg") == "no picture today"
    assert Path("net.svg").read_text() == "old"


# --- what does not go together ---

EVERY = {
    "--structure": "exact",
    "--score": "bic",
    "--max-parents": "0",
    "--required": "asia -> tub",
    "--forbidden": "asia -> tub",
    "--tier": "asia",
    "--start-graph": "asia -> tub",
    "--restarts": "0",
    "--tabu-length": "5",
    "--bootstrap": "2",
    "--test": "g2",
    "--alpha": "0.1",
    "--max-given": "1",
    "--correction": "fdr",
    "--permutations": "9",
    "--time-limit": "9",
    "--interventions": "asia",
    "--prior-network": "asia.json",
    "--available-case": None,
}


@pytest.mark.parametrize("option", [*EVERY, "--column", "--without"])
def test_a_graph_that_is_given_is_not_learned(refuse, clinic, asia, option):
    value = EVERY.get(option, "asia")
    words = [option] if value is None else [option, value]
    line = refuse("learn", clinic, "--graph", "asia -> tub", *words)
    assert line == (
        f"{option} belongs to a graph that is learned, not to a graph that is given by --graph"
    )


@pytest.mark.parametrize("option", [*EVERY, "--svg"])
def test_other_models_have_no_graph(refuse, clinic, option):
    value = EVERY.get(option, "net.svg")
    words = [option] if value is None else [option, value]
    line = refuse("learn", clinic, "--model", "latent-class", "--states", "2", *words)
    owners = "network or markov" if option == "--svg" else "network"
    assert line == f"{option} belongs to --model {owners}, not to --model latent-class"


@pytest.mark.parametrize(
    "option", ["--max-parents", "--required", "--forbidden", "--tier", "--restarts",
               "--start-graph", "--interventions", "--bootstrap"],
)  # fmt: skip
def test_a_tree_takes_no_such_choice(refuse, clinic, option):
    line = refuse("learn", clinic, "--structure", "tree", option, EVERY[option])
    assert line.startswith(f"{option} belongs to --structure hill-climb")
    assert line.endswith(", not to --structure tree")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--structure", "best"], "Invalid value for '--structure'"),
        (["--structure", "tree", "--score", "k2"], "--structure tree and --score k2 do not go tog"),
        (["--structure", "exact", "--restarts", "2"], "--restarts belongs to --structure hill-"),
        (["--structure", "exact", "--start-graph", "asia"], "--start-graph belongs to --str"),
        (["--bootstrap", "0"], "Invalid value for '--bootstrap'"),
        (["--max-parents", "-1"], "Invalid value for '--max-parents'"),
        (["--score", "bde"], "--score bde and --prior-network go together"),
        (["--prior-network", "asia.json"], "--score bde and --prior-network go together"),
        (["--available-case"], f"--available-case belongs to --score {either(AVAILABLE)}"),
        (["--score", "best"], "there is no score 'best': choose one of"),
        (["--score", "bge"], "'bge' is a score of continuous columns"),
        (["--score", "bic", "--equivalent-sample-size", "2"],
         f"--equivalent-sample-size belongs to --score {either(SAMPLE_SIZED)}, not to bic"),
        (["--equivalent-sample-size", "-2"], "--equivalent-sample-size must be"),
        (["--required", "asia"], "--required asia: write an edge: --required 'A -> B'"),
        (["--required", "asia -> nobody"], "--required names 'nobody', which is no column"),
        (["--forbidden", "asia -> nobody"], "--forbidden names 'nobody', which is no column"),
        (["--tier", "asia,nobody"], "--tier names 'nobody', which is no column"),
        (["--tier", "asia", "--tier", "asia"], "--tier names 'asia' twice"),
        (["--start-graph", "asia -> nobody"], "--start-graph has a node 'nobody' that is no col"),
        (["--required", "asia -> tub", "--required", "tub -> asia"],
         "the required edges make a cycle: asia -> tub -> asia"),
        (["--required", "asia -> tub", "--forbidden", "asia -> tub"],
         "the edge asia -> tub is required and forbidden at once"),
        (["--required", "tub -> asia", "--tier", "asia", "--tier", "tub"],
         "the edge tub -> asia is required, but leads back to an earlier tier"),
        (["--required", "asia -> tub <- smoke", "--max-parents", "1"],
         "--max-parents 1, but 2 edges to 'tub' are required"),
        (
            ["--hidden", "kind=2", "--structure", "tree"],
            "--hidden belongs to --structure hill-climb, tabu, exact or ges, not to",
        ),
        (["--start", "asia.json"], "--start belongs to a graph that is given by --graph"),
        (["--prior", "jeffreys"], "there is no prior 'jeffreys'"),
        (["--method", "magic"], "there is no method 'magic'"),
        (["--column", "nobody"], "there is no column 'nobody'"),
        (["--without", "nobody"], "there is no column 'nobody'"),
        (["--continuous", "asia"], "column 'asia'"),
        (["--svg", "-", "--json"], "--svg - and --json do not go together"),
        (["--svg", "-", "-o", "-"], "-o - and --svg - do not go together"),
        (["--svg", "x.svg", "--checkpoint", "x.svg"],
         "--checkpoint and --svg both name x.svg: name two files"),
        (["--svg", "x.png"],
         "--svg x.png: a picture is written as SVG, not as .png: name it x.svg"),
        (["--tier", "asia,smoke"], "--tier has a single tier, which forbids nothing, for a "
         "variable in no tier may have any edge: add a tier of those that come later"),
        (["--tier", "asia", "--tier", ""], "--tier has a tier without names: leave it out"),
        (["--covariance", "full"], "--covariance belongs to --model mixture or hmm, not to"),
        (["--states", "3"], "--states K belongs to --model mixture"),
    ],
)  # fmt: skip
def test_wrong_choices(refuse, clinic, asia, words, message):
    assert refuse("learn", clinic, *words).startswith(message)


def test_choices_of_labels_are_refused_for_numbers(refuse, numbers):
    for words, message in [
        (["--score", "k2"], "there is no score 'k2' of continuous columns"),
        (["--score", "bic", "--available-case"], "--available-case belongs to columns of labels"),
        (["--equivalent-sample-size", "2"], "--equivalent-sample-size belongs to --score bdeu"),
    ]:
        assert refuse("learn", numbers, *words).startswith(message)


# --- interrupts ---


@contextmanager
def wished():
    """Ctrl-C is pressed after a while: when it was asked for some times."""
    wish, asked = threading.Event(), count()
    wish.is_set = lambda: next(asked) >= 4
    yield wish


@pytest.mark.parametrize("words", [[], ["--bootstrap", "50", "--seed", "0"]])
def test_an_interrupt_keeps_the_best_so_far(run, clinic, monkeypatch, words):
    where = "runs.runner" if words else "q_graph.methods"
    monkeypatch.setattr(f"jensen.{where}.interruptible", wished)
    done = run("learn", clinic, *words, "-o", "net.json", "--svg", "net.svg")
    assert done.code == 130
    assert done.err.splitlines()[-1] == "jensen: interrupted"
    assert ", interrupted: the best so far, " in done.out
    assert Path("net.svg").exists()
    kept = jn.load("net.json").graph
    assert set(kept.nodes) == set(jn.read_table(clinic).names)


@pytest.fixture
def wide(tmp_path):
    """A table of so many columns that a graph of all edges would have tables of 4^25 numbers."""
    codes = np.random.default_rng(0).integers(0, 4, (60, 25))
    names = [f"v{k:02d}" for k in range(25)]
    rows = [[f"s{code}" for code in row] for row in codes.tolist()]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    return path


@pytest.fixture
def pressed(monkeypatch):
    """Ctrl-C is pressed before the first test of the tests of pairs."""
    from jensen.independence.skeleton import find_skeleton

    def press_first(tests, constraints, level, most, watch):
        before.append(signal.getsignal(signal.SIGINT))
        signal.raise_signal(signal.SIGINT)
        return find_skeleton(tests, constraints, level, most, watch)

    before = []
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("jensen.independence.pc.find_skeleton", press_first)
    yield
    signal.signal(signal.SIGINT, handler)
    assert before[0] is not signal.default_int_handler


def test_interrupted_tests_leave_a_graph_without_parameters(run, wide, pressed):
    done = run("learn", wide, "--structure", "pc", "-o", "net.json", "--svg", "net.svg")
    assert done.code == 130
    assert done.err.splitlines() == [
        "jensen: nothing is written to net.json: a network needs a direction for every edge, and "
        "the tests were interrupted before that; --svg FILE or --json keep the graph so far, and "
        "--max-given 1, or a lower --alpha, makes fewer tests",
        "jensen: interrupted",
    ]
    assert done.out.startswith("pc: by tests of independence, interrupted before the last of them;")
    assert "  v00 -- v01; v00 -- v02; " in done.out
    assert done.out.splitlines()[-2:] == [
        "The graph alone, without parameters: it still has all edges that no test has removed so "
        "far.",
        "drawn in net.svg",
    ]
    assert Path("net.svg").exists()
    assert not Path("net.json").exists()


def test_interrupted_tests_are_told_to_programs(run, wide, pressed):
    done = run("learn", wide, "--structure", "pc", "--json")
    assert (done.code, done.err) == (130, "jensen: interrupted")
    told = json.loads(done.out)
    assert (told["edges"], len(told["undirected"])) == ([], 300)
    assert told["structure"]["interrupted"] is True
    assert told["structure"]["score"] is None


# --- classes and tests ---


def test_time_that_is_over_leaves_a_graph_and_says_so(run, clinic):
    words = ("learn", clinic, "--structure", "exact", "--time-limit")
    done = run(*words, "1e-9")
    assert "exact: the best graph so far, not proven; how much better another may be is" in done.out
    told = json.loads(run(*words, "1e-9", "--json").out)["structure"]
    assert (told["proven"], told["gap"], told["interrupted"]) == (False, None, False)
    assert "exact: proven to be the best graph" in run(*words, "100").out
    assert json.loads(run(*words, "100", "--json").out)["structure"]["gap"] == 0.0


def test_how_much_better_another_graph_may_be_is_told(run, clinic, monkeypatch):
    from jensen.q_graph import learning
    from jensen.q_graph.optimum import integer_program

    monkeypatch.setattr(
        learning.methods,
        "by_subsets",
        lambda task, limit: integer_program.climb_instead(task.scorer, task.constraints)._replace(
            gap=2.5
        ),
    )
    done = run("learn", clinic, "--structure", "exact", "--time-limit", "1e-9")
    assert "exact: the best graph so far, not proven; another may score up to 2.5 more" in done.out


def test_tiers_hold_in_a_class(run, clinic):
    words = ("learn", clinic, "--structure", "ges", "--tier", "lung", "--tier", "smoke", "--json")
    free = edges_of(run(*words[:4], "--json"))
    assert ("smoke", "lung") in free | {(b, a) for a, b in free}
    assert ("smoke", "lung") not in edges_of(run(*words))


def test_a_class_is_written_as_one_of_its_graphs(run, clinic):
    found = edges_of(run("learn", clinic, "--structure", "ges", "--score", "bic", "--json"))
    expected = jn.learn_structure(jn.read_table(clinic), "ges", "bic")
    assert jn.DAG(found, expected.nodes).cpdag() == expected


@pytest.mark.parametrize("structure", ["pc", "mmhc"])
def test_tests_find_the_graph(run, clinic, structure):
    words = ["learn", clinic, "--structure", structure, "--alpha", "0.01"]
    found = edges_of(run(*words, "--json"))
    learned = jn.learn_structure(jn.read_table(clinic), structure, alpha=0.01)
    joined = {frozenset(edge) for edge in found}
    assert joined == {frozenset(edge) for edge in learned.skeleton().edges}
    if structure == "pc":
        assert "pc: by tests of independence, undirected edges directed freely" in run(*words).out


OF_TESTS = {"test": "x2", "alpha": 0.02, "max_given": 1, "correction": "fdr", "permutations": 19}


@pytest.mark.parametrize(
    ("structure", "name"),
    [*(("pc", name) for name in OF_TESTS), ("mmhc", "test"), ("mmhc", "max_given")],
)
@pytest.mark.parametrize("more", [[], ["--bootstrap", "2"]])
def test_how_tests_are_made_is_handed_on(run, clinic, monkeypatch, structure, name, more):
    from jensen.q_graph import bootstrap, learning

    asked, learn = [], learning.learn_structure

    def note(*given, **choices):
        asked.append({key: choices[key] for key in OF_TESTS if key in choices})
        return learn(*given, **choices)

    monkeypatch.setattr(learning, "learn_structure", note)
    monkeypatch.setattr(bootstrap, "learn_structure", note)
    option = f"--{name.replace('_', '-')}"
    words = ["learn", clinic, "--structure", structure, option, OF_TESTS[name], "--seed", 0, *more]
    run(*words, "--json")
    assert asked
    assert all(choices == {name: OF_TESTS[name]} for choices in asked)


def test_how_tests_are_made_changes_the_graph(run, clinic):
    words = ("learn", clinic, "--structure", "pc", "--json")
    choices = {"test": "mutual-information", "max_given": 1, "correction": "bonferroni"}
    spelled = ("--test", "mutual-information", "--max-given", 1, "--correction", "bonferroni")
    learned = jn.learn_structure(jn.read_table(clinic), "pc", **choices)
    found = {frozenset(edge) for edge in edges_of(run(*words, *spelled))}
    assert found == {frozenset(edge) for edge in learned.skeleton().edges}
    assert found != {frozenset(edge) for edge in edges_of(run(*words))}


def test_the_tests_and_corrections_are_those_of_the_library():
    from jensen.cli.command import find_commands
    from jensen.independence.independent import TestName
    from jensen.independence.pc import Correction

    table = {option.name: option for option in find_commands()["learn"].options}
    assert table["test"].values == get_args(TestName)
    assert table["correction"].values == get_args(Correction)


def test_tests_that_contradict_each_other_leave_a_way_out(run, refuse):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 7))
    for k in range(1, 7):
        x[:, k] += x[:, :k] @ (rng.uniform(0.5, 1.0, k) * (rng.random(k) < 0.4))
    write("x.csv", {f"x{k}": column.tolist() for k, column in enumerate(x.T)})
    words = ("learn", "x.csv", "--structure", "pc", "--alpha", "0.01")
    line = refuse(*words)
    assert line.startswith("the tests contradict each other: x2 <-> x4; ")
    assert line.endswith("with --required 'A -> B', or use --structure mmhc or ges")
    run("learn", "x.csv", "--structure", "mmhc")
    run("learn", "x.csv", "--structure", "ges")


def test_tests_read_the_rows_that_they_need(run, holes):
    done = run("learn", holes, "--structure", "pc", "--json")
    assert edges_of(done) == set(as_dag(jn.learn_structure(holes, "pc")).edges)
    assert json.loads(done.out)["structure"]["score"] is None
    text = run("learn", holes, "--structure", "pc").out
    assert text.startswith("pc: by tests of independence, undirected edges directed freely; 0.")
    both = run("learn", holes, "--structure", "mmhc", "--seed", 0, "--json")
    assert edges_of(both) == set(jn.learn_structure(holes, "mmhc", random_state=0).edges)


@pytest.mark.parametrize("structure", ["ges", "pc"])
def test_classes_are_drawn_again(run, clinic, structure):
    done = run("learn", clinic, "--structure", structure, "--bootstrap", 3, "--seed", 0)
    assert f"bootstrap: 3 graphs by {structure}" in done.out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--alpha", "0.1"], "--alpha belongs to --structure pc or mmhc"),
        (
            ["--test", "g2"],
            "--test belongs to --structure pc or mmhc, not to --structure hill-climb",
        ),
        (["--structure", "ges", "--max-given", "0"], "--max-given belongs to --structure pc or"),
        (["--structure", "exact", "--permutations", "0"], "--permutations belongs to --structure"),
        (["--structure", "tree", "--correction", "fdr"], "--correction belongs to --structure pc"),
        (
            ["--structure", "mmhc", "--correction", "fdr"],
            "--correction belongs to --structure pc, not to --structure mmhc",
        ),
        (["--structure", "pc", "--test", "t"], "Invalid value for '--test'"),
        (["--structure", "pc", "--correction", "x"], "Invalid value for '--correction'"),
        (["--structure", "pc", "--max-given", "-1"], "Invalid value for '--max-given'"),
        (["--structure", "pc", "--permutations", "-1"], "Invalid value for '--permutations'"),
        (
            ["--structure", "pc", "--test", "fisher-z"],
            "use --test conditional-gaussian, or leave --test out",
        ),
        (
            ["--structure", "mmhc", "--test", "conditional-gaussian", "--permutations", "9"],
            "--permutations belongs to tests of categorical columns",
        ),
        (["--structure", "pc", "--score", "bic"], "--score belongs to --structure hill-climb"),
        (["--structure", "ges", "--restarts", "1"], "--restarts belongs to --structure hill-climb"),
        (["--structure", "mmhc", "--start-graph", "lung"], "--start-graph belongs to --structure"),
        (["--structure", "pc", "--alpha", "2"], "alpha"),
        (["--tabu-length", "5"], "--tabu-length belongs to --structure tabu"),
        (["--structure", "tree", "--tabu-length", "5"], "--tabu-length belongs to --structure"),
        (["--time-limit", "1"], "--time-limit belongs to --structure exact"),
        (["--structure", "exact", "--time-limit", "0"], "--time-limit must be a number of seconds"),
        (
            ["--structure", "exact", "--time-limit", "9", "--bootstrap", "2"],
            "--time-limit and --bootstrap do not go together",
        ),
    ],
)
def test_choices_that_a_structure_does_not_have(refuse, clinic, words, text):
    assert text in refuse("learn", clinic, *words)


# --- a tree of columns of both kinds ---


@pytest.fixture
def mixed():
    """`mixed.csv`: a group, a measurement that depends on it, and another that depends on that."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 200)
    x = group + rng.normal(0.0, 0.5, 200)
    y = x + rng.normal(0.0, 0.5, 200)
    columns = {"group": [f"g{k}" for k in group], "x": x.round(6), "y": y.round(6)}
    return write("mixed.csv", {name: list(values) for name, values in columns.items()})


@pytest.mark.parametrize("score", [None, "bic"])
def test_a_tree_of_both_kinds(run, mixed, score):
    words = ["learn", mixed, "--structure", "tree", *([] if score is None else ["--score", score])]
    tree = jn.chow_liu(mixed, score=score)
    assert set(tree.edges) == {("group", "x"), ("x", "y")}
    answer = json.loads(run(*words, "--json").out)
    assert {tuple(edge) for edge in answer["edges"]} == set(tree.edges)
    assert answer["structure"]["score"] == pytest.approx(tree.info.score, rel=1e-12)
    assert answer["rows"] == 200.0
    done = run(*words, "--svg", "tree.svg")
    assert done.out.startswith("tree: the best of all ")
    assert "  group -> x; x -> y\n" in done.out
    assert done.out.endswith("drawn in tree.svg\n")
    assert Path("tree.svg").read_text().startswith("<svg")


def test_graphs_of_both_kinds_have_parameters(run, mixed):
    for structure in ("hill-climb", "tree", "pc", "exact"):
        run("learn", mixed, "--structure", structure, "-o", "net.json", "--prior", "bdeu-bge")
        answer = run("query", "net.json", "group", "--given", "x=0.5", "--json").out
        assert '"group"' in answer


# --- the same of the same data ---


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("method", ["hill-climb", "pc"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_the_library_says_the_same_of_the_same_file(run, method, gaps, named):
    """Graph and warnings, also where a column names the rows and where values are missing."""
    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y"], 120)
    b = np.where(rng.random(120) < 0.85, a, "x")
    table = {"name": [f"person {k}" for k in range(120)]} if named else {}
    table |= {"a": a, "b": b, "c": np.where(rng.random(120) < 0.9, b, "y")}
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    for k in range(0, 120 if gaps else 0, 9):
        rows[k][-2] = ""
    text = [",".join(table), *(",".join(row) for row in rows)]
    Path("rows.csv").write_text("\n".join(text))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        known = jn.learn_structure("rows.csv", method, random_state=0)
    done = run("learn", "rows.csv", "--structure", method, "--seed", "0", "-o", "net.json")
    assert done.code == 0, done.err
    learned = jn.load("net.json").graph
    assert learned.cpdag() == (known if method == "pc" else known.cpdag())
    texts = [in_shell(w.message.marked) for w in caught if hasattr(w.message, "marked")]
    assert len(texts) == named
    for text in texts:
        assert f"jensen: warning: {text}" in done.err
