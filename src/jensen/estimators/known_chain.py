"""A hidden Markov model with parameters that are known, not learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable
from jensen.data.variable import label_text
from jensen.estimators.chain_settings import chain_masks, read_chain_start
from jensen.exceptions import JensenError
from jensen.fields import zip_fields
from jensen.models.emissions.making import make_emission
from jensen.models.fitted_states import FittedStates
from jensen.models.hidden_markov import HiddenMarkov

Array = NDArray[np.float64]


def known_chain(estimator: Any, start: Mapping[str, Array], counts: Array) -> FittedStates:
    """What `fit` would have found; the estimator is told its columns."""
    shown = start.get("means", start.get("emission"))
    if shown is None or shown.ndim != 2:
        raise JensenError("give emission= (or means= and covariances=) with a row per state")
    width, estimator.variables_ = shown.shape[1], None
    if estimator.emission == "categorical":
        labels = tuple(map(label_text, estimator.symbols or range(width)))
        estimator.variables_ = (Variable("x0", "categorical", labels),)
        width = 1
    estimator.n_features_in_ = width
    masks = chain_masks(estimator, estimator.n_states)
    emission = make_emission(
        estimator.emission,
        estimator.n_states,
        np.zeros((1, width)),
        None,
        covariance=estimator.covariance,
        labels=[v.n_states for v in estimator.variables_ or ()],
        masks=masks.pop("emission", None),
    )
    model = HiddenMarkov(emission, None, None, estimator.n_states, estimator.end, masks=masks)
    eta = read_chain_start(start, model)
    t = zip_fields(lambda family, e: family.mode_stats(e), model.families, eta)
    return FittedStates(model, type(eta)(*t), counts)
