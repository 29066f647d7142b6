"""NET, DSC, XMLBIF, XDSL, UAI: what is wrong is told with its place, and no file does harm."""

import contextlib
import random
import tracemalloc
from time import perf_counter

import pytest
from naive.bif import shipped
from naive.bif_damage import mutant

import jensen as jn
from jensen.exceptions import FileError
from jensen.io import bif, dsc, net, uai, xdsl, xmlbif

pytestmark = pytest.mark.filterwarnings("ignore:UAI cannot hold the names of variables and states")

FORMATS = {"net": net, "dsc": dsc, "xmlbif": xmlbif, "xdsl": xdsl, "uai": uai}
SMALL = {
    "net": """net
{
}
node rain
{
  states = ("no" "yes");
}
node wet
{
  states = ("dry" "damp" "soaked");
}
potential (rain)
{
  data = (0.8 0.2);
}
potential ( wet | rain )
{
  data = ((0.9 0.1 0.0)
          (0.1 0.3 0.6));
}
""",
    "dsc": """belief network "unknown"
node rain {
  type : discrete [ 2 ] = { "no", "yes" };
}
node wet {
  type : discrete [ 3 ] = { "dry", "damp", "soaked" };
}
probability ( rain ) {
  0.8, 0.2;
}
probability ( wet | rain ) {
  (0) : 0.9, 0.1, 0.0;
  (1) : 0.1, 0.3, 0.6;
}
""",
    "xmlbif": """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
<VARIABLE TYPE="nature">
  <NAME>rain</NAME>
  <OUTCOME>no</OUTCOME>
  <OUTCOME>yes</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>wet</NAME>
  <OUTCOME>dry</OUTCOME>
  <OUTCOME>damp</OUTCOME>
  <OUTCOME>soaked</OUTCOME>
</VARIABLE>
<DEFINITION>
  <FOR>rain</FOR>
  <TABLE>0.8 0.2</TABLE>
</DEFINITION>
<DEFINITION>
  <FOR>wet</FOR>
  <GIVEN>rain</GIVEN>
  <TABLE>0.9 0.1 0.0 0.1 0.3 0.6</TABLE>
</DEFINITION>
</NETWORK>
</BIF>
""",
    "xdsl": """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="unknown">
<nodes>
<cpt id="rain">
  <state id="no" />
  <state id="yes" />
  <probabilities>0.8 0.2</probabilities>
</cpt>
<cpt id="wet">
  <state id="dry" />
  <state id="damp" />
  <state id="soaked" />
  <parents>rain</parents>
  <probabilities>0.9 0.1 0.0 0.1 0.3 0.6</probabilities>
</cpt>
</nodes>
</smile>
""",
    "uai": """BAYES
2
2 3
2
1 0
2 0 1

2
 0.8 0.2

6
 0.9 0.1 0.0
 0.1 0.3 0.6
""",
}
FIELD = "expected the name of a field or '}', but found"
IN_NET = "expected 'node' or 'discrete' or 'potential', but found"
IN_DSC = "expected 'node' or 'probability' or 'properties', but found"
NO_CYCLE = "a network has no cycles, but here is one: rain -> wet -> rain"
LISTED = "'rain' is declared with '3' states, but 2 are listed"
FAULTS = [
    # (what is replaced in SMALL, by what, where, what the message says)
    ("net", "net\n", "network\n", "1:1", "expected 'net', but found 'network'"),
    ("net", "net\n{", "net\n[", "2:1", "expected '{', but found '['"),
    ("net", "{\n}", "{ name }", "2:8", "expected '=', but found '}'"),
    ("net", "{\n}", "{ a = 1; a = 2; }", "2:10", "the field 'a' stands here already"),
    ("net", "{\n}", "{ a = {}; }", "2:7", "expected a value or ';', but found '{'"),
    ("net", "{\n}", '{ "a" = 1; }', "2:3", f"{FIELD} '\"a\"'"),
    ("net", "{\n}", "{ 1 = 1; }", "2:3", f"{FIELD} '1'"),
    ("net", "node rain", "utility rain", "4:1", f"{IN_NET} 'utility'"),
    ("net", "node rain", "continuous node rain", "4:1", f"{IN_NET} 'continuous'"),
    ("net", "node rain", "discrete rain", "4:10", "expected 'node', but found 'rain'"),
    ("net", "node rain", "node", "5:1", "expected the name of a node, but found '{'"),
    ("net", "node rain", 'node ""', "4:6", "the name of a variable must not be empty"),
    (
        "net",
        "node wet",
        "node rain",
        "8:6",
        "the variable 'rain' is declared already, at line 4, column 6",
    ),
    ("net", '("no" "yes")', "()", "4:6", "'rain' has no states; it needs one at least"),
    ("net", '("no" "yes")', '("no" "no")', "6:18", "the states of 'rain' repeat 'no'"),
    ("net", '("no" "yes")', '("no" "yes"]', "6:23", "expected a state or ')', but found ']'"),
    (
        "net",
        '("no" "yes")',
        '("no" "yes)',
        "6:18",
        "expected a state or ')', but found a quote that is not closed on its line",
    ),
    (
        "net",
        '"yes");',
        '"yes");\n states = ("a");',
        "7:2",
        "the field 'states' stands here already",
    ),
    ("net", "(rain)", "rain", "12:11", "expected '(', but found 'rain'"),
    ("net", "(rain)", "(rain wet)", "12:17", "expected '|' or ')', but found 'wet'"),
    ("net", "(rain)", "(snow)", "12:12", "there is no variable 'snow' in this file"),
    ("net", "| rain", "| snow", "16:19", "there is no variable 'snow' in this file"),
    ("net", "| rain", "| rain rain", "16:24", "'rain' stands twice in this list of variables"),
    ("net", "| rain", "| wet", "16:19", "'wet' stands twice in this list of variables"),
    (
        "net",
        "( wet | rain )",
        "( rain )",
        "16:13",
        "the table of 'rain' is given already, at line 12, column 12",
    ),
    ("net", "(rain)", "( rain | wet )", "12:13", NO_CYCLE),
    (
        "net",
        "potential (rain)\n{\n  data = (0.8 0.2);\n}\n",
        "",
        "4:6",
        "the variable 'rain' has no table",
    ),
    (
        "net",
        "  data = (0.8 0.2);\n",
        "",
        "12:12",
        "the potential of 'rain' has no 'data': no table is given",
    ),
    (
        "net",
        "(0.8 0.2);",
        "(0.8 0.2); data = (1 0);",
        "14:21",
        "this potential has a second 'data'; one is enough",
    ),
    ("net", "(0.8 0.2)", "0.8 0.2", "14:10", "expected '(' or ';', but found '0.8'"),
    ("net", "(0.8 0.2)", "(0.8 0.2", "14:18", "expected a number, '(' or ')', but found ';'"),
    ("net", "(0.8 0.2)", "(0.8 0.2))", "14:19", "expected '(' or ';', but found ')'"),
    ("net", "(0.8 0.2)", "(0.8 nan)", "14:15", "expected a number, '(' or ')', but found 'nan'"),
    ("net", "(0.8 0.2)", "(0.8 0.2x)", "14:15", "expected a number, '(' or ')', but found '0.2x'"),
    ("net", "(0.8 0.2)", "(1.2 -0.2)", "14:11", "'1.2' is no probability, between 0 and 1"),
    ("net", "(0.8 0.2)", "(0.8 -0.2)", "14:15", "'-0.2' is no probability, between 0 and 1"),
    ("net", "(0.8 0.2)", "(0.8)", "14:10", "the table of 'rain' has 1 number, but needs 2"),
    ("net", "(0.8 0.2)", "(0.8 0.3)", "14:10", "the table of 'rain' sums to 1.1, not to 1"),
    ("net", "0.3 0.6", "0.3 0.7", "18:10", "the row (yes) of 'wet' sums to 1.1, not to 1"),
    ("net", "0.6));\n}\n", "0.6));\n", "20:1", f"{FIELD} the end of the file"),
    ("net", "{\n}", "{ /* }", "2:3", "this comment has no end: '*/' is missing"),
    ("dsc", "belief", "relief", "1:1", "expected 'belief', but found 'relief'"),
    ("dsc", "network", "net", "1:8", "expected 'network', but found 'net'"),
    ("dsc", '"unknown"', "{", "1:16", "expected the name of the network, or 'node', but found '{'"),
    ("dsc", "node rain", "nodes rain", "2:1", f"{IN_DSC} 'nodes'"),
    ("dsc", '"unknown"', '"n" properties { {', "1:33", "expected a property or '}', but found '{'"),
    (
        "dsc",
        "node wet",
        "node rain",
        "5:6",
        "the variable 'rain' is declared already, at line 2, column 6",
    ),
    ("dsc", "type :", "type", "3:8", "expected ':', but found 'discrete'"),
    (
        "dsc",
        "discrete [ 2",
        "continuous [ 2",
        "3:10",
        "expected 'discrete', but found 'continuous'",
    ),
    ("dsc", "[ 2 ]", "[ two ]", "3:21", "expected the number of states, but found 'two'"),
    ("dsc", "[ 2 ]", "[ 3 ]", "3:21", LISTED),
    ("dsc", '"no", "yes"', '"no", "no"', "3:35", "the states of 'rain' repeat 'no'"),
    (
        "dsc",
        '"yes" };',
        '"yes" }; type : discrete [1] = { "a" };',
        "3:44",
        "the field 'type' stands here already",
    ),
    (
        "dsc",
        '  type : discrete [ 2 ] = { "no", "yes" };\n',
        "",
        "2:6",
        "'rain' has no states; it needs one at least",
    ),
    (
        "dsc",
        '"yes" };',
        '"yes" }; kind : a',
        "3:52",
        "expected ';' after the value of a field, but found '}'",
    ),
    ("dsc", "( rain )", "( snow )", "8:15", "there is no variable 'snow' in this file"),
    ("dsc", "| rain", "| snow", "11:21", "there is no variable 'snow' in this file"),
    ("dsc", "( rain )", "( rain | wet )", "8:15", NO_CYCLE),
    ("dsc", "( rain )", "( rain, wet )", "8:19", "expected '|' or ')', but found ','"),
    ("dsc", "0.8, 0.2;", "0.8, 0.2", "10:1", "expected a number or ';', but found '}'"),
    ("dsc", "0.8, 0.2", "0.8, 1.2", "9:8", "'1.2' is no probability, between 0 and 1"),
    ("dsc", "0.8, 0.2", "", "9:3", "expected a number, but found ';'"),
    ("dsc", "0.8, 0.2", "0.8", "9:3", "the table of 'rain' has 1 number, but needs 2"),
    ("dsc", "0.8, 0.2", "0.8, 0.3", "9:3", "the table of 'rain' sums to 1.1, not to 1"),
    ("dsc", "(1) : 0.1", "(2) : 0.1", "13:4", "'2' is no state of 'rain', which has: 0, 1"),
    ("dsc", "(1) : 0.1", "(0) : 0.1", "13:3", "the row (0) stands already at line 12, column 3"),
    (
        "dsc",
        "(1) : 0.1",
        "(yes) : 0.1",
        "13:4",
        "expected the number of a state or ')', but found 'yes'",
    ),
    ("dsc", "(1) : 0.1", "(1) 0.1", "13:7", "expected ':', but found '0.1'"),
    (
        "dsc",
        "(1) : 0.1",
        "(1, 1) : 0.1",
        "13:3",
        "this row names 2 states, but 'wet' has 1 parent: rain",
    ),
    ("dsc", "(1) : 0.1", "0.1", "13:3", "expected '(' or '}', but found '0.1'"),
    ("dsc", "0.3, 0.6", "0.3", "13:9", "this row of 'wet' has 2 numbers, but needs 3"),
    ("dsc", "0.3, 0.6", "0.3, 0.7", "13:3", "the row (1) of 'wet' sums to 1.1, not to 1"),
    (
        "dsc",
        "  (1) : 0.1, 0.3, 0.6;\n",
        "",
        "11:15",
        "the block of 'wet' has 1 of 2 rows and no default: the row (1) is missing",
    ),
    ("xmlbif", "<BIF", "<BIFF", "26:3", "this is no XML: mismatched tag"),
    ("xmlbif", "BIF", "XBN", "2:1", "expected <BIF>, but found <XBN>"),
    ("xmlbif", "NETWORK>", "NET>", "2:1", "<BIF> has no <NETWORK>"),
    ("xmlbif", "</NETWORK>\n", "</NETWORK><NETWORK/>", "25:11", "<BIF> has a second <NETWORK>"),
    (
        "xmlbif",
        "nature",
        "utility",
        "5:1",
        "Jensen reads variables of TYPE 'nature', not 'utility'",
    ),
    ("xmlbif", "  <NAME>rain</NAME>\n", "", "5:1", "<VARIABLE> has no <NAME>"),
    ("xmlbif", "<NAME>rain", "<NAME>", "6:3", "the name of a variable must not be empty"),
    (
        "xmlbif",
        "<NAME>wet",
        "<NAME>rain",
        "11:3",
        "the variable 'rain' is declared already, at line 6, column 3",
    ),
    ("xmlbif", ">yes", ">no", "8:3", "the states of 'rain' repeat 'no'"),
    ("xmlbif", "OUTCOME>", "STATE>", "6:3", "'rain' has no states; it needs one at least"),
    ("xmlbif", "<FOR>rain", "<FOR>snow", "17:3", "there is no variable 'snow' in this file"),
    ("xmlbif", "<GIVEN>rain", "<GIVEN>snow", "22:3", "there is no variable 'snow' in this file"),
    ("xmlbif", "  <FOR>rain</FOR>\n", "", "16:1", "<DEFINITION> has no <FOR>"),
    ("xmlbif", "  <TABLE>0.8 0.2</TABLE>\n", "", "16:1", "<DEFINITION> has no <TABLE>"),
    ("xmlbif", "<FOR>rain</FOR>", "<FOR>rain</FOR><GIVEN>wet</GIVEN>", "17:3", NO_CYCLE),
    ("xmlbif", "DEFINITION>", "DEFINED>", "6:3", "the variable 'rain' has no table"),
    ("xmlbif", "0.8 0.2", "0.8", "18:3", "the table of 'rain' has 1 number, but needs 2"),
    ("xmlbif", "0.8 0.2", "0.8, 0.2", "18:3", "expected a number, but found '0.8,'"),
    ("xmlbif", "0.8 0.2", "nan 0.2", "18:3", "expected a number, but found 'nan'"),
    ("xmlbif", "0.8 0.2", "1_0 0.2", "18:3", "expected a number, but found '1_0'"),
    (
        "xmlbif",
        "0.8 0.2",
        "1e999 -1e999",
        "18:3",
        "number 1 of the table of 'rain' is inf, which is no probability, between 0 and 1",
    ),
    ("xmlbif", "0.8 0.2", "0.8 0.3", "18:3", "the table of 'rain' sums to 1.1, not to 1"),
    ("xmlbif", "0.3 0.6", "0.3 0.7", "23:3", "the row (yes) of 'wet' sums to 1.1, not to 1"),
    ("xmlbif", "rain", "&rain;", "6:9", "this is no XML: undefined entity"),
    (
        "xmlbif",
        "\n<BIF",
        '\n<!DOCTYPE BIF [ <!ENTITY a "b"> ]>\n<BIF',
        "2:17",
        "entities are not allowed here: no network needs any",
    ),
    ("xdsl", "smile", "smiles", "2:1", "expected <smile>, but found <smiles>"),
    ("xdsl", "nodes>", "knots>", "2:1", "<SMILE> has no <NODES>"),
    ("xdsl", 'cpt id="rain"', "cpt", "4:1", "<CPT> has no attribute 'id'"),
    (
        "xdsl",
        'id="wet"',
        'id="rain"',
        "9:1",
        "the variable 'rain' is declared already, at line 4, column 1",
    ),
    ("xdsl", "cpt", "noisymax", "4:1", "Jensen reads <cpt> and <deterministic>, not <noisymax>"),
    ("xdsl", '<state id="yes" />', "<state />", "6:3", "<STATE> has no attribute 'id'"),
    ("xdsl", '"yes"', '"no"', "6:3", "the states of 'rain' repeat 'no'"),
    ("xdsl", "<parents>rain", "<parents>snow", "13:3", "there is no variable 'snow' in this file"),
    (
        "xdsl",
        "<parents>rain",
        "<parents>rain rain",
        "13:3",
        "'rain' stands twice in this list of variables",
    ),
    (
        "xdsl",
        "  <probabilities>0.8 0.2</probabilities>\n",
        "",
        "4:1",
        "<CPT> has no <PROBABILITIES>",
    ),
    ("xdsl", "0.8 0.2", "0.8 x", "7:3", "expected a number, but found 'x'"),
    ("xdsl", "0.8 0.2", "0.8 0.2 0", "7:3", "the table of 'rain' has 3 numbers, but needs 2"),
    ("xdsl", "0.8 0.2", "0.8 0.3", "7:3", "the table of 'rain' sums to 1.1, not to 1"),
    ("xdsl", "</smile>", "", "18:1", "this is no XML: no element found"),
    ("uai", "BAYES", "BAYESIAN", "1:1", "expected 'BAYES' or 'MARKOV', but found 'BAYESIAN'"),
    ("uai", "BAYES\n2", "BAYES\ntwo", "2:1", "expected the number of variables, but found 'two'"),
    ("uai", "BAYES\n2", "BAYES\n-2", "2:1", "expected the number of variables, but found '-2'"),
    ("uai", "\n2 3\n", "\n2 0\n", "3:3", "a variable needs one state at least"),
    ("uai", "\n2 3\n", "\n2 x\n", "3:3", "expected a number of states, but found 'x'"),
    ("uai", "\n2\n1 0", "\n3\n1 0", "9:2", "expected the number of a variable, but found '0.8'"),
    ("uai", "\n1 0\n", "\n0\n", "5:1", "a table needs one variable at least"),
    ("uai", "\n1 0\n", "\n1 2\n", "5:3", "there are 2 variables, numbered from 0: there is no 2"),
    (
        "uai",
        "\n1 0\n2 0 1",
        "\n2 1 0\n2 0 1",
        "8:1",
        "the table of '0' needs 6 numbers, but is said to have 2",
    ),
    (
        "uai",
        "\n2 0 1",
        "\n2 1 1",
        "11:1",
        "the table of '1' needs 9 numbers, but is said to have 6",
    ),
    ("uai", "\n2 0 1", "\n2 1 0", "6:5", "the table of '0' is given already, at line 5, column 3"),
    (
        "uai",
        "0.3 0.6",
        "0.3",
        "14:1",
        "expected 1 number more of the table of '1', but found the end of the file",
    ),
    ("uai", "0.3 0.6", "0.3 0.6 0.1", "13:14", "expected the end of the file, but found '0.1'"),
    ("uai", "0.8 0.2", "0.8 x", "9:2", "expected a number, but found 'x'"),
    ("uai", "0.8 0.2", "0.8 0.3", "9:2", "the table of '0' sums to 1.1, not to 1"),
    ("uai", "0.3 0.6", "0.3 0.7", "12:2", "the row (1) of '1' sums to 1.1, not to 1"),
    (
        "uai",
        "0.8 0.2",
        "1.2 -0.2",
        "9:2",
        "number 1 of the table of '0' is 1.2, which is no probability, between 0 and 1",
    ),
]


