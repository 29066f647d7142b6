"""Posteriors given a known order: against enumeration of all graphs that agree with it."""

from itertools import permutations

import numpy as np
import pytest
from naive import graph_sums
from q_graph.sums.test_exact_posterior import Given, random_scores
from scipy.stats import chisquare

import jensen as jn
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.constraints import follow_order, read_constraints
from jensen.q_graph.sums import known_order
from jensen.q_graph.sums.known_order import known_order_posterior
from jensen.scores.graph_priors import read_prior

ORDERS = list(permutations(range(4)))


class OneByOne(Given):
    """The same scores, also with each further parent."""

    def with_each(self, child, parents):
        found = np.full(len(self.names), np.nan)
        for u in range(len(self.names)):
            if u != child and u not in parents:
                found[u] = self.family(child, sorted((*parents, u)))
        return found


def posterior(scorer, order, prior="uniform", **rules):
    read = read_prior(prior, scorer.names)
    given = follow_order(read_constraints(scorer.names, **rules), scorer.names, order)
    return known_order_posterior(scorer, read.prior, given, order)


def agreeing(order, allowed=lambda parents: True):
    """All DAGs whose edges lead forward in the order."""
    place = {v: k for k, v in enumerate(order)}
    graphs = graph_sums.networks(len(order))
    return [
        g
        for g in graphs
        if all(place[u] < place[v] for v, up in enumerate(g) for u in up) and allowed(g)
    ]


def descend(g, a):
    """All variables that a path leads to."""
    found = {a}
    for _ in g:
        found |= {v for v, up in enumerate(g) if found & set(up)}
    return found - {a}


def enumerated(scores, order, log_prior=lambda g: 0.0, allowed=lambda g: True):
    """Log total, log evidence, edges, paths, and the graphs with their probabilities."""
    graphs, n = agreeing(order, allowed), len(order)
    priors = np.array([log_prior(g) for g in graphs])
    own = [sum(scores[v, graph_sums.column(v, up)] for v, up in enumerate(g)) for g in graphs]
    total = graph_sums.log_sum(own + priors)
    p = np.exp(own + priors - total)
    edges, paths = np.zeros((2, n, n))
    for g, share in zip(graphs, p, strict=True):
        for v, up in enumerate(g):
            edges[list(up), v] += share
        for a in range(n):
            paths[a, sorted(descend(g, a))] += share
    return total, total - graph_sums.log_sum(priors), edges, paths, graphs, p


@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
def test_all_orders_of_four_variables(spread):
    scores = random_scores(4, 1, spread)
    for order in ORDERS:
        total, evidence, edges, paths, graphs, p = enumerated(scores, order)
        post = posterior(Given(scores), order)
        assert post.log_total == pytest.approx(total, rel=1e-13, abs=1e-12)
        assert post.log_evidence == pytest.approx(evidence, rel=1e-13, abs=1e-12)
        np.testing.assert_allclose(post.edge_matrix, edges, rtol=0, atol=1e-12)
        np.testing.assert_allclose(post.path_matrix(), paths, rtol=0, atol=1e-12)
        best = graphs[int(np.argmax(p))]
        assert post.most_probable.parents == tuple(tuple(sorted(up)) for up in best)
        for v in range(4):
            sets, found = post.likely_sets(v, -1.0)
            by_set = {
                up: sum(q for g, q in zip(graphs, p, strict=True) if tuple(sorted(g[v])) == up)
                for up in sets
            }
            np.testing.assert_allclose(found, list(by_set.values()), rtol=0, atol=1e-12)
            table = post.parent_set_probabilities(v)
            assert table.sum() == pytest.approx(1.0)
            for up, q in by_set.items():
                assert table[graph_sums.column(v, up)] == pytest.approx(q, abs=1e-12)


