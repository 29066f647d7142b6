"""Chains over graphs and missing values, beside all graphs times all completions."""

from itertools import product

import numpy as np
import pytest
from naive import structures
from scipy.special import logsumexp
from scipy.stats import chi2

import jensen as jn
from jensen.graphs import DAG
from jensen.q_graph.chains import augmented_chains
from jensen.q_graph.chains.augmented_chains import AugmentedTask, joined_of
from jensen.q_graph.chains.augmented_rows import read_rows
from jensen.q_graph.chains.graph_chains import ChainPlan
from jensen.q_graph.chains.kinds import KINDS
from jensen.q_graph.chains.weights import read_weights
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.posterior.estimate import average
from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.runs.diagnostics import correlation_time
from jensen.runs.runner import number_streams, run
from jensen.scores.graph_priors import read_prior
from jensen.scores.make_scorer import make_scorer

THREE = structures.all_networks(3)
LABELS = {
    "a": ["0", "1", "0", "1", None, "1", "0", "0"],
    "b": ["0", "1", "0", "1", "1", "1", "1", "0"],
    "c": ["1", "0", "0", None, "1", "0", "1", "1"],
}
STATES = {name: ["0", "1"] for name in LABELS}

SMALL_P = 1e-3
"""The probability of a failure by chance; seeds are fixed."""


def chain_of(rows, kind, thin, n_samples, seed):
    """The rows that one chain gives."""
    rules, prior = read_constraints(rows.names), read_prior("uniform", rows.names).prior
    plan = ChainPlan(1, n_samples, 50, thin)
    rng = np.random.default_rng(seed)
    task = AugmentedTask(KINDS[kind], rows, prior, rules, plan, None, None, rng)
    (found,) = run(task, number_streams(rng, 1), name="", in_step=True).rows
    return task, found


@pytest.mark.parametrize(("by_typical", "kind"), [(False, "partition"), (True, "structure")])
def test_pairs_of_graph_and_completion_are_as_frequent_as_they_are_probable(
    by_typical, kind, monkeypatch
):
    """χ² over the 25 graphs times 4 completions; rare pairs are one cell."""
    if by_typical:
        use_typical_weights(monkeypatch)
    table = jn.Table(LABELS, states=STATES)
    logs, pairs = [], []
    for first, second in product("01", repeat=2):
        filled = {name: list(values) for name, values in LABELS.items()}
        filled["a"][4], filled["c"][3] = first, second
        totals = structures.scored(
            THREE, make_scorer(jn.Table(filled, states=STATES), "bdeu").family
        )
        pairs += [(graph, (float(first), float(second))) for graph in totals]
        logs += totals.values()
    p = dict(zip(pairs, np.exp(np.array(logs) - logsumexp(logs)), strict=True))
    task, rows = chain_of(read_rows(table), kind, 3, 1500, 5)
    assert task.is_typical == by_typical
    bits = rows[:, 2 : task.end].copy().view(np.uint64).astype(int)
    seen = {}
    # cells are numbered row by row: c of row 3 comes before a of row 4
    for graph, (second, first) in zip(bits, rows[:, task.end :], strict=True):
        parents = tuple(tuple(u for u in range(3) if up >> u & 1) for up in graph.tolist())
        key = parents, (first, second)
        seen[key] = seen.get(key, 0) + 1
    assert seen.keys() <= p.keys()
    often = [key for key in p if len(rows) * p[key] >= 8]
    counts = np.array([seen.get(key, 0) for key in often])
    wanted = np.array([len(rows) * p[key] for key in often])
    counts = np.append(counts, len(rows) - counts.sum())
    wanted = np.append(wanted, len(rows) - wanted.sum())
    statistic = float(np.sum((counts - wanted) ** 2 / wanted))
    assert chi2.sf(statistic, len(often)) > SMALL_P


def use_typical_weights(monkeypatch):
    """As with many variables: all but the first rounds of a chain are made by typical weights."""
    monkeypatch.setattr(augmented_chains, "ALL_UP_TO", 0)
    monkeypatch.setattr(augmented_chains, "EVERY", 10**9)


