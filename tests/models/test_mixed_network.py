"""Networks of labels and numbers: every sweep against enumeration and dense algebra."""

from itertools import permutations, product

import numpy as np
import pytest
from naive import mixed as naive
from naive.mixed_answers import random_network
from scipy.special import gammaln, logsumexp

import jensen as jn
from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.estimators.mixed_problem import mixed_problem
from jensen.estimators.network_choices import NetworkSettings
from jensen.exceptions import CollapseError, DataError, EstimateWarning, GraphError, JensenError
from jensen.families import gamma, linear_regression, log_evidence
from jensen.families.gamma import Gamma
from jensen.free_energy import expect
from jensen.inference.mixed_parameters import config_text
from jensen.models import mixed_rows
from jensen.models.mixed_network import MixedParameters, MixedRegressionNetwork, moments_of
from jensen.q_hidden.mixed import cells
from jensen.q_hidden.mixed.cells import MixedCells, MixedRows, encode_rows
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.mixed.shapes import Asked, Shapes

GRAPHS = {
    "two numbers below a label": ("L -> x; L -> y", {"L": 2}),
    "labels above a chain of numbers": ("K -> x; x -> y; L -> y; K -> L", {"K": 2, "L": 3}),
    "a common child": ("x -> z; y -> z; K -> x; L -> y; K -> z", {"K": 2, "L": 2}),
    "labels in a row": ("K -> L; L -> M; K -> x; M -> x; M -> y; x -> y", {"K": 2, "L": 2, "M": 2}),
    "two parts": ("K -> x; L -> y; K -> L; z", {"K": 3, "L": 2}),
    "counts": ("K -> m; L -> m; K -> L; K -> x; L -> n; o", {"K": 3, "L": 2}),
}
COUNTS = {"m", "n", "o"}


def layout_of(graph, cards):
    dag = jn.DAG(graph)
    counts = frozenset(v for v, x in enumerate(dag.nodes) if x in COUNTS)
    return dag, MixedLayout(dag.parent_indices, tuple(cards.get(x, 0) for x in dag.nodes), counts)


def random_t(layout, rng, *, is_mean):
    """Statistics of θ: at a point, or expected under a posterior, where nothing sums to one."""
    lengths = layout.wiring.row_lengths()
    parts = [rng.dirichlet(np.ones(k)) for k in lengths]
    tables = np.log(np.concatenate(parts)) - (0.1 if is_mean else 0.0)
    return tables, layout.forms_of(random_regressions(layout, rng, is_mean=is_mean))


def random_regressions(layout, rng, *, is_mean):
    """Statistics of all regressions."""
    regressions = []
    for k, n, is_count in zip(layout.n_configs, layout.n_members, layout.is_count, strict=True):
        if is_count:
            eta = Gamma(rng.gamma(1.0, 5.0, (k, 1)), rng.uniform(0.5, 2.0, (k, 1)))
            regressions.append((gamma.mean_stats if is_mean else gamma.mode_stats)(eta))
            continue
        root = rng.normal(size=(k, n - 1, n + 1))
        mean, scale = rng.normal(size=(k, n - 1)), rng.uniform(0.2, 2.0, k)
        strength = root @ root.swapaxes(1, 2)
        eta = linear_regression.from_standard(mean, strength, rng.uniform(3, 9, k), scale)
        read = linear_regression.mean_stats if is_mean else linear_regression.mode_stats
        regressions.append(read(eta))
    return tuple(regressions)


def all_gaps(layout, rng):
    """A row for every pattern of gaps."""
    n = len(layout.cards)
    rows = 1 << n
    codes = np.column_stack([rng.integers(0, layout.cards[v], rows) for v in layout.labels]).astype(
        np.int32
    )
    values = rng.normal(size=(rows, len(layout.numbers)))
    for v in np.flatnonzero(layout.is_count):
        values[:, v] = rng.poisson(4.0, rows)
    gaps = np.array(list(product([False, True], repeat=n)))
    codes[gaps[:, list(layout.labels)]] = -1
    values[gaps[:, list(layout.numbers)]] = np.nan
    return MixedRows(codes, values, rng.uniform(0.5, 2.0, rows))


