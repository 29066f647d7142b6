"""MMPC with an oracle, and climbing among what it leaves."""

import numpy as np
import pytest
from naive import independence as naive

import jensen as jn
from jensen.independence.mmhc import MMHCInfo, find_neighbours, mmhc
from jensen.independence.testing import Oracle
from jensen.q_graph.info import StructuralInfo


def never(size, done, total):
    return False


def neighbours(parents, max_given=99, watch=never):
    n = len(parents)

    def p_value(a, b, given):
        return float(naive.separated(parents, a, b, given))

    possible = ~np.eye(n, dtype=bool)
    oracle = Oracle([f"x{k:02}" for k in range(n)], p_value)
    return find_neighbours(oracle, possible, np.log(0.05), max_given, watch)


def test_an_oracle_leads_to_the_neighbours_of_its_graph():
    """That is what MMPC promises where tests never err."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 9))
        parents = naive.random_dag(rng, n, int(rng.integers(0, 1.5 * n)))
        joined = np.zeros((n, n), bool)
        for v, some in enumerate(parents):
            joined[some, v] = joined[v, some] = True
        found = neighbours(parents)
        np.testing.assert_array_equal(found.joined, joined)
        assert not found.interrupted


def test_without_anything_given_all_dependent_ones_are_neighbours():
    chain = [[], [0], [1]]
    assert neighbours(chain, max_given=0).joined.sum() == 6
    assert neighbours(chain).joined.sum() == 4


def test_stopped_early_it_rules_out_nothing_unseen():
    found = neighbours([[], [0], [1]], watch=lambda size, done, total: done == 1)
    assert found.interrupted
    assert found.joined.tolist() == [
        [False, True, False],
        [True, False, True],
        [False, True, False],
    ]


def test_it_is_stopped_in_the_midst_of_a_variable():
    """One variable may have more sets to be given than anybody waits for."""
    asked = []

    def watch(size, done, total):
        asked.append(done)
        return len(asked) == 3

    found = neighbours([[], [0], [0], [0], [0]], watch=watch)
    assert found.interrupted
    assert asked == [0, 0, 0]
    assert found.joined.sum() == 20  # nothing is ruled out


def table():
    return jn.examples.load("asia").sample(3000, random_state=0)


def test_the_graph_climbs_among_candidates_only():
    rows = table()
    dag = mmhc(rows, score="bic", alpha=0.01)
    info = dag.info
    assert set(dag.skeleton().edges) <= set(info.candidates)
    assert (info.method, info.score_name, info.test, info.proven) == ("mmhc", "bic", "g2", False)
    np.testing.assert_allclose(info.score, jn.score(dag, rows, "bic"), rtol=1e-9)
    assert info.n_tests > 28
    assert info.n_moves >= len(dag.edges)
    everything = jn.learn_structure(
        rows, score="bic", forbidden=[
            pair
            for a in rows.names
            for b in rows.names
            if a < b and (a, b) not in info.candidates
            for pair in ((a, b), (b, a))
        ],
    )  # fmt: skip
    np.testing.assert_allclose(info.score, everything.info.score, rtol=1e-9)


def test_column_order_changes_nothing():
    rows = table()
    assert mmhc(rows) == mmhc(rows.select(sorted(rows.names, reverse=True)))


def test_constraints_hold_and_required_edges_need_no_test():
    rows = table()
    dag = mmhc(rows, required="asia -> bronc", forbidden="smoke -> lung; lung -> smoke")
    assert ("asia", "bronc") in dag.edges
    assert ("lung", "smoke") not in dag.skeleton().edges
    assert ("lung", "smoke") not in dag.info.candidates
    few = mmhc(rows, max_parents=1, tiers=[["asia"], ["smoke"]])
    assert max(len(few.parents(name)) for name in few.nodes) == 1
    assert not few.parents("asia")


@pytest.mark.compiled
def test_tests_read_the_rows_known_and_structural_em_climbs():
    frame = table().to_pandas().astype(object)
    holes = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    dag = jn.learn_structure(
        holes, "mmhc", "bic", alpha=0.01, required="asia -> bronc", forbidden="smoke -> lung",
        random_state=0,
    )  # fmt: skip
    info = dag.info
    assert isinstance(info, MMHCInfo)
    assert isinstance(info, StructuralInfo)
    assert (info.method, info.score_name, info.test, info.ascends) == ("mmhc", "bic", "g2", True)
    assert set(dag.skeleton().edges) <= set(info.candidates)
    assert ("asia", "bronc") in dag.edges
    assert ("smoke", "lung") not in dag.edges
    free = jn.learn_structure(holes, score="bic", required="asia -> bronc", random_state=0)
    assert info.score <= free.info.score + 1e-6
    assert dag.shd(free) <= 4
    sure = mmhc(holes, prior={("asia", "dysp"): 1.0}, score="bic", random_state=0)
    assert ("asia", "dysp") in sure.edges


def test_numbers_with_holes():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 3))
    x[:, 1] += x[:, 0]
    x[rng.random(x.shape) < 0.1] = np.nan
    dag = mmhc({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}, random_state=0)
    assert dag.skeleton().edges == (("a", "b"),)
    assert dag.info.score_name == "bge"


def test_numbers():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2000))
    c = a + b + rng.normal(size=2000)
    dag = mmhc({"a": a, "b": b, "c": c, "d": c + rng.normal(size=2000)}, alpha=0.001)
    assert dag.cpdag() == jn.CPDAG("a -> c <- b; c -> d")
    assert (dag.info.score_name, dag.info.test) == ("bge", "fisher-z")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"alpha": -1}, "a number between 0 and 1, not -1"),
        ({"max_given": 1.5}, "max_given must be a whole number, 0 or more"),
        ({"test": "fisher-z"}, "'fisher-z' is for continuous columns"),
        ({"score": "none"}, "score"),
    ],
)
def test_refusals(choices, message):
    with pytest.raises(jn.JensenError, match=message):
        mmhc(table(), **choices)
