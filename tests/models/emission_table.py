"""One row for each emission: everything that tests of all emissions need to know of it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jensen.data import Variable
from jensen.data.number_rows import NumberRows, summarise
from jensen.models.emissions.registry import EMISSIONS, make_emission

LABELS = ("a", "b", "c")


class Example(NamedTuple):
    """What states of an emission make, and what none of them can have made."""

    draw: Callable  # (rng, states (n,)) → rows (n, D); labels as codes, here those of LABELS
    refused: list  # a value, and what is said of it
    covariances: tuple[str, ...] = ("full",)


def _codes(rng, states):
    return ((states + (rng.random(len(states)) < 0.3)) % 3)[:, None]


def _numbers(rng, states):
    return rng.normal(3.0 * states[:, None], 1.0 + states[:, None], (len(states), 2)) + 50.0


def _counts(rng, states):
    return rng.poisson(1.0 + 4.0 * states[:, None], (len(states), 2))


def _flags(rng, states):
    return rng.random((len(states), 3)) < 0.15 + 0.6 * states[:, None]


EXAMPLES = {
    "categorical": Example(_codes, [("z", "the label 'z', which is not among symbols")]),
    "gaussian": Example(
        _numbers,
        [(np.inf, "X contains infinity"), (1e200, "overflow"), ("far", "needs numbers")],
        ("full", "tied", "diagonal", "spherical"),
    ),
    "poisson": Example(
        _counts,
        [
            (-1, "Negative values in data"),
            (0.5, "counts are whole, 0 or more"),
            (2e9, "the likelihood of counts beyond 1e[+]09 loses its digits"),
            (np.inf, "X contains infinity"),
        ],
    ),
    "bernoulli": Example(
        _flags,
        [(-1, "Negative values in data"), (2, "Bernoulli values are 0 or 1"), ("no", "numbers")],
    ),
}

CASES = [(word, kind) for word, example in EXAMPLES.items() for kind in example.covariances]


def rows_of(word, n=40, seed=0, gaps=0.2):
    """Rows (n, D) of two states in turn, some of their cells missing."""
    rng = np.random.default_rng(seed)
    values = EXAMPLES[word].draw(rng, np.arange(n) // 5 % 2).astype(float)
    values[rng.random(values.shape) < gaps] = np.nan
    return values


def as_given(word, values):
    """Rows as people give them: labels by their names, what is missing as None or NaN."""
    if not EMISSIONS[word].has_labels:
        return values
    names = np.array([*LABELS, None], dtype=object)
    return names[np.where(np.isnan(values), len(LABELS), values).astype(int)]


def emission_like(word, covariance, values, K=2):
    """The emission that is learned from such rows under its default prior."""
    columns = summarise(NumberRows.of(values), covariance=covariance in ("full", "tied"))
    variables = (Variable("x0", "categorical", LABELS),)
    return make_emission(
        EMISSIONS[word], K, columns, {}, covariance=covariance, variables=variables
    )
