"""Structural EM on columns of numbers: exact moments, a bound that never falls, what is found."""

import math
from dataclasses import replace

import numpy as np
import pytest
from naive import expected as naive
from naive import gaussian_networks, structures
from naive import graphs as naive_graphs
from naive.search import random_graph
from scipy.special import logsumexp

import jensen as jn
from jensen.data.number_rows import NumberRows
from jensen.exceptions import DataError, DataWarning, JensenError
from jensen.families import inner, kl, linear_regression, log_evidence
from jensen.free_energy import VBEM, fit, state_at
from jensen.graphs import DAG
from jensen.inference.gaussian_joint import joint
from jensen.models.gaussian_network import Regressions, encode
from jensen.q_graph import methods
from jensen.q_graph.classes.graph import are_equivalent
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.structural import structural_em
from jensen.q_graph.structural.numbers import IncompleteNumbers
from jensen.q_graph.structural.objective import Objective
from jensen.q_graph.structural.reading import with_indicators
from jensen.q_graph.structural.structural_em import StructuralTask
from jensen.scores.registry import SPECS
from jensen.support.fields import add, zip_fields

NO_PARTS = (None,) * 4
BGE = Objective("bge", 1.0)


def bic(weight):
    return Objective("bic", SPECS["bic"].penalty(weight))


def numbers(seed, n_rows, n, missing=0.0, probability=0.5):
    """Rows of a random network of regressions, and its graph."""
    rng = np.random.default_rng(seed)
    joined = random_graph(rng, n, probability)
    slopes = joined * rng.choice([-1.0, 1.0], (n, n)) * rng.uniform(0.5, 1.2, (n, n))
    noise = rng.standard_normal((n_rows, n)) * rng.uniform(0.5, 2.0, n) + rng.normal(size=n)
    values = noise @ np.linalg.inv(np.eye(n) - slopes)
    values[rng.random(values.shape) < missing] = np.nan
    return values, joined


def table_of(values, weights=None):
    names = [f"x{k}" for k in range(values.shape[1])]
    columns = dict(zip(names, values.T, strict=True))
    return jn.Table(columns, continuous=names, weights=weights)


def incomplete(seed, n_rows, n, missing=0.3, targets=None, weights=None):
    values, joined = numbers(seed, n_rows, n, missing)
    if targets is not None:
        was_set = targets >= 0
        values[was_set, targets[was_set]] = np.linspace(-1.0, 1.0, was_set.sum())
    return IncompleteNumbers.of(table_of(values, weights), targets, NO_PARTS), joined


def fitted(data, objective, joined, sweeps=3):
    return data.fit(objective, joined, np.random.default_rng(0), max_iter=sweeps, tol=1e-12)


def totals(scorer, joined):
    parents = enumerate(np.flatnonzero(column).tolist() for column in joined.T)
    return math.fsum(scorer.family(v, above) for v, above in parents)


# --- expected moments ---


def test_moments_of_a_point_network_are_those_of_gaussian_conditioning():
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    data, joined = incomplete(0, 40, 4, weights=weights)
    found = fitted(data, bic(weights.sum()), joined)
    model = joint(found.model.finish(found.state, is_posterior=False))
    rows = data.rows.values() - data.shift
    wanted = naive.moments(model.mean - data.shift, model.covariance, rows, weights)
    completed = data.complete(found, "exact", np.random.default_rng(0))
    np.testing.assert_allclose(completed.squares, wanted[None], rtol=1e-10, atol=1e-12)
    assert (completed.is_exact, completed.lost) == (True, 0.0)
    assert completed.total_weight == pytest.approx(weights.sum())


