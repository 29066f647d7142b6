"""F against its definition: log p(x, θ) or a bound of the log evidence, by enumeration."""

import json
from typing import Any, NamedTuple

import numpy as np
import pytest
from models import cases
from naive import families as naive_families
from naive import free_energy as naive
from naive import learning
from naive import networks as naive_networks
from scipy.special import softmax

import jensen as jn
from jensen import q_hidden, q_theta
from jensen.estimators.network_choices import make_prior
from jensen.exceptions import ImpossibleError
from jensen.free_energy import (
    ALGORITHMS,
    COMMON,
    EM,
    GIBBS,
    LOOPY,
    LOOPY_EM,
    ME,
    MEAN_FIELD,
    STOCHASTIC_EM,
    VARIATIONAL_EM,
    VBEM,
    VITERBI,
    Algorithm,
    chain,
    check_usable,
    fit,
    state_at,
    step,
)
from jensen.graphs import wire
from jensen.models.discrete_network import DiscreteNetwork, Tables, complete_counts, encode
from jensen.q_hidden.trees import problems
from jensen.support.arguments import Streams
from jensen.support.fields import add, pack, unpack

GRAPHS = ["a; b; c", "a -> b -> c", "a -> c <- b", "c -> a; c -> b -> a"]
every_graph = pytest.mark.parametrize("graph", GRAPHS)


class Learned(NamedTuple):
    state: Any
    model: Any
    stats: np.ndarray

    def rows(self, values):
        """One array per row of every table."""
        return np.split(values, np.cumsum(self.model.families.tables.lengths)[:-1])


def make_table(n=25, seed=0):
    """The last state of "c" never occurs; nor does every parent configuration."""
    rng = np.random.default_rng(seed)
    columns = {"a": rng.integers(0, 2, n), "b": rng.integers(0, 3, n), "c": rng.integers(0, 3, n)}
    return jn.Table(columns, states={"a": range(2), "b": range(3), "c": range(4)})


def learn(graph, table, prior, algorithm, size=1.0):
    dag = jn.DAG(graph)
    wiring = wire(dag.parent_indices, [table.variable(x).n_states for x in dag.nodes])
    counts = complete_counts(table, dag.nodes, wiring)
    model = DiscreteNetwork(wiring, make_prior(prior, size, dag.nodes, wiring, counts))
    check_usable(model, algorithm)
    units = encode(table, dag.nodes, wiring).units
    begun = state_at(model, units, algorithm, add(model.prior, Tables(counts)))
    found = fit(model, units, algorithm, begun)
    assert found.converged
    assert found.trace.tolist() == [begun.free_energy]
    return Learned(found.state, model, counts)


@every_graph
def test_em_without_a_prior_is_the_log_likelihood(graph):
    table, dag = make_table(), jn.DAG(graph)
    learned = learn(graph, table, None, EM)
    cards = [2, 3, 4]
    frequencies = learned.model.families.tables.mode(learned.state.eta.tables)
    tables = naive_networks.as_dictionaries(frequencies, dag.parent_indices, cards)
    rows = zip(*(table.column(x).data.tolist() for x in "abc"), strict=True)
    expected = sum(naive_networks.log_probability(tables, dag.parent_indices, r) for r in rows)
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(jn.score(dag, table, "loglik"), rel=1e-12)


@every_graph
@pytest.mark.parametrize(("prior", "size"), [(1.5, 1.0), (40.0, 1.0), ("bdeu", 200.0)])
def test_em_with_a_prior_is_the_log_joint_at_the_mode(graph, prior, size):
    learned = learn(graph, make_table(), prior, EM, size)
    alpha = learned.rows(learned.model.prior.tables + 1.0)
    counts = learned.rows(learned.stats)
    modes = [(n + a - 1.0) / sum(n + a - 1.0) for n, a in zip(counts, alpha, strict=True)]
    expected = sum(map(naive.log_joint, counts, modes, alpha))
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-12)


