"""q(G) as a point, found by climbing from one Markov equivalence class to the next.

Edges are deleted where that gains, else turned, else inserted, until nothing gains. Greedy search
can lock itself in, so more is tried from the class it ends with: all edges at one variable are
taken away, and it climbs again. Unless it is told where to begin it climbs twice, from the class
without edges and from that of the DAG that hill climbing finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jensen.exceptions import GraphError
from jensen.q_graph.classes.climber import ClassClimber
from jensen.q_graph.classes.families import Families
from jensen.q_graph.classes.graph import ClassGraph, Flags, set_of
from jensen.q_graph.classes.knowledge import Knowledge
from jensen.q_graph.classes.members import class_of, class_of_matrix
from jensen.q_graph.classes.rules import check_scorer
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.info import Outcome
from jensen.q_graph.search.climbing import Climber, Watch
from jensen.q_graph.search.recombining import thorough_climb
from jensen.scores.scorer import Scorer


def equivalence_search(
    scorer: Scorer, constraints: Constraints, start: Flags | None, watch: Watch
) -> Outcome:
    """Greedy equivalence search: delete, turn and insert edges until no move gains.

    With enough rows of a distribution that has the independences of a DAG and no others, it finds
    the class of that DAG: this needs no more than that no insertion and no deletion gains.

    In no DAG of the class has a variable more than `most_parents` parents; the largest number of
    parents is the same in all its DAGs. Of every class on the way at least one DAG has the
    required edges and none that are forbidden.

    Parameters
    ----------
    scorer
        Of a score that is the same for all graphs of a class; another one is refused.
    start : (n, n) flags, optional
        A completed PDAG, undirected edges in both directions, as `class_rules.read_class` gives
        it. By default the search begins with the required edges, and again where hill climbing
        ends, so its score is never below that of hill climbing.
    watch
        Sees the best score and the number of moves before each; True stops the search.

    Returns
    -------
    Outcome
        `joined` is a completed PDAG, undirected edges in both directions; `trace` has the scores
        of the climbs that led to a better class, one after the other.

    References
    ----------
    Chickering (2002), *Optimal structure identification with greedy search*; Hauser and Bühlmann
    (2012), *Characterization and greedy learning of interventional Markov equivalence classes of
    directed acyclic graphs*, for turned edges; Nazaret and Blei (2024), *Extremely greedy
    equivalence search*, for deleting first.
    """
    check_scorer(scorer)
    first = _class_of_dag(constraints.required) if start is None else class_of_matrix(start)
    if first is None:
        raise GraphError("the search cannot begin there: this is not a completed PDAG")
    families, knowledge = Families(scorer, constraints.most_parents), Knowledge(constraints)
    if knowledge.member(first) is None:
        raise GraphError(
            "the search cannot begin there: no graph of this class has all required edges and "
            "none that are forbidden"
        )
    best = _climb(ClassClimber(first, families, knowledge), watch)
    if start is None and not best.stopped:
        best = _after_hill_climbing(best, constraints, watch)
    best = _taken_apart(best, watch)
    top = best.top
    return Outcome(
        joined=top.graph.matrix,
        score=top.total,
        trace=np.array(best.trace),
        n_scored=families.n_scored,
        proven=False,
        interrupted=best.stopped,
    )


class Climbed(NamedTuple):
    """Where climbing ended."""

    top: ClassClimber
    trace: list[float]  # the score at the start and after every move
    stopped: bool  # whether the caller's wish ended it


def _climb(climber: ClassClimber, watch: Watch, best: float = -np.inf) -> Climbed:
    """Make moves until none gains."""
    trace = [climber.total]
    while move := climber.next_move():
        if watch(max(best, climber.total), len(trace) - 1):
            return Climbed(climber, trace, stopped=True)
        climber.make(move)
        if climber.total <= trace[-1]:  # what seemed a gain was rounding
            break
        trace.append(climber.total)
    return Climbed(climber, trace, stopped=False)


def _better(best: Climbed, other: Climbed) -> Climbed:
    """The higher one of two; the first one if they are equally high."""
    if other.top.total > best.top.total + best.top.slack:
        return Climbed(other.top, best.trace + other.trace, other.stopped)
    return best._replace(stopped=other.stopped)


def _after_hill_climbing(best: Climbed, constraints: Constraints, watch: Watch) -> Climbed:
    """Climb again, from the class of the DAG that hill climbing finds."""
    families = best.top.families
    climber = Climber(families.scorer, constraints).begin(constraints.required)
    found = thorough_climb(climber, watch)
    families.n_scored += climber.families.n_scored
    if found.stopped:
        return best._replace(stopped=True)
    again = ClassClimber(_class_of_dag(found.joined), families, best.top.knowledge)
    return _better(best, _climb(again, watch))


def _class_of_dag(joined: Flags) -> ClassGraph:
    return class_of([set_of(np.flatnonzero(column).tolist()) for column in joined.T])


def _taken_apart(best: Climbed, watch: Watch) -> Climbed:
    """Climb again without the edges at one variable, at the next one, ..., until none gains."""
    n, y, idle = len(best.top.graph.dag), 0, 0
    while idle < n and not best.stopped:
        y, idle, before = (y + 1) % n, idle + 1, best.top
        if before.graph.adjacent[y]:
            best = _better(best, _climb(before.without(y), watch, before.total))
            idle = idle if best.top is before else 0
    return best
