"""The bound of Cheeseman and Stutz, and BIC: what a mode alone tells of the evidence.

With q(h) = p(h | x, θ) at any θ and the best q(θ) for it, the bound is

    log p(x | θ) - ⟨s, t(θ)⟩ + A(prior + s) - A(prior),    s = E_q[statistics],

and that is what they take at a mode. Variational Bayes that goes on from there never falls.

References
----------
Cheeseman and Stutz (1996), *Bayesian classification (AutoClass): theory and results*. Beal (2003),
*Variational algorithms for approximate Bayesian inference*, section 6.4.2: it is a bound.
"""

from __future__ import annotations

import math
from typing import Any

from jensen import q_hidden
from jensen.evidence.ascents import EvidenceAnswer, best_fit
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.labels import symmetric_sizes
from jensen.evidence.laplace import information
from jensen.evidence.record import Line
from jensen.evidence.softmax import SOFTMAX_EM
from jensen.exceptions import JensenError
from jensen.families import inner, log_partition
from jensen.free_energy import EM, AnyState, expect
from jensen.support.fields import add
from jensen.support.text import option


def bic(asked: EvidenceQuestion) -> EvidenceAnswer:
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
    return EvidenceAnswer(value, "asymptotic", lines=lines, warnings=tuple(warnings))


MODES = {"softmax": SOFTMAX_EM, "probabilities": EM}


def cheeseman_stutz(
    asked: EvidenceQuestion, correction: str | None = None, mode: str = "softmax"
) -> EvidenceAnswer:
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
        return EvidenceAnswer(value, "exact", warnings=notes)
    if correction is None:
        return EvidenceAnswer(value, "lower bound", warnings=notes)
    gain = _dimension_correction(asked, state)
    lines = (Line("lower bound", value, "lower bound"), Line("correction", gain))
    return EvidenceAnswer(value + gain, "asymptotic", lines=lines, warnings=notes)


def _check_mode(asked: EvidenceQuestion) -> None:
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


def _dimension_correction(asked: EvidenceQuestion, state: AnyState) -> float:
    """(d' - d) / 2 · log N: d' parameters are felt by completed rows, d by the rows there are."""
    found = information(asked, state)
    rank = int((found.observed > 1e-6 * found.observed.max()).sum())
    return 0.5 * (len(found.observed) - rank) * math.log(asked.units.total_weight)
