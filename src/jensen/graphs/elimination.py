"""Orders of eliminating variables that keep the tables small."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.indexed_graph import wire_families
from jensen.support.tree_records import EliminationWorkspace, Wiring

RULES = 3
NOISE = (0.0, 0.05, 0.2)
WORK = 60_000_000
"""How many pairs of variables a search may visit; never a matter of time."""

MOST_RESTARTS = 120
ENOUGH = math.log(1 << 14)
"""Log size of all tables below which the search stops: they are small enough."""

HOPELESS = math.log(1 << 46)
"""Log size of all tables above which the search stops: they will never fit."""


class Elimination(NamedTuple):
    """An order and the sizes of its tables."""

    order: NDArray[np.int64]
    log_total: float  # log of the number of entries of all tables
    log_largest: float  # and of the largest


def best_order(adjacent: NDArray[np.bool_], cards: NDArray[np.int64], seed: int = 0) -> Elimination:
    """The best of several greedy rules with random restarts, by the size of all tables.

    Parameters
    ----------
    adjacent
        (n, n), symmetric: which variables stand together in a table.
    cards
        (n,) numbers of states.
    seed
        The same seed gives the same order. The search ends after an amount of work that depends on
        the size of the graph alone, never on the clock.

    Examples
    --------
    >>> import numpy as np
    >>> chain = np.eye(3, k=1, dtype=bool) | np.eye(3, k=-1, dtype=bool)
    >>> found = best_order(chain, np.array([2, 2, 2]))
    >>> round(np.exp(found.log_largest))
    4
    """
    pairs = np.argwhere(np.triu(adjacent, 1)).tolist()
    n = len(cards)
    graph = wire_families([*pairs, *([v] for v in range(n))], cards.tolist())
    everything = np.arange(n, dtype=np.int32)
    touched = np.arange(graph.n_families)
    rng = np.random.default_rng(seed)
    best: Elimination | None = None
    for trial in range(max(RULES, min(MOST_RESTARTS, WORK // (n * n + 1)))):
        noise = NOISE[trial // RULES % len(NOISE)]
        orders, sizes = order_all(
            np.array([0, n]),
            everything,
            graph,
            np.array([len(touched)]),
            touched,
            rule=trial % RULES,
            noise=noise,
            uniforms=rng.random(4 * n + 1),
        )
        if best is None or sizes[0, 0] < best.log_total:
            best = Elimination(orders, float(sizes[0, 0]), float(sizes[0, 1]))
        if trial + 1 >= RULES and not ENOUGH < best.log_total < HOPELESS:
            break
    assert best is not None
    return best


def order_all(
    set_ptr: NDArray[np.int64],
    set_vars: NDArray[np.int32],
    wiring: Wiring,
    fam_end: NDArray[np.int64],
    fams: NDArray[np.int64],
    *,
    rule: int,
    noise: float = 0.0,
    uniforms: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Orders of many sets of variables by one greedy rule.

    Returns the orders, one after the other, and (sets, 2) log sizes: of all tables, and of the
    largest. The families that touch set p end before ``fams[fam_end[p]]``.
    """
    from jensen.kernels.elimination import order_sets

    orders, sizes = np.empty(len(set_vars), np.int64), np.empty((len(fam_end), 2))
    n = int(np.diff(set_ptr).max(initial=0))
    graph = EliminationWorkspace(
        np.empty(n * n, bool),
        np.empty(n * n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.full(len(wiring.cards), -1, np.int64),
    )
    order_sets(
        set_ptr, set_vars, wiring, fam_end, fams, rule, noise, uniforms, graph, orders, sizes
    )
    return orders, sizes


def largest_clique(
    adjacent: NDArray[np.bool_], cards: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The variables of the largest table that an order makes."""
    graph, log_card = adjacent.copy(), np.log(cards)
    best, members = -1.0, np.empty(0, np.int64)
    for v in order:
        clique = np.append(np.flatnonzero(graph[v]), v)
        size = float(log_card[clique].sum())
        if size > best:
            best, members = size, np.sort(clique)
        graph[np.ix_(clique, clique)] = True
        np.fill_diagonal(graph, False)
        graph[v] = graph[:, v] = False
    return members
