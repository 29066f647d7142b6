"""From rows of numbers, complete or not, to the regressions of a Gaussian network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.checkpoint import Checkpoint
from jensen.data import Table
from jensen.data.units import Units
from jensen.estimators.choices import Choices
from jensen.estimators.course import Course, climb
from jensen.estimators.set_rows import WasSet
from jensen.exceptions import DataError, JensenError
from jensen.families import linear_regression
from jensen.fields import add
from jensen.fingerprint import fingerprint
from jensen.free_energy import Algorithm, State, check_usable, see
from jensen.graphs import DAG
from jensen.inference.gaussian_joint import joint
from jensen.inference.gaussian_network import (
    GaussianNetwork,
    NormalWishartPrior,
    Posterior,
    point_network,
)
from jensen.inference.regression import LinearRegression
from jensen.models.emissions.columns import column_moments
from jensen.models.gaussian_encoding import encode, independent_moments, values_of
from jensen.models.gaussian_network import RegressionNetwork, Regressions, make_prior
from jensen.randomness import as_generator, generator_state
from jensen.restarts import Job
from jensen.scores.constant_columns import (
    OWN_SCALE,
    are_drawn,
    is_constant,
    refuse_edges,
    warn_of_constants,
)
from jensen.scores.gaussian import BGe
from jensen.scores.gaussian_checks import require_continuous
from jensen.scores.gaussian_prior import PARTS, make_bge
from jensen.text import some

Array = NDArray[np.float64]

METHODS = ("em", "vbem")


class Problem(NamedTuple):
    """What is learned, ready for the loop."""

    graph: DAG
    values: Array  # (rows, n), NaN where missing
    weights: Array | None
    shift: Array  # (n,)
    model: RegressionNetwork
    units: Units
    choices: Choices
    was_set: WasSet
    bge: BGe | None  # the prior of these columns; None: flat
    constants: dict[str, float]  # columns that are left out, and their value

    @property
    def algorithm(self) -> Algorithm:
        """The one chosen."""
        return self.choices.algorithm


def is_gaussian(graph: DAG, table: Table) -> bool:
    """Whether a node of the graph is measured, not counted: then all of them must be."""
    return any(table.variable(x).kind == "continuous" for x in graph.nodes if x in table)


def learn_gaussian(
    graph: DAG,
    table: Table,
    choices: Choices,
    checkpoint: str | Path | None,
    was_set: WasSet = None,
) -> tuple[GaussianNetwork, Course]:
    """Learn the regressions of a graph from rows with values missing anywhere.

    Columns without spread are left out (see `jensen.scores.constant_columns`), unless the prior has
    a scale of its own.
    """
    check_gaussian_choices(choices)
    problem = _prepare(graph, table, choices, was_set)
    rng = as_generator(choices.random_state)
    file = None if checkpoint is None else Checkpoint(checkpoint, _fingerprint(problem, rng))
    job = Job(
        problem.model,
        problem.units,
        problem.algorithm,
        lambda k, r: _begin(problem, r, is_first=k == 0),
    )
    best, course = climb(job, choices, rng, file)
    return _network(problem, best.state), course


def check_gaussian_choices(choices: Choices) -> None:
    """Refuse what cannot be, and what belongs to tables of states."""
    prior = choices.prior
    if not (prior in (None, "bge") or isinstance(prior, Mapping)):
        raise JensenError(
            f"the prior of a Gaussian network is None (flat), 'bge', or a dict with some of "
            f"{some(PARTS)}, not {prior!r:.80}"
        )
    for name in prior if isinstance(prior, Mapping) else ():
        if name not in PARTS:
            raise JensenError(f"the prior of a Gaussian network has {some(PARTS)}, not {name!r}")
    if choices.hidden:
        raise JensenError("hidden variables have states, and the columns here are continuous")
    if choices.equivalent_sample_size != 1.0:
        raise JensenError("equivalent_sample_size belongs to tables of states: use mean_strength")
    if choices.algorithm.name not in METHODS:
        raise JensenError(
            f"a Gaussian network is learned by 'em' or 'vbem', not by {choices.algorithm.name!r}"
        )
    super(Choices, choices).check()


def _prepare(graph: DAG, table: Table, choices: Choices, was_set: WasSet) -> Problem:
    for name in graph.nodes:
        if name not in table:
            raise DataError(f"the node {name!r} has no column: rename one of {some(table.names)}")
        if table.column(name).missing().all() and table.n_rows:
            raise DataError(f"the column {name!r} has no value, so nothing is known of it")
    require_continuous(table, graph.nodes, "a Gaussian network")
    rows = table.select(graph.nodes)
    if rows.weights is not None:
        was_set = None if was_set is None else was_set[rows.weights > 0]
        rows = rows.take(rows.weights > 0)
    if rows.total_weight == 0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")
    if rows.total_weight == np.inf:
        raise DataError("the weights are too large: their sum is infinite")
    values = values_of(rows, graph.nodes)
    for v, name in enumerate(graph.nodes):
        if np.isnan(values[:, v]).all():
            raise DataError(f"the column {name!r} has no value in any row that has a weight")
    shift, variances = column_moments(values, rows.weights)
    constant = _constants(graph, choices, values)
    variances[constant] = 1.0  # never asked for
    bge = _prior(graph, choices, shift, variances)
    constants = {graph.nodes[v]: float(np.nanmax(values[:, v])) for v in constant}
    if constants:
        kept = [v for v in range(len(graph)) if v not in constant]
        graph = graph.subgraph([graph.nodes[v] for v in kept])
        values, shift = np.ascontiguousarray(values[:, kept]), shift[kept]
        bge = None if bge is None else bge.of_columns(kept)
        if was_set is not None:  # -1 where nothing was, or one of those that are left out
            was_set = np.array([kept.index(v) if v in kept else -1 for v in was_set.tolist()])
    prior = Regressions(None) if bge is None else make_prior(bge, graph.parent_indices, shift)
    model = RegressionNetwork(graph.nodes, graph.parent_indices, prior)
    check_usable(model, choices.algorithm)
    units = encode(values, rows.weights, shift, was_set)
    problem = Problem(
        graph, values, rows.weights, shift, model, units, choices, was_set, bge, constants
    )
    if choices.start is not None:
        _start_network(problem)  # refused now, also where complete data leave nothing to start
    return problem


def _constants(graph: DAG, choices: Choices, values: Array) -> list[int]:
    """The columns without spread, which are warned of; none if the prior has its own scale."""
    given = choices.prior if isinstance(choices.prior, Mapping) else {}
    if given.get("scale") is not None:
        return []
    found = [v for v, column in enumerate(values.T) if is_constant(column[~np.isnan(column)])]
    if len(found) == len(graph):
        raise DataError(
            f"every column is constant ({some(map(repr, graph.nodes))}), so nothing says how much "
            f"any of them varies: give more rows, or {OWN_SCALE}"
        )
    if not are_drawn():
        refuse_edges(graph.nodes, graph.parent_indices, set(found), "learned")
    warn_of_constants([graph.nodes[v] for v in found], "network")
    return found


def _prior(graph: DAG, choices: Choices, means: Array, variances: Array) -> BGe | None:
    """The prior, made once, by the means and variances of the values that are known."""
    prior = choices.prior
    if prior is None and choices.algorithm.name == "em":
        return None
    given = prior if isinstance(prior, Mapping) else {}
    return make_bge(graph.nodes, means, variances, *(given.get(part) for part in PARTS))


def _begin(problem: Problem, rng: np.random.Generator, *, is_first: bool) -> State:
    """Complete data are their own answer; else no dependence first, then random ones."""
    model, units, algorithm = problem.model, problem.units, problem.algorithm
    if units.is_complete:
        stats = model.blank
        for unit in units.items:
            stats = add(stats, model.counted(unit))
        return see(model, units, algorithm, add(model.prior, stats))
    if problem.choices.start is not None:
        moments = _start_moments(problem)
    else:
        moments = independent_moments(problem.values, problem.weights, problem.shift)
        if not is_first:
            moments = _with_dependence(moments, rng)
    return see(model, units, algorithm, add(model.prior, model.stats_of(moments)))


def _with_dependence(moments: Array, rng: np.random.Generator) -> Array:
    """The same means and variances, with random correlations."""
    n = len(moments) - 1
    total = moments[0, 0]
    mean = moments[0, 1:] / total
    deviations = np.sqrt(np.diagonal(moments)[1:] / total - mean**2)
    normal = rng.standard_normal((n, n + 2))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    found = moments.copy()
    found[1:, 1:] = np.outer(mean, mean) + np.outer(deviations, deviations) * (normal @ normal.T)
    found[1:, 1:] *= total
    return found


def _start_moments(problem: Problem) -> Array:
    """Σ z zᵀ of as many rows as there are, drawn from the network to start from."""
    model = joint(_start_network(problem))
    z = np.append(1.0, model.mean - problem.shift)
    found = np.outer(z, z)
    found[1:, 1:] += model.covariance
    return np.asarray(problem.units.total_weight * found)


def _start_network(problem: Problem) -> GaussianNetwork:
    start = problem.choices.start
    start = getattr(start, "network_", start)
    if not isinstance(start, GaussianNetwork) or start.graph != problem.graph:
        raise JensenError(
            "start= must be a Gaussian network, or an estimator that holds one, of the same graph"
        )
    return start


def _network(problem: Problem, state: State) -> GaussianNetwork:
    """The network at the end of an ascent, of columns as they came."""
    graph, shift = problem.graph, problem.shift
    if problem.algorithm.keeps_posterior:
        words = tuple(linear_regression.words(eta) for eta in state.eta.regressions)
        return replace(
            point_network(graph, Posterior(shift, words)),
            prior=_held(problem),
            constants=problem.constants,
        )
    points = problem.model.families.regressions.mode_stats(state.eta.regressions)
    regressions = []
    for v, (name, t) in enumerate(zip(graph.nodes, points, strict=True)):
        precision = -2.0 * float(t.second[0])
        intercept, *slopes = t.first[0] / precision
        intercept += shift[v] - shift[list(graph.parent_indices[v])] @ np.array(slopes)
        by_parent = dict(zip(graph.parents(name), map(float, slopes), strict=True))
        regressions.append(LinearRegression(name, float(intercept), by_parent, 1.0 / precision))
    return GaussianNetwork(
        graph, tuple(regressions), prior=_held(problem), constants=problem.constants
    )


def _held(problem: Problem) -> NormalWishartPrior | None:
    return None if problem.bge is None else problem.bge.held


def _fingerprint(problem: Problem, rng: np.random.Generator) -> str:
    """Data and settings of a run: a checkpoint of any other is refused."""
    choices = problem.choices
    start = None
    if choices.start is not None:
        network = _start_network(problem)
        start = [network.intercepts, network.slopes, network.variances]
    prior = problem.model.prior.regressions
    return fingerprint(
        "regressions of a Gaussian network, 1",
        problem.graph.nodes,
        problem.graph.edges,
        [choices.algorithm.name, choices.n_init, choices.max_iter, float(choices.tol)],
        None if prior is None else [list(part) for part in prior],
        None if choices.random_state is None else generator_state(rng),
        start,
        problem.values,
        problem.weights,
        *([] if problem.was_set is None else [problem.was_set]),
    )
