"""The exact posterior: sums where there are some, all graphs or draws where there are none."""

import numpy as np
import pytest
from naive.posteriors import Enumerated, dags_of, probabilities

import jensen as jn
from jensen.exceptions import JensenError
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.posterior import ExactPosterior
from jensen.q_graph.posterior.exact import all_graphs, n_orders
from jensen.q_graph.sums.exact_posterior import exact_posterior
from jensen.scores.graph_priors import read_prior
from jensen.scores.make_scorer import make_scorer

NAMES = ("A", "B", "C", "D")
DAGS = dags_of(NAMES)


def rows(n=60, names=NAMES, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n, len(names)))
    for k in range(1, len(names)):
        x[:, k] = np.where(rng.random(n) < 0.6, x[:, k - 1], x[:, k])
    return jn.Table({name: x[:, k].astype(str) for k, name in enumerate(names)})


TABLE = rows()
SCORER = make_scorer(TABLE)
P = probabilities(DAGS, TABLE)


def prior_and_rules(prior="uniform", **rules):
    return read_prior(prior, NAMES).prior, read_constraints(NAMES, **rules)


def posterior(**choices):
    return ExactPosterior(exact_posterior(SCORER, *prior_and_rules()), SCORER, **choices)


def drawn_posterior():
    """One that has to draw, as if there were more variables."""
    return ExactPosterior(Enumerated(DAGS, P), SCORER)


def truth(f):
    return P @ [float(f(g)) for g in DAGS]


def test_all_graphs_have_their_probability():
    samples = all_graphs(SCORER, *prior_and_rules())
    assert samples.n_distinct == 543
    found = dict(samples.distinct())
    np.testing.assert_allclose([found[g] for g in DAGS], P, rtol=1e-9)


@pytest.mark.parametrize("prior", ["fair", {("A", "B"): 0.9, ("C", "D"): 0.2}])
def test_priors_count(prior):
    found = dict(all_graphs(SCORER, *prior_and_rules(prior)).distinct())
    if prior == "fair":
        more = [np.prod([1 / [1, 3, 3, 1][len(up)] for up in g.parent_indices]) for g in DAGS]
    else:
        more = [(9 if ("A", "B") in g.edges else 1) / (4 if ("C", "D") in g.edges else 1)
                for g in DAGS]  # fmt: skip
    expected = P * more / (P @ more)
    np.testing.assert_allclose([found[g] for g in DAGS], expected, rtol=1e-9)


def test_orders_count():
    found = dict(all_graphs(SCORER, *prior_and_rules("order")).distinct())
    orders = np.array([g.n_linear_extensions() for g in DAGS])
    np.testing.assert_allclose([found[g] for g in DAGS], P * orders / (P @ orders), rtol=1e-9)
    masks = np.array([[sum(1 << u for u in up) for up in g.parent_indices] for g in DAGS]).T
    np.testing.assert_array_equal(n_orders(masks), orders)


def test_constraints_hold():
    rules = {"max_parents": 2, "required": [("A", "B")], "forbidden": [("C", "D")]}
    found = dict(all_graphs(SCORER, *prior_and_rules(**rules)).distinct())
    left = {g for g in DAGS if ("A", "B") in g.edges and ("C", "D") not in g.edges
            and max(map(len, g.parent_indices)) <= 2}  # fmt: skip
    assert set(found) == left


def test_five_variables_have_29281_graphs():
    names = tuple("ABCDE")
    table = rows(10, names)
    prior = read_prior("uniform", names).prior
    samples = all_graphs(make_scorer(table), prior, read_constraints(names))
    assert samples.n_distinct == 29281


def test_sums_have_no_error():
    post = posterior()
    scores = [jn.score(g, TABLE) for g in DAGS]
    assert post.log_evidence == pytest.approx(np.logaddexp.reduce(scores) - np.log(543), rel=1e-9)
    np.testing.assert_allclose(post.edge_matrix, post.exact.edge_matrix)
    for found, f in [
        (post.edge_probability("A", "B"), lambda g: ("A", "B") in g.edges),
        (post.undirected_probability("A", "B"), lambda g: "B" in g.skeleton().neighbours("A")),
        (post.path_probability("A", "D"), lambda g: "A" in g.ancestors("D")),
        (post.parent_sets("C")["B", "D"], lambda g: g.parents("C") == ("B", "D")),
        (post.compelled_probability("B", "C"), lambda g: ("B", "C") in g.cpdag().directed),
        (post.markov_blanket("B")["D"], lambda g: "D" in g.markov_blanket("B")),
        (post.feature(lambda g: len(g.edges)), lambda g: len(g.edges)),
    ]:
        assert found == pytest.approx(truth(f), rel=1e-9)
        assert found.standard_error == 0
    assert post.path_matrix[0, 3] == post.path_probability("A", "D")
    assert sum(post.parent_sets("C", threshold=0.0).values()) == pytest.approx(1.0)
    assert post.edges()["standard_error"].eq(0).all()
    assert P[DAGS.index(post.best)] == pytest.approx(P.max(), rel=1e-12)
    assert post.best.info.score == pytest.approx(jn.score(post.best, TABLE), rel=1e-12)
    assert post.best.info.method == "exact"
    assert repr(post).startswith("StructurePosterior of 4 variables: summed exactly\n")


