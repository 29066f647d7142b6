"""The best assignments, against all of them sorted."""

import itertools
import math

import numpy as np
import pytest
from inference import cases
from naive import joint

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError

LOG_TOL = {"rtol": 1e-11, "atol": 1e-10}
NETS = [(seed, kind) for kind in cases.KINDS for seed in range(2)]


def random_question(net, rng):
    """Findings, likelihoods and interventions; and the same for the twin."""
    names = rng.permutation(list(net.states)).tolist()
    do = {x: str(rng.choice(net.states[x])) for x in names[:1] if rng.random() < 0.4}
    hard = {x: str(rng.choice(net.states[x])) for x in names[1:2] if rng.random() < 0.6}
    soft = {}
    for x in names[2:4]:
        if rng.random() < 0.6:
            parts = rng.random(len(net.states[x])) * (rng.random(len(net.states[x])) < 0.7)
            parts[0] += parts.sum() == 0
            soft[x] = dict(zip(net.states[x], parts.tolist(), strict=True))
    exact = {x: {s: joint.Fraction(p) for s, p in parts.items()} for x, parts in soft.items()}
    return hard | soft, hard | exact, do


def check(net, found, sorted_rows, known):
    """Values are those of the best rows; the states, different ones, have these values."""
    values = [joint.log(w) for _, w in sorted_rows[: len(found)]]
    np.testing.assert_allclose([a.log_probability for a in found], values, **LOG_TOL)
    log_evidence = joint.log(sum(w for _, w in sorted_rows))  # all that is possible
    given_it = [value - log_evidence for value in values]
    np.testing.assert_allclose([a.log_conditional for a in found], given_it, **LOG_TOL)
    assert all(a.log_probability >= b.log_probability for a, b in itertools.pairwise(found))
    assert len({tuple(a.items()) for a in found}) == len(found)
    weight = {tuple(sorted(row.items())): w for row, w in sorted_rows}
    for assignment in found:
        assert list(assignment) == [x for x in net.graph.nodes if x not in known]
        w = weight[tuple(sorted({**assignment, **known}.items()))]
        np.testing.assert_allclose(assignment.log_probability, joint.log(w), **LOG_TOL)


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_best_assignments_are_those_of_the_sorted_list(seed, kind):
    net = cases.random_net(seed, kind, configurations=200)
    twin, rng = joint.exact(joint.of(net)), np.random.default_rng(seed)
    for _ in range(6):
        given, exact, do = random_question(net, rng)
        known = {x: s for x, s in given.items() if isinstance(s, str)} | do
        rows = joint.best(twin, exact, do)
        if not rows:
            for k in (None, 3):
                with pytest.raises(ImpossibleError):
                    net.most_probable(given, do, k=k)
            continue
        check(net, [net.most_probable(given, do)], rows, known)
        for k in (1, 2, 7):
            found = net.most_probable(given, do, k=k)
            assert len(found) == min(k, len(rows))
            check(net, found, rows, known)


@pytest.mark.parametrize("kind", ["with zeros", "deterministic"])
def test_all_possible_assignments_and_no_more(kind):
    net = cases.random_net(3, kind, configurations=150)
    rows = joint.best(joint.exact(joint.of(net)))
    found = net.most_probable(k=10_000)
    assert len(found) == len(rows)
    check(net, found, rows, {})
    total = sum(math.exp(a.log_probability) for a in found)
    assert total == pytest.approx(1.0, rel=1e-12)


def test_equal_ones_all_come():
    graph = "a -> b; c"
    net = jn.BayesianNetwork.from_tables(graph, {"a": [0.5] * 2, "b": [[0.5] * 2] * 2, "c": [1.0]})
    found = net.most_probable(k=9)
    assert sorted(tuple(a.states.values()) for a in found) == [
        ("0", "0", "0"), ("0", "1", "0"), ("1", "0", "0"), ("1", "1", "0"),
    ]  # fmt: skip
    np.testing.assert_allclose([a.log_probability for a in found], math.log(0.25), rtol=1e-14)


def test_what_follows_counts_in_an_assignment():
    """A query leaves b out; the most probable assignment may not: a=0 has the larger share."""
    tables = {"a": [0.6, 0.4], "b": [[0.25] * 4, [1.0, 0.0, 0.0, 0.0]]}
    net = jn.BayesianNetwork.from_tables("a -> b", tables)
    assert net.query("a").most_probable() == "0"
    assert dict(net.most_probable()) == {"a": "1", "b": "0"}
    assert net.most_probable().log_probability == pytest.approx(math.log(0.4), rel=1e-14)


def test_likelihoods_of_zero_ban_states():
    """Regression: what is left of a likelihood after a ban may be nothing at all."""
    net = jn.examples.load("sprinkler")
    given = {"rain": {"no": 0.5, "yes": 0.0}}
    found = net.most_probable(given, k=100)
    assert {a["rain"] for a in found} == {"no"}
    rows = joint.best(joint.of(net), given)
    assert len(found) == len(rows)
    check(net, found, rows, {})


def test_everything_known_leaves_nothing_to_choose():
    net = jn.examples.load("sprinkler")
    row = {"cloudy": "no", "rain": "no", "sprinkler": "on", "wet_grass": "yes"}
    for found in (net.most_probable(row), *net.most_probable(row, k=5)):
        assert dict(found) == {}
        assert found.log_probability == pytest.approx(math.log(0.5 * 0.8 * 0.5 * 0.9), rel=1e-14)


def test_a_larger_network_agrees_with_its_own_probability():
    """The states, given as evidence, have the value that was found; and any change lowers it."""
    net = jn.examples.load("alarm")
    given = {"HRBP": "HIGH", "BP": "LOW", "CVP": "NORMAL"}
    best, second, *_ = net.most_probable(given, k=3)
    assert net.log_probability({**given, **best}) == pytest.approx(best.log_probability, rel=1e-12)
    assert second.log_probability <= best.log_probability
    for name, states in net.states.items():
        for state in states if name not in given else ():
            other = net.log_probability({**given, **best, name: state})
            assert other <= best.log_probability + 1e-12


def test_an_assignment_reads_like_a_mapping():
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.2, 0.8], "b": [[1.0, 0], [0.25, 0.75]]})
    found = net.most_probable()
    assert (found["a"], found["b"], len(found), list(found)) == ("1", "1", 2, ["a", "b"])
    assert dict(found.items()) == dict(found) == {"a": "1", "b": "1"}
    assert repr(found) == "log probability -0.510826\na  1\nb  1"
    with pytest.raises(JensenError, match="'c' was known, or is no variable of the network"):
        found["c"]


def test_both_probabilities_are_told_apart_in_words():
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.2, 0.8], "b": [[1.0, 0], [0.25, 0.75]]})
    found = net.most_probable({"b": "0"})  # P(a=0, b=0) = P(a=1, b=0) = 0.2
    assert math.exp(found.log_probability) == pytest.approx(0.2, rel=1e-12)
    assert math.exp(found.log_conditional) == pytest.approx(0.5, rel=1e-12)
    assert repr(found).startswith(
        "log probability -1.60944 together with the evidence, -0.693147 given the evidence\na  "
    )
    free = net.most_probable(do={"a": "1"})
    assert free.log_probability == free.log_conditional == pytest.approx(math.log(0.75), rel=1e-12)


def test_impossible_evidence_has_no_best_assignment():
    net = jn.examples.load("sprinkler")
    given = {"rain": "no", "sprinkler": "off", "wet_grass": "yes"}
    with pytest.raises(ImpossibleError, match="rain=no, sprinkler=off, wet_grass=yes cannot occur"):
        net.most_probable(given)