def solved(layout, names, tables, forms, rows, was_set=()):
    """Value, counts and moments, as the model adds them up."""
    known = mixed_rows.seen_moments(rows, layout)
    for v in was_set:
        if not layout.cards[v]:
            k = layout.place[v]
            known[layout.form_at[k] : layout.form_at[k + 1]] = 0.0
    total, moments = known @ forms, known
    counts = np.zeros(len(tables))
    for u, v in enumerate(layout.labels):
        if v in was_set:
            continue
        members = layout.wiring.members(u)
        steps = layout.wiring.fam_stride[layout.wiring.fam_ptr[u] :][: len(members)]
        is_known = (rows.codes[:, members] >= 0).all(1)
        at = layout.wiring.fam_at[u] + rows.codes[is_known][:, members] @ steps
        counts += np.bincount(at, rows.weight[is_known], len(tables))
    total += counts @ tables
    shapes = Shapes(layout, names)
    units = list(encode_rows(shapes, rows, was_set))
    for unit in units:
        cells = MixedCells(tables, forms, shapes.kinds, unit)
        hidden = q_hidden.exact(cells)
        total += hidden.value.sum()
        counts = counts + hidden.moments.counts
        moments = moments + hidden.moments.moments
    return total, counts, moments


@pytest.mark.parametrize("is_mean", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_pattern_of_gaps_equals_enumeration(name, is_mean):
    dag, layout = layout_of(*GRAPHS[name])
    rng = np.random.default_rng(len(name))
    tables, forms = random_t(layout, rng, is_mean=is_mean)
    rows = all_gaps(layout, rng)
    found = solved(layout, dag.nodes, tables, forms, rows)
    for ours, theirs in zip(found, naive.expected(layout, tables, forms, rows), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seeds", [range(k, k + 50) for k in range(0, 200, 50)], ids=str)
def test_statistics_of_two_hundred_random_networks_equal_enumeration(seeds):
    for seed in seeds:
        rng = np.random.default_rng(7000 + seed)
        size = [int(k) for k in rng.integers(1, 4, 2)]
        network = random_network(rng, *size, n_counts=seed % 3 % 2).network_
        layout, names = network.layout, network.graph.nodes
        tables, forms = random_t(layout, rng, is_mean=seed % 2 == 1)
        rows = all_gaps(layout, rng)
        which = rng.permutation(len(rows.weight))[:3]
        own = MixedRows(*(part[which] for part in rows))
        found = solved(layout, names, tables, forms, own)
        for ours, theirs in zip(found, naive.expected(layout, tables, forms, own), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10, err_msg=str(seed))


@pytest.mark.parametrize("name", GRAPHS)
def test_rows_in_which_a_node_was_set_equal_enumeration(name):
    dag, layout = layout_of(*GRAPHS[name])
    rng = np.random.default_rng(3)
    tables, forms = random_t(layout, rng, is_mean=True)
    rows = all_gaps(layout, rng)
    for v in range(len(layout.cards)):
        k, is_label = layout.place[v], bool(layout.cards[v])
        known = rows.codes[:, k] >= 0 if is_label else ~np.isnan(rows.values[:, k])
        own = MixedRows(*(part[known] for part in rows))
        found = solved(layout, dag.nodes, tables, forms, own, (v,))
        theirs = naive.expected(layout, tables, forms, own, (v,))
        for a, b in zip(found, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_units_may_be_solved_as_they_come(monkeypatch):
    """What is compiled for the shapes of the first units is made again for those that follow."""
    monkeypatch.setattr(cells, "UNIT_ROWS", 3)
    dag, layout = layout_of(*GRAPHS["a common child"])
    rng = np.random.default_rng(6)
    tables, forms = random_t(layout, rng, is_mean=False)
    rows, shapes, total = all_gaps(layout, rng), Shapes(layout, dag.nodes), 0.0
    kinds, programs = set[int](), set[int]()
    for unit in encode_rows(shapes, rows):
        kinds.add(len(shapes.kinds.n_missing))
        programs.add(len(shapes.label_sets))
        total += q_hidden.exact(MixedCells(tables, forms, shapes.kinds, unit)).value.sum()
    assert min(len(kinds), len(programs)) > 2
    units = list(encode_rows(Shapes(layout, dag.nodes), rows))
    at_once = sum(
        q_hidden.exact(MixedCells(tables, forms, unit.shapes.kinds, unit)).value.sum()
        for unit in units
    )
    np.testing.assert_allclose(total, at_once, rtol=1e-13)


@pytest.mark.parametrize("name", GRAPHS)
def test_encoded_rows_in_which_different_nodes_were_set_equal_enumeration(name, monkeypatch):
    """From a table to statistics by `encode` itself, in units of a few rows each."""
    monkeypatch.setattr(cells, "UNIT_ROWS", 3)
    monkeypatch.setattr(mixed_rows, "BLOCK_ROWS", 7)
    dag, layout = layout_of(*GRAPHS[name])
    rng = np.random.default_rng(5)
    regressions = random_regressions(layout, rng, is_mean=True)
    tables = np.log(rng.dirichlet(np.ones(int(layout.wiring.fam_at[-1])))) - 0.1
    rows = all_gaps(layout, rng)
    shift = np.where(layout.is_count, 0.0, rng.normal(size=len(layout.numbers)))
    missing = np.empty((len(rows.weight), len(layout.cards)), bool)
    missing[:, layout.labels], missing[:, layout.numbers] = rows.codes < 0, np.isnan(rows.values)
    targets = np.array([rng.choice([-1, *np.flatnonzero(~gaps)]) for gaps in missing], np.int64)
    assert len(np.unique(targets)) == 1 + len(layout.cards)
    states = [tuple(map(str, range(card))) for card in layout.cards]
    variables = tuple(
        jn.Variable(x, "categorical", own) if own else jn.Variable(x, "continuous")
        for x, own in zip(dag.nodes, states, strict=True)
    )
    columns = {}
    for k, v in enumerate(layout.labels):
        columns[dag.nodes[v]] = [None if c < 0 else str(c) for c in rows.codes[:, k]]
    for k, v in enumerate(layout.numbers):
        columns[dag.nodes[v]] = rows.values[:, k] + shift[k]
    known = {dag.nodes[v]: list(states[v]) for v in layout.labels}
    table = jn.Table(columns, states=known, weights=rows.weight)
    counted, units = mixed_rows.encode(table, layout, dag.nodes, shift, targets)
    assert max(len(unit.values) for unit in units) <= 3
    nothing = MixedParameters(None, None)
    model = MixedRegressionNetwork(layout, nothing, dag, variables, shift)
    everything = Units((counted, *units), table.total_weight, is_complete=False)
    t = MixedParameters(tables, regressions)
    sums, _ = expect(model, everything, q_hidden.exact, t)
    theirs = [0.0, 0.0, 0.0]
    for v in np.unique(targets).tolist():
        own = MixedRows(*(part[targets == v] for part in rows))
        was_set = (v,) if v >= 0 else ()
        found = naive.expected(layout, tables, layout.forms_of(regressions), own, was_set)
        theirs = [a + b for a, b in zip(theirs, found, strict=True)]
        known = [v for v in layout.counts if v not in was_set]
        values = own.values[:, [layout.place[v] for v in known]]
        theirs[0] -= np.nansum(own.weight @ np.nan_to_num(gammaln(values + 1.0)))  # -log x!
    theirs[2] = moments_of(layout, layout.stats_of(theirs[2]))  # squares of counts are not kept
    ours = sums.value, sums.stats.tables, moments_of(layout, sums.stats.regressions)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def mixed_table(n=200, share=0.0, seed=0, weighted=False, counts=False):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    x = 5.0 + rng.normal(size=n) + 2.0 * a
    y = np.array([0.5, -1.0, 2.0])[b] * x + b + 0.5 * rng.normal(size=n)
    columns = {
        "a": np.array(["no", "yes"], object)[a],
        "b": np.array(["p", "q", "r"], object)[b],
        "x": x,
        "y": y,
    }
    if counts:
        columns["n"] = rng.poisson(2.0 + 3.0 * a).astype(float)
    for column in columns.values():
        column[rng.random(n) < share] = None if column.dtype == object else np.nan
    weights = rng.uniform(0.5, 2.0, n) if weighted else None
    return jn.Table(columns, weights=weights, counts=["n"] if counts else [])


GRAPH = "a -> x; b -> y; x -> y; a -> b"


def test_complete_rows_are_counted():
    table = mixed_table()
    net = jn.BayesianNetwork(GRAPH).fit(table)
    rows = table.to_pandas()
    for k, state in enumerate(["p", "q", "r"]):
        own = rows[rows.b == state]
        slope, intercept = np.polyfit(own.x, own.y, 1)
        found = net.network_.numbers[1]
        np.testing.assert_allclose(found.intercepts[k], intercept, rtol=1e-9)
        np.testing.assert_allclose(found.slopes[k], [slope], rtol=1e-9)
        left = own.y - intercept - slope * own.x
        np.testing.assert_allclose(found.variances[k], (left**2).mean(), rtol=1e-9)
    assert net.converged_
    assert len(net.trace_) == 1


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_weights_count_as_repeated_rows(share):
    table = mixed_table(60, share)
    twice = table.with_weights(np.arange(60) % 3 * 1.0)
    repeated = table.take(np.repeat(np.arange(60), np.arange(60) % 3))
    nets = [
        jn.BayesianNetwork(GRAPH, random_state=0, prior="bdeu-bge", tol=1e-13).fit(t)
        for t in (twice, repeated)
    ]
    np.testing.assert_allclose(nets[0].free_energy_, nets[1].free_energy_, rtol=1e-8)


def test_vb_on_complete_rows_is_the_evidence():
    """F = log evidence of labels by BDeu plus A(prior + stats) - A(prior) of every regression."""
    table = mixed_table(40)
    problem = mixed_problem(jn.DAG(GRAPH), table, NetworkSettings(prior="bdeu-bge"))
    net = jn.BayesianNetwork(GRAPH, prior="bdeu-bge").fit(table)
    labels = jn.score(jn.DAG("a -> b"), table.select(["a", "b"]), "bdeu")
    stats = problem.model.stats_of(problem.data.rows.counted.stats)
    numbers = sum(
        log_evidence(linear_regression, prior, own)
        for prior, own in zip(problem.model.prior.regressions, stats.regressions, strict=True)
    )
    base = -0.5 * np.log(2 * np.pi) * 2 * table.n_rows
    np.testing.assert_allclose(net.free_energy_, labels + numbers + base, rtol=1e-12)


def test_the_strength_with_the_highest_evidence_is_taken():
    table = mixed_table(40)
    own = [
        jn.BayesianNetwork(GRAPH, prior={"strength": s}).fit(table) for s in (1e-3, 0.01, 0.1, 1.0)
    ]
    net = jn.BayesianNetwork(GRAPH, prior="bdeu-bge").fit(table)
    best = max(own, key=lambda each: each.free_energy_)
    assert net.free_energy_ == best.free_energy_
    assert net.network_.strength == best.network_.strength == best.prior["strength"]


@pytest.mark.parametrize("graph", [GRAPH, GRAPH + "; a -> n; b -> n", GRAPH + "; n"])
@pytest.mark.parametrize("strength", [1.0, 0.01])
def test_vb_on_complete_rows_is_the_score(strength, graph):
    table = mixed_table(40, weighted=True, counts="n" in graph)
    net = jn.BayesianNetwork(graph, prior={"strength": strength}).fit(table)
    score = jn.score(jn.DAG(graph), table, "bdeu-bge", strength=strength)
    np.testing.assert_allclose(net.free_energy_, score, rtol=1e-12)


def test_vb_is_below_the_evidence_where_labels_are_missing():
    """By the sum over all completions, each of which has its evidence in closed form."""
    table, graph = mixed_table(12, seed=4, counts=True), GRAPH + "; a -> n; b -> n"
    data, counts = table.to_pandas(), ["n"]
    data.loc[[1, 5], "a"] = None
    data.loc[[2, 5], "b"] = None
    evidence, prior = [], {"strength": 1.0}
    for a1, a5, b2, b5 in product(["no", "yes"], ["no", "yes"], "pqr", "pqr"):
        full = data.copy()
        full.loc[[1, 5], "a"] = [a1, a5]
        full.loc[[2, 5], "b"] = [b2, b5]
        full = jn.Table(full, states={"a": ["no", "yes"], "b": ["p", "q", "r"]}, counts=counts)
        evidence.append(jn.BayesianNetwork(graph, prior=prior).fit(full).free_energy_)
    exact = logsumexp(evidence)
    holes = jn.Table(data, counts=counts)
    net = jn.BayesianNetwork(graph, prior=prior, random_state=0, n_init=5).fit(holes)
    assert net.is_bound_
    assert exact - 3.0 < net.free_energy_ < exact


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
def test_ascents_never_fall(method):
    table = mixed_table(300, 0.3, seed=2, weighted=True, counts=True)
    is_flat = method in ("em", "viterbi")
    net = jn.BayesianNetwork(
        "H -> x; H -> y; H -> n; a; b" if is_flat else f"H -> a; H -> x; {GRAPH}; H -> n; a -> n",
        method=method,
        prior=None if is_flat else "bdeu-bge",
        hidden={"H": 2},
        random_state=5,
    ).fit(table)
    assert len(net.trace_) > 3
    assert np.diff(net.trace_).min() >= -1e-9 * (abs(net.free_energy_) + 300)


def test_rows_and_columns_that_show_nothing_change_no_bound():
    table = mixed_table(60, 0.2).to_pandas()
    longer = table.reindex(range(80))
    choices = {"prior": "bdeu-bge", "random_state": 0, "tol": 1e-13}
    found = jn.BayesianNetwork(GRAPH, **choices).fit(table).free_energy_
    same = jn.BayesianNetwork(GRAPH, **choices).fit(longer).free_energy_
    np.testing.assert_allclose(found, same, rtol=1e-9)
    beside = jn.BayesianNetwork(f"{GRAPH}; x -> u; b -> H", hidden={"H": 2}, **choices)
    wider = longer.assign(u=[*np.linspace(0, 1, 10), *[np.nan] * 70])
    known = jn.BayesianNetwork(f"{GRAPH}; x -> u", **choices).fit(wider).free_energy_
    np.testing.assert_allclose(beside.fit(wider).free_energy_, known, rtol=1e-9)


def hyperparameters(rows, covariance):
    """The prior of a network with strength 1, in the words of a mixture."""
    variance, d = rows.var(0), rows.shape[1]
    is_full = covariance == "full"
    return {
        "concentration": 0.5,
        "mean": rows.mean(0),
        "mean_strength": 1.0,
        "degrees_of_freedom": d + 2.0 if is_full else 3.0,
        "scale": np.diag(2.0 / variance) if is_full else 2.0 / variance,
    }


@pytest.mark.parametrize("is_flat", [True, False])
@pytest.mark.parametrize(
    ("covariance", "graph"),
    [
        ("diagonal", "H -> x; H -> y; H -> z"),
        ("full", "H -> x; H -> y; H -> z; x -> y; x -> z; y -> z"),
    ],
)
def test_a_mixture_as_a_graph_climbs_as_a_gaussian_mixture(covariance, graph, is_flat):
    """Sweep by sweep: the likelihood under the flat prior, the bound of VB under the same one."""
    rng = np.random.default_rng(0)
    centre = rng.integers(0, 2, 150)
    rows = (rng.normal(size=(150, 3)) + 1.2 * centre[:, None]) * [1.0, 2.0, 0.3]
    rows[:, 1] += 0.5 * rows[:, 0]
    with pytest.warns(EstimateWarning):
        begin = jn.GaussianMixture(2, covariance=covariance, random_state=0, max_iter=1).fit(rows)
    sweeps = {"max_iter": 8, "tol": 0.0}
    prior = None if is_flat else hyperparameters(rows, covariance)
    own = None if is_flat else {"strength": 1.0}
    with pytest.warns(EstimateWarning):
        mixture = jn.GaussianMixture(
            2, covariance=covariance, prior=prior, start=begin, **sweeps
        ).fit(rows)
    start = as_network(graph, begin)
    with pytest.warns(EstimateWarning):
        net = jn.BayesianNetwork(graph, hidden={"H": 2}, prior=own, start=start, **sweeps).fit(
            dict(zip("xyz", rows.T, strict=True))
        )
    np.testing.assert_allclose(net.trace_, mixture.trace_, rtol=1e-10)


def test_whole_numbers_are_numbers():
    table = mixed_table(60).to_pandas().assign(age=np.arange(60) * 3 % 71)
    net = jn.BayesianNetwork(f"{GRAPH}; a -> age").fit(table)
    assert net.network_.variables[net.network_.index("age")].kind == "continuous"


def test_numbers_stay_cut_as_their_graph_was_learned():
    table = mixed_table(200)
    graph = jn.learn_structure(table, discretize={"x": 3})
    net = jn.BayesianNetwork(graph, prior="bdeu-bge").fit(table)
    assert len(net.states["x"]) == 3
    raw = net.query("a", given={"x": 7.5})
    label = net.states["x"][-1]
    assert raw.plain() == net.query("a", given={"x": label}).plain()


def test_cross_validation_of_both_kinds():
    table = mixed_table(120, 0.1)
    learned = jn.cross_validate(table, folds=3, random_state=0)
    empty = jn.cross_validate(table, jn.DAG((), table.names), folds=3, random_state=0)
    assert learned.mean < empty.mean


def as_network(graph, mixture):
    """The same distribution as a network of a hidden label and regressions."""
    from jensen.data.variable import Variable
    from jensen.inference.mixed_network import MixedNetwork, NumberParameters

    dag, numbers = jn.DAG(graph), []
    covariances = np.array([np.diag(c) if c.ndim == 1 else c for c in mixture.covariances_])
    for v, name in enumerate("xyz"):
        above = ["xyz".index(x) for x in dag.parents(name) if x != "H"]
        slopes = [np.linalg.solve(c[np.ix_(above, above)], c[above, v]) for c in covariances]
        slopes = np.array(slopes).reshape(2, len(above))
        intercepts = mixture.means_[:, v] - (slopes * mixture.means_[:, above]).sum(1)
        left = covariances[:, v, v] - (slopes * covariances[:, above, v]).sum(1)
        numbers.append(NumberParameters(intercepts, slopes, left))
    names = [Variable(name, "continuous") for name in "xyz"]
    variables = (Variable("H", "categorical", ("0", "1")), *names)
    return MixedNetwork(dag, variables, np.array(mixture.weights_), tuple(numbers))


@pytest.mark.parametrize("n_chains", [1, 4])
def test_chains_name_hidden_states_alike(n_chains):
    """Three states that are about as frequent: their order by counts changes from draw to draw."""
    rng = np.random.default_rng(0)
    h = np.arange(150) % 3
    table = {name: 8.0 * h + rng.normal(size=150) for name in "xy"}
    net = jn.BayesianNetwork(
        "H -> x; H -> y",
        hidden={"H": 3},
        method="stochastic-em",
        n_chains=n_chains,
        n_samples=30,
        burn_in=10,
        random_state=0,
    ).fit(table)
    means = sorted(net.network_.numbers[0].intercepts)
    np.testing.assert_allclose(means, [0.0, 8.0, 16.0], atol=0.6)


@pytest.mark.parametrize("choices", [{}, {"prior": "bdeu-bge"}, {"method": "vbem"}])
def test_a_tight_relation_is_not_inflated(choices):
    """By default, a residual variance of 1e-4 of the total stays what it is."""
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=300), rng.integers(0, 2, 300)
    y = x + 0.01 * rng.normal(size=300)
    table = {"g": group.astype(str), "x": x, "y": y}
    net = jn.BayesianNetwork("g -> y; x -> y", **choices).fit(table)
    np.testing.assert_allclose(net.network_.numbers[1].variances, 1e-4, rtol=0.2)
    strong = jn.BayesianNetwork("g -> y; x -> y", prior={"strength": 1.0}).fit(table)
    assert "log evidence (numbers: prior of strength 1)" in repr(strong.summary())
    assert (strong.network_.numbers[1].variances > 20e-4).all()


# --- refusals ---


def test_a_label_below_a_number_is_refused():
    with pytest.raises(
        GraphError, match=r"the edge x -> a leads from a number to a label.*reverse"
    ):
        jn.BayesianNetwork("x -> a").fit(mixed_table(20))


def test_a_class_of_graphs_is_extended_from_labels_to_numbers():
    table = mixed_table(60).to_pandas().rename(columns={"a": "z", "x": "a"})
    net = jn.BayesianNetwork(jn.PDAG("a -- z; a -- y")).fit(table)
    assert net.graph == jn.DAG("z -> a; a -> y")
    net = jn.BayesianNetwork(jn.learn_structure(table, "ges", discretize={"y": 3})).fit(table)
    assert len(net.states["y"]) == 3


@pytest.mark.parametrize(("text", "between"), [("a -- x -- b", "x"), ("a -- x -- y -- b", "x, y")])
def test_a_class_without_a_network_is_refused(text, between):
    named = rf"undirected edges between labels \(a, b\) and numbers \({between}\).*Join the labels"
    with pytest.raises(GraphError, match=named):
        jn.BayesianNetwork(jn.PDAG(text)).fit(mixed_table(60))


def test_a_configuration_without_spread_is_named():
    table = mixed_table(30).to_pandas()
    table.loc[table.a == "yes", "x"] = 3.0
    with pytest.raises(DataError, match=r"likelihood of 'x' has no bound: where a=yes"):
        jn.BayesianNetwork("a -> x").fit(table)
    net = jn.BayesianNetwork("a -> x", prior="bdeu-bge").fit(table)
    assert net.converged_


def test_a_configuration_without_rows_has_the_regression_of_all_rows():
    table = mixed_table(40).select(["b", "x"])
    rows = table.take(np.array(table.to_pandas().b != "q"))
    with pytest.warns(EstimateWarning, match=r"p\(x \| b=q\).*regression of all rows together"):
        net = jn.BayesianNetwork("b -> x").fit(rows)
    found = net.network_.numbers[0]
    np.testing.assert_allclose(found.intercepts[1], rows.to_pandas().x.mean())


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        (
            {"prior": "k2"},
            "None .flat., 'bdeu-bge', or a dict with strength, concentration, not 'k2'",
        ),
        ({"prior": {"scale": 1.0}}, "has strength, concentration, not 'scale'"),
        ({"prior": {"strength": 0}}, "strength must be positive and finite, not 0"),
        ({"equivalent_sample_size": 2.0}, "belongs to prior='bdeu-bge'"),
        ({"start": 3}, "start= must be a network of labels and numbers"),
    ],
)
def test_choices_that_cannot_be_are_refused(choices, text):
    with pytest.raises(JensenError, match=text):
        jn.BayesianNetwork(GRAPH, **choices).fit(mixed_table(30, 0.1))


