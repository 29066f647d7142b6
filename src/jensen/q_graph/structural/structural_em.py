"""Structural EM: graphs and parameters from incomplete rows, climbing one objective.

A step completes the rows at the current graph and q(θ), and searches the graph whose families
explain the completed rows best, q(h) being held fixed; then q(θ) and q(h) are fitted at the new
graph. With all completions neither half can lower J, so J never falls. Completions below
`jensen.inference.completions.LEAST` are left out of the search, and where there are too many they
are drawn; so the search only proposes a graph, and the exact J decides whether it is taken.

J has many local maxima, so several starts are tried: a tree and a node-average graph of the known
cells, the empty graph, and a graph found by draws. For a penalised likelihood each start climbs the
bound of VB first, and the likelihood from there, which leads to better graphs than the likelihood
alone. The best of all then loses some of its edges and is climbed again, several times.

q(h) of a graph favours that graph, so a better neighbour may look worse until it is fitted. Where
the search finds nothing, the neighbours that lose least are fitted too, and the first whose J is
higher is taken.

References
----------
Friedman (1997), *Learning belief networks in the presence of missing values and hidden variables*,
ICML; Friedman (1998), *The Bayesian structural EM algorithm*, UAI.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from jensen.exceptions import TooLargeError, UnboundedError
from jensen.free_energy import BUG
from jensen.q_graph.classes.graph import are_equivalent
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.method_choices import Completion
from jensen.q_graph.search.climbing import best_neighbours
from jensen.q_graph.structural.journal import Journal
from jensen.q_graph.structural.objective import (
    ClimbResult,
    Completed,
    FittedGraph,
    Flags,
    Objective,
    StructuralRows,
)
from jensen.q_graph.structural.starts import climb_again, climb_from_draws, start_graphs
from jensen.scores.scorer import Scorer
from jensen.support.fields import leaves, rebuild

SWEEPS, TOL = 10, 1e-6
"""Sweeps of EM or VB between two searches; fewer if J rises by less than TOL · (|J| + rows).

