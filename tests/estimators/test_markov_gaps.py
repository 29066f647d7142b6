"""Markov networks with values missing anywhere, and hidden units: F, slopes, restarts, resuming."""

from itertools import product

import numpy as np
import pytest
from naive import markov

import jensen as jn
from jensen.evidence.coefficient_errors import score
from jensen.models import log_linear_sums

STATES = {"a": ["n", "y"], "b": ["0", "1", "2"], "c": ["n", "y"], "d": ["n", "y"]}


@pytest.fixture(scope="module")
def holes():
    """Rows of a ring, a fifth of the cells missing."""
    rng = np.random.default_rng(1)
    potentials = {}
    for x, y in ("ab", "bc", "cd", "ad"):
        potentials[(x, y)] = rng.standard_normal((len(STATES[x]), len(STATES[y])))
    net = jn.MarkovNetwork.from_tables(potentials, STATES, logs=True)
    full = net.sample(400, random_state=2)
    columns = {}
    for x in STATES:
        labels = [STATES[x][int(k)] for k in full.column(x).data]
        columns[x] = [None if rng.random() < 0.2 else label for label in labels]
    return jn.Table(columns, states=STATES)


def rows_of(table):
    found = []
    for i in range(table.n_rows):
        codes = {x: int(table.column(x).data[i]) for x in table.names}
        found.append({x: STATES[x][k] if k < len(STATES[x]) else None for x, k in codes.items()})
    return found


def log_likelihood(net, table):
    """By enumeration: log Z(clamped) - log Z(free), row by row."""
    return sum(markov.log_row(net.network_, row) for row in rows_of(table))


def slope_of(net, table):
    problem = net.problem(table)
    theta = problem.model.effects.project(net.network_.log_potentials)
    return score(problem.model, problem.data.units, theta)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("prior", [None, {"ridge": 2.0}])
def test_f_rises_to_the_likelihood_of_what_was_seen(holes, listed, prior, monkeypatch):
    if not listed:
        monkeypatch.setattr(log_linear_sums, "MOST_STATES", 0)
    net = jn.MarkovNetwork("a - b - c - d - a", prior=prior, tol=1e-13).fit(holes)
    assert net.converged_
    assert (np.diff(net.trace_) >= -1e-9).all()
    wanted, rest = log_likelihood(net, holes), 0.0
    if prior is not None:
        J = net.problem(holes).model.effects
        theta = J.project(net.network_.log_potentials)[J.is_interaction]
        rest = 0.5 * len(theta) * np.log(2.0 / (2 * np.pi)) - 0.5 * 2.0 * theta @ theta
    assert net.free_energy_ == pytest.approx(wanted + rest, rel=1e-11)


def test_the_slope_is_zero_at_the_end_and_true_elsewhere(holes):
    net = jn.MarkovNetwork("a - b - c - d - a", tol=1e-14).fit(holes)
    assert np.abs(slope_of(net, holes)).max() < 1e-2  # of 400 rows, in units of counts
    problem = net.problem(holes)
    model, effects = problem.model, problem.model.effects
    rng = np.random.default_rng(0)
    theta = 0.3 * rng.standard_normal(effects.n_coefficients)

    def value(at):
        return log_likelihood(jn.MarkovNetwork.from_network(model._network(_at(at))), holes)

    slope = score(model, problem.data.units, theta)
    for k in (0, 4, 9):
        step = np.zeros(len(theta))
        step[k] = 1e-4
        wanted = (value(theta + step) - value(theta - step)) / 2e-4
        assert slope[k] == pytest.approx(wanted, rel=1e-5, abs=1e-5)


def _at(theta):
    from jensen.models.log_linear_network import around

    return around(theta, 0)


