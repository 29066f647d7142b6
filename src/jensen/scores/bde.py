"""BDe: the evidence under Dirichlet priors that a prior network spells out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jensen.data import Table
from jensen.data.statistics import Array, FamilyCounts
from jensen.exceptions import DataError, JensenError
from jensen.families import log_evidence
from jensen.families.tilted import TiltedDirichlet
from jensen.inference import Network
from jensen.inference.query import query


@dataclass(frozen=True)
class PriorNetworkScore:
    """α of a cell = equivalent sample size · P(cell) in the prior network."""

    network: Network
    equivalent_sample_size: float
    is_set_function: bool = True
    needs_integer_weights: bool = False

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; -inf if the prior network excludes what was seen."""
        if counts.configs is None:
            raise JensenError(f"the family {counts.family} has too many configurations for bde")
        alpha = self.concentration(counts).reshape(-1, counts.n_states)[counts.configs]
        return log_evidence(TiltedDirichlet(alpha, alpha.sum(1)), None, counts.table)

    def concentration(self, counts: FamilyCounts) -> Array:
        """Of all cells of a family, an axis per member."""
        joint = query(self.network, counts.family).values
        return np.asarray(self.equivalent_sample_size * joint)


def bde(prior_network: Any, equivalent_sample_size: float) -> PriorNetworkScore:
    """The score of a network, or of an estimator that holds one."""
    return PriorNetworkScore(_network_of(prior_network), equivalent_sample_size)


def read_states(prior_network: Any, table: Table, names: Sequence[str]) -> Table:
    """The table with the states of the prior network."""
    network = _network_of(prior_network)
    rows, unknown = table.read_as([network.variables[network.index(name)] for name in names])
    if unknown.any():
        raise DataError(
            f"row {int(unknown.argmax()) + 1} holds a state that prior_network does not know"
        )
    return rows


def _network_of(prior_network: Any) -> Network:
    if hasattr(prior_network, "require_network"):
        prior_network = prior_network.require_network()
    if not isinstance(prior_network, Network):
        raise JensenError(
            f"prior_network must be a network with tables, not {type(prior_network).__name__}"
        )
    return prior_network
