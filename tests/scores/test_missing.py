"""Missing values: refused by name, or averaged over where that has a meaning."""

import math

import pytest
from naive import scores as naive

import jensen as jn
from jensen.scores import SCORES
from jensen.scores.registry import AVAILABLE
from jensen.support.text import either

PENALISED = list(AVAILABLE[::-1])
EXACT = [name for name in SCORES if name not in PENALISED]


@pytest.mark.parametrize("name", PENALISED)
@pytest.mark.parametrize("missing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("graph", ["a -> b -> c", "a -> c <- b", "a; b; c"])
def test_available_cases_are_averaged(make_example, name, missing, graph):
    """Bodewes and Scutari (2021), the node-average likelihood, times N."""
    example, dag = make_example(50, (2, 3, 2), missing=missing), jn.DAG(graph)
    found = jn.local_scores(dag, example.table, name, missing="available-case")
    for x in dag.nodes:
        expected = naive.SCORES[name].states(example.rows, example.states, x, dag.parents(x))
        assert found[x] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", PENALISED)
def test_available_case_changes_nothing_where_nothing_is_missing(make_example, name):
    table = make_example(30, (2, 3)).table
    expected = jn.score("a -> b", table, name)
    assert jn.score("a -> b", table, name, missing="available-case") == expected


def test_weights_count_in_the_average():
    columns = {"a": ["u", "u", "v", None], "b": ["x", "y", None, "x"]}
    table = jn.Table(columns, weights=[1.0, 2.0, 4.0, 8.0])
    found = jn.local_scores("a -> b", table, "loglik", missing="available-case")
    a = 3 * math.log(3 / 7) + 4 * math.log(4 / 7)
    b = 1 * math.log(1 / 3) + 2 * math.log(2 / 3)
    assert found["a"] == pytest.approx(15 / 7 * a, rel=1e-14)
    assert found["b"] == pytest.approx(15 / 3 * b, rel=1e-14)


@pytest.mark.parametrize("name", PENALISED)
def test_what_was_never_seen_together_cannot_win(name):
    table = jn.Table({"a": ["u", "v", None, None], "b": [None, None, "x", "y"]})
    assert jn.score("a -> b", table, name, missing="available-case") == -math.inf
    assert math.isfinite(jn.score("a; b", table, name, missing="available-case"))


@pytest.mark.parametrize("name", EXACT)
def test_available_cases_have_no_meaning_for_the_others(make_example, name):
    with pytest.raises(
        jn.JensenError,
        match=f"^missing='available-case' has a meaning for {either(PENALISED, 'and')} only, "
        f"not {name}$",
    ):
        jn.score("a -> b", make_example(9, (2, 2)).table, name, missing="available-case")


@pytest.mark.parametrize("name", [*PENALISED, *EXACT])
def test_missing_values_are_refused_by_name(name):
    table = {"a": [0, 1, None], "b": [None, None, 1], "c": [1, 1, 0]}
    with pytest.raises(jn.DataError) as error:
        jn.score("a -> b -> c", table, name)
    assert str(error.value) == (
        f"the score {name!r} needs complete data, but 3 values are missing: a (1), b (2); "
        f"use 'bic' with missing='available-case', or leave out the "
        f"columns with the most gaps (none of the 3 rows is complete)"
    )


def test_a_single_missing_value_is_one_value_and_long_lists_are_cut():
    with pytest.raises(jn.DataError, match=r"but 1 value is missing: a \(1\); use"):
        jn.score("a", {"a": [0, None]}, "bic")
    many = {f"x{k}": [0, None] for k in range(11)}
    with pytest.raises(jn.DataError, match=r"x6 \(1\) and 3 more columns; use"):
        jn.score(jn.DAG([], list(many)), many, "bic")


def test_columns_that_are_no_nodes_may_miss_anything():
    table = {"a": [0, 1, 1], "other": [None, 1, 2]}
    assert jn.score("a", table, "bic") == jn.score("a", {"a": [0, 1, 1]}, "bic")


def test_a_column_without_any_value_is_refused():
    for table in [{"a": [None, None], "b": [0, 1]}, {"a": [0, 1], "b": [None, None]}]:
        with pytest.raises(
            jn.DataError,
            match=r"^column '[ab]' has no value at all: leave it out$",
        ):
            jn.score("a -> b", table, "bic", missing="available-case")


@pytest.mark.parametrize("name", ["bdeu", "bic"])
def test_nothing_else_is_advised_where_a_column_has_no_value(name):
    for more in ({}, {"states": {"b": ["u", "v"]}}):
        table = jn.Table({"a": ["x", "y", "x"], "b": [None] * 3}, **more)
        with pytest.raises(jn.DataError, match=r"^column 'b' has no value at all: leave it out$"):
            jn.score("a -> b", table, name)


def test_rows_that_count_nothing_may_miss_values():
    table = jn.Table({"a": ["x", "y", None]}, weights=[1, 2, 0])
    written = jn.Table({"a": ["x", "y", "y"]})
    assert jn.score("a", table, "bdeu") == jn.score("a", written, "bdeu")
    assert jn.BayesianNetwork("a").fit(table).cpt("a")[()]["x"] == 1 / 3
