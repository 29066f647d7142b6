"""Units change nothing: what is learned of continuous columns under factors and shifts."""

import numpy as np
import pytest
from naive import gaussian_networks as naive
from sklearn.datasets import load_diabetes

import jensen as jn
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.registry import names_of
from jensen.scores.scorer import unitless

NAMES = ("a", "b", "c", "d", "e")
GRAPH = "a -> b -> d; c -> d; d -> e"
FACTORS = dict(zip(NAMES, (-0.02, 1e7, 3.7, 1e-9, 250.0), strict=True))
SHIFTS = dict(zip(NAMES, (1e6, -1e6, 12.5, 0.0, -3e5), strict=True))  # in standard deviations
POWERS = dict(zip(NAMES, (2.0**-40, -(2.0**7), 0.5, 2.0**90, 2.0**-3), strict=True))
SCORES = names_of("continuous")


def make_data(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, n_rows))
    b = 0.8 * a + rng.normal(size=n_rows)
    d = 0.7 * b - 0.9 * c + rng.normal(size=n_rows)
    e = 0.6 * d + rng.normal(size=n_rows)
    return {"a": a, "b": b + 2.0, "c": c, "d": d, "e": e}


def changed(data, factors=FACTORS, shifts=SHIFTS):
    return {x: factors[x] * (column + shifts[x] * np.nanstd(column)) for x, column in data.items()}


def shifted(data):
    """Shifts that are exact, by up to a million standard deviations."""
    grid = {x: np.round(column * 2.0**20) * 2.0**-20 for x, column in data.items()}
    return grid, {x: v + np.round(SHIFTS[x] * v.std()) for x, v in grid.items()}


def scaled(data, factors=POWERS):
    return {x: factors[x] * column for x, column in data.items()}


def test_noise_has_no_edges_in_whatever_units():
    rng = np.random.default_rng(0)
    data = {x: 0.02 * rng.normal(size=200) for x in NAMES}
    assert jn.learn_structure(data).edges == ()
    assert len(jn.learn_structure(data, scale="unit").edges) == 10  # what it was before
    assert jn.bootstrap_edges(data, 10, random_state=0).averaged(0.6).edges == ()
    assert jn.structure_posterior(data, "exact").edge_matrix.max() < 0.1


def test_diabetes_has_the_same_graph_raw_and_standardised():
    raw = load_diabetes(as_frame=True).frame
    same = (raw - raw.mean()) / raw.std(ddof=0)
    tables = [jn.Table(x, continuous=list(raw.columns)) for x in (raw, same)]
    graphs = [jn.learn_structure(table) for table in tables]
    assert graphs[0].cpdag() == graphs[1].cpdag()
    assert len(graphs[0].edges) == 25
    assert len(jn.learn_structure(tables[0], scale="unit").edges) == 49  # what it was before


def test_the_default_is_the_published_score_of_standardised_columns():
    data = make_data()
    same = {x: (v - v.mean()) / v.std() for x, v in data.items()}
    found = jn.local_scores(GRAPH, data, "bge")
    published = jn.local_scores(GRAPH, same, "bge", scale="unit")
    for x in NAMES:
        expected = published[x] - 120 * np.log(data[x].std())
        assert found[x] == pytest.approx(expected, abs=1e-9)
        parents = list(jn.DAG(GRAPH).parents(x))
        assert found[x] == pytest.approx(naive.bge(data, x, parents), rel=1e-10)


@pytest.mark.parametrize("name", SCORES)
def test_factors_and_shifts_move_each_family_by_their_logs(name):
    data = make_data()
    before, after = (jn.local_scores(GRAPH, x, name) for x in (data, scaled(data, FACTORS)))
    moved = {x: before[x] - 120 * np.log(abs(FACTORS[x])) for x in NAMES}
    assert after == pytest.approx(moved, abs=1e-9, rel=0.0)
    near, far = (jn.local_scores(GRAPH, x, name) for x in shifted(data))
    assert far == pytest.approx(near, abs=1e-9, rel=0.0)
    both = jn.local_scores(GRAPH, changed(data), name)  # the values themselves are rounded to 1e-10
    assert both == pytest.approx(moved, abs=1e-8, rel=0.0)


@pytest.mark.parametrize("name", ["bge", "bic"])
def test_with_weights_and_interventions_the_rows_of_a_family_count(name):
    data = make_data()
    weights = np.random.default_rng(1).integers(0, 4, 120).astype(float)
    was_set = np.random.default_rng(2).choice(["", "", "b", "d"], 120)
    grid, far = shifted(data)
    tables = [jn.Table(x, weights=weights) for x in (grid, scaled(grid, FACTORS), far)]
    before, after, away = (
        jn.local_scores(GRAPH, table, name, interventions=was_set) for table in tables
    )
    counted = {x: weights[was_set != x].sum() for x in NAMES}
    moved = {x: before[x] - counted[x] * np.log(abs(FACTORS[x])) for x in NAMES}
    assert after == pytest.approx(moved, abs=1e-9, rel=0.0)
    assert away == pytest.approx(before, abs=1e-9, rel=0.0)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact", "ges", "mmhc"])
def test_every_search_finds_the_same_graph(name, method):
    data = make_data()
    found, other = (jn.learn_structure(x, method, name) for x in (data, changed(data)))
    graphs = [g if method == "ges" else g.cpdag() for g in (found, other)]
    assert graphs[0] == graphs[1]
    moved = -120 * sum(np.log(abs(f)) for f in FACTORS.values())
    assert other.info.score - found.info.score == pytest.approx(moved, abs=1e-8)
    if method != "ges":
        assert found.info.score == pytest.approx(jn.score(found, data, name), rel=1e-12)
        assert found.info.trace.max() == pytest.approx(found.info.score, rel=1e-12)


