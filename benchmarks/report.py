"""Results as text for people and as JSON for machines."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.race import Outcome, Result, Rules
from benchmarks.verdict import in_words, verdicts
from benchmarks.words import columns, duration, times

HEAD = ["", "best", "ratio", "processor", "ratio", "threads", "runs", ""]

DISTURBED = (
    "OTHER WORK KEEPS THIS MACHINE BUSY: times are too long, and their ratios flatter whoever is "
    "done quickly; the ratios of processor seconds are better."
)


def show_head(machine: Mapping[str, Any], versions: Mapping[str, str], rules: Rules) -> str:
    """What was measured, on what, and how to read it."""
    return "\n".join(
        [
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
            f"{machine['system']}; Python {machine['python']}; "
            f"load {machine['load_before']} before",
            ", ".join(f"{name} {number}" for name, number in versions.items()),
            f"Best of {rules.repeats} rounds after a run to warm up (only that one, if it took "
            f"more than {rules.slow:g} s); {rules.limit:g} s at most for a run.",
            "Ratio: the peer's time over Jensen's; above 1 Jensen is faster. Processor: seconds of "
            "all threads, the fewest of a run.",
            *([DISTURBED] if (machine["load_before"] or 0) > machine["cores"] / 2 else []),
        ]
    )


def show_result(result: Result, *, whole: bool = True) -> str:
    """One workload: a line for every contender."""
    workload, rows = result.workload, result.setting.rows
    size = f", {rows:,} rows" if rows else ""
    unit = workload.check.unit if workload.check else ""
    lines = [_figures(outcome, unit) for outcome in result.outcomes]
    lines[0][-1] = "; ".join(map(in_words, verdicts(result, whole=whole))) or lines[0][-1]
    body = columns([HEAD, *lines], right=range(1, len(HEAD) - 1))
    best = result.outcomes[0].best
    details = [f"    {line}" for line in (best.details if best else ())]
    return "\n".join(
        [f"{workload.name}: {workload.title}{size}", *(f"  {line}" for line in body), *details]
    )


def show_summary(results: Sequence[Result], *, whole: bool = True) -> str:
    """The goals, and where a peer is faster."""
    goals = [
        [result.workload.name, in_words(verdict)]
        for result in results
        for verdict in verdicts(result, whole=whole)
    ]
    faster = [
        [result.workload.name, f"{outcome.name} takes {times(outcome.ratio)} of Jensen's time"]
        for result in results
        for outcome in result.outcomes[1:]
        if outcome.is_peer and outcome.ratio is not None and outcome.ratio < 1
    ]
    parts = [("Goals", goals), ("Where a peer is faster", faster)]
    shown = ["\n".join([head, *(f"  {x}" for x in columns(rows))]) for head, rows in parts if rows]
    return "\n\n".join(shown)


def _figures(outcome: Outcome, unit: str) -> list[str]:
    best = outcome.best
    if best is None:
        return [outcome.name, "-", *[""] * (len(HEAD) - 3), outcome.problem or "not run"]
    wall = [duration(best.seconds), times(outcome.ratio)]
    processor = [duration(outcome.processor), times(outcome.processor_ratio)]
    numbers = [str(outcome.threads), str(len(outcome.runs))]
    return [outcome.name, *wall, *processor, *numbers, _agreement(outcome, unit)]


def _agreement(outcome: Outcome, unit: str) -> str:
    if outcome.difference is None:
        return ""
    words = f"{outcome.difference:.1g} {unit}" if outcome.difference else "exactly"
    reason = f": {outcome.because}" if outcome.because else ""
    return f"same answer ({words}{reason})" if outcome.agrees else f"OTHER ANSWER ({words}{reason})"


def as_json(
    results: Sequence[Result],
    machine: Mapping[str, Any],
    versions: Mapping[str, str],
    rules: Rules,
    *,
    whole: bool = True,
) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "machine": dict(machine),
        "versions": dict(versions),
        "rules": rules._asdict(),
        "quick": not whole,
        "workloads": [_result_json(result, whole) for result in results],
    }


def _result_json(result: Result, whole: bool) -> dict[str, Any]:
    return {
        "name": result.workload.name,
        "title": result.workload.title,
        "rows": result.setting.rows,
        "threads": result.setting.threads,
        "goals": [verdict._asdict() for verdict in verdicts(result, whole=whole)],
        "outcomes": [_outcome_json(outcome) for outcome in result.outcomes],
    }


def _finite(number: float | None) -> float | None:
    """JSON knows no infinity."""
    return number if number is not None and math.isfinite(number) else None


def _outcome_json(outcome: Outcome) -> dict[str, Any]:
    best = outcome.best
    return {
        "name": outcome.name,
        "version": outcome.version,
        "threads": outcome.threads,
        "best_seconds": best.seconds if best else None,
        "seconds": [run.seconds for run in outcome.runs],
        "processor_seconds": [run.processor for run in outcome.runs],
        "gib": [run.gib for run in outcome.runs],
        "ratio": outcome.ratio,
        "processor_ratio": outcome.processor_ratio,
        "agrees": outcome.agrees,
        "difference": _finite(outcome.difference),
        "because": outcome.because or None,
        "problem": outcome.problem,
        "details": list(best.details) if best else [],
    }
