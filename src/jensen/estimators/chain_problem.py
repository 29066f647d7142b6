"""From the choices of a hidden Markov model and its sequences to what the loop learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.estimators.arrays import check_columns, names_of, warn_where_spread_is_guessed
from jensen.estimators.chain_settings import chain_masks, read_chain_start
from jensen.estimators.learning import Problem, Start
from jensen.estimators.loop_choices import LoopChoices
from jensen.estimators.sequences import chosen_steps
from jensen.estimators.state_memory import check_state_memory, gaussian_size
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
from jensen.models.emissions.held_parts import PARTS
from jensen.models.emissions.making import make_emission, words_of_emission
from jensen.models.emissions.priors import check_words
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows

Array = NDArray[np.float64]

SETTINGS = ("n_states", "kind_", "covariance", "end", "symbols", "prior", "masks", "fixed")
"""Choices that shape the result besides those of the loop."""


def chain_problem(estimator: Any, choices: LoopChoices, steps: Steps, weight: Array) -> Problem:
    """What is learned from these sequences; weight (S,) is how often each counts."""
    algorithm = choices.algorithm
    constant = check_columns(steps.values, names_of(estimator, steps.values.shape[1]))
    _check_memory(estimator, steps)
    repeated = repeat_by_weight(weight, algorithm)
    chosen = np.flatnonzero(weight > 0.0) if repeated is None else repeated
    steps = chosen_steps(steps, chosen)
    weight = weight[chosen] if repeated is None else np.ones(len(chosen))
    words = _words(estimator, algorithm)
    fixed = _held(estimator)
    if estimator.kind_ == "gaussian":
        warn_where_spread_is_guessed(constant, words, fixed)
    if words is None and estimator.kind_ == "gaussian" and not {"emission", *PARTS} & {*fixed}:
        check_rows(len(steps.values), estimator.n_states, estimator.noun)
    model = _model(estimator, algorithm, steps, weight, words)
    start = None
    if estimator.start is not None:
        start = read_chain_start(estimator.start, model, steps.values)
    if fixed:
        assert start is not None
        model = model.holding(start, fixed)
    may_relabel = start is None and not estimator.masks and not _gives_meaning(words)
    model = replace(model, may_relabel=may_relabel)
    content = (repr(_plain_settings(estimator)), steps.values, steps.lengths, weight)
    rows = StateRows(steps.values, weight, steps.lengths, chosen)
    data = Data(model.encode(steps.values, steps.lengths, weight), rows, content)
    return Problem(model, data, choices, None if start is None else Start(start))


def _check_memory(estimator: Any, steps: Steps) -> None:
    """Refuse more states than there is room for."""
    K, (n_rows, n_columns) = check_states("n_states", estimator.n_states), steps.values.shape
    variables = estimator.variables_
    each = 2.0 * n_columns if variables is None else float(sum(v.n_states for v in variables))
    if estimator.kind_ == "gaussian":
        each = gaussian_size(n_columns, estimator.covariance)
    check_state_memory(K, K * (K + 2.0 + each), n_rows, n_columns, estimator.noun)


def _words(estimator: Any, algorithm: Algorithm) -> Mapping[str, Any] | None:
    """The prior in words, with what is usual."""
    words = words_of_prior(estimator.prior, algorithm)
    if words is not None:
        check_words(words, ("initial", "transition", *words_of_emission(estimator.kind_)))
        words = with_labels(words, algorithm)
    return words


def _held(estimator: Any) -> tuple[str, ...]:
    parts = PARTS if estimator.kind_ == "gaussian" else ()
    return check_held(
        estimator.fixed, ("initial", "transition", "emission", *parts), estimator.start
    )


def _model(
    estimator: Any,
    algorithm: Algorithm,
    steps: Steps,
    weight: Array,
    words: Mapping[str, Any] | None,
) -> HiddenMarkov:
    """The model with its prior and its masks; nothing is held yet."""
    K, variables = check_states("n_states", estimator.n_states), estimator.variables_
    masks = chain_masks(estimator, K)
    emission = make_emission(
        estimator.kind_,
        K,
        steps.values,
        words,
        weight=None if np.all(weight == 1.0) else np.repeat(weight, steps.lengths),
        covariance=estimator.covariance,
        labels=None if variables is None else [v.n_states for v in variables],
        masks=masks.pop("emission", None),
        names=names_of(estimator, steps.values.shape[1]),
    )
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
