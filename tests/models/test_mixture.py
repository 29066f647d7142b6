"""Mixtures against their definition: F, statistics, evidence, fixed points, the sampler."""

from itertools import product

import numpy as np
import pytest
from models.mixture_cases import KINDS, assemble, layouts, make_case, n_columns
from naive import mixtures as naive
from naive.families import gradient
from scipy.integrate import quad, trapezoid
from scipy.stats import ks_2samp

from jensen import q_hidden
from jensen.data.number_rows import NumberRows
from jensen.families.point_mass import PointMass
from jensen.free_energy import (
    EM,
    GIBBS,
    ME,
    STOCHASTIC_EM,
    VBEM,
    VITERBI,
    State,
    Theta,
    fit,
    state_at,
    step,
)
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.mixture import Mixed, Mixture
from jensen.models.state_model import start_stats
from jensen.support.arguments import Streams
from jensen.support.fields import leaves, rebuild

every_kind = pytest.mark.parametrize("kind", KINDS)
every_size = pytest.mark.parametrize("K", [1, 2, 3])
ASCENTS = pytest.mark.parametrize("algorithm", [EM, VBEM, VITERBI, ME], ids=lambda a: a.name)


def assert_same(ours, theirs, rtol=1e-9):
    for a, b in zip(leaves(ours), leaves(theirs), strict=True):
        scale = np.abs(b).max() + 1.0
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale)


def compare(case, state, expected, found):
    assert state.free_energy == pytest.approx(expected, rel=1e-10, abs=1e-9)
    np.testing.assert_allclose(state.stats.weights, found.counts, rtol=1e-9, atol=1e-12)
    kinds = [layout.kind for layout in case.layouts]
    gathered = [
        naive.gathered(kind, found.counts, stats)
        for kind, stats in zip(kinds, found.stats, strict=True)
    ]
    assert_same(state.stats.components, case.stats(gathered))


@every_kind
@every_size
@pytest.mark.parametrize(("weights", "flat"), [(False, True), (True, False)])
@pytest.mark.parametrize("algorithm", [EM, VITERBI], ids=lambda a: a.name)
def test_f_of_a_point_is_the_log_joint(kind, K, weights, flat, algorithm):
    case = make_case(kind, K, weights=weights, flat=flat)
    theta, eta = case.point(np.random.default_rng(K))
    state = state_at(case.model, case.units, algorithm, eta)
    hard = algorithm is VITERBI
    expected, found = naive.log_joint(case.prior, theta, case.values, case.weight, hard=hard)
    compare(case, state, expected, found)


@every_kind
@every_size
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("algorithm", [VBEM, ME], ids=lambda a: a.name)
def test_f_of_a_posterior_is_the_bound_by_its_definition(kind, K, weights, algorithm):
    case = make_case(kind, K, weights=weights)
    q, eta = case.posterior(np.random.default_rng(K))
    state = state_at(case.model, case.units, algorithm, eta)
    hard = algorithm is ME
    expected, found = naive.lower_bound(case.prior, q, case.values, case.weight, hard=hard)
    compare(case, state, expected, found)


def test_a_missing_number_costs_what_quadrature_says():
    """Under VB exp(E[log p]) does not integrate to one; the twin is checked here, by quadrature."""
    case = make_case("full", 1, values=np.array([[0.3, np.nan]]))
    (_, parts), _ = case.posterior(np.random.default_rng(0))
    potential = naive.at_posterior("full", parts[0].theta)[0]

    def density(y):
        x = np.array([0.3, y])
        constant, mean, precision = potential
        return np.exp(constant - 0.5 * (x - mean) @ precision @ (x - mean))

    integral = quad(density, -30.0, 30.0, epsabs=1e-13, points=[0.0])[0]
    seen = naive.look("full", potential, case.values[0])
    assert seen.log == pytest.approx(np.log(integral), rel=1e-10)
    mean = quad(lambda y: y * density(y), -30.0, 30.0, epsabs=1e-13, points=[0.0])[0] / integral
    square = quad(lambda y: y * y * density(y), -30.0, 30.0, epsabs=1e-13, points=[0.0])[0]
    assert seen.stats[0][1] == pytest.approx(mean, rel=1e-9)
    assert seen.stats[1][1, 1] == pytest.approx(square / integral, rel=1e-9)


