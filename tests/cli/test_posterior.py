"""`jensen posterior`: edges and how sure they are, and commands that work instead."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import jensen as jn
from jensen.support.chain_records import ChainSamples

QUICK = ("--samples", "100", "--seed", "0")


def write(name, columns):
    """A CSV file; None is an empty field."""
    rows = zip(*columns.values(), strict=True)
    shown = [",".join("" if x is None else str(x) for x in row) for row in rows]
    Path(name).write_text("\n".join([",".join(columns), *shown, ""]))
    return name


@pytest.fixture
def cancer():
    """`cancer.csv`: 500 patients, five variables."""
    jn.examples.load("cancer").sample(500, random_state=0).write("cancer.csv")
    return "cancer.csv"


@pytest.fixture
def holes(cancer):
    """`holes.csv`: every seventh patient has no X-ray."""
    frame = jn.read_table(cancer).to_pandas()
    columns = {name: frame[name].tolist() for name in frame}
    columns["Xray"] = [None if i % 7 == 0 else x for i, x in enumerate(columns["Xray"])]
    return write("holes.csv", columns)


@pytest.fixture
def numbers():
    """`numbers.csv`: x -> y, and w apart; two values of y are missing."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 100))
    y = (2.0 * x + rng.normal(size=100)).tolist()
    return write("numbers.csv", {"w": w.tolist(), "x": x.tolist(), "y": [None, None, *y[2:]]})


@pytest.fixture
def advise(run):
    """Run a command line that must fail, and answer with its complaint and what works instead."""

    def advise_here(*arguments):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        complaint, *commands = done.err.splitlines()
        assert commands
        return complaint.removeprefix("jensen: "), [command.strip() for command in commands]

    return advise_here


def edges_of(done):
    assert done.code == 0, done
    found = json.loads(done.out)["edges"]
    return {(edge["from"], edge["to"]): edge["probability"] for edge in found}


# --- what is told ---


def test_edges_and_convergence_are_told(run, cancer):
    done = run("posterior", cancer, "--method", "partition", "--chains", "3", *QUICK)
    assert done.code == 0, done
    head, table, told = done.out.split("\n\n")
    assert head.startswith("partition: 3 chains of 100 samples, ")
    assert head.endswith(" of 5 variables, bdeu")
    titles, rule, *rows = table.splitlines()
    assert titles.split() == ["edge", "probability", "error"]
    assert set(rule) == {"-"}
    post = jn.structure_posterior(cancer, n_chains=3, n_samples=100, random_state=0)
    listed = post.edges(0.1)
    assert len(rows) == len(listed) + 1  # the last one counts the others
    first = listed.iloc[0]
    assert rows[0].split() == [
        first["from"], "->", first["to"], f"{first['probability']:.4f}",
        f"{first['standard_error']:.2g}",
    ]  # fmt: skip
    assert rows[-1] == f"and {20 - len(listed)} edges of probability 0.1 or less"
    assert "log score: R-hat " in told
    assert "The chains agree: probabilities of an edge differ by " in told
    assert told.endswith("Nothing was written: -o post.json keeps the posterior.\n")


def test_the_posterior_is_written_and_drawn(run, cancer):
    done = run("posterior", cancer, *QUICK, "-o", "post.json", "--svg", "post.svg")
    assert done.out.endswith("written to post.json\ndrawn in post.svg\n")
    post = jn.structure_posterior(cancer, n_samples=100, random_state=0)
    loaded = jn.load("post.json")
    np.testing.assert_array_equal(loaded.edge_matrix, post.edge_matrix)
    assert Path("post.svg").read_text() == post.to_svg(0.1)


def test_files_may_go_to_standard_output(run, cancer):
    assert run("posterior", cancer, *QUICK, "--svg", "-").out.startswith("<svg ")
    assert json.loads(run("posterior", cancer, *QUICK, "-o", "-").out)["format"]


