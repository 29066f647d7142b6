"""From the choices of a hidden Markov model and its sequences to what the loop learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import check_columns, names_of, warn_where_spread_is_guessed
from jensen.estimators.chain_settings import chain_masks, read_chain_start
from jensen.estimators.learning import Problem, Start
from jensen.estimators.loop_choices import LoopChoices
from jensen.estimators.sequences import chosen_steps
from jensen.estimators.state_memory import check_state_memory
from jensen.estimators.states_estimator import (
    check_held,
    check_rows,
    check_states,
    concentration,
    repeat_by_weight,
    with_labels,
    words_of_prior,
)
from jensen.free_energy import Algorithm
from jensen.inference.chains import Steps
from jensen.models.emissions.changed import with_masks
from jensen.models.emissions.kinds import Chosen
from jensen.models.emissions.making import make_emission, summary_for
from jensen.models.emissions.priors import check_words
from jensen.models.emissions.registry import EMISSIONS
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows

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
    rows = rows.by_sequence(lengths, weight)
    words = _words(estimator, algorithm)
    fixed = _held(estimator)
    record = EMISSIONS[estimator.kind_]
    if record.has_spread:
        warn_where_spread_is_guessed(constant, words, fixed)
    if words is None and record.has_spread and not {"emission", *record.held} & {*fixed}:
        check_rows(rows.n_rows, estimator.n_states, estimator.noun)
    model = _model(estimator, algorithm, rows, words)
    start = None
    if estimator.start is not None:
        start = read_chain_start(estimator.start, model, rows)
    if fixed:
        assert start is not None
        model = model.holding(start, fixed)
    may_relabel = start is None and not estimator.masks and not _gives_meaning(words)
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


def _words(estimator: Any, algorithm: Algorithm) -> Mapping[str, Any] | None:
    """The prior in words, with what is usual."""
    words = words_of_prior(estimator.prior, algorithm)
    if words is not None:
        check_words(words, ("initial", "transition", *EMISSIONS[estimator.kind_].prior))
        words = with_labels(words, algorithm)
    return words


def _held(estimator: Any) -> tuple[str, ...]:
    parts = EMISSIONS[estimator.kind_].held
    return check_held(
        estimator.fixed, ("initial", "transition", "emission", *parts), estimator.start
    )


def _model(
    estimator: Any,
    algorithm: Algorithm,
    rows: NumberRows,
    words: Mapping[str, Any] | None,
) -> HiddenMarkov:
    """The model with its prior and its masks; nothing is held yet."""
    K, record = check_states("n_states", estimator.n_states), EMISSIONS[estimator.kind_]
    columns = summary_for([record], rows, words, estimator.covariance)
    emission = make_emission(
        record,
        K,
        columns,
        words,
        covariance=estimator.covariance,
        variables=estimator.variables_ or (),
    )
    masks = chain_masks(estimator, K, emission)
    if "emission" in masks:
        emission = with_masks(emission, masks.pop("emission"))
    has_end = bool(estimator.end)

    def prior_of(name: str, shape: tuple[int, ...]) -> Array | None:
        return _outside_zero(concentration(words, name, shape, algorithm), masks.get(name))

    initial, transition = prior_of("initial", (K,)), prior_of("transition", (K, K + has_end))
    return HiddenMarkov(emission, initial, transition, K, has_end, masks=masks)


def _plain_settings(estimator: Any) -> dict[str, Any]:
    with np.printoptions(threshold=10**9, precision=17):
        return {name: repr(getattr(estimator, name)) for name in SETTINGS}


def _outside_zero(prior: Array | None, mask: NDArray[np.bool_] | None) -> Array | None:
    """A prior says nothing of what is masked out."""
    return prior if prior is None or mask is None else np.where(mask, prior, 0.0)


def _gives_meaning(words: Mapping[str, Any] | None) -> bool:
    """Whether a prior may say different things of different states."""
    return words is not None and any(np.ndim(value) > 0 for value in words.values())
