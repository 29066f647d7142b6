"""Families by child, the best first, without those that no order of variables would choose.

Those of child v stand from first[v] to first[v + 1]; a set of parents is bits of words.
"""

import numpy as np

from jensen.kernels import bare, bare_part, helper, kernel
from jensen.kernels.bit_sets import has, put, take


@bare_part
def is_within(some, others):
    """Return whether all members of a set are members of another."""
    for w in range(some.shape[0]):
        if some[w] & ~others[w] != np.uint64(0):
            return False
    return True


@bare_part
def obeys(parents, required, closed):
    """Return whether a set has all parents that it must have, and none that it must not."""
    for w in range(parents.shape[0]):
        if (required[w] & ~parents[w]) | (parents[w] & closed[w]) != np.uint64(0):
            return False
    return True


@bare_part
def copy_into(sets, scores, i, parents, score):
    """Put a family at place i."""
    for w in range(parents.shape[0]):
        sets[i, w] = parents[w]
    scores[i] = score


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[:, ::1], "
    "uint64[:, :, ::1], int64, float64, int64[::1], uint64[:, ::1], float64[::1])"
)
def list_around(
    children, ptr, parent, score, less, more, rules, most, slack, to_child, to_set, to_score
):
    """Fill the last three with families that were scored, and with these a parent less or more.

    Family j has the parents parent[ptr[j]:ptr[j + 1]], scores less[...] without each of them, and
    more[j] with each further one, which is of use only where it gains. rules (2, n, words): what
    each child must have, and must not. Return how many there are.
    """
    found, base = np.int64(0), np.empty(to_set.shape[1], np.uint64)
    for j in range(children.shape[0]):
        v, begin, end = children[j], ptr[j], ptr[j + 1]
        required, closed = rules[0, v], rules[1, v]
        base[:] = np.uint64(0)
        for k in range(begin, end):
            put(base, parent[k])
        is_allowed = obeys(base, required, closed)
        if is_allowed and score[j] > -np.inf:
            copy_into(to_set, to_score, found, base, score[j])
            to_child[found] = v
            found += 1
        for k in range(begin, end):
            copy_into(to_set, to_score, found, base, less[k])
            to_child[found] = v
            take(to_set[found], parent[k])
            found += less[k] > -np.inf and obeys(to_set[found], required, closed)
        for u in range(more.shape[1] if is_allowed and end - begin < most else 0):
            if more[j, u] > score[j] + slack and not (has(base, u) or has(closed, u)):
                copy_into(to_set, to_score, found, base, more[j, u])
                to_child[found] = v
                put(to_set[found], u)
                found += 1
    return found


@bare_part
def comes_before(score, parents, other, others, slack):
    """Return whether a family scores more than another; if as much, the parents decide."""
    if score > other + slack or other > score + slack:
        return score > other
    for w in range(parents.shape[0] - 1, -1, -1):
        if parents[w] != others[w]:
            return parents[w] < others[w]
    return False


@bare
def insert(sets, scores, begin, end, parents, score, slack):
    """Insert a family among those from begin to end, and drop what is of no use; return the end.

    Of no use is a family that scores no more than one with some of its parents.
    """
    place = end
    for i in range(begin, end):
        if scores[i] < score - slack:
            place = min(place, i)
            break
        if is_within(sets[i], parents):
            return end
        if place == end and comes_before(score, parents, scores[i], sets[i], slack):
            place = i
    kept = end
    for i in range(end - 1, place - 1, -1):  # from behind: those that stay make room
        if scores[i] > score + slack or not is_within(parents, sets[i]):
            copy_into(sets, scores, kept, sets[i], scores[i])
            kept -= 1
    copy_into(sets, scores, kept, parents, score)
    n_gone = kept - place
    for i in range(kept if n_gone else end + 1, end + 1):
        copy_into(sets, scores, i - n_gone, sets[i], scores[i])
    return end + 1 - n_gone


@helper
def by_child(children, n):
    """Return the places of families by child, in their order; and (n + 1,) where each begins."""
    begin, order = np.zeros(n + 1, np.int64), np.empty(children.shape[0], np.int64)
    for v in children:
        begin[v + 1] += 1
    for v in range(n):
        begin[v + 1] += begin[v]
    count = begin.copy()
    for j in range(children.shape[0]):
        order[count[children[j]]] = j
        count[children[j]] += 1
    return order, begin


@kernel(
    "void(uint64[:, ::1], float64[::1], int64[::1], int64[::1], uint64[:, ::1], float64[::1], "
    "float64, uint64[:, ::1], float64[::1], int64[::1])"
)
def merge_families(
    sets, scores, first, children, new_sets, new_scores, slack, to_sets, to_scores, to_first
):
    """Fill the last three with listed families and further ones.

    A family that scores no more than one with some of its parents is left out. Scores that differ
    by the slack, by rounding only, are equal.
    """
    n = first.shape[0] - 1
    order, begin = by_child(children, n)
    end = to_first[0] = np.int64(0)
    for v in range(n):
        for i in range(first[v], first[v + 1]):
            copy_into(to_sets, to_scores, end, sets[i], scores[i])
            end += 1
        for k in range(begin[v], begin[v + 1]):
            j = order[k]
            end = insert(to_sets, to_scores, to_first[v], end, new_sets[j], new_scores[j], slack)
        to_first[v + 1] = end