@pytest.mark.parametrize("has_targets", [False, True])
def test_families_and_the_entropy_add_up_to_the_bound(has_targets):
    """Σ A(prior + E[n]) - A(prior) + base measure + H[q(h)] is F at the posterior of E[n]."""
    targets = np.repeat([-1, 1, 3], [24, 8, 8]) if has_targets else None
    data, joined = incomplete(3, 40, 4, targets=targets)
    found = fitted(data, BGE, joined)
    rows = data.rows.values() - data.shift
    squares, entropy = [], 0.0
    for target in data.sets:
        chosen = slice(None) if targets is None else targets == target
        regressions = [
            (v, parents, [part[0] for part in linear_regression.to_standard(eta)])
            for v, (parents, eta) in enumerate(
                zip(found.model.parents, found.state.eta.regressions, strict=True)
            )
            if v != target
        ]
        part, more = naive.variational_moments(
            regressions, rows[chosen], np.ones(len(rows[chosen]))
        )
        squares.append(part)
        entropy += more
    completed = data.complete(found, "exact", np.random.default_rng(0))
    np.testing.assert_allclose(completed.squares, squares, rtol=1e-10, atol=1e-12)

    model, stats = found.model, found.model.blank
    for target, part in zip(data.sets, squares, strict=True):
        stats = add(stats, model.stats_of(part, (target,)))
    eta = Regressions(*add(model.prior, stats))
    t = zip_fields(lambda family, one: family.mean_stats(one), model.families, eta)
    cost = kl(model.families.regressions, model.prior.regressions, eta.regressions, t.regressions)
    n_explained = sum(float(one.count[0]) for one in stats.regressions)
    bound = inner(stats, t) - 0.5 * n_explained * math.log(2.0 * math.pi) - cost + entropy
    total = totals(data.scorer(BGE, completed), joined) + entropy
    assert total == pytest.approx(bound, abs=1e-8)
    assert found.value - 1e-9 <= total  # the best q(θ) for this q(h)
    after = data.fit(BGE, joined, data.statistics(completed, joined), max_iter=1, tol=0.0)
    assert after.trace[0] >= total - 1e-9  # the best q(h) for that q(θ)


def test_the_penalised_likelihood_of_expected_moments_is_below_what_em_climbs():
    data, joined = incomplete(4, 60, 4)
    objective = bic(60.0)
    now = fitted(data, objective, joined)
    completed = data.complete(now, "exact", np.random.default_rng(0))
    scorer = data.scorer(objective, completed)
    after = data.fit(objective, joined, data.statistics(completed, joined), max_iter=1, tol=0.0)
    for other in (joined, np.triu(np.ones((4, 4), bool), 1), np.zeros((4, 4), bool)):
        gain = totals(scorer, other) - totals(scorer, joined)
        there = data.fit(objective, other, completed.squares, max_iter=1, tol=0.0)
        assert there.trace[0] >= now.value + gain - 1e-8
    assert after.trace[0] >= now.value - 1e-9


def with_all_cells(net, table, interventions=None):
    """F where all missing cells are in h, as they are while the graph moves."""
    problem = net.problem(table, interventions=interventions)
    *_, targets = problem.data.content
    units = encode(problem.data.rows, problem.model.shift, targets)
    eta = problem.model.start(problem.data, 0, np.random.default_rng(0))
    begin = state_at(problem.model, units, VBEM, eta)
    found = fit(problem.model, units, VBEM, begin, tol=1e-12, max_iter=10_000)
    return found.state.free_energy


def test_the_bound_is_that_of_a_network_with_this_graph():
    values, _ = numbers(5, 80, 4, 0.2)
    table = table_of(values * [1e-3, 1.0, 50.0, 1e4] + [0.0, 1e6, 3.0, -1e5])
    parts = {"mean_strength": 2.0, "degrees_of_freedom": 9.0}
    for score, given in (("bge", {}), ("bge", parts), ("bic", {})):
        dag = jn.learn_structure(table, score=score, random_state=0, **given)
        method = {"method": "em", "prior": None}
        if score == "bge":
            method = {"method": "vbem", "prior": given or "bge"}
        net = jn.BayesianNetwork(dag, **method, tol=1e-12, max_iter=10_000).fit(table)
        cost = 0.0
        if score == "bic":
            cost = 0.5 * math.log(80.0) * (len(dag.edges) + 8)
        bound = with_all_cells(net, table) if score == "bge" else net.free_energy_
        assert dag.info.score == pytest.approx(bound - cost, rel=1e-7)
        assert bound <= net.free_energy_ + 1e-9
        assert dag.info.is_bound == (score == "bge")
        assert (dag.info.statistics, dag.info.ascends) == ("exact", True)
        assert np.diff(dag.info.trace).min(initial=0.0) >= -1e-9 * 1e3


