"""The scorer of a table or of statistics, chosen by the kind of the columns and the score."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from jensen.data import RowSource, Table, as_rows, as_table
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import is_complete, require_states
from jensen.data.statistics import Coordinates, CountStatistics, MomentStatistics
from jensen.data.variable import Variable
from jensen.exceptions import DataError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.scores.categorical import read_states
from jensen.scores.categorical_scorer import CategoricalScorer
from jensen.scores.conditional_gaussian import ConditionalGaussian
from jensen.scores.count_scorer import CountScorer
from jensen.scores.gaussian import PARTS, prior_of, read_strength, refuse_prior
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.interventions import NONE, PerChild, WasSet, split_interventions
from jensen.scores.mixed_scorer import MixedScorer
from jensen.scores.registry import DEFAULTS, SPECS, UNPENALISED, Kind, ScoreSpec, check_mixed_score
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.score_choices import (
    AVAILABLE,
    Missing,
    check_gaussian_choices,
    check_integer_counts,
    make_score,
)
from jensen.scores.scorer import Scorer
from jensen.scores.table_checks import (
    are_drawn,
    complete_rows,
    refuse_narrow,
    refuse_stateless,
    require_finite,
    require_rows,
    require_values,
    warn_of_constant_labels,
)
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
    if isinstance(scorer, MixedScorer) and not are_drawn():
        scorer.tell_of_functions()
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
        _refuse_discrete(
            equivalent_sample_size=equivalent_sample_size, missing=missing,
            prior_network=prior_network,
        )  # fmt: skip
        name = score or DEFAULTS["continuous"]
        return GaussianScorer.of(rows, name, interventions=was_set, **read_strength(gaussian))
    if kind == "mixed":
        _refuse_discrete(missing=missing, prior_network=prior_network)
        name = score or DEFAULTS["mixed"]
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
        otherwise = f"or, if hardly any are missing, {AVAILABLE}"
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


def kind_of_columns(variables: Sequence[Variable]) -> Kind:
    """Of all variables: labels, numbers (whole ones too), or both together."""
    are_labels = {variable.kind == "categorical" for variable in variables}
    if len(are_labels) > 1:
        return "mixed"
    return "categorical" if True in are_labels else "continuous"


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
    joint, varying, here = _prior_of_numbers(
        data.select([names[v] for v in numbers]), spec, choices
    )
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


def _prior_of_numbers(
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


def _compiled(plain: CategoricalScorer, table: Table, sample_size: float) -> CountScorer | None:
    """A compiled scorer with the same scores, if the table and the score allow it."""
    if table.weights is not None or not 0 < table.n_rows < 1 << 31 or not is_complete(table):
        return None
    if not SAMPLE_SIZES[0] <= sample_size <= SAMPLE_SIZES[1]:
        return None
    found = SPECS[plain.score_name].kernel_kind(table.n_rows, sample_size)
    return None if found is None else CountScorer(plain, table, *found)
