"""Mixtures and hidden Markov models with all that was chosen and learned as plain data, and back.

The shapes of all arrays follow from choices and columns, so a file need not tell them: a reader
makes a model without parameters, and fills in those of the file. docs/json-format.md describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.data.variable import Kind as Column
from jensen.data.variable import label_text
from jensen.estimators.reports import (
    LOOP,
    METHOD,
    Stored,
    plain_choices,
    plain_learned,
    plain_numbers,
    read_choices,
    read_concentrations,
    read_learned,
    text_or_none,
    usual_choices,
)
from jensen.estimators.state_columns import (
    described,
    plain_columns,
    read_columns,
    tell_emission,
)
from jensen.exceptions import JensenError
from jensen.inference.mixtures import FittedStates
from jensen.inference.states_file import DESCRIPTION, read_model
from jensen.models.emissions.priors import COVARIANCES, check_names
from jensen.models.emissions.registry import EMISSIONS, USUAL, prior_names_of_columns
from jensen.support.fields import leaves
from jensen.support.json_values import Checked, as_checked, refusing

if TYPE_CHECKING:
    from jensen.estimators.state_estimator import StatesEstimator

FORMAT = "jensen-states"
UNSAID = {"emission": USUAL["categorical"].word}
"""What a file means that does not say it, as files of earlier versions do not."""


class SavedKind(NamedTuple):
    """A kind of model in a file."""

    name: str
    class_name: str
    size: str  # the choice that says how many states there are
    own: tuple[str, ...]  # further choices of its own
    parts: tuple[str, ...]  # what can be held

    @property
    def stored(self) -> dict[str, Stored]:
        """The choices that files hold, in their order."""
        return {
            "method": METHOD,
            "prior": Stored(plain_numbers, _read_words, is_needed=True),
            self.size: Stored(int, Checked.whole, is_needed=True),
            **{name: OWN[name] for name in self.own},
            "fixed": Stored(list, Checked.texts),
            "start": Stored(plain_numbers, _read_start),
            **LOOP,
        }

    def make(self, choices: dict[str, Any]) -> StatesEstimator:
        """The estimator with these choices, not fitted yet."""
        from jensen import estimators

        made: StatesEstimator = getattr(estimators, self.class_name)(**choices)
        return made


KINDS = {
    kind.name: kind
    for kind in (
        SavedKind(
            "gaussian-mixture",
            "GaussianMixture",
            "n_components",
            ("covariance",),
            ("weights", "components", *USUAL["continuous"].held),
        ),
        SavedKind("latent-class", "LatentClass", "n_classes", (), ("weights", "components")),
        SavedKind(
            "hidden-markov-model",
            "HiddenMarkovModel",
            "n_states",
            ("emission", "covariance", "end", "symbols", "masks"),
            ("initial", "transition", "emission", *(x for r in EMISSIONS.values() for x in r.held)),
        ),
    )
}


def find_kind(estimator: StatesEstimator) -> SavedKind:
    """The kind of an estimator, also of a subclass."""
    names = [cls.__name__ for cls in type(estimator).__mro__]
    return next(kind for kind in KINDS.values() if kind.class_name in names)


def plain_states(estimator: StatesEstimator) -> dict[str, Any]:
    """Choices, what was learned, and the model, in the order of files."""
    fitted = estimator.require_fitted()
    kind = find_kind(estimator)
    check_state_choices(estimator)
    _check_choices_are_those_of_fit(estimator)
    chosen = {name: getattr(estimator, name) for name in kind.stored}
    if estimator.start is not None:
        chosen["start"] = estimator._named_start()
    return {
        "format": FORMAT,
        "model": kind.name,
        "choices": plain_choices(kind.stored, chosen, {**usual_choices(estimator), **UNSAID}),
        "learned": plain_learned(estimator),
        "columns": plain_columns(estimator),
        **{name: x for name, x in fitted.to_dict().items() if name not in DESCRIPTION},
    }


def read_states(value: Checked) -> StatesEstimator:
    """What `plain_states` gave."""
    needed = {"format", "model", "choices", "learned", "columns"}
    members, rest = value.parted(needed)
    name = members["model"].text()
    if name not in KINDS:
        members["model"].fail(f"must be one of {', '.join(KINDS)}, not {name!r:.40}")
    kind = KINDS[name]
    unsaid = {name: value for name, value in UNSAID.items() if name in kind.own}
    estimator = kind.make({**unsaid, **read_choices(kind.stored, members["choices"])})
    tell_emission(estimator, members["columns"])
    with refusing(f"{value.file}: choices"):
        check_state_choices(estimator)
    with refusing(value.file):
        shift = read_columns(estimator, members["columns"])
    for name in DESCRIPTION:
        if name in rest.value:
            rest.fail(f"holds {name!r}, which this format does not know")
    plain = replace(rest, value={**described(estimator, shift), **rest.value})
    model = read_model(plain)
    with refusing(f"{value.file}: choices"):
        _check_start(estimator, model, shift)
    estimator.fitted_ = FittedStates.from_dict(plain)
    read_learned(estimator, members["learned"], estimator.fitted_)
    estimator._show()
    return estimator


def _check_choices_are_those_of_fit(estimator: StatesEstimator) -> None:
    """Refuse choices that were changed since: the file would contradict itself."""
    shift = np.array([column.get("shift", 0.0) for column in plain_columns(estimator)])
    model = read_model(as_checked(described(estimator, shift)))
    wanted, found = leaves(model.blank), leaves(estimator.require_fitted().t)
    is_same_kind = getattr(estimator, "emission", None) in (None, getattr(estimator, "kind_", None))
    if not is_same_kind or [np.shape(x) for x in wanted] != [np.shape(x) for x in found]:
        raise JensenError(
            f"{type(estimator).__name__} was fitted with other choices than it has now, and a "
            f"file would hold both: fit it again, or set the choices back"
        )
    _check_start(estimator, model, shift)


# --- choices ---


def check_state_choices(estimator: Any) -> None:
    """Refuse choices that `fit` would refuse whatever the data: no file holds such."""
    from jensen.estimators.chain_choices import check_chosen_kind, check_kinds
    from jensen.estimators.state_estimator import check_one_of, check_states, read_prior_parts

    kind = find_kind(estimator)
    choices = estimator._choices_of_loop()
    choices.check()
    check_states(kind.size, getattr(estimator, kind.size))
    if "emission" in kind.own:
        check_kinds(estimator)
        check_chosen_kind(estimator)
    elif "covariance" in kind.own:
        check_one_of("covariance", estimator.covariance, COVARIANCES)
    check_names(read_prior_parts(estimator.prior, choices.algorithm) or {}, _words(estimator, kind))
    for name in estimator.fixed:
        if name not in kind.parts:
            raise JensenError(f"fixed has no part {name!r}: hold any of {', '.join(kind.parts)}")


def _check_start(estimator: Any, model: Any, shift: NDArray[np.float64]) -> None:
    """Refuse a start that `fit` would refuse; columns that must have a spread get some."""
    if estimator.start is not None:
        estimator._read_start(model, NumberRows.of(shift + np.array([[-1.0], [1.0]])))


def _words(estimator: Any, kind: SavedKind) -> tuple[str, ...]:
    """The parts of the prior."""
    if kind.name == "gaussian-mixture":
        return ("concentration", *USUAL["continuous"].prior, "mean_variance")
    if kind.name == "latent-class":
        return ("concentration", *prior_names_of_columns(get_args(Column)))
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


OWN = {
    "covariance": Stored(str, Checked.text),
    "emission": Stored(lambda emission: emission, text_or_none),
    "end": Stored(bool, Checked.flag),
    "symbols": Stored(_plain_symbols, _read_symbols),
    "masks": Stored(_plain_masks, _read_masks),
}
