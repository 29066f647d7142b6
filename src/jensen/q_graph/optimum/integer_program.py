"""The optimal network of many variables, proven by integer programming.

Each family has a weight, and the weights of one child sum to one. A linear program finds the
weights with the highest score; cutting planes, which every acyclic graph obeys, are added where it
violates them. The score of the program is an upper bound; the best network that its weights suggest
is a lower bound. When cuts do not help much any more, the problem is branched in two.

References
----------
Cussens (2011), *Bayesian network learning with cutting planes*, UAI. Bartlett and Cussens (2017),
*Integer linear programming for the Bayesian network structure learning problem*, Artificial
Intelligence 244.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from jensen.exceptions import DataError, GraphError, JensenError
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.info import SearchOutcome
from jensen.q_graph.optimum.branch_and_bound import CutSearch
from jensen.q_graph.optimum.dynamic_programming import IMPOSSIBLE
from jensen.q_graph.optimum.families import CandidateFamilies, candidate_families
from jensen.q_graph.optimum.solver import solver
from jensen.q_graph.search.climbing import Climber
from jensen.q_graph.search.recombining import thorough_climb
from jensen.scores.scorer import Progress, Scorer
from jensen.support.machine import interruptible

Watch = Callable[[float, float], bool]
"""Called with the best score and its upper bound; returning True stops the search."""

NOTHING_FOUND = "the search was stopped before any network was found: give it more time"


class OutOfTimeError(Exception):
    """The time limit has passed, or the user pressed Ctrl-C."""


@contextmanager
def stoppable(progress: Progress, end: float) -> Iterator[Callable[[float], None]]:
    """A progress function that raises `OutOfTimeError` after Ctrl-C or past the end."""
    with interruptible() as stop:

        def tell(share: float) -> None:
            if progress is not None:
                progress(share)
            if share < 1.0 and (stop.is_set() or time.perf_counter() > end):
                raise OutOfTimeError

        yield tell


def end_after(time_limit: float | None) -> float:
    """The value of `time.perf_counter` at the time limit; infinite without a limit."""
    return math.inf if time_limit is None else time.perf_counter() + time_limit


def climb_instead(scorer: Scorer, constraints: Constraints) -> SearchOutcome:
    """The result of hill climbing, without a bound: what is returned if time runs out."""
    try:
        climber = Climber(scorer, constraints).begin(constraints.required)
    except DataError:  # the start graph is impossible, so no graph is known
        raise JensenError(NOTHING_FOUND) from None
    found = thorough_climb(climber, lambda score, n_moves: False)
    return SearchOutcome(
        found.joined, found.score, np.array(found.trace), climber.families.n_scored, proven=False,
        interrupted=True, gap=math.inf, n_tried=climber.n_tried,
    )  # fmt: skip


def prove_best(
    scorer: Scorer,
    constraints: Constraints,
    *,
    time_limit: float | None = None,
    progress: Progress = None,
    watch: Watch | None = None,
) -> SearchOutcome:
    """The network with the highest score of all that the constraints allow, with its proof.

    Parameters
    ----------
    time_limit
        Seconds after which the best network so far is returned.
    progress
        Called with the share of the variables whose families are scored. If time runs out before
        all are scored, or after Ctrl-C, the result is that of hill climbing, without a bound.
    watch
        Called afterwards with the best score and the bound; returning True ends the search.
    """
    end = end_after(time_limit)
    solver()  # refuses before anything is scored
    try:
        with stoppable(progress, end) as tell:
            families = candidate_families(scorer, constraints, tell)
    except OutOfTimeError:
        return climb_instead(scorer, constraints)
    return solve_by_cuts(families, end=end, watch=watch)


def solve_by_cuts(
    families: CandidateFamilies, *, end: float = math.inf, watch: Watch | None = None
) -> SearchOutcome:
    """The best network of these families, with its proof.

    If time runs out, after Ctrl-C, or if `watch` returns True, it is the best network so far, with
    the gap to the upper bound.
    """
    if (np.diff(families.first) == 0).any():
        raise GraphError(IMPOSSIBLE)
    with interruptible() as stop:

        def is_over(score: float, bound: float) -> bool:
            wanted = watch is not None and watch(score, bound)
            return wanted or stop.is_set() or time.perf_counter() > end

        search = CutSearch(families, is_over, end)
        search.run()
    return _outcome(search, families.n_scored)


def _outcome(search: CutSearch, n_scored: int) -> SearchOutcome:
    if search.best is None:
        if not search.stopped:
            raise GraphError(IMPOSSIBLE)
        raise JensenError(NOTHING_FOUND)
    n = len(search.best.parents)
    joined = np.zeros((n, n), bool)
    for v, parents in enumerate(search.best.parents):
        joined[list(parents), v] = True
    proven = not search.is_open(search.bound)
    gap = 0.0 if proven else search.bound - search.best.score
    trace = np.array(search.trace)
    interrupted = search.stopped and not proven
    score = search.best.score
    return SearchOutcome(joined, score, trace, n_scored, proven, interrupted, gap)
