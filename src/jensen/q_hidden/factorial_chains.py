"""Several chains of hidden states behind the same outputs: exact, structured or factorised q(h).

With w = (1, which state each chain is in, its first state left out) an output is W w + noise. The
chains are independent beforehand and depend on each other given the outputs. `exact` sums over all
states of all chains at once, by transitions of one chain at a time. The structured mean field is a
product of chains, each solved exactly given what is expected of the others; the factorised one is a
product of steps too, and its bound is lower (Ghahramani and Jordan 1997).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.linear_regression import Regression
from jensen.q_hidden.gaussian_chain import Outputs, SeriesRows
from jensen.q_hidden.states import chain as one_chain
from jensen.q_hidden.structures import SUM, Chain, Observed, ReadMode
from jensen.support.fields import record
from jensen.support.machine import check_memory

Array = NDArray[np.float64]

MOST_TURNS = 100
STILL = 1e-10
"""Turns over the chains end when F of a sequence rises by less, or after so many."""


class FactorialChains(NamedTuple):
    """Log potentials of M chains of K states, and the rows behind which they are."""

    log_init: Array  # (M, K)
    log_trans: Array  # (M, K, K)
    outputs: Outputs
    rows: SeriesRows


@record
class FactorialSums(NamedTuple):
    """Sums over steps, by weight."""

    initial: Any  # (M, K)
    transition: Any  # (M, K, K)
    outputs: Any  # `Regression` of each output on w


class Found(NamedTuple):
    """What is known of the states."""

    value: Array  # (S,)
    nodes: Array  # (T, M, K): of each chain
    sums: FactorialSums


def design(n_chains: int, n_states: int) -> Array:
    """(K^M, 1 + M (K - 1)): w of all states of all chains; the last chain's change the fastest."""
    K, M = n_states, n_chains
    digits = np.stack(np.unravel_index(np.arange(K**M), (K,) * M), axis=1)
    one_hot = digits[:, :, None] == np.arange(1, K)
    return np.column_stack([np.ones(K**M), one_hot.reshape(K**M, -1).astype(float)])


def pulls(chains: FactorialChains) -> tuple[Array, Array]:
    """(T,) and (T, width): the log potential of a step is size + pull w - ½ wᵀ S w."""
    outputs, rows = chains.outputs, chains.rows
    square = (rows.values**2 * outputs.precision[rows.owner]).sum(1)
    return outputs.log_size[rows.owner] - 0.5 * square, rows.values @ outputs.first[0]


# --- all chains at once ---


def exact(chains: FactorialChains) -> Found:
    """Sums over the states of all chains."""
    from jensen.kernels.factorial_chains import solve_joint

    (M, K), rows = chains.log_init.shape, chains.rows
    check_memory(
        32.0 * len(rows.values) * float(K) ** M,
        f"all {K}^{M} states of {M} chains at {len(rows.values):,} steps",
        "take fewer chains, or a mean field (method='mean-field' or 'variational-em')",
    )
    size, pull = pulls(chains)
    w = design(M, K)
    inner = 0.5 * np.einsum("sw,pwv,sv->ps", w, chains.outputs.strength, w)
    log_like = pull @ w.T - inner[rows.owner]
    top = log_like.max(1)
    like = np.exp(log_like - top[:, None])
    first = np.exp(_joint(chains.log_init))
    nodes, pairs = np.empty_like(like), np.zeros((M, K, K))
    value = np.zeros(len(rows.weight))
    trans = np.ascontiguousarray(np.exp(chains.log_trans))
    solve_joint(first, trans, like, rows.ptr, rows.weight, nodes, pairs, value)
    value += np.add.reduceat(size + top, rows.ptr[:-1])
    marginal = nodes.reshape(-1, *(K,) * M)
    axes = range(1, M + 1)
    each = [marginal.sum(tuple(a for a in axes if a != m)) for m in axes]
    told = np.stack(each, axis=1)
    weighed = nodes * rows.step_weight[:, None]
    shares = rows.seen[rows.owner].T @ weighed
    strength = np.einsum("ds,sw,sv->dwv", shares, w, w)
    outputs = _regression(rows, nodes @ w, strength)
    initial = np.einsum("s,smk->mk", rows.weight, told[rows.ptr[:-1]])
    return Found(value, told, FactorialSums(initial, pairs, outputs))


