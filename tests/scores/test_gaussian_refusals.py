"""Every error text of the scores of continuous columns."""

import re

import numpy as np
import pytest

import jensen as jn
from jensen.scores import SCORES
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.registry import names_of

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 30))
DATA = {"x": X, "y": Y}
NO_BOUND = r"so the likelihood has no bound: leave the column out, or use the score 'bge'"


def refused(match, *, error=jn.DataError):
    return pytest.raises(error, match=match)


@pytest.mark.parametrize("name", [name for name in SCORES if name not in names_of("continuous")])
def test_scores_of_states(name):
    others = [other for other in names_of("continuous") if other != "bge"]
    with refused(
        rf"^there is no score '{name}' of continuous columns: choose one of bge, "
        rf"{', '.join(others)}, or make states of the columns with jn.discretize$",
        error=jn.JensenError,
    ):
        jn.score("x -> y", DATA, name)


def test_bge_of_states():
    data = {"a": ["u", "v"], "b": ["u", "u"]}
    with refused(
        r"^the score 'bge' needs continuous columns, and 'a', 'b' are categorical: say "
        r"jn.Table\(..., continuous=\['a', 'b'\]\) if they are numbers$"
    ):
        jn.score("a -> b", data, "bge")


def test_mixed_columns():
    data = {**DATA, "s": ["u", "v"] * 15}
    for name in ("bge", "bdeu", "k2"):
        with refused(
            rf"^there is no score {name!r} of labels and numbers together, and 's' is categorical "
            r"and 'x' holds numbers: choose one of bdeu-bge, loglik, aic, bic, make states of the "
            r"numbers with jn.discretize, or leave out the columns of one kind$"
        ):
            jn.score("s -> x", data, name)
    for name in (None, "bic"):
        with refused(
            r"^the edge x -> s leads from a number to a label, and in a network of both a label "
            r"depends on labels only: reverse the edge, or make states of 'x' "
            r"\(discretize=\{'x': 3\}, or jn.discretize\)$"
        ):
            jn.score("x -> s", data, name)


def test_counts_are_numbers():
    data = {"n": np.arange(0, 60, 2), "x": X}
    measured = jn.Table(data, continuous=["n"])
    for name in ("bge", "bic"):
        assert jn.score("x -> n", data, name) == jn.score("x -> n", measured, name)


def test_missing_values():
    data = {"x": np.where(X > 1.0, np.nan, X), "y": Y}
    with refused(
        r"^the score 'bge' needs complete data, but \d values are missing: x \(\d\); fill them in "
        r"\(net.impute\), or keep only the 2\d complete rows of 30 with table.complete_rows\(\)$"
    ):
        jn.score("x -> y", data, "bge")


def test_infinite_values():
    data = {"x": np.where(X > 1.0, np.inf, X), "y": Y}
    with refused(
        r"^column 'x' holds an infinite value in row \d+, which no Gaussian has: correct it, or "
        r"make it missing, jn.Table\(..., missing=\['inf', '-inf'\]\)$"
    ):
        jn.score("x -> y", jn.Table(data), "bic")


