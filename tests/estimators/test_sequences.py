"""Sequences as people pass them, and what is refused in words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import jensen as jn

PARTS = [["a", "b", None], ["b"], ["a", "a", "c", "b"]]
FLAT = [x for part in PARTS for x in part]
LENGTHS = [3, 1, 4]


def model(emission="categorical", **choices):
    return jn.HiddenMarkovModel(2, emission=emission, prior={}, random_state=0, **choices)


def same(one, other):
    assert one.trace_.tobytes() == other.trace_.tobytes()
    assert one.fitted_.t.transition.tobytes() == other.fitted_.t.transition.tobytes()


@pytest.mark.parametrize(
    ("X", "lengths"),
    [
        (FLAT, LENGTHS),
        (np.array(FLAT, dtype=object), LENGTHS),
        (np.array(FLAT, dtype=object)[:, None], np.array(LENGTHS)),
        (tuple(tuple(part) for part in PARTS), None),
        ([np.array(part, dtype=object) for part in PARTS], None),
        ([np.array(part, dtype=object)[:, None] for part in PARTS], None),
        (pd.DataFrame({"x": FLAT}), LENGTHS),
        (jn.Table({"x": FLAT}), LENGTHS),
    ],
    ids=["list", "1-d", "2-d", "tuples", "arrays", "matrices", "frame", "table"],
)
def test_labels_in_any_container_are_the_same(X, lengths):
    expected = model().fit(PARTS)
    found = model().fit(X, lengths=lengths)
    same(found, expected)
    np.testing.assert_array_equal(found.smooth(X, lengths), expected.smooth(PARTS))
    np.testing.assert_array_equal(found.log_likelihood(X, lengths), expected.log_likelihood(PARTS))


def test_labels_match_by_their_text():
    whole, missing = [[1, 2, 2, 3], [3, 1]], [[1.0, 2.0, 2.0, 3.0], [3, None]]
    expected = model().fit(whole)
    assert expected.variables_[0].states == ("1", "2", "3")
    for other in ([["1", "2", "2", "3"], ["3", "1"]], [np.array([1, 2, 2, 3.0]), np.array([3, 1])]):
        same(model().fit(other), expected)
        np.testing.assert_array_equal(expected.smooth(other), expected.smooth(whole))
    assert model().fit(missing).variables_[0].states == ("1", "2", "3")
    nan = [np.array([1.0, 2, 2, 3]), np.array([3, np.nan])]
    same(model().fit(nan), model().fit(missing))


@pytest.mark.parametrize("emission", ["gaussian", "poisson", "bernoulli"])
def test_numbers_in_any_container_are_the_same(emission):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (8, 2)).astype(float)
    X[2, 1] = X[4] = np.nan
    expected = model(emission).fit(X, lengths=[5, 3])
    parts = [X[:5], X[5:]]
    lists = [part.tolist() for part in parts]
    for other in (parts, tuple(parts), lists):
        same(model(emission).fit(other), expected)
        np.testing.assert_array_equal(expected.smooth(other), expected.smooth(X, [5, 3]))
    for other in (X, pd.DataFrame(X), X.tolist()):
        same(model(emission).fit(other, lengths=(5, 3)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("emission", ["gaussian", "poisson", "categorical"])
def test_one_column_may_be_plain_sequences(emission):
    """A list is one of sequences, whatever the states make, and whether these are equally long."""
    rng = np.random.default_rng(1)
    x = rng.poisson(3.0, 7)
    for cut in ([4, 3], [2, 2, 3]):
        parts = np.split(x, np.cumsum(cut)[:-1])
        expected = model(emission).fit(x[:, None], lengths=cut)
        for kind in (
            np.array,
            list,
            tuple,
            pd.Series,
            pl.Series,
            lambda p: pd.Series(p).to_frame(),
        ):
            same(model(emission).fit([kind(part.tolist()) for part in parts]), expected)
    pairs = [[1, 2], [3, 1], [2, 2]]
    assert model(emission).fit(pairs).n_features_in_ == 1
    assert model(emission).fit(np.array(pairs)).n_features_in_ == 2
    assert model(emission).fit(pairs, lengths=[2, 1]).n_features_in_ == 2


@pytest.mark.parametrize("emission", ["gaussian", "categorical"])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, jn.Table])
def test_sequences_may_be_dataframes(emission, kind):
    rng = np.random.default_rng(2)
    columns = {"b": rng.integers(0, 9, 7) + 0.5, "a": rng.integers(0, 9, 7) + 0.5}
    first, second = (
        {name: x[rows] for name, x in columns.items()} for rows in (slice(4), slice(4, 7))
    )
    found = model(emission).fit([kind(first), kind(second)])
    same(found, model(emission).fit(pd.DataFrame(columns), lengths=[4, 3]))
    assert list(found.feature_names_in_) == ["b", "a"]
    with pytest.raises(
        jn.DataError, match=r"^sequence 2 has the columns \['b', 'c'\], but the first"
    ):
        found.fit([kind(first), kind({"b": [0.5], "c": [0.5]})])


def test_a_list_of_sequences_tells_the_lengths():
    words = "^X is a list of sequences, which tells their lengths: leave out lengths$"
    for X in (
        [np.zeros((3, 1)), np.ones((2, 1))],
        [np.zeros(3), np.ones(2)],
        [[1.0, 2.0, 3.0], [4.0, 5.0]],
        [pd.DataFrame({"a": [1.0, 2.0, 4.0]}), pd.DataFrame({"a": [1.0, 2.0]})],
    ):
        with pytest.raises(jn.DataError, match=words):
            model("gaussian").fit(X, lengths=[3, 2])
    with pytest.raises(jn.DataError, match=words):
        model().fit([list("ab"), list("ba")], lengths=[2, 2])


def test_what_is_no_sequence_is_named():
    with pytest.raises(jn.DataError, match=r"^sequence 2 is 3: give a list or an array of steps$"):
        model().fit([[1, 2], 3])


def test_lengths_in_the_place_of_y_are_not_ignored():
    fitted = model().fit(FLAT, lengths=LENGTHS)
    for ask in (model().fit, fitted.score):
        with pytest.raises(jn.DataError, match=r"the second argument is y, which is not used"):
            ask(FLAT, LENGTHS)
    same(model().fit(FLAT, FLAT, lengths=LENGTHS), fitted)  # as pipelines do


def test_without_lengths_all_rows_are_one_sequence():
    found = model().fit(PARTS)
    assert found.log_likelihood(FLAT).shape == (1,)
    same(model().fit(FLAT), model().fit([FLAT]))
    numbers = np.arange(6.0)[:, None]
    same(model("gaussian").fit(numbers), model("gaussian").fit(numbers, lengths=[6]))


def test_many_columns_keep_their_order():
    """x10 stands after x9, not after x1."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (40, 12)) * (np.arange(12) + 1)
    found = model().fit(X)
    assert [v.states for v in found.variables_] == [("0", str(i + 1)) for i in range(12)]
    assert list(found.emission_) == [f"x{i}" for i in range(12)]