@every_graph
def test_em_stands_where_the_gradient_is_zero(graph):
    """θ as softmax of free numbers; the prior above 1 keeps the optimum inside."""
    learned = learn(graph, make_table(), 1.5, EM)
    counts = learned.rows(learned.stats)
    best = np.log(learned.model.families.tables.mode(learned.state.eta.tables))

    def log_joint(x):
        pi = map(softmax, learned.rows(x))
        return sum(naive.log_joint(n, p, [1.5] * len(n)) for n, p in zip(counts, pi, strict=True))

    assert log_joint(best) == pytest.approx(learned.state.free_energy, rel=1e-12)
    np.testing.assert_allclose(naive_families.gradient(log_joint, best), 0.0, atol=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert log_joint(best + rng.normal(0.0, 0.1, best.shape)) < learned.state.free_energy


@every_graph
@pytest.mark.parametrize(
    ("prior", "size"),
    [("k2", 1.0), ("bdeu", 1.0), ("bdeu", 1e-3), ("bdeu", 30.0), ("bds", 1.0), ("bds", 5.0)],
)
def test_vbem_is_the_exact_evidence(graph, prior, size):
    table = make_table()
    learned = learn(graph, table, prior, VBEM, size)
    choices = {} if prior == "k2" else {"equivalent_sample_size": size}
    expected = jn.score(graph, table, prior, **choices)
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("size", [1e-7, 1e10])
def test_the_evidence_at_the_ends_of_what_natural_parameters_hold(size):
    table = make_table()
    learned = learn("a -> b -> c", table, "bdeu", VBEM, size)
    expected = jn.score("a -> b -> c", table, "bdeu", equivalent_sample_size=size)
    assert learned.state.free_energy == pytest.approx(expected, abs=1e-3)


@every_graph
@pytest.mark.parametrize("prior", [0.2, 1.0, 3.0])
def test_vbem_under_one_concentration_is_the_sequential_prediction(graph, prior):
    learned = learn(graph, make_table(), prior, VBEM)
    expected = sum(
        naive_families.log_polya_urn([prior] * len(n), np.repeat(np.arange(len(n)), n.astype(int)))
        for n in learned.rows(learned.stats)
    )
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-12)


