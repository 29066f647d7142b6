"""Posteriors summed over all graphs: against enumeration and slow twins."""

import math

import numpy as np
import pytest
from naive import graph_sums
from q_graph.optimum.test_exact import make_table

import jensen as jn
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.sums import dag_sums, exact_posterior
from jensen.q_graph.sums.exact_posterior import exact_posterior as sum_posterior
from jensen.scores.graph_priors import read_prior
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.support.machine import set_memory_limit, set_threads

N_DAGS = {  # OEIS A003024
    0: 1, 1: 1, 2: 3, 3: 25, 4: 543, 5: 29281, 6: 3781503, 7: 1138779265, 8: 783702329343,
    12: 521939651343829405020504063, 14: 1439428141044398334941790719839535103,
}  # fmt: skip


class Given:
    """Scores that are given as a table."""

    is_set_function, total_weight = False, 0.0

    def __init__(self, scores):
        self.scores = np.asarray(scores, float)
        self.names = tuple(f"v{k:02d}" for k in range(len(scores)))

    def fill_family_scores(self, out, max_parents, progress):
        out[:] = self.scores

    def family(self, child, parents):
        return self.scores[child, graph_sums.column(child, parents)]


def posterior(scorer, prior="uniform", progress=None, **rules):
    read = read_prior(prior, scorer.names)
    rules = read_constraints(scorer.names, **rules)
    joined = rules._replace(
        required=rules.required | read.required, forbidden=rules.forbidden | read.forbidden
    )
    return sum_posterior(scorer, read.prior, joined, progress=progress)


def flat(n):
    return Given(np.zeros((n, 1 << max(n - 1, 0))))


def random_scores(n, seed, spread):
    return np.random.default_rng(seed).normal(0.0, spread, (n, 1 << (n - 1)))


def sets_of(post):
    return np.array([post.parent_set_probabilities(v) for v in range(len(post.names))])


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 500.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_dags(n, spread):
    for seed in range(3 if n < 5 else 1):
        scores = random_scores(n, seed, spread)
        total, edges, paths, sets = graph_sums.by_enumeration(scores)
        post = posterior(Given(scores))
        assert post.log_total == pytest.approx(total, rel=1e-13, abs=1e-12)
        np.testing.assert_allclose(post.edge_matrix, edges, rtol=0, atol=1e-11)
        np.testing.assert_allclose(post.path_matrix(), paths, rtol=0, atol=1e-11)
        np.testing.assert_allclose(sets_of(post), sets, rtol=0, atol=1e-11)


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 500.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_dags_in_all_their_orders(n, spread):
    for seed in range(3):
        scores = random_scores(n, seed, spread)
        total, edges, paths, sets = graph_sums.by_enumeration(scores, counts_orders=True)
        post = posterior(Given(scores), "order")
        assert post.log_total == pytest.approx(total, rel=1e-13, abs=1e-12)
        np.testing.assert_allclose(post.edge_matrix, edges, rtol=0, atol=1e-11)
        np.testing.assert_allclose(post.path_matrix(), paths, rtol=0, atol=1e-11)
        np.testing.assert_allclose(sets_of(post), sets, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("n", "prior", "log_total", "n_edges"),
    [
        (6, "uniform", graph_sums.log_total_by_layers, 3),
        (7, "uniform", graph_sums.log_total_by_layers, 0),
        (8, "uniform", graph_sums.log_total_by_exclusion, 2),
        (6, "order", graph_sums.log_total_by_orders, 6),
        (7, "order", graph_sums.log_total_by_orders, 2),
    ],
)
@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_slow_twins(n, prior, log_total, n_edges, spread):
    scores = random_scores(n, n, spread)
    post = posterior(Given(scores), prior)
    assert post.log_total == pytest.approx(log_total(scores), rel=1e-12)
    likely = np.argsort(-np.abs(post.edge_matrix * (1 - post.edge_matrix)).ravel())[:n_edges]
    for u, v in zip(*np.unravel_index(likely, (n, n)), strict=True):
        p = graph_sums.edge_probability(scores, log_total, u, v)
        assert post.edge_matrix[u, v] == pytest.approx(p, abs=1e-10)


@pytest.mark.parametrize("penalty", [4.0, 40.0])
def test_no_digits_are_lost_where_nearly_all_variables_are_sinks(penalty):
    """The worst case: hardly any edge, so that nearly all terms are as large as their sum."""
    n = 9
    sizes = np.array([k.bit_count() for k in range(1 << (n - 1))])
    scores = -penalty * sizes + random_scores(n, 0, 0.3)
    post = posterior(Given(scores))
    assert post.log_total == pytest.approx(graph_sums.log_total_by_exclusion(scores), rel=1e-14)
    n = 14
    sizes = np.array([k.bit_count() for k in range(1 << (n - 1))])
    post = posterior(Given(np.where(sizes, -np.inf, 0.0) * np.ones((n, 1))))
    assert post.log_total == 0.0
    assert not post.edge_matrix.any()


