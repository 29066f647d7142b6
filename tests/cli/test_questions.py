"""`jensen query`, `predict`, `impute`; `sample` and `show` given what is known."""

import csv
import io
import json
import os

import numpy as np
import pytest

import jensen as jn

pytestmark = pytest.mark.filterwarnings("ignore:the table has no column")
"""Columns are left out here on purpose."""


@pytest.fixture
def rows(tmp_path):
    """Some rows of the chest clinic, as people write them."""
    (tmp_path / "rows.csv").write_text(
        "id,smoke,xray,lung,dysp,note\n"
        "007,yes,yes,,yes,\n"
        '008,no,,no,,"a, b"\n'
        "009,,yes,yes,?,1.50\n"
        "010,,,,,\n"
    )
    return "rows.csv"


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- query ---


def test_a_query_prints_its_table(run, asia):
    net = jn.examples.load("asia")
    done = run("query", asia, "lung", "--given", "xray=yes", "--do", "smoke=no")
    assert done == (0, f"{net.query('lung', {'xray': 'yes'}, {'smoke': 'no'})!r}\n", "")
    done = run("query", asia, "lung", "bronc", "--given", "dysp=yes", "--given", "asia=no")
    assert done.out == f"{net.query(['lung', 'bronc'], {'dysp': 'yes', 'asia': 'no'})!r}\n"


def test_without_targets_all_marginals_are_told(run, asia):
    found = jn.examples.load("asia").marginals({"xray": "yes"})
    done = run("query", asia, "--given", "xray=yes")
    assert done.out == "\n\n".join(map(repr, found.values())) + "\n"
    assert "P(xray" not in done.out
    told = json.loads(run("query", asia, "--given", "xray=yes", "--json").out)
    assert (told["given"], told["do"]) == ({"xray": "yes"}, {})
    for answer, one in zip(told["marginals"], found.values(), strict=True):
        assert answer["targets"] == list(one.names)
        assert [row["probability"] for row in answer["probabilities"]] == one.values.tolist()


def test_a_query_in_json(run, asia):
    words = ["--given", "dysp=yes", "--do", "smoke=no", "--json"]
    told = json.loads(run("query", asia, "lung", "bronc", *words).out)
    found = jn.examples.load("asia").query(["lung", "bronc"], {"dysp": "yes"}, {"smoke": "no"})
    assert told == {
        "targets": ["lung", "bronc"],
        "given": {"dysp": "yes"},
        "do": {"smoke": "no"},
        "probabilities": [
            {"state": {"lung": a, "bronc": b}, "probability": found[a, b]}
            for a in ("no", "yes")
            for b in ("no", "yes")
        ],
    }


def test_intervals_of_a_query(run, rain):
    run("learn", rain, "--graph", "rain -> wet", "--prior", 1, "-o", "net.json")
    net = jn.load("net.json")
    found = net.query("rain", {"wet": "yes"}, interval=0.8)
    done = run("query", "net.json", "rain", "--given", "wet=yes", "--interval", 0.8)
    assert done.out == f"{found!r}\n"
    words = ["--given", "wet=yes", "--interval", 0.8, "--json"]
    for targets in (["rain"], []):
        told = json.loads(run("query", "net.json", *targets, *words).out)
        if not targets:
            (told,) = told["marginals"]
        assert told["interval"] == 0.8
        for row in told["probabilities"]:
            bounds = found.interval_of(row["state"]["rain"])
            assert (row["lower"], row["upper"]) == bounds


def test_the_most_probable_states(run, asia):
    net = jn.examples.load("asia")
    done = run("query", asia, "--most-probable", "--given", "xray=yes")
    assert done.out == f"{net.most_probable({'xray': 'yes'})!r}\n"
    words = ["--most-probable", "-k", 3, "--do", "smoke=no", "--json"]
    told = json.loads(run("query", asia, *words).out)
    found = net.most_probable(do={"smoke": "no"}, k=3)
    assert told == {
        "given": {},
        "do": {"smoke": "no"},
        "most_probable": [
            {
                "state": dict(one.states),
                "log_probability": one.log_probability,
                "log_conditional": one.log_conditional,
            }
            for one in found
        ],
    }
    assert run("query", asia, "--most-probable", "-k", 2).out.count("log probability") == 2


