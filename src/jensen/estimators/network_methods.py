"""What a `BayesianNetwork` does besides `fit`: made by hand, pictures, files, other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from jensen.data.blocks import Units
from jensen.estimators.learning import Problem
from jensen.estimators.questions import Questions
from jensen.exceptions import JensenError
from jensen.free_energy import EM
from jensen.graphs import DAG, PDAG, as_dag
from jensen.inference import Network
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import network_from_regressions
from jensen.inference.handmade import (
    network_from_parameters,
    network_from_tables,
    replace_table,
    written_parents,
)
from jensen.models.protocol import AnyModel

if TYPE_CHECKING:
    from jensen.evidence.variational import BoundGap
    from jensen.inference.parameter_errors import StandardErrors
    from jensen.plots.cards import Beliefs


class NetworkMethods(Questions):
    """Constructors, questions, pictures and files; mixed into an estimator."""

    graph: DAG
    network_: FittedNetwork
    _graph: DAG | PDAG | None
    fixed: Iterable[str]
    method: str | None
    prior: Any
    _rows_of_fit: tuple[AnyModel, Units] | None = None  # in memory only
    _saw_all = False  # whether the rows of the last fit missed nothing
    _seen: Any = None  # what updates keep of all rows so far
    n_updates_ = 1  # tables that were learned from; 1 of a network from a file
    update_: str

    def require_network(self) -> Network:
        """The frozen network of tables, or an error if there is none."""
        raise NotImplementedError

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The choices by name."""
        raise NotImplementedError

    @classmethod
    def from_network(cls, network: FittedNetwork) -> Self:
        """An estimator that holds a known network."""
        raise NotImplementedError

    def bound_gap(
        self, table: Any, n_samples: int = 2000, *, random_state: Any = None, **fit: Any
    ) -> BoundGap:
        """How far F lies below the log evidence, by importance sampling from q(θ).

        Pareto's k̂ says whether the weights can be believed; modes that q does not reach, such as
        other labels of hidden states, are not seen.

        Parameters
        ----------
        table
            The rows of `fit`.
        n_samples
            Draws from q(θ).
        random_state
            An int, `SeedSequence`, `Generator` or None: that of the model.
        **fit
            What `fit` takes besides.
        """
        from jensen.evidence.variational import bound_gap

        return bound_gap(self, table, n_samples, random_state, **fit)

    def without_unseen(self) -> NetworkMethods:
        """The same without hidden variables of which none is an ancestor of a seen one.

        Whatever they are, they integrate to one. Choices that name one of them keep it.
        """
        given, graph = self.get_params(deep=False), self._graph
        hidden = given["hidden"]
        if not (isinstance(hidden, Mapping) and isinstance(graph, DAG)):
            return self
        seen = [x for x in graph.nodes if x not in hidden]
        unseen = {*graph.nodes}.difference(seen, *map(graph.ancestors, seen))
        names_some = isinstance(self.prior, Mapping) or given["start"] is not None
        if not unseen or not seen or names_some or given["blocks"]:
            return self
        kept = {x: states for x, states in hidden.items() if x not in unseen}
        smaller = graph.subgraph([x for x in graph.nodes if x not in unseen])
        return type(self)(**{**given, "graph": smaller, "hidden": kept})

    # --- made by hand ---

    @classmethod
    def from_tables(
        cls,
        graph: Any,
        tables: Mapping[str, Any],
        states: Mapping[str, Sequence[object]] | None = None,
        *,
        parents: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Build a network by hand.

        Parameters
        ----------
        graph
            As in the class.
        tables
            For every variable an array with an axis per parent, then its own; or a dict from the
            parents' labels (a tuple, or one label) to the probabilities of its states. A row is a
            list, or a dict from state to probability. Or a `CPT`, which names its parents.
        states
            Labels of the states. For variables that are not named here the labels of the first
            dict, or "0", "1", ...
        parents
            Variable → its parents, in the order of the axes of its array or of the labels of its
            rows. Where nothing is said parents stand in the order of their names, as in
            `graph.parents(name)`; if the graph is written in another order that fits the table as
            well, a `DataWarning` says so. A `DAG` does not keep the order in which it was written:
            there any other order that fits is told.

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
        >>> wet = [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]]       # [sun, rain, wet]
        >>> net = jn.BayesianNetwork.from_tables(
        ...     "sun -> wet <- rain",
        ...     {"sun": [0.5, 0.5], "rain": [0.8, 0.2], "wet": wet},
        ...     parents={"wet": ["sun", "rain"]},
        ... )
        >>> net.cpt("wet")
        P(wet | rain, sun)
        rain  sun    0    1
        -------------------
        0     0    0.9  0.1
        0     1    0.3  0.7
        1     0    0.2  0.8
        1     1    0.1  0.9
        """
        dag = as_dag(graph)
        network = network_from_tables(dag, tables, states or {}, parents, written_parents(graph))
        return cls.from_network(network)

    @classmethod
    def from_regressions(cls, graph: Any, regressions: Mapping[str, Any]) -> Self:
        """Build a Gaussian network by hand.

        Parameters
        ----------
        graph
            As in the class.
        regressions
            For every variable its intercept (0), its coefficients by parent, and the variance (1)
            of its noise, as a dict; or what `regression` gives.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.BayesianNetwork.from_regressions(
        ...     "x -> y", {"x": {"variance": 4.0}, "y": {"coefficients": {"x": 0.5}}}
        ... )
        >>> net.query("y").variance
        2.0
        """
        return cls.from_network(network_from_regressions(as_dag(graph), regressions))

    @classmethod
    def from_parameters(
        cls,
        graph: Any,
        tables: Mapping[str, Any],
        regressions: Mapping[str, Any],
        states: Mapping[str, Sequence[object]] | None = None,
        *,
        parents: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Build a network of labels and numbers by hand.

        Parameters
        ----------
        graph
            As in the class; labels have no numbers as parents.
        tables
            For every label its table, as in `from_tables`.
        regressions
            For every number its regression on its parents that are numbers, as in
            `from_regressions`; if some of its parents are labels, a dict from their labels (one
            label, or a tuple in the order of the parents' names) to such regressions. A count,
            whose parents are labels, has ``{"rate": 2.5}`` in place of each.
        states, parents
            Of the labels, as in `from_tables`.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.BayesianNetwork.from_parameters(
        ...     "sex -> height; height -> weight",
        ...     tables={"sex": {"f": 0.5, "m": 0.5}},
        ...     regressions={
        ...         "height": {
        ...             "f": {"intercept": 165.0, "variance": 36.0},
        ...             "m": {"intercept": 178.0, "variance": 49.0},
        ...         },
        ...         "weight": {
        ...             "intercept": -90.0, "coefficients": {"height": 0.95}, "variance": 80.0
        ...         },
        ...     },
        ... )
        >>> round(net.query("sex", given={"weight": 60.0})["f"], 4)
        0.7884
        """
        dag = as_dag(graph)
        own = network_from_parameters(
            dag, tables, regressions, states or {}, parents, written_parents(graph)
        )
        return cls.from_network(own)

    def with_cpt(self, name: str, table: Any, *, parents: Sequence[str] | None = None) -> Self:
        """A copy in which P(name | parents) is another table, given as in `from_tables`.

        `parents` lists its parents in the order of the table; by default they stand by name. The
        copy has point probabilities: a posterior or samples are not kept.
        """
        network = replace_table(self.require_network(), name, table, parents)
        return type(self).from_network(network)

    # --- how sure the parameters are ---

    def standard_errors(self, table: Any = None, *, interventions: Any = None) -> StandardErrors:
        """Standard errors of all parameters after "em", of rows with values missing anywhere.

        They are the square roots of the diagonal of the inverse observed information, by Louis'
        identity, in which missing cells cost what they cost. Under a prior the information is
        that of the posterior's mode. Probabilities of 0 and 1, configurations that no row shows,
        and directions in which the likelihood is flat have none, and say why.

        Parameters
        ----------
        table
            The rows of `fit`. None: those of the last `fit`, which the network holds encoded, in
            memory only, as long as it lives; a copy or a file does not.
        interventions
            As in `fit`, beside a table.

        References
        ----------
        Louis (1982), *Finding the observed information matrix when using the EM algorithm*,
        equation 3.2.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"rain": list("nnnnyyy--"), "wet": list("nnyn-yny-")}
        >>> net = jn.BayesianNetwork("rain -> wet").fit(jn.Table(rows, missing=["-"]))
        >>> net.standard_errors()
        P(rain) ± standard error
                    n              y
        ----------------------------
        0.5478 ± 0.19  0.4522 ± 0.19
        <BLANKLINE>
        P(wet | rain) ± standard error
        rain              n              y
        ----------------------------------
        n     0.6846 ± 0.24  0.3154 ± 0.24
        y      0.382 ± 0.31   0.618 ± 0.31
        """
        from jensen.evidence.standard_errors import check_maximum, standard_errors

        network = self.require_any()
        check_maximum(network, self.method, self.prior)
        held = self._rows_of_fit
        if table is not None:
            again: Any = copy(self)
            start = network if list(self.fixed) else None  # which no file keeps
            again.set_params(graph=self.graph, start=start, n_init=1)
            problem = again.problem(table, interventions=interventions)
            held = problem.model, problem.data.units
        if held is None:
            raise JensenError(
                "this network does not hold the rows of its fit, which files and copies do not "
                "keep: give them, as in standard_errors(table)"
            )
        return standard_errors(network, *held)

    def hold_rows(self, problem: Problem | None) -> None:
        """Hold what EM learned from, for standard errors; other methods have none."""
        is_em = problem is not None and problem.choices.algorithm.name == EM.name
        self._rows_of_fit = (problem.model, problem.data.units) if problem and is_em else None
        self._saw_all = problem is not None and problem.data.units.is_complete
        self._seen, self.n_updates_ = None, 1

    # --- pictures, files, other libraries ---

    def to_svg(
        self,
        *,
        beliefs: bool | Mapping[str, Beliefs] | None = None,
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        highlight: Iterable[str] = (),
    ) -> str:
        """A picture of the graph as SVG text.

        Parameters
        ----------
        beliefs
            Variable → (state → probability), drawn as bars inside the nodes. True: the marginals
            of all variables; those that are known are certain.
        given, do
            What the marginals are given, as in `query`; these nodes are marked.
        highlight
            Names of nodes to emphasise.
        """
        from jensen.plots.svg import graph_svg

        if (given or do) and beliefs is not True:
            raise JensenError("given and do are what the marginals are given: add beliefs=True")
        if isinstance(beliefs, bool):
            beliefs = self.require_any().beliefs(given, do) if beliefs else None
        if hasattr(self, "network_"):
            for name, belief in (beliefs or {}).items():
                self.network_.check_belief(name, belief)
        told = (given or {}).items()
        is_soft = {x: isinstance(value, Mapping) or np.ndim(value) > 0 for x, value in told}
        known = {x: "given, softly" if soft else "given" for x, soft in is_soft.items()}
        known |= dict.fromkeys(do or {}, "set")
        return graph_svg(self.graph, beliefs=beliefs, highlight=highlight, known=known)

    def to_arviz(self) -> Any:
        """The samples after "gibbs" as ArviZ's InferenceData, if ArviZ is installed."""
        from jensen.io.peers import to_arviz

        return to_arviz(self)

    def to_pgmpy(self) -> Any:
        """The same network as a pgmpy `DiscreteBayesianNetwork`, if pgmpy is installed."""
        from jensen.io.peers import to_pgmpy

        return to_pgmpy(self.require_network())

    def to_pyagrum(self) -> Any:
        """The same network as a pyAgrum `BayesNet`, if pyAgrum is installed."""
        from jensen.io.peers import to_pyagrum

        return to_pyagrum(self.require_network())

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

    @property
    def holds(self) -> str:
        """What a file of this network holds, in words."""
        return self.network_.holds if hasattr(self, "network_") else "BayesianNetwork"

    def _repr_html_(self) -> str | None:
        if hasattr(self, "network_"):
            return self.network_.html() or self.graph._repr_svg_()
        return self.graph._repr_svg_() if self._graph is not None else None
