"""Missing cells below which nothing was seen are left out of h while the graph is fixed."""

import numpy as np
import pytest
from models import cases
from naive import hidden as naive_hidden
from naive import learning as naive

import jensen as jn
from jensen import q_hidden
from jensen.free_energy import EM, VBEM, expect, fit
from jensen.models.discrete_network import Tables, encode
from jensen.q_hidden.trees.problems import LEFT_OUT, without_barren


@pytest.mark.parametrize("weights", [None, "parts"])
@pytest.mark.parametrize("name", ["exact", "mode"])
def test_values_and_counts_by_definition(name, weights):
    """Also of tables that do not sum to one, as those of VB."""
    n_left_out = 0
    for seed in range(40):
        case = cases.random_case(seed, weights=weights)
        rng = np.random.default_rng(seed)
        log_tables = rng.normal(size=int(case.wiring.fam_at[-1]))
        data = case.encoded(all_cells=False)
        rule = getattr(q_hidden, name)
        sums, _ = expect(case.model(1.0), data.units, rule, Tables(log_tables))
        value, counts = naive.kept(
            getattr(naive, name), *case.facts, case.split(log_tables), case.rows, case.row_weights
        )
        np.testing.assert_allclose(sums.value, value, rtol=1e-11, atol=1e-11)
        for part, n in zip(case.split(sums.stats.tables), counts, strict=True):
            np.testing.assert_allclose(part, n, rtol=1e-10, atol=1e-12)
        n_left_out += sum(len(naive_hidden.left_out(case.families, row)) for row in case.rows)
    assert n_left_out > 100


@pytest.mark.parametrize("seed", range(20))
def test_the_variable_that_was_set_is_nobodys_child(seed):
    case = cases.random_case(seed, n=4)._replace(hidden=())
    target = seed % 4
    case.rows[:, target] = np.maximum(case.rows[:, target], 0)
    rng = np.random.default_rng(seed)
    log_tables = rng.normal(size=int(case.wiring.fam_at[-1]))
    targets = np.full(len(case.rows), target)
    data = encode(case.table(), case.names, case.wiring, targets)
    sums, _ = expect(case.model(1.0), data.units, q_hidden.exact, Tables(log_tables))
    silent = [table * (f != target) for f, table in enumerate(case.split(log_tables))]
    value, counts = naive.kept(
        naive.exact, *case.facts, silent, case.rows, case.row_weights, target
    )
    np.testing.assert_allclose(sums.value, value, rtol=1e-11, atol=1e-11)
    for part, n in zip(case.split(sums.stats.tables), counts, strict=True):
        np.testing.assert_allclose(part, n, rtol=1e-10, atol=1e-12)


def test_marks():
    wiring = cases.Case(jn.DAG("a -> b -> c; a -> d"), [2] * 4, np.empty((0, 4))).wiring
    rows = np.array([[-1, -1, 0, -1], [-1, -1, -1, -1], [0, -1, -1, 1]], np.int32)
    out = LEFT_OUT
    found = without_barren(wiring)(rows)
    assert found.tolist() == [[-1, -1, 0, out], [out] * 4, [0, out, out, 1]]
    assert without_barren(wiring, 2)(rows)[0].tolist() == [out, out, 0, out]


