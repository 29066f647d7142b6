"""Local scores in GOBNILP's files: read, written, and refused in words."""

import math

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import FileError, JensenError
from jensen.io.jkl import dumps, loads
from jensen.q_graph.optimum.dynamic_programming import best_network
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer

SMALL = """3
b 2
-5.5 0
-3 1 a
a 1
-4.25 0
c 3
-7 2 b a
-8.5 1 b
-inf 0
"""


def make_table(seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, 200)
    columns = {"a": a, "b": (a + rng.integers(0, 2, 200)) % 3, "c": rng.integers(0, 2, 200)}
    columns["d"] = (columns["b"] > 0) ^ (rng.random(200) < 0.2)
    return jn.Table({x: v.astype(str) for x, v in columns.items()})


def test_a_file_as_it_is_written_by_others():
    scores = loads(SMALL, "x.jkl")
    assert scores.names == ("a", "b", "c")
    assert dict(scores.families["c"]) == {("a", "b"): -7.0, ("b",): -8.5, (): -math.inf}
    assert scores.family(2, [1, 0]) == -7.0
    assert scores.family(0, [1]) == -math.inf
    assert repr(scores) == "LocalScores: 3 variables, 6 families"
    assert best_network(scores) == ([(), (0,), (0, 1)], -14.25)


def test_it_answers_like_any_scorer():
    scores = loads(SMALL, "x.jkl")
    assert scores.without_each(2, [0, 1]).tolist() == [-8.5, -math.inf]
    assert scores.with_each(2, [0]).tolist() == [-math.inf, -7.0, -math.inf]


@pytest.mark.parametrize("text", [SMALL.replace("\n", "\r\n"), "\n" + SMALL + "\n \n", SMALL[:-1]])
def test_empty_lines_and_line_ends_mean_nothing(text):
    assert dumps(loads(text, "x.jkl")) == dumps(loads(SMALL, "x.jkl"))


@pytest.mark.parametrize("name", ["scores.jkl", "scores.jkl.gz"])
@pytest.mark.parametrize("score", ["bdeu", "k2"])
def test_scores_of_a_table_come_back_to_the_bit(name, score, tmp_path):
    table, path = make_table(), tmp_path / name
    jn.write_local_scores(path, table, score, max_parents=2)
    scores, scorer = jn.read_local_scores(path), make_scorer(table, score)
    assert sum(map(len, scores.families.values())) == 4 * (1 + 3 + 3)
    for child, x in enumerate(scores.names):
        for parents, value in scores.families[x].items():
            above = [scores.names.index(p) for p in parents]
            assert value == pytest.approx(scorer.family(child, above), rel=1e-12)
    again = tmp_path / "again.jkl"
    jn.write_local_scores(again, scores)
    assert jn.read_local_scores(again).families == scores.families
    parents, total = best_network(scores)
    assert parents == best_network(scorer, max_parents=2)[0]
    assert total == pytest.approx(best_network(scorer, max_parents=2)[1], rel=1e-12)


def test_choices_of_the_score_are_passed_on(tmp_path):
    table, path = make_table(), tmp_path / "x.jkl"
    jn.write_local_scores(path, table, "bdeu", max_parents=0, equivalent_sample_size=7.0)
    expected = make_scorer(table, "bdeu", equivalent_sample_size=7.0).family(0, [])
    assert jn.read_local_scores(path).families["a"][()] == pytest.approx(expected, rel=1e-12)


def test_impossible_families_are_not_written():
    assert "-inf" not in dumps(loads(SMALL, "x.jkl"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SMALL, "", "line 1: expected the number of variables, but found the end of the file"),
        ("3\n", "x\n", "line 1: expected the number of variables, but found 'x'"),
        ("3\n", "-3\n", "line 1: expected the number of variables, but found '-3'"),
        ("3\n", "3 4\n", "line 1: expected the number of variables, but found '3 4'"),
        ("3\n", "2\n", "line 7: expected the end of the file, but found 'c 3'"),
        ("3\n", "4\n", "line 10: expected a name and how many sets of parents follow, but found"),
        ("b 2", "b", "line 2: expected a name and how many sets of parents follow, but found 'b'"),
        ("b 2", "b two", "line 2: expected how many sets of parents 'b' has, but found 'two'"),
        ("b 2", "b 3", "line 5: expected a score, but found 'a'"),
        ("b 2", "b 1", "line 4: expected a name and how many sets of parents follow"),
        ("a 1", "b 1", "line 5: the variable 'b' stands twice"),
        ("-5.5 0", "nan 0", "line 3: expected a score, but found 'nan'"),
        ("-5.5 0", "inf 0", "line 3: expected a score, but found 'inf'"),
        ("-5.5 0", "-5_5 0", "line 3: expected a score, but found '-5_5'"),
        ("-5.5 0", "-5.5", "line 3: expected a score, how many parents, and their names"),
        ("-5.5 0", "-5.5 0.5", "line 3: expected how many parents, but found '0.5'"),
        ("-5.5 0", "-5.5 1", "line 3: expected 1 parent, but found 0"),
        ("-3 1 a", "-3 0 a", "line 4: expected 0 parents, but found 1"),
        ("-3 1 a", "-3 1 b", "line 4: 'b' is a parent of its own"),
        ("-3 1 a", "-3 1 z", "line 4: there is no variable 'z' in this file"),
        ("-3 1 a", "-3 2 a a", "line 4: a parent stands twice"),
        ("-3 1 a", "-3 0", r"line 4: the parents \(none\) of 'b' stand twice"),
        ("-8.5 1 b", "-8.5 2 a b", "line 9: the parents a b of 'c' stand twice"),
        ("-inf 0\n", "", "line 9: expected a score.*of 'c', but found the end of the file"),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(old, new, message):
    with pytest.raises(FileError, match=f"^x.jkl, {message}"):
        loads(SMALL.replace(old, new, 1), "x.jkl")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*none.jkl: No such file"):
        jn.read_local_scores(tmp_path / "none.jkl")
    bad = tmp_path / "bad.jkl"
    bad.write_bytes(b"1\n\xff 0\n")
    with pytest.raises(FileError, match=r"bad.jkl: byte 3 is not UTF-8 text"):
        jn.read_local_scores(bad)


@pytest.mark.parametrize("path", [3, None, b"scores.jkl", ["scores.jkl"]])
def test_what_is_no_path(path):
    text = "^local scores stand in a file, and .* is no path$"
    with pytest.raises(FileError, match=text):
        jn.read_local_scores(path)
    with pytest.raises(FileError, match=text):
        jn.write_local_scores(path, make_table())


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match=r"a .jkl file holds no names with spaces, as 'a b' has"):
        jn.write_local_scores(tmp_path / "x.jkl", LocalScores.of({"a b": {(): -1.0}}))
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileError, match="there is no folder"):
        jn.write_local_scores(tmp_path / "no" / "x.jkl", make_table())
    with pytest.raises(JensenError, match="max_parents must be a whole number, 0 or more, not -1"):
        jn.write_local_scores(tmp_path / "x.jkl", make_table(), max_parents=-1)
