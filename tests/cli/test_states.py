"""Mixtures, latent classes and hidden Markov models on the command line."""

import importlib
import json
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

import jensen as jn
from jensen import free_energy

MIXTURE = ["--model", "mixture", "--states", "2", "--seed", "0"]
CLASSES = ["--model", "latent-class", "--states", "2", "--seed", "0"]
HMM = ["--model", "hmm", "--states", "2", "--seed", "0"]


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (20, 2)), rng.normal(8, 1, (15, 2))]).round(3)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame.loc[3, "b"] = np.nan
    frame.to_csv("points.csv", index=False)
    return "points.csv"


@pytest.fixture
def animals():
    with open("animals.csv", "w") as file:
        file.write("name,fur,legs,n\n")
        for k in range(12):
            file.write(f"x{k},{'no' if k % 2 else 'yes'},{k % 2 * 2 + 0.1 * k},{1 + k % 3}\n")
    return "animals.csv"


@pytest.fixture
def walks():
    rng = np.random.default_rng(1)
    with open("walks.csv", "w") as file:
        file.write("walk,seen,far,n\n")
        for k in range(40):
            state = k // 5 % 2
            label = "" if k == 7 else "xy"[int(rng.random() < 0.1 + 0.8 * state)]
            file.write(f"w{k // 10},{label},{state * 5 + rng.normal():.3f},{1 + k // 10 % 2}\n")
    return "walks.csv"


LEARNED = {}


@pytest.fixture
def models(run, points, animals, walks):
    """One file of each model; learned once, for all tests."""
    if not LEARNED:
        chosen = {
            "mixture": [points, *MIXTURE],
            "classes": [animals, *CLASSES, "--column", "fur", "--column", "legs"],
            "hmm": [walks, *HMM, "--sequences", "walk", "--column", "seen"],
        }
        for name, words in chosen.items():
            run("learn", *words, "--prior", "default", "-o", f"{name}.json")
            with open(f"{name}.json", "rb") as file:
                LEARNED[name] = file.read()
    for name, content in LEARNED.items():
        with open(f"{name}.json", "wb") as file:
            file.write(content)


# --- learn ---


def test_learn_a_mixture(run, points):
    done = run("learn", points, *MIXTURE, "--prior", "default", "-o", "m.json")
    assert (done.code, done.err) == (0, "")
    expected = jn.GaussianMixture(2, prior={}, random_state=0).fit(pd.read_csv(points))
    again = jn.load("m.json")
    np.testing.assert_array_equal(again.means_, expected.means_)
    assert again.free_energy_ == expected.free_energy_
    lines = done.out.splitlines()
    assert lines[0] == "learned from 35 rows"
    assert "\n".join(lines[1:-2]) == repr(expected.summary())
    assert f"vbem: lower bound of the log evidence {expected.free_energy_:.6f}" in done.out
    assert lines[-1] == "written to m.json"


def test_nothing_is_written_unless_asked(run, points):
    done = run("learn", points, *MIXTURE)
    assert done.out.endswith("Nothing was written: -o model.json keeps the model.\n")
    assert os.listdir() == ["points.csv"]


def test_learn_prints_a_model_and_reads_it_again(run, points, stdin):
    done = run("learn", points, *MIXTURE, "-o", "-")
    run("learn", points, *MIXTURE, "-o", "m.json")
    with open("m.json", encoding="utf-8") as file:
        assert file.read() == done.out
    for words in (["show"], ["sample", "-n", "3", "--seed", "1"]):
        stdin(done.out)
        assert run(words[0], "-", *words[1:]) == run(words[0], "m.json", *words[1:])


