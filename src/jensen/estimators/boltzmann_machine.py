"""Boltzmann machines: bits that all interact in pairs, some of them hidden, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin  # type: ignore[import-untyped]

from jensen.data import Table
from jensen.estimators.arrays import ArrayEstimator, read_weights, weights_of
from jensen.estimators.markov_network import MarkovNetwork
from jensen.estimators.rbm_problem import read_bits
from jensen.estimators.reports import Summary
from jensen.exceptions import JensenError
from jensen.graphs import UndirectedGraph
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.support.arguments import as_generator, check_whole, is_real
from jensen.support.json_values import Checked
from jensen.support.text import plural

Array = NDArray[np.float64]

LEARNED = (
    "free_energy_", "is_bound_", "trace_", "n_sweeps_", "converged_", "starts_", "r_hat_",
    "effective_sample_size_",
)  # fmt: skip


class BoltzmannMachine(TransformerMixin, ArrayEstimator):  # type: ignore[misc]
    """A Boltzmann machine: p(s) = exp(b·s + Σ_{i<j} W_ij s_i s_j) / Z over units 0 and 1.

    It is the pairwise `MarkovNetwork` of bits with arrays for tables: visible units are columns,
    hidden ones have none, and a missing bit (NaN) is a unit that is not clamped.

    Parameters
    ----------
    n_hidden
        How many hidden units there are.
    edges
        Pairs of units that interact, by number, the hidden ones after the visible. None: all pairs
        but those of two hidden units.
    method
        As in `MarkovNetwork`: "ml" (exact, as far as the cluster tree of all units fits in memory:
        of a full machine about 25 units), "pcd", or of complete rows without hidden units also
        "pseudo" and "cd".
    ridge
        λ of a Gaussian prior of the interactions J in the code s = ±1, which are W / 4; 0: none.
    n_init, max_iter, tol, n_chains, n_steps, random_state, progress
        As in `MarkovNetwork`.

    Attributes
    ----------
    biases_ : array
        (n,): b, the hidden units last.
    weights_ : array
        (n, n): W, symmetric, 0 on the diagonal.
    network_ : MarkovNetwork
        The same as a network over "v0", "v1", ..., "h0", ..., which answers all its questions.
    log_z_ : float
        Log Z of `biases_` and `weights_`, exactly.
    free_energy_, trace_, converged_, n_sweeps_, starts_
        As in `MarkovNetwork`.

    References
    ----------
    Ackley, Hinton and Sejnowski (1985), *A learning algorithm for Boltzmann machines*.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rows = np.array([[0, 0, 1]] * 4 + [[1, 1, 0]] * 3 + [[1, 0, 0]] * 2 + [[0, 1, 1]])
    >>> machine = jn.BoltzmannMachine(ridge=0.5).fit(rows)
    >>> bool(machine.weights_[0, 2] < 0)
    True
    >>> machine.impute([[1, np.nan, 0]]).round(2).tolist()
    [[1.0, 0.6, 0.0]]
    """

    biases_: Array
    weights_: Array
    network_: MarkovNetwork
    noun = "unit"
    start = None  # no choice

    def __init__(
        self,
        n_hidden: int = 0,
        *,
        edges: Sequence[tuple[int, int]] | None = None,
        method: str = "ml",
        ridge: float = 0.0,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-10,
        n_chains: int = 100,
        n_steps: int = 1,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_hidden = n_hidden
        self.edges = edges
        self.method = method
        self.ridge = ridge
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_chains = n_chains
        self.n_steps = n_steps
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows (n, D) of 0 and 1: an array, a dataframe, a `Table` or a path.

        Parameters
        ----------
        X
            Rows; NaN is missing.
        y
            Nothing: scikit-learn's pipelines pass it.
        sample_weight
            How often each row counts; a `Table` may bring its own.
        checkpoint
            A file that holds the state of the run, as in `MarkovNetwork`.
        """
        values = self._read(X, reset=True)
        weight = read_weights(weights_of(X, sample_weight), len(values))
        check_whole("n_hidden", self.n_hidden, at_least=0)
        if not is_real(self.ridge) or not 0.0 <= self.ridge < np.inf:
            raise JensenError(f"ridge must be a number, 0 or more, not {self.ridge!r:.40}")
        names = unit_names(values.shape[1], int(self.n_hidden))
        same = ("method", "n_init", "max_iter", "tol", "n_chains", "n_steps", "random_state")
        net = MarkovNetwork(
            self._graph(names, values.shape[1]),
            prior={"ridge": float(self.ridge)} if self.ridge else None,
            hidden=dict.fromkeys(names[values.shape[1] :], 2) or None,
            progress=self.progress,
            **{name: getattr(self, name) for name in same},
        )
        self.network_ = net.fit(_table(values, names, weight), checkpoint=checkpoint)
        self.fitted_ = self.network_.network_
        for name in LEARNED:
            setattr(self, name, getattr(self.network_, name))
        self._show()
        return self

    def _graph(self, names: list[str], n_visible: int) -> UndirectedGraph:
        """The pairs that interact."""
        if self.edges is None:
            pairs = [(i, j) for i, j in combinations(range(len(names)), 2) if i < n_visible]
        else:
            pairs = [tuple(pair) for pair in self.edges]  # type: ignore[misc]
        for pair in pairs:
            if len(set(pair)) != 2 or not all(0 <= k < len(names) for k in pair):
                raise JensenError(
                    f"edges are pairs of different units 0, ..., {len(names) - 1}, not {pair!r:.40}"
                )
        return UndirectedGraph([(names[i], names[j]) for i, j in pairs], names)

    def _show(self) -> None:
        """Biases and weights in the code 0 and 1."""
        n = len(self.fitted_.variables)
        names = unit_names(self.n_features_in_, n - self.n_features_in_)
        place = {name: k for k, name in enumerate(names)}
        self.biases_, self.weights_ = np.zeros(n), np.zeros((n, n))
        for factor in self.fitted_.factors:
            own = [place[x] for x in factor.variables]
            table = factor.log_table
            if len(own) == 1:
                self.biases_[own[0]] += table[1] - table[0]
                continue
            i, j = own
            self.biases_[i] += table[1, 0] - table[0, 0]
            self.biases_[j] += table[0, 1] - table[0, 0]
            self.weights_[i, j] += table[1, 1] - table[0, 1] - table[1, 0] + table[0, 0]
            self.weights_[j, i] = self.weights_[i, j]

    def _read(self, X: Any, *, reset: bool = False) -> Array:
        """Rows of 0, 1 and NaN."""
        return read_bits(self, X, reset=reset)

    # --- questions ---

    @property
    def log_z_(self) -> float:
        """Log Z of `biases_` and `weights_`: the state in which all units are 0 has weight 1."""
        nothing = {v.name: v.states[0] for v in self.require_fitted().variables}
        return -float(self.fitted_.log_probability(nothing, None))

    @property
    def n_iter_(self) -> int:
        """How many sweeps there were, as scikit-learn calls them: one at least."""
        self.require_fitted()
        return max(1, self.n_sweeps_)

    def log_likelihood(self, X: Any) -> Array:
        """Log p(row), what is missing or hidden summed out, exactly."""
        self.require_fitted()
        found: Array = self.network_.log_likelihood(self._rows(X), missing_columns="ignore")
        return found

    def score_samples(self, X: Any) -> Array:
        """Log p(row); scikit-learn's name of `log_likelihood`."""
        return self.log_likelihood(X)

    def score(self, X: Any, y: None = None, *, sample_weight: Any = None) -> float:
        """The mean log-likelihood of a row."""
        log_like = self.log_likelihood(X)
        weight = read_weights(weights_of(X, sample_weight), len(log_like))
        return float(np.average(log_like[weight > 0.0], weights=weight[weight > 0.0]))

    def impute(self, X: Any) -> Array:
        """Rows (n, D) in which a missing bit is the probability that it is on, given the rest."""
        self.require_fitted()
        rows = self._rows(X)
        found = self.network_.predict_proba(rows, missing_columns="ignore")
        names = unit_names(self.n_features_in_, 0)
        return np.stack([found[name][:, 1] for name in names], axis=1)

    def transform(self, X: Any) -> Array:
        """P(hidden unit = 1 | row), (n, n_hidden)."""
        self.require_fitted()
        if not self.n_hidden:
            raise JensenError("this machine has no hidden units, so there is nothing to transform")
        found = self.network_.predict_proba(self._rows(X), missing_columns="ignore")
        names = unit_names(self.n_features_in_, int(self.n_hidden))[self.n_features_in_ :]
        return np.stack([found[name][:, 1] for name in names], axis=1)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw independent rows (n, D), exactly."""
        check_whole("n_samples", n_samples, at_least=1)
        drawn = self.require_fitted().sample(int(n_samples), None, None, as_generator(random_state))
        names = unit_names(self.n_features_in_, 0)
        return np.stack([drawn.column(x).data for x in names], axis=1).astype(np.float64)

    def _rows(self, X: Any) -> Table:
        values = self._read(X)
        return _table(values, unit_names(values.shape[1], 0), None)

    # --- pages and files ---

    def _summarise(self) -> Summary:
        """How it was learned."""
        visible = plural(self.n_features_in_, "visible unit")
        from jensen.estimators.markov_saving import told

        head = f"BoltzmannMachine({visible}, {plural(int(self.n_hidden), 'hidden unit')})"
        return Summary(f"{head}\n{told(self.network_)}")

    def _plain(self) -> dict[str, Any]:
        """The network as plain data, and which units are visible."""
        self.require_fitted()
        plain = self.network_.to_dict()
        plain.pop("format")
        edges = None if self.edges is None else [list(map(int, pair)) for pair in self.edges]
        found: dict[str, Any] = {"format": "jensen-boltzmann-machine", "edges_given": edges}
        found |= {"visible": self.n_features_in_, "network": plain}
        if hasattr(self, "feature_names_in_"):
            found["columns"] = list(map(str, self.feature_names_in_))
        return found

    @staticmethod
    def _read_plain(value: Checked) -> BoltzmannMachine:
        """What `_plain` gave."""
        members = value.fields({"format", "edges_given", "visible", "network"}, {"columns"})
        inner = Checked({**members["network"].value, "format": UndirectedNetwork.format},
                        value.file, members["network"].path)  # fmt: skip
        net = MarkovNetwork.from_dict(inner)
        n_visible, n_hidden = members["visible"].whole(), len(net.hidden or {})
        names = unit_names(n_visible, n_hidden) if n_visible > 0 else []
        if sorted(names) != list(net.states) or set(map(len, net.states.values())) != {2}:
            members["visible"].fail("must be the number of units v0, v1, ... of the network")
        edges = None
        if not members["edges_given"].is_null():
            edges = [tuple(pair.numbers().astype(int)) for pair in members["edges_given"].items()]
        ridge = 0.0 if net.prior is None else net.prior.get("ridge", 0.0)
        same = ("method", "n_init", "max_iter", "tol", "n_chains", "n_steps", "random_state")
        machine = BoltzmannMachine(
            n_hidden, edges=edges, ridge=ridge, **{name: getattr(net, name) for name in same}
        )
        machine.network_, machine.fitted_ = net, net.network_
        machine.n_features_in_ = n_visible
        if "columns" in members:
            columns = members["columns"].texts()
            if len(columns) != n_visible:
                members["columns"].fail("must name every visible unit")
            machine.feature_names_in_ = np.array(columns, dtype=object)
        for name in LEARNED:
            if hasattr(net, name):
                setattr(machine, name, getattr(net, name))
        machine._show()
        return machine


def unit_names(n_visible: int, n_hidden: int) -> list[str]:
    """Names of the units: visible ones, then hidden ones."""
    return [f"v{k}" for k in range(n_visible)] + [f"h{k}" for k in range(n_hidden)]


def _table(values: Array, names: list[str], weight: Array | None) -> Table:
    """Rows as a table of labels "0" and "1"."""
    columns = {
        name: [None if np.isnan(x) else str(int(x)) for x in values[:, k]]
        for k, name in enumerate(names[: values.shape[1]])
    }
    return Table(columns, weights=weight, states={name: ["0", "1"] for name in columns})
