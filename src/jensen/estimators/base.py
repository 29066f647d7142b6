"""scikit-learn's contract without importing it: choices in `__init__`, results end in `_`."""

import inspect
from typing import Any, Self

from jensen.exceptions import JensenError


class Estimator:
    """Choices can be read, changed and copied (`sklearn.base.clone` works)."""

    @classmethod
    def _choices(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The choices by name; `deep` is part of the contract, and nothing here nests."""
        return {name: getattr(self, name) for name in self._choices()}

    def set_params(self, **choices: Any) -> Self:
        """Change choices; what was fitted stays until the next fit."""
        for name, value in choices.items():
            if name not in self._choices():
                known = ", ".join(self._choices())
                raise JensenError(f"{type(self).__name__} has no choice {name!r}, only {known}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it cross-validates; only it ever calls this."""
        from sklearn.utils import Tags, TargetTags  # type: ignore[import-untyped]

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))
