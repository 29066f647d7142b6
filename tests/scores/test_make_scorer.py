"""Which scorer a table has, and every refusal."""

import numpy as np
import pytest

import jensen as jn
from jensen.scores import SCORES
from jensen.scores.categorical_scorer import CategoricalScorer
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.interventions import PerChild
from jensen.scores.make_scorer import CountScorer, make_scorer

STATES = {"b": ["x", "y", "x", "y"] * 5, "a": ["u", "u", "v", "v"] * 5}
NUMBERS = {"b": [0.5, 1.25, -1.5, 2.0] * 5, "a": [0.75, 0.5, 3.5, 1.5] * 5}


@pytest.mark.parametrize(
    ("table", "choices", "kind"),
    [
        (STATES, {}, CountScorer),
        (STATES, {"score": "bic", "missing": "available-case"}, CountScorer),
        (STATES, {"score": "fnml"}, CategoricalScorer),
        (STATES | {"b": [None, "x", "y", "x"] * 5}, {"score": "bic"}, CategoricalScorer),
        (jn.Table(STATES, weights=np.ones(20)), {}, CategoricalScorer),
        (STATES, {"interventions": ["a"] + [None] * 19}, PerChild),
        (NUMBERS, {}, GaussianScorer),
        (NUMBERS, {"score": "bic"}, GaussianScorer),
        (NUMBERS, {"interventions": ["a"] + [None] * 19}, GaussianScorer),
    ],
)
def test_which_scorer(table, choices, kind):
    if kind is CategoricalScorer and choices.get("score") == "bic":
        choices = choices | {"missing": "available-case"}
    scorer = make_scorer(table, **choices)
    assert type(scorer) is kind
    assert scorer.names == ("a", "b")


@pytest.mark.parametrize("score", list(SCORES))
def test_weights_are_repetitions(score):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (40, 3))
    weights = rng.integers(0, 4, 40)
    states = {x: ["0", "1", "2"] for x in "abc"}
    table = jn.Table(dict(zip("abc", codes.T.astype(str), strict=True)), states=states)
    weighted = make_scorer(table.with_weights(weights), score)
    repeated = make_scorer(table.take(np.repeat(np.arange(40), weights)), score)
    for child, parents in [(0, []), (1, [0]), (2, [0, 1])]:
        for question in ("family", "without_each", "with_each"):
            found, expected = (getattr(s, question)(child, parents) for s in (weighted, repeated))
            if question == "with_each":
                rest = [u for u in range(3) if u != child and u not in parents]
                found, expected = found[rest], expected[rest]
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("score", ["bge", "bic"])
def test_weights_of_numbers_are_repetitions(score):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    table = jn.Table(dict(zip("abc", x.T, strict=True)))
    repeated = table.take(np.repeat(np.arange(40), weights))
    for child, parents in [(0, []), (1, [0]), (2, [0, 1])]:
        found = make_scorer(table.with_weights(weights), score).family(child, parents)
        expected = make_scorer(repeated, score).family(child, parents)
        assert found == pytest.approx(expected, rel=1e-10)


def test_families_are_those_of_score():
    table = jn.Table(STATES)
    for score in ("bdeu", "bic", "k2"):
        terms = jn.local_scores("a -> b", table, score)
        scorer = make_scorer(table, score)
        assert scorer.family(1, [0]) == pytest.approx(terms["b"], rel=1e-12)
        assert scorer.family(0, []) == pytest.approx(terms["a"], rel=1e-12)


def test_a_prior_network():
    network = jn.BayesianNetwork("a -> b", prior=1.0).fit(STATES)
    choices = {"prior_network": network, "equivalent_sample_size": 5.0}
    scorer = make_scorer(STATES, "bde", **choices)
    expected = jn.score("b -> a", STATES, "bde", **choices)
    assert scorer.family(1, []) + scorer.family(0, [1]) == pytest.approx(expected, rel=1e-12)


