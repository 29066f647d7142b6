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
never below. Once nothing gains, it climbs from an equivalent graph with edges turned that can be.

References
----------
Teyssier and Koller (2005), *Ordering-based search: a simple and effective algorithm for learning
Bayesian networks*, UAI.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.order import topological_order
from jensen.q_graph.class_graph import members, set_of
from jensen.q_graph.class_members import class_of, member
from jensen.q_graph.search import (
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
)
from jensen.q_graph.set_values import Scored, SetValues

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

ROUNDS = 100
"""How often variables are moved at random, to leave an order that no single move improves."""

PATIENCE = 25
"""How often without a gain."""

KICKS = 3
"""How many of them at a time."""

MOST_WORK = 4_000_000
"""Rounds times variables times families, at most."""


def thorough_climb(climber: Climber, watch: Watch) -> Found:
    """Climb, put families together anew, and climb on, until nothing gains.

    The climber stands at its start. The score is never below that of `hill_climb`, nor of plain
    greedy search in the order of names.
    """
    start = climber.joined.copy()
    best = hill_climb(climber, watch)
    for ties in (FIRST, BACK):
        best = _better(climber, best, start, watch, ties, plain_climb)
    recombiner, is_turned = Recombiner(climber), False
    while not best.stopped:
        before = best.score
        for n_rounds in (0, ROUNDS):  # moving variables at random takes longer
            joined = recombiner.recombined(best.joined, n_rounds)
            if joined is not None:
                best = _better(climber, best, joined, watch)
            if best.score > before or best.stopped:
                break
        if best.score > before:
            is_turned = False
        elif is_turned:
            break
        else:
            is_turned, other = True, turned(best.joined)
            if not (climber.constraints.refuse(other) or np.array_equal(other, best.joined)):
                best = _better(climber, best, other, watch)
    return best


def climb_and_walk(climber: Climber, watch: Watch) -> Found:
    """What tabu search goes on from: the best of `thorough_climb` and of plain tabu search."""
    start = climber.joined.copy()
    best = thorough_climb(climber, watch)
    return _better(climber, best, start, watch, FIRST, plain_tabu)


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
    if found.score > best.score + climber.slack:
        return found._replace(trace=trace)
    return best._replace(trace=trace, stopped=found.stopped)


def turned(joined: Flags) -> Flags:
    """An equivalent graph: of edges that may lead either way, those are turned that can be."""
    parents = [np.flatnonzero(column).tolist() for column in joined.T]
    dag = member(class_of([set_of(up) for up in parents]), topological_order(parents)[::-1])
    found = np.zeros_like(joined)
    for v, above in enumerate(dag):
        found[list(members(above)), v] = True
    return found


# --- families put together ---


