"""`learn`: from a model, its rows and the caller's choices to what was learned, by any algorithm.

Starts, chains, checkpoints, warnings and fingerprints are handled here, once for all models.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.exceptions import (
    JensenError,
    StoppedError,
    TooLargeError,
    warn_of_collapse,
    warn_of_disagreement,
    warn_of_limit,
    warn_of_stop,
)
from jensen.free_energy import (
    ALGORITHMS,
    COMMON,
    EM,
    Algorithm,
    AnyFit,
    AnyState,
    SweepSums,
    check_usable,
    expect,
    state_at,
    step,
)
from jensen.models.protocol import AnyData, AnyModel, Sampled
from jensen.q_theta import read_mode
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.diagnostics import effective_sample_size, split_r_hat
from jensen.runs.restarts import Job, Judge, ascend, improve, sample
from jensen.support.arguments import Streams, as_generator, check_whole, generator_state, is_real
from jensen.support.fields import leaves
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import STREAM, check_many, check_memory, one_blas_thread
from jensen.support.text import called_here, keyword, one_of, option, some


@dataclass(frozen=True)
class LoopChoices:
    """Which algorithm, from where, how long; the estimators say what each of these means."""

    methods = COMMON  # no field: it is no choice
    """What the models have that are learned so."""

    prior: Any = None
    method: str | None = None
    start: Any = None
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-8
    accelerate: bool = False
    n_samples: int = 1000
    burn_in: int = 1000
    thin: int = 1
    n_chains: int = 4
    random_state: Any = None
    progress: bool = False

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that the method names; None: EM without a prior, VBEM with one."""
        default = "em" if self.prior is None else "vbem"
        name = default if self.method is None else self.method
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise JensenError(
                f"there is no method {name!r}: choose one of {some(self.methods)}"
                f"{called_here(name, self.methods)}"
            )
        return ALGORITHMS[name]

    @property
    def starts_at(self) -> Any:
        """Where all ascents begin; None: at random."""
        return self.start

    def check(self) -> None:
        """Refuse what cannot be, and what would be ignored."""
        algorithm = self.algorithm
        if algorithm.name not in self.methods:
            raise JensenError(
                f"the method {algorithm.name!r} is not for this model: choose "
                f"{one_of('method', self.methods)}"
            )
        for name in ("n_init", "n_samples", "thin", "n_chains"):
            check_whole(name, getattr(self, name), at_least=1)
        for name in ("max_iter", "burn_in"):
            check_whole(name, getattr(self, name), at_least=0)
        self._check_room()
        if not isinstance(self.accelerate, bool | np.bool_):
            raise JensenError(f"accelerate must be True or False, not {self.accelerate!r:.80}")
        if not is_real(self.tol) or not self.tol >= 0:
            raise JensenError(f"tol must be a number, 0 or more, not {self.tol!r}")
        if algorithm.ascends:
            self._refuse_changed("n_samples", "burn_in", "thin", "n_chains", of="gibbs")
            if self.starts_at is not None and self.n_init > 1:
                raise JensenError(
                    f"{option('n_init', self.n_init)} starts would all begin at "
                    f"{keyword('start')}: leave out one"
                )
        else:
            self._refuse_changed("n_init", "max_iter", "tol", "accelerate", of="em")

    def _check_room(self) -> None:
        """Refuse more starts, chains or samples than there is room for."""
        check_many(self.n_init, STREAM, "starts (n_init)", "choose fewer")
        check_many(self.n_chains, STREAM, "chains (n_chains)", "choose fewer")
        n_samples = int(self.n_samples) * int(self.n_chains)
        check_many(n_samples, 16.0, "samples (n_samples, of all chains)", "keep fewer")

    def _refuse_changed(self, *names: str, of: str) -> None:
        for name in names:
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise JensenError(
                    f"{name} belongs to methods such as {of!r}, and would be ignored by "
                    f"{self.algorithm.name!r}"
                )


MIXED = 1.05
"""Chains with a larger R-hat disagree."""

SETTINGS = (
    "n_init",
    "max_iter",
    "tol",
    "accelerate",
    "n_samples",
    "burn_in",
    "thin",
    "n_chains",
)


class Start(NamedTuple):
    """The start that the caller gave."""

    eta: Any
    is_ready: bool = False  # True: η is a posterior; False: θ is the mode of η


class FitReport(NamedTuple):
    """How a fit went: F, its trace, convergence; for chains how well they mixed."""

    free_energy: float
    trace: NDArray[np.float64]  # (sweeps + 1,); of chains (chains, samples)
    converged: bool
    starts: NDArray[np.float64]  # F at the end of every start; NaN where it collapsed
    n_sweeps: int
    r_hat: float = np.nan
    effective_sample_size: float = np.nan

    def set_on(self, estimator: Any, choices: LoopChoices) -> None:
        """Set the attributes that every learner has."""
        estimator.is_bound_ = choices.algorithm.is_bound
        for name, value in self._asdict().items():
            setattr(estimator, f"{name}_", value)


