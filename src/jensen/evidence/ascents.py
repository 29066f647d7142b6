"""The best of some ascents, and what a method answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.record import Line
from jensen.free_energy import VBEM, Algorithm, Fit
from jensen.runs.restarts import Job, improve
from jensen.support.text import plural

EXACT = 1e-13
"""How little F may rise at a mode, relative to |F| and the weight of rows."""


class EvidenceAnswer(NamedTuple):
    """A value, and what stands beside it."""

    value: float
    kind: str
    standard_error: float | None = None
    lines: tuple[Line, ...] = ()
    warnings: tuple[str, ...] = ()


def best_fit(
    asked: EvidenceQuestion, algorithm: Algorithm = VBEM
) -> tuple[Fit[Any, Any], tuple[str, ...]]:
    """The best ascent of all starts, and what is to be said of it."""
    ascents = asked.climb(algorithm, tol=None if algorithm.is_bound else EXACT)
    best, notes = ascents.best, []
    choices = asked.problem.choices
    if best.converged and algorithm.is_bound and not asked.units.is_complete:
        job = Job(asked.model, asked.units, algorithm, asked.problem.begin)
        best = improve(job, best, max_iter=choices.max_iter, tol=choices.tol)
    if not best.converged:
        notes.append(f"F was still rising after {plural(len(best.trace) - 1, 'sweep')}")
    if ascents.collapsed:
        notes.append(f"{plural(len(ascents.collapsed), 'start')} came to nothing")
    return best, tuple(notes)
