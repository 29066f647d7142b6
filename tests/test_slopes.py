"""The slope of F at the fixed point, for every model and every rule that ascends.

The second table is made of the registries: kinds of networks, emissions, covariances, columns and
algorithms, all through `fit`, so that what is new joins by itself or is asked for. The first one
has what choices of estimators do not show: random discrete networks, rows in which a variable was
set, and models of which a part is held. Coupled parameters are in `test_coupled_fields`.

All priors have their modes inside, so that F is smooth where the ascent ends.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest
from models import cases, emission_table
from models import mixture_cases as rows_of
from naive.families import gradient

import jensen as jn
from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows
from jensen.data.variable import Kind
from jensen.estimators import (
    arrays,
    factor_saving,
    network_kinds,
    states_saving,
)
from jensen.exceptions import JensenError
from jensen.free_energy import (
    ALGORITHMS,
    COMMON,
    EM,
    ME,
    MEAN_FIELD,
    VARIATIONAL_EM,
    VBEM,
    VITERBI,
    fit,
    state_at,
    step,
)
from jensen.models.discrete_network import encode as encode_labels
from jensen.models.emissions.priors import COVARIANCES
from jensen.models.emissions.registry import EMISSIONS, USUAL
from jensen.models.gaussian_network import RegressionNetwork, Regressions, make_prior
from jensen.models.gaussian_network import encode as encode_numbers
from jensen.models.hidden_markov import Chained, HiddenMarkov
from jensen.models.mixture import Mixed
from jensen.scores.gaussian import make_bge
from jensen.support.arguments import Streams
from jensen.support.fields import add, leaves, rebuild

SOFT = (EM, VBEM)
ASCENTS = tuple(ALGORITHMS[name] for name in COMMON if ALGORITHMS[name].ascends)
BITS = (EM, VBEM, VARIATIONAL_EM, MEAN_FIELD)


class Case(NamedTuple):
    model: Any
    units: Units
    eta: Any  # of a start


def discrete(seed):
    """Missing cells and hidden variables, rows of odd weights."""
    case = cases.random_case(seed, n=3, weights="parts", states=(2, 3))
    model, units = case.model(1.5), case.encoded().units
    eta = cases.start(case, model, units, EM, seed).eta
    assert case.hidden
    assert (case.rows[:, [v for v in range(3) if v not in case.hidden]] < 0).any()
    return Case(model, units, eta)


def discrete_with_set_rows(seed):
    """The same, where some variable that is known was set from outside in every other row."""
    case = cases.random_case(seed, n=3, weights="parts", states=(2, 3))
    known = [np.flatnonzero(row >= 0) for row in case.rows]
    was_set = [v[0] if len(v) and i % 2 else -1 for i, v in enumerate(known)]
    assert len(set(was_set)) > 1
    found = encode_labels(case.table(), case.names, case.wiring, np.array(was_set, np.int64))
    return Case(case.model(1.5), found.units, discrete(seed).eta)


def gaussian_network(_, *, with_set=False):
    """Four regressions; a third of the numbers is missing."""
    rng = np.random.default_rng(5)
    n, dag = 24, jn.DAG("a -> b; b -> d; c -> d")
    a = 3.0 + rng.normal(size=n)
    b, c = 0.8 * a + rng.normal(size=n), rng.normal(size=n)
    values = np.column_stack([a, b, c, 0.5 * b - c + 0.5 * rng.normal(size=n)])
    was_set = rng.integers(-1, 4, n) if with_set else None
    lost = rng.random(values.shape) < 0.3
    if was_set is not None:
        lost[np.arange(n), np.maximum(was_set, 0)] = False
    values[lost] = np.nan
    shift, spread = np.nanmean(values, axis=0), np.nanvar(values, axis=0)
    bge = make_bge(dag.nodes, shift, spread, 0.5, 2.0, 8.0, None)
    prior = make_prior(bge, dag.parent_indices, shift)
    model = RegressionNetwork(dag.nodes, dag.parent_indices, prior, dag, shift)
    weights = rng.uniform(0.5, 2.0, n)
    units = encode_numbers(NumberRows.of(values, weights), shift, was_set)
    moments = n * np.diag(np.append(1.0, spread))
    return Case(model, units, Regressions(*add(prior, model.stats_of(moments))))


def mixture_with(kind, *held):
    """Two components with gaps, of which some fields or parts are held."""

    def build(seed):
        case = rows_of.make_case(kind, 2, seed=seed, weights=True, n=14)
        _, at = case.point(np.random.default_rng(seed))
        model = case.model.holding(at, held)
        units = model.encode(NumberRows.of(case.values + case.shift, case.weight))
        return Case(model, units, case.start(EM, seed).eta)

    return build


def chain_with(kind, *held):
    """Three sequences with gaps, of which some fields or parts are held."""

    def build(seed):
        case = rows_of.make_case(kind, 2, seed=seed, n=14)
        rng = np.random.default_rng(seed)
        model = HiddenMarkov(case.model.emission, np.full(2, 0.5), np.full((2, 2), 0.5), 2)

        def states(eta: Mixed) -> Chained:
            return Chained(rng.uniform(1, 2, 2), rng.uniform(1, 4, (2, 2)), eta.components)

        model = model.holding(states(case.point(rng)[1]), held)
        lengths, weights = np.array([6, 1, 7]), np.array([1.0, 2.5, 0.7])
        units = model.encode(NumberRows.of(case.values + case.shift), lengths, weights)
        return Case(model, units, states(case.start(EM, seed).eta))

    return build


KINDS = ("full", "tied", "diagonal", "spherical")
TABLE = {
    **{f"discrete {seed}": (discrete, seed, (VITERBI, ME)) for seed in (0, 6, 8, 9)},
    **{f"discrete, set rows {seed}": (discrete_with_set_rows, seed, ASCENTS) for seed in (0, 6)},
    "gaussian network": (gaussian_network, 0, SOFT),
    "gaussian network, set rows": (lambda _: gaussian_network(0, with_set=True), 0, SOFT),
    **{
        f"mixture {kind}, {part} held": (mixture_with(kind, part), 0, SOFT)
        for kind in KINDS
        for part in ("means", "covariances")
    },
    "mixture spherical, weights held": (mixture_with("spherical", "weights"), 0, ASCENTS),
    "mixture diagonal, two held": (mixture_with("diagonal", "weights", "means"), 0, ASCENTS),
    "latent class, components held": (mixture_with("product", "components"), 0, SOFT),
    "chain tied, means held": (chain_with("tied", "means"), 0, SOFT),
    "chain diagonal, covariances held": (chain_with("diagonal", "covariances"), 0, SOFT),
    "chain of labels, initial held": (chain_with("labels", "initial"), 0, SOFT),
    "chain of counts, transition held": (chain_with("counts", "transition"), 0, SOFT),
}
PAIRS = [(name, algorithm) for name, (_, _, rules) in TABLE.items() for algorithm in rules]


def slopes(case, algorithm, eta):
    """∂F / ∂η by differences, leaf by leaf, q(h) the best for each η."""
    parts, found = list(leaves(eta)), []
    for number, leaf in enumerate(parts):

        def f(x, number=number):
            moved = rebuild(eta, iter([*parts[:number], x, *parts[number + 1 :]]))
            return state_at(case.model, case.units, algorithm, moved).free_energy

        found.append(np.ravel(gradient(f, np.array(leaf, float))))
    return np.concatenate(found)


@pytest.mark.parametrize(("name", "algorithm"), PAIRS, ids=lambda x: getattr(x, "name", x))
def test_f_ends_where_its_slope_is_zero(name, algorithm):
    """Beside the slope at parameters that are off by up to a tenth."""
    build, seed, _ = TABLE[name]
    case = build(seed)
    begun = state_at(case.model, case.units, algorithm, case.eta)
    found = fit(case.model, case.units, algorithm, begun, tol=1e-16, max_iter=3000)
    assert np.diff(found.trace).min() >= -1e-12 * (abs(found.trace[-1]) + case.units.total_weight)
    state = found.state
    for _ in range(40):  # F is flat to its last digit before its slope is
        state = step(case.model, case.units, algorithm, state)
    eta = state.eta
    rng = np.random.default_rng(1)
    away = rebuild(eta, (x * rng.uniform(0.9, 1.1, np.shape(x)) for x in leaves(eta)))
    steep = np.abs(slopes(case, algorithm, away)).max()
    assert steep > 1e-3
    assert np.abs(slopes(case, algorithm, eta)).max() < 1e-5 * steep


# --- every model and rule of the registries, by the door that people use ---


class Caught(Exception):
    """Carries the problem that an estimator would have learned."""


def problem_of(estimator, rows, **how):
    """The model, the encoded rows and the choices that `fit` hands to the loop."""

    def catch(problem, checkpoint):
        raise Caught(problem)

    with pytest.MonkeyPatch.context() as patch:
        for module in (network_kinds, arrays):
            patch.setattr(module, "learn", catch)
        with pytest.raises(Caught) as caught:
            estimator.fit(rows, **how)
    return caught.value.args[0]


def tables(prior, method):
    """Labels with gaps and weights, and a hidden variable."""
    rng = np.random.default_rng(3)
    h = rng.integers(0, 2, 60)
    a, b = (h + (rng.random(60) < 0.2)) % 2, (h + rng.integers(0, 2, 60)) % 3
    c = (b + (rng.random(60) < 0.3)) % 2
    values = np.column_stack([a, b, c]).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    names = np.array(["p", "q", "r", None], dtype=object)
    columns = names[np.nan_to_num(values, nan=3).astype(int)]
    table = jn.Table(dict(zip("abc", columns.T, strict=True)), weights=rng.uniform(0.5, 2.0, 60))
    choices = {"prior": prior, "method": method, "hidden": {"hidden": 2}}
    return jn.BayesianNetwork("hidden -> a; hidden -> b; b -> c", **choices), table, {}


def regressions(prior, method):
    """Numbers with gaps and weights."""
    rng = np.random.default_rng(4)
    a, c = 3.0 + rng.normal(size=40), rng.normal(size=40)
    b = 0.8 * a + rng.normal(size=40)
    values = np.column_stack([a, b, c, 0.5 * b - c + 0.5 * rng.normal(size=40)])
    values[rng.random(values.shape) < 0.2] = np.nan
    table = jn.Table(dict(zip("abcd", values.T, strict=True)), weights=rng.uniform(0.5, 2.0, 40))
    return jn.BayesianNetwork("a -> b; b -> d; c -> d", prior=prior, method=method), table, {}


def mixed(prior, method):
    """Labels and numbers with gaps and weights, and a hidden label."""
    rng = np.random.default_rng(8)
    h, b = rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    a = (h + (rng.random(60) < 0.2)) % 2
    x = 2.0 * h + rng.normal(size=60)
    y = x * np.array([0.5, -1.0, 2.0])[b] + 0.5 * rng.normal(size=60)
    gone = rng.random((4, 60)) < 0.2
    columns = {"a": np.array(["p", "q"], object)[a], "b": np.array(["r", "s", "t"], object)[b]}
    for column, own in zip(columns.values(), gone[:2], strict=True):
        column[own] = None
    columns |= {"x": np.where(gone[2], np.nan, x), "y": np.where(gone[3], np.nan, y)}
    table = jn.Table(columns, weights=rng.uniform(0.5, 2.0, 60))
    choices = {"prior": prior, "method": method, "hidden": {"hidden": 2}}
    return jn.BayesianNetwork("hidden -> a; hidden -> x; b -> y; x -> y", **choices), table, {}


def mixture(covariance):
    def make(prior, method):
        rows = emission_table.rows_of("gaussian", 40)
        weight = np.random.default_rng(1).uniform(0.5, 2.0, 40)
        made = jn.GaussianMixture(2, covariance=covariance, prior=prior, method=method)
        return made, rows, {"sample_weight": weight}

    return make


def latent_class(*kinds):
    def make(prior, method):
        columns, counts = {}, []
        for kind in kinds:
            word = USUAL[kind].word
            given = emission_table.as_given(word, emission_table.rows_of(word, 40))
            names = [f"{kind} {i}" for i in range(given.shape[1])]
            columns |= dict(zip(names, given.T, strict=True))
            counts += names if kind == "count" else []
        table = jn.Table(columns, counts=counts)
        weight = np.random.default_rng(2).uniform(0.5, 2.0, 40)
        return jn.LatentClass(2, prior=prior, method=method), table.with_weights(weight), {}

    return make


def chain(word, covariance, **choices):
    def make(prior, method):
        if EMISSIONS[word].has_spread:
            choices["covariance"] = covariance
        given = emission_table.as_given(word, emission_table.rows_of(word, 40))
        made = jn.HiddenMarkovModel(2, emission=word, prior=prior, method=method, **choices)
        return made, given, {"lengths": [17, 1, 12, 10], "sequence_weight": [1.0, 2.5, 0.7, 1.3]}

    return make


def factor_analysis(noise):
    """A factor of five columns, with gaps and weights; moves would be taken by rounding.

    Of several factors the slope vanishes only after thousands of sweeps without moves.
    """

    def make(prior, method):
        rng = np.random.default_rng(2)
        loadings = np.array([[2.0, 0.3, 1.5, -1.0, 0.5], [0.2, 1.5, -0.7, 1.0, 1.2]])
        values = rng.normal(size=(80, 1)) @ loadings[:1] + 0.7 * rng.normal(size=(80, 5)) + 3.0
        values[rng.random(values.shape) < 0.1] = np.nan
        made = jn.FactorAnalysis(1, noise=noise, prior=prior, method=method, rotate=False)
        return made, values, {"sample_weight": rng.uniform(0.5, 2.0, 80)}

    return make


def binary_factors(prior, method):
    """Two overlapping factors of four columns, with gaps and weights."""
    rng = np.random.default_rng(3)
    parts = np.array([[2.0, 1.0, 0.0, 1.0], [0.0, 1.5, 2.0, -1.0]])
    values = rng.integers(0, 2, (50, 2)) @ parts + 0.6 * rng.normal(size=(50, 4))
    values[rng.random(values.shape) < 0.1] = np.nan
    made = jn.BinaryFactors(2, prior=prior, method=method)
    return made, values, {"sample_weight": rng.uniform(0.5, 2.0, 50)}


def factor_mixture(shared):
    """Two clusters of one direction each, with gaps and weights; no moves, as above."""

    def make(prior, method):
        rng = np.random.default_rng(4)
        values = rng.normal(size=(60, 1)) * rng.uniform(0.5, 2.0, 4) + 0.7 * rng.normal(
            size=(60, 4)
        )
        values[30:] += [4.0, -3.0, 2.0, 0.0]
        values[rng.random(values.shape) < 0.1] = np.nan
        choices = {"prior": prior, "method": method, "rotate": False, "random_state": 0}
        made = jn.MixtureOfFactorAnalyzers(2, 1, shared_noise=shared, **choices)
        return made, values, {"sample_weight": rng.uniform(0.5, 2.0, 60)}

    return make


def linear_dynamics(prior, method):
    """A hidden number behind two outputs and an input, three sequences with gaps."""
    rng = np.random.default_rng(5)
    x, u = np.zeros(60), rng.normal(size=60)
    for t in range(1, 60):
        x[t] = 0.7 * x[t - 1] + 0.5 * u[t] + rng.normal()
    values = np.column_stack([3.0 + x, 1.0 - x, u])
    values[:, :2] += 0.6 * rng.normal(size=(60, 2))
    values[rng.random(60) < 0.1, 0] = np.nan
    values[20] = np.nan, np.nan, 0.3
    fixed = None if prior is not None else {"process_covariance": [[1.0]]}
    made = jn.LinearDynamicalSystem(
        1, inputs=[2], prior=prior, method=method, rotate=False, fixed=fixed
    )
    return made, values, {"lengths": [30, 1, 29], "sequence_weight": [1.0, 0.5, 1.5]}


class Row(NamedTuple):
    """How to make an estimator, rows, and what `fit` is told besides; and priors by name."""

    make: Callable
    map_prior: Any  # of which the mode is inside
    default: Any  # what a method takes that keeps a posterior
    rules: tuple = ASCENTS


COLUMNS = get_args(Kind)
ESTIMATORS = {
    "tables": Row(tables, 1.5, "bdeu", (*ASCENTS, VARIATIONAL_EM, MEAN_FIELD)),
    "regressions": Row(regressions, {"degrees_of_freedom": 12.0}, "bge"),
    "mixed": Row(mixed, {"concentration": 1.5}, "bdeu-bge"),
    **{
        f"gaussian-mixture {kind}": Row(mixture(kind), {"concentration": 1.5}, {})
        for kind in COVARIANCES
    },
    **{
        f"latent-class {' and '.join(kinds)}": Row(latent_class(*kinds), {"concentration": 1.5}, {})
        for kinds in (*((kind,) for kind in COLUMNS), COLUMNS)
    },
    **{
        f"hidden-markov-model {word} {kind}": Row(
            chain(word, kind), {"initial": 1.5, "transition": 1.5}, {}
        )
        for word, kind in emission_table.CASES
    },
    **{
        f"factor-analysis {noise}": Row(
            factor_analysis(noise), {"noise_shape": 3.0, "noise_rate": 1.0}, {}, SOFT
        )
        for noise in ("diagonal", "isotropic")
    },
    **{
        f"factor-mixture {word}": Row(
            factor_mixture(shared),
            {"concentration": 1.5, "noise_shape": 3.0, "noise_rate": 1.0},
            {},
            SOFT,
        )
        for word, shared in (("shared", True), ("own", False))
    },
    "binary-factors": Row(binary_factors, {"concentration": 1.5, "noise_shape": 3.0}, {}, BITS),
    "linear-dynamics": Row(
        linear_dynamics, {"noise_shape": 3.0, "noise_rate": 1.0, "strength_shape": 2.0}, {}, SOFT
    ),
    "hidden-markov-model with ends": Row(
        chain("poisson", "full", end=True), {"initial": 1.5, "transition": 1.5}, {}
    ),
}


def test_the_table_has_every_kind_of_model():
    """Networks are known by the class of what is learned, models with states by their names."""
    networks = {kind.problem.__name__ for kind in network_kinds.KINDS}
    assert networks == {"table_problem", "regression_problem", "mixed_problem"}
    words = {name.split()[0] for name in ESTIMATORS} - {"tables", "regressions", "mixed"}
    assert words == {*states_saving.KINDS, *factor_saving.KINDS, "linear-dynamics"}
    assert set(EMISSIONS) == set(emission_table.EXAMPLES)


REFUSED = [
    pytest.param(row, algorithm, id=f"{name}-{algorithm.name}")
    for name, row in ESTIMATORS.items()
    for algorithm in ALGORITHMS.values()
    if algorithm.ascends
    and algorithm not in row.rules
    and (algorithm.never_falls or name != "tables")  # tables know loopy beliefs, which have no F
]


@pytest.mark.parametrize(("row", "algorithm"), REFUSED)
def test_rules_that_a_model_does_not_know_are_refused(row, algorithm):
    estimator, rows, how = row.make(row.default, algorithm.name)
    with pytest.raises(
        JensenError, match=f"not by '{algorithm.name}'|'{algorithm.name}' is not for this"
    ):
        estimator.fit(rows, **how)


def along(case, algorithm, eta, rng):
    """Slopes of F from η on, in two random directions of every leaf."""
    parts, found = list(leaves(eta)), []
    for number in [k for k, leaf in enumerate(parts) if np.any(leaf)] * 2:
        way = np.abs(parts[number]) * rng.normal(size=np.shape(parts[number]))  # 0 stays 0

        def f(h, number=number, way=way):
            moved = [*parts[:number], parts[number] + h * way, *parts[number + 1 :]]
            return state_at(
                case.model, case.units, algorithm, rebuild(eta, iter(moved))
            ).free_energy

        h = 1e-5
        found.append((8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h))
    return np.array(found)


def priors_of(row, algorithm):
    """The flat prior, and one with its mode inside; what a posterior takes by default."""
    if algorithm.seeks_mode:
        return {"flat": None, "map": row.map_prior}
    return {"default": row.default, "strong": row.map_prior}


EVERY = [
    pytest.param(row, algorithm, prior, id=f"{name}-{algorithm.name}-{word}")
    for name, row in ESTIMATORS.items()
    for algorithm in row.rules
    for word, prior in priors_of(row, algorithm).items()
]


@pytest.mark.parametrize(("row", "algorithm", "prior"), EVERY)
def test_every_model_and_rule_ends_where_the_slope_of_f_is_zero(row, algorithm, prior):
    estimator, rows, how = row.make(prior, algorithm.name)
    problem = problem_of(estimator, rows, **how)
    case = Case(problem.model, problem.data.units, None)
    begun = problem.begin(0, Streams(0, (0,)))
    found = fit(case.model, case.units, algorithm, begun, tol=1e-16, max_iter=2000)
    state = found.state
    for _ in range(40):
        state = step(case.model, case.units, algorithm, state)
    rng = np.random.default_rng(1)
    away = (x * rng.uniform(0.99, 1.01, np.shape(x)) for x in leaves(state.eta))
    steep = np.abs(along(case, algorithm, rebuild(state.eta, away), rng)).max()
    assert steep > 1e-3
    assert np.abs(along(case, algorithm, state.eta, rng)).max() < 1e-5 * steep
