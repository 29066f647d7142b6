"""Bridge sampling: the evidence from draws of the posterior and of a distribution made of them.

Gibbs chains give draws of θ, and the distributions they were drawn from, p(θ | x, h). The mean of
some of these, with the labels of states permuted in all ways, is a density whose mass is known and
that covers all copies of the posterior; each side's draws then measure it against the other.

References
----------
Meng and Wong (1996), *Simulating ratios of normalizing constants via a simple identity*, section 3.
Frühwirth-Schnatter (2004), *Estimating marginal likelihoods for mixture and Markov switching models
using bridge sampling techniques*, doi:10.1111/j.1368-423X.2004.00125.x, sections 3.3 and 4.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.evidence.ascents import EvidenceAnswer
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.exact import counted
from jensen.evidence.labels import drawn_relabelling, n_labellings, relabellings
from jensen.evidence.particles import (
    Particles,
    dot,
    is_free,
    log_prior,
    particles_of,
)
from jensen.evidence.record import Line
from jensen.evidence.stacked import flat_rows, log_partitions, sample, stack
from jensen.evidence.temperatures import pilot_run
from jensen.runs.diagnostics import effective_sample_size
from jensen.support.arguments import Streams, check_whole

Array = NDArray[np.float64]

BURN_IN = 100
COMPONENTS = 100
"""Draws of which the density is made."""
LABELLINGS = 24
"""More than so many are drawn from, and not all taken."""
ROUNDS = 1000


def bridge(asked: EvidenceQuestion, *, n_chains: int = 20, n_samples: int = 100) -> EvidenceAnswer:
    """The estimate and its standard error."""
    check_whole("n_chains", n_chains, at_least=2)
    check_whole("n_samples", n_samples, at_least=10)
    if asked.units.is_complete:
        return EvidenceAnswer(
            counted(asked), "exact", warnings=("nothing is hidden: this is exact",)
        )
    particles, model = particles_of(asked), asked.model
    streams = asked.streams(7)
    made, _ = _chains(particles, n_chains, n_samples, streams.at(0))
    _, drawn = _chains(particles, n_chains, n_samples, streams.at(1))
    rng = streams(2)
    eta = _components(model, made.reshape(-1, made.shape[-1]), rng)
    flat_drawn = drawn.reshape(-1, drawn.shape[-1])
    flat_drawn = _relabelled(model, flat_drawn, rng)
    own = eta[rng.integers(len(eta), size=len(flat_drawn))]
    proposed = flat_rows(sample(model, stack(model, own), rng))
    log_ratio = [
        _log_joint(particles, rows) - _log_density(model, eta, rows)
        for rows in (flat_drawn, proposed)
    ]
    return _found(log_ratio[0].reshape(drawn.shape[:2]), log_ratio[1], len(eta))


def _chains(particles: Particles, n_chains: int, n: int, streams: Streams) -> tuple[Array, Array]:
    """(chains, n, P): η of sweeps at the posterior, and θ drawn from them."""
    t = pilot_run(particles, max(n_chains, 8), streams.at(0)).t
    eta, drawn = [], []
    chosen = np.arange(n_chains)
    for sweep in range(BURN_IN + n):
        moved = particles.move(t, particles.look(t), chosen, 1.0, streams.at(1 + sweep))
        t = moved.t
        if sweep >= BURN_IN:
            eta.append(flat_rows(moved.eta))
            drawn.append(flat_rows(moved.t))
    return np.array(eta).transpose(1, 0, 2), np.array(drawn).transpose(1, 0, 2)


def _components(model: Any, eta: Array, rng: np.random.Generator) -> Array:
    """(M, P): some η, each labelled in all ways, or in one drawn way where these are many."""
    some = eta[rng.choice(len(eta), min(COMPONENTS, len(eta)), replace=False)]
    if n_labellings(model) <= LABELLINGS:
        return np.concatenate([some[:, places] for places in relabellings(model)])
    return _relabelled(model, some, rng)


def _relabelled(model: Any, flat: Array, rng: np.random.Generator) -> Array:
    """Each with its labels in an order of its own."""
    if n_labellings(model) == 1:
        return flat
    return np.array([row[drawn_relabelling(model, rng)] for row in flat])


def _log_joint(particles: Particles, flat: Array) -> Array:
    """Log p(x | θ) p(θ), h summed out."""
    t = stack(particles.model, flat)
    gains = particles.gains(t, particles.look(t), 0.0, 1.0)
    return gains + particles.log_start + log_prior(particles.model, t)


def _log_density(model: Any, eta: Array, flat: Array) -> Array:
    """Of the mean of all components."""
    each = dot(flat, np.where(is_free(model), eta, 0.0)) - log_partitions(model, eta)
    return np.asarray(logsumexp(each, axis=1) - math.log(len(eta)))


def _found(drawn: Array, proposed: Array, n_components: int) -> EvidenceAnswer:
    """The fixed point of Meng and Wong; the draws of chains count as many as they are worth."""
    size = float(effective_sample_size(drawn))
    size = drawn.size if not size > 0.0 else min(size, drawn.size)
    share = size / (size + len(proposed))
    value = float(logsumexp(proposed) - math.log(len(proposed)))
    for _ in range(ROUNDS):
        above = logsumexp(proposed - _mixed(proposed - value, share)) - math.log(len(proposed))
        below = logsumexp(-_mixed(drawn - value, share)) - math.log(drawn.size)
        before, value = value, float(above - below)
        if abs(value - before) < 1e-10:
            break
    of_proposed = np.exp(proposed - value - _mixed(proposed - value, share))
    of_drawn = np.exp(-_mixed(drawn - value, share))
    spread = of_proposed.var() / of_proposed.mean() ** 2 / len(proposed)
    spread += of_drawn.var() / of_drawn.mean() ** 2 / size
    lines = (
        Line("posterior draws", float(drawn.size)),
        Line("effective sample size", size),
        Line("components", float(n_components)),
    )
    return EvidenceAnswer(value, "estimate", math.sqrt(float(spread)), lines)


def _mixed(log_ratio: Array, share: float) -> Array:
    """Log (share · ratio + 1 - share)."""
    return np.asarray(np.logaddexp(math.log(share) + log_ratio, math.log1p(-share)))
