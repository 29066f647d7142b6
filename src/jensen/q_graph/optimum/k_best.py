"""The k best networks, or all networks within a Bayes factor of the best one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, as_rows
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.classes.graph import are_equivalent
from jensen.q_graph.constraints import Constraints, add_prior, read_rules
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.methods import check_missing, needs_structural_em
from jensen.q_graph.optimum.dynamic_programming import IMPOSSIBLE, Edges, family_table, solve
from jensen.q_graph.posterior.listed import BestGraphs, Scored
from jensen.q_graph.structural.learning import climb_incomplete
from jensen.q_graph.structural.structural_em import LAST_SWEEPS, LAST_TOL
from jensen.q_graph.sums.exact_posterior import exact_posterior
from jensen.scores.graph_priors import read_prior
from jensen.scores.make_scorer import make_scorer
from jensen.scores.scorer import Scorer, log_jacobian_of_units, name_of, total, unitless
from jensen.scores.table_checks import note_columns
from jensen.support.arguments import check_whole, is_real
from jensen.support.machine import check_memory

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

MOST_VARIABLES = 16
"""The most variables; with more, the list would be far too long."""

STEPS = 1 << 22
"""Steps of the search between two checks for Ctrl-C."""

COUNTED_BEYOND = 10
"""Networks are counted up to this many times the limit; then the search ends with an error."""

BAYES_FACTOR = 20.0
"""The default Bayes factor."""

OF_ROWS = ("missing", "hidden", "completion", "random_state")
"""Choices that tell what is done where values are missing."""

ROUNDS = 10
"""How often the best of all graphs may replace the network under which counts are expected."""

FACTORS_TRIED = 60
"""The most factors that are tried, by doubling and bisection, to find at least k networks."""


class TooManyError(JensenError):
    """More networks than may be listed."""


def k_best(
    table: Any,
    bayes_factor: float | None = None,
    score: str | None = None,
    *,
    k: int | None = None,
    prior: Any = None,
    max_parents: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Any = (),
    limit: int = 100_000,
    **choices: Any,
) -> BestGraphs:
    """All DAGs that the best one beats by no more than a Bayes factor, for a few variables.

    Parameters
    ----------
    table
        Anything a `Table` can be built from; every column is a variable. Values may be missing, and
        variables hidden: see the notes.
    bayes_factor
        How many times more probable the data may be under the best graph; 1 lists only the graphs
        that are as good as the best. The default is 20, unless `k` is given.
    score
        As in `jensen.learn_structure`. Ratios of bdeu, bds, k2, bde and bge are Bayes factors, of
        bic nearly so.
    k
        List at most the k best graphs; without `bayes_factor` exactly k, whatever they score.
        Graphs with equal scores are ordered by the parents of the variables.
    prior
        The prior of graphs, as in `jensen.learn_structure`. Scores are then log p(data | graph) +
        log p(graph), and the Bayes factor is the ratio of posterior probabilities.
    max_parents, required, forbidden, tiers
        What a graph must and must not hold, as in `jensen.learn_structure`.
    limit
        How many graphs may be listed; more are refused.
    choices
        Of the score, as in `jensen.learn_structure`: `equivalent_sample_size`, `interventions`, ...
        Where values are missing also `missing`, `hidden`, `completion`, `random_state`.

    Returns
    -------
    A list of (graph, score, log_bayes_factor) by falling score.

    Notes
    -----
    Where values are missing, structural EM finds a network, and all graphs are scored by the counts
    that are expected under it: what is missing has the same probabilities q(h) for all graphs. The
    score of the best graph is then J of `jensen.learn_structure`; those of the others are lower
    bounds of theirs (for "bdeu" and "k2" bounds of log p(observed | graph)), which would rise if
    each had probabilities of its own. So ratios favour the best graph, the more the more is
    missing: a graph that is listed is at least as good as its score says.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": [0, 1] * 10})
    >>> for graph, score, lost in jn.k_best(table, bayes_factor=2.0):
    ...     print(graph, round(lost, 3))
    a -> b; c 0.0
    b -> a; c 0.0
    """
    factor = BAYES_FACTOR if bayes_factor is None else bayes_factor
    if not (is_real(factor) and 1.0 <= factor < math.inf):
        raise JensenError(f"bayes_factor must be 1 or more, and finite, not {bayes_factor!r}")
    check_whole("limit", limit, at_least=1)
    if k is not None:
        check_whole("k", k, at_least=1)
        if k > limit:
            raise JensenError(f"k={k:,} is more than limit={limit:,}: raise limit, or lower k")
    rules = {"required": required, "forbidden": forbidden, "tiers": tiers}
    of_rows = {name: choices.pop(name) for name in OF_ROWS if name in choices}

    def search(scorer: Scorer, allowed: Constraints) -> BestGraphs:
        return networks_within(
            scorer,
            math.log(factor),
            max_parents=max_parents,
            required=allowed.required,
            forbidden=allowed.forbidden,
            limit=limit,
            least=0 if k is None or bayes_factor is not None else k,
        )

    missing = of_rows.pop("missing", "structural-em")
    check_missing(missing, {x: of_rows.get(x) for x in of_rows if x != "random_state"})
    beside = {**choices, **of_rows, "prior": prior}
    rows, known = learned_columns(as_rows(table), {**rules, **beside})
    rules = {name: known[name] for name in rules}
    if missing == "structural-em" and needs_structural_em(rows, {**choices, **of_rows}):
        given = {"score": score, "prior": prior, "max_parents": max_parents, **of_rows}
        chosen = {name: value for name, value in given.items() if value is not None}
        _check_number(len(rows.names))
        found = _best_incomplete(rows, {"method": "tabu", **chosen, **rules, **choices}, search)
    else:
        of_score = choices if missing == "structural-em" else {**choices, "missing": missing}
        scorer = unitless(make_scorer(rows, score, **of_score))
        note_columns([rows.variable(name) for name in scorer.names])
        weighed, allowed = add_prior(prior, scorer, read_rules(scorer, max_parents, **rules))
        found, even = search(weighed, allowed), read_prior("uniform", scorer.names).prior
        scored = Scored(
            scorer,
            {"score": name_of(scorer)},
            rows if isinstance(rows, Table) else None,
            {"score": score, **of_score},
            lambda: exact_posterior(weighed, even, allowed).log_total,
        )
        found = replace(found, scored=scored)
    return found if k is None else found[:k]


def _best_incomplete(
    rows: RowSource, chosen: Mapping[str, Any], search: Callable[[Scorer, Constraints], BestGraphs]
) -> BestGraphs:
    """The best networks by what is expected under the very best of them."""
    learned = climb_incomplete(rows, chosen)
    task, fitted = learned.task, learned.found.best
    data, objective, rng = task.rows, task.objective, np.random.default_rng(0)
    for _ in range(ROUNDS):
        completed = data.complete(fitted, "exact", rng)
        scorer = data.scorer(objective, completed)
        found = search(scorer, task.constraints)
        bits = found.parents[0][None, :] >> np.arange(len(scorer.names))[:, None] & 1
        best = bits.astype(bool)
        if are_equivalent(best, fitted.joined):
            break
        start = data.statistics(completed, best)
        new = data.fit(objective, best, start, max_iter=LAST_SWEEPS, tol=LAST_TOL)
        if new.value <= fitted.value:
            break
        fitted = new
    own = total(scorer, [np.flatnonzero(above).tolist() for above in fitted.joined.T])
    # The entropy of q(h) is the same for all graphs, and so are the units of the known cells.
    entropy = fitted.value - own + data.log_jacobian
    return replace(found, scores=found.scores + entropy, best=found.best + entropy)


def _check_number(n: int) -> None:
    if n > MOST_VARIABLES:
        raise JensenError(
            f"k_best lists the graphs of {MOST_VARIABLES} variables at most, not of {n}: choose "
            f"columns, or learn one graph with jn.learn_structure"
        )


def networks_within(
    scorer: Scorer,
    log_factor: float,
    *,
    max_parents: int | None = None,
    required: Edges | None = None,
    forbidden: Edges | None = None,
    limit: int = 100_000,
    least: int = 0,
) -> BestGraphs:
    """All networks whose score is at most `log_factor` below the best one.

    If there are fewer than `least` of them, the factor is raised until there are enough.
    """
    _check_number(len(scorer.names))
    scores = family_table(scorer, max_parents, required, forbidden, None)
    sets, ordered = _by_falling_score(scores)
    tables = solve(scores)
    best = float(tables.totals[-1])
    if best == -math.inf:
        raise GraphError(IMPOSSIBLE)

    def search(factor: float) -> Numbers:
        return _search(sets, ordered, tables.totals, best - factor - tables.tie, limit)

    parents = _enough(search, log_factor, least, _range(ordered))
    totals = _scores_of(parents, sets, ordered)
    order = np.argsort(-totals, kind="stable")
    # What differs by rounding only is sorted by the parents of the variables.
    ties = np.cumsum(-np.diff(totals[order], prepend=best) > tables.tie)
    order = order[np.lexsort((*parents[order].T[::-1], ties))]
    constant = log_jacobian_of_units(scorer)
    return BestGraphs(scorer.names, parents[order], totals[order] + constant, best + constant)


def _range(ordered: Array) -> float:
    """An upper bound on how far any possible network scores below the best one."""
    possible = np.where(ordered > -np.inf, ordered, np.inf)
    return float((ordered[:, 0] - possible.min(axis=1)).sum())


def _enough(
    search: Callable[[float], Numbers], factor: float, least: int, largest: float
) -> Numbers:
    """The networks within a log factor, which is raised or lowered until their number fits."""
    low, high = 0.0, math.inf
    problem = None
    for _ in range(FACTORS_TRIED):
        try:
            found = search(factor)
        except TooManyError as error:
            high, problem = factor, error
            if not least:
                break
        else:
            if len(found) >= least or factor >= largest:
                return found
            low = factor
        factor = min(2.0 * low, largest) if high == math.inf else 0.5 * (low + high)
    assert problem is not None
    raise problem


def _by_falling_score(scores: Array) -> tuple[Numbers, Array]:
    """(n, 2^(n-1)) each: the parent sets of each variable by falling score, and the scores."""
    n, size = scores.shape
    columns = np.arange(size)
    sets = np.empty((n, size), np.int64)
    ordered = np.empty_like(scores)
    for child in range(n):
        order = np.argsort(-scores[child], kind="stable")
        ordered[child] = scores[child, order]
        below = columns[order] & ((1 << child) - 1)
        sets[child] = (columns[order] >> child) << (child + 1) | below
    return sets, ordered


def _search(sets: Numbers, ordered: Array, totals: Array, least: float, limit: int) -> Numbers:
    """(m, n): the parents of every network with a score of at least `least`."""
    from jensen.kernels.best_networks import list_networks

    n = len(sets)
    state, gains = np.zeros((n + 1, 5), np.int64), np.zeros(n + 1)
    state[0, :3] = (1 << n) - 1, 0, n - 1
    check_memory(8.0 * n * limit, f"a list of {limit:,} graphs", "lower limit")
    found, n_found = np.empty((limit, n), np.int64), 0
    while state[n, 0] >= 0 and n_found <= COUNTED_BEYOND * limit:
        n_found = list_networks(sets, ordered, totals, least, STEPS, state, gains, found, n_found)
    if n_found > limit:
        many = f"{n_found:,}" if state[n, 0] < 0 else f"more than {COUNTED_BEYOND * limit:,}"
        raise TooManyError(
            f"{many} graphs are within this Bayes factor of the best, more than limit={limit:,}: "
            f"lower bayes_factor, choose max_parents, or raise limit"
        )
    return found[:n_found]


def _scores_of(parents: Numbers, sets: Numbers, ordered: Array) -> Array:
    """(m,): the scores of networks."""
    totals = np.zeros(len(parents))
    for child, row in enumerate(sets):
        by_number = np.argsort(row)
        at = by_number[np.searchsorted(row, parents[:, child], sorter=by_number)]
        totals += ordered[child, at]
    return totals
