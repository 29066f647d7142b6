"""Constant columns of numbers stand alone, and are warned of once."""

import warnings

import numpy as np
import pytest

import jensen as jn

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)
DATA = {"x": X, "y": X + RNG.normal(size=60), "c": np.full(60, 0.1), "d": np.full(60, -7e9 - 0.5)}
REST = {"x": DATA["x"], "y": DATA["y"]}
ALONE = (
    r"^columns 'c', 'd' are constant, so the data say nothing of edges there: they are left out of "
    r"the score, and each stands alone in the graph. Leave the columns out of the table to "
    r"silence this$"
)
NO_EDGE = (
    r"^the edge x -> c cannot be scored: column 'c' is constant, so the data say nothing of it; "
    r"leave out the edge, or the column$"
)
FOUR = np.diag([4.0, 3.0, 2.0, 1.0])
SCORES = pytest.mark.parametrize("name", ["bge", "bic", "aic", "loglik"])


def warned(match=ALONE):
    return pytest.warns(jn.DataWarning, match=match)


@SCORES
def test_a_score_leaves_them_out_and_refuses_edges_there(name):
    with warned() as met:
        found = jn.local_scores("x -> y; c; d", DATA, name)
    assert len(met) == 1
    expected = jn.local_scores("x -> y", REST, name)
    assert (found["c"], found["d"]) == (0.0, 0.0)
    assert {x: found[x] for x in REST} == pytest.approx(expected, rel=1e-12)
    with pytest.raises(jn.DataError, match=NO_EDGE):
        jn.score("x -> c", DATA, name)
    with pytest.raises(jn.DataError, match="the edge c -> d cannot be scored: column 'c' is const"):
        jn.score("c -> d; x", DATA, name)
    with pytest.raises(jn.DataError, match=NO_EDGE):
        jn.score("x -> c", DATA, name, interventions=["y"] * 5 + [""] * 55)


@SCORES
@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact", "ges", "mmhc"])
def test_every_search_isolates_them(name, method):
    with warned() as met:
        graph = jn.learn_structure(DATA, method, name)
    assert len(met) == 1
    alone = jn.learn_structure(REST, method, name)
    assert graph.nodes == ("c", "d", "x", "y")
    assert graph.skeleton().edges == alone.skeleton().edges == (("x", "y"),)
    assert type(graph) is type(alone)
    assert graph.info.score == pytest.approx(alone.info.score, rel=1e-12)


def test_rounding_is_no_spread_but_little_spread_is():
    noise = 0.1 + np.tile([0.0, 1.4e-17, -1.4e-17], 20)
    with warned("^column 'c' is constant, so the data say nothing of edges there: it is left out"):
        jn.learn_structure({**REST, "c": noise})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = 1e12 + 0.01 * DATA["x"]
        assert ("c", "x") in jn.learn_structure({**REST, "c": far}).skeleton().edges


def test_all_constant():
    with warned("^columns 'x', 'y' are constant"):
        assert jn.learn_structure({"x": [1.5, 1.5], "y": [2.5, 2.5]}).edges == ()
    with warned("^columns 'x', 'y' are constant"):
        jn.learn_structure({"x": [1.5], "y": [2.5]})
    with warnings.catch_warnings():  # the density of one row under a prior that does not need more
        warnings.simplefilter("error")
        assert np.isfinite(jn.score("x -> y", {"x": [1.5], "y": [2.5]}, "bge", scale=1.0))


@pytest.mark.parametrize("scales", [(None, None), ("unit", "unit"), (FOUR, FOUR[2:, 2:])])
def test_posteriors_give_their_edges_no_probability(scales):
    with warned() as met:
        post = jn.structure_posterior(DATA, "exact", scale=scales[0])
    assert len(met) == 1
    assert not post.edge_matrix[:2].any()
    assert not post.edge_matrix[:, :2].any()
    alone = jn.structure_posterior(REST, "exact", scale=scales[1])
    np.testing.assert_allclose(post.edge_matrix[2:, 2:], alone.edge_matrix, atol=1e-12)
    assert post.log_evidence == pytest.approx(alone.log_evidence, rel=1e-12)
    new = {name: column[:3] for name, column in DATA.items()}
    np.testing.assert_allclose(
        post.log_predictive(new), alone.log_predictive({x: new[x] for x in REST}), rtol=1e-10
    )
    assert post.query("y", given={"x": 1.0}).means == pytest.approx(
        alone.query("y", given={"x": 1.0}).means, rel=1e-10
    )
    with pytest.raises(jn.DataError, match=r"^column 'c' is constant in the data, so nothing"):
        post.query("c")


