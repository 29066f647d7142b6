"""Gaussian Markov networks: numbers on an undirected graph, by covariance selection."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import as_rows
from jensen.data.number_rows import NumberRows, summarise
from jensen.estimators.learning import LoopChoices, Problem, learn
from jensen.estimators.markov_graphs import as_undirected
from jensen.estimators.markov_problem import ML
from jensen.estimators.network_choices import Estimator
from jensen.estimators.network_problems import numbers_that_count
from jensen.estimators.questions import Questions
from jensen.estimators.reports import (
    LOOP,
    Summary,
    plain_choices,
    plain_learned,
    read_choices,
    read_learned,
    usual_choices,
)
from jensen.exceptions import DataError, NotFittedError
from jensen.free_energy import Algorithm
from jensen.graphs import UndirectedGraph
from jensen.inference.undirected_gaussian import UndirectedGaussian, as_regressions
from jensen.models.gaussian_markov import GaussianMarkovModel
from jensen.models.gaussian_network import encode
from jensen.models.protocol import Data
from jensen.support.json_values import Checked, as_checked, plain_array, read_array
from jensen.support.text import grid, plural

Array = NDArray[np.float64]

FORMAT = "jensen-gaussian-markov-network"
STORED = {name: LOOP[name] for name in ("max_iter", "tol")}


class GaussianMarkovSettings(LoopChoices):
    """How a Gaussian Markov network is learned."""

    methods = ("ml",)

    @property
    def algorithm(self) -> Algorithm:
        """Exact q(h), and the mode by proportional scaling."""
        return ML


class GaussianMarkovNetwork(Questions, Estimator):
    """A Gaussian whose precision is 0 where no edge joins two numbers (covariance selection).

    Two variables that no edge joins are independent given all others. Maximum likelihood has the
    rows' covariance on every clique; iterative proportional scaling finds it, and where values are
    missing EM, in which F is the log-likelihood of what was observed and never falls.

    Parameters
    ----------
    graph
        As in `MarkovNetwork`; None: all pairs, so that the precision has no zeros.
    max_iter, tol
        Sweeps end when F rises by less than ``tol * (|F| + total weight)``, or at `max_iter`.
    progress
        Whether to show a progress bar.

    Attributes
    ----------
    graph_ : UndirectedGraph
        The graph.
    mean_, precision_, covariance_ : array
        Of the columns in the order of their names, `graph_.nodes`.
    partial_correlations_ : array
        (n, n): of two variables given all others.
    free_energy_, trace_, n_sweeps_, converged_
        As in `MarkovNetwork`.

    References
    ----------
    Dempster (1972), *Covariance selection*; Speed and Kiiveri (1986), *Gaussian Markov
    distributions over finite graphs*.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> y = x + rng.normal(size=400)
    >>> net = jn.GaussianMarkovNetwork("x - y - z").fit({"x": x, "y": y, "z": y - x / 9})
    >>> round(float(net.precision_[0, 2]), 6)
    0.0
    >>> abs(round(net.query("x", given={"y": 2.0}).mean, 1))
    1.0
    """

    graph_: UndirectedGraph
    network_: UndirectedGaussian
    mean_: Array
    precision_: Array
    covariance_: Array
    free_energy_: float
    is_bound_: bool
    trace_: Array
    n_sweeps_: int
    converged_: bool
    starts_: Array

    def __init__(
        self,
        graph: Any = None,
        *,
        max_iter: int = 1000,
        tol: float = 1e-10,
        progress: bool = False,
    ) -> None:
        self.graph = graph
        self.max_iter = max_iter
        self.tol = tol
        self.progress = progress

    def fit(self, table: Any, y: None = None, *, checkpoint: str | Path | None = None) -> Self:
        """Learn from anything a `Table` can be built from; columns beside the graph are ignored.

        Parameters
        ----------
        table
            Numbers; they may be missing anywhere.
        y
            Nothing: scikit-learn's pipelines pass it.
        checkpoint
            A file that holds the state of the run, as in `BayesianNetwork`.
        """
        problem = self.problem(table)
        self.network_, report = learn(problem, checkpoint)
        self.graph_ = problem.model.graph  # type: ignore[attr-defined]
        report.set_on(self, problem.choices)
        joint = self.network_.query(self.graph_.nodes, None, None)
        self._show(np.atleast_1d(joint.mean), np.atleast_2d(joint.covariance))
        return self

    def problem(self, table: Any) -> Problem:
        """What `fit` learns: the model, the encoded rows, the choices."""
        choices = GaussianMarkovSettings(
            method="ml", max_iter=self.max_iter, tol=self.tol, progress=self.progress
        )
        choices.check()
        source = as_rows(table)
        if not source.names:
            raise DataError("there is nothing to learn from: the table has no columns")
        graph = as_undirected(self.graph, source.names)
        rows, _ = numbers_that_count(graph, source, None)
        numbers = NumberRows.scanned(rows, graph.nodes)
        shift = summarise(numbers).mean
        model = GaussianMarkovModel(graph, shift)
        content = (graph.nodes, graph.edges, rows.select(graph.nodes))
        return Problem(model, Data(encode(numbers, shift), numbers, content), choices)

    def _show(self, mean: Array, covariance: Array) -> None:
        """Set the parameters; entries of the precision without an edge are 0."""
        self.mean_, self.covariance_ = mean, covariance
        joined = self.graph_.adjacency | np.eye(len(mean), dtype=bool)
        self.precision_ = np.where(joined, np.linalg.inv(covariance), 0.0)

    @property
    def partial_correlations_(self) -> Array:
        """(n, n): of two variables given all others; 1 on the diagonal."""
        self.require_any()
        unit = np.sqrt(self.precision_.diagonal())
        found = -self.precision_ / np.outer(unit, unit)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    def require_any(self) -> UndirectedGaussian:
        """The frozen network, or an error if there is none yet."""
        if not hasattr(self, "network_"):
            raise NotFittedError("this network has no parameters yet: call fit(table) first")
        return self.network_

    @property
    def parameters_count(self) -> int:
        """Means, variances, and a number for every edge."""
        self.require_any()
        return 2 * len(self.graph_) + len(self.graph_.edges)

    def summary(self) -> Summary:
        """What was learned and how, and the partial correlations of the edges."""
        self.require_any()
        rows = [["edge", "partial correlation"]]
        index = self.graph_.index
        for a, b in self.graph_.edges:
            rows.append([f"{a} - {b}", f"{self.partial_correlations_[index[a], index[b]]:.4g}"])
        ended = "converged" if self.converged_ else "not converged"
        told = f"log-likelihood {self.free_energy_:.6f} after {plural(self.n_sweeps_, 'sweep')}"
        return Summary(f"{self!r}\n{told}, {ended}\n\n{grid(rows, left=1, rule=True)}")

    @property
    def holds(self) -> str:
        """What a file of this network holds, in words."""
        return UndirectedGaussian.holds

    def save(self, path: str | Path) -> None:
        """Write the network to a JSON file; `jn.load` reads it back."""
        from jensen.io import save

        save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data, as `save` writes it in JSON."""
        self.require_any()
        return {
            "format": FORMAT,
            "choices": plain_choices(STORED, self.get_params(), usual_choices(self)),
            "learned": plain_learned(self),
            "names": list(self.graph_.nodes),
            "edges": [list(edge) for edge in self.graph_.edges],
            "mean": plain_array(self.mean_),
            "covariance": plain_array(self.covariance_),
        }

    @classmethod
    def from_dict(cls, value: Any) -> GaussianMarkovNetwork:
        """What `to_dict` gave: plain data, also by way of JSON."""
        members = as_checked(value).fields(
            {"format", "choices", "learned", "names", "edges", "mean", "covariance"}
        )
        names = members["names"].texts()
        if not names or names != sorted(set(names)):
            members["names"].fail("must be different names, in their order")
        net = cls(UndirectedGraph(_read_edges(members["edges"], names), names),
                  **read_choices(STORED, members["choices"]))  # fmt: skip
        net.graph_ = net.graph
        mean = read_array(members["mean"], (len(names),))
        covariance = read_array(members["covariance"], (len(names), len(names)))
        if not np.allclose(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] <= 0.0:
            members["covariance"].fail("must be symmetric, and positive in every direction")
        net.network_ = as_regressions(tuple(names), mean, covariance)
        read_learned(net, members["learned"], net.network_)
        net._show(mean, covariance)
        return net

    def __repr__(self) -> str:
        if not hasattr(self, "network_"):
            return "GaussianMarkovNetwork(not fitted)"
        size = f"{plural(len(self.graph_), 'node')}, {plural(len(self.graph_.edges), 'edge')}"
        return f"GaussianMarkovNetwork({size})"


def _read_edges(value: Checked, names: list[str]) -> list[tuple[str, str]]:
    edges = []
    for item in value.items():
        pair = item.texts()
        if len(pair) != 2 or not set(pair) <= set(names):
            item.fail("must be two of the names")
        edges.append((pair[0], pair[1]))
    return edges
