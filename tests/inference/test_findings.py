"""Questions that make no sense are refused in words."""

import numpy as np
import pytest
from inference import cases
from naive import joint

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError

NET = jn.examples.load("sprinkler")
STATES = "its states are no, yes"


@pytest.mark.parametrize(
    ("given", "do", "message"),
    [
        ({"rain": "yes"}, {"rain": "no"}, "'rain' stands in given and in do: it is either seen or"),
        ({"rain": [1, 2]}, {"rain": "no"}, "'rain' stands in given and in do: it is either seen"),
        ({"cloudy": "no"}, None, "'cloudy' is asked for, but stands in given: leave it out there"),
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


@pytest.mark.parametrize("seed", range(4))
def test_a_target_may_have_a_likelihood(seed):
    """Soft evidence on what is asked for, against enumeration: a prior times a likelihood."""
    net = cases.random_net(seed, next(iter(cases.KINDS)), configurations=200)
    rng = np.random.default_rng(seed)
    first, second, *rest = rng.permutation(list(net.states)).tolist()
    likely = {
        x: dict(zip(net.states[x], rng.uniform(0.1, 1, len(net.states[x])), strict=True))
        for x in (first, second)
    }
    do = {rest[0]: net.states[rest[0]][0]} if rest else {}
    twin = joint.of(net)
    for targets in ([first], [first, second], [second, *rest[1:2]]):
        found = net.query(targets, given=likely, do=do)
        expected = cases.cells(found.variables, joint.posterior(twin, targets, likely, do))
        np.testing.assert_allclose(found.values, expected, rtol=1e-11)
    one = net.query(first, given=likely, do=do)
    np.testing.assert_allclose(net.marginals(likely, do)[first].values, one.values, rtol=1e-11)
    assert net.probability(likely, do) == pytest.approx(joint.evidence(twin, likely, do), rel=1e-11)
    draws = net.sample(4000, given=likely, do=do, random_state=0).column(first).data
    shares = np.bincount(draws, minlength=len(one.values)) / 4000
    np.testing.assert_allclose(shares, one.values, atol=0.04)  # five standard errors
    assert net.entropy(first, likely) == pytest.approx(
        joint.entropy(twin, [first], likely), rel=1e-9, abs=1e-12
    )


def test_soft_evidence_on_the_target_of_the_sprinkler():
    found = NET.query("rain", given={"rain": [0.3, 0.7]})
    np.testing.assert_allclose(found.values, [0.3, 0.7], rtol=1e-14)  # rain is even beforehand
    assert found.condition == "likelihood of rain"
    many = NET.query("rain", given=[{"rain": [0.3, 0.7]}, {"rain": {"no": 1.0, "yes": 0.0}}])
    np.testing.assert_allclose(many.values, [[0.3, 0.7], [1.0, 0.0]], rtol=1e-14)
    with pytest.raises(JensenError, match="'rain' is asked for, but stands in given"):
        NET.query("rain", given={"rain": "yes"})
    known = {"wet_grass": "yes", "sprinkler": "off", "rain": [1.0, 0.0]}
    with pytest.raises(ImpossibleError):
        NET.query("rain", given=known)


def test_a_posterior_over_graphs_takes_likelihoods_of_targets():
    post = jn.structure_posterior(NET.sample(300, random_state=0), "exact")
    free, weighed = post.query("rain"), post.query("rain", given={"rain": [0.2, 0.8]})
    odds = free["yes"] / free["no"] * 4.0
    assert float(weighed["yes"]) == pytest.approx(odds / (1 + odds), rel=1e-9)
