"""Graphs of labels and numbers: every learner, the class of graphs, and what is told."""

import logging

import numpy as np
import pytest
from naive import mixed_scores as naive

import jensen as jn
from jensen.graphs import as_dag
from jensen.scores.make_scorer import make_scorer

CONVENTION = (
    "in a graph of labels and numbers, arrows from labels to numbers are a convention, not learned"
)
TRUTH = "a -> b; a -> x; b -> y; x -> y; y -> z"


def draw(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n_rows)
    b = np.where(rng.random(n_rows) < 0.85, a, rng.integers(0, 3, n_rows))
    x = 2.0 * a + rng.normal(size=n_rows)
    y = 5.0 + np.array([1.0, -2.0, 0.5])[b] * x + b + rng.normal(size=n_rows)
    z = 0.7 * y + rng.normal(size=n_rows)
    letters = np.array(["p", "q", "r"])
    return jn.Table({"a": letters[a], "b": letters[b], "x": x, "y": y, "z": z})


TABLE = draw()
CLASS = jn.DAG(TRUTH).cpdag()
METHODS = ["hill-climb", "tabu", "exact", "ges", "mmhc"]


def obeys(edges):
    return not any(u in "xyz" and v in "ab" for u, v in edges)


@pytest.mark.parametrize("score", [None, "bic", "aic"])
@pytest.mark.parametrize("method", METHODS)
def test_every_search(method, score):
    found = jn.learn_structure(TABLE, method, score)
    dag = found if isinstance(found, jn.DAG) else found.extension()
    assert obeys(dag.edges)
    assert found.info.score == pytest.approx(jn.score(dag, TABLE, score), rel=1e-10)
    assert found.info.score_name == (score or "bdeu-bge")
    assert found.info.notes == (CONVENTION,)
    if score != "aic":
        assert dag.cpdag() == CLASS


def test_the_optimum_is_the_best_of_all():
    rng = np.random.default_rng(3)
    labels = {x: rng.choice(["u", "v"], 25) for x in "ab"}
    numbers = {x: rng.normal(size=25) + (labels["a"] == "u") for x in "xy"}
    table, names = jn.Table({**labels, **numbers}), ("a", "b", "x", "y")
    for score in (None, "bic"):
        each = {e: jn.score(jn.DAG(e, names), table, score) for e in naive.all_graphs(names, "ab")}
        assert len(each) == 144
        exact = jn.learn_structure(table, "exact", score)
        assert exact.info.score == pytest.approx(max(each.values()), abs=1e-9)
        listed = [round(s, 8) for _, s, _ in jn.k_best(table, k=20, score=score)]
        assert listed == pytest.approx(sorted(each.values(), reverse=True)[:20], abs=1e-7)
        weights = np.exp(np.array(list(each.values())) - max(each.values()))
        post = jn.structure_posterior(table, "exact", score)
        for u in names:
            for v in names:
                if u != v:
                    share = weights[[(u, v) in e for e in each]].sum() / weights.sum()
                    assert post.edge_probability(u, v) == pytest.approx(share, abs=1e-10)
                    joined = [(u, v) in e or (v, u) in e for e in each]
                    either = post.undirected_probability(u, v)
                    assert either == pytest.approx(weights[joined].sum() / weights.sum(), abs=1e-10)


@pytest.mark.parametrize("method", ["partition", "structure"])
def test_chains_agree_with_sums(method):
    table = draw(60)
    exact = jn.structure_posterior(table, "exact")
    sampled = jn.structure_posterior(table, method, random_state=0)
    np.testing.assert_allclose(sampled.edge_matrix, exact.edge_matrix, atol=0.04)
    assert not sampled.edge_matrix[2:, :2].any()
    assert CONVENTION in repr(exact)
    assert exact.settings["notes"] == [CONVENTION]


def test_a_bootstrap(caplog):
    caplog.set_level(logging.INFO, "jensen")
    strengths = jn.bootstrap_edges(TABLE, 10, random_state=0)
    assert [r.message for r in caplog.records].count(CONVENTION) == 1
    assert strengths.strength("a", "x") > 0.9
    assert strengths.direction("a", "x") == 1.0
    assert strengths.averaged().cpdag() == CLASS
    assert obeys(strengths.averaged(0.1).edges)
    assert 0.0 < strengths.direction("a", "b") < 1.0  # which the class leaves open


