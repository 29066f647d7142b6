"""Mutual informations and scores of pairs of columns, from bitsets, from counts, or row by row.

Counts x of the cells of a table give its term Σ x log x; a mutual information is the term of the
joint table minus those of the two variables, over the total weight, plus the log of that.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel, part
from jensen.kernels.counting import ROWS, and_count, table_positions
from jensen.kernels.local_terms import (
    LIKELIHOOD,
    entropy_terms,
    local_score,
    make_desk,
    sum_entropies,
    sum_of,
)


@helper
def x_log_x(x):
    """Return x log x; what rounding leaves below zero is zero."""
    return x * math.log(x) if x > 0.0 else 0.0


@helper
def cell_term(count, pseudo, known):
    """Return x log x for x = count + pseudo; known has it for the whole numbers 0, 1, ..."""
    n = np.int64(count)
    return known[n] if n < known.shape[0] else x_log_x(count + pseudo)


@part
def joint_term(inner, above, beside, pseudo, known):
    """Return Σ x log x of a table, pseudo added to every cell.

    Of the table (r, c) there is inner, without its last row and its last column, and its sums
    above (r,) and beside (c,).
    """
    r, c = above.shape[0], beside.shape[0]
    total = 0.0
    corner = above[r - 1]
    for j in range(c - 1):
        rest = beside[j]
        for i in range(r - 1):
            rest -= inner[i, j]
            total += cell_term(inner[i, j], pseudo, known)
        total += cell_term(rest, pseudo, known)
        corner -= rest
    for i in range(r - 1):
        rest = above[i]
        for j in range(c - 1):
            rest -= inner[i, j]
        total += cell_term(rest, pseudo, known)
    return total + cell_term(corner, pseudo, known)


@part
def count_states(meetings, at, weight, sample_size, counts, own):
    """Fill counts (S,) with the weight of every state, and own (n,) with the variables' terms."""
    for v in range(own.shape[0]):
        first, last, pseudo = at[v], at[v + 1] - 1, sample_size / (at[v + 1] - at[v])
        counts[last] = weight
        own[v] = 0.0
        for s in range(first, last):
            counts[s] = meetings[s - v, s - v]
            counts[last] -= counts[s]
            own[v] += x_log_x(counts[s] + pseudo)
        own[v] += x_log_x(counts[last] + pseudo)


@part
def fill_cells(meetings, at, u, counts, cells):
    """Fill cells (r, S) with how often the states of u meet those of the variables after it."""
    n, first, last = at.shape[0] - 1, at[u], at[u + 1] - at[u] - 1
    rest, all_rows = cells[last, at[u + 1] :], counts[at[u + 1] :]
    for s in range(rest.shape[0]):
        rest[s] = all_rows[s]
    for i in range(last):
        row = meetings[first - u + i]
        for v in range(u + 1, n):
            left = counts[first + i]
            for s in range(at[v], at[v + 1] - 1):
                cells[i, s] = row[s - v]
                left -= row[s - v]
            cells[i, at[v + 1] - 1] = left
        here = cells[i, at[u + 1] :]
        for s in range(rest.shape[0]):
            rest[s] -= here[s]


@part
def sum_whole_terms(cells, room, out):
    """Fill out (S,) with Σ n log n of the columns of cells (r, S), which hold whole numbers."""
    n = out.shape[0]
    for s in range(n):
        out[s] = 0.0
    for i in range(cells.shape[0]):
        for s in range(n):
            room[0, s] = max(cells[i, s], 1.0)  # of nothing, too, the term is 0
        entropy_terms(room[0, :n], room[1, :n], room[2, :n])
        for s in range(n):
            out[s] += room[2, s]


@part
def sum_any_terms(cells, at, sample_size, out):
    """The same of any numbers, an equal part of sample_size added to the cells of every table.

    Variable v has the columns at[v] .. at[v + 1], and out begins where they do.
    """
    r, begin = cells.shape[0], at[0]
    for v in range(at.shape[0] - 1):
        pseudo = sample_size / (r * (at[v + 1] - at[v]))
        for s in range(at[v] - begin, at[v + 1] - begin):
            out[s] = 0.0
            for i in range(r):
                out[s] += x_log_x(cells[i, s] + pseudo)


