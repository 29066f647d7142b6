"""Goals: met or not, and by how much."""

from typing import NamedTuple

from benchmarks.race import Result
from benchmarks.words import duration


class Verdict(NamedTuple):
    """One goal of a workload."""

    goal: str
    met: bool | None  # None: cannot be said
    found: str


def verdicts(result: Result, *, whole: bool = True) -> list[Verdict]:
    """Judge the goals of a workload; not on less data than the goal speaks of (`whole`)."""
    goal, ours = result.workload.goal, result.outcomes[0].best
    found = []
    if goal.seconds is not None:
        text = f"at most {duration(goal.seconds)}"
        if ours is None or not whole:
            found.append(Verdict(text, None, "not judged"))
        else:
            found.append(Verdict(text, ours.seconds <= goal.seconds, duration(ours.seconds)))
    if goal.ratio is not None:
        text = f"at least {goal.ratio:g} times as fast as every peer"
        ratios = [o.ratio for o in result.outcomes if o.is_peer and o.ratio is not None]
        if not ratios or not whole:
            found.append(Verdict(text, None, "not judged"))
        else:
            found.append(Verdict(text, min(ratios) >= goal.ratio, f"{min(ratios):.3g} times"))
    return found


def in_words(verdict: Verdict) -> str:
    """As it stands beside the figures."""
    if verdict.met is None:
        return f"goal {verdict.goal}: {verdict.found}"
    return f"goal {verdict.goal}: {'met' if verdict.met else 'NOT met'} ({verdict.found})"
