"""Scores of families that are listed one by one, as read from a file: a scorer without data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Progress
from jensen.support.text import plural

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LocalScores:
    """Listed families with their scores; implements `Scorer`.

    Parameters
    ----------
    names
        The variables, sorted.
    families
        For each child its sets of parents (sorted names) and their scores. A family that is not
        listed scores -inf.
    """

    names: tuple[str, ...]
    families: Mapping[str, Mapping[tuple[str, ...], float]]

    is_set_function = False
    total_weight = 0.0  # unknown
    score_name = "local scores"

    @classmethod
    def of(cls, families: Mapping[str, Mapping[tuple[str, ...], float]]) -> LocalScores:
        """Local scores of these families, which can no longer be changed."""
        names = tuple(sorted(families))
        return cls(names, MappingProxyType({x: MappingProxyType(families[x]) for x in names}))

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        above = tuple(sorted(self.names[v] for v in parents))
        return self.families[self.names[child]].get(above, -math.inf)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return np.array([self.family(child, [p for p in parents if p != x]) for x in parents])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        taken = {child, *parents}
        return np.array(
            [
                -math.inf if u in taken else self.family(child, [*parents, u])
                for u in range(len(self.names))
            ]
        )

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)) with the scores of all families."""
        out[:] = -np.inf
        for child, name in enumerate(self.names):
            others = [x for x in self.names if x != name]
            bit = {x: 1 << k for k, x in enumerate(others)}
            for parents, score in self.families[name].items():
                out[child, sum(bit[x] for x in parents)] = score

    def listed(self, child: int) -> list[tuple[float, tuple[int, ...]]]:
        """Score and parents of each listed family of a child."""
        at = {name: v for v, name in enumerate(self.names)}
        families = self.families[self.names[child]].items()
        return [(score, tuple(sorted(at[x] for x in parents))) for parents, score in families]

    def add_prior(self, prior: GraphPrior) -> LocalScores:
        """The same families, with the log prior of each added to its score."""
        at = {name: v for v, name in enumerate(self.names)}
        return LocalScores.of(
            {
                child: {
                    parents: score + prior.of_family(at[child], [at[x] for x in parents])
                    for parents, score in families.items()
                }
                for child, families in self.families.items()
            }
        )

    def __repr__(self) -> str:
        n_families = sum(map(len, self.families.values()))
        shown = f"{n_families:,} famil{'y' if n_families == 1 else 'ies'}"
        return f"LocalScores: {plural(len(self.names), 'variable')}, {shown}"