def test_chains_and_lists_of_graphs():
    with warned():
        post = jn.structure_posterior(DATA, n_samples=30, n_chains=2, random_state=0)
    assert not post.edge_matrix[:2].any()
    with warned():
        best = jn.k_best(DATA, 2.0)
    assert {graph.skeleton().edges for graph, _, _ in best} == {(("x", "y"),)}


def test_rules_at_them():
    with pytest.raises(jn.DataError, match=NO_EDGE):
        jn.learn_structure(DATA, required="x -> c")
    with pytest.raises(jn.DataError, match=NO_EDGE):
        jn.structure_posterior(DATA, "exact", prior={("x", "c"): 1.0})
    with warned():
        found = jn.learn_structure(DATA, start="x -> c; y -> x")
    assert found.edges in ((("y", "x"),), (("x", "y"),))


def test_a_bootstrap_isolates_columns_where_they_are_constant():
    rare = np.zeros(60)
    rare[0] = 1.0
    with warned(
        r"^column 'r' is constant in up to \d+ of the 40 tables that were drawn, so the graphs "
        r"learned from these have no edges there$"
    ) as met:
        found = jn.bootstrap_edges({**REST, "r": rare + 0.5}, 40, random_state=0)
    assert len(met) == 1
    assert found.n_graphs == 40
    with warned("constant in up to"):  # whatever was asked of the column
        jn.bootstrap_edges(
            {**REST, "r": rare + 0.5}, 20, random_state=0, required="x -> r", start="y -> r"
        )


def test_local_scores_in_a_file(tmp_path):
    with warned():
        jn.write_local_scores(tmp_path / "x.jkl", DATA, "bge")
    listed = jn.read_local_scores(tmp_path / "x.jkl")
    assert dict(listed.families["c"]) == {(): 0.0}
    assert set(listed.families["x"]) == {(), ("y",)}


OWN_SCALE = r"give the prior a scale of its own, prior=\{'scale': 'unit'\}$"


@pytest.mark.parametrize(
    "choices",
    [{}, {"prior": "bge"}, {"method": "vbem"}, {"prior": {"degrees_of_freedom": 9.0}}],
)
def test_fits_leave_them_out_of_the_network(choices, tmp_path):
    with warned(
        r"^columns 'c', 'd' are constant, so nothing says how much they vary: they are left out of "
        r"the network. Leave the columns out of the graph to silence this, or " + OWN_SCALE
    ) as met:
        net = jn.BayesianNetwork("x -> y; c; d", **choices).fit(DATA)
    assert len(met) == 1
    if "prior" in choices and choices["prior"] != "bge":
        choices = {"prior": {"degrees_of_freedom": 7.0}}  # what it says of the other two
    alone = jn.BayesianNetwork("x -> y", **choices).fit(REST)
    assert net.free_energy_ == pytest.approx(alone.free_energy_, rel=1e-12)
    assert net.equals(alone, 1e-12)
    assert net.score(DATA) == pytest.approx(alone.score(REST), rel=1e-12)
    assert net.graph.nodes == ("c", "d", "x", "y")
    assert net.sample(3).names == ("x", "y")
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    for one in (net, again):
        assert one.network_.constants == {"c": 0.1, "d": -7e9 - 0.5}
        assert "constant in the data, so not in the network: c = 0.1, d = -7e+09" in str(
            one.summary()
        )
        with pytest.raises(
            jn.JensenError,
            match=r"^column 'c' was constant, 0.1, in the data, so nothing is known of how it "
            r"varies, and the network was learned without it: ask for another variable$",
        ):
            one.query("c")


