"""BIF: what is written comes back, exactly."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from naive import bif as naive
from naive.bif import JAVABAYES, SMALL, assert_same, network, read_both, shipped, table
from naive.bif_damage import small_parts

import jensen as jn
from jensen.data.variable import Variable
from jensen.exceptions import FormatWarning, JensenError
from jensen.inference.network import assemble
from jensen.io import bif, bif_syntax, json_files

NAMES = [
    "alarm",
    "andes",
    "asia",
    "barley",
    "cancer",
    "child",
    "diabetes",
    "earthquake",
    "hailfinder",
    "hepar2",
    "insurance",
    "link",
    "mildew",
    "munin",
    "munin1",
    "munin2",
    "munin3",
    "munin4",
    "pathfinder",
    "pigs",
    "sachs",
    "survey",
    "water",
    "win95pts",
]


# --- round trips ---


def test_pgmpy_ships_24_networks():
    assert sorted(shipped()) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_shipped_networks_come_back_exactly(name):
    net = read_both(shipped()[name])
    assert_same(bif.loads(bif.dumps(net), "x.bif").network_, net.network_)


@pytest.mark.slow
def test_shipped_networks_are_read_in_bulk(monkeypatch):
    monkeypatch.setattr(bif, "parse_body", None)
    monkeypatch.setattr(bif_syntax, "parse_body", None)
    for name in NAMES:
        if name != "child":  # which has a slash in a label
            assert len(bif.loads(shipped()[name], name).graph) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_tables_are_what_the_slow_twin_reads(name):
    text = shipped()[name]
    assert_as_twin(text if len(text) < 60_000 else small_parts(text, 30_000))


@pytest.mark.parametrize(
    "body",
    [
        "(a, c) 1 0; (b, c) 0.5 0.5; (a, d) .25 .75; (b d) 1e-1, 9E-1;",
        "table 0.1, 0.2, 0.3, 0.4, 0.9, 0.8, 0.7, 0.6;",
        "default 0.5, 0.5;",
        "default 0.5, 0.5; (b, c) 0.1, 0.9;",
        "(b, c) 0.1, 0.9; default 0.5, 0.5; property a = b; ( b , d ) 0.2, 0.8;",
        "table 0.1, 0.2, 0.3, 0.4, 0.9, 0.8, 0.7, 0.6; (b, d) 0.25, 0.75; default 1, 0;",
        "( b, d ) 1.0, 0.0; (a,c) 1., 0; ( a, d )0.0, 1.0;(b,c)1,0;",
        "(b, d) /* ) */ 1.0, // 0.5;\n 0.0; (a,c) 1., 0; (a, d) 0.0, 1.0;(b,c)1,0;",
    ],
)
def test_all_forms_of_a_table(body):
    assert_as_twin(
        "network n {} variable x { type discrete [2] {yes, no}; }"
        "variable a1 { type discrete [2] {a, b}; } variable a0 { type discrete [2] {c d}; }"
        "probability (a0) { default 0.25 0.75; } probability (a1) { table 0.5, 0.5; }"
        f"probability (x | a1, a0) {{ {body} }}"
    )


def assert_as_twin(text):
    net = read_both(text)
    states, tables = naive.read(text)
    assert {name: list(labels) for name, labels in net.states.items()} == states
    for name, (parents, values) in tables.items():
        by_name = [*np.argsort(parents), len(parents)] if parents else [0]
        assert net.graph.parents(name) == tuple(sorted(parents))
        np.testing.assert_array_equal(table(net, name), values.transpose(by_name))


def test_a_file_of_javabayes():
    net = read_both(JAVABAYES)
    np.testing.assert_array_equal(table(net, "light-on"), [[0.6, 0.4], [0.05, 0.95]])
    assert net.network_.properties == {
        "name": "Dog-Problem",
        "credal-set constant-density-bounded 1.1": "",
    }
    assert net.network_.variable_properties == {
        "light-on": {"position": "(218, 195)"},
        "family-out": {"position": "(257, 99)"},
    }
    assert_same(read_both(bif.dumps(net)).network_, net.network_)


def test_blocks_in_any_order_and_names_that_are_keywords():
    net = read_both(
        "network network{}probability(table type){(default)0.5,0.5;(property)1,0;}"
        "variable table{type discrete[2]{variable,probability};}"
        "probability(type){table 1 0;}variable type{type discrete[02]{default property};}"
    )
    assert net.states == {"table": ("variable", "probability"), "type": ("default", "property")}
    assert_same(read_both(bif.dumps(net)).network_, net.network_)


def test_rows_that_nearly_sum_to_one_are_kept_as_written():
    net = read_both(SMALL.replace("0.8, 0.2", "0.80001, 0.20005"))
    assert table(net, "rain").tolist() == [0.80001, 0.20005]
    np.testing.assert_allclose(
        net.network_.probabilities[:2], [0.80001 / 1.00006, 0.20005 / 1.00006]
    )
    assert_same(read_both(bif.dumps(net)).network_, net.network_)


def test_an_empty_network():
    net = read_both("network n { }")
    assert len(net.graph) == 0
    assert bif.dumps(net) == "network n {\n}\n"


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='"\r\n'), min_size=1, max_size=8
) | st.sampled_from(
    ["a b", "table", "\\", "//", "/*", "*/", ";", "{}", "(1, 2]", "0", "-1", "é", "="]
)


@st.composite
def networks(draw):
    """Any small network with names that BIF can hold."""
    names = draw(st.lists(TEXTS, unique=True, max_size=4))
    parents = {
        x: draw(st.lists(st.sampled_from(names[:k]), unique=True, max_size=3)) if k else []
        for k, x in enumerate(names)
    }
    dag = jn.DAG.from_parents(parents)
    states = st.lists(TEXTS | st.just(""), unique=True, min_size=1, max_size=4)
    variables = {x: Variable(x, "categorical", tuple(draw(states))) for x in names}
    tables = {}
    for x in names:
        n = variables[x].n_states
        shape = [*(variables[p].n_states for p in dag.parents(x)), n]
        sizes = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-300])
        pool = draw(st.lists(sizes, min_size=n, max_size=n))
        pool[draw(st.integers(0, n - 1))] = 1.0
        rng = np.random.default_rng(draw(st.integers(0, 9)))
        weights = rng.permuted(np.broadcast_to(pool, shape), axis=-1)
        tables[x] = weights / weights.sum(-1, keepdims=True)
    return jn.BayesianNetwork.from_network(assemble(dag, variables, tables))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_any_network_comes_back_exactly(net):
    assert_same(read_both(bif.dumps(net)).network_, net.network_)


# --- properties ---


PROPERTIES = {
    "author": "somebody",
    "position": "(1, 2)",
    "url": "http://a.b/c?d=e",
    "title": 'with "quotes"',
    "set": "{a, b}",
    "note": "first; second",
    "flag": "",
    "// no comment": "/* nor here */",
}


def test_properties_come_back():
    net = network("A", {"A": ["a", "b"]}, {"name": "my net", **PROPERTIES}, {"A": PROPERTIES})
    again = read_both(bif.dumps(net))
    assert again.network_.properties == {"name": "my net", **PROPERTIES}
    assert again.network_.variable_properties == {"A": PROPERTIES}
    assert bif.dumps(net).startswith('network "my net" {\n  property author = somebody;\n')


@pytest.mark.parametrize("name", ["unknown", 'with "quotes"'])
def test_a_name_that_cannot_stand_after_network_is_a_property(name):
    net = network("A", {"A": ["a", "b"]}, {"name": name})
    assert f"network unknown {{\n  property name = {name};" in bif.dumps(net)
    assert read_both(bif.dumps(net)).network_.properties == {"name": name}


def test_properties_with_one_key_are_all_kept():
    text = SMALL.replace("{\n}", "{ property by = A; property by = B; property by = A; }")
    net = read_both(text)
    assert net.network_.properties == {"by": "A", "by = B": ""}
    assert read_both(bif.dumps(net)).network_.properties == net.network_.properties


def test_properties_of_a_table_belong_to_its_variable():
    net = read_both(SMALL.replace("table 0.8", "property source = me; table 0.8"))
    assert net.network_.variable_properties == {"rain": {"source": "me"}}


def test_json_keeps_the_properties_of_variables():
    net = network("A -> B", {"A": "xy", "B": "xyz"}, None, {"B": PROPERTIES})
    again = json_files.loads(json_files.dumps(net), "x.json")
    assert again.network_.variable_properties == {"B": PROPERTIES}


# --- what cannot be written ---


def test_a_posterior_is_left_out_with_a_warning():
    table = jn.Table({"A": ["x", "y", "y"], "B": ["u", "v", "v"]})
    net = jn.BayesianNetwork("A -> B", prior="bdeu").fit(table)
    with pytest.warns(FormatWarning) as caught:
        text = bif.dumps(net)
    assert [str(w.message) for w in caught] == [
        "BIF cannot hold the posterior (the probabilities are kept); a file that ends in .json can"
    ]
    again = read_both(text)
    assert again.network_.tables.tobytes() == net.network_.tables.tobytes()
    assert again.network_.concentration is None


def test_cut_points_are_left_out_with_a_warning(full_net):
    net = network("A", {"A": ["low", "high"]}, cuts={"A": (1.5,)})
    with pytest.warns(
        FormatWarning, match="^BIF cannot hold the cut points of A; a file that ends"
    ):
        bif.dumps(net)
    every = r"^BIF .* the posterior \(.*\) and the cut points of height and the properties title; a"
    with pytest.warns(FormatWarning, match=every) as caught:
        bif.dumps(full_net)
    assert len(caught) == 1


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\rb"])
def test_names_that_bif_cannot_hold_are_refused(name):
    for net in (
        network([(name, "B")], {name: "xy", "B": "xy"}),
        network("A", {"A": [name, "b"]}),
    ):
        with pytest.raises(JensenError, match=r"^BIF cannot hold the name .*ends in \.json can$"):
            bif.dumps(net)


@pytest.mark.parametrize("text", ['"a"; b', '"a" }', "a\nb", "a\rb"])
def test_a_property_that_bif_cannot_hold_is_left_out_with_a_warning(text):
    net = network("A", {"A": "xy"}, {"by": "me", "note": text}, {"A": {"name": text}})
    told = r"^BIF cannot hold the properties note, name; a file that ends in \.json can$"
    with pytest.warns(FormatWarning, match=told):
        written = bif.dumps(net)
    assert read_both(written).network_.properties == {"by": "me"}


def test_a_zero_keeps_its_sign():
    tables = {"A": np.array([0.0, 1.0]), "B": np.array([[0.0, 1.0], [-0.0, 1.0]])}
    variables = {name: Variable(name, "categorical", ("x", "y")) for name in tables}
    net = jn.BayesianNetwork.from_network(assemble(jn.DAG("A -> B"), variables, tables))
    assert_same(read_both(bif.dumps(net)).network_, net.network_)


def test_files_are_found_by_their_suffix(tmp_path):
    net = read_both(shipped()["asia"])
    net.save(tmp_path / "asia.bif")
    assert jn.load(tmp_path / "asia.bif").equals(net)
