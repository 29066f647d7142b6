"""Questions to a mixture of trees: its trees, its labels, and its columns given others."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.data.model_columns import refuse_unknown
from jensen.data.variable import Variable, state_of
from jensen.estimators.state_estimator import refuse_impossible
from jensen.estimators.table_mixture import TableMixture
from jensen.exceptions import ImpossibleError, JensenError
from jensen.models.emissions.trees import tree_tables
from jensen.support.text import offer

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.evidence.variational import BoundGap
    from jensen.graphs import DAG
    from jensen.inference.distribution import Distribution

Array = NDArray[np.float64]


class TreeQuestions(TableMixture):
    """What a fitted mixture of trees answers."""

    # --- columns given others ---

    def predict(self, X: Any, *, target: str | None = None, **choices: Any) -> Any:
        """The most probable component of every row; or, with a target, its label.

        Parameters
        ----------
        X
            Rows as in `fit`; values may be missing anywhere.
        target
            A column, whose own values are ignored, and which need not be there.
        **choices
            As in `predict_proba`.
        """
        if target is None:
            return super().predict(X, **choices)
        proba = self.predict_proba(X, target=target, **choices)
        states = np.array([*self._variable(target).states, None], dtype=object)
        lost = np.isnan(proba[:, 0])
        return states[np.where(lost, -1, np.where(lost[:, None], 0.0, proba).argmax(1))]

    def predict_proba(
        self,
        X: Any,
        *,
        target: str | None = None,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
        out: str | PathLike[str] | None = None,
    ) -> Any:
        """p(component | row), (n, K); or, with a target, p(label | the other columns).

        Parameters
        ----------
        X, target
            As in `predict`.
        impossible
            What to do with rows of probability 0: "raise", or "nan".
        unknown
            What to do with labels that were not there in `fit`: "raise", or take as "missing".
        out
            A file for them, as of other mixtures; not with a target.
        """
        if target is None:
            return super().predict_proba(X, impossible=impossible, unknown=unknown, out=out)
        if out is not None:
            raise JensenError("out= belongs to components: leave it out, or leave out target=")
        self.require_fitted()
        variable = self._variable(target)
        values, strange = self._read(X, target)
        refuse_unknown(strange, unknown)
        proba = self._shares(values, variable)
        refuse_impossible(np.isnan(proba[:, 0]), impossible)
        return proba

    def query(self, target: str, given: Mapping[str, Any] | None = None) -> Distribution:
        """P(target | given), other columns summed out; `component(k)` answers further questions.

        Parameters
        ----------
        target
            A column.
        given
            What is known of others: a label of each.
        """
        from jensen.inference.distribution import Distribution

        self.require_fitted()
        variable, values = self._variable(target), np.full((1, len(self.variables_)), np.nan)
        texts = []
        for name, label in (given or {}).items():
            known = self._variable(name)
            if name == target:
                raise JensenError(f"{target!r} is asked for, and cannot be given besides")
            code = state_of(known, label)
            values[0, self.variables_.index(known)] = code
            texts.append(f"{name}={known.states[code]}")
        shares = self._shares(values, variable)[0]
        if np.isnan(shares).any():
            raise ImpossibleError(f"{', '.join(texts)} has probability 0 under this model")
        return Distribution((variable,), shares, ", ".join(texts))

    def _shares(self, values: Array, variable: Variable) -> Array:
        """(n, labels): p(label | row); NaN where a row is impossible."""
        place, found = self.variables_.index(variable), []
        for label in range(variable.n_states):
            asked = values.copy()
            asked[:, place] = label
            found.append(self.require_fitted().log_likelihood(asked))
        log_joint = np.stack(found, axis=1)
        with np.errstate(invalid="ignore"):
            shares = np.exp(log_joint - log_joint.max(1, keepdims=True))
        return np.asarray(shares / shares.sum(1, keepdims=True))

    def _variable(self, name: Any) -> Variable:
        for variable in self.variables_:
            if variable.name == name:
                return variable
        names = [variable.name for variable in self.variables_]
        raise JensenError(f"there is no column {name!r:.80}; {offer(str(name), names, 'column')}")

    def bound_gap(
        self, X: Any, n_samples: int = 2000, *, random_state: Any = None, **fit: Any
    ) -> BoundGap:
        """Not for trees: there is no sampler of q(T) to weigh the bound with."""
        raise JensenError(
            "bound_gap draws from q(θ), and trees are not drawn: compare free_energy_ of several "
            "numbers of components as bounds"
        )

    # --- trees ---

    def graph(self, k: int) -> DAG:
        """The tree of a component; the most probable one after "vbem". It draws itself."""
        return self.component(k).graph

    def component(self, k: int) -> BayesianNetwork:
        """A component by itself: a network with a tree for its graph, which answers queries."""
        from jensen.estimators.bayesian_network import BayesianNetwork
        from jensen.graphs import DAG
        from jensen.inference.network import assemble

        fitted = self.require_fitted()
        self._check_component(k)
        names = [variable.name for variable in self.variables_]
        found = tree_tables(fitted.model.emission, fitted.t.components, k)
        arrows = [(names[u], names[v]) for v, (u, _) in enumerate(found) if u >= 0]
        arrays = {
            name: table if u >= 0 else table[0]
            for name, (u, table) in zip(names, found, strict=True)
        }
        variables = {variable.name: variable for variable in self.variables_}
        return BayesianNetwork.from_network(assemble(DAG(arrows, nodes=names), variables, arrays))

    def edge_probability(self, k: int) -> dict[tuple[str, str], float]:
        """How probable each edge of the tree of a component is, by the pair of names.

        After "vbem" on complete rows these are sums over all trees. Else the tree is one point,
        and its edges have the probability 1.
        """
        fitted = self.require_fitted()
        self._check_component(k)
        names = [variable.name for variable in self.variables_]
        if fitted.eta is None:
            edges = self.graph(k).edges
            return {(min(edge), max(edge)): 1.0 for edge in sorted(edges)}
        found = fitted.model.emission.family.edges(fitted.eta.components)[k]
        u, v = np.triu_indices(len(names), 1)
        pairs = zip(u, v, found[u, v], strict=True)
        return {(names[a], names[b]): float(p) for a, b, p in pairs if p > 0.0}

    def _check_component(self, k: Any) -> None:
        K = self.require_fitted().model.n_states
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < K:
            raise JensenError(f"there is no tree {k!r}: they are numbered 0 to {K - 1}")
