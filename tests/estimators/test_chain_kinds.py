"""What states make where nobody said it; texts and dates where numbers are needed."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import jensen as jn

RNG = np.random.default_rng(0)
FLOATS = RNG.normal(size=(60, 2))
MANY = RNG.poisson(50.0, 60)
FEW = RNG.integers(0, 3, 60)

KINDS = {
    "floats": (FLOATS, "gaussian"),
    "one column of floats": (FLOATS[:, :1], "gaussian"),
    "a vector of floats": (FLOATS[:, 0], "gaussian"),
    "sequences of floats": ([FLOATS[:30], FLOATS[30:]], "gaussian"),
    "floats with gaps": (np.where(FLOATS > 1.0, np.nan, FLOATS), "gaussian"),
    "a dataframe of floats": (pd.DataFrame(FLOATS, columns=["a", "b"]), "gaussian"),
    "polars": (pl.DataFrame({"a": FLOATS[:, 0]}), "gaussian"),
    "counts": (MANY[:, None], "poisson"),
    "counts with gaps": (np.where(MANY > 60, np.nan, MANY)[:, None], "poisson"),
    "counts beside floats": (np.column_stack([MANY, FLOATS[:, 0]]), "gaussian"),
    "many negative whole numbers": (MANY[:, None] - 50, "gaussian"),
    "labels": (FEW[:, None], "categorical"),
    "whole floats": (FEW[:, None].astype(float), "categorical"),
    "0 and 1": (FEW[:, None] % 2, "categorical"),
    "texts": (["a", "b", "a", "c"] * 9, "categorical"),
    "a list with a gap": ([1, 6, None, 6, 2] * 4, "categorical"),
    "two columns of texts": (np.array([["a", "x"], ["b", "y"]] * 9), "categorical"),
    "booleans": ([True, False, True] * 9, "categorical"),
    "a table that says so": (jn.Table({"a": FEW}, continuous=["a"]), "gaussian"),
    "a dict of columns": ({"a": FLOATS[:, 0]}, "gaussian"),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_columns_say_what_states_make(name):
    X, kind = KINDS[name]
    model = jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(X)
    assert model.kind_ == kind
    assert model.emission is None
    said = jn.HiddenMarkovModel(2, emission=kind, prior={}, random_state=0).fit(X)
    assert model.free_energy_ == said.free_energy_
    assert kind in str(model.summary())


@pytest.mark.parametrize("name", ["floats", "counts", "labels"])
def test_files_and_clones_keep_that_nobody_said_it(name, tmp_path):
    X, kind = KINDS[name]
    model = jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(X)
    model.save(tmp_path / "model.json")
    again = jn.load(tmp_path / "model.json")
    assert (again.emission, again.kind_) == (None, kind)
    np.testing.assert_array_equal(again.smooth(X), model.smooth(X))
    twin = clone(model)
    assert twin.get_params()["emission"] is None
    assert not hasattr(twin, "kind_")
    assert clone(again).fit(FLOATS).kind_ == "gaussian"


def test_files_of_earlier_versions_have_labels(tmp_path):
    model = jn.HiddenMarkovModel(2, emission="categorical", random_state=0).fit(FEW[:, None])
    model.save(tmp_path / "model.json")
    assert '"emission": null' not in (text := (tmp_path / "model.json").read_text())
    assert '"emission": "categorical"' not in text  # what earlier versions leave out
    assert jn.load(tmp_path / "model.json").emission == "categorical"


def test_what_was_said_elsewhere_decides():
    assert jn.HiddenMarkovModel(2, symbols=[0, 1, 2], random_state=0).fit(FEW).kind_ == (
        "categorical"
    )
    first = jn.HiddenMarkovModel(2, emission="gaussian", prior={}, random_state=0).fit(FEW)
    assert jn.HiddenMarkovModel(2, prior={}, start=first).fit(FEW).kind_ == "gaussian"
    means = {"means": [[0.0], [2.0]]}
    assert jn.HiddenMarkovModel(2, prior={}, start=means).fit(FEW).kind_ == "gaussian"


def test_kinds_that_do_not_go_together():
    mixed = pd.DataFrame({"a": FLOATS[:, 0], "b": ["x", "y"] * 30})
    with pytest.raises(
        jn.JensenError,
        match=r"^the columns are of different kinds \(a is continuous, b is categorical\), and "
        r"states of a hidden Markov model make one kind: give columns of one kind, or say which",
    ):
        jn.HiddenMarkovModel(2).fit(mixed)
    with pytest.raises(
        jn.JensenError,
        match=r"^covariance='tied' belongs to emission='gaussian', and would be ignored by "
        r"'categorical', which the kind of the columns asks for$",
    ):
        jn.HiddenMarkovModel(2, covariance="tied").fit(FEW)
    model = jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(FLOATS)
    model.set_params(emission="categorical")
    with pytest.raises(jn.JensenError, match="was fitted with other choices than it has now"):
        model.save("model.json")


# --- texts and dates ---

TEXTS = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.0], "s": ["1", "x", None, "z"]})
DAYS = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01", "2024-03-01"])
NUMBERS = (
    lambda: jn.GaussianMixture(1, prior={}),
    lambda: jn.HiddenMarkovModel(1, emission="gaussian"),
    lambda: jn.HiddenMarkovModel(1, emission="poisson"),
    lambda: jn.HiddenMarkovModel(1, emission="bernoulli"),
)


@pytest.mark.parametrize("make", NUMBERS)
@pytest.mark.parametrize(
    "X",
    [
        TEXTS,
        pl.DataFrame({"a": [1.5, 2.5], "s": ["1", "x"]}),
        TEXTS.astype({"s": "category"}),
        TEXTS.astype({"s": "string"}),
        jn.Table(TEXTS),
        {"a": [1.5, 2.5], "s": ["1", "x"]},
    ],
)
def test_texts_are_named(make, X):
    with pytest.raises(
        jn.DataError,
        match=r"^row 2 of the column 's' holds 'x', and \w+ needs numbers: if that means missing, "
        r"put NaN in its place \(or read the file with missing=\['x'\]\); else leave the column",
    ):
        make().fit(X)


@pytest.mark.parametrize("make", NUMBERS)
def test_texts_without_names_are_named_by_place(make):
    for X in ([["1", "2"], ["3", "x"]], np.array([["1", "2"], ["3", "x"]])):
        with pytest.raises(jn.DataError, match=r"^row 2 of the column 'x1' holds 'x', and "):
            make().fit(np.array(X) if isinstance(make(), jn.HiddenMarkovModel) else X)


@pytest.mark.parametrize("make", [*NUMBERS, lambda: jn.HiddenMarkovModel(1)])
@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"t": DAYS}),
        pd.DataFrame({"t": DAYS.date}),
        pl.DataFrame({"t": DAYS.to_list()}),
        DAYS.to_numpy()[:, None],
        [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
    ],
)
def test_dates_need_a_unit(make, X):
    if isinstance(X, list) and isinstance(make(), jn.GaussianMixture):
        X = [[day] for day in X]
    with pytest.raises(
        jn.DataError,
        match=r"^row 1 of the column '\w+' holds a date \(2024-01-01.*\), which is no number until "
        r"its unit is chosen: for days give \(x - x\.min\(\)\) / np\.timedelta64\(1, 'D'\)",
    ):
        make().fit(X)


def test_the_advice_on_dates_and_durations_works():
    with pytest.raises(jn.DataError, match=r"holds a duration \(.*\), which is no number until"):
        jn.GaussianMixture(1, prior={}).fit(pd.DataFrame({"t": DAYS - DAYS[0]}))
    days = (DAYS - DAYS.min()) / np.timedelta64(1, "D")
    assert jn.GaussianMixture(1, prior={}).fit(np.array(days)[:, None]).means_[0, 0] > 0.0
    assert jn.HiddenMarkovModel(1, emission="categorical").fit(pd.DataFrame({"t": DAYS}))


def test_words_in_questions_are_named_too():
    model = jn.GaussianMixture(1, prior={}).fit(TEXTS[["a"]])
    with pytest.raises(jn.DataError, match="row 1 of the column 'a' holds 'x', and GaussianMix"):
        model.predict(pd.DataFrame({"a": ["x"]}))


# --- counts too large ---


def test_counts_whose_likelihood_has_no_digits_are_refused():
    x = np.array([[1e9], [1e9 - 1.0], [5.0]])
    assert np.isfinite(jn.HiddenMarkovModel(1, emission="poisson").fit(x).free_energy_)
    message = (
        r"^row 2 of the column '\w+' is 1e\+12, and the likelihood of counts beyond 1e\+09 loses "
        r"its digits: divide the column, or learn it as numbers \(emission='gaussian', or "
    )
    with pytest.raises(jn.DataError, match=message):
        jn.HiddenMarkovModel(1, emission="poisson").fit(np.array([[3.0], [1e12]]))
    with pytest.raises(jn.DataError, match=message):
        jn.LatentClass(1).fit(jn.Table({"n": [3, 10**12]}, counts=["n"]))


def test_large_counts_have_their_digits():
    """Against Loader's saddle point expansion, whose terms do not cancel."""
    rate = 0.999e9
    x = np.random.default_rng(0).poisson(rate, 200).astype(float)
    model = jn.HiddenMarkovModel(1, emission="poisson").fit(x[:, None])
    mean = model.emission_[0, 0]
    d = (x - mean) / mean
    deviance = mean * (d**2 / 2 - d**3 / 6 + d**4 / 12)
    exact = -0.5 * np.log(2.0 * np.pi * x) - 1.0 / (12.0 * x) - deviance
    assert abs(exact.sum() - model.free_energy_) < 5e-6 * len(x)


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_whole_numbers_of_few_rows_are_perhaps_no_labels():
    rows = pd.DataFrame({"n": [*range(10)] * 2})
    with pytest.warns(jn.DataWarning, match=r"^the whole numbers of 'n' are taken for labels"):
        jn.HiddenMarkovModel(2, max_iter=2, random_state=0, prior={}).fit(rows)
