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
from jensen.exceptions import DataError, ImpossibleError, ImpossibleSequenceError
from jensen.fields import add, zip_fields
from jensen.fingerprint import fingerprint
from jensen.free_energy import EM, Algorithm, State, check_usable, see, step
from jensen.memory import check_memory
from jensen.models.fitted_states import FittedStates, flatten, unflatten
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture
from jensen.models.state_labels import best_match, by_falling_count
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
    sequences: NDArray[np.intp] | None = None  # which of the caller's each sequence is

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
    state = see(model, units, algorithm, eta, rng=None if algorithm.ascends else rng)
    _check_possible(problem, state)
    if units.is_complete and algorithm.ascends:  # what is counted does not depend on the start
        return step(model, units, algorithm, state)
    return state


def _stats_at_start(problem: StateProblem) -> Any:
    """A posterior is made of plain parameters by one sweep of EM, whatever their prior says."""
    held = problem.model.holding(problem.start, problem.model.prior._fields)
    state = see(held, problem.units, EM, problem.start)
    _check_possible(problem, state)
    return state.stats


def _check_possible(problem: StateProblem, state: State) -> None:
    """Refuse a start under which something cannot be, naming the sequence."""
    if state.free_energy != -np.inf:
        return
    if problem.sequences is not None:
        each = [
            q_hidden.exact(problem.model.potentials(state.t, unit)).value
            for unit in problem.units.items
        ]
        impossible = np.flatnonzero(np.concatenate(each) == -np.inf)
        if len(impossible):
            raise ImpossibleSequenceError(
                problem.sequences[impossible[0]], "Correct it, or the zeros of start= and masks="
            )
    raise ImpossibleError("a row has probability 0 under the parameters of start=")


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
    """Averages of statistics for stochastic EM, all samples for Gibbs."""
    model, like = problem.model, problem.model.blank
    is_average = problem.algorithm.q_theta is EM.q_theta

    def read(state: State) -> Array:
        kept = state.eta if is_average else state.t
        return np.concatenate([flatten(kept), model.state_counts(state.stats)])

    width = len(flatten(like))
    flat, course = run_chains(job, problem.choices, rng, file, read, width + model.n_states)
    draws = [unflatten(like, row) for row in flat[:, :width]]
    best = int(np.argmax(course.trace))
    counts = flat[best, width:]
    if problem.may_relabel:
        draws, counts = _relabelled(model, draws, best, counts, is_average)
    flat = np.array([flatten(draw) for draw in draws])
    if not is_average:
        return FittedStates(model, draws[best], counts, samples=flat), course
    found = see(model, problem.units, EM, unflatten(like, flat.mean(0)))
    course = course._replace(free_energy=found.free_energy)
    return FittedStates(model, found.t, model.state_counts(found.stats)), course


def _relabelled(
    model: Any, draws: list[Any], best: int, counts: Array, is_eta: bool
) -> tuple[list[Any], Array]:
    """All draws, their states matched to those of the most probable one, by falling counts."""
    order = by_falling_count(counts)
    draws[best] = model.select(draws[best], order)
    emissions = [draw[-1] for draw in draws]
    if is_eta:
        emissions = [model.families[-1].mode_stats(eta) for eta in emissions]
    signatures = [model.emission.signature(t) for t in emissions]
    matched = [
        model.select(draw, best_match(signature, signatures[best]))
        for draw, signature in zip(draws, signatures, strict=True)
    ]
    return matched, counts[order]


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