class Recombiner:
    """The families that a climber has scored, and the best graph that can be made of them."""

    def __init__(self, climber: Climber) -> None:
        n = len(climber.joined)
        self.climber = climber
        self.n_seen = 0  # of the families that the climber keeps
        self.tried: dict[int, bytes] = {}  # by the number of rounds, from where nothing came
        self.values: SetValues | None = None
        self.children: Ints = np.empty(0, np.int64)
        self.sets: Words = np.empty((0, (n + 63) // 64), np.uint64)
        self.scores: Array = np.empty(0)

    def recombined(self, joined: Flags, n_rounds: int = ROUNDS) -> Flags | None:
        """The best graph that a search over orders makes of the families that were scored.

        It begins with the order of a graph that was visited, and moves variables at random in so
        many rounds at most. None: there is no other graph, or this one was asked for with the
        same families before, or they are forgotten, because there was no room for so many.
        """
        from jensen.kernels.family_orders import improve_order

        n, find = len(joined), self.climber.families.find
        parents = [tuple(column.nonzero()[0].tolist()) for column in joined.T]
        if any(find((v, above)) is None for v, above in enumerate(parents)):
            return None
        if self._collect():
            self.tried.clear()
        if self.tried.get(n_rounds) == joined.tobytes():
            return None
        self.tried[n_rounds] = joined.tobytes()
        sets, scores, first = self._by_child()
        order, chosen = np.array(topological_order(parents), np.int64), np.empty(n, np.int64)
        n_rounds = min(n_rounds, MOST_WORK // (n * len(scores)))
        uniforms = np.random.default_rng(0).random((n_rounds, KICKS, 2))
        improve_order(sets, scores, first, self.climber.slack, uniforms, PATIENCE, order, chosen)
        bits = np.ascontiguousarray(sets[chosen], "<u8").view(np.uint8)
        found = np.unpackbits(bits, axis=1, count=n, bitorder="little").T.astype(bool)
        return None if np.array_equal(found, joined) else np.ascontiguousarray(found)

    def _collect(self) -> bool:
        """Add what was scored since: families, those with a parent less, and with one more.

        A further parent is of use only where it gains. Returns whether there was anything new.
        """
        climber, n = self.climber, len(self.climber.joined)
        rules, visited = climber.constraints, list(climber.families.known())
        if len(visited) < self.n_seen:  # there was no room, so they are others now
            self.n_seen, self.values = 0, None
        visited, self.n_seen = visited[self.n_seen :], len(visited)
        if not visited:
            return False
        child, above, score = (
            [v for (v, _), _ in visited],
            [parents for (_, parents), _ in visited],
            [family.score for _, family in visited],
        )
        for (v, parents), family in visited:
            for k, less in enumerate(family.less.tolist()):
                child.append(v)
                above.append(parents[:k] + parents[k + 1 :])
                score.append(less)
        children, scores, m = np.array(child, np.int64), np.array(score), len(visited)
        sets = np.zeros((len(children), n), bool)
        rows = np.repeat(np.arange(len(above)), [len(parents) for parents in above])
        sets[rows, [u for parents in above for u in parents]] = True
        obey: Flags = self._obey(children, sets)
        has_room = obey[:m] & (sets[:m].sum(1) < rules.most_parents)
        may_add = (climber.allowed.T[children[:m]] & 1 > 0) & ~sets[:m] & has_room[:, None]
        more = np.array([family.more for _, family in visited])
        at, new = np.nonzero((more > scores[:m, None] + climber.slack) & may_add)
        grown = sets[at]
        grown[np.arange(len(at)), new] = True
        obey &= scores > -np.inf
        self._add(children[obey], sets[obey], scores[obey])
        self._add(children[at], grown, more[at, new])
        self._derive(visited)
        return True

    def _derive(self, visited: Scored) -> None:
        """Add families that follow from those that were scored."""
        climber = self.climber
        if self.values is None and climber.scorer.is_set_function:
            alone = [climber.families.find((v, ())) for v in range(len(climber.joined))]
            known = [family.score for family in alone if family is not None]
            if len(known) == len(alone):
                self.values = SetValues(np.array(known), climber.constraints.most_parents)
        if self.values is not None:
            found = self.values.derive(visited, climber.slack)
            obey = self._obey(found.children, found.sets)
            self._add(found.children[obey], found.sets[obey], found.scores[obey])

    def _obey(self, children: Ints, sets: Flags) -> Flags:
        """(m,): whether families have all parents that they must have, and no forbidden one."""
        rules = self.climber.constraints
        lost = (sets & rules.forbidden.T[children]) | (~sets & rules.required.T[children])
        return np.asarray(~lost.any(1))

    def _add(self, children: Ints, sets: Flags, scores: Array) -> None:
        self.children = np.concatenate([self.children, children])
        self.sets = np.concatenate([self.sets, _words(sets)])
        self.scores = np.concatenate([self.scores, scores])

    def _by_child(self) -> tuple[Words, Array, Ints]:
        """The families of each child, the best first; and (n + 1,) where those of each begin.

        A family that scores no more than one with some of its parents is of no use, and forgotten.
        """
        from jensen.kernels.family_orders import find_needed

        order = np.lexsort((-self.scores, self.children))
        children, scores = self.children[order], self.scores[order]
        # Scores that differ by rounding only are equal: the parents decide.
        apart = -np.diff(scores, prepend=np.inf) > self.climber.slack
        apart |= np.diff(children, prepend=-1) > 0
        order = order[np.lexsort((*self.sets[order].T, np.cumsum(apart)))]
        sets, variables = self.sets[order], np.arange(len(self.climber.joined) + 1)
        needed = np.empty(len(sets), bool)
        find_needed(sets, np.searchsorted(children, variables), needed)
        self.children, self.sets = children[needed], sets[needed]
        self.scores = self.scores[order][needed]
        return self.sets, self.scores, np.searchsorted(self.children, variables)


def _words(sets: Flags) -> Words:
    """(m, words): sets as bits of words."""
    m, n = sets.shape
    found = np.zeros((m, (n + 63) // 64 * 8), np.uint8)
    packed = np.packbits(sets, axis=1, bitorder="little")
    found[:, : packed.shape[1]] = packed
    return found.view("<u8").astype(np.uint64)
