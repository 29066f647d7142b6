"""Scores of families of labels and numbers together: conditional linear Gaussian networks.

A label has labels for parents, and its score is one of labels; a number has a regression on its
number parents in every configuration of its label parents. So the class of graphs is that of the
tiers labels < numbers. Within it scores are differences of one function of sets,
L(D + C) = L(D) + Σ_d L_d(C) for labels D and numbers C, so equivalent graphs score the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.statistics import Coordinates
from jensen.data.variable import Kind, Variable, kind_in_graphs
from jensen.exceptions import DataError, UnboundedError, warn
from jensen.families.joint_prior import NormalWishartPrior
from jensen.scores.conditional_gaussian import ConditionalGaussian, Function, Labels
from jensen.scores.gaussian import prior_of, refuse_prior
from jensen.scores.mixed_class import outside_class
from jensen.scores.parent_sets import bits_of, candidate_scores
from jensen.scores.registry import DEFAULTS, PARTS, ScoreSpec
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import HasOwnRows, Progress, Scorer, offered
from jensen.scores.set_functions import differences
from jensen.scores.table_checks import refuse_narrow
from jensen.support.text import bare, either, option, some

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixedScorer:
    """Scores of families of labels and numbers; implements `Scorer`.

    A label with a number among its parents is outside the class. Its family has the difference of
    the same function of sets, so that the DAGs of an equivalence class all score the same, whatever
    way an edge between a label and a number points in them; searches take a class only if a member
    of it is in the class of networks (`labels_first` in `jensen.q_graph.constraints`). In tables of
    all families such sets of parents score -inf.

    A constant column of numbers scores 0, and changes no score as a parent.
    """

    variables: tuple[Variable, ...]  # sorted by name
    states: Scorer  # of the labels, in the order of their names
    numbers: dict[int, ConditionalGaussian]  # -1: by all rows; v: by those in which v was not set
    coordinates: Coordinates  # of the numbers that vary
    joint_prior: NormalWishartPrior  # of the numbers that vary, in the units of the columns
    score_name: str
    isolated: frozenset[int] = frozenset()  # constant columns of numbers
    has_units: bool = True  # whether scores are densities in the units of the columns

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """What the variables are, which decides about edges between them."""
        return tuple(map(kind_in_graphs, self.variables))

    @cached_property
    def labels_first(self) -> tuple[int, ...]:
        """The labels, which have no numbers among their parents."""
        return tuple(v for v, each in enumerate(self.variables) if each.kind == "categorical")

    @cached_property
    def _is_label(self) -> frozenset[int]:
        return frozenset(self.labels_first)

    @cached_property
    def _numbers(self) -> list[int]:
        """The numbers that vary."""
        rest = self._is_label | self.isolated
        return [v for v in range(len(self.names)) if v not in rest]

    @cached_property
    def _place(self) -> dict[int, int]:
        """Of each variable: its place among the labels, or among the numbers that vary."""
        both = (self.labels_first, self._numbers)
        return {v: k for of_kind in both for k, v in enumerate(of_kind)}

    @property
    def is_set_function(self) -> bool:
        """Whether score(x, parents) = L(parents + x) - L(parents): not with interventions."""
        return not self.has_own_rows()

    def has_own_rows(self) -> bool:
        """Whether a variable was set in some rows."""
        states = offered(self.states, HasOwnRows)
        return len(self.numbers) > 1 or (states is not None and states.has_own_rows())

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.states.total_weight

    def _rows(self, child: int) -> ConditionalGaussian:
        """The scores of numbers, by the rows in which a variable was not set."""
        return self.numbers.get(child, self.numbers[-1])

    def _split(self, parents: Sequence[int]) -> tuple[Labels, list[int]]:
        """The places of the labels and of the numbers among some variables, each sorted."""
        is_label, place = self._is_label, self._place
        labels = tuple(sorted(place[v] for v in parents if v in is_label))
        return labels, sorted(place[v] for v in parents if v not in is_label and v in place)

    def _in_units(self, child: int) -> float:
        """What the units of a number take off its score."""
        if not self.has_units:
            return 0.0
        unit = float(self.coordinates.unit[self._place[child]])
        return self._rows(child).weight * math.log(unit)

    # --- what a search needs ---

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents; refused if it has no likelihood."""
        if child in self.isolated:
            return 0.0
        labels, numbers = self._split(parents)
        found = self._family(child, labels, numbers)
        if found == -math.inf:
            self._refuse(child, labels, numbers)
        return found

    def _family(self, child: int, labels: Labels, numbers: list[int]) -> float:
        place = self._place[child]
        if child not in self._is_label:
            return self._rows(child).family(place, labels, numbers) - self._in_units(child)
        alone = self.states.family(place, labels)
        return alone + self._moved(child, labels, numbers) if numbers else alone

    def _moved(self, child: int, labels: Labels, numbers: Sequence[int]) -> float:
        """How much a label among the parents of numbers adds to L of these."""
        if self.has_own_rows():
            return -math.inf  # there is no function of sets then
        rows, more = self._rows(-1), tuple(sorted((*labels, self._place[child])))
        wider = rows.set_value(more, numbers)
        return wider if wider == -math.inf else wider - rows.set_value(labels, numbers)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without the first parent, without the second, ..."""
        if child in self._is_label and self._is_label.issuperset(parents):
            places = [self._place[p] for p in parents]
            return self.states.without_each(self._place[child], places)
        rest = [[p for p in parents if p != parent] for parent in parents]
        return np.array([self.family(child, few) for few in rest])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Entries for the child and its current parents are undefined.
        """
        found = np.full(len(self.names), -np.inf)
        if child in self.isolated:
            return np.zeros(len(self.names))
        labels, numbers = self._split(parents)
        if child in self._is_label:
            self._label_with_each(child, labels, numbers, found)
        else:
            self._number_with_each(child, labels, numbers, found)
        if self.isolated:
            found[list(self.isolated)] = self._family(child, labels, numbers)
        return found

    def _label_with_each(self, child: int, labels: Labels, numbers: list[int], out: Array) -> None:
        place, rows = self._place[child], self._rows(-1)
        out[list(self.labels_first)] = self.states.with_each(place, labels)
        if self.has_own_rows():
            return
        alone = self.states.family(place, labels)
        if not numbers:
            more = tuple(sorted((*labels, place)))
            wider, before = rows.single_values(more), rows.single_values(labels)
            with np.errstate(invalid="ignore"):  # where neither has a likelihood
                out[self._numbers] = np.where(wider > -np.inf, alone + (wider - before), -np.inf)
            return
        for v in self.labels_first:  # outside the class, as searches over classes ask
            if v != child and self._place[v] not in labels:
                more = tuple(sorted((*labels, self._place[v])))
                out[v] += self._moved(child, more, numbers)
        for v in self._numbers:
            if self._place[v] not in numbers:
                out[v] = alone + self._moved(child, labels, sorted((*numbers, self._place[v])))

    def _number_with_each(self, child: int, labels: Labels, numbers: list[int], out: Array) -> None:
        rows, place = self._rows(child), self._place[child]
        out[self._numbers] = rows.with_numbers(place, labels, numbers)
        for v in self.labels_first:
            if self._place[v] not in labels:
                more = tuple(sorted((*labels, self._place[v])))
                out[v] = rows.family(place, more, numbers)
        out -= self._in_units(child)

    # --- all sets of parents ---

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)) with the scores of all families."""
        n = len(self.names)
        for child in range(n):
            others = [v for v in range(n) if v != child]
            out[child] = self.subset_scores(child, others, max_parents)
            if progress is not None:
                progress((child + 1) / n)

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): the score of a child with every subset of its candidates, which are sorted.

        -inf outside the class: for a label with a number among its parents.
        """
        if child in self.isolated:
            return np.zeros(1 << len(candidates))
        is_label = self._is_label
        labels = [v for v in candidates if v in is_label]
        numbers = [v for v in candidates if v in self._place and v not in is_label]
        at_labels, at_numbers = bits_of(candidates, labels), bits_of(candidates, numbers)
        found = np.full(1 << len(candidates), -np.inf)
        if child in is_label:
            places = [self._place[v] for v in labels]
            place = self._place[child]
            found[at_labels] = candidate_scores(self.states, place, places, max_parents)
        else:
            members = sorted(self._place[v] for v in (*numbers, child))
            for k, at in enumerate(at_labels.tolist()):
                chosen = tuple(self._place[v] for j, v in enumerate(labels) if k >> j & 1)
                largest = max_parents - len(chosen)
                if largest >= 0:
                    found[at + at_numbers] = self._over_numbers(child, chosen, members, largest)
        for v in candidates:
            if v in self.isolated:  # they change nothing
                of = found.reshape(-1, 2, 1 << candidates.index(v))
                of[:, 1] = of[:, 0]
        return found

    def _over_numbers(self, child: int, labels: Labels, members: list[int], largest: int) -> Array:
        """The scores of a number with these labels and every subset of the other members."""
        rows = self._rows(child)
        values = self._kept_values(rows, labels, members, largest + 1)
        scores = differences(values, values, members.index(self._place[child]))
        scores[np.isnan(scores)] = -np.inf
        return scores - self._in_units(child)

    @cached_property
    def _values(self) -> dict[tuple[int, Labels, tuple[int, ...], int], Array]:
        return {}

    def _kept_values(
        self, rows: ConditionalGaussian, labels: Labels, members: list[int], largest: int
    ) -> Array:
        """Values of all sets of numbers, which are the same for all children among them."""
        key = id(rows), labels, tuple(members), min(largest, len(members))
        if key not in self._values:
            if sum(values.nbytes for values in self._values.values()) > KEPT_BYTES:
                self._values.clear()
            self._values[key] = rows.set_values(labels, members, key[-1])
        return self._values[key]

    # --- units ---

    def unitless(self) -> MixedScorer:
        """The same scores without the log Jacobian of the units."""
        return replace(self, has_units=False)

    def log_jacobian_of_units(self) -> float:
        """The constant that `unitless` took off the score of every graph; 0 if nothing."""
        if self.has_units:
            return 0.0
        unit = self.coordinates.unit
        return -math.fsum(
            self._rows(v).weight * math.log(unit[self._place[v]]) for v in self._numbers
        )

    # --- what cannot be scored ---

    def tell_of_functions(self) -> None:
        """Refuse numbers that others fix in all rows, warn of those that they fix where a label is.

        A likelihood has no bound there, so a search would silently leave out the closest of all
        relations.
        """
        rows = self._rows(-1)
        if rows.formula.prior is not None:
            return
        for labels in ((), *((k,) for k in range(len(self.labels_first)))):
            found = rows.function_of_others(labels)
            if found is None:
                continue
            text = f"{self._function(found)}{self._where(labels, found.codes, found.weight)}"
            way_out = (
                f"leave a column out, or use {option('score', DEFAULTS['mixed'])}, whose prior "
                f"bounds it"
            )
            if not labels:
                raise DataError(f"{text}, so the likelihood has no bound: {way_out}")
            warn(
                f"{text}: a regression there has no likelihood, so no graph has it, however close "
                f"the relation is; {way_out}"
            )
            return

    def _function(self, found: Function) -> str:
        name, *others = (repr(self.names[self._numbers[k]]) for k in (found.number, *found.others))
        return (
            f"{name} is an exact linear function of {some(others)}"
            if others
            else (f"{name} is constant")
        )

    def _where(self, labels: Labels, codes: Sequence[int], weight: float) -> str:
        columns = [self.variables[self.labels_first[k]] for k in labels]
        pairs = [f"{x.name} is {x.states[c]!r}" for x, c in zip(columns, codes, strict=True)]
        where = f" where {either(pairs, 'and')}" if pairs else ""
        return f"{where} ({weight:g} {'row' if weight == 1.0 else 'rows'})"

    def _refuse(self, child: int, labels: Labels, numbers: list[int]) -> None:
        """Raise an error that names the column and the configuration without a likelihood."""
        rows, place = self._rows(child), self._place[child]
        if child not in self._is_label:
            numbers = [*numbers, place]
        elif self.has_own_rows():
            number = self.variables[self._numbers[numbers[0]]]
            raise DataError(outside_class(number, self.variables[child]))
        else:
            labels = tuple(sorted((*labels, place)))
        last = next(
            k for k, v in enumerate(numbers) if rows.family(v, labels, numbers[:k]) == -math.inf
        )
        name, *above = (repr(self.names[self._numbers[k]]) for k in numbers[last::-1])
        codes, weight = rows.lost(numbers[last], labels, numbers[:last])
        given = f" given {some(above)}" if above else ""
        where = self._where(labels, codes, weight)
        raise UnboundedError(
            f"{name}{given} has no residual variance{where}, so the likelihood has no bound",
            f"leave the column out, set a lower {bare('max_parents')}, or use "
            f"{option('score', DEFAULTS['mixed'])}, whose prior bounds it",
            child=self.names[child] if labels else "",
        )


def prior_of_numbers(
    data: Table, spec: ScoreSpec, choices: Mapping[str, Any]
) -> tuple[NormalWishartPrior, list[int], Coordinates]:
    """The prior of the numbers that vary, in their units; which these are, and coordinates."""
    counted, parts = RowStatistics(data), [choices.get(part) for part in PARTS]
    refuse_narrow(data, data.names)
    if not spec.has_joint_prior:
        refuse_prior(spec.name, *parts)
    constant = counted.constant
    if data.n_rows == 1 and choices.get("scale") is not None:
        constant = frozenset()  # a single row varies in nothing, but has its density
    joint = prior_of(data.names, counted.moments(), counted.coordinates, constant, *parts)
    varying = [k for k in range(len(data.names)) if k not in constant]
    here = Coordinates(*(part[varying] for part in counted.coordinates))
    return joint.of_columns(varying), varying, here


KEPT_BYTES = 1 << 26
"""The most memory of values of sets that are kept."""