@pytest.mark.parametrize(
    "choices",
    [{"equivalent_sample_size": 1.0}, {"missing": "available-case"}, {"prior_network": "net"}],
)
def test_choices_of_discrete_scores(choices):
    with refused("belong to scores of categorical columns", error=jn.JensenError):
        jn.score("x -> y", DATA, "bic", **choices)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"mean_strength": 0.0}, "mean_strength must be positive and finite, not 0.0"),
        ({"mean_strength": True}, "mean_strength must be positive and finite, not True"),
        ({"degrees_of_freedom": -1}, "degrees_of_freedom must be positive and finite, not -1"),
        (
            {"degrees_of_freedom": 3.0},
            "degrees_of_freedom=3 are too few for 2 columns: give more than 3, or a scale= in "
            "numbers, for which more than 1 will do",
        ),
        (
            {"degrees_of_freedom": 1.0, "scale": 1.0},
            "degrees_of_freedom=1 are too few for 2 columns: give more than 1",
        ),
        ({"prior_mean": "x"}, "prior_mean must hold numbers, not 'x'"),
        ({"prior_mean": [1.0, 2.0, 3.0]}, "prior_mean must be a number, or one for each of the 2"),
        ({"prior_mean": np.nan}, "prior_mean must be a number, or one for each of the 2"),
        ({"prior_mean": {"x": 1.0}}, "prior_mean must name each column once: x, y"),
        ({"scale": [1.0, 2.0]}, "scale must be a number, or a matrix (2, 2) of the columns sorted"),
        (
            {"scale": "units"},
            "scale='units': give 'unit', a number, or a matrix (2, 2) of the columns sorted by "
            "name; None is the variances of the columns",
        ),
        ({"scale": -1.0}, "scale must be positive; a matrix symmetric and positive definite"),
        ({"scale": [[1.0, 2.0], [0.0, 1.0]]}, "scale must be positive; a matrix symmetric and"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, "scale must be positive; a matrix symmetric and"),
        ({"alpha": 1.0}, "there is no choice 'alpha' here: scores have prior, equivalent_sample_"),
        ({"prior_means": 1.0}, "there is no choice 'prior_means': did you mean 'prior_mean'?"),
    ],
)
def test_impossible_priors(choices, text):
    with refused(f"^{re.escape(text)}", error=jn.JensenError):
        jn.score("x -> y", DATA, "bge", **choices)


def test_priors_that_would_be_ignored():
    with refused(r"^bic has no scale: only bge and bdeu-bge have one$", error=jn.JensenError):
        jn.score("x -> y", DATA, "bic", scale=1.0)
    with refused(r"^bdeu has no prior_mean: only bge and bdeu-bge have one$", error=jn.JensenError):
        jn.score("a -> b", {"a": [0, 1], "b": [0, 1]}, "bdeu", prior_mean=0.0)


DEPENDENT = {"x": X, "y": Y, "z": X + Y}


def test_a_child_that_its_parents_determine():
    scorer = GaussianScorer.of(jn.Table(DEPENDENT), "bic")
    text = rf"^'z' is an exact linear function of 'x', 'y', {NO_BOUND}$"
    with refused(text):
        scorer.family(2, [0, 1])
    with refused(text):
        scorer.with_each(2, [0])
    with refused(text):
        jn.score("x -> z <- y", DEPENDENT, "loglik")
    with refused(text):
        scorer.set_value([0, 1, 2])
    with refused(text):
        scorer.all_set_values()
    pairs = scorer.all_set_values(2)
    assert np.isfinite(pairs[:7]).all()
    assert np.isfinite(scorer.with_each(2, [])[:2]).all()
    assert np.isfinite(jn.score("x -> z <- y", DEPENDENT, "bge"))


def test_without_a_parent_the_others_may_determine_a_child():
    scorer = GaussianScorer.of(jn.Table({**DEPENDENT, "w": RNG.normal(size=30)}), "bic")
    names = ("w", "x", "y", "z")
    assert scorer.names == names
    with refused(r"^'z' is an exact linear function of 'x', 'y'"):
        scorer.without_each(3, [0, 1, 2])


def test_a_further_parent_that_the_parents_determine_is_never_worth_it():
    data = {**DEPENDENT, "w": RNG.normal(size=30)}
    scorer = GaussianScorer.of(jn.Table(data), "bic")
    assert scorer.with_each(0, [1, 2])[3] == -np.inf
    assert np.isfinite(scorer.family(0, [1, 2]))
    with refused(r"^'z' is an exact linear function of 'x', 'y'"):
        scorer.family(0, [1, 2, 3])


def test_nearly_dependent_parents_are_told_from_dependent_ones():
    rng = np.random.default_rng(5)
    a, e = rng.normal(size=(2, 200))
    b = a + 1e-4 * e
    data = {"a": a, "b": b, "c": (b - a) * 1e4 + 0.1 * rng.normal(size=200)}
    assert np.isfinite(jn.score("a -> c <- b", data, "bic"))
    with refused("'c' is an exact linear function of 'a', 'b'"):
        jn.score("a -> c <- b", {"a": a, "b": b, "c": (b - a) * 1e4}, "bic")


