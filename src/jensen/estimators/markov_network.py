"""Markov networks: learn the potentials of an undirected graph, and use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable, as_rows
from jensen.estimators.learning import Problem, learn
from jensen.estimators.markov_chains import learn_by_chains
from jensen.estimators.markov_problem import CHAINS, MarkovSettings, markov_problem
from jensen.estimators.markov_tables import MadeByHand
from jensen.estimators.network_choices import Estimator
from jensen.estimators.questions import Questions
from jensen.estimators.reports import Summary
from jensen.exceptions import JensenError, NotFittedError
from jensen.graphs import UndirectedGraph
from jensen.inference.effect_tables import EffectTable, effect_table
from jensen.inference.undirected_network import Factor, UndirectedNetwork
from jensen.models.log_linear_network import LogLinearNetwork
from jensen.support.arguments import AnswersToPeers, answers_to
from jensen.support.json_values import as_checked
from jensen.support.text import option, plural

Array = NDArray[np.float64]


class MarkovNetwork(AnswersToPeers, MadeByHand, Questions, Estimator):
    """A Markov network (Markov random field, log-linear model) over labels, some of them hidden.

    p(x | θ) = exp(Σ log potentials) / Z(θ). Learning compares what the rows show of each table with
    what the network expects: the gradient is data marginal minus model marginal, whatever the rows
    miss, and one pass over a cluster tree of all variables gives Z and the model's marginals.

    Parameters
    ----------
    graph
        An `UndirectedGraph`, its text (``"A - B - C"``), a networkx graph, a list of cliques (lists
        of names; pairs are edges), or a `DAG`, whose moral graph is taken. None: every pair of
        columns is joined.
    interactions
        "pairwise": an effect of every variable and of every edge. "cliques": also those of larger
        sets within a clique; the cliques are those of the list, or the maximal ones of the graph.
    method
        "ml": maximum likelihood, or the mode under a prior; F is the log-likelihood, and never
        falls. It needs a cluster tree of all variables that fits in memory. Where none does, of
        complete rows "pseudo", the pseudo-likelihood Σ log p(x_v | the rest), a concave objective
        whose maximum is another consistent estimate and no bound of anything; or chains of states
        in place of the model's marginals, which ascend nothing: "pcd", persistent chains (rows may
        have gaps, as far as trees of what a row misses fit in memory), and "cd", contrastive
        divergence, chains of `n_steps` sweeps from rows, which is biased.
    prior
        None (flat), or a penalty of the interactions, not of single variables: ``{"ridge": λ}`` is
        a Gaussian prior, -λ/2 Σ J², and ``{"l1": λ}`` a Laplace prior, -λ Σ |J|, under which some
        interactions are exactly 0. J² is the mean square of the interaction's table: of two bits
        it is the coefficient of s s' with the code s = -1 (first state) and +1, and not that of the
        code 0/1. F has the constants of the prior's density.
    hidden
        Nodes without a column: name → number of states, or their labels. A column without any
        value is the same.
    start
        A `MarkovNetwork` with the same graph and states, where the ascent begins.
    n_init
        How many starts, where something is hidden or missing: the likelihood is not concave there.
        Of complete rows it is, and one start is enough.
    max_iter, tol
        Sweeps end when F rises by less than ``tol * (|F| + total weight)``, or at `max_iter`. Of
        "cd" and "pcd" `max_iter` is the number of updates.
    n_chains, n_steps
        Of "cd" and "pcd": how many chains run side by side, and how many sweeps they make between
        updates (the k of CD-k).
    inference
        Of "ml", where no cluster tree of all variables fits, for complete rows and pairwise
        interactions: what stands for log Z. "trw", a tree-reweighted upper bound: F is then a lower
        bound of the log-likelihood (plus the log prior), and concave. "loopy", the Bethe value: F
        is an estimate. "exact" (default): log Z itself.
    random_state
        An int, `SeedSequence`, `Generator` or None; the result never depends on threads.
    progress
        Whether to show a progress bar.

    Attributes
    ----------
    graph_ : UndirectedGraph
        The graph.
    network_ : UndirectedNetwork
        The frozen result: graph, variables, `factors` (names and log tables), `log_z`.
    free_energy_ : float
        The log-likelihood of what was observed, plus the log density of the prior; nan after all
        methods but "ml", which climb no F.
    pseudo_log_likelihood_ : float
        After "pseudo": its objective, with the log density of the prior; `trace_` and `converged_`
        are those of this climb.
    is_bound_ : bool
        False: there is no distribution of θ.
    trace_, n_sweeps_, converged_, starts_
        As in `BayesianNetwork`.

    Notes
    -----
    An entry of a fitted margin that no row has sends parameters to minus infinity. The network then
    gives such rows probability 0, which is the limit of maximum likelihood, and a warning says so
    with the degrees of freedom that are left; nothing is clipped.

    Variational Bayes has no q(θ) here: the prior that is conjugate to exp(⟨f, θ⟩ - log Z(θ)) has a
    normaliser that nobody can compute, because Z is inside.

    References
    ----------
    Jordan (2003), *An Introduction to Probabilistic Graphical Models*, chapters 9 and 20.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"a": list("nnnyyyny"), "b": list("nnyyyynn"), "c": list("nynyynny")}
    >>> net = jn.MarkovNetwork("a - b - c").fit(rows)
    >>> net.query("a", given={"b": "y"})
    P(a | b=y)
    a  probability
    --------------
    n         0.25
    y         0.75
    >>> net.effects().interactions
    effect  of    log potential
    ---------------------------
    a - b   y, y         0.5493
    b - c   y, y              0
    """

    graph_: UndirectedGraph
    network_: UndirectedNetwork
    free_energy_: float
    pseudo_log_likelihood_: float
    is_bound_: bool
    trace_: Array
    n_sweeps_: int
    converged_: bool
    starts_: Array
    r_hat_: float
    effective_sample_size_: float

    _rows_of_fit: Problem | None = None  # in memory only

    _peer_words: ClassVar[Mapping[str, str]] = {
        "get_factors": "factors",
        "factors_": "factors",
        "add_factors": "from_tables",
        "get_partition_function": "log_z()",
        "map_query": "most_probable(given=...)",
        "nodes": "graph_.nodes",
        "edges": "graph_.edges",
        "markov_blanket": "graph_.neighbours(name)",
        "to_junction_tree": "not needed: questions compile their own trees",
        "check_model": "not needed: tables are checked when they are given",
    }

    @answers_to(ebunch="graph", latents="hidden", cliques="graph", edges="graph", penalty="prior")
    def __init__(
        self,
        graph: Any = None,
        *,
        interactions: str = "pairwise",
        method: str = "ml",
        prior: Mapping[str, float] | None = None,
        hidden: Mapping[str, int | Sequence[object]] | None = None,
        start: Any = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-10,
        n_chains: int = 100,
        n_steps: int = 1,
        inference: str = "exact",
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.graph = graph
        self.interactions = interactions
        self.method = method
        self.prior = prior
        self.hidden = hidden
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_chains = n_chains
        self.n_steps = n_steps
        self.inference = inference
        self.random_state = random_state
        self.progress = progress

    # --- learning ---

    def fit(self, table: Any, y: None = None, *, checkpoint: str | Path | None = None) -> Self:
        """Learn from anything a `Table` can be built from; columns beside the graph are ignored.

        Parameters
        ----------
        table
            Values may be missing anywhere.
        y
            Nothing: scikit-learn's pipelines pass it.
        checkpoint
            A file that holds the state of the run. If the run is killed, the same call goes on
            from there to the identical result. After the first Ctrl-C the best so far is kept.
        """
        problem = self.problem(table)
        if self.method in CHAINS:
            learn_by_chains(self, problem, checkpoint)
            return self
        found, report = learn(problem, checkpoint)
        self.network_, self.graph_ = found, found.graph
        report.set_on(self, problem.choices)
        self._rows_of_fit = problem
        if self.method == "pseudo":  # its own objective, which is no F
            self.pseudo_log_likelihood_, self.free_energy_ = self.free_energy_, np.nan
        return self

    def problem(self, table: Any) -> Problem:
        """What `fit` learns: the model with its prior, the encoded rows, the choices."""
        chosen = self.get_params()
        graph = chosen.pop("graph")
        choices = MarkovSettings(**{**chosen, "hidden": chosen["hidden"] or {}})
        return markov_problem(graph, as_rows(table), choices)

    @classmethod
    def from_network(cls, network: UndirectedNetwork) -> Self:
        """An estimator that holds a known network."""
        net = cls(network.graph)
        net.network_, net.graph_ = network, network.graph
        return net

    # --- what is known ---

    def require_any(self) -> UndirectedNetwork:
        """The frozen network, or an error if there is none yet."""
        if not hasattr(self, "network_"):
            raise NotFittedError("this network has no potentials yet: call fit(table) first")
        return self.network_

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """Name → labels of the states, in the order of every table."""
        return {v.name: v.states for v in self.require_any().variables}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, by name."""
        return self.require_any().variables

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Every potential: the names of its variables, and its logs with an axis for each."""
        return tuple(self.require_any().factors)

    @property
    def parameters_count(self) -> int:
        """How many free parameters the potentials have: degrees of freedom."""
        return self.require_any().n_parameters

    def effects(self) -> EffectTable:
        """The effect of every variable, and of every interaction, by name; prints as a table.

        Log potentials that sum to zero along each axis: of two bits J s s' with the code s = -1 for
        the first state and +1 for the second. Those at infinity are ±inf, or nan where the limit
        leaves them without a value.
        """
        network = self.require_any()
        return effect_table(network, network.effects.project(network.log_potentials))

    def standard_errors(self, table: Any = None) -> EffectTable:
        """The effects with standard errors: roots of the inverse observed information.

        What is missing costs what it costs. Under a prior the information is that of the mode.

        Parameters
        ----------
        table
            The rows of `fit`. None: those of the last `fit`, which the network holds encoded, in
            memory only; a copy or a file does not.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"a": list("nnnyyyny"), "b": list("nnyyyynn")}
        >>> jn.MarkovNetwork("a - b").fit(rows).standard_errors()
        effect  of    log potential  error     z
        ----------------------------------------
        a       y                 0   0.41     0
        b       y                 0   0.41     0
        a - b   y, y         0.5493   0.41  1.35
        """
        from jensen.evidence.coefficient_errors import coefficient_covariance

        network = self.require_any()
        if isinstance(self.prior, Mapping) and "l1" in self.prior:
            raise JensenError(
                "under an l1 prior the mode has a kink where interactions are 0, so there are no "
                "standard errors: learn the graph that is left once more without a prior"
            )
        if self.method != "ml":
            raise JensenError(
                f"standard errors are those of maximum likelihood, {option('method', 'ml')}: the "
                f"information of {self.method!r} is another"
            )
        problem = self._rows_of_fit if table is None else self.problem(table)
        if problem is None:
            raise JensenError(
                "this network does not hold the rows of its fit, which files and copies do not "
                "keep: give them, as in standard_errors(table)"
            )
        model = problem.model
        assert isinstance(model, LogLinearNetwork), "it was made by markov_problem"
        theta = model.effects.project(network.log_potentials)
        finite = np.where(np.isfinite(theta), theta, 0.0)
        covariance = coefficient_covariance(model, problem.data.units, finite)
        return effect_table(network, theta, covariance)

    def summary(self) -> Summary:
        """What was learned and how, and every variable with its neighbours; prints as text."""
        from jensen.estimators.markov_saving import told

        return Summary(f"{self!r}\n{told(self)}\n\n{self.require_any().listing()}")

    def to_svg(
        self,
        *,
        beliefs: bool = False,
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        highlight: Iterable[str] = (),
    ) -> str:
        """A picture of the graph as SVG text.

        Parameters
        ----------
        beliefs
            Whether to draw the marginals of all variables as bars inside the nodes.
        given
            What the marginals are given, as in `query`; these nodes are marked.
        do
            Nothing can be set from outside in a graph without arrows: refused.
        highlight
            Names of nodes to emphasise.
        """
        from jensen.plots.svg import graph_svg

        if (given or do) and not beliefs:
            raise JensenError("given and do are what the marginals are given: add beliefs=True")
        network = self.require_any()
        shown = network.beliefs(given, do) if beliefs else None
        known = dict.fromkeys(given or {}, "given")
        return graph_svg(network.graph, beliefs=shown, highlight=highlight, known=known)

    def _repr_html_(self) -> str | None:
        found: str | None = self.graph_._repr_svg_() if hasattr(self, "graph_") else None
        return found

    @property
    def holds(self) -> str:
        """What a file of this network holds, in words."""
        return UndirectedNetwork.holds

    def equals(self, other: MarkovNetwork, tolerance: float = 0.0) -> bool:
        """Same graph, same states, and log potentials equal within `tolerance`."""
        return self.require_any().equals(other.require_any(), tolerance)

    def to_dict(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data, as `save` writes it in JSON."""
        from jensen.estimators.markov_saving import plain_markov

        return plain_markov(self)

    @classmethod
    def from_dict(cls, value: Any) -> MarkovNetwork:
        """What `to_dict` gave: plain data, also by way of JSON."""
        from jensen.estimators.markov_saving import read_markov

        return read_markov(cls, as_checked(value))

    def __repr__(self) -> str:
        if not hasattr(self, "network_"):
            return "MarkovNetwork(not fitted)"
        graph = self.network_.graph
        size = f"{plural(len(graph), 'node')}, {plural(len(graph.edges), 'edge')}"
        return f"MarkovNetwork({size}, {plural(self.parameters_count, 'free parameter')})"
