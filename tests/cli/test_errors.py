"""Whatever goes wrong is one line on standard error, exit code 2, and nothing half-written."""

import os

import pytest

import jensen as jn
from jensen.cli.command import NOTHING_KEPT

GRAPH = ["--graph", "rain -> wet"]


def write(name, text):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


# --- words ---


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lern", "rain.csv"], "No such command 'lern'. Did you mean 'learn'?"),
        (["learn"], "Missing argument"),
        (["learn", "rain.csv", *GRAPH, "--nonsense"], "No such option: --nonsense"),
        (["score", "A -> B"], "Missing argument"),
        (["sample", "asia.json", "-n", "many"], "Invalid value for '-n':"),
        (["sample", "asia.json", "--seed", "0.5"], "Invalid value for '--seed':"),
        (["show", "asia.json", "more.json"], "Got unexpected extra argument"),
        (["demo", "twice"], "Got unexpected extra argument"),
    ],
)
def test_wrong_words_are_answered_with_help(refuse, rain, asia, words, message):
    line = refuse(*words)
    assert line.startswith(message)
    assert "(try jensen" in line
    assert line.endswith("--help)")


def test_an_option_without_its_value_is_refused(refuse, rain):
    assert refuse("learn", rain, *GRAPH, "--prior") == "Option '--prior' requires an argument."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prior", "jeffreys"], "there is no prior 'jeffreys': use a number, or one of"),
        (["--prior", "-1"], "a Dirichlet concentration must be positive and finite, not -1.0"),
        (["--prior", "nan"], "a Dirichlet concentration must be positive and finite, not nan"),
        (["--method", "magic"], "there is no method 'magic': choose one of em, vbem, viterbi"),
        (["--method", "em", "--prior", "bdeu"], "em needs a prior with a mode"),
        (["--equivalent-sample-size", "3"], "--equivalent-sample-size belongs to --prior bdeu or"),
        (["--equivalent-sample-size", "1"], "--equivalent-sample-size belongs to --prior bdeu or"),
        (["-o", "-", "--json"], "-o - and --json do not go together: choose one"),
        (["--states", "wet"], "--states wet: write the column, =, and its states"),
        (["--states", "wet=no"], "column 'wet' holds 'yes', not among its declared states 'no'"),
        (["--threads", "0"], "Invalid value for '--threads'"),
        (["--weights", "n"], "there is no column 'n'; the columns are: rain, wet"),
        (["--weights", "wet"], "--weights wet: column 'wet' cannot be continuous"),
        (["--categorical", "n"], "there is no column 'n'; the columns are: rain, wet"),
        (["-o", "net.xyz"], "cannot tell the format of net.xyz: a network ends in"),
        (["-o", "gone/net.json"], "cannot write gone/net.json: there is no folder"),
        (["-o", "folder.json"], "cannot write folder.json: it is a folder"),
    ],
)
def test_wrong_choices_of_learn(refuse, rain, words, message):
    os.mkdir("folder.json")
    assert refuse("learn", rain, *GRAPH, *words).startswith(message)
    assert sorted(os.listdir()) == ["folder.json", "rain.csv"]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("rain -> wet -> rain", "rain -> wet -> rain"),
        ("rain -> wet; wet -> rain", "rain -> wet -> rain"),
        (
            "rain -> wet -> snow -> rain",
            "a DAG has no cycles, but here is one: rain -> wet -> snow",
        ),
        ("[rain|wet][wet|rain]", "wet -> rain -> wet"),
        ("rain -> rain", "'rain -> rain' joins 'rain' to itself"),
        ("rain wet", "found 'wet' at character 6 of 'rain wet'"),
        ("rain -> snow", "column"),
        ("", "the graph is empty: name its variables"),
        ("gone.json", "cannot read gone.json: No such file or directory"),
    ],
)
def test_wrong_graphs(refuse, rain, graph, message):
    assert message in refuse("learn", rain, "--graph", graph, "-o", "net.json")
    assert message in refuse("score", graph, rain, "--score", "bdeu")
    assert os.listdir() == ["rain.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--score", "bdx"], "there is no score 'bdx': choose one of loglik, aic"),
        (
            ["--score", "bic", "--equivalent-sample-size", "3"],
            "bic has no --equivalent-sample-size",
        ),
        (["--equivalent-sample-size", "0"], "--equivalent-sample-size must be positive and finite"),
        (["--available-case"], "--available-case has a meaning for loglik, aic"),
    ],
)
def test_wrong_choices_of_score(refuse, rain, words, message):
    assert refuse("score", "rain -> wet", rain, *words).startswith(message)


