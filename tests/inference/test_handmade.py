"""Networks from tables that somebody typed."""

import numpy as np
import pytest

import jensen as jn
from jensen.inference.cpt import CPT

build = jn.BayesianNetwork.from_tables
STATES = {"rain": ["no", "yes"], "wet": ["no", "yes"]}


def test_arrays_and_dicts_say_the_same():
    array = build("rain -> wet", {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]}, STATES)
    rows = {"yes": (0.05, 0.95), "no": np.array([0.9, 0.1])}
    by_label = build([("rain", "wet")], {"rain": {(): [0.8, 0.2]}, "wet": rows}, STATES)
    by_tuple = build(
        jn.DAG("rain -> wet"),
        {"wet": {("no",): [0.9, 0.1], ("yes",): [0.05, 0.95]}, "rain": np.array([0.8, 0.2])},
        STATES,
    )
    assert array.equals(by_label)
    assert array.equals(by_tuple)
    assert array.cpt("wet")["yes"] == {"no": 0.05, "yes": 0.95}
    assert array.states == {"rain": ("no", "yes"), "wet": ("no", "yes")}


def test_axes_stand_in_the_order_of_the_names_of_the_parents():
    table = np.arange(6.0).reshape(3, 2, 1) * 0 + 1
    net = build("z -> y <- a", {"a": [0.2, 0.3, 0.5], "z": [0.5, 0.5], "y": table})
    assert [p.name for p in net.cpt("y").parents] == ["a", "z"]
    assert net.cpt("y").values.shape == (3, 2, 1)


def test_labels_of_two_parents():
    rows = {(a, b): [p, 1 - p] for a, b, p in [(0, 0, 1), (0, 1, 0.5), (1, 0, 0.25), (1, 1, 0)]}
    net = build("a -> c <- b", {"a": [0.5, 0.5], "b": [0.1, 0.9], "c": rows})
    assert net.cpt("c")["1", "0"] == {"0": 0.25, "1": 0.75}
    assert net.cpt("c")[1, 0.0] == net.cpt("c")["1", "0"]


def test_states_are_numbered_where_nobody_names_them():
    net = build("a -> b", {"a": [0.2, 0.3, 0.5], "b": {k: [1, 0] for k in range(3)}})
    assert net.states == {"a": ("0", "1", "2"), "b": ("0", "1")}


def test_labels_become_text():
    net = build("a", {"a": [0.5, 0.25, 0.25]}, states={"a": [1, 2.0, True]})
    assert net.states["a"] == ("1", "2", "True")


def test_whatever_names_a_graph_will_do():
    table = {"a": [1.0], "b": [[1.0]]}
    for graph in ("a -> b", "[a][b|a]", [("a", "b")], jn.DAG("a -> b")):
        assert build(graph, table).graph == jn.DAG("a -> b")
    assert set(build(jn.CPDAG("a -- b"), {"a": [1.0], "b": [[1.0]]}).graph.nodes) == {"a", "b"}


def test_rows_off_by_little_are_normalised():
    net = build("a", {"a": [0.33333, 0.66666]})
    np.testing.assert_allclose(net.cpt("a").values, [1 / 3, 2 / 3], rtol=1e-5)
    np.testing.assert_allclose(net.cpt("a").values.sum(), 1.0, rtol=1e-15)


NO_ARRAY = "the table of 'a' must be an array of probabilities, or a dict from the labels of its pa"


