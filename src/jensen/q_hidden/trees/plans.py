"""Sets of hidden variables of one wiring, each compiled once."""

from collections.abc import Sequence
from functools import lru_cache
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.elimination import ENOUGH, RULES, best_order, largest_clique, order_all
from jensen.graphs.wiring import Wiring, wire_families
from jensen.q_hidden.trees.lists import Lists, grown
from jensen.q_hidden.trees.records import Families, Program, Sets, make_desk
from jensen.support.memory import check_memory
from jensen.support.text import plural, some

Ints = NDArray[np.int64]

KEPT = 16
"""How many networks keep their compiled sets between fits."""

WAYS_OUT = "declare fewer variables hidden, leave out parents, merge states, or give more evidence"


class Plans:
    """The sets that were met so far, and their programs; grows as new sets come."""

    def __init__(self, wiring: Wiring, names: Sequence[str]) -> None:
        self.wiring, self.names = wiring, names
        self.sets = Lists()
        self.families = Families(*(np.empty(0, np.int64) for _ in Families._fields))
        self._start = np.zeros(1, np.int64)
        self._code = np.empty(1 << 14, np.int64)
        self._lock = RLock()

    def number(self, words: NDArray[np.int32], begin: Ints, end: Ints) -> tuple[Ints, Sets]:
        """The number of every set ``words[begin:end]``, new ones compiled; and all sets as of now.

        Other threads may add more sets at any time, so callers keep to what they were given.
        """
        with self._lock:
            n_known = len(self.sets)
            numbers = self.sets.number(words, begin, end)
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
        return Sets(sets.words, sets.begin, sets.end.copy(), self.families, program)

    def _compile(self, first: int) -> None:
        """Compile the sets from number `first` on; nothing is changed if one is too large."""
        start = self.sets.begin[first]
        ptr, members = np.append(self.sets.begin[first:], len(self.sets.words)), self.sets.words
        ptr, members = ptr - start, members[start:]
        found = find_families(ptr, members, self.wiring)
        orders, log_total = self._order(ptr, members, found)
        self._write(ptr, members, found, orders, log_total)
        self.families = _append(self.families, found)

    def _order(
        self, ptr: Ints, members: NDArray[np.int32], families: Families
    ) -> tuple[Ints, NDArray[np.float64]]:
        """An order of elimination for every set: greedy, and searched for where that is large."""
        sets = (ptr, members, self.wiring, families.end, families.of)
        tried = [order_all(*sets, rule=rule, uniforms=np.zeros(1)) for rule in range(RULES)]
        totals = np.array([sizes[:, 0] for _, sizes in tried])
        best, log_total = totals.argmin(0), totals.min(0)
        of_member = np.repeat(best, np.diff(ptr))
        orders = np.choose(of_member, [found for found, _ in tried])
        for p in np.flatnonzero(log_total > ENOUGH):
            here = members[ptr[p] : ptr[p + 1]]
            touched = families.of[families.end[p - 1] if p else 0 : families.end[p]]
            adjacent, cards = _graph(self.wiring, here, touched), self.wiring.cards[here]
            found = best_order(adjacent, cards)
            orders[ptr[p] : ptr[p + 1]], log_total[p] = found.order, found.log_total
            clique = here[largest_clique(adjacent, cards, found.order)]
            self._check_size(found.log_total, clique, len(here))
        return orders, log_total

    def _check_size(self, log_total: float, clique: NDArray[np.int32], n: int) -> None:
        entries = np.prod(self.wiring.cards[clique].astype(float))
        named = some((self.names[v] for v in clique), most=6)
        check_memory(
            4 * 8.0 * float(np.exp(min(log_total, 700.0))),
            f"the junction tree of {plural(n, 'unobserved variable')}, whose largest clique has "
            f"{plural(len(clique), 'variable')} and {entries:.3g} entries ({named}),",
            WAYS_OUT,
        )

    def _write(
        self,
        ptr: Ints,
        members: NDArray[np.int32],
        families: Families,
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
        desk = make_desk(int(np.diff(ptr).max()), n_families, len(self.wiring.cards))
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


def find_families(ptr: Ints, members: NDArray[np.int32], wiring: Wiring) -> Families:
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
    return Families(end, of[:n], base, term_end[:n], around[:n_terms], stride[:n_terms])


def _append(known: Families, new: Families) -> Families:
    """Families of more sets."""
    shifted = new._replace(
        end=new.end + len(known.of), term_end=new.term_end + len(known.term_around)
    )
    return Families(*map(np.concatenate, zip(known, shifted, strict=True)))


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
