"""A fitted factor analysis: what it knows of rows, and of the hidden numbers behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.gaussian_factors import FactorMoments, FactorRows, GaussianFactors, posterior
from jensen.support.fields import record

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))
BLOCK_ROWS = 1 << 14


@record
class FactorPoint(NamedTuple):
    """Parameters as people know them, in the units of the columns."""

    mean: Array  # (D,)
    loadings: Array  # (D, K)
    noise: Array  # (D,): variances

    @property
    def covariance(self) -> Array:
        """Λ Λᵀ + Ψ."""
        return np.asarray(self.loadings @ self.loadings.T + np.diag(self.noise))

    def canonical(self) -> FactorPoint:
        """The same distribution with Λᵀ Ψ⁻¹ Λ diagonal and falling, longest loadings positive."""
        loadings = self.loadings
        turn = np.linalg.svd(loadings / np.sqrt(self.noise)[:, None], full_matrices=False)[2]
        loadings = loadings @ turn.T
        longest = loadings[np.abs(loadings).argmax(0), np.arange(loadings.shape[1])]
        return self._replace(loadings=loadings * np.where(longest < 0.0, -1.0, 1.0))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Rows (n, D), and the factors (n, K) that made them."""
        h = rng.standard_normal((n, self.loadings.shape[1]))
        noise = rng.standard_normal((n, len(self.mean))) * np.sqrt(self.noise)
        return self.mean + h @ self.loadings.T + noise, h

    def ask(self, values: Array) -> tuple[FactorRows, FactorMoments]:
        """What is known of the factors of rows, NaN where something is missing."""
        gaps = np.isnan(values)
        patterns, owner = np.unique(gaps, axis=0, return_inverse=True)
        root = np.column_stack([np.ones(len(values)), np.where(gaps, 0.0, values - self.mean)])
        seen, counts = (~patterns).astype(float), np.ones(len(patterns))
        rows = FactorRows(seen, counts, root, np.ravel(owner))
        psi = 1.0 / self.noise
        width = 1 + self.loadings.shape[1]
        first, strength = np.zeros((len(psi), width)), np.zeros((len(psi), width, width))
        first[:, 1:] = psi[:, None] * self.loadings
        strength[:, 1:, 1:] = first[:, 1:, None] * self.loadings[:, None, :]
        log_noise = 0.5 * (np.log(psi) - LOG_2PI)
        return rows, posterior(GaussianFactors(log_noise, psi, first, strength, rows))


@dataclass(frozen=True, eq=False)
class FittedFactors:
    """What was learned; of a posterior the questions are answered at its means."""

    point: FactorPoint
    is_isotropic: bool
    is_flat: bool = False
    n_live: int | None = None  # how many factors are there; None: all of them
    eta: tuple[Any, ...] | None = None  # q(θ), in units of shift and scale

    @property
    def n_factors(self) -> int:
        """How many factors there are."""
        return self.point.loadings.shape[1]

    @property
    def n_parameters(self) -> int:
        """How many free parameters: a rotation of the factors is none."""
        D, K = self.point.loadings.shape
        return D + D * K - K * (K - 1) // 2 + (1 if self.is_isotropic else D)

    @property
    def has_posterior(self) -> bool:
        """After VB."""
        return self.eta is not None

    @property
    def n_samples(self) -> int | None:
        """There are none."""
        return None

    def log_likelihood(self, rows: Array) -> Array:
        """Log p(row), what is missing integrated out."""
        parts = []
        for block in _blocks(rows):
            asked, found = self.point.ask(block)
            parts.append(found.log_size[asked.owner] - 0.5 * found.square)
        return np.concatenate([np.empty(0), *parts])

    def transform(self, rows: Array) -> Array:
        """E[h | row], (n, K)."""
        parts = [self.point.ask(block)[1].mean[:, 1:] for block in _blocks(rows)]
        return np.concatenate([np.empty((0, self.n_factors)), *parts])

    def impute(self, rows: Array) -> Array:
        """Rows in which what is missing is what is expected given the rest."""
        expected = self.point.mean + self.transform(rows) @ self.point.loadings.T
        return np.where(np.isnan(rows), expected, rows)


def _blocks(rows: Array) -> list[Array]:
    return [rows[k : k + BLOCK_ROWS] for k in range(0, len(rows), BLOCK_ROWS)]
