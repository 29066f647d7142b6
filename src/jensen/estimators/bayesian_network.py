"""Bayesian networks: learn the tables and the regressions of a given graph, and use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable
from jensen.estimators.learning import Problem
from jensen.estimators.network_choices import Estimator
from jensen.estimators.network_kinds import (
    fit_network,
    network_problem,
    plain_network,
    read_network,
)
from jensen.estimators.network_methods import NetworkMethods
from jensen.estimators.reports import Summary, summarise
from jensen.estimators.updating import Updating
from jensen.exceptions import JensenError, NotFittedError
from jensen.graphs import DAG, PDAG, as_dag
from jensen.inference import CPT, Network, TablePosterior
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.regression import AnyPosterior, AnyRegression
from jensen.support.arguments import AnswersToPeers, answers_to
from jensen.support.json_values import as_checked
from jensen.support.text import plural

if TYPE_CHECKING:
    pass


class BayesianNetwork(AnswersToPeers, Updating, NetworkMethods, Estimator):
    """A Bayesian network over labels (categorical variables, some hidden), numbers, or both.

    Where all columns are continuous every node is a linear regression on its parents, with
    Gaussian noise. Where some are labels and some numbers (whole numbers with many values are
    numbers too) the network is conditional linear Gaussian: a label has labels for parents and a
    table; a number has, for every configuration of its label parents, a regression on its number
    parents. A label with a number above it is refused. So a mixture of Gaussians is the graph
    ``"H -> x; H -> y"`` with H hidden. Columns that the table declares as counts (``counts=``)
    have a Poisson rate for every configuration of their parents, which are labels, and no children.

    A column of numbers that is constant has no density: `fit` leaves it out of the network, warns
    of all such columns once, and keeps their values in `network_.constants`. Likelihoods, queries
    and samples are then of the other columns. An edge there is refused. Under a prior with a
    `scale` of its own the column stays.

    Parameters
    ----------
    graph
        A `DAG`, its text (``"A -> B <- C"``), a list of edges, or a `CPDAG` or `PDAG`, which is
        extended (between a label and a number from the label to the number).
        None: `fit` learns the graph of all columns by `jensen.learn_structure`, values missing or
        not, and then its parameters. The score is that of the prior ("bdeu" with its
        `equivalent_sample_size`, "bds", "k2", "bge"), and "bic" for a flat one and any other.
    hidden
        Nodes without a column: name → number of states, or their labels. A column without any
        value is the same.
    method
        "em" (maximum likelihood, or the mode under a prior), "vbem" (Dirichlet posteriors, a bound
        of the log evidence), "viterbi" and "me" (the same with the most probable completion),
        "stochastic-em" and "gibbs" (with drawn ones). None: "em" without a prior, else "vbem".
        The most probable completion is one of labels; missing numbers are integrated out, because
        a density has no unit in which completions could be compared. So where all columns are
        numbers "viterbi" is "em", and "me" is "vbem". For labels too large for exact sums also
        "variational-em" and "mean-field": as "em" and "vbem", with a q(h) that is a product over
        variables or `blocks`, so that F is a lower bound of what they have; and "loopy-em" and
        "loopy", with beliefs of loopy propagation: closer as a rule, but `free_energy_` is then an
        estimate that need not rise, and `is_bound_` is False.
    prior
        None (flat; "bdeu" for "vbem", "me" and "gibbs", which cannot do without a proper prior),
        the Dirichlet concentration of every cell (1.0 is Laplace's rule), "bdeu",
        "bds", "k2", or a dict variable → concentrations (a number, or an array shaped as its CPT).
        Of continuous columns None (flat; "bge" for "vbem"), "bge", or a dict with some of its
        parts: prior_mean, mean_strength, degrees_of_freedom, scale, as in `jn.score`. Its default
        mean and scale are empirical: those of the known values of each column, made once, held
        through all sweeps, and kept in `network_.prior`. Of labels and numbers together None (flat;
        "bdeu-bge" for methods that need a prior), "bdeu-bge", which is "bdeu" of the tables and, in
        every configuration of labels, the default "bge" of the numbers, its mean and scale weakened
        to the strength of 0.001, 0.01, 0.1 and 1 that has the highest evidence, or a dict with some
        of strength (1 is that of the score "bdeu-bge", which pulls rare configurations to the mean
        and variance of all rows, but widens the noise of a number by up to half its variance over
        the number of rows) and concentration (of every cell of the tables, in place of "bdeu").
        The rates of declared counts have gamma priors worth one event, at the mean of the column.
        With a strength of 1 and complete rows `free_energy_` is the score of the graph.
    equivalent_sample_size
        Of "bdeu" and "bds".
    mode
        Of "em", "viterbi" and "stochastic-em" under a prior: in which coordinates of the tables
        the density has the mode that is sought. "probabilities": of θ itself, at counts + α - 1,
        which needs concentrations α of at least 1. "softmax": of the logarithms of odds, at
        counts + α, where every prior has a mode, "bdeu" too; then F is
        log p(x | θ) + log Π θ^α / B(α). Regressions keep the mode of their own prior.
    start
        A network, a fitted estimator, a dict as in `from_tables`, or `jensen.inference.expected`
        statistics of any graph. Else random tables that break the symmetry of hidden states.
    fixed
        Labels whose tables are known and stay as `start` gives them; a dict of `start` may then
        hold these tables alone, and the others begin as without `start`. They have no prior, and
        their posterior is a point (shown as a Dirichlet worth 10¹⁰ rows).
    blocks
        Of "variational-em" and "mean-field": lists of variables that go together where several of
        them are missing; all others stand alone.
    n_init
        How many random starts; the one with the highest F is kept. With 1, the tables of a graph
        of labels that was learned from incomplete rows begin where structural EM ended.
    max_iter, tol
        Sweeps end when F rises by less than ``tol * (|F| + total weight)``, or at `max_iter`.
    accelerate
        Whether sweeps of an ascent may begin at a better place, which past sweeps tell. F never
        falls; a proposal that would lower it costs a sweep. Slow ascents take a tenth of the
        sweeps, and may end at another maximum.
    n_samples, burn_in, thin, n_chains
        Of "gibbs" and "stochastic-em": every `thin`-th of the sweeps after `burn_in` is kept.
    random_state
        An int, `SeedSequence`, `Generator` or None; the result never depends on threads.
    progress
        Whether to show a progress bar.

    Attributes
    ----------
    graph_ : DAG
        The graph, given or learned; `graph` is the same. How it was learned is in its `info`.
    network_ : Network, GaussianNetwork or MixedNetwork
        The frozen result: graph, variables, tables or regressions. States of hidden variables are
        in the order of falling expected counts, unless the prior or the start gave them a meaning.
    free_energy_ : float
        "em", "viterbi": the log-likelihood (of the completed data) plus the log prior density;
        "vbem", "me": a bound of the log evidence. NaN after "gibbs". Of continuous columns it is
        a bound of log p(x | graph, ν, T), the prior mean ν and scale T being those of
        `network_.prior`: where these are made of the data, bounds of two tables do not add.
    is_bound_ : bool
        Whether `free_energy_` bounds the log evidence.
    trace_ : array
        F at the start and after every sweep; of chains log p(x, h, θ), (chains, samples).
    n_sweeps_, converged_
        How many sweeps the best start took, and whether it converged; False after an interrupt, and
        for chains.
    starts_ : array
        F at the end of every start.
    r_hat_, effective_sample_size_ : float
        How well chains have mixed, by their log joint.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"rain": ["no", "no", "yes", None], "wet": ["no", "yes", "yes", "yes"]})
    >>> net = jn.BayesianNetwork("rain -> wet", prior="bdeu", random_state=0).fit(table)
    >>> net.query("rain", given={"wet": "yes"})
    P(rain | wet=yes)
    rain  probability
    -----------------
    no            0.5
    yes           0.5
    """

    graph_: DAG
    network_: FittedNetwork
    free_energy_: float
    is_bound_: bool
    trace_: NDArray[np.float64]
    n_sweeps_: int
    converged_: bool
    starts_: NDArray[np.float64]
    r_hat_: float
    effective_sample_size_: float

    _peer_words: ClassVar[Mapping[str, str]] = {
        "get_cpds": "cpt(name)",
        "get_parents": "graph.parents(name)",
        "get_children": "graph.children(name)",
        "edges": "graph.edges",
        "nodes": "graph.nodes",
        "map_query": "most_probable(given=...)",
        "predict_probability": "predict_proba(table, name)",
        "simulate": "sample(n)",
        "fit_update": "update",
        "check_model": "not needed: tables are checked when they are given",
        "is_dconnected": "graph.d_separated",
    }

    @answers_to(
        ebunch="graph",
        latents="hidden",
        estimator="method",
        prior_type="prior",
        pseudo_counts="prior",
        state_names="the table's: jn.Table(..., states=...)",
    )
    def __init__(
        self,
        graph: Any = None,
        *,
        hidden: Mapping[str, int | Sequence[object]] | None = None,
        method: str | None = None,
        prior: Any = None,
        equivalent_sample_size: float = 1.0,
        mode: str = "probabilities",
        start: Any = None,
        fixed: Iterable[str] = (),
        blocks: Iterable[Sequence[str]] = (),
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        accelerate: bool = False,
        n_samples: int = 1000,
        burn_in: int = 1000,
        thin: int = 1,
        n_chains: int = 4,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.graph = graph
        self.hidden = hidden
        self.method = method
        self.prior = prior
        self.equivalent_sample_size = equivalent_sample_size
        self.mode = mode
        self.start = start
        self.fixed = fixed
        self.blocks = blocks
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.random_state = random_state
        self.progress = progress

    @property
    def graph(self) -> DAG:
        """The graph that was given, or else learned; whatever names one may be assigned."""
        if isinstance(self._graph, DAG):
            return self._graph
        found: DAG | None = getattr(self, "graph_", None)
        if found is not None:
            return found
        if self._graph is None:
            raise NotFittedError("this network has no graph yet: fit(table) learns one")
        return self._graph.extension()

    @graph.setter
    def graph(self, graph: Any) -> None:
        dag = None if graph is None else as_dag(graph)  # what has no extension is refused
        self._graph: DAG | PDAG | None = graph if isinstance(graph, PDAG) else dag
        if isinstance(graph, PDAG):
            self.__dict__.pop("graph_", None)  # `fit` says which extension it is

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The choices by name; a graph that was learned is none of them."""
        chosen = {name: getattr(self, name) for name in self._choices() if name != "graph"}
        return {"graph": self._graph, **chosen}

    # --- learning ---

    def fit(
        self,
        table: Any,
        y: None = None,
        *,
        interventions: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from anything a `Table` can be built from; columns beside the graph are ignored.

        Parameters
        ----------
        table
            Values may be missing anywhere.
        y
            Nothing: scikit-learn's pipelines pass it.
        interventions
            A column (then no variable), or one entry per row: the name of the variable that was
            set from outside in that row, or nothing. The row then says nothing of how that
            variable depends on its parents, and everything of the others.
        checkpoint
            A file that holds the state of the run. If the run is killed, the same call goes on
            from there to the identical result. After the first Ctrl-C the best so far is kept.
            It holds the parameters; a graph is learned again (the same `random_state`, the same).
        """
        fit_network(self, table, interventions, checkpoint)
        return self

    def problem(self, table: Any, *, interventions: Any = None) -> Problem:
        """What `fit` learns: the model with its prior, the encoded rows, the choices."""
        return network_problem(self, table, interventions)

    @classmethod
    def from_network(cls, network: FittedNetwork) -> Self:
        """An estimator that holds a known network."""
        net = cls(network.graph)
        net.network_ = network
        return net

    # --- what is known ---

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """Name → labels of the states, in the order of every table."""
        return {v.name: v.states for v in self.require_any().variables}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, by name."""
        return self.require_any().variables

    @property
    def parameters_count(self) -> int:
        """How many free parameters the tables, or the regressions, have."""
        return self.require_any().n_parameters

    def summary(self) -> Summary:
        """What was learned and how, and every variable with its parents; prints as text."""
        return summarise(self)

    def cpt(self, name: str) -> CPT:
        """P(name | parents) as a labelled table; after VB the posterior means."""
        return self.require_any().cpt(name)

    def regression(self, name: str) -> AnyRegression:
        """The regression of a number on its parents; after VB posterior means.

        If labels are among its parents, a `ConditionalRegression`: one for each configuration. Of
        a declared count its Poisson rates, `CountRates`.
        """
        return self.require_any().regression(name)

    def posterior(self, name: str) -> TablePosterior | AnyPosterior:
        """The posterior of P(name | parents), of a table or of a regression: means, intervals."""
        return self.require_any().posterior(name)

    def table_samples(self, name: str) -> NDArray[np.float64]:
        """Samples of P(name | parents) after "gibbs", (samples, parents..., states)."""
        return self.require_any().table_samples(name)

    def equals(self, other: BayesianNetwork, tolerance: float = 0.0) -> bool:
        """Same graph, same states, and tables (and posteriors) equal within `tolerance`."""
        return self.require_any().equals(other.require_any(), tolerance)

    def to_dict(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data, as `save` writes it in JSON."""
        return plain_network(self)

    @classmethod
    def from_dict(cls, value: Any) -> BayesianNetwork:
        """What `to_dict` gave: plain data, also by way of JSON."""
        return read_network(cls, as_checked(value))

    # --- inside ---

    @property
    def gaussian(self) -> GaussianNetwork | None:
        """The frozen network of regressions, if the variables are continuous."""
        network = getattr(self, "network_", None)
        return network if isinstance(network, GaussianNetwork) else None

    def require_any(self) -> FittedNetwork:
        """The frozen network, of whatever kind, or an error if there is none yet."""
        if not hasattr(self, "network_"):
            raise NotFittedError("this network has no tables yet: call fit(table) first")
        return self.network_

    def require_network(self) -> Network:
        """The frozen network of tables, or an error if there is none."""
        return self.require_any().require_tables()

    def require_gaussian(self) -> GaussianNetwork:
        """The frozen network of regressions, or an error if there is none."""
        network = self.require_any()
        if not isinstance(network, GaussianNetwork):
            raise JensenError(network.lacks)
        return network

    def __repr__(self) -> str:
        is_fitted = hasattr(self, "network_")
        if not is_fitted and self._graph is None:
            return "BayesianNetwork(graph to be learned; not fitted)"
        graph = self.network_.graph if is_fitted else self.graph
        size = f"{plural(len(graph), 'node')}, {plural(len(graph.edges), 'edge')}"
        if not is_fitted:
            return f"BayesianNetwork({size}; not fitted)"
        return f"BayesianNetwork({size}, {plural(self.parameters_count, 'free parameter')})"