def refusal(form, text):
    with pytest.raises(FileError) as caught:
        FORMATS[form].loads(text, f"x.{form}")
    assert type(caught.value) is FileError
    return str(caught.value)


@pytest.mark.parametrize(("form", "old", "new", "where", "message"), FAULTS)
def test_each_fault_is_told_with_its_place(form, old, new, where, message):
    assert old in SMALL[form]
    line, column = where.split(":")
    text = (
        SMALL[form].replace(old, new)
        if form in ("xmlbif", "xdsl")
        else SMALL[form].replace(old, new, 1)
    )
    assert refusal(form, text) == f"x.{form}, line {line}, column {column}: {message}"


@pytest.mark.parametrize("form", FORMATS)
def test_the_small_files_are_right(form):
    found = FORMATS[form].loads(SMALL[form], "x")
    assert found.network_.tables.tolist() == [0.8, 0.2, 0.9, 0.1, 0.0, 0.1, 0.3, 0.6]


@pytest.mark.parametrize("form", FORMATS)
def test_empty_files_are_refused(form):
    assert refusal(form, "").startswith(f"x.{form}, line 1, column")
    assert refusal(form, " \n").startswith(f"x.{form}, line 2, column")


def test_a_document_type_elsewhere_is_not_looked_for():
    head = '<!DOCTYPE BIF SYSTEM "http://a.b/c.dtd">\n'
    text = SMALL["xmlbif"].replace("<BIF", f"{head}<BIF")
    assert len(xmlbif.loads(text, "x").graph) == 2
    told = "x.xmlbif, line 7, column 9: the entity 'a' is not known"
    assert refusal("xmlbif", text.replace("rain", "&a;")) == told