@every_kind
@ASCENTS
@pytest.mark.parametrize("seed", range(3))
def test_f_rises_in_every_sweep(kind, algorithm, seed):
    case = make_case(kind, 3, seed=seed, weights=seed == 1)
    start = case.start(algorithm, seed)
    found = fit(case.model, case.units, algorithm, start, tol=0.0, max_iter=12)
    assert np.all(np.diff(found.trace) >= -1e-11 * np.abs(found.trace[1:]))
    assert found.trace[-1] > found.trace[0]


@every_kind
@ASCENTS
def test_f_ends_where_its_gradient_is_zero(kind, algorithm):
    case = make_case(kind, 2, seed=1, weights=True, n=2 ** n_columns(kind) + 5)
    start = case.start(algorithm, 1)
    found = fit(case.model, case.units, algorithm, start, tol=1e-15, max_iter=1000)
    eta = found.state.eta
    flat = np.concatenate([np.ravel(x) for x in leaves(eta)])
    ends = np.cumsum([np.size(x) for x in leaves(eta)])

    def f(x):
        pieces = np.split(x, ends[:-1])
        parts = (a.reshape(np.shape(b)) for a, b in zip(pieces, leaves(eta), strict=True))
        return state_at(case.model, case.units, algorithm, rebuild(eta, parts)).free_energy

    np.testing.assert_allclose(gradient(f, flat), 0.0, atol=1e-5)


@every_kind
def test_maximum_likelihood_ends_where_its_gradient_is_zero(kind):
    """Two clusters, so that no component collapses and no probability ends at 0."""
    values = two_clusters(kind, 150)
    case, rng = make_case(kind, 2, flat=True, values=values), np.random.default_rng(0)
    begun = start_stats(
        case.model.emission, 2, NumberRows.of(values + case.shift, case.weight), True, rng
    )
    state = state_at(case.model, case.units, EM, Mixed(*begun))
    found = fit(case.model, case.units, EM, state, tol=1e-15, max_iter=3000)
    eta = found.state.eta
    for number, leaf in enumerate(leaves(eta)):

        def f(x, number=number):
            parts = list(leaves(eta))
            parts[number] = x
            return state_at(case.model, case.units, EM, rebuild(eta, iter(parts))).free_energy

        scale = np.abs(leaf).max()
        slope = gradient(f, np.array(leaf, float), step=1e-5 * scale)
        np.testing.assert_allclose(slope * scale, 0.0, atol=2e-3)


def two_clusters(kind, n):
    rng = np.random.default_rng(0)
    high = rng.random(n) < 0.4
    values = make_case(kind, 2, n=n, missing=False).values
    for kind_here, columns, n_labels, _ in layouts(kind, values.shape[1]):
        shape = (n, len(columns))
        if kind_here == "labels":
            below = rng.binomial(n_labels - 1, np.where(high, 0.65, 0.35)[:, None], shape)
            values[:, columns] = below
        elif kind_here == "counts":
            values[:, columns] = rng.poisson(np.where(high, 9.0, 2.0)[:, None], shape)
        else:
            values[:, columns] += np.where(high, 4.0, -4.0)[:, None]
    values[rng.random(values.shape) < 0.2] = np.nan
    return values


# The bound, and what it bounds.


def few_rows(kind, n, seed, *, missing):
    """Rows whose exact evidence is known; with full matrices only the last is seen in part."""
    rng = np.random.default_rng(seed)
    case = make_case(kind, 2, seed=seed, n=n, missing=False)
    values = case.values.copy()
    if missing:
        if kind in ("full", "tied"):
            values[1] = np.nan
            values[-1, : values.shape[1] // 2] = np.nan
        else:
            values[rng.random(values.shape) < 0.3] = np.nan
            values[0] = np.nan
    return values


@every_kind
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("K", "n"), [(1, 4), (2, 4), (3, 3)])
def test_f_never_exceeds_the_log_evidence(kind, missing, K, n):
    values = few_rows(kind, n, K, missing=missing)
    case = make_case(kind, K, values=values)
    exact = naive.log_evidence(case.prior, case.values)
    for algorithm, seed in product((VBEM, ME), range(2)):
        start = step(case.model, case.units, algorithm, case.start(algorithm, seed))
        found = fit(case.model, case.units, algorithm, start, tol=1e-12)
        assert np.all(found.trace <= exact + 1e-9)
        assert exact - found.trace[-1] < 25.0  # a bound, and one that says something


