"""States that no zero rules out, found by a search that tries likely ones first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.factor_lists.factor_list import FactorList

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
Masks = list[NDArray[np.bool_]]

MOST_TRIED = 20_000
"""Assignments that are tried before the search is given up."""


class Support:
    """Which states have support in every factor, kept up to date as states are taken out."""

    def __init__(self, factors: FactorList) -> None:
        self.scopes = factors.wiring.scopes()
        self.possible = [table > -np.inf for table in factors.tables()]
        self.left: Masks = [np.ones(int(card), bool) for card in factors.wiring.cards]
        w = factors.wiring
        self.around = [
            w.touch[w.touch_ptr[v] : w.touch_ptr[v + 1]].tolist() for v in range(len(w.cards))
        ]

    def restrict(
        self, v: int, mask: NDArray[np.bool_]
    ) -> tuple[bool, list[tuple[int, NDArray[np.bool_]]]]:
        """Leave these states of v and draw all consequences; whether any are left, and the past."""
        past = [(v, self.left[v])]
        self.left[v] = mask
        if not mask.any():
            return False, past
        waiting = set(self.around[v])
        while waiting:
            f = waiting.pop()
            scope = self.scopes[f]
            table = self.possible[f][np.ix_(*(np.flatnonzero(self.left[u]) for u in scope))]
            for axis, u in enumerate(scope):
                seen = table.any(tuple(a for a in range(len(scope)) if a != axis))
                if seen.all():
                    continue
                past.append((u, self.left[u]))
                new = np.zeros_like(self.left[u])
                new[np.flatnonzero(self.left[u])[seen]] = True
                self.left[u] = new
                if not new.any():
                    return False, past
                waiting.update(g for g in self.around[u] if g != f)
                table = np.compress(seen, table, axis)
        return True, past

    def undo(self, past: list[tuple[int, NDArray[np.bool_]]]) -> None:
        """Take back what `restrict` did."""
        for v, mask in reversed(past):
            self.left[v] = mask


def feasible_states(
    factors: FactorList, scores: Array, rng: np.random.Generator | None
) -> Ints | None:
    """Possible states of all variables, or None if none were found.

    Parameters
    ----------
    scores
        Of all states, flat: the larger, the earlier it is tried. With `rng` a state is drawn with
        probabilities in their proportion.
    """
    support = Support(factors)
    n, cards = factors.n_variables, factors.wiring.cards
    at = np.concatenate([[0], np.cumsum(cards)])
    if factors.is_positive:
        parts = [scores[at[v] : at[v + 1]] for v in range(n)]
        return np.array([_order(part, rng)[0] for part in parts], np.int64)
    order = np.argsort([-float(scores[at[v] : at[v + 1]].max()) for v in range(n)], kind="stable")
    trail: list[tuple[int, list[int], list[tuple[int, NDArray[np.bool_]]]]] = []
    k = tried = 0
    choices: list[int] | None = None
    while k < n:
        v = int(order[k])
        if choices is None:
            choices = [s for s in _order(scores[at[v] : at[v + 1]], rng) if support.left[v][s]]
        while choices:
            tried += 1
            if tried > MOST_TRIED + n:
                return None
            mask = np.zeros(int(cards[v]), bool)
            mask[choices.pop(0)] = True
            fits, past = support.restrict(v, mask)
            if fits:
                trail.append((k, choices, past))
                k, choices = k + 1, None
                break
            support.undo(past)
        else:
            if not trail:
                return None
            k, choices, past = trail.pop()
            support.undo(past)
    return np.array([int(np.flatnonzero(mask)[0]) for mask in support.left], np.int64)


def _order(scores: Array, rng: np.random.Generator | None) -> list[int]:
    if rng is not None:
        with np.errstate(divide="ignore"):
            scores = np.log(scores) + rng.gumbel(size=len(scores))
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order
