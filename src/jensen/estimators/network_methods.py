"""What a `BayesianNetwork` does besides `fit`: pictures, files, other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from jensen.estimators.questions import Questions
from jensen.exceptions import JensenError
from jensen.graphs import DAG, PDAG
from jensen.inference import Network
from jensen.inference.fitted import FittedNetwork

if TYPE_CHECKING:
    from jensen.plots.cards import Beliefs


class NetworkMethods(Questions):
    """Questions, pictures and files; mixed into an estimator."""

    graph: DAG
    network_: FittedNetwork
    _graph: DAG | PDAG | None

    def require_network(self) -> Network:
        """The frozen network of tables, or an error if there is none."""
        raise NotImplementedError

    @classmethod
    def from_network(cls, network: FittedNetwork) -> Self:
        """An estimator that holds a known network."""
        raise NotImplementedError

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
            What the marginals are given, as in `query`.
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
        return graph_svg(self.graph, beliefs=beliefs, highlight=highlight)

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

    def save(self, path: str | Path) -> None:
        """Write the network to a file; `jn.load` reads it back. The suffix tells the format."""
        from jensen.io import save

        save(self, path)

    def _repr_html_(self) -> str | None:
        if hasattr(self, "network_"):
            return self.network_.html() or self.graph._repr_svg_()
        return self.graph._repr_svg_() if self._graph is not None else None
