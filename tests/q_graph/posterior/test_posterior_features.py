"""Probabilities of features of graphs, against their definition by enumeration."""

import pickle

import numpy as np
import pytest
from naive.posteriors import dags_of, parents_of, run_of, sampled

import jensen as jn
from jensen.exceptions import JensenError
from jensen.q_graph.posterior import Estimate, SampledPosterior
from jensen.q_graph.posterior.graph_samples import GraphSamples

NAMES = ("A", "B", "C", "D")
DAGS = dags_of(NAMES)
P = np.random.default_rng(0).dirichlet(np.full(543, 0.2))

FEATURES = {
    "edge": (lambda post: post.edge_probability("A", "C"), lambda g: ("A", "C") in g.edges),
    "undirected": (
        lambda post: post.undirected_probability("A", "C"),
        lambda g: ("A", "C") in g.edges or ("C", "A") in g.edges,
    ),
    "compelled": (
        lambda post: post.compelled_probability("B", "D"),
        lambda g: ("B", "D") in g.cpdag().directed,
    ),
    "path": (lambda post: post.path_probability("D", "A"), lambda g: "D" in g.ancestors("A")),
    "blanket": (
        lambda post: post.markov_blanket("B")["D"],
        lambda g: "D" in g.markov_blanket("B"),
    ),
    "parents": (
        lambda post: post.parent_sets("C").get(("A", "B"), Estimate(0.0, 1e-9)),
        lambda g: g.parents("C") == ("A", "B"),
    ),
    "any": (lambda post: post.feature(lambda g: len(g.edges)), lambda g: len(g.edges)),
    "truth": (
        lambda post: post.feature(lambda g: g.d_separated("A", "D", given="B")),
        lambda g: g.d_separated("A", "D", given="B"),
    ),
}


def posterior(shape=(4, 2000), seed=0, p=P):
    return SampledPosterior(run_of(sampled(DAGS, p, shape, seed)))


@pytest.mark.parametrize("name", FEATURES)
def test_features_are_those_of_the_samples_and_near_the_truth(name):
    ask, of_graph = FEATURES[name]
    post = posterior()
    each = np.array([of_graph(g) for g in DAGS], float)
    drawn = dict(post.graphs)
    found = ask(post)
    mean = sum(drawn.get(g, 0.0) * value for g, value in zip(DAGS, each, strict=True))
    assert found == pytest.approx(mean, abs=1e-12)
    spread = np.sqrt(P @ each**2 - (P @ each) ** 2)
    assert found.standard_error == pytest.approx(spread / np.sqrt(8000), rel=0.15)
    assert abs(found - P @ each) < 4 * found.standard_error  # p < 1e-4 each


def test_matrices_hold_every_pair():
    post = posterior()
    for i, a in enumerate(NAMES):
        for j, b in enumerate(NAMES):
            if a == b:
                assert post.edge_matrix[i, i] == post.edge_errors[i, i] == 0
                continue
            assert post.edge_matrix[i, j] == post.edge_probability(a, b)
            assert post.edge_errors[i, j] == post.edge_probability(a, b).standard_error
            assert post.path_matrix[i, j] == pytest.approx(post.path_probability(a, b), abs=1e-12)
            compelled = post.compelled_probability(a, b)
            assert post.compelled_matrix[i, j] == pytest.approx(compelled, abs=1e-12)


def test_parent_sets_sum_to_one_and_come_sorted():
    post = posterior()
    sets = post.parent_sets("B")
    assert sum(sets.values()) == pytest.approx(1.0, abs=1e-12)
    assert list(sets.values()) == sorted(sets.values(), reverse=True)
    assert sets[["D", "A"]] == sets["A", "D"]
    some = post.parent_sets("B", threshold=0.1)
    assert set(some) == {key for key, p in sets.items() if p > 0.1}
    assert "parents of B  probability  standard error" in repr(sets)
    assert list(sets.to_pandas().columns) == ["parents of B", "probability", "standard_error"]


def test_blankets_name_every_other_variable():
    blanket = posterior().markov_blanket("A")
    assert set(blanket) == {"B", "C", "D"}
    assert repr(blanket).startswith("Markov blanket of A  probability")


