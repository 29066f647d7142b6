"""Many starts that climb F, or chains that sample it: tasks of the one runner.

Start k never depends on how many starts there are, nor on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import acceleration, free_energy
from jensen.acceleration import AscentPath
from jensen.data.blocks import Units
from jensen.exceptions import CollapseError
from jensen.free_energy import Algorithm, AnyFit, AnyState, Fit
from jensen.models.protocol import AnyModel
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.runner import Task, number_streams, run
from jensen.support.arguments import Streams
from jensen.support.fields import record
from jensen.support.machine import interruptible

Array = NDArray[np.float64]

Begin = Callable[[int, Streams], AnyState]
"""The state from which the k-th start begins, from its random streams."""
Judge = Callable[[AnyState], float]
"""How well a state does on rows that nothing is learned from; the higher the better."""
PATIENCE = 5
"""An ascent that is judged ends after so many sweeps that did no better than the best one."""


class Job(NamedTuple):
    """What is learned, and from where."""

    model: AnyModel
    data: Units
    algorithm: Algorithm
    begin: Begin
    judge: Judge | None = None  # decides where ascents end, and which is the best
    accelerate: bool = False  # whether ascents look ahead


class Ascents(NamedTuple):
    """Where every start ended; a run that was stopped may not have begun them all."""

    ends: list[AnyFit | CollapseError]  # the error of a start that lost a component
    was_stopped: bool

    @property
    def fits(self) -> list[AnyFit]:
        """Fits that did not collapse."""
        return [end for end in self.ends if isinstance(end, Fit)]

    @property
    def collapsed(self) -> list[CollapseError]:
        """The errors of the starts that collapsed."""
        return [end for end in self.ends if isinstance(end, CollapseError)]

    @property
    def free_energies(self) -> Array:
        """F at the end of every start; NaN where it collapsed."""
        return np.array([e.trace[-1] if isinstance(e, Fit) else np.nan for e in self.ends])

    @property
    def best(self) -> AnyFit:
        """The fit with the highest F, or the best by its judge; the first of equals."""
        return max(self.fits, key=lambda fit: fit.trace[-1] if fit.judged is None else fit.judged)


@record
class JudgedState(NamedTuple):
    """The best state of an ascent by its judge."""

    state: AnyState
    value: float
    n_sweeps: int  # of the ascent, when it was there


@record
class AscentState(NamedTuple):
    """Where one ascent is."""

    state: AnyState | None  # None if it collapsed
    trace: Array  # (sweeps + 1,): F at the start and after every sweep
    converged: bool
    collapse: tuple[tuple[int, ...], str] | None = None  # the components that were lost, and why
    path: AscentPath = AscentPath()
    judged: JudgedState | None = None

    @classmethod
    def collapsed(cls, error: CollapseError) -> AscentState:
        """The end of a start that lost a component."""
        return cls(None, np.empty(0), False, (error.components, error.why))

    @property
    def end(self) -> AnyFit | CollapseError:
        """The same as `Ascents` tells it."""
        if self.state is None:
            assert self.collapse is not None
            return CollapseError(*self.collapse)
        if self.judged is not None:
            state, value, n = self.judged
            return Fit(state, self.trace[: n + 1], self.converged, value)
        return Fit(self.state, self.trace, self.converged)

    @property
    def n_sweeps(self) -> int:
        """How many sweeps there were."""
        return len(self.trace) - 1

    def judge(self, judge: Judge | None) -> AscentState:
        """The same, with the best state so far."""
        if judge is None or self.state is None:
            return self
        value = judge(self.state)
        if self.judged is not None and not value > self.judged.value:
            return self
        return self._replace(judged=JudgedState(self.state, value, self.n_sweeps))


class AscentTask(Task[AscentState]):
    """Climbs F from one start; a step is a sweep."""

    def __init__(self, job: Job, max_iter: int, tol: float) -> None:
        self.job, self.max_iter, self.tol = job, max_iter, tol

    def begin(self, number: int, streams: Streams) -> AscentState:
        """The start; complete data are counted there, and need no sweep."""
        try:
            state = self.job.begin(number, streams)
        except CollapseError as error:
            return AscentState.collapsed(error)
        free_energy.check_possible(state.free_energy)
        is_answer = free_energy.is_answer(self.job.model, state)
        begun = AscentState(state, np.array([state.free_energy]), is_answer)
        return begun.judge(self.job.judge)

    def advance(
        self, number: int, state: AscentState, streams: Streams, n: int
    ) -> tuple[AscentState, None]:
        """Make one sweep."""
        model, data, algorithm, *_ = self.job
        assert state.state is not None
        path = state.path
        try:
            if self.job.accelerate:
                new, path, converged = acceleration.advance(
                    model, data, algorithm, state.state, path, self.tol
                )
            else:
                new, converged = free_energy.climb(model, data, algorithm, state.state, self.tol)
        except CollapseError as error:
            return AscentState.collapsed(error), None
        except ArithmeticError:  # F of a proposal was rounding; of a plain ascent it is a fault
            if not self.job.accelerate or path.is_off:
                raise
            again = self.begin(number, streams)
            return again._replace(path=AscentPath(is_off=True)), None
        trace = np.append(state.trace, new.free_energy)
        after = AscentState(new, trace, converged, path=path, judged=state.judged)
        return after.judge(self.job.judge), None

    def is_done(self, state: AscentState) -> bool:
        """Whether it converged, collapsed, does better no more, or reached the limit."""
        best = state.judged
        is_worse = best is not None and state.n_sweeps >= best.n_sweeps + PATIENCE
        is_over = state.state is None or state.n_sweeps >= self.max_iter
        return state.converged or is_over or is_worse

    def describe(self, state: AscentState) -> str:
        """F and the sweep."""
        return (
            "" if state.state is None else f"F={state.trace[-1]:.4f}, sweep {len(state.trace) - 1}"
        )


def ascend(
    job: Job,
    rng: np.random.Generator,
    *,
    n_init: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-8,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Ascents:
    """Climb F from `n_init` random starts."""
    outcome = run(
        AscentTask(job, max_iter, tol),
        number_streams(rng, n_init),
        name="learning",
        progress=progress,
        checkpoint=checkpoint,
    )
    found = Ascents([one.end for one in outcome.states if one is not None], outcome.was_stopped)
    if not found.fits:
        raise found.collapsed[0]
    return found


SWEEPS_AHEAD = 50
"""A trial is given up if so many sweeps at its present pace would not lift it above the best."""


def improve(job: Job, best: AnyFit, *, max_iter: int, tol: float) -> AnyFit:
    """Climb from the other η that the model offers, for as long as F ends higher.

    F at the sweeps that rose above the best so far is added to its trace.
    """
    while True:
        found = _first_better(job, best, max_iter, tol)
        if found is None:
            return best
        above = found.trace[found.trace > best.trace[-1]]
        best = Fit(found.state, np.concatenate([best.trace, above]), found.converged)


def _first_better(job: Job, best: AnyFit, max_iter: int, tol: float) -> AnyFit | None:
    """The first trial that ends higher; None if there is none, or after Ctrl-C."""
    model, data, algorithm, *_ = job
    bound = float(best.trace[-1])
    least = bound + max(tol * (abs(bound) + data.total_weight), 1e-9 * abs(bound))
    with interruptible() as stop:

        def gives_up(state: AnyState, trace: list[float]) -> bool:
            too_slow = len(trace) > 2 and trace[-1] + SWEEPS_AHEAD * (trace[-1] - trace[-2]) < least
            return too_slow or stop.is_set()

        for eta in model.trials(best.state):
            try:
                begun = free_energy.state_at(model, data, algorithm, eta)
                found = free_energy.fit(
                    model, data, algorithm, begun, max_iter=max_iter, tol=tol, watch=gives_up
                )
            except CollapseError:
                continue
            if stop.is_set():
                return None
            if found.trace[-1] > least:
                return found
    return None


class ParameterChains(NamedTuple):
    """What chains sampled after burn-in."""

    samples: Array  # (chains, samples, width)
    trace: Array  # (chains, samples): log p(x, h, θ)
    was_stopped: bool


class SamplingTask(Task[AnyState]):
    """Samples parameters and hidden values in one chain; a step is a sweep.

    A row holds log p(x, h, θ) and what `read` takes from the state, `width` numbers.
    """

    def __init__(
        self,
        job: Job,
        read: Callable[[AnyState], Array],
        width: int,
        n_samples: int,
        burn_in: int,
        thin: int,
    ) -> None:
        self.job, self.read, self.width = job, read, width + 1
        self.burn_in, self.thin = burn_in, thin
        self.n_steps = self.last_sweep = burn_in + thin * n_samples

    def begin(self, number: int, streams: Streams) -> AnyState:
        """The start of a chain."""
        return self.job.begin(number, streams)

    def advance(
        self, number: int, state: AnyState, streams: Streams, n: int
    ) -> tuple[AnyState, Array | None]:
        """Make n sweeps; every thin-th one after burn-in gives a row."""
        model, data, algorithm, *_ = self.job
        rows = []
        for new in islice(free_energy.chain(model, data, algorithm, state, streams), n):
            state = new
            if state.sweep > self.burn_in and (state.sweep - self.burn_in) % self.thin == 0:
                rows.append(np.concatenate([[state.free_energy], self.read(state)]))
        return state, np.array(rows) if rows else None

    def is_done(self, state: AnyState) -> bool:
        """Whether all samples were drawn."""
        return state.sweep >= self.last_sweep


def sample(
    job: Job,
    rng: np.random.Generator,
    read: Callable[[AnyState], Array],
    width: int,
    *,
    n_chains: int = 4,
    n_samples: int = 1000,
    burn_in: int = 1000,
    thin: int = 1,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> ParameterChains:
    """Run chains; `read(state)` is what is kept of a state, `width` numbers."""
    outcome = run(
        SamplingTask(job, read, width, n_samples, burn_in, thin),
        number_streams(rng, n_chains),
        name="sampling",
        progress=progress,
        checkpoint=checkpoint,
    )
    return join_chains(outcome.rows, outcome.was_stopped)


def join_chains(rows: list[Array], was_stopped: bool) -> ParameterChains:
    """All chains, cut to the length of the shortest.

    If a run was stopped, some chains may hardly have begun: those with less than half as many
    samples as the longest one are left out.
    """
    longest = max(map(len, rows))
    far = [mine for mine in rows if 2 * len(mine) >= longest]
    n = min(map(len, far))
    both = np.array([mine[:n] for mine in far])
    return ParameterChains(both[:, :, 1:], both[:, :, 0], was_stopped)
