"""Sums over all directed acyclic graphs, each counted once, by inclusion and exclusion.

Let a(v, R) be the sum of the weights of v with all parents within R. Two sums over graphs,

    below(S) = Σ_{T ⊆ S, T ≠ ∅} (-1)^(|T|+1) below(S - T) Π_{v in T} a(v, S - T)
    above(R) = Σ_{T ⊆ V - R, T ≠ ∅} (-1)^(|T|+1) above(R + T) Π_{v in T} a(v, R),

are those of all graphs over S (T are sinks of it), and of all ways to choose the parents of the
variables outside R without a cycle among these (T are sources of the rest). And

    only(v, R) = Σ_{T ⊆ V - R - v} (-1)^|T| above(R + v + T) Π_{u in T} a(u, R)

is the sum over those where no variable but v has all its parents in R, which makes all of them
descendants of v. So below(R) a(v, R) only(v, R) / below(V) is the probability that R are the
variables that do not descend from v: it sums to the probabilities of paths, and, where v has the
parents P, over all R that hold P. All of this takes 3^n steps: for one R the sums for all v are the
derivatives of one polynomial.

**Cancellation.** The terms alternate in sign, but each is itself a sum over some of the graphs (the
graphs where T are sinks), and so never larger than the result, whatever the weights: what is lost
depends on the number of terms alone. With the errors that are handed on, the relative error of
below(S) is at most 2 F(|S|) δ and the error of any probability at most 12 F(n - 1) δ, where F are
the ordered Bell numbers (F(n) = Σ_{j > 0} C(n, j) F(n - j)) and δ is the rounding of one term.
Doubles (δ ≈ 1e-14) would not do for 16 variables, where F(15) = 2.3e14. So all numbers are pairs of
doubles, 106 bits, with a power of two beside, and δ ≤ n (n + 3) 2^-104: with 16 variables no
probability is wrong by more than 5e-14, with 19 by 9e-10; more are refused. The powers of two,
known beforehand from single orders, make room for weights that are e^2000 apart. That the two sums
agree, and that probabilities add up to 1, is checked at the end all the same.

References
----------
Tian and He (2009), *Computing posterior probabilities of structural features in Bayesian networks*,
UAI. Pensar, Talvitie, Hyttinen and Koivisto (2020), *A Bayesian approach for estimating causal
effects from observational data*, AAAI.
"""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.optimum.dynamic_programming import IMPOSSIBLE
from jensen.q_graph.sums.graph_sums import LOG_2, Predecessors, split
from jensen.scores.scorer import Progress
from jensen.scores.set_functions import members, sizes_of_sets
from jensen.support.machine import run_all
from jensen.support.text import option

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

MOST_VARIABLES = 19
"""With more the bound on rounding is above 1e-9."""

N_PIECES = 64
"""Pieces of work between checks for Ctrl-C; the number does not depend on the threads."""

TOLERANCE = 1e-9
"""The largest relative difference of two sums that are equal in theory."""

DAG_TABLES = 6
"""Tables (n, 2^(n-1)) in memory: weights, their subset sums in three parts, probabilities of
nondescendants, and the factors of families."""


class ParentSums(NamedTuple):
    """(n, 2^(n-1)): sums over the parents within every set, as (high + low) 2^exponents."""

    high: Array
    low: Array
    exponents: Numbers


class ScaledSums(NamedTuple):
    """(2^n,): for every set of variables a sum over graphs, as (high + low) 2^scale."""

    scale: Numbers
    high: Array
    low: Array

    def log(self, number: int) -> float:
        """The logarithm of the sum of one set."""
        high = float(self.high[number])
        return math.log(high) + LOG_2 * int(self.scale[number]) if high > 0.0 else -math.inf


@dataclass(frozen=True, eq=False)
class DagSums:
    """Sums over all directed acyclic graphs.

    Parameters
    ----------
    parents
        Sums over the parents of single variables.
    above
        Sums over the parents of all variables outside a set.
    nondescendants : (n, 2^(n-1)) array
        The probability that a set (without the bit of the variable itself) is exactly the set of
        nondescendants of the variable.
    log_total
        The logarithm of the sum over all graphs.
    """

    parents: ParentSums
    above: ScaledSums
    nondescendants: Array
    log_total: float

    def log_predecessors(self, child: int) -> Array:
        """(2^(n-1),): log of the share of graphs in which a set is the child's nondescendants.

        The weight of the child's own family is divided out.
        """
        high, _, exponents = (part[child] for part in self.parents)
        share = self.nondescendants[child]
        found = np.full(len(share), -np.inf)
        some = share > 0.0
        found[some] = np.log(share[some] / high[some]) - LOG_2 * exponents[some]
        return found

    def paths(self) -> Array:
        """(n, n): the probability of a path [from, to]: `to` is not a nondescendant of `from`."""
        n = len(self.nondescendants)
        found = np.zeros((n, n))
        for a, share in enumerate(self.nondescendants):
            for place, b in enumerate(v for v in range(n) if v != a):
                found[a, b] = split(share, place)[:, 0].sum()
        return found

    def draw_predecessors(self, uniforms: Array) -> Predecessors:
        """Draw the layers of a graph for each row of uniforms (S, n).

        A layer is all variables whose longest path from a source has the same length. Layers are
        drawn from the first on, each by the sum over all graphs that go on from it. Draws that have
        the same variables so far are handled together.
        """
        from jensen.kernels.graph_draws import draw_layers

        n_draws, n = uniforms.shape
        within, touching = np.zeros((2, n_draws, n), np.int64)
        last, depth = np.zeros((2, n_draws), np.int64)
        waiting, numbers = {0: np.arange(n_draws)}, [0]
        while numbers:
            here = heapq.heappop(numbers)
            rows = waiting.pop(here)
            if here == (1 << n) - 1 or not len(rows):
                continue
            rows = rows[np.argsort(last[rows], kind="stable")]
            layers = np.empty(len(rows), np.int64)
            given = uniforms[rows, depth[rows]]
            draw_layers(*self.parents, *self.above, here, last[rows], given, layers)
            for v in range(n):
                of_v = rows[layers >> v & 1 == 1]
                within[of_v, v], touching[of_v, v] = here, last[of_v]
            last[rows], depth[rows] = layers, depth[rows] + 1
            for layer in np.unique(layers).tolist():
                if here | layer not in waiting:
                    heapq.heappush(numbers, here | layer)
                    waiting[here | layer] = np.zeros(0, np.int64)
                both = waiting[here | layer], rows[layers == layer]
                waiting[here | layer] = np.concatenate(both)
        return Predecessors(within, touching)


