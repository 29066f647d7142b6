"""Completions of incomplete rows, and any family counted in them, against all completions."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from inference import cases
from naive import expected as naive
from naive import joint

import jensen as jn
from jensen.inference import completions as module
from jensen.inference.completions import code_table, complete_rows, known_cells
from jensen.models.discrete_network import encode

TOL = {"rtol": 1e-10, "atol": 1e-12}


def completed(net, columns, weights=None, targets=None, completion="exact", rng=None):
    """The completions of some rows at the tables of a network."""
    network = net.network_
    states = {x: net.states[x] for x in columns}
    table = jn.Table(columns, states=states, weights=weights)
    names = network.graph.nodes
    hidden = encode(table, names, network.wiring, targets, all_cells=True).hidden
    coded = code_table(table, names, targets)
    log_tables = []
    for group in coded:
        tables = network.kernel_tables[1].copy()
        if group.target >= 0:
            at = network.wiring.fam_at
            tables[at[group.target] : at[group.target + 1]] = 0.0
        log_tables.append(tables)
    return complete_rows(network.variables, coded, hidden, log_tables, completion, rng)


def every_pattern(net, hidden=()):
    shown = [x for x in net.states if x not in hidden]
    rows = list(product(*([None, *net.states[x]] for x in shown)))
    return {x: [row[k] for row in rows] for k, x in enumerate(shown)}


def rows_of(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def check(found, net, columns, weights=None):
    """Every family of up to three variables, alone and as one of the tables with each other."""
    twin, names, rows = joint.of(net), net.network_.graph.nodes, rows_of(columns)
    weights = [1.0] * len(rows) if weights is None else weights

    def expected(scope):
        *parents, x = (names[v] for v in scope)
        return naive.counts(twin, rows, weights, x, parents)

    n = len(names)
    scopes = chain.from_iterable(combinations(range(n), k) for k in (1, 2))
    for scope in scopes:
        own, tables = found.count_with_each(scope)
        np.testing.assert_allclose(own.ravel(), expected(scope).ravel(), **TOL)
        np.testing.assert_allclose(found.count(scope), own, **TOL)
        for v in set(range(n)) - set(scope):
            part = tables[:, found.slots[v] : found.slots[v + 1]]
            np.testing.assert_allclose(part.ravel(), expected((*scope, v)).ravel(), **TOL)


@pytest.fixture(autouse=True)
def _list_all(monkeypatch):
    """Nothing is left out, however improbable."""
    monkeypatch.setattr(module, "LEAST", 0.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["positive", "extreme"])
def test_all_patterns(seed, kind):
    net = cases.random_net(seed, kind, n=4, density=0.7, configurations=60)
    columns = every_pattern(net)
    if kind == "extreme":
        twin = joint.of(net)
        rows = [row for row in rows_of(columns) if joint.evidence(twin, joint.known(twin, row)) > 0]
        columns = {x: [row[x] for row in rows] for x in columns}
    check(completed(net, columns), net, columns)


@pytest.mark.parametrize("n_hidden", [1, 2])
def test_hidden_variables_and_weights(n_hidden):
    net = cases.random_net(7, "positive", n=4, density=0.8, configurations=90)
    columns = every_pattern(net, hidden=list(net.states)[:n_hidden])
    weights = np.random.default_rng(0).random(len(rows_of(columns))) * 3.0
    check(completed(net, columns, weights), net, columns, weights)


def test_rows_in_which_the_child_was_set_are_left_out():
    """And the table of what was set has no say in how its row is completed."""
    net = jn.BayesianNetwork.from_tables(
        "a -> b", {"a": [0.9, 0.1], "b": [[0.8, 0.2], [0.3, 0.7]]},
        {"a": ["0", "1"], "b": ["0", "1"]}, parents={"a": [], "b": ["a"]},
    )  # fmt: skip
    columns = {"a": [None, None, "1"], "b": ["1", "1", "1"]}
    found = completed(net, columns, targets=np.array([-1, 1, 0]))
    p = 0.9 * 0.2 / (0.9 * 0.2 + 0.1 * 0.7)
    np.testing.assert_allclose(found.count((0, 1), child=1), [[0, p], [0, 1 - p + 1]], **TOL)
    np.testing.assert_allclose(found.count((0,), child=0), [p + 0.9, 1 - p + 0.1], **TOL)
    assert found.total_weight == 3.0


def test_rows_that_miss_nothing():
    net = cases.random_net(1, "positive", n=4, configurations=90)
    columns = {x: [states[0], states[-1]] for x, states in net.states.items()}
    check(completed(net, columns), net, columns)


def test_blocks_of_rows_change_nothing(monkeypatch):
    net = cases.random_net(3, "positive", n=5, configurations=400)
    columns = cases.holes(net, 50, 0)
    whole = completed(net, columns)
    expected = whole.count_with_each((0, 2))
    monkeypatch.setattr(module, "ROWS", 7)
    for one, other in zip(whole.count_with_each((0, 2)), expected, strict=True):
        np.testing.assert_allclose(one, other, **TOL)


def test_known_cells_count_the_rows_that_show_all():
    net = cases.random_net(3, "positive", n=4, configurations=200)
    columns = cases.holes(net, 60, 1)
    table = jn.Table(columns, states=net.states)
    names, variables = net.network_.graph.nodes, net.network_.variables
    found = known_cells(variables, code_table(table, names))
    own, tables = found.count_with_each((1, 2))
    codes = code_table(table, names)[0].codes
    for v in (0, 3):
        expected = np.zeros((*own.shape, variables[v].n_states))
        for row in codes:
            if min(row[1], row[2], row[v]) >= 0:
                expected[row[1], row[2], row[v]] += 1.0
        part = tables[:, found.slots[v] : found.slots[v + 1]]
        np.testing.assert_array_equal(part.reshape(expected.shape), expected)


def test_improbable_completions_share_their_mass(monkeypatch):
    net = cases.random_net(2, "positive", n=4, density=0.8, configurations=200)
    columns = {x: [None] for x in net.states}
    everything = completed(net, columns)
    monkeypatch.setattr(module, "LEAST", 0.05)
    some = completed(net, columns)
    assert everything.lost < 1e-12 < some.lost < 1.0
    ours, all_ = some.groups[0].lists, everything.groups[0].lists
    assert len(ours.mass) < len(all_.mass)
    kept = np.sort(all_.mass[all_.mass > 0.05])
    np.testing.assert_allclose(np.sort(ours.mass), kept / kept.sum(), rtol=1e-12)
    np.testing.assert_allclose(some.lost, 1.0 - kept.sum(), rtol=1e-9)


def test_where_completions_are_too_many_they_are_drawn(monkeypatch):
    net = cases.random_net(2, "positive", n=4, density=0.8, configurations=200)
    columns = {x: [None, states[0]] for x, states in net.states.items()}
    columns[next(iter(columns))][1] = None
    exact = completed(net, columns)
    monkeypatch.setattr(module, "MOST", 8)
    monkeypatch.setattr(module, "MOST_DRAWS", 40_000)
    monkeypatch.setattr(module, "N_DRAWS", 40_000)
    drawn = completed(net, columns, rng=np.random.default_rng(0))
    assert exact.is_exact
    assert not drawn.is_exact
    for scope in ((0,), (1, 2), (0, 3)):
        np.testing.assert_allclose(drawn.count(scope), exact.count(scope), atol=0.015)


def test_draws_and_modes():
    net = cases.random_net(5, "positive", n=4, density=0.8, configurations=200)
    columns = cases.holes(net, 40, 2)
    rng = np.random.default_rng(0)
    drawn = np.mean(
        [completed(net, columns, completion="draw", rng=rng).count((0, 1)) for _ in range(60)], 0
    )
    np.testing.assert_allclose(drawn, completed(net, columns).count((0, 1)), atol=0.5)
    best = completed(net, columns, completion="mode")
    full = net.impute(jn.Table(columns, states=net.states)).to_pandas()
    names = net.network_.graph.nodes
    for a, b in combinations(range(4), 2):
        found = best.count((a, b))
        for i, j in product(*(range(size) for size in found.shape)):
            x, y = names[a], names[b]
            n = ((full[x] == net.states[x][i]) & (full[y] == net.states[y][j])).sum()
            assert found[i, j] == pytest.approx(n)