def test_a_constant_number_is_left_out():
    table = mixed_table(30).to_pandas().assign(c=2.5)
    with pytest.warns(Warning, match="'c' is constant"):
        net = jn.BayesianNetwork(f"{GRAPH}; c").fit(table)
    assert dict(net.network_.constants) == {"c": 2.5}
    assert "c" not in net.network_.graph.nodes


def test_rows_in_which_something_was_set_and_rows_without_weight():
    """Beside sums over the rows that count, with a constant column among the others."""
    rng, n = np.random.default_rng(2), 240
    weights = rng.integers(0, 3, n).astype(float)
    was_set = np.array(["", "y", "b", "aa", "x"], object)[rng.integers(0, 5, n)]
    rows = mixed_table(n).to_pandas().assign(aa=2.5)
    table = jn.Table(rows, weights=weights)
    with pytest.warns(Warning, match="'aa' is constant"):
        net = jn.BayesianNetwork(f"{GRAPH}; aa").fit(table, interventions=was_set.tolist())
    for k, state in enumerate("pqr"):
        own = (rows.b == state) & (was_set != "y") & (weights > 0.0)
        root = np.sqrt(weights[own])
        slope, intercept = np.polyfit(rows.x[own], rows.y[own], 1, w=root)
        found = net.network_.numbers[1]
        np.testing.assert_allclose(found.slopes[k], [slope], rtol=1e-9)
        np.testing.assert_allclose(found.intercepts[k], intercept, rtol=1e-9)
        for j, above in enumerate(["no", "yes"]):
            told = (rows.a == above) & (was_set != "b")
            share = weights[told & (rows.b == state)].sum() / weights[told].sum()
            np.testing.assert_allclose(net.network_.cpt("b").values[j, k], share, rtol=1e-12)