@pytest.mark.parametrize(
    ("graph", "tables", "states", "message"),
    [
        ("a -> b", {"a": [1.0]}, None, "there is no table of 'b': every node needs one"),
        ("a", {"a": [1.0], "c": [1.0]}, None, "'c' is no node of the graph"),
        ("a", {"a": [1.0]}, {"c": ["x"]}, "'c' is no node of the graph"),
        ("a", {"a": 0.5}, None, NO_ARRAY),
        ("a", {"a": None}, None, NO_ARRAY),
        ("a", {"a": "half"}, None, NO_ARRAY),
        ("a", {"a": [[0.5], [0.5, 0.5]]}, None, NO_ARRAY),
        ("a", {"a": {(): 0.5}}, None, NO_ARRAY),
        ("a", {"a": []}, None, "'a' needs one state at least"),
        ("a", {"a": {}}, None, "'a' needs one state at least"),
        ("a", {"a": [1.0]}, {"a": []}, "'a' needs one state at least"),
        (
            "a",
            {"a": [0.5, 0.5]},
            {"a": "ny"},
            "the states of 'a' must be a list, not the text 'ny'",
        ),
        ("a", {"a": [0.5, 0.5]}, {"a": [1, "1"]}, "the states of 'a' repeat '1'"),
        (
            "a",
            {"a": [0.5, 0.5]},
            {"a": ["x", "y", "z"]},
            "the table of 'a' must have the shape (3,) (a), not (2,)",
        ),
        (
            "a -> b",
            {"a": [0.5, 0.5], "b": [[1, 0]] * 3},
            None,
            "the table of 'b' must have the shape (2, 2) (a, b), not (3, 2)",
        ),
        (
            "a -> b",
            {"a": [0.5, 0.5], "b": [1, 0]},
            None,
            "the table of 'b' must have the shape (2, 2) (a, b), not (2,)",
        ),
        (
            "a -> b",
            {"a": [0.5, 0.5], "b": {0: [1, 0], 2: [1, 0]}},
            None,
            "the table of 'b' needs one row for every (a); unknown: [('2',)], absent: [('1',)]",
        ),
        (
            "a -> b",
            {"a": [0.5, 0.5], "b": {0: [1, 0], 1: [1, 0, 0]}},
            None,
            "the rows of the table of 'b' differ in length",
        ),
        ("a", {"a": [-0.5, 1.5]}, None, "the table of 'a' holds entries that are no probabilities"),
        ("a", {"a": [np.nan, 1]}, None, "the table of 'a' holds entries that are no probabilities"),
        ("a", {"a": [np.inf, 0]}, None, "the table of 'a' holds entries that are no probabilities"),
        ("a", {"a": [0.5, 0.4]}, None, "row 1 of the table of 'a' sums to 0.9, not to 1"),
        (
            "a -> b",
            {"a": [0.5, 0.5], "b": [[1, 0], [0.5, 0.6]]},
            None,
            "row 2 of the table of 'b' sums to 1.1, not to 1",
        ),
    ],
)
def test_what_makes_no_network_is_refused(graph, tables, states, message):
    with pytest.raises(jn.JensenError) as error:
        build(graph, tables, states)
    assert str(error.value).startswith(message)
    assert error.value.__cause__ is None


def test_a_table_with_many_rows_by_label_is_read_at_once():
    rows = {labels: [0.5, 0.5] for labels in np.ndindex(*[2] * 14)}
    parents = {f"p{k:02}": [0.5, 0.5] for k in range(14)}
    net = build([(p, "x") for p in parents], {**parents, "x": rows})
    assert net.parameters_count == 14 + 2**14


def test_rows_may_be_dicts_by_state():
    tables = {"a": {"no": 0.8, "yes": 0.2}, "b": {"no": {"x": 1.0, "y": 0.0}, "yes": [0.3, 0.7]}}
    net = jn.BayesianNetwork.from_tables("a -> b", tables)
    assert net.states == {"a": ("no", "yes"), "b": ("x", "y")}
    assert net.cpt("a")[()] == {"no": 0.8, "yes": 0.2}
    np.testing.assert_array_equal(np.asarray(net.cpt("b")), [[1.0, 0.0], [0.3, 0.7]])
    turned = jn.BayesianNetwork.from_tables("a -> b", tables, states={"a": ["yes", "no"]})
    np.testing.assert_array_equal(turned.cpt("a").values, [0.2, 0.8])


def test_a_row_must_name_the_states():
    with pytest.raises(jn.JensenError, match=r"names the states \['no'\], but they are"):
        jn.BayesianNetwork.from_tables("a", {"a": {"no": 1.0}}, states={"a": ["no", "yes"]})


AND_NOT = np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]])  # [z, a, y]: z and not a
ROOTS = {"z": [0.5, 0.5], "a": [0.25, 0.75]}