# --- q(h) at one network, draws and modes ---


def test_at_one_network_j_bounds_the_evidence():
    """Two holes are integrated numerically under BGe, in closed form at each of their values."""
    data, joined = incomplete(2, 5, 2, 0.0)
    values = data.rows.values() - data.shift
    holes = [(0, 1), (3, 0)]
    gaps = np.where(np.isin(np.arange(10), [1, 6]).reshape(5, 2), np.nan, data.rows.values())
    data = replace(
        data, **{"rows": (rows := NumberRows.of(gaps)), "units": encode(rows, data.shift)}
    )
    found = fitted(data, BGE._replace(at_map=True), joined, sweeps=100)
    model, rows = found.model, np.column_stack([np.ones(5), values])
    u = np.linspace(-8.0, 8.0, 49)
    grid, step = np.sinh(u), np.cosh(u) * (u[1] - u[0])
    family, prior = model.families.regressions, model.prior.regressions
    logs = np.empty((len(u), len(u)))
    for i, a in enumerate(grid):
        for j, b in enumerate(grid):
            for (row, column), value in zip(holes, (a, b), strict=True):
                rows[row, column + 1] = value
            logs[i, j] = log_evidence(family, prior, model.stats_of(rows.T @ rows).regressions)
    evidence = logsumexp(logs + np.log(np.outer(step, step))) - 5.0 * math.log(2.0 * math.pi)
    vb = fitted(data, BGE, joined, sweeps=100)
    assert evidence - 1.0 < found.value <= vb.value + 1e-9 <= evidence + 1e-6


def test_at_one_network_moments_are_those_of_posterior_means():
    data, joined = incomplete(0, 40, 4)
    found = fitted(data, BGE._replace(at_map=True), joined)
    model = joint(found.model.finish(found.state, is_posterior=True))
    rows = data.rows.values() - data.shift
    wanted = naive.moments(model.mean - data.shift, model.covariance, rows, np.ones(40))
    np.testing.assert_allclose(data.smoothed(found), wanted[None], rtol=1e-10, atol=1e-12)


def test_modes_are_rows_filled_in_at_conditional_means():
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    data, joined = incomplete(0, 40, 4, weights=weights)
    found = fitted(data, bic(weights.sum()), joined)
    model = joint(found.model.finish(found.state, is_posterior=False))
    rows = data.rows.values() - data.shift
    for row in rows:
        gone, seen = np.isnan(row), ~np.isnan(row)
        slopes = np.linalg.solve(
            model.covariance[np.ix_(seen, seen)], model.covariance[np.ix_(seen, gone)]
        )
        mean = model.mean - data.shift
        row[gone] = mean[gone] + (row[seen] - mean[seen]) @ slopes
    z = np.column_stack([np.ones(40), rows])
    completed = data.complete(found, "mode", np.random.default_rng(0))
    np.testing.assert_allclose(completed.squares[0], z.T @ (z * weights[:, None]), rtol=1e-9)
    assert not completed.is_exact


@pytest.mark.parametrize("least", [0.1, 1.0])
def test_draws_have_the_expected_moments_whatever_rows_weigh(least):
    weights = np.random.default_rng(1).uniform(least, 2.0 * least, 12)
    data, joined = incomplete(0, 12, 3, weights=weights)
    found, rng = fitted(data, BGE, joined), np.random.default_rng(0)
    drawn = [data.complete(found, "draw", rng) for _ in range(300)]
    assert not any(each.is_exact for each in drawn)
    squares = np.array([each.squares for each in drawn])
    error = squares.std(0) / np.sqrt(300.0)
    away = np.abs(squares.mean(0) - data.complete(found, "exact", rng).squares)
    assert np.all(away <= 5.0 * error + 1e-12)


