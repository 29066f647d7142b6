"""Structural EM of labels and numbers: expected statistics, J, and graphs that are found again."""

from itertools import product

import numpy as np
import pytest
from models.test_mixed_network import all_gaps, layout_of, random_t
from naive import mixed as naive
from scipy.special import logsumexp

import jensen as jn
from jensen.exceptions import DataError, DataWarning, JensenError
from jensen.inference import completed_cells
from jensen.inference.completed_cells import CellParameters, complete_cells, expected_moments
from jensen.q_graph.structural import structural_em
from jensen.q_graph.structural.mixed import IncompleteMixed
from jensen.q_graph.structural.objective import Objective
from jensen.q_graph.structural.reading import all_variables

CARDS = {"K": 2, "L": 3}
HERE = "K -> x; x -> y; L -> y; K -> L"
OTHERS = ["L -> K; L -> x; K -> y", "K -> x; L -> x; K -> y; L -> y; y -> x", "x -> y; K; L"]


def brute_force(layout, other, theta, rows, *, best=False):
    """Counts and moments of another graph under q(h), by enumeration; no cell is left out.

    Or by the most probable labels of each row, with numbers at their means given these.
    """
    counts, moments = np.zeros(int(other.wiring.fam_at[-1])), np.zeros(other.form_at[-1])
    for codes, values, weight in zip(*rows, strict=True):
        found, _ = naive.row_problem(layout, *theta, codes, values, drop=False)
        if best:
            states, value, second = max(found, key=lambda one: one[1])
            found = [(states, value, np.outer(second[0], second[0]))]
        log_z = logsumexp([value for _, value, _ in found])
        for states, value, second in found:
            share = weight * np.exp(value - log_z)
            for u in range(len(other.labels)):
                at = slice(other.wiring.fam_ptr[u], other.wiring.fam_ptr[u + 1])
                chosen = np.array(states)[other.wiring.fam_vars[at]]
                counts[other.wiring.fam_at[u] + chosen @ other.wiring.fam_stride[at]] += share
            for v, k in enumerate(other.n_members):
                config = sum(step * states[u] for u, step in other.strides[v].items())
                places = [0, *(u + 1 for u in other.number_parents[v]), v + 1]
                at = other.form_at[v] + config * (1 + k * k)
                block = second[np.ix_(places, places)].ravel()
                moments[at : at + 1 + k * k] += share * np.append(1.0, block)
    return counts, moments


@pytest.mark.parametrize("graph", [HERE, *OTHERS])
def test_expected_statistics_of_any_graph_equal_brute_force(graph):
    rng = np.random.default_rng(0)
    dag, layout = layout_of(HERE, CARDS)
    theta = CellParameters(*random_t(layout, rng, is_mean=True))
    rows = all_gaps(layout, rng)
    completed = complete_cells(layout, dag.nodes, theta, rows, (), rng)
    assert completed.is_exact
    assert completed.lost < 1e-5
    _, other = layout_of(graph, CARDS)
    found = expected_moments(other, completed, np.full(len(completed.weight), -1))
    for ours, theirs in zip(found, brute_force(layout, other, theta, rows), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)  # completions cut at 1e-7


def test_the_most_probable_completion_equals_brute_force():
    rng = np.random.default_rng(0)
    dag, layout = layout_of(HERE, CARDS)
    theta = CellParameters(*random_t(layout, rng, is_mean=False))
    rows = all_gaps(layout, rng)
    completed = complete_cells(layout, dag.nodes, theta, rows, (), rng, "mode")
    assert not completed.is_exact
    _, other = layout_of(OTHERS[0], CARDS)
    found = expected_moments(other, completed, np.full(len(completed.weight), -1))
    wanted = brute_force(layout, other, theta, rows, best=True)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_drawn_completions_have_the_expected_statistics(monkeypatch):
    monkeypatch.setattr(completed_cells, "N_DRAWS", 4000)
    rng = np.random.default_rng(0)
    dag, layout = layout_of(HERE, CARDS)
    theta = CellParameters(*random_t(layout, rng, is_mean=False))
    rows = all_gaps(layout, rng)
    completed = complete_cells(layout, dag.nodes, theta, rows, (), rng, "draw")
    assert (completed.is_exact, completed.spreads) == (False, ())
    found = expected_moments(layout, completed, np.full(len(completed.weight), -1))
    for ours, theirs in zip(found, brute_force(layout, layout, theta, rows), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=0.05 * np.abs(theirs).max())