# --- damaged files ---


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", FORMATS)
def test_damaged_files_do_no_harm(form, seed):
    rng = random.Random(seed)
    texts = [SMALL[form], FORMATS[form].dumps(bif.loads(shipped()["asia"], "asia"))]
    read = 0
    for _ in range(50):
        with contextlib.suppress(FileError):
            found = FORMATS[form].loads(mutant(rng.choice(texts), rng), "x")
            read += 1
            n_rows = len(found.network_.tables) - found.network_.n_parameters
            assert abs(found.network_.probabilities.sum() - n_rows) < 1e-9
    assert 0 < read < 50


# --- files that would take too long, or too much ---


def billion_laughs(root):
    lines = ["<!ENTITY l0 'ha'>"]
    lines += [f"<!ENTITY l{k} '{10 * f'&l{k - 1};'}'>" for k in range(1, 10)]
    return f"<!DOCTYPE {root} [{''.join(lines)}]>\n<{root}>&l9;</{root}>"


LONG_DEFAULT = (
    f'<!DOCTYPE BIF [<!ATTLIST NAME a CDATA "{"x" * 100_000}">]><BIF>{"<NAME/>" * 20_000}</BIF>'
)
FILE = '<!DOCTYPE BIF [<!ENTITY f SYSTEM "file:///etc/passwd">]><BIF><NETWORK>&f;</NETWORK></BIF>'
HARMFUL = {
    "xmlbif": [
        billion_laughs("BIF"),
        FILE,
        LONG_DEFAULT,
        "<a>" * 100_000,
        "<BIF>" + "<!--" * 100_000,
        "<BIF>" + "&" * 100_000,
        f"<!DOCTYPE BIF [<!ELEMENT a {'(' * 50_000}",
        "<BIF " + " ".join(f"a{k}=''" for k in range(20_000)) + "/>",
        SMALL["xmlbif"].replace("0.8 0.2", "0.5 " * 100_000),
        SMALL["xmlbif"].replace("0.8 0.2", "0." + "1" * 300_000),
        SMALL["xmlbif"].replace("<GIVEN>rain</GIVEN>", "<GIVEN>rain</GIVEN>" * 20_000),
        "\ud800",
    ],
    "net": [
        "net {" + "{" * 300_000,
        "net {}" + "%" * 300_000 + "\nx",
        "net {}" + "/*" * 300_000,
        'net { a = "' + '\\"' * 100_000,
        "net { a = " + "(" * 50_000,
        SMALL["net"].replace("(0.8 0.2)", "(" * 100_000),
        SMALL["net"].replace("0.8 0.2", "0.1 " * 50_000 + "x"),
        SMALL["net"].replace("0.8 0.2", "0.1 /**/" * 20_000 + "x"),
        SMALL["net"].replace("0.8 0.2", "0." + "1" * 300_000),
        SMALL["net"].replace("| rain", "| " + "rain " * 50_000),
        SMALL["net"].replace('"no"', " ".join(f"s{k}" for k in range(30_000))),
    ],
    "dsc": [
        'belief network "' + "a" * 300_000,
        "belief network n properties {" + "(" * 30_000,
        SMALL["dsc"].replace("[ 2 ]", f"[ {'2' * 300_000} ]"),
        SMALL["dsc"].replace("(1) :", f"({'1' * 300_000}) :"),
        SMALL["dsc"].replace("(1) :", "(" + "1," * 20_000 + "1) :"),
        SMALL["dsc"].replace("0.8, 0.2", "0.1, " * 50_000 + "x"),
        SMALL["dsc"].replace("0.8, 0.2;", "0.1;" * 20_000),
    ],
    "xdsl": [
        billion_laughs("smile"),
        SMALL["xdsl"].replace("<parents>rain", "<parents>" + "rain " * 50_000),
        SMALL["xdsl"].replace("probabilities>", "resultingstates>").replace("cpt", "deterministic"),
    ],
    "uai": [
        "BAYES 999999999 2",
        "BAYES 1 999999999 1 1 0 2 0.5 0.5",
        "BAYES 2 999999999 1 1 1 1 1 1",
        "BAYES 1 2 999999999 1 0",
        "BAYES 1 2 1 999999999 0",
        "BAYES 40 " + "9 " * 40 + "1 40 " + " ".join(map(str, range(40))) + " 2 0.5 0.5",
        "BAYES " + "1" * 300_000,
        "BAYES 1 2 1 1 0 2 0." + "1" * 300_000 + " 0.5",
        "BAYES 20000 " + "2 " * 20_000 + "20000 " + "1 0 " * 20_000 + "2 .5 .5 " * 20_000,
        "#" * 300_000,
        "c \n" * 100_000,
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "text"),
    [(form, text) for form, texts in HARMFUL.items() for text in texts],
    ids=[f"{form}{k}" for form, texts in HARMFUL.items() for k in range(len(texts))],
)
def test_no_input_takes_long_or_much(form, text):
    tracemalloc.start()
    start = perf_counter()
    refusal(form, text)
    assert perf_counter() - start < 10
    assert tracemalloc.get_traced_memory()[1] < 2e6 + 200 * len(text)
    tracemalloc.stop()


