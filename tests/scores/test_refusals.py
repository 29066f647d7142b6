"""Every error text of a score."""

import numpy as np
import pytest

import jensen as jn
from jensen.scores import SCORES, make_score
from jensen.scores.registry import SAMPLE_SIZED, SPECS
from jensen.support.text import either

TABLE = {"a": [0, 1, 1], "b": [0, 0, 1]}


def test_unknown_scores():
    with pytest.raises(
        jn.JensenError,
        match=rf"^there is no score 'bdx': choose one of {', '.join(SPECS)}; did you mean 'bds'\?$",
    ):
        jn.score("a -> b", TABLE, "bdx")


def test_a_score_of_continuous_columns():
    with pytest.raises(
        jn.JensenError, match=r"^'bge' is a score of continuous columns: use 'bdeu' for states$"
    ):
        make_score("bge")


@pytest.mark.parametrize("name", [name for name in SCORES if name not in SAMPLE_SIZED])
def test_a_sample_size_that_would_be_ignored(name):
    with pytest.raises(
        jn.JensenError,
        match=f"^{name} has no equivalent_sample_size: only {either(SAMPLE_SIZED, 'and')} have",
    ):
        make_score(name, 1.0)


@pytest.mark.parametrize("size", [0, -1, float("inf"), float("nan"), "3", True, 1j, [1.0]])
def test_impossible_sample_sizes(size):
    with pytest.raises(jn.JensenError, match="equivalent_sample_size must be positive and finite"):
        jn.score("a -> b", TABLE, "bdeu", equivalent_sample_size=size)


def test_unknown_ways_with_missing_values():
    with pytest.raises(
        jn.JensenError, match=r"^missing must be 'refuse' or 'available-case', not 'drop'$"
    ):
        jn.score("a -> b", TABLE, "bic", missing="drop")


def test_nodes_that_are_no_columns():
    with pytest.raises(jn.DataError, match="there is no column 'c'"):
        jn.score("a -> c", TABLE)


@pytest.mark.parametrize("wide", [False, True])
def test_numbers_are_no_parents_of_labels(wide):
    parents = {f"x{k}": [0, 1, 2] for k in range(12 if wide else 1)}
    table = jn.Table(parents | {"y": [0.5, 1.5, 2.5]}, states={x: range(10) for x in parents})
    assert np.isfinite(jn.score(jn.DAG.from_parents({"y": list(parents)}), table))
    with pytest.raises(jn.DataError, match=r"^the edge y -> x0 leads from a number to a label"):
        jn.score(jn.DAG.from_parents({"x0": ["y", *list(parents)[1:]]}), table)


def test_fnml_needs_whole_numbers():
    table = jn.Table(TABLE, weights=[1.0, 0.5, 1.0])
    with pytest.raises(
        jn.DataError,
        match=r"^fnml sums over data sets of a size, so row weights must be integers$",
    ):
        jn.score("a -> b", table, "fnml")
