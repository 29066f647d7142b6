"""What a search over graphs asks of data: the scores of families.

`Scorer` is the least that a scorer must do. A scorer that can do more has the methods of one of the
protocols below and is found by `offered(scorer, protocol)`; no caller asks for its class. A scorer
with a `plain` property computes the same scores faster, and also offers what the plain one does.

The functions at the end treat the units of continuous columns, which change all scores by a
constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jensen.data.statistics import Coordinates, Moments
    from jensen.data.variable import Kind
    from jensen.families.joint_prior import NormalWishartPrior
    from jensen.scores.categorical_scorer import CategoricalScorer
    from jensen.scores.graph_priors import GraphPrior
    from jensen.scores.parent_sets import SupersetBound

Array = NDArray[np.float64]
Ability = TypeVar("Ability")
Progress = Callable[[float], object] | None
"""Called with the share of the work that is done, from 0 to 1."""


class Scorer(Protocol):
    """Scores of families: a child given its parents.

    A variable is its position among the sorted names; there are n of them. Scores are natural
    logarithms, and higher is better.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def is_set_function(self) -> bool:
        """Whether score(x, parents) = L(parents + x) - L(parents) for one function L of sets."""

    @property
    def total_weight(self) -> float:
        """The weight of all rows: how large scores, and so their rounding, may be."""

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without the first parent, without the second, ..."""

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Entries for the child and its current parents are undefined.
        """


def offered(scorer: Scorer | None, ability: Callable[..., Ability]) -> Ability | None:
    """The scorer, or its plain one, as an implementation of a protocol; None if neither is."""
    if all(hasattr(scorer, name) for name in _members(ability)):
        return cast(Ability, scorer)
    plain = getattr(scorer, "plain", None)
    return None if plain is None else offered(plain, ability)


@cache
def _members(protocol: Callable[..., object]) -> tuple[str, ...]:
    """What a protocol asks for; `isinstance` would find it out anew at every call."""
    return tuple(name for name in vars(protocol) if not name.startswith("_"))


@runtime_checkable
class FasterScorer(Protocol):
    """Computes the scores of another scorer faster."""

    @property
    def plain(self) -> Scorer:
        """The slower scorer with the same scores."""


@runtime_checkable
class HasName(Protocol):
    """Has a name for its score."""

    @property
    def score_name(self) -> str:
        """The name in the registry, or a short description."""


def name_of(scorer: Scorer) -> str:
    """The name of the score, or of the class of the scorer if the score has none."""
    able = offered(scorer, HasName)
    return type(scorer).__name__ if able is None else able.score_name


# --- all sets of parents ---


@runtime_checkable
class FillsTables(Protocol):
    """Fills the table of all families faster than one family at a time."""

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)); entries for sets of more than `max_parents` are undefined."""


@runtime_checkable
class FillsRows(Protocol):
    """Fills the families of some children faster than one family at a time."""

    def fill_rows(
        self, out: Array, children: Sequence[int], max_parents: int, progress: Progress
    ) -> None:
        """Fill the rows of these children in out (n, 2^(n-1))."""


@runtime_checkable
class ScoresMany(Protocol):
    """Scores many families together faster than one after the other."""

    def score_families(self, families: Sequence[tuple[int, Sequence[int]]]) -> Array:
        """The scores of families (child, parents)."""


@runtime_checkable
class HasSetValues(Protocol):
    """Computes its set function L for all sets at once."""

    def all_set_values(self) -> Array:
        """(2^n,): L of every set."""


@runtime_checkable
class ScoresSubsets(Protocol):
    """Scores one child with all subsets of some candidate parents."""

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): bit k stands for candidate k; undefined for sets of more than `max_parents`."""


@runtime_checkable
class BoundsSupersets(Protocol):
    """Can bound the scores of all supersets of a set of parents."""

    def superset_bound(self, child: int) -> SupersetBound | None:
        """The bound for a child; None if no bound is known."""