def test_sums_over_all_graphs_have_no_error(run, cancer):
    done = run("posterior", cancer, "--method", "exact", "--threshold", "0.3")
    post = jn.structure_posterior(cancer, "exact")
    evidence = f"log evidence {post.log_evidence:.6f}"
    assert done.out.startswith(f"exact: all graphs of 5 variables, bdeu; {evidence}\n\n")
    assert "R-hat" not in done.out
    found = edges_of(run("posterior", cancer, "--method", "exact", "--threshold", "0", "--json"))
    assert all(found[a, b] == post.edge_probability(a, b) for a, b in found)
    assert len(found) == 20


def test_the_threshold_decides_what_is_listed_and_drawn(run, cancer):
    words = ("posterior", cancer, "--method", "exact", "--threshold")
    assert min(edges_of(run(*words, "0.4", "--json")).values()) > 0.4
    assert "no edge is more probable than 1\n" in run(*words, "1").out
    assert "→" not in run(*words, "1", "--svg", "-").out


def test_programs_get_everything(run, cancer):
    answer = json.loads(run("posterior", cancer, *QUICK, "--json").out)
    assert answer["names"] == ["Cancer", "Dyspnoea", "Pollution", "Smoker", "Xray"]
    assert answer["settings"]["method"] == "partition"
    assert set(answer["edges"][0]) >= {"from", "to", "probability", "standard_error", "r_hat"}
    convergence = answer["convergence"]
    assert convergence["n_samples"] == 100
    assert convergence["interrupted"] is False
    assert convergence["disagreement"] is None
    assert set(convergence["acceptance"]) >= {"edge reversal", "swap"}
    assert set(convergence["outside_share"].values()) == {0.0}
    exact = json.loads(run("posterior", cancer, "--method", "exact", "--json").out)
    assert exact["convergence"] is None
    assert exact["log_evidence"] < 0


def test_one_chain_cannot_agree_with_itself(run, cancer):
    done = run("posterior", cancer, "--chains", "1", *QUICK)
    assert "One chain cannot show whether it has seen all: give --chains 4." in done.out


@pytest.mark.filterwarnings("default")
def test_chains_that_disagree_are_told_in_words_of_the_command_line(run):
    jn.examples.load("alarm").sample(500, random_state=0).write("alarm.csv")
    columns = [w for x in sorted(jn.read_table("alarm.csv").names)[:15] for w in ("--column", x)]
    short = ("--samples", "5", "--burn-in", "0", "--thin", "1", "--seed", "0")
    done = run("posterior", "alarm.csv", *columns, *short, "--candidates", "4")
    advice = "raise --burn-in and --n-samples, or try --temperatures 4"
    assert done.code == 0
    assert "the chains disagree (" in done.out
    assert advice in done.out
    assert done.err.startswith("jensen: warning: ")
    assert advice in done.err


# --- the words of the library ---


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["--prior", "fair"], {"prior": "fair"}),
        (["--prior", "order"], {"prior": "order"}),
        (["--prior", "order", "--prior", "fair"], {"prior": ("order", "fair")}),
        (["--prior", "Smoker -> Cancer=0.9", "--prior", "Xray -> Cancer=0"],
         {"prior": {("Smoker", "Cancer"): 0.9, ("Xray", "Cancer"): 0.0}}),
        (["--score", "bic", "--max-parents", "1"], {"score": "bic", "max_parents": 1}),
        (["--equivalent-sample-size", "5"], {"equivalent_sample_size": 5.0}),
        (["--required", "Smoker -> Cancer", "--forbidden", "Xray -> Cancer"],
         {"required": [("Smoker", "Cancer")], "forbidden": [("Xray", "Cancer")]}),
        (["--tier", "Smoker,Pollution", "--tier", "Cancer"],
         {"tiers": [["Smoker", "Pollution"], ["Cancer"]]}),
    ],
)  # fmt: skip
def test_options_are_those_of_the_library(run, cancer, words, choices):
    found = run("posterior", cancer, "--method", "exact", *words, "--json", "--threshold", "0")
    post = jn.structure_posterior(cancer, "exact", **choices)
    for (a, b), p in edges_of(found).items():
        assert p == post.edge_probability(a, b)