@kernel("void(float64[:, ::1], int64[::1], float64, float64, boolean, float64[:, ::1])")
def matrix_from_meetings(meetings, size, weight, sample_size, is_whole, out):
    """Fill out (n, n) with mutual informations, entropies on the diagonal.

    meetings[i, j], i <= j, says how often two states meet; the last state of every variable is left
    out there. weight is that of all rows, of which there must be some, and is_whole says that they,
    and nothing else, were counted.
    """
    n, total, widest = out.shape[0], weight + sample_size, size.max()
    at = np.zeros(n + 1, np.int64)  # variable v has the states at[v] .. at[v + 1]
    for v in range(n):
        at[v + 1] = at[v] + size[v]
    counts, own, log_total = np.empty(at[n]), np.empty(n), math.log(total)
    cells, room, terms = np.empty((widest, at[n])), np.empty((3, at[n])), np.empty(at[n])
    count_states(meetings, at, weight, sample_size, counts, own)
    for u in range(n):
        after = at[u + 1]
        fill_cells(meetings, at, u, counts, cells)
        joints = cells[: after - at[u], after:]
        if is_whole:
            sum_whole_terms(joints, room, terms[after:])
        else:
            sum_any_terms(joints, at[u + 1 :], sample_size, terms[after:])
        out[u, u] = max(log_total - own[u] / total, 0.0)
        for v in range(u + 1, n):
            joint = sum_of(terms[at[v] : at[v + 1]])
            found = (joint - own[u] - own[v]) / total + log_total
            out[u, v] = out[v, u] = max(found, 0.0)


@kernel(
    "void(uint64[:, ::1], int64[::1], float64[::1], int64[::1], int64, boolean[::1], "
    "float64, float64[:, ::1], float64[::1])"
)
def terms_from_bits(bits, first, counts, at, k, wanted, sample_size, known, out):
    """Fill out[v], where wanted, with the term of the table of variables k and v.

    Variable v has its bitsets from first[v] on, and the counts of its states from at[v] on.
    known[c, n] is the term of a cell that holds n rows, in a table with a variable of c states.
    """
    most = 0
    for v in range(out.shape[0]):
        most = max(most, at[v + 1] - at[v])
    r = at[k + 1] - at[k]
    meetings = np.empty((r, most))
    for v in range(out.shape[0]):
        if not wanted[v]:
            continue
        c = at[v + 1] - at[v]
        for i in range(r - 1):
            for j in range(c - 1):
                meetings[i, j] = and_count(bits[first[k] + i], bits[first[v] + j])
        above, beside = counts[at[k] : at[k + 1]], counts[at[v] : at[v + 1]]
        inner = meetings[: r - 1, : c - 1]
        out[v] = joint_term(inner, above, beside, sample_size / (r * c), known[c])


@kernel(
    "void(uint8[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64, float64[::1], boolean[::1], float64, float64[::1])"
)
def terms_by_rows(planes, ptr, plane, stride, sizes, k, weights, wanted, sample_size, out):
    """Fill out[v], where wanted, with the term of the table of variables k and v, row by row.

    Variable v has sizes[v] states; its planes and their strides stand at ptr[v] .. ptr[v + 1].
    """
    most = 0
    for v in range(out.shape[0]):
        if wanted[v]:
            most = max(most, sizes[v])
    cells = np.empty(sizes[k] * most)
    one, other = np.empty(ROWS, np.uint32), np.empty(ROWS, np.uint32)
    for v in range(out.shape[0]):
        if not wanted[v]:
            continue
        n_cells = sizes[k] * sizes[v]
        for i in range(n_cells):
            cells[i] = 0.0
        for begin in range(0, weights.shape[0], ROWS):
            end = min(begin + ROWS, weights.shape[0])
            a, b = ptr[k], ptr[k + 1]
            table_positions(planes, plane[a:b], stride[a:b], begin, end, one)
            a, b = ptr[v], ptr[v + 1]
            table_positions(planes, plane[a:b], stride[a:b], begin, end, other)
            for i in range(end - begin):
                cells[np.int64(one[i]) * sizes[v] + np.int64(other[i])] += weights[begin + i]
        term = 0.0
        for i in range(n_cells):
            term += x_log_x(cells[i] + sample_size / n_cells)
        out[v] = term


