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


MOST_CELLS = 1 << 20
"""Numbers in the largest array that patterns are completed with at once."""


def expected(potentials: GaussianCells) -> tuple[Array, Array]:
    """E_q[log potentials] + H[q(h)] of every pattern, and Σ E_q[z zᵀ] of all rows."""
    patterns = potentials.patterns
    most_missing = max((len(pattern.missing) for pattern in patterns), default=0)
    most_rows = max((len(pattern.root) for pattern in patterns), default=0)
    step = max(1, MOST_CELLS // (max(1, most_missing) ** 2 * max(1, most_rows)))
    values, moments = np.empty(len(patterns)), np.zeros_like(potentials.quadratic)
    for k in range(0, len(patterns), step):
        values[k : k + step] = _add(potentials, patterns[k : k + step], moments)
    return values, moments


def _add(potentials: GaussianCells, patterns: tuple[CellPattern, ...], moments: Array) -> Array:
    """Add the moments of some patterns, side by side; their values.

    Patterns that miss less than others are filled up with a place behind all others, which is
    independent of them with variance 1.
    """
    quadratic, n = potentials.quadratic, len(moments)
    n_missing = np.array([len(pattern.missing) for pattern in patterns])
    places = np.full((len(patterns), n_missing.max()), n)
    owner = np.repeat(np.arange(len(patterns)), [len(pattern.root) for pattern in patterns])
    filled, first = np.zeros((len(owner), n + 1)), 0
    for k, pattern in enumerate(patterns):
        places[k, : n_missing[k]] = pattern.missing
        filled[first : first + len(pattern.root), pattern.seen] = pattern.root
        first += len(pattern.root)
    spread, log_det_spread = _spread(quadratic, places)
    pull, rows = np.zeros_like(filled), np.arange(len(owner))[:, None]
    pull[:, :n] = filled[:, :n] @ quadratic
    at = places[owner]
    filled[rows, at] = -np.einsum("rij,rj->ri", spread[owner], pull[rows, at])
    filled = filled[:, :n]
    weight = np.array([pattern.weight for pattern in patterns])
    moments += filled.T @ filled
    cells = np.ravel_multi_index((places[:, :, None], places[:, None, :]), (n + 1, n + 1))
    unsure = np.bincount(
        cells.ravel(), (weight[:, None, None] * spread).ravel(), minlength=(n + 1) ** 2
    )
    moments += unsure.reshape(n + 1, n + 1)[:n, :n]
    log_size = 0.5 * (n_missing * LOG_2PI + log_det_spread)
    squares = np.bincount(owner, np.sum((filled @ quadratic) * filled, axis=1), len(patterns))
    return np.asarray(weight * (potentials.constant + log_size) - 0.5 * squares)


def _spread(quadratic: Array, places: NDArray[np.intp]) -> tuple[Array, Array]:
    """The covariances of what patterns miss (P, m, m), and their log determinants."""
    n = len(quadratic)
    padded = np.zeros((n + 1, n + 1))
    padded[:n, :n] = quadratic
    precision, diagonal = padded[places[:, :, None], places[:, None, :]], range(places.shape[1])
    precision[:, diagonal, diagonal] += places == n
    lower = cholesky(precision)
    return gram(inverse_root(lower)), log_det(lower, 1.0)


def drawn(potentials: GaussianCells, rng: np.random.Generator) -> tuple[Array, Array]:
    """The log potential of every pattern at values that are drawn, and Σ z zᵀ of all rows.

    The n rows of a pattern are known by S = Σ z_s z_sᵀ = Rᵀ R alone, and so is what is drawn: with
    noise ε of covariance C in each row, Σ z_s εᵀ is Rᵀ A, where the rows of A are drawn from C, and
    Σ ε εᵀ is Aᵀ A plus a Wishart matrix of n - len(A) degrees of freedom. Where the weight w of the
    pattern is no whole number, n is near it, and C is scaled by w / n.
    """
    quadratic = potentials.quadratic
    values, moments = np.empty(len(potentials.patterns)), np.zeros_like(quadratic)
    for k, pattern in enumerate(potentials.patterns):
        missing, seen, root = pattern.missing, pattern.seen, pattern.root
        own = np.zeros_like(quadratic)
        own[np.ix_(seen, seen)] = root.T @ root
        if len(missing):
            gain, spread, _ = conditional(quadratic, missing, seen)
            n = max(round(pattern.weight), len(root))
            lower = cholesky(spread) * np.sqrt(pattern.weight / n)
            noise = rng.standard_normal((len(root), len(missing))) @ lower.T
            filled = root @ gain.T + noise
            cross = filled.T @ root
            own[np.ix_(missing, seen)], own[np.ix_(seen, missing)] = cross, cross.T
            more = _scatter(lower, n - len(root), rng)
            own[np.ix_(missing, missing)] = filled.T @ filled + more
        values[k] = pattern.weight * potentials.constant - 0.5 * np.sum(own * quadratic)
        moments += own
    return values, moments


def at_means(potentials: GaussianCells) -> Array:
    """Σ z zᵀ of all rows, as if what is missing were known to be at its conditional mean."""
    moments = np.zeros_like(potentials.quadratic)
    for missing, seen, root, _ in potentials.patterns:
        rows = np.zeros((len(root), len(moments)))
        rows[:, seen] = root
        rows[:, missing] = root @ conditional(potentials.quadratic, missing, seen)[0].T
        moments += rows.T @ rows
    return moments


def _scatter(lower: Array, n: int, rng: np.random.Generator) -> Array:
    """Σ ε εᵀ of n draws ε with covariance L Lᵀ, by Bartlett's decomposition where n is large."""
    m = len(lower)
    if n <= 2 * m:
        normal = rng.standard_normal((n, m))
    else:
        normal = np.triu(rng.standard_normal((m, m)), 1)
        normal[range(m), range(m)] = np.sqrt(rng.chisquare(n - np.arange(m)))
    return gram(normal @ lower.T)


def conditional(
    quadratic: Array, missing: NDArray[np.intp], seen: NDArray[np.intp]
) -> tuple[Array, Array, float]:
    """What is missing: E = gain · z_s, its covariance, and log ∫ exp(-½ (x_m - E)ᵀ Q_mm (...))."""
    lower = cholesky(quadratic[np.ix_(missing, missing)])
    spread = gram(inverse_root(lower)) if len(missing) else np.zeros((0, 0))
    gain = -spread @ quadratic[np.ix_(missing, seen)]
    return gain, spread, 0.5 * (len(missing) * LOG_2PI + float(log_det(lower, 1.0)))
