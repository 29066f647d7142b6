"""Rows split into sub-problems: connected sets of missing variables, and the evidence around them.

Two variables are connected if they share a family. A sub-problem is written as a list of words: the
number of its members, the members in the order of a walk from the smallest, then the states of the
observed variables around them in the order in which the walk meets them. Both orders depend on the
set alone, so sub-problems are equal if their words are.

Equal lists of words get equal numbers (`intern`). Lists stand end to end in `pool`, list k up to
``pool_end[k]``. A table of open addresses finds them; hits are compared word by word, so a
collision costs time and never a wrong answer.

A cell is -1 where it is missing, and -2 where it is missing and left out: such a cell is no member,
and families that hold one read zeros, beyond all tables.
"""

import numpy as np

from jensen.kernels import kernel, part
from jensen.kernels.records import FAMILIES, WIRING, signature


@part
def walk(row, start, stamp, wiring, mark, around, words, at):
    """Write the members of the set that holds start at words[at:]; return how many they are.

    Also return how many observed variables are around it; their states are filled in around.
    """
    words[at] = start
    mark[start] = stamp
    n_members, n_around, done = 1, 0, 0
    while done < n_members:
        v = words[at + done]
        done += 1
        for e in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
            f = wiring.touch[e]
            for m in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
                u = wiring.fam_vars[m]
                if mark[u] == stamp:
                    continue
                mark[u] = stamp
                if row[u] == -1:
                    words[at + n_members] = u
                    n_members += 1
                else:
                    around[n_around] = row[u]
                    n_around += 1
    return n_members, n_around


@kernel(signature("int32[:, ::1]", WIRING, "int64[::1], int64[::1], int32[::1]"))
def find_hidden(rows, wiring, row_end, end, words):
    """Fill the sub-problems of every row; return how many there are.

    Those of row i end before number row_end[i], the words of problem k before words[end[k]].
    """
    n_vars = rows.shape[1]
    mark = np.empty(n_vars, np.int64)  # the last sub-problem that met this variable
    around = np.empty(n_vars, np.int32)
    for v in range(n_vars):
        mark[v] = -1
    count, at = 0, 0
    for i in range(rows.shape[0]):
        first = count
        row = rows[i]
        for start in range(n_vars):
            if row[start] != -1 or mark[start] >= first:
                continue
            n_members, n_around = walk(row, start, count, wiring, mark, around, words, at + 1)
            words[at] = n_members
            at += 1 + n_members
            for k in range(n_around):
                words[at + k] = around[k]
            at += n_around
            end[count] = at
            count += 1
        row_end[i] = count
    return count


@kernel(
    signature(
        "int64[::1], int32[::1]",
        WIRING,
        "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]",
    )
)
def set_families(set_ptr, set_vars, wiring, fam_end, fams, term_end, term_around, term_stride):
    """Fill the families that each set touches, and how evidence around it selects in their tables.

    The families of set p end before fams[fam_end[p]]. The table position of family j of the list
    is the sum of term_stride times the state number term_around over its terms, which end before
    term_end[j]. Return how many terms there are.
    """
    n_vars = wiring.cards.shape[0]
    where = np.empty(n_vars, np.int64)  # the number of an observed variable around this set
    met = np.empty(n_vars, np.int64)
    inside = np.empty(n_vars, np.int64)
    seen = np.empty(wiring.fam_ptr.shape[0], np.int64)
    for v in range(n_vars):
        met[v] = inside[v] = -1
    for f in range(seen.shape[0]):
        seen[f] = -1
    n_fams, n_terms = 0, 0
    for p in range(set_ptr.shape[0] - 1):
        for k in range(set_ptr[p], set_ptr[p + 1]):
            inside[set_vars[k]] = p
        n_around = 0
        for k in range(set_ptr[p], set_ptr[p + 1]):
            v = set_vars[k]
            for e in range(wiring.touch_ptr[v], wiring.touch_ptr[v + 1]):
                f = wiring.touch[e]
                if seen[f] == p:
                    continue
                seen[f] = p
                for m in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
                    u = wiring.fam_vars[m]
                    if inside[u] == p:
                        continue
                    if met[u] != p:
                        met[u] = p
                        where[u] = n_around
                        n_around += 1
                    term_around[n_terms] = where[u]
                    term_stride[n_terms] = wiring.fam_stride[m]
                    n_terms += 1
                fams[n_fams] = f
                term_end[n_fams] = n_terms
                n_fams += 1
        fam_end[p] = n_fams
    return n_terms


@kernel(signature("int64[::1], int32[::1], int64[::1]", FAMILIES, "int64, int64[::1], int64[::1]"))
def find_bases(set_of, words, state_at, families, beyond, base_ptr, bases):
    """Fill the table position that its evidence selects, for every problem and family of its set.

    The states around problem k begin at words[state_at[k]], its bases at bases[base_ptr[k]]. A
    family with a cell that is left out reads at `beyond`, which is behind all tables.
    """
    for k in range(set_of.shape[0]):
        p = set_of[k]
        first = families.end[p - 1] if p > 0 else 0
        for j in range(first, families.end[p]):
            at = families.base[j]
            for e in range(families.term_end[j - 1] if j > 0 else 0, families.term_end[j]):
                state = words[state_at[k] + families.term_around[e]]
                if state < 0:
                    at = beyond
                    break
                at += families.term_stride[e] * state
            bases[base_ptr[k] + j - first] = at


@part
def hash_words(words, begin, end):
    """Return a 64-bit hash of words[begin:end]."""
    h = np.uint64(14695981039346656037)
    for k in range(begin, end):
        h = (h ^ np.uint64(np.uint32(words[k]))) * np.uint64(11400714819323198485)
        h ^= h >> np.uint64(29)
    return h


@part
def same_words(a, a_begin, a_end, b, b_begin, b_end):
    """Return whether two lists are equal."""
    if a_end - a_begin != b_end - b_begin:
        return False
    for k in range(a_end - a_begin):
        if a[a_begin + k] != b[b_begin + k]:
            return False
    return True


@part
def find_place(words, begin, end, pool, pool_end, places):
    """Return the place in the table of a list: where it is, or where it would be."""
    mask = np.uint64(places.shape[0] - 1)
    place = hash_words(words, begin, end) & mask
    while True:
        known = places[place]
        if known < 0:
            return np.int64(place)
        start = pool_end[known - 1] if known > 0 else 0
        if same_words(words, begin, end, pool, start, pool_end[known]):
            return np.int64(place)
        place = (place + np.uint64(1)) & mask


@kernel(
    "int64(int32[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64, "
    "int64[::1])"
)
def intern(words, begin, end, pool, pool_end, places, n_known, number):
    """Fill number with the number of every list words[begin:end], new lists after the known ones.

    Return how many lists are known then; pool, pool_end and places have room for all.
    """
    for i in range(begin.shape[0]):
        place = find_place(words, begin[i], end[i], pool, pool_end, places)
        known = places[place]
        if known < 0:
            at = pool_end[n_known - 1] if n_known > 0 else 0
            for k in range(begin[i], end[i]):
                pool[at + k - begin[i]] = words[k]
            pool_end[n_known] = at + end[i] - begin[i]
            places[place] = known = n_known
            n_known += 1
        number[i] = known
    return n_known
