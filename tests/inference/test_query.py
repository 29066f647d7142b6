"""Posteriors, against every assignment written out in rational numbers."""

import itertools
import math

import numpy as np
import pytest
from inference import cases
from naive import joint
from naive.networks import by_name

import jensen as jn
from jensen.exceptions import ImpossibleError

RTOL = 1e-11
"""Of a probability: sums of positive products, so no digits are cancelled."""

ATOL = 1e-280
"""Below this a number begins to lose digits."""

LOG_ATOL = 1e-10

NETS = [(seed, kind) for kind in cases.KINDS for seed in range(3)]


def assert_close(found, expected):
    np.testing.assert_allclose(
        found.values, cases.cells(found.variables, expected), rtol=RTOL, atol=ATOL
    )


def check(net, twin, targets, given=None, do=None):
    """One query against its twin; impossible evidence must be refused."""
    if joint.evidence(twin, given or {}, do) == 0:
        with pytest.raises(ImpossibleError):
            net.query(targets, given, do)
    else:
        assert_close(net.query(targets, given, do), joint.posterior(twin, targets, given, do))


# --- what is seen ---


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_every_evidence_on_every_variable(seed, kind):
    net = cases.random_net(seed, kind)
    listed = joint.weights(joint.exact(joint.of(net)))
    for given in cases.all_evidence(net):
        seen = [(row, p) for row, p in listed if all(row[x] == s for x, s in given.items())]
        total = sum(p for _, p in seen)
        found = net.log_probability(given)
        if total == 0:
            assert found == -math.inf
            assert net.probability(given) == 0.0
            with pytest.raises(ImpossibleError):
                net.marginals(given)
            continue
        np.testing.assert_allclose(found, joint.log(total), rtol=RTOL, atol=LOG_ATOL)
        marginals = net.marginals(given)
        assert list(marginals) == [x for x in net.graph.nodes if x not in given]
        for x, distribution in marginals.items():
            expected = dict.fromkeys([(s,) for s in net.states[x]], 0)
            for row, p in seen:
                expected[row[x],] += p
            assert_close(distribution, {s: float(p / total) for s, p in expected.items()})


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_targets_alone_and_jointly_in_any_order(seed, kind):
    net = cases.random_net(seed, kind, configurations=200)
    twin = joint.exact(joint.of(net))
    rng = np.random.default_rng(seed)
    names = list(net.states)
    sets = [list(c) for k in (1, 2, 3, 5) for c in itertools.combinations(names, k)]
    for targets in sets:
        targets = rng.permutation(targets).tolist()
        check(net, twin, targets)
        given = cases.random_evidence(net, rng)
        check(net, twin, targets, {x: s for x, s in given.items() if x not in targets})


def test_one_name_is_as_good_as_a_list_of_it():
    net = jn.examples.load("asia")
    one, listed = net.query("tub", {"xray": "yes"}), net.query(["tub"], {"xray": "yes"})
    assert one.variables == listed.variables
    np.testing.assert_array_equal(one.values, listed.values)
    assert repr(one).startswith("P(tub | xray=yes)\n")


@pytest.mark.parametrize("kind", ["positive", "mixed"])
def test_larger_networks(kind):
    """Seven variables, of which the tables do not fit into one."""
    for seed in range(3):
        net = cases.random_net(seed, kind, n=7, density=0.35, configurations=3000)
        twin, rng = joint.exact(joint.of(net)), np.random.default_rng(seed)
        for n_targets in (1, 2, 3):
            names = rng.permutation(list(net.states)).tolist()
            given = {x: str(rng.choice(net.states[x])) for x in names[n_targets : n_targets + 2]}
            check(net, twin, names[:n_targets])
            check(net, twin, names[:n_targets], given)


def test_variables_far_apart_are_asked_for_jointly():
    """Both ends of a chain, and all of it, in two orders."""
    rng = np.random.default_rng(0)
    names = [f"v{k}" for k in range(7)]
    tables = {"v0": rng.dirichlet(np.ones(2))}
    tables |= {x: rng.dirichlet(np.ones(2), 2) for x in names[1:]}
    net = jn.BayesianNetwork.from_tables(" -> ".join(names), tables)
    twin = joint.exact(joint.of(net))
    for targets in (["v6", "v0"], ["v0", "v3", "v6"], names, names[::-1]):
        check(net, twin, targets)
        check(net, twin, [x for x in targets if x != "v3"], {"v3": "1"})