@pytest.mark.parametrize("n", N_DAGS)
def test_without_data_the_total_is_the_number_of_dags(n):
    post = posterior(flat(n))
    assert post.log_total == pytest.approx(math.log(N_DAGS[n]), rel=1e-14, abs=1e-14)
    assert post.log_evidence == pytest.approx(0.0, abs=1e-12)
    assert post.edge_matrix.shape == (n, n)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 11])
def test_without_data_the_total_is_the_number_of_orders_and_their_graphs(n):
    post = posterior(flat(n), "order")
    expected = math.lgamma(n + 1) + n * (n - 1) / 2 * math.log(2)
    assert post.log_total == pytest.approx(expected, rel=1e-14, abs=1e-14)
    assert post.log_evidence == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "over_dags"), [(2, 1 / 3), (3, 8 / 25), (4, 56 / 181), (5, 8816 / 29281)]
)
def test_an_edge_without_data(n, over_dags):
    """Over orders it is 1/4: the parent comes first, and then it is or is not one."""
    away = ~np.eye(n, dtype=bool)
    for prior, p in (("uniform", over_dags), ("order", 0.25)):
        edges = posterior(flat(n), prior).edge_matrix
        np.testing.assert_allclose(edges[away], p, rtol=1e-13)
        assert not edges[~away].any()


def lizards():
    """Schoener (1968): 409 Anolis lizards by species, diameter and height of their perch."""
    cells = [(s, d, h) for s in ("Distichus", "Sagrei") for d in "nw" for h in "hl"]
    species, diameter, height = (list(column) for column in zip(*cells, strict=True))
    columns = {"Species": species, "Diameter": diameter, "Height": height}
    return jn.Table(columns, weights=[73, 61, 70, 41, 86, 32, 35, 11])


def test_a_published_table():
    """BDeu, equivalent sample size 1; the numbers are from an enumeration elsewhere."""
    scorer = make_scorer(lizards(), "bdeu", equivalent_sample_size=1.0)
    over_dags, over_orders = posterior(scorer), posterior(scorer, "order")
    assert scorer.names == ("Diameter", "Height", "Species")
    assert over_dags.log_total == pytest.approx(-817.6016312801207, rel=1e-13)
    assert over_orders.log_total == pytest.approx(-817.1467172345529, rel=1e-13)
    np.testing.assert_allclose(
        over_dags.edge_matrix,
        [
            [0.0, 0.0063780434, 0.347012059],
            [0.0050700449, 0.0, 0.3113692042],
            [0.6140599597, 0.5797251034, 0.0],
        ],
        atol=1e-10,
    )
    np.testing.assert_allclose(
        over_orders.edge_matrix,
        [
            [0.0, 0.0055276386, 0.2917861102],
            [0.0038677821, 0.0, 0.2265347145],
            [0.6306712336, 0.5670796944, 0.0],
        ],
        atol=1e-10,
    )


def table_of(n, value, **rules):
    """(n, 2^(n-1)): a function of families; -inf where they break rules."""
    table = np.full((n, 1 << (n - 1)), -np.inf)
    for v in range(n):
        for up in graph_sums.subsets(set(range(n)) - {v}):
            if keeps_rules(v, up, **rules):
                table[v, graph_sums.column(v, up)] = value(v, up)
    return table


def keeps_rules(v, up, max_parents=9, required=(), forbidden=()):
    needed = {int(a[1]) for a, b in required if b == f"x{v}"}
    never = {int(a[1]) for a, b in forbidden if b == f"x{v}"}
    return len(up) <= max_parents and needed <= set(up) and not never & set(up)


SCORERS = {
    "bdeu": lambda: make_scorer(make_table(), "bdeu"),
    "k2": lambda: make_scorer(make_table(), "k2"),
    "bge": lambda: make_scorer(gaussian(), "bge"),
    "bic": lambda: make_scorer(gaussian(), "bic"),
    "interventions": lambda: make_scorer(
        make_table(), "bdeu", interventions=["x1"] * 20 + [None] * 40
    ),
}


def gaussian():
    x = np.random.default_rng(0).normal(size=(40, 4)) @ np.triu(np.ones((4, 4)))
    return jn.Table(x, continuous=["x0", "x1", "x2", "x3"])


PRIORS = ["uniform", "fair", {("x0", "x1"): 0.9, ("x2", "x0"): 0.2}]
RULES = [
    {},
    {"max_parents": 1},
    {"required": [("x3", "x0"), ("x2", "x1")]},
    {"required": [("x3", "x2")], "forbidden": [("x0", "x1"), ("x1", "x2")], "max_parents": 2},
]


