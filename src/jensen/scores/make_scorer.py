"""The scorer of a table or of statistics, chosen by the kind of the columns and the score."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, as_rows, as_table
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import is_complete, require_states
from jensen.data.statistics import CountStatistics, MomentStatistics
from jensen.exceptions import DataError
from jensen.scores.categorical import read_states
from jensen.scores.categorical_scorer import CategoricalScorer
from jensen.scores.conditional_counts import WithCounts, refuse_orphans
from jensen.scores.conditional_gaussian import ConditionalGaussian
from jensen.scores.gaussian import read_strength
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.interventions import NONE, PerChild, WasSet, split_interventions
from jensen.scores.mixed_scorer import MixedScorer, prior_of_numbers
from jensen.scores.registry import (
    DEFAULTS,
    SPECS,
    UNPENALISED,
    WITH_AVAILABLE_CASES,
    Missing,
    check_gaussian_choices,
    check_integer_counts,
    check_mixed_score,
    kind_of_columns,
    make_score,
)
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import FindsFunctions, Scorer, offered
from jensen.scores.set_counter import MOST_COUNTS, SetCounter
from jensen.scores.set_counts import Counts, FamilyCells, SetCounts
from jensen.scores.table_checks import (
    are_drawn,
    complete_rows,
    refuse_stateless,
    require_finite,
    require_rows,
    require_values,
    warn_of_constant_labels,
)
from jensen.support.machine import n_parts, run_all
from jensen.support.text import some

SAMPLE_SIZES = 1e-100, 1e6
"""Outside this range the compiled log Γ(a + n) - log Γ(a) loses digits."""


def make_scorer(
    table: Any,
    score: str | None = None,
    *,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
    interventions: Any = None,
    **gaussian: Any,
) -> Scorer:
    """Local scores of all columns of a table.

    Parameters
    ----------
    score
        As in `jensen.score`; by default that of the kind of the columns.
    interventions
        A column, or one entry per row: the name of the variable that was set in that row. The row
        is left out of that variable's family.
    """
    check_gaussian_choices(gaussian)
    data: RowSource = as_rows(table)
    was_set = None
    if interventions is not None:
        data, was_set = split_interventions(data, interventions)
    scorer = scorer_of(
        data, was_set, score, equivalent_sample_size=equivalent_sample_size, missing=missing,
        prior_network=prior_network, **gaussian,
    )  # fmt: skip
    warn_of_row_names(data, counts=True)
    warn_of_constant_labels(data)
    plain = getattr(scorer, "inner", scorer)
    if (able := offered(plain, FindsFunctions)) is not None and not are_drawn():
        able.tell_of_functions()
    return scorer


def scorer_of(
    rows: RowSource,
    was_set: WasSet,
    score: str | None,
    *,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
    **gaussian: Any,
) -> Scorer:
    """Local scores of all columns; `was_set` says which variable was set in each row."""
    if not rows.names:
        raise DataError("the table has no columns to learn a graph of")
    require_rows(rows)
    if prior_network is None:  # which would know the states
        refuse_stateless(rows, rows.names)
    kind = kind_of_columns(rows.variables)
    if kind == "continuous":
        refuse_orphans([v.name for v in rows.variables if v.is_declared], [])
        _refuse_discrete(
            equivalent_sample_size=equivalent_sample_size, missing=missing,
            prior_network=prior_network,
        )  # fmt: skip
        name = score or DEFAULTS["continuous"]
        return GaussianScorer.of(rows, name, interventions=was_set, **read_strength(gaussian))
    if kind == "mixed":
        _refuse_discrete(missing=missing, prior_network=prior_network)
        name = score or DEFAULTS["mixed"]
        if any(v.is_declared for v in rows.variables):

            def others(part: Table, was_set: WasSet) -> Scorer:
                parts = SPECS[name].parts
                is_mixed = kind_of_columns(part.variables) == "mixed" or parts is None
                own = name if is_mixed or parts is None else parts[0]
                return scorer_of(
                    part, was_set, own, equivalent_sample_size=equivalent_sample_size, **gaussian
                )

            return WithCounts.of(rows, was_set, name, others)
        return _mixed(rows, was_set, name, equivalent_sample_size, read_strength(gaussian))
    if gaussian:
        raise DataError(
            f"{some(sorted(gaussian))}: these choices belong to scores of continuous columns"
        )
    data = as_table(rows)  # states are counted again and again: in memory that is far quicker
    name = score or DEFAULTS["categorical"]
    chosen = make_score(name, equivalent_sample_size, missing, prior_network)
    if missing == "available-case" and is_complete(data):  # every row is a case of every family
        chosen = make_score(name, equivalent_sample_size, "refuse", prior_network)
    if missing == "refuse" and not is_complete(data):
        task = f"the score {name!r}"
        otherwise = f"or, if hardly any are missing, {WITH_AVAILABLE_CASES}"
        require_values(data, data.names, task, lambda keep: f"{keep}, {otherwise}")
    if prior_network is not None:
        data = read_states(prior_network, data, data.names)
    for variable in data.names:
        require_states(data, variable)
        if missing != "refuse" and data.n_rows and data.column(variable).missing().all():
            raise DataError(f"column {variable!r} has no value at all: leave it out")
    check_integer_counts(RowStatistics(data), name)

    def make(rows: Table) -> Scorer:
        plain = CategoricalScorer(RowStatistics(rows), chosen, name)
        return _compiled(plain, rows, equivalent_sample_size or 1.0) or plain

    return make(data) if was_set is None else PerChild.of(data, was_set, make)


def scorer_on(
    statistics: CountStatistics | MomentStatistics,
    score: str | None = None,
    *,
    equivalent_sample_size: float | None = None,
    prior_network: Any = None,
    **gaussian: Any,
) -> Scorer:
    """Local scores of statistics, wherever they come from: counted rows, or expected ones.

    Examples
    --------
    >>> import jensen as jn
    >>> from jensen.inference.expected import expected
    >>> net = jn.BayesianNetwork("a -> b").fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, None]})
    >>> rows = jn.Table({"a": [0, 1], "b": [None, None]}, states=net.states)
    >>> scorer = scorer_on(expected(net.network_, rows))
    >>> scorer.names, round(scorer.family(1, [0]), 5)
    (('a', 'b'), -1.38629)
    """
    kind = kind_of_columns(statistics.variables)
    if kind == "mixed":
        raise DataError("statistics are scored of labels or of numbers, and these are of both")
    if kind == "categorical":
        counted = cast(CountStatistics, statistics)
        if gaussian:
            raise DataError(f"{some(sorted(gaussian))}: these belong to continuous variables")
        name = score or DEFAULTS["categorical"]
        chosen = make_score(name, equivalent_sample_size, "refuse", prior_network)
        check_integer_counts(counted, name)
        return CategoricalScorer(counted, chosen, name)
    if equivalent_sample_size is not None or prior_network is not None:
        raise DataError("equivalent_sample_size and prior_network belong to categorical variables")
    numbers = cast(MomentStatistics, statistics)
    return GaussianScorer.on(numbers, score or DEFAULTS["continuous"], **gaussian)


def _refuse_discrete(**choices: Any) -> None:
    """Refuse choices that columns of labels alone have."""
    for name, given in choices.items():
        if given not in (None, "refuse"):
            raise DataError(f"{name}= belongs to scores of categorical columns, not to these")


def _mixed(
    rows: RowSource,
    was_set: WasSet,
    score: str,
    sample_size: float | None,
    choices: Mapping[str, Any],
) -> MixedScorer:
    """The scorer of labels and numbers together, which must be complete."""
    variables = tuple(sorted(rows.variables, key=lambda variable: variable.name))
    labels = [v for v, each in enumerate(variables) if each.kind == "categorical"]
    numbers = [v for v in range(len(variables)) if v not in labels]
    names = [variable.name for variable in variables]
    check_mixed_score(score, names[labels[0]], names[numbers[0]])
    require_finite(rows, [names[v] for v in numbers])
    complete, kept = complete_rows(rows, names, score)
    data, set_here, set_label = as_table(complete), None, None
    if was_set is not None:
        set_here = was_set[kept]
        set_label = np.array([labels.index(v) if v in labels else NONE for v in set_here], np.int64)
    spec = SPECS[score]
    assert spec.parts is not None
    states = scorer_of(
        data.select([names[v] for v in labels]), set_label, spec.parts[0],
        equivalent_sample_size=sample_size,
    )  # fmt: skip
    joint, varying, here = prior_of_numbers(data.select([names[v] for v in numbers]), spec, choices)
    numbers = [numbers[k] for k in varying]
    formula = SPECS[spec.parts[1] if spec.has_joint_prior else UNPENALISED].load("continuous")
    given = ConditionalGaussian.of(
        data, [names[v] for v in labels], [names[v] for v in numbers], here,
        formula(joint.within(*here)) if spec.has_joint_prior else formula, spec.penalty,
    )  # fmt: skip
    parts = {NONE: given}
    if set_here is not None:
        parts |= {v: given.without(set_here == v, names[v]) for v in numbers if v in set_here}
    constant = frozenset(range(len(names))) - {*labels, *numbers}
    return MixedScorer(variables, states, parts, here, joint, score, constant)


def _compiled(plain: CategoricalScorer, table: Table, sample_size: float) -> "CountScorer | None":
    """A compiled scorer with the same scores, if the table and the score allow it."""
    if table.weights is not None or not 0 < table.n_rows < 1 << 31 or not is_complete(table):
        return None
    if not SAMPLE_SIZES[0] <= sample_size <= SAMPLE_SIZES[1]:
        return None
    found = SPECS[plain.score_name].kernel_kind(table.n_rows, sample_size)
    return None if found is None else CountScorer(plain, table, *found)


# --- families of labels in complete rows, counted and scored by kernels ---

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class CountScorer:
    """Scores of one categorical table without weights or missing values.

    Parameters
    ----------
    plain
        The same scores by plain counting, for families that are too large to be counted in tables.
    table
        The rows that it counts.
    kind, amount
        Which score, as `kernels.local_terms` reads it.
    """

    def __init__(self, plain: CategoricalScorer, table: Table, kind: int, amount: float) -> None:
        self.plain = plain
        self.table = table
        self.names = tuple(sorted(table.names))
        self.kind, self.amount = kind, amount
        from jensen.kernels import further_scores, local_terms

        self.score_set = further_scores.score_set
        self.score_family = local_terms.score_family
        self.counter = SetCounter(self.table, self.names)
        self.size = self.counter.size
        self._unknown = np.full(len(self.names), np.nan)
        self._last: tuple[int, tuple[int, ...], float, Array] | None = None

    @property
    def is_set_function(self) -> bool:
        """As the score says."""
        return self.plain.score.is_set_function

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.table.n_rows)

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return self._family(child, parents)[0]

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return self._family(child, parents)[1]

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Scores the family itself too, for its table comes with the others.
        """
        if not len(parents) and self._pairs is not None:
            self._last = child, (), float(self._pairs[child, child]), np.empty(0)
            return np.array(self._pairs[child])
        family, out = (child, *parents), self._unknown.copy()
        found = self.counter.find(family)
        left: Sequence[int] = range(len(self.names))
        if isinstance(found, SetCounts):
            self._read(found, family, out)
            left = found.left
        elif found is not None:
            self._remember(child, parents, self._score_columns(found, out))
            left = ()
        if left:
            self.plain.with_some(child, parents, [u for u in left if u not in family], out)
        return out

    def _read(self, found: SetCounts, family: tuple[int, ...], out: Array) -> None:
        """Score what was counted: the family, its child first, with and without each parent."""
        less = np.empty(len(family) - 1)
        here = self.score_set(
            found.counts, found.at, self.size, found.others, found.table, found.n_cells,
            found.family, np.array(family, np.int64), self.kind, self.amount, found.joint, out,
            less,
        )  # fmt: skip
        self._last = family[0], family[1:], here, less

    def _score_columns(self, cells: FamilyCells, out: Array) -> Counts:
        """Score all, one after the other; the table of the family."""
        from jensen.kernels.further_rows import score_with_columns

        counter, n, family = self.counter, n_parts(), cells.family
        plane, stride = counter.strides(family)
        is_other = np.ones(len(self.names), bool)
        is_other[list(family)] = False
        others = counter.by_size[is_other[counter.by_size]]
        parts = [np.ascontiguousarray(others[k::n]) for k in range(n)]
        planes, columns = counter.planes, counter.columns
        r = counter.sizes[family[0]]
        n_configs = math.prod(counter.sizes[v] for v in family[1:])

        def score(k: int) -> None:
            score_with_columns(
                planes, plane, stride, cells.place, columns, parts[k], r, cells.n_cells,
                float(n_configs), self.kind, self.amount, out,
            )  # fmt: skip

        run_all(score, range(n))
        return counter.count_index(family) if cells.table is None else cells.table

    @cached_property
    def _pairs(self) -> Array | None:
        """(n, n): the score of each variable given each other, and alone; None: one by one."""
        from jensen.kernels.pair_information import score_pairs

        counter, n = self.counter, len(self.names)
        if counter.meetings is None:
            return None
        out = np.empty((n, n))
        rows = self.table.n_rows
        score_pairs(counter.meetings, counter.size, rows, self.kind, self.amount, out)
        return out

    def _family(self, child: int, parents: Sequence[int]) -> tuple[float, Array]:
        """The score of a family and of those with a parent less; the last is remembered."""
        key = (child, tuple(parents))
        if self._last is not None and self._last[:2] == key:
            return self._last[2:]
        family, counter = (child, *parents), self.counter
        cells = math.prod(counter.sizes[v] for v in family)
        if cells > min(MOST_COUNTS, max(1 << 16, self.table.n_rows)):
            found = self.plain.family(*key), self.plain.without_each(*key)
            self._last = (*key, *found)
            return found
        return self._remember(child, parents, counter.count_index(family))

    def _remember(self, child: int, parents: Sequence[int], table: Counts) -> tuple[float, Array]:
        """Score a family from its table, in which the child comes first, and then the parents."""
        less, size = np.empty(len(parents)), self.counter.sizes
        sizes = np.array([size[v] for v in (child, *parents)], np.int64)
        here = self.score_family(table, sizes, 0, self.kind, self.amount, less)
        self._last = (child, tuple(parents), here, less)
        return here, less