def test_labels_may_be_numbers():
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.2, 0.8], "b": [[0.5, 0.5], [0.1, 0.9]]})
    for label in (1, 1.0, "1", np.int64(1)):
        assert net.query("a", {"b": label})["1"] == pytest.approx(0.72 / 0.82, rel=1e-14)
        assert net.query("b", do={"a": label})["1"] == pytest.approx(0.9, rel=1e-14)


# --- likelihoods ---


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_likelihoods_weigh_the_states(seed, kind):
    net = cases.random_net(seed, kind, configurations=200)
    twin = joint.exact(joint.of(net))
    rng = np.random.default_rng(seed)
    for _ in range(12):
        hard = cases.random_evidence(net, rng, 0.2)
        rest = [x for x in net.states if x not in hard]
        target, *soft = rng.permutation(rest).tolist()
        parts = {x: rng.random(len(net.states[x])) * rng.choice([1e-9, 1.0, 1e9]) for x in soft}
        for likelihood in parts.values():
            likelihood[1:] *= rng.random(len(likelihood) - 1) < 0.7
        given = hard | {x: dict(zip(net.states[x], p, strict=True)) for x, p in parts.items()}
        exactly = hard | {
            x: dict(zip(net.states[x], map(joint.Fraction, p), strict=True))
            for x, p in parts.items()
        }
        total = joint.evidence(twin, exactly)
        np.testing.assert_allclose(
            net.log_probability(given), joint.log(total), rtol=RTOL, atol=LOG_ATOL
        )
        if total > 0:
            expected = joint.posterior(twin, [target], exactly)
            for form in (dict, list, np.array, tuple):
                said = hard | {x: form(given[x] if form is dict else parts[x]) for x in parts}
                assert_close(net.query(target, said), expected)
            for x, distribution in net.marginals(given).items():
                assert_close(distribution, joint.posterior(twin, [x], exactly))


def test_a_likelihood_of_one_state_is_a_finding_and_equal_ones_are_nothing():
    net = jn.examples.load("asia")
    seen, said = (
        net.query("lung", {"xray": "yes"}),
        net.query("lung", {"xray": {"yes": 7, "no": 0}}),
    )
    np.testing.assert_allclose(seen.values, said.values, rtol=RTOL)
    nothing = net.query("lung", {"xray": [3.0, 3.0]})
    np.testing.assert_allclose(nothing.values, net.query("lung").values, rtol=RTOL)
    assert net.probability({"xray": [3.0, 3.0]}) == pytest.approx(3.0, rel=RTOL)


def test_asked_for_all_but_what_is_only_likely():
    """The posterior of a variable with a likelihood is among the marginals."""
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.25, 0.75]})
    assert dict(net.marginals({"a": [3.0, 1.0]})["a"]) == pytest.approx({"0": 0.5, "1": 0.5})


# --- what is done ---


def without_causes(net, do):
    """The mutilated network, built by hand."""
    edges = [(a, b) for a, b in net.graph.edges if b not in do]
    graph = jn.DAG(edges, nodes=net.graph.nodes)
    tables = {
        x: np.eye(len(net.states[x]))[net.states[x].index(do[x])] if x in do else net.cpt(x).values
        for x in net.states
    }
    return jn.BayesianNetwork.from_tables(graph, tables, net.states, parents=by_name(graph))


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_doing_cuts_the_arrows(seed, kind):
    net = cases.random_net(seed, kind, configurations=200)
    twin, rng = joint.exact(joint.of(net)), np.random.default_rng(seed)
    for _ in range(10):
        names = rng.permutation(list(net.states)).tolist()
        do = {x: str(rng.choice(net.states[x])) for x in names[: rng.integers(1, 3)]}
        given = cases.random_evidence(net, rng, 0.3)
        given = {x: s for x, s in given.items() if x not in do and x != names[-1]}
        check(net, twin, [names[-1]], given, do)
        targets = [x for x in names if x not in do and x not in given]
        check(net, twin, targets, given, do)
        total = joint.evidence(twin, given, do)
        np.testing.assert_allclose(
            net.log_probability(given, do), joint.log(total), rtol=RTOL, atol=LOG_ATOL
        )
        cut = without_causes(net, do)
        np.testing.assert_allclose(
            net.log_probability(given, do),
            cut.log_probability(given | do),
            rtol=RTOL,
            atol=LOG_ATOL,
        )
        if total > 0:
            built = cut.marginals(given | do)
            for x, distribution in net.marginals(given, do).items():
                np.testing.assert_allclose(
                    distribution.values, built[x].values, rtol=RTOL, atol=ATOL
                )


