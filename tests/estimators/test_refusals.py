"""Rows and sequences for which a model of hidden states has no answer."""

import numpy as np
import pytest

import jensen as jn

SYMBOLS = ["x", "y"]
STEADY = jn.HiddenMarkovModel.from_parameters(
    initial=[1, 0], transition=[[0, 1], [0, 1]], emission=[[1, 0], [0, 1]], symbols=SYMBOLS
)
GOOD, BAD, STRANGE = ["x", "y"], ["y", "y", "y"], ["x", "z"]


@pytest.fixture(scope="module")
def chain():
    choices = {"prior": {}, "random_state": 0, "tol": 1e-4}
    return jn.HiddenMarkovModel(2, **choices).fit([list("aabbab"), list("bb")])


@pytest.fixture(scope="module")
def classes():
    table = jn.Table({"fur": ["yes", "no"] * 6, "legs": [4.1, 2.2, 3.9] * 4})
    return jn.LatentClass(2, prior={}, random_state=0, tol=1e-4).fit(table)


ROWS = {"fur": ["no", "perhaps", "yes", "never"], "legs": [2.0, 4.0, 4.0, 2.0]}
AS_MISSING = {"fur": ["no", None, "yes", None], "legs": [2.0, 4.0, 4.0, 2.0]}


NO_PROBABILITY = (
    r"^labels that this model does not know stand in 2 rows \(2, 4\), the first one is 'perhaps' "
    r"in column 'fur': the log-likelihood there is -inf. Correct them, make them missing, or learn "
    r"with them among the states$"
)


def test_rows_with_unknown_labels_have_no_probability(classes):
    with pytest.warns(jn.DataWarning, match=NO_PROBABILITY) as met:
        found = classes.log_likelihood(ROWS)
    assert len(met) == 1
    np.testing.assert_array_equal(found == -np.inf, [False, True, False, True])
    known = classes.log_likelihood(AS_MISSING)
    np.testing.assert_array_equal(found[::2], known[::2])
    with pytest.warns(jn.DataWarning, match=NO_PROBABILITY):
        np.testing.assert_array_equal(classes.score_samples(ROWS), found)
    with pytest.warns(jn.DataWarning, match=NO_PROBABILITY) as met:
        assert classes.score(ROWS) == -np.inf
    assert len(met) == 1


def test_unknown_labels_in_rows_are_named_or_taken_as_missing(classes):
    words = (
        r"^labels that this model does not know stand in 2 rows \(2, 4\), the first one is "
        r"'perhaps' in column 'fur': correct them, or pass unknown='missing'$"
    )
    for ask in (classes.predict, classes.predict_proba):
        with pytest.raises(jn.DataError, match=words):
            ask(ROWS)
        np.testing.assert_array_equal(ask(ROWS, unknown="missing"), ask(AS_MISSING))
    with pytest.raises(jn.JensenError, match=r"^unknown must be 'raise' or 'missing', not 'nan'$"):
        classes.predict(AS_MISSING, unknown="nan")


def test_sequences_with_unknown_labels_have_no_probability(chain):
    sequences = [list("ab"), list("azb"), list("b")]
    with pytest.warns(jn.DataWarning, match=r"in 1 row \(4\), the first one is 'z' in column"):
        found = chain.log_likelihood(sequences)
    np.testing.assert_array_equal(found == -np.inf, [False, True, False])
    np.testing.assert_array_equal(found[::2], chain.log_likelihood(sequences[::2]))
    with pytest.warns(jn.DataWarning, match="the log-likelihood there is -inf"):
        assert chain.score(sequences) == -np.inf
    with pytest.warns(jn.DataWarning, match="the log-likelihood there is -inf"):
        assert chain.bic(sequences) == np.inf


def test_unknown_labels_in_sequences_are_named_or_taken_as_missing(chain):
    sequences, as_missing = [list("ab"), list("azb")], [["a", "b"], ["a", None, "b"]]
    words = r"in 1 row \(4\), the first one is 'z' in column 'x0': correct them, or pass unknown="
    asked = (chain.predict, chain.predict_proba, chain.decode)
    for ask in (*asked, chain.smooth, chain.filter, chain.forecast, chain.sample_states):
        with pytest.raises(jn.DataError, match=words):
            ask(sequences)
    for ask in asked:
        np.testing.assert_array_equal(ask(sequences, unknown="missing"), ask(as_missing))


