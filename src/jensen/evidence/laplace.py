"""Laplace's approximation: log p(x, θ̂) + d/2 log 2π - ½ log |I|, times the copies of the mode.

The mode and its Hessian are in the coordinates of `jensen.evidence.coordinates`. By Louis (1982)
the observed information is that of completed rows less what is not known of them,

    I = -∂² ⟨η, t⟩ - Jᵀ Cov[s] J,    η = prior + E[s],  J = ∂t / ∂coordinates,

s being the statistics of completed rows. Cov[s] J is how E[s] changes with the coordinates: one
E-step on either side of each.

References
----------
Louis (1982), *Finding the observed information matrix when using the EM algorithm*, equation 3.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.evidence.ascents import EvidenceAnswer, best_fit
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.coordinates import FreeCoordinates, coordinates, real
from jensen.evidence.labels import n_labellings
from jensen.evidence.record import Line
from jensen.evidence.softmax import SOFTMAX_EM, exponents
from jensen.exceptions import CollapseError, JensenError, TooLargeError
from jensen.free_energy import AnyState, expect
from jensen.models.protocol import AnyModel
from jensen.models.state_model import flatten
from jensen.support.fields import add
from jensen.support.text import one_of

Array = NDArray[np.float64]

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
    complete = at.curvature(flatten(exponents(model.families, eta)))
    if not np.all(np.diagonal(complete) > 0.0):
        raise JensenError(
            "the mode lies at a boundary, such as a rate of 0, where nothing is about normal: use "
            f"{one_of('method', ['vb', 'bic'])}"
        )
    unit = 1.0 / np.sqrt(np.diagonal(complete))
    observed = (complete - not_known(model, asked.units, at, unit)) * unit * unit[:, None]
    values = np.asarray(np.linalg.eigvalsh(observed), np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_det = float(np.log(values).sum() - 2.0 * np.log(unit).sum())
    return Information(values, log_det)


def not_known(model: AnyModel, units: Units, at: FreeCoordinates, unit: Array) -> Array:
    """Jᵀ Cov[s] J: the information of completed rows that the rows lack, (d, d).

    `unit` is the standard deviation of each coordinate where rows are complete; coordinates of
    unit 0 do not move.
    """
    d = len(unit)
    lost = np.zeros((d, d))
    if units.is_complete:
        return lost
    jacobian = at.jacobian()
    for j in np.flatnonzero(unit):
        step = STEP * unit[j]
        ends = [_stats_at(model, units, at, int(j), sign * step) for sign in (1.0, -1.0)]
        lost[:, j] = jacobian.T @ ((ends[0] - ends[1]) / (2.0 * step))
    return np.asarray(0.5 * (lost + lost.T))


def _stats_at(model: AnyModel, units: Units, at: FreeCoordinates, j: int, step: float) -> Array:
    """E[s] a step away in one coordinate."""
    z = at.at.copy()
    z[j] += step
    sums, _ = expect(model, units, q_hidden.exact, real(at.stats(z)))
    return flatten(sums.stats)
