"""Hill climbing that puts together anew what it has scored on its way.

At a graph where no single move gains, climbing has scored many families that are not in it: what
every variable would score with one parent more or less, in all graphs on the way. Which of these
families together make the best graph is a question of the order of the variables alone, and no row
is read for it: in a given order every variable takes its best family of those whose parents stand
before it, and variables move in the order as long as that gains. The best graph of these is where
climbing goes on, and what it scores there is put together again.

Which families climbing visits depends on how it directs its first edges, so it climbs three times:
where an edge gains the same either way, it is directed to leave more to be gained, or from the
earlier name, or from the later one. The second of these is plain greedy search, which the result is
never below. Once nothing gains, it climbs from an equivalent graph with edges turned that can be;
and once that gains nothing either, it makes some moves of tabu search.

Where the columns of a table stand in another order than that of their names, it climbs at last by
plain greedy search in their order, too, and goes on from there if that is better than all before.

References
----------
Teyssier and Koller (2005), *Ordering-based search: a simple and effective algorithm for learning
Bayesian networks*, UAI.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np

from jensen.graphs.indexed_graph import topological_order
from jensen.q_graph.classes.graph import class_of, member, members, set_of
from jensen.q_graph.search.climbing import (
    BACK,
    FIRST,
    MORE,
    Climber,
    Flags,
    Found,
    Watch,
    hill_climb,
    plain_climb,
    plain_tabu,
    tabu_search,
)
from jensen.q_graph.search.family_scores import FamilyPool, SetValues

ROUNDS = 100
"""How often variables are moved at random, to leave an order that no single move improves."""

PATIENCE = 20
"""How often without a gain."""

KICKS = 6
"""How many of them at a time."""

MOST_WORK = 4_000_000
"""Rounds times variables times families, at most."""

LAST = 10
"""Moves of tabu search without a better graph, before hill climbing ends."""

walk_on = partial(tabu_search, length=LAST, climb=plain_climb)


def thorough_climb(
    climber: Climber,
    watch: Watch,
    *,
    order: Sequence[int] | None = None,
    shuffles_first: bool = False,
) -> Found:
    """Climb, put families together anew, and climb on, until nothing gains.

    The climber stands at its start. The score is never below that of `hill_climb`, nor of plain
    greedy search in the order of names, nor in `order`.

    Parameters
    ----------
    order
        All variables, in another order that decides between equals in the last climb: that of the
        columns. As R's `hc` climbs so, the result is never below its own.
    shuffles_first
        Whether variables are moved at random before an equivalent graph is climbed from: slower on
        complete rows; from expected counts, where families are scored anew anyway, it leads to
        better graphs. These are not walked on from by tabu search.
    """
    start, on = climber.joined.copy(), Recombiner(climber)
    best = hill_climb(climber, watch)
    for ties in (FIRST, BACK):
        best = _better(climber, best, start, watch, ties, plain_climb)
    best = _climb_on(on, best, watch, shuffles_first)
    other = _better_in_order(climber, best, start, watch, order, plain_climb)
    return other if other.score == best.score else _climb_on(on, other, watch, shuffles_first)


def _climb_on(on: "Recombiner", best: Found, watch: Watch, shuffles_first: bool) -> Found:
    """Climb on from families put together anew, and from equivalent graphs, until nothing gains."""
    climber, before = on.climber, -np.inf
    while best.score > before and not best.stopped:
        before = best.score
        for other in _other_starts(on, best.joined, shuffles_first):
            if not (climber.constraints.refuse(other) or np.array_equal(other, best.joined)):
                best = _better(climber, best, other, watch)
            if best.score > before or best.stopped:
                break
        if best.score == before and not shuffles_first:
            best = _better(climber, best, best.joined, watch, MORE, walk_on)
    return best


def _other_starts(recombiner: "Recombiner", joined: Flags, shuffles_first: bool) -> Iterator[Flags]:
    """Graphs from which to climb on, one by one."""
    found = recombiner.recombined(joined, 0)
    if found is not None:
        yield found
    if not shuffles_first:
        yield turned(joined)
    found = recombiner.recombined(joined, ROUNDS)
    if found is not None:
        yield found
    if shuffles_first:
        yield turned(joined)


def climb_and_walk(climber: Climber, watch: Watch, *, order: Sequence[int] | None = None) -> Found:
    """What tabu search goes on from: the best of `thorough_climb` and of plain tabu search."""
    start = climber.joined.copy()
    best = thorough_climb(climber, watch, order=order)
    best = _better(climber, best, start, watch, FIRST, plain_tabu)
    return _better_in_order(climber, best, start, watch, order, plain_tabu)


def _better(
    climber: Climber,
    best: Found,
    start: Flags,
    watch: Watch,
    ties: int = MORE,
    climb: Callable[[Climber, Watch], Found] = hill_climb,
) -> Found:
    """The better one of what is known and a climb from another graph."""
    if best.stopped:
        return best
    climber.ties = ties
    found = climb(climber.begin(start), watch)
    climber.ties = MORE
    trace = best.trace + found.trace[1:]
    if found.score > best.score + climber.tie:
        return found._replace(trace=trace)
    return best._replace(trace=trace, stopped=found.stopped)


def _better_in_order(
    climber: Climber,
    best: Found,
    start: Flags,
    watch: Watch,
    order: Sequence[int] | None,
    climb: Callable[[Climber, Watch], Found],
) -> Found:
    """The better one of what is known and a climb in another order, if there is one."""
    if order is None:
        return best
    climber.put_in_order(order)
    best = _better(climber, best, start, watch, FIRST, climb)
    climber.put_in_order(range(len(order)))
    return best


def turned(joined: Flags) -> Flags:
    """An equivalent graph: of edges that may lead either way, those are turned that can be."""
    parents = parents_of(joined)
    dag = member(class_of([set_of(up) for up in parents]), topological_order(parents)[::-1])
    edges = [(u, v) for v, above in enumerate(dag) for u in members(above)]
    found = np.zeros_like(joined)
    found[tuple(np.array(edges, np.int64).reshape(-1, 2).T)] = True
    return found


def parents_of(joined: Flags) -> list[list[int]]:
    """The parents of each variable."""
    found: list[list[int]] = [[] for _ in joined]
    for v, u in np.argwhere(joined.T).tolist():
        found[v].append(u)
    return found


# --- families put together ---


class Recombiner:
    """The families that a climber has scored, and the best graph that can be made of them."""

    def __init__(self, climber: Climber) -> None:
        self.climber = climber
        self.pool = FamilyPool(climber.constraints)
        self.n_seen = 0  # of the families that the climber keeps
        self.tried: dict[int, bytes] = {}  # by the number of rounds, from where nothing came
        self.uniforms = np.random.default_rng(0).random((ROUNDS, KICKS, 2))
        self.values: SetValues | None = None

    def recombined(self, joined: Flags, n_rounds: int = ROUNDS) -> Flags | None:
        """The best graph that a search over orders makes of the families that were scored.

        It begins with the order of a graph that was visited, and moves variables at random in so
        many rounds at most. None: there is no other graph, or this one was asked for with the
        same families before, or they are forgotten, because there was no room for so many.
        """
        from jensen.kernels.family_orders import improve_order, order_graph

        n, families = len(joined), self.climber.families
        if families.n_emptied and any(
            families.find((v, tuple(above))) is None for v, above in enumerate(parents_of(joined))
        ):
            return None
        if self._collect():
            self.tried.clear()
        if self.tried.get(n_rounds) == joined.tobytes():
            return None
        self.tried[n_rounds] = joined.tobytes()
        sets, scores, first = self.pool.sets, self.pool.scores, self.pool.first
        order, chosen = np.empty((2, n), np.int64)
        order_graph(joined, order)
        uniforms = self.uniforms[: min(n_rounds, MOST_WORK // (n * len(scores)))]
        improve_order(sets, scores, first, self.climber.tie, uniforms, PATIENCE, order, chosen)
        bits = np.ascontiguousarray(sets[chosen], "<u8").view(np.uint8)
        found = np.unpackbits(bits, axis=1, count=n, bitorder="little").T.astype(bool)
        return None if np.array_equal(found, joined) else np.ascontiguousarray(found)

    def _collect(self) -> bool:
        """Add what was scored since, and what follows from it; whether there was anything."""
        known, tie = self.climber.families.known(), self.climber.tie
        if len(known) < self.n_seen:  # there was no room, so they are others now
            self.n_seen, self.values = 0, None
        visited, self.n_seen = list(islice(known, self.n_seen, None)), len(known)
        if not visited:
            return False
        self.pool.add_scored(visited, tie)
        if self.values is None:
            self.values = self._set_values()
        if self.values is not None:
            self.pool.add(*self.values.derive(visited, tie), tie)
        return True

    def _set_values(self) -> SetValues | None:
        """What tells families that follow from those that were scored, if any does."""
        climber = self.climber
        if not climber.scorer.is_set_function:
            return None
        alone = [climber.families.find((v, ())) for v in range(len(climber.joined))]
        known = [family.score for family in alone if family is not None]
        if len(known) < len(alone):
            return None
        return SetValues(np.array(known), climber.constraints.most_parents)
