"""Sums over all states of a Markov network: log Z and expected features, and their curvature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families.effects import Effects, contrasts
from jensen.families.log_linear import FreeSums
from jensen.q_hidden.factor_lists.partition import approximate_partition
from jensen.q_hidden.trees.partition import Partition

Array = NDArray[np.float64]

MOST_STATES = 1 << 12
"""Joint states that are listed at most."""

MOST_FEATURES = 1 << 20
"""Joint states times coefficients of which a table is made at most."""


def sums_of(
    effects: Effects,
    names: Sequence[str],
    support: Array | None,
    marginals: Sequence[Array],
    inference: str = "exact",
) -> FreeSums:
    """The sums of a network: over a list of all states where that is short, else by a tree.

    Or by messages ("trw", "loopy"), whatever the size.

    Parameters
    ----------
    effects
        Its tables.
    names
        Of its variables, for messages.
    support
        (P,): 0, or -inf for entries that are impossible; None: none are.
    marginals
        The distribution of each variable alone, from which curvatures are guessed.
    """
    if inference != "exact":
        partition = approximate_partition(effects.wiring, inference)
        return TreeSums(effects, partition, support, marginals)
    n_states = float(np.prod(np.array(effects.cards, float)))
    if n_states <= MOST_STATES and n_states * effects.n_coefficients <= MOST_FEATURES:
        return ListedSums(effects, support)
    return TreeSums(effects, Partition(effects.wiring, names), support, marginals)


class ListedSums:
    """Sums over a list of all joint states, with exact curvatures."""

    def __init__(self, effects: Effects, support: Array | None = None) -> None:
        states = np.indices(effects.cards).reshape(len(effects.cards), -1).T
        if support is not None:
            states = states[_is_possible(effects, states, support)]
        self.features = effects.joint_features(states)  # (S, F)
        self._last: tuple[Array, Array] | None = None

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Log Z, and E[f]."""
        weights = self.features @ theta
        most = weights.max()
        weights = np.exp(weights - most)
        total = weights.sum()
        weights /= total
        self._last = theta, weights
        return float(np.log(total) + most), weights @ self.features

    def covariance(self, theta: Array) -> Array:
        """Cov[f], (F, F)."""
        known = self._last
        if known is None or known[0] is not theta:
            self(theta)
            known = self._last
        assert known is not None
        p = known[1]
        centred = self.features - p @ self.features
        return np.asarray((centred * p[:, None]).T @ centred)

    def solve(self, theta: Array, count: float, ridge: Array, slope: Array) -> Array:
        """The slope times the inverse of count · Cov[f] + ridge; flat directions stay."""
        curve = count * self.covariance(theta)
        diagonal = curve.diagonal() + ridge
        flat = 1e-12 * max(float(diagonal.max(initial=0.0)), 1e-300)
        curve[np.diag_indices_from(curve)] = diagonal + flat
        return np.asarray(np.linalg.solve(curve, slope))

    def rank(self) -> int:
        """How many coefficients can be told apart by the possible states."""
        centred = self.features - self.features.mean(0)
        return int(np.linalg.matrix_rank(centred)) if centred.size else 0


def _is_possible(effects: Effects, states: NDArray[np.int64], support: Array) -> NDArray[np.bool_]:
    """Which joint states have no impossible entry."""
    w, possible = effects.wiring, np.ones(len(states), bool)
    for f in range(w.n_families):
        at = slice(w.fam_ptr[f], w.fam_ptr[f + 1])
        cell = w.fam_at[f] + states[:, w.fam_vars[at]] @ w.fam_stride[at]
        possible &= support[cell] == 0.0
    return possible


class Whitened:
    """Curvatures as if variables were independent.

    Parameters
    ----------
    effects
        The tables.
    marginals
        The distribution of each variable alone.
    """

    def __init__(self, effects: Effects, marginals: Sequence[Array]) -> None:
        self.effects = effects
        self._back = whitening(effects, marginals)
        self._squares = self._back * self._back

    def solve(self, theta: Array, count: Any, ridge: Array, slope: Array) -> Array:
        """The slope times the inverse of `count` (of each coefficient, or one) and the penalty."""
        weaker = self._squares.T @ ridge  # the diagonal of the penalty there
        return np.asarray(self._back @ ((self._back.T @ slope) / (count + weaker)))


class TreeSums(Whitened):
    """Sums by one pass over the cluster tree, or by messages that stand for it."""

    def __init__(
        self,
        effects: Effects,
        partition: Callable[[Array], tuple[float, Array]],
        support: Array | None,
        marginals: Sequence[Array],
    ) -> None:
        super().__init__(effects, marginals)
        self.support, self.partition = support, partition

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Log Z, and E[f]."""
        tables = self.effects.tables(theta)
        if self.support is not None:
            tables = tables + self.support
        log_z, counts = self.partition(tables)
        return log_z, self.effects.features(counts)


def whitening(effects: Effects, marginals: Sequence[Array]) -> Any:
    """(F, F), sparse: coefficients = this @ those whose features are uncorrelated.

    They would be, with variance 1, if the variables were independent with these marginals.
    """
    from scipy.sparse import csr_array

    change = [_orthonormal(k, p) for k, p in zip(effects.cards, marginals, strict=True)]
    place = {term: k for k, term in enumerate(effects.terms)}
    rows, columns, values = [], [], []
    for k, term in enumerate(effects.terms):
        here = np.arange(effects.term_ptr[k], effects.term_ptr[k + 1])
        for size in range(1, len(term) + 1):
            for part in combinations(term, size):
                block: Array = np.ones((1, 1))
                for v in term:
                    own = change[v][1:, 1:] if v in part else change[v][:1, 1:]
                    block = np.asarray(np.kron(block, own), np.float64)
                j = place[part]
                there = np.arange(effects.term_ptr[j], effects.term_ptr[j + 1])
                rows.append(np.repeat(there, len(here)))
                columns.append(np.tile(here, len(there)))
                values.append(block.ravel())
    n = effects.n_coefficients
    if not rows:
        return csr_array((n, n))
    place_of = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.concatenate(values), place_of), (n, n))


def _orthonormal(n_states: int, marginal: Array) -> Array:
    """(K, K): ones and what is orthonormal to them under the marginal, by ones and contrasts."""
    p = marginal + 1e-3 / n_states
    basis = np.column_stack([np.ones(n_states), contrasts(n_states)])
    upper = np.linalg.qr(np.sqrt(p / p.sum())[:, None] * basis, mode="r")
    found = np.linalg.inv(upper)
    return np.asarray(found / np.sign(found[0, 0]))
