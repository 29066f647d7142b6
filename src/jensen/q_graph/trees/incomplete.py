"""Trees of rows with holes, of labels, of numbers or of both: EM over trees.

The expected tables, or moments, of all pairs under the current tree give the next one, which is the
spanning tree of largest expected mutual information; then its parameters are fitted. Neither half
lowers the (penalised) log-likelihood of what was observed.
"""

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table
from jensen.data.counting import counts_as_numbers
from jensen.exceptions import DataError, UnboundedError
from jensen.q_graph.classes.graph import are_equivalent
from jensen.q_graph.constraints import Constraints, read_constraints
from jensen.q_graph.info import StructuralInfo
from jensen.q_graph.structural.mixed import IncompleteMixed
from jensen.q_graph.structural.numbers import IncompleteNumbers
from jensen.q_graph.structural.objective import (
    ClimbResult,
    FittedGraph,
    Flags,
    Objective,
    StructuralRows,
)
from jensen.q_graph.structural.reading import all_variables, are_mixed, are_numbers
from jensen.q_graph.structural.structural_em import StructuralTask
from jensen.q_graph.structural.tables import IncompleteTables
from jensen.q_graph.trees.spanning import all_edges, parents_from, paying_edges, spanning_tree
from jensen.scores.registry import UNPENALISED, penalty_of
from jensen.scores.scorer import Scorer, name_of
from jensen.scores.table_checks import note_columns
from jensen.support.machine import interruptible

Array = NDArray[np.float64]
Edge = tuple[int, int]

RANDOM = 3
"""Random trees among the starts."""

ROUNDS = 30
"""How often a tree may change after its parameters have converged."""


class LearnedTree(NamedTuple):
    """The edges of a tree or forest, and how it was found."""

    edges: list[Edge]
    info: StructuralInfo


class Weights(NamedTuple):
    """Weights of all pairs; implements `PairInformation`."""

    names: tuple[str, ...]
    values: Array  # (n, n)

    def matrix(self) -> Array:
        """(n, n): all of them."""
        return self.values

    def row(self, k: int, wanted: NDArray[np.bool_]) -> Array:
        """(n,): those of one variable."""
        return np.asarray(self.values[k])


def is_incomplete(table: RowSource) -> bool:
    """Whether values are missing in rows that count."""
    return bool(table.counted().n_missing())


def tree_of_incomplete(table: Table, penalty: str | None) -> LearnedTree:
    """The best tree of several starts, or with a penalty the best forest."""
    began = time.perf_counter()
    rows = table.counted()
    for name in rows.names:
        if not rows.n_seen(name):
            raise DataError(f"column {name!r} has no value at all: leave it out")
    data, n = _read(rows), len(rows.names)
    stages = _stages(data)
    score = penalty or UNPENALISED
    objective = Objective(score, penalty_of(score)(rows.total_weight))
    rng = np.random.default_rng(0)  # starts differ, but never from call to call

    def search(scorer: Scorer, joined: Flags, rules: Constraints) -> tuple[Flags, int]:
        # only by the likelihood alone every edge pays
        is_forest = name_of(scorer) != UNPENALISED
        return _best_tree(scorer, stages, is_forest=is_forest), n * (n - 1) // 2

    with interruptible() as stop:
        task = StructuralTask(
            data, objective, read_constraints(data.names), search, "exact",
            lambda value: stop.is_set(), all_graphs=False,
        )  # fmt: skip
        try:
            climbs = _climb(task, stages, rng)
            best = max((climb.best for climb in climbs.values()), key=lambda one: one.value)
            fitted, trace = _settle(task, best, rng)
        except UnboundedError as error:
            raise UnboundedError(error.what, "leave out a column") from None
        interrupted = stop.is_set()
    is_exact, units = all(climb.is_exact for climb in climbs.values()), data.log_jacobian
    info = StructuralInfo(
        "chow-liu", score, fitted.value + units, np.array(trace) + units,
        sum(climb.n_scored for climb in climbs.values()), proven=False, interrupted=interrupted,
        gap=None, n_tried=None, seconds=time.perf_counter() - began, completion="exact",
        ascends=True, statistics="exact" if is_exact else "drawn to search, exact to decide",
        is_bound=False, starts={name: climb.best.value + units for name, climb in climbs.items()},
        notes=note_columns(rows.variables) if any(stages) else (),
    )  # fmt: skip
    return LearnedTree([(int(u), int(v)) for u, v in np.argwhere(fitted.joined)], info)


