"""A fitted factorial hidden Markov model: what it knows of its chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.models.factorial_chains import FactorialPoint
from jensen.q_hidden import factorial_chains
from jensen.q_hidden.chain_forms import outputs_at
from jensen.q_hidden.factorial_chains import FactorialChains, Found
from jensen.q_hidden.gaussian_chain import SeriesRows
from jensen.support.json_values import as_checked, plain_record, read_record

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedFactorial:
    """What was learned; of a posterior the questions are answered at its means."""

    point: FactorialPoint
    keeps_posterior: bool = False
    is_flat: bool = True

    @property
    def n_parameters(self) -> int:
        """How many free parameters."""
        (M, K), D = self.point.initial.shape, len(self.point.offset)
        return int(M * (K - 1) * (1 + K) + D * (2 + M * (K - 1)))

    @property
    def has_posterior(self) -> bool:
        """Whether the bound is that of a posterior."""
        return self.keeps_posterior

    @property
    def n_samples(self) -> int | None:
        """There are none."""
        return None

    def solve(self, rows: SeriesRows, *, exact: bool) -> Found:
        """The states of all steps: exactly, or by the structured mean field."""
        point = self.point
        (M, K), D = point.initial.shape, len(point.offset)
        effects = point.effects[:, 1:].reshape(M * (K - 1), D).T
        outputs = outputs_at(
            np.diag(point.noise), np.column_stack([point.offset, effects]), rows.seen
        )
        with np.errstate(divide="ignore"):
            logs = np.log(point.initial), np.log(point.transition)
        chains = FactorialChains(*logs, outputs, rows)
        return factorial_chains.exact(chains) if exact else factorial_chains.structured(chains)

    def to_dict(self) -> dict[str, Any]:
        """All that was learned as plain data."""
        return {
            "posterior": self.keeps_posterior,
            "flat": self.is_flat,
            "parameters": plain_record(self.point),
        }

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        members = as_checked(value).fields({"posterior", "flat", "parameters"})
        parameters = members["parameters"].fields(set(FactorialPoint._fields))
        initial = list(parameters["initial"].items())
        M, K = len(initial), len(list(initial[0].items())) if initial else 0
        D = len(list(parameters["offset"].items()))
        if not M or not K or not D:
            members["parameters"].fail("must have chains, states and outputs")
        like = FactorialPoint(
            np.empty((M, K)), np.empty((M, K, K)), np.empty(D), np.empty((M, K, D)), np.empty(D)
        )
        point: FactorialPoint = read_record(members["parameters"], like)
        for name in ("initial", "transition"):
            share = getattr(point, name)
            if (share < 0.0).any() or np.abs(share.sum(-1) - 1.0).max() > 1e-6:
                parameters[name].fail("must hold probabilities that sum to 1")
        if not (point.noise > 0.0).all():
            parameters["noise"].fail("must hold variances above 0")
        return cls(point, members["posterior"].flag(), members["flat"].flag())
