"""From the choices and sequences of a hidden Markov model to a `Problem`.

`known_chain` makes the model of parameters that are given, not learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable
from jensen.data.number_rows import ColumnSummary, NumberRows
from jensen.data.variable import label_text
from jensen.estimators.arrays import check_columns, names_of, warn_where_spread_is_guessed
from jensen.estimators.chain_choices import chain_masks, read_chain_start
from jensen.estimators.learning import LoopChoices, Problem, Start
from jensen.estimators.sequences import are_whole, chosen_steps, seen_steps
from jensen.estimators.state_estimator import (
    check_held,
    check_rows,
    check_state_memory,
    check_states,
    concentration,
    read_prior_parts,
    repeat_by_weight,
    with_labels,
)
from jensen.exceptions import JensenError
from jensen.free_energy import Algorithm
from jensen.inference.chains import FittedChain, Steps
from jensen.models.emissions.derived import with_masks
from jensen.models.emissions.kinds import Chosen
from jensen.models.emissions.priors import check_names
from jensen.models.emissions.registry import EMISSIONS, make_emission, summary_for
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows
from jensen.support.fields import zip_fields

Array = NDArray[np.float64]


Ints = NDArray[np.int64]

SETTINGS = ("n_states", "kind_", "covariance", "end", "symbols", "prior", "masks", "fixed")
"""Choices that shape the result besides those of the loop."""


def chain_problem(
    estimator: Any, choices: LoopChoices, rows: NumberRows, lengths: Ints, weight: Array
) -> Problem:
    """What is learned from these sequences; weight (S,) is how often each counts."""
    algorithm = choices.algorithm
    constant = check_columns(rows, names_of(estimator, rows.n_columns))
    _check_memory(estimator, rows)
    repeated = repeat_by_weight(weight, algorithm)
    chosen = np.flatnonzero(weight > 0.0) if repeated is None else repeated
    if not np.array_equal(chosen, np.arange(len(lengths))):
        values, lengths = chosen_steps(Steps(rows.values(), lengths), chosen)
        rows = NumberRows.of(values)
    weight = weight[chosen] if repeated is None else np.ones(len(chosen))
    if not (algorithm.seeks_mode or estimator.end):
        rows, lengths, some = seen_steps(rows, lengths)
        weight, chosen = weight[some], chosen[some]
    rows = rows.by_sequence(lengths, weight)
    prior_parts = _prior_parts(estimator, algorithm)
    fixed = _held(estimator)
    record = EMISSIONS[estimator.kind_]
    if record.has_spread:
        warn_where_spread_is_guessed(constant, prior_parts, fixed)
    if prior_parts is None and record.has_spread and not {"emission", *record.held} & {*fixed}:
        check_rows(rows.n_rows, estimator.n_states, estimator.noun)
    model = _model(estimator, algorithm, rows, prior_parts)
    start = None
    if estimator.start is not None:
        start = read_chain_start(estimator.start, model, rows)
    if fixed:
        assert start is not None
        model = model.holding(start, fixed)
    may_relabel = start is None and not estimator.masks and not _gives_meaning(prior_parts)
    model = replace(model, may_relabel=may_relabel)
    content = (repr(_plain_settings(estimator)), rows, lengths, weight)
    units = model.encode(rows, lengths, weight)
    data = Data(units, StateRows(rows, lengths, weight, chosen), content)
    return Problem(model, data, choices, None if start is None else Start(start))


def _check_memory(estimator: Any, rows: NumberRows) -> None:
    """Refuse more states than there is room for."""
    K = check_states("n_states", estimator.n_states)
    size = EMISSIONS[estimator.kind_].kind.size
    if estimator.variables_ is None:
        each = size(rows.n_columns, Chosen(estimator.covariance))
    else:
        each = sum(size(1, Chosen(labels=variable.states)) for variable in estimator.variables_)
    check_state_memory(K, K * (K + 2.0 + each), rows, estimator.noun)


def _prior_parts(estimator: Any, algorithm: Algorithm) -> Mapping[str, Any] | None:
    """The prior in words, with what is usual."""
    prior_parts = read_prior_parts(estimator.prior, algorithm)
    if prior_parts is not None:
        check_names(prior_parts, ("initial", "transition", *EMISSIONS[estimator.kind_].prior))
        prior_parts = with_labels(prior_parts, algorithm)
    return prior_parts


def _held(estimator: Any) -> tuple[str, ...]:
    parts = EMISSIONS[estimator.kind_].held
    return check_held(
        estimator.fixed, ("initial", "transition", "emission", *parts), estimator.start
    )


def _model(
    estimator: Any,
    algorithm: Algorithm,
    rows: NumberRows,
    prior_parts: Mapping[str, Any] | None,
) -> HiddenMarkov:
    """The model with its prior and its masks; nothing is held yet."""
    K, record = check_states("n_states", estimator.n_states), EMISSIONS[estimator.kind_]
    columns = summary_for([record], rows, prior_parts, estimator.covariance)
    emission = make_emission(
        record,
        K,
        columns,
        prior_parts,
        covariance=estimator.covariance,
        variables=estimator.variables_ or (),
    )
    masks = chain_masks(estimator, K, emission)
    if "emission" in masks:
        emission = with_masks(emission, masks.pop("emission"))
    has_end = bool(estimator.end)

    def prior_of(name: str, shape: tuple[int, ...]) -> Array | None:
        return _outside_zero(concentration(prior_parts, name, shape, algorithm), masks.get(name))

    initial, transition = prior_of("initial", (K,)), prior_of("transition", (K, K + has_end))
    return HiddenMarkov(emission, initial, transition, K, has_end, masks=masks)


def _plain_settings(estimator: Any) -> dict[str, Any]:
    with np.printoptions(threshold=10**9, precision=17):
        return {name: repr(getattr(estimator, name)) for name in SETTINGS}


def _outside_zero(prior: Array | None, mask: NDArray[np.bool_] | None) -> Array | None:
    """A prior says nothing of what is masked out."""
    return prior if prior is None or mask is None else np.where(mask, prior, 0.0)


def _gives_meaning(prior_parts: Mapping[str, Any] | None) -> bool:
    """Whether a prior may say different things of different states."""
    return prior_parts is not None and any(np.ndim(value) > 0 for value in prior_parts.values())


def read_known_parameters(given: Mapping[str, Any]) -> dict[str, Array]:
    """What was given, as arrays of numbers."""
    return {name: _numbers(name, value) for name, value in given.items() if value is not None}


def known_chain(estimator: Any, counts: Any) -> FittedChain:
    """What `fit` would have found at `start`; the estimator is told its columns."""
    start, K = estimator.start, estimator.n_states
    known = sorted((x.parameters for x in EMISSIONS.values()), key=len, reverse=True)
    shown = next((start[names[0]] for names in known if names[0] in start), None)
    if shown is None or shown.ndim != 2:
        raise JensenError("give emission= (or means= and covariances=) with a row per state")
    width = _tell_columns(estimator, shown.shape[1])
    with _by_arguments():
        emission = make_emission(
            EMISSIONS[estimator.kind_],
            K,
            ColumnSummary.at(np.zeros(width)),
            None,
            covariance=estimator.covariance,
            variables=estimator.variables_ or (),
        )
        masks = chain_masks(estimator, K, emission)
        if "emission" in masks:
            emission = with_masks(emission, masks.pop("emission"))
        model = HiddenMarkov(emission, None, None, K, estimator.end, masks=masks)
        eta = read_chain_start(start, model)
    t = zip_fields(lambda family, e: family.mode_stats(e), model.families, eta)
    return model.fitted(type(eta)(*t), _read_counts(counts, K))


def _tell_columns(estimator: Any, width: int) -> int:
    """How many columns there are, if the emission is as wide as this."""
    estimator.variables_, estimator.whole_labels_ = None, ()
    if EMISSIONS[estimator.kind_].has_labels:
        symbols = list(range(width)) if estimator.symbols is None else list(estimator.symbols)
        variable = Variable("x0", "categorical", tuple(map(label_text, symbols)))
        estimator.variables_ = (variable,)
        estimator.whole_labels_ = (are_whole(variable, symbols),)
        width = 1
    estimator.n_features_in_ = width
    return width


def _read_counts(counts: Any, n_states: int) -> Array:
    """How often each state was visited; once, unless that is known."""
    found = np.ones(n_states) if counts is None else _numbers("counts", counts)
    if found.shape != (n_states,) or not ((found >= 0.0) & (found < np.inf)).all():
        raise JensenError(
            f"counts must be {n_states} finite numbers, 0 or more: how often each state was visited"
        )
    return found


def _numbers(name: str, value: Any) -> Array:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"{name} must be an array of numbers") from None


@contextmanager
def _by_arguments() -> Iterator[None]:
    """Errors of a start, in the words of one who gave its parts as arguments."""
    try:
        yield
    except JensenError as error:
        text = re.sub(r"start\['(\w+)'\]", r"\1", str(error))
        raise JensenError(text.replace("start= lacks", "from_parameters lacks")) from None
