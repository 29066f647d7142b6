"""Shares of edges: their table, their threshold, and the graph that is made of them."""

import numpy as np
import pytest

import jensen as jn
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.edge_strengths import EdgeStrengths


def strengths(shares, constraints=None, names="abc"):
    names = tuple(names)
    matrix = np.zeros((len(names), len(names)))
    for (a, b), share in shares.items():
        matrix[names.index(a), names.index(b)] = share
    return EdgeStrengths(names, matrix, 10, constraints)


def test_questions_about_a_pair():
    found = strengths({"ab": 0.6, "ba": 0.2, "cb": 0.5})
    assert found["a", "b"] == 0.6
    assert found.strength("b", "a") == pytest.approx(0.8)
    assert found.direction("a", "b") == pytest.approx(0.75)
    assert found.direction("b", "a") == pytest.approx(0.25)
    assert np.isnan(found.direction("a", "c"))
    with pytest.raises(
        jn.JensenError, match="there is no variable 'x'; the variables are: a, b, c"
    ):
        found["a", "x"]


def test_edges_are_sorted_by_strength_and_shown_in_their_usual_direction():
    found = strengths({"ab": 0.1, "ba": 0.2, "cb": 0.5, "ac": 0.25, "ca": 0.25})
    assert [edge[:2] for edge in found.edges()] == [("c", "b"), ("a", "c"), ("b", "a")]
    assert [edge[:2] for edge in found.edges(0.4)] == [("c", "b"), ("a", "c")]
    assert found.to_pandas()["strength"].tolist() == pytest.approx([0.5, 0.5, 0.3])
    assert "10 graphs" in repr(found)
    assert "c     b" in repr(found)


def naive_threshold(values):
    """Of all shares t of zeros the one nearest to the distribution, then its quantile."""
    grid = np.linspace(0.0, 1.0, 20_001)[:-1] + 0.5 / 20_000
    cdf = np.array([(values <= x).mean() for x in grid])
    distance = {t: np.abs(cdf - t).mean() for t in {*cdf.tolist()}}
    best = min(distance.values())
    t = min(t for t, d in distance.items() if d < best + 1e-4)
    candidates = np.unique(np.concatenate([[0.0], values]))
    return float(min(x for x in candidates if (values <= x).mean() >= t))


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_is_where_the_nearest_distribution_on_0_and_1_parts(seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.beta(0.3, 0.3, 10), 2)
    shares = dict(zip([(a, b) for a in "abcde" for b in "abcde" if a < b], values, strict=True))
    found = strengths(shares, names="abcde").threshold
    assert found == pytest.approx(naive_threshold(values))


def test_nothing_and_everything_found():
    assert strengths({}).averaged() == jn.DAG("a; b; c")
    sure = strengths({"ab": 1.0, "bc": 1.0})
    assert sure.averaged() == jn.DAG("a -> b; b -> c")
    assert EdgeStrengths((), np.zeros((0, 0)), 1).averaged() == jn.DAG()


def test_an_edge_that_would_close_a_cycle_is_turned():
    found = strengths({"ab": 0.9, "bc": 0.8, "ca": 0.7})
    assert found.averaged(0.5) == jn.DAG("a -> b; b -> c; a -> c")


def test_constraints_hold_in_the_averaged_graph():
    shares = {"ab": 0.9, "cb": 0.8, "ca": 0.7}
    rules = read_constraints("abc", 1, required=[("b", "c")], forbidden=[("a", "b")])
    found = strengths(shares, rules).averaged(0.5)
    assert found == jn.DAG("b -> c; b -> a")


def test_what_is_always_found_is_there_at_every_threshold():
    found = strengths({"ab": 1.0, "bc": 0.99, "ac": 1.0 - 1e-15})
    assert found.strength("a", "c") < 1.0  # as rounding leaves it
    assert found.averaged(1) == jn.DAG("a -> b; a -> c")
    assert [edge[:2] for edge in found.edges(1)] == [("a", "b"), ("a", "c")]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "x", float("nan")])
def test_a_threshold_is_a_share(threshold):
    with pytest.raises(jn.JensenError, match="threshold must be between 0 and 1"):
        strengths({}).averaged(threshold)
