"""What structural EM did, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.q_graph.info import StructuralInfo

COMPLETED = {
    "exact": "in all ways, each with its probability",
    "map": "in all ways, at the mode of the parameters (no ascent)",
    "draw": "by ten draws each (no ascent)",
    "mode": "in the most probable way each (no ascent)",
}
"""How rows are completed while graphs are searched."""


def meaning(info: StructuralInfo, score_name: str) -> str:
    """What J is, in words."""
    own, _, prior = score_name.partition(" + ")
    if info.is_bound:
        return f"a lower bound of log p(observed{', ' if prior else ' | '}graph) under {own}"
    penalty = "" if own == "loglik" else f" less the penalty of {own}"
    return f"the log-likelihood of what was observed{penalty}{f' + {prior}' if prior else ''}"


def how_climbed(info: StructuralInfo) -> str:
    """The method, and from how many starts."""
    return f"structural EM from {plural(len(info.starts), 'start')}"


def structural_lines(info: StructuralInfo | None, score_name: str) -> list[str]:
    """What J is, what the searches read, and where the starts ended; nothing of complete rows."""
    if info is None:
        return []
    starts = [f"{name} {value:.3f}" for name, value in info.starts.items()]
    return [
        f"J is {meaning(info, score_name)}",
        f"rows are completed {COMPLETED[info.completion]}; expected counts: {info.statistics}",
        f"J by start: {', '.join(starts)}",
    ]


def structural_summary(info: StructuralInfo | None, score_name: str) -> dict[str, Any] | None:
    """The same for programs; None of complete rows."""
    if info is None:
        return None
    return {
        "meaning": meaning(info, score_name),
        "is_bound": info.is_bound,
        "completion": info.completion,
        "ascends": info.ascends,
        "statistics": info.statistics,
        "starts": dict(info.starts),
    }
