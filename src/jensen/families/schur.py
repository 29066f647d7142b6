"""What is left of a variable when others are known: Schur complements of one matrix.

For a scatter (or scale) matrix M, a child v and its parents P, the residual is
M_vv - M_vP M_PP⁻¹ M_Pv. One factorisation of M_PP serves every further parent at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.wishart import cholesky, inverse_root

Array = NDArray[np.float64]

NOISE = 1e-13
"""A residual below this share of the numbers that it was computed from is rounding."""


class Left(NamedTuple):
    """Of one child and one set of parents, or of arrays of such sets."""

    residual: Array  # of the child given its parents
    log_det: Array  # of the parents' block; NaN if they are dependent
    size: Array  # of the numbers from which the residual was computed

    @property
    def is_nothing(self) -> NDArray[np.bool_]:
        """Where the child is a linear function of its parents, as far as anybody can tell."""
        return np.asarray(~(self.residual > NOISE * self.size))


class ConditionedMatrix(NamedTuple):
    """Some variables as their parents see them; NaN if the parents are dependent."""

    root: Array  # (p, p): L⁻¹, where L Lᵀ is the parents' block
    explained: Array  # (p, k): what is taken from M is explainedᵀ explained
    coefficients: Array  # (p, k): of the regressions on the parents
    left: Left  # (k,): every variable as a child of these parents


def given(
    matrix: Array, parents: Sequence[int], variables: Sequence[int] | None = None
) -> ConditionedMatrix:
    """These variables (or all) given the parents."""
    members, diagonal = list(parents), np.diagonal(matrix)
    columns = slice(None) if variables is None else list(variables)
    lower = cholesky(matrix[np.ix_(members, members)])
    if np.diagonal(lower).all():
        root, log_det = inverse_root(lower), 2.0 * np.log(np.diagonal(lower)).sum()
    else:
        root, log_det = np.full_like(lower, np.nan), np.nan
    # einsum, not @: BLAS would start threads for these small products, and wait for them.
    explained = np.einsum("ij,jk->ik", root, matrix[members][:, columns])
    coefficients = np.einsum("ji,jk->ik", root, explained)
    residual = diagonal[columns] - np.square(explained).sum(0)
    size = diagonal[columns] + _square_sum(diagonal[members], coefficients)
    return ConditionedMatrix(
        root, explained, coefficients, Left(residual, np.asarray(log_det), size)
    )


def family(matrix: Array, child: int, parents: Sequence[int]) -> Left:
    """The child given its parents."""
    residual, log_det, size = given(matrix, parents, [child]).left
    return Left(residual[0], log_det, size[0])


def without_each(matrix: Array, child: int, parents: Sequence[int]) -> Left:
    """(p,): the child without its first parent, without its second, ..."""
    known = given(matrix, parents, [child])
    inverse = np.einsum("ji,jk->ik", known.root, known.root)  # M_PP⁻¹
    spread, slopes = np.diagonal(inverse), known.coefficients[:, 0]
    # Without parent j the slopes move along column j of the inverse until that of j is 0.
    moved = slopes[:, None] - inverse * (slopes / spread)
    size = matrix[child, child] + _square_sum(np.diagonal(matrix)[list(parents)], moved)
    residual = known.left.residual[0] + np.square(slopes) / spread
    return Left(residual, known.left.log_det + np.log(spread), size)


def with_each(matrix: Array, child: int, parents: Sequence[int]) -> tuple[Left, Left]:
    """(n,): the child with each variable as a further parent; and that variable, given the others.

    What stands at the child and at its parents means nothing.
    """
    known, diagonal = given(matrix, parents), np.diagonal(matrix)
    further = known.left
    together = matrix[child] - np.einsum("i,ik->k", known.explained[:, child], known.explained)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = together / further.residual
        residual = further.residual[child] - slope * together
        log_det = further.log_det + np.log(further.residual)
        own = known.coefficients[:, [child]] - slope * known.coefficients
        size = diagonal[child] + slope**2 * diagonal
        size += _square_sum(diagonal[list(parents)], own)
    return Left(residual, log_det, size), further


def log_dets(matrix: Array) -> Array:
    """(2ⁿ,): log |M_SS| of every subset S, where bit i of the position says that i is in S.

    Variables are eliminated one after another; a subset either leaves one out or conditions on
    it. NaN where a block is not positive definite.
    """
    left, found = matrix[None], np.zeros(1)
    for diagonal in np.diagonal(matrix):
        pivot, row, rest = left[:, 0, 0], left[:, 0, 1:], left[:, 1:, 1:]
        pivot = np.where(pivot > NOISE * diagonal, pivot, np.nan)
        conditioned = rest - row[:, :, None] * (row / pivot[:, None])[:, None, :]
        left = np.concatenate([rest, conditioned])
        found = np.concatenate([found, found + np.log(pivot)])
    return found


def dependent(matrix: Array, members: Sequence[int]) -> tuple[int, ...]:
    """The first member that depends on those before it, behind those that it depends on."""
    for k, v in enumerate(members):
        known = given(matrix, members[:k], [v])
        if known.left.is_nothing[0]:
            parts = np.square(known.coefficients[:, 0]) * np.diagonal(matrix)[list(members[:k])]
            matters = parts > 1e-10 * matrix[v, v]
            return (*(u for u, yes in zip(members[:k], matters, strict=True) if yes), v)
    return tuple(members)


def _square_sum(weights: Array, values: Array) -> Array:
    """Σ weights · values² over the first axis."""
    return np.asarray(np.einsum("i,ik,ik->k", weights, values, values))