class Problem(NamedTuple):
    """The input of `learn`: a model, encoded rows, choices, and a start."""

    model: AnyModel
    data: AnyData
    choices: LoopChoices
    start: Start | None = None
    judge: Judge | None = None  # where ascents end by other rows: see `runs.restarts`

    def begin(self, k: int, streams: Streams) -> AnyState:
        """The state of the k-th start: random, or the one that the caller gave."""
        model, data, choices, start, _ = self
        algorithm, units = choices.algorithm, data.units
        if start is None or units.is_complete:
            eta = model.start(data, k, streams())
        elif start.is_ready or algorithm.seeks_mode:
            eta = start.eta
        else:  # a posterior is made of plain parameters by one E-step at them
            t = read_mode(model.families, start.eta)
            sums = _sums_at(self, t, streams)
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


class LearnedModel(NamedTuple):
    """The fitted model, and the report on how it was found."""

    fitted: Any
    report: FitReport


def learn(problem: Problem, checkpoint: str | Path | None = None) -> LearnedModel:
    """Learn the parameters of a model, from some starts or by some chains."""
    with one_blas_thread():  # as a decorator it would be what warnings point at
        model, data, choices, _, judge = problem
        algorithm = choices.algorithm
        check_usable(model, algorithm)
        rng = as_generator(choices.random_state)
        file = None if checkpoint is None else Checkpoint(checkpoint, _fingerprint(problem, rng))
        job = Job(model, data.units, algorithm, problem.begin, judge, choices.accelerate)
        if algorithm.ascends:
            best, report = _climb(job, choices, rng, file)
            return LearnedModel(
                model.finish(best.state, is_posterior=algorithm.keeps_posterior), report
            )
        assert isinstance(model, Sampled), f"chains cannot run on {type(model).__name__}"
        return _sample(model, job, choices, rng, file)


def _sums_at(problem: Problem, t: Any, streams: Streams) -> SweepSums[Any]:
    """Value and statistics at this θ: exact, or by the rule where only that fits in memory."""
    model, data, choices, *_ = problem
    try:
        return expect(model, data.units, q_hidden.exact, t)[0]
    except TooLargeError:
        if choices.algorithm.q_hidden in (q_hidden.exact, q_hidden.mode):
            raise
        return expect(model, data.units, choices.algorithm.q_hidden, t, streams.at(0))[0]


def _climb(
    job: Job, choices: LoopChoices, rng: np.random.Generator, file: Checkpoint | None
) -> tuple[AnyFit, FitReport]:
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
    elif not best.converged and best.judged is None:
        warn_of_limit(len(best.trace) - 1)
    if found.collapsed:
        warn_of_collapse(found.collapsed, choices.n_init)
    converged = best.converged and not found.was_stopped
    if converged and job.algorithm.is_bound and best.judged is None:
        best = improve(job, best, max_iter=choices.max_iter, tol=choices.tol)
        converged = best.converged
        starts[np.nanargmax(starts)] = best.trace[-1]
    report = FitReport(float(best.trace[-1]), best.trace, converged, starts, len(best.trace) - 1)
    return best, report


def _sample(
    model: Sampled[Any, Any, Any, Any],
    job: Job,
    choices: LoopChoices,
    rng: np.random.Generator,
    file: Checkpoint | None,
) -> LearnedModel:
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
    report = FitReport(np.nan, chains.trace, False, np.empty(0), n_sweeps, *mixing)
    if not is_mode:
        return LearnedModel(model.finish_draws(draws, best), report)
    state = _state_of_average(job, model.average(draws))
    fitted = model.finish(state, is_posterior=False)
    return LearnedModel(fitted, report._replace(free_energy=state.free_energy))


def _state_of_average(job: Job, eta: Any) -> AnyState:
    """The state at the average of a chain; its F is not known where only draws fit in memory."""
    try:
        return state_at(job.model, job.data, EM, eta)
    except TooLargeError:
        state = state_at(job.model, job.data, job.algorithm, eta, Streams(0, (0,)))
        return state._replace(free_energy=np.nan)


def _mixing(
    model: Sampled[Any, Any, Any, Any],
    trace: NDArray[np.float64],
    draws: NDArray[np.float64],
    was_stopped: bool,
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
    model, data, choices, start, _ = problem
    settings = {name: float(getattr(choices, name)) for name in SETTINGS}
    return fingerprint(
        "a run of the loop, 3",
        type(model).__name__,
        choices.algorithm.name,
        settings,
        None if choices.random_state is None else generator_state(rng),
        leaves(model.prior),  # numbers, for a default may be made of the data
        None if start is None else leaves(start.eta),
        *data.content,
    )