@runtime_checkable
class ListsFamilies(Protocol):
    """Has a finite list of families; all others score -inf."""

    def listed(self, child: int) -> list[tuple[float, tuple[int, ...]]]:
        """Score and parents of each listed family of a child."""


# --- what scores are made of ---


@runtime_checkable
class TakesPrior(Protocol):
    """Can add a prior over graphs to its scores itself."""

    def add_prior(self, prior: GraphPrior) -> Scorer:
        """The same scores with the log prior of each family."""


@runtime_checkable
class HasGraphPrior(Protocol):
    """Adds a prior over graphs to the scores of data."""

    @property
    def data(self) -> Scorer:
        """The scores without the prior."""

    @property
    def prior(self) -> GraphPrior:
        """The prior over graphs."""


@runtime_checkable
class HasOwnRows(Protocol):
    """May use different rows for different children, because of interventions."""

    def has_own_rows(self) -> bool:
        """Whether it does: rows in which a variable was set are left out of its families."""


@runtime_checkable
class HasCounts(Protocol):
    """Scores categorical variables from counts."""

    def counted_for(self, child: int) -> CategoricalScorer:
        """The scorer with the statistics and the score of one child."""


@runtime_checkable
class HasMoments(Protocol):
    """Scores continuous variables from moments."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def groups(self) -> dict[int, Moments]:
        """Moments of rows, grouped by the variable that was set in them (-1: none)."""

    @property
    def coordinates(self) -> Coordinates:
        """The coordinates in which the moments are computed."""

    @property
    def isolated(self) -> frozenset[int]:
        """Constant columns, which have no edges in any graph."""

    @property
    def joint_prior(self) -> NormalWishartPrior:
        """The prior of the score in the units of the columns; the default one if it has none."""

    def with_joint_prior(self, prior: NormalWishartPrior) -> Scorer:
        """The same scores under another prior."""


@runtime_checkable
class HasUnits(Protocol):
    """Scores that are densities in the units of the columns."""

    @property
    def isolated(self) -> frozenset[int]:
        """Constant columns, which have no edges in any graph."""

    def unitless(self) -> Scorer:
        """The same scores without the log Jacobian of the units."""

    def log_jacobian_of_units(self) -> float:
        """The constant that `unitless` took off the score of every graph; 0 if nothing."""


@runtime_checkable
class FindsFunctions(Protocol):
    """Finds numbers that others fix in the rows."""

    def tell_of_functions(self) -> None:
        """Refuse those fixed in all rows, and warn of those fixed where a label is."""


@runtime_checkable
class HasKinds(Protocol):
    """Scores labels and numbers together, in graphs in which labels come before numbers."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What each variable is; () if there are labels alone, or numbers alone."""


def kinds_of(scorer: Scorer) -> tuple[Kind, ...]:
    """What the variables are, where this decides about edges; () if all are of one kind."""
    able = offered(scorer, HasKinds)
    return () if able is None else able.kinds


def unitless(scorer: Scorer) -> Scorer:
    """The same scores without the log Jacobian of the units, which is the same for all graphs.

    Searches and sums use it: columns times powers of two then have the same scores, to the last
    bit. Add `log_jacobian_of_units` to the score of a graph to get its density back.
    """
    able = offered(scorer, HasUnits)
    return scorer if able is None else able.unitless()


def log_jacobian_of_units(scorer: Scorer) -> float:
    """The constant that `unitless` took off the score of every graph; 0 if nothing."""
    able = offered(scorer, HasUnits)
    return 0.0 if able is None else able.log_jacobian_of_units()


def isolated(scorer: Scorer) -> frozenset[int]:
    """Constant columns of numbers, which have no edges in any graph."""
    able = offered(scorer, HasUnits)
    return frozenset() if able is None else able.isolated


def total(scorer: Scorer, parents: Sequence[Sequence[int]]) -> float:
    """The score of a graph, given by the parents of each variable, in the units of the columns."""
    terms = [scorer.family(v, above) for v, above in enumerate(parents)]
    return math.fsum([*terms, log_jacobian_of_units(scorer)])
