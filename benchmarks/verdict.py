"""Goals: met or not, and by how much."""

from collections.abc import Callable, Sequence
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
    peers = [outcome for outcome in result.outcomes if outcome.is_peer]
    found = []
    if goal.seconds is not None:
        found.append(_at_most(goal.seconds, ours and ours.seconds, duration))
    if goal.gib is not None:
        found.append(_at_most(goal.gib, ours and ours.gib, lambda gib: f"{gib:.3g} GiB"))
    if goal.ratio is not None:
        text = f"at least {goal.ratio:g} times as fast as every peer, in processor time too"
        ratios = [ratio for peer in peers for ratio in (peer.ratio, peer.processor_ratio)]
        found.append(_at_least(goal.ratio, ratios, text))
    if goal.speedup is not None:
        text = f"at least {goal.speedup:g} times as fast as on one thread"
        found.append(_at_least(goal.speedup, [peer.ratio for peer in peers], text))
    return found if whole else [Verdict(v.goal, None, NOT_JUDGED) for v in found]


def _at_least(limit: float, ratios: Sequence[float | None], text: str) -> Verdict:
    """The least of the ratios counts."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return Verdict(text, None, NOT_JUDGED)
    return Verdict(text, min(known) >= limit, f"{times(min(known))} times")


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
