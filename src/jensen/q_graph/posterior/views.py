"""Pictures of a posterior over graphs, its files, and its export to ArviZ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from jensen.exceptions import FileError, JensenError
from jensen.graphs import DAG, PDAG
from jensen.q_graph.posterior.graph_samples import Array
from jensen.q_graph.posterior.model_averages import ModelAverages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jensen.q_graph.posterior.convergence import Convergence

MOST_DRAWN = 60  # notebooks draw a consensus by themselves up to this many variables


class PosteriorViews(ModelAverages):
    """Mixin of a posterior: pictures and files."""

    @property
    def edge_matrix(self) -> Array:
        """(n, n): the probability of every edge."""
        raise NotImplementedError

    def consensus(self, threshold: float = 0.5) -> DAG:
        """The graph of all edges more probable than the threshold."""
        raise NotImplementedError

    @property
    def convergence(self) -> Convergence:
        """Diagnostics of the chains; an error if nothing was sampled by chains."""
        raise JensenError("nothing was sampled by chains here, so nothing has to converge")

    def to_svg(self, threshold: float = 0.5) -> str:
        """A picture of `consensus`, its edges as dark as they are probable, as SVG text.

        If both directions are more probable than the threshold, the line has no arrow, and its
        darkness is that of both probabilities together.
        """
        from jensen.plots.svg import graph_svg

        dag, p = self.consensus(threshold), self.edge_matrix
        taken = dag.adjacency
        doubtful = taken.T & (p > threshold)
        graph = PDAG.from_adjacency(taken | doubtful, self.names)
        either = np.where(doubtful | doubtful.T, p + p.T, p)
        weights = {
            (a, b): min(float(either[self.names.index(a), self.names.index(b)]), 1.0)
            for a, b in (*graph.directed, *graph.undirected)
        }
        return graph_svg(graph, edge_weights=weights)

    def plot_trace(self, ax: Axes | None = None) -> Axes:
        """Draw the log score at every sample, a line for each chain (with matplotlib)."""
        from jensen.plots.figures import log_scores

        return log_scores(self.convergence, ax)

    def plot_agreement(self, ax: Axes | None = None) -> Axes:
        """Draw the edge probabilities of every chain over those of all (with matplotlib)."""
        from jensen.plots.figures import agreement

        return agreement(self.convergence, ax)

    def to_arviz(self) -> Any:
        """The samples as `arviz.InferenceData`; this needs ArviZ."""
        from jensen.io.arviz import graphs_to_arviz

        return graphs_to_arviz(self.samples)

    def save(self, path: str | Path) -> None:
        """Write all samples to a JSON file (also .json.gz); `jn.load` reads it.

        The file does not contain the data: to average predictions, add them with `with_table`.
        """
        from jensen.io import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a posterior from a file."""
        from jensen.io import load

        found = load(path)
        if not isinstance(found, cls):
            raise FileError(f"{path} holds a {type(found).__name__}, not a {cls.__name__}")
        return found

    def _repr_html_(self) -> str:
        from jensen.plots.markup import escape, tag

        picture = self.to_svg() if len(self.names) <= MOST_DRAWN else ""
        return tag("div", picture, tag("pre", escape(repr(self))))
