"""Edge strengths: the share of graphs that have an edge, and the averaged graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import reach
from jensen.q_graph.constraints import Constraints, read_constraints
from jensen.support.arguments import is_real
from jensen.support.text import grid, offer, plural

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

MOST_SHOWN = 20

ALWAYS = 1.0 - 1e-9
"""The strength of an edge that every graph has, up to rounding in the sum of shares."""


class EdgeStrength(NamedTuple):
    """One pair of variables, in the direction that was found more often."""

    parent: str
    child: str
    strength: float  # the share of graphs in which the two are adjacent
    direction: float  # the share of those in which the edge has this direction


@dataclass(frozen=True, eq=False)
class EdgeStrengths:
    """Shares of graphs in which edges are found; prints as a table, the strongest first.

    Attributes
    ----------
    names
        The variables, sorted.
    shares : (n, n) array
        [a, b]: the share of graphs with an edge from a to b. An edge whose direction the data
        cannot determine counts half in each direction.
    n_graphs
        The number of graphs that were learned.
    constraints
        The constraints of these graphs, which the averaged graph obeys too.
    """

    names: tuple[str, ...]
    shares: Array
    n_graphs: int
    constraints: Constraints | None = None

    def __getitem__(self, edge: tuple[str, str]) -> float:
        a, b = edge
        for name in edge:
            if name not in self.names:
                raise JensenError(f"there is no variable {name!r}; {offer(name, self.names)}")
        return float(self.shares[self.names.index(a), self.names.index(b)])

    def strength(self, a: str, b: str) -> float:
        """The share of graphs in which a and b are adjacent, in either direction."""
        return self[a, b] + self[b, a]

    def direction(self, a: str, b: str) -> float:
        """The share of these graphs with a -> b; NaN if a and b are never adjacent."""
        both = self.strength(a, b)
        return self[a, b] / both if both else float("nan")

    @property
    def threshold(self) -> float:
        """The threshold between weak and strong edges (Scutari and Nagarajan 2013).

        If all edges were certain, all strengths would be 0 or 1. The threshold is the quantile of
        the strengths at the share of zeros in the distribution on {0, 1} that is nearest to the
        distribution of the strengths in L1 distance.
        """
        upper = np.triu_indices(len(self.names), 1)
        return _threshold((self.shares + self.shares.T)[upper])

    def edges(self, threshold: float | None = None) -> list[EdgeStrength]:
        """All pairs that are adjacent in some graph, or above the threshold, the strongest first.

        Pairs that are adjacent in every graph are always listed, even if the threshold is 1.
        """
        least = 0.0 if threshold is None else threshold
        found = []
        for i, a in enumerate(self.names):
            for j in range(i + 1, len(self.names)):
                there, back = float(self.shares[i, j]), float(self.shares[j, i])
                both = there + back
                if both > least or both >= ALWAYS:
                    pair = (a, self.names[j]) if there >= back else (self.names[j], a)
                    found.append(EdgeStrength(*pair, both, max(there, back) / both))
        return sorted(found, key=lambda edge: (-edge.strength, -edge.direction, edge[:2]))

    def averaged(self, threshold: float | None = None) -> DAG:
        """The graph of all edges stronger than the threshold, each in its more frequent direction.

        Edges that every graph has are stronger than any threshold; a threshold of 1 keeps only
        these. The strongest edges are added first. An edge that would close a cycle or break a
        constraint is turned, or left out if turning does not help. Required edges are always kept.

        Parameters
        ----------
        threshold
            Between 0 and 1; by default the property `threshold`.
        """
        if threshold is not None and not (is_real(threshold) and 0.0 <= threshold <= 1.0):
            raise JensenError(f"threshold must be between 0 and 1, not {threshold!r}")
        least = self.threshold if threshold is None else threshold
        rules = self.constraints or read_constraints(self.names)
        joined = rules.required.copy()
        at = {name: i for i, name in enumerate(self.names)}
        for edge in self.edges(least):
            a, b = at[edge.parent], at[edge.child]
            if joined[a, b] or joined[b, a]:
                continue
            for u, v in ((a, b), (b, a)):
                crowded = joined[:, v].sum() >= rules.most_parents
                if not (rules.forbidden[u, v] or crowded or _leads(joined, v, u)):
                    joined[u, v] = True
                    break
        return DAG.from_adjacency(joined, self.names)

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each pair that is adjacent in some graph."""
        import pandas as pd

        return pd.DataFrame(self.edges(), columns=["from", "to", "strength", "direction"])

    def __repr__(self) -> str:
        edges = self.edges()
        rows = [
            [edge.parent, edge.child, f"{edge.strength:.3f}", f"{edge.direction:.3f}"]
            for edge in edges[:MOST_SHOWN]
        ]
        graphs = plural(self.n_graphs, "graph")
        head = f"EdgeStrengths: {graphs}, threshold {self.threshold:.3f}"
        more = [] if len(edges) <= MOST_SHOWN else [f"... {len(edges)} edges in all"]
        table = grid([["from", "to", "strength", "direction"], *rows], left=2)
        return "\n".join([head, table, *more])


def _leads(joined: NDArray[np.bool_], start: int, end: int) -> bool:
    """Whether a directed path leads from start to end."""
    return end in reach([tuple(np.flatnonzero(row)) for row in joined], [start])


def _threshold(strengths: Array) -> float:
    """The quantile of the strengths at t, the share of zeros of the nearest 0-1 distribution.

    The distance of that distribution to the distribution function F of the strengths is
    ∫ |F(x) - t| dx over [0, 1], which is smallest if t is the median of F(x) over x.
    """
    if not len(strengths):
        return 0.0
    points = np.unique(np.concatenate([[0.0, 1.0], strengths]))
    below = np.searchsorted(np.sort(strengths), points[:-1], side="right") / len(strengths)
    order, widths = np.argsort(below, kind="stable"), np.diff(points)
    reach = np.cumsum(widths[order])
    t = below[order][np.searchsorted(reach, 0.5 * reach[-1])]
    at = np.searchsorted(below, t)  # the first step that reaches t
    return float(points[at])
