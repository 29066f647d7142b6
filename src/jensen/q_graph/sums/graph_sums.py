"""What sums over all graphs are asked for, be it over DAGs or over orders, and what both need."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

LOG_2 = float(np.log(2.0))


class Places(NamedTuple):
    """Draws of what stands above each variable; sets are numbers, bit v is variable v."""

    within: Numbers  # (S, n): where the parents are
    touching: Numbers  # (S, n): one of the parents at least is in here, unless it is empty


class GraphSums(Protocol):
    """Sums of the weights of all graphs; the weight of a family is at most 1."""

    @property
    def log_total(self) -> float:
        """The logarithm of the sum over all graphs."""

    def log_places(self, child: int) -> Array:
        """(2^(n-1),): for each set the share of the total where a variable has its place after it.

        The weight of the variable's own family is left out: any subset may be its parents.
        """

    def paths(self) -> Array:
        """(n, n): the probability that a variable is an ancestor of another, [ancestor, other]."""

    def draw_places(self, uniforms: Array) -> Places:
        """Draws of what stands above each variable, one for each row of uniforms (S, n)."""


def log_subset_sums(logs: Array) -> Array:
    """(2^k,): for each set the logarithm of the sum of the weights of its subsets."""
    from jensen.kernels.set_sums import sum_subsets

    high, low = np.empty((2, len(logs)))
    exponents = np.empty(len(logs), np.int64)
    sum_subsets(np.ascontiguousarray(logs), high, low, exponents)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(high) + LOG_2 * exponents)


def log_superset_sums(logs: Array) -> Array:
    """(2^k,): for each set the logarithm of the sum of the weights of its supersets."""
    return log_subset_sums(logs[::-1])[::-1]


def split(values: Array, place: int) -> Array:
    """(m, 2, 2^place): a function of sets, by whether they have the member at a place."""
    return values.reshape(-1, 2, 1 << place)
