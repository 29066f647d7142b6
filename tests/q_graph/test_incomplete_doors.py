"""Rows with holes behind the other doors: k best graphs, bootstrap, cross-validation, refusals."""

import math

import numpy as np
import pytest

import jensen as jn
from jensen.graphs import as_dag


def rows(n=150, rate=0.2, seed=0, names="abc"):
    """A chain of labels, each the one before with 15 % flipped; some are missing."""
    rng = np.random.default_rng(seed)
    columns, last = {}, rng.random(n) < 0.5
    for name in names:
        columns[name] = np.where(rng.random(n) < rate, None, np.where(last, "y", "n"))
        last = last ^ (rng.random(n) < 0.15)
    return columns


# --- the k best graphs ---


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
def test_the_best_of_all_graphs_has_the_score_of_structural_em(score):
    table = rows()
    found = jn.k_best(table, k=25, score=score, random_state=0)
    exact = jn.learn_structure(table, "exact", score, random_state=0)
    assert len(found) == 25  # all graphs of three variables
    assert found[0].score == pytest.approx(exact.info.score, abs=1e-3)
    assert found[0].graph.cpdag() == exact.cpdag()
    assert np.all(np.diff(found.scores) <= 1e-9)
    assert found[3].log_bayes_factor == pytest.approx(found.best - found[3].score)


def test_scores_are_bounds_of_the_evidence():
    """With two rows all completions can be listed: log p(observed | graph) is a sum over them."""
    table = {"a": ["n", "y", "n", None], "b": ["n", None, "y", "y"]}
    for graph, score, _ in jn.k_best(table, k=3, random_state=0):
        each = [
            jn.score(graph, {"a": ["n", "y", "n", a], "b": ["n", b, "y", "y"]}, "bdeu")
            for a in "ny"
            for b in "ny"
        ]
        assert score <= np.logaddexp.reduce(each) + 1e-9


TEN_CASES = ["1?0", "111", "?01", "11?", "000", "0?1", "?11", "000", "11?", "000"]


def test_the_ten_cases_of_cooper_and_herskovits_with_holes():
    """All 25 graphs by the sum over 64 completions, and J below it."""
    columns = {
        f"x{v}": [None if case[v] == "?" else case[v] for case in TEN_CASES] for v in range(3)
    }
    listed = jn.k_best(columns, k=25, random_state=0)
    exact = np.array(
        [
            jn.log_evidence(jn.BayesianNetwork(one.graph, prior="bdeu"), columns, "exact").value
            for one in listed
        ]
    )
    assert np.logaddexp.reduce(exact) == pytest.approx(-15.252414903208543, abs=1e-10)
    assert exact.max() == pytest.approx(-17.14360499552614, abs=1e-10)
    assert np.all([one.score for one in listed] < exact)
    found = jn.learn_structure(columns, random_state=0)
    assert found.cpdag() == jn.DAG("x0 -> x1; x2").cpdag() == listed[exact.argmax()].graph.cpdag()
    assert listed[0].score == pytest.approx(found.info.score, abs=1e-6)
    assert -17.5 < found.info.score < exact.max()


def test_a_higher_bound_for_each_graph_by_itself():
    table = rows(rate=0.4, n=60)
    for graph, score, _ in jn.k_best(table, k=6, random_state=0):
        own = jn.BayesianNetwork(graph, prior="bdeu", random_state=0, n_init=3).fit(table)
        assert own.free_energy_ >= score - 1e-4


def test_k_best_takes_what_a_search_takes():
    table = rows()
    held = jn.k_best(table, k=4, required="a -> c", max_parents=1, random_state=0)
    assert all(("a", "c") in graph.edges for graph, _, _ in held)
    hidden = jn.k_best(table, k=2, hidden={"h": 2}, random_state=0)
    assert hidden[0].graph.nodes == ("a", "b", "c", "h")
    prior = jn.k_best(table, bayes_factor=3.0, prior={("b", "a"): 0.0}, random_state=0)
    assert all(("b", "a") not in graph.edges for graph, _, _ in prior)
    other = jn.k_best(table, k=2, score="bic", missing="available-case")
    assert other[0].score == pytest.approx(
        jn.score(other[0].graph, table, "bic", missing="available-case")
    )
    with pytest.raises(jn.DataError, match="needs complete data"):
        jn.k_best(table, missing="refuse")
    with pytest.raises(jn.JensenError, match=r"^k_best lists the graphs of 16 variables at most"):
        jn.k_best(rows(names="abcdefghijklmnopq"))