def test_maps_draws_and_modes_are_no_ascents(monkeypatch):
    monkeypatch.setattr(structural_em, "CHEAP", 0)  # few restarts
    values, _ = numbers(7, 80, 3, 0.2)
    for score in ("bge", "bic"):
        exact = jn.learn_structure(table_of(values), score=score, random_state=0).info
        for completion, statistics in (
            ("map", "exact"),
            ("draw", "drawn to search, exact to decide"),
            ("mode", "completed at modes to search, exact to decide"),
        ):
            if (score, completion) == ("bic", "map"):
                continue  # refused below
            info = jn.learn_structure(
                table_of(values), score=score, completion=completion, random_state=0
            ).info
            assert (info.completion, info.statistics) == (completion, statistics)
            assert (info.ascends, info.is_bound) == (False, score == "bge")
            assert exact.score - 1.0 < info.score <= exact.score + 1e-6


# --- climbing ---


def task_of(data, objective):
    def search(scorer, joined, rules):
        start = DAG.from_adjacency(joined, data.names)
        found = methods.find_graph(
            "hill-climb", methods.SearchTask(scorer, rules, start, (), False)
        )
        return found.joined, found.n_scored

    rules = read_constraints(data.names)
    return StructuralTask(data, objective, rules, search, "exact", lambda value: False)


def far_off(data, rng):
    """Statistics of other means, variances and correlations than those of the rows."""
    n = len(data.varying)
    root = rng.standard_normal((n, n + 1)) * rng.uniform(0.05, 1.0)
    shape = np.zeros((n + 1, n + 1))
    shape[0] = np.append(1.0, rng.normal(0.0, 0.5, n))
    shape[1:] = np.outer(shape[0, 1:], shape[0])
    shape[1:, 1:] += root @ root.T
    return np.broadcast_to(data.total_weight * shape, (len(data.sets), n + 1, n + 1))


def test_j_never_falls_through_sweeps_and_graphs():
    n_changed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, n_rows = int(rng.integers(3, 6)), int(rng.integers(25, 60))
        targets = rng.integers(-1, n, n_rows) if seed % 4 == 3 else None
        weights = rng.uniform(0.2, 3.0, n_rows) if seed % 3 == 2 else None
        data, _ = incomplete(seed, n_rows, n, rng.uniform(0.05, 0.3), targets, weights)
        objective = BGE if seed % 2 else bic(data.total_weight)
        start = random_graph(rng, n)
        found = task_of(data, objective).climb_one(
            objective, start, far_off(data, rng), rng, "exact"
        )
        scale = np.abs(found.trace).max() + data.total_weight
        assert np.diff(found.trace).min() >= -1e-9 * scale, seed
        assert found.n_refused == 0
        n_changed += not are_equivalent(found.best.joined, start)
    assert n_changed >= 30


@pytest.mark.parametrize("score", ["bge", "bic"])
def test_no_graph_of_three_variables_is_better(score):
    for seed in range(3):
        values, _ = numbers(seed, 60, 3, 0.25)
        dag = jn.learn_structure(table_of(values), score=score, random_state=0)
        data = IncompleteNumbers.of(table_of(values), None, NO_PARTS)
        objective, best, rng = (
            BGE if score == "bge" else bic(60.0),
            -np.inf,
            np.random.default_rng(0),
        )
        for parents in structures.all_networks(3):
            joined = np.zeros((3, 3), bool)
            for v, above in enumerate(parents):
                joined[list(above), v] = True
            for start in (rng, far_off(data, rng)):
                fit = data.fit(objective, joined, start, max_iter=300, tol=1e-8)
                best = max(best, fit.value + data.log_jacobian)
        assert dag.info.score >= best - 1e-6


def test_what_was_drawn_is_found_again():
    for seed in range(3):
        values, joined = numbers(seed, 1000, 6, probability=0.35)
        rng = np.random.default_rng(seed)
        holes = np.where(rng.random(values.shape) < 0.2, np.nan, values)
        truth = DAG.from_adjacency(joined, [f"x{k}" for k in range(6)])
        complete = jn.learn_structure(table_of(values))
        found = jn.learn_structure(table_of(holes), random_state=0)
        assert truth.cpdag().shd(found.cpdag()) <= truth.cpdag().shd(complete.cpdag()) + 1


