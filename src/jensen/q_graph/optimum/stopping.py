"""Work that ends before its proof, because time is over or the user wishes it."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from jensen.exceptions import DataError, JensenError
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.info import Outcome
from jensen.q_graph.search.climbing import Climber
from jensen.q_graph.search.recombining import thorough_climb
from jensen.runs.interrupts import interruptible
from jensen.scores.scorer import Progress, Scorer

NOTHING_FOUND = "the search was stopped before any network was found: give it more time"


class StoppedError(Exception):
    """Time is over, or the user wishes to stop."""


@contextmanager
def heeding(progress: Progress, end: float) -> Iterator[Callable[[float], None]]:
    """Tell of progress; unless all is done, raise `StoppedError` after Ctrl-C or past the end."""
    with interruptible() as wish:

        def tell(share: float) -> None:
            if progress is not None:
                progress(share)
            if share < 1.0 and (wish.is_set() or time.perf_counter() > end):
                raise StoppedError

        yield tell


def end_after(time_limit: float | None) -> float:
    """What the clock shows when time is over."""
    return math.inf if time_limit is None else time.perf_counter() + time_limit


def climbed(scorer: Scorer, constraints: Constraints) -> Outcome:
    """What hill climbing finds: a graph with no bound on others."""
    try:
        climber = Climber(scorer, constraints).begin(constraints.required)
    except DataError:  # the graph without further edges is not possible, so none is known
        raise JensenError(NOTHING_FOUND) from None
    found = thorough_climb(climber, lambda score, n_moves: False)
    return Outcome(
        found.joined, found.score, np.array(found.trace), climber.families.n_scored, proven=False,
        interrupted=True, gap=math.inf, n_tried=climber.n_tried,
    )  # fmt: skip
