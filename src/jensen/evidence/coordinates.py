"""Free coordinates of θ near one place, and how t and ⟨η, t⟩ bend there.

Probabilities of K states are K - 1 logits, the last one 0; rates, means, precisions and
coefficients are their own coordinates, of a precision matrix the lower half. `FreeCoordinates` goes
there and back, and says how t depends on them; but for probabilities by complex steps, for t is an
analytic function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families.dirichlet import Dirichlet
from jensen.families.gamma import Gamma
from jensen.families.linear_regression import Regression
from jensen.families.normal_gamma import NormalGamma
from jensen.families.normal_wishart import NormalWishart
from jensen.families.partly_known import KnownMeans, KnownPrecisions
from jensen.families.point_mass import PointMass
from jensen.families.spherical import Spherical
from jensen.families.tied import Tied
from jensen.support.fields import leaves, rebuild
from jensen.support.text import option

Array = NDArray[np.float64]
Complex = NDArray[Any]
Made = tuple[Array, Callable[[Complex], Any]]


class FreeCoordinates(NamedTuple):
    """The coordinates of some factors of θ at one place."""

    at: Array  # (d,)
    stats: Callable[[Complex], Any]  # coordinates → t
    jacobian: Callable[[], Array]  # (P, d): ∂t / ∂coordinates there, 0 where t is -inf
    curvature: Callable[[Array], Array]  # weights (P,) → -∂² ⟨weights, t⟩ there, (d, d)


def coordinates(families: Any, t: Any) -> FreeCoordinates:
    """Of all factors, at this θ."""
    parts = [_of_family(family, own) for family, own in zip(families, t, strict=True)]
    joined = _joined(parts)
    return joined._replace(stats=lambda z: type(t)(*joined.stats(z)))


def _of_family(family: Any, t: Any) -> FreeCoordinates:
    if isinstance(family, PointMass):
        size = sum(leaf.size for leaf in leaves(t))
        none = np.empty((0, 0))
        return FreeCoordinates(
            np.empty(0), lambda z: t, lambda: np.empty((size, 0)), lambda w: none
        )
    if isinstance(family, Dirichlet):
        return _probabilities(family, t)
    if isinstance(t, tuple) and not hasattr(t, "_fields"):
        return _joined([_of_family(part, own) for part, own in zip(family.parts, t, strict=True)])
    for kind, make in KINDS.items():
        if isinstance(t, kind) and not isinstance(family, KnownMeans | KnownPrecisions):
            made = _stepped(*make(t))
            if isinstance(t, Regression):
                return made._replace(curvature=lambda weights: _bend_of_regressions(t, weights))
            return made
    raise JensenError(
        "the Laplace approximation knows no model of which only means or only covariances are "
        f"held: leave fixed= out, or use {option('method', 'vb')}"
    )


def _joined(parts: Sequence[FreeCoordinates]) -> FreeCoordinates:
    ends = np.cumsum([len(part.at) for part in parts])

    def stats(z: Complex) -> tuple[Any, ...]:
        pieces = np.split(z, ends[:-1])
        return tuple(part.stats(piece) for part, piece in zip(parts, pieces, strict=True))

    sizes = np.cumsum([len(part.jacobian()) for part in parts])

    def curvature(weights: Array) -> Array:
        pieces = np.split(weights, sizes[:-1])
        each = [part.curvature(piece) for part, piece in zip(parts, pieces, strict=True)]
        return np.asarray(_diagonal_blocks(each))

    def jacobian() -> Array:
        return np.asarray(_diagonal_blocks([part.jacobian() for part in parts]))

    at = np.concatenate([np.empty(0), *(part.at for part in parts)])
    return FreeCoordinates(at, stats, jacobian, curvature)


def _diagonal_blocks(blocks: Sequence[Array]) -> Array:
    """One matrix; blocks without columns keep their rows."""
    found = np.zeros((sum(len(x) for x in blocks), sum(x.shape[1] for x in blocks)))
    i, j = 0, 0
    for x in blocks:
        found[i : i + len(x), j : j + x.shape[1]] = x
        i, j = i + len(x), j + x.shape[1]
    return found


def _stepped(at: Array, stats: Callable[[Complex], Any]) -> FreeCoordinates:
    """Derivatives by complex steps, and second ones by differences of these."""

    def jacobian(z: Array) -> Array:
        columns = []
        for j in range(len(z)):
            moved = z.astype(np.complex128)
            moved[j] += 1e-30j
            parts = [np.ravel(np.imag(leaf)) for leaf in leaves(stats(moved))]
            columns.append(np.concatenate(parts) / 1e-30)
        return np.array(columns).T

    def curvature(weights: Array) -> Array:
        found = np.empty((len(at), len(at)))
        for j, value in enumerate(at):
            step = 1e-5 * (abs(value) if value else 1.0)
            ends = []
            for sign in (1.0, -1.0):
                moved = at.copy()
                moved[j] += sign * step
                ends.append(jacobian(moved).T @ weights)
            found[:, j] = (ends[1] - ends[0]) / (2.0 * step)
        return np.asarray(0.5 * (found + found.T))

    return FreeCoordinates(at, stats, lambda: jacobian(at), curvature)


def _probabilities(family: Any, t: Array) -> FreeCoordinates:
    """Logits against the last cell of each distribution; cells that are left out stay so."""
    number = family.spread(
        family.totals(np.ones_like(t)).cumsum().reshape(_totals_shape(family, t))
    )
    flat, group = t.ravel(), np.broadcast_to(number, t.shape).ravel()
    inside = np.flatnonzero(flat > -np.inf)
    order = inside[np.argsort(group[inside], kind="stable")]
    own = group[order]
    is_last = np.append(own[1:] != own[:-1], True)
    lasts, free = order[is_last], order[~is_last]
    which = np.cumsum(np.append(0, is_last[:-1].astype(int)))  # of each cell in order
    starts = np.flatnonzero(np.append(True, is_last[:-1]))

    def stats(z: Complex) -> Complex:
        logits = np.zeros(len(order), z.dtype)
        logits[~is_last] = z
        top = np.maximum.reduceat(logits.real, starts)
        log_sum = np.log(np.add.reduceat(np.exp(logits - top[which]), starts)) + top
        found = np.full(len(flat), -np.inf, z.dtype)
        found[order] = logits - log_sum[which]
        return found.reshape(t.shape)

    share = np.exp(flat[order])

    def jacobian() -> Array:
        found = np.zeros((len(flat), len(free)))
        same = which[:, None] == which[~is_last]
        found[order] = np.where(same, -share[~is_last], 0.0)
        found[free, np.arange(len(free))] += 1.0
        return found

    def curvature(weights: Array) -> Array:
        total = np.bincount(which, weights[order])
        own, of_group = share[~is_last], which[~is_last]
        same = of_group[:, None] == of_group
        found = np.where(same, -np.outer(own, own), 0.0) + np.diag(own)
        return np.asarray(found * total[of_group])

    reference = np.zeros(len(flat))
    reference[order] = flat[lasts][which]
    return FreeCoordinates(flat[free] - reference[free], stats, jacobian, curvature)


def _totals_shape(family: Any, t: Array) -> tuple[int, ...]:
    return tuple(np.shape(family.totals(np.ones_like(t))))


def _rates(t: Gamma) -> Made:
    shape = t.total.shape

    def stats(z: Complex) -> Gamma:
        rate = z.reshape(shape)
        return Gamma(np.log(rate), -rate)

    return (np.exp(t.total).ravel(), stats)


def _diagonal(t: NormalGamma) -> Made:
    shape = t.first.shape
    precision = -2.0 * t.second

    def stats(z: Complex) -> NormalGamma:
        mean, own = (part.reshape(shape) for part in np.split(z, 2))
        return NormalGamma(0.5 * np.log(own), -0.5 * own, own * mean, -0.5 * own * mean**2)

    return (np.concatenate([(t.first / precision).ravel(), precision.ravel()]), stats)


def _spherical(t: Spherical) -> Made:
    K, D = t.first.shape
    precision = -2.0 * t.second

    def stats(z: Complex) -> Spherical:
        mean, own = z[: K * D].reshape(K, D), z[K * D :]
        first = own[:, None] * mean
        return Spherical(0.5 * np.log(own), -0.5 * own, first, -0.5 * (mean * first).sum(1))

    return (np.concatenate([(t.first / precision[:, None]).ravel(), precision]), stats)


def _full(t: NormalWishart) -> Made:
    K, D = t.first.shape
    precision = -2.0 * t.second
    mean = np.linalg.solve(precision, t.first[..., None])[..., 0]
    lower = np.tril_indices(D)

    def stats(z: Complex) -> NormalWishart:
        means, matrices = z[: K * D].reshape(K, D), _symmetric(z[K * D :].reshape(K, -1), D)
        first = (matrices @ means[..., None])[..., 0]
        half = 0.5 * np.log(np.linalg.det(matrices))
        return NormalWishart(half, -0.5 * matrices, first, -0.5 * (means * first).sum(1))

    at = np.concatenate([mean.ravel(), precision[:, lower[0], lower[1]].ravel()])
    return (at, stats)


def _tied(t: Tied) -> Made:
    K, D = t.first.shape
    precision = -2.0 * t.second
    mean = np.linalg.solve(precision, t.first.T).T

    def stats(z: Complex) -> Tied:
        means, matrix = z[: K * D].reshape(K, D), _symmetric(z[None, K * D :], D)[0]
        first = means @ matrix
        half = 0.5 * np.log(np.linalg.det(matrix))
        return Tied(half, -0.5 * matrix, first, -0.5 * (means * first).sum(1))

    return (np.concatenate([mean.ravel(), precision[np.tril_indices(D)]]), stats)


def _regressions(t: Regression) -> Made:
    K, D = t.first.shape
    precision = -2.0 * t.second

    def stats(z: Complex) -> Regression:
        slopes, own = z[: K * D].reshape(K, D), z[K * D :]
        first = own[:, None] * slopes
        square = -0.5 * slopes[:, :, None] * first[:, None, :]
        return Regression(0.5 * np.log(own), -0.5 * own, first, square)

    return (np.concatenate([(t.first / precision[:, None]).ravel(), precision]), stats)


def _bend_of_regressions(t: Regression, weights: Array) -> Array:
    """-∂² of N/2 log λ - λ/2 Σ (y - βᵀx)², exactly: differences fail where columns are large."""
    K, D = t.first.shape
    precision = -2.0 * t.second
    slopes = t.first / precision[:, None]
    count, _, first, square = np.split(weights, np.cumsum([K, K, K * D]))
    first, square = first.reshape(K, D), square.reshape(K, D, D)
    found = np.zeros((K * (D + 1),) * 2)
    for k in range(K):
        own, last = slice(k * D, (k + 1) * D), K * D + k
        found[own, own] = precision[k] * square[k]
        found[own, last] = found[last, own] = square[k] @ slopes[k] - first[k]
        found[last, last] = 0.5 * count[k] / precision[k] ** 2
    return found


def _symmetric(lower: Complex, D: int) -> Complex:
    found = np.zeros((len(lower), D, D), lower.dtype)
    rows, columns = np.tril_indices(D)
    found[:, rows, columns] = lower
    found[:, columns, rows] = lower
    return found


KINDS: dict[type, Callable[[Any], Made]] = {
    Gamma: _rates,
    NormalGamma: _diagonal,
    Spherical: _spherical,
    NormalWishart: _full,
    Tied: _tied,
    Regression: _regressions,
}


def real(record: Any) -> Any:
    """The record of the real parts, as kernels want them."""
    return rebuild(record, (np.ascontiguousarray(np.real(leaf)) for leaf in leaves(record)))