def test_learn_a_mixture_in_json(run, points):
    words = [*MIXTURE, "--covariance", "diagonal", "--n-init", "3", "--json"]
    answer = json.loads(run("learn", points, *words).out)
    frame = pd.read_csv(points)
    expected = jn.GaussianMixture(2, covariance="diagonal", n_init=3, random_state=0).fit(frame)
    assert answer["model"] == "gaussian-mixture"
    assert (answer["states"], answer["live"], answer["columns"]) == (2, 2, ["a", "b"])
    assert answer["free_energy"] == expected.free_energy_
    assert answer["meaning"] == "log-likelihood"
    assert answer["starts"] == expected.starts_.tolist()
    assert answer["parameters"] == {
        "weights": expected.weights_.tolist(),
        "means": expected.means_.tolist(),
        "covariances": expected.covariances_.tolist(),
    }
    assert answer["free_parameters"] == expected.n_parameters == 9
    assert (answer["rows"], answer["output"]) == (35.0, None)


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["--prior", "concentration=0.01,mean_strength=2"], "concentration mean_strength"),
        (["--method", "viterbi"], {"method": "viterbi"}),
        (["--max-iter", "500", "--tol", "1e-3"], {"max_iter": 500, "tol": 1e-3}),
        (["--covariance", "tied"], {"covariance": "tied"}),
        (
            ["--method", "gibbs", "--n-samples", "9", "--burn-in", "2", "--n-chains", "2"],
            {"method": "gibbs", "n_samples": 9, "burn_in": 2, "n_chains": 2},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_learn_with_every_choice(run, points, words, choices):
    if isinstance(choices, str):
        choices = {"prior": {"concentration": 0.01, "mean_strength": 2.0}}
    assert run("learn", points, *MIXTURE, *words, "-o", "m.json").code == 0
    expected = jn.GaussianMixture(2, random_state=0, **choices).fit(pd.read_csv(points))
    again = jn.load("m.json")
    assert repr(again) == repr(expected)
    np.testing.assert_array_equal(again.means_, expected.means_)


def test_learn_goes_on_from_a_model(run, points):
    run("learn", points, *MIXTURE, "--prior", "default", "-o", "m.json")
    assert run("learn", points, *MIXTURE, "--start", "m.json", "-o", "n.json").code == 0
    start = jn.load("m.json")
    expected = jn.GaussianMixture(2, start=start, random_state=0).fit(pd.read_csv(points))
    np.testing.assert_array_equal(jn.load("n.json").means_, expected.means_)


def test_learn_latent_classes(run, animals):
    words = [*CLASSES, "--column", "fur", "--column", "legs", "--weights", "n"]
    words += ["--states", "fur=no,yes,perhaps", "--prior", "default", "-o", "c.json"]
    done = run("learn", animals, *words)
    assert done.out.startswith("learned from 24 rows\nLatentClass(2 classes, 2 columns, ")
    assert "fur = perhaps" in done.out
    table = jn.read_table(animals, weights="n", states={"fur": ["no", "yes", "perhaps"]})
    expected = jn.LatentClass(2, prior={}, random_state=0).fit(table.select(["fur", "legs"]))
    again = jn.load("c.json")
    assert again.variables_ == expected.variables_
    np.testing.assert_array_equal(again.weights_, expected.weights_)


def test_whole_numbers_may_be_counts(run, refuse, animals):
    words = [*CLASSES, "--column", "fur", "--column", "n", "--prior", "default", "-o", "c.json"]
    run("learn", animals, *words)
    assert [v.kind for v in jn.load("c.json").variables_] == ["categorical", "categorical"]
    run("learn", animals, *words, "--counts", "n")
    table = jn.read_table(animals, counts=["n"]).select(["fur", "n"])
    expected = jn.LatentClass(2, prior={}, random_state=0).fit(table)
    again = jn.load("c.json")
    assert [v.kind for v in again.variables_] == ["categorical", "count"]
    np.testing.assert_array_equal(again.weights_, expected.weights_)
    assert refuse(
        "learn", animals, "--model", "factors", "--factors", "1", "--counts", "n"
    ).startswith("--counts belongs to --model network, mix")


@pytest.mark.parametrize(("emission", "column"), [("categorical", "seen"), ("gaussian", "far")])
def test_learn_a_hidden_markov_model(run, walks, emission, column):
    words = [*HMM, "--sequences", "walk", "--column", column, "--emission", emission, "--end"]
    done = run("learn", walks, *words, "--weights", "n", "-o", "h.json")
    assert done.code == 0
    assert done.out.startswith("learned from 60 rows of 4 sequences\nHiddenMarkovModel(2 states")
    frame = pd.read_csv(walks)
    expected = jn.HiddenMarkovModel(2, emission=emission, end=True, random_state=0)
    expected.fit(frame[[column]], lengths=[10] * 4, sequence_weight=[1, 2, 1, 2])
    again = jn.load("h.json")
    np.testing.assert_array_equal(again.transition_, expected.transition_)
    np.testing.assert_array_equal(again.end_, expected.end_)
    assert again.free_energy_ == expected.free_energy_


@pytest.mark.parametrize(
    ("text", "words", "emission"),
    [
        ("x\n0.5\n1.5\n0.7\n", ["--covariance", "diagonal"], "gaussian"),
        ("x\n" + "\n".join(map(str, range(30, 0, -1))) + "\n", [], "poisson"),
        ("x\n3\n3\n4\n", [], "categorical"),
        ("x\n0.5\n1.5\n0.7\n", ["--categorical", "x"], "categorical"),
        ("x\n0.5\n1.5\n0.7\n", ["--emission", "categorical"], "categorical"),
        ("x\n3\n3\n4\n", ["--emission", "gaussian"], "gaussian"),
    ],
)
def test_the_kinds_of_columns_choose_the_emission(run, text, words, emission):
    with open("rows.csv", "w") as file:
        file.write(text)
    done = run("learn", "rows.csv", *HMM, *words, "--prior", "default", "-o", "h.json")
    assert f", 1 column, {emission}, " in done.out
    assert jn.load("h.json").emission == emission


def test_an_hmm_goes_on_with_the_emission_of_its_start(run):
    with open("rows.csv", "w") as file:
        file.write("x\n0\n0\n1\n5\n4\n")
    words = ["learn", "rows.csv", *HMM, "--prior", "default"]
    run(*words, "--emission", "poisson", "-o", "h.json")
    assert run(*words, "--start", "h.json", "-o", "again.json").code == 0
    assert jn.load("again.json").emission == "poisson"


def test_learn_tells_aic_and_bic_where_f_is_the_likelihood(run, points):
    frame = pd.read_csv(points)
    model = jn.GaussianMixture(2, random_state=0).fit(frame)
    lines = run("learn", points, *MIXTURE).out.splitlines()
    assert f"AIC {model.aic(frame):.6f} (lower is better)" in lines
    assert f"BIC {model.bic(frame):.6f} (lower is better)" in lines
    answer = json.loads(run("learn", points, *MIXTURE, "--json").out)
    np.testing.assert_allclose(answer["bic"], model.bic(frame), rtol=1e-12)
    assert "AIC" not in run("learn", points, *MIXTURE, "--prior", "default").out


def test_all_rows_are_one_sequence_unless_said(run, walks):
    answer = json.loads(run("learn", walks, *HMM, "--column", "seen", "--json").out)
    assert (answer["sequences"], answer["rows"]) == (1, 40.0)
    assert answer["parameters"]["labels"] == {"seen": ["x", "y"]}


def test_a_run_goes_on_from_its_checkpoint(run, refuse, points):
    words = [*MIXTURE, "--checkpoint", "run", "-o", "m.json"]
    done = run("learn", points, *words)
    assert done.code == 0
    assert run("learn", points, *words).out == done.out
    with open("other.csv", "w") as file:
        file.write("a\n1\n2\n4\n7\n")
    assert "run" in refuse("learn", "other.csv", *words)


# --- what can be asked of them ---


def test_show(run, models):
    for name in ("mixture", "classes", "hmm"):
        done = run("show", f"{name}.json")
        assert done == (0, f"{jn.load(f'{name}.json').summary()}\n", "")
    answer = json.loads(run("show", "hmm.json", "--json").out)
    assert answer["parameters"]["transition"] == jn.load("hmm.json").transition_.tolist()


def test_predict_components(run, models, points):
    model, frame = jn.load("mixture.json"), pd.read_csv(points)
    done = run("predict", "mixture.json", points, "--probabilities", "-o", "out.csv")
    assert (done.code, done.out, done.err) == (0, "", "35 rows written to out.csv")
    out = pd.read_csv("out.csv")
    assert list(out)[2:] == ["predicted_component", "P(component=0)", "P(component=1)"]
    np.testing.assert_array_equal(out["predicted_component"], model.predict(frame))
    np.testing.assert_allclose(out.iloc[:, 3:], model.predict_proba(frame), rtol=1e-14)
    answer = json.loads(run("predict", "mixture.json", points, "--json").out)
    assert answer == [{"predicted": int(k)} for k in model.predict(frame)]


def test_words_in_place_of_numbers(run, refuse, models):
    with open("new.csv", "w") as file:
        file.write("a,b\n1.5,none\n2.5,3\n")
    for command in ("predict", "score"):
        line = refuse(command, "mixture.json", "new.csv")
        assert line.startswith(
            "the column 'b' holds 'none', and this GaussianMixture needs numbers"
        )
        assert line.endswith("add --missing 'none' if that means missing")
        assert run(command, "mixture.json", "new.csv", "--missing", "none").code == 0


def test_columns_may_stand_in_any_order_and_others_too(run, models, points):
    frame = pd.read_csv(points)
    frame.assign(other="z")[["other", "b", "a"]].to_csv("turned.csv", index=False)
    plain = run("predict", "mixture.json", points).out.splitlines()
    turned = run("predict", "mixture.json", "turned.csv").out.splitlines()
    assert [line.split(",")[-1] for line in turned] == [line.split(",")[-1] for line in plain]


def test_predict_classes(run, models, animals):
    lines = run("predict", "classes.json", animals).out.splitlines()
    assert lines[0] == "name,fur,legs,n,predicted_class"
    expected = jn.load("classes.json").predict(jn.read_table(animals))
    assert [int(line.split(",")[-1]) for line in lines[1:]] == expected.tolist()


def test_predict_states_of_sequences(run, models, walks):
    model, frame = jn.load("hmm.json"), pd.read_csv(walks)
    for words, expected in (
        ([], model.predict(frame[["seen"]], [10] * 4)),
        (["--path"], model.decode(frame[["seen"]], [10] * 4)),
    ):
        done = run("predict", "hmm.json", walks, "--sequences", "walk", *words)
        assert done.err == ""
        found = [int(line.split(",")[-1]) for line in done.out.splitlines()[1:]]
        assert found == expected.tolist()


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_labels_that_are_not_known(run, refuse, models):
    with open("new.csv", "w") as file:
        file.write("fur,legs\nperhaps,2\nno,2\n")
    line = refuse("predict", "classes.json", "new.csv")
    assert line.startswith(
        "labels that this model does not know stand in 1 row (1), the first one is 'perhaps' in "
        "column 'fur': correct them, or pass --unknown missing"
    )
    done = run("score", "classes.json", "new.csv", "--json")
    answer = json.loads(done.out)
    assert (answer["log_likelihood"], answer["impossible_rows"]) == (None, 1)
    assert "the first one is 'perhaps' in column 'fur': the log-likelihood there is" in done.err
    done = run("predict", "classes.json", "new.csv", "--unknown", "missing")
    expected = jn.load("classes.json").predict(jn.Table({"fur": [None, "no"], "legs": [2.0, 2.0]}))
    assert [int(x.split(",")[-1]) for x in done.out.splitlines()[1:]] == expected.tolist()


def test_rows_that_cannot_be(run, refuse):
    jn.HiddenMarkovModel.from_parameters(
        initial=[1, 0], transition=[[0, 1], [0, 1]], emission=[[1, 0], [0, 1]], symbols=["x", "y"]
    ).save("h.json")
    with open("rows.csv", "w") as file:
        file.write("s,letter\n1,x\n1,y\n2,y\n2,y\n")
    words = ["h.json", "rows.csv", "--sequences", "s"]
    for option in ([], ["--path"]):
        line = refuse("predict", *words, *option)
        assert line.startswith("1 sequence cannot occur (2), having probability 0 under this model")
        assert line.endswith("or pass --impossible nan")
        lines = run("predict", *words, *option, "--impossible", "nan").out.splitlines()
        assert [line.split(",")[-1] for line in lines] == ["predicted_state", "0", "1", "", ""]
    answer = json.loads(run("predict", *words, "--impossible", "nan", "--json").out)
    assert [x["predicted"] for x in answer] == [0, 1, None, None]
    assert "impossible rows" in run("score", *words).out


def test_score(run, models, points, walks):
    answer = json.loads(run("score", "mixture.json", points, "--json").out)
    assert answer["rows"] == 35.0
    expected = jn.load("mixture.json").score(pd.read_csv(points))
    np.testing.assert_allclose(answer["per_row"], expected, rtol=1e-14)
    answer = json.loads(run("score", "hmm.json", walks, "--sequences", "walk", "--json").out)
    frame = pd.read_csv(walks)[["seen"]]
    expected = jn.load("hmm.json").score(frame, lengths=[10] * 4)
    np.testing.assert_allclose(answer["per_row"], expected, rtol=1e-14)
    assert (answer["sequences"], answer["rows"]) == (4.0, 40.0)
    model = jn.load("hmm.json")
    for name in ("aic", "bic"):
        np.testing.assert_allclose(answer[name], getattr(model, name)(frame, [10] * 4), rtol=1e-12)
    words = ["hmm.json", walks, "--sequences", "walk", "--weights", "n", "--json"]
    weighted = json.loads(run("score", *words).out)
    log_like = jn.load("hmm.json").log_likelihood(frame, [10] * 4)
    np.testing.assert_allclose(weighted["log_likelihood"], log_like @ [1, 2, 1, 2], rtol=1e-12)


def test_sample(run, models):
    rows, states = jn.load("mixture.json").sample(4, random_state=5)
    run("sample", "mixture.json", "-n", 4, "--seed", 5, "--with-states", "-o", "out.csv")
    out = pd.read_csv("out.csv")
    assert list(out) == ["a", "b", "component"]
    np.testing.assert_allclose(out[["a", "b"]], rows, rtol=1e-14)
    assert out["component"].tolist() == states.tolist()
    answer = json.loads(run("sample", "classes.json", "-n", 2, "--seed", 5, "--json").out)
    assert answer == jn.load("classes.json").sample(2, random_state=5)[0].to_dict("records")
    lines = run("sample", "hmm.json", "-n", 3, "--n-sequences", 2, "--seed", 5).out.splitlines()
    drawn, _ = jn.load("hmm.json").sample(3, 2, random_state=5)
    expected = [f"{k},{label}" for k in range(2) for (label,) in drawn[k]]
    assert lines == ["sequence,seen", *expected]


def test_samples_of_counts_are_whole_numbers(run):
    rows = np.random.default_rng(0).poisson([[2.0], [9.0]] * 10)
    jn.HiddenMarkovModel(2, emission="poisson", random_state=0).fit(rows).save("h.json")
    lines = run("sample", "h.json", "-n", 5, "--seed", 0).out.splitlines()
    assert lines[0] == "x0"
    assert all(line.isdecimal() for line in lines[1:])


def test_a_model_without_names_takes_the_columns_that_there_are(run, points):
    frame = pd.read_csv(points)
    model = jn.GaussianMixture(2, random_state=0).fit(frame.to_numpy())
    model.save("m.json")
    done = run("predict", "m.json", points)
    assert done.err == ""
    found = [int(line.split(",")[-1]) for line in done.out.splitlines()[1:]]
    assert found == model.predict(frame.to_numpy()).tolist()


@pytest.mark.slow
def test_convert_copies_and_other_formats_refuse(run, refuse, models):
    assert run("convert", "mixture.json", "copy.json.gz").code == 0
    assert run("show", "copy.json.gz") == run("show", "mixture.json")
    line = refuse("convert", "mixture.json", "m.bif")
    assert line.startswith("cannot write m.bif: a GaussianMixture is kept in JSON")


# --- what is wrong is told in one line ---


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "mixture"], "say once how many hidden states there are: --states 3"),
        ([*MIXTURE, "--states", "3"], "say once how many hidden states there are"),
        (["--model", "mixture", "--states", "0"], "--states 0: there must be one at least"),
        (["--model", "mixture", "--states", "-2"], "--states -2: there must be one at least"),
        (["--model", "mixture", "--states", "many"], "--states many: write how many there are"),
        (["--model", "mixtur", "--states", "2"], "Invalid value for '--model'"),
        ([*MIXTURE, "--states", "a=1,2"], "--states a=1,2: the columns here hold numbers"),
        ([*MIXTURE, "--graph", "a -> b"], "--graph belongs to --model network or markov, not to"),
        ([*MIXTURE, "--hidden", "a=2"], "--hidden belongs to --model network"),
        ([*MIXTURE, "--equivalent-sample-size", "0"], "--equivalent-sample-size belongs to"),
        ([*MIXTURE, "--emission", "gaussian"], "--emission belongs to --model hmm, not to"),
        ([*MIXTURE, "--sequences", "a"], "--sequences belongs to --model hmm or lds, not to"),
        ([*MIXTURE, "--end"], "--end belongs to --model hmm, not to --model mixture"),
        ([*MIXTURE, "--categorical", "a"], "--categorical a: the columns here hold numbers"),
        ([*CLASSES, "--covariance", "tied"], "--covariance belongs to --model mixture or hmm"),
        (
            [*HMM, "--covariance", "tied", "--emission", "poisson"],
            "--covariance does not belong to an hmm whose states make poisson columns: add --em",
        ),
        ([*HMM, "--complete-rows"], "--complete-rows would tear holes into sequences"),
        ([*HMM, "--emission", "normal"], "emission must be one of categorical, gaussian"),
        ([*MIXTURE, "--covariance", "round"], "covariance must be one of full, diagonal"),
        ([*MIXTURE, "--prior", "bdeu"], "--prior bdeu: write default, or parts with their num"),
        ([*MIXTURE, "--prior", "1"], "--prior 1: write default, or parts with their numbers"),
        ([*MIXTURE, "--prior", "scale=1,scale=2"], "--prior scale=1,scale=2 names 'scale' twice"),
        ([*MIXTURE, "--prior", "meen=1"], "prior= has no part 'meen'"),
        ([*MIXTURE, "--method", "magic"], "there is no method 'magic'"),
        ([*MIXTURE, "--column", "c"], "there is no column 'c'; the columns are: a, b"),
        ([*HMM, "--sequences", "c"], "there is no column 'c'; the columns are: a, b"),
        ([*HMM, "--sequences", "a", "--column", "a"], "--column a names the column of the seq"),
        ([*MIXTURE, "-o", "m.bif"], "cannot write m.bif: a mixture model is kept in JSON"),
        ([*MIXTURE, "-o", "gone/m.json"], "cannot write gone/m.json: there is no folder"),
        ([*MIXTURE, "-o", "-", "--json"], "-o - and --json do not go together"),
        (["--states", "2", "--graph", "a -> b"], "--states K belongs to --model mixture, latent"),
        (["--graph", "a -> b", "--end"], "--end belongs to --model hmm, not to --model netw"),
        (["--graph", "a -> b", "--column", "a"], "--column belongs to a graph that is learned"),
        ([*MIXTURE, "--without", "c"], "there is no column 'c'; the columns are: a, b"),
        ([*MIXTURE, "--column", "a", "--without", "a"], "--column and --without both name a"),
        ([*MIXTURE, "--without", "a", "--without", "b"], "there is no column to learn from"),
        ([*HMM, "--sequences", "a", "--without", "a"], "--without a names the column of the seq"),
        (["--model", "mixture", "--states", "99"], "35 rows (n_samples=35) cannot tell"),
    ],
)
def test_wrong_choices_of_learn(refuse, points, words, message):
    assert refuse("learn", points, *words).startswith(message)
    assert os.listdir() == ["points.csv"]


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (
            "a,t\n1,x\n2,y\n",
            MIXTURE,
            "the column 't' holds 'x', and a mixture needs numbers: add --missing 'x' if that "
            "means missing, name columns of numbers with --column, or use --model latent-class",
        ),
        (
            "a,t\n1,x\n2,y\n",
            [*HMM, "--emission", "poisson"],
            "the column 't' holds 'x', and an hmm with --emission poisson needs numbers",
        ),
        (
            "a,t\n1.5,x\n2.5,y\n",
            HMM,
            "the columns are of different kinds (a is continuous, t is categorical), and states of "
            "a hidden Markov model make one kind: name columns of one kind with --column, or say "
            "which with --emission",
        ),
        ("a\n", MIXTURE, "rows.csv has no rows"),
        ("a,b\n1,\n2,\n3,\n", MIXTURE, "the column 'b' has no values: leave it out"),
        (
            "s,x\n1,a\n2,b\n1,a\n",
            [*HMM, "--sequences", "s"],
            "the sequence '1' of 's' begins",
        ),
        ("s,x\n1,a\n,b\n", [*HMM, "--sequences", "s"], "row 2 has no value in 's'"),
        ("s\n1\n2\n", [*HMM, "--sequences", "s"], "there is no column to learn from"),
        (
            "s,x,n\n1,a,1\n1,b,2\n",
            [*HMM, "--sequences", "s", "--weights", "n"],
            "row 2 has another weight than the row before",
        ),
        ("x\n-1\n2\n", [*HMM, "--emission", "poisson"], "Negative values in data"),
        ("x\n0.5\n2\n", [*HMM, "--emission", "poisson"], "row 1, column 1 is 0.5, but counts are"),
    ],
)
def test_wrong_tables_of_learn(refuse, text, words, message):
    with open("rows.csv", "w") as file:
        file.write(text)
    assert message in refuse("learn", "rows.csv", *words, "-o", "m.json")
    assert os.listdir() == ["rows.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["query", "mixture.json", "a"], "mixture.json holds a GaussianMixture, but a network is"),
        (["impute", "hmm.json", "walks.csv"], "hmm.json holds a HiddenMarkovModel, but a network"),
        (["learn", "points.csv", "--graph", "mixture.json"], "mixture.json holds a GaussianMix"),
        (["learn", "points.csv", *MIXTURE, "--start", "hmm.json"], "start must be a fitted mix"),
        (["predict", "mixture.json", "points.csv", "--target", "a"], "--target belongs to a ne"),
        (["predict", "mixture.json", "points.csv", "--path"], "--path belongs to an hmm, not to"),
        (["predict", "mixture.json", "points.csv", "--sequences", "a"], "--sequences belongs to"),
        (["predict", "mixture.json", "walks.csv"], "the table has no column 'a': its columns are"),
        (["predict", "hmm.json", "walks.csv", "--path", "--probabilities"], "--path and --prob"),
        (["predict", "hmm.json", "walks.csv", "--sequences", "x"], "the table has no column 'x'"),
        (["predict", "hmm.json", "gone.csv"], "there is no file gone.csv"),
        (["score", "mixture.json", "points.csv", "--score", "bic"], "--score belongs to a network"),
        (["score", "mixture.json", "points.csv", "--local"], "--local belongs to a network"),
        (["show", "mixture.json", "--node", "a"], "--node belongs to a network, not to a mixture"),
        (["show", "mixture.json", "--svg", "-"], "--svg belongs to a network or"),
        (["sample", "mixture.json", "-n", "0"], "-n 0: draw one row at least"),
        (["sample", "mixture.json", "--given", "a=1"], "--given belongs to a network"),
        (["sample", "mixture.json", "--n-sequences", "2"], "--n-sequences belongs to an hmm"),
    ],
)
def test_wrong_questions(refuse, models, words, message):
    before = sorted(os.listdir())
    assert refuse(*words).startswith(message)
    assert sorted(os.listdir()) == before


