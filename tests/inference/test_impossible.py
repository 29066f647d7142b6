"""Evidence of probability 0: the error names findings that contradict, and no others."""

import itertools
import re

import numpy as np
import pytest
from inference import cases
from naive import joint

import jensen as jn
from jensen.exceptions import ImpossibleError


def named(error):
    """The findings that an error names, and the variables whose likelihood it names."""
    text = re.search(r"impossible: (.*) cannot occur( together)? in", str(error)).group(1)
    hard, soft, do = {}, [], {}
    for part in text.removesuffix(" (under every sample)").split(", "):
        if part.startswith("likelihood of "):
            soft.append(part.removeprefix("likelihood of "))
        elif part.startswith("do("):
            do.update([part[3:-1].split("=")])
        else:
            hard.update([part.split("=")])
    return hard, soft, do


def assert_minimal(twin, hard, given, do):
    """Impossible together, but not without any one of them."""
    assert joint.evidence(twin, {x: given[x] for x in hard}, do) == 0
    for x in hard:
        assert joint.evidence(twin, {y: given[y] for y in hard if y != x}, do) > 0, x


@pytest.mark.parametrize("kind", ["with zeros", "deterministic", "mixed"])
def test_the_findings_named_contradict_and_none_can_be_left_out(kind):
    n_impossible = 0
    for seed in range(4):
        net = cases.random_net(seed, kind, configurations=300)
        twin, rng = joint.exact(joint.of(net)), np.random.default_rng(seed)
        for _ in range(12):
            given = cases.random_evidence(net, rng, 0.8)
            do = {x: given.pop(x) for x in list(given)[:1] if rng.random() < 0.4}
            if joint.evidence(twin, given, do) > 0:
                continue
            n_impossible += 1
            with pytest.raises(ImpossibleError) as error:
                net.marginals(given, do)
            hard, soft, done = named(error.value)
            assert hard
            assert not soft
            assert done == do
            assert {x: given[x] for x in hard} == hard
            assert_minimal(twin, hard, given, do)
    assert n_impossible > 10


def test_two_of_thirty_findings():
    """Copies of copies: only v07 and v21 are said to differ from what they copy."""
    rng = np.random.default_rng(0)
    tables, edges = {"root": [0.5, 0.5]}, []
    for k in range(30):
        name = f"v{k:02d}"
        edges.append(("root", name))
        tables[name] = np.eye(2) if k in (7, 21) else rng.dirichlet([1, 1], 2)
    net = jn.BayesianNetwork.from_tables(edges, tables)
    given = {f"v{k:02d}": int(rng.integers(2)) for k in range(30)}
    given["v07"], given["v21"] = 0, 1
    for ask in (lambda: net.query("root", given), lambda: net.most_probable(given)):
        with pytest.raises(ImpossibleError) as error:
            ask()
        assert str(error.value) == (
            "the evidence is impossible: v07=0, v21=1 cannot occur together in this network. "
            "Leave out one of these findings, or learn with a prior, which leaves nothing "
            "impossible"
        )
    assert net.log_probability(given) == -np.inf
    assert net.probability(given) == 0.0


def test_one_finding_alone():
    net = jn.BayesianNetwork.from_tables("a -> b; c", {"a": [1, 0], "b": [[1, 0]] * 2, "c": [1, 0]})
    for target, given, name in (("c", {"b": 1, "a": 0}, "b"), ("b", {"c": 1}, "c")):
        with pytest.raises(ImpossibleError) as error:
            net.query(target, given)
        assert str(error.value) == (
            f"the evidence is impossible: {name}=1 cannot occur in this network. Leave out this "
            f"finding, or learn with a prior, which leaves nothing impossible"
        )
    with pytest.raises(ImpossibleError, match=r"network: c=1 cannot occur\. Correct the row"):
        net.predict_proba({"a": [0], "c": [1]}, "b")


def test_one_finding_and_what_is_done_are_two():
    net = jn.BayesianNetwork.from_tables("a -> b; c", {"a": [1, 0], "b": np.eye(2), "c": [1, 0]})
    with pytest.raises(ImpossibleError, match=r"b=1, do\(a=0\) cannot occur together in"):
        net.query("c", {"b": 1}, do={"a": 0})


def test_likelihoods_are_named():
    net = jn.examples.load("asia")
    given = {"either": [1.0, 0.0], "lung": "yes", "smoke": "yes", "xray": [1.0, 1.0]}
    given["either"] = {"no": 1.0, "yes": 0.0}
    with pytest.raises(ImpossibleError) as error:
        net.query("asia", given)
    assert named(error.value) == ({"lung": "yes"}, ["either"], {})


def test_doing_can_make_possible_what_was_not():
    net = jn.examples.load("asia")
    given = {"lung": "yes", "xray": "no"}
    with pytest.raises(ImpossibleError):
        net.query("asia", {**given, "either": "no"})
    found = net.query("asia", given, do={"either": "no"})
    assert found["no"] == pytest.approx(0.99, rel=1e-12)


def test_no_answer_is_ever_nan():
    """All evidence on a deterministic network, asked in every way."""
    net = cases.random_net(5, "deterministic", n=4, configurations=100)
    target = net.graph.nodes[0]
    rest = list(net.graph.nodes[1:])
    for given in itertools.islice(cases.all_evidence(net, rest), 60):
        p = net.probability(given)
        assert 0.0 <= p <= 1.0 + 1e-12
        if p > 0:
            for answer in (net.query(target, given), *net.marginals(given).values()):
                assert np.isfinite(answer.values).all()
                assert answer.values.sum() == pytest.approx(1.0, rel=1e-14)