Two hundred sweeps (TOL 1e-9) end at the same graphs of child, insurance and alarm with a tenth of
the cells missing, and take up to a quarter longer; the graph that is returned is fitted to the end.
"""

LAST_SWEEPS, LAST_TOL = 3000, 1e-11
"""The same at the graph that is returned."""

STEPS, IDLE = 30, 3
"""The most steps of a climb, and of one that is no ascent those without a better graph."""

RESTARTS, MOST_RESTARTS = 5, 11
"""How often the best graph is changed and climbed again, at least and at most, besides what the
caller asks for."""

MOST_FITS, CHEAP = 50, 1_000_000
"""How often a few sweeps are tried at most where a climb or all climbs end: at neighbours of the
graph, and from random parameters; CHEAP is rows · variables² of all that is tried there."""

MANY_ROWS = 1 << 15
"""Of more rows a sample of so many chooses the graph from which all rows are climbed."""

Search = Callable[[Scorer, Flags, Constraints], tuple[Flags, int]]
"""Finds a graph by the scores of families, from another graph, under constraints; and tells how
many families it scored."""


class StructuralTask(NamedTuple):
    """A learning problem after its arguments were checked."""

    rows: StructuralRows
    objective: Objective
    constraints: Constraints
    search: Search
    completion: Completion
    watch: Callable[[float], bool]  # sees J after every step; True stops
    journal: Journal | None = None  # holds the climbs that are finished
    all_graphs: bool = True  # whether the search may find any graph that the constraints allow
    unbounded: set[str] | None = None  # collects what is said of families without a likelihood

    @property
    def first(self) -> Objective:
        """What is climbed before a penalised likelihood."""
        return self.rows.first._replace(prior=self.objective.prior)

    @property
    def n_fits(self) -> int:
        """How many further fits are tried where a climb ends: none where they are dear."""
        return min(CHEAP // (self.rows.n_rows * len(self.rows.names) ** 2 + 1), MOST_FITS)

    @property
    def n_restarts(self) -> int:
        """How often the best graph is perturbed and climbed again: more often if that is cheap."""
        return min(max(self.n_fits, RESTARTS), MOST_RESTARTS)

    def climb(
        self, joined: Flags, start: Any, rng: np.random.Generator, completion: Completion
    ) -> ClimbResult:
        """Climb from a graph: the bound of VB first, then the objective if it is another one."""
        if not self.objective.is_likelihood:
            return self.climb_one(self.objective, joined, start, rng, completion)
        first = self.climb_one(self.first, joined, start, rng, completion)
        then = self.climb_one(
            self.objective, first.best.joined, self.rows.smoothed(first.best), rng, completion
        )
        return then._replace(
            n_steps=first.n_steps + then.n_steps,
            n_refused=first.n_refused + then.n_refused,
            n_scored=first.n_scored + then.n_scored,
            is_exact=first.is_exact and then.is_exact,
        )

    def climb_one(
        self,
        objective: Objective,
        joined: Flags,
        start: Any,
        rng: np.random.Generator,
        completion: Completion,
    ) -> ClimbResult:
        """Climb one objective until the search finds no graph of another class.

        Draws and modes are no ascents: the parameters between their searches have a prior, for
        without one zeros would stand where another row needs mass.
        """
        ascends, is_listed = completion == "exact", completion in ("exact", "map")
        inside = objective if is_listed else self.first
        now = best = self._fit_bounded(inside, joined, start, rng)
        rules = self.constraints
        trace, n_steps, n_refused, n_scored, idle, is_exact = [*now.trace], 0, 0, 0, 0, True
        while n_steps < STEPS and idle < IDLE and not self.watch(now.value):
            completed = self.rows.complete(now, "exact" if is_listed else completion, rng)
            is_exact = is_exact and completed.is_exact
            scorer, found = self.rows.scorer(objective, completed), now.joined
            new: FittedGraph | None = None
            try:
                found, n_here = self.search(scorer, now.joined, rules)
                n_scored += n_here
                if not are_equivalent(found, now.joined):
                    new = self.moved(inside, now, found, completed, ascends=ascends)
                    n_refused += new is None
                elif ascends and objective == self.objective:
                    new = self.better_neighbour(now, scorer, completed, rules)
            except UnboundedError as error:
                if found is now.joined:  # its own families are without a bound
                    at = self._droppable(error, now.joined)
                    now = best = self._fit_bounded(inside, now.joined & ~at, rng, rng)
                    trace = [*now.trace]
                else:
                    at, n_refused = self._unbounded_at(error, found & ~now.joined), n_refused + 1
                rules = rules._replace(forbidden=rules.forbidden | at)
                if at.any():
                    continue
            if new is None:
                break
            now, n_steps = new, n_steps + 1
            trace += now.trace
            idle = 0 if now.value > best.value else idle + 1
            best = max(best, now, key=_value)
        if inside != objective:
            smoothed = self.rows.smoothed(best)
            best = self.rows.fit(objective, best.joined, smoothed, max_iter=SWEEPS, tol=TOL)
            trace = best.trace
        return ClimbResult(best, trace, n_steps, n_refused, n_scored, is_exact)

    def _fit_bounded(
        self, objective: Objective, joined: Flags, start: Any, rng: np.random.Generator
    ) -> FittedGraph:
        """The fit of a graph, without the parents under which a variable has no likelihood."""
        while True:
            try:
                return self.rows.fit(objective, joined, start, max_iter=SWEEPS, tol=TOL)
            except UnboundedError as error:
                joined, start = joined & ~self._droppable(error, joined), rng

    def without(
        self, error: UnboundedError, climb: ClimbResult, rng: np.random.Generator
    ) -> ClimbResult:
        """A climb that goes on without the parents under which a variable has no likelihood."""
        at, rules = self._droppable(error, climb.best.joined), self.constraints
        bounded = self._replace(constraints=rules._replace(forbidden=rules.forbidden | at))
        start = climb.best.joined & ~at
        return bounded.climb_one(self.objective, start, rng, rng, self.completion)

    def _droppable(self, error: UnboundedError, joined: Flags) -> Flags:
        """The edges that lead to the variable without a likelihood; the error if all must stay."""
        at = self._unbounded_at(error, joined & (self.constraints.allowed & 2 > 0))
        if not at.any():
            raise error
        return at

    def _unbounded_at(self, error: UnboundedError, edges: Flags) -> Flags:
        """Those of the edges that lead to the variable without a likelihood."""
        self._note(error)
        is_child = np.array(self.rows.names) == error.child
        return np.asarray(edges & is_child)

    def _note(self, error: UnboundedError) -> None:
        """Collect what is said of a family; the error if no other graph is without it."""
        if not error.child or self.unbounded is None:
            raise error
        self.unbounded.add(error.what)

    def moved(
        self,
        objective: Objective,
        now: FittedGraph,
        joined: Flags,
        completed: Completed,
        *,
        ascends: bool,
    ) -> FittedGraph | None:
        """The fit of a proposed graph; None if it is too large, or lower although J must ascend."""
        try:
            start = self.rows.statistics(completed, joined)
            new = self.rows.fit(objective, joined, start, max_iter=SWEEPS, tol=TOL)
        except TooLargeError:  # the present graph is not
            return None
        fall = now.value - new.trace[0]
        if not ascends or fall <= 1e-9 * (abs(now.value) + completed.total_weight):
            return new
        if completed.is_exact and completed.lost == 0.0:
            raise ArithmeticError(f"J fell by {fall:.3g} at a new graph: {BUG}")
        return None

    def better_neighbour(
        self, now: FittedGraph, scorer: Scorer, completed: Completed, rules: Constraints
    ) -> FittedGraph | None:
        """The fit of a graph that differs by one edge and has a higher J; None if none was found.

        Only those are fitted of which the completed rows think best.
        """
        least = now.value + TOL * (abs(now.value) + completed.total_weight)
        n = self.n_fits if self.all_graphs else 0
        for joined in best_neighbours(scorer, now.joined, rules, n):
            try:
                new = self.moved(self.objective, now, joined, completed, ascends=False)
            except UnboundedError as error:
                self._note(error)
                continue
            if new is not None and new.value > least:
                return new._replace(trace=[x for x in new.trace if x > now.value])
        return None

    def finish(self, fitted: FittedGraph, rng: np.random.Generator) -> FittedGraph:
        """Fit a graph to convergence: from where it is, and from the best of random parameters."""
        at_random = [rng] * max(self.n_fits, 1)
        found = self._fits(fitted.joined, at_random, max_iter=SWEEPS, tol=TOL)
        starts = [self.rows.smoothed(one) for one in (fitted, max(found, key=_value))]
        found = self._fits(fitted.joined, starts, max_iter=LAST_SWEEPS, tol=LAST_TOL)
        return max(found, key=_value)

    def _fits(self, joined: Flags, starts: Sequence[Any], **how: Any) -> list[FittedGraph]:
        """Fits of a graph; those that find no bound are left out, unless all are."""
        found: list[FittedGraph] = []
        for k, start in enumerate(starts, 1):
            try:
                found.append(self.rows.fit(self.objective, joined, start, **how))
            except UnboundedError as error:
                self._note(error)
                if k == len(starts) and not found:
                    raise
        return found


def _value(fitted: FittedGraph) -> float:
    return fitted.value


class LearnedGraph(NamedTuple):
    """The best graph, and where each climb ended."""

    best: FittedGraph
    climbs: dict[str, ClimbResult]


def learn_graph(
    task: StructuralTask, start: Flags | None, restarts: int, rng: np.random.Generator
) -> LearnedGraph:
    """The best graph of several starts, or of the caller's, and of restarts from the best."""
    if task.rows.n_rows > MANY_ROWS:
        return _learn_from_sample(task, start, restarts, rng)
    climbs = _climb_often(task, start, restarts, rng)
    return LearnedGraph(_finished(task, climbs, rng), climbs)


