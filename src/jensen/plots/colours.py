"""The colours of drawings, light and dark.

Boxes are opaque and edges are of a middle grey, so that either scheme can be read on a white and
on a black page: notebooks do not always tell the browser that they are dark.
"""

Colours = dict[str, dict[str, str]]

LIGHT: Colours = {
    "box": {"fill": "#eef3fb", "stroke": "#5b7aa9"},
    "marked": {"fill": "#fdf0d3", "stroke": "#c07f13"},
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
    "name": {"fill": "#eef2f8"},
    "small": {"fill": "#c3ccd8"},
    "track": {"fill": "#3a4a66"},
    "bar": {"fill": "#6fa0ee"},
    "line": {"stroke": "#8b96a4"},
    "head": {"fill": "#8b96a4"},
}


def dark_rules(identity: str) -> str:
    """CSS for one drawing only; light is written on the elements, for viewers without CSS."""
    rules = [
        f"#{identity} .{kind}{{{';'.join(f'{key}:{value}' for key, value in colours.items())}}}"
        for kind, colours in DARK.items()
    ]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"