def test_a_graph_prior_and_constraints():
    prior = {("a", "z"): 0.999999}
    found = jn.learn_structure(TABLE, "exact", prior=prior)
    assert found.info.score == pytest.approx(jn.score(found, TABLE, prior=prior), rel=1e-10)
    required = jn.learn_structure(TABLE, required="b -> z", forbidden="x -> y", max_parents=2)
    assert ("b", "z") in required.edges
    assert ("x", "y") not in required.edges
    later = jn.learn_structure(TABLE, tiers=[["b"], ["a"]])
    assert ("a", "b") not in later.edges


@pytest.mark.parametrize(
    "learn",
    [
        lambda **how: jn.learn_structure(TABLE, **how),
        lambda **how: jn.learn_structure(TABLE, "ges", **how),
        lambda **how: jn.structure_posterior(TABLE, "exact", **how),
        lambda **how: jn.k_best(TABLE, k=2, **how),
        lambda **how: jn.bootstrap_edges(TABLE, 2, **how),
    ],
)
def test_edges_from_numbers_to_labels_are_refused(learn):
    with pytest.raises(
        jn.DataError,
        match=r"^the edge x -> a leads from a number to a label, and in a network of both a label "
        r"depends on labels only: reverse the edge, or make states of 'x' "
        r"\(discretize=\{'x': 3\}, or jn.discretize\)$",
    ):
        learn(required=[("x", "a")])


def test_local_scores_in_a_file(tmp_path):
    jn.write_local_scores(tmp_path / "both.jkl", TABLE, "bic")
    listed = jn.read_local_scores(tmp_path / "both.jkl")
    assert set(listed.families["a"]) == {(), ("b",)}
    found = jn.learn_structure(scores=listed, method="exact")
    assert found.cpdag() == CLASS
    assert found.info.score == pytest.approx(jn.score(found, TABLE, "bic"), rel=1e-12)


@pytest.mark.parametrize("method", ["pc", "mmhc"])
def test_graphs_of_tests_have_labels_before_numbers_and_can_be_fitted(method):
    found = jn.learn_structure(TABLE, method, alpha=0.001)
    assert obeys(as_dag(found).edges)
    assert found.skeleton() == CLASS.skeleton()
    assert jn.BayesianNetwork(found).fit(TABLE).graph.skeleton() == CLASS.skeleton()
    with pytest.raises(jn.DataError, match=r"^the edge x -> a leads from a number to a label"):
        jn.learn_structure(TABLE, method, required=[("x", "a")])


