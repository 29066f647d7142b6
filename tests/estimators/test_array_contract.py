"""scikit-learn's contract for the estimators of arrays: its own checks, and its tools.

A check that does not apply is listed in NOT_OF_CHAINS and its neighbours, with the reason; what
holds in its stead has a test below.
"""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

import jensen as jn
from jensen.estimators.sequences import read_lengths, read_numbers
from jensen.exceptions import CollapseError
from jensen.inference.chains import Steps

COVARIANCES = ("full", "diagonal", "spherical", "tied")
QUICK = {"tol": 1e-3, "random_state": 0}
SHORT = {"n_samples": 3, "burn_in": 1, "n_chains": 1, "tol": 1e-8}
NOT_OF_FEW_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "at most 15 rows in 30 columns: a full covariance without a prior is singular"
    )
}
NOT_OF_DRAWS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight 2 is drawn as two rows, in another order than repeated rows: the "
        "posterior is the same, its draws are not"
    )
}
NOT_OF_CHAINS = {
    "check_methods_sample_order_invariance": "rows are the steps of a sequence: their order counts",
    "check_methods_subset_invariance": "what follows a step says something of its state",
    "check_fit1d": "a vector is one sequence of one column",
    "check_fit2d_predict1d": "the same; it is refused by its number of columns",
}
NOT_OF_ONE_ROW = {
    **NOT_OF_CHAINS,
    "check_fit2d_1sample": "of one row one state has nothing; the error names the state",
}


class Capped(jn.HiddenMarkovModel):
    """Counts to 0 and 1 first: scikit-learn's checks have no data of this kind."""

    def _read_known(self, X, lengths, *, reset=False):
        counts = read_numbers(self, X, reset=reset, emission="poisson")
        self.variables_, self.kind_ = None, "bernoulli"
        return Steps(np.minimum(counts, 1.0), read_lengths(lengths, len(counts))), None


def mixture(n_components, **choices):
    return jn.GaussianMixture(n_components, **{**QUICK, **choices})


def chain(n_states, kind=jn.HiddenMarkovModel, **choices):
    return kind(n_states, **{**QUICK, **choices})


MIXTURES = [
    (jn.GaussianMixture(), NOT_OF_FEW_ROWS),
    *((mixture(1, covariance=kind, method="viterbi"), {}) for kind in ("diagonal", "spherical")),
    (mixture(1, covariance="tied"), NOT_OF_FEW_ROWS),
    *(
        (mixture(2, covariance=kind, method=method, prior={}), {})
        for kind in COVARIANCES
        for method in ("em", "vbem", "viterbi")
    ),
    (mixture(2, covariance="diagonal", method="me"), {}),
    (mixture(2, method="gibbs", **SHORT), NOT_OF_DRAWS),
]
FACTORS = [
    *(
        (kind(1, tol=1e-3, prior=prior, **choices), {})
        for prior in (None, {})
        for kind, choices in (
            (jn.FactorAnalysis, {}),
            (jn.FactorAnalysis, {"noise": "isotropic"}),
            (jn.BinaryFactors, {"random_state": 0}),
        )
    ),
    (jn.MixtureOfFactorAnalyzers(2, 1, prior={}, tol=1e-2, max_iter=40, random_state=0), {}),
    (jn.MixtureOfFactorAnalyzers(tol=1e-2, max_iter=40, random_state=0), {}),
    (jn.BinaryFactors(2, method="mean-field", tol=1e-3, random_state=0), {}),
    (jn.BinaryFactors(2, method="variational-em", tol=1e-3, random_state=0), {}),
]
CHAINS = [
    (chain(2, emission="gaussian", method="em"), NOT_OF_CHAINS),
    (chain(2, emission="gaussian", covariance="diagonal", prior={}), NOT_OF_CHAINS),
    (chain(2, emission="gaussian", method="viterbi", prior={}), NOT_OF_ONE_ROW),
    (chain(2, emission="poisson", method="em"), NOT_OF_CHAINS),
    (chain(2, emission="poisson", method="gibbs", **SHORT), NOT_OF_CHAINS),
    (chain(2, emission="categorical", method="em"), NOT_OF_CHAINS),
    (chain(2, emission="categorical", prior={}), NOT_OF_CHAINS),
    (chain(2, Capped, emission="bernoulli", prior={}), NOT_OF_CHAINS),
]

