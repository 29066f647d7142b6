"""A fitted mixture of factor analysers: what it knows of rows, components and factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors
from jensen.inference.factors import (
    FactorPoint,
    blocks,
    plain_point,
    plain_posterior,
    read_posterior_like,
)
from jensen.q_hidden.gaussian_factors import row_likelihoods
from jensen.q_hidden.states import independent
from jensen.support.fields import record
from jensen.support.json_values import Checked, as_checked, read_record
from jensen.support.machine import check_many

Array = NDArray[np.float64]

PARTS = ("weights", "loadings", "noise", "strength")


@record
class MixturePoint(NamedTuple):
    """Parameters as people know them, in the units of the columns."""

    weights: Array  # (S,)
    mean: Array  # (S, D)
    loadings: Array  # (S, D, K)
    noise: Array  # (S, D): variances

    def component(self, s: int) -> FactorPoint:
        """The factor analysis that a component is."""
        return FactorPoint(self.mean[s], self.loadings[s], self.noise[s])

    def of(self, components: NDArray[np.intp]) -> MixturePoint:
        """These components, in this order."""
        return MixturePoint(*(part[components] for part in self))

    def canonical(self) -> MixturePoint:
        """The same distribution, each component in the coordinates that are unique."""
        each = [self.component(s).canonical() for s in range(len(self.weights))]
        return self._replace(loadings=np.array([one.loadings for one in each]))

    @property
    def covariances(self) -> Array:
        """(S, D, D): Λ Λᵀ + Ψ of each component."""
        return np.array([self.component(s).covariance for s in range(len(self.weights))])

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
        """Rows (n, D), and the components that made them."""
        states = np.asarray(rng.choice(len(self.weights), n, p=self.weights))
        rows = np.empty((n, self.mean.shape[1]))
        for s in range(len(self.weights)):
            mine = states == s
            rows[mine] = self.component(s).sample(int(mine.sum()), rng)[0]
        return rows, states

    def ask(self, values: Array) -> tuple[Array, Array, Array]:
        """Log p(row) (n,), p(component | row) (n, S), and E[(1, h) | row, component] (S, n, 1 + K).

        NaN is missing.
        """
        n_own, n, width = len(self.weights), len(values), 1 + self.loadings.shape[2]
        joint, means = np.empty((n_own, n)), np.empty((n_own, n, width))
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        for s in range(n_own):
            factors, found = self.component(s).ask(values)
            joint[s] = row_likelihoods(factors, found) + log_weights[s]
            means[s] = found.mean
        log_like, share = independent.posterior(joint)
        return log_like, share.T, means


@dataclass(frozen=True, eq=False)
class FittedFactorMixture:
    """What was learned; of a posterior the questions are answered at its means."""

    point: MixturePoint
    counts: Array  # (S,): expected rows of each component
    shared_noise: bool
    is_flat: bool = False
    eta: tuple[Any, ...] | None = None  # q(θ), in units of shift and scale

    @property
    def n_components(self) -> int:
        """How many components there are."""
        return len(self.point.weights)

    @property
    def n_factors(self) -> int:
        """How many factors each of them has."""
        return int(self.point.loadings.shape[2])

    @property
    def dimensions(self) -> NDArray[np.intp]:
        """(S,): how many factors each component has, those that died left out."""
        if self.eta is None:
            return np.full(self.n_components, self.n_factors)
        return np.asarray((self.eta[1].first[..., 1:] != 0.0).any(-2).sum(-1))

    @property
    def n_parameters(self) -> int:
        """How many free parameters: rotations of factors are none."""
        n, D, K = self.point.loadings.shape
        own = D + D * K - K * (K - 1) // 2
        return int(n - 1 + n * own + (D if self.shared_noise else n * D))

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
        plain = {"shared_noise": self.shared_noise, "flat": self.is_flat}
        counts = {"counts": self.counts.tolist()}
        return {**plain, **counts, **plain_point(self.point), **plain_posterior(PARTS, self.eta)}

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        needed = {"shared_noise", "flat", "counts", "parameters"}
        members = as_checked(value).fields(needed, {"posterior"})
        shared, flat = members["shared_noise"].flag(), members["flat"].flag()
        counts, parameters = members["counts"].numbers(), members["parameters"]
        n, D, K = _sizes(parameters)
        like = MixturePoint(np.empty(n), np.empty((n, D)), np.empty((n, D, K)), np.empty((n, D)))
        point: MixturePoint = read_record(parameters, like)
        if not (point.noise > 0.0).all():
            parameters.fail("has a noise of 0 or less: variances must be above 0")
        if not ((point.weights >= 0.0).all() and abs(point.weights.sum() - 1.0) < 1e-9):
            parameters.fail("has weights that are no shares: they must be 0 or more and sum to 1")
        if shared and (point.noise != point.noise[0]).any():
            parameters.fail("has noise that differs, but shared noise is the same")
        if counts.shape != (n,) or not (counts >= 0.0).all():
            members["counts"].fail(f"must hold {n} numbers, 0 or more")
        if "posterior" not in members:
            return cls(point, counts, shared, is_flat=flat)
        own = (D,) if shared else (n, D)
        like_parts = {
            "weights": np.empty(n),
            "loadings": Vectors(np.empty((n, D, 1 + K)), np.empty((n, D, 1 + K, 1 + K))),
            "noise": Gamma(np.empty(own), np.empty(own)),
            "strength": Gamma(np.empty((n, K)), np.empty((n, K))),
        }
        eta = read_posterior_like(members["posterior"], like_parts)
        return cls(point, counts, shared, is_flat=flat, eta=eta)

    def log_likelihood(self, rows: Array) -> Array:
        """Log p(row), what is missing integrated out."""
        parts = [self.point.ask(block)[0] for block in blocks(rows)]
        return np.concatenate([np.empty(0), *parts])

    def predict_proba(self, rows: Array) -> Array:
        """p(component | row), (n, S)."""
        parts = [self.point.ask(block)[1] for block in blocks(rows)]
        return np.concatenate([np.empty((0, self.n_components)), *parts])

    def transform(self, rows: Array) -> Array:
        """(n, S (1 + K)): of each component p(component | row), and that times E[h]."""
        found = [np.empty((0, self.n_components * (1 + self.n_factors)))]
        for block in blocks(rows):
            _, share, means = self.point.ask(block)
            found.append((share.T[..., None] * means).transpose(1, 0, 2).reshape(len(block), -1))
        return np.concatenate(found)

    def expected_rows(self, features: Array) -> Array:
        """Rows (n, D) that are expected of what `transform` gives."""
        own = features.reshape(len(features), self.n_components, -1)
        both = np.concatenate([self.point.mean[..., None], self.point.loadings], axis=2)
        return np.asarray(np.einsum("nsk,sdk->nd", own, both))

    def impute(self, rows: Array) -> Array:
        """Rows in which what is missing is what is expected given the rest."""
        return np.where(np.isnan(rows), self.expected_rows(self.transform(rows)), rows)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
        """Rows and the components that made them."""
        check_many(n, 16.0 * (self.point.mean.shape[1] + 1), "rows", "draw fewer")
        return self.point.sample(n, rng)


def _sizes(parameters: Checked) -> tuple[int, int, int]:
    """Components, columns and factors, of the loadings."""
    given = parameters.members()
    if "loadings" not in given:
        parameters.fail("lacks 'loadings'")
    first = next(given["loadings"].items(), None)
    row = None if first is None else next(first.items(), None)
    K = 0 if row is None else len(list(row.items()))
    if first is None or not K:
        given["loadings"].fail("must hold for each component a row of factors for each column")
    return len(list(given["loadings"].items())), len(list(first.items())), K
