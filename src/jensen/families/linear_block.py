"""Several regressions at once, y = W z + noise of covariance Σ, read at their most likely values.

Any coefficient may be held at a value, and so may any block of Σ, also at 0. There is no prior, and
so no distribution: rows add (N, Σ y yᵀ, Σ y zᵀ, Σ z zᵀ), and t holds Σ and W in the places of their
sums. Where the noise of outputs is independent each output may have rows of its own: N, Σ y² and
Σ z zᵀ have an axis of outputs then.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from jensen.families import NO_SPREAD, refuse
from jensen.families.linear_regression import Regression

Array = NDArray[np.float64]

MOST_TURNS = 200
"""Of coefficients that are held in part and a full covariance, each given the other."""
STILL = 1e-13


@dataclass(frozen=True, eq=False)
class LinearBlock:
    """D outputs on the same W inputs; NaN is learned, numbers are held."""

    coefficients: Array  # (D, W)
    covariance: Array  # (D, D)
    is_isotropic: bool = False  # one variance for all outputs
    least: Array | float = 0.0  # variances that are learned go no lower

    @cached_property
    def blocks(self) -> list[NDArray[np.intp]]:
        """Outputs whose noise depends on each other."""
        return blocks_of(self.covariance)

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """(D, W): coefficients that are learned."""
        return np.isnan(self.coefficients)

    def mode_stats(self, eta: Regression) -> Regression:
        """At the most likely coefficients and covariance."""
        if len(self.blocks) == len(self.covariance):
            rows = self._rows(eta)
            return self._point(rows, self._variances(eta, rows))
        whole = self._whole(eta)
        coefficients = np.where(self.is_free, whole, self.coefficients)
        covariance = self._covariance(eta, coefficients)
        if not self.is_free.all() and self.is_free.any():
            for _ in range(MOST_TURNS):
                before = coefficients
                coefficients = self._weighed(eta, covariance)
                covariance = self._covariance(eta, coefficients)
                if np.abs(coefficients - before).max() <= STILL * np.abs(coefficients).max():
                    break
        return self._point(coefficients, covariance)

    def around(self, coefficients: Array, covariance: Array, weight: float) -> Regression:
        """η whose mode has these values, as sure as so many rows; what is held stays."""
        W = np.where(self.is_free, coefficients, self.coefficients)
        held = np.isnan(self.covariance)
        noise = np.where(held, covariance, self.covariance)
        D, width = W.shape
        square = weight * np.eye(width)
        second = weight * (noise + W @ W.T)
        if len(self.blocks) < D:
            return Regression(np.asarray(weight), second, weight * W, square)
        count = np.full(D, float(weight))
        strength = np.broadcast_to(square, (D, width, width)).copy()
        return Regression(count, np.diagonal(second).copy(), weight * W, strength)

    def has_mode(self, eta: Any) -> bool:
        """Always, once there are rows."""
        return True

    def _point(self, coefficients: Array, covariance: Array) -> Regression:
        nothing = np.zeros(())
        return Regression(nothing, covariance, coefficients, nothing)

    # --- independent noise ---

    def _rows(self, eta: Regression) -> Array:
        """Coefficients (D, W), row by row."""
        value = np.where(self.is_free, 0.0, self.coefficients)
        if not self.is_free.any():
            return value
        strength = np.broadcast_to(eta.strength, (*value.shape, value.shape[1]))
        left = eta.first - (strength @ value[..., None])[..., 0]
        both = self.is_free[:, :, None] & self.is_free[:, None, :]
        system = np.where(both, strength, 0.0)
        at = np.arange(value.shape[1])
        system[:, at, at] += ~self.is_free
        found = _solve(system, np.where(self.is_free, left, 0.0))
        return np.where(self.is_free, found, value)

    def _variances(self, eta: Regression, W: Array) -> Array:
        held = np.diagonal(self.covariance)
        second = eta.second if eta.second.ndim == 1 else np.diagonal(eta.second)
        square = ((eta.strength @ W[..., None])[..., 0] * W).sum(-1)
        left = second - 2.0 * (eta.first * W).sum(-1) + square
        count = np.broadcast_to(eta.count, left.shape)
        if self.is_isotropic:
            left, count = np.full_like(left, left.sum()), np.full_like(left, count.sum())
        free = np.isnan(held)
        refuse(free & ~(count > 0.0), "no steps that show it")
        found = np.maximum(left / np.where(count > 0.0, count, 1.0), self.least)
        return np.diag(np.where(free, found, held))

    # --- noise that depends ---

    def _whole(self, eta: Regression) -> Array:
        """Coefficients without any held; of rows that have some they are where it begins."""
        found: Array = _solve(eta.strength[None], eta.first.T[None])[0].T
        return found

    def _weighed(self, eta: Regression, covariance: Array) -> Array:
        """Coefficients that are free, given the covariance (generalised least squares)."""
        value = np.where(self.is_free, 0.0, self.coefficients)
        moving = np.flatnonzero(np.diagonal(covariance) > 0.0)
        precision: Any = np.zeros_like(covariance)
        precision[np.ix_(moving, moving)] = np.linalg.inv(covariance[np.ix_(moving, moving)])
        free = self.is_free.ravel()
        system: Any = np.kron(precision, eta.strength)[np.ix_(free, free)]
        right = (precision @ (eta.first - value @ eta.strength)).ravel()[free]
        found = value.copy()
        found[self.is_free] = _solve(system[None], right[None])[0]
        return found

    def _covariance(self, eta: Regression, W: Array) -> Array:
        """What is left, block by block, where it is not held."""
        cross = eta.first @ W.T
        left = (eta.second - cross - cross.T + W @ eta.strength @ W.T) / eta.count
        found = np.zeros_like(left)
        for block in self.blocks:
            here = np.ix_(block, block)
            held = self.covariance[here]
            found[here] = left[here] if np.isnan(held).any() else held
        values = np.diagonal(found)
        low = np.isnan(np.diagonal(self.covariance)) & (values < self.least)
        found[low, low] = np.broadcast_to(self.least, values.shape)[low]
        return np.asarray(0.5 * (found + found.T))


def blocks_of(covariance: Array) -> list[NDArray[np.intp]]:
    """Variables whose covariance is not held at 0, together."""
    n, label = connected_components(np.isnan(covariance) | (covariance != 0.0), directed=False)
    return [np.flatnonzero(label == k) for k in range(n)]


def _solve(system: Array, right: Array) -> Array:
    """Solutions of symmetric systems that may be singular, scaled to one first."""
    size = np.sqrt(np.maximum(np.diagonal(system, axis1=-2, axis2=-1), 1e-300))
    scaled = system / (size[..., :, None] * size[..., None, :])
    extra = right.ndim == system.ndim
    b = (right if extra else right[..., None]) / size[..., None]
    try:
        found = np.linalg.solve(scaled, b)
    except np.linalg.LinAlgError:
        found = np.linalg.pinv(scaled, hermitian=True) @ b
    refuse(np.asarray(~np.isfinite(found).all((-1, -2))), NO_SPREAD)
    found = found / size[..., None]
    return np.asarray(found if extra else found[..., 0])


@dataclass(frozen=True, eq=False)
class StartBlock:
    """Mean and covariance of first states; NaN is learned. t holds both as η holds their sums."""

    mean: Array  # (K,)
    covariance: Array  # (K, K)

    def mode_stats(self, eta: Any) -> Any:
        """At the most likely mean, and covariance of the blocks that are learned."""
        mean = np.where(np.isnan(self.mean), eta.first / eta.count, self.mean)
        cross = np.outer(eta.first / eta.count, mean)
        left = eta.second / eta.count - cross - cross.T + np.outer(mean, mean)
        free = np.isnan(self.covariance)
        return type(eta)(np.zeros(()), mean, np.where(free, left, self.covariance))

    def has_mode(self, eta: Any) -> bool:
        """Always, once there are sequences."""
        return True
