"""Rows in which a variable was set are left out of its family, and of no other."""

import numpy as np
import pytest

import jensen as jn
from jensen.scores import SCORES
from jensen.scores.interventions import split_interventions
from jensen.scores.make_scorer import make_scorer
from jensen.scores.registry import PENALISED

NAMES = ["a", "b", "c"]
FAMILIES = [(0, []), (0, [1]), (1, [0, 2]), (2, [0]), (2, [])]


def make_table(kind, n_rows=120, weights=None):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 3)) @ np.triu(np.ones((3, 3)))
    if kind == "continuous":
        return jn.Table(dict(zip(NAMES, x.T, strict=True)), weights=weights)
    labels = np.where(x > 0.5, "high", np.where(x < -0.5, "low", "some"))
    return jn.Table(dict(zip(NAMES, labels.T, strict=True)), weights=weights)


def was_set(n_rows=120):
    """Nothing, "c" or "a", in turn; "b" never."""
    return [None, "c", "a", None] * (n_rows // 4)


def not_set(table, name):
    return table.take(np.array([label != name for label in was_set(table.n_rows)]))


@pytest.mark.parametrize(
    ("kind", "score"),
    [("categorical", s) for s in SCORES] + [("continuous", s) for s in PENALISED],
)
def test_scores_are_those_of_the_other_rows(kind, score):
    """Of each family by itself, in all that a search asks, to 1e-11."""
    table = make_table(kind)
    scorer = make_scorer(table, score, interventions=was_set())
    assert scorer.names == tuple(NAMES)
    assert not scorer.is_set_function
    for child, parents in FAMILIES:
        alone = make_scorer(not_set(table, NAMES[child]), score)
        for question in ("family", "without_each"):
            found = getattr(scorer, question)(child, parents)
            expected = getattr(alone, question)(child, parents)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
        others = [u for u in range(3) if u != child and u not in parents]
        found, expected = (s.with_each(child, parents)[others] for s in (scorer, alone))
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_bge_keeps_the_prior_of_all_rows():
    """Its prior is made of all rows, so each child is scored with these means and variances."""
    table = make_table("continuous")
    mean = {x: float(np.mean(table.column(x).data)) for x in NAMES}
    scale = 0.5 * np.diag([np.var(table.column(x).data) for x in NAMES])
    scorer = make_scorer(table, "bge", interventions=was_set())
    for child, parents in FAMILIES:
        alone = make_scorer(not_set(table, NAMES[child]), "bge", prior_mean=mean, scale=scale)
        assert scorer.family(child, parents) == pytest.approx(alone.family(child, parents))


@pytest.mark.parametrize("kind", ["categorical", "continuous"])
def test_rows_with_weights(kind):
    weights = np.tile([1.0, 2.0, 0.5], 40)
    table = make_table(kind, weights=weights)
    scorer = make_scorer(table, "bic", interventions=was_set())
    for child, parents in FAMILIES:
        alone = make_scorer(not_set(table, NAMES[child]), "bic")
        assert scorer.family(child, parents) == pytest.approx(alone.family(child, parents))


@pytest.mark.parametrize(
    "given",
    [
        was_set(),
        tuple(was_set()),
        np.array(was_set(), object),
        np.array([x or "" for x in was_set()]),
        [float("nan") if x is None else x for x in was_set()],
        (x for x in was_set()),
    ],
    ids=["list", "tuple", "objects", "empty text", "nan", "generator"],
)
def test_entries_in_many_forms(given):
    table, codes = split_interventions(make_table("categorical"), given)
    assert table.names == tuple(NAMES)
    np.testing.assert_array_equal(codes, [-1, 2, 0, -1] * 30)


def test_a_column_of_names_is_no_variable():
    columns = {x: make_table("categorical").column(x) for x in ("c", "a", "b")}
    codes = {x: np.array(c.variable.states)[c.data] for x, c in columns.items()}
    table = jn.Table({"INT": was_set(), **codes})
    rest, found = split_interventions(table, "INT")
    assert rest.names == ("c", "a", "b")
    np.testing.assert_array_equal(found, [-1, 2, 0, -1] * 30)
    by_column = jn.learn_structure(table, interventions="INT", score="bic")
    by_entries = jn.learn_structure(rest, interventions=was_set(), score="bic")
    assert by_column == by_entries
    assert by_column.nodes == ("a", "b", "c")


@pytest.mark.parametrize("kind", ["categorical", "continuous"])
@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
def test_nothing_was_set(kind, method):
    table = make_table(kind)
    found = jn.learn_structure(table, method, interventions=[None] * 120)
    assert found == jn.learn_structure(table, method)
    assert found.info.score == pytest.approx(jn.score(found, table, found.info.score_name))


def test_interventions_tell_directions_apart():
    """In a → b → c each of a and b is set in a third of the rows: the arrows are learned."""
    rng = np.random.default_rng(0)
    n = 3000
    target = rng.choice(["", "a", "b"], n)
    a = rng.integers(0, 2, n)
    b = np.where(target == "b", rng.integers(0, 2, n), a ^ (rng.random(n) < 0.2))
    c = b ^ (rng.random(n) < 0.2)
    # with the names turned round, so that ties by name would point the other way
    table = jn.Table({"z": a.astype(str), "y": b.astype(str), "x": c.astype(str)})
    names = np.array([{"a": "z", "b": "y", "": ""}[label] for label in target])
    for method in ("hill-climb", "tabu", "exact"):
        found = jn.learn_structure(table, method, "bdeu", interventions=names)
        assert found == jn.DAG("z -> y; y -> x")


def test_a_variable_that_was_always_set():
    """Its family has no rows, so no parents help it; continuous ones have no likelihood then."""
    table = make_table("categorical")
    found = jn.learn_structure(table, score="bic", interventions=["b"] * 120)
    assert found.parents("b") == ()
    with pytest.raises(jn.DataError, match=r"'b' was set in every row, so none is left to score"):
        jn.learn_structure(make_table("continuous"), score="bic", interventions=["b"] * 120)


def test_refusals():
    table = make_table("categorical")
    with pytest.raises(jn.DataError, match=r"^interventions has 3 entries for 120 rows$"):
        split_interventions(table, ["a", None, "b"])
    with pytest.raises(
        jn.DataError,
        match=r"^interventions: 'z' is no column; each row names the column that was set in it "
        r"\(by its name, not by its number\), or nothing; the columns are: ",
    ):
        split_interventions(table, ["z"] + [None] * 119)
    with pytest.raises(jn.DataError, match="there is no column 'INT'"):
        split_interventions(table, "INT")
    numbers = jn.Table({"a": ["x", "y"], "INT": [0.5, 1.5]})
    with pytest.raises(
        jn.DataError,
        match=r"^interventions='INT': the column must name the variable that was set in each row, "
        r"or be empty; it holds numbers$",
    ):
        split_interventions(numbers, "INT")
    named = jn.Table({"a": ["x", "y"], "INT": [None, "a"]})
    with pytest.raises(
        jn.DataError,
        match=r"^interventions='INT' tells what was set in each row, so it is no variable of a "
        r"graph: leave it out of the graph$",
    ):
        jn.score("a -> INT", named, "bic", interventions="INT")
    itself = jn.Table({"a": ["x", "y"], "INT": ["INT", "a"]})
    with pytest.raises(jn.DataError, match="'INT' is no column"):
        split_interventions(itself, "INT")


@pytest.mark.parametrize(("kind", "name"), [("categorical", "bdeu"), ("continuous", "bic")])
def test_what_was_set_need_not_be_a_node(kind, name):
    """Rows in which another column was set count for all nodes."""
    table = make_table(kind)
    other = next(x for x in sorted(table.names) if x not in "ab")
    was_set = [other if k % 3 == 0 else "b" if k % 3 == 1 else None for k in range(120)]
    only_b = [x if x == "b" else None for x in was_set]
    expected = jn.score("a -> b", table.select(["a", "b"]), name, interventions=only_b)
    assert jn.score("a -> b", table, name, interventions=was_set) == pytest.approx(
        expected, rel=1e-12
    )
    columns = {x: table.to_pandas()[x] for x in table.names}
    with_column = jn.Table({**columns, "INT": was_set})
    assert jn.score("a -> b", with_column, name, interventions="INT") == pytest.approx(
        expected, rel=1e-12
    )


def test_nothing_in_many_forms():
    import pandas as pd

    table = jn.Table({"a": list("xyxyxy"), "b": list("uvvuuv")})
    entries = [None, "", float("nan"), pd.NA, np.float32("nan"), "a"]
    _, was_set = split_interventions(table, entries)
    assert was_set.tolist() == [-1] * 5 + [0]


def test_a_number_is_no_list_of_interventions():
    with pytest.raises(jn.DataError, match="a column, or one name per row, not 5"):
        split_interventions(jn.Table({"a": ["x"]}), 5)


def test_an_empty_text_in_a_column_names_nothing():
    table = jn.Table({"a": list("xyxy"), "b": list("uvvu"), "INT": ["", "a", "", "b"]})
    rest, was_set = split_interventions(table, "INT")
    assert rest.names == ("a", "b")
    assert was_set.tolist() == [-1, 0, -1, 1]


@pytest.mark.parametrize("name", list(SCORES))
def test_the_score_of_a_graph_leaves_out_rows_too(name):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 60)
    b = np.where(rng.random(60) < 0.8, a, 1 - a)
    set_ = np.array([None, "a", "b"], object)[rng.integers(0, 3, 60)]
    table = jn.Table({"a": a.astype(str), "b": b.astype(str), "c": ["x"] * 60, "INT": set_})
    found = jn.local_scores("a -> b", table, name, interventions="INT")
    for child in "ab":
        rows = table.take(np.array([entry != child for entry in set_]))
        expected = jn.local_scores("a -> b", rows, name)[child]
        assert found[child] == pytest.approx(expected, rel=1e-12)
    dag = jn.learn_structure(table.select(["a", "b", "INT"]), score=name, interventions="INT")
    total = jn.score(dag, table, name, interventions="INT")
    assert dag.info.score == pytest.approx(total, rel=1e-12)
