"""What was chosen for a mixture or a hidden Markov model, as it stands in Jensen's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.data.variable import Kind as Column
from jensen.data.variable import label_text
from jensen.exceptions import JensenError
from jensen.io.checked import Checked
from jensen.io.json_learning import (
    WHOLE,
    plain_loop,
    plain_prior,
    read_concentrations,
    read_loop,
    usual_choices,
)
from jensen.models.emissions.priors import COVARIANCES, check_words
from jensen.models.emissions.registry import EMISSIONS, USUAL, words_of_columns

if TYPE_CHECKING:
    from jensen.estimators.states_estimator import StatesEstimator

UNSAID = {"emission": USUAL["categorical"].word}
"""What a file means that does not say it, as files of earlier versions do not."""
OF_LOOP = frozenset({"tol", "random_state", *WHOLE})


class Kind(NamedTuple):
    """A kind of model in a file."""

    name: str
    class_name: str
    size: str  # the choice that says how many states there are
    own: tuple[str, ...]  # further choices of its own
    parts: tuple[str, ...]  # what can be held

    def make(self, choices: dict[str, Any]) -> Any:
        """The estimator with these choices, not fitted yet."""
        from jensen import estimators

        return getattr(estimators, self.class_name)(**choices)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "gaussian-mixture",
            "GaussianMixture",
            "n_components",
            ("covariance",),
            ("weights", "components", *USUAL["continuous"].held),
        ),
        Kind("latent-class", "LatentClass", "n_classes", (), ("weights", "components")),
        Kind(
            "hidden-markov-model",
            "HiddenMarkovModel",
            "n_states",
            ("emission", "covariance", "end", "symbols", "masks"),
            ("initial", "transition", "emission", *(x for r in EMISSIONS.values() for x in r.held)),
        ),
    )
}


def find_kind(estimator: StatesEstimator) -> Kind:
    """The kind of an estimator, also of a subclass."""
    names = [cls.__name__ for cls in type(estimator).__mro__]
    return next(kind for kind in KINDS.values() if kind.class_name in names)


def plain_state_choices(estimator: Any) -> dict[str, Any]:
    """What the user chose, but no random generator; a model to start from by its parameters."""
    kind, usual = find_kind(estimator), {**usual_choices(estimator), **UNSAID}
    chosen: dict[str, Any] = {
        "method": estimator.method,
        "prior": plain_prior(estimator.prior),
        kind.size: int(getattr(estimator, kind.size)),
    }
    for name in (*kind.own, "fixed"):
        value = _PLAIN[name](getattr(estimator, name))
        if value != _PLAIN[name](usual[name]):
            chosen[name] = value
    if estimator.start is not None:
        chosen["start"] = plain_prior(estimator._named_start())
    return chosen | plain_loop(estimator)


def read_state_choices(kind: Kind, value: Checked) -> dict[str, Any]:
    """Choices as the estimator takes them."""
    members = value.fields({"method", "prior", kind.size}, {*kind.own, "fixed", "start", *OF_LOOP})
    unsaid = {name: value for name, value in UNSAID.items() if name in kind.own}
    chosen: dict[str, Any] = {
        **unsaid,
        kind.size: members[kind.size].whole(),
        "prior": _read_words(members["prior"]),
    }
    for name in (*kind.own, "fixed", "start"):
        if name in members:
            chosen[name] = _READ[name](members[name])
    return chosen | read_loop(members)


def check_state_choices(estimator: Any) -> None:
    """Refuse choices that `fit` would refuse whatever the data: no file holds such."""
    from jensen.estimators.chain_settings import check_chosen_kind, check_kinds
    from jensen.estimators.states_estimator import check_one_of, check_states, words_of_prior

    kind = find_kind(estimator)
    choices = estimator._choices_of_loop()
    choices.check()
    check_states(kind.size, getattr(estimator, kind.size))
    if "emission" in kind.own:
        check_kinds(estimator)
        check_chosen_kind(estimator)
    elif "covariance" in kind.own:
        check_one_of("covariance", estimator.covariance, COVARIANCES)
    check_words(words_of_prior(estimator.prior, choices.algorithm) or {}, _words(estimator, kind))
    for name in estimator.fixed:
        if name not in kind.parts:
            raise JensenError(f"fixed has no part {name!r}: hold any of {', '.join(kind.parts)}")


def check_start(estimator: Any, model: Any, shift: NDArray[np.float64]) -> None:
    """Refuse a start that `fit` would refuse; columns that must have a spread get some."""
    if estimator.start is not None:
        estimator._read_start(model, NumberRows.of(shift + np.array([[-1.0], [1.0]])))


def _words(estimator: Any, kind: Kind) -> tuple[str, ...]:
    """The parts of the prior."""
    if kind.name == "gaussian-mixture":
        return ("concentration", *USUAL["continuous"].prior)
    if kind.name == "latent-class":
        return ("concentration", *words_of_columns(get_args(Column)))
    return ("initial", "transition", *EMISSIONS[estimator.kind_].prior)


def _read_words(value: Checked) -> dict[str, Any] | None:
    if value.is_null():
        return None
    return {name: read_concentrations(part) for name, part in value.members().items()}


def _plain_symbols(symbols: Any) -> list[Any] | None:
    """Whole numbers and texts as they are; labels match by their text."""
    if symbols is None:
        return None
    is_whole = [isinstance(x, Integral) and not isinstance(x, bool) for x in symbols]
    pairs = zip(symbols, is_whole, strict=True)
    return [int(x) if whole else label_text(x) for x, whole in pairs]


def _read_symbols(value: Checked) -> list[Any]:
    return [x.whole() if isinstance(x.value, int) else x.text() for x in value.items()]


def _plain_masks(masks: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if masks is None:
        return None
    return {name: np.asarray(mask).astype(bool).tolist() for name, mask in masks.items()}


def _read_masks(value: Checked) -> dict[str, Any]:
    return {name: _read_mask(mask) for name, mask in value.members().items()}


def _read_mask(value: Checked) -> Any:
    try:
        mask = np.array(value.value)
    except ValueError:
        mask = np.array(None)
    if mask.dtype != bool or mask.ndim == 0:
        value.fail("must be nested lists of true (may be) and false (may not), equally long")
    return mask


def _read_start(value: Checked) -> dict[str, Any]:
    return {
        name: _read_start(part) if isinstance(part.value, dict) else read_concentrations(part)
        for name, part in value.members().items()
    }


_PLAIN: dict[str, Any] = {
    "covariance": str,
    "emission": lambda value: value,
    "end": bool,
    "symbols": _plain_symbols,
    "masks": _plain_masks,
    "fixed": list,
}
_READ: dict[str, Any] = {
    "covariance": Checked.text,
    "emission": lambda value: None if value.is_null() else value.text(),
    "end": Checked.flag,
    "symbols": _read_symbols,
    "masks": _read_masks,
    "fixed": Checked.texts,
    "start": _read_start,
}