def test_names_and_states_may_hold_an_equals_sign(run):
    tables = {
        "a": {"b=c": 0.5, "d": 0.5},
        "a=b": {"e": 0.25, "f": 0.75},
        "x": [[[0.5, 0.5]] * 2] * 2,
    }
    net = jn.BayesianNetwork.from_tables('a -> x; "a=b" -> x', tables)
    net.save("net.json")

    def given(text):
        return json.loads(run("query", "net.json", "x", "--given", text, "--json").out)["given"]

    assert given("a=b=c") == {"a": "b=c"}
    assert given("a=d") == {"a": "d"}
    assert given("a=b=e") == {"a=b": "e"}
    assert "'a' has no state 'b=z'" in run("query", "net.json", "x", "--given", "a=b=z").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cough"], "the network has no variable 'cough'"),
        (["lung", "--given", "cough=yes"], "the network has no variable 'cough'"),
        (["lung", "--given", "cough=yes=no"], "the network has no variable 'cough'"),
        (["lung", "--given", "xray=maybe"], "'xray' has no state 'maybe'; its states are no, yes"),
        (["lung", "--given", "xray"], "--given xray: write the variable, =, and its state"),
        (["lung", "--do", "smoke"], "--do smoke: write the variable, =, and its state"),
        (["lung", "--given", "xray=no", "--given", "xray=yes"], "--given names 'xray' twice"),
        (["lung", "--given", "lung=no"], "'lung' is asked for, but stands in given"),
        (["lung", "--given", "xray=no", "--do", "xray=no"], "'xray' stands in given and in do"),
        (["lung", "lung"], "ask for one variable or several different ones"),
        (["lung", "--interval", "0.9"], "this network has point estimates only"),
        (["lung", "--interval", "much"], "Invalid value for '--interval'"),
        (["lung", "-k", "2"], "-k belongs to --most-probable"),
        (["lung", "--most-probable"], "--most-probable and TARGET do not go together"),
        (["--most-probable", "--interval", "0.9"], "--most-probable and --interval do not go"),
        (["--most-probable", "-k", "0"], "-k must be a whole number, 1 or more, not 0"),
        (
            ["lung", "--given", "either=no", "--given", "tub=yes"],
            "the evidence is impossible: either=no, tub=yes cannot occur together",
        ),
    ],
)
def test_wrong_questions(refuse, asia, words, message):
    assert refuse("query", asia, *words).startswith(message)


# --- predict ---


def test_predictions_are_a_column_beside_the_rows_as_written(run, asia, rows):
    done = run("predict", asia, rows, "--target", "lung", "--missing", "?")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "id,smoke,xray,lung,dysp,note,predicted_lung"
    assert lines[1].startswith("007,yes,yes,,yes,,")
    assert lines[2].startswith('008,no,,no,,"a, b",')
    assert lines[3].startswith("009,,yes,yes,?,1.50,")
    expected = jn.examples.load("asia").predict(jn.read_table(rows, missing=["?"]), "lung")
    assert [row["predicted_lung"] for row in table_of(done.out)] == expected.tolist()


def test_probabilities_of_predictions(run, asia, rows):
    words = [asia, rows, "--target", "lung", "--missing", "?", "--probabilities"]
    values = jn.examples.load("asia").predict_proba(jn.read_table(rows, missing=["?"]), "lung")
    told = table_of(run("predict", *words).out)
    for k, state in enumerate(("no", "yes")):
        column = [float(row[f"P(lung={state})"]) for row in told]
        np.testing.assert_allclose(column, values[:, k], rtol=1e-15)
    answers = json.loads(run("predict", *words, "--json").out)
    assert answers[0] == {
        "predicted": told[0]["predicted_lung"],
        "probabilities": {"no": values[0, 0], "yes": values[0, 1]},
    }
    plain = json.loads(run("predict", *words[:-1], "--json").out)
    assert plain == [{"predicted": row["predicted_lung"]} for row in told]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet"])
