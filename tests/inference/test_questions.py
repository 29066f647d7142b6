"""What a question compiles, what is kept of it, and what would be too large."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from inference import cases
from naive import joint
from naive.networks import by_name

import jensen as jn
from jensen.exceptions import JensenError
from jensen.inference import questions


@pytest.fixture(autouse=True)
def _usual_limit():
    yield
    jn.set_memory_limit(None)


def last(net):
    """The sets of names of the question compiled last."""
    question = list(net.network_.questions.values())[-1]
    return [[net.graph.nodes[v] for v in members] for members in question.members]


def grid(n, seed=0):
    """A square of variables, each with the one above and the one to the left as parents."""
    rng = np.random.default_rng(seed)
    name = "x{:02d}{:02d}".format
    edges = [(name(i, j), name(i + 1, j)) for i in range(n - 1) for j in range(n)]
    edges += [(name(i, j), name(i, j + 1)) for i in range(n) for j in range(n - 1)]
    graph = jn.DAG(edges)
    tables = {x: rng.dirichlet([1, 1], [2] * len(graph.parents(x))) for x in graph.nodes}
    return jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph))


# --- what cannot matter is left out ---


def test_a_root_is_asked_for_alone():
    net = jn.examples.load("alarm")
    for root in (x for x in net.graph.nodes if not net.graph.parents(x)):
        found = net.query(root)
        assert last(net) == [[root]]
        np.testing.assert_allclose(found.values, net.cpt(root).values, rtol=1e-14)


def test_only_ancestors_of_what_is_asked_or_known_take_part():
    net = jn.examples.load("asia")
    net.query("lung")
    assert last(net) == [["lung", "smoke"]]
    net.query("smoke", {"lung": "yes"})
    assert last(net) == [["smoke"]]
    net.query("either", {"asia": "yes"})
    assert sorted(x for part in last(net) for x in part) == ["either", "lung", "smoke", "tub"]
    net.log_probability({"smoke": "yes"})
    assert last(net) == []
    net.query("xray", do={"either": "yes"})
    assert last(net) == [["xray"]]


def test_what_evidence_separates_is_apart():
    tables = {"a": [0.3, 0.7], "b": [[0.2, 0.8], [0.6, 0.4]], "c": [[0.1, 0.9], [0.5, 0.5]]}
    net = jn.BayesianNetwork.from_tables("a -> b -> c", tables)
    net.query("c", {"b": 1})
    assert last(net) == [["c"], ["a"]]  # what is asked for comes first


def test_leaving_out_changes_no_answer():
    """Every variable of alarm, alone and with evidence, by its own tree and by that of all."""
    net = jn.examples.load("alarm")
    for given in ({}, {"HRBP": "HIGH", "CO": "LOW", "VENTTUBE": "ZERO"}):
        for name, expected in net.marginals(given).items():
            found = net.query(name, given).values
            np.testing.assert_allclose(found, expected.values, rtol=1e-11)


def test_most_probable_assignments_leave_nothing_out():
    net = jn.examples.load("asia")
    assert len(net.most_probable()) == 8
    assert sorted(x for part in last(net) for x in part) == list(net.graph.nodes)


# --- kept ---


def test_a_form_is_compiled_once(monkeypatch):
    net = jn.examples.load("asia")
    first, other = net.query("lung", {"xray": "yes"}), net.query("lung", {"xray": "no"})
    assert len(net.network_.questions) == 1
    assert first["yes"] > other["yes"]
    monkeypatch.setattr(questions, "Question", None)
    again = net.query("lung", {"xray": "yes"})
    np.testing.assert_array_equal(again.values, first.values)


def test_only_so_many_forms_are_kept(monkeypatch):
    monkeypatch.setattr(questions, "KEPT", 3)
    net = jn.examples.load("asia")
    expected = {x: d.values for x, d in net.marginals().items()}
    for _ in range(2):
        for name in net.states:
            np.testing.assert_allclose(net.query(name).values, expected[name], rtol=1e-13)
            assert len(net.network_.questions) <= 3
    kept = {form.targets for form in net.network_.questions}
    assert kept == {(v,) for v in range(5, 8)}


def test_only_so_much_memory_is_kept(monkeypatch):
    net = jn.examples.load("alarm")
    net.marginals()
    (one,) = net.network_.questions.values()
    assert one.n_bytes > 100_000
    monkeypatch.setattr(questions, "KEPT_BYTES", 3 * one.n_bytes)
    for name in list(net.states)[:8]:
        net.marginals({name: net.states[name][0]})
        assert sum(q.n_bytes for q in net.network_.questions.values()) <= 3 * one.n_bytes
    monkeypatch.setattr(questions, "KEPT_BYTES", 0)
    net.marginals({"HR": "LOW"})
    assert len(net.network_.questions) == 1


@pytest.mark.compiled
def test_two_threads_ask_at_once(monkeypatch):
    """The same question with different states, and different ones, with little room to keep."""
    monkeypatch.setattr(questions, "KEPT", 4)
    net, fresh = jn.examples.load("alarm"), jn.examples.load("alarm")
    rng = np.random.default_rng(0)
    asked = []
    for _ in range(150):
        name = str(rng.choice(["HRBP", "BP", "CO"]))
        asked.append({name: str(rng.choice(net.states[name]))})
    expected = [fresh.query("HYPOVOLEMIA", given).values for given in asked]
    wholes = [fresh.marginals(given)["CVP"].values for given in asked]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda given: net.query("HYPOVOLEMIA", given).values, asked)
        others = pool.map(lambda given: net.marginals(given)["CVP"].values, asked)
        np.testing.assert_array_equal(list(found), expected)
        np.testing.assert_array_equal(list(others), wholes)
    assert len(net.network_.questions) <= 5  # two threads may both have found room for one


def test_what_was_compiled_is_not_copied():
    net = jn.examples.load("asia")
    before = net.query("lung", {"xray": "yes"})
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert other.network_.questions == {}
        found = other.query("lung", {"xray": "yes"})
        np.testing.assert_array_equal(found.values, before.values)


def test_tables_are_not_changed():
    net = jn.examples.load("sprinkler")
    before = net.network_.probabilities.copy()
    net.query(["rain", "cloudy"], {"wet_grass": [0.3, 0.7]}, {"sprinkler": "on"})
    net.most_probable({"wet_grass": [0.3, 0.7]}, k=3)
    net.entropy(given={"rain": [0.5, 0.1]})
    np.testing.assert_array_equal(net.network_.probabilities, before)
    np.testing.assert_array_equal(net.network_.kernel_tables[0], before)


# --- posterior means ---


def test_after_vb_posterior_means_answer():
    table = {"a": ["x", "x", "y", None], "b": ["u", None, "v", "v"]}
    net = jn.BayesianNetwork("a -> b", prior=1.0, method="vbem").fit(table)
    means = {v.name: net.posterior(v.name).mean for v in net.variables}
    by_hand = jn.BayesianNetwork.from_tables(
        net.graph, means, net.states, parents=by_name(net.graph)
    )
    twin = joint.of(by_hand)
    for given in cases.all_evidence(net):
        assert net.probability(given) == pytest.approx(joint.evidence(twin, given), rel=1e-12)
        for x, found in net.marginals(given).items():
            expected = cases.cells(found.variables, joint.posterior(twin, [x], given))
            np.testing.assert_allclose(found.values, expected, rtol=1e-12)


# --- too large ---


def test_a_tree_that_is_too_large_is_refused_with_its_largest_clique():
    jn.set_memory_limit(1e6)
    net = grid(11)
    message = (
        r"the junction tree of 121 unobserved variables, whose largest clique has 1\d variables "
        r"and \S+ entries \(x\d\d\d\d, .*\), would take .* MiB, more than the limit of 976\.6 KiB: "
        r"declare fewer variables hidden, leave out parents, merge states, or give more evidence"
    )
    for ask in (net.marginals, net.most_probable, net.entropy, lambda: net.query("x1010")):
        with pytest.raises(JensenError, match=message):
            ask()
    row = {f"x05{j:02d}": 0 for j in range(11)}  # a row of evidence cuts the grid in two
    assert net.query("x0000", row).values.sum() == pytest.approx(1.0)
    assert dict(net.query("x0000")) == pytest.approx(
        dict(zip("01", net.cpt("x0000").values, strict=True))
    )
    jn.set_memory_limit(None)
    assert net.query("x1010").values.sum() == pytest.approx(1.0)


def test_a_joint_distribution_that_is_too_large_is_refused():
    net = jn.examples.load("alarm")
    names = list(net.states)
    message = (
        r"the joint distribution of ANAPHYLAXIS, ARTCO2, .* \(37 in all\) would take .* TiB, more "
        r"than the limit of .*: ask for fewer variables at once"
    )
    with pytest.raises(JensenError, match=message):
        net.query(names)
    jn.set_memory_limit(1e5)
    with pytest.raises(JensenError, match=r"the joint distribution of ANAPHYLAXIS, .* would take"):
        net.query(names[:10])
    assert net.query(names[:3]).values.sum() == pytest.approx(1.0)


def test_members_of_a_joint_question_may_make_the_tree_too_large():
    """Their table of 2^15 entries would fit, but not a clique of them with what lies between."""
    net = grid(8)
    corners = [f"x{i:02d}{j:02d}" for i in (0, 3, 7) for j in (0, 2, 4, 5, 7)]
    jn.set_memory_limit(8e6)
    with pytest.raises(JensenError, match="the junction tree of 64 unobserved variables, whose la"):
        net.query(corners)


def test_what_is_apart_and_too_large_is_left_out():
    """A grid whose tree takes more than the limit does not matter to what is cut off from it."""
    side = 9
    edges = ["A -> B"]
    for i in range(side):
        for j in range(side):
            edges += [f"g{i}{j} -> g{i + 1}{j}"] * (i + 1 < side)
            edges += [f"g{i}{j} -> g{i}{j + 1}"] * (j + 1 < side)
    graph = jn.DAG("; ".join(edges))
    rng = np.random.default_rng(0)
    tables = {
        x: rng.dirichlet(np.ones(3), [3] * len(graph.parents(x))).tolist() for x in graph.nodes
    }
    net = jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph))
    jn.set_memory_limit(2e6)
    try:
        expected = net.query("A", {"B": 1}).values
        assert np.array_equal(net.query("A", {"B": 1, "g88": 0}).values, expected)
        with pytest.raises(jn.JensenError, match="the junction tree of 80 unobserved variables"):
            net.query("g00", {"g88": 0})
        with pytest.raises(jn.JensenError, match="the junction tree of"):
            net.log_probability({"B": 1, "g88": 0})
    finally:
        jn.set_memory_limit(None)