REFUSALS = [
    (
        {"a": [0.5, 1.5], "b": ["x", "y"]},
        {"missing": "available-case", "score": "bic"},
        r"^missing= belongs to scores of categorical columns, not to these$",
    ),
    (
        {"a": [0.5, None, 1.5], "b": ["x", "y", "x"]},
        {},
        r"^the score 'bdeu-bge' needs complete data, but 1 value is missing: a \(1\); fill them in "
        r"\(net.impute\), or keep only the 2 complete rows of 3 with table.complete_rows\(\)$",
    ),
    (
        {"a": [0.5, 1.5], "b": ["x", "y"]},
        {"score": "bic", "equivalent_sample_size": 2.0},
        r"^bic has no equivalent_sample_size: only bdeu, bds, bde and bdeu-bge have one$",
    ),
    (
        {"a": [0.5, 1.5], "b": ["x", "y"]},
        {"score": "bic", "scale": 2.0},
        r"^bic has no scale: only bge and bdeu-bge have one$",
    ),
    (
        {"a": [0.5, 1.5], "b": ["x", "y"]},
        {"strength": 0.1, "scale": 2.0},
        r"^strength= weakens the prior mean and a scale that is made of it: leave out scale=, or "
        r"strength=$",
    ),
    (
        {"a": [0.5, 1.5], "b": ["x", "y"]},
        {"strength": -1.0},
        r"^strength must be positive and finite, not -1.0$",
    ),
    (
        {"b": ["x", "y"]},
        {"score": "bdeu-bge"},
        r"^'bdeu-bge' is a score of labels and numbers together: use 'bdeu' for states$",
    ),
    (
        {"a": [0.5, 1.5]},
        {"score": "bdeu-bge"},
        r"^there is no score 'bdeu-bge' of continuous columns: choose one of bge, loglik, aic, bic",
    ),
    ({"INT": ["INT"]}, {"interventions": "INT"}, "'INT' is no column"),
    ({"INT": [None]}, {"interventions": "INT"}, "^the table has no columns to learn a graph of$"),
    (
        {"a": ["x", None, "y"], "b": ["u", "v", "u"]},
        {},
        r"^the score 'bdeu' needs complete data, but 1 value is missing: a \(1\); keep only "
        r"the 2 complete rows of 3 with table\.complete_rows\(\), "
        r"or, if hardly any are missing, use 'bic' with missing='available-case'$",
    ),
    (
        {"a": [0.5, None, 1.5]},
        {},
        r"^the score 'bge' needs complete data, but 1 value is missing: a \(1\); fill them in",
    ),
    ({"a": ["x", "y"], "b": [None, None]}, {"missing": "available-case", "score": "bic"},
     "^column 'b' has no value at all: leave it out$"),
    ({"a": ["x", "y"], "b": [None, None]}, {}, "^column 'b' has no value at all: leave it out$"),
    ({"a": [0.5, 1.5], "b": [None, None]}, {}, "^column 'b' has no value at all: leave it out$"),
    (
        {"a": [], "b": []},
        {"score": "bge"},
        "^there is nothing to learn from: the table has no rows, or no weight$",
    ),
    (
        STATES,
        {"prior_mean": 0.0, "scale": 1.0},
        r"^prior_mean, scale: these choices belong to scores of continuous columns$",
    ),
    (
        NUMBERS,
        {"equivalent_sample_size": 2.0},
        r"^equivalent_sample_size= belongs to scores of categorical columns, not to these$",
    ),
    (NUMBERS, {"missing": "available-case"}, "^missing= belongs to scores of categorical columns"),
    (NUMBERS, {"prior_network": "a -> b"}, "^prior_network= belongs to scores of categorical"),
    (NUMBERS, {"score": "k2"}, "^there is no score 'k2' of continuous columns: choose one of bge"),
    (STATES, {"score": "bge"}, "^'bge' is a score of continuous columns: use 'bdeu' for states$"),
    (STATES, {"score": "bdx"}, "^there is no score 'bdx': choose one of loglik, aic"),
    (STATES, {"score": "bde"}, "^the score 'bde' and prior_network= go together"),
    (STATES, {"score": "k2", "equivalent_sample_size": 1.0}, "^k2 has no equivalent_sample_size"),
    (STATES, {"missing": "drop"}, "^missing must be 'refuse' or 'available-case', not 'drop'$"),
    (STATES, {"missing": "available-case"}, "has a meaning for loglik, aic.* only, not bdeu"),
    (NUMBERS, {"score": "bic", "scale": 1.0}, "scale"),
    (
        jn.Table(STATES, weights=[0.5] * 20),
        {"score": "fnml"},
        "^fnml sums over data sets of a size, so row weights must be integers$",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("table", "choices", "text"), REFUSALS)
def test_refusals(table, choices, text):
    with pytest.raises(jn.JensenError, match=text):
        make_scorer(table, **choices)


def test_a_column_without_a_value_is_refused():
    table = jn.Table({"a": ["x", "y"], "b": [None, None]}, states={"b": ["u", "v"]})
    with pytest.raises(jn.DataError, match="column 'b' has no value at all: leave it out"):
        make_scorer(table, "bic", missing="available-case")


@pytest.mark.parametrize("columns", [{"a": ["x", "y"]}, {"a": [0.5, 1.5]}])
def test_a_misspelled_choice_is_refused(columns):
    with pytest.raises(jn.JensenError, match="no choice 'max_parent'"):
        jn.learn_structure(columns, max_parent=3)


def test_a_vanishing_sample_size_is_refused_as_everywhere():
    table = jn.Table({"a": ["x", "y"], "b": ["u", "v"]})
    with pytest.raises(jn.JensenError, match="too small"):
        make_scorer(table, "bdeu", equivalent_sample_size=5e-324).family(0, [1])