@pytest.mark.parametrize(
    "words", [["--local"], ["--available-case"], ["--equivalent-sample-size", "3"]]
)
def test_options_of_a_graph_are_not_ignored_for_a_network(refuse, rain, run, words):
    run("learn", rain, *GRAPH, "-o", "net.json")
    line = refuse("score", "net.json", rain, *words)
    assert line.startswith(f"{words[0]} belongs to the score of a graph")
    assert run("score", "net.json", rain, "--score", "bdeu").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", "-1"], "the number of rows to draw must be 0, 1, 2, ..., not -1"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--threads", "0"], "Invalid value for '--threads'"),
        (["-o", "rows.xyz"], "cannot tell the format of"),
        (["-o", "gone/rows.csv"], "cannot write gone/rows.csv: there is no folder"),
        (["-o", "folder.csv"], "cannot write folder.csv: it is a folder"),
    ],
)
def test_wrong_choices_of_sample(refuse, asia, words, message):
    os.mkdir("folder.csv")
    assert refuse("sample", asia, *words).startswith(message)
    assert sorted(os.listdir()) == ["asia.json", "folder.csv"]


def test_wrong_choices_of_show(refuse, asia):
    message = "the network has no variable 'cough'; the variables are: asia, "
    assert refuse("show", asia, "--node", "cough").startswith(message)
    assert message in refuse("show", asia, "--node", "cough", "--json")
    assert refuse("show", "gone.json") == "cannot read gone.json: No such file or directory"
    assert refuse("show", ".") == "cannot read .: Is a directory"
    for command in (["show", asia], ["posterior", "rain.csv"]):
        line = refuse(*command, "--svg", "folder.d/net.PNG")
        assert line == (
            "--svg folder.d/net.PNG: a picture is written as SVG, not as .PNG: name it "
            "folder.d/net.svg"
        )
    assert refuse("show", asia, "--svg", "-", "--json").startswith("--svg and --json do not go")
    assert refuse("show", asia, "--json", "--intervals").startswith("--json and --intervals do")
    assert refuse("show", asia, "--intervals").startswith("this network has point estimates only")


def test_a_network_learns_no_states_that_it_does_not_know(refuse, rain):
    small = jn.BayesianNetwork.from_tables("rain", {"rain": {"no": 0.5, "maybe": 0.5}})
    small.save("small.json")
    line = refuse("learn", rain, "--graph", "small.json")
    assert line.startswith("row 3 (and 1 more) holds a state that the network does not know")


@pytest.mark.parametrize("words", [["learn", "-", "--graph", "-"], ["score", "-", "-"]])
def test_standard_input_can_be_read_once(refuse, words):
    assert refuse(*words) == "- stands twice, but standard input can be read once: name a file"


# --- data ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rain.csv"),
        ("\n\n", "rain.csv"),
        ("rain,wet\n", "rain.csv has no rows"),
        ("rain,wet\n,\n,\n", "column 'rain' has no value and no declared states"),
        ("rain\nno\n", "the node 'wet' has no column: rename one of rain, or declare it hidden"),
        ("rain,rain\nno,no\n", "'rain'"),
        ("rain,wet\nno,no\nyes\n", "rain.csv"),
        (
            "rain,wet\n0.5,no\n0.25,yes\n",
            "the edge rain -> wet leads from a number to a label, and in a network of both",
        ),
        (b"rain,wet\n\xff,no\n", "rain.csv"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "rain.csv"),
        (b'rain,wet\n"no,no\n', "rain.csv"),
    ],
)
def test_wrong_tables(refuse, text, message):
    write("rain.csv", text)
    assert message in refuse("learn", "rain.csv", *GRAPH, "-o", "net.json")
    assert os.listdir() == ["rain.csv"]


@pytest.mark.parametrize("name", ["gone.csv", "rain.xyz", ".", "rain.parquet", "rain.csv.gz"])
def test_tables_that_cannot_be_read(refuse, rain, name):
    for wrong in ("rain.parquet", "rain.csv.gz"):
        write(wrong, "rain,wet\nno,no\n")
    assert refuse("learn", name, *GRAPH, "-o", "net.json")
    assert refuse("score", "rain -> wet", name)
    assert not os.path.exists("net.json")


def test_missing_values_are_refused_by_score(refuse):
    write("rows.csv", "a,b\nx,y\n,z\n")
    assert "1 value is missing: a (1)" in refuse("score", "a -> b", "rows.csv")


@pytest.mark.parametrize("stop", [0, 1, 30, 200, 600, -3])
def test_networks_cut_short(refuse, asia, stop):
    with open(asia, "rb") as file:
        write("cut.json", file.read()[:stop])
    for words in (["show", "cut.json"], ["sample", "cut.json"], ["show", "cut.json", "--json"]):
        assert refuse(*words).startswith("cut.json, line ")


