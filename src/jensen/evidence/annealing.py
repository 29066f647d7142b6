"""Annealed importance sampling, and the same with resampling (sequential Monte Carlo).

Chains begin at the prior and make a sweep at every temperature. Their weights multiply up to an
unbiased estimate of the evidence (Neal 2001), so its logarithm is too low on average. Temperatures
are fixed before the chains begin (`jensen.evidence.temperatures`): what is unbiased stays so.

Sweeps draw h given θ, then θ given h, which is reversible in θ. So the same chains taken from the
posterior down to the prior multiply up to an unbiased estimate of one over the evidence, whose
logarithm is a bound from above on average: if they begin at exact draws of the posterior, which are
known of rows that were drawn from the model (Grosse, Ancha and Roy 2016).

References
----------
Neal (2001), *Annealed importance sampling*, doi:10.1023/A:1008923215028. Del Moral, Doucet and
Jasra (2006), *Sequential Monte Carlo samplers*. Grosse, Ancha and Roy (2016), *Measuring the
reliability of MCMC inference with bidirectional Monte Carlo*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.evidence.annealed_classes import ClassAnnealingTask, class_rows
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
from jensen.evidence.simulated import simulated
from jensen.evidence.stacked import flat_rows, stack, take
from jensen.evidence.temperatures import (
    FEWEST,
    MOST,
    PER_LENGTH,
    PILOT_CHAINS,
    pilot_run,
    resampled,
    slowed,
)
from jensen.exceptions import JensenError, StoppedError
from jensen.models.state_model import flatten
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.runner import Task, run
from jensen.support.arguments import Streams, check_whole
from jensen.support.fields import add, record
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import STREAM, check_many
from jensen.support.text import option, plural

Array = NDArray[np.float64]

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
    log_mean: Array  # (groups,): of the weights before they were last made equal
    step: int


Start = Callable[[int, Streams], Any]
"""The stack of θ at which the chains of a task begin."""


class AnnealingTask(Task[AnnealedChains]):
    """Takes some chains through all temperatures; a step is one of them.

    With resampling the chains are so many groups, side by side, each of which resamples by itself.
    """

    steps_at_once = None

    def __init__(self, particles: Particles, betas: Array, start: Start, n_groups: int = 0) -> None:
        self.particles, self.betas, self.start = particles, betas, start
        self.n_groups = n_groups
        self.n_steps = len(betas) - 1

    def begin(self, number: int, streams: Streams) -> AnnealedChains:
        """Draws from the prior, if that is where the chains start."""
        t = self.start(number, streams)
        return AnnealedChains(t, np.zeros(len(flat_rows(t))), np.zeros(self.n_groups), 0)

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
        chosen, log_mean = np.arange(len(log_weight)), state.log_mean
        if self.n_groups:
            log_mean = log_mean.copy()
            groups = log_weight.reshape(self.n_groups, -1)
            size = groups.shape[1]
            for g in np.flatnonzero(log_sizes(groups) < math.log(RESAMPLES * size)).tolist():
                log_mean[g] += float(logsumexp(groups[g]) - math.log(size))
                chosen[g * size : (g + 1) * size] = g * size + resampled(groups[g], streams(0, g))
                groups[g] = 0.0
        t = self.particles.move(state.t, look, chosen, float(after), streams.at(1)).t
        return AnnealedChains(t, log_weight, log_mean, state.step + 1)

    def is_done(self, state: AnnealedChains) -> bool:
        """Whether this is the last temperature."""
        return state.step == self.n_steps

    def describe(self, state: AnnealedChains) -> str:
        """The temperature."""
        return f"beta={self.betas[state.step]:.3g}"


def log_sizes(log_weight: Array) -> Array:
    """The logs of the effective sample sizes of weights (..., n), (Σ w)² / Σ w²."""
    weight = np.exp(log_weight - log_weight.max(-1, keepdims=True))
    return np.asarray(2.0 * np.log(weight.sum(-1)) - np.log((weight * weight).sum(-1)))


class _Plan(NamedTuple):
    """How the chains are shared out, and the temperatures that they go through."""

    particles: Particles
    betas: Array
    size: int  # chains of a task
    n_tasks: int
    n_groups: int  # in each task that resample by themselves; 0 without resampling


def anneal(
    asked: EvidenceQuestion,
    *,
    resamples: bool,
    n_chains: int = 1000,
    n_temperatures: int | None = None,
    checkpoint: str | Path | None = None,
    reverse: bool = False,
    simulate: bool = False,
) -> EvidenceAnswer:
    """The estimate, its standard error, and how evenly the chains share the weight."""
    check_whole("n_chains", n_chains, at_least=8)
    check_many(n_chains, STREAM, "chains (n_chains)", "choose fewer")
    if n_temperatures is not None:
        check_whole("n_temperatures", n_temperatures, at_least=1)
    for name, value in (("reverse", reverse), ("simulate", simulate)):
        if not isinstance(value, bool):
            raise JensenError(f"{option(name, value)} must be True or False")
    truth = None
    if simulate:
        asked, truth = simulated(asked)
    if asked.units.is_complete:
        return EvidenceAnswer(
            counted(asked), "exact", warnings=("nothing is hidden: this is exact",)
        )
    plan = _plan(asked, n_chains, n_temperatures, resamples)
    ends = _annealed(asked, plan, checkpoint)
    logs = np.concatenate([_logs(end, plan) for end in ends])
    groups = plan.n_groups and plan.size // plan.n_groups
    found = _found(logs, asked, plan.betas, groups or None)
    if not (reverse or simulate):
        return found
    if truth is None:
        theta = np.concatenate([_theta(end) for end in ends])
        logs = np.concatenate([_chain_logs(end, plan) for end in ends])
        truth = stack(asked.model, theta[resampled(logs, asked.streams(10)())])
    return _with_reverse(found, asked, plan, truth, checkpoint, is_bound=simulate)


def _plan(
    asked: EvidenceQuestion, n_chains: int, n_temperatures: int | None, resamples: bool
) -> _Plan:
    """Temperatures as a pilot run finds them, and chains by what their tables take."""
    particles = particles_of(asked)
    is_slow = isinstance(particles, NetworkParticles)
    n_pilot = min(PILOT_CHAINS, max(n_chains, 8)) if not is_slow else min(16, n_chains)
    pilot = pilot_run(particles, n_pilot, asked.streams(4))
    pilot = slowed(particles, pilot, n_pilot, asked.streams(9))
    wanted = int(np.clip(PER_LENGTH * pilot.lengths[-1] ** 2, FEWEST, MOST))
    betas = pilot.temperatures(wanted if n_temperatures is None else int(n_temperatures))
    if not resamples:
        size = max(at_once(particles, n_chains, BATCH, 4), 1)
        return _Plan(particles, betas, size, -(-n_chains // size), 0)
    n_groups = _islands(n_chains)
    island = n_chains // n_groups
    together = int(np.clip(at_once(particles, n_chains, BATCH, 2) // island, 1, n_groups))
    return _Plan(particles, betas, island * together, -(-n_groups // together), together)


def _annealed(
    asked: EvidenceQuestion,
    plan: _Plan,
    checkpoint: str | Path | None,
    truth: Any = None,
) -> list[Any]:
    """Where all chains end: at the posterior, or from a stack of its draws at the prior."""
    model, size, betas, n_groups = asked.model, plan.size, plan.betas, plan.n_groups
    is_reverse = truth is not None
    if is_reverse:
        betas, n_groups = betas[::-1].copy(), 0

    def start(number: int, streams: Streams) -> Any:
        if not is_reverse:
            return draw_prior(model, size, streams(0))
        n = len(flat_rows(truth))
        return take(truth, np.arange(number * size, (number + 1) * size) % n)

    rows = None if n_groups else class_rows(plan.particles)
    task: Task[Any] = (
        AnnealingTask(plan.particles, betas, start, n_groups)
        if rows is None
        else ClassAnnealingTask(rows, betas, lambda k, streams: flat_rows(start(k, streams)))
    )
    file = None
    if checkpoint is not None:
        path = Path(f"{checkpoint}.reverse") if is_reverse else checkpoint
        file = Checkpoint(path, _fingerprint(asked, plan, betas))
    streams = [asked.streams(11 if is_reverse else 5, k) for k in range(plan.n_tasks)]
    outcome = run(task, streams, name="annealing", progress=asked.progress, checkpoint=file)
    if outcome.was_stopped:
        raise StoppedError("interrupted before the chains reached the last temperature")
    return [state for state in outcome.states if state is not None]


def _theta(end: Any) -> Array:
    """(chains, P)."""
    return end.theta if hasattr(end, "theta") else flat_rows(end.t)


def _chain_logs(end: Any, plan: _Plan) -> Array:
    """(chains,): log weights, all resampling counted."""
    if not plan.n_groups:
        return np.asarray(end.log_weight + plan.particles.log_start)
    groups = end.log_weight.reshape(plan.n_groups, -1) + end.log_mean[:, None]
    return np.asarray(groups.ravel() + plan.particles.log_start)


def _logs(end: Any, plan: _Plan) -> Array:
    """Log weights of chains, or the log means of those of groups."""
    found = _chain_logs(end, plan)
    if not plan.n_groups:
        return found
    groups = found.reshape(plan.n_groups, -1)
    return np.asarray(logsumexp(groups, axis=1) - math.log(groups.shape[1]))


def _with_reverse(
    found: EvidenceAnswer,
    asked: EvidenceQuestion,
    plan: _Plan,
    truth: Any,
    checkpoint: str | Path | None,
    *,
    is_bound: bool,
) -> EvidenceAnswer:
    """The same with what the way back says."""
    ends = _annealed(asked, plan, checkpoint, truth)
    logs = np.concatenate([end.log_weight for end in ends])
    value = plan.particles.log_start - float(logsumexp(logs) - math.log(len(logs)))
    error = bootstrap_error(logs, asked.streams(12)())
    kind = "upper bound on average" if is_bound else "check, not a bound"
    lines = (*found.lines, Line("reverse", value, kind, error))
    warnings = found.warnings
    if is_bound:
        told = "these are the numbers of rows drawn from the model, with the gaps of the table"
        warnings = (*warnings, told)
    elif abs(value - found.value) > 1.0:
        told = (
            "the ways up and down disagree by more than 1: take more temperatures (n_temperatures)"
        )
        warnings = (*warnings, told)
    return found._replace(lines=lines, warnings=warnings)


def _islands(n_chains: int) -> int:
    """Independent groups of chains, each of which resamples among its own."""
    return int(np.clip(n_chains // 20, 4, 10))


def _found(
    logs: Array, asked: EvidenceQuestion, betas: Array, size: int | None = None
) -> EvidenceAnswer:
    """The log of a mean of weights, its error, and what to keep in mind."""
    value = float(logsumexp(logs) - math.log(len(logs)))
    error = bootstrap_error(logs, asked.streams(6)())
    share = float(np.exp(logs.max() - logsumexp(logs)))
    effective = float(np.exp(log_sizes(logs)))
    what = "chains" if size is None else "groups of chains"
    lines = [
        Line(what, float(len(logs))),
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


def _fingerprint(asked: EvidenceQuestion, plan: _Plan, betas: Array) -> str:
    return fingerprint(
        "annealing, 2",
        type(asked.model).__name__,
        flatten(add(asked.model.prior, shape_of(asked.model))),
        betas,
        {"size": plan.size, "tasks": plan.n_tasks, "groups": plan.n_groups},
        *asked.problem.data.content,
    )