def test_orders_weighted_by_their_evidence_are_the_posterior_over_orders():
    table = jn.examples.load("burglary").sample(60, random_state=0)
    table = table.select(table.names[:4])
    names = sorted(table.names)
    found = [
        jn.structure_posterior(table, known_order=[names[v] for v in order]) for order in ORDERS
    ]
    # P(order | D) is proportional to Σ_G w(G) p(D | G) over the graphs of the order
    weights = np.exp([post.exact.log_total - found[0].exact.log_total for post in found])
    mean = np.average([post.edge_matrix for post in found], axis=0, weights=weights)
    over_orders = jn.structure_posterior(table, "exact", prior="order")
    np.testing.assert_allclose(over_orders.edge_matrix, mean, rtol=0, atol=1e-11)


@pytest.mark.parametrize("most_at_once", [14, 0])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_bounded_parents_required_edges_and_priors(monkeypatch, most, most_at_once):
    monkeypatch.setattr(known_order, "ALL_SUBSETS", most_at_once)
    scores, order = random_scores(5, 2, 2.0), (3, 0, 4, 1, 2)
    rules = {"max_parents": most, "forbidden": [("v03", "v02")]}
    if most:
        rules["required"] = [("v00", "v01")]

    def allowed(g):
        return max(map(len, g)) <= most and 3 not in g[2] and (not most or 0 in g[1])

    odds = {("v00", "v02"): 0.9, ("v04", "v01"): 0.2}

    def log_prior(g):
        return np.log(9.0) * (0 in g[2]) + np.log(0.25) * (4 in g[1])

    if most == 0:
        odds = "uniform"
    _, evidence, edges, paths, *_ = enumerated(scores, order, log_prior, allowed)
    post = posterior(OneByOne(scores), order, odds, **rules)
    assert post.log_evidence == pytest.approx(evidence, rel=1e-12)
    np.testing.assert_allclose(post.edge_matrix, edges, rtol=0, atol=1e-12)
    np.testing.assert_allclose(post.path_matrix(), paths, rtol=0, atol=1e-12)


def test_graphs_are_drawn_independently_with_their_probabilities():
    """Chi-square over the 64 graphs of four ordered variables, at p = 1e-3."""
    scores, order = random_scores(4, 3, 1.0), (2, 0, 3, 1)
    *_, graphs, p = enumerated(scores, order)
    post = posterior(Given(scores), order)
    parents, totals, _ = post.draw(20_000, np.random.default_rng(5))
    keys = {tuple(sum(1 << u for u in up) for up in g): k for k, g in enumerate(graphs)}
    drawn = np.array([keys[tuple(row)] for row in parents[:, :, 0].tolist()])
    assert chisquare(np.bincount(drawn, minlength=len(p)), 20_000 * p).pvalue > 1e-3
    np.testing.assert_allclose(totals, np.log(p[drawn]) + post.log_total, atol=1e-11)


@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_it_is_the_exact_posterior_without_the_edges_that_lead_back(score):
    table = jn.examples.load("asia").sample(300, random_state=0)
    order = ["asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp"]
    back = [(b, a) for i, a in enumerate(order) for b in order[i + 1 :]]
    known = jn.structure_posterior(table, score=score, known_order=order, prior="fair")
    exact = jn.structure_posterior(table, "exact", score, forbidden=back, prior="fair")
    assert known.log_evidence == pytest.approx(exact.log_evidence, rel=1e-12)
    np.testing.assert_allclose(known.edge_matrix, exact.edge_matrix, rtol=0, atol=1e-10)
    np.testing.assert_allclose(known.path_matrix, exact.path_matrix, rtol=0, atol=1e-10)
    assert known.best == exact.best
    assert known.best.info.proven
    for x in order:
        ours, theirs = known.parent_sets(x), exact.parent_sets(x)
        assert ours.keys() == theirs.keys()
        assert all(ours[s] == pytest.approx(theirs[s], abs=1e-10) for s in ours)
    n_edges = known.feature(lambda dag: len(dag.edges))
    truth = float(exact.edge_matrix.sum())
    assert abs(n_edges - truth) < 4 * n_edges.standard_error
    tiers = jn.structure_posterior(table, "exact", score, tiers=[[x] for x in order], prior="fair")
    assert tiers.settings["known_order"] == order
    np.testing.assert_array_equal(tiers.edge_matrix, known.edge_matrix)