def test_networks_on_standard_input_are_checked_too(refuse, stdin):
    stdin(b"\xff\xfe")
    assert refuse("show", "-") == "standard input: byte 1 is not UTF-8 text"
    stdin("{}")
    assert refuse("show", "-").startswith("standard input: the document is no Jensen network")
    stdin("")
    assert refuse("learn", "-", *GRAPH).startswith("standard input")


def test_a_table_without_any_column_of_the_network_is_refused(refuse, asia):
    write("rows.csv", "Smoke,Lung\nyes,no\n")
    for words in (["score"], ["predict", "--target", "lung"], ["impute"]):
        line = refuse(words[0], asia, "rows.csv", *words[1:])
        assert line.startswith("no column of the table (Smoke, Lung) is a variable of the network")


def test_a_failed_write_keeps_the_old_file(refuse, rain, monkeypatch):
    write("net.json", "old")
    write("rows.csv", "old")
    jn.examples.load("asia").save("asia.json")

    def refuse_it(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse_it)
        line = refuse("learn", rain, *GRAPH, "-o", "net.json")
        assert line == "cannot write net.json: No space left on device"
        line = refuse("sample", "asia.json", "-o", "rows.csv")
        assert line == "cannot write rows.csv: No space left on device"
    for name in ("net.json", "rows.csv"):
        with open(name) as file:
            assert file.read() == "old"
    assert sorted(os.listdir()) == ["asia.json", "net.json", "rain.csv", "rows.csv"]


# --- the program itself ---


@pytest.mark.parametrize("place", [0, 1, 4])
def test_traceback_shows_where(run, rain, place):
    words = ["learn", rain, *GRAPH, "--prior", "jeffreys"]
    words.insert(place, "--traceback")
    done = run(*words)
    assert done.code == 2
    assert done.err.startswith("Traceback (most recent call last):")
    assert "check_prior" in done.err
    assert done.err.splitlines()[-1].startswith("jensen: there is no prior 'jeffreys'")


def test_a_fault_of_the_program_says_so(refuse, asia, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("float\ndivision")

    monkeypatch.setattr(jn.BayesianNetwork, "sample", fail)
    assert refuse("sample", asia) == (
        "a fault of the program: ZeroDivisionError: float division (--traceback shows where)"
    )


def test_what_the_system_refuses_is_told(refuse, asia, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jn.BayesianNetwork, "sample", fail)
    assert refuse("sample", asia) == "the system refused: No space left on device"


def test_an_interrupt_is_told(run, asia, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(jn.BayesianNetwork, "sample", interrupt)
    assert run("sample", asia) == (130, "", f"jensen: {NOTHING_KEPT}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "mixture", "--states", "3"], "give a prior (--prior default), fewer"),
        (["--graph", "a -> b"], "leave out a column, or give a prior, --prior bge"),
        (["--structure", "ges", "--score", "k2", "--categorical", "a", "--categorical", "b"],
         "--structure ges needs a score that is the same for all graphs of an equivalence class: "
         "loglik, aic, bic, bdeu, bde, bge or bdeu-bge; with bds, k2, fnml, --available-case or "
         "listed local "
         "scores use --structure hill-climb or tabu"),
        (["--structure", "ges", "--start-graph", "z"], "--start-graph has a node 'z'"),
    ],
)  # fmt: skip
def test_advice_names_options(refuse, words, message):
    write("rows.csv", "a,b\n" + "1.5,1.25\n2.5,2.75\n" * 12)
    assert message in refuse("learn", "rows.csv", *words)


def test_infinite_values_in_rows_to_score(refuse, run):
    write("rows.csv", "a,b\n" + "".join(f"{k % 7}.5,{k % 5}.25\n" for k in range(30)))
    assert run("learn", "rows.csv", "--graph", "a -> b", "-o", "net.json").code == 0
    write("rows.csv", "a,b\n1.5,2.5\ninf,2.5\n")
    line = refuse("score", "net.json", "rows.csv")
    assert line == (
        "what is no finite number of at most 1e+140 stands in 1 row (2), in 'a': correct it, or "
        "make it missing with --missing"
    )


def test_a_finding_that_is_no_number(refuse, run):
    write("rows.csv", "a,b\n" + "".join(f"{k % 7}.5,{k % 5}.25\n" for k in range(30)))
    assert run("learn", "rows.csv", "--graph", "a -> b", "-o", "net.json").code == 0
    line = refuse("query", "net.json", "b", "--given", "a=x")
    assert line == "--given a=x: 'a' takes a finite number of at most 1e+140"
    line = refuse("query", "net.json", "b", "--given", "a=8,3")
    assert line.endswith("finite number of at most 1e+140: write 8.3, with a decimal point")


def test_a_title_above_the_names_of_columns(refuse):
    write("rows.csv", "My patients\na;b\nx;y\nz;y\n")
    assert refuse("learn", "rows.csv").endswith("if there is one column, say --separator ,")