@pytest.mark.parametrize("kind", ["full", "tied"])
@pytest.mark.parametrize("K", [1, 2])
def test_f_never_exceeds_the_evidence_with_two_rows_in_part(kind, K):
    rng = np.random.default_rng(K)
    values = rng.normal(0.0, 1.5, (3, 2))
    values[1, 0], values[2, 1] = np.nan, np.nan
    case = make_case(kind, K, values=values)

    def filled(x):
        rows = values.copy()
        rows[1, 0] = x
        return np.exp(naive.log_evidence(case.prior, rows))

    u = np.linspace(-5.0, 5.0, 41)  # x = sinh u: fine near 0, and far out for the tails
    exact = np.log(trapezoid([filled(x) for x in np.sinh(u)] * np.cosh(u), u))
    for algorithm in (VBEM, ME):
        found = fit(case.model, case.units, algorithm, case.start(algorithm), tol=1e-12)
        assert exact - 8.0 < found.trace[-1] < exact


@every_kind
@pytest.mark.parametrize("algorithm", [VBEM, ME], ids=lambda a: a.name)
def test_one_state_and_nothing_missing_is_the_exact_evidence(kind, algorithm):
    case = make_case(kind, 1, n=6, missing=False)
    assert case.units.is_complete
    exact = naive.log_evidence(case.prior, case.values)
    begun = case.start(algorithm)
    state = step(case.model, case.units, algorithm, begun)
    assert state.free_energy == pytest.approx(exact, rel=1e-11)


@every_kind
def test_one_state_with_values_missing_is_below_the_evidence(kind):
    """q(x_m) q(θ) is not the exact posterior: the bound is strict, and it converges."""
    case = make_case(kind, 1, values=few_rows(kind, 5, 7, missing=True))
    assert not case.units.is_complete
    exact = naive.log_evidence(case.prior, case.values)
    found = fit(case.model, case.units, VBEM, case.start(VBEM), tol=1e-13)
    assert found.converged
    assert exact - 6.0 < found.trace[-1] < exact - 1e-4


# Weights, order, and states that are held.


@every_kind
@ASCENTS
def test_whole_weights_are_repeated_rows(kind, algorithm):
    case = make_case(kind, 2)
    times = np.random.default_rng(0).integers(0, 4, len(case.values))
    words = [part.theta for part in case.prior[1]]
    facts = (case.kind, 2, case.prior[0], words)
    weighted = assemble(*facts, case.values, times.astype(float), case.shift)
    repeated = np.repeat(case.values, times, axis=0)
    longer = assemble(*facts, repeated, np.ones(len(repeated)), case.shift)
    traces = [
        fit(c.model, c.units, algorithm, c.start(algorithm, 1), max_iter=15, tol=0.0).trace
        for c in (weighted, longer)
    ]
    np.testing.assert_allclose(*traces, rtol=1e-11)


@every_kind
def test_the_order_of_rows_and_of_states_changes_nothing(kind):
    case = make_case(kind, 3)
    _, eta = case.posterior(np.random.default_rng(1))
    here = state_at(case.model, case.units, VBEM, eta)
    order = np.random.default_rng(2).permutation(len(case.values))
    units = case.model.encode(NumberRows.of((case.values + case.shift)[order], case.weight[order]))
    there = state_at(case.model, units, VBEM, eta)
    assert there.free_energy == pytest.approx(here.free_energy, rel=1e-12)
    assert_same(there.stats, here.stats, rtol=1e-11)
    turned = np.array([2, 0, 1])
    words = [part.theta for part in case.prior[1]]
    alike = assemble(
        kind, 3, np.full(3, 1.5), _first_of_all(words), case.values, case.weight, case.shift
    )
    a = state_at(alike.model, alike.units, VBEM, eta)
    b = state_at(alike.model, alike.units, VBEM, alike.model.select(eta, turned))
    assert b.free_energy == pytest.approx(a.free_energy, rel=1e-12)
    assert_same(b.stats, alike.model.select(a.stats, turned), rtol=1e-11)