def test_at_one_network_j_bounds_the_evidence():
    """Missing labels are summed out; the evidence of complete rows has a closed form."""
    columns = rows_with_holes(12, 0.0, 1)
    columns["a"][[2, 7]], columns["c"][5] = None, None
    joined = np.zeros((5, 5), bool)
    joined[[0, 0, 2, 3], [1, 3, 4, 4]] = True  # a -> b, a -> x, c -> y, x -> y
    objective, how = Objective("bdeu-bge", 1.0), {"max_iter": 200, "tol": 1e-12}
    rng, values = np.random.default_rng(0), []

    def fitted(own, objective):
        table = jn.Table(own, states={"a": ["n", "y"], "b": ["p", "q"], "c": ["0", "1", "2"]})
        rows = IncompleteMixed.of(table, all_variables(table, {}), None, (None,) * 4)
        return rows.fit(objective, joined, rng, **how).value

    for first, second, third in product("ny", "ny", "012"):
        full = {name: column.copy() for name, column in columns.items()}
        full["a"][[2, 7]], full["c"][5] = [first, second], third
        values.append(fitted(full, objective))
    found = fitted(columns, objective._replace(at_map=True))
    assert logsumexp(values) - 3.0 < found <= fitted(columns, objective) + 1e-9
    assert fitted(columns, objective) <= logsumexp(values) + 1e-9


def test_maps_draws_and_modes_are_no_ascents(monkeypatch):
    monkeypatch.setattr(structural_em, "CHEAP", 0)  # few restarts
    table = rows_with_holes(80, 0.2, 4)
    exact = jn.learn_structure(table, random_state=0).info
    for completion in ("map", "draw", "mode"):
        info = jn.learn_structure(table, completion=completion, random_state=0).info
        assert (info.completion, info.ascends, info.is_bound) == (completion, False, True)
        assert (info.statistics == "exact") == (completion == "map")
        assert exact.score - 3.0 < info.score <= exact.score + 1e-6


def test_draws_stand_for_rows_with_too_many_completions(monkeypatch):
    monkeypatch.setattr(completed_cells, "MOST", 2)
    monkeypatch.setattr(completed_cells, "DRAWS", 4000)
    rng = np.random.default_rng(0)
    dag, layout = layout_of(HERE, CARDS)
    theta = CellParameters(*random_t(layout, rng, is_mean=False))
    rows = all_gaps(layout, rng)
    completed = complete_cells(layout, dag.nodes, theta, rows, (), rng)
    assert not completed.is_exact
    found = expected_moments(layout, completed, np.full(len(completed.weight), -1))
    for ours, theirs in zip(found, brute_force(layout, layout, theta, rows), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=0.2 * np.abs(theirs).max())


def rows_with_holes(n, share, seed):
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 2, n), rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.2)) % 2
    x = 2.0 * a + rng.normal(size=n)
    y = x * np.array([0.5, -1.0, 2.0])[c] + 0.3 * rng.normal(size=n)
    columns = {
        "a": np.array(["n", "y"], object)[a],
        "b": np.array(["p", "q"], object)[b],
        "c": np.array(["0", "1", "2"], object)[c],
        "x": 1e3 + x,
        "y": y,
    }
    for column in columns.values():
        column[rng.random(n) < share] = None if column.dtype == object else np.nan
    return columns


TRUE = jn.DAG("a -> b; a -> x; c -> y; x -> y")


@pytest.mark.parametrize("score", ["bic", None])
def test_the_graph_is_found_behind_holes(score):
    found = jn.learn_structure(rows_with_holes(500, 0.2, 6), score=score, random_state=0)
    assert found.shd(TRUE) == 0
    assert found.info.statistics == "exact"
    assert found.info.is_bound == (score is None)
    rises = np.diff(found.info.trace)
    assert rises.min(initial=0.0) >= -1e-9 * (abs(found.info.score) + 500)


@pytest.mark.parametrize("seed", range(6))
def test_j_never_falls(seed):
    """A fall with all completions listed would raise."""
    score = ("bic", "bdeu-bge")[seed % 2]
    table = rows_with_holes(60, 0.3, seed)
    found = jn.learn_structure(table, score=score, random_state=seed, max_parents=2)
    assert found.info.ascends


def test_graph_and_parameters_in_one_call():
    table = rows_with_holes(300, 0.1, 3)
    learned = jn.BayesianNetwork(prior="bdeu-bge", random_state=0).fit(table).graph
    assert learned.info.score_name == "bdeu-bge"
    net = jn.BayesianNetwork(learned, prior={"strength": 1.0}, random_state=0).fit(table)
    assert net.free_energy_ >= learned.info.score - 1e-3  # cells that show nothing are left out
    both = jn.BayesianNetwork(prior={"strength": 1.0}, random_state=0).fit(table)
    assert both.graph.info.score == learned.info.score


