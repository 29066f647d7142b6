import numpy as np
import pytest
from naive.posteriors import dags_of, parents_of, run_of, sampled

from jensen.exceptions import EstimateWarning
from jensen.q_graph.posterior import SampledPosterior
from jensen.q_graph.posterior.convergence import indicator_r_hat
from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.runs.diagnostics import effective_sample_size, split_r_hat

NAMES = ("A", "B", "C", "D")
DAGS = dags_of(NAMES)
P = np.random.default_rng(0).dirichlet(np.full(543, 0.2))
HAS = np.array([("A", "B") in g.edges for g in DAGS])


def edges_of(samples):
    """(chains, samples, n, n): every edge of every sample."""
    each = np.array([samples.dag(d).adjacency for d in range(samples.n_distinct)])
    return each[samples.which]


@pytest.mark.parametrize("length", [4, 5, 51, 200])
def test_r_hat_of_truth_values_takes_their_shares_only(length):
    rng = np.random.default_rng(length)
    draws = rng.random((3, length, 6)) < [0.5, 0.1, 0.9, 0.0, 1.0, 0.3]
    draws[1, :, 5] = True
    half = length // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])
    found = indicator_r_hat(halves.mean(1), half)
    np.testing.assert_allclose(found, split_r_hat(draws), rtol=1e-10)


def test_chains_that_stand_still_apart_have_no_finite_r_hat():
    assert indicator_r_hat(np.array([0.0, 0.0, 1.0, 1.0]), 50) == np.inf


def test_r_hat_and_sizes_are_those_of_every_edge():
    samples = sampled(DAGS, P, (3, 120), 0)
    found = SampledPosterior(run_of(samples)).convergence
    draws, off = edges_of(samples), ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(found.edge_r_hat[off], split_r_hat(draws)[off], rtol=1e-10)
    np.testing.assert_allclose(found.edge_sizes[off], effective_sample_size(draws)[off], rtol=1e-10)
    assert found.r_hat == split_r_hat(samples.states)
    assert found.effective_sample_size == effective_sample_size(samples.states)


def test_switches_are_counted_within_chains():
    samples = sampled(DAGS, P, (3, 120), 1)
    found = SampledPosterior(run_of(samples)).convergence
    draws = edges_of(samples)
    np.testing.assert_array_equal(found.switches, (draws[:, 1:] != draws[:, :-1]).sum((0, 1)))
    (a, b), times = found.slowest_edge
    p = found.edge_probabilities
    doubtful = (p > 0.05) & (p < 0.95)
    assert times == found.switches[doubtful].min()
    assert found.switches[NAMES.index(a), NAMES.index(b)] == times


def test_chains_that_disagree_are_told_apart_in_words():
    with_edge, without = P * HAS, P * ~HAS
    first = sampled(DAGS, with_edge / with_edge.sum(), (1, 300), 0)
    second = sampled(DAGS, without / without.sum(), (3, 300), 1)
    parents = np.concatenate([s.sets[s.graphs][s.which] for s in (first, second)])
    scores = np.concatenate([first.scores, second.scores])
    post = SampledPosterior(run_of(GraphSamples(NAMES, parents, scores)))
    apart = post.convergence.agreement
    assert apart.edge == ("A", "B")
    assert (apart.lowest, apart.highest, apart.largest) == (0.0, 1.0, 1.0)
    spread = np.ptp(apart.by_chain, axis=0)
    assert apart.mean == pytest.approx(spread.sum() / 12)
    assert post.convergence.edge_r_hat[0, 1] == np.inf
    assert post.convergence.switches[0, 1] == 0
    words = (
        r"the chains disagree \(the probability of A -> B is 0.000 in one and 1.000 in another.*"
        r"raise burn_in and n_samples, or try tempering"
    )
    with pytest.warns(EstimateWarning, match=words):
        post.warn()
    assert "the chains disagree" in repr(post.convergence)


def test_a_drifting_score_is_told():
    samples = sampled(DAGS, P, (4, 100), 0)
    scores = samples.scores + np.arange(4)[:, None]
    drifting = GraphSamples.from_distinct(
        NAMES, samples.sets, samples.graphs, samples.which, samples.scores, scores
    )
    post = SampledPosterior(run_of(drifting))
    assert "R-hat of the log score is" in post.convergence.disagreement


def test_chains_that_agree_are_silent():
    moves = {"swap": (np.array([10, 20]), np.array([100, 100])), "none": (np.zeros(2), np.zeros(2))}
    post = SampledPosterior(run_of(sampled(DAGS, P, (2, 1000), 0), moves))
    post.warn()
    found = post.convergence
    assert found.disagreement is None
    assert found.acceptance["swap"] == 0.15
    assert np.isnan(found.acceptance["none"])
    text = repr(found)
    assert text.startswith("Convergence of 2 chains of 1,000 samples\n")
    for words in ("log score  R-hat 1.0", "edges", "differ by", "15.0% accepted", "changed"):
        assert words in text


def test_one_chain_has_nobody_to_disagree_with():
    found = SampledPosterior(run_of(sampled(DAGS, P, (1, 300), 0))).convergence
    assert found.agreement.edge is None
    assert found.disagreement is None
    assert "differ by" not in repr(found)


def test_a_run_that_was_hardly_begun_has_a_page_too():
    post = SampledPosterior(run_of(sampled(DAGS, P, (2, 2), 0)))
    assert "unknown" in repr(post.convergence)
    still = GraphSamples(NAMES, parents_of(DAGS)[np.zeros((2, 30), int)], np.zeros((2, 30)))
    assert "largest R-hat 1.000" in repr(SampledPosterior(run_of(still)).convergence)
