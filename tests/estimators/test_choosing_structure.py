"""Graphs ranked by the evidence, listed ones and a climb."""

import numpy as np
import pytest
from evidence.cases import LATENT

import jensen as jn

HIDDEN = jn.BayesianNetwork(hidden={"H": 2}, prior=1.0, random_state=0)
GRAPHS = ["H -> a; H -> b; H -> c", "a; b; c; H", "H -> a; H -> b; c"]


@pytest.fixture(scope="module")
def ranked():
    return jn.choose_structure(LATENT, GRAPHS, model=HIDDEN, by="exact")


def test_the_ranking_is_that_of_the_evidences(ranked):
    for one in ranked.ranked:
        net = jn.BayesianNetwork(one.graph, hidden={"H": 2}, prior=1.0)
        assert one.value == pytest.approx(jn.log_evidence(net, LATENT, "exact").value)
    values = [one.value for one in ranked.ranked]
    assert values == sorted(values, reverse=True)
    assert [ranked.rank(one.graph) for one in ranked.ranked] == [1, 2, 3]
    assert sum(ranked.probabilities().values()) == pytest.approx(1.0)
    assert ranked.to_pandas()["kind"].tolist() == ["exact"] * 3
    assert ranked.model.get_params()["graph"] == ranked.graph == jn.DAG(GRAPHS[0])
    assert "exact: exact" in repr(ranked)


@pytest.mark.parametrize("by", ["bic", "cheeseman-stutz", "vb", "ais", "smc", "bridge"])
def test_any_method_ranks(by):
    few = {"n_chains": 8} if by in ("ais", "smc") else {}
    few = {"n_chains": 2, "n_samples": 20} if by == "bridge" else few
    found = jn.choose_structure(LATENT, GRAPHS[1:], model=HIDDEN, by=by, **few)
    assert len(found.ranked) == 2
    assert (found.ranked[0].standard_error is not None) == (
        by in ("ais", "smc", "bridge") and found.ranked[0].kind == "estimate"
    )


def test_a_climb_ends_where_no_neighbour_is_better():
    """All graphs of three labels: the climb ends at the best class, which enumeration finds."""
    rows = {"a": list("000111010110"), "b": list("000111110010"), "c": list("011001101001")}
    rows["b"][3] = None
    found = jn.choose_structure(rows, by="exact")
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    best = -np.inf
    for kinds in np.ndindex(3, 3, 3):
        edges = [(pair, pair[::-1])[k - 1] for pair, k in zip(pairs, kinds, strict=True) if k]
        try:
            net = jn.BayesianNetwork(jn.DAG(edges, nodes=list("abc")), prior="bdeu")
        except jn.GraphError:
            continue
        best = max(best, jn.log_evidence(net, rows, "exact").value)
    assert found.ranked[0].value == pytest.approx(best)
    narrow = jn.choose_structure(rows, by="exact", max_parents=1)
    assert all(len(one.graph.parents(x)) <= 1 for one in narrow.ranked for x in "abc")
    begun = jn.choose_structure(LATENT, model=HIDDEN, by="exact", max_parents=1)
    assert begun.graph == jn.DAG(GRAPHS[0])


def test_what_is_wrong_is_told(ranked):
    with pytest.raises(jn.JensenError, match="no method 'score'"):
        jn.choose_structure(LATENT, GRAPHS, by="score")
    with pytest.raises(jn.JensenError, match="max_parents belongs to a climb"):
        jn.choose_structure(LATENT, GRAPHS, max_parents=1)
    with pytest.raises(jn.JensenError, match="model must be a BayesianNetwork"):
        jn.choose_structure(LATENT, GRAPHS, model=jn.LatentClass(2))
    with pytest.raises(jn.JensenError, match="structures= is empty"):
        jn.choose_structure(LATENT, [])
    with pytest.raises(jn.JensenError, match="was not asked of: 3 graphs were"):
        ranked.rank("a -> b")
    flat = jn.BayesianNetwork(prior=None)
    with pytest.raises(jn.JensenError, match="the first graph has no evidence: the evidence"):
        jn.choose_structure(LATENT, model=flat)
    with pytest.raises(jn.JensenError, match="no graph has an evidence by 'vb'"):
        jn.choose_structure(LATENT, ["a -> b -> c"], model=flat)
    some = jn.choose_structure(
        LATENT, [*GRAPHS[1:], "H -> a; H -> b; H -> d"], model=HIDDEN, by="exact"
    )
    assert "1 graph refused" in repr(some)