def many_parents(form, n, size):
    """A table with more rows than could ever be."""
    names = [f"p{k}" for k in range(n)]
    share = [repr(1 / size)] * size
    states = list(map(str, range(size)))
    if form == "net":
        nodes = "".join(f"node {p} {{ states = ({' '.join(states)}); }}" for p in names)
        tables = "".join(f"potential ({p}) {{ data = ({' '.join(share)}); }}" for p in names)
        last = f"potential (x | {' '.join(names)}) {{ data = (0.5 0.5); }}"
        return f"net {{}} {nodes} {tables} node x {{ states = (0 1); }} {last}"
    node = "node {} {{ type : discrete[{}] = {{ {} }}; }}"
    nodes = "".join(node.format(p, size, ", ".join(states)) for p in names)
    tables = "".join(f"probability ({p}) {{ {', '.join(share)}; }}" for p in names)
    place = ", ".join("0" * n)
    last = f"probability (x | {', '.join(names)}) {{ ({place}) : 0.5, 0.5; }}"
    return f"belief network n {nodes} {tables} {node.format('x', 2, '0, 1')} {last}"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (
            "net",
            "the table of 'x' has 2 numbers, but needs 2,535,301,200,456,458,802,993,406,410,752",
        ),
        ("dsc", "the block of 'x' has 1 of 1,267,650,600,228,229,401,496,703,205,376 rows"),
    ],
)
def test_a_huge_product_of_states_is_refused_before_anything_is_allocated(form, message):
    tracemalloc.start()
    assert message in refusal(form, many_parents(form, 25, 16))
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()
    assert "'x' has 40 parents, more than 31" in refusal(form, many_parents(form, 40, 1))
    few = FORMATS[form].loads(many_parents(form, 31, 1), "x")
    assert len(few.graph.parents("x")) == 31


