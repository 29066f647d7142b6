"""The best network of many variables, proven by integer programming.

Each family has a weight, and those of one child sum to one. A linear program chooses the weights
that score most; inequalities that every graph without a cycle obeys are added where it violates
them. What the program scores is a bound; networks that its weights suggest are what has been
reached. When inequalities do not help much any more the problem is parted in two, by whether two
variables are joined, or by the direction of an edge.

References
----------
Cussens (2011), *Bayesian network learning with cutting planes*, UAI. Bartlett and Cussens (2017),
*Integer linear programming for the Bayesian network structure learning problem*, Artificial
Intelligence 244.
"""

import math
import time
from collections.abc import Callable

import numpy as np

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.info import Outcome
from jensen.q_graph.optimum.cut_search import CutSearch
from jensen.q_graph.optimum.dynamic_programming import IMPOSSIBLE
from jensen.q_graph.optimum.families import Families
from jensen.q_graph.optimum.family_pruning import candidate_families
from jensen.q_graph.optimum.solver import solver
from jensen.q_graph.optimum.stopping import NOTHING_FOUND, StoppedError, climbed, end_after, heeding
from jensen.runs.interrupts import interruptible
from jensen.scores.scorer import Progress, Scorer

Watch = Callable[[float, float], bool]
"""Sees the score that was reached and its bound; True stops the search."""


def prove_best(
    scorer: Scorer,
    constraints: Constraints,
    *,
    time_limit: float | None = None,
    progress: Progress = None,
    watch: Watch | None = None,
) -> Outcome:
    """The network with the highest score of all that the constraints allow, with its proof.

    Parameters
    ----------
    time_limit
        Seconds after which the best network so far is returned.
    progress
        Called with the share of the variables whose families are scored. If time is over before
        all are, or after Ctrl-C, hill climbing finds the network, and nothing is known of others.
    watch
        Called then with the score that was reached and the bound; True ends the search.
    """
    end = end_after(time_limit)
    solver()  # refuses before anything is scored
    try:
        with heeding(progress, end) as tell:
            families = candidate_families(scorer, constraints, tell)
    except StoppedError:
        return climbed(scorer, constraints)
    return solve_by_cuts(families, end=end, watch=watch)


def solve_by_cuts(
    families: Families, *, end: float = math.inf, watch: Watch | None = None
) -> Outcome:
    """The best network of these families, with its proof.

    When the clock is past the end, after Ctrl-C, or when `watch` returns True, it is the best so
    far, with the gap to what has not been ruled out.
    """
    if (np.diff(families.first) == 0).any():
        raise GraphError(IMPOSSIBLE)
    with interruptible() as wish:

        def is_over(score: float, bound: float) -> bool:
            wanted = watch is not None and watch(score, bound)
            return wanted or wish.is_set() or time.perf_counter() > end

        search = CutSearch(families, is_over, end)
        search.run()
    return _outcome(search, families.n_scored)


def _outcome(search: CutSearch, n_scored: int) -> Outcome:
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
    return Outcome(joined, score, trace, n_scored, proven, interrupted, gap)