def test_options_of_states_are_not_ignored_for_networks(refuse, asia):
    jn.examples.load("asia").sample(5, random_state=0).write("rows.csv")
    for words in (
        ["predict", asia, "rows.csv", "--target", "lung", "--sequences", "asia"],
        ["score", asia, "rows.csv", "--sequences", "asia"],
        ["sample", asia, "--with-states"],
    ):
        line = refuse(*words)
        assert line.startswith(f"{words[-2] if len(words) > 3 else words[-1]} belongs to ")
        assert line.endswith(", not to a network")
    line = refuse("learn", "rows.csv", *MIXTURE, "--start", asia)
    assert line.startswith("asia.json holds a network, but a mixture or hidden Markov model is")


@pytest.mark.parametrize("stop", [0, 40, 300, -3])
def test_models_cut_short(refuse, models, points, stop):
    with open("mixture.json", "rb") as file:
        content = file.read()[:stop]
    with open("cut.json", "wb") as file:
        file.write(content)
    for words in (["show", "cut.json"], ["predict", "cut.json", points], ["sample", "cut.json"]):
        assert refuse(*words).startswith("cut.json, line ")


# --- interrupts ---


def interrupting(function, when):
    """The function, with a Ctrl-C before it does anything."""

    def interrupted(*given, **more):
        if when():
            os.kill(os.getpid(), signal.SIGINT)  # as the terminal does it: to the main thread
            time.sleep(0.3)  # until that has heard it
        return function(*given, **more)

    return interrupted


