"""Graphs learned by score and prior together, against all graphs one by one."""

import math

import numpy as np
import pytest
from naive import search as naive
from naive import structures

import jensen as jn
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.optimum.families import candidate_families
from jensen.q_graph.optimum.integer_program import prove_best
from jensen.scores.graph_priors import read_prior, with_prior
from jensen.scores.make_scorer import make_scorer
from jensen.scores.parent_sets import superset_bound

FOUR = structures.all_networks(4)
NAMES = ("x0", "x1", "x2", "x3")
BOTH_WAYS = {pair: p for a, b, p in [("x0", "x1", 0.02), ("x1", "x3", 0.97)]
             for pair in ((a, b), (b, a))}  # fmt: skip
DIRECTED = {("x0", "x1"): 0.02, ("x1", "x0"): 0.4, ("x3", "x2"): 0.99, ("x2", "x0"): 0.9}
CERTAIN = {("x0", "x3"): 1, ("x1", "x2"): 0, ("x2", "x1"): 0.05}
PRIORS = {"uniform": "uniform", "fair": "fair", "both": BOTH_WAYS, "way": DIRECTED, "sure": CERTAIN}


def make_table(seed=0, n_rows=60, numbers=False):
    if numbers:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n_rows, 4)) @ np.triu(rng.normal(size=(4, 4)))
        return jn.Table(x, continuous=NAMES, names=NAMES)
    columns = naive.random_columns(seed, n_rows, (2, 3, 2, 2))
    return jn.Table(columns, states={f"x{k}": range(c) for k, c in enumerate((2, 3, 2, 2))})


def log_prior(graph, prior):
    """By the definition: of the number of parents, or of every edge."""
    if prior == "uniform":
        return 0.0
    if prior == "fair":
        return -sum(math.log(math.comb(3, len(parents))) for parents in graph)
    total = 0.0
    for (a, b), p in prior.items():
        is_there = NAMES.index(a) in graph[NAMES.index(b)]
        if p in (0, 1):
            total += 0.0 if is_there == bool(p) else -math.inf
        elif is_there:
            total += math.log(p / (1 - p))
    return total


def scored(table, score, prior):
    """Every graph with its score and log prior."""
    scorer = make_scorer(table, score)
    data = structures.scored(FOUR, scorer.family)
    return {graph: value + log_prior(graph, prior) for graph, value in data.items()}


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "bge"])
def test_the_best_of_all_graphs(score, prior):
    for seed in range(3):
        table = make_table(seed, numbers=score == "bge")
        best = max(scored(table, score, prior).values())
        dag = jn.learn_structure(table, "exact", score, prior=prior)
        assert dag.info.proven
        assert dag.info.score == pytest.approx(best, rel=1e-11)
        assert jn.score(dag, table, score, prior=prior) == pytest.approx(best, rel=1e-11)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "mmhc"])
def test_searches_maximise_the_sum(method, prior):
    """In 5 tables of 6 at least they find the best of all that the tests of "mmhc" leave."""
    if method == "ges" and prior in (DIRECTED, CERTAIN):
        prior = BOTH_WAYS | {("x0", "x3"): 1, ("x1", "x2"): 0}
    n_best = 0
    for seed in range(6):
        table = make_table(seed, 100)
        expected = scored(table, "bdeu", prior)
        found = jn.learn_structure(table, method, prior=prior)
        dag = found.extension() if method == "ges" else found
        assert found.info.score == pytest.approx(expected[tuple(dag.parent_indices)], rel=1e-11)
        if method == "mmhc":
            pairs = {frozenset(map(NAMES.index, pair)) for pair in found.info.candidates}
            expected = {
                graph: value for graph, value in expected.items()
                if all(frozenset(edge) in pairs for edge in naive.edges_of(graph))
            }  # fmt: skip
        n_best += found.info.score > max(expected.values()) - 1e-7
    assert n_best >= 5


