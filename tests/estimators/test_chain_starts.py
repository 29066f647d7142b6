"""What a start of a hidden Markov model says of columns by name, and of what masks leave out."""

import numpy as np
import pandas as pd
import pytest

import jensen as jn

FRAME = pd.DataFrame({"note": list("abba" * 6), "beat": list("xxy" * 8)})
NOTE, BEAT = [[0.5, 0.5], [0.1, 0.9]], [[0.3, 0.7], [0.0, 1.0]]
BY_NAME = {"note": NOTE, "beat": BEAT}
BY_PLACE = {"x0": NOTE, "x1": BEAT}
LABELS = [0, 1, 2, 1, 0, 0, 2, 1, 1, 0]


def chain(**choices):
    return jn.HiddenMarkovModel(2, **{"random_state": 0, **choices})


# --- columns by name ---


@pytest.mark.filterwarnings("ignore:the chains disagree")  # so few samples do
@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
def test_tables_of_several_columns_go_by_their_names(method):
    few = {"n_samples": 5, "burn_in": 2, "n_chains": 1} if method == "gibbs" else {}
    model = chain(method=method, prior={}, **few)
    named = model.fit(FRAME).emission_
    assert list(named) == ["note", "beat"]
    plain = model.fit(FRAME.to_numpy()).emission_
    assert list(plain) == ["x0", "x1"]
    for one, two in zip(named.values(), plain.values(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_start_names_columns_or_their_places():
    expected = chain(start={"emission": BY_NAME}).fit(FRAME)
    assert expected.emission_["beat"][1, 0] == 0.0
    for start in ({"emission": BY_PLACE}, BY_NAME, BY_PLACE):
        np.testing.assert_array_equal(chain(start=start).fit(FRAME).trace_, expected.trace_)
    from_array = chain(start={"emission": BY_PLACE}).fit(FRAME.to_numpy())
    again = chain(start=from_array).fit(FRAME)
    np.testing.assert_array_equal(again.trace_, chain(start=expected).fit(FRAME).trace_)


def test_columns_may_be_named_as_parameters_are():
    names = {"note": "initial", "beat": "x0"}
    start = {"emission": {names[name]: table for name, table in BY_NAME.items()}}
    model = chain(start=start).fit(FRAME.rename(columns=names))
    expected = chain(start={"emission": BY_NAME}).fit(FRAME)
    np.testing.assert_array_equal(model.trace_, expected.trace_)
    assert list(model.emission_) == ["initial", "x0"]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"emission": {"note": NOTE, "beet": BEAT}}, "has no part 'beet': give note, beat"),
        ({"emission": {"note": NOTE}}, "start= lacks the parameters of 'beat'"),
        ({"emission": NOTE}, "start= lacks the parameters of 'note'"),
        ({"note": NOTE, "beet": BEAT}, "start= has no part 'beet'"),
    ],
)
def test_a_start_lacks_or_misspells_a_column(start, message):
    with pytest.raises(jn.JensenError, match=message):
        chain(start=start).fit(FRAME)


# --- what masks leave out ---


START = {
    "initial": [0.5, 0.5],
    "transition": [[0.6, 0.2], [0.3, 0.5]],
    "end": [0.2, 0.2],
    "emission": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
}


@pytest.mark.parametrize("fixed", [(), ("initial", "transition", "emission")])
@pytest.mark.parametrize(
    ("name", "mask", "message"),
    [
        ("initial", [1, 0], r"start['initial'] gives 0.5 to the cell [1], which masks['initial']"),
        ("transition", [[1, 1], [0, 1]], r"start['transition'] gives 0.3 to the cell [1, 0], whi"),
        ("end", [0, 1], r"start['end'] gives 0.2 to the cell [0], which masks['end'] leaves out"),
        ("emission", [[1, 1, 1], [1, 1, 0]], r"start['emission'] gives 0.5 to the cell [1, 2], "),
    ],
)
def test_a_start_with_something_where_masks_allow_nothing_is_refused(name, mask, message, fixed):
    model = chain(start=START, end=True, masks={name: mask}, fixed=fixed)
    with pytest.raises(jn.JensenError) as error:
        model.fit(LABELS)
    assert str(error.value).startswith(message)
    assert str(error.value).endswith("give it 0, or allow it")


def test_so_are_switches():
    masks = {"emission": [[True, False], [True, True]]}
    for yes, cell in (([[0.3], [0.5]], r"0\.3 to the cell \[0, 1\]"), ([[0.0], [0.5]], None)):
        start = {"emission": yes}
        model = chain(emission="bernoulli", start=start, masks=masks)
        if cell is None:
            assert model.fit([[0], [1], [1]]).emission_[0, 0] == 0.0
            continue
        with pytest.raises(jn.JensenError, match=rf"^start\['emission'\] gives {cell}, which"):
            model.fit([[0], [1], [1]])


def test_zeros_agree_with_masks():
    start = {**START, "transition": [[0.6, 0.2], [0.0, 0.8]]}
    masks = {"transition": [[True, True], [False, True]]}
    one, two = (
        chain(start=start, end=True, masks=given).fit([LABELS, LABELS[:4]])
        for given in (masks, None)
    )
    np.testing.assert_array_equal(one.trace_, two.trace_)


# --- stopping is a part of the moves ---


def test_a_prior_of_moves_has_a_column_for_the_end():
    """One state: Dirichlet(α) over going on and stopping, by default α = 1 / (K + 1)."""
    model = jn.HiddenMarkovModel(1, end=True, prior={}).fit([[0, 1, 0], [1]])
    assert model.end_[0] == pytest.approx((2 + 0.5) / (4 + 1.0), rel=1e-12)
    prior = {"transition": [[3.0, 1.0]]}
    model = jn.HiddenMarkovModel(1, end=True, prior=prior).fit([[0, 1, 0], [1]])
    assert model.end_[0] == pytest.approx((2 + 1.0) / (4 + 4.0), rel=1e-12)
    with pytest.raises(jn.JensenError, match=r"the shape \(2, 2\), which does not fit \(2, 3\)"):
        chain(end=True, prior={"transition": np.ones((2, 2))}).fit([[0, 1, 0], [1]])


def test_moves_that_are_held_hold_the_end():
    model = chain(start=START, end=True, fixed=["transition"]).fit([LABELS, LABELS[:4]])
    np.testing.assert_allclose(model.end_, START["end"], rtol=1e-12)
