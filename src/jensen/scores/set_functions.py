"""Functions of all sets of categorical variables: Σ over the cells that occur of f(count).

A set of n variables is a number below 2^n: bit k says that variable k is a member. The kernel goes
through the sets as a tree and merges rows that agree on all variables to come; what a row holds
from a variable on is called its rest.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import require_states
from jensen.exceptions import JensenError
from jensen.families.gamma_ratio import log_rising
from jensen.scores.categorical import log_regret
from jensen.scores.scorer import Progress
from jensen.support.machine import check_memory, get_threads, ordered_map
from jensen.support.text import bare

Array = NDArray[np.float64]
Integers = NDArray[np.int32]
Number = TypeVar("Number", np.float64, np.int32)

MOST_KNOWN = 1 << 22
"""The most values of f that are tabulated, over all its parameters together."""

MANY = 1 << 12
"""With more parameters of f, its tables are made by cumulative sums of logarithms."""

PIECE = 10
"""The least number of variables whose sets make one piece of work: thousands of sets."""

MOST_HEADS = 7
"""The most variables by which sets are cut into pieces; fixed, so that threads change nothing."""


class DistinctRows(NamedTuple):
    """Distinct rows, as a chain of rests: a rest is what a row holds from a variable on."""

    codes: Integers  # (n, U): the state of a variable, by rest; -1 is missing
    next_rests: Integers  # (n, U): the rest from the next variable on
    weights: Array  # (U,)
    bits: NDArray[np.int64]  # (n,): 2^k, the bit of each variable
    cards: tuple[int, ...]  # numbers of states by variable, not in the order of the rests

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())


class CellFunction(NamedTuple):
    """A function f of counts; each set has one of several parameters."""

    kind: int  # its number in `kernels.subsets`
    alphas: Array  # (Q,): its parameters
    table: Array  # (Q, C): f of 0 .. C - 1
    place: Integers  # (2^n,): the parameter of each set


def read_rows(
    table: Table, names: Sequence[str], used: NDArray[np.bool_] | None = None
) -> tuple[Integers, Array]:
    """The distinct rows (n, U) and their weights (U,); -1 is missing. `used` (N,) selects rows."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    kept = weights > 0.0 if used is None else used & (weights > 0.0)
    columns = np.empty((len(names), int(kept.sum())), np.int32)
    key, n_keys = np.zeros(columns.shape[1], np.int64), 1
    for k, name in enumerate(names):
        size = require_states(table, name).n_states + 1
        columns[k] = table.column(name).data[kept]
        if n_keys > (1 << 62) // size:  # numbers stay below 2^62
            found, key = np.unique(key, return_inverse=True)
            n_keys = max(len(found), 1)
        key, n_keys = key * size + columns[k], n_keys * size
        columns[k][columns[k] == size - 1] = -1
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    summed = np.bincount(which, weights[kept], minlength=len(first))
    return columns[:, first], summed.astype(np.float64)


def number_rests(
    codes: Integers, weights: Array, cards: Sequence[int], first: int | None = None
) -> DistinctRows:
    """Number the rests of rows, variable by variable.

    `first`, if given, comes first, and the other variables follow by falling entropy: then rows
    that differ only in late variables are merged early.
    """
    by_entropy = np.argsort([-_entropy(row, weights) for row in codes], kind="stable")
    order = sorted(by_entropy.tolist(), key=lambda v: v != first)
    left = codes[order]
    ranked = np.lexsort(left) if len(left) else np.zeros(len(weights), np.intp)
    left = left[:, ranked]
    states, following = np.zeros((2, *codes.shape), np.int32)
    for v in range(len(codes)):
        n = left.shape[1]
        states[v, :n], left = left[0], left[1:]
        differs = np.any(left[:, 1:] != left[:, :-1], axis=0)  # equal rests stand together
        following[v, 1:n] = np.cumsum(differs)
        left = left[:, np.concatenate([np.ones(min(n, 1), bool), differs])]
    bits = np.left_shift(1, np.array(order, np.int64))
    return DistinctRows(states, following, weights[ranked], bits, tuple(cards))


def set_values(
    rows: DistinctRows,
    f: CellFunction,
    largest: int,
    progress: Progress = None,
    *,
    with_first: bool = False,
) -> Array:
    """(2^n,): the function of every set of at most `largest` variables; others are undefined.

    With `with_first` only sets that hold the first variable of the rests are visited.
    """
    from jensen.kernels.subsets import fill_set_values

    n = len(rows.cards)
    _check_room(rows)
    out = np.full(1 << n, -np.inf)
    out[0] = _value_of_all(rows, f)
    n_heads = min(MOST_HEADS, max(n - PIECE, int(with_first)))
    heads = [h for h in range(1 << n_heads) if h.bit_count() <= largest]
    if with_first:
        heads = [h for h in heads if h & 1]

    def run(head: int) -> None:
        fill_set_values(*rows[:4], head, n_heads, largest, *f, out)

    for k, _ in enumerate(ordered_map(run, heads)):
        if progress is not None:
            progress((k + 1) / len(heads))
    return out


def rising(rows: DistinctRows, alphas: Array, index: Integers) -> CellFunction:
    """Log Γ(α + n) - log Γ(α), with an α for each set."""
    from jensen.kernels.subsets import RISING

    counts = np.arange(_n_known(rows, len(alphas)), dtype=np.float64)
    if len(alphas) > MANY:  # short rows: log α + log (α + 1) + ... is as good, and quicker
        table = np.zeros((len(alphas), len(counts)))
        np.cumsum(np.log(alphas[:, None] + counts[:-1]), axis=1, out=table[:, 1:])
    else:
        table = np.array([log_rising(alpha, counts) for alpha in alphas.tolist()])
    return CellFunction(RISING, alphas, table, index)


