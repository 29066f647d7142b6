"""Every model simulates its own rows, and Gibbs sweeps leave their joint distribution alone.

Geweke (2004), "Getting it right: joint distribution tests of posterior simulators", JASA 99: θ is
drawn from the prior, then in turn rows from θ and a new θ by a sweep given the rows. What comes out
has the joint distribution of θ from the prior and rows from it. One table for all models: what is
new joins as a line of it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from models import emission_table
from scipy.stats import ks_2samp

import jensen as jn
from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows
from jensen.free_energy import GIBBS, State, Theta, expect, step
from jensen.graphs import wire
from jensen.models.discrete_network import DiscreteNetwork, Tables, encode
from jensen.models.dynamics_posterior import PriorDynamics
from jensen.models.emissions.priors import COVARIANCES
from jensen.models.emissions.registry import EMISSIONS
from jensen.models.factor_parameters import FactorPrior
from jensen.models.gaussian_network import RegressionNetwork, make_prior
from jensen.models.gaussian_network import encode as encode_numbers
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.linear_dynamics import SeriesShape
from jensen.models.mixed_network import (
    MixedParameters,
    MixedRegressionNetwork,
    prior_of_regressions,
)
from jensen.models.mixed_rows import encode as encode_mixed
from jensen.models.mixture import Mixture
from jensen.models.state_model import flatten
from jensen.q_hidden.gaussian_chain import SeriesRows
from jensen.q_hidden.known_chain import StateSpace, simulate
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.scores.gaussian import make_bge
from jensen.support.arguments import Streams
from jensen.support.fields import zip_fields

N, REPEATS, ROUNDS = 16, 120, 6
LENGTHS = [6, 1, 5, 4]


class Rows(NamedTuple):
    """Simulated rows as a table of numbers, and as units in which some cells are missing."""

    values: np.ndarray
    units: Units


class Case(NamedTuple):
    model: Any
    draw: Callable[[Any, np.random.Generator], Rows]  # at a t


def with_gaps(values):
    """A row misses all, two others their first column."""
    values = np.array(values, float)
    values[:1], values[1:3, 0] = np.nan, np.nan
    return values


def network():
    """A hidden cause of three variables, of which one has another parent besides."""
    graph = jn.DAG("h -> a; h -> b; a -> c; h -> c")
    states = {"a": "xy", "b": "xyz", "c": "xy", "h": "xy"}
    variables = tuple(jn.Variable(x, "categorical", tuple(states[x])) for x in graph.nodes)
    wiring = wire(graph.parent_indices, [v.n_states for v in variables])
    eta = np.resize([0.0, 8.0, 3.0, 0.0, 1.0], int(wiring.fam_at[-1]))
    model = DiscreteNetwork(wiring, Tables(eta), graph, variables, hidden=(3,))

    def draw(t, rng):
        table = model.simulate(t, N, rng)
        assert table.names == ("a", "b", "c")
        values = np.column_stack([table.column(x).data for x in table.names])
        codes = with_gaps(values)
        columns = [
            table.column(x)._replace(
                data=np.where(np.isnan(codes[:, v]), variables[v].n_states, values[:, v])
            )
            for v, x in enumerate(table.names)
        ]
        holes = jn.Table.from_columns(columns)
        return Rows(values, encode(holes, graph.nodes, wiring).units)

    return Case(model, draw)


def mixed():
    """A hidden label and one that is seen above two dependent numbers and a count."""
    graph = jn.DAG("h -> x; h -> y; a -> y; x -> y; h -> a; h -> n; a -> n")
    kinds = {"a": ("p", "q"), "h": ("0", "1")}
    variables = tuple(
        jn.Variable(x, "categorical", kinds[x])
        if x in kinds
        else jn.Variable(x, "count" if x == "n" else "continuous")
        for x in graph.nodes
    )
    layout = MixedLayout.of(graph.parent_indices, variables)
    shift = np.array([0.0, 10.0, -1.0])
    bge = make_bge(["x", "y"], shift[1:] + 1.0, np.array([1.0, 4.0]), None, 3.0, 9.0, None)
    tables = np.resize([0.0, 8.0, 3.0, 0.0, 1.0], int(layout.wiring.fam_at[-1]))
    prior = MixedParameters(tables, prior_of_regressions(layout, bge, shift, np.full(3, 4.0)))
    model = MixedRegressionNetwork(layout, prior, graph, variables, shift, hidden=(1,))

    def draw(t, rng):
        table = model.simulate(t, N, rng)
        assert table.names == ("a", "n", "x", "y")
        values = np.column_stack([table.column(name).data for name in table.names]).astype(float)
        holes = with_gaps(values)
        holes[3:5, 2], holes[5, 1:] = np.nan, np.nan
        holes[:, 0] = np.where(np.isnan(holes[:, 0]), 2, holes[:, 0])  # the code of missing labels
        columns = [
            table.column(name)._replace(data=holes[:, v].astype(table.column(name).data.dtype))
            for v, name in enumerate(table.names)
        ]
        counted, units = encode_mixed(jn.Table.from_columns(columns), layout, graph.nodes, shift)
        return Rows(values, Units((counted, *units), float(N), is_complete=False))

    return Case(model, draw)


def mixture(word, covariance):
    emission = emission_table.emission_like(word, covariance, emission_table.rows_of(word))
    model = Mixture(emission, np.array([0.0, 4.0]), 2)

    def draw(t, rng):
        values, states = model.simulate(t, N, rng)
        assert states.shape == (N,)
        return Rows(values, model.encode(NumberRows.of(with_gaps(values))))

    return Case(model, draw)


def chain(word, covariance, end=False):
    emission = emission_table.emission_like(word, covariance, emission_table.rows_of(word))
    prior = np.array([[0.0, 9.0, 0.0], [9.0, 0.0, 2.0]])[:, : 2 + end]
    model = HiddenMarkov(emission, np.array([9.0, 0.0]), prior, 2, has_end=end)

    def draw(t, rng):
        parts = [model.simulate(t, None if end else n, rng) for n in LENGTHS]
        lengths = np.array([len(states) for _, states in parts])
        assert end or lengths.tolist() == LENGTHS
        values = np.concatenate([values for values, _ in parts])
        rows = NumberRows.of(with_gaps(values))
        return Rows(values, model.encode(rows, lengths, np.ones(len(parts))))

    return Case(model, draw)


def dynamics(held=False):
    """A hidden number behind two outputs and an input; with some parameters held."""
    K, D, U, nan = 1, 2, 1, np.nan
    fixed = StateSpace(
        np.full((K, K), nan), np.full((K, U), nan), np.eye(K), np.full((D, K), nan),
        np.full((D, U), nan), np.full(D, nan), np.diag([nan, nan]), np.ones(K), np.eye(K),
        np.zeros(K),
    )  # fmt: skip
    if held:
        loadings, noise = np.array([[1.0], [nan]]), np.diag([0.5, nan])
        process = np.array([[nan]])
        fixed = fixed._replace(
            loadings=loadings, noise_covariance=noise, process_covariance=process
        )
    words = FactorPrior(1.0, 4.0, 3.0, 4.0, 3.0)
    model = PriorDynamics(SeriesShape(fixed, shift=np.zeros(D), scale=np.full(D, 2.0)), words)
    lengths, inputs = np.array(LENGTHS), np.random.default_rng(0).normal(size=(N, U))
    ptr = np.append(0, np.cumsum(lengths)).astype(np.int64)

    def draw(t, rng):
        empty = SeriesRows.of(np.zeros((N, D)), inputs, ptr, np.ones(len(lengths)))
        values = simulate(model.state_space(t), empty, rng)[1]
        rows = NumberRows.of(np.column_stack([with_gaps(values), inputs]))
        return Rows(values, model.shape.encode(rows, lengths, np.ones(len(lengths))))

    return Case(model, draw)


def regressions():
    """Three numbers, each below those before it."""
    graph, shift = jn.DAG("a -> b; a -> c; b -> c"), np.array([10.0, -1.0, 0.0])
    bge = make_bge(graph.nodes, shift + 1.0, np.array([1.0, 4.0, 2.0]), None, 3.0, 9.0, None)
    prior = make_prior(bge, graph.parent_indices, shift)
    model = RegressionNetwork(graph.nodes, graph.parent_indices, prior, graph, shift)

    def draw(t, rng):
        values = model.simulate(t, N, rng)
        holes = with_gaps(values)
        holes[3:12, 1], holes[6:9, 2], holes[9:12, 0] = np.nan, np.nan, np.nan
        return Rows(values, encode_numbers(NumberRows.of(holes), shift))

    return Case(model, draw)


CASES = {
    "network": network,
    "regressions": regressions,
    "mixed": mixed,
    **{
        f"{make.__name__} {word} {kind}": lambda make=make, word=word, kind=kind: make(word, kind)
        for make in (mixture, chain)
        for word, kind in emission_table.CASES
    },
    "dynamics": dynamics,
    "dynamics, held in part": lambda: dynamics(held=True),
    "chain with ends": lambda: chain("bernoulli", "full", end=True),
}


def test_the_table_has_every_emission():
    assert {word for word, _ in emission_table.CASES} == {*EMISSIONS}
    assert {kind for word, kind in emission_table.CASES if word == "gaussian"} == {*COVARIANCES}


def draw_theta(model, rng):
    """One θ from the prior, as its t; strengths first, where others depend on them."""

    def sample(family, eta):
        return family.sample_stats(eta, rng)

    t = zip_fields(sample, model.families, model.prior)
    if model.has_own_priors:
        return t
    given = zip_fields(sample, model.families, model.prior_given(t)[0])
    return given._replace(relevance=t.relevance, influence=t.influence)


def functions(t, values):
    """Numbers of θ, and each of them times what the rows are on the average."""
    own = np.nan_to_num(flatten(t), neginf=-50.0)
    return np.concatenate([own, np.outer(values.mean(0), own).ravel()])


def swept(case, rng):
    """θ and rows after some rounds, in each of which rows are simulated and θ is drawn again."""
    model, streams = case.model, Streams.of(rng)
    t, nothing = draw_theta(model, rng), zip_fields(lambda _: None, model.families)
    for k in range(ROUNDS):
        values, units = case.draw(t, rng)
        sums, _ = expect(model, units, q_hidden.draw, t, streams.at(2 * k))
        state = State(Theta(nothing, t, nothing), sums.stats, (), np.nan, False, 2 * k)
        t = step(model, units, GIBBS, state, streams).t
    return functions(t, values)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_sweeps_leave_the_joint_distribution_of_simulated_rows_alone(name):
    """Kolmogorov and Smirnov's test of each number, p = 1e-3 over all together (Bonferroni)."""
    case, rng = CASES[name](), np.random.default_rng(7)
    forward, after = [], []
    for _ in range(REPEATS):
        t = draw_theta(case.model, rng)
        forward.append(functions(t, case.draw(t, rng).values))
        after.append(swept(case, rng))
    pairs = zip(np.transpose(forward), np.transpose(after), strict=True)
    p = [ks_2samp(a, b, method="asymp").pvalue for a, b in pairs]
    assert min(p) * len(p) > 1e-3


