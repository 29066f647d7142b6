"""MMHC: tests of independence choose candidate neighbours, hill climbing chooses the edges.

The candidates come from MMPC (max-min parents and children). A variable joins the candidates of a
target as long as the two are dependent given every set of the candidates so far; the one whose
weakest dependence is strongest joins first. At the end candidates are dropped that a set of the
others separates from the target. Two variables are neighbours if each is a candidate of the other.

References
----------
Tsamardinos, Brown and Aliferis (2006), *The max-min hill-climbing Bayesian network structure
learning algorithm*, Machine Learning 65.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import as_rows
from jensen.data.counting import require_complete
from jensen.data.threads import interruptible
from jensen.graphs import DAG
from jensen.independence.independent import check_alpha, check_table, make_tests
from jensen.independence.pc import Named, watched
from jensen.independence.testing import Given, Question, Tests, portions
from jensen.q_graph.classes.rules import use_pc
from jensen.q_graph.constraints import add_prior, read_rules
from jensen.q_graph.info import StructureInfo
from jensen.q_graph.search.climbing import Climber
from jensen.q_graph.search.recombining import thorough_climb
from jensen.scores.make_scorer import make_scorer
from jensen.scores.scorer import log_jacobian_of_units, name_of, unitless
from jensen.scores.table_checks import note_columns
from jensen.support.checks import check_whole
from jensen.support.text import option

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MMHCInfo(StructureInfo):
    """How a graph was found by hill climbing among the pairs that tests left."""

    test: str
    alpha: float
    n_tests: int
    candidates: tuple[Named, ...] = field(repr=False)
    """The pairs between which edges were possible."""


def mmhc(
    table: Any,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    max_given: int | None = None,
    permutations: int = 0,
    score: str | None = None,
    prior: Any = None,
    max_parents: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] = (),
    random_state: Any = None,
    progress: bool = False,
    **score_choices: Any,
) -> DAG:
    """Learn a graph by tests and a score: max-min hill climbing.

    Tests choose the possible neighbours of every variable (max-min parents and children); hill
    climbing from the required edges then adds edges only between these.

    Parameters
    ----------
    table
        Anything a `Table` can be built from, its columns all categorical or all continuous and
        complete: the score needs it.
    test, alpha, permutations, random_state
        As in `jensen.independent`.
    max_given
        The most variables in the condition of a test; None: the number of candidates.
    score, prior, max_parents, required, forbidden, tiers, **score_choices
        As in `jensen.learn_structure`. Required edges are there whatever the tests say.
    progress
        Show how many variables have their candidates. Ctrl-C ends it with the best graph so far.

    Returns
    -------
    DAG
        Its `info` tells the score, the moves, the number of tests and the candidate pairs.

    References
    ----------
    Tsamardinos, Brown and Aliferis (2006), *The max-min hill-climbing Bayesian network structure
    learning algorithm*.

    Examples
    --------
    >>> import jensen as jn
    >>> from jensen.independence.mmhc import mmhc
    >>> table = jn.examples.load("asia").sample(2000, random_state=0)
    >>> dag = mmhc(table, score="bic")
    >>> abs(dag.info.score - jn.score(dag, table, "bic")) < 1e-6
    True
    """
    began = time.perf_counter()
    check_alpha(alpha)
    if max_given is not None:
        check_whole("max_given", max_given, at_least=0)
    data = as_rows(table)
    check_table(data)
    require_complete(data, data.names, option("method", "mmhc", "structure"), use_pc)
    tests, test_name = make_tests(data, test, permutations, random_state)
    names = tests.names
    scorer = unitless(make_scorer(data, score, **score_choices))
    score_name = name_of(scorer)
    given = read_rules(scorer, max_parents, required, forbidden, tiers)
    scorer, constraints = add_prior(prior, scorer, given)
    possible = ~(constraints.forbidden & constraints.forbidden.T) & ~np.eye(len(names), dtype=bool)
    most = len(names) if max_given is None else int(max_given)
    with watched("mmhc", progress) as watch:
        found = find_neighbours(tests, possible, math.log(alpha), most, watch)
    joined = found.joined | constraints.required | constraints.required.T
    within = constraints._replace(forbidden=constraints.forbidden | ~joined)
    with interruptible() as stop:
        climber = Climber(scorer, within).begin(constraints.required)
        best = thorough_climb(climber, lambda total, n_moves: stop.is_set() or found.interrupted)
    constant = log_jacobian_of_units(scorer)
    info = MMHCInfo(
        method="mmhc",
        score_name=score_name,
        score=best.score + constant,
        trace=np.array(best.trace) + constant,
        n_scored=climber.families.n_scored,
        proven=False,
        interrupted=best.stopped or found.interrupted,
        gap=None,
        n_tried=climber.n_tried,
        seconds=time.perf_counter() - began,
        test=test_name,
        alpha=alpha,
        n_tests=found.n_tests,
        candidates=_named(np.triu(joined), names),
        notes=note_columns([data.variable(name) for name in names]),
    )
    return DAG(_named(best.joined, names), names).with_info(info)


def _named(flags: Any, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((names[a], names[b]) for a, b in np.argwhere(flags).tolist())


class Neighbours(NamedTuple):
    """The pairs that each have the other as a candidate."""

    joined: Flags  # (n, n), symmetric
    n_tests: int
    interrupted: bool


def find_neighbours(
    tests: Tests,
    possible: Flags,
    log_alpha: float,
    max_given: int,
    watch: Callable[[int, int, int], bool],
) -> Neighbours:
    """MMPC for every variable; `possible` (n, n), symmetric, flags the pairs that are tested."""
    n = len(tests.names)
    found = np.zeros((n, n), bool)
    n_tests = 0
    for target in range(n):
        others = np.flatnonzero(possible[target]).tolist()
        search = _NeighbourSearch(tests, target, log_alpha, max_given, partial(watch, 0, target, n))
        try:
            found[target, search.run(others)] = True
        except _StoppedError:
            found[target:] = possible[target:]  # these were not tested, so none is ruled out
            return Neighbours(found & found.T, n_tests + search.n_tests, interrupted=True)
        n_tests += search.n_tests
    return Neighbours(found & found.T, n_tests, interrupted=False)


class _StoppedError(Exception):
    """The user pressed Ctrl-C."""


class _NeighbourSearch:
    """The search for the candidates of one target."""

    def __init__(
        self,
        tests: Tests,
        target: int,
        log_alpha: float,
        max_given: int,
        watch: Callable[[], bool],
    ) -> None:
        self.tests, self.target, self.watch = tests, target, watch
        self.log_alpha, self.max_given = log_alpha, max_given
        self.n_tests = 0

    def run(self, others: Sequence[int]) -> list[int]:
        """Add candidates, then drop those that a set of the others separates."""
        if self.watch():
            raise _StoppedError
        candidates: list[int] = []
        nearest = self._largest_p(others, [()])  # for each other variable, the largest p so far
        left = [v for v in others if nearest[v] <= self.log_alpha]
        while left:
            chosen = min(left, key=lambda v: (nearest[v], v))
            left.remove(chosen)
            new = [(*some, chosen) for some in self._sets(candidates, self.max_given - 1)]
            candidates.append(chosen)
            if self.max_given > 0:
                for v, log_p in self._largest_p(left, new).items():
                    nearest[v] = max(nearest[v], log_p)
            left = [v for v in left if nearest[v] <= self.log_alpha]
        return self._shrink(candidates)

    def _shrink(self, candidates: list[int]) -> list[int]:
        """Drop candidates that later ones separate from the target; the last one stays."""
        for v in candidates[:-1]:
            rest = [u for u in candidates if u != v]
            if self._largest_p([v], list(self._sets(rest, self.max_given)))[v] > self.log_alpha:
                candidates = rest
        return sorted(candidates)

    @staticmethod
    def _sets(members: Sequence[int], most: int) -> Iterator[Given]:
        for size in range(min(most, len(members)) + 1):
            yield from combinations(members, size)

    def _largest_p(self, others: Sequence[int], sets: Sequence[Given]) -> dict[int, float]:
        """For each other variable, the largest log p-value given one of the sets."""
        asked: list[Question] = [
            (min(v, self.target), max(v, self.target), tuple(sorted(given)))
            for v in others
            for given in sets
        ]
        if not asked:
            return dict.fromkeys(others, -np.inf)
        log_p = []
        for some in portions(iter(asked)):
            log_p.append(self.tests.log_p_values(some))
            self.n_tests += len(some)
            if self.watch():
                raise _StoppedError
        found = np.concatenate(log_p).reshape(len(others), len(sets)).max(1)
        return dict(zip(others, found.tolist(), strict=True))
