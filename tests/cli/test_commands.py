"""Every command does what it says, on files and on standard streams."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import jensen as jn
from jensen.cli import main
from jensen.cli.command import find_commands
from jensen.scores import SCORES
from jensen.support.kernel_cache import places

# --- help ---


def test_help_names_every_command(run):
    for arguments in (["--help"], []):
        done = run(*arguments)
        assert done.code == 0
        assert done.err == ""
        assert done.out.startswith("Usage: jensen [OPTIONS] COMMAND")
        assert "Example: jensen learn" in done.out
        for name in find_commands():
            assert f"\n  {name} " in done.out


@pytest.mark.parametrize("name", find_commands())
def test_help_of_every_command_has_an_example(run, name):
    done = run(name, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: jensen {name} [OPTIONS]")
    assert f"Example: jensen {name}" in done.out


def test_version(run):
    assert run("--version") == (0, f"jensen {jn.__version__}\n", "")


# --- learn ---


def test_learn_prints_the_tables(run, rain):
    done = run("learn", rain, "--graph", "rain -> wet")
    assert done.code == 0
    assert done.out == (
        "BayesianNetwork(2 nodes, 1 edge, 3 free parameters), learned from 4 rows; "
        f"log-likelihood {4 * math.log(0.5) + 2 * math.log(0.5):.6f}\n"
        "em: no missing value bears on the parameters, so this is exact\n\n"
        "P(rain)\n no  yes\n--------\n0.5  0.5\n\n"
        "P(wet | rain)\nrain   no  yes\n--------------\nno    0.5  0.5\nyes   0.0  1.0\n\n"
        "Nothing was written: -o net.json keeps the network.\n"
    )


def test_learn_writes_a_network_that_python_reads(run, rain):
    done = run("learn", rain, "--graph", "rain -> wet", "--prior", "bdeu", "-o", "net.json")
    assert done.code == 0
    assert done.out.splitlines()[2] == "written to net.json"
    expected = jn.BayesianNetwork("rain -> wet", prior="bdeu").fit(rain)
    assert jn.load("net.json").equals(expected)
    assert jn.load("net.json").free_energy_ == expected.free_energy_
    assert f"log evidence {expected.free_energy_:.6f}" in done.out


@pytest.mark.parametrize(
    ("words", "choices", "meaning"),
    [
        ([], {}, "log-likelihood"),
        (["--method", "em"], {"method": "em"}, "log-likelihood"),
        (["--prior", "2"], {"prior": 2.0}, "log evidence"),
        (["--prior", "2", "--method", "em"], {"prior": 2.0, "method": "em"}, "+ log prior"),
        (["--prior", "k2"], {"prior": "k2"}, "log evidence"),
        (
            ["--prior", "bds", "--equivalent-sample-size", "5"],
            {"prior": "bds", "equivalent_sample_size": 5.0},
            "log evidence",
        ),
    ],
)
def test_learn_with_every_choice(run, rain, words, choices, meaning):
    done = run("learn", rain, "--graph", "rain -> wet", *words, "-o", "net.json")
    expected = jn.BayesianNetwork("rain -> wet", **choices).fit(rain)
    assert jn.load("net.json").equals(expected)
    assert f"{meaning} {expected.free_energy_:.6f}" in done.out


def test_learn_in_json(run, rain):
    arguments = ["learn", rain, "--graph", "rain -> wet", "--prior", "1", "--json"]
    done = run(*arguments, "-o", "net.json")
    expected = jn.load("net.json")
    assert json.loads(done.out) == {
        "nodes": ["rain", "wet"],
        "edges": [["rain", "wet"]],
        "rows": 4.0,
        "free_parameters": 3,
        "method": "vbem",
        "free_energy": expected.free_energy_,
        "meaning": "log evidence",
        "is_bound": True,
        "n_sweeps": expected.n_sweeps_,
        "converged": True,
        "starts": [expected.free_energy_],
        "r_hat": None,
        "effective_sample_size": None,
        "output": "net.json",
        "structure": None,
        "svg": None,
    }
    assert json.loads(run(*arguments).out)["output"] is None


def test_learn_takes_the_graph_of_a_network(run, asia):
    run("sample", asia, "-n", 2000, "--seed", 0, "-o", "rows.csv")
    done = run("learn", "rows.csv", "--graph", asia, "--prior", "bdeu", "-o", "net.json")
    assert done.code == 0
    assert jn.load("net.json").graph == jn.examples.load("asia").graph


def test_a_graph_may_be_long_and_may_look_like_a_file(run):
    names = [f"a_rather_long_name_{k}.json" for k in range(30)]
    jn.Table({x: ["n", "y"] for x in names}).write("rows.csv")
    graph = " -> ".join(names)
    assert run("learn", "rows.csv", "--graph", graph, "-o", "net.json").code == 0
    assert jn.load("net.json").graph == jn.DAG(graph)
    of_net = run("score", "net.json", "rows.csv", "--score", "bdeu")
    assert run("score", graph, "rows.csv") == of_net


def test_learn_takes_weights_missing_labels_and_states(run):
    with open("rows.csv", "w") as file:
        file.write("a,b,n\n0.5,x,6\n1.5,y,1\n1.5,?,1\n")
    words = ["--graph", "a -> b", "--weights", "n", "--categorical", "a", "--threads", "2"]
    assert run("learn", "rows.csv", *words, "--missing", "", "-o", "net.json").code == 0
    assert jn.load("net.json").cpt("a")[()] == {"0.5": 0.75, "1.5": 0.25}
    assert jn.load("net.json").states["b"] == ("?", "x", "y")
    assert run("learn", "rows.csv", *words, "--states", "b=y,?,x,z", "-o", "net.json").code == 0
    assert jn.load("net.json").states["b"] == ("y", "?", "x", "z")
    assert run("learn", "rows.csv", *words, "--missing", "?", "-o", "net.json").code == 0
    assert jn.load("net.json").states["b"] == ("x", "y")


@pytest.mark.filterwarnings("ignore:there is one row")
def test_one_row_and_many_rows_are_told_in_full(run, rain):
    with open("one.csv", "w") as file:
        file.write("a\nx\n")
    assert "learned from 1 row;" in run("learn", "one.csv", "--graph", "a").out
    with open("many.csv", "w") as file:
        file.write("a,n\nx,1234567\ny,1000000\n")
    done = run("learn", "many.csv", "--graph", "a", "--weights", "n")
    assert "learned from 2234567 rows;" in done.out
    with open("half.csv", "w") as file:
        file.write("a,n\nx,0.5\ny,1\n")
    done = run("learn", "half.csv", "--graph", "a", "--weights", "n")
    assert "learned from 1.500000 rows;" in done.out


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_on_standard_error(run):
    with open("rows.csv", "w") as file:
        file.write("a,b,c\n0,0,0\n1,1,1\n")
    done = run("learn", "rows.csv", "--graph", "a -> c <- b", "-o", "net.json")
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert line.startswith("jensen: warning: 2 parent configurations never occurred")


# --- score ---


def test_score_of_a_graph(run, rain):
    done = run("score", "rain -> wet", rain)
    expected = jn.score("rain -> wet", rain, "bdeu")
    assert done.out == f"rows          4\nbdeu  {expected:.6f}\n"
    done = run("score", "rain -> wet", rain, "--score", "bic", "--local")
    terms = jn.local_scores("rain -> wet", rain, "bic")
    assert done.out.splitlines()[-2:] == [f"{x:4}  {terms[x]:.6f}" for x in ("rain", "wet")]


@pytest.mark.parametrize("name", list(SCORES))
def test_score_by_every_name(run, rain, name):
    answer = json.loads(run("score", "rain -> wet", rain, "--score", name, "--json").out)
    assert answer[name] == jn.score("rain -> wet", rain, name)
    assert answer["terms"] == jn.local_scores("rain -> wet", rain, name)
    assert answer["rows"] == 4.0


def test_score_of_rows_under_a_network(run, asia):
    net = jn.examples.load("asia")
    net.sample(50, random_state=0).write("rows.csv")
    answer = json.loads(run("score", asia, "rows.csv", "--json").out)
    assert answer["per_row"] == net.score("rows.csv")
    assert answer["rows"] == 50.0
    np.testing.assert_allclose(answer["log_likelihood"], 50 * net.score("rows.csv"), rtol=1e-15)
    shown = run("score", asia, "rows.csv").out.split()
    assert shown[-1] == f"{net.score('rows.csv'):.6f}"


def test_score_of_the_graph_of_a_network(run, asia):
    net = jn.examples.load("asia")
    net.sample(50, random_state=0).write("rows.csv")
    words = ["--score", "bdeu", "--equivalent-sample-size", "10", "--json"]
    answer = json.loads(run("score", asia, "rows.csv", *words).out)
    assert answer["bdeu"] == jn.score(net.graph, "rows.csv", "bdeu", equivalent_sample_size=10)


@pytest.mark.filterwarnings("ignore:labels that this model does not know")
def test_impossible_rows_are_counted(run, rain):
    run("learn", rain, "--graph", "rain -> wet", "-o", "net.json")
    with open("new.csv", "w") as file:
        file.write("rain,wet,more\nyes,no,1\nno,no,1\nsnow,no,1\n")
    done = run("score", "net.json", "new.csv")
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()] == [
        ["rows", "3"],
        ["log", "likelihood", "-inf"],
        ["per", "row", "-inf"],
        ["impossible", "rows", "2"],
    ]
    strict = {"parse_constant": pytest.fail}
    answer = json.loads(run("score", "net.json", "new.csv", "--json").out, **strict)
    expected = {"rows": 3.0, "log_likelihood": None, "per_row": None, "impossible_rows": 2}
    assert answer == expected


def test_score_with_missing_values(run):
    with open("rows.csv", "w") as file:
        file.write("a,b\nx,y\n,z\nx,z\n")
    words = ["score", "a -> b", "rows.csv", "--score", "bic", "--json"]
    answer = json.loads(run(*words, "--available-case").out)
    assert answer["bic"] == jn.score("a -> b", "rows.csv", "bic", missing="available-case")


# --- sample ---


def test_sample_prints_plain_csv(run, asia):
    done = run("sample", asia, "-n", 3, "--seed", 0)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "asia,bronc,dysp,either,lung,smoke,tub,xray"
    assert len(lines) == 4
    assert '"' not in done.out
    assert run("sample", asia, "-n", 3, "--seed", 0, "-o", "-") == done
    assert len(run("sample", asia).out.splitlines()) == 1001


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.parquet"])
def test_sample_writes_files(run, asia, name):
    done = run("sample", asia, "-n", 2000, "--seed", 4, "-o", name)
    assert (done.code, done.out, done.err) == (0, "", f"2,000 rows written to {name}")
    expected = jn.examples.load("asia").sample(2000, random_state=4)
    assert jn.read_table(name).to_arrow().to_pylist() == expected.to_arrow().to_pylist()


def test_the_seed_decides_and_threads_do_not(run, asia):
    one = run("sample", asia, "-n", 20_000, "--seed", 1, "--threads", 1).out
    assert run("sample", asia, "-n", 20_000, "--seed", 1, "--threads", 2).out == one
    assert run("sample", asia, "-n", 20_000, "--seed", 2).out != one


def test_sample_in_json(run, asia):
    rows = json.loads(run("sample", asia, "-n", 3, "--seed", 0, "--json").out)
    expected = jn.examples.load("asia").sample(3, random_state=0)
    assert rows == expected.to_arrow().to_pylist()
    done = run("sample", asia, "-n", 3, "--json", "-o", "rows.csv")
    assert json.loads(done.out) == {"rows": 3, "output": "rows.csv"}


def test_odd_labels_are_quoted_where_they_must_be(run):
    labels = ["a,b", 'say "x"', "two\nlines", "plain", "é"]
    jn.BayesianNetwork.from_tables("x, y", {"x": [0.2] * 5, "y": [1.0]}, {"x": labels}).save(
        "n.json"
    )
    run("sample", "n.json", "-n", 200, "--seed", 0, "-o", "rows.csv")
    with open("rows.csv", encoding="utf-8", newline="") as file:
        text = file.read()
    assert text.startswith("x,y\n")
    assert '"a,b",0\n' in text
    assert '"say ""x""",0\n' in text
    assert "\nplain,0\n" in text
    assert "\né,0\n" in text
    assert set(jn.read_table("rows.csv").variable("x").states) == set(labels)