def test_standard_errors_pay_for_what_is_missing(holes):
    net = jn.MarkovNetwork("a - b - c - d - a", tol=1e-13).fit(holes)
    told = net.standard_errors()
    whole = holes.complete_rows()
    fewer = jn.MarkovNetwork("a - b - c - d - a").fit(whole).standard_errors()
    for names, effect in told.items():
        assert (effect.errors > 0.0).all()
        assert (effect.errors < fewer[names].errors).all()  # gaps are worth more than nothing
    again = net.standard_errors(holes)
    np.testing.assert_allclose(again["a"].errors, told["a"].errors)
    loaded = jn.MarkovNetwork.from_dict(net.to_dict())
    with pytest.raises(jn.JensenError, match="does not hold the rows"):
        loaded.standard_errors()


@pytest.fixture(scope="module")
def clusters():
    """Six bits that depend on a hidden one."""
    rng = np.random.default_rng(7)
    h = rng.integers(0, 2, 500)
    bits = rng.random((500, 6)) < np.where(h[:, None] == 1, 0.85, 0.2)
    return jn.Table({f"x{k}": bits[:, k].astype(int).tolist() for k in range(6)})


def test_hidden_units_and_restarts(clusters):
    graph = [("h", f"x{k}") for k in range(6)]
    net = jn.MarkovNetwork(graph, hidden={"h": 2}, n_init=4, random_state=0).fit(clusters)
    assert (np.diff(net.trace_) >= -1e-9).all()
    assert len(net.starts_) == 4
    assert net.free_energy_ == net.starts_.max()
    classes = jn.LatentClass(2, n_init=4, random_state=0, tol=1e-13).fit(clusters)
    assert net.free_energy_ == pytest.approx(classes.free_energy_, abs=1e-4)  # the same model
    assert net.predict_proba(clusters, "h").shape == (500, 2)
    assert set(net.impute(clusters).columns) == {f"x{k}" for k in range(6)}


def test_a_killed_run_resumes_to_the_same_bits(clusters, tmp_path):
    graph = [("h", f"x{k}") for k in range(6)]

    def fit(max_iter, file=None):
        choices = {"hidden": {"h": 2}, "n_init": 2, "random_state": 3, "tol": 0.0}
        net = jn.MarkovNetwork(graph, max_iter=max_iter, **choices)
        with pytest.warns(jn.EstimateWarning, match="max_iter"):
            return net.fit(clusters, checkpoint=file)

    whole = fit(9)
    file = tmp_path / "run.npz"
    saved = fit(9, file)
    np.testing.assert_array_equal(whole.network_.log_potentials, saved.network_.log_potentials)
    again = fit(9, file)  # a finished one returns at once
    np.testing.assert_array_equal(whole.network_.log_potentials, again.network_.log_potentials)
    with pytest.raises(jn.JensenError, match=r"run\.npz"):
        jn.MarkovNetwork(graph, hidden={"h": 2}, random_state=4).fit(clusters, checkpoint=file)


def test_order_of_columns_and_threads_change_nothing(clusters):
    graph = [("h", f"x{k}") for k in range(6)]
    turned = clusters.select([f"x{k}" for k in (3, 1, 5, 0, 4, 2)])
    found = [
        jn.MarkovNetwork(graph, hidden={"h": 2}, random_state=0).fit(t).free_energy_
        for t in (clusters, turned)
    ]
    assert found[0] == found[1]


def test_bars_and_stripes_approach_their_best_likelihood():
    """The best mean log-likelihood is -log of the number of patterns."""
    n, patterns = 3, set()
    for bits in product((0, 1), repeat=n):
        grid = np.tile(bits, (n, 1))
        patterns |= {tuple(grid.ravel()), tuple(grid.T.ravel())}
    table = jn.Table({f"p{k}": [p[k] for p in sorted(patterns)] for k in range(n * n)})
    graph = [(f"h{j}", f"p{k}") for j in range(8) for k in range(n * n)]
    hidden = {f"h{j}": 2 for j in range(8)}
    net = jn.MarkovNetwork(graph, hidden=hidden, max_iter=300, tol=1e-7, random_state=0).fit(table)
    best = -np.log(len(patterns))
    assert best - 0.01 < net.score(table) <= best + 1e-9
