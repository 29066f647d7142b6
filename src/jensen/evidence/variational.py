"""Variational Bayes: F, what symmetric labels add to it, and how tight it is.

Tightness is told by importance sampling from q(θ), what is hidden summed out: with S draws of θ
from q the mean of p(x, θ) / q(θ) is an unbiased estimate of the evidence, and the mean of its
logarithm a bound that is never below F. Where q is too narrow, a few draws carry all the weight,
and the tail of the weights (Pareto's k̂) says so.

References
----------
Vehtari, Simpson, Gelman, Yao and Gabry (2024), *Pareto smoothed importance sampling*. Zhang and
Stephens (2009), *A new and efficient estimation method for the generalized Pareto distribution*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen import q_hidden
from jensen.evidence.ascents import EvidenceAnswer, best_fit
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.labels import n_labellings, relabellings, symmetric_sizes
from jensen.evidence.particles import at_once, dot, is_free, log_prior, particles_of
from jensen.evidence.record import WORKS, Line, shown
from jensen.evidence.stacked import (
    can_sample,
    flat_rows,
    has_draws,
    log_partitions,
    repeat,
    sample,
    take,
)
from jensen.exceptions import JensenError, NotFittedError
from jensen.free_energy import AnyState, expect
from jensen.models.state_labels import log_labellings
from jensen.models.state_model import StateModel, flatten
from jensen.support.arguments import check_whole
from jensen.support.fields import leaves, rebuild
from jensen.support.text import grid

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
    if not asked.model.has_own_priors:
        told = "how tight it is, is not told of factors"
        return EvidenceAnswer(bound, "lower bound", warnings=(*notes, told))
    if not has_draws(asked.model):
        told = "how tight it is, is not told of trees"
        return EvidenceAnswer(bound, "lower bound", warnings=(*notes, told))
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


@dataclass(frozen=True)
class BoundGap:
    """A bound, a tighter one, and whether that can be believed.

    Attributes
    ----------
    bound : float
        F, a lower bound of the log evidence.
    multi_sample : float
        Log of the mean weight of all draws: on average between F and the log evidence.
    pareto_k : float
        Of the tail of the weights: above 0.7 the multi-sample bound is no estimate.
    n_samples : int
        How many draws.
    """

    bound: float
    multi_sample: float
    pareto_k: float
    n_samples: int

    @property
    def is_stable(self) -> bool:
        """Whether no few draws carry the multi-sample bound; what q does not reach is not seen."""
        return self.pareto_k <= WORKS

    def __repr__(self) -> str:
        rows = [
            ("bound", shown(self.bound), "lower bound"),
            (f"with {self.n_samples:,} draws", shown(self.multi_sample), "lower bound on average"),
            ("Pareto k", f"{self.pareto_k:.2f}", ""),
        ]
        end = (
            "the weights are even where q(θ) has its mass; other modes and other labels of states "
            "are not counted"
            if self.is_stable
            else f"k is above {WORKS}: importance sampling does not work here, and the "
            "evidence may be far above both"
        )
        return grid(rows, left=1) + "\n" + end


def bound_gap(
    learner: Any, table: Any, n_samples: int = 2000, random_state: Any = None, **fit: Any
) -> BoundGap:
    """The gap below the log evidence; a fitted learner begins at what it has learned."""
    check_whole("n_samples", n_samples, at_least=100)
    given = learner.get_params(deep=False)
    if given["method"] not in (None, "vbem") or (
        given["method"] is None and given["prior"] is None
    ):
        raise JensenError("the gap is that of a bound: learn with method='vbem' and a prior")
    asked = EvidenceQuestion(learner, table, fit, random_state)
    best, _ = best_fit(_at_what_was_learned(asked))
    return gap_of(asked, best.state, int(n_samples))


def gap_of(asked: EvidenceQuestion, state: AnyState, n: int) -> BoundGap:
    """The gap of the bound of one posterior."""
    log_weight = log_weights(asked, state, n)
    value = float(logsumexp(log_weight) - math.log(n))
    return BoundGap(float(state.free_energy), value, pareto_k(log_weight), n)


def _at_what_was_learned(asked: EvidenceQuestion) -> EvidenceQuestion:
    try:
        (asked.learner.require_any if hasattr(asked.learner, "require_any") else
         asked.learner.require_fitted)()  # fmt: skip
    except NotFittedError:
        return asked
    if asked.learner.get_params(deep=False)["start"] is not None:
        return asked
    twin = type(asked.learner)(
        **{**asked.learner.get_params(deep=False), "start": asked.learner, "n_init": 1}
    )
    return EvidenceQuestion(twin, asked.table, asked.fit, asked.random_state, 1)


def log_weights(asked: EvidenceQuestion, state: AnyState, n: int) -> Array:
    """(n,): log p(x, θ) / q(θ) at draws of q(θ)."""
    model = asked.model
    t = sample(model, repeat(state.eta, n), asked.streams(8)())
    eta = flatten(state.eta)
    own = np.where(is_free(model), eta, 0.0)
    log_q = dot(flat_rows(t), own[None])[:, 0] - log_partitions(model, eta[None])[0]
    return np.asarray(_log_likelihoods(asked, t, n) + log_prior(model, t) - log_q)


def _log_likelihoods(asked: EvidenceQuestion, t: Any, n: int) -> Array:
    """Log p(x | θ) of every θ: all at once where that can be, else one E-step each."""
    try:
        particles = particles_of(asked)
    except JensenError:  # numbers are missing, which E-steps integrate out
        each = []
        for c in range(n):
            one = rebuild(t, (leaf[c] for leaf in leaves(t)))
            each.append(expect(asked.model, asked.units, q_hidden.exact, one)[0].value)
        return np.array(each)
    found = []
    for start in range(0, n, size := at_once(particles, n)):
        some = take(t, np.arange(start, min(start + size, n)))
        found.append(particles.gains(some, particles.look(some), 0.0, 1.0))
    return np.asarray(np.concatenate(found) + particles.log_start)


EVEN = 1.1


def pareto_k(log_weight: Array) -> float:
    """The shape k of the generalised Pareto distribution of the largest weights.

    0 where no weight is a tenth above the mean: such weights have no tail, and a fit to them would
    tell the shape of their rounding.
    """
    n = len(log_weight)
    if log_weight.max() - logsumexp(log_weight) + math.log(n) < math.log(EVEN):
        return 0.0
    n_tail = min(n // 5, math.ceil(3.0 * math.sqrt(n)))
    ordered = np.sort(log_weight)
    weights = np.exp(ordered[-n_tail - 1 :] - ordered[-1])
    excess = weights[1:] - weights[0]
    return _shape(excess[excess > 0.0])


def _shape(x: Array) -> float:
    """Zhang and Stephens (2009), with the weak prior of Vehtari et al. (2024), appendix C."""
    n = len(x)
    m = 30 + int(math.sqrt(n))
    quarter = x[int(n / 4 + 0.5) - 1]
    b = 1.0 / x[-1] + (1.0 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3.0 * quarter)
    k = -np.log1p(-b[:, None] * x).mean(1)
    log_like = n * (np.log(b / k) + k - 1.0)
    share = np.exp(log_like - logsumexp(log_like))
    best = float(b @ share)
    shape = -float(np.log1p(-best * x).mean())
    return (n * -shape + 10.0 * 0.5) / (n + 10.0)
