"""How a run of the loop went, whatever was learned: climbing from starts, or running chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.checkpoint import Checkpoint
from jensen.diagnostics import effective_sample_size, split_r_hat
from jensen.estimators.estimate_warnings import (
    warn_of_collapse,
    warn_of_disagreement,
    warn_of_limit,
    warn_of_stop,
)
from jensen.estimators.loop_choices import LoopChoices
from jensen.exceptions import StoppedError
from jensen.free_energy import Fit, State
from jensen.memory import check_memory
from jensen.restarts import Job, ascend, sample

MIXED = 1.05
"""Chains with a larger R-hat disagree."""


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
        estimator.is_bound_ = choices.algorithm.keeps_posterior
        for name, value in self._asdict().items():
            setattr(estimator, f"{name}_", value)


def climb(
    job: Job,
    choices: LoopChoices,
    rng: np.random.Generator,
    checkpoint: Checkpoint | None,
) -> tuple[Fit, Course]:
    """The best of some ascents; complete data need one only."""
    found = ascend(
        job,
        rng,
        n_init=1 if job.data.is_complete else choices.n_init,
        max_iter=choices.max_iter,
        tol=choices.tol,
        progress=choices.progress,
        checkpoint=checkpoint,
    )
    best = found.best
    if found.was_stopped:
        warn_of_stop(best.converged)
    elif not best.converged:
        warn_of_limit(len(best.trace) - 1)
    if found.collapsed:
        warn_of_collapse(found.collapsed, choices.n_init)
    converged = best.converged and not found.was_stopped
    free_energy, n_sweeps = float(best.trace[-1]), len(best.trace) - 1
    return best, Course(free_energy, best.trace, converged, found.free_energies, n_sweeps)


def run_chains(
    job: Job,
    choices: LoopChoices,
    rng: np.random.Generator,
    checkpoint: Checkpoint | None,
    read: Callable[[State], NDArray[np.float64]],
    width: int,
) -> tuple[NDArray[np.float64], Course]:
    """What `read` keeps of the states of all chains, (samples, width); F is for the caller."""
    check_memory(
        16.0 * width * choices.n_samples * choices.n_chains,
        f"{choices.n_samples * choices.n_chains:,} samples of {width:,} numbers",
        "keep fewer samples, with a larger thin",
    )
    chains = sample(
        job,
        rng,
        read,
        width,
        n_chains=choices.n_chains,
        n_samples=choices.n_samples,
        burn_in=choices.burn_in,
        thin=choices.thin,
        progress=choices.progress,
        checkpoint=checkpoint,
    )
    if chains.samples.shape[1] == 0:
        raise StoppedError("interrupted before the first sample was drawn: nothing was learned")
    r_hat = float(split_r_hat(chains.trace))
    size = float(effective_sample_size(chains.trace))
    if chains.was_stopped:
        warn_of_stop(converged=False)
    elif r_hat > MIXED:
        warn_of_disagreement(r_hat)
    n_sweeps = choices.burn_in + choices.thin * chains.samples.shape[1]
    course = Course(np.nan, chains.trace, False, np.empty(0), n_sweeps, r_hat, size)
    return chains.samples.reshape(-1, width), course
