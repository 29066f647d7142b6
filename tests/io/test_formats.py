"""All formats in one table: what is written comes back, exactly; and other programs read it."""

import re
import warnings
from importlib import import_module

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from naive.bif import network, shipped, table

import jensen as jn
from jensen import io
from jensen.data.variable import Variable, sort_naturally
from jensen.exceptions import FormatWarning, JensenError
from jensen.inference.network import assemble
from jensen.io import bif, dsc, net, peers, uai, xdsl, xmlbif

pytestmark = pytest.mark.filterwarnings("ignore:UAI cannot hold the names of variables and states")

FORMATS = {
    name.removesuffix("_files"): import_module(f"jensen.io.{name}")
    for name in dict.fromkeys(io.FORMATS.values())
}
OURS = {name: module for name, module in FORMATS.items() if name not in ("json", "bif")}


def again(module, made):
    return module.loads(module.dumps(made), "x")


def shipped_net(name):
    return bif.loads(shipped()[name], name)


def numbered(made):
    """The same network with the names that UAI gives."""
    names = sort_naturally(made.graph.nodes)
    index = {name: str(k) for k, name in enumerate(names)}
    by_index = {index[name]: name for name in names}
    parents = {index[x]: [index[p] for p in made.graph.parents(x)] for x in names}
    dag = jn.DAG.from_parents(parents)
    variables, tables = {}, {}
    for x, name in by_index.items():
        variables[x] = Variable(x, "categorical", tuple(map(str, range(len(made.states[name])))))
        axes = made.graph.parents(name)
        order = [axes.index(by_index[p]) for p in dag.parents(x)]
        tables[x] = table(made, name).transpose([*order, len(axes)])
    return jn.BayesianNetwork.from_network(assemble(dag, variables, tables))


def assert_same_tables(one, other):
    assert one.equals(other)
    assert one.network_.tables.tobytes() == other.network_.tables.tobytes()


# --- round trips ---


@pytest.mark.parametrize("name", ["asia", "cancer", "alarm", "child", "hepar2", "water"])
@pytest.mark.parametrize("form", FORMATS)
def test_networks_come_back_exactly(form, name):
    made = shipped_net(name)
    expected = numbered(made) if form == "uai" else made
    assert_same_tables(again(FORMATS[form], made), expected)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6) | st.sampled_from(
    ["a b", "%", "\\", "\\n", "//", "/*", ";", "{}", "(1, 2]", "0", "é", "=", "&lt;", "<a>", "]]>"]
)
IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
PLAIN = TEXTS.map(lambda text: text.replace('"', "").strip())


@st.composite
def networks(draw, names, states):
    """Any small network with such names and states."""
    nodes = draw(st.lists(names.filter(bool), unique=True, max_size=4))
    parents = {
        x: draw(st.lists(st.sampled_from(nodes[:k]), unique=True, max_size=3)) if k else []
        for k, x in enumerate(nodes)
    }
    dag = jn.DAG.from_parents(parents)
    labels = st.lists(states, unique=True, min_size=1, max_size=3)
    variables = {x: Variable(x, "categorical", tuple(draw(labels))) for x in nodes}
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    tables = {}
    for x in nodes:
        shape = [variables[p].n_states for p in dag.parents(x)]
        tables[x] = rng.dirichlet(0.01 + rng.random(variables[x].n_states), shape)
    return jn.BayesianNetwork.from_network(assemble(dag, variables, tables))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_network_comes_back_exactly(data):
    for form, states in {"net": TEXTS, "xdsl": TEXTS, "dsc": PLAIN}.items():
        made = data.draw(networks(IDENTIFIERS, states))
        assert_same_tables(again(OURS[form], made), made)
    made = data.draw(networks(PLAIN, PLAIN))
    assert_same_tables(again(xmlbif, made), made)
    assert_same_tables(again(uai, made), numbered(made))


@pytest.mark.parametrize("form", FORMATS)
def test_rows_that_nearly_sum_to_one_are_kept_as_written(form):
    made = jn.BayesianNetwork.from_tables("A", {"A": [0.80001, 0.20005]})
    found = again(FORMATS[form], made)
    assert found.network_.tables.tolist() == [0.80001, 0.20005]
    np.testing.assert_allclose(found.network_.probabilities.sum(), 1, rtol=1e-15)


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_network_comes_back(form):
    assert len(again(FORMATS[form], network([], {})).graph) == 0


