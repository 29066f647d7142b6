"""A discrete network read forwards: drawing rows, and the log-probability of complete rows."""

import numpy as np

from jensen.kernels import kernel
from jensen.kernels.counting import ROWS, table_positions


@kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "float64[::1], float64[:, ::1], int32[:, ::1])"
)
def draw_rows(order, fam_ptr, fam_vars, fam_stride, fam_at, cumulative, uniforms, codes):
    """Fill codes (n, N) with ancestral draws; uniforms (n, N) are the only randomness.

    cumulative holds the running sums of every row of every table; the last is never looked at.
    """
    n_rows = codes.shape[1]
    position = np.empty(n_rows, np.int64)
    for k in range(order.shape[0]):
        v = order[k]
        a, own = fam_ptr[v], fam_ptr[v + 1] - 1
        size = fam_stride[own - 1] if own > a else fam_at[v + 1] - fam_at[v]
        for i in range(n_rows):
            position[i] = fam_at[v]
        for j in range(a, own):
            parent, stride = codes[fam_vars[j]], fam_stride[j]
            for i in range(n_rows):
                position[i] += stride * parent[i]
        u, drawn = uniforms[v], codes[v]
        for i in range(n_rows):
            state = 0
            while state < size - 1 and u[i] >= cumulative[position[i] + state]:
                state += 1
            drawn[i] = state


@kernel(
    "void(uint8[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "float64[::1], int64, int64, float64[::1])"
)
def add_log_probabilities(
    planes, fam_ptr, fam_plane, fam_stride, fam_at, log_tables, start, stop, out
):
    """Add to out[start:stop] the log-probability of every row, a table entry per family."""
    position = np.empty(ROWS, np.uint32)
    for begin in range(start, stop, ROWS):
        end = min(begin + ROWS, stop)
        for f in range(fam_ptr.shape[0] - 1):
            a, b = fam_ptr[f], fam_ptr[f + 1]
            table_positions(planes, fam_plane[a:b], fam_stride[a:b], begin, end, position)
            table = log_tables[fam_at[f] : fam_at[f + 1]]
            for i in range(end - begin):
                out[begin + i] += table[position[i]]
