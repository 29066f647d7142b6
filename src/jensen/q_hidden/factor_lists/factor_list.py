"""A list of factors over variables with states: what is left of a network once evidence is known.

States that the zeros of a factor rule out, given the states that its other members have left, are
taken out before anything is computed (arc consistency), so that messages are finite. A variable
that is left with one state is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.indexed_graph import wire_families
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class FactorList(NamedTuple):
    """Factors g_f over the members that are not known; log Z = constant + log Σ_x Π_f g_f(x_f)."""

    wiring: Wiring  # one family per factor; every variable has two states or more
    log_tables: Array  # of all factors, flat; -inf where a product is 0
    constant: float  # -inf if no states are possible together
    variables: Ints  # (n,): numbers of the variables that are left
    states: tuple[Ints, ...]  # of each of them: which of its states are left
    known: dict[int, int]  # the state of every other variable

    @property
    def n_variables(self) -> int:
        """How many variables are left."""
        return len(self.variables)

    @property
    def is_positive(self) -> bool:
        """Whether no product is 0."""
        return bool((self.log_tables > -np.inf).all())

    @property
    def arities(self) -> Ints:
        """How many members each factor has."""
        return np.diff(self.wiring.fam_ptr)

    def tables(self) -> list[Array]:
        """The log table of every factor, an axis for each member."""
        cards, at = self.wiring.cards, self.wiring.fam_at
        return [
            self.log_tables[at[f] : at[f + 1]].reshape(cards[self.wiring.members(f)])
            for f in range(self.wiring.n_families)
        ]

    def log_value(self, states: Ints) -> float:
        """The log of the product at states (numbers among those that are left)."""
        w = self.wiring
        steps = w.fam_stride * states[w.fam_vars]
        sums = np.concatenate([[0], np.cumsum(steps)])
        at = w.fam_at[:-1] + sums[w.fam_ptr[1:]] - sums[w.fam_ptr[:-1]]
        return self.constant + float(self.log_tables[at].sum())

    def original(self, states: Ints) -> dict[int, int]:
        """Every variable with its own state."""
        found = zip(self.variables.tolist(), states.tolist(), self.states, strict=True)
        return {**self.known, **{v: int(left[s]) for v, s, left in found}}

    def original_marginal(self, k: int, shares: Array, card: int) -> Array:
        """Shares of the states that are left of the k-th variable, as shares of all its states."""
        full = np.zeros(card)
        full[self.states[k]] = shares
        return full


def make_factor_list(
    cards: Sequence[int],
    scopes: Sequence[Sequence[int]],
    tables: Sequence[Array],
    allowed: Mapping[int, NDArray[np.bool_]] | None = None,
) -> FactorList:
    """Factors over variables 0..n-1 with these log tables.

    Parameters
    ----------
    cards
        (n,) numbers of states.
    scopes, tables
        Of each factor its members, and its log table with an axis for each.
    allowed
        Which states of a variable are possible (evidence leaves one); all are by default.

    Examples
    --------
    >>> import numpy as np
    >>> pair = np.array([[-np.inf, 0.0], [1.0, 2.0]])
    >>> found = make_factor_list([2, 2], [(0, 1)], [pair], {0: np.array([True, False])})
    >>> found.known, found.constant          # the second variable follows
    ({0: 0, 1: 1}, 0.0)
    """
    left = [np.ones(card, bool) for card in cards]
    for v, mask in (allowed or {}).items():
        left[v] &= mask
    found = _group([tuple(scope) for scope in scopes], [np.asarray(t, float) for t in tables])
    constant = float(found.pop((), np.zeros(())))
    has_zeros = (
        bool(allowed) or 1 in cards or any((table == -np.inf).any() for table in found.values())
    )
    while has_zeros:
        before = [mask.copy() for mask in left]
        tables = _make_consistent(left, list(found), list(found.values()))
        if not all(mask.any() for mask in left):
            return _impossible(len(left))
        known = {v for v, mask in enumerate(left) if mask.sum() == 1}
        shorter, smaller = [], []
        for scope, table in zip(found, tables, strict=True):
            at = tuple(int(left[v].argmax()) if v in known else slice(None) for v in scope)
            shorter.append(tuple(v for v in scope if v not in known))
            smaller.append(table[at])
        n_before, found = len(found), _group(shorter, smaller)
        constant += float(found.pop((), np.zeros(())))
        has_zeros = len(found) < n_before or any(
            not np.array_equal(a, b) for a, b in zip(before, left, strict=True)
        )
    return _compressed(found, left, constant)


def _compressed(
    found: dict[tuple[int, ...], Array], left: list[NDArray[np.bool_]], constant: float
) -> FactorList:
    """Keep the states that are left, and the variables that have several."""
    alive = np.array([mask.sum() > 1 for mask in left], bool)
    place = (np.cumsum(alive) - 1).tolist()
    states = tuple(np.flatnonzero(mask) for mask in left)
    tables = []
    for scope, table in found.items():
        if any(len(states[v]) < n for v, n in zip(scope, table.shape, strict=True)):
            table = table[np.ix_(*(states[v] for v in scope))]
        tables.append(table.ravel())
    variables = np.flatnonzero(alive)
    kept = tuple(states[v] for v in variables.tolist())
    wiring = wire_families([[place[v] for v in scope] for scope in found], [len(s) for s in kept])
    known = {v: int(states[v][0]) for v in np.flatnonzero(~alive).tolist()}
    flat = np.concatenate([np.empty(0), *tables])
    return FactorList(wiring, flat, constant, variables, kept, known)


def _impossible(n: int) -> FactorList:
    wiring = wire_families([], [])
    return FactorList(
        wiring, np.empty(0), -np.inf, np.empty(0, np.int64), (), dict.fromkeys(range(n), 0)
    )


def _make_consistent(
    left: list[NDArray[np.bool_]], scopes: Sequence[Sequence[int]], tables: Sequence[Array]
) -> list[Array]:
    """Take out states without support; entries of states that are out become 0 too."""
    tables = list(tables)
    of_variable: dict[int, list[int]] = {}
    for f, scope in enumerate(scopes):
        for v in scope:
            of_variable.setdefault(v, []).append(f)
    waiting, is_waiting = list(range(len(scopes))), [True] * len(scopes)
    while waiting:
        f = waiting.pop()
        is_waiting[f] = False
        scope = scopes[f]
        table = tables[f]
        for axis, v in enumerate(scope):
            if not left[v].all():
                shape = [1] * len(scope)
                shape[axis] = len(left[v])
                table = np.where(left[v].reshape(shape), table, -np.inf)
        tables[f] = table
        possible = table > -np.inf
        if possible.all():
            continue
        for axis, v in enumerate(scope):
            others = tuple(a for a in range(len(scope)) if a != axis)
            mask = possible.any(others) & left[v]
            if not np.array_equal(mask, left[v]):
                left[v][:] = mask
                for g in of_variable[v]:
                    if not is_waiting[g]:
                        is_waiting[g] = True
                        waiting.append(g)
    return tables


def _group(
    scopes: Sequence[tuple[int, ...]], tables: Sequence[Array]
) -> dict[tuple[int, ...], Array]:
    """The same product with one factor per set of members, ascending, none within another's.

    The sum of factors without members stands under the empty scope.
    """
    grouped: dict[tuple[int, ...], Array] = {}
    for scope, table in zip(scopes, tables, strict=True):
        if len(scope) > 1 and any(a > b for a, b in pairwise(scope)):
            order = sorted(range(len(scope)), key=scope.__getitem__)
            scope, table = tuple(scope[k] for k in order), table.transpose(order)
        grouped[scope] = grouped[scope] + table if scope in grouped else table
    holds: dict[int, list[tuple[int, ...]]] = {}
    for scope in sorted(grouped, key=len, reverse=True):
        wider = _wider(scope, holds)
        if wider is None:
            for v in scope:
                holds.setdefault(v, []).append(scope)
            continue
        shape = [grouped[wider].shape[a] if v in scope else 1 for a, v in enumerate(wider)]
        grouped[wider] = grouped[wider] + grouped.pop(scope).reshape(shape)
    return grouped


def _wider(
    scope: tuple[int, ...], holds: dict[int, list[tuple[int, ...]]]
) -> tuple[int, ...] | None:
    """A scope that holds this one; None if there is none."""
    if not scope or any(v not in holds for v in scope):
        return None
    around = min((holds[v] for v in scope), key=len)
    return next((other for other in around if set(scope) < set(other)), None)