def test_many_variables_with_few_parents(tmp_path):
    """37 variables: edges are exact, paths are drawn, and files keep both."""
    net = jn.examples.load("alarm")
    table = net.sample(300, random_state=0)
    order = [net.graph.nodes[v] for v in topological(net.graph)]
    post = jn.structure_posterior(table, known_order=order, max_parents=2)
    v = post.names[5]
    sets = post.parent_sets(v, threshold=0.0)
    assert sum(sets.values()) == pytest.approx(1.0)
    for u in post.names:
        if u != v:
            own = sum(p for members, p in sets.items() if u in members)
            assert post.edge_probability(u, v) == pytest.approx(own, abs=1e-12)
    path = post.path_probability(order[0], order[-1])
    assert path.standard_error > 0.0
    assert post.log_evidence < 0.0
    again = type(post).from_dict(post.to_dict())
    np.testing.assert_array_equal(again.edge_matrix, post.edge_matrix)
    assert again.path_probability(order[0], order[-1]) == path
    assert again.settings["known_order"] == order


def topological(dag):
    """Parents before children."""
    done = []
    while len(done) < len(dag.nodes):
        done += [
            v for v, up in enumerate(dag.parent_indices) if v not in done and set(up) <= set(done)
        ]
    return done


def test_numbers_and_constant_columns():
    rng = np.random.default_rng(0)
    a = rng.normal(size=50)
    table = jn.Table({"a": a, "b": a + rng.normal(size=50), "c": rng.normal(size=50)})
    known = jn.structure_posterior(table, known_order=["c", "a", "b"])
    exact = jn.structure_posterior(table, "exact", forbidden="a -> c; b -> c; b -> a")
    assert known.log_evidence == pytest.approx(exact.log_evidence, rel=1e-12)
    np.testing.assert_allclose(known.edge_matrix, exact.edge_matrix, rtol=0, atol=1e-12)


@pytest.fixture
def few():
    return jn.examples.load("sprinkler").sample(50, random_state=0)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"known_order": "rain"}, "known_order= lists all columns, from first to last, not 'rain'"),
        ({"known_order": ["rain", "fog"]}, "known_order= names 'fog', which is no column"),
        ({"known_order": ["rain", "rain"]}, "known_order= names 'rain' twice"),
        ({"known_order": ["rain"]}, "known_order= lacks .*: it lists all columns"),
        ({"known_order": [["rain"]]}, "groups of columns whose own order is unknown are tiers="),
        ({"method": "partition"}, "nothing to sample: leave out method='partition'"),
        ({"prior": "order"}, "prior='order' counts orders, and with known_order= there is one"),
        ({"tiers": [["rain"], ["sprinkler"]]}, "known_order= is tiers= of one variable each"),
        ({"n_samples": 3}, "n_samples= belongs to chains, and known_order= has none"),
        ({"required": "wet_grass -> rain"}, "wet_grass -> rain is required, but leads back in"),
    ],
)  # fmt: skip
def test_refusals(few, choices, text):
    names = ["cloudy", "rain", "sprinkler", "wet_grass"]
    assert sorted(few.names) == names
    with pytest.raises(JensenError, match=text):
        jn.structure_posterior(few, **{"known_order": names, **choices})


def test_too_many_sets_are_refused():
    table = jn.Table({f"v{k:02d}": [0, 1, 1, 0] for k in range(30)})
    with pytest.raises(JensenError, match="sets of parents, more than 4,194,304: choose max_par"):
        jn.structure_posterior(table, known_order=sorted(table.names))


def test_a_required_edge_that_leaves_no_graph_is_refused():
    scores = random_scores(2, 0, 1.0)
    scores[1] = -np.inf
    with pytest.raises(GraphError, match="no network is possible"):
        posterior(Given(scores), (0, 1))
