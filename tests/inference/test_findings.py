"""Questions that make no sense are refused in words."""

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import JensenError

NET = jn.examples.load("sprinkler")
STATES = "its states are no, yes"


@pytest.mark.parametrize(
    ("given", "do", "message"),
    [
        ({"rain": "yes"}, {"rain": "no"}, "'rain' stands in given and in do: it is either seen or"),
        ({"rain": [1, 2]}, {"rain": "no"}, "'rain' stands in given and in do: it is either seen"),
        ({"cloudy": "no"}, None, "'cloudy' is asked for, but stands in given: leave it out there"),
        ({"cloudy": [1, 1]}, None, "'cloudy' is asked for, but stands in given: leave it out"),
        (None, {"cloudy": "no"}, "'cloudy' is asked for, but stands in do: leave it out there"),
        ({"snow": "yes"}, None, "the network has no variable 'snow'"),
        (None, {"snow": "yes"}, "the network has no variable 'snow'"),
        ({"rain": "maybe"}, None, f"'rain' has no state 'maybe'; {STATES}"),
        ({"rain": None}, None, f"'rain' has no state None; {STATES}"),
        ({"rain": float("nan")}, None, f"'rain' has no state nan; {STATES}"),
        (None, {"rain": "maybe"}, f"'rain' has no state 'maybe'; {STATES}"),
        (None, {"rain": [0.5, 0.5]}, r"'rain' has no state \[0.5, 0.5\]"),
        (None, ["rain"], "do must be a dict from variable to state, not list"),
    ],
)
def test_evidence_that_makes_no_sense(given, do, message):
    with pytest.raises(JensenError, match=message):
        NET.query("cloudy", given, do)


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        ([1.0], "the likelihood of 'rain' must be 2 numbers, one for each of its states no, yes"),
        ([1.0, 1.0, 1.0], "the likelihood of 'rain' must be 2 numbers"),
        ([[1.0, 1.0]], "the likelihood of 'rain' must be 2 numbers"),
        ([], "the likelihood of 'rain' must be 2 numbers"),
        (["a", "b"], "the likelihood of 'rain' must be 2 numbers"),
        ([1.0, [2.0]], "the likelihood of 'rain' must be 2 numbers"),
        (np.ones(3), "the likelihood of 'rain' must be 2 numbers"),
        ([1.0, -0.5], "the likelihood of 'rain' must be finite, not negative, and not all 0"),
        ([0.0, 0.0], "the likelihood of 'rain' must be finite, not negative, and not all 0"),
        ([1.0, np.nan], "the likelihood of 'rain' must be finite, not negative, and not all 0"),
        ([1.0, np.inf], "the likelihood of 'rain' must be finite, not negative, and not all 0"),
        ({"yes": 1.0}, "the likelihood of 'rain' needs a number for each of its states no, yes"),
        ({"yes": 1.0, "maybe": 1.0}, f"'rain' has no state 'maybe'; {STATES}"),
        ({"yes": 1.0, "no": -1.0}, "the likelihood of 'rain' must be finite, not negative"),
        ({}, "the likelihood of 'rain' needs a number for each of its states"),
    ],
)
def test_likelihoods_that_make_no_sense(likelihood, message):
    for ask in (NET.marginals, NET.probability, NET.most_probable):
        with pytest.raises(JensenError, match=message):
            ask({"rain": likelihood})


@pytest.mark.parametrize("given", [["rain"], "rain", 3, ("rain", "yes")])
def test_evidence_that_is_no_dict(given):
    message = "given must be a dict from variable to state, not"
    for ask in (NET.marginals, NET.probability, NET.log_probability, NET.most_probable):
        with pytest.raises(JensenError, match=message):
            ask(given)
    with pytest.raises(JensenError, match=message):
        NET.sample(3, given=given)
    with pytest.raises(JensenError, match=message):
        NET.entropy(given=given)
    with pytest.raises(JensenError):
        NET.query("cloudy", given)


@pytest.mark.parametrize("targets", [[], (), ["rain", "rain"], ["rain", "cloudy", "rain"]])
def test_targets_that_are_none_or_repeated(targets):
    with pytest.raises(JensenError, match="ask for one variable or several different ones, not"):
        NET.query(targets)


def test_targets_that_are_unknown():
    for targets in ("snow", ["rain", "snow"]):
        with pytest.raises(JensenError, match="the network has no variable 'snow'"):
            NET.query(targets)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2"])
def test_numbers_of_assignments_that_make_no_sense(k):
    with pytest.raises(JensenError, match="k must be a whole number, 1 or more, not"):
        NET.most_probable(k=k)


def test_samples_of_what_makes_no_sense():
    with pytest.raises(JensenError, match="'rain' stands in given and in do"):
        NET.sample(3, given={"rain": "no"}, do={"rain": "no"})
    with pytest.raises(
        JensenError, match=r"the number of rows to draw must be 0, 1, 2, \.\.\., no"
    ):
        NET.sample(-1, given={"rain": "no"})


def test_nothing_is_answered_before_there_is_a_network():
    net = jn.BayesianNetwork("a -> b")
    for ask in (net.marginals, net.most_probable, net.entropy):
        with pytest.raises(jn.NotFittedError):
            ask()


def test_what_is_known_is_said_in_words():
    found = NET.query("cloudy", {"rain": "yes", "wet_grass": [1, 2]}, {"sprinkler": "on"})
    assert found.condition == "rain=yes, likelihood of wet_grass, do(sprinkler=on)"