SYMBOLS = ["c", "a", "b", "d"]


def test_symbols_give_the_order_and_labels_that_do_not_occur():
    found = model(symbols=SYMBOLS).fit(PARTS)
    assert found.variables_[0].states == tuple(SYMBOLS)
    assert found.emission_.shape == (2, 4)
    assert np.all(found.emission_ > 0.0)
    assert np.isfinite(found.log_likelihood([["d", "a"]]))
    em = jn.HiddenMarkovModel(2, symbols=SYMBOLS, random_state=0).fit([["a", "b", "c"], ["b"]])
    assert np.all(em.emission_[:, 3] == 0.0)
    assert em.log_likelihood([["d", "a"], ["a"]])[0] == -np.inf


BAD = {
    "empty sequence": ([["a"], []], {}, r"^sequence 2 has no steps: leave it out$"),
    "first empty": ([[], ["a"]], {}, r"^sequence 1 has no steps: leave it out$"),
    "length 0": (FLAT, {"lengths": [0, 8]}, r"^sequence 1 has no steps"),
    "negative": (FLAT, {"lengths": [9, -1]}, r"^sequence 2 has no steps"),
    "too long": (FLAT, {"lengths": [9]}, r"^the lengths sum to 9, but there are 8 rows"),
    "fractions": (FLAT, {"lengths": [4.0, 4.0]}, r"^lengths must be whole numbers"),
    "a table of lengths": (FLAT, {"lengths": [[8]]}, r"^lengths must be whole numbers"),
    "no rows": (np.zeros((0, 1)), {}, r"0 sample"),
    "no values": ([None, None], {}, r"^the column 'x0' has no values: leave it out$"),
    "widths": (
        [np.array([["a", "b"]]), np.array([["a"]])],
        {},
        r"^the sequences differ in their number of columns$",
    ),
    "three axes": (np.array([[["a"]]]), {}, r"dim 3"),
    "a weight below 0": (PARTS, {"sequence_weight": [1, -1, 1]}, r"sequence 2 is -1.0"),
    "no weight": (PARTS, {"sequence_weight": [0, 0, 0]}, r"^there is nothing to learn from"),
    "too many weights": (PARTS, {"sequence_weight": [1] * 8}, r"need 3 weights"),
}


