"""Temperatures for annealing: evenly spaced in thermodynamic length, as pilot runs find it.

References
----------
Sivak and Crooks (2012), *Thermodynamic metrics and optimal paths*,
doi:10.1103/PhysRevLett.108.190602.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.evidence.particles import NetworkParticles, Particles, draw_prior
from jensen.support.arguments import Streams

Array = NDArray[np.float64]

PILOT_CHAINS = 128
PILOT_STEP = 0.7
"""The spread of log weights that one temperature of the pilot run may bring."""
PER_LENGTH = 8.0
"""Temperatures for each squared unit of thermodynamic length, unless their number was chosen."""
FEWEST, MOST = 20, 20_000
LAG_STEPS = 400
"""At most so many temperatures on the ways up and down that tell how slowly chains follow."""
SMOOTHED = 5
"""Of so many of these the mean is taken; an odd number."""


def resampled(log_weight: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which chains go on, each as often as its weight says: systematic resampling."""
    share = np.exp(log_weight - logsumexp(log_weight))
    below = np.cumsum(share)
    at = (np.arange(len(share)) + rng.random()) / len(share) * below[-1]
    found = np.minimum(np.searchsorted(below, at, side="right"), len(share) - 1)
    return np.asarray(found, np.int64)


class Pilot(NamedTuple):
    """What a pilot run found."""

    betas: Array  # rising from 0 to 1
    lengths: Array  # thermodynamic length up to each of them
    t: Any  # where its chains ended

    def temperatures(self, n: int) -> Array:
        """(n + 1,): evenly spaced in length."""
        found = np.interp(np.linspace(0.0, self.lengths[-1], n + 1), self.lengths, self.betas)
        found[0], found[-1] = 0.0, 1.0
        return np.asarray(found)


def pilot_run(particles: Particles, n_chains: int, streams: Streams) -> Pilot:
    """Chains from the prior to the posterior, by temperatures that their weights choose."""
    t = draw_prior(particles.model, n_chains, streams(0))
    betas, lengths = [0.0], [0.0]
    while betas[-1] < 1.0:
        here = streams.at(len(betas))
        look = particles.look(t)
        after, gains = _next_temperature(particles, t, look, betas[-1])
        lengths.append(lengths[-1] + max(float(gains.std()), 1e-6))
        chosen = resampled(gains, here(0))
        t = particles.move(t, look, chosen, after, here.at(1)).t
        betas.append(after)
    return Pilot(np.array(betas), np.array(lengths), t)


def slowed(particles: Particles, pilot: Pilot, n_chains: int, streams: Streams) -> Pilot:
    """The same with lengths that count how slowly chains follow, where they do.

    Chains that are taken up and down again lag behind on both ways, as magnets do. The work that
    is lost grows with speed times friction, and is least where the steps of a given number have
    even lengths in its metric (Sivak and Crooks 2012); a chain that follows at once has a friction
    of half the variance of its log-likelihood.
    """
    steps = int(np.clip(2.0 * pilot.lengths[-1] ** 2, FEWEST, LAG_STEPS))
    if isinstance(particles, NetworkParticles):
        steps = min(steps, FEWEST)
    betas = pilot.temperatures(steps)
    t = draw_prior(particles.model, n_chains, streams(0))
    everyone, width = np.arange(n_chains), np.diff(betas)
    slope, spread = np.empty((2, steps)), np.empty((2, steps))
    ways = (range(steps), range(steps - 1, -1, -1))
    for way, order in enumerate(ways):
        for i in order:
            here = streams.at(1 + way, i)
            look = particles.look(t)
            gains = particles.gains(t, look, betas[i], betas[i + 1]) / width[i]
            slope[way, i], spread[way, i] = gains.mean(), gains.var()
            t = particles.move(t, look, everyone, float(betas[i + 1 - way]), here).t
    lag = np.maximum(slope[1] - slope[0], 0.0) / (2.0 * width)
    kernel = np.ones(SMOOTHED) / SMOOTHED
    lag = np.convolve(np.pad(lag, SMOOTHED // 2, mode="edge"), kernel, mode="valid")
    friction = np.maximum(lag, 0.5 * spread.min(0))
    lengths = np.concatenate([[0.0], np.cumsum(np.sqrt(2.0 * friction) * width)])
    return Pilot(betas, lengths, t)


def _next_temperature(
    particles: Particles, t: Any, look: Any, before: float
) -> tuple[float, Array]:
    """As far as the log weights spread by no more than `PILOT_STEP`, to a tenth."""
    low, high = before, 1.0
    gains = particles.gains(t, look, before, high)
    if gains.std() <= PILOT_STEP:
        return high, gains
    high = before + (1.0 - before) * float(np.clip(PILOT_STEP / gains.std(), 1e-6, 0.5))
    for _ in range(25):
        gains = particles.gains(t, look, before, high)
        spread = float(gains.std())
        if 0.9 * PILOT_STEP <= spread <= PILOT_STEP:
            break
        if spread > PILOT_STEP:
            high, top = low + 0.5 * (high - low), high
        else:
            low, top = high, 1.0
            high = min(
                high + (high - before) * min(PILOT_STEP / max(spread, 1e-9) - 0.95, 1.0), top
            )
    return high, gains