def _joint(log_init: Array) -> Array:
    """Log probabilities of all states of all chains."""
    total = np.zeros(1)
    for row in log_init:
        total = (total[:, None] + row).ravel()
    return total


def _regression(rows: SeriesRows, mean: Array, strength: Array) -> Regression:
    """Sums of what each output was regressed on."""
    weight = rows.step_weight[:, None]
    count = (weight * rows.seen[rows.owner]).sum(0)
    y = weight * rows.values
    return Regression(count, (y * rows.values).sum(0), y.T @ mean, strength)


# --- mean fields ---


class _Kept(Observed):
    """One chain's log potentials of steps; keeps the posterior of the states."""

    def __init__(self, log_like: Array, nodes: Array) -> None:
        self.log_potential, self.nodes = log_like, nodes

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows)."""
        return np.ascontiguousarray(self.log_potential[start:stop].T)

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> None:
        """Keep what was found."""
        self.nodes[start:stop] = nodes.T


def _fields(chains: FactorialChains, nodes: Array, pull: Array, m: int) -> Array:
    """(T, K): what the outputs and the other chains say of the states of one."""
    K = chains.log_init.shape[1]
    own = slice(1 + m * (K - 1), 1 + (m + 1) * (K - 1))
    w = _means(nodes)
    w[:, own] = 0.0
    strength = chains.outputs.strength
    if len(strength) == 1:
        others = w @ strength[0][:, own]
    else:
        others = np.einsum("tw,twk->tk", w, strength[chains.rows.owner][:, :, own])
    diagonal = np.diagonal(strength, axis1=1, axis2=2)[chains.rows.owner][:, own]
    found = np.zeros((len(pull), K))
    found[:, 1:] = pull[:, own] - others - 0.5 * diagonal
    return found


def _means(nodes: Array) -> Array:
    """(T, width): E[w]."""
    return np.column_stack([np.ones(len(nodes)), nodes[:, :, 1:].reshape(len(nodes), -1)])


def _expected_square(chains: FactorialChains, nodes: Array) -> Array:
    """(T,): ½ E[wᵀ S w]; states of one chain exclude each other."""
    strength, w = chains.outputs.strength, _means(nodes)
    (M, K), owner = chains.log_init.shape, chains.rows.owner
    if len(strength) == 1:
        total = ((w @ strength[0]) * w).sum(1)
    else:
        total = np.einsum("tw,twv,tv->t", w, strength[owner], w)
    for m in range(M):
        own = slice(1 + m * (K - 1), 1 + (m + 1) * (K - 1))
        inside = strength[:, own, own][owner]
        part = w[:, own]
        total -= np.einsum("tk,tkl,tl->t", part, inside, part)
        total += (part * np.diagonal(inside, axis1=1, axis2=2)).sum(1)
    return np.asarray(0.5 * total)


def structured(chains: FactorialChains, nodes: Array | None = None) -> Found:
    """A product of chains, from what was expected of the states before (T, M, K)."""
    (M, K), rows = chains.log_init.shape, chains.rows
    size, pull = pulls(chains)
    nodes = _even(chains) if nodes is None else nodes.copy()
    before, parts = -np.inf, np.zeros((M, len(rows.weight)))
    for _ in range(MOST_TURNS):
        for m in range(M):
            field = _fields(chains, nodes, pull, m)
            kept = np.empty((len(field), K))
            found = Chain(
                chains.log_init[m], np.ascontiguousarray(chains.log_trans[m]), np.zeros(K),
                _Kept(field, kept), rows.ptr, np.ones(len(rows.weight)),
            )  # fmt: skip
            log_z, _ = one_chain.expected(found)
            nodes[:, m] = kept
            parts[m] = log_z - np.add.reduceat((kept * field).sum(1), rows.ptr[:-1])
        value = parts.sum(0) + _energy(chains, nodes, size, pull)
        total = float(rows.weight @ value)
        if total - before < STILL * (1.0 + abs(total)):
            break
        before = total
    return Found(value, nodes, _sums_of_product(chains, nodes, pull))


def _energy(chains: FactorialChains, nodes: Array, size: Array, pull: Array) -> Array:
    """(S,): what is expected of the log potentials of the outputs."""
    each = size + (pull * _means(nodes)).sum(1) - _expected_square(chains, nodes)
    return np.asarray(np.add.reduceat(each, chains.rows.ptr[:-1]))


def _even(chains: FactorialChains) -> Array:
    M, K = chains.log_init.shape
    return np.full((len(chains.rows.values), M, K), 1.0 / K)


def _sums_of_product(chains: FactorialChains, nodes: Array, pull: Array) -> FactorialSums:
    """Sums under a product of chains, each of which is weighed by its sequences once more."""
    (M, K), rows = chains.log_init.shape, chains.rows
    w, weight = _means(nodes), rows.step_weight
    shown = weight[:, None] * rows.seen[rows.owner]
    outer = w[:, :, None] * w[:, None, :]
    pairs = np.zeros((M, K, K))
    for m in range(M):
        own = np.arange(1 + m * (K - 1), 1 + (m + 1) * (K - 1))
        outer[:, own[:, None], own] = 0.0
        outer[:, own, own] = w[:, own]
        field = _fields(chains, nodes, pull, m)
        kept = np.empty((len(field), K))
        found = Chain(
            chains.log_init[m], np.ascontiguousarray(chains.log_trans[m]), np.zeros(K),
            _Kept(field, kept), rows.ptr, rows.weight,
        )  # fmt: skip
        pairs[m] = one_chain.expected(found)[1].pairs
    flat = shown.T @ outer.reshape(len(w), -1)
    outputs = _regression(rows, w, flat.reshape(-1, w.shape[1], w.shape[1]))
    initial = np.einsum("s,smk->mk", rows.weight, nodes[rows.ptr[:-1]])
    return FactorialSums(initial, pairs, outputs)


def factorised(chains: FactorialChains, nodes: Array | None = None) -> tuple[Array, Array]:
    """A product of steps of chains: the bound (S,) and the states (T, M, K)."""
    M, rows = len(chains.log_init), chains.rows
    size, pull = pulls(chains)
    nodes = _even(chains) if nodes is None else nodes.copy()
    is_first = rows.is_first
    is_last = np.append(is_first[1:], True)
    before = np.full(len(rows.weight), -np.inf)
    log_init = np.maximum(chains.log_init, -1e10)
    log_trans = np.maximum(chains.log_trans, -1e10)  # 0 · log 0 is 0 where nothing is believed
    for _ in range(20 * MOST_TURNS):
        for t in range(len(nodes)):
            for m in range(M):
                at = FactorialChains(*chains[:3], _one_step(rows, t))
                field = _fields(at, nodes[t : t + 1], pull[t : t + 1], m)[0]
                field = field + (log_init[m] if is_first[t] else nodes[t - 1, m] @ log_trans[m])
                if not is_last[t]:
                    field = field + log_trans[m] @ nodes[t + 1, m]
                share = np.exp(field - field.max())
                nodes[t, m] = share / share.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.where(nodes > 0.0, nodes * np.log(nodes), 0.0).sum((1, 2))
        moved = np.zeros(len(nodes))
        later = np.flatnonzero(~is_first)
        moved[is_first] = (nodes[is_first] * log_init).sum((1, 2))
        moved[later] = np.einsum("tmi,mij,tmj->t", nodes[later - 1], log_trans, nodes[later])
        value = np.add.reduceat(entropy + moved, rows.ptr[:-1])
        value = value + _energy(chains, nodes, size, pull)
        if (value - before < STILL * (1.0 + np.abs(value))).all():
            break
        before = value
    return value, nodes


def _one_step(rows: SeriesRows, t: int) -> SeriesRows:
    return rows._replace(values=rows.values[t : t + 1], owner=rows.owner[t : t + 1])
