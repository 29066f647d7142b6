"""From the choices of a mixture and its rows to what the loop learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import check_columns, warn_where_spread_is_guessed
from jensen.estimators.learning import Problem, Start
from jensen.estimators.state_memory import check_state_memory
from jensen.estimators.states_estimator import (
    check_held,
    check_rows,
    check_states,
    concentration,
    repeat_rows,
    words_of_prior,
)
from jensen.models.emissions.making import completed
from jensen.models.emissions.named import read_shares
from jensen.models.emissions.priors import check_words
from jensen.models.mixture import Mixed, Mixture
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows

Array = NDArray[np.float64]
Words = Mapping[str, Any] | None


class MixtureKind(NamedTuple):
    """What is special to the components of one kind of mixture."""

    names: Sequence[str]  # of the columns
    size: float  # parameters of one component
    make: Callable[[int, NumberRows, Words], Any]  # how many, of which rows, under which prior
    prior: tuple[str, ...]  # the parts of a prior
    content: Any  # choices that shape the result, as plain data
    held: tuple[str, ...] = ()  # parts of components that can be held by themselves
    numbers: Sequence[str] = ()  # columns of which components have a variance
    has_spread: bool = False  # whether a component without a prior needs two rows
    are_near: bool = False  # whether all starts are near centres
    tell_apart: Callable[[Words, int], bool] = lambda words, K: False  # whether a prior does


def mixture_problem(estimator: Any, rows: NumberRows, components: MixtureKind) -> Problem:
    """What is learned from these rows."""
    choices = estimator._choices_of_loop()
    choices.check()
    K = check_states(estimator.size, getattr(estimator, estimator.size))
    constant = check_columns(rows, components.names)
    check_state_memory(K, K * components.size, rows, estimator.noun)
    words = words_of_prior(estimator.prior, choices.algorithm)
    known = ("weights", "components", *components.held)
    fixed = check_held(estimator.fixed, known, estimator.start)
    if words is None and components.has_spread and not {*known[1:]} & {*fixed}:
        check_rows(rows.n_rows, K, estimator.noun)
    rows = repeat_rows(rows, choices.algorithm)
    if words is not None:
        check_words(words, ("concentration", *components.prior))
    warn_where_spread_is_guessed(
        [name for name in constant if name in components.numbers], words, fixed
    )
    emission = components.make(K, rows, words)
    shares = concentration(words, "concentration", (K,), choices.algorithm)
    may_relabel = estimator.start is None and not components.tell_apart(words, K)
    model = Mixture(
        emission,
        shares,
        K,
        may_relabel=may_relabel,
        noun=estimator.noun,
        always_near=components.are_near,
    )
    start = None if estimator.start is None else estimator._read_start(model, rows)
    if fixed:
        assert start is not None
        model = model.holding(start, fixed)
    content = (components.content, K, list(fixed), rows)
    data = Data(model.encode(rows), StateRows(rows), content)
    return Problem(model, data, choices, None if start is None else Start(start))


def read_mixture_start(
    start: Mapping[str, Any], model: Mixture, known: Sequence[str], rows: NumberRows
) -> Mixed:
    """η whose mode has the parameters of a start; what it does not say is as the rows are."""
    K, emission = model.n_states, model.emission
    check_words(start, ("weights", *known), "start")
    named = {"weights": np.full(K, 1.0 / K), **completed(start, emission, rows)}
    return Mixed(read_shares(named, "weights", (K,)), emission.read(named))