def test_draws_come_with_errors():
    # 4 standard errors: p < 1e-4 each
    post = drawn_posterior()
    assert post.samples.kind == "draws"
    assert post.edge_probability("A", "B").standard_error == 0
    for found, f in [
        (post.compelled_probability("B", "C"), lambda g: ("B", "C") in g.cpdag().directed),
        (post.feature(lambda g: len(g.edges)), lambda g: len(g.edges)),
    ]:
        assert 0 < found.standard_error < 0.05
        assert abs(found - truth(f)) < 4 * found.standard_error
    drawn = post.sample(3000, random_state=1)
    share = np.mean([("A", "B") in g.edges for g in drawn])
    assert abs(share - post.edge_probability("A", "B")) < 4 * 0.5 / np.sqrt(3000)
    assert drawn[:5] == post.sample(3000, random_state=1)[:5]


def test_paths_that_are_refused_are_drawn():
    post = drawn_posterior()

    def refuse():
        raise JensenError("paths of so many variables take too long")

    post.exact.path_matrix = refuse
    found = post.path_probability("A", "D")
    assert found.standard_error > 0
    assert abs(found - truth(lambda g: "A" in g.ancestors("D"))) < 4 * found.standard_error
    assert post.path_matrix[0, 3] == pytest.approx(found, abs=1e-12)


def test_averages_are_exact():
    names = ("A", "B", "C")
    table, further, dags = rows(30, names), rows(3, names, seed=1), dags_of(names)
    scorer, prior = make_scorer(table), read_prior("uniform", names).prior
    post = ExactPosterior(exact_posterior(scorer, prior, read_constraints(names)), scorer)
    p = probabilities(dags, table)
    each = [jn.BayesianNetwork(g, prior="bdeu").fit(table).log_likelihood(further) for g in dags]
    np.testing.assert_allclose(post.log_predictive(further), np.log(p @ np.exp(each)), rtol=1e-9)
    found = post.query("C", do={"A": "1"})
    np.testing.assert_array_equal(found.standard_error, 0.0)
    assert found.values.sum() == pytest.approx(1.0)


FIVE = (*NAMES, "E")
EDGES = {("B", "A"): 0.9, ("C", "D"): 0.2, ("A", "E"): 1.0, ("E", "B"): 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["uniform", "fair", EDGES])
@pytest.mark.parametrize("rules", [{}, {"max_parents": 1, "forbidden": "A -> C; B -> E"}])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_graph_is_the_most_probable_of_all(prior, rules, seed):
    table = rows(25, FIVE, seed)
    post = jn.structure_posterior(table, "exact", prior=prior, **rules)
    assert post.samples.kind == "all"
    info = post.best.info
    assert info.proven
    assert info.log_weight == pytest.approx(post.samples.scores.max(), rel=1e-12)
    assert info.probability == pytest.approx(post.samples.shares.max(), rel=1e-9)
    assert dict(post.graphs)[post.best] == pytest.approx(info.probability, rel=1e-9)
    assert info.score == pytest.approx(jn.score(post.best, table), rel=1e-12)


def test_the_best_graph_of_many_variables_is_not_one_of_the_draws():
    table = rows(20, [f"v{k}" for k in range(9)])
    post = jn.structure_posterior(table, "exact")
    assert post.best == jn.learn_structure(table, "exact")
    assert post.best.info.log_weight == pytest.approx(jn.score(post.best, table), rel=1e-12)
    fair = jn.structure_posterior(table, "exact", prior="fair")
    assert fair.best.info.log_weight >= fair.samples.scores.max() - 1e-9
    assert post.best not in dict(post.graphs[:])  # 10,000 draws do not meet it


def test_under_a_prior_that_counts_orders_the_best_graph_is_one_that_was_met():
    table = rows(20, [f"v{k}" for k in range(6)])
    post = jn.structure_posterior(table, "exact", prior="order")
    assert post.exact.most_probable is None
    assert not post.best.info.proven
    assert post.best.info.log_weight == post.samples.scores.max()
    few = jn.structure_posterior(TABLE, "exact", prior="order")
    assert few.best.info.proven
    assert few.best.info.probability == pytest.approx(few.samples.shares.max(), rel=1e-12)


def test_nothing_has_to_converge():
    for ask in (lambda p: p.convergence, lambda p: p.plot_trace(), lambda p: p.plot_agreement()):
        with pytest.raises(JensenError, match="nothing was sampled by chains here"):
            ask(posterior())
