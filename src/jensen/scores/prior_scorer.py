"""Local scores and a prior of graphs in one: log p(D | G) + log p(G), family by family."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jensen.scores.abilities import TakesPrior, offered
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Scorer
from jensen.scores.set_functions import Progress
from jensen.scores.subset_scores import fill_family_scores
from jensen.scores.superset_bounds import Believed, superset_bound
from jensen.scores.units import isolated, left_out, unitless

Array = NDArray[np.float64]


def with_prior(scorer: Scorer, prior: GraphPrior) -> Scorer:
    """The same scores, to each of which the family's part of the log prior is added."""
    if not prior.by_size.any() and not prior.log_odds.any():
        return scorer
    able = offered(scorer, TakesPrior)
    return PriorScorer(scorer, prior) if able is None else able.add_prior(prior)


@dataclass(frozen=True, eq=False)
class PriorScorer:
    """A scorer and a prior; implements `Scorer`."""

    data: Scorer
    prior: GraphPrior

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return self.data.names

    @property
    def is_set_function(self) -> bool:
        """As the scores are, if the prior is the same for all graphs of an equivalence class."""
        return self.data.is_set_function and self.prior.is_equivalent

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.data.total_weight

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return self.data.family(child, parents) + self.prior.of_family(child, parents)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        if not len(parents):
            return self.data.without_each(child, parents)
        odds = self.prior.log_odds[list(parents), child]
        prior = self.prior.by_size[len(parents) - 1] + odds.sum() - odds
        return np.asarray(self.data.without_each(child, parents) + prior)

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        further = self.data.with_each(child, parents)  # first: it makes the family known
        if len(parents) + 1 >= len(self.names):  # there is no further one
            return further
        odds = self.prior.log_odds[:, child]
        prior = self.prior.by_size[len(parents) + 1] + odds[list(parents)].sum() + odds
        return np.asarray(further + prior)

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)) with the scores of all families."""
        fill_family_scores(self.data, out, max_parents, progress)
        for child, row in enumerate(out):
            row += self.prior.of_sets(child, [v for v in range(len(out)) if v != child])

    def superset_bound(self, child: int) -> Believed | None:
        """The bound of the data, and the most that the prior can add to it."""
        inner = superset_bound(self.data, child)
        return None if inner is None else Believed(inner, self.prior, child)

    # --- units of columns: as the data have them ---

    @property
    def isolated(self) -> frozenset[int]:
        """The variables that stand alone in every graph."""
        return isolated(self.data)

    def unitless(self) -> "PriorScorer":
        """The same scores less the log Jacobians of units."""
        return PriorScorer(unitless(self.data), self.prior)

    def left_out(self) -> float:
        """What the score of every graph lacks without units."""
        return left_out(self.data)
