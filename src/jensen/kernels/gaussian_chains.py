"""Chains of Gaussian hidden states: elimination forwards, means and covariances backwards.

In information form the precision of all states of a sequence is block-tridiagonal: `eliminate` is
its Cholesky factorisation, `follow_chain` and `spread_back` solve with it. Covariances of steps do
not depend on values: once they no longer change from step to step they are copied. The twin in
covariance form takes outputs one at a time and inverts nothing, so that noise may be 0.
"""

import numpy as np
from numba import types

from jensen.kernels import bare, kernel
from jensen.kernels.records import signature
from jensen.support.series_records import SeriesFilter, SeriesModel

SETTLED = 1e-15  # of the largest entry: steps that differ by less are alike
KNOWN = 1e-13  # of what a variance is a difference of: rounding, not variance
EXACT = 1e-6  # of its size: how far a value may be from one that is known already

_TABLES, _TABLE, _ROW = types.float64[:, :, ::1], types.float64[:, ::1], types.float64[::1]
_INTS = types.int64[::1]
MODEL = types.NamedTuple(
    [_TABLE, _TABLE, _TABLE, _TABLES, _TABLE, _INTS, _TABLE, _TABLE], SeriesModel
)
FILTER = types.NamedTuple(
    [_TABLES, _TABLES, _TABLES, _TABLES, _TABLES, _TABLE, _TABLES, _TABLES, _ROW], SeriesFilter
)


@bare
def invert(matrix, root, out):
    """Fill out with the inverse of a positive definite matrix; ½ log |matrix|, NaN of no such."""
    K = matrix.shape[0]
    log_det = 0.0
    for i in range(K):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= root[i, k] * root[j, k]
            root[i, j] = np.sqrt(total) if i == j else total / root[j, j]
        if not root[i, i] > 0.0:
            return np.nan
        log_det += np.log(root[i, i])
    for i in range(K):  # the inverse of the root, in its place
        root[i, i] = 1.0 / root[i, i]
        for j in range(i):
            total = 0.0
            for k in range(j, i):
                total += root[i, k] * root[k, j]
            root[i, j] = -total * root[i, i]
    for i in range(K):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, K):
                total += root[k, i] * root[k, j]
            out[i, j] = total
            out[j, i] = total
    return log_det


@bare
def sandwich(a, b, room, out):
    """Fill out with a b aᵀ for a symmetric b; room holds a b."""
    K = a.shape[0]
    for i in range(K):
        for j in range(K):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            room[i, j] = total
    for i in range(K):
        for j in range(i + 1):
            total = 0.0
            for k in range(K):
                total += room[i, k] * a[j, k]
            out[i, j] = total
            out[j, i] = total


