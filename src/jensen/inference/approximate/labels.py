"""What an answer is: exact, a bound, or an estimate; how it was found, and whether that settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.support.text import plural

Kind = Literal["exact", "lower bound", "upper bound", "between bounds", "estimate"]


@dataclass(frozen=True)
class Label:
    """What a number is.

    Attributes
    ----------
    method
        The way it was found: "exact", "loopy", "trw", "mean-field", "mini-bucket" or "gibbs".
    kind
        "exact", "lower bound", "upper bound", "between bounds" (both are known) or "estimate".
    converged
        Whether the iterations settled; None where there are none.
    sweeps
        How many there were.
    notes
        What else should be known, a sentence each.
    fixed_points
        Of "loopy": the Bethe values of all different fixed points between the bounds.
    """

    method: str
    kind: Kind
    converged: bool | None = None
    sweeps: int = 0
    notes: tuple[str, ...] = ()
    fixed_points: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self == EXACT:
            return self.kind
        parts = [f"{self.kind} ({self.method}"]
        if self.converged is not None:
            how = "converged" if self.converged else "not converged"
            parts.append(f", {how} after {plural(self.sweeps, 'sweep')}")
        return "".join(parts) + ")" + "".join(f"; {note}" for note in self.notes)

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        found: dict[str, Any] = {"method": self.method, "kind": self.kind}
        if self.converged is not None:
            found.update(converged=self.converged, sweeps=self.sweeps)
        if self.notes:
            found["notes"] = list(self.notes)
        if self.fixed_points:
            found["fixed_points"] = list(self.fixed_points)
        return found


EXACT = Label("exact", "exact")


def joined(labels: Sequence[Label]) -> Label:
    """What a number is that was made of several."""
    worst = [label for label in labels if label.kind != "exact"]
    if not worst:
        return labels[0]
    kinds = {label.kind for label in worst}
    settled = [label.converged for label in worst if label.converged is not None]
    notes = tuple(dict.fromkeys(note for label in worst for note in label.notes))
    return Label(
        worst[0].method,
        kinds.pop() if len(kinds) == 1 else "estimate",
        all(settled) if settled else None,
        max(label.sweeps for label in worst),
        notes[:4],
    )


class LabelledNumber(float):
    """A float that says what it is in its `label`; it prints with it.

    Attributes
    ----------
    label
        See `Label`.
    lower, upper
        Bounds, where they are known; else -inf and inf.
    """

    label: Label
    lower: float
    upper: float

    def __new__(
        cls, value: float, label: Label, lower: float = -np.inf, upper: float = np.inf
    ) -> LabelledNumber:
        """A number with its label."""
        found = super().__new__(cls, value)
        found.label, found.lower, found.upper = label, lower, upper
        return found

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.label, self.lower, self.upper

    def __repr__(self) -> str:
        text = f"{float(self):.10g}: {self.label}"
        if self.lower > -np.inf or self.upper < np.inf:
            text += f"; between {self.lower:.10g} and {self.upper:.10g}"
        return text

    __str__ = __repr__


class LabelledArray(np.ndarray[Any, Any]):
    """An array that says what its numbers are in its `label`; what is computed of it does not."""

    label: Label | None

    def __new__(cls, values: NDArray[Any], label: Label | None) -> LabelledArray:
        """An array with its label."""
        found = np.asarray(values).view(cls)
        found.label = label
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.label = None

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, LabelledArray):
            found.label = self.label
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return LabelledArray, (np.asarray(self), self.label)

    def __repr__(self) -> str:
        return f"{np.asarray(self)!r}\n{self.label}"
