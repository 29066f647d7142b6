"""Effects of variables and of their interactions: a fixed gauge for log-linear tables.

Tables of cliques determine a distribution, but not the other way round: a constant can move from
one table to another. An effect of some variables is a table over them that sums to zero along each
axis, and these are unique. Each variable of K states has K - 1 contrasts, orthogonal columns with
mean 0 and mean square 1: for two states they are the code -1 (the first state) and +1, so that the
effect of two bits is J s s' with s = ±1. The mean square of an effect's table is the sum of its
squared coefficients, whatever the order of the states, which is what penalties look at.

References
----------
Darroch and Ratcliff (1972), *Generalized iterative scaling for log-linear models*, for the model;
Agresti (2013), *Categorical Data Analysis*, section 9.1, for the sum-to-zero constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.indexed_graph import wire_families
from jensen.support.machine import check_memory
from jensen.support.tree_records import Wiring

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Scope = tuple[int, ...]

KEPT = 64
"""How many sets of effects are kept between fits of the same network."""


@lru_cache(maxsize=KEPT)
def contrasts(n_states: int) -> Array:
    """(K, K - 1): columns orthogonal to each other and to ones, each with mean square 1."""
    columns = np.zeros((n_states, max(n_states - 1, 0)))
    for j in range(1, n_states):
        columns[:j, j - 1] = -1.0
        columns[j, j - 1] = j
        columns[:, j - 1] *= np.sqrt(n_states / (j * (j + 1.0)))
    return columns


@dataclass(frozen=True, eq=False)
class Effects:
    """All effects of the tables of some scopes, and the way between them and flat tables.

    Parameters
    ----------
    scopes
        The variables of each table, ascending.
    cards
        The numbers of states.
    terms
        The variables of each effect: alone first, then pairs, and so on, each in order.
    owner
        Of each effect the table that holds it: a smallest one.
    term_ptr
        Where the coefficients of each effect begin; then the end.
    wiring
        The scopes as flat tables.
    design
        (P, F), sparse: flat log tables = design @ coefficients.
    """

    scopes: tuple[Scope, ...]
    cards: tuple[int, ...]
    terms: tuple[Scope, ...]
    owner: tuple[int, ...]
    term_ptr: Ints
    wiring: Wiring
    design: csr_array

    @property
    def n_coefficients(self) -> int:
        """How many coefficients all effects have."""
        return int(self.term_ptr[-1])

    @property
    def term_of(self) -> Ints:
        """(F,): the effect of each coefficient."""
        return np.repeat(np.arange(len(self.terms)), np.diff(self.term_ptr))

    @property
    def is_interaction(self) -> NDArray[np.bool_]:
        """(F,): whether the coefficient belongs to several variables."""
        return np.array([len(term) > 1 for term in self.terms], bool)[self.term_of]

    def tables(self, coefficients: Array) -> Array:
        """Flat log tables (P,)."""
        return np.asarray(self.design @ coefficients)

    def features(self, counts: Array) -> Array:
        """Σ of the features over what was counted in all tables, (F,)."""
        return np.asarray(counts @ self.design)

    def table_of(self, term: int, coefficients: Array) -> Array:
        """The table of one effect, an axis for each of its variables."""
        own = coefficients[self.term_ptr[term] : self.term_ptr[term + 1]]
        with np.errstate(invalid="ignore"):
            products = np.where(self.basis_of(term) == 0.0, 0.0, self.basis_of(term) * own)
        return np.asarray(products.sum(1)).reshape([self.cards[v] for v in self.terms[term]])

    def basis_of(self, term: int) -> Array:
        """(cells, coefficients): the table of one effect, flat, is this times its coefficients."""
        return _block(self.terms[term], self.terms[term], self.cards)

    def joint_features(self, states: NDArray[np.int64]) -> Array:
        """(S, F): the features of joint states (S, n)."""
        w, cells = self.wiring, []
        for f in range(w.n_families):
            at = slice(w.fam_ptr[f], w.fam_ptr[f + 1])
            cells.append(w.fam_at[f] + states[:, w.fam_vars[at]] @ w.fam_stride[at])
        rows = np.repeat(np.arange(len(states)), len(cells))
        from scipy.sparse import csr_array

        shape = (len(states), int(w.fam_at[-1]))
        chosen = csr_array((np.ones(len(rows)), (rows, np.stack(cells, 1).ravel())), shape)
        return np.asarray((chosen @ self.design).todense())

    def project(self, tables: Array) -> Array:
        """The coefficients of the distribution that any flat log tables of these scopes give.

        Entries of -inf stand for impossible states; a coefficient that they send to infinity is
        ±inf, and nan where they leave it without a value.
        """
        found = np.zeros(self.n_coefficients)
        place = {term: k for k, term in enumerate(self.terms)}
        for f, scope in enumerate(self.scopes):
            at = slice(self.wiring.fam_at[f], self.wiring.fam_at[f + 1])
            for term in _subsets(scope):
                k = place[term]
                block = _block(scope, term, self.cards)
                with np.errstate(invalid="ignore"):
                    products = np.where(block == 0.0, 0.0, block * tables[at, None])
                    part = products.sum(0) / len(block)
                    found[self.term_ptr[k] : self.term_ptr[k + 1]] += part
        return found


def _subsets(scope: Scope) -> list[Scope]:
    return [term for k in range(1, len(scope) + 1) for term in combinations(scope, k)]


def _block(scope: Scope, term: Scope, cards: Sequence[int]) -> Array:
    """(cells, coefficients) of an effect in the table of a scope that holds it."""
    block: Array = np.ones((1, 1))
    for v in scope:
        factor = contrasts(cards[v]) if v in term else np.ones((cards[v], 1))
        block = np.asarray(np.kron(block, factor), np.float64)
    return block


@lru_cache(maxsize=KEPT)
def effects_of(scopes: tuple[Scope, ...], cards: tuple[int, ...]) -> Effects:
    """All effects of tables over these scopes; kept between fits of the same network.

    Examples
    --------
    >>> found = effects_of(((0,), (1,), (0, 1)), (2, 2))
    >>> found.terms
    ((0,), (1,), (0, 1))
    >>> found.tables(np.array([0.0, 0.0, 0.5]))[-4:]
    array([ 0.5, -0.5, -0.5,  0.5])
    """
    _check_size(scopes, cards)
    held: dict[Scope, int] = {}
    for f in sorted(range(len(scopes)), key=lambda f: (len(scopes[f]), f)):
        for term in _subsets(scopes[f]):
            held.setdefault(term, f)
    terms = tuple(sorted(held, key=lambda term: (len(term), term)))
    sizes = [prod(cards[v] - 1 for v in term) for term in terms]
    term_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    wiring = wire_families(scopes, cards)
    owner = tuple(held[term] for term in terms)
    design = _design(scopes, cards, terms, owner, term_ptr, wiring)
    return Effects(scopes, cards, terms, owner, term_ptr, wiring, design)


def _design(
    scopes: tuple[Scope, ...],
    cards: tuple[int, ...],
    terms: tuple[Scope, ...],
    owner: tuple[int, ...],
    term_ptr: Ints,
    wiring: Wiring,
) -> csr_array:
    from scipy.sparse import csr_array

    rows, columns, values = [], [], []
    for k, term in enumerate(terms):
        block = _block(scopes[owner[k]], term, cards)
        n_cells, n_own = block.shape
        rows.append(np.repeat(wiring.fam_at[owner[k]] + np.arange(n_cells), n_own))
        columns.append(np.tile(np.arange(term_ptr[k], term_ptr[k + 1]), n_cells))
        values.append(block.ravel())
    nothing: list[Any] = [np.empty(0, np.int64)]
    place = (np.concatenate(nothing + rows), np.concatenate(nothing + columns))
    shape = (int(wiring.fam_at[-1]), int(term_ptr[-1]))
    found = csr_array((np.concatenate([np.empty(0), *values]), place), shape)
    found.eliminate_zeros()
    return found


def _check_size(scopes: tuple[Scope, ...], cards: tuple[int, ...]) -> None:
    """Refuse tables whose effects would fill the memory."""
    cells = [float(prod(cards[v] for v in scope)) for scope in scopes]
    widest = max(range(len(scopes)), key=lambda f: cells[f], default=0)
    check_memory(
        48.0 * sum(n**2 for n in cells),
        f"the effects of tables of up to {max(map(len, scopes), default=0)} variables "
        f"({cells[widest] if cells else 0:,.0f} entries)",
        "take smaller cliques, merge states, or learn pairwise interactions only",
    )