@pytest.mark.parametrize("graph", ["z -> y <- a", "[z][a][y|z:a]", [("z", "y"), ("a", "y")]])
def test_the_order_of_parents_is_asked_for_where_two_fit(graph):
    """Regression: [z, a, y] was taken as [a, z, y] without a word."""
    words = (
        r"the table of 'y' is read with its parents in the order of their names, \['a', 'z'\], but "
        r"the graph is written with \['z', 'a'\], and the table fits both: say which order is "
        r"meant, parents={'y': \['z', 'a'\]} or parents={'y': \['a', 'z'\]}"
    )
    with pytest.warns(jn.DataWarning, match=words):
        by_name = build(graph, {**ROOTS, "y": AND_NOT})
    assert by_name.cpt("y")["1", "0"]["1"] == 1.0  # a and not z
    stated = build(graph, {**ROOTS, "y": AND_NOT}, parents={"y": ["z", "a"]})
    assert [p.name for p in stated.cpt("y").parents] == ["a", "z"]
    assert stated.cpt("y")["0", "1"]["1"] == 1.0
    assert stated.probability({"y": "1"}) == pytest.approx(0.5 * 0.25)
    assert build(graph, {**ROOTS, "y": AND_NOT}, parents={"y": ("a", "z")}).equals(by_name)


def test_rows_by_labels_have_an_order_of_parents_too():
    rows = {(z, a): AND_NOT[z, a] for z in (0, 1) for a in (0, 1)}
    with pytest.warns(jn.DataWarning, match="the table of 'y' is read with its parents in the"):
        build("z -> y <- a", {**ROOTS, "y": rows})
    stated = build("z -> y <- a", {**ROOTS, "y": rows}, parents={"y": ["z", "a"]})
    assert stated.equals(build("z -> y <- a", {**ROOTS, "y": AND_NOT}, parents={"y": ["z", "a"]}))


def test_nothing_is_asked_where_only_one_order_fits():
    by_name = AND_NOT.transpose(1, 0, 2)
    build("a -> y <- z", {**ROOTS, "y": by_name})  # written by name
    wide = {"z": [0.2, 0.3, 0.5], "a": [0.5, 0.5], "y": np.full((2, 3, 1), 1.0)}
    build("z -> y <- a", wide)
    labels = {(a, z): [1.0] for a in ("no", "yes") for z in ("off", "on")}
    states = {"a": ["no", "yes"], "z": ["off", "on"]}
    build("z -> y <- a", {**ROOTS, "y": labels}, states)


@pytest.mark.parametrize("graph", [jn.DAG("z -> y <- a"), jn.DAG("a -> y <- z").cpdag()])
def test_a_graph_that_forgot_how_it_was_written_asks_for_the_order(graph):
    """Regression: only texts and lists of edges were looked at."""
    rows = {(z, a): AND_NOT[z, a] for z in (0, 1) for a in (0, 1)}
    for table in (AND_NOT, rows):
        with pytest.warns(
            jn.DataWarning,
            match=r"^the table of 'y' is read with its parents in the order of their names, "
            r"\['a', 'z'\], but it fits \['z', 'a'\] as well, and the graph does not say which one "
            r"is meant: say which order is meant, parents={'y': \['z', 'a'\]} or "
            r"parents={'y': \['a', 'z'\]}$",
        ):
            by_name = build(graph, {**ROOTS, "y": table})
        stated = build(graph, {**ROOTS, "y": table}, parents={"y": ["a", "z"]})
        assert stated.equals(by_name)


def test_a_graph_that_forgot_asks_nothing_where_one_order_fits():
    wide = {"z": [0.2, 0.3, 0.5], "a": [0.5, 0.5], "y": np.full((2, 3, 1), 1.0)}
    net = build(jn.DAG("z -> y <- a"), wide)
    build(net.graph, {name: net.cpt(name) for name in net.states})
    three = {"a": [0.5, 0.5], "b": [1.0, 0.0, 0.0], "c": [0.5, 0.5], "y": np.full((2, 3, 2, 1), 1)}
    with pytest.warns(jn.DataWarning, match=r"but it fits \['c', 'b', 'a'\] as well"):
        build(jn.DAG("a -> y; b -> y; c -> y"), three)