def test_predictions_go_to_files(run, asia, rows, name):
    done = run("predict", asia, rows, "--target", "lung", "--missing", "?", "-o", name)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(f"4 rows written to {name}")
    table = jn.read_table(name, missing=[])
    assert table.names == ("id", "smoke", "xray", "lung", "dysp", "note", "predicted_lung")
    assert table.variable("id").states == ("007", "008", "009", "010")
    told = run(
        "predict", asia, name, "--target", "bronc", "--missing", "?", "-o", "x.csv", "--json"
    )
    assert json.loads(told.out) == {"rows": 4, "target": "bronc", "output": "x.csv"}


def test_impossible_and_unknown_rows_are_refused_or_left_out(run, refuse, asia):
    with open("rows.csv", "w") as file:
        file.write("tub,either,smoke,lung\nyes,no,yes,no\nno,no,maybe,\nno,no,no,\n")
    words = ["predict", asia, "rows.csv", "--target", "bronc"]
    line = run(*words).err.splitlines()[-1]
    assert "the first one is 'maybe' in column 'smoke'" in line
    assert line.endswith("or pass --unknown missing")
    line = run(*words, "--unknown", "missing").err.splitlines()[-1]
    assert "either=no, tub=yes cannot occur together" in line
    assert line.endswith("or pass --impossible nan")
    more = ["--unknown", "missing", "--impossible", "nan"]
    done = run(*words, *more, "--probabilities")
    first, second, _ = table_of(done.out)
    assert first["predicted_bronc"] == first["P(bronc=yes)"] == ""
    assert second["predicted_bronc"] in ("no", "yes")
    assert json.loads(run(*words, *more, "--json").out)[0] == {"predicted": None}
    filled = run("impute", asia, "rows.csv", *more)
    assert table_of(filled.out)[0] == {"tub": "yes", "either": "no", "smoke": "yes", "lung": "no"}
    assert table_of(filled.out)[1]["smoke"] in ("no", "yes")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing option '--target'"),
        (["--target", "cough"], "the network has no variable 'cough'"),
        (["--target", "lung", "-o", "x.doc"], "cannot tell the format of"),
        (["--target", "lung", "-o", "gone/x.csv"], "cannot write gone/x.csv: there is no folder"),
        (["--target", "lung", "--impossible", "skip"], "Invalid value for '--impossible'"),
        (["--target", "lung", "--unknown", "skip"], "Invalid value for '--unknown'"),
    ],
)
def test_wrong_predictions(refuse, asia, rows, words, message):
    assert refuse("predict", asia, rows, *words).startswith(message)
    assert sorted(os.listdir()) == ["asia.json", "rows.csv"]


def test_a_name_that_is_taken_is_not_overwritten(run, asia):
    with open("rows.csv", "w") as file:
        file.write("smoke,predicted_lung\nyes,old\n")
    done = run("predict", asia, "rows.csv", "--target", "lung")
    assert (done.code, done.out) == (2, "")
    assert "the table has a column 'predicted_lung' already" in done.err


# --- impute ---


def test_only_missing_cells_of_the_network_change(run, asia, rows):
    done = run("impute", asia, rows, "--missing", "?")
    told, before = table_of(done.out), table_of(read(rows))
    assert list(told[0]) == list(before[0])
    known = ("smoke", "xray", "lung", "dysp")
    for new, old in zip(told, before, strict=True):
        for name, text in old.items():
            if name in known and text in ("", "?"):
                assert new[name] in ("no", "yes")
            else:
                assert new[name] == text
    filled = jn.examples.load("asia").impute(jn.read_table(rows, missing=["?"]))
    for name in known:
        column = filled.column(name)
        states = [column.variable.states[k] for k in column.data]
        assert [row[name] for row in told] == states