# --- bootstrap and cross-validation ---


def test_edges_of_a_bootstrap():
    strengths = jn.bootstrap_edges(rows(n=80), 3, random_state=0)
    again = jn.bootstrap_edges(rows(n=80), 3, random_state=0)
    assert strengths.strength("a", "b") == again.strength("a", "b") > 0.5
    assert strengths.averaged().nodes == ("a", "b", "c")
    hidden = jn.bootstrap_edges(rows(n=60), 2, random_state=0, hidden={"h": 2}, score="bic")
    assert hidden.averaged().nodes == ("a", "b", "c", "h")
    with pytest.raises(
        jn.JensenError, match=r"^missing_indicators= has no meaning for a bootstrap"
    ):
        jn.bootstrap_edges(rows(), 2, missing_indicators=True)


def test_a_column_that_has_no_value_in_the_drawn_rows():
    table = rows(n=40, rate=0.1)
    table["d"] = np.array(["u"] + [None] * 39, object)
    table["d"][1] = "v"
    with pytest.warns(jn.DataWarning, match=r"'d' .* in up to . of the 6 tables"):
        strengths = jn.bootstrap_edges(table, 6, random_state=0, score="bic")
    assert strengths.n_graphs == 6
    assert max(strengths.strength("d", x) for x in "abc") < 1.0


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
@pytest.mark.parametrize("choices", [{}, {"hidden": {"h": 2}, "score": "bic"}])
def test_losses_of_rows_that_were_left_out(choices):
    table = rows(n=90)
    learned = jn.cross_validate(table, folds=3, random_state=0, **choices)
    assert math.isfinite(learned.mean)
    empty = jn.cross_validate(table, jn.DAG((), ["a", "b", "c"]), folds=3, random_state=0)
    assert learned.mean < empty.mean
    again = jn.cross_validate(table, folds=3, random_state=0, **choices)
    assert np.array_equal(learned.losses, again.losses)
    by_target = jn.cross_validate(table, folds=3, random_state=0, target="b", **choices)
    assert by_target.mean < 0.7
    with pytest.raises(jn.JensenError, match=r"^cross_validate predicts columns, and missing_ind"):
        jn.cross_validate(table, missing_indicators=True)


# --- what a new user meets ---


