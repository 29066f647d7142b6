"""Restricted Boltzmann machines learned by chains, in centred units, rows in batches.

Persistent chains go on between updates; contrastive divergence begins at the rows of the batch. A
missing bit is a unit that is not clamped: it is drawn with the hidden ones, again whenever its row
comes up. The slope is that of centred units, (v - μ)(h - λ), which is invariant to flips of bits.

References
----------
Montavon and Müller (2012), *Deep Boltzmann machines and the centering trick*; Tieleman (2008),
*Training restricted Boltzmann machines using approximations to the likelihood gradient*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.restricted import RestrictedParameters
from jensen.support.machine import one_blas_thread

Array = NDArray[np.float64]
Singles = NDArray[np.float32]

NOISE = 0.1
"""Standard deviation of random weights at the start."""
SLIDE = 0.1
"""The weight of a batch in the sliding mean of hidden units."""


class BatchChoices(NamedTuple):
    """How chains learn."""

    n_hidden: int
    is_persistent: bool
    n_steps: int
    learning_rate: float
    batch_size: int
    n_iter: int
    ridge: float


class _Machine:
    """Parameters that move, in single precision."""

    def __init__(self, on: Array, n_hidden: int, rng: np.random.Generator) -> None:
        self.mu = on.astype(np.float32)
        self.lam = np.full(n_hidden, 0.5, np.float32)
        self.b = np.log(on / (1.0 - on)).astype(np.float32)
        self.c = np.zeros(n_hidden, np.float32)
        self.ties = (NOISE * rng.standard_normal((len(on), n_hidden))).astype(np.float32)

    def hidden(self, v: Singles) -> Singles:
        """P(h = 1 | v)."""
        return _logistic(v @ self.ties + self.c)

    def visible(self, h: Singles) -> Singles:
        """P(v = 1 | h)."""
        return _logistic(h @ self.ties.T + self.b)

    def update(self, seen: Any, free: Any, rate: float, ridge: float) -> None:
        """One step: what is seen with its hidden units, less what chains show of both."""
        v, h, weight = seen
        w, g = free
        self.lam += SLIDE * (h.mean(0) - self.lam)
        mu, lam = self.mu, self.lam
        scaled = weight[:, None] * (h - lam)
        slope = (v - mu).T @ scaled / np.float32(len(v)) - (w - mu).T @ (g - lam) / np.float32(
            len(w)
        )
        fields = (weight @ v) / np.float32(len(v)) - w.mean(0) - slope @ lam
        hidden = (weight @ h) / np.float32(len(v)) - g.mean(0) - mu @ slope
        self.ties += np.float32(rate) * (slope - np.float32(ridge) * self.ties)
        self.b += np.float32(rate) * fields
        self.c += np.float32(rate) * hidden


def _logistic(x: Singles) -> Singles:
    with np.errstate(over="ignore"):  # exp of much is infinity, and its inverse 0
        np.negative(x, out=x)
        np.exp(x, out=x)
        x += np.float32(1.0)
        found: Singles = np.reciprocal(x, out=x)
    return found


def _draw(p: Singles, rng: np.random.Generator) -> Singles:
    return (rng.random(p.shape, dtype=np.float32) < p).astype(np.float32)


@one_blas_thread()
def train(
    values: Array, weight: Array, choices: BatchChoices, rng: np.random.Generator
) -> RestrictedParameters:
    """The parameters after `n_iter` passes over the rows (n, V), NaN where a bit is missing."""
    n, size = len(values), min(choices.batch_size, len(values))
    seen = ~np.isnan(values)
    share = (weight @ np.where(seen, values, 0.0) + 0.5) / (weight @ seen + 1.0)
    machine = _Machine(share, choices.n_hidden, rng)
    gone = np.isnan(values)
    filled = np.where(gone, rng.random(values.shape) < share, values).astype(np.float32)
    scaled = (weight / weight.mean()).astype(np.float32)
    has_gaps = np.asarray(gone.any(1))
    state = _draw(np.full((size, choices.n_hidden), 0.5, np.float32), rng)
    per_pass = max(n // size, 1)
    n_updates, update = per_pass * choices.n_iter, 0
    ridge = choices.ridge / float(weight.sum())
    for _ in range(choices.n_iter):
        order = rng.permutation(n)
        for start in range(0, per_pass * size, size):
            rows = order[start : start + size]
            v = filled[rows]
            h = machine.hidden(v)
            if has_gaps[rows].any():
                for _ in range(choices.n_steps):
                    v = np.where(gone[rows], _draw(machine.visible(_draw(h, rng)), rng), v)
                    h = machine.hidden(v)
                filled[rows] = v
            if not choices.is_persistent:
                state = _draw(h, rng)
            for _ in range(choices.n_steps):
                w = _draw(machine.visible(state), rng)
                g = machine.hidden(w)
                state = _draw(g, rng)
            rate = choices.learning_rate * (1.0 - update / n_updates)
            machine.update((v, h, scaled[rows]), (w, g), rate, ridge)
            update += 1
    return RestrictedParameters(
        *(np.asarray(x, np.float64) for x in (machine.b, machine.c, machine.ties))
    )
