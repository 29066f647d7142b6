"""Starts and masks of hidden Markov models: what is given, and what must stay 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.models.emissions.named import read_array, read_shares
from jensen.models.emissions.priors import check_words
from jensen.models.hidden_markov import Chained, HiddenMarkov

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MASKED = ("initial", "transition", "end", "emission")


def named_start(start: Any) -> Mapping[str, Any]:
    """A start as a dict of parameters."""
    if hasattr(start, "require_fitted"):
        start.require_fitted()
        names = ("initial", "transition", "end", "emission", "means", "covariances")
        found = {name: getattr(start, f"{name}_", None) for name in names}
        if found["means"] is not None:
            found["emission"] = None
        return {name: value for name, value in found.items() if value is not None}
    if not isinstance(start, Mapping):
        raise JensenError(
            f"start must be a fitted model or a dict of its parameters, not {start!r:.80}"
        )
    return start


def read_chain_start(start: Any, model: HiddenMarkov) -> Chained:
    """η whose mode has the parameters of a start."""
    named, K = dict(named_start(start)), model.n_states
    known = ["initial", "transition", *(["end"] if model.has_end else [])]
    own = [name for name in named if name not in known]
    parts = getattr(model.emission, "names", ())
    check_words(named, (*known, "emission", "means", "covariances", *parts))
    named.setdefault("initial", np.full(K, 1.0 / K))
    initial = read_shares(named, "initial", (K,))
    if model.has_end:
        moves = read_array(named, "transition", (K, K))
        ends = read_array(named, "end", (K,))
        both = {"transition": np.concatenate([moves, ends[:, None]], axis=1)}
        transition = read_shares(both, "transition", (K, K + 1))
    else:
        transition = read_shares(named, "transition", (K, K))
    emission = model.emission.read({name: named[name] for name in own})
    return Chained(initial, transition, emission)


def chain_masks(estimator: Any, n_states: int) -> dict[str, Mask]:
    """What may be, of each part that has something that may not: by masks, or by zeros of a start.

    The transitions have a last column for the end, if there is one.
    """
    given = dict(estimator.masks or {})
    for name in given:
        if name not in MASKED:
            raise JensenError(f"masks has no part {name!r}: mask any of {', '.join(MASKED)}")
    if "end" in given and not estimator.end:
        raise JensenError("masks['end'] belongs to end=True")
    if "emission" in given and estimator.emission not in ("categorical", "bernoulli"):
        raise JensenError("masks['emission'] belongs to labels: emission='categorical'")
    found = {name: _read_mask(name, value) for name, value in given.items()}
    if estimator.start is not None:
        for name, value in named_start(estimator.start).items():
            if name in MASKED and (name != "emission" or estimator.emission == "categorical"):
                possible = np.asarray(value, np.float64) > 0.0
                found[name] = found[name] & possible if name in found else possible
    return _shaped(found, estimator, n_states)


def _shaped(found: dict[str, Mask], estimator: Any, K: int) -> dict[str, Mask]:
    """Masks as the families have them; those that leave out nothing are dropped."""
    if estimator.end and ("transition" in found or "end" in found):
        moves = _fit(found, "transition", (K, K))
        ends = _fit(found, "end", (K,))
        found["transition"] = np.concatenate([moves, ends[:, None]], axis=1)
    elif "transition" in found:
        found["transition"] = _fit(found, "transition", (K, K))
    found.pop("end", None)
    if "initial" in found:
        found["initial"] = _fit(found, "initial", (K,))
    if "emission" in found:
        variables = estimator.variables_
        if variables is None or len(variables) != 1:
            found.pop("emission") if estimator.masks is None else _refuse_columns()
        else:
            shape = (K, variables[0].n_states)
            found["emission"] = _fit(found, "emission", shape)[:, None, :]
    for name, mask in found.items():
        if not mask.any(-1).all():
            raise JensenError(f"{name} leaves a state without any possibility: allow one at least")
    return {name: mask for name, mask in found.items() if not mask.all()}


def _refuse_columns() -> None:
    raise JensenError("masks['emission'] is for one column of labels")


def _fit(found: Mapping[str, Mask], name: str, shape: tuple[int, ...]) -> Mask:
    mask = found.get(name, np.ones(shape, bool))
    if mask.shape != shape:
        raise JensenError(f"the mask of {name!r} must have the shape {shape}, not {mask.shape}")
    return mask


def _read_mask(name: str, value: Any) -> Mask:
    mask = np.asarray(value)
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise JensenError(f"masks[{name!r}] must hold True (may be) and False (may not)")
    return mask.astype(bool)