def test_deterministic_nodes_are_weighed_before_they_are_filled():
    states = "".join(f'<state id="s{k}" />' for k in range(300))
    cases = "".join(f'<state id="s{k}" />' for k in range(3000))
    text = (
        f'<smile><nodes><cpt id="a">{cases}<probabilities>1{" 0" * 2999}</probabilities></cpt>'
        f'<deterministic id="b">{states}<parents>a</parents>'
        f"<resultingstates>{'s7 ' * 3000}</resultingstates></deterministic></nodes></smile>"
    )
    assert len(xdsl.loads(text, "x").network_.tables) == 903_000
    jn.set_memory_limit(5e6)
    try:
        tracemalloc.start()
        assert "the table of this node would take 20.6 MiB" in refusal("xdsl", text)
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()
        jn.set_memory_limit(None)


def test_deterministic_nodes_out_of_proportion_to_the_file_are_refused():
    """One word is a row as long as there are states."""
    cases = "".join(f'<state id="s{k}" />' for k in range(100))
    share = f"<probabilities>1{' 0' * 99}</probabilities>"
    states = "".join(f'<state id="s{k}" />' for k in range(3000))
    text = (
        f'<smile><nodes><cpt id="a">{cases}{share}</cpt><cpt id="b">{cases}{share}</cpt>\n'
        f'<deterministic id="c">{states}<parents>a b</parents>'
        f"<resultingstates>{'s7 ' * 10_000}</resultingstates></deterministic></nodes></smile>"
    )
    jn.set_memory_limit(float("inf"))
    tracemalloc.start()
    try:
        assert refusal("xdsl", text) == (
            "x.xdsl, line 2, column 1: the table of this node brings the entries that the file "
            "implies to 30,000,000, out of proportion to its length: "
            "give it fewer states or parents"
        )
        assert tracemalloc.get_traced_memory()[1] < 2e6 + 50 * len(text)
    finally:
        tracemalloc.stop()
        jn.set_memory_limit(None)


def test_a_result_must_be_a_state():
    text = SMALL["xdsl"].replace("cpt", "deterministic").replace("probabilities", "resultingstates")
    told = "x.xdsl, line 7, column 3: 'maybe' is no state of this variable"
    assert refusal("xdsl", text.replace("0.8 0.2", "maybe")) == told
