"""Models of factors as plain data, with all that was chosen, and back.

docs/json-format.md describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jensen.estimators.arrays import names_of
from jensen.estimators.factor_estimator import read_factor_prior
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
    usual_choices,
)
from jensen.exceptions import JensenError
from jensen.inference.binary_factors import FittedBinaryFactors
from jensen.inference.factor_mixtures import FittedFactorMixture
from jensen.inference.factors import FittedFactors
from jensen.support.json_values import Checked, refusing

if TYPE_CHECKING:
    from jensen.estimators.factor_estimator import FactorEstimator

FORMAT = "jensen-factors"
CHAINS = ("n_samples", "burn_in", "thin", "n_chains")


def _read_parts(value: Checked) -> Any:
    """None, or an object of numbers and arrays."""
    if value.is_null():
        return None
    return {name: read_concentrations(part) for name, part in value.members().items()}


COMMON = {
    "method": METHOD,
    "prior": Stored(plain_numbers, _read_parts, is_needed=True),
    "n_factors": Stored(int, Checked.whole, is_needed=True),
    "start": Stored(plain_numbers, _read_parts),
    **{name: stored for name, stored in LOOP.items() if name not in CHAINS},
}


class SavedFactors(NamedTuple):
    """A kind of model in a file."""

    class_name: str
    own: dict[str, Stored]
    parts: tuple[str, ...]  # of the prior, besides those of loadings and noise
    fitted: Any  # the class of what was learned

    @property
    def stored(self) -> dict[str, Stored]:
        """The choices that files hold."""
        return {**COMMON, **self.own}


def plain_factors(estimator: FactorEstimator) -> dict[str, Any]:
    """Choices, what was learned, and the parameters, in the order of files."""
    fitted, name = estimator.require_fitted(), _kind_of(estimator)
    kind = KINDS[name]
    chosen = {choice: getattr(estimator, choice) for choice in kind.stored}
    if estimator.start is not None:
        chosen["start"] = estimator._named_start()
    _check_choices(estimator, kind)
    is_same_noise = getattr(fitted, "noise", None) == getattr(estimator, "noise", None)
    is_same = estimator.n_factors == fitted.n_factors and fitted.has_posterior == _keeps(estimator)
    is_same = is_same and _sizes_agree(estimator, fitted)
    if not (is_same and is_same_noise):
        raise JensenError(
            f"{type(estimator).__name__} was fitted with other choices than it has now, and a "
            f"file would hold both: fit it again, or set the choices back"
        )
    D = fitted.point.loadings.shape[-2]
    has_names = hasattr(estimator, "feature_names_in_")
    return {
        "format": FORMAT,
        "model": name,
        "choices": plain_choices(kind.stored, chosen, usual_choices(estimator)),
        "learned": plain_learned(estimator),
        "columns": names_of(estimator, D) if has_names else D,
        **fitted.to_dict(),
    }


def read_factors(value: Checked) -> FactorEstimator:
    """What `plain_factors` gave."""
    from jensen import estimators

    members, rest = value.parted({"format", "model", "choices", "learned", "columns"})
    name = members["model"].text()
    if name not in KINDS:
        members["model"].fail(f"must be one of {', '.join(KINDS)}, not {name!r:.40}")
    kind = KINDS[name]
    choices = read_choices(kind.stored, members["choices"])
    estimator: FactorEstimator = getattr(estimators, kind.class_name)(**choices)
    with refusing(f"{value.file}: choices"):
        _check_choices(estimator, kind)
    D = _read_columns(estimator, members["columns"])
    fitted = estimator.fitted_ = kind.fitted.from_dict(rest)
    if fitted.point.loadings.shape[-2:] != (D, estimator.n_factors):
        rest.fail(f"must have loadings of {D} columns on {estimator.n_factors} factors")
    if not _sizes_agree(estimator, fitted):
        rest.fail("must have the components, and the noise, that were chosen")
    if fitted.has_posterior != _keeps(estimator):
        rest.fail("must have a posterior if the method keeps one, and none if it does not")
    if getattr(fitted, "noise", None) != getattr(estimator, "noise", None):
        rest.fail("must have the noise that was chosen")
    read_learned(estimator, members["learned"], estimator.fitted_)
    estimator._show()
    return estimator


def _sizes_agree(estimator: Any, fitted: Any) -> bool:
    """Whether a mixture has the components, and the kind of noise, that were chosen."""
    names = ("n_components", "shared_noise")
    return all(getattr(estimator, name, None) == getattr(fitted, name, None) for name in names)


def _kind_of(estimator: Any) -> str:
    names = [cls.__name__ for cls in type(estimator).__mro__]
    return next(name for name, kind in KINDS.items() if kind.class_name in names)


def _keeps(estimator: Any) -> bool:
    return bool(estimator._choices_of_loop().algorithm.keeps_posterior)


def _check_choices(estimator: Any, kind: SavedFactors) -> None:
    """Refuse choices that `fit` would refuse whatever the data."""
    choices = estimator._choices_of_loop()
    choices.check()
    read_factor_prior(estimator.prior, choices.algorithm, kind.parts)


def _read_columns(estimator: Any, value: Checked) -> int:
    """How many there are; their names, if they have any."""
    if not isinstance(value.value, list):
        D = value.whole()
        if D < 1:
            value.fail("must be 1 or more")
    else:
        names = value.texts()
        D = len(names)
        if not D or len(set(names)) < D:
            value.fail("must name each column once")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.n_features_in_ = D
    return D


KINDS = {
    "factor-analysis": SavedFactors(
        "FactorAnalysis",
        {
            "noise": Stored(str, Checked.text),
            "rotate": Stored(bool, Checked.flag),
        },
        ("scale",),
        FittedFactors,
    ),
    "factor-mixture": SavedFactors(
        "MixtureOfFactorAnalyzers",
        {
            "n_components": Stored(int, Checked.whole, is_needed=True),
            "shared_noise": Stored(bool, Checked.flag),
            "rotate": Stored(bool, Checked.flag),
        },
        ("concentration", "scale"),
        FittedFactorMixture,
    ),
    "binary-factors": SavedFactors(
        "BinaryFactors", {}, ("concentration", "scale"), FittedBinaryFactors
    ),
}
