"""BDe: the evidence under Dirichlet priors that a prior network spells out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from jensen.data import Table
from jensen.exceptions import DataError, JensenError
from jensen.inference import Network
from jensen.inference.query import query
from jensen.scores.counts import FamilyCounts


@dataclass(frozen=True)
class PriorNetworkScore:
    """α of a cell = equivalent sample size · P(cell) in the prior network."""

    network: Network
    equivalent_sample_size: float
    is_set_function: bool = True
    needs_integer_weights: bool = False

    @classmethod
    def of(cls, prior_network: Any, equivalent_sample_size: float) -> PriorNetworkScore:
        """The score of a network, or of an estimator that holds one."""
        if hasattr(prior_network, "require_network"):
            prior_network = prior_network.require_network()
        if not isinstance(prior_network, Network):
            raise JensenError(
                f"prior_network must be a network with tables, not {type(prior_network).__name__}"
            )
        return cls(prior_network, equivalent_sample_size)

    def read(self, table: Table, names: Sequence[str]) -> Table:
        """The table with the states of the prior network."""
        own = [self.network.variables[self.network.index(name)] for name in names]
        rows, unknown = table.read_as(own)
        if unknown.any():
            raise DataError(
                f"row {int(unknown.argmax()) + 1} holds a state that prior_network does not know"
            )
        return rows

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; -inf if the prior network excludes what was seen."""
        if counts.configs is None or not isinstance(counts.table, np.ndarray):
            raise JensenError(f"the family {counts.family} has too many configurations for bde")
        joint = query(self.network, counts.family).values
        alpha = self.equivalent_sample_size * joint.reshape(-1, joint.shape[-1])[counts.configs]
        if np.any((alpha == 0.0) & (counts.table > 0.0)):
            return -np.inf
        inside = np.where(alpha > 0.0, alpha, 1.0)  # a cell that cannot occur counts nothing
        cells = np.where(alpha > 0.0, gammaln(inside + counts.table) - gammaln(inside), 0.0)
        totals = alpha.sum(1)
        rows = gammaln(totals) - gammaln(totals + counts.table.sum(1))
        return float(cells.sum() + rows.sum())
