"""Scores of continuous columns: the evidence BGe, and the maximised likelihood with its penalties.

A local score sees a child and its p parents by two numbers of a matrix M: the residual
m = M_vv - M_vP M_PP⁻¹ M_Pv and log |M_PP|. Both scores are differences of a function L of sets,
score(v | P) = L(P + v) - L(P).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, multigammaln

from jensen.inference.gaussian_network import NormalWishartPrior
from jensen.scores.moments import Coordinates, Moments
from jensen.scores.schur import Left

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))


class GaussianScore(Protocol):
    """A formula; `prior` is the matrix that stands beside the data's, if the score has one."""

    @property
    def prior(self) -> Array | None:
        """The scale matrix of the prior."""

    def matrix(self, rows: Moments) -> Array:
        """The matrix whose residuals are scored."""

    def local(self, weight: float, n_parents: int, data: Left, prior: Left | None) -> Array:
        """The score of a child given its parents."""

    def of_set(self, weight: float, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """L of sets of one size."""


@dataclass(frozen=True)
class PenalisedGaussian:
    """-N/2 (log 2π + 1 + log σ²) - penalty(N) · (p + 2), with σ² the residual over N."""

    penalty: Callable[[float], float]
    prior: None = None

    def matrix(self, rows: Moments) -> Array:
        """The scatter."""
        return rows.scatter

    def local(self, weight: float, n_parents: int, data: Left, prior: Left | None) -> Array:
        """A slope for every parent, an intercept and a variance are free."""
        log_variance = np.log(data.residual / weight)
        log_like = -0.5 * weight * (LOG_2PI + 1.0 + log_variance)
        return np.asarray(log_like - self.penalty(weight) * (n_parents + 2))

    def of_set(self, weight: float, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """The likelihood of the joint Gaussian, which has size (size + 3)/2 parameters."""
        log_like = -0.5 * weight * (size * (LOG_2PI + 1.0 - np.log(weight)) + log_det)
        return np.asarray(log_like - self.penalty(weight) * 0.5 * size * (size + 3))


@dataclass(frozen=True, eq=False)
class BGe:
    """The evidence under a normal-Wishart prior of all n columns together.

    L(Y) of l columns, with a = α_w - n + l and R = T + S + N α_μ / (N + α_μ) (ν - x̄)(ν - x̄)ᵀ:

        l/2 log(α_μ / (N + α_μ)) - l N/2 log π + log Γ_l((N + a)/2) - log Γ_l(a/2)
        + a/2 log |T_YY| - (N + a)/2 log |R_YY|

    ν and T are numbers here, wherever they come from (see `jensen.scores.gaussian_prior`). One T
    serves all families, so equivalent graphs score the same.

    References
    ----------
    Geiger and Heckerman (1994), *Learning Gaussian networks*, UAI; with the formula as corrected
    by Kuipers, Moffa and Heckerman (2014), Annals of Statistics 42, equation 2.
    """

    mean: Array  # (n,): ν
    mean_strength: float  # α_μ
    degrees_of_freedom: float  # α_w
    prior: Array  # (n, n): T

    @classmethod
    def of(cls, prior: NormalWishartPrior) -> "BGe":
        """The score that has this prior."""
        return cls(*prior)

    @property
    def held(self) -> NormalWishartPrior:
        """The prior, as models and files hold it."""
        return NormalWishartPrior(
            self.mean, self.mean_strength, self.degrees_of_freedom, self.prior
        )

    def within(self, coordinates: Coordinates) -> "BGe":
        """The same prior of columns in other coordinates."""
        origin, unit = coordinates
        mean = (self.mean - origin) / unit
        scale = self.prior / unit / unit[:, None]
        return BGe(mean, self.mean_strength, self.degrees_of_freedom, scale)

    def of_columns(self, columns: Sequence[int]) -> "BGe":
        """The prior of some of the columns, which is normal-Wishart as well."""
        degrees = self.degrees_of_freedom - (len(self.mean) - len(columns))
        scale = self.prior[np.ix_(columns, columns)]
        return BGe(self.mean[list(columns)], self.mean_strength, degrees, scale)

    def matrix(self, rows: Moments) -> Array:
        """R: the scatter, what the mean moves, and the prior's scale."""
        pull = rows.weight * self.mean_strength / (rows.weight + self.mean_strength)
        away = rows.mean - self.mean
        return np.asarray(self.prior + rows.scatter + pull * np.outer(away, away))

    def local(self, weight: float, n_parents: int, data: Left, prior: Left | None) -> Array:
        """L(P + v) - L(P), in which most of the gamma functions cancel."""
        assert prior is not None
        degrees = self.degrees_of_freedom - len(self.mean) + n_parents + 1
        constant = 0.5 * np.log(self.mean_strength / (weight + self.mean_strength))
        constant -= 0.5 * weight * np.log(np.pi)
        constant += gammaln(0.5 * (weight + degrees)) - gammaln(0.5 * degrees)
        before = degrees * np.log(prior.residual) + prior.log_det
        after = (weight + degrees) * np.log(data.residual) + data.log_det
        return np.asarray(constant + 0.5 * (before - after))

    def of_set(self, weight: float, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """L of sets of one size."""
        degrees = self.degrees_of_freedom - len(self.mean) + size
        constant = np.log(self.mean_strength / (weight + self.mean_strength))
        constant = 0.5 * size * (constant - weight * np.log(np.pi))
        if size:
            constant += multigammaln(0.5 * (weight + degrees), size)
            constant -= multigammaln(0.5 * degrees, size)
        return np.asarray(constant + 0.5 * (degrees * prior_log_det - (weight + degrees) * log_det))


loglik = PenalisedGaussian(lambda n: 0.0)
aic = PenalisedGaussian(lambda n: 1.0)
bic = PenalisedGaussian(lambda n: 0.5 * float(np.log(n)) if n > 0 else 0.0)