@pytest.mark.parametrize("method", ["tabu", "exact", "ges"])
def test_every_search_finds_a_graph_as_good(method):
    values, _ = numbers(7, 120, 5, 0.2)
    climbed = jn.learn_structure(table_of(values), random_state=0)
    found = jn.learn_structure(table_of(values), method, random_state=0)
    assert found.info.score >= climbed.info.score - 1e-4
    assert isinstance(found, jn.CPDAG if method == "ges" else jn.DAG)


# --- units, weights, what was set ---


def test_units_change_nothing():
    values, _ = numbers(8, 100, 4, 0.2)
    plain = jn.learn_structure(table_of(values), random_state=0)
    for factors in (np.array([2.0**40, 1.0, 2.0**-30, 0.25]), np.array([2.54, 1e-9, 1e6, 0.1])):
        other = jn.learn_structure(table_of(values * factors), random_state=0)
        assert other == plain
        moved = plain.info.score - (~np.isnan(values)).sum(0) @ np.log(factors)
        assert other.info.score == pytest.approx(moved, rel=1e-8)
    assert jn.learn_structure(table_of(values + 1e4), random_state=0) == plain


def test_a_weight_counts_rows():
    values, _ = numbers(9, 60, 4, 0.2)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    for score in ("bge", "bic"):
        weighted = jn.learn_structure(table_of(values, weights), score=score, random_state=0)
        repeated = np.repeat(values, weights, axis=0)
        other = jn.learn_structure(table_of(repeated), score=score, random_state=0)
        assert weighted == other
        assert weighted.info.score == pytest.approx(other.info.score, rel=1e-7)


def test_rows_in_which_a_variable_was_set_direct_its_edges():
    rng = np.random.default_rng(0)
    a = rng.normal(size=600)
    was_set = np.arange(600) % 2 == 0
    b = np.where(was_set, rng.normal(0.0, 3.0, 600), 1.5 * a + 0.5 * rng.normal(size=600))
    c = b + rng.normal(size=600)
    values = np.column_stack([a, b, c])
    holes = rng.random(values.shape) < 0.2
    holes[was_set, 1] = False
    values[holes] = np.nan
    names = ["x1" if chosen else None for chosen in was_set]
    for score in ("bge", "bic"):
        dag = jn.learn_structure(table_of(values), score=score, interventions=names, random_state=0)
        assert sorted(dag.edges) == [("x0", "x1"), ("x1", "x2")]
        prior = "bge" if score == "bge" else None
        net = jn.BayesianNetwork(
            dag, method="vbem" if prior else "em", prior=prior, tol=1e-12, max_iter=10_000
        )
        shows = ~np.isnan(values).all(axis=1)  # structural EM leaves out rows without a value
        net.fit(table_of(values[shows]), interventions=np.array(names)[shows])
        cost = 0.0 if prior else 0.5 * math.log(600.0) * 8
        given = table_of(values[shows]), np.array(names)[shows]
        bound = with_all_cells(net, *given) if prior else net.free_energy_
        assert dag.info.score == pytest.approx(bound - cost, rel=1e-7)
        assert bound <= net.free_energy_ + 1e-9
    values[0, 1] = np.nan
    with pytest.raises(DataError, match=r"^row 1 says that 'x1' was set, but not to what"):
        jn.learn_structure(table_of(values), interventions=names)


def test_constraints_and_priors_of_graphs():
    values, _ = numbers(10, 200, 4, 0.2)
    dag = jn.learn_structure(
        table_of(values), required=[("x3", "x0")], forbidden=[("x1", "x2")],
        tiers=[["x3"], ["x0", "x1", "x2"]], max_parents=2, random_state=0,
    )  # fmt: skip
    assert ("x3", "x0") in dag.edges
    assert ("x1", "x2") not in dag.edges
    assert not any(b == "x3" for _, b in dag.edges)
    certain = jn.learn_structure(table_of(values), prior={("x3", "x0"): 1.0}, random_state=0)
    assert ("x3", "x0") in certain.edges
    names = ("x0", "x1", "x2", "x3")
    doubtful = {(a, b): 1e-9 for a in names for b in names if a != b}
    few = jn.learn_structure(table_of(values), prior=doubtful, random_state=0)
    assert len(few.edges) < len(certain.edges)
    started = jn.learn_structure(table_of(values), start=dag, random_state=0)
    assert set(started.info.starts) >= {"start", "restart 1"}