def test_an_interrupt_while_the_table_is_read_says_that_nothing_was_learned(
    run, walks, monkeypatch
):
    from jensen.cli import inputs

    monkeypatch.setattr(inputs, "read_table", interrupting(inputs.read_table, lambda: True))
    code, out, err = run("learn", walks, *HMM, "--column", "far", "-o", "model.json")
    assert (code, out) == (130, "")
    assert err == (
        "jensen: interrupted: the table was still being read, so nothing was learned, and nothing "
        "was written"
    )
    assert not os.path.exists("model.json")


@pytest.mark.parametrize(
    "place",
    [
        "jensen.estimators.hidden_markov_model.chain_problem",  # rows are prepared
        "jensen.models.hidden_markov.start_stats",  # the first start
        "jensen.runs.restarts.free_energy.step",  # the first sweep
    ],
)
@pytest.mark.parametrize("more", [[], ["--checkpoint", "run.checkpoint"]])
@pytest.mark.filterwarnings("always::jensen.exceptions.EstimateWarning")
def test_an_interrupt_keeps_the_first_sweep(run, walks, monkeypatch, place, more):
    module, name = place.rsplit(".", 1)
    home = importlib.import_module(module) if "free_energy" not in module else free_energy
    once = iter([True])
    monkeypatch.setattr(home, name, interrupting(getattr(home, name), lambda: next(once, False)))
    options = ["--column", "far", "--n-init", "3", "--tol", "1e-15", "-o", "model.json", *more]
    code, _, err = run("learn", walks, *HMM, *options)
    assert code == 130
    assert "interrupted: this is the best so far, and converged_ is False" in err
    assert jn.load("model.json").kind_ == "gaussian"
    assert os.path.exists("run.checkpoint") == bool(more)