def _learn_from_sample(
    task: StructuralTask, start: Flags | None, restarts: int, rng: np.random.Generator
) -> LearnedGraph:
    """All rows climbed from the best graph of some of them."""
    rows = task.rows.sample(MANY_ROWS, rng)
    first, later, end = rng.spawn(3)  # a climb that a file holds takes no random numbers
    some = task._replace(rows=rows, objective=task.objective.for_weight(rows.total_weight))
    found = _climb_often(some, start, restarts, first)
    best = max(found.values(), key=lambda one: one.best.value).best
    scale = task.rows.total_weight / rows.total_weight

    def climb_all() -> ClimbResult:
        known = rows.smoothed(best)
        statistics = rebuild(known, (scale * leaf for leaf in leaves(known)))
        return task.climb_one(task.objective, best.joined, statistics, later, task.completion)

    last = {"all rows": _kept(task, "all rows", climb_all)}
    climbs = {f"{name}, of {MANY_ROWS:,} rows": climb for name, climb in found.items()}
    return LearnedGraph(_finished(task, last, end), {**last, **climbs})


def _finished(
    task: StructuralTask, climbs: dict[str, ClimbResult], rng: np.random.Generator
) -> FittedGraph:
    """The fit to convergence of the best graph, which is returned.

    A climb to a graph of which only many sweeps tell that its likelihood has no bound goes on
    without the family that has none.
    """
    for k in count():
        name = max(climbs, key=lambda each: climbs[each].best.value)

        def finish(last: ClimbResult = climbs[name]) -> ClimbResult:
            return last._replace(best=task.finish(last.best, rng))

        try:
            return _kept(task, f"finished {k}" if k else "finished", finish).best
        except UnboundedError as error:
            climbs[name] = task.without(error, climbs[name], rng)
    raise AssertionError("a climb without edges ends")