# --- show ---


def test_show_tells_all(run, asia):
    done = run("show", asia)
    assert done.code == 0
    assert done.out.startswith(
        "BayesianNetwork(8 nodes, 8 edges, 18 free parameters)\ntitle: Chest"
    )
    assert "source: Lauritzen" in done.out
    assert "\n  bronc, either -> dysp  (2 states)\n" in done.out
    for name in jn.examples.load("asia").graph.nodes:
        assert f"\nP({name}" in done.out


def test_show_some_nodes(run, asia):
    net = jn.examples.load("asia")
    done = run("show", asia, "--node", "tub", "--node", "asia")
    assert done.out == f"{net.cpt('tub')}\n\n{net.cpt('asia')}\n\n"


def test_show_in_json_is_the_file(run, asia):
    with open(asia, encoding="utf-8") as file:
        assert run("show", asia, "--json").out == file.read()
    answer = json.loads(run("show", asia, "--node", "tub", "--json").out)
    assert answer == [
        {
            "name": "tub",
            "states": ["no", "yes"],
            "parents": ["asia"],
            "table": [[0.99, 0.01], [0.95, 0.05]],
        }
    ]


# --- compile, demo ---


@pytest.mark.slow
def test_compile_readies_every_kernel(run):
    seconds = json.loads(run("compile", "--json").out)
    assert {"count_bits", "draw_rows", "add_log_probabilities"} <= seconds.keys()
    assert all(s >= 0 for s in seconds.values())
    assert f"{len(seconds)} kernels are ready in {places().write} (" in run("compile").out


