"""Missing numbers of jointly Gaussian columns: rows that miss the same columns are one problem.

With z = (1, x), the log potential of a row is constant - ½ zᵀ Q z, whatever q(θ) is. What is
missing is then Gaussian with precision Q_mm, and all rows of a pattern are known by Σ z_s z_sᵀ of
what they show: a sweep takes no longer for more rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.wishart import cholesky, gram, inverse_root, log_det

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))


class CellPattern(NamedTuple):
    """Rows that miss the same columns; place 0 is the constant 1, column v is at v + 1."""

    missing: NDArray[np.intp]  # (m,): places
    seen: NDArray[np.intp]  # (k,): places
    root: Array  # (r, k): rootᵀ root = Σ weight · z_s z_sᵀ
    weight: float


class GaussianCells(NamedTuple):
    """A quadratic log potential of every row, and what the rows show."""

    constant: float
    quadratic: Array  # (n + 1, n + 1): Q
    patterns: tuple[CellPattern, ...]


def compressed(rows: Array) -> Array:
    """At most as many rows as columns, with the same rowsᵀ rows."""
    return np.asarray(np.linalg.qr(rows, mode="r")) if len(rows) > rows.shape[1] else rows


def expected(potentials: GaussianCells) -> tuple[Array, Array]:
    """E_q[log potentials] + H[q(h)] of every pattern, and Σ E_q[z zᵀ] of all rows."""
    values = np.empty(len(potentials.patterns))
    moments = np.zeros_like(potentials.quadratic)
    for k, pattern in enumerate(potentials.patterns):
        values[k] = _add(potentials, pattern, moments)
    return values, moments


def _add(potentials: GaussianCells, pattern: CellPattern, moments: Array) -> float:
    """Add the moments of a pattern; its value."""
    quadratic, (missing, seen, root, weight) = potentials.quadratic, pattern
    gain, spread, log_size = conditional(quadratic, missing, seen)
    left = quadratic[np.ix_(seen, seen)] + quadratic[np.ix_(seen, missing)] @ gain
    filled = np.empty((len(root), len(quadratic)))
    filled[:, seen], filled[:, missing] = root, root @ gain.T
    moments += filled.T @ filled
    moments[np.ix_(missing, missing)] += weight * spread
    return float(weight * (potentials.constant + log_size) - 0.5 * np.sum((root @ left) * root))


def conditional(
    quadratic: Array, missing: NDArray[np.intp], seen: NDArray[np.intp]
) -> tuple[Array, Array, float]:
    """What is missing: E = gain · z_s, its covariance, and log ∫ exp(-½ (x_m - E)ᵀ Q_mm (...))."""
    lower = cholesky(quadratic[np.ix_(missing, missing)])
    spread = gram(inverse_root(lower)) if len(missing) else np.zeros((0, 0))
    gain = -spread @ quadratic[np.ix_(missing, seen)]
    return gain, spread, 0.5 * (len(missing) * LOG_2PI + float(log_det(lower, 1.0)))