@pytest.mark.parametrize("method", ["partition", "order", "structure"])
def test_chains_are_those_of_the_library(run, cancer, method):
    words = ["--n-samples", "50", "--n-chains", "2", "--burn-in", "808", "--thin", "202"]
    words += ["--candidates", "3", "--outside", "1", "--temperatures", "2", "--seed", "3"]
    found = run("posterior", cancer, "--method", method, *words, "--json", "--threshold", "0")
    post = jn.structure_posterior(
        cancer, method, n_samples=50, n_chains=2, burn_in=808, thin=202, candidates=3, outside=1,
        temperatures=2, random_state=3,
    )  # fmt: skip
    for (a, b), p in edges_of(found).items():
        assert p == post.edge_probability(a, b)


def test_candidates_may_be_named(run, cancer):
    words = ["--candidates", "Xray=Cancer", "--candidates", "Cancer=Smoker, Pollution"]
    found = run("posterior", cancer, *QUICK, *words, "--outside", "0", "--json")
    assert {a for a, b in edges_of(found) if b == "Xray"} <= {"Cancer"}


def test_interventions_settle_directions(run):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.9, a, 1 - a)
    b[200:] = rng.integers(0, 2, 200)  # b was set, and a does not follow
    was_set = [None] * 200 + ["b"] * 200
    write("set.csv", {"a": [f"a{x}" for x in a], "b": [f"b{x}" for x in b], "set": was_set})
    words = ("posterior", "set.csv", "--method", "exact", "--json", "--threshold", "0")
    found = edges_of(run(*words, "--interventions", "set"))
    assert found["a", "b"] > 0.95
    assert set(found) == {("a", "b"), ("b", "a")}


def test_numbers_have_the_score_of_numbers(run, numbers):
    done = run("posterior", numbers, "--complete-rows", "--method", "exact", "--json")
    post = jn.structure_posterior(jn.read_table(numbers).complete_rows(), "exact", "bge")
    assert edges_of(done)["x", "y"] == post.edge_probability("x", "y")


def test_a_run_goes_on_from_its_checkpoint(run, cancer):
    first = run("posterior", cancer, *QUICK, "--checkpoint", "run.ckpt", "--json")
    again = run("posterior", cancer, *QUICK, "--checkpoint", "run.ckpt", "--json")
    assert again.out == first.out