def test_a_prior_that_tells_directions_has_no_classes():
    text = "prior= has other odds for x0 -> x1 than for x1 -> x0: give both the same probability"
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure(make_table(), "ges", prior=DIRECTED)
    with pytest.raises(jn.JensenError, match="method='ges' needs a score that is the same"):
        jn.learn_structure(make_table(), "ges", "k2", prior=DIRECTED)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_integer_programming_and_its_bounds(score, prior):
    for seed in range(3):
        table = make_table(seed)
        best = max(scored(table, score, prior).values())
        read = read_prior(prior, NAMES)
        scorer = with_prior(make_scorer(table, score), read.prior)
        pairs = [(NAMES[u], NAMES[v]) for u, v in np.argwhere(read.required)]
        never = [(NAMES[u], NAMES[v]) for u, v in np.argwhere(read.forbidden)]
        rules = read_constraints(NAMES, None, pairs, never)
        found = prove_best(scorer, rules)
        assert found.proven
        assert found.score == pytest.approx(best, rel=1e-11)
        assert candidate_families(scorer, rules).n_scored <= 32


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_no_superset_scores_more_than_its_bound(score, prior):
    scorer = with_prior(make_scorer(make_table(1), score), read_prior(prior, NAMES).prior)
    for child in range(4):
        bound = superset_bound(scorer, child)
        others = [v for v in range(4) if v != child]
        sets = [[v for k, v in enumerate(others) if number >> k & 1] for number in range(8)]
        for small in sets[:-1]:
            above = [s for s in sets if set(small) < set(s)]
            best = max(scorer.family(child, parents) for parents in above)
            # what is reached is above the bound, or the bound is above all supersets
            reached = np.array([best - 1e-9])
            assert bound(np.array([small], np.int64), reached)[0] >= best - 1e-9


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("score", ["bdeu", "bge"])
def test_the_list_of_the_best(score, prior):
    table = make_table(2, numbers=score == "bge")
    expected = sorted(scored(table, score, prior).values(), reverse=True)
    possible = [value for value in expected if value > -math.inf]
    for k in (1, 2, 7, 100, 543, 1000):
        found = jn.k_best(table, score=score, prior=prior, k=k)
        assert len(found) == min(k, len(possible))
        np.testing.assert_allclose(found.scores, possible[:k], rtol=1e-11)
    within = jn.k_best(table, 50.0, score, prior=prior)
    assert len(within) == sum(value > expected[0] - math.log(50.0) - 1e-8 for value in expected)
    assert len(jn.k_best(table, 50.0, score, prior=prior, k=3)) == min(3, len(within))
    graph, value, _ = within[0]
    assert value == pytest.approx(jn.score(graph, table, score, prior=prior), rel=1e-11)


def test_so_many_of_the_best_where_too_many_are_near():
    """Of three coins 6 of the 25 graphs may be listed: the factor is lowered, ties are not cut."""
    rng = np.random.default_rng(0)
    table = jn.Table({name: rng.integers(0, 2, 30) for name in "abc"})
    every = jn.k_best(table, 1e9, "bic")
    found = jn.k_best(table, score="bic", k=2, limit=6)
    np.testing.assert_allclose(found.scores, every.scores[:2], rtol=1e-12)
    with pytest.raises(jn.JensenError, match="k=9 is more than limit=6: raise limit, or lower k"):
        jn.k_best(table, score="bic", k=9, limit=6)
    with pytest.raises(jn.JensenError, match=r"^k must be a whole number, 1 or more, not 0$"):
        jn.k_best(table, k=0)
    with pytest.raises(jn.JensenError, match="more than limit=1:"):
        jn.k_best(jn.Table({"a": ["u"] * 4 + ["v"], "b": ["u"] * 4 + ["v"]}), k=1, limit=1)


