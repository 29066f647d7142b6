"""States that a bound is better off without.

Coordinate ascent shares rows out little by little, so a surplus state that has found a few rows
keeps them, though the bound would be higher without it. After an ascent small states in turn are
tried without: the statistics of one are forgotten, its rows find other states, and what comes of it
is taken if F is higher. While all states live, only those far below an even share are tried; once
one has died there are more states than it takes, and any other may be surplus too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jensen.estimators.loop_choices import LoopChoices
from jensen.exceptions import CollapseError
from jensen.fields import add, leaves, rebuild
from jensen.free_energy import Fit, State, fit, see
from jensen.interrupts import interruptible
from jensen.models.state_labels import live_states
from jensen.restarts import Job

SMALL = 0.5
"""Of an even share of the rows: states that have less are tried without, if all states live."""
TRIED = 5
"""The smallest states that are tried in a round."""
AHEAD = 50
"""Sweeps at the present pace, after which a trial must be above what there is to go on."""


class _Trial(NamedTuple):
    job: Job
    choices: LoopChoices
    least: float  # F that must be exceeded


def without_surplus(job: Job, choices: LoopChoices, best: Fit) -> Fit:
    """The best fit, if need be with fewer live states; F at the sweeps that rose above it is added.

    Only of an ascent of a bound that has converged, with states that nothing tells apart.
    """
    while True:
        found = _better(job, choices, best)
        if found is None:
            return best
        above = found.trace[found.trace > best.trace[-1]]
        best = Fit(found.state, np.concatenate([best.trace, above]), found.converged)


def _better(job: Job, choices: LoopChoices, best: Fit) -> Fit | None:
    """What comes of the best fit without one of its smallest states, if F is higher."""
    model, bound = job.model, float(best.trace[-1])
    counts = model.state_counts(best.state.stats)  # type: ignore[attr-defined]
    live = np.flatnonzero(live_states(counts))
    small = live[counts[live] < SMALL * counts.sum() / len(counts)]
    if len(live) < len(counts):
        small = live
    if len(live) < 2 or not len(small):
        return None
    rise = choices.tol * (abs(bound) + job.data.total_weight)
    trial = _Trial(job, choices, bound + max(rise, 1e-9 * abs(bound)))
    with interruptible() as wish:
        for k in small[np.argsort(counts[small], kind="stable")][:TRIED]:
            found = None if wish.is_set() else _try_without(trial, best.state, int(k))
            if found is not None and found.trace[-1] > trial.least and not wish.is_set():
                return found
    return None


def _try_without(trial: _Trial, state: State, k: int) -> Fit | None:
    """Climb from where state k is forgotten, as long as there is hope."""
    job, choices, least = trial
    with interruptible() as wish:

        def is_hopeless(state: State, trace: list[float]) -> bool:
            too_slow = len(trace) > 2 and trace[-1] + AHEAD * (trace[-1] - trace[-2]) < least
            return too_slow or wish.is_set()

        try:
            eta = add(job.model.prior, _forget(job.model, state.stats, k))
            begun = see(job.model, job.data, job.algorithm, eta)
            return fit(
                job.model, job.data, job.algorithm, begun,
                max_iter=choices.max_iter, tol=choices.tol, watch=is_hopeless,
            )  # fmt: skip
        except CollapseError:
            return None


def _forget(model: Any, stats: Any, k: int) -> Any:
    """Statistics without those of state k; what states share stays."""
    alone = leaves(model.select(stats, np.array([0])))
    parts = []
    for whole, one in zip(leaves(stats), alone, strict=True):
        part = np.array(whole)
        for axis, (many, single) in enumerate(zip(part.shape, one.shape, strict=True)):
            if many != single:  # an axis of states: the other sizes are not selected from
                np.moveaxis(part, axis, 0)[k] = 0.0
        parts.append(part)
    return rebuild(stats, iter(parts))