def _climb_often(
    task: StructuralTask, start: Flags | None, restarts: int, rng: np.random.Generator
) -> dict[str, ClimbResult]:
    """Climbs from all starts, and then from the best of them after random changes."""
    first, later, last = rng.spawn(3)
    starts = {"start": start} if start is not None else start_graphs(task)
    climbs: dict[str, ClimbResult] = {}
    for name, stream in zip(starts, later.spawn(len(starts)), strict=True):
        climbs[name] = _kept(
            task, name, partial(task.climb, starts[name], stream, stream, task.completion)
        )
        if task.watch(climbs[name].best.value):
            return climbs
    if start is None and task.completion == "exact" and task.rows.may_draw:
        climbs["draws"] = _kept(
            task, "draws", partial(climb_from_draws, task, starts["tree"], first)
        )
    best = max(climbs.values(), key=lambda one: one.best.value).best
    for k, stream in enumerate(last.spawn(task.n_restarts + restarts)):
        if task.watch(best.value):
            break
        name = f"restart {k + 1}"
        make = partial(climb_again, task, best, stream, afresh=k >= RESTARTS)
        climbs[name] = found = _kept(task, name, make)
        best = max(best, found.best, key=lambda one: one.value)
    return climbs


def _kept(task: StructuralTask, name: str, make: Callable[[], ClimbResult]) -> ClimbResult:
    """A climb as the journal holds it, or made now; one that was interrupted is not kept."""
    if task.journal is None:
        return make()
    found = task.journal.find(name, task.rows, task.objective) or make()
    if not task.watch(found.best.value):
        task.journal.keep(name, found)
    return found