def test_probabilities_are_the_same():
    data = make_data()
    one, other = (jn.structure_posterior(x, "exact") for x in (data, changed(data)))
    np.testing.assert_allclose(other.edge_matrix, one.edge_matrix, rtol=0.0, atol=1e-8)
    moved = -120 * sum(np.log(abs(f)) for f in FACTORS.values())
    assert other.log_evidence - one.log_evidence == pytest.approx(moved, abs=1e-8)
    assert other.best.info.score == pytest.approx(jn.score(other.best, changed(data), "bge"))
    best = jn.k_best(changed(data), 3.0)
    assert best[0].score == pytest.approx(jn.score(best[0].graph, changed(data), "bge"), rel=1e-12)


@pytest.mark.compiled
def test_powers_of_two_give_the_same_bits():
    data = make_data()
    other = scaled(data)
    assert jn.learn_structure(data) == jn.learn_structure(other)
    one, same = (unitless(GaussianScorer.of(jn.Table(x), "bge")) for x in (data, other))
    np.testing.assert_array_equal(one.all_set_values(), same.all_set_values())
    np.testing.assert_array_equal(
        one.with_each(3, [0, 2])[[1, 4]], same.with_each(3, [0, 2])[[1, 4]]
    )
    exact = [jn.structure_posterior(x, "exact") for x in (data, other)]
    np.testing.assert_array_equal(exact[0].edge_matrix, exact[1].edge_matrix)
    np.testing.assert_array_equal(exact[0].path_matrix, exact[1].path_matrix)
    assert exact[0].best == exact[1].best
    chains = [
        jn.structure_posterior(x, n_samples=50, n_chains=2, random_state=0) for x in (data, other)
    ]
    np.testing.assert_array_equal(chains[0].edge_matrix, chains[1].edge_matrix)
    drawn = [jn.bootstrap_edges(x, 5, random_state=0) for x in (data, other)]
    np.testing.assert_array_equal(drawn[0].shares, drawn[1].shares)


def test_equivalent_graphs_score_the_same_and_scores_decompose():
    data = changed(make_data())
    for graph in ("a -> b -> d <- c; d -> e; a -> d", "c -> d -> e; a -> d; b -> a; b -> d"):
        dag = jn.DAG(graph)
        for x, y in dag.edges:
            if set(dag.parents(y)) == {x, *dag.parents(x)}:  # covered: it may be turned
                edges = [e for e in dag.edges if e != (x, y)]
                turned = jn.DAG([*edges, (y, x)], dag.nodes)
                assert jn.score(turned, data, "bge") == pytest.approx(
                    jn.score(dag, data, "bge"), rel=1e-12
                )
    one, other = (jn.local_scores(g, data, "bge") for g in (GRAPH, GRAPH + "; a -> e"))
    assert [x for x in NAMES if one[x] != other[x]] == ["e"]


def test_predictions_follow_the_units():
    data, new = make_data(), make_data(10, seed=3)
    one = jn.structure_posterior(data, "exact")
    other = jn.structure_posterior(changed(data), "exact")
    sd = {x: v.std() for x, v in data.items()}
    moved = {x: FACTORS[x] * (v + SHIFTS[x] * sd[x]) for x, v in new.items()}
    logs = sum(np.log(abs(f)) for f in FACTORS.values())
    found = other.log_predictive(moved) + logs
    np.testing.assert_allclose(found, one.log_predictive(new), rtol=0.0, atol=1e-7)
    mean = other.query("e", do={"b": moved["b"][0]}).means[0]
    expected = one.query("e", do={"b": new["b"][0]}).means[0]
    assert mean / FACTORS["e"] - SHIFTS["e"] * sd["e"] == pytest.approx(expected, abs=1e-8)


def test_fits_with_gaps_follow_the_units():
    data = make_data(60)
    data["b"][::4] = np.nan
    data["e"][1::5] = np.nan
    shifts = {x: s / 1e3 for x, s in SHIFTS.items()}
    choices = {"prior": "bge", "tol": 1e-13}
    one, other = (
        jn.BayesianNetwork(GRAPH, **choices).fit(x) for x in (data, changed(data, shifts=shifts))
    )
    moved = sum(np.isfinite(data[x]).sum() * np.log(abs(FACTORS[x])) for x in NAMES)
    assert one.is_bound_
    assert other.free_energy_ + moved == pytest.approx(one.free_energy_, abs=1e-6)
    prior = one.network_.prior
    np.testing.assert_allclose(prior.mean, [np.nanmean(data[x]) for x in NAMES], rtol=1e-12)
    variances = [np.nanvar(data[x]) for x in NAMES]
    np.testing.assert_allclose(prior.scale, 0.5 * np.diag(variances), rtol=1e-12)
    assert (prior.mean_strength, prior.degrees_of_freedom) == (1.0, 7.0)


def test_cross_validation_follows_the_units():
    data = make_data(60)
    choices = {"folds": 3, "prior": "bge", "random_state": 0}
    one, other = (jn.cross_validate(x, **choices).mean for x in (data, scaled(data)))
    moved = sum(np.log(abs(f)) for f in POWERS.values())
    assert other - moved == pytest.approx(one, abs=1e-9)


def test_local_scores_in_files_have_units(tmp_path):
    data = changed(make_data())
    jn.write_local_scores(tmp_path / "x.jkl", data, "bge", max_parents=2)
    listed = jn.read_local_scores(tmp_path / "x.jkl")
    dag = jn.learn_structure(scores=listed)
    assert dag.info.score == pytest.approx(jn.score(dag, data, "bge"), rel=1e-12)
