"""Emissions by the words that people choose them with."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.models.emissions import Emission
from jensen.models.emissions.columns import column_covariance, column_moments
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.poisson import Poisson
from jensen.models.emissions.priors import (
    GAUSSIAN_WORDS,
    POISSON_WORDS,
    gaussian_prior,
    label_prior,
    poisson_prior,
)
from jensen.models.emissions.product import Product

Array = NDArray[np.float64]
Words = Mapping[str, Any] | None

EMISSIONS = ("categorical", "gaussian", "poisson", "bernoulli")


def words_of_emission(kind: str) -> tuple[str, ...]:
    """The parts of a prior that this kind of emission has."""
    return {"gaussian": GAUSSIAN_WORDS, "poisson": POISSON_WORDS}.get(kind, ("emission",))


def make_emission(
    kind: str,
    n_states: int,
    values: Array,
    words: Words,
    *,
    weight: Array | None = None,
    covariance: str = "full",
    labels: Sequence[int] | None = None,
    masks: Sequence[NDArray[np.bool_] | None] | None = None,
    names: Sequence[str] = (),
) -> Emission:
    """The emission of all columns (n, D); `labels` is how many each has.

    `names` are those of the columns, which several columns of labels need.

    `masks` (K, columns, labels) say which labels may be: one for all 0 and 1, or one a column.
    """
    if kind == "gaussian":
        return make_gaussian(n_states, values, words, covariance, weight)
    if kind == "poisson":
        return make_poisson(n_states, values, words, weight)
    if kind == "bernoulli":
        return make_binary(n_states, values.shape[1], words, masks[0] if masks else None)
    assert labels is not None
    pairs = zip(labels, masks or [None] * len(labels), strict=True)
    parts = tuple(make_labels(n_states, n, words, mask) for n, mask in pairs)
    if len(parts) == 1:
        return parts[0]
    columns = tuple(np.array([i]) for i in range(len(labels)))
    return Product(parts, columns, tuple(names))


def make_gaussian(
    n_states: int, values: Array, words: Words, covariance: str, weight: Array | None = None
) -> Gaussian | Diagonal:
    """Gaussian states, rows relative to the mean of the data."""
    if covariance in ("diagonal", "spherical"):
        return make_diagonal(n_states, values, words, covariance, weight)
    shift, prior = _shift_and_prior(n_states, values, words, covariance, weight)
    return Gaussian(n_states, shift, prior, is_tied=covariance == "tied")


def make_diagonal(
    n_states: int, values: Array, words: Words, covariance: str, weight: Array | None = None
) -> Diagonal:
    """The same of independent columns."""
    shift, prior = _shift_and_prior(n_states, values, words, covariance, weight)
    return Diagonal(n_states, shift, prior, is_spherical=covariance == "spherical")


def _shift_and_prior(
    n_states: int, values: Array, words: Words, covariance: str, weight: Array | None
) -> tuple[Array, Any]:
    if words is None:
        return column_moments(values, weight)[0], None
    is_matrix = covariance in ("full", "tied")
    shift, spread = (column_covariance if is_matrix else column_moments)(values, weight)
    return shift, gaussian_prior(words, n_states, shift, spread, covariance)


def make_poisson(
    n_states: int, values: Array, words: Words, weight: Array | None = None
) -> Poisson:
    """Poisson counts."""
    mean, _ = column_moments(values, weight)
    prior = None if words is None else poisson_prior(words, n_states, mean)
    return Poisson(n_states, values.shape[1], prior)


def make_binary(
    n_states: int, n_columns: int, words: Words, mask: NDArray[np.bool_] | None = None
) -> Discrete:
    """Columns of 0 and 1."""
    prior = _label_prior(words, (n_states, n_columns, 2), mask)
    return Discrete(n_states, n_columns, 2, prior, is_binary=True, mask=mask)


def make_labels(
    n_states: int, n_labels: int, words: Words, mask: NDArray[np.bool_] | None = None
) -> Discrete:
    """One column of labels."""
    prior = _label_prior(words, (n_states, 1, n_labels), mask)
    return Discrete(n_states, 1, n_labels, prior, mask=mask)


def _label_prior(
    words: Words, shape: tuple[int, ...], mask: NDArray[np.bool_] | None
) -> Array | None:
    if words is None:
        return None
    given = words.get("emission")
    if given is not None and np.ndim(given) == 2 and shape[1] == 1:
        words = {"emission": np.asarray(given)[:, None, :]}  # (K, V): one column
    prior = label_prior(words, "emission", shape)
    return prior if mask is None else np.where(mask, prior, 0.0)
