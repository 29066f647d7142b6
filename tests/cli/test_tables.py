"""Tables on the command line: how they are written, what is missing, columns that are not there."""

import csv
import io
import json

import pytest

import jensen as jn

warned = pytest.mark.filterwarnings("always::jensen.DataWarning")

EXCEL = "rain;wet;mm\nno;no;0,5\nno;yes;1,5\nyes;yes;3,25\nyes;yes;2,5\n"


def write(text, name="rows.csv"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- separators and decimals ---


def test_every_command_reads_files_with_semicolons(run, tmp_path):
    write(EXCEL)
    graph = ["--graph", "rain -> wet", "-o", "net.json"]
    words = ["--decimal", ","]
    assert run("learn", "rows.csv", *graph, *words).code == 0
    assert set(jn.load("net.json").states) == {"rain", "wet"}
    done = run("predict", "net.json", "rows.csv", "--target", "rain", *words)
    assert [row["predicted_rain"] for row in rows_of(done.out)] == ["no", "yes", "yes", "yes"]
    assert [row["mm"] for row in rows_of(done.out)] == ["0.5", "1.5", "3.25", "2.5"]
    assert json.loads(run("score", "net.json", "rows.csv", *words, "--json").out)["rows"] == 4
    assert run("impute", "net.json", "rows.csv", *words).code == 0
    done = run("posterior", "rows.csv", "--method", "exact", "--without", "mm", *words)
    assert (done.code, "rain" in done.out) == (0, True)


@pytest.mark.parametrize(("mark", "word"), [(":", ":"), ("\t", "tab"), ("\t", "\\t"), ("|", "|")])
def test_a_separator_is_said(run, mark, word):
    write(EXCEL.replace(";", mark))
    words = ["--graph", "rain -> wet", "--separator", word, "--decimal", ","]
    assert run("learn", "rows.csv", *words, "-o", "net.json").code == 0
    assert set(jn.load("net.json").states) == {"rain", "wet"}


def test_a_decimal_comma_of_a_mixture(run):
    write("x;y\n" + "".join(f"{k},5;{k % 7},25\n" for k in range(30)))
    words = ["--model", "mixture", "--states", "1", "--decimal", ",", "-o", "mixture.json"]
    assert run("learn", "rows.csv", *words).code == 0
    assert jn.load("mixture.json").means_[0, 0] == pytest.approx(15.0)
    done = run("predict", "mixture.json", "rows.csv", "--decimal", ",")
    assert rows_of(done.out)[3]["x"] == "3.5"


@warned
def test_advice_is_in_the_words_of_the_shell(run, refuse):
    write(EXCEL)
    err = run("learn", "rows.csv", "--graph", "rain -> wet").err
    assert "jensen: warning: rows.csv: numbers with a decimal comma stand in 'mm' (0,5)" in err
    assert "say --decimal , if that is right, --decimal . to keep them as labels" in err
    line = refuse("learn", "rows.csv", "--graph", "rain -> wet", "--separator", ",")
    assert "looks separated by ';', but was read as one column" in line
    assert "say --separator ';', or put" in line
    write("a;b\nx;y\n", "rows.tsv")
    assert "--separator ';'" in refuse("score", "a -> b", "rows.tsv")


# --- words for missing ---


@warned
def test_words_for_missing_are_told_in_the_words_of_the_shell(run):
    write("rain,wet,x\nno,NA,1.5\nno,yes,?\nyes,yes,2.5\nyes,no,3.5\n")
    graph = ["--graph", "rain -> wet", "-o", "net.json"]
    err = run("learn", "rows.csv", *graph).err
    assert (
        "jensen: warning: rows.csv: labels that may mean missing are read as states, in 'wet' (NA)"
        ", 'x' (?): if they mean missing, say --missing '?' --missing NA; if they are labels, say "
        "--missing ''"
    ) in err
    assert jn.load("net.json").states["wet"] == ("NA", "no", "yes")
    assert "warning" not in run("learn", "rows.csv", *graph, "--missing", "").err
    assert jn.load("net.json").states["wet"] == ("NA", "no", "yes")
    done = run("learn", "rows.csv", *graph, "--missing", "NA", "--missing", "?")
    assert "may mean missing" not in done.err
    assert jn.load("net.json").states["wet"] == ("no", "yes")


def test_words_among_numbers_are_refused_in_the_words_of_the_shell(refuse):
    write("x,y\n1.5,2\nNA,3\n")
    line = refuse("learn", "rows.csv", "--graph", "x -> y", "--continuous", "x")
    assert line == (
        "column 'x' cannot be continuous: row 2 holds 'NA', which is no number; if it means "
        "missing, say --missing NA"
    )


# --- columns that are not there ---


@warned
@pytest.mark.parametrize("words", [["predict", "--target", "lung"], ["impute"], ["score"]])
def test_a_misspelt_column_is_told(run, asia, words):
    table = jn.examples.load("asia").sample(5, random_state=0).to_pandas()
    table.rename(columns={"smoke": "Smoker"}).to_csv("rows.csv", index=False)
    done = run(words[0], asia, "rows.csv", *words[1:])
    assert done.code == 0
    assert done.err == (
        "jensen: warning: the table has no column for 1 variable of the network, 'smoke': taken "
        "as missing in every row (is it 'Smoker' for 'smoke'?); rename the columns, or say "
        "--missing-columns ignore if they are missing indeed"
    )
    silent = run(words[0], asia, "rows.csv", *words[1:], "--missing-columns", "ignore")
    assert (silent.code, silent.err, silent.out) == (0, "", done.out)


@pytest.mark.parametrize("words", [["predict", "--target", "lung"], ["impute"], ["score"]])
def test_a_table_of_something_else_is_refused(refuse, asia, words):
    write("Smokes,height\nyes,1.5\n")
    line = refuse(words[0], asia, "rows.csv", *words[1:])
    assert line.startswith("no column of the table (Smokes, height) is a variable of the network")
    assert line.endswith("rename the columns (is it 'Smokes' for 'smoke'?)")


def test_the_target_needs_no_column(run, asia):
    table = jn.examples.load("asia").sample(5, random_state=0).to_pandas()
    table.drop(columns="lung").to_csv("rows.csv", index=False)
    done = run("predict", asia, "rows.csv", "--target", "lung")
    assert (done.code, done.err) == (0, "")


def test_missing_columns_belongs_to_a_networks_own_tables(refuse, asia):
    write("smoke,lung\nyes,no\n")
    line = refuse("score", "smoke -> lung", "rows.csv", "--missing-columns", "ignore")
    assert line.startswith("--missing-columns belongs to a network's own tables")


# --- discretised variables ---


@pytest.fixture
def cut(tmp_path):
    """`cut.json`: age, cut at 33.5 and 53.5, and whether someone is ill."""
    ages = [20, 25, 30, 35, 40, 50, 55, 60, 70] * 4
    ill = ["no", "no", "yes", "no", "yes", "no", "yes", "yes", "yes"] * 4
    table = jn.Table({"age": ages, "ill": ill}, continuous=["age"])
    cut = jn.discretize(table, bins=3)
    jn.BayesianNetwork("age -> ill", prior=1.0).fit(cut).save(tmp_path / "cut.json")
    return "cut.json"


def test_numbers_are_given_of_a_discretised_variable(run, refuse, cut):
    label = jn.load(cut).states["age"][1]
    for option in ("--given", "--do"):
        told = json.loads(run("query", cut, "ill", option, "age=40", "--json").out)
        expected = json.loads(run("query", cut, "ill", option, f"age={label}", "--json").out)
        assert told["probabilities"] == expected["probabilities"]
    drawn = rows_of(run("sample", cut, "-n", "5", "--given", "age=40.5", "--seed", "0").out)
    assert {row["age"] for row in drawn} == {label}
    assert "P(ill | age=" in run("query", cut, "ill", "--given", "age=40").out
    assert run("query", cut, "--most-probable", "--given", "age=1e3").code == 0
    shown = run("show", cut, "--svg", "-", "--beliefs", "--given", "age=40")
    assert shown.out == run("show", cut, "--svg", "-", "--beliefs", "--given", f"age={label}").out
    line = refuse("query", cut, "ill", "--given", "age=old")
    assert line.startswith("'age' has no state 'old'; its states are <= ")
    assert line.endswith(", or give a number, which lies in one of them")


def test_impute_keeps_known_numbers(run, cut):
    write("age,ill\n40,\n,yes\n25.50,no\n")
    before = rows_of("age,ill\n40,\n,yes\n25.50,no\n")
    told = rows_of(run("impute", cut, "rows.csv").out)
    assert [row["age"] for row in told][::2] == [row["age"] for row in before][::2]
    assert told[1]["age"] in jn.load(cut).states["age"]


@pytest.mark.parametrize("model", ["mixture", "hmm", "latent-class"])
def test_infinite_numbers_are_refused_with_their_place(refuse, model):
    write("x,y\n0.5,1.5\n1.5,2.5\ninf,0.5\n")
    line = refuse("learn", "rows.csv", "--model", model, "--states", "1")
    assert line == (
        "X contains infinity: row 3 of the column 'x' is inf, which no model of numbers has; "
        "correct it, or make it missing"
    )


# --- slips, in the words of the shell ---


@warned
def test_a_slip_is_told_with_the_option_that_mends_it(run):
    write("x;y\n" + "".join(f"{k}.5;{k % 7}.25\n" for k in range(30)) + "12,5;3\n")
    done = run("learn", "rows.csv")
    assert "the first '12,5' in line 32): correct them, or say --missing 12,5 if" in done.err
    assert "--categorical x if all are labels" in done.err
    done = run("learn", "rows.csv", "--missing", "12,5", "--complete-rows", "--prior", "bge")
    assert (done.code, done.err) == (0, "")


def test_a_first_line_that_contradicts_the_separator_is_refused(run):
    write(f"sep=;\n{EXCEL}")
    assert run("learn", "rows.csv", "--graph", "rain -> wet", "--decimal", ",").code == 0
    done = run("learn", "rows.csv", "--graph", "rain -> wet", "--separator", ",")
    assert "sep=; names the separator ';', but --separator , was said: leave that out" in done.err
    assert done.code == 2


@warned
def test_numbers_that_mean_missing_are_told_in_words_of_the_shell(run):
    rows = [f"{k % 7 + 0.5 if k > 4 else -999},{'uv'[k % 2]}" for k in range(40)]
    write("\n".join(["x,y", *rows]), "codes.csv")
    words = ["learn", "codes.csv", "--model", "mixture", "--states", "1", "--column", "x"]
    line = run(*words).err
    assert line == (
        "jensen: warning: codes.csv: numbers that may mean missing are read as they stand, in 'x' "
        "(-999, 5 times, beside 0.5 to 6.5): if they mean missing, say --missing -999; if they are "
        "numbers, say --missing ''"
    )
    done = run(*words, "--missing", "-999")
    assert (done.code, done.err) == (0, "")
    assert run(*words, "--missing", "").err == ""


@warned
def test_the_score_of_an_unseen_label_says_which(run):
    write("a,b\nx,u\nx,v\ny,u\ny,v\n", "seen.csv")
    assert run("learn", "seen.csv", "--graph", "a -> b", "-o", "net.json").code == 0
    write("a,b\nx,u\ny,w\nx,w\n", "new.csv")
    done = run("score", "net.json", "new.csv", "--json")
    assert json.loads(done.out)["impossible_rows"] == 2
    assert done.err == (
        "jensen: warning: labels that this model does not know stand in 2 rows (2, 3), the first "
        "one is 'w' in column 'b': the log-likelihood there is -inf. Correct them, make them "
        "missing, or learn with them among the states"
    )
    assert run("score", "net.json", "new.csv", "--missing", "w").err == ""