def test_fits_keep_them_under_a_scale_of_its_own_and_refuse_edges_there():
    net = jn.BayesianNetwork("x -> y; c", prior={"scale": "unit"}).fit(DATA)
    assert np.isfinite(net.free_energy_)
    assert net.network_.graph.nodes == ("c", "x", "y")
    with pytest.raises(jn.DataError, match=NO_EDGE.replace("scored", "learned")):
        jn.BayesianNetwork("x -> c; y").fit(DATA)
    with pytest.raises(
        jn.DataError,
        match=r"^every column is constant \('c', 'd'\), so nothing says how much any of them "
        r"varies: give more rows, or " + OWN_SCALE,
    ):
        jn.BayesianNetwork("c; d").fit(DATA)


def test_fits_with_gaps_and_interventions():
    gaps = {**DATA, "c": np.where(np.arange(60) % 3, 0.1, np.nan), "y": DATA["y"].copy()}
    gaps["y"][:5] = np.nan
    with warned("^column 'c' is constant"):
        net = jn.BayesianNetwork("x -> y; c").fit(gaps)
    alone = jn.BayesianNetwork("x -> y").fit({"x": gaps["x"], "y": gaps["y"]})
    assert net.free_energy_ == pytest.approx(alone.free_energy_, rel=1e-12)
    was_set = ["c"] * 3 + ["y"] * 9 + [""] * 48
    with warned("^column 'c' is constant"):
        net = jn.BayesianNetwork("x -> y; c").fit(DATA, interventions=was_set)
    rest = [name.replace("c", "") for name in was_set]
    alone = jn.BayesianNetwork("x -> y").fit(REST, interventions=rest)
    assert net.free_energy_ == pytest.approx(alone.free_energy_, rel=1e-12)


def test_cross_validation_is_of_the_other_columns():
    alone = jn.cross_validate(REST, folds=5, random_state=0)
    with warned(
        r"^columns 'c', 'd' are constant in the training rows of up to 5 of the 5 folds, so "
        r"nothing there says how they vary: the losses of all folds are those of the other "
        r"columns, and the graphs of these folds have no edges there$"
    ) as met:
        found = jn.cross_validate(DATA, folds=5, random_state=0)
    assert len(met) == 1
    np.testing.assert_allclose(found.losses, alone.losses, rtol=1e-12)
    assert {graph.nodes for graph in found.graphs} == {("c", "d", "x", "y")}


@pytest.mark.parametrize("graph", [None, "x -> y; r", "x -> y; x -> r"])
def test_cross_validation_where_one_fold_does_not_vary(graph):
    rare = np.full(60, 0.5)
    rare[7] = 1.5
    with warned(r"^column 'r' is constant in the training rows of up to 1 of the 5 folds") as met:
        found = jn.cross_validate({**REST, "r": rare}, graph, folds=5, random_state=0)
    assert len(met) == 1
    alone = jn.cross_validate(REST, None if graph is None else "x -> y", folds=5, random_state=0)
    np.testing.assert_allclose(found.losses, alone.losses, rtol=1e-9)
    at = [any("r" in edge for edge in one.edges) for one in found.graphs]
    assert sum(at) == (4 if graph == "x -> y; x -> r" else sum(at))
    assert not all(at)
    with pytest.raises(
        jn.DataError,
        match=r"^target='r' is constant in the training rows of 1 fold, so nothing there says how "
        r"much it varies: predict another column, or give the prior a scale of its own",
    ):
        jn.cross_validate({**REST, "r": rare}, graph, folds=5, random_state=0, target="r")
    with warned("^column 'r' is constant in up to 1 of the 5 tables that were drawn"):
        jn.cross_validate({**REST, "r": rare}, folds=5, random_state=0, prior={"scale": "unit"})


def test_trees_and_tests_leave_them_alone():
    with pytest.warns(jn.DataWarning, match="2 columns of numbers without variation, 'c', 'd'"):
        found = jn.learn_structure(DATA, "pc").skeleton().edges
    assert found == jn.learn_structure(REST, "pc").skeleton().edges
    with pytest.raises(jn.DataError, match="column 'c' is constant, so the likelihood of a tree"):
        jn.chow_liu(DATA)