def test_tests_direct_edges_between_labels_and_numbers_freely_without_tiers():
    """A label below two independent numbers, which no network of labels and numbers has."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 800))
    table = jn.Table({"x": x, "y": y, "a": np.where(x + y + rng.normal(size=800) > 0, "p", "q")})
    assert str(jn.learn_structure(table, "pc", alpha=0.01, tiers=())) == "x -> a; y -> a"
    found = jn.learn_structure(table, "pc", alpha=0.01)
    assert str(found) == "a -> x; a -> y"
    jn.BayesianNetwork(found).fit(table)
    for choices in ({}, {"tiers": None}):
        strengths = jn.bootstrap_edges(table, 4, method="pc", alpha=0.01, random_state=0, **choices)
        assert obeys(strengths.averaged().edges)


def test_the_class_of_ges_has_the_arrows_of_the_convention():
    found = jn.learn_structure(TABLE, "ges")
    assert isinstance(found, jn.PDAG)
    assert "a -> x" in str(found)
    assert "a -- b" in str(found)


# --- a likelihood without a bound ---


def few(score):
    """In the rows with b = 'r' the number x does not vary."""
    rng = np.random.default_rng(0)
    b = np.array(["p", "q"] * 20 + ["r"] * 4)
    x = np.where(b == "r", 1.5, rng.normal(size=44))
    table = jn.Table({"b": b, "x": x, "y": x + rng.normal(size=44)})
    return table, score


@pytest.mark.parametrize("score", ["bic", "loglik"])
def test_a_configuration_without_residual_variance(score):
    table, _ = few(score)
    text = (
        r"^'x' has no residual variance where b is 'r' \(4 rows\), so the likelihood has no bound; "
        r"leave the column out, set a lower max_parents, or use score='bdeu-bge', whose prior "
        r"bounds it$"
    )
    with pytest.raises(jn.DataError, match=text):
        jn.score("b -> x", table, score)
    with pytest.raises(jn.DataError, match=r"^'x' has no residual .* where b is 'r' \(1 row\), "):
        jn.score("b -> y; x -> y", table.take(np.arange(41)), score)
    line = jn.Table({"a": ["u"] * 9, "x": np.arange(9) / 7, "y": np.arange(9) / 3})
    with pytest.raises(jn.DataError, match=r"^'y' given 'x' has no residual variance where a is "):
        jn.score("a -> y; x -> y", line, score)
    assert np.isfinite(jn.score("b -> x", table))
    for method in METHODS:
        with pytest.warns(jn.DataWarning, match="'x' is constant where b is 'r'") as told:
            found = jn.learn_structure(table, method, score)
        assert len(told) == 1
        dag = found if isinstance(found, jn.DAG) else found.extension()
        assert ("b", "x") not in dag.edges  # a search never takes what has no bound
    warned = pytest.warns(jn.DataWarning, match="so no graph has it")
    with warned, pytest.raises(jn.DataError, match=text):
        jn.learn_structure(table, score=score, required="b -> x")
    with pytest.warns(jn.DataWarning, match="so no graph has it"):
        post = jn.structure_posterior(table, "exact", score)
    assert post.edge_probability("b", "x") == 0.0


def test_trees_are_told_with_the_convention(caplog):
    caplog.set_level("INFO", logger="jensen")
    tree = jn.chow_liu(TABLE)
    assert tree.info.notes == (CONVENTION,)
    assert caplog.messages == [CONVENTION]


def test_numbers_that_others_fix_are_told():
    """A search by a likelihood would leave out the closest of all relations."""
    rng = np.random.default_rng(0)
    a, x, z = rng.choice(["u", "v"], 60), rng.normal(size=60), rng.normal(size=60)
    line = {"a": a, "x": x, "y": 2.0 * x + 1.0, "z": z}
    text = r"^'y' is an exact linear function of 'x' \(60 rows\), so the likelihood has no bound"
    with pytest.raises(jn.DataError, match=text):
        jn.learn_structure(line, score="bic")
    assert "x -> y" in str(jn.learn_structure(line))
    mixed = line | {"y": np.where(a == "u", 2.0 * x - z, z)}
    n = int((a == "u").sum())
    text = (
        rf"^'z' is an exact linear function of 'x', 'y' where a is 'u' \({n} rows\): a regression"
    )
    with pytest.warns(jn.DataWarning, match=text) as told:
        jn.learn_structure({**mixed, "z": np.where(a == "u", z, -x)}, score="bic")
    assert len(told) == 1
    few = {name: column[:4] for name, column in line.items() if name != "y"}
    jn.learn_structure(few, score="bic")  # too few rows for many parents are nothing to tell


def test_a_constant_number_stands_alone():
    data = {name: TABLE.column(name).data for name in "xyz"}
    letters = {x: np.array(TABLE.variable(x).states)[TABLE.column(x).data] for x in "ab"}
    table = jn.Table({**letters, **data, "c": np.full(600, 2.5)})
    for method in ("hill-climb", "exact", "ges"):
        with pytest.warns(jn.DataWarning, match=r"column 'c' is constant, so the data say nothing"):
            found = jn.learn_structure(table, method)
        dag = found if isinstance(found, jn.DAG) else found.extension()
        assert all("c" not in edge for edge in dag.edges)
        assert jn.DAG(dag.edges, list("abxyz")).cpdag() == CLASS
    with pytest.warns(jn.DataWarning, match="column 'c' is constant"):
        assert jn.score("a -> x; c", table) == pytest.approx(jn.score("a -> x", TABLE), rel=1e-12)
    scorer = make_scorer(table)
    out = np.empty((6, 32))
    scorer.fill_family_scores(out, 5, None)
    assert scorer.family(2, [0]) == 0.0  # 'c'
    assert out[3, 0b101] == scorer.family(3, [0, 2]) == scorer.family(3, [0])
    assert scorer.with_each(3, [0])[2] == scorer.family(3, [0])


# --- whole numbers, and numbers that become labels ---


def test_whole_numbers_take_part_as_numbers(caplog):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 300)
    sex = rng.choice(["f", "m"], 300)
    data = {"age": age, "sex": sex, "visits": (age / 2 + 20 * (sex == "f")).astype(int)}
    table = jn.Table(data)
    assert {v.kind for v in table.variables} == {"count", "categorical"}
    measured = jn.Table(data, continuous=["age", "visits"])
    note = (
        "'age', 'visits' hold whole numbers: they are taken as numbers (say jn.Table(..., "
        "categorical=['age', 'visits']) for labels, or jn.Table(..., counts=['age', 'visits']) for "
        "Poisson counts given labels)"
    )
    caplog.set_level(logging.INFO, "jensen")
    for method in METHODS:
        caplog.clear()
        found = jn.learn_structure(table, method)
        assert found == jn.learn_structure(measured, method)
        assert [r.message for r in caplog.records].count(note) == 1
        assert found.info.notes == (note, CONVENTION)
    assert jn.learn_structure(table, "pc") == jn.learn_structure(measured, "pc")
    assert jn.chow_liu(table) == jn.chow_liu(measured)
    numbers = table.select(["age", "visits"])
    assert jn.learn_structure(numbers) == jn.learn_structure(measured.select(["age", "visits"]))
    holes = {**data, "age": [None if k % 7 == 0 else int(x) for k, x in enumerate(age)]}
    kinds = ({}, {"continuous": ["age", "visits"]})
    both = (jn.Table(holes, **how).select(["age", "visits"]) for how in kinds)
    one, two = (jn.learn_structure(t, random_state=0) for t in both)
    assert one == two
    assert one.info.score == two.info.score


@pytest.mark.parametrize("method", [*METHODS, "pc"])
def test_numbers_that_are_cut(method, caplog):
    caplog.set_level(logging.INFO, "jensen")
    found = jn.learn_structure(TABLE, method, discretize={"x": 4, "y": 2})
    cut = jn.discretize(TABLE, bins={"x": 4, "y": 2}, columns=["x", "y"])
    assert found == jn.learn_structure(cut, method)
    assert found.info.cuts == {x: cut.variable(x).cuts for x in "xy"}
    told = "'y' is cut at " + str(cut.variable("y").cuts[0])
    assert told in [record.message for record in caplog.records]
    required = jn.learn_structure(TABLE, discretize={"x": 4}, required="x -> a")
    assert ("x", "a") in required.edges


def test_cuts_of_a_bootstrap_are_made_once():
    choices = {"random_state": 0, "score": "bic"}
    cut = jn.discretize(TABLE, bins={"z": 3}, columns=["z"])
    one = jn.bootstrap_edges(TABLE, 3, discretize={"z": 3}, **choices)
    assert repr(one) == repr(jn.bootstrap_edges(cut, 3, **choices))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"discretize": 4},
            r"^discretize says how many intervals columns have, {'age': 4}, and is ",
        ),
        ({"discretize": {"a": 3}}, "^column 'a' is categorical, so there is nothing to cut"),
        ({"discretize": {"x": 1}}, "^bins of 'x' must be a whole number, 2 or more, not 1$"),
        ({"discretize": {"n": 3}}, "^there is no column 'n'"),
    ],
)
def test_refusals(given, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure(TABLE, **given)


def test_averages_over_graphs_are_not_there_yet():
    post = jn.structure_posterior(TABLE, "exact")
    with pytest.raises(jn.JensenError, match=r"^averages over graphs are there for columns of one"):
        post.query("x")


def test_the_convention_is_told_of_trees_of_rows_with_holes():
    x = TABLE["x"].copy()
    x[::9] = np.nan
    table = jn.Table({"a": TABLE["a"], "b": TABLE["b"], "x": x})
    assert jn.chow_liu(table).info.notes == (CONVENTION,)


def test_an_exact_posterior_takes_no_tiers_as_none():
    found = jn.structure_posterior(TABLE, method="exact", tiers=None)
    plain = jn.structure_posterior(TABLE, method="exact")
    assert found.edge_probability("a", "b") == plain.edge_probability("a", "b")
