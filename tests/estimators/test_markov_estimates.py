"""Markov networks without Z: pseudo-likelihood and chains, labelled as what they are."""

from itertools import product

import numpy as np
import pytest
from naive import markov

import jensen as jn
from jensen.families.effects import effects_of
from jensen.models.pseudo_sums import PseudoSums

STATES = {"a": ["n", "y"], "b": ["0", "1", "2"], "c": ["n", "y"]}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    cells = list(product(*STATES.values()))
    columns = {x: [cell[k] for cell in cells] for k, x in enumerate(STATES)}
    return jn.Table(columns, weights=rng.integers(20, 200, len(cells)), states=STATES)


def pseudo_log_likelihood(net, table):
    """Σ rows Σ v log p(x_v | the rest), from the joint."""
    joint, total = markov.log_joint(net.network_), 0.0
    codes = np.stack([table.column(x).data for x in STATES], 1).astype(int)
    for cell, weight in zip(codes, table.weights, strict=True):
        for v in range(len(cell)):
            rest = [*cell]
            rest[v] = slice(None)
            total += weight * (joint[tuple(cell)] - np.logaddexp.reduce(joint[tuple(rest)]))
    return total


@pytest.mark.parametrize("interactions", ["pairwise", "cliques"])
def test_pseudo_likelihood_by_its_definition(rows, interactions):
    net = jn.MarkovNetwork("a - b - c - a", interactions=interactions, method="pseudo").fit(rows)
    wanted = pseudo_log_likelihood(net, rows)
    assert net.pseudo_log_likelihood_ == pytest.approx(wanted, rel=1e-11)
    assert np.isnan(net.free_energy_)
    assert net.converged_
    assert "no bound" in net.summary().text
    if interactions == "cliques":  # a saturated model fits every conditional
        exact = jn.MarkovNetwork("a - b - c - a", interactions="cliques").fit(rows)
        assert net.score(rows) == pytest.approx(exact.score(rows), abs=1e-7)


def test_the_slope_of_its_normaliser(rows):
    effects = effects_of(((0,), (1,), (2,), (0, 1), (1, 2)), (2, 3, 2))
    codes = np.stack([rows.column(x).data for x in STATES], 1).astype(np.int64)
    shares = [np.full(k, 1 / k) for k in (2, 3, 2)]
    sums = PseudoSums(effects, codes, rows.weights, None, shares)
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(effects.n_coefficients)
    _, slope = sums(theta)
    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = 1e-5
        wanted = (sums(theta + step)[0] - sums(theta - step)[0]) / 2e-5
        assert slope[k] == pytest.approx(wanted, abs=1e-8)


def test_penalties_and_zeros_of_pseudo_likelihood(rows):
    weak = jn.MarkovNetwork(method="pseudo", prior={"l1": 1.0}).fit(rows)
    strong = jn.MarkovNetwork(method="pseudo", prior={"l1": 1e5}).fit(rows)
    assert all(e.strength == 0.0 for e in strong.effects().interactions.values())
    assert any(e.strength > 0.0 for e in weak.effects().interactions.values())
    table = jn.Table({"x": list("nnyyn"), "y": list("nynnn")})
    with pytest.warns(jn.DataWarning, match="no row has x=y and y=y"):
        net = jn.MarkovNetwork(method="pseudo").fit(table)
    assert net.log_likelihood({"x": ["y"], "y": ["y"]})[0] == -np.inf


@pytest.mark.parametrize("method", ["cd", "pcd"])
def test_chains_come_near_maximum_likelihood(rows, method):
    exact = jn.MarkovNetwork().fit(rows)
    net = jn.MarkovNetwork(
        method=method, n_chains=400, n_steps=2, max_iter=150, random_state=0
    ).fit(rows)
    assert exact.score(rows) - 0.002 < net.score(rows) <= exact.score(rows) + 1e-12
    assert np.isnan(net.free_energy_)
    assert net.converged_ is False
    assert len(net.trace_) == 0
    again = jn.MarkovNetwork.from_dict(net.to_dict())
    assert again.equals(net)
    assert again.method == method
    assert "no F" in again.summary().text


def test_persistent_chains_know_gaps_and_penalties(rows):
    rng = np.random.default_rng(1)
    full = jn.MarkovNetwork().fit(rows).sample(2000, random_state=0)
    columns = {
        x: [None if rng.random() < 0.2 else STATES[x][int(k)] for k in full.column(x).data]
        for x in STATES
    }
    holes = jn.Table(columns, states=STATES)
    choices = {"method": "pcd", "n_chains": 300, "max_iter": 120, "random_state": 0}
    exact = jn.MarkovNetwork().fit(holes)
    net = jn.MarkovNetwork(**choices).fit(holes)
    assert exact.score(holes) - 0.003 < net.score(holes) <= exact.score(holes) + 1e-12
    heavy = jn.MarkovNetwork(prior={"ridge": 1e6}, **choices).fit(holes)
    assert all(e.strength < 0.01 for e in heavy.effects().interactions.values())


def test_a_network_whose_tree_is_too_large_answers_what_it_can():
    """A grid of all pairs of 40 bits: Z is out of reach, one bit given the others is not."""
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (300, 40))
    bits[:, 1:] ^= (rng.random((300, 39)) < 0.7) & (bits[:, :-1] == 1)
    table = jn.Table({f"x{k:02}": bits[:, k].tolist() for k in range(40)})
    net = jn.MarkovNetwork(method="pseudo", prior={"ridge": 5.0}, tol=1e-6).fit(table)
    found = net.predict_proba(table, "x05")
    logits = net.network_.conditional
    assert found.shape == (300, 2)
    assert ((found.argmax(1) == bits[:, 5]).mean()) > 0.6
    assert logits is not None
    with pytest.raises(jn.JensenError, match="junction tree"):
        net.log_z()
    with pytest.raises(jn.JensenError, match="junction tree"):
        net.score(table)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"method": "pseudo", "n_steps": 2}, "n_steps belongs to methods such as 'pcd'"),
        ({"n_chains": 3}, "n_chains belongs to methods"),
        ({"method": "pcd", "tol": 1e-3}, "tol belongs to methods such as 'ml'"),
        ({"method": "pcd", "n_init": 2}, "n_init belongs to methods such as 'ml'"),
        ({"method": "pcd", "prior": {"l1": 1.0}}, "never exactly 0"),
        ({"method": "pcd", "n_chains": 0}, "n_chains"),
        ({"method": "pcd", "n_chains": 10**12}, "chains"),
    ],
)
def test_choices_that_would_be_ignored_are_refused(rows, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.MarkovNetwork(**choices).fit(rows)


def test_refusals(rows, tmp_path):
    holes = jn.Table({"a": ["n", None, "y"], "b": ["0", "1", "1"]})
    for method in ("pseudo", "cd"):
        with pytest.raises(jn.DataError, match="needs complete rows"):
            jn.MarkovNetwork(method=method).fit(holes)
    with pytest.raises(jn.JensenError, match="are not kept"):
        jn.MarkovNetwork(method="pcd").fit(rows, checkpoint=tmp_path / "x")
    net = jn.MarkovNetwork(method="pseudo").fit(rows)
    with pytest.raises(jn.JensenError, match="those of maximum likelihood"):
        net.standard_errors()