@bare
def multiply(a, b, out):
    """Fill out with a b."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(b.shape[0]):
                total += a[i, k] * b[k, j]
            out[i, j] = total


@kernel(
    "void(float64[:, :, ::1], float64[:, :, ::1], int64[::1], float64[:, ::1], int64[::1], "
    "float64[:, :, ::1], float64[:, :, ::1], float64[:, ::1], float64[::1])"
)
def eliminate(blocks, nodes, owner, pull, ptr, inverse, gain, way, log_z):
    """Fill the inverse pivots, gains and ways of all steps, and log_z (S,) of the sequences.

    The blocks are the precision of first states, of later ones given those before, the cross term
    of neighbours, and what a next step says of a state. A sequence without a density has log_z NaN.
    """
    K = pull.shape[1]
    pivot, before, root, right = (
        np.empty((K, K)),
        np.zeros((K, K)),
        np.empty((K, K)),
        np.empty(K),
    )
    for s in range(len(ptr) - 1):
        a, b = ptr[s], ptr[s + 1]
        total, half_log, is_settled = 0.0, 0.0, False
        for t in range(a, b):
            is_settled = is_settled and t < b - 1 and owner[t] == owner[t - 1]
            if not is_settled:
                change, size = 0.0, 0.0
                for i in range(K):
                    for j in range(i + 1):
                        value = blocks[0 if t == a else 1, i, j] + nodes[owner[t], i, j]
                        if t < b - 1:
                            value += blocks[3, i, j]
                        if t > a:
                            for k in range(K):
                                value -= blocks[2, i, k] * gain[t - 1, k, j]
                        pivot[i, j] = value
                        change = max(change, abs(value - before[i, j]))
                        size = max(size, abs(value))
                        before[i, j] = value
                half_log = invert(pivot, root, inverse[t])
                for i in range(K):
                    for j in range(K):
                        value = 0.0
                        for k in range(K):
                            value += inverse[t, i, k] * blocks[2, j, k]
                        gain[t, i, j] = value
                is_settled = t > a + 1 and owner[t] == owner[t - 1] and change <= SETTLED * size
            else:
                inverse[t] = inverse[t - 1]
                gain[t] = gain[t - 1]
            for i in range(K):
                value = pull[t, i]
                if t > a:
                    for k in range(K):
                        value += blocks[2, i, k] * way[t - 1, k]
                right[i] = value
            for i in range(K):
                value = 0.0
                for k in range(K):
                    value += inverse[t, i, k] * right[k]
                way[t, i] = value
                total += 0.5 * value * right[i]
            total -= half_log
        log_z[s] = total + 0.5 * K * (b - a) * np.log(2.0 * np.pi)


@kernel("void(float64[:, :, ::1], int64[::1], float64[:, ::1])")
def follow_chain(gain, ptr, mean):
    """Turn ways (T, K) into means of the states: each given the next."""
    K = mean.shape[1]
    for s in range(len(ptr) - 1):
        for t in range(ptr[s + 1] - 2, ptr[s] - 1, -1):
            for i in range(K):
                total = mean[t, i]
                for k in range(K):
                    total += gain[t, i, k] * mean[t + 1, k]
                mean[t, i] = total


@kernel(
    "void(float64[:, :, ::1], float64[:, :, ::1], int64[::1], float64[:, :, ::1], "
    "float64[:, :, ::1])"
)
def spread_back(inverse, gain, ptr, spread, lag):
    """Fill the covariances of the states, and those of each with the one before it."""
    K = inverse.shape[1]
    room = np.empty((K, K))
    for s in range(len(ptr) - 1):
        a, b = ptr[s], ptr[s + 1]
        spread[b - 1] = inverse[b - 1]
        lag[a] = 0.0
        is_settled = False
        for t in range(b - 2, a - 1, -1):
            is_alike = t < b - 2
            if is_alike:
                for i in range(K):
                    for j in range(i + 1):
                        is_alike = is_alike and inverse[t, i, j] == inverse[t + 1, i, j]
            if is_settled and is_alike:
                spread[t] = spread[t + 1]
                lag[t + 1] = lag[t + 2]
                continue
            sandwich(gain[t], spread[t + 1], room, spread[t])
            change, size = 0.0, 0.0
            for i in range(K):
                for j in range(K):
                    spread[t, i, j] += inverse[t, i, j]
                    lag[t + 1, j, i] = room[i, j]
                    change = max(change, abs(spread[t, i, j] - spread[t + 1, i, j]))
                    size = max(size, abs(spread[t, i, j]))
            is_settled = is_alike and change <= SETTLED * size


# --- the twin in covariance form ---


@bare
def predict(model, found, t, mean, spread, room):
    """Fill mean and spread of the state of step t given the steps before it."""
    multiply(model.transition, found.seen_mean[t - 1], mean)
    sandwich(model.transition, found.seen_spread[t - 1], room, spread)
    for i in range(mean.shape[0]):
        mean[i, 0] += model.push[t, i]
        for j in range(mean.shape[0]):
            spread[i, j] += model.process[i, j]


@bare
def look(model, found, p, t, d, value, mean, spread, towards):
    """Fill what is left of an output, its variance, and what it tells; whether it is possible."""
    K, width = mean.shape
    scale, size, about = model.noise[p, d], 0.0, abs(value)
    for i in range(K):
        here, total = model.loadings[p, d, i], 0.0
        for k in range(K):
            total += spread[i, k] * model.loadings[p, d, k]
        towards[i] = total
        scale += total * here
        size += here * here * found.spread[t, i, i]
        about += abs(here * mean[i, 0])
    for c in range(width):
        total = value if c == 0 else 0.0
        for k in range(K):
            total -= model.loadings[p, d, k] * mean[k, c]
        found.left[t, d, c] = total
    if not scale > KNOWN * size:
        found.scale[t, d] = 0.0
        return not abs(found.left[t, d, 0]) > EXACT * about
    found.scale[t, d] = scale
    for i in range(K):
        found.gain[t, d, i] = towards[i] / scale
    return True


@bare
def learn_output(found, s, t, d, mean, spread, towards):
    """Change mean and spread by what an output tells, and add to the sums of the sequence."""
    K, width = mean.shape
    scale, gain, left = found.scale[t, d], found.gain[t, d], found.left[t, d]
    found.log_z[s] -= 0.5 * np.log(2.0 * np.pi * scale)
    for i in range(K):
        for c in range(width):
            mean[i, c] += gain[i] * left[c]
        for j in range(i + 1):
            spread[i, j] -= gain[i] * towards[j]
            spread[j, i] = spread[i, j]
        spread[i, i] = max(spread[i, i], 0.0)
    for c in range(width):
        for e in range(width):
            found.squares[s, c, e] += left[c] * left[e] / scale


@kernel(signature(MODEL, _INTS, _TABLE, _INTS, FILTER))
def filter_in_turn(model, owner, values, ptr, found):
    """Fill means and covariances of every step, its outputs taken in turn.

    An output without variance says nothing new: a value that contradicts it makes log_z -inf.
    """
    K, width = model.start.shape
    spread, room = np.empty((K, K)), np.empty((K, K))
    mean, towards = np.empty((K, width)), np.empty(K)
    for s in range(len(ptr) - 1):
        for t in range(ptr[s], ptr[s + 1]):
            if t == ptr[s]:
                mean[:] = model.start
                spread[:] = model.spread
            else:
                predict(model, found, t, mean, spread, room)
            found.mean[t] = mean
            found.spread[t] = spread
            p = owner[t]
            for d in range(model.n_seen[p]):
                if not look(model, found, p, t, d, values[t, d], mean, spread, towards):
                    found.log_z[s] = -np.inf
                if found.scale[t, d] > 0.0:
                    learn_output(found, s, t, d, mean, spread, towards)
            found.seen_mean[t] = mean
            found.seen_spread[t] = spread


@bare
def look_back(model, found, p, t, d, pulls, turned, turn, room, strength, moved):
    """Add to the pulls and strengths of later steps what an output tells."""
    K, width = pulls.shape
    scale = found.scale[t, d]
    for i in range(K):  # turn = (I - gain loadingsᵀ)ᵀ
        for j in range(K):
            turn[i, j] = -model.loadings[p, d, i] * found.gain[t, d, j]
        turn[i, i] += 1.0
    sandwich(turn, strength, room, moved)
    for i in range(K):
        for j in range(K):
            product = model.loadings[p, d, i] * model.loadings[p, d, j]
            strength[i, j] = moved[i, j] + product / scale
    multiply(turn, pulls, turned)
    for i in range(K):
        for c in range(width):
            pulls[i, c] = turned[i, c] + model.loadings[p, d, i] * found.left[t, d, c] / scale


@kernel(signature(MODEL, _INTS, _INTS, FILTER, _TABLES, _TABLES, _TABLES))
def smooth_in_turn(model, owner, ptr, found, mean, spread, lag):
    """Fill mean (T, K, 1 + q), spread and lag: what is known of states given all steps."""
    K, width = model.start.shape
    strength, moved, turn = np.empty((K, K)), np.empty((K, K)), np.empty((K, K))
    pulls, turned, room = np.empty((K, width)), np.empty((K, width)), np.empty((K, K))
    across = np.ascontiguousarray(model.transition.T)
    for s in range(len(ptr) - 1):
        strength[:] = 0.0
        pulls[:] = 0.0
        for t in range(ptr[s + 1] - 1, ptr[s] - 1, -1):
            if t < ptr[s + 1] - 1:
                sandwich(across, strength, room, moved)
                strength[:] = moved
                multiply(across, pulls, turned)
                pulls[:] = turned
            p = owner[t]
            for d in range(model.n_seen[p] - 1, -1, -1):
                if found.scale[t, d] > 0.0:
                    look_back(model, found, p, t, d, pulls, turned, turn, room, strength, moved)
            multiply(found.spread[t], pulls, mean[t])
            multiply(found.spread[t], strength, turn)
            for i in range(K):
                for c in range(width):
                    mean[t, i, c] += found.mean[t, i, c]
                for j in range(K):
                    turn[i, j] = (1.0 if i == j else 0.0) - turn[i, j]
            multiply(turn, found.spread[t], spread[t])
            for i in range(K):
                for j in range(i):
                    half = 0.5 * (spread[t, i, j] + spread[t, j, i])
                    spread[t, i, j] = half
                    spread[t, j, i] = half
            lag[t] = 0.0
            if t > ptr[s]:
                multiply(model.transition, found.seen_spread[t - 1], room)
                multiply(turn, room, lag[t])