NOT_OF_SERIES = {
    **NOT_OF_CHAINS,
    "check_transformer_data_not_an_array": "a list of lists is a list of sequences",
    "check_transformer_general": "the same",
    "check_fit2d_1sample": "one step says nothing of how states move; the error says so",
}
SERIES = [
    (jn.LinearDynamicalSystem(1, **{**QUICK, **choices}), NOT_OF_SERIES)
    for choices in ({}, {"prior": {}}, {"prior": {}, "method": "gibbs", **SHORT})
]


def shown(value):
    """The name of a test: what was chosen, but not the reasons."""
    return "" if isinstance(value, dict) else " ".join(str(value).split())


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize(
    ("estimator", "does_not_apply"), MIXTURES + FACTORS + CHAINS + SERIES, ids=shown
)
def test_scikit_learn_s_own_checks_pass(estimator, does_not_apply):
    check_estimator(estimator, expected_failed_checks=does_not_apply, on_skip=None)


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_without_a_prior_a_check_passes_or_names_the_component_that_collapsed(covariance):
    """Two components on a handful of rows: the likelihood has no bound, which is an error here."""
    estimator = mixture(2, covariance=covariance, method="em")
    for found in check_estimator(estimator, on_skip=None, on_fail=None):
        error = found["exception"]
        while error is not None and not isinstance(error, CollapseError):
            error = error.__context__
        assert found["status"] in ("passed", "skipped") or error is not None, found


def test_what_is_said_not_to_apply_is_a_check():
    for estimator, does_not_apply in MIXTURES[:1] + CHAINS:
        names = {check.func.__name__ for _, check in estimator_checks_generator(estimator)}
        assert set(does_not_apply) <= names


def test_not_fitted_is_jensen_s_error_and_scikit_learn_s():
    for estimator in (jn.GaussianMixture(), jn.HiddenMarkovModel(), jn.LatentClass()):
        for error in (jn.NotFittedError, NotFittedError):
            with pytest.raises(error, match=f"this {type(estimator).__name__} is not fitted yet"):
                estimator.predict([[0.0]])
            with pytest.raises(NotFittedError):
                check_is_fitted(estimator)


