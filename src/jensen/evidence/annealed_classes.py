"""Annealing of mixtures of labels: every chain by itself, all temperatures in one kernel.

What the general path does with arrays over all chains is done here chain by chain: the tables of a
chain stay in the cache, and most of the time is taken by the gamma numbers of its Dirichlet draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.evidence.particles import Particles, RowParticles, is_free
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.product import parts_of
from jensen.models.state_model import flatten
from jensen.runs.runner import Task
from jensen.support.arguments import Streams
from jensen.support.fields import record

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class ClassRows(NamedTuple):
    """Different rows of a mixture of labels, and where θ has what they need."""

    codes: NDArray[np.int32]  # (D, n)
    columns: Ints  # (D, 3): the place of a column in θ, how far states are apart, how many labels
    times: Ints  # (n,)
    alpha: Array  # (P,): the prior


def class_rows(particles: Particles) -> ClassRows | None:
    """The rows, if all columns are labels whose probabilities are free."""
    model = particles.model
    if not isinstance(particles, RowParticles) or not is_free(model).all():
        return None
    parts = [part.emission for part in parts_of(model.emission)]
    if not all(isinstance(part, Discrete) and part.mask is None for part in parts):
        return None
    columns, at, K = [], model.n_states, model.n_states
    for part in parts:
        apart = part.n_columns * part.n_labels
        columns += [(at + d * part.n_labels, apart, part.n_labels) for d in range(part.n_columns)]
        at += K * apart
    codes = [
        np.concatenate([rows.codes for rows in particles.rows.encoded(unit)])
        for unit in particles.rows.units
    ]
    times = np.concatenate([unit.weight for unit in particles.rows.units])
    return ClassRows(
        np.ascontiguousarray(np.concatenate(codes, axis=1)),
        np.array(columns, np.int64),
        times.astype(np.int64),
        flatten(model.prior) + 1.0,
    )


@record
class AnnealedClasses(NamedTuple):
    """Where some chains are."""

    theta: Array  # (C, P)
    log_weight: Array  # (C,)
    words: NDArray[np.uint64]  # (C, 4): the random numbers of each
    step: int


class ClassAnnealingTask(Task[AnnealedClasses]):
    """Takes some chains through all temperatures."""

    steps_at_once = None

    def __init__(
        self, rows: ClassRows, betas: Array, start: Callable[[int, Streams], Array]
    ) -> None:
        self.rows, self.betas, self.start = rows, betas, start
        self.n_steps = len(betas) - 1

    def begin(self, number: int, streams: Streams) -> AnnealedClasses:
        """Where the chains start, θ (C, P)."""
        theta = np.ascontiguousarray(self.start(number, streams))
        words = streams(1).integers(1, 2**64 - 1, (len(theta), 4), dtype=np.uint64)
        return AnnealedClasses(theta, np.zeros(len(theta)), words, 0)

    def advance(
        self, number: int, state: AnnealedClasses, streams: Streams, n: int
    ) -> tuple[AnnealedClasses, None]:
        """So many temperatures."""
        from jensen.kernels.annealed_classes import anneal_classes

        theta, log_weight, words = state.theta.copy(), state.log_weight.copy(), state.words.copy()
        betas = self.betas[state.step : state.step + n + 1]
        anneal_classes(*self.rows, betas, words, theta, log_weight)
        return AnnealedClasses(theta, log_weight, words, state.step + n), None

    def is_done(self, state: AnnealedClasses) -> bool:
        """Whether this is the last temperature."""
        return state.step == self.n_steps

    def describe(self, state: AnnealedClasses) -> str:
        """The temperature."""
        return f"beta={self.betas[state.step]:.3g}"
