"""What may be asked of a graph, and every refusal."""

import numpy as np
import pytest

import jensen as jn
from jensen.q_graph.constraints import as_lists, read_constraints, read_start

NAMES = ("a", "b", "c", "d")


def edges(flags):
    return {NAMES[u] + NAMES[v] for u, v in np.argwhere(flags)}


def test_nothing_asked():
    found = read_constraints(NAMES)
    assert not found.required.any()
    assert not found.forbidden.any()
    assert found.most_parents == 4
    expected = np.full((4, 4), 3) - np.eye(4)
    np.testing.assert_array_equal(found.allowed, expected)
    assert found.allowed.dtype == np.uint8


@pytest.mark.parametrize(
    "given",
    [
        [("a", "b"), ("c", "b")],
        (("a", "b"), ["c", "b"]),
        {("a", "b"): 1, ("c", "b"): 2},
        np.array([["a", "b"], ["c", "b"]]),
        (pair for pair in [("a", "b"), ("c", "b")]),
        "a -> b; c -> b",
        "a -> b <- c;",
        "a -> b, c -> b",
        jn.DAG("a -> b <- c"),
    ],
)
def test_edges_in_many_forms(given):
    given = list(given) if not isinstance(given, str | jn.DAG) else given
    assert edges(read_constraints(NAMES, required=given).required) == {"ab", "cb"}
    assert edges(read_constraints(NAMES, forbidden=given).forbidden) == {"ab", "cb"}


def test_iterators_are_read_as_often_as_one_likes():
    given = {
        "required": (iter(pair) for pair in [("c", "d"), ("a", "b")]),
        "forbidden": np.array([["b", "a"]]),
        "tiers": iter([{"b", "a"}, iter("c")]),
        "max_parents": 2,
    }
    assert as_lists(given) == {
        "required": [("a", "b"), ("c", "d")],
        "forbidden": [("b", "a")],
        "tiers": [["a", "b"], ["c"]],
        "max_parents": 2,
    }


def test_both_directions_may_be_forbidden_in_a_text():
    found = read_constraints(NAMES, forbidden="a -> b; b -> a; c -> d")
    assert edges(found.forbidden) == {"ab", "ba", "cd"}


@pytest.mark.parametrize(
    ("tiers", "expected"),
    [
        ([["a", "b"], ["c", "d"]], {"ca", "cb", "da", "db"}),
        ([["d"], ["a"]], {"ad"}),
        ([["c"], ["a"], ["b"]], {"ac", "bc", "ba"}),
        ([], set()),
        ((("b",), ("a",)), {"ab"}),
        ([{"b"}, {"a"}], {"ab"}),
    ],
)
def test_tiers(tiers, expected):
    """No edge back; whoever stands in no tier may have any."""
    assert edges(read_constraints(NAMES, tiers=tiers).forbidden) == expected


def test_what_may_be_added_and_dropped():
    found = read_constraints(NAMES, required="a -> b", forbidden="c -> d", tiers=[["d"], ["a"]])
    allowed = {(NAMES[u], NAMES[v]): int(x) for (u, v), x in np.ndenumerate(found.allowed)}
    assert allowed["a", "b"] == 1
    assert allowed["c", "d"] == allowed["a", "d"] == 2
    assert allowed["b", "a"] == allowed["d", "c"] == 3
    assert all(allowed[x, x] & 1 == 0 for x in NAMES)