def test_regressions_simulate_what_their_definition_says():
    """Residuals on the parents are white: z of their means, variances and products below 4.5."""
    graph, rng, n = jn.DAG("a -> b; b -> d; c -> d"), np.random.default_rng(5), 20_000
    shift = np.array([100.0, -3.0, 0.0, 1e3])
    bge = make_bge(graph.nodes, shift, np.array([1.0, 4.0, 0.5, 9.0]), 0.5, 2.0, 8.0, None)
    prior = make_prior(bge, graph.parent_indices, shift)
    model = RegressionNetwork(graph.nodes, graph.parent_indices, prior, graph, shift)
    t = draw_theta(model, rng)
    values = model.simulate(t, n, rng) - shift
    white = []
    for v, (part, places) in enumerate(zip(t.regressions, model.places, strict=True)):
        precision = -2.0 * part.second[0]
        mean = np.column_stack([np.ones(n), values])[:, places] @ (part.first[0] / precision)
        white.append((values[:, v] - mean) * np.sqrt(precision))
    white = np.array(white)
    products = white @ white.T / n - np.eye(4)
    assert np.abs(white.mean(1)).max() * np.sqrt(n) < 4.5
    assert np.abs(products).max() * np.sqrt(n / 2.0) < 4.5
    parents = np.corrcoef(values[:, [1, 2]].T, white[3])[2, :2]  # not in what is left of d
    assert np.abs(parents).max() * np.sqrt(n) < 4.5