def test_an_interrupt_of_chains_before_their_first_sample(run, walks, monkeypatch):
    from jensen.estimators import hidden_markov_model

    made = interrupting(hidden_markov_model.chain_problem, lambda: True)
    monkeypatch.setattr(hidden_markov_model, "chain_problem", made)
    code, _, err = run("learn", walks, *HMM, "--column", "far", "--method", "gibbs")
    assert (code, err) == (
        130,
        "jensen: interrupted before the first sample was drawn: nothing was learned",
    )


def test_an_interrupt_before_anything_has_begun(monkeypatch, capsys):
    from jensen import cli

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.__import__", interrupted)
    code = cli.main([])
    monkeypatch.undo()
    assert code == 130
    assert capsys.readouterr().err == "jensen: interrupted: nothing had begun yet\n"


@pytest.mark.filterwarnings("always::jensen.DataWarning")
@pytest.mark.parametrize("model", [MIXTURE, [*HMM, "--emission", "gaussian"], CLASSES])
def test_a_constant_column_whose_variance_the_prior_guesses_is_told(run, model):
    rng = np.random.default_rng(0)
    rows = {"a": np.concatenate([rng.normal(0, 1, 20), rng.normal(8, 1, 20)]), "k": [7.5] * 40}
    pd.DataFrame(rows).to_csv("still.csv", index=False)
    (line,) = run("learn", "still.csv", *model, "--prior", "default").err.splitlines()
    assert line.startswith("jensen: warning: column 'k' is constant, so nothing says how much")
    assert run("learn", "still.csv", *model, "--prior", "scale=2").err == ""
    assert run("learn", "still.csv", *model, "--prior", "default", "--without", "k").err == ""