def test_seeing_differs_from_doing_exactly_where_a_back_door_is_open():
    rng = np.random.default_rng(1)
    doors = {  # graph -> what closes the back door from x to y, or None if nothing does
        "z -> x; z -> y; x -> y": False,
        "z -> x; z -> y": False,
        "y -> x": False,
        "x -> y": True,
        "x -> m -> y": True,
        "x -> c <- y": True,
        "u -> x; u -> w; v -> w; v -> y; x -> y": True,  # closed by the collider w
        "u -> x; u -> w; w -> y; x -> y": False,
        "x; y": True,
    }
    for graph, closed in doors.items():
        dag = jn.DAG(graph)
        tables = {v: rng.dirichlet(np.ones(2), [2] * len(dag.parents(v))) for v in dag.nodes}
        net = jn.BayesianNetwork.from_tables(dag, tables, parents=by_name(dag))
        seen, done = net.query("y", {"x": 1}).values, net.query("y", do={"x": 1}).values
        assert np.allclose(seen, done, rtol=1e-12) == closed, graph


def test_back_door_adjustment():
    """P(y | do x) = Σ_z P(z) P(y | x, z); and P(y | do x, z) is P(y | x, z) there."""
    rng = np.random.default_rng(2)
    tables = {"z": [0.3, 0.7], "x": rng.dirichlet([1, 1], 2), "y": rng.dirichlet([1, 1], (2, 2))}
    net = jn.BayesianNetwork.from_tables("z -> x; x -> y; z -> y", tables)
    each = [net.query("y", {"x": 1, "z": z}).values for z in (0, 1)]
    expected = np.dot(net.query("z").values, each)
    np.testing.assert_allclose(net.query("y", do={"x": 1}).values, expected, rtol=1e-13)
    found = net.query("y", {"z": 0}, do={"x": 1}).values
    np.testing.assert_allclose(found, each[0], rtol=1e-13)


def test_what_was_done_says_nothing_of_its_causes():
    net = jn.examples.load("sprinkler")
    for state in ("on", "off"):
        done = net.query("cloudy", do={"sprinkler": state})
        np.testing.assert_allclose(done.values, net.query("cloudy").values, rtol=1e-14)
        assert repr(done).startswith(f"P(cloudy | do(sprinkler={state}))\n")
    assert net.probability({"rain": "yes"}, {"sprinkler": "on"}) == pytest.approx(0.5, rel=1e-14)


# --- small numbers ---


def test_many_tiny_numbers_in_one_query():
    """P(all k signs) is about exp(-400 k): far below what a number can hold."""
    k = 6
    rng = np.random.default_rng(3)
    tables = {"x": [0.5, 0.3, 0.2]}
    for i in range(k):
        p = cases.TINY * rng.random(3)
        tables[f"y{i}"] = np.stack([1 - p, p], 1)
    net = jn.BayesianNetwork.from_tables("; ".join(f"x -> y{i}" for i in range(k)), tables)
    given = {f"y{i}": "1" for i in range(k)}
    twin = joint.exact(joint.of(net))
    expected = joint.log(joint.evidence(twin, given))
    assert expected < -2000
    assert net.log_probability(given) == pytest.approx(expected, rel=1e-13)
    check(net, twin, ["x"], given)
    check(net, twin, ["x", "y0"], {f"y{i}": "1" for i in range(1, k)})


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.filterwarnings("ignore:the table has no column")
def test_what_seems_lost_beside_a_large_number_may_be_all_that_is_left(steps):
    """A message (1, exp(-400 steps)), of which later evidence forbids the first entry."""
    n = steps + 2  # state 0 stays; state 1 climbs to the last one by tiny steps
    climb = np.eye(n)
    climb[np.arange(1, n - 1), np.arange(2, n)] = cases.TINY
    sign = np.zeros((n, 2))
    sign[:, 0], sign[0], sign[-1] = 1.0, [0, 1], [0, 1]
    names = [f"m{k}" for k in range(steps + 1)]
    tables = {"x": [0.5, 0.5], "y": [[1, 0], [0, 1]], "m0": np.eye(n)[:2], "z": sign}
    tables |= dict.fromkeys(names[1:], climb)
    graph = f"x -> y; x -> {' -> '.join(names)} -> z"
    net = jn.BayesianNetwork.from_tables(graph, tables)
    given = {"z": 1, "y": 1}
    expected = math.log(0.5) + steps * math.log(cases.TINY)
    assert net.log_probability(given) == pytest.approx(expected, rel=1e-12)
    assert net.query("x", given)["1"] == 1.0
    assert net.most_probable(given).log_probability == pytest.approx(expected, rel=1e-12)
    assert net.log_likelihood({"z": [1], "y": [1]})[0] == pytest.approx(expected, rel=1e-12)
    assert net.query("x", {"z": 1})["1"] == pytest.approx(cases.TINY**steps, rel=1e-12)


