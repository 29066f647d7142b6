"""How each method of learning a graph runs, and which choices go together.

`method_choices` lists the methods and their choices.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import RowSource
from jensen.exceptions import JensenError
from jensen.q_graph.classes.equivalence_search import equivalence_search
from jensen.q_graph.classes.rules import read_class
from jensen.q_graph.constraints import Constraints, read_start
from jensen.q_graph.info import SearchOutcome
from jensen.q_graph.method_choices import COMPLETIONS, HAVE, METHODS, WAYS
from jensen.q_graph.optimum.dynamic_programming import best_network, n_bytes
from jensen.q_graph.optimum.integer_program import (
    OutOfTimeError,
    climb_instead,
    end_after,
    prove_best,
    stoppable,
)
from jensen.q_graph.search import climbing
from jensen.q_graph.search.recombining import climb_and_walk, thorough_climb
from jensen.scores.scorer import ListsFamilies, Scorer, log_jacobian_of_units, offered
from jensen.support.machine import get_memory_limit, interruptible
from jensen.support.text import bare, called_here, either, keyword, option

Flags = NDArray[np.bool_]

MOST_SUBSETS = 24
"""More variables have too many subsets for dynamic programming: the tables take 2 GiB for 24."""

SHARE = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"
"""The format of a progress bar whose total is known: a percentage."""


# --- which choices go together ---


def check_choices(method: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """The choices that are not None; an error if one of them does not apply to the method."""
    if method not in METHODS:
        raise JensenError(
            f"there is no method {method!r}: choose one of {', '.join(METHODS)}"
            f"{called_here(method, METHODS)}"
        )
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if method not in HAVE.get(name, METHODS):
            raise JensenError(
                f"{keyword(name)} has no meaning for {option('method', method)}: only for "
                f"{', '.join(HAVE[name])}"
            )
    return chosen


def check_missing(missing: object, given: Mapping[str, Any], *, has_table: bool = True) -> None:
    """Refuse a way with missing values that there is not, and what only structural EM has."""
    _check_word("missing", missing, WAYS)
    if given.get("completion") is not None:
        _check_word("completion", given["completion"], COMPLETIONS)
    for name in [name for name, value in given.items() if value]:
        if not has_table:
            raise JensenError(f"{keyword(name)} belongs to a table: scores= says it all")
        if missing != "structural-em":
            raise JensenError(
                f"{keyword(name)} has no meaning with {option('missing', missing)}: only with "
                f"{option('missing', 'structural-em')}"
            )


def needs_structural_em(table: RowSource, chosen: Mapping[str, Any]) -> bool:
    """Whether variables are hidden, or cells missing in rows that count."""
    if chosen.get("hidden") or chosen.get("missing_indicators"):
        return True
    beside = chosen.get("interventions")
    names = [name for name in table.names if not (isinstance(beside, str) and name == beside)]
    return bool(table.counted().n_missing(names))


def _check_word(name: str, word: object, words: tuple[str, ...]) -> None:
    if not (isinstance(word, str) and word in words):
        raise JensenError(f"{bare(name)} must be {either(map(repr, words))}, not {word!r:.80}")


# --- how methods run ---


class SearchTask(NamedTuple):
    """A learning problem after its arguments were checked."""

    scorer: Scorer
    constraints: Constraints
    start: Any
    streams: Sequence[np.random.Generator]  # one for each restart
    progress: bool
    tabu_length: int = climbing.TABU_LENGTH
    shuffles_first: bool = False  # as `thorough_climb` takes it
    order: Sequence[int] | None = None  # of the columns, as `thorough_climb` takes it


def by_search(method: str, task: SearchTask) -> SearchOutcome:
    """The best graph of a search and of its restarts, which begin after random moves."""

    def climb(climber: climbing.Climber, watch: climbing.Watch) -> climbing.Found:
        if method == "hill-climb":
            shuffles = task.shuffles_first
            return thorough_climb(climber, watch, order=task.order, shuffles_first=shuffles)
        walk = partial(climb_and_walk, order=task.order)
        return climbing.tabu_search(climber, watch, task.tabu_length, walk)

    first = read_start(task.start, task.scorer.names, task.constraints)
    climber = climbing.Climber(task.scorer, task.constraints)
    with _watching(method, task) as watch:
        best = climb(climber.begin(first), watch)
        trace, stopped = list(best.trace), best.stopped
        for stream in task.streams:
            if stopped:
                break
            n_moves = max(4, int(best.joined.sum()))
            changed = climbing.perturbed(best.joined, task.constraints, n_moves, stream)
            found = climb(climber.begin(changed), watch)
            trace, stopped = trace + found.trace[1:], found.stopped
            if found.score > best.score + climber.tie:
                best = found
    return SearchOutcome(
        best.joined, best.score, np.array(trace), climber.families.n_scored, proven=False,
        interrupted=stopped, n_tried=climber.n_tried,
    )  # fmt: skip


def by_classes(task: SearchTask) -> SearchOutcome:
    """The best Markov equivalence class that greedy equivalence search finds."""
    names, constraints = task.scorer.names, task.constraints
    first = None if task.start is None else read_class(task.start, names, constraints)
    with _watching("ges", task) as watch:
        return equivalence_search(task.scorer, constraints, first, watch, task.order)


def by_subsets(task: SearchTask, time_limit: float | None) -> SearchOutcome:
    """The optimum by dynamic programming, or the result of hill climbing if time runs out."""
    with _bar("exact", task.progress, total=1.0) as bar:
        try:
            with stoppable(_shown(bar), end_after(time_limit)) as tell:
                parents, total = best_network(
                    task.scorer,
                    max_parents=task.constraints.most_parents,
                    required=task.constraints.required,
                    forbidden=task.constraints.forbidden,
                    progress=tell,
                )
        except OutOfTimeError:
            return climb_instead(task.scorer, task.constraints)
    n = len(parents)
    joined = np.zeros((n, n), bool)
    for v, above in enumerate(parents):
        joined[list(above), v] = True
    most = min(task.constraints.most_parents, n - 1)
    n_scored = n * sum(math.comb(n - 1, k) for k in range(most + 1))
    return SearchOutcome(joined, total, np.array([total]), n_scored, proven=True, gap=0.0)


def by_cuts(task: SearchTask, time_limit: float | None) -> SearchOutcome:
    """The optimum by integer programming, or the best graph and its gap if time runs out."""
    with (
        _bar("exact: families", task.progress, total=1.0) as scored,
        _bar("exact", task.progress) as bar,
    ):

        def watch(score: float, bound: float) -> bool:
            scored.close()
            if not bar.disable:
                bar.update()
                shown = score + log_jacobian_of_units(task.scorer)
                bar.set_postfix(score=f"{shown:.2f}", gap=f"{bound - score:.3g}", refresh=False)
            return False

        return prove_best(
            task.scorer, task.constraints, time_limit=time_limit, progress=_shown(scored),
            watch=watch,
        )  # fmt: skip


def find_graph(method: str, task: SearchTask, time_limit: float | None = None) -> SearchOutcome:
    """The best graph that a method finds by the scores of families."""
    if method == "exact":
        find = by_subsets if _fits_subsets(task) else by_cuts
        return find(task, time_limit)
    return by_classes(task) if method == "ges" else by_search(method, task)


def _fits_subsets(task: SearchTask) -> bool:
    """Whether to use dynamic programming, which needs memory but ends in a known time.

    If its tables exceed the memory limit, integer programming is used if the number of parents is
    limited. Without such a limit it would not end, so dynamic programming refuses the tables.
    """
    n = len(task.scorer.names)
    is_listed = offered(task.scorer, ListsFamilies) is not None
    is_limited = task.constraints.most_parents < n - 1 or is_listed
    return n <= MOST_SUBSETS and (n_bytes(n) <= get_memory_limit() or not is_limited)


@contextmanager
def _watching(method: str, task: SearchTask) -> Iterator[Callable[[float, int], bool]]:
    """A watch that shows the score, and stops the search after Ctrl-C."""
    constant = log_jacobian_of_units(task.scorer)
    with _bar(method, task.progress) as bar, interruptible() as stop:

        def watch(total: float, n_moves: int) -> bool:
            if not bar.disable:
                bar.update()
                bar.set_postfix(score=f"{total + constant:.2f}", refresh=False)
            return stop.is_set()

        yield watch


def _shown(bar: Any) -> Callable[[float], None]:
    """A function that moves the bar to a share of the work."""
    return lambda share: bar.update(share - bar.n)


def _bar(method: str, progress: bool, total: float | None = None) -> Any:
    form = None if total is None else SHARE
    return tqdm(total=total, desc=method, disable=not progress, delay=1.0, bar_format=form)
