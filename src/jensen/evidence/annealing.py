"""Annealed importance sampling, and the same with resampling (sequential Monte Carlo).

Chains begin at the prior and make a sweep at every temperature. Their weights multiply up to an
unbiased estimate of the evidence (Neal 2001), so its logarithm is too low on average. Temperatures
are spaced evenly in thermodynamic length, as pilot runs with other random numbers find it, and are
fixed before the chains begin: what is unbiased stays so.

References
----------
Neal (2001), *Annealed importance sampling*, doi:10.1023/A:1008923215028. Del Moral, Doucet and
Jasra (2006), *Sequential Monte Carlo samplers*. Sivak and Crooks (2012), *Thermodynamic metrics and
optimal paths*, doi:10.1103/PhysRevLett.108.190602.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.evidence.ascents import EvidenceAnswer
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.exact import counted
from jensen.evidence.labels import shape_of
from jensen.evidence.particles import (
    NetworkParticles,
    Particles,
    at_once,
    draw_prior,
    particles_of,
)
from jensen.evidence.record import Line
from jensen.exceptions import StoppedError
from jensen.models.state_model import flatten
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.runner import Task, run
from jensen.support.arguments import Streams, check_whole
from jensen.support.fields import add, record
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import STREAM, check_many
from jensen.support.text import plural

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
BATCH = 1 << 16
"""Entries of tables that the chains of one task fill."""
RESAMPLES = 0.5
"""Chains are resampled when their effective sample size is below this share of them."""
BOOTSTRAPS = 1000


@record
class AnnealedChains(NamedTuple):
    """Where some chains are."""

    t: Any  # a stack of θ
    log_weight: Array  # (chains,)
    log_mean: float  # of the weights before they were last made equal
    step: int


class AnnealingTask(Task[AnnealedChains]):
    """Takes some chains through all temperatures; a step is one of them."""

    steps_at_once = None

    def __init__(self, particles: Particles, betas: Array, size: int, *, resamples: bool) -> None:
        self.particles, self.betas, self.size = particles, betas, size
        self.resamples = resamples
        self.n_steps = len(betas) - 1

    def begin(self, number: int, streams: Streams) -> AnnealedChains:
        """Draws from the prior."""
        t = draw_prior(self.particles.model, self.size, streams(0))
        return AnnealedChains(t, np.zeros(self.size), self.particles.log_start, 0)

    def advance(
        self, number: int, state: AnnealedChains, streams: Streams, n: int
    ) -> tuple[AnnealedChains, None]:
        """So many temperatures."""
        for _ in range(n):
            state = self._step(state, streams.at(state.step + 1))
        return state, None

    def _step(self, state: AnnealedChains, streams: Streams) -> AnnealedChains:
        before, after = self.betas[state.step : state.step + 2]
        look = self.particles.look(state.t)
        log_weight = state.log_weight + self.particles.gains(state.t, look, before, after)
        chosen, log_mean = np.arange(self.size), state.log_mean
        if self.resamples and log_size(log_weight) < RESAMPLES * self.size:
            log_mean += float(logsumexp(log_weight) - math.log(self.size))
            chosen = resampled(log_weight, streams(0))
            log_weight = np.zeros(self.size)
        t = self.particles.move(state.t, look, chosen, float(after), streams.at(1)).t
        return AnnealedChains(t, log_weight, log_mean, state.step + 1)

    def is_done(self, state: AnnealedChains) -> bool:
        """Whether this is the posterior."""
        return state.step == self.n_steps

    def describe(self, state: AnnealedChains) -> str:
        """The temperature."""
        return f"beta={self.betas[state.step]:.3g}"


def log_size(log_weight: Array) -> float:
    """The effective sample size of weights, (Σ w)² / Σ w²."""
    return float(np.exp(2.0 * logsumexp(log_weight) - logsumexp(2.0 * log_weight)))


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


def anneal(
    asked: EvidenceQuestion,
    *,
    resamples: bool,
    n_chains: int = 1000,
    n_temperatures: int | None = None,
    checkpoint: str | Path | None = None,
) -> EvidenceAnswer:
    """The estimate, its standard error, and how evenly the chains share the weight."""
    check_whole("n_chains", n_chains, at_least=8)
    check_many(n_chains, STREAM, "chains (n_chains)", "choose fewer")
    if n_temperatures is not None:
        check_whole("n_temperatures", n_temperatures, at_least=1)
    if asked.units.is_complete:
        return EvidenceAnswer(
            counted(asked), "exact", warnings=("nothing is hidden: this is exact",)
        )
    particles = particles_of(asked)
    is_slow = isinstance(particles, NetworkParticles)
    n_pilot = min(PILOT_CHAINS, max(n_chains, 8)) if not is_slow else min(16, n_chains)
    pilot = pilot_run(particles, n_pilot, asked.streams(4))
    pilot = slowed(particles, pilot, n_pilot, asked.streams(9))
    wanted = int(np.clip(PER_LENGTH * pilot.lengths[-1] ** 2, FEWEST, MOST))
    betas = pilot.temperatures(wanted if n_temperatures is None else int(n_temperatures))
    islands = _islands(n_chains) if resamples else None
    size = at_once(particles, n_chains, BATCH, 4) if islands is None else n_chains // islands
    size = max(size, 1)
    n_tasks = -(-n_chains // size)
    task = AnnealingTask(particles, betas, size, resamples=resamples)
    file = (
        None if checkpoint is None else Checkpoint(checkpoint, _fingerprint(asked, task, n_tasks))
    )
    streams = [asked.streams(5, k) for k in range(n_tasks)]
    outcome = run(task, streams, name="annealing", progress=asked.progress, checkpoint=file)
    if outcome.was_stopped:
        raise StoppedError("interrupted before the chains reached the posterior")
    ends = [state for state in outcome.states if state is not None]
    if resamples:
        logs = [end.log_mean + logsumexp(end.log_weight) - math.log(size) for end in ends]
        return _found(np.array(logs), asked, betas, n_tasks, size)
    logs = [end.log_mean + end.log_weight for end in ends]
    return _found(np.concatenate(logs), asked, betas, n_tasks * size)


def _islands(n_chains: int) -> int:
    """Independent groups of chains, each of which resamples among its own."""
    return int(np.clip(n_chains // 20, 4, 10))


def _found(
    logs: Array, asked: EvidenceQuestion, betas: Array, n: int, size: int | None = None
) -> EvidenceAnswer:
    """The log of a mean of weights, its error, and what to keep in mind."""
    value = float(logsumexp(logs) - math.log(len(logs)))
    error = bootstrap_error(logs, asked.streams(6)())
    share = float(np.exp(logs.max() - logsumexp(logs)))
    effective = log_size(logs)
    what = "chains" if size is None else "groups of chains"
    lines = [
        Line(what, float(n)),
        Line("temperatures", float(len(betas) - 1)),
        Line("effective sample size", effective),
        Line("largest share of a weight", share),
    ]
    if size is not None:
        lines.insert(1, Line("chains in each", float(size)))
    warnings = []
    if effective < 0.1 * len(logs) or share > 0.25:
        warnings.append(
            f"{plural(max(round(effective), 1), what[:-1] if size is None else 'group')} of "
            f"{len(logs):,} carry the estimate: it is rather too low than too high; take more "
            "temperatures (n_temperatures)"
        )
    return EvidenceAnswer(value, "estimate", error, tuple(lines), tuple(warnings))


def bootstrap_error(logs: Array, rng: np.random.Generator) -> float:
    """The standard deviation of the log mean over resampled chains."""
    weights = np.exp(logs - logs.max())
    n = len(logs)
    means = []
    for _ in range(0, BOOTSTRAPS, 50):
        chosen = rng.integers(n, size=(50, n))
        means.append(np.log(weights[chosen].mean(1)))
    return float(np.concatenate(means).std(ddof=1) * math.sqrt(n / (n - 1.0)))


def _fingerprint(asked: EvidenceQuestion, task: AnnealingTask, n_tasks: int) -> str:
    return fingerprint(
        "annealing, 1",
        type(asked.model).__name__,
        flatten(add(asked.model.prior, shape_of(asked.model))),
        task.betas,
        {"size": task.size, "tasks": n_tasks, "resamples": task.resamples},
        *asked.problem.data.content,
    )