def test_typical_weights_that_are_far_off_change_no_probability(monkeypatch):
    """Moves by wrong weights are judged: only how often they are accepted depends on them."""
    use_typical_weights(monkeypatch)
    rows, rng = read_rows(jn.Table(LABELS, states=STATES)), np.random.default_rng(3)
    rules, prior = read_constraints(rows.names), read_prior("uniform", rows.names).prior
    plan = ChainPlan(1, 1500, 50, 5)
    task = AugmentedTask(KINDS["partition"], rows, prior, rules, plan, None, None, rng)
    wrong = [each + rng.normal(size=each.shape) for each in task.raw.inside]
    task.raw = task.raw._replace(inside=wrong)
    task.cold, _ = read_weights(task.raw)
    (found,) = run(task, number_streams(rng, 1), name="", in_step=True).rows
    samples = GraphSamples(
        rows.names,
        found[:, 2 : task.end].copy().view(np.uint64).reshape(1, -1, 3, 1),
        found[None, :, 0],
    )
    logs, edges = [], []
    for first, second in product("01", repeat=2):
        filled = {name: list(values) for name, values in LABELS.items()}
        filled["a"][4], filled["c"][3] = first, second
        exact = jn.structure_posterior(jn.Table(filled, states=STATES), "exact")
        logs.append(exact.log_evidence)
        edges.append(exact.edge_matrix)
    truth = np.average(edges, axis=0, weights=np.exp(np.array(logs) - max(logs)))
    for v in range(3):
        p, error, _ = average(samples, samples.parents_of(v))
        others = [u for u in range(3) if u != v]
        assert (np.abs(p - truth[:, v])[others] <= 4.0 * error[others]).all()


def test_typical_weights_of_a_graph_are_those_of_the_chain(monkeypatch):
    """Twenty variables, seven candidates: parents stand outside these too."""
    use_typical_weights(monkeypatch)
    monkeypatch.setattr(augmented_chains, "FIRST", 0)
    data = jn.examples.load("alarm").sample(60, random_state=0).to_pandas().iloc[:, :16]
    rows = read_rows(jn.Table(data.mask(np.random.default_rng(0).random(data.shape) < 0.1)))
    rules, prior = read_constraints(rows.names, 3), read_prior("fair", rows.names).prior
    rng = np.random.default_rng(1)
    plan = ChainPlan(1, 6, 0, 2)
    task = AugmentedTask(KINDS["partition"], rows, prior, rules, plan, 5, None, rng)
    state = task._at(rows.begin(rng), rng)
    for _ in range(4):
        before = state.missing
        state, row = task._round(state, rng)
        parents = [np.flatnonzero(column).tolist() for column in joined_of(state.graph).T]
        scorer = rows.scorer(before)
        whole = sum(scorer.family(v, up) + prior.of_family(v, up) for v, up in enumerate(parents))
        assert row[0] == pytest.approx(whole, rel=1e-12)
        DAG.from_parents(
            {rows.names[v]: [rows.names[u] for u in up] for v, up in enumerate(parents)}
        )
    assert 0 < state.judged[0] <= state.judged[1]


MIXED = {
    "a": ["0", "1", "0", "1", None, "1", "0", "0", "1", "0"],
    "b": ["0", "1", "0", "1", "1", "1", "1", "0", "0", "0"],
    "x": [0.1, 2.2, -0.4, 1.7, 1.1, None, 0.3, -0.9, 1.9, 0.8],
}


def test_labels_and_numbers_are_as_probable_as_quadrature_says():
    """A missing label and a missing number: all states times a grid."""
    table = jn.Table(MIXED, states={x: ["0", "1"] for x in "ab"})
    rows = read_rows(table)
    assert rows.width == 2
    cells = np.linspace(-12.0, 12.0, 241)
    logs, names = [], rows.names
    graphs = [g for g in THREE if 2 not in (*g[0], *g[1])]  # labels have no number above them
    for code, value in product((0.0, 1.0), cells):
        scorer = rows.scorer(np.array([code, value]))
        logs.append([*structures.scored(graphs, scorer.family).values()])
    log_p = logsumexp(logs, axis=0)
    p = np.exp(log_p - logsumexp(log_p))
    edges = np.zeros((3, 3))
    for graph, share in zip(graphs, p, strict=True):
        for child, parents in enumerate(graph):
            edges[list(parents), child] += share
    states = {x: ["0", "1"] for x in "ab"}
    data = jn.Table(MIXED, states=states)
    post = jn.structure_posterior(data, n_samples=300, thin=40, n_chains=2, random_state=1)
    assert post.names == names
    errors = np.maximum(post.edge_errors, 1e-3)
    assert (np.abs(post.edge_matrix - edges) <= 4.0 * errors).all()


