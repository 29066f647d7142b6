"""Graphs as SVG: one text that browsers and notebooks show, in light and in dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2s
from typing import TypeVar

from jensen.exceptions import GraphError, JensenError
from jensen.graphs.base import Graph
from jensen.graphs.indexed_graph import unknown_node
from jensen.plots import cards
from jensen.plots.cards import (
    Beliefs,
    Card,
    Curve,
    check_beliefs,
    make_card,
    make_curve,
    percent,
    text_width,
)
from jensen.plots.coordinates import HEAD, side_width
from jensen.plots.geometry import HANDLE, Box, Layout, Point, Route, label_boxes
from jensen.plots.layout import edges_of, lay_out
from jensen.plots.markup import escape, number, tag
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
    known: Mapping[str, str] | None = None,
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
        as bars; of a number the answer of a query, drawn as a density, or its value.
    edge_weights
        (a, b) → number between 0 and 1: an edge is fainter and thinner as it falls, and has it as
        a percentage on it. Edges that are not directed may be named either way; edges that are
        not named are drawn as usual.
    highlight
        Names of nodes to emphasise.
    known
        Name → a word such as "given", of nodes that are evidence: they have a colour of their own,
        and the word under their name.
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
    curves = {name: make_curve(belief) for name, belief in shown.items()}
    notes = _known(graph, known or {})
    contents = [
        make_card(texts[v], states[v], widths[v], curves.get(v), notes.get(v, ""))
        for v in graph.nodes
    ]
    layout = lay_out(graph, [card.size for card in contents])
    elements = []
    for route in layout.routes:
        i, j = route.ends
        elements.append(draw_edge((graph.nodes[i], graph.nodes[j]), route, weights.get(route.ends)))
    shares = _shares(layout, weights)
    elements += [_draw_share(*share) for share in shares]
    for name, card, box in zip(graph.nodes, contents, layout.boxes, strict=True):
        title = "\n".join([name, *(f"{label}: {percent(p)}" for label, p in states[name])])
        if card.curve is not None:
            title += f"\n{card.curve.text}"
        if name in notes:
            title += f"\n{notes[name]}"
        kind = "known" if name in notes else "marked" if name in marked else "box"
        elements.append(draw_node(title, card, box, kind))
    if not elements:
        elements.append(tag("text", "no nodes", class_="head", x=30, y=15, **LIGHT["head"]))
        layout = layout._replace(width=60.0, height=20.0)
    left = min([0.0, *(box.left for _, box in shares)])
    right = max([layout.width, *(box.right for _, box in shares)])
    return _page(_headline(graph), elements, Box.spanning(left, right, 0.0, layout.height), scale)


def _known(graph: Graph, by_name: Mapping[str, T]) -> dict[str, T]:
    """The mapping as a dict; keys that are no nodes are refused."""
    for name in by_name:
        if name not in graph:
            raise unknown_node(name, graph.nodes)
    return dict(by_name)


def _check_weights(
    graph: Graph, weights: Mapping[tuple[str, str], float]
) -> dict[tuple[int, int], float]:
    """Weights by pairs of node indices, in the direction of the graph's edges."""
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
    """The width that each box needs for its arrowheads."""
    heads = Counter(j for _, mark, j in edges_of(graph) if mark != "--")
    heads.update(i for i, mark, _ in edges_of(graph) if mark == "<->")
    return {name: max(LEAST_WIDTH, side_width(heads[k])) for k, name in enumerate(graph.nodes)}


def _headline(graph: Graph) -> str:
    n_edges = len(edges_of(graph))
    return f"{type(graph).__name__}: {plural(len(graph), 'node')}, {plural(n_edges, 'edge')}"


def _page(headline: str, elements: Sequence[str], drawn: Box, scale: float) -> str:
    """The whole SVG: title, colours of the dark scheme, elements and size."""
    width, height = drawn.width + 2 * MARGIN, drawn.height + 2 * MARGIN
    corner = f"{number(drawn.left - MARGIN)} {number(drawn.top - MARGIN)}"
    body = "\n".join(elements)
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
        viewBox=f"{corner} {number(width)} {number(height)}",
        style=f"max-width:100%;min-width:{number(SHRINK * width * scale)}px;height:auto",
        font_family=FONT,
        font_size=13,
        text_anchor="middle",
    )


