"""Markov networks made by hand: from potentials, or of a Bayesian network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable, label_text
from jensen.exceptions import JensenError
from jensen.families.effects import Scope
from jensen.graphs import UndirectedGraph
from jensen.inference.network import Network
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.support.text import offer, some

Array = NDArray[np.float64]
Potential = tuple[tuple[str, ...], Array]


class MadeByHand:
    """Constructors of Markov networks that are known; mixed into an estimator."""

    @classmethod
    def from_network(cls, network: UndirectedNetwork) -> Self:
        """An estimator that holds a known network."""
        raise NotImplementedError

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[Any, Any] | Sequence[tuple[Sequence[str], Any]],
        states: Mapping[str, Sequence[object]] | None = None,
        *,
        logs: bool = False,
    ) -> Self:
        """Build a network by hand from its potentials.

        Parameters
        ----------
        tables
            Names of variables (one name, or a tuple) → a table with an axis for each, of numbers
            that are not negative. Or a list of such pairs.
        states
            Labels of the states; by default "0", "1", ...
        logs
            Whether the tables hold logs; -inf is impossible.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.MarkovNetwork.from_tables({("a", "b"): [[2, 1], [1, 2]], "a": [3, 1]})
        >>> round(net.log_z(), 4), round(net.query("b")["0"], 4)
        (2.4849, 0.5833)
        """
        return cls.from_network(network_from_potentials(tables, states or {}, logs=logs))

    @classmethod
    def from_bayesian_network(cls, net: Any) -> Self:
        """The same distribution without arrows: each conditional table is a potential, and Z = 1.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.MarkovNetwork.from_bayesian_network(jn.examples.load("sprinkler"))
        >>> net.graph_.edges[0], abs(round(net.log_z(), 10))
        (('cloudy', 'rain'), 0.0)
        """
        return cls.from_network(undirected_of(net))


def network_from_potentials(
    tables: Any, states: Mapping[str, Sequence[object]], *, logs: bool
) -> UndirectedNetwork:
    """A network from names and tables; tables over the same variables are multiplied."""
    pairs = list(tables.items()) if isinstance(tables, Mapping) else list(tables)
    found = [_potential(names, table, logs=logs) for names, table in pairs]
    if not found:
        raise JensenError("a Markov network needs one potential at least")
    return network_of(found, _variables(found, states))


def network_of(
    potentials: Sequence[Potential],
    variables: Mapping[str, Variable],
    graph: UndirectedGraph | None = None,
) -> UndirectedNetwork:
    """A network of log tables; variables without one get a potential of ones."""
    if graph is None:
        pairs = [pair for names, _ in potentials for pair in combinations(sorted(names), 2)]
        graph = UndirectedGraph(sorted(set(pairs)), variables)
    tables: dict[Scope, Array] = {}
    for names, table in potentials:
        places = [graph.index[x] for x in names]
        scope = tuple(sorted(places))
        turned = table.transpose(np.argsort(places))
        tables[scope] = tables[scope] + turned if scope in tables else turned
    held = {v for scope in tables for v in scope}
    for v, name in enumerate(graph.nodes):
        if v not in held:
            tables[(v,)] = np.zeros(variables[name].n_states)
    flat = np.concatenate([tables[scope].ravel() for scope in tables])
    ordered = tuple(variables[name] for name in graph.nodes)
    return UndirectedNetwork(graph, ordered, tuple(tables), flat)


def _potential(names: Any, table: Any, *, logs: bool) -> Potential:
    """The names of the axes, and the log table."""
    own = (names,) if isinstance(names, str) else tuple(names)
    if not own or not all(isinstance(x, str) and x for x in own) or len(set(own)) < len(own):
        raise JensenError(
            f"a potential is of one variable or several different ones, not {names!r}"
        )
    told = " - ".join(own)
    try:
        array = np.asarray(table, np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"the potential of {told} must be an array of numbers") from None
    if array.ndim != len(own) or 0 in array.shape:
        raise JensenError(
            f"the potential of {told} must have an axis for each of its variables, and a state on "
            f"each, but has the shape {array.shape}"
        )
    if logs:
        if np.isnan(array).any() or np.any(array == np.inf):
            raise JensenError(f"the log potential of {told} must be finite, or -inf")
        return own, array
    if not np.all((array >= 0.0) & (array < np.inf)):
        raise JensenError(f"the potential of {told} must be finite and not negative")
    with np.errstate(divide="ignore"):
        return own, np.log(array)


def _variables(
    potentials: Sequence[Potential], states: Mapping[str, Sequence[object]]
) -> dict[str, Variable]:
    sizes: dict[str, int] = {}
    for names, table in potentials:
        for name, size in zip(names, table.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise JensenError(
                    f"{name!r} has {sizes[name]} states in one potential and {size} in another"
                )
    for name in states:
        if name not in sizes:
            raise JensenError(f"states name {name!r}; {offer(name, sizes)}")
    found = {}
    for name, size in sizes.items():
        labels = tuple(map(label_text, states.get(name, range(size))))
        if len(labels) != size:
            raise JensenError(
                f"{name!r} has {size} states in its potentials, but {some(labels)} are named"
            )
        found[name] = Variable(name, "categorical", labels)
    return found


def undirected_of(net: Any) -> UndirectedNetwork:
    """The tables of a Bayesian network as potentials on its moral graph."""
    network = net.require_any() if hasattr(net, "require_any") else net
    if not isinstance(network, Network):
        raise JensenError(
            "a Markov network is made of a Bayesian network of labels, which has tables, not of "
            f"{type(network).__name__}"
        )
    if network.samples is not None:
        raise JensenError("a Markov network has one set of potentials, and this one has samples")
    log_tables = network.kernel_tables[1]
    potentials = []
    for variable in network.variables:
        names = (*(p.name for p in network.parents(variable.name)), variable.name)
        potentials.append((names, network.part(variable.name, log_tables)))
    known = {v.name: v for v in network.variables}
    return network_of(potentials, known, network.graph.moral())