def test_a_labelled_table_says_its_own_order():
    net = jn.examples.load("sprinkler")
    tables = {name: net.cpt(name) for name in net.states}
    again = build("cloudy -> sprinkler -> wet_grass; cloudy -> rain; rain -> wet_grass", tables)
    assert again.equals(net)
    wet = net.cpt("wet_grass")
    turned = CPT(wet.variable, wet.parents[::-1], wet.values.transpose(1, 0, 2))
    assert net.with_cpt("wet_grass", turned).equals(net)
    stated = net.with_cpt("wet_grass", turned.values, parents=["sprinkler", "rain"])
    assert stated.equals(net)
    with pytest.raises(
        jn.JensenError, match=r"the parents of 'rain' in the graph are \['cloudy'\]"
    ):
        net.with_cpt("rain", wet)


@pytest.mark.parametrize("order", [["z"], ["z", "z"], ["z", "b"], "za", 3, [1, "a"]])
def test_orders_that_are_none_are_refused(order):
    words = r"the parents of 'y' in the graph are \['a', 'z'\], but its table is said to have"
    with pytest.raises(jn.JensenError, match=words):
        build("z -> y <- a", {**ROOTS, "y": AND_NOT}, parents={"y": order})


def test_what_else_is_wrong_with_orders():
    with pytest.raises(jn.JensenError, match="'x' is no node of the graph; the nodes are: a, y, z"):
        build("z -> y <- a", {**ROOTS, "y": AND_NOT}, parents={"x": ["z", "a"]})
    with pytest.raises(jn.JensenError, match="parents must be a dict by variable, not list"):
        build("z -> y <- a", {**ROOTS, "y": AND_NOT}, parents=["z", "a"])
    shape = r"the table of 'y' must have the shape \(3, 2, 2\) \(z, a, y\), not \(2, 2, 2\)"
    with pytest.raises(jn.JensenError, match=shape):
        build("z -> y <- a", {"z": [1, 0, 0], "a": [1, 0], "y": AND_NOT}, parents={"y": ["z", "a"]})


# --- labels and numbers ---

TABLES = {"a": {"u": 0.5, "v": 0.5}}
LINES = {"x": {"u": {}, "v": {"intercept": 1.0}}}


@pytest.mark.parametrize(
    ("graph", "tables", "regressions", "text"),
    [
        ("x -> a", TABLES, {"x": {}}, "the edge x -> a leads from a number to a label"),
        ("a -> x", TABLES, {}, "'x' has no table, no regression"),
        ("a -> x", {**TABLES, "x": [1.0]}, LINES, "'x' has both a table and a regression"),
        ("a -> x", TABLES, {**LINES, "z": {}}, "'z' is no node of the graph"),
        ("a -> x", TABLES, [1], "regressions must be a dict by variable"),
        ("a -> x", TABLES, {"x": {"u": {}}}, r"'x' needs one regression for every \(a\)"),
        ("a -> x", TABLES, {"x": {"u": {}, "w": {}}}, r"unknown: \[\('w',\)\]"),
        ("a -> x", TABLES, {"x": 3.0}, "'x' are a dict from the labels of its parents"),
        ("a -> x", TABLES, {"x": {"u": {}, "v": {"variance": 0}}}, "'x' needs finite numbers"),
        ("a; y -> x", TABLES, {"x": {}, "y": {}}, "coefficients of 'x' must name each of"),
    ],
)
def test_wrong_parameters_of_labels_and_numbers(graph, tables, regressions, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork.from_parameters(graph, tables, regressions)


def test_parameters_of_a_network_make_it_again():
    net = jn.BayesianNetwork.from_parameters(
        "a -> x; x -> y; a -> y; b -> y",
        tables={**TABLES, "b": [0.2, 0.8]},
        regressions={
            **LINES,
            "y": {
                (a, b): {"intercept": k, "coefficients": {"x": -k}, "variance": 1 + k}
                for k, (a, b) in enumerate([("u", 0), ("u", 1), ("v", 0), ("v", 1)])
            },
        },
    )
    again = jn.BayesianNetwork.from_parameters(
        net.graph,
        {x: net.cpt(x) for x in "ab"},
        {x: net.regression(x) for x in "xy"},
    )
    assert again.equals(net)
    assert net.regression("y")[{"a": "v", "b": 1}].coefficients == {"x": -3.0}
    assert not net.equals(jn.BayesianNetwork.from_parameters("a -> x", TABLES, LINES))
