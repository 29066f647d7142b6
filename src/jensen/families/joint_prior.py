"""The normal-Wishart prior of all columns together, as BGe and networks of regressions read it.

The mean μ | Λ ~ N(ν, (α_μ Λ)⁻¹) and the precision Λ ~ Wishart(T⁻¹, α_w), in the letters of Geiger
and Heckerman. Of every block of columns it is a normal-Wishart distribution too, with fewer degrees
of freedom, and of every column given others a prior of that regression. Their log partitions need
no more of T than a determinant and what is left of a column when others are known, so many sets of
columns are scored at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import linear_regression, tied, wishart
from jensen.families.linear_regression import Regression
from jensen.families.schur import given

Array = NDArray[np.float64]


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
        later = self.heavier(weight)
        away = mean - self.mean
        pull = weight * self.mean_strength / later.mean_strength
        return later._replace(
            mean=self.mean + weight / later.mean_strength * away,
            scale=np.asarray(self.scale + scatter + pull * np.outer(away, away)),
        )

    def heavier(self, weight: float) -> "NormalWishartPrior":
        """Worth so many rows more, wherever they lie."""
        return self._replace(
            mean_strength=self.mean_strength + weight,
            degrees_of_freedom=self.degrees_of_freedom + weight,
        )

    def degrees_of(self, size: int) -> float:
        """Degrees of freedom of so many of the columns."""
        return self.degrees_of_freedom - (len(self.mean) - size)

    def log_partition_of_sets(self, size: int, log_det: Array) -> Array:
        """A of the means and precisions of sets of `size` columns, from log |T| of each set."""
        degrees = np.asarray(self.degrees_of(size))
        of_means = tied.means_log_normaliser(size, self.mean_strength)
        return np.asarray(of_means + wishart.log_normaliser_at(degrees, size, -log_det))

    def log_partition_of_children(self, n_parents: int, residual: Array, log_det: Array) -> Array:
        """A of regressions on so many parents.

        `residual` is what T leaves of the child when they are known, and log_det is that of their
        own block.
        """
        log_strength = np.log(self.mean_strength) + log_det
        shape = np.asarray(0.5 * self.degrees_of(n_parents + 1))
        return linear_regression.log_normaliser(n_parents + 1, log_strength, shape, 0.5 * residual)

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
        return linear_regression.from_words(
            np.array([[intercept, *slopes]]),
            (turn.T @ strength @ turn)[None],
            np.array([self.degrees_of(len(members) + 1)]),
            1.0 / left.left.residual,
        )