def _read(rows: Table) -> StructuralRows:
    """The rows, as structural EM reads them; counts are numbers in a tree."""
    rows = counts_as_numbers(rows, keep_declared=False)
    if are_numbers(rows):
        return IncompleteNumbers.of(rows, None, [None] * 4)
    variables = all_variables(rows, {})
    if are_mixed(rows, None):
        return IncompleteMixed.of(rows, variables, None, [None] * 4)
    return IncompleteTables.of(rows, variables)


def _stages(data: StructuralRows) -> list[int]:
    """Numbers join a tree after all labels, so that no label hangs from a number."""
    labels = data.labels if isinstance(data, IncompleteMixed) else range(len(data.names))
    return [int(v not in labels) for v in range(len(data.names))]


def _climb(
    task: StructuralTask, stages: list[int], rng: np.random.Generator
) -> dict[str, ClimbResult]:
    """Climb from the tree of the known cells, the empty graph, and random trees."""
    data, n = task.rows, len(task.rows.names)
    known = data.average_scorer(0.0)
    starts = {
        "available-case": _best_tree(known, stages, is_forest=False),
        "empty": np.zeros((n, n), bool),
    }
    for k in range(RANDOM):
        values = rng.random((n, n))
        starts[f"random {k + 1}"] = _spanning(
            Weights(data.names, values + values.T), stages, is_forest=False
        )
    climbs = {}
    for name, stream in zip(starts, rng.spawn(len(starts)), strict=True):
        climbs[name] = task.climb(starts[name], stream, stream, "exact")
        if task.watch(climbs[name].best.value):
            break
    return climbs


def _settle(
    task: StructuralTask, fitted: FittedGraph, rng: np.random.Generator
) -> tuple[FittedGraph, list[float]]:
    """Fit to convergence until the tree stays the same as well; and J on the way."""
    trace: list[float] = []
    for _ in range(ROUNDS):
        fitted = task.finish(fitted, rng)
        trace += fitted.trace
        completed = task.rows.complete(fitted, "exact", rng)
        scorer = task.rows.scorer(task.objective, completed)
        joined, _ = task.search(scorer, fitted.joined, task.constraints)
        if are_equivalent(joined, fitted.joined) or task.watch(fitted.value):
            break
        new = task.moved(task.objective, fitted, joined, completed, ascends=True)
        if new is None or new.value <= fitted.value:
            break
        fitted = new
        trace += new.trace
    return fitted, trace


def _best_tree(scorer: Scorer, stages: list[int], *, is_forest: bool) -> Flags:
    """The spanning tree, or forest of edges that pay, of the largest gains in score."""
    n = len(scorer.names)
    gains = np.zeros((n, n))  # [child, parent]
    for v in range(n):
        gains[v] = scorer.with_each(v, []) - scorer.family(v, [])
        gains[v, v] = 0.0
    is_below = np.subtract.outer(stages, stages) < 0  # a label below a number, which there is not
    gains = np.where(is_below, gains.T, gains)
    gains[~np.isfinite(gains)] = 0.0  # of pairs that are never known together
    per_row = 0.5 * (gains + gains.T) / max(scorer.total_weight, 1.0)
    return _spanning(Weights(scorer.names, per_row), stages, is_forest=is_forest)


def _spanning(weights: Weights, stages: list[int], *, is_forest: bool) -> Flags:
    """(n, n): the tree, its arrows leading away from the first variable of each component."""
    n = len(weights.names)
    tree = spanning_tree(weights, stages)
    edges = paying_edges(tree) if is_forest else all_edges(tree)
    joined = np.zeros((n, n), bool)
    for v, u in parents_from(edges, sorted(range(n), key=stages.__getitem__)).items():
        if u is not None:
            joined[u, v] = True
    return joined
