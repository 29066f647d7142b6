"""Where two arrows meet: a -> c <- b of two that are not joined, by majority.

Of all sets of one size that separate a and b, taken from the possible parents of either, c is in
fewer than half: then it is a collider. It is in more than half: then it is none. At half, or where
nothing separates the two, nobody knows. The size is the least at which any set separates them, for
tests of small sets have most power. It is the majority rule of Colombo and Maathuis (2014), section
4.3, with sets of one size.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.independence.skeleton import Ends, Skeleton, possible_parents
from jensen.independence.testing import Given, Pair, Question, Tests, subsets
from jensen.q_graph.constraints import Constraints

Triple = tuple[int, int, int]


class Colliders(NamedTuple):
    """Triples (a, c, b), a < b, that are joined a - c - b and not a - b."""

    found: list[Triple]
    unknown: list[Triple]
    n_tests: int


def find_colliders(
    tests: Tests,
    skeleton: Skeleton,
    constraints: Constraints,
    log_alpha: float,
    max_given: int,
) -> Colliders:
    """Decide every triple by the sets that separate its ends."""
    around = possible_parents(skeleton.adjacent, constraints)
    todo = _unshielded(skeleton.adjacent)
    separating = _smallest(tests, todo, skeleton, around, log_alpha, max_given)
    found: list[Triple] = []
    unknown: list[Triple] = []
    for (a, b), middles in todo.items():
        sets = separating.sets[a, b]
        for c in middles:
            balance = sum(1 if c in given else -1 for given in sets)
            if balance < 0:
                found.append((a, c, b))
            elif balance == 0:
                unknown.append((a, c, b))
    return Colliders(sorted(found), sorted(unknown), separating.n_tests)


class _Separating(NamedTuple):
    sets: dict[Ends, list[Given]]
    n_tests: int


def _unshielded(adjacent: NDArray[np.bool_]) -> dict[Ends, list[int]]:
    """Pairs that are not joined, and those that both are joined to."""
    apart = ~adjacent & (adjacent.astype(np.int64) @ adjacent.astype(np.int64) > 0)
    return {
        (a, b): np.flatnonzero(adjacent[a] & adjacent[b]).tolist()
        for a, b in np.argwhere(np.triu(apart, 1)).tolist()
    }


def _smallest(
    tests: Tests,
    todo: dict[Ends, list[int]],
    skeleton: Skeleton,
    around: list[Given],
    log_alpha: float,
    max_given: int,
) -> _Separating:
    """The separating sets of least size of every pair, that of the skeleton among them.

    A set smaller than that of the skeleton separates nothing: all of them were tried.
    """
    sets: dict[Ends, list[Given]] = {}
    asked: list[tuple[Ends, Given]] = []
    n_tests = 0
    for a, b in todo:
        pair, known = Pair(a, b, around[a], around[b]), skeleton.separators.get((a, b))
        if known is None:
            sets[a, b], n = _first_size(tests, pair, log_alpha, max_given)
            n_tests += n
        else:
            sets[a, b] = [known]
            asked += [((a, b), given) for given in subsets(pair, len(known)) if given != known]
    questions: list[Question] = [(*ends, given) for ends, given in asked]
    answers = tests.log_p_values(questions) > log_alpha if questions else ()
    for (ends, given), separates in zip(asked, answers, strict=True):
        if separates:
            sets[ends].append(given)
    return _Separating(sets, n_tests + len(asked))


def _first_size(
    tests: Tests, pair: Pair, log_alpha: float, max_given: int
) -> tuple[list[Given], int]:
    """The same for a pair that was never tested, because an edge between the two is forbidden."""
    n_tests = 0
    for size in range(min(max_given, max(map(len, pair[2:]))) + 1):
        some = list(subsets(pair, size))
        n_tests += len(some)
        answers = tests.log_p_values([(pair.a, pair.b, given) for given in some]) > log_alpha
        if np.any(answers):
            return [given for given, yes in zip(some, answers, strict=True) if yes], n_tests
    return [], n_tests