REFUSALS = [
    ({"max_parents": -1}, "^max_parents must be a whole number, 0 or more, not -1$"),
    ({"max_parents": True}, "^max_parents must be a whole number, 0 or more, not True$"),
    ({"max_parents": 1.5}, "^max_parents must be a whole number, 0 or more, not 1.5$"),
    ({"max_parents": "2"}, "^max_parents must be a whole number, 0 or more, not '2'$"),
    (
        {"required": "a -> b", "forbidden": [("a", "b")]},
        "^the edge a -> b is required and forbidden at once: leave one out$",
    ),
    (
        {"required": "d -> a", "tiers": [["a"], ["d"]]},
        "^the edge d -> a is required, but leads back to an earlier tier$",
    ),
    (
        {"required": "a -> b; b -> c; c -> a"},
        "^the required edges make a cycle: a -> b -> c -> a$",
    ),
    ({"required": [("a", "b"), ("b", "a")]}, "^the required edges make a cycle: a -> b -> a$"),
    (
        {"required": "a -> c; b -> c", "max_parents": 1},
        "^max_parents=1, but 2 edges to 'c' are required$",
    ),
    ({"required": ["ab"]}, r"^required= lists pairs \(from, to\), not 'ab'$"),
    ({"forbidden": [("a", "b", "c")]}, r"^forbidden= lists pairs \(from, to\), not \('a', 'b', 'c"),
    ({"required": [("a", "z")]}, "^required= names 'z', which is no column; the columns are: "),
    ({"forbidden": "z -> a"}, "^forbidden= names 'z', which is no column; the columns are: "),
    ({"forbidden": [("a", "a")]}, "^forbidden= has an edge from 'a' to itself$"),
    (
        {"required": [{"a", "b"}]},
        r"^required= has the set of 'a' and 'b', which has no direction: write the pair "
        r"\('a', 'b'\), or \('b', 'a'\)$",
    ),
    ({"required": "a -- b"}, "lists arrows, not 'a -- b'"),
    ({"tiers": ["ab", "c"]}, r"^tiers= is a list of lists of names; write \['ab'\]$"),
    ({"tiers": [["a"], ["z"]]}, "^tiers= names 'z', which is no column; the columns are: "),
    ({"tiers": [["a", "b"], ["a"]]}, "^tiers= names 'a' twice$"),
    ({"tiers": [["a", "a"]]}, "^tiers= names 'a' twice$"),
    (
        {"tiers": [["a", "b"]]},
        "^tiers= has a single tier, which forbids nothing, for a variable in no tier may have any "
        "edge: add a tier of those that come later$",
    ),
    ({"tiers": [["a"], [], ["b"]]}, "^tiers= has a tier without names: leave it out$"),
    ({"tiers": [[]]}, "^tiers= has a tier without names: leave it out$"),
]


@pytest.mark.parametrize(("choices", "text"), REFUSALS)
@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
def test_refusals(choices, text, method):
    with pytest.raises(jn.JensenError, match=text):
        read_constraints(NAMES, **choices)
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure({x: ["u", "v"] for x in NAMES}, method, **choices)


def test_a_start_gets_the_required_edges():
    rules = read_constraints(NAMES, required="a -> b")
    assert edges(read_start(None, NAMES, rules)) == {"ab"}
    assert edges(read_start("c -> d", NAMES, rules)) == {"ab", "cd"}
    assert edges(read_start([("d", "c")], NAMES, rules)) == {"ab", "dc"}
    assert edges(read_start(jn.DAG("a -> b"), NAMES, rules)) == {"ab"}
    assert edges(rules.required) == {"ab"}


@pytest.mark.parametrize(
    ("start", "choices", "text"),
    [
        ("a -> z", {}, "^start= has a node 'z' that is no column; the columns are: "),
        ("z", {}, "^start= has a node 'z' that is no column; the columns are: "),
        ("a -> b", {"forbidden": "a -> b"}, "^the edge a -> b of start= is forbidden$"),
        ("d -> a", {"tiers": [["a"], ["d"]]}, "^the edge d -> a of start= is forbidden$"),
        (
            "b -> c -> a",
            {"required": "a -> b"},
            "^start= together with the required edges makes a cycle: a -> b -> c -> a$",
        ),
        (
            "a -> c <- b",
            {"max_parents": 1},
            "^start= gives 'c' more parents than max_parents=1$",
        ),
        ("a -> b -> a", {}, "cycle"),
    ],
)
def test_starts_that_are_refused(start, choices, text):
    with pytest.raises(jn.GraphError, match=text):
        read_start(start, NAMES, read_constraints(NAMES, **choices))


def test_names_in_quotes_and_lines():
    names = ("a;b", "c", "d")
    found = read_constraints(names, forbidden='"a;b" -> c\nc -> "a;b"').forbidden
    assert found.tolist() == [[False, True, False], [True, False, False], [False, False, False]]


@pytest.mark.parametrize("given", [None, 5, [5], [("a", ["b"])], [("a", "b", "c")]])
def test_what_is_no_list_of_edges(given):
    with pytest.raises(jn.GraphError, match="required= lists pairs"):
        read_constraints(("a", "b", "c"), required=given)


@pytest.mark.parametrize("given", [5, "ab", [5]])
def test_what_are_no_tiers(given):
    with pytest.raises(jn.GraphError, match="tiers= is a list of lists"):
        read_constraints(("a", "b", "c"), tiers=given)


def test_no_tiers_forbid_nothing():
    for given in (None, (), []):
        assert not read_constraints(("a", "b", "c"), tiers=given).forbidden.any()