def test_required_edges_that_few_rows_show():
    values, _ = numbers(14, 60, 4, 0.1)
    values[4:, 1] = np.nan
    required = [("x0", "x1"), ("x2", "x1"), ("x3", "x1")]
    dag = jn.learn_structure(table_of(values), required=required, random_state=0)
    assert set(required) <= set(dag.edges)


# --- constant columns, and what is refused ---


def test_constant_columns_stay_alone():
    values, _ = numbers(11, 60, 3, 0.2)
    plain = jn.learn_structure(table_of(values), score="bic", random_state=0)
    flat = np.column_stack([values, np.where(np.arange(60) % 3, 7.0, np.nan)])
    with pytest.warns(UserWarning, match=r"^column 'x3' is constant, so the data say nothing"):
        dag = jn.learn_structure(table_of(flat), score="bic", start=[("x0", "x3")], random_state=0)
    assert dag.edges == plain.edges
    assert dag.info.score == pytest.approx(plain.info.score, rel=1e-8)
    with pytest.raises(DataError, match=r"^the edge x3 -> x0 cannot be scored: column 'x3'"):
        jn.learn_structure(table_of(flat), required=[("x3", "x0")])
    with pytest.warns(UserWarning, match="constant"):
        alone = jn.learn_structure(table_of(flat[:, 3:]))
    assert alone.edges == ()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"completion": "map", "score": "bic"}, "^completion='map' .* use score='bge'"),
        ({"score": "bdeu"}, "^there is no score 'bdeu' of continuous columns"),
        ({"score": "bic", "scale": 1.0}, "^bic has no scale: only bge and bdeu-bge have one"),
        ({"equivalent_sample_size": 2.0}, "^bge has no equivalent_sample_size"),
        ({"prior_network": "net"}, "^prior_network= has no meaning where values are missing"),
        ({"degrees_of_freedom": 1.0}, "^degrees_of_freedom=1 are too few for 3 columns"),
    ],
)
def test_what_numbers_do_not_have_is_refused(choices, message):
    values, _ = numbers(0, 30, 3, 0.2)
    with pytest.raises(JensenError, match=message):
        jn.learn_structure(table_of(values), **choices)


def test_indicators_of_numbers_tell_what_missing_values_depend_on():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = np.where(x + 0.3 * rng.normal(size=500) > 0.5, np.nan, rng.normal(size=500))
    table = {"x": x, "y": y, "z": rng.normal(size=500)}
    found = jn.learn_structure(table, missing_indicators=True, random_state=0)
    assert found.edges == (("x", "y missing"),)
    net = jn.BayesianNetwork(found).fit(with_indicators(jn.Table(table))[0])
    assert net.regression("y missing").coefficients["x"] > 0.3


def test_columns_that_say_nothing_are_refused():
    values, _ = numbers(0, 30, 3, 0.2)
    values[:, 1] = np.nan
    with pytest.raises(DataError, match=r"^column 'x1' has no value at all: leave it out$"):
        jn.learn_structure(table_of(values))
    values[:, 1] = np.inf
    with pytest.raises(DataError, match="infinite value in row 1"):
        jn.learn_structure(table_of(values))


def test_a_likelihood_without_a_bound_is_refused():
    values, _ = numbers(0, 60, 3)
    values = np.column_stack([values, values[:, 0] + values[:, 1]])
    values[np.random.default_rng(0).random(values.shape) < 0.1] = np.nan
    with pytest.raises(DataError, match=r"^the likelihood of 'x\d' has no bound: in the rows that"):
        jn.learn_structure(table_of(values), score="bic", random_state=0)
    assert jn.learn_structure(table_of(values), random_state=0).edges
    values[:, 0] = np.arange(60.0)
    with pytest.raises(DataError, match=r"^'x0' was set in every row, so none is left to score"):
        jn.learn_structure(table_of(values), score="bic", interventions=["x0"] * 60)


def test_labels_have_no_prior_of_numbers():
    table = jn.Table({"a": ["x", "y", None, "x"], "b": ["u", None, "v", "v"]})
    with pytest.raises(DataError, match=r"^scale= has no meaning where labels are missing"):
        jn.learn_structure(table, scale=1.0)


