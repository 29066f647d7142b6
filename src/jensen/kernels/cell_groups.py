"""Missing numbers given missing labels: sums, moments and draws of groups of cells.

The log potential of a regression is form[0] + Σ form[1 + a · n + b] z_a z_b over its n members z:
the constant 1, its parents, itself. Moments have the same layout: a weight, then Σ weight · z zᵀ.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.records import CELL_GROUPS, GROUP_KINDS, GROUP_WORK, signature
from jensen.support.cell_records import CONSTANT

LOG_2PI = float(np.log(2.0 * np.pi))


@helper
def gather(kinds, groups, g, c, x, forms, work):
    """Fill precision and mean (as precision · mean) of group g in configuration c.

    Return the part of the log potential in which no missing number occurs.
    """
    precision, mean, filled = work.precision, work.mean, work.filled
    kind, row = groups.kind[g], groups.row[g]
    m = kinds.n_missing[kind]
    for i in range(m):
        mean[i] = 0.0
        for j in range(m):
            precision[i * m + j] = 0.0
    first = kinds.family_end[kind - 1] if kind > 0 else 0
    n_families = kinds.family_end[kind] - first
    constant = 0.0
    for f in range(n_families):
        e = first + f
        config = groups.base[groups.base_at[g] + f]
        config += kinds.step[kinds.step_at[kind] + c * n_families + f]
        at = kinds.form_at[e] + config * kinds.form_size[e]
        begin = kinds.member_end[e - 1] if e > 0 else 0
        n = kinds.member_end[e] - begin
        constant += forms[at]
        for a in range(n):
            code = kinds.member[begin + a]
            filled[a] = 1.0 if code == CONSTANT else 0.0 if code >= 0 else x[row, -2 - code]
        for a in range(n):
            i = kinds.member[begin + a]
            total = 0.0
            for b in range(n):
                j = kinds.member[begin + b]
                value = forms[at + 1 + a * n + b]
                if i >= 0 and j >= 0:
                    precision[i * m + j] -= 2.0 * value
                else:
                    total += value * filled[b]
            if i >= 0:
                mean[i] += 2.0 * total
            else:
                constant += total * filled[a]
    return constant


@helper
def condition(m, work):
    """Replace the precision by its Cholesky factor, and mean by the mean.

    Return the log of the integral over the missing numbers, less the constant; NaN if the
    precision is not positive definite.
    """
    lower, mean = work.precision, work.mean
    value = 0.5 * m * LOG_2PI
    for i in range(m):
        for j in range(i + 1):
            total = lower[i * m + j]
            for k in range(j):
                total -= lower[i * m + k] * lower[j * m + k]
            if i == j:
                lower[i * m + i] = np.sqrt(total) if total > 0.0 else np.nan
                value -= np.log(lower[i * m + i])
            else:
                lower[i * m + j] = total / lower[j * m + j]
    for i in range(m):
        for k in range(i):
            mean[i] -= lower[i * m + k] * mean[k]
        mean[i] /= lower[i * m + i]
        value += 0.5 * mean[i] * mean[i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            mean[i] -= lower[k * m + i] * mean[k]
        mean[i] /= lower[i * m + i]
    return value


@helper
def invert(m, work):
    """Fill spread with the covariance, from the Cholesky factor of the precision."""
    lower, spread = work.precision, work.spread
    for j in range(m):
        for i in range(m):
            total = 1.0 if i == j else 0.0
            for k in range(i):
                total -= lower[i * m + k] * spread[k * m + j]
            spread[i * m + j] = total / lower[i * m + i]
        for i in range(m - 1, -1, -1):
            total = spread[i * m + j]
            for k in range(i + 1, m):
                total -= lower[k * m + i] * spread[k * m + j]
            spread[i * m + j] = total / lower[i * m + i]


@helper
def add_moments(kinds, groups, g, c, x, weight, has_spread, work, moments):
    """Add the moments of the regressions of group g, with missing numbers at work.mean."""
    kind, row = groups.kind[g], groups.row[g]
    m, filled = kinds.n_missing[kind], work.filled
    first = kinds.family_end[kind - 1] if kind > 0 else 0
    n_families = kinds.family_end[kind] - first
    for f in range(n_families):
        e = first + f
        config = groups.base[groups.base_at[g] + f]
        config += kinds.step[kinds.step_at[kind] + c * n_families + f]
        at = kinds.form_at[e] + config * kinds.form_size[e]
        begin = kinds.member_end[e - 1] if e > 0 else 0
        n = kinds.member_end[e] - begin
        for a in range(n):
            code = kinds.member[begin + a]
            if code >= 0:
                filled[a] = work.mean[code]
            else:
                filled[a] = 1.0 if code == CONSTANT else x[row, -2 - code]
        moments[at] += weight
        for a in range(n):
            i = kinds.member[begin + a]
            for b in range(n):
                j = kinds.member[begin + b]
                value = filled[a] * filled[b]
                if has_spread and i >= 0 and j >= 0:
                    value += work.spread[i * m + j]
                moments[at + 1 + a * n + b] += weight * value


@kernel(
    signature(
        GROUP_KINDS,
        CELL_GROUPS,
        "float64[:, ::1], float64[::1]",
        GROUP_WORK,
        "float64[::1], float64[::1]",
    )
)
def fill_tables(kinds, groups, x, forms, work, log_tables, shift):
    """Fill the log table of every group over its missing labels, less its largest entry, shift."""
    for g in range(groups.kind.shape[0]):
        kind, at = groups.kind[g], groups.table_at[g]
        m, n_configs = kinds.n_missing[kind], kinds.n_configs[kind]
        best = -np.inf
        for c in range(n_configs):
            value = gather(kinds, groups, g, c, x, forms, work)
            value += condition(m, work)
            log_tables[at + c] = value
            best = max(best, value)
        shift[g] = best
        if best > -np.inf:
            for c in range(n_configs):
                log_tables[at + c] -= best


@kernel(
    signature(
        GROUP_KINDS,
        CELL_GROUPS,
        "float64[:, ::1], float64[::1], float64[::1]",
        GROUP_WORK,
        "float64[::1]",
    )
)
def add_groups(kinds, groups, x, forms, shares, work, moments):
    """Add the expected moments of all groups; shares are weights of the entries of their tables."""
    has_spread = groups.kind.shape[0] >= 0  # True, but no literal, which would be compiled anew
    for g in range(groups.kind.shape[0]):
        kind, at = groups.kind[g], groups.table_at[g]
        m = kinds.n_missing[kind]
        for c in range(kinds.n_configs[kind]):
            if shares[at + c] > 0.0:
                if m > 0:
                    gather(kinds, groups, g, c, x, forms, work)
                    condition(m, work)
                    invert(m, work)
                add_moments(kinds, groups, g, c, x, shares[at + c], has_spread, work, moments)


@kernel(
    signature(
        GROUP_KINDS,
        CELL_GROUPS,
        "float64[:, ::1], float64[::1], float64[::1], float64[::1]",
        GROUP_WORK,
        "float64[::1]",
    )
)
def draw_groups(kinds, groups, x, forms, counts, normals, work, moments):
    """Add the moments of draws, counts of the entries of the tables each; return Σ log density.

    A last part of a draw counts as much as is left of it.
    """
    has_spread = groups.kind.shape[0] < 0  # False
    used, total = 0, 0.0
    lower, mean = work.precision, work.mean
    for g in range(groups.kind.shape[0]):
        kind, at = groups.kind[g], groups.table_at[g]
        m = kinds.n_missing[kind]
        for c in range(kinds.n_configs[kind]):
            left = counts[at + c]
            while left > 0.0:
                weight = min(left, 1.0)
                left -= weight
                log_density = 0.0
                if m > 0:
                    gather(kinds, groups, g, c, x, forms, work)
                    condition(m, work)
                    log_density = -0.5 * m * LOG_2PI
                    for i in range(m - 1, -1, -1):  # solve Lᵀ step = normal
                        step = normals[used + i]
                        log_density += np.log(lower[i * m + i]) - 0.5 * step * step
                        for k in range(i + 1, m):
                            step -= lower[k * m + i] * work.spread[k]
                        work.spread[i] = step / lower[i * m + i]
                    for i in range(m):
                        mean[i] += work.spread[i]
                    used += m
                total += weight * log_density
                add_moments(kinds, groups, g, c, x, weight, has_spread, work, moments)
    return total


@kernel(
    signature(
        GROUP_KINDS,
        CELL_GROUPS,
        "float64[:, ::1], float64[::1]",
        GROUP_WORK,
        "float64[:, :, ::1], float64[:, :, :, ::1]",
    )
)
def describe_groups(kinds, groups, x, forms, work, means, covariances):
    """Fill the means (G, C, m) and covariances of groups of one kind, for every configuration.

    Covariances (G, C, m, m) are left out if there is room for none.
    """
    for g in range(groups.kind.shape[0]):
        m = kinds.n_missing[groups.kind[g]]
        for c in range(kinds.n_configs[groups.kind[g]]):
            gather(kinds, groups, g, c, x, forms, work)
            condition(m, work)
            for i in range(m):
                means[g, c, i] = work.mean[i]
            if covariances.shape[0] > 0:
                invert(m, work)
                for i in range(m):
                    for j in range(m):
                        covariances[g, c, i, j] = work.spread[i * m + j]


@kernel(
    signature(
        GROUP_KINDS,
        CELL_GROUPS,
        "float64[:, ::1], float64[::1], int64[::1], float64[:, ::1]",
        GROUP_WORK,
        "float64[:, ::1]",
    )
)
def choose_numbers(kinds, groups, x, forms, config, normals, work, chosen):
    """Fill a value (G, m) of each missing number of groups of one kind, each in one configuration.

    They are drawn with the normals (G, m); without normals they are the means.
    """
    lower = work.precision
    for g in range(groups.kind.shape[0]):
        m = kinds.n_missing[groups.kind[g]]
        gather(kinds, groups, g, config[g], x, forms, work)
        condition(m, work)
        for i in range(m - 1, -1, -1):  # solve Lᵀ step = normal
            step = normals[g, i] if normals.shape[0] > 0 else 0.0
            for k in range(i + 1, m):
                step -= lower[k * m + i] * work.spread[k]
            work.spread[i] = step / lower[i * m + i]
        for i in range(m):
            chosen[g, i] = work.mean[i] + work.spread[i]