def test_fewer_rows_than_parents():
    data = {f"x{k}": RNG.normal(size=4) for k in range(6)}
    scorer = GaussianScorer.of(jn.Table(data), "bic")
    with refused(
        r"^4 rows are too few for 'x3' given 3 parents \('x0', 'x1', 'x2'\), "
        rf"{NO_BOUND}, or set a lower max_parents$"
    ):
        scorer.family(3, [0, 1, 2])
    assert np.isfinite(GaussianScorer.of(jn.Table(data), "bge").family(3, [0, 1, 2, 4, 5]))


def test_a_prior_that_is_lost_in_the_numbers():
    data = {name: 1e9 * column for name, column in DEPENDENT.items()}
    text = (
        r"^'z' is an exact linear function of 'x', 'y', as far as rounding tells, and next to "
        r"these numbers the prior of bge is lost: raise scale=, or leave it to its default, the "
        r"variances of the columns, or leave one of them out$"
    )
    with refused(text):
        jn.score("x -> z <- y", data, "bge", scale="unit")
    with refused(text):
        table = jn.Table({**data, "w": X * Y})
        GaussianScorer.of(table, "bge", scale="unit").with_each(0, [1, 2])
    assert np.isfinite(jn.score("x -> z <- y", data, "bge"))
    assert np.isfinite(jn.score("x -> z <- y", data, "bge", scale=1e16))


@pytest.mark.parametrize("name", ["bge", "bic"])
def test_numbers_whose_squares_overflow(name):
    with refused(
        r"^column 'y' holds numbers as large as [\d.]+e\+200, which overflow when they are "
        r"squared: divide the column$"
    ):
        jn.score("x -> y", {"x": X, "y": -1e200 * Y}, name)
    with refused("^column 'x' holds numbers as large as .*: divide the column$"):
        jn.BayesianNetwork("x -> y").fit({"x": 1e200 * X, "y": Y})


@pytest.mark.parametrize("name", ["bge", "bic"])
def test_numbers_whose_squares_vanish(name):
    with refused(
        r"^the values of column 'y' differ by [\d.]+e-170 at most, whose square is as good as 0: "
        r"multiply the column$"
    ):
        jn.score("x -> y", {"x": X, "y": 1e-170 * Y}, name)
    with refused("^the values of column 'x' differ by .*: multiply the column$"):
        jn.BayesianNetwork("x -> y", prior=None if name == "bic" else name).fit(
            {"x": 1e-170 * X, "y": Y}
        )


@pytest.mark.parametrize("unit", [1e130, 1e-130])
def test_units_within_bounds_move_a_likelihood_by_what_they_are(unit):
    moved = jn.score("x -> y", {"x": unit * X, "y": unit * Y}, "bic")
    expected = jn.score("x -> y", DATA, "bic") - 60 * np.log(unit)  # of 60 numbers
    assert moved == pytest.approx(expected, rel=1e-12)


def test_a_column_without_any_value():
    for data in ({**DATA, "z": [np.nan] * 30}, {**DATA, "z": [None] * 30}):
        for name in ("bge", "bic"):
            with refused(r"^column 'z' has no value at all: leave it out$"):
                jn.score("x -> z", data, name)
            with refused(r"^column 'z' has no value at all: leave it out$"):
                jn.score("x -> z", jn.Table(data, continuous=["z"]), name)


def test_no_rows():
    empty = jn.Table({"x": [1.5], "y": [2.5]}, weights=[0.0])
    for name in ("bic", "bge"):
        with refused("^there is nothing to learn from: the table has no rows, or no weight$"):
            jn.score("x -> y", empty, name)
    was_set = np.zeros(30, np.int64)
    with refused("^'x' was set in every row, so none is left to score it by$"):
        GaussianScorer.of(jn.Table(DATA), "bic", interventions=was_set)
