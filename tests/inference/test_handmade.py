"""Networks from tables that somebody typed."""

import numpy as np
import pytest

import jensen as jn

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
