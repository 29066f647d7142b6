"""From rows or sequences to the parameters of hidden states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.checkpoint import Checkpoint
from jensen.data.units import Units
from jensen.estimators.course import Course, climb, run_chains
from jensen.estimators.loop_choices import LoopChoices
from jensen.exceptions import DataError, ImpossibleError
from jensen.fields import add, zip_fields
from jensen.fingerprint import fingerprint
from jensen.free_energy import EM, Algorithm, State, check_usable, see
from jensen.memory import check_memory
from jensen.models.fitted_states import FittedStates, flatten, unflatten
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture
from jensen.models.state_labels import align, by_falling_count
from jensen.randomness import as_generator, generator_state
from jensen.restarts import Job

Array = NDArray[np.float64]


class StateProblem(NamedTuple):
    """What is learned, ready for the loop."""

    model: Mixture | HiddenMarkov
    units: Units
    choices: LoopChoices
    begin: Callable[[int, np.random.Generator], Any]  # statistics of the k-th start
    start: Any  # η whose mode is the start that the caller gave, or None
    may_relabel: bool  # whether nothing gave the labels a meaning
    content: tuple[Any, ...]  # data and settings, for the fingerprint of a checkpoint

    @property
    def algorithm(self) -> Algorithm:
        """The one chosen."""
        return self.choices.algorithm


def learn_states(
    problem: StateProblem, checkpoint: str | Path | None
) -> tuple[FittedStates, Course]:
    """Learn, by whatever algorithm was chosen."""
    model, units, algorithm = problem.model, problem.units, problem.algorithm
    check_usable(model, algorithm)
    rng = as_generator(problem.choices.random_state)
    file = None if checkpoint is None else Checkpoint(checkpoint, _fingerprint(problem, rng))
    job = Job(model, units, algorithm, lambda k, stream: _begin(problem, k, stream))
    if algorithm.ascends:
        best, course = climb(job, problem.choices, rng, file)
        return _fitted(problem, best.state.eta, best.state.stats), course
    return _sample(problem, job, rng, file)


def repeat_by_weight(weight: Array, algorithm: Algorithm) -> NDArray[np.intp] | None:
    """Which rows to take so that each counts once, where q(h) is drawn row by row."""
    if algorithm.q_hidden is not q_hidden.draw or np.all(weight == 1.0):
        return None
    if np.any(weight % 1.0):
        raise DataError(
            f"{algorithm.name!r} draws what is missing row by row, so weights must be whole "
            f"numbers: use method='em' or 'vbem'"
        )
    check_memory(
        64.0 * weight.sum(),
        f"drawing row by row for rows of weight {weight.sum():.3g}",
        "use method='em' or 'vbem', which take a weight at once",
    )
    return np.repeat(np.arange(len(weight)), weight.astype(np.int64))


def _begin(problem: StateProblem, k: int, rng: np.random.Generator) -> State:
    model, units, algorithm = problem.model, problem.units, problem.algorithm
    if problem.start is None:
        eta = add(model.prior, problem.begin(k, rng))
    elif algorithm.q_theta is EM.q_theta:
        eta = problem.start
    else:
        eta = add(model.prior, _stats_at_start(problem))
    return see(model, units, algorithm, eta, rng=None if algorithm.ascends else rng)


def _stats_at_start(problem: StateProblem) -> Any:
    """A posterior is made of plain parameters by one sweep of EM."""
    state = see(problem.model, problem.units, EM, problem.start)
    if state.free_energy == -np.inf:
        raise ImpossibleError("a row has probability 0 under the parameters of start=")
    return state.stats


def _fitted(problem: StateProblem, eta: Any, stats: Any) -> FittedStates:
    """What an ascent found, states in a stable order."""
    model = problem.model
    counts = model.state_counts(stats)
    if problem.may_relabel:
        order = by_falling_count(counts)
        eta, counts = model.select(eta, order), counts[order]
    if problem.algorithm.keeps_posterior:
        return FittedStates(model, model.point(eta), counts, eta)
    return FittedStates(model, _mode(model, eta), counts)


def _mode(model: Any, eta: Any) -> Any:
    t = zip_fields(lambda family, e: family.mode_stats(e), model.families, eta)
    return type(eta)(*t)


def _sample(
    problem: StateProblem, job: Job, rng: np.random.Generator, file: Checkpoint | None
) -> tuple[FittedStates, Course]:
    model, like = problem.model, problem.model.blank
    is_average = problem.algorithm.q_theta is EM.q_theta
    n = problem.model.n_states

    def read(state: State) -> Array:
        kept = state.eta if is_average else state.t
        return np.concatenate([flatten(kept), model.state_counts(state.stats)])

    width = len(flatten(like)) + n
    flat, course = run_chains(job, problem.choices, rng, file, read, width)
    counts = flat[:, -n:]
    if is_average:  # of the statistics, as the exact E-step would have them
        if problem.may_relabel:
            flat = _ordered(problem, flat, counts)
        eta = unflatten(like, flat[:, :-n].mean(0))
        found = see(model, problem.units, EM, eta)
        course = course._replace(free_energy=found.free_energy)
        return FittedStates(model, found.t, model.state_counts(found.stats)), course
    return _posterior_of_samples(problem, flat, course), course


def _ordered(problem: StateProblem, flat: Array, counts: Array) -> Array:
    """Every η with its states by falling counts."""
    like, n = problem.model.blank, problem.model.n_states
    rows = [
        flatten(problem.model.select(unflatten(like, row[:-n]), by_falling_count(count)))
        for row, count in zip(flat, counts, strict=True)
    ]
    return np.concatenate([np.array(rows), counts], axis=1)


def _posterior_of_samples(problem: StateProblem, flat: Array, course: Course) -> FittedStates:
    """All samples, their states matched to those of the most probable one."""
    model, n = problem.model, problem.model.n_states
    counts, flat = flat[:, -n:], flat[:, :-n]
    best = int(np.argmax(course.trace.ravel()))
    if problem.may_relabel and n > 1:
        draws = [unflatten(model.blank, row) for row in flat]
        first = model.select(draws[best], by_falling_count(counts[best]))
        draws[best], counts[best] = first, counts[best][by_falling_count(counts[best])]
        flat = np.array([flatten(t) for t in align(model, lambda t: t[-1], draws, best)])
    return FittedStates(model, unflatten(model.blank, flat[best]), counts[best], samples=flat)


def _fingerprint(problem: StateProblem, rng: np.random.Generator) -> str:
    """Data and settings of a run: a checkpoint of any other is refused."""
    choices = problem.choices
    settings = {
        name: float(getattr(choices, name))
        for name in ("n_init", "max_iter", "tol", "n_samples", "burn_in", "thin", "n_chains")
    }
    seed = None if choices.random_state is None else generator_state(rng)
    start = None if problem.start is None else flatten(problem.start)
    return fingerprint(
        "hidden states, 1", problem.algorithm.name, settings, seed, start, *problem.content
    )
