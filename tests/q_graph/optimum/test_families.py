"""Families that are left out cannot stand in a best network: by looking at all of them."""

from itertools import combinations

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import JensenError
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.optimum import families
from jensen.q_graph.optimum.families import candidate_families, prune_listed
from jensen.scores import SCORES
from jensen.scores.make_scorer import make_scorer
from jensen.scores.parent_sets import superset_bound

N = 6


def make_table(seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, [2, 3, 2, 2, 4, 2], (n_rows, N))
    x[:, 3] = np.where(rng.random(n_rows) < 0.8, x[:, 0] ^ (x[:, 2] > 0), x[:, 3])
    return jn.Table({f"x{k}": column.astype(str) for k, column in enumerate(x.T)})


def sets_of(others):
    return [above for k in range(len(others) + 1) for above in combinations(others, k)]


def listed(families, v):
    return {families.parents(j): families.score[j] for j in range(*families.first[v : v + 2])}


@pytest.mark.parametrize("score", [name for name in SCORES if name != "loglik"])
@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"max_parents": 2},
        {"required": "x0 -> x3; x1 -> x3", "forbidden": "x4 -> x3; x5 -> x0", "max_parents": 4},
    ],
)
def test_what_is_kept_is_better_than_all_its_subsets(score, rules):
    scorer = make_scorer(make_table(), score)
    constraints = read_constraints(scorer.names, **rules)
    families = candidate_families(scorer, constraints)
    for v in range(N):
        required = set(np.flatnonzero(constraints.required[:, v]))
        free = [u for u in range(N) if u != v and not constraints.forbidden[u, v]]
        allowed = [
            above
            for above in sets_of(free)
            if required <= set(above) and len(above) <= constraints.most_parents
        ]
        values = {above: scorer.family(v, above) for above in allowed}
        expected = {
            above: value
            for above, value in values.items()
            if all(value > values[less] + 1e-8 for less in allowed if set(less) < set(above))
        }
        assert listed(families, v) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("score", ["bdeu", "bds", "k2", "bic", "aic", "loglik"])
def test_no_larger_set_scores_above_its_bound(score):
    scorer = make_scorer(
        make_table(1), score, **({} if score != "bdeu" else {"equivalent_sample_size": 5.0})
    )
    for v in range(N):
        bound = superset_bound(scorer, v)
        others = [u for u in range(N) if u != v]
        for above in sets_of(others):
            sets = np.array([above], np.int64).reshape(1, -1)
            sharp = bound(sets, np.array([np.inf]))[0]
            loose = bound(sets, np.array([-np.inf]))[0]
            assert loose <= sharp or score in ("bic", "aic", "loglik")
            larger = [scorer.family(v, more) for more in sets_of(others) if set(above) < set(more)]
            assert max(larger, default=-np.inf) <= sharp + 1e-9


def test_bounds_save_work():
    scorer = make_scorer(make_table(n_rows=30), "bic")
    families = candidate_families(scorer, read_constraints(scorer.names))
    assert families.n_scored < N * 2 ** (N - 1)


def test_rows_that_were_set_are_left_out():
    table = make_table()
    was_set = ["x3" if k % 2 else None for k in range(table.n_rows)]
    scorer = make_scorer(table, "bdeu", interventions=was_set)
    families = candidate_families(scorer, read_constraints(scorer.names, 3))
    for above, score in listed(families, 3).items():
        assert score == pytest.approx(scorer.family(3, above), rel=1e-9)


def test_listed_families_are_pruned_by_subsets_that_are_listed():
    families = [(-3.0, ()), (-1.0, (1,)), (-1.0, (1, 2)), (-2.0, (2, 3)), (-5.0, (3,))]
    assert prune_listed(families) == [(-3.0, ()), (-1.0, (1,)), (-2.0, (2, 3))]


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr(families, "MOST_SETS", 9)
    scorer = make_scorer(make_table(), "loglik")
    with pytest.raises(JensenError, match=r"'x0' has 10 possible sets of 2 parents, more than 9"):
        candidate_families(scorer, read_constraints(scorer.names))


def test_progress_is_told():
    shares = []
    scorer = make_scorer(make_table(), "bic")
    candidate_families(scorer, read_constraints(scorer.names, 2), shares.append)
    assert shares == sorted(shares)
    assert {(k + 1) / N for k in range(N)} <= set(shares)
    assert len(shares) > 2 * N  # also while one variable takes long


def test_sets_of_many_parents_are_numbered():
    """With 17 others, 15 parents are more than digits of base 17 in a number would hold."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (18, 200))
    x[0] = x[1:].sum(0) % 2
    table = jn.Table({f"x{k:02d}": column.astype(str) for k, column in enumerate(x)})
    scorer = make_scorer(table, "loglik")
    rules = {"required": [(f"x{k:02d}", "x00") for k in range(1, 13)]}
    families = candidate_families(scorer, read_constraints(scorer.names, 17, **rules, tiers=[
        [f"x{k:02d}" for k in range(1, 18)], ["x00"]], forbidden=[
        (f"x{a:02d}", f"x{b:02d}") for a in range(1, 18) for b in range(1, 18) if a != b
    ]))  # fmt: skip
    assert max(len(above) for above in listed(families, 0)) >= 12


@pytest.mark.parametrize("bits", [3, 63])
def test_many_variables_are_numbered_another_way(monkeypatch, bits):
    scorer = make_scorer(make_table(), "bic")
    rules = read_constraints(scorer.names, 1)
    expected = candidate_families(scorer, rules)
    monkeypatch.setattr(families, "BITS", bits)
    found = candidate_families(scorer, rules)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_sets_that_cannot_be_numbered_are_refused(monkeypatch):
    monkeypatch.setattr(families, "BITS", 4)
    scorer = make_scorer(make_table(), "loglik")
    message = "'x0' may have 2 parents of 5, more than can be numbered: choose max_parents=1 at"
    with pytest.raises(JensenError, match=message):
        candidate_families(scorer, read_constraints(scorer.names))
