"""The proven optimum by integer programming: dynamic programming says the same."""

import builtins
import itertools

import numpy as np
import pytest
from naive.structures import all_networks

import jensen as jn
from jensen.q_graph import integer_program
from jensen.q_graph.cluster_cuts import cluster_cut
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.family_pruning import candidate_families
from jensen.scores.make_scorer import make_scorer


def make_table(seed, n, rows=200, states=3):
    """Every column depends on two before it."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, rows), int)
    for k in range(n):
        above = x[rng.integers(0, k, 2)].sum(0) % states if k > 1 else 0
        x[k] = np.where(rng.random(rows) < 0.5, above, rng.integers(0, states, rows))
    return jn.Table({f"x{k:02d}": column.astype(str) for k, column in enumerate(x)})


def both(table, score, **choices):
    """The optimum in both ways."""
    subsets = jn.learn_structure(table, "exact", score, **choices)
    cuts = jn.learn_structure(table, "exact", score, **choices, time_limit=60.0)
    assert cuts.info.proven
    assert cuts.info.gap == 0.0
    assert cuts.info.score == pytest.approx(subsets.info.score, rel=1e-9)
    return cuts


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
@pytest.mark.parametrize("seed", range(4))
def test_dynamic_programming_finds_the_same_score(score, seed):
    both(make_table(seed, 8 + seed), score)


@pytest.mark.parametrize("seed", range(2))
def test_a_larger_problem(seed):
    both(make_table(seed, 14, rows=500), "bdeu", max_parents=3)


def test_continuous_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 5)) @ np.triu(rng.normal(size=(5, 5)))
    table = jn.Table({f"x{k}": column for k, column in enumerate(x.T)})
    for score in ("bge", "bic"):
        both(table, score, max_parents=2)


@pytest.mark.parametrize(
    "rules",
    [
        {"max_parents": 1},
        {"required": "x05 -> x00; x04 -> x01"},
        {"forbidden": "x00 -> x01; x01 -> x00; x02 -> x03"},
        {"tiers": [["x06", "x05"], ["x00", "x01", "x02"]], "max_parents": 2},
    ],
)
def test_constraints_hold(rules):
    dag = both(make_table(1, 7), "bic", **rules)
    assert set(jn.DAG(rules.get("required", "")).edges) <= set(dag.edges)
    assert max(len(dag.parents(x)) for x in dag.nodes) <= rules.get("max_parents", 7)


def test_more_variables_than_subsets_allow():
    table = jn.examples.load("alarm").sample(300, random_state=0)
    dag = jn.learn_structure(table, "exact", "bic", max_parents=2)
    assert dag.info.proven
    assert dag.info.score >= jn.learn_structure(table, score="bic", max_parents=2).info.score - 1e-6
    assert dag.info.score == pytest.approx(jn.score(dag, table, "bic"), rel=1e-9)


def test_listed_scores(tmp_path):
    table = make_table(0, 7)
    path = tmp_path / "scores.jkl"
    jn.write_local_scores(path, table, "bic", max_parents=3)
    found = jn.learn_structure(scores=path, method="exact", time_limit=60.0)
    expected = jn.learn_structure(table, "exact", "bic", max_parents=3)
    assert found.info.score == pytest.approx(expected.info.score, rel=1e-6)  # as it was printed
    assert found.info.proven


def test_no_graph_violates_a_cluster_cut():
    """Every cluster of 4 variables, every DAG whose families are listed."""
    scorer = make_scorer(make_table(0, 4), "loglik")
    families = candidate_families(scorer, read_constraints(scorer.names))
    at = {(int(families.child[j]), families.parents(j)): j for j in range(len(families.child))}
    for size in (2, 3, 4):
        for members in itertools.combinations(range(4), size):
            cluster = np.isin(np.arange(4), members)
            cut = cluster_cut(families, families.holds, cluster)
            for parents in all_networks(4):
                chosen = [at.get((v, tuple(sorted(above)))) for v, above in enumerate(parents)]
                if None not in chosen:
                    x = np.zeros(len(families.child))
                    x[chosen] = 1.0
                    assert cut.violation(x) <= 1e-9


def test_pruned_families_are_worse_than_one_of_their_subsets():
    scorer = make_scorer(make_table(2, 6), "bdeu")
    families = candidate_families(scorer, read_constraints(scorer.names))
    for v in range(6):
        listed = {
            families.parents(j): families.score[j] for j in np.flatnonzero(families.child == v)
        }
        others = [u for u in range(6) if u != v]
        for size in range(6):
            for above in itertools.combinations(others, size):
                value = scorer.family(v, above)
                if above in listed:
                    assert listed[above] == pytest.approx(value, rel=1e-9)
                else:
                    best = max(s for parents, s in listed.items() if set(parents) <= set(above))
                    assert best >= value - 1e-7


def test_a_time_limit_returns_what_was_reached_and_its_gap():
    table = jn.examples.load("alarm").sample(2000, random_state=0)
    dag = jn.learn_structure(table, "exact", "bdeu", max_parents=2, time_limit=1e-6)
    assert not dag.info.proven
    assert dag.info.gap > 0.0
    assert dag.info.score == pytest.approx(jn.score(dag, table, "bdeu"), rel=1e-9)


@pytest.mark.parametrize("limit", [0, -1.0, "x", float("nan")])
def test_a_time_limit_is_a_number(limit):
    with pytest.raises(jn.JensenError, match="time_limit must be a number of seconds above 0"):
        jn.learn_structure(make_table(0, 3), "exact", time_limit=limit)


def test_only_the_optimum_has_a_time_limit():
    with pytest.raises(jn.JensenError, match="time_limit= has no meaning for method='hill-climb'"):
        jn.learn_structure(make_table(0, 3), time_limit=1.0)


def test_ctrl_c_returns_what_was_reached(monkeypatch):
    table = jn.examples.load("alarm").sample(1000, random_state=0)
    scorer = make_scorer(table, "bdeu")
    seen = []

    def watch(score, bound):
        seen.append((score, bound))
        return len(seen) == 2

    rules = read_constraints(scorer.names, 2)
    found = integer_program.prove_best(scorer, rules, watch=watch)
    assert found.outcome.interrupted or found.outcome.proven
    assert all(bound >= score - 1e-6 for score, bound in seen)


def test_without_the_solver_it_says_what_to_install(monkeypatch):
    load = builtins.__import__

    def without(name, *rest, **more):
        if name == "highspy":
            raise ImportError(name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(jn.JensenError, match=r"needs HiGHS: pip install 'jensen\[exact\]'"):
        jn.learn_structure(make_table(0, 4), "exact", time_limit=1.0)
