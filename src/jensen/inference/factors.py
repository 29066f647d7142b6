"""A fitted factor analysis: what it knows of rows, and of the hidden numbers behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors
from jensen.q_hidden.gaussian_factors import (
    FactorMoments,
    FactorRows,
    GaussianFactors,
    posterior,
    row_likelihoods,
)
from jensen.support.fields import record
from jensen.support.json_values import Checked, as_checked, plain_record, read_record

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

    def ask(self, values: Array) -> tuple[GaussianFactors, FactorMoments]:
        """What is known of the factors of rows, NaN where something is missing; no moments."""
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
        factors = GaussianFactors(log_noise, psi, first, strength, rows)
        return factors, posterior(factors)


@dataclass(frozen=True, eq=False)
class FittedFactors:
    """What was learned; of a posterior the questions are answered at its means."""

    point: FactorPoint
    noise: str  # "diagonal" or "isotropic"
    is_flat: bool = False
    n_live: int | None = None  # how many factors are there; None: all of them
    eta: tuple[Any, ...] | None = None  # q(θ), in units of shift and scale

    @property
    def is_isotropic(self) -> bool:
        """Whether all columns have the same noise."""
        return self.noise == "isotropic"

    @property
    def n_factors(self) -> int:
        """How many factors there are."""
        return int(self.point.loadings.shape[1])

    @property
    def n_parameters(self) -> int:
        """How many free parameters: a rotation of the factors is none."""
        D, K = self.point.loadings.shape
        return int(D + D * K - K * (K - 1) // 2 + (1 if self.is_isotropic else D))

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
        plain = {"noise": self.noise, "flat": self.is_flat}
        return {**plain, **plain_point(self.point), **plain_posterior(PARTS, self.eta)}

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        members = as_checked(value).fields({"noise", "flat", "parameters"}, {"posterior"})
        noise = members["noise"].text()
        if noise not in ("diagonal", "isotropic"):
            members["noise"].fail("must be 'diagonal' or 'isotropic'")
        D, K = read_sizes(members["parameters"])
        like = FactorPoint(np.empty(D), np.empty((D, K)), np.empty(D))
        point: FactorPoint = read_record(members["parameters"], like)
        if not (point.noise > 0.0).all():
            members["parameters"].fail("has a noise of 0 or less: variances must be above 0")
        if noise == "isotropic" and (point.noise != point.noise[0]).any():
            members["parameters"].fail("has noise that differs, but isotropic noise is the same")
        flat = members["flat"].flag()
        if "posterior" not in members:
            return cls(point, noise, is_flat=flat)
        n = 1 if noise == "isotropic" else D
        eta = read_posterior(members["posterior"], PARTS, D, 1 + K, K, n)
        live = int((eta[0].first[:, 1:] != 0.0).any(0).sum())
        return cls(point, noise, is_flat=flat, n_live=live, eta=eta)

    def log_likelihood(self, rows: Array) -> Array:
        """Log p(row), what is missing integrated out."""
        parts = [row_likelihoods(*self.point.ask(block)) for block in blocks(rows)]
        return np.concatenate([np.empty(0), *parts])

    def transform(self, rows: Array) -> Array:
        """E[h | row], (n, K)."""
        parts = [self.point.ask(block)[1].mean[:, 1:] for block in blocks(rows)]
        return np.concatenate([np.empty((0, self.n_factors)), *parts])

    def impute(self, rows: Array) -> Array:
        """Rows in which what is missing is what is expected given the rest."""
        expected = self.point.mean + self.transform(rows) @ self.point.loadings.T
        return np.where(np.isnan(rows), expected, rows)


def blocks(rows: Array) -> list[Array]:
    """Rows, so many at a time as questions take."""
    return [rows[k : k + BLOCK_ROWS] for k in range(0, len(rows), BLOCK_ROWS)]


# --- as plain data ---

PARTS = ("loadings", "noise", "strength")


def plain_point(point: Any) -> dict[str, Any]:
    """Parameters as people know them."""
    return {"parameters": plain_record(point)}


def plain_posterior(names: tuple[str, ...], eta: tuple[Any, ...] | None) -> dict[str, Any]:
    """q(θ), part by part; nothing if there is none."""
    if eta is None:
        return {}
    return {"posterior": {n: plain_record(part) for n, part in zip(names, eta, strict=True)}}


def read_sizes(value: Checked) -> tuple[int, int]:
    """D and K, of the loadings."""
    members = value.members()
    if "loadings" not in members:
        value.fail("lacks 'loadings'")
    rows = list(members["loadings"].items())
    if not rows or not (n_factors := len(list(rows[0].items()))):
        members["loadings"].fail("must hold a row for each column, with a number for each factor")
    return len(rows), n_factors


def read_posterior(
    value: Checked, names: tuple[str, ...], D: int, width: int, K: int, n: int
) -> tuple[Any, ...]:
    """q(θ): loadings (D, width), noise (n,), strengths (K,) of factors, how often they are on."""
    like = {
        "on": np.empty((K, 2)),
        "loadings": Vectors(np.empty((D, width)), np.empty((D, width, width))),
        "noise": Gamma(np.empty(n), np.empty(n)),
        "strength": Gamma(np.empty(K), np.empty(K)),
    }
    return read_posterior_like(value, {name: like[name] for name in names})


def read_posterior_like(value: Checked, like: dict[str, Any]) -> tuple[Any, ...]:
    """q(θ), part by part, of these shapes."""
    members = value.fields(set(like))
    found = {name: read_record(members[name], part) for name, part in like.items()}
    for name in ("noise", "strength"):
        if not ((found[name].total > -1.0) & (found[name].exposure > 0.0)).all():
            members[name].fail("is no gamma distribution")
    return tuple(found.values())