@every_graph
def test_vbem_stands_where_the_gradient_is_zero(graph):
    learned = learn(graph, make_table(), 0.7, VBEM)
    counts, alpha = learned.rows(learned.stats), learned.rows(learned.model.prior.tables + 1.0)

    def bound(q):
        return sum(map(naive.bound, counts, alpha, learned.rows(q)))

    best = learned.state.eta.tables + 1.0
    assert bound(best) == pytest.approx(learned.state.free_energy, rel=1e-12)
    np.testing.assert_allclose(naive_families.gradient(bound, best), 0.0, atol=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert bound(best * rng.uniform(0.8, 1.25, best.shape)) < learned.state.free_energy


def test_the_start_is_the_answer_in_natural_parameters():
    learned = learn("a -> b -> c", make_table(), "bdeu", VBEM, 4.0)
    expected = learned.model.prior.tables + learned.stats
    np.testing.assert_allclose(learned.state.eta.tables, expected, rtol=1e-15)
    flat = learn("a -> b -> c", make_table(), None, EM)
    assert flat.model.prior.tables is None
    assert np.array_equal(flat.state.eta.tables, flat.stats)


@pytest.mark.parametrize("weight", [1e-300, 1e-310, 1e300])
def test_extreme_weights(weight):
    table = make_table().with_weights(np.full(25, weight))
    found = learn("a -> b -> c", table, None, EM).state.free_energy
    expected = weight * learn("a -> b -> c", make_table(), None, EM).state.free_energy
    assert found == pytest.approx(expected, rel=1e-9 if weight < 1e-305 else 1e-12, abs=0.0)


def test_a_single_row_of_constants():
    table = jn.Table({"a": ["x"], "b": ["y"]})
    assert learn("a -> b", table, None, EM).state.free_energy == 0.0
    assert learn("a -> b", table, "k2", VBEM).state.free_energy == 0.0


def test_an_empty_graph_has_nothing_to_learn():
    assert learn("", make_table(), None, EM).state.free_energy == 0.0
    assert learn("", make_table(), "bds", VBEM).state.free_energy == 0.0


def test_the_algorithms_by_name():
    assert ALGORITHMS == {
        "em": EM,
        "vbem": VBEM,
        "viterbi": VITERBI,
        "me": ME,
        "stochastic-em": STOCHASTIC_EM,
        "gibbs": GIBBS,
        "variational-em": VARIATIONAL_EM,
        "mean-field": MEAN_FIELD,
        "loopy-em": LOOPY_EM,
        "loopy": LOOPY,
    }
    ascents = ["em", "vbem", "viterbi", "me", "variational-em", "mean-field"]
    assert [a.name for a in ALGORITHMS.values() if a.never_falls] == ascents
    assert [a.name for a in ALGORITHMS.values() if a.ascends] == [*ascents, "loopy-em", "loopy"]
    assert [a.name for a in ALGORITHMS.values() if a.keeps_posterior] == [
        "vbem",
        "me",
        "mean-field",
        "loopy",
    ]
    assert [a.name for a in ALGORITHMS.values() if a.is_bound] == ["vbem", "me", "mean-field"]
    assert [a.name for a in ALGORITHMS.values() if a.seeks_mode] == [
        "em",
        "viterbi",
        "stochastic-em",
        "variational-em",
        "loopy-em",
    ]


@every_graph
@pytest.mark.parametrize("algorithm", [VITERBI, ME], ids=["viterbi", "me"])
def test_complete_data_are_the_same_to_the_hard_algorithms(graph, algorithm):
    soft = EM if algorithm is VITERBI else VBEM
    one, other = (learn(graph, make_table(), 1.5, a) for a in (soft, algorithm))
    assert np.array_equal(one.state.eta.tables, other.state.eta.tables)
    assert one.state.free_energy == other.state.free_energy


# --- missing values: F by enumeration ---

FLAT = [(EM, None), (VITERBI, None), (STOCHASTIC_EM, None)]
WITH_PRIOR = [(ALGORITHMS[name], 1.5) for name in COMMON]
ASCENTS = [(EM, None), (EM, 1.5), (VITERBI, None), (VITERBI, 1.5), (VBEM, 0.7), (ME, 0.7)]


def name_of(value):
    return value.name if isinstance(value, Algorithm) else None


every_ascent = pytest.mark.parametrize(("algorithm", "prior"), ASCENTS, ids=name_of)
all_algorithms = pytest.mark.parametrize(("algorithm", "prior"), FLAT + WITH_PRIOR, ids=name_of)


def alphas(case, prior):
    """The concentrations of all cells, or None for the flat prior."""
    return None if prior is None else [np.full(t.shape, prior) for t in case.split(sizes(case))]


def sizes(case):
    return np.zeros(int(case.wiring.fam_at[-1]))


def free_energy(case, algorithm, prior, state):
    """F at a state by its definition, and the statistics that q(h) has there."""
    rule = learning.mode if algorithm.q_hidden is q_hidden.mode else learning.exact
    logs = case.split(state.t.tables)
    value, counts = rule(*case.facts, logs, case.rows, case.row_weights)
    if algorithm.q_theta is q_theta.posterior:
        q = case.split(state.eta.tables + 1.0)
        for t, mean in zip(logs, learning.mean_logs(q), strict=True):
            np.testing.assert_allclose(t, mean, rtol=1e-12, atol=1e-12)
        return value + learning.theta_terms(q, alphas(case, prior)), counts
    tables = [np.exp(t) for t in logs]
    if algorithm is EM:
        joint = learning.log_likelihood(*case.facts, tables, case.rows, case.row_weights)
        np.testing.assert_allclose(value, joint, rtol=1e-11, atol=1e-12)
    return value + learning.log_density(tables, alphas(case, prior)), counts


@pytest.mark.parametrize(
    ("algorithm", "prior", "weights"),
    [
        (algorithm, prior, weights)
        for algorithm, prior in FLAT + WITH_PRIOR
        for weights in (None, "whole", "parts")
        if algorithm.ascends or weights != "parts"  # a row is drawn as often as it weighs
    ],
    ids=name_of,
)
def test_f_and_statistics_at_the_start_and_after_every_sweep(algorithm, prior, weights):
    """Of a chain F is log p(x, h, θ) at what was drawn."""
    for seed in range(8):
        case, rng = cases.random_case(seed, weights=weights), Streams(seed, ())
        rng = None if algorithm.ascends else rng
        model, units = case.model(prior), case.encoded().units
        state = cases.start(case, model, units, algorithm, seed, rng)
        for _ in range(3):
            if algorithm.ascends:
                expected, counts = free_energy(case, algorithm, prior, state)
            else:
                counts, t = case.split(state.stats.tables), state.t.tables
                seen = state.stats.tables > 0
                expected = state.stats.tables[seen] @ t[seen]
                tables = [np.exp(part) for part in case.split(t)]
                expected += learning.log_density(tables, alphas(case, prior))
            np.testing.assert_allclose(state.free_energy, expected, rtol=1e-11, atol=1e-11)
            for part, n in zip(case.split(state.stats.tables), counts, strict=True):
                np.testing.assert_allclose(part, n, rtol=1e-10, atol=1e-12)
            before, state = state, step(model, units, algorithm, state, rng)
            eta = before.stats.tables + (0.0 if prior is None else prior - 1.0)
            np.testing.assert_allclose(state.eta.tables, eta, rtol=1e-14, atol=1e-15)


@every_ascent
def test_the_trace_is_f_at_every_sweep(algorithm, prior):
    case = cases.random_case(11)
    model, units = case.model(prior), case.encoded().units
    state = cases.start(case, model, units, algorithm)
    found = fit(model, units, algorithm, state, max_iter=6, tol=0.0)
    expected = [state.free_energy]
    for _ in range(len(found.trace) - 1):
        state = step(model, units, algorithm, state)
        expected.append(state.free_energy)
    assert found.trace.tolist() == expected
    assert np.array_equal(found.state.eta.tables, state.eta.tables)
    assert found.state.free_energy == found.trace[-1]


def test_the_likelihood_never_falls():
    """EM on 200 networks with values missing anywhere, also where tables have zeros."""
    for seed in range(200):
        case = cases.random_case(seed, weights=[None, "whole", "parts"][seed % 3])
        model, units = case.model(None), case.encoded().units
        found = fit(model, units, EM, cases.start(case, model, units, EM, seed), max_iter=12)
        scale = abs(found.trace[-1]) + units.total_weight
        assert np.diff(found.trace).min(initial=0.0) >= -1e-13 * scale
        assert found.trace[-1] <= 1e-12


@every_ascent
def test_f_never_falls(algorithm, prior):
    for seed in range(25):
        case = cases.random_case(seed, weights=[None, "whole", "parts"][seed % 3])
        model, units = case.model(prior), case.encoded().units
        begun = cases.start(case, model, units, algorithm, seed)
        trace = fit(model, units, algorithm, begun, max_iter=12).trace
        scale = abs(trace[-1]) + units.total_weight
        assert np.diff(trace).min(initial=0.0) >= -1e-13 * scale


@pytest.mark.parametrize("algorithm", [VBEM, ME], ids=name_of)
@pytest.mark.parametrize("prior", [0.5, 1.0, 3.0])
def test_the_bound_is_below_the_exact_evidence(algorithm, prior):
    gaps = []
    for seed in range(6):
        case = cases.random_case(seed, n=3, n_rows=5, most_missing=1, states=(2, 2))
        model, units = case.model(prior), case.encoded().units
        found = fit(model, units, algorithm, cases.start(case, model, units, algorithm, seed))
        exact = learning.log_evidence(*case.facts, alphas(case, prior), case.rows)
        assert found.trace[-1] <= exact + 1e-10
        gaps.append(exact - found.trace[-1])
    assert max(gaps) > 0.05  # the bound is not the evidence
    assert algorithm is ME or min(gaps) < 1.0


@pytest.mark.parametrize("prior", [0.5, 1.0, 3.0])
def test_me_ends_at_the_evidence_of_its_completed_rows(prior):
    for seed in range(10):
        case = cases.random_case(seed)
        model, units = case.model(prior), case.encoded().units
        found = fit(model, units, ME, cases.start(case, model, units, ME, seed))
        completed = case.split(found.state.stats.tables)
        expected = learning.log_evidence_of(completed, alphas(case, prior))
        np.testing.assert_allclose(found.trace[-1], expected, rtol=1e-11, atol=1e-11)


def test_the_bound_of_complete_rows_is_the_evidence_by_enumeration():
    for seed in range(5):
        case = cases.random_case(seed, n=3, n_rows=6)
        case = case._replace(rows=np.maximum(case.rows, 0), hidden=())
        model, units = case.model(0.8), case.encoded().units
        begun = cases.start(case, model, units, VBEM)
        state = step(model, units, VBEM, begun)
        exact = learning.log_evidence(*case.facts, alphas(case, 0.8), case.rows)
        np.testing.assert_allclose(state.free_energy, exact, rtol=1e-12)


def interior(seed, algorithm, prior):
    """A case with a fixed point that the algorithm reached."""
    case = cases.random_case(seed, n=3, weights="parts")
    model, units = case.model(prior), case.encoded().units
    begun = cases.start(case, model, units, algorithm, seed)
    found = fit(model, units, algorithm, begun, max_iter=20_000, tol=1e-17)
    return case, found.state


@pytest.mark.parametrize("seed", range(6))
def test_em_ends_where_the_gradient_is_zero(seed):
    """θ as softmax of free numbers; log p(x, θ) by enumeration."""
    case, state = interior(seed, EM, 1.5)

    def log_joint(x):
        tables = [softmax(t, axis=-1) for t in case.split(x)]
        value = learning.log_likelihood(*case.facts, tables, case.rows, case.row_weights)
        return value + learning.log_density(tables, alphas(case, 1.5))

    np.testing.assert_allclose(log_joint(state.t.tables), state.free_energy, rtol=1e-11)
    gradient = naive_families.gradient(log_joint, state.t.tables)
    np.testing.assert_allclose(gradient, 0.0, atol=2e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("prior", [1.5, 0.7])
def test_vbem_ends_where_the_gradient_is_zero(seed, prior):
    """F in the concentrations of q(θ), q(h) the best for each of them."""
    case, state = interior(seed, VBEM, prior)

    def bound(flat):
        q = case.split(flat)
        return learning.bound(*case.facts, q, alphas(case, prior), case.rows, case.row_weights)

    best = state.eta.tables + 1.0
    np.testing.assert_allclose(bound(best), state.free_energy, rtol=1e-11)
    np.testing.assert_allclose(naive_families.gradient(bound, best), 0.0, atol=2e-6)


@pytest.mark.parametrize("algorithm", [EM, VBEM, VITERBI, ME], ids=name_of)
def test_a_fixed_point_is_a_fixed_point(algorithm):
    case = cases.random_case(4)
    model, units = case.model(1.5), case.encoded().units
    begun = cases.start(case, model, units, algorithm)
    state = fit(model, units, algorithm, begun, max_iter=20_000, tol=1e-17).state
    again = step(model, units, algorithm, state)
    np.testing.assert_allclose(again.eta.tables, state.eta.tables, rtol=1e-6)


@every_ascent
def test_units_are_cut_by_size_and_change_nothing(algorithm, prior, monkeypatch):
    case = cases.random_case(2, n=4, n_rows=12)
    model = case.model(prior)
    whole = case.encoded().units
    monkeypatch.setattr(problems, "UNIT_COST", 1)
    cut = case.encoded().units
    assert len(cut) > 4 > len(whole)
    found = [
        fit(model, units, algorithm, cases.start(case, model, units, algorithm), max_iter=9)
        for units in (whole, cut)
    ]
    np.testing.assert_allclose(found[0].trace, found[1].trace, rtol=1e-12)


# --- how a run ends ---


def small():
    """A case that needs some sweeps, its model and its units."""
    case = cases.random_case(11)
    return case, case.model(None), case.encoded().units


def test_convergence_is_a_small_rise_relative_to_f_and_weight():
    case, model, units = small()
    begun = cases.start(case, model, units, EM)
    found = fit(model, units, EM, begun, tol=1e-4)
    assert found.converged
    rises = np.diff(found.trace)
    limits = 1e-4 * (np.abs(found.trace[1:]) + units.total_weight)
    assert (rises < limits).tolist() == [False] * (len(rises) - 1) + [True]
    assert len(rises) > 1


@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_the_limit_is_no_convergence(max_iter):
    case, model, units = small()
    begun = cases.start(case, model, units, EM)
    found = fit(model, units, EM, begun, max_iter=max_iter, tol=0.0)
    assert not found.converged
    assert len(found.trace) == max_iter + 1


def test_a_run_goes_on_from_its_trace():
    case, model, units = small()
    whole = fit(model, units, EM, cases.start(case, model, units, EM), max_iter=9, tol=0.0)
    half = fit(model, units, EM, cases.start(case, model, units, EM), max_iter=4, tol=0.0)
    arrays = []
    packed = json.loads(json.dumps(pack(half.state, arrays)))  # what a checkpoint holds
    trace = half.trace.tolist()
    rest = fit(model, units, EM, unpack(packed, arrays), trace=trace, max_iter=9, tol=0.0)
    assert rest.trace.tobytes() == whole.trace.tobytes()
    assert rest.state.eta.tables.tobytes() == whole.state.eta.tables.tobytes()


def test_a_watch_sees_every_state_and_may_stop():
    case, model, units = small()
    seen = []

    def watch(state, trace):
        seen.append((state.free_energy, len(trace)))
        return len(trace) == 4

    found = fit(model, units, EM, cases.start(case, model, units, EM), tol=0.0, watch=watch)
    assert not found.converged
    assert [n for _, n in seen] == [1, 2, 3, 4]
    assert [f for f, _ in seen] == found.trace.tolist()


def test_a_falling_f_is_a_bug_and_stops_the_run():
    case, model, units = small()
    costs = iter([0.0, 0.0, 5.0])
    lying = Algorithm("em", q_hidden.exact, q_theta.mode._replace(cost=lambda *_: next(costs)))
    begun = cases.start(case, model, units, lying)
    with pytest.raises(
        ArithmeticError,
        match=r"^F fell by \d\.\d+ at sweep 2: an ascent cannot fall, so this is a fault of the "
        r"program; please report it with the data$",
    ):
        fit(model, units, lying, begun, tol=0.0)


@pytest.mark.parametrize("algorithm", [EM, VBEM, VITERBI, ME], ids=name_of)
@pytest.mark.parametrize("prior", [1e6, 1e10])
def test_the_rounding_of_a_heavy_prior_is_no_fall(algorithm, prior):
    for seed in range(10):
        case = cases.random_case(seed)
        model, units = case.model(prior), case.encoded().units
        begun = cases.start(case, model, units, algorithm, seed)
        found = fit(model, units, algorithm, begun, tol=0.0, max_iter=12)
        assert found.trace[-1] > found.trace[0] - 1e-14 * prior * len(begun.eta.tables)


def test_statistics_that_lie_are_found_out():
    """Counts that are not those of q(h) lead away from where EM ended."""
    case, model, units = small()

    class Liar(DiscreteNetwork):
        def expected_stats(self, unit, hidden):
            return Tables(hidden.moments[: case.wiring.fam_at[-1]][::-1].copy())

    best = fit(model, units, EM, cases.start(case, model, units, EM)).state
    liar = Liar(case.wiring, Tables(None))
    with pytest.raises(ArithmeticError, match="F fell by"):
        fit(liar, units, EM, state_at(liar, units, EM, best.eta))


def test_a_start_under_which_a_row_is_impossible():
    case = cases.Case(jn.DAG("a -> b"), [2, 2], np.array([[-1, 1], [0, 0]]))
    model, units = case.model(None), case.encoded().units
    eta = Tables(np.array([1.0, 0.0, 1.0, 0.0, 0.5, 0.5]))
    rng = Streams(0, ())
    text = "^a row has probability 0 under the tables at the start$"
    with pytest.raises(ImpossibleError, match=text):
        fit(model, units, EM, state_at(model, units, EM, eta))
    begun = state_at(model, units, STOCHASTIC_EM, eta, rng)
    with pytest.raises(ImpossibleError, match=text):
        next(chain(model, units, STOCHASTIC_EM, begun, rng))


def test_zeros_stay_zeros_under_em():
    case = cases.Case(jn.DAG("a -> b"), [2, 2], np.array([[-1, 1], [0, -1], [-1, 0], [1, 1]]))
    model, units = case.model(None), case.encoded().units
    eta = Tables(np.array([0.5, 0.5, 0.7, 0.3, 0.0, 1.0]))
    found = fit(model, units, EM, state_at(model, units, EM, eta))
    assert found.converged
    tables = case.split(np.exp(found.state.t.tables))
    assert tables[1][1].tolist() == [0.0, 1.0]
    expected = learning.log_likelihood(*case.facts, tables, case.rows, case.row_weights)
    np.testing.assert_allclose(found.trace[-1], expected, rtol=1e-12)


def test_a_chain_never_ends_and_has_one_stream():
    case = cases.random_case(3)
    model, units = case.model(1.0), case.encoded().units
    runs = []
    for _ in range(2):
        rng = Streams(5, ())
        states = chain(model, units, GIBBS, cases.start(case, model, units, GIBBS, rng=rng), rng)
        runs.append([next(states).free_energy for _ in range(20)])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 20


# --- priors that an algorithm cannot use ---


def test_vbem_needs_a_prior():
    with pytest.raises(
        jn.JensenError,
        match=r"^vbem keeps a posterior, so it needs a prior of its tables: "
        r"give prior='bdeu' or a "
        r"concentration, or use method='em' for the frequencies$",
    ):
        learn("a -> b", make_table(), None, VBEM)


@pytest.mark.parametrize(
    ("prior", "begin"), [(0.5, "0.5"), ("bdeu", "0.167"), ("bds", "0.167"), (1 - 1e-9, "1")]
)
def test_em_needs_a_prior_with_a_mode(prior, begin):
    with pytest.raises(
        jn.JensenError,
        match=rf"^em needs a prior with a mode, but the prior of the tables has none: its "
        rf"concentrations begin at {begin}, and must be at least 1\. Raise the prior, or use "
        rf"method='vbem', which needs no mode, or mode='softmax', where every prior has one$",
    ):
        learn("a -> b", make_table(), prior, EM)


@pytest.mark.parametrize("prior", ["k2", 1, 1.0, {"a": 1.0, "b": 1}])
def test_em_refuses_a_prior_that_would_do_nothing(prior):
    with pytest.raises(
        jn.JensenError,
        match=r"^em would not feel a prior of the tables with all concentrations 1: it is flat\. "
        r"Use "
        r"prior=None for the frequencies, or method='vbem', which does feel it$",
    ):
        learn("a -> b", make_table(), prior, EM)


@pytest.mark.parametrize(
    ("prior", "algorithm"),
    [(None, EM), (1.5, EM), (0.5, VBEM), ("k2", VBEM), ({"a": 1, "b": 2}, EM)],
)
def test_priors_that_suit_their_algorithm(prior, algorithm):
    check_usable(learn("a -> b", make_table(), prior, algorithm).model, algorithm)
