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
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, as_rows
from jensen.graphs import DAG, PDAG, as_dag
from jensen.independence.independent import check_alpha, check_table, make_tests
from jensen.independence.pc import Named, watched
from jensen.independence.testing import Given, Question, Tests, portions
from jensen.q_graph.constraints import (
    Constraints,
    add_certain_edges,
    add_prior,
    read_constraints,
    restrict,
)
from jensen.q_graph.info import StructuralInfo, StructureInfo
from jensen.q_graph.search.climbing import Climber
from jensen.q_graph.search.recombining import thorough_climb
from jensen.q_graph.structural.learning import learn_incomplete
from jensen.scores.graph_priors import read_family_prior
from jensen.scores.make_scorer import make_scorer
from jensen.scores.scorer import Scorer, log_jacobian_of_units, name_of, unitless
from jensen.scores.table_checks import note_columns
from jensen.support.arguments import check_whole
from jensen.support.machine import interruptible

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MMHCInfo(StructureInfo):
    """How a graph was found by hill climbing among the pairs that tests left."""

    test: str
    alpha: float
    n_tests: int
    candidates: tuple[Named, ...] = field(repr=False)
    """The pairs between which edges were possible."""


@dataclass(frozen=True)
class IncompleteMMHCInfo(StructuralInfo, MMHCInfo):
    """The same where values are missing: structural EM climbed among these pairs."""


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
    climbing from the required edges then adds edges only between these. Where values are missing a
    test reads the rows that show its variables, and the hill climbing is that of structural EM.

    Parameters
    ----------
    table
        Anything a `Table` can be built from, its columns all categorical or all continuous.
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
    tests, test_name = make_tests(data, test, permutations, random_state)
    names = tests.names
    rules = read_constraints(names, max_parents, required, forbidden, tiers)
    scorer: Scorer | None = None
    if not data.counted().n_missing(names):
        plain = unitless(make_scorer(data, score, **score_choices))
        scorer, rules = add_prior(prior, plain, restrict(rules, plain))
    elif prior is not None:
        rules = add_certain_edges(names, rules, read_family_prior(prior, names))
    possible = ~(rules.forbidden & rules.forbidden.T) & ~np.eye(len(names), dtype=bool)
    most = len(names) if max_given is None else int(max_given)
    with watched("mmhc", progress) as watch:
        found = find_neighbours(tests, possible, math.log(alpha), most, watch)
    joined = found.joined | rules.required | rules.required.T
    told: dict[str, Any] = {
        "test": test_name,
        "alpha": alpha,
        "n_tests": found.n_tests,
        "candidates": _named(np.triu(joined), names),
    }
    within = rules._replace(forbidden=rules.forbidden | ~joined)
    if scorer is not None:
        dag = _climb(scorer, within, data, is_over=found.interrupted)
        return dag.with_info(MMHCInfo(**_changed(dag.info, began, found), **told))
    if found.interrupted:
        within = within._replace(forbidden=~rules.required)
    chosen = {"score": score, "prior": prior, "random_state": random_state, "progress": progress}
    among = as_dag(_climb_incomplete(data, within, {**chosen, **score_choices}))
    return among.with_info(IncompleteMMHCInfo(**_changed(among.info, began, found), **told))


def _climb(scorer: Scorer, within: Constraints, data: RowSource, *, is_over: bool) -> DAG:
    """Climb from the required edges, or stay there if the run is over."""
    with interruptible() as stop:
        climber = Climber(scorer, within).begin(within.required)
        best = thorough_climb(climber, lambda total, n_moves: stop.is_set() or is_over)
    constant, names = log_jacobian_of_units(scorer), scorer.names
    info = StructureInfo(
        method="mmhc",
        score_name=name_of(scorer),
        score=best.score + constant,
        trace=np.array(best.trace) + constant,
        n_scored=climber.families.n_scored,
        proven=False,
        interrupted=best.stopped,
        gap=None,
        n_tried=climber.n_tried,
        seconds=0.0,
        notes=note_columns([data.variable(name) for name in names]),
    )
    return DAG(_named(best.joined, names), names).with_info(info)


def _climb_incomplete(data: RowSource, within: Constraints, chosen: dict[str, Any]) -> DAG | PDAG:
    """Structural EM among the pairs that are allowed."""
    names = tuple(sorted(data.names))
    not_there = within.forbidden & ~within.required & ~np.eye(len(names), dtype=bool)
    edges = {
        "required": _named(within.required, names),
        "forbidden": _named(not_there, names),
        "max_parents": within.most_parents,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    return learn_incomplete(data, {"method": "hill-climb", **given, **edges})


def _changed(info: Any, began: float, found: "Neighbours") -> dict[str, Any]:
    """What the record of a climb says, as that of the whole run."""
    said = {one.name: getattr(info, one.name) for one in fields(info)}
    interrupted = info.interrupted or found.interrupted
    seconds = time.perf_counter() - began
    return {**said, "method": "mmhc", "interrupted": interrupted, "seconds": seconds}


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
