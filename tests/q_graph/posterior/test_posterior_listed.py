"""Averages over a list of good graphs, beside sums over all graphs and over the list by hand."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp

import jensen as jn
from jensen.exceptions import JensenError
from jensen.graphs import DAG

FOUR = ["Cancer", "Dyspnoea", "Smoker", "Xray"]


@pytest.fixture(scope="module")
def few():
    """Few rows of four variables: many graphs are nearly as good as the best."""
    return jn.examples.load("cancer").sample(60, random_state=1).select(FOUR)


PRIORS = [None, "fair", {("Smoker", "Cancer"): 0.9, ("Xray", "Cancer"): 0.0}]


@pytest.mark.parametrize("prior", PRIORS)
def test_a_list_of_all_graphs_is_the_exact_posterior(few, prior):
    found = jn.k_best(few, 1e300, prior=prior).posterior
    exact = jn.structure_posterior(few, "exact", prior=prior or "uniform")
    assert found.share == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(found.edge_matrix, exact.edge_matrix, atol=1e-9)
    np.testing.assert_allclose(found.path_matrix, exact.path_matrix, atol=1e-9)
    asked = {"given": {"Xray": "positive"}, "do": {"Smoker": "True"}}
    one, other = found.query("Cancer", **asked), exact.query("Cancer", **asked)
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)
    rows = few.head(5)
    np.testing.assert_allclose(found.log_predictive(rows), exact.log_predictive(rows), atol=1e-9)
    assert found.best == exact.best
    assert found.best.info.proven


@pytest.mark.parametrize("data", ["states", "numbers"])
def test_a_list_is_weighted_by_its_scores(few, data):
    table = few
    if data == "numbers":
        rng = np.random.default_rng(0)
        x = rng.normal(size=(30, 4))
        x[:, 1] += 0.4 * x[:, 0]
        table = jn.Table(dict(zip(FOUR, x.T, strict=True)))
    found = jn.k_best(table, k=20)
    exact = jn.structure_posterior(table, "exact")
    weights = np.exp(found.scores - logsumexp(found.scores))
    graphs = [graph for graph, _, _ in found]

    def mean(f):
        return weights @ [f(graph) for graph in graphs]

    edge = found.edge_probability("Smoker", "Cancer")
    assert edge == pytest.approx(mean(lambda g: ("Smoker", "Cancer") in g.edges), abs=1e-12)
    assert edge.standard_error == 0.0
    path = mean(lambda g: "Xray" in g.descendants("Smoker"))
    assert found.path_probability("Smoker", "Xray") == pytest.approx(path, abs=1e-12)
    size = mean(lambda g: len(g.edges))
    assert found.feature(lambda g: len(g.edges)) == pytest.approx(size, abs=1e-12)
    probabilities = dict(exact.graphs)
    share = sum(probabilities[graph] for graph in graphs)
    assert found.posterior.share == pytest.approx(share, abs=1e-10)
    assert f"which hold {share:.4g} of the posterior" in repr(found.posterior)


def test_the_top_of_a_posterior_is_the_list_of_its_best(few):
    best = jn.k_best(few, k=30)
    exact = jn.structure_posterior(few, "exact")
    top = exact.top(30)
    assert top.share == pytest.approx(best.posterior.share, abs=1e-10)
    np.testing.assert_allclose(top.edge_matrix, best.posterior.edge_matrix, atol=1e-10)
    assert top.top(3).best == exact.best
    with pytest.raises(JensenError, match="n must be a whole number, 1 or more, not 0"):
        exact.top(0)


def test_the_top_of_chains_holds_an_unknown_share(few):
    post = jn.structure_posterior(few, n_samples=100, random_state=0)
    top = post.top(5)
    assert top.share is None
    assert not top.best.info.proven
    assert "which share of the posterior over all graphs they hold is unknown" in repr(top)
    scores = {str(g): s for g, s, _ in jn.k_best(few, 1e300)}
    weights = np.array([scores[str(graph)] for graph, _ in top.graphs])
    np.testing.assert_allclose(
        [p for _, p in top.graphs], np.exp(weights - logsumexp(weights)), rtol=1e-9
    )
    assert top.query("Cancer", do={"Smoker": "True"}).values.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("prior", ["order", ("order", "fair")])
def test_weights_of_a_prior_that_counts_orders_are_refused(few, prior):
    post = jn.structure_posterior(few, "exact", prior=prior)
    with pytest.raises(JensenError, match="a graph weighs as much as it has orders"):
        post.top(5)


def test_rows_with_holes_have_edges_and_paths_but_no_queries(few):
    records = few.to_pandas()
    records.loc[::7, "Cancer"] = None
    found = jn.k_best(records, k=4, random_state=0)
    assert found.posterior.share is None
    assert 0.0 <= found.edge_probability("Smoker", "Cancer") <= 1.0
    assert not found.posterior.best.info.proven
    with pytest.raises(JensenError, match="needs complete rows, and these graphs were scored by"):
        found.query("Cancer")


def test_a_part_of_a_list_is_a_list(few):
    found = jn.k_best(few, k=12)
    later = found[6:].posterior
    assert later.share == pytest.approx(
        found.posterior.share - found[:6].posterior.share, abs=1e-10
    )
    assert later.samples.n_distinct == 6


def test_lists_are_copied_and_saved(few, tmp_path):
    post = jn.k_best(few, k=12).posterior
    copied = pickle.loads(pickle.dumps(post))
    assert copied.share == post.share
    asked = post.query("Xray", do={"Cancer": "True"}).values
    np.testing.assert_array_equal(copied.query("Xray", do={"Cancer": "True"}).values, asked)
    post.save(tmp_path / "list.json")
    read = jn.load(tmp_path / "list.json")
    assert (read.share, read.is_proven) == (post.share, True)
    np.testing.assert_array_equal(read.edge_matrix, post.edge_matrix)
    again = read.with_table(few)
    np.testing.assert_array_equal(again.query("Xray", do={"Cancer": "True"}).values, asked)
    assert again.best.info.score == pytest.approx(post.best.info.score, abs=1e-9)
    assert isinstance(read.best, DAG)
