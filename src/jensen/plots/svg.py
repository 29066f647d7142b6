"""Graphs as SVG: one text that browsers and notebooks show, in light and in dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2s
from typing import TypeVar

from jensen.exceptions import GraphError, JensenError
from jensen.graphs.base import Graph
from jensen.graphs.names import unknown
from jensen.plots.cards import Beliefs, check_beliefs, make_card, percent
from jensen.plots.colours import LIGHT, dark_rules
from jensen.plots.geometry import Layout
from jensen.plots.ink import draw_edge, draw_node
from jensen.plots.layout import edges_of, lay_out
from jensen.plots.markup import escape, number, tag
from jensen.plots.ports import side_width
from jensen.support.text import plural

MARGIN = 8.0
LEAST_WIDTH = 36.0  # of a box
SHRINK = 0.6
"""A picture wider than the page is made smaller, but not below this share: then it scrolls."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

T = TypeVar("T")


def graph_svg(
    graph: Graph,
    *,
    labels: Mapping[str, str] | None = None,
    beliefs: Mapping[str, Beliefs] | None = None,
    edge_weights: Mapping[tuple[str, str], float] | None = None,
    highlight: str | Iterable[str] = (),
    scale: float = 1.0,
) -> str:
    """Draw a graph of any kind; the same graph always gives the same text.

    Parameters
    ----------
    graph
        A `DAG`, `CPDAG`, `PDAG` or `UndirectedGraph`.
    labels
        Texts to show in place of names.
    beliefs
        Name → probabilities of its states (a mapping, or pairs of label and probability), drawn
        as bars.
    edge_weights
        (a, b) → number between 0 and 1: an edge is fainter and thinner as it falls. Edges that
        are not directed may be named either way; edges that are not named are drawn as usual.
    highlight
        Names of nodes to emphasise.
    scale
        Size on the page; 1 is a font of 13 pixels.

    Examples
    --------
    >>> from jensen.graphs import DAG
    >>> graph_svg(DAG("A -> B"), highlight=["B"])[:39]
    '<svg xmlns="http://www.w3.org/2000/svg"'
    """
    if not scale > 0:
        raise JensenError(f"scale must be a number above 0, not {scale!r}")
    texts = {name: name for name in graph.nodes} | _known(graph, labels or {})
    shown = _known(graph, beliefs or {})
    states = {name: check_beliefs(name, shown.get(name, ())) for name in graph.nodes}
    weights = _check_weights(graph, edge_weights or {})
    marked = _known(graph, dict.fromkeys([highlight] if isinstance(highlight, str) else highlight))
    widths = _least_widths(graph)
    contents = [make_card(texts[v], states[v], widths[v]) for v in graph.nodes]
    layout = lay_out(graph, [card.size for card in contents])
    ink = []
    for route in layout.routes:
        i, j = route.ends
        ink.append(draw_edge((graph.nodes[i], graph.nodes[j]), route, weights.get(route.ends)))
    for name, card, box in zip(graph.nodes, contents, layout.boxes, strict=True):
        title = "\n".join([name, *(f"{label}: {percent(p)}" for label, p in states[name])])
        ink.append(draw_node(title, card, box, marked=name in marked))
    if not ink:
        ink.append(tag("text", "no nodes", class_="head", x=30, y=15, **LIGHT["head"]))
        layout = layout._replace(width=60.0, height=20.0)
    return _page(_headline(graph), ink, layout, scale)


def _known(graph: Graph, by_name: Mapping[str, T]) -> dict[str, T]:
    """The same mapping, if all its keys are nodes."""
    for name in by_name:
        if name not in graph:
            raise unknown(name, graph.nodes)
    return dict(by_name)


def _check_weights(
    graph: Graph, weights: Mapping[tuple[str, str], float]
) -> dict[tuple[int, int], float]:
    """Weights by the indices of the ends, as the edges have them."""
    ends = {(i, j): (i, j) for i, _, j in edges_of(graph)}
    ends |= {(j, i): (i, j) for i, mark, j in edges_of(graph) if mark != "->"}
    checked = {}
    for (a, b), weight in weights.items():
        _known(graph, {a: None, b: None})
        pair = graph.index[a], graph.index[b]
        if pair not in ends:
            raise GraphError(f"edge_weights names {a!r}, {b!r}, but the graph has no such edge")
        if not 0 <= weight <= 1:
            raise JensenError(
                f"the weight of the edge {a!r}, {b!r} must lie between 0 and 1, not {weight!r}"
            )
        checked[ends[pair]] = float(weight)
    return checked


def _least_widths(graph: Graph) -> dict[str, float]:
    """How wide each box must be for the arrowheads at it."""
    heads = Counter(j for _, mark, j in edges_of(graph) if mark != "--")
    heads.update(i for i, mark, _ in edges_of(graph) if mark == "<->")
    return {name: max(LEAST_WIDTH, side_width(heads[k])) for k, name in enumerate(graph.nodes)}


def _headline(graph: Graph) -> str:
    n_edges = len(edges_of(graph))
    return f"{type(graph).__name__}: {plural(len(graph), 'node')}, {plural(n_edges, 'edge')}"


def _page(headline: str, ink: Sequence[str], layout: Layout, scale: float) -> str:
    """The drawing with its title, its own colours for the dark, and its size."""
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    body = "\n".join(ink)
    identity = "jensen-" + blake2s(f"{headline}{scale}{body}".encode(), digest_size=6).hexdigest()
    return tag(
        "svg",
        tag("title", escape(headline)),
        tag("style", dark_rules(identity)),
        f"\n{body}\n",
        xmlns="http://www.w3.org/2000/svg",
        id=identity,
        role="img",
        width=width * scale,
        height=height * scale,
        viewBox=f"{number(-MARGIN)} {number(-MARGIN)} {number(width)} {number(height)}",
        style=f"max-width:100%;min-width:{number(SHRINK * width * scale)}px;height:auto",
        font_family=FONT,
        font_size=13,
        text_anchor="middle",
    )
