"""Entropies and mutual informations, against their definitions."""

import itertools
import math

import numpy as np
import pytest
from inference import cases
from naive import joint
from naive.networks import by_name

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError

ATOL = 1e-11
NETS = [(seed, kind) for kind in ("positive", "with zeros", "deterministic") for seed in range(2)]


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_entropies(seed, kind):
    net = cases.random_net(seed, kind, configurations=200)
    twin, rng = joint.of(net), np.random.default_rng(seed)
    for _ in range(8):
        given = cases.random_evidence(net, rng, 0.3)
        free = [x for x in net.states if x not in given]
        if not free or joint.evidence(twin, given) == 0:
            continue
        targets = rng.permutation(free)[: rng.integers(1, 4)].tolist()
        found = net.entropy(targets, given)
        assert found == pytest.approx(joint.entropy(twin, targets, given), abs=ATOL)
        assert net.entropy(given=given) == pytest.approx(joint.entropy(twin, free, given), abs=ATOL)


def test_entropy_under_a_likelihood():
    net = jn.examples.load("asia")
    given = {"xray": {"no": 0.2, "yes": 0.7}, "smoke": "yes"}
    free = [x for x in net.states if x != "smoke"]
    expected = joint.entropy(joint.of(net), free, given)
    assert net.entropy(given=given) == pytest.approx(expected, abs=ATOL)
    assert net.entropy("xray", {"smoke": "yes"}) == pytest.approx(
        joint.entropy(joint.of(net), ["xray"], {"smoke": "yes"}), abs=ATOL
    )


def test_entropy_of_the_certain_and_of_the_uniform():
    tables = {"a": [0.25] * 4, "b": np.eye(4), "c": [1.0]}
    net = jn.BayesianNetwork.from_tables("a -> b; c", tables)
    for targets in ("a", "b", ["a", "b"], ["a", "c", "b"], None):
        assert net.entropy(targets) == pytest.approx(math.log(4), rel=1e-14)
    assert net.entropy("c") == net.entropy("b", {"a": 1}) == net.entropy(given={"a": 1}) == 0.0


def test_entropy_of_a_large_network_is_the_sum_along_its_arrows():
    """Chain rule: H = Σ_v Σ_parents P(parents) H(v | parents); alarm has 10^16 assignments."""
    net = jn.examples.load("alarm")
    total = 0.0
    for v in net.variables:
        parents = list(net.graph.parents(v.name))
        weights = net.query(parents).values if parents else np.ones(())
        rows = net.cpt(v.name).values
        each = -np.sum(rows * np.log(np.where(rows > 0, rows, 1.0)), axis=-1)
        total += float(np.sum(weights * each))
    assert net.entropy() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_mutual_information(seed, kind):
    net = cases.random_net(seed, kind, configurations=120)
    twin, rng = joint.of(net), np.random.default_rng(seed)
    for _ in range(6):
        names = rng.permutation(list(net.states)).tolist()
        a, b, over = names[:1], names[1 : 1 + rng.integers(1, 3)], names[3 : rng.integers(3, 6)]
        found = net.mutual_information(a, b, over)
        assert found == pytest.approx(joint.mutual_information(twin, a, b, over), abs=ATOL)
        given = {x: str(rng.choice(net.states[x])) for x in over}
        if joint.evidence(twin, given) > 0:
            found = net.mutual_information(a, b, given)
            expected = joint.mutual_information(twin, a, b, given=given)
            assert found == pytest.approx(expected, abs=ATOL)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_zero_exactly_for_what_is_d_separated(seed):
    """Random positive tables are faithful to the graph, if every variable has two states."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(list("abcde")).tolist()
    edges = [(x, y) for x, y in itertools.combinations(order, 2) if rng.random() < 0.4]
    graph = jn.DAG(edges, nodes=order)
    tables = {x: rng.dirichlet([1, 1], [2] * len(graph.parents(x))) for x in order}
    net = jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph))
    n_separated = 0
    for a, b in itertools.combinations("abcde", 2):
        rest = [x for x in "abcde" if x not in (a, b)]
        for over in itertools.chain.from_iterable(
            itertools.combinations(rest, k) for k in range(len(rest) + 1)
        ):
            found = net.mutual_information(a, b, list(over))
            assert found >= 0.0
            separated = graph.d_separated(a, b, over)
            n_separated += separated
            assert (found < 1e-12) == separated, (a, b, over)
    assert 0 < n_separated < 80


def test_evidence_and_names_mean_different_things():
    """Where b = a xor c: alone independent, given c the same; the mean over c is log 2 as well."""
    xor = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    net = jn.BayesianNetwork.from_tables(
        "a -> b <- c", {"a": [0.5, 0.5], "c": [0.25, 0.75], "b": xor}
    )
    assert net.mutual_information("a", "b") == pytest.approx(
        joint.mutual_information(joint.of(net), ["a"], ["b"]), abs=ATOL
    )
    assert net.mutual_information("a", "b", {"c": 1}) == pytest.approx(math.log(2), rel=1e-14)
    assert net.mutual_information("a", "b", ["c"]) == pytest.approx(math.log(2), rel=1e-14)
    assert net.mutual_information("a", "b", "c") == net.mutual_information("a", "b", ["c"])
    assert net.mutual_information("a", "c") == 0.0
    assert net.mutual_information("a", "c", {"b": 1}) > 0.1


def test_it_is_symmetric_and_bounded_by_the_entropies():
    net = jn.examples.load("asia")
    for a, b in itertools.combinations(net.states, 2):
        found = net.mutual_information(a, b)
        assert found == pytest.approx(net.mutual_information(b, a), abs=ATOL)
        assert found <= min(net.entropy(a), net.entropy(b)) + ATOL


def test_refusals():
    net = jn.examples.load("sprinkler")
    with pytest.raises(JensenError, match=r"\['rain'\] and \['rain', 'cloudy'\] share a variable"):
        net.mutual_information("rain", ["rain", "cloudy"])
    for given in ("rain", ["wet_grass", "rain"]):
        with pytest.raises(JensenError, match="'rain' is asked for, but stands in given"):
            net.mutual_information("rain", "cloudy", given)
        with pytest.raises(JensenError, match="'rain' is asked for, but stands in given"):
            net.mutual_information("cloudy", "rain", given)
    with pytest.raises(JensenError, match="'rain' is asked for, but stands in given"):
        net.mutual_information("rain", "cloudy", {"rain": "yes"})
    with pytest.raises(JensenError, match="'rain' is asked for, but stands in given"):
        net.entropy("rain", {"rain": "yes"})
    given = {"rain": "no", "sprinkler": "off", "wet_grass": "yes"}
    for ask in (lambda: net.entropy(given=given), lambda: net.entropy("cloudy", given)):
        with pytest.raises(ImpossibleError):
            ask()