@pytest.mark.parametrize("counts_orders", [False, True])
@pytest.mark.parametrize("prior", PRIORS, ids=["uniform", "fair", "edges"])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("score", SCORERS)
def test_scores_priors_and_constraints(score, rules, prior, counts_orders):
    scorer = SCORERS[score]()
    of_family = read_prior(prior, scorer.names).prior.of_family
    alone = table_of(4, of_family, **rules)
    scores = table_of(4, lambda v, up: scorer.family(v, up) + of_family(v, up), **rules)
    total, edges, _, _ = graph_sums.by_enumeration(scores, counts_orders)
    post = posterior(scorer, ("order", prior) if counts_orders else prior, **rules)
    assert post.log_total == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(post.edge_matrix, edges, rtol=0, atol=1e-9)
    constant = graph_sums.by_enumeration(alone, counts_orders)[0]
    assert post.log_evidence == pytest.approx(total - constant, rel=1e-12)


def test_certain_edges_of_the_prior_hold():
    post = posterior(make_scorer(make_table(), "bdeu"), {("x0", "x1"): 1.0, ("x2", "x3"): 0.0})
    assert post.edge_matrix[0, 1] == pytest.approx(1.0, abs=1e-12)
    assert post.edge_matrix[2, 3] == 0.0


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_the_order_of_columns_changes_nothing(prior):
    table = make_table(cards=(2, 3, 2, 2, 2, 3))
    post = posterior(make_scorer(table, "bdeu"), prior)
    other = posterior(make_scorer(table.select(sorted(table.names)[::-1]), "bdeu"), prior)
    assert post.names == other.names
    np.testing.assert_array_equal(post.edge_matrix, other.edge_matrix)
    np.testing.assert_allclose(sets_of(post).sum(1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_threads_change_no_bit(prior):
    scores = random_scores(10, 0, 3.0)
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        post = posterior(Given(scores), prior)
        drawn = post.draw(50, np.random.default_rng(0))
        found.append((post.edge_matrix, sets_of(post), post.path_matrix(), *drawn[:2]))
    set_threads(None)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_progress_rises_to_the_end(prior):
    told = []
    posterior(Given(random_scores(8, 0, 1.0)), prior, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_no_graph_is_left(prior):
    cycle = LocalScores.of({"a": {("b",): 0.0}, "b": {("a",): 0.0}, "c": {(): 0.0}})
    with pytest.raises(GraphError, match="no network is possible: every one without a cycle"):
        posterior(cycle, prior)
    nothing = LocalScores.of({"a": {("b",): 0.0}, "b": {}})
    with pytest.raises(GraphError, match="no network is possible"):
        posterior(nothing, prior)
    with pytest.raises(GraphError, match="no network is possible"):
        posterior(make_scorer(make_table(), "bdeu"), {("x0", "x1"): 1.0}, forbidden=[("x0", "x1")])


def test_too_many_variables():
    with pytest.raises(JensenError, match="over DAGs takes 19 variables at most, not 20: it would"):
        posterior(flat(20))
    try:
        set_memory_limit(1e6)
        for n, prior, way_out in ((14, "uniform", "sum over orders"), (14, "order", "or sample")):
            with pytest.raises(
                JensenError, match=f"the exact posterior of {n} variables.*{way_out}"
            ):
                posterior(flat(n), prior)
    finally:
        set_memory_limit(None)


def test_paths_over_orders_are_refused_with_an_estimate():
    sums = exact_posterior.OrderSums(np.zeros((20, 1)), np.zeros(1), np.zeros(1))
    with pytest.raises(JensenError, match=r"20 variables would take some 39 minutes and .* GiB"):
        sums.paths()
    post = posterior(flat(12), "order")
    try:
        set_memory_limit(1e6)
        with pytest.raises(JensenError, match="paths among 12 variables would take"):
            post.path_matrix()
    finally:
        set_memory_limit(None)


def test_lost_digits_are_noticed(monkeypatch):
    with pytest.raises(JensenError, match=r"parents of 'x' add up to 0\.99\. This is a fault"):
        exact_posterior._check_sum(0.99, "x")
    with pytest.raises(JensenError, match="add up to nan"):
        exact_posterior._check_sum(math.nan, "x")
    both_ways = dag_sums._sum_both_ways

    def spoilt(*arguments):
        below, above, only = both_ways(*arguments)
        above.high[0] *= 1.0 + 1e-6
        return below, above, only

    monkeypatch.setattr(dag_sums, "_sum_both_ways", spoilt)
    with pytest.raises(JensenError, match="lost digits: forwards they are e"):
        posterior(flat(4))
