"""Pseudo-likelihood: every variable given all others of its row, so that no Z is needed.

log PL = Σ rows Σ v log p(x_v | the rest) = ⟨Σ |table| · features, θ⟩ - N A(θ), where A is the mean
over rows of Σ v log Σ_k exp(what the tables around v say of state k). A is convex, as log Z is, and
stands in its place: steps, penalties and checkpoints are those of maximum likelihood. But it is no
bound of the likelihood, and its maximum is another estimate, consistent where rows are many.

References
----------
Besag (1975), *Statistical analysis of non-lattice data*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.families.effects import Effects
from jensen.models.log_linear_sums import Whitened

Array = NDArray[np.float64]


class PseudoSums(Whitened):
    """A(θ) and its gradient, over distinct complete rows.

    Parameters
    ----------
    effects
        The tables.
    codes
        (R, n): the distinct rows.
    weights
        (R,): how often each counts.
    support
        (P,): -inf for entries that no row has; None: none are.
    marginals
        The distribution of each variable alone, from which curvatures are guessed.
    """

    def __init__(
        self,
        effects: Effects,
        codes: NDArray[np.int64],
        weights: Array,
        support: Array | None,
        marginals: Sequence[Array],
    ) -> None:
        super().__init__(effects, marginals)
        self.support, self.codes, self.weights = support, codes, weights
        self._sizes = np.array([len(term) for term in effects.terms], float)[effects.term_of]

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """A, and its gradient."""
        tables = self.effects.tables(theta)
        if self.support is not None:
            tables = tables + self.support
        total, counts = 0.0, np.zeros(len(tables))
        for v in range(len(self.effects.cards)):
            total += self._add(v, tables, counts)
        size = float(self.weights.sum())
        return total / size, self.effects.features(counts) / size

    def _add(self, v: int, tables: Array, counts: Array) -> float:
        """Add the expected counts of v given the rest; the sum of its log normalisers."""
        w, states = self.effects.wiring, np.arange(self.effects.cards[v])
        around = []
        for f in w.touch[w.touch_ptr[v] : w.touch_ptr[v + 1]]:
            at = slice(w.fam_ptr[f], w.fam_ptr[f + 1])
            own = w.fam_vars[at] == v
            stride = np.where(own, 0, w.fam_stride[at])
            first = w.fam_at[f] + self.codes[:, w.fam_vars[at]] @ stride
            around.append(first[:, None] + int(w.fam_stride[at][own][0]) * states)
        logits = np.sum([tables[cells] for cells in around], axis=0)  # (R, K)
        most = logits.max(1, keepdims=True)
        shares = np.exp(logits - most)
        sums = shares.sum(1, keepdims=True)
        value = float(self.weights @ (np.log(sums) + most)[:, 0])
        shares *= self.weights[:, None] / sums
        for cells in around:
            counts += np.bincount(cells.ravel(), shares.ravel(), len(counts))
        return value

    def solve(self, theta: Array, count: float, ridge: Array, slope: Array) -> Array:
        """The slope times the inverse curvature of independent variables."""
        return super().solve(theta, count * self._sizes, ridge, slope)