# --- what is refused ---


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--column", "nobody"], "there is no column 'nobody'"),
        (["--required", "Smoker -> nobody"], "nobody"),
        (["--interventions", "nobody"], "there is no column 'nobody'"),
        (["--column", "Xray"], "an edge joins two columns, and here is 1 column"),
        (["--required", "Smoker"], "--required Smoker: write an edge"),
        (["--prior", "even"], "there is no --prior even: choose uniform, fair, order, or an edge"),
        (["--prior", "fair", "--prior", "uniform"], "--prior: choose one of uniform, fair"),
        (["--prior", "Smoker -> Cancer"], "write one edge and its probability"),
        (["--prior", "Smoker -> Cancer=often"], "write one edge and its probability"),
        (["--prior", "Smoker -> Cancer=2"], "it must be between 0 and 1"),
        (["--prior", "Smoker -> nobody=0.5"], "--graph-prior names 'nobody', which is no column"),
        (["--prior", "order"], "--graph-prior order is for --method order and 'exact'"),
        (["--candidates", "many"], "--candidates many: write one number, or once for a variable"),
        (["--candidates", "Xray=nobody"], "--candidates names 'nobody', which is no column"),
        (["--candidates", "Xray=Xray"], "--candidates has 'Xray' among its own parents"),
        (["--method", "exact", "--chains", "4"], "--chains belongs to --method partition, order"),
        (["--method", "exact", "--checkpoint", "x"], "--checkpoint belongs to --method partition"),
        (["--equivalent-sample-size", "2", "--score", "bic"], "--equivalent-sample-size belongs"),
        (["--score", "bde"], "--score bde and --prior-network go together"),
        (["--samples", "0"], "Invalid value for '--samples'"),
        (["--threshold", "2"], "Invalid value for '--threshold'"),
        (["--method", "guess"], "'guess' is not one of 'partition', 'order', 'structure'"),
        (["--checkpoint", "-"], "a run resumes from a file, so name one"),
        (["--checkpoint", "x.svg", "--svg", "x.svg"], "--checkpoint and --svg both name x.svg"),
        (["-o", "-", "--json"], "-o - and --json do not go together: choose one"),
    ],
)
def test_wrong_words_are_refused(refuse, cancer, words, complaint):
    assert complaint in refuse("posterior", cancer, *words)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-o", "nowhere/post.json"], "cannot write nowhere/post.json: there is no folder"),
        (
            ["-o", "post.bif"],
            "a posterior over graphs is kept in JSON, so name a file",
        ),
        (["--svg", "nowhere/post.svg"], "cannot write nowhere/post.svg: there is no folder"),
        (["--checkpoint", "nowhere/run"], "cannot write nowhere/run: there is no folder"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_data_are_read(
    refuse, words, complaint
):
    assert complaint in refuse("posterior", "there_is_no_such_table.csv", *words)


def test_what_is_missing_is_drawn_with_the_graphs(run, holes):
    done = run("posterior", holes, *QUICK, "-o", "post.json")
    assert done.code == 0, done.err
    post = jn.load("post.json")
    assert post.missing.shape == (4, 100, 72)
    assert post.settings["missing"] == "data-augmentation"


def test_missing_values_are_refused_with_commands_that_work(advise, run, holes):
    exact = "--method", "exact", "--prior", "fair"
    complaint, commands = advise("posterior", holes, *exact)
    assert "72 values are missing: Xray (72)" in complaint
    assert commands == [
        "jensen posterior holes.csv --method exact --prior fair --complete-rows",
        "jensen posterior holes.csv --method exact --prior fair --score bic --available-case",
    ]
    for command in commands:
        assert run(*shlex.split(command)[1:]).code == 0


def test_few_rows_of_numbers_with_holes_have_a_posterior(run):
    write("few.csv", {"x": [0.5, 1.5, 0.7, None], "y": [1.5, 2.5, None, 2.5]})
    assert run("posterior", "few.csv", *QUICK, "--prior", "fair").code == 0
    assert run("posterior", "few.csv", *QUICK, "--complete-rows").code == 0


def test_one_row_is_refused(refuse):
    write("one.csv", {"a": ["x"], "b": ["y"]})
    text = "no column varies in 1 row, so nothing is known of edges: give more rows"
    assert refuse("posterior", "one.csv") == text


def test_no_row_is_refused(refuse):
    Path("none.csv").write_text("a,b\n")
    assert "none.csv has no rows" in refuse("posterior", "none.csv")


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_constant_columns_are_told(run):
    write("still.csv", {"a": ["u"] * 40, "b": ["v", "w"] * 20, "c": ["v", "v", "w", "w"] * 10})
    done = run("posterior", "still.csv", "--method", "exact")
    assert done.code == 0
    assert done.err == (
        "jensen: warning: column 'a' ('u') holds one label only, so the data say nothing of edges "
        "there, and what is said of them rests on the prior. Leave it out, --without a"
    )
    assert run("posterior", "still.csv", "--method", "exact", "--without", "a").err == ""


def test_a_truncated_checkpoint_is_refused(run, refuse, cancer):
    words = ("posterior", cancer, *QUICK, "--checkpoint", "run.ckpt")
    assert run(*words).code == 0
    whole = Path("run.ckpt").read_bytes()
    Path("run.ckpt").write_bytes(whole[: len(whole) // 2])
    assert refuse(*words) == (
        "cannot resume from run.ckpt: it is cut short or damaged; delete the file or name another"
    )


def test_the_checkpoint_of_another_run_is_refused(run, refuse, cancer):
    assert run("posterior", cancer, *QUICK, "--checkpoint", "run.ckpt").code == 0
    other = ("posterior", cancer, *QUICK, "--prior", "fair", "--checkpoint", "run.ckpt")
    assert "it belongs to another run, with other data or other settings" in refuse(*other)


def test_labels_and_numbers(run):
    rng = np.random.default_rng(0)
    numbers = {"x": rng.normal(size=30).tolist(), "y": rng.normal(size=30).tolist()}
    write("both.csv", {"a": ["u", "v"] * 15, "b": ["u", "v", "v"] * 10, **numbers})
    done = run("posterior", "both.csv", "--method", "exact", "--json")
    post = jn.structure_posterior("both.csv", "exact")
    assert json.loads(done.out)["settings"]["score"] == "bdeu-bge"
    assert post.edge_probability("x", "a") == 0.0
    assert "arrows from labels to numbers are a convention, not learned" in done.err
    assert run("posterior", "both.csv", *QUICK, "--discretize", "x=2").code == 0
    assert run("score", "a -> x; b; y", "both.csv", "--local").out.startswith("rows")


def test_help_has_an_example(run):
    done = run("posterior", "--help")
    assert done.code == 0
    assert "jensen posterior patients.csv --method partition --chains 4 -o post.json" in done.out


def test_a_run_that_was_stopped_tells_what_there_is(run, cancer, monkeypatch):
    from jensen.q_graph.posterior import structure_posterior as module

    collect_samples = module.collect_samples

    def stopped(run, chains, *given):
        half = [ChainSamples(*(values[:50] for values in kept)) for kept in chains.samples]
        return collect_samples(run, chains._replace(samples=half, was_stopped=True), *given)

    monkeypatch.setattr(module, "collect_samples", stopped)
    done = run("posterior", cancer, *QUICK, "-o", "post.json")
    assert done.code == 130
    assert "4 chains of 50 samples (interrupted before 100), " in done.out
    assert done.err == "jensen: interrupted"
    shown = run("show", "post.json")
    assert "4 chains of 50 samples (interrupted before 100), " in shown.out
    done = run("posterior", cancer, *QUICK, "--json")
    assert done.code == 130
    assert json.loads(done.out)["convergence"]["interrupted"] is True


def test_what_is_outside_the_candidates_is_measured_or_not(run, cancer):
    done = run("posterior", cancer, *QUICK, "--candidates", "1", "--outside", "0")
    assert "outside the candidates: not measured (see --outside), of Cancer, Dysp" in done.out
    words = ("posterior", cancer, *QUICK, "--candidates", "0", "--json")
    shares = json.loads(run(*words, "--outside", "0").out)["convergence"]["outside_share"]
    assert set(shares.values()) == {None}
    shares = json.loads(run(*words).out)["convergence"]["outside_share"]
    name = max(shares, key=shares.get)
    done = run("posterior", cancer, *QUICK, "--candidates", "0")
    assert f"outside the candidates: {shares[name]:.1%} at most, of {name}.\n" in done.out


def test_a_saved_posterior_is_shown_and_is_no_model(run, refuse, cancer):
    told = run("posterior", cancer, *QUICK, "-o", "post.json").out
    table = told.split("\n\n")[1]
    assert table in run("show", "post.json").out
    edges = json.loads(run("show", "post.json", "--json").out)["edges"]
    assert edges[0]["probability"] >= 0.5
    assert "<svg" in run("show", "post.json", "--svg", "-").out
    for words in (("score", "post.json", cancer), ("query", "post.json", "Cancer")):
        assert "holds a posterior over graphs: look at it with jensen show" in refuse(*words)


def test_a_known_order_is_summed_exactly(run, cancer):
    order = "Pollution,Smoker,Cancer,Xray,Dyspnoea"
    done = run("posterior", cancer, "--known-order", order, "--json")
    table = jn.read_table(cancer)
    post = jn.structure_posterior(table, known_order=order.split(","))
    found = json.loads(done.out)
    assert found["settings"]["known_order"] == order.split(",")
    assert found["log_evidence"] == post.log_evidence
    done = run("posterior", cancer, "--known-order", order)
    assert "exact: all graphs of 5 variables in the known order, bdeu; log evidence" in done.out
    done = run("posterior", cancer, "--known-order", order, "--chains", "2")
    assert done.err.strip() == "jensen: --n-chains belongs to chains, and --known-order has none"
    done = run("posterior", cancer, "--known-order", "Smoker,Cancer")
    assert "--known-order lacks Dyspnoea, Pollution, Xray: it lists all columns" in done.err
