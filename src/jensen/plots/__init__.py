"""Pictures: graphs as SVG, answers as HTML, figures with matplotlib."""

from jensen.plots.figures import (
    agreement,
    components,
    cpt,
    degrees,
    evidences,
    log_scores,
    trace,
)
from jensen.plots.html import cpt_html, network_html, posterior_html, table_html
from jensen.plots.state_figures import clusters, forecast, loadings, states
from jensen.plots.svg import graph_svg

__all__ = [
    "agreement",
    "clusters",
    "components",
    "cpt",
    "cpt_html",
    "degrees",
    "evidences",
    "forecast",
    "graph_svg",
    "loadings",
    "log_scores",
    "network_html",
    "posterior_html",
    "states",
    "table_html",
    "trace",
]


def __dir__() -> list[str]:
    return sorted(__all__)