def test_numbers_are_names_for_uai_and_stay_so():
    made = again(uai, shipped_net("alarm"))
    assert made.graph.nodes[:3] == ("0", "1", "10")
    assert_same_tables(again(uai, made), made)


@pytest.mark.parametrize("form", OURS)
def test_the_content_tells_the_format(form):
    for name in ("asia", "alarm"):
        for other, module in FORMATS.items():
            text = module.dumps(shipped_net(name))
            assert OURS[form].looks_like(text) == (form == other)
    for text in (
        "",
        " ",
        "{",
        "<html>",
        "net",
        "net n\n{\n}",
        "network n {}",
        "belief",
        "BAYESIAN 2",
    ):
        assert not OURS[form].looks_like(text)


# --- the order of the numbers ---


ROWS = [f"0.{k} 0.{10 - k}" for k in range(1, 7)]  # b slowest, then a, x fastest
NUMBERS = " ".join(ROWS)
HEAD = (
    'node a { states = ("0" "1" "2"); } node b { states = ("0" "1"); } node x { states = (0 1); }'
)
SAME = {
    "net": f"net {{}} {HEAD} potential (a) {{ data = (0.5 0.25 0.25); }}"
    f"potential (b |) {{ data = (0.5 0.5); }} potential ( x | b a ) {{ data = "
    f"((({ROWS[0]})({ROWS[1]})({ROWS[2]}))(({ROWS[3]})({ROWS[4]})({ROWS[5]}))); }}",
    "flat net": f"net {{}} {HEAD} potential (a) {{ data = (0.5 0.25 0.25); }}"
    f"potential (b) {{ data = (0.5, 0.5); }} potential (x | b a) {{ data = ({NUMBERS}); }}",
    "dsc": 'belief network node a { type : discrete[3] = {"0", "1", "2"}; }'
    'node b { type:discrete[2]={"0" "1"}; } node x { type : discrete [ 2 ] = { 0, 1 }; }'
    "probability ( a ) { 0.5, 0.25, 0.25; } probability (b) { 0.5 0.5; } probability ( x | b, a ) {"
    + "".join(f"({k // 3}, {k % 3}) : {ROWS[k]};" for k in (5, 1, 2, 3, 4, 0))
    + "}",
    "flat dsc": 'belief network "n" node a { type : discrete[3] = {"0", "1", "2"}; }'
    'node b { type:discrete[2]={"0" "1"}; } node x { type : discrete [ 2 ] = { 0, 1 }; }'
    "probability ( a ) { 0.5, 0.25, 0.25; } probability (b) { 0.5 0.5; } probability ( x | b, a ) {"
    + "".join(f"{row}; " for row in ROWS)
    + "}",
    "xmlbif": "<BIF><NETWORK>"
    + "".join(
        f"<VARIABLE><NAME>{x}</NAME><OUTCOME>{'</OUTCOME><OUTCOME>'.join(states)}</OUTCOME></VARIABLE>"
        for x, states in (("a", "012"), ("b", "01"), ("x", "01"))
    )
    + "<DEFINITION><FOR>a</FOR><TABLE>0.5 0.25 0.25</TABLE></DEFINITION>"
    "<DEFINITION><FOR>b</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>"
    f"<DEFINITION><FOR>x</FOR><GIVEN>b</GIVEN><GIVEN>a</GIVEN><TABLE>{NUMBERS}</TABLE></DEFINITION>"
    "</NETWORK></BIF>",
    "xdsl": '<smile><nodes><cpt id="a"><state id="0"/><state id="1"/><state id="2"/>'
    '<probabilities>0.5 0.25 0.25</probabilities></cpt><cpt id="b"><state id="0"/><state id="1"/>'
    '<probabilities>0.5 0.5</probabilities></cpt><cpt id="x"><state id="0"/><state id="1"/>'
    f"<parents>b a</parents><probabilities>{NUMBERS}</probabilities></cpt></nodes></smile>",
    "uai": f"BAYES 3\n3 2 2\n3\n1 0\n1 1\n3 1 0 2\n\n3 0.5 0.25 0.25\n2 0.5 0.5\n12 {NUMBERS}\n",
}


