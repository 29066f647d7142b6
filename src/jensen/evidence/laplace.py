"""Laplace's approximation: log p(x, θ̂) + d/2 log 2π - ½ log |I|, times the copies of the mode.

The mode and its Hessian are in coordinates that may be anything near it: probabilities of K states
are K - 1 logits, the last one 0; rates, means, precisions and coefficients are their own
coordinates, of a precision matrix the lower half. `FreeCoordinates` goes there and back, and says
how t depends on them; but for probabilities by complex steps, for t is an analytic function. By
Louis (1982) the observed information is that of completed rows less what is not known of them,

    I = -∂² ⟨η, t⟩ - Jᵀ Cov[s] J,    η = prior + E[s],  J = ∂t / ∂coordinates,

s being the statistics of completed rows. Cov[s] J is how E[s] changes with the coordinates: one
E-step on either side of each.

References
----------
Louis (1982), *Finding the observed information matrix when using the EM algorithm*, equation 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.evidence.ascents import EvidenceAnswer, best_fit
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.labels import n_labellings
from jensen.evidence.record import Line
from jensen.evidence.softmax import SOFTMAX_EM, exponents
from jensen.exceptions import CollapseError, JensenError, TooLargeError
from jensen.families.dirichlet import Dirichlet
from jensen.families.gamma import Gamma
from jensen.families.linear_regression import Regression
from jensen.families.normal_gamma import NormalGamma
from jensen.families.normal_wishart import NormalWishart
from jensen.families.partly_known import KnownMeans, KnownPrecisions
from jensen.families.point_mass import PointMass
from jensen.families.spherical import Spherical
from jensen.families.tied import Tied
from jensen.free_energy import AnyState, expect
from jensen.models.state_model import flatten
from jensen.support.fields import add, leaves, rebuild
from jensen.support.text import one_of, option

Array = NDArray[np.float64]
Complex = NDArray[Any]
Made = tuple[Array, Callable[[Complex], Any]]

MOST = 2000
"""Parameters, each of which costs two E-steps and a row of a matrix."""
STEP = 3e-4
"""Of differences, in standard deviations of a parameter where rows are complete."""
FLAT = 1e-9


class Information(NamedTuple):
    """Eigenvalues of the information, in units in which that of completed rows has a diagonal 1."""

    observed: Array  # (d,)
    log_det: float  # of the observed information itself


def laplace(asked: EvidenceQuestion) -> EvidenceAnswer:
    """The approximation at the best mode that was found; refused where there is none inside."""
    try:
        best, notes = best_fit(asked, SOFTMAX_EM)
    except CollapseError as error:
        raise JensenError(f"there is no mode inside to expand about: {error}") from None
    found = information(asked, best.state)
    least = float(found.observed.min(initial=1.0))
    if not least > FLAT:
        raise JensenError(
            "the Laplace approximation does not exist here: where the ascent ended the log "
            "posterior is flat, or rises, in some direction, so that it is no mode inside (two "
            f"hidden states may be alike there); use {one_of('method', ['ais', 'vb'])}"
        )
    d, copies = len(found.observed), n_labellings(asked.model)
    value = best.state.free_energy + 0.5 * d * math.log(2.0 * math.pi) - 0.5 * found.log_det
    value += math.log(copies)
    lines = [Line("log p(x, mode)", best.state.free_energy), Line("parameters", float(d))]
    warnings = list(notes)
    if copies > 1:
        lines.append(Line("copies of the mode", float(copies)))
    if least < 0.1:
        warnings.append(
            f"some direction keeps only {least:.1g} of the information of complete rows: the "
            "posterior is far from normal there, and so is this number from the evidence"
        )
    return EvidenceAnswer(value, "asymptotic", lines=tuple(lines), warnings=tuple(warnings))


def information(asked: EvidenceQuestion, state: AnyState) -> Information:
    """The observed information at a mode."""
    model = asked.model
    at = coordinates(model.families, state.t)
    d = len(at.at)
    if d > MOST:
        raise TooLargeError(
            f"the Laplace approximation needs a matrix of {d:,} by {d:,} numbers and "
            f"{2 * d:,} E-steps, too many: use {one_of('method', ['vb', 'bic'])}"
        )
    sums, _ = expect(model, asked.units, q_hidden.exact, state.t)
    eta = add(model.prior, sums.stats)
    weights = flatten(exponents(model.families, eta))
    complete, jacobian = at.curvature(weights), at.jacobian()
    unit = 1.0 / np.sqrt(np.diagonal(complete))
    lost = np.zeros((d, d))
    if not asked.units.is_complete:
        for j in range(d):
            ends = [_stats_at(asked, at, j, sign * STEP * unit[j]) for sign in (1.0, -1.0)]
            lost[:, j] = jacobian.T @ ((ends[0] - ends[1]) / (2.0 * STEP * unit[j]))
    observed = (complete - 0.5 * (lost + lost.T)) * unit * unit[:, None]
    values = np.asarray(np.linalg.eigvalsh(observed), np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_det = float(np.log(values).sum() - 2.0 * np.log(unit).sum())
    return Information(values, log_det)


def _stats_at(asked: EvidenceQuestion, at: FreeCoordinates, j: int, step: float) -> Array:
    """E[s] a step away in one coordinate."""
    z = at.at.copy()
    z[j] += step
    sums, _ = expect(asked.model, asked.units, q_hidden.exact, real(at.stats(z)))
    return flatten(sums.stats)


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
            return _stepped(*make(t))
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