def test_scikit_learn_is_imported_when_an_array_estimator_is_touched():
    code = """if True:
        import sys, jensen
        assert not any(name.startswith("sklearn") for name in sys.modules)
        jensen.GaussianMixture
        assert "sklearn" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


# Two clusters, and the same rows as five sequences of which three have four steps.
RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(0.0, 1.0, (15, 2)), RNG.normal(6.0, 1.0, (15, 2))])
LENGTHS = [4, 4, 10, 8, 4]
SEQUENCES = np.split(ROWS, np.cumsum(LENGTHS)[:-1])
FRAME = pd.DataFrame(ROWS, columns=["long", "wide"])
FITTED = [
    mixture(2).fit(ROWS),
    mixture(2, covariance="tied", prior={}).fit(ROWS),
    mixture(2, start={"means": [[0, 0], [6, 6]], "covariances": [np.eye(2)] * 2}).fit(ROWS),
    mixture(2, method="gibbs", **SHORT).fit(ROWS),
    chain(2, emission="gaussian", prior={}).fit(ROWS, lengths=LENGTHS),
    chain(2, emission="poisson", prior={}).fit(np.abs(ROWS).round(), lengths=LENGTHS),
    chain(2, emission="categorical", end=True).fit(np.abs(ROWS).round(), lengths=LENGTHS),
    chain(2, masks={"initial": [True, False]}, emission="gaussian").fit(ROWS),
]


def whole(estimator):
    """Rows that the estimator knows."""
    is_number = isinstance(estimator, jn.GaussianMixture) or estimator.emission == "gaussian"
    return ROWS if is_number else np.abs(ROWS).round()


@pytest.mark.parametrize("estimator", FITTED, ids=shown)
def test_a_clone_has_the_choices_and_nothing_else(estimator):
    twin = clone(estimator)
    assert list(twin.get_params()) == list(estimator.get_params())
    assert repr(clone(twin)) == repr(twin)
    with pytest.raises(NotFittedError):
        twin.predict(ROWS)
    twin.set_params(max_iter=7, random_state=3)
    assert (twin.max_iter, estimator.max_iter) == (7, 1000)


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("estimator", FITTED, ids=shown)
def test_copies_answer_alike(estimator, copy_of):
    rows = whole(estimator)
    again = copy_of(estimator)
    np.testing.assert_array_equal(again.predict_proba(rows), estimator.predict_proba(rows))
    assert again.score(rows) == estimator.score(rows)


def test_an_unknown_choice_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'covariance_type'"):
        jn.GaussianMixture().set_params(covariance_type="full")


def test_fit_returns_itself_and_leaves_choices_alone():
    prior = {"mean_strength": 2.0}
    estimator = mixture(2, prior=prior)
    before = dict(estimator.get_params())
    assert estimator.fit(ROWS) is estimator
    assert estimator.get_params() == before
    assert estimator.prior is prior
    assert prior == {"mean_strength": 2.0}


def test_the_same_seed_gives_the_same_result():
    for method, choices in (("em", {}), ("vbem", {}), ("gibbs", SHORT)):
        one, two = (mixture(3, method=method, **choices).fit(ROWS) for _ in range(2))
        np.testing.assert_array_equal(one.means_, two.means_)
        np.testing.assert_array_equal(one.fit(ROWS).means_, two.means_)


def test_numbers_of_any_type():
    whole_numbers = (10 * ROWS).round()
    expected = mixture(2).fit(whole_numbers).means_
    for rows in (
        whole_numbers.astype(np.float32),
        whole_numbers.astype(np.int16),
        whole_numbers.tolist(),
        np.asfortranarray(whole_numbers),
        whole_numbers.astype(object),
        pd.DataFrame(whole_numbers).astype("Int64"),
    ):
        np.testing.assert_allclose(mixture(2).fit(rows).means_, expected, rtol=1e-12)


def test_a_vector_is_no_table_of_rows():
    with pytest.raises(ValueError, match="Reshape your data"):
        mixture(1).fit(ROWS[:, 0])


@pytest.mark.parametrize("estimator", [mixture(1), chain(1, emission="gaussian")], ids=shown)
@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.float64(3.0), ValueError, "Expected 2D array, got scalar array"),
        (np.zeros((0, 2)), ValueError, r"0 sample\(s\)"),
        (np.zeros((5, 0)), ValueError, r"0 feature\(s\)"),
        (np.where(ROWS > 6.0, np.inf, ROWS), ValueError, "contains infinity"),
        (ROWS + 1j, ValueError, "Complex data not supported"),
        (sp.csr_array(ROWS), TypeError, "Sparse data was passed"),
        (sp.dok_array(ROWS), TypeError, "Sparse data was passed"),
        (np.full((3, 1), "a"), ValueError, "needs numbers: if that means missing, put NaN"),
        (
            ROWS[:1],
            ValueError,
            r"1 row \(n_samples=1\) cannot tell the spread of 1 (component|state)",
        ),
    ],
)
def test_wrong_rows_are_refused_in_the_usual_words(estimator, rows, error, message):
    with pytest.raises(error, match=message):
        clone(estimator).fit(rows)


def test_labels_are_refused_in_the_same_words():
    for rows, error, message in (
        (np.zeros((0, 2)), ValueError, r"0 sample\(s\)"),
        (np.zeros((5, 0)), ValueError, r"0 feature\(s\)"),
        (ROWS + 1j, ValueError, "Complex data not supported"),
        (sp.csr_array(ROWS), TypeError, "Sparse data was passed"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
    ):
        with pytest.raises(error, match=message):
            chain(2, emission="categorical").fit(rows)


def test_a_negative_count_is_named():
    with pytest.raises(
        jn.DataError, match="Negative values in data: row 2, column 1 is -1, but co"
    ):
        chain(1, emission="poisson").fit([[0.5], [-1.0]])
    with pytest.raises(jn.DataError, match=r"row 1, column 1 is 0\.5, but counts are whole, 0 "):
        chain(1, emission="poisson").fit([[0.5], [1.0]])


def test_weights_that_sum_to_zero_are_refused():
    with pytest.raises(jn.DataError, match="the weights sum to zero"):
        mixture(1).fit(ROWS, sample_weight=np.zeros(30))
    with pytest.raises(jn.DataError, match="the weights sum to zero"):
        chain(1, emission="gaussian").fit(SEQUENCES, sequence_weight=np.zeros(5))


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list")), jn.Table(FRAME)])
@pytest.mark.parametrize("estimator", [mixture(2), chain(2, emission="gaussian")], ids=shown)
def test_dataframes_have_names(estimator, frame):
    fitted = clone(estimator).fit(frame)
    assert list(fitted.feature_names_in_) == ["long", "wide"]
    assert fitted.n_features_in_ == 2
    np.testing.assert_array_equal(fitted.predict_proba(frame), fitted.predict_proba(FRAME))
    np.testing.assert_array_equal(fitted.means_, clone(estimator).fit(ROWS).means_)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(FRAME.rename(columns={"wide": "broad"}))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(FRAME[["wide", "long"]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        fitted.predict(ROWS)
    assert not hasattr(fitted.fit(ROWS), "feature_names_in_")
    with pytest.raises(ValueError, match=r"X has 1 features, but .* is expecting 2 features"):
        fitted.predict(ROWS[:, :1])


def test_columns_of_labels_have_names():
    frame = pd.DataFrame({"note": list("abba" * 6), "beat": list("xxy" * 8)})
    model = chain(2, emission="categorical", prior={}).fit(frame)
    expected = model.score(frame)
    assert list(model.feature_names_in_) == ["note", "beat"]
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["beat", "note"]])
    model.fit(frame.to_numpy())
    assert model.score(frame.to_numpy()) == expected
    with pytest.raises(ValueError, match="X has 1 features, but HiddenMarkovModel is expecting 2"):
        model.predict(np.array(list("abba")))


@pytest.mark.parametrize("emission", ["gaussian", "poisson", "bernoulli"])
def test_a_vector_of_numbers_is_one_sequence(emission):
    values = np.array([0.0, 1.0, 1.0, np.nan, 0.0, 1.0])
    expected = chain(2, emission=emission, prior={}).fit(values[:, None])
    flat = [None if np.isnan(x) else x for x in values]
    for vector in (values, flat, tuple(flat), pd.Series(values), pl.Series(values)):
        model = chain(2, emission=emission, prior={}).fit(vector)
        np.testing.assert_array_equal(model.trace_, expected.trace_)
        np.testing.assert_array_equal(model.smooth(vector), expected.smooth(values[:, None]))
    with pytest.raises(ValueError, match="X has 1 features, but HiddenMarkovModel is expecting 2"):
        chain(2, emission="gaussian", prior={}).fit(ROWS).predict(ROWS[:, 0])


def test_a_vector_of_labels_is_one_sequence():
    labels = np.array(list("aabbabbbaa"))
    model = chain(2, emission="categorical", prior={}).fit(labels)
    assert model.n_features_in_ == 1
    np.testing.assert_array_equal(model.smooth(labels), model.smooth(labels[:, None]))


def test_predictions_do_not_depend_on_other_rows():
    fitted = mixture(2).fit(ROWS)
    order = np.random.default_rng(1).permutation(30)
    np.testing.assert_allclose(
        fitted.predict_proba(ROWS[order]), fitted.predict_proba(ROWS)[order], rtol=1e-12
    )
    np.testing.assert_allclose(
        fitted.score_samples(ROWS[:1]), fitted.score_samples(ROWS)[:1], rtol=1e-12
    )


def test_predictions_do_not_depend_on_other_sequences():
    fitted = chain(2, emission="gaussian", prior={}).fit(SEQUENCES)
    alone = [fitted.predict_proba(sequence) for sequence in SEQUENCES]
    np.testing.assert_allclose(fitted.predict_proba(SEQUENCES), np.concatenate(alone), rtol=1e-12)
    np.testing.assert_allclose(
        fitted.predict_proba(SEQUENCES[::-1]), np.concatenate(alone[::-1]), rtol=1e-12
    )


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize(
    "estimator",
    [
        *(mixture(2, covariance=kind, prior={}, tol=1e-8) for kind in COVARIANCES),
        chain(2, emission="poisson", prior={}, tol=1e-8),
    ],
    ids=shown,
)
def test_a_row_of_weight_two_is_two_rows_in_any_order(estimator, k):
    """From either kind of start: the second is by random shares."""
    rng = np.random.default_rng(3)
    estimator = clone(estimator).set_params(n_init=k + 1)
    rows = rng.poisson(rng.choice([1.0, 9.0], (12, 1)), (12, 2)).astype(float)
    rows[0, 1] = np.nan
    weight = rng.integers(0, 4, 12)
    repeated = rng.permutation(np.repeat(rows, weight, axis=0))
    if isinstance(estimator, jn.GaussianMixture):
        one = clone(estimator).fit(rows, sample_weight=weight)
        two = clone(estimator).fit(repeated)
    else:
        one = clone(estimator).fit(list(rows[:, None]), sequence_weight=weight)
        two = clone(estimator).fit(list(repeated[:, None]))
    np.testing.assert_allclose(one.starts_, two.starts_, rtol=1e-9)
    np.testing.assert_allclose(one.predict_proba(rows), two.predict_proba(rows), atol=1e-6)


def test_weights_of_rows_count_in_the_score():
    fitted = mixture(2).fit(ROWS)
    weight = np.arange(30)
    expected = fitted.score(np.repeat(ROWS, weight, axis=0))
    assert fitted.score(ROWS, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_in_a_pipeline():
    pipe = make_pipeline(StandardScaler(), mixture(2, tol=1e-10)).fit(1000.0 * ROWS)
    alone = mixture(2, tol=1e-10).fit(ROWS)
    np.testing.assert_allclose(
        pipe.predict_proba(1000.0 * ROWS), alone.predict_proba(ROWS), atol=1e-6
    )
    scale = np.log(ROWS.std(0)).sum()
    np.testing.assert_allclose(
        pipe.score_samples(1000.0 * ROWS), alone.score_samples(ROWS) + scale, atol=1e-5
    )
    assert pipe.score(1000.0 * ROWS) == pytest.approx(pipe.score_samples(1000.0 * ROWS).mean())
    assert set(pipe.predict(1000.0 * ROWS)) == {0, 1}


def test_grid_search_finds_the_number_of_components():
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(
        mixture(1, prior={}), {"n_components": [1, 2], "covariance": ["full", "tied"]}, cv=folds
    ).fit(ROWS)
    assert search.best_params_["n_components"] == 2
    expected = cross_val_score(search.best_estimator_, ROWS, cv=folds).mean()
    assert search.best_score_ == pytest.approx(expected, rel=1e-12)


def test_grid_search_over_sequences():
    """A list of sequences is split between sequences."""
    long = [np.tile(sequence, (3, 1)) for sequence in SEQUENCES]
    search = GridSearchCV(
        chain(1, emission="gaussian", prior={}), {"n_states": [1, 2]}, cv=KFold(3)
    ).fit(long)
    assert search.best_params_ == {"n_states": 2}
    folds = [
        clone(search.best_estimator_).fit([long[i] for i in train]).score([long[i] for i in test])
        for train, test in KFold(3).split(long)
    ]
    assert search.best_score_ == pytest.approx(np.mean(folds), rel=1e-12)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_lengths_travel_as_metadata():
    alone = chain(2, emission="gaussian", prior={}).fit(ROWS, lengths=LENGTHS)
    model = clone(alone).set_fit_request(lengths=True).set_predict_request(lengths=True)
    pipe = make_pipeline(FunctionTransformer(), model).fit(ROWS, lengths=LENGTHS)
    np.testing.assert_array_equal(pipe[-1].transition_, alone.transition_)
    found = pipe.predict(ROWS, lengths=LENGTHS)
    np.testing.assert_array_equal(found, alone.predict(ROWS, lengths=LENGTHS))


@pytest.mark.usefixtures("routing")
def test_lengths_reach_the_score():
    """In scikit-learn 1.9 the `score` of a Pipeline needs a last step that takes sample_weight."""
    model = chain(2, emission="gaussian", prior={}).set_fit_request(lengths=True)
    model.set_score_request(lengths=True, sample_weight=True)
    model.fit(ROWS, lengths=LENGTHS)
    found = check_scoring(model)(model, ROWS, None, lengths=LENGTHS)
    assert found == model.score(ROWS, lengths=LENGTHS)
    assert found != model.score(ROWS)
    pipe = make_pipeline(FunctionTransformer(), model).fit(ROWS, lengths=LENGTHS)
    assert pipe.score(ROWS, lengths=LENGTHS) == found
    weight = np.arange(5.0)
    weighted = pipe.score(ROWS, lengths=LENGTHS, sample_weight=np.repeat(weight, LENGTHS))
    assert weighted == model.score(ROWS, lengths=LENGTHS, sequence_weight=weight)


def test_weights_of_sequences_count_in_the_score():
    model = chain(2, emission="gaussian", prior={}).fit(SEQUENCES)
    weight = [0, 2, 1, 0, 3]
    many = [SEQUENCES[k] for k in np.repeat(np.arange(5), weight)]
    for ask in (model.score, model.bic, model.aic):
        assert ask(SEQUENCES, sequence_weight=weight) == pytest.approx(ask(many), rel=1e-12)
    with pytest.raises(jn.DataError, match="row 6 has another weight than the row before: a seq"):
        model.score(ROWS, lengths=LENGTHS, sample_weight=[1.0] * 5 + [2.0] * 25)
    with pytest.raises(jn.DataError, match="give sequence_weight, or sample_weight for every row"):
        model.score(ROWS, sequence_weight=[1.0], sample_weight=np.ones(30))
    with pytest.raises(jn.DataError, match="the mean over no steps is undefined"):
        model.score(SEQUENCES, sequence_weight=np.zeros(5))


def test_a_clone_keeps_the_fitted_model_that_it_starts_from():
    frame = {"a": list("xyxyxxyy"), "b": np.arange(8.0)}
    for estimator, data in (
        (mixture(2), ROWS),
        (chain(2, emission="gaussian"), ROWS),
        (jn.LatentClass(2, prior={}, **QUICK), frame),
    ):
        start = clone(estimator).fit(data)
        estimator.set_params(start=start)
        twin = clone(clone(estimator))
        assert twin.start is not start
        assert twin.fit(data).free_energy_ == estimator.fit(data).free_energy_
        assert not hasattr(clone(twin), "fitted_")
    model = mixture(2, start=mixture(2).fit(ROWS))
    search = GridSearchCV(model, {"tol": [1e-3, 1e-4]}, cv=KFold(3))
    assert np.isfinite(search.fit(RNG.permutation(ROWS)).best_score_)


@pytest.mark.usefixtures("routing")
def test_lengths_cannot_be_split_by_rows():
    model = chain(2, emission="gaussian").set_fit_request(lengths=True)
    model.set_score_request(lengths=True)
    with pytest.raises(jn.DataError, match="the lengths sum to 30, but there are 15 rows: give th"):
        cross_val_score(model, ROWS, cv=2, params={"lengths": LENGTHS}, error_score="raise")


@pytest.mark.usefixtures("routing")
def test_weights_travel_as_metadata():
    weight = np.repeat([1.0, 3.0], 15)
    model = mixture(1).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    pipe = make_pipeline(FunctionTransformer(), model).fit(ROWS, sample_weight=weight)
    expected = np.average(ROWS, axis=0, weights=weight)
    np.testing.assert_allclose(pipe[-1].means_[0], expected, rtol=1e-12)
    scores = cross_val_score(model, ROWS, cv=KFold(2), params={"sample_weight": weight})
    assert np.isfinite(scores).all()


def test_latent_classes_in_scikit_learn_s_tools():
    frame = pd.DataFrame({"fur": ["yes", "no"] * 12, "legs": [4.0, 2.1, 4.2, 1.9, 4.1, 2.0] * 4})
    classes = jn.LatentClass(2, prior={}, **QUICK)
    assert clone(classes).get_params() == classes.get_params()
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(classes, {"n_classes": [1, 2]}, cv=folds).fit(frame)
    assert search.best_params_ == {"n_classes": 2}
    pipe = make_pipeline(FunctionTransformer(), classes).fit(frame)
    assert set(pipe.predict(frame)[::2]) != set(pipe.predict(frame)[1::2])
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(frame), search.predict_proba(frame))