def test_demo_explains_an_example_and_always_the_same(run):
    done = run("demo")
    assert done.code == 0
    assert "Lauritzen" in done.out
    assert "posterior of P(dysp | bronc, either), 90 % intervals" in done.out
    assert "the true graph" in done.out
    assert "it differs from the true graph in 1 edge." in done.out
    assert "jensen learn" in done.out
    assert run("demo") == done


# --- streams, and one after another ---


def test_tables_come_from_standard_input(run, rain, stdin):
    with open(rain) as file:
        stdin(file.read())
    done = run("learn", "-", "--graph", "rain -> wet", "-o", "net.json")
    assert done.code == 0
    assert jn.load("net.json").equals(jn.BayesianNetwork("rain -> wet").fit(rain))


def test_networks_go_through_standard_streams(run, rain, stdin):
    done = run("learn", rain, "--graph", "rain -> wet", "--prior", "1", "-o", "-")
    run("learn", rain, "--graph", "rain -> wet", "--prior", "1", "-o", "net.json")
    with open("net.json", encoding="utf-8") as file:
        assert done.out == file.read()
    for command in (["show"], ["sample", "-n", "5", "--seed", "1"], ["show", "--json"]):
        stdin(done.out)
        from_stream = run(command[0], "-", *command[1:])
        assert from_stream == run(command[0], "net.json", *command[1:])
        assert from_stream.code == 0
    stdin(done.out)
    assert run("score", "-", rain) == run("score", "net.json", rain)
    stdin(done.out)
    assert run("learn", rain, "--graph", "-", "-o", "again.json").code == 0
    assert jn.load("again.json").graph == jn.DAG("rain -> wet")


