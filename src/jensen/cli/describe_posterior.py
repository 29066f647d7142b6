"""What is known of graphs, for people and for programs: posteriors, and what structural EM did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.support.text import grid, in_shell, plural, some

if TYPE_CHECKING:
    from jensen.q_graph.info import StructuralInfo
    from jensen.q_graph.posterior import StructurePosterior


def _is_sampled(post: StructurePosterior) -> bool:
    return bool(post.settings["method"] != "exact")


def _listed(post: StructurePosterior, threshold: float) -> list[dict[str, Any]]:
    """Edges as plain data, the most probable first."""
    import narwhals as nw

    return list(nw.from_native(post.edges(threshold), eager_only=True).rows(named=True))


def show(post: StructurePosterior, threshold: float) -> None:
    """The edges, and whether to believe them."""
    from jensen.graphs.indexed_graph import show_path

    print(_headline(post), end="\n\n")
    edges = _listed(post, threshold)
    rows = [["edge", "probability", "error"]]
    for edge in edges:
        error = f"{edge['standard_error']:.2g}" if _is_sampled(post) else "exact"
        rows.append([show_path([edge["from"], edge["to"]]), f"{edge['probability']:.4f}", error])
    nothing = f"no edge is more probable than {threshold:g}"
    print(grid(rows, left=1, rule=True) if edges else nothing)
    below = len(post.names) * (len(post.names) - 1) - len(edges)
    if edges and below:
        print(f"and {plural(below, 'edge')} of probability {threshold:g} or less")
    print()
    for line in _convergence(post) if _is_sampled(post) else []:
        print(line)


def _headline(post: StructurePosterior) -> str:
    score = post.settings["score"]
    known = " in the known order" if post.settings.get("known_order") else ""
    of = f"{plural(len(post.names), 'variable')}{known}, {score}"
    if not _is_sampled(post):
        return f"exact: all graphs of {of}; log evidence {post.log_evidence:.6f}"
    n_chains, n_samples = post.samples.which.shape
    each = plural(n_samples, "sample") + post.convergence.so_far
    return (
        f"{post.settings['method']}: {plural(n_chains, 'chain')} of {each}, "
        f"{plural(post.samples.n_distinct, 'different graph')} of {of}"
    )


def _convergence(post: Any) -> list[str]:
    """Whether the chains agree, in sentences."""
    from jensen.graphs.indexed_graph import show_path
    from jensen.q_graph.posterior.convergence import show as shown

    found = post.convergence
    mixed = (
        f"R-hat {shown(found.r_hat)}, effective sample size {shown(found.effective_sample_size)}"
    )
    lines = [f"log score: {mixed}"]
    if post.samples.n_chains == 1:
        lines.append("One chain cannot show whether it has seen all: give --chains 4.")
    elif found.marked_disagreement is not None:
        lines.append(in_shell(found.marked_disagreement))
    else:
        apart = found.agreement
        where = "" if apart.edge is None else f" ({show_path(apart.edge)})"
        lines.append(
            f"The chains agree: probabilities of an edge differ by {apart.largest:.3f} at "
            f"most{where}."
        )
    if found.slowest_edge is not None:
        edge, times = found.slowest_edge
        lines.append(f"Of the edges in doubt, {show_path(edge)} changed least: {times:,} times.")
    if post.samples.weights is not None:
        left, n = found.weights_size, post.samples.n_samples
        lines.append(f"Weighted by the orders of each graph: worth {left:,.0f} of {n:,} samples.")
    return lines + _outside(post)


def _outside(post: Any) -> list[str]:
    """How much is on parents that are no candidates."""
    import numpy as np

    share = post.outside_share
    if share is None:
        return []
    lines = []
    if np.nanmax(share, initial=0.0) > 0:
        at = int(np.nanargmax(share))
        most = f"{share[at]:.1%} at most, of {post.names[at]}"
        lines.append(f"Parents outside the candidates: {most}.")
    if np.isnan(share).any():
        of = some([post.names[v] for v in np.flatnonzero(np.isnan(share))])
        lines.append(f"Parents outside the candidates: not measured (see --outside), of {of}.")
    return lines


def summary(post: Any, threshold: float, output: str | None, svg: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    answer = {
        "names": list(post.names),
        "settings": dict(post.settings),
        "edges": _listed(post, threshold),
        "log_evidence": post.log_evidence,
        "convergence": None,
        "output": output,
        "svg": svg,
    }
    if _is_sampled(post):
        found = post.convergence
        share = None if post.outside_share is None else post.outside_share.tolist()
        answer["convergence"] = {
            "r_hat": found.r_hat,
            "effective_sample_size": found.effective_sample_size,
            "largest_difference": found.agreement.largest,
            "disagreement": _disagreement(found),
            "acceptance": found.acceptance,
            "n_samples": post.samples.which.shape[1],
            "interrupted": post.interrupted,
            "outside_share": None if share is None else dict(zip(post.names, share, strict=True)),
        }
    return answer


def _disagreement(found: Any) -> str | None:
    marked = found.marked_disagreement
    return None if marked is None else in_shell(marked)


COMPLETED = {
    "exact": "in all ways, each with its probability",
    "map": "in all ways, at the mean of the parameters (no ascent)",
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


def structural_lines(info: StructuralInfo, score_name: str) -> list[str]:
    """What J is, what the searches read, and where the starts ended."""
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