@kernel(
    "void(float64[:, ::1], uint32[::1], float64[::1], float64[::1], boolean[::1], float64[::1])"
)
def explained_shares(z, codes, roots, counts, wanted, out):
    """Fill out[v], where wanted, with the share of row v of z that the means of states explain.

    Rows of z have mean 0 and length 1; roots (N,) are the square roots of the row weights, which
    z has in it once, and counts (r,) the weights of the states.
    """
    sums = np.empty(counts.shape[0])
    for v in range(out.shape[0]):
        if not wanted[v]:
            continue
        for s in range(sums.shape[0]):
            sums[s] = 0.0
        for i in range(codes.shape[0]):
            sums[codes[i]] += roots[i] * z[v, i]
        out[v] = 0.0
        for s in range(sums.shape[0]):
            if counts[s] > 0.0:
                out[v] += sums[s] * sums[s] / counts[s]


@helper
def fill_joint(inner, above, beside, joint):
    """Fill joint (r, c) of which there is inner, without its last row and column, and its sums."""
    r, c = above.shape[0], beside.shape[0]
    for k in range(r):
        joint[k * c + c - 1] = above[k]
    for t in range(c):
        joint[(r - 1) * c + t] = beside[t]
    corner = above[r - 1]
    for t in range(c - 1):
        for k in range(r - 1):
            n = np.int32(inner[k, t])
            joint[k * c + t] = n
            joint[k * c + c - 1] -= n
            joint[(r - 1) * c + t] -= n
        corner -= joint[(r - 1) * c + t]
    joint[r * c - 1] = corner


@helper
def count_single(meetings, size, n_rows, own):
    """Fill own (n, widest) with the counts of every variable's states."""
    at = 0
    for v in range(size.shape[0]):
        last = size[v] - 1
        own[v, last] = n_rows
        for k in range(last):
            own[v, k] = meetings[at + k, at + k]
            own[v, last] -= own[v, k]
        at += last


@part
def likelihood_terms(joints, n, width, room, out):
    """Fill out with Σ n log n of tables that stand after each other; width (m,): their sizes."""
    size = joints.shape[0]
    for i in range(size):
        room[0, i] = max(joints[i], 1)  # of nothing, too, the term is 0
    entropy_terms(room[0, :size], room[1, :size], room[2, :size])
    at = 0
    for k in range(n):
        out[k] = sum_of(room[2, at : at + width[k]])
        at += width[k]


@kernel("void(int64[:, ::1], int64[::1], int64, int64, float64, float64[:, ::1])")
def score_pairs(meetings, size, n_rows, kind, amount, score):
    """Fill score[v, u] with the score of every variable v given every u, and score[v, v] alone.

    meetings[i, j], i <= j, says how often two states meet, the last state of every variable left
    out.
    """
    n, widest, n_states = size.shape[0], size.max(), size.sum()
    own, joints = np.zeros((n, widest), np.int32), np.empty(widest * n_states, np.int32)
    room, width, both = np.empty((3, widest * n_states)), np.empty(n, np.int64), np.empty(n)
    desk, total, term = make_desk(), np.full(1, n_rows, np.int32), np.zeros(n)
    count_single(meetings, size, n_rows, own)
    for v in range(n):
        r = size[v]
        score[v, v] = local_score(own[v, :r], total, 1.0, r, kind, amount, desk)
        term[v] = sum_entropies(own[v, :r], desk)
    top = 0
    for v in range(n):
        r, left, end = size[v], top + size[v] - 1, 0
        for u in range(v + 1, n):
            s, begin = size[u], end
            end += r * s
            width[u - v - 1] = r * s
            inner = meetings[top : top + r - 1, left : left + s - 1]
            fill_joint(inner, own[v, :r], own[u, :s], joints[begin:end])
            left += s - 1
            if kind != LIKELIHOOD:
                here = joints[begin:end]
                score[v, u] = local_score(here, own[u, :s], float(s), r, kind, amount, desk)
                score[u, v] = local_score(here, own[v, :r], float(r), s, kind, amount, desk)
        if kind == LIKELIHOOD:  # all at once, and the terms of single variables are known
            likelihood_terms(joints[:end], n - v - 1, width, room, both)
            for u in range(v + 1, n):
                s = size[u]
                score[v, u] = both[u - v - 1] - term[u] - amount * s * (r - 1.0)
                score[u, v] = both[u - v - 1] - term[v] - amount * r * (s - 1.0)
        top += r - 1
