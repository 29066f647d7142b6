"""Nodes and edges of a drawing as SVG elements."""

from collections.abc import Sequence

from jensen.plots import cards
from jensen.plots.cards import Card
from jensen.plots.colours import LIGHT
from jensen.plots.geometry import Box, Point, Route
from jensen.plots.markup import escape, number, tag
from jensen.plots.routing import HEAD

HALF_HEAD = 3.6
HANDLE = 0.35  # of an S: share of its height in which it stays upright
WIDTH = 1.4
SIGNS = {"->": "→", "--": "—", "<->": "↔"}


def draw_node(title: str, card: Card, box: Box, *, marked: bool) -> str:
    """A box with a name, and bars if it has beliefs."""
    kind = "marked" if marked else "box"
    frame = tag(
        "rect",
        class_=kind,
        x=box.left,
        y=box.top,
        width=box.width,
        height=box.height,
        rx=6,
        stroke_width=2.0 if marked else 1.2,
        **LIGHT[kind],
    )
    first = box.top + cards.EDGE + 0.78 * cards.LINE
    lines = [
        tag("text", escape(line), class_="name", x=box.x, y=first + k * cards.LINE, **LIGHT["name"])
        for k, line in enumerate(card.lines)
    ]
    bars = [_bar(card, box, k) for k in range(len(card.rows))]
    return tag("g", tag("title", escape(title)), frame, *lines, *bars)


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
    """A line with the arrowheads of its kind, fainter and thinner by its weight."""
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


def _draw_head(tip: Point, before: Point, heads: list[str]) -> Point:
    """Add an arrowhead with its tip at the end of a line; where the line ends under it."""
    x, y = tip
    base = y - HEAD if before[1] < y else y + HEAD
    corners = f"M{number(x)} {number(y)}L{number(x - HALF_HEAD)} {number(base)}"
    corners += f"H{number(x + HALF_HEAD)}Z"
    heads.append(tag("path", class_="head", d=corners, **LIGHT["head"]))
    return x, base


def path(points: Sequence[Point]) -> str:
    """Upright pieces, and an S wherever x changes."""
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