@pytest.mark.parametrize(
    ("change", "choices", "message"),
    [
        ({}, {"missing": "structural"}, "^missing must be 'structural-em', .*, not 'str"),
        ({}, {"missing": None}, "^missing must be .*, not None$"),
        ({}, {"completion": "drawn"}, "^completion must be 'exact', 'map', 'draw' or 'mode', not"),
        ({}, {"completion": "draw", "missing": "refuse"},
         "^completion= has no meaning with missing='refuse': only with missing='structural-em'$"),
        ({}, {"hidden": {"h": 2}, "missing": "available-case", "score": "bic"},
         "^hidden= has no meaning with missing='available-case'"),
        ({}, {"missing_indicators": True, "missing": "node-average"},
         "^missing_indicators= has no meaning with missing='node-average'"),
        ({}, {"missing": "refuse"}, "needs complete data, but"),
        ({}, {"score": "fnml"}, "^the score 'fnml' needs complete rows: where values are"),
        ({}, {"score": "bds"}, "^the score 'bds' needs complete rows"),
        ({}, {"score": "bde", "prior_network": 1}, "^the score 'bde' needs complete rows"),
        ({}, {"score": "bge"}, "^the score 'bge' needs complete rows"),
        ({}, {"score": "best"}, "^there is no score 'best': choose one of"),
        ({}, {"scale": 3.0}, "^scale= has no meaning where labels are missing or hidden"),
        ({}, {"score": "bic", "equivalent_sample_size": 3}, "^bic has no equivalent_sample_size$"),
        ({}, {"score": "aic", "missing": "node-average"}, "leave out score='aic'$"),
        ({}, {"hidden": {"a": 2}}, "^'a' is declared hidden, but is a column: leave out one of"),
        ({}, {"hidden": {"h": 1}}, "^the hidden variable 'h' needs two states at least"),
        ({}, {"hidden": 3}, "^hidden must be a dict from name to its number of states, not 3$"),
        ({}, {"required": "h -> a"}, "^required= names 'h', which is no column"),
        ({}, {"method": "pc", "hidden": {"h": 2}}, "^hidden= has no meaning for method='pc'"),
        ({"e": [None] * 150}, {}, "^column 'e' has no value at all: leave it out; if .*'e': 2"),
        ({x: [None] * 150 for x in "abc"}, {}, "^there is nothing to learn from: all values are"),
        ({"a missing": ["u", "v"] * 75}, {"missing_indicators": True},
         "^there is a column 'a missing' already: rename it$"),
    ],
)  # fmt: skip
def test_what_is_refused(change, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.learn_structure({**rows(), **change}, **choices)


def test_choices_that_belong_to_a_table():
    with pytest.raises(jn.JensenError, match=r"^hidden= belongs to a table: scores= says it all$"):
        jn.learn_structure(scores="gone.jkl", hidden={"h": 2})


def test_indicators_need_holes():
    with pytest.raises(jn.DataError, match=r"^missing_indicators=True: no value is missing, so"):
        jn.learn_structure(rows(rate=0.0), missing_indicators=True)


@pytest.mark.parametrize(
    ("table", "warning"),
    [
        ({"a": ["x"], "b": [None], "c": ["z"]}, None),
        ({"a": ["x", None, "x"], "b": ["y", None, "z"]}, "column 'a' .'x'. holds one label only"),
        ({"a": [f"r{k}" for k in range(40)], "b": ["u", None, "v", "u"] * 10},
         "labels that hardly ever come"),
    ],
)  # fmt: skip
def test_rows_that_say_little(table, warning):
    if warning is None:
        with pytest.raises(jn.DataError, match=r"^column 'b' has no value at all"):
            jn.learn_structure(table)
        return
    with pytest.warns(jn.DataWarning, match=warning):
        assert jn.learn_structure(table, random_state=0).edges == ()


def test_a_column_of_one_label_stands_alone():
    """All graphs that differ there have the same J, and edges there would say nothing."""
    table = rows(n=80) | {"d": ["x"] * 40 + [None] * 40}
    with pytest.warns(jn.DataWarning, match="holds one label only"):
        found = jn.learn_structure(table, random_state=0)
    assert not {*found.parents("d"), *found.children("d")}
    with pytest.warns(jn.DataWarning, match="holds one label only"):
        held = jn.learn_structure(table, random_state=0, required="a -> d")
    assert ("a", "d") in held.edges


@pytest.mark.parametrize("way", ["available-case", "node-average"])
def test_classes_have_no_scores_on_rows_of_each_family(way):
    told = f"^with missing='{way}' the graphs of an equivalence class score differently, .* leave"
    with pytest.raises(jn.JensenError, match=told):
        jn.learn_structure(rows(), "ges", "bic", missing=way)
    complete = jn.learn_structure(rows(rate=0.0), "ges", "bic", missing="available-case")
    assert isinstance(complete, jn.CPDAG)


def test_one_row_with_states_that_are_declared():
    table = jn.Table({"a": ["x"], "b": ["u"]}, states={"a": ["x", "y"], "b": ["u", "v"]})
    with pytest.warns(jn.DataWarning, match="there is one row to learn from"):
        found = jn.learn_structure(table, hidden={"h": 2}, random_state=0)
    assert as_dag(found).nodes == ("a", "b", "h")


def test_states_that_never_occur_are_states():
    plain, declared = (
        jn.learn_structure(jn.Table(rows(), states=states), random_state=0, score="bic")
        for states in ({}, {"a": ["n", "y", "maybe"]})
    )
    assert declared.info.score < plain.info.score


@pytest.mark.parametrize("edge", [("h", "a"), ("a", "h")])
def test_edges_of_hidden_variables_may_be_required(edge):
    found = jn.learn_structure(rows(n=80), hidden={"h": 2}, required=[edge], random_state=0)
    assert edge in found.edges


def test_an_estimator_that_learns_its_graph_resumes_too(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.2, None, np.where(rng.random(200) < 0.9, a, 1 - a))
    path = tmp_path / "run"
    one, other = (
        jn.BayesianNetwork(random_state=0).fit({"a": a, "b": b}, checkpoint=path) for _ in range(2)
    )
    assert (tmp_path / "run.graph").exists()
    assert one.graph == other.graph
    assert one.free_energy_ == other.free_energy_