def chain(seed=0, n=60, share=0.25):
    """Rows of a -> b -> c with holes."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.8, a, 1 - a)
    c = np.where(rng.random(n) < 0.7, b, 1 - b)
    columns = {"a": a, "b": b, "c": c}
    return {x: np.where(rng.random(n) < share, None, y) for x, y in columns.items()}


def fitted(graph, columns, **how):
    settings = {"method": "vbem", "tol": 1e-14, "max_iter": 5000, "random_state": 0}
    states = {x: [0, 1] for x in columns}
    return jn.BayesianNetwork(graph, **(settings | how)).fit(jn.Table(columns, states=states))


@pytest.mark.parametrize("method", ["vbem", "me"])
def test_rows_and_variables_that_show_nothing_change_no_bound(method):
    columns = chain()
    own = fitted(jn.DAG("a -> b -> c"), columns, method=method).free_energy_
    longer = {x: np.append(y, [None] * 7) for x, y in columns.items()}
    others = [
        fitted(jn.DAG("a -> b -> c"), longer, method=method),
        fitted(jn.DAG("a -> b -> c; h"), columns, hidden={"h": 3}, method=method),
        fitted(jn.DAG("a -> b -> c -> h -> k"), columns, hidden={"h": 2, "k": 3}, method=method),
        fitted(jn.DAG("a -> b -> c -> h <- k"), columns, hidden={"h": 2, "k": 3}, method=method),
    ]
    for net in others:
        assert net.free_energy_ == pytest.approx(own, abs=1e-9)
    np.testing.assert_allclose(others[1].cpt("h").values, 1 / 3)


def test_the_bound_is_closer_to_the_evidence_and_never_above():
    """With all cells in h it is lower; where every missing cell is left out it is the evidence."""
    gains, n_exact = [], 0
    for seed in range(30):
        case = cases.random_case(seed, n=3, n_rows=5, most_missing=2, states=(2, 2))
        model, bounds = case.model(1.0), []
        for all_cells in (True, False):
            units = case.encoded(all_cells=all_cells).units
            begun = cases.start(case, model, units, VBEM, seed)
            bounds.append(fit(model, units, VBEM, begun, max_iter=5000, tol=1e-14).trace[-1])
        alphas = [np.ones([case.cards[v] for v in family]) for family in case.families]
        exact = naive.log_evidence(*case.facts, alphas, case.rows)
        assert bounds[1] <= exact + 1e-10
        gains.append(bounds[1] - bounds[0])
        if units.is_complete:
            n_exact += 1
            assert bounds[1] == pytest.approx(exact, abs=1e-10)
    assert n_exact >= 3
    assert min(gains) > -0.5  # local maxima
    assert np.mean(gains) > 0.1


@pytest.mark.parametrize("prior", [None, 2.0])
def test_em_ends_at_the_same_estimate(prior):
    """Tables sum to one, so log p(x | θ) is the same; only fewer sweeps are needed."""
    for seed in range(10):
        rows = np.array(
            [
                [-1 if x is None else x for x in row]
                for row in zip(*chain(seed).values(), strict=True)
            ]
        )
        case = cases.Case(jn.DAG("a -> b -> c"), [2, 2, 2], rows)
        model, found = case.model(prior), []
        for all_cells in (True, False):
            units = case.encoded(all_cells=all_cells).units
            begun = cases.start(case, model, units, EM, seed)
            found.append(fit(model, units, EM, begun, max_iter=20_000, tol=1e-15))
        assert found[1].trace[-1] == pytest.approx(found[0].trace[-1], abs=1e-8)
        tables = [model.families.tables.mode(one.state.eta.tables) for one in found]
        np.testing.assert_allclose(*tables, atol=1e-5)
        assert len(found[1].trace) <= len(found[0].trace)


@pytest.mark.parametrize("method", ["gibbs", "stochastic-em"])
def test_draws_of_what_is_left(method):
    """What is left out changes no estimate of the others."""
    columns = chain()
    graph = jn.DAG("a -> b -> c -> h <- k; a -> h")
    how = {"n_samples": 800, "burn_in": 100, "prior": 1.5}
    table = jn.Table(columns)
    net = jn.BayesianNetwork(
        graph, method=method, hidden={"h": 2, "k": 3}, random_state=0, **how
    ).fit(table)
    exact = fitted(jn.DAG("a -> b -> c"), columns, method="vbem", prior=1.5)
    own, other = (one.query("c", given={"a": "1"})["1"] for one in (net, exact))
    assert own == pytest.approx(other, abs=0.06)


def test_questions_are_asked_of_all_cells():
    columns = chain()
    net = fitted(jn.DAG("a -> b -> c -> h"), columns, hidden={"h": 2})
    table = jn.Table(columns, states={x: [0, 1] for x in columns})
    filled = net.impute(table)
    assert not filled.n_missing(["a", "b", "c"])
    counts = net.expected_counts(table, ["c"])
    assert np.sum(counts) == pytest.approx(table.n_rows)
