"""Bounds by variational Bayes and by Cheeseman and Stutz, and BIC.

With q(h) = p(h | x, θ) at any θ and the best q(θ) for it the bound is

    log p(x | θ) - ⟨s, t(θ)⟩ + A(prior + s) - A(prior),    s = E_q[statistics],

which is what Cheeseman and Stutz take at a mode. Variational Bayes goes on from there, and never
falls.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen import q_hidden
from jensen.evidence.asked import Asked
from jensen.evidence.labels import n_labellings, relabellings, symmetric_sizes
from jensen.evidence.record import Line
from jensen.evidence.softmax import SOFTMAX_EM
from jensen.evidence.stacked import flat_rows, repeat, sample
from jensen.exceptions import JensenError
from jensen.families import inner, log_partition
from jensen.free_energy import EM, VBEM, Algorithm, Fit, State, expect
from jensen.models.state_model import StateModel, flatten
from jensen.runs.restarts import Job, improve
from jensen.support.fields import add
from jensen.support.text import option, plural

Array = NDArray[np.float64]

DRAWS = 400
"""From q, for what symmetric labels add to a bound."""
MOST_LABELLINGS = 720
EXACT = 1e-13
"""How little F may rise at a mode, relative to |F| and the weight of rows."""


class Found(NamedTuple):
    """A value, and what stands beside it."""

    value: float
    kind: str
    standard_error: float | None = None
    lines: tuple[Line, ...] = ()
    warnings: tuple[str, ...] = ()


def best_fit(asked: Asked, algorithm: Algorithm = VBEM) -> tuple[Fit, tuple[str, ...]]:
    """The best ascent of all starts, and what is to be said of it."""
    ascents = asked.climb(algorithm, tol=None if algorithm.is_bound else EXACT)
    best, notes = ascents.best, []
    choices = asked.problem.choices
    if best.converged and algorithm.is_bound and not asked.units.is_complete:
        job = Job(asked.model, asked.units, algorithm, asked.problem.begin)
        best = improve(job, best, max_iter=choices.max_iter, tol=choices.tol)
    if not best.converged:
        notes.append(f"F was still rising after {plural(len(best.trace) - 1, 'sweep')}")
    if ascents.collapsed:
        notes.append(f"{plural(len(ascents.collapsed), 'start')} came to nothing")
    return best, tuple(notes)


def bic(asked: Asked) -> Found:
    """Log p(x | θ̂) - d/2 log N, at the highest maximum of the likelihood that was found."""
    problem = asked.flat
    best = asked.climb(problem.choices.algorithm, problem).best
    fitted = problem.model.finish(best.state, is_posterior=False)
    d, n = fitted.n_parameters, problem.data.units.total_weight
    value = float(best.trace[-1]) - 0.5 * d * math.log(n)
    warnings = [] if best.converged else ["the likelihood was still rising"]
    if symmetric_sizes(problem.model):
        warnings.append(
            "where states are surplus the parameters are not identified, and BIC is off by more "
            "than a constant"
        )
    lines = (
        Line("log-likelihood", float(best.trace[-1])),
        Line("parameters", float(d)),
        Line("rows", float(n)),
    )
    return Found(value, "asymptotic", lines=lines, warnings=tuple(warnings))


def vb(asked: Asked) -> Found:
    """F, and beside it what a q that is symmetric in the labels would have."""
    best, notes = best_fit(asked)
    bound = float(best.trace[-1])
    if asked.units.is_complete:
        return Found(bound, "exact", warnings=notes)
    lines = symmetric_bound(asked, best.state)
    return Found(bound, "lower bound", lines=lines, warnings=notes)


def symmetric_bound(asked: Asked, state: State) -> tuple[Line, ...]:
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
        from jensen.models.state_labels import log_labellings

        correction = log_labellings(fitted.model, fitted.counts, fitted.eta)
        lines.append(
            Line("F + label correction", state.free_energy + correction, "estimate, not a bound")
        )
    return tuple(lines)


def label_gains(asked: Asked, state: State) -> Array:
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


MODES = {"softmax": SOFTMAX_EM, "probabilities": EM}


def cheeseman_stutz(
    asked: Asked, correction: str | None = None, mode: str = "softmax"
) -> Found:
    """The bound by q(h) at a mode, in softmax coordinates or not; with a correction no bound."""
    if mode not in MODES:
        raise JensenError(f"mode must be 'softmax' or 'probabilities', not {mode!r}")
    if correction not in (None, "dimension"):
        raise JensenError(f"correction must be None or 'dimension', not {correction!r}")
    if mode == "probabilities":
        _check_mode(asked)
    best, notes = best_fit(asked, MODES[mode])
    model, state = asked.model, best.state
    sums, _ = expect(model, asked.units, q_hidden.exact, state.t)
    value = bound_at(model, sums.value, sums.stats, state.t)
    if asked.units.is_complete:
        return Found(value, "exact", warnings=notes)
    if correction is None:
        return Found(value, "lower bound", warnings=notes)
    gain = _dimension_correction(asked, state)
    lines = (Line("lower bound", value, "lower bound"), Line("correction", gain))
    return Found(value + gain, "asymptotic", lines=lines, warnings=notes)


def _check_mode(asked: Asked) -> None:
    """Refuse a prior without a mode in the probabilities."""
    for name, family, prior in zip(
        asked.model.prior._fields, asked.model.families, asked.model.prior, strict=True
    ):
        if prior is not None and not family.has_mode(prior):
            raise JensenError(
                f"the prior of the {name} has no mode in the probabilities (concentrations below "
                f"1): use {option('mode', 'softmax')}, where there is one"
            )


def bound_at(model: Any, log_likelihood: float, stats: Any, t: Any) -> float:
    """F of q(h) = p(h | x, θ) and the best q(θ) for it."""
    total = log_likelihood
    for family, prior, own, at in zip(model.families, model.prior, stats, t, strict=True):
        total -= inner(own, at)
        if prior is not None:
            total += family.log_partition(add(prior, own)) - log_partition(family, prior)
        else:  # held: all of it is in the likelihood
            total += inner(own, at)
    return float(total)


def _dimension_correction(asked: Asked, state: State) -> float:
    """(d' - d) / 2 · log N: d' parameters are felt by completed rows, d by the rows there are."""
    from jensen.evidence.laplace import information

    found = information(asked, state)
    rank = int((found.observed > 1e-6 * found.observed.max()).sum())
    return 0.5 * (len(found.observed) - rank) * math.log(asked.units.total_weight)