# --- the edges of what there is ---


def test_tables_that_nearly_sum_to_one_are_normalised():
    rough = {"a": [0.30003, 0.7], "b": [[0.2, 0.79995], [0.5, 0.5]], "c": [[0.1, 0.90004]] * 2}
    fine = {x: np.array(t) / np.sum(t, -1, keepdims=True) for x, t in rough.items()}
    nets = [jn.BayesianNetwork.from_tables("a -> b -> c", t) for t in (rough, fine)]
    for given in cases.all_evidence(nets[0]):
        one, other = (net.log_probability(given) for net in nets)
        assert one == pytest.approx(other, rel=1e-13, abs=1e-15)
        for x, distribution in nets[0].marginals(given).items():
            assert distribution.values.sum() == pytest.approx(1.0, rel=1e-15)
            np.testing.assert_allclose(
                distribution.values, nets[1].query(x, given).values, rtol=RTOL
            )
    assert nets[0].probability({}) == pytest.approx(1.0, rel=1e-15)


def test_one_variable_and_one_state():
    net = jn.BayesianNetwork.from_tables("a", {"a": [1.0]})
    assert dict(net.query("a")) == {"0": 1.0}
    assert net.probability({"a": 0}) == 1.0
    assert net.marginals({"a": 0}) == {}
    net = jn.BayesianNetwork.from_tables("a; b", {"a": [1.0], "b": [0.0, 1.0]})
    assert dict(net.query(["b", "a"])) == {("0", "0"): 0.0, ("1", "0"): 1.0}
    assert dict(net.query("b", {"a": 0}, None)) == {"0": 0.0, "1": 1.0}


def test_nothing_given_is_certain():
    net = jn.examples.load("asia")
    for given in (None, {}):
        assert net.log_probability(given) == 0.0
        assert net.probability(given, {"smoke": "yes"}) == 1.0


def test_rows_of_evidence_are_asked_for_at_once():
    pandas = pytest.importorskip("pandas")
    net = jn.examples.load("asia")
    rows = pandas.DataFrame({"xray": ["yes", None, "no"], "smoke": ["no", None, None]})
    found = net.query("lung", given=rows)
    assert len(found) == 3
    for row, distribution in zip(cases.as_rows(rows), found, strict=True):
        given = {x: s for x, s in row.items() if s is not None}
        np.testing.assert_allclose(distribution.values, net.query("lung", given).values, rtol=RTOL)
    joint = net.query(["lung", "tub"], given=rows, do={"asia": "yes"})
    assert joint.values.shape == (3, 2, 2)
    alone = net.query(["lung", "tub"], {"xray": "no"}, {"asia": "yes"})
    np.testing.assert_allclose(joint[2].values, alone.values, rtol=RTOL)
    with pytest.raises(jn.JensenError, match=r"^intervals are for one question: give a dict, not"):
        net.query("lung", given=rows, interval=0.9)


def test_a_list_of_evidence_may_hold_likelihoods():
    net = jn.examples.load("asia")
    evidence = [{"xray": "yes"}, {"xray": [0.2, 0.9]}, {}, {"xray": np.array([0.2, 0.9])}]
    found = net.query("lung", given=evidence)
    for given, distribution in zip(evidence, found, strict=True):
        np.testing.assert_allclose(distribution.values, net.query("lung", given).values, rtol=RTOL)
    with pytest.raises(jn.JensenError, match=r"^row 2: 'xray' has no state 'dark'"):
        net.query("lung", given=[{}, {"xray": "dark"}])
    with pytest.raises(jn.JensenError, match=r"^a list of evidence holds a dict for every row$"):
        net.query("lung", given=["yes"])
