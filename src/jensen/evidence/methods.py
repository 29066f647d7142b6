"""`jn.log_evidence`: one door to all ways of finding log p(table | model)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jensen.evidence.annealing import anneal
from jensen.evidence.ascents import EvidenceAnswer
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.bridge import bridge
from jensen.evidence.cheeseman_stutz import bic, cheeseman_stutz
from jensen.evidence.exact import exact
from jensen.evidence.laplace import laplace
from jensen.evidence.record import Evidence
from jensen.evidence.stacked import has_draws
from jensen.evidence.variational import vb
from jensen.exceptions import JensenError
from jensen.support.arguments import check_whole, is_real
from jensen.support.machine import one_blas_thread
from jensen.support.text import offer, one_of, option

METHODS: dict[str, Callable[..., EvidenceAnswer]] = {
    "exact": lambda asked: EvidenceAnswer(exact(asked), "exact"),
    "bic": bic,
    "cheeseman-stutz": cheeseman_stutz,
    "laplace": laplace,
    "vb": vb,
    "ais": partial(anneal, resamples=False),
    "smc": partial(anneal, resamples=True),
    "bridge": bridge,
}
ANNEALED = ("n_chains", "n_temperatures", "checkpoint", "reverse", "simulate")
OWN: dict[str, tuple[str, ...]] = {
    "cheeseman-stutz": ("correction", "mode"),
    "ais": ANNEALED,
    "smc": ANNEALED,
    "bridge": ("n_chains", "n_samples"),
}
"""Choices that belong to some methods only."""
ASCENTS = ("bic", "cheeseman-stutz", "laplace", "vb")
"""Methods that climb from some starts."""
OF_FACTORS = ("bic", "vb")
OF_TREES = ("bic", "cheeseman-stutz", "vb")
"""Methods that need no independent priors."""


def log_evidence(
    model: Any,
    table: Any,
    method: str = "vb",
    *,
    n_init: int | None = None,
    correction: str | None = None,
    mode: str | None = None,
    n_chains: int | None = None,
    n_temperatures: int | None = None,
    n_samples: int | None = None,
    checkpoint: str | Path | None = None,
    reverse: bool | None = None,
    simulate: bool | None = None,
    strength: float = 1.0,
    random_state: Any = None,
    progress: bool = False,
    **fit: Any,
) -> Evidence:
    """Log p(table | model), with parameters and hidden values integrated out.

    Parameters
    ----------
    model
        A `BayesianNetwork` with a graph, `GaussianMixture`, `LatentClass`, `HiddenMarkovModel`,
        `FactorAnalysis`, `MixtureOfFactorAnalyzers` or `BinaryFactors`, fitted or not: what counts
        are its choices. The evidence is that under its prior, as its own `method` would take it;
        under the flat prior there is none. Of factors it is known by "bic" and "vb".
    table
        Rows as in its `fit`; values may be missing.
    method
        - "exact": in closed form where nothing is hidden, else the sum over all completions of what
          is hidden; refused, with their number, where there are too many.
        - "bic": log-likelihood at its maximum - d/2 log N; asymptotic.
        - "laplace": a normal distribution about the mode, in softmax coordinates of probabilities,
          with the exact Hessian, times the copies by labels; asymptotic.
        - "cheeseman-stutz": a lower bound, from completed statistics at a mode.
        - "vb": F of variational Bayes, a lower bound. Beside it F_sym, which a posterior symmetric
          in the labels of states would have, and by draws how tight it is (Pareto's k).
        - "ais": annealed importance sampling: an unbiased estimate of the evidence, whose logarithm
          is too low rather than too high. "smc": the same with resampling, in groups of chains.
        - "bridge": bridge sampling from Gibbs draws, as a second opinion.
    n_init
        Starts of the methods that climb ("bic", "laplace", "cheeseman-stutz", "vb"); by default the
        model's own, and at least 10.
    correction
        Of "cheeseman-stutz": "dimension" corrects for parameters that the rows do not identify,
        after which it is asymptotic, and no bound.
    mode
        Of "cheeseman-stutz": that of the density in "softmax" coordinates (by default), or in the
        "probabilities", which a prior with concentrations below 1 does not have.
    n_chains
        Of "ais" and "smc" (by default 1000) and "bridge" (20); networks are worked on one chain
        after the other, so that 50 may be enough for them.
    n_temperatures
        Of "ais" and "smc"; by default as a pilot run finds them necessary.
    n_samples
        Of "bridge": sweeps of each chain that are kept, by default 100.
    checkpoint
        Of "ais" and "smc": a file from which the same call goes on if it is killed.
    reverse
        Of "ais" and "smc": whether chains are taken back from the posterior to the prior, too. They
        begin where those of the way up ended, so that this is a check and no bound.
    simulate
        Of "ais" and "smc": whether to ask of rows drawn from the model, as many and with the same
        gaps, instead of those of the table. A draw of their posterior is known, so that the way
        back bounds their evidence from above on average: between the two numbers it lies.
    strength
        How many times the prior counts the rows that it counts for: 2 doubles concentrations, the
        strengths of means, and degrees of freedom above the fewest. It tells how much of an
        evidence is the prior's.
    random_state
        An int, `SeedSequence`, `Generator` or None: that of the model.
    progress
        Whether to show progress bars.
    **fit
        What `fit` takes besides, such as `lengths`, `sample_weight` or `interventions`.

    Returns
    -------
    Evidence
        It prints value, kind of number, standard error, and what else is known.

    References
    ----------
    Beal and Ghahramani (2003), *The variational Bayesian EM algorithm for incomplete data*.
    Neal (2001), *Annealed importance sampling*. Grosse, Ancha and Roy (2016), *Measuring the
    reliability of MCMC inference with bidirectional Monte Carlo*.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"a": list("0001110100"), "b": list("0001111100"), "c": list("0101101100")}
    >>> classes = jn.LatentClass(2, prior={"concentration": 1.0}, n_init=5, random_state=0)
    >>> exact = jn.log_evidence(classes, rows, "exact")
    >>> exact.kind, round(exact.value, 4)
    ('exact', -21.6121)
    >>> jn.log_evidence(classes, rows, "vb").value < exact.value
    True
    """
    found = _checked(
        method,
        {
            "correction": correction,
            "mode": mode,
            "n_chains": n_chains,
            "n_temperatures": n_temperatures,
            "n_samples": n_samples,
            "checkpoint": checkpoint,
            "reverse": reverse,
            "simulate": simulate,
        },
    )
    if n_init is not None:
        check_whole("n_init", n_init, at_least=1)
        if method not in ASCENTS:
            raise JensenError(f"{option('n_init', n_init)} belongs to methods that climb")
    if not (hasattr(model, "problem") and hasattr(model, "get_params")):
        raise JensenError(
            "the evidence is known of networks, mixtures, latent classes, hidden Markov models and "
            f"factors, not of {model!r:.80}"
        )
    if not (is_real(strength) and 0.0 < strength < math.inf):
        raise JensenError(f"strength must be a finite number above 0, not {strength!r:.40}")
    if hasattr(model, "without_unseen") and "interventions" not in fit:
        model = model.without_unseen()
    asked = EvidenceQuestion(model, table, fit, random_state, n_init, progress, float(strength))
    if method not in OF_FACTORS and not asked.model.has_own_priors:
        raise JensenError(
            f"the evidence of hidden factors is not known by {option('method', method)}, for their "
            f"loadings and the strengths of these are not independent: take "
            f"{one_of('method', OF_FACTORS)}"
        )
    if method not in OF_TREES and not has_draws(asked.model):
        raise JensenError(
            f"the evidence of mixtures of trees is not known by {option('method', method)}, which "
            f"needs draws of trees, or one shape of all: take {one_of('method', OF_TREES)}"
        )
    began = time.perf_counter()
    with one_blas_thread():
        answer = METHODS[method](asked, **found)
    return Evidence(
        answer.value, method, answer.kind, answer.standard_error, answer.lines, answer.warnings,
        time.perf_counter() - began,
    )  # fmt: skip


def _checked(method: str, chosen: dict[str, Any]) -> dict[str, Any]:
    """The choices of a method; refused are those that it would ignore."""
    if method not in METHODS:
        raise JensenError(f"there is no method {method!r}: {offer(method, METHODS, 'method')}")
    given = {x: value for x, value in chosen.items() if value is not None and value is not False}
    for name, value in given.items():
        if name not in OWN.get(method, ()):
            raise JensenError(
                f"{option(name, value)} would be ignored by {option('method', method)}"
            )
    return given