def test_posterior_means_move_with_the_columns():
    """As lines do: intercept + b - slope * a, where x is moved by a and y by b."""
    table = mixed_table(80, 0.2, seed=3)
    rows = table.to_pandas()
    moved = jn.Table(rows.assign(x=rows.x + 1000.0, y=rows.y - 300.0))
    here, there = (
        jn.BayesianNetwork(GRAPH, prior="bdeu-bge", random_state=0, tol=1e-13).fit(t).network_
        for t in (table, moved)
    )
    (x, y), (far_x, far_y) = here.numbers, there.numbers
    np.testing.assert_allclose(far_x.intercepts, x.intercepts + 1000.0, rtol=1e-8)
    np.testing.assert_allclose(far_y.slopes, y.slopes, rtol=1e-5)
    far = y.intercepts - 300.0 - 1000.0 * y.slopes[:, 0]
    np.testing.assert_allclose(far_y.intercepts, far, rtol=1e-5)


def test_states_that_collapse_are_started_again():
    rng = np.random.default_rng(1)
    table = {"x": [*rng.normal(size=30), 50.0], "y": [*rng.normal(size=30), 90.0]}
    graph = jn.BayesianNetwork("H -> x; H -> y", hidden={"H": 3}, n_init=5, random_state=0)
    with pytest.raises(
        CollapseError, match=r"likelihood of .x. has no bound: where H=.*give a prior"
    ):
        graph.fit(table)
    with_prior = jn.BayesianNetwork(
        "H -> x; H -> y", hidden={"H": 3}, prior="bdeu-bge", random_state=0
    ).fit(table)
    assert with_prior.is_bound_