def test_features_may_be_arrays_and_are_asked_once_for_each_graph():
    post, asked = posterior(), []

    def matrix(dag):
        asked.append(dag)
        return dag.adjacency

    found = post.feature(matrix)
    assert len(asked) == len(set(asked)) == len(post.graphs)
    np.testing.assert_allclose(np.asarray(found), post.edge_matrix, atol=1e-12)
    np.testing.assert_allclose(found.standard_error[0, 1], post.edge_errors[0, 1], rtol=1e-12)
    assert found[0, 1] == pytest.approx(post.edge_probability("A", "B"))
    assert found.shape == (4, 4)


def test_errors_tell_how_far_runs_differ():
    # 100 runs: the squared z-scores have mean 1, with a standard deviation of 0.14
    z = []
    for seed in range(100):
        p = posterior((2, 100), seed).edge_probability("A", "C")
        z.append((p - P @ [("A", "C") in g.edges for g in DAGS]) / p.standard_error)
    assert 0.6 < np.mean(np.square(z)) < 1.4


def test_errors_of_chains_grow_with_their_autocorrelation():
    samples = sampled(DAGS, P, (4, 500), 3)
    slow = GraphSamples.from_distinct(
        NAMES, samples.sets, samples.graphs, np.repeat(samples.which, 10, axis=1),
        np.repeat(samples.scores, 10, axis=1),
    )  # fmt: skip
    one = SampledPosterior(run_of(samples)).edge_probability("A", "C")
    ten = SampledPosterior(run_of(slow)).edge_probability("A", "C")
    assert ten == pytest.approx(one, abs=1e-12)
    assert ten.standard_error == pytest.approx(one.standard_error, rel=0.2)


def test_importance_weights_bring_the_truth_back():
    # drawn from one distribution, weighted to another; 4 standard errors: p < 1e-4 each
    q = 0.5 * P + 0.5 / 543
    which = np.random.default_rng(4).choice(543, (4, 3000), p=q)
    log_weights = (np.log(P) - np.log(q))[which] + 12.0
    samples = GraphSamples(NAMES, parents_of(DAGS)[which], np.log(P)[which], None, log_weights)
    post = SampledPosterior(run_of(samples, edge_batches=np.zeros((4, 10, 4, 4))))
    truth = np.tensordot(P, [g.adjacency for g in DAGS], 1)
    assert np.all(np.abs(post.edge_matrix - truth)[~np.eye(4, dtype=bool)]
                  < 4 * post.edge_errors[~np.eye(4, dtype=bool)])  # fmt: skip
    w = np.exp(log_weights)
    assert post.convergence.weights_size == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert "weights" in repr(post.convergence)
    f = [("A", "C") in g.edges for g in DAGS]
    variance = (w / w.mean() * (np.array(f)[which] - post.edge_matrix[0, 2])).var() / w.size
    assert post.edge_errors[0, 2] == pytest.approx(np.sqrt(variance), rel=0.1)


def test_an_edge_that_was_never_seen_is_not_certain_to_be_absent():
    p = np.where([("A", "B") in g.edges for g in DAGS], 0.0, P)
    post = posterior((2, 500), 5, p / p.sum())
    found = post.edge_probability("A", "B")
    assert found == 0
    assert 0.0002 < found.standard_error < 0.002  # as of two edges in 1,000 samples


def test_edges_given_what_was_sampled_take_the_place_of_shares():
    batches = np.random.default_rng(0).uniform(0.3, 0.5, (2, 40, 4, 4)) * ~np.eye(4, dtype=bool)
    post = SampledPosterior(run_of(sampled(DAGS, P, (2, 400), 0), edge_batches=batches))
    np.testing.assert_allclose(post.edge_matrix, batches.mean((0, 1)), rtol=1e-12)
    error = batches[:, :, 0, 1].std() / np.sqrt(80)
    assert post.edge_errors[0, 1] == pytest.approx(error, rel=0.4)
    np.testing.assert_allclose(post.convergence.agreement.by_chain, batches.mean(1), rtol=1e-12)
    assert np.nanmax(post.convergence.edge_r_hat) < 1.2