def spread_evenly(rows: DistinctRows, equivalent_sample_size: float) -> CellFunction:
    """Log Γ(α + n) - log Γ(α), α being an equal share of the equivalent sample."""
    index, n_cells = np.zeros(1, np.int32), np.ones(1)
    place: dict[int, int] = {}
    for card in sorted(set(rows.cards)):  # α depends only on how many variables of each size
        powers = float(card) ** np.arange(rows.cards.count(card) + 1)
        place[card] = len(n_cells)
        n_cells = np.multiply.outer(powers, n_cells).ravel()
    for card in rows.cards:
        index = np.concatenate([index, index + np.int32(place[card])])
    with np.errstate(under="ignore"):
        alphas = equivalent_sample_size / n_cells
    if not alphas.all():
        raise JensenError(
            f"{bare('equivalent_sample_size')} is too small to be spread over {n_cells.max():.3g} "
            f"cells: raise it, or leave out variables"
        )
    return rising(rows, alphas, index)


def constant_rising(rows: DistinctRows, alpha: float) -> CellFunction:
    """Log Γ(α + n) - log Γ(α) with one α for all sets."""
    return rising(rows, np.array([alpha]), _no_index(rows))


def entropy(rows: DistinctRows) -> CellFunction:
    """f(n) = n log n."""
    from jensen.kernels.subsets import ENTROPY

    return CellFunction(ENTROPY, np.zeros(1), _n_log_n(rows)[None], _no_index(rows))


def regret(rows: DistinctRows, n_states: int) -> CellFunction:
    """f(n) = n log n + the log regret of n rows; counts must be whole numbers."""
    from jensen.kernels.subsets import ENTROPY

    check_memory(8.0 * rows.total, "a table of regrets", "leave out rows")
    values = [log_regret(float(k), n_states) for k in range(int(rows.total) + 1)]
    table = _n_log_n(rows, len(values)) + np.array(values)
    return CellFunction(ENTROPY, np.zeros(1), table[None], _no_index(rows))


def weight(rows: DistinctRows) -> CellFunction:
    """f(n) = n: the sum is the weight of the rows that miss no variable of the set."""
    from jensen.kernels.subsets import WEIGHT

    return CellFunction(WEIGHT, np.zeros(1), np.arange(2.0)[None], _no_index(rows))


def one(rows: DistinctRows) -> CellFunction:
    """f(n) = 1: the sum is how many cells occur."""
    from jensen.kernels.subsets import ONE

    return CellFunction(ONE, np.zeros(1), np.array([[0.0, 1.0]]), _no_index(rows))


def differences(with_child: Array, without: Array, child: int) -> Array:
    """(2^(n-1),): with_child[P + child] - without[P] for all sets P of the others."""
    with np.errstate(invalid="ignore"):  # undefined sets hold -inf
        return np.asarray(members(with_child, child, True) - members(without, child, False))


def members(values: NDArray[Number], child: int, is_member: bool) -> NDArray[Number]:
    """(2^(n-1),): the values of the sets that hold a variable, or of those that do not."""
    return values.reshape(-1, 2, 1 << child)[:, int(is_member), :].ravel()


def between(progress: Progress, start: float, stop: float) -> Progress:
    """The progress of a part of the work, which lasts from `start` to `stop` of the whole."""
    if progress is None:
        return None
    return lambda share: progress(start + share * (stop - start))


def _entropy(states: Integers, weights: Array) -> float:
    """Entropy of a column, to six digits: rounding must not decide the order of variables."""
    shares = np.bincount(states + 1, weights) / max(weights.sum(), 1e-300)
    return round(float(-np.sum(shares * np.log(np.where(shares > 0.0, shares, 1.0)))), 6)


def _n_log_n(rows: DistinctRows, size: int | None = None) -> Array:
    counts = np.arange(_n_known(rows, 1) if size is None else size, dtype=np.float64)
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))


def _n_known(rows: DistinctRows, n_parameters: int) -> int:
    """How many counts, from 0 on, f is tabulated for."""
    return int(max(min(rows.total + 1.0, MOST_KNOWN // n_parameters), 2))


def _no_index(rows: DistinctRows) -> Integers:
    return np.zeros(1 << len(rows.cards), np.int32)


def _value_of_all(rows: DistinctRows, f: CellFunction) -> float:
    """The function of the empty set, whose one cell holds all rows."""
    from jensen.kernels.subsets import fill_set_values

    total = rows.total
    if total == 0.0:
        return 0.0
    one_cell, out = np.zeros((1, 1), np.int32), np.empty(2)
    q = f.place[0]  # a variable with a single state has the cells of the empty set
    parts = f.alphas[q : q + 1], f.table[q : q + 1], np.zeros(2, np.int32)
    bit = np.ones(1, np.int64)
    fill_set_values(one_cell, one_cell, np.array([total]), bit, 0, 0, 1, f.kind, *parts, out)
    return float(out[1])


def _check_room(rows: DistinctRows) -> None:
    n, n_rows = rows.codes.shape
    check_memory(
        16.0 * (n + 2) * n_rows * get_threads(),
        f"going through the sets of {n} variables with {n_rows:,} distinct rows",
        "leave out variables or rows, or use fewer threads",
    )


def sizes_of_sets(n: int) -> NDArray[np.int8]:
    """(2^n,): how many members every set has."""
    sizes = np.zeros(1, np.int8)
    for _ in range(n):
        sizes = np.concatenate([sizes, sizes + np.int8(1)])
    return sizes
