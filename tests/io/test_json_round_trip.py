"""What is saved comes back, every bit of it."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from naive.files import editable, without_checksum

import jensen as jn
from jensen import io
from jensen.data.variable import Variable
from jensen.estimators import reports
from jensen.estimators.network_kinds import TABLES
from jensen.exceptions import FormatWarning
from jensen.families.dirichlet import dirichlet
from jensen.inference import network_files
from jensen.inference.network import assemble

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        '"',
        "\\",
        "a b",
        "two\nlines",
        "\t",
        "é",
        "日本",
        "A -> B",
        "__proto__",
        "\x00",
        "\u2028",
        "0",
    ]
)
LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
EXTREMES = st.sampled_from([0.0, 5e-324, 2.2250738585072014e-308, 1 - 2**-53, 1.0, 0.1, 1 / 3])
POSITIVE = st.floats(min_value=5e-324, max_value=1e300)
quick = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def rows(draw, n_states):
    """Probabilities that sum to one within the tolerance of the format."""
    if n_states == 1:
        return [draw(st.sampled_from([1.0, 1 - 2**-53, 1.00005]))]
    first = draw(EXTREMES | st.floats(0.0, 1.0))
    weights = draw(st.lists(st.integers(1, 9), min_size=n_states - 1, max_size=n_states - 1))
    return [first, *((1.0 - first) * w / sum(weights) for w in weights)]


@st.composite
def networks(draw):
    """Any small network: graph, names, labels, tables, posteriors, cuts, properties."""
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    parents = {
        x: draw(st.lists(st.sampled_from(names[:k]), unique=True, max_size=2)) if k else []
        for k, x in enumerate(names)
    }
    graph = jn.DAG.from_parents(parents)
    variables = {}
    for x in names:
        states = draw(st.lists(LABELS, unique=True, min_size=1, max_size=3))
        numbers = st.floats(allow_nan=False, allow_infinity=False)
        n_cuts = len(states) - 1
        cuts = st.lists(numbers, unique=True, min_size=n_cuts, max_size=n_cuts)
        chosen = draw(st.none() | cuts.map(sorted).map(tuple))
        variables[x] = Variable(x, "categorical", tuple(states), chosen)

    def table(x, row):
        shape = [variables[p].n_states for p in graph.parents(x)]
        n = math.prod(shape)
        return np.array(draw(st.lists(row, min_size=n, max_size=n))).reshape([*shape, -1])

    tables = {x: table(x, rows(variables[x].n_states)) for x in names}
    posterior = None
    if draw(st.booleans()) and names:
        k = {x: variables[x].n_states for x in names}
        posterior = {x: table(x, st.lists(POSITIVE, min_size=k[x], max_size=k[x])) for x in names}
        tables = {x: dirichlet.share(posterior[x]) for x in names}
    properties = draw(st.dictionaries(LABELS, LABELS, max_size=2))
    notes = st.dictionaries(LABELS, LABELS, min_size=1, max_size=2)
    of_variables = {x: draw(notes) for x in names[:1]}
    return assemble(graph, variables, tables, posterior, properties, of_variables)


def same_bits(a, b):
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def same_number(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def assert_same(net, again):
    one, other = net.network_, again.network_
    assert one.graph == other.graph
    assert one.variables == other.variables
    assert same_bits(one.tables, other.tables)
    assert same_bits(one.concentration, other.concentration)
    assert same_bits(one.samples, other.samples)
    assert dict(one.properties) == dict(other.properties)
    assert one.variable_properties == other.variable_properties
    assert net.equals(again)
    assert again.method == net.method
    assert again.equivalent_sample_size == net.equivalent_sample_size
    for name in ("hidden", *reports.WHOLE, "tol"):
        assert getattr(again, name) == getattr(net, name)
    assert hasattr(again, "free_energy_") == hasattr(net, "free_energy_")
    if hasattr(net, "free_energy_"):
        assert same_number(again.free_energy_, net.free_energy_)
        assert same_bits(again.trace_, net.trace_)
        assert again.trace_.shape == net.trace_.shape
        assert same_bits(again.starts_, net.starts_)
        for name in ("r_hat_", "effective_sample_size_"):
            assert same_number(getattr(again, name), getattr(net, name))
        learned = ("is_bound_", "n_sweeps_", "converged_")
        assert [getattr(again, x) for x in learned] == [getattr(net, x) for x in learned]


@pytest.mark.slow
@quick
@given(networks())
def test_every_network_comes_back_to_the_bit(network):
    net = jn.BayesianNetwork.from_network(network)
    content = io.to_bytes(net)
    assert_same(net, io.from_bytes(content, "memory"))
    assert io.to_bytes(io.from_bytes(content, "memory")) == content
    json.loads(content.decode("utf-8"))


@pytest.mark.slow
@quick
@given(networks())
def test_parents_may_stand_in_any_order(network):
    net = jn.BayesianNetwork.from_network(network)
    document = editable(io.to_bytes(net))
    for entry in document["variables"]:
        n = len(entry["parents"])
        entry["parents"].reverse()
        for member in {"table", "posterior"} & entry.keys():
            array = np.array(entry[member]).transpose([*reversed(range(n)), n])
            entry[member] = array.tolist()
    document["variables"].reverse()
    content = json.dumps(document).encode()
    assert_same(net, io.from_bytes(content, "memory"))


PRIORS = {
    "flat": (None, None),
    "a number": (2.5, None),
    "a whole number": (3, None),
    "numpy's number": (np.float32(0.1), None),
    "a fraction": (Fraction(1, 3), None),
    "bdeu": ("bdeu", None),
    "bds": ("bds", None),
    "k2": ("k2", "vbem"),
    "the mode": (2.0, "em"),
    "numbers by variable": ({"a": 1, "b": 0.1}, None),
    "arrays": ({"a": np.array([1e-9, 5.0]), "b": np.array([[0.1, 0.2], [0.3, 1 / 3]])}, "vbem"),
    "lists": ({"a": [np.int64(2), 3], "b": [[2, 3], (4.5, np.float32(5))]}, "em"),
    "one row for all": ({"a": np.float64(2.0), "b": [2.0, 3.0]}, "em"),
}


@pytest.mark.parametrize(("prior", "method"), PRIORS.values(), ids=PRIORS)
def test_every_prior_comes_back(prior, method, tmp_path):
    table = {"a": ["n", "n", "y", "y", "y"], "b": [0, 1, 0, 1, 1]}
    net = jn.BayesianNetwork("a -> b", prior=prior, method=method).fit(table)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert_same(net, again)
    if isinstance(prior, dict):
        assert again.prior.keys() == prior.keys()
        for name, value in prior.items():
            np.testing.assert_array_equal(again.prior[name], np.asarray(value, np.float64))
    else:
        assert again.prior == (float(prior) if isinstance(prior, Fraction) else prior)
    refitted = again.fit(table)
    assert_same(net, refitted)


@pytest.mark.parametrize("size", [10, np.int64(10), np.float32(0.1), 1e-3])
def test_the_equivalent_sample_size_comes_back(size):
    net = jn.BayesianNetwork("a", prior="bdeu", equivalent_sample_size=size).fit({"a": [0, 1]})
    again = io.from_bytes(io.to_bytes(net), "memory")
    assert again.equivalent_sample_size == float(size)
    assert_same(net, again)


def test_all_of_a_full_file_comes_back(full_net, tmp_path):
    path = tmp_path / "full.json"
    full_net.save(str(path))
    again = jn.load(str(path))
    assert_same(full_net, again)
    assert again.network_.properties == {"title": 'with "quotes"\nand lines', "source": "日本"}
    assert again.variables[0].cuts == (1.5, 1.75)
    assert again.posterior("sex").concentration.tolist() == [4.5, 2.5]
    np.testing.assert_array_equal(again.prior["sex"], [1.5, 0.5])
    assert "日本".encode() in path.read_bytes()


def test_tables_are_read_at_once_and_number_by_number_alike(full_net, monkeypatch):
    content = io.to_bytes(full_net)
    with monkeypatch.context() as patch:
        patch.setattr(network_files, "_nested_table", None)
        at_once = io.from_bytes(content, "memory")
    monkeypatch.setattr(network_files, "_table_at_once", lambda value, shape: None)
    assert_same(at_once, io.from_bytes(content, "memory"))


def test_whole_numbers_are_probabilities_too():
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.5, 0.5]]})
    text = without_checksum(io.to_bytes(net)).decode()
    assert_same(net, io.from_bytes(text.replace("[1.0, 0.0]", "[1, 0]").encode(), "memory"))


def test_rows_off_by_little_are_kept_as_written_and_normalised_in_use():
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.5, 0.5]})
    text = without_checksum(io.to_bytes(net)).decode()
    net = io.from_bytes(text.replace("[0.5, 0.5]", "[0.3333, 0.66660001]").encode(), "memory")
    assert net.network_.tables.tolist() == [0.3333, 0.66660001]
    assert b"[0.3333, 0.66660001]" in io.to_bytes(net)
    p = net.cpt("a")[()]
    assert p["0"] == pytest.approx(0.3333 / 0.99990001, rel=1e-15)
    np.testing.assert_allclose(sum(p.values()), 1.0, rtol=1e-15)
    np.testing.assert_allclose(net.log_likelihood({"a": [0]}), np.log(p["0"]), rtol=1e-15)


def test_a_byte_order_mark_is_no_fault(full_net):
    assert_same(full_net, io.from_bytes(b"\xef\xbb\xbf" + io.to_bytes(full_net), "memory"))


def test_an_upper_case_suffix_is_a_suffix(full_net, tmp_path):
    full_net.save(tmp_path / "NET.JSON")
    assert_same(full_net, jn.load(tmp_path / "NET.JSON"))


def test_a_network_without_variables_comes_back():
    net = jn.BayesianNetwork.from_tables([], {})
    assert_same(net, io.from_bytes(io.to_bytes(net), "memory"))


# --- learned from rows with holes ---

HOLES = {"a": ["n", "n", "y", "y", None], "b": [0, None, 0, 1, 1]}
METHODS = {
    "em": {"max_iter": 50, "tol": 1e-3},
    "vbem": {"prior": 1.0, "n_init": 3, "hidden": {"c": 2}},
    "viterbi": {"prior": 2.0},
    "me": {"prior": 0.5, "hidden": {"c": ["u", "v"]}},
    "stochastic-em": {"n_samples": 20, "burn_in": 5, "n_chains": 2},
    "gibbs": {"prior": 1.0, "n_samples": 12, "burn_in": 0, "n_chains": 3, "thin": 2},
}


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
@pytest.mark.parametrize(("method", "choices"), METHODS.items(), ids=METHODS)
def test_every_method_comes_back(method, choices, tmp_path):
    graph = "a -> b; c -> a" if "hidden" in choices else "a -> b"
    net = jn.BayesianNetwork(graph, method=method, random_state=3, **choices).fit(HOLES)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert_same(net, again)
    assert again.random_state == 3
    assert io.to_bytes(again) == io.to_bytes(net)
    assert_same(net, again.fit(HOLES))


def test_samples_answer_queries_as_before(chain_net):
    again = io.from_bytes(io.to_bytes(chain_net), "memory")
    assert_same(chain_net, again)
    one, other = (net.query("c", {"b": "y"}, interval=0.9) for net in (chain_net, again))
    assert one.values.tolist() == other.values.tolist()
    assert one.interval.lower.tolist() == other.interval.lower.tolist()


def test_networks_with_other_samples_are_not_equal(chain_net):
    network = chain_net.network_
    for samples in (None, network.samples[:-1], network.samples[::-1]):
        assert not network.equals(replace(network, samples=samples))
        assert not replace(network, samples=samples).equals(network)
    assert network.equals(replace(network, samples=network.samples + 1e-9), tolerance=1e-8)


def test_parents_of_samples_may_stand_in_any_order(chain_net):
    document = editable(io.to_bytes(chain_net))
    (entry,) = [v for v in document["variables"] if v["name"] == "c"]
    assert entry["parents"] == ["a", "b"]
    entry["parents"] = ["b", "a"]
    entry["table"] = np.array(entry["table"]).transpose(1, 0, 2).tolist()
    entry["samples"] = np.array(entry["samples"]).transpose(0, 2, 1, 3).tolist()
    assert_same(chain_net, io.from_bytes(json.dumps(document).encode(), "memory"))


def test_samples_are_read_at_once_and_number_by_number_alike(chain_net, monkeypatch):
    content = io.to_bytes(chain_net)
    monkeypatch.setattr(network_files, "_table_at_once", lambda value, shape: None)
    assert_same(chain_net, io.from_bytes(content, "memory"))


def test_a_file_says_nothing_of_choices_that_are_as_usual():
    net = jn.BayesianNetwork("a").fit({"a": [0, 1]})
    document = editable(io.to_bytes(net))
    assert document["choices"].keys() == reports.needed(TABLES.stored)
    assert document["learned"].keys() == set(reports.LEARNED)
    again = io.from_bytes(io.to_bytes(net), "memory")
    assert again.starts_.tolist() == [net.free_energy_]
    assert math.isnan(again.r_hat_)


@pytest.mark.parametrize(
    ("given", "stored"),
    [(5, 5), (np.int64(5), 5), (None, None), (np.random.default_rng(0), None)],
)
def test_a_seed_is_stored_and_a_generator_is_not(given, stored):
    net = jn.BayesianNetwork("a", random_state=given).fit({"a": [0, 1, None]})
    assert io.from_bytes(io.to_bytes(net), "memory").random_state == stored


def test_the_start_is_not_stored():
    first = jn.BayesianNetwork("a").fit({"a": [0, 1]})
    net = jn.BayesianNetwork("a", start=first).fit({"a": [0, 1, 1]})
    assert io.from_bytes(io.to_bytes(net), "memory").start is None


def test_what_is_no_number_comes_back(chain_net):
    chain_net.r_hat_, chain_net.effective_sample_size_ = math.inf, math.nan
    content = io.to_bytes(chain_net)
    learned = editable(content)["learned"]
    assert learned["r_hat"] == "inf"
    assert learned["free_energy"] is None
    assert "effective_sample_size" not in learned
    assert_same(chain_net, io.from_bytes(content, "memory"))


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xmlbif", ".uai", ".dsc", ".xdsl"])
def test_other_formats_warn_that_samples_are_lost(chain_net, suffix, tmp_path):
    with pytest.warns(FormatWarning, match=r"the samples of the posterior \(their mean is kept"):
        chain_net.save(tmp_path / f"net{suffix}")
    if suffix != ".uai":
        means = jn.BayesianNetwork.from_tables(
            chain_net.graph,
            {x: chain_net.cpt(x) for x in chain_net.graph.nodes},
            chain_net.states,
        )
        assert jn.load(tmp_path / f"net{suffix}").equals(means, tolerance=1e-9)
