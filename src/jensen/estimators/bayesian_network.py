"""Discrete Bayesian networks: learn the tables of a given graph, and use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable, as_table
from jensen.data.counting import COMPLETE_ROWS, require_complete
from jensen.estimators.base import Estimator
from jensen.estimators.learning import choose_algorithm, learn_tables
from jensen.exceptions import DataError, JensenError, NotFittedError
from jensen.graphs import DAG, as_dag
from jensen.inference import CPT, Network, TablePosterior, forward
from jensen.inference.handmade import network_from_tables
from jensen.models.priors import check_prior
from jensen.randomness import as_generator
from jensen.text import plural


class BayesianNetwork(Estimator):
    """A Bayesian network over categorical variables.

    Parameters
    ----------
    graph
        A `DAG`, its text (``"A -> B <- C"``), a list of edges, or a `CPDAG`, which is extended.
    prior
        None (flat), the Dirichlet concentration of every cell (1.0 is Laplace's rule), "bdeu",
        "bds", "k2", or a dict variable → concentrations (a number, or an array shaped as its CPT).
    equivalent_sample_size
        Of "bdeu" and "bds".
    method
        "em" (frequencies, or the mode under a prior) or "vbem" (Dirichlet posteriors, predictive
        probabilities). None: "em" without a prior, "vbem" with one.

    Attributes
    ----------
    free_energy_ : float
        "em": the log-likelihood plus the log prior density; "vbem": the log evidence.
    is_bound_ : bool
        Whether `free_energy_` bounds the log evidence ("vbem").
    trace_, n_sweeps_, converged_
        F at the start and after every sweep; complete data need no sweep.
    network_ : Network
        The frozen result: graph, variables, tables.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
    >>> net = jn.BayesianNetwork("rain -> wet", prior="bdeu").fit(table)
    >>> net.cpt("wet")["yes"]
    {'no': 0.16666666666666666, 'yes': 0.8333333333333334}
    """

    network_: Network
    free_energy_: float
    is_bound_: bool
    trace_: NDArray[np.float64]
    n_sweeps_: int
    converged_: bool

    def __init__(
        self,
        graph: Any,
        *,
        prior: Any = None,
        equivalent_sample_size: float = 1.0,
        method: str | None = None,
    ) -> None:
        self.graph = graph
        self.prior = prior
        self.equivalent_sample_size = equivalent_sample_size
        self.method = method

    @property
    def graph(self) -> DAG:
        """The graph; whatever names one may be assigned."""
        return self._graph

    @graph.setter
    def graph(self, graph: Any) -> None:
        self._graph = as_dag(graph)

    # --- learning and building ---

    def fit(self, table: Any, y: None = None) -> Self:
        """Learn the tables from anything a `Table` can be built from; extra columns are ignored.

        `y` is nothing: scikit-learn's pipelines pass it.
        """
        check_prior(self.prior, self.equivalent_sample_size)
        algorithm = choose_algorithm(self.method, self.prior)
        network, state = learn_tables(
            self.graph, as_table(table), self.prior, self.equivalent_sample_size, algorithm
        )
        self.network_ = network
        self.free_energy_ = state.free_energy
        self.is_bound_ = algorithm.q_theta.is_distribution
        self.trace_ = np.array([state.free_energy])
        self.n_sweeps_, self.converged_ = 0, True
        return self

    @classmethod
    def from_tables(
        cls,
        graph: Any,
        tables: Mapping[str, Any],
        states: Mapping[str, Sequence[object]] | None = None,
    ) -> Self:
        """Build a network by hand.

        Parameters
        ----------
        graph
            As in the class.
        tables
            For every variable an array with an axis per parent (in the order of
            `graph.parents(name)`, which is by name), then its own; or a dict from the parents'
            labels (a tuple, or one label) to the probabilities of its states. A row is a list,
            or a dict from state to probability.
        states
            Labels of the states. For variables that are not named here the labels of the first
            dict, or "0", "1", ...

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.BayesianNetwork.from_tables(
        ...     "rain -> wet",
        ...     {"rain": [0.8, 0.2], "wet": {"no": [0.9, 0.1], "yes": [0.05, 0.95]}},
        ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ... )
        >>> net.cpt("wet")["yes"]["yes"]
        0.95
        """
        dag = as_dag(graph)
        return cls.from_network(network_from_tables(dag, tables, states or {}))

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:
        """The network of a pgmpy model whose tables are all set."""
        from jensen.io.peers import from_pgmpy

        return cls.from_network(from_pgmpy(model))

    @classmethod
    def from_pyagrum(cls, bn: Any) -> Self:
        """The network of a pyAgrum `BayesNet`."""
        from jensen.io.peers import from_pyagrum

        return cls.from_network(from_pyagrum(bn))

    @classmethod
    def from_network(cls, network: Network) -> Self:
        """An estimator that holds a known network."""
        net = cls(network.graph)
        net.network_ = network
        return net

    # --- what is known ---

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """Name → labels of the states, in the order of every table."""
        return {v.name: v.states for v in self.require_network().variables}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, by name."""
        return self.require_network().variables

    @property
    def parameters_count(self) -> int:
        """How many free parameters the tables have."""
        return self.require_network().n_parameters

    def cpt(self, name: str) -> CPT:
        """P(name | parents) as a labelled table; after VB the posterior means."""
        return self.require_network().cpt(name)

    def posterior(self, name: str) -> TablePosterior:
        """The Dirichlet posterior of P(name | parents): means, intervals, predictive table."""
        return self.require_network().posterior(name)

    def equals(self, other: BayesianNetwork, tolerance: float = 0.0) -> bool:
        """Same graph, same states, and tables (and posteriors) equal within `tolerance`."""
        return self.require_network().equals(other.require_network(), tolerance)

    # --- using it ---

    def log_likelihood(self, table: Any) -> NDArray[np.float64]:
        """Log p(row) for every row; -inf where a row is impossible or holds an unknown state."""
        rows, unknown = self._read(as_table(table))
        return forward.log_likelihood(self.require_network(), rows, unknown)

    def score(self, table: Any) -> float:
        """Mean log-likelihood per row, by weight; see `jn.score` for the score of a structure."""
        data = as_table(table)
        if data.total_weight == 0:
            raise DataError("the mean over no rows is undefined: the table has no weight")
        each = self.log_likelihood(data)
        weights = np.ones(len(each)) if data.weights is None else data.weights
        return float(np.sum(each[weights > 0] * weights[weights > 0]) / data.total_weight)

    def sample(self, n: int, *, random_state: Any = None, progress: bool = False) -> Table:
        """Draw n rows; the same seed gives the same rows on any number of threads."""
        if not isinstance(n, int | np.integer) or n < 0:
            raise JensenError(f"the number of rows to draw must be 0, 1, 2, ..., not {n!r}")
        return forward.sample(
            self.require_network(), int(n), as_generator(random_state), progress=progress
        )

    def to_svg(
        self,
        *,
        beliefs: Mapping[str, Mapping[str, float]] | None = None,
        highlight: Iterable[str] = (),
    ) -> str:
        """A picture of the graph as SVG text.

        Parameters
        ----------
        beliefs
            Variable → (state → probability), drawn as bars inside the nodes.
        highlight
            Names of nodes to emphasise.
        """
        from jensen.plots.svg import graph_svg

        for name, belief in (beliefs or {}).items():
            if hasattr(self, "network_"):
                self.require_network().check_belief(name, belief)
        return graph_svg(self.graph, beliefs=beliefs, highlight=highlight)

    def to_pgmpy(self) -> Any:
        """The same network as a pgmpy `DiscreteBayesianNetwork`, if pgmpy is installed."""
        from jensen.io.peers import to_pgmpy

        return to_pgmpy(self.require_network())

    def to_pyagrum(self) -> Any:
        """The same network as a pyAgrum `BayesNet`, if pyAgrum is installed."""
        from jensen.io.peers import to_pyagrum

        return to_pyagrum(self.require_network())

    def save(self, path: str | Path) -> None:
        """Write the network to a file; `jn.load` reads it back. The suffix tells the format."""
        from jensen.io import save

        save(self, path)

    # --- inside ---

    def require_network(self) -> Network:
        """The frozen network, or an error if there is none yet."""
        if not hasattr(self, "network_"):
            raise NotFittedError("this network has no tables yet: call fit(table) first")
        return self.network_

    def _read(self, table: Table) -> tuple[Table, NDArray[np.bool_]]:
        """The table with this network's own variables, and the rows with unknown states."""
        network = self.require_network()
        rows, unknown = table.read_as(network.variables)
        require_complete(
            rows.take(~unknown) if unknown.any() else rows,
            network.graph.nodes,
            "the log-likelihood of rows",
            COMPLETE_ROWS,
        )
        return rows, unknown

    def _repr_html_(self) -> str | None:
        from jensen.plots.html import network_html

        return network_html(self) if hasattr(self, "network_") else self.graph._repr_svg_()

    def __repr__(self) -> str:
        graph = self.network_.graph if hasattr(self, "network_") else self.graph
        size = f"{plural(len(graph), 'node')}, {plural(len(graph.edges), 'edge')}"
        if not hasattr(self, "network_"):
            return f"BayesianNetwork({size}; not fitted)"
        return f"BayesianNetwork({size}, {plural(self.parameters_count, 'free parameter')})"
