"""Tree-reweighted upper bounds of log Z.

A convex combination of trees bounds log Z from above. The value is read from a dual that is a bound
at every iterate, whatever the messages are, so that it needs no convergence; messages that settled
make it tight for the mixture of trees, and the mixture is improved by trees of large mutual
information. Factors of three variables and more become pairs by a variable whose states are their
configurations, which changes no sum.

References
----------
Wainwright, Jaakkola and Willsky (2005), *A new class of upper bounds on the log partition
function*, theorem 2 and section IV. Globerson and Jaakkola (2007), *Convergent propagation
algorithms via oriented trees*, equation 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from jensen.graphs.indexed_graph import wire_families
from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.q_hidden.factor_lists.loopy import Propagation, gather, propagate, read_point
from jensen.q_hidden.factor_lists.tree_mixtures import TreeMixture, all_trees, best_tree
from jensen.support.factor_records import Messages, PairGraph, make_messages
from jensen.support.machine import one_blas_thread

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TREE_STEPS = 12
"""Trees that are added to the mixture."""
SWEEPS = 300
DAMPING = 0.3
SETTLED = 1e-9
POLISH_STEPS = 200
SHARES = (0.5, 0.2, 0.05)
"""Of a new tree in the mixture, the first that lowers the bound is taken."""


class TreeBound(NamedTuple):
    """An upper bound of log Z."""

    value: float
    marginals: Array  # of all states of all variables, flat: those of the messages
    converged: bool  # whether messages settled, so that the bound is tight for its trees
    sweeps: int
    has_joined: bool  # whether factors of three and more variables became pairs


class _Pairs(NamedTuple):
    """A factor list with factors of one and two members alone."""

    factors: FactorList
    edges: Ints  # numbers of the factors with two members
    n_first: int  # variables of the list that it was made of


def tree_bound(factors: FactorList, steps: int = TREE_STEPS) -> TreeBound:
    """The smallest bound found with so many improvements of the mixture of trees."""
    pairs = as_pairs(factors)
    first = factors.wiring.cards.sum()
    wiring = pairs.factors.wiring
    net = make_messages(wiring)
    ends = wiring.fam_vars[wiring.fam_ptr[pairs.edges][:, None] + np.arange(2)]
    mixture = all_trees(len(wiring.cards), ends)
    best, net = _at(pairs, ends, mixture, net)
    sweeps = best.sweeps
    for _ in range(steps if len(ends) else 0):
        tree = best_tree(len(wiring.cards), ends, _informations(pairs, ends, mixture, net))
        for share in SHARES:
            tried = mixture.moved(tree, share)
            found, after = _at(pairs, ends, tried, net)
            sweeps += found.sweeps
            if found.value < best.value - 1e-6:
                best, net, mixture = found, after, tried
                break
        else:
            break
    return best._replace(marginals=best.marginals[:first], sweeps=sweeps)


def as_pairs(factors: FactorList) -> _Pairs:
    """The same sum with factors of at most two members."""
    w, n = factors.wiring, factors.n_variables
    cards, scopes, tables = w.cards.tolist(), [], []
    for scope, table in zip(w.scopes(), factors.tables(), strict=True):
        if len(scope) <= 2:
            scopes.append(scope)
            tables.append(table)
            continue
        kept = np.argwhere(table > -np.inf)
        joint = len(cards)
        cards.append(len(kept))
        scopes.append((joint,))
        tables.append(table[tuple(kept.T)])
        for axis, v in enumerate(scope):
            fits = kept[:, axis] == np.arange(cards[v])[:, None]
            scopes.append((v, joint))
            tables.append(np.where(fits, 0.0, -np.inf))
    wiring = wire_families(scopes, cards)
    flat = np.concatenate([np.empty(0), *(table.ravel() for table in tables)])
    edges = np.array([f for f, scope in enumerate(scopes) if len(scope) == 2], np.int64)
    return _Pairs(factors._replace(wiring=wiring, log_tables=flat), edges, n)


def _at(
    pairs: _Pairs, ends: Ints, mixture: TreeMixture, net: Messages
) -> tuple[TreeBound, Messages]:
    """The bound with this mixture, going on from these messages, which stay as they are."""
    factors = pairs.factors
    net = net._replace(**{name: getattr(net, name).copy() for name in ("message", "belief")})
    weights = np.ones(factors.wiring.n_families)
    weights[pairs.edges] = mixture.weights
    gather(factors.wiring, net, weights)
    how = Propagation("sweeps", DAMPING)
    point = propagate(factors, how, weights, net=net, most_sweeps=SWEEPS, tol=SETTLED)
    graph = _pair_graph(pairs, ends, mixture)
    heard = _heard(pairs, net)
    value, polished = _bound(graph, heard), point.converged
    if not np.isfinite(value) or value > point.log_z - factors.constant + 1e-6:
        value = min(value, _polish(graph, np.where(np.isfinite(heard), heard, 0.0)))
        polished = False
    return (
        TreeBound(
            factors.constant + value,
            point.marginals,
            polished,
            point.sweeps,
            len(factors.wiring.cards) > pairs.n_first,
        ),
        net,
    )


def _pair_graph(pairs: _Pairs, ends: Ints, mixture: TreeMixture) -> PairGraph:
    wiring, tables = pairs.factors.wiring, pairs.factors.log_tables
    state_at = np.concatenate([[0], np.cumsum(wiring.cards)])
    alone = np.zeros(int(state_at[-1]))
    is_pair = np.zeros(wiring.n_families, bool)
    is_pair[pairs.edges] = True
    for f in np.flatnonzero(~is_pair).tolist():
        v = wiring.fam_vars[wiring.fam_ptr[f]]
        alone[state_at[v] : state_at[v + 1]] += tables[wiring.fam_at[f] : wiring.fam_at[f + 1]]
    sizes = np.diff(wiring.fam_at)[pairs.edges]
    table_at = np.concatenate([[0], np.cumsum(sizes)])
    table = tables[_ranges(wiring.fam_at[pairs.edges], sizes)]
    slot_at = np.concatenate([[0], np.cumsum(wiring.cards[ends.ravel()])])
    return PairGraph(
        ends.ravel(), table_at, table, state_at, slot_at, alone, mixture.root, mixture.child.ravel()
    )


def _ranges(begin: Ints, sizes: Ints) -> Ints:
    """All positions begin, begin + 1, ... of parts of these sizes."""
    ends = np.cumsum(sizes)
    places: Ints = np.arange(int(sizes.sum())) + np.repeat(begin - (ends - sizes), sizes)
    return places


def _heard(pairs: _Pairs, net: Messages) -> Array:
    """What each end of each edge hears: its belief less the message of the edge."""
    w = pairs.factors.wiring
    slots = (w.fam_ptr[pairs.edges][:, None] + np.arange(2)).ravel()
    sizes = w.cards[w.fam_vars[slots]]
    belief = net.belief[_ranges(net.state_at[w.fam_vars[slots]], sizes)]
    return belief - net.message[_ranges(net.slot_at[slots], sizes)]


def _bound(graph: PairGraph, heard: Array, slope: Array | None = None) -> float:
    from jensen.kernels.tree_bounds import bound

    n, width = len(graph.alone), int(np.diff(graph.state_at).max(initial=1))
    slope = np.empty(len(heard)) if slope is None else slope
    return float(bound(graph, heard, np.empty(n), np.empty(n), slope, np.empty(width)))


def _polish(graph: PairGraph, heard: Array) -> float:
    """The smallest value of the dual, which is convex in what ends hear."""
    best = np.inf

    def ask(x: Array) -> tuple[float, Array]:
        nonlocal best
        slope = np.empty(len(x))
        value = _bound(graph, x, slope)
        best = min(best, value)
        return value, slope

    with one_blas_thread():
        minimize(ask, heard, jac=True, method="L-BFGS-B", options={"maxiter": POLISH_STEPS})
    return best


def _informations(pairs: _Pairs, ends: Ints, mixture: TreeMixture, net: Messages) -> Array:
    """Mutual information of the two ends of every edge, under the beliefs."""
    factors = pairs.factors
    weights = np.ones(factors.wiring.n_families)
    weights[pairs.edges] = mixture.weights
    point = read_point(factors, net, weights, 1, Propagation())
    w = factors.wiring
    found = np.empty(len(ends))
    for k, f in enumerate(pairs.edges.tolist()):
        a, b = (int(v) for v in ends[k])
        joint = point.shares[w.fam_at[f] : w.fam_at[f + 1]].reshape(w.cards[a], w.cards[b])
        outer = joint.sum(1)[:, None] * joint.sum(0)
        inside = (joint > 0.0) & (outer > 0.0)
        found[k] = float((joint[inside] * np.log(joint[inside] / outer[inside])).sum())
    return found
