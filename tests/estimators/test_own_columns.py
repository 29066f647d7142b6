"""Tables that lack columns of a fitted model: told once, with the nearest spelling."""

import warnings

import numpy as np
import pytest

import jensen as jn

NET = jn.examples.load("asia")
FULL = NET.sample(40, random_state=0).to_pandas()
MISSPELT = FULL.rename(columns={"smoke": " Smoke", "xray": "x_ray"})
ABSENT = (
    "the table has no column for 2 variables of the network, 'smoke', 'xray': taken as missing in "
    "every row (is it ' Smoke' for 'smoke', 'x_ray' for 'xray'?); rename the columns, or say "
    "missing_columns='ignore' if they are missing indeed"
)
GAUSSIAN = jn.BayesianNetwork.from_regressions(
    "x -> y -> z", {"x": {}, "y": {"coefficients": {"x": 1}}, "z": {"coefficients": {"y": 1}}}
)
NUMBERS = GAUSSIAN.sample(5, random_state=0).to_pandas()

QUESTIONS = {
    "predict": lambda net, table, **choices: net.predict(table, "lung", **choices),
    "predict_proba": lambda net, table, **choices: net.predict_proba(table, "lung", **choices),
    "every cell": lambda net, table, **choices: net.predict_proba(table, **choices),
    "impute": lambda net, table, **choices: net.impute(table, **choices),
    "log_likelihood": lambda net, table, **choices: net.log_likelihood(table, **choices),
    "score": lambda net, table, **choices: net.score(table, **choices),
    "expected_counts": lambda net, table, **choices: net.expected_counts(
        table, [["lung"]], **choices
    ),
}
OF_NUMBERS = {
    "predict": lambda table, **choices: GAUSSIAN.predict(table, "z", **choices),
    "impute": lambda table, **choices: GAUSSIAN.impute(table, **choices),
    "log_likelihood": lambda table, **choices: GAUSSIAN.log_likelihood(table, **choices),
    "score": lambda table, **choices: GAUSSIAN.score(table, **choices),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_misspelt_columns_are_told_once(question):
    with pytest.warns(jn.DataWarning) as met:
        QUESTIONS[question](NET, MISSPELT)
    assert [str(w.message) for w in met] == [ABSENT]
    QUESTIONS[question](NET, MISSPELT, missing_columns="ignore")
    QUESTIONS[question](NET, FULL)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_table_without_any_column_of_the_network_is_refused(question):
    message = r"no column of the table \(Tubs, x\) is a variable of .* \(is it 'Tubs' for 'tub'\?\)"
    for choice in ("warn", "ignore"):
        with pytest.raises(jn.DataError, match=message):
            QUESTIONS[question](NET, {"Tubs": ["yes"], "x": [1]}, missing_columns=choice)
    with pytest.raises(jn.JensenError, match="missing_columns must be 'warn' or 'ignore', not 'x'"):
        QUESTIONS[question](NET, FULL, missing_columns="x")


@pytest.mark.parametrize("question", OF_NUMBERS)
def test_so_it_is_with_numbers(question):
    ask = OF_NUMBERS[question]
    with pytest.warns(jn.DataWarning, match=r"no column for 1 variable .* \(is it 'X' for 'x'\?\)"):
        found = ask(NUMBERS.rename(columns={"x": "X"}))
    assert np.shape(found) == np.shape(ask(NUMBERS))
    ask(NUMBERS.drop(columns="x"), missing_columns="ignore")
    with pytest.raises(jn.DataError, match="no column of the table"):
        ask({"a": [1.5]})


def test_a_target_needs_no_column():
    assert NET.predict(FULL.drop(columns="lung"), "lung").shape == (40,)
    assert GAUSSIAN.predict(NUMBERS.drop(columns="z"), "z").shape == (5,)


def test_hidden_variables_need_no_column(tmp_path):
    table = FULL[["smoke", "lung", "bronc"]]
    net = jn.BayesianNetwork(
        "h -> smoke; h -> lung; h -> bronc", hidden={"h": 2}, prior="bdeu", random_state=0
    ).fit(table)
    net.save(tmp_path / "net.json")
    for model in (net, jn.load(tmp_path / "net.json")):
        assert np.isfinite(model.score(table))
        model.impute(table)
        assert model.predict(table, "h").shape == (40,)


def test_evidence_in_a_table_has_the_columns_that_it_has():
    assert len(NET.query("lung", FULL[["smoke"]])) == 40
    assert len(NET.query(["lung", "tub"], FULL[["smoke"]])) == 40
    assert len(GAUSSIAN.query("z", NUMBERS[["x"]])) == 5
    with pytest.raises(jn.DataError, match="no column of the table"):
        NET.query("lung", FULL[["smoke"]].rename(columns={"smoke": "s"}))


def test_a_misspelt_column_of_evidence_is_told():
    words = r"^columns of the evidence are no variables .*: 'smoek' \(is it 'smoke'\?\); rename or"
    evidence = FULL[["smoke", "xray"]].rename(columns={"smoke": "smoek"})
    for targets in ("lung", ["lung", "tub"]):
        with pytest.warns(jn.DataWarning, match=words):
            NET.query(targets, evidence)
    NET.query("lung", evidence.rename(columns={"smoek": "id"}))
    with pytest.warns(jn.DataWarning, match=r"left out: 'X ' \(is it 'x'\?\)"):
        GAUSSIAN.query("z", NUMBERS[["x", "y"]].rename(columns={"x": "X "}))


def test_classes_need_all_their_columns():
    table = jn.Table({"fur": ["yes", "no"] * 6, "weight": [4.0, 1.9] * 6}, continuous=["weight"])
    classes = jn.LatentClass(1, prior={}).fit(table)
    with pytest.raises(jn.DataError, match=r"the column 'fur' is missing \(is it 'Fur'\?\): this"):
        classes.predict({"Fur": ["yes"], "weight": [1.5]})


def test_python_shows_it_once_for_each_call():
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        NET.score(MISSPELT)
        NET.score(MISSPELT)
    assert len(met) == 2