def test_numbers_that_are_no_labels_are_named():
    model = jn.HiddenMarkovModel(1).fit([[1, 2, 2]])
    with pytest.raises(jn.DataError, match="the first one is '3' in column 'x0'"):
        model.predict([[1, 3.0]])
    classes = jn.LatentClass(1).fit({"a": ["1", "2", "2"]})
    many = {"a": np.arange(1.0, 30.0)}  # read as counts
    with pytest.raises(jn.DataError, match=r"in 27 rows .* is '3' in column 'a'"):
        classes.predict(many)


def test_impossible_rows_raise_or_are_not_a_number():
    table = jn.Table({"a": ["x", "x"], "b": ["u", "v"]}, states={"a": ["x", "y"]})
    classes = jn.LatentClass(1).fit(table)
    rows = {"a": ["y", "x", "y"], "b": ["u", "u", "v"]}
    words = (
        r"^2 rows cannot occur \(1, 3\), having probability 0 under this model: correct the data, "
        r"learn with a prior, which leaves nothing impossible, or pass impossible='nan'$"
    )
    for ask in (classes.predict, classes.predict_proba):
        with pytest.raises(jn.ImpossibleError, match=words):
            ask(rows)
        with pytest.raises(jn.JensenError, match=r"^impossible must be 'raise' or 'nan', not 0$"):
            ask(rows, impossible=0)
    np.testing.assert_array_equal(
        classes.predict_proba(rows, impossible="nan"), [[np.nan], [1.0], [np.nan]]
    )
    np.testing.assert_array_equal(classes.predict(rows, impossible="nan"), [-1, 0, -1])


def test_impossible_sequences_raise_or_are_not_a_number():
    sequences = [BAD, GOOD, BAD]
    for ask in (STEADY.predict, STEADY.predict_proba, STEADY.decode):
        with pytest.raises(jn.ImpossibleError, match=r"^2 sequences cannot occur \(1, 3\), having"):
            ask(sequences)
        with pytest.raises(
            jn.JensenError, match=r"^impossible must be 'raise' or 'nan', not 'no'$"
        ):
            ask([GOOD], impossible="no")
    lost = np.repeat([True, False, True], [3, 2, 3])
    found = STEADY.predict_proba(sequences, impossible="nan")
    np.testing.assert_array_equal(np.isnan(found), np.repeat(lost[:, None], 2, axis=1))
    np.testing.assert_array_equal(found[~lost], STEADY.predict_proba([GOOD]))
    for ask in (STEADY.predict, STEADY.decode):
        np.testing.assert_array_equal(
            ask(sequences, impossible="nan"), [-1, -1, -1, 0, 1, -1, -1, -1]
        )
        np.testing.assert_array_equal(ask([BAD], impossible="nan"), [-1, -1, -1])
    assert STEADY.score(sequences) == -np.inf


def test_an_unknown_label_may_be_missing_and_the_rest_impossible():
    found = STEADY.predict([STRANGE, ["y", "z"]], unknown="missing", impossible="nan")
    np.testing.assert_array_equal(found, [0, 1, -1, -1])


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_after_gibbs_impossible_is_impossible_in_every_sample():
    masks = {"initial": [1, 0], "transition": [[0, 1], [0, 1]], "emission": [[1, 0], [0, 1]]}
    short = {"method": "gibbs", "n_samples": 4, "burn_in": 1, "n_chains": 1, "random_state": 0}
    model = jn.HiddenMarkovModel(2, masks=masks, **short).fit([["x", "y", "y"], GOOD])
    with pytest.raises(jn.ImpossibleError, match=r"^1 sequence cannot occur \(1\), having"):
        model.predict([BAD, GOOD])
    np.testing.assert_array_equal(model.predict([BAD, GOOD], impossible="nan"), [-1, -1, -1, 0, 1])


def test_rows_that_no_component_comes_near_are_impossible():
    mixture = jn.GaussianMixture(1).fit([[0.0], [1e-60]])
    with pytest.raises(jn.ImpossibleError, match=r"^1 row cannot occur \(2\), having"):
        mixture.predict_proba([[0.0], [1e99]])
