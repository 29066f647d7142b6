"""Scores of continuous columns: the evidence BGe, and the maximised likelihood with its penalties.

A local score sees a child and its p parents by two numbers of a matrix M: the residual
m = M_vv - M_vP M_PP⁻¹ M_Pv and log |M_PP|. Both scores are differences of a function L of sets,
score(v | P) = L(P + v) - L(P).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.data.statistics import Moments
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.schur import Left

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))


class GaussianScore(Protocol):
    """A formula; `prior` is the matrix that stands beside the data's, if the score has one."""

    @property
    def prior(self) -> Array | None:
        """The scale matrix of the prior."""

    def by_prior(self, joint: NormalWishartPrior) -> "GaussianScore":
        """The same formula by another prior, if it has one."""

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

    def by_prior(self, joint: NormalWishartPrior) -> "PenalisedGaussian":
        """It has none."""
        return self

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

    joint: NormalWishartPrior

    @property
    def prior(self) -> Array:
        """The scale matrix of the prior."""
        return self.joint.scale

    def by_prior(self, joint: NormalWishartPrior) -> "BGe":
        """The evidence under another prior."""
        return BGe(joint)

    def matrix(self, rows: Moments) -> Array:
        """R: the scatter, what the mean moves, and the prior's scale."""
        return self.joint.after(*rows).scale

    def local(self, weight: float, n_parents: int, data: Left, prior: Left | None) -> Array:
        """L(P + v) - L(P): the log evidence of one regression."""
        assert prior is not None
        return self.joint.log_evidence_of_children(weight, n_parents, prior, data)

    def of_set(self, weight: float, size: int, log_det: Array, prior_log_det: Array) -> Array:
        """L of sets of one size."""
        return self.joint.log_evidence_of_sets(weight, size, prior_log_det, log_det)
