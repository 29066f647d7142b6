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
from jensen.diagnostics import effective_sample_size, split_r_hat
from jensen.estimators.course import MIXED, Course, climb, run_chains
from jensen.estimators.estimate_warnings import warn_of_disagreement
from jensen.estimators.loop_choices import LoopChoices
from jensen.estimators.surplus import without_surplus
from jensen.exceptions import DataError, ImpossibleError, ImpossibleSequenceError, JensenError
from jensen.fields import add, zip_fields
from jensen.fingerprint import fingerprint
from jensen.free_energy import EM, VBEM, Algorithm, Fit, State, check_usable, see, step
from jensen.memory import check_memory
from jensen.models.fitted_states import FittedStates, flatten, unflatten
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture
from jensen.models.state_labels import by_falling_count, matched_orders
from jensen.models.state_symmetry import find_twins, is_symmetric
from jensen.randomness import as_generator, generator_state
from jensen.restarts import Job
from jensen.text import many

Array = NDArray[np.float64]


class StateProblem(NamedTuple):
    """What is learned, ready for the loop."""

    model: Mixture | HiddenMarkov
    units: Units
    choices: LoopChoices
    begin: Callable[[int, np.random.Generator], Any]  # statistics of the k-th start
    start: Any  # η whose mode is the start that the caller gave, or None
    may_relabel: bool  # whether the caller gave the labels no meaning
    content: tuple[Any, ...]  # data and settings, for the fingerprint of a checkpoint
    sequences: NDArray[np.intp] | None = None  # which of the caller's each sequence is
    noun: str = "state"

    @property
    def algorithm(self) -> Algorithm:
        """The one chosen."""
        return self.choices.algorithm

    @property
    def is_symmetric(self) -> bool:
        """Whether nothing tells states apart, a prior neither."""
        return self.may_relabel and is_symmetric(self.model)


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
        if course.converged and _may_have_surplus(problem):
            course = _improved(course, best, best := without_surplus(job, problem.choices, best))
        return _fitted(problem, best.state.eta, best.state.stats), course
    return _sample(problem, job, rng, file)


def _may_have_surplus(problem: StateProblem) -> bool:
    """Whether a bound was climbed, with several states that nothing tells apart."""
    is_bound = problem.algorithm is VBEM
    return is_bound and problem.is_symmetric and problem.model.n_states > 1


def _improved(course: Course, before: Fit, after: Fit) -> Course:
    """How the best start went on when it lost surplus states."""
    if after is before:
        return course
    free_energy, starts = float(after.trace[-1]), course.starts.copy()
    starts[np.nanargmax(starts)] = free_energy
    n_sweeps = len(after.trace) - 1
    return course._replace(
        free_energy=free_energy, trace=after.trace, converged=after.converged, starts=starts,
        n_sweeps=n_sweeps,
    )  # fmt: skip


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
    if problem.start is not None and algorithm.ascends:
        _check_twins(problem, state)
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


def _check_twins(problem: StateProblem, state: State) -> None:
    """Refuse a start with two equal states, which would be equal at the end too."""
    model = problem.model
    found = find_twins(model, problem.start, model.state_counts(state.stats))
    if found is not None:
        j, k = found
        raise JensenError(
            f"start= gives {many(problem.noun)} {j} and {k} the same parameters, and "
            f"{problem.algorithm.name!r} would never part them: make them differ a little, take "
            f"one of them away, or leave out start="
        )


def _fitted(problem: StateProblem, eta: Any, stats: Any) -> FittedStates:
    """What an ascent found, states in a stable order."""
    model = problem.model
    counts, symmetric = model.state_counts(stats), problem.is_symmetric
    if symmetric:
        order = by_falling_count(counts)
        eta, counts = model.select(eta, order), counts[order]
    if problem.algorithm.keeps_posterior:
        prior = add(model.prior, model.blank)
        return FittedStates(
            model, model.point(eta), counts, eta, prior=prior, is_symmetric=symmetric
        )
    return FittedStates(model, _mode(model, eta), counts, is_symmetric=symmetric)


def _mode(model: Any, eta: Any) -> Any:
    t = zip_fields(lambda family, e: family.mode_stats(e), model.families, eta)
    return type(eta)(*t)


def _sample(
    problem: StateProblem, job: Job, rng: np.random.Generator, file: Checkpoint | None
) -> tuple[FittedStates, Course]:
    """Averages of statistics for stochastic EM, all samples for Gibbs."""
    model, like, symmetric = problem.model, problem.model.blank, problem.is_symmetric
    is_average = problem.algorithm.q_theta is EM.q_theta

    def read(state: State) -> Array:
        kept = state.eta if is_average else state.t
        made = flatten(state.stats) if symmetric else model.state_counts(state.stats)
        return np.concatenate([flatten(kept), made])

    width = len(flatten(like))
    n_made = width if symmetric else model.n_states
    flat, course = run_chains(job, problem.choices, rng, file, read, width + n_made)
    draws, made = flat[:, :width], flat[:, width:]
    best = int(np.argmax(course.trace))
    if symmetric:
        draws, made = _labelled_alike(model, draws, made, best)
    course = _watching_sizes(course, made, problem)
    if is_average:
        found = see(model, problem.units, EM, unflatten(like, draws.mean(0)))
        course = course._replace(free_energy=found.free_energy)
        counts = model.state_counts(found.stats)
        return FittedStates(model, found.t, counts, is_symmetric=symmetric), course
    t, counts = unflatten(like, draws[best]), made.mean(0)
    return FittedStates(model, t, counts, samples=draws, is_symmetric=symmetric), course


def _labelled_alike(model: Any, draws: Array, made: Array, first: int) -> tuple[Array, Array]:
    """Draws with the same labels throughout, by falling counts, and the counts of each."""
    like = model.blank
    stats = [unflatten(like, row) for row in made]
    orders = matched_orders(model, stats, first)
    turned = [
        flatten(model.select(unflatten(like, row), order))
        for row, order in zip(draws, orders, strict=True)
    ]
    counts = [model.state_counts(one)[order] for one, order in zip(stats, orders, strict=True)]
    return np.array(turned), np.array(counts)


def _watching_sizes(course: Course, counts: Array, problem: StateProblem) -> Course:
    """R-hat and effective sample size at their worst, sizes of states included.

    Sizes are taken in falling order, so that labels do not matter. The log joint alone may be the
    same in chains that found different states.
    """
    sizes = -np.sort(-counts, axis=1).reshape(*course.trace.shape, -1)
    r_hat = float(np.fmax.reduce(split_r_hat(sizes), initial=course.r_hat))
    n_effective = effective_sample_size(sizes)
    size = float(np.fmin.reduce(n_effective, initial=course.effective_sample_size))
    was_stopped = course.trace.shape[1] < problem.choices.n_samples
    if course.r_hat <= MIXED < r_hat and not was_stopped:
        warn_of_disagreement(r_hat, f"sizes of {many(problem.noun)}")
    return course._replace(r_hat=r_hat, effective_sample_size=size)


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
        "hidden states, 2", problem.algorithm.name, settings, seed, start, *problem.content
    )
