"""The one door: from a model and its rows to what was learned, by whatever algorithm was chosen.

Starts, chains, checkpoints, warnings and fingerprints are here, once for all models.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.estimators.estimate_warnings import (
    warn_of_collapse,
    warn_of_disagreement,
    warn_of_limit,
    warn_of_stop,
)
from jensen.estimators.loop_choices import LoopChoices
from jensen.exceptions import StoppedError
from jensen.free_energy import EM, VBEM, Fit, State, check_usable, expect, read_mode, state_at, step
from jensen.models.protocol import Data, Learnable, Sampled
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.diagnostics import effective_sample_size, split_r_hat
from jensen.runs.restarts import Job, ascend, improve, sample
from jensen.support.fields import leaves
from jensen.support.fingerprint import fingerprint
from jensen.support.memory import check_memory
from jensen.support.randomness import Streams, as_generator, generator_state

MIXED = 1.05
"""Chains with a larger R-hat disagree."""

SETTINGS = ("n_init", "max_iter", "tol", "n_samples", "burn_in", "thin", "n_chains")


class Start(NamedTuple):
    """Where the caller wants to begin."""

    eta: Any
    is_ready: bool = False  # else the start is the mode of η, and a posterior is made of it


class Course(NamedTuple):
    """What `fit` tells of a run, besides what was learned."""

    free_energy: float
    trace: NDArray[np.float64]  # (sweeps + 1,); of chains (chains, samples)
    converged: bool
    starts: NDArray[np.float64]  # F at the end of every start; NaN where it came to nothing
    n_sweeps: int
    r_hat: float = np.nan
    effective_sample_size: float = np.nan

    def set_on(self, estimator: Any, choices: LoopChoices) -> None:
        """Set the attributes that every learner has."""
        estimator.is_bound_ = choices.algorithm.is_bound
        for name, value in self._asdict().items():
            setattr(estimator, f"{name}_", value)


class Problem(NamedTuple):
    """What is learned, from which rows, and how."""

    model: Learnable
    data: Data
    choices: LoopChoices
    start: Start | None = None


class Learned(NamedTuple):
    """What was learned, and how it was found."""

    fitted: Any
    course: Course


def learn(problem: Problem, checkpoint: str | Path | None = None) -> Learned:
    """Learn the parameters of a model, from some starts or by some chains."""
    model, data, choices, _ = problem
    algorithm = choices.algorithm
    check_usable(model, algorithm)
    rng = as_generator(choices.random_state)
    file = None if checkpoint is None else Checkpoint(checkpoint, _fingerprint(problem, rng))
    job = Job(model, data.units, algorithm, lambda k, streams: _begin(problem, k, streams))
    if algorithm.ascends:
        best, course = _climb(job, choices, rng, file)
        return Learned(model.finish(best.state, is_posterior=algorithm.keeps_posterior), course)
    assert isinstance(model, Sampled), f"chains cannot run on {type(model).__name__}"
    return _sample(model, job, choices, rng, file)


def _begin(problem: Problem, k: int, streams: Streams) -> State:
    """The k-th start: random, or the one that the caller gave."""
    model, data, choices, start = problem
    algorithm, units = choices.algorithm, data.units
    if start is None or units.is_complete:
        eta = model.start(data, k, streams())
    elif start.is_ready or algorithm.seeks_mode:
        eta = start.eta
    else:  # a posterior is made of plain parameters by one E-step at them
        t = read_mode(model, start.eta)
        sums, _ = expect(model, units, q_hidden.exact, t)
        if sums.value == -np.inf:
            raise model.explain(data, t)
        names = start.eta._fields
        eta = type(start.eta)(*(model.posterior(name, sums.stats, t) for name in names))
    state = state_at(model, units, algorithm, eta, None if algorithm.ascends else streams)
    if state.free_energy == -np.inf:
        raise model.explain(data, state.t)
    if start is not None and algorithm.ascends:
        model.refuse_start(start.eta, state.stats, algorithm.name)
    if units.is_complete and algorithm.ascends:  # what is counted does not depend on the start
        return step(model, units, algorithm, state)._replace(sweep=0)
    return state


def _climb(
    job: Job, choices: LoopChoices, rng: np.random.Generator, file: Checkpoint | None
) -> tuple[Fit, Course]:
    """The best of some ascents; complete data need one only."""
    found = ascend(
        job,
        rng,
        n_init=1 if job.data.is_complete else choices.n_init,
        max_iter=choices.max_iter,
        tol=choices.tol,
        progress=choices.progress,
        checkpoint=file,
    )
    best, starts = found.best, found.free_energies
    if found.was_stopped:
        warn_of_stop(best.converged)
    elif not best.converged:
        warn_of_limit(len(best.trace) - 1)
    if found.collapsed:
        warn_of_collapse(found.collapsed, choices.n_init)
    converged = best.converged and not found.was_stopped
    if converged and job.algorithm is VBEM:
        best = improve(job, best, max_iter=choices.max_iter, tol=choices.tol)
        converged = best.converged
        starts[np.nanargmax(starts)] = best.trace[-1]
    course = Course(float(best.trace[-1]), best.trace, converged, starts, len(best.trace) - 1)
    return best, course


def _sample(
    model: Sampled,
    job: Job,
    choices: LoopChoices,
    rng: np.random.Generator,
    file: Checkpoint | None,
) -> Learned:
    """Chains: an average for stochastic EM, all samples for Gibbs."""
    is_mode = choices.algorithm.seeks_mode
    width = model.kept_width
    check_memory(
        16.0 * width * choices.n_samples * choices.n_chains,
        f"{choices.n_samples * choices.n_chains:,} samples of {width:,} numbers",
        "keep fewer samples, with a larger thin",
    )
    chains = sample(
        job,
        rng,
        lambda state: model.keep(state, is_mode=is_mode),
        width,
        n_chains=choices.n_chains,
        n_samples=choices.n_samples,
        burn_in=choices.burn_in,
        thin=choices.thin,
        progress=choices.progress,
        checkpoint=file,
    )
    if chains.samples.shape[1] == 0:
        raise StoppedError("interrupted before the first sample was drawn: nothing was learned")
    best = int(np.argmax(chains.trace))
    draws = model.settle(chains.samples.reshape(-1, width), best)
    n_sweeps = choices.burn_in + choices.thin * chains.samples.shape[1]
    mixing = _mixing(model, chains.trace, draws, chains.was_stopped)
    course = Course(np.nan, chains.trace, False, np.empty(0), n_sweeps, *mixing)
    if not is_mode:
        return Learned(model.finish_draws(draws, best), course)
    state = state_at(model, job.data, EM, model.average(draws))
    fitted = model.finish(state, is_posterior=False)
    return Learned(fitted, course._replace(free_energy=state.free_energy))


def _mixing(
    model: Sampled, trace: NDArray[np.float64], draws: NDArray[np.float64], was_stopped: bool
) -> tuple[float, float]:
    """R-hat and effective sample size at their worst: log joint, and what the model watches."""
    of_trace, size = float(split_r_hat(trace)), float(effective_sample_size(trace))
    watched = model.watched(draws).reshape(*trace.shape, -1)
    r_hat = float(np.fmax.reduce(split_r_hat(watched), initial=of_trace))
    size = float(np.fmin.reduce(effective_sample_size(watched), initial=size))
    if was_stopped:
        warn_of_stop(converged=False)
    elif of_trace > MIXED:
        warn_of_disagreement(of_trace)
    elif r_hat > MIXED:
        warn_of_disagreement(r_hat, model.watches)
    return r_hat, size


def _fingerprint(problem: Problem, rng: np.random.Generator) -> str:
    """Data and settings of a run: a checkpoint of any other is refused."""
    model, data, choices, start = problem
    settings = {name: float(getattr(choices, name)) for name in SETTINGS}
    return fingerprint(
        "a run of the loop, 2",
        type(model).__name__,
        choices.algorithm.name,
        settings,
        None if choices.random_state is None else generator_state(rng),
        leaves(model.prior),  # numbers, for a default may be made of the data
        None if start is None else leaves(start.eta),
        *data.content,
    )
