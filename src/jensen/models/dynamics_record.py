"""Parameters of linear dynamical systems under a prior: θ as a record, numbers, plain data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import gaussian_vectors
from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors
from jensen.models.held_columns import Columns
from jensen.q_hidden.known_chain import StateSpace
from jensen.support.fields import record
from jensen.support.json_values import Checked, plain_record, read_record

Array = NDArray[np.float64]


@record
class Dynamics(NamedTuple):
    """Fields of θ, in the order in which they are updated."""

    loadings: Any  # `Vectors` (D, 1 + U + K)
    noise: Any  # `Gamma` (D,), or (1,)
    relevance: Any  # `Gamma` (K,): strengths of the columns of loadings
    transition: Any  # `Vectors` (K, U + K)
    process: Any  # `Gamma` (K,)
    influence: Any  # `Gamma` (K,): strengths of the columns of the transition


def outputs_of(record: Any) -> Columns:
    """What it says of outputs."""
    return Columns(record.loadings, record.noise, record.relevance)


def moves_of(record: Any) -> Columns:
    """What it says of states."""
    return Columns(record.transition, record.process, record.influence)


PLACES = {
    "loadings": ("loadings", True),
    "noise": ("noise", True),
    "relevance": ("alpha", True),
    "transition": ("loadings", False),
    "process": ("noise", False),
    "influence": ("alpha", False),
}
"""What each field is of outputs (True) or of states."""


def blank_of(D: int, U: int, K: int, *, n_noises: int) -> Dynamics:
    """A record of zeros, for D outputs, U inputs and K states."""

    def rates(n: int) -> Gamma:
        return Gamma(np.zeros(n), np.zeros(n))

    def vectors(n: int, width: int) -> Vectors:
        return Vectors(np.zeros((n, width)), np.zeros((n, width, width)))

    outputs = vectors(D, 1 + U + K)
    return Dynamics(outputs, rates(n_noises), rates(K), vectors(K, U + K), rates(K), rates(K))


def numbers_of(t: Dynamics) -> tuple[Any, ...]:
    """θ at a point, without what follows from it."""
    return (
        t.loadings.first, t.noise.exposure, t.relevance.exposure,
        t.transition.first, t.process.exposure, t.influence.exposure,
    )  # fmt: skip


def t_at(*numbers: Any) -> Dynamics:
    """θ of what `numbers_of` gave."""
    C, noise, relevance, A, process, influence = numbers
    rates = [Gamma(np.log(-x), x) for x in (noise, relevance, process, influence)]
    return Dynamics(
        gaussian_vectors.stats_at(C), rates[0], rates[1],
        gaussian_vectors.stats_at(A), rates[2], rates[3],
    )  # fmt: skip


def plain_eta(eta: Dynamics) -> dict[str, Any]:
    """q(θ) as plain data."""
    found: dict[str, Any] = plain_record(eta)
    return found


def read_eta(value: Checked, point: StateSpace) -> Dynamics:
    """What `plain_eta` gave."""
    D, K, U = len(point.offset), len(point.transition), point.input_transition.shape[1]
    members = value.fields(set(Dynamics._fields))
    noise = members["noise"].fields(set(Gamma._fields))
    n = len(list(noise["total"].items()))
    found: Dynamics = read_record(value, blank_of(D, U, K, n_noises=n))
    return found