@pytest.mark.parametrize("prior", [DIRECTED, CERTAIN, "fair"])
def test_local_scores_from_a_file_take_a_prior(prior, tmp_path):
    table, file = make_table(3), tmp_path / "x.jkl"
    jn.write_local_scores(file, table, "bdeu")
    best = max(scored(table, "bdeu", prior).values())
    for method in ("exact", "hill-climb"):
        dag = jn.learn_structure(method=method, scores=file, prior=prior)
        assert dag.info.score == pytest.approx(best, abs=1e-4)


def test_interventions_take_a_prior():
    table, was_set = make_table(4, 80), ["x1"] * 20 + [None] * 60
    for prior in PRIORS.values():
        found = jn.learn_structure(table, "exact", prior=prior, interventions=was_set)
        value = jn.score(found, table, prior=prior, interventions=was_set)
        assert found.info.score == pytest.approx(value, rel=1e-11)
        of_data = jn.score(found, table, interventions=was_set)
        assert value == pytest.approx(of_data + log_prior(found.parent_indices, prior), rel=1e-11)


def test_what_a_prior_rules_out_has_no_chance():
    table = make_table(0)
    assert jn.score("x0; x1; x2; x3", table, prior=CERTAIN) == -math.inf
    assert jn.score("x0 -> x3; x1 -> x2", table, prior=CERTAIN) == -math.inf
    found = jn.learn_structure(table, prior=CERTAIN)
    assert ("x0", "x3") in found.edges
    assert ("x1", "x2") not in found.edges


def test_a_bootstrap_by_score_and_prior():
    """What is sure is in every graph; directions count as learned where the prior tells them."""
    table = make_table(5, 100)
    found = jn.bootstrap_edges(table, 10, prior=CERTAIN, random_state=0)
    assert found.strength("x0", "x3") == found.direction("x0", "x3") == 1.0
    assert ("x0", "x3") in found.averaged(0.99).edges
    plain = jn.bootstrap_edges(table, 10, random_state=0)
    a, b = max(((a, b) for a in NAMES for b in NAMES if a < b), key=lambda x: plain.strength(*x))
    assert plain.strength(a, b) > 0.5
    unlikely = {(a, b): 1e-9, (b, a): 1e-9}
    assert jn.bootstrap_edges(table, 10, prior=unlikely, random_state=0).strength(a, b) < 0.5
    np.testing.assert_array_equal(
        jn.bootstrap_edges(table, 10, prior="uniform", random_state=0).shares, plain.shares
    )


def test_cross_validation_names_it_otherwise():
    table = make_table(6, 120)
    found = jn.cross_validate(table, graph_prior=CERTAIN, folds=3, random_state=0)
    assert all(("x0", "x3") in graph.edges for graph in found.graphs)
    with pytest.raises(jn.JensenError, match="with a graph= there is none to learn"):
        jn.cross_validate(table, "x0 -> x1; x2; x3", graph_prior="fair", folds=3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: jn.learn_structure(t, prior="order"), "prior='order' counts a graph once for"),
        (lambda t: jn.k_best(t, prior=("order", "fair")), "which is no sum over families"),
        (lambda t: jn.score("x0 -> x1", t, prior="order"), "'order' is for jn.structure_posterior"),
        (lambda t: jn.bootstrap_edges(t, 2, prior="order"), "prior='order' counts a graph once"),
        (lambda t: jn.learn_structure(t, "pc", prior="fair"), "prior= has no meaning for method="),
        (lambda t: jn.learn_structure(t, prior="flat"), "prior= is 'uniform', 'fair', a dictionar"),
        (
            lambda t: jn.learn_structure(t, prior={("x0", "x1"): 1}, forbidden="x0 -> x1"),
            "the edge x0 -> x1 is required and forbidden at once",
        ),
        (lambda t: jn.k_best(t, kk=2), "^there is no choice 'kk' here: scores have prior, equiv"),
        (lambda t: jn.learn_structure(t, priors=2), "no choice 'priors': did you mean 'prior'"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(jn.JensenError, match=text):
        call(make_table(0))