@pytest.mark.parametrize("method", ["mode", "marginal", "draw"])
def test_every_way_to_impute(run, asia, method):
    net = jn.examples.load("asia")
    table = net.sample(50, random_state=0)
    table.write("full.csv")
    lines = read("full.csv").splitlines()
    cut = [lines[0]] + [",".join(["", *line.split(",")[1:-1], ""]) for line in lines[1:]]
    with open("rows.csv", "w") as file:
        file.write("\n".join(cut) + "\n")
    words = ["impute", asia, "rows.csv", "--method", method, "--seed", 5]
    done = run(*words, "-o", "out.csv")
    assert done == (0, "", "100 values filled in, 50 rows written to out.csv")
    expected = net.impute(jn.read_table("rows.csv"), method, random_state=5)
    assert jn.read_table("out.csv").to_arrow().to_pylist() == expected.to_arrow().to_pylist()
    told = json.loads(run(*words, "-o", "out.parquet", "--json").out)
    assert told == {"rows": 50, "filled": 100, "output": "out.parquet"}
    assert json.loads(run(*words, "--json").out) == expected.to_arrow().to_pylist()


def test_numbers_stay_numbers(run):
    import pyarrow as pa
    import pyarrow.parquet

    net = jn.BayesianNetwork.from_tables(
        "a -> b",
        {"a": {"1": 0.9, "2": 0.1}, "b": {"1": {"x": 0.8, "y": 0.2}, "2": {"x": 0.1, "y": 0.9}}},
    )
    net.save("net.json")
    pa.parquet.write_table(pa.table({"a": [1, 2, None], "b": ["x", None, "x"]}), "rows.parquet")
    assert run("impute", "net.json", "rows.parquet", "-o", "out.parquet").code == 0
    filled = pa.parquet.read_table("out.parquet")
    assert filled.schema.field("a").type == pa.int64()
    assert filled.to_pydict() == {"a": [1, 2, 1], "b": ["x", "y", "x"]}
    with open("rows.csv", "w") as file:
        file.write("a,b\n1.0,x\n2.00,\n,x\n")
    assert run("impute", "net.json", "rows.csv").out == "a,b\n1.0,x\n2.00,y\n1.0,x\n"


def test_states_are_filled_in_as_the_column_writes_them_first(run):
    jn.BayesianNetwork.from_tables("a", {"a": {"1": 0.9, "2": 0.1}}).save("net.json")
    with open("rows.csv", "w") as file:
        file.write("a,n\n2,0\n1.00,1\n,2\n1,3\n1.0,4\n")
    assert run("impute", "net.json", "rows.csv").out == "a,n\n2,0\n1.00,1\n1.00,2\n1,3\n1.0,4\n"
    with open("rows.csv", "w") as file:
        file.write("a,n\n2.0,0\n,1\n")
    assert run("impute", "net.json", "rows.csv").out == "a,n\n2.0,0\n1,1\n"


def test_the_cells_between_cuts_stay_numbers(run):
    table = jn.discretize(jn.Table({"x": [0.1, 0.2, 0.8, 0.9], "y": ["n", "n", "y", "y"]}), bins=2)
    jn.BayesianNetwork("x -> y", prior=1.0).fit(table).save("net.json")
    low, _ = jn.load("net.json").states["x"]
    with open("rows.csv", "w") as file:
        file.write("x,y\n0.15,\n,n\n0.95,y\n")
    assert table_of(run("impute", "net.json", "rows.csv").out) == [
        {"x": "0.15", "y": "n"},
        {"x": low, "y": "n"},
        {"x": "0.95", "y": "y"},
    ]


def test_wrong_choices_of_impute(refuse, asia, rows):
    assert refuse("impute", asia, rows, "--method", "mean").startswith(
        "Invalid value for '--method'"
    )
    assert refuse("impute", asia, "gone.csv") == "there is no file gone.csv"
    assert refuse("impute", "-", "-").startswith("- stands twice")
    assert refuse("impute", asia, rows, "-o", ".csv").startswith("cannot tell the format of")


