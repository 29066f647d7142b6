"""What scorers can do besides scoring families one by one.

A scorer that can do more has the methods of a protocol below, and is asked by `offered`; nobody
asks which class it is. A scorer with a `plain` one is a quicker way to the same scores, and offers
what that one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jensen.scores.scorer import Scorer
from jensen.scores.set_functions import Progress

if TYPE_CHECKING:
    from jensen.data.statistics import Coordinates, Moments
    from jensen.families.joint_prior import NormalWishartPrior
    from jensen.scores.graph_priors import GraphPrior
    from jensen.scores.plain_scorer import PlainScorer
    from jensen.scores.superset_bounds import SupersetBound

Array = NDArray[np.float64]
Ability = TypeVar("Ability")


def offered(scorer: Scorer | None, ability: Callable[..., Ability]) -> Ability | None:
    """The scorer as one that has an ability (a protocol below); None: it has not."""
    if isinstance(scorer, cast("type[Any]", ability)):
        return cast(Ability, scorer)
    return offered(scorer.plain, ability) if isinstance(scorer, Quick) else None


@runtime_checkable
class Quick(Protocol):
    """A quicker way to the scores of another."""

    @property
    def plain(self) -> Scorer:
        """The other."""


@runtime_checkable
class Named(Protocol):
    """Knows what its score is called."""

    @property
    def score_name(self) -> str:
        """As in the registry, or in words."""


def name_of(scorer: Scorer) -> str:
    """What the score is called."""
    able = offered(scorer, Named)
    return type(scorer).__name__ if able is None else able.score_name


# --- all sets of parents ---


@runtime_checkable
class FillsTables(Protocol):
    """Scores all families in a faster way than one by one."""

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)); entries for sets of more than `max_parents` are undefined."""


@runtime_checkable
class FillsRows(Protocol):
    """The same for the families of some children."""

    def fill_rows(
        self, out: Array, children: Sequence[int], max_parents: int, progress: Progress
    ) -> None:
        """Fill rows of out (n, 2^(n-1))."""


@runtime_checkable
class ScoresMany(Protocol):
    """Scores many families sooner than one after the other."""

    def score_families(self, families: Sequence[tuple[int, Sequence[int]]]) -> Array:
        """The scores of families (child, parents)."""


@runtime_checkable
class HasSetValues(Protocol):
    """Gives its set function for all sets at once."""

    def all_set_values(self) -> Array:
        """(2^n,): L of every set."""


@runtime_checkable
class ScoresSubsets(Protocol):
    """Scores one child with all subsets of some candidates."""

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): bit k stands for candidate k; undefined for sets of more than `max_parents`."""


@runtime_checkable
class BoundsSupersets(Protocol):
    """May know what no larger set of parents can exceed."""

    def superset_bound(self, child: int) -> SupersetBound | None:
        """The bound for a child; None: none is known."""


@runtime_checkable
class ListsFamilies(Protocol):
    """Has a list of all families that are possible."""

    def listed(self, child: int) -> list[tuple[float, tuple[int, ...]]]:
        """Scores and parents of the families of a child."""


# --- what scores are made of ---


@runtime_checkable
class TakesPrior(Protocol):
    """Adds a prior of graphs to its scores by itself."""

    def add_prior(self, prior: GraphPrior) -> Scorer:
        """The same scores with the log prior of each family."""


@runtime_checkable
class Believes(Protocol):
    """Scores of data, and a prior of graphs beside them."""

    @property
    def data(self) -> Scorer:
        """The scores without the prior."""

    @property
    def prior(self) -> GraphPrior:
        """The prior."""


@runtime_checkable
class HasOwnRows(Protocol):
    """May score variables by different rows."""

    def has_own_rows(self) -> bool:
        """Whether it does: rows in which a variable was set are left out of its families."""


@runtime_checkable
class OfStates(Protocol):
    """Scores of categorical variables, from counts."""

    def counted_for(self, child: int) -> PlainScorer:
        """The statistics, and the score, of one child."""


@runtime_checkable
class OfNumbers(Protocol):
    """Scores of continuous variables, from moments."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def groups(self) -> dict[int, Moments]:
        """Moments of rows, by the variable that was set in them; -1: none was."""

    @property
    def coordinates(self) -> Coordinates:
        """Those of the moments."""

    @property
    def isolated(self) -> frozenset[int]:
        """Constant columns."""

    @property
    def joint_prior(self) -> NormalWishartPrior:
        """The prior in the units of the columns: of the score, or the default of those without."""

    def with_joint_prior(self, prior: NormalWishartPrior) -> Scorer:
        """The same scores by another prior."""


@runtime_checkable
class HasUnits(Protocol):
    """Scores that depend on the units of columns."""

    @property
    def isolated(self) -> frozenset[int]:
        """The variables that stand alone in every graph: constant columns."""

    def unitless(self) -> Scorer:
        """The same scores less the log Jacobians of units."""

    def left_out(self) -> float:
        """What the score of every graph lacks without units."""
