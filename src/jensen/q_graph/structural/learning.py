"""Learning a graph from a table with missing values or hidden variables, by its arguments."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import RowSource, Table, as_rows
from jensen.data.column_warnings import warn_of_row_names
from jensen.exceptions import DataError, JensenError, UnboundedError, warn
from jensen.graphs import DAG, PDAG, as_dag
from jensen.q_graph import methods
from jensen.q_graph.classes.graph import class_of, set_of
from jensen.q_graph.classes.rules import with_known_directions
from jensen.q_graph.constraints import (
    Constraints,
    add_certain_edges,
    as_lists,
    isolate,
    keep_class,
    plain_choice,
    read_constraints,
    read_start,
    without_edges_at,
)
from jensen.q_graph.info import StructuralInfo
from jensen.q_graph.search.climbing import TABU_LENGTH
from jensen.q_graph.structural.journal import Journal
from jensen.q_graph.structural.mixed import IncompleteMixed
from jensen.q_graph.structural.numbers import IncompleteNumbers
from jensen.q_graph.structural.objective import Flags, Objective, StructuralRows
from jensen.q_graph.structural.reading import (
    NO_MEANING,
    StructuralChoices,
    are_mixed,
    are_numbers,
    counted_rows,
    read_labels,
    read_mixed,
    read_numbers,
)
from jensen.q_graph.structural.starts import node_average_penalty
from jensen.q_graph.structural.structural_em import (
    LearnedGraph,
    Search,
    StructuralTask,
    learn_graph,
)
from jensen.q_graph.structural.tables import IncompleteTables
from jensen.scores.conditional_counts import refuse_orphans
from jensen.scores.gaussian import read_strength, refuse_prior
from jensen.scores.graph_priors import read_family_prior
from jensen.scores.registry import SPECS, check_gaussian_score, check_mixed_score, names_where
from jensen.scores.scorer import Scorer
from jensen.scores.table_checks import note_columns, warn_of_constant_labels, warn_of_constants
from jensen.support.arguments import as_generator, check_sample_size, generator_state
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import interruptible
from jensen.support.text import bare, called_here, either, keyword, option

Ints = NDArray[np.int64]

SCORED = names_where(lambda spec: spec.states and spec.kernel and spec.name != "bds")
"""Scores of labels that expected counts have: bds asks which configurations occur, which nobody
knows where values are missing, and fnml needs whole numbers."""


class LearnedStructure(NamedTuple):
    """What structural EM learned, and from what."""

    task: StructuralTask
    choices: StructuralChoices
    found: LearnedGraph
    interrupted: bool


def learn_incomplete(table: RowSource, chosen: Mapping[str, Any]) -> DAG | PDAG:
    """Learn the graph of rows with holes or hidden variables."""
    began = time.perf_counter()
    learned = climb_incomplete(table, chosen)
    info = _info(learned, time.perf_counter() - began, note_columns(table.variables))
    joined, names = learned.found.best.joined, learned.task.rows.names
    if learned.choices.method == "ges":
        matrix = class_of([set_of(np.flatnonzero(up).tolist()) for up in joined.T]).matrix
        return with_known_directions(matrix, names, learned.task.constraints).with_info(info)
    return DAG.from_adjacency(joined, names).with_info(info)


def climb_incomplete(table: RowSource, chosen: Mapping[str, Any]) -> LearnedStructure:
    """Read the arguments, and climb from all starts."""
    if not any(variable.kind != "categorical" for variable in table.variables):
        _check_score(chosen.get("score"))
    chosen = read_strength(chosen)
    for name in chosen:
        if name not in StructuralChoices._fields:
            raise DataError(NO_MEANING.format(keyword(name), "values"))
    if chosen.get("checkpoint") is not None:
        chosen = as_lists(chosen)  # they are read twice
    choices = StructuralChoices(**chosen)
    rows, targets = counted_rows(table, choices.interventions)
    warn_of_row_names(rows, counts=True)
    warn_of_constant_labels(rows)
    data, indicators = _reader(rows, choices)(rows, targets, choices)
    names = data.names
    objective, rules = _objective(choices, data, rows.total_weight)
    rules = _without_empty(_last(rules, names, indicators), rows, names)
    start = None
    if choices.start is not None:
        isolated = {names[v] for v in data.isolated}
        start = read_start(without_edges_at(choices.start, isolated), names, rules)
    rng = as_generator(choices.random_state)
    journal = Journal(rng, choices.checkpoint, _identity(choices, rows, targets, rng))
    with _watching(choices, data.log_jacobian) as watch:
        task = StructuralTask(
            data, objective, rules, make_search(choices, names), choices.completion, watch, journal,
            unbounded=set(),
        )  # fmt: skip
        return LearnedStructure(task, choices, *_learned(task, start, choices.restarts))


def _learned(task: StructuralTask, start: Any, restarts: int) -> tuple[LearnedGraph, bool]:
    """The graph, and whether Ctrl-C was heard; likelihoods without a bound are told."""
    assert task.journal is not None
    assert task.unbounded is not None
    better = option("score", task.rows.first.score)
    way_out = f"leave out a column, or use {better}, whose prior bounds it"
    try:
        found = learn_graph(task, start, restarts, task.journal.rng)
    except UnboundedError as error:
        way_out = f"set a lower {bare('max_parents')}, {way_out}"
        raise UnboundedError(error.what, way_out) from None
    for what in sorted(task.unbounded)[:1]:
        warn(f"{what}: no graph has such a family, however close the relation is; {way_out}")
    return found, task.watch(found.best.value)


def _reader(
    rows: Table, choices: StructuralChoices
) -> Callable[..., tuple[StructuralRows, tuple[str, ...]]]:
    """What reads rows of labels, of numbers or of both."""
    if are_mixed(rows, choices.hidden):
        return read_mixed
    refuse_orphans([v.name for v in rows.variables if v.kind == "count"], [])
    return read_numbers if are_numbers(rows) else read_labels


def _identity(
    choices: StructuralChoices, rows: Table, targets: Any, rng: np.random.Generator
) -> str:
    """The fingerprint of data and settings; a checkpoint of any other run is refused."""
    if choices.checkpoint is None:
        return ""
    told = choices._asdict()
    for name in ("checkpoint", "progress", "random_state", "interventions"):
        del told[name]
    settings = sorted((name, plain_choice(value)) for name, value in told.items())
    seed = None if choices.random_state is None else generator_state(rng)
    return fingerprint("structural EM, 1", settings, rows.digest(), targets, seed)


def average_scorer(table: Any, score: str | None, choices: Mapping[str, Any]) -> Scorer:
    """Node-average scores of incomplete rows; the penalty is larger than that of BIC."""
    if score not in (None, "bic"):
        raise JensenError(
            f"{option('missing', 'node-average')} is a likelihood with a penalty of its own, like "
            f"'bic': leave out {option('score', score)}"
        )
    unknown = [name for name in choices if name not in ("missing", "interventions")]
    if unknown:
        raise JensenError(
            f"{keyword(unknown[0])} has no meaning with {option('missing', 'node-average')}: leave "
            f"it out"
        )
    rows, targets = counted_rows(as_rows(table), choices.get("interventions"))
    warn_of_constant_labels(rows)
    if any(variable.kind == "count" for variable in rows.variables):
        raise DataError(
            f"{option('missing', 'node-average')} is not for declared counts: leave them out of "
            f"{keyword('counts')}, so that they are numbers"
        )
    plain = StructuralChoices("hill-climb")
    data, _ = _reader(rows, plain)(rows, targets, plain)
    return data.average_scorer(node_average_penalty(data.total_weight))


# --- what is climbed ---


def _check_score(score: str | None) -> None:
    """Refuse a score that there is not, or not of incomplete rows."""
    if score is None or score in SCORED:
        return
    if score not in SPECS:
        raise JensenError(
            f"there is no score {score!r}: choose one of {', '.join(SPECS)}"
            f"{called_here(score, SPECS)}"
        )
    raise JensenError(
        f"the score {score!r} needs complete rows: where values are missing or hidden choose "
        f"{either(map(repr, SCORED))}"
    )


def _objective(
    choices: StructuralChoices, data: StructuralRows, weight: float
) -> tuple[Objective, Constraints]:
    """The objective, and the constraints with the edges of which a prior is certain."""
    names, score = data.names, choices.score or data.first.score
    if isinstance(data, IncompleteMixed):
        check_mixed_score(score, names[data.labels[0]], names[data.values[0]])
    elif isinstance(data, IncompleteNumbers):
        check_gaussian_score(score)
    else:
        _check_score(score)
    if not isinstance(data, IncompleteTables) and not SPECS[score].has_joint_prior:
        refuse_prior(score, *choices.prior_parts)
    spec, size = SPECS[score], choices.equivalent_sample_size
    if size is not None and not spec.has_sample_size:
        raise JensenError(f"{score} has no {bare('equivalent_sample_size')}")
    check_sample_size(1.0 if size is None else size)
    amount = spec.penalty(weight) if spec.penalty is not None else float(size or 1.0)
    rules = read_constraints(
        names, choices.max_parents, choices.required, choices.forbidden, choices.tiers
    )
    rules, prior = isolate(rules, names, data.isolated), None
    if isinstance(data, IncompleteMixed):
        rules = keep_class(rules, names, data.kinds)
    if choices.prior is not None:
        read = read_family_prior(choices.prior, names)
        rules, prior = add_certain_edges(names, rules, read), read.prior
    at_map = choices.completion == "map"
    if at_map and spec.penalty is not None:
        raise JensenError(
            f"{option('completion', 'map')} completes rows at the mean of a posterior, so it needs "
            f"a score with a prior of the parameters: use {option('score', data.first.score)}"
        )
    return Objective(score, amount, prior, at_map), rules


def _last(rules: Constraints, names: Sequence[str], indicators: Sequence[str]) -> Constraints:
    """Forbid edges from the indicators of missing values to all other variables."""
    is_indicator = np.array([name in indicators for name in names], bool)
    back = is_indicator[:, None] & ~is_indicator[None, :]
    return rules._replace(forbidden=rules.forbidden | back)


def _without_empty(rules: Constraints, rows: Table, names: Sequence[str]) -> Constraints:
    """Forbid edges at columns without a value, which only rows that were drawn may have.

    Columns of one state explain nothing either: all graphs that differ there have the same J.
    """
    empty = [name for name in rows.names if not rows.n_seen(name)]
    warn_of_constants(empty)
    for name in rows.names:
        variable = rows.variable(name)
        if variable.kind == "categorical" and variable.n_states == 1:
            empty.append(name)
    is_empty = np.array([name in empty for name in names], bool)
    at = (is_empty[:, None] | is_empty[None, :]) & ~rules.required
    return rules._replace(forbidden=rules.forbidden | at)


def make_search(choices: StructuralChoices, names: Sequence[str]) -> Search:
    """The search inside, by the name of the method."""
    length = TABU_LENGTH if choices.tabu_length is None else choices.tabu_length

    def search(scorer: Scorer, joined: Flags, rules: Constraints) -> tuple[Flags, int]:
        start = DAG.from_adjacency(joined, names)
        task = methods.SearchTask(scorer, rules, start, (), False, length, shuffles_first=True)
        # node-average scores differ within a class
        by_classes = choices.method == "ges" and scorer.is_set_function
        method = "hill-climb" if choices.method == "ges" and not by_classes else choices.method
        if getattr(scorer, "is_average", False):  # of starts; each family has rows of its own
            method = "hill-climb"
        found = methods.find_graph(method, task, choices.time_limit)
        if not by_classes:
            return found.joined, found.n_scored
        dag = as_dag(with_known_directions(found.joined, names, rules))
        return np.array(dag.adjacency, bool), found.n_scored

    return search


@contextmanager
def _watching(choices: StructuralChoices, log_jacobian: float) -> Iterator[Callable[[float], bool]]:
    """Show J, and stop after Ctrl-C."""
    form = "{desc}: {n} steps, {elapsed}{postfix}"
    with (
        tqdm(desc="structural-em", disable=not choices.progress, delay=1.0, bar_format=form) as bar,
        interruptible() as stop,
    ):

        def watch(value: float) -> bool:
            if not bar.disable:
                bar.update()
                bar.set_postfix(J=f"{value + log_jacobian:.2f}", refresh=False)
            return stop.is_set()

        yield watch


def _info(learned: LearnedStructure, seconds: float, notes: tuple[str, ...]) -> StructuralInfo:
    """How the graph was found."""
    task, choices, found, interrupted = learned
    climbs, objective, units = found.climbs, task.objective, task.rows.log_jacobian
    best = climbs.get("all rows") or max(climbs.values(), key=lambda one: one.best.value)
    statistics = "exact"
    if not all(climb.is_exact for climb in climbs.values()):
        how = "completed at modes" if choices.completion == "mode" else "drawn"
        statistics = f"{how} to search, exact to decide"
    return StructuralInfo(
        choices.method,
        objective.score,
        found.best.value + units,
        np.array([*best.trace, *(x for x in found.best.trace if x > best.trace[-1])]) + units,
        sum(climb.n_scored for climb in climbs.values()),
        proven=False,
        interrupted=interrupted,
        gap=None,
        n_tried=None,
        seconds=seconds,
        notes=notes,
        completion=choices.completion,
        ascends=choices.completion == "exact",
        statistics=statistics,
        is_bound=not objective.is_likelihood,
        starts={name: climb.best.value + units for name, climb in climbs.items()},
        expected=task.rows.smoothed(found.best),
    )
