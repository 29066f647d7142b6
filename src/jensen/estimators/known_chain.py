"""A hidden Markov model with parameters that are known, not learned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable
from jensen.data.variable import label_text
from jensen.estimators.chain_settings import chain_masks, read_chain_start
from jensen.estimators.sequences import are_whole
from jensen.exceptions import JensenError
from jensen.inference.chains import FittedChain
from jensen.models.emissions.changed import with_masks
from jensen.models.emissions.columns import ColumnSummary
from jensen.models.emissions.making import make_emission
from jensen.models.emissions.registry import EMISSIONS
from jensen.models.hidden_markov import HiddenMarkov
from jensen.support.fields import zip_fields

Array = NDArray[np.float64]


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
