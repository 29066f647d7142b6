"""What is believed of graphs before the data: a factor for each family."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.scores.set_functions import sizes_of_sets
from jensen.support.checks import is_real
from jensen.support.text import offer

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ORDER = "order"
NAMED = ("uniform", "fair")


class GraphPrior(NamedTuple):
    """Log prior of a graph, up to a constant: a sum over families.

    Variables are positions among the sorted names.
    """

    by_size: Array  # (n,): of having so many parents
    log_odds: Array  # (n, n): of an edge [parent, child]
    counts_orders: bool  # whether a graph counts once for every order that it allows

    @property
    def is_equivalent(self) -> bool:
        """Whether graphs of one equivalence class are alike: an edge, whatever its direction."""
        return bool((self.log_odds == self.log_odds.T).all())

    def of_family(self, child: int, parents: Sequence[int]) -> float:
        """What one family adds."""
        return float(self.by_size[len(parents)] + self.log_odds[list(parents), child].sum())

    def of_sets(self, child: int, candidates: Sequence[int]) -> Array:
        """(2^K,): what each subset of the candidates adds as parents; bit k is candidate k."""
        odds = np.zeros(1)
        for parent in candidates:
            odds = np.concatenate([odds, odds + self.log_odds[parent, child]])
        return np.asarray(odds + self.by_size[sizes_of_sets(len(candidates))])


class ReadPrior(NamedTuple):
    """A prior, and the edges that it allows no doubt about."""

    prior: GraphPrior
    required: Flags  # (n, n) [parent, child]
    forbidden: Flags

    def of_family(self, child: int, parents: Sequence[int]) -> float:
        """What one family adds: -inf if it lacks a certain edge, or has an impossible one."""
        above = list(parents)
        is_required = self.required[:, child]
        if self.forbidden[above, child].any() or is_required[above].sum() < is_required.sum():
            return -math.inf
        return self.prior.of_family(child, parents)

    @property
    def directs(self) -> bool:
        """Whether it tells directions of edges that the data cannot tell."""
        return not self.prior.is_equivalent or bool((self.required | self.forbidden).any())


def read_family_prior(prior: Any, names: Sequence[str]) -> ReadPrior:
    """Read a prior that is a sum over families; one that counts orders is not, and refused."""
    read = read_prior(prior, names)
    if read.prior.counts_orders:
        raise GraphError(
            f"prior={prior!r} counts a graph once for every order that it allows, which is no sum "
            f"over families, so no graph can be scored or searched by it: use 'uniform', 'fair' or "
            f"probabilities of edges; 'order' is for jn.structure_posterior"
        )
    return read


def read_prior(prior: Any, names: Sequence[str]) -> ReadPrior:
    """Read what the caller wrote.

    Parameters
    ----------
    prior
        "uniform": every graph alike. "fair": for each variable every number of parents alike, so
        1 / C(n - 1, k) for k of them. {("A", "B"): p, ...}: the edge A -> B has the odds
        p / (1 - p), others even ones; 0 forbids an edge and 1 requires it. "order", or
        ("order", one of these): each graph counts once for every order that it allows.
    """
    inner, counts_orders = prior, False
    if isinstance(prior, str) and prior == ORDER:
        inner, counts_orders = "uniform", True
    elif isinstance(prior, (tuple, list)) and len(prior) == 2 and prior[0] == ORDER:
        inner, counts_orders = prior[1], True
    n = len(names)
    by_size, log_odds = np.zeros(max(n, 1)), np.zeros((n, n))
    required, forbidden = np.zeros((2, n, n), bool)
    if isinstance(inner, Mapping):
        for pair, p in inner.items():
            u, v = _positions(pair, names)
            _check_probability(pair, p)
            required[u, v], forbidden[u, v] = p == 1, p == 0
            log_odds[u, v] = math.log(p / (1 - p)) if 0 < p < 1 else 0.0
    elif not (isinstance(inner, str) and inner in NAMED):
        raise GraphError(
            f"prior= is 'uniform', 'fair', a dictionary of edge probabilities, 'order', or "
            f"('order', one of these), not {prior!r}"
        )
    elif inner == "fair":
        by_size -= [math.log(math.comb(n - 1, k)) for k in range(n)]
    return ReadPrior(GraphPrior(by_size, log_odds, counts_orders), required, forbidden)


def _positions(pair: Any, names: Sequence[str]) -> tuple[int, int]:
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise GraphError(f"prior= has an edge {pair!r}: write it as a pair (from, to)")
    for name in pair:
        if name not in names:
            raise GraphError(
                f"prior= names {name!r}, which is no column; {offer(name, names, 'column')}"
            )
    if pair[0] == pair[1]:
        raise GraphError(f"prior= has an edge from {pair[0]!r} to itself")
    return names.index(pair[0]), names.index(pair[1])


def _check_probability(pair: tuple[str, str], p: Any) -> None:
    if not (is_real(p) and 0 <= p <= 1):
        raise GraphError(
            f"prior= gives the edge {pair[0]} -> {pair[1]} the probability {p!r}: "
            f"it must be between 0 and 1"
        )
