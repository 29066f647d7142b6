"""Hidden Markov models with parameters that are given."""

import numpy as np
import pytest

import jensen as jn

MOVES = {"initial": [0.5, 0.5], "transition": [[0.9, 0.1], [0.2, 0.8]]}
EMISSION = [[0.9, 0.1], [0.2, 0.8]]


def known(**others):
    return jn.HiddenMarkovModel.from_parameters(**{**MOVES, "emission": EMISSION, **others})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"initial": ["a", "b"]}, "initial must be an array of numbers"),
        ({"initial": [0.5, 0.6]}, "initial must be probabilities that sum to 1 in every row"),
        ({"initial": [0.5, np.nan]}, "initial must hold finite numbers only"),
        ({"transition": [[1.0]]}, "transition must have the shape (2, 2), not (1, 1)"),
        ({"transition": [[0.5, 0.5], [1.0]]}, "transition must be an array of numbers"),
        ({"emission": None}, "give emission= (or means= and covariances=) with a row per state"),
        ({"emission": [[0.9, 0.2]] * 2}, "emission must be probabilities that sum to 1 in every"),
        (
            {"emission": None, "means": [[0.0], [1.0]], "kind": "gaussian"},
            "from_parameters lacks 'covariances', an array of the shape (2, 1, 1)",
        ),
        ({"emission": [[-1.0], [1.0]], "kind": "poisson"}, "emission must be rates, 0 or more"),
        ({"counts": [1]}, "counts must be 2 finite numbers, 0 or more"),
        ({"counts": [-1, 2]}, "counts must be 2 finite numbers, 0 or more"),
        ({"counts": [1, np.inf]}, "counts must be 2 finite numbers, 0 or more"),
        ({"counts": ["many", "few"]}, "counts must be an array of numbers"),
    ],
)
def test_what_is_wrong_is_said_of_the_argument(given, message):
    with pytest.raises(jn.JensenError) as error:
        known(**given)
    assert str(error.value).startswith(message)
    assert "start" not in str(error.value)


def test_counts_say_which_states_live():
    assert known(counts=[3, 0]).n_states_ == 1
    assert known().n_states_ == 2


def test_labels_are_of_the_kind_that_was_given():
    for symbols, kind in ((None, np.int64), ([3, 4], np.int64), (["3", "4"], object)):
        labels, _ = known(symbols=symbols).sample(5, random_state=0)
        assert labels.dtype == kind
        assert set(labels.ravel().tolist()) <= set(symbols or (0, 1))