# --- node averages ---


def test_node_averages_are_those_of_the_rows_that_show_a_family():
    values, _ = numbers(12, 80, 4, 0.3)
    data = IncompleteNumbers.of(table_of(values), None, NO_PARTS)
    scorer = data.average_scorer(3.0)
    y = data.rows.values()
    for child, parents in ((0, []), (1, [0]), (2, [3, 1])):
        known = ~np.isnan(y[:, [child, *parents]]).any(1)
        rows = dict(zip(data.names, y[known].T, strict=True))
        names = [data.names[p] for p in parents]
        log_like = gaussian_networks.loglik(rows, data.names[child], names)
        wanted = 80.0 / known.sum() * log_like - 3.0 * (len(parents) + 2)
        assert scorer.family(child, parents) == pytest.approx(wanted, rel=1e-10)
    for found, others in (
        (scorer.with_each(1, [0])[[2, 3]], [[0, 2], [0, 3]]),
        (scorer.without_each(1, [0, 2]), [[2], [0]]),
    ):
        np.testing.assert_array_equal(found, [scorer.family(1, other) for other in others])
    few = replace(scorer, known=tuple(own & (np.arange(80) < 4) for own in scorer.known))
    assert few.family(0, [1, 2]) == few.family(0, []) - 8.0


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
def test_node_average_graphs_of_numbers(method):
    """In the units of the columns, and the best of all graphs; equal graphs in any units."""
    values, _ = numbers(14, 300, 3, 0.2)
    table = table_of(values)
    found = jn.learn_structure(table, method, missing="node-average")
    values = values[~np.isnan(values).all(axis=1)]  # the rows that show a value count
    n_rows, known = float(len(values)), ~np.isnan(values)
    penalty = n_rows**0.75 / 40.0
    best = -np.inf
    for edges in naive_graphs.all_dags((0, 1, 2)):
        total = 0.0
        for child in range(3):
            family = [child, *sorted(a for a, b in edges if b == child)]
            names, seen = [f"x{v}" for v in family], known[:, family].all(1)
            rows = {f"x{v}": values[seen, v] for v in family}
            log_like = gaussian_networks.loglik(rows, names[0], names[1:])
            total += n_rows / seen.sum() * log_like - penalty * (len(family) + 1)
        best = max(best, total)
    assert found.info.score_name == "node-average"
    assert found.info.score == pytest.approx(best, rel=1e-9)
    other = jn.learn_structure(table_of(values * [1e6, 1e-3, 7.0]), method, missing="node-average")
    assert other == found


def test_node_average_graphs_of_labels_and_numbers():
    rng = np.random.default_rng(3)
    kind, x = rng.integers(0, 2, 400), rng.normal(size=400)
    columns = {
        "kind": np.where(rng.random(400) < 0.1, None, np.array(["u", "v"])[kind]),
        "size": np.where(rng.random(400) < 0.1, np.nan, x + 3.0 * kind),
        "z": np.where(rng.random(400) < 0.1, np.nan, rng.normal(size=400)),
        "fixed": np.where(rng.random(400) < 0.1, np.nan, 2.5),
    }
    with pytest.warns(DataWarning, match="'fixed' is constant"):
        found = jn.learn_structure(columns, missing="node-average")
    assert ("kind", "size") in found.edges
    assert not {*found.parents("fixed"), *found.children("fixed")}
    del columns["fixed"]
    with pytest.raises(jn.JensenError, match="kind"):
        jn.learn_structure(columns, missing="node-average", required="size -> kind")


def test_a_sample_keeps_the_prior_and_the_coordinates():
    targets = np.arange(50) % 3 - 1
    data, joined = incomplete(13, 50, 3, targets=targets)
    some = data.sample(20, np.random.default_rng(0))
    assert (some.n_rows, some.total_weight, some.sets) == (20, 20.0, (-1, 0, 1))
    assert some.prior is data.prior
    found = fitted(some, BGE, joined)
    again = data.fit(BGE, joined, some.smoothed(found) * 2.5, max_iter=5, tol=1e-12)
    assert np.diff(again.trace).min() >= -1e-9