# --- colours: boxes are opaque and edges of a middle grey, so that each scheme is legible on white
# and on black pages; notebooks do not always tell the browser that they are dark ---

Colours = dict[str, dict[str, str]]

LIGHT: Colours = {
    "box": {"fill": "#eef3fb", "stroke": "#5b7aa9"},
    "marked": {"fill": "#fdf0d3", "stroke": "#c07f13"},
    "known": {"fill": "#d9eddf", "stroke": "#2f7d4f"},
    "tag": {"fill": "#ffffff"},
    "name": {"fill": "#1c2633"},
    "small": {"fill": "#46525f"},
    "track": {"fill": "#d5dfee"},
    "bar": {"fill": "#4c7fd0"},
    "line": {"stroke": "#6f7b89"},
    "head": {"fill": "#6f7b89"},
}
DARK: Colours = {
    "box": {"fill": "#223047", "stroke": "#7594c7"},
    "marked": {"fill": "#4a3a17", "stroke": "#dba03a"},
    "known": {"fill": "#1b3b29", "stroke": "#5fb582"},
    "tag": {"fill": "#1a222e"},
    "name": {"fill": "#eef2f8"},
    "small": {"fill": "#c3ccd8"},
    "track": {"fill": "#3a4a66"},
    "bar": {"fill": "#6fa0ee"},
    "line": {"stroke": "#8b96a4"},
    "head": {"fill": "#8b96a4"},
}


def dark_rules(identity: str) -> str:
    """CSS of the dark scheme for one drawing; light colours are attributes and need no CSS."""
    rules = [
        f"#{identity} .{kind}{{{';'.join(f'{key}:{value}' for key, value in colours.items())}}}"
        for kind, colours in DARK.items()
    ]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


# --- nodes and edges ---

HALF_HEAD = 3.6  # half the width of an arrowhead
WIDTH = 1.4  # of a line
SIGNS = {"->": "→", "--": "—", "<->": "↔"}


def draw_node(title: str, card: Card, box: Box, kind: str = "box") -> str:
    """A box with a name, and a bar per state if there are beliefs."""
    frame = tag(
        "rect",
        class_=kind,
        x=box.left,
        y=box.top,
        width=box.width,
        height=box.height,
        rx=6,
        stroke_width=1.2 if kind == "box" else 2.0,
        **LIGHT[kind],
    )
    first = box.top + cards.EDGE + 0.78 * cards.LINE
    lines = [
        tag("text", escape(line), class_="name", x=box.x, y=first + k * cards.LINE, **LIGHT["name"])
        for k, line in enumerate(card.lines)
    ]
    if card.note:
        look = {"class_": "small", "font_size": cards.SMALL, **LIGHT["small"]}
        base = box.top + cards.EDGE + cards.LINE * len(card.lines) + 0.72 * cards.ROW
        lines.append(tag("text", escape(card.note), x=box.x, y=base, **look))
    bars = [_bar(card, box, k) for k in range(len(card.rows))]
    curve = [] if card.curve is None else [_curve(card, card.curve, box)]
    return tag("g", tag("title", escape(title)), frame, *lines, *bars, *curve)


def _curve(card: Card, curve: Curve, box: Box) -> str:
    """A density over its base line, and the text under it."""
    left, right = box.left + cards.SIDE, box.right - cards.SIDE
    top, found = box.top + card.rows_top, ""
    if curve.heights:
        base = top + cards.CURVE
        step = (right - left) / (len(curve.heights) - 1)
        points = [
            f"{number(left + k * step)} {number(base - 0.94 * cards.CURVE * height)}"
            for k, height in enumerate(curve.heights)
        ]
        area = f"M{number(left)} {number(base)}L{'L'.join(points)}L{number(right)} {number(base)}Z"
        line = {"x": left, "y": base, "width": right - left, "height": 1.0}
        found = tag("path", class_="bar", d=area, **LIGHT["bar"])
        found += tag("rect", class_="track", **line, **LIGHT["track"])
        top = base
    look = {"class_": "small", "font_size": cards.SMALL, **LIGHT["small"]}
    return found + tag("text", escape(curve.text), x=box.x, y=top + 0.8 * cards.ROW, **look)


