"""Sets of hidden variables of one network, each compiled once to a program on a cluster tree.

Sets are kept as `InternedLists`: equal lists of small integers have equal numbers.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.elimination import ENOUGH, RULES, best_order, largest_clique, order_all
from jensen.graphs.indexed_graph import wire_families
from jensen.support.machine import check_memory, get_memory_limit
from jensen.support.text import plural, some
from jensen.support.tree_records import Program, SetFamilies, Sets, Wiring, make_tree_workspace

Ints = NDArray[np.int64]


Entries = NDArray[np.int32]


class InternedLists:
    """Lists that were seen, in the order in which they came first."""

    def __init__(self) -> None:
        self._pool = np.empty(1 << 10, np.int32)
        self._end = np.empty(1 << 8, np.int64)
        self._places = np.full(1 << 9, -1, np.int64)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def end(self) -> Ints:
        """Where each list ends in `entries`."""
        return self._end[: self._n]

    @property
    def begin(self) -> Ints:
        """Where each list begins in `entries`."""
        return np.concatenate([[0], self._end[: max(self._n - 1, 0)]])[: self._n]

    @property
    def entries(self) -> Entries:
        """All lists end to end."""
        return self._pool[: self._end[self._n - 1] if self._n else 0]

    def number(self, entries: Entries, begin: Ints, end: Ints) -> Ints:
        """The number of every list ``entries[begin:end]``; new lists get the next numbers."""
        from jensen.kernels.hidden_sets import intern

        self._make_room(len(begin), int((end - begin).sum()))
        numbers = np.empty(len(begin), np.int64)
        self._n = intern(entries, begin, end, self._pool, self._end, self._places, self._n, numbers)
        return numbers

    def keep(self, n: int) -> None:
        """Forget all lists but the first n."""
        self._n = n
        self._place_again(len(self._places))

    def _make_room(self, n_lists: int, n_entries: int) -> None:
        self._pool = grown(self._pool, len(self.entries) + n_entries)
        self._end = grown(self._end, self._n + n_lists)
        if 2 * (self._n + n_lists) > len(self._places):
            self._place_again(1 << (2 * (self._n + n_lists)).bit_length())

    def _place_again(self, size: int) -> None:
        """Number all lists anew, which gives them the numbers they have, in another table."""
        entries, begin, end = self.entries.copy(), self.begin, self.end.copy()
        self._n, self._places = 0, np.full(size, -1, np.int64)
        self.number(entries, begin, end)


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array, or a copy of at least this length, doubled so that copies stay rare."""
    if size <= len(array):
        return array
    bigger = np.empty((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    bigger[: len(array)] = array
    return bigger


KEPT = 16
"""How many networks keep their compiled sets between fits."""

WAYS_OUT = "declare fewer variables hidden, leave out parents, merge states, or give more evidence"


class Plans:
    """The sets that were met so far, and their programs; grows as new sets come."""

    def __init__(self, wiring: Wiring, names: Sequence[str]) -> None:
        self.wiring, self.names = wiring, names
        self.sets = InternedLists()
        self.families = SetFamilies(*(np.empty(0, np.int64) for _ in SetFamilies._fields))
        self._start = np.zeros(1, np.int64)
        self._code = np.empty(1 << 14, np.int64)
        self._lock = RLock()

    def number(self, entries: NDArray[np.int32], begin: Ints, end: Ints) -> tuple[Ints, Sets]:
        """Number every set ``entries[begin:end]``, compiling new ones; and all sets known now.

        Other threads may add more sets at any time, so callers keep to what they were given.
        """
        with self._lock:
            n_known = len(self.sets)
            numbers = self.sets.number(entries, begin, end)
            if len(self.sets) > n_known:
                try:
                    self._compile(n_known)
                except BaseException:
                    self.sets.keep(n_known)
                    raise
            return numbers, self.now()

    def now(self) -> Sets:
        """What is appended later lies beyond these arrays, or in new ones."""
        program = Program(self._code, self._start[:-1])
        sets = self.sets
        return Sets(sets.entries, sets.begin, sets.end.copy(), self.families, program)

    def fits(self, words: NDArray[np.int32], begin: Ints, end: Ints) -> NDArray[np.bool_]:
        """Whether the tree of each set ``words[begin:end]`` fits in memory; none is compiled."""
        sets = InternedLists()
        numbers = sets.number(words, begin, end)
        if not len(sets):
            return np.empty(0, bool)
        ptr, members = np.append(sets.begin, len(sets.entries)), sets.entries
        families = find_families(ptr, members, self.wiring)
        _, log_total = self._greedy(ptr, members, families)
        for p in np.flatnonzero(_bytes(log_total) > get_memory_limit()).tolist():
            log_total[p] = best_order(*self._graph_of(p, ptr, members, families)).log_total
        return (_bytes(log_total) <= get_memory_limit())[numbers]

    def _compile(self, first: int) -> None:
        """Compile the sets from number `first` on; nothing is changed if one is too large."""
        start = self.sets.begin[first]
        ptr, members = np.append(self.sets.begin[first:], len(self.sets.entries)), self.sets.entries
        ptr, members = ptr - start, members[start:]
        found = find_families(ptr, members, self.wiring)
        self.compile_sets(ptr, members, found)
        self.families = _append(self.families, found)

    def compile_sets(self, ptr: Ints, members: NDArray[np.int32], families: SetFamilies) -> Program:
        """Compile sets with the families that the caller says take part; all that is compiled."""
        if len(ptr) > 1:
            orders, log_total = self._order(ptr, members, families)
            self._write(ptr, members, families, orders, log_total)
        return Program(self._code, self._start[:-1])

    def _order(
        self, ptr: Ints, members: NDArray[np.int32], families: SetFamilies
    ) -> tuple[Ints, NDArray[np.float64]]:
        """An order of elimination for every set: greedy, and searched for where that is large."""
        orders, log_total = self._greedy(ptr, members, families)
        for p in np.flatnonzero(log_total > ENOUGH).tolist():
            adjacent, cards = self._graph_of(p, ptr, members, families)
            found, here = best_order(adjacent, cards), members[ptr[p] : ptr[p + 1]]
            orders[ptr[p] : ptr[p + 1]], log_total[p] = found.order, found.log_total
            clique = here[largest_clique(adjacent, cards, found.order)]
            self._check_size(found.log_total, clique, len(here))
        return orders, log_total

    def _greedy(
        self, ptr: Ints, members: NDArray[np.int32], families: SetFamilies
    ) -> tuple[Ints, NDArray[np.float64]]:
        """The best greedy order of every set, and the log of its entries."""
        sets = (ptr, members, self.wiring, families.end, families.of)
        tried = [order_all(*sets, rule=rule, uniforms=np.zeros(1)) for rule in range(RULES)]
        totals = np.array([sizes[:, 0] for _, sizes in tried])
        of_member = np.repeat(totals.argmin(0), np.diff(ptr))
        return np.choose(of_member, [found for found, _ in tried]), totals.min(0)

    def _graph_of(
        self, p: int, ptr: Ints, members: NDArray[np.int32], families: SetFamilies
    ) -> tuple[NDArray[np.bool_], Ints]:
        """Which members of set p stand together in a family, and their numbers of states."""
        here = members[ptr[p] : ptr[p + 1]]
        touched = families.of[families.end[p - 1] if p else 0 : families.end[p]]
        return _graph(self.wiring, here, touched), self.wiring.cards[here]

    def _check_size(self, log_total: float, clique: NDArray[np.int32], n: int) -> None:
        entries = np.prod(self.wiring.cards[clique].astype(float))
        named = some((self.names[v] for v in clique), most=6)
        check_memory(
            float(_bytes(np.array(log_total))),
            f"the junction tree of {plural(n, 'unobserved variable')}, whose largest clique has "
            f"{plural(len(clique), 'variable')} and {entries:.3g} entries ({named}),",
            WAYS_OUT,
        )

    def _write(
        self,
        ptr: Ints,
        members: NDArray[np.int32],
        families: SetFamilies,
        orders: Ints,
        log_total: NDArray[np.float64],
    ) -> None:
        from jensen.kernels.tree_programs import write_programs

        n = len(ptr) - 1
        joint = np.add.reduceat(np.log(self.wiring.cards[members]), ptr[:-1])
        whole = joint <= log_total + 1e-9  # one table, if it is not larger than the tree
        start = np.empty(n + 1, np.int64)
        start[0] = self._start[-1]
        code, done = self._code, 0
        n_families = int(np.diff(families.end, prepend=0).max())
        desk = make_tree_workspace(int(np.diff(ptr).max()), n_families, len(self.wiring.cards))
        while True:
            done = write_programs(
                ptr,
                members,
                orders,
                whole,
                self.wiring,
                families.end,
                families.of,
                desk,
                done,
                start,
                code,
            )
            if done == n:
                break
            code = grown(code, 2 * len(code))
        self._code, self._start = code, np.concatenate([self._start, start[1:]])


def _bytes(log_total: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a tree takes whose tables have so many entries together."""
    return 4 * 8.0 * np.exp(np.minimum(log_total, 700.0))


def find_families(ptr: Ints, members: NDArray[np.int32], wiring: Wiring) -> SetFamilies:
    """What new sets touch."""
    from jensen.kernels.hidden_sets import set_families

    most = int(np.diff(wiring.touch_ptr)[members].sum())
    sizes = np.append(0, np.cumsum(np.diff(wiring.fam_ptr)[wiring.touch]))
    most_terms = int((sizes[wiring.touch_ptr[1:]] - sizes[wiring.touch_ptr[:-1]])[members].sum())
    end, of, term_end = (np.empty(k, np.int64) for k in (len(ptr) - 1, most, most))
    around, stride = np.empty(most_terms, np.int64), np.empty(most_terms, np.int64)
    n_terms = set_families(ptr, members, wiring, end, of, term_end, around, stride)
    n = end[-1]
    base = wiring.fam_at[of[:n]]
    return SetFamilies(end, of[:n], base, term_end[:n], around[:n_terms], stride[:n_terms])


def _append(known: SetFamilies, new: SetFamilies) -> SetFamilies:
    """Families of more sets."""
    shifted = new._replace(
        end=new.end + len(known.of), term_end=new.term_end + len(known.term_around)
    )
    return SetFamilies(*map(np.concatenate, zip(known, shifted, strict=True)))


def _graph(wiring: Wiring, members: NDArray[np.int32], families: Ints) -> NDArray[np.bool_]:
    """Which members stand together in a family."""
    local = np.full(len(wiring.cards), -1)
    local[members] = np.arange(len(members))
    adjacent = np.zeros((len(members), len(members)), bool)
    for f in families:
        inside = local[wiring.members(f)]
        inside = inside[inside >= 0]
        adjacent[np.ix_(inside, inside)] = True
    np.fill_diagonal(adjacent, False)
    return adjacent


@lru_cache(maxsize=KEPT)
def _kept(
    families: tuple[tuple[int, ...], ...], cards: tuple[int, ...], names: tuple[str, ...]
) -> Plans:
    return Plans(wire_families(families, cards), names)


def plans_of(wiring: Wiring, names: Sequence[str]) -> Plans:
    """The plans of a wiring, kept between fits of the same network."""
    return _kept(tuple(wiring.scopes()), tuple(map(int, wiring.cards)), tuple(names))
