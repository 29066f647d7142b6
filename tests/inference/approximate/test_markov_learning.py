"""Markov networks learned with a bound or an estimate in the place of log Z."""

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import DataError, JensenError, TooLargeError
from jensen.graphs.indexed_graph import wire_families
from jensen.q_hidden.factor_lists.partition import approximate_partition
from jensen.q_hidden.trees.partition import Partition

NAMES = "abcdef"
RING = (
    "; ".join(f"{a} - {b}" for a, b in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)) + "; a - d"
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    bits = rng.random((200, 6)) < 0.5
    bits[:, 1] ^= bits[:, 0] & (rng.random(200) < 0.7)
    bits[:, 3] |= bits[:, 2] & (rng.random(200) < 0.5)
    return {name: bits[:, k].astype(int) for k, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def learned(rows):
    return {
        way: jn.MarkovNetwork(RING, inference=way, tol=1e-13).fit(rows)
        for way in ("exact", "trw", "loopy")
    }


def test_trees_bound_the_likelihood_from_below_and_never_fall(learned, rows):
    net = learned["trw"]
    assert net.converged_
    assert (np.diff(net.trace_) >= -1e-9 * abs(net.trace_[-1])).all()
    assert net.free_energy_ < net.log_likelihood(rows).sum()  # its own likelihood
    assert net.log_likelihood(rows).sum() <= learned["exact"].free_energy_ + 1e-9
    assert "lower bound of the log-likelihood" in str(net.summary())


@pytest.mark.parametrize("way", ["trw", "loopy"])
def test_at_the_end_messages_have_the_margins_of_the_rows(learned, rows, way):
    network = learned[way].network_
    solve = approximate_partition(network.wiring, way)
    _, shares = solve(np.array(network.log_potentials))
    at = network.wiring.fam_at
    for f, scope in enumerate(network.scopes):
        table = np.zeros([2] * len(scope))
        np.add.at(table, tuple(rows[NAMES[v]] for v in scope), 1.0 / 200)
        np.testing.assert_allclose(shares[at[f] : at[f + 1]], table.ravel(), atol=1e-5)


def test_the_slope_of_both_stand_ins_is_what_they_believe():
    rng = np.random.default_rng(1)
    wiring = wire_families([(0, 1), (1, 2), (0, 2), (2,)], [2, 3, 2])
    tables = rng.normal(0.0, 0.5, int(wiring.fam_at[-1]))
    exact, _ = Partition(wiring, ["a", "b", "c"])(tables)
    for way in ("trw", "loopy"):
        solve = approximate_partition(wiring, way)
        value, shares = solve(tables)
        for k in range(len(tables)):
            step = np.zeros(len(tables))
            step[k] = 1e-5
            slope = (solve(tables + step)[0] - solve(tables - step)[0]) / 2e-5
            assert slope == pytest.approx(shares[k], abs=1e-6)
        assert way == "loopy" or value > exact


def test_loopy_is_an_estimate_near_the_likelihood(learned):
    assert learned["loopy"].free_energy_ == pytest.approx(learned["exact"].free_energy_, abs=0.1)
    assert "estimate of the log-likelihood" in str(learned["loopy"].summary())


def test_on_a_tree_both_are_exact(rows):
    exact = jn.MarkovNetwork("a - b; b - c; c - d").fit(rows)
    for way in ("trw", "loopy"):
        found = jn.MarkovNetwork("a - b; b - c; c - d", inference=way, tol=1e-13).fit(rows)
        assert found.free_energy_ == pytest.approx(exact.free_energy_, abs=1e-6)


def test_the_way_is_kept_in_files(learned, tmp_path):
    learned["trw"].save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.inference == "trw"
    assert again.free_energy_ == learned["trw"].free_energy_
    assert again.equals(learned["trw"])


def test_a_grid_without_a_tree_is_learned_where_memory_is_short():
    rng = np.random.default_rng(0)
    edges = [
        (f"x{r}{c}", f"x{r + down}{c + right}")
        for r in range(8)
        for c in range(8)
        for down, right in ((0, 1), (1, 0))
        if r + down < 8 and c + right < 8
    ]
    rows = {f"x{r}{c}": rng.integers(0, 4, 60) for r in range(8) for c in range(8)}
    before = jn.get_memory_limit()
    jn.set_memory_limit(20_000_000)
    try:
        with pytest.raises(TooLargeError):
            jn.MarkovNetwork(edges, prior={"ridge": 1.0}).fit(rows)
        net = jn.MarkovNetwork(edges, inference="trw", prior={"ridge": 1.0}, tol=1e-6).fit(rows)
        found = net.query("x33", inference="loopy")
    finally:
        jn.set_memory_limit(before)
    assert net.converged_
    assert found.label.kind == "estimate"


def test_what_cannot_be_is_refused(rows):
    with pytest.raises(JensenError, match="bounds log Z from below, and so the likelihood from"):
        jn.MarkovNetwork(RING, inference="mean-field").fit(rows)
    with pytest.raises(JensenError, match="is not learned with inference='gibbs'"):
        jn.MarkovNetwork(RING, inference="gibbs").fit(rows)
    with pytest.raises(JensenError, match="would be ignored by 'pseudo'"):
        jn.MarkovNetwork(RING, inference="trw", method="pseudo").fit(rows)
    cliques = [["a", "b", "c"], ["c", "d"]]
    with pytest.raises(JensenError, match="learns pairwise interactions"):
        jn.MarkovNetwork(cliques, interactions="cliques", inference="trw").fit(rows)
    holes = {name: [None, *column[1:].tolist()] for name, column in rows.items()}
    with pytest.raises(DataError, match="needs complete rows"):
        jn.MarkovNetwork(RING, inference="loopy").fit({**rows, "a": holes["a"]})
