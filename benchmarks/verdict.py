"""Goals: met or not, and by how much."""

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.race import Result
from benchmarks.words import duration, times

NOT_JUDGED = "not judged"


class Verdict(NamedTuple):
    """One goal of a workload."""

    goal: str
    met: bool | None  # None: cannot be said
    found: str


def verdicts(result: Result, *, whole: bool = True) -> list[Verdict]:
    """Judge the goals of a workload; not on less data than the goal speaks of (`whole`)."""
    goal, ours = result.workload.goal, result.outcomes[0].best
    ratios = [o.ratio for o in result.outcomes if o.is_peer and o.ratio is not None]
    found = []
    if goal.seconds is not None:
        found.append(_at_most(goal.seconds, ours and ours.seconds, duration))
    if goal.gib is not None:
        found.append(_at_most(goal.gib, ours and ours.gib, lambda gib: f"{gib:.3g} GiB"))
    if goal.ratio is not None:
        text = f"at least {goal.ratio:g} times as fast as every peer"
        met = min(ratios) >= goal.ratio if ratios else None
        found.append(Verdict(text, met, f"{times(min(ratios))} times" if ratios else NOT_JUDGED))
    return found if whole else [Verdict(v.goal, None, NOT_JUDGED) for v in found]


def _at_most(limit: float, value: float | None, show: Callable[[float], str]) -> Verdict:
    text = f"at most {show(limit)}"
    if value is None:
        return Verdict(text, None, NOT_JUDGED)
    return Verdict(text, value <= limit, show(value))


def in_words(verdict: Verdict) -> str:
    """As it stands beside the figures."""
    if verdict.met is None:
        return f"goal {verdict.goal}: {verdict.found}"
    return f"goal {verdict.goal}: {'met' if verdict.met else 'NOT met'} ({verdict.found})"
