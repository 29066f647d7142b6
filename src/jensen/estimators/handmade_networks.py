"""Bayesian networks made by hand, from tables and regressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from jensen.estimators.network_methods import NetworkMethods
from jensen.graphs import as_dag
from jensen.inference.gaussian_network import network_from_regressions
from jensen.inference.handmade import (
    network_from_parameters,
    network_from_tables,
    replace_table,
    written_parents,
)


class HandmadeNetworks(NetworkMethods):
    """Constructors from parameters; mixed into an estimator."""

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
            label, or a tuple in the order of the parents' names) to such regressions.
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
