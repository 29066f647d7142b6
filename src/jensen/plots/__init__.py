"""Pictures: graphs as SVG, answers as HTML, figures with matplotlib."""

from jensen.plots.figures import components, cpt, trace
from jensen.plots.html import cpt_html, network_html, posterior_html, table_html
from jensen.plots.svg import graph_svg

__all__ = [
    "components",
    "cpt",
    "cpt_html",
    "graph_svg",
    "network_html",
    "posterior_html",
    "table_html",
    "trace",
]
