"""Fitted binary factors: what they know of rows, exactly or by mean field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import TooLargeError
from jensen.families import gaussian_vectors
from jensen.inference.factors import plain_point, plain_posterior, read_posterior, read_sizes
from jensen.q_hidden.binary_factors import BinaryRows, FactorBits, bounds, posteriors
from jensen.support.fields import record
from jensen.support.json_values import as_checked, plain_array, read_array, read_record
from jensen.support.text import plural

Array = NDArray[np.float64]

PARTS = ("on", "loadings", "noise", "strength")
MOST_EXACT = 16
"""So many factors have 65,536 states, which are gone through for every row."""
LOG_2PI = float(np.log(2.0 * np.pi))
BLOCK_ROWS = 1 << 12


@record
class BinaryPoint(NamedTuple):
    """Parameters as people know them."""

    on: Array  # (K,): how probable each factor is
    loadings: Array  # (D, K): what each adds to a row
    noise: Array  # (): the variance of the noise

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Rows (n, D), and the bits (n, K) that made them."""
        bits = (rng.random((n, len(self.on))) < self.on).astype(float)
        noise = np.sqrt(self.noise) * rng.standard_normal((n, len(self.loadings)))
        return bits @ self.loadings.T + noise, bits

    def beside(self, values: Array) -> FactorBits:
        """The potentials of rows, NaN where something is missing."""
        patterns, owner = np.unique(np.isnan(values), axis=0, return_inverse=True)
        seen = (~patterns).astype(float)
        rows = BinaryRows(np.nan_to_num(values), np.ones(len(values)), seen, np.ravel(owner))
        psi = np.full(len(self.loadings), 1.0 / float(self.noise))
        first = psi[:, None] * self.loadings
        strength = first[:, :, None] * self.loadings[:, None, :]
        with np.errstate(divide="ignore"):
            off, on = np.log1p(-self.on), np.log(self.on)
        log_noise = 0.5 * (np.log(psi) - LOG_2PI)
        return FactorBits(off, on, log_noise, psi, first, strength, rows)


@dataclass(frozen=True, eq=False)
class FittedBinaryFactors:
    """What was learned; of a posterior the questions are answered at its means."""

    point: BinaryPoint
    counts: Array  # (K,): in how many rows each factor is on
    eta: tuple[Any, ...] | None = None  # q(θ), in units of the scale

    @property
    def n_factors(self) -> int:
        """How many factors there are."""
        return len(self.point.on)

    @property
    def n_live(self) -> int:
        """How many are on in more than half a row, and longer than they are unsure."""
        live = self.counts > 0.5
        if self.eta is not None:
            known = gaussian_vectors.describe(self.eta[1])
            spread = np.diagonal(known["covariance"], axis1=1, axis2=2).sum(0)
            live &= np.square(known["mean"]).sum(0) > spread
        return int(live.sum())

    @property
    def n_parameters(self) -> int:
        """How many free parameters."""
        return self.point.loadings.size + self.n_factors + 1

    @property
    def has_posterior(self) -> bool:
        """After VB."""
        return self.eta is not None

    @property
    def n_samples(self) -> int | None:
        """There are none."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """All that was learned as plain data."""
        plain = {**plain_point(self.point), "rows": plain_array(self.counts)}
        return {**plain, **plain_posterior(PARTS, self.eta)}

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        members = as_checked(value).fields({"parameters", "rows"}, {"posterior"})
        D, K = read_sizes(members["parameters"])
        like = BinaryPoint(np.empty(K), np.empty((D, K)), np.empty(()))
        point: BinaryPoint = read_record(members["parameters"], like)
        if not point.noise > 0.0:
            members["parameters"].fail("has a noise of 0 or less: a variance must be above 0")
        if not ((point.on >= 0.0) & (point.on <= 1.0)).all():
            members["parameters"].fail("has 'on' that are no probabilities: they lie from 0 to 1")
        counts = read_array(members["rows"], (K,))
        if "posterior" not in members:
            return cls(point, counts)
        return cls(point, counts, read_posterior(members["posterior"], PARTS, D, K, K, 1))

    @property
    def is_exact(self) -> bool:
        """Whether all states of a row can be gone through."""
        return self.n_factors <= MOST_EXACT

    def require_exact(self) -> None:
        """Refuse what only mean field can do."""
        if not self.is_exact:
            raise TooLargeError(
                f"{plural(self.n_factors, 'factor')} have too many states to go through "
                f"({MOST_EXACT} at most), so log p(row) is not known: lower_bound(X) bounds it"
            )

    def log_likelihood(self, rows: Array) -> Array:
        """Log p(row), what is missing left out."""
        self.require_exact()
        parts = [posteriors(self.point.beside(block))[0] for block in _blocks(rows)]
        return np.concatenate([np.empty(0), *parts])

    def lower_bound(self, rows: Array) -> Array:
        """What mean field finds, which is no more than log p(row)."""
        parts = [bounds(self.point.beside(block))[0] for block in _blocks(rows)]
        return np.concatenate([np.empty(0), *parts])

    def transform(self, rows: Array) -> Array:
        """P(on | row), (n, K); by mean field where there are too many states."""
        solve = posteriors if self.is_exact else bounds
        parts = [solve(self.point.beside(block))[1] for block in _blocks(rows)]
        return np.concatenate([np.empty((0, self.n_factors)), *parts])

    def impute(self, rows: Array) -> Array:
        """Rows in which what is missing is what is expected given the rest."""
        expected = self.transform(rows) @ self.point.loadings.T
        return np.where(np.isnan(rows), expected, rows)


def _blocks(rows: Array) -> list[Array]:
    return [rows[k : k + BLOCK_ROWS] for k in range(0, len(rows), BLOCK_ROWS)]
