"""The classifier: scikit-learn's own checks, and P(class | row) by the network's formulas."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import jensen as jn
from jensen.estimators.classifier import STRUCTURES

CANCER = jn.examples.load("cancer").sample(400, random_state=0).to_pandas()
X, Y = CANCER.drop(columns="Cancer"), CANCER["Cancer"]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_scikit_learns_own_checks(structure):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(jn.BayesianNetworkClassifier(structure=structure), on_skip=None)


def test_naive_bayes_of_labels_is_that_of_scikit_learn():
    """A concentration of 1 in every cell is Laplace's smoothing; ours has one for classes too."""
    found = jn.BayesianNetworkClassifier(prior=1.0).fit(X, Y).predict_proba(X)
    codes = X.astype("category").apply(lambda column: column.cat.codes)
    prior = (Y.value_counts().sort_index() + 1.0) / (len(Y) + 2.0)
    theirs = CategoricalNB(alpha=1.0, class_prior=prior.to_numpy()).fit(codes, Y)
    np.testing.assert_allclose(found, theirs.predict_proba(codes), rtol=1e-9)


def test_naive_bayes_of_numbers_with_gaps_leaves_them_out():
    data = load_iris()
    values = data.data.copy()
    values[np.random.default_rng(0).random(values.shape) < 0.3] = np.nan
    classifier = jn.BayesianNetworkClassifier().fit(values, data.target)
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert classifier.score(values, data.target) > 0.9
    lost = classifier.predict_proba(np.full((1, 4), np.nan))
    np.testing.assert_allclose(lost, classifier.net_.marginals()["target"].values[None], rtol=1e-9)


def test_labels_beside_numbers_and_words_that_were_never_seen():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame(
        {"x": rng.normal(y * 2.0), "word": np.where(rng.random(200) < 0.8, y, 1 - y)}
    ).astype({"word": "category"})
    frame.loc[::7, "word"] = None
    for structure in STRUCTURES:
        classifier = jn.BayesianNetworkClassifier(structure=structure).fit(frame, y)
        assert classifier.score(frame, y) > 0.8
    new = pd.DataFrame({"x": [0.1], "word": pd.Categorical(["strange"])})
    gap = pd.DataFrame({"x": [0.1], "word": pd.Categorical([None], categories=["0"])})
    np.testing.assert_array_equal(classifier.predict_proba(new), classifier.predict_proba(gap))


def test_the_target_may_be_a_column_and_the_structure_a_graph():
    one = jn.BayesianNetworkClassifier("Cancer", structure="Smoker -> Cancer -> Xray").fit(CANCER)
    net = jn.BayesianNetwork("Smoker -> Cancer -> Xray", prior="bdeu").fit(CANCER)
    np.testing.assert_allclose(one.predict_proba(X), net.predict_proba(X, "Cancer"), rtol=1e-12)
    table = jn.BayesianNetworkClassifier("Cancer").fit(jn.Table(CANCER))
    assert table.predict(jn.Table(X)).tolist() == table.predict(X).tolist()


def test_pipelines_and_cross_validation():
    data = load_iris()
    model = make_pipeline(StandardScaler(), jn.BayesianNetworkClassifier())
    assert cross_val_score(model, data.data, data.target, cv=3).mean() > 0.9
    assert cross_val_score(jn.BayesianNetworkClassifier("c", structure="tan"), X, Y, cv=3).mean()


def test_weights_are_frequencies():
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    light = jn.BayesianNetworkClassifier().fit(X, Y, sample_weight=weight)
    rows = np.repeat(np.arange(len(Y)), weight)
    heavy = jn.BayesianNetworkClassifier().fit(X.iloc[rows], Y.iloc[rows])
    np.testing.assert_allclose(light.predict_proba(X), heavy.predict_proba(X), rtol=1e-9)


def test_a_series_keeps_its_name():
    """Unless a column has it, or the graph knows another one."""
    named = jn.BayesianNetworkClassifier().fit(X, Y)
    assert Y.name == named.target_ == "Cancer"
    assert "Cancer" in named.net_.query("Cancer").names
    assert jn.BayesianNetworkClassifier().fit(X, Y.to_numpy()).target_ == "target"
    assert jn.BayesianNetworkClassifier().fit(CANCER, Y).target_ == "target"
    told = jn.BayesianNetworkClassifier(structure="target -> Smoker").fit(X, Y)
    assert told.target_ == "target"
    told = jn.BayesianNetworkClassifier(structure="Cancer -> Smoker").fit(X, Y)
    assert told.target_ == "Cancer"


@pytest.mark.parametrize(
    ("choices", "arguments", "text"),
    [
        ({}, (X,), r"requires y to be passed, but the target y is None: give y, or say which col"),
        ({"target": "Cance"}, (CANCER,), r"^X has no column 'Cance'; did you mean 'Cancer'\?"),
        ({"target": "Cancer"}, (CANCER, Y), r"^X has a column 'Cancer', which is also the name of"),
        ({"structure": "nave"}, (X, Y), r"^there is no structure 'nave': choose one of naive, tan"),
        ({"structure": "a -> b"}, (X, Y), r"^the graph has no 'target'"),
        ({"structure": "target -> b"}, (X, Y), r"^X has no 'b'"),
        ({}, (X, [None, *Y[1:]]), r"^Input y contains NaN: the class of row 1 is missing"),
        ({}, (X, ["a"] * len(X)), r"^a classifier needs two classes, and all rows have one class"),
        ({}, (X, Y[:5]), r"^X has 400 rows, and y 5: one class for each$"),
    ],
)
def test_refusals(choices, arguments, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetworkClassifier(**choices).fit(*arguments)


# --- cross-validation of a label ---


def test_cross_validation_tells_every_prediction():
    table = jn.Table(CANCER)
    found = jn.cross_validate(table, "Cancer -> Xray", folds=4, target="Xray", random_state=0)
    seen = found.predicted
    assert seen.log_loss == pytest.approx(found.mean, rel=1e-9)
    frame = seen.to_pandas()
    assert frame["row"].tolist() == list(range(400))
    assert frame["true"].tolist() == CANCER["Xray"].tolist()
    assert seen.accuracy == pytest.approx((frame["true"] == frame["predicted"]).mean())
    crossed = pd.crosstab(frame["true"], frame["predicted"])
    assert seen.confusion.sum() == 400
    for a, b in np.ndindex(2, 2):
        expected = crossed.get(seen.states[b], {}).get(seen.states[a], 0)
        assert seen.confusion[a, b] == expected
    bins = seen.calibration(5)
    assert sum(one.weight for one in bins) == 800
    assert all(0.0 <= one.share <= 1.0 for one in bins)
    inside = [one for one in bins if one.weight > 100]
    assert all(abs(one.predicted - one.share) < 0.1 for one in inside)
    assert f"Xray of 400 rows: accuracy {seen.accuracy:.3f}" in repr(found)


def test_rows_that_do_not_show_the_label_are_left_out_and_numbers_have_none():
    frame = CANCER.copy()
    frame.loc[:9, "Xray"] = None
    found = jn.cross_validate(frame, "Cancer -> Xray", folds=3, target="Xray", random_state=0)
    assert len(found.predicted.rows) == 390
    rng = np.random.default_rng(0)
    numbers = {"x": rng.normal(size=30), "y": rng.normal(size=30)}
    assert jn.cross_validate(numbers, "x -> y", folds=3, target="y").predicted is None
    assert jn.cross_validate(numbers, "x -> y", folds=3).predicted is None