@pytest.mark.parametrize("form", SAME)
def test_the_first_parent_runs_slowest_and_the_variable_fastest(form):
    found = OURS[form.split()[-1]].loads(SAME[form], "x")
    a, x = ("0", "2") if form == "uai" else ("a", "x")
    assert found.states[a] == ("0", "1", "2")
    np.testing.assert_array_equal(table(found, a), [0.5, 0.25, 0.25])
    for i, j in np.ndindex(2, 3):  # of b and a
        p = [round(0.1 * (3 * i + j + 1), 1), round(1 - 0.1 * (3 * i + j + 1), 1)]
        np.testing.assert_array_equal(table(found, x)[j, i], p)


# --- files as other programs write them ---


HUGIN = r"""% made by hand, as Hugin writes
net
{
    node_size = (80 40);
    HR_Grid_X = "10";
    HR_Desc = "first line\n\
second \"line\"";
}
discrete node C
{
    label = "a % of C";
    position = (10 -20);
    states = ("true" "no; \\ never");
    subtype = boolean;
    state_values = (1 2.5);
    HR_State_0 = "";
}
potential (C)
{
    data = ( 0.25   % true
             0.75 );  % never
    experience = ( 10 );
}
"""
JAVABAYES = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- Bayesian network in XMLBIF v0.3 -->
<!DOCTYPE BIF [
    <!ELEMENT BIF ( NETWORK )*>
          <!ATTLIST BIF VERSION CDATA #REQUIRED>
    <!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
          <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog_Problem</NAME>
<PROPERTY>author = a &lt; b</PROPERTY>
<VARIABLE TYPE="nature">
    <NAME>light_on</NAME>
    <OUTCOME>true</OUTCOME>
    <OUTCOME>false</OUTCOME>
    <PROPERTY>position = (73,165)</PROPERTY>
</VARIABLE>
<VARIABLE><NAME> out </NAME><OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME></VARIABLE>
<DEFINITION>
    <FOR>light_on</FOR>
    <GIVEN>out</GIVEN>
    <TABLE>0.6 0.4 <!-- out --> 0.05 0.95 </TABLE>
    <PROPERTY>source = me</PROPERTY>
</DEFINITION>
<DEFINITION><FOR>out</FOR><TABLE>0.15 0.85</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""
GENIE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- This network was created in GeNIe Academic -->
<smile version="1.0" id="Network1" numsamples="10000" discsamples="10000">
	<nodes>
		<cpt id="rain" diagtype="observation" ranked="true">
			<state id="no" default="true" />
			<state id="yes" />
			<probabilities>0.75 0.25</probabilities>
			<property id="unit">mm</property>
		</cpt>
		<deterministic id="wet">
			<state id="dry" />
			<state id="soaked" />
			<parents>rain</parents>
			<resultingstates>dry soaked</resultingstates>
		</deterministic>
	</nodes>
	<extensions>
		<genie version="1.0" app="GeNIe 2.1" name="Rain and more" faultnameformat="nodestate">
			<node id="rain">
				<name>Will it rain?</name>
				<interior color="e5f6f7" />
				<position>100 50 181 90</position>
			</node>
			<textbox><caption>hello</caption></textbox>
		</genie>
	</extensions>
</smile>
"""
MSBN = """/* a diagnosis */ belief network "Sub0"
properties
{
    version : 1;
    creator : "somebody";
    type standard = choice of [ "a", "b" ], "text";
}
node N2
{
    name : "Age";
    type : discrete[2] =
    {
        "S_0_72",
        "S_73_inf"
    };
    position : (207, 95);
    kind : chance;
}
probability (N2)
{
    0.43820000, 0.56180000;  // sums to one
}
"""


def test_a_file_of_hugin():
    found = net.loads(HUGIN, "x.net")
    assert found.states == {"C": ("true", "no; \\ never")}
    assert table(found, "C").tolist() == [0.25, 0.75]
    assert found.network_.properties == {
        "node_size": "(80 40)",
        "HR_Grid_X": "10",
        "HR_Desc": 'first line\nsecond "line"',
    }
    assert found.network_.variable_properties["C"] == {
        "label": "a % of C",
        "position": "(10, -20)",
        "subtype": "boolean",
        "state_values": "(1 2.5)",
        "HR_State_0": "",
    }
    text = net.dumps(found)
    for line in ("position = (10 -20);", "subtype = boolean;", "state_values = (1 2.5);"):
        assert line in text
    assert_same_properties(net.loads(text, "x.net"), found)


def test_a_file_of_javabayes():
    found = xmlbif.loads(JAVABAYES, "x.xml")
    assert found.graph == jn.DAG("out -> light_on")
    assert table(found, "light_on").tolist() == [[0.6, 0.4], [0.05, 0.95]]
    assert found.network_.properties == {"name": "Dog_Problem", "author": "a < b"}
    assert found.network_.variable_properties == {
        "light_on": {"position": "(73, 165)", "source": "me"}
    }


def test_a_file_of_genie():
    found = xdsl.loads(GENIE, "x.xdsl")
    assert table(found, "wet").tolist() == [[1, 0], [0, 1]]
    assert found.network_.properties == {"name": "Rain and more"}
    assert found.network_.variable_properties == {
        "rain": {"label": "Will it rain?", "position": "(140, 70)", "unit": "mm"}
    }
    assert_same_properties(again(xdsl, found), found)


def test_a_file_of_msbn():
    found = dsc.loads(MSBN, "x.dsc")
    assert table(found, "N2").tolist() == [0.4382, 0.5618]
    assert found.network_.properties == {"name": "Sub0"}
    assert found.network_.variable_properties == {
        "N2": {"label": "Age", "position": "(207, 95)", "kind": "chance"}
    }


# --- properties ---


PROPERTIES = {"label": 'a "label" \\ of A\n& more', "position": "(1, -2)"}
MORE = {"HR_Color": "3", "url": "http://a.b/c?d=e%;"}


def assert_same_properties(one, other):
    assert one.network_.properties == other.network_.properties
    assert one.network_.variable_properties == other.network_.variable_properties


@pytest.mark.parametrize("form", ["json", "net", "xmlbif", "xdsl"])
def test_properties_come_back(form):
    made = network("A", {"A": "xy"}, {"name": "my net", **MORE}, {"A": {**PROPERTIES, **MORE}})
    assert_same_properties(again(FORMATS[form], made), made)


def test_labels_and_positions_survive_from_format_to_format():
    own = {"A": {"label": "the A", "position": "(1, -2)"}}
    made = network("A -> B", {"A": "xy", "B": "xyz"}, {"name": "mine"}, own)
    found = made
    for form in ("net", "json", "net", "bif", "xmlbif", "xdsl", "dsc", "net"):
        found = again(FORMATS[form], found)
        assert_same_properties(found, made)
    assert net.dumps(found) == net.dumps(made)


@pytest.mark.parametrize(
    ("form", "lost"),
    [("net", "no key, states"), ("xdsl", "no key"), ("dsc", "author, no key, states")],
)
def test_properties_that_a_format_cannot_hold_are_left_out_with_a_warning(form, lost):
    own = {"A": {"label": "the A", "no key": "x", "states": "y"}}
    made = network("A", {"A": "xy"}, {"name": "mine", "author": "me"}, own)
    message = f"{form.upper()} cannot hold the properties {lost}; a file that ends in .json can"
    with pytest.warns(FormatWarning) as caught:
        text = OURS[form].dumps(made)
    assert [str(w.message) for w in caught] == [message]
    assert OURS[form].loads(text, "x").network_.variable_properties["A"]["label"] == "the A"


@pytest.mark.parametrize("form", OURS)
def test_a_posterior_and_cut_points_are_left_out_with_one_warning(form):
    data = jn.Table({"A": ["x", "y", "y"], "B": ["u", "v", "v"]})
    made = jn.BayesianNetwork("A -> B", prior="bdeu").fit(data)
    known = made.network_
    variables = {v.name: v for v in known.variables}
    variables["A"] = Variable("A", "categorical", ("x", "y"), (1.5,))
    parts = [{x: known.part(x, flat) for x in "AB"} for flat in (known.tables, known.concentration)]
    made.network_ = assemble(known.graph, variables, *parts)
    with pytest.warns(FormatWarning) as caught:
        text = OURS[form].dumps(made)
    names = "the names of variables and states (they become numbers) and " if form == "uai" else ""
    assert [str(w.message) for w in caught] == [
        f"{form.upper()} cannot hold {names}the posterior (the probabilities are kept) and the cut "
        f"points of A; a file that ends in .json can"
    ]
    found = OURS[form].loads(text, "x").network_
    assert found.tables.tobytes() == known.tables.tobytes()
    assert found.concentration is None


@pytest.mark.parametrize(
    ("form", "name", "message"),
    [
        *(
            (form, name, f"^{form.upper()} cannot hold the name .* in .json can$")
            for form in ("net", "dsc", "xdsl")
            for name in ("a b", "1a", "é", "a-b", "a\nb")
        ),
        ("xmlbif", " a", "^XMLBIF cannot hold the name ' a', because of the white space around it"),
        (
            "xmlbif",
            "a\x01",
            r"^XMLBIF cannot hold the text 'a\\x01', because of control characters",
        ),
    ],
)
def test_names_that_a_format_cannot_hold_are_refused(form, name, message):
    with pytest.raises(JensenError, match=message):
        OURS[form].dumps(network([(name, "B")], {name: "xy", "B": "xy"}))


@pytest.mark.parametrize(
    ("form", "state", "message"),
    [
        (
            "dsc",
            'a"b',
            "^DSC cannot hold the text 'a\"b', because of a quote or a line break in it",
        ),
        ("dsc", "a\nb", r"^DSC cannot hold the text 'a\\nb'"),
        ("xmlbif", "a ", "^XMLBIF cannot hold the name 'a '"),
        ("xdsl", "\x00", "^XDSL cannot hold the text"),
    ],
)
def test_states_that_a_format_cannot_hold_are_refused(form, state, message):
    with pytest.raises(JensenError, match=message):
        OURS[form].dumps(network("A", {"A": [state, "b"]}))


# --- pyAgrum and pgmpy ---


PEERS = ["asia", "cancer", "alarm"]


def turned(text):
    """UAI and XDSL with the parents of every table listed the other way round.

    pyAgrum 3.3.1 writes and reads the states of the first parent faster than those of the second
    there, against both definitions. Its XDSL files tell who wrote them, its UAI files do not.
    """
    text = re.sub(
        r"(?<=<parents>).*?(?=</parents>)", lambda m: " ".join(reversed(m[0].split())), text
    )
    if not text.startswith("BAYES"):
        return text
    lines = text.splitlines()
    for k in range(4, 4 + int(lines[3])):
        size, *parents, child = lines[k].split("#")[0].split()
        lines[k] = " ".join([size, *reversed(parents), child])
    return "\n".join(lines)


@pytest.fixture(scope="module")
def pyagrum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # else its import ends the process
        import pyagrum
    return pyagrum


@pytest.fixture(scope="module")
def pgmpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy import readwrite
    return readwrite


SUFFIXES = {"net": "net", "xmlbif": "bifxml", "xdsl": "xdsl", "uai": "uai"}  # it knows no DSC


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("form", SUFFIXES)
def test_pyagrum_reads_what_is_written_and_writes_what_is_read(form, name, pyagrum, tmp_path):
    made, module = shipped_net(name), OURS[form]
    expected = numbered(made) if form == "uai" else made
    file = tmp_path / f"x.{SUFFIXES[form]}"
    file.write_text(turned(module.dumps(made)), "utf-8")
    found = pyagrum.loadBN(str(file))
    if form == "uai":  # where it labels no states
        assert sorted(found.names()) == list(expected.graph.nodes)
        for node in found.names():
            axes = [*expected.graph.parents(node), node]
            order = [found.cpt(node).names[::-1].index(axis) for axis in axes]
            values = found.cpt(node).toarray().transpose(order)
            np.testing.assert_allclose(values, table(expected, node), rtol=0, atol=1e-6)
    else:
        assert peers.from_pyagrum(found).equals(made.network_, 1e-6)
    pyagrum.saveBN(peers.to_pyagrum(expected.network_), str(file))
    text = file.read_text("utf-8")
    back = module.loads(turned(text) if form == "uai" else text, "x")
    if form == "uai":  # it numbers the variables in the order in which they were added
        names = list(expected.graph.nodes)
        assert len(back.graph.edges) == len(expected.graph.edges)
        for k, node in enumerate(names):
            given = {names[int(p)] for p in back.graph.parents(str(k))}
            assert given == set(expected.graph.parents(node))
            axes = [names[int(p)] for p in back.graph.parents(str(k))]
            order = [axes.index(p) for p in expected.graph.parents(node)]
            values = table(back, str(k)).transpose([*order, len(axes)])
            np.testing.assert_allclose(values, table(expected, node), rtol=0, atol=1e-6)
    else:
        assert back.equals(made, 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_xdsl_of_pyagrum_has_the_probabilities_that_it_has_in_memory(seed, pyagrum, tmp_path):
    pyagrum.initRandom(seed)
    made = pyagrum.fastBN("a[2]->x[3]<-b[4];c[5]->x<-d[2];b->d;a->d;x->y[2]<-a")
    pyagrum.saveBN(made, str(tmp_path / "x.xdsl"))
    assert jn.load(tmp_path / "x.xdsl").network_.equals(peers.from_pyagrum(made), 1e-5)


@pytest.mark.parametrize(("app", "first"), [("GeNIe 2.1", 0.1), ("aGrUM 3.3.1", 0.2)])
def test_who_wrote_xdsl_tells_which_parent_runs_slowest(app, first):
    nodes = "".join(
        f'<cpt id="{x}"><state id="0" /><state id="1" /><probabilities>1 0</probabilities></cpt>'
        for x in "ab"
    )
    text = (
        f'<smile><nodes>{nodes}<cpt id="x"><state id="0" /><state id="1" /><parents>a b</parents>'
        f"<probabilities>0 1 .1 .9 .2 .8 .3 .7</probabilities></cpt></nodes>"
        f'<extensions><genie app="{app}" name="n" /></extensions></smile>'
    )
    assert table(xdsl.loads(text, "x"), "x")[0, 1, 0] == first


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("form", ["net", "xmlbif", "xdsl"])
def test_pgmpy_reads_what_is_written_and_writes_what_is_read(form, name, pgmpy, tmp_path):
    made, module, file = shipped_net(name), OURS[form], tmp_path / f"x.{form}"
    file.write_text(module.dumps(made), "utf-8")
    found = getattr(pgmpy, f"{form.upper()}Reader")(str(file)).get_model()
    assert peers.from_pgmpy(found).equals(made.network_, 1e-6)
    getattr(pgmpy, f"{form.upper()}Writer")(peers.to_pgmpy(made.network_)).write(str(file))
    assert module.loads(file.read_text("utf-8"), "x").equals(made, 1e-6)


def test_uai_of_pgmpy_is_refused_because_its_tables_are_the_wrong_way_round(pgmpy):
    # pgmpy 1.1.2 writes and reads the states of the child slowest; and it has no exponents.
    text = str(pgmpy.UAIWriter(peers.to_pgmpy(shipped_net("asia").network_)))
    with pytest.raises(JensenError, match=r"the row \(0\) of '1' sums to 0.9, not to 1"):
        uai.loads(text, "asia.uai")


@pytest.mark.parametrize("suffix", io.FORMATS)
def test_files_are_found_by_suffix_and_by_content(suffix, tmp_path):
    """A pair of variables with plain names loses nothing in any format, UAI's numbers included."""
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.25, 0.75], "b": [[0.5, 0.5], [1, 0]]})
    net.save(tmp_path / f"net{suffix}")
    (tmp_path / "unknown").write_bytes((tmp_path / f"net{suffix}").read_bytes())
    for path in (f"net{suffix}", "unknown"):
        found = jn.load(tmp_path / path)
        np.testing.assert_array_equal(found.network_.tables, net.network_.tables)


def test_uai_says_that_names_are_lost_unless_they_are_numbers():
    numbers = jn.BayesianNetwork.from_tables("0", {"0": [0.5, 0.5]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uai.dumps(numbers)
        with pytest.raises(
            FormatWarning, match="UAI cannot hold the names of variables and states"
        ):
            uai.dumps(jn.BayesianNetwork.from_tables("a", {"a": [0.5, 0.5]}))
