"""Scores of families of continuous columns, from their means and scatters alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.data.statistics import Coordinates, Moments, MomentStatistics, merged
from jensen.exceptions import DataError, JensenError
from jensen.families import schur
from jensen.families.joint_prior import NormalWishartPrior
from jensen.scores.gaussian import GaussianScore, prior_of, refuse_prior
from jensen.scores.registry import DEFAULTS, PARTS, SPECS, check_gaussian_score
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.set_functions import differences
from jensen.scores.table_checks import complete_rows, refuse_narrow, require_continuous
from jensen.support.machine import check_memory
from jensen.support.text import plural, some

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianScorer:
    """Scores of families of continuous variables; implements `Scorer`.

    Everything is computed in `coordinates` in which columns have ranges of about 1, and brought
    back to the units of the columns by the log Jacobian, -N log(unit of the child). `unitless`
    leaves that out (see `jensen.scores.scorer`).

    A likelihood has no bound where a child is a linear function of its parents. Such a family is
    refused, in whatever question it comes up; a further parent that is a linear function of the
    parents scores -inf, so that a search never takes it.

    A constant column scores 0, and changes no score as a parent. Searches forbid edges there
    (`isolated`).
    """

    names: tuple[str, ...]
    formula: GaussianScore  # in the coordinates
    groups: dict[int, Moments]  # rows by the variable that was set in them; -1: none was
    coordinates: Coordinates
    joint_prior: NormalWishartPrior  # in the units of the columns: the score's, or the default
    score_name: str
    isolated: frozenset[int] = frozenset()  # constant columns
    has_units: bool = True  # whether scores are densities in the units of the columns

    @classmethod
    def of(
        cls,
        table: RowSource,
        score: str = DEFAULTS["continuous"],
        *,
        interventions: NDArray[np.int64] | None = None,
        prior_mean: Any = None,
        mean_strength: float | None = None,
        degrees_of_freedom: float | None = None,
        scale: Any = None,
    ) -> GaussianScorer:
        """The scorer of all columns of a table, which must be continuous and complete.

        Parameters
        ----------
        score
            One of continuous columns.
        interventions
            For each row the variable that was set in it, as a position among the sorted names; -1
            where none was. Such rows are left out of that variable's families.
        prior_mean, mean_strength, degrees_of_freedom, scale
            Of bge, as in `jensen.score`; a vector or a matrix is in the order of the sorted names.
        """
        choices = (prior_mean, mean_strength, degrees_of_freedom, scale)
        check_gaussian_score(score)
        names = tuple(sorted(table.names))
        require_continuous(table, names, f"the score {score!r}")
        rows, kept = complete_rows(table, names, score)
        refuse_narrow(rows, names)
        counted = RowStatistics(rows)
        constant = counted.constant
        if rows.n_rows == 1 and scale is not None:
            constant = frozenset()  # a single row varies in nothing, but has its density
        here = counted.coordinates
        if interventions is None:
            groups = {-1: counted.moments()}
        else:
            groups = _groups(rows, here, interventions[kept])
        return cls._from_moments(names, groups, here, constant, score, choices)

    @classmethod
    def on(
        cls, statistics: MomentStatistics, score: str = DEFAULTS["continuous"], **choices: Any
    ) -> GaussianScorer:
        """The scorer of counted or expected statistics; `choices` are the parts of the prior."""
        check_gaussian_score(score)
        names = tuple(variable.name for variable in statistics.variables)
        parts = tuple(choices.pop(part, None) for part in PARTS)
        if choices:
            raise JensenError(f"the prior of columns of numbers has {some(PARTS)}, not {choices}")
        groups, here = {-1: statistics.moments()}, statistics.coordinates
        return cls._from_moments(names, groups, here, statistics.constant, score, parts)

    @classmethod
    def _from_moments(
        cls,
        names: tuple[str, ...],
        groups: dict[int, Moments],
        here: Coordinates,
        constant: frozenset[int],
        score: str,
        choices: tuple[Any, ...],
    ) -> GaussianScorer:
        if not SPECS[score].has_joint_prior:
            refuse_prior(score, *choices)
        joint = prior_of(names, merged(groups.values(), len(names)), here, constant, *choices)
        return cls.held(names, groups, here, constant, score, joint)

    @classmethod
    def held(
        cls,
        names: tuple[str, ...],
        groups: dict[int, Moments],
        here: Coordinates,
        constant: frozenset[int],
        score: str,
        joint: NormalWishartPrior,
    ) -> GaussianScorer:
        """The scorer of moments in these coordinates, under a known prior in units of columns."""
        spec = SPECS[score]
        found = spec.load("continuous")
        formula: GaussianScore = found(joint.within(*here)) if spec.has_joint_prior else found
        scorer = cls(names, formula, groups, here, joint, score, constant)
        if formula.prior is None:
            scorer._check_spread()
        return scorer

    def with_joint_prior(self, prior: NormalWishartPrior) -> GaussianScorer:
        """The same scores under another prior, in the units of the columns."""
        formula = self.formula.by_prior(prior.within(*self.coordinates))
        return replace(self, formula=formula, joint_prior=prior)

    @property
    def is_set_function(self) -> bool:
        """Whether score(x, parents) = L(parents + x) - L(parents): not with interventions."""
        return not self._was_set

    @cached_property
    def _log_units(self) -> Array:
        """(n,): log units of the columns: each row subtracts that of the child from the score."""
        return np.log(self.coordinates.unit) if self.has_units else np.zeros(len(self.names))

    @cached_property
    def _was_set(self) -> frozenset[int]:
        return frozenset(v for v, rows in self.groups.items() if v >= 0 and rows.weight > 0.0)

    @cached_property
    def _matrices(self) -> dict[int, tuple[float, Array]]:
        return {}

    def _of(self, child: int) -> tuple[float, Array]:
        """Weight and matrix of the rows in which the child was not set."""
        key = child if child in self._was_set else -1
        if key not in self._matrices:
            parts = (rows for v, rows in self.groups.items() if v < 0 or v != key)
            rows = merged(parts, len(self.names))
            self._matrices[key] = rows.weight, self.formula.matrix(*rows)
        return self._matrices[key]

    def _varying(self, parents: Sequence[int]) -> Sequence[int]:
        """The parents that are not constant."""
        if not self.isolated:
            return parents
        return [p for p in parents if p not in self.isolated]

    # --- what a search needs ---

    def weight_of(self, child: int) -> float:
        """The weight of the rows in which a variable was not set."""
        return self._of(child)[0]

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return sum(group.weight for group in self.groups.values())

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        if child in self.isolated:
            return 0.0
        parents = self._varying(parents)
        weight, matrix = self._of(child)
        data = schur.family(matrix, child, parents)
        if data.is_nothing:
            self._refuse(matrix, weight, (*parents, child))
        prior = self.formula.prior
        before = None if prior is None else schur.family(prior, child, parents)
        found = float(self.formula.local(weight, len(parents), data, before))
        return found - weight * float(self._log_units[child])

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without the first parent, without the second, ..."""
        if not self.isolated.isdisjoint([child, *parents]):
            rest = [[p for p in parents if p != parent] for parent in parents]
            return np.array([self.family(child, few) for few in rest])
        weight, matrix = self._of(child)
        data = schur.without_each(matrix, child, parents)
        for parent, lost in zip(parents, data.is_nothing, strict=True):
            if lost:
                self._refuse(matrix, weight, (*(p for p in parents if p != parent), child))
        prior = self.formula.prior
        before = None if prior is None else schur.without_each(prior, child, parents)
        found = self.formula.local(weight, len(parents) - 1, data, before)
        return np.asarray(found - weight * self._log_units[child])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Entries for the child and its current parents are undefined.
        """
        if child in self.isolated:
            return np.zeros(len(self.names))
        parents = self._varying(parents)
        weight, matrix = self._of(child)
        data, further = schur.with_each(matrix, child, parents)
        others = np.ones(len(self.names), bool)
        others[[child, *parents, *self.isolated]] = False
        depends = others & further.is_nothing
        if depends.any() and self.formula.prior is not None:
            self._refuse(matrix, weight, (*parents, int(np.flatnonzero(depends)[0])))
        usable = others & ~depends
        for u in np.flatnonzero(usable & data.is_nothing):
            self._refuse(matrix, weight, (*parents, int(u), child))
        prior = self.formula.prior
        before = None if prior is None else schur.with_each(prior, child, parents)[0]
        with np.errstate(divide="ignore", invalid="ignore"):  # at the child and at its parents
            found = self.formula.local(weight, len(parents) + 1, data, before)
        found = np.where(usable, found - weight * self._log_units[child], -np.inf)
        if self.isolated:
            found[list(self.isolated)] = self.family(child, parents)
        return found

    def has_own_rows(self) -> bool:
        """Whether a variable was set in some rows."""
        return bool(self._was_set)

    # --- units ---

    def unitless(self) -> GaussianScorer:
        """The same scores without the log Jacobian of the units."""
        return replace(self, has_units=False)

    def log_jacobian_of_units(self) -> float:
        """The constant that `unitless` took off the score of every graph; 0 if nothing."""
        if self.has_units:
            return 0.0
        varying = [v for v in range(len(self.names)) if v not in self.isolated]
        unit = self.coordinates.unit
        return -math.fsum(self.weight_of(v) * math.log(unit[v]) for v in varying)

    # --- scores as differences of one function of sets ---

    def set_value(self, members: Sequence[int]) -> float:
        """L of a set: score(x, parents) = L(parents + x) - L(parents)."""
        self._check_set_function()
        members = self._varying(members)
        weight, matrix = self._of(-1)
        log_det = self._log_det(matrix, weight, members)
        prior = self.formula.prior
        before = np.zeros(()) if prior is None else schur.given(prior, members, []).left.log_det
        found = float(self.formula.of_set(weight, len(members), log_det, before))
        return found - weight * float(self._log_units[list(members)].sum())

    def all_set_values(self, largest: int | None = None) -> Array:
        """(2ⁿ,): L of every set; bit i of the position says that variable i is a member.

        Entries for sets of more than `largest` members are undefined.
        """
        self._check_set_function()
        n = len(self.names)
        return self.set_values(range(n), -1, n if largest is None else largest)

    def set_values(self, members: Sequence[int], child: int, largest: int) -> Array:
        """(2ᵏ,): L of every set of k members, from the rows in which the child was not set.

        Entries for sets of more than `largest` members are undefined.
        """
        varying = self._varying(members)
        if len(varying) < len(members):
            return self.set_values(varying, child, largest)[_places(members, varying)]
        n, at = len(members), np.ix_(members, members)
        check_memory(8.0 * 8 * 2.0**n, f"the values of all subsets of {n} columns", "take fewer")
        weight, matrix = self._of(child)
        prior = self.formula.prior
        log_dets = schur.log_dets(np.ascontiguousarray(matrix[at]))
        before = np.zeros(2**n) if prior is None else schur.log_dets(prior[at])
        sizes, found = np.zeros(1, np.int8), np.empty(2**n)
        for _ in range(n):
            sizes = np.concatenate([sizes, sizes + np.int8(1)])
        lost = np.flatnonzero(np.isnan(log_dets) & (sizes <= largest))
        if lost.size:
            self._refuse(matrix, weight, [v for k, v in enumerate(members) if lost[0] >> k & 1])
        for size in range(n + 1):
            at = sizes == size
            found[at] = self.formula.of_set(weight, size, log_dets[at], before[at])
        if self.has_units:
            for k, v in enumerate(members):
                found.reshape(-1, 2, 1 << k)[:, 1] -= weight * self._log_units[v]
        return found

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): the score of a child with every subset of its candidates, which are sorted."""
        members = sorted((*candidates, child))
        values = self.set_values(members, child, max_parents + 1)
        return differences(values, values, members.index(child))

    # --- what cannot be scored ---

    def _log_det(self, matrix: Array, weight: float, members: Sequence[int]) -> Array:
        for k, v in enumerate(members):
            if schur.family(matrix, v, members[:k]).is_nothing:
                self._refuse(matrix, weight, members[: k + 1])
        return schur.given(matrix, members, []).left.log_det

    def _check_set_function(self) -> None:
        if not self.is_set_function:
            raise JensenError(
                "with interventions every variable has rows of its own, so scores are no "
                "differences of one function of sets"
            )

    def _check_spread(self) -> None:
        for v, name in enumerate(self.names):
            weight, matrix = self._of(v)
            if weight == 0.0:
                raise DataError(f"{name!r} was set in every row, so none is left to score it by")
            if matrix[v, v] == 0.0 and v not in self.isolated:
                raise DataError(
                    f"column {name!r} is constant in the rows in which it was not set, so "
                    f"{UNBOUNDED}"
                )

    def _refuse(self, matrix: Array, weight: float, members: Sequence[int]) -> None:
        """Raise an error that says which member is a linear function of which others."""
        *before, last = schur.dependent(matrix, members)
        whose = some(repr(self.names[v]) for v in before)
        function = f"{self.names[last]!r} is an exact linear function of {whose}"
        if self.formula.prior is not None:
            raise DataError(
                f"{function}, as far as rounding tells, and next to these numbers the prior of "
                f"{self.score_name} is lost: raise scale=, or leave it to its default, the "
                f"variances of the columns, or leave one of them out"
            )
        if weight < len(before) + 2:
            raise DataError(
                f"{weight:g} rows are too few for {self.names[last]!r} given "
                f"{plural(len(before), 'parent')} ({whose}), so {UNBOUNDED}, or set a lower "
                f"max_parents"
            )
        raise DataError(f"{function}, so {UNBOUNDED}")


UNBOUNDED = (
    "the likelihood has no bound: leave the column out, or use the score "
    f"{DEFAULTS['continuous']!r}"
)


def _places(members: Sequence[int], varying: Sequence[int]) -> NDArray[np.int64]:
    """(2ᵏ,): for every set of the members the position of its varying part."""
    places = np.zeros(1, np.int64)
    for v in members:
        bit = 1 << varying.index(v) if v in varying else 0
        places = np.concatenate([places, places + bit])
    return places


def _groups(
    rows: RowSource, coordinates: Coordinates, interventions: NDArray[np.int64]
) -> dict[int, Moments]:
    """Moments of rows, grouped by the variable that was set in them (-1: none)."""
    targets = np.unique(interventions)
    check_memory(
        16.0 * len(targets) * len(rows.names) ** 2,
        f"the scatters of {len(targets)} kinds of interventional rows",
        "leave out columns",
    )
    return {
        int(v): RowStatistics(rows.take(interventions == v)).moments(coordinates) for v in targets
    }
