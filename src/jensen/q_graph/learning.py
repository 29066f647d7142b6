"""Learning a graph from data, by the name of the method."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.checks import check_whole
from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.interrupts import interruptible
from jensen.io.jkl import read_local_scores
from jensen.q_graph import search
from jensen.q_graph.constraints import Constraints, read_constraints, read_start
from jensen.q_graph.exact import best_network
from jensen.q_graph.info import Outcome, StructureInfo
from jensen.randomness import as_generator
from jensen.scores.by_name import Missing
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.scores.scorer import Scorer

Method = Literal["hill-climb", "tabu", "exact"]
Flags = NDArray[np.bool_]


def learn_structure(
    table: Any = None,
    method: Method = "hill-climb",
    score: str | None = None,
    *,
    equivalent_sample_size: float | None = None,
    max_parents: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] = (),
    start: Any = None,
    restarts: int = 0,
    random_state: Any = None,
    interventions: Any = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
    scores: Any = None,
    progress: bool = False,
    **gaussian: Any,
) -> DAG:
    """Learn the graph that explains the data best.

    Parameters
    ----------
    table
        Anything a `Table` can be built from, its columns all categorical or all continuous; the
        order of the columns changes nothing.
    method
        "hill-climb": from the start, the best of adding, dropping or turning an edge until nothing
        gains; "tabu": the same, going on over losses without returning to the last graphs;
        "exact": the optimum, proven, for about 22 variables at most.
    score
        As in `jensen.score`; by default "bdeu" for categorical and "bge" for continuous columns.
    equivalent_sample_size, missing, prior_network, **gaussian
        As in `jensen.score`.
    max_parents
        The most parents that a variable may have.
    required, forbidden
        Edges that must or must not be there: pairs (from, to), or a text like "A -> B; C -> D".
    tiers
        Lists of variables in time: no edge leads from a later list to an earlier one.
    start
        The graph that a search begins with; by default the required edges alone.
    restarts
        How often a search begins again from its best graph, some of whose edges were changed at
        random.
    random_state
        Of the restarts.
    interventions
        A column (then no variable), or one entry per row: the name of the variable that was set
        from outside in that row, or nothing. Such rows are left out of that variable's family.
    scores
        In place of a table for method="exact": a file of local scores (.jkl), or what
        `jensen.read_local_scores` gave.
    progress
        Show the score and the number of moves while it runs. Ctrl-C ends a search with the best
        graph so far.

    Returns
    -------
    DAG
        Its `info` tells the score, its trace, how many moves were made and families scored, how
        long it took, and whether the graph is proven to be optimal.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.examples.load("asia").sample(2000, random_state=0)
    >>> dag = jn.learn_structure(table, score="bic", tiers=[["asia", "smoke"]])
    >>> dag.info.proven, abs(dag.info.score - jn.score(dag, table, "bic")) < 1e-6
    (False, True)
    """
    began = time.perf_counter()
    _check(method, start, restarts)
    scorer, score_name = _scorer(
        table,
        scores,
        score,
        equivalent_sample_size=equivalent_sample_size,
        missing=missing,
        prior_network=prior_network,
        interventions=interventions,
        **gaussian,
    )
    constraints = read_constraints(scorer.names, max_parents, required, forbidden, tiers)
    with _bar(method, progress) as bar:
        if method == "exact":
            found = _exact(scorer, constraints, bar)
        else:
            first = read_start(start, scorer.names, constraints)
            climb = search.hill_climb if method == "hill-climb" else search.tabu_search
            streams = as_generator(random_state).spawn(restarts)
            found = _searched(climb, search.Climber(scorer, constraints), first, streams, bar)
    edges = [(scorer.names[u], scorer.names[v]) for u, v in np.argwhere(found.joined)]
    info = StructureInfo(method, score_name, *found[1:], time.perf_counter() - began)
    return DAG(edges, scorer.names).with_info(info)


def _check(method: object, start: object, restarts: object) -> None:
    if method not in get_args(Method):
        raise JensenError(
            f"there is no method {method!r}: choose one of {', '.join(get_args(Method))}"
        )
    check_whole("restarts", restarts, at_least=0)
    if method == "exact" and (start is not None or restarts):
        raise JensenError("method='exact' finds the optimum: it has no start= and no restarts=")


def _scorer(table: Any, scores: Any, score: str | None, **choices: Any) -> tuple[Scorer, str]:
    """Local scores, and what they are called."""
    if (table is None) == (scores is None):
        raise JensenError("give a table, or scores= of local scores that are known already")
    if table is None:
        given = {
            name
            for name, value in choices.items()
            if not (value is None or (isinstance(value, str) and value == "refuse"))
        }
        if score is not None or given:
            raise JensenError(
                f"{', '.join(sorted(given)) or 'score'}= belongs to a table: scores= says it all"
            )
        listed = scores if isinstance(scores, LocalScores) else read_local_scores(scores)
        return listed, "local scores"
    scorer = make_scorer(table, score, **choices)
    return scorer, score or ("bge" if isinstance(scorer, GaussianScorer) else "bdeu")


def _exact(scorer: Scorer, constraints: Constraints, bar: Any) -> Outcome:
    done = 0.0

    def progress(share: float) -> None:
        nonlocal done
        bar.update(share - done)
        done = share

    parents, total = best_network(
        scorer,
        max_parents=constraints.most_parents,
        required=constraints.required,
        forbidden=constraints.forbidden,
        progress=progress,
    )
    n = len(parents)
    joined = np.zeros((n, n), bool)
    for v, above in enumerate(parents):
        joined[list(above), v] = True
    most = min(constraints.most_parents, n - 1)
    n_scored = n * sum(math.comb(n - 1, k) for k in range(most + 1))
    return Outcome(joined, total, np.array([total]), n_scored, proven=True)


def _searched(
    climb: Callable[[search.Climber, search.Watch], search.Found],
    climber: search.Climber,
    first: Flags,
    streams: Sequence[np.random.Generator],
    bar: Any,
) -> Outcome:
    """The best of a search, and of searches from what is left of it after random moves."""
    with interruptible() as wish:

        def watch(total: float, n_moves: int) -> bool:
            if not bar.disable:
                bar.update()
                bar.set_postfix(score=f"{total:.2f}", refresh=False)
            return wish.is_set()

        best = climb(climber.begin(first), watch)
        trace, stopped = list(best.trace), best.stopped
        for stream in streams:
            if stopped:
                break
            n_moves = max(4, int(best.joined.sum()))
            changed = search.perturbed(best.joined, climber.constraints, n_moves, stream)
            found = climb(climber.begin(changed), watch)
            trace, stopped = trace + found.trace[1:], found.stopped
            if found.score > best.score + climber.slack:
                best = found
    return Outcome(best.joined, best.score, np.array(trace), climber.n_scored, False, stopped)


@contextmanager
def _bar(method: str, progress: bool) -> Iterator[Any]:
    total = 1.0 if method == "exact" else None
    with tqdm(total=total, desc=method, disable=not progress, delay=1.0) as bar:
        yield bar