def _bar(card: Card, box: Box, k: int) -> str:
    """Label, bar and number of one state."""
    row = card.rows[k]
    top = box.top + card.rows_top + k * cards.ROW
    base = top + 0.72 * cards.ROW
    left = box.left + cards.SIDE + card.label_width + cards.BETWEEN
    right = box.right - cards.SIDE
    full = right - card.number_width - cards.BETWEEN - left
    small = {"class_": "small", "y": base, "font_size": cards.SMALL, **LIGHT["small"]}
    shape = {"x": left, "y": top + 3.0, "height": cards.ROW - 6.0, "rx": 2}
    return (
        tag("text", escape(row.label), x=left - cards.BETWEEN, text_anchor="end", **small)
        + tag("rect", class_="track", width=full, **shape, **LIGHT["track"])
        + tag("rect", class_="bar", width=full * row.share, **shape, **LIGHT["bar"])
        + tag("text", escape(row.text), x=right, text_anchor="end", **small)
    )


def draw_edge(names: tuple[str, str], route: Route, weight: float | None) -> str:
    """A line with its arrowheads; the lower its weight, the fainter and thinner it is."""
    title = f"{names[0]} {SIGNS[route.mark]} {names[1]}"
    width, look = WIDTH, {}
    if weight is not None:
        title += f": {weight:.3g}"
        width = 0.8 + 2.0 * weight
        look = {"opacity": f"{0.3 + 0.7 * weight:.2f}"}
    points = list(route.points)
    heads: list[str] = []
    if route.mark != "--":
        points[-1] = _draw_head(points[-1], points[-2], heads)
    if route.mark == "<->":
        points[0] = _draw_head(points[0], points[1], heads)
    line = tag(
        "path",
        class_="line",
        d=path(points),
        fill="none",
        stroke_width=f"{width:.2g}",
        **LIGHT["line"],
    )
    return tag("g", tag("title", escape(title)), line, *heads, **look)


def _shares(layout: Layout, weights: Mapping[tuple[int, int], float]) -> list[tuple[str, Box]]:
    """The weights of edges as percentages, and where they stand."""
    texts = [percent(weights[x.ends]) if x.ends in weights else None for x in layout.routes]
    sizes = [
        None if text is None else (text_width(text, cards.SMALL) + 4.0, cards.SMALL + 2.0)
        for text in texts
    ]
    pairs = zip(texts, label_boxes(layout, sizes), strict=True)
    return [(text, box) for text, box in pairs if text is not None and box is not None]


def _draw_share(text: str, box: Box) -> str:
    """A percentage on an edge."""
    shape = {"x": box.left, "y": box.top, "width": box.width, "height": box.height}
    frame = tag("rect", class_="tag", rx=2, opacity="0.85", **shape, **LIGHT["tag"])
    look = {"class_": "small", "font_size": cards.SMALL, **LIGHT["small"]}
    return frame + tag("text", escape(text), x=box.x, y=box.y + 0.36 * cards.SMALL, **look)


def _draw_head(tip: Point, before: Point, heads: list[str]) -> Point:
    """Add an arrowhead to `heads`; return the point at its base, where the line must end."""
    x, y = tip
    base = y - HEAD if before[1] < y else y + HEAD
    corners = f"M{number(x)} {number(y)}L{number(x - HALF_HEAD)} {number(base)}"
    corners += f"H{number(x + HALF_HEAD)}Z"
    heads.append(tag("path", class_="head", d=corners, **LIGHT["head"]))
    return x, base


def path(points: Sequence[Point]) -> str:
    """The path through some points: vertical pieces, and an S-curve wherever x changes."""
    x, y = points[0]
    drawn = f"M{number(x)} {number(y)}"
    for next_x, next_y in points[1:]:
        if next_x == x:
            drawn += f"V{number(next_y)}"
        else:
            reach = HANDLE * (next_y - y)
            handles = ((x, y + reach), (next_x, next_y - reach), (next_x, next_y))
            drawn += "C" + " ".join(f"{number(a)} {number(b)}" for a, b in handles)
        x, y = next_x, next_y
    return drawn
