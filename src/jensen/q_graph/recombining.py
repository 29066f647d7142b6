"""Hill climbing that puts together anew what it has scored on its way.

At a graph where no single move gains, climbing has scored many families that are not in it: what
every variable would score with one parent more or less, in all graphs on the way. Which of these
families together make the best graph is a question of the order of the variables alone, and no row
is read for it: in a given order every variable takes its best family of those whose parents stand
before it, and variables move in the order as long as that gains. The best graph of these is where
climbing goes on, and what it scores there is put together again.

Climbing visits families that depend on how it directed its first edges, so two more ways are tried:
from the start again, with edges that gain the same either way directed the other way round; and,
once nothing gains, from an equivalent graph with as many edges turned as can be.

References
----------
Teyssier and Koller (2005), *Ordering-based search: a simple and effective algorithm for learning
Bayesian networks*, UAI.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.order import topological_order
from jensen.q_graph.class_graph import members, set_of
from jensen.q_graph.class_members import class_of, member
from jensen.q_graph.search import Climber, Flags, Found, Watch, hill_climb

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

ROUNDS = 50
"""How often variables are moved at random, to leave an order that no single move improves."""

KICKS = 3
"""How many of them at a time."""

MOST_WORK = 1 << 18
"""Rounds times variables squared, at most; one round is made in any case."""


def thorough_climb(climber: Climber, watch: Watch) -> Found:
    """Climb, put families together anew, and climb on, until nothing gains.

    The climber stands at its start. The score is never below that of `hill_climb`.
    """
    start = climber.joined.copy()
    best = hill_climb(climber, watch)
    climber.turns_to_less = True
    best = _better(climber, best, start, watch)
    climber.turns_to_less = False
    is_turned = False
    while not best.stopped:
        before = best.score
        joined = recombined(climber, best.joined)
        if joined is not None:
            best = _better(climber, best, joined, watch)
        if best.score > before:
            is_turned = False
        elif is_turned:
            break
        else:
            is_turned, other = True, turned(best.joined)
            if not climber.constraints.refuse(other):
                best = _better(climber, best, other, watch)
    return best


def _better(climber: Climber, best: Found, start: Flags, watch: Watch) -> Found:
    """The better one of what is known and a climb from another graph."""
    if best.stopped:
        return best
    found = hill_climb(climber.begin(start), watch)
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


class _Listed(NamedTuple):
    """Families by child, the best first."""

    sets: Words  # (m, words): their parents
    scores: Array  # (m,)
    first: Ints  # (n + 1,): where those of each child begin


def recombined(climber: Climber, joined: Flags) -> Flags | None:
    """The best graph that a search over orders makes of the families that were scored.

    It begins with the order of a graph that was visited. None: there is no other graph, or the
    families of this one are forgotten, because there was no room for so many.
    """
    from jensen.kernels.family_orders import improve_order

    n = len(joined)
    parents = [np.flatnonzero(column).tolist() for column in joined.T]
    if any(climber.families.find((v, tuple(up))) is None for v, up in enumerate(parents)):
        return None
    sets, scores, first = _listed(climber)
    order, chosen = np.array(topological_order(parents), np.int64), np.empty(n, np.int64)
    n_rounds = max(1, min(ROUNDS, MOST_WORK // n**2))
    uniforms = np.random.default_rng(0).random((n_rounds, KICKS, 2))
    improve_order(sets, scores, first, climber.slack, uniforms, order, chosen)
    bits = np.ascontiguousarray(sets[chosen], "<u8").view(np.uint8)
    found = np.unpackbits(bits, axis=1, count=n, bitorder="little").T.astype(bool)
    return None if np.array_equal(found, joined) else np.ascontiguousarray(found)


def _listed(climber: Climber) -> _Listed:
    """Families that were scored and are allowed; with a further parent only where that gains."""
    constraints, n = climber.constraints, len(climber.joined)
    child, members_, score, more = _visited(climber)
    room = members_.sum(1) < constraints.most_parents
    may_add = (climber.allowed & 1).astype(bool).T[child] & ~members_ & room[:, None]
    at, new = np.nonzero((more > score[:, None] + climber.slack) & may_add)
    grown = members_[at]
    grown[np.arange(len(at)), new] = True
    children = np.concatenate([child, child[at]])
    sets = np.concatenate([members_, grown])
    scores = np.concatenate([score, more[at, new]])
    keep = scores > -np.inf
    children, sets, scores = children[keep], _words(sets[keep]), scores[keep]
    order = np.lexsort((-scores, children))
    # Scores that differ by rounding only are equal: the parents decide.
    apart = -np.diff(scores[order], prepend=np.inf) > climber.slack
    apart |= np.diff(children[order], prepend=-1) > 0
    order = order[np.lexsort((*sets[order].T, np.cumsum(apart)))]
    first = np.searchsorted(children[order], np.arange(n + 1))
    return _Listed(np.ascontiguousarray(sets[order]), scores[order], first.astype(np.int64))


def _visited(climber: Climber) -> tuple[Ints, Flags, Array, Array]:
    """Families that were visited, and those with a parent less, of which no more is known.

    For each its child, its parents (m, n), its score, and (m, n) the score with each parent more.
    """
    n, rules = len(climber.joined), climber.constraints
    unknown = np.full(n, -np.inf)
    child: list[int] = []
    above: list[tuple[int, ...]] = []
    score: list[float] = []
    more: list[Array] = []
    for (v, parents), family in climber.families.known():
        child.append(v)
        above.append(parents)
        score.append(family.score)
        more.append(family.more)
        for k, less in enumerate(family.less):
            child.append(v)
            above.append(parents[:k] + parents[k + 1 :])
            score.append(float(less))
            more.append(unknown)
    children = np.array(child, np.int64)
    sets = np.zeros((len(children), n), bool)
    rows = np.repeat(np.arange(len(above)), list(map(len, above)))
    sets[rows, [u for parents in above for u in parents]] = True
    obey = ~(sets & rules.forbidden.T[children]).any(1)
    obey &= ~(~sets & rules.required.T[children]).any(1)
    return children[obey], sets[obey], np.array(score)[obey], np.array(more)[obey]


def _words(sets: Flags) -> Words:
    """(m, words): sets as bits of words."""
    m, n = sets.shape
    found = np.zeros((m, (n + 63) // 64 * 8), np.uint8)
    packed = np.packbits(sets, axis=1, bitorder="little")
    found[:, : packed.shape[1]] = packed
    return found.view("<u8").astype(np.uint64)