def test_learn_show_sample_score_one_after_another(run, asia):
    run("sample", asia, "-n", 5000, "--seed", 0, "-o", "train.csv")
    run("sample", asia, "-n", 5000, "--seed", 1, "-o", "test.parquet")
    done = run("learn", "train.csv", "--graph", asia, "--prior", "bdeu", "-o", "net.json")
    assert done.code == 0
    assert "free parameters" in run("show", "net.json").out
    learned = json.loads(run("score", "net.json", "test.parquet", "--json").out)["per_row"]
    truth = json.loads(run("score", asia, "test.parquet", "--json").out)["per_row"]
    assert abs(learned - truth) < 0.01
    assert len(run("sample", "net.json", "-n", 7).out.splitlines()) == 8


def test_letters_that_a_terminal_lacks_are_spelled_out(run, monkeypatch):
    import io
    import sys

    net = jn.BayesianNetwork.from_tables("é", {"é": [0.5, 0.5]}, {"é": ["ü", "日本"]})
    net.save("net.json")
    shown = {}
    for words in (("show", "net.json"), ("show", "net.json", "--json")):
        raw = io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(raw, "ascii"))
            assert run(*words).code == 0
            shown[len(words)] = raw.getvalue()
    assert b"P(\\xe9)" in shown[2]
    with open("net.json", "rb") as file:
        assert shown[3] == file.read()