HIDDEN = "H -> a; H -> x; b -> x; a -> b"


@pytest.mark.parametrize("seed", range(4))
def test_labels_of_hidden_states_change_no_likelihood(seed):
    """States are named by how frequent they are; tables and regressions move together."""
    table = mixed_table(60, seed=5).select(["a", "b", "x"])
    net = jn.BayesianNetwork(HIDDEN, hidden={"H": 2}, random_state=seed, max_iter=3)
    with pytest.warns(EstimateWarning):
        net.fit(table)
    np.testing.assert_allclose(net.log_likelihood(table).sum(), net.free_energy_, rtol=1e-9)


def test_samples_are_named_alike_by_tables_and_regressions_together():
    """All ways to name the states of one point are settled to that point."""
    table = mixed_table(60, seed=5).select(["a", "b", "x"])
    choices = NetworkSettings(prior="bdeu-bge", method="gibbs", hidden={"H": 3})
    model = mixed_problem(jn.DAG(HIDDEN), table, choices).model
    rng = np.random.default_rng(7)
    share, a = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(2), 3)
    b, x = rng.dirichlet(np.ones(3), 2), rng.normal(size=(3, 3, 1))
    noise = rng.uniform(0.5, 2.0, (3, 3, 1))

    def flat(order):
        numbers = np.concatenate([x[order], noise[order]], axis=2)
        return np.concatenate([share[order], a[order].ravel(), b.ravel(), numbers.ravel()])

    draws = np.array([flat(list(order)) for order in permutations(range(3))])
    settled = model.settle(draws, 4)
    np.testing.assert_allclose(settled, np.tile(draws[4], (6, 1)), rtol=1e-14)


