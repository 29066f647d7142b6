"""Variational Bayes: F, what symmetric labels add to it, and how tight it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen import q_hidden
from jensen.evidence.ascents import EvidenceAnswer, best_fit
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.labels import n_labellings, relabellings, symmetric_sizes
from jensen.evidence.record import Line
from jensen.evidence.stacked import can_sample, flat_rows, repeat, sample
from jensen.evidence.tightness import WORKS, gap_of
from jensen.free_energy import AnyState, expect
from jensen.models.state_labels import log_labellings
from jensen.models.state_model import StateModel, flatten

Array = NDArray[np.float64]

DRAWS = 400
"""From q, for what symmetric labels add to a bound."""
MOST_LABELLINGS = 720
GAP_DRAWS = 1000


def vb(asked: EvidenceQuestion) -> EvidenceAnswer:
    """F, and beside it what a q that is symmetric in the labels would have."""
    best, notes = best_fit(asked)
    bound = float(best.trace[-1])
    if asked.units.is_complete:
        return EvidenceAnswer(bound, "exact", warnings=notes)
    if not can_sample(asked.model):
        told = "how tight it is, is not told where only means or only covariances are held"
        return EvidenceAnswer(bound, "lower bound", warnings=(*notes, told))
    gap = gap_of(asked, best.state, GAP_DRAWS)
    lines = [
        *symmetric_bound(asked, best.state),
        Line(f"with {GAP_DRAWS:,} draws of θ", gap.multi_sample, "lower bound on average"),
        Line("Pareto k", gap.pareto_k),
    ]
    if not gap.is_stable:
        notes = (*notes, f"k is above {WORKS}: the evidence may be far above these bounds")
    return EvidenceAnswer(bound, "lower bound", lines=tuple(lines), warnings=notes)


def symmetric_bound(asked: EvidenceQuestion, state: AnyState) -> tuple[Line, ...]:
    """F_sym = F + E_q[log q / q_sym], by draws from q(h) q(θ), and the usual label correction."""
    model, lines = asked.model, []
    if not symmetric_sizes(model):
        return ()
    if n_labellings(model) <= MOST_LABELLINGS:
        gains = label_gains(asked, state)
        error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
        value = state.free_energy + float(gains.mean())
        lines.append(Line("F_sym", value, "lower bound, estimated by draws", error))
    if isinstance(model, StateModel):
        fitted = model.finish(state, is_posterior=True)
        correction = log_labellings(fitted.model, fitted.counts, fitted.eta)
        lines.append(
            Line("F + label correction", state.free_energy + correction, "estimate, not a bound")
        )
    return tuple(lines)


def label_gains(asked: EvidenceQuestion, state: AnyState) -> Array:
    """(draws,): log q(h, θ) - log q_sym(h, θ) at draws from q; between 0 and log K! on average."""
    model = asked.model
    places = relabellings(model)
    eta, t = flatten(state.eta), flatten(state.t)
    streams = asked.streams(3)
    thetas = flat_rows(sample(model, repeat(state.eta, DRAWS), streams(0)))
    gains = np.empty(DRAWS)
    units = asked.drawn_units
    for d in range(DRAWS):
        sums, _ = expect(model, units, q_hidden.draw, state.t, streams.at(1 + d))
        drawn, theta = flatten(sums.stats), thetas[d]
        ratios = _dot(drawn[places], t) + _dot(theta[places], eta)
        gains[d] = np.log(len(places)) - logsumexp(ratios - ratios[0])
    return gains


def _dot(rows: Array, weights: Array) -> Array:
    """Σ rows · weights with 0 · (-inf) = 0."""
    with np.errstate(invalid="ignore"):
        terms = rows * weights
    return np.asarray(np.where((rows == 0.0) | (weights == 0.0), 0.0, terms).sum(-1))