def test_the_table_of_edges_is_sorted_and_of_the_kind_that_came_in():
    samples = sampled(DAGS, P, (4, 200), 0)
    frame = SampledPosterior(run_of(samples)).edges()
    assert list(frame.columns) == [
        "from", "to", "probability", "standard_error", "r_hat", "effective_sample_size"
    ]  # fmt: skip
    assert frame["probability"].is_monotonic_decreasing
    assert len(frame) == 12
    polars = SampledPosterior(run_of(samples), source="polars").edges(threshold=0.3)
    assert type(polars).__module__.startswith("polars")
    assert 0 < len(polars) == (frame["probability"] > 0.3).sum()
    arrow = SampledPosterior(run_of(samples), source="pyarrow").edges()
    assert arrow.column("from").to_pylist() == frame["from"].tolist()


def test_best_is_the_graph_with_the_highest_score():
    post = posterior()
    assert post.best == DAGS[int(np.argmax(P))]
    assert post.best.info.log_weight == pytest.approx(np.log(P.max()))
    assert post.best.info.probability == pytest.approx(dict(post.graphs)[post.best])
    assert np.isnan(post.best.info.score)


def test_consensus_holds_probable_edges_and_never_a_cycle():
    post = posterior()
    graph = post.consensus(0.4)
    assert all(post.edge_probability(a, b) > 0.4 for a, b in graph.edges)
    p = np.zeros(543)
    cycle = ["A -> B -> C; D", "B -> C -> A; D", "C -> A -> B; D"]
    p[[DAGS.index(jn.DAG(text)) for text in cycle]] = 0.4, 0.35, 0.25
    likely = posterior((2, 1000), 0, p)
    assert min(likely.edge_probability(*e) for e in [("A", "B"), ("B", "C"), ("C", "A")]) > 0.5
    assert likely.consensus() == jn.DAG("A -> B -> C; D")
    assert likely.consensus(0.0) == jn.DAG("A -> B -> C; D")
    for wrong in (-0.1, 1.1, "half"):
        with pytest.raises(JensenError, match="threshold must be between 0 and 1"):
            post.consensus(wrong)


def test_graphs_are_drawn_by_their_probability():
    post = posterior()
    drawn = post.sample(4000, random_state=0)
    assert drawn == post.sample(4000, random_state=0)
    share = np.mean([("A", "C") in g.edges for g in drawn])
    assert abs(share - post.edge_probability("A", "C")) < 4 * 0.5 / np.sqrt(4000)  # p < 1e-4
    assert post.sample(0) == []


def test_estimates_are_floats():
    p = Estimate(0.25, 0.01)
    assert isinstance(p, float)
    assert p + 1 == 1.25
    assert f"{p:.3f}" == "0.250"
    again = pickle.loads(pickle.dumps(p))
    assert (again, again.standard_error) == (0.25, 0.01)
    assert [repr(Estimate(0.5, error)) for error in (0.0, 0.1234, np.nan, 3e-12)] == [
        "0.5", "0.50 ± 0.12", "0.5", "0.5"
    ]  # fmt: skip


def test_a_posterior_prints_its_edges():
    post = posterior()
    lines = repr(post).splitlines()
    assert lines[0].startswith("StructurePosterior of 4 variables: 4 chains of 2,000 samples, ")
    assert lines[1].split() == ["from", "to", "probability", "standard", "error"]
    assert len(lines) == 15
    assert "<svg" in post._repr_html_()
    assert "probability" in post._repr_html_()


def test_short_runs_say_that_errors_are_unknown():
    post = posterior((2, 5))
    assert np.isnan(post.edge_probability("A", "B").standard_error)
    assert repr(post)


def test_what_makes_no_sense_is_refused():
    post = posterior((1, 20))
    with pytest.raises(
        JensenError, match="there is no variable 'E'; the variables are: A, B, C, D"
    ):
        post.edge_probability("A", "E")
    with pytest.raises(JensenError, match="joins two variables, but 'A' came twice"):
        post.path_probability("A", "A")
    with pytest.raises(JensenError, match="a feature is a number, True or False, or an array"):
        post.feature(str)
    with pytest.raises(JensenError, match="a feature has the same shape for every graph"):
        post.feature(lambda g: np.zeros(len(g.edges)))
    with pytest.raises(JensenError, match="a feature must be finite for every graph"):
        post.feature(lambda g: np.inf)
    with pytest.raises(JensenError, match="n must be a whole number, 0 or more"):
        post.sample(-1)
