"""The slope of F at the fixed point, for pairs of model and rule that have no such test elsewhere.

Discrete networks under EM and VBEM are in `test_free_energy`, mixtures of every kind (Gaussian of
all covariances, labels, counts, mixed columns) in `models/test_mixture`, hidden Markov models of
every kind in `models/test_hidden_markov`, coupled parameters in `test_coupled_fields`. Here are the
hard rules on discrete networks, Gaussian networks with gaps, rows in which a variable was set, and
models of which a part is held.

All priors have their modes inside, so that F is smooth where the ascent ends.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
from models import cases
from models import mixture_cases as rows_of
from naive.families import gradient

import jensen as jn
from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows
from jensen.free_energy import EM, ME, VBEM, VITERBI, fit, state_at, step
from jensen.models.discrete_network import encode as encode_labels
from jensen.models.gaussian_network import RegressionNetwork, Regressions, make_prior
from jensen.models.gaussian_network import encode as encode_numbers
from jensen.models.hidden_markov import Chained, HiddenMarkov
from jensen.models.mixture import Mixed
from jensen.scores.gaussian import make_bge
from jensen.support.fields import add, leaves, rebuild

SOFT = (EM, VBEM)
ALL = (EM, VBEM, VITERBI, ME)


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
    **{f"discrete, set rows {seed}": (discrete_with_set_rows, seed, ALL) for seed in (0, 6)},
    "gaussian network": (gaussian_network, 0, SOFT),
    "gaussian network, set rows": (lambda _: gaussian_network(0, with_set=True), 0, SOFT),
    **{
        f"mixture {kind}, {part} held": (mixture_with(kind, part), 0, SOFT)
        for kind in KINDS
        for part in ("means", "covariances")
    },
    "mixture spherical, weights held": (mixture_with("spherical", "weights"), 0, ALL),
    "mixture diagonal, two held": (mixture_with("diagonal", "weights", "means"), 0, ALL),
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