@pytest.mark.parametrize("case", BAD)
def test_sequences_that_cannot_be(case):
    X, how, words = BAD[case]
    with pytest.raises(ValueError, match=words):
        model().fit(X, **how)


@pytest.mark.parametrize(
    ("emission", "X", "words"),
    [
        ("poisson", [[0.0], [-1.0]], r"row 2, column 1 is -1, but counts are whole, 0 or more$"),
        ("poisson", [[0.5, 1.0]], r"^row 1, column 1 is 0.5, but counts are whole, 0 or more$"),
        ("bernoulli", np.array([[1.0, 2.0]]), r"^row 1, column 2 is 2, but Bernoulli values are "),
        ("gaussian", [[], [[1.0]]], r"^sequence 1 has no steps: leave it out$"),
        ("gaussian", [np.zeros((0, 1)), np.ones((2, 1))], r"^sequence 1 has no steps"),
        ("gaussian", [np.ones((2, 1)), np.ones((2, 2))], r"differ in their number of columns$"),
        ("gaussian", [[np.nan], [np.nan]], r"^the column 'x0' has no values"),
    ],
)
def test_numbers_that_cannot_be(emission, X, words):
    with pytest.raises(jn.DataError, match=words):
        model(emission).fit(X)


def test_symbols_must_hold_all_labels():
    with pytest.raises(jn.DataError, match=r"^row 7 has the label 'c', which is not among "):
        model(symbols=["a", "b"]).fit(PARTS)
    with pytest.raises(jn.DataError, match="the states of 'symbols' must be a list in order"):
        model(symbols="abc").fit(PARTS)


def test_other_widths_are_refused_when_asked():
    found = model().fit(PARTS)
    with pytest.raises(ValueError, match="X has 2 features, but HiddenMarkovModel is expecting 1"):
        found.decode(np.array([["a", "b"]]))
    numbers = model("gaussian").fit(np.zeros((4, 2)) + np.arange(4)[:, None])
    with pytest.raises(ValueError, match="X has 1 features, but HiddenMarkovModel is expecting 2"):
        numbers.decode(np.zeros((3, 1)))


# --- texts, and what cannot be read ---