# --- forecast ---


def test_forecast(run, models, walks):
    done = run("forecast", "hmm.json", walks, "--sequences", "walk", "--steps", "2")
    assert (done.code, done.err) == (0, "")
    table = pd.read_csv(walks)
    own = [part[["seen"]] for _, part in table.groupby("walk", sort=False)]
    found = jn.load("hmm.json").forecast(own, 2)
    lines = done.out.splitlines()
    assert lines[0] == "2 steps ahead after each of 4 sequences"
    assert [line.split()[0] for line in lines[3:]] == [f"w{k}" for k in range(4) for _ in range(2)]
    done = run("forecast", "hmm.json", walks, "--sequences", "walk", "--steps", "2", "--json")
    told = json.loads(done.out)["forecast"]
    np.testing.assert_allclose([row["P(seen=x)"] for row in told], found.expected[:, :, 0].ravel())


def test_forecast_numbers_and_draws(run, walks):
    far = ["--column", "far", "--sequences", "walk"]
    run("learn", walks, *HMM, *far, "-o", "far.json")
    ask = ["forecast", "far.json", walks, "--sequences", "walk", "--steps", "3"]
    assert "80% from" in run(*ask, "--interval", "0.8").out
    done = run(*ask, "--interval", "0.8", "-o", "ahead.csv")
    assert done.err == "12 rows written to ahead.csv"
    ahead = pd.read_csv("ahead.csv")
    assert (ahead["far from"] < ahead["far"]).all()
    assert (ahead["far"] < ahead["far to"]).all()
    draws = [*ask, "--draws", "5", "--seed", "0", "-o"]
    run(*draws, "draws.csv")
    drawn = pd.read_csv("draws.csv")
    assert list(drawn.columns) == ["sequence", "draw", "step", "state", "far"]
    assert len(drawn) == 4 * 5 * 3
    run(*draws, "again.csv")
    pd.testing.assert_frame_equal(drawn, pd.read_csv("again.csv"))
    both = json.loads(run(*ask, "--draws", "5", "--seed", "0", "--json").out)
    assert [row["far"] for row in both["draws"]] == drawn["far"].tolist()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["mixture.json"], "MODEL belongs to an hmm or a linear dynamical system, not"),
        (["hmm.json", "--interval", "0.9"], "an interval is one of numbers, and these columns are"),
        (["hmm.json", "--draws", "3"], "--draws: name the file for the futures with -o, or add"),
        (["hmm.json", "--draws", "3", "--interval", "0.9", "-o", "x.csv"], "do not go together"),
        (["hmm.json", "--seed", "3"], "--seed belongs to --draws: add it"),
        (["hmm.json", "--draws", "3", "-o", "walks.csv"], "would overwrite walks.csv"),
    ],
)
def test_forecasts_that_are_refused(run, models, walks, words, text):
    done = run("forecast", words[0], walks, *words[1:])
    assert done.code == 2
    assert text in done.err


def test_auto_takes_the_number_with_the_highest_bound(run, points, walks):
    found = json.loads(run("learn", points, "--model", "mixture", "--states", "auto", "--seed", "0",
                           "--json").out)  # fmt: skip
    bounds = {one["states"]: one["bound"] for one in found["candidates"]}
    assert list(bounds) == list(range(1, 11))
    assert found["states"] == max(bounds, key=bounds.get) == 2
    assert found["free_energy"] == bounds[2]
    assert all(one["pareto_k"] >= 0.0 for one in found["candidates"])
    shown = run("learn", walks, "--model", "hmm", "--states", "auto", "--seed", "0", "--column",
                "seen", "--sequences", "walk").out  # fmt: skip
    assert "best" in shown
    assert "lower bound" in shown


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--method", "em"], "which --method em has not"),
        (["--checkpoint", "x"], "--checkpoint belongs to one number of states"),
        (["--states", "3"], "say once how many"),
    ],
)
def test_what_auto_cannot_have(refuse, points, more, words):
    assert words in refuse("learn", points, "--model", "mixture", "--states", "auto", *more)