@pytest.mark.parametrize("words", [["impute"], ["predict", "--target", "lung"]])
def test_the_table_that_is_read_is_not_overwritten(refuse, asia, rows, words):
    before = read(rows)
    os.symlink(rows, "link.csv")
    for output in (rows, os.path.abspath(rows), "link.csv"):
        line = refuse(*words, asia, rows, "--missing", "?", "-o", output)
        assert line == f"-o {output} would overwrite {rows}, which is read: name another file"
    assert read(rows) == before


# --- sample and show, given something ---


def test_sample_given_and_done(run, asia):
    words = ["-n", 20, "--given", "dysp=yes", "--do", "smoke=no", "--seed", 1]
    told = table_of(run("sample", asia, *words).out)
    assert {(row["dysp"], row["smoke"]) for row in told} == {("yes", "no")}
    net = jn.examples.load("asia")
    expected = net.sample(20, given={"dysp": "yes"}, do={"smoke": "no"}, random_state=1)
    assert told == expected.to_arrow().to_pylist()


def test_sample_refuses_what_cannot_be(refuse, asia):
    words = ["--given", "either=no", "--given", "tub=yes"]
    assert refuse("sample", asia, *words).startswith("the evidence is impossible")
    assert refuse("sample", asia, "--do", "smoke").startswith("--do smoke: write the variable")


def test_show_draws_beliefs(run, refuse, asia):
    net = jn.examples.load("asia")
    words = ["--svg", "-", "--beliefs", "--given", "xray=yes", "--do", "smoke=no"]
    done = run("show", asia, *words)
    assert done.out == net.to_svg(beliefs=True, given={"xray": "yes"}, do={"smoke": "no"})
    assert run("show", asia, "--svg", "out.svg", "--beliefs") == (0, "", "")
    with open("out.svg", encoding="utf-8") as file:
        assert file.read() == net.to_svg(beliefs=True)
    assert refuse("show", asia, "--beliefs").startswith("--beliefs belongs to --svg")
    line = refuse("show", asia, "--svg", "x.svg", "--given", "xray=yes")
    assert line.startswith("--given belongs to --beliefs")
    assert refuse("show", "gone.json", "--svg", "gone/x.svg").startswith("cannot write gone/x.svg")
    assert not os.path.exists("x.svg")


# --- score ---


def test_a_network_scores_rows_with_holes(run, asia, rows):
    told = json.loads(run("score", asia, rows, "--missing", "?", "--json").out)
    expected = jn.examples.load("asia").score(jn.read_table(rows, missing=["?"]))
    assert told["per_row"] == expected


def test_bde_takes_a_prior_network(run, refuse, asia):
    net = jn.examples.load("asia")
    net.sample(30, random_state=0).write("full.csv")
    words = ["--score", "bde", "--prior-network", asia, "--equivalent-sample-size", 5]
    told = json.loads(run("score", "smoke -> lung", "full.csv", *words, "--json").out)
    expected = jn.score(
        "smoke -> lung", "full.csv", "bde", prior_network=net, equivalent_sample_size=5.0
    )
    assert told["bde"] == expected
    line = refuse("score", "smoke -> lung", "full.csv", "--score", "bde")
    assert line.startswith("the score 'bde' and --prior-network go together")
    line = refuse("score", asia, "full.csv", "--prior-network", asia)
    assert line.startswith("--prior-network belongs to the score of a graph")


# --- streams ---


def test_questions_go_through_standard_streams(run, asia, rows, stdin):
    with open(asia) as file:
        net = file.read()
    stdin(net)
    assert run("query", "-", "lung") == run("query", asia, "lung")
    with open(rows) as file:
        text = file.read()
    for words in (["predict", "--target", "lung", "--missing", "?"], ["impute", "--missing", "?"]):
        expected = run(words[0], asia, rows, *words[1:])
        assert expected.code == 0
        stdin(text)
        assert run(words[0], asia, "-", *words[1:]) == expected
        stdin(net)
        assert run(words[0], "-", rows, *words[1:]) == expected