def test_samples_hold_the_density_of_what_was_drawn():
    """The trace of a chain is log p(x, h, θ), with numbers that were drawn for the missing ones."""
    layout = MixedLayout(((), (0,)), (2, 0))
    rows = MixedRows(np.full((2000, 1), -1, np.int32), np.full((2000, 1), np.nan), np.ones(2000))
    tables = np.log([0.3, 0.7])
    mean, strength = np.array([[1.0], [3.0]]), np.full((2, 1, 1), 2.0)
    eta = linear_regression.from_standard(mean, strength, np.full(2, 5.0), np.ones(2))
    t = (linear_regression.mode_stats(eta),)
    shapes = Shapes(layout, ["h", "x"])
    asked = Asked(frozenset({0, 1}))
    (unit,) = encode_rows(shapes, rows, (), asked)
    forms = layout.forms_of(t)
    drawn = q_hidden.draw(
        MixedCells(tables, forms, shapes.kinds, unit), None, np.random.default_rng(0)
    )
    counts, moments = drawn.moments
    np.testing.assert_allclose(drawn.value.sum(), counts @ tables + moments @ forms, rtol=1e-10)


def test_configurations_are_told_in_the_order_of_parents():
    dag, layout = layout_of("K -> x; L -> x", {"K": 2, "L": 3})
    variables = (
        jn.Variable("K", "categorical", ("p", "q")),
        jn.Variable("L", "categorical", ("r", "s", "t")),
        jn.Variable("x", "continuous"),
    )
    assert dag.nodes == ("K", "L", "x")
    found = [config_text(layout, variables, 0, config) for config in range(6)]
    assert found == [f"K={k}, L={x}" for k, x in product("pq", "rst")]
