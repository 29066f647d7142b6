"""Posteriors that are in print."""

import numpy as np
import pytest

import jensen as jn

# Lauritzen and Spiegelhalter (1988), the chest clinic: P(yes).
ASIA_PRIOR = {
    "tub": 0.0104, "lung": 0.055, "bronc": 0.45, "either": 0.064828, "xray": 0.11029,
    "dysp": 0.435971,
}  # fmt: skip
ASIA_GIVEN_ASIA_AND_DYSP = {
    "smoke": 0.62592, "tub": 0.087751, "lung": 0.099525, "bronc": 0.811402, "either": 0.1823,
    "xray": 0.219539,
}  # fmt: skip
SIX_DIGITS = 5.1e-7

# Koller and Friedman (2009), chapter 3: state, evidence, probability.
STUDENT = [
    ("l1", "", 0.502336),
    ("l1", "i0", 0.3886),
    ("l1", "i0 d0", 0.513),
    ("i1", "g3", 0.078947),
    ("d1", "g3", 0.629291),
    ("i1", "l0", 0.140022),
    ("i1", "g3 s1", 0.578313),
    ("d1", "g3 s1", 0.75956),
    ("i1", "g2", 0.174757),
    ("i1", "g2 d1", 0.339623),
]
VARIABLES = {"d": "Difficulty", "g": "Grade", "i": "Intelligence", "l": "Letter", "s": "SAT"}


def test_asia():
    net = jn.examples.load("asia")
    given = {"asia": "yes", "dysp": "yes"}
    for known, published in ((None, ASIA_PRIOR), (given, ASIA_GIVEN_ASIA_AND_DYSP)):
        marginals = net.marginals(known)
        for name, p in published.items():
            assert marginals[name]["yes"] == pytest.approx(p, abs=SIX_DIGITS)
            assert net.query(name, known)["yes"] == pytest.approx(p, abs=SIX_DIGITS)
    assert net.probability(given) == pytest.approx(0.004501375, rel=1e-6)


@pytest.mark.parametrize(("state", "evidence", "p"), STUDENT)
def test_student(state, evidence, p):
    net = jn.examples.load("student")
    given = {VARIABLES[s[0]]: s for s in evidence.split()}
    assert net.query(VARIABLES[state[0]], given)[state] == pytest.approx(p, abs=SIX_DIGITS)


def test_student_joint():
    net = jn.examples.load("student")
    row = {VARIABLES[s[0]]: s for s in ("i1", "d0", "g2", "s1", "l0")}
    assert net.probability(row) == pytest.approx(0.004608, rel=1e-12)


def test_burglary():
    """Russell and Norvig, section 14.4: P(burglary | both call) = 0.284."""
    net = jn.examples.load("burglary")
    found = net.query("Burglary", {"JohnCalls": "True", "MaryCalls": "True"})
    assert found["True"] == pytest.approx(0.28417183536439294, rel=1e-12)


def test_sprinkler():
    """Murphy (1998): P(sprinkler | wet) = 0.4298, P(rain | wet) = 0.7079."""
    net = jn.examples.load("sprinkler")
    published = {
        (): (0.4297635605, 0.7079276773),
        ("cloudy",): (0.8360655738, 0.3442622951),
    }
    for clear, values in published.items():
        given = {"wet_grass": "yes", **dict.fromkeys(clear, "no")}
        found = [net.query("sprinkler", given)["on"], net.query("rain", given)["yes"]]
        np.testing.assert_allclose(found, values, rtol=0.0, atol=5.1e-11)