def test_units_change_nothing():
    table = rows_with_holes(200, 0.2, 4)
    scaled = {**table, "x": table["x"] * 1e-3, "y": 7.0 - 100.0 * table["y"]}
    one, other = (jn.learn_structure(t, random_state=0) for t in (table, scaled))
    assert one.shd(other) == 0
    n_x, n_y = (np.count_nonzero(~np.isnan(table[name])) for name in "xy")
    moved = n_x * np.log(1e-3) + n_y * np.log(100.0)
    np.testing.assert_allclose(one.info.score - moved, other.info.score, rtol=1e-8)


def test_hidden_labels_above_numbers():
    rng = np.random.default_rng(2)
    h = rng.integers(0, 2, 300)
    table = {name: 5.0 * h + rng.normal(size=300) for name in "xyz"}
    found = jn.learn_structure(table, hidden={"H": 2}, random_state=0)
    assert {edge for edge in found.edges if edge[0] == "H"} == {("H", name) for name in "xyz"}


def test_rows_in_which_a_variable_was_set():
    table = rows_with_holes(300, 0.1, 5)
    known = ~np.isnan(table["x"])
    was_set = ["x" if k and i % 3 == 0 else None for i, k in enumerate(known)]
    found = jn.learn_structure(table, interventions=was_set, random_state=0)
    assert ("x", "y") in found.edges or ("c", "y") in found.edges


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"completion": "map", "score": "bic"}, "completion='map' .* use score='bdeu-bge'"),
        ({"score": "k2"}, "there is no score 'k2' of labels and numbers together"),
        ({"required": [("x", "a")]}, "the edge x -> a leads from a number to a label"),
        ({"hidden": {"a": 2}}, "'a' is declared hidden, but is a column"),
        ({"score": "bic", "scale": 2.0}, "bic has no scale"),
    ],
)
def test_what_cannot_be_is_refused(choices, text):
    with pytest.raises((DataError, JensenError), match=text):
        jn.learn_structure(rows_with_holes(50, 0.2, 0), **choices)


def with_rare_label(n=60):
    """A number that depends on a label, of which one state has a single row; holes in both."""
    rng = np.random.default_rng(0)
    a = np.array(["n", "y"], object)[rng.integers(0, 2, n)]
    x = np.where(a == "y", 2.0, 0.0) + rng.normal(size=n)
    a[0], x[rng.random(n) < 0.1] = "rare", np.nan
    x[0] = 3.5
    return {"a": np.where((rng.random(n) < 0.1) & (a != "rare"), None, a), "x": x}


def test_a_likelihood_without_a_bound_in_one_configuration(tmp_path):
    """No graph has that family, as where nothing is missing; a prior bounds it."""
    table = with_rare_label()
    choices = {"score": "bic", "random_state": 0, "checkpoint": tmp_path / "run"}
    with pytest.warns(DataWarning, match=r"where a=rare, .*: no graph has such a family"):
        found = jn.learn_structure(table, **choices)
    assert found.edges == ()
    fit = jn.BayesianNetwork(found).fit(table)
    assert found.info.score == pytest.approx(fit.free_energy_ - 0.5 * np.log(60) * 4, abs=1e-6)
    again = jn.learn_structure(table, **choices)
    assert (again, again.info.starts) == (found, found.info.starts)
    assert jn.learn_structure(table, random_state=0).edges == (("a", "x"),)
    with pytest.raises(DataError, match=r"^the likelihood of 'x' .*bdeu-bge', whose prior bounds"):
        jn.learn_structure(table, score="bic", required="a -> x")
    with pytest.raises(DataError, match=r"^the likelihood of 'x' .* parents; leave out a column$"):
        jn.chow_liu(table)


@pytest.mark.parametrize("names", ["ab", "xy", "abx"])
def test_rows_without_a_value_change_no_bound(names):
    """They have probability 1 under all graphs; a penalty counts them among the rows."""
    rows = rows_with_holes(60, 0.15, 0)
    columns = {name: rows[name] for name in names}
    none = {name: None if rows[name].dtype == object else np.nan for name in names}
    more = {name: np.append(column, [none[name]] * 9) for name, column in columns.items()}
    for score in (None, "bic"):
        one, other = (
            jn.learn_structure(table, score=score, random_state=0) for table in (columns, more)
        )
        if score is None:
            assert (one, one.info.score) == (other, other.info.score)
        else:
            assert one.info.score - 9.0 < other.info.score < one.info.score