def check_size(n: int) -> None:
    """Refuse so many variables that the sums would take too long and lose digits."""
    if n > MOST_VARIABLES:
        minutes = max(3.0**n * 3e-8 / 60, 1)
        raise JensenError(
            f"the exact posterior over DAGs takes {MOST_VARIABLES} variables at most, not {n}: it "
            f"would take some {minutes:,.0f} minutes, and rounding could show. Leave out "
            f"variables, sum over orders ({option('prior', 'order', 'graph_prior')}), or sample "
            f"with {option('method', 'partition')}"
        )


def sum_dags(log_weights: Array, progress: Progress = None) -> DagSums:
    """Sum over all DAGs; log_weights (n, 2^(n-1)) of all families are at most 0."""
    n = len(log_weights)
    parents = _sum_parents(log_weights)
    below, above, only = _sum_both_ways(parents, n, progress)
    log_total = below.log(-1)
    if log_total == -math.inf:
        raise GraphError(IMPOSSIBLE)
    if abs(log_total - above.log(0)) > TOLERANCE * max(abs(log_total), 1.0):
        raise JensenError(
            f"the sums over all graphs lost digits: forwards they are e^{log_total!r}, backwards "
            f"e^{above.log(0)!r}. This is a fault of Jensen, please report it; sample with "
            f"{option('method', 'partition')} instead"
        )
    for child in range(n):
        high = members(below.high, child, False) / below.high[-1]
        powers = _without(below.scale, child) + _without(above.scale, child) - below.scale[-1]
        # Where nothing is possible the powers are beyond any number, and the sums are zero.
        only[child] = np.ldexp(np.maximum(only[child], 0.0) * high, np.clip(powers, -2000, 2000))
    return DagSums(parents, above, only, log_total)


def _sum_parents(log_weights: Array) -> ParentSums:
    from jensen.kernels.set_sums import normalise, sum_subsets

    sums = ParentSums(
        np.empty_like(log_weights),
        np.empty_like(log_weights),
        np.empty(log_weights.shape, np.int64),
    )

    def fill(child: int) -> None:
        high, low, exponents = (part[child] for part in sums)
        sum_subsets(log_weights[child], high, low, exponents)
        normalise(high, low, exponents)

    run_all(fill, range(len(log_weights)))
    return sums


def _sum_both_ways(
    parents: ParentSums, n: int, progress: Progress
) -> tuple[ScaledSums, ScaledSums, Array]:
    """The sums `below` and `above` for every set, and `only` for every variable and set."""
    from jensen.kernels.graph_sums import fill_scales, pull_sums, push_sums

    scales = np.empty((2, 1 << n), np.int64)
    fill_scales(parents.exponents, *scales)
    below, above = (ScaledSums(scale, *np.zeros((2, 1 << n))) for scale in scales)
    below.high[0] = above.high[-1] = 1.0
    only = np.zeros_like(parents.high)

    def push(start: int, stop: int) -> None:
        push_sums(*parents, start, stop, *below)

    def pull(start: int, stop: int) -> None:
        pull_sums(*parents, np.arange(stop - 1, start - 1, -1), *above, only)

    forwards, backwards = list(_pieces(n)), list(_pieces(n))[::-1]
    for done, (up, down) in enumerate(zip(forwards, backwards, strict=True)):
        jobs = ((push, up), (pull, (down[0], min(down[1], (1 << n) - 1))))
        run_all(lambda job: job[0](*job[1]), jobs)
        if progress is not None:
            progress((done + 1) / len(forwards))
    return below, above, only


def _pieces(n: int) -> Iterator[tuple[int, int]]:
    """Cut the sets into ranges of about equal work; a set S takes 2^(n - |S|) steps."""
    work = np.cumsum(2.0 ** (n - sizes_of_sets(n).astype(float)))
    cuts = np.searchsorted(work, np.linspace(0.0, work[-1], N_PIECES + 1)[1:-1])
    edges = np.unique([0, *cuts.tolist(), 1 << n]).tolist()
    yield from pairwise(edges)


def _without(scale: Numbers, child: int) -> Numbers:
    """(2^(n-1),): the scales of the sets without the child."""
    return scale.reshape(-1, 2, 1 << child)[:, 0].ravel()