def _first_of_all(words):
    """A prior that says of every state what it says of the first; one matrix for all stays."""

    def same(x):
        x = np.asarray(x)
        return np.broadcast_to(x[:1], x.shape).copy() if x.ndim else x

    result = []
    for one in words:
        if isinstance(one, np.ndarray):
            result.append(same(one))
        elif len(one) == 4 and one[2].ndim == 0:  # tied
            result.append((same(one[0]), same(one[1]), one[2], one[3]))
        else:
            result.append(tuple(map(same, one)))
    return result


@every_kind
@pytest.mark.parametrize("name", ["weights", "components"])
@pytest.mark.parametrize("algorithm", [EM, VBEM], ids=lambda a: a.name)
def test_what_is_held_stays_and_costs_nothing(kind, name, algorithm):
    case = make_case(kind, 2)
    theta, start = case.point(np.random.default_rng(5))
    model = case.model.holding(start, (name,))
    assert isinstance(getattr(model.families, name), PointMass)
    eta = start if algorithm is EM else case.posterior(np.random.default_rng(1))[1]
    state = state_at(model, case.units, algorithm, eta)
    found = fit(model, case.units, algorithm, state, tol=1e-12, max_iter=20)
    held = model.held[name]
    for a, b in zip(leaves(getattr(found.state.t, name)), leaves(held), strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.all(np.diff(found.trace) >= -1e-10 * np.abs(found.trace[1:]))
    if algorithm is EM:  # F at the start: log p(x, θ) without a prior of what is held
        flat = (
            (None, case.prior[1])
            if name == "weights"
            else (
                case.prior[0],
                [part._replace(theta=None) for part in case.prior[1]],
            )
        )
        expected, _ = naive.log_joint(flat, theta, case.values, case.weight)
        assert found.trace[0] == pytest.approx(expected, rel=1e-10)


# The sampler.


def simulate_prior(case, rng):
    """θ from its prior, and rows from θ with the cells of the case missing."""
    model = case.model
    t = Mixed(*(f.sample_stats(e, rng) for f, e in zip(model.families, model.prior, strict=True)))
    share = np.exp(t.weights)
    states = rng.choice(case.K, len(case.values), p=share / share.sum())
    return t, states, model.emission.simulate(t.components, states, rng)


def complete_stats(case, t, states, values):
    """Statistics of h and x together, nothing missing."""
    rows = case.model.emission.encode(values)
    nodes = np.eye(case.K)[states].T.copy()
    observed = case.model.emission.observe(t.components, rows)
    return Mixed(nodes.sum(1), observed.stats(0, len(values), nodes))


def numbers(t, stats):
    return np.concatenate([np.ravel(x) for x in (*leaves(t), *leaves(stats))])


@pytest.mark.slow
@every_kind
def test_gibbs_leaves_the_joint_distribution_alone(kind):
    """Geweke (2004): θ from the prior, x from θ, then sweeps given what is seen of x.

    θ and the statistics of the completed rows must still have the distribution they had before,
    in each of their numbers; 120 independent repetitions, Kolmogorov and Smirnov's two-sample
    test at p = 1e-3 over all numbers together (Bonferroni).
    """
    K, n, repeats = 2, 10, 120
    case = make_case(kind, K, n=n, missing=False)
    rng = np.random.default_rng(11)
    missing = np.zeros(case.values.shape, bool)
    missing[:6], missing[6:8, ::2] = True, True  # what is drawn wrongly shows in θ soon
    forward, after = [], []
    for _ in range(repeats):
        t, states, values = simulate_prior(case, rng)
        forward.append(numbers(t, complete_stats(case, t, states, values)))
        t, states, values = simulate_prior(case, rng)
        units = case.model.encode(NumberRows.of(np.where(missing, np.nan, values)))
        drawn = q_hidden.draw(case.model.potentials(t)(units.items[0]), None, rng)
        stats, streams = case.model.expected_stats(units.items[0], drawn), Streams.of(rng)
        nothing = Mixed(None, None)
        state = State(Theta(nothing, t, nothing), stats, (), np.nan, False, 0)
        for _ in range(6):
            state = step(case.model, units, GIBBS, state, streams)
        after.append(numbers(state.t, state.stats))
    forward, after = np.array(forward).T, np.array(after).T
    p = [ks_2samp(a, b, method="asymp").pvalue for a, b in zip(forward, after, strict=True)]
    assert min(p) * len(p) > 1e-3


@every_kind
def test_drawn_states_follow_their_posterior(kind):
    """One row, many times: shares of drawn states against the definition (z below 4.5)."""
    case = make_case(kind, 3)
    theta, eta = case.point(np.random.default_rng(2))
    times = 4000
    for row in (case.values[0], case.values[1]):
        units = case.model.encode(NumberRows.of(np.tile(row + case.shift, (times, 1))))
        state = state_at(case.model, units, STOCHASTIC_EM, eta, Streams(4, ()))
        _, found = naive.log_joint(case.prior, theta, row[None], [1.0])
        p = found.nodes[0]
        z = (state.stats.weights - times * p) / np.sqrt(times * p * (1.0 - p) + 1e-9)
        assert np.abs(z).max() < 4.5


# Rows and units.


def test_rows_are_cut_into_units_and_segments_without_a_trace(monkeypatch):
    from jensen.data import blocks
    from jensen.models import mixture

    rng = np.random.default_rng(0)
    values = rng.normal(size=(700, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    case = make_case("full", 2, values=values)
    whole = state_at(case.model, case.units, VBEM, case.posterior(rng)[1])
    monkeypatch.setattr(mixture, "UNIT_ROWS", 150)
    monkeypatch.setattr(blocks, "ENTRIES", 200)
    units = case.model.encode(NumberRows.of(values + case.shift, case.weight))
    assert len(units) == 5
    cut = state_at(case.model, units, VBEM, whole.eta)
    assert cut.free_energy == pytest.approx(whole.free_energy, rel=1e-12)
    assert_same(cut.stats, whole.stats, rtol=1e-11)


def test_impossible_rows_have_no_states():
    from jensen.models.emissions.discrete import Discrete

    model = Mixture(Discrete(2, 1, 2, None), None, 2)
    units = model.encode(NumberRows.of(np.array([[0.0], [1.0]])))
    eta = Mixed(np.array([0.5, 0.5]), np.array([[[1.0, 0.0]], [[1.0, 0.0]]]))
    state = state_at(model, units, EM, eta)
    assert state.free_energy == -np.inf
    assert state.stats.weights.tolist() == [0.5, 0.5]


def test_data_far_from_zero_keep_their_digits():
    """With the shift at the data, a mean of 1e6 changes nothing but the last digits."""
    values = make_case("full", 2, n=30, missing=False).values
    near = make_case("full", 2, values=values)
    words = [part.theta for part in near.prior[1]]
    far = assemble("full", 2, near.prior[0], words, values, near.weight, np.full(3, 1e6))
    traces = [
        fit(c.model, c.units, VBEM, c.start(VBEM), max_iter=20, tol=0.0).trace for c in (near, far)
    ]
    np.testing.assert_allclose(*traces, rtol=1e-8)
    assert isinstance(far.model.emission, Gaussian)


@every_kind
def test_the_average_of_a_chain_is_that_of_what_it_kept(kind):
    """The natural parameters, prior included: not the statistics that are kept beside them."""
    case = make_case(kind, 2, n=20)
    states = [case.start(EM, seed) for seed in (0, 1, 2)]
    draws = np.array([case.model.keep(state, is_mode=True) for state in states])
    assert draws.shape == (3, case.model.kept_width)
    averages = leaves(case.model.average(draws))
    for found, *each in zip(averages, *(leaves(state.eta) for state in states), strict=True):
        np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-12, atol=1e-12)