def test_graphs_are_as_probable_as_quadrature_over_a_missing_number_says():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 3))
    x[:, 1] += 0.8 * x[:, 0]
    holes = x.copy()
    holes[3, 1] = np.nan
    rows = read_rows(jn.Table(dict(zip("abc", holes.T, strict=True))))
    prior = rows.data.prior
    grid = np.linspace(-8.0, 8.0, 161)
    logs = []
    for value in grid:
        full = holes.copy()
        full[3, 1] = value
        table = jn.Table(dict(zip("abc", full.T, strict=True)))
        scorer = make_scorer(table, "bge").with_joint_prior(prior)
        logs.append([*structures.scored(THREE, scorer.family).values()])
    log_p = logsumexp(logs, axis=0)
    p = np.exp(log_p - logsumexp(log_p))
    edges = np.zeros((3, 3))
    for graph, share in zip(THREE, p, strict=True):
        for child, parents in enumerate(graph):
            edges[list(parents), child] += share
    data = dict(zip("abc", holes.T, strict=True))
    post = jn.structure_posterior(data, n_samples=250, thin=40, n_chains=2, random_state=1)
    errors = np.maximum(post.edge_errors, 1e-3)
    assert (np.abs(post.edge_matrix - edges) <= 4.0 * errors).all()


@pytest.mark.parametrize("kind", ["partition", "structure"])
def test_published_rows_with_six_holes(kind):
    """The ten cases of Cooper and Herskovits, six cells of them missing: all 2^6 completions."""
    cases = ["100", "111", "001", "111", "000", "011", "111", "000", "111", "000"]
    cells = [list(case) for case in cases]
    for row, column in [(0, 1), (2, 0), (3, 2), (5, 1), (6, 0), (8, 2)]:
        cells[row][column] = None
    table = jn.Table({name: [case[k] for case in cells] for k, name in enumerate("abc")})
    exact = np.array(
        [
            [0.0, 0.470056, 0.191191],
            [0.469900, 0.0, 0.239153],
            [0.202653, 0.250771, 0.0],
        ]
    )
    thin = {"partition": 40, "structure": 202}[kind]
    post = jn.structure_posterior(table, kind, n_samples=300, n_chains=2, thin=thin, random_state=2)
    assert (np.abs(post.edge_matrix - exact) <= 4.0 * post.edge_errors + 1e-9).all()


def test_rows_that_were_set_tell_their_variable_nothing():
    """A cell that is missing beside a variable that was set: that variable is no evidence."""
    values = {"a": ["0", "1"] * 6, "b": ["0", "1"] * 5 + [None, "1"]}
    was_set = [None] * 10 + ["a", "a"]
    table = jn.Table(values, states={"a": ["0", "1"], "b": ["0", "1"]})
    rows = read_rows(table, interventions=was_set)
    assert rows.width == 1
    joined = np.array([[False, False], [True, False]])  # b -> a: where a was set, b is alone
    draws = [rows.draw(joined, np.zeros(1), np.random.default_rng(k))[0] for k in range(400)]
    # six of twelve completed values are 1; a, which is b elsewhere, would tell that it is 0
    assert abs(np.mean(draws) - 0.5) < 4.0 * np.sqrt(0.25 / 400)


def test_rounds_leave_the_joint_distribution_alone():
    """Geweke's test: rows are drawn given (G, θ), cells blanked, a round made, and so on."""
    rng, holes = np.random.default_rng(11), np.random.default_rng(1).random((6, 3)) < 0.3
    states = {x: ["0", "1"] for x in "abc"}

    def blanked(codes):
        labels = np.where(holes, None, codes.astype(int).astype(str).astype(object))
        return read_rows(jn.Table(dict(zip("abc", labels.T, strict=True)), states=states))

    rules, prior = read_constraints("abc"), read_prior("uniform", "abc").prior
    plan = ChainPlan(1, 1, 0, 1)
    rows = blanked(rng.integers(0, 2, holes.shape))
    task = AugmentedTask(KINDS["partition"], rows, prior, rules, plan, None, None, rng)
    state, found = task.begin(0, number_streams(rng, 1)[0]), []
    for _ in range(700):
        state, row = task._round(state, rng)
        found.append(joined_of(row[2 : task.end].copy().view(np.uint64).reshape(3, 1)))
        network = task.rows.network(found[-1], state.missing, rng)
        new = network.sample(len(holes), {}, {}, rng)
        codes = np.stack([new.column(x).data for x in "abc"], 1)
        task.rows = blanked(codes)
        state = state._replace(missing=codes[holes].astype(float))
    edges = np.array(found)[None][:, :, ~np.eye(3, dtype=bool)].astype(float)
    has = [[u in graph[v] for u, v in product(range(3), repeat=2) if u != v] for graph in THREE]
    p = np.mean(has, axis=0)
    size = edges.shape[1] / correlation_time(edges)
    assert np.abs((edges.mean((0, 1)) - p) / np.sqrt(p * (1 - p) / size)).max() < 4.0
