"""The base class of estimators that learn from rows by the loop: choices, files, scikit-learn."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
from sklearn.exceptions import NotFittedError as SklearnNotFitted  # type: ignore[import-untyped]

from jensen.estimators.learning import LoopChoices, Problem, learn
from jensen.estimators.reports import Summary
from jensen.exceptions import CollapseError, NotFittedError
from jensen.support.json_values import Checked, as_checked, of_kind

Array = NDArray[np.float64]


class NotFittedStatesError(NotFittedError, SklearnNotFitted):  # type: ignore[misc]
    """Jensen's error and scikit-learn's at once: its tools catch their own."""


class ArrayEstimator(BaseEstimator):  # type: ignore[misc]
    """A learner of what rows hide: what `fit` leaves behind, whatever that is."""

    prior: Any
    start: Any
    random_state: Any
    fitted_: Any
    n_features_in_: int
    free_energy_: float
    is_bound_: bool
    trace_: Array
    n_sweeps_: int
    converged_: bool
    starts_: Array

    choices_kind: ClassVar[type[LoopChoices]] = LoopChoices
    noun = "component"

    def _choices_of_loop(self) -> LoopChoices:
        names = [name for name in LoopChoices.__dataclass_fields__ if hasattr(self, name)]
        return self.choices_kind(**{name: getattr(self, name) for name in names})

    def _learn(self, problem: Problem, checkpoint: str | Path | None) -> None:
        try:
            self.fitted_, report = learn(problem, checkpoint)
        except CollapseError as error:
            raise CollapseError(error.components, error.why, self.noun) from None
        report.set_on(self, problem.choices)
        self._show()

    def _show(self) -> None:
        """Set the parameters by the names that people know."""
        raise NotImplementedError

    def _plain(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data."""
        raise NotImplementedError

    @staticmethod
    def _read_plain(value: Checked) -> Any:
        """What `_plain` gave."""
        raise NotImplementedError

    def _summarise(self) -> Summary:
        """A page of text."""
        raise NotImplementedError

    def require_fitted(self) -> Any:
        """What was learned, or an error if nothing was yet."""
        if not hasattr(self, "fitted_"):
            raise NotFittedStatesError(
                f"this {type(self).__name__} is not fitted yet: call fit first"
            )
        return self.fitted_

    # --- scikit-learn ---

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it checks or cross-validates."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or a file has set the parameters."""
        return hasattr(self, "fitted_")

    def __sklearn_clone__(self) -> Any:
        """A copy of all choices; a fitted model to start from stays fitted."""
        twin = super().__sklearn_clone__()
        if hasattr(self.start, "require_fitted"):
            twin.start = deepcopy(self.start)
        return twin

    # --- files and text ---

    def to_dict(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data, as `save` writes it in JSON."""
        return self._plain()

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """What `to_dict` gave: plain data, also by way of JSON."""
        return of_kind(cls, cls._read_plain(as_checked(value)))

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; `jn.load` reads it back."""
        from jensen.io import save

        save(self, path)

    def summary(self) -> Summary:
        """What was learned and how, and the parameters, on one page of text."""
        return self._summarise()
