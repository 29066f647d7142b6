"""MMHC: hill climbing among the pairs that tests of independence leave."""

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from jensen.data import as_rows
from jensen.data.counting import require_complete
from jensen.graphs import DAG
from jensen.independence.info import MMHCInfo
from jensen.independence.making import check_alpha, check_table, make_tests
from jensen.independence.mmpc import find_neighbours
from jensen.independence.pc import watched
from jensen.q_graph.classes.rules import use_pc
from jensen.q_graph.constraints import believe, read_rules
from jensen.q_graph.search.climbing import Climber
from jensen.q_graph.search.recombining import thorough_climb
from jensen.runs.interrupts import interruptible
from jensen.scores.make_scorer import make_scorer
from jensen.scores.scorer import log_jacobian_of_units, name_of, unitless
from jensen.support.checks import check_whole


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

    Tests choose for every variable who may be its neighbours (max-min parents and children, each
    the other's); hill climbing from the required edges then joins none but these.

    Parameters
    ----------
    table
        Anything a `Table` can be built from, its columns all categorical or all continuous and
        complete: the score needs it.
    test, alpha, permutations, random_state
        As in `jensen.independent`.
    max_given
        The most variables that a test may be given; None: as many as there are candidates.
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
    require_complete(data, data.names, "method='mmhc'", use_pc)
    tests, test_name = make_tests(data, test, permutations, random_state)
    names = tests.names
    scorer = unitless(make_scorer(data, score, **score_choices))
    score_name = name_of(scorer)
    given = read_rules(scorer, max_parents, required, forbidden, tiers)
    scorer, constraints = believe(prior, scorer, given)
    possible = ~(constraints.forbidden & constraints.forbidden.T) & ~np.eye(len(names), dtype=bool)
    most = len(names) if max_given is None else int(max_given)
    with watched("mmhc", progress) as watch:
        found = find_neighbours(tests, possible, math.log(alpha), most, watch)
    joined = found.joined | constraints.required | constraints.required.T
    within = constraints._replace(forbidden=constraints.forbidden | ~joined)
    with interruptible() as wish:
        climber = Climber(scorer, within).begin(constraints.required)
        best = thorough_climb(climber, lambda total, n_moves: wish.is_set() or found.interrupted)
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
    )
    return DAG(_named(best.joined, names), names).with_info(info)


def _named(flags: Any, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((names[a], names[b]) for a, b in np.argwhere(flags).tolist())