def test_complete_rows_are_learned_from_and_scored_on_request(run, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,extra\n0,0,\n1,1,x\n1,,x\n")
    learned = run("learn", "rows.csv", "--graph", "a -> b", "--prior", "1", "--complete-rows")
    assert "learned from 2 rows" in learned.out
    scored = run("score", "a -> b", "rows.csv", "--complete-rows", "--json")
    assert json.loads(scored.out)["rows"] == 2


def test_show_can_tell_how_sure_the_tables_are(run):
    net = jn.BayesianNetwork("a", prior=1.0).fit({"a": [0, 1, 1]})
    net.save("net.json")
    assert repr(net.posterior("a")) in run("show", "net.json", "--intervals").out


# --- convert and pictures ---


def test_convert_goes_from_format_to_format(run):
    net = jn.examples.load("cancer")
    net.save("cancer.json")
    assert run("convert", "cancer.json", "cancer.bif") == (0, "", "")
    assert run("convert", "cancer.bif", "again.json.gz").code == 0
    assert jn.load("again.json.gz").equals(net)


def test_convert_refuses_an_unknown_format_before_it_reads(refuse, tmp_path):
    message = refuse("convert", "gone.json", "net.doc")
    assert message.startswith("cannot tell the format of net.doc: a network ends in .json, .bif")
    assert not list(tmp_path.iterdir())


def test_show_tells_standard_errors(run):
    rows = ["a,b", *["x,1.5"] * 3, "x,2", "y,3", "y,2.5", "y,", ",3.25", "y,2"]
    Path("rows.csv").write_text("\n".join(rows))
    run("learn", "rows.csv", "--graph", "a -> b", "--method", "em", "-o", "net.json")
    net, words = jn.load("net.json"), ("show", "net.json", "--standard-errors", "rows.csv")
    known = net.standard_errors("rows.csv")
    assert run(*words).out == f"{known}\n"
    assert run(*words, "--node", "b").out == f"{known['b']}\n"
    plain = json.loads(run(*words, "--json").out)
    assert [row["standard error"] for row in plain[:2]] == known["a"].errors[0].tolist()
    assert "--svg and --standard-errors do not go" in run(*words, "--svg", "x.svg").err
    assert "belongs to --standard-errors: add it" in run("show", "net.json", "--missing", "?").err


def test_show_draws_a_picture(run):
    jn.examples.load("asia").save("asia.json")
    assert run("show", "asia.json", "--svg", "asia.svg") == (0, "", "")
    with open("asia.svg", encoding="utf-8") as file:
        drawn = file.read()
    assert drawn.startswith("<svg ")
    assert drawn.count("<title>") > 16
    assert run("show", "asia.json", "--svg", "-").out == drawn
    assert run("show", "asia.json", "--svg", "-", "--node", "lung").out != drawn


def test_learning_again_keeps_the_states_of_a_network(run):
    jn.examples.load("alarm").save("alarm.json")
    assert run("sample", "alarm.json", "-n", "20", "--seed", "0", "-o", "few.csv").code == 0
    words = ["--graph", "alarm.json", "--prior", "bdeu", "-o", "again.json"]
    assert run("learn", "few.csv", *words).code == 0
    assert jn.load("again.json").states == jn.examples.load("alarm").states


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [("-o", "--checkpoint", "x.json"), ("--checkpoint", "--svg", "x.svg")],
)
def test_one_file_is_not_written_twice(first, second, name, tmp_path, capsys):
    """Refused before the rows, of which there are none, are read."""
    path = str(tmp_path / name)
    assert main(["learn", "none.csv", first, path, second, path]) == 2
    assert f"both name {path}: name two files" in capsys.readouterr().err
