"""The normal-Wishart prior of all columns together, as BGe and networks of regressions read it.

The mean μ | Λ ~ N(ν, (α_μ Λ)⁻¹) and the precision Λ ~ Wishart(T⁻¹, α_w), in the letters of Geiger
and Heckerman. Of every block of columns it is a normal-Wishart distribution too, with fewer degrees
of freedom, and of every column given others a prior of that regression. Evidences need no more of T
than a determinant and what is left of a column when others are known, so many sets of columns are
scored at once; what cancels in A(prior + stats) - A(prior) is never computed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import linear_regression, wishart
from jensen.families.gamma_ratio import log_rising
from jensen.families.linear_regression import Regression
from jensen.families.schur import Left, given

Array = NDArray[np.float64]

LOG_PI = float(np.log(np.pi))


class NormalWishartPrior(NamedTuple):
    """A prior of all columns together, in the order of their names."""

    mean: Array  # (n,): ν
    mean_strength: float  # α_μ
    degrees_of_freedom: float  # α_w
    scale: Array  # (n, n): T

    def within(self, origin: Array, unit: Array) -> "NormalWishartPrior":
        """The same prior of columns y = (x - origin) / unit."""
        scale = self.scale / unit / unit[:, None]
        return self._replace(mean=(self.mean - origin) / unit, scale=scale)

    def of_columns(self, columns: Sequence[int]) -> "NormalWishartPrior":
        """The prior of some of the columns."""
        degrees = self.degrees_of(len(columns))
        scale = self.scale[np.ix_(columns, columns)]
        return NormalWishartPrior(self.mean[list(columns)], self.mean_strength, degrees, scale)

    def after(self, weight: float, mean: Array, scatter: Array) -> "NormalWishartPrior":
        """The posterior by rows of so much weight, with this mean and the scatter about it."""
        strength, away = weight + self.mean_strength, mean - self.mean
        return NormalWishartPrior(
            self.mean + weight / strength * away,
            strength,
            weight + self.degrees_of_freedom,
            self.scale_after(weight, mean, scatter),
        )

    def scale_after(self, weight: float | Array, mean: Array, scatter: Array) -> Array:
        """T of the posterior; or of many posteriors, each by rows of its own (..., n, n)."""
        away = mean - self.mean
        pull = np.asarray(weight * self.mean_strength / (weight + self.mean_strength))
        outer = away[..., :, None] * away[..., None, :]
        return np.asarray(self.scale + scatter + pull[..., None, None] * outer)

    def degrees_of(self, size: int) -> float:
        """Degrees of freedom of so many of the columns."""
        return self.degrees_of_freedom - (len(self.mean) - size)

    def log_evidence_of_sets(
        self, weight: float | Array, size: int, before: Array, after: Array
    ) -> Array:
        """Log p of rows of so much weight, of sets of `size` columns.

        `before` and `after` are log |T| of each set by the prior and by the posterior. It is
        A(prior + stats) - A(prior) of a normal-Wishart distribution, with its base measure.
        """
        degrees = np.asarray(self.degrees_of(size))
        constant = np.log(self.mean_strength / (weight + self.mean_strength))
        constant = 0.5 * size * (constant - weight * LOG_PI)
        constant += wishart.log_multigamma(weight + degrees, size)
        constant -= wishart.log_multigamma(degrees, size)
        return np.asarray(constant + 0.5 * (degrees * before - (weight + degrees) * after))

    def log_evidence_of_children(
        self, weight: float | Array, n_parents: int, before: Left, after: Left
    ) -> Array:
        """Log p of rows of so much weight, of columns given so many parents.

        `before` and `after` are what the T of the prior and of the posterior leave of each column.
        It is A(prior + stats) - A(prior) of a regression, with its base measure.
        """
        degrees = self.degrees_of(n_parents + 1)
        constant = 0.5 * np.log(self.mean_strength / (weight + self.mean_strength))
        constant += log_rising(0.5 * degrees, 0.5 * weight) - 0.5 * weight * LOG_PI
        old = degrees * np.log(before.residual) + before.log_det
        new = (weight + degrees) * np.log(after.residual) + after.log_det
        return np.asarray(constant + 0.5 * (old - new))

    def regression(self, child: int, parents: Sequence[int], shift: Array) -> Regression:
        """What it says of a column given others, all of them less `shift`.

        Given its precision λ ~ Wishart(1/t, a), where a = α_w - n + p + 1 and t is the residual of
        T, a child less its prior mean has an intercept ~ N(0, 1/(α_μ λ)), at the prior means of the
        parents, and slopes ~ N(T_PP⁻¹ T_Pv, (λ T_PP)⁻¹).
        """
        away, members = shift - self.mean, list(parents)
        left = given(self.scale, members, [child])
        slopes = left.coefficients[:, 0]
        strength = np.zeros((len(members) + 1,) * 2)
        strength[0, 0] = self.mean_strength
        strength[1:, 1:] = self.scale[np.ix_(members, members)]
        turn = np.eye(len(members) + 1)
        turn[0, 1:] = -away[members]  # intercept at the prior means, from that at the shift
        intercept = away[members] @ slopes - away[child]
        return linear_regression.from_standard(
            np.array([[intercept, *slopes]]),
            (turn.T @ strength @ turn)[None],
            np.array([self.degrees_of(len(members) + 1)]),
            1.0 / left.left.residual,
        )
