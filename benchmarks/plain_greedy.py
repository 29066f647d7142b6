"""Plain greedy search as R's bnlearn has it: `hc` and `tabu` with their defaults.

Of moves that gain the same, the first in the order of the columns is made: additions before
deletions before reversals, and another one only if it gains more by a tolerance. So the result
depends on the order of the columns. Everything but this order is left to Jensen's local scores.

References
----------
Scutari (2010), *Learning Bayesian networks with the bnlearn R package*, Journal of Statistical
Software 35.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TOLERANCE = float(np.sqrt(np.finfo(float).eps))
"""By so much a move must gain more than the best before it."""

LENGTH = 10
"""Of the list of graphs that tabu search does not go back to, and its moves without a gain."""


class Greedy:
    """Gains of single moves at a graph; rows and columns are in the caller's order."""

    def __init__(self, scorer: Any, order: Sequence[int], most: int, known: dict[Any, Any]) -> None:
        self.scorer, self.order, self.most, self.known = scorer, list(order), most, known
        n = len(self.order)
        self.place = np.argsort(self.order)
        self.joined = np.zeros((n, n), bool)
        self.change = np.zeros((n, n))  # what the child gains by adding, or dropping, the edge
        self.score = np.zeros(n)
        for v in range(n):
            self.look(v)

    def look(self, v: int) -> None:
        """Score the family of one child, with every parent more and less."""
        above = sorted(self.order[u] for u in np.flatnonzero(self.joined[:, v]))
        key = self.order[v], tuple(above)
        if key not in self.known:
            self.known[key] = (
                self.scorer.family(*key),
                np.array(self.scorer.with_each(*key)),
                np.array(self.scorer.without_each(*key)),
            )
        self.score[v], more, less = self.known[key]
        self.change[:, v] = more[self.order] - self.score[v]
        self.change[self.place[above], v] = less - self.score[v]

    def moves(self) -> list[list[tuple[float, str, int, int]]]:
        """Additions, deletions, reversals, each row by row."""
        joined = self.joined
        room = joined.sum(0) < self.most
        free = ~(joined | joined.T) & room
        np.fill_diagonal(free, False)
        add = [(self.change[u, v], "add", u, v) for u, v in np.argwhere(free).tolist()]
        edges = np.argwhere(joined).tolist()
        drop = [(self.change[u, v], "drop", u, v) for u, v in edges]
        turn = [(self.change[u, v] + self.change[v, u], "turn", u, v) for u, v in edges if room[u]]
        return [add, drop, turn]

    def after(self, what: str, u: int, v: int) -> Flags:
        """The graph after a move."""
        joined = self.joined.copy()
        joined[u, v] = what == "add"
        joined[v, u] |= what == "turn"
        return joined

    def best(self, floor: float, visited: Sequence[bytes] = ()) -> tuple[str, int, int] | None:
        """The move that gains most, the first of equals."""
        found, top = None, floor
        for kind in self.moves():
            for gain, what, u, v in kind:
                if not gain - top > TOLERANCE:
                    continue
                if what != "drop" and self._closes(what, u, v):
                    continue
                if visited and self.after(what, u, v).tobytes() in visited:
                    continue
                found, top = (what, u, v), gain
        return found

    def _closes(self, what: str, u: int, v: int) -> bool:
        """Whether the move makes a cycle."""
        start, end = (v, u) if what == "add" else (u, v)
        reached, fresh = {start}, [start]
        while fresh:
            x = fresh.pop()
            for y in np.flatnonzero(self.joined[x]).tolist():
                if what == "turn" and (x, y) == (u, v):
                    continue
                if y == end:
                    return True
                if y not in reached:
                    reached.add(y)
                    fresh.append(y)
        return False

    def make(self, what: str, u: int, v: int) -> None:
        """Change the graph."""
        self.joined = self.after(what, u, v)
        self.look(v)
        if what == "turn":
            self.look(u)

    def climb(self) -> float:
        """`hc`: moves that gain, until there is none."""
        while (move := self.best(0.0)) is not None:
            self.make(*move)
        return float(self.score.sum())

    def tabu(self) -> float:
        """`tabu`: goes on over losses for ten moves, and never to one of the last ten graphs."""
        visited: deque[bytes] = deque(maxlen=LENGTH)
        top, idle = float(self.score.sum()), 0
        while True:
            visited.append(self.joined.tobytes())
            move = self.best(0.0, visited)
            if move is None and idle < LENGTH:
                move = self.best(-np.inf, visited)
            if move is None:
                return top
            self.make(*move)
            total = float(self.score.sum())
            idle = 0 if total > top + TOLERANCE else idle + 1
            top = max(top, total)
            if idle > LENGTH:
                return top