def test_a_text_is_one_label_and_not_a_sequence():
    found = jn.merge_states(["ab", "abab", "ababab", "abababab"]).model
    expected = found.log_likelihood([list("abab"), list("ab")])
    assert np.isfinite(expected).all()
    for texts in (["abab", "ab"], ("abab", "ab"), np.array(["abab", "ab"]), ["a", "abab"]):
        for ask in (found.log_likelihood, found.score, found.decode):
            with pytest.raises(jn.DataError, match=r"the text 'abab' is one label, .*\[list\(text"):
                ask(texts)
    with pytest.raises(jn.DataError, match=r"^the text 'abab' is no sequence: give a list of lab"):
        found.log_likelihood("abab")


def test_labels_that_are_unknown_and_no_texts_of_labels_are_impossible():
    found = jn.merge_states(["ab", "abab", "ababab", "abababab"]).model
    for labels in (["a", "c"], ["a", "new"], [["a", "ab"]]):  # a list in a list is one
        with pytest.warns(jn.DataWarning, match=r"in 1 row \(2\), the first one is '(c|new|ab)'"):
            assert found.log_likelihood(labels).tolist() == [-np.inf]
    assert (
        found.decode(["a", "new"], unknown="missing").tolist() == found.decode(["a", "b"]).tolist()
    )
    words = jn.HiddenMarkovModel(1).fit(["a", "ab", "abab"])  # which are labels here
    assert np.isfinite(words.log_likelihood(["ab", "abab", "a"])).all()


def test_rows_of_different_lengths_are_named():
    for emission in ("categorical", "gaussian"):
        with pytest.raises(
            jn.DataError, match=r"^the rows of sequence 1 differ in length: give eac"
        ):
            model(emission).fit([[[1, 2], [3]], [[1, 2]]])


def test_a_generator_can_be_read_once_only():
    for emission in ("categorical", "gaussian"):
        with pytest.raises(jn.DataError, match=r"^X can be read once only: give a list of sequenc"):
            model(emission).fit(x for x in [[1, 2], [2, 1]])


# --- labels come back as they were given ---


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        ([1, 2, 6, 2], np.int64),
        ([[1, 2, None], [6, 2]], np.int64),
        (np.array([1.0, 2.0, np.nan, 6.0]), np.int64),
        (pd.DataFrame({"roll": pd.array([1, 2, None, 6], dtype="Int64")}), np.int64),
        (["1", "2", "6"], object),
        (["1", 2, "6"], object),
        (np.array(["1", "2", "6"]), object),
        (pd.DataFrame({"roll": ["1", "2", "6"]}), object),
        ([True, False, True], object),
        ([10**30, 1, 2], object),
    ],
)
def test_whole_numbers_are_drawn_as_numbers(X, kind):
    drawn, _ = jn.HiddenMarkovModel(1, prior={}).fit(X).sample(9, random_state=0)
    assert drawn.dtype == kind
    if kind == np.int64:
        assert set(drawn.ravel().tolist()) <= {1, 2, 6}


def test_each_column_has_its_kind_and_symbols_decide():
    frame = pd.DataFrame({"roll": [1, 2, 6, 2], "face": list("xyyx")})
    drawn, _ = jn.HiddenMarkovModel(1, prior={}).fit(frame).sample(5, random_state=0)
    assert {type(x) for x in drawn[:, 0]} == {int}
    assert {type(x) for x in drawn[:, 1]} == {str}
    for symbols, kind in (([1, 2, 3], np.int64), (["1", "2", "3"], object)):
        for X in ([1, 2, 2], ["1", "2", "2"]):
            fitted = jn.HiddenMarkovModel(1, prior={}, symbols=symbols).fit(X)
            assert fitted.sample(3, random_state=0)[0].dtype == kind
    numbers, _ = jn.merge_states([[1, 2], [1, 2, 1, 2]]).model.sample(random_state=0)
    assert numbers.dtype == np.int64
    again = jn.HiddenMarkovModel(1, prior={}).fit([1, 2, 6]).set_params(emission="poisson")
    assert again.fit([1, 2, 6]).sample(2, random_state=0)[0].dtype == np.float64
